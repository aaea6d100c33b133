"""Two independent readings of a constitution: where they differ the owner is asked, and until then the stricter holds.

The two are compared for all calls. A tool about which they agree is decided as the first reading says. One that the
first decides more strictly throughout is left to it, one that the second does to that. Where each is stricter
somewhere, both hold: what either forbids is forbidden, what either asks about is asked about, the permissions are those
of the first, and *guards* stop what no permission of the second covers. A guard denies (or asks, where the second
reading asks otherwise) unless the conditions of one of these permissions hold; `unless` reads them as an allow does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.model.roles import CONTAINABLE, Category, Role, category, is_carried

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ironcurtain.analysis.diff import Change, Difference
    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.engine.policy import Policy
    from ironcurtain.model.policy import Tool

Rules = list[dict[str, Any]]
_ON_VALUES: Final = ("paths", "domains", "lists", "values")
_TIGHTENS, _OTHERWISE = 3, 7
"""The last layer of rules that forbid or ask, and the layer of rules that ask where nothing permits."""
_TOGETHER: Final = tuple(
    map(frozenset, (("equals", "in"), ("minimum", "maximum"), ("minItems", "maxItems"), ("matches",), ("maxLength",)))
)
"""Tests of a predicate that must agree with each other."""
_IN_A_PERMISSION: Final = frozenset({"server", "tool", "roles", "unless", *_ON_VALUES})


@dataclass(frozen=True, slots=True)
class Dispute:
    """A sentence that was read in two ways, with a call that shows the difference."""

    number: int
    """Of the sentence, from 1."""
    first: tuple[str, ...]
    second: tuple[str, ...]
    changes: tuple[Change, ...]
    """What becomes of calls if the second reading holds instead of the first; none if nothing does."""


def stricter(first: Rules, second: Rules, difference: Difference, policy: Policy) -> Rules:
    """Return rules that allow, for every tool, only what both readings allow; `policy` knows the tools."""
    if difference.equal:
        return first
    changed: dict[tuple[str, str], set[bool]] = {}
    for change in difference.changes:
        changed.setdefault((change.server, change.tool), set()).add(change.widens)
    doubted = {(server, tool) for server, tool in (d.partition(":")[0].split("/", 1) for d in difference.doubts)}
    narrowed = {key for key, widens in changed.items() if widens == {False}} - doubted  # the second is stricter
    mixed = {key for key, widens in changed.items() if len(widens) > 1} | doubted  # or may be, for all we know
    rules = _for(first, lambda key: key not in narrowed)
    others = _renamed(_for(second, (narrowed | mixed).__contains__))
    rules += _for(others, narrowed.__contains__)
    rules += [rule for rule in _for(others, mixed.__contains__) if _layer(rule) <= _TIGHTENS]
    for key in sorted(mixed):
        here = _for(others, key.__eq__)
        rules += _guards(_for(first, key.__eq__), here, policy.tools[key], policy.setup.sandbox)
    return _distinct(sorted(rules, key=_layer))


def _distinct(rules: Rules) -> Rules:
    """The same rules, each with a name of its own."""
    seen: dict[str, int] = {}
    found: Rules = []
    for number, rule in enumerate(rules):
        if rule.get("guard") and rule in rules[:number]:
            continue
        seen[rule["name"]] = seen.get(rule["name"], 0) + 1
        count = seen[rule["name"]]
        kept = {key: value for key, value in rule.items() if key != "guard"}
        found.append(kept if count == 1 else {**kept, "name": f"{rule['name']}-{count}"})
    return found


def _layer(rule: dict[str, Any]) -> int:
    if rule.get("guard"):  # after what asks, before what permits
        return 4 if rule["then"] == "deny" else 5
    if rule["then"] == "deny":
        return 1
    if rule["then"] == "allow":
        return 6
    return 2 if rule.get("joined") else _OTHERWISE if rule.get("elsewhere") else _TIGHTENS


# --- Guards: a permission of the first reading holds only where one of the second does, too. ---


def _guards(first: Rules, second: Rules, tool: Tool, sandbox: str) -> Iterator[dict[str, Any]]:
    """Yield the rules that stop what no permission of the second reading covers, for one tool.

    There is one for the claims of each role and one for all claims, because a permission covers the roles it names.
    """
    allows = [rule for rule in second if rule["then"] == "allow" and rule["if"].keys() <= _IN_A_PERMISSION]
    otherwise = [rule for rule in second if _layer(rule) == _OTHERWISE]
    opened = [rule["if"]["domains"] for rule in first if rule["then"] == "allow" and "domains" in rule["if"]]
    for role in (*sorted(tool.roles), None):
        covering = [rule for rule in allows if _covers(rule, role) and not _opens_more(rule, role, opened)]
        asking = [rule for rule in otherwise if _covers(rule, role)]
        inside = [_inside(tool, role, sandbox)] if _may_be_contained(tool, role) else []
        yield from _guard("deny", [*map(_on_values, (*covering, *asking)), *inside], tool, role)
        if asking:  # but what the first reading neither permits nor asks about stays denied
            reached = [rule for rule in first if _layer(rule) > _TIGHTENS and _covers(rule, role)]
            yield from _guard("deny", [*map(_on_values, reached), *inside], tool, role)
            yield from _guard("escalate", [*map(_on_values, covering), *inside], tool, role)
        plain = [_on_values(rule) for rule in covering if "unless" not in rule["if"]]
        for rule in covering:  # where its exception might hold, only a permission without exceptions will do
            for group in rule["if"].get("unless", ()):
                then = "escalate" if asking else "deny"
                yield from _guard(then, [*plain, *inside], tool, None, _both(group, _on_values(rule)))


def _guard(
    then: str, unless: Sequence[dict[str, Any]], tool: Tool, role: str | None, also: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    if {} in unless:  # something permits without a condition
        return
    named = {"roles": [role]} if role and not also else {}
    conditions = {"server": [tool.server], "tool": [tool.name], **named, **(also or {})}
    yield {
        "name": f"both-readings-{tool.server}-{tool.name}-{role or 'call'}",
        "description": "one of two readings does not permit it",
        "if": {**conditions, "unless": [*unless]} if unless else conditions,
        "then": then,
        "guard": True,
    }


def _on_values(rule: dict[str, Any]) -> dict[str, Any]:
    return {key: rule["if"][key] for key in _ON_VALUES if key in rule["if"]}


def _both(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, Any]:
    """Return conditions that hold where both do; only the first where they cannot be held together."""
    values = {**two.get("values", {})}
    for key, predicate in one.get("values", {}).items():
        if _clash(values.get(key, {}).keys(), predicate.keys()):
            return {**one}
        values[key] = {**values.get(key, {}), **predicate}
    if any(key in one and key in two for key in ("paths", "domains")):
        return {**one}
    lists = [*one.get("lists", ()), *two.get("lists", ())]
    return {**one, **two, **({"values": values} if values else {}), **({"lists": lists} if lists else {})}


def _clash(one: Collection[str], two: Collection[str]) -> bool:
    """Return whether two predicates on one argument might leave no value: such a rule would not load."""
    return any(not pair.isdisjoint(one) and not pair.isdisjoint(two) for pair in _TOGETHER)


def _covers(rule: dict[str, Any], role: str | None) -> bool:
    """Return whether a rule that names its tool speaks of claims of a role."""
    named = _named(rule["if"])
    return not named or role in named or role is None or is_carried(Role(role))


def _opens_more(rule: dict[str, Any], role: str | None, opened: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the first reading may open a private host by its name that this permission does not name."""
    if role is None or category(Role(role)) is not Category.URL or not opened:
        return False
    allowed = set(rule["if"].get("domains", {"allowed": ["*"]})["allowed"])
    literal = not any(name.startswith(("@", "*")) for name in allowed)
    return not literal and not all(set(test["allowed"]) <= allowed for test in opened)


def _may_be_contained(tool: Tool, role: str | None) -> bool:
    return role in CONTAINABLE or (role is None and bool(tool.roles) and tool.roles <= CONTAINABLE)


def _inside(tool: Tool, role: str | None, sandbox: str) -> dict[str, Any]:
    roles = [role] if role else sorted(tool.roles)
    return {"paths": {"roles": roles, "within": sandbox}}


def _named(conditions: dict[str, Any]) -> frozenset[str]:
    """Return the roles that a permission speaks of."""
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
