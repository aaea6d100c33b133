"""What an argument means: its roles, from its name, its words, its type and the tool it belongs to.

Each rule looks for one meaning and answers with roles or nothing; the first that answers counts. Where the text says
that a value may be two things, both are kept. Uncertain means the more restrictive role, and is said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.addresses import address
from ironcurtain.compiler.annotate.attachments import attachment
from ironcurtain.compiler.annotate.commands import command
from ironcurtain.compiler.annotate.content import content
from ironcurtain.compiler.annotate.files import file, speaks_of_elsewhere
from ironcurtain.compiler.annotate.paths import path_roles
from ironcurtain.compiler.annotate.people import person
from ironcurtain.compiler.annotate.places import place, places_beside
from ironcurtain.compiler.annotate.plain import choice, number_or_flag, setting, sum_of_money
from ironcurtain.compiler.annotate.records import record
from ironcurtain.compiler.annotate.setting import NOTHING, Meaning

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_RULES: Final[tuple[Callable[[Argument, Setting], Meaning | None], ...]] = (
    sum_of_money, number_or_flag, choice, setting, attachment, address, person, command, place, file, content, record,
)  # fmt: skip
_OR_URL: Final = re.compile(
    r"\bor (?:(?!to\b|in\b|of\b|the\b|from\b|data\b)[\w-]+ ){0,3}(?:url|uri|link)s?\b(?!-)"
    r"|\b(?:url|uri)s? or\b|\burl, |, url\b(?!-)|/url\b"
)
_OR_PATH: Final = re.compile(
    r"\bor (?:an? |the |absolute |local |relative )*(?:file ?(?:system )?)?(?:path|file|directory)\b"
    r"|\b(?:file ?)?paths? or\b"
    r"|local file path"
)


def meaning_of(argument: Argument, tool: Setting) -> Meaning:
    """Return the roles of one argument."""
    found = next((found for rule in _RULES if (found := rule(argument, tool)) is not None), NOTHING)
    if not (argument.is_flag or argument.is_number or (argument.enum and not found.roles)):
        found = Meaning(found.roles | _besides(argument, tool, found.roles), found.doubt)
    return Meaning(found.roles | places_beside(argument, tool, found.roles), found.doubt)


def _besides(argument: Argument, tool: Setting, roles: frozenset[str]) -> set[str]:
    """What the text says that the value may be as well."""
    more: set[str] = set()
    if roles & {"outbound-content", "command"}:
        return more
    if not roles & {"fetch-url", "send-url"}:
        flagged = "read-path" in roles and (
            "is url" in tool.siblings or re.search(r"\bhttps?(?::|\(s\)|/https?| url)", argument.says)
        )
        more |= {"fetch-url"} if flagged or _OR_URL.search(argument.says) else set()
    kept = tool.subject.is_about("notes") and "notebook" in argument.words  # of notes, in a hierarchy of their own
    here = not tool.subject.remote and not speaks_of_elsewhere(argument) and not kept
    here = here or re.search(r"\blocal (?:file|path)|file ?(?:system )?path", argument.says) is not None
    named = {"file", "uri"} <= set(argument.words) and not tool.subject.remote
    named = named or ("fetch-url" in roles and re.search(r"\bfile:", f"{argument.says} {tool.nutshell}") is not None)
    if (roles | more) & {"fetch-url", "identifier"} and here and (named or _OR_PATH.search(argument.says)):
        whole = named or tool.speaks_of("save", "edit", "overwrite")  # it is put back where it was
        more |= path_roles(argument, tool) if whole else _input_or(path_roles(argument, tool))
    return more


def _input_or(roles: set[str]) -> set[str]:
    """Return the roles of a path that stands in for something else: it is read, unless it is only written."""
    return {"read-path"} if "read-path" in roles else roles
