"""Whether the conditions of a rule hold for a claim.

One reading for every condition on values: it looks at the claim's own values if the claim has a role it speaks of, else
at all values of its roles in the call. What loosens must be certain: in an allow, and in the `unless` of a deny or
escalate, there must be a value and all must pass. What tightens need only be possible: in a deny or escalate, and in
the `unless` of an allow, one is enough, and what cannot be known passes; see `_holds`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.engine.pattern import TextTooLong
from ironcurtain.model.decision import Outcome
from ironcurtain.model.policy import DomainTest, ListTest, PathTest, ValueTest, with_members
from ironcurtain.model.resolved import CanonicalPath, CanonicalUrl, Command, Opaque, Party, Remote, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ironcurtain.model.call import CanonicalCall
    from ironcurtain.model.decision import Claim
    from ironcurtain.model.policy import Conditions, Rule, Tool
    from ironcurtain.model.resolved import Scalar, Value
    from ironcurtain.model.roles import Role

Members: TypeAlias = "frozenset[tuple[type, Scalar]] | tuple[tuple[type, Scalar], ...]"
Test: TypeAlias = PathTest | DomainTest | ListTest | ValueTest


_NUMBER: Final = re.compile(
    r"(?:(?:tel|sms|whatsapp):)?\s*(?:\+|00)?\s*([1-9](?:[\s./()\u2010-\u2015-]*[0-9]){6,})", re.ASCII
)
"""What may be a telephone number, with its digits from the country on."""


class ConditionError(Exception):
    """A condition was asked of a value it cannot be asked of."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The values of a whole call, by role and by leaf."""

    by_role: Mapping[Role, tuple[Value, ...]]
    by_leaf: Mapping[str, tuple[Value, ...]]
    answers: dict[tuple[int, bool], bool | ConditionError] = field(default_factory=dict)
    """What a test said of the whole call: the same for every claim, and asked once."""
    sources: frozenset[str] | None = None

    @classmethod
    def of(cls, call: CanonicalCall) -> Scope:
        """Sort a call's values by role."""
        by_role: dict[Role, list[Value]] = {}
        for item in call.values:
            by_role.setdefault(item.role, []).append(item.value)
        return cls({role: tuple(values) for role, values in by_role.items()}, call.leaves, sources=call.sources)

    def all_of(self, test: Test) -> tuple[Value, ...]:
        """Every value in the call that the test speaks of."""
        if isinstance(test, ValueTest) and test.leaf is not None:
            return self.by_leaf.get(test.leaf, ())
        return tuple(value for role in sorted(test.roles) for value in self.by_role.get(role, ()))


def tests_of(conditions: Conditions) -> Iterator[Test]:
    """The conditions on values, in no particular order."""
    if conditions.paths:
        yield conditions.paths
    if conditions.domains:
        yield conditions.domains
    yield from conditions.lists
    yield from conditions.values


def polar_tests(rule: Rule) -> Iterator[tuple[Test, bool]]:
    """Every test of a rule, exceptions included, each with whether it is read as in an allow."""
    allowing = rule.then is Outcome.ALLOW
    for test in tests_of(rule.conditions):
        yield test, allowing
    for group in rule.conditions.unless:
        for test in group:
            yield test, not allowing


def with_members_of(tool: Tool, rules: Iterable[Rule]) -> Tool:
    """Return a tool in whose objects without a schema the members that rules name are seen by themselves."""
    tests = (test for rule in rules for test, _ in polar_tests(rule))
    named = dict.fromkeys(test.leaf for test in tests if isinstance(test, ValueTest) and test.leaf and "." in test.leaf)
    return replace(tool, arguments=with_members(tool.arguments, named)) if named else tool


def conditions_hold(rule: Rule, tests: Iterable[Test], claim: Claim, scope: Scope) -> bool:
    """Whether all tests pass. A `ConditionError` counts only when every other test passes."""
    failure: ConditionError | None = None
    allowing = rule.then is Outcome.ALLOW
    for test in tests:
        answer = answer_to(test, claim, scope, allowing=allowing)
        if answer is False:
            return False
        if answer is not True:
            failure = answer
    if failure:
        raise failure
    return True


def is_excepted(rule: Rule, claim: Claim, scope: Scope) -> bool:
    """Whether one group of the rule's `unless` holds in full, so that the rule does not match.

    INVARIANT: what cannot be evaluated never loosens. It fails in the exception of a deny or escalate, and the rule
    stays; it holds in the exception of an allow, and the permission is gone.
    """
    restricting = rule.then is not Outcome.ALLOW

    def holds(test: Test) -> bool:
        answer = answer_to(test, claim, scope, allowing=restricting)
        return answer if isinstance(answer, bool) else not restricting

    return any(all(map(holds, group)) for group in rule.conditions.unless)


def answer_to(test: Test, claim: Claim, scope: Scope, *, allowing: bool) -> bool | ConditionError:
    """What a test says of a claim, or of the whole call if the claim has no role that the test speaks of."""
    if claim.role in test.roles:
        return _answer(test, claim.values, scope, allowing=allowing)
    key = (id(test), allowing)
    if key not in scope.answers:
        scope.answers[key] = _answer(test, scope.all_of(test), scope, allowing=allowing)
    return scope.answers[key]


def _answer(test: Test, values: tuple[Value, ...], scope: Scope, *, allowing: bool) -> bool | ConditionError:
    try:
        return _passes(test, values, scope, allowing=allowing)
    except ConditionError as error:
        return error


def _passes(test: Test, values: tuple[Value, ...], scope: Scope, *, allowing: bool) -> bool:
    if not isinstance(test, ValueTest):
        return _all_or_any(test, values, allowing=allowing)
    if (test.given or _asks_of_texts(test)) and not _all_or_any(test, values, allowing=allowing):
        return False
    return (test.min_items is None and test.max_items is None) or _count_holds(test, scope, allowing=allowing)


def _all_or_any(test: Test, values: tuple[Value, ...], *, allowing: bool) -> bool:
    results = [_holds(test, value, allowing=allowing) for value in values]  # all of them, for their errors
    return bool(results) and all(results) if allowing else any(results)


def _holds(test: Test, value: Value, *, allowing: bool) -> bool:
    if isinstance(test, ValueTest) and test.given and (isinstance(value, Unknown) or not _asks_of_texts(test)):
        return not isinstance(value, Unknown)
    if isinstance(value, (Unknown, Opaque)):
        return not allowing
    if isinstance(value, Command) and allowing:
        return value.plain and _is(test, value, allowing=True)
    if isinstance(value, Command):
        parts = () if value.unreadable else (value.text, *value.parts)
        results = [_is(test, part, allowing=False) for part in parts]  # all, for their errors
        return value.unreadable or any(results)
    return _is(test, value, allowing=allowing)


def _is(test: Test, value: Value, *, allowing: bool) -> bool:
    if isinstance(test, PathTest):
        if not isinstance(value, CanonicalPath):
            return False
        return any(value.within(each) if allowing else value.named_within(each) for each in test.within)
    if isinstance(test, DomainTest):
        host = host_of(value)
        if isinstance(value, Remote) and allowing:
            return False
        return host is not None and (host in test.names or any(s in test.suffixes for s in suffixes_of(host)))
    if isinstance(test, ListTest):
        return _is_member(value, test.members, allowing=allowing)
    bounds, text = _in_bounds(test, value), _fits_text(test, value, allowing=allowing)  # both, for their errors
    return bounds and text and (test.equals is None or _is_member(value, test.equals, allowing=allowing))


def _is_member(value: Value, members: Members, *, allowing: bool) -> bool:
    """Exactly in an allow; folded in what tightens, where a second spelling must hide nothing."""
    key = key_of(value)
    return key in members or (not allowing and folded(key) in _folded(members))


@lru_cache(maxsize=4_096)
def _folded(members: Members) -> frozenset[tuple[type, Scalar]]:
    return frozenset(map(folded, members))


def folded(key: tuple[type, Scalar]) -> tuple[type, Scalar]:
    """A text without regard to case, width, spaces around it and a `#` or `@` before it; other values as they are.

    What may be a telephone number is its digits; digits are a number, whatever zeros stand before it.
    """
    kind, value = key
    if not isinstance(value, str):
        return key
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", value).casefold()).strip()
    bare = re.sub(r"^[#@\s]+", "", plain) or plain
    number = _NUMBER.fullmatch(bare)
    if bare.isascii() and bare.isdigit():
        return kind, bare.lstrip("0") or "0"
    return kind, re.sub("[^0-9]", "", number[1]) if number else bare


def _in_bounds(test: ValueTest, value: Value) -> bool:
    if test.minimum is None and test.maximum is None:
        return True
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConditionError("a number is expected")
    return (test.minimum is None or value >= test.minimum) and (test.maximum is None or value <= test.maximum)


def _fits_text(test: ValueTest, value: Value, *, allowing: bool) -> bool:
    if test.max_length is None and not test.matches:
        return True
    _, text = key_of(value)
    if isinstance(text, int) and not isinstance(text, bool) and test.max_length is None:
        text = str(text)  # a whole number is matched by its digits
    if not isinstance(text, str):
        raise ConditionError("a string is expected")
    try:
        answers = [matches(text) for matches in test.matches]
        if not allowing and test.matches and not text.isascii():  # asked in any case, for its errors
            other = unicodedata.normalize("NFKC", text)
            answers = [matches(other) or one for matches, one in zip(test.matches, answers, strict=True)]
    except TextTooLong as error:
        raise ConditionError(str(error)) from None
    return all(answers) and (test.max_length is None or len(text) <= test.max_length)


def _asks_of_texts(test: ValueTest) -> bool:
    """Whether the test asks what a value says, and not only whether there is one, or how many."""
    return bool(test.patterns) or (test.equals, test.minimum, test.maximum, test.max_length) != (None,) * 4


def _count_holds(test: ValueTest, scope: Scope, *, allowing: bool) -> bool:
    """How many there are. What cannot be counted is more than any limit, and no number to rest an allow on."""
    values = scope.all_of(test)
    if not values:
        return False
    if any(isinstance(v, (Unknown, Opaque)) or (allowing and isinstance(v, Command) and not v.plain) for v in values):
        return not allowing and test.max_items is None
    return (test.min_items or 0) <= len(values) and (test.max_items is None or len(values) <= test.max_items)


def only_equals(test: ValueTest) -> bool:
    """Whether the test asks for equality and for nothing that can be an error."""
    return test.equals is not None and not _asks_of_texts(replace(test, equals=None))


def key_of(value: Value) -> tuple[type, Scalar]:
    """A value for comparison: with its type, so that `true`, `1` and `"1"` are three."""
    if isinstance(value, (str, bool, int, float)):
        return (type(value), value)
    return (str, str(value))


def host_of(value: Value) -> str | None:
    """The host of a URL or of a place, or the domain of an address."""
    if isinstance(value, (CanonicalUrl, Remote)):
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
