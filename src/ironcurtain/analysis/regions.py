"""What the rules say of all calls of a tool: a region for each view of the whole call, in which options have verdicts.

The verdicts are the engine's own: it is asked about one value of each cell. Within a region the outcome of a call is
the strictest of its options' and of what is said of the call as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.analysis.options import is_readable
from ironcurtain.engine.conditions import Scope, answer_to, tests_of
from ironcurtain.engine.invariants import check_invariants
from ironcurtain.engine.rules import claims_of, decide_claim
from ironcurtain.model.call import CanonicalCall, Principal
from ironcurtain.model.decision import Claim, Outcome, Verdict
from ironcurtain.model.resolved import CanonicalUrl
from ironcurtain.model.roles import is_carried, sends

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ironcurtain.analysis.facts import State
    from ironcurtain.analysis.nodes import Bundle, Node
    from ironcurtain.analysis.options import Option
    from ironcurtain.analysis.space import Ruleset, ToolSpace
    from ironcurtain.analysis.whole import Sight
    from ironcurtain.engine.chain import Candidate, RuleBook
    from ironcurtain.engine.policy import Policy
    from ironcurtain.model.call import RoleValue
    from ironcurtain.model.policy import Rule, Tool
    from ironcurtain.model.resolved import Value
    from ironcurtain.model.roles import Role

Outcomes: TypeAlias = tuple[Outcome, ...]
"""One for each chain."""
_SILENCE: Final = Verdict(Outcome.ALLOW, "no_rule", "nothing is said of it")
Key: TypeAlias = tuple[int | None, ...]
Views: TypeAlias = "dict[Role | None, int | None]"
"""What claims of each role see of a call; nothing for roles of which there are none."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """One claim, and what each chain of rules says of it."""

    claim: Claim
    verdicts: tuple[Verdict, ...]
    scope: Scope
    sending: bool


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One option of an argument, with what is said of it."""

    option: Option
    rulings: tuple[Ruling, ...]
    outcomes: Outcomes
    """The strictest of what rules and invariants say, for each chain."""
    floor: Outcome
    """What the invariants say, whatever the rules do."""


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """What an argument can be in a region."""

    all: tuple[Choice, ...]
    outcomes: frozenset[Outcomes]
    lightest: Mapping[int, tuple[Choice, ...]]
    """For each group of options, the lightest one for each combination of outcomes."""

    @classmethod
    def of(cls, groups: Mapping[int, tuple[Choice, ...]]) -> Choices:
        """Gather the choices of some groups, in each of which the lightest come first."""
        every = tuple(choice for choices in groups.values() for choice in choices)
        lightest: dict[int, tuple[Choice, ...]] = {}
        for number, choices in groups.items():
            found: dict[Outcomes, Choice] = {}
            for choice in choices:
                found.setdefault(choice.outcomes, choice)
            lightest[number] = tuple(found.values())
        return cls(every, frozenset(choice.outcomes for choice in every), lightest)


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """All calls of which the rules see the same."""

    space: ToolSpace
    key: Key
    ends: tuple[Node, ...]
    columns: tuple[Choices, ...]
    """For each argument, the choices that some of the calls have."""
    scope: Scope
    """The values of the call that stands for all of them: the lightest."""
    whole: tuple[Ruling, ...]
    """What is said of carried values, and of a call that claims nothing."""
    said: Outcomes
    """The strictest of that, for each chain."""
    possible: frozenset[Outcomes]
    """Every combination of outcomes that could be, going by the choices alone."""

    @property
    def tool(self) -> Tool:
        """The tool that is called."""
        return self.space.tool

    def rulings(self) -> Iterator[tuple[Choice | None, Ruling]]:
        """Yield every ruling, with the choice that it is about."""
        for choices in self.columns:
            for choice in choices.all:
                for ruling in choice.rulings:
                    yield choice, ruling
        for ruling in self.whole:
            yield None, ruling

    def call(
        self, wanted: Outcomes, only: Choice | None = None, rest: Outcomes | None = None
    ) -> tuple[Choice, ...] | None:
        """Return the choices of the lightest call with exactly these outcomes, or nothing if there is none.

        With `only`, of a call that holds this choice; with `rest`, the other choices are no stricter than that.
        """
        if not _within(self.said, wanted):
            return None
        most = wanted if rest is None else rest
        usable = _Usable(self, only, wanted, most)
        order = count()
        # From complete calls back to no arguments at all: the lightest of what is not done comes next.
        pending: list[tuple[int, int, Node, Outcomes, bool, tuple[Choice, ...]]] = [
            (0, next(order), end, self.said, only is None, ()) for end in self.ends
        ]
        done: set[tuple[int, Outcomes, bool]] = set()
        while pending:
            weight, _, node, outcomes, placed, chosen = heappop(pending)
            if (id(node), outcomes, placed) in done:
                continue
            done.add((id(node), outcomes, placed))
            if node is self.space.start and placed and outcomes == wanted:
                return chosen
            for before, bundle in node.steps:
                if bundle is None:
                    heappush(pending, (weight, next(order), before, outcomes, placed, chosen))
                    continue
                for choice in usable.of(bundle, placed=placed):
                    joint, there = joined(outcomes, choice.outcomes), placed or choice is only
                    if (id(before), joint, there) not in done:
                        entry = (weight + choice.option.weight, next(order), before, joint, there)
                        heappush(pending, (*entry, (choice, *chosen)))
        return None


@dataclass(slots=True)
class _Usable:
    """The choices that a call may have: of each bundle the lightest, one for each combination of outcomes."""

    region: Region
    only: Choice | None
    wanted: Outcomes
    most: Outcomes
    _known: dict[int, tuple[Choice, ...]] = field(default_factory=dict)

    def of(self, bundle: Bundle, *, placed: bool) -> tuple[Choice, ...]:
        if id(bundle) not in self._known:
            self._known[id(bundle)] = self._lightest(bundle)
        known = self._known[id(bundle)]
        if placed or self.only is None or not _within(self.only.outcomes, self.wanted):
            return known
        holding = any(self.only.option is option for group in bundle.groups for option in group.options)
        return (*known, self.only) if holding else known

    def _lightest(self, bundle: Bundle) -> tuple[Choice, ...]:
        found: dict[Outcomes, Choice] = {}
        for group in bundle.groups:
            for choice in self.region.columns[group.column].lightest.get(group.number, ()):
                if _within(choice.outcomes, self.most):
                    known = found.setdefault(choice.outcomes, choice)
                    if choice.option.weight < known.option.weight:
                        found[choice.outcomes] = choice
        return tuple(found.values())


@dataclass(slots=True)
class Judge:
    """Asks the engine about calls."""

    policy: Policy
    rulesets: tuple[Ruleset, ...]
    silent: frozenset[int] = frozenset()
    """The chains that allow what none of their rules speaks of: they ask a question, and are no policy."""
    before: Policy | None = None
    """The policy of the first chain, where that is another: the hosts it names are its own."""
    _floors: dict[int, tuple[Option, tuple[Outcome, Outcome]]] = field(default_factory=dict)
    """What the invariants say of each option; it holds the option, so that no other takes its number."""

    def regions(self, space: ToolSpace) -> Iterator[Region]:
        """Yield one for each view that there is of the whole call."""
        asking = _Asking(self, space)
        found: dict[Key, list[Node]] = defaultdict(list)
        for end in space.ends:
            found[view_of(space, end.state, end.counts)].append(end)
        for key, ends in found.items():
            yield asking.region(key, ends)

    def decide(self, tool: Tool, claim: Claim, scope: Scope, *, sending: bool) -> tuple[Verdict, ...]:
        """Return what each chain says of a claim."""
        found = []
        for number, ruleset in enumerate(self.rulesets):
            candidates = ruleset.book.candidates(tool, claim, scope)
            verdict = decide_claim(candidates, claim, scope, ruleset.sandbox, sending=sending)
            found.append(_SILENCE if number in self.silent and verdict.rule is None else verdict)
        return tuple(found)

    def floor(self, tool: Tool, option: Option) -> tuple[Outcome, Outcome]:
        """Return what the invariants say of an option: for the first chain, and for the others."""
        if id(option) not in self._floors:
            call = call_of(tool, [option])
            first, then = (
                max((verdict.outcome for verdict in check_invariants(call, policy)), default=Outcome.ALLOW)
                for policy in (self.before or self.policy, self.policy)
            )
            self._floors[id(option)] = (option, (first, then))
        return self._floors[id(option)][1]

    def holding(self, names: Collection[str] | None, book: RuleBook, tool: Tool, ruling: Ruling) -> list[Rule]:
        """Return those of the rules (or all) that would decide the claim if they stood alone and were answered."""
        sandbox = self.policy.setup.sandbox
        return [
            candidate.rule
            for candidate in book.candidates(tool, ruling.claim, ruling.scope)
            if (names is None or candidate.rule.name in names)
            and decide_claim([_alone(candidate)], ruling.claim, ruling.scope, sandbox, sending=ruling.sending).rule
            == candidate.rule.name
        ]


@dataclass(slots=True)
class _Asking:
    """Asks about one tool; what was said under one view is not asked again."""

    judge: Judge
    space: ToolSpace
    _verdicts: dict[tuple[object, ...], tuple[Verdict, ...]] = field(default_factory=dict)
    _choices: dict[tuple[int, Key], Choice] = field(default_factory=dict)
    _columns: dict[tuple[int, Key, Key], Choices] = field(default_factory=dict)
    _roles: list[tuple[Role, ...]] = field(init=False)
    """For each column, the roles that its values claim."""

    def __post_init__(self) -> None:
        self._roles = [
            tuple(sorted({item.role for g in column.groups for o in g.options for item in _claimed(o)}))
            for column in self.space.columns
        ]

    def region(self, key: Key, ends: list[Node]) -> Region:
        """The region of some complete calls."""
        call = call_of(self.space.tool, min(ends, key=lambda end: end.weight).shown)
        scope = Scope.of(call)
        views = dict(zip(_viewers(self.space.tool), key[1:], strict=True))
        groups = 0
        for end in ends:
            groups |= end.groups
        whole = tuple(
            self._ruling(claim, scope, views[claim.role])
            for claim in claims_of(call)
            if claim.role is None or is_carried(claim.role)
        )
        columns = tuple(self._column(number, groups, scope, views) for number in range(len(self.space.columns)))
        said = self._strictest(whole)
        possible = {said}
        for column in columns:
            possible = {joined(before, each) for before in possible for each in column.outcomes}
        return Region(self.space, key, tuple(ends), columns, scope, whole, said, frozenset(possible))

    def _column(self, number: int, groups: int, scope: Scope, views: Views) -> Choices:
        own = [group for group in self.space.columns[number].groups if groups >> group.number & 1]
        seen = tuple(views[role] for role in self._roles[number])
        key = (number, tuple(group.number for group in own), seen)
        if key not in self._columns:
            choices = {
                group.number: tuple(self._choice(option, scope, views) for option in group.options) for group in own
            }
            self._columns[key] = Choices.of(choices)
        return self._columns[key]

    def _choice(self, option: Option, scope: Scope, views: Views) -> Choice:
        claimed = _claimed(option)
        key = (id(option), tuple(views[item.role] for item in claimed))
        if key not in self._choices:
            rulings = tuple(self._ruling(Claim(i.role, (i.value,)), scope, views[i.role]) for i in claimed)
            first, floor = self.judge.floor(self.space.tool, option)
            outcomes = tuple(
                max(said, Outcome.ALLOW if chain in self.judge.silent else floor if chain else first)
                for chain, said in enumerate(self._strictest(rulings))
            )
            self._choices[key] = Choice(option, rulings, outcomes, floor)
        return self._choices[key]

    def _ruling(self, claim: Claim, scope: Scope, view: int | None) -> Ruling:
        """Under one view all carried values of a role are told the same, and so is each value of another role."""
        sending = any(map(sends, scope.by_role))
        alike = claim.role is None or is_carried(claim.role)
        if view is not None and self.space.sight.is_decided(view) and not any(map(_is_private, claim.values)):
            alike = True
        own = () if alike else ((type(value), str(value)) for value in claim.values)
        key = (claim.role, view, *own)
        if key not in self._verdicts:
            self._verdicts[key] = self.judge.decide(self.space.tool, claim, scope, sending=sending)
        return Ruling(claim, self._verdicts[key], scope, sending)

    def _strictest(self, rulings: Iterable[Ruling]) -> Outcomes:
        rulings = tuple(rulings)
        return tuple(
            max((ruling.verdicts[chain].outcome for ruling in rulings), default=Outcome.ALLOW)
            for chain in range(len(self.judge.rulesets))
        )


def view_of(space: ToolSpace, state: State, counts: tuple[int, ...]) -> Key:
    """Return what the rules see of a complete call: which claims there are, and what those of each role see."""
    seen = (_seen(space.sight, role, state, counts) for role in _viewers(space.tool))
    return (state.facts & space.sight.watcher.always, *seen)


def _seen(sight: Sight, role: Role | None, state: State, counts: tuple[int, ...]) -> int | None:
    """What claims of a role see; nothing if such a call has none."""
    if role is not None and is_carried(role):
        there = sight.watcher.is_present(state.facts, role)
    else:
        there = sight.watcher.is_present(state.facts) != (role is None)
    return sight.view(role, state, counts) if there else None


def _viewers(tool: Tool) -> tuple[Role | None, ...]:
    return (None, *sorted(tool.roles))


def _claimed(option: Option) -> list[RoleValue]:
    """The values of an option that are claims of their own."""
    found = {(item.role, type(item.value), str(item.value)): item for item in option.items}
    return [item for item in found.values() if not is_carried(item.role)]


def _alone(candidate: Candidate) -> Candidate:
    """The candidate as if it asked nothing that is not answered yet, and decided by itself."""
    rule = candidate.rule
    if not rule.unanswered and not rule.joined:
        return candidate
    conditions = replace(rule.conditions, question=None, origin_roles=frozenset())
    return replace(candidate, rule=replace(rule, conditions=conditions, joined=False))


def matches_what_is_known(rule: Rule, claim: Claim, scope: Scope) -> bool:
    """Return whether a rule that matches a claim would do so without the values that cannot be read."""
    if rule.then is Outcome.ALLOW:
        return True
    known = replace(claim, values=_readable(claim.values))
    by_role = {role: _readable(values) for role, values in scope.by_role.items()}
    rest = Scope(by_role, {leaf: _readable(values) for leaf, values in scope.by_leaf.items()})
    return all(answer_to(test, known, rest, allowing=False) is not False for test in tests_of(rule.conditions))


def _readable(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(value for value in values if is_readable(value))


def _is_private(value: Value) -> bool:
    """Whether an allow covers it only if it names its host."""
    return isinstance(value, CanonicalUrl) and value.address.private


def _within(outcomes: Outcomes, wanted: Outcomes) -> bool:
    return all(map(Outcome.__le__, outcomes, wanted))


def joined(first: Iterable[Outcome], second: Iterable[Outcome]) -> Outcomes:
    """Return the stricter of two, for each chain."""
    return tuple(map(max, first, second))


def call_of(tool: Tool, options: Iterable[Option]) -> CanonicalCall:
    """Return a call that holds these options; an argument with several holds the values of each."""
    chosen = list(options)
    leaves: dict[str, tuple[Value, ...]] = {}
    for option in chosen:
        for leaf, shown in option.leaves.items():
            leaves[leaf] = (*leaves.get(leaf, ()), *shown)
    return CanonicalCall(
        tool.server,
        tool.name,
        {},
        Principal(),
        tuple(item for option in chosen for item in option.items),
        {leaf: values for leaf, values in leaves.items() if values},
        tuple(stray for option in chosen for stray in option.strays),
        next((option.sources for option in chosen if option.sources is not None), None),
    )
