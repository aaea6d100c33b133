"""From a constitution and saved catalogues to what the tools mean, without starting a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ironcurtain.artifacts.catalogue import read_catalogue
from ironcurtain.compiler.labels import labelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.compiler.stages import Stages

    Labels: TypeAlias = Mapping[tuple[str, str], Mapping[str, Any]]


def annotated_offline(catalogues: Iterable[str], labels: Labels, stages: Stages) -> dict[str, list[dict[str, Any]]]:
    """Annotate the tools of saved catalogues (`NAME=FILE`)."""
    servers: dict[str, list[dict[str, Any]]] = {}
    for named in catalogues:
        server, definitions = read_catalogue(named)
        stem = Path(named.partition("=")[2]).stem
        tools = stages.annotate(server, definitions)
        servers[server] = [_labelled(tool, labels, server, stem) for tool in tools]
    return servers


def _labelled(fields: dict[str, Any], labels: Labels, *servers: str) -> dict[str, Any]:
    label = next(
        (labels[server, fields["toolName"]] for server in servers if (server, fields["toolName"]) in labels), None
    )
    return fields if label is None else labelled(fields, label)
