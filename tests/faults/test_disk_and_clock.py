"""A disk that fails, a clock that jumps, peers that vanish: judged by what the server itself has seen."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from ironcurtain import __version__
from ironcurtain.artifacts.home import Home
from ironcurtain.cli.client import Client
from ironcurtain.daemon.address import bound
from ironcurtain.daemon.runtime import Runtime
from ironcurtain.errors import Refusal
from ironcurtain.testing.faults import FaultyDisk
from tests.e2e.house import ENVELOPE, PROGRAM, code_of, eventually
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


FAULTS = [
    (errno.ENOSPC, True, False), (errno.ENOSPC, False, True), (errno.EIO, False, False), (errno.EROFS, True, False), (errno.EDQUOT, False, True),
]  # fmt: skip
STEP = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else len(FAULTS)
"""Every day each n has one kind of fault, in `make fuzz` every kind."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_disk_that_fails_at_the_nth_operation_for_every_n(house: House, fault: tuple[int, bool, bool]) -> None:
    number, for_ever, torn = fault
    bad = Bad(house)
    total = operations(house)
    for at in range(1 + FAULTS.index(fault) % STEP, total + 1, STEP):
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


def test_a_clock_that_jumps_changes_no_decision_and_renews_no_budget(house: House) -> None:
    house.configure('[budget.session.named.written]\nrole = "write-path"\nmost = 1\n')
    Bad(house)
    real, off = time.time, [0.0]
    jumps = (0, 10 * 365 * 86400, -20 * 365 * 86400, 3600, -3600)

    async def run() -> list[str]:
        codes = []
        async with Runtime(house.home) as runtime:
            first = await runtime.call("filesystem", "write_file", {"path": "first", "content": "x"})
            assert first.executed
            for jump in jumps:
                off[0] = jump
                answer = await runtime.call("bad", "echo", {"text": str(jump)})
                refused = await runtime.call("filesystem", "delete_file", {"path": "x"})
                spent = await runtime.call("filesystem", "write_file", {"path": "second", "content": "x"})
                codes += ["made" if answer.executed else answer.decision.code, refused.decision.code]
                codes.append("made" if spent.executed else spent.decision.code)
        return codes

    def wall() -> float:
        return real() + off[0]

    with at_home(house), mock.patch.object(time, "time", wall):
        assert asyncio.run(run()) == ["made", "rule_deny", "budget_exhausted"] * len(jumps)
    assert "unbroken" in house.run("audit", "verify")
    records = house.records()
    assert len({record["at"][:4] for record in records}) >= 3, "it did jump"
    for field in ("seq", "machine"):
        found = [record[field] for record in records]
        assert found == sorted(found)


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


def test_a_thousand_clients_that_hang_up_at_once_leave_nothing_behind(house: House) -> None:
    house.configure("[budget]\nrepeats = 0\n")
    agent = house.agent()
    agent.call("filesystem__list_directory", path=".")
    with Client(Home(house.home)) as owner:
        pid, before = owner.ask("status")["pid"], owner.ask("status")["sessions"]
        descriptors = Path(f"/proc/{pid}/fd")
        opened = len(list(descriptors.iterdir()))
        for number in range(1_000):
            if number % 50 == 0:
                eventually(lambda: owner.ask("status")["sessions"] < 100)
            hang_up_on(house, number)
        eventually(lambda: owner.ask("status")["sessions"] == before)
        assert owner.ask("status")["pid"] == pid
        assert owner.ask("questions")["questions"] == []
        eventually(lambda: len(list(descriptors.iterdir())) <= opened)
    intents = [record["call"] for record in house.records(kind="intent") if record["agent"]]
    withdrawn = [record for record in house.records(kind="refused") if record["evaluation"]["code"] == "withdrawn"]
    assert (len(intents), len(withdrawn)) == (980, 20), "each was heard"
    outcomes = [record["call"] for record in house.records(kind="outcome")]
    assert len(outcomes) == len(set(outcomes))
    assert set(intents) <= set(outcomes)
    assert "isError" not in agent.call("filesystem__list_directory", path=".")


def hang_up_on(house: House, number: int) -> None:
    """A client that asks for one thing and is gone before it is answered; one in fifty asks for what is not its own."""
    path = "." if number % 50 else str(house.owner)
    hello = {"hello": "session", "version": __version__, "principal": {"agent": f"ghost-{number % 20}"}}
    params = {"name": "filesystem__list_directory", "arguments": {"path": path}, "_meta": ENVELOPE}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with socket.socket(socket.AF_UNIX) as client, bound(house.home / "daemon.sock") as address:
        client.connect(address)
        client.sendall(b"".join(json.dumps(line).encode() + b"\n" for line in (hello, call)))


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
