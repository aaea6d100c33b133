"""Killed at every step: what is on the disk and what reached the server never disagree."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_bad_servers import Bad
from tests.faults.dies import POINTS

if TYPE_CHECKING:
    from tests.e2e.house import House

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_leaves_no_effect_without_a_record(house: House, point: str) -> None:
    bad = Bad(house)
    command = [sys.executable, "-m", "tests.faults.dies", str(house.home), point]
    died = subprocess.run(command, cwd=ROOT, env=house.environment, capture_output=True, timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    intents = len(house.records(kind="intent"))
    assert len(bad.reached()) <= intents, "nothing was forwarded without a record"
    house.agent().ask("tools/list")  # a new daemon takes the home over
    assert "unbroken" in house.run("audit", "verify")
    outcomes = house.records(kind="outcome")
    assert {record["call"] for record in outcomes} == {record["call"] for record in house.records(kind="intent")}
    if intents and not point.startswith(("settle", "record_outcome:after")):
        assert [record["execution"]["status"] for record in outcomes] == ["unknown"]
    ended = {record["call"] for record in house.records(kind="refused")}
    assert {record["call"] for record in house.records(kind="asked")} <= ended, "questions are over"
    assert len(bad.reached()) <= 1, "and nothing is sent a second time"
