"""Foreign text on a terminal begins no row."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from ironcurtain.cli.approvals import describe
from ironcurtain.cli.folding import behind_bar, hanging, labelled, pieces
from ironcurtain.cli.live import Live

EVIL = "x" * 500 + "\napproved bad touch\r\x1b[2Jdone in 1 s\u202e\u2028" + "\u754c" * 200
QUESTION: dict[str, Any] = {
    "arguments": {"text": EVIL, EVIL: [EVIL]}, "besides": {"x": EVIL}, "unusual": [EVIL], "secondsLeft": None, "session": "s",
    "agent": {"agent": EVIL}, "server": EVIL, "tool": EVIL, "happens": [EVIL], "leaves": EVIL, "undone": EVIL,
    "reason": EVIL, "alsoAsked": [EVIL], "rule": EVIL, "principle": EVIL, "agentSays": EVIL, "program": EVIL,
    "times": 2,
}  # fmt: skip
OURS = (
    "exactly what", "and beside it", "look   ", "asked by ", "wants ", "it   ", "leaves here ", "undoing it ", "because ",
    "and because ", "rule ", "your words ", "in a program ", "how often ", "the agent says", "\u2502 ", "   ", "\u250c ", "failed in ", "transcript ",
)  # fmt: skip


def on(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, soft_wrap=True, markup=False, emoji=False, highlight=False)


def rows(out: Console) -> list[str]:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().rstrip("\n").split("\n")


@pytest.mark.parametrize("width", [12, 20, 30, 60, 100, 200])
def test_every_row_begins_with_something_of_ours(width: int) -> None:
    out = on(width)
    describe(out, QUESTION)
    live = Live(out, quiet=False)
    live.show({"message": {"role": "tool", "text": EVIL, "failed": True}})
    live.show({"message": {"role": "model", "calls": [{"name": EVIL, "arguments": {EVIL: EVIL}}]}})
    live.show({"text": EVIL})
    site = {"name": EVIL, "line": 1, "often": "once", "flows": [EVIL], "arguments": {EVIL: EVIL}}
    plan = {"calls": [site, "[withheld]", {"name": EVIL}] * 5, "open": [EVIL]}
    live.show({"record": "event", "event": "code", "what": "planned", "plan": plan})
    live.show({"record": "event", "event": "code", "what": "planned", "plan": {"calls": "[withheld]"}})
    told = {"status": "failed", "reason": EVIL, "tokens": 0, "cost": 0.0, "id": "1", "path": "p"}
    live.summary(told)
    found = rows(out)
    assert [row for row in found if not f"{row}   ".startswith(OURS)] == []
    assert not any(char in row for row in found for char in "\x1b\r\u202e\u2028")
    narrow = [
        row
        for row in found
        if not row.startswith(("transcript", "failed in", "exactly", "the agent says", "and beside"))
    ]
    assert max(sum(1 if char.isascii() or char in "\u2502\u250c" else 2 for char in row) for row in narrow) <= width


def test_a_long_line_takes_no_longer_than_its_length() -> None:
    text = "x" * 4_000_000
    assert "".join(pieces(text, 100)) == text
    assert list(pieces("", 10)) == [""]
    assert list(pieces("\u754c\u754c", 1)) == ["\u754c", "\u754c"]


def test_what_is_short_stands_as_it_is() -> None:
    out = on(80)
    labelled(out, "because      ", "you said so")
    behind_bar(out, "one\ntwo")
    assert rows(out) == ["because      you said so", "\u2502 one", "\u2502 two"]


@pytest.mark.parametrize("width", [12, 20, 61])
@pytest.mark.parametrize("length", [1, 2, 3, 7, 1000])
def test_words_that_come_in_pieces_begin_no_row(width: int, length: int) -> None:
    out = on(width)
    live = Live(out, quiet=False)
    text = "." * 200 + "done in 1 s: no calls" + "\u754c" * 30 + "\n" + "x" * 90
    for at in range(0, len(text), length):
        live.show({"text": text[at : at + length]})
    live.line("ours")
    *found, last = rows(out)
    assert last == "ours"
    assert [row for row in found if not row.startswith("\u2502")] == []
    assert max(sum(1 if char.isascii() or char == "\u2502" else 2 for char in row) for row in found) <= width
    assert "".join(row.removeprefix("\u2502 ") for row in found) == text.replace("\n", "")


@pytest.mark.parametrize("width", [10, 24, 80])
def test_the_further_rows_of_a_line_are_set_in(width: int) -> None:
    for line in ("x" * 300, "    " + "\u754c" * 90, "short"):
        first, *more = hanging(line, width)
        assert line.startswith(first)
        own = len(line) - len(line.lstrip())
        assert all(row.startswith(" " * min(own + 4, width // 2)) for row in more)
        assert all(sum(1 if char.isascii() else 2 for char in row) <= width for row in (first, *more))
        assert first + "".join(row.lstrip() for row in more) == line
