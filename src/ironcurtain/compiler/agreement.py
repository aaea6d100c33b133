"""Two independent readings of a constitution: where they differ the owner is asked, and until then the stricter holds.

The two are compared for all calls. A tool about which they agree is decided as the first reading says. One that the
first decides more strictly throughout is left to it, one that the second does to that. Where each is stricter
somewhere, what either forbids is forbidden, what either asks about is asked about, and only what both permit in the
same words or in words that a rule can hold together is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.compiler.parts import merged
from ironcurtain.compiler.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ironcurtain.analysis.diff import Change, Difference
    from ironcurtain.artifacts.policy import Loaded

Rules = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Dispute:
    """A sentence that was read in two ways, with a call that shows the difference."""

    number: int
    """Of the sentence, from 1."""
    first: tuple[str, ...]
    second: tuple[str, ...]
    changes: tuple[Change, ...]
    """What becomes of calls if the second reading holds instead of the first; none if nothing does."""


def stricter(first: Rules, second: Rules, difference: Difference) -> Rules:
    """Return rules that are, for every tool, nowhere looser than both readings."""
    if difference.equal:
        return first
    changed: dict[tuple[str, str], set[bool]] = {}
    for change in difference.changes:
        changed.setdefault((change.server, change.tool), set()).add(change.widens)
    doubted = {tuple(doubt.partition(":")[0].split("/", 1)) for doubt in difference.doubts}
    narrowed = {key for key, widens in changed.items() if widens == {False}} - doubted  # the second is stricter
    mixed = {key for key, widens in changed.items() if len(widens) > 1} | doubted  # or may be, for all we know
    rules = _for(first, lambda key: key not in narrowed | mixed)
    rules += _renamed(_for(second, narrowed.__contains__))
    mine, others = _for(first, mixed.__contains__), _renamed(_for(second, mixed.__contains__))
    rules += [rule for rule in (*mine, *others) if rule["then"] != "allow"]
    rules += _shared([r for r in mine if r["then"] == "allow"], [r for r in others if r["then"] == "allow"])
    return _distinct(sorted(rules, key=_layer))


def _distinct(rules: Rules) -> Rules:
    """The same rules, each with a name of its own."""
    seen: dict[str, int] = {}
    found: Rules = []
    for rule in rules:
        seen[rule["name"]] = seen.get(rule["name"], 0) + 1
        count = seen[rule["name"]]
        found.append(rule if count == 1 else {**rule, "name": f"{rule['name']}-{count}"})
    return found


def _layer(rule: dict[str, Any]) -> int:
    if rule["then"] == "deny":
        return 1
    if rule["then"] == "allow":
        return 4
    return 2 if rule.get("joined") else 5 if rule.get("elsewhere") else 3


def _shared(first: Rules, second: Rules) -> Rules:
    """The permissions that both readings grant: for each pair, what holds where both do."""
    found: Rules = []
    for one in first:
        for two in second:
            tools = sorted(set(one["if"]["tool"]) & set(two["if"]["tool"]))
            if not tools or one["if"]["server"] != two["if"]["server"]:
                continue
            both = _together(one["if"], two["if"])
            if both is not None:
                name = f"{one['name']}-and-{two['name'].rpartition('-')[0][-6:]}"
                found.append({**one, "name": name, "if": {**both, "server": one["if"]["server"], "tool": tools}})
    return found


def _together(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any] | None:
    """The conditions of two permissions, as those of one.

    Nothing where a rule cannot hold both, or where they differ in which roles they speak of.
    """
    if _named(one) != _named(two):
        return None
    found = dict(one)
    for key in ("paths", "domains", "roles", "origin"):
        if key in one and key in two and one[key] != two[key]:
            return None
        if key in two:
            found[key] = two[key]
    lists = [*one.get("lists", ()), *(each for each in two.get("lists", ()) if each not in one.get("lists", ()))]
    unless = [*one.get("unless", ()), *(each for each in two.get("unless", ()) if each not in one.get("unless", ()))]
    values = dict(one.get("values", {}))
    for key, predicate in two.get("values", {}).items():
        try:
            values[key] = merged(key, values.get(key, predicate), predicate)
        except Problem:
            return None
    found |= {key: value for key, value in (("lists", lists), ("unless", unless), ("values", values)) if value}
    return found


def _named(conditions: dict[str, Any]) -> frozenset[str]:
    """The roles that a permission speaks of."""
    named = set(conditions.get("roles", ()))
    for test in (conditions.get("paths"), conditions.get("domains"), *conditions.get("lists", ())):
        named |= set(test["roles"]) if test else set()
    for key in conditions.get("values", {}):
        named |= set(key[5:].split("+")) if key.startswith("role:") else set()
    return frozenset(named)


def _for(rules: Iterable[dict[str, Any]], wanted: Callable[[tuple[str, str]], bool]) -> Rules:
    found: Rules = []
    for rule in rules:
        server = rule["if"]["server"][0]
        tools = [tool for tool in rule["if"]["tool"] if wanted((server, tool))]
        if tools:
            found.append({**rule, "if": {**rule["if"], "tool": tools}})
    return found


def _renamed(rules: Rules) -> Rules:
    return [{**rule, "name": f"{rule['name']}-second"} for rule in rules]


def disputes(
    readings: Sequence[tuple[int, tuple[str, ...], tuple[str, ...], str]], difference: Difference, rules: Rules
) -> list[Dispute]:
    """Return the sentences that were read in two ways, each with the changes that its own rules make."""
    sentence_of = {rule["name"]: rule.get("principle", "") for rule in rules}
    found = []
    for number, first, second, text in readings:
        own = tuple(
            change for change in difference.changes if any(sentence_of.get(name) == text for name in change.rules)
        )
        found.append(Dispute(number, first, second, own))
    return found


def compare(first: Loaded, second: Loaded, now: float) -> Difference:
    """Return what changes if the second reading holds instead of the first."""
    return diff_policies(first, second, now)
