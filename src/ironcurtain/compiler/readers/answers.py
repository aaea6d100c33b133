"""A model's answer, line by line: statements by the number of their sentence, checked before they are used."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.picking import picked
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.language.parsing import StatementError, parse
from ironcurtain.language.statement import Comparison, Mood, Statement, Where
from ironcurtain.language.writing import write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.setup import Known

LARGEST: Final = 400_000  # characters of one answer
MOST: Final = 40  # statements of one sentence
WRONG: Final = "# What is wrong with it"
"""Where the complaints of a repair begin."""
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

    def complain(self, number: int, texts: Iterable[str]) -> None:
        """Note what is wrong with the statements of a sentence."""
        for text in texts:
            self.complaints.setdefault(number, []).append(text)


def read_answer(text: str, wanted: Iterable[int], tools: Sequence[Tool], known: Known) -> Answer:
    """Take an answer apart: what it says of each sentence, and what is wrong with that."""
    answer = Answer()
    wanted = set(wanted)
    counted = Counter[int]()
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
        else:
            counted[number] += 1
            if counted[number] <= MOST:
                _take(answer, number, said, tools, known)
    for number in (number for number, count in counted.items() if count > MOST):
        answer.complain(number, [f"more than {MOST} statements; join names by or, and tools by a star"])
    for number, lines in answer.statements.items():
        answer.complain(number, _left_open(lines, tools))
    if len(text) > LARGEST:  # what stands behind its bound is not read, and may be more of any sentence
        for number in wanted:
            answer.complain(number, [f"the answer is longer than {LARGEST} characters; say it in fewer"])
    answered = answer.statements.keys() | answer.not_rules | answer.unsaid.keys() | answer.complaints.keys()
    for number in wanted - answered:
        answer.complain(number, ["there is no line for this sentence"])
    return answer


def _take(answer: Answer, number: int, said: str, tools: Sequence[Tool], known: Known) -> None:
    try:
        line = parse(said)
    except StatementError as error:
        answer.complain(number, [error.shown()])
        return
    (meaning,) = compile_statements([Sourced(line)], tools, known).meanings
    if meaning.problem:
        answer.complain(number, [f"{said}\n{meaning.problem}; {meaning.help}"])
        return
    kept = answer.statements.setdefault(number, [])
    if (text := write(line)) not in kept:
        kept.append(text)


def _left_open(lines: Iterable[str], tools: Sequence[Tool]) -> Iterator[str]:
    """What the prohibitions of a sentence do not catch: reading all, by leaving out what they test."""
    statements = [line for text in lines if isinstance(line := parse(text), Statement) and line.mood.tightens]
    conditions = [
        (statement, condition)
        for statement in statements
        for limit in statement.limits
        if isinstance(limit, Where)
        for condition in limit.conditions
    ]
    caught = {c.argument for _, c in conditions if c.or_left_out or c.test is Comparison.LEFT_OUT}
    for statement, condition in conditions:
        if statement.mood is not Mood.NEVER or not condition.given or condition.argument in caught:
            continue
        for pick in picked(statement.doing, tools, tightens=True):
            argument = pick.tool.argument(condition.argument)
            reads = pick.tool.might.acts <= {"read"}
            if reads and argument and argument.absent_unknown and not argument.required and not argument.has_default:
                caught.add(condition.argument)
                shown = f"`{condition.argument}`"
                yield (
                    f"{write(statement)}\na call of {pick.tool.key} that leaves {shown} out may reach it, too; write"
                    f" {shown} ... or left out, or, where other arguments say the same, add a statement: must ask"
                    f" before using {pick.tool.key} where {shown} is left out and `other` is left out."
                )
                break


def repair(answer: Answer, said: str) -> str:
    """Write what goes back to the model: its answer, and what is wrong with it."""
    lines = [f"{n}: " + text.replace("\n", "\n   ") for n in answer.wrong for text in answer.complaints[n]]
    wrong = ", ".join(map(str, answer.wrong))
    return (
        f"\n\n# Your answer\n\n{said.strip()}\n\n{WRONG}\n\n" + "\n".join(lines) + "\n\n"
        f"Answer again for these sentences only, with ALL statements of each: {wrong}. "
        "If a sentence cannot be said with these tools, answer `NUMBER: not a rule` or `NUMBER: cannot be said: why`."
    )
