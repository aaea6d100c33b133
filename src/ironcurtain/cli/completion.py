"""`ironcurtain completion`: a completion script for the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ironcurtain.cli.commands import parser
from ironcurtain.cli.main import DONE

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    import shtab  # noqa: PLC0415 - for this verb only

    print(shtab.complete(parser(), arguments.shell))
    return DONE
