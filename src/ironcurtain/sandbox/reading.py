"""Reads a TypeScript program and says what it may do; in a process of its own, behind the walls (`inside.py`).

daemon                                      here
                                        <-  {"ready": true}
{"program": "...", "modules": [...]}    ->
                                        <-  {"calls": [...], "open": [...], "loads": false}
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ironcurtain.sandbox.as_python import may_load, syntax_of
from ironcurtain.sandbox.nodes import UnreadableError
from ironcurtain.sandbox.plan import plan_of_tree


def main() -> int:
    """Read one program."""
    print(json.dumps({"ready": True}), flush=True)
    order = json.loads(sys.stdin.buffer.readline())
    print(json.dumps(plan_of_typescript(order["program"], set(order["modules"]))), flush=True)
    return 0


def plan_of_typescript(program: str, modules: set[str]) -> dict[str, Any]:
    """The plan of a program that finds these modules.

    INVARIANT: it may do anything with them, whatever was read: another reader than ours says what its text means.
    """
    try:
        found = plan_of_tree(syntax_of(program, modules), modules, frozenset(modules))
    except (UnreadableError, RecursionError):
        found = {"calls": [], "open": sorted(modules)}
    return {**found, "loads": may_load(program)}
