"""What a program may do, in words: its plan, as data, for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_PARTS: Final = {"name", "line", "often", "flows"}
_OFTEN: Final = {"once": "", "maybe": " (perhaps)", "many": " (any number of times)"}


def in_words(plan: Mapping[str, Any]) -> list[str]:
    """A line for each call, and for what cannot be told. Of a plan on record, parts may be withheld."""
    calls, loose = (plan[name] if isinstance(plan.get(name), list) else [] for name in ("calls", "open"))
    whole = [call for call in calls if isinstance(call, dict) and call.keys() >= _PARTS]
    more = ["and more, which is not kept"] if len(whole) < len(calls) else []
    return [*map(line_of, whole), *more, *(f"and whatever else {name} can do" for name in loose)]


def line_of(call: Mapping[str, Any]) -> str:
    """One call."""
    known = call.get("arguments")
    parts = [f"{name}={json.dumps(value)}" for name, value in known.items()] if isinstance(known, dict) else ["..."]
    flows = f", with what {', '.join(call['flows'])} gave" if call["flows"] else ""
    decided = f": {call['decision']}" if "decision" in call else ""
    return f"line {call['line']}: {call['name']}({', '.join(parts)}){_OFTEN[call['often']]}{flows}{decided}"
