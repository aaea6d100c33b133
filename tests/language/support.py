"""Compiles statements for small catalogues and asks the engine about calls."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, Bundle, Surroundings, build
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.drafts import Compiled, Sourced
from ironcurtain.compiler.setup import Known, NamedList
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.language.parsing import parse
from ironcurtain.mediation.decide import decide_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HOME = "/home/maya"
KNOWN = Known(
    HOME,
    f"{HOME}/.ironcurtain/sandbox",
    directories={"Projects": f"{HOME}/Projects", "Medical": f"{HOME}/Medical"},
    lists={
        "contacts": NamedList("email", ("bob@x.example", "ann@books.example")),
        "customers": NamedList("email", ("jan@c.example", "kim@c.example")),
        "family": NamedList("email", ("bo@f.example",)),
        "everyone": NamedList("email", tuple(f"p{n}@x.example" for n in range(20))),
        "nobody": NamedList("email", ()),
        "my-channels": NamedList("channel", ("C1", "C2")),
    },
    names={"#team": ("C1",), "ann": ("ann@books.example",), "personal calendar": ("cal-1",)},
)


def tool(name: str, says: str, needed: str = "", optional: str = "", **more: Any) -> dict[str, Any]:
    """A tool's definition: arguments by name, `x:list`, `x:bool`, `x:number` or `x:object`; `more` holds schemas in full."""
    properties: dict[str, Any] = {}
    for word in (*needed.split(), *optional.split()):
        argument, _, kind = word.partition(":")
        properties[argument] = {
            "": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string"}},
            "bool": {"type": "boolean"},
            "number": {"type": "number"},
            "object": {"type": "object"},
        }[kind]
    properties |= more
    required = [word.partition(":")[0] for word in needed.split()]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": says, "inputSchema": schema}


@dataclass(frozen=True)
class Policy:
    """Compiled statements, with the tools they were compiled for."""

    compiled: Compiled
    servers: Mapping[str, list[dict[str, Any]]]
    known: Known

    def decide(self, call: str, /, **arguments: Any) -> str:
        """What the engine says of a call of `server/tool`."""
        server, _, tool_name = call.partition("/")
        request = {"serverName": server, "toolName": tool_name, "arguments": arguments}
        decision = decide_bytes(json.dumps(request).encode(), self.loaded(), time.time()).decision
        assert decision.code not in ("arguments_invalid", "argument_unknown", "tool_unknown"), decision
        return decision.outcome.word

    def loaded(self) -> Any:
        """The policy as it would be in force."""
        policy: Any = {
            "version": 1,
            "setup": {"home": self.known.home, "sandbox": self.known.sandbox, "pathBase": {}},
            "lists": {name: {"values": [*each.values]} for name, each in self.known.lists.items() if each.values},
            "rules": [*self.compiled.rules],
        }
        annotations: Any = {"version": 1, "servers": {name: {"tools": tools} for name, tools in self.servers.items()}}
        items = {POLICY: Item(policy, POLICY), ANNOTATIONS: Item(annotations, ANNOTATIONS)}
        return build(Bundle(Path("/nowhere"), items), Surroundings(Path("/nowhere/home"), time.time()))

    def problem(self, number: int = 0) -> str:
        """What is wrong with a statement."""
        meaning = self.compiled.meanings[number]
        return f"{meaning.problem}; {meaning.help}"


def annotated(catalogue: Mapping[str, Iterable[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The tools of some servers, annotated."""
    return {server: [each.fields() for each in understand(server, tools)] for server, tools in catalogue.items()}


def compiled(lines: str, catalogue: Mapping[str, Iterable[dict[str, Any]]], known: Known = KNOWN) -> Policy:
    """Compile statements, one a line, for the tools of some servers."""
    servers = annotated(catalogue)
    statements = [Sourced(parse(line)) for line in lines.strip().splitlines()]
    return Policy(compile_statements(statements, catalogue_of(servers), known), servers, known)


def policy(lines: str, catalogue: Mapping[str, Iterable[dict[str, Any]]], known: Known = KNOWN) -> Policy:
    """Compile statements that have no problem."""
    found = compiled(lines, catalogue, known)
    assert not found.compiled.problems, [(each.text, each.problem, each.help) for each in found.compiled.problems]
    return found
