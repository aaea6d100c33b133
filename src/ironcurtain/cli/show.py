"""How things look on a terminal: colour where there is one, plain text elsewhere, nothing hidden."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from ironcurtain.model.decision import Outcome

_STYLES: Final = {"allow": "bold green", "escalate": "bold yellow", "deny": "bold red"}
_PLAIN_WIDTH: Final = 160  # columns when the output is not a terminal


def console() -> Console:
    """Standard output; a fixed width where it is not a terminal, so that files look the same everywhere."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    width = None if sys.stdout.isatty() else _PLAIN_WIDTH
    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False, width=width)


def agreed(what: str, *, yes: bool) -> bool:
    """Ask, unless that has been answered on the command line."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise Refusal("usage", "nobody is there to ask", "add --yes")
    return input(f"{what}? [y/N] ").strip().lower() in ("y", "yes")


def outcome(value: Outcome) -> Text:
    """An outcome in its colour."""
    return Text(value.word, style=_STYLES[value.word])


def verdict(*, passed: bool, good: str = "pass", bad: str = "FAIL") -> Text:
    """Passed or failed, in colour."""
    return Text(good, style="green") if passed else Text(bad, style="bold red")


def heading(text: str, rest: str = "") -> Text:
    """A bold beginning, and what follows it."""
    return Text.assemble((text, "bold"), rest)


def table(*columns: str, title: str | None = None) -> Table:
    """A table in the house's style."""
    made = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    for column in columns:
        made.add_column(column, overflow="fold")
    return made
