"""Asks the model what to do and does it through the gateway, until the model has an answer.

    begin          what the model said last, if that is not done yet
    agent/think    the model's next message; or what the person says instead
    tools/call     one of the calls of that message, under its own id
    agent/answer   the model has nothing more to do: the person's next message, or the end

What was said is kept by the daemon, which was there whenever something was: the model is told that, and nothing else.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.agent.pipe import HungUpError, Pipe, RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping

_REVISION: Final = "2025-11-25"


class Loop:
    """One agent at work."""

    def __init__(self, pipe: Pipe, begin: Mapping[str, Any]) -> None:
        self._pipe = pipe
        self._turn: Mapping[str, Any] = begin["turn"]

    def run(self) -> None:
        """Work until the person has nothing more to say."""
        who = {"name": "ironcurtain agent", "version": "1"}
        self._pipe.ask("initialize", {"protocolVersion": _REVISION, "capabilities": {}, "clientInfo": who})
        self._pipe.tell("notifications/initialized", {})
        while True:
            for call in self._turn["calls"]:
                params = {"name": call["name"], "arguments": call["arguments"]}
                with contextlib.suppress(RefusedError):  # the model is told why
                    self._pipe.ask("tools/call", params, call["id"])
            if self._turn["final"] and self._pipe.ask("agent/answer", {})["over"]:
                return
            self._turn = self._pipe.ask("agent/think", {})


def main() -> int:
    """Be an agent, for as long as the daemon is there."""
    pipe = Pipe()
    pipe.say({"ready": True})
    try:
        Loop(pipe, pipe.hear()).run()
    except HungUpError:
        return 1
    return 0
