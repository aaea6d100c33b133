"""A server as a child process: lines on its standard input and output, an environment made from nothing."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from collections import deque
from typing import TYPE_CHECKING, Final

from ironcurtain.gateway.lines import LineSplitter
from ironcurtain.wire.limits import ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_INHERITED: Final = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER")
_LOCALE: Final = ("LANG", "LC_ALL", "LC_CTYPE")
_UTF_8: Final = re.compile(r"\.utf-?8$", re.IGNORECASE)
_GRACE: Final = 2.0  # seconds to end after its input was closed, and again after being asked to
_COMPLAINTS: Final = 200  # last lines of its standard error that are kept
_UNSENT: Final = 64 * 1024 * 1024  # bytes a server may leave unread before it counts as hung


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server: what a program needs to run, and what is its own. Nothing else of ours.

    A locale of another encoding is not handed on: the server would read other names than were decided on.
    """
    ours = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    kept = {name: value for name, value in ours.items() if name not in _LOCALE or _UTF_8.search(value)}
    return {**kept, **own}


class ServerProcess(asyncio.SubprocessProtocol):
    """One run of a server. `on_line` gets every line (nothing for one too long), `on_end` the reason, once."""

    def __init__(self, on_line: Callable[[bytes | None], object], on_end: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._on_end = on_end
        self._out = LineSplitter(ANSWER.size)
        self._err = LineSplitter(4_096)
        self._transport: asyncio.SubprocessTransport | None = None
        self._ended = asyncio.get_running_loop().create_future()
        self.complaints: deque[str] = deque(maxlen=_COMPLAINTS)

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        own: Mapping[str, str],
        directory: Path,
        on_line: Callable[[bytes | None], object],
        on_end: Callable[[str], None],
    ) -> ServerProcess:
        """Start a server. Raises `OSError` if that cannot be done."""
        loop = asyncio.get_running_loop()
        transport, process = await loop.subprocess_exec(
            lambda: cls(on_line, on_end),
            *command,
            env=environment(own),
            cwd=directory,
            start_new_session=True,
        )
        process._transport = transport  # noqa: SLF001 - it is ours
        return process

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._transport.get_pid() if self._transport else -1

    def send(self, line: bytes) -> None:
        """Send a line; one that nobody reads ends the server, not us."""
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if pipe is None or pipe.is_closing():
            return
        if pipe.get_write_buffer_size() > _UNSENT:  # type: ignore[attr-defined] # a write pipe has it
            self.kill("it reads nothing")
            return
        pipe.write(line)  # type: ignore[attr-defined] # likewise

    async def stop(self) -> None:
        """Close its input, then ask it to end, then end it."""
        if self._transport is None or self._ended.done():
            return
        if pipe := self._transport.get_pipe_transport(0):
            pipe.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            done, _ = await asyncio.wait([self._ended], timeout=_GRACE)
            if done:
                break
            self._signal(number)
        await asyncio.wait([self._ended], timeout=_GRACE)
        self._transport.close()

    def kill(self, reason: str) -> None:
        """End it at once."""
        self._finish(reason)
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self._transport is None or self._transport.get_returncode() is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)  # it leads a group of its own: its children go with it

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called by the loop."""
        if fd == 1:
            for line in self._out.feed(data):
                self._on_line(line)
        else:
            for line in self._err.feed(data):
                self.complaints.append("(a line too long to keep)" if line is None else line.decode(errors="replace"))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Called by the loop. A server without its output is of no use."""
        if fd == 1:
            self._finish("it closed its output")
            self._signal(signal.SIGTERM)

    def process_exited(self) -> None:
        """Called by the loop."""
        code = self._transport.get_returncode() if self._transport else None
        self._finish(f"it ended with code {code}")
        if not self._ended.done():
            self._ended.set_result(None)

    def _finish(self, reason: str) -> None:
        on_end, self._on_end = self._on_end, _nothing
        on_end(reason)


def _nothing(_: str) -> None:
    pass
