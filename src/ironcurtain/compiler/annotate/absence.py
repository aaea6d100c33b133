"""What it means that an argument is left out: nothing, or that the server picks a value that is not known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.relative import root_of
from ironcurtain.compiler.annotate.text import lexicon, words_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ironcurtain.compiler.annotate.arguments import Argument

NEVER_MISSED: Final = frozenset({"none", "outbound-content", "identifier", "amount", "recipient", "attendee"})
"""Roles of which leaving one out means that there is none."""
EXTRAS: Final = frozenset({"fetch-url", "send-url", "outbound-content"})
"""Likewise, beside what a call must have."""
_PATHS: Final = frozenset({"read-path", "write-path", "delete-path"})
_HOOKS: Final = frozenset({"webhook", "callback", "hook"})
_SAID_ONCE: Final = frozenset({"channel", "calendar", "repository"})
_REACHED: Final = frozenset({"fetch-url", "send-url", "place", "host", "recipient"})
_PLACES: Final = frozenset({"place", "host", "identifier"})
_DEFAULTED: Final = re.compile(
    r"\bdefault(?!s? ?(?:to|is|:|=)? ?(?:null|none|false|empty)\b)(?!s (?:files?|from)\b)"
    r"(?!s? (?:to )?(?:the )?original (?:file ?)?name\b)"
    r"|\bcurrent (?:working )?(?:dir|folder)"
    r"|\bif (?:not (?:provided|specified|given|set)|omitted|empty|unset)[^.]{0,60}"
    r"\b(?:current|working|home|root|temp\w*|cache|generated|all|same|entire|whole)\b"
    r"|\b(?:leave|left|when|if) (?:it )?(?:empty|blank|out|absent|omitted)\b(?!,? (?:nothing|none|no )\b)"
    r"|\bfalls? back\b|\bwithout it\b|\b(?:when|if) (?:missing|absent)\b|\bif not set\b"
    r"|\b(?:is|are) used otherwise\b|\botherwise\b[^.]{0,40}\b(?:the|all|every\w*|current|latest|open)\b"
)
_INSTEAD: Final = re.compile(r"\b(?:instead of|alternative to|rather than) [`'\"]?(\w+)")
"""One of two arguments that say the same in two ways."""
_DIRECTORIES: Final = lexicon("path dir directory folder root cwd workdir workspace project repo repository vault")
_SAVING: Final = lexicon("download save export screenshot record")
_WRITTEN: Final = lexicon("output out dest dst destination save target export download")


def is_missed(
    argument: Argument,
    roles: Sequence[str],
    name: str,
    effects: frozenset[str],
    others: Mapping[str, tuple[Argument, Collection[str]]],
) -> bool:
    """Return whether a server picks something unknown where an argument is left out.

    `others` are all arguments of the tool with their roles.
    """
    given = frozenset(roles)
    way = _INSTEAD.search(argument.says)
    instead = bool(way) and not argument.required and bool(_REACHED.intersection(given, _roles_of(way, others)))
    instead = instead or (not effects <= {"read"} and _has_plural(argument, others))
    starts_thread = "thread" in argument.words and "send" in effects  # left out, it begins one
    told = bool(argument.defaults) or _DEFAULTED.search(argument.says) is not None
    said = _DEFAULTED.search(argument.says) is not None and not argument.required
    if said and given & (_PATHS | _REACHED) and not starts_thread:
        return True
    narrows = effects <= {"read"} and bool(given & _PATHS) and _narrows(argument, others)
    needed = [found for other, found in others.values() if other.required]
    once = not argument.required and any(_SAID_ONCE.intersection(given, found) for found in needed)
    # Another argument says where; or all of a directory is looked at, which is a path of the call by itself.
    if given <= NEVER_MISSED or argument.above or starts_thread or once or narrows or instead:
        return False
    beside = [other for leaf, (other, _) in others.items() if leaf != argument.leaf and other.required]
    attached = not told and _is_attachment(argument, given, effects)
    attached = attached and (bool(beside) or not _is_first_path(argument, others))
    if attached or _is_told_besides(argument, given, name, others) or (beside and given <= EXTRAS):
        return False
    if argument.required:
        return True
    if given <= _PLACES:
        return told or "place" in given or not effects <= {"read"}
    if not given & _PATHS or told or (not beside and _is_first_path(argument, others)):
        return True
    if given == {"write-path"} or not _WRITTEN.isdisjoint(argument.words):
        written = any(
            "write-path" in found and other.required for leaf, (other, found) in others.items() if leaf != argument.leaf
        )
        makes = bool(effects & {"create", "update"}) and "execute" not in effects
        return not written and (makes or not _SAVING.isdisjoint(words_of(name))) and "return" not in argument.says
    looks = effects <= {"read"} and _is_first_path(argument, others)  # where nothing says where, it looks everywhere
    return looks or (argument.words[-1] in _DIRECTORIES and not argument.several)


def _roles_of(way: re.Match[str] | None, others: Mapping[str, tuple[Argument, Collection[str]]]) -> Collection[str]:
    """Return the roles of the argument that a description names."""
    return others[way[1]][1] if way is not None and way[1] in others else ()


def _is_attachment(argument: Argument, given: frozenset[str], effects: frozenset[str]) -> bool:
    """Return whether an argument holds files that go along."""
    attached = not {"attach", "attachment"}.isdisjoint(argument.words) and _DIRECTORIES.isdisjoint(argument.words)
    return attached and given - {"outbound-content"} == {"read-path"} and "delete" not in effects


def _is_told_besides(
    argument: Argument, given: frozenset[str], name: str, others: Mapping[str, tuple[Argument, Collection[str]]]
) -> bool:
    """Return whether an argument is a webhook of a tool that reads other URLs."""
    hook = not _HOOKS.isdisjoint(argument.words) and _HOOKS.isdisjoint(words_of(name))
    reads = any("fetch-url" in found for _, found in others.values())
    return hook and reads and given == {"send-url"} and not argument.required


def _has_plural(argument: Argument, others: Mapping[str, tuple[Argument, Collection[str]]]) -> bool:
    """Return whether another optional argument holds several of the same: `path` beside `paths`."""
    plural = others.get(f"{argument.leaf}s")
    return plural is not None and not argument.required and not plural[0].required


def _narrows(argument: Argument, others: Mapping[str, tuple[Argument, Collection[str]]]) -> bool:
    """Return whether it says which files of a directory are meant that another argument names."""
    root = root_of(argument, [other for other, _ in others.values()])
    return root is not None and bool(_PATHS.intersection(others[root.leaf][1]))


def _is_first_path(argument: Argument, others: Mapping[str, tuple[Argument, Collection[str]]]) -> bool:
    """Return whether it is the first file of the call: those behind it are used beside it, or not at all."""
    paths = [leaf for leaf, (_, found) in others.items() if _PATHS.intersection(found)]
    return paths[:1] == [argument.leaf]
