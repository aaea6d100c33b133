"""From nothing to a guarded agent, through real processes."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.e2e.house import ENVELOPE, House, code_of, eventually, text_of

if TYPE_CHECKING:
    from pathlib import Path

ERAS = ("handshake", "envelope")


@pytest.mark.parametrize("era", ERAS)
def test_honest_work_goes_through_and_is_recorded(house: House, era: str) -> None:
    agent = house.agent("--agent", "coder", era=era)
    names = [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]]
    assert len(names) == 16
    assert "filesystem__write_file" in names
    note = house.sandbox / "note.txt"
    assert "isError" not in agent.call("filesystem__write_file", path=str(note), content="hello\n")
    assert note.read_text() == "hello\n"
    assert text_of(agent.call("filesystem__read_text_file", path="note.txt")) == "hello\n"
    intents, outcomes = house.records(kind="intent"), house.records(kind="outcome")
    assert [record["request"]["tool"] for record in intents] == ["write_file", "read_text_file"]
    assert intents[1]["request"]["arguments"]["path"] == str(note), "the canonical form"
    assert [record["execution"]["status"] for record in outcomes] == ["success", "success"]
    assert intents[0]["agent"] == {"agent": "coder"}
    assert "unbroken" in house.run("audit", "verify")


@pytest.mark.parametrize("era", ERAS)
def test_what_is_denied_does_not_happen_and_leaves_one_record(house: House, era: str) -> None:
    note = house.sandbox / "note.txt"
    note.write_text("keep me")
    agent = house.agent(era=era)
    result = agent.call("filesystem__delete_file", path=str(note))
    assert result["isError"] is True
    assert code_of(result) == "rule_deny"
    assert note.read_text() == "keep me"
    (record,) = house.records(kind="refused")
    assert record["evaluation"]["rule"] == "never-delete"
    assert not house.records(kind="intent")
    assert "isError" not in agent.call("filesystem__read_text_file", path=str(note)), "the next one works"


def test_the_agent_reaches_nothing_of_ours(house: House) -> None:
    agent = house.agent()
    for path in (
        "constitution.md",
        "policy/compiled-policy.json",
        "audit",
        "daemon.sock",
        "audit.key",
        "servers.json",
        "state.db",
    ):
        for tool in ("read_text_file", "list_directory", "get_file_info"):
            assert code_of(agent.call(f"filesystem__{tool}", path=str(house.home / path))) == "path_protected"


@pytest.mark.parametrize("era", ERAS)
def test_a_person_says_yes(house: House, era: str) -> None:
    (house.owner / "notes.txt").write_text("mine")
    agent = house.agent("--agent", "coder", era=era)
    agent.ask("tools/list")
    waiting = agent.begin("tools/call", {"name": "filesystem__read_text_file", "arguments": {"path": "~/notes.txt"}, "_meta": {"progressToken": "p"}})  # fmt: skip
    (question,) = eventually(lambda: house.json("approvals", "list"))
    assert question["arguments"] == {"path": str(house.owner / "notes.txt")}
    assert question["values"][0]["role"] == "read-path"
    shown = house.run("approvals", "show", question["id"])
    assert str(house.owner / "notes.txt") in shown
    house.run("approvals", "approve", question["id"])
    assert text_of(agent.await_(waiting)["result"]) == "mine"
    progress = next(message["params"] for message in agent.heard if message["method"] == "notifications/progress")
    assert progress["progressToken"] == "p"
    assert "waiting for a person" in progress["message"]
    (intent,) = house.records(kind="intent")
    assert intent["escalation"]["decision"] == "approved"
    assert len(house.records(kind="asked")) == 1
    house.run("approvals", "approve", question["id"], code=2)  # there is nothing left to answer


def test_a_person_says_no_with_a_sentence(house: House) -> None:
    agent = house.agent()
    waiting = agent.begin("tools/call", {"name": "filesystem__read_text_file", "arguments": {"path": "~/notes.txt"}})
    (question,) = eventually(lambda: house.json("approvals", "list"))
    house.run("approvals", "deny", question["id"], "not", "while", "I", "sleep")
    result = agent.await_(waiting)["result"]
    assert code_of(result) == "human_denied"
    assert "not while I sleep" in text_of(result)
    (record,) = house.records(kind="refused")
    assert record["escalation"]["decision"] == "denied"


def test_a_withdrawn_call_is_not_answered_and_not_made(house: House) -> None:
    agent = house.agent()
    waiting = agent.begin("tools/call", {"name": "filesystem__read_text_file", "arguments": {"path": "~/notes.txt"}})
    eventually(lambda: house.json("approvals", "list"))
    agent.tell("notifications/cancelled", {"requestId": waiting})
    (record,) = eventually(lambda: house.records(kind="refused"))
    assert record["evaluation"]["code"] == "withdrawn"
    assert agent.ask("ping") == {"jsonrpc": "2.0", "id": waiting + 1, "result": {}}
    assert house.json("approvals", "list") == []


def test_a_client_that_vanishes_withdraws_its_calls(house: House) -> None:
    agent = house.agent()
    agent.begin("tools/call", {"name": "filesystem__read_text_file", "arguments": {"path": "~/notes.txt"}})
    eventually(lambda: house.json("approvals", "list"))
    agent.process.kill()
    (record,) = eventually(lambda: house.records(kind="refused"))
    assert record["evaluation"]["code"] == "withdrawn"


def test_a_killed_daemon_is_said_and_the_next_one_knows(house: House) -> None:
    agent = house.agent()
    agent.begin("tools/call", {"name": "filesystem__read_text_file", "arguments": {"path": "~/notes.txt"}})
    eventually(lambda: house.json("approvals", "list"))
    house.kill()
    assert "daemon has stopped" in agent.await_(None)["error"]["message"]
    assert agent.process.wait(10) == 1
    again = house.agent()
    assert again.ask("tools/list")["result"]["tools"]
    (record,) = house.records(kind="refused")
    assert record["evaluation"]["code"] == "cut_off"
    assert house.json("approvals", "list") == []
    house.run("audit", "verify")


def test_many_clients_share_one_daemon(house: House) -> None:
    house.configure("[budget]\nrepeats = 0\n")
    agents = [house.agent("--agent", f"a{n}") for n in range(6)]
    (house.sandbox / "x").write_text("x")

    def work(number: int) -> None:
        for _ in range(20):
            assert text_of(agents[number].call("filesystem__read_text_file", path="x")) == "x"

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(house.records(kind="outcome")) == 120
    house.run("audit", "verify")


def test_a_second_daemon_is_refused(house: House) -> None:
    house.run("daemon", "start")
    assert "already serves" in house.run("daemon", "run", code=2)


def test_what_is_no_message_is_refused_and_the_session_lives(house: House) -> None:
    agent = house.agent()
    for line in (
        b"{",
        b"[]",
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
        b"\xff",
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    ):
        agent.send(line)
        assert "error" in agent.await_(None)
    agent.send(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b","arguments":{}}}')
    assert agent.await_(1)["error"]["data"]["code"] == "json_duplicate_key"
    assert agent.ask("ping")["result"] == {}
    assert len(house.records(kind="refused")) == 6
    agent.send(b'{"x":"' + b"a" * 5_000_000 + b'"}')
    assert agent.await_(None)["error"]["data"]["code"] == "json_too_large"
    assert agent.ask("ping")["result"] == {}


def test_an_unknown_tool_and_unknown_members_are_refused(house: House) -> None:
    agent = house.agent()
    for params in (
        {"name": "nothing", "arguments": {}},
        {"name": "filesystem__read_file", "arguments": {"path": "x"}, "extra": 1},
    ):
        assert agent.ask("tools/call", params)["error"]["code"] == -32602
    assert agent.ask("resources/list")["error"]["code"] == -32601
    assert agent.ask("sampling/createMessage")["error"]["code"] == -32601


def test_eras_do_not_mix(house: House) -> None:
    old, new = house.agent(), house.agent(era="envelope")
    assert old.ask("tools/list", {"_meta": ENVELOPE})["error"]["code"] == -32600
    assert new.ask("server/discover")["result"]["supportedVersions"] == ["2026-07-28"]
    new.era = "none"
    assert new.ask("tools/list")["error"]["code"] == -32602
    assert new.ask("initialize", {"protocolVersion": "2025-11-25"})["error"]["code"] == -32022


def test_a_policy_changed_on_disk_is_taken_up(house: House) -> None:
    house.configure("[budget]\nrepeats = 0\n")
    agent = house.agent()
    assert "isError" not in agent.call("filesystem__write_file", path="a", content="x")
    config = house.home / "config.toml"
    config.write_text('[tools]\ndeny = ["write_file"]\n')
    config.chmod(0o600)
    eventually(lambda: agent.call("filesystem__write_file", path="a", content="x").get("isError"))
    names = [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]]
    assert "filesystem__write_file" not in names
    assert any(message.get("method") == "notifications/tools/list_changed" for message in agent.heard)


def test_a_new_client_has_its_tools_at_once(house: House) -> None:
    house.agent().ask("tools/list")
    began = time.monotonic()
    house.agent().ask("tools/list")
    assert time.monotonic() - began < 2, "seconds would be a hang; the figure itself is in benchmarks"


def test_what_another_policy_would_have_decided(house: House, tmp_path: Path) -> None:
    agent = house.agent("--agent", "coder")
    agent.call("filesystem__write_file", path="a", content="x")
    agent.call("filesystem__delete_file", path="a")
    stricter = tmp_path / "stricter"
    shutil.copytree(house.home / "policy", stricter)
    stricter.chmod(0o700)
    policy = json.loads((stricter / "compiled-policy.json").read_text())
    policy["rules"].insert(0, {"name": "no-writing", "if": {"roles": ["write-path"], "tool": ["write_file"]}, "then": "deny", "reason": "read only"})  # fmt: skip
    policy["version"] += 1
    (stricter / "compiled-policy.json").write_text(json.dumps(policy))
    (stricter / "test-scenarios.json").unlink()
    house.run("policy", "verify", str(stricter))
    found = house.json("audit", "replay", "--policy", str(stricter))
    assert found["counts"] == {"different": 1, "same": 1}
    (changed,) = found["calls"]
    assert (changed["tool"], changed["was"], changed["would"]) == ("write_file", "allow", "deny")
    assert "1 different, 1 same" in house.run("audit", "replay", "--policy", str(stricter))


VERSIONED_SERVER = """
import json, pathlib, sys
version = pathlib.Path(sys.argv[1]).read_text()
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "v", "version": version}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_a_server_of_another_version_is_not_used_before_somebody_looked(house: House, tmp_path: Path) -> None:
    version, script = tmp_path / "version", tmp_path / "server.py"
    version.write_text("1.0")
    script.write_text(VERSIONED_SERVER)
    house.run("servers", "add", "v", "--", sys.executable, str(script), str(version))
    house.run("servers", "review", "v", "--yes")
    agent = house.agent()
    assert "v__t" in [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]]
    house.run("daemon", "stop")
    version.write_text("2.0")
    agent = house.agent()
    assert "v__t" not in [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]]
    assert "was version 1.0 when you approved it and is 2.0 now" in house.run("status")
    assert "was version 1.0, and is 2.0 now" in house.run("servers", "review", "v", "--yes")
    eventually(lambda: "v__t" in [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]])
