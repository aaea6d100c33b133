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

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ironcurtain.compiler.counts import can_be_counted
from ironcurtain.compiler.covering import (
    covered_roles,
    harmless_ways,
    is_saved_aside,
    kept_out,
    leading_elsewhere,
    people_outside,
    resources_of,
    stays_out,
)
from ironcurtain.compiler.drafts import (
    JOINED,
    LAYERS,
    Compiled,
    Draft,
    Meaning,
    Sourced,
    add_limit,
    conditions_of,
    refuse_dead,
    written_rules,
)
from ironcurtain.compiler.grounding import Grounding, known_argument
from ironcurtain.compiler.loading import Loading
from ironcurtain.compiler.named import Named
from ironcurtain.compiler.naming import Setup
from ironcurtain.compiler.parts import PRESENT, Ground, Part, joined
from ironcurtain.compiler.picking import Pick, picked
from ironcurtain.compiler.placing import UNCONCERNED
from ironcurtain.compiler.problems import Problem
from ironcurtain.compiler.separating import closed_twice, merged_exceptions, require_sayable, separated
from ironcurtain.compiler.values import Values
from ironcurtain.language.statement import (
    ACTS,
    JOINING,
    Attachments,
    Budget,
    Comparison,
    Count,
    Doing,
    Except,
    Giving,
    Mood,
    Place,
    Statement,
    Task,
    Where,
)
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.setup import Known
    from ironcurtain.language.statement import Condition, Limit, Name


def compile_statements(
    lines: Iterable[Sourced], tools: Sequence[Tool], known: Known, agreed: Sequence[frozenset[str] | None] = ()
) -> Compiled:
    """Compile statements for these tools; one with a problem comes to no rule, and the others stand.

    `agreed` holds, for each statement, the tools that the owner agreed to when it was a permission: others that it
    picks by now are left out of it and noted.
    """
    lines = tuple(lines)
    tools = tuple(tool for tool in tools if "*" not in tool.key)  # in a rule it would stand for others: it is denied
    setup = Setup(known)
    permitting = (source.line for source in lines if isinstance(source.line, Statement))
    compiler = _Compiler(tools, setup, Named.by(permitting, tools, setup), Loading.of(tools, known))
    meanings: list[Meaning] = []
    drafts: dict[Draft, list[int]] = {}
    limits: dict[str, Any] = {}
    closed = closed_twice(lines)
    for number, source in enumerate(lines):
        only = agreed[number] if number < len(agreed) else None
        try:
            if isinstance(source.line, Budget):
                add_limit(limits, source.line)
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
            drafts.setdefault(Draft(LAYERS[Mood.MAY], tool.server, tool.name, "{}"), [])
    refuse_dead(lines, meanings, drafts, Values(setup).in_rules, known.sandbox)
    rules, names = written_rules(drafts, lines)
    return Compiled(
        tuple(rules), limits, tuple(replace(each, rules=tuple(names.get(n, ()))) for n, each in enumerate(meanings))
    )


@dataclass(frozen=True, slots=True)
class _Made:
    drafts: tuple[Draft, ...]
    tools: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Compiler:
    tools: tuple[Tool, ...]
    setup: Setup
    named: Named
    loading: Loading

    def drafts(self, statement: Statement, agreed: frozenset[str] | None, *, closed_twice: bool) -> _Made:
        """Compile one statement; `closed_twice` if another one closes the same act with `only`."""
        if closed_twice:
            raise Problem("two statements close the same act with `only`", "join them: ... only in A or B")
        require_sayable(statement)
        drafts: list[Draft] = []
        tools: list[str] = []
        notes: list[str] = []
        for part in separated(statement):
            closes = statement.only is not None and part.mood is Mood.NEVER
            made = self._of(part, agreed if part.mood is Mood.MAY else None, closes=closes)
            drafts += made.drafts
            tools += made.tools
            notes += made.notes
        return _Made(tuple(dict.fromkeys(drafts)), tuple(dict.fromkeys(tools)), tuple(dict.fromkeys(notes)))

    def _of(self, statement: Statement, agreed: frozenset[str] | None, *, closes: bool) -> _Made:
        permits = statement.mood is Mood.MAY
        # A rule has room for one condition on paths: beside a directory, arguments are compared by name.
        by_name = any(isinstance(limit, Place) for limit in statement.limits)
        acts = frozenset(act for act in statement.doing.acts if act in ACTS)
        grounding = Grounding(self.setup, self.tools, acts, by_name, permits or closes)
        picks = picked(statement.doing, self.tools, tightens=not permits)
        if statement.mood is Mood.OTHERWISE:  # everything else asks: also what might do anything
            picks = [replace(pick, doubt=False) for pick in picks]
        for limit in statement.limits:
            if isinstance(limit, Count) and not any(can_be_counted(limit, pick.tool) for pick in picks):
                raise _uncounted(limit, picks)
        drafts: list[Draft] = []
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
                self.loading.require(made)
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
        if asked and all(draft.layer == JOINED for draft in drafts):
            raise refused[0]  # it was said of no tool
        if statement.mood.tightens:
            drafts += [Draft.of(JOINED, tool, {}) for tool in asked]
            tools += [tool.key for tool in asked]
        says = "asks, because" if asked else "leaves out"
        notes += [f"{says} {problem}" for problem in dict.fromkeys(map(str, refused))]
        return _Made(tuple(drafts), tuple(tools), tuple(dict.fromkeys(notes)))

    def _for(self, statement: Statement, pick: Pick, grounding: Grounding, notes: list[str]) -> Iterator[Draft]:
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
            yield from self._asked_everywhere(statement, pick, grounds, notes)
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
                yield Draft.of(JOINED, tool, conditions_of(part, ()))

    def _asked_everywhere(
        self, statement: Statement, pick: Pick, grounds: Sequence[Ground | None], notes: list[str]
    ) -> Iterator[Draft]:
        """The rules of what tightens, for a tool that has no argument for one of its limits."""
        tool = pick.tool
        nowhere = [limit for limit, each in zip(statement.limits, grounds, strict=True) if each is None]
        only_place = statement.mood is Mood.NEVER and all(isinstance(limit, Place) for limit in nowhere)
        if tool.key in self.named.by_id and only_place:
            notes.append(f"{tool.key} has no argument for that limit, and a permission names it")
            return
        notes.append(f"{tool.key} has no argument for that limit, so it asks")
        for part in _through(pick) or [Part()]:
            named = self.named.commands.get(tool.key, ()) if pick.doubt else ()
            yield Draft.of(JOINED, tool, conditions_of(part, named))

    # --- Exceptions. ---

    def _exceptions(self, statement: Statement, pick: Pick, grounding: Grounding) -> list[Ground] | None:
        """The exceptions that concern a tool; `None` if one takes the whole tool out."""
        permits = statement.mood is Mood.MAY
        grounding = replace(grounding, permits=False) if permits else grounding
        found: list[Ground] = []
        for exception in merged_exceptions(statement.exceptions):
            excepted = _excepted(exception, statement, pick, self.tools, loosely=permits)
            if excepted is None:
                continue
            limits = [_or_left_out(limit, pick.tool) if permits else limit for limit in exception.limits]
            grounds = [grounding.ground(limit, pick.tool, certain=not permits) for limit in limits]
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

    def _flags_left(self, statement: Statement, pick: Pick) -> Iterator[Draft]:
        """What optional arguments still do of what is forbidden, where an exception takes the tool out."""
        about = frozenset(act for act in statement.doing.acts if act in ACTS) or frozenset(ACTS)
        for exception in statement.exceptions:
            excepted = _excepted(exception, statement, pick, self.tools, loosely=False)
            if excepted is None or exception.doing == Doing() or exception.doing.tools:
                continue
            for leaf in excepted.kept_out:
                if pick.tool.might.optional[leaf] & about:
                    held = {"in": [True]} if pick.tool.arguments[leaf].is_flag else PRESENT
                    yield Draft.of(
                        LAYERS[statement.mood], pick.tool, conditions_of(Part(values={f"arg:{leaf}": held}), ())
                    )

    # --- What loosens. ---

    def _permitted(
        self, statement: Statement, pick: Pick, ground: Ground, lifted: list[Ground], notes: list[str]
    ) -> Iterator[Draft]:
        tool, asks = pick.tool, any(isinstance(limit, Task) for limit in statement.limits)
        covered = ground.covers | covered_roles(statement.doing, tool, ground)
        covered |= frozenset(role for each in lifted for role in each.covers)
        named = ground.names | frozenset(name for each in lifted for name in each.names)
        limits = [part.roles for part in ground.alternatives]
        outside = kept_out(statement, pick, covered, named, frozenset.intersection(*limits) if limits else frozenset())
        if outside is None:
            return  # the act cannot be done without what is not permitted
        unless = [*ground.unless, *(part for each in lifted for part in each.alternatives), *outside]
        unless += leading_elsewhere(statement, tool)
        base = Part(values={f"arg:{tool.might.selector}": {"in": sorted(pick.modes)}}) if pick.modes else Part()
        excepted = frozenset(name for each in lifted for name in each.names) - _excepted_if_given(lifted)
        for leaf in sorted(excepted):  # whether it is excepted must be known
            argument = tool.argument(leaf)
            if argument is None or not (argument.has_default or argument.required):
                base = base.with_(Part(values={f"arg:{leaf}": PRESENT}))
        notes += ["asks, until tasks are known"] if asks else []
        limited = frozenset(role for part in ground.alternatives for role in part.roles)
        shut = [leaf for leaf in tool.arguments if Part(values={f"arg:{leaf}": PRESENT}) in outside]
        if shut and statement.doing.tools:
            notes.append(f"{tool.key}: without {', '.join(shut)}; to permit more, say which")
        free = [
            leaf
            for leaf, a in tool.arguments.items()
            if a.roles and leaf not in named and not a.roles & limited and not stays_out(leaf, unless)
        ]
        if free and statement.doing.tools:
            notes.append(f"{tool.key} may be given any {', '.join(free)}")
        unclear = [leaf for leaf, a in tool.arguments.items() if a.unclear and leaf not in named]
        if unclear and statement.doing.tools:
            shown = ", ".join(unclear)
            notes.append(f"{tool.key}: {shown} may only be a name; to permit more, add: where `{unclear[0]}` is given")
        ways = harmless_ways(tool, named)
        aside = [leaf for leaf in shut if is_saved_aside(tool.arguments[leaf]) and not stays_out(leaf, ground.unless)]
        mood = Mood.ASK if asks else Mood.MAY
        for alternative in (one.with_(two) for one in ground.alternatives for two in ways):
            part = base.with_(replace(alternative, absent=frozenset()))
            groups = [*unless, *(Part(values={f"arg:{leaf}": PRESENT}) for leaf in sorted(alternative.absent))]
            yield self._permission(statement, tool, part, groups, covered, mood)
            if aside and not part.paths:  # in the sandbox, where writing is free
                written = frozenset(role for leaf in aside for role in tool.arguments[leaf].roles if "-path" in role)
                inside = part.with_(Part(paths=(written, (self.setup.known.sandbox,))))
                groups = [group for group in groups if not any(stays_out(leaf, [group]) for leaf in aside)]
                yield self._permission(statement, tool, inside, groups, covered, mood)
        if len(ground.alternatives) > 1:
            yield from self._carried(tool, ground, base, unless)

    @staticmethod
    def _permission(
        statement: Statement, tool: Tool, part: Part, unless: list[Part], covered: frozenset[str], mood: Mood
    ) -> Draft:
        """Return a rule that permits, or asks, for the roles that a statement covers."""
        conditions = conditions_of(part, unless)
        if part.roles:
            roles = covered | (tool.of(Category.OTHER) if statement.doing.tools else frozenset())
            conditions["roles"] = sorted(resources_of(tool) & roles | part.roles)
        return Draft.of(LAYERS[mood], tool, conditions)

    def _carried(self, tool: Tool, ground: Ground, base: Part, unless: list[Part]) -> Iterator[Draft]:
        """What goes along where the values that decide are of several kinds: each decides about itself.

        Files go along from where all alternatives have them; each recipient is permitted with these files alone.
        """
        carried = sorted(tool.of(Category.CARRIED))
        sure = any(a.required and a.roles & ground.covers for a in tool.arguments.values())
        shared = Part(values=ground.alternatives[0].values)
        files = ground.alternatives[0].paths
        by_role = all(part.roles and part.values == shared.values for part in ground.alternatives)
        if not (sure and by_role) or base.roles:
            return
        if carried:
            yield Draft.of(LAYERS[Mood.MAY], tool, {**conditions_of(base.with_(shared), unless), "roles": carried})
        if files and all(part.paths == files and part.roles - files[0] for part in ground.alternatives):
            along = conditions_of(base.with_(replace(shared, paths=files)), unless)
            yield Draft.of(LAYERS[Mood.MAY], tool, {**along, "roles": sorted(files[0])})

    # --- What tightens. ---

    def _tightened(self, statement: Statement, pick: Pick, ground: Ground, lifted: list[Ground]) -> Iterator[Draft]:
        tool, mood = pick.tool, statement.mood
        layer = LAYERS[mood]
        only_joins = bool(statement.limits) and all(isinstance(limit, JOINING) for limit in statement.limits)
        if pick.doubt or ground.question or (mood is Mood.ASK and only_joins):
            layer = JOINED  # what a text says is asked about until it is judged
        unless = [*ground.unless, *(part for each in lifted for part in each.alternatives if not part.absent)]
        if pick.doubt:  # the owner has named the very commands: there is no doubt about these
            unless += self.named.commands.get(tool.key, ())
        about = frozenset(act for act in statement.doing.acts if act in ACTS)
        beside = tool.named_acts | frozenset(act for acts in tool.might.optional.values() for act in acts)
        if about and not beside & about:  # what the name or a flag does is not taken back by a mode
            unless += (part for part, acts in self.named.modes.get(tool.key, ()) if not acts & about)
        bases = _bases(statement, pick, unless)
        if ground.sources and not tool.roles:
            raise Problem(f"{tool.key} has no argument that could carry what was read", "say it without that limit")
        read = {"roles": sorted(tool.roles), "from": sorted(set(ground.sources))}
        origin = {"origin": read} if ground.sources else {}
        for base in bases:
            for alternative in ground.alternatives:
                part = base.with_(alternative)
                groups = [*unless, *(Part(values={f"arg:{leaf}": PRESENT}) for leaf in sorted(part.absent))]
                conditions = conditions_of(replace(part, absent=frozenset()), groups)
                if layer == 3 and part.roles:  # the person sees the whole call, so that the ask covers the rest of it
                    conditions["roles"] = sorted(resources_of(tool) | part.roles)
                people = people_outside(statement, tool) if ground.unless and not part.roles else frozenset()
                if layer in (1, 3) and people:  # each recipient is checked alone; a call must name one
                    named = Part(values={f"role:{'+'.join(sorted(people))}": PRESENT})
                    others = [group for group in groups if group not in ground.unless]
                    whole = conditions_of(replace(part, absent=frozenset()), [*others, named])
                    yield Draft.of(layer, tool, {**whole, **origin})
                    conditions["roles"] = sorted(people)
                conditions |= origin
                if ground.question:
                    conditions["assess"] = {"question": ground.question}
                yield Draft.of(layer, tool, conditions, elsewhere=mood is Mood.OTHERWISE)


def _may_be_empty(statement: Statement) -> bool:
    """Whether a statement may come to no rule because exceptions take everything out."""
    return statement.mood is not Mood.MAY and bool(statement.exceptions)


def _require_arguments(limit: Limit, tool: Tool) -> None:
    if isinstance(limit, Where):
        for condition in limit.conditions:
            known_argument(tool, condition.argument)
    if isinstance(limit, Giving):
        for name in limit.arguments:
            known_argument(tool, name, whole=True)


def _uncounted(limit: Count, picks: Sequence[Pick]) -> Problem:
    lists = [leaf for pick in picks for leaf, a in pick.tool.arguments.items() if "array" in a.types]
    shown = f"; lists are {', '.join(f'`{leaf}`' for leaf in dict.fromkeys(lists[:5]))}" if lists else ""
    return Problem(
        f"no argument of {picks[0].tool.key} holds {limit.noun or 'people'} that could be counted{shown}",
        "for a number write where `amount` is more than 5, for the length of a text where `text` is longer than 300",
    )


def _unlimited(picks: Sequence[Pick]) -> Problem:
    if not picks:
        return Problem("the tools it picks are new and not agreed to", "agree to them: ironcurtain compile")
    shown = ", ".join(pick.tool.key for pick in picks[:3])
    return Problem(
        f"no tool that it picks has an argument for its limits ({shown})",
        "leave the limit out, or name the argument: where `argument` is ...",
    )


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
    return (_through(pick) if not statement.limits else []) or [Part()]


def _through(pick: Pick) -> list[Part]:
    """Return the conditions under which optional arguments make a tool do what is meant, where only they do."""
    arguments = pick.tool.arguments
    return [
        Part(values={f"arg:{leaf}": {"in": [True]} if arguments[leaf].is_flag else PRESENT}) for leaf in pick.through
    ]


def _parents(statement: Statement, tool: Tool, grounding: Grounding) -> Iterator[Part]:
    """The directories above those that are forbidden or asked about: what is done to them is done to all in them."""
    every = tuple(f"role:{role}" for role in sorted(tool.of(Category.PATH)))
    above: dict[str, set[str]] = {}
    for names, argument in _kept_apart(statement, grounding.setup):
        own = tool.argument(argument) if argument else None
        for path in grounding.setup.meant(names).paths:
            while path := path.rpartition("/")[0]:
                for key in (f"arg:{own.leaf}",) if own else every:
                    above.setdefault(key, set()).update((path, f"{path}/", "/") if own else (path,))
    for key, paths in sorted(above.items()):
        yield Part(values={key: {"in": sorted(paths), **PRESENT}})  # an empty list is above nothing


def _kept_apart(statement: Statement, setup: Setup) -> Iterator[tuple[tuple[Name, ...], str]]:
    """The places that a statement keeps apart: those of a never or an ask, and those that a permission takes back.

    With each stands the argument that is spoken of, if it is one only.
    """
    permits = statement.mood is Mood.MAY
    excepted = [limit for exception in statement.exceptions for limit in exception.limits] if permits else []
    for limit in (*statement.limits, *excepted):
        back = limit in excepted
        match limit:
            case Place(names, outside) if back or outside == permits:
                yield names, ""
            case Attachments(names) if back or not permits:
                yield names, ""
            case Where(conditions) if back or not permits:
                tests = (Comparison.IN, Comparison.UNDER, Comparison.IS)
                for each in conditions:
                    found = each.values if each.test is not Comparison.IS else _directories(each.values, setup)
                    if each.test in tests and found:
                        yield found, each.argument


def _directories(names: Iterable[Name], setup: Setup) -> tuple[Name, ...]:
    """Return the names that are those of directories."""
    return tuple(name for name in names if setup.directory_of(name) is not None)


def _or_left_out(limit: Limit, tool: Tool) -> Limit:
    """Return what a permission excepts, also where the argument is left out: what a server then picks is not known."""
    if not isinstance(limit, Where):
        return limit

    def said(each: Condition) -> Condition:
        argument = tool.argument(each.argument)
        optional = argument is not None and not (argument.required or argument.has_default)
        plain = each.given or each.test in (Comparison.GIVEN, Comparison.LEFT_OUT)
        return replace(each, or_left_out=True) if optional and not plain else each

    return Where(tuple(map(said, limit.conditions)))


def _excepted_if_given(lifted: Iterable[Ground]) -> frozenset[str]:
    """Return the arguments that exceptions ask to be given: a call that leaves one out is certainly not excepted."""
    asked: dict[str, bool] = {}
    for key, predicate in (each for ground in lifted for part in ground.alternatives for each in part.values.items()):
        asked[key.removeprefix("arg:")] = asked.get(key.removeprefix("arg:"), True) and predicate.get("given", False)
    return frozenset(leaf for leaf, given in asked.items() if given)
