"""A constitution to start from, made of statements for the servers that are there.

Every line compiles for these tools, so that the owner edits something that works instead of facing an empty page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.language.parsing import StatementError, parse
from ironcurtain.language.statement import Name
from ironcurtain.language.writing import write, write_name
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.setup import Known

FOLDERS: Final = ("Documents", "Projects", "projects", "code", "src", "Notes", "Desktop")
_HEAD: Final = """\
# What my assistant may do

<!-- Made for the servers you have. Edit it as you like: one sentence a line, in the plain language (docs/language.md)
     or in your own words. Then run: ironcurtain compile -->
"""
_ELSE: Final = "must ask otherwise before doing anything with anything."


def starter(tools: Sequence[Tool], known: Known, home: Path) -> str:
    """Return the text of a starter constitution."""
    parts = [_HEAD, "## Always\n", *_right(["must never delete anything."], tools, known), ""]
    files = [tool for tool in tools if tool.of(Category.PATH)]
    folders = [write_name(Name(name)) for name in known.directories]
    folders = folders or [f"~/{name}" for name in FOLDERS if (home / name).is_dir()]
    if files:
        may_read = f"may read files in {' or '.join(folders or ['~/Documents'])}."
        right = [*_right([may_read], tools, known)]
        parts += ["## Files\n", *(right if folders else [f"<!-- for example: {may_read} -->"]), ""]
    if sends := [*_right(["must ask otherwise before sending or sharing anything."], tools, known)]:
        parts += ["## Sending and sharing\n", *sends, ""]
    for server in dict.fromkeys(tool.server for tool in tools):
        own = [tool for tool in tools if tool.server == server]
        if 2 * sum(bool(tool.of(Category.PATH)) for tool in own) >= len(own):
            continue  # a server of files: what it may read is said by folders
        if right := [*_right([f"may read anything of {server}."], tools, known)]:
            parts += [f"## {server}\n", *right, ""]
    parts += ["## Everything else: what no `may` permits is asked about\n", _ELSE, ""]
    return "\n".join(parts)


def _right(lines: Sequence[str], tools: Sequence[Tool], known: Known) -> Iterator[str]:
    """The lines that pick tools; a server's name may need quotes."""
    for line in lines:
        try:
            parsed = parse(line)
        except StatementError:
            continue
        if not compile_statements([Sourced(parsed)], tools, known).problems:
            yield write(parsed)
