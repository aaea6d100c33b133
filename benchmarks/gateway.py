"""The gateway beside its peers: round trips, calls a second, memory, and the start of a new client.

Everything runs on this machine, through real processes, with durable records. Peers and we take turns in small blocks,
so that whatever else the machine does falls on all of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import contextforge
from ironcurtain import __version__

if TYPE_CHECKING:
    from benchmarks.contextforge import Running

ECHO = Path(__file__).with_name("echo.py")
PEERS = Path(sys.prefix) / "peers"
PAGE = Path(__file__).parent.parent / "docs" / "performance-gateway.md"
BLOCK, BLOCKS = 100, 20  # calls in a row, and how often everybody takes a turn
FLAT = 100_000  # calls over which memory must not grow
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}

CONFIG = """
[budget]
repeats = 0
[budget.session]
calls = 100000000
callsPerTool = 100000000
bytesOut = 1000000000000
"""
RULE = {"name": "echo", "if": {"server": ["echo"], "tool": ["echo"]}, "then": "allow", "reason": "a benchmark"}

FASTMCP = """
import sys
from fastmcp.server import create_proxy
from fastmcp.client.transports import StdioTransport
server = StdioTransport(command=sys.executable, args=[sys.argv[1]], keep_alive=True)
create_proxy(server, name="bare").run(show_banner=False)
"""


@dataclass
class House:
    """An owner with a home in which the echo server may be called."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def furnish(self) -> None:
        self.root.mkdir(mode=0o700)
        self.environment = {**os.environ, "HOME": str(self.root), "IRONCURTAIN_HOME": str(self.root / "ic")}
        self.run("init", "--yes")
        home = self.root / "ic"
        (home / "config.toml").write_text(CONFIG)
        (home / "config.toml").chmod(0o600)
        self.run("servers", "add", "echo", "--", sys.executable, str(ECHO))
        self.run("servers", "review", "echo", "--yes")
        path = home / "policy" / "compiled-policy.json"
        policy = json.loads(path.read_text())
        policy["version"] += 1
        policy["rules"].insert(0, RULE)
        path.write_text(json.dumps(policy))
        self.run("policy", "verify", "--derive", str(home / "policy"))
        self.run("daemon", "start")

    def run(self, *words: str) -> str:
        command = [sys.executable, "-m", "ironcurtain", *words]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("status", "--json"))
        return found


class Client:
    """A client that speaks plain lines to a process."""

    def __init__(self, command: list[str], tool: str, environment: dict[str, str] | None = None) -> None:
        self.tool = tool
        self._next = 0
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        self.open()

    def open(self) -> None:
        self.ask("initialize", INITIALIZE)
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})
        self.ask("tools/list", {})

    def say(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdout is not None
        self._next += 1
        self.say({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"{self.tool}: it ended")
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._next:
                return message

    def block(self, times: list[float]) -> None:
        for _ in range(BLOCK):
            began = time.perf_counter()
            answer = self.ask("tools/call", {"name": self.tool, "arguments": {"text": "hello"}})
            times.append(time.perf_counter() - began)
            if answer["result"]["content"][0]["text"] != "hello":
                raise SystemExit(f"{self.tool}: {answer}")

    def rate(self, window: int, calls: int) -> float:
        """Calls a second, with so many under way at once."""
        assert self.process.stdout is not None
        params = {"name": self.tool, "arguments": {"text": "hello"}}
        sent = answered = 0
        began = time.perf_counter()
        while answered < calls:
            while sent < calls and sent - answered < window:
                self._next += 1
                sent += 1
                self.say({"jsonrpc": "2.0", "id": self._next, "method": "tools/call", "params": params})
            answered += b'"id"' in self.process.stdout.readline()
        return calls / (time.perf_counter() - began)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


class HttpClient(Client):
    """The same over HTTP."""

    def __init__(self, server: Running) -> None:
        self.tool = contextforge.TOOL
        self._next = 0
        self._http = contextforge.Http(server.port, server.path, server.token)
        self.open()

    def say(self, message: dict[str, Any]) -> None:
        self._http.say(message)

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._next += 1
        answer = self._http.say({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        if answer is None or answer.get("id") != self._next:
            raise SystemExit(f"{self.tool}: {answer}")
        return answer

    def close(self) -> None:
        self._http.close()


def peers(directory: Path) -> dict[str, tuple[list[str], str]]:
    """How each is started, and what it calls the tool."""
    servers = {"echo": {"command": sys.executable, "args": [str(ECHO)]}}
    config = directory / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"mcp-gateway": {"servers": servers}}}))
    gateway = [str(PEERS / "mcp-gateway" / "bin" / "mcp-gateway"), "--mcp-json-path", str(config)]
    return {
        "direct": ([sys.executable, str(ECHO)], "echo"),
        "bare FastMCP proxy": ([str(PEERS / "fastmcp" / "bin" / "python"), "-c", FASTMCP, str(ECHO)], "echo"),
        "mcp-gateway": (gateway, "echo_echo"),
    }


WINDOWS = (1, 8, 64)


def round_trips(house: House) -> tuple[dict[str, dict[str, float]], dict[str, list[float]]]:
    """p50, p90 and p99 in milliseconds, everybody in turn; then calls a second with 1, 8 and 64 under way."""
    clients = {name: Client(command, tool) for name, (command, tool) in peers(house.root).items()}
    relay = [sys.executable, "-m", "ironcurtain", "gateway", "--agent", "bench"]
    clients["ironcurtain"] = Client(relay, "echo__echo", house.environment)
    trips = in_turns(clients, BLOCKS)
    rates = {name: [client.rate(window, 2_000) for window in WINDOWS] for name, client in clients.items()}
    for client in clients.values():
        client.close()
    return trips, rates


def in_turns(clients: dict[str, Client], blocks: int) -> dict[str, dict[str, float]]:
    """Everybody's calls, a block at a time."""
    times: dict[str, list[float]] = {name: [] for name in clients}
    for number in range(blocks + 2):
        for name, client in clients.items():
            client.block(times[name] if number >= 2 else [])  # the first turns warm everybody up
    return {name: _spread(each) for name, each in times.items()}


def services(house: House) -> dict[str, dict[str, float]]:
    """ContextForge by itself: it is a service with a database, and keeps the machine busy while it is up."""
    python, server = PEERS / "contextforge" / "bin" / "python", [sys.executable, str(ECHO)]
    found: dict[str, dict[str, float]] = {}
    with contextforge.running(python, house.root / "stateless", server, keeps_sessions=False) as peer:
        client = Client([str(python), "-m", "mcpgateway.wrapper"], contextforge.TOOL, peer.stdio)
        found |= in_turns({"ContextForge, its stdio wrapper": client}, 2)
        client.close()
    with contextforge.running(python, house.root / "stateful", server, keeps_sessions=True) as peer:
        client = HttpClient(peer)
        found |= in_turns({"ContextForge, HTTP, one session kept": client}, 5)
        client.close()
    return found


def _spread(times: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles([each * 1000 for each in times], n=100)
    return {"p50": cuts[49], "p90": cuts[89], "p99": cuts[98]}


class SocketSession:
    """A session at the daemon's socket, without a relay."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_unix_connection(self._path)
        hello = {"hello": "session", "version": __version__, "principal": {"agent": "bench"}}
        self.writer.write(json.dumps(hello).encode() + b"\n")
        await self.ask(0, "initialize", INITIALIZE)
        self.writer.write(b'{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}\n')

    async def ask(self, id_: int, method: str, params: dict[str, Any]) -> bytes:
        self.writer.write(
            json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode() + b"\n"
        )
        return await self.reader.readline()

    async def calls(self, number: int) -> None:
        params = {"name": "echo__echo", "arguments": {"text": "hello"}}
        for id_ in range(1, number + 1):
            answer = await self.ask(id_, "tools/call", params)
            if b'"hello"' not in answer:
                raise SystemExit(f"unexpected: {answer!r}")

    def close(self) -> None:
        self.writer.close()


def calls_a_second(house: House, sessions: int, calls: int) -> float:
    """Durable decisions a second at the daemon's socket."""

    async def work() -> float:
        opened = [SocketSession(house.root / "ic" / "daemon.sock") for _ in range(sessions)]
        for session in opened:
            await session.open()
        began = time.perf_counter()
        await asyncio.gather(*(session.calls(calls // sessions) for session in opened))
        took = time.perf_counter() - began
        for session in opened:
            session.close()
        return calls / took

    return asyncio.run(work())


def resident(pid: int) -> float:
    """Megabytes of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise SystemExit("no such process")


def start_of_a_client(house: House) -> float:
    """Milliseconds from starting the relay to having the tools, with the daemon warm; the median of eleven."""
    times = []
    script = Path(sys.executable).with_name("ironcurtain")
    for _ in range(11):
        began = time.perf_counter()
        client = Client([str(script), "gateway", "--agent", "bench"], "", house.environment)
        times.append((time.perf_counter() - began) * 1000)
        client.close()
    return statistics.median(times)


def measured() -> dict[str, Any]:
    """All of it."""
    with tempfile.TemporaryDirectory() as directory:
        house = House(Path(directory).resolve() / "owner")
        house.furnish()
        try:
            trips, piped = round_trips(house)
            trips |= services(house)
            rates = {sessions: calls_a_second(house, sessions, 6_400) for sessions in (1, 8, 64)}
            start = start_of_a_client(house)
            pid = int(house.status()["pid"])
            calls_a_second(house, 64, FLAT // 10)
            early = resident(pid)
            calls_a_second(house, 64, FLAT)
            memory = {"early": early, "late": resident(pid)}
            records = json.loads(house.run("audit", "verify", "--json"))["records"]
        finally:
            house.run("daemon", "stop")
    return {"trips": trips, "piped": piped, "rates": rates, "start": start, "memory": memory, "records": records}


_PREFACE = """\
Written by `make bench`; figures are of one run on one machine, so read the ratios. Milliseconds. Every call through the
gateway is decided, and recorded durably before and after; its peers decide and record nothing. Everybody takes turns of
a hundred calls, but for ContextForge, a service with a database, which has the machine for itself. It is not among the
calls a second: its bridge to stdio servers gives answers to whichever client uses the same id."""


def page(found: dict[str, Any]) -> str:
    """As it stands in the documentation."""
    lines = ["# Performance of the gateway", "", _PREFACE, ""]
    lines += ["| a small call over stdio | p50 | p90 | p99 | adds at p50 |", "| --- | ---: | ---: | ---: | ---: |"]
    direct = found["trips"]["direct"]["p50"]
    for name, each in found["trips"].items():
        adds = "" if name == "direct" else f"{each['p50'] - direct:.2f}"
        lines.append(f"| {name} | {each['p50']:.2f} | {each['p90']:.2f} | {each['p99']:.2f} | {adds} |")
    lines += ["", "| calls a second over stdio, under way at once | 1 | 8 | 64 |", "| --- | ---: | ---: | ---: |"]
    lines += [f"| {name} | {' | '.join(f'{each:,.0f}' for each in rates)} |" for name, rates in found["piped"].items()]
    lines += ["", "| sessions at the daemon's socket | durable decisions a second |", "| ---: | ---: |"]
    lines += [f"| {sessions} | {rate:,.0f} |" for sessions, rate in found["rates"].items()]
    early, late = found["memory"]["early"], found["memory"]["late"]
    lines += [
        "",
        f"A new client has its tools {found['start']:.0f} ms after the relay was started, with the daemon warm.",
        f"Memory of the daemon: {early:.0f} MB after the first calls, {late:.0f} MB after {FLAT:,} more.",
        f"{found['records']:,} records were written and verified on the way.",
    ]
    return "\n".join(lines) + "\n"


def bars(found: dict[str, Any]) -> list[tuple[str, bool]]:
    """What was promised, and whether it holds."""
    trips, memory, rate, start = found["trips"], found["memory"], found["rates"][64], found["start"]
    ours, theirs = (trips[name]["p50"] - trips["direct"]["p50"] for name in ("ironcurtain", "bare FastMCP proxy"))
    grown = memory["late"] / memory["early"]
    return [
        (f"adds less to a call than a bare FastMCP proxy ({ours:.2f} against {theirs:.2f} ms)", ours < theirs),
        (f"64 sessions: at least 1,000 durable decisions a second ({rate:,.0f})", rate >= 1_000),
        (f"memory is flat over {FLAT:,} calls ({grown:.2f})", grown < 1.1),
        (f"a new client has its tools within 50 ms ({start:.0f})", start <= 50),
    ]


def main() -> int:
    found = measured()
    PAGE.write_text(page(found))
    print(page(found))
    results = bars(found)
    for bar, holds in results:
        print("holds " if holds else "FAILS ", bar)
    return 0 if all(holds for _, holds in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
