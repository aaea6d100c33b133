"""Opens files that decide about security: regular, ours, and writable by nobody else."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, BinaryIO

from ironcurtain.errors import ArtifactError
from ironcurtain.wire.limits import ARTIFACT

if TYPE_CHECKING:
    from pathlib import Path


def read_artifact(path: Path) -> bytes:
    """The content of an artifact, or an `ArtifactError` that says what to do."""
    with _open_ours(path) as file:
        if os.fstat(file.fileno()).st_size > ARTIFACT.size:
            raise _error("artifact_malformed", path, f"more than {ARTIFACT.size} bytes", "make it smaller")
        return file.read(ARTIFACT.size)


def require_ours(path: Path) -> None:
    """Refuse a file that others could have written."""
    _open_ours(path).close()


def _open_ours(path: Path) -> BinaryIO:
    _check_directory(path.parent)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise _error("artifact_missing", path, "there is no such file", "check its name") from None
    except (OSError, ValueError) as error:
        why = "it is a symbolic link" if getattr(error, "errno", 0) == errno.ELOOP else _why(error)
        raise _error("artifact_unsafe", path, why, "put a regular file of your own there") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _error("artifact_unsafe", path, "it is not a regular file", "put a regular file there")
        _check_owner(status, path)
    except ArtifactError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _check_directory(directory: Path) -> None:
    try:
        status = os.lstat(directory)
    except FileNotFoundError:
        raise _error("artifact_missing", directory, "there is no such directory", "check its name") from None
    except (OSError, ValueError) as error:
        raise _error("artifact_unsafe", directory, _why(error), "name a directory of your own") from None
    if not stat.S_ISDIR(status.st_mode):
        problem = "it is a symbolic link" if stat.S_ISLNK(status.st_mode) else "it is no directory"
        raise _error("artifact_unsafe", directory, problem, "name the directory itself")
    _check_owner(status, directory)


def _why(error: Exception) -> str:
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else "not a valid name"


def write_artifact(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file in one step, readable and writable by its owner only unless its mode says otherwise."""
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())
    partial.replace(path)


def _check_owner(status: os.stat_result, path: Path) -> None:
    if status.st_uid not in (os.geteuid(), 0):
        raise _error(
            "artifact_unsafe", path, f"it belongs to user {status.st_uid}, not to you", f"sudo chown $USER {path}"
        )
    if status.st_mode & 0o022:
        raise _error("artifact_unsafe", path, "others can write to it", f"chmod go-w {path}")


def _error(code: str, path: Path, problem: str, help_: str) -> ArtifactError:
    return ArtifactError(code, str(path), "", problem, help_)
