"""A policy in force: everything `evaluate` needs, loaded, checked and sorted beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ironcurtain.engine.access import Access
from ironcurtain.engine.chain import RuleBook
from ironcurtain.model.decision import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.engine.protected import Protected
    from ironcurtain.model.policy import Rule, Setup, TaskPolicy, Tool


@dataclass(frozen=True, slots=True)
class Policy:
    """What is in force for one home."""

    version: int
    setup: Setup
    tools: Mapping[tuple[str, str], Tool]
    book: RuleBook
    protected: Protected
    access: Access = field(default_factory=Access)
    declared_hosts: frozenset[str] = frozenset()
    """Hosts that an allow rule names literally; only these may be private."""

    def without(self, rule: str) -> Policy:
        """The same policy less one rule, for questions of the kind "what if"."""
        rules = tuple(other for other in self.book.rules if other.name != rule)
        return replace(self, book=RuleBook(rules), declared_hosts=declared_hosts(rules))


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true at the moment of a call."""

    now: float
    """Seconds since the epoch."""
    task: TaskPolicy | None = None


def declared_hosts(rules: tuple[Rule, ...]) -> frozenset[str]:
    """The hosts that allow rules name literally, not through a list."""
    return frozenset(
        name
        for rule in rules
        if rule.then is Outcome.ALLOW and rule.conditions.domains
        for name in rule.conditions.domains.literal
    )
