"""What the analysis expects of a single call, without asking the pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironcurtain.analysis.space import capped
from ironcurtain.model.decision import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.analysis.regions import Judge, Region
    from ironcurtain.analysis.space import Option, Summary, ToolSpace


@dataclass(frozen=True, slots=True)
class Foreseen:
    """All regions of one tool."""

    space: ToolSpace
    regions: Mapping[Summary, Region]
    _parts: Mapping[int, Summary]
    """What each option contributes to the summary."""

    @classmethod
    def of(cls, space: ToolSpace, judge: Judge) -> Foreseen:
        """Look at every region of a space."""
        parts = {id(option): group.part for c in space.columns for group in c.groups for option in group.options}
        return cls(space, {region.summary: region for region in judge.regions(space)}, parts)

    def outcome(self, options: Iterable[Option]) -> Outcome | None:
        """The outcome of a call that holds these options, one or more for each argument; nothing if it is unknown."""
        chosen = {id(option): self._parts[id(option)] for option in options}
        whole = next(iter(self.regions)).emptied()
        for part in chosen.values():
            whole = capped(whole.with_(part), self.space.limits)
        region = self.regions.get(whole.told_by(self.space.limits))
        if region is None:
            return None
        held = (choice for choices in region.columns for choice in choices if id(choice.option) in chosen)
        return max((*region.said, *(choice.outcomes[0] for choice in held)), default=Outcome.ALLOW)
