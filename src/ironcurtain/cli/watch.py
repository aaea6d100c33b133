"""A terminal that shows each question as it comes, and takes the answer with one key."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import time
import tty
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.cli.approvals import describe, show_pattern
from ironcurtain.cli.client import Client
from ironcurtain.cli.main import DONE
from ironcurtain.cli.show import console
from ironcurtain.errors import Refusal, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ironcurtain.artifacts.home import Home


_READING: Final = 0.8  # seconds that a question is on the screen before a key counts for it


def watch(home: Home) -> int:
    """Show questions and take answers until `q`."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise Refusal("usage", "this needs a terminal", "run: ironcurtain approvals")
    with Client(home, timeout=None) as client, single_keys():
        Watch(client).run()
    return DONE


class Watch:
    """Shows questions of a daemon, one at a time."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._out = console()
        self._passed: set[str] = set()
        """Questions that the person has left for later."""

    def run(self) -> None:
        """Show each as it comes, until `q`."""
        self._client.ask("watch")
        self._out.print("waiting for questions; q leaves", style="dim")
        while True:
            question = self._next()
            if question is None:
                if self._key_or_news() == "q":
                    return
            elif not self.put(question):
                return

    def _waiting(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._client.ask("questions")["questions"]
        return found

    def _next(self) -> dict[str, Any] | None:
        return next((question for question in self._waiting() if question["id"] not in self._passed), None)

    def put(self, question: dict[str, Any]) -> bool:
        """Show one question until it is answered, here or elsewhere. Answers whether to go on."""
        termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was pressed before is not about this one
        self._out.rule(style="dim")
        describe(self._out, question)
        others = [q for q in self._waiting() if q["group"] and q["group"] == question["group"]]
        self._out.print(_keys(question, len(others)), style="bold cyan")
        shown = time.monotonic()
        while True:
            key = self._key_or_news()
            if key is not None and time.monotonic() - shown < _READING:
                self._out.print("read it first", style="dim")
                continue
            if key is None:
                if question["id"] not in [q["id"] for q in self._waiting()]:
                    self._out.print("answered elsewhere, withdrawn or out of time", style="dim")
                    return True
                continue
            if key == "q":
                return False
            if key == "n":
                self._passed.add(question["id"])
                return True
            if self._answered(key, question, others):
                return True

    def _answered(self, key: str, question: dict[str, Any], others: list[dict[str, Any]]) -> bool:
        if key == "a":
            return self._say(question["id"], approved=True)
        if key == "d":
            return self._say(question["id"], approved=False)
        if key == "x":
            return self._say(question["id"], approved=False, sentence=self._line("what should the agent be told? "))
        if key == "s" and question["widens"]:
            return self._say(question["id"], approved=True, scope="session")
        if key == "w" and question["pattern"]:
            show_pattern(self._out, question)
            return self._sure() and self._say(question["id"], approved=True, scope="pattern")
        if key == "g" and len(others) > 1:
            for each in others:
                self._out.rule(style="dim")
                describe(self._out, each)
            times = sum(each["times"] for each in others)
            each_ = "each once" if times == len(others) else f"{times} times in all"
            self._out.print(f"approve these {len(others)} calls, {each_}?", style="bold")
            return self._sure() and self._say(question["group"], approved=True)
        return False

    def _say(self, id_: str, *, approved: bool, **more: Any) -> bool:  # noqa: ANN401 - what the daemon takes
        try:
            self._client.ask("answer", question=id_, approved=approved, channel="terminal", **more)
        except Refusal as refusal:
            self._out.print(visible(refusal.reason), style="yellow")
            return True
        word, style = ("approved", "green") if approved else ("denied", "red")
        self._out.print(word, style=f"bold {style}")
        return True

    def _sure(self) -> bool:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
        self._out.print("y to confirm, anything else goes back", style="bold cyan")
        return self._key() == "y"

    def _key(self) -> str:
        """A key that was pressed; an arrow, or something pasted, comes as several at once and is none."""
        pressed = os.read(sys.stdin.fileno(), 1024).decode("ascii", "replace")
        return pressed if len(pressed) == 1 else ""

    def _key_or_news(self) -> str | None:
        """A key, or nothing when the daemon has something to say."""
        if self._client.heard() or self._client in select.select([sys.stdin, self._client], [], [])[0]:
            self._client.read()
            return None
        return self._key()

    def _line(self, prompt: str) -> str:
        with _whole_lines():
            return input(prompt)


def _keys(question: dict[str, Any], together: int) -> str:
    approve = "a approve once" if question["times"] == 1 else f"a approve {question['times']} times"
    keys = [approve, "d deny", "x deny and say why", "n later", "q quit"]
    if question["widens"]:
        keys.insert(1, "s approve this very call for the session")
    if question["pattern"]:
        keys.insert(2, "w approve a wider pattern (shown first)")
    if together > 1:
        keys.insert(-2, f"g approve these {together} together (shown first)")
    return "   ".join(keys)


@contextlib.contextmanager
def single_keys() -> Iterator[None]:
    """Keys one by one, as long as we are inside; the terminal is left as it was."""
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _whole_lines() -> Iterator[None]:
    before = termios.tcgetattr(sys.stdin)
    whole = termios.tcgetattr(sys.stdin)
    whole[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, whole)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
