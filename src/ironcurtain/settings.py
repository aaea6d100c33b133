"""What the owner can set besides the policy. The defaults are what a person gets who sets nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.model.roles import Role


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a question waits, and whether it waits on after that."""

    seconds: float = 15 * 60
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Escalation:
    """How people are asked."""

    patience: Patience = field(default_factory=Patience)
    by_rule: Mapping[str, Patience] = field(default_factory=dict)
    trusted_interfaces: frozenset[str] = frozenset()
    """Agents whose client may put our questions to its user, because the owner trusts its dialogs."""
    grant_uses: int = 20
    """How often a wider grant can be used."""
    grant_seconds: float = 60 * 60

    def patience_for(self, rule: str | None) -> Patience:
        """How long a question that this rule asks waits."""
        return self.by_rule.get(rule or "", self.patience)


@dataclass(frozen=True, slots=True)
class NamedLimit:
    """A number that the owner cares about, summed over the values of a role."""

    role: Role
    most: int


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be used of each thing, in whole units."""

    calls: int
    calls_per_tool: int
    bytes_out: int
    seconds: int
    refusals: int
    named: Mapping[str, NamedLimit] = field(default_factory=dict)
    inference_cost: float = inf
    """In dollars, for the model that drives the built-in agent."""
    tokens: int | None = None
    """Of that model; nothing: no limit."""

    def with_(self, other: Limits) -> Limits:
        """The stricter of both, for each thing."""
        named = {**self.named, **other.named}
        for name in self.named.keys() & other.named.keys():
            mine, its = self.named[name], other.named[name]
            if mine.role == its.role:
                named[name] = NamedLimit(mine.role, min(mine.most, its.most))
            else:  # two things of one name: both count
                named[f"{name} ({mine.role})"] = mine
        return Limits(
            min(self.calls, other.calls),
            min(self.calls_per_tool, other.calls_per_tool),
            min(self.bytes_out, other.bytes_out),
            min(self.seconds, other.seconds),
            min(self.refusals, other.refusals),
            named,
            min(self.inference_cost, other.inference_cost),
            min((each for each in (self.tokens, other.tokens) if each is not None), default=None),
        )


@dataclass(frozen=True, slots=True)
class Loops:
    """When a session that gets nowhere is stopped, and a person asked."""

    repeats: int = 10
    """Calls that are the same, or nearly, without a result that was not there before; 0 never asks."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for what a principal does in one go, and for what it does on one task."""

    session: Limits = Limits(50_000, 20_000, 1 << 30, 24 * 3600, 2_000)
    task: Limits = Limits(50_000, 20_000, 1 << 30, 24 * 3600, 2_000)
    renew_seconds: float = 24 * 3600
    """So long after it began, a session's budget begins anew; 0: only when the owner says so."""
    loops: Loops = field(default_factory=Loops)

    def with_(self, other: Budget) -> Budget:
        """The stricter of both: the sooner asked, the later renewed, where one of them says when."""
        asked = [each.loops.repeats for each in (self, other) if each.loops.repeats]
        never = not (self.renew_seconds and other.renew_seconds)
        return Budget(
            self.session.with_(other.session),
            self.task.with_(other.task),
            0 if never else max(self.renew_seconds, other.renew_seconds),
            Loops(min(asked, default=0)),
        )


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """The built-in agent."""

    model: str = ""
    """What drives it where the command line names none, for example `anthropic:claude-sonnet-4-5`."""
    turns: int = 100
    """Messages of the model for one message of the person's."""
    answer: int = 8_000
    """Tokens of one message of the model."""
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By model, dollars for a million tokens in and out, where the owner knows better than the table."""


@dataclass(frozen=True, slots=True)
class Code:
    """How programs of agents are run."""

    offered: bool = False
    """Agents get a tool that runs programs, besides the tools themselves."""
    seconds: int = 30
    """Of computing; waiting for a tool or for a person does not count."""
    memory: int = 256 << 20
    calls: int = 200
    output: int = 100_000
    """Characters that it may print."""
    recursion: int = 500

    def fields(self) -> dict[str, int]:
        """What a program may use."""
        return {
            "seconds": self.seconds, "memory": self.memory, "calls": self.calls, "output": self.output,
            "recursion": self.recursion,
        }  # fmt: skip


ASKABLE: Final = {
    "elicitation": "elicitation/create",
    "sampling": "sampling/createMessage",
    "roots": "roots/list",
}
"""What a server may ask of a client, if the owner lets it, and the method it does so with."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it."""

    escalation: Escalation = field(default_factory=Escalation)
    budget: Budget = field(default_factory=Budget)
    may_ask: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By server, what it may ask of the client that calls it."""
    code: Code = field(default_factory=Code)
    run: BuiltIn = field(default_factory=BuiltIn)
