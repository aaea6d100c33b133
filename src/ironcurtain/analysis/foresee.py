"""What the analysis expects of a single call, without asking the pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironcurtain.analysis.regions import view_of
from ironcurtain.model.decision import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.analysis.facts import Part
    from ironcurtain.analysis.options import Option
    from ironcurtain.analysis.regions import Judge, Key, Region
    from ironcurtain.analysis.space import ToolSpace


@dataclass(frozen=True, slots=True)
class Foreseen:
    """All regions of one tool."""

    space: ToolSpace
    regions: Mapping[Key, Region]
    _parts: Mapping[int, Part]
    """What each option adds to a call."""

    @classmethod
    def of(cls, space: ToolSpace, judge: Judge) -> Foreseen:
        """Look at every region of a space."""
        parts = {id(option): group.part for c in space.columns for group in c.groups for option in group.options}
        return cls(space, {region.key: region for region in judge.regions(space)}, parts)

    def outcome(self, options: Iterable[Option]) -> Outcome | None:
        """Return the outcome of a call that holds these options, some for each argument; nothing if it is unknown."""
        sight = self.space.sight
        chosen = [id(option) for option in options]
        facts, counts = 0, sight.nothing
        selected: set[tuple[str, str]] = set()
        for part in (self._parts[each] for each in chosen):
            facts, counts = facts | part.facts, sight.added(counts, part.counts)
            selected |= part.selected
        if len({name for name, _ in selected}) < len(selected):
            return None  # an argument would be in another mode than the others select
        region = self.regions.get(view_of(self.space, sight.settled(sight.start, facts, 0), counts))
        if region is None:
            return None
        held = [choice for choices in region.columns for choice in choices.all if id(choice.option) in chosen]
        return max((*region.said, *(choice.outcomes[0] for choice in held)), default=Outcome.ALLOW)
