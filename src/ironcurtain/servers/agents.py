"""Agents that work for an agent, as tools. This process only says what there is; the daemon itself does it.

python -m ironcurtain.servers.agents
"""

from __future__ import annotations

from typing import Any, Final

from ironcurtain.servers.stdio import serve

NAME: Final = "agents"
_TEXT: Final = {"type": "string", "minLength": 1, "maxLength": 20_000}
_ID: Final = {"type": "string", "description": "the agent's id, as start gave it"}
_TOOLS: Final = {
    "type": "array",
    "items": {"type": "string"},
    "description": "the only tools it gets, each as server/tool; all that you have, if this is left out",
}


def _tool(
    name: str, description: str, properties: dict[str, Any], required: list[str], *, reads: bool = False
) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object", "properties": properties, "required": required, "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": reads, "destructiveHint": False, "openWorldHint": False},
    }  # fmt: skip


TOOLS: Final = [
    _tool(
        "spawn",
        "Start another agent on a task, wait until it has done it, and return its answer. It can do no more than you.",
        {"task": {**_TEXT, "description": "what it has to do, and all that it needs to know"}, "tools": _TOOLS},
        ["task"],
    ),
    _tool(
        "start",
        "Start another agent on a task and return its id at once. It can do no more than you.",
        {"task": {**_TEXT, "description": "what it has to do, and all that it needs to know"}, "tools": _TOOLS},
        ["task"],
    ),
    _tool(
        "wait",
        "Wait until an agent that was started has done its task, and return its answer.",
        {"agent": _ID},
        ["agent"],
        reads=True,
    ),
    _tool(
        "send",
        "Leave a message for an agent: one that you started, one that started you, or another that it started.",
        {"agent": {**_ID, "description": "its id, or parent"}, "text": {**_TEXT, "description": "the message"}},
        ["agent", "text"],
    ),
    _tool(
        "receive",
        "What other agents left for you, oldest first, each returned once: a list of {from, text}, as JSON.",
        {},
        [],
        reads=True,
    ),
]


def _elsewhere(name: str, _: dict[str, Any]) -> dict[str, Any]:
    raise LookupError(name)


if __name__ == "__main__":
    serve("ironcurtain agents", TOOLS, _elsewhere)
