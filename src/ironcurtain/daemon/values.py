"""What a call gives in a program: a value, or an error that it can catch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ironcurtain.gateway.inbound.refusal import told_no
from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from ironcurtain.mediation.effects import Answer
    from ironcurtain.model.call import Json


def as_value(answer: Answer, server: str, *, structured: bool) -> dict[str, Json]:
    """What a call gives in a program."""
    executed = answer.executed
    if executed is None or (executed.result is None and executed.error is None):
        kind = "PermissionError" if executed is None else "RuntimeError"
        content: Any = told_no(answer)["content"]
        return {"raise": [kind, str(content[0]["text"])]}
    if executed.error is not None:
        return {"raise": ["RuntimeError", f"{server}: {executed.error['message']}"]}
    result = executed.result or {}
    if result.get("isError"):
        return {"raise": ["RuntimeError", _text_of(result)]}
    if structured and isinstance(result.get("structuredContent"), dict):
        return {"value": result["structuredContent"]}
    return {"value": _text_of(result)}


def _text_of(result: dict[str, Json]) -> str:
    """The text of a result; what is no text, as JSON."""
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(part["text"]) if isinstance(part, dict) and part.get("type") == "text" and "text" in part
        else strict_json.canonical(part).decode()
        for part in parts
    )  # fmt: skip
