"""A disk that fails where it is told to: at the nth thing it is asked, once or from then on."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from ironcurtain.audit.disk import Disk

if TYPE_CHECKING:
    from pathlib import Path


class FaultyDisk(Disk):
    """Fails at its `at`th operation; with `for_ever`, at every one after it too."""

    def __init__(self, at: int, number: int = errno.ENOSPC, *, for_ever: bool = False, torn: bool = False) -> None:
        self.count = 0
        self._at = at
        self._number = number
        self._for_ever = for_ever
        self._torn = torn

    def open(self, path: Path) -> int:
        """As the real one, unless it is its turn to fail."""
        self._turn()
        return super().open(path)

    def write(self, descriptor: int, data: bytes) -> None:
        """As the real one; a torn write leaves half of it."""
        try:
            self._turn()
        except OSError:
            if self._torn:
                super().write(descriptor, data[: len(data) // 2])
            raise
        super().write(descriptor, data)

    def sync_directory(self, directory: Path) -> None:
        """As the real one, unless it is its turn to fail."""
        self._turn()
        super().sync_directory(directory)

    def sync(self, descriptor: int) -> None:
        """As the real one, unless it is its turn to fail."""
        self._turn()
        super().sync(descriptor)

    def require_in_place(self, descriptor: int, path: Path) -> None:
        """As the real one, unless it is its turn to fail."""
        self._turn()
        super().require_in_place(descriptor, path)

    def _turn(self) -> None:
        self.count += 1
        if self.count == self._at or (self._for_ever and self.count > self._at):
            raise OSError(self._number, os.strerror(self._number))
