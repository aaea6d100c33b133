"""A server's life: started when approved, listed, restarted with patience when it died, never twice for one call."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.annotations import pin_of
from ironcurtain.gateway import protocol
from ironcurtain.gateway.upstream.connection import Connection, UpstreamError
from ironcurtain.gateway.upstream.process import ServerProcess
from ironcurtain.mediation.effects import Executed, Status
from ironcurtain.wire import strict_json
from ironcurtain.wire.jsonrpc import RpcError
from ironcurtain.wire.limits import MAX_DEFINITION, MAX_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.artifacts.servers import Credentials, ServerSpec
    from ironcurtain.gateway.context import AskClient, CallContext
    from ironcurtain.gateway.upstream.connection import Channel
    from ironcurtain.model.call import CanonicalCall, Json

MOST_TOOLS: Final = 2_000  # of one server; the largest real one seen has about two hundred
_PATIENCE: Final = 12.0  # seconds that a call or a list waits for a server that is starting
_FIRST_PAUSE: Final = 1.0  # seconds before a server that died is started again; doubled each time it did not get ready
_LONGEST_PAUSE: Final = 60.0
_BETWEEN_LISTS: Final = 1.0  # seconds, at least: a server that cries change is listed no more often


class State(Enum):
    """Where a server is in its life."""

    OFF = "off"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Terms:
    """What the owner has agreed to with a server."""

    conceal: Callable[[Json], Json]
    """Takes credentials out of what it says: no agent holds one."""
    may_ask: frozenset[str] = frozenset()
    approved: str | None = None
    """The version that was approved; nothing if any will do."""


def _directory_name(server: str) -> str:
    """Return the name of a server's own directory: what it is told to write by a relative name is there alone."""
    return f"server-{hashlib.sha256(server.encode()).hexdigest()[:16]}"


class Server:
    """One server. `on_listed` is called when it is known what it offers, and when that changed."""

    def __init__(
        self,
        spec: ServerSpec,
        credentials: Credentials,
        directory: Path,
        on_listed: Callable[[Server], None],
        terms: Terms,
    ) -> None:
        self.spec = spec
        self.terms = terms
        self.version: str | None = None
        """What it says to be; nothing for our own servers, which come with us."""
        self._credentials = credentials
        self._directory = directory
        self._on_listed = on_listed
        self._connection: Connection | None = None
        self._channel: Channel | None = None
        self._starting: asyncio.Task[None] | None = None
        self._listing: asyncio.Task[None] | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._deaths = 0
        self._not_before = 0.0
        self._listed_at = 0.0
        self.state = State.OFF
        self.problem = ""
        self.tools: dict[str, dict[str, Json]] = {}
        self.pins: dict[str, str] = {}

    @property
    def secrets(self) -> frozenset[str]:
        """What it was started with that nobody else may know."""
        return self._credentials.of(self.spec.name)

    def start(self) -> asyncio.Task[None]:
        """Start it, unless it runs or is being started."""
        if self._starting is None or (self._starting.done() and self.state is not State.READY):
            self.state, self.problem = State.STARTING, ""
            self._starting = asyncio.create_task(self._start())
        return self._starting

    @property
    def is_ready(self) -> bool:
        """Whether nothing has to be waited for."""
        return self.state is State.READY and (self._listing is None or self._listing.done())

    async def ready(self) -> bool:
        """Wait, with patience, until it can be called. Starts it if it may be started again."""
        if self.state is not State.READY:
            if self.state is not State.STARTING and time.monotonic() < self._not_before:
                return False
            await asyncio.wait([self.start()], timeout=_PATIENCE)
        if self._listing is not None and not self._listing.done():
            await asyncio.wait([self._listing], timeout=_PATIENCE)
        return self.state is State.READY

    async def _start(self) -> None:
        connection = Connection(
            self._changed, lambda reason: self._ended(connection, reason), self.terms.may_ask, self.terms.conceal
        )
        self._connection = connection
        try:
            self._channel = await self._open_channel(connection)
            await connection.open(self._channel, self.spec.era)
            self._recognise(connection)
            self._take(await connection.list("tools/list", "tools") if "tools" in connection.capabilities else [])
        except (OSError, UpstreamError, RpcError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            connection.lost(reason, kill=True)
            return
        self.state = State.READY
        self._on_listed(self)
        self._hearing = asyncio.create_task(connection.hear_of_changes())

    async def _open_channel(self, connection: Connection) -> Channel:
        if self.spec.url is not None:
            from ironcurtain.gateway.upstream.http import HttpChannel  # noqa: PLC0415 - slow to load, and often unused

            headers = {**self.spec.headers, **self._credentials.headers.get(self.spec.name, {})}
            return HttpChannel(self.spec.url, headers, connection)
        own = {**self.spec.env, **self._credentials.env.get(self.spec.name, {})}
        directory = Path(self.spec.cwd) if self.spec.cwd else self._directory / _directory_name(self.spec.name)
        if not self.spec.cwd:
            directory.mkdir(mode=0o700, exist_ok=True)
        return await ServerProcess.start(self.spec.command, own, directory, connection.receive, connection.lost)

    def _recognise(self, connection: Connection) -> None:
        """Refuse a server that says to be another version than the owner has approved."""
        said = connection.info.get("version")
        ours = any(word.startswith("ironcurtain.servers.") for word in self.spec.command)
        self.version = said if isinstance(said, str) and not ours else None
        if self.terms.approved is not None and self.version != self.terms.approved:
            raise UpstreamError(
                "server_changed",
                f"it was version {self.terms.approved} when you approved it and is {self.version} now;"
                f" run: ironcurtain servers review {self.spec.name}",
            )

    def _take(self, listed: list[Json]) -> None:
        """Keep what it offers, within bounds. A definition that is no definition is not offered."""
        if len(listed) > MOST_TOOLS:
            raise UpstreamError("upstream_flood", f"it offers more than {MOST_TOOLS} tools")
        tools: dict[str, dict[str, Json]] = {}
        for definition in listed:
            name = definition.get("name") if isinstance(definition, dict) else None
            if not isinstance(definition, dict) or not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
                continue
            if name in tools:
                raise UpstreamError("upstream_ambiguous", f"it offers two tools named {name!r}")
            tools[name] = definition
        self.tools = {name: tool for name, tool in tools.items() if len(strict_json.canonical(tool)) <= MAX_DEFINITION}
        self.pins = {name: pin_of(tool) for name, tool in self.tools.items()}
        self._listed_at = time.monotonic()

    def _changed(self) -> None:
        """It says that its tools changed."""
        if self.state is State.READY and (self._listing is None or self._listing.done()):
            self._listing = asyncio.create_task(self._relist())

    async def _relist(self) -> None:
        await asyncio.sleep(max(0.0, self._listed_at + _BETWEEN_LISTS - time.monotonic()))
        if self._connection is None:
            return
        try:
            self._take(await self._connection.list("tools/list", "tools"))
        except (UpstreamError, RpcError) as error:
            self._connection.lost(f"its tools could not be listed again: {error}", kill=True)
            return
        self._on_listed(self)

    def _ended(self, connection: Connection, reason: str) -> None:
        if connection is not self._connection:
            return
        self._connection = None
        was_ready = self.state is State.READY
        # One that got ready works; what ended it may be a call, for which nobody else should have to wait.
        self._deaths = 1 if was_ready else self._deaths + 1
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (self._deaths - 1))
        self._not_before = time.monotonic() + pause
        self.state, self.problem, self.tools, self.pins = State.FAILED, reason, {}, {}
        if was_ready:
            self._on_listed(self)

    async def call(self, call: CanonicalCall, pin: str, context: CallContext, ask: AskClient) -> Executed:
        """Forward exactly this call to the tool that was pinned. Tried once.

        `ask` answers what the server wants to know of the client meanwhile, or refuses to. INVARIANT: the call is sent
        before anything is waited for: whoever calls this has just seen that it may be made.
        """
        if self.state is not State.READY or self._connection is None:
            reason = f"the server {call.server} cannot be reached: {self.problem or 'it is not ready yet'}"
            return Executed(Status.NOT_FORWARDED, code="upstream_unavailable", reason=reason)
        if self.pins.get(call.tool) != pin:
            reason = f"{call.server} no longer offers {call.tool} as it was approved"
            return Executed(Status.NOT_FORWARDED, code="tool_drift", reason=reason)
        params: dict[str, Json] = {"name": call.tool, "arguments": call.arguments}
        if besides := protocol.without_ours(context.meta):
            params["_meta"] = besides
        try:
            result = await self._connection.call(
                params, timeout=self.spec.timeout, withdrawn=context.withdrawn, progress=context.tell, ask=ask
            )
        except RpcError as error:
            said: dict[str, Json] = {"code": error.code, "message": error.message, "data": error.data}
            return Executed(Status.ERROR, error=said, code="upstream_error", reason=error.message)
        except UpstreamError as error:
            status = Status.UNKNOWN if error.sent else Status.NOT_FORWARDED
            return Executed(status, code=error.code, reason=f"{call.server}: {error.reason}")
        return Executed(Status.ERROR if result.get("isError") is True else Status.SUCCESS, result)

    @property
    def complaints(self) -> list[str]:
        """The last lines of its standard error."""
        return list(self._channel.complaints) if isinstance(self._channel, ServerProcess) else []

    async def stop(self) -> None:
        """End it."""
        for task in (self._starting, self._listing, self._hearing):
            if task is not None and not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        channel, self._connection, self.state = self._channel, None, State.OFF
        if channel is not None:
            await channel.stop()
