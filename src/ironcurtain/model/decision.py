"""Decisions. Never a bare yes or no: an outcome, where it was made, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ironcurtain.model.resolved import Value
    from ironcurtain.model.roles import Role


class Outcome(IntEnum):
    """Ordered by strictness, so that joining two outcomes is `max`."""

    ALLOW = 0
    ESCALATE = 1
    DENY = 2

    @property
    def word(self) -> str:
        """The outcome as artifacts and people write it."""
        return self.name.lower()


class Stage(Enum):
    """The steps of a call at which a decision can be made."""

    LOAD = "load"
    VALIDATE = "validate"
    RESOLVE = "resolve"
    INVARIANTS = "invariants"
    ACCESS = "access"
    TASK = "task"
    RULES = "rules"
    BUDGET = "budget"
    ESCALATE = "escalate"
    AUDIT = "audit"
    FORWARD = "forward"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one step says of one thing."""

    outcome: Outcome
    code: str
    reason: str
    rule: str | None = None
    help: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing a call asks permission for. `role` is nothing for the call itself."""

    role: Role | None
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to a call."""

    outcome: Outcome
    stage: Stage
    code: str
    reason: str
    rule: str | None = None
    help: str = ""
    roles: tuple[Role, ...] = ()
