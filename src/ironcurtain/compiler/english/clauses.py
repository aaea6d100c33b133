"""A sentence as clauses: what may, must not or needs a yes; with what was said before where words refer to it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english.cues import EMPHATIC, Line, Mood, cues_in, mood_of
from ironcurtain.compiler.english.lexicon import (
    ACTS,
    ANYTHING,
    EVERY,
    FILES,
    HARMLESS,
    HOLDS,
    NOUNS_OF_ACTS,
    PEOPLE,
    THINGS,
    Act,
)
from ironcurtain.compiler.english.moods import (
    UNSETTLED,
    closes,
    has_a_stray_no,
    is_of_somebody_else,
    mood_in,
    names_the_owner,
    only_does,
    only_insists,
)
from ironcurtain.compiler.english.reading import Count, Phrase, Reading, read
from ironcurtain.compiler.english.referring import apposed, resolved, with_pairs, without_pronouns
from ironcurtain.compiler.english.splitting import EXCEPTING, STRONG, WEAK, Piece, label_of, narrowed, pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ironcurtain.compiler.english.words import Word

_CHANGING: Final = lexicon("change alter modify edit update make_changes_to touch write_to")
_ITEMS: Final = lexicon("event card task issue message file note row record cell ticket")
_HOLDING: Final = ("inside", "within", "under", "of")
_WHEN: Final = lexicon("after before until till once while during whenever")
"""What stands before a time, and not before a place: `after asking in Archive`."""
_GRANTING: Final = lexicon("with except excepting save anywhere anyone anything everything nothing excluding")
"""`Nothing except X` lets X be; `nobody other than X` does not say so."""
_PREDICATES: Final = lexicon(
    "is are be was were need needs require requires offlimits forbidden fine ok has have allowed"
)
_STATEMENTS: Final = lexicon("select insert update delete drop truncate")
_USING: Final = lexicon("use work_with work_on handle deal_with manage")
_BEFORE: Final = lexicon("before until unless")
_STANDING: Final = lexicon(
    "is are be comes come stays stay run made saved kept done put stored goes go belongs belong one"
)
_PLACING: Final = lexicon("in into inside within on onto to at under from of is are one among")
_ITS: Final = re.compile(r"\b(?:its|their)\b", re.IGNORECASE)
_JOINING: Final = STRONG | WEAK
_EXPLAINS: Final = re.compile(r"(?:, )?(?:that|which|this) means\b|(?:, )?meaning\b")
_CORRECTS: Final = re.compile(
    r"\b(?:no wait|wait no|wait ,|i mean|i meant|sorry|correction|scratch that|make that|or rather|oops|strike that)\b"
)
"""`Post in #staff, no wait, #team`: whatever was said, it was not meant."""
_EMPTYING: Final = lexicon("clear empty wipe purge clean_out clear_out")
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
    sticks: bool = False
    """Nothing at all is to be done elsewhere: `Stick to Projects`."""
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


def clauses_of(
    words: Sequence[Word], lead: Mood | None, before: Sequence[Clause], *, instructed: bool = True
) -> list[Clause]:
    """The clauses of one sentence.

    `lead` is the mood of what it stands under, `before` what was said before it; `instructed`, whether to be told to do
    something is to be permitted to.
    """
    found: list[Clause] = []
    second = _second_label(words)
    if second:
        first = clauses_of(words[:second], lead, before, instructed=instructed)
        return [*first, *clauses_of(words[second:], lead, [*before, *first], instructed=instructed)]
    label = label_of(words)
    topic = read(words[:label], [])
    about = tuple(replace(p, preposition=p.preposition or "in") for p in topic.phrases if p.references)
    done = tuple(act for acts, _ in topic.groups for act in acts)
    if label and _says_only_what_about(words[:label]):
        words, before = words[label:], [Clause(None, (), about)]
    for number, piece in enumerate(pieces_of(narrowed(words), led=lead is not None)):
        piece.instructed, piece.named, piece.first = instructed, bool(about), not number
        for said in _clauses(piece, lead, [*before, *found]):
            clause = _in_the_same_place(said, found[-1]) if found else said
            if not any(p.references for p in clause.phrases):  # `Exports: read the files, write nothing`
                acts = clause.acts or (
                    (Act("touch", EVERY),) if about and clause.mood in (Mood.FORBID, Mood.ASK) else ()
                )
                clause = replace(clause, acts=acts, phrases=(*clause.phrases, *about))
            if done and all(act.verb == "touch" for act in clause.acts):  # `Writing: Projects yes, Invoices no`
                clause = replace(clause, acts=done)
            found.append(clause)
    if about and not any(clause.mood for clause in found):  # `Archive: Anna's`
        found.append(Clause(Mood.ASK, (Act("touch", EVERY),), about, unsettled=True))
    if about and _is_done_only(words):
        found = [replace(clause, only_act=clause.mood is Mood.PERMIT) for clause in found]  # `#staff: read`
    if _CORRECTS.search(Line(words).text):
        found = [replace(c, condition=(*c.condition, "a correction")) if c.mood is Mood.PERMIT else c for c in found]
    return _under_conditions(_asked_only_there(found))


def _is_done_only(words: Sequence[Word]) -> bool:
    """Whether there is nothing but what is done: `read and write`."""
    return bool(words) and all(w.text in ACTS or w.is_mark or w.text in ("and", "or") for w in words)


def _asked_only_there(clauses: list[Clause]) -> list[Clause]:
    """`Commands need my okay and have to be run in Reports`: they ask there, and elsewhere they are forbidden."""
    found = list(clauses)
    for index, (one, two) in enumerate(pairwise(clauses)):
        bound = one.mood is Mood.ASK and two.mood is Mood.OBLIGE and two.only and one.acts == two.acts
        if bound and not any(p.references for p in one.phrases):
            found[index] = replace(one, phrases=(*one.phrases, *(p for p in two.phrases if p.references)))
    return found


def _under_conditions(clauses: list[Clause]) -> list[Clause]:
    """INVARIANT: a condition that stands by itself holds for every permission of its sentence."""
    bare = [clause for clause in clauses if clause.mood is None or not (clause.acts or clause.phrases)]
    asked = ("asking",) if any(clause.mood is Mood.ASK for clause in bare) else ()  # `When I have agreed, you can`
    lost = (*asked, *(word for clause in bare for word in clause.condition))
    return [replace(c, condition=(*c.condition, *lost)) if lost and c.mood is Mood.PERMIT else c for c in clauses]


def _second_label(words: Sequence[Word]) -> int:
    """Where another name and a colon begin something new: `#team: post, #staff: read`."""
    for index in range(1, len(words) - 1):
        begins = words[index - 1].text in (",", ";", "-", "and", "but")
        if begins and words[index].reference and words[index + 1].text == ":" and label_of(words):
            return index
    return 0


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


def _says_only_what_about(label: Sequence[Word]) -> bool:
    """Whether a label consists of names and of what is done."""
    return not cues_in(label) and all(
        w.reference or w.is_mark or w.text in HARMLESS or (w.text in ACTS and ACTS[w.text][1] == "ing") for w in label
    )


def _clauses(piece: Piece, lead: Mood | None, before: Sequence[Clause]) -> Iterator[Clause]:
    reading = read(piece.words, piece.cues)
    mood = mood_in(piece, reading, lead, before)
    asides = _Asides.of(piece, mood, said=any(acts or phrases for acts, phrases in reading.groups))
    readings = asides.readings or [reading]
    groups = [(acts, [*phrases, *asides.phrases]) for each in readings for acts, phrases in each.groups]
    if mood is not Mood.FORBID:
        groups = _used_for(_in_one_place(with_pairs(groups, before)))
    earlier = list(before)
    for verbs, spoken in groups:
        if before and before[-1].mood is Mood.FORBID and not (verbs or spoken) and only_insists(piece):
            continue  # `No posts about grades. Not ever.` says nothing new
        acts, phrases = _completed(piece, verbs, spoken, mood, before)
        if reading.count is not None and not any(act.effects for act in acts) and (mail := _mail_in(piece.words)):
            acts, phrases = (replace(ACTS["send"][0], thing=mail),), [p for p in phrases if not p.is_people]
        phrases = _innermost(apposed(resolved(phrases, earlier)))
        stranger = mood in (Mood.PERMIT, Mood.OBLIGE) and is_of_somebody_else(piece)
        if stranger and closes(piece):
            mood, stranger, acts = Mood.FORBID, False, (Act("touch", EVERY),)  # `Archive may only be used by me`
        told = lead is not None or any(cue.name == "same" for cue in piece.cues)
        unsettled = mood is Mood.ASK and mood_of(piece.cues) in (None, Mood.OBLIGE) and not told
        unclear = mood is Mood.ASK and {cue.name for cue in piece.cues} == {"imperative"}
        unclear = unclear and any(word.text in UNSETTLED for word in piece.words)
        unsettled = unsettled or (unclear and any(p.references for p in phrases))  # `Scrap Archive`
        if unsettled or stranger:  # it is not clear what is meant: whatever it speaks of asks
            named = [replace(p, outside=False, other=False) for p in (*phrases, *asides.exceptions) if p.references]
            known = {r for p in named for r in p.references}
            lost = [w.reference for w in piece.words if w.reference and w.reference not in known]
            named += [Phrase("in", references=(reference,)) for reference in lost]
            acts, phrases, asides = (Act("touch", EVERY),), named, _Asides()
        if mood in (Mood.ASK, Mood.FORBID):
            acts = tuple(_of_what_it_holds(act, phrases) for act in acts)
            phrases = _emptied(acts, phrases)
        if not acts and mood is not None and (phrases or asides.exceptions):
            acts = (Act("touch", frozenset({"read"}) if mood is Mood.PERMIT else EVERY),)
        clause = Clause(
            mood=Mood.ASK if stranger else mood,
            acts=acts,
            phrases=tuple(phrases),
            exceptions=tuple(resolved(without_pronouns(asides.exceptions), earlier)),
            condition=tuple(asides.condition),
            count=reading.count or asides.count,
            only=closes(piece) and not any(cue.name == "readonly" for cue in piece.cues),
            only_act=only_does(piece),
            sticks=any(cue.name == "stick" for cue in piece.cues) and not verbs,
            read_only=any(cue.name == "readonly" for cue in piece.cues),
            emphatic=EMPHATIC.search(Line(piece.words).text) is not None,
            said=reading.said,
            negated=has_a_stray_no(piece),
            oneself=names_the_owner(piece),
            grants=any(opening in _GRANTING for opening, _ in piece.asides),
            unsettled=unsettled or stranger,
            text=" ".join(word.written for word in piece.words),
        )
        if clause.says_something:
            earlier.append(clause)
            yield clause
            yield from _to_be_read(clause, piece)
    if mood in (Mood.PERMIT, None):
        yield from _withheld(asides, earlier, piece)


def _withheld(asides: _Asides, earlier: Sequence[Clause], piece: Piece) -> Iterator[Clause]:
    """What a permission does not go as far as: it asks."""
    for verbs, spoken in (group for each in asides.withheld for group in each.groups):
        named = tuple(p for p in resolved(spoken, earlier) if p.references or p.head)
        if verbs or named:
            touched = verbs or (Act("touch", EVERY),)
            yield Clause(Mood.ASK, touched, named, text=" ".join(word.written for word in piece.words))


def _to_be_read(clause: Clause, piece: Piece) -> Iterator[Clause]:
    """`Minutes is for reading only` says that it may be read; `Minutes stays as it is` does not."""
    cued = [piece.words[i].text for cue in piece.cues if cue.name == "readonly" for i in range(cue.start, cue.end)]
    read_at = any(word in ("read", "reading", "looked", "looking", "viewed", "viewing") for word in cued)
    if clause.read_only and read_at and any(p.references for p in clause.phrases):
        yield replace(clause, mood=Mood.PERMIT, acts=(ACTS["read"][0],), read_only=False, emphatic=False)


def _innermost(phrases: list[Phrase]) -> list[Phrase]:
    """`The Archive folder inside Orders` without Orders."""
    paths = [value for p in phrases for r in p.references if r.kind == "directory" for value in r.values]

    def holds(p: Phrase) -> bool:
        own = [value for r in p.references for value in r.values]
        return p.preposition in _HOLDING and any(path.startswith(f"{value}/") for value in own for path in paths)

    return [p for p in phrases if not holds(p)]


def _of_what_it_holds(act: Act, phrases: Sequence[Phrase]) -> Act:
    """`The Private calendar must not be changed`: nothing is added to it and nothing goes."""
    held = any(p.references and p.preposition in ("", "in", "on", "to") and p.head not in _ITEMS for p in phrases)
    items = any(p.head and not p.references and not p.preposition and p.head not in ANYTHING for p in phrases)
    if act.verb not in _CHANGING or not held or items:
        return act
    return replace(act, effects=act.effects | {"create", "update", "delete", "move"}, words=frozenset())


def _emptied(acts: Sequence[Act], phrases: list[Phrase]) -> list[Phrase]:
    """`Don't clear my calendar`: its events are what would go."""
    if not any(act.verb in _EMPTYING for act in acts):
        return phrases
    held = {inner for p in phrases if not p.preposition for thing in p.things for inner in HOLDS.get(thing, ())}
    return [*phrases, *(Phrase(head=inner) for inner in sorted(held))]


def _completed(
    piece: Piece, verbs: tuple[Act, ...], spoken: list[Phrase], mood: Mood | None, before: Sequence[Clause]
) -> tuple[tuple[Act, ...], list[Phrase]]:
    """What is done and to what, with what the clause before it said where this one leaves it out."""
    acts, phrases = _acts(verbs, spoken, mood)
    if not before:
        return acts, phrases
    last = before[-1]
    named = [p for p in last.phrases if p.references]
    if _EXPLAINS.match(Line(piece.words).text) or (acts and not phrases and piece.opening in (":", "-")):
        return acts, named  # `leave it alone: no listing`
    if acts and piece.opening == "which":
        return acts, [*[p for p in (*last.phrases, *last.exceptions) if p.references or p.head][-1:], *phrases]
    if acts and piece.opening in _JOINING and _lacks_a_subject(piece, phrases):
        return acts, [*(p for p in last.phrases if not p.preposition and p.head), *phrases]
    if acts:
        return acts, phrases
    if piece.opening == "which":
        return acts, [*[p for p in (*last.phrases, *last.exceptions) if p.references or p.head][-1:], *phrases]
    lower = bool(piece.words) and piece.words[0].written[:1].islower()
    goes_on = piece.opening in _JOINING or (lower and not (piece.first and mood is Mood.PERMIT))
    spoken_cues = [piece.words[i].text for cue in piece.cues for i in range(cue.start, cue.end)]
    verbal = bool(spoken_cues) and not any(word in _PREDICATES for word in spoken_cues)  # `but never all orders`
    if not _elliptical(phrases, mood, alone=not goes_on, verbal=verbal):
        return acts, phrases
    if not any(p.head and not p.is_people and not p.preposition for p in phrases):
        phrases = [*(p for p in last.phrases if not p.preposition and not p.references), *phrases]
    if any(p.other for p in phrases):
        phrases = [*(p for p in last.phrases if _is_an_app(p)), *phrases]
    if mood is Mood.ASK and not any(p.references or p.other or p.outside for p in phrases):
        phrases = [*phrases, *named]  # `It may post in #staff. Ask me first.`
    same = [clause for clause in before if clause.text == last.text]
    return tuple(dict.fromkeys(act for clause in same for act in clause.acts)), phrases


def _is_an_app(phrase: Phrase) -> bool:
    """`On GitHub`: what a sentence is about to its end."""
    name = phrase.written[-1] if phrase.written else ""
    return phrase.preposition in ("on", "in") and not phrase.references and name[:1].isupper()


def _lacks_a_subject(piece: Piece, phrases: Sequence[Phrase]) -> bool:
    """`Commands need my approval and have to be run in Reports`."""
    passive = any(w.text == "be" and not w.reference for w in piece.words)
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


def _used_for(groups: list[tuple[tuple[Act, ...], list[Phrase]]]) -> list[tuple[tuple[Act, ...], list[Phrase]]]:
    """`use Archive for reading` permits reading."""
    using = [(acts, phrases) for acts, phrases in groups if acts and all(act.verb in _USING for act in acts)]
    others = [(acts, phrases) for acts, phrases in groups if (acts, phrases) not in using]
    if not using or not any(acts for acts, _ in others):
        return groups
    spoken = [p for _, phrases in using for p in phrases]
    return [(acts, [*phrases, *(p for p in spoken if p not in phrases)]) for acts, phrases in others]


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
    withheld: list[Reading] = field(default_factory=list)
    """What a permission does not go as far as: `anything short of deleting events`."""
    readings: list[Reading] = field(default_factory=list)
    """What is done, where only the condition says so: `if an event has to be changed, ask me`."""

    @classmethod
    def of(cls, piece: Piece, mood: Mood | None, *, said: bool) -> _Asides:
        found = cls()
        for opening, words in piece.asides:
            inner = read(words, [])
            about = [p for p in inner.phrases if p.references or p.other]
            if inner.count is not None and opening in ("if", "when"):
                found.count = inner.count  # `ask me if it wants more than 10 results`
            elif not said and mood is Mood.ASK and any(done for done, _ in inner.groups):
                found.readings.append(inner)
            elif mood is Mood.ASK and opening in ("if", "when", "whenever") and _only_names_things(inner):
                found.phrases += inner.phrases  # `if an event has to be changed, ask me`
            elif inner.phrases and opening in EXCEPTING and not any(acts for acts, _ in inner.groups):
                found.exceptions += inner.phrases
            elif (
                about
                and all(p.references for p in about)
                and (mood is Mood.ASK or (opening not in _WHEN and _says_where(words)))
            ):
                negative = any(w.text in ("not", "no", "never", "outside") for w in words) != (opening == "unless")
                found.phrases += [replace(p, outside=negative, preposition=p.preposition or "in") for p in about]
            else:
                found.condition += [opening, *(w.written for w in words)]
                if opening in EXCEPTING or opening in _BEFORE:
                    found.withheld.append(inner)
        return found


def _only_names_things(reading: Reading) -> bool:
    plain = all(p.head in THINGS and not p.references and not p.preposition for p in reading.phrases)
    return bool(reading.phrases) and plain and not any(acts for acts, _ in reading.groups)


def _says_where(words: Sequence[Word]) -> bool:
    """`they are run in Reports`, `everyone is one of my colleagues`: of what is done, and of nothing else.

    INVARIANT: a name in a condition is permitted only if the condition says no more than that it is there.
    """
    named = next((i for i, word in enumerate(words) if word.reference), len(words))
    before = [w for w in words[:named] if (w.text not in HARMLESS or w.text == "mentioned") and not w.is_mark]
    plain = all(w.singular in THINGS or w.text in PEOPLE or w.text in _STANDING or w.text in ANYTHING for w in before)
    placed = any(word.text in _PLACING for word in words[max(0, named - 3) : named])
    after = all(w.reference or w.text in HARMLESS or w.is_mark or w.text in _PLACING for w in words[named:])
    return plain and placed and after


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
    named = mood is not Mood.PERMIT or any(p.references for p in phrases)  # `The members list is fine` permits no mail
    return any((p.is_people and named) or p.outside or p.other for p in phrases)
