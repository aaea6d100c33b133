"""`ironcurtain servers`: which there are, what they offer, and whether you approve of it."""

from __future__ import annotations

import asyncio
import difflib
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from ironcurtain.adoption.secrets import concealer
from ironcurtain.artifacts.first_sight import COMMENT, approve_tools
from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.artifacts.packages import unpinned
from ironcurtain.artifacts.policy import read_bundle
from ironcurtain.artifacts.servers import read_entries, read_servers, write_servers
from ironcurtain.artifacts.state import Approved, approve_server, approved_servers, is_approved
from ironcurtain.cli.client import tell_to_look
from ironcurtain.cli.constitution import offer
from ironcurtain.cli.folding import say
from ironcurtain.cli.loading import surroundings
from ironcurtain.cli.main import DONE
from ironcurtain.cli.show import agreed, console, table
from ironcurtain.errors import Refusal, visible
from ironcurtain.gateway.scan import scan
from ironcurtain.gateway.upstream.server import Server, Terms
from ironcurtain.wire.schema import admit

if TYPE_CHECKING:
    import argparse

    from ironcurtain.artifacts.servers import Credentials, ServerSpec
    from ironcurtain.compiler.annotate.annotator import Understood
    from ironcurtain.model.call import Json


def list_(arguments: argparse.Namespace) -> int:
    """What is configured, and whether it is approved as it stands."""
    home = Home(default_home())
    specs, _ = read_servers(home)
    approved = approved_servers(home.root)
    rows = [
        {
            "name": name,
            "approved": is_approved(approved, name, spec.pin),
            "disabled": spec.disabled,
            "command": spec.shown(),
        }
        for name, spec in specs.items()
    ]
    if arguments.json:
        print(json.dumps(rows))
        return DONE
    out = table("server", "approved", "started as")
    for row in rows:
        state = "off" if row["disabled"] else "yes" if row["approved"] else "NO"
        out.add_row(visible(str(row["name"])), state, visible(str(row["command"])))
    console().print(out if rows else "no servers; run: ironcurtain servers add NAME -- COMMAND, or: ironcurtain adopt")
    return DONE


def add(arguments: argparse.Namespace) -> int:
    """Add a server, and approve how it is started: you have just written it."""
    home = Home(default_home())
    home.require()
    entries = read_entries(home)
    if arguments.name in entries and not arguments.replace:
        raise Refusal("server_exists", f"there is a server {arguments.name!r}", "choose another name, or add --replace")
    if bool(arguments.url) == bool(arguments.command):
        raise Refusal(
            "usage", "a command or --url, one of the two", "ironcurtain servers add NAME -- COMMAND ARGUMENT..."
        )
    if arguments.url:
        entries[arguments.name] = {"type": "http", "url": arguments.url}
    else:
        command, *rest = arguments.command
        entries[arguments.name] = {"command": command, "args": [*rest]}
    write_servers(home, entries)
    spec = read_servers(home)[0][arguments.name]
    approve_server(home.root, arguments.name, Approved(spec.pin), time.time())
    tell_to_look(home)
    say(f"added {arguments.name}: {visible(spec.shown())}")
    _point_out(spec)
    if not arguments.yes and not sys.stdin.isatty():
        print(f"its tools are not known yet; run: ironcurtain servers review {arguments.name}")
        return DONE
    if look_at(home, spec, read_servers(home)[1], yes=arguments.yes, careful=arguments.yes):
        tell_to_look(home)
        code = recompile(home, yes=arguments.yes)
        offer(home)
        return code
    return DONE


def remove(arguments: argparse.Namespace) -> int:
    """Take a server out."""
    home = Home(default_home())
    entries = read_entries(home)
    if arguments.name not in entries:
        raise Refusal("server_unknown", f"there is no server {arguments.name!r}", "run: ironcurtain servers list")
    entries.pop(arguments.name)
    write_servers(home, entries)
    tell_to_look(home)
    print(f"removed {arguments.name}; its tools stay described, and cannot be called")
    return DONE


def test(arguments: argparse.Namespace) -> int:
    """Start a server, list its tools, and end it."""
    home = Home(default_home())
    spec, credentials = _spec(home, arguments.name)
    server = _listed(spec, credentials, home)
    print(f"{arguments.name}: {len(server.tools)} tools")
    for name in sorted(server.tools):
        say(f"  {visible(name)}")
    return DONE


def review(arguments: argparse.Namespace) -> int:
    """Show what is new or changed, and ask."""
    home = Home(default_home())
    home.require()
    specs, credentials = read_servers(home)
    names = [arguments.name] if arguments.name else sorted(specs)
    asked = 0
    for name in names:
        spec, _ = _spec(home, name)
        asked += look_at(home, spec, credentials, yes=arguments.yes, keep=arguments.keep)
    if not asked:
        print("nothing is new, and nothing has changed")
        return DONE
    tell_to_look(home)
    return recompile(home, yes=arguments.yes)


def recompile(home: Home, *, yes: bool) -> int:
    """Compile the constitution for the tools as they are now."""
    from ironcurtain.cli.compile import recompile as compile_again  # noqa: PLC0415 - not for the other verbs

    return compile_again(home, yes=yes)


def look_at(
    home: Home, spec: ServerSpec, credentials: Credentials, *, yes: bool, careful: bool = False, keep: bool = False
) -> int:
    """Show what is new about a server and its tools, and ask. Answers how many questions there were.

    `careful` leaves tools out that look suspicious: somebody has to see them first. `keep`: tools that have changed
    still mean what the policy says of them.
    """
    asked, fine = _how_it_starts(home, spec, yes=yes)
    if not fine:
        return asked
    server = _listed(spec, credentials, home)
    more, fine = _which_version(home, spec, server.version, yes=yes)
    asked += more
    if not fine:
        return asked
    known = _known(home, spec.name)
    new = [definition for name, definition in server.tools.items() if _pin(known.get(name)) != server.pins[name]]
    if not new:
        return asked
    for definition in new:
        _describe(definition, known.get(str(definition["name"])))
    wanted = [definition for definition in new if not (careful and scan(definition))]
    if wanted and agreed(f"approve these {len(wanted)} tools of {spec.name} as they are", yes=yes):
        described = [str(d["name"]) for d in wanted if _is_described(known.get(str(d["name"])))]
        if described and not keep:
            say(f"the policy says what the arguments of these mean: {visible(', '.join(described))}")
            keep = not yes and agreed("do they still mean that", yes=False)
        understood = _understood(spec.name, server, wanted)
        fields = {tool.name: tool.fields() for tool in understood}
        verification = approve_tools(home.policy, spec.name, wanted, surroundings(), keep=keep, understood=fields)
        if not verification.passed:
            raise Refusal(
                "policy_failed", "the policy does not pass its scenarios with these tools", f"see {home.policy}"
            )
        from ironcurtain.cli.annotate import understood_lines  # noqa: PLC0415 - not for the other verbs

        print(f"approved; this is how {spec.name} was understood:")
        for line in (line for tool in understood for line in understood_lines(tool)):
            console().print(line)
    if len(wanted) < len(new):
        print(f"{len(new) - len(wanted)} tools need your eyes first; run: ironcurtain servers review {spec.name}")
    return asked + 1


def _understood(name: str, server: Server, wanted: list[dict[str, Json]]) -> list[Understood]:
    """What the built-in annotator makes of the tools, each in the light of all of its server."""
    from ironcurtain.compiler.annotate.annotator import understand  # noqa: PLC0415 - not for the other verbs

    names = {str(definition["name"]) for definition in wanted}
    usable = [definition for definition in server.tools.values() if _is_usable(definition)]
    return [tool for tool in understand(name, usable) if tool.name in names]


def _is_usable(definition: dict[str, Json]) -> bool:
    try:
        admit(definition)
    except ValueError:
        return False
    return True


def _how_it_starts(home: Home, spec: ServerSpec, *, yes: bool) -> tuple[int, bool]:
    """Ask about a server that is new, or started otherwise: how many questions, and whether to go on."""
    if is_approved(approved_servers(home.root), spec.name, spec.pin):
        return 0, True
    say(f"{visible(spec.name)} is started as: {visible(spec.shown())}")
    for secret in spec.secret_names:
        say(f"  with {visible(secret)} from your credentials")
    _point_out(spec)
    if not agreed("start it", yes=yes):
        return 1, False
    approve_server(home.root, spec.name, Approved(spec.pin), time.time())
    return 1, True


def _point_out(spec: ServerSpec) -> None:
    if package := unpinned(spec.command):
        say(f"  LOOK: {visible(package)} has no exact version: what is started can change without you")


def _which_version(home: Home, spec: ServerSpec, version: str | None, *, yes: bool) -> tuple[int, bool]:
    """Ask about a server that says to be another version than before: how many questions, and whether to go on."""
    before = approved_servers(home.root)[spec.name].version
    if version == before:
        return 0, True
    if before is not None:
        say(f"{visible(spec.name)} was version {visible(before)}, and is {visible(version or 'unknown')} now")
        if not agreed("use it", yes=yes):
            return 1, False
    approve_server(home.root, spec.name, Approved(spec.pin, version), time.time())
    return int(before is not None), True


def _describe(definition: dict[str, Json], before: dict[str, Json] | None) -> None:
    """All of a definition that is new; of one that changed, what changed."""
    say(f"{'CHANGED' if before else 'new'}: {visible(str(definition['name']))}")
    now = json.dumps(definition, indent=1, ensure_ascii=False).split("\n")
    if before is not None:
        old = json.dumps(before["definition"], indent=1, ensure_ascii=False).split("\n")
        now = list(difflib.unified_diff(old, now, lineterm="", n=1))[2:]
    for line in now:
        say(f"    {visible(line)}")
    for finding in scan(definition):
        say(f"    LOOK: {finding.kind}, at {visible(finding.place)}: {visible(finding.excerpt)}")


def _is_described(before: dict[str, Json] | None) -> bool:
    return before is not None and before.get("comment") != COMMENT


def _pin(before: dict[str, Json] | None) -> Json:
    return before["pin"] if before else None


def _listed(spec: ServerSpec, credentials: Credentials, home: Home) -> Server:
    """The server, started and ended, with what it offers."""
    home.run.mkdir(mode=0o700, exist_ok=True)

    async def work() -> Server:
        server = Server(spec, credentials, home.run, lambda _: None, Terms(concealer(credentials.of(spec.name))))
        try:
            ready = await server.ready()
            tools, pins = dict(server.tools), dict(server.pins)
            problem = server.problem or ("" if ready else "it does not answer")
        finally:
            await server.stop()
        if problem:
            said = f"; it said: {visible(server.complaints[-1])}" if server.complaints else ""
            raise Refusal(
                "server_failed", f"{spec.name}: {visible(problem)}{said}", f"it is started as: {spec.shown()}"
            )
        server.tools, server.pins = tools, pins
        return server

    return asyncio.run(work())


def _known(home: Home, server: str) -> dict[str, dict[str, Json]]:
    """What the policy knows of a server's tools."""
    annotations: Any = read_bundle(home.policy).items["tool-annotations.json"].value
    return {tool["toolName"]: tool for tool in annotations["servers"].get(server, {"tools": []})["tools"]}


def _spec(home: Home, name: str) -> tuple[ServerSpec, Credentials]:
    specs, credentials = read_servers(home)
    if name not in specs:
        raise Refusal("server_unknown", f"there is no server {name!r}", "run: ironcurtain servers list")
    return specs[name], credentials
