"""A server at an address: each message is a request of its own, answered at once or by a stream of events.

Redirects are not followed: credentials go to the address that the owner wrote, and nowhere else.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from typing import TYPE_CHECKING, Any, Final

import httpx

from ironcurtain.gateway import protocol
from ironcurtain.gateway.lines import LineSplitter
from ironcurtain.gateway.upstream.connection import UpstreamError
from ironcurtain.wire.limits import ANSWER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Mapping

    from ironcurtain.gateway.upstream.connection import Connection

_CONNECT: Final = 10.0  # seconds
_AGAIN: Final = 5.0  # seconds before the stream of unasked messages is opened again
_PARTING: Final = 2.0  # seconds for a server to be told that we leave
_MOST_AT_ONCE: Final = 64
_SESSION: Final = "mcp-session-id"
_EVENTS: Final = "text/event-stream"


class HttpChannel:
    """One connection to a server over streamable HTTP."""

    def __init__(self, url: str, headers: Mapping[str, str], connection: Connection) -> None:
        self._url = url
        self._connection = connection
        self._client = httpx.AsyncClient(
            headers={
                **headers,
                "accept": f"application/json, {_EVENTS}",
                "accept-encoding": "identity",
                "content-type": "application/json",
            },
            timeout=httpx.Timeout(_CONNECT, read=None, pool=None),
            limits=httpx.Limits(max_connections=_MOST_AT_ONCE),
            follow_redirects=False,
            trust_env=False,
        )
        self._session: str | None = None
        self._version: str | None = None
        """What a handshake agreed on; nothing in the envelope era."""
        self._opening = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._posts: dict[Any, asyncio.Task[None]] = {}

    def send(self, line: bytes) -> None:
        """Send a message. In the envelope era a call is cancelled by hanging up."""
        message = json.loads(line)
        if message.get("method") == "initialize":
            self._opening = True
        if message.get("method") == "notifications/cancelled" and self._version is None:
            post = self._posts.get(message["params"].get("requestId"))
            if post is not None:
                post.cancel()
                return
        task = self._start(self._post(line, message))
        if "id" in message and "method" in message:
            self._posts[message["id"]] = task
            task.add_done_callback(lambda _: self._posts.pop(message["id"], None))
        if message.get("method") == "notifications/initialized":
            self._start(self._hear())

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _post(self, line: bytes, message: dict[str, Any]) -> None:
        id_ = message.get("id") if "method" in message else None
        try:
            async with self._client.stream(
                "POST", self._url, content=line.strip(), headers=self._headers(message)
            ) as response:
                await self._answered(response, id_)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            self._failed(id_, f"it cannot be reached: {error}", sent=False)
        except httpx.HTTPError as error:
            self._failed(id_, f"the connection broke: {type(error).__name__}")
        except UpstreamError as error:
            self._connection.lost(error.reason)
        else:
            self._failed(id_, "it hung up without an answer")

    def _failed(self, id_: Any, reason: str, *, sent: bool = True) -> None:  # noqa: ANN401 - an id is what it is
        if id_ is not None:
            self._connection.fail(id_, UpstreamError("upstream_gone", reason, sent=sent))

    async def _answered(self, response: httpx.Response, id_: Any) -> None:  # noqa: ANN401 - likewise
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.headers.get("content-encoding", "identity") != "identity":
            # Small, until it is unpacked.
            raise UpstreamError("upstream_flood", "it packs its answers, which nobody asked for")
        if response.status_code == httpx.codes.NOT_FOUND and self._session is not None:
            raise UpstreamError("upstream_gone", "it has forgotten the session")
        if response.is_success and _SESSION in response.headers:
            self._session = response.headers[_SESSION]
        if kind == _EVENTS and response.is_success:
            async for event in _events(response):
                await self._take(event)
        elif kind == "application/json":
            await self._take(b"".join([part async for part in _bounded(response)]))
        elif not response.is_success:
            reason = f"it answered {response.status_code}"
            if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
                reason += ": it wants other credentials"
            self._failed(id_, reason)

    async def _take(self, data: bytes) -> None:
        line = data.replace(b"\r", b" ").replace(b"\n", b" ")  # inside JSON strings there is neither
        if self._opening:
            with contextlib.suppress(ValueError, AttributeError, KeyError):
                self._version = json.loads(line)["result"].get("protocolVersion")
                self._opening = False
        if (reading := self._connection.receive(line)) is not None:
            await reading

    def _headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        headers = {_SESSION: self._session} if self._session else {}
        params = message.get("params") or {}
        version = (params.get("_meta") or {}).get(protocol.VERSION_KEY, self._version)
        if version:
            headers["mcp-protocol-version"] = str(version)
        if version == protocol.ENVELOPE_REVISION:
            headers["mcp-method"] = str(message.get("method"))
            if message.get("method") == "tools/call":
                headers["mcp-name"] = _header_value(str(params.get("name")))
        return headers

    async def _hear(self) -> None:
        """What the server says unasked, as long as it wants to say something."""
        while True:
            headers = {_SESSION: self._session or "", "accept": _EVENTS}
            headers |= {"mcp-protocol-version": self._version} if self._version else {}
            with contextlib.suppress(httpx.HTTPError, UpstreamError):
                async with self._client.stream("GET", self._url, headers=headers) as response:
                    if not response.is_success:
                        return
                    async for event in _events(response):
                        await self._take(event)
            await asyncio.sleep(_AGAIN)

    def kill(self, reason: str) -> None:
        """Hang up on everything."""
        for task in self._tasks:
            task.cancel()

    async def stop(self) -> None:
        """Say goodbye, and hang up."""
        self.kill("")
        if self._session is not None:
            with contextlib.suppress(httpx.HTTPError, TimeoutError):
                async with asyncio.timeout(_PARTING):
                    await self._client.delete(self._url, headers={_SESSION: self._session})
        await self._client.aclose()


def _header_value(text: str) -> str:
    """Text as a header may carry it."""
    plain = text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?base64?")
    return text if plain else f"=?base64?{base64.b64encode(text.encode()).decode()}?="


async def _bounded(response: httpx.Response) -> AsyncIterator[bytes]:
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > ANSWER.size:
            raise UpstreamError("upstream_flood", "it sent a message that is too large")
        yield part


async def _events(response: httpx.Response) -> AsyncIterator[bytes]:
    """The data of each event of a stream."""
    lines, data, size = LineSplitter(ANSWER.size), [], 0
    async for part in response.aiter_raw():
        for line in lines.feed(part.replace(b"\r\n", b"\n")):
            if line is None or size > ANSWER.size:
                raise UpstreamError("upstream_flood", "it sent a message that is too large")
            line = line.rstrip(b"\r")  # noqa: PLW2901 - a break that came in two parts
            if line.startswith(b"data:"):
                data.append(line.removeprefix(b"data:").removeprefix(b" "))
                size += len(line)
            elif not line and data:
                yield b"\n".join(data)
                data, size = [], 0
