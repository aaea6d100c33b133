"""The walls around agent code on Linux, each put up by a process around itself, by system calls alone.

Landlock      no file is opened but those named, nothing is bound or connected, nobody outside is signalled
seccomp       no system call but those listed: no socket, no new process, no namespace, no debugger
limits        memory, processor time, descriptors; no file grows
privileges    none, and none to be had
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import stat
import struct
import sys
from typing import TYPE_CHECKING, Final

from ironcurtain.sandbox import syscalls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


WALLS: Final = ("privileges", "limits", "Landlock", "seccomp")
"""All that must stand."""


class WallError(Exception):
    """A wall that must be there cannot be put up."""


_SIGNALLED_WITH_PARENT, _NAME, _NO_NEW_PRIVILEGES, _SECCOMP, _FILTER, _BOUND = 1, 15, 38, 22, 2, 24
_NAME_MEMORY: Final = 0x53564D41
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _READ_FILE, _READ_DIRECTORY = 1, 4, 8
_FILES_BY_VERSION: Final = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_FILES: Final = (1 << 16) - 1
_NETWORK, _SCOPES = 3, 3
_LAST_CAPABILITY: Final = 63
_CAPABILITIES_VERSION: Final = 0x20080522


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(what: str, number: int, *arguments: object) -> int:
    done = int(_libc().syscall(ctypes.c_long(number), *arguments))
    if done < 0:
        code = ctypes.get_errno()
        raise WallError(f"{what}: {os.strerror(code)}")
    return done


def _prctl(what: str, *arguments: int) -> None:
    longs = [ctypes.c_ulong(each) for each in (*arguments, 0, 0, 0, 0)[:5]]
    if _libc().prctl(*longs) != 0:
        raise WallError(f"{what}: {os.strerror(ctypes.get_errno())}")


def landlock_version() -> int:
    """Which Landlock this kernel has; 0 for none."""
    if sys.platform != "linux":
        return 0
    found = int(_libc().syscall(ctypes.c_long(_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(1)))
    return max(found, 0)


def die_with_parent() -> None:
    """End when whoever started us ends."""
    _prctl("to end with its parent", _SIGNALLED_WITH_PARENT, signal.SIGKILL)


def give_up_privileges() -> None:
    """No capability is kept, and no program that is started gains one."""
    _prctl("no new privileges", _NO_NEW_PRIVILEGES, 1)
    for capability in range(_LAST_CAPABILITY + 1):
        if _libc().prctl(*map(ctypes.c_ulong, (_BOUND, capability, 0, 0, 0))) != 0:
            break  # there are no more, or we never had the right to give any
    header = struct.pack("Ii", _CAPABILITIES_VERSION, 0)
    if _libc().capset(ctypes.create_string_buffer(header), ctypes.create_string_buffer(24)) != 0:
        raise WallError(f"capabilities: {os.strerror(ctypes.get_errno())}")


def limit(memory: int, seconds: int) -> None:
    """Bounds that the kernel keeps for us."""
    for what, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(what, (most, most))


def see_only(readable: Iterable[str]) -> None:
    """Open nothing but what lies below these, and that only to read and to run it; reach nobody."""
    version = landlock_version()
    if version < 1:
        raise WallError("Landlock: this kernel does not have it, or it is switched off")
    handled = _FILES_BY_VERSION.get(version, _ALL_FILES)
    rights = struct.pack("QQQ", handled, _NETWORK, _SCOPES)[: 8 if version < 4 else 16 if version < 6 else 24]
    buffer = ctypes.create_string_buffer(rights, len(rights))
    rules = _call("Landlock", _CREATE, buffer, ctypes.c_size_t(len(rights)), ctypes.c_uint32(0))
    try:
        for path in readable:
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            allowed = _EXECUTE | _READ_FILE | (_READ_DIRECTORY if stat.S_ISDIR(os.fstat(opened).st_mode) else 0)
            beneath = ctypes.create_string_buffer(struct.pack("=Qi", allowed, opened), 12)
            _call("Landlock", _ADD, ctypes.c_int(rules), ctypes.c_int(1), beneath, ctypes.c_uint32(0))
            os.close(opened)
        _call("Landlock", _RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0))
    finally:
        os.close(rules)


# --- seccomp: a small program that the kernel runs before each call. ---

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST_LOW, _SECOND_LOW, _THIRD_LOW, _THIRD_HIGH, _FOURTH_LOW = 0, 4, 16, 24, 32, 36, 40
_SHARED_OR_GROWING: Final = 0x101
_DESCRIPTORS: Final = (0, 1, 2, 3, 4, 1030)  # what is asked of `fcntl`: copies, flags
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NEW_NAMESPACES, _THREAD = 0x7E020080, 0x00010000
_FOREIGN_NUMBERS: Final = 0x40000000  # the other table that x86-64 has


def only_call(*, starts: bool, waits: bool = False) -> None:
    """Make no system call but those of the list.

    `starts`: it may start another program, and wall it further. `waits`: it may wait for several things at once.
    """
    code = _program(starts=starts, waits=waits)
    steps = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(steps))
    pointer = ctypes.create_string_buffer(program, len(program))
    _prctl("seccomp", _SECCOMP, _FILTER, ctypes.addressof(pointer))


def _program(*, starts: bool, waits: bool) -> bytes:
    found = syscalls.machine()
    if found is None:
        raise WallError("seccomp: we have no list of system calls for this kind of machine")
    machine, numbers = found
    named = syscalls.allowed(starts=starts, waits=waits)
    plain = sorted(number for name, number in numbers.items() if name in named)
    parts = [
        _step(_LOAD, _MACHINE), _step(_EQUAL, machine, 1, 0), _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER), _step(_AT_LEAST, _FOREIGN_NUMBERS, 0, 1), _step(_RETURN, _KILL),
        *_clone(numbers["clone"], starts=starts),
        # Its arguments are in memory, where nobody can look at them in time; the library then uses `clone`.
        *_if(numbers["clone3"], [_step(_RETURN, _ERROR | errno.ENOSYS)]),
        *_prctls(numbers["prctl"], starts=starts),
        *_asked_limits(numbers["prlimit64"]),
        *_own_memory(numbers["mmap"]),
        *_first_is(numbers["tgkill"], [os.getpid()]),
        *_first_is(numbers["fcntl"], _DESCRIPTORS, _SECOND_LOW),
        *(step for number in plain for step in _if(number, [_step(_RETURN, _ALLOW)])),
        _REFUSE,
    ]  # fmt: skip
    return b"".join(parts)


def _if(number: int, steps: list[bytes]) -> list[bytes]:
    """What is done about one call. INVARIANT: `steps` ends in a return on every way."""
    return [_step(_EQUAL, number, 0, len(steps)), *steps]


def _clone(number: int, *, starts: bool) -> list[bytes]:
    """A thread; or, for who may start programs, a process that has no namespace of its own."""
    question = _step(_ANY_BIT, _NEW_NAMESPACES, 1, 0) if starts else _step(_ANY_BIT, _THREAD, 0, 1)
    return _if(number, [_step(_LOAD, _FIRST_LOW), question, _step(_RETURN, _ALLOW), _REFUSE])


def _prctls(number: int, *, starts: bool) -> list[bytes]:
    """Names of threads and of memory; and what walls are made of, for who walls another."""
    options = [_NAME, _NAME_MEMORY, *([_SIGNALLED_WITH_PARENT, _NO_NEW_PRIVILEGES, _SECCOMP] if starts else [])]
    asked = [step for option in options for step in _if(option, [_step(_RETURN, _ALLOW)])]
    return _if(number, [_step(_LOAD, _FIRST_LOW), *asked, _REFUSE])


def _asked_limits(number: int) -> list[bytes]:
    """Limits may be asked for, and not changed: no new ones are given."""
    steps = [
        _step(_LOAD, _THIRD_LOW), _step(_EQUAL, 0, 0, 3), _step(_LOAD, _THIRD_HIGH), _step(_EQUAL, 0, 0, 1),
        _step(_RETURN, _ALLOW), _REFUSE,
    ]  # fmt: skip
    return _if(number, steps)


def _first_is(number: int, values: Iterable[int], where: int = _FIRST_LOW) -> list[bytes]:
    """Only with one of these: signals to itself, harmless questions about descriptors."""
    asked = [step for value in values for step in _if(value, [_step(_RETURN, _ALLOW)])]
    return _if(number, [_step(_LOAD, where), *asked, _REFUSE])


def _own_memory(number: int) -> list[bytes]:
    """Memory of its own, which counts; and none that is shared, or that grows like a stack, which does not."""
    return _if(
        number, [_step(_LOAD, _FOURTH_LOW), _step(_ANY_BIT, _SHARED_OR_GROWING, 1, 0), _step(_RETURN, _ALLOW), _REFUSE]
    )


def _step(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_so, if_not, value)


_REFUSE: Final = _step(_RETURN, _ERROR | errno.EPERM)


# --- Whether they can be put up here. ---


def raised() -> Iterator[tuple[str, str]]:
    """Put up every wall around this process, and say of each what is wrong with it; nothing, if nothing is."""
    ways: list[Callable[[], None]] = [
        give_up_privileges, lambda: limit(1 << 30, 60), lambda: see_only([]), lambda: only_call(starts=False),
    ]  # fmt: skip
    for name, put_up in zip(WALLS, ways, strict=True):
        try:
            put_up()
        except (WallError, OSError, ValueError) as error:
            yield name, str(error)
        else:
            yield name, ""


if __name__ == "__main__":
    for wall, problem in raised():
        os.write(1, f"{wall}\t{problem}\n".encode())
