"""What is said after permissions, and which of them it falls on.

INVARIANT: a wish to be asked, or a ban, that comes after permissions and names nothing by which one call could be told
from another is about all that it may concern. Those ask.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english.cues import Mood, cues_in, mood_of
from ironcurtain.compiler.english.drafts import Draft, Rank, Understanding
from ironcurtain.compiler.english.lexicon import (
    ACTS,
    ANYTHING,
    EVERY,
    EVERYBODY,
    FILES,
    HARMLESS,
    NOUNS_OF_ACTS,
    READ,
)
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ironcurtain.compiler.english.clauses import Clause
    from ironcurtain.compiler.english.reading import Phrase
    from ironcurtain.compiler.english.words import Word

_AT_ALL: Final = re.compile(
    r"\b(?:both|all of (?:this|that|these|those|it|them|the above)|they all|permissions|the above|the former"
    r"|(?:just|only|still) a draft)\b|^\W*(?:correction|update|edit|erratum|amendment)\b\s*:",
    re.IGNORECASE,
)
"""What points at all that was said before."""
_DOCUMENTS: Final = lexicon(
    """diary journal record statement return picture photo image code configuration contract invoice letter report
    payslip passport cv resume receipt bill log script"""
)
"""What may be a file, whatever else it may be."""
_BY_ROLE: Final = {"read-path": ("read",), "write-path": ("create", "update"), "delete-path": ("delete",)}


def fall_back(
    found: Sequence[Understanding], sentence: str, permitted: Sequence[Draft], words_in: Callable[[str], list[Word]]
) -> None:
    """Let a sentence that permits nothing fall on what was permitted before it."""
    said = mood_of(cues_in(words_in(sentence)))
    several = len(found) > 1 and any(not _is_anything(p) for each in found for p in each.clause.phrases)
    for each in found:
        clause = each.clause
        spoken = _spoken(words_in(clause.text))
        effects = frozenset[str]()
        if _AT_ALL.search(sentence) and clause.mood is not Mood.PERMIT:
            effects = EVERY
        elif not several or clause.unsettled:
            effects = _in_general(clause, spoken, said)
        taken = [d for d in permitted if _has(d, effects)] + [d for d in permitted if _is_of(d, each, spoken)]
        each.drafts += [replace(d, then=Mood.ASK, rank=Rank.ASKED) for d in taken]


def _in_general(clause: Clause, spoken: frozenset[str], said: Mood | None) -> frozenset[str]:
    """The effects that a clause is about in general; none if it names what it is about."""
    named = any(p.references or p.other or p.outside for p in clause.phrases) or clause.exceptions
    if named or clause.count is not None or clause.confined or (clause.said and not clause.unsettled):
        return frozenset()
    if (clause.read_only or clause.only_act) and not clause.phrases:
        return EVERY - READ  # `You are read-only`, `It may only read`
    if clause.mood in (None, Mood.OBLIGE) or clause.unsettled:
        return spoken - READ if not clause.condition else frozenset()
    if clause.mood is Mood.PERMIT or said not in (Mood.ASK, Mood.FORBID):
        return frozenset()  # a permission, if a doubtful one
    if clause.mood is Mood.ASK and all(_is_anything(p) for p in clause.phrases):
        return clause.effects
    plain = all(_is_anything(p) or _is_any_message(p) for p in clause.phrases)
    return clause.effects & {"send"} if clause.effects != EVERY and plain and not clause.condition else frozenset()


def _is_of(draft: Draft, each: Understanding, spoken: frozenset[str]) -> bool:
    """Whether something permitted may be of the sort that a clause is about, and the clause does not fall on it yet."""
    clause = each.clause
    if clause.mood not in (Mood.ASK, Mood.FORBID) or clause.confined or clause.said or clause.unsettled:
        return False
    if any(p.other or p.outside for p in clause.phrases):
        return False
    objects = [p for p in clause.phrases if not p.references and not p.preposition]
    strange = bool(clause.acts) and not clause.effects  # `Never bin events`: whatever that is
    sorts = [p for p in objects if (strange and p.things) or _is_some_sort(p, clause)]
    effects = (clause.effects if spoken else EVERY) or (EVERY - READ)  # of `mail from my doctor`, all
    return _has(draft, effects) and any(_is_about(draft, p) for p in sorts) and not _is_met(draft, each.drafts)


def _spoken(words: Sequence[Word]) -> frozenset[str]:
    """What the words of a clause are about doing, in whatever form they stand there."""
    acts = [ACTS[w.text][0] for w in words if w.text in ACTS and not w.reference]
    acts += [NOUNS_OF_ACTS[w.singular] for w in words if w.singular in NOUNS_OF_ACTS and not w.reference]
    return frozenset(effect for act in acts for effect in act.effects)


def _is_anything(phrase: Phrase) -> bool:
    return not phrase.head or phrase.head in ANYTHING or phrase.head in EVERYBODY


def _is_any_message(phrase: Phrase) -> bool:
    """`outgoing messages`, and no kind of them."""
    messages = bool(phrase.things & {"message", "email"}) and not phrase.preposition
    return messages and set(phrase.modifiers) <= {"outgoing"}


def _is_some_sort(phrase: Phrase, clause: Clause) -> bool:
    """`bank statements`, `mail from my doctor`, `shady sites`: some of them, and not all."""
    narrowed = any(word not in HARMLESS for word in phrase.modifiers)
    of_some = any(p.preposition in ("from", "of", "with") and not p.references and p.head for p in clause.phrases)
    return phrase.head in _DOCUMENTS or ((narrowed or of_some) and bool(phrase.things))


def _is_about(draft: Draft, phrase: Phrase) -> bool:
    """Whether what is permitted may be of that sort."""
    on_disk = draft.paths is not None or any(tool.of(Category.PATH) for tool in draft.tools)
    if phrase.head in _DOCUMENTS or phrase.things & FILES:
        return on_disk
    pages = "page" in phrase.things and any(tool.of(Category.URL) for tool in draft.tools)
    rows = bool(phrase.things & {"table", "row", "column"}) and any(tool.statement for tool in draft.tools)
    return pages or rows or any(tool.holds(phrase.things) for tool in draft.tools)


def _is_met(draft: Draft, restricted: Sequence[Draft]) -> bool:
    """Whether one of these falls on what is permitted."""
    keys = {tool.key for tool in draft.tools if not tool.of(Category.URL)}
    on_disk = draft.paths is not None
    return any(
        keys & {tool.key for tool in each.tools} or (on_disk and (each.paths or (each.roles and not each.tools)))
        for each in restricted
        if each.then is not Mood.PERMIT and each.rank < Rank.PERMITTED
    )


def _has(draft: Draft, effects: frozenset[str]) -> bool:
    """Whether what is permitted has one of these effects."""
    roles = draft.roles | (draft.paths[0] if draft.paths else frozenset())
    by_role = {effect for role, done in _BY_ROLE.items() if role in roles for effect in done}
    by_tool = {effect for tool in draft.tools for effect in tool.effects}
    return bool(effects & (by_tool or by_role))
