"""Speed and memory, beside peers. `make bench` runs it and writes `docs/performance.md`."""
