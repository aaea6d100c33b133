"""The plan of a program, against the policy: what is decided already, what can never be, what a person must answer.

A plan comes out of a sandbox and proves nothing. It is used to refuse early and to ask early; a yes to it is good for
exactly the calls that were shown, each as often as it was, and every call is decided again when it is made.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.engine.evaluate import escalations
from ironcurtain.errors import Refusal
from ironcurtain.mediation.approvals import digest_of
from ironcurtain.mediation.decide import judge, prepare
from ironcurtain.mediation.effects import AskHuman
from ironcurtain.model.call import ToolCall
from ironcurtain.model.decision import Decision, Outcome
from ironcurtain.sandbox.words import line_of
from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ironcurtain.daemon.runtime import Runtime
    from ironcurtain.model.call import Json, Principal
    from ironcurtain.sandbox.interfaces import Interfaces

MOST: Final = 200  # calls of one plan
_MOST_KNOWN: Final = 64 << 10  # bytes of all their arguments
_OFTEN: Final = ("once", "maybe", "many")


@dataclass(frozen=True, slots=True)
class Planned:
    """One call that a program may make."""

    name: str
    line: int
    often: str
    flows: tuple[str, ...]
    """Tools whose results may be in its arguments."""
    arguments: dict[str, Json] | None
    """All of them, if the text says so."""
    caught: bool
    decision: Decision | None
    """What would be decided now, where the arguments are known."""
    effect: AskHuman | None
    """What a person would be asked."""

    @property
    def never(self) -> bool:
        """Whether the program will make it, and it can only be refused."""
        denied = self.decision is not None and self.decision.outcome is Outcome.DENY
        return denied and self.often == "once" and not self.caught

    def told(self) -> dict[str, Json]:
        """As data."""
        found: dict[str, Json] = {"name": self.name, "line": self.line, "often": self.often, "flows": [*self.flows]}
        if self.arguments is not None:
            found["arguments"] = self.arguments
        if self.decision is not None:
            found["decision"] = self.decision.outcome.word
            found["reason"] = self.decision.reason
        return found

    def __str__(self) -> str:
        return line_of(self.told())


@dataclass(frozen=True, slots=True)
class Plan:
    """What a program may do."""

    calls: tuple[Planned, ...]
    loose: tuple[str, ...]
    """Tools and servers that it may call with anything."""

    def told(self) -> dict[str, Json]:
        """As data."""
        return {"calls": [call.told() for call in self.calls], "open": [*self.loose]}


async def read_plan(
    raw: Any,  # noqa: ANN401 - as it came
    interfaces: Interfaces,
    principal: Principal,
    runtime: Runtime,
    holder: str = "",
    *,
    renamed: bool,
) -> Plan:
    """A plan as a host wrote it down, for whoever has seen what `holder` has. What is malformed there is left open.

    `renamed`: a program calls arguments as its language lets it, not all as they are.
    """
    calls = raw.get("calls") if isinstance(raw, dict) else None
    listed = raw.get("open") if isinstance(raw, dict) else None
    all_sites = [site for site in calls if isinstance(site, dict)] if isinstance(calls, list) else []
    sites = [site for site in all_sites if interfaces.find(str(site.get("name"))) is not None]
    loose = [*(listed if isinstance(listed, list) else ()), *(site["name"] for site in sites[MOST:])]
    sites, seen = sites[:MOST], runtime.sources.of(holder)
    caller, left = ToolCall("", "", {}, principal, sources=seen), _MOST_KNOWN
    found: list[Planned] = []
    for site in sites:
        left -= len(strict_json.canonical([site.get("args"), site.get("kwargs")]))
        known = site if left > 0 else {**site, "args": None}  # what a person cannot weigh counts as not known
        found += _planned(known, interfaces, caller, runtime, renamed=renamed)
        await asyncio.sleep(0)  # others have their turn
    return Plan(tuple(found), tuple(_known(loose, interfaces)))


def _known(loose: list[Any], interfaces: Interfaces) -> list[str]:
    """What cannot be told, by names that there are. INVARIANT: a name that means nothing takes nobody else's place."""
    servers = {*interfaces.sizes()}
    names = sorted({str(name) for name in loose if str(name) in servers or interfaces.find(str(name)) is not None})
    return names if len(names) <= MOST else sorted({name.partition(".")[0] for name in names})


def _planned(
    site: dict[str, Any], interfaces: Interfaces, caller: ToolCall, runtime: Runtime, *, renamed: bool
) -> Iterator[Planned]:
    name, line, often = str(site.get("name"))[:200], site.get("line"), site.get("often")
    function = interfaces.find(name)
    if function is None:
        return
    listed = site.get("flows")
    flows = listed[:MOST] if isinstance(listed, list) else []
    arguments, decision, effect = None, None, None
    args, kwargs = site.get("args"), site.get("kwargs")
    if isinstance(args, list) and isinstance(kwargs, dict):
        try:
            arguments = function.arguments(args, kwargs) if renamed else dict(kwargs)
        except Refusal:
            arguments = None  # the type checker says so
    if arguments is not None:
        call = ToolCall(function.server, function.tool, arguments, caller.principal, sources=caller.sources)
        decision, effect = _decided(call, runtime)
    yield Planned(
        name,
        line if isinstance(line, int) else 0,
        often if often in _OFTEN else "many",
        tuple(str(each)[:200] for each in flows),
        arguments,
        site.get("caught") is True,
        decision,
        effect,
    )


def _decided(call: ToolCall, runtime: Runtime) -> tuple[Decision, AskHuman | None]:
    """Steps (1) to (6), and nothing more."""
    prepared = prepare(call, runtime.loaded, time.time(), runtime.catalogue.drifted)
    if isinstance(prepared, Decision):
        return prepared, None
    decision = judge(prepared)
    if decision.outcome is not Outcome.ESCALATE:
        return decision, None
    asking = frozenset(escalations(prepared.call, prepared.policy, prepared.facts))
    return decision, AskHuman(prepared, digest_of(prepared.call), decision, asking)
