"""The permissions that two readings share: each of the first together with each of the second, for one tool.

A claim is permitted by two rules if both cover its role and the conditions of both hold. So a rule with the conditions
of both that names the roles which both cover permits exactly what both permit.

INVARIANT: where one rule cannot say what both say, there is none. That loses a permission and never adds one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ironcurtain.compiler.parts import merged
from ironcurtain.compiler.problems import Problem
from ironcurtain.model.roles import Category, Role, category
from ironcurtain.wire.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_Rule: TypeAlias = "dict[str, Any]"
_Conditions: TypeAlias = "Mapping[str, Any]"
_KNOWN: Final = frozenset({"server", "tool", "roles", "unless", "paths", "domains", "lists", "values"})
"""What may stand in a permission here; one that says more is shared with none."""


class _NothingShared(Exception):  # noqa: N818 - says what is
    """No rule says what both say, or nothing satisfies both."""


def shared(first: Iterable[_Rule], second: Iterable[_Rule]) -> Iterator[_Rule]:
    """Yield what both readings permit of one tool, and where both permit or ask, what one of them asks about."""
    one, two = ([rule for rule in rules if _permits(rule) or rule.get("elsewhere")] for rules in (first, second))
    known = {_meaning(rule) for rule in two}
    same = [rule for rule in one if _meaning(rule) in known]
    yield from same
    ours = {_meaning(rule) for rule in same}
    for rule in one:
        for other in two:
            if _permits(rule) and _permits(other) and not ours.isdisjoint((_meaning(rule), _meaning(other))):
                continue  # the one that both have permits as much
            try:
                conditions = _together(rule["if"], other["if"])
            except (_NothingShared, Problem):
                continue
            yield {**(other if _permits(rule) else rule), "if": conditions}


def _permits(rule: _Rule) -> bool:
    return bool(rule["then"] == "allow")


def _meaning(rule: _Rule) -> bytes:
    return canonical([rule["if"], rule["then"]])


def _together(one: _Conditions, two: _Conditions) -> dict[str, Any]:
    if not one.keys() | two.keys() <= _KNOWN:
        raise _NothingShared
    found: dict[str, Any] = {"server": one["server"], "tool": one["tool"]}
    for key, join in (("paths", _within_both), ("domains", _at_both)):
        if key in one and key in two:
            found[key] = join(one[key], two[key])
        elif key in one or key in two:
            found[key] = one.get(key) or two.get(key)
            if key == "domains" and _opens(found[key]):
                raise _NothingShared
    lists = [*one.get("lists", ()), *(each for each in two.get("lists", ()) if each not in one.get("lists", ()))]
    values = {**one.get("values", {})}
    for key, predicate in two.get("values", {}).items():
        values[key] = merged(key, values.get(key, {}), predicate)
    groups = [*one.get("unless", ()), *(each for each in two.get("unless", ()) if each not in one.get("unless", ()))]
    found |= {key: each for key, each in (("lists", lists), ("values", values), ("unless", groups)) if each}
    if roles := _covered(one, two, found):
        found["roles"] = sorted(roles)
    return found


def _covered(one: _Conditions, two: _Conditions, both: _Conditions) -> frozenset[str]:
    """Return the roles that both rules cover; none if they cover every role."""
    ours, theirs = _named(one), _named(two)
    roles = ours & theirs if ours and theirs else ours or theirs
    if not _named(both) <= roles or (ours and theirs and not roles):
        raise _NothingShared
    return roles


def _named(conditions: _Conditions) -> frozenset[str]:
    """Return the roles that a permission covers; none if it covers every role."""
    named = set(conditions.get("roles", ()))
    for test in (conditions.get("paths"), conditions.get("domains"), *conditions.get("lists", ())):
        named |= set(test["roles"]) if test else set()
    for key in conditions.get("values", {}):
        named |= set(key[5:].split("+")) if key.startswith("role:") else set()
    return frozenset(named)


def _opens(test: _Conditions) -> bool:
    """Return whether a limit names a host of a web address, which opens it even if it is private."""
    located = any(category(Role(role)) is Category.URL for role in test["roles"])
    return located and any(not name.startswith(("@", "*")) for name in test["allowed"])


def _within_both(one: _Conditions, two: _Conditions) -> dict[str, Any]:
    """Return the directories that lie within those of both limits."""
    if one["roles"] != two["roles"]:
        raise _NothingShared
    ours, theirs = (_several(test["within"]) for test in (one, two))
    inner = [a for a in ours if any(_is_below(a, b) for b in theirs)]
    inner += [b for b in theirs if b not in inner and any(_is_below(b, a) for a in ours)]
    if not inner:
        raise _NothingShared
    return {"roles": one["roles"], "within": inner if len(inner) > 1 else inner[0]}


def _several(said: str | Sequence[str]) -> list[str]:
    return [said] if isinstance(said, str) else [*said]


def _is_below(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")


def _at_both(one: _Conditions, two: _Conditions) -> dict[str, Any]:
    """Return the hosts of both limits; not a name that a star of the other covers, which would open a private host."""
    if one["roles"] != two["roles"]:
        raise _NothingShared
    found = [host for host in one["allowed"] if host in two["allowed"]]
    for some, others in ((one["allowed"], two["allowed"]), (two["allowed"], one["allowed"])):
        ends = tuple(star[1:] for star in others if star.startswith("*."))
        found += [host for host in some if host not in found and host.startswith("*.") and host.endswith(ends)]
    if not found:
        raise _NothingShared
    return {"roles": one["roles"], "allowed": found}
