"""Runs one of our modules behind the walls: `python inside.py MODULE LIMITS READABLE...`.

For what belongs to the untrusted side and is written by us, such as the agent's loop: it starts no process, opens no
connection, and sees no file but what Python itself needs.
"""

from __future__ import annotations

import importlib
import json
import sys

from ironcurtain.sandbox import walls


def main() -> None:
    """Wall ourselves in, and become the module."""
    module, given, *readable = sys.argv[1:]
    limits = json.loads(given)
    inside = importlib.import_module(module).main  # all that it needs is read before the walls stand
    try:
        walls.die_with_parent()
        walls.give_up_privileges()
        walls.limit(limits["memory"], limits["processor"])
        walls.see_only(readable)
        walls.only_call(starts=False)
    except (walls.WallError, OSError) as error:
        print(json.dumps({"unready": f"{type(error).__name__}: {error}"}), flush=True)
        sys.exit(1)
    sys.exit(inside())


if __name__ == "__main__":
    main()
