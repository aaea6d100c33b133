"""Content that leaves: what others will read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.setting import NOTHING, Meaning, meaning
from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_NAMES: Final = lexicon(
    """text body subject content html message comment markdown caption title description summary note reply question
    answer value reason raw"""
)
_SAID: Final = lexicon("message comment reply")
"""What is said to somebody, wherever it stands."""
_SPOKEN: Final = lexicon(
    """caption pretext fallback speech spoiler excerpt heading headline bio payload transcript letter greeting
    announcement tweet toot post paragraph sentence quote tagline alt placeholder plaintext footer story intro preheader
    feedback remark memo narration"""
)
"""Text in a message under other names."""
_MEDIA: Final = lexicon("image photo picture video audio voice media file attachment document sticker")
"""What is sent as encoded data: `imageData`, `file_base64`."""
_CARDS: Final = lexicon("block embed card option choice button section element component line field")
"""Parts of a message that hold text."""
_HEADLINES: Final = lexicon("title description summary note value name")
_ABOUT_CHANGES: Final = lexicon("commit log error old new find search replace")
_UNDESCRIBED: Final = lexicon("field data property file attachment body payload comment")


def content(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the role of text for others."""
    words = argument.words
    if argument.is_flag or argument.is_number or not words or tool.only_reads:
        return None
    last = words[-1]
    if argument.free and last in _UNDESCRIBED and is_for_others(tool):
        return meaning("outbound-content", doubt="what it holds is not described")
    if _is_said(argument, tool):
        return meaning("outbound-content")
    if last not in _NAMES or (len(words) > 1 and words[-2] in _ABOUT_CHANGES):
        return None
    if argument.is_criterion:
        return NOTHING
    if last == "raw":
        return meaning("recipient", "outbound-content") if tool.subject.is_about("mail", "chat") else None
    return _text(last, tool)


def _is_said(argument: Argument, tool: Setting) -> bool:
    """Return whether it is text of a tool that sends or publishes, whatever it is called, and wherever it stands."""
    words = argument.words
    published = tool.subject.is_about("publishing", "mail") or tool.speaks_of("profile", "post")
    leaves = tool.effects & {"send", "share"} or (published and tool.effects & {"create", "update"})
    if leaves and "template" in words and words[-1] in ("variable", "data", "param", "parameter", "value", "field"):
        return True
    if not leaves or argument.enum or argument.is_criterion or "template" in words:
        return False
    if words[-1] == "status":  # of a message it is its state; of a tool that posts one, the message
        return "status" in tool.words
    if words[-1] in ("data", "value") and tool.speaks_of("produce", "publish", "emit", "enqueue"):
        return True
    if words[-1] in ("data", "base64", "byte", "content") and words[-2:-1] and words[-2] in _MEDIA:
        return True
    if words[-1] in _SPOKEN or words[-2:] in (("subject", "line"), ("preview", "text"), ("alt", "text")):
        return not _ABOUT_CHANGES & set(words[:-1])
    return words[-1] in _CARDS and (argument.free or argument.several or bool(argument.above))


def _text(last: str, tool: Setting) -> Meaning | None:
    typed = tool.subject.is_about("browser", "device") and last in ("text", "value", "content")
    if last == "value" and "send" not in tool.effects and not typed:
        return None
    said = last in _SAID and not tool.subject.is_about("data", "files", "shell")
    leaves = is_for_others(tool) or said
    if last in _HEADLINES and not leaves:
        return NOTHING
    if tool.speaks_of(*_SAID) or last == "message" or (last in _SAID and tool.effects & {"send", "share"}):
        return meaning("outbound-content")
    shown = tool.subject.is_about("publishing") or tool.speaks_of("profile")
    if shown and tool.effects & {"create", "update", "send"} and last not in ("value", "name"):
        return meaning("outbound-content")
    kept = tool.subject.is_about("notes", "data") and not tool.subject.is_about("mail", "chat", "tracker")
    if leaves and (not kept or "send" in tool.effects):
        return meaning("outbound-content")
    return meaning("outbound-content") if typed and not tool.effects <= {"read", "delete"} else None


def is_for_others(tool: Setting) -> bool:
    """Return whether what is written there is read by others."""
    shared = tool.subject.remote and not {"repo", "project id", "repository"}.isdisjoint(tool.siblings)
    said = tool.speaks_of("comment", "reply", "message", "review", "post")
    if tool.subject.is_about("publishing") or tool.speaks_of("profile"):
        return True
    return said or shared or "send" in tool.effects or tool.subject.is_about("mail", "chat", "tracker")
