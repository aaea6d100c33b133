"""Servers are added, reviewed, changed and removed by their owner."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from tests.e2e.house import House, code_of, eventually, text_of

if TYPE_CHECKING:
    from pathlib import Path


def hostile(log: Path, *modes: str) -> list[str]:
    return [sys.executable, "-I", "-m", "ironcurtain.testing.hostile", str(log), *modes]


def test_a_new_server_is_added_reviewed_and_asks_for_every_call(house: House) -> None:
    log = house.owner / "log"
    agent = house.agent()
    agent.ask("tools/list")
    house.run("servers", "add", "mine", "--", *hostile(log))
    assert "2 tools" in house.run("servers", "test", "mine")
    assert "bash" not in house.run("servers", "list")
    eventually(lambda: any(s["name"] == "mine" and s["state"] == "ready" for s in house.status()["servers"]))
    assert "error" in agent.ask("tools/call", {"name": "mine__echo", "arguments": {}}), "nobody approved its tools"
    shown = house.run("servers", "review", "mine", "--yes")
    assert "new: echo" in shown
    eventually(lambda: "mine__echo" in [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]])
    waiting = agent.begin("tools/call", {"name": "mine__echo", "arguments": {"text": "hi"}})
    (question,) = eventually(lambda: house.json("approvals", "list"))
    assert not log.exists()
    house.run("approvals", "approve", question["id"])
    assert json.loads(text_of(agent.await_(waiting)["result"])) == {"text": "hi"}
    assert "nothing is new" in house.run("servers", "review")
    house.run("servers", "remove", "mine")
    eventually(lambda: agent.call("mine__echo", text="x").get("isError"))


def test_nothing_is_approved_when_nobody_is_there_to_ask(house: House) -> None:
    house.run("servers", "add", "mine", "--", *hostile(house.owner / "log"))
    assert "--yes" in house.run("servers", "review", "mine", code=2, stdin="")


def test_a_changed_tool_is_shown_as_changed_and_works_once_approved(house: House) -> None:
    log = house.owner / "log"
    house.run("servers", "add", "mine", "--", *hostile(log))
    house.run("servers", "review", "--yes")
    policy = house.home / "policy"
    annotations = json.loads((policy / "tool-annotations.json").read_text())
    for tool in annotations["servers"]["mine"]["tools"]:
        tool["definition"]["description"] = "what it was before"
        del tool["pin"]
    (policy / "tool-annotations.json").write_text(json.dumps(annotations))
    house.run("policy", "verify", "--derive", str(policy))
    agent = house.agent()
    agent.ask("tools/list")
    assert code_of(agent.call("mine__echo", text="x")) == "tool_drift"
    assert "CHANGED: echo" in house.run("servers", "review", "--yes")
    eventually(lambda: not house.status()["drifted"])
    agent.begin("tools/call", {"name": "mine__echo", "arguments": {"text": "x"}})
    eventually(lambda: house.json("approvals", "list"))


def test_a_server_that_cannot_start_says_why(house: House) -> None:
    house.run("servers", "add", "none", "--", "/no/such/program")
    assert "no such file" in house.run("servers", "test", "none", code=2).lower()
    house.run("servers", "add", "dull", "--", sys.executable, "-c", "import sys; sys.exit('it is Monday')")
    assert "it is Monday" in house.run("servers", "test", "dull", code=2)
    assert "server_exists" not in house.run("servers", "add", "none", "--replace", "--", "true")
    assert "there is a server" in house.run("servers", "add", "none", "--", "true", code=2)
