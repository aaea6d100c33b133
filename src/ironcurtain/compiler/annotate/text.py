"""Names and descriptions as words. Descriptions are a server's own: bounded, and without what a person cannot see."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_LATIN: Final = 0.8  # share of ASCII letters in an English text, names in other scripts among them
LONGEST: Final = 2_000  # characters of one description that are read
_PARTS: Final = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WORD: Final = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_BY_ID: Final = re.compile(
    r"\bids?,? or (?:its |the )?(?:exact |full )?names?\b|\bby (?:its )?(?:id|name) or (?:exact )?(?:id|name)\b"
)
_KEEP_S: Final = frozenset(
    """address alias access status class https process bus sms css dns ls news business canvas basis analysis
    progress redis kubernetes aws always previous various series campus bonus focus""".split()  # noqa: SIM905 - to be read
)


def lexicon(text: str) -> frozenset[str]:
    """Return a set of words."""
    return frozenset(text.split())


@lru_cache(maxsize=65_536)
def words_of(name: str) -> tuple[str, ...]:
    """Return a name as words: `parentFolderIds` as `parent folder id`, lower case, in the singular."""
    return tuple(singular(part.lower()) for part in _PARTS.findall(name))


def clean(text: object) -> str:
    """Return a description as far as it is read: one case, no hidden characters, single blanks."""
    if not isinstance(text, str):
        return ""
    visible = text[:LONGEST]
    if not visible.isascii():
        visible = "".join(
            c if c.isascii() or unicodedata.category(c) not in ("Cf", "Co", "Cn") else " " for c in visible
        )
    return " ".join(visible.lower().split())


def is_english(text: str) -> bool:
    """Return whether a text is in Latin letters, as far as it is in letters: rules know only English words."""
    letters = [character for character in text if character.isalpha()]
    return sum(character.isascii() for character in letters) >= _LATIN * len(letters)


def words_in(text: str) -> list[str]:
    """Return the words of a cleaned text, in the singular."""
    return [singular(word) for word in _WORD.findall(text)]


def singular(word: str) -> str:
    """Return a noun in the singular; good enough to look it up."""
    if word == "ids":
        return "id"
    if word in _KEEP_S or len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    return word[:-1]


def is_named_by_id(says: str) -> bool:
    """Return whether a description says that something is named by its id or name, and so is kept by the server."""
    return _BY_ID.search(says[:120]) is not None


def first_sentence(text: str) -> str:
    """Return what a description begins with: the tool in a nutshell."""
    return re.split(r"(?<=[.!?])\s|\n|\s[-*]\s|args:|parameters:|returns:", text, maxsplit=1)[0]
