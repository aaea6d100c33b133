"""The world of one call: what the driver reaches when it performs the pipeline's effects."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.audit.record import evaluation_fields, principal_fields, request_fields, result_fields
from ironcurtain.audit.store import AuditHaltedError
from ironcurtain.errors import Refusal
from ironcurtain.escalation.queue import Question
from ironcurtain.mediation.approvals import Approval
from ironcurtain.mediation.decide import prepare, refused
from ironcurtain.mediation.effects import Executed, Reserved, Status, Unwritten
from ironcurtain.model.decision import Decision, Outcome, Stage

if TYPE_CHECKING:
    from ironcurtain.daemon.runtime import Runtime
    from ironcurtain.gateway.inbound.session import CallContext
    from ironcurtain.mediation.effects import (
        AskHuman,
        Forward,
        Prepared,
        RecordIntent,
        RecordOutcome,
        RecordRefusal,
        ReleaseBudget,
        ReserveBudget,
        Resolve,
        SettleBudget,
    )
    from ironcurtain.model.call import Json

_TICK: Final = 5.0  # seconds between signs of life while a person is asked
_GOOD_FOR: Final = 60.0  # seconds from a person's yes to the forward


class CallPorts:
    """One call's way into the runtime."""

    def __init__(self, runtime: Runtime, call_id: str, session: str, context: CallContext) -> None:
        self._runtime = runtime
        self._id = call_id
        self._session = session
        self._context = context
        self._escalation: dict[str, Json] = {}
        self._began = 0.0

    def resolve(self, effect: Resolve) -> Prepared | Decision:
        """(1) and (2), under the policy that is in force now; nobody is asked about a server that is not there."""
        call, runtime = effect.call, self._runtime
        prepared = prepare(call, runtime.loaded, time.time(), runtime.catalogue.drifted)
        if isinstance(prepared, Decision) or call.server in runtime.servers:
            return prepared
        reason = f"the server {call.server} is not running here"
        return Decision(Outcome.DENY, Stage.FORWARD, "server_absent", reason, help="run: ironcurtain servers list")

    def reserve(self, effect: ReserveBudget) -> Reserved | Decision:
        """(8)."""
        return Reserved(0)

    def release(self, effect: ReleaseBudget) -> None:
        """The reservation is not needed."""

    def settle(self, effect: SettleBudget) -> None:
        """The reservation becomes what was used."""

    # --- (9) ---

    async def ask(self, effect: AskHuman) -> Approval | Decision:
        """Ask a person, and wait: for them, for the end of their time, or for the client to lose patience."""
        runtime = self._runtime
        limit = runtime.settings.ask_seconds
        question = Question(
            id=f"{self._id}-{len(self._escalation)}",
            session=self._session,
            effect=effect,
            asked_at=time.time(),
            expires=time.monotonic() + limit,
            answered=asyncio.get_running_loop().create_future(),
        )
        self._escalation = {"question": question.id, "code": effect.decision.code, "askedAt": _stamp(question.asked_at)}
        try:
            runtime.queue.put(question)
        except Refusal as refusal:
            return refused(Stage.ESCALATE, refusal)
        try:
            if unwritten := await self._record_question(effect, question):
                return Decision(Outcome.DENY, Stage.AUDIT, "audit_unwritable", unwritten.cause)
            return await self._wait(effect, question)
        finally:
            runtime.queue.drop(question)

    async def _record_question(self, effect: AskHuman, question: Question) -> Unwritten | None:
        prepared, runtime = effect.prepared, self._runtime
        call = prepared.call
        fields: dict[str, Json] = {
            "call": self._id,
            "session": self._session,
            "agent": principal_fields(call.principal),
            "request": request_fields(call.server, call.tool, call.arguments, runtime.redactor),
            "callDigest": effect.digest,
            "evaluation": evaluation_fields(effect.decision, runtime.redactor, _policy(prepared)),
            "escalation": {"question": question.id},
        }
        return await self._record("asked", fields)

    async def _wait(self, effect: AskHuman, question: Question) -> Approval | Decision:
        leaving: asyncio.Future[Any] = asyncio.ensure_future(self._context.withdrawn.wait())
        both: list[asyncio.Future[Any]] = [question.answered, leaving]
        tick = 0
        try:
            while (left := question.expires - time.monotonic()) > 0:
                self._sign_of_life(tick, left)
                tick += 1
                done, _ = await asyncio.wait(both, timeout=min(_TICK, left), return_when=asyncio.FIRST_COMPLETED)
                if question.answered in done:
                    return self._answered(effect, question)
                if done:
                    return _no("withdrawn", "the client withdrew the call before anybody answered")
        finally:
            leaving.cancel()
        minutes = self._runtime.settings.ask_seconds / 60
        return _no("approval_timeout", f"nobody answered within {minutes:g} minutes", "ask your owner, then try again")

    def _answered(self, effect: AskHuman, question: Question) -> Approval | Decision:
        answer = question.answered.result()
        self._escalation |= {
            "answeredAt": _stamp(time.time()),
            "approver": answer.approver,
            "decision": "approved" if answer.approved else "denied",
        }
        if not answer.approved:
            said = f": {answer.sentence}" if answer.sentence else ""
            return _no("human_denied", f"a person said no{said}", "do something else, or ask your owner")
        return Approval(
            effect.digest,
            effect.prepared.policy_digest,
            answer.approver,
            time.monotonic() + _GOOD_FOR,
            question.id,
        )

    def _sign_of_life(self, tick: int, left: float) -> None:
        if self._context.tell is not None:
            message = f"waiting for a person to approve this call ({left / 60:.0f} minutes left)"
            # Tiny steps: whatever the server reports later is more.
            self._context.tell({"progress": (tick + 1) * 1e-6, "message": message})

    # --- (10) to (12) ---

    async def record_intent(self, effect: RecordIntent) -> Unwritten | None:
        """(10)."""
        prepared, runtime = effect.prepared, self._runtime
        call = prepared.call
        fields: dict[str, Json] = {
            "call": self._id,
            "session": self._session,
            "agent": principal_fields(call.principal),
            "request": request_fields(call.server, call.tool, call.arguments, runtime.redactor),
            "callDigest": effect.digest,
            "evaluation": evaluation_fields(effect.decision, runtime.redactor, _policy(prepared)),
        }
        if self._context.meta:
            fields["meta"] = runtime.redactor.clean(self._context.meta)[0]
        if self._escalation:
            fields["escalation"] = self._escalation
        self._began = time.monotonic()
        return await self._record("intent", fields)

    async def forward(self, effect: Forward) -> Executed:
        """(11)."""
        runtime, call = self._runtime, effect.call
        server = runtime.servers.get(call.server)
        if server is None:
            reason = f"there is no server {call.server}"
            return Executed(Status.NOT_FORWARDED, code="upstream_unavailable", reason=reason)
        if self._context.withdrawn.is_set():
            return Executed(Status.NOT_FORWARDED, code="withdrawn", reason="the client withdrew the call")
        pin = runtime.pins[call.server, call.tool]
        return await server.call(call, pin, self._context.meta, self._context.withdrawn, self._context.tell)

    async def record_outcome(self, effect: RecordOutcome) -> Unwritten | None:
        """(12)."""
        executed = effect.executed
        execution: dict[str, Json] = {
            "status": executed.status.value,
            "durationMs": int((time.monotonic() - self._began) * 1000),
            **result_fields(executed.result or executed.error),
        }
        if executed.code:
            execution["code"] = executed.code
            execution["reason"] = self._runtime.redactor.text(executed.reason)
        return await self._record("outcome", {"call": self._id, "execution": execution})

    async def record_refusal(self, effect: RecordRefusal) -> Unwritten | None:
        """Instead of (10) to (12)."""
        call, prepared, runtime = effect.call, effect.prepared, self._runtime
        arguments = prepared.call.arguments if prepared else call.arguments
        fields: dict[str, Json] = {
            "call": self._id,
            "session": self._session,
            "agent": principal_fields(call.principal),
            "request": request_fields(call.server, call.tool, arguments, runtime.redactor),
            "evaluation": evaluation_fields(effect.decision, runtime.redactor, _policy(prepared) if prepared else None),
        }
        if self._escalation:
            fields["escalation"] = self._escalation
        return await self._record("refused", fields)

    async def _record(self, kind: str, fields: dict[str, Json]) -> Unwritten | None:
        try:
            await self._runtime.audit.append(kind, fields)
        except AuditHaltedError as error:
            return Unwritten(str(error))
        return None


def _policy(prepared: Prepared) -> tuple[int, str]:
    return prepared.policy.version, prepared.policy_digest


def _stamp(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def _no(code: str, reason: str, help_: str = "") -> Decision:
    return Decision(Outcome.DENY, Stage.ESCALATE, code, reason, help=help_)
