"""Every way to say no.

    Refusal                 one call is refused: a code, one line, and what to do about it
    ArtifactError           a file of the policy or the configuration is refused: nothing is loaded

Messages are lower case, one line, without a full stop; whatever came from outside is quoted and cut by `quote`.
Codes are stable words; `docs/formats.md` lists them.
"""

from __future__ import annotations

import json

_BLANK_LETTERS = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0")  # letters that show nothing
QUOTE_LIMIT = 120  # characters of foreign text that a message may carry


def quote(text: object) -> str:
    """Foreign text as it may stand in a message: one line, ASCII, cut where the cut shows."""
    shown = json.dumps(text, default=str)
    return shown if len(shown) <= QUOTE_LIMIT else shown[:QUOTE_LIMIT] + '..."'


def visible(text: str) -> str:
    """Foreign text with everything escaped that could break, move, colour or hide other text."""
    return "".join(c if _is_visible(c) else ascii(c)[1:-1] for c in text)


def _is_visible(char: str) -> bool:
    return char.isprintable() and (char.isascii() or (char.isalnum() and char not in _BLANK_LETTERS))


class Refusal(Exception):  # noqa: N818 - it is what it says: not a fault, an answer
    """One call is refused before the rules are asked."""

    def __init__(self, code: str, reason: str, help_: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.help = help_


class ArtifactError(Exception):
    """A file is refused; names the file, the place in it and what to write instead."""

    def __init__(self, code: str, file: str, place: str, problem: str, help_: str) -> None:
        where = f"{visible(file)}: {place}" if place else visible(file)
        super().__init__(f"{where}: {problem}")
        self.code = code
        self.file = file
        self.place = place
        self.problem = problem
        self.help = help_
