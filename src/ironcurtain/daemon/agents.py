"""The built-in agents of a home: started, resumed, spoken to, listed."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.artifacts.servers import read_credentials
from ironcurtain.daemon import code_tools
from ironcurtain.daemon.household import Household, below, told_of
from ironcurtain.daemon.minds import Broker, Script
from ironcurtain.daemon.seat import Seat, Standing
from ironcurtain.daemon.transcripts import About, Transcript, Transcripts
from ironcurtain.errors import Refusal, quote
from ironcurtain.gateway.context import AGENTS
from ironcurtain.identity.variables import variables_of
from ironcurtain.sandbox.process import MOST_OF_ONE
from ironcurtain.wire.call import principal_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ironcurtain.daemon.minds import Mind
    from ironcurtain.daemon.runtime import Runtime
    from ironcurtain.model.call import Json, Principal

MOST: Final = MOST_OF_ONE - 1  # agents at work at once, besides their helpers, for whom a sandbox is left
_MODEL: Final = re.compile(r"[a-z0-9-]+:\S+")
_SET: Final = """name one: --model anthropic:claude-sonnet-4-5, or in config.toml: [run] model = "..."; \
give its key: ironcurtain keys set ANTHROPIC_API_KEY; or play a recorded agent: --script FILE"""


class Agents:
    """All of them."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._transcripts = Transcripts(runtime.home.agents)
        self._at_work: dict[str, Seat] = {}
        self._environments: dict[str, Mapping[str, str]] = {}
        """What the broker of each agent is started with."""

    async def start(
        self, about: About, environment: Mapping[str, str], tell: Callable[[dict[str, Json]], None]
    ) -> Seat:
        """Begin a task."""
        self._make_room()
        if not about.script and not _MODEL.fullmatch(about.model):
            wrong = f"{quote(about.model)} is no model" if about.model else "no model is configured"
            raise Refusal("model_missing", wrong, _SET)
        return self._seated(self._transcripts.new(about), environment, tell)

    async def resume(self, name: str, environment: Mapping[str, str], tell: Callable[[dict[str, Json]], None]) -> Seat:
        """Go on with a task that was stopped, or cut off."""
        name = name or next(iter(self._transcripts.names()), "")
        if name in self._at_work:
            raise Refusal("agent_at_work", f"agent {name} is at work already", "stop it where it was started")
        self._make_room()
        transcript = self._transcripts.load(name)
        if transcript.about.parent:
            raise Refusal("agent_helper", f"agent {name} worked for {transcript.about.parent}", "resume that one")
        if transcript.status == "done":
            raise Refusal("agent_done", f"agent {name} has done its task", f"see: ironcurtain agents show {name}")
        return self._seated(transcript, environment, tell)

    def _make_room(self) -> None:
        own = [seat for seat in self._at_work.values() if not seat.transcript.about.parent]
        if len(own) >= MOST:
            raise Refusal("agents_exhausted", f"more than {MOST} agents at work", "wait until one has ended")

    def _seated(
        self, transcript: Transcript, environment: Mapping[str, str], tell: Callable[[dict[str, Json]], None]
    ) -> Seat:
        about = transcript.about
        if about.helpers and AGENTS not in self._runtime.servers:
            raise Refusal("agents_off", "this home has no helpers", "run: ironcurtain agents enable")
        seat = Seat(self._runtime, transcript, Standing(_principal(about)), self._mind(about, environment), tell)
        seat.household = Household(self, seat)
        self._at_work[transcript.id] = seat
        self._environments[transcript.id] = environment
        return seat

    def helper(self, parent: Seat, task: str, number: int, only: frozenset[tuple[str, str]] | None) -> Seat:
        """One that works for another: by the same model, or by its own script."""
        theirs = parent.transcript.about
        if theirs.script and task not in theirs.scripts:
            raise Refusal("script_missing", f"the script has no agent for the task {quote(task)}", "write one")
        about = dataclasses.replace(
            theirs, task=task, agent=f"{theirs.agent}/{number}", script=theirs.scripts.get(task, []), scripts={},
            chat=False, helpers=True, parent=parent.transcript.id,
        )  # fmt: skip
        transcript = self._transcripts.new(about)
        environment = self._environments[parent.transcript.id]
        seat = Seat(
            self._runtime, transcript, below(parent, number, only), self._mind(about, environment),
            told_of(transcript.id, parent.tell),
        )  # fmt: skip
        self._at_work[transcript.id] = seat
        return seat

    async def work(self, seat: Seat) -> Transcript:
        """Let one work to its end."""
        try:
            return await seat.work()
        finally:
            self._at_work.pop(seat.transcript.id, None)
            self._environments.pop(seat.transcript.id, None)

    def _mind(self, about: About, environment: Mapping[str, str]) -> Mind:
        if about.script:
            return Script(about.script)
        settings = self._runtime.settings.run
        price = settings.prices.get(about.model)
        asked: dict[str, Json] = {"model": about.model, "answer": settings.answer}
        if price is not None:
            asked["price"] = {"input": price[0], "output": price[1]}
        keys = read_credentials(self._runtime.home).env.get(code_tools.OURS, {})
        return Broker(self._runtime.home.run, asked, variables_of(about.model, {**keys, **environment}))

    def of_task(self, name: str) -> Seat | None:
        """The agent that does this task, if it is at work."""
        return self._at_work.get(name)

    def at_work(self, name: str) -> Seat:
        """One that is at work."""
        if name not in self._at_work:
            raise Refusal("agent_unknown", f"no agent {quote(name)} is at work", "run: ironcurtain agents list")
        return self._at_work[name]

    async def listed(self) -> list[dict[str, Json]]:
        """All of them, the newest first."""
        found: list[dict[str, Json]] = []
        for name in self._transcripts.names():
            await asyncio.sleep(0)  # others have their turn
            try:
                found.append(self.show(name, whole=False))
            except Refusal as refusal:
                spoiled = About(refusal.reason, "", "")
                found.append({**Transcript(Path(), name, spoiled, "").summary(), "status": "spoiled"})
        return found

    def show(self, name: str, *, whole: bool = True) -> dict[str, Json]:
        """One of them."""
        seat = self._at_work.get(name)
        transcript = seat.transcript if seat else self._transcripts.load(name)
        found = transcript.summary()
        if seat is None and found["status"] == "working":
            found["status"] = "cut-off"
        return {**found, "messages": [*transcript.messages]} if whole else found

    async def close(self) -> None:
        """The daemon stops. All of them can go on when it is back."""
        seats = list(self._at_work.values())
        for seat in seats:
            seat.stop("stopped", "the daemon was stopped")
        await asyncio.gather(*(seat.over.wait() for seat in seats))


def _principal(about: About) -> Principal:
    fields: dict[str, Json] = {"agent": about.agent}
    if about.model:
        provider, _, model = about.model.partition(":")
        fields["provider"] = f"{provider}/{model}"
    return principal_from(fields)


def about_from(params: dict[str, Any]) -> About:
    """What a command asks for."""
    task, agent, model, script = (params.get(name) for name in ("task", "agent", "model", "script"))
    if not isinstance(task, str) or not task.strip() or not isinstance(agent, str) or not isinstance(model, str):
        raise Refusal("usage", "which task, and as which agent?", "see: ironcurtain run --help")
    turns = script if isinstance(script, list) else []
    scripts = params.get("scripts")
    return About(
        task, agent, model, turns, direct=params.get("direct") is True, chat=params.get("chat") is True,
        helpers=params.get("helpers") is True, scripts=scripts if isinstance(scripts, dict) else {},
    )  # fmt: skip
