"""Appends records durably, many in one go.

Rules kept here:

1. Whoever awaits `append` resumes after the record is on the disk, or gets `AuditHaltedError`.
2. A failed write or sync is final: it is not tried again (what a failed sync has lost nobody knows), and everything
   after it fails with the same first cause until a person has seen to it and the daemon starts anew.
3. Records go to the file of the day, never to an earlier day's than the one before: a clock that goes back changes
   nothing.
4. At the start the chain is taken up where it ends. A torn end is set aside, not lost, and its size is recorded.
5. A chain that is not as it was written is left as it is: nothing is added to it, so nothing can happen.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from ironcurtain.audit.chain import BadRecordError, Head, seal, unseal
from ironcurtain.audit.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ironcurtain.model.call import Json

DAY_FILE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\.jsonl", re.ASCII)
_BATCH: Final = 4 * 1024 * 1024  # bytes written before a sync, at most


class AuditHaltedError(Exception):
    """Nothing can be recorded, so nothing may happen."""


class UnrecordableError(Exception):
    """This cannot be recorded as it is, so it may not happen; a record says that it was asked for."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Both clocks of a moment: the wall's, which people read, and the machine's, which only goes forward."""

    wall: Callable[[], float]
    machine: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Taken:
    """Where the chain ends, and what lies torn behind it."""

    head: Head
    day: str
    torn: tuple[tuple[Path, int, bytes], ...] = ()
    """In which file, from where on, and what."""


def day_files(directory: Path) -> list[Path]:
    """The files of a chain, oldest first."""
    return sorted(path for path in directory.iterdir() if DAY_FILE.fullmatch(path.name))


def found_end(directory: Path) -> Taken:
    """Find the end of the chain, and what is torn behind it. Changes nothing."""
    torn: list[tuple[Path, int, bytes]] = []
    for path in reversed(day_files(directory)):
        data = path.read_bytes()
        end, head = _last_whole(data)
        if data[end:]:
            torn.append((path, end, data[end:]))
        if end:
            return Taken(head, path.stem, tuple(torn))
    return Taken(Head(), "", tuple(torn))


def set_aside(taken: Taken) -> None:
    """Keep what is torn in files of its own, so that the chain can go on."""
    for path, end, data in taken.torn:
        path.with_name(f"{path.name}.torn-{taken.head.seq}").write_bytes(data)
        os.truncate(path, end)


def _last_whole(data: bytes) -> tuple[int, Head]:
    """Where the last whole record ends, and the head it makes."""
    end = data.rfind(b"\n") + 1
    while end:
        begin = data.rfind(b"\n", 0, end - 1) + 1
        try:
            return end, unseal(data[begin : end - 1])[1]
        except BadRecordError:
            end = begin
    return 0, Head()


class AuditStore:
    """The chain of a home, open for appending. One thread writes; `append` is for the event loop."""

    def __init__(
        self, directory: Path, taken: Taken, clock: Clock, disk: Disk | None = None, halted: str | None = None
    ) -> None:
        self._directory = directory
        self._clock = clock
        self._disk = disk or Disk()
        self._head = self._durable = taken.head
        self._day = taken.day
        self._waiting: list[tuple[str, bytes, asyncio.Future[Head], Head]] = []
        self._wakes = threading.Condition()
        self._closing = False
        self._cause = halted
        self._thread = threading.Thread(target=self._work, name="audit", daemon=True)
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    @property
    def halted(self) -> str | None:
        """Why nothing can be recorded any more, or nothing."""
        return self._cause

    @property
    def head(self) -> Head:
        """The last record that is on the disk."""
        return self._durable

    async def append(self, kind: str, fields: dict[str, Json]) -> Head:
        """Record, durably."""
        if self._cause is not None:
            raise AuditHaltedError(self._cause)
        now = self._clock.wall()
        moment = datetime.fromtimestamp(now, UTC)
        stamped: dict[str, Json] = {
            **fields,
            "kind": kind,
            "at": moment.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "machine": int(self._clock.machine() * 1_000_000),  # microseconds
        }
        trouble = ""
        try:
            line, head = seal(stamped, self._head)
        except Exception as error:  # noqa: BLE001 - half a surrogate pair, a number that is none, too much of it
            trouble = type(error).__name__
            kept: dict[str, Json] = {
                name: stamped[name] for name in ("kind", "at", "machine", "call") if name in stamped
            }
            line, head = seal({**kept, "unrecordable": trouble}, self._head)
        self._head = head
        self._day = max(self._day, moment.strftime("%Y-%m-%d"))
        done: asyncio.Future[Head] = self._loop.create_future()
        with self._wakes:
            self._waiting.append((self._day, line + b"\n", done, head))
            self._wakes.notify()
        # Whoever waits may be cancelled; what was handed in is written all the same.
        written = await asyncio.shield(done)
        if trouble:
            raise UnrecordableError(f"it cannot be recorded: {trouble}")
        return written

    def close(self) -> None:
        """Write what is waiting and stop."""
        with self._wakes:
            self._closing = True
            self._wakes.notify()
        self._thread.join()

    def _work(self) -> None:
        day, descriptor = "", -1
        while True:
            with self._wakes:
                while not self._waiting and not self._closing:
                    self._wakes.wait()
                batch, self._waiting = self._waiting, []
            if not batch:
                break
            try:
                if self._cause is None:
                    day, descriptor = self._write(batch, day, descriptor)
            except Exception as error:  # noqa: BLE001 - whatever it was, nothing may be forwarded any more
                self._cause = (
                    f"the audit log cannot be written: {error.strerror or error}"
                    if isinstance(error, OSError)
                    else f"the audit log cannot be written: {error!r}"
                )
            self._loop.call_soon_threadsafe(self._settle, [(done, head) for _, _, done, head in batch], self._cause)
        if descriptor >= 0:
            self._disk.close(descriptor)

    def _write(
        self, batch: list[tuple[str, bytes, asyncio.Future[Head], Head]], day: str, descriptor: int
    ) -> tuple[str, int]:
        pending = bytearray()
        for its_day, line, _, _ in batch:
            if its_day != day or len(pending) > _BATCH:
                self._flush(descriptor, day, pending)
                pending.clear()
            if its_day != day:
                if descriptor >= 0:
                    self._disk.close(descriptor)
                day, descriptor = its_day, self._disk.open(self._directory / f"{its_day}.jsonl")
            pending += line
        self._flush(descriptor, day, pending)
        return day, descriptor

    def _flush(self, descriptor: int, day: str, pending: bytearray) -> None:
        if pending:
            self._disk.require_in_place(descriptor, self._directory / f"{day}.jsonl")
            self._disk.write(descriptor, bytes(pending))
            self._disk.sync(descriptor)

    def _settle(self, batch: list[tuple[asyncio.Future[Head], Head]], cause: str | None) -> None:
        if cause is None:
            self._durable = batch[-1][1]
        for done, head in batch:
            if done.cancelled():
                continue
            if cause is None:
                done.set_result(head)
            else:
                done.set_exception(AuditHaltedError(cause))
                done.exception()  # whoever waited may be gone; that is no error of its own
