"""A sentence as clauses: what may, must not or needs a yes; with what was said before where words refer to it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english.cues import EMPHATIC, Cue, Line, Mood, cues_in, idle_in, mood_of
from ironcurtain.compiler.english.lexicon import (
    ACTS,
    ANYTHING,
    EVERY,
    FILES,
    HARMLESS,
    NOUNS_OF_ACTS,
    PEOPLE,
    READ,
    THINGS,
    Act,
)
from ironcurtain.compiler.english.reading import OTHER, PREPOSITIONS, Count, Phrase, Reading, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ironcurtain.compiler.english.words import Reference, Word

_STRONG: Final = lexicon("but ; : - however whereas while though although yet otherwise which")
_WEAK: Final = lexicon(", and so or then nor")
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
_CHANGING: Final = lexicon("change alter modify edit update make_changes_to touch write_to")
_ITEMS: Final = lexicon("event card task issue message file note row record cell ticket")
_HEDGES: Final = lexicon(
    """later nope tbd mine maybe depends perhaps someday soon tomorrow today tonight yesterday formerly anymore
    temporarily provisionally week weekend weekday month morning evening monday tuesday wednesday thursday friday
    saturday sunday complain fired nobody eventually sometimes occasionally unlike versus vs opposed"""
)
_FINITE: Final = lexicon("is are was were gets get goes go may can must has have")
_GRANTING: Final = lexicon("with except excepting save anywhere anyone anything everything nothing excluding")
"""`Nothing except X` lets X be; `nobody other than X` does not say so."""
_EXCEPTING: Final = lexicon(
    """with except other apart aside excluding save not besides anywhere anyone anything everything nothing bar minus
    less short excepting barring exclusive instead in rather leaving omitting skipping but just"""
)
_NEGATIONS: Final = lexicon(
    """no not never nothing nobody none nowhere neither nor without hardly refuse refrain forbidden prohibited banned
    barred stop avoid except denied rarely seldom far scarcely barely"""
)
_PREDICATES: Final = lexicon(
    "is are be was were need needs require requires offlimits forbidden fine ok has have allowed"
)
_SOLELY: Final = ("only", "solely", "exclusively", "just")
_PLACED: Final = ("in", "into", "inside", "within", "on", "onto", "to", "from", "under", "at")
_BESIDE_VERBS: Final = lexicon("also therefore always then only still now too generally and or but , so :")
_WE_ACT: Final = lexicon("it you agent assistant bot ai model program helper software system claude tool one")
_UNSETTLED: Final = lexicon(
    """approval permission consent approve approves confirm confirms authorise sign forbid forbids prohibit object deny
    denies denied back kidding beforehand revoked withdrawn expired withheld scrap forget cease quit skip ignore exempt
    exception taboo nope rarely seldom dont mustnt cant wont"""
)
_STATEMENTS: Final = lexicon("select insert update delete drop truncate")
_ITS: Final = re.compile(r"\b(?:its|their)\b", re.IGNORECASE)
_JOINING: Final = _STRONG | _WEAK
_EXPLAINS: Final = re.compile(r"(?:, )?(?:that|which|this) means\b|(?:, )?meaning\b")
_LIGHT: Final = lexicon(
    """generate produce make do perform carry_out issue take have give start commit_to enter_into send create add use
    write run post get"""
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that the owner says."""

    mood: Mood | None
    acts: tuple[Act, ...]
    phrases: tuple[Phrase, ...]
    exceptions: tuple[Phrase, ...] = ()
    condition: tuple[str, ...] = ()
    """Words of a condition that is not about who or where."""
    count: Count | None = None
    only: bool = False
    only_act: bool = False
    """Nothing else is to be done there: `Archive may only be read`."""
    read_only: bool = False
    emphatic: bool = False
    said: tuple[str, ...] = ()
    """What it says of the content, or else that we cannot check."""
    negated: bool = False
    """There is a no in it that says nothing about its mood."""
    oneself: bool = False
    """The owner is one of those it is done to or for."""
    grants: bool = False
    """What is excepted from a prohibition is permitted by it."""
    unsettled: bool = False
    """It says neither yes nor no, or yes to somebody else."""
    confined: bool = False
    """It stands behind the name of a server, and is about no other."""
    text: str = ""

    @property
    def says_something(self) -> bool:
        """Whether there is anything in it."""
        return bool(
            self.acts or self.phrases or self.said or self.count or self.exceptions or self.condition or self.mood
        )

    @property
    def effects(self) -> frozenset[str]:
        """All that is done."""
        return frozenset(effect for act in self.acts for effect in act.effects)

    @property
    def about_files(self) -> bool:
        """Whether files are meant, or anything at all."""
        objects = [p for p in self.phrases if not p.preposition and p.head]
        return not objects or any(p.head in ANYTHING or p.things & FILES for p in objects)


@dataclass(slots=True)
class _Draft:
    opening: str
    words: list[Word]
    cues: list[Cue]
    asides: list[tuple[str, list[Word]]] = field(default_factory=list)
    instructed: bool = True
    named: bool = False
    """Something that is named stands before it, as a label."""


def clauses_of(
    words: Sequence[Word], lead: Mood | None, before: Sequence[Clause], *, instructed: bool = True
) -> list[Clause]:
    """The clauses of one sentence.

    `lead` is the mood of what it stands under, `before` what was said before it; `instructed`, whether to be told to do
    something is to be permitted to.
    """
    found: list[Clause] = []
    label = label_of(words)
    topic = read(words[:label], [])
    about = tuple(replace(p, preposition=p.preposition or "in") for p in topic.phrases if p.references)
    done = tuple(act for acts, _ in topic.groups for act in acts)
    if label and _says_only_what_about(words[:label]):
        words, before = words[label:], [Clause(None, (), about)]
    for draft in _drafts(_narrowed(words), led=lead is not None):
        draft.instructed, draft.named = instructed, bool(about)
        for said in _clauses(draft, lead, [*before, *found]):
            clause = _in_the_same_place(said, found[-1]) if found else said
            if not any(p.references for p in clause.phrases):  # `Exports: read the files, write nothing`
                clause = replace(clause, phrases=(*clause.phrases, *about))
            if done and all(act.verb == "touch" for act in clause.acts):  # `Writing: Projects yes, Invoices no`
                clause = replace(clause, acts=done)
            found.append(clause)
    return found


def _in_the_same_place(clause: Clause, last: Clause) -> Clause:
    """`It may read Projects, but never change anything`: there, if it does not say more."""
    named = tuple(p for p in last.phrases if p.references)
    on_disk = bool(named) and all(r.kind == "directory" for p in named for r in p.references)
    if (
        clause.mood is Mood.PERMIT
        and named
        and not any(p.references for p in clause.phrases)
        and _ITS.search(clause.text)
    ):
        return replace(clause, phrases=(*clause.phrases, *named))  # `and make links for its files`
    vague = all(p.head in ANYTHING and not p.references for p in clause.phrases)
    plain = bool(clause.acts) and clause.effects <= {"read", "create", "update", "delete", "move"}
    if clause.mood is not Mood.FORBID or clause.emphatic or clause.said or not (on_disk and vague and plain):
        return clause
    return replace(clause, phrases=(*clause.phrases, *named))


def label_of(words: Sequence[Word]) -> int:
    """How many words a sentence begins with to say what it is about: `Exports:`."""
    return next((i + 1 for i, word in enumerate(words[:6]) if word.text in (":", "-") and i), 0)


def _says_only_what_about(label: Sequence[Word]) -> bool:
    """Whether a label consists of names and of what is done."""
    return not cues_in(label) and all(
        w.reference or w.is_mark or w.text in HARMLESS or (w.text in ACTS and ACTS[w.text][1] == "ing") for w in label
    )


# --- Where one clause ends and the next begins. ---


def _narrowed(words: Sequence[Word]) -> list[Word]:
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


def _drafts(words: list[Word], *, led: bool) -> Iterator[_Draft]:
    cues = cues_in(words)
    start = label_of(words)
    if not led and _is_told(words[start:]) and not _cued(cues, start, start + 1):
        cues = sorted([*cues, Cue("imperative", start, start)], key=lambda cue: cue.start)  # `Read my mail.`
    inside = {index for cue in cues for index in range(cue.start, cue.end)} | idle_in(words) | _bracketed(words)
    cuts = [0]
    for index, word in enumerate(words):
        if index in inside or index == 0 or word.reference:
            continue
        starts_anew = word.text in _WEAK and any(
            index < cue.start <= index + 4 and cue.name in _DECISIVE and _is_subject(words[index + 1 : cue.start])
            for cue in cues
        )
        verbs = any(w.text in _FINITE or w.text in ACTS for w in words[cuts[-1] : index])
        if not _cued(cues, cuts[-1], index) and word.text != "which" and not (starts_anew and verbs):
            continue
        if word.text in _STRONG:
            own = any(cue.start > index and cue.name in _DECISIVE for cue in cues)
            weaker = word.text in (":", "-", "while") and not own  # a list, or a condition
            if word.text == "which" or (not weaker and _has_content(words, range(index + 1, len(words)), inside)):
                cuts.append(index)
        elif word.text in _WEAK:
            end = next(
                (i for i in range(index + 2, len(words)) if i not in inside and words[i].text in (*_STRONG, ",")),
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
        draft = _Draft(words[start].text if words else "", words[start:end], own_cues)
        _set_aside(draft)
        yield draft


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


def _set_aside(draft: _Draft) -> None:
    """Take exceptions and conditions out of a clause."""
    index = 0
    while index < len(draft.words):
        words = draft.words
        cued = {i for cue in draft.cues for i in range(cue.start, cue.end)}
        known = cued | idle_in(words)
        opening = next((o for o in _ASIDES if index not in known and _stands(words, index, o)), None)
        if opening is None or (index == 0 and opening == ("save",)):  # `Save files in Reports`
            index += 1
            continue
        start = index + len(opening)
        end = next(
            (
                i
                for i in range(start, len(words))
                if words[i].text in (",", ";", "-")
                or i in cued
                or (i > start and words[i].text in _FINITE and opening[0] in _EXCEPTING)
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
        draft.asides.append((opening[0], words[start:end]))
        kept = [*range(index), *range(end, len(words))]
        place = {old: new for new, old in enumerate(kept)}
        draft.cues = [
            replace(c, start=place[c.start], end=place[c.start] + c.end - c.start)
            for c in draft.cues
            if c.start in place and all(i in place for i in range(c.start, c.end))
        ]
        draft.words = [words[i] for i in kept]


def _stands(words: Sequence[Word], index: int, opening: tuple[str, ...]) -> bool:
    here = words[index : index + len(opening)]
    return tuple(w.text for w in here) == opening and not any(w.reference for w in here)


# --- What one clause says. ---


def _clauses(draft: _Draft, lead: Mood | None, before: Sequence[Clause]) -> Iterator[Clause]:
    reading = read(draft.words, draft.cues)
    mood = _mood(draft, reading, lead, before)
    asides = _Asides.of(draft, mood, said=any(acts or phrases for acts, phrases in reading.groups))
    readings = asides.readings or [reading]
    groups = [(acts, [*phrases, *asides.phrases]) for each in readings for acts, phrases in each.groups]
    if mood is not Mood.FORBID:
        groups = _in_one_place(_with_pairs(groups, before))
    earlier = list(before)
    for verbs, spoken in groups:
        if before and before[-1].mood is Mood.FORBID and not (verbs or spoken) and _only_insists(draft):
            continue  # `No posts about grades. Not ever.` says nothing new
        acts, phrases = _completed(draft, verbs, spoken, mood, before)
        if reading.count is not None and not any(act.effects for act in acts) and (mail := _mail_in(draft.words)):
            acts, phrases = (replace(ACTS["send"][0], thing=mail),), [p for p in phrases if not p.is_people]
        phrases = _apposed(_resolved(phrases, earlier))
        stranger = mood in (Mood.PERMIT, Mood.OBLIGE) and _is_of_somebody_else(draft)
        if stranger and _only(draft):
            mood, stranger, acts = Mood.FORBID, False, (Act("touch", EVERY),)  # `Archive may only be used by me`
        told = lead is not None or any(cue.name == "same" for cue in draft.cues)
        unsettled = mood is Mood.ASK and mood_of(draft.cues) in (None, Mood.OBLIGE) and not told
        if unsettled or stranger:  # it is not clear what is meant: whatever it speaks of asks
            named = [replace(p, outside=False, other=False) for p in (*phrases, *asides.exceptions) if p.references]
            acts, phrases, asides = (Act("touch", EVERY),), named, _Asides()
        if mood in (Mood.ASK, Mood.FORBID):
            acts = tuple(_of_what_it_holds(act, phrases) for act in acts)
        if not acts and mood is not None and (phrases or asides.exceptions):
            acts = (Act("touch", frozenset({"read"}) if mood is Mood.PERMIT else EVERY),)
        clause = Clause(
            mood=Mood.ASK if stranger else mood,
            acts=acts,
            phrases=tuple(phrases),
            exceptions=tuple(_resolved(_without_pronouns(asides.exceptions), earlier)),
            condition=tuple(asides.condition),
            count=reading.count or asides.count,
            only=_only(draft) and not any(cue.name == "readonly" for cue in draft.cues),
            only_act=_only_does(draft),
            read_only=any(cue.name == "readonly" for cue in draft.cues),
            emphatic=EMPHATIC.search(Line(draft.words).text) is not None,
            said=reading.said,
            negated=_has_a_stray_no(draft),
            oneself=_names_the_owner(draft),
            grants=any(opening in _GRANTING for opening, _ in draft.asides),
            unsettled=unsettled or stranger,
            text=" ".join(word.written for word in draft.words),
        )
        if clause.says_something:
            earlier.append(clause)
            yield clause


def _of_what_it_holds(act: Act, phrases: Sequence[Phrase]) -> Act:
    """`The Private calendar must not be changed`: nothing is added to it and nothing goes."""
    held = any(p.references and p.preposition in ("", "in", "on", "to") and p.head not in _ITEMS for p in phrases)
    items = any(p.head and not p.references and not p.preposition and p.head not in ANYTHING for p in phrases)
    if act.verb not in _CHANGING or not held or items:
        return act
    return replace(act, effects=act.effects | {"create", "update", "delete", "move"}, words=frozenset())


def _only_insists(draft: _Draft) -> bool:
    """Whether a prohibition consists of the no alone."""
    return all(
        word.is_mark or word.text in ("not", "ever", "never", "no", "at", "all", "really") for word in draft.words
    )


def _has_a_stray_no(draft: _Draft) -> bool:
    """Whether some word says no that was not understood to."""
    known = {i for cue in draft.cues for i in range(cue.start, cue.end)} | idle_in(draft.words)
    return any(word.text in _NEGATIONS and i not in known for i, word in enumerate(draft.words))


def _is_of_somebody_else(draft: _Draft) -> bool:
    """`Anna may send mail`, `it may be sent by me`, `fine for Anna`: whoever may, it is not the assistant."""
    words = draft.words
    for cue in draft.cues:
        active = cue.end < len(words) and words[cue.end].text in ACTS and ACTS[words[cue.end].text][1] == "base"
        if cue.name not in ("permit", "unasked", "no_need") or not active:
            continue
        before = cue.start - 1
        while before >= 0 and words[before].text in _BESIDE_VERBS:
            before -= 1
        said_by_others = before > 0 and words[before - 1].text in ("that", "whether", "if", "think", "says")
        if before >= 0 and (words[before].text not in _WE_ACT or said_by_others):
            return True
    known = {i for cue in draft.cues for i in range(cue.start, cue.end)} | idle_in(words)
    return any(
        word.text in ("by", "for", "with") and i not in known and _is_person(words[i + 1 : i + 3])
        for i, word in enumerate(words)
    )


def _is_person(words: Sequence[Word]) -> bool:
    plain = [w for w in words if w.text not in ("a", "an", "the", "my", "any")]
    if not plain:
        return False
    first = plain[0]
    named = first.reference is None and first.written[:1].isupper() and first.text not in THINGS
    return first.text in PEOPLE or first.text in ("me", "us", "human", "humans", "him", "her", "owner") or named


def _names_the_owner(draft: _Draft) -> bool:
    known = {i for cue in draft.cues for i in range(cue.start, cue.end)} | idle_in(draft.words)
    return any(
        w.text in ("me", "myself", "us", "owner", "him", "her") and i not in known for i, w in enumerate(draft.words)
    )


def _mood(draft: _Draft, reading: Reading, lead: Mood | None, before: Sequence[Clause]) -> Mood | None:
    """What a clause does, by its words or by what it stands under."""
    if any(cue.name == "same" for cue in draft.cues) and before:
        return before[-1].mood
    if draft.words and draft.words[0].text in ("i", "we") and not any(cue.start == 0 for cue in draft.cues):
        named = any(w.reference for w in draft.words) or any(w.text in _UNSETTLED for w in draft.words)
        return Mood.ASK if named else None  # `I run a small shop and have no time`
    mood = mood_of(draft.cues) or lead
    if mood is None:
        return _unsaid(draft, reading, before)
    told = {cue.name for cue in draft.cues} == {"imperative"}  # `Read my mail`, and nothing else that says yes
    doubtful = told and (not draft.instructed or _is_unclear(draft) or _is_unbounded(draft, reading))
    if mood is Mood.PERMIT and (doubtful or _is_hedged(draft)):
        return Mood.ASK
    if mood is Mood.PERMIT and _only(draft) and reading.groups and _only_uses(reading):
        return Mood.OBLIGE  # `Git may only be used in Code` does not say for what
    if mood is Mood.OBLIGE and _only_does(draft):
        return Mood.PERMIT  # `Archive should only be read`
    if mood is Mood.OBLIGE and any(word.text in _UNSETTLED for word in draft.words):
        return Mood.ASK  # `Anna has to approve them`
    return mood


def _unsaid(draft: _Draft, reading: Reading, before: Sequence[Clause]) -> Mood | None:
    """What a clause does that says neither yes nor no."""
    if reading.count is not None:
        return Mood.FORBID  # `Max 5 people per mail`
    comments = bool(before) and before[-1].mood is Mood.PERMIT and _comments(draft)
    return Mood.ASK if comments or _only(draft) or _wants_something(draft, reading) else None


def _is_hedged(draft: _Draft) -> bool:
    """`Archive later`, `read one file`: a yes that is none for ever and for all."""
    known = {i for cue in draft.cues for i in range(cue.start, cue.end)} | idle_in(draft.words)
    for one, two in pairwise(draft.words):
        single = one.text == "one" and two.text in THINGS
        told = one.text in ("what", "whatever") and two.text in ("you", "it", "i", "we", "they", "happens")
        acts = two.text in ("does", "will") or (two.text in ACTS and ACTS[two.text][1] == "s")
        somebody = one is not draft.words[0] and not one.reference and one.written[:1].isupper() and acts
        ordinary = one.text in HARMLESS or one.text in THINGS or one.text in ACTS or one.written.isupper()
        if single or told or (somebody and not ordinary):
            return True
    return any(w.text in _HEDGES and i not in known for i, w in enumerate(draft.words))


def _comments(draft: _Draft) -> bool:
    """`Only if Anna agrees.`, `That is Anna's job.`: something of what was just permitted."""
    first = draft.words[0].text if draft.words else ""
    return first in ("that", "this", "these", "those", "they", "it") or (bool(draft.asides) and not first)


def _only_uses(reading: Reading) -> bool:
    acts = [act for acts, _ in reading.groups for act in acts]
    return bool(acts) and all(act.verb == "use" for act in acts)


def _is_unclear(draft: _Draft) -> bool:
    """Whether what looks like an instruction may be none: `Open questions go to Anna`."""
    known = {i for cue in draft.cues for i in range(cue.start, cue.end)}
    plain = [word.text for index, word in enumerate(draft.words) if index not in known and not word.reference]
    return _has_a_stray_no(draft) or any(text in _UNSETTLED or text in _FINITE for text in plain)


def _is_unbounded(draft: _Draft, reading: Reading) -> bool:
    """`Send email`, to whom and where it likes."""
    named = draft.named or any(word.reference for word in draft.words)
    return not named and any(act.effects - READ for acts, _ in reading.groups for act in acts)


def _wants_something(draft: _Draft, reading: Reading) -> bool:
    """Whether a sentence that says neither yes nor no may still mean no: it names a place or a person, or denies."""
    named = any(p.references for p in reading.phrases) or any(w.reference for _, words in draft.asides for w in words)
    return named or _has_a_stray_no(draft) or any(word.text in _UNSETTLED for word in draft.words)


def _completed(
    draft: _Draft, verbs: tuple[Act, ...], spoken: list[Phrase], mood: Mood | None, before: Sequence[Clause]
) -> tuple[tuple[Act, ...], list[Phrase]]:
    """What is done and to what, with what the clause before it said where this one leaves it out."""
    acts, phrases = _acts(verbs, spoken, mood)
    if not before:
        return acts, phrases
    last = before[-1]
    named = [p for p in last.phrases if p.references]
    if _EXPLAINS.match(Line(draft.words).text) or (acts and not phrases and draft.opening in (":", "-")):
        return acts, named  # `leave it alone: no listing`
    if acts and draft.opening in _JOINING and _lacks_a_subject(draft, phrases):
        return acts, [*(p for p in last.phrases if not p.preposition and p.head), *phrases]
    if acts:
        return acts, phrases
    if draft.opening == "which":
        return acts, [*[p for p in (*last.phrases, *last.exceptions) if p.references or p.head][-1:], *phrases]
    goes_on = draft.opening in _JOINING or (draft.words and draft.words[0].written[:1].islower())
    spoken_cues = [draft.words[i].text for cue in draft.cues for i in range(cue.start, cue.end)]
    verbal = bool(spoken_cues) and not any(word in _PREDICATES for word in spoken_cues)  # `but never all orders`
    if not _elliptical(phrases, mood, alone=not goes_on, verbal=verbal):
        return acts, phrases
    if not any(p.head and not p.is_people and not p.preposition for p in phrases):
        phrases = [*(p for p in last.phrases if not p.preposition and not p.references), *phrases]
    if mood is Mood.ASK and not any(p.references or p.other or p.outside for p in phrases):
        phrases = [*phrases, *named]  # `It may post in #staff. Ask me first.`
    same = [clause for clause in before if clause.text == last.text]
    return tuple(dict.fromkeys(act for clause in same for act in clause.acts)), phrases


def _lacks_a_subject(draft: _Draft, phrases: Sequence[Phrase]) -> bool:
    """`Commands need my approval and have to be run in Reports`."""
    passive = any(w.text == "be" and not w.reference for w in draft.words)
    return passive and bool(phrases) and all(p.preposition for p in phrases)


def _in_one_place(groups: list[tuple[tuple[Act, ...], list[Phrase]]]) -> list[tuple[tuple[Act, ...], list[Phrase]]]:
    """A place that is named once is meant of all: `open files in Reports and change them`."""
    named = [[p for p in phrases if p.references and (p.preposition or p.things)] for _, phrases in groups]
    found = []
    for number, (acts, phrases) in enumerate(groups):
        if any(p.references for p in phrases):
            found.append((acts, phrases))
            continue
        near = next((places for places in (*reversed(named[:number]), *named[number + 1 :]) if places), [])
        near = [place for place in near if not any(_is_all_of(p, place) for p in phrases)]
        found.append((acts, [*phrases, *(replace(p, head="", modifiers=()) for p in near)]))
    return found


def _is_all_of(phrase: Phrase, place: Phrase) -> bool:
    """`all calendars`, beside the name of one."""
    return phrase.whole and any(r.thing and r.thing in (phrase.head, *phrase.things) for r in place.references)


@dataclass(slots=True)
class _Asides:
    """What exceptions and conditions come to."""

    phrases: list[Phrase] = field(default_factory=list)
    """More about where and who."""
    exceptions: list[Phrase] = field(default_factory=list)
    condition: list[str] = field(default_factory=list)
    """What cannot be checked."""
    count: Count | None = None
    readings: list[Reading] = field(default_factory=list)
    """What is done, where only the condition says so: `if an event has to be changed, ask me`."""

    @classmethod
    def of(cls, draft: _Draft, mood: Mood | None, *, said: bool) -> _Asides:
        found = cls()
        for opening, words in draft.asides:
            inner = read(words, [])
            about = [p for p in inner.phrases if p.references or p.other]
            if inner.count is not None and opening in ("if", "when"):
                found.count = inner.count  # `ask me if it wants more than 10 results`
            elif not said and mood is Mood.ASK and any(done for done, _ in inner.groups):
                found.readings.append(inner)
            elif inner.phrases and opening in _EXCEPTING and not any(acts for acts, _ in inner.groups):
                found.exceptions += inner.phrases
            elif about and all(p.references for p in about):
                negative = any(w.text in ("not", "no", "never", "outside") for w in words) != (opening == "unless")
                found.phrases += [replace(p, outside=negative, preposition=p.preposition or "in") for p in about]
            else:
                found.condition += [opening, *(w.written for w in words)]
        return found


def _acts(verbs: tuple[Act, ...], phrases: list[Phrase], mood: Mood | None) -> tuple[tuple[Act, ...], list[Phrase]]:
    """What is done, also where a noun says it: `purchases`, `make purchases`, `no emails to strangers`."""
    if len(verbs) > 1:
        verbs = tuple(act for act in verbs if act.verb != "use") or verbs  # `used for reading`
    plain = [p for p in phrases if not p.preposition and not p.references and p.head not in THINGS]
    named = [p for p in plain if p.head in ACTS and ACTS[p.head][1] == "base"]
    if named and all(act.verb in _LIGHT for act in verbs):  # `inserts and updates are never to be run`
        return tuple(ACTS[p.head][0] for p in named), [_without_act(p) if p in named else p for p in phrases]
    if not verbs:
        acts = tuple(_named_acts(phrases, mood))
        if any(act.verb == "make_links" for act in acts):
            return acts, [p for p in phrases if "link" not in p.things or p.preposition]
        phrases = [
            replace(p, head="query", modifiers=(p.head,)) if p.head in _STATEMENTS and not p.preposition else p
            for p in phrases
        ]
        return acts, [_without_act(p) for p in phrases] if acts else phrases
    if any("link" in p.things and not p.preposition for p in phrases) and any(act.verb in _LIGHT for act in verbs):
        kept = [act for act in verbs if act.verb not in _LIGHT]
        return (ACTS["make_links"][0], *kept), [p for p in phrases if "link" not in p.things or p.preposition]
    nouns = [
        p
        for p in phrases
        if p.head in NOUNS_OF_ACTS and not p.preposition and p.head not in ("post", "reply", "command", "script")
    ]
    if not nouns or not any(act.verb in _LIGHT for act in verbs):
        return verbs, phrases
    kept = [act for act in verbs if act.verb not in _LIGHT]
    return (*(NOUNS_OF_ACTS[p.head] for p in nouns), *kept), [p for p in phrases if p not in nouns or p.references]


def _without_act(phrase: Phrase) -> Phrase:
    """`web searches` as the web, once searching is said."""
    acts = phrase.head in NOUNS_OF_ACTS or phrase.head in ACTS
    thing = phrase.head in THINGS and phrase.head != "change"
    if not acts or thing or phrase.references or phrase.preposition:
        return phrase
    return replace(phrase, head=phrase.modifiers[-1] if phrase.modifiers else "", modifiers=phrase.modifiers[:-1])


def _mail_in(words: Sequence[Word]) -> str:
    return next((thing for w in words for thing in ("email", "message") if thing in THINGS.get(w.singular, ())), "")


def _named_acts(phrases: Sequence[Phrase], mood: Mood | None) -> Iterator[Act]:
    if mood is Mood.PERMIT and any(p.is_new for p in phrases):
        yield ACTS["create"][0]  # `new cards are fine`
        return
    nouns = [p for p in phrases if p.head and not p.preposition]
    found = dict.fromkeys(NOUNS_OF_ACTS[p.head] for p in nouns if p.head in NOUNS_OF_ACTS)
    among_things = mood is Mood.FORBID and any(p.head not in NOUNS_OF_ACTS and p.head not in ANYTHING for p in nouns)
    if found and not (among_things and all(p.head.endswith("ing") for p in nouns if p.head in NOUNS_OF_ACTS)):
        yield from found  # and not of `filters, forwarding and delegates`, which are things
        return
    subjects = [p for p in phrases if not p.preposition and not p.references]
    mail = next((thing for p in subjects for thing in ("email", "message") if thing in p.things), "")
    to_people = any(p.preposition in ("to", "with") for p in phrases)
    if mail and (to_people or mood is not Mood.PERMIT):
        yield replace(ACTS["send"][0], thing=mail)
    elif any(p.things & {"command", "query"} or p.head in _STATEMENTS for p in subjects):
        yield ACTS["run"][0]
    elif any("link" in p.things and not p.preposition for p in phrases):
        yield ACTS["make_links"][0]
    elif any("page" in p.things for p in phrases) and mood is Mood.PERMIT:
        yield ACTS["fetch"][0]


def _elliptical(phrases: Sequence[Phrase], mood: Mood | None, *, alone: bool, verbal: bool) -> bool:
    """Whether what is done must have been said before: `but never in Invoices`; `if somebody is not in my contacts`."""
    if not phrases:
        return mood in (Mood.ASK, Mood.FORBID) or (mood is not None and not alone)
    if mood in (Mood.ASK, Mood.FORBID, Mood.OBLIGE) and any(p.pronoun in ("that", "so", "this", "it") for p in phrases):
        return True  # `never do that on Sundays`
    if not alone:
        return verbal or all(p.preposition or p.other or p.is_people or p.pronoun for p in phrases)
    if not all(p.preposition or p.is_people or p.outside or (p.other and not p.head) for p in phrases):
        return False
    return any(p.is_people or p.outside or p.other for p in phrases)


def _only_does(draft: _Draft) -> bool:
    """Whether the verb is what it is limited to."""
    words = [word.text for word in draft.words if word.text not in ("be", "ever", "for", "to", "used")]
    return any(one in ("only", "just", "solely", "exclusively") and two in ACTS for one, two in pairwise(words))


def _only(draft: _Draft) -> bool:
    """Whether it closes the rest: `only in Reports`, but not `only with my approval`."""
    if any(cue.name == "stick" for cue in draft.cues):
        return True
    asking = {i for cue in draft.cues if cue.name in ("ask", "unapproved") for i in range(cue.start, cue.end)}
    for index, word in enumerate(draft.words):
        if word.text in ("only", "solely", "exclusively", "nowhere") and index not in asking:
            asks_next = any(i in asking for i in range(index + 1, index + 4))
            if not asks_next or (
                index + 1 < len(draft.words) and draft.words[index + 1].text in PREPOSITIONS and index + 1 not in asking
            ):
                return True
    return False


def _resolved(phrases: Sequence[Phrase], before: Sequence[Clause]) -> list[Phrase]:
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


def _without_pronouns(phrases: list[Phrase]) -> list[Phrase]:
    """`except those in Diary`: what is in Diary."""
    named = [p for p in phrases if p.references or p.head]
    return named if any(p.references for p in named) else phrases


def _apposed(phrases: list[Phrase]) -> list[Phrase]:
    """`my other base, Bookkeeping`: the one that is named, and not all others."""
    if not any(p.references and not p.preposition for p in phrases):
        return phrases
    return [replace(p, other=False) if p.other and p.head and not p.preposition else p for p in phrases]


def _with_pairs(
    groups: list[tuple[tuple[Act, ...], list[Phrase]]], before: Sequence[Clause]
) -> list[tuple[tuple[Act, ...], list[Phrase]]]:
    """`in both`: the two that were named."""
    here = tuple(dict.fromkeys(r for _, phrases in groups for p in phrases for r in p.references))
    pair = next((group for group in (here, *_groups(before)) if len(group) == 2), ())

    def named(p: Phrase) -> Phrase:
        return replace(p, references=pair) if p.number == 2 and not p.head and not p.references else p

    return [(acts, [named(p) for p in phrases]) for acts, phrases in groups]


def _referred(phrase: Phrase, here: Sequence[Phrase], before: Sequence[Clause]) -> Phrase:
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
