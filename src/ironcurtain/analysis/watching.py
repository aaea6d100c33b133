"""Turns what rules ask of a whole call into questions about facts, and finds the facts of values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.analysis.facts import Ask, Asks, Count, Question, Requirement
from ironcurtain.engine.chain import reads_only
from ironcurtain.engine.conditions import Scope, answer_to, tests_of
from ironcurtain.engine.rules import is_contained
from ironcurtain.model.decision import Claim, Outcome
from ironcurtain.model.policy import ValueTest
from ironcurtain.model.resolved import Command, Opaque, Unknown
from ironcurtain.model.roles import Category, Role, category, is_carried, sends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ironcurtain.engine.conditions import Test
    from ironcurtain.model.policy import Rule, Tool
    from ironcurtain.model.resolved import Value

_NOBODY: Final = Claim(None, ())
_NOT_KNOWN: Final = "sources not known"
Spoken: TypeAlias = tuple[frozenset[Role], str | None]
"""The roles, or the one argument, whose values a test looks at."""


@dataclass(slots=True)
class Watcher:
    """Everything that rules ask of the calls of one tool."""

    tool: Tool
    reaching: bool = True
    """There are private hosts that are open to the allow rules that name them, and to no others."""
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
    _tests: dict[object, Question] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for roles in (self.tool.roles, *(frozenset({role}) for role in sorted(self.tool.roles) if is_carried(role))):
            self.always |= self._present(roles)

    def is_present(self, facts: int, role: Role | None = None) -> bool:
        """Return whether a call with these facts has a value of a carried role, or any value at all."""
        return bool(facts & self._present(self.tool.roles if role is None else frozenset({role})))

    def facts_of(self, scope: Scope) -> int:
        """Return the facts of some values."""
        names = {*scope.by_role, *scope.by_leaf}
        found = 0
        for looked_at, probe in self._probes:
            if not looked_at.isdisjoint(names):
                found |= probe(scope)
        return found

    def facts_of_sources(self, sources: frozenset[str] | None) -> int:
        """Return the facts of what was seen before a call; where that is not known, any of it may have been."""
        seen = [fact for wanted, fact in self.origins.items() if sources is None or not wanted.isdisjoint(sources)]
        return sum(seen) | (self.fact(_NOT_KNOWN) if sources is None else 0)

    def fact(self, key: object) -> int:
        """Return the bit of a fact."""
        return self.facts.setdefault(key, 1 << len(self.facts))

    def requirement(self, rule: Rule, sandbox: str, role: Role | None) -> tuple[Requirement, bool]:
        """Return what a rule asks of the whole call for claims of a role; and whether, if that holds, it decides."""
        allowing = rule.then is Outcome.ALLOW
        asks = [ask for test in tests_of(rule.conditions) for ask in self._asks(test, role, allowing=allowing)]
        if reads_only(rule):
            asks.append(Ask(Question(bars=self._present(frozenset(filter(sends, self.tool.roles))))))
        if _goes_along(rule, role):
            asks.append(Ask(Question(needs=self._beside(rule.named, sandbox if rule.elsewhere else None))))
        tells = 0
        if (wanted := rule.conditions.sources) is not None and not allowing:
            tells = self.fact(_NOT_KNOWN)
            seen = self.origins.setdefault(wanted, self.fact(("origin", wanted)))
            asks.append(Ask(Question(needs=seen)))
        exemptions = tuple(
            Asks.of(ask for test in group for ask in self._asks(test, role, allowing=not allowing))
            for group in rule.conditions.unless
        )
        found = Requirement(Asks.of(asks), exemptions, tells)
        reaching = self.reaching and allowing and role is not None and category(role) in (Category.URL, Category.PLACE)
        return found, not (rule.joined or rule.unanswered or rule.elsewhere or reaching or found.own.local)

    def _asks(self, test: Test, role: Role | None, *, allowing: bool) -> Iterator[Ask]:
        """Yield what a test asks of the whole call when claims of a role are decided."""
        own = frozenset({role}) & test.roles if role is not None else frozenset()
        value_part, limit = _parted(test)
        local = bool(own) and not any(map(is_carried, own)) and value_part is not None
        question = count = None
        if value_part is not None and not local:
            question = self._tested(value_part, own or test.roles, allowing=allowing)
        if limit is not None and limit.max_items is None and (limit.min_items or 0) <= 1:
            uncertain = self._uncountable(limit, allowing=True) if allowing else 0
            yield Ask(Question(needs=self._there(limit), bars=uncertain))
        elif limit is not None:
            count = self._limited(limit, allowing=allowing)
        if question is not None or count is not None or local:
            yield Ask(question, count, local, fallible=not allowing and _can_fail(test))

    def _noticed(self, key: object, names: Iterable[str], found: Callable[[Scope], bool]) -> int:
        """Return a fact, and have it looked for from now on in values of these roles and arguments."""
        if key not in self.facts:
            fact = self.fact(key)
            self._probes.append((frozenset(names), lambda scope: fact if found(scope) else 0))
        return self.facts[key]

    def _present(self, roles: frozenset[Role]) -> int:
        return self._noticed(("present", roles), roles, lambda scope: not roles.isdisjoint(scope.by_role))

    def _there(self, test: ValueTest) -> int:
        """Return the fact that a test has a value to count."""
        spoken = (test.roles, test.leaf)
        return self._noticed(("there", spoken), _names(spoken), lambda scope: bool(all_of(scope, spoken)))

    def _uncountable(self, test: ValueTest, *, allowing: bool) -> int:
        """Return the fact that some values of a test cannot be counted."""
        spoken = (test.roles, test.leaf)

        def found(scope: Scope) -> bool:
            return any(_is_uncountable(value, allowing=allowing) for value in all_of(scope, spoken))

        return self._noticed(("uncountable", spoken, allowing), _names(spoken), found)

    def _beside(self, roles: frozenset[Role], sandbox: str | None) -> int:
        """Return the fact that there is a value of the roles, outside the sandbox if one is given."""
        if sandbox is None:
            return self._present(roles & self.tool.roles)

        def found(scope: Scope) -> bool:
            claims = (Claim(role, (value,)) for role in roles for value in scope.by_role.get(role, ()))
            return any(not is_contained(claim, sandbox) for claim in claims)

        return self._noticed(("outside", roles, sandbox), roles, found)

    def _limited(self, test: ValueTest, *, allowing: bool) -> Count:
        spoken = (test.roles, test.leaf)
        if spoken not in self.counters:
            self.counters.append(spoken)
            self.limits.append(1)
        counter = self.counters.index(spoken)
        least, most = max(test.min_items or 0, 1), test.max_items
        self.limits[counter] = max(self.limits[counter], least, (most or 0) + 1)
        return Count(counter, least, most, allowing, self._uncountable(test, allowing=allowing))

    def _tested(self, test: Test, roles: frozenset[Role], *, allowing: bool) -> Question:
        """Return a test, asked of all values of the roles, or of its argument, as a question.

        In what loosens there must be a value and all must pass; in what tightens one is enough, and an error outweighs
        the others.
        """
        key = (test, roles, allowing)
        if key not in self._tests:
            leaf = test.leaf if isinstance(test, ValueTest) else None
            there, turned = self.fact((key, "there")), self.fact((key, "turned"))
            failed = self.fact((key, "error")) if not allowing and _can_fail(test) else turned

            def probe(scope: Scope) -> int:
                seen = scope if leaf is not None else Scope({r: v for r, v in scope.by_role.items() if r in roles}, {})
                if not seen.all_of(test):
                    return 0
                said = answer_to(test, _NOBODY, seen, allowing=allowing)
                if not isinstance(said, bool):
                    return there | failed
                return there | (turned if said != allowing else 0)

            self._probes.append((_names((roles, leaf)), probe))
            errors = failed if failed != turned else 0
            self._tests[key] = Question(needs=there, bars=turned) if allowing else Question(needs=turned, errors=errors)
        return self._tests[key]


def all_of(scope: Scope, spoken: Spoken) -> list[Value]:
    """Return the values of some roles, or of one argument."""
    roles, leaf = spoken
    if leaf is not None:
        return [*scope.by_leaf.get(leaf, ())]
    return [value for role in roles for value in scope.by_role.get(role, ())]


def _goes_along(rule: Rule, role: Role | None) -> bool:
    """Whether an escalate covers claims of a role only beside values of the roles that it names."""
    return rule.then is Outcome.ESCALATE and bool(rule.named) and role is not None and role not in rule.named


def _parted(test: Test) -> tuple[Test | None, ValueTest | None]:
    """What a test asks of values, and what it asks of their number."""
    if not isinstance(test, ValueTest):
        return test, None
    limit = None if test.min_items is None and test.max_items is None else test
    value_part = replace(test, min_items=None, max_items=None)
    return None if value_part == ValueTest(test.roles, test.leaf) else value_part, limit


def _can_fail(test: Test) -> bool:
    if not isinstance(test, ValueTest):
        return False
    return bool(test.patterns) or any(part is not None for part in (test.minimum, test.maximum, test.max_length))


def _names(spoken: Spoken) -> frozenset[str]:
    roles, leaf = spoken
    return frozenset(roles) if leaf is None else frozenset({leaf})


def _is_uncountable(value: Value, *, allowing: bool) -> bool:
    return isinstance(value, (Unknown, Opaque)) or (allowing and isinstance(value, Command) and not value.plain)
