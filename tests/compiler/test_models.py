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
from tests.support import outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
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
    *answers: Any, roles: dict[str, list[str]] | None = None, drops_annotations: bool = False
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that speaks like OpenAI's and gives these answers, the last one for ever; and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Speaks(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = None if drops_annotations else described(request, roles or {})
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

    def compile(self, url: str, *more: str) -> tuple[dict[str, Any], str]:
        self.monkeypatch.setenv("OPENAI_BASE_URL", url)
        words = ["compile", "--constitution", "constitution.md", "--setup", "setup.json", "--out", "policy"]
        words = [str(self.root / word) if word[-3:] in (".md", "son", "icy") else word for word in words]
        code = main([*words, "--catalogue", FILES, "--yes", "--json", *more])
        said = self.capsys.readouterr()
        assert code == 0, said.err
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
    assert [(each["stage"], each["tokens"]) for each in noted] == [("annotate", 120), ("compile", 120)]


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
    [
        "I would rather not.",
        {"rules": "all"},
        {"rules": [{**READ, "then": "maybe"}]},
        {"rules": [{**READ, "extra": 1}]},
        {"rules": [READ] * 401},
        500,
        401,
    ],
    ids=["prose", "no list", "no outcome", "an extra key", "too many", "a fault", "no key"],
)
def test_a_model_that_fails_costs_nothing_but_time(desk: Desk, answer: Any) -> None:
    with model(answer, drops_annotations=True) as (url, _):
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
