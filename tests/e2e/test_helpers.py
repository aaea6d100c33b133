"""Agents that work for agents: what they may, who pays, what they tell each other."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.annotations import pin_of
from ironcurtain.artifacts.policy import Surroundings
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.servers.agents import TOOLS
from tests.e2e.models import ModelServer
from tests.e2e.test_agent import PROVIDERS, Desk, toml

if TYPE_CHECKING:
    from tests.e2e.house import House
    from tests.e2e.models import Turn

ECHO = {"says": "I echo.", "code": 'import bad\nbad.echo(text="from below")'}
DONE = {"says": "Done below."}


class Family(Desk):
    """A desk whose agents may have helpers, as `agents enable` and a compilation leave it."""

    def __init__(self, house: House, text: str = "") -> None:
        super().__init__(house, text)
        house.run("agents", "enable")
        policy = house.home / "policy"
        annotations = json.loads((policy / "tool-annotations.json").read_text())
        tools = [
            {**each.fields(), "definition": tool, "pin": pin_of(tool)}
            for each, tool in zip(understand("agents", TOOLS), TOOLS, strict=True)
        ]
        annotations["servers"]["agents"] = {"tools": tools}
        (policy / "tool-annotations.json").write_text(json.dumps(annotations))
        rules = json.loads((policy / "compiled-policy.json").read_text())
        rules["rules"].insert(0, {"name": "helpers", "if": {"server": ["agents"]}, "then": "allow"})
        (policy / "compiled-policy.json").write_text(json.dumps(rules))
        assert verify_directory(policy, Surroundings(house.home, time.time())).passed

    def play(self, code: str, **helpers: list[dict[str, Any]]) -> str:
        """A script whose agent runs one program, with helpers by their task."""
        return self.work("--agents", "--script", self.written(code, **helpers))

    def written(self, code: str, **helpers: list[dict[str, Any]]) -> str:
        path = Path(self.script({"code": code}, {"says": "Done above."}))
        lines = [path.read_text()]
        for task, turns in helpers.items():
            lines += ["[[helper]]", f"task = {toml(task)}"]
            for turn in turns:
                lines += ["[[helper.turn]]", *(f"{name} = {toml(value)}" for name, value in turn.items())]
        path.write_text("\n".join(lines))
        return str(path)

    def results(self) -> list[str]:
        """What the program of the newest agent that no other started got."""
        agents = [each for each in self.house.json("agents", "list") if "/" not in each["agent"]]
        messages = self.house.json("agents", "show", agents[0]["id"])["messages"]
        return [message["text"] for message in messages if message["role"] == "tool"]


def test_a_helper_does_a_part_and_everything_is_decided_and_recorded(house: House) -> None:
    family = Family(house)
    said = family.play('import agents\nagents.spawn(task="sub")', sub=[ECHO, DONE])
    assert "Done below." in family.results()[0]
    assert family.names() == [("echo", {"text": "from below"})]
    above, below = house.records(kind="intent")
    assert (above["request"]["tool"], above["agent"]) == ("spawn", {"agent": "agent"})
    assert below["agent"] == {"agent": "agent/1", "subagent": True}
    assert below["task"] != above["task"]
    paying = [account.get("task") for account in below["budget"]["accounts"]]
    assert paying == [None, below["task"], None, above["task"]], "both in all, and both for their tasks"
    assert "helper" in said


def test_a_helper_has_no_more_tools_than_it_was_given_or_its_parent_has(house: House) -> None:
    family = Family(house, '[agents.agent.tools]\ndeny = ["bad/touch"]\n')
    sneaky = {"code": 'import filesystem\nfilesystem.list_directory(path=".")'}
    touching = {"code": 'import bad\nbad.touch(text="x")'}
    program = 'import agents\n[agents.spawn(task="a", tools=["bad/echo"]), agents.spawn(task="b")]'
    family.play(program, a=[sneaky, {"calls": [{"name": "filesystem__list_directory", "arguments": {"path": "."}}]}, ECHO, DONE], b=[touching, DONE])  # fmt: skip
    assert family.names() == [("echo", {"text": "from below"})]
    first, second = (
        [message for message in agent["messages"] if message["role"] == "tool"]
        for agent in (
            house.json("agents", "show", each["id"])
            for each in sorted(house.json("agents", "list"), key=lambda each: each["agent"])
            if "/" in each["agent"]
        )
    )
    assert first[0]["failed"]
    assert "was not given to this agent" in first[1]["text"]
    assert not first[2]["failed"]
    assert second[0]["failed"]


def test_a_helper_has_no_helpers_and_none_is_without_a_word_on_the_command_line(house: House) -> None:
    family = Family(house)
    spawning = {"code": 'import agents\nagents.spawn(task="again")'}
    family.play('import agents\nagents.spawn(task="sub")', sub=[spawning, DONE], again=[ECHO, DONE])
    assert family.names() == []
    refused = house.records(kind="refused")
    assert not refused or refused[0]["evaluation"]["stage"] == "access"
    family.work("--script", family.script({"code": 'import agents\nagents.spawn(task="sub")'}, DONE))
    assert family.names() == []
    told = family.run('import agents\nagents.spawn(task="sub")', code=1)
    assert "run --agents" in told["failure"]["message"]


def test_they_tell_each_other_things_through_the_gateway(house: House) -> None:
    family = Family(house)
    program = (
        'import agents\nhelper = agents.start(task="sub")\nagents.send(agent=helper, text="hello")\n'
        "answer = agents.wait(agent=helper)\n[answer, agents.receive()]"
    )
    listening = {"code": 'import agents\nagents.send(agent="parent", text="I am here")\nagents.receive()'}
    family.play(program, sub=[listening, {"says": "Heard."}])
    (result,) = family.results()
    assert "Heard." in result
    assert "I am here" in result
    tools = [record["request"]["tool"] for record in house.records(kind="intent")]
    assert sorted(tools) == ["receive", "receive", "send", "send", "start", "wait"]


def test_whoever_is_stopped_takes_its_helpers_along(house: House) -> None:
    family = Family(house)
    asking = {"code": 'import bad\nbad.touch(text="x")'}
    path = family.written('import agents\nagents.spawn(task="sub")', sub=[asking, DONE])
    process = family.begin("--agents", "--script", path)
    family.asked()
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 20
    while {each["status"] for each in house.json("agents", "list")} != {"stopped"}:
        assert time.monotonic() < deadline, house.json("agents", "list")
        time.sleep(0.05)
    assert family.names() == []


def test_what_helpers_cost_is_paid_by_the_task_above(house: House) -> None:
    family = Family(house, "[budget.task]\ninferenceCost = 0.08\n[run]\nanswer = 1000\n")

    def mind(told: list[str]) -> Turn:
        spawn = 'import agents\nagents.spawn(task="think about it")'
        if told[0] == "think about it" and len(told) < 9:
            return {"calls": [{"name": "execute_code", "arguments": {"code": "1"}}]}
        return (
            {"calls": [{"name": "execute_code", "arguments": {"code": spawn}}]} if told[0] == "go" else {"text": "ok"}
        )

    with ModelServer(mind) as server:
        model = PROVIDERS["anthropic"][0]
        said = family.work("go", "--agents", "--model", model, code=1, environment=family.environment(server))
    assert "at most $0.08" in said
    costs = {each["agent"]: each["cost"] for each in house.json("agents", "list")}
    assert sum(costs.values()) <= 0.08
    assert costs["agent/1"] > 0


def test_the_process_of_the_server_itself_does_nothing(house: House) -> None:
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "spawn", "arguments": {"task": "x"}}})  # fmt: skip
    from subprocess import run  # noqa: PLC0415 - for this alone

    done = run([sys.executable, "-I", "-m", "ironcurtain.servers.agents"], input=asked.encode() + b"\n", capture_output=True, check=True)  # fmt: skip
    assert b"error" in done.stdout
