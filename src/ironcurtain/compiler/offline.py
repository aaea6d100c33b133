"""From a constitution and saved catalogues to a directory of artifacts, without starting a server or asking a model."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ironcurtain.artifacts.catalogue import read_catalogue
from ironcurtain.artifacts.files import write_artifact
from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, SCENARIOS
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.english.compiler import compile_constitution
from ironcurtain.compiler.english.surface import surfaces_of
from ironcurtain.compiler.labels import labelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.compiler.english.compiler import Compiled
    from ironcurtain.compiler.setup import Known

    Labels: TypeAlias = Mapping[tuple[str, str], Mapping[str, Any]]

BUDGET: Final = "budget.json"


@dataclass(frozen=True, slots=True)
class Product:
    """What a compilation made."""

    compiled: Compiled
    artifacts: Mapping[str, Mapping[str, Any]]
    """By file name."""

    def write(self, directory: Path) -> None:
        """Put the artifacts into a directory; what an earlier compilation left there goes, but for lists."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in (ANNOTATIONS, POLICY, SCENARIOS, BUDGET):
            if name in self.artifacts:
                text = json.dumps(self.artifacts[name], indent=1, ensure_ascii=False)
                write_artifact(directory / name, f"{text}\n".encode())
            else:
                (directory / name).unlink(missing_ok=True)


def compile_offline(
    constitution: str, catalogues: Iterable[str], known: Known, labels: Labels, version: int
) -> Product:
    """Compile for the tools of saved catalogues (`NAME=FILE`)."""
    servers: dict[str, list[dict[str, Any]]] = {}
    for named in catalogues:
        server, definitions = read_catalogue(named)
        stem = Path(named.partition("=")[2]).stem
        tools = understand(server, definitions)
        servers[server] = [_labelled(tool.fields(), labels, server, stem) for tool in tools]
    return compile_tools(constitution, servers, known, version)


def compile_tools(
    constitution: str, servers: Mapping[str, list[dict[str, Any]]], known: Known, version: int
) -> Product:
    """Compile for annotated tools."""
    surfaces = [surface for server, tools in servers.items() for surface in surfaces_of(server, tools)]
    compiled = compile_constitution(constitution, surfaces, known)
    policy = {
        "version": version,
        "constitutionHash": "sha256:" + hashlib.sha256(constitution.encode()).hexdigest(),
        "setup": {"home": known.home, "sandbox": known.sandbox, "pathBase": dict(known.path_base)},
        "lists": {
            name: {**({"kind": each.kind} if each.kind else {}), "values": [*each.values]}
            for name, each in known.lists.items()
            if name in compiled.lists and not each.dynamic
        },
        "rules": compiled.rules,
    }
    annotations = {"version": 1, "servers": {server: {"tools": tools} for server, tools in servers.items()}}
    budget = {BUDGET: {"version": 1, **compiled.limits}} if compiled.limits else {}
    return Product(compiled, {POLICY: policy, ANNOTATIONS: annotations, **budget})


def _labelled(fields: dict[str, Any], labels: Labels, *servers: str) -> dict[str, Any]:
    label = next(
        (labels[server, fields["toolName"]] for server in servers if (server, fields["toolName"]) in labels), None
    )
    return fields if label is None else labelled(fields, label)
