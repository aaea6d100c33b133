"""Names with groups in brackets, which a program may take for any one character: `.ss[h]`.

Whoever chose the name must not choose how long it takes to compare it: groups are found in one pass, and a name of
another length is put aside before anything else is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text as it stands, or a group: itself, what its characters fold to, or any one character."""

    spellings: tuple[str, ...]
    any_one: bool = False


class Bracketed:
    """One name of a path, and all that it may be."""

    __slots__ = ("_digits", "_longest", "_pieces", "_shortest")

    def __init__(self, name: str, fold: Callable[[str], str]) -> None:
        parts = list(split(name))
        self._digits = all(grouped or (text.isascii() and text.isdigit()) for text, grouped in parts)
        self._pieces = [_group(text, fold) if grouped else _Piece((fold(text),)) for text, grouped in parts]
        # Of what has no bracket in it itself.
        lengths = [
            [len(text) for text in piece.spellings if not piece.any_one or "[" not in text] for piece in self._pieces
        ]
        ones = [[1] if piece.any_one else [] for piece in self._pieces]
        self._shortest = sum(min(each + one) for each, one in zip(lengths, ones, strict=True))
        self._longest = sum(max(each + one) for each, one in zip(lengths, ones, strict=True))

    def may_be(self, name: str) -> bool:
        """Whether one choice of spellings gives exactly this (folded) name."""
        if "[" not in name and not self._shortest <= len(name) <= self._longest:
            return False
        ends = {0}
        for piece in self._pieces:
            after = {end + len(text) for end in ends for text in piece.spellings if name.startswith(text, end)}
            ends = after | {end + 1 for end in ends if end < len(name)} if piece.any_one else after
            if not ends:
                return False
        return len(name) in ends

    def may_be_number(self) -> bool:
        """Whether it is one if its groups are digits."""
        return self._digits


def _group(text: str, fold: Callable[[str], str]) -> _Piece:
    odd = {fold(char) for char in text[1:-1] if not char.isascii()}
    return _Piece((fold(text), *(spelling for spelling in odd if len(spelling) != 1)), any_one=True)


def split(name: str) -> Iterator[tuple[str, bool]]:
    """The text of a name and its groups, in order: `a[bc]` is `a` and the group `[bc]`."""
    text = begin = 0
    while (begin := name.find("[", begin)) >= 0 and name.find("]", begin) >= 0:
        end = _end_of_group(name, begin)
        if end is None:
            begin += 1
            continue
        if text < begin:
            yield name[text:begin], False
        yield name[begin:end], True
        text = begin = end
    if text < len(name):
        yield name[text:], False


def _end_of_group(name: str, begin: int) -> int | None:
    """Where the group ends that begins here; a `]` that comes first is part of it, and so is a class: `[[:alpha:]]`."""
    at = begin + 1
    at += name[at : at + 1] in ("!", "^")
    at += name[at : at + 1] == "]"
    end_of_class, close = None, -1
    while at < len(name):
        if name[at] == "]":
            return at + 1
        if name[at] == "[" and name[at + 1 : at + 2] in (":", ".", "="):
            close = close if close >= at else name.find("]", at)
            if close < 0:
                return end_of_class
            if close > at + 2 and name[close - 1] == name[at + 1]:
                at = end_of_class = close + 1
                continue
        at += 1
    return end_of_class
