"""ContextForge as a peer: its bridge in front of the server, the gateway itself, and its client over stdio.

    stdio server <- mcpgateway.translate <- mcpgateway <- HTTP
                                            mcpgateway <- mcpgateway.wrapper <- stdio

By default it opens a session with the server for every call, which is the only way its stdio client works; told to, it
keeps one for each client, which is its best over HTTP. Both are measured, one call at a time: its bridge gives answers
to whichever client uses the same id, so figures with several clients would mean nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import os
import secrets
import shlex
import socket
import subprocess
import time
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOOL = "bench-echo"
_READY = 60.0  # seconds
_ADMIN = "admin@example.com"
_SECRETS = ("JWT_SECRET_KEY", "AUTH_ENCRYPTION_SECRET", "PLATFORM_ADMIN_PASSWORD", "BASIC_AUTH_PASSWORD")
_SETTINGS = {
    "CACHE_TYPE": "memory",
    "RATE_LIMITING_ENABLED": "false",  # else a hundred calls a minute
    "SSRF_ALLOW_LOCALHOST": "true",  # else a server on loopback cannot be registered
    "PLUGINS_ENABLED": "false",
    "MCPGATEWAY_UI_ENABLED": "false",
    "MCPGATEWAY_ADMIN_API_ENABLED": "false",
    "OBSERVABILITY_ENABLED": "false",
    "LOG_LEVEL": "ERROR",
    "PLATFORM_ADMIN_EMAIL": _ADMIN,
}


@dataclass(frozen=True)
class Running:
    """One that is up, with the server registered."""

    port: int
    path: str
    token: str
    environment: dict[str, str]

    @property
    def stdio(self) -> dict[str, str]:
        """The environment of its stdio client."""
        url = f"http://127.0.0.1:{self.port}{self.path}"
        return {**self.environment, "MCP_SERVER_URL": url, "MCP_AUTH": self.token, "MCP_WRAPPER_LOG_LEVEL": "OFF"}


@contextmanager
def running(python: Path, directory: Path, server: list[str], *, keeps_sessions: bool) -> Iterator[Running]:
    """Start it, register the server, and end all of it."""
    directory.mkdir()
    made = {name: "Aa1!" + secrets.token_urlsafe(36) for name in _SECRETS}
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "TMPDIR": str(directory), **_SETTINGS, **made}
    environment |= {"DATABASE_URL": f"sqlite:///{directory / 'mcp.db'}"}
    environment |= {"USE_STATEFUL_SESSIONS": str(keeps_sessions).lower()}
    bridge, port = _free_port(), _free_port()
    here = ["--host", "127.0.0.1", "--port"]
    commands = [
        ["translate", "--stdio", shlex.join(server), "--expose-streamable-http", *here, str(bridge)],
        ["cli", *here, str(port), "--workers", "1", "--no-access-log", "--timeout-keep-alive", "600"],
    ]
    started = []
    try:
        for module, *rest in commands:
            command = [str(python), "-m", f"mcpgateway.{module}", *rest]
            with (directory / f"{module}.log").open("ab") as log:
                started.append(subprocess.Popen(command, cwd=directory, env=environment, stdout=log, stderr=log))
        _until_ready(bridge, "/healthz")
        _until_ready(port, "/health")
        token = f"Bearer {_token(made['JWT_SECRET_KEY'])}"
        api = Http(port, "", token)
        api.post("/gateways", {"name": "bench", "url": f"http://127.0.0.1:{bridge}/mcp", "transport": "STREAMABLEHTTP"})
        tools = [tool["id"] for tool in json.loads(api.send("GET", "/tools", None)[1])]
        virtual = {"server": {"name": "bench", "associated_tools": tools}}
        server_id = json.loads(api.post("/servers", virtual))["id"]
        yield Running(port, f"/servers/{server_id}/mcp", token, environment)
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


class Http:
    """JSON over one connection that is kept open."""

    def __init__(self, port: int, path: str, token: str) -> None:
        self._path = path
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self._headers["Authorization"] = token
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def send(self, method: str, path: str, body: object) -> tuple[int, bytes]:
        self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        if session := answer.headers.get("mcp-session-id"):
            self._headers["Mcp-Session-Id"] = session
        return answer.status, answer.read()

    def post(self, path: str, body: object) -> bytes:
        status, text = self.send("POST", path, body)
        if status >= 300:
            raise SystemExit(f"ContextForge: {path}: {status} {text.decode(errors='replace')[:500]}")
        return text

    def say(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """A message to the server, and the answer to it."""
        text = self.post(self._path, message)
        events = [line.removeprefix(b"data:") for line in text.splitlines() if line.startswith(b"data:")]
        return json.loads(events[-1] if events else text) if text.strip() else None

    def close(self) -> None:
        self._connection.close()


def _until_ready(port: int, path: str) -> None:
    until = time.monotonic() + _READY
    while time.monotonic() < until:
        probe = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        with suppress(OSError):
            probe.request("GET", path)
            if probe.getresponse().status == http.client.OK:
                return
        time.sleep(0.1)
    raise SystemExit(f"ContextForge was not up within {_READY:.0f} s")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _token(secret: str) -> str:
    """As its own `create_jwt_token --admin` makes one."""
    now = int(time.time())
    user = {"email": _ADMIN, "full_name": "bench", "is_admin": True, "auth_provider": "cli"}
    claims = {
        "sub": _ADMIN, "iss": "mcpgateway", "aud": "mcpgateway-api", "env": "development", "jti": str(uuid.uuid4()),
        "iat": now, "exp": now + 86_400, "is_admin": True, "teams": None, "user": user,
    }  # fmt: skip
    parts = [b'{"alg":"HS256","typ":"JWT"}', json.dumps(claims).encode()]
    signed = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    seal = base64.urlsafe_b64encode(hmac.digest(secret.encode(), signed, hashlib.sha256)).rstrip(b"=")
    return (signed + b"." + seal).decode()
