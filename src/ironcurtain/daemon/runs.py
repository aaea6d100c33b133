"""Programs of agents: started, listed, cancelled, and taken up again after a start.

INVARIANT: whether a program goes on is asked of the record, all of it. One of which a later step, or its end, is
recorded is not resumed; a call of which an intent is recorded is not made again.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
from typing import TYPE_CHECKING, Final

from ironcurtain.audit.record import principal_fields
from ironcurtain.audit.store import AuditHaltedError, UnrecordableError
from ironcurtain.daemon.going import Going, emptied, holder_of, now
from ironcurtain.daemon.histories import History, histories
from ironcurtain.daemon.languages import LANGUAGES, PYTHON, TYPESCRIPT, Compilers, version_of
from ironcurtain.daemon.planning import read_plan
from ironcurtain.daemon.skills import Skills
from ironcurtain.errors import Refusal
from ironcurtain.gateway.context import done_before
from ironcurtain.sandbox.interfaces import Interfaces
from ironcurtain.sandbox.process import HostError, Hosts
from ironcurtain.sandbox.store import GOING_ON, Run, Status, Store
from ironcurtain.wire.call import principal_from

if TYPE_CHECKING:
    from ironcurtain.daemon.planning import Plan
    from ironcurtain.daemon.runtime import Runtime
    from ironcurtain.daemon.skills import Skill
    from ironcurtain.gateway.catalogue import Catalogue
    from ironcurtain.gateway.context import CallContext, Oversight
    from ironcurtain.model.call import Json, Principal

MOST_RUNNING: Final = 32  # programs that are not waiting; no more than eight of them at once have a process
MOST_OF_ONE: Final = 5  # of one agent and whoever works for it
MOST_WAITING: Final = 200
MOST_INTERFACES: Final = 64  # kept for the next program; every helper has its own
LONGEST_PROGRAM: Final = 200_000  # characters
_LAST_WORDS: Final = 10.0  # seconds for programs to end
_TIDY_EVERY: Final = 50
_BEGUN: Final = 1e-7  # progress; whatever comes later is more


class Runs:
    """All programs of a home."""

    def __init__(self, runtime: Runtime, store: Store) -> None:
        self.runtime = runtime
        self.store = store
        self.skills = Skills(runtime.home.skills)
        self.hosts = Hosts(runtime.home.run, runtime.settings.code.fields())
        self.compilers = Compilers()
        self._under_way: dict[str, Going] = {}
        self._interfaces: dict[tuple[Principal, frozenset[tuple[str, str]] | None], tuple[Catalogue, Interfaces]] = {}
        self._begun = 0
        self._closed = False

    def prepare(self) -> None:
        """Have a sandbox ready."""
        self.hosts.prepare()

    async def close(self) -> None:
        """Stop all of them. Those that wait go on when we are back."""
        self._closed = True
        await asyncio.gather(*(going.close() for going in list(self._under_way.values()) if going.started))
        await self.hosts.close()

    def save(self, run: Run) -> None:
        """Write a program down, with what it has seen. INVARIANT: that is never less than what it had seen before."""
        self.runtime.sources.add(holder_of(run), run.sources)
        run.sources = sorted(self.runtime.sources.of(holder_of(run)))
        self.store.save(run)

    # --- After a start. ---

    def restore(self) -> None:
        """Take up what waits. Where nothing can be decided now, everything stays as it is."""
        if self.runtime.latch.reason is not None:
            return
        self.store.tidy()
        for left in self.runtime.home.run.glob("check-*"):  # by a compiler that was cut off
            shutil.rmtree(left, ignore_errors=True)
        heads = self.store.heads()
        spoiled, runs = [name for name, head in heads.items() if head is None], []
        for name in [name for name, head in heads.items() if head is not None and head["status"] in GOING_ON]:
            try:
                runs.append(self.store.load(name))
            except Refusal:
                spoiled.append(name)
        if spoiled:
            self.runtime.notes["programs"] = f"not as they were written, and not taken up: {', '.join(spoiled[:5])}"
        known = histories(self.runtime.home.audit, {run.id for run in runs})
        for run in runs:
            try:
                self._take_up(run, known[run.id])
            except OSError as error:
                self.runtime.notes["programs"] = f"{run.id} could not be written down: {error.strerror or error}"

    def _take_up(self, run: Run, history: History) -> None:
        kept = run.state or run.language == TYPESCRIPT
        answered = run.status is Status.RUNNING and kept and run.steps and run.steps[-1].answer is not None
        waits = run.status is Status.WAITING and bool(run.steps) == bool(run.calls)  # at a call, or before the first
        goes_on = waits or answered
        run.sources = sorted({*run.sources, *history.seen})
        orphaned = run.principal.get("subagent") is True and len(run.payers) > 1
        if history.ended or history.last > run.calls or not goes_on or orphaned:
            why = "the daemon ended while it ran" if not orphaned else "whoever it worked for is gone"
            why = f"it had {history.ended} already" if history.ended else why
            run.failure = {"kind": "cut-off", "message": f"{why}, after {max(run.calls, history.last)} calls"}
            run.status, run.ended = Status.CUT_OFF, now()
            self.save(emptied(run))
            return
        answer: dict[str, Json] | None = None
        if run.status is Status.WAITING and run.calls in history.made:
            answer = {"raise": ["RuntimeError", history.made[run.calls]]}
        elif run.status is Status.WAITING and run.calls in history.refused:
            answer = {"raise": ["PermissionError", f"IronCurtain: not allowed: {history.refused[run.calls]}"]}
        self.runtime.sources.add(holder_of(run), run.sources)
        going = Going(self, run, principal_from(run.principal))
        going.leave_alone()
        self._start(going, answer)

    # --- A program, from its beginning. ---

    async def execute(
        self, program: str, data: Json, principal: Principal, context: CallContext, language: str = PYTHON
    ) -> dict[str, Json]:
        """Run a program to its end, and say what came of it. Who withdraws it ends it, unless it waits for a person."""
        if len(program) > LONGEST_PROGRAM:
            raise Refusal("code_too_long", f"more than {LONGEST_PROGRAM} characters", "say it in fewer")
        run = self._new(secrets.token_hex(4), program, data, principal, language)
        if context.oversight is not None:
            run.payers = [{"agent": principal_fields(payer), "task": task} for payer, task in context.oversight.payers]
            run.helpers = context.oversight.helpers
            run.only = None if context.oversight.only is None else sorted(map(list, context.oversight.only))
        self._make_room(run)
        run.sources = sorted(self.runtime.sources.of(context.holder))
        going = Going(self, run, principal, context.tell, context.oversight, context.holder)
        self._under_way[run.id] = going
        try:
            self.save(run)
            await going.record("begun", {"program": self.runtime.redactor.text(program)})
        except OSError as error:
            self._under_way.pop(run.id)
            raise Refusal("code_unkept", f"it cannot be written down: {error.strerror or error}") from None
        except BaseException:
            self._under_way.pop(run.id)
            raise
        if self._closed:
            self._under_way.pop(run.id)
            raise Refusal("code_exhausted", "the daemon stops", "ask again when it is back")
        self._begun += 1
        if self._begun % _TIDY_EVERY == 0:
            self.store.tidy()
        self._start(going, None)
        if context.tell is not None:  # so that whoever is cut off can ask what came of it
            context.tell({"progress": _BEGUN, "message": "the program runs", "_meta": {"ironcurtain/run": run.id}})
        if not await done_before(context.withdrawn, going.done) and run.status is not Status.WAITING:
            going.stop()
            await asyncio.wait([going.done])
        return run.told()

    def _new(self, name: str, program: str, data: Json, principal: Principal, language: str = PYTHON) -> Run:
        return Run(
            id=name, principal=dict(principal_fields(principal)), program=_plain_lines(program), data=data, seed=0,
            created=now(),
            limits=self.runtime.settings.code.fields(), interpreter=version_of(language), language=language,
        )  # fmt: skip

    def _make_room(self, run: Run) -> None:
        running = [each.run for each in self._under_way.values() if each.run.status is Status.RUNNING]
        own = [each for each in running if _whose(each) == _whose(run)]
        waiting = len(self._under_way) - len(running)
        if len(running) >= MOST_RUNNING or len(own) >= MOST_OF_ONE or waiting >= MOST_WAITING:
            raise Refusal("code_exhausted", "too many programs at once", "wait until one has ended")

    async def plan(self, program: str, principal: Principal, language: str = PYTHON) -> Plan:
        """What a program may do; nothing of it is run."""
        try:
            raw = await Going(self, self._new("", program, None, principal, language), principal).proposed()
        except HostError as error:
            raise Refusal("code_unavailable", str(error), "run: ironcurtain doctor") from None
        interfaces = await self.interfaces(principal)
        return await read_plan(raw, interfaces, principal, self.runtime, renamed=language != TYPESCRIPT)

    def _start(self, going: Going, answer: dict[str, Json] | None) -> None:
        self._under_way[going.run.id] = going
        going.start(answer)
        going.done.add_done_callback(lambda _: self._under_way.pop(going.run.id, None))

    async def keep_skill(self, skill: Skill, principal: Principal) -> None:
        """Keep a program for later, and record that."""
        if len(skill.code) > LONGEST_PROGRAM or skill.language not in LANGUAGES:
            raise Refusal("code_too_long", f"more than {LONGEST_PROGRAM} characters, or no language that there is")
        self.skills.check(skill, principal)
        if self.skills.has(skill, principal):
            return
        await self.runtime.brake(principal)
        text = self.runtime.redactor.text(skill.code)
        about: dict[str, Json] = {"event": "skill", "agent": principal_fields(principal), "name": skill.name}
        try:
            await self.runtime.audit.append("event", {**about, "language": skill.language, "program": text})
            self.skills.save(skill, principal)
        except (AuditHaltedError, UnrecordableError, OSError) as error:
            raise Refusal("skill_refused", f"it cannot be kept: {error}", "run: ironcurtain doctor") from None

    # --- What whoever asks is told. ---

    def listed(self) -> list[dict[str, Json]]:
        """All programs, the newest first."""
        ended = [head for head in self.store.heads().values() if head is not None and head["status"] not in GOING_ON]
        found = [*ended, *(going.run.head() for going in self._under_way.values())]
        return sorted(found, key=lambda head: str(head["created"]), reverse=True)

    def _found(self, name: str) -> Run:
        going = self._under_way.get(name)
        return going.run if going else self.store.load(name)

    def show(self, name: str) -> dict[str, Json]:
        """One program."""
        run = self._found(name)
        return {**run.summary(), **run.told(), "program": run.program}

    async def result(self, name: str, principal: Principal, seconds: float, context: CallContext) -> dict[str, Json]:
        """What came of a program, for whoever started it. One that is not over is waited for, for a while."""
        run = self._found(name)
        if run.principal != principal_fields(principal):
            raise Refusal("run_unknown", f"there is no program {name[:20]!r}", "it is another agent's, or was none")
        going = self._under_way.get(name)
        if going is not None and going.started and seconds > 0:
            await done_before(context.withdrawn, going.done, seconds)
        self.runtime.sources.add(context.holder, [*run.sources, *self.runtime.sources.of(holder_of(run))])
        return run.told()

    async def cancel(self, name: str) -> dict[str, Json]:
        """End one, waiting or not."""
        going = self._under_way.get(name)
        if going is None or not going.started:
            self.store.load(name)
            raise Refusal("run_ended", f"program {name} has ended already", "see: ironcurtain code show " + name)
        going.stop()
        await asyncio.wait([going.done])
        return going.run.told()

    def adopt(self, task: str, oversight: Oversight, holder: str) -> list[str]:
        """Whoever goes on with a task looks on at its programs again. Says which there are."""
        own = self._of(task)
        for going in own:
            going.attend(oversight, holder)
        return [going.run.id for going in own]

    async def leave(self, task: str, *, whole: bool) -> None:
        """Nobody looks on any more: end all programs of a task, or, if not all of it ends, those that do not wait."""
        ending = []
        for going in self._of(task):
            if whole or going.run.status is not Status.WAITING:
                going.stop()
                ending.append(going.done)
            else:
                going.leave_alone()
        if ending:
            await asyncio.wait(ending, timeout=_LAST_WORDS)

    def any_of(self, task: str) -> bool:
        """Whether a task has programs that are not over."""
        return bool(self._of(task))

    def _of(self, task: str) -> list[Going]:
        return [going for going in self._under_way.values() if going.started and _task_of(going.run) == task]

    async def interfaces(self, principal: Principal, only: frozenset[tuple[str, str]] | None = None) -> Interfaces:
        """What the tools of a principal, or those of them that were given to it, are called in a program."""
        made = self._interfaces.get((principal, only))
        if made is None or made[0] is not self.runtime.catalogue:
            offered = await self.runtime.offered_tools(principal)
            tools = [(server, tool, definition) for server, tool, definition in offered
                     if only is None or (server, tool) in only]  # fmt: skip
            while len(self._interfaces) >= MOST_INTERFACES:
                del self._interfaces[next(iter(self._interfaces))]
            made = self._interfaces[principal, only] = self.runtime.catalogue, Interfaces(tools)
        return made[1]


def _plain_lines(program: str) -> str:
    """A program whose lines end in one way: not everybody takes others for the same."""
    return program.replace("\r\n", "\n").replace("\r", "\n")


def _whose(run: Run) -> Principal:
    return principal_from(run.principal).root


def _task_of(run: Run) -> Json:
    return run.payers[0]["task"] if run.payers else None
