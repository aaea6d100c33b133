"""Tools that are several in one: an argument such as `operation` selects what a call does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.effects import effects_of_words
from ironcurtain.compiler.annotate.text import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.compiler.annotate.arguments import Argument

_SELECTORS: Final = frozenset(
    {"operation", "action", "op", "mode", "method", "command", "verb", "task", "request type", "function", "subcommand"}
)
_ABOUT_A_CALL: Final = re.compile(r"(?:the )?(?:api )?(?:method|function|operation) to (?:call|invoke|check|look)")
"""Said of an argument that names what another call would do."""
_QUOTED: Final = re.compile(r"[\"'`]([a-z][a-z_ -]{1,30})[\"'`]")


@dataclass(frozen=True, slots=True)
class Selector:
    """An argument, and what each of its values makes of the call."""

    leaf: str
    effects: Mapping[str, frozenset[str]]


def selector_of(arguments: Iterable[Argument], says: str) -> Selector | None:
    """Return the argument that selects between several tools, if there is one."""
    for argument in arguments:
        if argument.above or " ".join(argument.words) not in _SELECTORS:
            continue
        values = [value for value in argument.enum if isinstance(value, str)] or _described(argument, says)
        if not argument.enum and _ABOUT_A_CALL.match(argument.says):
            continue
        effects = {value: frozenset(effects_of_words(words_of(value))) for value in values}
        known = {value: found for value, found in effects.items() if found}
        if len(known) >= 2 and len(set(known.values())) >= 2 and 2 * len(known) >= len(values):
            union = frozenset(effect for found in known.values() for effect in found)
            return Selector(argument.leaf, {value: effects[value] or union for value in values})
    return None


def selectable(argument: Argument, says: str) -> list[str]:
    """Return the values of an argument that is called like one that selects what is done."""
    if " ".join(argument.words) not in _SELECTORS or _ABOUT_A_CALL.match(argument.says):
        return []
    return [value for value in argument.enum if isinstance(value, str)] or (
        [] if argument.above else _described(argument, says)
    )


def _described(argument: Argument, says: str) -> list[str]:
    """Values that are only named in words: `operation: "list" (default), "delete"`."""
    text = (
        argument.says
        if len(_QUOTED.findall(argument.says)) > 1
        else says.partition(f"{argument.name.lower()}:")[2][:400]
    )
    return list(dict.fromkeys(_QUOTED.findall(text)))
