"""`ironcurtain keys`: the keys to models, in the owner's own store. No agent sees them: a broker uses them."""

from __future__ import annotations

import getpass
import json
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.artifacts.servers import read_credentials, write_credentials
from ironcurtain.cli.client import tell_to_look
from ironcurtain.cli.main import DONE
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    import argparse

OURS: Final = "ironcurtain"
_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{2,63}")


def set_(arguments: argparse.Namespace) -> int:
    """Keep one. It is read from the terminal without showing it, or from the input."""
    if not _NAME.fullmatch(arguments.name):
        raise Refusal("usage", "a key is called as its provider's variable is", "for example ANTHROPIC_API_KEY")
    value = getpass.getpass(f"{arguments.name}: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not value.strip():
        raise Refusal("usage", "there is no key in it", f"run: ironcurtain keys set {arguments.name} < FILE")
    _change({arguments.name: value.strip()})
    print(f"{arguments.name} is kept for the built-in agent")
    return DONE


def remove(arguments: argparse.Namespace) -> int:
    """Forget one."""
    _change({arguments.name: None})
    print(f"{arguments.name} is forgotten")
    return DONE


def list_(arguments: argparse.Namespace) -> int:
    """Their names."""
    home = Home(default_home())
    home.require()
    names = sorted(read_credentials(home).env.get(OURS, {}))
    print(json.dumps(names) if arguments.json else "\n".join(names) or "no keys are kept")
    return DONE


def _change(changes: dict[str, str | None]) -> None:
    home = Home(default_home())
    home.require()
    kept = read_credentials(home)
    own = dict(kept.env.get(OURS, {}))
    for name, value in changes.items():
        if value is not None:
            own[name] = value
        elif own.pop(name, None) is None:
            raise Refusal("key_unknown", f"no key {name} is kept", "run: ironcurtain keys list")
    write_credentials(home, replace(kept, env={**kept.env, OURS: own}))
    tell_to_look(home)
