"""TypeScript programs, end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.house import text_of
from tests.e2e.test_code import WHOLE, Coded

if TYPE_CHECKING:
    from tests.e2e.house import House

THREE = """
const one = bad.echo({text: "before"});
console.log("about to ask", new Date().getTime() > 0, Math.random() < 1);
const two = bad.touch({text: "x"});
return [one, two, bad.echo({text: "after"})];
"""


def test_a_program_calls_tools_and_gets_data(house: House) -> None:
    coded = Coded(house)
    program = "const words: string[] = data;\nreturn words.map((text) => JSON.parse(bad.echo({text})).text)"
    told = coded.run(program, "--language", "typescript", "--data", '["a", "b"]')
    assert (told["status"], told["result"], told["calls"]) == ("done", ["a", "b"], 2)
    assert coded.names() == [("echo", {"text": "a"}), ("echo", {"text": "b"})]
    assert {record["code"]["run"] for record in house.records(kind="intent")} == {told["run"]}


WRONG = [
    ('return bad.echo({txt: "x"})', "types", "Did you mean to write 'text'"),
    ("\nconst x: number = 'a';\nreturn x", "types", "line 2, column 7"),
    ("return Deno.env.toObject()", "types", "Cannot find name 'Deno'"),
    ("return (", "types", "Expression expected"),
    ('const u: string = "data:text/javascript,bad.echo({text: 1})"; await import(u)', "types", "nothing to import"),
    ("throw new Error('no')", "error", "no"),
    ("Promise.reject(new Error('nobody minds')); await new Promise(() => 0)", "error", "nobody minds"),
    ("await new Promise(() => 0)", "error", "awaits what never comes"),
    ('return "a --> b, and nothing to export"', "types", "read in several ways"),
    ("for (;;) ;", "time", "longer"),
]


def test_what_is_wrong_is_said(house: House) -> None:
    coded = Coded(house, "[code]\nseconds = 1\n")
    for program, kind, said in WRONG:
        told = coded.run(program, "--language", "typescript", code=1)
        assert told["failure"]["kind"] == kind
        assert said in told["failure"]["message"]
    assert coded.names() == []
    assert not [path for path in (house.home / "run").iterdir() if path.name.startswith("check-")]


def test_a_refused_call_is_an_error_that_can_be_caught(house: House) -> None:
    coded = Coded(house)
    program = "try { filesystem.delete_file({path: 'x'}) } catch (e) { return [e instanceof PermissionError, `${e}`] }"
    told = coded.run(program, "--language", "typescript")
    assert told["result"][0] is True
    assert "not allowed" in told["result"][1]


def test_a_program_that_waits_outlives_the_daemon_and_does_nothing_twice(house: House) -> None:
    coded = Coded(house, "[code]\noffered = true\n")
    agent = house.agent("--agent", "a")
    agent.begin("tools/call", {"name": "execute_code", "arguments": {"code": THREE, "language": "typescript"}})
    program = coded.until("waiting")
    house.kill()
    house.run("daemon", "start")
    waiting = coded.until("waiting")
    house.run("approvals", "approve", waiting["question"])
    coded.until("done")
    assert coded.names() == WHOLE
    agent = house.agent("--agent", "a")
    result = agent.call("code_result", run=program["run"], seconds=5)
    assert "about to ask true true" in text_of(result)


TWICE = """
for (const text of ["one", "two"]) bad.touch({text});
bad.echo({text: "between"});
bad.touch({text: "one"});
return "end";
"""


def test_a_plan_is_shown_asked_for_at_once_and_outlives_the_daemon(house: House) -> None:
    coded = Coded(house)
    file = house.owner / "p.ts"
    file.write_text(TWICE)
    assert house.run("code", "plan", str(file)).splitlines() == [
        'line 2: bad.touch(text="one"): escalate',
        'line 2: bad.touch(text="two"): escalate',
        'line 3: bad.echo(text="between"): allow',
        'line 4: bad.touch(text="one"): escalate',
        "and whatever else bad can do",
    ]
    waiting = coded.start(TWICE, "--language", "typescript")
    coded.until("waiting")
    assert coded.names() == []
    house.kill()
    waiting.communicate(timeout=120)
    house.run("daemon", "start")
    house.run("approvals", "approve", coded.until("waiting")["question"])
    assert coded.until("done")["result"] == "end"
    assert [arguments["text"] for _, arguments in coded.names()] == ["one", "two", "between", "one"]


def test_a_call_that_can_never_be_allowed_ends_it_before_the_first_effect(house: House) -> None:
    coded = Coded(house)
    program = "bad.echo({text: 'x'});\nfilesystem.read_text_file({path: '~/.ironcurtain/config.toml'})"
    told = coded.run(program, "--language", "typescript", code=1)
    assert told["failure"]["kind"] == "plan"
    assert "line 2" in told["failure"]["message"]
    assert coded.names() == []


def test_names_of_tools_and_their_types_are_told(house: House) -> None:
    told = Coded(house).run(
        "return [tools.servers(), tools.interfaces('bad'), help('bad.echo')]", "--language", "typescript"
    )
    servers, whole, one = told["result"]
    assert servers == ["bad", "filesystem"]
    assert "echo: (args?: { text?: string; path?: string }) => string;" in whole
    assert "declare const bad" in one
