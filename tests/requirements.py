"""The promises of `docs/threats.md`."""

from __future__ import annotations

PROMISES = {f"P{number}" for number in range(1, 13)}
BEYOND_A_DECISION = {"P5"}
"""What no case of one decision can show; `tests/playbooks` and `tests/faults` do."""
