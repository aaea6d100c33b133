"""Streamable HTTP for clients that want it: a process of its own beside the daemon, that decides nothing.

Every session is a connection to the daemon's socket, as the relay's is; a request of the envelope era gets a connection
for itself. What it checks is who may speak at all: the token, the host that was meant, the page that sent it.

    POST    a message; answered by JSON, or by a stream of events that ends with the response
    GET     what the server says unasked, to a session of the handshake era
    DELETE  the end of a session
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ironcurtain.errors import Refusal
from ironcurtain.gateway import protocol
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
_MOST_UNREAD: Final = 1_000  # messages that wait for a client that does not read
_WHOLE: Final = 30.0  # seconds for a request to arrive whole
_PATH: Final = "/mcp"
_SESSION: Final = "mcp-session-id"
_EVENTS: Final = "text/event-stream"
_BY_CODE: Final = {-32700: 400, -32600: 400, -32602: 400, -32020: 400, -32022: 400, -32601: 404}


@dataclass(frozen=True, slots=True)
class Door:
    """Who may come in."""

    token: str
    hosts: frozenset[str]
    """As a `Host` header may name us, port included."""

    def objection(self, request: Request) -> Response | None:
        """Why not, or nothing. Before anything is read."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return _plain(HTTPStatus.MISDIRECTED_REQUEST, "this is not the host you mean")
        origins = request.headers.getlist("origin")
        if any(origin.lower().partition("://")[2] not in self.hosts for origin in origins):
            return _plain(HTTPStatus.FORBIDDEN, "no page of another origin may call this")
        said = request.headers.getlist("authorization")
        kind, _, token = said[0].partition(" ") if len(said) == 1 else ("", "", "")
        if kind.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self.token.encode()):
            response = _plain(HTTPStatus.UNAUTHORIZED, "a bearer token is needed, in the Authorization header")
            response.headers["www-authenticate"] = "Bearer"
            return response
        return None


def _plain(status: HTTPStatus, reason: str, code: int = -32600, id_: Any = None) -> Response:  # noqa: ANN401 - an id
    return JSONResponse({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": reason}}, status)


@dataclass(slots=True)
class _Link:
    """One connection to the daemon, and who waits for what it says."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: float
    alone: bool
    """It is for one request only."""
    waiting: dict[Any, asyncio.Queue[bytes | None]] = field(default_factory=dict)
    tokens: dict[Any, Any] = field(default_factory=dict)
    """Which request each progress token belongs to."""
    unasked: asyncio.Queue[bytes | None] | None = None
    """Where messages go that belong to no request, if anybody listens."""
    hearing: asyncio.Task[None] | None = None
    over: bool = False
    """The daemon has hung up."""

    def start(self) -> None:
        self.hearing = asyncio.create_task(self._hear())

    async def send(self, body: bytes) -> None:
        """Send a message, unless nobody is there any more: whoever waits is told by the end of what is heard."""
        self.used = time.monotonic()
        with contextlib.suppress(OSError):
            self.writer.write(body.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
            await self.writer.drain()

    async def _hear(self) -> None:
        with contextlib.suppress(OSError, ValueError, asyncio.IncompleteReadError):
            while line := await self.reader.readline():
                self._sort(line.rstrip(b"\n"))
        self.over = True
        for queue in (*self.waiting.values(), *([self.unasked] if self.unasked else [])):
            queue.put_nowait(None)

    def _sort(self, line: bytes) -> None:
        """Hand a message to whoever it is for: the request it answers, the one whose progress it tells, or any."""
        message = json.loads(line)
        params = message.get("params") or {}
        id_ = message.get("id") if "method" not in message else self.tokens.get(params.get("progressToken"))
        queue = self.waiting.get(id_)
        if queue is None and "id" in message and "method" in message and self.waiting:
            queue = next(reversed(self.waiting.values()))  # it asks the client something while a call waits
        if queue is None:
            queue = next(iter(self.waiting.values()), None) if self.alone else self.unasked
        if queue is not None and queue.qsize() < _MOST_UNREAD:
            queue.put_nowait(line)
        elif queue is not None and _is_response(line):
            queue.get_nowait()
            queue.put_nowait(line)

    def close(self) -> None:
        self.over = True
        self.writer.close()
        if self.hearing is not None:
            self.hearing.cancel()


class HttpGateway:
    """All HTTP sessions of one principal."""

    def __init__(self, door: Door, connect: Connect) -> None:
        self._door = door
        self._connect = connect
        self._sessions: dict[str, _Link] = {}
        self._parked: dict[str, _Link] = {}
        self._alone: list[_Link] = []
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
                return _plain(HTTPStatus.BAD_REQUEST, "it hung up in the middle")
            except TimeoutError:
                return _plain(HTTPStatus.REQUEST_TIMEOUT, "the rest of it did not come")
        link = self._sessions.get(request.headers.get(_SESSION, ""))
        if link is None:
            known = HTTPStatus.NOT_FOUND if _SESSION in request.headers else HTTPStatus.METHOD_NOT_ALLOWED
            return _plain(known, "there is no such session")
        if request.method == "DELETE":
            del self._sessions[request.headers[_SESSION]]
            link.close()
            return Response(status_code=HTTPStatus.NO_CONTENT)
        if link.unasked is not None:
            return _plain(HTTPStatus.CONFLICT, "somebody listens to this session already")
        link.unasked = asyncio.Queue()
        return StreamingResponse(self._listen(link), media_type=_EVENTS, headers={"cache-control": "no-store"})

    async def _post(self, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _plain(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json")
        body = await _body(request)
        if body is None:
            return _plain(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MESSAGE.size} bytes")
        try:
            message: Any = strict_json.loads(body)
            jsonrpc.message_from(message)
        except Refusal as refusal:
            code = jsonrpc.PARSE_ERROR if refusal.code.startswith("json_") else jsonrpc.INVALID_REQUEST
            return _plain(HTTPStatus.BAD_REQUEST, refusal.reason, code, jsonrpc.id_in(body))
        version = request.headers.get("mcp-protocol-version")
        if version == protocol.ENVELOPE_REVISION or _version_in(message) is not None:
            return await self._envelope(request, message, body)
        return await self._handshake(request, message, body)

    # --- The handshake era: a session is a connection. ---

    async def _handshake(self, request: Request, message: dict[str, Any], body: bytes) -> Response:
        new = ""
        if message.get("method") == "initialize" and "id" in message:
            if len(self._sessions) >= MOST_SESSIONS:
                return _plain(HTTPStatus.SERVICE_UNAVAILABLE, f"more than {MOST_SESSIONS} sessions")
            link = await self._linked()
            new = secrets.token_urlsafe(32)
            self._sessions[new] = link
        else:
            name = request.headers.get(_SESSION)
            if name is None:
                return _plain(HTTPStatus.BAD_REQUEST, "the session is missing; initialize first")
            found = self._sessions.get(name)
            if found is None or found.over:
                self._sessions.pop(name, None)
                return _plain(HTTPStatus.NOT_FOUND, "there is no such session")
            link = found
        if "id" not in message or "method" not in message:
            await link.send(body)
            return Response(status_code=HTTPStatus.ACCEPTED)
        if message["id"] in link.waiting:
            return _plain(HTTPStatus.BAD_REQUEST, "this id is in use")
        return await self._answer(request, link, message, body, new)

    # --- The envelope era: a request is a connection. ---

    async def _envelope(self, request: Request, message: dict[str, Any], body: bytes) -> Response:
        if "id" not in message:
            return Response(status_code=HTTPStatus.ACCEPTED)  # there is nothing a client could tell us
        if mismatch := _mismatch(request, message):
            return _plain(HTTPStatus.BAD_REQUEST, mismatch, -32020, message.get("id"))
        state = (message.get("params") or {}).get("requestState")
        parked = self._parked.pop(state, None) if isinstance(state, str) else None
        self._alone = [link for link in self._alone if not link.over]
        if parked is None and len(self._alone) >= MOST_ALONE:
            return _plain(HTTPStatus.SERVICE_UNAVAILABLE, f"more than {MOST_ALONE} requests at once")
        link = parked or await self._linked(alone=True)
        return await self._answer(request, link, message, body, "")

    async def _linked(self, *, alone: bool = False) -> _Link:
        reader, writer = await self._connect()
        link = _Link(reader, writer, time.monotonic(), alone)
        if alone:
            self._alone.append(link)
        link.start()
        return link

    # --- Answers. ---

    async def _answer(self, request: Request, link: _Link, message: dict[str, Any], body: bytes, name: str) -> Response:
        """Send a request on, and bring back what comes of it. `name` is that of a session that begins with it."""
        id_ = message["id"]
        headers = {_SESSION: name} if name else {}
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        link.waiting[id_] = queue
        token = _meta_of(message).get("progressToken")
        if isinstance(token, (str, int)):
            link.tokens[token] = id_
        await link.send(body)
        first = await self._first(request, queue)
        if first is None:
            await self._withdraw(link, id_)
            return _plain(HTTPStatus.BAD_GATEWAY, "the daemon hung up; run: ironcurtain doctor")
        if _is_response(first) or _EVENTS not in request.headers.get("accept", ""):
            while first is not None and not _is_response(first):
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

    async def _stream(self, link: _Link, id_: Any, token: Any, first: bytes) -> AsyncIterator[bytes]:  # noqa: ANN401 - ids
        queue = link.waiting[id_]
        line: bytes | None = first
        finished = False
        try:
            while line is not None:
                yield b"data: " + line + b"\n\n"
                if _is_response(line):
                    finished = True
                    return
                while (line := await _within(queue, _ALIVE)) == b"":
                    yield b": alive\n\n"
        finally:
            if finished:
                self._done(link, id_, token, line)
            else:
                await self._withdraw(link, id_)

    def _done(self, link: _Link, id_: Any, token: Any, line: bytes | None) -> None:  # noqa: ANN401 - ids
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

    async def _withdraw(self, link: _Link, id_: Any) -> None:  # noqa: ANN401 - an id
        """Nobody waits for the answer any more."""
        link.waiting.pop(id_, None)
        if link.alone:
            link.close()
            return
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}}
        await link.send(json.dumps(cancelled).encode())

    async def _listen(self, link: _Link) -> AsyncIterator[bytes]:
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


def _is_response(line: bytes) -> bool:
    return "method" not in json.loads(line)


def _as_json(line: bytes | None, headers: dict[str, str], *, strict: bool) -> Response:
    if line is None:
        return _plain(HTTPStatus.BAD_GATEWAY, "the daemon hung up; run: ironcurtain doctor")
    error = json.loads(line).get("error")
    status = _BY_CODE.get(error["code"], 200) if strict and isinstance(error, dict) else 200
    return Response(line, status, headers, "application/json")


def _version_in(message: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever a client wrote there
    return _meta_of(message).get(protocol.VERSION_KEY)


def _meta_of(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _mismatch(request: Request, message: dict[str, Any]) -> str | None:
    """Whether the headers say something else than the body: whoever reads only one of them would be deceived."""
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) and message.get("method") == "tools/call" else None
    wanted = {"mcp-protocol-version": _version_in(message), "mcp-method": message.get("method"), "mcp-name": name}
    for header, value in wanted.items():
        said = request.headers.getlist(header)
        if len(said) > 1:
            return f"the header {header} stands there twice"
        if isinstance(value, str) and _decoded(said[0] if said else "") != value:
            return f"the header {header} does not fit the body"
    return None


def _decoded(value: str) -> str:
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
