"""Commands: text that something will run. We never run or rewrite it; we only say what may be concluded from it."""

from __future__ import annotations

import re
from typing import Final

from ironcurtain.model.resolved import Command, mint_command

MAX_PARTS: Final = 50  # chained commands that a condition is asked about one by one

_SEPARATOR: Final = re.compile(r"[;&|\r\n\u2028\u2029]+")
_UNREADABLE: Final = re.compile(r"[<>`\\]|\$\S")
_PRELUDE: Final = re.compile(
    r"(?:(?:if|then|elif|else|while|until|do|time|exec|command|builtin|[A-Za-z_][A-Za-z0-9_]*=[^\s\"']*) )*"
)
_VEILED: Final = re.compile(r"[\\|&]|\$(?![0-9])|--|/\*|#|;\s*[^\s;]")
_WORD_BREAK: Final = re.compile(r"[\s=;&|<>()\"'`]+")
_BLANKS: Final = re.compile(r"\s+")


def resolve_command(text: str, *, sql: bool = False) -> Command:
    """The command, with the pieces between its separators, each as it stands and without what may stand around it.

    A statement in SQL is one piece, and can be read if it has no comments, no escapes and no second one behind it.
    """
    pieces = [] if sql else _SEPARATOR.split(text)
    parts = dict.fromkeys(form for piece in pieces for form in _forms(piece) if form)
    unreadable = (_VEILED if sql else _UNREADABLE).search(text) is not None or len(pieces) > MAX_PARTS
    return mint_command(
        text, () if unreadable else tuple(parts), plain=len(pieces) < 2 and not unreadable, unreadable=unreadable
    )


def words_of(text: str) -> list[str]:
    """The words of a command, for comparison with what is protected."""
    return _WORD_BREAK.split(text)


def _forms(piece: str) -> tuple[str, str, str]:
    bare = _BLANKS.sub(" ", piece.strip().lstrip("({! \t").rstrip(")} \t"))
    return piece.strip(), bare, _PRELUDE.sub("", bare, count=1)
