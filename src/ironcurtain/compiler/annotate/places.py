"""Places: where people meet, and the containers and machines in which a tool acts.

A channel, a calendar and a repository have roles of their own. Whatever else chooses what is touched (a project, a
namespace, a bucket) is a `place`, a machine a `host`; both stand beside what the argument is otherwise.
"""

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
_BESIDES: Final = lexicon("id name key ts or slug target source parent list alias root url uri href path arn")
_QUEUES: Final = lexicon("queue exchange stream")
_MESSAGES: Final = re.compile(r"\bmessages?\b|\bmessaging\b|publish|subscri|consum|broker|amqp|\bchat\b")
"""Said of tools whose queues and streams carry messages."""
_PUBLISHED: Final = re.compile(r"pub/?sub|publish|subscri|produc|consum|broker|queue|offset|partition|messages?\b")


_PLACES: Final = lexicon(
    """namespace cluster project workspace team organization organisation org tenant database db schema dataset catalog
    realm vhost keyspace bucket space environment guild vault drive zone warehouse collection connection site board
    notebook"""
)
_FORMS: Final = lexicon("id name key slug identifier uuid gid arn number or list")
_KINDS: Final = frozenset(
    {("resource", "type"), ("resource", "kind"), ("object", "type"), ("kind",), ("sobject", "type")}
)
"""Which kind of record is touched, where one tool serves all kinds."""
_MACHINES: Final = lexicon("host hostname")
_MACHINE: Final = re.compile(
    r"\b(?:host ?name|ip address|ssh|machine|remote (?:host|server)|server (?:name|address))\b"
)
_MAKING: Final = ("create", "new", "make", "register", "add", "provision", "init", "setup")
_ROLES: Final = frozenset({"identifier"})
_CODE: Final = frozenset(
    {"repo", "repository", "repo slug", "repository slug", "repo name", "repository name", "repo id", "repository id"}
)


def place(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the role of a place where people meet, or of a repository."""
    words = argument.words
    if argument.is_flag or (argument.is_number and words[-1:] != ("id",)):
        return None
    what = next((word for word in reversed(words) if word not in _BESIDES), "")
    streams = tool.speaks_of("produce", "consume", "publish", "subscribe", "kafka", "sns", "pubsub", "mqtt")
    if what == "topic" and not streams and not _PUBLISHED.search(f"{argument.says} {tool.nutshell}"):
        return None
    consumers = what == "group" and ("consumer" in argument.says or tool.speaks_of("consumer", "offset", "consume"))
    if consumers or (what == "thread" and tool.subject.is_about("mail")):
        return meaning("identifier")
    if what in _CHANNELS or (what == "group" and tool.subject.is_about("chat")) or _is_queue(what, argument, tool):
        return None if words[-1] == "name" and _is_made(words, tool) else meaning("channel")
    if what == "calendar" and words[-1] in ("id", "calendar", "name"):
        return meaning("calendar")
    if what in ("repo", "repository") and not is_local_path(argument, tool):
        return meaning("repository", "fetch-url") if "url" in argument.says[:80] else meaning("repository")
    if re.search(r"\bowner/(?:repo|name)|\borg/repo", argument.says) and words[-1] in ("name", "slug", "id", "project"):
        return meaning("repository")
    owns = words in (("owner",), ("org",), ("organization",), ("workspace",), ("workspace", "slug"))
    if owns and not _CODE.isdisjoint(tool.siblings):
        return meaning("repository", "identifier")
    coded = words in (("project", "id"), ("project", "path"), ("project", "key"), ("project", "slug"))
    return meaning("repository", "identifier") if coded and tool.subject.on_code else None


def _is_queue(what: str, argument: Argument, tool: Setting) -> bool:
    """Return whether messages go through what an argument names: a queue, an exchange, a stream of a chat."""
    if what not in _QUEUES or argument.words[-1] in ("url", "uri", "path", "root"):
        return False
    return tool.subject.is_about("chat") or _MESSAGES.search(f"{argument.says} {tool.nutshell}") is not None


def places_beside(argument: Argument, tool: Setting, roles: frozenset[str]) -> frozenset[str]:
    """Return `place` or `host` for an argument that chooses what is touched; else nothing."""
    words = argument.words
    if argument.is_flag or not words or argument.free or _is_made(words, tool):
        return frozenset()
    if argument.is_number and words[-1] != "id":
        return frozenset()
    if (words[-1] in _MACHINES and roles) or (
        words[-1] in ("server", "machine", "node") and _MACHINE.search(argument.says)
    ):
        return frozenset({"host"}) if roles <= {"identifier", "send-url", "fetch-url"} else frozenset()
    if not roles <= _ROLES:
        return frozenset()
    if "[]" in argument.leaf or "time" in words or "json" in argument.says[:60]:
        return frozenset()
    what = next((word for word in reversed(words) if word not in _FORMS), "")
    chosen = what in _PLACES or words in (("base", "id"), ("subscription",), ("context",))
    azure = what == "subscription" and "azure" not in argument.says
    kubernetes = what == "context" and "kube" not in argument.says
    chosen = (chosen and not azure and not kubernetes) or (words in _KINDS and not argument.above)
    return frozenset({"place"}) if chosen else frozenset()


def _is_made(words: tuple[str, ...], tool: Setting) -> bool:
    """Return whether the tool makes what the argument names: `create_project(name)`."""
    what = next((word for word in reversed(words) if word not in _FORMS), "")
    return what in tool.words and tool.speaks_of(*_MAKING) and words[-1] not in ("id", "key", "slug", "gid")
