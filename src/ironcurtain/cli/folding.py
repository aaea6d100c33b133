"""Foreign text on a terminal: every row of it stands behind a mark of ours, however wide the terminal is.

INVARIANT: nothing that an agent, a model or a server wrote begins a row, or moves, hides or colours anything.
"""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

BAR: Final = "│ "
_NARROWEST: Final = 8  # columns that are worth using
_INSET: Final = 4  # columns by which the further rows of a line are set in


def prose(text: str) -> str:
    """A line of foreign text as a person reads it: all letters and signs, but nothing that moves, hides or colours."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text.replace("\t", "    "))


def cells(text: str) -> int:
    """Columns that a text takes, at most: what is not plain may take two."""
    return sum(1 if char.isascii() else 2 for char in text)


def room(out: Console, used: int = 0) -> int:
    """Columns that there are now, less those that are used."""
    return max(1, out.width - used)


def pieces(text: str, columns: int) -> Iterator[str]:
    """A line in pieces that have room; one at least."""
    begin = taken = 0
    for at, char in enumerate(text):
        taken += cells(char)
        if taken > columns and at > begin:
            yield text[begin:at]
            begin, taken = at, cells(char)
    if begin < len(text) or not text:
        yield text[begin:]


def behind_bar(out: Console, text: str, style: str = "") -> None:
    """Foreign lines, each row behind a bar."""
    for line in text.split("\n"):
        for piece in pieces(prose(line), room(out, len(BAR))):
            out.print(BAR, style=style, end="")
            out.print(piece)


def labelled(out: Console, label: str, text: str, style: str = "", label_style: str = "") -> None:
    """A label of ours, and foreign words beside it: every row of them as far from the edge as the first."""
    if room(out, len(label)) < _NARROWEST:
        out.print(label.rstrip(), style=label_style or style or None)
        behind_bar(out, text, style)
        return
    first, *more = pieces(text, room(out, len(label)))
    out.print(label, style=label_style or style or None, end="")
    out.print(first, style=style or None)
    for piece in more:
        out.print(" " * len(label) + piece, style=style or None)


def say(text: str, *, error: bool = False) -> None:
    """Lines of ours that quote others. On a terminal the further rows of one are set in, so that none is like one."""
    stream = sys.stderr if error else sys.stdout
    for line in text.split("\n"):
        rows = hanging(line, shutil.get_terminal_size().columns) if stream.isatty() else [line]
        print("\n".join(rows), file=stream)


def hanging(line: str, columns: int) -> list[str]:
    """A line in rows that have room."""
    first, *more = pieces(line, columns)
    inset = " " * min(len(line) - len(line.lstrip()) + _INSET, columns // 2)
    return [first, *(inset + row for row in pieces("".join(more), columns - len(inset)))] if more else [first]
