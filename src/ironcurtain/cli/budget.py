"""`ironcurtain budget`: what every agent has used, and what it may."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.cli.client import Client
from ironcurtain.cli.main import DONE
from ironcurtain.cli.show import console, table
from ironcurtain.errors import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from rich.table import Table

_NEARLY: Final = 0.8  # of a limit, from which on it is shown in yellow
_EVERY: Final = 1.0  # seconds between looks


def show(arguments: argparse.Namespace) -> int:
    """What was used of each limit; with `--watch` until interrupted."""
    with Client(Home(default_home())) as client:
        state = client.ask("budget")
        if arguments.json:
            print(json.dumps(state))
            return DONE
        if not arguments.watch:
            console().print(_table(state) if state["accounts"] else "nothing was used yet")
            print("limits are set in config.toml; ironcurtain budget reset gives a new budget")
            return DONE
        from rich.live import Live  # noqa: PLC0415 - for this alone

        with Live(_table(state), console=console(), auto_refresh=False) as live:
            while True:
                time.sleep(_EVERY)
                live.update(_table(client.ask("budget")), refresh=True)


def reset(arguments: argparse.Namespace) -> int:
    """Give a new budget."""
    with Client(Home(default_home())) as client:
        done = client.ask("budget/reset", **({"agent": arguments.agent} if arguments.agent else {}))
    print(f"{done['reset']} budgets begin anew")
    return DONE


def _table(state: dict[str, Any]) -> Table:
    out = table("agent", "task", "of", "used", "at most")
    for account in state["accounts"]:
        who = account["agent"].get("agent", "unnamed")
        for what, used, most in _lines(account):
            full = most and used / most
            style = "bold red" if full >= 1 else "yellow" if full >= _NEARLY else ""
            out.add_row(
                visible(who), visible(account.get("task", "")), visible(what), f"{used:,}", f"{most:,}", style=style
            )
            who = ""
    return out


def _lines(account: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    used, limits = account["used"], account["limits"]
    yield "calls", used.get("calls", 0), limits["calls"]
    for what, number in used.items():
        if what.startswith("tool "):
            yield f"calls of {what.removeprefix('tool ')}", number, limits["callsPerTool"]
    yield "bytes sent", used.get("bytesOut", 0), limits["bytesOut"]
    yield "seconds", account["seconds"], limits["seconds"]
    yield "refused calls", used.get("refusals", 0), limits["refusals"]
    for name, most in limits["named"].items():
        yield name, used.get(f"named {name}", 0), most
