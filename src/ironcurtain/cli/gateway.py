"""`ironcurtain gateway` with its options spelled in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ironcurtain.gateway import relay

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Carry one client's session."""
    names = ("agent", "provider", "group", "member")
    given = {f"--{name}": getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return relay.main([part for pair in given.items() for part in pair])
