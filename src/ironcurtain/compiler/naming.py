"""What the names in a statement stand for: directories, lists, people, hosts and values of the owner's set-up."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import singular
from ironcurtain.compiler.problems import Problem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.compiler.setup import Known, NamedList
    from ironcurtain.language.statement import Name

_AT: Final = "*@"  # before a host: everybody there
_ADDRESS: Final = re.compile(r"[^\s@/#:]+@[^\s@/]+\.[^\s@/]+")
"""An address of a person; with a colon it is an id, of a channel or a room."""
_HOST: Final = re.compile(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}", re.IGNORECASE)
_FOLDER: Final = re.compile(r"(?i)\s+(?:folder|directory)$")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_PEOPLE_KINDS: Final = frozenset({"", "email", "address", "person", "people", "contact", "recipient", "phone", "user"})
_HOST_KINDS: Final = frozenset({"domain", "host", "site", "url", "website"})


class Reference(str):
    """A list of the set-up among values, as rules write it: `@contacts`. A plain text with an `@` is a name."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Meant:
    """What some names stand for, by what they are compared with."""

    paths: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    """Addresses, and `@list` for lists of people."""
    hosts: tuple[str, ...] = ()
    """Host names, `*.` for those below one, and `@list` for lists of hosts."""
    values: tuple[str, ...] = ()
    """Ids, names of channels and the like, and `@list` for other lists."""
    empty_lists: tuple[str, ...] = ()
    """The lists among them that hold nothing."""
    words: tuple[str, ...] = ()
    """The names as they stand."""

    @property
    def kinds(self) -> int:
        """How many kinds there are."""
        return sum(map(bool, (self.paths, self.people, self.hosts, self.values)))


@dataclass(frozen=True, slots=True)
class Setup:
    """Looks names up in what the owner's set-up knows."""

    known: Known

    def meant(self, names: Iterable[Name]) -> Meant:
        """Return what names stand for; raise a `Problem` for a bare word that stands for nothing."""
        found = [self._one(name) for name in names]
        return Meant(
            tuple(dict.fromkeys(v for each in found for v in each.paths)),
            tuple(dict.fromkeys(v for each in found for v in each.people)),
            tuple(dict.fromkeys(v for each in found for v in each.hosts)),
            tuple(dict.fromkeys(v for each in found for v in each.values)),
            tuple(v for each in found for v in each.empty_lists),
            tuple(v for each in found for v in each.words),
        )

    def name_of(self, text: str) -> str | None:
        """Return the name of the set-up that a text stands for, as people write it; not a directory or a list."""
        if text in self.known.names and text not in self.known.directories and text not in self.known.lists:
            return text  # the name `Merchants` beside a list `merchants`
        if _exactly(text, (*self.known.directories, *self.known.lists)) is not None:
            return None
        exact = _exactly(text, self.known.names)
        return exact if exact is not None else _find(text, self.known.names)

    def directory_of(self, name: Name) -> str | None:
        """Return the path of the directory of the set-up that a name stands for."""
        key = _exactly(name.text, self.known.directories)
        if key is None and not _is_taken(name, (*self.known.lists, *self.known.names)):
            key = _find_directory(name.text, self.known.directories)
        return None if key is None else self.known.absolute(self.known.directories[key])

    def list_of(self, name: Name) -> tuple[str, NamedList] | None:
        """Return the list of the set-up that a name stands for."""
        key = _exactly(name.text, self.known.lists)
        if key is None and not _is_taken(name, (*self.known.directories, *self.known.names)):
            key = _find(name.text, self.known.lists)
        return (key, self.known.lists[key]) if key is not None else None

    def whole_hosts(self, names: Sequence[Name]) -> frozenset[str]:
        """Return the hosts at which names stand for everybody: `*@example.org`."""
        listed = [found[1].values for name in names if (found := self.list_of(name)) is not None]
        named = [self.known.names[key] for name in names if (key := self.name_of(name.text)) is not None]
        every = [value for values in (*listed, *named) for value in values]
        return frozenset(value.removeprefix(_AT) for value in every if value.startswith(_AT))

    def _one(self, name: Name) -> Meant:
        text, known = name.text, self.known
        words = (text,)
        for find in (_to_the_letter, _exactly, _find):
            tagged = text.startswith(("#", "@")) and find is _find  # `#family` is a channel, though `family` is a list
            look = _find_directory if find is _find else find
            if not tagged and (key := look(text, known.directories)) is not None:
                return Meant(paths=(known.absolute(known.directories[key]),), words=words)
            if not tagged and (key := find(text, known.lists)) is not None:
                return self._list(key, known.lists[key])
            if (key := find(text, known.names)) is not None:
                self._require_no_list(known.names[key])
                return _sorted_by_kind(known.names[key], text, self.known)
        self._require_no_list((text,))
        if name.quoted:
            return (
                _sorted_by_kind((text,), text, self.known)
                if text.startswith(("~/", "/"))
                else Meant(values=(text,), words=words)
            )
        if text.lower() == "sandbox":
            return Meant(paths=(known.sandbox,), words=words)
        plain = _sorted_by_kind((text,), text, self.known)
        if plain.hosts == (text.lower(),) and text.count(".") == 1:  # a site answers under both names
            return replace(plain, hosts=(*plain.hosts, f"www.{text.lower()}"))
        if plain.paths or plain.people or plain.hosts or _NUMBER.fullmatch(text) or text.startswith(("#", "@")):
            return plain
        if re.fullmatch(r"[\w.-]+/[\w.*-]+", text):  # owner/repository
            return plain
        every = [*known.directories, *known.lists, *known.names]
        raise Problem(
            f"{text} is no directory, list or name of the set-up",
            did_you_mean(text, every, f'if it is the value itself, quote it: "{text}"'),
            missing=text,
        )

    def _require_no_list(self, values: Sequence[str]) -> None:
        """Raise a `Problem` for a name that a rule could take for a list."""
        if taken := next((v for v in values if v.startswith("@") and v[1:] in self.known.lists), ""):
            raise Problem(f"{taken} is a name, and {taken[1:]} a list of the set-up", "call the list something else")

    def _list(self, key: str, entry: NamedList) -> Meant:
        kind, reference = singular(entry.kind.lower()), (Reference(f"@{key}"),)
        if any(value.startswith(_AT) for value in entry.values):
            return _sorted_by_kind(entry.values, key, self.known)
        empty = () if entry.values else (key,)
        if kind in _HOST_KINDS:
            return Meant(hosts=reference, empty_lists=empty, words=(key,))
        if kind in _PEOPLE_KINDS and all("@" in value or not entry.kind for value in entry.values):
            people = entry.kind or all(_ADDRESS.fullmatch(value) for value in entry.values)
            return Meant(
                people=reference if people else (), values=() if people else reference, empty_lists=empty, words=(key,)
            )
        if kind in _PEOPLE_KINDS:
            return Meant(people=reference, empty_lists=empty, words=(key,))
        return Meant(values=reference, empty_lists=empty, words=(key,))


def _sorted_by_kind(values: Sequence[str], word: str, known: Known) -> Meant:
    values = [value.removeprefix(_AT) for value in values]
    return Meant(
        tuple(known.absolute(v) for v in values if v.startswith(("/", "~/")) or v == "~"),
        tuple(v for v in values if _ADDRESS.fullmatch(v)),
        tuple(v for v in values if _HOST.fullmatch(v)),
        tuple(
            v for v in values if not v.startswith(("/", "~")) and not _ADDRESS.fullmatch(v) and not _HOST.fullmatch(v)
        ),
        words=(word,),
    )


def _fold(word: str) -> str:
    return re.sub(r"[\s_-]+", " ", word.strip().lstrip("#@").lower())


def _find_directory(word: str, names: Iterable[str]) -> str | None:
    """Return the directory that a word stands for, with or without the word for a directory: *the Clips folder*."""
    found = _find(word, names)
    if found is not None:
        return found
    plain = [name for name in names if _fold(_FOLDER.sub("", name)) == _fold(_FOLDER.sub("", word))]
    return plain[0] if len(plain) == 1 else None


def _is_taken(name: Name, others: Iterable[str]) -> bool:
    """Return whether a name is that of something else, or of a channel or a person by its sign."""
    return name.text.startswith(("#", "@")) or _exactly(name.text, others) is not None


def _to_the_letter(word: str, names: Iterable[str]) -> str | None:
    return word if word in names else None


def _exactly(word: str, names: Iterable[str]) -> str | None:
    """Return the name of the set-up that a word is to the letter, but for case."""
    return next((name for name in names if name.lower() == word.lower()), None)


def _find(word: str, names: Iterable[str]) -> str | None:
    """Return the name of the set-up that a word stands for, as people write it."""
    folded = _fold(word)
    return next((name for name in names if _fold(name) == folded), None)
