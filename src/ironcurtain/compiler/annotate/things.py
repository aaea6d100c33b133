"""What a tool works on, in the words that people use for it: `issue`, `pull request`, `calendar event`.

A sentence of a policy names things; these are the nouns by which a tool is found. `things` gives those that are sure,
the surest first, for what permits; `loose_things` gives everything that might be meant, for what forbids.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.acts import is_noun, verbs_at
from ironcurtain.compiler.annotate.arguments import arguments_of
from ironcurtain.compiler.annotate.prose import object_of
from ironcurtain.compiler.annotate.synonyms import might_be, synonyms
from ironcurtain.compiler.annotate.text import clean, lexicon, singular, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_PREPOSITIONS: Final = lexicon(
    "to from in into of for with on at as via using by under within about than per after before between without"
)
_NOT_NOUNS: Final = lexicon(
    """and or the a an all new multiple many single batch bulk my your own current recent latest next previous specific
    existing available active open closed first last one two any each every full raw advanced simple complex deep
    quick global local remote internal external public private v1 v2 v3 beta async sync other same more up down out off
    over unread read only it this that its their several selected given particular related similar custom default
    is has are named nested empty entire complete optional required possible total valid mcp ai"""
)
_CONTENTS: Final = lexicon(
    """content contents info information detail list status metadata data id history result summary count name path size
    preview text batch number description title body tree overview statistic stat state reader updater manager service
    api tool function operation action"""
)
"""Heads of a phrase that say nothing: the contents of a file are the file. The field of a ticket is no ticket."""
_VAGUE: Final = _CONTENTS | lexicon("item object resource thing entity request response step value mode format")
"""Words that say nothing where they stand alone."""
_SAYING: Final = lexicon(
    """commit comment message email mail tweet post reply order trade label tag draft screenshot snapshot backup fork
    release query command script report merge"""
)
"""Verbs that name what they make."""
_TWO_WORDS: Final = frozenset(
    {
        "pull request", "merge request", "web page", "calendar event", "work item", "api key", "feature flag",
        "code review", "direct message", "text message", "draft order", "payment link", "journal entry", "bank account",
        "virtual machine", "database table", "shared link", "webhook subscription", "access token", "security group",
        "dns record", "mail rule", "send as", "phone number", "credit card", "config map", "cron job", "check run",
        "time entry", "test case", "gift card", "line item",
    }
)  # fmt: skip
_ABOUT: Final[Mapping[str, re.Pattern[str]]] = {
    "mail": re.compile(r"\b(?:e?-?mails?|gmail|inbox|mailbox|outlook|imap|smtp|maildir)\b"),
    "calendar": re.compile(r"\b(?:calendars?|attendees?|appointments?|meetings?)\b"),
    "documents": re.compile(r"\b(?:google docs?|word documents?|docx|gdocs?)\b"),
    "notes": re.compile(r"\b(?:notes?|notion|obsidian|logseq|onenote|vault|evernote)\b"),
    "browser": re.compile(r"\b(?:browser|web ?pages?|web ?sites?|url|tab)\b"),
    "chat": re.compile(r"\b(?:slack|discord|telegram|chat|channels?|whatsapp|teams|mattermost|zulip|dm|thread)\b"),
    "tracker": re.compile(r"\b(?:issues?|tickets?|jira|linear|tracker|bugs?|github|gitlab|zendesk)\b"),
    "money": re.compile(r"\b(?:stocks?|options? order|crypto|etf|broker\w*|trading)\b"),
    "data": re.compile(r"\b(?:collections?|databases?|tables?|mongo\w*|rows?)\b"),
    "sheets": re.compile(r"\b(?:spreadsheets?|excel|workbooks?|google sheets?|gsheets?)\b"),
}
_WORKING: Final = lexicon("cwd workdir working root repo repository project")
_PATHS: Final = frozenset({"read-path", "write-path", "delete-path"})
_MOST: Final = 24  # things of one tool


def common_words(definitions: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the words with which nearly all tools of a server begin: its prefix, which names nothing."""
    names = [words_of(str(definition.get("name"))) for definition in definitions]
    if len(names) < 3:
        return frozenset()
    first = Counter(name[0] for name in names if name)
    return frozenset(word for word, count in first.items() if 5 * count >= 4 * len(names))


@dataclass(frozen=True, slots=True)
class Around:
    """What the server of a tool is about, as far as it gives the tool's nouns their meaning."""

    common: frozenset[str] = frozenset()
    """Words with which nearly all of its tools begin."""
    sure: tuple[str, ...] = ()
    """What it is surely about: a message of a mail server is an email."""
    likely: tuple[str, ...] = ()
    """What it may be about."""


_NOTHING_AROUND: Final = Around()


def around(server: str, definitions: Sequence[Mapping[str, Any]]) -> Around:
    """Return what a server is about, from its name and its tools."""
    named = {name for name, sign in _ABOUT.items() if sign.search(" ".join(words_of(server)))}
    counts: Counter[str] = Counter()
    for definition in definitions:
        text = f"{' '.join(words_of(str(definition.get('name'))))} {clean(definition.get('description'))[:400]}"
        counts.update(name for name, sign in _ABOUT.items() if sign.search(text))
    likely = {name for name, count in counts.items() if count > 1 and 10 * count >= len(definitions)} | named
    mails = ("mail" in named and "chat" not in named) or 3 * counts["mail"] >= len(definitions) > 2 * counts["chat"]
    return Around(common_words(definitions), ("mail",) if mails else (), tuple(sorted(likely)))


def things(
    definition: Mapping[str, Any], args: Mapping[str, frozenset[str]], server: Around = _NOTHING_AROUND
) -> tuple[str, ...]:
    """Return the nouns that surely stand for what a tool works on, the surest first."""
    common = server.common
    main, _ = _nouns_of_name(words_of(str(definition.get("name"))), common)
    found = [*main]
    told = _phrases(_told(definition, common))
    if not found or not set(told).isdisjoint(found):
        found += told
    if not {"folder", "directory", "file"} & set(found) and _needs_file(definition, args):
        found.append("file")
    # A message of a mail server is an email, unless the tool itself speaks of a chat.
    sure = () if "chat" in _subjects(definition, args) else server.sure
    return _with_synonyms(found, definition, args, common, sure)


def loose_things(
    definition: Mapping[str, Any], args: Mapping[str, frozenset[str]], server: Around = _NOTHING_AROUND
) -> tuple[str, ...]:
    """Return every noun that might stand for what a tool works on; a superset of `things`."""
    words, common = words_of(str(definition.get("name"))), server.common
    main, beside = _nouns_of_name(words, common)
    found = [*things(definition, args, server), *main, *beside, *_phrases(_told(definition, common))]
    for leaf, roles in args.items():
        found += (
            _phrases(_noun_of_leaf(leaf))
            if roles & {"identifier", "channel", "calendar", "repository", "place"}
            else []
        )
        found += ["file", "folder"] if roles & _PATHS else []
        found += ["person"] if roles & {"recipient", "attendee"} else []
        found += ["url", "web page"] if "fetch-url" in roles else []
    found += [word for word in words if is_noun(word) and word in _SAYING]
    found += [other for noun in found for other in might_be(noun.rpartition(" ")[2], server.likely)]
    return _with_synonyms(found, definition, args, common, server.likely)


def _needs_file(definition: Mapping[str, Any], args: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a call must name a file, other than the directory that it works in."""
    return any(
        argument.required and _WORKING.isdisjoint(argument.words) and args.get(leaf, frozenset()) & _PATHS
        for leaf, argument in arguments_of(definition).items()
    )


def _with_synonyms(
    found: Sequence[str],
    definition: Mapping[str, Any],
    args: Mapping[str, frozenset[str]],
    common: frozenset[str],
    subjects: Iterable[str],
) -> tuple[str, ...]:
    about = dict.fromkeys((*_subjects(definition, args), *subjects))
    every = [*found, *(other for noun in found for other in synonyms(noun, about))]
    return tuple(dict.fromkeys(noun for noun in every if noun not in common))[:_MOST]


def _subjects(definition: Mapping[str, Any], args: Mapping[str, frozenset[str]]) -> list[str]:
    """Return what a tool is about, by its own words."""
    names = " ".join(" ".join(words_of(argument.name)) for argument in arguments_of(definition).values())
    text = f"{' '.join(words_of(str(definition.get('name'))))} {clean(definition.get('description'))[:400]} {names}"
    about = [name for name, sign in _ABOUT.items() if sign.search(text)]
    roles = frozenset(role for found in args.values() for role in found)
    return [*about, *(["files"] if roles & _PATHS else [])]


def _nouns_of_name(words: Sequence[str], common: frozenset[str]) -> tuple[list[str], list[str]]:
    """Return what a name says that its verb is done to, and what it says beside that."""
    positions = verbs_at(words)
    last = positions[-1] if positions else -1
    first = positions[0] if positions else 0
    said = [words[index] for index in positions if words[index] in _SAYING and is_noun(words[index])]
    after = list(words[last + 1 :])
    cut = next((index for index, word in enumerate(after) if word in _PREPOSITIONS), len(after))
    main = _phrases(after[:cut])
    before = [word for word in words[:first] if word not in common]
    beside = [*_phrases(after[cut + 1 :]), *(noun for word in before for noun in _phrases([word]))]
    if not main:
        main = (
            said
            or _phrases(after[cut + 1 :])
            or _phrases(before[-2:] if positions else [word for word in words if word not in common])
        )
    return main, [*said, *beside]


def _phrases(words: Sequence[str]) -> list[str]:
    """Return a noun phrase as a whole, and by its head: `calendar event`, `event`."""
    kept = [singular(word) for word in words if word not in _NOT_NOUNS | _PREPOSITIONS and word.isalpha()]
    while len(kept) > 1 and kept[-1] in _CONTENTS:
        kept.pop()
    if not kept or (len(kept) == 1 and kept[0] in _VAGUE):
        return []
    if len(kept) > 1 and " ".join(kept[-2:]) in _TWO_WORDS:
        return [" ".join(kept[-2:])]
    whole = [" ".join(kept[-2:])] if len(kept) > 1 else []
    return [*whole, *([kept[-1]] if kept[-1] not in _VAGUE else [])]


def _told(definition: Mapping[str, Any], common: frozenset[str]) -> list[str]:
    return [word for word in object_of(clean(definition.get("description"))) if word not in common]


def _noun_of_leaf(leaf: str) -> list[str]:
    """`issue_number` as `issue`."""
    words = list(words_of(leaf.rpartition(".")[2].removesuffix("[]")))
    while words and (words[-1] in _CONTENTS | {"key"} or words[-1] in ("slug", "ts", "uuid", "ref", "sha")):
        words.pop()
    return words[-2:]
