"""Long messages of a server are read beside the loop, in order, and not without end."""

from __future__ import annotations

import asyncio
import functools
import json
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.gateway.upstream.connection import Connection, UpstreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

LONG = ["x" * 1_000] * 400
VERY_LONG = "x" * (30 * 1024 * 1024)


def in_a_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    return functools.wraps(test)(lambda: asyncio.run(test()))


class Wire:
    """A channel that keeps what it is told."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.killed = ""

    def send(self, line: bytes) -> None:
        self.sent.append(json.loads(line))

    def kill(self, reason: str) -> None:
        self.killed = reason

    async def stop(self) -> None:
        pass


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


async def opened() -> tuple[Connection, Wire, list[str]]:
    ends: list[str] = []
    connection, wire = Connection(lambda: None, ends.append), Wire()
    opening = asyncio.ensure_future(connection.open(wire))
    await asyncio.sleep(0)
    connection.receive(line(id=1, result={"protocolVersion": "2025-11-25", "capabilities": {}}))
    await opening
    return connection, wire, ends


def asked(connection: Connection) -> asyncio.Task[dict[str, Any]]:
    return asyncio.ensure_future(connection.request("tools/call", {}, timeout=10))


@in_a_loop
async def test_a_long_answer_is_read_before_its_call_is_given_up() -> None:
    connection, _, ends = await opened()
    answer = asked(connection)
    await asyncio.sleep(0)
    assert connection.receive(line(id=2, result={"content": LONG})) is not None
    connection.lost("it closed its output")
    assert ends == ["it closed its output"]
    assert (await answer)["content"] == LONG


@in_a_loop
async def test_what_is_not_answered_by_then_is_given_up() -> None:
    connection, _, _ = await opened()
    answer = asked(connection)
    await asyncio.sleep(0)
    connection.receive(line(method="notifications/message", params={"data": LONG}))
    connection.lost("it closed its output")
    with pytest.raises(UpstreamError, match="closed its output"):
        await answer


@in_a_loop
async def test_long_messages_are_read_in_order() -> None:
    connection, _, _ = await opened()
    answer = asked(connection)
    await asyncio.sleep(0)
    connection.receive(line(id=2, result={"content": [*LONG, "first"]}))
    connection.receive(line(id=2, result={"content": [*LONG, "second"]}))
    assert (await answer)["content"][-1] == "first"


@in_a_loop
async def test_a_long_message_that_is_none_ends_the_server() -> None:
    connection, wire, _ = await opened()
    reading = connection.receive(line(id=2, result={"a": LONG}).replace(b'"a"', b'"a":1,"a"'))
    assert reading is not None
    await reading
    assert "not acceptable" in wire.killed


@in_a_loop
async def test_more_than_can_be_read_ends_the_server() -> None:
    connection, wire, ends = await opened()
    answer = asked(connection)
    await asyncio.sleep(0)
    for _ in range(3):
        connection.receive(line(method="notifications/message", params={"data": VERY_LONG}))
    assert wire.killed == "it sends more than can be read"
    assert ends == [wire.killed]
    with pytest.raises(UpstreamError, match="more than can be read"):
        await answer
