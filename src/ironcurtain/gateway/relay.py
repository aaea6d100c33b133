"""Carries the bytes of one client to the daemon and back. Decides nothing, keeps nothing, imports almost nothing.

It is what a client's configuration starts, so it must be there at once; and it is the one part of us that runs beside
the agent, so it holds no secret. If there is no daemon it starts one. If the daemon goes away it says so to the client
and ends: without a decision nothing happens.
"""

import os
import select
import socket
import stat
import sys
import time

VERSION = "0.1.0"
_PATIENCE = 20.0  # seconds for a daemon to come up; a cold machine takes three
_MOMENT = 1.0  # seconds for the daemon that was quicker to answer
_CHUNK = 1 << 16


def main(arguments: "list[str]") -> int:
    """Run the relay. `arguments` are those behind `ironcurtain gateway`."""
    home = os.environ.get("IRONCURTAIN_HOME") or os.path.join(os.path.expanduser("~"), ".ironcurtain")
    home = os.path.abspath(home)
    try:
        daemon = connect(home)
    except OSError as error:
        return _fail(f"the daemon of {home} cannot be reached ({error.strerror or error}); run: ironcurtain doctor")
    daemon.sendall(hello(arguments))
    return _carry(daemon)


def hello(arguments: "list[str]", holder: str = "", *, fresh: bool = False) -> bytes:
    """Who connects. The principal comes from the owner's configuration entry, never from the client.

    `holder` stands for whoever has seen what came before, where that is more than this connection; one that is `fresh`
    has seen nothing.
    """
    names = {}
    for option, value in zip(arguments[::2], arguments[1::2], strict=True):
        names[option.removeprefix("--")] = value
    fields = ",".join(f'"{_escaped(name)}":"{_escaped(value)}"' for name, value in names.items())
    held = f'"holder":"{_escaped(holder)}",' + ('"fresh":true,' if fresh else "") if holder else ""
    return f'{{"hello":"session",{held}"version":"{VERSION}","principal":{{{fields}}}}}\n'.encode()


def _escaped(text: str) -> str:
    """A string inside JSON, without the module for it: that alone would take a third of our start."""
    return "".join(
        c if (c.isalnum() and c.isascii()) or c in " _-./:@" else f"\\u{ord(c):04x}" for c in text if ord(c) < 0x10000
    )


def connect(home: str) -> socket.socket:
    """Reach the daemon, starting it if nobody listens."""
    require_own(home)
    deadline, child = time.monotonic() + _PATIENCE, 0
    while True:
        try:
            return _dial(home)
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > deadline:
                raise OSError(f"it does not answer; {last_words(home)}") from None
        child = child or start(home)
        if has_ended(child):  # it refused to serve; or another one was quicker, and will answer in a moment
            deadline = min(deadline, time.monotonic() + _MOMENT)
            child = -1
        time.sleep(0.02)


def require_own(home: str) -> None:
    """A socket where others can write may be anybody's."""
    if not os.path.lexists(home):
        raise FileNotFoundError(2, "there is no home; run: ironcurtain init")
    status = os.lstat(home)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise PermissionError(1, "it is not a directory that is yours alone")


def has_ended(child: int) -> bool:
    """Whether a daemon that was started here is over."""
    try:
        return child > 0 and os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:  # whoever started us does not care for children, and so the system took it away
        return True


def last_words(home: str) -> str:
    """What a daemon said when it refused to serve."""
    try:
        with open(os.path.join(home, "daemon.log"), "rb") as log:
            lines = log.read()[-4096:].decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    said = [line for line in lines if line.startswith("ironcurtain: ")]
    return said[-1].removeprefix("ironcurtain: ") if said else "it says nothing"


def _dial(home: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    path = os.path.join(home, "daemon.sock")
    if len(os.fsencode(path)) <= 100:
        connection.connect(path)
        return connection
    directory = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # a path too long for a socket's address
    try:
        connection.connect(f"/proc/self/fd/{directory}/daemon.sock")
    finally:
        os.close(directory)
    return connection


def start(home: str) -> int:
    """Start the daemon, on its own feet: another session, no terminal, its words in a log of the owner's."""
    log = os.open(os.path.join(home, "daemon.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    command = [sys.executable, "-I", "-X", "utf8", "-m", "ironcurtain", "daemon", "run"]
    child = os.posix_spawn(
        sys.executable,
        command,
        {**os.environ, "IRONCURTAIN_HOME": home},
        file_actions=[(os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)],
        setsid=True,
    )
    os.close(log)
    os.close(nothing)
    return child


def _carry(daemon: socket.socket) -> int:
    """Both ways until one end is gone."""
    incoming: "list[int | socket.socket]" = [0, daemon]
    while True:
        ready, _, _ = select.select(incoming, [], [])
        if daemon in ready:
            try:
                data = daemon.recv(_CHUNK)
            except ConnectionResetError:
                data = b""
            if not data:
                return _fail("the daemon has stopped; run: ironcurtain daemon start") if 0 in incoming else 0
            try:
                _write(data)
            except BrokenPipeError:
                return 0
        if 0 in ready:
            data = os.read(0, _CHUNK)
            if data:
                try:
                    daemon.sendall(data)
                except (BrokenPipeError, ConnectionResetError):
                    return _fail("the daemon has stopped; run: ironcurtain daemon start")
            else:
                incoming.remove(0)
                daemon.shutdown(socket.SHUT_WR)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _fail(reason: str) -> int:
    """Tell the client, as the protocol has it, and whoever reads the log."""
    try:
        error = f'{{"code":-32603,"message":"ironcurtain: {_escaped(reason)}"}}'
        _write(f'{{"jsonrpc":"2.0","id":null,"error":{error}}}\n'.encode())
    except OSError:
        pass
    sys.stderr.write(f"ironcurtain: {reason}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
