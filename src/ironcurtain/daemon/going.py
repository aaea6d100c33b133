"""One program under way: in its sandbox, or waiting for a person.

Where it waits its process has ended; what goes on later is its state, at that very call. INVARIANT: whatever a sandbox
or a program's file does wrong ends that program, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.audit.store import AuditHaltedError, UnrecordableError
from ironcurtain.daemon.languages import language_of
from ironcurtain.daemon.plan_asking import MOST_ASKED, EndedError, PlanAsking
from ironcurtain.daemon.planning import read_plan
from ironcurtain.daemon.values import as_value
from ironcurtain.errors import Refusal
from ironcurtain.gateway.context import CallContext, Oversight, let_by
from ironcurtain.sandbox.process import LARGEST, LONG, HostError, SlowHostError
from ironcurtain.sandbox.store import Run, Status, Step
from ironcurtain.wire import strict_json
from ironcurtain.wire.call import principal_from
from ironcurtain.wire.limits import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.daemon.runs import Runs
    from ironcurtain.model.call import Json, Principal
    from ironcurtain.sandbox.process import Host

MOST_TOLD: Final = 8 << 20  # bytes of what a program was told that are kept, so that another interpreter can repeat it
MOST_RESULT: Final = 1 << 20
MOST_MOMENTS: Final = 10_000  # that are kept of the clock
_LONGEST_KIND: Final = 40  # characters
_LONGEST_FAILURE: Final = 20_000
_MOST_WANTED: Final = 1_000  # modules
_GRACE: Final = 10.0  # seconds beyond what a program may compute, for its host to say so itself
_KEEPING: Final = 20.0
_LAST_WORDS: Final = 5.0  # seconds for a call under way to be recorded when we stop


class Going:
    """One program under way."""

    def __init__(
        self,
        runs: Runs,
        run: Run,
        principal: Principal,
        tell: Callable[[dict[str, Json]], None] | None = None,
        oversight: Oversight | None = None,
        holder: str = "",
    ) -> None:
        self.run = run
        if holder:
            runs.runtime.sources.share(holder_of(run), holder)
        self._oversight = oversight
        self.done: asyncio.Task[None]
        """It is over, and that is on disk. Nobody cancels this."""
        self._work: asyncio.Task[Json]
        self._runs = runs
        self._principal = principal
        self._tell = tell
        self._host: Host | None = None
        self._call: CallContext | None = None
        """What surrounds the call under way."""
        self._stopped: tuple[Status, str] | None = None
        self._attended = asyncio.Event()
        """Somebody looks on, or it ends."""
        self._closing = False
        self._language = language_of(run, runs.runtime.home.run, runs.compilers)
        self._at = 0
        """How many calls the program in the host has been told the answer of."""
        self._told = 0
        self.started = False

    # --- From its beginning to its end. ---

    def start(self, answer: dict[str, Json] | None) -> None:
        """Let it run; with the answer to what it waits for, if that is known."""
        self.started = True
        self._work = asyncio.create_task(self._run(answer))
        self.done = asyncio.create_task(self._see_it_end())

    def stop(self, status: Status = Status.CANCELLED, why: str = "it was cancelled") -> None:
        """End it. A call under way is withdrawn like any other, and recorded."""
        self._stopped = self._stopped or (status, why)
        self._attended.set()
        if self._call is not None:
            self._call.withdrawn.set()
        else:
            self._work.cancel()

    def attend(self, oversight: Oversight, holder: str) -> None:
        """Somebody looks on from now on."""
        self._runs.runtime.sources.share(holder_of(self.run), holder)
        self._looked_on_by(oversight)
        self._attended.set()

    def leave_alone(self) -> None:
        """Nobody looks on. INVARIANT: a program that is part of a task makes no call until somebody does again."""
        run = self.run
        self._runs.runtime.sources.part(holder_of(run))
        if not run.payers and run.only is None:
            return
        payers = tuple((principal_from(payer["agent"]), _text_or_none(payer["task"])) for payer in run.payers)
        only = None if run.only is None else frozenset((server, tool) for server, tool in run.only)
        self._attended.clear()
        self._looked_on_by(Oversight(lambda _kind, _fields: None, self._until_attended, payers, only, run.helpers))

    def _looked_on_by(self, oversight: Oversight) -> None:
        self._oversight = oversight
        if self._call is not None:
            self._call.oversight = oversight

    async def _until_attended(self) -> bool:
        await self._attended.wait()
        return self._stopped is None

    async def close(self) -> None:
        """We stop. One that waits goes on when we are back."""
        self._closing = True
        if self.run.status is Status.WAITING:
            self._work.cancel()
        else:
            self.stop(Status.CUT_OFF, "the daemon was stopped")
            await asyncio.wait([self._work], timeout=_LAST_WORDS)
            self._work.cancel()
        await asyncio.wait([self.done])

    async def _see_it_end(self) -> None:
        """INVARIANT: the end of a program is recorded and written down, whoever cancels what."""
        run = self.run
        await asyncio.wait([self._work])
        with contextlib.suppress(OSError):
            await self._end_host()
        error = None if self._work.cancelled() else self._work.exception()
        if self._closing and run.status is Status.WAITING and self._stopped is None:
            return
        if self._stopped is not None:
            status, why = self._stopped
            run.status, run.failure = status, {"kind": status.value, "message": f"{why}, after {run.calls} calls"}
        elif isinstance(error, EndedError):
            run.status, run.failure = Status.FAILED, {"kind": error.kind, "message": error.message}
        elif error is not None or self._work.cancelled():
            run.status, run.failure = Status.FAILED, {"kind": "sandbox", "message": str(error or "it was ended")}
        else:
            run.status, run.result = Status.DONE, self._work.result()
        run.ended = now()
        self._runs.runtime.grants.end_session(self._session)
        with contextlib.suppress(Refusal):
            await self.record("ended", {"status": run.status.value, "calls": run.calls})
        try:
            self._runs.save(emptied(run))
        except OSError as error_:
            self._runs.runtime.notes["programs"] = f"{run.id} could not be written down: {error_.strerror or error_}"
        self._runs.runtime.sources.forget(holder_of(run))

    async def _run(self, answer: dict[str, Json] | None) -> Json:
        run = self.run
        if run.status is Status.WAITING and run.steps:
            answered = answer if answer is not None else await self._mediated()
            if self._stopped is not None:
                raise EndedError("cancelled", "it was stopped")
            self._take_up(answered)
        self._go_on()
        return await self._to_its_end()

    async def record(self, what: str, fields: dict[str, Json]) -> None:
        """Write down that a program begins or ends. Raises `Refusal` where that cannot be done."""
        about: dict[str, Json] = {"event": "code", "run": self.run.id, "what": what, "agent": self.run.principal}
        try:
            await self._runs.runtime.audit.append("event", {**about, **fields})
            if self._oversight is not None:
                self._oversight.tell("event", {**about, **fields})
        except (AuditHaltedError, UnrecordableError) as error:
            raise Refusal("audit_unwritable", str(error), "run: ironcurtain doctor") from None

    @property
    def _given(self) -> frozenset[tuple[str, str]] | None:
        """The tools that its author has, if not all."""
        return self._oversight.only if self._oversight else None

    @property
    def _session(self) -> str:
        return f"code-{self.run.id}"

    # --- In the sandbox. ---

    async def _to_its_end(self) -> Json:
        await self._begin()
        compute = float(self.run.limits["seconds"]) + _GRACE
        while True:
            host = self._host
            if host is None:
                raise EndedError("sandbox", "its process is gone")
            message = await self._heard(host, compute)
            self._note(message)
            if "call" in message:
                answer = await self._called(message["call"])
                if self._host is None:
                    await self._begin()  # it waited for a person; now it stands at that call again
                else:
                    self._host.say(answer)
            elif self._at < len(self.run.steps):
                raise EndedError("repeat", "it did not do again what it had done before")
            elif "done" in message:
                result: Json = message["done"]
                if len(strict_json.canonical(result)) > MOST_RESULT:
                    raise EndedError("result", f"what the program ends with has more than {MOST_RESULT} bytes")
                return result
            elif "failed" in message:
                kind, why = str(message["failed"]["kind"]), str(message["failed"]["message"])
                raise EndedError(kind[:_LONGEST_KIND], why[:_LONGEST_FAILURE])
            else:
                raise HostError("it said something out of turn")

    async def _heard(self, host: Host, seconds: float) -> dict[str, Any]:
        try:
            return await host.hear(seconds)
        except SlowHostError:
            raise EndedError("time", "it computed longer than it may") from None
        except HostError:
            if why := self._language.why_ended(host.code):
                raise EndedError(*why) from None
            raise

    async def _begin(self) -> None:
        """Open it; one that has done nothing yet says first what it may do."""
        plan = await self._open()
        if plan is None:
            return
        if not self.run.steps and not await self._agreed(plan):
            await self._open()  # it was put away meanwhile
        if self._host is not None:
            self._host.say({"go": True})

    async def proposed(self) -> Json:
        """What the text says that it may do."""
        try:
            return await self._open()
        finally:
            await self._end_host()

    async def _agreed(self, raw: Json) -> bool:
        """Look at what it may do. Says whether it is still there: a person may have been asked about all of it."""
        runtime, interfaces = self._runs.runtime, await self._runs.interfaces(self._principal, self._given)
        renamed = not self._language.is_typescript
        plan = await read_plan(raw, interfaces, self._principal, runtime, holder_of(self.run), renamed=renamed)
        cleaned: Json = runtime.redactor.clean(plan.told())[0]
        await self.record("planned", {"plan": cleaned})
        for call in plan.calls:
            if call.never and call.decision is not None:
                raise EndedError("plan", f"{call} ({call.decision.reason}); nothing was done"[:_LONGEST_FAILURE])
        asked = [call for call in plan.calls if call.effect is not None and call.often == "once"]
        if not 1 < len({call.effect.digest for call in asked if call.effect}) <= MOST_ASKED:
            return True
        await self._end_host()
        await PlanAsking(self._runs, self.run, self._session, self.record, self._tell).ask(asked)
        if not await let_by(lambda: self._oversight):  # it holds nothing until whoever looks on lets it
            raise EndedError("cancelled", "it was stopped")
        self._go_on()
        return False

    async def _open(self) -> Json:
        """Give the program to a new host: as it stands, or from the beginning if another interpreter wrote it."""
        run = self.run
        interfaces = await self._runs.interfaces(self._principal, self._given)
        read = await self._language.read(interfaces) if not run.steps else None
        state = self._language.state()
        if run.steps and not state and not run.repeatable:
            raise EndedError("repeat", "it was told too much to be repeated by another interpreter")
        self._at = max(0, len(run.steps) - 1) if state else 0
        self._host = await self._runs.hosts.take(self._principal.root, self._language.starter())
        run.seed = run.seed or self._host.seed
        self._host.say(
            {"program": run.program, "data": run.data, "seed": run.seed, "state": state,
             "moments": [] if state else [*run.moments]}
        )  # fmt: skip
        run.state = ""
        if not state:
            run.printed, run.cut, run.moments = "", False, []
        wanted = (await self._host.hear(_GRACE)).get("wants")
        if not isinstance(wanted, list):
            raise HostError("it said something out of turn")
        names = self._language.names([str(name)[:200] for name in wanted[:_MOST_WANTED]])
        self._host.say({"modules": interfaces.modules(names)})
        if state:
            return None
        said: Json = (await self._host.hear(_GRACE)).get("plan")
        return read or said or {}

    async def _end_host(self) -> None:
        host, self._host = self._host, None
        if host is not None:
            await self._runs.hosts.give_back(self._principal.root, host)

    def _note(self, message: dict[str, Any]) -> None:
        """What was printed and read off the clock since the last message."""
        run, most = self.run, self.run.limits["output"]
        printed = run.printed + str(message.get("printed", ""))
        run.printed, run.cut = printed[:most], run.cut or bool(message.get("cut")) or len(printed) > most
        moments = message.get("moments", [])
        if not isinstance(moments, list) or len(run.moments) + len(moments) > MOST_MOMENTS:
            raise HostError(f"it reads the clock more than {MOST_MOMENTS} times")
        run.moments += [float(moment) for moment in moments if isinstance(moment, (int, float))]

    # --- Calls. ---

    async def _called(self, call: Any) -> dict[str, Json]:  # noqa: ANN401 - as a host said it
        """Answer a call of the program: as it was answered before, or by mediating it."""
        step, run = _step_from(call), self.run
        if self._at < len(run.steps):
            known = run.steps[self._at]
            if _spelled(known) != _spelled(step) or known.answer is None:
                raise EndedError("repeat", "after an upgrade it did not do again what it had done before")
            self._at += 1
            return known.answer
        if run.calls >= run.limits["calls"]:
            raise EndedError("calls", f"it made more than {run.limits['calls']} calls")
        run.calls += 1
        run.steps.append(step)
        self._at += 1
        answer = await self._answer(step)
        if self._stopped is not None:
            raise EndedError("cancelled", "it was stopped")
        if run.status is Status.WAITING:
            self._take_up(answer)
            self._go_on()
        else:
            step.answer = answer
            self._weigh(step)
        return answer

    def _weigh(self, step: Step) -> None:
        """Keep what it was told as long as that is not too much."""
        run = self.run
        told: Json = [step.args, step.kwargs, step.answer]
        self._told += len(strict_json.canonical(told))
        if not run.repeatable or self._told > MOST_TOLD:
            run.repeatable, run.steps, run.moments = False, run.steps[-1:], []
            self._at = 1

    def _go_on(self) -> None:
        """INVARIANT: before a program goes on, it is on disk that it does; what it did before is not done again."""
        self.run.status, self.run.question, self.run.question_of = Status.RUNNING, "", ""
        self._runs.save(self.run)

    async def _answer(self, step: Step) -> dict[str, Json]:
        interfaces = await self._runs.interfaces(self._principal, self._given)
        if interfaces.serves(step.name):
            return interfaces.answer(step.name, step.args, step.kwargs, typescript=self._language.is_typescript)
        function = interfaces.find(step.name)
        try:
            arguments = self._language.arguments(function, step) if function is not None else None
        except Refusal as refusal:
            return {"raise": ["TypeError", refusal.reason]}
        if function is None or arguments is None:
            return {"raise": ["LookupError", f"there is no tool {step.name[:100]}; tools.search(...) finds some"]}
        try:  # as large and as deep as any client's, and no more
            data = strict_json.canonical(arguments)
            reading = functools.partial(strict_json.loads, data, MESSAGE)
            _ = await asyncio.to_thread(reading) if len(data) > LONG else reading()
        except Refusal as refusal:
            about: dict[str, Json] = {"server": function.server, "tool": function.tool}
            payers = self._oversight.payers if self._oversight else ()
            await self._runs.runtime.refuse(self._session, self._principal, about, refusal, payers)
            return {"raise": ["TypeError", f"the arguments: {refusal.reason}"]}
        self.run.pending = {
            "server": function.server, "tool": function.tool, "arguments": arguments, "structured": function.structured,
        }  # fmt: skip
        return await self._mediated()

    async def _mediated(self) -> dict[str, Json]:
        """Carry the call that the program stands at through the twelve steps."""
        pending: Any = self.run.pending
        context = self._call = CallContext({}, self._tell)
        context.code = {"run": self.run.id, "step": self.run.calls}
        context.oversight, context.holder = self._oversight, holder_of(self.run)
        context.keep, context.question = self._keep, (self.run.question, self.run.question_of)
        mediate = self._runs.runtime.mediate
        key = (pending["server"], pending["tool"])
        try:
            answer = await mediate(self._session, key, pending["arguments"], self._principal, context)
        finally:
            self._call = None
        return as_value(answer, pending["server"], structured=pending["structured"])

    # --- Waiting for a person. ---

    async def _keep(self, question: str, about: str) -> None:
        """A person has to be asked: write the program down as it stands, and end its process; or refuse the call."""
        run = self.run
        try:
            if self._host is not None:
                self._host.say({"keep": True})
                kept = await self._host.hear(_KEEPING, LARGEST)
                self._note(kept)
                run.state = str(kept.get("state", ""))
                await self._end_host()
                if why := self._language.why_not_kept():
                    raise HostError(why)  # noqa: TRY301 - like the others
            elif not run.steps:  # asked once more about the same call
                self._as_put_away()
            run.question, run.question_of, run.status = question, about, Status.WAITING
            self._runs.save(run)
        except (HostError, OSError, EndedError, Refusal) as error:
            run.status = Status.RUNNING
            await self._end_host()
            # Another process would have all its time again.
            self._stopped = self._stopped or (Status.FAILED, f"nobody is asked: {error}")
            help_ = "let the program hold less when it asks"
            raise Refusal("code_unkept", f"nobody is asked: {error}", help_) from None
        run.state, run.steps = "", []  # on disk, until it goes on

    def _take_up(self, answer: dict[str, Json]) -> None:
        """Have the program again as it was put away, with what it waited for."""
        self._as_put_away()
        self.run.steps[-1].answer = answer

    def _as_put_away(self) -> None:
        stored = self._runs.store.load(self.run.id)
        if (stored.calls, stored.question, stored.pending) != (self.run.calls, self.run.question, self.run.pending):
            raise EndedError("spoiled", "its file is an older one")
        self.run.state, self.run.steps, self.run.moments = stored.state, stored.steps, stored.moments


def _step_from(call: Any) -> Step:  # noqa: ANN401 - as a host said it
    if not isinstance(call, dict):
        raise HostError("a call that is none")
    name, args, kwargs = call.get("name"), call.get("args"), call.get("kwargs")
    if not isinstance(name, str) or not isinstance(args, list) or not isinstance(kwargs, dict):
        raise HostError("a call that is none")
    return Step(name, args, kwargs)


def _spelled(step: Step) -> bytes:
    """A call in one spelling: for Python itself, one and true would be the same."""
    return strict_json.canonical([step.name, step.args, dict(step.kwargs)])


def _text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def holder_of(run: Run) -> str:
    """Who has seen what a program has."""
    return f"code-{run.id}"


def emptied(run: Run) -> Run:
    """What is kept of a program that has ended: not what it was told."""
    run.steps, run.moments, run.state, run.question, run.pending, run.data = [], [], "", "", {}, None
    return run


def now() -> str:
    """The time, for people."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
