"""Conditions of rules to be, which can be joined."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ironcurtain.compiler.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class Disjoint(Problem):
    """Two limits on one argument that no value satisfies."""


PRESENT: dict[str, Any] = {"given": True}
"""A predicate that any value satisfies, and nothing that is left out."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some conditions on values, all of which must hold."""

    paths: tuple[frozenset[str], tuple[str, ...]] | None = None
    domains: tuple[frozenset[str], tuple[str, ...]] | None = None
    lists: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = ()
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    """Arguments that are left out."""

    def with_(self, other: Part) -> Part:
        """Return both together; raise a `Problem` where a rule cannot hold both."""
        if (self.paths and other.paths) or (self.domains and other.domains):
            raise Problem("two limits on the same files or hosts", "write one of them, or two statements")
        both = {**self.values}
        for key, predicate in other.values.items():
            both[key] = merged(key, both.get(key, {}), predicate)
        lists, absent = (*self.lists, *other.lists), self.absent | other.absent
        return Part(self.paths or other.paths, self.domains or other.domains, lists, both, absent)

    @property
    def roles(self) -> frozenset[str]:
        """The roles that a rule with these conditions names."""
        named = set[str]()
        for test in (self.paths, self.domains, *self.lists):
            named |= test[0] if test else frozenset()
        for key in self.values:
            kind, _, name = key.partition(":")
            named |= set(name.split("+")) if kind == "role" else set()
        return frozenset(named)

    def fields(self) -> dict[str, Any]:
        """Return the conditions as they stand in a rule."""
        found: dict[str, Any] = {}
        if self.paths:
            within = sorted(self.paths[1])
            found["paths"] = {"roles": sorted(self.paths[0]), "within": within if len(within) > 1 else within[0]}
        if self.domains:
            found["domains"] = {"roles": sorted(self.domains[0]), "allowed": sorted(self.domains[1])}
        if self.lists:
            found["lists"] = [{"roles": sorted(r), "allowed": sorted(a)} for r, a in sorted(self.lists, key=repr)]
        if self.values:
            found["values"] = {key: dict(predicate) for key, predicate in sorted(self.values.items())}
        return found


def merged(key: str, one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, Any]:
    """Two predicates on one argument, as one that holds where both do."""
    found = {**one, **two}
    for name in one.keys() & two.keys():
        if one[name] == two[name]:
            continue
        if name in ("minimum", "minItems"):
            found[name] = max(one[name], two[name])
        elif name in ("maximum", "maxItems", "maxLength"):
            found[name] = min(one[name], two[name])
        elif name == "in" and (shared := [value for value in one["in"] if value in two["in"]]):
            found["in"] = shared
        elif name == "in" and _folded(one["in"]).isdisjoint(_folded(two["in"])):
            raise Disjoint(f"two limits on {key.partition(':')[2]}", "write one of them, or two statements")
        elif name == "matches":
            found["matches"] = sorted({*patterns_in(one), *patterns_in(two)})
        else:
            raise Problem(f"two limits on {key.partition(':')[2]}", "write one of them, or two statements")
    if "equals" in found and "in" in found and found["equals"] not in found["in"]:
        raise Disjoint(f"two limits on {key.partition(':')[2]}", "write one of them, or two statements")
    return found


def patterns_in(predicate: Mapping[str, Any]) -> list[str]:
    """Return the patterns that a text must match."""
    said = predicate.get("matches", [])
    return [said] if isinstance(said, str) else [*said]


def _folded(values: Iterable[object]) -> set[str]:
    return {str(value).lstrip("#@").casefold() for value in values}


@dataclass(frozen=True, slots=True)
class Ground:
    """What a limit comes to for one tool."""

    alternatives: tuple[Part, ...] = (Part(),)
    """One of them must hold."""
    unless: tuple[Part, ...] = ()
    """None of them may."""
    covers: frozenset[str] = frozenset()
    """The roles that it speaks of, so that a permission covers them."""
    names: frozenset[str] = frozenset()
    """The arguments that it speaks of."""
    question: str = ""
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def with_(self, other: Ground) -> Ground:
        """Return both limits together."""
        return Ground(
            tuple(_together(self.alternatives, other.alternatives)),
            (*self.unless, *other.unless),
            self.covers | other.covers,
            self.names | other.names,
            " and ".join(filter(None, (self.question, other.question))),
            (*self.sources, *other.sources),
            (*self.notes, *other.notes),
        )


def _together(some: Iterable[Part], others: Sequence[Part]) -> Iterator[Part]:
    """Yield every two together, less those that no value satisfies; raise a `Problem` if none is left."""
    left, last = False, Problem("nothing satisfies both limits")
    for one in some:
        for two in others:
            try:
                both = one.with_(two)
            except Disjoint as problem:
                last = problem
                continue
            left = True
            yield both
    if not left:
        raise last


def joined(grounds: Iterable[Ground]) -> Ground:
    """Return all limits together."""
    whole = Ground()
    for each in grounds:
        whole = whole.with_(each)
    return whole
