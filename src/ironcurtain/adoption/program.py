"""How a client starts us."""

from __future__ import annotations

import sys
from pathlib import Path


def program() -> list[str]:
    """The command of this installation: the script beside its Python, or the module where there is no script."""
    script = Path(sys.executable).with_name("ironcurtain")
    return [str(script)] if script.is_file() else [sys.executable, "-I", "-m", "ironcurtain"]
