"""Names that a text itself makes known: `the bucket acme-reports`, `the payroll and customers tables`."""

from __future__ import annotations

import re
from typing import Final

from ironcurtain.compiler.annotate.text import singular
from ironcurtain.compiler.english.lexicon import HARMLESS, THINGS
from ironcurtain.compiler.english.words import BEFORE_PLACES

_ODD: Final = r"[A-Za-z0-9]\w*(?:[-_./]\w+)+"
_BEFORE_NAME: Final = re.compile(rf"\b([a-z]+)s?\s+(?:named |called |is )?[`\"']?({_ODD})", re.IGNORECASE)
_SORTED_NAME: Final = re.compile(
    r"\b(?:[Tt]he|[Mm]y|[Oo]ur)\s+(tables?|buckets?|databases?|branch(?:es)?|namespaces?|collections?|topics?|queues?)\s+([a-z]\w+)(?![\w/-]|\.\w)"
)
_SORTS: Final = r"tables?|schemas?|columns?|buckets?|namespaces?|collections?|topics?|queues?"
_LIST_OF_NAMES: Final = r"[a-z]\w+(?:(?:, | and | or |, and )[a-z]\w+){0,5}"
_NAMES_BEFORE: Final = re.compile(rf"\b(?:[Tt]he|[Mm]y|[Oo]ur) ({_LIST_OF_NAMES}) ({_SORTS})\b")
_NAMES_AFTER: Final = re.compile(
    rf"\b(?:[Tt]he|[Mm]y|[Oo]ur) ({_SORTS}) ({_LIST_OF_NAMES})(?=[.,;:]| is\b| are\b| need| may\b| must\b|$)"
)
_AFTER_NAME: Final = re.compile(rf"\b(?:the|my|our)\s+[`\"']?({_ODD})[`\"']?\s+([a-z]+)", re.IGNORECASE)
_COMPOUND: Final = r"[a-z0-9]+(?:[-_][a-z0-9]+)+"
_TWICE: Final = re.compile(rf"(?<![\w/.-]){_COMPOUND}(?![\w-])")
_ALONE: Final = re.compile(
    rf"(?:^|\b(?:in|to|from|of|into|on|at|besides|except|than)\s+)({_COMPOUND})"
    r"(?=\s*(?:[.,;:)]|$|(?:and|or|is|are|may|can|has|needs?|must|only|but)\b))",
    re.MULTILINE,
)


def named_things(text: str) -> dict[str, str]:
    """Names in a text, with the sort of thing they stand beside, if any: `the bucket acme-reports`."""
    found = [(name, thing) for thing, name in _BEFORE_NAME.findall(text)] + _AFTER_NAME.findall(text)
    for name in sorted(set(_TWICE.findall(text))):
        if text.count(name) > 1:
            itself = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
            near = re.finditer(rf"((?:\w+[^\w\n.;]+){{0,3}}){itself}((?:[^\w\n.;]+\w+)?)", text)
            words = [word for each in near for part in each.groups() for word in re.findall(r"\w+", part)]
            found += [(name, word) for word in words]
    found += [(name, thing) for thing, name in _SORTED_NAME.findall(text) if _is_like_a_name(name)]
    lists = [*_NAMES_BEFORE.findall(text), *((listed, thing) for thing, listed in _NAMES_AFTER.findall(text))]
    found += [(name, thing) for listed, thing in lists for name in re.findall(r"\w+", listed) if _is_like_a_name(name)]
    things: dict[str, str] = {}
    for name, thing in found:
        if (word := singular(thing.lower())) in THINGS:
            things.setdefault(name, word)
    for name in _ALONE.findall(text):
        others = re.search(rf"{re.escape(name)}[^#]{{0,300}}?\b(?:any|all|every|no) other (\w+)", text, re.IGNORECASE)
        sort = singular(others.group(1).lower()) if others else ""
        things.setdefault(name, sort if sort in THINGS else "")  # `acme-reports: list it. All other buckets, keep out`
    for name in tuple(things):
        for other in re.findall(rf"(?<![\w-]){re.escape(name)}(?:\s*,)?\s+(?:and\s+|or\s+)?({_COMPOUND})", text):
            things[other] = things.get(other) or things[name]  # `the buckets acme-raw and acme-public`
    return things


def _is_like_a_name(word: str) -> bool:
    """`the table members`, but not `the table is`."""
    return word not in HARMLESS and word not in THINGS and word not in BEFORE_PLACES and word not in ("and", "or")
