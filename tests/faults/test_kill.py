"""Killed at every step: what is on the disk and what reached the server never disagree."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.house import code_of
from tests.e2e.test_bad_servers import Bad
from tests.faults.dies import POINTS
from tests.support import some

if TYPE_CHECKING:
    from tests.e2e.house import House

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("point", some(POINTS, 4))
def test_a_kill_leaves_no_effect_without_a_record_and_gives_no_budget_back(house: House, point: str) -> None:
    house.configure("[budget.session]\ncalls = 1\n")
    bad = Bad(house)
    command = [sys.executable, "-m", "tests.faults.dies", str(house.home), point]
    died = subprocess.run(command, cwd=ROOT, env=house.environment, capture_output=True, timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    intents = len(house.records(kind="intent"))
    assert len(bad.reached()) <= intents, "nothing was forwarded without a record"
    agent = house.agent()
    agent.ask("tools/list")  # a new daemon takes the home over
    assert "unbroken" in house.run("audit", "verify")
    outcomes = house.records(kind="outcome")
    assert {record["call"] for record in outcomes} == {record["call"] for record in house.records(kind="intent")}
    if intents and not point.startswith(("settle", "record_outcome:after")):
        assert [record["execution"]["status"] for record in outcomes] == ["unknown"]
    ended = {record["call"] for record in house.records(kind="refused")}
    assert {record["call"] for record in house.records(kind="asked")} <= ended, "questions are over"
    reached = len(bad.reached())
    assert reached <= 1, "and nothing is sent a second time"
    result = agent.call("bad__echo", text="y")
    if intents:
        assert code_of(result) == "budget_exhausted", "what may have been made is paid for"
    else:
        assert "isError" not in result, "what was not made is not"
    assert len(bad.reached()) == reached + (not intents)
