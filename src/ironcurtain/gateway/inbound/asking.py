"""Asking the client something while one of its calls waits, in whichever way its era has for that.

A client of the handshake era is asked by a request. One of the envelope era is asked by an answer: it gets what we want
to know in place of the result, and calls again with it and a token for the call that waits.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.errors import Refusal
from ironcurtain.gateway import protocol
from ironcurtain.gateway.protocol import Era
from ironcurtain.settings import ASKABLE
from ironcurtain.wire import jsonrpc

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.gateway.context import AskClient, CallContext
    from ironcurtain.mediation.effects import Answer
    from ironcurtain.model.call import Arguments, Json
    from ironcurtain.wire.jsonrpc import Id, Response

    _Reply = asyncio.Future[dict[str, Json] | None]

RESUMED: Final = frozenset({"requestState", "inputResponses"})
"""What a call has that goes on with one that waits."""


@dataclass(slots=True)
class Call:
    """A call under way, and what its client has been asked meanwhile."""

    key: tuple[str, str]
    arguments: Arguments
    context: CallContext
    answer: asyncio.Task[Answer] | None = None
    wanted: dict[str, tuple[dict[str, Json], _Reply]] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)


class Asking:
    """All that one client is asked."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._questions: dict[Id, _Reply] = {}
        self._parked: dict[str, Call] = {}
        self._asked = 0

    def of(self, call: Call, era: Era, can: Json) -> AskClient | None:
        """How this client can be asked something while its call waits, if it can be asked anything."""
        if not isinstance(can, dict) or not set(can) & set(ASKABLE):
            return None
        able = {method for name, method in ASKABLE.items() if name in can}

        async def ask(method: str, params: dict[str, Json]) -> dict[str, Json] | None:
            if method not in able:
                return None
            if era is Era.ENVELOPE:
                return await self._by_answer(call, method, params)
            return await self._by_request(method, params)

        return ask

    async def _by_request(self, method: str, params: dict[str, Json]) -> dict[str, Json] | None:
        id_, replied = self._next_id(), _reply()
        self._questions[id_] = replied
        self._write(jsonrpc.request(id_, method, params))
        try:
            return await replied
        except asyncio.CancelledError:
            self._write(jsonrpc.notification("notifications/cancelled", {"requestId": id_}))
            raise
        finally:
            del self._questions[id_]

    def replied(self, response: Response) -> None:
        """The client's reply to a request of ours, or to nothing."""
        waiting = self._questions.get(response.id) if response.id is not None else None
        if waiting is not None and not waiting.done():
            waiting.set_result(response.result)

    async def _by_answer(self, call: Call, method: str, params: dict[str, Json]) -> dict[str, Json] | None:
        id_, replied = self._next_id(), _reply()
        call.wanted[id_] = {"method": method, "params": params}, replied
        call.news.set()
        try:
            return await replied
        finally:
            call.wanted.pop(id_, None)

    def park(self, call: Call) -> dict[str, Json]:
        """What we want to know, in place of the result."""
        call.news.clear()
        state = secrets.token_urlsafe(24)
        self._parked[state] = call
        wanted: dict[str, Json] = {key: asked for key, (asked, _) in call.wanted.items()}
        return protocol.result_for(
            Era.ENVELOPE, {}, resultType="input_required", inputRequests=wanted, requestState=state
        )

    def parked(self, state: Json) -> Call:
        """The call that waits under this token."""
        call = self._parked.get(state) if isinstance(state, str) else None
        if call is None:
            raise Refusal("call_malformed", "no call waits for this", "call again, without requestState")
        return call

    def resume(self, state: Json, responses: Json) -> Call:
        """Go on with what the client brought."""
        if not isinstance(responses, dict):
            raise Refusal("call_malformed", "inputResponses must be an object")
        call = self.parked(state)
        del self._parked[str(state)]
        for key, (_, replied) in list(call.wanted.items()):
            said = responses.get(key)
            if not replied.done():
                replied.set_result(said if isinstance(said, dict) else None)
        return call

    def waiting(self) -> list[CallContext]:
        """The calls that wait for the client to call again."""
        return [call.context for call in self._parked.values()]

    def _next_id(self) -> str:
        self._asked += 1
        return f"ironcurtain-{self._asked}"


def _reply() -> _Reply:
    return asyncio.get_running_loop().create_future()
