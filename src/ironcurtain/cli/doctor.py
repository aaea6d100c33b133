"""`ironcurtain doctor`: everything that can be wrong, each with the command that mends it."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ironcurtain import __version__
from ironcurtain.adoption.program import program
from ironcurtain.artifacts.active import load_active
from ironcurtain.artifacts.config import read_config
from ironcurtain.artifacts.home import Home, constitution_hash, default_home
from ironcurtain.artifacts.packages import unpinned
from ironcurtain.artifacts.servers import read_servers
from ironcurtain.artifacts.state import approved_servers, is_approved
from ironcurtain.audit.checkpoint import Signer, read_checkpoints
from ironcurtain.audit.verify import verify
from ironcurtain.cli.adopt import bypassing
from ironcurtain.cli.client import Client
from ironcurtain.cli.loading import surroundings
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import console
from ironcurtain.errors import ArtifactError, Refusal, visible
from ironcurtain.sandbox.process import bubblewrap, interpreter
from ironcurtain.sandbox.typescript import engine_version
from ironcurtain.sandbox.walls import WALLS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

_LITTLE: Final = 200 * 1024 * 1024  # bytes of free disk; a day of heavy use writes less
_TOO_LITTLE: Final = 10 * 1024 * 1024
_PATIENCE: Final = 60.0  # seconds for the gateway to answer a client
_STYLES: Final = {"ok": "green", "look": "yellow", "bad": "bold red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `mend` is what to type."""

    subject: str
    state: str
    """`ok`, `look` at it, or `bad`."""
    says: str
    mend: str = ""


def run(arguments: argparse.Namespace) -> int:
    """Look at everything; end with 1 if something is bad."""
    home = Home(default_home())
    findings = []
    for finding in _all(home):
        findings.append(finding)
        if not arguments.json:
            _print(finding)
    bad = [finding for finding in findings if finding.state == "bad"]
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings]))
    else:
        looks = sum(finding.state == "look" for finding in findings)
        print(f"{len(findings)} things looked at: {len(bad)} bad, {looks} to look at")
    return NO if bad else DONE


def _print(finding: Finding) -> None:
    out = console()
    out.print(f"{finding.state:<5}", style=_STYLES[finding.state], end="")
    out.print(f"{finding.subject:<13}{visible(finding.says)}")
    if finding.mend:
        out.print(f"{'':18}{visible(finding.mend)}", style="bold")


def _all(home: Home) -> Iterator[Finding]:
    yield Finding("program", "ok", f"ironcurtain {__version__}, Python {sys.version.split()[0]}")
    try:
        home.require()
    except ArtifactError as error:
        yield Finding("home", "bad", str(error), error.help)
        return
    yield Finding("home", "ok", str(home.root))
    checks: tuple[Callable[[Home], Iterator[Finding]], ...] = (
        _policy, _servers, _disk, _audit, _gateway, _code, _daemon, _clients,
    )  # fmt: skip
    for check in checks:
        try:
            yield from check(home)
        except ArtifactError as error:
            yield Finding(check.__name__.lstrip("_"), "bad", str(error), error.help)
        except Refusal as refusal:
            yield Finding(check.__name__.lstrip("_"), "bad", refusal.reason, refusal.help)


def _policy(home: Home) -> Iterator[Finding]:
    active = load_active(surroundings())
    if active.refused:
        yield Finding("policy", "bad", f"{active.refused}; the last good one is in force", active.refused.help)
    else:
        policy = active.loaded.policy
        yield Finding("policy", "ok", f"version {policy.version}, {len(policy.book.rules)} rules, verified")
    if not home.constitution.is_file():
        yield Finding("constitution", "look", "there is none", "ironcurtain init")
    elif active.loaded.constitution not in (None, "", constitution_hash(home.constitution)):
        says = "it was changed since the policy was compiled; the compiled policy is in force"
        yield Finding("constitution", "look", says, f"ironcurtain policy verify {home.policy}")
    else:
        yield Finding("constitution", "ok", str(home.constitution))
    if not os.access(home.sandbox, os.W_OK):
        yield Finding("sandbox", "bad", f"{home.sandbox} cannot be written to", f"mkdir -m 700 {home.sandbox}")


def _code(home: Home) -> Iterator[Finding]:
    """The walls around programs of agents, each tried in a process of its own."""
    offered = home.config.is_file() and read_config(home.config).settings.code.offered
    missing = "bad" if offered else "look"
    if interpreter() is None:
        yield Finding("code", missing, "the interpreter for programs is not installed", "pip install pydantic-monty")
        return
    command = [sys.executable, "-I", "-m", "ironcurtain.sandbox.walls"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)  # noqa: S603 - ourselves
    walls = dict(line.split("\t", 1) for line in tried.stdout.splitlines() if "\t" in line)
    lacking = [name for name in WALLS if walls.get(name, "not tried")]
    for name in lacking:
        says = f"{name}: {walls.get(name, 'it could not be tried')}; programs are not run without it"
        yield Finding("code", missing, says, "a Linux kernel from 5.13 on, on x86-64 or ARM, has it")
    if not lacking:
        found, problem = bubblewrap()
        more = ", and bubblewrap around them" if found else "; bubblewrap, if installed, would be one more"
        more = f"; bubblewrap is there, but cannot be used: {problem}" if problem else more
        yield Finding("code", "ok", f"programs run behind {', '.join(WALLS)}{more}")
        engine = engine_version()
        says = f"TypeScript runs in {engine}" if engine else "TypeScript is not installed; programs are in Python"
        yield Finding("code", "ok", says, "" if engine else "pip install 'ironcurtain[typescript]'")


def _servers(home: Home) -> Iterator[Finding]:
    specs, _ = read_servers(home)
    approved = approved_servers(home.root)
    if not specs:
        yield Finding("servers", "look", "there are none", "ironcurtain adopt")
    for name, spec in specs.items():
        if spec.disabled:
            yield Finding("server", "ok", f"{name}: off")
        elif not is_approved(approved, name, spec.pin):
            says = f"{name}: you have not approved how it is started: {spec.shown()}"
            yield Finding("server", "bad", says, f"ironcurtain servers review {name}")
        elif spec.command and shutil.which(spec.command[0]) is None:
            says = f"{name}: there is no program {spec.command[0]}"
            yield Finding("server", "bad", says, f"install it, or: ironcurtain servers remove {name}")
        elif package := unpinned(spec.command):
            says = f"{name}: {package} has no exact version; what is started can change without you"
            yield Finding("server", "look", says, "write the version behind its name in servers.json")
        else:
            yield Finding("server", "ok", f"{name}: {spec.shown()}")


def _disk(home: Home) -> Iterator[Finding]:
    free = shutil.disk_usage(home.root).free
    state = "bad" if free < _TOO_LITTLE else "look" if free < _LITTLE else "ok"
    mend = "" if state == "ok" else "make room: when a call cannot be recorded it is not made"
    yield Finding("disk", state, f"{free // 2**20} MiB free", mend)


def _audit(home: Home) -> Iterator[Finding]:
    if not home.audit.is_dir() or not home.key.exists():
        yield Finding("audit", "ok", "nothing was recorded yet")
        return
    signed, complaints = read_checkpoints(home.checkpoints, Signer.of(home.key).public)
    report = verify(home.audit, signed)
    problem = report.problem or (complaints[0] if complaints else None)
    if problem:
        yield Finding("audit", "bad", str(problem), "ironcurtain audit verify, then: ironcurtain audit set-aside")
    else:
        yield Finding("audit", "ok", f"{report.records} records, unbroken")


def _gateway(home: Home) -> Iterator[Finding]:
    """Be a client: start the relay as one would, and ask for the tools."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    ]
    began = time.monotonic()
    with subprocess.Popen(  # noqa: S603 - our own program
        [*program(), "gateway", "--agent", "doctor"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "IRONCURTAIN_HOME": str(home.root)},
    ) as relay:
        try:
            said, _ = relay.communicate("".join(json.dumps(line) + "\n" for line in lines).encode(), _PATIENCE)
        except subprocess.TimeoutExpired:
            relay.kill()
            said = b""
    answers: list[dict[str, Any]] = [json.loads(line) for line in said.splitlines()]
    tools = next(
        (answer["result"]["tools"] for answer in answers if answer.get("id") == 2 and "result" in answer), None
    )
    took = (time.monotonic() - began) * 1000
    if tools is None:
        error = next((answer["error"]["message"] for answer in answers if "error" in answer), "it says nothing")
        yield Finding("gateway", "bad", f"a client gets no tools: {error}", f"see {home.log}")
    else:
        yield Finding("gateway", "ok", f"a client gets {len(tools)} tools, {took:.0f} ms after starting it")


def _daemon(home: Home) -> Iterator[Finding]:
    with Client(home) as client:
        state = client.ask("status")
    if stat.S_IMODE(home.socket.lstat().st_mode) & 0o077:
        yield Finding("daemon", "bad", "others can reach its socket", "ironcurtain daemon restart")
    if state["version"] != __version__:
        yield Finding("daemon", "bad", f"it is version {state['version']}", "ironcurtain daemon restart")
    elif state["halted"]:
        mend = "make room or mend what it names, then: ironcurtain daemon restart"
        yield Finding("daemon", "bad", f"it refuses everything: {state['halted']}", mend)
    else:
        yield Finding("daemon", "ok", f"process {state['pid']}, {state['waiting']} calls wait for you")
    for server in state["servers"]:
        if server["problem"]:
            says = f"{server['name']}: {server['problem']}"
            yield Finding("server", "bad", says, f"ironcurtain servers test {server['name']}")
    for name in state["drifted"]:
        says = f"{name} is no longer what you approved"
        yield Finding("tool", "bad", says, f"ironcurtain servers review {name.split('/')[0]}")


def _clients(_: Home) -> Iterator[Finding]:
    found = bypassing([str(Path.cwd())])
    for item in found:
        says = f"{item.place.client.shown} starts {item.name} itself ({item.place.path})"
        if item.why_not:
            yield Finding("client", "look", f"{says}, and it cannot be moved: {item.why_not}", "take it out by hand")
        else:
            yield Finding("client", "look", f"{says}: its calls are not guarded", "ironcurtain adopt")
    if not found:
        yield Finding("clients", "ok", "no client that we know starts a server itself")
