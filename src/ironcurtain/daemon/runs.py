"""Programs of agents: run in a sandbox, every call of theirs mediated, kept on disk while a person is asked.

Where a program waits, its process has ended; what goes on later is its state, at that very call. Nothing it did is done
again: the call it waits for has not been made, and one that may have been made when we were cut off is not repeated.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.audit.record import principal_fields
from ironcurtain.audit.store import AuditHaltedError, UnrecordableError
from ironcurtain.daemon.plan_asking import MOST_ASKED, EndedError, PlanAsking
from ironcurtain.daemon.planning import read_plan
from ironcurtain.errors import Refusal
from ironcurtain.gateway.context import CallContext
from ironcurtain.gateway.inbound.refusal import told_no
from ironcurtain.sandbox.interfaces import Interfaces
from ironcurtain.sandbox.process import HostError, Hosts, interpreter_version
from ironcurtain.sandbox.store import Run, Status, Step, Store
from ironcurtain.wire import strict_json
from ironcurtain.wire.call import principal_from
from ironcurtain.wire.limits import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.daemon.planning import Plan
    from ironcurtain.daemon.runtime import Runtime
    from ironcurtain.gateway.catalogue import Catalogue
    from ironcurtain.mediation.effects import Answer
    from ironcurtain.model.call import Json, Principal
    from ironcurtain.sandbox.process import Host

MOST_RUNNING: Final = 8  # programs at once; each has processes of its own
MOST_WAITING: Final = 200
LONGEST_PROGRAM: Final = 200_000  # characters
_GRACE: Final = 10.0  # seconds beyond what a program may compute, for its host to say so itself
_KEEPING: Final = 20.0


class Runs:
    """All programs of a home."""

    def __init__(self, runtime: Runtime, store: Store) -> None:
        self._runtime = runtime
        self._store = store
        self._hosts = Hosts(runtime.home.run, runtime.settings.code.fields())
        self._under_way: dict[str, _Going] = {}
        self._interfaces: dict[Principal, tuple[Catalogue, Interfaces]] = {}

    def prepare(self) -> None:
        """Have a sandbox ready."""
        self._hosts.prepare()

    async def close(self) -> None:
        """Stop all of them. Those that wait go on when we are back."""
        for going in list(self._under_way.values()):
            going.task.cancel()
        await asyncio.gather(*(going.task for going in self._under_way.values()), return_exceptions=True)
        await self._hosts.close()

    def restore(self, before: list[dict[str, Any]]) -> None:
        """Take up what waits, after a start. `before` are the records of the last run of the daemon."""
        self._store.tidy()
        made = _made(before)
        for run in list(self._store.all()):
            if run.status is Status.RUNNING and not _stands_at_an_answer(run, made):
                run.status, run.ended = Status.CUT_OFF, _now()
                run.failure = {"kind": "cut-off", "message": f"the daemon ended while it ran, after {run.calls} calls"}
                self._store.save(_emptied(run))
            elif run.status in (Status.RUNNING, Status.WAITING):
                self._start(_Going(self, run, principal_from(run.principal)), made.get((run.id, run.calls)))

    async def execute(self, program: str, data: Json, principal: Principal, context: CallContext) -> dict[str, Json]:
        """Run a program to its end, and say what came of it. Who withdraws it ends it, unless it waits for a person."""
        if len(program) > LONGEST_PROGRAM:
            raise Refusal("code_too_long", f"more than {LONGEST_PROGRAM} characters", "say it in fewer")
        running = [each for each in self._under_way.values() if each.run.status is Status.RUNNING]
        if len(running) >= MOST_RUNNING or len(self._under_way) >= MOST_RUNNING + MOST_WAITING:
            raise Refusal("code_exhausted", "too many programs at once", "wait until one has ended")
        run = Run(
            id=secrets.token_hex(4), principal=dict(principal_fields(principal)), program=program, data=data,
            limits=self._runtime.settings.code.fields(), seed=0, created=_now(),
            interpreter=interpreter_version(),
        )  # fmt: skip
        going = _Going(self, run, principal, context.tell)
        await going.record("begun", {"program": self._runtime.redactor.text(program)})
        self._store.save(run)
        self._start(going, None)
        leaving = asyncio.ensure_future(context.withdrawn.wait())
        try:
            while not going.task.done():
                await asyncio.wait([going.task, leaving], return_when=asyncio.FIRST_COMPLETED)
                if leaving.done() and not going.task.done():
                    if run.status is Status.WAITING:
                        return run.told()
                    going.task.cancel()
                    await asyncio.wait([going.task])
        finally:
            leaving.cancel()
        return run.told()

    async def plan(self, program: str, principal: Principal) -> Plan:
        """What a program may do; nothing of it is run."""
        run = Run(
            id="", principal={}, program=program, data=None, limits=self._runtime.settings.code.fields(), seed=0,
            created="", interpreter=interpreter_version(),
        )  # fmt: skip
        going = _Going(self, run, principal)
        try:
            raw = await going.proposed()
        except HostError as error:
            raise Refusal("code_unavailable", str(error), "run: ironcurtain doctor") from None
        return read_plan(raw, await self.interfaces(principal), principal, self._runtime)

    def _start(self, going: _Going, made: str | None) -> None:
        self._under_way[going.run.id] = going
        going.task = asyncio.create_task(going.go(made))
        going.task.add_done_callback(lambda _: self._under_way.pop(going.run.id, None))

    def listed(self) -> list[dict[str, Json]]:
        """All programs, the newest first."""
        found = {run.id: run for run in self._store.all()}
        found.update({name: going.run for name, going in self._under_way.items()})
        return [
            {**run.told(), "created": run.created, "ended": run.ended, "agent": run.principal,
             "program": run.program.strip().splitlines()[0][:80] if run.program.strip() else ""}
            for run in sorted(found.values(), key=lambda run: run.created, reverse=True)
        ]  # fmt: skip

    def show(self, name: str) -> dict[str, Json]:
        """One program."""
        going = self._under_way.get(name)
        run = going.run if going else self._store.load(name)
        return {
            **run.told(), "created": run.created, "ended": run.ended, "agent": run.principal, "program": run.program,
        }  # fmt: skip

    def shown_to(self, name: str, principal: Principal) -> dict[str, Json]:
        """One program, for whoever started it."""
        going = self._under_way.get(name)
        run = going.run if going else self._store.load(name)
        if run.principal != principal_fields(principal):
            raise Refusal("run_unknown", f"there is no program {name[:20]!r}", "it is another agent's, or was none")
        return run.told()

    async def cancel(self, name: str) -> dict[str, Json]:
        """End one, waiting or not."""
        going = self._under_way.get(name)
        if going is None:
            self._store.load(name)
            raise Refusal("run_ended", f"program {name} has ended already", "see: ironcurtain code show " + name)
        going.cancelled = True
        going.task.cancel()
        await asyncio.wait([going.task])
        return going.run.told()

    async def interfaces(self, principal: Principal) -> Interfaces:
        """What the tools of a principal are called in a program."""
        made = self._interfaces.get(principal)
        if made is None or made[0] is not self._runtime.catalogue:
            tools = await self._runtime.offered_tools(principal)
            made = self._interfaces[principal] = self._runtime.catalogue, Interfaces(tools)
        return made[1]

    @property
    def runtime(self) -> Runtime:
        """Whose programs they are."""
        return self._runtime

    @property
    def store(self) -> Store:
        """Where they are kept."""
        return self._store

    @property
    def hosts(self) -> Hosts:
        """Where they run."""
        return self._hosts


class _Going:
    """One program under way."""

    def __init__(
        self, runs: Runs, run: Run, principal: Principal, tell: Callable[[dict[str, Json]], None] | None = None
    ) -> None:
        self.run = run
        self.task: asyncio.Task[None]
        self.cancelled = False
        self._runs = runs
        self._principal = principal
        self._tell = tell
        self._host: Host | None = None
        self._at = 0
        """How many calls the program in the host has been told the answer of."""

    async def go(self, made: str | None) -> None:
        """Run it to its end."""
        run = self.run
        try:
            if run.status is Status.WAITING and run.steps:
                run.steps[-1].answer = await self._answered_at_last(made)
            self._go_on()
            run.result = await self._to_its_end()
            run.status = Status.DONE
        except EndedError as error:
            run.status, run.failure = Status.FAILED, {"kind": error.kind, "message": error.message}
        except (HostError, Refusal, OSError) as error:
            run.status, run.failure = Status.FAILED, {"kind": "sandbox", "message": str(error)}
        except asyncio.CancelledError:
            if run.status is Status.WAITING and not self.cancelled:
                raise  # the daemon stops; it goes on when that is back
            run.status = Status.CANCELLED
            run.failure = {"kind": "cancelled", "message": f"it was cancelled after {run.calls} calls"}
        finally:
            await self._end_host()
        run.ended = _now()
        self._runs.runtime.grants.end_session(self._session)
        with contextlib.suppress(Refusal):
            await self.record("ended", {"status": run.status.value, "calls": run.calls})
        with contextlib.suppress(OSError):
            self._runs.store.save(_emptied(run))

    async def record(self, what: str, fields: dict[str, Json]) -> None:
        """Write down that a program begins or ends. Raises `Refusal` where that cannot be done."""
        about: dict[str, Json] = {"event": "code", "run": self.run.id, "what": what, "agent": self.run.principal}
        try:
            await self._runs.runtime.audit.append("event", {**about, **fields})
        except (AuditHaltedError, UnrecordableError) as error:
            raise Refusal("audit_unwritable", str(error), "run: ironcurtain doctor") from None

    @property
    def _session(self) -> str:
        return f"code-{self.run.id}"

    # --- In the sandbox. ---

    async def _to_its_end(self) -> Json:
        await self._begin()
        compute = float(self._limit("seconds")) + _GRACE
        while True:
            host = self._host
            if host is None:
                raise EndedError("sandbox", "its process is gone")
            message = await host.hear(compute)
            self._note(message)
            if "call" in message:
                answer = await self._called(message["call"])
                if self._host is None:
                    await self._begin()  # it waited for a person; now it stands at that call again
                else:
                    self._host.say(answer)
            elif "done" in message:
                result: Json = message["done"]
                return result
            elif "failed" in message:
                raise EndedError(str(message["failed"]["kind"]), str(message["failed"]["message"]))
            else:
                raise HostError("it said something out of turn")

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
        runtime, interfaces = self._runs.runtime, await self._runs.interfaces(self._principal)
        plan = read_plan(raw, interfaces, self._principal, runtime)
        cleaned: Json = runtime.redactor.clean(plan.told())[0]
        await self.record("planned", {"plan": cleaned})
        for call in plan.calls:
            if call.never and call.decision is not None:
                raise EndedError("plan", f"{call} ({call.decision.reason}); nothing was done")
        asked = [call for call in plan.calls if call.effect is not None and call.often == "once"]
        if not 1 < len({call.effect.digest for call in asked if call.effect}) <= MOST_ASKED:
            return True
        await self._end_host()
        await PlanAsking(self._runs, self.run, self._session, self._tell).ask(asked)
        return False

    async def _open(self) -> Json:
        """Give the program to a new host: as it stands, or from the beginning if another interpreter wrote it."""
        run = self.run
        same = run.interpreter == interpreter_version()
        state = run.state if same else ""
        self._at = max(0, len(run.steps) - 1) if state else 0
        if not state:
            run.printed, run.cut = "", False
        self._host = await self._runs.hosts.take()
        run.seed = run.seed or self._host.seed
        self._host.say(
            {"program": run.program, "data": run.data, "seed": run.seed, "state": state,
             "moments": [] if state else [*run.moments]}
        )  # fmt: skip
        if not state:
            run.moments = []
        wants = await self._host.hear(_GRACE)
        names = wants.get("wants")
        if not isinstance(names, list):
            raise HostError("it said something out of turn")
        interfaces = await self._runs.interfaces(self._principal)
        self._host.say({"modules": interfaces.modules([str(name) for name in names])})
        if state:
            return None
        proposed = await self._host.hear(_GRACE)
        plan: Json = proposed.get("plan")
        return plan if plan is not None else {}

    async def _end_host(self) -> None:
        host, self._host = self._host, None
        if host is not None:
            await host.end()

    def _note(self, message: dict[str, Any]) -> None:
        """What was printed and read off the clock since the last message."""
        run, most = self.run, self._limit("output")
        printed = run.printed + str(message.get("printed", ""))
        run.printed, run.cut = printed[:most], run.cut or bool(message.get("cut")) or len(printed) > most
        moments = message.get("moments", [])
        run.moments += [float(moment) for moment in moments if isinstance(moment, (int, float))]

    def _limit(self, name: str) -> int:
        value = self.run.limits[name]
        return value if isinstance(value, int) else 0

    # --- Calls. ---

    async def _called(self, call: Any) -> dict[str, Json]:  # noqa: ANN401 - as a host said it
        """Answer a call of the program: as it was answered before, or by mediating it."""
        step = _step_from(call)
        run = self.run
        if self._at < len(run.steps):
            known = run.steps[self._at]
            if (known.name, known.args, known.kwargs) != (step.name, step.args, step.kwargs) or known.answer is None:
                raise EndedError("repeat", "after an upgrade it did not do again what it had done before")
            self._at += 1
            return known.answer
        if run.calls >= self._limit("calls"):
            raise EndedError("calls", f"it made more than {self._limit('calls')} calls")
        run.calls += 1
        run.steps.append(step)
        self._at += 1
        step.answer = await self._answer(step)
        if self._host is None:
            self._go_on()
        return step.answer

    def _go_on(self) -> None:
        """INVARIANT: before a program goes on, it is on disk that it does; what it did before is not done again."""
        self.run.status, self.run.question = Status.RUNNING, ""
        self._runs.store.save(self.run)

    async def _answer(self, step: Step) -> dict[str, Json]:
        interfaces = await self._runs.interfaces(self._principal)
        if interfaces.serves(step.name):
            return interfaces.answer(step.name, step.args, step.kwargs)
        function = interfaces.find(step.name)
        if function is None:
            return {"raise": ["LookupError", f"there is no tool {step.name[:100]}; tools.search(...) finds some"]}
        try:
            arguments = function.arguments(step.args, step.kwargs)
        except Refusal as refusal:
            return {"raise": ["TypeError", refusal.reason]}
        if len(strict_json.canonical(arguments)) > MESSAGE.size:
            return {"raise": ["TypeError", f"the arguments have more than {MESSAGE.size} bytes"]}
        self.run.pending = {
            "server": function.server, "tool": function.tool, "arguments": arguments, "structured": function.structured,
        }  # fmt: skip
        return await self._mediated()

    async def _mediated(self, question: str = "") -> dict[str, Json]:
        """Carry the call that the program stands at through the twelve steps."""
        pending: Any = self.run.pending
        context = CallContext({}, self._tell)
        context.code = {"run": self.run.id, "step": self.run.calls}
        context.keep, context.question = self._keep, question
        key = (pending["server"], pending["tool"])
        mediate = self._runs.runtime.mediate
        answer = await mediate(self._session, key, pending["arguments"], self._principal, context)
        return _as_value(answer, pending["server"], structured=pending["structured"])

    # --- Waiting for a person. ---

    async def _keep(self, question: str) -> None:
        """A person has to be asked: write the program down as it stands, and end its process."""
        run = self.run
        run.question = question
        if self._host is not None:
            self._host.say({"keep": True})
            kept = await self._host.hear(_KEEPING)
            self._note(kept)
            run.state = str(kept.get("state", ""))
            if not run.state:
                raise HostError("the program could not be written down")
            await self._end_host()
        run.status = Status.WAITING
        self._runs.store.save(run)

    async def _answered_at_last(self, made: str | None) -> dict[str, Json]:
        """After a start: ask again what was asked, unless the call may have been made already."""
        if made is not None:
            return {"raise": ["RuntimeError", made]}
        return await self._mediated(self.run.question)


def _step_from(call: Any) -> Step:  # noqa: ANN401 - as a host said it
    if not isinstance(call, dict):
        raise HostError("a call that is none")
    name, args, kwargs = call.get("name"), call.get("args"), call.get("kwargs")
    if not isinstance(name, str) or not isinstance(args, list) or not isinstance(kwargs, dict):
        raise HostError("a call that is none")
    return Step(name, args, kwargs)


def _as_value(answer: Answer, server: str, *, structured: bool) -> dict[str, Json]:
    """What a call gives in a program."""
    executed = answer.executed
    if executed is None or (executed.result is None and executed.error is None):
        kind = "PermissionError" if executed is None else "RuntimeError"
        content: Any = told_no(answer)["content"]
        return {"raise": [kind, str(content[0]["text"])]}
    if executed.error is not None:
        return {"raise": ["RuntimeError", f"{server}: {executed.error['message']}"]}
    result = executed.result or {}
    if result.get("isError"):
        return {"raise": ["RuntimeError", _text_of(result)]}
    if structured and isinstance(result.get("structuredContent"), dict):
        return {"value": result["structuredContent"]}
    return {"value": _text_of(result)}


def _text_of(result: dict[str, Json]) -> str:
    """The text of a result; what is no text, as JSON."""
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(part["text"]) if isinstance(part, dict) and part.get("type") == "text" and "text" in part
        else strict_json.canonical(part).decode()
        for part in parts
    )  # fmt: skip


def _made(before: list[dict[str, Any]]) -> dict[tuple[str, int], str]:
    """Calls of programs that the last run of the daemon made, or may have made, by program and step."""
    found: dict[tuple[str, int], str] = {}
    calls: dict[str, tuple[str, int]] = {}
    for record in before:
        code = record.get("code")
        if record.get("kind") == "intent" and isinstance(code, dict):
            step = str(code.get("run")), int(code.get("step", 0))
            calls[str(record.get("call"))] = step
            found[step] = "IronCurtain was cut off while the call was made: nobody knows whether it took effect"
        elif record.get("kind") == "outcome" and str(record.get("call")) in calls:
            step = calls[str(record.get("call"))]
            if record["execution"].get("status") == "not-forwarded":
                found.pop(step, None)
            else:
                found[step] = "the call was made, and what it gave was lost when IronCurtain was cut off"
    return found


def _stands_at_an_answer(run: Run, made: dict[tuple[str, int], str]) -> bool:
    """Whether a program that was to go on had done nothing since it was told what it had waited for."""
    answered = bool(run.state) and bool(run.steps) and run.steps[-1].answer is not None
    return answered and not any(name == run.id and step > run.calls for name, step in made)


def _emptied(run: Run) -> Run:
    """What is kept of a program that has ended: not what it was told."""
    run.steps, run.moments, run.state, run.question, run.pending = [], [], "", "", {}
    return run


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
