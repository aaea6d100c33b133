"""Two independent readings of a constitution: where they differ the owner is asked, and until then the stricter holds.

The two are compared for all calls. A tool about which they agree is decided as the first reading says. One that the
first decides more strictly throughout is left to it, one that the second does to that. Where each is stricter
somewhere, both hold: what either forbids is forbidden, what either asks about is asked about, and each permission of
the first stands together with each of the second (`sharing.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.compiler.sharing import shared
from ironcurtain.wire.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ironcurtain.analysis.diff import Change, Difference
    from ironcurtain.artifacts.policy import Loaded

Rules = list[dict[str, Any]]
_TIGHTENS: Final = 3
"""The last layer of rules that forbid or ask."""


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
    """Return rules that allow, for every tool, only what both readings allow."""
    if difference.equal:
        return first
    changed: dict[tuple[str, str], set[bool]] = {}
    for change in difference.changes:
        changed.setdefault((change.server, change.tool), set()).add(change.widens)
    doubted = {(server, tool) for server, tool in (d.partition(":")[0].split("/", 1) for d in difference.doubts)}
    narrowed = {key for key, widens in changed.items() if widens == {False}} - doubted  # the second is stricter
    mixed = {key for key, widens in changed.items() if len(widens) > 1} | doubted  # or may be, for all we know
    rules = _for(first, lambda key: key not in narrowed | mixed)
    others = _renamed(_for(second, (narrowed | mixed).__contains__))
    rules += _for(others, narrowed.__contains__)
    both = [*_for(first, mixed.__contains__), *_for(others, mixed.__contains__)]
    rules += [rule for rule in both if _layer(rule) <= _TIGHTENS]
    for key in sorted(mixed):
        rules += shared(_for(first, key.__eq__), _for(second, key.__eq__))
    return _distinct(sorted(rules, key=_layer))


def _distinct(rules: Rules) -> Rules:
    """The same rules, each with a name of its own, those that differ in their tools alone as one."""
    joined: dict[bytes, dict[str, Any]] = {}
    for rule in rules:
        key = canonical({**rule, "if": {key: value for key, value in rule["if"].items() if key != "tool"}})
        there = joined.setdefault(key, {**rule, "if": {**rule["if"], "tool": []}})
        there["if"]["tool"] += [tool for tool in rule["if"]["tool"] if tool not in there["if"]["tool"]]
    seen: dict[str, int] = {}
    found: Rules = []
    for rule in joined.values():
        count = seen[rule["name"]] = seen.get(rule["name"], 0) + 1
        found.append(rule if count == 1 else {**rule, "name": f"{rule['name']}-{count}"})
    return found


def _layer(rule: dict[str, Any]) -> int:
    if rule["then"] == "deny":
        return 1
    if rule["then"] == "allow":
        return 4
    return 2 if rule.get("joined") else 5 if rule.get("elsewhere") else _TIGHTENS


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
