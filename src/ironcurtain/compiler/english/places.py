"""Where and with whom: what the names in a clause are, for the arguments of a tool."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english.lexicon import ANYTHING, PEOPLE, THINGS
from ironcurtain.compiler.english.surface import Surface, terms_of
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ironcurtain.compiler.english.reading import Phrase
    from ironcurtain.compiler.english.words import Reference
    from ironcurtain.compiler.setup import Known

_WHOLE_SERVERS: Final = lexicon("database workspace account instance cluster organisation organization server app")
"""Sorts of things of which a server is often about just one."""
_SOURCES: Final = lexicon("from out")
_TARGETS: Final = lexicon("to into onto")
_KINDS_OF_PEOPLE: Final = lexicon("email address person people contact recipient phone user")
_KINDS_OF_HOSTS: Final = lexicon("domain host site url website")


_NAMING: Final = (Category.PLACE, Category.PARTY, Category.OTHER)


@dataclass(frozen=True, slots=True)
class Place:
    """One name of a clause, as what it is."""

    kind: str
    """`path`, `party`, `host`, `value`."""
    values: tuple[str, ...]
    thing: str = ""
    """Of a value: what sort of thing it names."""
    end: str = ""
    """`from` or `to`, where the clause says so."""
    outside: bool = False
    text: str = ""
    is_option: bool = False
    """It is one of the words that an argument may be: `set it to pending`."""
    guessed: bool = False
    """The sort of thing is what the clause is about, and may be another."""

    @property
    def terms(self) -> frozenset[str]:
        """What an argument for it may be called."""
        return terms_of(self.thing) if self.thing else frozenset()


def places_of(
    phrases: Iterable[Phrase], known: Known, things: Mapping[str, str], *, excepted: bool = False, sends: bool = False
) -> list[Place]:
    """All names in some phrases.

    `things` says what sort of thing a name was elsewhere in the text; where something `sends`, a list is who gets it.
    """
    phrases = list(phrases)
    found: list[Place] = []
    for number, phrase in enumerate(phrases):
        end = "from" if phrase.preposition in _SOURCES else "to" if phrase.preposition in _TARGETS else ""
        for reference in phrase.references:
            if reference.kind == "list" and not excepted and not sends and _is_thing(phrase, phrases[:number]):
                continue
            place = _place(reference, phrase, known, things)
            found.append(replace(place, end=end, outside=phrase.outside, text=reference.text))
    return found


def _is_thing(phrase: Phrase, before: Sequence[Phrase]) -> bool:
    """Whether a list is itself what is read or changed: `may read my contacts`."""
    return not phrase.preposition and not phrase.outside and not phrase.head and not before


def _place(reference: Reference, phrase: Phrase, known: Known, things: Mapping[str, str]) -> Place:
    known_thing = reference.thing if reference.thing in THINGS else ""
    thing = known_thing or _thing_of(phrase) or reference.thing or things.get(reference.text, "")
    if not thing and reference.kind == "literal" and all(value.count("/") == 1 for value in reference.values):
        thing = "repository"  # `acme/webshop`
    values, is_name = reference.values, reference.kind == "name" and bool(reference.values)
    if reference.kind == "list":
        return _list(reference, known)
    if reference.kind == "directory" or (is_name and all(value.startswith(("/", "~/")) for value in values)):
        return Place("path", tuple(known.absolute(value) for value in values))
    if reference.kind == "address" or (is_name and all("@" in value[1:] for value in values) and thing != "calendar"):
        return Place("party", values)
    return Place("host" if reference.kind == "domain" else "value", values, thing)


def _list(reference: Reference, known: Known) -> Place:
    kind = known.lists[reference.text].kind.lower() if reference.text in known.lists else ""
    values = (f"@{reference.text}",)
    if kind in _KINDS_OF_HOSTS:
        return Place("host", values)
    return Place("party", values) if kind in _KINDS_OF_PEOPLE or not kind else Place("value", values, kind)


def _thing_of(phrase: Phrase) -> str:
    for word in (phrase.head, *reversed(phrase.modifiers)):
        if word and word not in ("folder", "directory") and word not in ANYTHING and word not in PEOPLE:
            return word
    return ""


def leaves_for(tool: Surface, place: Place) -> tuple[str, ...]:
    """The arguments of a tool that such a name is given in."""
    if place.is_option:
        return tuple(leaf for leaf, options in tool.options.items() if options & set(place.values))
    if place.thing:
        leaves = tuple(leaf for leaf in tool.leaves_for(place.terms) if "command" not in tool.roles.get(leaf, ()))
        return tuple(leaf for leaf in leaves if leaf in tool.roles) or leaves
    naming = tool.of(*_NAMING) - {"command"} | {"identifier"}
    return tuple(leaf for leaf, roles in tool.roles.items() if roles & naming)


def is_whole_server(tool: Surface, place: Place, tools: Iterable[Surface]) -> bool:
    """Whether the name stands for the server as a whole: its tools have no argument to say which one."""
    if place.thing == "table" or not place.terms & (_WHOLE_SERVERS | THINGS.get("database", frozenset())):
        return False
    same = [each for each in tools if each.server == tool.server]
    about = any(place.terms & (each.nouns | each.says | each.brand) for each in same)
    return about and not any(leaves_for(each, place) for each in same)
