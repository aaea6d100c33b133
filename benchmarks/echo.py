"""The smallest MCP server: it answers at once. Run as a script."""

from __future__ import annotations

import json
import sys

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
TOOL = {"name": "echo", "description": "Says it again.", "inputSchema": SCHEMA}


def main() -> None:
    read, write = sys.stdin.buffer, sys.stdout.buffer
    for line in read:
        message = json.loads(line)
        result: dict[str, object]
        match message.get("method"):
            case "tools/call":
                text = message["params"]["arguments"].get("text", "")
                result = {"content": [{"type": "text", "text": text}]}
            case "initialize":
                info = {"name": "echo", "version": "1"}
                result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                result = {"tools": [TOOL]}
            case "ping":
                result = {}
            case _ if "id" in message:
                error = {"code": -32601, "message": "not here"}
                write.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode() + b"\n")
                write.flush()
                continue
            case _:
                continue
        write.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() + b"\n")
        write.flush()


main()
