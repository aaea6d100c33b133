"""Asks a model, with the owner's key: `python broker.py SETTINGS`, lines of JSON in and out, one request at a time.

    {"worst": ASKED}  what it can cost at most       {"tokens": N, "cost": MILLIONTHS}
    {"think": ASKED}  the model's next message       {"delta": TEXT} ... {"thought": {...}}, or {"failed": WHY}

The key is in the environment of this process and nowhere else. What is asked comes from an agent and is only passed on.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.identity.unfolding import unfolded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_ai import messages as said
    from pydantic_ai.models import Model

_OVERHEAD: Final = 2_000  # tokens that a provider may add to what it is sent
_PATIENCE: Final = 300.0  # seconds for one message
_INSTALL: Final = "run: pip install 'ironcurtain[models]'"


def main() -> int:
    """Serve one agent until its daemon hangs up."""
    settings = json.loads(sys.argv[1])
    try:
        broker = Broker(settings)
    except ImportError as error:
        return _unready(f"models need a library that is not installed ({error.name})", _INSTALL)
    except Exception as error:  # noqa: BLE001 - a name or a key that the library does not like: its words are the best
        return _unready(_words(error), "")
    _say({"ready": True})
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        if "worst" in asked:
            _say(broker.worst(asked["worst"]))
        else:
            asyncio.run(broker.think(asked["think"]))
    return 0


def _unready(reason: str, help_: str) -> int:
    _say({"unready": reason, "help": help_})
    return 1


class Broker:
    """One model."""

    def __init__(self, settings: dict[str, Any]) -> None:
        from pydantic_ai.models import infer_model  # noqa: PLC0415 - slow, and an extra

        from ironcurtain.identity.prices import Price  # noqa: PLC0415 - likewise

        self._infer = infer_model
        self._name: str = settings["model"]
        self._most: int = settings["answer"]
        model = self._model()
        price = settings.get("price")
        self._price = Price(model.system, model.model_name, (price["input"], price["output"]) if price else None)

    def _model(self) -> Model:
        """Made anew for each message: its connections belong to one event loop."""
        model = self._infer(self._name)
        client: Any = getattr(model, "client", None)
        if hasattr(client, "max_retries"):
            client.max_retries = 0  # what was paid for once is not asked for twice; the person may try again
        return model

    def worst(self, asked: dict[str, Any]) -> dict[str, int]:
        """No token is shorter than a byte."""
        into = len(json.dumps({**asked, "tools": _tools(asked)}, ensure_ascii=False).encode()) + _OVERHEAD
        return {"tokens": into + self._most, "cost": self._price.of(into, self._most)}

    async def think(self, asked: dict[str, Any]) -> None:
        """Say the model's next message as it comes."""
        from pydantic_ai import direct  # noqa: PLC0415 - slow
        from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta  # noqa: PLC0415
        from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415
        from pydantic_ai.settings import ModelSettings  # noqa: PLC0415
        from pydantic_ai.tools import ToolDefinition  # noqa: PLC0415

        tools = [
            ToolDefinition(name=tool["name"], description=tool["about"], parameters_json_schema=tool["schema"])
            for tool in _tools(asked)
        ]
        settings = ModelSettings(max_tokens=self._most, timeout=_PATIENCE)
        began = False
        try:
            async with direct.model_request_stream(
                self._model(), list(_history(asked)), model_settings=settings,
                model_request_parameters=ModelRequestParameters(function_tools=tools),
            ) as stream:  # fmt: skip
                async for event in stream:
                    if not began:
                        began = True
                        _say({"delta": ""})  # from here on it is paid for
                    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart) and event.part.content:
                        _say({"delta": event.part.content})
                    elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                        _say({"delta": event.delta.content_delta})
                response = stream.get()
            _say({"thought": self._thought(response)})
        except Exception as error:  # noqa: BLE001 - whatever went wrong between here and the model: the person decides
            _say({"failed": _words(error)})

    def _thought(self, response: said.ModelResponse) -> dict[str, Any]:
        usage = response.usage
        kinds = {
            name: int(getattr(usage, name, 0) or 0)
            for name in ("cache_read_tokens", "cache_write_tokens", "input_audio_tokens", "output_audio_tokens")
        }
        into, out = usage.input_tokens, usage.output_tokens
        known = into or out  # who does not say what was used is taken to have used what it could
        return {
            "text": response.text or "",
            "calls": [
                {"id": call.tool_call_id, "name": call.tool_name, "arguments": call.args_as_dict()}
                for call in response.tool_calls
            ],
            "raw": _as_json(response),
            "used": {"tokens": into + out, "cost": self._price.of(into, out, **kinds)} if known else None,
        }


def _tools(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools as they are sent: no library has anything left to unfold."""
    return [{**tool, "schema": unfolded(tool["schema"])} for tool in asked["tools"]]


def _history(asked: dict[str, Any]) -> Iterator[said.ModelMessage]:
    """What was said, as the library has it. `raw` is what this broker wrote down, and comes from the daemon alone."""
    from pydantic_ai.messages import (  # noqa: PLC0415 - slow
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    parts: list[said.ModelRequestPart] = []
    for message in asked["messages"]:
        match message["role"]:
            case "user":
                parts.append(UserPromptPart(message["text"]))
            case "tool":
                parts.append(ToolReturnPart(message["name"], message["text"], message["id"]))
            case _:
                yield ModelRequest(parts, instructions=asked["instructions"])
                parts = []
                if message.get("raw"):
                    yield from ModelMessagesTypeAdapter.validate_python([message["raw"]])
                else:
                    calls = [ToolCallPart(call["name"], call["arguments"], call["id"]) for call in message["calls"]]
                    text = [TextPart(message["text"])] if message["text"] else []
                    yield ModelResponse([*text, *calls])
    yield ModelRequest(parts, instructions=asked["instructions"])


def _as_json(response: said.ModelResponse) -> Any:  # noqa: ANN401 - the library's own
    from pydantic_ai.messages import ModelMessagesTypeAdapter  # noqa: PLC0415 - slow

    (found,) = json.loads(ModelMessagesTypeAdapter.dump_json([response]))
    return found


def _words(error: Exception) -> str:
    """What went wrong, in a line, without our own key in it."""
    text = " ".join(str(error).split()) or type(error).__name__
    for name, value in os.environ.items():
        if value and name.endswith(("KEY", "TOKEN", "SECRET")):
            text = text.replace(value, f"({name})")
    return text[:500]


def _say(message: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
