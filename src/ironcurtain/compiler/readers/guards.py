"""Looks at a reading without any model: what a sentence says and its statements do not, and the other way round.

A warning changes no reading. It says where the owner should look before they agree.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.readers.reading import State
from ironcurtain.language.parsing import parse
from ironcurtain.language.statement import Budget, Mood

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ironcurtain.compiler.readers.reading import Reading
    from ironcurtain.compiler.setup import Known

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
    r"only|no|not|fine|okay|off limits)\b",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"(?<![\w.#/-])\d+(?:[.,]\d+)*(?![\w/-])")
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+\w")
_PATH: Final = re.compile(r"(?<![\w/])~?/[\w./-]*\w")
_QUOTED: Final = re.compile(r'"([^"]{1,80})"|\u201c([^\u201d]{1,80})\u201d')
_CONTENT: Final = re.compile(r'might be read as "(?:[^"\\]|\\.)*"')
_PATTERN: Final = re.compile(r"matches /(?:[^/\\]|\\.)+/")
_BELOW: Final = re.compile(r"\b(?:fewer|less|under|below)\b", re.IGNORECASE)
_COUNTED: Final = re.compile(r"more than (\d+)")


def warnings(sentence: str, reading: Reading, known: Known) -> Iterator[str]:
    """Yield what is suspicious about a reading."""
    if reading.state is State.NOT_A_RULE and _MODAL.search(sentence):
        yield "it speaks of what may or may not be done, and was taken for no rule"
    if reading.state is not State.READ:
        return
    lines = [parse(text) for text in reading.statements]
    moods = {line.mood for line in lines if not isinstance(line, Budget)}
    refuses, asks = _REFUSAL.search(sentence), _ASKING.search(sentence)
    if moods == {Mood.MAY} and refuses and not any("only " in text or "except" in text for text in reading.statements):
        yield f'the sentence has "{refuses.group()}", and all it came to is a permission'
    if Mood.NEVER in moods and not refuses and not asks:
        yield "it came to a prohibition, and the sentence has no word of refusal"
    if moods & {Mood.ASK, Mood.OTHERWISE} and not asks and not refuses:
        yield "it came to a question, and the sentence does not speak of asking"
    yield from _lost(sentence, " ".join(reading.statements), known)


def _lost(sentence: str, statements: str, known: Known) -> Iterator[str]:
    told = _PATTERN.sub("", _CONTENT.sub("", statements))
    numbers = {_plain(found) for found in _NUMBER.findall(told)}
    if _BELOW.search(sentence):  # fewer than five is no more than four
        numbers |= {str(int(found) + 1) for found in _COUNTED.findall(told)}
    for number in _NUMBER.findall(sentence):
        if _plain(number) not in numbers and number not in statements:
            yield f"the number {number} does not occur in its statements"
    values = {value for values in known.names.values() for value in values} | set(known.directories.values())
    for pattern, what in ((_ADDRESS, "address"), (_PATH, "path")):
        for found in pattern.findall(sentence):
            if found.rstrip("/.") not in statements and not _stands_for(found, statements, known):
                yield f"the {what} {found} does not occur in its statements"
        for found in pattern.findall(told):
            if found not in sentence and found not in values and not any(found in value for value in values):
                yield f"the {what} {found} is in a statement, and not in the sentence"
    for one, two in _QUOTED.findall(sentence):
        name = one or two
        if name.lower() not in statements.lower() and not any(
            value in statements for value in known.names.get(name, ())
        ):
            yield f'"{name}" does not occur in its statements'


def _plain(number: str) -> str:
    return number.replace(",", "").removesuffix(".0")


def _stands_for(text: str, statements: str, known: Known) -> bool:
    """Whether a name of the set-up that stands for the text is in the statements."""
    names = [name for name, values in known.names.items() if text in values]
    names += [name for name, path in known.directories.items() if known.absolute(text) == known.absolute(path)]
    return any(name in statements for name in names)
