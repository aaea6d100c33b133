"""Reads a constitution: every sentence by the first reader that understands it.

1. what the owner agreed to before, while the sentence and its headings are as they were
2. the table, where the sentence already is a statement
3. a model, twice and independently, where the owner named one
4. the owner, where there is a terminal (see `cli/agreeing.py`)

What is left is unread: the permissions under its heading ask, and the report begins with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.document import LONGEST, sentences_of
from ironcurtain.compiler.doubt import in_doubt
from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.readers.model import Matter, read_by_model
from ironcurtain.compiler.readers.offering import Forms
from ironcurtain.compiler.readers.reading import UNREAD, Reading, State, key_of
from ironcurtain.compiler.readers.table import as_statement, read_by_table
from ironcurtain.compiler.readers.wording import stems_of
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.errors import Refusal
from ironcurtain.language.parsing import StatementError, parse
from ironcurtain.language.statement import ACTS, Mood, Statement
from ironcurtain.language.writing import write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.document import Sentence
    from ironcurtain.compiler.drafts import Compiled
    from ironcurtain.compiler.readers.model import Speaker
    from ironcurtain.compiler.readers.store import Readings
    from ironcurtain.compiler.setup import Known
    from ironcurtain.language.statement import Line

MOST_SENTENCES: Final = 2_000
LONGEST_SENTENCE: Final = 4_000  # characters
_OPENING: Final = re.compile(
    r"(?:in|on|over|at|for|when|whenever|if|while|during|after|before|with|under|as|until|unless|once)\b[^;]*?,",
    re.IGNORECASE,
)
"""What holds for a whole sentence, and stands at its beginning."""
_CONDITION: Final = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|only|except\w*|unless|until|if|when\w*|while|without|old|former|"
    r"draft|obsolete|invalid|expired|deprecated|forbid\w*|prohibit\w*|off[- ]limits|banned|blocked|restricted|"
    r"don'?t\w*|ask\w*|approv\w*|agree\w*|weekend\w*|weekday\w*|holiday\w*|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
    r"|^\W*(?:on|in|at|for|after|before|during|with|from|by|over|under|as|to|once|till|since)\b",
    re.IGNORECASE,
)
"""Words of a heading under which a permission may not hold as it stands."""


_MOODS: Final = ("may ", "must never ", "must ask ")
"""How a statement begins."""


@dataclass(slots=True)
class Read:
    """A constitution, as far as it is read."""

    sentences: list[Sentence]
    readings: list[Reading]
    second: list[Reading] = field(default_factory=list)
    """The second reading of a model, where one was asked twice; otherwise none."""

    @property
    def unread(self) -> list[int]:
        """The numbers of the sentences that no reader understood, from 1."""
        return [number for number, each in enumerate(self.readings, 1) if each.state is State.UNREAD]

    @property
    def disputed(self) -> list[int]:
        """The numbers of the sentences that two readings take differently."""
        return [
            number
            for number, (one, two) in enumerate(zip(self.readings, self.second, strict=False), 1)
            if (one.state, frozenset(one.statements)) != (two.state, frozenset(two.statements))
        ]

    @property
    def missing(self) -> list[str]:
        """The names that the set-up does not have, and sentences that are otherwise statements speak of."""
        return list(dict.fromkeys(each.missing for each in self.readings if each.missing))

    def other(self) -> Read:
        """Return the same with the second reading in the place of the first."""
        return Read(self.sentences, self.second or self.readings)


@dataclass(frozen=True, slots=True)
class Asking:
    """Whoever reads what the table does not."""

    speaker: Speaker | None
    twice: bool = True
    tell: Callable[[str], None] = lambda _: None


def read_constitution(
    text: str,
    tools: Sequence[Tool],
    known: Known,
    kept: Readings,
    asking: Asking | None = None,
) -> Read:
    """Read every sentence by the first reader that understands it; the owner is not among them."""
    if len(text) > LONGEST:
        raise Refusal("constitution_too_long", f"more than {LONGEST} characters", "say it in fewer words")
    sentences = sentences_of(text)
    if len(sentences) > MOST_SENTENCES:
        raise Refusal("constitution_too_long", f"more than {MOST_SENTENCES} sentences", "say it in fewer words")
    if longest := next((each.text for each in sentences if len(each.text) > LONGEST_SENTENCE), ""):
        where = f"a sentence of {len(longest)} characters: {longest[:40]}..."
        raise Refusal("constitution_too_long", where, f"say it in sentences of at most {LONGEST_SENTENCE} characters")

    def is_right(lines: list[str]) -> bool:
        try:
            return not compile_statements([Sourced(parse(line)) for line in lines], tools, known).problems
        except StatementError:  # kept by an earlier version of the language
            return False

    def is_whole(lines: list[str]) -> bool:
        return is_right(lines) and not any(_is_said_elsewhere(parse(line), tools) for line in lines)

    readings: list[Reading] = []
    for sentence in sentences:
        before = kept.kept.get(key_of(sentence))
        if before is not None and (before.state is not State.READ or is_right([*before.statements])):
            readings.append(before)
            continue
        plain = not sentence.marked and not _depends(sentence, sentences, readings)
        literal = sentence.text.startswith(_MOODS)  # the owner wrote a statement, and means what it means
        found = read_by_table(sentence, known, is_right if literal else is_whole) if plain else None
        if found and _is_conditional(sentence) and any(_permits_by_itself(line) for line in found):
            found = None
        readings.append(Reading(State.READ, found, "parser") if found else _unread(sentence, tools, known))
    read = Read(sentences, readings)
    if asking is not None and asking.speaker is not None and read.unread:
        _by_model(read, asking.speaker, Matter(tools, known, read.sentences, read.unread), asking)
    return read


def _is_conditional(sentence: Sentence) -> bool:
    """Return whether a heading, or the words in bold that a sentence begins with, may be a condition or a refusal."""
    return any(_CONDITION.search(heading) for heading in sentence.headings)


def _permits_by_itself(text: str) -> bool:
    line = parse(text)
    return isinstance(line, Statement) and line.mood in (Mood.MAY, Mood.ASK)


def _depends(sentence: Sentence, sentences: Sequence[Sentence], readings: Sequence[Reading]) -> bool:
    """Return whether a part after a semicolon may depend on the part before: *On holiday, never do A; you may do B.*"""
    before = sentences[len(readings) - 1] if readings else None
    if before is None or before.block != sentence.block or before.text.endswith((".", "!", "?")):
        return False
    return readings[-1].state is not State.READ or _OPENING.match(before.text) is not None


def _is_said_elsewhere(line: Line, tools: Sequence[Tool]) -> bool:
    """Return whether a verb that is no act also stands in an argument: *recording* is done by `auto_recording`, too.

    The verb binds to the tools that bear it in their names, and such a prohibition would be less than its sentence.
    """
    verbs = stems_of(line.doing.acts) - stems_of(ACTS) if isinstance(line, Statement) else frozenset()
    return any(verbs & stems_of(argument.words) for tool in tools for argument in tool.arguments.values())


def _unread(sentence: Sentence, tools: Sequence[Tool], known: Known) -> Reading:
    """Return an unread sentence; of one that is a statement but for its names, with what is wrong with it."""
    text = sentence.text[:1].lower() + sentence.text[1:]
    is_statement = text.startswith(_MOODS)
    shown = text if is_statement else as_statement(sentence, known)
    if shown is None:
        return UNREAD
    try:
        line = parse(shown)
    except StatementError as error:
        plain = as_statement(sentence, known)  # *to the regulars*, who are asked for
        if plain is None:
            return replace(UNREAD, why=f"{error.message} (column {error.column}); {error.help}")
        line = parse(plain)
    (meaning,) = compile_statements([Sourced(line)], tools, known).meanings
    if not is_statement and not meaning.missing:
        return UNREAD
    if not meaning.problem:
        return replace(UNREAD, why=f"it may be meant otherwise than: {write(line)} If not, write just that")
    return replace(UNREAD, why="; ".join(filter(None, (meaning.problem, meaning.help))), missing=meaning.missing)


def _by_model(read: Read, speaker: Speaker, matter: Matter, asking: Asking) -> None:
    wanted, twice = matter.wanted, asking.twice
    first = read_by_model(speaker, matter, tell=asking.tell).readings
    second = read_by_model(speaker, matter, variant=1, tell=asking.tell).readings if twice else {}
    read.second = [*read.readings] if twice else []
    for number in wanted:
        one = first.get(number, UNREAD)
        if twice:
            one, read.second[number - 1] = compared(one, second.get(number, UNREAD))
        read.readings[number - 1] = one


def compared(one: Reading, two: Reading) -> tuple[Reading, Reading]:
    """Return two readings of a sentence to compare; one that was not understood permits nothing and agrees to the rest.

    So what only one reading permits is put to the owner, and is not permitted until they answer.
    """
    if one.state is two.state is State.UNREAD:
        return one, two
    if one.state is State.UNREAD:
        return _tightening(two), two
    return (one, _tightening(one)) if two.state is State.UNREAD else (one, two)


def _tightening(reading: Reading) -> Reading:
    """Return what a reading forbids and asks about; without any, the sentence is not understood."""
    lines = tuple(text for text in reading.statements if not text.startswith(Mood.MAY.value))
    return replace(reading, statements=lines) if lines else UNREAD


def united(one: Reading, two: Reading) -> Reading:
    """Return the first of two readings that differ in no call, with what the second forbids and asks about besides.

    For these tools it changes nothing; for tools and permissions to come it may. What one of them did not understand
    stays not understood.
    """
    if State.UNREAD in (one.state, two.state):
        return UNREAD
    lines = tuple(dict.fromkeys((*one.statements, *_tightening(two).statements)))
    return replace(one, state=State.READ, statements=lines) if lines else one


def compiled_from(read: Read, tools: Sequence[Tool], known: Known, kept: Readings) -> tuple[Compiled, list[list[int]]]:
    """Compile what was read; also returns, for each sentence, the numbers of its statements.

    A permission that was agreed to speaks of the tools that it picked then. The permissions under the heading of an
    unread sentence ask; of a skipped one, the tools it might concern, or else also the permissions under its heading.
    """
    lines: list[Sourced] = []
    agreed: list[frozenset[str] | None] = []
    owners: list[list[int]] = []
    doubtful: list[bool] = []
    skipped = [s for s, each in zip(read.sentences, read.readings, strict=True) if each.state is State.SKIPPED]
    forms = Forms.of(tools, known)
    concerned = [(sentence, forms.concerned(sentence)) for sentence in skipped]
    unplaced = {sentence for sentence, found in concerned if not found}
    unclear = [
        number
        for number, (sentence, reading) in enumerate(zip(read.sentences, read.readings, strict=True))
        if reading.state is State.UNREAD or sentence in unplaced
    ]
    doubted = in_doubt(read.sentences, unclear)
    for number, (sentence, reading) in enumerate(zip(read.sentences, read.readings, strict=True)):
        owners.append([])
        for text in reading.statements if reading.state is State.READ else ():
            owners[-1].append(len(lines))
            lines.append(Sourced(parse(text), sentence.text))
            agreed.append(kept.picks.get(text) if reading.agreed else None)
            doubtful.append(number in doubted)
    compiled = compile_statements(lines, tools, known, agreed)
    asking = {
        name
        for number, meaning in enumerate(compiled.meanings)
        if doubtful[number] and isinstance(lines[number].line, Statement) and _permits(lines[number])
        for name in meaning.rules
    }
    rules = tuple(
        _asks(rule) if rule["name"] in asking and rule["then"] == "allow" else rule for rule in compiled.rules
    )
    return replace(compiled, rules=(*_skipped(concerned), *rules)), owners


def _skipped(sentences: Sequence[tuple[Sentence, Sequence[Tool]]]) -> Iterator[dict[str, Any]]:
    """Yield rules that ask about the tools that skipped sentences might concern, and permit nothing."""
    for number, (sentence, concerned) in enumerate(sentences, 1):
        by_server: dict[str, list[str]] = {}
        for tool in concerned:
            by_server.setdefault(tool.server, []).append(tool.name)
        for server, names in sorted(by_server.items()):
            yield {
                "name": f"skipped-{number}-{server}",
                "principle": sentence.text,
                "if": {"server": [server], "tool": sorted(names)},
                "then": "escalate",
                "joined": True,
                "reason": f'"{sentence.text}" was skipped',
            }


def _permits(source: Sourced) -> bool:
    return isinstance(source.line, Statement) and source.line.mood is Mood.MAY


def _asks(rule: dict[str, object]) -> dict[str, object]:
    return {**rule, "then": "escalate", "reason": "a sentence under the same heading was not understood"}
