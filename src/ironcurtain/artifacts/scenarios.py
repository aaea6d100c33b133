"""Scenarios: calls with the decision they deserve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironcurtain.artifacts.rules import OUTCOMES
from ironcurtain.errors import Refusal
from ironcurtain.wire.call import call_from

if TYPE_CHECKING:
    from ironcurtain.artifacts.item import Item
    from ironcurtain.model.call import ToolCall
    from ironcurtain.model.decision import Outcome


@dataclass(frozen=True, slots=True)
class Scenario:
    """One call and what is expected of it."""

    description: str
    call: ToolCall
    expected: Outcome
    reasoning: str = ""
    derived: bool = False
    """It was made from the policy, not written by hand."""


def read_scenarios(item: Item) -> tuple[Scenario, ...]:
    """The scenarios of a file."""
    members = item.members(("version", "scenarios"), ("generatedAt", "constitutionHash", "inputHash"))
    if members["version"].count(least=1) != 1:
        members["version"].fail("a version this program does not know", "write 1")
    return tuple(_scenario(element) for element in members["scenarios"].elements())


def _scenario(item: Item) -> Scenario:
    members = item.members(("description", "request", "expectedDecision", "source"), ("reasoning",))
    source = members["source"].word(("handwritten", "generated"))
    try:
        call = call_from(members["request"].value)
    except Refusal as refusal:
        members["request"].fail(refusal.reason, refusal.help)
    return Scenario(
        description=members["description"].text(),
        call=call,
        expected=OUTCOMES[members["expectedDecision"].word(OUTCOMES)],
        reasoning=members["reasoning"].text(blank=True) if "reasoning" in members else "",
        derived=source == "generated",
    )
