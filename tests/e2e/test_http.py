"""HTTP on both sides: who may come in, sessions that never mix, servers at an address."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.e2e.house import ENVELOPE, PROGRAM, House, code_of, eventually, text_of
from tests.support import some

if TYPE_CHECKING:
    from collections.abc import Iterator

READ, WRITE = "filesystem__read_text_file", "filesystem__write_file"
BOTH = "application/json, text/event-stream"
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


class Http:
    """`ironcurtain gateway --http` and a client of it."""

    def __init__(self, house: House, agent: str = "web") -> None:
        self.port = free_port()
        self.process = subprocess.Popen(
            [*PROGRAM, "gateway", "--http", "--port", str(self.port), "--agent", agent],
            env=house.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert b"serving" in self.process.stdout.readline()
        self.token = (house.home / "http" / f"{agent}.token").read_text().strip()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        eventually(self._answers)
        self.client = httpx.Client(timeout=30, headers={"authorization": f"Bearer {self.token}", "accept": BOTH})
        self.next = 0

    def _answers(self) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(self.url).status_code > 0
        return False

    def post(
        self, method: str, params: dict[str, Any] | None = None, id_: Any = None, **headers: str
    ) -> httpx.Response:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if id_ is not None:
            message["id"] = id_
        return self.client.post(self.url, json=message, headers={k.replace("_", "-"): v for k, v in headers.items()})

    def session(self) -> str:
        response = self.post("initialize", INITIALIZE, 1)
        assert response.status_code == 200, response.text
        name = response.headers["mcp-session-id"]
        assert self.post("notifications/initialized", mcp_session_id=name).status_code == 202
        return name

    def ask(self, session: str, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self.next += 1
        return answer_in(self.post(method, params, self.next, mcp_session_id=session))

    def modern(self, method: str, params: dict[str, Any], id_: Any = 1, **headers: str) -> httpx.Response:
        """A request without a handshake."""
        usual = {"mcp_protocol_version": "2026-07-28", "mcp_method": method}
        if "name" in params:
            usual["mcp_name"] = params["name"]
        return self.post(method, {**params, "_meta": ENVELOPE}, id_, **{**usual, **headers})

    def close(self) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait(10)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def answer_in(response: httpx.Response) -> dict[str, Any]:
    """The response in a body, whichever shape it has."""
    if response.headers["content-type"].startswith("application/json"):
        found: dict[str, Any] = response.json()
        return found
    events = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]
    return next(event for event in events if "method" not in event)


@pytest.fixture
def http(house: House) -> Iterator[Http]:
    made = Http(house)
    yield made
    made.close()


@pytest.fixture(scope="module")
def door(shared_house: House) -> Iterator[Http]:
    """One that is only knocked at."""
    made = Http(shared_house)
    yield made
    made.close()


def test_a_session_does_honest_work(house: House, http: Http) -> None:
    session = http.session()
    tools = http.ask(session, "tools/list")["result"]["tools"]
    assert len(tools) == 16
    assert "isError" not in http.ask(session, "tools/call", {"name": WRITE, "arguments": {"path": "a", "content": "b"}})["result"]  # fmt: skip
    assert (house.sandbox / "a").read_text() == "b"
    denied = http.ask(session, "tools/call", {"name": "filesystem__delete_file", "arguments": {"path": "a"}})["result"]
    assert code_of(denied) == "rule_deny"
    assert house.records(kind="intent")[0]["agent"] == {"agent": "web"}
    assert http.client.delete(http.url, headers={"mcp-session-id": session}).status_code == 204
    assert http.post("tools/list", {}, 9, mcp_session_id=session).status_code == 404


def test_without_a_handshake_too(house: House, http: Http) -> None:
    (house.sandbox / "a").write_text("hello")
    assert http.modern("server/discover", {}).json()["result"]["supportedVersions"] == ["2026-07-28"]
    assert len(http.modern("tools/list", {}).json()["result"]["tools"]) == 16
    result = answer_in(http.modern("tools/call", {"name": READ, "arguments": {"path": "a"}}))["result"]
    assert text_of(result) == "hello"
    assert http.modern("nothing/such", {}).status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    some(
        [
            ({"Host": "attacker.example"}, 421),
            ({"Host": "localhost.evil.com:{port}"}, 421),
            ({"Host": "127.0.0.1.nip.io:{port}"}, 421),
            ({"Host": "127.0.0.1"}, 421),
            ({"Host": "0.0.0.0:{port}"}, 421),
            ({"Origin": "http://attacker.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Origin": "http://127.0.0.1:1"}, 403),
            ({"Authorization": ""}, 401),
            ({"Authorization": "Bearer wrong"}, 401),
            ({"Authorization": "Basic {token}"}, 401),
            ({"Content-Type": "text/plain"}, 415),
            ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
            ({"Host": "LOCALHOST:{port}"}, 200),
            ({"Origin": "http://localhost:{port}"}, 200),
        ],
        2,
    ),
)
def test_who_may_come_in(door: Http, headers: dict[str, str], status: int) -> None:
    filled = {k: v.replace("{port}", str(door.port)).replace("{token}", door.token) for k, v in headers.items()}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE})
    usual = {"authorization": f"Bearer {door.token}", "content-type": "application/json", "accept": BOTH}
    sent = {**{k: v for k, v in usual.items() if k.title() not in filled}, **filled}
    assert httpx.post(door.url, content=body, headers=sent).status_code == status


def test_a_token_in_the_address_is_none(door: Http) -> None:
    response = httpx.post(f"{door.url}?token={door.token}&access_token={door.token}", json={})
    assert response.status_code == 401


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "PATCH", "HEAD", "TRACE"])
def test_other_methods_do_nothing(door: Http, method: str) -> None:
    assert door.client.request(method, door.url).status_code in (401, 405)


def raw(http: Http, *lines: str) -> int:
    """The status of a request with these first lines, honest in everything else."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE})
    usual = ("Authorization: Bearer {token}", "Content-Type: application/json", f"Accept: {BOTH}")
    head = "\r\n".join([*lines, *usual, f"Content-Length: {len(body)}", "", ""])
    with socket.create_connection(("127.0.0.1", http.port), 10) as connection:
        connection.sendall(head.replace("{port}", str(http.port)).replace("{token}", http.token).encode())
        connection.sendall(body.encode())
        return int(connection.recv(65536).split(b" ")[1])


ODD = [
    (["POST /mcp HTTP/1.1", "Host: 127.0.0.1:{port}"], 200),
    (["POST /mcp HTTP/1.0", "Host: 127.0.0.1:{port}"], 200),
    (["POST /mcp HTTP/1.1", "Host: evil.example"], 421),
    (["POST /mcp HTTP/1.1", "Host:"], 421),
    (["POST /mcp HTTP/1.1", "Host: 127.0.0.1:{port}, evil.example"], 421),
    (["POST /mcp HTTP/1.0"], 421),
    (["POST /mcp HTTP/1.1"], 400),
    (["POST /mcp HTTP/1.1", "Host: 127.0.0.1:{port}", "Host: evil.example"], 400),
    (["POST /mcp HTTP/1.1", "Host: evil.example", "Host: 127.0.0.1:{port}"], 400),
    (["POST http://evil.example/mcp HTTP/1.1", "Host: evil.example"], 404),
    (["POST http://evil.example/mcp HTTP/1.1", "Host: 127.0.0.1:{port}"], 404),
    (["GET /mcp HTTP/1.1", "Host: 127.0.0.1:{port}", "Origin: http://evil.example", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13"], 403),
    (["GET /mcp HTTP/1.1", "Host: 127.0.0.1:{port}", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13"], 405),
]  # fmt: skip


def test_a_request_line_and_a_host_that_are_odd_get_nowhere(door: Http) -> None:
    assert [(lines, raw(door, *lines)) for lines, _ in ODD] == ODD


def test_two_tokens_are_none(door: Http) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE})
    right, wrong = ("authorization", f"Bearer {door.token}"), ("authorization", "Bearer wrong")
    for said, status in (([right], 200), ([right, wrong], 401), ([wrong, right], 401), ([right, right], 401)):
        sent = [*said, ("content-type", "application/json"), ("accept", BOTH)]
        assert httpx.post(door.url, content=body, headers=sent).status_code == status


def test_no_page_is_told_that_it_may(door: Http) -> None:
    asks = {"origin": "http://evil.example", "access-control-request-method": "POST", "access-control-request-private-network": "true"}  # fmt: skip
    own = {**asks, "origin": f"http://127.0.0.1:{door.port}"}
    for headers in (asks, own):
        for client in (door.client, httpx):
            answer = client.request("OPTIONS", door.url, headers=headers)
            assert answer.status_code == 405
            assert not [name for name in answer.headers if name.startswith("access-control-")]
    answer = door.post("initialize", INITIALIZE, 1, origin=own["origin"])
    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_what_is_one_agents_is_not_anothers(house: House, http: Http) -> None:
    other = Http(house, "other")
    try:
        assert http.token != other.token
        session = http.session()
        for stranger in (http, other):
            token = other.token if stranger is http else http.token
            assert stranger.post("initialize", INITIALIZE, 1, authorization=f"Bearer {token}").status_code == 401
        params = {"name": WRITE, "arguments": {"path": "a", "content": "b"}}
        assert other.post("tools/call", params, 2, mcp_session_id=session).status_code == 404
        assert other.client.delete(other.url, headers={"mcp-session-id": session}).status_code == 404
        assert other.client.get(other.url, headers={"mcp-session-id": session}).status_code == 404
        assert not (house.sandbox / "a").exists()
        assert "isError" not in http.ask(session, "tools/call", params)["result"], "it is good where it belongs"
        assert "isError" not in other.ask(other.session(), "tools/call", params)["result"]
        assert [record["agent"] for record in house.records(kind="intent")] == [{"agent": "web"}, {"agent": "other"}]
    finally:
        other.close()


def test_a_session_is_not_named_by_its_client(door: Http) -> None:
    mine = door.session()
    for wanted in ("chosen-by-the-client", mine):
        answer = door.post("initialize", INITIALIZE, 1, mcp_session_id=wanted)
        assert answer.status_code == 200
        assert answer.headers["mcp-session-id"] not in (wanted, mine)
    assert door.post("tools/list", {}, 2, mcp_session_id="chosen-by-the-client").status_code == 404
    assert len(door.ask(mine, "tools/list")["result"]["tools"]) == 16, "and the one that there was is as it was"


def test_too_large_a_body_is_refused(door: Http) -> None:
    response = door.client.post(door.url, content=b'{"a": "' + b"x" * (5 << 20) + b'"}', headers={"content-type": "application/json"})  # fmt: skip
    assert response.status_code == 413


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}', b"\xff"])  # fmt: skip
def test_what_is_no_message_is_refused(door: Http, body: bytes) -> None:
    assert door.client.post(door.url, content=body, headers={"content-type": "application/json"}).status_code == 400


def test_an_envelope_that_is_no_table_is_refused(door: Http) -> None:
    session = door.session()
    answer = door.ask(session, "tools/call", {"name": READ, "arguments": {}, "_meta": "x"})
    assert answer["error"]["data"]["code"] == "call_malformed"


def test_a_guessed_session_is_none(door: Http) -> None:
    door.session()
    for guess in ("", "s1", "x" * 43):
        assert door.post("tools/list", {}, 1, mcp_session_id=guess).status_code in (400, 404)


@pytest.mark.parametrize("headers", [{"mcp_method": "ping"}, {"mcp_name": "other"}, {"mcp_protocol_version": "2025-11-25"}])  # fmt: skip
def test_headers_that_say_something_else_are_refused(door: Http, headers: dict[str, str]) -> None:
    response = door.modern("tools/call", {"name": READ, "arguments": {"path": "a"}}, **headers)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32020


def test_two_clients_with_the_same_ids_never_cross(house: House) -> None:
    house.configure("[budget]\nrepeats = 0\n")
    http = Http(house)
    names = [f"n{n}" for n in range(6)]
    for name in names:
        (house.sandbox / name).write_text(name)
    wrong = []

    def work(name: str) -> None:
        with httpx.Client(timeout=30, headers=dict(http.client.headers)) as client:
            for _ in range(20):
                params = {"name": READ, "arguments": {"path": name}, "_meta": {**ENVELOPE, "progressToken": 1}}
                message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": READ}
                if text_of(answer_in(client.post(http.url, json=message, headers=headers))["result"]) != name:
                    wrong.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    http.close()
    assert wrong == []


def test_a_client_that_hangs_up_withdraws_its_question(house: House, http: Http) -> None:
    session = http.session()
    body = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": READ, "arguments": {"path": str(house.owner / "x")}}}  # fmt: skip
    with contextlib.suppress(httpx.TimeoutException):
        http.client.post(http.url, json=body, headers={"mcp-session-id": session}, timeout=1.5)
    eventually(lambda: [r for r in house.records(kind="refused") if r["evaluation"]["code"] == "withdrawn"])
    assert house.json("approvals") == []


def test_a_session_ends_with_the_daemon_and_a_new_one_begins(house: House, http: Http) -> None:
    session = http.session()
    house.kill()
    assert eventually(lambda: http.post("tools/list", {}, 3, mcp_session_id=session).status_code) in (404, 502)
    assert http.post("tools/list", {}, 4, mcp_session_id=session).status_code == 404
    assert len(http.ask(http.session(), "tools/list")["result"]["tools"]) == 16


def test_what_cannot_be_read_is_refused_by_its_id(door: Http) -> None:
    body = b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"n":12345678901234567000}}'
    answer = door.client.post(door.url, content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["id"]) == (400, 9)


def test_a_person_is_waited_for_with_signs_of_life(house: House, http: Http) -> None:
    (house.owner / "mine.txt").write_text("mine")
    session = http.session()
    found: list[httpx.Response] = []
    params = {"name": READ, "arguments": {"path": str(house.owner / "mine.txt")}, "_meta": {"progressToken": "p"}}
    thread = threading.Thread(target=lambda: found.append(http.post("tools/call", params, 7, mcp_session_id=session)))
    thread.start()
    (question,) = eventually(lambda: house.json("approvals"))
    house.run("approvals", "approve", question["id"])
    thread.join()
    assert "waiting for a person" in found[0].text
    assert text_of(answer_in(found[0])["result"]) == "mine"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--host", "0.0.0.0"], "can be reached from other machines"),
        (["--host", "::"], "can be reached from other machines"),
        (["--host", "0.0.0.0", "--unsafe-bind"], "can be reached from other machines"),
        (["--host", "localhost.evil"], "must be an address"),
    ],
)
def test_it_is_for_this_machine_unless_asked_twice(house: House, arguments: list[str], says: str) -> None:
    assert says in house.run("gateway", "--http", "--agent", "web", *arguments, code=2)


@pytest.mark.parametrize(("content", "mode", "says"), [("", 0o600, "it is no token"), ("short\n", 0o600, "it is no token"), ("x" * 40, 0o644, "others can read it")])  # fmt: skip
def test_a_bad_token_is_refused_at_the_start(house: House, content: str, mode: int, says: str) -> None:
    (house.home / "http").mkdir(0o700)
    path = house.home / "http" / "web.token"
    path.write_text(content)
    path.chmod(mode)
    assert says in house.run("gateway", "--http", "--agent", "web", code=2)


# Servers at an address.


class Upstream(ThreadingHTTPServer):
    """A server over HTTP, in this process, that does what `mode` says."""

    daemon_threads = True

    def __init__(self, mode: str = "json") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.mode = mode
        self.seen: list[dict[str, str]] = []
        self.calls = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/mcp"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self._send(200, b"")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append({name.lower(): value for name, value in self.headers.items()})
        mode = self.server.mode
        match message["method"]:
            case "initialize":
                if mode == "modern":
                    self._answer(message, None)
                    return
                info = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "u", "version": "1"}}  # fmt: skip
                self._answer(message, info, **{"Mcp-Session-Id": "the-session"})
            case "server/discover":
                self._answer(message, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
            case "tools/list":
                self._answer(message, {"tools": [{"name": "echo", "description": "echoes", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]})  # fmt: skip
            case "tools/call":
                self.server.calls += 1
                self._call(message, mode)
            case _:
                self._send(202, b"")

    def _call(self, message: dict[str, Any], mode: str) -> None:
        if mode == "redirect":
            self._send(307, b"", Location="http://127.0.0.1:9/")
        elif mode == "packed":
            self._send(
                200, gzip.compress(b"x" * 1000), **{"Content-Type": "application/json", "Content-Encoding": "gzip"}
            )
        elif mode == "html":
            self._send(502, b"<html>", **{"Content-Type": "text/html"})
        elif mode == "hang up":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self._answer(
                message, {"content": [{"type": "text", "text": message["params"]["arguments"].get("text", "")}]}
            )

    def _answer(self, message: dict[str, Any], result: Any, **headers: str) -> None:
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        body |= {"result": result} if result is not None else {"error": {"code": -32601, "message": "not here"}}
        if self.server.mode == "events":
            progress = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}}
            data = b"".join(
                b"event: message\r\ndata: " + json.dumps(m).encode() + b"\r\n\r\n" for m in (progress, body)
            )
            self._send(200, data, **{"Content-Type": "text/event-stream", **headers})
        else:
            self._send(200, json.dumps(body, indent=1).encode(), **{"Content-Type": "application/json", **headers})

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.close_connection or self.server.mode == "one by one"


@pytest.fixture
def upstream(request: pytest.FixtureRequest) -> Iterator[Upstream]:
    made = Upstream(getattr(request, "param", "json"))
    yield made
    made.shutdown()
    made.server_close()


def adopted(house: House, upstream: Upstream) -> None:
    credentials = house.home / "credentials.json"
    credentials.write_text(json.dumps({"far": {"headers": {"Authorization": "Bearer very-private-value"}}}))
    credentials.chmod(0o600)
    house.run("servers", "add", "far", "--url", upstream.url)
    house.run("servers", "review", "far", "--yes")


def approved_call(house: House, agent: Any, text: str) -> dict[str, Any]:
    call = agent.begin("tools/call", {"name": "far__echo", "arguments": {"text": text}})
    (question,) = eventually(lambda: house.json("approvals"))
    house.run("approvals", "approve", question["id"])
    answer: dict[str, Any] = agent.await_(call)
    return answer


@pytest.mark.parametrize("upstream", ["json", "events", "modern"], indirect=True)
def test_a_server_at_an_address(house: House, upstream: Upstream) -> None:
    adopted(house, upstream)
    agent = house.agent("--agent", "coder")
    assert "far__echo" in [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]]
    assert text_of(approved_call(house, agent, "over there")["result"]) == "over there"
    assert all(seen["authorization"] == "Bearer very-private-value" for seen in upstream.seen)
    last = upstream.seen[-1]
    if upstream.mode == "modern":
        assert (last["mcp-method"], last["mcp-name"], last["mcp-protocol-version"]) == (
            "tools/call",
            "echo",
            "2026-07-28",
        )
    else:
        assert (last["mcp-session-id"], last["mcp-protocol-version"]) == ("the-session", "2025-11-25")
    recorded = "".join(path.read_text() for path in (house.home / "audit").glob("*.jsonl"))
    assert "very-private-value" not in recorded


@pytest.mark.parametrize("upstream", some(["redirect", "html", "hang up", "packed"], 2), indirect=True)
def test_a_server_that_misbehaves_costs_its_own_call(house: House, upstream: Upstream) -> None:
    adopted(house, upstream)
    agent = house.agent("--agent", "coder")
    agent.ask("tools/list")
    result = approved_call(house, agent, "x")["result"]
    assert result["isError"] is True
    assert upstream.calls == 1, "tried once"
    assert house.records(kind="outcome")[-1]["execution"]["status"] == "unknown"
    assert "isError" not in agent.call(WRITE, path="a", content="b")


def test_a_server_that_is_not_there_gets_nothing(house: House) -> None:
    gone = Upstream("one by one")
    adopted(house, gone)
    agent = house.agent("--agent", "coder")
    agent.ask("tools/list")
    gone.shutdown()
    gone.server_close()
    time.sleep(0.1)
    result = approved_call(house, agent, "x")["result"]
    assert result["isError"] is True
    assert house.records(kind="outcome")[-1]["execution"]["status"] == "not-forwarded"


# Those who wait at the door.


def test_who_may_not_come_in_is_not_kept(http: Http) -> None:
    with socket.create_connection(("127.0.0.1", http.port), 10) as connection:
        connection.sendall(f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{http.port}\r\n\r\n".encode())
        said = b""
        while part := connection.recv(65536):
            said += part
    assert said.startswith(b"HTTP/1.1 401")


def test_half_a_request_is_not_waited_for(http: Http) -> None:
    silent = socket.create_connection(("127.0.0.1", http.port), 30)
    again = socket.create_connection(("127.0.0.1", http.port), 30)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE})
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{http.port}\r\nAuthorization: Bearer {http.token}\r\n"
        f"Content-Type: application/json\r\nAccept: {BOTH}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with silent, again:
        again.sendall((head + body + "G").encode())
        assert again.recv(65536).startswith(b"HTTP/1.1 200")
        assert drained(again) is True
        assert drained(silent) is True
    assert http.post("initialize", INITIALIZE, 1).status_code == 200


def drained(connection: socket.socket) -> bool:
    """Whether the other side hangs up."""
    with contextlib.suppress(ConnectionResetError):
        while connection.recv(65536):
            pass
    return True


def test_a_client_that_hangs_up_in_the_middle_is_no_news(house: House, http: Http) -> None:
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", http.port), 10) as connection:
            head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{http.port}\r\nAuthorization: Bearer {http.token}\r\n"
            connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
    assert http.post("initialize", INITIALIZE, 1).status_code == 200
    http.process.terminate()
    assert http.process.stderr is not None
    assert b"Traceback" not in http.process.stderr.read()
