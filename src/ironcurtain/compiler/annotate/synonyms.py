"""Everyday words for the same thing, in both directions; some only where a tool is about mail, files and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANYWHERE: Final = """
email, mail, e mail
folder, directory
issue, ticket
task, todo, to do, todo item
pull request, pr, merge request, mr
repository, repo
spreadsheet, workbook
worksheet, sheet tab
comment, remark
customer, client
database, db
table, database table
record, row, entry
photo, picture, image
video, clip
invoice, bill
web page, webpage, website
url, link, web address
command, shell command
attachment, attached file
permission, access right
directory tree, folder tree
channel, room
direct message, dm
text message, sms
user, person
instance, virtual machine, vm
secret, credential
"""
_WITHIN: Final[dict[str, str]] = {
    "mail": "email, mail, message, mail message",
    "calendar": "event, appointment, meeting, calendar event, calendar entry",
    "files": "file, document",
    "documents": "document, doc, file",
    "notes": "page, note",
    "browser": "page, web page, webpage, website, site",
    "chat": "message, chat message, channel message, post",
    "tracker": "issue, ticket, bug, work item",
    "money": "order, trade",
    "data": "record, row, entry, document",
    "sheets": "sheet, worksheet, spreadsheet, tab",
}


_LOOSELY: Final = {
    "mail": ("email, mail, message", "thread, draft, conversation, reply, attachment, inbox, mailbox"),
    "chat": ("message, chat message, post", "reply, thread, conversation, chat, direct message, dm"),
    "files": ("file, document", "doc, text file, attachment"),
}
"""What a noun may be one of, on a server that is about a subject: a draft may be an email, and no email is a draft."""


def _groups(text: str) -> list[tuple[str, ...]]:
    return [tuple(word.strip() for word in line.split(",")) for line in text.splitlines() if line.strip()]


_ALL: Final = _groups(_ANYWHERE)


def synonyms(noun: str, subjects: Iterable[str]) -> list[str]:
    """Return the other everyday words for a noun, of tools that are about these subjects."""
    groups = [*(group for name in subjects for group in _groups(_WITHIN.get(name, ""))), *_ALL]
    return list(dict.fromkeys(word for group in groups if noun in group for word in group if word != noun))


def might_be(noun: str, subjects: Iterable[str]) -> list[str]:
    """Return the wider words for what may be meant by a noun, on a server that is about these subjects."""
    pairs = [_groups("\n".join(_LOOSELY[name])) for name in subjects if name in _LOOSELY]
    return list(dict.fromkeys(word for wide, narrow in pairs if noun in wide or noun in narrow for word in wide))
