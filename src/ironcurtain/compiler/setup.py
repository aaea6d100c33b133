"""What the owner's set-up knows: directories, lists and names that a constitution may speak of."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.item import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.artifacts.item import Item

_KEYS: Final = frozenset({"owner", "home", "sandbox", "directories", "lists", "names", "pathBase"})


@dataclass(frozen=True, slots=True)
class NamedList:
    """A list that sentences refer to: `contacts`."""

    kind: str
    values: tuple[str, ...]
    dynamic: bool = False
    """Its values stand in `dynamic-lists.json`."""


@dataclass(frozen=True, slots=True)
class Known:
    """Where things are, and who is who."""

    home: str
    sandbox: str
    directories: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, NamedList] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    path_base: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""

    def absolute(self, path: str) -> str:
        """A path of the owner's as it will be compared."""
        return self.home + path[1:] if path == "~" or path.startswith("~/") else path


def read_setup(path: Path) -> Known:
    """From a file; see `formats.md`."""
    return known_from(parse(read_artifact(path), path.name))


def known_from(item: Item) -> Known:
    """From the members of an object."""
    members = item.members((), _KEYS)
    home = members["home"].text() if "home" in members else str(Path.home())
    return Known(
        home=home,
        sandbox=members["sandbox"].text() if "sandbox" in members else f"{home}/.ironcurtain/sandbox",
        directories=_texts(members.get("directories")),
        lists={name: _list(each) for name, each in _entries(members.get("lists"))},
        names={name: _one_or_more(each) for name, each in _entries(members.get("names"))},
        path_base=_texts(members.get("pathBase")),
        owner=members["owner"].text() if "owner" in members else "",
    )


def _entries(item: Item | None) -> list[tuple[str, Item]]:
    return [] if item is None else list(item.entries().items())


def _texts(item: Item | None) -> dict[str, str]:
    return {name: each.text() for name, each in _entries(item)}


def _one_or_more(item: Item) -> tuple[str, ...]:
    """The values that a name stands for; an id may be a number, and is compared as the argument has it."""
    elements = item.elements() if isinstance(item.value, list) else [item]
    return tuple(dict.fromkeys(str(e.value) if _is_id(e.value) else e.text() for e in elements))


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _list(item: Item) -> NamedList:
    if isinstance(item.value, list):
        return NamedList("", _one_or_more(item))
    members = item.members(("values",), ("kind",))
    return NamedList(members["kind"].text() if "kind" in members else "", _one_or_more(members["values"]))
