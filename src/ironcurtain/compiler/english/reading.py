"""The words of one clause: what is done, and what it is done to."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon, singular
from ironcurtain.compiler.english.cues import idle_in
from ironcurtain.compiler.english.lexicon import ACTS, ANYTHING, HARMLESS, OWNERS, PEOPLE, THINGS, Act

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ironcurtain.compiler.english.cues import Cue
    from ironcurtain.compiler.english.words import Reference, Word

PREPOSITIONS: Final = lexicon(
    """in on at from to into onto within inside under of with for by via through outside beyond towards toward
        against across among between over near using as per without off amongst against about regarding concerning
        unlike versus like"""
)
_CONTENT_PREPOSITIONS: Final = lexicon(
    """about regarding concerning containing mentioning revealing involving describing like including contain include
    mention"""
)
_DETERMINERS: Final = lexicon(
    "the a an my our your its his her their this that these those any every each some no all both"
)
_BE: Final = lexicon("be is are was were been being get gets got")
_ADVERBS: Final = lexicon(
    """also ever never always only just simply freely not already even still either both first please now then
        otherwise therefore too again there"""
)
_PASSED_OVER: Final = lexicon("ever always also simply just already still please then otherwise therefore too again")
_SUBJECTS: Final = lexicon("i it we they you he she agent assistant bot ai model tool program system helper software")
_CONJUNCTIONS: Final = lexicon(", and or nor / then & plus whereas while though although however yet otherwise so but")
_ABOUT_MANNER: Final = lexicon("publicly privately anonymously externally internally")
_OUTSIDE: Final = lexicon("outside beyond")
OTHER: Final = lexicon("other others else elsewhere another rest remaining different")
_PRONOUNS: Final = lexicon("it them they ones one those these this that there")
_PARTS: Final = lexicon(
    "all any both each every one some none most part parts rest content contents copy copies kind kinds sort sorts lot"
)
_WHOLE: Final = lexicon("all any every each everything anything everyone anyone whole entire whatever")
_MODALS: Final = lexicon("may can could might must should shall")
_SEVERAL: Final = lexicon("several many more multiple few")
_POSSIBLY: Final = lexicon("could might would")
_VERB_FOLLOWS: Final = lexicon(
    "may can could might should shall must will would not never to cannot also freely always and"
)
_COMPARING: Final = ("as", "like", "unlike", "versus")
_WISHES: Final = lexicon("wants want wishes tries plans intends means likes needs")
_UNITS_OF_CALLS: Final = lexicon("or more different new separate other in llm api tool of inference single distinct")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Something that a clause speaks of, and the word before it: `to people in my contacts` is two."""

    preposition: str = ""
    head: str = ""
    modifiers: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    outside: bool = False
    """Everything but this: `not in`, `outside`, `other than`."""
    other: bool = False
    """Everything of this sort that was not spoken of: `other channels`, `anyone else`."""
    whole: bool = False
    pronoun: str = ""
    number: int = 0
    """`the two channels`."""
    written: tuple[str, ...] = ()
    """The modifiers and the head as they stand."""
    is_new: bool = False
    is_subject: bool = False
    """It comes before what is done."""

    @property
    def things(self) -> frozenset[str]:
        """What its head may stand for."""
        return THINGS.get(self.head, frozenset())

    @property
    def said(self) -> frozenset[str]:
        """Its words in lower case, as they stand."""
        return frozenset(word.lower() for word in self.written)

    @property
    def is_people(self) -> bool:
        """Whether it speaks of people."""
        return self.head in PEOPLE

    @property
    def names_people(self) -> bool:
        """Whether it names somebody, or a list of people."""
        return any(reference.kind in ("list", "address") for reference in self.references)


@dataclass(frozen=True, slots=True)
class Count:
    """`more than 5 people`: from how many on, of what, and in which time."""

    beyond: float
    """What is over this is meant."""
    unit: str
    money: bool = False
    per: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands in a clause."""

    groups: tuple[tuple[tuple[Act, ...], tuple[Phrase, ...]], ...]
    """What is done and what to: `read mail` and `delete drafts` are two. What comes before the first verb is in all."""
    said: tuple[str, ...]
    """What the content is about, or what else we cannot check."""
    count: Count | None

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """All of them."""
        return tuple(dict.fromkeys(p for _, phrases in self.groups for p in phrases))


def read(words: Sequence[Word], cues: Sequence[Cue]) -> Reading:
    """Read the words between the cues."""
    return _Reader(words, cues).read()


class _Reader:
    def __init__(self, words: Sequence[Word], cues: Sequence[Cue]) -> None:
        self._words = words
        self._cued = {index for cue in cues for index in range(cue.start, cue.end)}
        self._count, counted = _count(words, self._cued)
        self._skip = self._cued | idle_in(words) | counted | self._subjects(cues)
        self._acts: list[Act] = []
        self._phrases: list[Phrase] = []
        self._groups: list[tuple[list[Act], list[Phrase]]] = [([], [])]
        self._said: list[str] = []
        self._run: list[Word] = []
        self._preposition = ""
        self._carried = ""
        self._passive = any(words[cue.end - 1].text in _BE for cue in cues)
        self._negated = False
        self._present = False
        """What is done is said as in `it deletes`."""
        self._stated = any(words[i].text in _BE for cue in cues for i in range(cue.start, cue.end))
        """Something is said of a thing: it is fine, they are forbidden."""

    def read(self) -> Reading:
        index = 0
        while index < len(self._words):
            index = self._step(index)
        self._close()
        subjects, *groups = self._groups
        if not groups:
            groups = [([], [])]
        whole = tuple((tuple(acts), (*subjects[1], *phrases)) for acts, phrases in groups)
        return Reading(whole, tuple(self._said), self._count)

    def _do(self, act: Act) -> None:
        """One more verb: beside those that wait for what they are done to, or after that."""
        self._close()
        if not self._groups[-1][0] or self._groups[-1][1]:
            self._groups.append(([], []))
        self._groups[-1][0].append(act)
        self._acts.append(act)
        self._preposition = self._carried = ""

    def _speak_of(self, spoken: Phrase) -> None:
        phrase = replace(spoken, is_subject=not self._acts)
        self._phrases.append(phrase)
        self._groups[-1][1].append(phrase)

    def _step(self, index: int) -> int:
        """Read the word at an index, and say where to go on."""
        word = self._words[index]
        if index in self._skip:
            self._close()
            if word.text == "nothing" and index in self._cued and self._text(index + 1) != "else":
                self._speak_of(Phrase(head="anything", whole=True))
        elif word.text == "(":
            return self._bracket(index)
        elif word.text in _BE and word.reference is None:
            self._close()
            self._passive = True
        elif (end := self._described(index)) is not None:
            return end
        elif (act := self._act(index)) is not None:
            self._do(act)
        elif self._is_unknown_verb(index):
            if self._acts:
                return self._aside(index)
            self._do(Act(word.text, frozenset(), frozenset({stem_of(word.text)})))
        else:
            self._plain(word, self._text(index + 1))
        return index + 1

    def _plain(self, word: Word, following: str) -> None:
        """A word that is no verb and begins nothing new."""
        if word.reference is not None:
            self._run.append(word)
        elif word.text in _PASSED_OVER:
            pass
        elif word.text in ("who", "what", "whatever", "everyone") and not self._run:
            self._run.append(replace(word, text="people" if word.text in ("who", "everyone") else "anything"))
        elif word.is_mark or word.text in _CONJUNCTIONS:
            before = self._preposition
            self._close()
            self._preposition = before or (self._carried if word.text in _CONJUNCTIONS else "")
        elif word.text == "of" and self._run and all(w.text in _PARTS or w.text in _DETERMINERS for w in self._run):
            self._run = []  # `all of my calendars`, `the contents of Reports`
        elif word.text in PREPOSITIONS:
            self._close()
            keeps = self._preposition in _COMPARING or (word.text == "of" and self._preposition in _OUTSIDE)
            self._preposition = self._preposition if keeps else word.text
        elif word.text in ("not", "no", "never"):
            self._close()
            self._negated = bool(self._acts or self._phrases) or following in PREPOSITIONS  # else it is the mood
        elif not _is_manner(word):
            self._run.append(word)

    def _bracket(self, index: int) -> int:
        end = next((i for i in range(index, len(self._words)) if self._words[i].text == ")"), len(self._words) - 1)
        inner = [self._words[i] for i in range(index + 1, end) if i not in self._skip]
        told = any(word.reference or word.text == "only" for word in inner)
        if told or not all(_narrows_nothing(word) for word in inner):
            self._said += [word.written for word in inner]
        return end + 1

    def _text(self, index: int) -> str:
        return self._words[index].text if 0 <= index < len(self._words) else ""

    def _subjects(self, cues: Sequence[Cue]) -> set[int]:
        """The one who acts, before the words that say what it may do: `the assistant may`."""
        found: set[int] = set()
        for cue in cues:
            index = cue.start - 1
            while index >= 0 and self._words[index].text in ("also", "therefore", "always"):
                index -= 1
            if (
                cue.end < len(self._words)
                and self._words[cue.end].text in _SUBJECTS
                and self._words[cue.end - 1].text in _MODALS
            ):
                found.add(cue.end)  # `only in Drafts may it create files`
            subject = index >= 0 and self._words[index].text in _SUBJECTS and self._words[index].reference is None
            if subject and not (index and self._words[index - 1].text in PREPOSITIONS):
                found.add(index)
                while index > 0 and self._words[index - 1].text in ("the", "my", "this", "an", "a", "ai"):
                    index -= 1
                    found.add(index)
        return found

    def _described(self, index: int) -> int | None:
        """Past a description of what was named: `that were sent`, `I am a member of`, `about grades`."""
        word = self._words[index]
        named = bool(self._run or self._phrases)
        if word.reference is not None:
            return None
        following = self._text(index + 1)
        if word.text in _CONTENT_PREPOSITIONS and (named or self._acts) and not self._names(index + 1):
            return self._aside(index + 1)
        if not named:
            return None
        if (
            word.text in ("that", "who", "which", "whose", "where")
            and (self._run or word.text != "that")
            and following not in THINGS
        ):
            return self._aside(index + 1)
        behind = self._run[-1].text if self._run else self._text(index - 1)
        if word.text in _SUBJECTS and (self._run or index - 1 in self._cued) and behind not in _DETERMINERS:
            if following in ACTS and ACTS[following][1] in ("s", "base") and behind in ANYTHING:
                self._do(ACTS[following][0])
                return index + 2
            own = word.text == "it" and not _is_done(following)  # `files it made`, but not `in #staff it may`
            return self._aside(index) if following and not own and self._run else None
        ahead = [self._text(i) for i in range(index + 1, index + 5) if i not in self._cued]
        relative = not word.is_mark and word.text not in PREPOSITIONS and any(text in _POSSIBLY for text in ahead)
        if self._run and behind in ANYTHING and relative:
            return self._aside(index)  # `anything a customer could be recognised by`
        form = ACTS[word.text][1] if word.text in ACTS else "ed" if word.text.endswith("ed") else ""
        if (
            form in ("ed", "ing")
            and self._run
            and behind not in _DETERMINERS
            and not self._passive
            and self._text(index - 1) not in _CONJUNCTIONS
        ):
            return self._aside(index)
        return None

    def _aside(self, start: int) -> int:
        """Set words aside up to those that say what is to happen."""
        self._close()
        first = start
        while first in self._cued:  # `that could be read as a promise`
            first += 1
        end = next((i for i in range(first, len(self._words)) if i in self._cued), len(self._words))
        inner = [w for w in self._words[start:end] if w.text not in ("(", ")")]
        acted = bool(inner) and inner[0].text in ACTS and ACTS[inner[0].text][1] == "ing"  # `using Archive`
        acted = acted or (len(inner) > 1 and inner[0].text in _SUBJECTS and _is_done(inner[1].text))  # `it made`
        if (
            not acted
            and not any(p.references for p in self._phrases)
            and any(w.reference or w.text in ("them", "those", "there") for w in inner)
            and all(_narrows_nothing(w) for w in inner)
        ):
            negative = any(w.text in ("not", "no", "never", "outside") for w in inner)
            for phrase in read(inner, []).phrases:  # `who are in my contacts`
                if phrase.references or phrase.pronoun:
                    self._speak_of(replace(phrase, preposition=phrase.preposition or "in", outside=negative))
            return end
        self._said += [w.written for w in inner]
        return end

    def _names(self, index: int) -> bool:
        """Whether something that we know stands next."""
        for word in self._words[index : index + 4]:
            if word.reference:
                return True
            if word.text not in _DETERMINERS and word.text not in PREPOSITIONS:
                return False
        return False

    def _act(self, index: int) -> Act | None:
        word = self._words[index]
        if word.reference is not None or word.text not in ACTS:
            return None
        act, form = ACTS[word.text]
        before = index - 1
        while before >= 0 and self._words[before].text in _ADVERBS and before not in self._skip:
            before -= 1
        prior = self._text(before)
        joined = prior in _CONJUNCTIONS and before not in self._skip
        passive = self._passive or (self._stated and before in self._cued)  # `mail is never deleted`
        if passive and (form == "ed" or word.text in ("read", "put", "set", "run")) and not self._run:
            return act
        opens = (
            before < 0
            or before in self._skip
            or (joined and before == 0)
            or prior
            in (":", "-", "(", "please", "not", "before", "though", "whereas", "while", "but", "so", "then", "you")
        )
        if form == "base":
            if before < 0 and word.singular in THINGS and (self._stated or self._text(index + 1) in _BE):
                return None  # `Mail filters are off limits`
            if opens or (joined and bool(self._acts) and not self._run and self._is_verb_here(index)):
                return act
            goes_on = prior == "to" and (self._text(before - 1) in _CONJUNCTIONS or before - 1 in self._skip)
            wished = prior == "to" and self._text(before - 1) in _WISHES  # `anything it wants to post`
            return act if goes_on or wished or (prior == "to" and not self._acts and not self._phrases) else None
        if form == "s":  # `it never deletes`, `and it never changes or drops them`
            follows = before >= 0 and self._text(before) in ("never", *_SUBJECTS)
            goes_on = joined and bool(self._acts) and self._present and not self._run
            self._present = self._present or follows
            return act if follows or goes_on else None
        if form == "ing":
            goes_on = joined and bool(self._acts)  # `filters, forwarding and delegates` is a list of things
            follows = prior in ("by", "for", "from", "of", "with", "at", "to", "allow", "mind")
            return act if (opens or goes_on or follows) and not self._run else None
        return None

    def _is_unknown_verb(self, index: int) -> bool:
        """Whether a word that we do not know stands where a verb must: `may reconcile`, `reconciling is fine`."""
        word = self._words[index]
        if (
            word.reference
            or word.is_mark
            or word.text in HARMLESS
            or word.singular in THINGS
            or word.text in PREPOSITIONS
            or word.number
        ):
            return False
        if word.text.endswith("ing"):
            return index == 0 or (index - 1 in self._cued and self._text(index - 1) in _VERB_FOLLOWS)
        return index - 1 in self._cued and self._text(index - 1) in _VERB_FOLLOWS and not word.text.endswith("ly")

    def _is_verb_here(self, index: int) -> bool:
        """Whether a word that may be a noun is a verb, in a list of verbs."""
        following = self._text(index + 1)
        if self._words[index].singular not in THINGS or (self._groups[-1][0] and not self._groups[-1][1]):
            return True  # `stage and commit`: there is nothing yet that it is done to
        if any(p.references for p in self._phrases) and following in PREPOSITIONS:
            return True  # `read #staff and post in #team`
        if following in _DETERMINERS or following in ("old", "new", "existing", "them", "it", "anything"):
            return True  # `write notes and change old ones`
        if following in ("and", "or") and ACTS.get(self._text(index + 2), ("", ""))[1] == "base":
            return True  # `stage files, commit and make branches`
        return following not in ("", ",", "in", "on", "at", "from", "of") and not self._phrases

    def _close(self) -> None:
        """End what was being read."""
        run, self._run = self._run, []
        phrase = _phrase(run, self._preposition, negated=self._negated) if run else None
        if phrase is None:
            return
        if phrase.references or phrase.head or phrase.other or phrase.pronoun or phrase.number:
            self._speak_of(phrase)
            self._carried, self._preposition, self._negated = self._preposition, "", False


def _is_done(word: str) -> bool:
    """`made`, `created`: what somebody did."""
    return word.endswith("ed") or (word in ACTS and ACTS[word][1] == "ed")


def _is_manner(word: Word) -> bool:
    """`completely`, `newly`: how, and nothing that we could check."""
    noun = word.singular in THINGS or word.text in PEOPLE or word.text in OWNERS
    return word.text.endswith("ly") and not noun and word.text not in _ABOUT_MANNER


def _narrows_nothing(word: Word) -> bool:
    return (
        bool(word.reference)
        or word.text in HARMLESS
        or word.text in PREPOSITIONS
        or word.is_mark
        or word.text in ("come", "comes", "belong", "live", "listed", "found", "among")
    )


def stem_of(verb: str) -> str:
    """A verb as a tool may have it in its name."""
    for ending, instead in (("ying", "y"), ("ing", ""), ("ied", "y"), ("ed", "")):
        if verb.endswith(ending) and len(verb) > len(ending) + 2:
            verb = verb.removesuffix(ending) + instead
            break
    return verb[:-1] if len(verb) > 3 and verb[-1] == verb[-2] and verb[-1] not in "ls" else verb.removesuffix("e")


def _phrase(words: list[Word], preposition: str, *, negated: bool) -> Phrase | None:
    references = tuple(w.reference for w in words if w.reference is not None)
    plain = [w for w in words if w.reference is None]
    several = len(plain) == 1 and not references and plain[0].text in _SEVERAL
    pronoun = next((w.text for w in plain if w.text in _PRONOUNS), "ones" if several else "")
    if pronoun == "one" and plain[-1].text != "one":
        pronoun = ""  # `in one search`
    told = [w.text for w in plain[:-1] if w.text not in _DETERMINERS and w.text not in ("new", "existing", "old")]
    if pronoun in ("one", "ones") and told and not references and plain[-1].text in ("one", "ones"):
        return Phrase(preposition, head=f"{told[-1]}_one", written=(f"{told[-1]} one",))  # which, we cannot say
    content = [
        w
        for w in plain
        if (w.text not in HARMLESS or w.text in ANYTHING or w.singular in PEOPLE or w.singular in THINGS)
        and w.text not in OTHER
        and w.text not in _DETERMINERS
        and w.text not in _PRONOUNS
        and w.number is None
    ]
    adverbs = [w for w in content[1:] if w.text.endswith("ly") and w.singular not in THINGS]
    content = [w for w in content if w not in adverbs]
    head = content[-1].singular if content else ""
    modifiers = tuple(w.singular for w in (*content[:-1], *adverbs) if w.text not in ANYTHING)
    return Phrase(
        preposition=preposition,
        head=head,
        modifiers=modifiers,
        references=references,
        outside=negated or preposition in _OUTSIDE,
        other=any(w.text in OTHER for w in plain),
        whole=any(w.text in _WHOLE for w in plain),
        pronoun=pronoun,
        is_new=any(w.text == "new" for w in plain) and not preposition,
        written=tuple(w.written for w in content if w.text not in ANYTHING),
        number=next(
            (int(w.number) for w in plain if w.number is not None), 2 if any(w.text == "both" for w in plain) else 0
        ),
    )


# --- How many. ---

_OVER: Final = re.compile(
    r"(?:more than|over|above|exceeding|exceeds?|in excess of|beyond|greater than|larger than|bigger than)"
    r"(?: a total of)?$"
)
_MOST: Final = re.compile(
    r"(?:at most|up to|no more than|not more than|maximum of|maximum|max|limit of|limited to|fewer than|less than|under"
    r"|below|within)$"
)
_AS_MOST: Final = re.compile(
    r"\b(?:is|are|being) (?:the |my |our )?(?:most|maximum|limit|upper limit|max)\b"
    r"|\b(?:at most|at the most|maximum|max|tops)\b"
)
_LESS: Final = re.compile(r"(?:(?:fewer|less) than|under|below)$")
_PER: Final = re.compile(
    r"(?:per|a|an|each|every|in one|in a single|in any|in an|in a|for one|for each|for any) (?:single |given |one )?"
    r"(task|session|day|hour|minute|week|month|run|email|message|mail|call|request)\b|\b(daily|hourly|weekly)\b"
)
_PERIODS: Final = {"daily": "day", "hourly": "hour", "weekly": "week"}


def _count(words: Sequence[Word], cued: set[int]) -> tuple[Count | None, set[int]]:
    """`more than 5 people`, `at most 10 a day`, `over $50`; and the words that say so."""
    for index, word in enumerate(words):
        if word.number is None or index in cued:
            continue
        lead = " ".join(w.text for w in words[max(0, index - 4) : index])
        over, most = _OVER.search(lead), _MOST.search(lead)
        more = [w.text for w in words[index + 1 : index + 3]] == ["or", "more"]
        tail = " ".join(w.text for w in words[index + 1 : index + 8])
        most = most or _AS_MOST.search(tail)
        if not over and not most and not more:
            continue
        less = more or (most is not None and _LESS.search(lead) is not None)
        said = over or _MOST.search(lead)
        start = index - len(said.group().split()) if said else index
        unit, end = _unit(words, index + 1, cued)
        per, end = _per(words, end)
        return Count(word.number - less, unit, word.money, per), set(range(start, end))
    return None, set()


def _unit(words: Sequence[Word], end: int, cued: set[int]) -> tuple[str, int]:
    while end < len(words) and words[end].text in _UNITS_OF_CALLS and end not in cued:
        end += 1
    if (
        end >= len(words)
        or words[end].text in PREPOSITIONS
        or words[end].is_mark
        or end in cued
        or words[end].reference
    ):
        return "", end
    if words[end].text in ("a", "an", "per", "each", "every", "must", "need", "needs"):
        return "", end
    return singular(words[end].text), end + 1


def _per(words: Sequence[Word], end: int) -> tuple[str, int]:
    rest = " ".join(w.text for w in words[end:])
    found = _PER.search(rest)
    if not found:
        return "", end
    return found.group(1) or _PERIODS[found.group(2)], end + len(rest[: found.end()].split())
