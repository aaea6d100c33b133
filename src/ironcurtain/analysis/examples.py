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
        """Return the call as a line for `ironcurtain check`."""
        sources: list[Json] | None = None if self.call.sources is None else [*sorted(self.call.sources)]
        return {
            "serverName": self.call.server,
            "toolName": self.call.tool,
            "arguments": self.call.arguments,
            **({} if sources is None else {"sources": sources}),
        }


def example_of(region: Region, choices: Iterable[Choice], loaded: Loaded, now: float) -> Example:
    """Return a call that holds these choices, decided."""
    options = [choice.option for choice in choices]
    chosen: dict[str, list[Json]] = {}
    for option in options:
        if option.chosen:
            chosen.setdefault(option.leaf, []).extend(option.chosen)
    call = ToolCall(
        region.tool.server,
        region.tool.name,
        region.space.arguments.build(chosen),
        sources=next((option.sources for option in options if option.sources is not None), None),
    )
    return Example(call, decide_call(call, loaded, now).decision)
