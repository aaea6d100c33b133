"""Finds and loads the policy that a command line asks for."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from ironcurtain.artifacts.config import read_config
from ironcurtain.artifacts.home import Home, constitution_hash, default_home
from ironcurtain.artifacts.policy import Loaded, Surroundings, load_policy
from ironcurtain.cli.folding import say
from ironcurtain.engine.access import Access
from ironcurtain.errors import Refusal, visible

if TYPE_CHECKING:
    import argparse


def surroundings(config: str | None = None) -> Surroundings:
    """What is known of this machine, with the access layers in force."""
    home = default_home()
    file = Path(config) if config else home / "config.toml"
    if config or file.is_file() or file.is_symlink():
        return Surroundings(home, time.time(), read_config(file).access, file)
    return Surroundings(home, time.time(), Access())


def load(arguments: argparse.Namespace) -> Loaded:
    """The policy that `--policy`, `--sandbox` and `--config` name."""
    around = surroundings(arguments.config)
    if arguments.policy is None:
        from ironcurtain.artifacts.shipped import load_shipped  # noqa: PLC0415 - only if it is asked for

        sandbox = Path(arguments.sandbox).absolute() if arguments.sandbox else around.home / "sandbox"
        return load_shipped(Path.home(), sandbox, around)
    if arguments.sandbox is not None:
        raise Refusal("usage", "--sandbox is for the default policy", "set setup.sandbox in the policy instead")
    from ironcurtain.artifacts.active import active_directory, load_active  # noqa: PLC0415 - needs sqlite3

    directory = Path(arguments.policy)
    if not _is_same(directory, active_directory(around.home)):
        return load_policy(directory, around)
    active = load_active(around)
    if active.refused:
        say(f"ironcurtain: {active.refused}", error=True)
        say(f"  help: {visible(active.refused.help)}", error=True)
        say(f"  version {active.loaded.policy.version}, the last good one, stays in force", error=True)
    return active.loaded


def sentences_behind(constitution: str | None, digest: str | None) -> list[str] | None:
    """The sentences that a policy was compiled from, if the text is at hand; one that is named must be it."""
    from ironcurtain.compiler.at_home import constitution_text  # noqa: PLC0415 - only for those who ask
    from ironcurtain.compiler.document import sentences_of  # noqa: PLC0415
    from ironcurtain.compiler.drafts import HARMLESS  # noqa: PLC0415

    file = Path(constitution) if constitution else Home(default_home()).constitution
    if digest and constitution_hash(file) == digest:
        return [*(sentence.text for sentence in sentences_of(constitution_text(file))), HARMLESS]
    if constitution:
        raise Refusal("constitution_other", f"the policy was not compiled from {file}", "leave --constitution out")
    return None


def _is_same(directory: Path, active: Path) -> bool:
    """Whether a directory is the home's own, by whatever name; one that cannot be looked at is refused later."""
    try:
        return directory.absolute() == active or directory.samefile(active)
    except (OSError, ValueError):
        return False
