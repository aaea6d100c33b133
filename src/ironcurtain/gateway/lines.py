"""Lines out of a stream of bytes, none longer than allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

TOO_LONG: Final = None


class LineSplitter:
    """Feed it what arrives. A line over the limit comes out once as `TOO_LONG`, and the rest of it is skipped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._searched = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes | None]:
        """Every line that is complete with this data, without its break. They are taken, whatever becomes of them."""
        return list(self._taken(data))

    def _taken(self, data: bytes) -> Iterator[bytes | None]:
        self._buffer += data
        begin = 0
        while (end := self._buffer.find(b"\n", max(begin, self._searched))) >= 0:
            if self._skipping:
                self._skipping = False
            elif end - begin > self._limit:
                yield TOO_LONG
            else:
                yield bytes(self._buffer[begin:end])
            begin = end + 1
        del self._buffer[:begin]
        self._searched = len(self._buffer)
        if self._skipping or len(self._buffer) > self._limit:
            if not self._skipping:
                yield TOO_LONG
            self._skipping = True
            self._buffer.clear()
            self._searched = 0
