"""Whether the conditions of a rule hold for a claim.

One reading for every condition on values: it looks at the claim's own values if the claim has a role it speaks of, else at all
values of its roles in the call. In an allow there must be one and all must pass; in a deny or escalate one is enough. What cannot
be known fails in an allow; see `_holds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ironcurtain.engine.pattern import TextTooLong
from ironcurtain.model.decision import Outcome
from ironcurtain.model.policy import DomainTest, ListTest, PathTest, ValueTest
from ironcurtain.model.resolved import CanonicalPath, CanonicalUrl, Command, Opaque, Party, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ironcurtain.model.call import CanonicalCall
    from ironcurtain.model.decision import Claim
    from ironcurtain.model.policy import Conditions, Rule
    from ironcurtain.model.resolved import Scalar, Value
    from ironcurtain.model.roles import Role

Test: TypeAlias = PathTest | DomainTest | ListTest | ValueTest


class ConditionError(Exception):
    """A condition was asked of a value it cannot be asked of."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The values of a whole call, by role and by leaf."""

    by_role: Mapping[Role, tuple[Value, ...]]
    by_leaf: Mapping[str, tuple[Value, ...]]

    @classmethod
    def of(cls, call: CanonicalCall) -> Scope:
        """Sort a call's values by role."""
        by_role: dict[Role, tuple[Value, ...]] = {}
        for item in call.values:
            by_role[item.role] = (*by_role.get(item.role, ()), item.value)
        return cls(by_role, call.leaves)

    def all_of(self, test: Test) -> tuple[Value, ...]:
        """Every value in the call that the test speaks of."""
        if isinstance(test, ValueTest) and test.leaf is not None:
            return self.by_leaf.get(test.leaf, ())
        return tuple(value for role in sorted(roles_of(test)) for value in self.by_role.get(role, ()))


def tests_of(conditions: Conditions) -> Iterator[Test]:
    """The conditions on values, in no particular order."""
    if conditions.paths:
        yield conditions.paths
    if conditions.domains:
        yield conditions.domains
    yield from conditions.lists
    yield from conditions.values


def roles_of(test: Test) -> frozenset[Role]:
    """The roles a test speaks of; none for a test on a leaf."""
    if isinstance(test, ValueTest):
        return frozenset() if test.role is None else frozenset({test.role})
    return test.roles


def conditions_hold(rule: Rule, tests: Iterable[Test], claim: Claim, scope: Scope) -> bool:
    """Whether all tests pass. A `ConditionError` counts only when every other test passes."""
    failure: ConditionError | None = None
    for test in tests:
        values = claim.values if claim.role in roles_of(test) else scope.all_of(test)
        try:
            if not _passes(test, values, scope, allowing=rule.then is Outcome.ALLOW):
                return False
        except ConditionError as error:
            failure = error
    if failure:
        raise failure
    return True


def _passes(test: Test, values: tuple[Value, ...], scope: Scope, *, allowing: bool) -> bool:
    if allowing:
        return bool(values) and all(_holds(test, value, scope, allowing=True) for value in values)
    failure: ConditionError | None = None
    for value in values:
        try:
            if _holds(test, value, scope, allowing=False):
                return True
        except ConditionError as error:
            failure = error
    if failure:
        raise failure
    return False


def _holds(test: Test, value: Value, scope: Scope, *, allowing: bool) -> bool:
    if isinstance(value, Unknown):
        return False
    if isinstance(value, Opaque):
        return not allowing
    if isinstance(value, Command) and not value.plain:
        if allowing:
            return False
        return value.unreadable or any(_is(test, part, scope, allowing=False) for part in (value.text, *value.parts))
    return _is(test, value, scope, allowing=allowing)


def _is(test: Test, value: Value, scope: Scope, *, allowing: bool) -> bool:
    if isinstance(test, PathTest):
        if not isinstance(value, CanonicalPath):
            return False
        return value.within(test.within) if allowing else value.named_within(test.within)
    if isinstance(test, DomainTest):
        host = host_of(value)
        return host is not None and (host in test.names or any(s in test.suffixes for s in suffixes_of(host)))
    if isinstance(test, ListTest):
        return key_of(value) in test.members
    return _satisfies(test, value, scope)


def _satisfies(test: ValueTest, value: Value, scope: Scope) -> bool:
    """Every part of the predicate; an error counts only when every other part holds."""
    if test.equals is not None and key_of(value) not in test.equals:
        return False
    if test.min_items is not None or test.max_items is not None:
        count = _count(scope.all_of(test))
        if not (test.min_items or 0) <= count <= (float("inf") if test.max_items is None else test.max_items):
            return False
        if count == float("inf") and test.max_items is not None:
            return False
    return _in_bounds(test, value) and _fits_text(test, value)


def _in_bounds(test: ValueTest, value: Value) -> bool:
    if test.minimum is None and test.maximum is None:
        return True
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        if not _fits_text(test, value):
            return False
        raise ConditionError("a number is expected")
    return (test.minimum is None or value >= test.minimum) and (test.maximum is None or value <= test.maximum)


def _fits_text(test: ValueTest, value: Value) -> bool:
    if test.max_length is None and test.matches is None:
        return True
    kind, text = key_of(value)
    if kind is not str or not isinstance(text, str):
        raise ConditionError("a string is expected")
    if test.max_length is not None and len(text) > test.max_length:
        return False
    try:
        return test.matches is None or test.matches(text)
    except TextTooLong as error:
        raise ConditionError(str(error)) from None


def _count(values: tuple[Value, ...]) -> float:
    return float("inf") if any(isinstance(value, (Unknown, Opaque)) for value in values) else len(values)


def key_of(value: Value) -> tuple[type, Scalar]:
    """A value for comparison: with its type, so that `true`, `1` and `"1"` are three."""
    if isinstance(value, (str, bool, int, float)):
        return (type(value), value)
    return (str, str(value))


def host_of(value: Value) -> str | None:
    """The host of a URL, or the domain of an address."""
    if isinstance(value, CanonicalUrl):
        return value.address.host
    return value.domain if isinstance(value, Party) else None


def suffixes_of(host: str) -> Iterator[str]:
    """What the host is below: `b.c` and `c` for `a.b.c`."""
    while "." in host:
        host = host.partition(".")[2]
        yield host


def directories_of(path: str) -> Iterator[str]:
    """The path itself and every directory above it."""
    while path != "/":
        yield path
        path = path.rpartition("/")[0] or "/"
    yield "/"
