"""Tool annotations, from JSON: what each argument means, checked against the tool's own definition."""

from __future__ import annotations

import difflib
import hashlib
from typing import TYPE_CHECKING, Final

from ironcurtain.errors import quote
from ironcurtain.model.policy import Mode, Shape, Tool, leaves_of
from ironcurtain.model.roles import COMMAND, NONE, Category, Role, category
from ironcurtain.wire import schema, strict_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ironcurtain.artifacts.item import Item
    from ironcurtain.model.call import Json
    from ironcurtain.model.resolved import Scalar

EFFECTS: Final = ("read", "create", "update", "delete", "move", "send", "execute", "pay", "share")

Schemas = dict[tuple[str, str], schema.Schema | str]
"""The admitted schema of each tool, or why it has none."""


def pin_of(definition: Mapping[str, Json]) -> str:
    """The digest of a tool definition."""
    return "sha256:" + hashlib.sha256(strict_json.canonical(dict(definition))).hexdigest()


def read_annotations(item: Item) -> tuple[dict[tuple[str, str], Tool], Schemas]:
    """Every annotated tool and its schema, by server and name."""
    members = item.members(("version", "servers"), ("generatedAt",))
    if members["version"].count(least=1) != 1:
        members["version"].fail("a version this program does not know", "write 1")
    if "generatedAt" in members:
        members["generatedAt"].time()
    tools: dict[tuple[str, str], Tool] = {}
    schemas: Schemas = {}
    for server, entry in members["servers"].entries().items():
        parts = entry.members(("tools",), ("inputHash",))
        if "inputHash" in parts:
            parts["inputHash"].text()
        for element in parts["tools"].elements():
            tool, admitted = _tool(element, server)
            key = (server, tool.name)
            if key in tools:
                element.fail(f"a second annotation of {quote(tool.name)}", "keep one")
            tools[key], schemas[key] = tool, admitted
    return tools, schemas


def _tool(item: Item, server: str) -> tuple[Tool, schema.Schema | str]:
    members = item.members(
        ("toolName", "serverName", "sideEffects", "args", "definition", "pin"), ("comment", "effects")
    )
    name = members["toolName"].text()
    if members["serverName"].text() != server:
        members["serverName"].fail(f"it stands under the server {quote(server)}", f"write {server!r}")
    definition = members["definition"].value
    if not isinstance(definition, dict) or definition.get("name") != name:
        members["definition"].fail("not the definition of this tool", f'it needs "name": {quote(name)}')
    effects = members["effects"].elements() if "effects" in members else []
    try:
        admitted: schema.Schema | str = schema.admit(definition)
    except ValueError as error:
        admitted = str(error)
    leaves = {leaf: tuple(_modes(entry)) for leaf, entry in members["args"].entries().items()}
    known = admitted.leaves if isinstance(admitted, schema.Schema) else None
    for leaf, entry in members["args"].entries().items():
        if known is not None and leaf not in known:
            near = difflib.get_close_matches(leaf, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(sorted(known)) or 'no arguments'}"
            entry.fail("the tool's schema has no such argument", hint)
    roles = frozenset(role for modes in leaves.values() for mode in modes for role in mode.roles)
    side_effects = members["sideEffects"].flag()
    if not side_effects and roles - {NONE}:
        members["sideEffects"].fail("a tool whose arguments have roles has side effects", "write true")
    for leaf, modes in leaves.items():
        _require_siblings(leaf, modes, leaves, members["args"].entries()[leaf])
        _require_directory(leaf, modes, leaves, members["args"].entries()[leaf])
    arguments = shape_of(leaves, known or {})
    for leaf in leaves.keys() - {shape.leaf for shape in leaves_of(arguments)}:
        members["args"].entries()[leaf].fail("not a name of an argument", "write name, object.child or list[].child")
    tool = Tool(
        server=server,
        name=name,
        side_effects=side_effects,
        arguments=arguments,
        roles=roles - {NONE},
        definition=definition,
        drifted=members["pin"].text() != pin_of(definition),
        comment=members["comment"].text(blank=True) if "comment" in members else "",
        effects=frozenset(effect.word(EFFECTS) for effect in effects),
    )
    return tool, admitted


def _require_directory(leaf: str, modes: tuple[Mode, ...], leaves: Mapping[str, tuple[Mode, ...]], item: Item) -> None:
    """The argument that a path is relative to must be another one at the top that holds a path."""
    for name in {mode.relative_to for mode in modes} - {""}:
        roles = {role for mode in leaves.get(name, ()) for role in mode.roles}
        if name == leaf or "." in name or "[" in name or not any(category(role) is Category.PATH for role in roles):
            item.fail(f"{quote(name)} is no argument that holds a directory", "name one that does")


def _require_siblings(leaf: str, modes: tuple[Mode, ...], leaves: Mapping[str, tuple[Mode, ...]], item: Item) -> None:
    """A sibling that selects a mode must be one whose value is sent as it was read."""
    prefix = leaf.rpartition(".")[0]
    for name in {name for mode in modes for name, _ in mode.when}:
        sibling = f"{prefix}.{name}" if prefix else name
        if sibling not in leaves:
            item.fail(f"{quote(name)} is no annotated argument beside it", "name one that is")
        for role in (role for mode in leaves[sibling] for role in mode.roles):
            if category(role) not in (Category.NONE, Category.CARRIED, Category.OTHER):
                item.fail(f"the values of {quote(name)} are rewritten before they are sent", "name another sibling")


def shape_of(leaves: Mapping[str, tuple[Mode, ...]], known: Mapping[str, schema.Leaf], prefix: str = "") -> Shape:
    """The leaves as a tree."""
    below: dict[str, dict[str, tuple[Mode, ...]]] = {}
    for leaf, modes in leaves.items():
        name = leaf.split(".")[0].split("[]")[0]
        below.setdefault(name, {})[leaf.removeprefix(name)] = modes
    members = {name: _shape(rest, known, f"{prefix}.{name}" if prefix else name) for name, rest in below.items()}
    return Shape(leaf=prefix, members=members)


def _shape(rest: Mapping[str, tuple[Mode, ...]], known: Mapping[str, schema.Leaf], leaf: str) -> Shape:
    """One argument: what stands at it, in it, and in the elements of it."""
    inside = {tail[1:]: modes for tail, modes in rest.items() if tail.startswith(".")}
    items = {tail[2:]: modes for tail, modes in rest.items() if tail.startswith("[]")}
    return Shape(
        leaf=leaf,
        modes=rest.get("", ()),
        required=leaf in known and known[leaf].required,
        defaulted=leaf in known and known[leaf].defaulted,
        free=(leaf not in known or known[leaf].free)
        and not any(name.startswith((f"{leaf}.", f"{leaf}[]")) for name in known),
        members=shape_of(inside, known, leaf).members if inside else {},
        elements=_shape(items, known, leaf + "[]") if items else None,
    )


def _modes(item: Item) -> Iterator[Mode]:
    for entry in item.elements(least=1) if isinstance(item.value, list) else (item,):
        more = ("when",) if isinstance(item.value, list) else ("language", "relativeTo")
        members = entry.members(("roles",), ("absent", "unclear", *more))
        if "unclear" in members:
            members["unclear"].flag()  # read by the compiler of statements, and by nothing that decides
        roles = tuple(Role(role.text()) for role in members["roles"].elements(least=1))
        for role in roles:
            if role != role.strip().lower() or (role == NONE and len(roles) > 1):
                members["roles"].fail(f"{quote(role)} is not a role here", "roles are lower case; none stands alone")
        absent = members["absent"].word(("unknown", "nothing")) if "absent" in members else "unknown"
        when = (
            tuple(_sibling(name, value) for name, value in members["when"].entries().items())
            if "when" in members
            else ()
        )
        language = members["language"].word(("sql", "argv")) if "language" in members else ""
        if language and COMMAND not in roles:
            members["language"].fail("only a command has a language", "leave it out")
        relative = members["relativeTo"].text() if "relativeTo" in members else ""
        if relative and not any(category(role) is Category.PATH for role in roles):
            members["relativeTo"].fail("only a path is relative to another argument", "leave it out")
        yield Mode(roles, absent == "unknown", language == "sql", language == "argv", when, relative)


def _sibling(name: str, item: Item) -> tuple[str, frozenset[tuple[type, Scalar]]]:
    wanted = [item]
    if isinstance(item.value, list):
        wanted = item.elements(least=1)
    elif isinstance(item.value, dict):
        members = item.members((), ("equals", "in"))
        if len(members) != 1:
            item.fail("either equals or in is expected", 'write {"equals": "..."} or {"in": [...]}')
        wanted = [members["equals"]] if "equals" in members else members["in"].elements(least=1)
    values = [entry.scalar() for entry in wanted]
    return name, frozenset((type(value), value) for value in values)
