"""What the names of a statement are compared as: values of the set-up, its lists by reference, and hosts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.bounds import typed
from ironcurtain.compiler.naming import Reference
from ironcurtain.compiler.parts import Part
from ironcurtain.compiler.patterns import below_domain, escaped
from ironcurtain.compiler.problems import Problem
from ironcurtain.engine.pattern import MAX_SOURCE
from ironcurtain.errors import Refusal
from ironcurtain.language.statement import Name
from ironcurtain.model.resolved import Opaque
from ironcurtain.model.roles import Category
from ironcurtain.resolve.hosts import resolve_host
from ironcurtain.resolve.parties import resolve_parties
from ironcurtain.resolve.urls import looks_like_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.compiler.catalogue import Argument, Tool
    from ironcurtain.compiler.naming import Meant, Setup

_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
"""What may be the name or the address of a machine."""


@dataclass(frozen=True, slots=True)
class Values:
    """Looks up what the names in a statement are compared as."""

    setup: Setup

    def meant(self, names: Sequence[Name], *, empty_is_error: bool) -> Meant:
        """Return what names stand for in the set-up; raise a `Problem` for an empty list if that is an error."""
        meant = self.setup.meant(names)
        if empty_is_error and meant.empty_lists:
            raise Problem(f"the list {meant.empty_lists[0]} is empty, so nothing would hold", "fill it first")
        return meant

    def members(self, value: str) -> Sequence[str]:
        """Return the values of a list, or the value itself if it names no list."""
        return self.setup.known.lists[value[1:]].values if isinstance(value, Reference) else (value,)

    def in_rules(self, entry: str) -> Sequence[str]:
        """Return what an entry of a list in a rule stands for: the members of `@contacts` unless they may change."""
        found = self.setup.known.lists.get(entry[1:]) if entry.startswith("@") else None
        return (entry,) if found is None or found.dynamic else found.values

    def written(self, names: Iterable[Name]) -> tuple[str, ...]:
        """Return the names of the set-up as they are written here and there, for what compares loosely."""
        keys = [(name.text, key) for name in names if (key := self.setup.name_of(name.text)) is not None]
        return tuple(dict.fromkeys(text.lstrip("@") for pair in keys for text in pair))  # `@` would be a list

    def spelled(self, text: str, argument: Argument) -> Sequence[str]:
        """Return a value as it is sent: a name of the set-up for an argument that takes names stands for its values."""
        if argument.has(Category.PATH) and (path := self.setup.directory_of(Name(text))) is not None:
            return (path,)
        key = self.setup.name_of(text)
        is_choice = text.lower() in {str(choice).lower() for choice in argument.choices}
        return (text,) if is_choice or key is None else self.setup.known.names[key]

    def located(self, name: Name, *, certain: bool) -> Sequence[str]:
        """Return the directories, here or elsewhere, that a name stands for; what tightens takes every spelling."""
        key, home = self.setup.name_of(name.text), self.setup.known.home
        found = self.setup.directory_of(name)
        places = self.setup.known.names[key] if key is not None else (name.text if found is None else found,)
        if certain:
            return places
        full = [self.setup.known.absolute(place) for place in places]
        return list(dict.fromkeys([*places, *full, *("~" + p.removeprefix(home) for p in full if p.startswith(home))]))

    def among(self, roles: Iterable[str], values: Sequence[str]) -> Part:
        """Return that the values of some roles are among these.

        In a list of a rule, an `@` before a name would be another list.
        """
        roles = frozenset(roles)
        if not any(value.startswith("@") and not isinstance(value, Reference) for value in values):
            return Part(lists=((roles, tuple(values)),))
        every = dict.fromkeys(each for value in values for each in self.members(value))
        return Part(values={f"role:{'+'.join(sorted(roles))}": {"in": sorted(every)}})

    def among_or_at(self, roles: Iterable[str], people: Sequence[str], hosts: Sequence[str]) -> Part | None:
        """Return that the values of some roles are people or anybody at hosts, for what must be certain of all.

        Two conditions would each have to hold for everybody: neither does for a mail to one of each. Nothing is
        returned where there is but one kind, for lists that are filled without compiling, and for too many of them.
        """
        named = [value[1:] for value in (*people, *hosts) if isinstance(value, Reference)]
        if not people or not hosts or any(self.setup.known.lists[name].dynamic for name in named):
            return None
        parties = [resolve_parties(each) for value in people for each in self.members(value)]
        domains = [_domain(each) for value in hosts for each in self.members(value)]
        if any(isinstance(each, Opaque) for each in parties) or "" in domains:
            return None
        someone = [escaped(party.text) for each in parties if not isinstance(each, Opaque) for party in each]
        pattern = "|".join([*someone, *(f"[^@]+@{below_domain(each)}" for each in domains)])
        key = f"role:{'+'.join(sorted(roles))}"
        return Part(values={key: {"matches": pattern}}) if len(pattern) <= MAX_SOURCE else None

    def is_one_of(self, tool: Tool, argument: Argument, values: Sequence[str]) -> Part:
        """Return that an argument is one of these; lists of the set-up are asked by the argument's role."""
        leaf = argument.leaf
        if any(isinstance(value, Reference) for value in values):
            named = "identifier" in argument.roles  # what is in the list may be an id, which is no URL
            own = frozenset(
                role
                for role in argument.roles
                if not is_shared(tool, leaf, role) and not (named and role.endswith("-url"))
            )
            if own and argument.types <= {"string", "null", "array"} and argument.types:  # lists hold texts
                return self.among(own, values)
            values = [each for value in values for each in self.members(value)]
        return Part(values={f"arg:{leaf}": {"in": sorted(typed(argument, values), key=str)}})

    def machines(self, argument: Argument, values: Sequence[str]) -> Part:
        """Return that a host is one of these, which a permission must say of hosts that are not public."""
        roles = frozenset(role for role in argument.roles if role.endswith("-url"))
        every = [each for value in values for each in self.members(value)]
        if "identifier" in argument.roles and any(map(looks_like_name, every)):
            return Part()  # a name is no host
        return Part(domains=(roles, tuple(every))) if roles and all(map(_HOST.fullmatch, every)) else Part()


def _domain(host: str) -> str:
    """Return a domain as addresses have it, or the empty text if it cannot be one."""
    star = "*." if host.startswith("*.") else ""
    try:
        return star + resolve_host(host.removeprefix(star)).host
    except Refusal:
        return ""


def is_shared(tool: Tool, leaf: str, role: str) -> bool:
    """Return whether another argument of the tool has the same role."""
    return any(role in a.roles for name, a in tool.arguments.items() if name != leaf)
