"""The world of one call: what the driver reaches when it performs the pipeline's effects."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import secrets
import time
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.audit.record import evaluation_fields, principal_fields, request_fields, result_fields
from ironcurtain.audit.store import AuditHaltedError, UnrecordableError
from ironcurtain.budget.amounts import amounts_of
from ironcurtain.budget.ledger import Account, Exhausted
from ironcurtain.errors import Refusal
from ironcurtain.escalation.grants import Grant, may_widen, pattern_for
from ironcurtain.escalation.queue import Answer, Question, Scope
from ironcurtain.escalation.shown import in_one_message, shown
from ironcurtain.gateway import protocol
from ironcurtain.mediation.approvals import Approval
from ironcurtain.mediation.decide import prepare, refused
from ironcurtain.mediation.effects import Executed, Reserved, Status, Unwritten
from ironcurtain.model.decision import Decision, Outcome, Stage
from ironcurtain.settings import ASKABLE
from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from ironcurtain.budget.ledger import Reservation
    from ironcurtain.daemon.runtime import Runtime
    from ironcurtain.gateway.context import CallContext
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
    from ironcurtain.model.call import Arguments, CanonicalCall, Json, ToolCall

_TICK: Final = 5.0  # seconds between signs of life while a person is asked
_GOOD_FOR: Final = 60.0  # seconds from a person's yes to the forward
_SESSION_USES: Final = 1_000
_SESSION_SECONDS: Final = 12 * 3600.0
BRAKE: Final = 1.0  # seconds that each call costs an agent whose calls are refused too often
_LOOP: Final = "loop"


class CallPorts:
    """One call's way into the runtime."""

    def __init__(self, runtime: Runtime, call_id: str, session: str, context: CallContext) -> None:
        self._runtime = runtime
        self._id = call_id
        self._session = session
        self._context = context
        self._escalation: dict[str, Json] = {}
        self._reservation: Reservation | None = None
        self._made: CanonicalCall | None = None
        self._counted: CanonicalCall | None = None
        """A call that loop detection counts as under way."""
        self._began = 0.0

    def resolve(self, effect: Resolve) -> Prepared | Decision:
        """(1) and (2), under the policy that is in force now; nobody is asked about a server that is not there."""
        call, runtime = effect.call, self._runtime
        if exhausted := runtime.ledger.tripped([Account(call.principal)], time.monotonic()):
            return _used_up(exhausted)
        prepared = prepare(call, runtime.loaded, time.time(), runtime.catalogue.drifted)
        if isinstance(prepared, Decision) or call.server in runtime.servers:
            return prepared
        reason = f"the server {call.server} is not running here"
        return Decision(Outcome.DENY, Stage.FORWARD, "server_absent", reason, help="run: ironcurtain servers list")

    # --- (8) ---

    def reserve(self, effect: ReserveBudget) -> Reserved | Decision:
        """Room in the budget, and whether the agent goes round in circles."""
        prepared, runtime = effect.prepared, self._runtime
        call, ledger, task = prepared.call, runtime.ledger, prepared.facts.task
        accounts = [Account(call.principal), *([Account(call.principal, task.task)] if task else [])]
        named = {name: limit for account in accounts for name, limit in ledger.limits_of(account).named.items()}
        size = len(strict_json.canonical(call.arguments)) + len(strict_json.canonical(self._besides()))
        amounts = amounts_of(call, size, named)
        reserved = ledger.reserve(accounts, amounts, time.monotonic())
        if isinstance(reserved, Exhausted):
            return _used_up(reserved)
        self._reservation = reserved
        pause = self._loop(call)
        self._runtime.loops.begin(_who(call), call)
        self._counted = call
        return Reserved(0, pause)

    def _loop(self, call: CanonicalCall) -> Decision | None:
        most = self._runtime.ledger.budget.loops.repeats
        repeats = self._runtime.loops.repeats(_who(call), call) if most else 0
        if repeats < max(1, most):
            return None
        reason = f"called {call.tool} with the same or nearly the same arguments {repeats} times, and nothing new came"
        return Decision(Outcome.ESCALATE, Stage.BUDGET, _LOOP, f"{reason}; continue or stop?")

    def release(self, effect: ReleaseBudget) -> None:
        """The reservation is not needed."""
        if self._reservation is not None:
            self._runtime.ledger.release(self._reservation)
            self._reservation = None
        self._no_longer_under_way()

    def _no_longer_under_way(self) -> None:
        if self._counted is not None:
            self._runtime.loops.end(_who(self._counted), self._counted)
            self._counted = None

    def settle(self, effect: SettleBudget) -> None:
        """The reservation stays used; what came back may be new."""
        self._no_longer_under_way()
        if self._made is not None:
            came = result_fields(effect.executed.result or effect.executed.error).get("sha256", effect.executed.code)
            self._runtime.loops.made(_who(self._made), self._made, str(came))

    # --- (9) ---

    async def ask(self, effect: AskHuman) -> Approval | Decision:
        """Ask a person, and wait: for them, for the end of their time, or for the client to lose patience."""
        runtime = self._runtime
        grant = None if self._besides() else runtime.grants.use(effect, self._session, time.monotonic())
        if grant:  # what goes beside the arguments was not in what the person saw
            self._escalation = {
                "grant": grant.id,
                "approver": grant.approver,
                "decision": "granted",
                "left": grant.left,
            }
            return self._approval(effect, grant.approver, grant.id)
        question = self._question(effect)
        self._escalation = {"question": question.id, "code": effect.decision.code, "askedAt": _stamp(question.asked_at)}
        try:
            runtime.queue.put(question)
        except Refusal as refusal:
            return refused(Stage.ESCALATE, refusal)
        try:
            about = {**self._about(effect.prepared.call), "callDigest": effect.digest, "escalation": self._escalation}
            about["evaluation"] = evaluation_fields(effect.decision, runtime.redactor, _policy(effect.prepared))
            if unwritten := await self._record("asked", about):
                return Decision(Outcome.DENY, Stage.AUDIT, "audit_unwritable", unwritten.cause)
            return await self._wait(effect, question)
        finally:
            runtime.queue.drop(question)

    def _question(self, effect: AskHuman) -> Question:
        call, settings = effect.prepared.call, self._runtime.settings.escalation
        patience = settings.patience_for(effect.decision.rule)
        said = self._context.meta.get("ironcurtain/reason")
        widens = may_widen(effect)
        besides = self._besides()
        return Question(
            id=secrets.token_hex(4),
            session=self._session,
            effect=effect,
            asked_at=time.time(),
            expires=math.inf if patience.waits else time.monotonic() + patience.seconds,
            answered=asyncio.get_running_loop().create_future(),
            widens=widens,
            pattern=pattern_for(call, os.path.isdir) if widens else None,
            agent_says=said if isinstance(said, str) else "",
            besides=besides,
            size=len(strict_json.canonical(call.arguments)) + len(strict_json.canonical(besides)),
            granted=(settings.grant_uses, settings.grant_seconds),
        )

    def _besides(self) -> dict[str, Json]:
        """What is sent beside the arguments."""
        return protocol.without_ours(self._context.meta)

    async def _wait(self, effect: AskHuman, question: Question) -> Approval | Decision:
        leaving: asyncio.Future[Any] = asyncio.ensure_future(self._context.withdrawn.wait())
        others = [asyncio.ensure_future(channel) for channel in self._channels(question)]
        tick = 0
        try:
            while (left := question.expires - time.monotonic()) > 0:
                self._sign_of_life(tick, left)
                tick += 1
                done, _ = await asyncio.wait(
                    [question.answered, leaving], timeout=min(_TICK, left), return_when=asyncio.FIRST_COMPLETED
                )
                if question.answered in done:
                    return await self._answered(effect, question)
                if done:
                    return _no("withdrawn", "the client withdrew the call before anybody answered")
        finally:
            for task in (leaving, *others):
                task.cancel()
        seconds = self._runtime.settings.escalation.patience_for(effect.decision.rule).seconds
        return _no("approval_timeout", f"nobody answered within {seconds / 60:g} minutes", "ask your owner, then retry")

    def _channels(self, question: Question) -> list[Any]:
        """Other ways to reach a person, besides the queue."""
        runtime, found = self._runtime, []
        if runtime.on_escalation is not None:
            found.append(self._called_back(question))
        agent = question.effect.prepared.call.principal.agent
        if self._context.ask_client is not None and agent in runtime.settings.escalation.trusted_interfaces:
            found.append(self._elicited(question))
        return found

    async def _called_back(self, question: Question) -> None:
        answer = await self._runtime.on_escalation(question) if self._runtime.on_escalation else None
        if answer is not None:
            self._offer(question, answer)

    async def _elicited(self, question: Question) -> None:
        """Put the question to the user of a client whose dialogs the owner trusts."""
        if self._context.ask_client is None:
            return
        message = in_one_message(shown(question, "", time.monotonic()))
        answer = await self._context.ask_client("elicitation/create", {"message": message, "requestedSchema": _FORM})
        content = (answer or {}).get("content")
        action = (answer or {}).get("action")
        if action not in ("accept", "decline"):
            return  # they looked away; other channels go on
        approved = action == "accept" and isinstance(content, dict) and content.get("approve") is True
        agent = question.effect.prepared.call.principal.agent
        self._offer(question, Answer(approved=approved, approver=f"the user of {agent}"))

    def _offer(self, question: Question, answer: Answer) -> None:
        with contextlib.suppress(Refusal):  # another channel was quicker
            self._runtime.queue.answer(question.id, answer)

    async def _answered(self, effect: AskHuman, question: Question) -> Approval | Decision:
        answer = question.answered.result()
        self._escalation |= {
            "answeredAt": _stamp(time.time()),
            "approver": answer.approver,
            "decision": "approved" if answer.approved else "denied",
            "scope": answer.scope.value,
        }
        if not answer.approved:
            said = f": {answer.sentence}" if answer.sentence else ""
            return _no("human_denied", f"a person said no{said}", "do something else, or ask your owner")
        if effect.decision.code == _LOOP:
            self._runtime.loops.go_on(_who(effect.prepared.call))
        if answer.scope is not Scope.ONCE and (unwritten := await self._grant(effect, question, answer)):
            return Decision(Outcome.DENY, Stage.AUDIT, "audit_unwritable", unwritten.cause)
        return self._approval(effect, answer.approver, question.id)

    async def _grant(self, effect: AskHuman, question: Question, answer: Answer) -> Unwritten | None:
        """A yes to more than this call: recorded before it can be used."""
        runtime, settings = self._runtime, self._runtime.settings.escalation
        wide = answer.scope is Scope.PATTERN
        uses = answer.uses or (settings.grant_uses if wide else _SESSION_USES)
        seconds = answer.seconds or (settings.grant_seconds if wide else _SESSION_SECONDS)
        pattern = question.pattern if wide else None
        grant = Grant(
            runtime.grants.next_id(), effect, answer.approver, uses, time.monotonic() + seconds,
            None if wide else self._session, pattern,
        )  # fmt: skip
        self._escalation["grant"] = grant.id
        fields: dict[str, Json] = {
            **self._about(effect.prepared.call),
            "event": "grant",
            "grant": {"id": grant.id, "scope": answer.scope.value, "uses": uses, "seconds": seconds,
                      "approver": answer.approver, "pattern": [*pattern.shown()] if pattern else []},
        }  # fmt: skip
        if unwritten := await self._record("event", fields):
            return unwritten
        try:
            runtime.grants.add(grant, time.monotonic())
        except Refusal as refusal:
            self._escalation["grantRefused"] = refusal.reason  # the yes to this one call stands
        return None

    def _approval(self, effect: AskHuman, approver: str, asked: str) -> Approval:
        return Approval(effect.digest, effect.prepared.policy_digest, approver, time.monotonic() + _GOOD_FOR, asked)

    def _sign_of_life(self, tick: int, left: float) -> None:
        if self._context.tell is not None:
            limit = "" if math.isinf(left) else f" ({left / 60:.0f} minutes left)"
            # Tiny steps: whatever the server reports later is more.
            message = f"waiting for a person to approve this call{limit}"
            self._context.tell({"progress": (tick + 1) * 1e-6, "message": message})

    # --- (10) to (12) ---

    async def record_intent(self, effect: RecordIntent) -> Unwritten | None:
        """(10)."""
        prepared, runtime = effect.prepared, self._runtime
        fields = {**self._about(prepared.call), "callDigest": effect.digest}
        fields["evaluation"] = evaluation_fields(effect.decision, runtime.redactor, _policy(prepared))
        if self._reservation is not None:
            fields["budget"] = self._reservation.fields()
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
        self._made = call
        return await server.call(call, runtime.pins[call.server, call.tool], self._context, self._asked_by_server)

    async def _asked_by_server(self, method: str, params: dict[str, Json]) -> dict[str, Json] | None:
        """A server wants something of the client, in the middle of its call: only what the owner lets it ask for."""
        runtime, call = self._runtime, self._made
        if call is None or self._context.ask_client is None:
            return None
        if method not in {ASKABLE[name] for name in runtime.settings.may_ask.get(call.server, ())}:
            return None
        fields: dict[str, Json] = {"call": self._id, "event": "server-asks", "server": call.server, "method": method}
        if await self._record("event", fields):
            return None
        if method == ASKABLE["elicitation"]:
            asks = f"The server {call.server} asks (these are its words, not IronCurtain's): {params.get('message')}"
            params = {**params, "message": asks}
        return await self._context.ask_client(method, params)

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
        account, now = [Account(call.principal)], time.monotonic()
        if runtime.ledger.tripped(account, now):
            await asyncio.sleep(BRAKE)
        else:
            runtime.ledger.refuse(account, now)
        fields = self._about(prepared.call if prepared else call)
        fields["evaluation"] = evaluation_fields(
            effect.decision, runtime.redactor, _policy(prepared) if prepared else None
        )
        if self._escalation:
            fields["escalation"] = self._escalation
        return await self._record("refused", fields)

    def _about(self, call: CanonicalCall | ToolCall) -> dict[str, Json]:
        """Which call a record is about."""
        arguments: Arguments = call.arguments
        return {
            "call": self._id,
            "session": self._session,
            "agent": principal_fields(call.principal),
            "request": request_fields(call.server, call.tool, arguments, self._runtime.redactor),
        }

    async def _record(self, kind: str, fields: dict[str, Json]) -> Unwritten | None:
        try:
            await self._runtime.audit.append(kind, fields)
        except (AuditHaltedError, UnrecordableError) as error:
            return Unwritten(str(error))
        return None


_FORM: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"approve": {"type": "boolean", "title": "Approve this call, once", "default": False}},
    "required": ["approve"],
}


def _who(call: CanonicalCall) -> str:
    """Whose calls are watched for loops: a new connection is the same agent."""
    return repr(call.principal)


def _policy(prepared: Prepared) -> tuple[int, str]:
    return prepared.policy.version, prepared.policy_digest


def _stamp(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def _used_up(exhausted: Exhausted) -> Decision:
    help_ = "ask your owner, who can run: ironcurtain budget reset"
    return Decision(Outcome.DENY, Stage.BUDGET, "budget_exhausted", str(exhausted), help=help_)


def _no(code: str, reason: str, help_: str = "") -> Decision:
    return Decision(Outcome.DENY, Stage.ESCALATE, code, reason, help=help_)
