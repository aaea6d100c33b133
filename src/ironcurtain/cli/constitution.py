"""`ironcurtain constitution`: show it, edit it, or start from one made for the servers that are there."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.artifacts.files import write_artifact
from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.artifacts.policy import ANNOTATIONS, read_bundle
from ironcurtain.artifacts.shipped import shipped_constitution
from ironcurtain.cli.agreeing import words_for
from ironcurtain.cli.compile import run as compile_run
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import agreed
from ironcurtain.compiler.at_home import known_at_home
from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.starter import starter
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.setup import Known

_USUAL: Final = ("nano", "vim", "vi")
COMPILE: Final = Namespace(
    constitution=None, out=None, catalogue=None, setup=None, annotations=None, readings=None, model=None, by_hand=False,
    answer=[], once=False, tests=False, check=None, skip=[], yes=False, json=False,
)  # fmt: skip
"""`ironcurtain compile` without options."""


def show(_: Namespace) -> int:
    """Print the constitution of the home."""
    home = Home(default_home())
    home.require()
    sys.stdout.write(home.constitution.read_text(encoding="utf-8"))
    return DONE


def edit(arguments: Namespace) -> int:
    """Open the constitution in the owner's editor, and compile it when it was saved; show what changed."""
    home = Home(default_home())
    home.require()
    before = home.constitution.read_bytes()
    words = home.root / "words.txt"
    tools, known = at_home(home)
    write_artifact(words, ("\n".join(words_for(tools, known)) + "\n").encode())
    print(f"every word that a statement may have here: {words} (in vim: Ctrl-X Ctrl-K completes from it)")
    while True:
        _open(home.constitution, words)
        if home.constitution.read_bytes() == before:
            print("nothing was changed")
            return DONE
        code = compile_run(Namespace(**{**vars(COMPILE), "model": arguments.model}))
        if code == DONE or not sys.stdin.isatty() or not agreed("edit again", yes=False):
            return code


def _open(file: Path, words: Path) -> None:
    """Start the editor that the owner named, or one that is usual; vim completes from the list of words."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    command = shlex.split(named) or [next((name for name in _USUAL if _is_there(name)), "vi")]
    if Path(command[0]).name in ("vim", "nvim"):
        command += ["-c", f"set dictionary+={words} complete+=k"]
    try:
        done = subprocess.run([*command, str(file)], check=False)  # noqa: S603 - the owner's own editor
    except OSError as error:
        raise Refusal("editor_missing", f"{command[0]}: {error.strerror}", "set EDITOR to the editor you use") from None
    if done.returncode != 0:
        raise Refusal("editor_failed", f"{command[0]} ended with {done.returncode}", "nothing was compiled")


def _is_there(name: str) -> bool:
    return any((Path(place) / name).exists() for place in os.environ.get("PATH", "").split(os.pathsep))


def begin(arguments: Namespace) -> int:
    """Print a starter constitution for the servers of the home, or put it in the place of the one that is there."""
    home = Home(default_home())
    home.require()
    text = starter(*at_home(home), Path.home())
    if not arguments.write:
        sys.stdout.write(text)
        return DONE
    if not is_untouched(home) and not agreed(f"replace what is in {home.constitution}", yes=arguments.yes):
        return NO
    write_artifact(home.constitution, text.encode())
    print(f"written to {home.constitution}")
    return compile_run(Namespace(**{**vars(COMPILE), "yes": arguments.yes}))


def is_untouched(home: Home) -> bool:
    """Whether the constitution of a home is still the one that came with the program."""
    return home.constitution.read_bytes() == shipped_constitution().read_bytes()


def at_home(home: Home) -> tuple[tuple[Tool, ...], Known]:
    """Return the tools that are approved, and what the set-up knows."""
    bundle = read_bundle(home.policy)
    annotations: Any = bundle.items[ANNOTATIONS].value
    tools = catalogue_of({server: entry["tools"] for server, entry in annotations["servers"].items()})
    return tools, known_at_home(home, bundle)


def offer(home: Home) -> None:
    """After servers came in: offer a starter constitution to an owner who has not written one."""
    if not is_untouched(home):
        return
    if not sys.stdin.isatty():
        print("to start from a constitution made for these servers: ironcurtain constitution starter --write")
        return
    text = starter(*at_home(home), Path.home())
    print("\nA constitution to start from, made for your servers:\n")
    print(text)
    if agreed("use it (you can edit it later: ironcurtain constitution edit)", yes=False):
        write_artifact(home.constitution, text.encode())
        compile_run(COMPILE)
