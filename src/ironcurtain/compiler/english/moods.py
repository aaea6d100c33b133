"""What a clause does: permits, forbids, asks or obliges; and whether anything in it casts doubt on a yes."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english.cues import Line, Mood, idle_in, mood_of
from ironcurtain.compiler.english.lexicon import (
    ACTS,
    HARMLESS,
    NOUNS_OF_ACTS,
    PEOPLE,
    READ,
    THINGS,
)
from ironcurtain.compiler.english.reading import PREPOSITIONS, Reading
from ironcurtain.compiler.english.splitting import FINITE, Piece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ironcurtain.compiler.english.clauses import Clause
    from ironcurtain.compiler.english.words import Word

_HEDGES: Final = lexicon(
    """later nope tbd mine maybe depends perhaps someday soon tomorrow today tonight yesterday formerly anymore
    temporarily provisionally week weekend weekday month morning evening monday tuesday wednesday thursday friday
    saturday sunday respectively previously
    possibly probably complain fired nobody eventually sometimes occasionally unlike versus vs opposed"""
)
_NEGATIONS: Final = lexicon(
    """no not never nothing nobody none nowhere neither nor without hardly refuse refrain forbidden prohibited banned
    barred stop avoid except denied rarely seldom far scarcely barely"""
)
_CALLS: Final = lexicon("message mail email call query search request mails post step")
_LIMITING: Final = lexicon("starting subject wait up only just pending scratch hold make send draft show nah")
_BESIDE_VERBS: Final = lexicon("also therefore always then only still now too generally and or but , so :")
_WE_ACT: Final = lexicon("it you agent assistant bot ai model program helper software system claude tool one")
UNSETTLED: Final = lexicon(
    """approval permission consent approve approves confirm confirms authorise sign forbid forbids prohibit object deny
    denies denied back kidding beforehand revoked withdrawn expired withheld scrap forget cease quit skip ignore exempt
    exception taboo nope nah agree agrees informed mine reserved review reviewed rarely seldom dont mustnt cant wont"""
)


_HALF: Final = re.compile(
    r"\b(?:now and (?:then|again)|at times|in (?:most|some|many|such|those|these|certain) cases|in that case"
    r"|for the time being|from time to time|once in a while|only then|where (?:allowed|permitted)"
    r"|as (?:permitted|allowed)|for (?:this|that) purpose|(?:the|a) (?:first|second|last) time"
    r"|(?:two|three|several|many|few) times|sort of|kind of|with (?:permission|approval|consent)"
    r"|(?:other|another|different|second) (?:bot|agent|assistant|model)s?|to my liking"
    r"|(?:restrictions?|conditions?|limits) below|(?:may|can|might) (?:want|need|have|wish) to|had been|wait with"
    r"|off the table|another matter|carefully|one at a time|at work|after \w+ (?:ok|okay|approval)"
    r"|one recipient|a single (?:person|recipient)|sub ?(?:folder|director)\w*|use .{0,40}(?:for|as) (?:a )?reference"
    r"|(?:email|mail|message) (?:subjects?|headers?|titles?)|how many|number of|direct messages?"
    r"|(?:public|private) channels?|my profile)\b"
    r"|\b(?:(?<!at )(?<!the )most|several|parts? of|some of|recent|latest|designated|important|such|partly|mostly"
    r"|mainly|usually|normally|technically|theoretically|largely|roughly|somewhat|occasionally|his|her|copies of)\b"
    r"|^then\b| > "
)
"""A yes that is half a one, or not always one, or not for all of it."""


_POINTING: Final = re.compile(
    r"\b(?:these|those|their|its|(?:the )?mentioned|existing) (?:people|persons|recipients|contacts|websites|sites"
    r"|pages|channels|addresses|events?|files?|emails?|messages?|folders?|tables?)\b"
)
"""What points at something that was named; or else nobody can say which."""


def _points_at_nothing(text: str, before: Sequence[Clause]) -> bool:
    """`It may visit these websites`, of which none was named."""
    found = _POINTING.search(text)
    known = any(p.references or p.things for clause in before for p in clause.phrases)
    return found is not None and not known and not any(word in THINGS for word in text[: found.start()].split())


def only_insists(piece: Piece) -> bool:
    """Whether a prohibition consists of the no alone."""
    return all(
        word.is_mark or word.text in ("not", "ever", "never", "no", "at", "all", "really") for word in piece.words
    )


def has_a_stray_no(piece: Piece) -> bool:
    """Whether some word says no that was not understood to."""
    known = {i for cue in piece.cues for i in range(cue.start, cue.end)} | idle_in(piece.words)
    return any(word.text in _NEGATIONS and i not in known for i, word in enumerate(piece.words))


def is_of_somebody_else(piece: Piece) -> bool:
    """`Anna may send mail`, `it may be sent by me`, `fine for Anna`: whoever may, it is not the assistant."""
    words = piece.words
    for cue in piece.cues:
        active = cue.end < len(words) and words[cue.end].text in ACTS and ACTS[words[cue.end].text][1] == "base"
        if cue.name not in ("permit", "unasked", "no_need") or not active:
            continue
        before = cue.start - 1
        while before >= 0 and words[before].text in _BESIDE_VERBS:
            before -= 1
        said_by_others = before > 0 and words[before - 1].text in ("that", "whether", "if", "think", "says")
        if before >= 0 and (words[before].text not in _WE_ACT or said_by_others):
            return True
    known = {i for cue in piece.cues for i in range(cue.start, cue.end)} | idle_in(words)
    return any(
        word.text in ("by", "for", "with") and i not in known and _is_person(words[i + 1 : i + 3])
        for i, word in enumerate(words)
    )


def _is_person(words: Sequence[Word]) -> bool:
    plain = [w for w in words if w.text not in ("a", "an", "the", "my", "any")]
    if not plain:
        return False
    first = plain[0]
    ordinary = first.text in THINGS or first.text in ACTS
    named = first.reference is None and first.written[:1].isupper() and not ordinary
    return first.text in PEOPLE or first.text in ("me", "us", "human", "humans", "him", "her", "owner") or named


def names_the_owner(piece: Piece) -> bool:
    known = {i for cue in piece.cues for i in range(cue.start, cue.end)} | idle_in(piece.words)
    return any(
        w.text in ("me", "myself", "us", "owner", "him", "her") and i not in known for i, w in enumerate(piece.words)
    )


def mood_in(piece: Piece, reading: Reading, lead: Mood | None, before: Sequence[Clause]) -> Mood | None:
    """What a clause does, by its words or by what it stands under."""
    if any(cue.name == "same" for cue in piece.cues) and before:
        return before[-1].mood
    if piece.words and piece.words[0].text in ("i", "we") and not any(cue.start == 0 for cue in piece.cues):
        every = [*piece.words, *(word for _, words in piece.asides for word in words)]
        named = any(w.reference or w.text in UNSETTLED for w in every)
        refers = bool(before) and any(word.text in ("that", "it", "them", "this", "those") for word in piece.words)
        denies = bool(before) and mood_of(piece.cues) in (Mood.ASK, Mood.FORBID)
        taken_back = refers or denies or _speaks_of_what_was_permitted(reading, before)
        return Mood.ASK if named or taken_back else None  # `I run a small shop and have no time`
    mood = mood_of(piece.cues) or lead
    if mood is None:
        return _unsaid(piece, reading, before)
    told = {cue.name for cue in piece.cues} == {"imperative"}  # `Read my mail`, and nothing else that says yes
    doubtful = told and (not piece.instructed or _is_unclear(piece) or _is_unbounded(piece, reading))
    text = Line(piece.words).text
    half = _HALF.search(text) is not None or _points_at_nothing(text, before)
    if mood is Mood.PERMIT and (doubtful or half or _is_hedged(piece)):
        return Mood.ASK
    if mood is Mood.PERMIT and closes(piece) and reading.groups and _only_uses(reading):
        return Mood.OBLIGE  # `Git may only be used in Code` does not say for what
    if mood is Mood.OBLIGE and only_does(piece):
        return Mood.PERMIT  # `Archive should only be read`
    if mood is Mood.OBLIGE and any(word.text in UNSETTLED for word in piece.words):
        return Mood.ASK  # `Anna has to approve them`
    done = any(act.effects for acts, _ in reading.groups for act in acts)
    unclear = not done or bool(reading.said)  # `Posting in #staff has to wait`
    if mood is Mood.OBLIGE and unclear and any(word.reference for word in piece.words):
        return Mood.ASK  # `Archive must remain secret`
    return mood


def _unsaid(piece: Piece, reading: Reading, before: Sequence[Clause]) -> Mood | None:
    """What a clause does that says neither yes nor no."""
    if reading.count is not None:
        return Mood.FORBID  # `Max 5 people per mail`
    if before and [word.text for word in piece.words[:2]] == ["but", "not"]:
        return Mood.FORBID  # `but not at any other calendar`
    if closes(piece) and any(act.effects - READ for acts, _ in reading.groups for act in acts):
        return Mood.OBLIGE  # `New cards are made only in Ideas`
    comments = bool(before) and before[-1].mood is Mood.PERMIT and _comments(piece)
    limits = bool(before) and before[-1].mood is Mood.PERMIT and _is_fragment(piece)
    again = _speaks_of_what_was_permitted(reading, before)
    return Mood.ASK if comments or limits or again or closes(piece) or _wants_something(piece, reading) else None


def _is_fragment(piece: Piece) -> bool:
    """`At weekends.`, `Up to five posts.`, `Later.`: no sentence, but something of the one before it."""
    first = piece.words[0].text if piece.words else ""
    return first in PREPOSITIONS or first in _HEDGES or first in _LIMITING


def _speaks_of_what_was_permitted(reading: Reading, before: Sequence[Clause]) -> bool:
    """INVARIANT: what says neither yes nor no of something that was permitted makes it ask."""
    permitted = [act.effects for clause in before if clause.mood is Mood.PERMIT for act in clause.acts]
    spoken = [act for acts, _ in reading.groups for act in acts if act.effects]
    spoken += [NOUNS_OF_ACTS[p.head] for p in reading.phrases if p.head in NOUNS_OF_ACTS]
    return any(act.effects & effects for act in spoken for effects in permitted)


def _is_hedged(piece: Piece) -> bool:
    """`Archive later`, `read one file`: a yes that is none for ever and for all."""
    known = {i for cue in piece.cues for i in range(cue.start, cue.end)} | idle_in(piece.words)
    for index, (one, two) in enumerate(pairwise(piece.words)):
        prior = piece.words[index - 1].text if index else ""
        counted = prior in ("any", "each", "every", "no", "per", "than") or (prior == "in" and two.text in _CALLS)
        single = one.text == "one" and two.text in THINGS and not counted
        done = any(word.text in ACTS and not word.reference for word in piece.words[:index])
        what = two.text in ("you", "it", "i", "we", "they", "happens") or (done and two.text not in ("is", "are"))
        told = one.text in ("what", "whatever") and what
        told = told and (index not in known or any(word.reference for word in piece.words[:index]))
        told = told or (
            done and one.text in ("just", "only") and ACTS.get(two.text, ("", ""))[1] == "base"
        )  # `and in #staff just read`
        acts = two.text in ("does", "will") or (two.text in ACTS and ACTS[two.text][1] == "s")
        somebody = one is not piece.words[0] and not one.reference and one.written[:1].isupper() and acts
        ordinary = one.text in HARMLESS or one.text in THINGS or one.text in ACTS or one.written.isupper()
        if single or told or (somebody and not ordinary):
            return True
    return any(w.text in _HEDGES and i not in known for i, w in enumerate(piece.words))


def _comments(piece: Piece) -> bool:
    """`Only if Anna agrees.`, `That is Anna's job.`: something of what was just permitted."""
    first = piece.words[0].text if piece.words else ""
    if piece.opening in ("but", "though", "although", "however", "yet"):
        return True
    return first in ("that", "this", "these", "those", "they", "it") or (bool(piece.asides) and not first)


def _only_uses(reading: Reading) -> bool:
    acts = [act for acts, _ in reading.groups for act in acts]
    return bool(acts) and all(act.verb == "use" for act in acts)


def _is_unclear(piece: Piece) -> bool:
    """Whether what looks like an instruction may be none: `Open questions go to Anna`."""
    known = {i for cue in piece.cues for i in range(cue.start, cue.end)}
    plain = [word.text for index, word in enumerate(piece.words) if index not in known and not word.reference]
    return has_a_stray_no(piece) or any(text in UNSETTLED or text in FINITE for text in plain)


def _is_unbounded(piece: Piece, reading: Reading) -> bool:
    """`Send email`, to whom and where it likes."""
    named = piece.named or any(word.reference for word in piece.words)
    return not named and any(act.effects - READ for acts, _ in reading.groups for act in acts)


def _wants_something(piece: Piece, reading: Reading) -> bool:
    """Whether a sentence that says neither yes nor no may still mean no: it names a place or a person, or denies."""
    named = any(p.references for p in reading.phrases) or any(w.reference for _, words in piece.asides for w in words)
    back = any(word.text in ("latter", "former") for word in piece.words)
    return named or back or has_a_stray_no(piece) or any(word.text in UNSETTLED for word in piece.words)


def only_does(piece: Piece) -> bool:
    """Whether the verb is what it is limited to."""
    words = [word.text for word in piece.words if word.text not in ("be", "ever", "for", "to", "used")]
    return any(one in ("only", "just", "solely", "exclusively") and two in ACTS for one, two in pairwise(words))


def closes(piece: Piece) -> bool:
    """Whether it closes the rest: `only in Reports`, but not `only with my approval`."""
    if any(cue.name == "stick" for cue in piece.cues):
        return True
    asking = {i for cue in piece.cues if cue.name in ("ask", "unapproved") for i in range(cue.start, cue.end)}
    for index, word in enumerate(piece.words):
        if word.text in ("only", "solely", "exclusively", "nowhere") and index not in asking:
            asks_next = any(i in asking for i in range(index + 1, index + 4))
            if not asks_next or (
                index + 1 < len(piece.words) and piece.words[index + 1].text in PREPOSITIONS and index + 1 not in asking
            ):
                return True
    return False
