"""A disk that fails, a clock that jumps, peers that vanish: judged by what the server itself has seen."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from ironcurtain.daemon.runtime import Runtime
from ironcurtain.errors import Refusal
from ironcurtain.testing.faults import FaultyDisk
from tests.e2e.house import PROGRAM, code_of, eventually
from tests.e2e.test_bad_servers import Bad

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.house import House

CALLS = 4


@contextmanager
def at_home(house: House) -> Iterator[None]:
    with mock.patch.dict(os.environ, {"HOME": str(house.owner), "IRONCURTAIN_HOME": str(house.home)}):
        yield


async def work(house: House, disk: FaultyDisk) -> list[str]:
    """A few calls on a disk that fails somewhere; how each ended."""
    codes = []
    async with Runtime(house.home, disk=disk) as runtime:
        for number in range(CALLS):
            answer = await runtime.call("bad", "echo", {"text": str(number)})
            codes.append("made" if answer.executed else answer.decision.code)
    return codes


def operations(house: House) -> int:
    """How often a run without faults asks the disk for something."""
    disk = FaultyDisk(0)
    with at_home(house):
        assert asyncio.run(work(house, disk)) == ["made"] * CALLS
    return disk.count


@pytest.mark.parametrize(("number", "for_ever", "torn"), [
    (errno.ENOSPC, True, False), (errno.ENOSPC, False, True), (errno.EIO, False, False), (errno.EROFS, True, False), (errno.EDQUOT, False, True),
])  # fmt: skip
def test_a_disk_that_fails_at_the_nth_operation_for_every_n(
    house: House, number: int, for_ever: bool, torn: bool
) -> None:
    bad = Bad(house)
    total = operations(house)
    for at in range(1, total + 1):
        before, intents = len(bad.reached()), len(house.records(kind="intent"))
        with at_home(house):
            codes = asyncio.run(work(house, FaultyDisk(at, number, for_ever=for_ever, torn=torn)))
        made = codes.count("made")
        assert codes == ["made"] * made + ["audit_unwritable"] * (CALLS - made), "the first fault is the last call"
        reached = len(bad.reached()) - before
        assert reached >= made
        assert reached <= made + 1, "an outcome that could not be recorded is the only one that is kept back"
        with at_home(house):
            assert asyncio.run(work(house, FaultyDisk(0))) == ["made"] * CALLS, "a new start is clean"
        seen = len(house.records(kind="intent")) - intents
        assert seen >= reached + CALLS, "nothing was forwarded without a record"
    calls = {record["call"] for record in house.records(kind="intent")}
    assert calls == {record["call"] for record in house.records(kind="outcome")}, "every call has an end"
    assert "unbroken" in house.run("audit", "verify")


def test_a_clock_that_jumps_changes_no_decision(house: House) -> None:
    Bad(house)
    real = time.time
    jumps = (0, 10 * 365 * 86400, -20 * 365 * 86400, 3600, -3600)

    async def run() -> list[str]:
        codes = []
        async with Runtime(house.home) as runtime:
            for jump in jumps:
                with mock.patch.object(time, "time", lambda jump=jump: real() + jump):
                    answer = await runtime.call("bad", "echo", {"text": str(jump)})
                    refused = await runtime.call("filesystem", "delete_file", {"path": "x"})
                codes += ["made" if answer.executed else answer.decision.code, refused.decision.code]
        return codes

    with at_home(house):
        assert asyncio.run(run()) == ["made", "rule_deny"] * len(jumps)
    assert "unbroken" in house.run("audit", "verify")
    seqs = [record["seq"] for record in house.records()]
    assert seqs == sorted(seqs)


def test_a_question_ends_by_the_machines_clock_whatever_the_wall_says(house: House) -> None:
    house.configure("[escalation]\nseconds = 2\n")
    real = time.time

    async def run() -> tuple[str, float]:
        async with Runtime(house.home) as runtime:
            began = time.monotonic()
            with mock.patch.object(time, "time", return_value=real() + 10**9):
                answer = await runtime.call("filesystem", "read_text_file", {"path": str(house.owner / "x")})
            return answer.decision.code, time.monotonic() - began

    with at_home(house):
        code, took = asyncio.run(run())
    assert code == "approval_timeout"
    assert took >= 2


def second_daemon(house: House) -> int:
    return subprocess.run(
        [*PROGRAM, "daemon", "run"], env=house.environment, capture_output=True, check=False
    ).returncode


def test_a_second_runtime_on_one_home_is_refused(house: House) -> None:
    async def run() -> None:
        async with Runtime(house.home):
            with pytest.raises(Refusal, match="already serves"):
                async with Runtime(house.home):
                    pass
            assert await asyncio.to_thread(second_daemon, house) != 0

    with at_home(house):
        asyncio.run(run())


def test_clients_that_vanish_in_the_middle_leave_a_daemon_that_works(house: House) -> None:
    Bad(house, "slow")
    for _ in range(25):
        agent = house.agent("--agent", "ghost")
        agent.begin("tools/call", {"name": "bad__echo", "arguments": {"text": "x"}})
        agent.process.kill()
    assert house.agent().ask("ping")["result"] == {}
    eventually(lambda: house.status()["sessions"] <= 3)
    eventually(lambda: {r["call"] for r in house.records(kind="intent")} == {r["call"] for r in house.records(kind="outcome")})  # fmt: skip


def test_a_full_disk_is_said_and_mended_by_a_restart(house: House) -> None:
    agent = house.agent()
    agent.call("filesystem__write_file", path="a", content="x")
    (file,) = (house.home / "audit").glob("*.jsonl")
    aside = file.with_suffix(".aside")
    file.rename(aside)
    refused = agent.call("filesystem__write_file", path="b", content="x")
    assert code_of(refused) == "audit_unwritable"
    assert not (house.sandbox / "b").exists()
    assert code_of(agent.call("filesystem__read_text_file", path="a")) in ("audit_unwritable", "halted")
    assert "cannot be written" in json.dumps(house.json("status", code=1))
    bad = [finding for finding in house.json("doctor", code=1) if finding["state"] == "bad"]
    assert any("ironcurtain daemon restart" in finding["mend"] for finding in bad), bad
    aside.rename(file)
    house.run("daemon", "restart")
    assert "isError" not in house.agent().call("filesystem__write_file", path="b", content="x")
    assert "unbroken" in house.run("audit", "verify")
