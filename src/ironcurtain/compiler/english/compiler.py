"""The built-in compiler: a constitution, the annotated tools and the set-up in; rules, limits and a report out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english.clauses import Clause, clauses_of
from ironcurtain.compiler.english.cues import Mood, cues_in, mood_of
from ironcurtain.compiler.english.document import LONGEST, Sentence, sentences_of
from ironcurtain.compiler.english.drafts import Draft, Rank, Understanding
from ironcurtain.compiler.english.grounding import Tools
from ironcurtain.compiler.english.lexicon import ACTS, ANYTHING, EVERY, HARMLESS, PEOPLE, THINGS, Act
from ironcurtain.compiler.english.limits import limit_of
from ironcurtain.compiler.english.naming import named_things
from ironcurtain.compiler.english.order import Placed, ordered
from ironcurtain.compiler.english.reading import Phrase, read
from ironcurtain.compiler.english.splitting import label_of
from ironcurtain.compiler.english.words import words_in
from ironcurtain.compiler.english.writer import Writer, guards_of
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.compiler.english.surface import Surface
    from ironcurtain.compiler.english.words import Word
    from ironcurtain.compiler.setup import Known

_RECORDED: Final = re.compile(
    r"\b(?:every|all|each|any)\b.{0,30}\b(?:calls?|actions?|steps?|requests?)\b.{0,30}"
    r"\b(?:logged|recorded|audited|documented|traceable)\b|\baudit trail\b",
    re.IGNORECASE,
)
_REFUSED: Final = re.compile(
    r"\bmay (?:only )?do (?:only )?what is (?:permitted|allowed)\b|\bleast privilege\b"
    r"|\bmay only (?:access|use|do|touch)\b.*\b(?:explicitly )?(?:permitted|allowed|granted)\b"
    r"|\b(?:nothing|anything) (?:that is |which is |i have )?not (?:listed|mentioned|allowed|permitted|named)"
    r"|everything else is (?:forbidden|off limits|denied|not allowed)|what is not allowed is forbidden"
    r"|actions? (?:that )?i would not (?:approve|want|agree)",
    re.IGNORECASE,
)
_KEPT: Final = (
    (_RECORDED, "every call is recorded before it happens, whatever the policy says"),
    (_REFUSED, "what no rule allows is refused"),
)
"""Sentences that hold whatever the rules say."""
_TOUCHES_NOTHING: Final = re.compile(
    r"\btools? that (?:touch(?:es)?|change(?:s)?) nothing\b.*\b(?:permitted|allowed|fine|okay|ok)\b", re.IGNORECASE
)
_WHO: Final = (
    r"(?:(?:my|our|the|this|your) (?:(?!old|former|previous|last|other)\w+ ){0,2}(?:assistant|agent|helper|bot|ai))"
)
_TITLES: Final = re.compile(
    rf"(?:(?:the|my|our|your|house|ground|general|basic|some|a few|short|simple) )*"
    rf"(?:rules?|guidelines?|instructions?|notes?|constitution|policy)"
    rf"(?: for {_WHO}(?: that works (?:on|with|for) .*)?)?"
    rf"|what (?:{_WHO}|it|you) (?:may|can|is allowed to|are allowed to|is permitted to) (?:and (?:may|can) not )?do"
    rf"|{_WHO}|everywhere|general|everything|all tools|always",
    re.IGNORECASE,
)
"""Headings that say no more than that rules follow."""
_LEADS_ON: Final = re.compile(
    r"\b(?:this|these|those|that|here|what|following|below|above|such|like|examples?|list|requests?|things?|actions?|so|them|rules?"
    r"|instructions?|used to|do|does|did)\b",
    re.IGNORECASE,
)
"""Words of a sentence that may speak of what comes after it."""
_POINTS_ON: Final = re.compile(r"\b(?:following|below|list|examples?)\b", re.IGNORECASE)
_INTRODUCES: Final = re.compile(
    r"(?:\W*(?:hi|hello|hey|dear|welcome|ok|okay|so)\b[^,.!:]{0,30}[,.!:])?\s*"
    r"(?:this|these|here|below|the following)(?: rules?| guidelines?| notes?)?(?: is| are|['\u2019]s) "
    rf"(?:what (?:{_WHO}|you|it) (?:can|may)(?: and (?:can['\u2019]?t|cannot|can not|may not))? do"
    r"(?: while [\w' ]{1,40})?"
    rf"|(?:the|my|our|some|a few) (?:\w+ )?(?:rules?|guidelines?)(?: for {_WHO})?)[.!]?",
    re.IGNORECASE,
)
"""A sentence that says that rules follow."""
_SMALL: Final = ("the", "my", "our", "in", "on", "and", "for")
_OF_HEADINGS: Final = lexicon(
    "what things rules rule list do does dos allowed fine ok okay permitted without asking data"
)
_FIRST: Final = re.compile(
    r"(?:i|we|show|send|give|let)\b.*\b(?:see|text|draft|wording|version|copy|preview|it|me|us)\b.*\b(?:first|beforehand)\W*$",
    re.IGNORECASE,
)
"""`I'd like to see the text first`: of what was permitted just before."""
_REFERS: Final = re.compile(r"\w+ (?:that|this|it)\b", re.IGNORECASE)
"""`Make that #team only`."""
_ENDING: Final = lexicon("lock close cancel revoke archive stop leave skip")
_NOT_OF_IT: Final = lexicon("i we she he they was were")
_IN_DOUBT: Final = re.compile(
    r"(?:when|if|whenever|where) (?:it is |you are |it |the \w+ is )?(?:in doubt|unsure|uncertain|not sure|unclear)"
    r"|for (?:anything|everything) else\b.{0,20}\bask"
    r"|(?:anything|everything) else\b.{0,40}\b(?:ask|approval|okay|ok|permission)"
    r"|ask (?:me )?(?:about|for|before) (?:anything|everything) else",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reported:
    """One sentence, and what became of it."""

    sentence: Sentence
    verdict: str
    """`rules`, `limits`, `kept` (it holds anyway), `asks` (not sure), `nothing` (no tool), `background` (no rule)."""
    rules: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Compiled:
    """What a constitution came to."""

    rules: list[dict[str, Any]] = field(default_factory=list)
    limits: dict[str, Any] = field(default_factory=dict)
    report: list[Reported] = field(default_factory=list)

    @property
    def lists(self) -> frozenset[str]:
        """The lists that rules refer to."""
        text = repr(self.rules)
        return frozenset(re.findall(r"'@([^']+)'", text))


def compile_constitution(text: str, surfaces: Iterable[Surface], known: Known) -> Compiled:
    """Compile one constitution."""
    if len(text) > LONGEST:
        raise Refusal("constitution_too_long", f"more than {LONGEST} characters", "say it in fewer words")
    sentences = sentences_of(text)
    reader = _Reader(text, Tools(surfaces), known)
    understood = [reader.understand(sentence) for sentence in sentences]
    drafts = [
        Placed(draft, number)
        for number in range(len(sentences))
        for meaning in _yielding(number, understood, sentences)
        for draft in meaning.drafts
    ]
    drafts += [Placed(guard, -1) for guard in guards_of(placed.draft for placed in drafts)]
    drafts = _with_care_for_commands(drafts, understood)
    return _written(sentences, understood, drafts)


def _with_care_for_commands(drafts: list[Placed], understood: list[list[Understanding]]) -> list[Placed]:
    """A command can do whatever another sentence forbids: where something is forbidden, commands ask."""
    if not any(placed.draft.then is Mood.FORBID and placed.draft.rank is not Rank.CLOSED for placed in drafts):
        return drafts
    found = []
    for placed in drafts:
        draft = placed.draft
        runs = any("command" in tool.all_roles and not tool.statement for tool in draft.tools)
        if draft.then is Mood.PERMIT and runs:
            note = "a command may do what another sentence forbids, so it asks"
            understood[placed.sentence][0].notes.append(note)
            draft = replace(draft, then=Mood.ASK, rank=Rank.ASKED)
        found.append(Placed(draft, placed.sentence))
    return found


class _Reader:
    """Reads one sentence after the other, each in the light of those before it."""

    def __init__(self, text: str, tools: Tools, known: Known) -> None:
        things = named_things(text)
        self._tools = tools
        self._known = known
        self._literals = frozenset(things)
        self._writer = Writer(tools, known, things)
        self._before: list[Clause] = []
        self._headings: tuple[str, ...] = ()
        self._topic: frozenset[str] = frozenset()
        self._permitted: list[Draft] = []
        """What the last sentence that permitted something permits."""
        self._about: frozenset[str] = frozenset()
        """The sorts of things that the headings speak of."""
        self._led_on = False
        """Something was said that may speak of what comes after it."""

    def understand(self, sentence: Sentence) -> list[Understanding]:
        """What a sentence says."""
        if sentence.headings != self._headings:
            self._headings, self._topic, self._before = sentence.headings, frozenset(), []
            self._led_on, self._about, self._permitted = False, frozenset(), []
            spoken = [word.singular for heading in sentence.headings for word in self._words(heading)]
            self._about = frozenset(thing for word in spoken for thing in THINGS.get(word, ()))
            self._before = [Clause(None, (), (Phrase(head=word),)) for word in spoken if word in THINGS][-1:]
        limits = limit_of(sentence.text)
        why = next((why for pattern, why in _KEPT if pattern.search(sentence.text)), None)
        if limits or why:
            plain = Understanding(Clause(None, (), ()), None, notes=[why] if why else [], limits=limits)
            others = [each for each in self._clauses(sentence) if each.mood is not Mood.PERMIT or not limits]
            bare = why or "repeats" in limits
            named = [each for each in others if _takes_back(each)]
            kept = named if bare else [each for each in others if each.clause.count is None or each in named]
            return [plain, *kept]
        if _INTRODUCES.fullmatch(sentence.text):
            self._led_on = True  # of what, it is for the sentences after it to say
            return []
        if _TOUCHES_NOTHING.search(sentence.text):
            harmless = Draft(Mood.PERMIT, Rank.PERMITTED_IN_GENERAL_AS_A_WHOLE, side_effects=False)
            return [Understanding(Clause(Mood.PERMIT, (), ()), Mood.PERMIT, drafts=[harmless])]
        if _IN_DOUBT.search(sentence.text):
            last = Understanding(Clause(Mood.ASK, (), ()), Mood.ASK)
            last.drafts.append(Draft(Mood.ASK, Rank.LAST, elsewhere=True))
            others = self._clauses(sentence)
            return [last, *(each for each in others if _takes_back(each))]
        return self._clauses(sentence)

    def _clauses(self, sentence: Sentence) -> list[Understanding]:
        lead, words = self._led(sentence)
        label, server = self._server(words)
        instructed = self._is_neutral(sentence, words)
        clauses = clauses_of(words[label:], lead, [] if server else self._before, instructed=instructed)
        asked = "?" in sentence.text and not cues_in(self._words(sentence.text.rpartition("?")[2]))
        named = [p for heading in sentence.headings for p in read(self._words(heading), []).phrases if p.references]
        confined = bool(server)
        clauses = [_under(replace(each, negated=each.negated or asked, confined=confined), named) for each in clauses]
        self._before += clauses
        scope, found = server or self._scope(sentence), list[Understanding]()
        for clause in clauses:
            found.append(self._writer.understand(clause, scope, sentence.text, self._topic))
            self._topic = found[-1].servers or self._topic
            own = any(each.mood is Mood.PERMIT for each in clauses if each is not clause)
            self._take_back(clause, found[-1], scope, sentence.text, own=own)
        self._permitted = [d for each in found for d in each.drafts if d.then is Mood.PERMIT] or self._permitted
        self._led_on = self._led_on or self._leads_on(sentence, words, found)
        return found

    def _take_back(
        self, clause: Clause, meaning: Understanding, scope: frozenset[str], sentence: str, *, own: bool
    ) -> None:
        """INVARIANT: what falls on nothing falls on what was permitted before it: what it names, or else the last.

        Where a sentence permits something of its `own`, it is about that.
        """
        named = tuple(p for p in clause.phrases if p.references)
        ends = any(not act.effects or "delete" in act.effects or act.verb in _ENDING for act in clause.acts)
        if (
            clause.mood is Mood.PERMIT and not meaning.drafts and named and ends
        ):  # `Drop Archive`, `You can skip Archive`
            permitted = {
                r for each in self._before if each.mood is Mood.PERMIT for p in each.phrases for r in p.references
            }
            again = tuple(p for p in named if any(r in permitted for r in p.references))
            if again and not clause.confined:
                back = replace(clause, mood=Mood.ASK, acts=(Act("touch", EVERY),), phrases=again, unsettled=True)
                meaning.drafts += self._writer.understand(back, scope, sentence, self._topic).drafts
        nothing = not meaning.drafts and clause.mood is not None and not own
        bare = nothing and all(act.verb == "touch" for act in clause.acts)
        limits = nothing and clause.count is not None and clause.mood is Mood.FORBID  # `Up to five posts`
        asks = clause.mood is Mood.ASK and not named and (bare or _FIRST.match(clause.text) is not None)
        if asks or limits or (nothing and clause.mood is Mood.PERMIT and _REFERS.match(clause.text)):
            meaning.drafts += [replace(d, then=Mood.ASK, rank=Rank.ASKED) for d in self._permitted]

    def _leads_on(self, sentence: Sentence, words: Sequence[Word], found: Sequence[Understanding]) -> bool:
        """Whether a sentence may speak of what comes after it."""
        if _TITLES.fullmatch(sentence.text.strip(" .:!")):
            return False
        label = [w for w in words[: label_of(words)] if not w.is_mark and w.text not in _SMALL]
        if _POINTS_ON.search(sentence.text) or not all(self._is_of_things(word) for word in label):
            return True
        return not any(each.drafts for each in found) and _LEADS_ON.search(sentence.text) is not None

    def _is_neutral(self, sentence: Sentence, words: Sequence[Word]) -> bool:
        """Whether to be told to do something is to be permitted to: nothing around it may say otherwise.

        INVARIANT: whatever an instruction stands under or behind is known to say nothing of it.
        """
        if sentence.marked or sentence.after or self._led_on:
            return False
        label = [
            w for w in words[: label_of(words)] if not w.is_mark and w.text not in ("the", "my", "in", "on", "and")
        ]
        return all(self._is_of_things(word) for word in label) and all(map(self._is_neutral_heading, sentence.headings))

    def _is_of_things(self, word: Word) -> bool:
        """Whether a word names something, and nobody."""
        if word.reference is not None:
            person = any("@" in value for value in word.reference.values)
            return word.reference.kind in ("directory", "name", "literal", "domain") and not person
        acts = word.text in ACTS and ACTS[word.text][1] == "ing"
        return (
            acts
            or (word.singular in THINGS and word.singular not in PEOPLE)
            or bool(self._tools.servers_about([word.text]))
        )

    def _is_neutral_heading(self, heading: str) -> bool:
        words = self._words(heading)
        plain = [w for w in words if w.text not in _SMALL and not w.is_mark]
        known = _TITLES.fullmatch(heading.strip(" .:")) is not None or all(self._is_of_things(word) for word in plain)
        return known and bool(plain) and _mood_of_heading(heading, words) in (None, Mood.PERMIT)

    def _server(self, words: Sequence[Word]) -> tuple[int, frozenset[str]]:
        """How many words name a server that the rest is about, and which: `Shell: ask every time`."""
        label = words[: label_of(words)]
        names = [word for word in label if not word.is_mark and word.text not in ("the", "my", "in", "on", "for")]
        if len(names) != 1 or names[0].reference or names[0].singular in THINGS:
            return 0, frozenset()
        servers = self._tools.servers_about([names[0].text])
        return (len(label) if servers else 0), servers

    def _led(self, sentence: Sentence) -> tuple[Mood | None, list[Word]]:
        """What a sentence stands under, and its words: an item of a list goes on from what introduces it."""
        words = self._words(sentence.text)
        if not sentence.lead:
            return self._lead(sentence), words
        introduced = self._words(sentence.lead)
        if not cues_in(words):
            return self._lead(replace(sentence, lead="")), [*introduced, *words]
        plain = all(word.text in HARMLESS or i in _cued(introduced) for i, word in enumerate(introduced))
        return (None if plain else Mood.ASK), words

    def _words(self, text: str) -> list[Word]:
        return words_in(text, self._known, self._literals, self._about)

    def _lead(self, sentence: Sentence) -> Mood | None:
        """The mood of what a sentence stands under: `The assistant may:`, `Never`."""
        mood = mood_of(cues_in(self._words(sentence.lead)))
        for heading in reversed(sentence.headings):
            mood = mood or _mood_of_heading(heading, self._words(heading))
            if mood is None and not self._is_neutral_heading(heading) and self._may_be_permitted(sentence):
                return Mood.ASK  # `Not yet`, under `Allowed`
        return Mood.ASK if mood is Mood.PERMIT and sentence.marked else mood

    def _may_be_permitted(self, sentence: Sentence) -> bool:
        moods = [_mood_of_heading(heading, self._words(heading)) for heading in sentence.headings]
        return Mood.PERMIT in moods

    def _scope(self, sentence: Sentence) -> frozenset[str]:
        """The servers that a sentence stands under."""
        for heading in reversed(sentence.headings):
            if scope := self._tools.servers_about([word.text for word in self._words(heading)]):
                return scope
        return frozenset()


def _takes_back(each: Understanding) -> bool:
    """Whether a sentence that means something else as a whole also says no to something in particular."""
    clause = each.clause
    said = (
        clause.mood in (Mood.FORBID, Mood.ASK) and not clause.unsettled and any(a.verb != "touch" for a in clause.acts)
    )
    return said or any(p.references for p in clause.phrases)


def _cued(words: Sequence[Word]) -> set[int]:
    return {index for cue in cues_in(words) for index in range(cue.start, cue.end)}


def _under(clause: Clause, named: Sequence[Phrase]) -> Clause:
    """A permission under a heading that names a place is for that place."""
    if clause.mood is not Mood.PERMIT or any(p.references for p in clause.phrases):
        return clause
    return replace(clause, phrases=(*clause.phrases, *(replace(p, preposition="in") for p in named)))


def _mood_of_heading(heading: str, words: Sequence[Word]) -> Mood | None:
    """`Never`, `What it may do`, `Ask first`; nothing of `What it may and may not do`."""
    cues = cues_in(words)
    if {"permit", "forbid"} <= {cue.name for cue in cues}:
        return None
    if cues and all(cue.name == "unasked" for cue in cues):
        denies = any(word.text in ("not", "no", "nothing", "never", "none") for word in words)
        return Mood.ASK if denies else Mood.PERMIT  # `Without asking`
    mood = mood_of(cues)
    accounted = all(
        word.text in HARMLESS or word.text in _OF_HEADINGS or index in _cued(words) for index, word in enumerate(words)
    )
    if mood is Mood.PERMIT and ("?" in heading or any(word.text in _NOT_OF_IT for word in words)):
        return Mood.ASK  # `What I can do`
    if mood is Mood.PERMIT and not accounted:
        asks = words[0].text not in ("what", "how")  # `Allowed on weekends`, but not `What my helper is allowed to do`
        return Mood.ASK if asks else None
    if mood is not None:
        return mood
    text = "" if any(word.text in _NOT_OF_IT for word in words) else heading.lower()
    if re.search(r"\bask\b|\bapproval\b|\bcheck with me\b", text):
        return Mood.ASK
    if re.search(r"\bnever\b|\boff[- ]limits\b|\bforbidden\b|\bdon'?ts?\b|\bprohibited\b|\bno[- ]go\b", text):
        return Mood.FORBID
    if not accounted:
        return None
    return Mood.PERMIT if re.search(r"\ballowed\b|\bfine\b|\bokay\b|\bdo'?s\b|\bpermitted\b", text) else None


def _yielding(number: int, understood: list[list[Understanding]], sentences: Sequence[Sentence]) -> list[Understanding]:
    """A prohibition in general that is followed at once by a permission in particular makes room for it."""
    found = []
    for index, meaning in enumerate(understood[number]):
        earlier = understood[number][:index] or (understood[number - 1] if number else [])
        if earlier and _is_about(meaning, earlier[-1]):
            meaning.drafts = [
                replace(d, rank=Rank.ASKED) if d.rank is Rank.ASKED_IN_GENERAL else d for d in meaning.drafts
            ]
        following = understood[number][index + 1 : index + 2]
        if not following and number + 1 < len(understood) and sentences[number + 1].block == sentences[number].block:
            following = understood[number + 1][:1]
        particular = next(
            (m for m in following if m.mood is Mood.PERMIT and any(d.rank is Rank.PERMITTED for d in m.drafts)), None
        )
        plain = (
            meaning.mood is Mood.FORBID
            and not meaning.clause.emphatic
            and meaning.clause.count is None
            and not any(p.references for p in meaning.clause.phrases)
        )
        if particular is not None and plain and _same_acts(meaning.clause, particular.clause):
            meaning.drafts = [replace(d, rank=Rank.CLOSED) if d.rank is Rank.FORBIDDEN else d for d in meaning.drafts]
            meaning.notes.append("makes room for what the next sentence permits")
        found.append(meaning)
    return found


def _is_about(asks: Understanding, permits: Understanding) -> bool:
    """`It may post in #staff. Every post needs my approval.`: what was permitted just before asks."""
    named = any(p.references or p.other or p.outside for p in asks.clause.phrases)
    same = {act.verb for act in asks.clause.acts} & {act.verb for act in permits.clause.acts}
    every = all(p.whole or p.pronoun for p in asks.clause.phrases)
    return (
        asks.mood is Mood.ASK
        and permits.mood is Mood.PERMIT
        and not named
        and bool(same or every)
        and bool(asks.clause.effects & permits.clause.effects)
    )


def _same_acts(general: Clause, particular: Clause) -> bool:
    wide = frozenset(effect for act in general.acts for effect in act.effects)
    narrow = frozenset(effect for act in particular.acts for effect in act.effects)
    things = frozenset(thing for p in general.phrases for thing in (p.head, *p.things))
    about = [p for p in particular.phrases if p.head and not p.preposition and not p.is_people]
    same = all(p.head in things or p.things & things or things & ANYTHING for p in about)
    return (
        bool(narrow)
        and narrow <= wide
        and wide != EVERY
        and same
        and all(act.verb != "attach" for act in particular.acts)
    )


# --- Writing it down. ---


def _written(sentences: Sequence[Sentence], understood: list[list[Understanding]], drafts: list[Placed]) -> Compiled:
    found = Compiled()
    names: dict[int, list[str]] = {}
    for placed in _merged(ordered(drafts)):
        number = placed.sentence
        text = sentences[number].text if number >= 0 else ""
        base = f"s{number + 1}-{_slug(text)}" if text else "reading-only"
        name = f"{base}-{len(names.get(number, [])) + 1}"
        names.setdefault(number, []).append(name)
        rule: dict[str, Any] = {"name": name}
        if text:
            rule["principle"] = text
        rule["if"] = placed.draft.conditions()
        rule["then"] = placed.draft.then.value
        if placed.draft.elsewhere:
            rule["elsewhere"] = True
        rule["reason"] = f'"{text}"' if text else "a statement that reads must not write"
        found.rules.append(rule)
    for number, sentence in enumerate(sentences):
        meanings = understood[number]
        for meaning in meanings:
            _join(found.limits, meaning.limits)
        found.report.append(_reported(sentence, meanings, tuple(names.get(number, ()))))
    return found


def _reported(sentence: Sentence, meanings: list[Understanding], rules: tuple[str, ...]) -> Reported:
    notes = tuple(dict.fromkeys(note for meaning in meanings for note in meaning.notes))
    if any(meaning.limits for meaning in meanings):
        verdict = "limits"
    elif rules and not any(m.ungrounded or m.mood is not m.clause.mood for m in meanings):
        verdict = "rules"
    elif rules:
        verdict = "asks"
    elif meanings and all(m.mood is None for m in meanings) and notes:
        verdict = "kept"
    elif not meanings or all(m.mood is None for m in meanings):
        verdict = "background"
    else:
        verdict = "nothing"
    return Reported(sentence, verdict, rules, notes)


def _merged(placed: list[Placed]) -> list[Placed]:
    """Rules that differ only in their tools become one, where nothing that says otherwise stands between them."""
    found: list[Placed] = []
    for each in placed:
        twin = next((index for index, other in _reachable(found, each) if _alike(other, each)), None)
        if twin is None:
            found.append(each)
        else:
            other = found[twin]
            found[twin] = Placed(replace(other.draft, tools=(*other.draft.tools, *each.draft.tools)), other.sentence)
    return found


def _reachable(found: list[Placed], each: Placed) -> Iterator[tuple[int, Placed]]:
    """The rules before this one, back to the first that is of another sentence or says something else."""
    for index in range(len(found) - 1, -1, -1):
        other = found[index]
        if other.sentence != each.sentence or other.draft.then is not each.draft.then:
            return
        yield index, other


def _alike(one: Placed, other: Placed) -> bool:
    same = replace(one.draft, tools=()) == replace(other.draft, tools=())
    return same and _may_share(one.draft, other.draft)


def _may_share(one: Draft, other: Draft) -> bool:
    """One server only: a tool's name may mean another tool elsewhere. Values are of arguments of their own."""
    if not one.tools or not other.tools:
        return False
    return {tool.server for tool in one.tools} == {tool.server for tool in other.tools}


def _slug(text: str) -> str:
    words = [word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in HARMLESS]
    return "-".join(words[:4]) or "rule"


def _join(limits: dict[str, Any], more: dict[str, Any]) -> None:
    """The stricter of two limits."""
    for key, value in more.items():
        if isinstance(value, dict):
            _join(limits.setdefault(key, {}), value)
        else:
            limits[key] = min(limits[key], value) if key in limits else value
