"""Rules to be, and how they are written: the same rules for any order of the statements that they come from."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.language.statement import Amount, Mood, Statement
from ironcurtain.language.writing import write
from ironcurtain.wire.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


def refuse_dead(lines: Sequence[Sourced], meanings: list[Meaning], drafts: dict[Draft, list[int]]) -> None:
    """Refuse a permission or an ask that lies wholly under a never without limits; `otherwise` is for the rest."""
    denied = {(d.server, d.tool) for d in drafts if d.layer == 1 and d.conditions == "{}"}
    by_number: dict[int, set[tuple[str, str]]] = {}
    for draft, numbers in drafts.items():
        for number in numbers:
            if draft.layer != 1:
                by_number.setdefault(number, set()).add((draft.server, draft.tool))
    for number, tools in by_number.items():
        line = lines[number].line
        if isinstance(line, Statement) and line.mood in (Mood.MAY, Mood.ASK) and tools and tools <= denied:
            over = next(
                write(lines[n].line)
                for d, numbers in drafts.items()
                if d.layer == 1 and d.conditions == "{}" and (d.server, d.tool) in tools
                for n in numbers
            )
            meanings[number] = replace(
                meanings[number], problem=f"can never hold: {over}", help="except it there, or leave it out"
            )


def add_limit(limits: dict[str, Any], budget: Budget) -> None:
    """Add a budget to those of `budget.json`; the smaller of two stands."""
    key = {Amount.CALLS: "calls", Amount.MONEY: "inferenceCost", Amount.MINUTES: "seconds"}[budget.amount]
    most = budget.most * 60 if budget.amount is Amount.MINUTES else budget.most
    number: float | int = int(most) if float(most).is_integer() and key != "inferenceCost" else float(most)
    scope = limits.setdefault(budget.period, {})
    scope[key] = min(scope.get(key, number), number)
