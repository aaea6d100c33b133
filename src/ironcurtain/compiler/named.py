"""What permissions name themselves, so that there is no doubt about it: commands, modes, and things by their ids."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.acts import acts_of_words
from ironcurtain.compiler.annotate.text import words_of
from ironcurtain.compiler.grounding import Grounding
from ironcurtain.compiler.parts import Part
from ironcurtain.compiler.picking import picked
from ironcurtain.compiler.problems import Problem
from ironcurtain.language.statement import Comparison, Mood, Where

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.naming import Setup
    from ironcurtain.language.statement import Condition, Doing, Limit, Statement

_SELECTING: Final = frozenset({"action", "operation", "op", "mode", "method", "verb", "function"})
_REACHING: Final = frozenset(
    {
        "arg",
        "args",
        "argument",
        "env",
        "environment",
        "stdin",
        "input",
        "option",
        "flag",
        "parameter",
        "param",
        "script",
    }
)
"""What an argument is called that becomes part of a command."""
_FINDING: Final = frozenset({"query", "filter", "search", "all", "where", "criteria"})
_ID_WORDS: Final = frozenset({"id", "key", "uuid", "guid", "uid", "number", "ref"})
_SELECTS: Final = re.compile(r"(?:\(\?i\))?(?:\\s\*|\s)*select\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Named:
    """What permissions name."""

    tools: Sequence[Tool]
    commands: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    """For tools that take commands, those that a permission names: `may use shell/run where `command` is ls`."""

    modes: dict[str, tuple[tuple[Part, frozenset[str]], ...]] = field(default_factory=dict)
    """For tools whose text does not list what they can be told to do, what permissions name, with its acts."""

    by_id: set[str] = field(default_factory=set)
    """Tools that act on one thing by its id, named by a permission: that thing may be used wherever it is."""

    @classmethod
    def by(cls, statements: Iterable[Statement], tools: Sequence[Tool], setup: Setup) -> Named:
        """Return what permissions name."""
        named = cls(tools)
        grounding = Grounding(setup, tools, frozenset())
        for statement in statements:
            if statement.mood is not Mood.MAY or not statement.doing.tools:
                continue
            if not statement.limits:
                named._learn_ids(statement.doing)
            for limit in statement.limits:
                named._learn(limit, statement.doing, grounding)
        return named

    def _learn_ids(self, doing: Doing) -> None:
        """Note the tools that a permission names and that act on one thing, which every call names by its id."""
        names = {name.text for name in doing.tools}
        for tool in self.tools:
            if names & {tool.key, tool.name} and not tool.in_doubt and _acts_by_id(tool):
                self.by_id.add(tool.key)

    def _learn(self, limit: Limit, doing: Doing, grounding: Grounding) -> None:
        try:
            picks = picked(doing, self.tools, tightens=False) if isinstance(limit, Where) else []
            for pick in picks:
                ground = grounding.ground(limit, pick.tool, certain=True)
                self._learn_modes(limit, pick.tool)
                if ground is not None and _names_commands(limit, pick.tool) and not ground.unless:
                    named = tuple(part for part in ground.alternatives if not part.absent)
                    self.commands[pick.tool.key] = (*self.commands.get(pick.tool.key, ()), *named)
        except Problem:
            return  # it is told where the statement itself is compiled

    def _learn_modes(self, limit: Limit, tool: Tool) -> None:
        """Note the values of an argument that selects what is done, where the schema does not list them."""
        for condition in limit.conditions if isinstance(limit, Where) else ():
            argument = tool.arguments.get(condition.argument)
            if argument is None or condition.test is not Comparison.IS or tool.might.by_value:
                continue
            values = [value.text for value in condition.values]
            acts = [acts_of_words(words_of(value)) for value in values]
            others = [a for leaf, a in tool.arguments.items() if leaf != argument.leaf]
            if any(set(each.words) & (_SELECTING | _REACHING) for each in others):
                continue  # another argument selects, too
            if set(argument.words) & _SELECTING and all(acts):
                part = Part(values={f"arg:{argument.leaf}": {"in": sorted(values)}})
                known = (part, frozenset(act for found in acts for act in found))
                self.modes[tool.key] = (*self.modes.get(tool.key, ()), known)


def _acts_by_id(tool: Tool) -> bool:
    """Whether a call names the one thing that is acted on by its id: `pin_message(message_id)`.

    Not the messages of a user, nor those that a filter finds.
    """
    ids = [a for a in tool.arguments.values() if a.required and "identifier" in a.roles]
    if len(ids) != 1 or "array" in ids[0].types or any(set(a.words) & _FINDING for a in tool.arguments.values()):
        return False
    named, head = words_of(tool.name), re.split(r"[^A-Za-z]+", tool.name)[-1].lower()
    noun = next((word for word in reversed(ids[0].words) if word not in _ID_WORDS), "")
    about = noun == named[-1] or (noun not in named and noun in tool.things) or not noun
    return about and (head == named[-1] or not head.endswith("s"))


def _names_commands(limit: Limit, tool: Tool) -> bool:
    """Whether a limit names the very commands: each by its whole text, and no other argument reaches them.

    Of a statement in SQL it is enough that it begins with SELECT: it is one statement, and nothing is hidden in it.
    """
    conditions = {c.argument: c for c in limit.conditions} if isinstance(limit, Where) else {}
    for leaf, argument in tool.arguments.items():
        condition = conditions.get(leaf)
        if "command" in argument.roles:
            exact = condition is not None and condition.test is Comparison.IS
            reads = argument.sql and condition is not None and _only_selects(condition)
            if not exact and not reads:
                return False
        elif condition is None and set(argument.words) & (_REACHING | _SELECTING):
            return False
    return bool(conditions)


def _only_selects(condition: Condition) -> bool:
    """Whether every text that a condition lets pass begins with SELECT."""
    if condition.test is Comparison.STARTS:
        return all(_SELECTS.match(name.text) for name in condition.values)
    return condition.test is Comparison.MATCHES and all(
        _SELECTS.match(name.text) and "|" not in name.text for name in condition.values
    )
