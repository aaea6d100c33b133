"""What the last run left behind: effects whose outcome nobody recorded, questions nobody answered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ironcurtain.audit.store import day_files

if TYPE_CHECKING:
    from pathlib import Path


def unfinished(last_run: list[dict[str, Any]]) -> tuple[list[str], list[dict[str, Any]]]:
    """The calls of the last run with an intent and no outcome, and its questions without an end."""
    intents: dict[str, None] = {}
    questions: dict[str, dict[str, Any]] = {}
    for record in last_run:
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


def records_of_last_run(directory: Path) -> list[dict[str, Any]]:
    """The records since the last start, over as many days as it lasted."""
    found: list[dict[str, Any]] = []
    for file in reversed(day_files(directory)):
        records = [json.loads(line) for line in file.read_bytes().splitlines()]
        starts = [index for index, record in enumerate(records) if record.get("event") == "start"]
        found = [*(records[starts[-1] :] if starts else records), *found]
        if starts:
            break
    return found
