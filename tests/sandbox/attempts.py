"""Every way out of a process that we know of, tried by native code behind the walls; each line says what came of one."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import platform
import resource
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CANARY, PORT, PARENT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def raw(number: int, *arguments: object) -> int:
    if platform.machine() != "x86_64":
        raise OSError("the numbers are those of another machine")
    libc = ctypes.CDLL(None, use_errno=True)
    done: int = libc.syscall(ctypes.c_long(number), *arguments)
    if done < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return done


def connects(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> None:
    with socket.socket(family, kind) as to:
        to.settimeout(1)
        to.connect(address)
        to.send(b"canary")


def forks() -> None:
    if os.fork() == 0:
        os._exit(0)


def clones() -> None:
    if raw(56, ctypes.c_ulong(signal.SIGCHLD), None, None, None, None) == 0:
        os._exit(0)


ATTEMPTS: dict[str, Callable[[], object]] = {
    "read a file": lambda: open(CANARY).read(),
    "read by descriptor of a directory": lambda: os.open(
        os.path.basename(CANARY), os.O_RDONLY, dir_fd=os.open(os.path.dirname(CANARY), os.O_RDONLY)
    ),
    "write a file": lambda: open(CANARY + ".new", "w"),
    "append to a file": lambda: open(CANARY, "a").write("x"),
    "truncate a file": lambda: os.truncate(CANARY, 0),
    "remove a file": lambda: os.unlink(CANARY),
    "rename a file": lambda: os.rename(CANARY, CANARY + ".moved"),
    "link a file": lambda: os.link(CANARY, CANARY + ".link"),
    "symlink": lambda: os.symlink(CANARY, CANARY + ".symlink"),
    "change a mode": lambda: os.chmod(CANARY, 0o777),
    "change an owner": lambda: os.chown(CANARY, 12345, 12345),
    "change times": lambda: os.utime(CANARY, (0, 0)),
    "set an attribute": lambda: os.setxattr(CANARY, "user.canary", b"x"),
    "make a directory": lambda: os.mkdir(CANARY + ".d"),
    "make a fifo": lambda: os.mkfifo(CANARY + ".fifo"),
    "make a device": lambda: os.mknod(CANARY + ".dev", 0o20666, 259),
    "list a directory": lambda: os.listdir(os.path.dirname(CANARY)),
    "read passwords": lambda: open("/etc/passwd").read(),
    "read another's environment": lambda: open("/proc/1/environ", "rb").read(),
    "read its parent's memory": lambda: open(f"/proc/{PARENT}/mem", "rb").read(1),
    "write its own memory": lambda: open("/proc/self/mem", "r+b"),
    "look at mounts": lambda: open("/proc/self/mounts").read(),
    "connect on loopback": lambda: connects(socket.AF_INET, ("127.0.0.1", PORT)),
    "connect with the newer protocol": lambda: connects(socket.AF_INET6, ("::1", PORT)),
    "send a datagram": lambda: connects(socket.AF_INET, ("127.0.0.1", PORT), socket.SOCK_DGRAM),
    "connect to the metadata service": lambda: connects(socket.AF_INET, ("169.254.169.254", 80)),
    "connect to an abstract socket": lambda: connects(socket.AF_UNIX, "\0canary"),
    "make a raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW),
    "make a virtual socket": lambda: socket.socket(40, socket.SOCK_STREAM),
    "make a netlink socket": lambda: socket.socket(16, socket.SOCK_RAW),
    "listen": lambda: socket.create_server(("127.0.0.1", 0)),
    "fork": forks,
    "fork by number": clones,
    "clone by the newer call": lambda: raw(435, ctypes.create_string_buffer(88), ctypes.c_size_t(88)),
    "run a program": lambda: os.posix_spawn("/bin/sh", ["sh", "-c", "true"], {}),
    "run from memory": lambda: os.memfd_create("canary"),
    "debug its parent": lambda: raw(101, ctypes.c_long(16), ctypes.c_long(PARENT), None, None),
    "read by process id": lambda: raw(310, ctypes.c_long(PARENT), None, 0, None, 0, 0),
    "load a filter program": lambda: raw(321, 0, None, 0),
    "set up a ring": lambda: raw(425, 8, ctypes.create_string_buffer(120)),
    "handle page faults": lambda: raw(323, 0),
    "use the keyring": lambda: raw(250, 0, -3, 0),
    "watch performance": lambda: raw(298, ctypes.create_string_buffer(128), 0, -1, -1, 0),
    "a namespace of its own": lambda: raw(272, 0x10000000),
    "mount": lambda: raw(165, None, b"/tmp", b"tmpfs", 0, None),
    "change the root": lambda: os.chroot("/"),
    "load a module": lambda: raw(313, 0, b"", 0),
    "open by handle": lambda: raw(304, 0, None, 0),
    "signal its parent": lambda: os.kill(PARENT, signal.SIGUSR1),
    "signal everybody": lambda: os.kill(-1, 0),
    "raise a limit": lambda: resource.prlimit(0, resource.RLIMIT_NOFILE, (4096, 4096)),
    "change its user": lambda: os.setuid(12345),
    "take a terminal": lambda: raw(16, 0, 0x5412, b"x"),
    "too much memory": lambda: len(bytearray(2 << 30)),
    "too much memory, mapped": lambda: len(mmap.mmap(-1, 2 << 30)),
    "memory that grows like a stack": lambda: len(mmap.mmap(-1, 2 << 30, flags=0x122)),
    "signal its parent by thread": lambda: raw(
        234, ctypes.c_long(PARENT), ctypes.c_long(PARENT), ctypes.c_long(signal.SIGUSR1)
    ),
    "have its parent signalled": lambda: fcntl.fcntl(0, fcntl.F_SETOWN, PARENT),
    "too many descriptors": lambda: [os.dup(0) for _ in range(200)],
    "read its environment": lambda: next(name for name in os.environ if name != "LC_CTYPE"),
    "become a shell": lambda: os.execv("/bin/sh", ["sh", "-c", f"echo x >> {CANARY}"]),
    "the other table of calls": lambda: raw(0x40000000 + 39),
}


def main() -> None:
    """The last two end the process, each in its way, and so come last."""
    for name, attempt in ATTEMPTS.items():
        try:
            came = attempt()
        except BaseException as error:  # noqa: BLE001 - whatever stops it
            print(f"held\t{name}\t{type(error).__name__}: {error}", flush=True)
        else:
            print(f"OUT\t{name}\t{came!r}", flush=True)


if __name__ == "__main__":
    main()
