"""From a constitution and saved catalogues to a product, without starting a server or asking a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ironcurtain.artifacts.catalogue import read_catalogue
from ironcurtain.compiler.labels import labelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.compiler.product import Product
    from ironcurtain.compiler.setup import Known
    from ironcurtain.compiler.stages import Stages

    Labels: TypeAlias = Mapping[tuple[str, str], Mapping[str, Any]]


def compile_offline(
    constitution: str, catalogues: Iterable[str], known: Known, labels: Labels, version: int, stages: Stages
) -> Product:
    """Compile for the tools of saved catalogues (`NAME=FILE`)."""
    servers: dict[str, list[dict[str, Any]]] = {}
    for named in catalogues:
        server, definitions = read_catalogue(named)
        stem = Path(named.partition("=")[2]).stem
        tools = stages.annotate(server, definitions)
        servers[server] = [_labelled(tool, labels, server, stem) for tool in tools]
    return stages.compile(constitution, servers, known, version)


def _labelled(fields: dict[str, Any], labels: Labels, *servers: str) -> dict[str, Any]:
    label = next(
        (labels[server, fields["toolName"]] for server in servers if (server, fields["toolName"]) in labels), None
    )
    return fields if label is None else labelled(fields, label)
