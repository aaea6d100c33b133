"""One agent at work: its loop behind the walls, its session with the gateway, its model, its transcript.

The loop is the agent: nothing that it says is believed. It gets the tools of its principal through a session like any
other client's; a thought is paid for before it is had (`purse`); whoever looks on can hold everything and let it go on.
INVARIANT: the transcript is what the model said, what it was told and what was done, as we saw it; no line of it is
missing from the disk when something follows from it. After a stop nothing of the task makes a call.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.daemon import code_tools
from ironcurtain.daemon.instructions import instructions
from ironcurtain.daemon.purse import Purse
from ironcurtain.errors import Refusal
from ironcurtain.gateway.context import CallContext, Oversight
from ironcurtain.gateway.inbound.session import Session
from ironcurtain.sandbox.process import PROCESSOR_SECONDS, PYTHON, Host, needed
from ironcurtain.wire import jsonrpc, strict_json
from ironcurtain.wire.limits import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from ironcurtain.daemon.household import Household
    from ironcurtain.daemon.minds import Mind
    from ironcurtain.daemon.runtime import Runtime
    from ironcurtain.daemon.transcripts import Transcript
    from ironcurtain.mediation.effects import Answer
    from ironcurtain.model.call import Arguments, Json, Principal
    from ironcurtain.model.decision import Decision

    Tell = Callable[[dict[str, Json]], None]

_MEMORY: Final = 512 << 20  # bytes for the loop and all that was said
_LAST_WORDS: Final = 5.0  # seconds for calls under way to be recorded
_LONGEST_RESULT: Final = 30_000  # characters of a result that the model is given
_MOST_IDLE: Final = 100  # messages with which it does nothing
_PATIENCE: Final = 50  # seconds that one question for a program's result waits
_UNKNOWN: Final = "It is not known whether this was done: the agent was cut off. Look before you do it again."


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
        self._purse = Purse(runtime, transcript, self.payers, tell)
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
        self._thinking = False
        self._called: dict[str, Any] | None = None
        """The call of the model's that is under way."""
        self._calls = 0
        self._idle = 0
        """What it said since it last did something."""
        self._instructions = ""
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

    async def renew(self) -> None:
        """Give it a new budget in place of the one that was used up, and let it go on."""
        await self._purse.renew()
        self.go_on()

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
        try:
            await asyncio.wait([working, stopped], return_when=asyncio.FIRST_COMPLETED)
            self._stopped.set()
            self._going.set()  # who was held does not go on
            await self._leave()
        finally:
            stopped.cancel()
            working.cancel()
            await asyncio.wait([working])
            error = None if working.cancelled() else working.exception()
            status, reason = self._ended or ("failed", str(error or "its process ended"))
            with contextlib.suppress(OSError, Refusal):
                self.transcript.add({"status": status, "reason": reason})
            if self.parent is None:
                self._runtime.sources.forget(self._holder)
            if status == "done" or self.parent is not None:
                await self._purse.close()
            self.tell({"ended": status, "reason": reason})
            self.over.set()
        return self.transcript

    async def _leave(self) -> None:
        """Nobody is there any more: withdraw what is under way, and have it recorded."""
        whole = self.parent is not None  # who worked for another leaves nothing that waits
        await asyncio.gather(self.household.close(), self._runtime.runs.leave(self.transcript.id, whole=whole))
        for task in [*self._tasks]:
            task.cancel()
        if self._tasks:
            await asyncio.wait([*self._tasks])
        if self._session is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._session.close()), _LAST_WORDS)
            self._runtime.grants.end_session(self._session.name)
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
        for run in self._runtime.runs.adopt(transcript.id, self.oversight(), self._holder):
            self.tell({"program": run})
        host = self._host = await Host.of(command)
        self._session = Session(f"agent-{transcript.id}", self.principal, _Desk(self), self._to_loop)
        interfaces = await self._runtime.runs.interfaces(self.principal, self.only)
        self._instructions = instructions(
            direct=transcript.about.direct, servers=interfaces.sizes(), skills=[str(skill) for skill in skills]
        )
        transcript.add({"instructions": self._instructions})
        host.say({"turn": {"calls": [*transcript.unanswered], "final": transcript.is_answered}})
        while self._ended is None:
            self._from_loop(await host.line(None, MESSAGE.size))
            await asyncio.sleep(0)  # others have their turn

    def _from_loop(self, line: bytes) -> None:
        """A line of the agent's: for us, or for the gateway. One that it has no reason to say ends it."""
        try:
            message: Any = strict_json.loads(line, MESSAGE)
            match message:
                case {"method": "agent/think", "id": int(id_)}:
                    self._begin_turn(answered=False)
                    self._task(self._answer(id_, self._thought()))
                case {"method": "agent/answer", "id": int(id_)}:
                    self._begin_turn(answered=True)
                    self._task(self._answer(id_, self._answered()))
                case {"method": "tools/call", "id": str(id_), "params": dict(params)}:
                    self._call(id_, params)
                case {"method": "initialize" | "tools/list" | "ping" as method, "id": int(id_), "params": dict(params)}:
                    self._pass_on(jsonrpc.request(int(id_), method, params))
                case {"method": "notifications/initialized" as method} if "id" not in message:
                    self._pass_on(jsonrpc.notification(method, {}))
                case _:
                    raise Refusal("agent_malformed", "it has no reason to say that")  # noqa: TRY301 - like the others
        except (Refusal, OSError) as error:
            self.stop("failed", f"what the agent says is not understood: {error}")

    def _pass_on(self, line: bytes) -> None:
        """Something for the session, in our words. INVARIANT: only our own calls have a name that is no number."""
        self._idle += 1
        if self._idle > _MOST_IDLE:
            raise Refusal("agent_malformed", "it talks, and does nothing")
        if self._session is not None:
            self._session.receive(line)

    def _begin_turn(self, *, answered: bool) -> None:
        """One thought after the other, none while a call is open, and none after an answer."""
        self._idle = 0
        busy = self._thinking or self._called is not None or self.transcript.unanswered
        if busy or self.transcript.is_answered is not answered:
            raise Refusal("agent_malformed", "one thing after the other")
        self._thinking = True

    def _task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, id_: Json, answer: Awaitable[dict[str, Json]]) -> None:
        try:
            result = await answer
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of ours, or a disk that is full: it ends here
            self.stop("failed", str(error) or type(error).__name__)
            return
        finally:
            self._thinking = False
        self._say({"jsonrpc": "2.0", "id": id_, "result": result})

    def _say(self, message: dict[str, Json]) -> None:
        if self._host is not None:
            self._host.send(json.dumps(message).encode() + b"\n")

    # --- Calls. ---

    def _call(self, id_: str, params: dict[str, Any]) -> None:
        """The next call that the model asked for, as it asked for it, and once."""
        self._idle = 0
        call = next(iter(self.transcript.unanswered), {"id": None})
        if self._called is not None or self._thinking or call["id"] != id_:
            raise Refusal("agent_malformed", "a call that nobody asked for")
        asked: dict[str, Json] = {"name": call["name"], "arguments": call["arguments"]}
        if strict_json.canonical(params) != strict_json.canonical(asked) or self._session is None:
            raise Refusal("agent_malformed", "a call that is not as the model asked for it")
        self._calls += 1
        self._called = {**call, "ours": f"call {self._calls}"}  # whatever else it asks for has a number for a name
        if id_ in self.transcript.begun:
            self._task(self._answer_again(self.transcript.begun[id_]))
        else:
            self.transcript.add({"begun": id_, "run": ""})
            self._session.receive(jsonrpc.request(self._called["ours"], "tools/call", asked))

    async def _answer_again(self, run: str) -> None:
        try:
            await self._came_of(run)
        except (Refusal, OSError) as error:
            self.stop("failed", str(error))

    async def _came_of(self, run: str) -> None:
        """What came of a call that was begun earlier. INVARIANT: it is not made again."""
        text, failed, status = _UNKNOWN, True, "waiting"
        arguments: dict[str, Json] = {"run": run, "seconds": _PATIENCE}
        while run and status in ("waiting", "running"):
            answer = await self.mediate((code_tools.OURS, "code_result"), arguments, CallContext({}))
            if answer.executed is None or answer.executed.result is None:
                text, status = f"{answer.decision.reason}. {_UNKNOWN}", "unknown"
            else:
                result: Any = answer.executed.result
                text, failed = _text_of(result), bool(result.get("isError"))
                status = result["structuredContent"]["status"]
        content: dict[str, Json] = {"content": [{"type": "text", "text": text}], "isError": failed}
        self._to_loop(jsonrpc.result(self._called["ours"] if self._called else "", content))

    def _to_loop(self, line: bytes) -> None:
        """What the session says. The result of a call is kept before the agent has it."""
        message: Any = json.loads(line)
        if self._called is not None and message.get("id") == self._called["ours"] and "method" not in message:
            called, self._called = self._called, None
            error, result = message.get("error"), message.get("result", {})
            text = str(error["message"]) if error else _text_of(result)
            if len(text) > _LONGEST_RESULT:
                text = f"{text[:_LONGEST_RESULT]}\n... ({len(text) - _LONGEST_RESULT} characters more)"
            told = {"id": called["id"], "name": called["name"], "text": text}
            try:
                self._add({"role": "tool", **told, "failed": bool(error or result.get("isError"))})
            except (Refusal, OSError) as problem:
                self.stop("failed", str(problem))
                return
            message["id"] = called["id"]
        self._say(message)

    def _add(self, message: dict[str, Json]) -> None:
        """Something was said."""
        self.transcript.add({"message": message})
        self.tell({"message": message})

    # --- The model's turn, and the person's. ---

    async def _thought(self) -> dict[str, Json]:
        """The next message of the model. Trouble on the way pauses the agent; the person says whether to try again."""
        tools: list[Json] = [
            {"name": tool["name"], "about": tool.get("description", ""), "schema": tool["inputSchema"]}
            for tool in await self.offered()
        ]
        messages: list[Json] = [self._restored(at, message) for at, message in enumerate(self.transcript.messages)]
        asked: dict[str, Json] = {"instructions": self._instructions, "messages": messages, "tools": tools}
        while True:
            await self._wait()
            if not self._said.empty():
                return self._heard(self._said.get_nowait())
            if self._turns >= self._runtime.settings.run.turns:
                self._turns = 0
                self.pause("turns", f"it has thought {self._runtime.settings.run.turns} times about this")
                continue
            try:
                thought = await self._purse.think(self._mind, asked)
            except Refusal as refusal:
                self.pause(refusal.code, f"{refusal.reason}; {refusal.help}" if refusal.help else refusal.reason)
                continue
            self._turns += 1
            if thought.raw is not None:
                self.transcript.add({"raw": thought.raw})
            self._add({"role": "model", "text": thought.text, "calls": [*thought.calls]})
            return {"text": thought.text, "calls": [*self.transcript.unanswered], "final": self.transcript.is_answered}

    def _restored(self, at: int, message: dict[str, Any]) -> dict[str, Json]:
        """A message as its provider knows it."""
        raw = self.transcript.raws.get(at)
        return {**message, "raw": raw} if raw is not None else message

    def _heard(self, text: str) -> dict[str, Json]:
        self._turns = 0
        self._add({"role": "user", "text": text})
        return {"text": text, "calls": [], "final": False}

    async def _answered(self) -> dict[str, Json]:
        """The agent has an answer. In a chat the person may go on."""
        if self.transcript.about.chat or not self._said.empty():
            self.tell({"answered": True})
            self._heard(await self._said.get())
            return {"over": False}
        self.stop("done")
        return {"over": True}

    def oversight(self, call: str = "") -> Oversight:
        """What holds for every call of this agent. `call` is the one of the model's that it is for."""
        tell, helpers = partial(self._recorded, call), self.transcript.about.helpers
        return Oversight(tell, self._may, self.payers, self.only, helpers=helpers)

    def _recorded(self, call: str, kind: str, fields: dict[str, Json]) -> None:
        if kind == "event" and fields.get("event") == "code" and fields.get("what") == "begun":
            if call:
                self.transcript.add({"begun": call, "run": str(fields["run"])})
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
        """Whether a call may be made: not by who was stopped. A program that outlives it has other oversight."""
        await self._wait()
        return not self.is_stopped

    @property
    def is_stopped(self) -> bool:
        """Whether it, or whoever it works for, ends."""
        return self._stopped.is_set() or (self.parent is not None and self.parent.is_stopped)

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
        called = str(self._called["id"]) if self._called is not None else ""
        context.oversight, context.holder, context.ask_client = self.oversight(called), self._holder, None
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
        return await self._seat.runtime.refuse(session, principal, about, refusal, self._seat.payers)

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        return self._seat.runtime.listen(changed)


def _text_of(result: dict[str, Any]) -> str:
    """What the model is told of a result."""
    parts = [part for part in result.get("content", ()) if isinstance(part, dict)]
    return "\n".join(str(part.get("text")) if part.get("type") == "text" else f"({part.get('type')})" for part in parts)
