"""Sentences about what may not go where: `nothing read from mail may go to a web address`.

They become rules that hold for whoever has read there. Where a sentence of this form is not understood to the last
word, whatever it may be about asks, whoever has read what.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon, singular
from ironcurtain.compiler.english.cues import Mood
from ironcurtain.compiler.english.drafts import Draft, Rank
from ironcurtain.compiler.english.lexicon import HARMLESS, READ
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ironcurtain.compiler.english.grounding import Tools
    from ironcurtain.compiler.english.surface import Surface

_IT: Final = (
    r"(?:nothing|anything|something|no (?:text|content|data|information|word|part|details?)"
    r"|(?:any )?(?:text|content|data|information|details?|words)|what(?:ever)?|things?|stuff)"
)
_WHO: Final = r"(?:you|it|they|the (?:agent|assistant)|my (?:agent|assistant))"
_READ: Final = (
    r"(?:read|reads|seen?|sees|found|finds?|learn(?:ed|s|t)?|taken|copied|comes|coming|came|got(?:ten)?|gets|fetched|fetches"
    r"|looked up|looks up)"
)
_SEEN: Final = rf"(?: (?:that|which))?(?: {_WHO}(?: has| have)?(?: ever)?)?(?: (?:is|was|were|are|has been))? {_READ}"
_SOURCE: Final = r" (?:from|in|on|out of|inside) (?P<source>[^,.;]+?)"
_OUT: Final = (
    r"(?:go(?:es)?|sent|posted|shared|forwarded|uploaded|passed on|passed|put|copied|written|ends? up|published"
    r"|e?-?mailed|submitted)"
)
_TO: Final = r"(?: out)? (?:to|in|into|onto|on|by|via|through|over|with) (?P<sink>.+?)[.!]?"
_NOT: Final = r"(?:may|must|can|should|shall)(?:not| not| never|n['\u2019]t)(?: ever)?"
_DO_NOT: Final = rf"(?:{_WHO} {_NOT}|(?:please )?never|(?:please )?(?:do not|don['\u2019]t)(?: ever)?)"
_SEND: Final = r"(?:send|post|share|forward|upload|pass(?: on)?|put|copy|write|publish|e?-?mail|submit|leak)"
_SENDING: Final = r"(?:sending|posting|sharing|forwarding|uploading|putting|copying|writing)"
_ASK: Final = r"(?:always )?ask (?:me )?(?:first )?before"
_FORMS: Final = (
    (rf"(?:nothing|no \w+){_SEEN}{_SOURCE} (?:may|must|can|should|shall)(?: ever)?(?: be)? {_OUT}{_TO}", Mood.FORBID),
    (rf"{_IT}{_SEEN}{_SOURCE} {_NOT}(?: be)? {_OUT}{_TO}", Mood.FORBID),
    (rf"{_DO_NOT} {_SEND} {_IT}{_SEEN}{_SOURCE}{_TO}", Mood.FORBID),
    (rf"{_ASK} {_IT}{_SEEN}{_SOURCE} (?:is |are |gets )?{_OUT}{_TO}", Mood.ASK),
    (rf"{_ASK} {_SENDING} {_IT}{_SEEN}{_SOURCE}{_TO}", Mood.ASK),
)
"""Without a word for reading, `anything from my work account` would be about who sends it."""
_WEB: Final = lexicon("web internet website site online page url address link browser http outside")
_ANYBODY: Final = lexicon("anyone anybody someone somebody outside people person others else stranger recipient world")
_MAIL: Final = lexicon("mail email e_mail inbox message")
_FILES: Final = lexicon("file folder document disk directory note")
_KNOWN: Final = _WEB | _ANYBODY | _MAIL | _FILES | lexicon("channel post account server app")
_SENDS: Final = frozenset({"send", "share"})
_WRITES: Final = frozenset({"create", "update"})


def flow_of(text: str, tools: Tools) -> tuple[list[Draft], bool]:
    """The rules of such a sentence, if it is one, and whether it was understood to the last word."""
    for pattern, then in _FORMS:
        if found := re.fullmatch(rf"\W*{pattern}", text.strip(), re.IGNORECASE):
            source, sink = _words(found["source"]), _words(found["sink"])
            read, sinks = _readers(source, tools), _senders(sink, tools)
            if read and sinks and all(_is_known(word, tools) for word in (*source, *sink)):
                return list(_drafts(then, read, sinks)), True
            concerned = sinks or _senders([*_ANYBODY], tools)
            return [Draft(Mood.ASK, Rank.FORBIDDEN_THERE, (tool,)) for tool in concerned], False
    return [], False


def _is_known(word: str, tools: Tools) -> bool:
    return word in _KNOWN or bool(tools.servers_called([word]) or tools.servers_about([word]))


def _drafts(then: Mood, read: list[Surface], sinks: list[Surface]) -> Iterable[Draft]:
    sources = tuple(sorted({f"{tool.server}/{tool.name}" for tool in read}))
    for tool in sinks:
        origin = (tool.all_roles, sources) if tool.all_roles else None  # without a role there is nothing to speak of
        yield Draft(then, Rank.FORBIDDEN_THERE, (tool,), origin=origin)


def _words(text: str) -> list[str]:
    words = [singular(word) for word in re.findall(r"[a-z0-9_-]+", text.lower())]
    return [word for word in words if word in _KNOWN or word not in HARMLESS]


def _readers(words: list[str], tools: Tools) -> list[Surface]:
    """The tools whose results are meant."""
    found = _of(words, tools)
    if set(words) & _FILES:
        found = [tool for tool in found or tools.all if tool.of(Category.PATH)]
    if not found and set(words) & _WEB:
        found = [tool for tool in tools.all if "fetch-url" in tool.all_roles]
    return [tool for tool in found if tool.effects & READ]


def _senders(words: list[str], tools: Tools) -> list[Surface]:
    """The tools by which it would get there."""
    if set(words) & _ANYBODY:
        return [
            tool
            for tool in tools.all
            if tool.of(Category.PARTY, Category.PLACE, Category.URL) or "send" in tool.effects
        ]
    if set(words) & _WEB:
        return [tool for tool in tools.all if tool.of(Category.URL)]
    there = _of(words, tools)
    sending = [tool for tool in there if tool.effects & _SENDS or tool.of(Category.PARTY, Category.URL)]
    return sending or [tool for tool in there if tool.effects & _WRITES]


def _of(words: list[str], tools: Tools) -> list[Surface]:
    servers = tools.servers_called(words) or tools.servers_about(words)
    return [tool for tool in tools.all if tool.server in servers]
