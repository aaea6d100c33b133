"""What surrounds one call: how to withdraw it, how to tell its client that it goes on, how to ask its client."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ironcurtain.model.call import Json, Principal

Tell: TypeAlias = "Callable[[dict[str, Json]], None]"
AskClient: TypeAlias = "Callable[[str, dict[str, Json]], Awaitable[dict[str, Json] | None]]"
"""A method and its parameters; the client's result, or nothing if it cannot or will not answer."""


AGENTS: Final = "agents"
"""The server that starts agents for agents."""


@dataclass(frozen=True, slots=True)
class Oversight:
    """Whoever an agent works for while its calls are made. It can hold them, pay for them and narrow them; no more."""

    tell: Callable[[str, dict[str, Json]], None]
    """Of each record, and what it says."""
    go_on: Callable[[], Awaitable[bool]]
    """Waits until the next call may be made, and says whether it may."""
    payers: tuple[tuple[Principal, str | None], ...]
    """Whose budgets pay besides, for a task or in all: its own task first."""
    only: frozenset[tuple[str, str]] | None = None
    """The tools that were given to it, if not all."""
    helpers: bool = False
    """It may have other agents work for it."""

    @property
    def task(self) -> str:
        """What the agent does all this for."""
        return self.payers[0][1] or ""

    def gives(self, key: tuple[str, str]) -> bool:
        """Whether a tool was given."""
        return (self.only is None or key in self.only) and (self.helpers or key[0] != AGENTS)


async def let_by(who: Callable[[], Oversight | None]) -> bool:
    """Waits until whoever looks on lets something be done, and says whether they do: whoever it is by then decides."""
    while (overseen := who()) is not None:
        allowed = await overseen.go_on()
        if who() is overseen:
            return allowed
    return True


async def done_before(withdrawn: asyncio.Event, work: asyncio.Future[Any], seconds: float | None = None) -> bool:
    """Waits for something until nobody wants it any more, or so long. Says whether it is done."""
    leaving = asyncio.ensure_future(withdrawn.wait())
    try:
        await asyncio.wait([work, leaving], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
    return work.done()


class CallContext:
    """One call's surroundings."""

    def __init__(self, meta: dict[str, Json], tell: Tell | None = None, ask_client: AskClient | None = None) -> None:
        self.meta = meta
        self.withdrawn = asyncio.Event()
        self.tell = tell
        """Sends progress to the client, if it asked for it."""
        self.ask_client = ask_client
        self.code: dict[str, Json] = {}
        """Which program makes the call, and at which step."""
        self.keep: Callable[[str, str], Awaitable[None]] | None = None
        """Told of a question, and of what it is about, before anybody is asked: whatever waits can then be put away."""
        self.question = ("", "")
        """What the question was called when it was asked before, and what it was about."""
        self.oversight: Oversight | None = None
        """Whoever looks on; that may be somebody else in the middle of a call."""
        self.holder = ""
        """Who has seen what came before: the session, if this says nothing else."""

    async def may_go_on(self) -> bool:
        """Waits until it may be made, and says whether it may."""
        return await let_by(lambda: self.oversight)
