"""The conditions that names, modes and statements come to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.compiler.english.grounding import Meant
    from ironcurtain.compiler.english.places import Place
    from ironcurtain.compiler.english.surface import Surface

PATH_ROLES: Final = {
    "read": frozenset({"read-path"}),
    "create": frozenset({"write-path"}),
    "update": frozenset({"write-path"}),
    "delete": frozenset({"delete-path"}),
    "move": frozenset({"read-path", "write-path", "delete-path"}),
}
ALL_PATHS: Final = frozenset({"read-path", "write-path", "delete-path"})
PRESENT: Final = {"maxLength": 100_000}
"""Holds for every string that is there."""
_OWNERS: Final = ("owner", "org", "organization", "namespace", "workspace", "username")
_REPOSITORIES: Final = ("repo", "repository", "repo_name", "repoName", "project", "repo_slug")
_EFFECTS_IN_READING: Final = (
    r"select\W(?:.*\W)?into|explain\W(?:.*\W)?analy[sz]e|outfile|dumpfile|load_file|pg_\w*|lo_import|lo_export|dblink\w*|[sx]p_\w*|sleep|benchmark|readfile|writefile"
    r"|load_extension|setval|nextval|set_config|get_lock|exec|execute|openrowset|openquery|opendatasource|\w*_to_xml\w*"
    r"|read_\w*|glob|sniff_csv|\w+_scan|for\s+(?:no\s+key\s+)?(?:update|share)|(?:from|join)\s*'[^']*'"
)


_CALLED: Final = lexicon(
    """count sum avg min max total round floor ceil ceiling abs mod power sqrt coalesce ifnull nullif iif lower upper
    length char_length trim ltrim rtrim substr substring left right instr position replace concat concat_ws group_concat
    string_agg cast convert date datetime time timestamp year month day hour minute second strftime date_format
    date_trunc date_part datediff extract to_char to_date now row_number rank dense_rank lag lead first_value last_value
    greatest least decimal varchar
    in exists any all as over by values and or not on from where select when then else having union distinct using
    between join except partition filter"""
)
"""Functions that do nothing but compute, and words that a bracket may follow."""
_NESTED: Final = lexicon(
    "select count sum avg min max lower upper trim cast coalesce length date strftime substr replace round abs extract"
)
"""Those of them that may stand at once behind a bracket."""


def path_roles(effects: frozenset[str]) -> frozenset[str]:
    """The roles of paths that such effects go through."""
    return frozenset(role for effect in effects for role in PATH_ROLES.get(effect, frozenset()))


def modes_of(meant: Meant, *, permits: bool) -> dict[str, Any]:
    """The conditions for the modes of a tool that are meant."""
    found: dict[str, Any] = {}
    if meant.modes:
        found[f"arg:{meant.tool.selector}"] = {"in": [*meant.modes]}
    if meant.statements and meant.tool.statement:
        words = "|".join(meant.statements)
        plain = on_tables(meant.statements, ()) or reads(meant.statements) or rf"(?i)\s*({words})\s[^;]*;?\s*"
        pattern = plain if permits else mentions([words], plain=True)
        found[f"arg:{meant.tool.statement}"] = {"matches": pattern}
    return found


def reads(statements: Sequence[str]) -> str | None:
    """An expression for statements that read, and call no function that is not known to do no more.

    INVARIANT: what a statement may call is listed; what it must not call never could be.
    """
    if not set(statements) <= {"select", "show", "describe", "explain"}:
        return None
    nested = rf"(({'|'.join(sorted(_NESTED))})?\s*\(\s*)*"  # no bracket is passed over that nobody looked at
    called = rf"([\s,=<>+*/%-]({'|'.join(sorted(_CALLED))})|[,=<>+*/%-])\s*\(\s*{nested}"
    body = rf"([^;()]|\)|{called})*"
    return rf"(?i)\s*({'|'.join(statements)}){body};?\s*"


def other_schemas() -> str:
    """An expression for a statement that says in which schema or database a table is."""
    named = r"[\"`\[]?\w+[\"`\]]?"
    return rf"(?i)(.*\W)?(from|join)\s+([\w\s\"`.\[\]]*,\s*)*{named}\s*\.\s*{named}(\W.*)?"


def on_tables(statements: Sequence[str], tables: Sequence[str]) -> str | None:
    """An expression for statements that change these tables, with plain values and nothing read from elsewhere."""
    names = "|".join(escaped(table) for table in tables) or r"\w+"
    name = rf"[\"`\[]?({names})[\"`\]]?"
    forms = {
        "insert": rf"insert\s+into\s+{name}\s*(\([^();]*\))?\s*values\s*\([^();]*\)(\s*,\s*\([^();]*\))*",
        "update": rf"update\s+{name}\s+set\s[^();]*",
        "delete": rf"delete\s+from\s+{name}\s+where\s[^();]*",
    }
    if not statements or not set(statements) <= set(forms):
        return None
    return rf"(?i)\s*({'|'.join(forms[statement] for statement in statements)})[\s;]*"


def one_of(values: Iterable[str]) -> dict[str, Any]:
    """A value is one of these."""
    return {"in": [*dict.fromkeys(values)]}


def owner_and_name(tool: Surface, place: Place) -> dict[str, tuple[str, ...]] | None:
    """`acme/webshop`, for a tool that takes the two apart."""
    owner = next((leaf for leaf in _OWNERS if leaf in tool.leaves), None)
    name = next((leaf for leaf in _REPOSITORIES if leaf in tool.leaves), None)
    parts = [value.split("/") for value in place.values if value.count("/") == 1]
    if owner is None or name is None or not parts:
        return None
    return {f"arg:{owner}": tuple(a for a, _ in parts), f"arg:{name}": tuple(b for _, b in parts)}


def permitted_hosts(domains: Sequence[str], *, below: bool) -> tuple[str, ...]:
    """A permission is of the names that are named, and of those below them only where it says so."""
    found: dict[str, None] = {}
    for domain in domains:
        found[domain] = None
        if not domain.startswith(("@", "*.", "www.")):
            found[f"*.{domain}" if below else f"www.{domain}"] = None
    return (*found,)


def forbidden_hosts(domains: Sequence[str]) -> tuple[str, ...]:
    """A prohibition is of the name and of all names below it."""
    plain = [domain for domain in domains if not domain.startswith(("@", "*."))]
    return (*domains, *(f"*.{domain}" for domain in plain))


def escaped(text: str) -> str:
    """A text as a regular expression for itself."""
    return re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", text)


def spelled(value: str) -> str:
    """A name in any spelling: `hr.salaries` also with quotes around its parts."""
    return r"\W*".join(escaped(part) for part in re.split(r"\W+", value) if part) or escaped(value)


def named(place: Place) -> str:
    """An expression for a value that is this name, in any spelling, and without what stands before its last dot."""
    values = [*place.values, *([] if place.text.startswith("@") else [place.text])]
    bare = [spelled(value) for value in values]
    bare += [escaped(value.rpartition(".")[2]) for value in place.values if value.count(".") == 1 and "@" not in value]
    return rf"(?i)\W*({'|'.join(dict.fromkeys(bare))})\W*"


def mentions(values: Iterable[str], *, plain: bool = False) -> str:
    """An expression for a text that has one of these as a word in it."""
    return rf"(?i)(.*\W)?({'|'.join(value if plain else spelled(value) for value in values)})(\W.*)?"


def in_a_statement(place: Place) -> str:
    """An expression for a statement that has this name in it, also without what stands before its last dot."""
    return mentions(dict.fromkeys(part for value in place.values for part in (value, value.rpartition(".")[2])))


def with_effects() -> str:
    """An expression for a statement that reads and does something besides."""
    return mentions([_EFFECTS_IN_READING], plain=True)
