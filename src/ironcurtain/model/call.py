"""A call: as it was read, and as it was resolved."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.model.resolved import Value
    from ironcurtain.model.roles import Role

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
Arguments: TypeAlias = "dict[str, Json]"


def is_empty(value: Json) -> bool:
    """Whether there is nothing in it."""
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


@dataclass(frozen=True, slots=True)
class Principal:
    """On whose behalf a call is made. Fixed by the owner's configuration, never by what a client says of itself."""

    agent: str | None = None
    provider: str | None = None
    group: str | None = None
    member: str | None = None
    subagent: bool = False

    def fields(self) -> dict[str, str | bool | None]:
        """All of it, as a table."""
        return asdict(self)

    @property
    def root(self) -> Principal:
        """Whom it works for in the end: the name of a helper stands below that of whoever started it."""
        return replace(self, agent=(self.agent or "").partition("/")[0], subagent=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that is well-formed; nothing more is known of it."""

    server: str
    tool: str
    arguments: Arguments
    principal: Principal = field(default_factory=Principal)
    task: Json = None
    """A task policy that came with the call, not yet read."""
    sources: frozenset[str] | None = None
    """Whose results whoever calls has seen, each as `server/tool`; nothing if that is not known."""


@dataclass(frozen=True, slots=True)
class RoleValue:
    """One value of one role in a call, and the leaf it came from."""

    role: Role
    leaf: str
    value: Value


@dataclass(frozen=True, slots=True)
class Stray:
    """A string that looks like a path in an argument that is none: compared with what is protected, never rewritten."""

    leaf: str
    text: str
    places: tuple[str, ...]
    """Everywhere it may lead: read by its letters, and followed."""


@dataclass(frozen=True, slots=True)
class CanonicalCall:
    """What is decided, and what is forwarded: `arguments` holds exactly the canonical values."""

    server: str
    tool: str
    arguments: Arguments
    principal: Principal
    values: tuple[RoleValue, ...]
    leaves: Mapping[str, tuple[Value, ...]]
    """The values of each leaf, for conditions on an argument."""
    strays: tuple[Stray, ...]
    sources: frozenset[str] | None = None
