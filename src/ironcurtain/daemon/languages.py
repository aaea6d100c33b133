"""The languages that programs are written in, where they differ: how one is read, started, called from and put away."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Protocol

from ironcurtain.daemon.plan_asking import EndedError
from ironcurtain.errors import Refusal, quote
from ironcurtain.sandbox import typescript
from ironcurtain.sandbox.process import interpreter_version
from ironcurtain.wire.call import principal_from

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from ironcurtain.model.call import Json, Principal
    from ironcurtain.sandbox.interfaces import Interfaces
    from ironcurtain.sandbox.process import Host
    from ironcurtain.sandbox.store import Run, Step
    from ironcurtain.sandbox.stubs import Function

PYTHON: Final = "python"
TYPESCRIPT: Final = "typescript"
LANGUAGES: Final = (PYTHON, TYPESCRIPT)
MOST_STATE: Final = 16 << 20  # bytes of a program that waits
MOST_CHECKED: Final = 3  # programs in the hands of a compiler at once, each of another agent


class Language(Protocol):
    """How a program of one language is dealt with."""

    @property
    def is_typescript(self) -> bool:
        """Which of the two it is."""

    async def read(self, interfaces: Interfaces) -> Json:
        """What a new program may do, if that is known before it has a process. Raises `EndedError` if it is wrong."""

    def state(self) -> str:
        """Where it stands, if an interpreter can go on from there."""

    def starter(self) -> Callable[[], Awaitable[Host]] | None:
        """What starts its process, if none of those that are ready will do."""

    def names(self, wanted: Sequence[str]) -> list[str]:
        """The modules that it may use; `wanted` is what its process says."""

    def arguments(self, function: Function, step: Step) -> dict[str, Json] | None:
        """What a call gives to a tool; nothing if the program has no such function. Raises `Refusal`."""

    def why_ended(self, code: int | None) -> tuple[str, str] | None:
        """Which limit its process ran into, by what that ended with."""

    def why_not_kept(self) -> str:
        """Why it cannot wait as it was put away; nothing if it can."""


class Compilers:
    """Who may have a compiler look at a program: one of each agent at a time, and so many in all."""

    def __init__(self) -> None:
        self._all = asyncio.Semaphore(MOST_CHECKED)
        self._own: dict[Principal, asyncio.Lock] = {}

    @asynccontextmanager
    async def one_for(self, agent: Principal) -> AsyncIterator[None]:
        """Waits until an agent may have one."""
        async with self._own.setdefault(agent, asyncio.Lock()), self._all:
            yield


class Python:
    """Its interpreter checks it, says what it may do, and can be written down as it stands."""

    is_typescript = False

    def __init__(self, run: Run) -> None:
        self._run = run

    async def read(self, _: Interfaces) -> Json:
        """Its own process does."""
        return None

    def state(self) -> str:
        """Another interpreter may not be able to read it."""
        return self._run.state if self._run.interpreter == interpreter_version() else ""

    def starter(self) -> None:
        """Any that is ready will do."""

    def names(self, wanted: Sequence[str]) -> list[str]:
        """What it imports."""
        return [*wanted]

    def arguments(self, function: Function, step: Step) -> dict[str, Json]:
        """By place or by name."""
        return function.arguments(step.args, step.kwargs)

    def why_ended(self, _: int | None) -> None:
        """Its process says so itself."""

    def why_not_kept(self) -> str:
        """All of it is in its state."""
        if 0 < len(self._run.state) <= MOST_STATE:
            return ""
        self._run.state = ""
        return "the program holds more than can be put away"


class TypeScript:
    """A compiler checks it and another process reads it before; it is repeated where it has waited."""

    is_typescript = True

    def __init__(self, run: Run, directory: Path, compilers: Compilers) -> None:
        self._run = run
        self._directory = directory
        self._compilers = compilers
        self._names = typescript.names_in(run.program)
        """Whatever in it may be a server's name."""

    async def read(self, interfaces: Interfaces) -> Json:
        """An engine does neither: it only runs it."""
        named = [name for name in interfaces.modules(self._names) if name != "tools"]
        async with self._compilers.one_for(principal_from(self._run.principal).root):
            declared = interfaces.declarations(self._names)
            complaints, plan = await asyncio.gather(
                typescript.complaints(self._run.program, declared, self._directory),
                typescript.plan_of(self._run.program, named, self._directory),
            )
        if complaints:
            raise EndedError("types", complaints)
        if plan.get("loads") is not False:  # INVARIANT: what runs is the text that was read
            raise EndedError("types", typescript.NOTHING_TO_IMPORT)
        return plan

    def state(self) -> str:
        """Nothing is kept of it but what it was told."""
        return ""

    def starter(self) -> Callable[[], Awaitable[Host]]:
        """An engine with its limits."""
        return lambda: typescript.start(self._run.limits, self._directory)

    def names(self, _: Sequence[str]) -> list[str]:
        """What its text names; an engine does not know."""
        return self._names

    def arguments(self, _: Function, step: Step) -> dict[str, Json] | None:
        """By name. INVARIANT: a server that its text does not name is not there."""
        return dict(step.kwargs) if step.name.partition(".")[0] in self._names else None

    def why_ended(self, code: int | None) -> tuple[str, str] | None:
        """The engine does not say so itself."""
        return typescript.why_ended(code)

    def why_not_kept(self) -> str:
        """It must be possible to tell it all of it again."""
        return "" if self._run.repeatable and not self._run.state else "the program was told too much to be repeated"


def language_of(run: Run, directory: Path, compilers: Compilers) -> Language:
    """The language of a program. `directory` is the owner's alone."""
    return TypeScript(run, directory, compilers) if run.language == TYPESCRIPT else Python(run)


def version_of(language: str) -> str:
    """What runs programs of a language here. Raises `Refusal` for a language that there is not."""
    if language not in LANGUAGES:
        raise Refusal("code_language", f"there is no language {quote(language)}", "python or typescript")
    return interpreter_version() if language == PYTHON else typescript.engine_version()
