"""Mail and chat as an MCP server, with a mailbox that holds what it is started with. It writes down what reaches it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ironcurtain.servers.stdio import serve


def _tool(name: str, description: str, *required: str, **more: dict[str, Any]) -> dict[str, Any]:
    properties = {**{each: {"type": "string"} for each in required}, **more}
    schema = {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}
    return {"name": name, "description": description, "inputSchema": schema}


TOOLS = [
    _tool("list_emails", "List the emails in the inbox."),
    _tool("read_email", "Read one email.", "id"),
    _tool("send_email", "Send an email to somebody.", "to", "subject", "body"),
    _tool("slack_post_message", "Post a message in a Slack channel.", "channel", "text"),
]


def main() -> None:
    log, mailbox = (Path(each) for each in sys.argv[1:])

    def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        with log.open("a") as file:
            file.write(json.dumps({"name": name, "arguments": arguments}) + "\n")
        mails = json.loads(mailbox.read_text())
        said = {
            "list_emails": json.dumps([{"id": id_, "from": mail["from"]} for id_, mail in mails.items()]),
            "read_email": json.dumps(mails.get(arguments.get("id", ""), "there is no such email")),
        }.get(name, "done")
        return {"content": [{"type": "text", "text": said}]}

    serve("office", TOOLS, call)


if __name__ == "__main__":
    main()
