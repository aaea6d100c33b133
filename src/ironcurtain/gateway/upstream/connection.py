"""MCP towards one server: the handshake of either era, requests and their answers, what it says unasked.

A server may die, hang, print garbage, answer twice, answer what nobody asked, or send more than anyone can hold. Each
of these ends one call, or this connection, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from ironcurtain.errors import Refusal
from ironcurtain.gateway import protocol
from ironcurtain.gateway.context import done_before
from ironcurtain.gateway.protocol import Era
from ironcurtain.wire import jsonrpc, strict_json
from ironcurtain.wire.jsonrpc import Notification, Request, Response, RpcError
from ironcurtain.wire.limits import ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ironcurtain.gateway.context import AskClient
    from ironcurtain.model.call import Json

MOST_GARBAGE: Final = 100  # unreadable lines in one run of a server; a banner is fine, a flood is not
MOST_PAGES: Final = 100  # of one list
MOST_LISTED: Final = 2_000  # entries of one list; the largest real one seen has about two hundred
MOST_UNASKED: Final = 10_000  # messages a second that nobody asked for
MOST_ROUNDS: Final = 5  # that a server may ask for something before it answers one call
MOST_UNREAD: Final = 2 * ANSWER.size  # bytes of long messages that wait to be read
_LONG: Final = 256 * 1024  # bytes of a message that is read beside the loop: reading 32 MB of it takes seconds
_HANDSHAKE: Final = 30.0  # seconds for a server to answer its first request; a cold `npx` takes ten


class UpstreamError(Exception):
    """A server did not do what was asked."""

    def __init__(self, code: str, reason: str, *, sent: bool = True) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.sent = sent
        """Whether the request may have reached the server."""


class Channel(Protocol):
    """Carries messages to and from a server."""

    def send(self, line: bytes) -> None: ...
    def kill(self, reason: str) -> None: ...
    async def stop(self) -> None: ...


@dataclass(slots=True)
class _Waiting:
    done: asyncio.Future[dict[str, Json]]
    progress: Callable[[dict[str, Json]], None] | None
    ask: AskClient | None = None


class Connection:
    """One connection to one server."""

    def __init__(
        self,
        on_changed: Callable[[], None],
        on_end: Callable[[str], None],
        may_ask: frozenset[str] = frozenset(),
        conceal: Callable[[Json], Json] = lambda value: value,
    ) -> None:
        self._conceal = conceal
        """Takes out of what the server says what no client may hold."""
        self._can: dict[str, Json] = {name: {} for name in sorted(may_ask)}
        """What we say that a server can ask of us."""
        self._asking: set[asyncio.Task[None]] = set()
        self._unread: dict[asyncio.Task[None], int] = {}
        self._reader = asyncio.Lock()
        self._on_changed = on_changed
        self._on_end = on_end
        self._channel: Channel | None = None
        self._waiting: dict[int, _Waiting] = {}
        self._next = 0
        self._garbage = 0
        self._second = self._heard = self._asked_before = 0
        self._why: str | None = None
        self.era = Era.HANDSHAKE
        self.info: dict[str, Json] = {}
        self.capabilities: dict[str, Json] = {}

    async def open(self, channel: Channel, era: str = "auto") -> None:
        """Agree with the server on an era. Raises `UpstreamError`."""
        self._channel = channel
        if era == Era.ENVELOPE.value:
            await self._discover()
            return
        try:
            await self._initialize()
        except RpcError as error:
            # Every server of the handshake era accepts `initialize`; one that refuses it may know only the other.
            if era == Era.HANDSHAKE.value:
                raise UpstreamError("upstream_refused", f"it refused the handshake: {error.message}") from None
            await self._discover()

    async def _initialize(self) -> None:
        asked: dict[str, Json] = {
            "protocolVersion": protocol.HANDSHAKE_REVISION,
            "capabilities": self._can,
            "clientInfo": protocol.OURSELVES,
        }
        answer = await self.request("initialize", asked, timeout=_HANDSHAKE)
        if answer.get("protocolVersion") not in protocol.HANDSHAKE_REVISIONS:
            raise UpstreamError("upstream_version", "it speaks a revision of the protocol that we do not")
        self._learn(answer, answer.get("serverInfo"))
        self.notify("notifications/initialized", {})

    async def _discover(self) -> None:
        self.era = Era.ENVELOPE
        try:
            answer = await self.request("server/discover", {}, timeout=_HANDSHAKE)
        except RpcError as error:
            raise UpstreamError("upstream_refused", f"it refused both handshakes: {error.message}") from None
        supported = answer.get("supportedVersions")
        if not isinstance(supported, list) or protocol.ENVELOPE_REVISION not in supported:
            raise UpstreamError("upstream_version", "it speaks a revision of the protocol that we do not")
        meta = answer.get("_meta")
        self._learn(answer, meta.get(protocol.SERVER_INFO_KEY) if isinstance(meta, dict) else None)

    def _learn(self, answer: Mapping[str, Json], info: Json) -> None:
        capabilities = answer.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        self.info = info if isinstance(info, dict) else {}

    async def hear_of_changes(self) -> None:
        """Ask a server of the envelope era to say when its tools change; one of the other era says so unasked."""
        offers = self.capabilities.get("tools")
        if self.era is not Era.ENVELOPE or not isinstance(offers, dict) or not offers.get("listChanged"):
            return
        with contextlib.suppress(RpcError, UpstreamError):
            wanted: dict[str, Json] = {"notifications": {"toolsListChanged": True}}
            await self.request("subscriptions/listen", wanted, timeout=math.inf)

    async def list(self, method: str, member: str) -> list[Json]:
        """All pages of a list."""
        found: list[Json] = []
        cursor: Json = None
        for _ in range(MOST_PAGES):
            page = await self.request(method, {} if cursor is None else {"cursor": cursor}, timeout=_HANDSHAKE)
            items = page.get(member)
            found += items if isinstance(items, list) else []
            if len(found) > MOST_LISTED:
                raise UpstreamError("upstream_flood", f"its {method} has more than {MOST_LISTED} entries")
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                return found
        raise UpstreamError("upstream_endless", f"its {method} has no end")

    async def call(
        self,
        params: Mapping[str, Json],
        *,
        timeout: float,
        withdrawn: asyncio.Event,
        progress: Callable[[dict[str, Json]], None] | None,
        ask: AskClient,
    ) -> dict[str, Json]:
        """Call a tool. A server of the envelope era may answer that it wants to know something first."""
        more: dict[str, Json] = {}
        for _ in range(MOST_ROUNDS):
            result = await self.request(
                "tools/call", {**params, **more}, timeout=timeout, withdrawn=withdrawn, progress=progress, ask=ask
            )
            if self.era is not Era.ENVELOPE or result.get("resultType", "complete") == "complete":
                return result
            finding = asyncio.ensure_future(_found_out(result, ask))
            if not await done_before(withdrawn, finding) or withdrawn.is_set():
                finding.cancel()
                raise UpstreamError("withdrawn", "the client withdrew the call while it was asked something")
            more = finding.result()
        raise UpstreamError("upstream_asks", "it asks again and again")

    async def request(
        self,
        method: str,
        params: Mapping[str, Json],
        *,
        timeout: float,
        withdrawn: asyncio.Event | None = None,
        progress: Callable[[dict[str, Json]], None] | None = None,
        ask: AskClient | None = None,
    ) -> dict[str, Json]:
        """Ask the server. Raises `RpcError` with the server's own error, or `UpstreamError`."""
        if self._why is not None or self._channel is None:
            raise UpstreamError("upstream_gone", self._why or "it is not connected", sent=False)
        self._next += 1
        id_ = self._next
        waiting = _Waiting(asyncio.get_running_loop().create_future(), progress, ask)
        self._waiting[id_] = waiting
        try:
            self._channel.send(jsonrpc.request(id_, method, self._stamped(params, id_ if progress else None)))
            return await self._answer(id_, waiting, timeout, withdrawn)
        finally:
            self._waiting.pop(id_, None)

    async def _answer(
        self, id_: int, waiting: _Waiting, timeout: float, withdrawn: asyncio.Event | None
    ) -> dict[str, Json]:
        withdrawn = withdrawn or asyncio.Event()
        if await done_before(withdrawn, waiting.done, None if math.isinf(timeout) else timeout):
            return waiting.done.result()
        self.notify("notifications/cancelled", {"requestId": id_, "reason": "no longer needed"})
        if withdrawn.is_set():
            raise UpstreamError("withdrawn", "the client withdrew the call while it was under way")
        raise UpstreamError("upstream_timeout", f"it did not answer within {timeout:g} seconds")

    def notify(self, method: str, params: Mapping[str, Json]) -> None:
        """Tell the server something."""
        if self._channel is not None and self._why is None:
            self._channel.send(jsonrpc.notification(method, params))

    def _stamped(self, params: Mapping[str, Json], token: int | None) -> dict[str, Json]:
        meta = protocol.own_meta(params.get("_meta"))
        if self.era is Era.ENVELOPE:
            meta.update(protocol.envelope(self._can))
        if token is not None:
            meta["progressToken"] = token
        out = {key: value for key, value in params.items() if key != "_meta"}
        return {**out, "_meta": meta} if meta else out

    # --- What comes back. ---

    def receive(self, line: bytes | None) -> asyncio.Task[None] | None:
        """A line from the server, or nothing for one that was too long. A task, where it takes a while to read."""
        if line is None:
            self.lost("it sent a message that is too large", kill=True)
        elif self._is_flooding():
            self.lost("it floods us with messages that nobody asked for", kill=True)
        elif len(line) > _LONG:
            return self._receive_long(line)
        elif line.strip():
            self._take(line, self._read(line))
        return None

    def _receive_long(self, line: bytes) -> asyncio.Task[None] | None:
        if sum(self._unread.values()) + len(line) > MOST_UNREAD:
            self.lost("it sends more than can be read", kill=True)
            return None
        task = asyncio.ensure_future(self._read_beside(line))
        self._unread[task] = len(line)
        task.add_done_callback(self._was_read)
        return task

    async def _read_beside(self, line: bytes) -> None:
        async with self._reader:
            try:
                message = await asyncio.to_thread(self._read, line)
            except Exception as error:  # noqa: BLE001 - as in `_take`: its own calls pay for it
                self.lost(f"it said something that we cannot handle: {type(error).__name__}", kill=True)
            else:
                self._take(line, message)

    def _was_read(self, task: asyncio.Task[None]) -> None:
        del self._unread[task]
        if self._why is not None and not self._unread:
            self._abandon()

    def _read(self, line: bytes) -> jsonrpc.Message | Refusal:
        try:
            return self._concealed(jsonrpc.message_from(strict_json.loads_foreign(line, ANSWER)))
        except Refusal as refusal:
            return refusal

    def _concealed(self, message: jsonrpc.Message) -> jsonrpc.Message:
        """The message without what no client may hold; what makes it a message stays."""
        if not isinstance(message, Response):
            return replace(message, params={name: self._conceal(item) for name, item in message.params.items()})
        if message.error is not None:
            said, data = self._conceal(message.error.message), self._conceal(message.error.data)
            return replace(message, error=RpcError(message.error.code, str(said), data))
        return replace(message, result={name: self._conceal(item) for name, item in (message.result or {}).items()})

    def _take(self, line: bytes, message: jsonrpc.Message | Refusal) -> None:
        if isinstance(message, Refusal):
            self._unreadable(message, line)
            return
        try:
            match message:
                case Response():
                    self._answered(message)
                case Notification():
                    self._told(message)
                case Request():
                    self._asked(message)
        except Exception as error:  # noqa: BLE001 - whatever it said that we did not expect: its own calls pay for it
            self.lost(f"it said something that we cannot handle: {type(error).__name__}", kill=True)

    def _is_flooding(self) -> bool:
        """Whether it said much more in this second than it was asked."""
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._heard, self._asked_before = second, 0, self._next - len(self._waiting)
        self._heard += 1
        return self._heard > MOST_UNASKED + (self._next - self._asked_before)

    def _unreadable(self, refusal: Refusal, line: bytes) -> None:
        self._garbage += 1
        if line.lstrip().startswith(b"{") and refusal.code != "json_syntax":
            # It was meant as a message, and one of ours may wait for it in vain: better to know at once.
            self.lost(f"it sent a message that is not acceptable: {refusal.reason}", kill=True)
        elif self._garbage > MOST_GARBAGE:
            self.lost("it sends garbage", kill=True)

    def _answered(self, response: Response) -> None:
        waiting = self._waiting.get(response.id) if isinstance(response.id, int) else None
        if waiting is None or waiting.done.done():
            return  # nobody asked, or it was answered already: whoever asked first keeps the first answer
        if response.error is not None:
            waiting.done.set_exception(response.error)
        elif response.result is not None:
            waiting.done.set_result(response.result)

    def _told(self, notification: Notification) -> None:
        if notification.method == "notifications/progress":
            token = notification.params.get("progressToken")
            waiting = self._waiting.get(token) if isinstance(token, int) else None
            if waiting is not None and waiting.progress is not None:
                waiting.progress(notification.params)
        elif notification.method == "notifications/tools/list_changed":
            self._on_changed()

    def _asked(self, request: Request) -> None:
        if self._channel is None:
            return
        if request.method == "ping":
            self._channel.send(jsonrpc.result(request.id, {}))
            return
        # It does not say on behalf of which call it asks: only where there is one can that be known.
        askers = [waiting.ask for waiting in self._waiting.values() if waiting.ask is not None]
        task = asyncio.ensure_future(self._ask_on(request, askers[0] if len(askers) == 1 else _nobody))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask_on(self, request: Request, ask: AskClient) -> None:
        answer = await ask(request.method, request.params)
        if self._channel is None or self._why is not None:
            return
        refusal = RpcError(jsonrpc.METHOD_NOT_FOUND, f"{request.method} is not offered")
        said = jsonrpc.failure(request.id, refusal) if answer is None else jsonrpc.result(request.id, answer)
        self._channel.send(said)

    def fail(self, id_: int, error: UpstreamError) -> None:
        """One request has failed; a request that was answered has not."""
        waiting = self._waiting.get(id_)
        if waiting is not None and not waiting.done.done():
            waiting.done.set_exception(error)

    def lost(self, reason: str, *, kill: bool = False) -> None:
        """The server is gone, or has to go."""
        if self._why is not None:
            return
        self._why = reason
        for task in self._asking:
            task.cancel()
        if kill or not self._unread:  # else the answer may be among what is being read
            self._abandon()
        if kill and self._channel is not None:
            self._channel.kill(reason)
        self._on_end(reason)

    def _abandon(self) -> None:
        for waiting in list(self._waiting.values()):
            if not waiting.done.done():
                waiting.done.set_exception(UpstreamError("upstream_gone", self._why or ""))


async def _nobody(_: str, __: dict[str, Json]) -> None:
    """Asks nobody."""


async def _found_out(result: dict[str, Json], ask: AskClient) -> dict[str, Json]:
    """What a server wanted to know before it goes on. Raises `UpstreamError` if it may not, or nobody says."""
    wanted = result.get("inputRequests")
    responses: dict[str, Json] = {}
    for key, request in wanted.items() if isinstance(wanted, dict) else ():
        method, params = (request.get("method"), request.get("params")) if isinstance(request, dict) else (None, None)
        answer = await ask(str(method), params if isinstance(params, dict) else {})
        if answer is None:
            raise UpstreamError("upstream_asks", f"it wants {method} of the client, and that is not allowed")
        responses[key] = answer
    return {"inputResponses": responses, "requestState": result.get("requestState")}
