"""Addresses: what is fetched, and what something is sent to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.setting import Meaning, meaning
from ironcurtain.compiler.annotate.text import lexicon, words_of

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_NAMES: Final = lexicon("url uri href webhook endpoint link")
_HOSTS: Final = lexicon("host hostname domain server proxy broker")
_REMOTE: Final = re.compile(
    r"\bssh\b|\bsftp\b|\bremote (?:\w+ )?(?:host|server|machine)|"
    r"\b(?:database|mysql|postgres\w*|mongodb|redis|smtp|imap) (?:server |host)"
)
_SERVICES: Final = re.compile(r"(?i)smtp|imap|ssh|sftp|ldap|mysql|postgres|mongo|redis")
_SITES: Final = lexicon("website webpage site")
_VISITING: Final = ("fetch", "crawl", "scrape", "navigate", "visit", "browse", "open")
_PEOPLE: Final = lexicon("alternative co meeting event")
"""Words of hosts that are people."""
_NOT_ITSELF: Final = lexicon("id slug name path text type title key password passcode token secret expiry expiration")
_SPOKEN: Final = re.compile(
    r"\burls?\b|\buri\b|\bhttps?://|\bweb ?(?:page|site) address|\bwebsites? to\b|\bweb address\b"
)
_BEGINS: Final = re.compile(
    r"(?:the |a |full |optional |target |complete |public )*(?:url|uri|web address|link)\b(?! (?:path|slug|key|name))"
    r"|(?:(?!ids?\b|keys?\b|names?\b|slug\b|part\b|from\b|in\b|of\b|to\b|data\b|or\b|base64\b|whether\b)[\w-]+ ){1,3}"
    r"ur[li]\b(?![ -](?:path|slug|key|name|friendly|encoded|safe|pattern|segment|prefix|parameter|type))"
)
_SENDING: Final = re.compile(
    r"\bwebhooks?\b|\bcallback\b|\bnotif(?:y|ies|ied|ication)|\bendpoint (?:to|that)|\bpost(?:ed)? to\b|\bproxy\b|"
    r"\bdeliver|\brtmp|\bstream to|\bpush to"
)
_NOTIFIED: Final = lexicon("webhook notification notify alert slack callback hook notifier subscriber discord")
"""What stands around an address that is called on events."""
_GOALS: Final = lexicon("destination dest dst sink upload callback notification notify hook")
"""Words before `url` for where something goes."""
_EVENTS: Final = ("trigger", "webhook", "hook", "event", "subscription", "schedule", "job", "notification", "route")
_ORIGINS: Final = re.compile(
    r"\b(?:to (?:import|upload|fetch|download|read|crawl|scrape)|from which|to upload from|source)\b"
)
_FREE: Final = lexicon("setting config configuration option parameter destination target")
_REACHING: Final = (
    "stream", "notification", "webhook", "integration", "connector", "sink", "notifier", "contact", "receiver", "relay",
    "smtp", "proxy", "exporter", "forwarding", "alerting", "subscription", "syslog",
)  # fmt: skip
"""What a tool sets up that reaches other machines."""
_OF_AN_ITEM: Final = re.compile(
    r"\buris? of (?:the |an? |this )*(?:\w+ )?"
    r"(?:item|track|album|artist|playlist|song|episode|concept|entity|record)s?\b"
)
"""An address in the form of the service's own, which nothing is fetched from."""
_BELOW_ONE: Final = re.compile(r"\bapi (?:endpoint|path)|endpoint path|e\.g\.,? ['\"`]?/")


def address(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the role of a URL, which is known by its name, its format or its words."""
    words = argument.words
    if not words:
        return None
    if found := _connection(argument, tool) or _machine(argument, tool) or _described_inside(argument, tool):
        return found
    formatted = bool(argument.formats & {"uri", "url", "uri-reference", "iri"})
    named = not _NAMES.isdisjoint(words[-2:]) and words[-1] not in _NOT_ITSELF
    proxied = words[-1] == "proxy" or not tool.only_reads
    host = words[-1] in _HOSTS and proxied and _SENDING.search(f"{' '.join(words)} {argument.says}")
    visited = words[-1] in _SITES and tool.speaks_of(*_VISITING) and not argument.is_number
    watched = (
        words in (("page",), ("site",)) and tool.speaks_of("monitor", "scrape", "crawl") and not argument.is_number
    )
    if not (named or formatted or host or visited or watched or _BEGINS.match(argument.says)):
        return None
    if words[-1] in ("name", "id", "key", "type", "title", "label", "kind") and not formatted:
        return None
    subscribes = tool.speaks_of("subscribe")
    return _name_like_one(argument, formatted=formatted, subscribes=subscribes) or _url(argument, tool)


def _machine(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the role of a machine that something is done on, or data are read from."""
    last = argument.words[-1]
    if last in _HOSTS - {"domain"} and tool.speaks_of("connect", "ssh", "sftp", "broker", "adhoc"):
        return meaning("fetch-url" if tool.only_reads and tool.speaks_of("ssh", "sftp") else "send-url")
    if not _PEOPLE.isdisjoint(argument.words):
        return None
    called = last in ("host", "hostname") or argument.words in (
        ("computer",),
        ("computer", "name"),
        ("machine", "name"),
    )
    around = " ".join(argument.above)
    connected = (called or last == "ip" or argument.words[-2:] == ("ip", "address")) and "port" in tool.siblings
    if connected and not argument.enum:
        return meaning("fetch-url" if tool.only_reads else "send-url")
    if called and (_REMOTE.search(f"{tool.nutshell} {argument.says}") or _SERVICES.search(around)):
        return meaning("fetch-url" if tool.only_reads else "send-url")
    if last in ("host", "hostname") and not argument.enum:
        return meaning("identifier")
    return meaning("identifier") if re.search(r"\b(?:spotify|urn|arn):", argument.says) else None


def _described_inside(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the role of free-form settings of something that reaches out: a stream, a notification, a connector."""
    if not argument.free or argument.words[-1] not in _FREE or tool.only_reads or not tool.speaks_of(*_REACHING):
        return None
    return meaning("send-url", doubt="an address may stand in it")


def _name_like_one(argument: Argument, *, formatted: bool, subscribes: bool) -> Meaning | None:
    """What looks like an address and may be a name."""
    words, says = argument.words, argument.says
    if {"id", "or", "url"} <= set(words):
        return meaning("fetch-url", "identifier")
    if words[-1] == "uri" and _OF_AN_ITEM.search(says) and not re.search(r"http|url|web", says):
        return meaning("identifier")
    if words[-1] == "uri" and len(words) > 1 and not re.search(r"http|url|web", says):
        sent = {"send-url"} if not _GOALS.isdisjoint(words[:-1]) else set()
        return meaning("fetch-url", "identifier", *sent, doubt="an address, or a name in the form of one")
    if words[-1] == "endpoint" and subscribes:
        return meaning("identifier", "recipient", "send-url", doubt="an address of any kind that is told of events")
    if words[-1] == "endpoint" and not formatted and not re.search(r"http|url|webhook|notif", says):
        return meaning("identifier", "send-url", doubt="an address, or a path below one")
    return meaning("identifier") if words[-1] == "endpoint" and _BELOW_ONE.search(says) else None


def _url(argument: Argument, tool: Setting) -> Meaning:
    words = argument.words
    if "calendar" in words[:-1]:
        return meaning("calendar", "fetch-url")
    service = bool({"api", "base", "server", "gateway"} & set(words))  # through which a message goes
    if _is_requested(argument, tool) or (service and "send" in tool.effects):
        return meaning("fetch-url", "send-url")
    around = {word for name in argument.above for word in words_of(name)}
    sends = _SENDING.search(f"{' '.join(words)} {argument.says}") or tool.speaks_of("webhook", "rtmp")
    sends = sends or not _NOTIFIED.isdisjoint(around) or _is_goal(argument, tool)
    sends = sends and not _ORIGINS.search(argument.says)
    return meaning("send-url" if sends or (words[-1] == "endpoint" and not tool.only_reads) else "fetch-url")


def _is_goal(argument: Argument, tool: Setting) -> bool:
    """Return whether something goes to an address: it is called on events, or files are uploaded to it."""
    before = argument.words[:-1]
    if not _GOALS.isdisjoint(before) or ("target" in before and tool.speaks_of(*_EVENTS)):
        return True
    handed_over = not {"file", "path", "file path", "filename"}.isdisjoint(tool.siblings)
    return tool.speaks_of("upload") and handed_over


def _connection(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the role of a connection string: it names a machine that is read, or where data go."""
    words = argument.words
    named = words[-2:] == ("connection", "string") or words[-1] in ("dsn", "connstr", "conninfo")
    named = named or words[-2:] in (("connection", "url"), ("connection", "uri"), ("database", "url"), ("jdbc", "url"))
    if not named:
        return None
    goal = not tool.only_reads and not {"target", "dest", "destination", "sink", "to"}.isdisjoint(words)
    return meaning("fetch-url", "send-url") if goal else meaning("fetch-url")


def speaks_of_address(argument: Argument) -> bool:
    """Return whether a description mentions an address."""
    return _SPOKEN.search(argument.says) is not None


def _is_requested(argument: Argument, tool: Setting) -> bool:
    """A request that carries something to the address."""
    carries = tool.speaks_of("post", "put", "patch", "delete", "request") and not tool.only_reads
    called = tool.subject.is_about("browser") or (
        tool.speaks_of("http", "request", "rest") and "method" in tool.siblings
    )
    return carries and not argument.above and argument.words[-1] in ("url", "uri") and called
