"""One connection of an HTTP session to the daemon, and who waits for what it says."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass, field
from typing import Any, Final

_MOST_UNREAD: Final = 1_000  # messages that wait for a client that does not read


@dataclass(slots=True)
class Link:
    """One connection to the daemon, and who waits for what it says."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: float
    alone: bool
    """It is for one request only."""
    waiting: dict[Any, asyncio.Queue[bytes | None]] = field(default_factory=dict)
    tokens: dict[Any, Any] = field(default_factory=dict)
    """Which request each progress token belongs to."""
    unasked: asyncio.Queue[bytes | None] | None = None
    """Where messages go that belong to no request, if anybody listens."""
    hearing: asyncio.Task[None] | None = None
    over: bool = False
    """The daemon has hung up."""

    def start(self) -> None:
        """Begin to hear what the daemon says."""
        self.hearing = asyncio.create_task(self._hear())

    async def send(self, body: bytes) -> None:
        """Send a message, unless nobody is there any more: whoever waits is told by the end of what is heard."""
        self.used = time.monotonic()
        with contextlib.suppress(OSError):
            self.writer.write(body.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
            await self.writer.drain()

    async def _hear(self) -> None:
        with contextlib.suppress(OSError, ValueError, asyncio.IncompleteReadError):
            while line := await self.reader.readline():
                self._sort(line.rstrip(b"\n"))
        self.over = True
        for queue in (*self.waiting.values(), *([self.unasked] if self.unasked else [])):
            queue.put_nowait(None)

    def _sort(self, line: bytes) -> None:
        """Hand a message to whoever it is for: the request it answers, the one whose progress it tells, or any."""
        message = json.loads(line)
        params = message.get("params") or {}
        id_ = message.get("id") if "method" not in message else self.tokens.get(params.get("progressToken"))
        queue = self.waiting.get(id_)
        if queue is None and "id" in message and "method" in message and self.waiting:
            queue = next(reversed(self.waiting.values()))  # it asks the client something while a call waits
        if queue is None:
            queue = next(iter(self.waiting.values()), None) if self.alone else self.unasked
        if queue is not None and queue.qsize() < _MOST_UNREAD:
            queue.put_nowait(line)
        elif queue is not None and is_response(line):
            queue.get_nowait()
            queue.put_nowait(line)

    def close(self) -> None:
        """Hang up."""
        self.over = True
        self.writer.close()
        if self.hearing is not None:
            self.hearing.cancel()


def is_response(line: bytes) -> bool:
    """Whether this message ends a request."""
    return "method" not in json.loads(line)
