"""Streamable HTTP for clients that want it: a process of its own beside the daemon, that decides nothing.

Every session is a connection to the daemon's socket, as the relay's is; a request of the envelope era gets a connection
for itself. What it checks is who may speak at all: the token, the host that was meant, the page that sent it.

    POST    a message; answered by JSON, or by a stream of events that ends with the response
    GET     what the server says unasked, to a session of the handshake era
    DELETE  the end of a session
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ironcurtain.errors import Refusal
from ironcurtain.gateway import protocol
from ironcurtain.gateway.inbound.door import Door, meta_of, mismatch, refused, version_in
from ironcurtain.gateway.inbound.link import Link, is_response
from ironcurtain.wire import jsonrpc, strict_json
from ironcurtain.wire.limits import MESSAGE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request

    Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]

MOST_SESSIONS: Final = 50
MOST_ALONE: Final = 64  # requests without a session at once
MOST_PARKED: Final = 20
_IDLE: Final = 3600.0  # seconds after which a session that nobody uses is forgotten
_PARKED: Final = 1200.0  # seconds that a call waits for a client to come back with an answer
_ALIVE: Final = 15.0  # seconds between signs of life on a stream
_WHOLE: Final = 30.0  # seconds for a request to arrive whole
_PATH: Final = "/mcp"
_SESSION: Final = "mcp-session-id"
_EVENTS: Final = "text/event-stream"
_BY_CODE: Final = {-32700: 400, -32600: 400, -32602: 400, -32020: 400, -32022: 400, -32601: 404}


class HttpGateway:
    """All HTTP sessions of one principal."""

    def __init__(self, door: Door, connect: Connect) -> None:
        self._door = door
        self._connect = connect
        self._sessions: dict[str, Link] = {}
        self._parked: dict[str, Link] = {}
        self._alone: list[Link] = []
        route = Route(_PATH, self._serve, methods=["GET", "POST", "DELETE"])
        self.app = Starlette(routes=[route])

    async def _serve(self, request: Request) -> Response:
        if objection := self._door.objection(request):
            objection.headers["connection"] = "close"  # whoever may not come in does not stay at the door
            return objection
        self._forget_idle()
        if request.method == "POST":
            try:
                return await self._post(request)
            except ClientDisconnect:
                return refused(HTTPStatus.BAD_REQUEST, "it hung up in the middle")
            except TimeoutError:
                return refused(HTTPStatus.REQUEST_TIMEOUT, "the rest of it did not come")
        link = self._sessions.get(request.headers.get(_SESSION, ""))
        if link is None:
            known = HTTPStatus.NOT_FOUND if _SESSION in request.headers else HTTPStatus.METHOD_NOT_ALLOWED
            return refused(known, "there is no such session")
        if request.method == "DELETE":
            del self._sessions[request.headers[_SESSION]]
            link.close()
            return Response(status_code=HTTPStatus.NO_CONTENT)
        if link.unasked is not None:
            return refused(HTTPStatus.CONFLICT, "somebody listens to this session already")
        link.unasked = asyncio.Queue()
        return StreamingResponse(self._listen(link), media_type=_EVENTS, headers={"cache-control": "no-store"})

    async def _post(self, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json")
        body = await _body(request)
        if body is None:
            return refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MESSAGE.size} bytes")
        try:
            message: Any = strict_json.loads(body)
            jsonrpc.message_from(message)
        except Refusal as refusal:
            code = jsonrpc.PARSE_ERROR if refusal.code.startswith("json_") else jsonrpc.INVALID_REQUEST
            return refused(HTTPStatus.BAD_REQUEST, refusal.reason, code, jsonrpc.id_in(body))
        version = request.headers.get("mcp-protocol-version")
        if version == protocol.ENVELOPE_REVISION or version_in(message) is not None:
            return await self._envelope(request, message, body)
        return await self._handshake(request, message, body)

    # --- The handshake era: a session is a connection. ---

    async def _handshake(self, request: Request, message: dict[str, Any], body: bytes) -> Response:
        new = ""
        if message.get("method") == "initialize" and "id" in message:
            if len(self._sessions) >= MOST_SESSIONS:
                return refused(HTTPStatus.SERVICE_UNAVAILABLE, f"more than {MOST_SESSIONS} sessions")
            link = await self._linked()
            new = secrets.token_urlsafe(32)
            self._sessions[new] = link
        else:
            name = request.headers.get(_SESSION)
            if name is None:
                return refused(HTTPStatus.BAD_REQUEST, "the session is missing; initialize first")
            found = self._sessions.get(name)
            if found is None or found.over:
                self._sessions.pop(name, None)
                return refused(HTTPStatus.NOT_FOUND, "there is no such session")
            link = found
        if "id" not in message or "method" not in message:
            await link.send(body)
            return Response(status_code=HTTPStatus.ACCEPTED)
        if message["id"] in link.waiting:
            return refused(HTTPStatus.BAD_REQUEST, "this id is in use")
        return await self._answer(request, link, message, body, new)

    # --- The envelope era: a request is a connection. ---

    async def _envelope(self, request: Request, message: dict[str, Any], body: bytes) -> Response:
        if "id" not in message:
            return Response(status_code=HTTPStatus.ACCEPTED)  # there is nothing a client could tell us
        if difference := mismatch(request, message):
            return refused(HTTPStatus.BAD_REQUEST, difference, -32020, message.get("id"))
        state = (message.get("params") or {}).get("requestState")
        parked = self._parked.pop(state, None) if isinstance(state, str) else None
        self._alone = [link for link in self._alone if not link.over]
        if parked is None and len(self._alone) >= MOST_ALONE:
            return refused(HTTPStatus.SERVICE_UNAVAILABLE, f"more than {MOST_ALONE} requests at once")
        link = parked or await self._linked(alone=True)
        return await self._answer(request, link, message, body, "")

    async def _linked(self, *, alone: bool = False) -> Link:
        reader, writer = await self._connect()
        link = Link(reader, writer, time.monotonic(), alone)
        if alone:
            self._alone.append(link)
        link.start()
        return link

    # --- Answers. ---

    async def _answer(self, request: Request, link: Link, message: dict[str, Any], body: bytes, name: str) -> Response:
        """Send a request on, and bring back what comes of it. `name` is that of a session that begins with it."""
        id_ = message["id"]
        headers = {_SESSION: name} if name else {}
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        link.waiting[id_] = queue
        token = meta_of(message).get("progressToken")
        if isinstance(token, (str, int)):
            link.tokens[token] = id_
        await link.send(body)
        first = await self._first(request, queue)
        if first is None:
            await self._withdraw(link, id_)
            return refused(HTTPStatus.BAD_GATEWAY, "the daemon hung up; run: ironcurtain doctor")
        if is_response(first) or _EVENTS not in request.headers.get("accept", ""):
            while first is not None and not is_response(first):
                first = await queue.get()
            self._done(link, id_, token, first)
            return _as_json(first, headers, strict=link.alone)
        stream = self._stream(link, id_, token, first)
        return StreamingResponse(stream, media_type=_EVENTS, headers={**headers, "cache-control": "no-store"})

    async def _first(self, request: Request, queue: asyncio.Queue[bytes | None]) -> bytes | None:
        """The first word of an answer, unless the client hangs up before."""
        getting = asyncio.ensure_future(queue.get())
        while not getting.done():
            await asyncio.wait([getting], timeout=0.5)
            if not getting.done() and await request.is_disconnected():
                getting.cancel()
                return None
        return getting.result()

    async def _stream(self, link: Link, id_: Any, token: Any, first: bytes) -> AsyncIterator[bytes]:  # noqa: ANN401 - ids
        queue = link.waiting[id_]
        line: bytes | None = first
        finished = False
        try:
            while line is not None:
                yield b"data: " + line + b"\n\n"
                if is_response(line):
                    finished = True
                    return
                while (line := await _within(queue, _ALIVE)) == b"":
                    yield b": alive\n\n"
        finally:
            if finished:
                self._done(link, id_, token, line)
            else:
                await self._withdraw(link, id_)

    def _done(self, link: Link, id_: Any, token: Any, line: bytes | None) -> None:  # noqa: ANN401 - ids
        link.waiting.pop(id_, None)
        link.tokens.pop(token, None)
        if not link.alone:
            return
        state = (json.loads(line).get("result") or {}).get("requestState") if line else None
        if isinstance(state, str):
            self._parked[state] = link  # the call waits there for what the client will bring
            while len(self._parked) > MOST_PARKED:
                self._parked.pop(next(iter(self._parked))).close()
        else:
            link.close()

    async def _withdraw(self, link: Link, id_: Any) -> None:  # noqa: ANN401 - an id
        """Nobody waits for the answer any more."""
        link.waiting.pop(id_, None)
        if link.alone:
            link.close()
            return
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}}
        await link.send(json.dumps(cancelled).encode())

    async def _listen(self, link: Link) -> AsyncIterator[bytes]:
        queue = link.unasked or asyncio.Queue()
        try:
            while (line := await _within(queue, _ALIVE)) is not None:
                yield b"data: " + line + b"\n\n" if line else b": alive\n\n"
        finally:
            link.unasked = None

    def _forget_idle(self) -> None:
        now = time.monotonic()
        for links, limit in ((self._sessions, _IDLE), (self._parked, _PARKED)):
            for name, link in list(links.items()):
                if now - link.used > limit and not link.waiting and link.unasked is None:
                    del links[name]
                    link.close()

    def close(self) -> None:
        """The end."""
        for link in (*self._sessions.values(), *self._parked.values()):
            link.close()


async def _within(queue: asyncio.Queue[bytes | None], seconds: float) -> bytes | None:
    """The next message, or an empty one when there is none for so long."""
    try:
        async with asyncio.timeout(seconds):
            return await queue.get()
    except TimeoutError:
        return b""


async def _body(request: Request) -> bytes | None:
    body = bytearray()
    async with asyncio.timeout(_WHOLE):
        async for part in request.stream():
            body += part
            if len(body) > MESSAGE.size:
                return None
    return bytes(body)


def _as_json(line: bytes | None, headers: dict[str, str], *, strict: bool) -> Response:
    if line is None:
        return refused(HTTPStatus.BAD_GATEWAY, "the daemon hung up; run: ironcurtain doctor")
    error = json.loads(line).get("error")
    status = _BY_CODE.get(error["code"], 200) if strict and isinstance(error, dict) else 200
    return Response(line, status, headers, "application/json")
