"""One agent at work: its loop behind the walls, its session with the gateway, its model, its transcript.

The loop is the agent: nothing that it says is believed. It gets the tools of its principal through a session like any
other client's; a thought is paid for before it is had; whoever looks on can hold everything and let it go on.
INVARIANT: no line of a transcript is missing from the disk when something follows from it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.audit.record import principal_fields
from ironcurtain.audit.store import AuditHaltedError, UnrecordableError
from ironcurtain.budget.ledger import COST, MILLION, TOKENS, Account, Exhausted
from ironcurtain.daemon import code_tools
from ironcurtain.errors import Refusal
from ironcurtain.gateway.context import Oversight
from ironcurtain.gateway.inbound.session import Session
from ironcurtain.sandbox.process import LARGEST, PROCESSOR_SECONDS, PYTHON, Host, needed
from ironcurtain.wire import strict_json
from ironcurtain.wire.limits import ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.daemon.household import Household
    from ironcurtain.daemon.minds import Mind, Thought
    from ironcurtain.daemon.runtime import Runtime
    from ironcurtain.daemon.transcripts import Transcript
    from ironcurtain.gateway.context import CallContext
    from ironcurtain.mediation.effects import Answer
    from ironcurtain.model.call import Arguments, Json, Principal
    from ironcurtain.model.decision import Decision

    Tell = Callable[[dict[str, Json]], None]

_MEMORY: Final = 512 << 20  # bytes for the loop and all that was said
_LAST_WORDS: Final = 5.0  # seconds for calls under way to be recorded


@dataclass(frozen=True, slots=True)
class Standing:
    """Who an agent is, who pays besides, and which tools it was given, if not all."""

    principal: Principal
    parent: Seat | None = None
    only: frozenset[tuple[str, str]] | None = None


class Seat:
    """One agent at work, from a transcript on."""

    def __init__(self, runtime: Runtime, transcript: Transcript, standing: Standing, mind: Mind, tell: Tell) -> None:
        self.transcript = transcript
        self.principal = standing.principal
        self.parent = standing.parent
        self.only = standing.only
        above = ((self.parent.principal, None), *self.parent.payers) if self.parent else ()
        self.payers: tuple[tuple[Principal, str | None], ...] = ((standing.principal, transcript.id), *above)
        self.memory: Transcript = self.parent.memory if self.parent else transcript
        """Where it is kept what was seen: with the task that all of it is for."""
        self.household: Household
        """Whoever works for it, if it may have helpers."""
        self._runtime = runtime
        self._mind = mind
        self.tell = tell
        self._host: Host | None = None
        self._session: Session | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._going = asyncio.Event()
        self._going.set()
        self._stopped = asyncio.Event()
        self._ended: tuple[str, str] | None = None
        self._said: asyncio.Queue[str] = asyncio.Queue()
        """What the person says, until the agent hears it."""
        self._expected: deque[dict[str, Any]] = deque()
        """What the agent was told by the model and by the person, and has to write down next."""
        self._thinking = False
        self._calling = asyncio.Lock()
        self._turns = 0
        self.over = asyncio.Event()

    # --- What whoever looks on can do. ---

    def pause(self, code: str = "asked", why: str = "") -> None:
        """Let nothing more happen until it is told to go on."""
        if self._going.is_set():
            self._going.clear()
            self.tell({"paused": code, "reason": why})

    def go_on(self) -> None:
        """Let it go on."""
        self._going.set()

    def say(self, text: str) -> None:
        """Say something to it, which it hears instead of its next thought, or after its answer."""
        self._said.put_nowait(text)
        self._going.set()

    def stop(self, status: str = "stopped", reason: str = "") -> None:
        """End it. What is under way is withdrawn; the transcript stays, and another can go on from there."""
        self._ended = self._ended or (status, reason)
        self._stopped.set()

    # --- From the beginning to the end. ---

    async def work(self) -> Transcript:
        """Work until there is nothing more to do, or until it is stopped."""
        working = asyncio.create_task(self._work())
        stopped = asyncio.create_task(self._stopped.wait())
        await asyncio.wait([working, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        self._stopped.set()
        self._going.set()  # who was held does not go on
        await self._leave()
        working.cancel()
        await asyncio.wait([working])
        error = None if working.cancelled() else working.exception()
        status, reason = self._ended or ("failed", str(error or "its process ended"))
        with contextlib.suppress(OSError):
            self.transcript.add({"status": status, "reason": reason})
        if self.parent is None:
            self._runtime.sources.forget(self._holder)
        if status == "done" or self.parent is not None:
            await self._close_account()
        self.tell({"ended": status, "reason": reason})
        self.over.set()
        return self.transcript

    async def _leave(self) -> None:
        """Nobody is there any more: withdraw what is under way, and have it recorded."""
        await self.household.close()
        for task in self._tasks:
            task.cancel()
        if self._session is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._session.close()), _LAST_WORDS)
            self._runtime.grants.end_session(self._session.name)
        if self.parent is not None:  # who worked for another leaves nothing that waits
            await self._runtime.runs.end_all_of(self.transcript.id)
        if self._host is not None:
            await self._host.end()
        await self._mind.close()

    async def _work(self) -> None:
        transcript, directory = self.transcript, self._runtime.home.run
        limits = json.dumps({"memory": _MEMORY, "processor": PROCESSOR_SECONDS})
        command = [*PYTHON, "-m", "ironcurtain.sandbox.inside", "ironcurtain.agent.loop", limits, *needed(directory)]
        skills = self._runtime.runs.skills.all(self.principal)
        self._runtime.sources.add(self._holder, [*self.memory.sources, *(s for skill in skills for s in skill.sources)])
        self._remember()
        for run in self._runtime.runs.of_principal(transcript.begun.values(), self.principal):
            self.tell({"program": run})
        host = self._host = await Host.of(command)
        self._session = Session(f"agent-{transcript.id}", self.principal, _Desk(self), self._to_loop)
        interfaces = await self._runtime.runs.interfaces(self.principal, self.only)
        begin: dict[str, Json] = {
            "messages": [*transcript.messages],
            "begun": dict(transcript.begun),
            "direct": transcript.about.direct,
            "servers": interfaces.sizes(),
            "skills": [str(skill) for skill in skills],
        }
        host.say(begin)
        while self._ended is None:
            self._from_loop(await host.line(None, LARGEST))
            await asyncio.sleep(0)  # others have their turn

    def _from_loop(self, line: bytes) -> None:
        """A line of the agent's: for us, or for the gateway."""
        try:
            message: Any = strict_json.loads(line, ANSWER)
            method = message.get("method") if isinstance(message, dict) else None
            params = message.get("params", {}) if isinstance(message, dict) else {}
            if method == "agent/note":
                self._note(params)
            elif method in ("agent/think", "agent/answer"):
                self._require_quiet()
                answer = self._thought(params) if method == "agent/think" else self._answered()
                task = asyncio.create_task(self._answer(message["id"], answer))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            elif self._session is not None:
                self._session.receive(line)
        except (Refusal, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            self.stop("failed", f"what the agent says is not understood: {error}")

    def _require_quiet(self) -> None:
        if self._thinking:
            raise Refusal("agent_malformed", "one thought after the other")
        self._thinking = True

    def _note(self, params: Any) -> None:  # noqa: ANN401 - as an agent said it
        """Write down what the agent adds: what it was told, as it was told it; what a tool said, as it says."""
        match params:
            case {"message": {"role": "tool", "id": str(), "name": str(), "text": str(), "failed": bool()}, **other}:
                if other or params["message"].keys() != _TOLD:
                    raise Refusal("agent_malformed", "a message that is none")
                line = {"message": params["message"]}
            case {"message": dict(message), **other} if not other and self._expected and message == self._expected[0]:
                line = {"message": self._expected.popleft()}
            case {"begun": str(begun), "run": str(run), **other} if not other:
                line = {"begun": begun[:200], "run": run[:20]}
            case _:
                raise Refusal("agent_malformed", "a note that is none")
        self.transcript.add(line)
        if "message" in line:
            self.tell(line)

    async def _answer(self, id_: Json, answer: Any) -> None:  # noqa: ANN401 - something to wait for
        try:
            result = await answer
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of ours, or a disk that is full: it ends here
            self.stop("failed", str(error) or type(error).__name__)
            return
        finally:
            self._thinking = False
        self._to_loop(json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode() + b"\n")

    def _to_loop(self, line: bytes) -> None:
        if self._host is not None:
            self._host.send(line)

    # --- The model's turn, and the person's. ---

    async def _thought(self, params: dict[str, Any]) -> dict[str, Json]:
        """The next message of the model. Trouble on the way pauses the agent; the person says whether to try again."""
        asked: dict[str, Json] = {
            "instructions": str(params["instructions"]),
            "messages": [self._restored(at, message) for at, message in enumerate(self.transcript.messages)],
            "tools": params["tools"],
        }
        while True:
            await self._wait()
            if not self._said.empty():
                return self._heard("heard", self._said.get_nowait())
            if self._turns >= self._runtime.settings.run.turns:
                self._turns = 0
                self.pause("turns", f"it has thought {self._runtime.settings.run.turns} times about this")
                continue
            try:
                thought = await self._paid_for(asked)
            except Refusal as refusal:
                self.pause(refusal.code, f"{refusal.reason}; {refusal.help}" if refusal.help else refusal.reason)
                continue
            self._turns += 1
            message = {"role": "model", "text": thought.text, "calls": [*thought.calls]}
            self._expected.append(message)
            if thought.raw is not None:
                self.transcript.add({"raw": thought.raw})
            return {"text": thought.text, "calls": [*thought.calls]}

    def _restored(self, at: int, message: dict[str, Any]) -> dict[str, Json]:
        """A message as its provider knows it."""
        raw = self.transcript.raws.get(at)
        return {**message, "raw": raw} if raw is not None else message

    def _heard(self, name: str, text: str) -> dict[str, Json]:
        self._turns = 0
        self._expected.append({"role": "user", "text": text})
        return {name: text}

    async def _answered(self) -> dict[str, Json]:
        """The agent has an answer. In a chat the person may go on."""
        if self.transcript.about.chat or not self._said.empty():
            self.tell({"answered": True})
            return self._heard("text", await self._said.get())
        self.stop("done")
        return {"over": True}

    async def _paid_for(self, asked: dict[str, Json]) -> Thought:
        """Reserve what it may cost, write that down, ask, and give back what was not used."""
        runtime, ledger = self._runtime, self._runtime.ledger
        worst = await self._mind.worst(asked)
        accounts = list(dict.fromkeys([Account(self.principal), *(Account(*payer) for payer in self.payers)]))
        reserved = ledger.reserve(accounts, {TOKENS: worst["tokens"], COST: worst["cost"]}, time.monotonic())
        if isinstance(reserved, Exhausted):
            raise Refusal("budget_exhausted", str(reserved), "")
        about: dict[str, Json] = {
            "run": self.transcript.id, "agent": principal_fields(self.principal), "model": self.transcript.about.model,
        }  # fmt: skip
        try:
            await runtime.audit.append("event", {"event": "inference", **about, "budget": reserved.fields()})
        except (AuditHaltedError, UnrecordableError) as error:
            ledger.release(reserved)
            raise Refusal("audit_unwritable", str(error), "run: ironcurtain doctor") from None
        begun = False

        def tell(text: str) -> None:
            nonlocal begun
            begun = True
            self.tell({"text": text})

        used = worst
        try:
            thought = await self._mind.think(asked, tell)
            used = thought.used or worst
        except Refusal:
            if not begun:  # nothing came of it; a message that broke off in the middle is paid for
                used = {"tokens": 0, "cost": 0}
            raise
        finally:
            unused = ledger.settle(reserved, {TOKENS: used["tokens"], COST: used["cost"]})
            with contextlib.suppress(AuditHaltedError, UnrecordableError):
                spent: dict[str, Json] = {"tokens": used["tokens"], "cost": used["cost"]}
                await runtime.audit.append("event", {"event": "inferred", **about, "used": spent, "unused": unused})
            told: dict[str, Json] = {"tokens": used["tokens"], "cost": used["cost"] / MILLION}
            self.transcript.add({"used": told})
            self.tell({"used": told})
        return thought

    async def _close_account(self) -> None:
        """The task is over, and nobody will use its budget again."""
        account = Account(self.principal, self.transcript.id)
        with contextlib.suppress(AuditHaltedError, UnrecordableError):
            if self._runtime.ledger.reset(account):
                await self._runtime.audit.append("event", {"event": "budget", "account": account.fields()})

    def oversight(self) -> Oversight:
        """What holds for every call of this agent."""
        return Oversight(self._recorded, self._may, self.payers, self.only, helpers=self.transcript.about.helpers)

    def _recorded(self, kind: str, fields: dict[str, Json]) -> None:
        if kind == "event" and fields.get("event") == "code" and fields.get("what") == "begun":
            self.tell({"program": fields["run"]})
        self.tell({"record": kind, **fields})

    @property
    def _holder(self) -> str:
        """Who has seen what: the task with all its helpers."""
        return f"agent-{self.memory.id}"

    def _remember(self) -> None:
        """Whoever goes on with this task has seen what was seen: on disk, before anything follows from it."""
        for source in sorted(self._runtime.sources.of(self._holder) - self.memory.sources):
            self.memory.add({"source": source})

    async def _wait(self) -> None:
        """Until nobody holds it: neither whoever looks on, nor whoever holds those above it."""
        await self._going.wait()
        if self.parent is not None:
            await self.parent._wait()  # noqa: SLF001 - our own kind

    async def _may(self) -> bool:
        """Whether a call may be made. Who was held when it was stopped may not; a program that outlives it may."""
        held = self._is_held()
        await self._wait()
        return not (held and self._stopped.is_set())

    def _is_held(self) -> bool:
        above = self.parent is not None and self.parent._is_held()  # noqa: SLF001 - our own kind
        return above or not self._going.is_set()

    async def offered(self) -> list[dict[str, Json]]:
        """The tools that the model is told of."""
        if not self.transcript.about.direct:
            return code_tools.definitions()
        await self._runtime.offered(self.principal)
        catalogue = self._runtime.catalogue
        return [
            tool
            for tool in catalogue.offered(self.principal)
            if self.only is None or catalogue.find(str(tool["name"])) in self.only
        ]

    def find(self, name: str) -> tuple[str, str] | None:
        """The tool that a name means."""
        return code_tools.find(name) or self._runtime.catalogue.find(name)

    async def mediate(self, key: tuple[str, str], arguments: Arguments, context: CallContext) -> Answer:
        """Carry a call through the twelve steps."""
        context.oversight, context.holder, context.ask_client = self.oversight(), self._holder, None
        name = self._session.name if self._session is not None else ""
        async with self._calling:  # one after the other: nobody takes all sandboxes, or fills the queue
            try:
                return await self._runtime.mediate(name, key, arguments, self.principal, context)
            finally:
                self._remember()

    @property
    def runtime(self) -> Runtime:
        """Where it sits."""
        return self._runtime


class _Desk:
    """What the agent's session reaches of the runtime: its own tools, under oversight."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    async def offered(self, _: Principal) -> list[dict[str, Json]]:
        return await self._seat.offered()

    def find(self, name: str) -> tuple[str, str] | None:
        return self._seat.find(name)

    async def mediate(
        self, _: str, key: tuple[str, str], arguments: Arguments, __: Principal, context: CallContext
    ) -> Answer:
        return await self._seat.mediate(key, arguments, context)

    async def refuse(self, session: str, principal: Principal, about: dict[str, Json], refusal: Refusal) -> Decision:
        return await self._seat.runtime.refuse(session, principal, about, refusal)

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        return self._seat.runtime.listen(changed)


_TOLD: Final = {"role", "id", "name", "text", "failed"}
