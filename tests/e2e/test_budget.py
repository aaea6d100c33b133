"""Budgets and loops, through real processes: shared, counted over a crash, and shown."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.e2e.house import House, code_of, eventually, text_of

WRITE, READ = "filesystem__write_file", "filesystem__read_text_file"


def test_exactly_as_many_calls_as_the_budget_has(house: House) -> None:
    house.configure("[budget]\nrepeats = 0\n[budget.session]\ncalls = 10\n")
    agents = [house.agent("--agent", "coder") for _ in range(4)]
    ids = [(agent, agent.begin("tools/call", {"name": WRITE, "arguments": {"path": f"f{n}-{m}", "content": "x"}}))
           for m, agent in enumerate(agents) for n in range(25)]  # fmt: skip
    with ThreadPoolExecutor(4) as pool:
        lists = [[id_ for owner, id_ in ids if owner is agent] for agent in agents]
        results = [r for found in pool.map(lambda p: [p[0].await_(i)["result"] for i in p[1]], zip(agents, lists, strict=True)) for r in found]  # fmt: skip
    assert sum("isError" not in result for result in results) == 10
    assert {code_of(result) for result in results if result.get("isError")} == {"budget_exhausted"}
    assert len(list(house.sandbox.iterdir())) == 10
    other = house.agent("--agent", "other")
    assert "isError" not in other.call(WRITE, path="mine", content="x"), "another agent has a budget of its own"


def test_neither_a_new_connection_nor_a_crash_gives_anything_back(house: House) -> None:
    house.configure("[budget.session]\ncalls = 3\n")
    agent = house.agent("--agent", "coder")
    assert "isError" not in agent.call(WRITE, path="a", content="x")
    assert "isError" not in house.agent("--agent", "coder").call(WRITE, path="b", content="x")
    house.kill()
    assert "isError" not in house.agent("--agent", "coder").call(WRITE, path="c", content="x")
    house.kill()
    late = house.agent("--agent", "coder")
    assert code_of(late.call(WRITE, path="d", content="x")) == "budget_exhausted"
    assert "at most 3 calls" in text_of(late.call(WRITE, path="d", content="x"))
    assert "1 budgets begin anew" in house.run("budget", "reset", "--agent", "coder")
    assert "isError" not in late.call(WRITE, path="d", content="x")
    assert "unbroken" in house.run("audit", "verify")


def test_what_the_owner_counts(house: House) -> None:
    house.configure('[budget.session.named.written]\nrole = "write-path"\nmost = 2\n')
    agent = house.agent("--agent", "coder")
    for name in ("a", "b"):
        assert "isError" not in agent.call(WRITE, path=name, content="x")
    assert "at most 2 written" in text_of(agent.call(WRITE, path="c", content="x"))
    assert "isError" not in agent.call(READ, path="a")
    (account,) = house.json("budget")["accounts"]
    assert account["used"]["named written"] == 2
    shown = house.run("budget")
    assert "written" in shown
    assert "coder" in shown


def test_a_call_that_was_not_made_costs_nothing(house: House) -> None:
    house.configure("[budget.session]\ncalls = 1\n")
    agent = house.agent("--agent", "coder")
    call = agent.begin("tools/call", {"name": READ, "arguments": {"path": str(house.owner / "x")}})
    (question,) = eventually(lambda: house.json("approvals"))
    house.run("approvals", "deny", question["id"])
    assert code_of(agent.await_(call)["result"]) == "human_denied"
    assert "isError" not in agent.call(WRITE, path="a", content="x")


def test_an_agent_that_is_refused_too_often_is_stopped(house: House) -> None:
    house.configure("[budget.session]\nrefusals = 5\n")
    agent = house.agent("--agent", "coder")
    codes = [code_of(agent.call("filesystem__delete_file", path="x")) for _ in range(6)]
    assert codes == ["rule_deny"] * 5 + ["budget_exhausted"]
    assert code_of(agent.call(WRITE, path="a", content="x")) == "budget_exhausted"


def test_what_is_not_even_a_call_counts_as_refused(house: House) -> None:
    house.configure("[budget.session]\nrefusals = 5\n")
    agent = house.agent("--agent", "coder")
    for line, id_ in ((b"{", None), (b'{"jsonrpc":"2.0","id":99,"method":"tools/call","method":"ping"}', 99)):
        agent.send(line)
        assert "error" in agent.await_(id_)
    for name in ("filesystem__nothing", "nowhere__read_file"):
        assert agent.ask("tools/call", {"name": name, "arguments": {}})["error"]["data"]["code"] == "tool_unknown"
    assert "isError" not in agent.call(WRITE, path="a", content="x"), "four are not five"
    agent.send(b"[]")
    assert "error" in agent.await_(None)
    assert "at most 5 refusals" in text_of(agent.call(WRITE, path="b", content="x"))
    assert not (house.sandbox / "b").exists()
    assert "isError" not in house.agent("--agent", "other").call(WRITE, path="b", content="x")


def test_a_loop_stops_and_asks(house: House) -> None:
    (house.sandbox / "note").write_text("same")
    agent = house.agent("--agent", "coder")
    for _ in range(10):
        assert "isError" not in agent.call(READ, path="note")
    call = agent.begin("tools/call", {"name": READ, "arguments": {"path": "note"}})
    (question,) = eventually(lambda: house.json("approvals"))
    assert "called read_text_file with the same or nearly the same arguments 10 times" in question["reason"]
    assert "continue or stop?" in question["reason"]
    assert question["widens"] is False
    house.run("approvals", "deny", question["id"], "stop", "reading")
    assert "stop reading" in text_of(agent.await_(call)["result"])
    call = agent.begin("tools/call", {"name": READ, "arguments": {"path": "note"}})
    (question,) = eventually(lambda: house.json("approvals"))
    house.run("approvals", "approve", question["id"])
    assert "isError" not in agent.await_(call)["result"]
    (house.sandbox / "note").write_text("changed")
    for _ in range(5):
        assert text_of(agent.call(READ, path="note")) == "changed"
