"""Where one clause of a sentence ends and the next begins; and what is set aside: exceptions and conditions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english.cues import Cue, cues_in, idle_in
from ironcurtain.compiler.english.lexicon import (
    ACTS,
    HARMLESS,
    THINGS,
)
from ironcurtain.compiler.english.reading import OTHER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ironcurtain.compiler.english.words import Word

STRONG: Final = lexicon("but ; : - however whereas while though although yet otherwise which")
WEAK: Final = lexicon(", and so or then nor")
_DECISIVE: Final = frozenset({"forbid", "permit", "ask", "readonly", "oblige", "same", "stick"})
_ASIDES: Final = tuple(
    tuple(opening.split("_"))
    for opening in [
        "with_the_exception_of",
        "except_for",
        "except_in",
        "except_from",
        "except_to",
        "except_on",
        "except_when",
        "except_if",
        "except_that",
        "except",
        "other_than",
        "apart_from",
        "aside_from",
        "excluding",
        "save_for",
        "not_counting",
        "not_including",
        "unless",
        "besides",
        "as_long_as",
        "so_long_as",
        "on_condition_that",
        "in_case",
        "assuming",
        "supposing",
        "given_that",
        "provided_that",
        "provided",
        "whenever",
        "if",
        "when",
        "before",
        "while",
        "once",
        "after",
        "during",
        "until",
        "till",
        "bar",
        "minus",
        "save",
        "less",
        "short_of",
        "excepting",
        "barring",
        "exclusive_of",
        "instead_of",
        "in_place_of",
        "rather_than",
        "leaving_out",
        "omitting",
        "skipping",
        "but_not",
        "just_not",
        "anywhere_but",
        "anyone_but",
        "anything_but",
        "everything_but",
        "nothing_but",
        "only_if",
        "only_when",
    ]
)
FINITE: Final = lexicon("is are was were gets get goes go may can must has have")
_ALL: Final = lexicon("anything anyone anybody anywhere everything everyone everywhere nothing nobody all any")
EXCEPTING: Final = lexicon(
    """with except other apart aside excluding save not besides anywhere anyone anything everything nothing bar minus
    less short excepting barring exclusive instead in rather leaving omitting skipping but just"""
)
_SOLELY: Final = ("only", "solely", "exclusively", "just")
_PLACED: Final = ("in", "into", "inside", "within", "on", "onto", "to", "from", "under", "at")


@dataclass(slots=True)
class Piece:
    opening: str
    words: list[Word]
    cues: list[Cue]
    asides: list[tuple[str, list[Word]]] = field(default_factory=list)
    instructed: bool = True
    named: bool = False
    """Something that is named stands before it, as a label."""
    first: bool = False
    """The sentence begins with it."""


def label_of(words: Sequence[Word]) -> int:
    """How many words a sentence begins with to say what it is about: `Exports:`."""
    return next((i + 1 for i, word in enumerate(words[:6]) if word.text in (":", "-") and i), 0)


def narrowed(words: Sequence[Word]) -> list[Word]:
    """`It may save files, but only into Reports` says no more than `it may save files only into Reports`."""
    found = list(words)
    for index in range(len(words) - 2, 0, -1):
        if words[index].text not in ("but", "and", "though"):
            continue
        after = [word.text for word in words[index + 1 :]]
        end = next((i for i, text in enumerate(after) if text in (",", ";", "but", "and")), len(after))
        piece = [text for text in after[:end] if text not in (".", "!")]
        first = piece[:1] and piece[0] in _SOLELY and piece[1:2] and piece[1] in _PLACED
        last = piece[1:] and piece[0] in _PLACED and piece[-1] in _SOLELY
        if (first or last) and any(word.reference for word in words[index + 1 : index + 1 + end]):
            del found[index]
            if found[index - 1].text == ",":
                del found[index - 1]
    return found


def pieces_of(words: list[Word], *, led: bool) -> Iterator[Piece]:
    cues = cues_in(words)
    start = label_of(words)
    if not led and _is_told(words[start:]) and not _cued(cues, start, start + 1):
        cues = sorted([*cues, Cue("imperative", start, start)], key=lambda cue: cue.start)  # `Read my mail.`
    inside = {index for cue in cues for index in range(cue.start, cue.end)} | idle_in(words) | _bracketed(words)
    cuts = [0]
    for index, word in enumerate(words):
        if index in inside or index == 0 or word.reference:
            continue
        starts_anew = word.text in WEAK and any(
            index < cue.start <= index + 4 and cue.name in _DECISIVE and _is_subject(words[index + 1 : cue.start])
            for cue in cues
        )
        verbs = any(w.text in FINITE or w.text in ACTS for w in words[cuts[-1] : index])
        if verbs and word.text == "," and _is_placed(words[index + 1 :]) and _is_placed(words):
            cuts.append(index)  # `In Projects it may read and write, in Archive just read`
            continue
        if not _cued(cues, cuts[-1], index) and word.text != "which" and not (starts_anew and verbs):
            continue
        if word.text in STRONG and not (word.text == "but" and words[index - 1].text in _ALL):  # `anything but solved`
            own = any(cue.start > index and cue.name in _DECISIVE for cue in cues)
            weaker = word.text in (":", "-", "while") and not own  # a list, or a condition
            if word.text == "which" or (not weaker and _has_content(words, range(index + 1, len(words)), inside)):
                cuts.append(index)
        elif word.text in WEAK:
            end = next(
                (i for i in range(index + 2, len(words)) if i not in inside and words[i].text in (*STRONG, ",")),
                len(words),
            )
            own = any(index < cue.start < end and cue.name in _DECISIVE for cue in cues)
            done = [words[i] for i in range(cuts[-1], index) if i not in inside]
            left = [cue for cue in cues if cuts[-1] <= cue.start < index]
            bare = all(cue.end - cue.start == 1 and words[cue.start].text in ("no", "neither") for cue in left)
            if bare and left and word.text in ("or", "and", ",") and not any(w.text in ACTS for w in done):
                continue  # `no issue or comment may ...`
            next_cue = next((cue.start for cue in cues if cue.start > index), len(words))
            names = words[index + 1 : next_cue]
            told = all(cue.name == "imperative" for cue in left)
            if told and left and names and all(w.reference or w.text in HARMLESS for w in names):
                continue  # `post in #staff and #team? Feel free.`
            at_once = any(cue.start == index + 1 for cue in cues)  # `may read and must not write`
            whole = at_once or not _only_verbs(done)
            if own and whole and _has_content(words, range(index + 1, end), inside):
                cuts.append(index)
    for start, end in zip(cuts, [*cuts[1:], len(words)], strict=True):
        own_cues = [
            replace(cue, start=cue.start - start, end=cue.end - start) for cue in cues if start <= cue.start < end
        ]
        piece = Piece(words[start].text if words else "", words[start:end], own_cues)
        _set_aside(piece)
        yield piece


def _is_placed(words: Sequence[Word]) -> bool:
    """`In Archive`, as it begins."""
    rest = [word for word in words[1:4] if word.text not in ("the", "my", "our")]
    return bool(words) and words[0].text in _PLACED and bool(rest) and rest[0].reference is not None


def _is_told(words: Sequence[Word]) -> bool:
    """Whether a sentence begins as an instruction: `Mail Anna`, but not `Mail filters`."""
    if not words or words[0].reference or ACTS.get(words[0].text, (None, ""))[1] != "base":
        return False
    following = words[1] if len(words) > 1 else None
    noun = following is not None and not following.reference and following.text not in HARMLESS
    return words[0].singular not in THINGS or not noun


def _only_verbs(words: Sequence[Word]) -> bool:
    """`open, make` of `open, make and edit files as you please`."""
    return any(w.text in ACTS for w in words) and all(
        (w.text in ACTS or w.is_mark or w.text in HARMLESS) and not w.reference for w in words
    )


def _is_subject(words: Sequence[Word]) -> bool:
    """`and you can`, `so the assistant must`."""
    return any(w.text in ("you", "it", "they", "assistant", "agent", "bot") for w in words) and all(
        w.text in ("and", "so", "the", "my", ",", "you", "it", "they", "assistant", "agent", "bot") for w in words
    )


def _bracketed(words: Sequence[Word]) -> set[int]:
    found: set[int] = set()
    depth = 0
    for index, word in enumerate(words):
        depth += word.text == "("
        if depth:
            found.add(index)
        depth -= word.text == ")"
    return found


def _cued(cues: list[Cue], start: int, end: int) -> bool:
    return any(start <= cue.start < end for cue in cues)


def _has_content(words: Sequence[Word], indexes: range, inside: set[int]) -> bool:
    """Whether there is more than what says yes, no or ask."""
    here = [words[i] for i in indexes if i not in inside]
    return any(
        w.reference or w.text in ACTS or w.text in OTHER or (w.text not in HARMLESS and not w.is_mark) for w in here
    )


def _set_aside(piece: Piece) -> None:
    """Take exceptions and conditions out of a clause."""
    index = 0
    while index < len(piece.words):
        words = piece.words
        cued = {i for cue in piece.cues for i in range(cue.start, cue.end)}
        known = cued | idle_in(words)
        opening = next((o for o in _ASIDES if index not in known and _stands(words, index, o)), None)
        if opening is None or (opening == ("save",) and index == 0):
            index += 1
            continue
        start = index + len(opening)
        end = next(
            (
                i
                for i in range(start, len(words))
                if words[i].text in (",", ";", "-")
                or i in cued
                or (i > start and words[i].text in FINITE and opening[0] in EXCEPTING)
            ),
            len(words),
        )
        goes_on = end < len(words) and words[end].text == ","
        if (
            index > 0
            and goes_on
            and not any(i in cued for i in range(end, len(words)))
            and not any(w.text in ACTS for w in words[end:])
        ):
            end = len(words)  # a list goes on
        piece.asides.append((opening[0], words[start:end]))
        kept = [*range(index), *range(end, len(words))]
        place = {old: new for new, old in enumerate(kept)}
        piece.cues = [
            replace(c, start=place[c.start], end=place[c.start] + c.end - c.start)
            for c in piece.cues
            if c.start in place and all(i in place for i in range(c.start, c.end))
        ]
        piece.words = [words[i] for i in kept]


def _stands(words: Sequence[Word], index: int, opening: tuple[str, ...]) -> bool:
    here = words[index : index + len(opening)]
    return tuple(w.text for w in here) == opening and not any(w.reference for w in here)
