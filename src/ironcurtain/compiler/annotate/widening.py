"""Arguments that make a call touch more, or act harder, than the same call without them."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.acts import verbs_at
from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.compiler.annotate.arguments import Argument

_HARDER: Final = lexicon(
    """cascade hard permanent permanently overwrite public anyone everyone unsafe dangerous dangerously
    destructive privileged sudo elevated unattended"""
)
_FORCED: Final = lexicon("force forced")
"""Widen as the last word, or before a verb: `force`, `force_delete`, and not `force_instrumental`."""
_PAIRS: Final = frozenset(
    {
        ("all", "namespace"), ("all", "user"), ("all", "project"), ("all", "branch"), ("all", "team"),
        ("all", "account"), ("make", "public"), ("is", "public"), ("skip", "confirmation"), ("skip", "confirm"),
        ("no", "confirm"), ("auto", "approve"), ("auto", "confirm"), ("skip", "validation"), ("no", "verify"),
        ("skip", "verification"), ("allow", "dangerous"), ("transfer", "ownership"), ("skip", "trash"),
        ("bypass", "trash"), ("delete", "all"), ("remove", "all"), ("select", "all"), ("allow", "all"),
        ("full", "access"), ("allow", "overwrite"), ("auto", "accept"), ("yes", "all"), ("share", "publicly"),
    }
)  # fmt: skip
_RECURSIVE: Final = lexicon("recursive recursively recurse")
_TRIAL: Final = frozenset(
    {
        ("dry", "run"),
        ("dryrun",),
        ("preview",),
        ("preview", "only"),
        ("simulate",),
        ("what", "if"),
    }
)
_AUDIENCE: Final = lexicon(
    "visibility access type privacy role scope audience permission sharing level acl mode share privacylevel"
)
_WIDE_ENOUGH: Final = lexicon("public anyone everyone world anonymous everybody owner internet unlisted hard permanent")
_QUOTED: Final = re.compile(r"[\"'`]([\w -]{2,30})[\"'`]")


def widening_of(arguments: Mapping[str, Argument], acts: frozenset[str]) -> dict[str, tuple[Any, ...]]:
    """Return the arguments that widen a call, each with its harmless values."""
    found: dict[str, tuple[Any, ...]] = {}
    for leaf, argument in arguments.items():
        harmless = _harmless(argument, acts)
        if harmless is not None:
            found[leaf] = harmless
    return found


def _harmless(argument: Argument, acts: frozenset[str]) -> tuple[Any, ...] | None:
    """Return the values that do not widen; nothing if no value does."""
    words = argument.words
    if not words:
        return None
    if _is_trial(words) and argument.is_flag and not acts <= {"read"}:
        return None if False in argument.defaults else (True,)
    if argument.is_flag:
        if not _is_wide_flag(words, acts):
            return None
        values = dict.fromkeys([*(value for value in argument.defaults if isinstance(value, bool)), False])
        return tuple(values) if len(values) < 2 else None
    if argument.is_number or acts <= {"read"} or _AUDIENCE.isdisjoint(words[-1:]):
        return None
    return _narrow(argument)


def _narrow(argument: Argument) -> tuple[str, ...] | None:
    """Return the choices that reach no wider audience; nothing if all do."""
    choices = [value for value in argument.enum if isinstance(value, str)] or _QUOTED.findall(argument.says)
    wide = [value for value in choices if not _WIDE_ENOUGH.isdisjoint(re.findall(r"[a-z]+", value.lower()))]
    if not wide:
        return None
    defaults = [value for value in argument.defaults if isinstance(value, str)]
    values = dict.fromkeys([*defaults, *(value for value in choices if value not in wide)])
    return tuple(values) if set(values) != set(choices) or not argument.enum else None


def _is_trial(words: tuple[str, ...]) -> bool:
    return words in _TRIAL or words[-2:] == ("dry", "run")


def _is_wide_flag(words: tuple[str, ...], acts: frozenset[str]) -> bool:
    if not _RECURSIVE.isdisjoint(words):
        return bool(acts & {"delete", "trash", "change", "move"})
    pairs = {(words[index], words[index + 1]) for index in range(len(words) - 1)}
    if pairs & {("all", "namespace"), ("all", "user"), ("all", "project"), ("all", "account"), ("all", "team")}:
        return True
    acting = any(word in _FORCED and verbs_at((after,)) for word, after in itertools.pairwise(words))
    forced = words[-1] in _FORCED or acting
    return not acts <= {"read"} and (forced or bool(pairs & _PAIRS) or not _HARDER.isdisjoint(words))
