"""What an argument names or says, unless it is known to do neither: floors for the roles that cost no permission.

The roles `identifier` and `outbound-content` go along with a call and need no rule of their own, so a wrong one costs
nothing, and a missing one lets a rule overlook what a call touches or says. They are given by exclusion: an argument
has one unless it is known to be a way, a time, a measure, a secret or what is looked for (`harmless.says_how`).
INVARIANT: a floor adds roles and never takes one away.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.files import is_said_to_be_here
from ironcurtain.compiler.annotate.harmless import is_part_of_name, is_text, is_way_or_measure, lists_choices, says_how
from ironcurtain.compiler.annotate.paths import is_called_destination, is_used
from ironcurtain.compiler.annotate.records import is_described_as_id, is_id, is_noun, names_a_record
from ironcurtain.compiler.annotate.relative import is_root
from ironcurtain.compiler.annotate.setting import Meaning
from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_PATHS: Final = frozenset({"read-path", "write-path", "delete-path"})
_FILES: Final = re.compile(r"(?i)(?<![a-z])file|director(?:y|ies)\b|folder|\bdisk\b|dirs?\b|working|\.[a-z0-9]{2,4}\b")
_PEOPLE: Final = lexicon("email mail phone username login handle")
"""How people are named whose records a service keeps."""
_ABOUT_IDS: Final = lexicon("type format prefix suffix scheme kind generator length field column")


def carried(argument: Argument, meaning: Meaning, tool: Setting) -> Meaning:
    """Return a meaning with what the argument names or says at least."""
    if argument.is_flag or not argument.words or argument.is_criterion or len(argument.enum) > 1:
        return meaning
    if argument.is_number:
        needed = argument.required and (not says_how(argument) or _is_alone(argument, tool))
        numbered = needed or (is_noun(argument) and "integer" in argument.types)
        return Meaning(frozenset({"identifier"}), meaning.doubt) if numbered and not meaning.roles else meaning
    roles = meaning.roles
    if _may_be_elsewhere(argument, roles, tool) or (not roles and _names(argument)):
        roles |= {"identifier"}
    said = _is_said(argument, roles, tool)
    if _is_looked_up(argument, roles, tool):
        roles |= {"identifier"}
    return Meaning(roles | {"outbound-content"} if said else roles, meaning.doubt)


def _may_be_elsewhere(argument: Argument, roles: frozenset[str], tool: Setting) -> bool:
    """Return whether a path may be one in a store or a document: nothing says that it is here."""
    if not roles or not roles <= _PATHS or is_said_to_be_here(argument):
        return False
    if tool.subject.remote:
        return True
    if is_used(argument) or is_called_destination(argument) or is_root(argument):
        return False
    return not _FILES.search(f"{argument.says} {argument.name} {tool.nutshell} {' '.join(tool.words)}")


def _names(argument: Argument) -> bool:
    """Return whether an argument that no rule knows names something."""
    words, last = argument.words, argument.words[-1]
    if argument.free or is_part_of_name(argument):
        return False
    called = last in ("name", "title") and (len(words) > 1 or argument.required)
    by_id = (any(map(is_id, words[:-1])) or words[-2:] == ("serial", "number")) and last not in _ABOUT_IDS
    way = is_way_or_measure(argument)  # given in words; where no choices are listed, it is a name
    return (
        called
        or by_id
        or (way and (is_described_as_id(argument) or (argument.required and not lists_choices(argument))))
    )


def _is_looked_up(argument: Argument, roles: frozenset[str], tool: Setting) -> bool:
    """Return whether it names a person, a group or a channel whose record is meant: nothing is sent to them."""
    if tool.effects & {"send", "share"} or not roles <= {"channel", "outbound-content"}:
        return False
    by_id = any(map(is_id, argument.words)) and bool(roles & {"channel"})
    return by_id or not _PEOPLE.isdisjoint(argument.words[-1:])


def _is_alone(argument: Argument, tool: Setting) -> bool:
    """Return whether a tool that acts must be given this argument and no other: it says on what."""
    needed = [other.leaf for other in tool.arguments if other.required]
    return not tool.only_reads and needed == [argument.leaf]


def _is_said(argument: Argument, roles: frozenset[str], tool: Setting) -> bool:
    """Return whether it is written where others may read it: in a service."""
    if tool.acts <= {"read", "delete", "trash"}:
        return False
    if argument.free and "command" not in roles:
        return True  # whatever it holds
    if _stays_here(tool):
        return False
    if roles - {"identifier"} or names_a_record(argument) or says_how(argument) or argument.words[0] == "from":
        return False
    called = argument.words[-1] in ("name", "title")
    return not roles or (len(argument.words) == 1 if called else is_text(argument))


def _stays_here(tool: Setting) -> bool:
    """Return whether what a tool writes is kept on this machine or in a database."""
    in_file = re.search(r"\bfiles?\b", tool.nutshell) is not None or tool.subject.is_about("shell", "data")
    return tool.subject.on_files or (in_file and not tool.subject.remote)
