"""The address of a socket whose path may be longer than the system allows."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LONGEST: Final = 100  # bytes; Linux has 107, others less


@contextlib.contextmanager
def bound(path: Path) -> Iterator[str]:
    """A name for the path that is short enough, good while inside: through an open directory if need be."""
    if len(os.fsencode(path)) <= _LONGEST:
        yield str(path)
        return
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)
