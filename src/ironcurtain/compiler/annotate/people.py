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
_ADDRESSED: Final = frozenset({"email", "address", "recipient", "user", "id", "list"})
_LOGINS: Final = frozenset({"password", "host", "hostname"})
"""Arguments beside which a user name is one to log in with."""
_NAMED: Final = frozenset({"id", "email", "address", "user", "partner"})
_GIVING: Final = frozenset({"grant", "share", "shared", "invite", "notify", "assign", "assigned", "allow", "allowed"})
_GIVEN: Final = lexicon(
    """assignee watcher follower subscriber collaborator invitee reviewer delegate approver requester grantee spender
    beneficiary responder"""
)
_INVITED: Final = lexicon("attendee guest participant invitee interviewer panelist")
_PERSON: Final = lexicon("user member person people email contact username handle jid principal")
_PARTNER: Final = lexicon("partner customer client")
_FORMS: Final = lexicon("id email address name login username gid list identifier handle account key")
"""How a person is named."""
_GRANTS: Final = lexicon(
    """forwarding share invite assign grant permission subscribe access collaborator delegate forward"""
)
_GRANTING: Final = re.compile(r"\b(?:grant|share|invite|assign|permission|subscribe|give access)\b")
_GATHERING: Final = ("chat", "group", "conversation", "dm", "meeting", "call", "room")
"""What is made of people, who then hear of it."""
_SAID_TO_BE_ONE: Final = re.compile(
    r"\b(?:id|name|number|address)s? of the (?:\w+ )?(?:recipient|receiver|addressee)s?\b"
)
_GROUPS: Final = lexicon("group domain account")
_ACCESS: Final = ("share", "permission", "grant", "access", "restriction", "acl", "sharing")
_ADDED: Final = lexicon(
    "member user collaborator people person subscriber watcher follower reviewer assignee participant"
)
_OWN: Final = re.compile(
    r"\b(?:your|authenticated|signed[- ]in|logged[- ]in|account to (?:use|send from)|acting as|impersonat\w*|"
    r"on behalf of|sender|the user's (?:\w+ )?(?:e-?mail|account))\b"
)
"""Said of the owner's own address or account."""
_WHO: Final = lexicon("author committer from sender owner creator reporter my own user login account")
"""Whose address it is, where it is not somebody who is reached."""
_REACHED: Final = re.compile(
    r"e-?mail|recipient|address|phone|user|person|people|contact|member|wallet|account|send|deliver|channel|chat"
)
_ADDING: Final = re.compile(r"\b(?:invited|granted|given access)\b")
_PEOPLE_MADE: Final = lexicon("user agent contact member invitation requester")


def person(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the role of somebody, given by name, address or id."""
    words = argument.words
    if argument.is_flag or not words or words[0] in ("from", "sender") or words[-1] == "sid":
        return None
    if argument.is_criterion or words[:2] == ("reply", "to"):
        return NOTHING if argument.is_criterion else _replied(argument, tool)
    around = {word for name in argument.above for word in words_of(name)}
    if _is_own(argument) or around & {"from", "sender"} or _is_a_mail(argument, tool):
        return None
    if argument.above and words[-1] == "name" and not around & _INVITED:
        return None
    who = person_in(words)
    if (who in _INVITED or around & _INVITED) and (tool.subject.is_about("calendar") or "attendee" in {who, *around}):
        return _invited(words, tool, inside=bool(around & _INVITED))
    if tool.only_reads:
        return None
    if around & {"recipient", "cc", "bcc"} and words[-1] in ("address", "email", "id"):
        return meaning("recipient")
    if who == "host" and {"alternative", "co"} & set(words):
        return meaning("attendee")
    return _written_to(argument, who, tool) or _given(argument, who, tool) or _stored(argument, tool)


def _is_a_mail(argument: Argument, tool: Setting) -> bool:
    """Return whether the id of an email is one of a message: others are written to, or it is there already."""
    if argument.words[-2:] != ("email", "id"):
        return False
    addressed = any(name.split()[0] in _TO for name in tool.siblings if name)
    return addressed or tool.speaks_of("forward", "reply", "read", "get", "mark", "move", "delete", "archive", "label")


def person_in(words: tuple[str, ...]) -> str:
    """Return the word for a person, without how the person is named: of `user_id_list` it is `user`."""
    rest = list(words)
    while len(rest) > 1 and rest[-1] in _FORMS:
        rest.pop()
    return rest[-1]


def _is_own(argument: Argument) -> bool:
    """Return whether it is the owner's own account, or says who is looked for."""
    words = argument.words
    if {"from", "filter", "search", "query"} & set(words) and "recipient" not in words:
        return True
    return _OWN.search(argument.says[:120]) is not None and "recipient" not in words and words[0] not in _TO


def _replied(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the roles of what is answered: a message, or an address for answers to a mail."""
    message = len(argument.words) > 2 or re.search(r"\b(?:message|comment|thread|post|tweet|ids?)\b", argument.says)
    if tool.only_reads:
        return None
    if message and not re.search(r"e-?mail address|reply-to", argument.says):
        return meaning("identifier")
    return meaning("recipient") if tool.subject.is_about("mail") else meaning("recipient", "identifier")


def _invited(words: tuple[str, ...], tool: Setting, *, inside: bool) -> Meaning:
    if inside and words[-1] == "name" and any(name.split()[-1:] == ["email"] for name in tool.siblings):
        return NOTHING  # how somebody is called who is invited by address
    if tool.only_reads or (inside and words[-1] not in ("email", "address", "id", "name", "attendee")):
        return NOTHING
    return meaning("attendee")


def _written_to(argument: Argument, who: str, tool: Setting) -> Meaning | None:
    words, sends = argument.words, "send" in tool.effects
    if words == ("to", "id") and not sends and not tool.subject.is_about("mail", "chat", "calendar"):
        return None
    if words == ("to",) and not _reaches(argument, tool):
        return None
    granted = words[0] in _GIVING and words[-1] in ("to", "with", "user", "people", "group", "team", "email", "member")
    addressed = granted or (words[0] in _TO and (len(words) == 1 or words[1] in _ADDRESSED | {"number", "phone"}))
    if words == ("with",) and "share" in tool.effects:
        return meaning("recipient")
    if addressed or (who in _TO and who != "to") or _is_forwarded(words, tool):
        return meaning("recipient")
    login = who == "username" and not _LOGINS.isdisjoint(tool.siblings)
    reached = (
        who in _PERSON | _PARTNER and (words[-1] in _NAMED or words[-1] == who) and who not in ("email", "contact")
    )
    mailed = words[-1] in ("email", "address") and (who in _PERSON or words == ("address",)) and "from" not in words
    if sends and not login and (reached or mailed or words in (("contact",), ("contact", "id"))):
        return meaning("recipient")
    if words[-1] == "email" and len(words) > 1 and (_WHO.isdisjoint(words[:-1]) or "new" in words):
        return meaning("recipient")
    if _is_gathered(who, tool) or _SAID_TO_BE_ONE.search(argument.says[:80]):
        return meaning("recipient")
    if sends and words in (("number",), ("phone",)) and tool.speaks_of("sms", "text", "call", "whatsapp", "phone"):
        return meaning("recipient")
    reached = sends or tool.subject.is_about("chat") or tool.speaks_of("call", "dial", "sms")
    return meaning("recipient") if reached and {"phone", "mobile"} & set(words) and "from" not in words else None


def _is_gathered(who: str, tool: Setting) -> bool:
    """Return whether it is somebody whom a chat, a group or a call is made of, and who then hears of it."""
    gathers = tool.speaks_of(*_GATHERING) and not tool.only_reads and "delete" not in tool.effects
    return who in ("participant", "member") and ("send" in tool.effects or gathers)


def _is_forwarded(words: tuple[str, ...], tool: Setting) -> bool:
    """Return whether mail goes on to it: `send_to`, `forward_to`, the destination of a forwarding rule."""
    if len(words) == 2 and words[1] == "to" and words[0] in ("send", "mail", "email", "deliver", "message"):
        return True
    forwards = words in (("forward",), ("forward", "to")) and tool.subject.is_about("mail")
    return forwards or (words == ("destination",) and tool.speaks_of("forward", "forwarding"))


def _reaches(argument: Argument, tool: Setting) -> bool:
    """Return whether `to` is somebody, and not the end of a relation or of a range."""
    if tool.effects & {"send", "share", "pay"} or tool.subject.is_about("mail", "chat", "calendar"):
        return True
    return tool.subject.is_about("money") or (bool(argument.says) and _REACHED.search(argument.says) is not None)


def _given(argument: Argument, who: str, tool: Setting) -> Meaning | None:
    if who in _GIVEN:
        return meaning("recipient")
    gives = "share" in tool.effects and "delete" not in tool.effects
    if who in _GROUPS and tool.speaks_of(*_ACCESS):
        return meaning("recipient")
    adds = tool.speaks_of("add") and tool.speaks_of(*_ADDED)
    told = _GRANTING.search(tool.nutshell) or _ADDING.search(argument.says[:60])
    grants = tool.speaks_of(*_GRANTS) or told or adds or gives
    named = who in _PERSON or {"user", "principal"} <= set(argument.words)
    added = adds and argument.words == ("account", "id")
    login = who == "username" and not _LOGINS.isdisjoint(tool.siblings)
    known = (named or added) and "as" not in argument.words and tool.effects != {"delete"} and not login
    return meaning("recipient") if grants and known else None


def _stored(argument: Argument, tool: Setting) -> Meaning | None:
    """An address in a record: of somebody who is removed, or who may be written to later."""
    if argument.free and "create" in tool.effects and tool.speaks_of(*_PEOPLE_MADE):
        return meaning("recipient", doubt="who is meant is somewhere in it")
    if argument.words not in (("email",), ("email", "address")):
        return None
    if "delete" in tool.effects or tool.speaks_of("unsubscribe", "remove", "block", "suppress"):
        return meaning("identifier")
    return (
        meaning("recipient", doubt="who is stored may be written to later")
        if tool.effects & {"create", "send"}
        else None
    )
