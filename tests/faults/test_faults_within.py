"""Something of ours raises, in every stage of a call: nothing more is forwarded, and no effect is called a refusal."""

from __future__ import annotations

import asyncio
import functools
import json
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from ironcurtain.daemon.ports import CallPorts
from ironcurtain.daemon.runtime import Runtime
from ironcurtain.gateway.inbound.session import Session
from ironcurtain.model.call import Principal
from tests.e2e.test_bad_servers import Bad
from tests.faults.test_disk_and_clock import at_home
from tests.support import some

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.mediation.effects import Answer
    from tests.e2e.house import House

AFTER_THE_EFFECT = ("forward", "record_outcome", "settle")
STAGES = ("resolve", "reserve", "record_intent", *AFTER_THE_EFFECT)


def raising(stage: str, error: type[BaseException]) -> Any:
    """Patches a stage to do its work and then raise, once."""
    real: Callable[..., Any] = getattr(CallPorts, stage)
    raised: list[str] = []

    def fall() -> None:
        if not raised:
            raised.append(stage)
            raise error

    @functools.wraps(real)
    async def armed_async(*arguments: Any) -> Any:
        if stage.startswith("record_"):  # a record that was made is not made again
            fall()
        answer = await real(*arguments)
        fall()
        return answer

    @functools.wraps(real)
    def armed(*arguments: Any) -> Any:
        answer = real(*arguments)
        fall()
        return answer

    return mock.patch.object(CallPorts, stage, armed_async if asyncio.iscoroutinefunction(real) else armed)


async def two_calls(house: House, stage: str, error: type[BaseException]) -> list[Answer]:
    async with Runtime(house.home) as runtime:
        with raising(stage, error):
            return [await runtime.call("bad", "echo", {"text": str(number)}) for number in range(2)]


def ends(house: House) -> dict[str, list[str]]:
    """What is on record of each call."""
    found: dict[str, list[str]] = {}
    for record in house.records():
        if "call" in record:
            kind = record["kind"]
            found.setdefault(record["call"], []).append(record["execution"]["status"] if kind == "outcome" else kind)
    return found


@pytest.mark.parametrize("error", [MemoryError, RecursionError, ValueError])
@pytest.mark.parametrize("stage", some(STAGES, 4))
def test_a_fault_of_ours_ends_in_no_and_hides_no_effect(house: House, stage: str, error: type[Exception]) -> None:
    bad = Bad(house)
    with at_home(house):
        first, second = asyncio.run(two_calls(house, stage, error))
    reached = stage in AFTER_THE_EFFECT
    assert len(bad.reached()) == int(reached)
    assert (first.executed is not None) is reached, "what was sent is never called refused"
    if not reached:
        assert first.decision.code == "internal_error"
    assert second.decision.code == "halted"
    wanted = {
        "resolve": ["refused"],
        "reserve": ["refused"],
        "record_intent": ["refused"],
        "forward": ["intent", "unknown"],
    }
    assert list(ends(house).values()) == [wanted.get(stage, ["intent", "success"])]
    assert "unbroken" in house.run("audit", "verify")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("stage", some(STAGES, 4))
def test_being_stopped_is_a_clean_stop(house: House, stage: str, error: type[BaseException]) -> None:
    bad = Bad(house)
    with at_home(house), pytest.raises(error):
        asyncio.run(two_calls(house, stage, error))
    assert len(bad.reached()) == int(stage in AFTER_THE_EFFECT)
    house.agent().ask("tools/list")
    assert all(kinds[0] != "intent" or len(kinds) == 2 for kinds in ends(house).values()), "every intent has an end"
    assert "unbroken" in house.run("audit", "verify")


def test_what_cannot_be_redacted_is_left_out_and_marked(house: House) -> None:
    bad = Bad(house)

    async def work() -> list[Answer]:
        async with Runtime(house.home) as runtime:
            with mock.patch("ironcurtain.audit.redact._Cleaning.whole", side_effect=RecursionError):
                allowed = await runtime.call("bad", "echo", {"text": "hidden"})
                return [allowed, await runtime.call("filesystem", "delete_file", {"path": "hidden"})]

    with at_home(house):
        allowed, denied = asyncio.run(work())
    assert allowed.executed is not None
    assert denied.decision.code == "rule_deny"
    assert len(bad.reached()) == 1
    (intent,), (refused,) = house.records(kind="intent"), house.records(kind="refused")
    for record in (intent, refused):
        assert record["request"]["arguments"] == "[unredactable RecursionError]"
        assert record["request"]["taken"] == [{"at": "arguments", "kind": "unredactable"}]
    assert "hidden" not in str(house.records())


def test_a_client_is_answered_whatever_happens_to_its_call(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> list[Any]:
        host, said = mock.Mock(), list[bytes]()
        host.mediate, host.find.return_value = mock.AsyncMock(side_effect=KeyError("ours")), ("s", "t")
        session = Session("s1", Principal(), host, said.append)
        session.receive(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}).encode())
        await asyncio.sleep(0.01)
        session.receive(b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{}}}')
        await session.finish(5)
        return [json.loads(line) for line in said]

    answer = asyncio.run(work())[-1]
    assert (answer["id"], answer["error"]["code"]) == (2, -32603)
    assert "KeyError: 'ours'" in caplog.text, "and the owner's log says where"
