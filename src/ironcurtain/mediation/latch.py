"""Falls once and stays: after a fault that nobody understands yet, the safe answer is no."""

from __future__ import annotations


class Latch:
    """Open, until it falls for a reason. Only a new start opens it again."""

    def __init__(self) -> None:
        self._reason: str | None = None

    @property
    def reason(self) -> str | None:
        """Why everything is refused, or nothing."""
        return self._reason

    def fall(self, reason: str) -> None:
        """Refuse everything from now on. The first reason is kept: it is the cause, the others follow from it."""
        if self._reason is None:
            self._reason = reason
