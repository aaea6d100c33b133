"""The world of one call: what the driver reaches when it performs the pipeline's effects."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from ironcurtain.audit.record import result_fields
from ironcurtain.budget.amounts import amounts_of
from ironcurtain.budget.ledger import Account, Exhausted, accounts_of
from ironcurtain.budget.loops import LOOP
from ironcurtain.daemon.asking import Asking
from ironcurtain.daemon.this_call import ThisCall
from ironcurtain.gateway.context import done_before
from ironcurtain.mediation.approvals import Approval
from ironcurtain.mediation.decide import prepare
from ironcurtain.mediation.effects import Executed, Reserved, Status
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
        Unwritten,
    )
    from ironcurtain.model.call import CanonicalCall, Json, Principal

BRAKE: Final = 1.0  # seconds that each call costs an agent whose calls are refused too often


class CallPorts:
    """One call's way into the runtime."""

    def __init__(self, runtime: Runtime, call_id: str, session: str, context: CallContext) -> None:
        self._runtime = runtime
        self._this = ThisCall(runtime, call_id, session, context)
        self._asking = Asking(self._this)
        self._reservation: Reservation | None = None
        self._made: CanonicalCall | None = None
        self._counted: CanonicalCall | None = None
        """A call that loop detection counts as under way."""
        self._came: dict[str, Json] = {}
        """What a record says of what came back."""
        self._began = 0.0

    def resolve(self, effect: Resolve) -> Prepared | Decision:
        """(1) and (2), under the policy that is in force now; nobody is asked about a server that is not there."""
        call, runtime, oversight = effect.call, self._runtime, self._this.context.oversight
        if oversight is not None and not oversight.gives((call.server, call.tool)):
            reason = f"{call.tool} of {call.server} was not given to this agent"
            return Decision(Outcome.DENY, Stage.ACCESS, "tool_not_given", reason, help="ask whoever started you")
        if exhausted := runtime.ledger.tripped(self._accounts(call.principal), time.monotonic()):
            return _used_up(exhausted)
        prepared = prepare(call, runtime.loaded, time.time(), runtime.catalogue.drifted)
        if isinstance(prepared, Decision) or call.server in runtime.servers:
            return prepared
        reason = f"the server {call.server} is not running here"
        return Decision(Outcome.DENY, Stage.FORWARD, "server_absent", reason, help="run: ironcurtain servers list")

    def _accounts(self, principal: Principal) -> list[Account]:
        oversight = self._this.context.oversight
        return accounts_of(principal, oversight.payers if oversight else ())

    # --- (8) ---

    def reserve(self, effect: ReserveBudget) -> Reserved | Decision:
        """Room in the budget, and whether the agent goes round in circles."""
        prepared, runtime = effect.prepared, self._runtime
        call, ledger, task = prepared.call, runtime.ledger, prepared.facts.task
        accounts = [*self._accounts(call.principal), *([Account(call.principal, task.task)] if task else [])]
        named = {name: limit for account in accounts for name, limit in ledger.limits_of(account).named.items()}
        size = len(strict_json.canonical(call.arguments)) + len(strict_json.canonical(self._this.besides()))
        amounts = amounts_of(call, size, named)
        reserved = ledger.reserve(accounts, amounts, time.monotonic())
        if isinstance(reserved, Exhausted):
            return _used_up(reserved)
        self._reservation = reserved
        pause = self._loop(call)
        self._runtime.loops.begin(call)
        self._counted = call
        return Reserved(0, pause)

    def _loop(self, call: CanonicalCall) -> Decision | None:
        most = self._runtime.ledger.budget.loops.repeats
        repeats = self._runtime.loops.repeats(call) if most else 0
        if repeats < max(1, most):
            return None
        reason = f"called {call.tool} with the same or nearly the same arguments {repeats} times, and nothing new came"
        return Decision(Outcome.ESCALATE, Stage.BUDGET, LOOP, f"{reason}; continue or stop?")

    def release(self, effect: ReleaseBudget) -> None:
        """The reservation is not needed."""
        if self._reservation is not None:
            self._runtime.ledger.release(self._reservation)
            self._reservation = None
        self._no_longer_under_way()

    def _no_longer_under_way(self) -> None:
        if self._counted is not None:
            self._runtime.loops.end(self._counted)
            self._counted = None

    def settle(self, effect: SettleBudget) -> None:
        """The reservation stays used; what came back may be new."""
        self._no_longer_under_way()
        if self._made is not None:
            self._runtime.loops.made(self._made, str(self._came.get("sha256", effect.executed.code)))

    # --- (9) ---

    async def ask(self, effect: AskHuman) -> Approval | Decision:
        """Ask a person, and wait; and then for whoever holds everything. A yes does not run out meanwhile."""
        answer, held = await self._asking.ask(effect), time.monotonic()
        if not await self._this.context.may_go_on():
            self._this.context.withdrawn.set()
        if isinstance(answer, Approval):
            answer.expires += time.monotonic() - held
        return answer

    # --- (10) to (12) ---

    async def record_intent(self, effect: RecordIntent) -> Unwritten | None:
        """(10)."""
        prepared, runtime = effect.prepared, self._runtime
        fields = {**self._this.about(prepared.call), "callDigest": effect.digest}
        fields["evaluation"] = self._this.evaluation(effect.decision, prepared)
        if self._reservation is not None:
            fields["budget"] = self._reservation.fields()
        if self._this.context.meta:
            fields["meta"] = runtime.redactor.clean(self._this.context.meta)[0]
        if self._asking.recorded:
            fields["escalation"] = self._asking.recorded
        self._began = time.monotonic()
        unwritten = await self._this.record("intent", fields)
        if unwritten is None:
            await self._until_it_may_be_sent(prepared.call.server)
        return unwritten

    async def _until_it_may_be_sent(self, name: str) -> None:
        """INVARIANT: what has to be waited for is waited for here.

        Between the last look at a call and the sending of it nobody else has a turn.
        """
        context, server = self._this.context, self._runtime.servers.get(name)
        if server is not None and not server.is_ready:
            await done_before(context.withdrawn, asyncio.ensure_future(server.ready()))
        if not await context.may_go_on():
            context.withdrawn.set()

    async def forward(self, effect: Forward) -> Executed:
        """(11)."""
        runtime, call = self._runtime, effect.call
        server = runtime.servers.get(call.server)
        if server is None:
            reason = f"there is no server {call.server}"
            return Executed(Status.NOT_FORWARDED, code="upstream_unavailable", reason=reason)
        if self._this.context.withdrawn.is_set():
            return Executed(Status.NOT_FORWARDED, code="withdrawn", reason="the client withdrew the call")
        self._made = call
        runtime.sources.add(self._this.context.holder, [f"{call.server}/{call.tool}"])
        pinned = runtime.pins[call.server, call.tool]
        executed = await server.call(call, pinned, self._this.context, self._asked_by_server)
        self._came = result_fields(executed.result or executed.error)
        return executed

    async def _asked_by_server(self, method: str, params: dict[str, Json]) -> dict[str, Json] | None:
        """A server wants something of the client, in the middle of its call: only what the owner lets it ask for."""
        runtime, call = self._runtime, self._made
        if call is None or self._this.context.ask_client is None:
            return None
        if method not in {ASKABLE[name] for name in runtime.settings.may_ask.get(call.server, ())}:
            return None
        asks: dict[str, Json] = {"event": "server-asks", "server": call.server, "method": method}
        if await self._this.record("event", {"call": self._this.id, **asks}):
            return None
        if method == ASKABLE["elicitation"]:
            whose = f"The server {call.server} asks (these are its words, not IronCurtain's)"
            params = {**params, "message": f"{whose}: {params.get('message')}"}
        answer = await self._this.context.ask_client(method, params)
        said: dict[str, Json] = {"event": "client-answers", "server": call.server}
        said["answer"] = runtime.redactor.clean(answer)[0]
        if await self._this.record("event", {"call": self._this.id, **said}):
            return None
        decided = None if call.sources is None else {*call.sources, f"{call.server}/{call.tool}"}
        seen = runtime.sources.of(self._this.context.holder)
        return answer if decided is None or seen <= decided else None  # what was seen since was not decided about

    async def record_outcome(self, effect: RecordOutcome) -> Unwritten | None:
        """(12)."""
        executed = effect.executed
        execution: dict[str, Json] = {
            "status": executed.status.value,
            "durationMs": int((time.monotonic() - self._began) * 1000),
            **self._came,
        }
        if executed.code:
            execution["code"] = executed.code
            execution["reason"] = self._runtime.redactor.text(executed.reason)
        return await self._this.record("outcome", {"call": self._this.id, "execution": execution})

    async def record_refusal(self, effect: RecordRefusal) -> Unwritten | None:
        """Instead of (10) to (12)."""
        call, prepared, runtime = effect.call, effect.prepared, self._runtime
        counted = await runtime.count_refusal(self._accounts(call.principal))
        fields = self._this.about(prepared.call if prepared else call) | counted
        fields["evaluation"] = self._this.evaluation(effect.decision, prepared)
        if self._asking.recorded:
            fields["escalation"] = self._asking.recorded
        return await self._this.record("refused", fields)


def _used_up(exhausted: Exhausted) -> Decision:
    help_ = "ask your owner, who can run: ironcurtain budget reset"
    return Decision(Outcome.DENY, Stage.BUDGET, "budget_exhausted", str(exhausted), help=help_)
