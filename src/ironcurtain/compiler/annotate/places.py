"""Places where people meet: channels, threads, boards, calendars, repositories."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.files import is_local_path
from ironcurtain.compiler.annotate.setting import Meaning, meaning
from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_CHANNELS: Final = lexicon("channel room thread conversation chat board topic")
_BESIDES: Final = lexicon("id name key ts or slug target source parent list")
_PUBLISHED: Final = re.compile(r"pub/?sub|publish|subscri")


def place(argument: Argument, tool: Setting) -> Meaning | None:
    """A place, by name or id."""
    words = argument.words
    if argument.is_flag or (argument.is_number and words[-1:] != ("id",)):
        return None
    what = next((word for word in reversed(words) if word not in _BESIDES), "")
    if what == "topic" and not _PUBLISHED.search(f"{argument.says} {tool.nutshell}"):
        return None
    if what == "thread" and tool.subject.is_about("mail"):
        return meaning("identifier")
    if what in _CHANNELS or (what == "group" and tool.subject.is_about("chat")):
        return meaning("channel")
    if what == "calendar" and words[-1] in ("id", "calendar", "name"):
        return meaning("calendar")
    return meaning("repository") if what in ("repo", "repository") and not is_local_path(argument, tool) else None
