"""A model's answer, line by line: statements by the number of their sentence, checked before they are used."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.statements import Sourced, compile_statements
from ironcurtain.language.parsing import StatementError, parse
from ironcurtain.language.writing import write

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.setup import Known

LARGEST: Final = 400_000  # characters of one answer
MOST: Final = 40  # statements of one sentence
_LINE: Final = re.compile(r"^[\s>*`-]*\**(\d{1,4})\**\s*[:.)]\s*(.+?)\s*`*\s*$")


@dataclass(slots=True)
class Answer:
    """What a model said of each sentence."""

    statements: dict[int, list[str]] = field(default_factory=dict)
    not_rules: set[int] = field(default_factory=set)
    unsaid: dict[int, str] = field(default_factory=dict)
    """Sentences that it could not say, with why."""
    complaints: dict[int, list[str]] = field(default_factory=dict)
    """What is wrong with its statements, for repair."""

    @property
    def wrong(self) -> list[int]:
        """The sentences that must be answered again."""
        return sorted(self.complaints)


def read_answer(text: str, wanted: Iterable[int], tools: Sequence[Tool], known: Known) -> Answer:
    """Take an answer apart: what it says of each sentence, and what is wrong with that."""
    answer = Answer()
    wanted = set(wanted)
    for line in text[:LARGEST].splitlines():
        found = _LINE.match(line)
        if not found or int(found[1]) not in wanted:
            continue
        number, said = int(found[1]), found[2].strip("` ")
        lowered = said.lower()
        if lowered.startswith("not a rule"):
            answer.not_rules.add(number)
        elif lowered.startswith("cannot be said"):
            answer.unsaid[number] = said.partition(":")[2].strip()[:200]
        elif len(answer.statements.get(number, ())) < MOST:
            _take(answer, number, said, tools, known)
    answered = answer.statements.keys() | answer.not_rules | answer.unsaid.keys() | answer.complaints.keys()
    for number in wanted - answered:
        answer.complaints.setdefault(number, []).append("there is no line for this sentence")
    return answer


def _take(answer: Answer, number: int, said: str, tools: Sequence[Tool], known: Known) -> None:
    try:
        line = parse(said)
    except StatementError as error:
        answer.complaints.setdefault(number, []).append(error.shown())
        return
    (meaning,) = compile_statements([Sourced(line)], tools, known).meanings
    if meaning.problem:
        answer.complaints.setdefault(number, []).append(f"{said}\n{meaning.problem}; {meaning.help}")
        return
    kept = answer.statements.setdefault(number, [])
    if (text := write(line)) not in kept:
        kept.append(text)


def repair(answer: Answer, said: str) -> str:
    """Write what goes back to the model: its answer, and what is wrong with it."""
    lines = [f"{n}: " + text.replace("\n", "\n   ") for n in answer.wrong for text in answer.complaints[n]]
    wrong = ", ".join(map(str, answer.wrong))
    return (
        f"\n\n# Your answer\n\n{said.strip()}\n\n# What is wrong with it\n\n" + "\n".join(lines) + "\n\n"
        f"Answer again for these sentences only, with ALL statements of each: {wrong}. "
        "If a sentence cannot be said with these tools, answer `NUMBER: not a rule` or `NUMBER: cannot be said: why`."
    )
