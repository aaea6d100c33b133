"""Compiles statements into rules: exact, small, and the same for any order of the statements.

The chain has five layers, and inside each the order says nothing:

1. deny       what a never speaks of
2. escalate   joined: what asks and permits nothing (counts, content, flow; tools that only doubt picks)
3. escalate   what an ask speaks of, and so permits with a person's consent
4. allow      what a may permits
5. escalate   what `otherwise` asks about, where no may permits

INVARIANT: adding a never or an ask never allows more: layers 1 to 3 stand before every allow and none of them is one.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.acts import acts_of_words
from ironcurtain.compiler.annotate.text import words_of
from ironcurtain.compiler.grounding import UNCONCERNED, Grounding, is_attached, known_argument
from ironcurtain.compiler.naming import Setup
from ironcurtain.compiler.parts import PRESENT, Ground, Part, joined
from ironcurtain.compiler.picking import Pick, permitted_acts, picked
from ironcurtain.compiler.problems import Problem
from ironcurtain.engine.pattern import PatternError, compile_pattern
from ironcurtain.language.statement import (
    ACTS,
    JOINING,
    After,
    Amount,
    Attachments,
    Budget,
    Comparison,
    Condition,
    Content,
    Count,
    Doing,
    Except,
    Giving,
    Mood,
    Origin,
    People,
    Place,
    Statement,
    Task,
    Where,
)
from ironcurtain.language.writing import write
from ironcurtain.model.roles import Category, Role, category
from ironcurtain.wire.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.compiler.catalogue import Argument, Tool
    from ironcurtain.compiler.setup import Known
    from ironcurtain.language.statement import Limit, Line, Name

_LAYERS: Final = {Mood.NEVER: 1, Mood.ASK: 3, Mood.MAY: 4, Mood.OTHERWISE: 5}
_JOINED: Final = 2
_OUTCOMES: Final = {1: "deny", 2: "escalate", 3: "escalate", 4: "allow", 5: "escalate"}
_FREE: Final = (Category.PLACE, Category.CARRIED)
"""What an act needs whatever it is: the things it is done to, and the places that hold them."""
_NEEDS: Final = {
    "read": frozenset({"read-path", "fetch-url"}),
    "create": frozenset({"write-path", "read-path"}),
    "change": frozenset({"write-path", "read-path"}),
    "delete": frozenset({"delete-path", "write-path", "read-path"}),
    "trash": frozenset({"delete-path", "write-path", "read-path"}),
    "move": frozenset({"delete-path", "write-path", "read-path"}),
    "send": frozenset({"recipient", "attendee", "send-url"}),
    "share": frozenset({"recipient"}),
    "upload": frozenset({"read-path", "send-url"}),
    "pay": frozenset({"recipient", "account"}),
    "run": frozenset[str](),
}
"""The roles that an act cannot do without. What else a call gives of paths, people, hosts and commands stays out."""
_SELECTING: Final = frozenset({"action", "operation", "op", "mode", "method", "verb", "function"})
_REACHING: Final = frozenset(
    {
        "arg",
        "args",
        "argument",
        "env",
        "environment",
        "stdin",
        "input",
        "option",
        "flag",
        "parameter",
        "param",
        "script",
    }
)
"""What an argument is called that becomes part of a command."""
_SELECTS: Final = re.compile(r"(?:\(\?i\))?(?:\\s\*|\s)*select\b", re.IGNORECASE)
_HOSTNAME: Final = re.compile(r"(?:\*\.)?[\w-]+(?:\.[\w-]+)*(?:\.)?|[0-9a-fA-F:.]+")
HARMLESS: Final = "tools that touch nothing may always be used."
"""The principle of the one permission that needs no sentence."""
_AUDIENCES: Final = frozenset({"group", "distribution", "mailing", "audience", "broadcast"})
_ALONG: Final = frozenset({"file", "image", "photo", "picture", "video", "document"})
_NO: Final = frozenset({"none", "no", "false", "never", "off"})
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
class _Draft:
    """A rule to be, for one tool."""

    layer: int
    server: str
    tool: str
    conditions: str
    """In canonical JSON, so that equal ones are one."""
    elsewhere: bool = False


def compile_statements(
    lines: Iterable[Sourced], tools: Sequence[Tool], known: Known, agreed: Sequence[frozenset[str] | None] = ()
) -> Compiled:
    """Compile statements for these tools; one with a problem comes to no rule, and the others stand.

    `agreed` holds, for each statement, the tools that the owner agreed to when it was a permission: others that it
    picks by now are left out of it and noted.
    """
    lines = tuple(lines)
    tools = tuple(tool for tool in tools if "*" not in tool.key)  # in a rule it would stand for others: it is denied
    compiler = _Compiler(tools, Setup(known))
    meanings: list[Meaning] = []
    drafts: dict[_Draft, list[int]] = {}
    limits: dict[str, Any] = {}
    closed = _closed_twice(lines)
    compiler.learn_commands(source.line for source in lines if isinstance(source.line, Statement))
    for number, source in enumerate(lines):
        only = agreed[number] if number < len(agreed) else None
        try:
            if isinstance(source.line, Budget):
                _limit(limits, source.line)
                meanings.append(Meaning(source))
                continue
            made = compiler.drafts(source.line, only, closed_twice=number in closed)
        except Problem as problem:
            meanings.append(Meaning(source, problem=problem.message, help=problem.help, missing=problem.missing))
            continue
        for draft in made.drafts:
            drafts.setdefault(draft, []).append(number)
        meanings.append(Meaning(source, tools=made.tools, notes=made.notes))
    for tool in tools if lines else ():
        if not tool.side_effects:  # it only tells about its own server
            drafts.setdefault(_Draft(_LAYERS[Mood.MAY], tool.server, tool.name, "{}"), [])
    _refuse_dead(lines, meanings, drafts)
    rules, names = _written(drafts, lines)
    return Compiled(
        tuple(rules), limits, tuple(replace(each, rules=tuple(names.get(n, ()))) for n, each in enumerate(meanings))
    )


@dataclass(frozen=True, slots=True)
class _Made:
    drafts: tuple[_Draft, ...]
    tools: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Compiler:
    tools: tuple[Tool, ...]
    setup: Setup
    commands: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    """For tools that take commands, those that a permission names: `may use shell/run where `command` is ls`."""

    modes: dict[str, tuple[tuple[Part, frozenset[str]], ...]] = field(default_factory=dict)
    """For tools whose text does not list what they can be told to do, what permissions name, with its acts."""

    by_id: set[str] = field(default_factory=set)
    """Tools that act on one thing by its id, named by a permission: that thing may be used wherever it is."""

    def learn_commands(self, statements: Iterable[Statement]) -> None:
        """Note the commands that permissions name."""
        grounding = Grounding(self.setup, self.tools, frozenset())
        for statement in statements:
            if statement.mood is not Mood.MAY or not statement.doing.tools:
                continue
            self._learn_ids(statement.doing)
            for limit in statement.limits:
                self._learn(limit, statement.doing, grounding)

    def _learn_ids(self, doing: Doing) -> None:
        """Note the tools that a permission names and that act on one thing, which every call names by its id."""
        names = {name.text for name in doing.tools}
        for tool in self.tools:
            ids = (a for a in tool.arguments.values() if a.required and "identifier" in a.roles)
            if names & {tool.key, tool.name} and not tool.in_doubt and any(ids):
                self.by_id.add(tool.key)

    def _learn(self, limit: Limit, doing: Doing, grounding: Grounding) -> None:
        try:
            picks = picked(doing, self.tools, tightens=False) if isinstance(limit, Where) else []
            for pick in picks:
                ground = grounding.ground(limit, pick.tool, certain=True)
                self._learn_modes(limit, pick.tool)
                if ground is not None and _names_commands(limit, pick.tool) and not ground.unless:
                    named = tuple(part for part in ground.alternatives if not part.absent)
                    self.commands[pick.tool.key] = (*self.commands.get(pick.tool.key, ()), *named)
        except Problem:
            return  # it is told where the statement itself is compiled

    def _learn_modes(self, limit: Limit, tool: Tool) -> None:
        """Note the values of an argument that selects what is done, where the schema does not list them."""
        for condition in limit.conditions if isinstance(limit, Where) else ():
            argument = tool.arguments.get(condition.argument)
            if argument is None or condition.test is not Comparison.IS or tool.might.by_value:
                continue
            values = [value.text for value in condition.values]
            acts = [acts_of_words(words_of(value)) for value in values]
            others = [a for leaf, a in tool.arguments.items() if leaf != argument.leaf]
            if any(set(each.words) & (_SELECTING | _REACHING) for each in others):
                continue  # another argument selects, too
            if set(argument.words) & _SELECTING and all(acts):
                part = Part(values={f"arg:{argument.leaf}": {"in": sorted(values)}})
                known = (part, frozenset(act for found in acts for act in found))
                self.modes[tool.key] = (*self.modes.get(tool.key, ()), known)

    def drafts(self, statement: Statement, agreed: frozenset[str] | None, *, closed_twice: bool) -> _Made:
        """Compile one statement; `closed_twice` if another one closes the same act with `only`."""
        if closed_twice:
            raise Problem("two statements close the same act with `only`", "join them: ... only in A or B")
        _check(statement)
        drafts: list[_Draft] = []
        tools: list[str] = []
        notes: list[str] = []
        for part in _unclosed(statement):
            made = self._of(part, agreed if part.mood is Mood.MAY else None)
            drafts += made.drafts
            tools += made.tools
            notes += made.notes
        return _Made(tuple(dict.fromkeys(drafts)), tuple(dict.fromkeys(tools)), tuple(dict.fromkeys(notes)))

    def _of(self, statement: Statement, agreed: frozenset[str] | None) -> _Made:
        permits = statement.mood is Mood.MAY
        # A rule has room for one condition on paths: beside a directory, arguments are compared by name.
        by_name = any(isinstance(limit, Place) for limit in statement.limits)
        acts = frozenset(act for act in statement.doing.acts if act in ACTS)
        grounding = Grounding(self.setup, self.tools, acts, by_name)
        picks = picked(statement.doing, self.tools, tightens=not permits)
        if statement.mood is Mood.OTHERWISE:  # everything else asks: also what might do anything
            picks = [replace(pick, doubt=False) for pick in picks]
        drafts: list[_Draft] = []
        tools: list[str] = []
        notes: list[str] = []
        if permits and agreed is not None:
            new = [pick.tool.key for pick in picks if pick.tool.key not in agreed]
            picks = [pick for pick in picks if pick.tool.key in agreed]
            notes += [f"new since you agreed, and left out: {', '.join(new)}"] if new else []
        refused: list[Problem] = []
        asked: list[Tool] = []
        for pick in picks:
            try:
                made = list(self._for(statement, pick, grounding, notes))
            except Problem as problem:
                if statement.doing.tools:
                    raise
                refused.append(problem)
                if not permits:  # it is not known what the statement comes to here
                    asked.append(pick.tool)
                continue
            drafts += made
            tools += [pick.tool.key] if made else []
        if not drafts and not _may_be_empty(statement):
            raise refused[0] if refused else _unlimited(picks)
        if asked and all(draft.layer == _JOINED for draft in drafts):
            raise refused[0]  # it was said of no tool
        if statement.mood.tightens:
            drafts += [self._draft(_JOINED, tool, {}) for tool in asked]
            tools += [tool.key for tool in asked]
        says = "asks, because" if asked else "leaves out"
        notes += [f"{says} {problem}" for problem in dict.fromkeys(map(str, refused))]
        return _Made(tuple(drafts), tuple(tools), tuple(dict.fromkeys(notes)))

    def _for(self, statement: Statement, pick: Pick, grounding: Grounding, notes: list[str]) -> Iterator[_Draft]:
        """The rules of a statement for one tool; none if a permission has no argument for its limits there."""
        tool, permits = pick.tool, statement.mood is Mood.MAY
        if statement.doing.tools:
            for limit in statement.limits:
                _require_arguments(limit, tool)
        grounds = [grounding.ground(limit, tool, certain=permits) for limit in statement.limits]
        if any(each is UNCONCERNED for each in grounds):
            return
        if any(each is None for each in grounds):
            if permits or statement.mood is Mood.OTHERWISE:
                return
            nowhere = [limit for limit, each in zip(statement.limits, grounds, strict=True) if each is None]
            if tool.key in self.by_id and all(isinstance(limit, Place) for limit in nowhere):
                notes.append(f"{tool.key} has no argument for that limit, and a permission names it")
                return
            notes.append(f"{tool.key} has no argument for that limit, so it asks")
            yield self._draft(_JOINED, tool, _conditions(Part(), self.commands.get(tool.key, ()) if pick.doubt else ()))
            return
        ground = joined(each for each in grounds if each is not None)
        lifted = self._exceptions(statement, pick, grounding)
        if not permits:
            yield from self._flags_left(statement, pick)
        if lifted is None:
            return
        notes += ground.notes
        if permits:
            yield from self._permitted(statement, pick, ground, lifted, notes)
        else:
            yield from self._tightened(statement, pick, ground, lifted)
        if permits or statement.mood.tightens:
            for part in _parents(statement, tool, grounding):
                yield self._draft(_JOINED, tool, _conditions(part, ()))

    # --- Exceptions. ---

    def _exceptions(self, statement: Statement, pick: Pick, grounding: Grounding) -> list[Ground] | None:
        """The exceptions that concern a tool; `None` if one takes the whole tool out."""
        permits = statement.mood is Mood.MAY
        found: list[Ground] = []
        for exception in _merged(statement.exceptions):
            excepted = _excepted(exception, statement, pick, self.tools, loosely=permits)
            if excepted is None:
                continue
            grounds = [grounding.ground(limit, pick.tool, certain=not permits) for limit in exception.limits]
            if excepted.modes and not permits:  # the other modes stay forbidden
                selector = f"arg:{pick.tool.might.selector}"
                grounds.append(Ground((Part(values={selector: {"in": sorted(excepted.modes)}}),)))
            if not grounds:
                return None
            if any(each is None for each in grounds):
                if permits:
                    return None  # it cannot be told whether the exception holds
                continue
            ground = joined(each for each in grounds if each is not None)
            if ground.unless and permits:
                raise Problem("such a comparison in an exception", "write it as a limit: where ... is at most ...")
            if permits and any(isinstance(limit, Attachments) for limit in exception.limits):
                ground = replace(ground, covers=frozenset(), names=frozenset())  # it permits and demands none
            if not ground.unless:
                found.append(ground)  # otherwise it cannot be told of this tool, for which the statement then stands
        return found

    def _flags_left(self, statement: Statement, pick: Pick) -> Iterator[_Draft]:
        """What optional arguments still do of what is forbidden, where an exception takes the tool out."""
        about = frozenset(act for act in statement.doing.acts if act in ACTS) or frozenset(ACTS)
        for exception in statement.exceptions:
            excepted = _excepted(exception, statement, pick, self.tools, loosely=False)
            if excepted is None or exception.doing == Doing() or exception.doing.tools:
                continue
            for leaf in excepted.kept_out:
                if pick.tool.might.optional[leaf] & about:
                    held = {"in": [True]} if pick.tool.arguments[leaf].is_flag else PRESENT
                    yield self._draft(
                        _LAYERS[statement.mood], pick.tool, _conditions(Part(values={f"arg:{leaf}": held}), ())
                    )

    # --- What loosens. ---

    def _permitted(
        self, statement: Statement, pick: Pick, ground: Ground, lifted: list[Ground], notes: list[str]
    ) -> Iterator[_Draft]:
        tool, asks = pick.tool, any(isinstance(limit, Task) for limit in statement.limits)
        covered = ground.covers | _needed(statement.doing, tool, ground)
        covered |= frozenset(role for each in lifted for role in each.covers)
        named = ground.names | frozenset(name for each in lifted for name in each.names)
        outside = _kept_out(statement, pick, covered, named)
        if outside is None:
            return  # the act cannot be done without what is not permitted
        unless = [*ground.unless, *(part for each in lifted for part in each.alternatives), *outside]
        base = Part(values={f"arg:{tool.might.selector}": {"in": sorted(pick.modes)}}) if pick.modes else Part()
        for leaf in sorted({name for each in lifted for name in each.names}):  # what is excepted must be given
            argument = tool.argument(leaf)
            if argument is None or not (argument.has_default or argument.required):
                base = base.with_(Part(values={f"arg:{leaf}": PRESENT}))
        notes += ["asks, until tasks are known"] if asks else []
        limited = frozenset(role for part in ground.alternatives for role in part.roles)
        free = [
            leaf
            for leaf, a in tool.arguments.items()
            if a.roles and leaf not in named and not a.roles & limited and not _stays_out(leaf, unless)
        ]
        if free and statement.doing.tools:
            notes.append(f"{tool.key} may be given any {', '.join(free)}")
        ways = _harmless(tool, named)
        for alternative in (one.with_(two) for one in ground.alternatives for two in ways):
            part = base.with_(replace(alternative, absent=frozenset()))
            groups = [*unless, *(Part(values={f"arg:{leaf}": PRESENT}) for leaf in sorted(alternative.absent))]
            conditions = _conditions(part, groups)
            if part.roles:
                roles = covered | (tool.of(Category.OTHER) if statement.doing.tools else frozenset())
                conditions["roles"] = sorted(_resources(tool) & roles | part.roles)
            yield self._draft(_LAYERS[Mood.ASK if asks else Mood.MAY], tool, conditions)
        if len(ground.alternatives) > 1:
            yield from self._carried(tool, ground, base, unless)

    def _carried(self, tool: Tool, ground: Ground, base: Part, unless: list[Part]) -> Iterator[_Draft]:
        """What goes along where the values that decide are of several kinds: each decides about itself."""
        carried = sorted(tool.of(Category.CARRIED))
        sure = any(a.required and a.roles & ground.covers for a in tool.arguments.values())
        by_role = all(part.roles and not part.values for part in ground.alternatives)
        if carried and sure and by_role and not base.roles:
            yield self._draft(_LAYERS[Mood.MAY], tool, {**_conditions(base, unless), "roles": carried})

    # --- What tightens. ---

    def _tightened(self, statement: Statement, pick: Pick, ground: Ground, lifted: list[Ground]) -> Iterator[_Draft]:
        tool, mood = pick.tool, statement.mood
        layer = _LAYERS[mood]
        only_joins = bool(statement.limits) and all(isinstance(limit, JOINING) for limit in statement.limits)
        if pick.doubt or ground.question or (mood is Mood.ASK and only_joins):
            layer = _JOINED  # what a text says is asked about until it is judged
        unless = [*ground.unless, *(part for each in lifted for part in each.alternatives if not part.absent)]
        if pick.doubt:  # the owner has named the very commands: there is no doubt about these
            unless += self.commands.get(tool.key, ())
        about = frozenset(act for act in statement.doing.acts if act in ACTS)
        beside = tool.named_acts | frozenset(act for acts in tool.might.optional.values() for act in acts)
        if about and not beside & about:  # what the name or a flag does is not taken back by a mode
            unless += (part for part, acts in self.modes.get(tool.key, ()) if not acts & about)
        bases = _bases(statement, pick, unless)
        if ground.sources and not tool.roles:
            raise Problem(f"{tool.key} has no argument that could carry what was read", "say it without that limit")
        for base in bases:
            for alternative in ground.alternatives:
                part = base.with_(alternative)
                groups = [*unless, *(Part(values={f"arg:{leaf}": PRESENT}) for leaf in sorted(part.absent))]
                conditions = _conditions(replace(part, absent=frozenset()), groups)
                if layer == 3 and part.roles:  # the person sees the whole call, so that the ask covers the rest of it
                    conditions["roles"] = sorted(_resources(tool) | part.roles)
                if layer == 3 and not part.roles and ground.unless and (people := _people_outside(statement, tool)):
                    conditions["roles"] = sorted(people)
                if ground.sources:
                    conditions["origin"] = {"roles": sorted(tool.roles), "from": sorted(set(ground.sources))}
                if ground.question:
                    conditions["assess"] = {"question": ground.question}
                yield self._draft(layer, tool, conditions, elsewhere=mood is Mood.OTHERWISE)

    @staticmethod
    def _draft(layer: int, tool: Tool, conditions: dict[str, Any], *, elsewhere: bool = False) -> _Draft:
        _require_loadable(conditions)
        return _Draft(layer, tool.server, tool.name, canonical(conditions).decode(), elsewhere)


# --- Checks that need no tool. ---


def _check(statement: Statement) -> None:
    permits = statement.mood is Mood.MAY
    for limit in statement.limits:
        if permits and isinstance(limit, (Content, Count, After, Origin)):
            raise Problem(
                "a permission cannot rest on what is said, how many there are or what was read",
                "write the permission without it, and a must ask before or must never beside it",
            )
        if not permits and isinstance(limit, Giving):
            raise Problem("`giving only` belongs to a permission", "write it in a may")
    for exception in statement.exceptions if not _separable(statement) else ():
        for limit in exception.limits:
            _check_exception(limit)
        if not (exception.limits or exception.doing != Doing()):
            raise Problem("an empty exception", "say what is excepted")


def _check_exception(limit: Limit) -> None:
    if isinstance(limit, (*JOINING, Giving)):
        raise Problem("an exception cannot rest on content, counts, flow or the task", "write another statement")
    if isinstance(limit, (Place, People)) and limit.outside:
        raise Problem("`outside` in an exception", "say what is excepted, without a negation")
    if isinstance(limit, Attachments) and limit.without:
        raise Problem("`without` in an exception", "say what is excepted, without a negation")
    if isinstance(limit, Where):
        for condition in limit.conditions:
            if condition.test in (Comparison.IS_NOT, Comparison.LEFT_OUT) or condition.or_left_out:
                raise Problem("a negation in an exception", "say what is excepted, without a negation")
            if condition.test in (Comparison.ABOVE, Comparison.BELOW):
                raise Problem(f"`{condition.test.value}` in an exception", "write is at most or is at least")


def _names_commands(limit: Limit, tool: Tool) -> bool:
    """Whether a limit names the very commands: each by its whole text, and no other argument reaches them.

    Of a statement in SQL it is enough that it begins with SELECT: it is one statement, and nothing is hidden in it.
    """
    conditions = {c.argument: c for c in limit.conditions} if isinstance(limit, Where) else {}
    for leaf, argument in tool.arguments.items():
        condition = conditions.get(leaf)
        if "command" in argument.roles:
            exact = condition is not None and condition.test is Comparison.IS
            reads = argument.sql and condition is not None and _only_selects(condition)
            if not exact and not reads:
                return False
        elif condition is None and set(argument.words) & (_REACHING | _SELECTING):
            return False
    return bool(conditions)


def _only_selects(condition: Condition) -> bool:
    """Whether every text that a condition lets pass begins with SELECT."""
    if condition.test is Comparison.STARTS:
        return all(_SELECTS.match(name.text) for name in condition.values)
    return condition.test is Comparison.MATCHES and all(
        _SELECTS.match(name.text) and "|" not in name.text for name in condition.values
    )


def _closed_twice(lines: Sequence[Sourced]) -> frozenset[int]:
    """The statements that close with `only` what another one closes."""
    seen: dict[tuple[str, object, type], int] = {}
    found: set[int] = set()
    for number, source in enumerate(lines):
        line = source.line
        if not isinstance(line, Statement) or line.only is None:
            continue
        for act in line.doing.acts or ("",):
            for thing in line.doing.tools or line.doing.things or (None,):
                key = (act, thing, type(line.limits[line.only]))
                other = seen.setdefault(key, number)
                if other != number and lines[other].line != line:
                    found |= {other, number}
    return frozenset(found)


def _unclosed(statement: Statement) -> Iterator[Statement]:
    """A permission with `only` is the permission and a never for the same act elsewhere."""
    if conditions := _separable(statement):
        bare = replace(statement, exceptions=())
        yield from (_where_not(bare, condition) for condition in conditions)
        return
    yield replace(statement, only=None)
    if statement.only is None:
        return
    limit, never = statement.limits[statement.only], Statement(Mood.NEVER, statement.doing)
    if isinstance(limit, Where):
        yield from (_where_not(never, condition) for condition in limit.conditions)
    else:
        yield replace(never, limits=(_opposite(limit),))


def _separable(statement: Statement) -> tuple[Condition, ...]:
    """The conditions of a never or an ask, of which a call that fails one is not excepted: its only exception."""
    if statement.mood is Mood.MAY or len(statement.exceptions) != 1 or statement.exceptions[0].doing != Doing():
        return ()
    limits = statement.exceptions[0].limits
    return limits[0].conditions if len(limits) == 1 and isinstance(limits[0], Where) else ()


_OPPOSITES: Final = {
    Comparison.IS_NOT: Comparison.IS,
    Comparison.ABOVE: Comparison.AT_MOST,
    Comparison.BELOW: Comparison.AT_LEAST,
}


def _where_not(statement: Statement, condition: Condition) -> Statement:
    """A never or an ask for whatever else an argument is than a condition says, and where it must not be left out."""
    given = Where((Condition(condition.argument, Comparison.GIVEN),))
    if condition.test is Comparison.LEFT_OUT:
        return replace(statement, limits=(*statement.limits, given))
    if condition.test in _OPPOSITES:
        other = replace(condition, test=_OPPOSITES[condition.test], given=condition.or_left_out)
        other = replace(other, or_left_out=not other.given)
        return replace(statement, limits=(*statement.limits, Where((other,))))
    excepted = Except(limits=(Where((replace(condition, or_left_out=False),)),))
    limits = (*statement.limits, given) if condition.or_left_out else statement.limits
    return replace(statement, limits=limits, exceptions=(excepted,))


def _opposite(limit: Limit) -> Limit:
    if isinstance(limit, Place) and not limit.outside:
        return replace(limit, outside=True)
    if isinstance(limit, People) and limit.members and not limit.outside:
        if not all(hasattr(member, "text") for member in limit.members):
            raise Problem("`only` before `anyone at`", "write: must never ... to anyone outside example.com")
        return replace(limit, outside=True)
    raise Problem("`only` cannot close that limit", "write the permission, and a must never beside it")


def _may_be_empty(statement: Statement) -> bool:
    """Whether a statement may come to no rule because exceptions take everything out."""
    return statement.mood is not Mood.MAY and bool(statement.exceptions)


def _require_arguments(limit: Limit, tool: Tool) -> None:
    if isinstance(limit, Where):
        for condition in limit.conditions:
            known_argument(tool, condition.argument)
    if isinstance(limit, Giving):
        for name in limit.arguments:
            known_argument(tool, name)


def _unlimited(picks: Sequence[Pick]) -> Problem:
    if not picks:
        return Problem("the tools it picks are new and not agreed to", "agree to them: ironcurtain compile")
    shown = ", ".join(pick.tool.key for pick in picks[:3])
    return Problem(
        f"no tool that it picks has an argument for its limits ({shown})",
        "leave the limit out, or name the argument: where `argument` is ...",
    )


# --- Exceptions. ---


def _merged(exceptions: Sequence[Except]) -> list[Except]:
    """Alternatives that differ in one limit only are one: `except to ann, except to customers`."""
    found: list[Except] = []
    for each in exceptions:
        twin = next((n for n, other in enumerate(found) if _mergeable(each, other)), None)
        if twin is None:
            found.append(each)
        else:
            found[twin] = replace(each, limits=(_both(found[twin].limits[0], each.limits[0]),))
    return found


def _mergeable(one: Except, other: Except) -> bool:
    if one.doing != other.doing or len(one.limits) != 1 or len(other.limits) != 1:
        return False
    first, second = one.limits[0], other.limits[0]
    return type(first) is type(second) and isinstance(first, (Place, People))


def _both(one: Limit, other: Limit) -> Limit:
    if isinstance(one, Place) and isinstance(other, Place):
        return Place((*one.names, *other.names))
    if isinstance(one, People) and isinstance(other, People):
        return People((*one.members, *other.members))
    return one


def _excepted(
    exception: Except, statement: Statement, pick: Pick, tools: Sequence[Tool], *, loosely: bool
) -> Pick | None:
    """How an exception speaks of a tool: picked as by a may, or as by a never if it takes from a permission."""
    doing = exception.doing
    if doing == Doing():
        return Pick(pick.tool)
    if not doing.tools and not doing.acts:
        doing = replace(doing, acts=statement.doing.acts)
    if not doing.tools and not doing.things:
        doing = replace(doing, things=statement.doing.things)
    return next((e for e in picked(doing, tools, tightens=loosely) if e.tool is pick.tool and not e.doubt), None)


# --- Prohibitions and questions. ---


def _bases(statement: Statement, pick: Pick, unless: list[Part]) -> list[Part]:
    """What of a tool is meant: its modes, or what optional arguments do; adds to `unless` what is surely not."""
    tool = pick.tool
    if pick.modes:
        selector = tool.arguments[tool.might.selector]
        if not selector.choices:  # any other text might do it too
            safe = sorted(tool.might.by_value.keys() - set(pick.modes))
            unless.append(Part(values={f"arg:{selector.leaf}": {"in": safe}}))
            return [Part()]
        absent = [] if selector.required or selector.has_default else [Part(absent=frozenset({selector.leaf}))]
        return [Part(values={f"arg:{selector.leaf}": {"in": sorted(pick.modes)}}), *absent]
    if pick.through and not statement.limits:
        return [
            Part(values={f"arg:{leaf}": {"in": [True]} if tool.arguments[leaf].is_flag else PRESENT})
            for leaf in pick.through
        ]
    return [Part()]


def _parents(statement: Statement, tool: Tool, grounding: Grounding) -> Iterator[Part]:
    """The directories above those that are forbidden or asked about: what is done to them is done to all in them."""
    above: set[str] = set()
    for names in _kept_apart(statement):
        for path in grounding.setup.meant(names).paths:
            while path := path.rpartition("/")[0]:
                above.add(path)
    for role in sorted(tool.of(Category.PATH)) if above else ():
        yield Part(values={f"role:{role}": {"in": sorted(above)}})


def _kept_apart(statement: Statement) -> Iterator[tuple[Name, ...]]:
    """The places that a statement keeps apart: those of a never or an ask, and those that a permission takes back."""
    permits = statement.mood is Mood.MAY
    excepted = [limit for exception in statement.exceptions for limit in exception.limits] if permits else []
    for limit in (*statement.limits, *excepted):
        back = limit in excepted
        match limit:
            case Place(names, outside) if back or outside == permits:
                yield names
            case Attachments(names) if back or not permits:
                yield names
            case Where(conditions) if back or not permits:
                tests = (Comparison.IN, Comparison.UNDER)
                yield from (each.values for each in conditions if each.test in tests)


# --- Permissions. ---


def _needed(doing: Doing, tool: Tool, ground: Ground) -> frozenset[str]:
    """The roles that a permission covers without naming them."""
    if doing.tools and not ground.names:
        return _resources(tool)
    acts = permitted_acts(act for act in doing.acts if act in ACTS)
    needed = frozenset(role for act in acts for role in _NEEDS[act])
    required = frozenset(role for a in tool.arguments.values() if a.required for role in a.roles)
    if not {"read", "upload"} & set(doing.acts):  # an address beside a message is no part of sending it
        needed -= frozenset({"fetch-url", "send-url"}) - required
    if doing.tools:  # named by itself: what it cannot do without is meant
        needed |= required
    account = tool.roles & {"account"}
    return needed | account | frozenset(role for role in tool.roles if category(Role(role)) in _FREE)


def _kept_out(statement: Statement, pick: Pick, covered: frozenset[str], named: frozenset[str]) -> list[Part] | None:
    """What must not hold for a permission: other paths, people, hosts and commands, and what widens.

    `None` if the tool cannot be called without something that is not permitted.
    """
    tool, unless = pick.tool, list[Part]()
    invites = any(isinstance(limit, People) for limit in statement.limits)
    beside = _beside(statement, tool)
    for leaf, argument in tool.arguments.items():
        uncovered = {role for role in argument.roles if _is_resource(role)} - covered
        if leaf in named or (invites and argument.has(Category.PARTY) and not uncovered):
            continue  # `to contacts` speaks of the guests, and of what is sent to them
        if invites and tool.might.optional.get(leaf, frozenset()) == {"send"} and not uncovered:
            continue
        sent_along = is_attached(argument) or _is_undescribed(argument, tool) or leaf in beside
        sent_along = sent_along or ("send" in tool.named_acts and bool(set(argument.words) & _ALONG))
        if leaf in tool.might.widening:
            unless += _held(leaf, tool)
        elif leaf in pick.kept_out or ((uncovered or sent_along) and not statement.doing.tools):
            if argument.required and uncovered:
                return None
            if not argument.required:
                unless.append(Part(values={f"arg:{leaf}": _doing_something(argument)}))
    return unless


def _doing_something(argument: Argument) -> dict[str, Any]:
    """What an argument is that must be left out: true of a flag, anything but no of a choice, any other value."""
    if argument.is_flag:
        return {"in": [True]}
    wide = [value for value in argument.choices if str(value).lower() not in _NO]
    return {"in": wide} if argument.choices and wide else PRESENT


def _beside(statement: Statement, tool: Tool) -> frozenset[str]:
    """The arguments by which what is sent would also go elsewhere: a channel beside people, people beside a channel."""
    kinds = {type(limit) for limit in statement.limits}
    if not set(statement.doing.acts) & {"send", "share"} or not kinds & {People, Place}:
        return frozenset()
    arguments = tool.arguments.values()
    found = {a.leaf for a in arguments if People in kinds and set(a.words) & _AUDIENCES}
    if Place not in kinds:  # a thread or a calendar is where it is done, a channel who reads it
        found |= {a.leaf for a in arguments if "channel" in a.roles and "thread" not in a.words}
    if People not in kinds:
        found |= {a.leaf for a in arguments if a.has(Category.PARTY)}
    return frozenset(found)


def _is_undescribed(argument: Argument, tool: Tool) -> bool:
    """Whether an argument of a tool that sends is an object without a schema: people and files may stand in it."""
    always = tool.might.acts.difference(*tool.might.optional.values()) | tool.named_acts
    sends = bool(always & {"send", "share", "upload", "pay"})
    return sends and ("object" in argument.types or not argument.types) and not argument.required


def _is_resource(role: str) -> bool:
    return category(Role(role)) not in (Category.CARRIED, Category.NONE)


def _resources(tool: Tool) -> frozenset[str]:
    return frozenset(role for role in tool.roles if _is_resource(role))


def _held(leaf: str, tool: Tool) -> list[Part]:
    """What keeps an argument that widens at the values that do not."""
    argument, harmless = tool.arguments[leaf], tool.might.widening[leaf]
    if argument.is_flag or argument.choices:
        every = (True, False) if argument.is_flag else argument.choices
        wide = [value for value in every if value not in harmless]
        return [Part(values={f"arg:{leaf}": {"in": wide}})] if wide else []
    if _is_open(leaf, tool) or argument.required:
        return []  # its harmless values are named instead
    return [Part(values={f"arg:{leaf}": PRESENT})]


def _is_open(leaf: str, tool: Tool) -> bool:
    """Whether an argument that widens may be any text, and some of it is harmless."""
    argument = tool.arguments[leaf]
    texts = [value for value in tool.might.widening[leaf] if isinstance(value, str)]
    return bool(texts) and not argument.is_flag and not argument.choices and not argument.required


def _harmless(tool: Tool, named: frozenset[str]) -> list[Part]:
    """The ways in which arguments that widen are harmless: left out, or one of the values that do not."""
    ways = [Part()]
    for leaf in tool.might.widening:
        if leaf in tool.arguments and leaf not in named and _is_open(leaf, tool):
            values = [value for value in tool.might.widening[leaf] if isinstance(value, str)]
            own = [Part(absent=frozenset({leaf})), Part(values={f"arg:{leaf}": {"in": values}})]
            ways = [one.with_(two) for one in ways for two in own]
    return ways


def _stays_out(leaf: str, unless: Iterable[Part]) -> bool:
    return any(part.values.keys() == {f"arg:{leaf}"} for part in unless)


def _people_outside(statement: Statement, tool: Tool) -> frozenset[str]:
    outside = any(isinstance(limit, People) and limit.outside for limit in statement.limits)
    return tool.of(Category.PARTY) if outside else frozenset()


def _conditions(part: Part, unless: Iterable[Part]) -> dict[str, Any]:
    groups = {canonical(each.fields()): each.fields() for each in unless if each.fields()}
    found = part.fields()
    if groups:
        found["unless"] = [groups[key] for key in sorted(groups)]
    return found


def _require_loadable(conditions: dict[str, Any]) -> None:
    """Raise a `Problem` for what no policy could load: it is one statement's fault, and only that one falls."""
    for part in (conditions, *conditions.get("unless", ())):
        for key, predicate in part.get("values", {}).items():
            try:
                if "matches" in predicate:
                    compile_pattern(predicate["matches"], dot_spans_lines=False)
            except PatternError as error:
                raise Problem(
                    f"a pattern for `{key.partition(':')[2]}` that is not known: {error}", "see docs/formats.md"
                ) from None
        within = part.get("paths", {}).get("within", ())
        for place in [within] if isinstance(within, str) else within:
            if re.search(r"[*?$`\\\[{]", place):
                raise Problem(f"{place} is no plain directory", "write it without wildcards")
        for host in part.get("domains", {}).get("allowed", ()):
            if not host.startswith("@") and not _HOSTNAME.fullmatch(host):
                raise Problem(f"{host!r} is no host", "write example.com or *.example.com")
        for entry in (value for each in part.get("lists", ()) for value in each["allowed"]):
            if not entry.strip() or re.search(r"[,;<>\"]", entry):
                raise Problem(f"{entry!r} is not one name or address", "write one, or several joined by or")


# --- Writing rules. ---


def _written(
    drafts: dict[_Draft, list[int]], lines: Sequence[Sourced]
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
        rule: dict[str, Any] = {"name": name, "description": text, "if": asked, "then": _OUTCOMES[layer]}
        if sentence:
            rule["principle"] = sentence
        if layer == _JOINED and "origin" not in asked and "assess" not in asked:
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


def _refuse_dead(lines: Sequence[Sourced], meanings: list[Meaning], drafts: dict[_Draft, list[int]]) -> None:
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


def _limit(limits: dict[str, Any], budget: Budget) -> None:
    """Add a budget to those of `budget.json`; the smaller of two stands."""
    key = {Amount.CALLS: "calls", Amount.MONEY: "inferenceCost", Amount.MINUTES: "seconds"}[budget.amount]
    most = budget.most * 60 if budget.amount is Amount.MINUTES else budget.most
    number: float | int = int(most) if float(most).is_integer() and key != "inferenceCost" else float(most)
    scope = limits.setdefault(budget.period, {})
    scope[key] = min(scope.get(key, number), number)
