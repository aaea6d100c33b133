"""`ironcurtain init`: a home with everything in it, ready to be used."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ironcurtain.adoption.program import program
from ironcurtain.artifacts.files import write_artifact
from ironcurtain.artifacts.home import Home, constitution_hash, default_home
from ironcurtain.artifacts.policy import POLICY
from ironcurtain.artifacts.servers import read_servers, write_servers
from ironcurtain.artifacts.shipped import fitted, shipped_bundle, shipped_constitution
from ironcurtain.artifacts.state import Approved, approve_server
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.cli.loading import surroundings
from ironcurtain.cli.main import BAD, DONE
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    import argparse

    from ironcurtain.model.call import Json


def run(arguments: argparse.Namespace) -> int:
    """Make what is missing; change nothing that is there."""
    home = Home(default_home())
    if not arguments.yes and not _agreed(home):
        print("nothing was changed")
        return BAD
    for line in furnish(home) or ["everything was there already"]:
        print(line)
    print(f"next: ironcurtain adopt, or put this into your client's MCP configuration:\n{_entry()}")
    return DONE


def furnish(home: Home) -> list[str]:
    """Make what is missing, and say what was made."""
    home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.require()
    for directory in (home.policy, home.sandbox, home.audit, home.run):
        directory.mkdir(mode=0o700, exist_ok=True)
    return [*_constitution(home), *_policy(home), *_servers(home)]


def server_entry(home: Home) -> dict[str, Json]:
    """How the built-in filesystem server is started."""
    return {
        "command": sys.executable,
        "args": ["-I", "-m", "ironcurtain.servers.filesystem", str(home.sandbox), str(Path.home())],
    }


def _constitution(home: Home) -> list[str]:
    if home.constitution.exists():
        return []
    write_artifact(home.constitution, shipped_constitution().read_bytes())
    return [f"constitution  {home.constitution}"]


def _policy(home: Home) -> list[str]:
    if (home.policy / POLICY).exists():
        return []
    bundle = fitted(shipped_bundle(), Path.home(), home.sandbox)
    for name, item in bundle.items.items():
        value = item.value
        if name == POLICY and isinstance(value, dict):
            value = {**value, "constitutionHash": constitution_hash(shipped_constitution())}
        write_artifact(home.policy / name, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())
    verification = verify_directory(home.policy, surroundings())
    if not verification.passed:
        failed = next(result.scenario.description for result in verification.results if not result.passed)
        raise Refusal("policy_failed", f"the default policy does not hold here: {failed}", f"see {home.policy}")
    return [
        f"policy        {home.policy} ({len(verification.results)} scenarios pass)",
        f"sandbox       {home.sandbox}",
    ]


def _servers(home: Home) -> list[str]:
    if home.servers.exists():
        return []
    write_servers(home, {"filesystem": server_entry(home)})
    specs, _ = read_servers(home)
    for name, spec in specs.items():
        approve_server(home.root, name, Approved(spec.pin), time.time())
    return [f"servers       {home.servers} (filesystem, built in)"]


def _entry() -> str:
    command, *before = program()
    entry = {"mcpServers": {"ironcurtain": {"command": command, "args": [*before, "gateway", "--agent", "NAME"]}}}
    return json.dumps(entry, indent=2)


def _agreed(home: Home) -> bool:
    if not sys.stdin.isatty():
        raise Refusal("usage", "nobody is there to ask", "run: ironcurtain init --yes")
    return input(f"make a home for IronCurtain in {home.root}? [Y/n] ").strip().lower() in ("", "y", "yes")
