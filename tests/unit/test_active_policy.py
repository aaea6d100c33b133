"""The home's active policy never goes back by itself, and a broken one leaves the last good one in force."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, SCENARIOS
from tests.support import FILE_TOOLS, Place, call, some

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ACTIVE = "home/owner/.ironcurtain/policy"


class Ran(NamedTuple):
    code: int
    lines: list[Any]
    err: str

    @property
    def rules(self) -> list[str | None]:
        return [line["rule"] for line in self.lines]


def run(place: Place, *arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "ironcurtain", *arguments],
        input=stdin,
        capture_output=True,
        env={"IRONCURTAIN_HOME": str(place.ironcurtain), "HOME": str(place.home), "PATH": os.environ["PATH"]},
        cwd=cwd or place.root,
        check=False,
        timeout=60,
    )
    assert b"Traceback" not in done.stderr + done.stdout, done.stderr.decode()
    return Ran(done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode())


def put(place: Place, version: int, directory: str = ACTIVE) -> Path:
    """Write and verify a policy whose rule is named after its version; odd versions let the docs be read."""
    condition = {"paths": {"roles": ["read-path"], "within": "{root}/docs"}}
    rule = {"name": f"rule-{version}", "if": condition, "then": "allow" if version % 2 else "deny"}
    tools = {"version": 1, "servers": {"fs": {"tools": FILE_TOOLS}}}
    return place.write(directory, policy=place.policy([rule], version=version), annotations=tools)


def check(place: Place, directory: str | Path | None = None, cwd: Path | None = None) -> Ran:
    request = json.dumps(call("read", {"path": str(place.root / "docs/a")})).encode() + b"\n"
    return run(place, "check", "--policy", directory or place.root / ACTIVE, stdin=request * 2, cwd=cwd)


def assert_stays(ran: Ran, version: int, *words: str) -> None:
    """The kept version decides, and standard error says why, what to do and what is in force."""
    assert ran.code == 0
    assert ran.rules == [f"rule-{version}"] * 2
    assert ran.err.startswith("ironcurtain: ")
    assert "help: " in ran.err
    assert f"version {version}" in ran.err
    assert "stays in force" in ran.err
    for word in words:
        assert word in ran.err


def assert_denied(ran: Ran, *codes: str) -> None:
    assert ran.code == 2
    assert [(line["decision"], line["stage"]) for line in ran.lines] == [("deny", "load")] * 2
    assert {line["code"] for line in ran.lines} <= set(codes)
    assert "help: " in ran.err


def test_a_newer_version_takes_over(place: Place) -> None:
    for version in (1, 2, 5):
        put(place, version)
        ran = check(place)
        assert (ran.code, ran.err, ran.rules) == (0, "", [f"rule-{version}"] * 2)


def test_an_equal_version_loads(place: Place) -> None:
    put(place, 3)
    assert check(place).err == ""
    file = put(place, 3) / POLICY
    changed = json.loads(file.read_text())
    changed["rules"][0]["name"] = "rule-3-again"
    file.write_text(json.dumps(changed))
    assert run(place, "policy", "verify", "--json", place.root / ACTIVE).code == 0
    ran = check(place)
    assert (ran.code, ran.err, ran.rules) == (0, "", ["rule-3-again"] * 2)


def test_an_older_version_is_refused_and_the_last_good_one_stays_in_force(place: Place) -> None:
    put(place, 3)
    check(place)
    put(place, 2)
    for _ in range(2):  # it is not accepted by asking again
        assert_stays(check(place), 3, str(place.root / ACTIVE / POLICY), "version 2 is older")
    put(place, 4)
    assert check(place).err == ""
    put(place, 3)
    assert_stays(check(place), 4, "version 3 is older")


@pytest.mark.parametrize(
    "spelling", ["{home}/.ironcurtain/policy/", "{home}/.ironcurtain/./x/../policy", "policy", "./policy"]
)
def test_another_spelling_of_the_directory_does_not_go_back_either(spelling: str, place: Place) -> None:
    (place.ironcurtain / "x").mkdir()
    put(place, 3)
    check(place)
    put(place, 2)
    assert_stays(check(place, place.fill(spelling), cwd=place.ironcurtain), 3)


def test_another_directory_has_its_own_versions(place: Place) -> None:
    put(place, 3)
    check(place)
    other = put(place, 1, "other")
    ran = check(place, other)
    assert (ran.code, ran.err, ran.rules) == (0, "", ["rule-1"] * 2)
    assert check(place).rules == ["rule-3"] * 2


def truncate(directory: Path) -> None:
    (directory / POLICY).write_text("{")


def edit(directory: Path) -> None:
    (directory / POLICY).write_text((directory / POLICY).read_text().replace("rule-2", "rule-9"))


def unstamp(directory: Path) -> None:
    policy = json.loads((directory / POLICY).read_text())
    del policy["verification"]
    (directory / POLICY).write_text(json.dumps(policy))


def fail(directory: Path) -> None:
    policy = json.loads((directory / POLICY).read_text())
    policy["verification"]["verdict"] = "fail"
    (directory / POLICY).write_text(json.dumps(policy))


def lose_annotations(directory: Path) -> None:
    (directory / ANNOTATIONS).unlink()


def lose_policy(directory: Path) -> None:
    (directory / POLICY).unlink()


def open_up(directory: Path) -> None:
    (directory / POLICY).chmod(0o666)


def open_directory(directory: Path) -> None:
    directory.chmod(0o777)


def link(directory: Path) -> None:
    (directory / POLICY).rename(directory / "real.json")
    (directory / POLICY).symlink_to("real.json")


def add_scenarios(directory: Path) -> None:
    (directory / SCENARIOS).write_text('{"version": 1, "scenarios": []}')
    (directory / SCENARIOS).chmod(0o600)


BREAKS: list[Callable[[Path], None]] = [
    truncate,
    edit,
    unstamp,
    fail,
    lose_annotations,
    lose_policy,
    open_up,
    open_directory,
    link,
    add_scenarios,
]
CODES = [
    "artifact_malformed",
    "policy_edited",
    "policy_unverified",
    "policy_failed",
    "artifact_missing",
    "artifact_missing",
]
CODES += ["artifact_unsafe", "artifact_unsafe", "artifact_unsafe", "policy_edited"]
BROKEN = list(zip(BREAKS, CODES, strict=True))


@pytest.mark.parametrize("broken", some(BREAKS, 2), ids=lambda broken: broken.__name__)
def test_a_broken_policy_leaves_the_last_good_one_in_force(broken: Callable[[Path], None], place: Place) -> None:
    put(place, 1)
    check(place)
    broken(put(place, 2))
    assert_stays(check(place), 1, str(place.root / ACTIVE))


@pytest.mark.parametrize(("broken", "code"), some(BROKEN, 2), ids=some([broken.__name__ for broken in BREAKS], 2))
def test_a_broken_policy_with_none_before_it_denies_everything(
    broken: Callable[[Path], None], code: str, place: Place
) -> None:
    broken(put(place, 2))
    assert_denied(check(place), code)


def test_a_repaired_policy_takes_over_again(place: Place) -> None:
    put(place, 1)
    check(place)
    truncate(put(place, 2))
    assert_stays(check(place), 1)
    put(place, 2)
    ran = check(place)
    assert (ran.code, ran.err, ran.rules) == (0, "", ["rule-2"] * 2)


def test_a_refused_version_is_never_the_last_good_one(place: Place) -> None:
    put(place, 3)
    check(place)
    put(place, 2)
    check(place)
    truncate(place.root / ACTIVE)
    assert_stays(check(place), 3)


@pytest.mark.parametrize(
    "verb", [["explain", "--json"], ["tools", "--json"], ["scenarios", "run", "--json"]], ids=" ".join
)
def test_every_verb_speaks_of_the_policy_that_is_in_force(verb: list[str], place: Place) -> None:
    put(place, 3)
    check(place)
    put(place, 2)
    request = json.dumps(call("read", {"path": str(place.root / "docs/a")})).encode()
    ran = run(place, *verb, "--policy", place.root / ACTIVE, stdin=request)
    assert ran.code == 0
    assert "version 2 is older" in ran.err
    assert "version 3" in ran.err
    if verb[0] == "explain":
        assert ran.rules == ["rule-3"]


def test_the_kept_policy_protects_the_home_too(place: Place) -> None:
    put(place, 3)
    check(place)
    truncate(place.root / ACTIVE)
    reads = [place.ironcurtain / "state.db", place.root / ACTIVE / POLICY]
    calls = "".join(json.dumps(call("read", {"path": str(path)})) + "\n" for path in reads).encode()
    ran = run(place, "check", "--policy", place.root / ACTIVE, stdin=calls)
    assert [line["code"] for line in ran.lines] == ["path_protected"] * 2


# The kept copy


def kept(place: Place, statement: str, *values: Any) -> None:
    with sqlite3.connect(place.ironcurtain / "state.db") as state:
        assert state.execute(statement, values).rowcount > 0
    state.close()


def test_the_state_belongs_to_its_owner_alone(place: Place) -> None:
    put(place, 1)
    check(place)
    for file in place.ironcurtain.glob("state.db*"):
        assert file.stat().st_mode & 0o077 == 0, file


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        pytest.param(
            "UPDATE accepted_policy SET artifacts = replace(artifacts, ?, ?)", ('"deny"', '"allow"'), id="rule"
        ),
        pytest.param("UPDATE accepted_policy SET artifacts = replace(artifacts, ?, ?)", ("/docs", ""), id="place"),
        pytest.param("UPDATE accepted_policy SET digest = ?", ("sha256:" + "0" * 64,), id="digest"),
    ],
)
def test_a_kept_copy_that_was_tampered_with_is_refused(statement: str, values: tuple[str, ...], place: Place) -> None:
    put(place, 2)
    check(place)
    kept(place, statement, *values)
    truncate(place.root / ACTIVE)
    assert_denied(check(place), "artifact_malformed", "artifact_unsafe", "policy_edited", "policy_rollback")
    put(place, 1)
    assert_denied(check(place), "artifact_malformed", "artifact_unsafe", "policy_edited", "policy_rollback")


def test_a_good_policy_loads_beside_a_kept_copy_that_was_tampered_with(place: Place) -> None:
    put(place, 2)
    check(place)
    kept(place, "UPDATE accepted_policy SET artifacts = ?", "{")
    put(place, 3)
    ran = check(place)
    assert (ran.code, ran.rules) == (0, ["rule-3"] * 2)
