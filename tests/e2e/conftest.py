"""A furnished house for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.house import House

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    yield from at(tmp_path)


@pytest.fixture(scope="module")
def shared_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """For tests that leave nothing behind."""
    yield from at(tmp_path_factory.mktemp("shared"))


def at(directory: Path) -> Iterator[House]:
    owner = directory / "owner"
    owner.mkdir(0o700)
    made = House(owner)
    made.run("init", "--yes")
    yield made
    made.close()
