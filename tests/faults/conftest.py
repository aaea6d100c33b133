"""The same furnished house as the end-to-end tests have."""

from tests.e2e.conftest import house

__all__ = ["house"]
