"""What a place in a statement comes to for one tool: conditions on the arguments that say where something is."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.catalogue import normal
from ironcurtain.compiler.naming import Reference
from ironcurtain.compiler.parts import PRESENT, Ground, Part
from ironcurtain.compiler.patterns import spellings
from ironcurtain.compiler.picking import PATHS_OF
from ironcurtain.compiler.problems import Problem
from ironcurtain.compiler.repositories import REPOSITORY_WORDS, pair_of, repositories
from ironcurtain.model.roles import Category, Role, category

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.compiler.catalogue import Argument, Tool
    from ironcurtain.compiler.naming import Meant
    from ironcurtain.compiler.values import Values
    from ironcurtain.language.statement import Place

UNCONCERNED: Final = Ground(notes=("not concerned",))
"""What a limit comes to for a tool that it does not speak of."""
_CONTAINERS: Final = frozenset(
    """channel calendar repository repo project board list folder database table bucket workspace space team group
    notebook section label collection dataset index namespace queue topic room account site page parent deck vault
    organization owner guild""".split()  # noqa: SIM905 - to be read
)
"""What an argument is called that says where something is done, where its role does not say so."""


@dataclass(frozen=True, slots=True)
class Placing:
    """Grounds a place: directories, hosts, channels, repositories and whatever else holds things."""

    values: Values
    tools: Sequence[Tool]
    acts: frozenset[str]
    """What the statement is about; none for `use` and `do anything with`."""
    beside: tuple[str, ...] = ()
    """Directories where a file may be made besides those that are named."""

    def ground(self, limit: Place, tool: Tool, *, certain: bool) -> Ground | None:
        """Return what a place comes to for a tool, or nothing if the tool has no argument for it."""
        meant = self.values.meant(limit.names, empty_is_error=not certain or limit.outside)
        for name in limit.names:
            kept = self.values.setup.list_of(name)
            if kept is not None and kept[1].kind == "email":
                raise Problem(
                    f'"{name.text}" is a list of people, and no place', f'write to "{name.text}", or name the place'
                )
        parts: list[Part] = []
        covers, names = set[str](), set[str]()
        if meant.paths:
            roles = self._path_roles(tool, certain=certain)
            if roles:
                besides = self.beside if roles == {"write-path"} else ()
                besides = (self.values.setup.known.sandbox,) if limit.outside else besides
                places = (*meant.paths, *besides)
                parts.append(Part(paths=(roles, tuple(dict.fromkeys(places)))))
                covers |= tool.of(Category.PATH) if certain else roles
        if meant.hosts:
            roles = tool.of(Category.URL) or tool.of(Category.PARTY)
            if roles:
                parts.append(Part(domains=(roles, meant.hosts)))
                covers |= roles
        named = any(a.has(Category.PLACE) and not a.has(Category.URL, Category.PARTY) for a in tool.arguments.values())
        values = (*meant.values, *meant.people, *(meant.hosts if named or not parts else ()))
        others: list[Part] = []
        if values:
            exact = certain != limit.outside  # what permits, and what lifts a prohibition, must be sure
            leaves, own = self._at_places(tool, values, meant, certain=exact or certain)
            if not exact:  # what the owner wrote is a spelling too
                _, own = self._at_places(tool, (*values, *self.values.written(limit.names)), meant, certain=False)
            if exact and own and certain:
                others = self._other_places(tool, leaves)
            elif exact and own:
                own = self._everywhere(tool, leaves, values, own)
            if exact and own:
                parts = [one.with_(two) for one in parts or [Part()] for two in own]  # every kind in its own place
            else:
                parts += own
            covers |= {role for leaf in leaves for role in tool.arguments[leaf].roles}
            names |= set(leaves)
        if not parts:
            return None if certain or self._might_reach(tool, meant) else UNCONCERNED
        found = _signed(parts, covers, names, outside=limit.outside, certain=certain)
        return replace(found, unless=(*found.unless, *others))

    def _everywhere(self, tool: Tool, leaves: Sequence[str], values: Sequence[str], own: list[Part]) -> list[Part]:
        """What lifts a prohibition outside a place: every argument that says where is there, not only one."""
        roles = frozenset(role for leaf in leaves for role in place_roles(tool.arguments[leaf]))
        shared = [a for leaf, a in tool.arguments.items() if leaf not in leaves and place_roles(a) & roles]
        return [self.values.among(roles, values)] if shared and roles and not pair_of(tool) else own

    def _other_places(self, tool: Tool, leaves: Sequence[str]) -> list[Part]:
        """The other arguments that say where: a permission for a place keeps them out.

        Raises a `Problem` where a call cannot do without one, so that it cannot be told where it ends.
        """
        roles = frozenset(role for leaf in leaves for role in place_roles(tool.arguments[leaf]))
        words = frozenset(word for leaf in leaves for word in tool.arguments[leaf].words) & REPOSITORY_WORDS
        found = []
        for leaf, argument in tool.arguments.items():
            same = bool(place_roles(argument) & roles) and "thread" not in argument.words
            if leaf in leaves or not (same or set(argument.words) & words):
                continue
            if argument.required:
                shown = f"where `{leaves[0]}` is ... and `{leaf}` is ..."
                raise Problem(f"{tool.key} also needs `{leaf}`, which says where", f"write may use {tool.key} {shown}")
            found.append(Part(values={f"arg:{leaf}": PRESENT}))
        return found

    def _might_reach(self, tool: Tool, meant: Meant) -> bool:
        """Whether a tool without an argument for a place might work there all the same."""
        if tool.in_doubt:
            return True
        if not (meant.values or meant.people) or not tool.side_effects:
            return False  # files and hosts are reached through arguments alone
        return any(
            each.server == tool.server and any(a.has(Category.PLACE) for a in each.arguments.values())
            for each in self.tools
        )

    def _path_roles(self, tool: Tool, *, certain: bool) -> frozenset[str]:
        own = tool.of(Category.PATH)
        if certain or not self.acts:
            return own
        meant = frozenset(role for act in self.acts for role in PATHS_OF.get(act, own))
        return own & meant or (own if not meant else frozenset())

    def _at_places(
        self, tool: Tool, values: Sequence[str], meant: Meant, *, certain: bool
    ) -> tuple[list[str], list[Part]]:
        """The arguments that say where, and for each way of saying it what must hold."""
        pair = pair_of(tool)
        whole = [value for value in values if value.count("/") == 1 and not isinstance(value, Reference)]
        if pair and whole:
            return list(pair), list(repositories(pair, whole, values, certain=certain))
        if certain and any("*" in value for value in values):
            raise Problem(
                "a star stands for hosts and tools only", "name the places, or write where `argument` matches /.../"
            )
        leaves = self._place_leaves(tool, values, meant, certain=certain)
        if certain and len(leaves) > 1:  # one and the same argument at several depths: all values of its role
            roles = frozenset.intersection(*(place_roles(tool.arguments[leaf]) for leaf in leaves))
            return leaves, [self.values.among(roles, values)]
        if certain:  # of a host that is not public a permission must say that it is one of these
            found = [
                (tool.arguments[leaf], self.values.is_one_of(tool, tool.arguments[leaf], values)) for leaf in leaves
            ]
            return leaves, [part.with_(self.values.machines(argument, values)) for argument, part in found]
        spelled = [
            spellings(value) for value in values if re.search(r"[./*]", value) and not isinstance(value, Reference)
        ]
        texts = [Part(values={f"arg:{leaf}": {"matches": f"(?i)({'|'.join(spelled)})"}}) for leaf in leaves if spelled]
        return leaves, [*(self.values.is_one_of(tool, tool.arguments[leaf], values) for leaf in leaves), *texts]

    def _place_leaves(self, tool: Tool, values: Sequence[str], meant: Meant, *, certain: bool) -> list[str]:
        """The arguments that say where; in a permission it must be plain which one is meant."""
        if not certain:
            holding = [a for a in tool.arguments.values() if a.has(Category.PLACE) or _contains(a)]
            return [a.leaf for a in holding if not a.choices or _folded(values) & _folded(a.choices)]
        candidates = [a for a in tool.arguments.values() if a.has(Category.PLACE)]
        named = [a for a in tool.arguments.values() if a.roles & {"account", "identifier"}]
        candidates = candidates or [a for a in named if not a.has(Category.PATH)]  # a path is no place by its name
        candidates = [a for a in candidates if not a.choices or any(v in a.choices for v in values)]
        chosen = [a for a in candidates if any(v in a.choices for v in values)]
        words = {normal(word) for name in meant.words for word in name.split()}
        spoken = [a for a in candidates if set(a.words) & words]
        if any(value.startswith("#") for value in values):
            chosen = chosen or [a for a in candidates if a.roles & {"channel"}]
        found = chosen or spoken or candidates
        if len(found) <= 1:
            return [a.leaf for a in found]
        for better in (
            [a for a in found if set(a.words) & _CONTAINERS],
            [a for a in found if a.roles & {"channel", "calendar", "repository"}],
            [a for a in found if a.required],
        ):
            if len(better) == 1:
                return [better[0].leaf]
        if len({a.name for a in found}) == 1 and frozenset.intersection(*map(place_roles, found)):
            return [a.leaf for a in found]
        shown = " or ".join(f"where `{a.leaf}` is {values[0]}" for a in found[:3])
        raise Problem(f"{tool.key} has several arguments for a place", f"write {shown}")


def _signed(parts: list[Part], covers: Iterable[str], names: Iterable[str], *, outside: bool, certain: bool) -> Ground:
    """A limit, or its opposite: outside of it. What is outside in a permission must still be given."""
    if not outside:
        return Ground(tuple(parts), covers=frozenset(covers), names=frozenset(names))
    given = Part(values={f"arg:{leaf}": PRESENT for leaf in names} if certain else {})
    return Ground((given,), tuple(parts), frozenset(covers), frozenset(names))


def _contains(argument: Argument) -> bool:
    """Whether an argument names what holds something: a table, a list, a notebook."""
    return bool(argument.roles & {"account", "identifier"}) and not _CONTAINERS.isdisjoint(argument.words)


def _folded(values: Iterable[object]) -> set[str]:
    return {str(value).lstrip("#@").lower() for value in values}


def place_roles(argument: Argument) -> frozenset[str]:
    """Return the roles of an argument that say where something is."""
    return frozenset(role for role in argument.roles if category(Role(role)) is Category.PLACE)
