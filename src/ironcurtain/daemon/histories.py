"""What the record says of programs: how far each came, and whether it has ended. All of it, not only the last run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.audit.chain import BadRecordError, opened
from ironcurtain.audit.store import day_files

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_CALL: Final = re.compile(rb'"call":"([0-9a-f-]+)"')
UNKNOWN: Final = "IronCurtain was cut off while the call was made: nobody knows whether it took effect"
LOST: Final = "the call was made, and what it gave was lost when IronCurtain was cut off"


@dataclass(slots=True)
class History:
    """One program."""

    ended: str = ""
    """How, if it has."""
    last: int = 0
    """The last step of which anything is recorded."""
    made: dict[int, str] = field(default_factory=dict)
    """Steps that were made, or may have been, and what is known of each."""
    refused: dict[int, str] = field(default_factory=dict)
    """Steps that were refused, and why."""
    seen: set[str] = field(default_factory=set)
    """The tools whose results it may have seen, each as `server/tool`."""


def histories(directory: Path, programs: Collection[str]) -> dict[str, History]:
    """What is recorded of these programs."""
    found = {name: History() for name in programs}
    calls: dict[str, tuple[History, int]] = {}
    for record in _about(directory, programs, calls):
        code = record.get("code")
        if isinstance(code, dict) and code.get("run") in found:
            _step(record, found[code["run"]], int(code["step"]), calls)
        elif record.get("event") == "code" and record.get("run") in found and record.get("what") == "ended":
            found[record["run"]].ended = str(record.get("status"))
        elif record.get("kind") == "outcome" and str(record.get("call")) in calls:
            history, step = calls[str(record["call"])]
            status = record["execution"].get("status")
            if status == "not-forwarded":
                history.made.pop(step, None)
            elif status != "unknown":
                history.made[step] = LOST
    return found


def _step(record: dict[str, Any], history: History, step: int, calls: dict[str, tuple[History, int]]) -> None:
    history.last = max(history.last, step)
    if record["kind"] == "intent":
        calls[str(record["call"])] = history, step
        history.made[step] = UNKNOWN
        history.seen.add(f"{record['request']['server']}/{record['request']['tool']}")
    elif record["kind"] == "refused":
        history.refused[step] = str(record["evaluation"].get("reason"))


def _about(directory: Path, programs: Collection[str], calls: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The records that name one of the programs, or a call that one of them made."""
    if not programs:
        return
    names = [f'"run":"{name}"'.encode() for name in programs]
    for file in day_files(directory):
        for line in file.read_bytes().splitlines():
            call = _CALL.search(line) if b'"kind":"outcome"' in line else None
            if (call and call[1].decode() in calls) or any(name in line for name in names):
                try:
                    yield opened(line)[0]
                except BadRecordError:
                    continue  # a log that is not as it was written stops everything, elsewhere
