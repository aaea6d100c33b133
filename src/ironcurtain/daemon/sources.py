"""Whose results have come to whom: what rules mean by where something comes from.

Nobody can follow a text through a model. So whoever has seen a result may have put it into anything that it does from
then on: a session, all its programs, a task with all its helpers. INVARIANT: a result is counted before it is given.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Sources:
    """By holder: a session, a task, or a program that nobody looks on at."""

    def __init__(self) -> None:
        self._seen: defaultdict[str, set[str]] = defaultdict(set)

    def of(self, holder: str) -> frozenset[str]:
        """The tools whose results it has seen, each as `server/tool`."""
        return frozenset(self._seen.get(holder, ()))

    def add(self, holder: str, tools: Iterable[str]) -> None:
        """It sees results of these."""
        self._seen[holder].update(tools)

    def forget(self, holder: str) -> None:
        """It is over."""
        self._seen.pop(holder, None)
