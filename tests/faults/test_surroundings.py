"""The daemon in places where programs are not at their best: the same decisions, or a clear word."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.adoption.program import program
from ironcurtain.daemon.address import bound
from ironcurtain.gateway.upstream.process import environment
from tests.e2e.house import PROGRAM, Agent, House, code_of, eventually
from tests.support import some

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FEW = 64  # file descriptors
ODD = "b\u00fccher \u2014 \u672c.txt"


def few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, FEW))


@contextlib.contextmanager
def daemon(house: House, options: list[str], env: dict[str, str | None], **more: Any) -> Iterator[None]:
    environment = {name: value for name, value in {**house.environment, **env}.items() if value is not None}
    command = [sys.executable, *options, "-I", "-m", "ironcurtain", "daemon", "run"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more) as it:
        try:
            eventually(lambda: it.poll() is not None or answers(house))
            assert house.status()["pid"] == it.pid
            yield
            assert house.status()["pid"] == it.pid
            house.run("daemon", "stop")
        finally:
            it.kill()


def answers(house: House) -> bool:
    asked = [*PROGRAM, "daemon", "status"]
    return subprocess.run(asked, env=house.environment, capture_output=True, check=False).returncode == 0


def decided(agent: Agent, house: House) -> Iterator[Any]:
    """What comes of a little of everything."""
    yield "isError" not in agent.call(
        "filesystem__write_file", path=str(house.sandbox / ODD), content="gr\u00fc\u00dfe"
    )
    yield (house.sandbox / ODD).read_text(encoding="utf-8") == "gr\u00fc\u00dfe"
    yield listed(agent)
    yield code_of(agent.call("filesystem__read_text_file", path=str(house.home / "servers.json")))
    yield code_of(agent.call("filesystem__write_file", path=str(house.home / "config.toml"), content=""))
    yield code_of(agent.call("filesystem__read_text_file", path=5))
    yield agent.ask("tools/call", {"name": "filesystem__nothing", "arguments": {}})["error"]["data"]["code"]


EXPECTED = [True, True, True, "path_protected", "path_protected", "arguments_invalid", "tool_unknown"]


@pytest.mark.parametrize(
    ("options", "env", "more"),
    some(
        [
            ([], {}, {}),
            (["-O"], {}, {}),
            (["-OO"], {}, {}),
            (["-X", "utf8=0"], {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}, {}),
            ([], {"HOME": None}, {}),
            ([], {"PATH": None}, {}),
            ([], {}, {"cwd": "/proc"}),
            ([], {}, {"preexec_fn": few_descriptors}),
        ],
        3,
    ),
    ids=some(["usual", "-O", "-OO", "LANG=C", "no HOME", "no PATH", "read-only directory", "few descriptors"], 3),
)
def test_the_same_decisions(house: House, options: list[str], env: dict[str, str | None], more: dict[str, Any]) -> None:
    with daemon(house, options, env, **more):
        assert list(decided(house.agent(), house)) == EXPECTED
    house.run("audit", "verify")


def test_more_clients_than_descriptors_cost_only_those_that_come_too_late(house: House) -> None:
    with daemon(house, [], {}, preexec_fn=few_descriptors):
        first = house.agent()
        assert listed(first)
        crowd = [
            subprocess.Popen(
                [*PROGRAM, "gateway"], env=house.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for _ in range(FEW + 16)
        ]
        assert listed(first)
        for client in crowd:
            client.communicate(timeout=60)
        assert listed(first)
        assert listed(eventually(house.agent))
    house.run("audit", "verify")


def listed(agent: Agent) -> bool:
    return "isError" not in agent.call("filesystem__list_directory", path=".")


@pytest.mark.parametrize(
    ("locale", "kept"), [("de_DE.UTF-8", True), ("C.utf8", True), ("de_DE.ISO-8859-1", False), ("ja_JP", False)]
)
def test_a_server_reads_names_as_they_were_decided_on(locale: str, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    assert environment({}).get("LC_ALL") == (locale if kept else None)
    assert environment({"LC_ALL": "own"})["LC_ALL"] == "own"


def test_what_a_newer_program_has_written_is_left_alone(house: House) -> None:
    path = house.home / "state.db"
    with contextlib.closing(sqlite3.connect(path)) as state:
        state.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    for command in (["daemon", "run"], ["servers", "review", "--yes"]):
        said = house.run(*command, code=2)
        assert "state.db: it was written by a newer version of this program" in said
        assert "Traceback" not in said
    assert path.read_bytes() == before
    assert not house.records()


@pytest.mark.parametrize("version", some(["99.0.0", "0.0.1", None, 1], 2))
def test_a_relay_of_another_version_is_told_to_start_the_daemon_anew(house: House, version: object) -> None:
    house.run("daemon", "start")
    hello = {"hello": "session", "version": version, "principal": {}}
    with socket.socket(socket.AF_UNIX) as client, bound(house.home / "daemon.sock") as address:
        client.settimeout(10)
        client.connect(address)
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}
        client.sendall(b"".join(json.dumps(line).encode() + b"\n" for line in (hello, ping)))
        said = client.makefile("rb").read()
    (answer,) = [json.loads(line) for line in said.splitlines()]
    assert (answer["id"], "run: ironcurtain daemon restart" in answer["error"]["message"]) == (None, True)
    assert listed(house.agent())


# Starting it.


def test_a_daemon_that_refuses_to_start_says_why_at_once(house: House) -> None:
    house.run("daemon", "stop")
    with contextlib.closing(sqlite3.connect(house.home / "state.db")) as state:
        state.execute("PRAGMA user_version = 99")
    began = time.monotonic()
    assert "newer" in house.run("daemon", "start", code=2)
    relay = subprocess.run([*PROGRAM, "gateway"], env=house.environment, input=b"", capture_output=True, check=False)
    assert relay.returncode != 0
    assert b"newer" in relay.stdout + relay.stderr
    assert time.monotonic() - began < 15, "it does not wait for a daemon that is over"


@pytest.mark.parametrize("command", [["gateway"], ["approvals"], ["status"]], ids=" ".join)
def test_nobody_speaks_to_a_strangers_socket(house: House, command: list[str]) -> None:
    house.run("daemon", "stop")
    house.home.chmod(0o777)
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(str(house.home / "daemon.sock"))
        stranger.listen()
        stranger.settimeout(0.2)
        done = subprocess.run([*PROGRAM, *command], env=house.environment, input=b"", capture_output=True, check=False)
        assert done.returncode != 0
        with pytest.raises(TimeoutError):
            stranger.accept()
    house.home.chmod(0o700)
    (house.home / "daemon.sock").unlink()


def test_nothing_beside_us_is_loaded_into_us(house: House, tmp_path: Path) -> None:
    for name in ("sitecustomize.py", "usercustomize.py", "json.py", "socket.py", "startup.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'loaded')!r}, 'a').write({name!r})")
    hostile = {
        "PYTHONPATH": str(tmp_path),
        "PYTHONSTARTUP": str(tmp_path / "startup.py"),
        "PYTHONUSERBASE": str(tmp_path),
    }
    house.run("daemon", "stop")
    relay = subprocess.run(
        [*program(), "gateway", "--agent", "a"],
        env={**house.environment, **hostile}, cwd=tmp_path, input=b"{}\n", capture_output=True, check=False,
    )  # fmt: skip
    assert b"jsonrpc" in relay.stdout
    assert house.status()["pid"]
    assert not (tmp_path / "loaded").exists()
