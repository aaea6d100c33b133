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
    owner = tmp_path / "owner"
    owner.mkdir(0o700)
    made = House(owner)
    made.run("init", "--yes")
    yield made
    made.close()
