"""Patterns as small tables: where each letter leads from each state; states that differ in nothing are one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironcurtain.engine.pattern import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.engine.pattern import Pattern

MAX_STATES: Final = 2_000
_SURROGATES: Final = range(0xD800, 0xE000)  # no text has any
_PLAIN: Final = "xabcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.,"


class TooLarge(Exception):  # noqa: N818 - says what is
    """There are more states than we are willing to look at."""


@dataclass(frozen=True, slots=True)
class Table:
    """One pattern, for one choice of letters."""

    rows: tuple[tuple[int, ...], ...]
    """For each state, where each letter leads. The first is where a text begins."""
    final: frozenset[int]
    """The states in which a text may end."""


def letters_for(patterns: Iterable[Pattern], without: str) -> list[str]:
    """Letters that stand for all: the ends of classes and their neighbours tell every two classes apart.

    Those a person can read come first, so that the shortest texts look like texts.
    """
    ends = {ord(end) for pattern in patterns for end in pattern.ends()}
    near = {chr(code) for end in ends for code in (end - 1, end, end + 1) if _is_letter(code)}
    either_case = {form for char in near for form in (char, char.swapcase()) if len(form) == 1}
    wanted = {_PLAIN[0], *either_case} - set(without)
    return sorted(wanted, key=lambda letter: (_PLAIN.find(letter) if letter in _PLAIN else len(_PLAIN), letter))


def _is_letter(code: int) -> bool:
    return 0 < code < 0x110000 and code not in _SURROGATES


def compiled(sources: Iterable[tuple[str, bool]]) -> list[Pattern]:
    """The patterns, each with whether its dot spans lines."""
    return [compile_pattern(source, dot_spans_lines=spans) for source, spans in sources]


def table_of(pattern: Pattern, letters: Sequence[str], after: str) -> Table:
    """The pattern as a table, begun behind a text."""
    start = pattern.start
    for char in after:
        start = pattern.step(start, char)
    numbers = {start: 0}
    states = [start]
    rows: list[list[int]] = []
    for state in states:  # grows as we go
        row = []
        for letter in letters:
            following = pattern.step(state, letter)
            if following not in numbers:
                if len(numbers) >= MAX_STATES:
                    raise TooLarge
                numbers[following] = len(states)
                states.append(following)
            row.append(numbers[following])
        rows.append(row)
    return _joined(rows, [pattern.accepts(state) for state in states])


def _joined(rows: list[list[int]], final: list[bool]) -> Table:
    """The same with as few states as possible: those that no text tells apart become one."""
    kinds = [int(ends) for ends in final]
    count = len(set(kinds))
    while True:
        shapes: dict[tuple[int, ...], int] = {}
        kinds = [
            shapes.setdefault((kind, *(kinds[following] for following in row)), len(shapes))
            for kind, row in zip(kinds, rows, strict=True)
        ]
        if len(shapes) == count:
            break
        count = len(shapes)
    first = {kind: index for index, kind in reversed(list(enumerate(kinds)))}
    return Table(
        tuple(tuple(kinds[following] for following in rows[first[kind]]) for kind in range(count)),
        frozenset(kind for kind in range(count) if final[first[kind]]),
    )
