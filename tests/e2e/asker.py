"""A server that asks its client something in the middle of a call, in either era. Run as a script."""

from __future__ import annotations

import json
import sys

ERA = sys.argv[1]
FORM = {"type": "object", "properties": {"word": {"type": "string"}}}
REQUEST = {"message": "say the word", "requestedSchema": FORM}
TOOLS = [{"name": "ask", "description": "asks", "inputSchema": {"type": "object"}}]
META = {"io.modelcontextprotocol/serverInfo": {"name": "asker", "version": "1"}}


def say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(said: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": json.dumps(said)}]}


def handshake(message: dict[str, object]) -> None:
    match message.get("method"):
        case "initialize":
            info = {"name": "asker", "version": "1"}
            say(
                {
                    "id": message["id"],
                    "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info},
                }
            )
        case "tools/list":
            say({"id": message["id"], "result": {"tools": TOOLS}})
        case "tools/call":
            say({"id": "q1", "method": "elicitation/create", "params": REQUEST})
            answer = json.loads(sys.stdin.readline())
            say({"id": message["id"], "result": text(answer.get("result", answer.get("error", {}).get("message")))})


def envelope(message: dict[str, object]) -> None:
    params = message.get("params")
    match message.get("method"):
        case "server/discover":
            result = {
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
                "resultType": "complete",
                "_meta": META,
            }
            say({"id": message["id"], "result": result})
        case "tools/list":
            say({"id": message["id"], "result": {"tools": TOOLS, "resultType": "complete"}})
        case "tools/call":
            if isinstance(params, dict) and "inputResponses" in params:
                answer = {**text(params["inputResponses"]["q1"]), "resultType": "complete"}
                say({"id": message["id"], "result": answer})
                return
            wanted = {"q1": {"method": "elicitation/create", "params": REQUEST}}
            say(
                {
                    "id": message["id"],
                    "result": {"resultType": "input_required", "inputRequests": wanted, "requestState": "s"},
                }
            )
        case _ if "id" in message:
            say({"id": message["id"], "error": {"code": -32601, "message": "not here"}})


for line in sys.stdin:
    (handshake if ERA == "handshake" else envelope)(json.loads(line))
