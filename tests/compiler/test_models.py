"""A model beside the built-in compiler: real HTTP on this machine, and every way in which it can fail."""

from __future__ import annotations

import json
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
TEXT = "It may read files in Projects. It may write files in Projects."
READ = {
    "sentence": 1,
    "then": "allow",
    "tool": ["read_file", "read_text_file"],
    "paths": {"roles": ["read-path"], "within": "/home/kim/Projects"},
}
WRITE = {
    "sentence": 2,
    "then": "allow",
    "tool": ["write_file"],
    "paths": {"roles": ["write-path"], "within": "/home/kim/Projects"},
}
EVERYTHING = {"sentence": 1, "then": "allow", "server": ["files"]}
NO_DRAFTS = {
    "sentence": 1,
    "then": "deny",
    "paths": {"roles": ["read-path"], "within": "/home/kim/Projects/drafts"},
}


def described(request: dict[str, Any], roles: dict[str, list[str]]) -> dict[str, Any] | None:
    """An answer to a question about tools: nothing means anything, but for what `roles` says."""
    if "tools" not in request["tools"][0]["function"]["parameters"]["properties"]:
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
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that speaks like OpenAI's and gives these answers, the last one for ever; and what it was asked.

    It says nothing of tools and writes no tests, but for what `roles`, `tests` and `judgement` say.
    """
    asked: list[dict[str, Any]] = []

    def besides(request: dict[str, Any]) -> Any:
        wanted = request["tools"][0]["function"]["parameters"]["properties"]
        if "values" in wanted:
            return {"values": ["bbc.co.uk", "*.example.org", "no domain", "@contacts", "news.example"]}
        if "scenarios" in wanted:
            return {"scenarios": list(tests)}
        return judgement if "fixes" in wanted else described(request, roles or {})

    class Speaks(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = None if fails else besides(request)
            if answer is None:
                asked.append(request)
                answer = answers[min(len(asked), len(answers)) - 1]
            if isinstance(answer, int):
                self.send_error(answer)
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

    def compile(self, url: str, *more: str, fails: bool = False) -> tuple[dict[str, Any], str]:
        self.monkeypatch.setenv("OPENAI_BASE_URL", url)
        words = ["compile", "--constitution", "constitution.md", "--setup", "setup.json", "--out", "policy"]
        words = [str(self.root / word) if word[-3:] in (".md", "son", "icy") else word for word in words]
        code = main([*words, "--catalogue", FILES, "--yes", "--json", *more])
        said = self.capsys.readouterr()
        assert code == fails, said.err
        return json.loads(said.out), said.err

    def decided(self, tool: str, path: str) -> str:
        loaded = load_policy(self.root / "policy", Surroundings(self.root / "home", time.time()))
        arguments = {"path": path, **({"content": "x"} if tool == "write_file" else {})}
        return outcome(loaded, {"serverName": "files", "toolName": tool, "arguments": arguments})


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, capsys, monkeypatch)


MODEL = ("--model", "openai-chat:m")


def test_where_two_readings_differ_the_stricter_holds(desk: Desk) -> None:
    with model({"rules": [NO_DRAFTS, EVERYTHING]}) as (url, asked):
        said, _ = desk.compile(url, *MODEL)
    assert said["verdict"] == "pass"
    assert desk.decided("read_file", "/home/kim/Projects/a") == "allow", "both say so"
    assert desk.decided("read_file", "/home/kim/Projects/drafts/a") == "deny", "the model is stricter"
    assert desk.decided("read_file", "/home/kim/Letters/a") == "deny", "the built-in compiler is stricter"
    prompt = json.dumps(asked[0]["messages"])
    assert "It may read files in Projects." in prompt
    noted = [json.loads(line) for line in (desk.root / "home" / "llm-interactions.jsonl").read_text().splitlines()]
    stages = [("annotate", 120), ("compile", 120), ("scenarios", 120)]
    assert [(each["stage"], each["tokens"]) for each in noted] == stages


def test_what_a_model_does_not_grant_is_not_granted(desk: Desk) -> None:
    with model({"rules": [READ]}) as (url, _):
        desk.compile(url, *MODEL)
        assert desk.decided("read_file", "/home/kim/Projects/a") == "allow"
        assert desk.decided("write_file", "/home/kim/Projects/a") == "deny"
        assert desk.decided("list_directory", "/home/kim/Projects/a") == "deny"
        desk.compile(url, *MODEL, "--opinion", "built-in")
        assert desk.decided("write_file", "/home/kim/Projects/a") == "allow"


def test_a_bad_answer_is_given_back_for_repair(desk: Desk) -> None:
    structural = {**READ, "paths": {"roles": ["read-path"], "within": "/home/kim/.ironcurtain/policy"}}
    nowhere = {**READ, "sentence": 7}
    nonsense = {**READ, "paths": {"roles": ["recipient"], "within": "/home/kim/Projects"}}
    wrong = [{"rules": [each]} for each in (structural, nowhere, nonsense)]
    with model(*wrong, {"rules": [READ, WRITE]}) as (url, asked):
        desk.compile(url, *MODEL)
    assert len(asked) == 4
    complaints = [json.dumps(request["messages"][-1]) for request in asked[1:]]
    assert ["out of your hands" in complaints[0], "no sentence 7" in complaints[1]] == [True, True]
    assert desk.decided("write_file", "/home/kim/Projects/a") == "allow"


@pytest.mark.parametrize(
    "answer",
    some(
        [
            "I would rather not.",
            {"rules": "all"},
            {"rules": [{**READ, "then": "maybe"}]},
            {"rules": [{**READ, "extra": 1}]},
            {"rules": [READ] * 401},
            500,
            401,
        ],
        3,
    ),
    ids=some(["prose", "no list", "no outcome", "an extra key", "too many", "a fault", "no key"], 3),
)
def test_a_model_that_fails_costs_nothing_but_time(desk: Desk, answer: Any) -> None:
    with model(answer, fails=True) as (url, _):
        said, complaint = desk.compile(url, *MODEL)
    assert said["verdict"] == "pass"
    assert "no second opinion" in complaint
    assert desk.decided("write_file", "/home/kim/Projects/a") == "allow"


def test_nobody_is_asked_unless_a_model_is_named(desk: Desk) -> None:
    with model({"rules": []}) as (url, asked):
        desk.compile(url)
    assert asked == []
    assert not (desk.root / "home" / "llm-interactions.jsonl").exists()


def test_a_model_that_is_not_there(desk: Desk) -> None:
    said, complaint = desk.compile("http://127.0.0.1:9/v1", *MODEL)
    assert said["verdict"] == "pass"
    assert "no second opinion" in complaint


def test_a_model_may_add_a_role_and_takes_none_away(desk: Desk) -> None:
    with model({"rules": [READ, WRITE]}, roles={"content": ["outbound-content"]}) as (url, _):
        desk.compile(url, *MODEL)
    annotations = json.loads((desk.root / "policy" / "tool-annotations.json").read_text())
    (write,) = [tool for tool in annotations["servers"]["files"]["tools"] if tool["toolName"] == "write_file"]
    assert write["args"]["path"]["roles"] == ["write-path"], "it said none"
    assert write["args"]["content"]["roles"] == ["outbound-content"]


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
MENDS = {"sentence": 1, "then": "deny", "paths": {"roles": ["read-path"], "within": "/home/kim/Projects/secret"}}


def test_what_a_model_expects_is_tested_and_a_failure_stays_one(desk: Desk) -> None:
    tests = [written("/home/kim/Projects/a", "allow"), SECRET, written("/home/kim/Letters/a", "allow")]
    with model({"rules": [READ, WRITE]}, tests=tests, judgement=JUDGED) as (url, _):
        first, _ = desk.compile(url, *MODEL, fails=True)
        again, _ = desk.compile(url, *MODEL, fails=True)
    assert first["verdict"] == again["verdict"] == "fail"
    (failed,) = first["failed"]
    assert "openai-chat:m" in failed
    noted = [json.loads(line) for line in (desk.root / "home" / "llm-interactions.jsonl").read_text().splitlines()]
    assert [each["stage"] for each in noted].count("judge") == 3, "three rounds, and the second time none"


def test_a_fix_that_only_forbids_is_taken_and_one_that_loosens_is_not(desk: Desk) -> None:
    probe = written("/home/kim/Projects/secret/b/c", "deny")
    loosens = {"sentence": 1, "then": "escalate", "paths": {"roles": ["read-path"], "within": "/home/kim/Letters"}}
    judgement = {**JUDGED, "probes": [probe], "fixes": [loosens, MENDS]}
    with model({"rules": [READ, WRITE]}, tests=[SECRET], judgement=judgement) as (url, _):
        said, _ = desk.compile(url, *MODEL)
    assert said["verdict"] == "pass"
    assert desk.decided("read_file", "/home/kim/Projects/secret/b/c") == "deny"
    assert desk.decided("read_file", "/home/kim/Projects/a") == "allow"
    assert desk.decided("read_file", "/home/kim/Letters/a") == "deny"


@pytest.mark.parametrize(
    "answer",
    some(
        [
            {**JUDGED, "fixes": [{**MENDS, "then": "allow"}]},
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
    with model({"rules": [READ, WRITE]}, tests=[SECRET], judgement=answer) as (url, _):
        said, _ = desk.compile(url, *MODEL, fails=True)
    assert said["verdict"] == "fail", "what was expected stays expected"
    with pytest.raises(ArtifactError, match="did not pass"):
        desk.decided("read_file", "/home/kim/Projects/a")


def test_a_list_that_a_model_fills(desk: Desk) -> None:
    assert main(["init", "--yes"]) == 0
    home = desk.root / "home"
    with (home / "config.toml").open("a") as file:
        file.write('[lists.news-sites]\nkind = "domain"\nmodel = "openai-chat:m"\nwanted = "news sites"\n')
    with model({"rules": []}) as (url, _):
        desk.monkeypatch.setenv("OPENAI_BASE_URL", url)
        assert main(["lists", "refresh", "--yes"]) == 0
    said = desk.capsys.readouterr().out
    assert "2 values from openai-chat:m, 3 left out" in said
    lists = json.loads((home / "policy" / "dynamic-lists.json").read_text())["lists"]
    assert lists["news-sites"] == {"kind": "domain", "values": ["bbc.co.uk", "news.example"]}
