"""A server's tools as they were saved: a `tools/list` answer, or the list in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.item import parse
from ironcurtain.errors import ArtifactError

if TYPE_CHECKING:
    from ironcurtain.artifacts.item import Item
    from ironcurtain.model.call import Json


def read_catalogue(named: str) -> tuple[str, list[dict[str, Json]]]:
    """The server's name and its tools, from `NAME=FILE`."""
    server, equals, file = named.partition("=")
    if not equals or not server or not file:
        raise ArtifactError("artifact_malformed", named, "", "not NAME=FILE", "--catalogue filesystem=tools.json")
    item = parse(read_artifact(Path(file)), file)
    tools = item.elements() if isinstance(item.value, list) else _tools(item)
    definitions: dict[str, dict[str, Json]] = {}
    for tool in tools:
        name = tool.members(("name",), tuple(tool.entries()))["name"].text()
        if name in definitions:
            tool.fail(f"a second tool named {name!r}", "keep one")
        definitions[name] = {key: member.value for key, member in tool.entries().items()}
    return server, list(definitions.values())


def _tools(item: Item) -> list[Item]:
    members = item.entries()
    if "result" in members:
        members = members["result"].entries()
    if "tools" not in members:
        item.fail("there are no tools in it", "save the answer to tools/list")
    return list(members["tools"].elements())
