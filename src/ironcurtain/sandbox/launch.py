"""Becomes the interpreter, behind the walls: `python launch.py MONTY READABLE... -- ARGUMENTS`.

The host starts this in place of the interpreter, and is walled itself; here it becomes narrower, and no new process can
come of it. Nothing is imported from beside it but the walls.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Wall ourselves in, and become the interpreter."""
    end = sys.argv.index("--")
    monty, *readable = sys.argv[1:end]
    from ironcurtain.sandbox import walls  # noqa: PLC0415 - what is imported is read before the walls stand

    walls.die_with_parent()
    walls.see_only([monty, *readable])
    walls.only_call(starts=False)
    os.execve(monty, [monty, *sys.argv[end + 1 :]], {})  # noqa: S606 - this is what we are for


if __name__ == "__main__":
    main()
