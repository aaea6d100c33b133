"""The daemon: a runtime behind the owner's socket.

Whoever connects says first who they are, in one line: a relay that carries a client's session, or a command of the
owner's. The system says which user they really are, and nobody but the owner is heard.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import stat
import struct
import sys
from collections import deque
from typing import TYPE_CHECKING, Final

from ironcurtain import __version__
from ironcurtain.daemon.address import bound
from ironcurtain.daemon.control import Control
from ironcurtain.daemon.runtime import Runtime
from ironcurtain.errors import Refusal
from ironcurtain.gateway.inbound.session import Session
from ironcurtain.gateway.lines import LineSplitter
from ironcurtain.wire import jsonrpc, strict_json
from ironcurtain.wire.call import principal_from
from ironcurtain.wire.jsonrpc import RpcError
from ironcurtain.wire.limits import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

_UNREAD: Final = 64 * 1024 * 1024  # bytes that a peer may leave unread before it is let go
_TURN: Final = 16  # lines of one peer that are handled before others have their turn
_LAST_WORDS: Final = 3.0  # seconds for answers after a client has closed its end
MOST_PEERS: Final = 320  # connections
MOST_SESSIONS: Final = 256  # of them agents'; the rest is the owner's
MOST_OF_ONE: Final = 128  # sessions of one principal
_LONGEST_HOLDER: Final = 64  # characters
_INTRODUCTION: Final = 5.0  # seconds to say who it is


class Peer(asyncio.Protocol):
    """One connection to the socket."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._lines = LineSplitter(MESSAGE.size)
        self._unhandled: deque[bytes | None] = deque()
        self._transport: asyncio.Transport | None = None
        self._handler: Session | Control | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        if not isinstance(transport, asyncio.Transport):
            return
        self._transport = transport
        self._daemon.peers.add(self)
        if _user_of(transport) != os.geteuid():
            self.leave("this socket is another user's")
        elif len(self._daemon.peers) > MOST_PEERS:
            self.leave(f"more than {MOST_PEERS} connections")
        else:
            asyncio.get_running_loop().call_later(_INTRODUCTION, self._require_introduction)

    def _require_introduction(self) -> None:
        if self._handler is None:
            self.leave("it did not say who connects")

    @property
    def session(self) -> Session | None:
        """The client's session that it carries, if it carries one."""
        return self._handler if isinstance(self._handler, Session) else None

    def data_received(self, data: bytes) -> None:
        """Called by the loop. So many lines at a turn: who sends a thousand takes turns with everybody else."""
        self._unhandled.extend(self._lines.feed(data))
        self._handle()

    def _handle(self) -> None:
        for _ in range(_TURN):
            if not self._unhandled or self._transport is None or self._transport.is_closing():
                break
            line = self._unhandled.popleft()
            if self._handler is None:
                self._greet(line)
            else:
                self._handler.receive(line)
        if self._transport is None or self._transport.is_closing():
            return
        if self._unhandled:
            self._transport.pause_reading()
            asyncio.get_running_loop().call_soon(self._handle)
        else:
            self._transport.resume_reading()

    def _greet(self, line: bytes | None) -> None:
        try:
            self._handler = self._introduced(line)
        except Refusal as refusal:
            self.leave(refusal.reason)

    def _introduced(self, line: bytes | None) -> Session | Control:
        hello = strict_json.loads(line) if line is not None else None
        if not isinstance(hello, dict) or hello.get("hello") not in ("session", "control"):
            raise Refusal("hello_malformed", "the first line must say who connects")
        if hello["hello"] == "control":
            return Control(self._daemon, self.send)
        if hello.get("version") != __version__:
            raise Refusal("version_mismatch", f"the daemon is version {__version__}; run: ironcurtain daemon restart")
        principal = principal_from(hello.get("principal", {}))
        sessions = [peer.session for peer in self._daemon.peers if peer.session]
        mine = [session for session in sessions if session.principal == principal]
        if len(sessions) >= MOST_SESSIONS or len(mine) >= MOST_OF_ONE:
            raise Refusal("sessions_exhausted", "too many sessions")
        session = Session(self._daemon.next_session(), principal, self._daemon.runtime, self.send)
        if isinstance(holder := hello.get("holder"), str):
            session.holder = holder[:_LONGEST_HOLDER]
            self._remember(session.holder, fresh=hello.get("fresh") is True)
        else:
            session.holder = session.name
        return session

    def _remember(self, holder: str, *, fresh: bool) -> None:
        """INVARIANT: a door that was there before us has seen whatever there is; nobody knows what."""
        runtime = self._daemon.runtime
        older = not fresh and not runtime.sources.knows(holder)
        tools = runtime.loaded.policy.tools if older else ()
        runtime.sources.add(holder, [f"{server}/{tool}" for server, tool in tools])

    def eof_received(self) -> bool:
        """Called by the loop: the peer will send nothing more, and may still be waiting for answers."""
        self._daemon.let_finish(self)
        return True

    async def finish(self) -> None:
        """Let what is under way come to its end, for a moment, then hang up."""
        if isinstance(self._handler, Session):
            await self._handler.finish(_LAST_WORDS)
        self.hang_up()

    def send(self, line: bytes) -> None:
        """Send a line, unless nobody reads them."""
        if self._transport is None or self._transport.is_closing():
            return
        self._transport.write(line)
        if self._transport.get_write_buffer_size() > _UNREAD:
            self._transport.abort()

    def leave(self, reason: str) -> None:
        """Say why, and hang up."""
        self.send(jsonrpc.failure(None, RpcError(jsonrpc.INVALID_REQUEST, reason)))
        if self._transport is not None:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        self._daemon.peers.discard(self)
        if isinstance(self._handler, Session):
            self._daemon.part(self._handler)
        elif self._handler is not None:
            self._handler.close()

    def hang_up(self) -> None:
        """The daemon stops."""
        if self._transport is not None:
            self._transport.close()


class Daemon:
    """A runtime and everybody connected to it."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.peers: set[Peer] = set()
        self.stopping = asyncio.Event()
        self._sessions = 0
        self._parting: set[asyncio.Task[None]] = set()

    def next_session(self) -> str:
        """A name for a session."""
        self._sessions += 1
        return f"s{self._sessions}"

    def let_finish(self, peer: Peer) -> None:
        """A peer has said all it will say."""
        self._later(peer.finish())

    def part(self, session: Session) -> None:
        """A client is gone; what it left under way is finished and recorded, and what was granted to it is over."""
        self.runtime.grants.end_session(session.name)
        self.runtime.sources.forget(session.name)  # what a door has seen is not forgotten with one of its sessions
        self._later(session.close())

    def _later(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._parting.add(task)
        task.add_done_callback(self._parting.discard)

    async def run(self) -> None:
        """Serve until told to stop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stopping.set)
        listening = _listen(self.runtime.home.socket)
        server = await loop.create_unix_server(lambda: Peer(self), sock=listening)
        try:
            await self.stopping.wait()
        finally:
            server.close()
            for peer in list(self.peers):
                peer.hang_up()
            await asyncio.sleep(0)
            if self._parting:
                await asyncio.wait(set(self._parting), timeout=10)
            self.runtime.home.socket.unlink(missing_ok=True)


def _listen(path: Path) -> socket.socket:
    """A socket that only its owner can reach. Whoever holds the home's lock may clear away a stale one."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise Refusal("socket_unsafe", f"{path} is not a socket", f"remove it: rm {path}")
        path.unlink()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with bound(path) as address:
            listening.bind(address)
    finally:
        os.umask(before)
    listening.listen(MOST_PEERS)
    listening.setblocking(False)  # noqa: FBT003 - its name says which
    return listening


def _user_of(transport: asyncio.Transport) -> int:
    """The user on the other end, as the system knows them."""
    peer = transport.get_extra_info("socket")
    if hasattr(socket, "SO_PEERCRED"):
        _, user, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        return int(user)
    return int(peer.getsockopt(0, 1, struct.calcsize("2ih16i"))[4:8][0])  # LOCAL_PEERCRED


async def serve(home: Path) -> None:
    """Run the daemon of a home until it is told to stop."""
    async with Runtime(home) as runtime:
        await Daemon(runtime).run()


def main(home: Path) -> int:
    """The daemon as a process."""
    sys.stdin = open(os.devnull, encoding="ascii")  # noqa: SIM115, PTH123 - for the rest of the process
    asyncio.run(serve(home))
    return 0
