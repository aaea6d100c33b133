"""Gives every statement of a report an example: a call that it is about, as the engine decides it.

INVARIANT: what is said of a statement comes from the engine's decision of such a call, never from how the statement
was written. A statement whose own rules decide nothing shows a call that they would decide alone, with what decides it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.policy import POLICY, build
from ironcurtain.compiler.scenarios import derive_scenarios, is_inside
from ironcurtain.mediation.decide import decide_call
from ironcurtain.model.call import ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ironcurtain.artifacts.policy import Bundle, Surroundings
    from ironcurtain.compiler.product import Product, Told

_ALLOW: Final = "allow"
_ASK: Final = "escalate"
_DENY: Final = "deny"
_OTHERWISE: Final = "must ask otherwise"
"""Asks where nothing permits, so that a call of its tools may well be allowed."""


def exemplified(
    product: Product, scenarios: Iterable[Mapping[str, Any]], alone: Callable[[Told], Iterator[Mapping[str, Any]]]
) -> Product:
    """Return the product with an example for every statement.

    `alone` yields, for a statement that no scenario shows at work, calls that it would decide alone.
    """
    by_rule: dict[str, Mapping[str, Any]] = {}
    for scenario in scenarios:
        if is_inside(scenario):
            by_rule.setdefault(str(scenario["description"]).partition(", ")[0], scenario)

    def shown(told: Told) -> Told:
        found = [by_rule[name] for name in told.meaning.rules if name in by_rule]
        own = bool(found)
        found = found or ([*alone(told)] if told.meaning.rules and not told.meaning.problem else [])
        one = next((each for each in found if each["expectedDecision"] == _wanted(told)), found[0] if found else None)
        if one is None:
            return told
        by = "" if own else str(one.get("by", ""))
        return replace(told, outcome=one["expectedDecision"], example=one["request"], by=by)

    report = []
    for reported in product.report:
        told = tuple(map(shown, reported.told))
        report.append(replace(reported, told=told, warnings=(*reported.warnings, *_voided(told))))
    return replace(product, report=tuple(report))


def _voided(statements: Iterable[Told]) -> Iterator[str]:
    """Yield what is wrong with permissions and questions of which prohibitions leave nothing."""
    for each in statements:
        if each.outcome == _DENY and _wanted(each) != _DENY and each.by.startswith("must never"):
            yield f"nothing is left of {each.meaning.text} All of it is forbidden by: {each.by}"


def calls_alone(
    bundle: Bundle, surroundings: Surroundings, rules: Sequence[dict[str, Any]]
) -> Callable[[Told], Iterator[Mapping[str, Any]]]:
    """Return what yields the calls that the rules of a statement decide alone, each with what the policy decides.

    `rules` are those of all statements, also the ones that the policy leaves out because they decide nothing.
    """
    policy: Any = bundle.items[POLICY].value
    loaded = build(bundle, surroundings)
    said = {rule["name"]: str(rule.get("description", "")) for rule in rules}

    def calls(told: Told) -> Iterator[Mapping[str, Any]]:
        own = [rule for rule in rules if rule["name"] in told.meaning.rules]
        if not own:
            return
        rules_alone: Any = {**policy, "rules": own}
        item = Item(rules_alone, POLICY)
        by_itself = build(replace(bundle, items={**bundle.items, POLICY: item}), surroundings)
        for scenario in filter(is_inside, derive_scenarios(by_itself)):
            request = scenario["request"]
            sources = frozenset(request["sources"]) if "sources" in request else None
            call = ToolCall(request["serverName"], request["toolName"], request["arguments"], sources=sources)
            decision = decide_call(call, loaded, surroundings.now).decision
            by = said.get(decision.rule or "", "") or decision.reason
            yield {**scenario, "expectedDecision": decision.outcome.word, "by": by}

    return calls


def _wanted(told: Told) -> str:
    """Return what the mood of a statement would have the engine say."""
    text = told.meaning.text
    return _ALLOW if text.startswith("may") else _DENY if text.startswith("must never") else _ASK


def belied(product: Product) -> Iterator[str]:
    """Yield the statements of which the engine says less than they do: what they forbid or ask about is allowed."""
    for reported in product.report:
        for each in reported.told:
            permitted = each.by and each.meaning.text.startswith(_OTHERWISE)
            if each.outcome == _ALLOW and _wanted(each) != _ALLOW and not permitted:
                yield f"a call that it forbids or asks about would be allowed: {each.meaning.text}"
