"""The limits that the names, numbers and words of a sentence suggest for a tool. Offers to the owner only."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon, words_of
from ironcurtain.compiler.naming import Reference, Setup
from ironcurtain.compiler.problems import Problem
from ironcurtain.compiler.readers.wording import STOP, stem, stems_of
from ironcurtain.language.statement import (
    Attachments,
    Comparison,
    Condition,
    Content,
    Count,
    Domain,
    Name,
    People,
    Place,
    Where,
)
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.compiler.catalogue import Argument, Tool
    from ironcurtain.compiler.naming import Meant
    from ironcurtain.compiler.readers.wording import Number, Wording
    from ironcurtain.compiler.setup import Known
    from ironcurtain.language.statement import Limit

_PEOPLE: Final = lexicon("person people recipient address contact guest attendee receiver member")
_LETTERS: Final = lexicon("character letter sign char")
_NO_NAMES: Final = frozenset({"outbound-content", "command"})  # roles whose values are texts
_NUMERIC: Final = frozenset({"integer", "number"})
_ARGUMENTS: Final = 2  # that are offered for one name or number
_LONGEST: Final = 120  # characters of a question about content
_VALUE: Final = r"[\w#](?:[\w./-]*\w)?"
_SECONDS: Final = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_OPPOSITE: Final = {
    Comparison.IS: Comparison.IS_NOT, Comparison.IS_NOT: Comparison.IS, Comparison.AT_MOST: Comparison.ABOVE,
    Comparison.AT_LEAST: Comparison.BELOW, Comparison.GIVEN: Comparison.LEFT_OUT,
    Comparison.LEFT_OUT: Comparison.GIVEN, Comparison.ABOVE: Comparison.AT_MOST, Comparison.BELOW: Comparison.AT_LEAST,
    Comparison.NO_LONGER: Comparison.LONGER, Comparison.LONGER: Comparison.NO_LONGER,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Option:
    """One limit that may be meant."""

    limit: Limit
    likely: bool = False
    """The sentence names it: it is part of the whole statements that are offered."""
    taken_back: bool = False
    """The sentence excepts it: whole statements have its opposite."""

    @property
    def opposite(self) -> Limit | None:
        """Return what holds where this does not; nothing where the language cannot say it."""
        match self.limit:
            case Place(names, outside):
                return Place(names, outside=not outside)
            case People(members, outside) if members:
                return People(members, outside=not outside)
            case Where((condition,)) if condition.test in _OPPOSITE:
                return Where((replace(condition, test=_OPPOSITE[condition.test]),))
            case Attachments(names, without) if not names:
                return Attachments(without=not without)
        return None


def options(wording: Wording, tool: Tool, known: Known) -> list[Option]:
    """Return the limits that a clause suggests for a tool, each once, those that it names first."""
    found: dict[Limit, Option] = {}
    for each in _every(wording, tool, known):
        if each.limit not in found or (each.likely and not found[each.limit].likely):
            found[each.limit] = each
    return sorted(found.values(), key=lambda each: not each.likely)


def _every(wording: Wording, tool: Tool, known: Known) -> Iterator[Option]:
    for names, taken_back in ((wording.names, False), (wording.excepted, True)):
        joint = [*_named(names, wording, tool, known)] if names else []
        yield from (replace(each, taken_back=taken_back) for each in joint)
        if len(names) > 1:
            for name in names:
                yield from (replace(each, likely=False) for each in _named((name,), wording, tool, known))
    for number in wording.numbers:
        yield from _counted(number, wording, tool)
    yield from _chosen(wording, tool)
    if "attach" in wording.stems and "send" in tool.might.acts:
        yield Option(Attachments(), likely=not wording.names)
    if tool.of(Category.PARTY) and not wording.mood.tightens:
        yield Option(People())
    if wording.mood.tightens:
        yield Option(content_of(wording))


def content_of(wording: Wording) -> Content:
    """Return what a clause asks about the text of a call."""
    return Content(" ".join(wording.text.split())[:_LONGEST].rstrip("."))


def _meant(setup: Setup, name: Name) -> Meant:
    try:
        return setup.meant([name])
    except Problem:
        return setup.meant([Name(name.text, quoted=True)])


def _named(names: tuple[Name, ...], wording: Wording, tool: Tool, known: Known) -> Iterator[Option]:
    """Yield the limits that names stand for, those of one kind together."""
    setup = Setup(known)
    by_kind: dict[str, list[Name]] = {}
    values: dict[Comparison, list[tuple[Name, tuple[str, ...]]]] = {}
    for name in names:
        meant = _meant(setup, name)
        kind = (
            "paths" if meant.paths and tool.of(Category.PATH)
            else "people" if meant.people and tool.of(Category.PARTY)
            else "places" if meant.hosts and tool.of(Category.URL)
            else "places" if meant.values and tool.of(Category.PLACE) and not isinstance(meant.values[0], Reference)
            else ""
        )  # fmt: skip
        if kind:
            by_kind.setdefault(kind, []).append(name)
        elif held := (*meant.values, *meant.hosts, *meant.people):
            test = Comparison.IN if isinstance(held[0], Reference) else Comparison.IS
            values.setdefault(test, []).append((name, held))
    attached = "attach" in wording.stems and "send" in tool.might.acts
    for kind, found in by_kind.items():
        if kind == "people":
            yield Option(People(tuple(found)), likely=True)
        else:
            yield Option(
                Attachments(tuple(found)) if attached and kind == "paths" else Place(tuple(found)), likely=True
            )
    for test, held_names in values.items():
        every = tuple(value for _, held in held_names for value in held)
        for place, argument in enumerate(_holding(tool, wording, every)[:_ARGUMENTS]):
            condition = Condition(argument.leaf, test, tuple(name for name, _ in held_names))
            yield Option(Where((condition,)), likely=place == 0)


def _holding(tool: Tool, wording: Wording, values: tuple[str, ...]) -> list[Argument]:
    """Return the arguments that could hold a named value, the likeliest first."""
    scored: list[tuple[int, Argument]] = []
    whole = all(value.lstrip("-").isdigit() for value in values)
    for argument in tool.arguments.values():
        if argument.choices:
            if {str(choice).lower() for choice in argument.choices} & {value.lower() for value in values}:
                scored.append((9, argument))
            continue
        if argument.is_flag or argument.roles & _NO_NAMES or (argument.types & _NUMERIC and not whole):
            continue
        shared = stems_of(argument.words) & wording.stems
        naming = not {"id", "name", "key", "code", "number", "symbol"}.isdisjoint(argument.words)
        scored.append((2 * len(shared) + argument.required + naming + bool(argument.roles), argument))
    return [argument for score, argument in sorted(scored, key=lambda each: -each[0]) if score > 0]


def _counted(number: Number, wording: Wording, tool: Tool) -> Iterator[Option]:
    unit = {stem(word) for word in number.words}
    if not _LETTERS.isdisjoint(number.words) and number.value.isdigit():
        texts = [a for a in tool.arguments.values() if "outbound-content" in a.roles and "string" in a.types]
        for place, argument in enumerate(sorted(texts, key=lambda a: not stems_of(a.words) & wording.stems)):
            length = Condition(argument.leaf, Comparison.NO_LONGER, (Name(number.value),))
            yield Option(Where((length,)), likely=place == 0)
        return
    if not _PEOPLE.isdisjoint(number.words) and tool.of(Category.PARTY):
        yield Option(Count(int(float(number.value))), likely=True)
        return
    scored: list[tuple[int, Argument]] = []
    for argument in tool.arguments.values():
        numeric = bool(argument.types & _NUMERIC) or "amount" in argument.roles
        looks = not {"amount", "price", "qty", "quantity", "limit", "count", "size", "max"}.isdisjoint(argument.words)
        if not numeric and not looks:
            continue
        said = stems_of(re.findall(r"[a-z]+", argument.says.lower()))
        score = (
            3 * bool(stems_of(argument.words) & (unit | wording.stems))
            + 2 * bool(said & unit)
            + ("amount" in argument.roles)
        )
        scored.append((score, argument))
    for place, (score, argument) in enumerate(sorted(scored, key=lambda each: -each[0])[:_ARGUMENTS]):
        likely = place == 0 and score > 0
        value = (Name(_in_unit_of(argument, number)),)
        low = bool(
            re.search(
                r"\b(?:at least|minimum|from|between|not (?:below|under)|more than|over|above)\b",
                wording.text,
                re.IGNORECASE,
            )
        )
        yield Option(Where((Condition(argument.leaf, Comparison.AT_MOST, value),)), likely=likely)
        if low:
            yield Option(Where((Condition(argument.leaf, Comparison.AT_LEAST, value),)))
    several = [a for a in tool.arguments.values() if "array" in a.types or "[]" in a.leaf]
    lists = [a.leaf.partition("[]")[0] for a in several if not a.has(Category.PARTY)]
    if lists and number.value.isdigit():
        spoken = number.words[0] if number.words and number.words[0] not in STOP else words_of(lists[0])[-1]
        yield Option(Count(int(number.value), spoken))


def _in_unit_of(argument: Argument, number: Number) -> str:
    """Return a number in the unit that an argument is counted in: two hours in seconds."""
    said = next((_SECONDS[word] for word in number.words if word in _SECONDS), None)
    own = next((_SECONDS[word] for word in argument.words if word in _SECONDS), None)
    if said is None or own is None:
        return number.value
    return f"{float(number.value) * said / own:.12g}"


def _chosen(wording: Wording, tool: Tool) -> Iterator[Option]:
    """Yield the choices, flags and optional arguments that a clause mentions."""
    for argument in tool.arguments.values():
        for choice in _choices(argument, wording):
            # What the tool is called says what it does: merging is not asking for one way of merging.
            likely = not stems_of(re.findall(r"[a-z]+", str(choice).lower())) <= stems_of(tool.name_words)
            yield Option(Where((Condition(argument.leaf, Comparison.IS, (Name(str(choice)),)),)), likely=likely)
        if named := _called(argument, wording):
            yield Option(Where((Condition(argument.leaf, Comparison.IS, named),)), likely=True)
        own = stems_of(argument.words)
        if argument.is_flag:
            if own and own <= wording.stems:
                yield Option(Where((Condition(argument.leaf, Comparison.IS, (Name("true"),)),)))
        elif not argument.required and not argument.has_default and own and own <= wording.stems:
            yield Option(Where((Condition(argument.leaf, Comparison.GIVEN),)))


def _called(argument: Argument, wording: Wording) -> tuple[Name, ...]:
    """Return the values that stand behind the word for an argument: *the commands ls, find and git*."""
    if argument.choices or argument.has(Category.PARTY) or "string" not in argument.types:
        return ()
    for word in (word for word in argument.words if word not in STOP):
        found = re.search(
            rf"\b{word}s? {_VALUE}(?:(?:, | and | or |, and |, or ){_VALUE})*(?=[.,;:!?]|$)", wording.text
        )
        values = re.split(r", and |, or |, | and | or ", found[0].partition(" ")[2]) if found else []
        if values and STOP.isdisjoint(value.lower() for value in values):
            return tuple(Name(value, quoted=True) for value in values)
    return ()


def _choices(argument: Argument, wording: Wording) -> Iterator[object]:
    for choice in argument.choices:
        words = re.findall(r"[a-z]+", str(choice).lower())
        if stems_of(words) and stems_of(words) <= wording.stems:
            yield choice
    if argument.choices or argument.is_flag or not argument.says:
        return
    for word in re.findall(r"[a-z]{3,}", wording.text.lower()):
        told = re.search(rf"['\"`|]{word}['\"`|]", argument.says)
        if told and word not in STOP and word not in argument.words:
            yield word


def names_in(limits: Iterable[Limit]) -> Iterator[Name]:
    """Yield the names that limits speak of."""
    for limit in limits:
        match limit:
            case Place(names) | Attachments(names):
                yield from names
            case People(members):
                yield from (each for each in members if isinstance(each, Name))
            case Where(conditions):
                yield from (name for condition in conditions for name in condition.values)


def turned(option: Option, wording: Wording) -> Limit | None:
    """Return a limit as its clause takes it: at most 10 in a permission is more than 10 in a prohibition."""
    back = option.taken_back
    match option.limit:
        case Count():
            return option.limit if wording.mood.tightens else None
        case Where((Condition(test=Comparison.AT_MOST | Comparison.NO_LONGER),)) if wording.mood.tightens:
            back = not back
        case Place() | People() if wording.outside or (wording.elsewhere and wording.mood.tightens):
            back = not back
    return option.opposite if back else option.limit


def joined(limits: Iterable[Limit]) -> list[Limit]:
    """Join limits of one kind: places with places, people with people, values of one argument with each other."""
    places: dict[bool, tuple[Name, ...]] = {}
    people: dict[bool, tuple[Name | Domain, ...]] = {}
    attached: tuple[Name, ...] | None = None
    conditions: dict[tuple[str, Comparison], Condition] = {}
    rest: dict[Limit, None] = {}
    for limit in limits:
        match limit:
            case Place(names, outside):
                places[outside] = (*places.get(outside, ()), *names)
            case People(members, outside):
                people[outside] = (*people.get(outside, ()), *members)
            case Attachments(names, without=False):
                attached = (*(attached or ()), *names)
            case Where(found):
                for each in found:
                    before = conditions.get((each.argument, each.test))
                    values = (*(before.values if before else ()), *each.values)
                    conditions[each.argument, each.test] = replace(each, values=tuple(dict.fromkeys(values)))
            case _:
                rest[limit] = None
    merged: list[Limit] = [Place(tuple(dict.fromkeys(names)), outside) for outside, names in places.items()]
    merged += [People(tuple(dict.fromkeys(members)), outside) for outside, members in people.items()]
    merged += [Attachments(tuple(dict.fromkeys(attached)))] if attached is not None else []
    merged += [Where(tuple(conditions.values()))] if conditions else []
    return [*merged, *rest]


def for_tightening(limit: Limit, tools: Sequence[Tool]) -> Limit:
    """Say of a condition on an argument that may be left out what that means in a prohibition or a question.

    Where the server then picks something, leaving it out is caught too; otherwise the argument must be given.
    """
    if not isinstance(limit, Where):
        return limit
    plain = (Comparison.GIVEN, Comparison.LEFT_OUT)

    def said(each: Condition) -> Condition:
        found = [argument for tool in tools if (argument := tool.argument(each.argument)) is not None]
        optional = any(not argument.required and not argument.has_default for argument in found)
        if not optional or each.test in plain or each.given or each.or_left_out:
            return each
        caught = any(argument.absent_unknown for argument in found)
        return replace(each, or_left_out=caught, given=not caught)

    return Where(tuple(map(said, limit.conditions)))
