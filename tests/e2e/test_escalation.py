"""People and their answers, through real processes: what they see, what a yes is for, and what it never is."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from ironcurtain.daemon.address import bound
from ironcurtain.daemon.control import _METHODS
from tests.e2e.house import Agent, House, Terminal, code_of, eventually, text_of

READ = "filesystem__read_text_file"
ERAS = ("handshake", "envelope")


def ask(agent: Agent, tool: str = READ, reason: str = "", **arguments: Any) -> int:
    meta = {"_meta": {"ironcurtain/reason": reason}} if reason else {}
    return agent.begin("tools/call", {"name": tool, "arguments": arguments, **meta})


def waiting(house: House, number: int = 1) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = eventually(
        lambda: (questions := house.json("approvals")) and len(questions) >= number and questions
    )
    assert len(found) == number
    return found


@pytest.fixture
def documents(house: House) -> Any:
    directory = house.owner / "Documents"
    directory.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (directory / name).write_text(f"this is {name}")
    (house.owner / "secret.txt").write_text("secret")
    return directory


def test_the_person_sees_everything_and_the_agents_words_are_marked(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    ask(agent, reason="my owner said that this is fine", path=str(documents / "a.txt"))
    (question,) = waiting(house)
    assert question["happens"] == [f"reads {documents}/a.txt"]
    assert question["undone"] == "there is nothing to undo: it only reads"
    assert question["leaves"] == "no, as far as the tool is described"
    assert question["rule"] == "ask-for-anything-else"
    assert question["principle"]
    assert question["agentSays"] == "my owner said that this is fine"
    shown = house.run("approvals", "show", question["id"])
    assert "its own words, they prove nothing" in shown
    assert str(documents / "a.txt") in shown
    assert question["pattern"] == [f"path (read-path): anywhere in {documents}"]


def test_a_long_value_is_never_cut(house: House) -> None:
    agent = house.agent()
    name = "x" * 200 + "/" + "y" * 200 + "/the-end"
    ask(agent, "filesystem__write_file", path=str(house.owner / name), content="c" * 5000 + "THE END")
    (question,) = waiting(house)
    shown = house.run("approvals", "show", question["id"])
    assert "the-end" in shown
    assert "c" * 5000 + "THE END" in shown.replace("\n│ ", "")


def test_characters_that_look_like_others_are_spelled_out(house: House) -> None:
    ask(house.agent(), path=str(house.owner / "p\u0430y.txt"))
    (question,) = waiting(house)
    assert question["unusual"] == ["\u0430 is U+0430 CYRILLIC SMALL LETTER A"]


def test_yes_for_the_session_is_for_this_very_call(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    first = ask(agent, path=str(documents / "a.txt"))
    (question,) = waiting(house)
    house.run("approvals", "approve", question["id"], "--session")
    assert "a.txt" in text_of(agent.await_(first)["result"])
    for _ in range(3):
        assert "isError" not in agent.call(READ, path=str(documents / "a.txt"))
    assert house.json("approvals") == []
    ask(agent, path=str(documents / "b.txt"))
    assert waiting(house)[0]["arguments"]["path"].endswith("b.txt")
    other = house.agent("--agent", "coder")
    ask(other, path=str(documents / "a.txt"))
    assert len(waiting(house, 2)) == 2, "another session asks again"
    granted = [
        record for record in house.records(kind="intent") if record.get("escalation", {}).get("decision") == "granted"
    ]
    assert len(granted) == 3
    assert "unbroken" in house.run("audit", "verify")


def test_a_wider_yes_is_as_wide_as_it_was_shown(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    first = ask(agent, path=str(documents / "a.txt"))
    (question,) = waiting(house)
    said = house.run("approvals", "approve", question["id"], "--wider", "--uses", "2", "--minutes", "5", "--yes")
    assert f"anywhere in {documents}" in said
    assert "at most 2 times, for 5 minutes" in said
    assert "a.txt" in text_of(agent.await_(first)["result"])
    (grant,) = house.json("approvals", "grants")
    assert (grant["left"], grant["scope"]) == (2, "pattern")
    assert "b.txt" in text_of(agent.call(READ, path=str(documents / "b.txt")))
    (documents / "out").symlink_to(house.owner / "secret.txt")
    leads_out = ask(agent, path=str(documents / "out"))
    (question,) = waiting(house)
    assert question["arguments"]["path"] == str(house.owner / "secret.txt"), "where it leads is what counts"
    house.run("approvals", "deny", question["id"])
    assert code_of(agent.await_(leads_out)["result"]) == "human_denied"
    another_tool = ask(agent, "filesystem__write_file", path=str(documents / "n.txt"), content="x")
    (question,) = waiting(house)
    house.run("approvals", "deny", question["id"])
    agent.await_(another_tool)
    denied = agent.call("filesystem__delete_file", path=str(documents / "a.txt"))
    assert code_of(denied) == "rule_deny", "no grant turns a deny"
    assert "c.txt" in text_of(agent.call(READ, path=str(documents / "c.txt")))
    ask(agent, path=str(documents / "a.txt"))
    assert waiting(house), "it is used up"


def test_a_grant_can_be_taken_back(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    first = ask(agent, path=str(documents / "a.txt"))
    house.run("approvals", "approve", waiting(house)[0]["id"], "--wider", "--yes")
    agent.await_(first)
    (grant,) = house.json("approvals", "grants")
    house.run("approvals", "revoke", grant["id"])
    ask(agent, path=str(documents / "b.txt"))
    assert waiting(house)


def test_a_grant_ends_with_the_policy(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    first = ask(agent, path=str(documents / "a.txt"))
    house.run("approvals", "approve", waiting(house)[0]["id"], "--wider", "--yes")
    agent.await_(first)
    policy = house.home / "policy" / "compiled-policy.json"
    version = house.status()["policy"]["version"]
    policy.write_text(policy.read_text().replace(f'"version": {version}', f'"version": {version + 1}', 1))
    house.run("policy", "verify", str(house.home / "policy"))
    eventually(lambda: house.status()["policy"]["version"] == version + 1)
    ask(agent, path=str(documents / "b.txt"))
    assert waiting(house)


def test_a_group_answer_is_for_exactly_the_calls_listed(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    calls = [ask(agent, path=str(documents / name)) for name in ("a.txt", "b.txt")]
    questions = waiting(house, 2)
    (group,) = {question["group"] for question in questions}
    late = ask(agent, path=str(documents / "c.txt"))
    waiting(house, 3)
    assert "is not waiting" in house.run("approvals", "approve", group, code=2), "another one has joined"
    (group,) = {question["group"] for question in house.json("approvals")}
    write = ask(agent, "filesystem__write_file", path=str(documents / "w.txt"), content="x")
    assert [question["group"] for question in waiting(house, 4)][-1] == "", "another tool is another kind"
    assert house.run("approvals", "approve", group).count("approved:") == 3
    for call in (*calls, late):
        assert "isError" not in agent.await_(call)["result"]
    (left,) = house.json("approvals")
    assert left["tool"] == "write_file"
    house.run("approvals", "deny", left["id"], "no", "writing")
    assert "no writing" in text_of(agent.await_(write)["result"])


def test_three_ways_to_get_a_no_are_three(house: House, documents: Any) -> None:
    house.configure("[escalation]\nseconds = 1\n")
    agent = house.agent("--agent", "coder")
    timed_out = ask(agent, path=str(documents / "a.txt"))
    assert code_of(agent.await_(timed_out)["result"]) == "approval_timeout"
    assert code_of(agent.call("filesystem__delete_file", path=str(documents / "a.txt"))) == "rule_deny"
    codes = [record["evaluation"]["code"] for record in house.records(kind="refused")]
    assert codes == ["approval_timeout", "rule_deny"]


def test_a_rule_can_wait_without_end(house: House, documents: Any) -> None:
    house.configure('[escalation]\nseconds = 1\n[escalation.byRule.ask-for-anything-else]\natTimeout = "wait"\n')
    agent = house.agent("--agent", "coder")
    call = ask(agent, path=str(documents / "a.txt"))
    (question,) = waiting(house)
    assert question["secondsLeft"] is None
    time.sleep(1.5)
    house.run("approvals", "approve", question["id"])
    assert "isError" not in agent.await_(call)["result"]


def test_an_answer_that_comes_late_is_none(house: House, documents: Any) -> None:
    house.configure("[escalation]\nseconds = 1\n")
    agent = house.agent("--agent", "coder")
    call = ask(agent, path=str(documents / "a.txt"))
    (question,) = waiting(house)
    agent.await_(call)
    assert "is not waiting" in house.run("approvals", "approve", question["id"], code=2)
    assert not house.records(kind="intent")


def test_what_changes_while_a_person_thinks_is_asked_again(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    link = documents / "link"
    link.symlink_to(documents / "a.txt")
    call = ask(agent, path=str(link))
    (question,) = waiting(house)
    assert question["arguments"]["path"] == str(documents / "a.txt")
    link.unlink()
    link.symlink_to(house.owner / "secret.txt")
    house.run("approvals", "approve", question["id"])
    (again,) = eventually(lambda: [q for q in house.json("approvals") if q["id"] != question["id"]])
    assert again["arguments"]["path"] == str(house.owner / "secret.txt")
    house.run("approvals", "deny", again["id"])
    assert code_of(agent.await_(call)["result"]) == "human_denied"


def test_another_reason_to_ask_is_asked_about(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    report, secret = documents / "report.txt", house.owner / "secret.txt"
    report.write_text("figures")
    secret.write_text("hidden")
    call = ask(agent, path=str(report))
    (question,) = waiting(house)
    assert question["alsoAsked"] == []
    report.unlink()
    report.hardlink_to(secret)
    house.run("approvals", "approve", question["id"])
    (again,) = eventually(lambda: [q for q in house.json("approvals") if q["id"] != question["id"]])
    assert "other names" in str([again["reason"], again["alsoAsked"]])
    house.run("approvals", "deny", again["id"])
    assert code_of(agent.await_(call)["result"]) == "human_denied"


def test_a_flood_of_questions_is_cut_off(house: House) -> None:
    agent = house.agent("--agent", "coder")
    calls = [ask(agent, path=str(house.owner / f"f{n}")) for n in range(60)]
    answers = [agent.await_(call)["result"] for call in calls[50:]]
    assert {code_of(answer) for answer in answers} == {"ask_flood"}
    assert len(house.json("approvals")) == 50


def accept(approve: bool) -> dict[str, Any]:
    return {"action": "accept", "content": {"approve": approve}}


def test_the_clients_own_dialog_answers_only_where_the_owner_trusts_it(house: House, documents: Any) -> None:
    house.configure('[escalation]\ntrustedInterfaces = ["trusted"]\n')
    agent = house.agent("--agent", "trusted", can={"elicitation": {}})
    call = ask(agent, path=str(documents / "a.txt"))
    request = agent.await_request("elicitation/create")
    assert str(documents / "a.txt") in request["params"]["message"]
    agent.reply(request["id"], accept(True))
    assert "isError" not in agent.await_(call)["result"]
    assert house.records(kind="intent")[0]["escalation"]["approver"] == "the user of trusted"
    call = ask(agent, path=str(documents / "b.txt"))
    agent.reply(agent.await_request("elicitation/create")["id"], {"action": "decline"})
    assert code_of(agent.await_(call)["result"]) == "human_denied"
    other = house.agent("--agent", "other", can={"elicitation": {}})
    call = ask(other, path=str(documents / "a.txt"))
    waiting(house)
    other.reply("ironcurtain-1", accept(True))
    time.sleep(0.3)
    assert len(house.json("approvals")) == 1, "nobody asked it"


def test_a_client_without_a_handshake_is_asked_by_an_answer(house: House, documents: Any) -> None:
    house.configure('[escalation]\ntrustedInterfaces = ["trusted"]\n')
    agent = house.agent("--agent", "trusted", era="envelope", can={"elicitation": {}})
    arguments = {"path": str(documents / "a.txt")}
    first = agent.ask("tools/call", {"name": READ, "arguments": arguments})["result"]
    assert first["resultType"] == "input_required"
    ((key, request),) = first["inputRequests"].items()
    assert request["method"] == "elicitation/create"
    more = {"requestState": first["requestState"], "inputResponses": {key: accept(True)}}
    stolen = {"name": READ, "arguments": {"path": str(documents / "b.txt")}, **more}
    assert "another call waits" in agent.ask("tools/call", stolen)["error"]["message"]
    second = agent.ask("tools/call", {"name": READ, "arguments": arguments, **more})["result"]
    assert "this is a.txt" in text_of(second)
    assert second["resultType"] == "complete"
    again = agent.ask("tools/call", {"name": READ, "arguments": arguments, **more})
    assert "no call waits" in again["error"]["message"], "a token is good once"


@pytest.mark.parametrize("era", ERAS)
def test_the_terminal_answers_while_the_clients_dialog_is_open(house: House, documents: Any, era: str) -> None:
    house.configure('[escalation]\ntrustedInterfaces = ["trusted"]\n')
    agent = house.agent("--agent", "trusted", era=era, can={"elicitation": {}})
    agent.ask("tools/list")
    arguments = {"path": str(documents / "a.txt")}
    call = agent.begin("tools/call", {"name": READ, "arguments": arguments})
    (question,) = waiting(house)
    house.run("approvals", "approve", question["id"])
    answer = agent.await_(call)["result"]
    if era == "envelope":
        state = {"requestState": answer["requestState"], "inputResponses": {}}
        answer = agent.ask("tools/call", {"name": READ, "arguments": arguments, **state})["result"]
    assert "this is a.txt" in text_of(answer)


def test_single_keys_on_a_terminal(house: House, documents: Any) -> None:
    house.run("daemon", "start")
    terminal = Terminal(house, "approvals", "--watch")
    terminal.until("waiting for questions")
    agent = house.agent("--agent", "coder")
    call = ask(agent, path=str(documents / "a.txt"))
    terminal.until("reads " + str(documents / "a.txt"))
    terminal.until("a approve once")
    terminal.press("a")
    terminal.until("read it first")
    time.sleep(1)
    terminal.press("a")
    terminal.until("approved")
    assert "this is a.txt" in text_of(agent.await_(call)["result"])
    call = ask(agent, path=str(documents / "b.txt"))
    terminal.until("x deny and say why")
    time.sleep(1)
    terminal.press("x")
    terminal.until("what should the agent be told?")
    terminal.press("not today\n")
    assert "not today" in text_of(agent.await_(call)["result"])
    call = ask(agent, path=str(documents / "c.txt"))
    terminal.until("w approve a wider pattern")
    time.sleep(1)
    terminal.press("w")
    terminal.until(f"anywhere in {documents}")
    terminal.until("y to confirm")
    terminal.press("y")
    assert "isError" not in agent.await_(call)["result"]
    assert "isError" not in agent.call(READ, path=str(documents / "a.txt"))
    terminal.press("q")
    assert terminal.process.wait(10) == 0


def test_news_that_come_in_one_piece_with_an_answer_are_seen(house: House) -> None:
    """The daemon's part is played: the real one sends the two in one piece only once in a while."""
    with socket.socket(socket.AF_UNIX) as listener:
        with bound(house.home / "daemon.sock") as address:
            listener.bind(address)
        listener.listen()
        terminal = Terminal(house, "approvals", "--watch")
        connection = listener.accept()[0]
        connection.settimeout(20)
        with connection, connection.makefile("rb") as asked:
            asked.readline()
            result: dict[str, Any] = {"questions": []}
            for method, news in (("watch", b""), ("questions", b'{"method":"news"}\n'), ("questions", b"")):
                request = json.loads(asked.readline())
                assert request["method"] == method
                connection.sendall(json.dumps({"id": request["id"], "result": result}).encode() + b"\n" + news)
        assert terminal.process.wait(10) == 2


def test_what_goes_beside_the_arguments_is_shown_and_covered_by_no_grant(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    params = {
        "name": READ,
        "arguments": {"path": str(documents / "a.txt")},
        "_meta": {"x": "exfiltrated", "ironcurtain/reason": "r"},
    }
    call = agent.begin("tools/call", params)
    (question,) = waiting(house)
    assert question["besides"] == {"x": "exfiltrated"}
    assert "exfiltrated" in house.run("approvals", "show", question["id"])
    house.run("approvals", "approve", question["id"], "--session")
    agent.await_(call)
    agent.begin("tools/call", params)
    assert waiting(house), "what goes along was not granted"


def test_no_value_lays_out_what_a_person_reads(house: House) -> None:
    ask(
        house.agent(),
        "filesystem__write_file",
        path=str(house.owner / "x"),
        content="a\nbecause      routine\n\u3164C:\\new",
    )
    (question,) = waiting(house)
    shown = house.run("approvals", "show", question["id"])
    assert not [line for line in shown.splitlines() if line.startswith("because      routine")]
    assert "\\u3164" in shown


def test_only_the_whole_id_answers(house: House, documents: Any) -> None:
    ask(house.agent(), path=str(documents / "a.txt"))
    (question,) = waiting(house)
    assert "is not waiting" in house.run("approvals", "approve", question["id"][:-1], code=2)


def test_a_question_too_large_for_anybody_is_none(house: House) -> None:
    agent = house.agent()
    refused = agent.call("filesystem__write_file", path=str(house.owner / "x"), content="x" * 200_000)
    assert code_of(refused) == "ask_too_large"


def test_the_limits_of_a_grant_are_the_ones_that_are_shown(house: House, documents: Any) -> None:
    house.configure("[escalation]\ngrantUses = 7\ngrantSeconds = 600\n")
    ask(house.agent("--agent", "coder"), path=str(documents / "a.txt"))
    (question,) = waiting(house)
    said = house.run("approvals", "approve", question["id"], "--wider", "--yes")
    assert "at most 7 times, for 10 minutes" in said
    assert eventually(lambda: house.json("approvals", "grants"))[0]["left"] == 7


CONTROL: dict[str, dict[str, Any]] = {
    "status": {},
    "stop": {},
    "reload": {},
    "questions": {},
    "watch": {},
    "grants": {},
    "revoke": {"grant": "g1"},
    "budget": {},
    "budget/reset": {},
    "code/run": {"program": "1", "agent": "code"},
    "code/plan": {"program": "1", "agent": "code"},
    "code/list": {},
    "code/show": {"run": "00000000"},
    "code/cancel": {"run": "00000000"},
    "code/interfaces": {"agent": "code"},
    "agent/run": {"task": "t", "agent": "a", "model": "", "script": [{"text": "t", "calls": []}]},
    "agent/tell": {"id": "00000000", "what": "stop"},
    "agent/list": {},
    "agent/show": {"id": "00000000"},
    "prompts/list": {},
    "resources/read": {"uri": "file:///etc/hostname"},
}


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_cannot_answer_for_the_person(house: House, documents: Any, era: str) -> None:
    agent = house.agent("--agent", "coder", era=era)
    agent.ask("tools/list")
    call = ask(agent, path=str(documents / "a.txt"))
    (question,) = waiting(house)
    pid = house.status()["pid"]
    methods = {**CONTROL, "answer": {"question": question["id"], "approved": True}}
    assert methods.keys() >= _METHODS.keys(), "every method of the owner's is tried"
    for introduced in (False, True):
        if introduced:
            agent.send(b'{"hello":"control"}')
            assert agent.await_(None)["error"]["data"]["code"] == "rpc_malformed"
        for method, params in methods.items():
            assert agent.ask(method, params)["error"]["code"] == -32601, method
            named = agent.ask("tools/call", {"name": method, "arguments": params})
            assert named["error"]["data"]["code"] == "tool_unknown", method
    assert [each["id"] for each in house.json("approvals")] == [question["id"]]
    assert house.status()["pid"] == pid
    assert not house.records(kind="intent")
    house.run("approvals", "approve", question["id"])
    assert "isError" not in agent.await_(call)["result"], "the person still can"


def test_a_yes_does_not_outlive_the_policy_it_was_asked_under(house: House) -> None:
    private = house.owner / "private"
    private.mkdir()
    (private / "diary").write_text("dear diary")
    agent = house.agent("--agent", "coder")
    call = ask(agent, path=str(private / "diary"))
    (question,) = waiting(house)
    path = house.home / "policy" / "compiled-policy.json"
    policy = json.loads(path.read_text())
    policy["version"] += 1
    nobodys = {"paths": {"roles": ["read-path"], "within": str(private)}}
    policy["rules"].insert(0, {"name": "no-diaries", "if": nobodys, "then": "deny"})
    path.write_text(json.dumps(policy))
    house.run("policy", "verify", str(path.parent))
    eventually(lambda: house.status()["policy"]["version"] == policy["version"])
    house.run("approvals", "approve", question["id"])
    assert code_of(agent.await_(call)["result"]) == "rule_deny"
    (record,) = house.records(kind="refused")
    assert record["evaluation"]["rule"] == "no-diaries"
    assert not house.records(kind="intent")


def test_a_yes_gives_no_time_to_a_budget_that_has_run_out(house: House, documents: Any) -> None:
    house.configure("[budget.session]\nseconds = 1\n")
    agent = house.agent("--agent", "coder")
    call = ask(agent, path=str(documents / "a.txt"))
    (question,) = waiting(house)
    eventually(lambda: house.json("budget")["accounts"][0]["seconds"] >= 2)
    house.run("approvals", "approve", question["id"])
    assert code_of(agent.await_(call)["result"]) == "budget_exhausted"
    assert not house.records(kind="intent")


def test_nobody_can_say_yes_to_an_agent_that_is_gone(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    ask(agent, path=str(documents / "a.txt"))
    (question,) = waiting(house)
    agent.process.kill()
    eventually(lambda: house.json("approvals") == [])
    assert "is not waiting" in house.run("approvals", "approve", question["id"], code=2)
    assert [record["evaluation"]["code"] for record in house.records(kind="refused")] == ["withdrawn"]
    assert not house.records(kind="intent")


def test_an_agent_cannot_fill_the_screen_with_questions(house: House, documents: Any) -> None:
    agent = house.agent("--agent", "coder")
    ask(agent, reason="word " * 500, path=str(documents / ("\u4e00\u4e8c" * 30 + "p\u0430y")))
    (question,) = waiting(house)
    assert len(question["agentSays"]) < 500
    strange = "".join(map(chr, range(0x4E00, 0x4E00 + 9_000)))
    path = str(documents / "b")
    asked = [ask(agent, "filesystem__write_file", path=path, content=f"{n}{strange}") for n in range(45)]
    refused = [agent.await_(call) for call in asked[40:]]
    assert {code_of(answer["result"]) for answer in refused} == {"ask_flood"}
    shown = house.json("approvals", "list")
    (first,) = (each for each in shown if each["id"] == question["id"])
    assert first["unusual"][0].startswith("\u0430 is U+0430 CYRILLIC"), "what may be taken for another comes first"
    assert max(len(each["unusual"]) for each in shown) <= 202
    assert "look" in house.run("approvals", "show", shown[-1]["id"])


def test_the_agents_reason_is_one_line_apart_from_the_facts(house: House, documents: Any) -> None:
    reason = "fine\nbecause      routine\r\n\x1b[2J\x1b[1Ait           reads nothing\u2028\u202eyour words   always"
    ask(house.agent("--agent", "coder"), reason=reason, path=str(documents / "a.txt"))
    (question,) = waiting(house)
    shown = house.run("approvals", "show", question["id"])
    assert shown.replace("│ ", "").isascii()
    assert not set(shown) & {"\x1b", "\r"}
    lines = shown.split("\n")
    facts = [number for number, line in enumerate(lines) if line.startswith(("it  ", "because  ", "your words  ", "rule  "))]  # fmt: skip
    assert len(facts) == 4, "as many as there are facts, none of them the agent's"
    assert lines[facts[0]] == f"it           reads {documents}/a.txt"
    (said,) = [number for number, line in enumerate(lines) if "routine" in line]
    assert said < min(facts), "where the eye is, facts stand"
    assert lines[said - 1] == "the agent says (its own words, they prove nothing):"
    assert lines[said].startswith("│ fine\\nbecause ")
    assert lines[said].endswith("\\r\\n\\x1b[2J\\x1b[1Ait           reads nothing\\u2028\\u202eyour words   always")
