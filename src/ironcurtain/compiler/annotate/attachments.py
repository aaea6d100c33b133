"""Attachments: files that are read and go along, as paths, as contents or by their addresses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.setting import NOTHING, Meaning, meaning
from ironcurtain.compiler.annotate.text import lexicon, words_of

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_ATTACHED: Final = lexicon("attachment attach")
_ENCLOSED: Final = lexicon("attachment attach media image file photo document")
"""What goes along with a message, as a list of objects."""
_PATHS: Final = lexicon("path filepath file source src location")
_BYTES: Final = lexicon("content data base64 body bytes contents blob encoded")
_ADDRESSES: Final = lexicon("url uri href link")
_TEXTS: Final = lexicon("text pretext fallback description footer caption")
_LABELS: Final = lexicon("name filename title")
_DESCRIBING: Final = lexicon("id type count size name filename title key uuid comment mode")
"""What is said of an attachment, and is none."""
_CONTENT: Final = re.compile(r"base ?-?64|binary (?:data|content)|file contents?\b|encoded")
_URLS: Final = re.compile(r"\burls?\b|\bhttps?://")
_FILES: Final = re.compile(r"\bpaths?\b|\blocal\b|\bfiles? (?:on|from|to)\b|\bdisk\b")
_RECORDS: Final = re.compile(r"\bids?\b|\bidentifiers?\b|\balready uploaded\b|\bhash(?:es)?\b|\breferences?\b")


def attachment(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the roles of a file that goes along with something, whatever form it is given in."""
    words = argument.words
    if argument.is_flag or argument.is_number or not words or tool.only_reads or tool.effects <= {"delete"}:
        return None
    around = {words_of(name)[-1] for name in argument.above if words_of(name)}
    sends = bool(tool.effects & {"send", "create", "update", "share"})
    if argument.above and sends and not _ENCLOSED.isdisjoint(around):
        return _member(argument, tool)
    if _ATTACHED.isdisjoint(words) or argument.above or not sends:
        return None
    return _own(argument)


def _member(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the roles of one member of an object that describes an attachment."""
    last = argument.words[-1]
    prefix = argument.leaf.rpartition(".")[0]
    beside = {other.words[-1] for other in tool.arguments if other.leaf.rpartition(".")[0] == prefix and other.words}
    if last == "title" and "send" in tool.effects and beside & _TEXTS:
        return meaning("outbound-content")  # of a card, not of a file
    if last in _LABELS and beside & (_BYTES | _PATHS | _ADDRESSES | {"id"}):
        return NOTHING
    if "attachment" not in words_of(argument.above[-1])[-2:]:
        handed = last in ("file", "path", "filepath") and "send" in tool.effects and not _CONTENT.search(argument.says)
        return meaning("read-path", "outbound-content", doubt="a file here, or its contents") if handed else None
    if last in _BYTES:
        return meaning("outbound-content")
    if last in _PATHS or last in _LABELS:
        return meaning("read-path")
    return None


def _own(argument: Argument) -> Meaning | None:
    """Return the roles of an argument that is called an attachment."""
    last, says = argument.words[-1], argument.says
    if last in _ADDRESSES | _DESCRIBING:
        return None
    if last in _BYTES or (_CONTENT.search(says) and not _FILES.search(says)):
        return meaning("outbound-content")
    if argument.enum or (_RECORDS.search(says) and not _FILES.search(says)):
        return None
    roles = {"fetch-url"} if _URLS.search(says) else set()
    if not roles or _FILES.search(says):
        roles |= {"read-path"}
    if argument.free:
        return meaning("outbound-content", "fetch-url", *roles, doubt="what an attachment holds is not described")
    return meaning(*roles)
