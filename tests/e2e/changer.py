"""A server of the envelope era whose tools change when one of them is called, and that says so to whoever listens."""

from __future__ import annotations

import json
import sys
from typing import Any

META = "io.modelcontextprotocol/"
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("keep", "drop")]


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main() -> None:
    tools, listening = list(TOOLS), None
    for line in sys.stdin:
        message = json.loads(line)
        id_ = message.get("id")
        match message["method"]:
            case "server/discover":
                offers = {"tools": {"listChanged": True}}
                say(
                    {
                        "id": id_,
                        "result": {
                            "supportedVersions": ["2026-07-28"],
                            "capabilities": offers,
                            "resultType": "complete",
                        },
                    }
                )
            case "tools/list":
                say({"id": id_, "result": {"tools": tools, "resultType": "complete"}})
            case "subscriptions/listen":
                listening = id_
            case "tools/call":
                tools = tools[:1]
                say({"id": id_, "result": {"content": [{"type": "text", "text": "done"}], "resultType": "complete"}})
                if listening is not None:
                    stamp = {f"{META}subscriptionId": listening}
                    say({"method": "notifications/tools/list_changed", "params": {"_meta": stamp}})
            case _ if id_ is not None:
                say({"id": id_, "error": {"code": -32601, "message": "not here"}})


main()
