"""Walks the whole chain and names the first record that is not as it was written."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ironcurtain.audit.chain import GENESIS, BadRecordError, Head, follow, opened, unseal
from ironcurtain.audit.store import day_files, found_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    Read = Callable[[bytes], tuple[dict[str, Any], Head]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands."""

    file: Path
    line: int


@dataclass(frozen=True, slots=True)
class Report:
    """What verification found. No problem, no complaint."""

    records: int
    problem: str | None = None
    """The first bad record, with its place."""
    open_calls: tuple[str, ...] = ()
    """Intents without an outcome: calls under way, or cut off."""
    torn: int = 0
    """Bytes at the end that were being written when the machine stopped."""


class BrokenChainError(Exception):
    """The first record that does not follow."""

    def __init__(self, place: Place, seq: int, why: str) -> None:
        super().__init__(f"record {seq} ({place.file.name}, line {place.line}): {why}")
        self.place = place
        self.seq = seq


def records(
    directory: Path, after: Head = GENESIS, read: Read = unseal
) -> Iterator[tuple[Place, dict[str, Any], Head]]:
    """Every record after one, in order; raises `BrokenChainError` at the first that does not follow from the last."""
    head, found = after, after == GENESIS
    for file in _files_from(directory, after):
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                place = Place(file, number)
                try:
                    if not line.endswith(b"\n"):
                        raise BadRecordError("it is torn: the line has no end")  # noqa: TRY301 - one place to complain
                    if not found:
                        found = _is(line[:-1], after)
                        continue
                    record, head = follow(line[:-1], head, read)
                except BadRecordError as error:
                    raise BrokenChainError(place, head.seq + found, str(error)) from None
                yield place, record, head


def _files_from(directory: Path, head: Head) -> list[Path]:
    """The files of a chain, from the one on that holds a record."""
    files = day_files(directory)
    for index in range(len(files) - 1, 0, -1):
        with files[index].open("rb") as lines, contextlib.suppress(BadRecordError):
            if opened(lines.readline()[:-1])[1].seq <= head.seq:
                return files[index:]
    return files


def _is(line: bytes, head: Head) -> bool:
    """Whether a line is the record that was signed; it may be an earlier one."""
    _, found = opened(line)
    if found.seq >= head.seq and found != head:
        raise BadRecordError("it is not the one that was signed")
    return found == head


def signed_records(
    directory: Path, checkpoints: Iterable[Head], after: Head, read: Read, end: Head
) -> Iterator[dict[str, Any]]:
    """As `records`, up to the end; raises `BrokenChainError` also where a later checkpoint is not in the chain."""
    signed: dict[int, set[Head]] = {}
    for head in checkpoints:
        if head.seq > after.seq:
            signed.setdefault(head.seq, set()).add(head)
    place, last = Place(directory, 0), after
    for place, record, last in records(directory, after, read) if end.seq > after.seq else ():
        if signed.pop(last.seq, {last}) != {last}:
            raise BrokenChainError(place, last.seq, "it is not the one that was signed")
        yield record
        if last == end:  # what is behind it is torn
            break
    if signed:
        raise BrokenChainError(place, last.seq + 1, f"its end is missing: record {max(signed)} was signed")


def verify(directory: Path, checkpoints: Iterable[Head] = ()) -> Report:
    """Verify the chain in a directory, and that every checkpoint is in it."""
    count, unfinished, end = 0, dict[str, None](), found_end(directory)
    try:
        for record in signed_records(directory, checkpoints, GENESIS, unseal, end.head):
            count += 1
            call = str(record.get("call"))
            if record["kind"] == "intent" and "unrecordable" not in record:
                unfinished[call] = None
            elif record["kind"] == "outcome":
                unfinished.pop(call, None)
    except BrokenChainError as error:
        return Report(count, str(error), tuple(unfinished))
    return Report(count, None, tuple(unfinished), sum(len(data) for _, _, data in end.torn))
