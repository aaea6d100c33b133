"""Code mode: how long a sandbox takes to be there, and what a tool call costs from code, beside the same call by MCP.

Everything runs on this machine, through real processes, with durable records: `python -m benchmarks.code`. Both sides
take turns in small blocks, so that whatever else the machine does falls on both.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.gateway import CONFIG, Client, House
from ironcurtain.sandbox.process import Host
from ironcurtain.settings import Code

BLOCKS, CALLS = 12, 100
STARTS = 20
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


def run(client: Client, program: str) -> float:
    """Seconds for a program, in a sandbox that is ready."""
    time.sleep(0.5)
    began = time.perf_counter()
    answer = client.ask("tools/call", {"name": "execute_code", "arguments": {"code": program}})
    if answer["result"].get("isError"):
        raise SystemExit(str(answer))
    return time.perf_counter() - began


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        cold, warm = starts(Path(directory))
        house = House(Path(directory) / "owner")
        house.furnish()
        (house.root / "ic" / "config.toml").write_text(CONFIG + OFFERED)
        house.run("daemon", "stop")
        house.run("daemon", "start")
        client = Client(
            [sys.executable, "-m", "ironcurtain", "gateway", "--agent", "bench"], "echo__echo", house.environment
        )
        try:
            coded, native = calls(client)
            ten = run(client, "import echo\n[echo.echo(text='hello') for _ in range(10)]")
            times: list[float] = []
            client.block(times)
        finally:
            client.close()
            house.run("daemon", "stop")
    print(f"a sandbox that has to be started, and a program in it: {cold:.0f} ms")
    print(f"a program in a sandbox that is ready: {warm:.1f} ms")
    print(f"one call from code: {coded:.2f} ms; by a client: {native:.2f} ms; ratio {coded / native:.2f}")
    mine, its = ten * 1000, sum(times[:10]) * 1000
    print(f"ten calls, one turn of a model instead of ten: {mine:.0f} ms; by a client {its:.0f} ms")


if __name__ == "__main__":
    main()
