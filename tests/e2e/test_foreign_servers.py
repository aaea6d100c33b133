"""Servers that nobody here wrote, unmodified, behind the gateway: honest work goes through, attacks do not."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.e2e.house import Agent, House, code_of, eventually, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FOREIGN = Path(sys.prefix) / "foreign"
BIN = FOREIGN / "bin"
NODE_MODULES = FOREIGN / "npm" / "node_modules"


def adopted(
    house: House,
    name: str,
    command: list[str],
    roles: dict[str, dict[str, list[str]]],
    rules: list[dict[str, Any]],
    env: dict[str, str] | None = None,
) -> None:
    """Put a server behind the gateway, describe some of its tools, and put rules in front of the others."""
    entries = json.loads((house.home / "servers.json").read_text())
    entries["mcpServers"][name] = {"command": command[0], "args": command[1:], "env": env or {}}
    (house.home / "servers.json").write_text(json.dumps(entries))
    house.run("servers", "review", name, "--yes")
    annotations_file, policy_file = (
        house.home / "policy" / f"{n}.json" for n in ("tool-annotations", "compiled-policy")
    )
    annotations, policy = (json.loads(path.read_text()) for path in (annotations_file, policy_file))
    for tool in annotations["servers"][name]["tools"]:
        for argument, wanted in roles.get(tool["toolName"], {}).items():
            tool["args"][argument]["roles"] = wanted
    policy["version"] += 1
    policy["rules"] = [*rules, *policy["rules"]]
    annotations_file.write_text(json.dumps(annotations))
    policy_file.write_text(json.dumps(policy))
    house.run("policy", "verify", "--derive", str(house.home / "policy"))


def asked(house: House, agent: Agent, name: str, answer: str, **arguments: Any) -> dict[str, Any]:
    """A call that asks; the person answers."""
    call = agent.begin("tools/call", {"name": name, "arguments": arguments})
    (question,) = eventually(lambda: house.json("approvals"))
    house.run("approvals", answer, question["id"])
    result: dict[str, Any] = agent.await_(call)["result"]
    return result


def worked(result: dict[str, Any]) -> bool:
    return not result.get("isError")


def git(*arguments: str, cwd: Path) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *who, *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


def test_git_on_a_real_repository(house: House) -> None:
    repository = house.sandbox / "project"
    repository.mkdir()
    git("init", cwd=repository)
    (repository / "a.txt").write_text("one\n")
    other = house.owner / "other"
    other.mkdir()
    git("init", cwd=other)
    read, write = ["git_status", "git_log", "git_diff_unstaged"], ["git_add", "git_commit"]
    roles = {tool: {"repo_path": ["read-path"]} for tool in read} | {
        tool: {"repo_path": ["write-path"]} for tool in write
    }
    roles["git_commit"]["message"] = ["none"]
    adopted(house, "git", [str(BIN / "mcp-server-git")], roles, [])
    agent = house.agent("--agent", "coder")
    assert "a.txt" in text_of(agent.call("git__git_status", repo_path=str(repository)))
    assert worked(agent.call("git__git_add", repo_path=str(repository), files=["a.txt"]))
    git("config", "user.name", "t", cwd=repository)
    git("config", "user.email", "t@example.com", cwd=repository)
    agent.call("git__git_commit", repo_path=str(repository), message="first")
    assert git("log", "--format=%s", cwd=repository) == "first\n"
    refused = asked(house, agent, "git__git_status", "deny", repo_path=str(other))
    assert code_of(refused) == "human_denied"
    assert code_of(agent.call("git__git_status", repo_path=str(house.home / "policy"))) == "path_protected"
    branches = agent.call("git__git_branch", repo_path=str(repository), branch_type="local")
    assert worked(branches), "it was understood to read a place, and the place is the agent's own"


@contextmanager
def web() -> Iterator[tuple[int, list[str]]]:
    """A web server on this machine, and the paths it was asked for."""
    seen: list[str] = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            body = (
                b"User-agent: *\nAllow: /\n"
                if self.path == "/robots.txt"
                else b"<html><body><p>hello reader</p></body></html>"
            )
            self.send_response(200)
            self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1], seen
    server.shutdown()
    server.server_close()


def test_fetch_from_a_web_server(house: House) -> None:
    rule = {"name": "local-docs", "if": {"domains": {"roles": ["fetch-url"], "allowed": ["127.0.0.1"]}}, "then": "allow", "reason": "the docs"}  # fmt: skip
    adopted(
        house,
        "fetch",
        [str(BIN / "mcp-server-fetch"), "--allow-private-ips"],
        {"fetch": {"url": ["fetch-url"]}},
        [rule],
    )
    agent = house.agent("--agent", "reader")
    with web() as (port, seen):
        result = agent.call("fetch__fetch", url=f"http://127.0.0.1:{port}/page")
        assert "hello reader" in text_of(result), result
        assert "/page" in seen
        for host in ("0x7f.1", "2130706433", "localhost", "[::1]", "169.254.169.254", "127.0.0.2", "evil.example"):
            call = agent.begin("tools/call", {"name": "fetch__fetch", "arguments": {"url": f"http://{host}:{port}/no"}})
            answer = eventually(lambda call=call: refused(house, agent, call))
            assert answer["isError"] is True, host
        assert "/no" not in seen


def refused(house: House, agent: Agent, call: int) -> dict[str, Any] | None:
    """The answer to a call; whoever is asked about it says no."""
    for question in house.json("approvals"):
        house.run("approvals", "deny", question["id"])
    agent.ask("ping")
    found = [message for message in agent.heard if message.get("id") == call]
    return found[0]["result"] if found else None


def test_time(house: House) -> None:
    rule = {"name": "time", "if": {"server": ["time"], "tool": ["*"]}, "then": "allow", "reason": "harmless"}
    adopted(house, "time", [str(BIN / "mcp-server-time")], {}, [rule])
    agent = house.agent("--agent", "clerk")
    assert json.loads(text_of(agent.call("time__get_current_time", timezone="Asia/Tokyo")))["timezone"] == "Asia/Tokyo"
    wrong = agent.call("time__get_current_time", timezone="Nowhere/AtAll")
    assert wrong["isError"] is True
    assert "ironcurtain/decision" not in wrong.get("_meta", {}), "its own error, as it said it"


def test_sqlite(house: House, tmp_path: Path) -> None:
    database = tmp_path / "shop.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE items (name TEXT)")
        connection.execute("INSERT INTO items VALUES ('lamp')")
    connection.close()
    roles = {tool: {"query": ["command"]} for tool in ("read_query", "write_query", "create_table")}
    rules = [
        {"name": "no-drop", "if": {"values": {"role:command": {"matches": "(?i).*drop.*"}}}, "then": "deny", "reason": "nothing is dropped"},
        {"name": "read", "if": {"server": ["sqlite"], "tool": ["read_query"], "values": {"role:command": {"matches": "(?i)select [a-z*, ]+ from [a-z]+"}}}, "then": "allow", "reason": "reading"},
    ]  # fmt: skip
    adopted(house, "sqlite", [str(BIN / "mcp-server-sqlite"), "--db-path", str(database)], roles, rules)
    agent = house.agent("--agent", "clerk")
    assert "lamp" in text_of(agent.call("sqlite__read_query", query="SELECT name FROM items"))
    assert code_of(agent.call("sqlite__write_query", query="DROP TABLE items")) == "rule_deny"
    # Nothing is deleted, and a statement might delete: it asks.
    assert code_of(asked(house, agent, "sqlite__write_query", "deny", query="DELETE FROM items")) == "human_denied"
    assert (
        code_of(asked(house, agent, "sqlite__write_query", "deny", query="UPDATE items SET name = ''"))
        == "human_denied"
    )
    assert worked(asked(house, agent, "sqlite__write_query", "approve", query="INSERT INTO items VALUES ('desk')"))
    assert "desk" in text_of(agent.call("sqlite__read_query", query="SELECT name FROM items"))
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (2,)
    connection.close()


def test_the_official_filesystem_server(house: House) -> None:
    """The default policy is about the server of that name: the official one takes the place of ours."""
    script = NODE_MODULES / "@modelcontextprotocol" / "server-filesystem" / "dist" / "index.js"
    command = [str(BIN / "node"), str(script), str(house.sandbox), str(house.owner)]
    house.servers(filesystem=command)
    house.run("servers", "review", "filesystem", "--yes", "--keep")
    agent = house.agent("--agent", "coder")
    names = {tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]}
    assert "filesystem__read_text_file" in names
    assert "filesystem__delete_file" not in names, "the official one cannot delete"
    note = house.sandbox / "note.txt"
    assert worked(agent.call("filesystem__write_file", path=str(note), content="hello"))
    assert note.read_text() == "hello"
    assert "hello" in text_of(agent.call("filesystem__read_text_file", path=str(note)))
    (house.owner / "private.txt").write_text("private")
    refused = asked(house, agent, "filesystem__read_text_file", "deny", path=str(house.owner / "private.txt"))
    assert code_of(refused) == "human_denied"
    assert code_of(agent.call("filesystem__read_text_file", path=str(house.home / "audit.key"))) == "path_protected"
    link = house.sandbox / "innocent"
    link.symlink_to(house.owner / "private.txt")
    refused = asked(house, agent, "filesystem__read_text_file", "deny", path=str(link))
    assert code_of(refused) == "human_denied", "a link out of the sandbox is where it leads"


class Mailbox:
    """A real SMTP server that keeps what it gets, and a real IMAP server with mail in it."""

    def __init__(self) -> None:
        self.smtp_port, self.imap_port = _free_port(), _free_port()
        script = f"""
import asyncio, json, sys
from aiosmtpd.controller import Controller
class Keep:
    async def handle_DATA(self, server, session, envelope):
        print(json.dumps({{"to": envelope.rcpt_tos, "text": envelope.content.decode(errors="replace")}}), flush=True)
        return "250 OK"
controller = Controller(Keep(), hostname="127.0.0.1", port={self.smtp_port}, auth_require_tls=False,
                        authenticator=lambda *a: __import__("aiosmtpd.smtp").smtp.AuthResult(success=True))
controller.start()
sys.stdin.read()
"""
        self.smtp = subprocess.Popen([str(BIN / "python"), "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.imap = subprocess.Popen(
            [str(BIN / "pymap"), "--host", "127.0.0.1", "--port", str(self.imap_port), "--no-tls", "dict", "--demo-data"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for port in (self.smtp_port, self.imap_port):
            eventually(lambda port=port: _listens(port), 30)

    def next(self) -> dict[str, Any]:
        assert self.smtp.stdout is not None
        found: dict[str, Any] = json.loads(self.smtp.stdout.readline())
        return found

    def close(self) -> None:
        for process in (self.smtp, self.imap):
            process.kill()
            process.wait(10)
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_mail_goes_to_whom_the_policy_says(house: House) -> None:
    mailbox = Mailbox()
    try:
        settings = {
            "EMAIL_ADDRESS": "demouser@example.com", "USER_NAME": "demouser", "PASSWORD": "demopass",
            "IMAP_HOST": "127.0.0.1", "IMAP_PORT": str(mailbox.imap_port), "IMAP_SSL": "false",
            "SMTP_HOST": "127.0.0.1", "SMTP_PORT": str(mailbox.smtp_port), "SMTP_SSL": "false",
            "SAVE_TO_SENT": "false", "CREDENTIAL_STORAGE": "plaintext",
            "CONFIG_PATH": str(house.owner / "mail.toml"), "ACCOUNT_NAME": "main",
            "ALLOWED_RECIPIENTS": "bob@example.com,eve@evil.example",
        }  # fmt: skip
        env = {f"MCP_EMAIL_SERVER_{name}": value for name, value in settings.items()}
        people = {"recipients": ["recipient"], "cc": ["recipient"], "bcc": ["recipient"]}
        content = {"subject": ["outbound-content"], "body": ["outbound-content"], "attachments": ["read-path"]}
        content |= {"account_name": ["none"]}  # there is only one
        rules = [
            {"name": "mail-bob", "if": {"server": ["mail"], "lists": [{"roles": ["recipient"], "allowed": ["bob@example.com"]}]}, "then": "allow", "reason": "Bob is fine"},
            {"name": "read-mail", "if": {"server": ["mail"], "tool": ["list_emails_metadata"]}, "then": "allow", "reason": "mail"},
        ]  # fmt: skip
        adopted(
            house, "mail", [str(BIN / "mcp-email-server"), "stdio"], {"send_email": {**people, **content}}, rules, env
        )
        agent = house.agent("--agent", "clerk")
        listed = agent.call("mail__list_emails_metadata", account_name="main")
        assert worked(listed), listed
        assert "subject" in text_of(listed)
        sent = agent.call(
            "mail__send_email", account_name="main", recipients=["bob@example.com"], subject="hi", body="hello"
        )
        assert worked(sent), sent
        arrived = mailbox.next()
        assert arrived["to"] == ["bob@example.com"]
        for sneaky in (
            {"recipients": ["bob@example.com", "eve@evil.example"]},
            {"recipients": ["bob@example.com"], "bcc": ["eve@evil.example"]},
            {"recipients": ["bob@example.com\r\nBcc: eve@evil.example"]},
            {"recipients": ["bob@example.com"], "attachments": [str(house.owner / "taxes.txt")]},
        ):
            result = asked(
                house, agent, "mail__send_email", "deny", account_name="main", subject="s", body="b", **sneaky
            )
            assert code_of(result) == "human_denied", sneaky
        agent.call("mail__send_email", account_name="main", recipients=["bob@example.com"], subject="last", body="x")
        assert "last" in mailbox.next()["text"], "nothing arrived in between"
    finally:
        mailbox.close()
