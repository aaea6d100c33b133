"""Rules to be, and how they are written: the same rules for any order of the statements that they come from."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.parts import PRESENT
from ironcurtain.language.statement import Amount, Mood, Statement
from ironcurtain.language.writing import write
from ironcurtain.wire.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.parts import Part
    from ironcurtain.language.statement import Budget, Line

LAYERS: Final = {Mood.NEVER: 1, Mood.ASK: 3, Mood.MAY: 4, Mood.OTHERWISE: 5}
JOINED: Final = 2
OUTCOMES: Final = {1: "deny", 2: "escalate", 3: "escalate", 4: "allow", 5: "escalate"}
"""What the rules of each layer decide."""
HARMLESS: Final = "tools that touch nothing may always be used."
"""The principle of the one permission that needs no sentence."""
_SLUG: Final = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Sourced:
    """A statement with the sentence of the constitution that it was read from."""

    line: Line
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one statement came to."""

    source: Sourced
    rules: tuple[str, ...] = ()
    """The names of its rules."""
    tools: tuple[str, ...] = ()
    """What it picks, as `server/tool`."""
    notes: tuple[str, ...] = ()
    problem: str = ""
    """Why it came to nothing."""
    help: str = ""
    missing: str = ""
    """A name in it that the set-up does not have."""

    @property
    def text(self) -> str:
        """The statement in writing."""
        return write(self.source.line)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What statements came to, all together."""

    rules: tuple[dict[str, Any], ...] = ()
    limits: dict[str, Any] = field(default_factory=dict)
    meanings: tuple[Meaning, ...] = ()

    @property
    def problems(self) -> tuple[Meaning, ...]:
        """The statements that could not be compiled."""
        return tuple(each for each in self.meanings if each.problem)


@dataclass(frozen=True, slots=True)
class Draft:
    """A rule to be, for one tool."""

    layer: int
    server: str
    tool: str
    conditions: str
    """In canonical JSON, so that equal ones are one."""
    elsewhere: bool = False

    @classmethod
    def of(cls, layer: int, tool: Tool, conditions: dict[str, Any], *, elsewhere: bool = False) -> Draft:
        """Return a rule for a tool."""
        return cls(layer, tool.server, tool.name, canonical(conditions).decode(), elsewhere)


def conditions_of(part: Part, unless: Iterable[Part]) -> dict[str, Any]:
    groups = {canonical(each.fields()): each.fields() for each in unless if each.fields()}
    found = part.fields()
    if groups:
        found["unless"] = [groups[key] for key in sorted(groups)]
    return found


def written_rules(
    drafts: dict[Draft, list[int]], lines: Sequence[Sourced]
) -> tuple[list[dict[str, Any]], dict[int, list[str]]]:
    """One rule for the tools of one server with the same conditions; the same rules for any order of statements."""
    grouped: dict[tuple[int, str, str, bool, tuple[str, ...]], tuple[set[str], set[int]]] = {}
    for draft, numbers in drafts.items():
        texts = tuple(sorted({write(lines[number].line) for number in numbers}))
        key = (draft.layer, draft.server, draft.conditions, draft.elsewhere, texts[:1])
        tools, owners = grouped.setdefault(key, (set(), set()))
        tools.add(draft.tool)
        owners.update(numbers)
    rules: list[dict[str, Any]] = []
    names: dict[int, list[str]] = {}
    for key in sorted(grouped, key=repr):
        layer, server, conditions, elsewhere, texts = key
        tools, owners = grouped[key]
        first = min(owners, key=lambda number: (write(lines[number].line), number), default=None)
        sentence = lines[first].sentence if first is not None else HARMLESS
        text = texts[0] if texts else HARMLESS
        digest = hashlib.sha256(repr((key, sorted(tools))).encode()).hexdigest()[:6]
        name = f"{'-'.join(_SLUG.findall(text.lower())[:6])}-{digest}"
        asked: dict[str, Any] = {"server": [server], "tool": sorted(tools), **_loads(conditions)}
        rule: dict[str, Any] = {"name": name, "description": text, "if": asked, "then": OUTCOMES[layer]}
        if sentence:
            rule["principle"] = sentence
        if layer == JOINED and "assess" not in asked:  # what is unanswered is joined in any case
            rule["joined"] = True
        if elsewhere:
            rule["elsewhere"] = True
        rule["reason"] = f'"{sentence or text}"'
        rules.append(rule)
        for number in sorted(owners):
            names.setdefault(number, []).append(name)
    return rules, names


def _loads(conditions: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(conditions)
    return found


def refuse_dead(
    lines: Sequence[Sourced],
    meanings: list[Meaning],
    drafts: dict[Draft, list[int]],
    members: Callable[[str], Sequence[str]],
    sandbox: str,
) -> None:
    """Refuse a permission or an ask that lies wholly under a never, but for the sandbox; `otherwise` is for the rest.

    `members` are those of a list that a rule refers to, or the value itself.
    """
    nevers: dict[tuple[str, str], list[tuple[Draft, int]]] = {}
    by_number: dict[int, list[Draft]] = {}
    for draft, numbers in drafts.items():
        if draft.layer == LAYERS[Mood.NEVER]:
            nevers.setdefault((draft.server, draft.tool), []).append((draft, numbers[0]))
        for number in numbers:
            by_number.setdefault(number, []).append(draft)
    for number, own in by_number.items():
        line = lines[number].line
        if not isinstance(line, Statement) or line.mood not in (Mood.MAY, Mood.ASK):
            continue
        over = [
            next((n for never, n in nevers.get((d.server, d.tool), ()) if _lies_under(d, never, members)), None)
            for d in (_outside(each, sandbox) for each in own)
            if d is not None
        ]
        if over and over[0] is not None and None not in over:
            problem = f"can never hold: {write(lines[over[0]].line)}"
            meanings[number] = replace(meanings[number], problem=problem, help="except it there, or leave it out")


def _outside(draft: Draft, sandbox: str) -> Draft | None:
    """Return what a draft permits outside the sandbox; nothing if that is all it speaks of."""
    conditions = json.loads(draft.conditions)
    places = conditions.get("paths", {}).get("within", [])
    if sandbox not in ([places] if isinstance(places, str) else places):
        return draft
    left = [] if isinstance(places, str) else [place for place in places if place != sandbox]
    conditions["paths"] = {**conditions.get("paths", {}), "within": left}
    return replace(draft, conditions=json.dumps(conditions)) if left else None


def _lies_under(draft: Draft, never: Draft, members: Callable[[str], Sequence[str]]) -> bool:
    """Return whether every call for which a draft holds is one that a never denies, as far as that is plain."""
    if never.conditions in ("{}", draft.conditions):
        return True
    certain = draft.layer == LAYERS[Mood.MAY]  # an ask also holds for what is unknown
    one, other = _loads(draft.conditions), _loads(never.conditions)
    if not other.keys() <= {"paths", "domains", "lists", "values"}:
        return False
    return (
        ("paths" not in other or ("paths" in one and _is_within(one["paths"], other["paths"])))
        and ("domains" not in other or ("domains" in one and _is_among(one["domains"], other["domains"], members)))
        and all(any(_is_among(mine, its, members) for mine in one.get("lists", ())) for its in other.get("lists", ()))
        and all(
            _follows(one.get("values", {}).get(key, {}), said, certain=certain)
            or (said == PRESENT and certain and _is_named(key, one))
            for key, said in other.get("values", {}).items()
        )
    )


def _is_named(key: str, one: dict[str, Any]) -> bool:
    """Return whether a condition on some roles holds only where there is a value of them."""
    kind, _, names = key.partition(":")
    tests = [one[name] for name in ("paths", "domains") if name in one] + one.get("lists", [])
    return kind == "role" and any(set(test["roles"]) <= set(names.split("+")) for test in tests)


def _is_within(one: dict[str, Any], other: dict[str, Any]) -> bool:
    inner, outer = ([each] if isinstance(each, str) else each for each in (one["within"], other["within"]))
    return set(one["roles"]) <= set(other["roles"]) and all(
        any(place == above or place.startswith(above.rstrip("/") + "/") for above in outer) for place in inner
    )


def _is_among(one: dict[str, Any], other: dict[str, Any], members: Callable[[str], Sequence[str]]) -> bool:
    mine, its = ({each for name in test["allowed"] for each in members(name)} for test in (one, other))
    return set(one["roles"]) <= set(other["roles"]) and bool(mine) and mine <= its


def _follows(mine: dict[str, Any], its: dict[str, Any], *, certain: bool) -> bool:
    """Return whether a value that one predicate holds for is one that the other holds for."""
    given = certain and bool(mine.keys() & {"in", "matches", "minimum", "maximum", "given"})
    return bool(mine) and all(
        mine.get(name) == said
        or (name == "given" and given)
        or (name == "in" and bool(mine.get("in")) and all(value in said for value in mine["in"]))
        or (name in ("maximum", "maxItems") and name in mine and mine[name] <= said)
        or (name in ("minimum", "minItems") and name in mine and mine[name] >= said)
        for name, said in its.items()
    )


def add_limit(limits: dict[str, Any], budget: Budget) -> None:
    """Add a budget to those of `budget.json`; the smaller of two stands."""
    key = {Amount.CALLS: "calls", Amount.MONEY: "inferenceCost", Amount.MINUTES: "seconds"}[budget.amount]
    most = budget.most * 60 if budget.amount is Amount.MINUTES else budget.most
    number: float | int = int(most) if float(most).is_integer() and key != "inferenceCost" else float(most)
    scope = limits.setdefault(budget.period, {})
    scope[key] = min(scope.get(key, number), number)
