"""Files below a few directories, reached by descriptors and never through a link.

A path is walked from an open root, one name at a time, each opened relative to the directory before it and never
through a link. So what is opened lies below the root whatever happens to the tree meanwhile. A path that came with
links in it is brought into its plain form first; if somebody puts a link there afterwards, the walk refuses it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_READ: Final = 64 * 1024 * 1024  # bytes of one file


class OutsideError(Exception):
    """The path is not below any of the directories."""


class Confined:
    """The directories and everything below them."""

    def __init__(self, roots: Sequence[str]) -> None:
        self.roots = [os.path.realpath(root) for root in roots]
        self._open = {root: os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) for root in self.roots}

    def place(self, path: str) -> str:
        """The plain form of a path, which must lie below a root; its last name may be missing."""
        absolute = os.path.join(self.roots[0], os.path.expanduser(path))
        plain = os.path.realpath(absolute)
        self._root_of(plain)
        return plain

    def _root_of(self, plain: str) -> str:
        fitting = [root for root in self.roots if plain == root or plain.startswith(root.rstrip("/") + "/")]
        if not fitting:
            raise OutsideError(
                f"Access denied - path outside allowed directories: {plain} not in {', '.join(self.roots)}"
            )
        return max(fitting, key=len)

    @contextlib.contextmanager
    def directory(self, path: str, *, make: bool = False) -> Iterator[int]:
        """An open directory."""
        plain = self.place(path)
        root = self._root_of(plain)
        descriptor = os.dup(self._open[root])
        try:
            for name in filter(None, plain[len(root) :].split("/")):
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, dir_fd=descriptor)
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = below
            yield descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def parent(self, path: str) -> Iterator[tuple[int, str]]:
        """The open directory that a path is in, and the path's last name."""
        plain = self.place(path)
        if plain in self.roots:
            raise OutsideError(f"Access denied - {plain} is an allowed directory itself")
        above, name = os.path.split(plain)
        with self.directory(above) as descriptor:
            yield descriptor, name

    def read(self, path: str) -> bytes:
        """A regular file's content."""
        with self.parent(path) as (directory, name):
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=directory)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise IsADirectoryError(21, "Is not a regular file", path)
            data = file.read(MOST_READ + 1)
        if len(data) > MOST_READ:
            raise OSError(errno.EFBIG, f"Is larger than {MOST_READ // 2**20} MiB", path)
        return data

    def write(self, path: str, data: bytes) -> None:
        """Put a file there, whole or not at all; an existing one is replaced and keeps its mode."""
        with self.parent(path) as (directory, name):
            mode = 0o644
            with contextlib.suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=directory, follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode):
                    raise IsADirectoryError(21, "Is not a regular file", path)
                mode = stat.S_IMODE(status.st_mode)
            partial = f".{name[:200]}.{os.urandom(6).hex()}.partial"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(partial, flags, mode, dir_fd=directory)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                os.rename(partial, name, src_dir_fd=directory, dst_dir_fd=directory)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(partial, dir_fd=directory)
                raise

    def entries(self, path: str) -> list[tuple[str, os.stat_result]]:
        """What is in a directory, links as links."""
        with self.directory(path) as descriptor:
            found = []
            for name in sorted(os.listdir(descriptor)):
                with contextlib.suppress(FileNotFoundError):
                    found.append((name, os.stat(name, dir_fd=descriptor, follow_symlinks=False)))
            return found

    def status(self, path: str) -> os.stat_result:
        """What is known of a file or directory."""
        if self.place(path) in self.roots:
            with self.directory(path) as descriptor:
                return os.fstat(descriptor)
        with self.parent(path) as (directory, name):
            return os.stat(name, dir_fd=directory, follow_symlinks=False)

    def move(self, source: str, destination: str) -> None:
        """Rename; nothing is overwritten."""
        with self.parent(source) as (from_, old), self.parent(destination) as (to, new):
            with contextlib.suppress(FileNotFoundError):
                os.stat(new, dir_fd=to, follow_symlinks=False)
                raise FileExistsError(17, "File exists", destination)
            os.rename(old, new, src_dir_fd=from_, dst_dir_fd=to)

    def delete(self, path: str) -> None:
        """Remove one file; a link is removed, not followed."""
        above, name = os.path.split(os.path.abspath(os.path.join(self.roots[0], os.path.expanduser(path))))
        with self.directory(above) as directory:
            os.unlink(name, dir_fd=directory)

    def delete_directory(self, path: str) -> None:
        """Remove a directory and everything in it."""
        with self.parent(path) as (directory, name):
            _empty(directory, name)
            os.rmdir(name, dir_fd=directory)


def _empty(directory: int, name: str) -> None:
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        for inner in os.listdir(descriptor):
            if stat.S_ISDIR(os.stat(inner, dir_fd=descriptor, follow_symlinks=False).st_mode):
                _empty(descriptor, inner)
                os.rmdir(inner, dir_fd=descriptor)
            else:
                os.unlink(inner, dir_fd=descriptor)
    finally:
        os.close(descriptor)
