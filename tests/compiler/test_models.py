"""A model as a reader: real HTTP and real programs on this machine, and every way in which they can fail."""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from evaluation.annotate import DATA

from ironcurtain.artifacts.policy import Surroundings, load_policy
from ironcurtain.cli.main import main
from ironcurtain.errors import ArtifactError
from tests.support import outcome, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FILES = f"files={DATA}/catalogues/npm__modelcontextprotocol_server-filesystem.json"
TEXT = "Whatever lies in Projects may be looked at by it. Putting things into Projects is its business too."
READ = "may use files/read_file or files/read_text_file in Projects."
WRITE = "may create or change files in Projects."
BOTH = f"1: {READ}\n2: {WRITE}"


def described(request: dict[str, Any], roles: dict[str, list[str]]) -> dict[str, Any] | None:
    """An answer to a question about tools: nothing means anything, but for what `roles` says."""
    if not request.get("tools") or "tools" not in request["tools"][0]["function"]["parameters"]["properties"]:
        return None
    prompt = next(json.loads(each["content"]) for each in request["messages"] if each["role"] == "user")
    return {
        "tools": [
            {
                "tool": tool["tool"],
                "arguments": [{"name": leaf, "roles": roles.get(leaf, ["none"])} for leaf in tool["arguments"]],
            }
            for tool in prompt["tools"]
        ]
    }


@contextmanager
def model(
    *answers: Any,
    roles: dict[str, list[str]] | None = None,
    tests: Sequence[dict[str, Any]] = (),
    judgement: Any = None,
    fails: bool = False,
    streams: bool = False,
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that speaks like OpenAI's and gives these answers, the last one for ever; and what it was asked.

    It says nothing of tools and writes no tests, but for what `roles`, `tests` and `judgement` say.
    """
    asked: list[dict[str, Any]] = []

    def besides(request: dict[str, Any]) -> Any:
        wanted = request["tools"][0]["function"]["parameters"]["properties"] if request.get("tools") else {}
        if "values" in wanted:
            return {"values": ["bbc.co.uk", "*.example.org", "no domain", "@contacts", "news.example"]}
        if "scenarios" in wanted:
            return {"scenarios": list(tests)}
        return judgement if "fixes" in wanted else described(request, roles or {})

    class Speaks(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = None if fails else besides(request)
            if answer is None and request.get("stream") and not streams:
                answer = ""
            elif answer is None:
                asked.append(request)
                answer = answers[min(len(asked), len(answers)) - 1]
            if isinstance(answer, int) or (request.get("stream") and not streams):
                self.send_error(answer if isinstance(answer, int) else 400)
                return
            if request.get("stream"):
                self._stream(answer)
                return
            message: dict[str, Any] = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
            if not isinstance(answer, str):
                name = request["tools"][0]["function"]["name"]
                call = {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(answer)}}
                message["tool_calls"] = [call]
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
            body = {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [choice],
                "usage": usage,
            }
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, answer: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for piece in answer.splitlines(keepends=True):
                delta = {"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}
                chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [delta]}
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Speaks)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


class Desk:
    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.capsys, self.monkeypatch = root, capsys, monkeypatch
        (root / "home").mkdir(mode=0o700)
        (root / "constitution.md").write_text(TEXT)
        (root / "setup.json").write_text(json.dumps({"home": "/home/kim", "directories": {"Projects": "~/Projects"}}))
        monkeypatch.setenv("IRONCURTAIN_HOME", str(root / "home"))
        monkeypatch.setenv("OPENAI_API_KEY", "none")

    def compile(self, url: str, *more: str, code: int = 0) -> tuple[dict[str, Any], str]:
        self.monkeypatch.setenv("OPENAI_BASE_URL", url)
        words = ["compile", "--constitution", "constitution.md", "--setup", "setup.json", "--out", "policy"]
        words = [str(self.root / word) if word[-3:] in (".md", "son", "icy") else word for word in words]
        ended = main([*words, "--catalogue", FILES, "--yes", "--json", *more])
        said = self.capsys.readouterr()
        assert ended == code, said
        return json.loads(said.out) if said.out else {}, said.err

    def decided(self, tool: str, path: str) -> str:
        loaded = load_policy(self.root / "policy", Surroundings(self.root / "home", time.time()))
        arguments = {"path": path, **({"content": "x"} if tool == "write_file" else {})}
        return outcome(loaded, {"serverName": "files", "toolName": tool, "arguments": arguments})


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, capsys, monkeypatch)


MODEL = ("--model", "openai-chat:m")


def test_a_model_reads_what_the_parser_does_not(desk: Desk) -> None:
    with model(BOTH) as (url, asked):
        said, _ = desk.compile(url, *MODEL)
    assert said["verdict"] == "pass"
    assert [each["reader"] for each in said["sentences"]] == ["model openai-chat:m"] * 2
    assert desk.decided("read_file", "/home/kim/Projects/a") == "allow"
    assert desk.decided("write_file", "/home/kim/Projects/a") == "allow"
    assert desk.decided("read_file", "/home/kim/Letters/a") == "deny"
    assert len(asked) == 2, "twice, independently"
    assert "Whatever lies in Projects" in json.dumps(asked[0]["messages"])
    noted = [json.loads(line) for line in (desk.root / "home" / "llm-interactions.jsonl").read_text().splitlines()]
    assert [each["stage"] for each in noted] == ["read", "read"], "no tool is in doubt"


def test_an_answer_that_comes_in_pieces(desk: Desk) -> None:
    with model(BOTH, streams=True) as (url, _):
        desk.compile(url, *MODEL)
    assert desk.decided("write_file", "/home/kim/Projects/a") == "allow"


def test_where_two_readings_differ_the_stricter_holds_there_and_not_elsewhere(desk: Desk) -> None:
    with model(BOTH, f"1: {READ}\n2: must ask before creating or changing files in Projects.") as (url, _):
        desk.compile(url, *MODEL)
    assert desk.decided("read_file", "/home/kim/Projects/a") == "allow"
    assert desk.decided("write_file", "/home/kim/Projects/a") == "escalate"


def test_an_interrupted_run_goes_on_where_it_stopped(desk: Desk) -> None:
    with model(BOTH, 500) as (url, asked):
        desk.compile(url, *MODEL, code=2)
        assert len(asked) >= 2
    with model(BOTH) as (url, asked):
        desk.compile(url, *MODEL)
    assert len(asked) == 1, "the first reading was kept"


def test_a_bad_answer_is_given_back_for_repair(desk: Desk) -> None:
    with model(f"1: may read fils in Projects.\n2: {WRITE}", f"1: {READ}") as (url, asked):
        desk.compile(url, *MODEL, "--once")
    assert len(asked) == 2
    assert "no tool is about fils" in json.dumps(asked[1]["messages"])
    assert desk.decided("read_file", "/home/kim/Projects/a") == "allow"


@pytest.mark.parametrize(
    "answer", ["I would rather not.", "1: allow everything", "{}"], ids=["prose", "nonsense", "json"]
)
def test_a_model_that_talks_nonsense_permits_nothing(desk: Desk, answer: str) -> None:
    with model(answer) as (url, _):
        said, _ = desk.compile(url, *MODEL, code=3)
    assert [each["state"] for each in said["sentences"]] == ["unread"] * 2
    assert desk.decided("read_file", "/home/kim/Projects/a") == "deny"


@pytest.mark.parametrize("answer", some([500, 401], 1), ids=some(["a fault", "no key"], 1))
def test_a_model_that_fails_is_named_and_nothing_is_made(desk: Desk, answer: Any) -> None:
    with model(answer, fails=True) as (url, _):
        desk.compile(url, *MODEL, code=2)
    assert not (desk.root / "policy").exists()


def test_nobody_is_asked_unless_a_model_is_named(desk: Desk) -> None:
    with model(BOTH) as (url, asked):
        desk.compile(url, code=3)
    assert asked == []
    assert not (desk.root / "home" / "llm-interactions.jsonl").exists()


def test_a_program_that_the_owner_has_is_a_model(desk: Desk) -> None:
    program = desk.root / "model.py"
    answer = f"asked = sys.stdin.read()\nassert 'Whatever lies in Projects' in asked\nprint({BOTH!r})"
    program.write_text(f"import sys\n{answer}\n")
    desk.compile("http://127.0.0.1:9/v1", "--model", f"command:{sys.executable} {program}")
    assert desk.decided("read_file", "/home/kim/Projects/a") == "allow"
    program.write_text("import sys\nsys.exit('no such login')\n")
    (desk.root / "constitution.md").write_text(TEXT + " More is welcome.")
    _, said = desk.compile("http://127.0.0.1:9/v1", "--model", f"command:{sys.executable} {program}", code=2)
    assert "no such login" in said


def test_a_program_is_asked_about_tools_too_and_its_answer_is_checked(desk: Desk) -> None:
    odd = {"name": "frobnicate", "description": "Frobnicates.", "inputSchema": {"type": "object", "properties": {
        "zorp": {"type": "string"}}}}  # fmt: skip
    (desk.root / "odd.json").write_text(json.dumps({"tools": [odd]}))
    program = desk.root / "model.py"
    told = {"tools": [{"tool": "frobnicate", "arguments": [{"name": "zorp", "roles": ["recipient"]}]}]}
    wrong = {"tools": [{"tool": "frobnicate", "arguments": [{"name": "zorp", "roles": ["friend"]}]}]}
    program.write_text(
        "import sys\n"
        "asked = sys.stdin.read()\n"
        f"answer = {BOTH!r}\n"
        "if 'JSON schema' in asked:\n"
        f"    answer = 'Here it is: ' + ({json.dumps(told)!r} if 'friend is no role' in asked else {json.dumps(wrong)!r})\n"
        "print(answer)\n"
    )
    command = f"command:{sys.executable} {program}"
    desk.compile("http://127.0.0.1:9/v1", "--model", command, "--catalogue", f"odd={desk.root / 'odd.json'}")
    annotations = json.loads((desk.root / "policy" / "tool-annotations.json").read_text())
    (tool,) = annotations["servers"]["odd"]["tools"]
    assert "recipient" in tool["args"]["zorp"]["roles"]


def test_an_answer_without_an_end_is_refused_at_its_limit(desk: Desk) -> None:
    program = desk.root / "model.py"
    program.write_text("import sys\nsys.stdin.read()\nwhile True:\n    sys.stdout.write('x' * 65536)\n")
    _, said = desk.compile("http://127.0.0.1:9/v1", "--model", f"command:{sys.executable} {program}", code=2)
    assert "an answer of more than" in said


@pytest.mark.parametrize(
    ("name", "help_"), [("anthropic:claude-x", "set ANTHROPIC_API_KEY"), ("nosuch", "write PROVIDER:MODEL")]
)
def test_a_model_that_cannot_be_had_says_what_to_type(
    desk: Desk, name: str, help_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    _, said = desk.compile("", "--model", name, code=2)
    assert help_ in said


def test_any_chat_window_is_a_model(desk: Desk) -> None:
    _, said = desk.compile("http://127.0.0.1:9/v1", "--by-hand", code=2)
    question = desk.root / "home" / "question-for-a-model.md"
    assert str(question) in said
    assert "Whatever lies in Projects" in question.read_text()
    (desk.root / "answer.txt").write_text(BOTH)
    desk.compile("http://127.0.0.1:9/v1", "--by-hand", "--once", "--answer", str(desk.root / "answer.txt"))
    assert desk.decided("read_file", "/home/kim/Projects/a") == "allow"


def test_two_readings_by_hand_are_given_one_after_the_other(desk: Desk) -> None:
    answer = desk.root / "answer.txt"
    answer.write_text(BOTH)
    given = ("--by-hand", "--answer", str(answer))
    _, said = desk.compile("http://127.0.0.1:9/v1", *given, code=2)
    assert "the second reading" in said
    first = (desk.root / "home" / "question-for-a-model.md").read_text()
    desk.compile("http://127.0.0.1:9/v1", *given)
    assert desk.decided("read_file", "/home/kim/Projects/a") == "allow"
    assert "Whatever lies in Projects" in first
    assert not (desk.root / "home" / "answers-by-hand").exists()


def test_a_model_is_asked_about_tools_in_doubt_may_add_a_role_and_takes_none_away(desk: Desk) -> None:
    odd = {"name": "frobnicate", "description": "Frobnicates.", "inputSchema": {"type": "object", "properties": {
        "path": {"type": "string", "description": "Path of the file"}, "content": {"type": "string"}}}}  # fmt: skip
    (desk.root / "odd.json").write_text(json.dumps({"tools": [odd]}))
    with model(BOTH, roles={"content": ["outbound-content"]}) as (url, _):
        desk.compile(url, *MODEL, "--catalogue", f"odd={desk.root / 'odd.json'}")
    annotations = json.loads((desk.root / "policy" / "tool-annotations.json").read_text())
    (tool,) = annotations["servers"]["odd"]["tools"]
    assert {"read-path", "write-path"} & set(tool["args"]["path"]["roles"]), "it said none"
    assert "outbound-content" in tool["args"]["content"]["roles"]
    noted = [json.loads(line) for line in (desk.root / "home" / "llm-interactions.jsonl").read_text().splitlines()]
    (asked,) = [json.loads(each["prompt"]) for each in noted if each["stage"] == "annotate"]
    assert [tool["tool"] for tool in asked["tools"]] == ["frobnicate"]
    assert "path" in asked["tools"][0]["found"]


def written(path: str, expected: str, tool: str = "read_file") -> dict[str, Any]:
    return {
        "sentence": 1,
        "server": "files",
        "tool": tool,
        "arguments": {"path": path},
        "expected": expected,
        "why": "because",
    }


SECRET = written("/home/kim/Projects/secret/a", "deny")
JUDGED: dict[str, Any] = {"explanations": ["nothing speaks of secret"], "probes": [], "fixes": []}
MENDS = "must never read files in ~/Projects/secret."


def test_what_a_model_expects_is_tested_and_a_failure_stays_one(desk: Desk) -> None:
    tests = [written("/home/kim/Projects/a", "allow"), SECRET, written("/home/kim/Letters/a", "allow")]
    with model(BOTH, tests=tests, judgement=JUDGED) as (url, _):
        first, _ = desk.compile(url, *MODEL, "--tests", code=1)
        again, _ = desk.compile(url, *MODEL, "--tests", code=1)
    assert first["verdict"] == again["verdict"] == "fail"
    (failed,) = first["failed"]
    assert "openai-chat:m" in failed
    noted = [json.loads(line) for line in (desk.root / "home" / "llm-interactions.jsonl").read_text().splitlines()]
    assert [each["stage"] for each in noted].count("judge") == 3, "three rounds, and the second time none"


def test_a_fix_that_only_forbids_is_taken_and_one_that_loosens_is_not(desk: Desk) -> None:
    probe = written("/home/kim/Projects/secret/b/c", "deny")
    judgement = {**JUDGED, "probes": [probe], "fixes": [MENDS]}
    with model(BOTH, tests=[SECRET], judgement=judgement) as (url, _):
        said, _ = desk.compile(url, *MODEL, "--tests")
    assert said["verdict"] == "pass"
    assert desk.decided("read_file", "/home/kim/Projects/secret/b/c") == "deny"
    assert desk.decided("read_file", "/home/kim/Projects/a") == "allow"
    assert desk.decided("read_file", "/home/kim/Letters/a") == "deny"


@pytest.mark.parametrize(
    "answer",
    some(
        [
            {**JUDGED, "fixes": ["may read files."]},
            {**JUDGED, "verdict": "pass"},
            {**JUDGED, "probes": [{**SECRET, "tool": "none"}]},
            {**JUDGED, "probes": [{**SECRET, "arguments": {"nothing": 1}}]},
            {**JUDGED, "expected": [written("/home/kim/Projects/secret/a", "allow")]},
            "all is well",
        ],
        3,
    ),
    ids=some(["an allow", "a verdict", "no tool", "no arguments", "an expectation", "prose"], 3),
)
def test_a_judge_that_wants_more_than_it_may_is_not_heard(desk: Desk, answer: Any) -> None:
    with model(BOTH, tests=[SECRET], judgement=answer) as (url, _):
        said, _ = desk.compile(url, *MODEL, "--tests", code=1)
    assert said["verdict"] == "fail", "what was expected stays expected"
    with pytest.raises(ArtifactError, match="did not pass"):
        desk.decided("read_file", "/home/kim/Projects/a")


def test_a_list_that_a_model_fills(desk: Desk) -> None:
    assert main(["init", "--yes"]) == 0
    home = desk.root / "home"
    with (home / "config.toml").open("a") as file:
        file.write('[lists.news-sites]\nkind = "domain"\nmodel = "openai-chat:m"\nwanted = "news sites"\n')
    with model("") as (url, _):
        desk.monkeypatch.setenv("OPENAI_BASE_URL", url)
        assert main(["lists", "refresh", "--yes"]) == 0
    said = desk.capsys.readouterr().out
    assert "2 values from openai-chat:m, 3 left out" in said
    lists = json.loads((home / "policy" / "dynamic-lists.json").read_text())["lists"]
    assert lists["news-sites"] == {"kind": "domain", "values": ["bbc.co.uk", "news.example"]}
