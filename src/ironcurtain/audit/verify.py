"""Walks the whole chain and names the first record that is not as it was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironcurtain.audit.chain import GENESIS, BadRecordError, Head, follow
from ironcurtain.audit.store import day_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ironcurtain.model.call import Json


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands."""

    file: Path
    line: int


@dataclass(frozen=True, slots=True)
class Report:
    """What verification found. No problem, no complaint."""

    records: int
    head: Head
    problem: str | None = None
    """The first bad record, with its place."""
    open_calls: tuple[str, ...] = ()
    """Intents without an outcome: calls under way, or cut off."""


class BrokenChainError(Exception):
    """The first record that does not follow."""

    def __init__(self, place: Place, seq: int, why: str) -> None:
        super().__init__(f"record {seq} ({place.file.name}, line {place.line}): {why}")
        self.place = place
        self.seq = seq


def records(directory: Path, head: Head | None = None) -> Iterator[tuple[Place, dict[str, Json], Head]]:
    """Every record in order; raises `BrokenChainError` at the first that does not follow from the one before."""
    head = head or Head(0, GENESIS)
    for file in day_files(directory):
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                place = Place(file, number)
                try:
                    if not line.endswith(b"\n"):
                        raise BadRecordError("it is torn: the line has no end")  # noqa: TRY301 - one place to complain
                    record, head = follow(line[:-1], head)
                except BadRecordError as error:
                    raise BrokenChainError(place, head.seq + 1, str(error)) from None
                yield place, record, head


def verify(directory: Path, checkpoints: Iterable[Head] = ()) -> Report:
    """Verify the chain in a directory, and that every checkpoint is in it."""
    signed = {head.seq: head for head in checkpoints}
    count, last, unfinished = 0, Head(), dict[str, None]()
    try:
        for _, record, last in records(directory):
            count += 1
            call = str(record.get("call"))
            if record["kind"] == "intent":
                unfinished[call] = None
            elif record["kind"] == "outcome":
                unfinished.pop(call, None)
            if last.seq in signed and signed.pop(last.seq) != last:
                return Report(count, last, f"record {last.seq} is not the one that was signed")
    except BrokenChainError as error:
        return Report(count, last, str(error), tuple(unfinished))
    if signed:
        missing = f"the log ends with record {last.seq}, but record {max(signed)} was signed: its end is missing"
        return Report(count, last, missing, tuple(unfinished))
    return Report(count, last, None, tuple(unfinished))
