"""The words of constitutions: what people call an action, and what they call the things it is done to."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from ironcurtain.compiler.annotate.text import lexicon

READ: Final = frozenset({"read"})
WRITE: Final = frozenset({"create", "update"})
EVERY: Final = frozenset({"read", "create", "update", "delete", "move", "send", "execute", "pay", "share"})


@dataclass(frozen=True, slots=True)
class Act:
    """An action: what it comes to, and the words a tool must have in its name where it is a particular one."""

    verb: str
    effects: frozenset[str]
    words: frozenset[str] = frozenset()
    """Empty: any tool with these effects."""
    thing: str = ""
    """What it is done to where nothing is said: posting is posting a message."""


_NEVER_DOUBLED: Final = lexicon("edit visit enter open query answer order copy alter gather")
_DOUBLED: Final = lexicon("commit submit permit transfer refer")
_LONG: Final = 6  # letters from which on no consonant is doubled


def _sections(name: str) -> dict[str, list[str]]:
    """The lines of a file of words, by the heading in brackets that they stand under."""
    found: dict[str, list[str]] = {}
    for line in (files(__package__) / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            found[line[1:-1]] = lines = []
        elif line and not line.startswith("#"):
            lines.append(line)
    return found


def _entries(lines: list[str]) -> dict[str, list[str]]:
    return {name: words.split() for name, _, words in (line.partition(": ") for line in lines)}


_NOUNS: Final = _sections("nouns.txt")
_IRREGULAR: Final = _entries(_NOUNS["irregular"])


def _forms(verb: str) -> dict[str, str]:
    """The forms of a verb, each with which it is: `base`, `s`, `ing`, `ed`. Of a phrase the first word changes."""
    first, *rest = verb.split("_")
    stem = first.removesuffix("e") if not first.endswith("ee") else first
    short = (
        len(first) < _LONG and first[-1] in "bdgmnprt" and first[-2] in "aeiou" and first[-3:-2] not in tuple("aeiou")
    )
    if first in _DOUBLED or (short and first not in _NEVER_DOUBLED):
        stem = first + first[-1]
    on_y = first.endswith("y") and first[-2] not in "aeiou"
    plural = first[:-1] + "ies" if on_y else first + ("es" if first.endswith(("s", "x", "z", "ch", "sh")) else "s")
    forms = {first: "base", plural: "s", f"{stem}ing": "ing"}
    for form in _IRREGULAR.get(first, [first[:-1] + "ied" if on_y else f"{stem}ed"]):
        forms.setdefault(form, "ed")
    return {"_".join((form, *rest)): kind for form, kind in forms.items()}


def _acts() -> dict[str, tuple[Act, str]]:
    found: dict[str, tuple[Act, str]] = {}
    for heading, lines in _sections("acts.txt").items():
        effects, words, thing = (part.strip() for part in heading.split("|"))
        for verb in " ".join(lines).split():
            act = Act(verb, EVERY if effects == "*" else lexicon(effects), lexicon(words), thing)
            for form, kind in _forms(verb).items():
                found.setdefault(form, (act, kind))
    return found


ACTS: Final = _acts()
"""Every form of every verb, phrases with underscores."""
NOUNS_OF_ACTS: Final = {noun: ACTS[verb][0] for verb, nouns in _entries(_NOUNS["acts"]).items() for noun in nouns}
"""Nouns that speak of an action: `no purchases`."""
_THINGS: Final = _entries(_NOUNS["things"])
THINGS: Final = {
    word: frozenset(thing for thing, others in _THINGS.items() if word in others)
    for words in _THINGS.values()
    for word in words
}
"""What a word may stand for; a word may stand for several."""
HOLDS: Final = {
    "calendar": lexicon("event"),
    "channel": lexicon("message reaction"),
    "database": lexicon("table row schema query"),
    "table": lexicon("row schema"),
    "bucket": lexicon("object"),
    "repository": lexicon("issue pull_request comment branch commit"),
    "email": lexicon("draft"),
    "file": lexicon("directory"),
}
"""Containers, and what is done to them by doing it to what they hold."""
RELATED: Final = {
    "message": lexicon("email comment"),
    "email": lexicon("message"),
    "note": lexicon("file"),
    "row": lexicon("table"),
    "object": lexicon("file"),
}
"""What a word may also mean, where no tool is about the thing itself."""
FILES: Final = lexicon("file image note workbook csv pdf")
"""Things that may be files on a disk."""
KINDS_OF_FILE: Final = {
    "workbook": ("xlsx", "xls", "xlsm", "xlsb", "ods"),
    "csv": ("csv", "tsv"),
    "pdf": ("pdf",),
    "image": ("png", "jpg", "jpeg", "gif", "webp", "svg", "heic", "tiff", "bmp"),
}
ANYTHING: Final = lexicon(
    """anything everything nothing something thing stuff data information content it them one ones all none any item
    operation action whatever else these those this that"""
)
PEOPLE: Final = lexicon(
    """person people somebody someone anybody anyone recipient contact colleague friend client customer stranger
        everybody everyone nobody address attendee member participant team family staff guest human party"""
)
OWNERS: Final = lexicon("office work business personal private family own shop school company team home household")
"""Words that say whose it is; they narrow nothing where there is only one."""
EVERYBODY: Final = lexicon(
    "person people somebody someone anybody anyone recipient everybody everyone nobody address party"
)
"""People whoever they are."""
HARMLESS: Final = lexicon(
    """my our your its his her their the a an this that these those all any every each own new existing whole
        entire latest recent current regular normal usual ordinary both two three other single individual one
        already also just simply even still ever please freely always too as well so then there here itself directly
        general generally and or either nor of for with by at in on to from into onto within
        inside under about than it its they them he she i me we us you be is are was were been being am do does did
        has have had will would shall should could may might must can not no only but if when where who which what
        whose how while because since though although however therefore anything everything nothing something thing
        things stuff anyone anybody someone somebody everyone everybody person people agent assistant bot ai model
        user owner tool tools work working job jobs purpose way ways time times case cases place places kind kinds
        sort sorts type types up out off down over through across between want like wants likes need needs fine ok
        okay happy good welcome free able allowed permitted allow permit let lets make makes made sure keep keeps
        thank thanks part parts s re yes now such more most much many few lot lots anywhere everywhere somewhere
        altogether along hold holds contain contains held whereas themselves lie lies sit sits stand stands live lives
        happen happens happened done alone instead several together confidential private secret important mean means
        going goes went get gets nor yourself yours mine mentioned above below first before after again explicitly
        expressly prior matter permanently irreversibly irrevocably forever designated"""
)
"""Words that narrow nothing."""
