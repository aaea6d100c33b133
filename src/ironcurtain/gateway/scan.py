"""Looks through every string of a tool definition for what a person would not see and for orders to the model.

Findings do not decide: a definition is pinned and its calls are judged whatever it says of itself. They are shown when
a server is reviewed. A string that has one is not passed on to the agent; where that would change what the definition
means (a name, a choice), the tool is not offered.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ironcurtain.model.call import Json

_NAME: Final = " (the name)"
_NEEDED: Final = frozenset({"enum", "const", "required", "pattern", "$ref", "type", "format", "$schema", "$id"})
_LOOK_AROUND: Final = 40  # characters shown on each side of what was found
_STEP: Final = 1_000  # characters; an order is shorter, and what is searched at once is not longer than two of these
WITHHELD: Final = "(IronCurtain withholds this text: it holds hidden characters or orders to a model.)"

# ruff: noqa: E501 - one pattern a line
_ORDERS: Final = {
    "an order to set other orders aside": r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|other|any)\b[^.\n]{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|messages?)\b",
    "an order to keep something from the user": r"\b(?:do\s+not|don'?t|never|without)\b[^.\n]{0,30}\b(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|notify|notifying|show|showing|alert|alerting)\b[^.\n]{0,30}\b(?:the\s+)?(?:user|human|owner|person|operator)\b",
    "a tag that pretends to be more than a description": r"<\s*/?\s*(?:important|system|secret|instructions?|admin|hidden|assistant|override|priority|critical)\b[^>]{0,60}>",
    "a claim on the model's own instructions": r"\b(?:system\s+prompt|as\s+an\s+ai\b|you\s+are\s+now\b)",
    "an order to read secrets": r"(?:~/|\$HOME/|/home/|/root/|\.)?(?:\.ssh\b|id_rsa|id_ed25519|\.aws/credentials|\.netrc|\.gnupg|\.kube/config|mcp\.json|\.claude\.json|/etc/(?:passwd|shadow))",
    "an order to carry something along": r"\b(?:pass|include|put|provide|attach|send|append)\b[^.\n]{0,60}\b(?:content|contents|it|them|key|token|history|conversation)\b[^.\n]{0,40}\b(?:as|in|into|via|through)\b[^.\n]{0,30}\b(?:sidenote|side\s*note|parameter|argument|field|url|query)\b",
    "an order about calling other tools first": r"\b(?:before|prior\s+to)\s+(?:using|calling|invoking|running)\s+(?:this|any|another|other)\b[^.\n]{0,60}\b(?:must|always|you\s+(?:should|need|have)\s+to|first)\b",
    "an order about another server's tools": r"\b(?:when(?:ever)?|if|each\s+time|every\s+time|once)\b[^.\n]{0,60}\b(?:use|using|call|calling|invoke|invoking|send|sending|with)\b[^.\n]{0,60}(?<!this\s)\b(?:server|tool|tools|e-?mail|mail|message|slack|browser|github)\b[^.\n]{0,40}[,:]?\s*(?:you\s+)?(?:must|always|also|should|need\s+to|have\s+to|first)\b[^.\n]{0,60}\b(?:add|bcc|cc|copy|forward|include|set|send|use|pass|route|change|replace)\b",
    "an order to use this instead of another tool": r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of)\b[^.\n]{0,40}\b(?:other|another|any\s+other|the\s+\w+)\s+(?:server|tool|tools)\b[^.\n]{0,40}\b(?:always|must|only)\b|\b(?:always|must|only)\b[^.\n]{0,60}\b(?:instead\s+of|rather\s+than|in\s+place\s+of)\b[^.\n]{0,40}\b(?:other|another|any\s+other|\w+)\s+(?:server|tool|tools)\b",
    "an order to copy somebody in": r"\b(?:always|must|also)\b[^.\n]{0,40}\b(?:add|bcc|cc|copy|include)\b[^.\n]{0,40}(?:\b(?:to|in|as)\s+(?:the\s+)?(?:bcc|cc|recipients?)\b|[\w.+-]+@[\w-]+\.[\w.]+)",
}
_BY_ORDER: Final = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _ORDERS.items()}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a definition that a person should look at."""

    place: str
    """Where in the definition, for example `inputSchema.properties.path.description`."""
    kind: str
    excerpt: str
    """The text around it, with everything hidden spelled out."""


def scan(definition: Json) -> list[Finding]:
    """Every finding in every string of a definition, names and keys included."""
    return [finding for place, text in _strings(definition, "") for finding in _look(place, text)]


def without_findings(definition: dict[str, Json]) -> dict[str, Json] | None:
    """The definition as an agent may see it, without the strings that have a finding; nothing if it needs them."""
    found = {finding.place for finding in scan(definition)}
    if any(_is_needed(place) for place in found):
        return None
    return {key: _clean(value, key, found) for key, value in definition.items()} if found else definition


def _is_needed(place: str) -> bool:
    """Whether a definition means something else without this string."""
    words = re.split(r"[.\[]", place.removesuffix(_NAME))
    return place.endswith(_NAME) or place == "name" or not _NEEDED.isdisjoint(words)


def _clean(value: Json, place: str, found: set[str]) -> Json:
    if isinstance(value, dict):
        return {key: _clean(item, f"{place}.{key}", found) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, f"{place}[{index}]", found) for index, item in enumerate(value)]
    return WITHHELD if isinstance(value, str) and place in found else value


def _strings(value: Json, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            below = f"{place}.{key}" if place else key
            yield f"{below}{_NAME}", key
            yield from _strings(item, below)


def _look(place: str, text: str) -> Iterator[Finding]:
    hidden = next((index for index, char in enumerate(text) if _is_hidden(char)), None)
    if hidden is not None:
        yield Finding(place, "hidden characters", _excerpt(text, hidden, hidden + 1))
    for kind, pattern in _BY_ORDER.items():
        match = next(
            (
                found
                for begin in range(0, len(text), _STEP)
                if (found := pattern.search(text, begin, begin + 2 * _STEP))
            ),
            None,
        )
        if match:
            yield Finding(place, kind, _excerpt(text, match.start(), match.end()))


def _is_hidden(char: str) -> bool:
    if char.isascii():
        return not char.isprintable() and char not in "\n\r\t"
    return (
        unicodedata.category(char) in ("Cf", "Cc", "Co", "Zl", "Zp")
        or "\ufe00" <= char <= "\ufe0e"
        or char > "\U000e0000"
    )


def _excerpt(text: str, begin: int, end: int) -> str:
    part = text[max(0, begin - _LOOK_AROUND) : end + _LOOK_AROUND]
    return "".join(f"<U+{ord(char):04X}>" if _is_hidden(char) else char for char in part).replace("\n", " ")
