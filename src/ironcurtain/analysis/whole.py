"""What rules can see of a whole call.

Most conditions look at one value at a time. Some look at all values of a call: the list a recipient is in decides about
the attachment, a flag decides about everything. What these see is expressed in *facts*: "the test holds for a value",
"the test fails for a value", "there is a value of this role", "something is sent". A call has the facts of each of its
values, so that more values only add facts. Facts are bits.

What one rule asks of the whole call, when it is applied to claims of one role, is its *requirement*: questions about
facts, limits of counts, and exceptions made of the same. Requirements that are known to fail are *void*: the facts that
only they ask for no longer matter, and calls that differ in nothing else are looked at as one (`settled`). What remains
at the end is the *view* that claims of each role have of the call: the requirements that are not void, in the order of
the rules, up to the first that certainly decides. Under one view, the verdict on a value depends on that value alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.engine.chain import may_apply, reads_only
from ironcurtain.engine.conditions import Scope, answer_to, roles_of, tests_of
from ironcurtain.engine.rules import is_contained
from ironcurtain.model.decision import Claim, Outcome
from ironcurtain.model.policy import ValueTest
from ironcurtain.model.resolved import Command, Opaque, Unknown
from ironcurtain.model.roles import Category, category, is_carried, sends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ironcurtain.engine.conditions import Test
    from ironcurtain.model.policy import Rule, Tool
    from ironcurtain.model.resolved import Value
    from ironcurtain.model.roles import Role

_NOBODY: Final = Claim(None, ())
View: TypeAlias = tuple[object, ...]
Spoken: TypeAlias = tuple[frozenset["Role"], str | None]
"""The roles, or the one argument, whose values a test looks at."""


class Answer(Enum):
    """What is known of a question."""

    NO = 0
    YES = 1
    ERROR = 2
    OPEN = 3
    """More values may change it."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the facts of a call."""

    needs: int = 0
    """One of these must be there; none of them if there are none."""
    bars: int = 0
    """None of these may."""
    errors: int = 0
    """Each of these makes it an error, whatever else is there."""

    @property
    def facts(self) -> int:
        """Everything that it looks at."""
        return self.needs | self.bars | self.errors

    def answer(self, facts: int, still: int) -> Answer:
        """Return the answer for a call that has these facts, and may still come to have those."""
        if facts & self.errors:
            return Answer.ERROR
        if facts & self.bars:
            return Answer.NO
        if self.needs and not facts & self.needs:
            return Answer.OPEN if still & (self.needs | self.errors) else Answer.NO
        return Answer.OPEN if still & (self.bars | self.errors) else Answer.YES


@dataclass(frozen=True, slots=True)
class Count:
    """A limit of how many values there are."""

    counter: int
    least: int
    most: int | None
    allowing: bool
    unknown: int
    """The fact that some cannot be counted."""

    def holds(self, facts: int, counts: Sequence[int]) -> bool:
        """Return whether the limit is kept, as the engine says."""
        if not counts[self.counter]:
            return False
        if facts & self.unknown:
            return not self.allowing and self.most is None
        return self.least <= counts[self.counter] and (self.most is None or counts[self.counter] <= self.most)


@dataclass(frozen=True, slots=True)
class Ask:
    """One test, as far as it looks at the whole call."""

    question: Question | None
    count: Count | None
    local: bool
    """Its question is asked of the claim's own value."""
    fallible: bool = False
    """It can be an error, which no exception of its rule excuses."""

    def settled(self, facts: int, still: int) -> Answer:
        """Return what is known before the call is complete."""
        said = self.question.answer(facts, still) if self.question else Answer.YES
        if said is Answer.YES and (self.count or self.local):
            return Answer.OPEN
        return said

    def final(self, facts: int, counts: Sequence[int]) -> Answer:
        """Return the answer for a complete call; of a local test, what its limit says."""
        said = self.question.answer(facts, 0) if self.question else Answer.YES
        if said is Answer.YES and self.count and not self.count.holds(facts, counts):
            return Answer.NO
        return said


@dataclass(frozen=True, slots=True)
class Exemption:
    """One group of a rule's exceptions; it holds if everything it asks does, an error included."""

    asks: tuple[Ask, ...]
    facts: int


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a rule asks of the whole call when it is applied to claims of one role."""

    asks: tuple[Ask, ...]
    exemptions: tuple[Exemption, ...]
    tells: int
    """Facts that change what it comes to, though it holds with and without them."""
    facts: int
    """Everything that it looks at, exceptions aside."""

    @property
    def local(self) -> bool:
        """Whether it also depends on the claim's own value."""
        return any(ask.local for ask in self.asks)

    @property
    def fallible(self) -> bool:
        """Whether it can be an error."""
        return any(ask.fallible for ask in self.asks)


@dataclass(frozen=True, slots=True)
class Part:
    """What one option of one argument adds to a call."""

    facts: int
    counts: tuple[int, ...]
    selected: frozenset[tuple[str, str]] = frozenset()
    """The arguments that select modes, with what they select."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A rule as it stands in the chain for claims of one role."""

    requirement: int
    certain: bool
    """If its requirement holds and asks nothing of the claim's own value, it decides: what follows does not matter."""


@dataclass(slots=True)
class Sight:
    """What the rules of one or more chains can see of the calls of one tool."""

    tool: Tool
    facts: dict[object, int] = field(default_factory=dict)
    """The bit of each fact."""
    counters: list[Spoken] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)
    """For each counter, the count from which on nothing changes."""
    origins: dict[frozenset[str], int] = field(default_factory=dict)
    """The sources that rules tell apart, each set with the fact that one of it was seen."""
    always: int = 0
    """The facts that matter whatever the rules say: which claims there are."""
    _probes: list[tuple[frozenset[str], Callable[[Scope], int]]] = field(default_factory=list)
    """What finds facts, with the roles and arguments that it looks at."""
    _asked: dict[object, Question] = field(default_factory=dict)
    _requirements: dict[Requirement, int] = field(default_factory=dict)
    _voids: list[tuple[Requirement, int, int, tuple[int, ...]]] = field(default_factory=list)
    """Each requirement with the facts that it is void, that it is excepted, and that each exemption is void."""
    _weights: list[tuple[int, dict[tuple[int, int], tuple[int, bool] | None]]] = field(default_factory=list)
    """For each requirement the facts that it looks at, and what was found out about it by these."""
    _chains: dict[Role | None, list[tuple[_Entry, ...]]] = field(default_factory=dict)
    _different: tuple[tuple[_Entry, ...], ...] = ()
    """The chains of all roles, each once."""
    _settled: dict[tuple[int, int], int] = field(default_factory=dict)
    _views: dict[tuple[Role | None, int, tuple[int, ...]], int] = field(default_factory=dict)
    _numbers: dict[View, int] = field(default_factory=dict)

    @classmethod
    def of(cls, tool: Tool, chains: Iterable[tuple[Sequence[Rule], str]]) -> Sight:
        """Look at chains of rules, each with its sandbox."""
        sight = cls(tool)
        for carried in sorted(filter(is_carried, tool.roles)):
            sight.always |= sight._present(frozenset({carried}))
        sight.always |= sight._present(tool.roles)
        viewers: tuple[Role | None, ...] = (None, *sorted(tool.roles))
        for rules, sandbox in chains:
            for role in viewers:
                entries = tuple(sight._entry(rule, sandbox, role) for rule in rules if may_apply(rule, tool, role))
                sight._chains.setdefault(role, []).append(entries)
        sight._different = tuple(dict.fromkeys(chain for chains in sight._chains.values() for chain in chains))
        return sight

    def is_present(self, facts: int, role: Role | None = None) -> bool:
        """Return whether a call has a value of a carried role, or any value at all."""
        return bool(facts & self._present(self.tool.roles if role is None else frozenset({role})))

    def part(self, by_role: dict[Role, tuple[Value, ...]], leaf: str, shown: tuple[Value, ...]) -> Part:
        """Return what values of one argument add to a call."""
        scope = Scope(by_role, {leaf: shown} if shown else {})
        names = {*by_role, *([leaf] if shown else [])}
        facts = 0
        for looked_at, probe in self._probes:
            if not looked_at.isdisjoint(names):
                facts |= probe(scope)
        return Part(facts, tuple(len(_all_of(scope, each)) for each in self.counters))

    def sources_part(self, sources: frozenset[str] | None) -> Part:
        """Return what the sources of a call add to it."""
        seen = [fact for wanted, fact in self.origins.items() if sources is None or not wanted.isdisjoint(sources)]
        facts = self._fact("sources not known") if sources is None else 0
        return Part(facts | sum(seen), (0,) * len(self.counters))

    def added(self, counts: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
        """Return counts added up, as far as limits tell them apart."""
        return tuple([min(a + b, limit) for a, b, limit in zip(counts, more, self.limits, strict=True)])

    def settled(self, facts: int, still: int) -> int:
        """Return the facts that matter, of a call that may still come to have others."""
        known = self._settled.get((facts, still))
        if known is None:
            known = self._settled[facts, still] = self._settle(facts, still)
        return known

    def _settle(self, facts: int, still: int) -> int:
        known = [self._weighed_once(number, facts, still) for number in range(len(self._voids))]
        mattering: set[int] = set()
        for chain in self._different:
            for entry in chain:
                weighed = known[entry.requirement]
                if weighed is not None:
                    mattering.add(entry.requirement)
                    if entry.certain and weighed[1]:
                        break  # nothing behind it is asked
        kept = facts & self.always
        for number, weighed in enumerate(known):
            kept |= weighed[0] if weighed is not None and number in mattering else self._voids[number][1]
        return kept

    def _weighed_once(self, number: int, facts: int, still: int) -> tuple[int, bool] | None:
        mask, found = self._weights[number]
        key = (facts & mask, still & mask)
        if key not in found:
            found[key] = self._weighed(number, *key)
        return found[key]

    def _weighed(self, number: int, facts: int, still: int) -> tuple[int, bool] | None:
        """Return the facts that matter to a requirement, and whether it certainly holds; nothing if it is void."""
        requirement, void, excepted, voids = self._voids[number]
        if facts & void:
            return None
        said = [ask.settled(facts, still) for ask in requirement.asks]
        if Answer.NO in said:
            return None
        own = facts & (requirement.facts | requirement.tells)
        lifted = Answer.YES if facts & excepted else Answer.NO
        left = 0
        for exemption, gone in zip(requirement.exemptions, voids, strict=True):
            if lifted is not Answer.YES:
                holds = Answer.NO if facts & gone else _holds(exemption.asks, facts, still)
                left |= gone if holds is Answer.NO else facts & exemption.facts
                lifted = lifted if holds is Answer.NO else holds
        if lifted is Answer.YES:
            return (own | excepted, False) if requirement.fallible else None
        return own | left, lifted is Answer.NO and all(each is Answer.YES for each in said)

    def view(self, role: Role | None, facts: int, counts: tuple[int, ...]) -> int:
        """Return the number of what claims of a role see of a complete call."""
        key = (role, facts, counts)
        if key not in self._views:
            seen = (role, *(tuple(self._seen(chain, facts, counts)) for chain in self._chains[role]))
            self._views[key] = self._numbers.setdefault(seen, len(self._numbers))
        return self._views[key]

    def _seen(self, chain: tuple[_Entry, ...], facts: int, counts: tuple[int, ...]) -> Iterable[object]:
        for entry in chain:
            standing = self._standing(entry.requirement, facts, counts)
            if standing is not None:
                yield entry.requirement, standing
                if entry.certain and len(standing) == 1:
                    return

    def _standing(self, number: int, facts: int, counts: tuple[int, ...]) -> View | None:
        """Return what a requirement comes to: nothing if it is void, else what is told, and the exemptions left."""
        requirement, void, excepted, voids = self._voids[number]
        own = [ask.final(facts, counts) for ask in requirement.asks]
        if facts & void or _fails(requirement.asks, own):
            return None
        told = (facts & requirement.tells, tuple(own))
        if Answer.ERROR in own:
            return (told,)
        left: list[View] = []
        lifted = bool(facts & excepted)
        for index, (exemption, gone) in enumerate(zip(requirement.exemptions, voids, strict=True)):
            said = [ask.final(facts, counts) for ask in exemption.asks]
            if not facts & gone and not _fails(exemption.asks, said):
                left.append((index, *said))
                lifted = lifted or not any(ask.local for ask in exemption.asks)
        if lifted:
            return (told, "excepted") if requirement.local and requirement.fallible else None
        return (told, *left)

    # --- Building. ---

    def _entry(self, rule: Rule, sandbox: str, role: Role | None) -> _Entry:
        allowing = rule.then is Outcome.ALLOW
        conditions = rule.conditions
        asks = [ask for test in tests_of(conditions) for ask in self._asks(test, role, allowing=allowing)]
        if reads_only(rule):
            asks.append(Ask(Question(bars=self._sending()), None, local=False))
        if _goes_along(rule, role):
            beside = self._beside(rule.named, sandbox if rule.elsewhere else None)
            asks.append(Ask(Question(needs=beside), None, local=False))
        tells = 0
        if conditions.sources is not None and not allowing:
            tells = self._fact("sources not known")
            asks.append(Ask(Question(needs=self._origin(conditions.sources)), None, local=False))
        groups = [
            tuple(ask for test in group for ask in self._asks(test, role, allowing=not allowing))
            for group in conditions.unless
        ]
        requirement = Requirement(
            tuple(asks), tuple(Exemption(group, _facts_of(group)) for group in groups), tells, _facts_of(asks)
        )
        reaching = allowing and role is not None and category(role) in (Category.URL, Category.PLACE)
        certain = not (rule.joined or rule.unanswered or rule.elsewhere or reaching or requirement.local)
        return _Entry(self._numbered(requirement), certain)

    def _numbered(self, requirement: Requirement) -> int:
        if requirement not in self._requirements:
            number = self._requirements[requirement] = len(self._voids)
            voids = tuple(self._fact(("void", number, index)) for index in range(len(requirement.exemptions)))
            void, excepted = self._fact(("void", number)), self._fact(("excepted", number))
            self._voids.append((requirement, void, excepted, voids))
            mask = requirement.facts | requirement.tells | void | excepted | sum(voids)
            for exemption in requirement.exemptions:
                mask |= exemption.facts
            self._weights.append((mask, {}))
        return self._requirements[requirement]

    def _asks(self, test: Test, role: Role | None, *, allowing: bool) -> Iterable[Ask]:
        """Yield what a test asks of the whole call when claims of a role are decided."""
        own = role is not None and role in roles_of(test)
        local = role is not None and own and not is_carried(role)
        value_part, limit = _parted(test)
        fallible = not allowing and _can_fail(test)
        question = None
        if value_part is not None and not local:
            looked_at = frozenset({role}) if own and role is not None else roles_of(test)
            question = self._tested(value_part, looked_at, allowing=allowing)
        count = None
        if limit is not None and limit.max_items is None and (limit.min_items or 0) <= 1:
            there = Question(needs=self._there(limit), bars=self._unknown(limit, allowing=True) if allowing else 0)
            yield Ask(there, None, local=False)
        elif limit is not None:
            count = self._limited(limit, allowing=allowing)
        if question is not None or count is not None or (local and value_part is not None):
            yield Ask(question, count, local and value_part is not None, fallible)

    def _fact(self, key: object) -> int:
        return self.facts.setdefault(key, 1 << len(self.facts))

    def _present(self, roles: frozenset[Role]) -> int:
        def probe(scope: Scope) -> int:
            return fact if any(role in scope.by_role for role in roles) else 0

        fact = self._noticed(("present", roles), roles, probe)
        return fact

    def _noticed(self, key: object, names: Iterable[str], probe: Callable[[Scope], int]) -> int:
        """Return the fact, and have it found from now on in values of these roles and arguments."""
        if key not in self.facts:
            self._probes.append((frozenset(names), probe))
        return self._fact(key)

    def _there(self, test: ValueTest) -> int:
        """Return the fact that a test has a value to count."""
        spoken = (test.roles, test.leaf)
        fact = self._noticed(("there", spoken), _names(spoken), lambda scope: fact if _all_of(scope, spoken) else 0)
        return fact

    def _unknown(self, test: ValueTest, *, allowing: bool) -> int:
        """Return the fact that some values of a test cannot be counted."""
        spoken = (test.roles, test.leaf)

        def probe(scope: Scope) -> int:
            return fact if any(_is_uncountable(value, allowing=allowing) for value in _all_of(scope, spoken)) else 0

        fact = self._noticed(("unknown", spoken, allowing), _names(spoken), probe)
        return fact

    def _limited(self, test: ValueTest, *, allowing: bool) -> Count:
        spoken = (test.roles, test.leaf)
        if spoken not in self.counters:
            self.counters.append(spoken)
            self.limits.append(1)
        counter = self.counters.index(spoken)
        least, most = max(test.min_items or 0, 1), test.max_items
        self.limits[counter] = max(self.limits[counter], least, (most or 0) + 1)
        return Count(counter, least, most, allowing, self._unknown(test, allowing=allowing))

    def _sending(self) -> int:
        roles = frozenset(role for role in self.tool.roles if sends(role))
        return self._present(roles)

    def _beside(self, roles: frozenset[Role], sandbox: str | None) -> int:
        """Return the fact that there is a value of the roles, outside the sandbox if one is given."""
        if sandbox is None:
            return self._present(roles & self.tool.roles)

        def probe(scope: Scope) -> int:
            claims = (Claim(role, (value,)) for role in roles for value in scope.by_role.get(role, ()))
            return fact if any(not is_contained(claim, sandbox) for claim in claims) else 0

        fact = self._noticed(("outside", roles, sandbox), roles, probe)
        return fact

    def _origin(self, wanted: frozenset[str]) -> int:
        return self.origins.setdefault(wanted, self._fact(("origin", wanted)))

    def _tested(self, test: Test, roles: frozenset[Role], *, allowing: bool) -> Question:
        """Return a test, asked of all values of the roles, or of its argument, as a question."""
        leaf = test.leaf if isinstance(test, ValueTest) else None
        key = (test, roles, allowing)
        if key in self._asked:
            return self._asked[key]
        names = _names((roles, leaf))
        there, turned = self._fact((key, "there")), self._fact((key, "turned"))
        failed = self._fact((key, "error")) if not allowing and _can_fail(test) else turned

        def probe(scope: Scope) -> int:
            seen = scope if leaf is not None else Scope({r: v for r, v in scope.by_role.items() if r in roles}, {})
            if not seen.all_of(test):
                return 0
            said = answer_to(test, _NOBODY, seen, allowing=allowing)
            if not isinstance(said, bool):
                return there | failed
            return there | (turned if said != allowing else 0)

        self._probes.append((names, probe))
        # All values must pass in what loosens, and one is enough in what tightens; an error there outweighs the others.
        errors = failed if failed != turned else 0
        self._asked[key] = Question(needs=there, bars=turned) if allowing else Question(needs=turned, errors=errors)
        return self._asked[key]


def _holds(asks: Sequence[Ask], facts: int, still: int) -> Answer:
    """Return whether an exemption holds: an error counts as a yes, since what cannot be evaluated never loosens."""
    said = [ask.settled(facts, still) for ask in asks]
    if Answer.NO in said:
        return Answer.NO
    return Answer.OPEN if Answer.OPEN in said else Answer.YES


def _fails(asks: Sequence[Ask], said: Sequence[Answer]) -> bool:
    """Return whether one of them says no, whatever the claim's own value is."""
    return any(each is Answer.NO and not (ask.local and ask.fallible) for ask, each in zip(asks, said, strict=True))


def _facts_of(asks: Iterable[Ask]) -> int:
    found = 0
    for ask in asks:
        found |= ask.question.facts if ask.question else 0
        found |= ask.count.unknown if ask.count else 0
    return found


def _goes_along(rule: Rule, role: Role | None) -> bool:
    """Return whether an escalate covers claims of a role only beside values of the roles that it names."""
    return rule.then is Outcome.ESCALATE and bool(rule.named) and role is not None and role not in rule.named


def _parted(test: Test) -> tuple[Test | None, ValueTest | None]:
    """Return what a test asks of values, and what it asks of their number."""
    if not isinstance(test, ValueTest):
        return test, None
    limit = None if test.min_items is None and test.max_items is None else test
    value_part = replace(test, min_items=None, max_items=None)
    return None if value_part == ValueTest(test.roles, test.leaf) else value_part, limit


def _can_fail(test: Test) -> bool:
    if not isinstance(test, ValueTest):
        return False
    return any(part is not None for part in (test.pattern, test.minimum, test.maximum, test.max_length))


def _names(spoken: Spoken) -> frozenset[str]:
    roles, leaf = spoken
    return frozenset(roles) if leaf is None else frozenset({leaf})


def _all_of(scope: Scope, spoken: Spoken) -> list[Value]:
    roles, leaf = spoken
    if leaf is not None:
        return [*scope.by_leaf.get(leaf, ())]
    return [value for role in roles for value in scope.by_role.get(role, ())]


def _is_uncountable(value: Value, *, allowing: bool) -> bool:
    return isinstance(value, (Unknown, Opaque)) or (allowing and isinstance(value, Command) and not value.plain)
