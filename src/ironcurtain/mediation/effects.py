"""What the pipeline asks of the world, and what the world may answer.

effect              answers
Resolve             Prepared, or a Decision that refuses
ReserveBudget       Reserved, or a Decision that refuses
ReleaseBudget       nothing
AskHuman            Approval, or a Decision that refuses
RecordIntent        nothing, or Unwritten
Forward             Executed
RecordOutcome       nothing, or Unwritten
RecordRefusal       nothing, or Unwritten
SettleBudget        nothing
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ironcurtain.engine.policy import Facts, Policy
    from ironcurtain.mediation.approvals import Approval
    from ironcurtain.model.call import CanonicalCall, Json, ToolCall
    from ironcurtain.model.decision import Decision, Verdict


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that has been validated and resolved, with the policy to judge it by."""

    call: CanonicalCall
    policy: Policy
    facts: Facts
    policy_digest: str


@dataclass(frozen=True, slots=True)
class Reserved:
    """Room in the budget, and a reason to stop and ask, if there is one."""

    token: int
    pause: Decision | None = None


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A record could not be made durable."""

    cause: str


class Status(Enum):
    """How an execution ended, as far as we can know."""

    SUCCESS = "success"
    ERROR = "error"
    """The server says that it failed."""
    NOT_FORWARDED = "not-forwarded"
    """Nothing was sent."""
    UNKNOWN = "unknown"
    """It was sent, and no answer that we can use came back."""


@dataclass(frozen=True, slots=True)
class Executed:
    """What came of forwarding. `result` and `error` are the server's own words, and its claim."""

    status: Status
    result: dict[str, Json] | None = None
    error: dict[str, Json] | None = None
    code: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Resolve:
    """(1) and (2): validate against the pinned schema, resolve every name."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ReserveBudget:
    """(8)."""

    prepared: Prepared


@dataclass(frozen=True, slots=True)
class ReleaseBudget:
    """The call will not be made after all."""

    token: int


@dataclass(frozen=True, slots=True)
class AskHuman:
    """(9)."""

    prepared: Prepared
    digest: str
    decision: Decision
    asking: frozenset[Verdict] = frozenset()
    """Everything in the policy that asks, not only what decided."""


@dataclass(frozen=True, slots=True)
class RecordIntent:
    """(10)."""

    prepared: Prepared
    digest: str
    decision: Decision
    approval: Approval | None


@dataclass(frozen=True, slots=True)
class Forward:
    """(11): exactly this call."""

    call: CanonicalCall


@dataclass(frozen=True, slots=True)
class RecordOutcome:
    """(12)."""

    executed: Executed


@dataclass(frozen=True, slots=True)
class RecordRefusal:
    """Instead of (10) to (12)."""

    call: ToolCall
    prepared: Prepared | None
    decision: Decision


@dataclass(frozen=True, slots=True)
class SettleBudget:
    """The reservation becomes what was really used."""

    token: int
    executed: Executed


Effect: TypeAlias = (
    Resolve
    | ReserveBudget
    | ReleaseBudget
    | AskHuman
    | RecordIntent
    | Forward
    | RecordOutcome
    | RecordRefusal
    | SettleBudget
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the agent gets: the server's result, or a decision that explains why there is none."""

    decision: Decision
    executed: Executed | None = None
