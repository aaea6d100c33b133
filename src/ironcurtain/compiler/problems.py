"""What is wrong with a statement for these tools and this set-up, and what would be right."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Problem(Exception):  # noqa: N818 - it is shown to the owner, not raised at them
    """A statement that cannot be compiled; it says why, and the nearest thing that would be right."""

    def __init__(self, message: str, help_: str = "", missing: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help_
        self.missing = missing
        """A name that the set-up does not have."""

    def __str__(self) -> str:
        return f"{self.message}; {self.help}" if self.help else self.message


def nearest(word: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return the known words that are most like a word, nearest first."""
    by_fold = {each.lower(): each for each in known}
    return [by_fold[found] for found in difflib.get_close_matches(word.lower(), by_fold, count, 0.55)]


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """Write a suggestion, or what to do where nothing is near."""
    found = nearest(word, known, 1)
    return f"did you mean {found[0]}?" if found else otherwise
