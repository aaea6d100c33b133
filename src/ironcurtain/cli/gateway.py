"""`ironcurtain gateway` with its options spelled in full, and over HTTP."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import itertools
import json
import os
import secrets
import stat
import sys
import threading
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.files import read_artifact, write_artifact
from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.cli.main import DONE
from ironcurtain.errors import ArtifactError, Refusal
from ironcurtain.gateway import relay
from ironcurtain.wire.limits import ANSWER

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

_NAMES: Final = ("agent", "provider", "group", "member")
_SILENCE: Final = 10.0  # seconds for a client to ask something
_SHORTEST: Final = 32  # characters of a token


def run(arguments: argparse.Namespace) -> int:
    """Carry one client's session, or serve clients over HTTP."""
    given = {f"--{name}": getattr(arguments, name) for name in _NAMES if getattr(arguments, name) is not None}
    principal = [part for pair in given.items() for part in pair]
    return _serve(arguments, principal) if arguments.http else relay.main(principal)


def _serve(arguments: argparse.Namespace, principal: list[str]) -> int:
    import uvicorn  # noqa: PLC0415 - slow to load, and for this alone

    from ironcurtain.gateway.inbound.door import Door  # noqa: PLC0415 - likewise
    from ironcurtain.gateway.inbound.http import HttpGateway  # noqa: PLC0415 - likewise

    home = Home(default_home())
    home.require()
    hosts = _hosts(arguments)
    token_file = home.root / "http" / f"{_file_name(arguments.agent or 'unnamed')}.token"
    token = _token(token_file)
    holder = f"http-{secrets.token_hex(8)}"
    hellos = itertools.chain(
        [relay.hello(principal, holder, fresh=True)], itertools.repeat(relay.hello(principal, holder))
    )
    relay.connect(str(home.root)).close()  # a daemon, before anybody needs it

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        daemon = await asyncio.to_thread(relay.connect, str(home.root))
        reader, writer = await asyncio.open_unix_connection(sock=daemon, limit=ANSWER.size + (1 << 20))
        writer.write(next(hellos))
        return reader, writer

    gateway = HttpGateway(Door(token, hosts), connect)
    server = uvicorn.Server(
        uvicorn.Config(
            gateway.app, arguments.host, arguments.port, http=_impatient(), ws="none", lifespan="off",
            log_level="warning", access_log=False, server_header=False, date_header=False, proxy_headers=False,
            limit_concurrency=500, timeout_graceful_shutdown=2,
        )
    )  # fmt: skip
    where = f"http://{_bracketed(arguments.host)}:{arguments.port}/mcp"
    print(f"serving {where}; the token is in {token_file}")
    entry = {"type": "http", "url": where, "headers": {"Authorization": f"Bearer $(cat {token_file})"}}
    print(json.dumps({"mcpServers": {"ironcurtain": entry}}, indent=2), flush=True)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        server.run()
        return DONE if server.started else 1
    return _with_a_person(server, home)


def _impatient() -> type[asyncio.Protocol]:
    """Connections on which nothing is asked are closed: whoever opens many of them keeps nobody else out for long."""
    from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: PLC0415 - slow to load

    class Impatient(H11Protocol):
        deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as it is called
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def _watch(self) -> None:
            """From the end of an answer to the next whole request there is so much time, whatever comes in it."""
            if self._is_busy():
                if self.deadline is not None:
                    self.deadline.cancel()
                self.deadline = None
            elif self.deadline is None:
                self.deadline = self.loop.call_later(_SILENCE, self._leave)

        def _is_busy(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _leave(self) -> None:
            if not self._is_busy() and not self.transport.is_closing():
                self.transport.close()

    return Impatient


def _with_a_person(server: object, home: Home) -> int:
    """Somebody sits in front of it: put questions to them here."""
    from ironcurtain.cli.watch import watch  # noqa: PLC0415 - needs a terminal

    serving = threading.Thread(target=server.run, daemon=True)  # type: ignore[attr-defined] # it is a server
    serving.start()
    try:
        return watch(home)
    finally:
        server.should_exit = True  # type: ignore[attr-defined] # likewise
        serving.join(5)


def _hosts(arguments: argparse.Namespace) -> frozenset[str]:
    """The names a client may call us by. Anything but this machine itself has to be asked for twice."""
    try:
        loopback = ipaddress.ip_address(arguments.host).is_loopback
    except ValueError:
        raise Refusal("usage", f"--host must be an address, not {arguments.host!r}", "for example 127.0.0.1") from None
    if not loopback and not (arguments.unsafe_bind and arguments.allow_host):
        reason = f"{arguments.host} can be reached from other machines"
        raise Refusal("usage", reason, "leave --host out; or add --unsafe-bind and --allow-host NAME")
    names = ["127.0.0.1", "localhost", "[::1]"] if loopback else []
    return frozenset(f"{name.lower()}:{arguments.port}" for name in (*names, *arguments.allow_host))


def _token(path: Path) -> str:
    if not os.path.lexists(path):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_artifact(path, secrets.token_urlsafe(32).encode() + b"\n")
    token = read_artifact(path).decode("ascii", "replace").strip()
    if stat.S_IMODE(os.lstat(path).st_mode) & 0o077:
        raise ArtifactError("artifact_unsafe", str(path), "", "others can read it", f"chmod 600 {path}")
    if len(token) < _SHORTEST or not token.isprintable():
        raise ArtifactError("artifact_malformed", str(path), "", "it is no token", f"remove it: rm {path}")
    return token


def _file_name(agent: str) -> str:
    """A file for each agent, whatever its name: a token is for one principal."""
    plain = agent.isascii() and agent.replace("-", "").replace("_", "").isalnum()
    return agent if plain else hashlib.sha256(agent.encode()).hexdigest()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
