"""Asking a person about one call: the question, the channels it goes out on, and what a yes is good for."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import os
import secrets
import time
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.budget.loops import LOOP
from ironcurtain.errors import Refusal
from ironcurtain.escalation.grants import Grant, may_widen, pattern_for, selectors_of
from ironcurtain.escalation.queue import Answer, Question, Scope
from ironcurtain.escalation.shown import in_one_message, shown
from ironcurtain.mediation.approvals import Approval
from ironcurtain.mediation.decide import refused
from ironcurtain.model.decision import Decision, Outcome, Stage
from ironcurtain.settings import ASKABLE
from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from ironcurtain.daemon.this_call import ThisCall
    from ironcurtain.mediation.effects import AskHuman, Unwritten
    from ironcurtain.model.call import Json

_TICK: Final = 5.0  # seconds between signs of life while a person is asked
_GOOD_FOR: Final = 60.0  # seconds from a person's yes to the forward
_LONGEST_SAID: Final = 400  # characters of what an agent says of a call
_SESSION_USES: Final = 1_000
_SESSION_SECONDS: Final = 12 * 3600.0
_FORM: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"approve": {"type": "boolean", "title": "Approve this call, once", "default": False}},
    "required": ["approve"],
}


class Asking:
    """One call's question."""

    def __init__(self, this: ThisCall) -> None:
        self._this = this
        self._runtime = this.runtime
        self.recorded: dict[str, Json] = {}
        """What the records of this call say of it."""

    async def ask(self, effect: AskHuman) -> Approval | Decision:
        """Ask a person, and wait: for them, for the end of their time, or for the client to lose patience."""
        runtime = self._runtime
        grant = None if self._this.besides() else runtime.grants.use(effect, self._this.session, time.monotonic())
        if grant:  # what goes beside the arguments was not in what the person saw
            self.recorded = {
                "grant": grant.id,
                "approver": grant.approver,
                "decision": "granted",
                "left": grant.left,
            }
            return _approval(effect, grant.approver, grant.id)
        question = self._question(effect)
        self.recorded = {"question": question.id, "code": effect.decision.code, "askedAt": _stamp(question.asked_at)}
        try:
            runtime.queue.put(question)
        except Refusal as refusal:
            return refused(Stage.ESCALATE, refusal)
        try:
            about = {**self._this.about(effect.prepared.call), "callDigest": effect.digest, "escalation": self.recorded}
            about["evaluation"] = self._this.evaluation(effect.decision, effect.prepared)
            if unwritten := await self._this.record("asked", about):
                return Decision(Outcome.DENY, Stage.AUDIT, "audit_unwritable", unwritten.cause)
            if self._this.context.keep is not None:
                await self._this.context.keep(question.id, _content(effect))
            return await self._wait(effect, question)
        except Refusal as refusal:
            return refused(Stage.ESCALATE, refusal)
        finally:
            runtime.queue.drop(question)

    def _question(self, effect: AskHuman) -> Question:
        call, settings = effect.prepared.call, self._runtime.settings.escalation
        patience = settings.patience_for(effect.decision.rule)
        said = self._this.context.meta.get("ironcurtain/reason")
        widens = may_widen(effect)
        tool = effect.prepared.policy.tools[call.server, call.tool]
        besides = self._this.besides()
        return Question(
            id=self._id(effect),
            session=self._this.session,
            effect=effect,
            asked_at=time.time(),
            expires=math.inf if patience.waits or self._this.context.keep else time.monotonic() + patience.seconds,
            answered=asyncio.get_running_loop().create_future(),
            widens=widens,
            pattern=pattern_for(call, os.path.isdir, selectors_of(tool)) if widens else None,
            agent_says=_cut(said) if isinstance(said, str) else "",
            besides=besides,
            size=len(strict_json.canonical(call.arguments)) + len(strict_json.canonical(besides)),
            granted=(settings.grant_uses, settings.grant_seconds),
            program="step {step} of program {run}".format(**code) if (code := self._this.context.code) else "",
        )

    def _id(self, effect: AskHuman) -> str:
        """INVARIANT: a name stands for one content; what means something else now is asked under another."""
        known, about = self._this.context.question
        return known if known and about == _content(effect) else secrets.token_hex(4)

    async def _wait(self, effect: AskHuman, question: Question) -> Approval | Decision:
        leaving: asyncio.Future[Any] = asyncio.ensure_future(self._this.context.withdrawn.wait())
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
        if self._this.context.ask_client is not None and agent in runtime.settings.escalation.trusted_interfaces:
            found.append(self._elicited(question))
        return found

    async def _called_back(self, question: Question) -> None:
        answer = await self._runtime.on_escalation(question) if self._runtime.on_escalation else None
        if answer is not None:
            self._offer(question, answer)

    async def _elicited(self, question: Question) -> None:
        """Put the question to the user of a client whose dialogs the owner trusts."""
        if self._this.context.ask_client is None:
            return
        asked: dict[str, Json] = {
            "message": in_one_message(shown(question, "", time.monotonic())),
            "requestedSchema": _FORM,
        }
        answer = await self._this.context.ask_client(ASKABLE["elicitation"], asked)
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
        self.recorded |= {
            "answeredAt": _stamp(time.time()),
            "approver": answer.approver,
            "decision": "approved" if answer.approved else "denied",
            "scope": answer.scope.value,
        }
        if not answer.approved:
            said = f": {answer.sentence}" if answer.sentence else ""
            return _no("human_denied", f"a person said no{said}", "do something else, or ask your owner")
        if effect.decision.code == LOOP:
            self._runtime.loops.go_on(effect.prepared.call.principal)
        if answer.scope is not Scope.ONCE and (unwritten := await self._grant(effect, question, answer)):
            return Decision(Outcome.DENY, Stage.AUDIT, "audit_unwritable", unwritten.cause)
        return _approval(effect, answer.approver, question.id)

    async def _grant(self, effect: AskHuman, question: Question, answer: Answer) -> Unwritten | None:
        """A yes to more than this call: recorded before it can be used."""
        runtime, settings = self._runtime, self._runtime.settings.escalation
        wide = answer.scope is Scope.PATTERN
        uses = answer.uses or (settings.grant_uses if wide else _SESSION_USES)
        seconds = answer.seconds or (settings.grant_seconds if wide else _SESSION_SECONDS)
        pattern = question.pattern if wide else None
        grant = Grant(
            runtime.grants.next_id(), effect, answer.approver, uses, time.monotonic() + seconds,
            None if wide else self._this.session, pattern,
        )  # fmt: skip
        self.recorded["grant"] = grant.id
        shown, _ = runtime.redactor.clean([*pattern.shown()] if pattern else [])
        fields: dict[str, Json] = {
            **self._this.about(effect.prepared.call),
            "event": "grant",
            "grant": {"id": grant.id, "scope": answer.scope.value, "uses": uses, "seconds": seconds,
                      "approver": answer.approver, "pattern": shown},
        }  # fmt: skip
        if unwritten := await self._this.record("event", fields):
            return unwritten
        try:
            runtime.grants.add(grant, time.monotonic())
        except Refusal as refusal:
            self.recorded["grantRefused"] = refusal.reason  # the yes to this one call stands
        return None

    def _sign_of_life(self, tick: int, left: float) -> None:
        if self._this.context.tell is not None:
            limit = "" if math.isinf(left) else f" ({left / 60:.0f} minutes left)"
            # Tiny steps: whatever the server reports later is more.
            message = f"waiting for a person to approve this call{limit}"
            self._this.context.tell({"progress": (tick + 1) * 1e-6, "message": message})


def _approval(effect: AskHuman, approver: str, asked: str) -> Approval:
    good_until = time.monotonic() + _GOOD_FOR
    return Approval(effect.digest, effect.prepared.policy_digest, approver, good_until, asked, effect.asking)


def _content(effect: AskHuman) -> str:
    reasons = sorted(f"{verdict.code} {verdict.rule} {verdict.reason}" for verdict in effect.asking)
    return f"{effect.digest} {effect.prepared.policy_digest} {hashlib.sha256(repr(reasons).encode()).hexdigest()}"


def _cut(said: str) -> str:
    return said if len(said) <= _LONGEST_SAID else f"{said[:_LONGEST_SAID]} ... (it says more)"


def _stamp(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def _no(code: str, reason: str, help_: str = "") -> Decision:
    return Decision(Outcome.DENY, Stage.ESCALATE, code, reason, help=help_)
