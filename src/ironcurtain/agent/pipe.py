"""The loop's two pipes to the daemon: a line for each message, one request at a time."""

from __future__ import annotations

import json
import os
from typing import Any, Final

_IN: Final = 0
_OUT: Final = 1
_CHUNK: Final = 1 << 16


class HungUpError(Exception):
    """The daemon is gone."""


class RefusedError(Exception):
    """The daemon answered with an error."""


class Pipe:
    """To the daemon and back."""

    def __init__(self) -> None:
        self._unread = bytearray()
        self._asked = 0

    def say(self, message: dict[str, Any]) -> None:
        """Send a message."""
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(_OUT, data) :]

    def hear(self) -> dict[str, Any]:
        """The next message."""
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            data = os.read(_IN, _CHUNK)
            if not data:
                raise HungUpError
            self._unread += data
        message: dict[str, Any] = json.loads(self._unread[:end])
        del self._unread[: end + 1]
        return message

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Something that needs no answer."""
        self.say({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: dict[str, Any], name: str = "") -> dict[str, Any]:
        """Ask one thing, under a name of its own or a number, and wait. Raises `RefusedError` with what is said."""
        self._asked += 1
        asked = name or self._asked
        self.say({"jsonrpc": "2.0", "id": asked, "method": method, "params": params})
        message = self.hear()
        while message.get("id") != asked or "method" in message:
            message = self.hear()
        if "error" in message:
            raise RefusedError(str(message["error"].get("message")))
        result: dict[str, Any] = message["result"]
        return result
