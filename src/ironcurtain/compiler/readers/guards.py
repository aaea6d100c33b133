"""Looks at a reading without any model: what a sentence says and its statements do not, and the other way round.

A warning changes no reading. It says where the owner should look before they agree.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.acts import VERBS
from ironcurtain.compiler.readers.limiting import names_in
from ironcurtain.compiler.readers.reading import State
from ironcurtain.compiler.readers.wording import NUMBER_WORDS, STOP
from ironcurtain.language.parsing import parse
from ironcurtain.language.statement import Budget, Domain, Mood, People, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ironcurtain.compiler.readers.reading import Reading
    from ironcurtain.compiler.setup import Known
    from ironcurtain.language.statement import Line

_REFUSAL: Final = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|nowhere|neither|nor|without|don'?t|doesn'?t|can'?t|cannot|won'?t|mustn'?t|"
    r"shouldn'?t|isn'?t|aren'?t|forbid\w*|prohibit\w*|off[- ]limits|hands off|stay\w* (?:out|away)|avoid|refuse|banned?|"
    r"except|unless|only|read-only|private|leave alone|apart from|other than)\b",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"\b(?:ask\w*|approv\w*|okay|ok|permission|consent|confirm\w*|check\w*|sign\w* off|let me|show me|tell me|consult|first|"
    r"beforehand|go-ahead|green light|agree\w*|say[- ]so|i say|i said|see it|at (?:the )?most|up to|more than|over|above|"
    r"limit\w*|maximum|max)\b",
    re.IGNORECASE,
)
_MODAL: Final = re.compile(
    r"\b(?:may|must|can|cannot|can't|shall|should|will|won't|never|always|don't|do not|ask|allowed|forbidden|permitted|"
    r"only|no|not|fine|okay|off limits|needs?|requires?|keep\w*|leave|blessing|hands? off|free to|up to you)\b",
    re.IGNORECASE,
)
_HARMLESS: Final = re.compile(
    r"\b(?:no|not|never) (?:more|longer|later|bigger|larger)\b(?: \w+)? than\b|\bwithout asking\b|\bno(?:thing|where) else\b",
    re.IGNORECASE,
)
"""Words of refusal that bound what is permitted."""
_PERMITTING: Final = re.compile(
    r"\b(?:may|can|could|allowed|allow|permitted|permit|free|fine|okay|ok|all right|alright|welcome|sure|feel free|"
    r"let it|is good|are good|happy|up to you|only|yes|go ahead|whenever|anything|whatever|by (?:itself|yourself)|"
    r"acceptable|without asking|as (?:it|you) (?:like|want|wish|please)s?)\b",
    re.IGNORECASE,
)
_BOUND: Final = re.compile(r"(?:more than|less than|at most|at least|longer than) \$?(\d+(?:[.,]\d+)*)")
_CALLED: Final = re.compile(
    r"\b(?:commands?|channels?|branch(?:es)?|called|named) "
    r"((?:[\w#][\w./-]*\w|\w)(?:(?:, and |, or |, | and | or )(?:[\w#][\w./-]*\w|\w))*)"
)
"""Words that say which of a kind is meant."""
_SHORT: Final = 3  # characters of a name that has no plural
_PROPER: Final = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z][\w-]*")
"""Words in the middle of a sentence that begin like names."""
_NO_NAMES: Final = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december english french german dutch spanish italian""".split()  # noqa: SIM905
)
_NUMBER: Final = re.compile(r"(?<![\w.#/-])\d+(?:[.,]\d+)*(?![\w/-])")
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+\w")
_PATH: Final = re.compile(r"(?<![\w/])~?/[\w./-]*\w")
_QUOTED: Final = re.compile(r'"([^"]{1,80})"|\u201c([^\u201d]{1,80})\u201d')
_CONTENT: Final = re.compile(r'might be read as "(?:[^"\\]|\\.)*"')
_PATTERN: Final = re.compile(r"matches /(?:[^/\\]|\\.)+/")
_WHOLE: Final = ("~", "/", "~/")
_ANYBODY: Final = re.compile(r"\b(?:any|every|some)(?:one|body)\b|\b(?:whoever|people|strangers)\b")
_BELOW: Final = re.compile(r"\b(?:fewer|less|under|below)\b", re.IGNORECASE)
_COUNTED: Final = re.compile(r"more than (\d+)")


def warnings(sentence: str, reading: Reading, known: Known) -> Iterator[str]:
    """Yield what is suspicious about a reading."""
    if reading.state is State.NOT_A_RULE and speaks_of_rules(sentence):
        yield "it speaks of what may or may not be done, and was taken for no rule"
    if reading.state is not State.READ:
        return
    lines = [parse(text) for text in reading.statements]
    moods = {line.mood for line in lines if not isinstance(line, Budget)}
    refuses, asks = _REFUSAL.search(_HARMLESS.sub("", sentence)), _ASKING.search(sentence)
    if moods == {Mood.MAY} and refuses and not any("only " in text or "except" in text for text in reading.statements):
        yield f'the sentence has "{refuses.group()}", and all it came to is a permission'
    elif Mood.MAY in moods and refuses and not _PERMITTING.search(sentence):
        yield f'the sentence has "{refuses.group()}" and no word that permits, and it came to a permission'
    if Mood.NEVER in moods and not refuses and not asks:
        yield "it came to a prohibition, and the sentence has no word of refusal"
    if moods & {Mood.ASK, Mood.OTHERWISE} and not asks and not refuses:
        yield "it came to a question, and the sentence does not speak of asking"
    told = " ".join(reading.statements)
    yield from dict.fromkeys(_lost(sentence, told, known))
    if Mood.MAY in moods:
        yield from _names_lost(sentence, told, known)
        yield from _names_added(sentence, lines, known)
        if not _is_english(sentence):
            yield "the sentence does not look like English: see whether it permits anything"


def speaks_of_rules(sentence: str) -> bool:
    """Return whether a sentence speaks of what may or may not be done, or of asking."""
    return any(one.search(sentence) for one in (_MODAL, _ASKING, _REFUSAL))


def _lost(sentence: str, statements: str, known: Known) -> Iterator[str]:
    told = _PATTERN.sub("", _CONTENT.sub("", statements))
    numbers = {_plain(found) for found in _NUMBER.findall(told)}
    if _BELOW.search(sentence):  # fewer than five is no more than four
        numbers |= {str(int(found) + 1) for found in _COUNTED.findall(told)}
    for number in _NUMBER.findall(sentence):
        if _plain(number) not in numbers and not re.search(rf"(?<!\d){re.escape(_plain(number))}(?!\d)", statements):
            yield f"the number {number} does not occur in its statements"
    said = {float(_plain(each)) for each in _NUMBER.findall(sentence) if each.count(".") < 2} | {  # no version, no date
        float(value) for word, value in NUMBER_WORDS.items() if re.search(rf"\b{word}\b", sentence, re.IGNORECASE)
    }
    for number in _BOUND.findall(told) if said else ():  # otherwise it stands in the sentence before
        if float(_plain(number)) > 1 and not {float(_plain(number)) + less for less in (-1, 0, 1)} & _in_any_unit(
            said | {1.0}
        ):
            yield f"the number {number} is in a statement, and not in the sentence"
    values = {value for values in known.names.values() for value in values} | set(known.directories.values())
    for pattern, what in ((_ADDRESS, "address"), (_PATH, "path")):
        for found in pattern.findall(sentence):
            if found.rstrip("/.") not in statements and not _stands_for(found, statements, known):
                yield f"the {what} {found} does not occur in its statements"
        for found in pattern.findall(told):
            full = known.absolute(found) if found.startswith("~") else found
            if found not in sentence and not any(each in value for value in values for each in (found, full)):
                yield f"the {what} {found} is in a statement, and not in the sentence"
    for one, two in _QUOTED.findall(sentence):
        name = one or two
        if name.lower() not in statements.lower() and not any(
            value in statements for value in known.names.get(name, ())
        ):
            yield f'"{name}" does not occur in its statements'


def _names_lost(sentence: str, statements: str, known: Known) -> Iterator[str]:
    """Yield the names of a sentence that its permissions do not speak of: *the command ls*, *mail of Ann*."""
    found = [name for each in _CALLED.findall(sentence) for name in re.split(r", and |, or |, | and | or ", each)]
    held = f"{statements} {' '.join(_meant_by(statements, known))}".lower()
    for name in dict.fromkeys((*found, *_PROPER.findall(sentence))):
        plain = name.strip("#").lower()
        stem = re.escape(plain.removesuffix("s") if len(plain) > _SHORT else plain)
        if plain not in STOP and plain not in _NO_NAMES and not re.search(rf"(?<![a-z]){stem}", held):
            yield f'"{name}" does not occur in its statements'


def _names_added(sentence: str, lines: Iterable[Line], known: Known) -> Iterator[str]:
    """Yield what permissions speak of and their sentence does not: other names of the set-up, all files, everybody."""
    said = _folded(sentence)
    permitting = [line for line in lines if isinstance(line, Statement) and line.mood is Mood.MAY]
    named = [name for line in permitting for name in names_in(line.limits)]
    own = (*known.directories, *known.lists, *known.names)
    spoken = [key for key in own if _is_said(_stem(key), said)]
    same = {value for key in spoken for value in _values_of(key, known)}
    for name in dict.fromkeys(each.text for each in named):
        key = next((key for key in own if _folded(key) == _folded(name)), None)
        other = key is not None and key not in spoken and not same & set(_values_of(key, known))
        if name in _WHOLE or (other and not _is_said(_stem(name), said)):
            yield f"{name} is in a statement, and not in the sentence"
    for line in permitting:
        for limit in line.limits:
            if isinstance(limit, People):
                people = any("@" in value or "+" in value for key in spoken for value in _values_of(key, known))
                yield from _people_added(limit, said, spoken=people)


def _people_added(limit: People, said: str, *, spoken: bool) -> Iterator[str]:
    domains = [member.name.text for member in limit.members if isinstance(member, Domain)]
    yield from (
        f"{each} is in a statement, and not in the sentence" for each in domains if not _is_said(each.lower(), said)
    )
    if not limit.members and spoken and not _ANYBODY.search(said):
        yield "a statement permits anyone, and the sentence names who is meant"


def _is_english(sentence: str) -> bool:
    """Return whether enough words of a sentence are common English ones: the words of refusal above are."""
    words = re.findall(r"[^\W\d_][\w'-]*", sentence.lower())
    return 4 * sum(word in STOP or word in VERBS for word in words) >= len(words)


def _folded(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.lower()).strip(" #@")


def _is_said(words: str, said: str) -> bool:
    """Return whether words stand in a sentence, as they are or in the plural."""
    return re.search(rf"(?<![\w.@-]){re.escape(words)}(?:'?s|es)?(?![\w@-]|\.\w)", said) is not None


def _stem(name: str) -> str:
    return re.sub(r" (?:folder|directory|list|channel|calendar|team)$", "", _folded(name)).removesuffix("s")


def _values_of(key: str, known: Known) -> tuple[str, ...]:
    """Return what a name of the set-up stands for."""
    listed = known.lists[key].values if key in known.lists else ()
    return (*known.names.get(key, ()), *listed, *([known.directories[key]] if key in known.directories else []))


def _meant_by(statements: str, known: Known) -> Iterator[str]:
    """Yield what the names of the set-up in statements stand for, and the other names that stand for the same."""
    used = [name for name in (*known.directories, *known.lists, *known.names) if name in statements]
    for name in used:
        values = {*known.names.get(name, ()), known.directories.get(name, "")}
        yield from values
        yield from (other for other, own in known.names.items() if values & set(own))


def _in_any_unit(numbers: set[float]) -> set[float]:
    """Return numbers as they are in smaller or larger units: minutes, seconds, days, hundredths, thousands."""
    factors = (1, 60, 3_600, 24, 7, 100, 1_000, 1_024, 1_024**2, 86_400, 10**6, 1e-2, 1e-3, 1 / 60)
    return {round(number * factor, 6) for number in numbers for factor in factors}


def _plain(number: str) -> str:
    return number.replace(",", "").removesuffix(".0")


def _stands_for(text: str, statements: str, known: Known) -> bool:
    """Whether a name of the set-up that stands for the text is in the statements."""
    names = [name for name, values in known.names.items() if text in values]
    names += [name for name, path in known.directories.items() if known.absolute(text) == known.absolute(path)]
    return any(name in statements for name in names)
