"""`config.toml`: the access layers, and everything else that the owner can set."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.settings import KEYS, settings_from
from ironcurtain.engine.access import (
    ALIASES,
    GROUPS,
    ONLY_READS,
    PROFILES,
    Access,
    Group,
    Layer,
    Names,
    Patterns,
    plain,
    subagent_layer,
)
from ironcurtain.errors import ArtifactError, quote
from ironcurtain.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LAYER: Final = ("profile", "allow", "alsoAllow", "deny")
_GLOBAL: Final = ("byProvider", "subagents", "aliases", "groups")


@dataclass(frozen=True, slots=True)
class Config:
    """One configuration file."""

    access: Access = field(default_factory=Access)
    settings: Settings = field(default_factory=Settings)


def read_config(path: Path) -> Config:
    """Read a configuration file."""
    try:
        value = tomllib.loads(read_artifact(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ArtifactError("artifact_malformed", str(path), "", f"not TOML: {error}", "correct it") from None
    item = Item(value, str(path))
    return Config(access_from(item), settings_from(item.entries()))


def access_from(item: Item) -> Access:
    """The access layers of a configuration."""
    top = item.members((), ("tools", "agents", "groups", *KEYS))
    tools = top["tools"].members((), (*_LAYER, *_GLOBAL)) if "tools" in top else {}
    names = Names({**ALIASES, **_aliases(tools)})
    reader = _LayerReader(names, _groups(tools.get("groups")))
    groups, members = {}, {}
    for name, group in _entries(top, "groups").items():
        parts = group.members((), ("tools", "toolsByMember"))
        if "tools" in parts:
            groups[plain(name)] = reader.layer("group", parts["tools"])
        for member, layer in _entries(parts, "toolsByMember").items():
            members[plain(name), plain(member)] = reader.layer("group", layer)
    subagents = (
        reader.layer("subagent", tools["subagents"].members(("tools",))["tools"]) if "subagents" in tools else None
    )
    return Access(
        names=names,
        everyone=reader.layer("global", top["tools"], _GLOBAL) if "tools" in top else Layer("global"),
        providers={plain(key): reader.layer("provider", layer) for key, layer in _entries(tools, "byProvider").items()},
        agents={
            plain(name): reader.layer("agent", agent.members(("tools",))["tools"])
            for name, agent in _entries(top, "agents").items()
        },
        groups=groups,
        members=members,
        subagents=subagent_layer(names, subagents.deny, subagents.lists) if subagents else subagent_layer(names, ()),
    )


class _LayerReader:
    """Reads layers under one set of names and groups."""

    def __init__(self, names: Names, groups: Mapping[str, Group]) -> None:
        self._names = names
        self._groups = groups

    def layer(self, name: str, item: Item, besides: tuple[str, ...] = ()) -> Layer:
        members = item.members((), (*_LAYER, *besides))
        also = self._written(members["alsoAllow"]) if "alsoAllow" in members else []
        lists = []
        if "profile" in members:
            profile = PROFILES[members["profile"].word(PROFILES)]
            if profile is not None:
                lists.append(self._patterns([*profile, *also], members["profile"]))
        if "allow" in members:
            if members["allow"].value == []:
                members["allow"].fail(
                    "an empty list may mean nothing or everything",
                    'write deny = ["*"] to block everything, or leave allow out to narrow nothing',
                )
            lists.append(self._patterns([*self._written(members["allow"]), *also], members["allow"]))
        deny = [self._patterns(self._written(members["deny"]), members["deny"])] if "deny" in members else []
        return Layer(name, tuple(deny), tuple(lists))

    def _patterns(self, written: list[str], item: Item) -> Patterns:
        return Patterns.of(written, self._names, {**self._groups, ONLY_READS: Group(())}, item.place)

    def _written(self, item: Item) -> list[str]:
        return [name for element in item.elements() for name in _spelled(element, self._groups)]


def _aliases(tools: Mapping[str, Item]) -> dict[str, str]:
    found = {}
    for name, entry in _entries(tools, "aliases").items():
        if plain(name) in ALIASES:
            entry.fail(f"{quote(name)} is built in", "choose another name")
        if "/" in name:
            entry.fail("an alias is for a tool's name alone", "leave the server out")
        found[plain(name)] = plain(entry.text())
    return found


def _groups(item: Item | None) -> Mapping[str, Group]:
    """The built-in groups and the owner's own, which may be made of others written above them."""
    found = dict(GROUPS)
    for name, entry in item.entries().items() if item else ():
        full = plain(name) if plain(name).startswith("group:") else f"group:{plain(name)}"
        if full in found:
            entry.fail(f"{full} is {'built in' if full in GROUPS else 'there already'}", "choose another name")
        written = [pattern for element in entry.elements(least=1) for pattern in _spelled(element, found)]
        inner = [found[pattern] for pattern in written if pattern in found]
        own = [pattern for pattern in written if pattern not in found]
        found[full] = Group(
            (*own, *(name for group in inner for name in group.names)),
            frozenset(role for group in inner for role in group.roles),
        )
    return found


def _spelled(item: Item, groups: Mapping[str, Group]) -> list[str]:
    pattern = item.text().strip()
    if pattern.lower().startswith("group:"):
        if pattern.lower() not in groups:
            item.fail(f"there is no group {quote(pattern)}", f"known: {', '.join(sorted(groups))}")
        return [pattern.lower()]
    if "*" in pattern[:-1]:
        item.fail(f"a star may only stand at the end: {quote(pattern)}", "write a name, prefix* or *")
    return [pattern]


def _entries(members: Mapping[str, Item], key: str) -> Mapping[str, Item]:
    """The entries of a table, none of which may be the same name in another spelling."""
    entries = members[key].entries() if key in members else {}
    seen: dict[str, str] = {}
    for name, entry in entries.items():
        if not plain(name):
            entry.fail("a name is missing", "write one between the quotes")
        other = seen.setdefault(plain(name), name)
        if other != name:
            entry.fail(f"it is the same name as {quote(other)}", "keep one of the two")
    return entries
