"""Programs that try to get out of a sandbox, and what tells whether one did: a file, the environment, a port."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.sandbox.process import Host, HostError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SECRET = "canary-7f3a9c"
WALLS = {"Landlock": "see_only", "seccomp": "only_call", "privileges": "give_up_privileges", "limits": "limit"}
_AT_ONCE = 4


def less(wall: str) -> str:
    """What takes a wall away, as the beginning of a program."""
    return f"from ironcurtain.sandbox import walls; walls.{WALLS[wall]} = lambda *_, **__: None; " if wall else ""


async def told(start: list[str], program: str, seconds: float = 15) -> list[dict[str, Any]]:
    """All that a program's host says, a program being told that there are no modules."""
    host = await Host.of(start)
    said = []
    try:
        host.say({"program": program, "data": None, "seed": 1, "state": "", "moments": []})
        while True:
            said.append(await host.hear(seconds))
            if "wants" in said[-1]:
                host.say({"modules": {}})
            elif "plan" in said[-1]:
                host.say({"go": True})
            elif "done" in said[-1] or "failed" in said[-1] or "call" in said[-1]:
                return said
    except HostError as error:
        return [*said, {"ended": str(error), "code": host.code}]
    finally:
        await host.end()


def attempted(
    start: list[str], programs: Mapping[str, str], seconds: float, directory: Path
) -> dict[str, list[dict[str, Any]]]:
    """What each of them says; none of them may have reached anything."""
    outside = directory / "outside"
    outside.mkdir()
    canary = outside / "canary.txt"
    canary.write_text(SECRET)
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as server:
        patch.setenv("CANARY", SECRET)
        server.settimeout(0)
        port = str(server.getsockname()[1])
        meant = {name: text.replace("CANARY", str(canary)).replace("PORT", port) for name, text in programs.items()}
        said = asyncio.run(_all_of(start, meant, seconds))
        with pytest.raises(BlockingIOError):
            server.accept()
    assert [path.name for path in outside.iterdir()] == ["canary.txt"]
    assert canary.read_text() == SECRET
    assert [name for name, messages in said.items() if SECRET in repr(messages)] == []
    assert [name for name, messages in said.items() if any("call" in message for message in messages)] == []
    return said


async def _all_of(start: list[str], programs: Mapping[str, str], seconds: float) -> dict[str, list[dict[str, Any]]]:
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(program: str) -> list[dict[str, Any]]:
        async with gate:
            return await told(start, program, seconds)

    return dict(zip(programs, await asyncio.gather(*map(one, programs.values())), strict=True))
