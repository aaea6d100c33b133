"""Rules that speak of where something comes from: what was read in a task may be in whatever is done after it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.policy import Surroundings
from ironcurtain.artifacts.verify import verify_directory
from tests.e2e.house import code_of, eventually, text_of
from tests.e2e.test_helpers import DONE, Family
from tests.e2e.test_http import Http, answer_in

if TYPE_CHECKING:
    from tests.e2e.house import House

NOTE = "/var/tmp/note.txt"
LIST = 'filesystem.list_directory(path=".")'
TOUCH = f'bad.touch(path="{NOTE}")'


class Watched(Family):
    """Nothing that was seen in a file may go to `touch`, which is otherwise allowed."""

    def __init__(self, house: House, text: str = "") -> None:
        super().__init__(house, text)
        policy = house.home / "policy"
        path = policy / "compiled-policy.json"
        rules = json.loads(path.read_text())
        flow = {"server": ["bad"], "tool": ["touch"], "origin": {"roles": ["read-path"], "from": ["filesystem/list*"]}}
        rules["rules"] = [
            {"name": "no-files-out", "if": flow, "then": "deny", "reason": "it has seen your files"},
            *(rule for rule in rules["rules"] if rule["name"] != "touch-asks"),
        ]
        path.write_text(json.dumps(rules))
        assert verify_directory(policy, Surroundings(house.home, time.time())).passed


def test_what_was_read_before_is_in_what_follows(house: House) -> None:
    watched = Watched(house)
    told = watched.run(f"import bad\nimport filesystem\n[{TOUCH}, {LIST}]")
    assert told["status"] == "done", "it had seen nothing yet"
    told = watched.run(
        f"import bad\nimport filesystem\nseen = {LIST}\nx = '/var/tmp/note.txt' if str(seen) else ''\nbad.touch(path=x)",
        code=1,
    )
    assert "it has seen your files" in told["failure"]["message"]
    assert told["calls"] == 2
    assert [name for name, _ in watched.names()] == ["touch"]


def test_a_plan_says_what_flows_and_the_call_is_not_made(house: House) -> None:
    watched = Watched(house)
    told = watched.run(f"import bad\nimport filesystem\nbad.touch(path='/var/tmp/note.txt', text=str({LIST}))", code=1)
    assert "it has seen your files" in told["failure"]["message"]
    assert watched.names() == []
    (planned,) = (record["plan"] for record in house.records(event="code") if record["what"] == "planned")
    (touch,) = (call for call in planned["calls"] if call["name"] == "bad.touch")
    assert touch["flows"] == ["filesystem.list_directory"]


def test_what_a_program_saw_is_known_after_it_was_cut_off(house: House) -> None:
    watched = Watched(house, "[code]\noffered = true\nseconds = 60\n")
    agent = house.agent("--agent", "coder")
    program = f"import bad\nimport filesystem\nseen = {LIST}\nbad.echo(text='seen')\nwhile True:\n    pass"
    agent.begin("tools/call", {"name": "execute_code", "arguments": {"code": program}})
    eventually(watched.names)
    (run,) = (each["run"] for each in house.json("code", "list"))
    house.kill()
    house.run("daemon", "start")
    another = house.agent("--agent", "coder")
    assert "isError" not in another.call("bad__touch", path=NOTE), "it has seen nothing yet"
    assert "after 2 calls" in text_of(another.call("code_result", run=run))
    assert code_of(another.call("bad__touch", path=NOTE)) == "rule_deny"


def test_a_door_that_was_there_before_the_daemon_has_seen_whatever_there_is(house: House) -> None:
    watched = Watched(house)
    door = Http(house)
    try:

        def call(name: str, **arguments: str) -> dict[str, Any]:
            found = answer_in(door.modern("tools/call", {"name": name, "arguments": arguments}))
            return dict(found["result"])

        assert "isError" not in call("bad__touch", path=NOTE), "one that is new has seen nothing"
        house.run("daemon", "restart")
        assert code_of(call("bad__touch", path=NOTE)) == "rule_deny"
        assert [name for name, _ in watched.names()] == ["touch"]
    finally:
        door.close()


def test_a_session_remembers_and_another_does_not(house: House) -> None:
    Watched(house)
    agent = house.agent("--agent", "a")
    assert "isError" not in agent.call("bad__touch", path=NOTE)
    agent.call("filesystem__list_directory", path=".")
    refused = agent.call("bad__touch", path=NOTE)
    assert code_of(refused) == "rule_deny"
    assert "isError" not in house.agent("--agent", "a").call("bad__touch", path=NOTE)


def test_a_task_remembers_through_its_programs_its_helpers_and_a_power_cut(house: House) -> None:
    watched = Watched(house)
    looking = {"code": f"import filesystem\n{LIST}"}
    touching = {"code": f"import bad\ntry:\n    r = {TOUCH}\nexcept PermissionError as e:\n    r = str(e)\nr"}
    asking = {"code": 'import filesystem\nfilesystem.read_text_file(path="/etc/hostname")'}
    watched.work("--script", watched.script(looking, touching, DONE))
    assert "it has seen your files" in watched.results()[1]
    watched.work("--script", watched.script(touching, DONE))
    assert watched.names() == [("touch", {"path": NOTE})], "another task has seen nothing"
    path = watched.written('import agents\nagents.spawn(task="look")', look=[looking, DONE])
    watched.work("--agents", "--script", path)
    process = watched.begin("--script", watched.script(looking, asking, touching, DONE))
    watched.asked()
    house.kill()
    process.communicate()
    process = watched.begin("--resume")
    house.run("approvals", "deny", watched.asked()["id"])
    process.communicate(timeout=60)
    assert len(watched.names()) == 1
    assert "it has seen your files" in watched.results()[-1]


def test_check_answers_what_would_be(house: House) -> None:
    watched = Watched(house)
    call = {"serverName": "bad", "toolName": "touch", "arguments": {"path": NOTE}}
    calls = [call, {**call, "sources": []}, {**call, "sources": ["filesystem/list_directory"]}]
    said = house.run(
        "check", "--policy", str(watched.house.home / "policy"), stdin="\n".join(map(json.dumps, calls)), code=0
    )
    decisions = [json.loads(line)["decision"] for line in said.splitlines() if line.startswith("{")]
    assert decisions == ["deny", "allow", "deny"], "where nobody knows, it counts as seen"
