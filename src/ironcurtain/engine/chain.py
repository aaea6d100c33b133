"""Finds the rules that can matter to a claim without looking at the others.

When a policy loads, the rules are sorted for each tool and role: those that can never apply are left out, and the rest
stand under the directory, host suffix or value their first condition asks for. A call then probes the ancestors of its
path, the suffixes of its host or the value itself, and looks only at what it finds there. The cost of a decision
follows the depth of a path, not the number of rules.

INVARIANT: leaving a rule out here never changes a decision: it could not have matched.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import merge
from typing import TYPE_CHECKING, Final

from ironcurtain.engine.conditions import (
    Test,
    directories_of,
    folded,
    host_of,
    key_of,
    only_equals,
    suffixes_of,
    tests_of,
)
from ironcurtain.model.decision import Outcome, Verdict
from ironcurtain.model.policy import DomainTest, ListTest, PathTest
from ironcurtain.model.resolved import CanonicalPath, Command, Opaque, Unknown
from ironcurtain.model.roles import READ_ROLES, is_carried

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.engine.conditions import Scope
    from ironcurtain.model.decision import Claim
    from ironcurtain.model.policy import Rule, Tool
    from ironcurtain.model.resolved import Scalar, Value
    from ironcurtain.model.roles import Role

_SPELLED_OUT: Final = 64  # members of a list that are indexed one by one; longer lists are asked as a whole


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that may decide a claim, with what remains to be asked."""

    order: int
    rule: Rule
    tests: tuple[Test, ...]
    says: Verdict
    reads_only: bool
    """An allow to read that names no tool or server: it does not cover a call that also sends."""

    @classmethod
    def of(cls, order: int, rule: Rule) -> Candidate:
        """A rule as a candidate."""
        reason = rule.reason or rule.description or f"the rule {rule.name} says {rule.then.word}"
        says = Verdict(rule.then, f"rule_{rule.then.word}", reason, rule.name)
        return cls(order, rule, tuple(tests_of(rule.conditions)), says, reads_only(rule))


@dataclass(slots=True)
class _Shelf:
    """The candidates whose first condition speaks of one role, by what it asks for."""

    within: dict[str, list[Candidate]] = field(default_factory=dict)
    named: dict[str, list[Candidate]] = field(default_factory=dict)
    below: dict[str, list[Candidate]] = field(default_factory=dict)
    equal: dict[tuple[type, Scalar], list[Candidate]] = field(default_factory=dict)
    listed: dict[frozenset[tuple[type, Scalar]], list[Candidate]] = field(default_factory=dict)
    restricting: list[Candidate] = field(default_factory=list)
    """All that deny or escalate, for values that might be anything."""

    def put(self, test: Test, candidate: Candidate) -> bool:
        """File a candidate under a test; answer whether the test is of a kind that can be filed."""
        if isinstance(test, PathTest):
            for directory in test.within:
                self.within.setdefault(directory, []).append(candidate)
        elif isinstance(test, DomainTest):
            for name in test.names:
                self.named.setdefault(name, []).append(candidate)
            for suffix in test.suffixes:
                self.below.setdefault(suffix, []).append(candidate)
        elif isinstance(test, ListTest) and len(test.members) > _SPELLED_OUT:
            self.listed.setdefault(_as_compared(test.members, candidate), []).append(candidate)
        elif isinstance(test, ListTest) or only_equals(test):
            for member in _as_compared(test.members if isinstance(test, ListTest) else test.equals or (), candidate):
                self.equal.setdefault(member, []).append(candidate)
        else:
            return False
        if candidate.rule.then is not Outcome.ALLOW:
            self.restricting.append(candidate)
        return True

    def find(self, value: Value) -> Iterator[list[Candidate]]:
        """Every candidate whose filed test this value can pass, and perhaps a few more."""
        if isinstance(value, (Opaque, Unknown, Command)):
            yield self.restricting
        if self.within and isinstance(value, CanonicalPath):
            yield from (self.within[d] for d in directories_of(value.text) if d in self.within)
        if (self.named or self.below) and (host := host_of(value)) is not None:
            yield self.named.get(host, [])
            yield from (self.below[suffix] for suffix in suffixes_of(host) if suffix in self.below)
        if self.equal or self.listed:
            for key in {(exact := key_of(value)), folded(exact)}:
                yield self.equal.get(key, [])
                yield from (candidates for members, candidates in self.listed.items() if key in members)


def _as_compared(members: Iterable[tuple[type, Scalar]], candidate: Candidate) -> frozenset[tuple[type, Scalar]]:
    """The members as they are looked up: in what tightens also folded, as it compares."""
    exact = frozenset(members)
    return exact if candidate.rule.then is Outcome.ALLOW else exact | frozenset(map(folded, exact))


@dataclass(slots=True)
class Chain:
    """The rules that can apply to claims of one role, for tools of one kind."""

    role: Role | None
    _shelves: dict[Role, _Shelf] = field(default_factory=dict)
    _always: list[Candidate] = field(default_factory=list)

    def put(self, candidate: Candidate) -> None:
        """Add a candidate; they come in the order of the policy."""
        for test in sorted(candidate.tests, key=lambda test: self.role not in test.roles):
            speaks_of = frozenset({self.role}) & test.roles or test.roles
            if speaks_of and all(self._shelves.setdefault(r, _Shelf()).put(test, candidate) for r in speaks_of if r):
                return
        self._always.append(candidate)

    def find(self, claim: Claim, scope: Scope) -> list[Candidate]:
        """What may decide the claim, besides what is always asked."""
        found: dict[int, Candidate] = {}
        for role, shelf in self._shelves.items():
            for value in claim.values if role == claim.role else scope.by_role.get(role, ()):
                for candidates in shelf.find(value):
                    for candidate in candidates:
                        found[candidate.order] = candidate
        return list(found.values())

    @property
    def always(self) -> list[Candidate]:
        """What is asked whatever the values are, in order."""
        return self._always


@dataclass(slots=True)
class RuleBook:
    """All rules of a policy, sorted for quick use."""

    rules: tuple[Rule, ...]
    _kinds: dict[tuple[bool, frozenset[Role], Role | None], Chain] = field(default_factory=dict)
    _prepared: dict[tuple[str, str, Role | None], tuple[Chain, Chain]] = field(default_factory=dict)
    _generic: list[tuple[int, Rule]] = field(default_factory=list)
    _specific: dict[tuple[str, str], list[tuple[int, Rule]]] = field(default_factory=dict)
    _named_tools: dict[str, list[tuple[int, Rule]]] = field(default_factory=dict)
    _patterned: list[tuple[int, Rule]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for order, rule in enumerate(self.rules):
            conditions = rule.conditions
            if not conditions.tools and not conditions.servers:
                self._generic.append((order, rule))
            elif conditions.tools and not any("*" in name for name in conditions.tools):
                for name in dict.fromkeys(conditions.tools):
                    self._named_tools.setdefault(name, []).append((order, rule))
            else:
                self._patterned.append((order, rule))

    def prepare(self, tools: Iterable[Tool]) -> None:
        """Sort for these tools now rather than at their first call."""
        for tool in tools:
            for role in (None, *tool.roles):
                self._for(tool, role)

    def candidates(self, tool: Tool, claim: Claim, scope: Scope) -> Iterable[Candidate]:
        """What may decide the claim, in the order of the policy."""
        chains = self._for(tool, claim.role)
        sources = [chain.always for chain in chains if chain.always]
        found = [candidate for chain in chains for candidate in chain.find(claim, scope)]
        if found:
            found.sort(key=_order)
            sources.append(found)
        return sources[0] if len(sources) == 1 else merge(*sources, key=_order)

    def _for(self, tool: Tool, role: Role | None) -> tuple[Chain, Chain]:
        """The chain that all tools of this kind share, and the one of the rules that name this tool."""
        key = (tool.server, tool.name, role)
        if key not in self._prepared:
            kind = (tool.side_effects, tool.roles, role)
            if kind not in self._kinds:
                self._kinds[kind] = _chain(self._generic, tool, role)
            self._prepared[key] = self._kinds[kind], _chain(self._naming(tool), tool, role)
        return self._prepared[key]

    def _naming(self, tool: Tool) -> Sequence[tuple[int, Rule]]:
        key = (tool.server, tool.name)
        if key not in self._specific:
            naming = [*self._named_tools.get(tool.name, ()), *self._patterned]
            self._specific[key] = sorted(
                (entry for entry in naming if _names(entry[1], tool)), key=lambda entry: entry[0]
            )
        return self._specific[key]


def _chain(rules: Sequence[tuple[int, Rule]], tool: Tool, role: Role | None) -> Chain:
    chain = Chain(role)
    for order, rule in rules:
        if may_apply(rule, tool, role):
            chain.put(Candidate.of(order, rule))
    return chain


def reads_only(rule: Rule) -> bool:
    """Whether it is an allow to read that names no tool or server: reading is not sending."""
    named = rule.conditions.tools or rule.conditions.servers
    return rule.then is Outcome.ALLOW and not named and not rule.named.isdisjoint(READ_ROLES)


def _names(rule: Rule, tool: Tool) -> bool:
    conditions = rule.conditions
    return (not conditions.tools or name_is_listed(tool.name, conditions.tools)) and (
        not conditions.servers or name_is_listed(tool.server, conditions.servers)
    )


def name_is_listed(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name is one of the patterns; `*` stands for any run of characters, nothing else is special."""
    return any(pattern == name or ("*" in pattern and _glob(pattern, name)) for pattern in patterns)


def _glob(pattern: str, name: str) -> bool:
    """Match the fixed pieces between stars from left to right, each as early as possible."""
    first, *middle, last = pattern.split("*")
    if not name.startswith(first) or not name.endswith(last) or len(name) < len(first) + len(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        at = name.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def may_apply(rule: Rule, tool: Tool, role: Role | None) -> bool:
    """Whether the rule applies to claims of this role of this tool, going by what does not change from call to call."""
    conditions = rule.conditions
    if conditions.side_effects is not None and conditions.side_effects != tool.side_effects:
        return False
    if conditions.roles and conditions.roles.isdisjoint(tool.roles):
        return False
    carried = role is not None and is_carried(role)
    if rule.named:
        return role in rule.named or (carried and rule.then is not Outcome.DENY)
    if rule.then is not Outcome.ALLOW or conditions.tools or conditions.servers:
        return True
    return carried or role is None


def _order(candidate: Candidate) -> int:
    return candidate.order
