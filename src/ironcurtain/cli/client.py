"""A command's connection to the daemon."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any, Self

from ironcurtain.daemon.address import bound
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from types import TracebackType

    from ironcurtain.artifacts.home import Home


def tell_to_look(home: Home) -> None:
    """Let a daemon that runs know at once that its files have changed; without one there is nobody to tell."""
    try:
        with Client(home) as client:
            client.ask("reload")
    except Refusal:
        return


class Client:
    """Asks the daemon of a home. Refused with what to do when none runs."""

    def __init__(self, home: Home, timeout: float | None = 30.0) -> None:
        home.require()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            with bound(home.socket) as address:
                self._socket.connect(address)
        except OSError:
            self._socket.close()
            raise Refusal("daemon_absent", f"no daemon serves {home.root}", "run: ironcurtain daemon start") from None
        self._unread = bytearray()
        self._socket.sendall(b'{"hello":"control"}\n')
        self._next = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever JSON carries
        """Ask one thing."""
        self.send(method, **params)
        while True:
            answer = self.read()
            if answer.get("id") == self._next:
                return self.result(answer)

    def send(self, method: str, **params: Any) -> None:  # noqa: ANN401 - likewise
        """Ask one thing, and read the answer later."""
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    @staticmethod
    def result(answer: dict[str, Any]) -> dict[str, Any]:
        """What an answer says."""
        if "error" in answer:
            data = answer["error"].get("data") or {}
            raise Refusal(data.get("code", "daemon_refused"), answer["error"]["message"], data.get("help", ""))
        result: dict[str, Any] = answer["result"]
        return result

    def read(self) -> dict[str, Any]:
        """The next message, whatever it is about."""
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            data = self._socket.recv(1 << 16)
            if not data:
                raise Refusal("daemon_gone", "the daemon hung up", "run: ironcurtain daemon status")
            self._unread += data
        message: dict[str, Any] = json.loads(self._unread[:end])
        del self._unread[: end + 1]
        return message

    def heard(self) -> bool:
        """Whether a whole message has come already, which waiting on the socket would not see."""
        return b"\n" in self._unread

    def fileno(self) -> int:
        """For waiting on it, when nothing was heard."""
        return self._socket.fileno()

    def __enter__(self) -> Self:
        """Use it in a `with`."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Hang up."""
        self._socket.close()
