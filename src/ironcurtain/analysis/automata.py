"""Patterns as small tables: where each class of letters leads from each state; equivalent states are one."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ironcurtain.engine.pattern import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.engine.pattern import Pattern

MAX_STATES: Final = 2_000
PLAIN: Final = "xabcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.,"
_SURROGATES: Final = range(0xD800, 0xE000)  # no text has any


class TooLarge(Exception):  # noqa: N818 - says what is
    """There are more states or classes than we are willing to look at."""


@dataclass(frozen=True, slots=True)
class Table:
    """One pattern."""

    rows: tuple[tuple[int, ...], ...]
    """For each state, where each class of letters leads. The first is where a text begins."""
    final: frozenset[int]
    """The states in which a text may end."""
    letters: tuple[str, ...]
    """Letters of every class: the ends of the pattern's ranges and their neighbours tell every two classes apart."""
    _pattern: Pattern
    _states: tuple[frozenset[int], ...]
    """The states of the pattern itself, one by one."""
    _classes: Mapping[tuple[frozenset[int], ...], int]
    """The number of each class, by where its letters lead from each of them."""
    _known: dict[str, int] = field(default_factory=dict)

    def kind(self, letter: str) -> int:
        """Return the class of a letter; raise `TooLarge` if it is in none of them."""
        if letter not in self._known:
            number = self._classes.get(tuple(self._pattern.step(state, letter) for state in self._states))
            if number is None:
                raise TooLarge
            self._known[letter] = number
        return self._known[letter]

    def after(self, text: str) -> int:
        """Return the state that a text leads to."""
        state = 0
        for letter in text:
            state = self.rows[state][self.kind(letter)]
        return state


@lru_cache(maxsize=1_024)
def table_of(source: str, *, dot_spans_lines: bool) -> Table:
    """Return the table of a pattern; raise `TooLarge` if it has too many states."""
    pattern = compile_pattern(source, dot_spans_lines=dot_spans_lines)
    letters = _letters_of(pattern)
    moves: dict[int, list[frozenset[int]]] = {}
    pending = list(pattern.start)
    while pending:
        state = pending.pop()
        if state not in moves:
            moves[state] = [pattern.step(frozenset({state}), letter) for letter in letters]
            pending += [following for reached in moves[state] for following in reached]
    classes: dict[tuple[frozenset[int], ...], int] = {}
    for index in range(len(letters)):
        classes.setdefault(tuple(row[index] for row in moves.values()), len(classes))
    bits = {state: 1 << number for number, state in enumerate(moves)}
    leads = [[sum(bits[each] for each in reached) for reached in signature] for signature in classes]
    start = sum(bits[state] for state in pattern.start)
    ends = sum(bit for state, bit in bits.items() if pattern.accepts(frozenset({state})))
    rows, final = _subsets(start, leads, ends)
    joined, kept = _joined(rows, final)
    return Table(joined, kept, tuple(letters), pattern, tuple(frozenset({state}) for state in moves), classes)


def _letters_of(pattern: Pattern) -> list[str]:
    ends = {ord(end) for end in pattern.ends()}
    near = {chr(code) for end in ends for code in (end - 1, end, end + 1) if _is_letter(code)}
    either_case = {form for char in near for form in (char, char.swapcase()) if len(form) == 1}
    return sorted({PLAIN[0], *either_case})


def _is_letter(code: int) -> bool:
    return 0 < code < 0x110000 and code not in _SURROGATES


def _subsets(start: int, leads: list[list[int]], ends: int) -> tuple[list[list[int]], list[bool]]:
    """Return the table over sets of states, each set as bits, and which of its rows are final."""
    numbers = {start: 0}
    sets = [start]
    rows: list[list[int]] = []
    for states in sets:  # grows as we go
        row = []
        for lead in leads:
            reached, left = 0, states
            while left:
                low = left & -left
                reached |= lead[low.bit_length() - 1]
                left ^= low
            if reached not in numbers:
                if len(numbers) >= MAX_STATES:
                    raise TooLarge
                numbers[reached] = len(sets)
                sets.append(reached)
            row.append(numbers[reached])
        rows.append(row)
    return rows, [bool(states & ends) for states in sets]


def _joined(rows: list[list[int]], final: list[bool]) -> tuple[tuple[tuple[int, ...], ...], frozenset[int]]:
    """Return the same with as few states as possible: those that no text tells apart become one."""
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
    return (
        tuple(tuple(kinds[following] for following in rows[first[kind]]) for kind in range(count)),
        frozenset(kind for kind in range(count) if final[first[kind]]),
    )
