"""The owner's own questions: "can anything ever send email to anyone outside contacts without asking?"

A question is the prohibition that it asks about. It is read like a sentence of a constitution, or is a statement
(`must never ...`), and compiled for the tools of the policy; the analysis then looks for a call that the prohibition
forbids and the policy does not. The answer names the tools that the question was taken to mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.document import Sentence
from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.readers.table import read_by_table
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.errors import Refusal
from ironcurtain.language.parsing import parse
from ironcurtain.language.statement import Mood, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.compiler.setup import Known

_ASKED: Final = re.compile(
    r"(?:is it (?:ever )?possible (?:for .+? )?to"
    r"|(?:can|could|may|might|will|would) (?:(?:the |an? |my )?[\w'-]+)(?: ever)?) (?P<what>.+)",
    re.IGNORECASE,
)
_UNASKED: Final = re.compile(
    r",?\s*\b(?:without|before) (?:ever )?(?:asking|my (?:approval|okay|ok|permission|consent)|being asked|checking)"
    r"(?: (?:me|first|with me))*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read."""

    text: str
    prohibition: str
    """What is asked about, as a statement."""
    asking_counts: bool
    """Even a call that a person is asked about would be an answer."""
    rules: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]


def read_question(text: str, annotations: Mapping[str, Any], known: Known) -> Question:
    """Read a question for the tools of a policy; refuse one that is not understood or speaks of no tool."""
    plain = " ".join(text.split()).rstrip("?. ")
    tools = catalogue_of({server: entry["tools"] for server, entry in annotations["servers"].items()})
    problems: list[str] = []

    def is_right(lines: list[str]) -> bool:
        made = compile_statements([Sourced(parse(line)) for line in lines], tools, known)
        problems.extend(f"{each.text} {each.problem}; {each.help}" for each in made.problems)
        return not made.problems

    asked = _ASKED.fullmatch(_UNASKED.sub("", plain))
    forms = [f"must never {re.sub(r'^ever ', '', asked['what'])}"] if asked else [plain]
    for form in forms:
        found = read_by_table(Sentence(form, (), "", 0), known, is_right)
        line = parse(found[0]) if found and len(found) == 1 else None
        if found and isinstance(line, Statement) and line.mood is Mood.NEVER:
            made = compile_statements([Sourced(line)], tools, known)
            (meaning,) = made.meanings
            shown = ", ".join(meaning.tools[:8]) + (
                f" and {len(meaning.tools) - 8} more" if len(meaning.tools) > 8 else ""
            )
            notes = (f"taken to mean: {meaning.text} ({shown})", *meaning.notes)
            denying = tuple(rule for rule in made.rules if rule["then"] == "deny") or made.rules
            return Question(text, meaning.text, _UNASKED.search(plain) is None, denying, notes)
    why = problems[0] if problems else f"not a question that can be read: {text!a}"
    raise Refusal(
        "question_unknown",
        why,
        'ask like this: "can it ever send email to anyone outside contacts?", or write: must never ...',
    )
