"""Code mode: how long a sandbox takes to be there, and what a tool call costs from code, beside the same call by MCP.

Everything runs on this machine, through real processes, ours with durable records: `python -m benchmarks.code`. Both
sides take turns in small blocks, so that whatever else the machine does falls on both. UTCP's code mode for Node, where
`make bench` has installed it, is measured in the same run, with the same echo server; it decides and records nothing.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.gateway import CONFIG, Client, House
from ironcurtain.sandbox.process import Host
from ironcurtain.settings import Code

BLOCKS, CALLS = 12, 100
STARTS = 20
PAGE = Path(__file__).parent.parent / "docs" / "performance-code.md"
HEAD = """\
# Performance of code mode

Written by `make bench` (`python -m benchmarks.code`); figures are of one run on one machine, so read the ratios.
Milliseconds, medians. *From nothing* is until a first program has run, *ready* with a sandbox that waits for one. Every
call of ours is decided, and recorded durably before and after; UTCP's code mode for Node decides and records nothing.
"""
OFFERED = "\n[code]\noffered = true\ncalls = 1000000\n"


def starts(directory: Path) -> tuple[float, float]:
    """Milliseconds until a program has run: in a sandbox that has to be started, and in one that is ready."""
    import asyncio  # noqa: PLC0415 - for this alone

    async def once() -> tuple[float, float]:
        began = time.perf_counter()
        host = await Host.start(directory, Code().fields())
        ready = time.perf_counter()
        host.say({"program": "1", "data": None, "seed": host.seed, "state": "", "moments": []})
        await host.hear(10)
        host.say({"modules": {}})
        await host.hear(10)
        host.say({"go": True})
        await host.hear(10)
        done = time.perf_counter()
        await host.end()
        return (done - began) * 1000, (done - ready) * 1000

    cold, warm = zip(*(asyncio.run(once()) for _ in range(STARTS)), strict=True)
    return statistics.median(cold), statistics.median(warm)


def calls(client: Client) -> tuple[float, float]:
    """Milliseconds for one call: from code, and from a client that calls the tool itself."""
    program = f"import echo\nfor n in range({CALLS}):\n    echo.echo(text='hello')\n1"
    coded, native = [], list[float]()
    for _ in range(BLOCKS):
        times: list[float] = []
        client.block(times)
        native.append(statistics.median(times))
        empty = run(client, "1")
        coded.append((run(client, program) - empty) / CALLS)
    return statistics.median(coded) * 1000, statistics.median(native) * 1000


def run(client: Client, program: str, language: str = "python") -> float:
    """Seconds for a program, in a sandbox that is ready."""
    time.sleep(0.5)
    began = time.perf_counter()
    arguments = {"code": program, "language": language}
    answer = client.ask("tools/call", {"name": "execute_code", "arguments": arguments})
    if answer["result"].get("isError"):
        raise SystemExit(str(answer))
    return time.perf_counter() - began


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds, medians."""

    cold: float
    """Until a first program has run, from nothing; ours without a server, the peer's with its own start."""
    warm: float
    coded: float
    native: float
    ten: float


def ours(directory: Path) -> tuple[Figures, float, float]:
    """Python programs; besides, ten calls by a client, and a TypeScript program that does nothing."""
    cold, warm = starts(directory)
    house = House(directory / "owner")
    house.furnish()
    (house.root / "ic" / "config.toml").write_text(CONFIG + OFFERED)
    house.run("daemon", "stop")
    house.run("daemon", "start")
    client = Client(
        [sys.executable, "-m", "ironcurtain", "gateway", "--agent", "bench"], "echo__echo", house.environment
    )
    try:
        coded, native = calls(client)
        ten = run(client, "import echo\n[echo.echo(text='hello') for _ in range(10)]") * 1000
        times: list[float] = []
        client.block(times)
        typed = statistics.median(run(client, "return 1", "typescript") for _ in range(5)) * 1000
    finally:
        client.close()
        house.run("daemon", "stop")
    return Figures(cold, warm, coded, native, ten), sum(times[:10]) * 1000, typed


def peer() -> Figures | None:
    """UTCP's code mode, if it is there."""
    place, node = Path(sys.prefix) / "peers" / "utcp", Path(sys.prefix) / "foreign" / "bin" / "node"
    if not (place / "node_modules").is_dir() or not node.exists():
        return None
    server = Path(__file__).with_name("echo.py")
    began = time.perf_counter()
    process = subprocess.Popen(
        [str(node), "bench.mjs", sys.executable, str(server), str(BLOCKS), str(CALLS)],
        cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        lines = iter(process.stdout or ())
        next(lines)
        cold = (time.perf_counter() - began) * 1000
        told = json.loads(next(lines))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return Figures(cold, told["warm"], told["coded"], told["native"], told["ten"])


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        mine, by_client, typed = ours(Path(directory))
    rows = [("IronCurtain", mine)]
    if (other := peer()) is not None:
        rows.append(("UTCP code-mode", other))
    lines = [HEAD, "| | from nothing | ready | a call from code | the same without code | ratio | ten calls |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, each in rows:
        figures = [f"{each.cold:.0f}", f"{each.warm:.1f}", f"{each.coded:.2f}", f"{each.native:.2f}"]
        lines.append(f"| {' | '.join([name, *figures, f'{each.coded / each.native:.2f}', f'{each.ten:.1f}'])} |")
    lines += [
        "",
        f"Ten calls by a client, in ten turns of a model instead of one: {by_client:.0f} ms.",
        f"A TypeScript program that does nothing, compiled, read and run: {typed:.0f} ms.",
    ]
    PAGE.write_text("\n".join(lines) + "\n")
    print(PAGE.read_text(), end="")


if __name__ == "__main__":
    main()
