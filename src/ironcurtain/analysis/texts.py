"""Texts that stand for all texts: one for every combination of answers that patterns, equalities and lengths can give.

The patterns are run side by side; every combination of states they can be in together is visited once, by the shortest
text that leads there. What is found is complete unless the search had to stop; then it says so.

What tightens asks a pattern of the text and of its compatibility form (NFKC). The two differ in texts with wide letters
alone; these are searched only if they could bring a new combination of answers.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.analysis.automata import PLAIN, TooLarge, table_of
from ironcurtain.engine.pattern import MAX_TEXT, PatternError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ironcurtain.analysis.automata import Table

MAX_VISITED: Final = 40_000
_SHORT: Final = 64  # characters: up to here lengths are told apart inside the search
_SHORT_NUMBER: Final = 6  # digits: longer ones may be telephone numbers, which have many spellings
_WIDE: Final = 0xFEE0  # from an ASCII letter to its wide form
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
_PART: Final = "[A-Za-z0-9_]([A-Za-z0-9_. -]*[A-Za-z0-9_])?"
_PLAIN_NAME: Final = f"{_PART}(/{_PART})*|[A-Za-z0-9_][A-Za-z0-9_]+:({_PART}(/{_PART})*)?"
"""Relative names with one reading: a way down, perhaps in a store that stands before a colon."""
_ANY_NAME: Final = "[^/.~%*?$][^/%*?$]*(/[^/.~%*?$][^/%*?$]*)*"
"""Every text that can be a relative name, and some that cannot."""
WIDE: Final = "".join(chr(code + _WIDE) for code in range(ord("!"), ord("~") + 1))
"""The letters that are ASCII letters in compatibility form."""

Source: TypeAlias = tuple[str, bool]
"""A pattern, and whether what asks it tightens."""
_Answers: TypeAlias = tuple[tuple[bool, ...], tuple[bool, ...]]
"""What the patterns say of a text, and which limits of length it keeps."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts, and whether they stand for all."""

    found: tuple[str, ...]
    complete: bool
    answers: frozenset[tuple[bool, ...]] = frozenset()
    """The combinations of answers that the patterns give."""


def texts_for(sources: tuple[Source, ...], lengths: Collection[int], besides: frozenset[str], usual: str) -> Texts:
    """Return texts for patterns and limits of length, none of them in `besides`."""
    long = [length for length in lengths if length > _SHORT]
    beyond = [MAX_TEXT] if sources else []
    lengthy = [_of_length(count, besides) for limit in sorted({*long, *beyond}) for count in (limit, limit + 1)]
    short = tuple(sorted(length for length in lengths if length <= _SHORT))
    if not sources:
        found = [usual, *(_of_length(count, besides) for limit in short for count in (limit, limit + 1) if count)]
        return Texts(tuple(dict.fromkeys([*found, *lengthy])), complete=True)
    texts = endings_for(sources, "", besides, "", short)
    # Between the short and the long limits the patterns were not asked again: only limits beyond every text are exact.
    exact = texts.complete and all(length >= MAX_TEXT for length in long)
    return Texts(tuple(dict.fromkeys([*texts.found, *lengthy])), exact)


def folded_source(text: str) -> Source | None:
    """Return a pattern for what is equal to a text once both are folded; nothing if there is none for it."""
    if not text or not text.isascii() or (text.isdigit() and len(text) > _SHORT_NUMBER):
        return None
    plain = "".join("\\" + char if char in _SPECIAL else char for char in text)
    return f"(?i) *[#@]*{'0*' if text.isdigit() else ''}{plain} *", True


def up_to(bound: int) -> Source:
    """Return a pattern for the digits of the whole numbers up to a bound, as patterns see numbers."""
    if bound < 0:
        return f"-({_at_least(-bound)})", False
    return f"-[1-9][0-9]*|{_at_most(bound)}", False


def _at_most(bound: int) -> str:
    """Return a pattern for the digits of 0 to a bound."""
    text = str(bound)
    found = ["0", text, *(f"[1-9][0-9]{{{length - 1}}}" for length in range(1, len(text)))]
    for place, digit in enumerate(text):
        least = 1 if place == 0 else 0
        if int(digit) > least:
            found.append(f"{text[:place]}[{least}-{int(digit) - 1}][0-9]{{{len(text) - place - 1}}}")
    return "|".join(found)


def _at_least(bound: int) -> str:
    """Return a pattern for the digits of the whole numbers from a bound above zero on."""
    text = str(bound)
    found = [text, f"[1-9][0-9]{{{len(text)}}}[0-9]*"]
    for place, digit in enumerate(text):
        if int(digit) < 9:
            found.append(f"{text[:place]}[{int(digit) + 1}-9][0-9]{{{len(text) - place - 1}}}")
    return "|".join(found)


def wide(text: str) -> str:
    """Return a text in wide letters: another text, of the same compatibility form."""
    return "".join(chr(ord(char) + _WIDE) if "!" <= char <= "~" else char for char in text)


def _of_length(count: int, besides: Collection[str]) -> str:
    """Return a text of so many letters that is none of the others, in whatever case."""
    taken = {text.casefold() for text in besides}
    letters = (chr(code) * count for code in range(ord("a"), ord("z") + 1))
    return next((text for text in ("x" * count, *letters) if text not in taken), "x" * count)


@lru_cache(maxsize=4_096)
def endings_for(
    sources: tuple[Source, ...], after: str, besides: frozenset[str], without: str, lengths: tuple[int, ...] = ()
) -> Texts:
    """Return what can stand behind a text so that the patterns give each combination of answers to the whole."""
    try:
        tables = [table_of(source, dot_spans_lines=tightens) for source, tightens in sources]
        search = _Search(tuple(tables), tuple(tightens for _, tightens in sources), after, besides, lengths)
        found: dict[_Answers, str] = {}
        complete = search.run(_alphabet(tables, besides, without), found)
        if complete and WIDE[0] not in without and _wide_letters_matter(found, search.tightening):
            complete = search.run(_alphabet(tables, besides, without, with_wide=True), found)
    except (TooLarge, PatternError):
        return Texts((), complete=False)
    return Texts(tuple(found.values()), complete, frozenset(accepted for accepted, _ in found))


def clean_endings(
    sources: tuple[Source, ...], after: str, besides: frozenset[str], without: str, never: str = ""
) -> Texts:
    """Return the same with some letters only; complete if the others, without those that never occur, add none."""
    clean = endings_for(sources, after, besides, without + never)
    whole = endings_for(sources, after, besides, never)
    return Texts(clean.found, clean.complete and whole.complete and clean.answers == whole.answers, clean.answers)


def names_for(sources: tuple[Source, ...], besides: frozenset[str]) -> Texts:
    """Return plain relative names for each combination of answers; complete if no odd name adds one."""
    try:
        every = (*sources, (_PLAIN_NAME, False), (_ANY_NAME, False))
        tables = [table_of(source, dot_spans_lines=tightens) for source, tightens in every]
        search = _Search(tuple(tables), tuple(tightens for _, tightens in every), "", besides, ())
        found: dict[_Answers, str] = {}
        complete = search.run(_alphabet(tables, besides, ""), found)
    except (TooLarge, PatternError):
        return Texts((), complete=False)
    plain = {accepted[:-2]: text for (accepted, _), text in found.items() if accepted[-2]}
    odd = {accepted[:-2] for accepted, _ in found if accepted[-1] and not accepted[-2]}
    return Texts(tuple(plain.values()), complete and odd <= plain.keys())


def spellings_for(sources: tuple[Source, ...], text: str, after: str, besides: frozenset[str]) -> Texts:
    """Return what can stand behind a text to be equal to a folded one, for each combination of answers."""
    same = folded_source(text)
    if same is None:
        return Texts((), complete=False)
    every = f"0{text}" if text.isdigit() else text
    letters = dict.fromkeys(form for char in every for form in (char.upper(), char, wide(char)))
    try:
        tables = [table_of(source, dot_spans_lines=tightens) for source, tightens in (*sources, same)]
        search = _Search(tuple(tables), (*(tightens for _, tightens in sources), True), after, besides, ())
        found: dict[_Answers, str] = {}
        complete = search.run([*letters], found)
    except (TooLarge, PatternError):
        return Texts((), complete=False)
    return Texts(tuple(each for (accepted, _), each in found.items() if accepted[-1]), complete)


@dataclass(frozen=True, slots=True)
class _Search:
    tables: tuple[Table, ...]
    tightening: tuple[bool, ...]
    after: str
    besides: frozenset[str]
    lengths: tuple[int, ...]

    def run(self, letters: list[str], found: dict[_Answers, str]) -> bool:
        """Add a text for each combination of answers, and return whether there are no others."""
        moves = [(letter, *self._moves(letter)) for letter in letters]
        counted = max(self.lengths) + 1 if self.lengths else 0
        beginnings = {text[:end] for text in self.besides for end in range(len(text) + 1)}
        begin = tuple(table.after(self.after) for table in self.tables)
        # A place is a length, a text while it begins one of the others, whether there are blanks around the text, and
        # the states for the text and for its compatibility form. The start is none of them: nothing is no text.
        seen: set[tuple[int, str, bool, tuple[int, ...], tuple[int, ...]]] = set()
        pending = deque([("", (0, "", False, begin, begin))])
        padded: dict[_Answers, str] = {}  # with blanks around it, which are stripped from some arguments
        complete = True
        while pending:
            text, (length, _, blanks, exact, compatible) = pending.popleft()
            if text.strip() and text not in self.besides:
                answers = self._accepted(exact, compatible), tuple(length <= n for n in self.lengths)
                (padded if blanks else found).setdefault(answers, text)
            rows = [table.rows[state] for table, state in zip(self.tables, exact, strict=True)]
            others = [table.rows[state] for table, state in zip(self.tables, compatible, strict=True)]
            for letter, kinds, as_compatible in moves:
                longer = text + letter
                place = (
                    min(length + 1, counted),
                    longer if longer in beginnings else "",
                    longer != longer.strip(),
                    tuple([row[kind] for row, kind in zip(rows, kinds, strict=True)]),
                    tuple([row[kind] for row, kind in zip(others, as_compatible, strict=True)]),
                )
                if place not in seen:
                    if len(seen) >= MAX_VISITED:
                        complete = False
                        break
                    seen.add(place)
                    pending.append((longer, place))
        for answers, text in padded.items():
            found.setdefault(answers, text)
        return complete

    def _moves(self, letter: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        compatible = unicodedata.normalize("NFKC", letter)
        exact = tuple(table.kind(letter) for table in self.tables)
        return exact, tuple(table.kind(compatible) for table in self.tables) if len(compatible) == 1 else exact

    def _accepted(self, exact: tuple[int, ...], compatible: tuple[int, ...]) -> tuple[bool, ...]:
        return tuple(
            state in table.final or (tightens and other in table.final)
            for table, state, other, tightens in zip(self.tables, exact, compatible, self.tightening, strict=True)
        )


def _alphabet(tables: list[Table], besides: frozenset[str], without: str, *, with_wide: bool = False) -> list[str]:
    """Return letters that stand for all; those that a person can read come first, as in the shortest texts.

    Of the letters that every pattern treats alike one is enough if no other text has it: a text with it is none of
    those. Of classes without such a letter all letters are tried.
    """
    ours = {*PLAIN, *(letter for table in tables for letter in table.letters)} - set(without)
    ordered = sorted(ours, key=lambda letter: (PLAIN.find(letter) if letter in PLAIN else len(PLAIN), letter))
    if with_wide:
        ordered += [wide(letter) for letter in ordered if wide(letter) != letter]
    taken = {char for text in besides for char in (*text, *text.swapcase())}
    classes: dict[tuple[int, ...], list[str]] = {}
    for letter in ordered:
        compatible = unicodedata.normalize("NFKC", letter)
        forms = (letter, compatible if with_wide and len(compatible) == 1 else letter)
        classes.setdefault(tuple(table.kind(form) for form in forms for table in tables), []).append(letter)
    return [letter for members in classes.values() for letter in _enough(members, taken)]


def _enough(letters: list[str], taken: Collection[str]) -> Iterable[str]:
    fresh = [letter for letter in letters if letter not in taken]
    return fresh[:1] or letters


def _wide_letters_matter(found: Collection[_Answers], tightening: tuple[bool, ...]) -> bool:
    """Return whether a text with wide letters could be answered like no other.

    What tightens says yes to it if it does to the text or to its compatibility form, and both are texts that were seen.
    """
    return any(combined not in found for combined in _combined(found, tightening))


def _combined(found: Collection[_Answers], tightening: tuple[bool, ...]) -> Iterator[_Answers]:
    for exact, lengths in found:
        for compatible, as_long in found:
            if lengths == as_long:
                both = zip(exact, compatible, tightening, strict=True)
                yield tuple(one or (other and tightens) for one, other, tightens in both), lengths
