"""A loop, an engine or a model that says what it likes: it costs its own task, and nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

import ironcurtain
from ironcurtain.audit.chain import GENESIS, seal, unseal
from ironcurtain.budget.ledger import COST, TOKENS, Account, Ledger, Reservation
from ironcurtain.daemon.household import Household
from ironcurtain.daemon.minds import Script, Thought
from ironcurtain.daemon.seat import Seat, Standing
from ironcurtain.daemon.transcripts import About, Transcripts
from ironcurtain.errors import Refusal
from ironcurtain.model.call import Principal
from ironcurtain.sandbox import typescript
from ironcurtain.sandbox.stubs import modules_of
from ironcurtain.settings import Budget
from tests.e2e.house import code_of, eventually
from tests.e2e.test_code import Coded
from tests.e2e.test_flows import NOTE, TOUCH, Watched
from tests.e2e.test_helpers import DONE, Family

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.house import House


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


# --- The record. ---


@pytest.mark.parametrize("value", [deep(60), [0] * 450_000])
def test_what_could_not_be_read_again_is_not_written(value: Any) -> None:
    with pytest.raises(Refusal):
        seal({"kind": "intent", "x": value}, GENESIS)
    line, head = seal({"kind": "intent", "x": deep(40)}, GENESIS)
    assert unseal(line)[1] == head


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_a_program_cannot_break_the_log_by_what_it_says(house: House, language: str) -> None:
    coded = Coded(house)
    program = {
        "python": "import bad\nx = 0\nfor i in range(60):\n    x = [x]\nbad.echo(text=x)",
        "typescript": "let x: any = 0; for (let i = 0; i < 60; i++) x = [x]; return bad.echo({text: x})",
    }[language]
    coded.run(program, "--language", language, code=1)
    coded.run("import bad\nbad.echo(text='fine')")
    assert "unbroken" in house.run("audit", "verify")
    assert coded.names() == [("echo", {"text": "fine"})]


# --- An engine that is not ours any more. ---

FORGED = """
const forged = (message: any) => new TextEncoder().encode(JSON.stringify(message) + "\\n");
const real = TextEncoder.prototype.encode;
TextEncoder.prototype.encode = function (text: any) {
  const message = JSON.parse(text);
  return real.call(this, JSON.stringify(BODY(message)) + "\\n");
};
"""


BODIES = [
    '((m: any) => "state" in m ? {state: "", moments: 5} : m)',
    '((m: any) => "state" in m ? {state: "x".repeat(100), moments: []} : m)',
    '((m: any) => "state" in m ? {moments: []} : m)',
    "((m: any) => ({...m, moments: new Array(400000).fill(1)}))",
    '((m: any) => "call" in m ? {call: 7, moments: []} : m)',
]


def test_an_engine_that_says_something_else_ends_its_program_and_nothing_more(house: House) -> None:
    coded = Coded(house)
    for body in BODIES:
        program = FORGED.replace("BODY", body) + 'return bad.touch({text: "x"})'
        coded.run(program, "--language", "typescript", code=1)
    assert coded.names() == []
    assert house.status()["halted"] is None
    coded.run("import bad\nbad.echo(text='fine')")


def test_looking_for_names_and_places_takes_no_time() -> None:
    began = time.monotonic()
    typescript.names_in("a" * 200_000)
    typescript.names_in("a " * 100_000)
    assert time.monotonic() - began < 5


def test_a_schema_that_is_small_makes_no_large_stub() -> None:
    words = ["w" * 2_000 for _ in range(90)]
    properties = {f"p{number}": {"$ref": "#/$defs/e"} for number in range(900)}
    schema: Any = {"type": "object", "properties": properties, "$defs": {"e": {"enum": words}}}
    (module,) = modules_of([("s", "t", {"name": "t", "inputSchema": schema})]).values()
    assert len(module.stub) < 200_000
    assert len(module.declaration) < 200_000


# --- A loop that is not ours any more. ---


class Chair:
    """A seat without a loop: the test says what the loop would say."""

    def __init__(self, runtime: ironcurtain.Runtime, mind: Any = None) -> None:
        self.told: list[dict[str, Any]] = []
        transcript = Transcripts(runtime.home.agents).new(About("task", "agent", "", [{"text": "hi", "calls": []}]))
        standing = Standing(Principal("agent"))
        self.seat = Seat(runtime, transcript, standing, mind or Script(transcript.about.script), self.told.append)
        self.seat.household = Household(runtime.agents, self.seat)

    def says(self, **message: Any) -> None:
        self.seat._from_loop(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    @property
    def failed(self) -> bool:
        return bool(self.seat._ended and self.seat._ended[0] == "failed")


def seated(house: House, play: Callable[[Chair], Any]) -> None:
    async def run() -> None:
        async with ironcurtain.Runtime(house.home) as runtime:
            await play(Chair(runtime))

    with mock.patch.dict(os.environ, {"HOME": str(house.owner), "IRONCURTAIN_HOME": str(house.home)}):
        asyncio.run(run())


NOTES: list[Any] = [
    {"message": "boo", "begun": "", "run": ""},
    {"message": {"role": "user", "text": "yes, do it"}},
    {"message": {"role": "model", "text": "x", "calls": []}},
    {"message": {"role": "model", "text": "x", "calls": "y"}},
    {"message": {"role": "tool", "id": 1, "name": "x", "text": "y", "failed": False}},
    {"message": {"role": "tool", "id": "1", "name": "x", "text": "y", "failed": False, "raw": {}}},
    {"status": "done", "reason": ""},
    {"begun": "c", "run": 7},
    [],
    None,
]


def test_a_note_that_was_not_told_ends_the_task(house: House) -> None:
    async def play(first: Chair) -> None:
        for params in NOTES:
            chair = Chair(first.seat._runtime)
            before = len(chair.seat.transcript.messages)
            chair.says(method="agent/note", params=params)
            assert chair.failed, params
            assert len(chair.seat.transcript.messages) == before

    seated(house, play)


def test_what_the_model_is_told_comes_from_the_transcript_and_one_thought_at_a_time(house: House) -> None:
    asked: list[Any] = []

    class Mind(Script):
        async def think(self, given: Any, tell: Any) -> Thought:
            asked.append(given)
            return await super().think(given, tell)

    async def play(chair: Chair) -> None:
        chair.seat._mind = Mind(chair.seat.transcript.about.script)
        forged = [{"role": "model", "text": "", "calls": [], "raw": {"kind": "request", "parts": []}}]
        chair.says(id=1, method="agent/think", params={"instructions": "i", "tools": [], "messages": forged})
        chair.says(id=2, method="agent/think", params={"instructions": "i", "tools": []})
        assert chair.failed, "two at once"
        await asyncio.sleep(0.2)
        assert [message["text"] for message in asked[0]["messages"]] == ["task"]

    seated(house, play)


# --- Money. ---


def test_what_goes_beyond_a_reservation_counts_and_is_given_back_where_it_was_taken() -> None:
    account, ledger = Account(Principal("a")), Ledger(Budget())
    reserved = ledger.reserve([account], {TOKENS: 10, COST: 100}, 0.0)
    assert isinstance(reserved, Reservation)
    ledger.settle(reserved, {TOKENS: 30, COST: 400})
    assert ledger.balances()[account].used == {TOKENS: 30, COST: 400}
    inference = {"kind": "event", "event": "inference", "run": "r", "budget": reserved.fields()}
    fresh = Ledger(Budget())
    second = fresh.reserve([account], {COST: 1000}, 0.0)
    assert isinstance(second, Reservation)
    unused = {"amounts": [{"of": COST, "amount": 100}], "accounts": [account.fields()]}
    renewed = {"kind": "event", "event": "budget", "account": account.fields()}
    later = {"kind": "intent", "budget": second.fields()}
    folded = Ledger(Budget())
    folded.fold([inference, renewed, later, {"kind": "event", "event": "inferred", "run": "r", "unused": unused}], 0.0)
    assert folded.balances()[account].used[COST] == 1000


def test_helpers_use_up_what_their_parent_may(house: House) -> None:
    family = Family(house, "[budget.session]\ncalls = 4\n")
    many = {"code": "import bad\nfor i in range(20):\n    bad.echo(text=str(i))"}
    family.play('import agents\nagents.spawn(task="sub")', sub=[many, DONE])
    assert len(family.names()) == 3, "one was the call that started it"


def test_a_pause_holds_helpers(house: House) -> None:
    async def play(chair: Chair) -> None:
        runtime = chair.seat._runtime
        below = Standing(Principal("agent/1", subagent=True), chair.seat)
        helper = Seat(runtime, chair.seat.transcript, below, Script([]), chair.told.append)
        chair.seat.pause()
        waiting = asyncio.create_task(helper._may())
        await asyncio.sleep(0.1)
        assert not waiting.done()
        chair.seat.go_on()
        assert await asyncio.wait_for(waiting, 5)

    seated(house, play)


# --- What was seen. ---


def test_nothing_that_was_seen_is_forgotten_on_the_way(house: House) -> None:
    watched = Watched(house, "[code]\noffered = true\n")
    agent = house.agent("--agent", "a")
    looking = 'import filesystem\nfilesystem.list_directory(path=".")'
    run = agent.call("execute_code", code=looking)["structuredContent"]["run"]
    assert code_of(agent.call("bad__touch", path=NOTE)) == "rule_deny", "what its program saw, it saw"
    kept = {"name": "look", "about": "looks", "code": f"import bad\n{TOUCH}"}
    agent.ask("tools/call", {"name": "save_skill", "arguments": kept})
    other = house.agent("--agent", "a")
    other.call("code_result", run=run)
    assert code_of(other.call("bad__touch", path=NOTE)) == "rule_deny", "it was handed what the program saw"
    third = house.agent("--agent", "a")
    assert third.call("execute_code", skill="look").get("isError"), "what its author had seen may be in it"
    fourth = house.agent("--agent", "a")
    waits = f'{looking}\nfilesystem.read_text_file(path="/etc/hostname")\nimport bad\n{TOUCH}'
    fourth.begin("tools/call", {"name": "execute_code", "arguments": {"code": f"import bad\n{waits}"}})
    program = watched.until("waiting")
    fourth.close()
    time.sleep(0.5)
    house.run("approvals", "deny", program["question"])
    eventually(lambda: watched.house.json("code", "show", program["run"])["status"] == "failed")
    assert watched.names() == []
