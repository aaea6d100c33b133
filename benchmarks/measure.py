"""Measures one workload in a process of its own and prints the result as JSON. Called by `run`."""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import peers
from benchmarks.workload import NOW, Workload

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 3_000
BUDGET = 3.0  # seconds that one measurement may take


def quantiles(work: Callable[[], object]) -> tuple[float, float]:
    """p50 and p99 of one call, in microseconds."""
    for _ in range(50):
        work()
    gc.collect()
    gc.freeze()
    took: list[int] = []
    end = time.perf_counter() + BUDGET
    while len(took) < ROUNDS and time.perf_counter() < end:
        start = time.perf_counter_ns()
        work()
        took.append(time.perf_counter_ns() - start)
    took.sort()
    return took[len(took) // 2] / 1000, took[min(len(took) - 1, len(took) * 99 // 100)] / 1000


def memory() -> float:
    """Resident megabytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def ours(kind: str, rules: int, tools: int) -> dict[str, Any]:
    from ironcurtain.engine.evaluate import evaluate  # noqa: PLC0415 - a peer's process does not load us
    from ironcurtain.engine.policy import Facts  # noqa: PLC0415
    from ironcurtain.mediation.decide import decide_bytes  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as directory:
        workload = Workload(kind, rules, tools, Path(directory).resolve())
        workload.furnish()
        before, start = memory(), time.perf_counter()
        loaded = workload.load()
        load, size = time.perf_counter() - start, memory() - before
        data = json.dumps(workload.call()).encode()
        judged = decide_bytes(data, loaded, NOW)
        if judged.decision.outcome.word != workload.expected() or judged.call is None:
            raise SystemExit(f"{workload}: {judged.decision}")
        call, facts = judged.call, Facts(NOW)
        decided = quantiles(lambda: evaluate(call, loaded.policy, facts))
        whole = quantiles(lambda: decide_bytes(data, loaded, NOW))
    return {
        "p50": decided[0],
        "p99": decided[1],
        "whole50": whole[0],
        "whole99": whole[1],
        "load": load,
        "memory": size,
    }


def peer(name: str, kind: str, rules: int, tools: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    work = getattr(peers, name)(kind, rules, tools)
    p50, p99 = quantiles(work)
    return {"p50": p50, "p99": p99}


def main() -> None:
    who, kind, rules, tools = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    print(json.dumps(ours(kind, rules, tools) if who == "ours" else peer(who, kind, rules, tools)))


if __name__ == "__main__":
    main()
