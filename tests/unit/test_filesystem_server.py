"""The built-in filesystem server: every tool on real files, and nothing outside its directories."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.servers import confined, filesystem
from ironcurtain.servers.confined import Confined
from ironcurtain.servers.filesystem import Filesystem, definitions

if TYPE_CHECKING:
    from pathlib import Path


class Box:
    def __init__(self, root: Path) -> None:
        self.inside, self.outside = root / "in", root / "out"
        self.inside.mkdir()
        self.outside.mkdir()
        (self.outside / "secret").write_text("secret")
        self.server = Filesystem(Confined([str(self.inside)]))

    def __call__(self, tool: str, **arguments: Any) -> str:
        result = self.server.call(tool, arguments)
        assert "isError" not in result, result
        return str(result["content"][0].get("text", result["content"][0]))

    def fails(self, tool: str, **arguments: Any) -> str:
        result = self.server.call(tool, arguments)
        assert result.get("isError") is True, result
        return str(result["content"][0]["text"])


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_every_tool_that_is_listed_exists() -> None:
    names = {definition["name"] for definition in definitions()}
    assert len(names) == 16
    server = Filesystem.__new__(Filesystem)
    with pytest.raises(LookupError):
        server.call("no_such_tool", {})


def test_files_are_written_read_edited_moved_and_deleted(box: Box) -> None:
    box("write_file", path="a.txt", content="one\ntwo\nthree\n")
    assert box("read_text_file", path=str(box.inside / "a.txt")) == "one\ntwo\nthree\n"
    assert box("read_file", path="a.txt", head=1) == "one"
    assert box("read_text_file", path="a.txt", tail=2) == "three\n"
    assert "-two" in box("edit_file", path="a.txt", edits=[{"oldText": "two", "newText": "2"}], dryRun=True)
    assert "two" in (box.inside / "a.txt").read_text()
    box("edit_file", path="a.txt", edits=[{"oldText": "two", "newText": "2"}])
    assert (box.inside / "a.txt").read_text() == "one\n2\nthree\n"
    assert "Could not find" in box.fails("edit_file", path="a.txt", edits=[{"oldText": "zwei", "newText": "2"}])
    box("create_directory", path="d/e/f")
    box("move_file", source="a.txt", destination="d/b.txt")
    assert "exists" in box.fails("move_file", source="d/b.txt", destination="d/e").lower()
    assert box("read_multiple_files", paths=["d/b.txt", "none"]).startswith("d/b.txt:\none")
    box("delete_file", path="d/b.txt")
    box("delete_directory", path="d")
    assert list(box.inside.iterdir()) == []


def test_directories_are_listed_searched_and_drawn(box: Box) -> None:
    for name in ("a.py", "d/b.py", "d/e/c.txt"):
        (box.inside / name).parent.mkdir(parents=True, exist_ok=True)
        (box.inside / name).write_text("x" * 2000)
    assert box("list_directory", path=".") == "[FILE] a.py\n[DIR] d"
    assert "1.95 KB" in box("list_directory_with_sizes", path=".", sortBy="size")
    tree = json.loads(box("directory_tree", path=".", excludePatterns=["e"]))
    assert tree == [{"name": "a.py", "type": "file"}, {"name": "d", "type": "directory", "children": [{"name": "b.py", "type": "file"}]}]  # fmt: skip
    assert box("search_files", path=".", pattern="**/*.py").splitlines() == [
        str(box.inside / "a.py"),
        str(box.inside / "d/b.py"),
    ]
    assert box("search_files", path=".", pattern="*.txt") == "No matches found"
    assert "size: 2000" in box("get_file_info", path="a.py")
    assert "isDirectory: true" in box("get_file_info", path=".")
    assert str(box.inside) in box("list_allowed_directories")


def test_media_come_with_their_type(box: Box) -> None:
    (box.inside / "p.png").write_bytes(b"\x89PNG")
    (content,) = box.server.call("read_media_file", {"path": "p.png"})["content"]
    assert (content["type"], base64.b64decode(content["data"])) == ("image", b"\x89PNG")
    (box.inside / "p.bin").write_bytes(b"x")
    assert box.server.call("read_media_file", {"path": "p.bin"})["content"][0]["type"] == "resource"


@pytest.mark.parametrize(
    "path", ["../out/secret", "{out}/secret", "link/secret", "file-link", "d/../../out/secret", "/etc/hostname"]
)
@pytest.mark.parametrize(
    "tool", ["read_text_file", "write_file", "get_file_info", "edit_file", "delete_directory", "read_media_file"]
)
def test_nothing_outside_is_touched(box: Box, tool: str, path: str) -> None:
    (box.inside / "link").symlink_to(box.outside)
    (box.inside / "file-link").symlink_to(box.outside / "secret")
    arguments: dict[str, Any] = {"path": path.replace("{out}", str(box.outside))}
    more: dict[str, dict[str, Any]] = {"write_file": {"content": "x"}, "edit_file": {"edits": []}}
    arguments |= more.get(tool, {})
    assert "secret" not in box.fails(tool, **arguments).replace("out/secret", "")
    assert (box.outside / "secret").read_text() == "secret"


def test_a_link_is_deleted_and_not_what_it_leads_to(box: Box) -> None:
    (box.inside / "d").mkdir()
    (box.inside / "d" / "link").symlink_to(box.outside)
    box("delete_directory", path="d")
    assert (box.outside / "secret").exists()
    (box.inside / "l").symlink_to(box.outside / "secret")
    box("delete_file", path="l")
    assert (box.outside / "secret").exists()


def test_the_directory_itself_is_neither_moved_nor_deleted(box: Box) -> None:
    box.fails("delete_directory", path=".")
    box.fails("move_file", source=".", destination="x")
    assert box.inside.is_dir()


def test_a_directory_swapped_for_a_link_is_never_followed(box: Box) -> None:
    """A thousand looks while somebody swaps: none of them sees what is outside."""
    (box.outside / "f").write_text("outside")
    (box.inside / "d").mkdir()
    (box.inside / "d" / "f").write_text("inside")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (box.inside / "d").rename(box.inside / "aside")
            (box.inside / "d").symlink_to(box.outside)
            (box.inside / "d").unlink()
            (box.inside / "aside").rename(box.inside / "d")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        seen = {
            str(box.server.call("read_text_file", {"path": str(box.inside / "d" / "f")})["content"][0]["text"])
            for _ in range(1_000)
        }
    finally:
        stop.set()
        thread.join()
    assert "outside" not in seen
    assert box("read_text_file", path="d/f") == "inside"


def test_what_is_no_file_is_not_read(box: Box) -> None:
    os.mkfifo(box.inside / "pipe")
    box.fails("read_text_file", path="pipe")
    box.fails("read_text_file", path=".")
    box.fails("write_file", path="pipe", content="x")


# Whatever is asked, there is an answer, and the server goes on.


def test_a_tree_that_is_too_deep_is_an_answer(box: Box) -> None:
    deep = box.inside.joinpath(*["d"] * filesystem.MOST_LEVELS)
    deep.mkdir(parents=True)
    assert "d" in box("directory_tree", path=".")
    assert "No matches" in box("search_files", path=".", pattern="x")
    (deep / "d").mkdir()
    for tool, arguments in (("directory_tree", {}), ("search_files", {"pattern": "x"})):
        assert "levels; begin further down" in box.fails(tool, path=".", **arguments)


def test_a_tree_that_is_too_large_is_an_answer(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystem, "MOST_VISITED", 20)
    for number in range(15):
        (box.inside / f"f{number}").write_text("")
    assert "f14" in box("directory_tree", path=".")
    assert "f14" in box("directory_tree", path=".")
    (box.inside / "d").mkdir()
    for number in range(15):
        (box.inside / "d" / f"f{number}").write_text("")
    assert "more than 20" in box.fails("directory_tree", path=".")
    assert "more than 20" in box.fails("search_files", path=".", pattern="x")


def test_files_that_are_too_large_are_an_answer(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "MOST_READ", 100)
    monkeypatch.setattr(filesystem, "MOST_READ", 100)
    (box.inside / "large").write_text("x" * 101)
    (box.inside / "fits").write_text("x" * 90)
    assert "larger" in box.fails("read_text_file", path="large")
    assert box("read_text_file", path="fits") == "x" * 90
    assert "read fewer" in box.fails("read_multiple_files", paths=["fits", "fits"])


def test_a_change_that_is_too_large_to_compare_is_shown_whole(box: Box) -> None:
    old = "".join(f"{number % 7}\n" for number in range(3_000))
    (box.inside / "a").write_text(f"first\n{old}last\n")
    said = box("edit_file", path="a", edits=[{"oldText": old, "newText": old.replace("3", "4")}])
    assert "@@ -5,2997 +5,2997 @@" in said
    assert said.count("\n-") == 2_997 + 1
    assert (box.inside / "a").read_text() == "first\n" + old.replace("3", "4") + "last\n"


def test_edits_without_end_are_an_answer(box: Box) -> None:
    (box.inside / "a").write_text("x" * 1_000_000)
    assert "too many" in box.fails("edit_file", path="a", edits=[{"oldText": "y", "newText": ""}] * 2_000)


def test_an_answer_that_nobody_could_take_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\0" * 6_000_000)
    call = {"name": "read_text_file", "arguments": {"path": "a"}}
    lines = [{"id": 1, "method": "tools/call", "params": call}, {"id": 2, "method": "ping"}]
    done = subprocess.run(
        [sys.executable, "-I", "-m", "ironcurtain.servers.filesystem", str(tmp_path)],
        input="".join(json.dumps(line) + "\n" for line in lines).encode(), capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    first, second = map(json.loads, done.stdout.splitlines())
    assert "ask for less" in first["error"]["message"]
    assert second["result"] == {}
