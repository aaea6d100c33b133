"""What one sentence of a constitution came to."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ironcurtain.compiler.document import Sentence


class State(Enum):
    """How far a sentence has come."""

    READ = "read"
    """It came to statements."""
    NOT_A_RULE = "not a rule"
    """It asks for nothing: a title, a greeting, a reason."""
    SKIPPED = "skipped"
    """The owner has put it off: whatever it might concern asks."""
    UNREAD = "unread"
    """No reader understood it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader made of a sentence."""

    state: State
    statements: tuple[str, ...] = ()
    reader: str = ""
    """`parser`, `owner` or `model NAME`."""
    why: str = ""
    """Of a sentence that is not read: what the reader had to say."""
    missing: str = ""
    """A name in it that the set-up does not have."""
    agreed: bool = False
    """The owner agreed to it, in this run or an earlier one."""


UNREAD = Reading(State.UNREAD)


def key_of(sentence: Sentence) -> str:
    """Return the digest that a reading is kept under: the sentence and what it stands under, to the letter."""
    content: list[object] = [sentence.text, [*sentence.headings], sentence.lead]
    content += ["marked"] if sentence.marked else []
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
