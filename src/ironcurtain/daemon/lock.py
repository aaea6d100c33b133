"""One runtime per home, held by a lock that the system releases when its holder dies."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from pathlib import Path


class HomeLock:
    """Held from `take` until `release`, or until the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    def take(self) -> None:
        """Take it, or refuse because somebody has it."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise Refusal(
                "home_in_use",
                f"another IronCurtain (process {holder or 'unknown'}) already serves {self._path.parent}",
                "use that one, or stop it with: ironcurtain daemon stop",
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Give it back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def held_by(path: Path) -> int | None:
    """The process that holds a home, if one does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        said = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        return int(said) if said.isdecimal() else 0
    finally:
        os.close(descriptor)
    return None
