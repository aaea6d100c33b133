"""Where a permission in a directory opens the sandbox, too, in which writing files is free.

A file in the sandbox needs no permission. What else such a call names does: the form that is exported. A permission for
the tool covers it, and the directory in which its result may be saved keeps it from the sandbox, though the owner has
nothing against that.

INVARIANT: only where a result is saved is opened, never what is read, so that nothing the agent wrote is handed on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Collection

    from ironcurtain.compiler.catalogue import Tool

_LEAVING: Final = frozenset({"send", "share", "upload", "pay", "run"})


def may_save_there(tool: Tool, acts: Collection[str]) -> bool:
    """Return whether what a tool makes may be made in the sandbox, where the agent can read it.

    `acts` are those that a permission is about; none for one that names its tools, and so permits all that they do.
    """
    hands_on = tool.in_doubt or _LEAVING & tool.might.acts or tool.of(Category.PARTY) or "send-url" in tool.roles
    return not hands_on and (not acts or "read" in acts or tool.of(Category.PATH) == {"write-path"})
