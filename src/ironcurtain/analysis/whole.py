"""What rules can see of a whole call.

Most conditions look at one value at a time. Some look at all values of a call: the list a recipient is in decides about
the attachment, a flag decides about everything. What one rule asks of the whole call, when it is applied to claims of
one role, is its *requirement* (see `facts`). Requirements that are known to fail are *void*: the facts that only they
ask for no longer matter, and calls that differ in nothing else are looked at as one. What remains at the end is the
*view* that claims of each role have of the call: the requirements that are not void, in the order of the rules, up to
the first that certainly decides. Under one view, the verdict on a value depends on that value alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ironcurtain.analysis.facts import Answer, Part, State
from ironcurtain.analysis.watching import Watcher, all_of
from ironcurtain.engine.chain import may_apply
from ironcurtain.engine.conditions import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ironcurtain.analysis.facts import Requirement
    from ironcurtain.model.policy import Rule, Tool
    from ironcurtain.model.resolved import Value
    from ironcurtain.model.roles import Role

View: TypeAlias = tuple[object, ...]
_Weighed: TypeAlias = tuple[int, bool] | None


@dataclass(frozen=True, slots=True)
class _Chain:
    """The requirements of the rules for claims of one role, as bits: the lower comes first."""

    all: int
    certain: int
    """Those that decide if they hold: they ask nothing of the claim's own value, and what follows does not matter."""
    first: int
    """Those before which no rule asks anything of the claim's own value."""

    def reached(self, alive: int, sure: int) -> int:
        """Return those that matter, of the ones that are not void: up to the first that certainly holds and decides."""
        deciding = self.certain & sure
        last = deciding & -deciding
        return self.all & alive & ((last << 1) - 1) if last else self.all & alive


@dataclass(slots=True)
class _Watched:
    """A requirement, with the facts that its exceptions lift it, and that each of them is void."""

    requirement: Requirement
    lifted: int
    gone: tuple[int, ...]
    mask: int
    known: dict[tuple[int, int], _Weighed] = field(default_factory=dict)
    """What was found out about it, by the facts that there are and those that may come."""

    def weighed(self, facts: int, still: int) -> _Weighed:
        """Return the facts that matter to it, and whether it certainly holds; nothing if it is void."""
        key = (facts & self.mask, still & self.mask)
        if key not in self.known:
            self.known[key] = self._weighed(*key)
        return self.known[key]

    def _weighed(self, facts: int, still: int) -> _Weighed:
        requirement = self.requirement
        said = requirement.own.settled(facts, still)
        if said is Answer.NO:
            return None
        kept = facts & (requirement.own.facts | requirement.tells)
        holding, left, open_ = bool(facts & self.lifted), 0, False
        for exemption, gone in zip(requirement.exemptions, self.gone, strict=True):
            holds = Answer.NO if facts & gone else exemption.settled(facts, still)
            left |= gone if holds is Answer.NO else facts & exemption.facts
            holding = holding or holds in (Answer.YES, Answer.ERROR)
            open_ = open_ or holds is Answer.OPEN
        if holding:  # but an error in the rule's own conditions is not excepted
            return (kept | self.lifted, False) if requirement.own.fallible else None
        return kept | left, said is Answer.YES and not open_

    def standing(self, facts: int, counts: tuple[int, ...]) -> View | None:
        """Return what it comes to in a complete call: what is told, and the exceptions left; nothing if it fails."""
        requirement = self.requirement
        own = requirement.own.final(facts, counts)
        if own is None:
            return None
        told = (facts & requirement.tells, own)
        if Answer.ERROR in own:
            return (told,)
        left: list[View] = []
        holding = bool(facts & self.lifted)
        for index, (exemption, gone) in enumerate(zip(requirement.exemptions, self.gone, strict=True)):
            said = None if facts & gone else exemption.final(facts, counts)
            if said is not None:
                left.append((index, *said))
                holding = holding or not exemption.local
        if holding:
            return (told, "lifted") if requirement.own.local and requirement.own.fallible else None
        return (told, *left)


@dataclass(slots=True)
class Sight:
    """What the rules of one or more chains can see of the calls of one tool."""

    tool: Tool
    watcher: Watcher
    _watched: list[_Watched] = field(default_factory=list)
    _chains: dict[Role | None, list[_Chain]] = field(default_factory=dict)
    _different: frozenset[_Chain] = frozenset()
    """The chains of all roles, each once."""
    _asking: dict[int, int] = field(default_factory=dict)
    """For the place of each fact, the requirements that ask for it, as bits."""
    _settled: dict[tuple[int, int, int], State] = field(default_factory=dict)
    _views: dict[tuple[Role | None, int, int, tuple[int, ...]], int] = field(default_factory=dict)
    _views_seen: dict[View, int] = field(default_factory=dict)
    _decided: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, tool: Tool, chains: Iterable[tuple[Sequence[Rule], str]], *, reaching: bool = True) -> Sight:
        """Look at chains of rules, each with its sandbox.

        Without `reaching`, no private host is open to any rule: the invariants refuse what an allow would not cover.
        """
        sight = cls(tool, Watcher(tool, reaching))
        viewers: tuple[Role | None, ...] = (None, *sorted(tool.roles))
        for rules, sandbox in chains:
            building = {role: _Building() for role in viewers}
            for rule in rules:
                numbers: dict[Requirement, int] = {}
                for role, chain in building.items():
                    if not chain.ended and may_apply(rule, tool, role):
                        requirement, certain = sight.watcher.requirement(rule, sandbox, role)
                        if requirement.watching and requirement not in numbers:
                            numbers[requirement] = sight._numbered(requirement)
                        chain.add(requirement, numbers.get(requirement), certain=certain)
            for role, chain in building.items():
                sight._chains.setdefault(role, []).append(chain.made())
        sight._different = frozenset(chain for chains in sight._chains.values() for chain in chains)
        return sight

    def _numbered(self, requirement: Requirement) -> int:
        number = len(self._watched)
        lifted = self.watcher.fact(("lifted", number))
        gone = tuple(self.watcher.fact(("gone", number, index)) for index in range(len(requirement.exemptions)))
        self._watched.append(_Watched(requirement, lifted, gone, requirement.facts | lifted | sum(gone)))
        return number

    @property
    def nothing(self) -> tuple[int, ...]:
        """The counts of no values at all."""
        return (0,) * len(self.watcher.counters)

    def part(self, by_role: dict[Role, tuple[Value, ...]], by_leaf: Mapping[str, tuple[Value, ...]]) -> Part:
        """Return what values of one argument, and of those that it is a member of, add to a call."""
        scope = Scope(by_role, {leaf: values for leaf, values in by_leaf.items() if values})
        facts = self.watcher.facts_of(scope)
        return Part(facts, tuple(len(all_of(scope, each)) for each in self.watcher.counters))

    def sources_part(self, sources: frozenset[str] | None) -> Part:
        """Return what the sources of a call add to it."""
        return Part(self.watcher.facts_of_sources(sources), self.nothing)

    def added(self, counts: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
        """Return counts added up, as far as limits tell them apart."""
        return tuple([min(a + b, limit) for a, b, limit in zip(counts, more, self.watcher.limits, strict=True)])

    @property
    def start(self) -> State:
        """The state of no arguments at all, to which any fact may come."""
        return State(0, 0, -1, 0, {})

    def settled(self, state: State, more: int, still: int) -> State:
        """Return what matters of a call to which some facts are added, and that may still come to have others."""
        facts = state.facts | (more & state.mask)
        key = (facts, state.void, still)
        known = self._settled.get(key)
        if known is None:
            known = self._settled[key] = self._settle(state, facts, still)
        return known

    def _settle(self, state: State, facts: int, still: int) -> State:
        everything = (1 << len(self._watched)) - 1
        left = dict(state.left)
        touched = everything & ~state.void
        if state.left and still == state.still:  # of the others nothing is known that was not
            touched &= self._asking_for(facts & ~state.facts)
        for number in _bits(touched):
            found = self._watched[number].weighed(facts, still)
            if found is not None:
                left[number] = found
            else:
                left.pop(number, None)
        alive = sure = mattering = 0
        for number, (_, certain) in left.items():
            alive |= 1 << number
            sure |= certain << number
        for chain in self._different:
            mattering |= chain.reached(alive, sure)
        if mattering != alive:
            left = {number: found for number, found in left.items() if mattering >> number & 1}
        kept = facts & self.watcher.always
        mask = self.watcher.always
        for number, (own, _) in left.items():
            kept |= own
            mask |= self._watched[number].mask
        return State(kept, everything & ~mattering, mask, still, left)

    def _asking_for(self, facts: int) -> int:
        """The requirements that ask for one of these facts."""
        if not self._asking:
            for number, watched in enumerate(self._watched):
                for fact in _bits(watched.mask):
                    self._asking[fact] = self._asking.get(fact, 0) | 1 << number
        found = 0
        for fact in _bits(facts):
            found |= self._asking.get(fact, 0)
        return found

    def view(self, role: Role | None, state: State, counts: tuple[int, ...]) -> int:
        """Return the number of what claims of a role see of a complete call."""
        key = (role, state.facts, state.void, counts)
        if key not in self._views:
            seen = [self._seen(chain, state, counts) for chain in self._chains[role]]
            number = self._views_seen.setdefault((role, *(view for view, _ in seen)), len(self._views_seen))
            if all(decided for _, decided in seen):
                self._decided.add(number)
            self._views[key] = number
        return self._views[key]

    def is_decided(self, view: int) -> bool:
        """Return whether each chain decides claims under a view whatever their own value is."""
        return view in self._decided

    def _seen(self, chain: _Chain, state: State, counts: tuple[int, ...]) -> tuple[View, bool]:
        """Return the requirements that hold, or may, and whether the first of them decides whatever the value is."""
        found: list[View] = []
        for number in _bits(chain.all & ~state.void):
            standing = self._watched[number].standing(state.facts, counts)
            if standing is not None:
                found.append((number, standing))
                if chain.certain >> number & 1 and len(standing) == 1:
                    return tuple(found), len(found) == 1 and bool(chain.first >> number & 1)
        return tuple(found), False


@dataclass(slots=True)
class _Building:
    """A chain while rules are added to it."""

    all: int = 0
    certain: int = 0
    first: int = 0
    clear: bool = True
    """No rule so far asks anything of the claim's own value."""
    ended: bool = False
    """A rule decides whatever the call is."""

    def add(self, requirement: Requirement, number: int | None, *, certain: bool) -> None:
        """Add a rule, with the number of its requirement if that looks at the whole call."""
        if number is None:
            self.ended = certain and not requirement.exemptions
            self.clear = False
            return
        self.all |= 1 << number
        self.certain |= certain << number
        self.first |= self.clear << number
        local = requirement.own.local or any(exemption.local for exemption in requirement.exemptions)
        self.clear = self.clear and certain and not local

    def made(self) -> _Chain:
        return _Chain(self.all, self.certain, self.first)


def _bits(number: int) -> Iterator[int]:
    """Yield the places of the bits of a number, the lowest first."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low
