"""`ironcurtain annotate`: what tools do and what their arguments mean."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from rich.text import Text

from ironcurtain.artifacts.catalogue import read_catalogue
from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.cli.agreeing import Terminal
from ironcurtain.cli.main import DONE
from ironcurtain.cli.show import console, heading
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.annotate.effects import ordered
from ironcurtain.compiler.cache import Cache
from ironcurtain.compiler.llm.asking import Model
from ironcurtain.compiler.stages import Stages
from ironcurtain.compiler.waivers import read_waivers
from ironcurtain.errors import Refusal, visible
from ironcurtain.gateway.scan import scan

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ironcurtain.compiler.annotate.annotator import Understood
    from ironcurtain.model.call import Json


def run(arguments: argparse.Namespace) -> int:
    """Annotate the tools of saved catalogues, or show and revoke what was taken away from the built-in answer."""
    if arguments.waived or arguments.revoke:
        return _waived(arguments)
    if not arguments.catalogue:
        raise Refusal("usage", "no tools are named", "add --catalogue NAME=FILE")
    if arguments.model:
        return _with_model(arguments)
    for named in arguments.catalogue:
        server, definitions = read_catalogue(named)
        for tool in understand(server, definitions):
            if arguments.json:
                print(json.dumps(_fields(tool)))
            else:
                for line in understood_lines(tool):
                    console().print(line)
    return DONE


def _waived(arguments: argparse.Namespace) -> int:
    """Show the roles that the owner agreed to take away, and bring back those that are revoked."""
    file = Home(default_home()).waivers
    waivers = read_waivers(file)
    for named in arguments.revoke:
        gone = waivers.revoke(named)
        if not gone:
            raise Refusal("usage", f"nothing is taken away of {named}", "see: ironcurtain annotate --waived")
        for each in gone:
            console().print(Text(visible(f"back: {each.proposal.role} of {named}; run: ironcurtain compile")))
    if waivers.changed:
        waivers.write(file)
    for each in waivers.kept.values() if arguments.waived else ():
        stays = f"{each.proposal.server}/{each.proposal.tool} `{each.proposal.argument}` stays {each.proposal.role}"
        console().print(Text(visible(each.says if each.agreed else stays)))
    return DONE


def _with_model(arguments: argparse.Namespace) -> int:
    """Annotate with a model, and ask the owner about each role that it would take away."""
    home = Home(default_home())
    there = home.root.is_dir()
    asked = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.json
    stages = Stages(
        Cache(home.cache if there else None),
        lambda step: None if arguments.json else console().print(Text(visible(step.says), style="dim")),
        Model(arguments.model, home.root / "llm-interactions.jsonl" if there else None),
        waivers=read_waivers(home.waivers),
        ask_owner=Terminal().waive if asked and there else None,
    )
    for named in arguments.catalogue:
        server, definitions = read_catalogue(named)
        for tool in stages.annotate(server, definitions):
            for line in _annotated_lines(server, tool, machine=arguments.json):
                console().print(line) if not arguments.json else print(line)
    if stages.waivers.changed:
        stages.waivers.write(home.waivers)
    return DONE


def _annotated_lines(server: str, tool: dict[str, Any], *, machine: bool) -> Iterator[Text]:
    """Write one tool as it stands among a policy's annotations."""
    roles = {leaf: sorted(_roles(entry)) for leaf, entry in tool["args"].items()}
    if machine:
        named = {"server": server, "tool": tool["toolName"], "sideEffects": tool["sideEffects"]}
        yield Text(json.dumps({**named, "effect": tool["effects"], "args": roles}))
        return
    yield heading(f"{visible(server)}/{visible(tool['toolName'])}", f"  {', '.join(tool['effects'])}")
    for leaf, found in roles.items():
        if found != ["none"]:
            yield Text(f"  {visible(leaf)}: {', '.join(found)}")


def _roles(entry: Any) -> set[str]:  # noqa: ANN401 - as it stands in an artifact
    return {role for mode in (entry if isinstance(entry, list) else [entry]) for role in mode["roles"]}


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
