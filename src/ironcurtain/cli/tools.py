"""`ironcurtain tools`: what a principal may see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.text import Text

from ironcurtain.cli.loading import load
from ironcurtain.cli.main import DONE
from ironcurtain.cli.show import console, table
from ironcurtain.errors import visible
from ironcurtain.model.call import Principal

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """List the tools that pass every access layer."""
    loaded = load(arguments)
    principal = Principal(arguments.agent, arguments.provider, arguments.group, arguments.member, arguments.subagent)
    access = loaded.policy.access
    known = loaded.policy.tools.values()
    rows = []
    for tool in known if arguments.all else access.visible(known, principal):
        objection = access.objection(tool, principal)
        hidden = objection.reason if objection else None
        rows.append({"serverName": tool.server, "toolName": tool.name, "comment": tool.comment, "hidden": hidden})
    if arguments.json:
        for row in rows:
            print(json.dumps(row))
        return DONE
    shown = table("server", "tool", "what it does", "hidden because")
    for row in rows:
        cells = (visible(str(row[key] or "")) for key in ("serverName", "toolName", "comment", "hidden"))
        shown.add_row(*map(Text, cells))
    console().print(shown)
    return DONE
