"""Pronouns, `there`, `both`, `the two class channels`: what was spoken of before takes their place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ironcurtain.compiler.english.lexicon import (
    ANYTHING,
    THINGS,
    Act,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ironcurtain.compiler.english.clauses import Clause
    from ironcurtain.compiler.english.reading import Phrase
    from ironcurtain.compiler.english.words import Reference


def resolved(phrases: Sequence[Phrase], before: Sequence[Clause]) -> list[Phrase]:
    """Pronouns, `there`, `the two class channels`: what was spoken of before takes their place."""
    found: list[Phrase] = []
    placed = any(p.references and p.preposition for p in phrases)
    for phrase in phrases:
        meant = _referred(phrase, found, before)
        bare = phrase.pronoun and not phrase.preposition and not phrase.references
        if placed and bare and meant.references:  # `read files in Archive and edit them in Projects`
            meant = replace(meant, references=())
        found.append(meant)
    return found


def without_pronouns(phrases: list[Phrase]) -> list[Phrase]:
    """`except those in Diary`: what is in Diary."""
    named = [p for p in phrases if p.references or p.head]
    return named if any(p.references for p in named) else phrases


def apposed(phrases: list[Phrase]) -> list[Phrase]:
    """`my other base, Bookkeeping`: the one that is named, and not all others."""
    if not any(p.references and not p.preposition for p in phrases):
        return phrases
    return [replace(p, other=False) if p.other and p.head and not p.preposition else p for p in phrases]


def with_pairs(
    groups: list[tuple[tuple[Act, ...], list[Phrase]]], before: Sequence[Clause]
) -> list[tuple[tuple[Act, ...], list[Phrase]]]:
    """`in both`: the two that were named."""
    here = tuple(dict.fromkeys(r for _, phrases in groups for p in phrases for r in p.references))
    pair = next((group for group in (here, *_groups(before)) if len(group) == 2), ())

    def named(p: Phrase) -> Phrase:
        return replace(p, references=pair) if p.number == 2 and not p.head and not p.references else p

    return [(acts, [named(p) for p in phrases]) for acts, phrases in groups]


def _referred(phrase: Phrase, here: Sequence[Phrase], before: Sequence[Clause]) -> Phrase:
    if phrase.head in ("latter", "former", "first", "second", "last") and not phrase.references:
        named = next((group for group in _groups(before) if group), ())
        return replace(phrase, head="", modifiers=(), references=named, preposition=phrase.preposition or "in")
    places = (
        phrase.preposition in ("in", "on", "from", "to", "into", "at", "within", "inside") or phrase.pronoun == "there"
    )
    if phrase.pronoun and places and not phrase.references and (not phrase.head or phrase.pronoun == "there"):
        groups = [tuple(r for p in here for r in p.references), *_groups(before)]
        references = next((group for group in groups if group), ())
        return replace(phrase, references=references, pronoun="" if references else phrase.pronoun)
    if phrase.pronoun and not phrase.head and not phrase.references:
        earlier = [*reversed(here), *(p for clause in reversed(before) for p in reversed(clause.phrases))]
        meant = next(
            (p for p in earlier if p.references or (p.head and p.head not in ANYTHING and not p.is_people)), None
        )
        if meant is not None and meant.references and phrase.pronoun in ("it", "them", "that", "this"):
            return replace(phrase, references=meant.references, preposition="in", pronoun="")
        nouns = [p for p in earlier if p.head and p.head not in ANYTHING and not p.is_people]
        noun = next((p for p in nouns if not p.preposition), nouns[0] if nouns else None)
        return replace(phrase, head=noun.head, modifiers=noun.modifiers, pronoun="") if noun else phrase
    if phrase.pronoun in ("that", "this", "these", "those") and phrase.head and not phrase.references:
        groups = [tuple(r for p in here for r in p.references), *_groups(before)]
        folder = phrase.head in ("folder", "directory")
        for group in groups:
            same = tuple(
                r for r in group if (r.kind == "directory" if folder else r.thing and r.thing in phrase.things)
            )
            if same:
                return replace(phrase, references=same, pronoun="")
    if (phrase.number > 1 or phrase.pronoun in ("these", "those")) and phrase.things and not phrase.references:
        for group in _groups(before):
            same = tuple(
                r for r in group if r.thing in phrase.things or THINGS.get(r.thing, frozenset()) & phrase.things
            )
            if same and (not phrase.number or len(same) == phrase.number):
                return replace(phrase, references=same, modifiers=(), pronoun="")
    return phrase


def _groups(before: Sequence[Clause]) -> Iterator[tuple[Reference, ...]]:
    """What was named together, the latest first."""
    for clause in reversed(before):
        for phrases in (clause.exceptions, clause.phrases):
            yield tuple(dict.fromkeys(r for p in phrases for r in p.references))
