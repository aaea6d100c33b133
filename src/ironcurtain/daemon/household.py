"""Agents that work for agents. The tools that start them and carry what they say are decided and recorded as any other.

INVARIANT: a helper stands below whoever started it: the same principal, one name further down and a subagent; no tool
that was not given to its parent; and whatever it uses is paid for by all above it. A helper has no helpers.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections import deque
from typing import TYPE_CHECKING, Final

from ironcurtain.daemon.seat import Seat, Standing
from ironcurtain.errors import ArtifactError, Refusal, quote
from ironcurtain.gateway.context import done_before
from ironcurtain.gateway.upstream.server import Server, State
from ironcurtain.mediation.effects import Executed, Status
from ironcurtain.servers.agents import NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.artifacts.servers import ServerSpec
    from ironcurtain.daemon.agents import Agents
    from ironcurtain.gateway.context import AskClient, CallContext
    from ironcurtain.model.call import Arguments, CanonicalCall, Json

MOST_HELPERS: Final = 5  # of one agent at once
MOST_IN_ALL: Final = 20  # that one agent starts
MOST_MESSAGES: Final = 100  # that wait for one agent
_MODULE: Final = ("-m", "ironcurtain.servers.agents")


def is_household(spec: ServerSpec) -> bool:
    """Whether a server is the one whose tools we carry out ourselves."""
    return spec.name == NAME and spec.command[-2:] == _MODULE


class HouseholdServer(Server):
    """Lists its tools like any server; a call of one of them goes to the agents themselves."""

    agents: Callable[[], Agents]

    async def call(self, call: CanonicalCall, pin: str, context: CallContext, ask: AskClient) -> Executed:
        """Carry out the call. Whoever withdraws it withdraws a helper that was spawned by it."""
        if self.state is not State.READY or self.pins.get(call.tool) != pin:
            return await super().call(call, pin, context, ask)
        seat = self.agents().of_task(context.oversight.task if context.oversight else "")
        if seat is None:
            reason = "only an agent that was started with `ironcurtain run --agents` can have others"
            return Executed(Status.NOT_FORWARDED, code="agents_off", reason=reason)
        try:
            said = await seat.household.perform(call.tool, call.arguments, context)
        except Refusal as refusal:
            text = f"{refusal.reason}; {refusal.help}" if refusal.help else refusal.reason
            return Executed(Status.ERROR, {"content": [{"type": "text", "text": text}], "isError": True})
        return Executed(Status.SUCCESS, {"content": [{"type": "text", "text": said}]})


class Household:
    """One agent, whoever works for it, and what they have to tell each other."""

    def __init__(self, agents: Agents, seat: Seat, parent: Household | None = None) -> None:
        self._agents = agents
        self._seat = seat
        self._parent = parent
        self._mail: deque[dict[str, str]] = deque()
        self._helpers: dict[str, tuple[Household, asyncio.Task[str]]] = {}
        self._started = 0

    async def perform(self, tool: str, arguments: Arguments, context: CallContext) -> str:
        """What a call of one of the tools comes to."""
        match tool:
            case "spawn":
                helper = self._start(arguments)
                try:
                    return await self._answer_of(helper, context)
                finally:
                    self._stop(helper)
            case "start":
                return self._start(arguments)
            case "wait":
                return await self._answer_of(str(arguments["agent"]), context)
            case "send":
                return self._send(str(arguments["agent"]), str(arguments["text"]))
            case _:
                said = json.dumps([*self._mail], ensure_ascii=False)
                self._mail.clear()
                return said

    def _start(self, arguments: Arguments) -> str:
        if self._seat.is_stopped:
            raise Refusal("helpers_exhausted", "whoever wants one is gone")
        running = sum(not task.done() for _, task in self._helpers.values())
        if self._parent is not None or running >= MOST_HELPERS or self._started >= MOST_IN_ALL:
            most = f"at most {MOST_HELPERS} at once, and {MOST_IN_ALL} in all"
            raise Refusal("helpers_exhausted", f"no more helpers: {most}", "wait for one, or do it yourself")
        self._started += 1
        try:
            seat = self._agents.helper(self._seat, str(arguments["task"]), self._started, self._given(arguments))
        except (ArtifactError, OSError) as error:
            raise Refusal("helper_failed", f"it could not be started: {error}") from None
        seat.household = Household(self._agents, seat, self)
        name = seat.transcript.id
        self._helpers[name] = seat.household, asyncio.create_task(self._work(seat))
        return name

    def _given(self, arguments: Arguments) -> frozenset[tuple[str, str]] | None:
        """The tools that a helper gets: those that were named, and of them only what its parent has."""
        named, own = arguments.get("tools"), self._seat.only
        if not isinstance(named, list):
            return own
        tools = set()
        for each in named:
            server, slash, tool = str(each).partition("/")
            if not slash:
                raise Refusal("tool_unknown", f"{quote(each)} is no tool", "write server/tool")
            tools.add((server, tool))
        return frozenset(tools if own is None else tools & own)

    async def _work(self, seat: Seat) -> str:
        transcript = await self._agents.work(seat)
        if transcript.status == "done":
            return transcript.answer or "It said nothing."
        raise Refusal("helper_failed", f"it did not do it: {transcript.status} {transcript.reason}".strip())

    async def _answer_of(self, name: str, context: CallContext) -> str:
        if name not in self._helpers:
            raise Refusal("agent_unknown", f"you have no agent {quote(name)}", "start gives an id")
        _, task = self._helpers[name]
        if not await done_before(context.withdrawn, task):
            raise Refusal("withdrawn", "nobody waits for it any more")
        return task.result()

    def _stop(self, name: str) -> None:
        household, task = self._helpers[name]
        if not task.done():
            household._seat.stop("stopped", "whoever started it is gone")  # noqa: SLF001 - our own kind

    def _send(self, to: str, text: str) -> str:
        receiver = self._known(to)
        if len(receiver._mail) >= MOST_MESSAGES:  # noqa: SLF001 - our own kind
            raise Refusal("mail_full", f"{quote(to)} does not read its messages", "wait")
        receiver._mail.append({"from": self._seat.transcript.id, "text": text})  # noqa: SLF001 - likewise
        return "it will hear that when it listens"

    def _known(self, name: str) -> Household:
        """Whom this agent can speak to: whoever started it, those that were, and those that it started."""
        parent = self._parent
        if parent is not None and name in ("parent", parent._seat.transcript.id):  # noqa: SLF001 - our own kind
            return parent
        known = {**(parent._helpers if parent else {}), **self._helpers}  # noqa: SLF001 - likewise
        if name not in known or known[name][0] is self:
            raise Refusal("agent_unknown", f"you know no agent {quote(name)}", "start gives an id")
        return known[name][0]

    async def close(self) -> None:
        """Its agent is gone: nobody works for it any more."""
        for name in self._helpers:
            self._stop(name)
        if tasks := [task for _, task in self._helpers.values()]:
            await asyncio.wait(tasks)
            for task in tasks:
                task.exception()  # somebody has looked at it


def below(parent: Seat, number: int, only: frozenset[tuple[str, str]] | None) -> Standing:
    """Where a helper stands."""
    who = dataclasses.replace(parent.principal, agent=f"{parent.principal.agent}/{number}", subagent=True)
    return Standing(who, parent, only)


def told_of(helper: str, tell: Callable[[dict[str, Json]], None]) -> Callable[[dict[str, Json]], None]:
    """Tells whoever looks on at the parent."""
    return lambda news: tell({"helper": helper, "news": news})
