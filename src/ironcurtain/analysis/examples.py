"""Calls that show a finding: put together from the options of a region, and decided by the whole pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironcurtain.mediation.decide import decide_call
from ironcurtain.model.call import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ironcurtain.analysis.regions import Choice, Region
    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.model.call import Json
    from ironcurtain.model.decision import Decision


@dataclass(frozen=True, slots=True)
class Example:
    """A call, and what was decided when it was tried."""

    call: ToolCall
    decision: Decision

    def fields(self) -> dict[str, Json]:
        """As a line for `ironcurtain check`."""
        return {
            "serverName": self.call.server,
            "toolName": self.call.tool,
            "arguments": self.call.arguments,
        }


def example_of(region: Region, choices: Iterable[Choice], loaded: Loaded, now: float) -> Example:
    """A call that holds these choices, decided."""
    choices = tuple(choices)
    chosen: dict[str, list[Json]] = {}
    for choice in choices:
        if choice.option.chosen:
            chosen.setdefault(choice.option.leaf, []).extend(choice.option.chosen)
    for choice in choices:
        if choice.option.items and not choice.option.chosen and choice.option.leaf in chosen:
            chosen[choice.option.leaf].append("")  # beside others, what is left out is an empty element
    call = ToolCall(region.tool.server, region.tool.name, region.space.arguments.build(chosen))
    return Example(call, decide_call(call, loaded, now).decision)
