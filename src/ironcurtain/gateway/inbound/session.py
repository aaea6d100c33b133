"""One client's session: MCP towards the agent, in whichever era it opens with.

The first request decides the era: `initialize` opens the handshake era, a request that carries the envelope the other.
A later request of the other era is refused. Every tool call becomes a task of its own; an id that is in use is refused;
a call that is cancelled is withdrawn and not answered.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final, Protocol

from ironcurtain.errors import Refusal, quote
from ironcurtain.gateway import protocol
from ironcurtain.gateway.catalogue import PAGE
from ironcurtain.gateway.context import CallContext
from ironcurtain.gateway.inbound.asking import RESUMED, Asking, Call
from ironcurtain.gateway.inbound.refusal import told_no
from ironcurtain.gateway.protocol import Era
from ironcurtain.wire import jsonrpc, strict_json
from ironcurtain.wire.jsonrpc import Notification, Request, Response, RpcError
from ironcurtain.wire.limits import MAX_NAME, MESSAGE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ironcurtain.mediation.effects import Answer
    from ironcurtain.model.call import Arguments, Json, Principal
    from ironcurtain.model.decision import Decision
    from ironcurtain.wire.jsonrpc import Id

MOST_CALLS: Final = 256  # under way at once in one session
MOST_MALFORMED: Final = 100  # messages of one session that are none and are answered
MAX_META: Final = 4_096  # bytes of what a client sends along beside the arguments
_CALL_MEMBERS: Final = frozenset({"name", "arguments", "_meta"})


class Host(Protocol):
    """What a session needs of the runtime."""

    async def offered(self, principal: Principal) -> list[dict[str, Json]]: ...
    def find(self, name: str) -> tuple[str, str] | None: ...
    async def mediate(
        self, session: str, key: tuple[str, str], arguments: Arguments, principal: Principal, context: CallContext
    ) -> Answer: ...
    async def refuse(
        self, session: str, principal: Principal, about: dict[str, Json], refusal: Refusal
    ) -> Decision: ...
    def listen(self, changed: Callable[[], None]) -> Callable[[], None]: ...


class Session:
    """One client. `send` takes whole lines."""

    def __init__(self, name: str, principal: Principal, host: Host, send: Callable[[bytes], None]) -> None:
        self.name = name
        self.principal = principal
        self.holder = name
        """Who has seen what came before: this session, or all that come through one door."""
        self._host = host
        self._send = send
        self._era: Era | None = None
        self._initialized = False
        self._calls: dict[Id, CallContext | None] = {}
        self._tasks: set[asyncio.Future[Any]] = set()
        self._listeners: dict[Id, asyncio.Event] = {}
        self._honoured: set[Id] = set()
        self._capabilities: Json = None
        self._asking = Asking(self._write)
        self._bad = 0
        self._forget = host.listen(self._tools_changed)
        self.client: Json = None

    # --- What comes in. ---

    def receive(self, line: bytes | None) -> None:
        """A line from the client, or nothing for one that was too long."""
        if line is not None and not line.strip():
            return
        try:
            if line is None:
                raise Refusal("json_too_large", f"more than {MESSAGE.size} bytes")  # noqa: TRY301 - answered like the others
            message = jsonrpc.message_from(strict_json.loads(line))
        except Refusal as refusal:
            self._bad += 1
            if self._bad <= MOST_MALFORMED:  # a client that goes on like that is not worth a record each time
                self._task(self._malformed(refusal, line or b""))
            return
        match message:
            case Request():
                self._requested(message)
            case Notification():
                self._told(message)
            case Response():
                self._asking.replied(message)

    async def _malformed(self, refusal: Refusal, line: bytes) -> None:
        decision = await self._host.refuse(self.name, self.principal, {"bytes": len(line)}, refusal)
        code = jsonrpc.PARSE_ERROR if refusal.code.startswith("json_") else jsonrpc.INVALID_REQUEST
        id_ = jsonrpc.id_in(line)
        self._fail(
            None if id_ in self._calls else id_,
            RpcError(code, decision.reason, {"code": decision.code, "help": decision.help}),
        )

    def _requested(self, request: Request) -> None:
        if request.id in self._calls:
            self._fail(request.id, RpcError(jsonrpc.INVALID_REQUEST, "this id is in use"))
            return
        if len(self._calls) >= MOST_CALLS:
            self._fail(request.id, RpcError(jsonrpc.INTERNAL_ERROR, f"more than {MOST_CALLS} requests under way"))
            return
        self._calls[request.id] = None
        try:
            self._settle_era(request)
        except RpcError as error:
            self._calls.pop(request.id)
            self._fail(request.id, error)
            return
        self._task(self._answer(request))

    def _settle_era(self, request: Request) -> None:
        meta = request.params.get("_meta")
        version = meta.get(protocol.VERSION_KEY) if isinstance(meta, dict) else None
        asks = Era.ENVELOPE if version is not None and request.method != "initialize" else Era.HANDSHAKE
        if asks is Era.ENVELOPE and version != protocol.ENVELOPE_REVISION:
            data: Json = {"supported": [protocol.ENVELOPE_REVISION], "requested": version}
            raise RpcError(protocol.UNSUPPORTED_VERSION, "unsupported protocol version", data)
        if self._era is None:
            self._era = asks
        elif request.method == "initialize" and self._era is Era.ENVELOPE:
            data = {"supported": [protocol.ENVELOPE_REVISION], "requested": request.params.get("protocolVersion")}
            raise RpcError(protocol.UNSUPPORTED_VERSION, "this connection speaks without a handshake", data)
        elif asks is Era.ENVELOPE and self._era is Era.HANDSHAKE:
            raise RpcError(jsonrpc.INVALID_REQUEST, "this connection began with a handshake; leave the envelope out")
        elif asks is Era.HANDSHAKE and self._era is Era.ENVELOPE:
            raise RpcError(jsonrpc.INVALID_PARAMS, f"_meta lacks {protocol.VERSION_KEY}")

    async def _answer(self, request: Request) -> None:
        try:
            result = await self._perform(request)
        except RpcError as error:
            self._fail(request.id, error)
        except Exception as error:  # noqa: BLE001 - a fault of ours; whoever asked must not wait for ever
            asyncio.get_running_loop().call_exception_handler({"message": request.method, "exception": error})
            self._fail(
                request.id, RpcError(jsonrpc.INTERNAL_ERROR, f"IronCurtain itself failed: {type(error).__name__}")
            )
        else:
            if result is not None:
                self._write(jsonrpc.result(request.id, result))
        finally:
            self._calls.pop(request.id, None)

    async def _perform(self, request: Request) -> dict[str, Json] | None:
        handler = _METHODS.get((self._era, request.method))
        if handler is None:
            raise RpcError(jsonrpc.METHOD_NOT_FOUND, f"{request.method} is not offered")
        if self._era is Era.HANDSHAKE and not self._initialized and request.method not in ("initialize", "ping"):
            raise RpcError(jsonrpc.INVALID_REQUEST, "initialize first")
        result: dict[str, Json] | None = await handler(self, request)
        return result

    def _told(self, notification: Notification) -> None:
        if notification.method != "notifications/cancelled":
            return
        id_ = notification.params.get("requestId")
        if not isinstance(id_, (str, int)):
            return
        if id_ in self._listeners:
            self._listeners[id_].set()
        context = self._calls.get(id_)
        if context is not None:
            context.withdrawn.set()

    # --- The methods. ---

    async def _initialize(self, request: Request) -> dict[str, Json]:
        if self._initialized:
            raise RpcError(jsonrpc.INVALID_REQUEST, "it is initialized already")
        asked = request.params.get("protocolVersion")
        self._initialized = True
        self.client = request.params.get("clientInfo")
        self._capabilities = request.params.get("capabilities")
        return {
            "protocolVersion": asked if asked in protocol.HANDSHAKE_REVISIONS else protocol.HANDSHAKE_REVISION,
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": protocol.OURSELVES,
            "instructions": _INSTRUCTIONS,
        }

    async def _ping(self, _: Request) -> dict[str, Json]:
        return {}

    async def _discover(self, request: Request) -> dict[str, Json]:
        meta = request.params.get("_meta")
        self.client = meta.get(protocol.CLIENT_INFO_KEY) if isinstance(meta, dict) else None
        found: dict[str, Json] = {
            "supportedVersions": [protocol.ENVELOPE_REVISION],
            "capabilities": {"tools": {"listChanged": True}},
            "instructions": _INSTRUCTIONS,
        }
        return protocol.result_for(Era.ENVELOPE, found, ttlMs=0, cacheScope="private")

    async def _list_tools(self, request: Request) -> dict[str, Json]:
        tools = await self._host.offered(self.principal)
        cursor = request.params.get("cursor", "0")
        if not isinstance(cursor, str) or not cursor.isascii() or not cursor.isdecimal() or len(cursor) > 9:
            raise RpcError(jsonrpc.INVALID_PARAMS, "no such cursor")
        begin = int(cursor)
        page: dict[str, Json] = {"tools": [*tools[begin : begin + PAGE]]}
        if begin + PAGE < len(tools):
            page["nextCursor"] = str(begin + PAGE)
        return protocol.result_for(self._spoken, page, ttlMs=0, cacheScope="private")

    async def _call_tool(self, request: Request) -> dict[str, Json] | None:
        try:
            call = self._resumed(request) if self._resumes(request) else self._new_call(request)
        except Refusal as refusal:
            about: dict[str, Json] = {"method": request.method, "tool": quote(request.params.get("name"))}
            decision = await self._host.refuse(self.name, self.principal, about, refusal)
            data: Json = {"code": decision.code, "help": decision.help}
            raise RpcError(jsonrpc.INVALID_PARAMS, decision.reason, data) from None
        self._calls[request.id] = call.context
        if call.answer is None:
            call.answer = asyncio.ensure_future(
                self._host.mediate(self.name, call.key, call.arguments, self.principal, call.context)
            )
            self._keep(call.answer)
        news = asyncio.ensure_future(call.news.wait())
        await asyncio.wait([call.answer, news], return_when=asyncio.FIRST_COMPLETED)
        news.cancel()
        if not call.answer.done():
            return self._asking.park(call)
        if call.context.withdrawn.is_set():
            return None
        return self._result_of(call.key[0], call.answer.result())

    def _result_of(self, server: str, answer: Answer) -> dict[str, Json]:
        executed = answer.executed
        if executed is None or (executed.result is None and executed.error is None):
            return protocol.result_for(self._spoken, told_no(answer))
        if executed.error is not None:
            code = executed.error["code"]
            number = code if isinstance(code, int) else jsonrpc.INTERNAL_ERROR
            raise RpcError(number, str(executed.error["message"]), executed.error["data"])
        said = dict(executed.result or {})
        origin: dict[str, Json] = {"server": server, "trusted": False}  # it is no order of the owner's
        said["_meta"] = {**protocol.without_ours(protocol.own_meta(said.get("_meta"))), "ironcurtain/origin": origin}
        return protocol.result_for(self._spoken, said)

    def _resumes(self, request: Request) -> bool:
        return self._era is Era.ENVELOPE and not RESUMED.isdisjoint(request.params)

    def _resumed(self, request: Request) -> Call:
        """The call that waits for what this request brings."""
        state = request.params.get("requestState")
        waiting = self._asking.parked(state)
        name, arguments, _ = _read_call(request, RESUMED)
        if self._host.find(name) != waiting.key or arguments != waiting.arguments:
            raise Refusal("call_malformed", "another call waits for this", "repeat the call as it was")
        return self._asking.resume(state, request.params.get("inputResponses", {}))

    def _new_call(self, request: Request) -> Call:
        name, arguments, meta = _read_call(request)
        key = self._host.find(name)
        if key is None:
            raise Refusal("tool_unknown", f"there is no tool {quote(name)}", "ask for tools/list")
        call = Call(key, arguments, CallContext(protocol.own_meta(meta), self._teller(meta)))
        can = meta.get(protocol.CAPABILITIES_KEY) if self._era is Era.ENVELOPE else self._capabilities
        call.context.holder = self.holder
        call.context.ask_client = self._asking.of(call, self._spoken, can)
        return call

    def _teller(self, meta: Json) -> Callable[[dict[str, Json]], None] | None:
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if not isinstance(token, (str, int)):
            return None
        return lambda params: self._write(
            jsonrpc.notification("notifications/progress", {**params, "progressToken": token})
        )

    async def _listen(self, request: Request) -> dict[str, Json]:
        wanted = request.params.get("notifications")
        if not isinstance(wanted, dict):
            raise RpcError(jsonrpc.INVALID_PARAMS, "notifications must be an object")
        stamp: dict[str, Json] = {protocol.SUBSCRIPTION_KEY: request.id}
        honoured: dict[str, Json] = {"toolsListChanged": True} if wanted.get("toolsListChanged") is True else {}
        ended = asyncio.Event()
        self._write(
            jsonrpc.notification(
                "notifications/subscriptions/acknowledged", {"notifications": honoured, "_meta": stamp}
            )
        )
        self._listeners[request.id] = ended
        if honoured:
            self._honoured.add(request.id)
        try:
            await ended.wait()
        finally:
            self._listeners.pop(request.id, None)
            self._honoured.discard(request.id)
        return protocol.result_for(Era.ENVELOPE, {"_meta": stamp}) | {"_meta": {**stamp}}

    def _tools_changed(self) -> None:
        method = "notifications/tools/list_changed"
        if self._era is Era.HANDSHAKE and self._initialized:
            self._write(jsonrpc.notification(method, {}))
        for id_ in self._honoured:
            self._write(jsonrpc.notification(method, {"_meta": {protocol.SUBSCRIPTION_KEY: id_}}))

    # --- What goes out. ---

    @property
    def _spoken(self) -> Era:
        return self._era or Era.HANDSHAKE

    def _fail(self, id_: Id | None, error: RpcError) -> None:
        self._write(jsonrpc.failure(id_, error))

    def _write(self, line: bytes) -> None:
        self._send(line)

    def _task(self, work: Awaitable[None]) -> None:
        self._keep(asyncio.ensure_future(work))

    def _keep(self, task: asyncio.Future[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self, patience: float) -> None:
        """The client says nothing more: give what is under way a moment."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=patience)

    async def close(self) -> None:
        """The client is gone: withdraw what is under way, and wait until all of it is recorded."""
        self._forget()
        self._send = _into_the_void
        for context in (*self._calls.values(), *self._asking.waiting()):
            if context is not None:
                context.withdrawn.set()
        for ended in self._listeners.values():
            ended.set()
        while self._tasks:
            with contextlib.suppress(Exception):
                await asyncio.wait(set(self._tasks))


def _into_the_void(_: bytes) -> None:
    pass


_INSTRUCTIONS: Final = (
    "Every tool call is decided by your owner's policy. A call that is refused says why and what would be allowed; "
    "some calls wait for a person."
)


def _read_call(request: Request, besides: frozenset[str] = frozenset()) -> tuple[str, Arguments, dict[str, Json]]:
    params = request.params
    if unknown := sorted(params.keys() - _CALL_MEMBERS - besides):
        raise Refusal("call_malformed", f"unknown member {quote(unknown[0])} of a tool call")
    name, arguments, meta = params.get("name"), params.get("arguments", {}), params.get("_meta", {})
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        raise Refusal("call_malformed", "a tool call has the name of a tool")
    if not isinstance(arguments, dict):
        raise Refusal("call_malformed", "arguments must be an object")
    if not isinstance(meta, dict) or len(strict_json.canonical(protocol.own_meta(meta))) > MAX_META:
        raise Refusal("call_malformed", f"_meta must be an object of at most {MAX_META} bytes")
    return name, arguments, meta


_METHODS: Final[dict[tuple[Era | None, str], Callable[[Session, Request], Awaitable[Any]]]] = {
    (Era.HANDSHAKE, "initialize"): Session._initialize,
    (Era.HANDSHAKE, "ping"): Session._ping,
    (Era.HANDSHAKE, "tools/list"): Session._list_tools,
    (Era.HANDSHAKE, "tools/call"): Session._call_tool,
    (Era.ENVELOPE, "server/discover"): Session._discover,
    (Era.ENVELOPE, "tools/list"): Session._list_tools,
    (Era.ENVELOPE, "tools/call"): Session._call_tool,
    (Era.ENVELOPE, "subscriptions/listen"): Session._listen,
}
