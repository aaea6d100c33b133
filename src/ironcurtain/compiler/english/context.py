"""One sentence after the other, each in the light of what was said before it and of what it stands under."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english.afterwards import fall_back
from ironcurtain.compiler.english.clauses import Clause, clauses_of
from ironcurtain.compiler.english.cues import Mood, cues_in, mood_of
from ironcurtain.compiler.english.drafts import Draft, Rank, Understanding
from ironcurtain.compiler.english.flows import flow_of
from ironcurtain.compiler.english.headings import ASKING, LIMITED, TITLES, WHO, cued, mood_of_heading
from ironcurtain.compiler.english.lexicon import (
    ACTS,
    EVERY,
    HARMLESS,
    PEOPLE,
    THINGS,
    Act,
)
from ironcurtain.compiler.english.limits import limit_of
from ironcurtain.compiler.english.naming import named_things
from ironcurtain.compiler.english.reading import Phrase, read
from ironcurtain.compiler.english.splitting import label_of
from ironcurtain.compiler.english.words import words_in
from ironcurtain.compiler.english.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ironcurtain.compiler.english.document import Sentence
    from ironcurtain.compiler.english.grounding import Tools
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
_CROSSED: Final = re.compile("[\u274c\U0001f6ab\u26d4\u2716\u2717\u2718\u2610\u2612\U0001f6d1\U0001f44e]")
"""A cross, a stop sign, an empty box: of what stands beside it, no or not yet."""
_INCLUDING: Final = re.compile(
    r"(?:\b(?:including|also|especially|in particular|namely|such as|above all)|e\.g\.)(.+)|,([^,]+)\bincluded\b",
    re.IGNORECASE,
)
"""`Everything else is forbidden, deleting events included.`"""
_KEPT: Final = (
    (_RECORDED, "every call is recorded before it happens, whatever the policy says"),
    (_REFUSED, "what no rule allows is refused"),
)
"""Sentences that hold whatever the rules say."""
_TOUCHES_NOTHING: Final = re.compile(
    r"\btools? that (?:touch(?:es)?|change(?:s)?) nothing\b.*\b(?:permitted|allowed|fine|okay|ok)\b", re.IGNORECASE
)
_LEADS_ON: Final = re.compile(
    r"\b(?:this|these|those|that|here|what|following|below|above|such|like|examples?|list|requests?|things?|actions?|so|them|rules?"
    r"|instructions?|used to|do|does|did)\b",
    re.IGNORECASE,
)
"""Words of a sentence that may speak of what comes after it."""
_POINTS_ON: Final = re.compile(r"\b(?:following|below|list|examples?)\b", re.IGNORECASE)
_POINTS_AHEAD: Final = re.compile(
    r"\b(?:following|below|these (?:rules|permissions)|this (?:document|text|page)"
    r"|(?:for|of|with) (?:these|this|the list))\b",
    re.IGNORECASE,
)
_INTRODUCES: Final = re.compile(
    r"(?:\W*(?:hi|hello|hey|dear|welcome|ok|okay|so)\b[^,.!:]{0,30}[,.!:])?\s*"
    r"(?:this|these|here|below|the following)(?: rules?| guidelines?| notes?)?(?: is| are|['\u2019]s) "
    rf"(?:what (?:{WHO}|you|it) (?:can|may)(?: and (?:can['\u2019]?t|cannot|can not|may not))? do"
    r"(?: while [\w' ]{1,40})?"
    rf"|(?:the|my|our|some|a few) (?:\w+ )?(?:rules?|guidelines?)(?: for {WHO})?)[.!]?",
    re.IGNORECASE,
)
"""A sentence that says that rules follow."""
_FEW: Final = 5  # words that may be a title
_SMALL: Final = ("the", "my", "our", "in", "on", "and", "for")
_FIRST: Final = re.compile(
    r"(?:i|we|show|send|give|let)\b.*\b(?:see|text|draft|wording|version|copy|preview|it|me|us)\b.*\b(?:first|beforehand)\W*$",
    re.IGNORECASE,
)
"""`I'd like to see the text first`: of what was permitted just before."""
_REFERS: Final = re.compile(r"\w+ (?:that|this|it)\b", re.IGNORECASE)
"""`Make that #team only`."""
_LOOKING_BACK: Final = lexicon(
    """history draft log change todo bug secret example idea archive change_log task chore reminder discussion user
    agenda minute"""
)
"""Headings over what was, or is not yet."""
_ENDING: Final = lexicon("lock close cancel revoke archive stop leave skip")
_IN_DOUBT: Final = re.compile(
    r"(?:when|if|whenever|where) (?:it is |you are |it |the \w+ is )?(?:in doubt|unsure|uncertain|not sure|unclear)"
    r"|for (?:anything|everything) else\b.{0,20}\bask"
    r"|(?:anything|everything) else\b.{0,40}\b(?:ask|approval|okay|ok|permission)"
    r"|ask (?:me )?(?:about|for|before) (?:anything|everything) else",
    re.IGNORECASE,
)


class Reader:
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
        self._block = -1
        self._ever_permitted: list[Draft] = []
        """What all sentences so far permit."""
        self._permitted: list[Draft] = []
        """What the last sentence that permitted something permits."""
        self._about: frozenset[str] = frozenset()
        """The sorts of things that the headings speak of."""
        self._led_in_doubt = False
        """Something was said that takes back what comes after it."""
        self._limited = -1
        """The block of sentences that began with a condition."""
        self._led_on = False
        """Something was said that may speak of what comes after it."""

    def understand(self, sentence: Sentence) -> list[Understanding]:
        """What a sentence says."""
        if sentence.headings != self._headings:
            self._headings, self._topic, self._before = sentence.headings, frozenset(), []
            self._led_on, self._about, self._permitted = False, frozenset(), []
            self._led_in_doubt = False
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
            if why and self._permitted and ASKING.search(sentence.text):
                kept.append(self._comment())  # `Everything is logged, but get my okay first`
            if why and (more := _INCLUDING.search(sentence.text)):
                kept += self._clauses(replace(sentence, text=more[1] or more[2], lead="Never"))
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
        flows, whole = flow_of(sentence.text, self._tools)
        if whole:
            note = "holds from the moment something was read there, in the same task or session"
            mood = flows[0].then
            return [Understanding(Clause(mood, (), ()), mood, drafts=flows, notes=[note])]
        if flows:
            unsure = Understanding(Clause(Mood.ASK, (), ()), Mood.ASK, drafts=flows, ungrounded=True)
            return [
                unsure,
                *(each for each in self._clauses(sentence) if each.mood is not Mood.PERMIT and not each.clause.grants),
            ]
        return self._clauses(sentence)

    def _clauses(self, sentence: Sentence) -> list[Understanding]:
        lead, words = self._led(sentence)
        label, server = self._server(words)
        instructed = self._is_neutral(sentence, words)
        clauses = clauses_of(words[label:], lead, [] if server else self._before, instructed=instructed)
        asked = "?" in sentence.text and not cues_in(self._words(sentence.text.rpartition("?")[2]))
        named = [p for heading in sentence.headings for p in read(self._words(heading), []).phrases if p.references]
        confined = bool(server)
        asked = asked or sentence.marked or _CROSSED.search(sentence.text) is not None
        clauses = [_under(replace(each, negated=each.negated or asked, confined=confined), named) for each in clauses]
        if label_of(words) and LIMITED.search(sentence.text.partition(":")[0]):
            self._limited = sentence.block  # `While I'm away: it may ... It may ...`
        if not self._stands_freely(sentence):
            clauses = [_in_doubt(each) for each in clauses]
        self._before += clauses
        scope, found = server or self._scope(sentence), list[Understanding]()
        for clause in clauses:
            found.append(self._writer.understand(clause, scope, sentence.text, self._topic))
            self._topic = found[-1].servers or self._topic
            own = any(each.mood is Mood.PERMIT for each in clauses if each is not clause)
            self._take_back(clause, found[-1], scope, sentence.text, own=own, block=sentence.block)
        permitted = [d for each in found for d in each.drafts if d.then is Mood.PERMIT]
        if not permitted:
            fall_back(found, sentence.text, self._ever_permitted, self._words)
        self._ever_permitted += permitted
        if not permitted and self._permitted and sentence.block == self._block and _says_nothing_known(found):
            found.append(self._comment())
        if permitted:
            self._permitted, self._block = permitted, sentence.block
        elif any(each.drafts for each in found):
            self._block = -1  # something else was said in between
        self._led_on = self._led_on or self._leads_on(sentence, words, found)
        pointing = not permitted and _POINTS_AHEAD.search(sentence.text)
        restricted = any(each.clause.mood in (Mood.ASK, Mood.FORBID) for each in found)
        self._led_in_doubt |= bool(pointing) and (restricted or LIMITED.search(sentence.text) is not None)
        return found

    def _comment(self) -> Understanding:
        """INVARIANT: what follows a permission at once and says nothing that we know makes it ask: `Weekdays.`"""
        comment = Understanding(Clause(Mood.ASK, (), ()), Mood.ASK, notes=["not understood, so what it follows asks"])
        comment.drafts += [replace(d, then=Mood.ASK, rank=Rank.ASKED) for d in self._permitted]
        return comment

    def _take_back(
        self, clause: Clause, meaning: Understanding, scope: frozenset[str], sentence: str, *, own: bool, block: int
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
        if clause.unsettled and named and not own and block == self._block:  # `I mean #team`, `In Projects, that is`
            meaning.drafts += [replace(d, then=Mood.ASK, rank=Rank.ASKED) for d in self._permitted]
        nothing = not meaning.drafts and clause.mood is not None and not own
        bare = nothing and clause.mood is Mood.ASK and all(act.verb == "touch" for act in clause.acts)
        unknown = bool(clause.acts) and not any(
            act.effects for act in clause.acts
        )  # `People I don't know need my okay`
        bare = bare or (unknown and not own and block == self._block and (nothing or clause.mood is Mood.ASK))
        limits = nothing and clause.count is not None and clause.mood is Mood.FORBID  # `Up to five posts`
        asks = (
            clause.mood in (Mood.ASK, Mood.FORBID)
            and not own
            and not named
            and (bare or _FIRST.match(clause.text) is not None)
        )
        if asks or limits or (nothing and clause.mood is Mood.PERMIT and _REFERS.match(clause.text)):
            meaning.drafts += [replace(d, then=Mood.ASK, rank=Rank.ASKED) for d in self._permitted]

    def _leads_on(self, sentence: Sentence, words: Sequence[Word], found: Sequence[Understanding]) -> bool:
        """Whether a sentence may speak of what comes after it."""
        if TITLES.fullmatch(sentence.text.strip(" .:!")):
            return False
        label = [w for w in words[: label_of(words)] if not w.is_mark and w.text not in _SMALL]
        if _POINTS_ON.search(sentence.text) or not all(self._is_of_things(word) for word in label):
            return True
        if any(each.drafts for each in found):
            return False
        text = sentence.text.strip(" :*=[]")
        if len(text.split()) <= _FEW and text[-1:] not in ".!?":  # `Red lines`, over what follows
            return not self._is_neutral_heading(text) and not self._grants(text)
        return _LEADS_ON.search(sentence.text) is not None

    def _is_neutral(self, sentence: Sentence, words: Sequence[Word]) -> bool:
        """Whether to be told to do something is to be permitted to: nothing around it may say otherwise.

        INVARIANT: whatever an instruction stands under or behind is known to say nothing of it.
        """
        after = sentence.after.strip(" :")
        if (
            sentence.marked
            or self._led_on
            or (after and not self._grants(after) and not self._is_neutral_heading(after))
        ):
            return False
        if sentence.lead and not cues_in(self._words(sentence.lead)) and not self._is_neutral_heading(sentence.lead):
            return False
        label = [
            w for w in words[: label_of(words)] if not w.is_mark and w.text not in ("the", "my", "in", "on", "and")
        ]
        return all(self._is_of_things(word) for word in label) and all(map(self._is_neutral_heading, sentence.headings))

    def _stands_freely(self, sentence: Sentence) -> bool:
        """INVARIANT: a permission does not hold under a heading, or behind words, that ask, forbid or limit."""
        over = [text for text in (*sentence.headings, sentence.lead, sentence.after.strip(" :")) if text]
        return sentence.block != self._limited and not self._led_in_doubt and not any(map(self._limits, over))

    def _limits(self, text: str) -> bool:
        """Whether a heading says no, ask, perhaps or not always; or that it is about somebody else."""
        cues = {cue.name for cue in cues_in(self._words(text))}
        asks = bool(cues & {"ask", "forbid", "unapproved"}) or ASKING.search(text) is not None
        return (asks and not cues & {"permit", "no_need", "unasked"}) or LIMITED.search(text) is not None

    def _grants(self, text: str) -> bool:
        """Whether a line says that what follows it is permitted, and no more than that."""
        return mood_of_heading(text, self._words(text)) is Mood.PERMIT

    def _is_of_things(self, word: Word) -> bool:
        """Whether a word names something, and nobody."""
        if word.reference is not None:
            person = any("@" in value for value in word.reference.values)
            return word.reference.kind in ("directory", "name", "literal", "domain") and not person
        acts = word.text in ACTS and ACTS[word.text][1] == "ing"
        return (
            acts
            or (word.singular in THINGS and word.singular not in PEOPLE and word.singular not in _LOOKING_BACK)
            or bool(self._tools.servers_about([word.text]))
        )

    def _is_neutral_heading(self, heading: str) -> bool:
        words = self._words(heading)
        plain = [w for w in words if w.text not in _SMALL and not w.is_mark]
        known = TITLES.fullmatch(heading.strip(" .:")) is not None or all(self._is_of_things(word) for word in plain)
        return known and bool(plain) and mood_of_heading(heading, words) in (None, Mood.PERMIT)

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
        plain = all(word.text in HARMLESS or i in cued(introduced) for i, word in enumerate(introduced))
        return (None if plain else Mood.ASK), words

    def _words(self, text: str) -> list[Word]:
        return words_in(text, self._known, self._literals, self._about)

    def _lead(self, sentence: Sentence) -> Mood | None:
        """The mood of what a sentence stands under: `The assistant may:`, `Never`."""
        mood = mood_of(cues_in(self._words(sentence.lead)))
        for heading in reversed(sentence.headings):
            mood = mood or mood_of_heading(heading, self._words(heading))
            if mood is None and not self._is_neutral_heading(heading) and self._may_be_permitted(sentence):
                return Mood.ASK  # `Not yet`, under `Allowed`
        return Mood.ASK if mood is Mood.PERMIT and sentence.marked else mood

    def _may_be_permitted(self, sentence: Sentence) -> bool:
        moods = [mood_of_heading(heading, self._words(heading)) for heading in sentence.headings]
        return Mood.PERMIT in moods

    def _scope(self, sentence: Sentence) -> frozenset[str]:
        """The servers that a sentence stands under."""
        for heading in reversed(sentence.headings):
            if scope := self._tools.servers_about([word.text for word in self._words(heading)]):
                return scope
        return frozenset()


def _in_doubt(clause: Clause) -> Clause:
    """A permission of which something that it stands under may be the condition."""
    return (
        replace(clause, condition=(*clause.condition, "what it stands under")) if clause.mood is Mood.PERMIT else clause
    )


def _takes_back(each: Understanding) -> bool:
    """Whether a sentence that means something else as a whole also says no to something in particular."""
    clause = each.clause
    said = (
        clause.mood in (Mood.FORBID, Mood.ASK) and not clause.unsettled and any(a.verb != "touch" for a in clause.acts)
    )
    return said or any(p.references for p in clause.phrases)


def _says_nothing_known(found: Sequence[Understanding]) -> bool:
    """Whether nothing came of a sentence, and not because no tool does what it forbids."""
    vague = all(
        each.clause.mood in (None, Mood.OBLIGE)
        or (each.clause.mood is Mood.PERMIT and not any(p.references for p in each.clause.phrases))
        for each in found
    )
    return vague and not any(each.drafts or each.limits for each in found)


def _under(clause: Clause, named: Sequence[Phrase]) -> Clause:
    """A permission under a heading that names a place is for that place."""
    if clause.mood is not Mood.PERMIT or any(p.references for p in clause.phrases):
        return clause
    return replace(clause, phrases=(*clause.phrases, *(replace(p, preposition="in") for p in named)))
