"""What the owner can set besides the policy. The defaults are what a person gets who sets nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.model.roles import Role


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a question waits, and whether it waits on after that."""

    seconds: float = 15 * 60
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Escalation:
    """How people are asked."""

    patience: Patience = field(default_factory=Patience)
    by_rule: Mapping[str, Patience] = field(default_factory=dict)
    trusted_interfaces: frozenset[str] = frozenset()
    """Agents whose client may put our questions to its user, because the owner trusts its dialogs."""
    grant_uses: int = 20
    """How often a wider grant can be used."""
    grant_seconds: float = 60 * 60

    def patience_for(self, rule: str | None) -> Patience:
        """How long a question that this rule asks waits."""
        return self.by_rule.get(rule or "", self.patience)


@dataclass(frozen=True, slots=True)
class NamedLimit:
    """A number that the owner cares about, summed over the values of a role."""

    role: Role
    most: int


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be used of each thing, in whole units."""

    calls: int
    calls_per_tool: int
    bytes_out: int
    seconds: int
    refusals: int
    named: Mapping[str, NamedLimit] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loops:
    """When a session that gets nowhere is stopped, and a person asked."""

    repeats: int = 10
    """Calls that are the same, or nearly, without a result that was not there before; 0 never asks."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for what a principal does in one go, and for what it does on one task."""

    session: Limits = Limits(50_000, 20_000, 1 << 30, 24 * 3600, 2_000)
    task: Limits = Limits(50_000, 20_000, 1 << 30, 24 * 3600, 2_000)
    renew_seconds: float = 24 * 3600
    """So long after it began, a session's budget begins anew; 0: only when the owner says so."""
    loops: Loops = field(default_factory=Loops)


ASKABLE: Final = {
    "elicitation": "elicitation/create",
    "sampling": "sampling/createMessage",
    "roots": "roots/list",
}
"""What a server may ask of a client, if the owner lets it, and the method it does so with."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it."""

    escalation: Escalation = field(default_factory=Escalation)
    budget: Budget = field(default_factory=Budget)
    may_ask: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By server, what it may ask of the client that calls it."""
