"""`ironcurtain daemon`: the one trusted process of a home."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.cli.client import Client
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import console, table
from ironcurtain.daemon.lock import held_by
from ironcurtain.errors import Refusal, visible
from ironcurtain.gateway import relay

if TYPE_CHECKING:
    import argparse

_PATIENCE: Final = 20.0  # seconds for it to come up or go down


def run(_: argparse.Namespace) -> int:
    """Be the daemon."""
    from ironcurtain.daemon.serve import main  # noqa: PLC0415 - slow to import, and for this alone

    return main(default_home())


def start(_: argparse.Namespace) -> int:
    """Start it, unless it runs."""
    home = Home(default_home())
    print(f"the daemon of {home.root} runs: process {reach(home)}")
    return DONE


def reach(home: Home) -> int:
    """The process id of the daemon, which is started if nobody serves the home."""
    home.require()
    already = _running(home)
    return already if already is not None else _wait_for(home, relay.start(str(home.root)))


def stop(_: argparse.Namespace) -> int:
    """Stop it."""
    home = Home(default_home())
    pid = _running(home)
    if pid is None:
        holder = held_by(home.lock)
        if holder is not None:
            raise Refusal("daemon_stuck", f"process {holder} serves {home.root} and does not answer", f"kill {holder}")
        print(f"no daemon serves {home.root}")
        return DONE
    with Client(home) as client:
        client.ask("stop")
    deadline = time.monotonic() + _PATIENCE
    while held_by(home.lock) is not None:  # it lets go of the home last, when all is written
        if time.monotonic() > deadline:
            raise Refusal("daemon_stuck", f"process {pid} does not stop", f"end it with: kill {pid}")
        time.sleep(0.02)
    print(f"stopped process {pid}")
    return DONE


def restart(arguments: argparse.Namespace) -> int:
    """Stop and start it."""
    stop(arguments)
    return start(arguments)


def status(arguments: argparse.Namespace) -> int:
    """How everything is."""
    home = Home(default_home())
    if _running(home) is None:
        holder = held_by(home.lock)
        says = f"process {holder} serves {home.root} and does not answer" if holder else f"no daemon serves {home.root}"
        print(json.dumps({"running": False, "holder": holder}) if arguments.json else says)
        return NO
    with Client(home) as client:
        state = client.ask("status")
    if arguments.json:
        print(json.dumps({"running": True, **state}))
        return NO if state["halted"] else DONE
    out = console()
    out.print(f"daemon {state['version']}, process {state['pid']}, home {visible(state['home'])}")
    out.print(
        f"policy version {state['policy']['version']}, {state['records']} records, {state['waiting']} calls waiting"
    )
    if state["halted"]:
        out.print(f"HALTED: {visible(state['halted'])}", style="bold red")
    for subject, note in state["notes"].items():
        out.print(f"{subject}: {visible(note)}", style="yellow")
    for name in state["drifted"]:
        out.print(f"changed since it was approved: {visible(name)}; run: ironcurtain servers review", style="yellow")
    rows = table("server", "state", "tools", "problem")
    for server in state["servers"]:
        rows.add_row(visible(server["name"]), server["state"], str(server["tools"]), visible(server["problem"]))
    if state["servers"]:
        out.print(rows)
    return NO if state["halted"] else DONE


def _running(home: Home) -> int | None:
    """The daemon's process id, if it answers."""
    try:
        with Client(home, timeout=5) as client:
            return int(client.ask("status")["pid"])
    except (Refusal, OSError, ValueError):
        return None


def _wait_for(home: Home, child: int) -> int:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if (pid := _running(home)) is not None:
            return pid
        if relay.has_ended(child) and _running(home) is None:
            break
        time.sleep(0.05)
    raise Refusal("daemon_absent", f"the daemon did not start: {relay.last_words(str(home.root))}", f"see {home.log}")
