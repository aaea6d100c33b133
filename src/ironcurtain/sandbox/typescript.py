"""TypeScript: V8 in a process of its own, where the package that brings it is installed. No Node is needed.

A program is checked by the compiler before it runs, in another walled process. Where it waits for a person nothing of
it is kept but what it was told: another process does again what it did, and is told the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import shutil
import signal
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.errors import Refusal
from ironcurtain.sandbox.declarations import PRELUDE
from ironcurtain.sandbox.nodes import IMPORT
from ironcurtain.sandbox.process import LIBRARIES, PYTHON, Host, HostError, needed, program_called, wrapped
from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ironcurtain.model.call import Json

ENGINE_MEMORY: Final = 256 << 20  # bytes for the engine and its threads beside what the program may use
_FLAGS: Final = ("--no-prompt", "--no-remote", "--no-npm", "--no-config", "--no-lock", "--quiet")
_NAMES: Final = re.compile(r"(?<![A-Za-z0-9_$])[A-Za-z_$][A-Za-z0-9_$]{0,200}(?![A-Za-z0-9_$])")
_PLACE: Final = re.compile(r"program\.ts:([0-9]{1,9}):([0-9]{1,9})")
_MOST_NAMES: Final = 5_000
_READING: Final = 10.0  # seconds for whoever reads what a program may do
_READING_MEMORY: Final = 512 << 20
_CHECKING: Final = 30.0  # seconds for the compiler
_CHECKING_MEMORY: Final = 2 << 30
_LONGEST: Final = 8_000  # characters of what it says that its author is told
_MOST_SAID: Final = 1 << 20  # bytes after which it is not heard any more
NOTHING_TO_IMPORT: Final = (
    "there is nothing to import or export: servers are there by their names"
    " (a text that may be read in several ways, as with <!-- or --> in it, must not have these words at all)"
)
BOOTSTRAP: Final = Path(__file__).with_name("bootstrap.js")


def engine() -> Path | None:
    """The engine's program."""
    return program_called("deno")


def engine_version() -> str:
    """Which engine is installed; nothing for none."""
    try:
        return f"deno {metadata.version('deno')}"
    except metadata.PackageNotFoundError:
        return ""


def names_in(program: str) -> list[str]:
    """Everything in a program that may be a server's name."""
    return sorted({*_NAMES.findall(program), "tools"})[:_MOST_NAMES]


async def start(limits: Mapping[str, int], directory: Path) -> Host:
    """A process for one program, behind its walls. `directory` is the owner's alone."""
    bounds = {"memory": ENGINE_MEMORY + limits["memory"], "processor": limits["seconds"] + 1}
    host = await Host.of(_command(bounds, [str(BOOTSTRAP)], arguments_of(limits), directory))
    host.seed = secrets.randbits(53)
    return host


def arguments_of(limits: Mapping[str, int], bootstrap: Path = BOOTSTRAP) -> list[str]:
    """How the engine is started: it has no permission, compiles nothing to native code, and evaluates no text."""
    heap = max(16, limits["memory"] >> 20)
    flags = f"--v8-flags=--jitless,--disallow-code-generation-from-strings,--max-old-space-size={heap}"
    return ["run", *_FLAGS, flags, str(bootstrap), strict_json.canonical({**limits}).decode()]


def _command(bounds: dict[str, int], readable: Iterable[str], arguments: list[str], directory: Path) -> list[str]:
    program = engine()
    if program is None:
        how = "run: pip install 'ironcurtain[typescript]'"
        raise Refusal("code_unavailable", "TypeScript needs an engine that is not installed", how)
    given = strict_json.canonical({**bounds}).decode()
    seen = [*needed(directory), str(program), *readable]
    return [
        *wrapped(seen), *PYTHON, "-m", "ironcurtain.sandbox.engine", str(program), given, *readable, *LIBRARIES,
        "/dev/urandom", "--", *arguments,
    ]  # fmt: skip


async def plan_of(program: str, modules: Sequence[str], directory: Path) -> dict[str, Json]:
    """What a program that names these modules may do, by its text. What cannot be read may do anything with them."""
    bounds = strict_json.canonical({"memory": _READING_MEMORY, "processor": int(_READING)}).decode()
    seen = needed(directory)
    host = await Host.of(
        [*wrapped(seen), *PYTHON, "-m", "ironcurtain.sandbox.inside", "ironcurtain.sandbox.reading", bounds, *seen]
    )
    try:
        host.say({"program": program, "modules": [*modules]})
        return await host.hear(_READING)
    except HostError:
        return {"calls": [], "open": [*modules], "loads": bool(IMPORT.search(program))}
    finally:
        await host.end()


async def complaints(program: str, declarations: str, directory: Path) -> str:
    """What the compiler objects to; nothing if it does not. `directory` is the owner's alone."""
    place = Path(tempfile.mkdtemp(prefix="check-", dir=directory))
    try:
        file, settings = place / "program.ts", place / "deno.json"
        file.write_text(f"export default await (async () => {{\n{program}\n}})();\n{PRELUDE}{declarations}", "utf-8")
        settings.write_text('{"compilerOptions": {"lib": ["esnext"], "strict": true}}', "utf-8")
        flags = [flag for flag in _FLAGS if flag not in ("--no-prompt", "--no-config")]
        bounds = {"memory": _CHECKING_MEMORY, "processor": int(_CHECKING)}
        command = _command(bounds, [str(place)], ["check", *flags, "--config", str(settings), str(file)], directory)
        said, code = await _run(command)
    finally:
        await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
    if code == 0:
        return ""
    if code < 0 or "<--- " in said:  # it crashed, and what it says then is about itself
        return "the compiler gave up on it"
    if "file:" in said.replace(file.as_uri(), ""):  # whether there is such a file, or what is in it
        return NOTHING_TO_IMPORT
    cleaned = said.replace(file.as_uri(), "program.ts")[:_LONGEST]
    return (
        _PLACE.sub(lambda found: f"line {int(found[1]) - 1}, column {found[2]}", cleaned).strip()
        or "the compiler gave up on it"
    )


async def _run(command: list[str]) -> tuple[str, int]:
    process = await asyncio.create_subprocess_exec(
        *command, env={}, cwd="/", stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        said = await asyncio.wait_for(_heard(process), _CHECKING)
        code = await asyncio.wait_for(process.wait(), 1) if len(said) < _MOST_SAID else 1
    except TimeoutError:
        return "the compiler did not come to an end", 1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return said.decode("utf-8", "replace"), code


async def _heard(process: asyncio.subprocess.Process) -> bytes:
    """What it says, up to more than anybody wants to read."""
    said = b""
    while process.stdout is not None and len(said) < _MOST_SAID and (more := await process.stdout.read(1 << 16)):
        said += more
    return said


def why_ended(code: int | None) -> tuple[str, str] | None:
    """What is wrong with a program whose process ended by itself: the limit that it ran into, in most cases."""
    found: dict[Any, tuple[str, str]] = {
        1: ("error", "it ended without a result, as when it awaits what never comes"),
        -signal.SIGXCPU: ("time", "it computed longer than it may"),
        -signal.SIGKILL: ("time", "it computed longer than it may"),
        -signal.SIGTRAP: ("memory", "it used more memory than it may"),
        -signal.SIGABRT: ("memory", "it used more memory than it may"),
        -signal.SIGSEGV: ("memory", "it used more memory than it may"),
    }
    return found.get(code)
