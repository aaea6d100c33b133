"""Records: whatever is named by an id, a key or a name of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.harmless import is_acted_on, is_harmless
from ironcurtain.compiler.annotate.setting import NO_WORD_KNOWN, Meaning, meaning
from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_IDS: Final = lexicon("id sid iid uid uuid guid gid key slug arn sha hash ref identifier handle pid idx")
_NOT_IDS: Final = lexicon(
    """valid invalid paid unpaid prepaid grid subgrid void avoid fluid hybrid android solid liquid raid rapid braid
    humid acid aid said maid tabloid asteroid centroid ellipsoid sigmoid pyramid plaid covid overlaid"""
)
"""Words that end like an id."""
_COUNTED: Final = lexicon(
    """page line row column phone mobile telephone fax cell port version batch attempt retry episode season chapter week
    day month year max min total"""
)
"""What has a number that is not its name: a page, a telephone."""
_RECORDS: Final = lexicon(
    """table bucket database dataset index collection schema namespace pod container image node cluster deployment
    job build pipeline branch tag commit revision release label issue ticket card task project team organization
    org workspace site page block event record object entity device service metric dashboard alert rule segment
    audience flag feature environment template workflow execution message email symbol asset watchlist order
    portfolio deck model view field property sheet worksheet notebook owner version prefix list board space folder
    ticker topic group repo username article paper warehouse attachment package depend dependency head base ref sha
    domain zone subnet vlan ingredient"""
)
_NUMBERED: Final = re.compile(
    r"\b(?:build|issue|pull request|pr|ticket|run|job|merge request|card|invoice|order|revision) (?:number|no\.)"
    r"|\bnumber of the (?:\w+ )?(?:build|issue|pull|ticket|run|job|card|invoice|order|revision)"
)
_NOT_RECORDS: Final = lexicon("start end with first last sort max min num")
_ATTACHED: Final = lexicon("label tag property field sheet column topic category segment")
"""Words that somebody attaches to a record, rather than records."""
_TEXTS: Final = lexicon("message email note comment")
_ACCOUNTS: Final = lexicon("account payee customer ledger iban")
_NO_ACCOUNTS: Final = lexicon("type kind status name memo note message description email comment")
"""What is told about an account."""
_NOT_NAMES_OF: Final = lexicon(
    """file host display nick first last user full given family new sort order group field column"""
)
_OTHER_NAMES: Final = lexicon("name firstname lastname surname filename username hostname displayname nickname")
_MAKING: Final = ("create", "new", "make", "register", "add", "generate", "provision", "import", "write", "save")
_REPLACING: Final = ("put", "upsert", "set", "append", "overwrite")
_IS_ONE: Final = re.compile(r".{0,40}\b(?:ids?|identifiers?|uids?|uuids?|guid|arn|slug)\b")
_AN_ID_OF: Final = re.compile(r"(?:the |a |numeric |unique |optional )*ids? (?:of|for) (?:the|an?)\b")
_NAMES_ONE: Final = re.compile(
    r"(?:the )?(?:timestamp|time ?stamp|ts) of the (?:parent |specific )?(?:message|thread|post)"
)
_CALLED: Final = re.compile(
    r"(?:\w+ )?(?:the |a |target )*(?:project|workspace|team|organization|space|repository|customer|site|dataset|"
    r"tenant|cluster|database|table|bucket|board|portal|instance) (?:code|key|slug|identifier|handle)\b"
)
"""A record by the code that its description gives it."""
_ENDPOINT: Final = re.compile(r"\b(?:api|rest) (?:endpoint|path|route|method) to\b|\b(?:api|rest) path\b")
_OF_ONE: Final = re.compile(r"(?:the |a |unique )*(?:id|identifier|key|name|token) (?:of|for) (?:the |an? )")


def record(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the role of something that is there already, and named."""
    words = argument.words
    if argument.is_flag or not words:
        return None
    last = words[-1]
    if _is_account(argument, tool):
        return meaning("account")
    if words[-2:] in (("private", "key"), ("secret", "key"), ("api", "key"), ("access", "key"), ("signing", "key")):
        return None
    if last == "address" and tool.subject.is_about("money") and not {"email", "billing", "shipping"} & set(words):
        return meaning("account")
    pressed = words == ("key",) and tool.speaks_of("press", "keyboard", "key")
    if set(words) & {"ai", "llm"} or (pressed and tool.subject.is_about("browser", "device")):
        return None
    numbered = is_id(last) or words[-2:] == ("id", "list") or is_numbered(argument, tool)
    if numbered or _is_deleted(argument, tool):
        return meaning("identifier")
    if argument.is_number or argument.free:
        return None
    attached = last in _ATTACHED and not tool.only_reads and not is_acted_on(argument, tool)
    if _is_name_of(words, tool) or (not attached and _is_named(argument, tool)):
        return meaning("identifier")
    unknown = not attached and last != "name" and last not in _TEXTS and not is_harmless(argument, tool)
    doubt = "" if _OF_ONE.match(argument.says) else NO_WORD_KNOWN
    return meaning("identifier", doubt=doubt) if unknown else None


def _is_deleted(argument: Argument, tool: Setting) -> bool:
    """Return whether it is all that a tool is given which deletes, so that it says what: `delete_host(params)`."""
    return tool.effects == {"delete"} and len(tool.arguments) == 1 and not argument.is_flag


def _is_account(argument: Argument, tool: Setting) -> bool:
    words = argument.words
    called = not _ACCOUNTS.isdisjoint(words) and words[-1] not in _NO_ACCOUNTS
    return called and not argument.enum and (tool.subject.is_about("money") or "iban" in words)


def _is_named(argument: Argument, tool: Setting) -> bool:
    """Return whether its own name or its description says that it names something."""
    return argument.words[-1] not in _TEXTS and (_is_called(argument, tool) or _is_described(argument, tool))


def _creates(tool: Setting) -> bool:
    """Return whether a name that is given is one of something new."""
    makes = "create" in tool.effects and not tool.speaks_of(*_REPLACING)
    return makes and ("update" not in tool.effects or tool.speaks_of(*_MAKING))


def _is_called(argument: Argument, tool: Setting) -> bool:
    """Return whether its own name says that something is there already: a title, an address, the noun itself."""
    words, last = argument.words, argument.words[-1]
    if words in (("title",), ("file", "name")):
        return tool.only_reads and argument.required
    if words == ("name",):
        acts = not tool.effects.isdisjoint({"read", "delete", "update", "execute"})
        return not _creates(tool) and (acts or argument.required)
    if last == "title" and len(words) > 1 and words[-2] in tool.words:
        return not _creates(tool) and not tool.speaks_of("set", "update", "rename", "edit")
    if last == "address":
        return not tool.subject.is_about("mail", "chat")
    return last in _RECORDS and words[0] not in _NOT_RECORDS and len(words) <= 2


def _is_described(argument: Argument, tool: Setting) -> bool:
    """Return whether its description says that it is an id, a code or the name of something that is there."""
    says = argument.says
    if is_described_as_id(argument):
        return True
    if _ENDPOINT.search(says[:80]) or _NAMES_ONE.match(says):
        return True
    return _OF_ONE.match(says) is not None and not _creates(tool)


def is_described_as_id(argument: Argument) -> bool:
    """Return whether its description begins by saying that it is an id."""
    if _CALLED.match(argument.says):
        return True
    return _IS_ONE.match(argument.says) is not None and argument.words[-1] not in ("query", "filter", "name", "text")


def is_noun(argument: Argument) -> bool:
    """Return whether it is called by the word for a record or a person alone, so that a number of it names one."""
    return len(argument.words) == 1 and argument.words[0] in _RECORDS | _ACCOUNTS | {"user", "contact", "member"}


def names_a_record(argument: Argument) -> bool:
    """Return whether it is called an id or the like, in one word or two: `vmid`, `vm_id`."""
    return bool(argument.words) and is_id(argument.words[-1])


def is_id(word: str) -> bool:
    """Return whether a word says that something is named by an id."""
    return word in _IDS or (word.endswith("id") and len(word) > 3 and word not in _NOT_IDS)


def is_numbered(argument: Argument, tool: Setting) -> bool:
    """Return whether it is a number that names something: of an issue, of a build."""
    words = argument.words
    if _AN_ID_OF.match(argument.says):
        return True
    if words == ("index",) and argument.is_number and argument.required:
        return tool.speaks_of("issue", "pull", "pr", "ticket", "milestone", "review", "release")
    if words[-1:] != ("number",):
        return False
    if len(words) > 1:
        called = not argument.is_number and words[-2] not in _COUNTED  # a text: the number of a product, of a part
        return called or words[-2] in _RECORDS | {"pull", "pr", "request"}
    return tool.speaks_of(*_RECORDS) or _NUMBERED.search(argument.says) is not None


def _made(tool: Setting) -> tuple[str, ...]:
    """Return the nouns of what a tool makes: of `create_vendor_credit` a credit, and of `create_table` a table."""
    nouns = [word for word in tool.words if word not in _MAKING]
    return tuple(nouns[-1:]) if tool.subject.is_about("money") else tool.words


def _is_name_of(words: tuple[str, ...], tool: Setting) -> bool:
    """`table_name`, `podname`: a record that is there, unless the tool makes it."""
    if len(words) > 1 and words[-1] == "name":
        made = tool.speaks_of("create", "new", "make", "register") and words[-2] in _made(tool)
        return not made and words[-2] not in _NOT_NAMES_OF - _RECORDS
    return len(words) == 1 and words[0].endswith("name") and words[0] not in _OTHER_NAMES
