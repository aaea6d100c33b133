"""What the last run left behind: effects whose outcome nobody recorded, questions nobody answered."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ironcurtain.audit.chain import GENESIS, BadRecordError, opened
from ironcurtain.audit.store import day_files
from ironcurtain.audit.verify import signed_records

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from ironcurtain.audit.chain import Head


def unfinished(last_run: list[dict[str, Any]]) -> tuple[list[str], list[dict[str, Any]]]:
    """The calls of the last run with an intent and no outcome, and its questions without an end."""
    intents: dict[str, None] = {}
    questions: dict[str, dict[str, Any]] = {}
    for record in last_run:
        if "unrecordable" in record:  # and so refused
            continue
        call = str(record.get("call"))
        match record["kind"]:
            case "intent":
                intents[call] = None
                questions.pop(call, None)
            case "asked":
                questions[call] = record
            case "outcome" | "refused":
                intents.pop(call, None)
                questions.pop(call, None)
    return list(intents), list(questions.values())


def last_run(directory: Path, checkpoints: Collection[Head], end: Head) -> list[dict[str, Any]]:
    """The records since the last start. Raises `BrokenChainError` if they, or a checkpoint, are not as written."""
    start = _last_start(directory)
    before = max((head for head in checkpoints if head.seq < start), key=lambda head: head.seq, default=GENESIS)
    found: list[dict[str, Any]] = []
    for record in signed_records(directory, checkpoints, before, opened, end):
        if record.get("event") == "start":
            found = []
        found.append(record)
    return found


def _last_start(directory: Path) -> int:
    """The number of the last record that says so. It only says where to begin: from there on all of it is verified."""
    for file in reversed(day_files(directory)):
        for line in reversed(file.read_bytes().splitlines()):
            with contextlib.suppress(BadRecordError):
                record, head = opened(line) if b'"event":"start"' in line else ({}, GENESIS)
                if record.get("event") == "start":
                    return head.seq
    return 0
