"""Texts that stand for all texts: one for every combination of answers that patterns, equalities and lengths can give.

The patterns are run side by side; every combination of states they can be in together is visited once, by the shortest
text that leads there. What is found is complete unless the search had to stop; then it says so.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironcurtain.analysis.automata import TooLarge, compiled, letters_for, table_of
from ironcurtain.engine.pattern import MAX_TEXT

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_VISITED: Final = 40_000
_SHORT: Final = 64  # characters: up to here lengths are told apart inside the search


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts, and whether they stand for all."""

    found: tuple[str, ...]
    complete: bool
    answers: frozenset[tuple[bool, ...]] = frozenset()
    """The combinations of answers that the patterns give."""


def texts_for(
    patterns: Collection[tuple[str, bool]], lengths: Collection[int], besides: Collection[str], usual: str
) -> Texts:
    """Texts for patterns (each with whether its dot spans lines) and limits of length, none of them in `besides`."""
    long = [length for length in lengths if length > _SHORT]
    beyond = [MAX_TEXT] if patterns else []
    lengthy = [_of_length(count, besides) for limit in {*long, *beyond} for count in (limit, limit + 1)]
    short = sorted(length for length in lengths if length <= _SHORT)
    if not patterns:
        found = [usual, *(_of_length(count, besides) for limit in short for count in (limit, limit + 1) if count)]
        return Texts(tuple(dict.fromkeys([*found, *lengthy])), complete=True)
    texts = endings_for(patterns, "", besides, "", short)
    # Between the short and the long limits the patterns were not asked again: only limits beyond every text are exact.
    exact = texts.complete and all(length >= MAX_TEXT for length in long)
    return Texts(tuple(dict.fromkeys([*texts.found, *lengthy])), exact)


def _of_length(count: int, besides: Collection[str]) -> str:
    """A text of so many letters that is none of the others."""
    letters = (chr(code) * count for code in range(ord("a"), ord("z") + 1))
    return next((text for text in ("x" * count, *letters) if text not in besides), "x" * count)


def endings_for(
    sources: Collection[tuple[str, bool]],
    after: str,
    besides: Collection[str],
    without: str,
    lengths: list[int] | None = None,
) -> Texts:
    """What can stand behind a text so that the patterns give each combination of answers to the whole."""
    patterns = compiled(sources)
    letters = letters_for(patterns, without)
    try:
        tables = [table_of(pattern, letters, after) for pattern in patterns]
    except TooLarge:
        return Texts((), complete=False)
    limits = lengths or []
    counted = max(limits) + 1 if limits else 0
    beginnings = {text[:end] for text in besides for end in range(len(text) + 1)}
    start = (0, "", (0,) * len(tables))
    seen: set[tuple[int, str, tuple[int, ...]]] = set()  # not the start: nothing is no text
    pending = deque([("", start)])
    found: dict[tuple[tuple[bool, ...], tuple[bool, ...]], str] = {}
    while pending:
        text, (length, _, states) = pending.popleft()
        if text.strip() and text not in besides:
            accepted = tuple(state in table.final for table, state in zip(tables, states, strict=True))
            found.setdefault((accepted, tuple(length <= limit for limit in limits)), text)
        rows = [table.rows[state] for table, state in zip(tables, states, strict=True)]
        for index, following in enumerate(zip(*rows, strict=True)):
            longer = text + letters[index]
            place = (min(length + 1, counted), longer if longer in beginnings else "", following)
            if place not in seen:
                if len(seen) >= MAX_VISITED:
                    return Texts(tuple(found.values()), complete=False)
                seen.add(place)
                pending.append((longer, place))
    return Texts(tuple(found.values()), complete=True, answers=frozenset(accepted for accepted, _ in found))


def clean_endings(sources: Collection[tuple[str, bool]], after: str, besides: Collection[str], without: str) -> Texts:
    """The same with some letters only; complete if the others bring no other answers."""
    clean, whole = endings_for(sources, after, besides, without), endings_for(sources, after, besides, "")
    return Texts(clean.found, clean.complete and whole.complete and clean.answers == whole.answers, clean.answers)
