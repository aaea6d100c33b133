"""What the rules say of all calls of a tool: a region for each summary, in which every option has its verdicts.

The verdicts are the engine's own: it is asked about one value of each cell. Within a region the outcome of a call is
the strictest of its options' and of what is said of the call as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.analysis.space import Summary, capped
from ironcurtain.engine.conditions import Scope
from ironcurtain.engine.invariants import check_invariants
from ironcurtain.engine.rules import claims_of, decide_claim
from ironcurtain.model.call import CanonicalCall, Principal, RoleValue
from ironcurtain.model.decision import Claim, Outcome, Verdict
from ironcurtain.model.roles import is_carried, sends

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ironcurtain.analysis.space import Option, ToolSpace
    from ironcurtain.engine.chain import Candidate, RuleBook
    from ironcurtain.engine.policy import Policy
    from ironcurtain.model.policy import Rule, Tool
    from ironcurtain.model.resolved import Value

Outcomes: TypeAlias = tuple[Outcome, ...]
"""One for each chain."""
_SILENCE: Final = Verdict(Outcome.ALLOW, "no_rule", "nothing is said of it")


@dataclass(frozen=True, slots=True)
class Ruling:
    """One claim, and what each chain of rules says of it."""

    claim: Claim
    verdicts: tuple[Verdict, ...]
    scope: Scope
    sending: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of an argument, with what is said of it."""

    option: Option
    part: Summary
    rulings: tuple[Ruling, ...]
    outcomes: Outcomes
    """The strictest of what rules and invariants say, for each chain."""
    floor: Outcome
    """What the invariants say, whatever the rules do."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Some choices, and how many values they hold in all."""

    choices: tuple[Choice, ...] = ()
    weight: int = 0

    def with_(self, choice: Choice) -> _Chosen:
        return _Chosen((*self.choices, choice), self.weight + _weight(choice))


def _weight(choice: Choice) -> int:
    return choice.option.weight


@dataclass(frozen=True, slots=True)
class Region:
    """All calls of one summary."""

    space: ToolSpace
    summary: Summary
    columns: tuple[tuple[Choice, ...], ...]
    """For each argument, the choices there are."""
    whole: tuple[Ruling, ...]
    """What is said of carried values, and of a call that claims nothing."""
    chains: int

    @property
    def tool(self) -> Tool:
        """The tool that is called."""
        return self.space.tool

    def rulings(self) -> Iterator[tuple[Choice | None, Ruling]]:
        """Every ruling, with the choice that it is about."""
        for choices in self.columns:
            for choice in choices:
                for ruling in choice.rulings:
                    yield choice, ruling
        for ruling in self.whole:
            yield None, ruling

    @property
    def said(self) -> Outcomes:
        """What is said of the call as a whole."""
        return tuple(
            max((ruling.verdicts[chain].outcome for ruling in self.whole), default=Outcome.ALLOW)
            for chain in range(self.chains)
        )

    def call(
        self, wanted: Outcomes, only: Choice | None = None, rest: Outcomes | None = None
    ) -> tuple[Choice, ...] | None:
        """The choices of the smallest call with exactly these outcomes, or nothing if there is none.

        With `only`, of a call that holds this choice; with `rest`, the other choices are no stricter than that.
        """
        if not _within(self.said, wanted):
            return None
        most = wanted if rest is None else rest
        limits = self.space.limits
        found = {(self.summary.emptied(), self.said): _Chosen()}
        to_place = only
        for choices in sorted(self.columns, key=len):
            if to_place is not None and any(choice is to_place for choice in choices):
                usable, to_place = [to_place], None
            else:
                usable = [choice for choice in choices if _within(choice.outcomes, most)]
            lightest: dict[tuple[Summary, Outcomes], Choice] = {}
            for choice in sorted(usable, key=_weight):
                lightest.setdefault((choice.part, choice.outcomes), choice)
            further: dict[tuple[Summary, Outcomes], _Chosen] = {}
            for (summary, outcomes), chosen in found.items():
                for choice in lightest.values():
                    key = (capped(summary.with_(choice.part), limits), joined(outcomes, choice.outcomes))
                    more = chosen.with_(choice)
                    if key not in further or more.weight < further[key].weight:
                        further[key] = more
            found = further
        return next(
            (
                chosen.choices
                for (summary, outcomes), chosen in sorted(found.items(), key=lambda item: item[1].weight)
                if outcomes == wanted and summary.told_by(limits) == self.summary
            ),
            None,
        )

    def outcomes(self) -> Iterator[Outcomes]:
        """Every combination of outcomes that could be, going by the choices alone."""
        found = {self.said}
        for choices in self.columns:
            found = {joined(before, choice) for before in found for choice in {c.outcomes for c in choices}}
        yield from found


@dataclass(slots=True)
class Judge:
    """Asks the engine about the calls of a tool."""

    policy: Policy
    books: Sequence[RuleBook]
    silent: frozenset[int] = frozenset()
    """The chains that allow what none of their rules speaks of: they ask a question, and are no policy."""
    sandboxes: tuple[str, ...] = ()
    """For each chain, where it is not the policy's own."""
    before: Policy | None = None
    """The policy of the first chain, where that is another: the hosts it names are its own."""
    _floors: dict[int, tuple[Option, tuple[Outcome, Outcome]]] = field(default_factory=dict)
    """What the invariants say of each option; it holds the option, so that no other takes its number."""
    _known: dict[tuple[object, ...], tuple[Verdict, ...]] = field(default_factory=dict)
    """What was said of a claim under the same view of the rest of the call."""
    _choices: dict[tuple[int, tuple[object, ...]], Choice] = field(default_factory=dict)
    """Likewise of an option."""

    def regions(self, space: ToolSpace) -> Iterator[Region]:
        """One for each summary."""
        self._known.clear()
        self._choices.clear()
        for summary, shown in space.summaries.items():
            yield self._region(space, summary, shown)

    def _region(self, space: ToolSpace, summary: Summary, shown: Iterable[Option]) -> Region:
        tool = space.tool
        call = _call(tool, shown)
        claims = claims_of(call)
        scope = Scope.of(call)
        sending = any(claim.role is not None and sends(claim.role) for claim in claims)

        def ruled(claim: Claim) -> Ruling:
            return Ruling(claim, self._verdicts(tool, claim, scope, sending=sending), scope, sending)

        counted = _counted(summary)

        def chosen(option: Option, part: Summary) -> Choice:
            watched = self._watched(space, option)
            seen = summary.asked & watched, summary.turned & watched, summary.errors & watched
            view = (sending, *seen, *counted)
            if (id(option), view) not in self._choices:
                rulings = tuple(ruled_alike(item, view) for item in _different(option.items))
                self._choices[id(option), view] = self._choice(tool, option, part, rulings)
            return self._choices[id(option), view]

        def ruled_alike(item: RoleValue, view: tuple[object, ...]) -> Ruling:
            claim = Claim(item.role, (item.value,))
            key = (item.role, str(item.value), type(item.value), view)
            if key not in self._known:
                self._known[key] = self._verdicts(tool, claim, scope, sending=sending)
            return Ruling(claim, self._known[key], scope, sending)

        return Region(
            space,
            summary,
            tuple(
                tuple(
                    chosen(option, group.part)
                    for group in column.groups
                    if group.part.fits_in(summary)
                    for option in group.options
                )
                for column in space.columns
            ),
            tuple(ruled(claim) for claim in claims if claim.role is None or is_carried(claim.role)),
            len(self.books),
        )

    def _watched(self, space: ToolSpace, option: Option) -> int:
        """The tests on the whole call that matter to an option's claims."""
        found = 0
        for item in option.items:
            found |= space.watched.get(item.role, 0)
        return found

    def _choice(self, tool: Tool, option: Option, part: Summary, rulings: tuple[Ruling, ...]) -> Choice:
        first, floor = self._floor(tool, option)
        outcomes = tuple(
            max(
                Outcome.ALLOW if chain in self.silent else first if chain == 0 else floor,
                *(ruling.verdicts[chain].outcome for ruling in rulings),
                Outcome.ALLOW,
            )
            for chain in range(len(self.books))
        )
        return Choice(option, part, rulings, outcomes, floor)

    def _verdicts(self, tool: Tool, claim: Claim, scope: Scope, *, sending: bool) -> tuple[Verdict, ...]:
        return tuple(
            self._verdict(number, book, tool, claim, scope, sending=sending) for number, book in enumerate(self.books)
        )

    def _verdict(
        self, number: int, book: RuleBook, tool: Tool, claim: Claim, scope: Scope, *, sending: bool
    ) -> Verdict:
        candidates = book.candidates(tool, claim, scope)
        sandbox = self.sandboxes[number] if self.sandboxes else self.policy.setup.sandbox
        verdict = decide_claim(candidates, claim, scope, sandbox, sending=sending)
        return _SILENCE if number in self.silent and verdict.rule is None else verdict

    def _floor(self, tool: Tool, option: Option) -> tuple[Outcome, Outcome]:
        """What the invariants say of an option, whatever the rules do: for the first chain, and for the others."""
        if id(option) not in self._floors:
            call = _call(tool, [option])
            first, then = (
                max((verdict.outcome for verdict in check_invariants(call, policy)), default=Outcome.ALLOW)
                for policy in (self.before or self.policy, self.policy)
            )
            self._floors[id(option)] = (option, (first, then))
        return self._floors[id(option)][1]

    def holding(self, names: Collection[str] | None, book: RuleBook, tool: Tool, ruling: Ruling) -> list[Rule]:
        """Those of the rules (or all) that would decide the claim if they stood alone and were answered."""
        sandbox = self.policy.setup.sandbox
        return [
            candidate.rule
            for candidate in book.candidates(tool, ruling.claim, ruling.scope)
            if (names is None or candidate.rule.name in names)
            and decide_claim([self._alone(candidate)], ruling.claim, ruling.scope, sandbox, sending=ruling.sending).rule
            == candidate.rule.name
        ]

    def _alone(self, candidate: Candidate) -> Candidate:
        """The candidate as if it asked nothing that is not answered yet."""
        if not candidate.rule.unanswered:
            return candidate
        conditions = replace(candidate.rule.conditions, question=None, origin_roles=frozenset())
        return replace(candidate, rule=replace(candidate.rule, conditions=conditions))


def _within(outcomes: Outcomes, wanted: Outcomes) -> bool:
    return all(map(Outcome.__le__, outcomes, wanted))


def joined(first: Iterable[Outcome], second: Iterable[Outcome]) -> Outcomes:
    """The stricter of two, for each chain."""
    return tuple(map(max, first, second))


def _counted(summary: Summary) -> tuple[object, ...]:
    return (*summary.counts, *summary.uncertain)


def _different(items: Iterable[RoleValue]) -> list[RoleValue]:
    return list({(item.role, str(item.value)): item for item in items if not is_carried(item.role)}.values())


def _call(tool: Tool, options: Iterable[Option]) -> CanonicalCall:
    """A call that holds these options; an argument with several holds the values of each."""
    chosen = list(options)
    leaves: dict[str, tuple[Value, ...]] = {}
    for option in chosen:
        leaves[option.leaf] = (*leaves.get(option.leaf, ()), *option.shown)
    return CanonicalCall(
        tool.server,
        tool.name,
        {},
        Principal(),
        tuple(item for option in chosen for item in option.items),
        {leaf: values for leaf, values in leaves.items() if values},
        tuple(stray for option in chosen for stray in option.strays),
    )
