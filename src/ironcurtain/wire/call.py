"""Reads a call from a strict JSON object. Every member is known, typed and bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ironcurtain.errors import Refusal, quote
from ironcurtain.model.call import Principal, ToolCall
from ironcurtain.wire import strict_json
from ironcurtain.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from ironcurtain.model.call import Json

_MEMBERS: Final = frozenset({"serverName", "toolName", "arguments", "principal", "task", "sources"})
_PRINCIPAL: Final = frozenset({"agent", "provider", "group", "member", "subagent"})
_SHAPE: Final = 'write {"serverName": "...", "toolName": "...", "arguments": {...}}'


def read_call(data: bytes) -> ToolCall:
    """Read one call from bytes."""
    return call_from(strict_json.loads(data))


def call_from(value: Json) -> ToolCall:
    """Read one call from a JSON value."""
    if not isinstance(value, dict):
        raise Refusal("call_malformed", "a call is a JSON object", _SHAPE)
    if unknown := sorted(value.keys() - _MEMBERS):
        raise Refusal("call_malformed", f"unknown member {quote(unknown[0])}", _SHAPE)
    arguments = value.get("arguments")
    if not isinstance(arguments, dict):
        raise Refusal("call_malformed", "arguments must be an object", _SHAPE)
    task = value.get("task", {})
    if not isinstance(task, dict):
        raise Refusal("call_malformed", "task must be an object: a task policy")
    return ToolCall(
        server=_name(value, "serverName"),
        tool=_name(value, "toolName"),
        arguments=arguments,
        principal=principal_from(value.get("principal", {})),
        task=task if "task" in value else None,
        sources=_sources(value["sources"]) if "sources" in value else None,
    )


def _sources(value: Json) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) and "/" in each for each in value):
        raise Refusal("call_malformed", "sources must be a list of tools, each as server/tool")
    return frozenset(map(str, value))


def _name(value: dict[str, Json], member: str) -> str:
    name = value.get(member)
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        raise Refusal("call_malformed", f"{member} must be a string of 1 to {MAX_NAME} characters", _SHAPE)
    return name


def principal_from(value: Json) -> Principal:
    """Read a principal."""
    if not isinstance(value, dict):
        raise Refusal("call_malformed", "principal must be an object")
    if unknown := sorted(value.keys() - _PRINCIPAL):
        raise Refusal("call_malformed", f"unknown member {quote(unknown[0])} of principal")
    subagent = value.get("subagent", False)
    if not isinstance(subagent, bool):
        raise Refusal("call_malformed", "principal.subagent must be true or false")
    names = {member: _name(value, member) for member in sorted(value.keys() - {"subagent"})}
    return Principal(subagent=subagent, **names)
