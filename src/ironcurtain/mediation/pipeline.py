"""The twelve steps of a call, as a conversation.

(1) validate and (2) resolve      Resolve
(3) to (6) decide                 judge: pure, here
(7) assess                        a rule's question that nobody answered escalates in (6); answers come with `assess/`
(8) budget                        ReserveBudget; a loop pauses
(9) escalate                      AskHuman, then everything from (1) again
(10) intent                       RecordIntent, then (1) to (6) once more: what was decided must still be what is meant
(11) forward                      Forward
(12) outcome                      RecordOutcome, SettleBudget

INVARIANT: `Forward` is yielded in one place, after a `RecordIntent` that was written, for the very call that was
decided. Every other way out of here is a refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.engine.evaluate import escalations
from ironcurtain.mediation.approvals import digest_of
from ironcurtain.mediation.decide import judge
from ironcurtain.mediation.effects import (
    Answer,
    AskHuman,
    Executed,
    Forward,
    Prepared,
    RecordIntent,
    RecordOutcome,
    RecordRefusal,
    ReleaseBudget,
    ReserveBudget,
    Resolve,
    SettleBudget,
    Status,
    Unwritten,
)
from ironcurtain.model.decision import Decision, Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from ironcurtain.mediation.approvals import Approval
    from ironcurtain.mediation.effects import Effect
    from ironcurtain.model.call import ToolCall
    from ironcurtain.model.decision import Verdict

    Steps = Generator[Effect, Any, Answer]

MOST_QUESTIONS: Final = 3  # a call that means something else each time a person has approved it is not asked again


def mediate(call: ToolCall, now: Callable[[], float]) -> Steps:
    """Carry one call through the steps. `now` is the machine's clock."""
    approval: Approval | None = None
    for _ in range(MOST_QUESTIONS + 1):
        prepared = yield Resolve(call)  # (1) (2)
        if isinstance(prepared, Decision):
            return (yield from _refuse(call, None, prepared))
        decision = judge(prepared)  # (3) to (6)
        if decision.outcome is Outcome.DENY:
            return (yield from _refuse(call, prepared, decision))
        reserved = yield ReserveBudget(prepared)  # (8)
        if isinstance(reserved, Decision):
            return (yield from _refuse(call, prepared, reserved))
        digest = digest_of(prepared.call)
        question, asking = _question(decision, reserved.pause), _asking(prepared, decision)
        if question is None or (approval and approval.redeem(digest, prepared.policy_digest, asking, now())):
            return (yield from _forward(call, _Decided(prepared, digest, decision, approval, asking), reserved.token))
        answer = yield AskHuman(prepared, digest, question, asking)  # (9)
        yield ReleaseBudget(reserved.token)
        if isinstance(answer, Decision):
            return (yield from _refuse(call, prepared, answer))
        approval = answer
    return (yield from _refuse(call, prepared, _UNSTABLE))


def _question(decision: Decision, pause: Decision | None) -> Decision | None:
    """What a person has to answer: a loop, an escalation, or both in one."""
    if decision.outcome is not Outcome.ESCALATE:
        return pause
    return replace(pause, reason=f"{pause.reason}; and {decision.reason}") if pause else decision


def _asking(prepared: Prepared, decision: Decision) -> frozenset[Verdict]:
    """All reasons to ask."""
    if decision.outcome is not Outcome.ESCALATE:
        return frozenset()
    return frozenset(escalations(prepared.call, prepared.policy, prepared.facts))


@dataclass(frozen=True, slots=True)
class _Decided:
    """What will be forwarded, and by whose leave."""

    prepared: Prepared
    digest: str
    decision: Decision
    approval: Approval | None
    asking: frozenset[Verdict]


def _forward(call: ToolCall, decided: _Decided, token: int) -> Steps:
    prepared, decision = decided.prepared, decided.decision
    written = yield RecordIntent(prepared, decided.digest, decision, decided.approval)  # (10)
    if isinstance(written, Unwritten):
        yield ReleaseBudget(token)
        return Answer(_unrecorded(written))
    again = yield Resolve(call)
    if _still(decided, again):
        executed = yield Forward(prepared.call)  # (11)
    else:
        why = again if isinstance(again, Decision) else _CHANGED
        executed = Executed(Status.NOT_FORWARDED, code=why.code, reason=why.reason)
    written = yield RecordOutcome(executed)  # (12)
    yield SettleBudget(token, executed)
    if isinstance(written, Unwritten):
        return Answer(_unrecorded(written))
    if executed.status is Status.NOT_FORWARDED:
        return Answer(Decision(Outcome.DENY, Stage.FORWARD, executed.code, executed.reason))
    return Answer(decision, executed)


def _still(decided: _Decided, again: Prepared | Decision) -> bool:
    """Whether the call still means what was decided, under the same policy, with no new reason to ask or refuse."""
    if isinstance(again, Decision) or again.policy_digest != decided.prepared.policy_digest:
        return False
    if digest_of(again.call) != decided.digest:
        return False
    decision = judge(again)
    return decision.outcome <= decided.decision.outcome and _asking(again, decision) <= decided.asking


def _refuse(call: ToolCall, prepared: Prepared | None, decision: Decision) -> Steps:
    written = yield RecordRefusal(call, prepared, decision)
    return Answer(_unrecorded(written) if isinstance(written, Unwritten) else decision)


def _unrecorded(written: Unwritten) -> Decision:
    help_ = "nothing is forwarded until it can be recorded; run: ironcurtain doctor"
    return Decision(Outcome.DENY, Stage.AUDIT, "audit_unwritable", written.cause, help=help_)


_UNSTABLE: Final = Decision(
    Outcome.DENY, Stage.ESCALATE, "call_unstable", "what the call means changed each time a person had approved it"
)
_CHANGED: Final = Decision(
    Outcome.DENY, Stage.FORWARD, "call_changed", "what the call means changed between the decision and the forward"
)
