"""`ironcurtain annotate`: what tools do and what their arguments mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.text import Text

from ironcurtain.artifacts.catalogue import read_catalogue
from ironcurtain.cli.main import DONE
from ironcurtain.cli.show import console, heading
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.annotate.effects import ordered
from ironcurtain.errors import visible
from ironcurtain.gateway.scan import scan

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ironcurtain.compiler.annotate.annotator import Understood
    from ironcurtain.model.call import Json


def run(arguments: argparse.Namespace) -> int:
    """Annotate the tools of saved catalogues."""
    for named in arguments.catalogue:
        server, definitions = read_catalogue(named)
        for tool in understand(server, definitions):
            if arguments.json:
                print(json.dumps(_fields(tool)))
            else:
                for line in understood_lines(tool):
                    console().print(line)
    return DONE


def _fields(tool: Understood) -> dict[str, Json]:
    return {
        "server": tool.server,
        "tool": tool.name,
        "sideEffects": tool.side_effects,
        "effect": [*ordered(tool.effects)],
        "args": {leaf: [*tool.roles(leaf)] for leaf in tool.arguments},
        "doubts": dict(tool.doubts),
    }


def understood_lines(tool: Understood) -> Iterator[Text]:
    """What is understood of a tool, and what is not certain."""
    yield heading(visible(f"{tool.server}/{tool.name}"), f"  {', '.join(ordered(tool.effects))}{_doubt(tool, '')}")
    for leaf in tool.arguments:
        if tool.roles(leaf) != ["none"] or leaf in tool.doubts:
            yield Text(f"  {visible(leaf)}: {visible(_means(tool, leaf))}{_doubt(tool, leaf)}")
    for finding in scan(dict(tool.definition)):
        look = f"  LOOK: {finding.kind} in {finding.place}: {finding.excerpt}"
        yield Text(visible(look), style="bold red")


def _means(tool: Understood, leaf: str) -> str:
    modes = [
        f"{', '.join(sorted(meaning.roles) or ['none'])} where {tool.selector} is {' or '.join(values)}"
        for values, meaning in tool.modes.get(leaf, ())
    ]
    return "; ".join(modes) or ", ".join(tool.roles(leaf))


def _doubt(tool: Understood, leaf: str) -> str:
    return f"   (not certain: {tool.doubts[leaf]})" if leaf in tool.doubts else ""
