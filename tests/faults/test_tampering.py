"""A log that is not as it was written: nothing goes on, nothing is added to it, and the owner learns how to go on."""

from __future__ import annotations

import os
import shutil
import signal
from typing import TYPE_CHECKING

import pytest

from tests.e2e.house import Agent, House, code_of
from tests.support import some

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Lines = list[bytes]


def called(agent: Agent) -> str:
    result = agent.call("filesystem__list_directory", path=".")
    return code_of(result) if result.get("isError") else "made"


def the_log(house: House) -> Path:
    (file,) = (house.home / "audit").glob("*.jsonl")
    return file


def spent(lines: Lines) -> Lines:
    """The budget as if less had been used."""
    return [line.replace(b'"amount":1', b'"amount":0') for line in lines]


TAMPERED: dict[str, Callable[[Lines], Lines]] = {
    "the end is cut off": lambda lines: lines[:-4],
    "one record is gone": lambda lines: lines[:3] + lines[4:],
    "two have changed places": lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]],
    "one stands twice": lambda lines: [*lines[:3], lines[2], *lines[3:]],
    "one is zeros": lambda lines: [*lines[:3], b"\0" * len(lines[3]), *lines[4:]],
    "less was used": spent,
}


KILLED = ("one record is gone", "less was used")
"""Where the daemon was killed nothing was signed since, so that an end is missing cannot be known."""


@pytest.mark.parametrize(
    ("how", "killed"),
    some([*((how, False) for how in TAMPERED), *((how, True) for how in KILLED)], 3),
)
def test_a_tampered_log_stops_everything_at_every_start(house: House, how: str, killed: bool) -> None:
    house.configure("[budget.session]\ncalls = 3\n")
    agent = house.agent()
    assert [called(agent) for _ in range(4)] == ["made", "made", "made", "budget_exhausted"]
    house.kill() if killed else house.run("daemon", "stop")
    log = the_log(house)
    before = log.read_bytes().splitlines()
    tampered = TAMPERED[how](before)
    assert tampered != before
    log.write_bytes(b"\n".join(tampered) + b"\n")
    left = {path: path.read_bytes() for path in (log, house.home / "checkpoints.jsonl") if path.exists()}
    for _ in range(2):
        assert called(house.agent()) == "halted"
        assert "audit verify" in house.json("daemon", "status", code=1)["halted"]
        house.run("daemon", "stop")
        assert {path: path.read_bytes() for path in left} == left, "nothing is added, nothing is signed"
    assert "BROKEN" in house.run("audit", "verify", code=1)
    assert "set-aside" in house.run("doctor", code=1)
    house.run("daemon", "stop")
    assert "kept in" in house.run("audit", "set-aside", "--yes")
    (kept,) = house.home.glob("audit-set-aside-*/audit/*.jsonl")
    assert kept.read_bytes() == left[log]
    assert called(house.agent()) == "made"
    assert "unbroken" in house.run("audit", "verify")


def test_a_log_that_is_whole_is_not_set_aside(house: House) -> None:
    assert called(house.agent()) == "made"
    assert "unbroken" in house.run("audit", "set-aside", "--yes", code=2)


def test_a_log_is_not_set_aside_under_a_daemon(house: House) -> None:
    assert called(house.agent()) == "made"
    log = the_log(house)
    log.write_bytes(log.read_bytes().replace(b"list_directory", b"list-directory"))
    assert "already serves" in house.run("audit", "set-aside", "--yes", code=2)
    assert log.exists()


@pytest.mark.parametrize("running", [False, True], ids=["at the start", "while it runs"])
def test_a_log_behind_a_link_is_not_written_to(house: House, running: bool) -> None:
    assert called(house.agent()) == "made"
    if not running:
        house.run("daemon", "stop")
    before = len(house.records())
    shutil.move(house.home / "audit", house.owner / "elsewhere")
    (house.home / "audit").symlink_to(house.owner / "elsewhere")
    if running:
        assert called(house.agent()) == "audit_unwritable"
        os.kill(int((house.home / "daemon.lock").read_text()), signal.SIGKILL)  # it cannot write that it stops
    else:
        assert "is a link" in house.run("daemon", "run", code=2)
    assert len(house.records()) == before
