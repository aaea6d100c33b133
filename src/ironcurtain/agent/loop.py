"""Asks the model what to do, does it through the gateway, tells the model what came of it; until it has an answer.

    begin    what was said so far, and how the agent works
    agent/think    the model's next message after all that was noted; or what the person says instead
    agent/answer   the model has nothing more to do; the person's next message, or the end
    agent/note     a message that was added, or a call that was begun: kept, so that another loop can go on from there

INVARIANT: a call that an earlier loop had begun is not made again here. What came of it is asked for, or not known.
"""

from __future__ import annotations

from typing import Any, Final

from ironcurtain.agent.instructions import instructions
from ironcurtain.agent.pipe import HungUpError, Pipe, RefusedError

_REVISION: Final = "2025-11-25"
_LONGEST: Final = 30_000  # characters of a result that the model is given
_CODE: Final = "execute_code"
_RESULT: Final = "code_result"
_PATIENCE: Final = 50  # seconds that one question for a program's result waits
_UNKNOWN: Final = "It is not known whether this was done: the agent was cut off. Look before you do it again."

Message = dict[str, Any]


class Loop:
    """One agent at work."""

    def __init__(self, pipe: Pipe, begin: dict[str, Any]) -> None:
        self._pipe = pipe
        self._messages: list[Message] = begin["messages"]
        self._begun: dict[str, str] = begin["begun"]
        self._instructions = instructions(direct=begin["direct"], servers=begin["servers"], skills=begin["skills"])

    def run(self) -> None:
        """Work until the person has nothing more to say."""
        tools = self._open()
        while True:
            last = self._messages[-1]
            if last["role"] == "model" and not last["calls"]:
                following = self._pipe.ask("agent/answer", {"text": last["text"]})
                if following.get("over"):
                    return
                self._add({"role": "user", "text": following["text"]})
            elif unanswered := self._unanswered():
                for call in unanswered:
                    self._add(self._perform(call))
            else:
                self._think(tools)

    def _open(self) -> list[dict[str, Any]]:
        who = {"name": "ironcurtain agent", "version": "1"}
        self._pipe.ask("initialize", {"protocolVersion": _REVISION, "capabilities": {}, "clientInfo": who})
        self._pipe.tell("notifications/initialized", {})
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = self._pipe.ask("tools/list", {"cursor": cursor} if cursor else {})
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                return [
                    {"name": tool["name"], "about": tool.get("description", ""), "schema": tool["inputSchema"]}
                    for tool in tools
                ]

    def _think(self, tools: list[dict[str, Any]]) -> None:
        thought = self._pipe.ask("agent/think", {"instructions": self._instructions, "tools": tools})
        if "heard" in thought:
            self._add({"role": "user", "text": thought["heard"]})
        else:
            self._add({"role": "model", "text": thought["text"], "calls": thought["calls"]})

    def _unanswered(self) -> list[dict[str, Any]]:
        """The calls of the model's last message that have no result yet."""
        after = len(self._messages)
        while after and self._messages[after - 1]["role"] == "tool":
            after -= 1
        last = self._messages[after - 1]
        if last["role"] != "model":
            return []
        answered = {message["id"] for message in self._messages[after:]}
        return [call for call in last["calls"] if call["id"] not in answered]

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        self._pipe.tell("agent/note", {"message": message})

    # --- Calls. ---

    def _perform(self, call: dict[str, Any]) -> Message:
        id_, name = call["id"], call["name"]
        if id_ in self._begun:
            run = self._begun[id_]
            text, failed = self._came_of(run) if run else (_UNKNOWN, True)
        else:
            self._pipe.tell("agent/note", {"begun": id_, "run": ""})
            text, failed = self._call(name, call["arguments"], id_)
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}\n... ({len(text) - _LONGEST} characters more)"
        return {"role": "tool", "id": id_, "name": name, "text": text, "failed": failed}

    def _call(self, name: str, arguments: dict[str, Any], id_: str) -> tuple[str, bool]:
        def news(params: dict[str, Any]) -> None:
            if run := params.get("_meta", {}).get("ironcurtain/run"):
                self._pipe.tell("agent/note", {"begun": id_, "run": run})

        params = {"name": name, "arguments": arguments, "_meta": {"progressToken": id_}}
        try:
            result = self._pipe.ask("tools/call", params, news)
        except RefusedError as error:
            return str(error), True
        return _text_of(result), bool(result.get("isError"))

    def _came_of(self, run: str) -> tuple[str, bool]:
        """What came of a program that was begun earlier; it may still wait for a person."""
        while True:
            arguments = {"run": run, "seconds": _PATIENCE}
            try:
                result = self._pipe.ask("tools/call", {"name": _RESULT, "arguments": arguments})
            except RefusedError as error:
                return f"{error}. {_UNKNOWN}", True
            if result.get("structuredContent", {}).get("status") not in ("waiting", "running"):
                return _text_of(result), bool(result.get("isError"))


def _text_of(result: dict[str, Any]) -> str:
    parts = result.get("content", [])
    return "\n".join(part["text"] if part.get("type") == "text" else f"({part.get('type')})" for part in parts)


def main() -> int:
    """Be an agent, for as long as the daemon is there."""
    pipe = Pipe()
    pipe.say({"ready": True})
    try:
        Loop(pipe, pipe.hear()).run()
    except HungUpError:
        return 1
    return 0
