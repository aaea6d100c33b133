"""Profiles for Hypothesis: the everyday suite looks at the same thousands of cases on every machine and every day,
`make fuzz` at hundreds of thousands of new ones."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.support import Place

if TYPE_CHECKING:
    from pathlib import Path

_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
settings.register_profile(
    "default", max_examples=30, deadline=None, suppress_health_check=_SLOW_IS_FINE, derandomize=True
)
settings.register_profile(
    "quick", max_examples=25, deadline=None, suppress_health_check=_SLOW_IS_FINE, derandomize=True
)
settings.register_profile("long", max_examples=400, deadline=None, suppress_health_check=_SLOW_IS_FINE)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A machine of its own: an owner's home, a sandbox, IronCurtain's home."""
    return Place.at(tmp_path)
