"""The walls alone: native code behind them, as if the interpreter were no wall at all, tries every way out."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ironcurtain.sandbox.process import LIBRARIES, PYTHON
from ironcurtain.sandbox.walls import WALLS

ATTEMPTS = Path(__file__).with_name("attempts.py")
BEHIND = """
import sys, runpy
from ironcurtain.sandbox import walls
without, readable, script, *arguments = sys.argv[1:]
def put_up(name, wall, *args, **more):
    if name != without: wall(*args, **more)
walls.die_with_parent()
put_up("privileges", walls.give_up_privileges)
put_up("limits", walls.limit, 1 << 30, 60)
put_up("Landlock", walls.see_only, readable.split(":"))
put_up("seccomp", walls.only_call, starts=False, waits=True)
sys.argv = [script, *arguments]
runpy.run_path(script, run_name="__main__")
"""
ONLY_SECCOMP = {
    "change a mode", "change an owner", "change times", "set an attribute", "connect on loopback", "connect with the newer protocol", "send a datagram",
    "connect to the metadata service", "connect to an abstract socket", "make a raw socket", "make a virtual socket", "make a netlink socket", "listen",
    "fork", "fork by number", "clone by the newer call", "run a program", "run from memory", "a namespace of its own", "signal everybody", "change its user",
    "set up a ring", "handle page faults", "use the keyring", "load a filter program", "raise a limit", "the other table of calls", "debug its parent", "watch performance",
    "become a shell",
    "too much memory, mapped", "memory that grows like a stack", "have its parent signalled", "change the root", "read by process id",  # by what a namespace of one's own gives
}  # fmt: skip
"""What Landlock and the rest may not stop by themselves; the interpreter has no way to ask for any of it."""
ONLY_LANDLOCK = {
    "read a file", "read by descriptor of a directory", "write a file", "append to a file", "truncate a file", "list a directory", "read passwords",
    "read another's environment", "read its parent's memory", "write its own memory", "look at mounts", "become a shell",
}  # fmt: skip


def came_of(tmp_path: Path, without: str = "") -> dict[str, tuple[str, str]]:
    """What came of every attempt, and whether anything outside was touched."""
    canary = tmp_path / "secret" / "canary.txt"
    canary.parent.mkdir()
    canary.write_text("untouched")
    canary.chmod(0o600)
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        listening = threading.Thread(target=_listen, args=(server, heard), daemon=True)
        listening.start()
        readable = ":".join(
            {sys.prefix, sys.base_prefix, str(Path(__file__).parents[2] / "src"), str(ATTEMPTS), *LIBRARIES}
        )
        command = [
            *PYTHON,
            "-c",
            BEHIND,
            without,
            readable,
            str(ATTEMPTS),
            str(canary),
            str(server.getsockname()[1]),
            str(os.getpid()),
        ]
        done = subprocess.run(command, env={}, capture_output=True, text=True, timeout=120, check=False)
    found = {}
    for line in done.stdout.splitlines():
        outcome, name, how = line.split("\t", 2)
        found[name] = outcome, how
    assert len(found) > 50, done.stderr
    if not without:
        assert done.returncode == -signal.SIGSYS, done.stderr  # the other table of calls is no mistake
        assert canary.read_text() == "untouched"
        assert canary.stat().st_mode & 0o777 == 0o600
        assert [path.name for path in canary.parent.iterdir()] == ["canary.txt"]
        assert heard == []
    return found


def _listen(server: socket.socket, heard: list[bytes]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        heard.append(connection.recv(16))
        connection.close()


def test_nothing_gets_out(tmp_path: Path) -> None:
    out = {name: how for name, (outcome, how) in came_of(tmp_path).items() if outcome == "OUT"}
    assert out == {}


@pytest.mark.parametrize(
    ("wall", "its"),
    [
        ("seccomp", ONLY_SECCOMP),
        ("Landlock", ONLY_LANDLOCK),
        ("privileges", {"change its user"}),
        (
            "limits",
            {
                "too many descriptors",
                "too much memory",
                "too much memory, mapped",
                "memory that grows like a stack",
                "raise a limit",
            },
        ),
    ],
)
def test_without_one_wall_the_others_stand(wall: str, its: set[str], tmp_path: Path) -> None:
    out = {
        name: how
        for name, (outcome, how) in came_of(tmp_path, without=wall).items()
        if outcome == "OUT" and name not in its
    }
    assert out == {}


def test_a_wall_that_is_missing_says_so() -> None:
    code = "from ironcurtain.sandbox import walls; walls.syscalls._MACHINES.clear(); print(*(f'{name}={why}' for name, why in walls.raised()), sep='|')"
    said = subprocess.run([*PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout
    names = dict(part.split("=", 1) for part in said.strip().split("|"))
    assert set(names) == set(WALLS)
    assert "no list of system calls" in names["seccomp"]
    assert names["Landlock"] == ""
