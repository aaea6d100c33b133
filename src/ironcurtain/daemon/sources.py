"""Whose results have come to whom: what rules mean by where something comes from.

Nobody can follow a text through a model. So whoever has seen a result may have put it into anything that it does from
then on: a session, all its programs, a task with all its helpers. INVARIANT: a result is counted before it is given,
for everybody who may hear of it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Sources:
    """By holder: a session, a task, or a program, which shares with whoever started it."""

    def __init__(self) -> None:
        self._seen: defaultdict[str, set[str]] = defaultdict(set)
        self._above: dict[str, str] = {}

    def of(self, holder: str) -> frozenset[str]:
        """The tools whose results it, or whoever it shares with, has seen by now, each as `server/tool`."""
        return frozenset(tool for each in self._line(holder) for tool in self._seen.get(each, ()))

    def knows(self, holder: str) -> bool:
        """Whether it has been heard of."""
        return holder in self._seen

    def add(self, holder: str, tools: Iterable[str]) -> None:
        """It sees results of these, and so does whoever it shares with."""
        seen = [*tools]
        for each in self._line(holder):
            self._seen[each].update(seen)

    def share(self, holder: str, above: str) -> None:
        """From now on the two hear of each other."""
        if holder not in self._line(above):
            self._above[holder] = above
            self.add(above, self._seen.get(holder, ()))

    def part(self, holder: str) -> None:
        """They do not any more; what was seen was seen."""
        self._seen[holder].update(self.of(holder))
        self._above.pop(holder, None)

    def forget(self, holder: str) -> None:
        """It is over; whoever shared with it has seen what it had."""
        for each in [each for each, above in self._above.items() if above == holder]:
            self.part(each)
        self._seen.pop(holder, None)
        self._above.pop(holder, None)

    def _line(self, holder: str) -> Iterator[str]:
        at: str | None = holder
        while at:
            yield at
            at = self._above.get(at)
