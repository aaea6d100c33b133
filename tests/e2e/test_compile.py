"""A person writes what the agent may do, and from then on it is so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.policy import SCENARIOS
from ironcurtain.artifacts.shipped import fitted, shipped_bundle
from tests.e2e.house import eventually

if TYPE_CHECKING:
    from tests.e2e.house import House

TEXT = """\
It may read files in my Notes folder. It can write files there too, but never in Notes/Old.
Nothing may be deleted. Everything else: ask me first.
"""


def test_the_default_constitution_compiles_to_what_is_shipped(house: House) -> None:
    said = house.json("compile", "--yes")
    assert said["verdict"] == "pass"
    assert {each["verdict"] for each in said["sentences"]} == {"rules", "kept"}
    shipped: Any = fitted(shipped_bundle(), house.owner, house.sandbox).items[SCENARIOS].value
    calls = "".join(json.dumps(each["request"]) + "\n" for each in shipped["scenarios"])
    decided = house.run("check", "--policy", str(house.home / "policy"), input=calls).splitlines()
    for line, scenario in zip(decided, shipped["scenarios"], strict=True):
        assert json.loads(line)["decision"] == scenario["expectedDecision"], scenario["description"]


def test_what_is_written_is_in_force_once_it_is_compiled(house: House) -> None:
    (house.owner / "Notes" / "Old").mkdir(parents=True)
    house.configure('[directories]\nNotes = "~/Notes"\n')
    agent = house.agent()
    write = {"path": str(house.owner / "Notes" / "a.md"), "content": "x"}
    before = house.status()["policy"]["version"]
    (house.home / "constitution.md").write_text(TEXT)
    said = house.json("compile", "--yes")
    assert [each["verdict"] for each in said["sentences"]] == ["rules"] * 4
    eventually(lambda: house.status()["policy"]["version"] == before + 1)
    assert "error" not in agent.call("filesystem__write_file", **write)
    assert (house.owner / "Notes" / "a.md").read_text() == "x"
    old = {"path": str(house.owner / "Notes" / "Old" / "a.md"), "content": "x"}
    assert agent.call("filesystem__write_file", **old)["isError"] is True
    assert not (house.owner / "Notes" / "Old" / "a.md").exists()


def test_a_policy_that_does_not_load_leaves_the_old_one(house: House) -> None:
    before = (house.home / "policy" / "compiled-policy.json").read_bytes()
    house.configure("[directories]\nNotes = 7\n")
    assert "a non-empty string is expected" in house.run("compile", "--yes", code=2)
    assert (house.home / "policy" / "compiled-policy.json").read_bytes() == before
