"""What the words of a sentence suggest: acts, moods, names of the set-up, numbers. Used for offers to the owner only.

Nothing here decides anything. It ranks what the owner is shown, and the owner chooses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon, singular
from ironcurtain.language.statement import ACTS, Mood, Name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ironcurtain.compiler.document import Sentence
    from ironcurtain.compiler.setup import Known

STOP: Final = lexicon(
    """the a an my our your its his her their any all every each this that these those some no of in on at for with from
    about by to and or but not never only also too just please always ever it you they we i me us he she is are be been
    was were will would may might can could must should shall do does did don doesn have has had if when where what
    which who whom whose how why as than then there here so such same very really still even anything everything nothing
    something thing things one ones other others another else otherwise rest allowed permitted fine okay ok free like
    want wants need needs without unless except into onto out up down over under inside within outside between through
    own them him more most much many few lot let ask asks asking first before after approval permission yes way keep
    assistant agent bot cannot won isn aren off new use using used thing now time times whatever whenever nor neither
    rule rules hand hands go goes going get gets good long well much my mine am per once back put take takes give gives
    actually sure course kind sort both either single whole day"""
)
"""Words that say nothing about which tools are meant."""
_VERBS: Final = {
    "read": "look view see browse check open know consult access download summarise summarize show watch find search",
    "create": "add make write draft book plan save generate set start open file log record note put enter prepare",
    "change": """edit change update rename label tick mark complete close assign adjust tag reschedule finish tidy sort
        turn switch snooze archive fill dim lock unlock set write touch move correct rewrite pause cancel resolve""",
    "delete": "delete remove erase drop purge clear wipe cancel discard throw empty",
    "trash": "trash bin",
    "move": "move rename archive relocate transfer file",
    "send": "send mail email reply answer post message forward write notify publish comment text invite tell respond",
    "share": "share invite grant publish give",
    "upload": "upload",
    "pay": "pay buy order purchase spend transfer sell trade donate refund charge",
    "run": "run start trigger execute launch restart stop build deploy call reboot shut",
}
_BEFORE_NOUNS: Final = lexicon(
    "the a an my our your its his her their any all every each this that these those some no of"
)
_BEFORE_VERBS: Final = lexicon(
    "may can must could should never not to you it or and , don't always please also before i we they cannot just only"
) | {""}
_ITSELF: Final = lexicon("it he she assistant agent bot who that")
_IRREGULAR: Final = {
    "sent": "send", "written": "write", "wrote": "write", "made": "make", "paid": "pay", "sold": "sell",
    "bought": "buy",
    "ran": "run", "put": "put", "gave": "give", "given": "give", "built": "build", "shut": "shut", "kept": "keep",
    "thrown": "throw", "told": "tell", "found": "find", "seen": "see", "shown": "show", "people": "person",
}  # fmt: skip
_NEVER: Final = re.compile(
    r"\b(?:no|not|never|nothing|nobody|none|don'?t|doesn'?t|can'?t|cannot|mustn'?t|won'?t|forbid\w*|off[- ]limits|"
    r"hands off|prohibited|avoid|stay (?:out|away)|keep (?:out|away|off)|isn'?t|aren'?t|taboo|out of bounds|neither|"
    r"nor|alone|private|leave\b.*\bas (?:it|they)|banned|refuse)\b(?! more than)",
    re.IGNORECASE,
)
_ASK: Final = re.compile(
    r"\b(?:ask|asks|asking|asked|approval|approv\w+|permission|consent|confirm\w*|check(?:s|ed|ing)? with|run it by|"
    r"sign[- ]?(?:ed )?off|go-ahead|say(?:s)? yes|said yes|said so|say so|my ok(?:ay)?|our ok(?:ay)?|an ok(?:ay)?|"
    r"needs? (?:my|our|an?|the) (?:ok\w*|yes|word|nod)|talk to (?:me|us)|first|beforehand|see it before|show (?:me|us)|"
    r"let (?:me|us)|tell (?:me|us) (?:first|before)|i (?:decide|want to (?:see|read|know|approve))|wait for (?:me|my)|"
    r"with me|(?:after|once|until|unless) i(?:'ve| have)?)\b",
    re.IGNORECASE,
)
_ELSE: Final = re.compile(
    r"\b(?:else|other|others|otherwise|the rest|remaining|different|elsewhere|anyone not|all that is not|not listed)\b",
    re.IGNORECASE,
)
_OUTSIDE: Final = re.compile(r"\boutside\b|\bnot (?:in|on|from|at) (?:my |our |the )?(?=[\w#~/@])", re.IGNORECASE)
_APART: Final = re.compile(
    r"\b(?:outside|except\w*|other than|apart from|exclud\w+|save for|unless|beyond|without|aside from|besides|"
    r"(?:nothing|no one|nobody|none|anything|anyone|all|everything|nowhere) but|but not|only|alone)\b",
    re.IGNORECASE,
)
"""Said of what a sentence leaves out of what it speaks of."""
_NOT_ONE: Final = re.compile(
    r"\b(?:is|are|was|were)(?:n'?t| not)\b(?! (?:to|allowed|permitted|okay|ok|fine)\b)|\bnot (?:in|on|from|at|among)\b",
    re.IGNORECASE,
)
"""Said of those whom a sentence speaks of: who are not in something."""
_UP_TO: Final = re.compile(
    r"\b(?:up to|at most|no more than|less than|fewer than|under|below|within|maximum of)\s+\W?\d", re.IGNORECASE
)
_NO_OTHER: Final = re.compile(r"\s*no(?: other|body else| one else|thing else)?\b", re.IGNORECASE)
_ONLY_I: Final = re.compile(r"\bonly (?:i|we|me|us|my \w+) ", re.IGNORECASE)
_SPLIT: Final = re.compile(
    r"\s*(?:;|\.\s|(?<!one)(?<!body)(?<!thing)(?<!where)(?<!\ball),? but (?!not\b)|"
    r", (?:and|so|yet) (?=(?:it|they|you|never|no|ask|only|the|don'?t|do not|always|please)\b)|"
    r", (?:though|however|although|while)\b|\s[\u2013\u2014-]\s)\s*",
    re.IGNORECASE,
)
_EXCEPT: Final = re.compile(
    r"\b(?:except(?: for)?|apart from|other than|but not|excluding|save for|with the exception of|just not|"
    r"(?:(?<=one)|(?<=body)|(?<=thing)|(?<=where)|(?<=\ball)) but)\b",
    re.IGNORECASE,
)
NUMBER_WORDS: Final = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "dozen": 12,
}  # fmt: skip
_NUMBER: Final = re.compile(
    rf"(?<![\w.#/-])[$\u20ac\u00a3]?\s?(\d[\d,]*(?:\.\d+)?|{'|'.join(NUMBER_WORDS)})(k\b)?\s*([%\w]*)(?:\s+([a-z]+))?",
    re.IGNORECASE,
)
_LITERAL: Final = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.]*\w|#[\w-]+|(?<![\w/])~?/[\w./-]*\w|\b[\w-]+/[\w.-]*\w"
    r"|(?:\*\.)?\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|example|io|dev|edu|gov|test|local|co|uk|de)\b"
)
_QUOTED: Final = re.compile(r'"([^"]{1,80})"|\u201c([^\u201d]{1,80})\u201d|`([^`]{1,80})`')
_NUMBERING: Final = re.compile(r"^\s*\(?\d+(?:\.\d+)*[.):]?\s+(?=[A-Z])")
_KIND_WORDS: Final = lexicon("folder directory channel calendar list repository repo project board team group file")


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a sentence with the words behind it: `10 shares`."""

    value: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """One clause of a sentence, with what it seems to be about."""

    text: str
    stems: frozenset[str]
    """The words that say something, without their endings."""
    acts: frozenset[str]
    mood: Mood
    """The likeliest."""
    names: tuple[Name, ...]
    """The names of the set-up and the literal addresses, paths, hosts and quoted words in it."""
    numbers: tuple[Number, ...]
    only: bool
    elsewhere: bool
    """It speaks of what is left: everybody else, any other folder."""
    outside: bool
    """It speaks of what its names do not hold: anyone outside contacts."""
    excepted: tuple[Name, ...] = ()
    """The names that it takes back: those behind `except` and the like."""
    beyond: frozenset[str] = frozenset()
    """Words of what it takes back that are no names."""
    apart: bool = False
    """It leaves something out of what it speaks of: *outside*, *except*, *who are not*."""
    below: bool = False
    """It speaks of what is below a number."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return a word without its usual endings; good enough to compare words with words."""
    word = _IRREGULAR.get(word, singular(word))
    for ending in ("ing", "ed", "ion", "ment", "er", "al"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = word.removesuffix(ending)
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeioul":
        word = word[:-1]
    return word.removesuffix("e")


def stems_of(words: Iterable[str]) -> frozenset[str]:
    """Return the stems of the words that say something."""
    return frozenset(stem(word) for word in words if word not in STOP and len(word) > 1)


_NOUNISH: Final = stems_of(
    lexicon(
        """order book note record text mail email post comment label tag file message answer share plan log draft list
        report search view look change update trade charge transfer call build start set mark watch check access bin"""
    )
)
"""Words that are nouns as often as verbs."""
_STEMS: Final = {act: frozenset(stem(verb) for verb in (act, *_VERBS[act].split())) for act in ACTS}


def wordings(sentence: Sentence, known: Known) -> list[Wording]:
    """Return the clauses of a sentence, each with what it seems to be about."""
    plain = _NUMBERING.sub("", sentence.text)
    text = f"{sentence.lead} {plain}" if sentence.lead else plain
    heading = " ".join((*sentence.headings, sentence.lead))
    found = [_wording(part.strip(), heading, known) for part in _SPLIT.split(text) if part.strip()]
    return [each for each in found if each.stems or each.names]


def _wording(text: str, heading: str, known: Known) -> Wording:
    words = [word.removesuffix("'s") for word in re.findall(r"[a-z][a-z'-]*", text.lower())]
    stems = stems_of(part for word in words for part in (word, *word.split("-")))
    taken = _EXCEPT.search(text)
    spoken = stems_of(_verbs(text[: taken.start()] if taken else text))
    acts = frozenset(act for act in ACTS if _STEMS[act] & spoken)
    english = _LITERAL.sub(" ", _QUOTED.sub(" ", text))
    asks, refuses = bool(_ASK.search(english)), bool(_NEVER.search(english))
    if not asks and not refuses:
        refuses = bool(
            re.search(r"\b(?:never|not allowed|don'?ts?|forbidden|off limits|no-go)\b", heading, re.IGNORECASE)
        )
        asks = not refuses and bool(re.search(r"\bask|approval", heading, re.IGNORECASE))
    elsewhere = bool(_ELSE.search(english))
    mood = Mood.OTHERWISE if asks and elsewhere else Mood.ASK if asks else Mood.NEVER if refuses else Mood.MAY
    only = (
        bool(re.search(r"\bonly\b|\b(?:nothing|nowhere|no one) else\b|\bno other\b", text, re.IGNORECASE)) and not asks
    )
    if only and mood is Mood.NEVER and not _NO_OTHER.match(text):
        mood = Mood.MAY
    if _ONLY_I.search(text):  # and nobody else
        mood, only = Mood.NEVER, False
    names = tuple(_names(text[: taken.start()] if taken else text, known))
    excepted = tuple(_names(text[taken.end() :], known)) if taken else ()
    outside = _OUTSIDE.search(text) is not None
    beyond = _beyond(text[taken.end() :] if taken else "", excepted)
    apart = _APART.search(english) is not None or _NOT_ONE.search(english) is not None
    below = _UP_TO.search(english) is not None
    numbers = tuple(_numbers(text))
    return Wording(
        text, stems, acts, mood, names, numbers, only, elsewhere, outside, excepted, beyond, apart=apart, below=below
    )


def _beyond(text: str, names: tuple[Name, ...]) -> frozenset[str]:
    """Return the stems of what is taken back, less the names in it."""
    named = re.findall(r"[a-z]+", " ".join(name.text for name in names).lower())
    return stems_of(re.findall(r"[a-z]+", text.lower())) - stems_of(named) - stems_of(_KIND_WORDS)


def _verbs(text: str) -> Iterator[str]:
    """Yield the words of a clause that may be verbs: by where they stand, for those that are nouns as often."""
    before = ""
    for word in re.findall(r"[a-z][a-z'-]*|[,:]", text.lower()):
        noun = stem(word) in _NOUNISH and before not in (_ITSELF if word.endswith("s") else _BEFORE_VERBS)
        if before not in _BEFORE_NOUNS and not noun:
            yield from (word, *word.split("-"))
        before = word


def _names(text: str, known: Known) -> Iterator[Name]:
    """Yield the names of the set-up that occur in a text, as people write them, then literals."""
    rest = text
    every = sorted((*known.directories, *known.lists, *known.names), key=len, reverse=True)
    found: dict[str, int] = {}
    for name in every:
        pattern = r"[\s_-]+".join(re.escape(part) for part in re.split(r"[\s_-]+", name.strip().lstrip("#@")) if part)
        kind = singular(name.split()[-1].lower()) if " " in name else ""
        if kind in _KIND_WORDS:  # `SSH folder` is also spoken of as the folder
            pattern = rf"{pattern}|{re.escape(name.rsplit(' ', 1)[0])}"
        place = re.search(rf"(?<![\w/~.-])[#@]?(?:{pattern})s?(?![\w/-])", rest, re.IGNORECASE)
        if place:
            found[name] = place.start()
            rest = rest[: place.start()] + " " * (place.end() - place.start()) + rest[place.end() :]
    for match in _QUOTED.finditer(rest):
        found[next(filter(None, match.groups()))] = match.start()
        rest = rest[: match.start()] + " " * (match.end() - match.start()) + rest[match.end() :]
    for match in _LITERAL.finditer(rest):
        found[match.group()] = match.start()
    for name, _ in sorted(found.items(), key=lambda item: item[1]):
        yield Name(name, quoted=name not in every and not _LITERAL.fullmatch(name))


def verbs_of(acts: Iterable[str]) -> frozenset[str]:
    """Return the stems of the everyday verbs for some acts."""
    return frozenset(each for act in acts for each in _STEMS[act])


def _numbers(text: str) -> Iterator[Number]:
    for match in _NUMBER.finditer(text):
        digits = str(NUMBER_WORDS.get(match[1].lower(), match[1].replace(",", "")))
        if match[2]:
            digits = f"{float(digits) * 1000:.12g}"
        yield Number(digits, tuple(singular(word.lower()) for word in (match[3], match[4]) if word))
