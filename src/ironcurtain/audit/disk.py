"""The few things the store asks of a file system. Tests put one in its place that fails where they say."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Disk:
    """The real one."""

    def open(self, path: Path) -> int:
        """Open a file for appending, its owner's alone; a new name is made durable too."""
        _require_directory(path.parent)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            return os.open(path, flags)
        except FileNotFoundError:
            descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
            self.sync_directory(path.parent)
            return descriptor

    def write(self, descriptor: int, data: bytes) -> None:
        """Append all of the data."""
        while data:
            data = data[os.write(descriptor, data) :]

    def sync(self, descriptor: int) -> None:
        """Make what was appended durable."""
        os.fdatasync(descriptor) if hasattr(os, "fdatasync") else os.fsync(descriptor)

    def sync_directory(self, directory: Path) -> None:
        """Make the names in a directory durable."""
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def require_in_place(self, descriptor: int, path: Path) -> None:
        """The open file is still the one that its name leads to: not deleted, not behind a link, not replaced."""
        _require_directory(path.parent)
        held, named = os.fstat(descriptor), os.lstat(path)
        if not stat.S_ISREG(named.st_mode) or (held.st_dev, held.st_ino) != (named.st_dev, named.st_ino):
            raise OSError(f"{path} is no longer the file that was being written")

    def close(self, descriptor: int) -> None:
        """Let go of a file."""
        os.close(descriptor)


def _require_directory(directory: Path) -> None:
    if not stat.S_ISDIR(os.lstat(directory).st_mode):
        raise OSError(f"{directory} is no longer the directory that was being written to")
