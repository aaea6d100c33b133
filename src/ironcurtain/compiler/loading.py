"""Checks with the loader itself that rules load: a rule it refuses is a problem of one statement, and the others stand.

INVARIANT: rules that `Loading.require` accepts are accepted by `artifacts.policy.build` for the same tools and set-up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.lists import NamedList
from ironcurtain.artifacts.rules import Forms, RuleReader
from ironcurtain.compiler.drafts import OUTCOMES
from ironcurtain.compiler.problems import Problem
from ironcurtain.errors import ArtifactError
from ironcurtain.model.policy import Shape
from ironcurtain.model.roles import Role, category
from ironcurtain.resolve.paths import PathResolver

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.drafts import Draft
    from ironcurtain.compiler.setup import Known


@dataclass(frozen=True, slots=True)
class Loading:
    """Reads rules as the loader will, for one catalogue and one set-up."""

    reader: RuleReader
    accepted: set[tuple[str, str]] = field(default_factory=set)
    """Outcomes and conditions that were read before."""

    @classmethod
    def of(cls, tools: tuple[Tool, ...], known: Known) -> Loading:
        """Return the checker for annotated tools and the owner's set-up."""
        lists = {name: NamedList(each.values) for name, each in known.lists.items()}
        return cls(RuleReader(PathResolver(known.home), lists, _forms(tools)))

    def require(self, drafts: Iterable[Draft]) -> None:
        """Raise a `Problem` for a rule that no policy could load."""
        for draft in drafts:
            key = (OUTCOMES[draft.layer], draft.conditions)
            if key in self.accepted:
                continue
            conditions: dict[str, Any] = json.loads(draft.conditions)
            asked = {"server": [draft.server], "tool": [draft.tool], **conditions}
            try:
                self.reader.rule(Item({"name": draft.tool, "if": asked, "then": key[0]}, "statement"))
            except ArtifactError as error:
                raise Problem(error.problem, error.help) from None
            self.accepted.add(key)


@lru_cache(maxsize=4)
def _forms(tools: tuple[Tool, ...]) -> Forms:
    """How the values of each role and argument are resolved, as `Forms.of` finds it for the tools of the engine."""
    by_role: dict[Role, set[Any]] = {}
    by_leaf: dict[str, set[Any]] = {}
    free: dict[str, Shape] = {}
    for argument in (argument for tool in tools for argument in tool.arguments.values()):
        kinds = {category(Role(role)) for role in argument.roles}
        by_leaf.setdefault(argument.leaf, set()).update(kinds)
        free |= {argument.leaf: Shape(argument.leaf)} if argument.free else {}
        for role in argument.roles:
            by_role.setdefault(Role(role), set()).update(kinds)
    return Forms(
        {role: frozenset(kinds) for role, kinds in by_role.items()},
        {leaf: frozenset(kinds) for leaf, kinds in by_leaf.items()},
        free,
    )
