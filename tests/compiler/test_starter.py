"""The constitution that an owner is offered to start from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.readers.store import Readings
from ironcurtain.compiler.reading import read_constitution
from ironcurtain.compiler.starter import starter
from tests.language.support import KNOWN, annotated
from tests.language.test_attacks import FILES, MAIL, SLACK

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = catalogue_of(annotated({**FILES, **MAIL, **SLACK}))


def test_a_starter_is_made_of_statements_that_are_all_read(tmp_path: Path) -> None:
    text = starter(TOOLS, KNOWN, tmp_path)
    read = read_constitution(text, TOOLS, KNOWN, Readings())
    assert not read.unread
    said = [line for each in read.readings for line in each.statements]
    assert "must never delete anything." in said
    assert "may read files in Projects or Medical." in said
    assert "must ask otherwise before sending or sharing anything." in said
    assert "must ask otherwise before doing anything with anything." in said


def test_without_folders_a_starter_shows_how_one_is_named(tmp_path: Path) -> None:
    bare = replace(KNOWN, directories={})
    assert "<!-- for example: may read files in ~/Documents. -->" in starter(TOOLS, bare, tmp_path)
    (tmp_path / "Notes").mkdir()
    assert "may read files in ~/Notes." in starter(TOOLS, bare, tmp_path)
