"""Programs on disk: as they were written, or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ironcurtain.errors import Refusal
from ironcurtain.sandbox import store
from ironcurtain.sandbox.store import Run, Status, Step, Store

if TYPE_CHECKING:
    from pathlib import Path

SECRET = b"k" * 32


def run(name: str = "0a1b2c3d", status: Status = Status.WAITING) -> Run:
    steps = [Step("box.read", [], {"path": "a"}, {"value": "text"}), Step("box.send", ["bob"], {})]
    return Run(
        name, {"agent": "code"}, "import box", {"k": [1, None]}, {"seconds": 1}, 7, "2026-01-01T00:00:00Z", status, steps, 2, [1.5], "hi\n", state="AA==", question="q",
    )  # fmt: skip


def test_what_was_written_is_read(tmp_path: Path) -> None:
    stored = Store(tmp_path / "programs", SECRET)
    stored.save(run())
    assert stored.load("0a1b2c3d") == run()
    assert (tmp_path / "programs").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "programs" / "0a1b2c3d.jsonl").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "programs").iterdir()] == ["0a1b2c3d.jsonl"]


def test_whatever_a_server_said_can_be_read_again(tmp_path: Path) -> None:
    stored = Store(tmp_path, SECRET)
    odd = run()
    odd.steps[0].answer = {"value": {"id": 1, "ID": 2, "big": 2**70, "deep": [[[[["x"]]]]], "\ud800": "lone"}}
    stored.save(odd)
    assert stored.load("0a1b2c3d") == odd


def test_a_file_that_somebody_changed_does_not_go_on(tmp_path: Path) -> None:
    stored = Store(tmp_path, SECRET)
    stored.save(run())
    path = tmp_path / "0a1b2c3d.jsonl"
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(Refusal):
            stored.load("0a1b2c3d")
    for at in range(0, len(whole), 50):
        path.write_bytes(whole[:at])
        with pytest.raises(Refusal):
            stored.load("0a1b2c3d")


def test_a_file_sealed_with_another_key_or_under_another_name_does_not_go_on(tmp_path: Path) -> None:
    Store(tmp_path, b"other").save(run())
    with pytest.raises(Refusal, match="not as it was written"):
        Store(tmp_path, SECRET).load("0a1b2c3d")
    stored = Store(tmp_path, SECRET)
    stored.save(run())
    (tmp_path / "0a1b2c3d.jsonl").rename(tmp_path / "ffffffff.jsonl")
    with pytest.raises(Refusal, match="not as it was written"):
        stored.load("ffffffff")


def test_the_seal_is_over_all_of_it(tmp_path: Path) -> None:
    stored = Store(tmp_path, SECRET)
    stored.save(run())
    path = tmp_path / "0a1b2c3d.jsonl"
    seals, head, body = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(seals + head + body.replace(b'"agent":"code"', b'"agent":"root"'))
    with pytest.raises(Refusal):
        stored.load("0a1b2c3d")
    path.write_bytes(seals + head.replace(b"waiting", b"done") + body)
    assert stored.heads() == {"0a1b2c3d": None}
    path.write_bytes(seals + body + head)
    with pytest.raises(Refusal):
        stored.load("0a1b2c3d")


@pytest.mark.parametrize(
    "name", ["", "..", "../../etc/passwd", "0a1b2c3", "0A1B2C3D", "0a1b2c3d.jsonl", "x" * 8, "0a1b2c3d\n"]
)
def test_only_names_of_ours_are_looked_for(name: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="there is no program"):
        Store(tmp_path, SECRET).load(name)


def test_a_crash_in_the_middle_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = Store(tmp_path, SECRET)
    stored.save(run())

    def fails(_: int) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="no space"):
        stored.save(run(status=Status.DONE))
    assert stored.load("0a1b2c3d").status is Status.WAITING


def test_only_those_that_have_ended_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_KEPT", 2)
    stored = Store(tmp_path, SECRET)
    stored.save(run("00000000"))
    for number in range(1, 6):
        stored.save(run(f"0000000{number}", Status.DONE))
        os.utime(tmp_path / f"0000000{number}.jsonl", (number, number))
    stored.tidy()
    assert set(stored.names()) == {"00000000", "00000004", "00000005"}
