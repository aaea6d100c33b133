"""The record against those who would change it: the agent by its tools, anybody else on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.house import House, code_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WRITE = "filesystem__write_file"


def file_of(house: House) -> Path:
    (file,) = (house.home / "audit").glob("*.jsonl")
    return file


def attempts(audit: str, file: str) -> list[tuple[str, dict[str, Any]]]:
    """Every tool that writes, against a directory of records and a file in it."""
    edits = [{"oldText": "intent", "newText": "nothing"}]
    return [
        ("write_file", {"path": f"{audit}/new.jsonl", "content": "x"}),
        ("write_file", {"path": f"{audit}/{file}", "content": "x"}),
        ("edit_file", {"path": f"{audit}/{file}", "edits": edits}),
        ("edit_file", {"path": f"{audit}/{file}", "edits": edits, "dryRun": True}),
        ("create_directory", {"path": f"{audit}/new"}),
        ("move_file", {"source": "mine", "destination": f"{audit}/new.jsonl"}),
        ("move_file", {"source": "mine", "destination": f"{audit}/{file}"}),
        ("move_file", {"source": f"{audit}/{file}", "destination": "taken"}),
        ("move_file", {"source": audit, "destination": "taken"}),
        ("delete_file", {"path": f"{audit}/{file}"}),
        ("delete_directory", {"path": audit}),
    ]


@pytest.mark.parametrize("through", ["its name", "a link", "dots"])
def test_no_tool_of_an_agent_writes_where_the_record_is(house: House, through: str) -> None:
    agent = house.agent("--agent", "coder")
    assert "isError" not in agent.call(WRITE, path="mine", content="mine")
    audit = house.home / "audit"
    file = file_of(house)
    (house.sandbox / "link").symlink_to(audit)
    spelled = {"its name": str(audit), "a link": str(house.sandbox / "link"), "dots": "../audit"}[through]
    offered = {tool["name"] for tool in agent.ask("tools/list")["result"]["tools"] if not tool["annotations"]["readOnlyHint"]}  # fmt: skip
    tried = attempts(spelled, file.name)
    assert {f"filesystem__{tool}" for tool, _ in tried} == offered, "all that write are tried"
    before = file.read_bytes()
    for tool, arguments in tried:
        assert code_of(agent.call(f"filesystem__{tool}", **arguments)) == "path_protected", (tool, arguments)
    assert list(audit.iterdir()) == [file]
    assert file.read_bytes().startswith(before)
    assert (house.sandbox / "mine").read_text() == "mine"
    assert {path.name for path in house.sandbox.iterdir()} == {"mine", "link"}
    assert "unbroken" in house.run("audit", "verify")


TAMPERINGS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int]] = {
    "a value edited": (lambda ls: [*ls[:2], ls[2].replace(b'"success"', b'"unknown"'), *ls[3:]], 3),
    "a line removed": (lambda ls: [*ls[:2], *ls[3:]], 3),
    "two lines swapped": (lambda ls: [*ls[:2], ls[3], ls[2], *ls[4:]], 3),
    "a line repeated": (lambda ls: [*ls[:3], ls[2], *ls[3:]], 4),
    "the end cut": (lambda ls: ls[:3], 4),
    "the last line cut": (lambda ls: ls[:11], 12),
    "the last line torn": (lambda ls: [*ls[:11], ls[11][:40]], 12),
    "an older copy": (lambda ls: ls[:6], 7),
}


def test_whatever_is_done_to_the_record_shows_and_where(house: House) -> None:
    copies = []
    for _ in range(2):
        agent = house.agent("--agent", "coder")
        for name in ("a", "b"):
            assert "isError" not in agent.call(WRITE, path=name, content="x")
        house.run("daemon", "stop")
        copies.append(file_of(house).read_bytes())
    older, whole = copies
    lines = whole.splitlines(keepends=True)
    assert (len(lines), b"".join(lines[:6])) == (12, older), "a start, two calls, a stop, and the same again"
    for how, (tamper, first_bad) in TAMPERINGS.items():
        file_of(house).write_bytes(b"".join(tamper(lines)))
        assert house.run("audit", "verify", code=1).startswith(f"BROKEN: record {first_bad} ("), how
    file_of(house).write_bytes(whole)
    assert "unbroken" in house.run("audit", "verify"), "and nothing else was wrong"
