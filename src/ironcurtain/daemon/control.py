"""What the owner's commands ask of the daemon, over the same socket: JSON-RPC, one method for each."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Final

from ironcurtain import __version__
from ironcurtain.audit.record import principal_fields
from ironcurtain.errors import Refusal
from ironcurtain.escalation.queue import Answer
from ironcurtain.wire import jsonrpc, strict_json
from ironcurtain.wire.jsonrpc import Request, RpcError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ironcurtain.daemon.serve import Daemon
    from ironcurtain.escalation.queue import Question
    from ironcurtain.model.call import Json

    Method = Callable[["Control", dict[str, Json]], Awaitable[dict[str, Json]]]


class Control:
    """One command's connection."""

    def __init__(self, daemon: Daemon, send: Callable[[bytes], None]) -> None:
        self._daemon = daemon
        self._send = send
        self._tasks: set[asyncio.Task[None]] = set()
        self._forget: Callable[[], None] | None = None

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

    def close(self) -> None:
        """The command is gone."""
        if self._forget is not None:
            self._forget()

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
        return {"questions": [_shown(question) for question in self._daemon.runtime.queue.waiting()]}

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
        sentence = params.get("sentence", "")
        approver = f"user {os.geteuid()} ({params.get('channel', 'socket')})"
        answer = Answer(approved=approved, approver=approver, sentence=str(sentence)[:_SENTENCE])
        return {"question": _shown(self._daemon.runtime.queue.answer(id_, answer))}


_SENTENCE: Final = 500  # characters that go back to the agent


def _shown(question: Question) -> dict[str, Json]:
    """A question as a person needs to see it: everything, and nothing rewritten."""
    effect = question.effect
    call, decision = effect.prepared.call, effect.decision
    rule = next((r for r in effect.prepared.policy.book.rules if r.name == decision.rule), None)
    return {
        "id": question.id,
        "session": question.session,
        "server": call.server,
        "tool": call.tool,
        "arguments": call.arguments,
        "agent": principal_fields(call.principal),
        "values": [{"role": item.role, "argument": item.leaf, "value": str(item.value)} for item in call.values],
        "code": decision.code,
        "reason": decision.reason,
        "rule": decision.rule,
        "principle": rule.principle if rule else "",
        "description": rule.description if rule else "",
        "digest": effect.digest,
        "askedAt": question.asked_at,
        "secondsLeft": max(0, int(question.expires - time.monotonic())),
    }


_METHODS: Final[dict[str, Method]] = {
    "status": Control.status,
    "stop": Control.stop,
    "reload": Control.reload,
    "questions": Control.questions,
    "watch": Control.watch,
    "answer": Control.answer,
}
