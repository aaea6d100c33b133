"""How a client starts us."""

from __future__ import annotations

import sys


def program() -> list[str]:
    """The command of this installation. Isolated: no variable or directory of the client's puts code into it."""
    return [sys.executable, "-I", "-m", "ironcurtain"]
