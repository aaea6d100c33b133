"""Writes statements: the one line that `parsing.py` reads back as the same statement."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, assert_never

from ironcurtain.language.statement import (
    ACTS,
    After,
    Amount,
    Attachments,
    Budget,
    Comparison,
    Content,
    Count,
    Domain,
    Giving,
    Mood,
    Name,
    Origin,
    People,
    Place,
    Task,
    Where,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.language.statement import Condition, Doing, Except, Limit, Line, Thing

RESERVED: Final = frozenset(
    word
    for line in (
        "may must never ask before otherwise use using do doing anything with of in on outside to anyone at more than",
        "people once attachments without from whose text might be read as after reading named the task if asks for it",
        "giving only where and or is given left out not most least less under contains starts ends matches except make",
        "calls per spend minutes session",
    )
    for word in line.split()
) | frozenset(ACTS)
"""Words that are grammar somewhere: as names they are quoted."""
_ENDS_NOUN: Final = frozenset(
    "after anything at for giving if in more of on only or outside to where whose with without".split()  # noqa: SIM905
)
"""Words that are grammar behind an act or a noun: a noun that has one is quoted."""
BARE: Final = re.compile(r"(?![.\-])[\w\-./#@~*:]+(?<![.:])")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_HOST: Final = re.compile(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}", re.IGNORECASE)
_IRREGULAR: Final = {
    "read": "reading", "run": "running", "pay": "paying", "send": "sending", "trash": "trashing", "upload": "uploading",
}  # fmt: skip


def gerund(act: str) -> str:
    """The act as it stands behind `before`: `sending`. A verb that is no act stands as it is."""
    if act not in ACTS:
        return act
    return _IRREGULAR.get(act) or act.removesuffix("e") + "ing"


def write(line: Line) -> str:
    """Write a statement or a budget as one line, with its full stop."""
    if isinstance(line, Budget):
        return f"must never {_budget(line)}."
    ing = line.mood in (Mood.ASK, Mood.OTHERWISE)
    parts = [line.mood.value, write_doing(line.doing, ing=ing)]
    for number, limit in enumerate(line.limits):
        parts.append(("only " if number == line.only else "") + write_limit(limit, line.doing.acts))
    return " ".join(parts) + "".join(map(_exception, line.exceptions)) + "."


def write_name(name: Name) -> str:
    """Write a name bare where that means the same, otherwise in quotes."""
    bare = BARE.fullmatch(name.text) or _NUMBER.fullmatch(name.text)
    if name.quoted or not bare or name.text.lower() in RESERVED:
        return json.dumps(name.text, ensure_ascii=False)
    return name.text


def _budget(budget: Budget) -> str:
    most = f"{budget.most:.12g}"
    match budget.amount:
        case Amount.CALLS:
            return f"make more than {most} calls per {budget.period}"
        case Amount.MONEY:
            return f"spend more than ${most} per {budget.period}"
        case Amount.MINUTES:
            return f"run for more than {most} minutes"
    assert_never(budget.amount)


def write_doing(doing: Doing, *, ing: bool = False) -> str:
    """Write what a statement is about; with `ing`, as it stands behind `before`."""
    if doing.tools:
        return f"{'using' if ing else 'use'} {_either(map(write_name, doing.tools))}"
    things = _either(map(_thing, doing.things))
    if not doing.acts:
        return f"{'doing' if ing else 'do'} anything with {things}"
    acts = _either(gerund(act) if ing else act for act in doing.acts)
    return f"{acts} {things}".rstrip()


def _thing(thing: Thing) -> str:
    words = thing.noun.split()
    bare = all(BARE.fullmatch(word) and word.lower() not in _ENDS_NOUN for word in words) and not thing.quoted
    noun = "anything" if not words else thing.noun if bare else json.dumps(thing.noun, ensure_ascii=False)
    return noun if thing.of is None else f"{noun} of {write_name(thing.of)}"


def _either(words: Iterable[str]) -> str:
    found = list(words)
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} or {found[-1]}" if found else ""


def _names(names: Sequence[Name]) -> str:
    return _either(map(write_name, names))


def write_limit(limit: Limit, acts: Sequence[str] = ()) -> str:
    """Write one limit; `acts` says whether people are written `to` or `with`."""
    match limit:
        case Place(names, outside):
            hosts = all(_HOST.fullmatch(name.text) and not name.quoted for name in names)
            return f"{'outside' if outside else 'on' if hosts else 'in'} {_names(names)}"
        case People(members, outside):
            to = "with" if acts and set(acts) <= {"share"} else "to"
            if outside:
                return f"{to} anyone outside {_names([m for m in members if isinstance(m, Name)])}"
            return f"{to} {_either(map(_party, members)) or 'anyone'}"
        case Where(conditions):
            return "where " + " and ".join(map(_condition, conditions))
        case Giving(arguments):
            return "giving only " + ", ".join(f"`{each}`" for each in arguments)
        case Count(beyond, noun):
            return f"more than {beyond} {noun} at once" if noun else f"to more than {beyond} people"
        case Attachments(names, without):
            return (
                "without attachments" if without else "with attachments" + (f" from {_names(names)}" if names else "")
            )
        case Content(question):
            return f"whose text might be read as {json.dumps(question, ensure_ascii=False)}"
        case After(things):
            return f"after reading {_either(map(_thing, things))}"
        case Origin(names):
            return f"with anything read from {_names(names)}"
        case Task():
            return limit.value
    assert_never(limit)


def _party(party: Name | Domain) -> str:
    return f"anyone at {write_name(party.name)}" if isinstance(party, Domain) else write_name(party)


def _condition(condition: Condition) -> str:
    left_out = " or left out" if condition.or_left_out else ""
    given = "is given and " if condition.given else ""
    if condition.test is Comparison.MATCHES:
        asks = f"matches /{condition.values[0].text}/"
    else:
        asks = f"{condition.test.value} {_names(condition.values)}".rstrip()
    return f"`{condition.argument}` {given}{asks}{left_out}"


def _exception(exception: Except) -> str:
    doing = exception.doing
    parts = []
    if doing.tools:
        parts.append(f"using {_names(doing.tools)}")
    elif doing.acts or doing.things:
        acts = _either(map(gerund, doing.acts))
        parts.append(f"{acts} {_either(map(_thing, doing.things))}".strip())
    parts += [write_limit(limit, doing.acts) for limit in exception.limits]
    return ", except " + " ".join(parts)
