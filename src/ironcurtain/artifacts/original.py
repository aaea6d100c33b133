"""Brings in files of the original project: converted, pinned, verified.

Its annotations are `{toolName, serverName, comment?, effect?, sideEffects, args: {name: [roles]}}`, its rules the same
language without lists, values and assessments (an early draft also matched on `effect`), its scenarios the same as
ours. What it does not have is added: tool definitions from a saved catalogue, from those we ship, or written from the
annotation; the setup; versions. An argument that its schema has and the annotation lacks has no role there. It gets
`none` here, unless its name looks like a path or an address: then the import stops and names it.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.active import last_version
from ironcurtain.artifacts.annotations import EFFECTS, pin_of
from ironcurtain.artifacts.catalogue import read_catalogue
from ironcurtain.artifacts.files import read_artifact, write_artifact
from ironcurtain.artifacts.item import parse
from ironcurtain.artifacts.policy import ANNOTATIONS, FILES, POLICY, SCENARIOS, build, read_bundle
from ironcurtain.artifacts.shipped import shipped_bundle
from ironcurtain.artifacts.verify import Verification, verify_directory
from ironcurtain.errors import ArtifactError
from ironcurtain.wire import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ironcurtain.artifacts.item import Item
    from ironcurtain.artifacts.policy import Surroundings
    from ironcurtain.model.call import Json

_LOCATED: Final = re.compile(
    r"path|file|dir|folder|source|destination|target|url|uri|host|endpoint|address|recipient", re.IGNORECASE
)
_OLD_EFFECTS: Final[Mapping[str, tuple[str, ...]]] = {"write": ("create", "update"), "other": ()}

_OLD_WORDS: Final = ("read", "write", "delete", "move", "other")
Effects = dict[str, dict[str, list[str]]]
"""Effect -> server -> tools."""
Definitions = dict[str, dict[str, dict[str, "Json"]]]
"""Server -> tool -> definition."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import."""

    verification: Verification
    notes: tuple[str, ...]


def import_original(
    source: Path, target: Path, sandbox: Path, catalogues: Sequence[str], around: Surroundings, *, overwrite: bool
) -> Imported:
    """Convert the files of a directory into a policy directory and verify it there."""
    if (target / POLICY).exists() and not overwrite:
        raise ArtifactError(
            "artifact_unsafe", str(target), "", "there is a policy already", "add --replace or --out DIR"
        )
    notes: list[str] = []
    made: dict[str, Json] = {}
    annotations, effects = _annotations(_read(source / ANNOTATIONS), _definitions(catalogues), notes)
    made[ANNOTATIONS] = annotations
    made[POLICY] = _policy(_read(source / POLICY), effects, sandbox, last_version(around.home) + 1)
    if (source / SCENARIOS).is_file():
        made[SCENARIOS] = _scenarios(_read(source / SCENARIOS))
    return Imported(_verified_into(target, made, around), tuple(notes))


def _verified_into(target: Path, made: Mapping[str, Json], around: Surroundings) -> Verification:
    """Verify in a directory beside the target; only what could be verified takes its place."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as partial:
        for name, value in made.items():
            _write(Path(partial) / name, value)
        verification = verify_directory(Path(partial), around)
        build(replace(read_bundle(Path(partial)), directory=target), around)  # at its own place, too
        target.mkdir(mode=0o700, exist_ok=True)
        for name in FILES:
            (target / name).unlink(missing_ok=True)
        for name in made:
            (Path(partial) / name).replace(target / name)
    return verification


def _annotations(item: Item, definitions: Definitions, notes: list[str]) -> tuple[dict[str, Json], Effects]:
    """The annotations in our form, and which tools had which effect in theirs."""
    members = item.members(("servers",), ("generatedAt", "constitutionHash", "version"))
    effects: Effects = {}
    servers: dict[str, Json] = {}
    for server, entry in members["servers"].entries().items():
        tools: list[Json] = []
        for element in entry.members(("tools",), ("inputHash",))["tools"].elements():
            tool = element.members(("toolName", "serverName", "sideEffects", "args"), ("comment", "effect"))
            name = tool["toolName"].text()
            effect = tool["effect"].word(_OLD_WORDS) if "effect" in tool else ""
            effects.setdefault(effect, {}).setdefault(server, []).append(name)
            definition = definitions.get(server, {}).get(name)
            if definition is None:
                definition = _synthesised(name, tool["args"])
                notes.append(f"{server}/{name}: no definition was given; its arguments are taken from the annotation")
            meant = [word for word in _OLD_EFFECTS.get(effect, (effect,)) if word in EFFECTS]
            tools.append(
                {
                    "toolName": name,
                    "serverName": tool["serverName"].text(),
                    "comment": tool["comment"].text(blank=True) if "comment" in tool else "",
                    "sideEffects": tool["sideEffects"].flag(),
                    "effects": list(meant),
                    "args": _args(tool["args"], definition, f"{server}/{name}", notes),
                    "definition": definition,
                    "pin": pin_of(definition),
                }
            )
        servers[server] = {"tools": tools}
    return {"version": 1, "servers": servers}, effects


def _args(item: Item, definition: Mapping[str, Json], tool: str, notes: list[str]) -> dict[str, Json]:
    entries = item.entries()
    args: dict[str, Json] = {}
    for name, entry in entries.items():
        roles: list[Json] = [role.text() for role in entry.elements()] or ["none"]
        args[name] = {"roles": roles, "absent": "nothing" if roles == ["none"] else "unknown"}
    try:
        leaves = schema.admit(definition).leaves
    except ValueError as error:
        item.fail(f"the definition of {tool} cannot be used: {error}", "give another with --catalogue")
    for leaf in leaves:
        if leaf.split(".")[0].split("[]")[0] in entries:
            continue
        if _LOCATED.search(leaf.rpartition(".")[2]):
            item.fail(
                f"the argument {leaf!r} of {tool} looks like a place and has no role", f"add {leaf!r} with its roles"
            )
        args[leaf] = {"roles": ["none"], "absent": "nothing"}
        notes.append(f"{tool}: the argument {leaf!r} had no entry and gets no role")
    return args


def _synthesised(name: str, args: Item) -> dict[str, Json]:
    properties: dict[str, Json] = {argument: {} for argument in args.entries()}
    return {"name": name, "inputSchema": {"type": "object", "properties": properties, "additionalProperties": False}}


def _policy(item: Item, effects: Effects, sandbox: Path, version: int) -> dict[str, Json]:
    members = item.members(("rules",), ("generatedAt", "constitutionHash", "inputHash", "version"))
    rules: list[Json] = [rule for element in members["rules"].elements() for rule in _rules(element, effects)]
    made: dict[str, Json] = {
        "version": version,
        "setup": {"home": str(Path.home()), "sandbox": str(sandbox.absolute())},
        "rules": rules,
    }
    for key in ("constitutionHash", "inputHash"):
        if key in members:
            made[key] = members[key].text()
    return made


def _rules(item: Item, effects: Effects) -> Iterator[dict[str, Json]]:
    """A rule as it is; one that speaks of effects once for each server that has tools with them, naming these."""
    rule = {key: entry.value for key, entry in item.entries().items()}
    conditions = rule.get("if")
    if not isinstance(conditions, dict) or "effect" not in conditions:
        yield rule
        return
    wanted = [effect.word(_OLD_WORDS) for effect in item.entries()["if"].entries()["effect"].elements(least=1)]
    servers = sorted({server for effect in wanted for server in effects.get(effect, {})})
    if not servers:
        item.fail("no tool has this effect", "name the tools instead")
    for server in servers:
        tools: list[Json] = [tool for effect in wanted for tool in effects.get(effect, {}).get(server, ())]
        named = {"name": f"{rule.get('name')} ({server})"} if len(servers) > 1 else {}
        kept = {key: value for key, value in conditions.items() if key != "effect"}
        yield {**rule, **named, "if": {**kept, "server": [server], "tool": tools}}


def _scenarios(item: Item) -> dict[str, Json]:
    members = item.members(("scenarios",), ("generatedAt", "constitutionHash", "inputHash", "version"))
    return {"version": 1, "scenarios": members["scenarios"].value}


def _definitions(catalogues: Sequence[str]) -> Definitions:
    """The definitions we ship, and those of the given catalogues instead where they have them."""
    found: Definitions = {}
    servers = shipped_bundle().items[ANNOTATIONS].entries()["servers"].entries()
    for server, entry in servers.items():
        for element in entry.entries()["tools"].elements():
            definition = element.entries()["definition"]
            found.setdefault(server, {})[element.entries()["toolName"].text()] = _object(definition)
    for catalogue in catalogues:
        server, definitions = read_catalogue(catalogue)
        found.setdefault(server, {}).update({str(definition["name"]): definition for definition in definitions})
    return found


def _object(item: Item) -> dict[str, Json]:
    return {key: member.value for key, member in item.entries().items()}


def _read(path: Path) -> Item:
    return parse(read_artifact(path), str(path))


def _write(path: Path, value: Json) -> None:
    write_artifact(path, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())
