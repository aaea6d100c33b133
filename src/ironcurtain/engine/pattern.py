"""Regular expressions whose matching time is linear in the text, whoever chose the text.

A small dialect, parsed into a nondeterministic automaton and run by keeping the set of states it can be in. There is no
backtracking, so there is nothing to blow up. Matching is always of the whole text, and classes are ASCII.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

MAX_STATES: Final = 1_000  # after repetitions are written out
MAX_SOURCE: Final = 1_000  # characters of an expression
MAX_TEXT: Final = 4_096  # characters
_CACHE: Final = 2_000  # steps remembered between calls
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
_REPEATS: Final = frozenset("*+?{")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}

Ranges = tuple[tuple[str, str], ...]
_CLASSES: Final[dict[str, Ranges]] = {
    "d": (("0", "9"),),
    "w": (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")),
    "s": ((" ", " "), ("\t", "\r")),
}


class PatternError(ValueError):
    """The expression is not in the dialect."""


class TextTooLong(ValueError):  # noqa: N818 - says what is
    """The text is longer than a pattern is asked about."""


@dataclass(frozen=True, slots=True)
class _Chars:
    """A set of characters."""

    ranges: Ranges
    negated: bool = False
    ignore_case: bool = False

    def has(self, char: str) -> bool:
        spellings = (char.lower(), char.upper()) if self.ignore_case and char.isascii() else (char,)
        return any(low <= c <= high for low, high in self.ranges for c in spellings) != self.negated


@dataclass(slots=True)
class Pattern:
    """A compiled expression."""

    source: str
    _chars: list[_Chars | None] = field(default_factory=list)
    """What each state consumes; nothing for a state that only branches."""
    _next: list[list[int]] = field(default_factory=list)
    start: frozenset[int] = frozenset()
    """The states before the first character."""
    _steps: dict[tuple[frozenset[int], str], frozenset[int]] = field(default_factory=dict)

    def fullmatch(self, text: str) -> bool:
        """Whether the whole text matches."""
        if len(text) > MAX_TEXT:
            raise TextTooLong(f"more than {MAX_TEXT} characters")
        states = self.start
        for char in text:
            states = self.step(states, char)
            if not states:
                return False
        return self.accepts(states)

    def accepts(self, states: frozenset[int]) -> bool:
        """Whether a text may end here."""
        return len(self._chars) - 1 in states

    def ends(self) -> frozenset[str]:
        """Where its classes of characters begin and end."""
        return frozenset(end for chars in self._chars if chars for pair in chars.ranges for end in pair)

    def step(self, states: frozenset[int], char: str) -> frozenset[int]:
        """Where one more character leads."""
        known = self._steps.get((states, char))
        if known is None:
            reached = [
                s for state in states if (chars := self._chars[state]) and chars.has(char) for s in self._next[state]
            ]
            known = self._closure(reached)
            if len(self._steps) >= _CACHE:
                self._steps.clear()
            self._steps[(states, char)] = known
        return known

    def _closure(self, states: list[int]) -> frozenset[int]:
        """The states reachable without consuming anything."""
        reached: set[int] = set()
        pending = list(states)
        while pending:
            state = pending.pop()
            if state not in reached:
                reached.add(state)
                if self._chars[state] is None:
                    pending.extend(self._next[state])
        return frozenset(reached)

    def add(self, chars: _Chars | None, following: list[int]) -> int:
        if len(self._chars) >= MAX_STATES:
            raise PatternError("too large")
        self._chars.append(chars)
        self._next.append(following)
        return len(self._chars) - 1

    def link(self, state: int, following: int) -> None:
        self._next[state].append(following)

    def finish(self, start: int) -> None:
        self.start = self._closure([start])


def compile_pattern(source: str, *, dot_spans_lines: bool) -> Pattern:
    """Compile an expression, or say in a `PatternError` what is not in the dialect."""
    if len(source) > MAX_SOURCE:
        raise PatternError(f"longer than {MAX_SOURCE} characters")
    parser = _Parser(source, dot_spans_lines=dot_spans_lines)
    tree = parser.parse()
    pattern = Pattern(source)
    start, ends = tree.build(pattern)
    final = pattern.add(None, [])
    for end in ends:
        pattern.link(end, final)
    pattern.finish(start)
    return pattern


@dataclass(frozen=True, slots=True)
class _One:
    chars: _Chars

    def build(self, pattern: Pattern) -> tuple[int, list[int]]:
        state = pattern.add(self.chars, [])
        return state, [state]


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[_Node, ...]

    def build(self, pattern: Pattern) -> tuple[int, list[int]]:
        start = pattern.add(None, [])
        ends = [start]
        for part in self.parts:
            begin, following = part.build(pattern)
            for end in ends:
                pattern.link(end, begin)
            ends = following
        return start, ends


@dataclass(frozen=True, slots=True)
class _Either:
    parts: tuple[_Node, ...]

    def build(self, pattern: Pattern) -> tuple[int, list[int]]:
        start = pattern.add(None, [])
        ends = []
        for part in self.parts:
            begin, following = part.build(pattern)
            pattern.link(start, begin)
            ends += following
        return start, ends


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: _Node
    least: int
    most: int | None

    def build(self, pattern: Pattern) -> tuple[int, list[int]]:
        start = pattern.add(None, [])
        ends = [start]
        exits: list[int] = []
        for count in range(max(self.least, self.most or 0, 1)):
            if count >= self.least:
                exits += ends
            begin, following = self.part.build(pattern)
            for end in ends:
                pattern.link(end, begin)
            ends = following
        if self.most is None:
            again = pattern.add(None, [])
            for end in ends:
                pattern.link(end, again)
            pattern.link(again, begin)
            ends = [again]
        return start, ([] if self.most == 0 else ends) + exits + ([start] if self.least == 0 else [])


_Node = _One | _Sequence | _Either | _Repeat


class _Parser:
    """Recursive descent over the expression."""

    def __init__(self, source: str, *, dot_spans_lines: bool) -> None:
        self.ignore_case = source.startswith("(?i)")
        self.rest = source.removeprefix("(?i)")
        self.dot = _Chars((), negated=True) if dot_spans_lines else _Chars((("\n", "\n"),), negated=True)
        self.depth = 0

    def parse(self) -> _Node:
        tree = self._either()
        if self.rest:
            raise PatternError("a closing bracket without its opening one")
        return tree

    def _take(self, count: int = 1) -> str:
        if len(self.rest) < count:
            raise PatternError("it ends too early")
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def _either(self) -> _Node:
        self.depth += 1
        if self.depth > 50:
            raise PatternError("nested too deeply")
        parts = [self._sequence()]
        while self.rest.startswith("|"):
            self._take()
            parts.append(self._sequence())
        self.depth -= 1
        return _Either(tuple(parts)) if len(parts) > 1 else parts[0]

    def _sequence(self) -> _Node:
        parts: list[_Node] = []
        while self.rest and self.rest[0] not in "|)":
            parts.append(self._repeated(self._atom()))
        return _Sequence(tuple(parts))

    def _atom(self) -> _Node:
        char = self._take()
        if char == "(":
            if self.rest.startswith("?") and self._take(2) != "?:":
                raise PatternError("a group of a kind it does not know")
            inner = self._either()
            self._take()  # the closing bracket: nothing else ends what is inside but the end of it all
            return inner
        if char == "[":
            return _One(self._class())
        if char == ".":
            return _One(self.dot)
        if char == "\\":
            ranges, negated = self._escape()
            return _One(_Chars(ranges, negated, self.ignore_case))
        if char in _SPECIAL:
            raise PatternError(f"{char!r} where a character is expected; the whole text is always matched")
        return _One(_Chars(((char, char),), ignore_case=self.ignore_case))

    def _escape(self) -> tuple[Ranges, bool]:
        char = self._take()
        if char.lower() in _CLASSES:
            return _CLASSES[char.lower()], char.isupper()
        if char.isalnum() and char not in _ESCAPES:
            raise PatternError(f"the escape \\{char} is not known")
        plain = _ESCAPES.get(char, char)
        return ((plain, plain),), False

    def _class(self) -> _Chars:
        negated = self.rest.startswith("^")
        if negated:
            self._take()
        ranges: list[tuple[str, str]] = []
        while not ranges or not self.rest.startswith("]"):
            ranges += self._class_item()
        self._take()
        return _Chars(tuple(ranges), negated, self.ignore_case)

    def _class_item(self) -> Ranges:
        low = self._take()
        if low == "\\":
            ranges, negated = self._escape()
            if negated:
                raise PatternError("an opposite class inside a class")
            if len(ranges) > 1 or ranges[0][0] != ranges[0][1]:
                return ranges
            low = ranges[0][0]
        if not self.rest.startswith("-") or self.rest.startswith("-]"):
            return ((low, low),)
        self._take()
        high = self._take()
        if high == "\\":
            high = self._escape()[0][0][1]
        if high < low:
            raise PatternError("a range that runs backwards")
        return ((low, high),)

    def _repeated(self, atom: _Node) -> _Node:
        if not self.rest or self.rest[0] not in _REPEATS:
            return atom
        mark = self._take()
        if mark == "{":
            bounds, closed, self.rest = self.rest.partition("}")
            return _Repeat(atom, *_bounds(bounds if closed else ""))
        return _Repeat(atom, 1 if mark == "+" else 0, 1 if mark == "?" else None)


def _bounds(text: str) -> tuple[int, int | None]:
    low, comma, high = text.partition(",")
    if len(text) > 9 or not (low.isdecimal() and low.isascii()) or (high and not (high.isdecimal() and high.isascii())):
        raise PatternError("a repetition that is not {m}, {m,} or {m,n}")
    least = int(low)
    most = (int(high) if high else None) if comma else least
    if least > MAX_STATES or (most is not None and (most > MAX_STATES or most < least)):
        raise PatternError("a repetition that is too large or runs backwards")
    return least, most
