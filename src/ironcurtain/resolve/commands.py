"""Commands: text that something will run. We never run or rewrite it; we only say what may be concluded from it."""

from __future__ import annotations

import re
from typing import Final

from ironcurtain.model.resolved import Command, mint_command

MAX_PARTS: Final = 50  # chained commands that a condition is asked about one by one

_SEPARATOR: Final = re.compile(r"[;&|\r\n\u2028\u2029]+")
_UNREADABLE: Final = re.compile(r"[<>`]|\$[({]")


def resolve_command(text: str) -> Command:
    """The command, with the pieces between its separators."""
    parts = tuple(part for piece in _SEPARATOR.split(text) if (part := piece.strip()))
    unreadable = _UNREADABLE.search(text) is not None or len(parts) > MAX_PARTS
    if _SEPARATOR.search(text) is None:
        parts = (text,)
    return mint_command(text, parts if not unreadable else parts[:MAX_PARTS], unreadable=unreadable)
