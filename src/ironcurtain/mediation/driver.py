"""Performs the effects of a pipeline. The one place that catches everything, and there it means no."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from ironcurtain.mediation.effects import (
    Answer,
    AskHuman,
    Executed,
    Forward,
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
from ironcurtain.mediation.pipeline import mediate
from ironcurtain.model.decision import Decision, Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.mediation.approvals import Approval
    from ironcurtain.mediation.effects import Effect, Prepared, Reserved
    from ironcurtain.mediation.latch import Latch
    from ironcurtain.model.call import ToolCall

_SEE: Final = "run: ironcurtain doctor"
_FAULT: Final = Decision(Outcome.DENY, Stage.INTERNAL, "internal_error", "IronCurtain itself failed", help=_SEE)
_NOT_YET: Final = Executed(Status.NOT_FORWARDED, code=_FAULT.code, reason=_FAULT.reason)
_UNKNOWN: Final = Executed(Status.UNKNOWN, code=_FAULT.code, reason=_FAULT.reason)


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
    steps, way = mediate(call, now), _Way()
    try:
        effect = next(steps)
        while True:
            way.enter(effect)
            effect = steps.send(way.leave(effect, await _perform(effect, ports)))
    except StopIteration as end:
        answer: Answer = end.value
        return answer
    except asyncio.CancelledError:
        # Calls are withdrawn through the ports, not by cancelling. Who cancels here is stopping the whole process.
        raise
    except Exception as error:  # noqa: BLE001 - a fault of ours: latch, record how far it came, and say so
        latch.fall(f"internal error: {error!r}")
        with contextlib.suppress(Exception):  # the fault may be in recording; whoever asked is answered all the same
            if way.intent is None:
                await ports.record_refusal(RecordRefusal(call, None, _FAULT))
            elif not way.closed:
                await ports.record_outcome(RecordOutcome(way.executed))
        return way.answer()


@dataclass(slots=True)
class _Way:
    """How far a call has come: what a fault of ours must not hide."""

    intent: Decision | None = None
    """What was decided, once that is on record."""
    executed: Executed = _NOT_YET
    closed: bool = False
    """Whether the outcome is on record."""

    def enter(self, effect: Effect) -> None:
        if isinstance(effect, Forward):
            self.executed = _UNKNOWN

    def leave(self, effect: Effect, answer: Any) -> Any:  # noqa: ANN401 - the pipeline knows what it asked for
        match effect:
            case RecordIntent() if answer is None:
                self.intent = effect.decision
            case Forward():
                self.executed = answer
            case RecordOutcome():
                self.closed = answer is None
        return answer

    def answer(self) -> Answer:
        if self.intent is None or self.executed.status is Status.NOT_FORWARDED:
            return Answer(_FAULT)
        return Answer(self.intent, self.executed if self.closed else _UNKNOWN)


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


def _halted(reason: str) -> Decision:
    return Decision(Outcome.DENY, Stage.INTERNAL, "halted", f"everything is refused: {reason}", help=_SEE)
