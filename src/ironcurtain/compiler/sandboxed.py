"""What a permission in a directory says of the sandbox, where reading and writing files is free.

A file in the sandbox needs no permission. What else such a call names does: the sheet of a workbook, the form that is
exported. A permission for the tool covers it, and its directory keeps it from a file in the sandbox, though the owner
has nothing against that.

INVARIANT: nothing that leaves the machine is permitted by this. A tool that sends, takes commands or only reads a file
in order to put it elsewhere has no place here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Collection

    from ironcurtain.compiler.catalogue import Tool

_LEAVING: Final = frozenset({"send", "share", "upload", "pay", "run"})


def works_on_files(tool: Tool) -> bool:
    """Return whether a tool reads files or makes them, and hands nothing to anybody."""
    if tool.in_doubt or _LEAVING & tool.might.acts or tool.of(Category.PARTY) or "send-url" in tool.roles:
        return False
    return "write-path" in tool.roles or ("read-path" in tool.roles and tool.might.acts <= {"read"})


def names_more_than_files(tool: Tool) -> bool:
    """Return whether a call of a tool that works on files names something besides, which needs a permission."""
    return works_on_files(tool) and bool(tool.roles - tool.of(Category.PATH) - {"none"})


def names_only_files(tool: Tool) -> bool:
    """Return whether all that a call names are files, some of them as paths that may be names, and none is deleted."""
    named = [argument for argument in tool.arguments.values() if "identifier" in argument.roles]
    known = {"read-path", "write-path", "identifier", "none"}
    return works_on_files(tool) and bool(named) and tool.roles <= known and all(a.has(Category.PATH) for a in named)


def may_save_there(tool: Tool, acts: Collection[str]) -> bool:
    """Return whether what a tool makes may be made in the sandbox, where the agent can read it.

    `acts` are those that a permission is about; none for one that names its tools, and so permits all that they do.
    """
    return works_on_files(tool) and (not acts or "read" in acts or tool.of(Category.PATH) == {"write-path"})
