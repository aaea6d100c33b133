"""A runtime that is killed at one point of one call: `python -m tests.faults.dies HOME POINT`.

A point is a port and a moment: `record_intent:before`. The process ends itself with SIGKILL there; nothing is cleaned up.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import sys
from typing import Any

from ironcurtain.daemon import ports
from ironcurtain.daemon.runs import Runs
from ironcurtain.daemon.runtime import Runtime
from ironcurtain.escalation.queue import Answer, Question
from ironcurtain.gateway.context import CallContext
from ironcurtain.model.call import Principal

POINTS = [
    f"{port}:{moment}"
    for port in ("resolve", "reserve", "record_intent", "resolve2", "forward", "record_outcome", "settle")
    for moment in ("before", "after")
] + ["record_refusal:before", "record_refusal:after", "ask:before", "ask:waiting"]


def arm(point: str) -> None:
    """Let the point be the end."""
    port, moment = point.split(":")
    name, turn = (port[:-1], 2) if port.endswith("2") else (port, 1)
    real, turns = getattr(ports.CallPorts, name), 0

    def die_if(now: str) -> None:
        if now == moment and turns == turn:
            os.kill(os.getpid(), signal.SIGKILL)

    if inspect.iscoroutinefunction(real):

        async def armed_async(self: Any, effect: Any) -> Any:
            nonlocal turns
            turns += 1
            die_if("before")
            if moment == "waiting" and turns == turn:
                asyncio.get_running_loop().call_later(0.3, os.kill, os.getpid(), signal.SIGKILL)
            answer = await real(self, effect)
            die_if("after")
            return answer

        setattr(ports.CallPorts, name, armed_async)
    else:

        def armed(self: Any, effect: Any) -> Any:
            nonlocal turns
            turns += 1
            die_if("before")
            answer = real(self, effect)
            die_if("after")
            return answer

        setattr(ports.CallPorts, name, armed)


async def approve(_: Question) -> Answer:
    await asyncio.sleep(0.3)  # until what waits for it is on disk
    return Answer(approved=True, approver="a test")


async def main(home: str, point: str) -> None:
    if point == "restore":
        setattr(Runs, "restore", lambda _: os.kill(os.getpid(), signal.SIGKILL))  # noqa: B010 - as above
    async with Runtime(home, on_escalation=approve if point.startswith("code") else None) as runtime:
        await runtime.offered(Principal())
        arm(point.removeprefix("code-").removesuffix("y"))
        if point.startswith("code"):
            program = (
                "import bad\ntry:\n    r = bad.touch(text='x')\nexcept RuntimeError as error:\n    r = str(error)\n"
            )
            program += "bad.echo(text='y')\nr" if point.endswith("y") else "r"
            await runtime.runs.execute(program, None, Principal(agent="code"), CallContext({}))
            return
        if point.startswith("ask"):
            await runtime.call("filesystem", "read_text_file", {"path": "/etc/hostname"})
        elif point.startswith("record_refusal"):
            await runtime.call("filesystem", "delete_file", {"path": "x"})
        else:
            await runtime.call("bad", "echo", {"text": "x"})


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
