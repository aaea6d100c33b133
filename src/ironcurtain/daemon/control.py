"""What the owner's commands ask of the daemon, over the same socket: JSON-RPC, one method for each."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Final

from ironcurtain import __version__
from ironcurtain.audit.record import principal_fields
from ironcurtain.audit.store import AuditHaltedError
from ironcurtain.daemon.agents import about_from
from ironcurtain.errors import ArtifactError, Refusal, quote
from ironcurtain.escalation.queue import Answer, Scope
from ironcurtain.escalation.shown import shown
from ironcurtain.gateway.context import CallContext
from ironcurtain.wire import jsonrpc, strict_json
from ironcurtain.wire.call import principal_from
from ironcurtain.wire.jsonrpc import Request, RpcError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ironcurtain.daemon.seat import Seat
    from ironcurtain.daemon.serve import Daemon
    from ironcurtain.escalation.grants import Grant
    from ironcurtain.model.call import Json

    Method = Callable[["Control", dict[str, Json]], Awaitable[dict[str, Json]]]


class Control:
    """One command's connection."""

    def __init__(self, daemon: Daemon, send: Callable[[bytes], None]) -> None:
        self._daemon = daemon
        self._send = send
        self._tasks: set[asyncio.Task[None]] = set()
        self._forget: Callable[[], None] | None = None
        self._contexts: set[CallContext] = set()
        self._seats: set[Seat] = set()

    def receive(self, line: bytes | None) -> None:
        """A line from the command."""
        try:
            message = jsonrpc.message_from(strict_json.loads(line or b""))
        except Refusal as refusal:
            self._send(jsonrpc.failure(None, RpcError(jsonrpc.PARSE_ERROR, refusal.reason)))
            return
        if isinstance(message, Request):
            task = asyncio.ensure_future(self._answer(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, request: Request) -> None:
        method = _METHODS.get(request.method)
        try:
            if method is None:
                raise RpcError(jsonrpc.METHOD_NOT_FOUND, f"the daemon does not know {request.method}")  # noqa: TRY301
            self._send(jsonrpc.result(request.id, await method(self, request.params)))
        except RpcError as error:
            self._send(jsonrpc.failure(request.id, error))
        except Refusal as refusal:
            data: Json = {"code": refusal.code, "help": refusal.help}
            self._send(jsonrpc.failure(request.id, RpcError(jsonrpc.INVALID_PARAMS, refusal.reason, data)))
        except (AuditHaltedError, ArtifactError, OSError, ValueError) as error:
            self._send(jsonrpc.failure(request.id, RpcError(jsonrpc.INTERNAL_ERROR, str(error))))

    def close(self) -> None:
        """The command is gone."""
        if self._forget is not None:
            self._forget()
        for context in self._contexts:
            context.withdrawn.set()
        for seat in self._seats:
            seat.stop("stopped", "whoever looked on is gone")

    async def status(self, _: dict[str, Json]) -> dict[str, Json]:
        """How everything is."""
        runtime = self._daemon.runtime
        servers: list[Json] = [
            {
                "name": name,
                "state": server.state.value,
                "problem": runtime.redactor.text(server.problem),
                "tools": len(server.tools),
                "command": server.spec.shown(),
            }
            for name, server in runtime.servers.items()
        ]
        return {
            "version": __version__,
            "pid": os.getpid(),
            "home": str(runtime.home.root),
            "sessions": len(self._daemon.peers),
            "policy": {"version": runtime.loaded.policy.version, "digest": runtime.loaded.digest},
            "records": runtime.audit.head.seq,
            "halted": runtime.latch.reason or runtime.audit.halted,
            "notes": dict(runtime.notes),
            "servers": servers,
            "drifted": [f"{server}/{tool}" for server, tool in sorted(runtime.catalogue.drifted)],
            "waiting": len(runtime.queue.waiting()),
        }

    async def stop(self, _: dict[str, Json]) -> dict[str, Json]:
        """Stop the daemon."""
        self._daemon.stopping.set()
        return {}

    async def reload(self, _: dict[str, Json]) -> dict[str, Json]:
        """Look at the policy and the servers now."""
        await self._daemon.runtime.look_again()
        return {"version": self._daemon.runtime.loaded.policy.version, "notes": dict(self._daemon.runtime.notes)}

    async def questions(self, _: dict[str, Json]) -> dict[str, Json]:
        """What waits for a person."""
        queue, now = self._daemon.runtime.queue, time.monotonic()
        groups = {question.id: name for name, questions in queue.groups().items() for question in questions}
        return {"questions": [shown(question, groups.get(question.id, ""), now) for question in queue.waiting()]}

    async def grants(self, _: dict[str, Json]) -> dict[str, Json]:
        """What was granted and is still good."""
        now = time.monotonic()
        return {"grants": [_granted(grant, now) for grant in self._daemon.runtime.grants.all(now)]}

    async def revoke(self, params: dict[str, Json]) -> dict[str, Json]:
        """Take a grant back."""
        grant = self._daemon.runtime.grants.revoke(str(params.get("grant")))
        await self._daemon.runtime.audit.append("event", {"event": "revoke", "grant": {"id": grant.id}})
        return {"grant": _granted(grant, time.monotonic())}

    async def budget(self, _: dict[str, Json]) -> dict[str, Json]:
        """What was used, and what may be."""
        runtime, now = self._daemon.runtime, time.monotonic()
        accounts: list[Json] = []
        for account, balance in runtime.ledger.balances().items():
            limits = runtime.ledger.limits_of(account)
            named: dict[str, Json] = {name: limit.most for name, limit in limits.named.items()}
            accounts.append(
                {
                    **account.fields(),
                    "seconds": int(now - balance.began),
                    "used": dict(balance.used),
                    "limits": {"calls": limits.calls, "callsPerTool": limits.calls_per_tool,
                               "bytesOut": limits.bytes_out, "seconds": limits.seconds,
                               "refusals": limits.refusals, "named": named},
                }
            )  # fmt: skip
        return {"accounts": accounts, "repeats": runtime.ledger.budget.loops.repeats}

    async def reset_budget(self, params: dict[str, Json]) -> dict[str, Json]:
        """Give an agent and its helpers, or all agents, a new budget."""
        runtime, agent = self._daemon.runtime, params.get("agent")
        wanted = [a for a in runtime.ledger.balances() if agent is None or _is_of(a.principal.agent, agent)]
        for account in wanted:
            await runtime.audit.append("event", {"event": "budget", "account": account.fields()})
            runtime.ledger.reset(account)
        return {"reset": len(wanted)}

    async def watch(self, _: dict[str, Json]) -> dict[str, Json]:
        """Be told when the queue changes."""
        if self._forget is None:
            self._forget = self._daemon.runtime.queue.watch(self._tell)
        return {}

    def _tell(self) -> None:
        self._send(jsonrpc.notification("questions/changed", {}))

    async def answer(self, params: dict[str, Json]) -> dict[str, Json]:
        """Say yes or no."""
        id_, approved = params.get("question"), params.get("approved")
        if not isinstance(id_, str) or not isinstance(approved, bool):
            raise RpcError(jsonrpc.INVALID_PARAMS, "which question, and yes or no?")
        uses, seconds = params.get("uses"), params.get("seconds")
        answer = Answer(
            approved=approved,
            approver=f"user {os.geteuid()} ({params.get('channel', 'socket')})",
            sentence=str(params.get("sentence", ""))[:_SENTENCE],
            scope=Scope(params.get("scope", "once")) if approved else Scope.ONCE,
            uses=uses if isinstance(uses, int) and uses > 0 else None,
            seconds=seconds if isinstance(seconds, (int, float)) and seconds > 0 else None,
        )
        answered = self._daemon.runtime.queue.answer(id_, answer)
        return {"questions": [shown(question, "", time.monotonic()) for question in answered]}

    # --- Programs. ---

    async def run_code(self, params: dict[str, Json]) -> dict[str, Json]:
        """Run a program for the owner, as an agent of this name; who hangs up ends it, unless it waits for a person."""
        program, agent = params.get("program"), params.get("agent")
        if not isinstance(program, str) or not isinstance(agent, str):
            raise RpcError(jsonrpc.INVALID_PARAMS, "which program, and as which agent?")
        context = CallContext({}, lambda news: self._send(jsonrpc.notification("code/news", news)))
        self._contexts.add(context)
        try:
            principal = principal_from({"agent": agent})
            runs, language = self._daemon.runtime.runs, str(params.get("language", "python"))
            return await runs.execute(program, params.get("data"), principal, context, language)
        finally:
            self._contexts.discard(context)

    async def plan_code(self, params: dict[str, Json]) -> dict[str, Json]:
        """What a program may do, without running it."""
        program, agent = params.get("program"), params.get("agent")
        if not isinstance(program, str) or not isinstance(agent, str):
            raise RpcError(jsonrpc.INVALID_PARAMS, "which program, and as which agent?")
        language = str(params.get("language", "python"))
        plan = await self._daemon.runtime.runs.plan(program, principal_from({"agent": agent}), language)
        return plan.told()

    async def list_code(self, _: dict[str, Json]) -> dict[str, Json]:
        """All programs."""
        return {"programs": [*self._daemon.runtime.runs.listed()]}

    async def show_code(self, params: dict[str, Json]) -> dict[str, Json]:
        """One program."""
        return self._daemon.runtime.runs.show(str(params.get("run")))

    async def cancel_code(self, params: dict[str, Json]) -> dict[str, Json]:
        """End a program."""
        return await self._daemon.runtime.runs.cancel(str(params.get("run")))

    async def interfaces(self, params: dict[str, Json]) -> dict[str, Json]:
        """What the tools are called in a program."""
        found = await self._daemon.runtime.runs.interfaces(principal_from({"agent": str(params.get("agent"))}))
        what, words = params.get("what"), params.get("words")
        if isinstance(words, str):
            return {"found": [*found.search(words, 50)]}
        if isinstance(what, str):
            if not (text := found.interface(what)):
                raise Refusal(
                    "interface_unknown", f"there is nothing called {quote(what)}", "run: ironcurtain code tools"
                )
            return {"interface": text}
        return {"servers": found.servers()}

    # --- The built-in agents. ---

    async def run_agent(self, params: dict[str, Json]) -> dict[str, Json]:
        """Let an agent work, and tell of everything it does; who hangs up stops it, and it can be resumed."""
        agents, given = self._daemon.runtime.agents, params.get("environment")
        environment = {str(name): str(value) for name, value in given.items()} if isinstance(given, dict) else {}
        resumed = params.get("resume")
        if isinstance(resumed, str):
            seat = await agents.resume(resumed, environment, self._news)
        else:
            seat = await agents.start(about_from(params), environment, self._news)
        self._seats.add(seat)
        self._news({"begun": seat.transcript.id, **seat.transcript.summary()})
        try:
            transcript = await agents.work(seat)
        finally:
            self._seats.discard(seat)
        return {**transcript.summary(), "answer": transcript.answer, "path": str(transcript.path)}

    def _news(self, news: dict[str, Json]) -> None:
        self._send(jsonrpc.notification("agent/news", news))

    async def tell_agent(self, params: dict[str, Json]) -> dict[str, Json]:
        """Pause an agent, let it go on, give it a new budget, say something to it, or stop it."""
        seat, what = self._daemon.runtime.agents.at_work(str(params.get("id"))), params.get("what")
        match what, params.get("text"):
            case "pause", _:
                seat.pause()
            case "continue", _:
                seat.go_on()
            case "renew", _:
                await seat.renew()
            case "stop", _:
                seat.stop("stopped", "its owner stopped it")
            case "end", _:
                seat.stop("done")
            case "say", str(text) if text.strip():
                seat.say(text)
            case _:
                raise RpcError(jsonrpc.INVALID_PARAMS, "pause, continue, renew, say, stop or end")
        return {}

    async def list_agents(self, _: dict[str, Json]) -> dict[str, Json]:
        """All of them."""
        return {"agents": [*await self._daemon.runtime.agents.listed()]}

    async def show_agent(self, params: dict[str, Json]) -> dict[str, Json]:
        """One of them."""
        return self._daemon.runtime.agents.show(str(params.get("id")))


def _is_of(name: str | None, agent: Json) -> bool:
    return name == agent or (name or "").startswith(f"{agent}/")


_SENTENCE: Final = 500  # characters that go back to the agent


def _granted(grant: Grant, now: float) -> dict[str, Json]:
    call = grant.question.prepared.call
    return {
        "id": grant.id,
        "server": call.server,
        "tool": call.tool,
        "agent": principal_fields(call.principal),
        "scope": "pattern" if grant.pattern else "session",
        "pattern": [*grant.pattern.shown()] if grant.pattern else [],
        "arguments": None if grant.pattern else call.arguments,
        "left": grant.left,
        "secondsLeft": int(grant.expires - now),
        "approver": grant.approver,
    }


_METHODS: Final[dict[str, Method]] = {
    "status": Control.status,
    "stop": Control.stop,
    "reload": Control.reload,
    "questions": Control.questions,
    "watch": Control.watch,
    "answer": Control.answer,
    "grants": Control.grants,
    "revoke": Control.revoke,
    "budget": Control.budget,
    "budget/reset": Control.reset_budget,
    "code/run": Control.run_code,
    "code/plan": Control.plan_code,
    "code/list": Control.list_code,
    "code/show": Control.show_code,
    "code/cancel": Control.cancel_code,
    "code/interfaces": Control.interfaces,
    "agent/run": Control.run_agent,
    "agent/tell": Control.tell_agent,
    "agent/list": Control.list_agents,
    "agent/show": Control.show_agent,
}
