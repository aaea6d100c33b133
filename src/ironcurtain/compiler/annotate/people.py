"""People: who is written to, who is given something, who is invited."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.setting import NOTHING, Meaning, meaning
from ironcurtain.compiler.annotate.text import lexicon, words_of

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_TO: Final = lexicon("to cc bcc recipient receiver addressee")
_GIVEN: Final = lexicon(
    """assignee watcher follower subscriber collaborator invitee reviewer delegate approver requester grantee spender
    beneficiary responder"""
)
_INVITED: Final = lexicon("attendee guest participant invitee")
_PERSON: Final = lexicon("user member person people email contact")
_PARTNER: Final = lexicon("partner customer client")
_FORMS: Final = lexicon("id email address name login username gid list")
"""How a person is named."""
_GRANTS: Final = lexicon(
    """forwarding share invite assign grant permission subscribe access collaborator delegate forward"""
)
_GRANTING: Final = re.compile(r"\b(?:grant|share|invite|assign|permission|subscribe|give access)\b")
_PEOPLE_MADE: Final = lexicon("user agent contact member invitation requester")


def person(argument: Argument, tool: Setting) -> Meaning | None:
    """Somebody, by name, address or id."""
    words = argument.words
    if argument.is_flag or not words or words[0] in ("from", "sender") or words[-1] == "sid":
        return None
    around = {word for name in argument.above for word in words_of(name)}
    if argument.is_criterion:
        return NOTHING
    if {"from", "filter", "search", "query"} & set(words) and "recipient" not in words:
        return None
    who = words[-2] if words[-1] in _FORMS and len(words) > 1 else words[-1]
    if around & {"recipient", "cc", "bcc"} and words[-1] in ("address", "email", "id") and not tool.only_reads:
        return meaning("recipient")
    if who == "host" and {"alternative", "co"} & set(words) and not tool.only_reads:
        return meaning("attendee")
    if (who in _INVITED or around & _INVITED) and (tool.subject.is_about("calendar") or "attendee" in {who, *around}):
        return _invited(words, tool, inside=bool(around & _INVITED))
    if tool.only_reads:
        return None
    return _written_to(words, who, tool) or _given(argument, who, tool) or _stored(argument, tool)


def _invited(words: tuple[str, ...], tool: Setting, *, inside: bool) -> Meaning:
    if tool.only_reads or (inside and words[-1] not in ("email", "address", "id", "name", "attendee")):
        return NOTHING
    return meaning("attendee")


def _written_to(words: tuple[str, ...], who: str, tool: Setting) -> Meaning | None:
    sends = "send" in tool.effects
    if len(words) == 2 and words[1] == "to" and words[0] in ("send", "mail", "email", "deliver", "message"):
        return meaning("recipient")
    forwards = words in (("forward",), ("forward", "to")) and tool.subject.is_about("mail")
    if forwards or (words == ("destination",) and tool.speaks_of("forward", "forwarding")):
        return meaning("recipient")
    if words == ("to", "id") and not sends and not tool.subject.is_about("mail", "chat", "calendar"):
        return None
    if words[0] in _TO and (len(words) == 1 or words[1] in ("email", "address", "recipient", "user", "id", "list")):
        return meaning("recipient")
    if (who in _TO and who != "to") or words[:2] == ("reply", "to"):
        return meaning("recipient")
    if sends and who in _PERSON | _PARTNER and words[-1] in ("id", "email", "address", "user", "partner"):
        return meaning("recipient")
    if words[-1] == "email" and len(words) > 1 and words[0] not in ("my", "own", "user", "login", "account", "from"):
        return meaning("recipient")
    if sends and who == "participant":
        return meaning("recipient")
    reached = sends or tool.subject.is_about("chat")
    return meaning("recipient") if reached and {"phone", "mobile"} & set(words) and "from" not in words else None


def _given(argument: Argument, who: str, tool: Setting) -> Meaning | None:
    if who in _GIVEN:
        return meaning("recipient")
    if who in ("domain", "group", "account") and tool.speaks_of("share", "permission", "grant"):
        return meaning("recipient")
    adds = tool.speaks_of("add") and tool.speaks_of("member", "user", "collaborator", "people", "person", "subscriber")
    grants = tool.speaks_of(*_GRANTS) or _GRANTING.search(tool.nutshell) or adds
    named = who in _PERSON or {"user", "principal"} <= set(argument.words)
    known = named and "as" not in argument.words and tool.effects != {"delete"}
    return meaning("recipient") if grants and known else None


def _stored(argument: Argument, tool: Setting) -> Meaning | None:
    """An address in a record: of somebody who is removed, or who may be written to later."""
    if argument.free and "create" in tool.effects and tool.speaks_of(*_PEOPLE_MADE):
        return meaning("recipient", doubt="who is meant is somewhere in it")
    if argument.words != ("email",):
        return None
    if "delete" in tool.effects:
        return meaning("identifier")
    return (
        meaning("recipient", doubt="who is stored may be written to later")
        if tool.effects & {"create", "send"}
        else None
    )
