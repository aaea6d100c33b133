"""A scripted model behind a real HTTP server, speaking the wire formats of Anthropic and of OpenAI, streamed."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    Turn = dict[str, Any]
    """What it says (`text`), and calls (`calls`: name and arguments)."""
    Mind = Callable[[list[str]], Turn]
    """Answers to what it was told by the person and by tools, in order."""


class ModelServer:
    """Listens on loopback. `requests` holds what came: path, headers, body."""

    def __init__(self, mind: Mind) -> None:
        self.mind = mind
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.failing = 0
        """How many requests are answered with an error before it works."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                if outer.failing:
                    outer.failing -= 1
                    self.send_response(401)
                    self.send_header("content-type", "application/json")
                    self.end_headers()
                    key = self.headers.get("x-api-key") or self.headers.get("authorization")
                    self.wfile.write(json.dumps({"error": {"message": f"bad key {key}"}}).encode())
                    return
                speak = _anthropic if self.path.endswith("/messages") else _openai
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for line in speak(body, outer.mind):
                    self.wfile.write(line.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def _anthropic(body: dict[str, Any], mind: Mind) -> Iterator[str]:
    told: list[str] = []
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]  # fmt: skip
        for block in blocks:
            if message["role"] == "user" and block["type"] == "text":
                told.append(block["text"])
            elif block["type"] == "tool_result":
                inner = block["content"]
                told.append(inner if isinstance(inner, str) else "".join(part["text"] for part in inner))
    turn = mind(told)

    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    usage = {"input_tokens": 100, "output_tokens": 1}
    head = {"id": "m", "type": "message", "role": "assistant", "model": body["model"], "content": [], "usage": usage}
    yield event("message_start", message={**head, "stop_reason": None, "stop_sequence": None})
    at = 0
    if turn.get("text"):
        yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for piece in _pieces(turn["text"]):
            yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
        yield event("content_block_stop", index=0)
        at = 1
    for number, call in enumerate(turn.get("calls", []), at):
        block = {"type": "tool_use", "id": f"call{len(told)}_{number}", "name": call["name"], "input": {}}
        yield event("content_block_start", index=number, content_block=block)
        for piece in _pieces(json.dumps(call["arguments"])):
            yield event("content_block_delta", index=number, delta={"type": "input_json_delta", "partial_json": piece})
        yield event("content_block_stop", index=number)
    stop = "tool_use" if turn.get("calls") else "end_turn"
    yield event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 50})
    yield event("message_stop")


def _openai(body: dict[str, Any], mind: Mind) -> Iterator[str]:
    told = [str(message["content"]) for message in body["messages"] if message["role"] in ("user", "tool")]
    turn = mind(told)

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        base = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
        return f"data: {json.dumps({**base, 'choices': [choice], **more})}\n\n"

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(turn.get("text", "")):
        yield chunk({"content": piece})
    for number, call in enumerate(turn.get("calls", [])):
        first = {"index": number, "id": f"call{len(told)}_{number}", "type": "function"}
        yield chunk({"tool_calls": [{**first, "function": {"name": call["name"], "arguments": ""}}]})
        for piece in _pieces(json.dumps(call["arguments"])):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if turn.get("calls") else "stop")
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    empty = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": body["model"], "choices": []}
    yield f"data: {json.dumps({**empty, 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"
