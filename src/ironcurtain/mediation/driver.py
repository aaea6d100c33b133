"""Performs the effects of a pipeline. The one place that catches everything, and there it means no."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from ironcurtain.mediation.effects import (
    Answer,
    AskHuman,
    Forward,
    RecordIntent,
    RecordOutcome,
    RecordRefusal,
    ReleaseBudget,
    ReserveBudget,
    Resolve,
    SettleBudget,
    Unwritten,
)
from ironcurtain.mediation.pipeline import mediate
from ironcurtain.model.decision import Decision, Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.mediation.approvals import Approval
    from ironcurtain.mediation.effects import Effect, Executed, Prepared, Reserved
    from ironcurtain.mediation.latch import Latch
    from ironcurtain.model.call import ToolCall


class Ports(Protocol):
    """The world of one call. Each answers what `effects.py` says it may."""

    def resolve(self, effect: Resolve) -> Prepared | Decision: ...
    def reserve(self, effect: ReserveBudget) -> Reserved | Decision: ...
    def release(self, effect: ReleaseBudget) -> None: ...
    def settle(self, effect: SettleBudget) -> None: ...
    async def ask(self, effect: AskHuman) -> Approval | Decision: ...
    async def record_intent(self, effect: RecordIntent) -> Unwritten | None: ...
    async def forward(self, effect: Forward) -> Executed: ...
    async def record_outcome(self, effect: RecordOutcome) -> Unwritten | None: ...
    async def record_refusal(self, effect: RecordRefusal) -> Unwritten | None: ...


async def drive(call: ToolCall, ports: Ports, latch: Latch, now: Callable[[], float]) -> Answer:
    """Carry a call through the pipeline."""
    if latch.reason is not None:
        return Answer(_halted(latch.reason))
    steps = mediate(call, now)
    try:
        effect = next(steps)
        while True:
            effect = steps.send(await _perform(effect, ports))
    except StopIteration as end:
        answer: Answer = end.value
        return answer
    except asyncio.CancelledError:
        # Calls are withdrawn through the ports, not by cancelling. Who cancels here is stopping the whole process.
        raise
    except Exception as error:  # noqa: BLE001 - a fault of ours: deny, record, latch
        latch.fall(f"internal error: {error!r}")
        decision = Decision(
            Outcome.DENY, Stage.INTERNAL, "internal_error", "IronCurtain failed while deciding", help=_SEE
        )
        await ports.record_refusal(RecordRefusal(call, None, decision))
        return Answer(decision)


async def _perform(effect: Effect, ports: Ports) -> Any:  # noqa: ANN401 - the pipeline knows what it asked for
    match effect:
        case Resolve():
            return ports.resolve(effect)
        case ReserveBudget():
            return ports.reserve(effect)
        case ReleaseBudget():
            return ports.release(effect)
        case SettleBudget():
            return ports.settle(effect)
        case AskHuman():
            return await ports.ask(effect)
        case RecordIntent():
            return await ports.record_intent(effect)
        case Forward():
            return await ports.forward(effect)
        case RecordOutcome():
            return await ports.record_outcome(effect)
        case RecordRefusal():
            return await ports.record_refusal(effect)


_SEE = "run: ironcurtain doctor"


def _halted(reason: str) -> Decision:
    return Decision(Outcome.DENY, Stage.INTERNAL, "halted", f"everything is refused: {reason}", help=_SEE)
