"""What an agent does, as it does it.

Everything that an agent, a model or a tool says stands behind a bar: nothing of it can look like a line of ours.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.cli.folding import BAR, behind_bar, cells, labelled, pieces, prose, room
from ironcurtain.errors import visible
from ironcurtain.sandbox.words import in_words

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST_RESULT: Final = 12  # lines of a result that are shown
_LONGEST_VALUE: Final = 100  # characters of an argument
_LONGEST_LINE: Final = 2_000  # characters of one of them
_LONGEST_QUOTE: Final = 2_000
_DECISIONS: Final = {
    "intent": ("allowed", "green"),
    "refused": ("denied", "bold red"),
    "asked": ("asks you", "bold yellow"),
}


class Live:
    """Shows the news of one agent."""

    def __init__(self, out: Console, *, quiet: bool) -> None:
        self._out = out
        self._quiet = quiet
        self._column = 0
        """Where the model's words stand on their line."""
        self._began = time.monotonic()
        self._who = ""
        self.decided: Counter[str] = Counter()
        self.tokens = 0
        self.cost = 0.0

    def show(self, news: dict[str, Any]) -> None:
        """Show one piece of news."""
        if "text" in news:
            self._words(news["text"])
        elif "message" in news:
            self._message(news["message"])
        elif "record" in news:
            self._record(news)
        elif "used" in news:
            self.tokens += news["used"]["tokens"]
            self.cost += news["used"]["cost"]

    def show_of(self, helper: str, news: dict[str, Any]) -> None:
        """Show what a helper does, less what it says on the way."""
        if "record" in news or "used" in news:
            self._who = f"{helper} "
            self.show(news)
            self._who = ""
        elif "ended" in news:
            self.line(f"helper {helper}: {news['ended']}")
        elif news.get("message", {}).get("role") == "user":
            self._block(f"helper {helper} begins", news["message"]["text"].split("\n"), "magenta")

    def line(self, text: str, style: str = "dim") -> None:
        """A line of ours."""
        if not self._quiet:
            self._end_words()
            self._out.print(text, style=style)

    def quote(self, text: str) -> None:
        """Words that may be somebody else's."""
        if not self._quiet:
            behind_bar(self._out, text[:_LONGEST_QUOTE], "dim")

    def summary(self, told: dict[str, Any]) -> None:
        """What it came to."""
        style = {"done": "bold green", "stopped": "yellow"}.get(told["status"], "bold red")
        calls = ", ".join(f"{number} {word}" for word, number in sorted(self.decided.items())) or "no calls"
        seconds = time.monotonic() - self._began
        spent = f"{told['tokens']:,} tokens, ${told['cost']:.4f}" if told["tokens"] else "no tokens"
        self.line(f"{told['status']} in {seconds:.0f} s: {calls}; {spent}", style)
        if told["reason"]:
            self.quote(told["reason"])
        self.line(f"transcript {told['path']}; every decision: ironcurtain audit search --task {told['id']}")

    # --- What the agent says. ---

    def _words(self, text: str) -> None:
        """The model's words as they come, behind a bar."""
        if self._quiet:
            return
        for at, line in enumerate(text.split("\n")):
            if at:
                self._end_words(always=True)
            rest = prose(line)
            while rest:
                left = room(self._out, len(BAR)) - self._column
                if self._column and left < cells(rest[0]):  # INVARIANT: no row is begun by the terminal itself
                    self._end_words()
                    continue
                if not self._column:
                    self._out.print(BAR, style="cyan", end="")
                piece = next(pieces(rest, left))
                self._out.print(piece, end="")
                self._column += cells(piece)
                rest = rest[len(piece) :]

    def _end_words(self, *, always: bool = False) -> None:
        if self._column:
            self._out.print()
        elif always:
            self._out.print("│", style="cyan")
        self._column = 0

    def _message(self, message: dict[str, Any]) -> None:
        if message["role"] == "model":
            for call in message["calls"]:
                self._call(call)
        elif message["role"] == "tool":
            lines = message["text"].rstrip().split("\n")
            more = f" ({len(lines) - _LONGEST_RESULT} lines more)" if len(lines) > _LONGEST_RESULT else ""
            title = "it failed with" if message["failed"] else "it got"
            shown = [_cut(line) for line in lines[:_LONGEST_RESULT]]
            self._block(f"{title}{more}", shown, "red" if message["failed"] else "dim")

    def _call(self, call: dict[str, Any]) -> None:
        arguments = call["arguments"]
        if call["name"] == "execute_code" and isinstance(arguments.get("code"), str):
            self._block("it writes a program", arguments["code"].strip("\n").split("\n"), "cyan")
        elif call["name"] == "save_skill" and isinstance(arguments.get("code"), str):
            kept = f"it keeps {visible(str(arguments.get('name')))}"
            self._block(kept, arguments["code"].strip("\n").split("\n"), "cyan")
        else:
            self._block(f"it calls {visible(str(call['name']))}", [_arguments(arguments)], "cyan")

    def _block(self, title: str, lines: list[str], style: str) -> None:
        if self._quiet:
            return
        self._end_words()
        self._out.print(f"┌ {next(pieces(title, room(self._out, len(BAR))))}", style=style)
        behind_bar(self._out, "\n".join(lines), style)

    # --- What is decided. ---

    def _plan(self, lines: list[str]) -> None:
        """What a program may do, before it does it."""
        more = f" ({len(lines) - _LONGEST_RESULT} lines more)" if len(lines) > _LONGEST_RESULT else ""
        if lines:
            self._block(f"its plan{more}", [visible(_cut(line)) for line in lines[:_LONGEST_RESULT]], "dim")

    def _record(self, news: dict[str, Any]) -> None:
        if news.get("what") == "planned" and isinstance(news.get("plan"), dict):
            self._plan(in_words(news["plan"]))
        if news["record"] not in _DECISIONS or "request" not in news:
            return
        word, style = _DECISIONS[news["record"]]
        if news["record"] == "intent" and "approver" in news.get("escalation", {}):
            word = "approved"
        if news["record"] != "asked":
            self.decided[word] += 1
        if self._quiet:
            return
        self._end_words()
        request, evaluation = news["request"], news["evaluation"]
        what = f"{visible(request['server'])} {visible(request['tool'])} {_arguments(request.get('arguments', {}))}"
        why = f": {visible(evaluation['reason'])}" if news["record"] != "intent" else ""
        labelled(self._out, f"  {word:<9}", f"{self._who}{what}{why}", label_style=style)


def _cut(line: str) -> str:
    more = len(line) - _LONGEST_LINE
    return f"{line[:_LONGEST_LINE]} ... ({more} characters more)" if more > 0 else line


def _arguments(arguments: Any) -> str:  # noqa: ANN401 - as they came
    if not isinstance(arguments, dict):
        return ""
    parts = []
    for name, value in arguments.items():
        text = json.dumps(value, ensure_ascii=False)
        cut = text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}... ({len(text)} characters)"
        parts.append(f"{visible(name)}={visible(cut)}")
    return " ".join(parts)
