"""What an argument can be, one value for each cell, as the resolver reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.model.call import is_empty
from ironcurtain.model.resolved import Command, Opaque, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.model.call import Json, RoleValue, Stray
    from ironcurtain.model.resolved import Value

LEFT_OUT: Final = "left out"
SOURCES: Final = "(sources)"
"""Stands for an argument: what the agent has seen before the call."""
REFUSED: Final = 10_000  # weighs more than any number of values
UNREADABLE: Final = 200


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One thing an argument can be."""

    leaf: str
    says: str
    chosen: tuple[Json, ...]
    """The value, as an agent would send it; none if it is left out."""
    items: tuple[RoleValue, ...] = ()
    """The same with its roles, resolved."""
    shown: tuple[Value, ...] = ()
    """What a condition on the argument itself looks at."""
    strays: tuple[Stray, ...] = ()
    siblings: tuple[tuple[str, Json], ...] = ()
    """What the arguments that select its mode are; nothing for one that is left out."""

    place: str = ""
    """The directory that it lies in, if it stands for what is inside."""
    refused: bool = False
    """The schema has something against this very value, though perhaps not against others of the cell."""
    sources: frozenset[str] | None = None
    """The tools that were seen, if it stands for that."""
    within: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    """What conditions on the arguments that it is a member of see of it: its name, and itself."""

    @property
    def leaves(self) -> dict[str, tuple[Value, ...]]:
        """What conditions on arguments see of it, by their names."""
        return {self.leaf: self.shown, **self.within}

    @property
    def weight(self) -> int:
        """The less, the better an example."""
        own = len(self.chosen) + any(map(is_empty, self.chosen)) + (self.sources is not None)
        return own + REFUSED * self.refused + UNREADABLE * (not self.readable)

    @property
    def readable(self) -> bool:
        """Whether it is known what its value is."""
        return all(map(is_readable, self.shown))


def is_readable(value: Value) -> bool:
    """Return whether it is known what a value is."""
    return not isinstance(value, (Unknown, Opaque)) and not (isinstance(value, Command) and value.unreadable)
