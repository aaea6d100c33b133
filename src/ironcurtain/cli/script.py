"""A recorded agent: what its model would say, message by message.

    task = "Tidy up my notes"

    [[turn]]
    says = "I look first."
    code = '''
    import filesystem
    filesystem.list_directory(path="notes")
    '''

    [[turn]]
    calls = [{ name = "filesystem__read_text_file", arguments = { path = "notes/a.txt" } }]

    [[turn]]
    says = "There is one note."

    [[helper]]
    task = "what the agent tells it to do"
    turn = [{ says = "Done." }]

A transcript of an earlier agent is one too: its model says again what it said.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ironcurtain.errors import Refusal, quote


@dataclass(frozen=True, slots=True)
class Script:
    """What a recorded model says, and what those of its helpers say, by their task."""

    task: str = ""
    turns: list[dict[str, Any]] = field(default_factory=list)
    helpers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


_TURN: Final = frozenset({"says", "code", "data", "calls"})


def read_script(name: str) -> Script:
    """Read one from a file."""
    path = Path(name)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise Refusal("script_unreadable", f"{name}: {why}", "see: ironcurtain run --help") from None
    try:
        found = _from_transcript(text) if path.suffix == ".jsonl" else _from_toml(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _malformed(name, str(error)) from None
    if not found.turns:
        raise _malformed(name, "it says nothing")
    return found


def _malformed(name: str, why: str) -> Refusal:
    return Refusal("script_malformed", f"{name}: {why}", "docs/agent.md shows one")


def _from_toml(script: dict[str, Any]) -> Script:
    if unknown := sorted(script.keys() - {"task", "turn", "helper"}):
        raise ValueError(f"unknown key {quote(unknown[0])}; there is task, [[turn]] and [[helper]]")
    task = script.get("task", "")
    if not isinstance(task, str):
        raise TypeError("task must be a text")
    helpers = {str(each["task"]): [_turn(turn) for turn in each["turn"]] for each in script.get("helper", [])}
    return Script(task, [_turn(turn) for turn in script.get("turn", [])], helpers)


def _turn(turn: dict[str, Any]) -> dict[str, Any]:
    if unknown := sorted(turn.keys() - _TURN):
        raise ValueError(f"unknown key {quote(unknown[0])} of a turn; there is says, code, data and calls")
    calls = [{"name": call["name"], "arguments": call.get("arguments", {})} for call in turn.get("calls", [])]
    if "code" in turn:
        arguments = {"code": str(turn["code"])}
        if "data" in turn:
            arguments["data"] = turn["data"]
        calls.insert(0, {"name": "execute_code", "arguments": arguments})
    return {"text": str(turn.get("says", "")), "calls": calls}


def _from_transcript(text: str) -> Script:
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    said = [line["message"] for line in lines if "message" in line and line["message"]["role"] == "model"]
    turns = [
        {"text": each["text"], "calls": [{key: call[key] for key in ("name", "arguments")} for call in each["calls"]]}
        for each in said
    ]
    return Script(next((str(line["about"]["task"]) for line in lines if "about" in line), ""), turns)
