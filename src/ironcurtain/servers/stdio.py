"""A server's side of MCP over standard input and output, in both eras, one request after the other."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from ironcurtain import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

_HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_ENVELOPE: Final = "2026-07-28"
_MOST: Final = 24 * 1024 * 1024  # bytes of an answer; a longer one would cost the whole connection
_RESERVED: Final = "io.modelcontextprotocol/"


def serve(name: str, tools: list[dict[str, Any]], call: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
    """Serve until the input ends. `call` raises `LookupError` for a tool that it does not have."""
    info = {"name": name, "version": __version__}
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            _send({"id": None, "error": {"code": -32700, "message": "not JSON"}})
            continue
        if not isinstance(message, dict) or "id" not in message or "method" not in message:
            continue
        try:
            result = _answer(message["method"], message.get("params") or {}, info, tools, call)
        except LookupError as error:
            _send({"id": message["id"], "error": {"code": -32602, "message": f"Unknown tool: {error.args[0]}"}})
        except (TypeError, KeyError, AttributeError) as error:
            _send({"id": message["id"], "error": {"code": -32602, "message": f"Invalid arguments: {error!r}"}})
        else:
            if result is None:
                _send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            else:
                _send({"id": message["id"], "result": result})


def _answer(
    method: str,
    params: dict[str, Any],
    info: dict[str, str],
    tools: list[dict[str, Any]],
    call: Callable[[str, dict[str, Any]], dict[str, Any]],
) -> dict[str, Any] | None:
    modern = f"{_RESERVED}protocolVersion" in params.get("_meta", {})
    stamp = {"resultType": "complete", "_meta": {f"{_RESERVED}serverInfo": info}} if modern else {}
    fresh = {"ttlMs": 0, "cacheScope": "private"} if modern else {}
    if method == "initialize":
        asked = params.get("protocolVersion")
        version = asked if asked in _HANDSHAKE else _HANDSHAKE[-1]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "server/discover":
        return {"supportedVersions": [_ENVELOPE], "capabilities": {"tools": {}}, **fresh, **stamp}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": tools, **fresh, **stamp}
    if method == "tools/call":
        return {**call(params["name"], params.get("arguments") or {}), **stamp}
    return None


def _send(fields: dict[str, Any]) -> None:
    # A name on disk that is no text is shown with question marks: half a surrogate pair is no answer.
    line = json.dumps({"jsonrpc": "2.0", **fields}, ensure_ascii=False).encode(errors="replace")
    if len(line) > _MOST:
        error = {"code": -32603, "message": f"the answer would be larger than {_MOST // 2**20} MiB; ask for less"}
        line = json.dumps({"jsonrpc": "2.0", "id": fields["id"], "error": error}).encode()
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
