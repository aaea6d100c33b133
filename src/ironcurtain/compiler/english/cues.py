"""What a sentence does: permits, forbids, asks. Found by the words that people say it with, see `cues.txt`."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ironcurtain.compiler.english.words import Word

_NAME: Final = re.compile(r"\{([A-Z_]+)\}")
_DEFINITION: Final = re.compile(r"([A-Z_]+) = (.*)")


class Mood(Enum):
    """What is to happen with what a sentence speaks of."""

    PERMIT = "allow"
    ASK = "escalate"
    FORBID = "deny"
    OBLIGE = "oblige"
    """It must be so and not otherwise, if it is at all."""


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that say what a sentence does: from which word on, and up to which."""

    name: str
    start: int
    end: int


def _read(text: str) -> list[tuple[str, re.Pattern[str]]]:
    """The phrases of the file, each with the section it stands in."""
    definitions: dict[str, str] = {}
    section, found = "", list[tuple[str, re.Pattern[str]]]()
    for line in text.replace("\n    ", "").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
            continue
        defined = _DEFINITION.fullmatch(line)
        pattern = _NAME.sub(lambda name: definitions[name[1]], defined[2] if defined else line)
        if defined:
            definitions[defined[1]] = pattern
        else:
            found.append((section, re.compile(rf"(?<![^ ]){pattern}(?![^ ])")))
    return found


_PHRASES: Final = _read((files(__package__) / "cues.txt").read_text(encoding="utf-8"))
_CUES: Final = [(name, pattern) for name, pattern in _PHRASES if name != "idle"]
_IDLE: Final = [pattern for name, pattern in _PHRASES if name == "idle"]
EMPHATIC: Final = re.compile(
    r"\b(?:ever|no matter|whatever|circumstances?|anywhere|at all|absolutely|strictly|in any case|regardless"
    r"|no exceptions?|without exception|nothing|whatsoever)\b"
)


class Line:
    """Words as one text, to look for phrases in."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._starts: list[int] = []
        parts: list[str] = []
        at = 0
        for word in words:
            self._starts.append(at)
            part = "\u00a7" if word.reference else word.text.replace("_", " ")
            parts.append(part)
            at += len(part) + 1
        self.text = " ".join(parts)

    def span(self, found: re.Match[str]) -> tuple[int, int]:
        """The words that a match covers."""
        return (
            bisect.bisect_right(self._starts, found.start()) - 1,
            bisect.bisect_left(self._starts, found.end()),
        )


def cues_in(words: Sequence[Word]) -> list[Cue]:
    """The cues of a sentence, in order; no word belongs to two of them."""
    line, taken, idle = Line(words), set[int](), idle_in(words)
    cues = []
    for name, pattern in _CUES:
        for found in pattern.finditer(line.text):
            start, end = line.span(found)
            if start not in idle and not taken.intersection(range(start, end)):
                taken.update(range(start, end))
                past = name == "permit" and words[start].text in ("was", "were")
                cues.append(Cue("past" if past else name, start, end))
    return sorted(cues, key=lambda cue: cue.start)


def idle_in(words: Sequence[Word]) -> set[int]:
    """Words of phrases that narrow nothing."""
    line = Line(words)
    return {index for idle in _IDLE for found in idle.finditer(line.text) for index in range(*line.span(found))}


def mood_of(cues: Sequence[Cue]) -> Mood | None:
    """What a clause does, by all its cues. Where they leave a choice, the stricter."""
    names = {"permit" if cue.name == "stick" else cue.name for cue in cues}
    forbids, unasked = "forbid" in names, bool(names & {"unasked", "unapproved"})
    if "no_need" in names and not forbids:
        return Mood.PERMIT
    if "ask" in names or (forbids and (unasked or "no_need" in names)):
        return Mood.ASK
    if forbids or "readonly" in names:
        return Mood.FORBID
    if "permit" in names:
        return Mood.PERMIT
    if names & {"unapproved", "unasked"}:
        return Mood.ASK
    if "imperative" in names:
        return Mood.PERMIT  # who is told to do something may do it
    return Mood.OBLIGE if "oblige" in names else None
