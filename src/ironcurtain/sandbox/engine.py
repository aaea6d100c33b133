"""Becomes the JavaScript engine, behind the walls: `python engine.py ENGINE LIMITS READABLE... -- ARGUMENTS`."""

from __future__ import annotations

import json
import os
import sys

from ironcurtain.sandbox import walls


def main() -> None:
    """Wall ourselves in, and become the engine."""
    end = sys.argv.index("--")
    engine, given, *readable = sys.argv[1:end]
    limits = json.loads(given)
    try:
        walls.die_with_parent()
        walls.give_up_privileges()
        walls.limit(limits["memory"], limits["processor"])
        walls.see_only([engine, *readable])
        walls.only_call(starts=False, waits=True)
    except (walls.WallError, OSError) as error:
        print(json.dumps({"unready": f"{type(error).__name__}: {error}"}), flush=True)
        sys.exit(1)
    nowhere = {"DENO_DIR": "/nonexistent", "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", "HOME": "/nonexistent"}
    os.execve(engine, [engine, *sys.argv[end + 1 :]], nowhere)  # noqa: S606 - this is what we are for


if __name__ == "__main__":
    main()
