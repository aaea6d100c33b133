"""Files of the original project come in through `ironcurtain policy import`: converted, pinned and verified."""

from __future__ import annotations

import copy
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, SCENARIOS
from tests import program
from tests.support import Place, call, some

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WHEN = "2026-02-17T12:34:56.789Z"  # as JavaScript writes it

READERS = ["read_file", "read_text_file", "read_media_file", "list_directory", "list_directory_with_sizes"]
READERS += ["directory_tree", "search_files", "get_file_info"]
ARGUMENTS: dict[str, dict[str, list[str]]] = {
    **{name: {"path": ["read-path"]} for name in READERS},
    "read_multiple_files": {"paths": ["read-path"]},
    "list_allowed_directories": {},
    **{name: {"path": ["write-path"]} for name in ("write_file", "edit_file", "create_directory")},
    "move_file": {"source": ["read-path", "delete-path"], "destination": ["write-path"]},
    "delete_file": {"path": ["delete-path"]},
    "delete_directory": {"path": ["delete-path"]},
}
EFFECTS = {"move_file": "move", "delete_file": "delete", "delete_directory": "delete", "write_file": "write"}
EFFECTS |= {"edit_file": "write", "create_directory": "write"}


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


def run(place: Place, *arguments: str | Path, stdin: bytes = b"") -> Ran:
    env = {"IRONCURTAIN_HOME": str(place.ironcurtain), "HOME": str(place.home), "PATH": os.environ["PATH"]}
    done = program.run(*arguments, env=env, stdin=stdin, cwd=place.root)
    assert b"Traceback" not in done.stderr + done.stdout, done.stderr.decode()
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def rule(name: str, then: str, **conditions: Any) -> dict[str, Any]:
    texts = {"description": f"about {name}", "principle": "Containment", "reason": f"because of {name}"}
    return {"name": name, **texts, "if": conditions, "then": then}


def inside(*roles: str) -> dict[str, Any]:
    return {"roles": list(roles), "within": "{box}"}


def annotation(name: str, server: str = "filesystem") -> dict[str, Any]:
    return {
        "toolName": name,
        "serverName": server,
        "comment": f"does {name}",
        "sideEffects": name != "list_allowed_directories",
        "args": ARGUMENTS[name],
    }


def scenario(tool: str, path: str, expected: str) -> dict[str, Any]:
    return {
        "description": f"{tool} {path}",
        "request": {"serverName": "filesystem", "toolName": tool, "arguments": {"path": path}},
        "expectedDecision": expected,
        "reasoning": "the constitution says so",
        "source": "generated",
    }


def final() -> dict[str, Any]:
    """The files as the original project writes them in the end (steps 1 to 3 of its plan)."""
    rules = [
        rule("allow-side-effect-free-tools", "allow", sideEffects=False),
        rule("deny-delete-operations", "deny", roles=["delete-path"]),
        rule("allow-sandbox-read", "allow", paths=inside("read-path")),
        rule("allow-sandbox-write", "allow", paths=inside("write-path")),
        rule("escalate-read-elsewhere", "escalate", roles=["read-path"]),
        rule("escalate-write-elsewhere", "escalate", roles=["write-path"]),
    ]
    scenarios = [scenario("read_file", "{box}/a", "allow"), scenario("delete_file", "{box}/a", "deny")]
    tools = {"inputHash": "1a2b", "tools": [annotation(name) for name in ARGUMENTS]}
    hashes = {"generatedAt": WHEN, "constitutionHash": "abc", "inputHash": "def"}
    return {
        POLICY: {**hashes, "rules": rules},
        ANNOTATIONS: {"generatedAt": WHEN, "servers": {"filesystem": tools}},
        SCENARIOS: {**hashes, "scenarios": scenarios},
    }


def draft() -> dict[str, Any]:
    """The files as the first design describes them: tools have an effect, and rules ask for it."""
    rules = [
        rule("allow-side-effect-free-tools", "allow", sideEffects=False),
        rule("deny-delete-operations", "deny", effect=["delete"]),
        rule(
            "allow-move-within-sandbox",
            "allow",
            effect=["move"],
            paths=inside("read-path", "write-path", "delete-path"),
        ),
        rule("deny-move-elsewhere", "deny", effect=["move"]),
        rule("allow-read-in-sandbox", "allow", effect=["read"], paths=inside("read-path")),
        rule("deny-read-elsewhere", "deny", effect=["read"]),
        rule("allow-write-in-sandbox", "allow", effect=["write"], paths=inside("write-path")),
        rule("escalate-write-elsewhere", "escalate", effect=["write"]),
    ]
    tools = [{**annotation(name), "effect": EFFECTS.get(name, "read")} for name in ARGUMENTS]
    for entry in tools:
        del entry["comment"]
    return {
        POLICY: {"generatedAt": WHEN, "constitutionHash": "abc", "rules": rules},
        ANNOTATIONS: {"generatedAt": WHEN, "constitutionHash": "abc", "servers": {"filesystem": {"tools": tools}}},
    }


def written(place: Place, files: dict[str, Any]) -> Path:
    keys = {POLICY: "policy", ANNOTATIONS: "annotations", SCENARIOS: "scenarios"}
    filled = json.loads(place.fill(json.dumps(files)))
    return place.draft("original", **{keys[name]: content for name, content in filled.items()})


def imported(place: Place, files: dict[str, Any], *more: str | Path) -> Ran:
    out = place.root / "converted"
    return run(place, "policy", "import", written(place, files), "--out", out, "--sandbox", place.sandbox, *more)


def decisions(place: Place, *calls: dict[str, Any]) -> list[tuple[str, str | None]]:
    text = place.fill("".join(json.dumps(entry) + "\n" for entry in calls))
    ran = run(place, "check", "--policy", place.root / "converted", stdin=text.encode())
    assert (ran.code, ran.err) == (0, "")
    return [(line["decision"], line["rule"]) for line in ran.lines]


def on(name: str, path: str, **more: Any) -> dict[str, Any]:
    return call(name, {"path": path, **more}, server="filesystem")


def moved(source: str, destination: str) -> dict[str, Any]:
    return call("move_file", {"source": source, "destination": destination}, server="filesystem")


def assert_refused(place: Place, ran: Ran, *words: str) -> None:
    assert ran.code == 2
    assert ran.err.startswith("ironcurtain: ")
    assert "help: " in ran.err
    for word in words:
        assert word in ran.err
    answer = run(place, "check", "--policy", place.root / "converted", stdin=b"{}")
    assert answer.code == 2
    assert answer.lines[0]["stage"] == "load"


BOTH = pytest.mark.parametrize("files", [final, draft], ids=["final", "draft"])


@BOTH
def test_an_imported_policy_is_verified_and_loads(files: Callable[[], dict[str, Any]], place: Place) -> None:
    ran = imported(place, files())
    assert ran.code == 0
    assert str(place.root / "converted") in ran.out
    policy = json.loads((place.root / "converted" / POLICY).read_text())
    assert policy["verification"]["verdict"] == "pass"
    assert policy["version"] >= 1
    assert (policy["setup"]["home"], policy["setup"]["sandbox"]) == (str(place.home), str(place.sandbox))
    assert [entry["name"] for entry in policy["rules"]] == [entry["name"] for entry in files()[POLICY]["rules"]]
    assert policy["rules"][0]["reason"] == "because of allow-side-effect-free-tools"
    assert policy["constitutionHash"] == "abc"
    for verb in (["policy", "lint"], ["scenarios", "run"], ["tools"]):
        assert run(place, *verb, "--policy", place.root / "converted").code in (0, 1)


def test_the_files_decide_as_the_original_did(place: Place) -> None:
    assert imported(place, final()).code == 0
    assert decisions(
        place,
        on("read_file", "{box}/a"),
        on("read_file", "{root}/out/a"),
        on("write_file", "{box}/a", content="x"),
        on("write_file", "{root}/out/a", content="x"),
        on("delete_file", "{box}/a"),
        on("delete_directory", "{root}/out"),
        moved("{box}/a", "{box}/b"),
        call("read_multiple_files", {"paths": ["{box}/a", "{root}/out/b"]}, server="filesystem"),
        call("read_multiple_files", {"paths": ["{box}/a", "{box}/b"]}, server="filesystem"),
        call("list_allowed_directories", {}, server="filesystem"),
        call("format_disk", {}, server="filesystem"),
        on("read_file", "{box}/../out/a"),
        on("read_file", "{home}/.ironcurtain/policy/compiled-policy.json"),
    ) == [
        ("allow", "allow-sandbox-read"),
        ("escalate", "escalate-read-elsewhere"),
        ("allow", "allow-sandbox-write"),
        ("escalate", "escalate-write-elsewhere"),
        ("deny", "deny-delete-operations"),
        ("deny", "deny-delete-operations"),
        ("deny", "deny-delete-operations"),
        ("escalate", "escalate-read-elsewhere"),
        ("allow", "allow-sandbox-read"),
        ("allow", "allow-side-effect-free-tools"),
        ("deny", None),
        ("escalate", "escalate-read-elsewhere"),
        ("deny", None),
    ]


def test_the_draft_decides_as_its_effects_did(place: Place) -> None:
    assert imported(place, draft()).code == 0
    assert decisions(
        place,
        on("read_file", "{box}/a"),
        on("read_file", "{root}/out/a"),
        on("write_file", "{box}/a", content="x"),
        on("write_file", "{root}/out/a", content="x"),
        on("delete_file", "{box}/a"),
        moved("{box}/a", "{box}/b"),
        moved("{box}/a", "{root}/out/b"),
        moved("{root}/out/a", "{box}/b"),
        call("list_allowed_directories", {}, server="filesystem"),
    ) == [
        ("allow", "allow-read-in-sandbox"),
        ("deny", "deny-read-elsewhere"),
        ("allow", "allow-write-in-sandbox"),
        ("escalate", "escalate-write-elsewhere"),
        ("deny", "deny-delete-operations"),
        ("allow", "allow-move-within-sandbox"),
        ("deny", "deny-move-elsewhere"),
        ("deny", "deny-move-elsewhere"),
        ("allow", "allow-side-effect-free-tools"),
    ]


def test_the_original_files_are_left_alone(place: Place) -> None:
    source = written(place, final())
    before = {file.name: file.read_bytes() for file in source.iterdir()}
    assert imported(place, final()).code == 0
    assert {file.name: file.read_bytes() for file in source.iterdir()} == before


def test_a_policy_that_is_already_there_is_kept_unless_it_is_to_be_replaced(place: Place) -> None:
    assert imported(place, final()).code == 0
    before = (place.root / "converted" / POLICY).read_bytes()
    other = final()
    other[POLICY]["rules"][1]["name"] = "never-delete"
    refused = imported(place, other)
    assert refused.code == 2
    assert "--replace" in refused.err
    assert (place.root / "converted" / POLICY).read_bytes() == before
    assert imported(place, other, "--replace").code == 0
    assert decisions(place, on("delete_file", "{box}/a")) == [("deny", "never-delete")]


def test_the_home_is_where_a_policy_goes_by_itself(place: Place) -> None:
    ran = run(place, "policy", "import", written(place, final()), "--sandbox", place.sandbox)
    assert ran.code == 0
    directory = place.ironcurtain / "policy"
    request = place.fill(json.dumps(on("read_file", "{box}/a"))).encode()
    answer = run(place, "check", "--policy", directory, stdin=request)
    assert [(line["decision"], line["rule"]) for line in answer.lines] == [("allow", "allow-sandbox-read")]


def test_what_is_written_belongs_to_its_owner_alone(place: Place) -> None:
    assert imported(place, final()).code == 0
    assert (place.root / "converted").stat().st_mode & 0o077 == 0
    for file in (place.root / "converted").iterdir():
        assert file.stat().st_mode & 0o077 == 0, file


@pytest.mark.parametrize("sandbox", ["{home}", "{home}/.ironcurtain", "{home}/.cursor", "{root}/converted"])
def test_a_sandbox_that_meets_something_protected_is_refused(sandbox: str, place: Place) -> None:
    ran = imported(place, final(), "--sandbox", place.fill(sandbox))
    assert_refused(place, ran, "sandbox")


def test_a_policy_whose_scenarios_fail_ends_with_1_and_is_not_loaded(place: Place) -> None:
    files = final()
    files[SCENARIOS]["scenarios"].append(scenario("read_file", "{root}/out/a", "allow"))
    ran = imported(place, files)
    assert ran.code == 1
    assert "escalate" in ran.out
    answer = run(place, "check", "--policy", place.root / "converted", stdin=b"{}")
    assert answer.code == 2
    assert answer.lines[0]["stage"] == "load"


# What is refused


def edited(files: dict[str, Any], where: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    made = copy.deepcopy(files)
    at: Any = made
    for step in where[:-1]:
        at = at[step]
    at[where[-1]] = value
    return made


TOOL = (ANNOTATIONS, "servers", "filesystem", "tools", 0)
ODD: dict[str, tuple[tuple[str | int, ...], Any, list[str]]] = {
    "decision in capitals": ((POLICY, "rules", 1, "then"), "Deny", ["rules[1].then", "deny"]),
    "unknown condition": ((POLICY, "rules", 1, "if", "rolez"), ["delete-path"], ["rules[1].if", "rolez", "roles"]),
    "allow of everything": ((POLICY, "rules", 2, "if"), {}, ["rules[2].if"]),
    "relative within": ((POLICY, "rules", 2, "if", "paths", "within"), "box", ["rules[2].if.paths.within"]),
    "duplicate name": ((POLICY, "rules", 1, "name"), "allow-sandbox-read", ["allow-sandbox-read"]),
    "rules of the wrong type": ((POLICY, "rules"), {}, ["rules"]),
    "role in capitals": ((*TOOL, "args", "path"), ["Read-Path"], ["Read-Path"]),
    "argument of no schema": ((*TOOL, "args", "pth"), ["read-path"], ["pth", "path"]),
    "harmless with a role": ((*TOOL, "sideEffects"), False, ["sideEffects"]),
    "another's server": ((*TOOL, "serverName"), "git", ["serverName"]),
    "scenario in capitals": ((SCENARIOS, "scenarios", 0, "expectedDecision"), "Allow", ["scenarios[0]"]),
}


@pytest.mark.parametrize("odd", some([*ODD], 2))
def test_an_original_that_says_something_odd_is_refused_and_nothing_is_loaded(odd: str, place: Place) -> None:
    where, value, words = ODD[odd]
    assert_refused(place, imported(place, edited(final(), where, value)), *words)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        pytest.param((POLICY, "rules", 1, "if", "effect"), ["destroy"], id="effect of a rule"),
        pytest.param((POLICY, "rules", 1, "if", "effect"), "delete", id="effect that is no list"),
    ],
)
def test_an_effect_outside_the_draft_is_refused(where: tuple[str | int, ...], value: Any, place: Place) -> None:
    assert_refused(place, imported(place, edited(draft(), where, value)), "effect")


@pytest.mark.parametrize("name", [POLICY, ANNOTATIONS, SCENARIOS])
@pytest.mark.parametrize("damage", ["", "{", "[]", '{"a": 1, "a": 2}', "\ufeff{}", "null"], ids=ascii)
def test_a_damaged_original_is_refused_by_its_name(name: str, damage: str, place: Place) -> None:
    assert_refused(place, imported(place, {**final(), name: damage}), str(place.root / "original" / name))


@pytest.mark.parametrize("name", [POLICY, ANNOTATIONS])
def test_a_missing_original_is_refused_by_its_name(name: str, place: Place) -> None:
    files = final()
    del files[name]
    assert_refused(place, imported(place, files), name)


def test_scenarios_may_be_missing(place: Place) -> None:
    files = final()
    del files[SCENARIOS]
    assert imported(place, files).code == 0


# Catalogues

GIT = {"name": "git_status", "inputSchema": {"type": "object", "properties": {"repo_path": {"type": "string"}}}}


def with_git(roles: list[str] | None = None) -> dict[str, Any]:
    files = final()
    entry = {
        "toolName": "git_status",
        "serverName": "git",
        "comment": "looks",
        "sideEffects": True,
        "args": {"repo_path": roles or ["read-path"]},
    }
    files[ANNOTATIONS]["servers"]["git"] = {"inputHash": "x", "tools": [entry]}
    return files


def catalogue(place: Place, content: Any) -> Path:
    made = place.file("git.json", content if isinstance(content, str) else json.dumps(content))
    made.chmod(0o600)
    return made


def test_a_tool_nobody_has_a_definition_of_is_pointed_out_and_takes_only_what_is_annotated(place: Place) -> None:
    ran = imported(place, with_git())
    assert ran.code == 0
    assert any("git/git_status" in line and "definition" in line for line in ran.out.splitlines())
    extra = call("git_status", {"repo_path": "{box}/a", "format": "--exec=sh"}, server="git")
    assert decisions(place, extra) == [("deny", None)]


def test_a_saved_list_of_tools_gives_the_definitions(place: Place) -> None:
    saved = catalogue(place, {"tools": [GIT]})
    assert imported(place, with_git(), "--catalogue", f"git={saved}").code == 0
    inside_box = call("git_status", {"repo_path": "{box}/a"}, server="git")
    outside = call("git_status", {"repo_path": "{root}/out"}, server="git")
    assert decisions(place, inside_box, outside) == [
        ("allow", "allow-sandbox-read"),
        ("escalate", "escalate-read-elsewhere"),
    ]
    (tool,) = json.loads((place.root / "converted" / ANNOTATIONS).read_text())["servers"]["git"]["tools"]
    assert tool["definition"] == GIT
    assert tool["pin"].startswith("sha256:")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("{", id="damaged"),
        pytest.param({"tools": {}}, id="no list"),
    ],
)
def test_a_catalogue_that_is_no_list_of_tools_is_refused(content: Any, place: Place) -> None:
    saved = catalogue(place, content)
    assert_refused(place, imported(place, with_git(), "--catalogue", f"git={saved}"), "git")


@pytest.mark.parametrize("option", ["git", "=x.json", "git=/nowhere.json"])
def test_a_catalogue_option_that_names_no_file_is_refused(option: str, place: Place) -> None:
    ran = imported(place, with_git(), "--catalogue", option)
    assert ran.code == 2
    assert ran.err
    assert not (place.root / "converted" / POLICY).exists()
