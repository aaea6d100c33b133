"""The parts of `config.toml` that are not access layers: escalation, budget, servers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ironcurtain.model.roles import NONE, Role
from ironcurtain.settings import (
    ASKABLE,
    Budget,
    BuiltIn,
    Code,
    Escalation,
    Limits,
    Loops,
    NamedLimit,
    Patience,
    Settings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.artifacts.item import Item

SPOKEN_OF: Final = ("directories", "lists", "names")
"""What a constitution may speak of; read when it is compiled."""
KEYS: Final = ("escalation", "budget", "servers", "code", "run", *SPOKEN_OF)
_MEGABYTE: Final = 1 << 20
_PARTS: Final = ("session", "task", "renewSeconds", "repeats")
_COUNTS: Final = {
    "calls": "calls",
    "callsPerTool": "calls_per_tool",
    "bytesOut": "bytes_out",
    "seconds": "seconds",
    "refusals": "refusals",
    "tokens": "tokens",
}


def settings_from(top: Mapping[str, Item]) -> Settings:
    """The settings in a configuration's tables."""
    return Settings(
        _escalation(top["escalation"]) if "escalation" in top else Escalation(),
        _budget(top["budget"]) if "budget" in top else Budget(),
        {name: _may_ask(server) for name, server in top["servers"].entries().items()} if "servers" in top else {},
        _code(top["code"]) if "code" in top else Code(),
        _run(top["run"]) if "run" in top else BuiltIn(),
    )


def _run(item: Item) -> BuiltIn:
    members, usual = item.members((), ("model", "turns", "answer", "prices")), BuiltIn()
    return BuiltIn(
        members["model"].text() if "model" in members else usual.model,
        members["turns"].count(least=1) if "turns" in members else usual.turns,
        members["answer"].count(least=100) if "answer" in members else usual.answer,
        {name: _price(entry) for name, entry in members["prices"].entries().items()} if "prices" in members else {},
    )


def _price(item: Item) -> tuple[float, float]:
    members = item.members(("input", "output"))
    return members["input"].number(), members["output"].number()


def _code(item: Item) -> Code:
    members, usual = item.members((), ("offered", "seconds", "megabytes", "calls", "output", "recursion")), Code()
    return Code(
        members["offered"].flag() if "offered" in members else usual.offered,
        members["seconds"].count(least=1) if "seconds" in members else usual.seconds,
        members["megabytes"].count(least=16) * _MEGABYTE if "megabytes" in members else usual.memory,
        members["calls"].count(least=1) if "calls" in members else usual.calls,
        members["output"].count(least=1) if "output" in members else usual.output,
        members["recursion"].count(least=10) if "recursion" in members else usual.recursion,
    )


def _escalation(item: Item) -> Escalation:
    plain = ("seconds", "atTimeout")
    members = item.members((), (*plain, "byRule", "trustedInterfaces", "grantUses", "grantSeconds"))
    patience = _patience(members, Patience())
    by_rule = members["byRule"].entries() if "byRule" in members else {}
    trusted = members["trustedInterfaces"].elements() if "trustedInterfaces" in members else []
    return Escalation(
        patience,
        {rule: _patience(entry.members((), plain), patience) for rule, entry in by_rule.items()},
        frozenset(name.text() for name in trusted),
        members["grantUses"].count(least=1) if "grantUses" in members else Escalation().grant_uses,
        members["grantSeconds"].count(least=1) if "grantSeconds" in members else Escalation().grant_seconds,
    )


def _patience(members: Mapping[str, Item], usual: Patience) -> Patience:
    return Patience(
        members["seconds"].count(least=1) if "seconds" in members else usual.seconds,
        members["atTimeout"].word(("deny", "wait")) == "wait" if "atTimeout" in members else usual.waits,
    )


def read_budget(item: Item) -> Budget:
    """The limits that stand beside a policy: a file of its own."""
    members = item.members(("version",), _PARTS)
    if members["version"].count(least=1) != 1:
        members["version"].fail("a version this program does not know", "write 1")
    return _budget_of(members)


def _budget(item: Item) -> Budget:
    return _budget_of(item.members((), _PARTS))


def _budget_of(members: Mapping[str, Item]) -> Budget:
    usual = Budget()
    return Budget(
        _limits(members["session"], usual.session) if "session" in members else usual.session,
        _limits(members["task"], usual.task) if "task" in members else usual.task,
        members["renewSeconds"].count() if "renewSeconds" in members else usual.renew_seconds,
        Loops(members["repeats"].count()) if "repeats" in members else usual.loops,
    )


def _limits(item: Item, usual: Limits) -> Limits:
    members = item.members((), (*_COUNTS, "named", "inferenceCost"))
    cost = members["inferenceCost"].number() if "inferenceCost" in members else usual.inference_cost
    given = {field: members[key].count() for key, field in _COUNTS.items() if key in members}
    named = {name: _named(entry) for name, entry in members["named"].entries().items()} if "named" in members else {}
    return replace(usual, **given, named=named, inference_cost=cost)


def _named(item: Item) -> NamedLimit:
    members = item.members(("role", "most"))
    role = Role(members["role"].text())
    if role == NONE:
        members["role"].fail("values without a role cannot be counted", "name a role, for example recipient")
    return NamedLimit(role, members["most"].count())


def _may_ask(item: Item) -> frozenset[str]:
    members = item.members(("mayAsk",))
    return frozenset(element.word(ASKABLE) for element in members["mayAsk"].elements())
