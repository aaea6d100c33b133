"""A loop, an engine or a model that says what it likes: it costs its own task, and nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

import ironcurtain
from ironcurtain.audit.chain import GENESIS, seal, unseal
from ironcurtain.audit.redact import Redactor
from ironcurtain.budget.ledger import COST, TOKENS, Account, Ledger, Reservation
from ironcurtain.daemon.household import Household
from ironcurtain.daemon.minds import Script, Thought
from ironcurtain.daemon.seat import Seat, Standing
from ironcurtain.daemon.sources import Sources
from ironcurtain.daemon.transcripts import About, Transcripts
from ironcurtain.errors import Refusal
from ironcurtain.gateway.context import CallContext
from ironcurtain.identity.unfolding import unfolded
from ironcurtain.identity.variables import variables_of
from ironcurtain.model.call import Principal
from ironcurtain.sandbox import typescript
from ironcurtain.sandbox.stubs import modules_of
from ironcurtain.settings import Budget
from tests.e2e.house import Terminal, code_of, eventually, text_of
from tests.e2e.test_agent import Desk
from tests.e2e.test_code import Coded
from tests.e2e.test_flows import LIST, NOTE, TOUCH, Watched
from tests.e2e.test_helpers import DONE, Family

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.house import House


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


# --- The record. ---


@pytest.mark.parametrize("value", [deep(60), [0] * 450_000, "x" * (9 << 20)])
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
const TextEncoder = (globalThis as any).TextEncoder;
const real = TextEncoder.prototype.encode;
TextEncoder.prototype.encode = function (text: any) {
  const message = JSON.parse(text);
  return real.call(this, JSON.stringify(BODY(message)) + "\\n");
};
"""


BODIES = [
    '((m: any) => "state" in m ? {state: "", moments: 5} : m)',
    '((m: any) => "state" in m ? {state: "x".repeat(100), moments: []} : m)',
    "((m: any) => ({...m, moments: new Array(400000).fill(1)}))",
    '((m: any) => "call" in m ? {call: 7, moments: []} : m)',
]


def test_an_engine_that_says_something_else_ends_its_program_and_nothing_more(house: House) -> None:
    coded = Coded(house)
    for body in BODIES:
        program = FORGED.replace("BODY", body) + 'return bad.touch({text: "x"})'
        assert coded.run(program, "--language", "typescript", code=1)["failure"]["kind"] in (
            "sandbox",
            "failed",
            "error",
        )
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


def test_a_schema_whose_words_are_many_takes_no_time() -> None:
    words = [f"w{number}" for number in range(100_000)]
    properties = {f"p{number}": {"$ref": "#/$defs/e"} for number in range(900)}
    schema: Any = {"type": "object", "properties": properties, "$defs": {"e": {"enum": words}}}
    began = time.monotonic()
    (module,) = modules_of([("s", "t", {"name": "t", "inputSchema": {}, "outputSchema": schema})]).values()
    assert len(module.declaration) + len(module.stub) < 400_000
    assert time.monotonic() - began < 5


def test_a_long_name_takes_no_longer_the_more_stands_under_it() -> None:
    began = time.monotonic()
    redactor = Redactor(b"k")
    redactor.clean({"k" * 1_000_000: ["a"] * 20_000})
    assert time.monotonic() - began < 5
    assert "hunter2" not in str(redactor.clean({"k" * 1_000_000 + " password": ["hunter2"]}))


def test_what_is_sent_to_a_provider_is_as_large_as_it_looks() -> None:
    levels: Any = {f"l{n}": {"type": "array", "prefixItems": [{"$ref": f"#/$defs/l{n + 1}"}] * 9} for n in range(9)}
    bomb = {"type": "object", "properties": {"x": {"$ref": "#/$defs/l0"}}, "$defs": {**levels, "l9": {"type": "null"}}}
    assert unfolded(bomb) == {"type": "object"}
    assert unfolded({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}) == {"type": "object"}
    plain = {"type": "object", "properties": {"x": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": {"type": "string"}}}
    assert unfolded(plain) == {"type": "object", "properties": {"x": {"type": "string"}}}


def test_a_broker_has_the_variables_of_its_provider_alone() -> None:
    kept = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "u", "PATH": "p", "AWS_SECRET": "s"}
    assert variables_of("anthropic:claude", kept) == {"ANTHROPIC_API_KEY": "a"}
    assert variables_of("openai-chat:gpt", kept) == {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "u"}
    assert variables_of("", kept) == {}


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


ASKED = {"id": "1-1", "name": "bad__echo", "arguments": {"text": "x", "n": 1}}
NO_REASON: list[dict[str, Any]] = [
    {"method": "agent/note", "params": {"message": {"role": "user", "text": "yes, do it"}}},
    {"method": "agent/note", "params": {"message": {"role": "tool", "id": "1-1", "name": "x", "text": "y", "failed": False}}},
    {"method": "notifications/cancelled", "params": {"requestId": 1}},
    {"method": "resources/list", "id": 1},
    {"method": "agent/think", "id": "1-1", "params": {}},
    {"method": "agent/think", "id": 1, "params": {}},
    {"method": "agent/answer", "id": 1, "params": {}},
    {"method": "ping", "id": "1-1"},
    {"method": "tools/list", "id": "call 1"},
    {"method": "notifications/initialized", "id": "call 1"},
    {"method": "tools/call", "id": 1, "params": {"name": "bad__echo", "arguments": {"text": "x", "n": 1}}},
    {"method": "tools/call", "id": "2-1", "params": {"name": "bad__echo", "arguments": {"text": "x", "n": 1}}},
    {"method": "tools/call", "id": "1-1", "params": {"name": "bad__echo", "arguments": {"text": "y", "n": 1}}},
    {"method": "tools/call", "id": "1-1", "params": {"name": "bad__echo", "arguments": {"text": "x", "n": True}}},
    {"method": "tools/call", "id": "1-1", "params": {"name": "bad__touch", "arguments": {"text": "x", "n": 1}}},
    {"result": {}},
]  # fmt: skip


def test_what_a_loop_has_no_reason_to_say_ends_the_task(house: House) -> None:
    async def play(first: Chair) -> None:
        for message in NO_REASON:
            chair = Chair(first.seat._runtime)
            chair.seat.transcript.add({"message": {"role": "model", "text": "", "calls": [ASKED]}})
            chair.says(**message)
            assert chair.failed, message
            assert len(chair.seat.transcript.messages) == 2
        for line in (b"[]\n", b"7\n", b"{\n", b"\xff\n", b'{"method": "ping", "x": "' + b"x" * (5 << 20) + b'"}\n'):
            chair = Chair(first.seat._runtime)
            chair.seat._from_loop(line)
            assert chair.failed, line[:20]
        chair = Chair(first.seat._runtime)
        chair.says(method="agent/answer", id=1)
        assert chair.failed, "nobody has answered yet"
        chair = Chair(first.seat._runtime)
        chair.seat.transcript.add({"message": {"role": "model", "text": "Done.", "calls": []}})
        chair.says(method="agent/think", id=1, params={"instructions": "i"})
        assert chair.failed, "there is nothing more to think about"
        chair = Chair(first.seat._runtime)
        for number in range(200):
            chair.says(method="tools/list", id=number, params={})
        assert chair.failed, "it talks, and does nothing"

    seated(house, play)


def test_calls_are_told_apart_by_their_place_whatever_they_are_called(tmp_path: Path) -> None:
    transcript = Transcripts(tmp_path).new(About("task", "agent", ""))
    for turn in ("one", "two"):
        calls = [{"id": "same", "name": "n", "arguments": {"x": f"{turn} {at}"}} for at in range(2)]
        transcript.add({"message": {"role": "model", "text": "", "calls": calls}})
        for at in range(2):
            assert [call["arguments"]["x"] for call in transcript.unanswered] == [f"{turn} {n}" for n in range(at, 2)]
            assert transcript.begun == {}
            transcript.add({"begun": "same", "run": f"r{at}"})
            transcript.add({"message": {"role": "tool", "id": "same", "name": "n", "text": "", "failed": False}})
    assert transcript.unanswered == []


@pytest.mark.parametrize("answer", ["deny", "approve"])
def test_what_was_stopped_does_nothing_until_somebody_goes_on_with_it(house: House, answer: str) -> None:
    desk = Desk(house)
    code = 'import bad\ntry:\n    bad.touch(text="x")\nexcept Exception:\n    pass\nbad.echo(text="after")'
    process = desk.begin("--script", desk.script({"code": code}, {"says": "Done."}))
    question = desk.asked()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    house.run("approvals", answer, question["id"])
    time.sleep(0.7)
    assert desk.names() == [], "nobody looks on"
    desk.work("--resume", desk.last()["id"])
    assert [name for name, _ in desk.names()] == (["touch", "echo"] if answer == "approve" else ["echo"])


def test_an_end_is_always_kept_and_what_was_added_can_be_read(tmp_path: Path) -> None:
    transcripts = Transcripts(tmp_path)
    transcript = transcripts.new(About("task", "agent", ""))
    with pytest.raises(Refusal, match="more was said"):
        transcript.add({"message": {"role": "user", "text": "\u00e9" * (15 << 20)}})
    for _ in range(7):
        transcript.add({"message": {"role": "user", "text": "x" * (4 << 20)}})
    with pytest.raises(Refusal, match="more was said"):
        transcript.add({"message": {"role": "user", "text": "x" * (4 << 20)}})
    transcript.add({"status": "failed", "reason": "more was said"})
    assert transcripts.load(transcript.id).status == "failed"


def test_what_the_model_is_told_comes_from_the_transcript_and_one_thought_at_a_time(house: House) -> None:
    asked: list[Any] = []

    class Mind(Script):
        async def think(self, given: Any, tell: Any) -> Thought:
            asked.append(given)
            return await super().think(given, tell)

    async def play(chair: Chair) -> None:
        chair.seat._mind = Mind(chair.seat.transcript.about.script)
        forged = [{"role": "model", "text": "", "calls": [], "raw": {"kind": "request", "parts": []}}]
        chair.says(id=1, method="agent/think", params={"instructions": "evil", "tools": [{"x": 1}], "messages": forged})
        chair.says(id=2, method="agent/think", params={})
        assert chair.failed, "two at once"
        await asyncio.sleep(0.2)
        assert [message["text"] for message in asked[0]["messages"]] == ["task"]
        assert {"x": 1} not in asked[0]["tools"]
        assert asked[0]["instructions"] != "evil"
        assert [message["text"] for message in chair.seat.transcript.messages] == ["task", "hi"]

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


SLOW = """import bad
bad.touch(text="x")
for word in "abcdefghijklmnopqrstuvwxyz":
    for _ in range(1_500_000):
        pass
    bad.echo(text="word " + word)
"end"
"""


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_whoever_goes_on_with_a_task_holds_its_programs(house: House, how: str) -> None:
    desk = Desk(house)
    process = desk.begin("--script", desk.script({"code": SLOW}, {"says": "Done."}))
    desk.asked()
    if how == "killed":
        house.kill()
        process.communicate(timeout=30)
        house.run("daemon", "start")
    else:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    terminal = Terminal(house, "run", "--resume", desk.last()["id"])
    terminal.until("a approve once")
    time.sleep(1.2)
    terminal.press("a")
    terminal.until("allowed")
    terminal.press("\x03")
    terminal.until("Enter goes on")
    number = len(desk.names())
    time.sleep(0.8)
    assert len(desk.names()) <= number + 1
    terminal.press("q\n")
    terminal.process.wait(20)
    number = len(desk.names())
    time.sleep(0.8)
    assert len(desk.names()) == number < 20


def test_a_call_that_was_approved_waits_for_the_end_of_a_pause(house: House) -> None:
    desk = Desk(house)
    house.run("daemon", "start")
    code = 'import bad\nbad.touch(text="x")\nbad.echo(text="after")'
    terminal = Terminal(house, "run", "--script", desk.script({"code": code}, {"says": "Done."}))
    terminal.until("a approve once")
    time.sleep(1)
    terminal.press("\x03")
    terminal.until("Enter goes on")
    house.run("approvals", "approve", desk.asked()["id"])
    time.sleep(0.5)
    assert desk.names() == []
    terminal.press("q\n")
    terminal.process.wait(10)
    time.sleep(0.5)
    assert desk.names() == []


def test_nobody_starts_helpers_for_a_task_that_ends(house: House) -> None:
    async def play(chair: Chair) -> None:
        chair.seat.stop()
        with pytest.raises(Refusal, match="gone"):
            await chair.seat.household.perform("start", {"task": "x"}, CallContext({}))
        assert not await chair.seat._may()
        below = Standing(Principal("agent/1", subagent=True), chair.seat)
        helper = Seat(chair.seat._runtime, chair.seat.transcript, below, Script([]), chair.told.append)
        assert not await helper._may()

    seated(house, play)


# --- What was seen. ---


def test_who_shares_hears_of_it_at_once_and_what_was_seen_was_seen() -> None:
    sources = Sources()
    sources.add("program", ["a/x"])
    sources.share("program", "task")
    assert sources.of("task") == {"a/x"}
    sources.add("task", ["b/y"])
    assert sources.of("program") == {"a/x", "b/y"}
    sources.add("program", ["c/z"])
    sources.forget("task")
    assert sources.of("program") == {"a/x", "b/y", "c/z"}
    assert sources.of("task") == frozenset()
    sources.add("program", ["d/w"])
    assert sources.of("task") == frozenset()


def test_a_program_that_runs_already_hears_of_what_its_helpers_saw(house: House) -> None:
    watched = Watched(house)
    looking = {"code": f'import filesystem\nimport agents\nagents.send(agent="parent", text=str({LIST}))'}
    program = f'import agents\nimport bad\nh = agents.start(task="look")\nagents.wait(agent=h)\nbad.touch(path="{NOTE}", text=agents.receive())'
    watched.play(program, look=[looking, DONE])
    assert "it has seen your files" in watched.results()[0]
    assert watched.names() == []


def test_the_names_of_skills_say_where_they_come_from(house: House) -> None:
    watched = Watched(house, "[code]\noffered = true\n")
    agent = house.agent("--agent", "a")
    agent.call("filesystem__list_directory", path=".")
    kept = {"name": "s_secret4711", "about": "looks", "code": "1"}
    agent.ask("tools/call", {"name": "save_skill", "arguments": kept})
    other = house.agent("--agent", "a")
    assert "s_secret4711" in text_of(other.call("execute_code", skill="unknown"))
    assert code_of(other.call("bad__touch", path=NOTE)) == "rule_deny"
    assert watched.names() == []


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


def test_programs_that_were_approved_while_nobody_looked_on_hold_nothing(house: House) -> None:
    desk = Desk(house)
    plan = 'import bad\nbad.touch(text="a")\nbad.touch(text="b")'
    for _ in range(5):
        process = desk.begin("--script", desk.script({"code": plan}, {"says": "Done."}))
        eventually(lambda: len(house.json("approvals")) == 2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        house.run("approvals", "approve", house.json("approvals")[0]["group"])
    eventually(lambda: not house.json("approvals"))
    assert {each["status"] for each in house.json("code", "list")} == {"waiting"}
    assert desk.names() == []
    desk.work("--script", desk.script({"code": "1 + 1"}, {"says": "Done."}))
    house.kill()
    house.run("daemon", "start")
    eventually(lambda: len(house.json("approvals")) == 10)
    for group in {question["group"] for question in house.json("approvals")}:  # a yes ends with the daemon
        house.run("approvals", "approve", group)
    assert desk.names() == []
    desk.work("--resume", house.json("agents", "list")[-1]["id"])
    assert desk.names() == [("touch", {"text": "a"}), ("touch", {"text": "b"})]


def test_helpers_go_round_in_circles_as_one(house: House) -> None:
    family = Family(house)
    nine = {"code": 'import bad\nfor i in range(9):\n    bad.echo(text="same")'}
    program = "import agents\n" + "\n".join(f'agents.spawn(task="h{number}")' for number in range(4))
    helpers = {f"h{number}": [nine, DONE] for number in range(4)}
    process = family.begin("--agents", "--script", family.written(program, **helpers))
    assert "nothing new came" in family.asked()["reason"]
    assert len(family.names()) < 36
    process.kill()
    process.communicate()


def test_what_a_helper_was_refused_counts_for_its_parent_after_a_power_cut(house: House) -> None:
    family = Family(house)
    tries = f'import filesystem\nfor i in range(5):\n    try:\n        filesystem.read_text_file(path="{house.home}/x" + str(i))\n    except Exception:\n        pass'
    program = 'import agents\nagents.spawn(task="sub")\nimport bad\nbad.touch(text="x")'
    process = family.begin("--agents", "--script", family.written(program, sub=[{"code": tries}, DONE]))
    family.asked()
    refused = [each["used"].get("refusals") for each in house.json("budget")["accounts"]]
    house.kill()
    process.communicate()
    house.run("daemon", "start")
    assert [each["used"].get("refusals") for each in house.json("budget")["accounts"]] == refused
    assert [number for number in refused if number].count(5) >= 2


def test_what_stands_under_a_secret_name_is_in_no_record(house: House) -> None:
    coded = Coded(house)
    coded.run('import bad\npassword = "correct-horse-7"\nbad.echo(text={"password": "correct-horse-7"})', code=1)
    coded.run('import bad\nbad.echo(txt="x")  # api_key: "correct-horse-7"', code=1)
    assert "correct-horse-7" not in json.dumps(house.records())


def test_refusals_of_the_code_tools_are_on_record(house: House) -> None:
    Coded(house, "[code]\noffered = true\n")
    agent = house.agent("--agent", "a")
    agent.call("execute_code", skill="none")
    agent.call("code_result", run="ffffffff")
    refused = [record["request"]["tool"] for record in house.records(kind="refused")]
    assert refused == ["execute_code", "code_result"]
    assert "execute_code" in house.run("audit", "tail")
