"""The program, run as a process of its own each time, but forked from one that has loaded everything already.

Starting an interpreter and loading the program takes longer than most commands. Whatever depends on that start (flags,
the directory it stands in, odd environments, the relay) uses `subprocess` instead.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from ironcurtain import analysis, cli, compiler
from ironcurtain.entry import main

_LARGEST: Final = 1 << 17  # of one request: the command line and the environment, not what is given on standard input


def run(
    *arguments: str | bytes | Path,
    env: dict[str, str],
    stdin: bytes = b"",
    cwd: str | Path | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[bytes]:
    """What `python -m ironcurtain` with these arguments says and how it ends."""
    command = [os.fsdecode(argument) for argument in arguments]
    request = json.dumps({"arguments": command, "env": env, "cwd": str(cwd or Path.cwd())}).encode()
    ours, theirs = socket.socketpair()
    with ours, tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        with theirs:
            passed = [given.fileno(), out.fileno(), err.fileno(), theirs.fileno()]
            socket.send_fds(_parent(), [request], passed)
        ours.settimeout(timeout)
        process = int(ours.recv(16))
        try:
            code = int(ours.recv(16))
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            raise
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(command, code, out.read(), err.read())


@functools.cache
def _parent() -> socket.socket:
    """The process that forks, started at the first use. It ends when nobody holds the other end of its socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", "tests.program", str(theirs.fileno())]
        started = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    atexit.register(started.wait)
    atexit.register(ours.close)
    return ours


def _serve(requests: socket.socket) -> int:
    for room in (cli, compiler, analysis):
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who waits for a run is a child, which nobody waits for
    while True:
        request, files, _, _ = socket.recv_fds(requests, _LARGEST, 4)
        if not request:
            return 0
        if os.fork() == 0:
            requests.close()
            return _attend(json.loads(request), files)
        for file in files:
            os.close(file)


def _attend(request: dict[str, Any], files: list[int]) -> int:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *standard, reply = files
    process = os.fork()
    if process == 0:
        os.close(reply)
        for number, file in enumerate(standard):
            os.dup2(file, number)
            os.close(file)
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        sys.argv = ["ironcurtain", *request["arguments"]]
        return main()
    os.write(reply, str(process).encode().ljust(16))
    _, status = os.waitpid(process, 0)
    os.write(reply, str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


if __name__ == "__main__":
    sys.exit(_serve(socket.socket(fileno=int(sys.argv[1]))))
