"""`ironcurtain adopt`: puts the gateway between the clients you have and the servers they use."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ironcurtain.adoption.moves import Unreadable, adoptions, look, masked, perform, plan, undo
from ironcurtain.adoption.program import program
from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.artifacts.servers import read_servers
from ironcurtain.cli.client import tell_to_look
from ironcurtain.cli.constitution import offer
from ironcurtain.cli.folding import say
from ironcurtain.cli.init import furnish
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.servers import look_at, recompile
from ironcurtain.cli.show import agreed, console, table
from ironcurtain.errors import Refusal, visible

if TYPE_CHECKING:
    import argparse

    from ironcurtain.adoption.moves import Found, Plan


def run(arguments: argparse.Namespace) -> int:
    """Find servers, show them, move them."""
    home = Home(default_home())
    if arguments.undo:
        return _undo(home, yes=arguments.yes)
    made = _planned(home, arguments.project)
    _show(made)
    if not made.moved:
        print("nothing to move" if not (made.stays or made.unreadable) else "nothing else to move")
        return DONE
    if arguments.dry_run:
        for change in made.changes:
            _print_diff(str(change.path), change.before.decode(), change.after.decode(), made.secrets)
        print("nothing was changed; without --dry-run it is done")
        return DONE
    what = f"move {len(made.moved)} servers behind the gateway, one entry in each of {len(made.changes)} files instead"
    if not agreed(what, yes=arguments.yes):
        print("nothing was changed")
        return NO
    for line in furnish(home):
        print(line)
    # A project's file may have come with the project: it is no word of the owner's. Its servers are asked about alone.
    perform(made, home, {name for item, name in made.moved if item.place.project is None})
    tell_to_look(home)
    failed = _review_tools(home, made, yes=arguments.yes)
    recompile(home, yes=arguments.yes)
    print(f"moved {len(made.moved)} servers; restart your clients to use them through IronCurtain")
    print("the files as they were are kept; to go back: ironcurtain adopt --undo")
    offer(home)
    return NO if failed else DONE


def _planned(home: Home, projects: list[str]) -> Plan:
    directories = tuple(dict.fromkeys(Path(project).absolute() for project in projects or [str(Path.cwd())]))
    return plan(list(look(Path.home(), directories, os.environ, program(), home.root)), home, program())


def _show(made: Plan) -> None:
    rows = table("client", "file", "server", "", "started as")
    for item, name in made.moved:
        called = "moves" if name == item.name else f"moves as {name}"
        rows.add_row(*_place(item), called, masked(_started(item), made.secrets))
    for item in made.stays:
        rows.add_row(*_place(item), "stays", visible(item.why_not))
    for file in made.unreadable:
        rows.add_row(file.place.client.shown, visible(_short(file.place.path)), "", "stays", visible(file.why))
    if rows.row_count:
        console().print(rows)
    for item, name in made.moved:
        for secret in (item.converted and {**item.converted.env, **item.converted.headers}) or ():
            say(f"{visible(secret)} of {visible(name)} goes into your credentials, and to nobody but {visible(name)}")


def _place(item: Found) -> tuple[str, str, str]:
    return item.place.client.shown, visible(_short(item.place.path)), visible(item.name)


def _started(item: Found) -> str:
    """All of it: a variable or a directory can make something else of a harmless command."""
    entry = item.converted.entry if item.converted else {}
    words = [f"{name}={value}" for name, value in entry.get("env", {}).items()]
    words += [entry["url"]] if "url" in entry else [str(entry.get("command")), *map(str, entry.get("args", []))]
    words += [f"(in {_short(Path(entry['cwd']))})"] if "cwd" in entry else []
    return visible(" ".join(words))


def _short(path: Path) -> str:
    return str(path).replace(str(Path.home()), "~", 1)


def _review_tools(home: Home, made: Plan, *, yes: bool) -> int:
    """Look at what the servers offer. One that does not start now can be looked at later."""
    specs, credentials = read_servers(home)
    failed = 0
    for name in dict.fromkeys(name for _, name in made.moved):
        if specs[name].disabled:
            continue
        project = next(item.place.project for item, moved in made.moved if moved == name)
        if project is not None and yes:
            say(f"{visible(name)} comes from a project's file; before it starts, run: ironcurtain servers review")
            continue
        try:
            look_at(home, specs[name], credentials, yes=yes, careful=yes)
        except Refusal as refusal:
            failed += 1
            say(f"{visible(refusal.reason)}\n  moved all the same; see to it and run: ironcurtain servers review")
    tell_to_look(home)
    return failed


def _print_diff(name: str, before: str, after: str, secrets: set[str]) -> None:
    lines = difflib.unified_diff(
        masked(before, secrets).splitlines(), masked(after, secrets).splitlines(), name, name, lineterm=""
    )
    out = console()
    for line in lines:
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        out.print(visible(line.replace("\t", "    ")), style=style)


def _undo(home: Home, *, yes: bool) -> int:
    if not adoptions(home):
        print("nothing was adopted")
        return DONE
    if not agreed("put the clients' files back as they were", yes=yes):
        print("nothing was changed")
        return NO
    kept = 0
    for file in undo(home):
        kept += file.how == "kept"
        say(f"{file.how:<10}{visible(str(file.path))}{f': {file.why}' if file.why else ''}")
    tell_to_look(home)
    print("restart your clients; their servers are no longer guarded")
    return NO if kept else DONE


def bypassing(projects: list[str]) -> list[Found]:
    """Servers that clients still start themselves."""
    directories = tuple(Path(project).absolute() for project in projects)
    found = look(Path.home(), directories, os.environ, program(), default_home())
    return [item for item in found if not isinstance(item, Unreadable)]
