"""What a call would do, in words, from what is known of its tool. Facts only: nothing the agent says."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironcurtain.model.roles import COMMAND, DELETE_PATH, FETCH_URL, NONE, WRITE_PATH, Category, category, sends

if TYPE_CHECKING:
    from ironcurtain.model.call import CanonicalCall, Json, RoleValue
    from ironcurtain.model.policy import Tool
    from ironcurtain.model.roles import Role

_MOST_UNUSUAL: Final = 100  # characters and hosts that are spelled out
_ALIKE: Final = (
    "CYRILLIC", "GREEK", "COPTIC", "ARMENIAN", "CHEROKEE", "LATIN", "FULLWIDTH", "MATHEMATICAL", "COMBINING",
)  # fmt: skip
_ENCODED: Final = re.compile(r"xn--[a-z0-9-]+")
_VERBS: Final = {
    "read-path": "reads",
    "write-path": "creates or changes",
    "delete-path": "deletes or moves away",
    "fetch-url": "fetches",
    "send-url": "sends to",
    "recipient": "writes to",
    "attendee": "invites",
    "channel": "posts in",
    "calendar": "uses the calendar",
    "repository": "works on the repository",
    "account": "uses the account",
    "command": "runs",
    "identifier": "names",
    "amount": "amounts to",
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """A call in words."""

    happens: tuple[str, ...]
    leaves: str
    """Whether anything leaves the machine."""
    undone: str
    """Whether it can be undone."""


def meaning(call: CanonicalCall, tool: Tool) -> Meaning:
    """What this call would do."""
    roles = {item.role for item in call.values}
    described = bool(tool.roles - {NONE}) or not call.arguments
    return Meaning(
        tuple(_happens(call, tool, described=described)),
        _leaves(call, tool, described=described),
        _undone(roles, tool, described=described),
    )


def _happens(call: CanonicalCall, tool: Tool, *, described: bool) -> list[str]:
    said = [_said(item) for item in call.values]
    if not described:
        return ["nobody has described this tool yet: what it does with its arguments is not known"]
    return said or [f"{'has an effect' if tool.side_effects else 'only reads'}, and touches nothing that it names"]


def _said(item: RoleValue) -> str:
    if item.role == "outbound-content":
        return f"carries a text of {len(str(item.value))} characters ({item.leaf})"
    return f"{_VERBS.get(item.role, f'touches ({item.role})')} {item.value}"


def _leaves(call: CanonicalCall, tool: Tool, *, described: bool) -> str:
    out = [item for item in call.values if sends(item.role) or category(item.role) is Category.URL]
    if any(item.role != FETCH_URL for item in out):
        return f"yes, to {', '.join(dict.fromkeys(str(item.value) for item in out))}"
    if out:
        return f"its address does, and what stands in it: {', '.join(str(item.value) for item in out)}"
    if not described or COMMAND in tool.roles or any(category(item.role) is Category.OTHER for item in call.values):
        return "that is not known"
    return "no, as far as the tool is described"


def _undone(roles: set[Role], tool: Tool, *, described: bool) -> str:
    if not described or COMMAND in roles:
        return "that is not known"
    if not tool.side_effects or tool.effects == {"read"}:
        return "there is nothing to undo: it only reads"
    if DELETE_PATH in roles:
        return "no: what is deleted is gone"
    if any(sends(role) for role in roles):
        return "no: what is sent is sent"
    if WRITE_PATH in roles:
        return "only if you keep copies: what is overwritten is gone"
    return "that is not known"


def unusual(call: CanonicalCall, besides: dict[str, Json]) -> list[str]:
    """The characters that may look like others, spelled out."""
    text = "".join([*(str(item.value) for item in call.values), *_strings(call.arguments), *_strings(besides)])
    hosts = {label: _decoded(label) for label in _ENCODED.findall(text)}
    read = [f"{label} is read as {host}" for label, host in hosts.items() if host]
    strange = sorted((c for c in dict.fromkeys(text + "".join(hosts.values())) if not c.isascii()), key=_harmless)
    more = max(0, len(read) - _MOST_UNUSUAL) + max(0, len(strange) - _MOST_UNUSUAL)
    return [
        *read[:_MOST_UNUSUAL],
        *(f"{c} is U+{ord(c):04X} {unicodedata.name(c, 'without a name')}" for c in strange[:_MOST_UNUSUAL]),
        *([f"and {more} more that may look like others"] if more else []),
    ]


def _harmless(char: str) -> bool:
    """Whether it is hardly taken for another: what is not seen, and letters like our own, come first."""
    return unicodedata.category(char)[0] not in "CZ" and not unicodedata.name(char, "").startswith(_ALIKE)


def _decoded(label: str) -> str:
    """What a browser may show in place of this part of a host."""
    try:
        return label.removeprefix("xn--").encode("ascii").decode("punycode")
    except UnicodeError:
        return ""


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *_strings(item))]
    return [text for item in value for text in _strings(item)] if isinstance(value, list) else []
