"""Two readings of one constitution: where they differ the stricter holds, until the owner has looked.

The result is the built-in chain with what the other reading forbids in front, and without what it does not grant. That
it is nowhere looser than either is not argued but checked, by comparing it with both for all calls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.policy import POLICY, build

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.analysis.diff import Change, Difference
    from ironcurtain.artifacts.policy import Bundle, Loaded, Surroundings

_ROUNDS: Final = 8

Rules = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Opinions:
    """What two readings come to."""

    rules: Rules
    """Those that hold: nowhere looser than either."""
    difference: Difference
    """From the built-in reading to the model's."""


def loaded_with(bundle: Bundle, rules: Rules, surroundings: Surroundings) -> Loaded:
    """The policy of a bundle with other rules."""
    policy: Any = bundle.items[POLICY].value
    changed: Any = {**policy, "rules": rules}
    item = Item(changed, POLICY)
    return build(replace(bundle, items={**bundle.items, POLICY: item}), surroundings)


def joined(bundle: Bundle, own: Rules, others: Rules, surroundings: Surroundings) -> Opinions:
    """The stricter of two readings, for the tools and lists of a bundle."""

    def loaded(rules: Rules) -> Loaded:
        return loaded_with(bundle, rules, surroundings)

    mine, its = loaded(own), loaded(others)
    difference = diff_policies(mine, its, surroundings.now)
    if difference.equal:
        return Opinions(own, difference)
    return Opinions(_stricter(own, others, loaded, its, surroundings.now), difference)


def _stricter(own: Rules, others: Rules, loaded: Callable[[Rules], Loaded], its: Loaded, now: float) -> Rules:
    rules = own
    named = {rule["name"]: rule for rule in others}
    for number in range(_ROUNDS):
        left = diff_policies(its, loaded(rules), now)
        looser = [change for change in left.changes if change.widens]
        if not looser:
            return rules
        last = number == _ROUNDS - 1 or bool(left.doubts)
        for change in looser:
            rules = _shut(rules, change) if last else _tightened(rules, change, named)
    return rules


def _tightened(rules: Rules, change: Change, others: dict[str, dict[str, Any]]) -> Rules:
    """With what the other reading forbids there; or, if it only does not grant it, without what grants it here."""
    forbidding = [others[name] for name in change.rules if name in others and others[name]["then"] != "allow"]
    there = {rule["name"] for rule in rules}
    fresh = [rule for rule in forbidding if rule["name"] not in there]
    if fresh:
        return [*fresh, *rules]
    granting = {name for name in change.rules if name in there and name not in others}
    found: Rules = []
    for rule in rules:
        if rule["name"] in granting and rule["then"] != "deny" and change.tool in rule["if"].get("tool", ()):
            tools = [tool for tool in rule["if"]["tool"] if tool != change.tool]
            found += [{**rule, "if": {**rule["if"], "tool": tools}}] if tools else []
        else:
            found.append(rule)
    return found if found != rules else _shut(rules, change)


def _shut(rules: Rules, change: Change) -> Rules:
    """A tool about which the readings differ too much: it is as strict as the stricter, as a whole."""
    name = f"second-opinion-{change.server}-{change.tool}-{change.was.word}"
    if any(rule["name"] == name for rule in rules):
        return rules
    guard = {
        "name": name,
        "if": {"server": [change.server], "tool": [change.tool]},
        "then": change.was.word,
        "reason": "two readings of the constitution differ about this tool",
    }
    return [guard, *rules]
