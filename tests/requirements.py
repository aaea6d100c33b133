"""The promises of `docs/threats.md`, and which of them the steps that exist today can keep."""

from __future__ import annotations

PROMISES = {f"P{number}" for number in range(1, 13)}
NOT_YET = {"P5"}
"""Kept by steps 10 and 12, which come with the gateway."""
