"""Reads sentences with a model: asks, checks every line, sends back what is wrong, and never asks the same twice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from ironcurtain.compiler.readers.answers import read_answer, repair
from ironcurtain.compiler.readers.prompt import parts_of, question
from ironcurtain.compiler.readers.reading import Reading, State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.document import Sentence
    from ironcurtain.compiler.readers.answers import Answer
    from ironcurtain.compiler.setup import Known

ROUNDS: Final = 4  # the first answer, and three repairs


class Speaker(Protocol):
    """Whoever answers a question: a provider, a program, or a person with a chat window."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    def reply(self, instructions: str, asked: str) -> str:
        """Return the answer to a question as text."""
        ...


@dataclass(slots=True)
class ModelReading:
    """What one independent reading came to."""

    readings: dict[int, Reading] = field(default_factory=dict)
    """By the number of the sentence, from 1."""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Matter:
    """What a model is asked about."""

    tools: Sequence[Tool]
    known: Known
    sentences: Sequence[Sentence]
    wanted: Sequence[int]
    """The numbers of the sentences to be read, from 1."""


def read_by_model(
    speaker: Speaker, matter: Matter, *, variant: int = 0, tell: Callable[[str], None] = lambda _: None
) -> ModelReading:
    """Ask for the sentences that are wanted; what stays wrong after all rounds is unread, with the last complaint."""
    parts = parts_of(matter.tools)
    found = ModelReading()
    if len(parts) > 1:
        servers = [", ".join(dict.fromkeys(tool.server for tool in part)) for part in parts]
        tell(f"the catalogue is long: asked in {len(parts)} parts ({'; '.join(servers)})")
    for number, part in enumerate(parts, 1):
        says = f" (part {number} of {len(parts)}: other servers are asked about apart)" if len(parts) > 1 else ""
        own = replace(matter, tools=part)
        instructions, asked = question(part, own.known, own.sentences, own.wanted, variant=variant, part=says)
        _ask_part(speaker, own, instructions, asked, found)
    return found


def _ask_part(speaker: Speaker, matter: Matter, instructions: str, asked: str, found: ModelReading) -> None:
    text = asked
    left = list(matter.wanted)
    for round_ in range(ROUNDS):
        said = speaker.reply(instructions, text)
        answer = read_answer(said, left, matter.tools, matter.known)
        last = round_ == ROUNDS - 1
        for number in left:
            if number in answer.complaints and not last:
                continue
            _keep(found, number, answer.statements.get(number, []), speaker.name)
            if number in answer.not_rules:
                found.readings.setdefault(number, Reading(State.NOT_A_RULE, reader=f"model {speaker.name}"))
            if number in answer.unsaid or number in answer.complaints:
                _unread(found, number, _why(answer, number, speaker.name), speaker.name)
        if not answer.wrong or last:
            return
        text = asked + repair(answer, said)
        left = answer.wrong


def _why(answer: Answer, number: int, name: str) -> str:
    """Say why a sentence is not read; what the model wrote is told from what this program says."""
    if unsaid := answer.unsaid.get(number):
        return f"{name} says that it cannot be said: “{unsaid}”"
    found = []
    for complaint in answer.complaints.get(number, ()):
        written, _, problem = complaint.partition("\n")
        found.append(f"{problem.strip()} ({name} wrote: “{written}”)" if problem else written)
    return "; ".join(found)


def _keep(found: ModelReading, number: int, statements: list[str], name: str) -> None:
    before = found.readings.get(number)
    if statements and not (before and before.state is State.UNREAD):  # in an earlier part of a long catalogue
        known = before.statements if before and before.state is State.READ else ()
        found.readings[number] = Reading(State.READ, tuple(dict.fromkeys((*known, *statements))), f"model {name}")


def _unread(found: ModelReading, number: int, why: str, name: str) -> None:
    """Mark a sentence as not understood in full; statements that were understood do not stand for all of it."""
    found.readings[number] = Reading(State.UNREAD, reader=f"model {name}", why=why[:400])
