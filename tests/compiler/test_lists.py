"""Dynamic lists: from files and tools, with what the owner adds and removes by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from ironcurtain.artifacts.item import Item
from ironcurtain.cli import lists
from ironcurtain.compiler.lists import Source, amended, fetch, refreshed, sources_of
from ironcurtain.errors import ArtifactError, Refusal

TALKATIVE: Final = """
import json, sys
for line in sys.stdin.buffer:
    asked = json.loads(line)
    if "id" in asked:
        news = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"content": [{"type": "text", "text": "bob@x.example"}]}}
        sys.stdout.buffer.write(json.dumps(news).encode() + b"\\n" + json.dumps(answer).encode() + b"\\n")
        sys.stdout.buffer.flush()
"""
"""A gateway that has news, and says them and the answer in one breath."""


def never(*_: Any) -> str:
    raise AssertionError("no tool is to be called")


def from_tool(text: str, kind: str = "email", field: str = "") -> tuple[str, ...]:
    return fetch(Source("people", kind, tool="crm/list", field=field), Path("/"), lambda *_: text).values


def test_a_file_has_a_value_a_line(tmp_path: Path) -> None:
    (tmp_path / "people.txt").write_text("# friends\nbob@x.example\n\n  ann@x.example  # my sister\nbob@x.example\n")
    found = fetch(Source("people", "email", file="~/people.txt"), tmp_path, never)
    assert found.values == ("bob@x.example", "ann@x.example")


@pytest.mark.parametrize(
    ("text", "kind", "field", "values"),
    [
        ('["bob@x.example", "ann@x.example"]', "email", "", ("bob@x.example", "ann@x.example")),
        ('[{"name": "Bob", "email": "bob@x.example"}]', "email", "", ("bob@x.example",)),
        ('{"people": [{"mail": "b@x.example", "boss": {"mail": "a@x.example"}}]}', "", "mail", ("b@x.example", "a@x.example")),
        ("Bob <bob@x.example>\nAnn: ann@x.example.", "email", "", ("bob@x.example", "ann@x.example")),
        ("bbc.co.uk\nwikipedia.org", "domain", "", ("bbc.co.uk", "wikipedia.org")),
    ],
)  # fmt: skip
def test_a_tool_may_answer_in_many_ways(text: str, kind: str, field: str, values: tuple[str, ...]) -> None:
    assert from_tool(text, kind, field) == values


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("domain", "*.com"),
        ("domain", "com"),
        ("domain", "a b.example"),
        ("email", "everybody"),
        ("email", "a@x.example, eve@evil.example"),
        ("", "@everyone"),
        ("", "bob\u202e"),
        ("", "x" * 1_001),
    ],
)
def test_what_means_more_than_itself_stays_out(tmp_path: Path, kind: str, value: str) -> None:
    fine = {"domain": "x.example", "email": "bob@x.example"}.get(kind, "bob")
    (tmp_path / "list").write_text(f"{fine}\n{value}\n")
    found = fetch(Source("people", kind, file="~/list"), tmp_path, never)
    assert (found.values, found.left_out) == ((fine,), (value,))


@pytest.mark.parametrize("text", ["", "no address here", "[]", '{"people": []}'])
def test_nothing_is_no_list(text: str) -> None:
    with pytest.raises(Refusal, match="nothing was found"):
        from_tool(text)


def test_what_the_owner_did_by_hand_outlives_a_refresh() -> None:
    lists: dict[str, Any] = {"version": 1, "lists": {"people": {"kind": "email", "values": ["a@x.example"]}}}
    lists = amended(lists, "people", add=["mum@x.example"], remove=["a@x.example"])
    source = Source("people", "email", tool="crm/list")
    fetched = fetch(source, Path("/"), lambda *_: json.dumps(["a@x.example", "b@x.example"]))
    assert refreshed(lists, [fetched], "now")["lists"]["people"] == {
        "kind": "email",
        "values": ["a@x.example", "b@x.example"],
        "manualAdditions": ["mum@x.example"],
        "manualRemovals": ["a@x.example"],
    }


def test_adding_takes_a_removal_back() -> None:
    lists = amended({"lists": {}}, "people", add=[], remove=["a"])
    entry = amended(lists, "people", add=["a"], remove=[])["lists"]["people"]
    assert (entry["manualAdditions"], entry["manualRemovals"]) == (["a"], [])


def test_only_lists_with_a_source_are_asked() -> None:
    lists: Any = {"a": ["x"], "b": {"values": ["x"]}, "c": {"file": "~/c"}, "d": {"tool": "s/t", "arguments": {"n": 1}}}
    assert [(source.name, source.file, source.tool) for source in sources_of(Item(lists, "lists"))] == [
        ("c", "~/c", ""),
        ("d", "", "s/t"),
    ]


@pytest.mark.parametrize("entry", [{"file": "a", "tool": "s/t"}, {"tool": "t"}, {"file": 3}, {"file": "a", "x": 1}])
def test_a_source_that_is_none_is_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(ArtifactError):
        sources_of(Item({"people": entry}, "lists"))


def test_an_answer_that_comes_together_with_news_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = tmp_path / "gateway.py"
    gateway.write_text(TALKATIVE)
    monkeypatch.setattr(lists, "program", lambda: [sys.executable, str(gateway)])
    monkeypatch.setattr(lists, "_PATIENCE", 10.0)
    assert lists._call("people", "all", {}) == "bob@x.example"
