"""Annotations that somebody wrote or corrected: a line for each tool, as `ironcurtain annotate --json` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.item import parse
from ironcurtain.compiler.annotate.annotator import entry_of
from ironcurtain.compiler.annotate.effects import VERBS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ironcurtain.artifacts.item import Item

_MEMBERS: Final = ("server", "tool", "sideEffects", "effect", "args")
_BESIDES: Final = ("doubts", "accept", "acceptEffect", "acceptSideEffects", "note", "why")
"""What people write beside it, for other people."""


def read_labels(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """By server and tool."""
    found = {}
    for number, line in enumerate(read_artifact(path).splitlines(), 1):
        if line.strip():
            members = parse(line, f"{path.name}, line {number}").members(_MEMBERS, _BESIDES)
            found[members["server"].text(), members["tool"].text()] = _label(members)
    return found


def _label(members: Mapping[str, Item]) -> dict[str, Any]:
    arguments = members["args"].entries()
    return {
        "sideEffects": members["sideEffects"].flag(),
        "effects": [effect.word(VERBS) for effect in members["effect"].elements()],
        "args": {leaf: [role.text() for role in roles.elements(least=1)] for leaf, roles in arguments.items()},
    }


def labelled(fields: Mapping[str, Any], label: Mapping[str, Any]) -> dict[str, Any]:
    """What was understood of a tool, with what somebody says of it instead."""
    said = label["args"]
    entries = {
        leaf: _entry(leaf, said[leaf], entry) if leaf in said else entry for leaf, entry in fields["args"].items()
    }
    return {**fields, "sideEffects": label["sideEffects"], "effects": label["effects"], "args": entries}


def _entry(leaf: str, roles: Sequence[str], understood: Any) -> dict[str, Any]:  # noqa: ANN401 - as in an artifact
    entry = entry_of(roles, nested="." in leaf or "[" in leaf)
    sql = "command" in roles and isinstance(understood, dict) and "language" in understood
    return {**entry, "language": understood["language"]} if sql else entry
