"""Hosts, as the daemon sees them: processes that each run one program, and one more that is ready for the next.

INVARIANT: a host runs one program of one principal. It is never used again.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.errors import Refusal
from ironcurtain.wire import strict_json
from ironcurtain.wire.limits import ANSWER, MESSAGE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

    from ironcurtain.model.call import Json

MOST_HOSTS: Final = 8  # in use at once; each is two processes
MOST_OF_ONE: Final = MOST_HOSTS - 1  # of one owner
LARGEST_CALL: Final = MESSAGE.size + (1 << 20)  # bytes of one message but for those that hold a whole program
LARGEST: Final = ANSWER.size  # bytes of one message: a call, a result, a program that waits
_SPOKEN: Final = replace(ANSWER, values=MESSAGE.values)
LONG: Final = 1 << 16  # bytes that take so long to read that others have their turn meanwhile
PYTHON: Final = (sys.executable, "-I", "-X", "utf8")
LIBRARIES: Final = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
PROCESSOR_SECONDS: Final = 3_600  # that the kernel lets a host have, whatever else it is allowed
_WORKER: Final = "sandbox-worker"
_MOMENT: Final = 1.0
_UNREAD: Final = 16 << 20  # bytes that a host may leave unread
_STARTING: Final = 20.0  # seconds for a host to be ready, on a machine that has much to do


class HostError(Exception):
    """A host that ended, or said something it should not."""


class SlowHostError(HostError):
    """A host that did not answer in time."""


def program_called(name: str) -> Path | None:
    """A program that a package of ours brings, where that puts it."""
    for directory in (sysconfig.get_path("scripts"), Path(sys.executable).parent):
        found = Path(directory) / name
        if found.is_file():
            return found
    return None


def interpreter() -> Path | None:
    """The interpreter of Python programs."""
    return program_called("monty")


def interpreter_version() -> str:
    """Which interpreter writes down where a program stands; another may not be able to read it."""
    from importlib import metadata  # noqa: PLC0415 - slow, and needed once

    try:
        return metadata.version("pydantic-monty")
    except metadata.PackageNotFoundError:
        return ""


class Host:
    """One process for one program."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.seed = 0
        """What its random numbers begin with."""

    @classmethod
    async def start(cls, directory: Path, limits: dict[str, int]) -> Host:
        """Start one, behind its walls. `directory` is the owner's alone."""
        seed = secrets.randbits(62)
        host = await cls.of(command_of(directory, {**limits, "seed": seed}))
        host.seed = seed
        return host

    @classmethod
    async def of(cls, command: Sequence[str]) -> Host:
        """Start one with this command: nothing of ours is in its environment, and none of our descriptors."""
        process = await asyncio.create_subprocess_exec(
            *command, env={}, cwd="/", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=LARGEST, start_new_session=True,
        )  # fmt: skip
        host = cls(process)
        try:
            message = await host.hear(_STARTING)
            if "ready" not in message:
                raise HostError(str(message.get("unready")))  # noqa: TRY301 - like the others
        except HostError as error:
            await host.end()
            raise Refusal("code_unavailable", f"no sandbox: {error}", "run: ironcurtain doctor") from None
        except BaseException:
            await host.end()
            raise
        return host

    def say(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self.send(strict_json.canonical(message) + b"\n")

    def send(self, line: bytes) -> None:
        """Send a line."""
        if self._process.stdin is None or self._process.stdin.is_closing():
            return
        self._process.stdin.write(line)
        if self._process.stdin.transport.get_write_buffer_size() > LARGEST + _UNREAD:  # it does not listen
            self._process.kill()

    async def hear(self, seconds: float, most: int = LARGEST_CALL) -> dict[str, Any]:
        """Its next message. Raises `HostError` if it ends, takes longer, says too much, or what is not understood."""
        line = await self.line(seconds, most)
        try:
            beside = len(line) > LONG
            message = await asyncio.to_thread(_read, line) if beside else _read(line)
        except Refusal as error:
            raise HostError(f"what it says is not understood: {error}") from None
        if not isinstance(message, dict):
            raise HostError("what it says is not understood")
        return message

    async def line(self, seconds: float | None, most: int = LARGEST_CALL) -> bytes:
        """Its next line, unread."""
        if self._process.stdout is None:
            raise HostError("it has no output")
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), seconds)
        except TimeoutError:
            raise SlowHostError("it did not answer in time") from None
        except ValueError as error:
            raise HostError(f"what it says is not understood: {error}") from None
        if len(line) > most:
            raise HostError(f"it said more than {most} bytes at once")
        if not line.endswith(b"\n"):
            raise HostError(await self._last_words())
        return line

    @property
    def code(self) -> int | None:
        """What it ended with."""
        return self._process.returncode

    async def _last_words(self) -> str:
        with contextlib.suppress(TimeoutError):  # whatever ended it is known in a moment
            await asyncio.wait_for(self._process.wait(), _MOMENT)
        await self.end()
        return f"it ended ({self._process.returncode})"

    async def end(self) -> None:
        """End it and whatever it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


def _read(line: bytes) -> Json:
    return strict_json.loads(line, _SPOKEN)


class Hosts:
    """Starts hosts, and keeps one ready. INVARIANT: so many are in use at most, and never all of them by one owner."""

    def __init__(self, directory: Path, limits: dict[str, int]) -> None:
        self._settings = directory, limits
        self._spare: asyncio.Task[Host] | None = None
        self._free = asyncio.Semaphore(MOST_HOSTS)
        self._own: defaultdict[Hashable, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(MOST_OF_ONE))

    def prepare(self) -> asyncio.Task[Host]:
        """Have one ready for whoever comes next."""
        if self._spare is None:
            self._spare = asyncio.create_task(Host.start(*self._settings))
        return self._spare

    async def take(self, owner: Hashable, start: Callable[[], Awaitable[Host]] | None = None) -> Host:
        """One that nobody has used, or what `start` makes; `give_back` ends it. Waits for one to be free."""
        await self._own[owner].acquire()
        try:
            await self._free.acquire()
        except BaseException:
            self._own[owner].release()
            raise
        try:
            if start is not None:
                return await start()
            while True:
                spare = self.prepare()
                await asyncio.wait([spare])  # who is cancelled here leaves it to the next
                if self._spare is spare:
                    self._spare = None
                    self.prepare()
                    return spare.result()
        except BaseException:
            self._release(owner)
            raise

    async def give_back(self, owner: Hashable, host: Host) -> None:
        """End it, and let another be used."""
        try:
            await host.end()
        finally:
            self._release(owner)

    def _release(self, owner: Hashable) -> None:
        self._free.release()
        self._own[owner].release()

    async def close(self) -> None:
        """End the one that is ready."""
        spare, self._spare = self._spare, None
        if spare is not None:
            with contextlib.suppress(Refusal, OSError):
                await (await spare).end()


def command_of(directory: Path, limits: dict[str, int]) -> list[str]:
    """The command that starts a host."""
    program = interpreter()
    if program is None:
        raise Refusal("code_unavailable", "the interpreter is not installed", "run: pip install pydantic-monty")
    return [
        *wrapped(needed(directory)), *PYTHON, "-m", "ironcurtain.sandbox.host", str(worker(directory, program)),
        strict_json.canonical({"processor": PROCESSOR_SECONDS, **limits}).decode(), *needed(directory), str(program),
    ]  # fmt: skip


def worker(directory: Path, program: Path) -> Path:
    """The program that a host starts in place of the interpreter: it walls itself in and becomes it."""
    words = [*PYTHON, "-m", "ironcurtain.sandbox.launch", str(program), *LIBRARIES, "--"]
    text = f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'
    path = directory / _WORKER
    if not path.is_file() or path.read_text("utf-8") != text:
        fresh = directory / f"{_WORKER}.{os.getpid()}"
        fresh.write_text(text, "utf-8")
        fresh.chmod(0o700)
        fresh.rename(path)
    return path


def needed(directory: Path) -> list[str]:
    """What our own Python reads when it starts, what any program links with, and what starts the interpreter."""
    ours = Path(__file__).resolve().parents[2]
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, str(ours)}
    return [*sorted(prefixes), *LIBRARIES, "/bin", "/usr/bin", str(directory / _WORKER)]


@functools.cache
def bubblewrap() -> tuple[str, str]:
    """Where bubblewrap is, and why it cannot be used here; nothing for either."""
    found = shutil.which("bwrap") or ""
    if not found:
        return "", ""
    command = [found, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--", "/bin/sh", "-c", ":"]
    tried = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603 - to try it
    return found, "" if tried.returncode == 0 else tried.stderr.strip() or f"it ends with {tried.returncode}"


def wrapped(readable: Sequence[str]) -> list[str]:
    """Another wall around all of it, where the system has one: no view of other processes, mounts or names."""
    found, problem = bubblewrap()
    if not found or problem:
        return []
    seen = [each for path in readable for each in ("--ro-bind-try", path, path)]
    return [
        found, "--unshare-all", "--die-with-parent", "--clearenv", "--cap-drop", "ALL", "--proc", "/proc",
        "--dev", "/dev", *seen, "--",
    ]  # fmt: skip
