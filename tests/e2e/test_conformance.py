"""Foreign clients see the same through the gateway as without it, but for what these tables say."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests.e2e.house import PROGRAM, House, eventually, ruled, text_of
from tests.e2e.test_http import Http, free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from starlette.requests import Request

FOREIGN = Path(sys.prefix) / "foreign"
MODULES = Path(sys.prefix) / "foreign" / "npm" / "node_modules"
NODE, PYTHON = str(FOREIGN / "bin" / "node"), str(FOREIGN / "bin" / "python")
PACKAGES = MODULES / "@modelcontextprotocol"
SUITE = [NODE, str(PACKAGES / "conformance" / "dist" / "index.js")]
INSPECTOR = [NODE, str(MODULES / ".bin" / "mcp-inspector"), "--cli", "--quiet", "--format", "json"]
EVERYTHING = [NODE, str(PACKAGES / "server-everything" / "dist" / "index.js"), "stdio"]
CONFORMANCE = [PYTHON, str(Path(__file__).with_name("conformance_server.py"))]
SUITES = ("active", "pending")


def allow_all_of(house: House, server: str) -> None:
    """Approve every tool of a server, and let everybody call it."""
    house.run("servers", "review", server, "--yes")
    path = house.home / "policy" / "compiled-policy.json"
    policy = json.loads(path.read_text())
    policy["version"] += 1
    ruled(policy, server, {"name": "all", "if": {"server": [server]}, "then": "allow", "reason": "a test"})
    path.write_text(json.dumps(policy))
    house.run("policy", "verify", "--derive", str(house.home / "policy"))


# The conformance suite.


class Proxy:
    """What the suite cannot do: shows the token, and calls tools by the gateway's names. Else it changes nothing."""

    def __init__(self, http: Http, server: str) -> None:
        self._http, self._prefix = http, f"{server}__"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        app = Starlette(routes=[Route("/mcp", self._forward, methods=["GET", "POST", "DELETE"])])
        config = uvicorn.Config(app, port=self.port, log_level="error", ws="none", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        eventually(lambda: self._server.started)

    async def _forward(self, request: Request) -> Response:
        client = httpx.AsyncClient(timeout=60)
        body = self._renamed(await request.body())
        sent = client.build_request(request.method, self._http.url, headers=self._headers(request), content=body)
        answer = await client.send(sent, stream=True)
        kept = {name: answer.headers[name] for name in ("content-type", "mcp-session-id") if name in answer.headers}
        return StreamingResponse(self._lines(client, answer), answer.status_code, kept)

    def _headers(self, request: Request) -> dict[str, str]:
        """As they were, with the token. Whoever means this proxy means the gateway; any other host is left alone."""
        ours, theirs = f"127.0.0.1:{self.port}", f"127.0.0.1:{self._http.port}"
        dropped = ("content-length", "transfer-encoding", "connection", "accept-encoding")
        sent = {name: value for name, value in request.headers.items() if name not in dropped}
        for name in sent.keys() & {"host", "origin"}:
            sent[name] = sent[name].replace(ours, theirs)
        return {**sent, "authorization": f"Bearer {self._http.token}"}

    def _renamed(self, body: bytes) -> bytes:
        message = json.loads(body) if body else {}
        if message.get("method") != "tools/call":
            return body
        message["params"]["name"] = self._prefix + message["params"]["name"]
        return json.dumps(message).encode()

    async def _lines(self, client: httpx.AsyncClient, answer: httpx.Response) -> AsyncIterator[str]:
        try:
            async for line in answer.aiter_lines():
                yield self._bare(line) + "\n"
        finally:
            await answer.aclose()
            await client.aclose()

    def _bare(self, line: str) -> str:
        start = "data: " if line.startswith("data: ") else ""
        if not line.startswith(start + "{"):
            return line
        message = json.loads(line.removeprefix(start))
        for tool in message.get("result", {}).get("tools", []):
            tool["name"] = tool["name"].removeprefix(self._prefix)
        return start + json.dumps(message)

    def close(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)


@contextlib.contextmanager
def served_directly() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen([*CONFORMANCE, "--http", str(port)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/mcp"

    def answers() -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(url).status_code > 0
        return False

    try:
        eventually(answers)
        yield url
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def served_by_the_gateway(house: House) -> Iterator[str]:
    house.configure('[budget]\nrepeats = 0\n\n[servers.suite]\nmayAsk = ["elicitation", "sampling"]\n')
    house.run("servers", "add", "suite", "--", *CONFORMANCE)
    allow_all_of(house, "suite")
    http = Http(house)
    proxy = Proxy(http, "suite")
    try:
        yield proxy.url
    finally:
        proxy.close()
        http.close()


def checked(url: str, directory: Path) -> dict[str, list[dict[str, Any]]]:
    """What the suite checked in each scenario."""
    for suite in SUITES:
        subprocess.run(
            [*SUITE, "server", "--url", url, "--suite", suite, "--output-dir", str(directory)],
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip
    moment = len("-2026-01-02T03-04-05-678Z")  # ends the name of each directory
    found = directory.glob("server-*/checks.json")
    return {path.parent.name.removeprefix("server-")[:-moment]: json.loads(path.read_text()) for path in found}


def outcome(checks: list[dict[str, Any]]) -> str:
    """The worst of them."""
    said = {check["status"] for check in checks}
    return next((word for word in ("FAILURE", "WARNING", "SUCCESS") if word in said), "INFO")


def details(checks: list[dict[str, Any]]) -> list[Any]:
    return [(check["id"], check["status"], check.get("details")) for check in checks]


def unlabelled(value: Any) -> Any:
    """Without the one thing that the gateway adds to every result: whose words it is."""
    if isinstance(value, dict):
        meta = {key: item for key, item in (value.get("_meta") or {}).items() if key != "ironcurtain/origin"}
        rest = {key: unlabelled(item) for key, item in value.items() if key != "_meta"}
        return {**rest, "_meta": meta} if meta or ("_meta" in value and not value["_meta"]) else rest
    if isinstance(value, (list, tuple)):
        return type(value)(unlabelled(item) for item in value)
    return value


NO_LOGGING = "what servers log is not passed on"
NO_RESOURCES = "resources are not offered"
NO_PROMPTS = "prompts are not offered"
SCENARIOS_THAT_DIFFER = {
    "completion-complete": "completions are not offered",
    "logging-set-level": NO_LOGGING,
    "tools-call-with-logging": NO_LOGGING,
    "resources-list": NO_RESOURCES,
    "resources-read-text": NO_RESOURCES,
    "resources-read-binary": NO_RESOURCES,
    "resources-templates-read": NO_RESOURCES,
    "resources-subscribe": NO_RESOURCES,
    "resources-unsubscribe": NO_RESOURCES,
    "prompts-list": NO_PROMPTS,
    "prompts-get-simple": NO_PROMPTS,
    "prompts-get-with-args": NO_PROMPTS,
    "prompts-get-embedded-resource": NO_PROMPTS,
    "prompts-get-with-image": NO_PROMPTS,
    "server-sse-polling": "a call that tells nothing meanwhile is answered by JSON: there is no stream to resume",
}
LACKS_PRIMING_EVENTS = {"server-sse-polling"}  # the SDK sends none to a client of the revision that this scenario names


def test_the_conformance_suite_sees_the_same_server(house: House, tmp_path: Path) -> None:
    with served_directly() as url:
        direct = checked(url, tmp_path / "direct")
    with served_by_the_gateway(house) as url:
        through = checked(url, tmp_path / "through")
    assert direct.keys() == through.keys()
    assert {name for name in direct if outcome(direct[name]) != "SUCCESS"} == LACKS_PRIMING_EVENTS
    differ = {name for name in direct if outcome(direct[name]) != outcome(through[name])}
    assert differ == SCENARIOS_THAT_DIFFER.keys()
    for name in direct.keys() - differ:
        if name.startswith(("tools-call-", "elicitation-")):
            assert unlabelled(details(through[name])) == details(direct[name])


# The Inspector.

PATIENCE = 30.0  # seconds for the Inspector to say something
GATEWAY = [*PROGRAM, "gateway", "--agent", "inspector"]
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("echo", {"message": "h\u00e4llo \u202e \U0001f600"}),
    "text and an image, annotated": ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    "links": ("get-resource-links", {"count": 2}),
    "structured content": ("get-structured-content", {"location": "Chicago"}),
    "an embedded resource": (
        "gzip-file-as-resource",
        {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"},
    ),
    "an argument missing": ("echo", {}),
    "an argument too many": ("echo", {"message": "a", "more": 1}),
    "a number of more than 64 bits": ("get-sum", {"a": 1, "b": 12345678901234567000}),
    "roots": ("get-roots-list", {}),
    "a task": ("simulate-research-query", {"topic": "x"}),
}
TOOLS_THAT_DIFFER = {
    "get-roots-list": "the server has it only for a client that tells its roots; unless the owner lets it, we do not",
}
CALLS_THAT_DIFFER = {
    "an argument missing": "the gateway refuses it before the server does, in its own words",
    "an argument too many": "what is not described does not pass",
    "a number of more than 64 bits": "a server may round it: it is refused",
    "an embedded resource": "what is understood as a URL must be one that can be judged, and data: is none",
    "roots": "the tool is not there",
    "a task": "calls that become tasks are not offered, and this tool works in no other way",
}


def inspected(house: House, target: list[str], *arguments: str) -> Any:
    """What the Inspector says: one line. It would then wait for a server that lingers."""
    process = subprocess.Popen(
        [*INSPECTOR, *target, *arguments],
        env=house.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        return json.loads(process.stdout.readline()) if ready else None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        process.stdout.close()


def listed(house: House, target: list[str], prefix: str = "") -> dict[str, Any]:
    tools = inspected(house, target, "--method", "tools/list")["result"]["tools"]
    named = {tool.pop("name"): tool for tool in tools}
    return {name.removeprefix(prefix): tool for name, tool in named.items() if name.startswith(prefix)}


def called(house: House, target: list[str], case: str, prefix: str = "") -> Any:
    tool, arguments = CALLS[case]
    said = ["--tool-name", prefix + tool, "--tool-args-json", json.dumps(arguments)]
    return inspected(house, target, "--method", "tools/call", *said)


def test_the_inspector_sees_the_same_tools_and_results(house: House) -> None:
    house.configure("[budget]\nrepeats = 0\n")
    house.run("servers", "add", "everything", "--", *EVERYTHING)
    allow_all_of(house, "everything")
    direct, through = listed(house, EVERYTHING), listed(house, GATEWAY, "everything__")
    assert {
        name for name in direct.keys() | through if direct.get(name) != through.get(name)
    } == TOOLS_THAT_DIFFER.keys()
    answers = {case: (called(house, EVERYTHING, case), called(house, GATEWAY, case, "everything__")) for case in CALLS}
    assert all("result" in answer for answer, _ in answers.values())
    differ = {case: both for case, both in answers.items() if both[0] != unlabelled(both[1])}
    for meta in [answer["result"]["_meta"] for _, answer in answers.values() if "result" in answer]:
        assert "ironcurtain/decision" in meta or meta["ironcurtain/origin"] == {
            "server": "everything",
            "trusted": False,
        }
    assert differ.keys() == CALLS_THAT_DIFFER.keys(), differ


def test_the_inspector_gets_in_at_every_door(house: House) -> None:
    (house.sandbox / "a").write_text("hello")
    call = ["--method", "tools/call", "--tool-name", "filesystem__read_text_file", "--tool-arg", "path=a"]
    said = {}
    with contextlib.closing(Http(house)) as http:
        web = [http.url, "--transport", "http", "--header", f"Authorization: Bearer {http.token}"]
        for door, target in (("stdio", GATEWAY), ("http", web)):
            for era in ("legacy", "modern"):
                said[door, era] = inspected(house, target, "--protocol-era", era, *call)
    heard = {door for door, answer in said.items() if answer is not None and text_of(answer["result"]) == "hello"}
    assert heard == said.keys()
