"""Rules to be: what each asks, and where it stands among the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.compiler.english.clauses import Clause
    from ironcurtain.compiler.english.cues import Mood
    from ironcurtain.compiler.english.places import Place
    from ironcurtain.compiler.english.surface import Surface


class Rank(IntEnum):
    """The order of rules: what comes first decides."""

    FORBIDDEN_THERE = 0
    """In a place, of a thing, in such a number."""
    ASKED_OF_MOVES = 1
    """What asks about a move that is permitted."""
    MOVED = 2
    """Moving in a place deletes the source: ahead of a ban on deleting."""
    FORBIDDEN = 3
    ASKED = 4
    PERMITTED = 5
    PERMITTED_AS_A_WHOLE = 6
    """Tools without a role that is named, behind the guards of what is not permitted."""
    ASKED_IN_GENERAL = 7
    OWN = 8
    """The sandbox, ahead of what is closed."""
    CLOSED = 9
    """Everything else of that sort."""
    PERMITTED_IN_GENERAL = 10
    PERMITTED_IN_GENERAL_AS_A_WHOLE = 11
    LAST = 12


@dataclass(frozen=True, slots=True)
class Draft:
    """One rule to be."""

    then: Mood
    rank: Rank
    tools: tuple[Surface, ...] = ()
    roles: frozenset[str] = frozenset()
    paths: tuple[frozenset[str], str] | None = None
    domains: tuple[frozenset[str], tuple[str, ...]] | None = None
    lists: tuple[frozenset[str], tuple[str, ...]] | None = None
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    side_effects: bool | None = None
    question: str = ""
    origin: tuple[frozenset[str], tuple[str, ...]] | None = None
    """Roles, and the tools whose results may be in them."""
    elsewhere: bool = False
    exempt: tuple[Place, ...] = ()
    """What a closing rule leaves alone."""
    sure: bool = True
    """The arguments it looks at are those that say which one is meant."""

    def conditions(self) -> dict[str, Any]:
        """As the `if` of a rule."""
        found: dict[str, Any] = {}
        if self.tools:
            found["server"] = sorted({tool.server for tool in self.tools})
            found["tool"] = sorted({tool.name for tool in self.tools})
        if self.side_effects is not None:
            found["sideEffects"] = self.side_effects
        if self.roles:
            found["roles"] = sorted(self.roles)
        if self.paths:
            found["paths"] = {"roles": sorted(self.paths[0]), "within": self.paths[1]}
        if self.domains:
            found["domains"] = {"roles": sorted(self.domains[0]), "allowed": [*self.domains[1]]}
        if self.lists:
            found["lists"] = [{"roles": sorted(self.lists[0]), "allowed": [*self.lists[1]]}]
        if self.values:
            found["values"] = {key: dict(predicate) for key, predicate in sorted(self.values.items())}
        if self.origin:
            found["origin"] = {"roles": sorted(self.origin[0]), "from": [*self.origin[1]]}
        if self.question:
            found["assess"] = {"question": self.question}
        return found


@dataclass(slots=True)
class Understanding:
    """What a clause was taken to mean."""

    clause: Clause
    mood: Mood | None
    drafts: list[Draft] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ungrounded: bool = False
    """Nothing at hand answers to it."""
    limits: dict[str, Any] = field(default_factory=dict)
    servers: frozenset[str] = frozenset()
    """Those of the tools that are meant."""
