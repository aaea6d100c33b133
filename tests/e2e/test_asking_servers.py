"""A server that asks for something in the middle of a call: refused, unless the owner lets it; in every mix of eras."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.e2e.house import Agent, House, eventually, ruled, text_of
from tests.support import some

ASKER = str(Path(__file__).with_name("asker.py"))
ERAS = ("handshake", "envelope")
ALLOWED = '[servers.asker]\nmayAsk = ["elicitation"]\n'
SAID = {"action": "accept", "content": {"word": "please"}}


def agent_with(house: House, upstream: str, era: str, config: str = "", can: bool = True) -> Agent:
    house.configure("[escalation]\nseconds = 1\n" + config)
    house.run("servers", "add", "asker", "--", sys.executable, ASKER, upstream)
    house.run("servers", "review", "asker", "--yes")
    allow_everything_of_it(house)
    agent = house.agent("--agent", "coder", era=era, can={"elicitation": {}} if can else {})
    agent.ask("tools/list")
    return agent


def allow_everything_of_it(house: House) -> None:
    path = house.home / "policy" / "compiled-policy.json"
    policy = json.loads(path.read_text())
    policy["version"] += 1
    conditions = {"server": ["asker"], "tool": ["ask"]}
    ruled(policy, "asker", {"name": "asker", "if": conditions, "then": "allow", "reason": "a test"})
    path.write_text(json.dumps(policy))
    house.run("policy", "verify", "--derive", str(house.home / "policy"))


@pytest.mark.parametrize("upstream", some(ERAS, 2))
@pytest.mark.parametrize("era", ERAS)
def test_what_the_owner_did_not_allow_is_refused(house: House, upstream: str, era: str) -> None:
    agent = agent_with(house, upstream, era)
    result = agent.call("asker__ask")
    assert "please" not in text_of(result)
    assert "not offered" in text_of(result) or "not allowed" in text_of(result)
    assert not [message for message in agent.heard if message.get("method") == "elicitation/create"]


@pytest.mark.parametrize("upstream", some(ERAS, 2))
@pytest.mark.parametrize("era", ERAS)
def test_what_the_owner_allowed_reaches_the_client_as_the_servers_words(house: House, upstream: str, era: str) -> None:
    agent = agent_with(house, upstream, era, ALLOWED)
    if era == "handshake":
        call = agent.begin("tools/call", {"name": "asker__ask", "arguments": {}})
        request = agent.await_request("elicitation/create")
        agent.reply(request["id"], SAID)
        result = agent.await_(call)["result"]
    else:
        first = agent.ask("tools/call", {"name": "asker__ask", "arguments": {}})["result"]
        ((key, request),) = first["inputRequests"].items()
        more = {"requestState": first["requestState"], "inputResponses": {key: SAID}}
        result = agent.ask("tools/call", {"name": "asker__ask", "arguments": {}, **more})["result"]
    assert (
        request["params"]["message"] == "The server asker asks (these are its words, not IronCurtain's): say the word"
    )
    assert '"please"' in text_of(result)
    assert [record["method"] for record in house.records(event="server-asks")] == ["elicitation/create"]
    assert "server-asks" in house.run("audit", "tail")


@pytest.mark.parametrize("upstream", ERAS)
def test_a_client_that_cannot_be_asked_is_not(house: House, upstream: str) -> None:
    agent = agent_with(house, upstream, "handshake", ALLOWED, can=False)
    text = text_of(agent.call("asker__ask"))
    assert "not offered" in text or "not allowed" in text


@pytest.mark.parametrize("era", ERAS)
def test_a_change_of_tools_is_heard_across_the_eras(house: House, era: str) -> None:
    house.run("servers", "add", "changer", "--", sys.executable, str(Path(__file__).with_name("changer.py")))
    house.run("servers", "review", "changer", "--yes")
    agent = house.agent("--agent", "coder", era=era)
    eventually(lambda: {"changer__keep", "changer__drop"} <= offered(agent))
    if era == "envelope":
        agent.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    call = agent.begin("tools/call", {"name": "changer__keep", "arguments": {}})
    (question,) = eventually(lambda: house.json("approvals"))
    agent.heard.clear()
    house.run("approvals", "approve", question["id"])
    agent.await_(call)
    eventually(lambda: "changer__drop" not in offered(agent))
    assert "changer__keep" in offered(agent)
    assert [message for message in agent.heard if message.get("method") == "notifications/tools/list_changed"]


def offered(agent: Agent) -> set[str]:
    return {tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]}


@pytest.mark.parametrize("upstream", ERAS)
def test_what_was_seen_since_the_call_was_made_is_not_told(house: House, upstream: str) -> None:
    agent = agent_with(house, upstream, "handshake", ALLOWED)
    names = {900: ("filesystem__list_directory", {"path": "."}), 901: ("asker__ask", {})}
    calls = [
        {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for id_, (name, arguments) in names.items()
    ]
    agent.send(b"\n".join(json.dumps(call).encode() for call in calls))
    request = agent.await_request("elicitation/create")
    assert "isError" not in agent.await_(900)["result"]
    agent.reply(request["id"], SAID)
    assert "please" not in text_of(agent.await_(901)["result"])


@pytest.mark.parametrize("upstream", ERAS)
def test_a_call_ends_with_its_client_though_its_server_waits_for_an_answer(house: House, upstream: str) -> None:
    agent = agent_with(house, upstream, "handshake", ALLOWED)
    agent.begin("tools/call", {"name": "asker__ask", "arguments": {}})
    agent.await_request("elicitation/create")
    agent.close()
    house.clients.remove(agent)
    (outcome,) = eventually(lambda: house.records(kind="outcome"))
    assert outcome["execution"]["code"] == "withdrawn"
