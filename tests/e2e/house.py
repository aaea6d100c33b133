"""A home, its command line and its clients, all of them real processes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests import program

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = [sys.executable, "-I", "-m", "ironcurtain"]
META = "io.modelcontextprotocol/"
ENVELOPE = {f"{META}protocolVersion": "2026-07-28", f"{META}clientInfo": {"name": "t", "version": "1"}, f"{META}clientCapabilities": {}}  # fmt: skip


@dataclass
class House:
    """One owner with a home. Everything it starts is ended by `close`."""

    owner: Path
    clients: list[Agent] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.owner / ".ironcurtain"

    @property
    def sandbox(self) -> Path:
        return self.home / "sandbox"

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.owner), "PATH": os.environ["PATH"], "IRONCURTAIN_HOME": str(self.home)}

    def run(self, *arguments: str, code: int = 0, cwd: Path | None = None, stdin: str = "") -> str:
        """A command of the owner's."""
        done = program.run(*arguments, env=self.environment, stdin=stdin.encode(), cwd=cwd, timeout=60)
        said = (done.stdout + done.stderr).decode()
        assert done.returncode == code, (arguments, done.returncode, said)
        return said

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", code=code))

    def agent(self, *arguments: str, era: str = "handshake", can: dict[str, Any] | None = None) -> Agent:
        """A client that starts the relay, and can be asked what `can` says."""
        made = Agent(self, arguments, era, can or {})
        self.clients.append(made)
        return made

    def records(self, **wanted: str) -> list[dict[str, Any]]:
        """What was recorded, straight from the files."""
        files = sorted((self.home / "audit").glob("*.jsonl"))
        found = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        return [record for record in found if all(record.get(name) == value for name, value in wanted.items())]

    def servers(self, **servers: list[str]) -> None:
        """Write `servers.json` and approve what is in it."""
        entries = {name: {"command": command[0], "args": command[1:]} for name, command in servers.items()}
        path = self.home / "servers.json"
        path.write_text(json.dumps({"mcpServers": entries}))
        path.chmod(0o600)
        self.approve()

    def configure(self, text: str) -> None:
        """Write `config.toml`; before the daemon runs, or wait for it to look."""
        path = self.home / "config.toml"
        path.write_text(text)
        path.chmod(0o600)

    def approve(self) -> None:
        from ironcurtain.artifacts.home import Home  # noqa: PLC0415 - in this process, for speed
        from ironcurtain.artifacts.servers import read_servers  # noqa: PLC0415
        from ironcurtain.artifacts.state import Approved, approve_server  # noqa: PLC0415

        for name, spec in read_servers(Home(self.home))[0].items():
            approve_server(self.home, name, Approved(spec.pin), time.time())

    def status(self) -> Any:
        return self.json("daemon", "status")

    def kill(self) -> None:
        """End the daemon as a power cut would."""
        os.kill(self.status()["pid"], signal.SIGKILL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if program.run("daemon", "status", env=self.environment).returncode:
                return
            time.sleep(0.05)
        raise AssertionError("it lives")

    def close(self) -> None:
        for client in self.clients:
            client.close()
        program.run("daemon", "stop", env=self.environment, timeout=30)


class Agent:
    """A client of one era, speaking plain JSON-RPC to a relay."""

    def __init__(self, house: House, arguments: tuple[str, ...], era: str, can: dict[str, Any]) -> None:
        self.era = era
        self._envelope = {**ENVELOPE, f"{META}clientCapabilities": can}
        self._next = 0
        self._unread = b""
        self.heard: list[dict[str, Any]] = []
        self.process = subprocess.Popen(
            [*PROGRAM, "gateway", *arguments], env=house.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )  # fmt: skip
        if era == "handshake":
            params = {"protocolVersion": "2025-11-25", "capabilities": can, "clientInfo": {"name": "t", "version": "1"}}
            self.initialized = self.ask("initialize", params)["result"]
            self.tell("notifications/initialized", {})

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def tell(self, method: str, params: dict[str, Any]) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def begin(self, method: str, params: dict[str, Any]) -> int:
        self._next += 1
        if self.era == "envelope":
            params = {**params, "_meta": {**self._envelope, **params.get("_meta", {})}}
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}).encode())
        return self._next

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return self.await_(self.begin(method, params or {}))

    def await_(self, id_: int | None) -> dict[str, Any]:
        """The response to a request, keeping what else was heard."""
        for message in self.heard:
            if message.get("id") == id_ and "method" not in message:
                self.heard.remove(message)
                return message
        while True:
            message = self.hear()
            if message.get("id") == id_ and "method" not in message:
                return message
            self.heard.append(message)

    def await_request(self, method: str) -> dict[str, Any]:
        """A request of the server's, keeping what else was heard."""
        while True:
            message = self.hear()
            if message.get("method") == method and "id" in message:
                return message
            self.heard.append(message)

    def reply(self, id_: Any, result: dict[str, Any]) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode())

    def hear(self, seconds: float = 30.0) -> dict[str, Any]:
        """The next message; a relay that says nothing for so long has failed."""
        assert self.process.stdout is not None
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            assert ready, "the relay says nothing"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, f"the relay ended: {self.process.stderr.read() if self.process.stderr else ''!r}"
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """A tool's result."""
        answer = self.ask("tools/call", {"name": name, "arguments": arguments})
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.kill()
        self.process.wait()


class Terminal:
    """A command on a terminal of its own, which it is given as its controlling one."""

    def __init__(self, house: House, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self._main, other = pty.openpty()
        environment = {**house.environment, **(environment or {}), "TERM": "xterm", "COLUMNS": "240"}
        self.process = subprocess.Popen(
            [*PROGRAM, *arguments], stdin=other, stdout=other, stderr=other, env=environment, start_new_session=True,
            preexec_fn=self._sit_down,  # noqa: PLW1509 - there is one thread
        )  # fmt: skip
        os.close(other)
        self.seen = ""

    @staticmethod
    def _sit_down() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as whatever runs in the background leaves it to its children

    def until(self, text: str, seconds: float = 20.0) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self._main], [], [], 0.2)[0]:
                self.seen += os.read(self._main, 1 << 16).decode(errors="replace")
        self.seen = self.seen[self.seen.index(text) + len(text) :]

    def press(self, keys: str) -> None:
        os.write(self._main, keys.encode())


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


def code_of(result: dict[str, Any]) -> str:
    return str(result["_meta"]["ironcurtain/decision"]["code"])


def ruled(policy: dict[str, Any], server: str, *own: dict[str, Any]) -> None:
    """Put rules of a test in the place of what the constitution came to for a server."""
    others = [rule for rule in policy["rules"] if rule["if"].get("server") != [server]]
    policy["rules"] = [*own, *others]


def eventually(check: Any, seconds: float = 15.0) -> Any:
    """Wait until the check gives something."""
    deadline = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.02)
    return found
