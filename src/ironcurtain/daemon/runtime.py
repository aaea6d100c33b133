"""Everything trusted, in one place: policy, audit, servers, questions. The daemon serves it; a program may embed it.

async with ironcurtain.Runtime(home) as runtime:
    answer = await runtime.call("filesystem", "read_file", {"path": "notes.txt"})
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from ironcurtain.adoption.secrets import concealer
from ironcurtain.artifacts.active import load_active
from ironcurtain.artifacts.annotations import pin_of
from ironcurtain.artifacts.config import Config, read_config
from ironcurtain.artifacts.home import Home, constitution_hash, default_home
from ironcurtain.artifacts.policy import FILES, POLICY, Surroundings
from ironcurtain.artifacts.servers import read_credentials, read_servers
from ironcurtain.artifacts.state import approved_servers, is_approved
from ironcurtain.audit.chain import GENESIS
from ironcurtain.audit.checkpoint import Signer, append_checkpoint, read_checkpoints
from ironcurtain.audit.disk import Disk
from ironcurtain.audit.record import evaluation_fields, principal_fields
from ironcurtain.audit.redact import Redactor
from ironcurtain.audit.store import AuditHaltedError, AuditStore, Clock, UnrecordableError, found_end, set_aside
from ironcurtain.audit.verify import BrokenChainError
from ironcurtain.budget.ledger import Account, Ledger, accounts_of
from ironcurtain.budget.loops import LoopWatch
from ironcurtain.daemon import code_tools
from ironcurtain.daemon.agents import Agents
from ironcurtain.daemon.household import HouseholdServer, is_household
from ironcurtain.daemon.lock import HomeLock
from ironcurtain.daemon.ports import BRAKE, CallPorts
from ironcurtain.daemon.runs import Runs
from ironcurtain.daemon.sources import Sources
from ironcurtain.daemon.unfinished import last_run, unfinished
from ironcurtain.errors import ArtifactError, Refusal
from ironcurtain.escalation.grants import Grants
from ironcurtain.escalation.queue import Queue
from ironcurtain.gateway.catalogue import Catalogue
from ironcurtain.gateway.context import CallContext
from ironcurtain.gateway.scan import without_findings
from ironcurtain.gateway.upstream.server import Server, State, Terms
from ironcurtain.mediation.decide import refused
from ironcurtain.mediation.driver import drive
from ironcurtain.mediation.effects import Answer
from ironcurtain.mediation.latch import Latch
from ironcurtain.model.call import Principal, ToolCall
from ironcurtain.model.decision import Stage
from ironcurtain.sandbox.store import Store
from ironcurtain.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType

    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.artifacts.servers import Credentials, ServerSpec
    from ironcurtain.escalation.queue import Answer as Said
    from ironcurtain.escalation.queue import Question
    from ironcurtain.model.call import Arguments, Json
    from ironcurtain.model.decision import Decision

    OnEscalation = Callable[[Question], Awaitable[Said | None]]

_LOOK: Final = 1.0  # seconds between looks at the files of the home
_CHECKPOINT_EVERY: Final = 1_000  # records
_SALT: Final = b"ironcurtain redaction "


@dataclass(slots=True)
class _Files:
    """The files of the home as they were last looked at."""

    seen: dict[Path, tuple[int, int, int] | None] = field(default_factory=dict)

    def changed(self, paths: list[Path]) -> bool:
        now = {path: _identity(path) for path in paths}
        before, self.seen = self.seen, now
        return bool(before) and before != now


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


class Runtime:
    """The trusted part of one home. One at a time per home: it holds the lock."""

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        on_escalation: OnEscalation | None = None,
        disk: Disk | None = None,
    ) -> None:
        self.home = Home(Path(home).absolute() if home is not None else default_home())
        self.on_escalation = on_escalation
        """Asked besides the queue; answers, or leaves it to others."""
        self.settings = Settings()
        self.latch = Latch()
        self.queue = Queue()
        self.grants = Grants()
        self.ledger = Ledger(self.settings.budget)
        self.loops = LoopWatch()
        self.sources = Sources()
        self.servers: dict[str, Server] = {}
        self.unapproved: dict[str, ServerSpec] = {}
        self.pins: Mapping[tuple[str, str], str] = {}
        self.notes: dict[str, str] = {}
        """What the owner should know, by subject."""
        self._disk = disk or Disk()
        self._lock = HomeLock(self.home.lock)
        self._listeners: set[Callable[[], None]] = set()
        self._constitution_seen: object = None
        self._shown: object = None
        self._definitions: Mapping[tuple[str, str], Mapping[str, Json]] = {}
        self._drifted: frozenset[tuple[str, str]] = frozenset()
        """Tools that have drifted in this run: that is recorded once."""
        self._telling: list[asyncio.Future[None]] = []
        self._brakes: dict[Principal, asyncio.Lock] = {}
        self._calls = 0
        self._run = os.urandom(4).hex()
        self._watching: asyncio.Task[None] | None = None
        self._checkpointed = GENESIS
        self.audit: AuditStore
        self.redactor: Redactor
        self.loaded: Loaded
        self.catalogue: Catalogue
        self.runs: Runs
        self.agents: Agents

    async def __aenter__(self) -> Self:
        """Take the home, its policy and its chain, and start the servers."""
        self.home.require()
        self._lock.take()
        try:
            for directory in (self.home.audit, self.home.run, self.home.sandbox):
                directory.mkdir(mode=0o700, exist_ok=True)
            self._load_policy()
            self._signer = Signer.of(self.home.key)
            self.redactor = Redactor(_SALT + self._signer.secret, read_credentials(self.home).secrets)
            await self._open_audit()
            await self._load_servers()
            self.runs = Runs(self, Store(self.home.programs, self._signer.secret))
            self.runs.restore()
            self.agents = Agents(self)
            if self.settings.code.offered:
                self.runs.prepare()
        except BaseException:
            await asyncio.gather(*(server.stop() for server in self.servers.values()))
            self._lock.release()
            raise
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the servers, close the chain, give the home back."""
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
        await self.agents.close()
        await self.runs.close()
        await asyncio.gather(*(server.stop() for server in self.servers.values()), *self._telling)
        with contextlib.suppress(AuditHaltedError):
            await self.audit.append("event", {"event": "stop"})
            self._checkpoint()
        self.audit.close()
        self._lock.release()

    # --- Policy. ---

    def _load_policy(self) -> None:
        """Take the policy on disk if it is good; otherwise the last good one stays in force, and the owner is told."""
        config = self.home.config
        present = os.path.lexists(config)
        read = read_config(config) if present else Config()
        around = Surroundings(self.home.root, time.time(), read.access, config if present else None)
        active = load_active(around)
        self.notes.pop("policy", None)
        if active.refused:
            self.notes["policy"] = f"{active.refused}; version {active.loaded.policy.version} stays in force"
        self.loaded = active.loaded
        self._refuse_relative_names()
        self.settings = read.settings
        budget = read.settings.budget
        self.ledger.budget = budget.with_(self.loaded.budget) if self.loaded.budget else budget
        tools = self.loaded.policy.tools
        self.pins = {key: pin_of(tool.definition) for key, tool in tools.items()}
        shown = {key: without_findings(dict(tool.definition)) for key, tool in tools.items()}
        self._definitions = {key: definition for key, definition in shown.items() if definition is not None}

    def _look_at_constitution(self) -> None:
        """Tell the owner when what they wrote is no longer what was compiled."""
        identity = _identity(self.home.constitution), _identity(self.home.policy / POLICY)
        if identity == self._constitution_seen:
            return
        self._constitution_seen = identity
        self.notes.pop("constitution", None)
        if self.loaded.constitution and self.loaded.constitution != constitution_hash(self.home.constitution):
            self.notes["constitution"] = "it was changed since the policy was compiled; the compiled policy is in force"

    async def look_again(self) -> None:
        """Look at the policy and the servers now."""
        self._reload()
        await self._load_servers()

    def _reload(self) -> None:
        try:
            self._load_policy()
        except ArtifactError as error:
            self.notes["policy"] = f"{error}; what was loaded stays in force"
        self._listed()

    async def _watch(self) -> None:
        policy, servers = _Files(), _Files()
        while True:
            try:
                await self._look(policy, servers)
            except OSError as error:
                self.notes["files"] = f"the home could not be looked at: {error.strerror or error}"
            except Exception as error:  # noqa: BLE001 - changes would go unseen from now on: better nothing goes on
                self.latch.fall(f"internal error: {error!r}")
                return
            await asyncio.sleep(_LOOK)

    async def _look(self, policy: _Files, servers: _Files) -> None:
        """Take up what has changed on the disk."""
        home = self.home
        if policy.changed([home.config, *(home.policy / name for name in FILES)]):
            self._reload()
            await self._event("policy", {"version": self.loaded.policy.version, "policy": self.loaded.digest})
        if servers.changed([home.servers, home.credentials, home.root / "state.db"]):
            await self._load_servers()
        self._look_at_constitution()
        if not self.audit.halted and self.audit.head.seq - self._checkpointed.seq >= _CHECKPOINT_EVERY:
            self._checkpoint()

    # --- Audit. ---

    async def _open_audit(self) -> None:
        taken = found_end(self.home.audit)
        signed, complaints = read_checkpoints(self.home.checkpoints, self._signer.public)
        self._checkpointed = max(signed, key=lambda head: head.seq, default=GENESIS)
        broken, before = complaints[0] if complaints else None, []
        try:
            before = last_run(self.home.audit, signed, taken.head)
        except BrokenChainError as error:
            broken = str(error)
        halted = f"the audit log is not as it was written: {broken}; run: ironcurtain audit verify" if broken else None
        self.audit = AuditStore(self.home.audit, taken, Clock(time.time, time.monotonic), self._disk, halted)
        if halted:
            self.latch.fall(halted)
            return
        set_aside(taken)
        await self._close_what_was_cut_off(before)
        started: dict[str, Json] = {"pid": os.getpid(), "run": self._run, "policy": self.loaded.digest}
        await self._event("start", {**started, "budgets": self.ledger.snapshot()})
        if taken.torn:
            await self._event("torn", {"bytes": sum(len(data) for _, _, data in taken.torn)})

    async def _close_what_was_cut_off(self, before: list[dict[str, Any]]) -> None:
        """The last run may have died in the middle: nobody knows what came of its calls, and its questions are over."""
        try:
            self.ledger.fold(before, time.monotonic())
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.latch.fall(f"the record does not say what was used of the budgets: {error!r}")
        calls, questions = unfinished(before)
        lost: dict[str, Json] = {"status": "unknown", "code": "cut_off", "reason": "the daemon ended before it knew"}
        for call in calls:
            await self.audit.append("outcome", {"call": call, "execution": lost})
        for asked in questions:
            evaluation = {**asked["evaluation"], "decision": "deny", "stage": "escalate", "code": "cut_off"}
            fields = {name: asked[name] for name in ("call", "session", "agent", "request", "escalation")}
            await self.audit.append("refused", {**fields, "evaluation": evaluation})

    async def _event(self, name: str, fields: dict[str, Json]) -> None:
        with contextlib.suppress(AuditHaltedError, UnrecordableError):
            await self.audit.append("event", {"event": name, **fields})

    def _checkpoint(self) -> None:
        """Sign what is on the disk. A checkpoint more or less stops nobody, but the owner is told."""
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        head = self.audit.head
        try:
            append_checkpoint(self.home.checkpoints, self._signer.sign(head, at), self._disk)
        except OSError as error:
            self.notes["checkpoints"] = f"the last one could not be written: {error.strerror or error}"
            return
        self._checkpointed = head
        self.notes.pop("checkpoints", None)

    # --- Servers. ---

    async def _load_servers(self) -> None:
        """Run the servers of `servers.json` that the owner has approved as they stand; end those that are gone."""
        try:
            specs, credentials = read_servers(self.home)
            approved = approved_servers(self.home.root)
        except ArtifactError as error:
            self.notes["servers"] = f"{error}; what runs goes on"
            return
        self.redactor = Redactor(_SALT + self._signer.secret, credentials.secrets)
        wanted = {name: spec for name, spec in specs.items() if not spec.disabled}
        self.unapproved = {name: spec for name, spec in wanted.items() if not is_approved(approved, name, spec.pin)}
        self.notes.pop("servers", None)
        if self.unapproved:
            self.notes["servers"] = (
                f"not approved: {', '.join(sorted(self.unapproved))}; run: ironcurtain servers review"
            )
        running = {name: spec for name, spec in wanted.items() if name not in self.unapproved}
        versions = {name: approved[name].version for name in running}
        gone = [
            server
            for name, server in self.servers.items()
            if running.get(name) != server.spec
            or versions[name] != server.terms.approved
            or server.secrets != credentials.of(name)
        ]
        self.servers = {name: server for name, server in self.servers.items() if server not in gone}
        for server in gone:
            await server.stop()
        for name, spec in running.items():
            if name not in self.servers:
                may_ask = self.settings.may_ask.get(name, frozenset())
                terms = Terms(concealer(credentials.of(name)), may_ask, versions[name])
                self.servers[name] = self._server(spec, credentials, terms)
                self.servers[name].start()
        self._refuse_relative_names()
        self._listed()

    def _refuse_relative_names(self) -> None:
        """Refuse names without a starting point for servers that start in a directory which the owner chose."""
        started = frozenset(name for name, server in self.servers.items() if server.spec.cwd)
        self.loaded = replace(self.loaded, resolver=replace(self.loaded.resolver, started=started))

    def _server(self, spec: ServerSpec, credentials: Credentials, terms: Terms) -> Server:
        if not is_household(spec):
            return Server(spec, credentials, self.home.run, lambda _: self._listed(), terms)
        made = HouseholdServer(spec, credentials, self.home.run, lambda _: self._listed(), terms)
        made.agents = lambda: self.agents
        return made

    def _listed(self) -> None:
        self.catalogue = Catalogue(self.loaded, self.servers, self.pins, self._definitions)
        fresh, self._drifted = self.catalogue.drifted - self._drifted, self._drifted | self.catalogue.drifted
        if fresh:
            drift = self._event("drift", {"tools": [f"{server}/{tool}" for server, tool in sorted(fresh)]})
            self._telling.append(asyncio.ensure_future(drift))
        before, self._shown = self._shown, self.catalogue.shown
        if before == self._shown:
            return
        for changed in list(self._listeners):
            changed()

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Be told when the tools change, until the function that comes back is called."""
        self._listeners.add(changed)
        return lambda: self._listeners.discard(changed)

    async def offered(self, principal: Principal) -> list[dict[str, Json]]:
        """The tools of a principal. Waits, with patience, for servers that are starting."""
        await self._started()
        ours = code_tools.definitions() if self.settings.code.offered else []
        return [*ours, *self.catalogue.offered(principal)]

    async def offered_tools(self, principal: Principal) -> list[tuple[str, str, dict[str, Json]]]:
        """The same, each with its server and its own name; without ours."""
        await self._started()
        found = ((self.catalogue.find(str(tool["name"])), tool) for tool in self.catalogue.offered(principal))
        return [(*key, tool) for key, tool in found if key is not None]

    async def _started(self) -> None:
        starting = [server.ready() for server in self.servers.values() if server.state is State.STARTING]
        await asyncio.gather(*starting)

    def find(self, name: str) -> tuple[str, str] | None:
        """The tool that an agent's name means."""
        return (code_tools.find(name) if self.settings.code.offered else None) or self.catalogue.find(name)

    # --- Calls. ---

    async def call(self, server: str, tool: str, arguments: Arguments, *, principal: Principal | None = None) -> Answer:
        """Carry a call through the twelve steps."""
        return await self.mediate("embedded", (server, tool), arguments, principal or Principal(), CallContext({}))

    async def mediate(
        self, session: str, key: tuple[str, str], arguments: Arguments, principal: Principal, context: CallContext
    ) -> Answer:
        """Carry a session's call through the twelve steps; or run a program, of which each call is carried through."""
        overseen, context.holder = context.oversight, context.holder or session
        if not await context.may_go_on():
            context.withdrawn.set()
            if key[0] == code_tools.OURS:
                return Answer(refused(Stage.VALIDATE, Refusal("withdrawn", "whoever this is for is gone")))
        if key[0] == code_tools.OURS and (overseen is not None or self.settings.code.offered):
            return await code_tools.perform(self.runs, key[1], arguments, principal, context)
        ports = CallPorts(self, self._next_id(), session, context)
        call = ToolCall(*key, arguments, principal, sources=self.sources.of(context.holder))
        return await drive(call, ports, self.latch, time.monotonic)

    async def refuse(
        self,
        session: str,
        principal: Principal,
        about: dict[str, Json],
        refusal: Refusal,
        payers: tuple[tuple[Principal, str | None], ...] = (),
    ) -> Decision:
        """Record something that was not even a call."""
        decision = refused(Stage.VALIDATE, refusal)
        fields: dict[str, Json] = {
            "call": self._next_id(),
            "session": session,
            "agent": principal_fields(principal),
            "request": self.redactor.clean(about)[0],
            "evaluation": evaluation_fields(decision, self.redactor, None),
        }
        fields |= await self.count_refusal(accounts_of(principal, payers))
        with contextlib.suppress(AuditHaltedError, UnrecordableError):
            await self.audit.append("refused", fields)
        return decision

    async def count_refusal(self, accounts: list[Account]) -> dict[str, Json]:
        """Count it for everybody whom it concerns; what a record says of that."""
        now = time.monotonic()
        if self.ledger.tripped(accounts, now):
            await self.brake(accounts[0].principal)
        else:
            self.ledger.refuse(accounts, now)
        return {"accounts": [each.fields() for each in accounts]} if len(accounts) > 1 else {}

    async def brake(self, principal: Principal) -> None:
        """What is hardly worth a record comes one after the other, and slowly; helpers stand in the same line."""
        async with self._brakes.setdefault(principal.root, asyncio.Lock()):
            await asyncio.sleep(BRAKE)

    def _next_id(self) -> str:
        self._calls += 1
        return f"{self._run}-{self._calls}"
