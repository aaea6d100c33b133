"""Notices an agent that goes round in circles: the same calls, or nearly, and nothing new comes of them."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ironcurtain.model.call import CanonicalCall, Json, Principal

LOOP: Final = "loop"
"""The code of a question about a loop."""
_MOST_AGENTS: Final = 1_000
_MOST_RESULTS: Final = 1_000  # of one agent; an older one counts as new again
_WORDS: Final = re.compile(r"[^\W\d]+")
_DIGITS: Final = re.compile(r"\d+")
_LONGEST: Final = 4_096  # characters of one string that are compared


@dataclass(slots=True)
class _Agent:
    repeats: dict[str, int] = field(default_factory=dict)
    """How often each kind of call was made since something new was learnt."""
    results: OrderedDict[str, None] = field(default_factory=OrderedDict)
    under_way: dict[str, int] = field(default_factory=dict)


class LoopWatch:
    """All agents of a home; a new connection is the same agent, and whoever works for one counts as that one."""

    def __init__(self) -> None:
        self._agents: OrderedDict[Principal, _Agent] = OrderedDict()

    def repeats(self, call: CanonicalCall) -> int:
        """How often a call like this one was made already, and brought nothing new."""
        known, kind = self._agents.get(call.principal.root), kind_of(call)
        return known.repeats.get(kind, 0) + known.under_way.get(kind, 0) if known else 0

    def begin(self, call: CanonicalCall) -> None:
        """A call is about to be made."""
        known, kind = self._known(call.principal.root), kind_of(call)
        known.under_way[kind] = known.under_way.get(kind, 0) + 1

    def end(self, call: CanonicalCall) -> None:
        """It was made, or it was not."""
        known, kind = self._known(call.principal.root), kind_of(call)
        known.under_way[kind] = known.under_way.get(kind, 1) - 1
        if known.under_way[kind] <= 0:
            del known.under_way[kind]

    def _known(self, who: Principal) -> _Agent:
        known = self._agents.setdefault(who, _Agent())
        self._agents.move_to_end(who)
        while len(self._agents) > _MOST_AGENTS:
            self._agents.popitem(last=False)
        return known

    def made(self, call: CanonicalCall, result: str) -> None:
        """A call was made, and this is the digest of what came back."""
        known, kind = self._known(call.principal.root), kind_of(call)
        seen = f"{call.server}/{call.tool} {result}"
        if seen not in known.results:
            known.repeats.clear()  # it learnt something
        known.results[seen] = None
        known.results.move_to_end(seen)
        while len(known.results) > _MOST_RESULTS:
            known.results.popitem(last=False)
        known.repeats[kind] = known.repeats.get(kind, 0) + 1

    def go_on(self, who: Principal) -> None:
        """A person said that this is as it should be."""
        if who.root in self._agents:
            self._agents[who.root].repeats.clear()


def kind_of(call: CanonicalCall) -> str:
    """The same for calls that are nearly the same: numbers, case, blanks and the order of words do not count."""
    return hashlib.sha256(f"{call.server}/{call.tool} {_shape(call.arguments)}".encode()).hexdigest()


def _shape(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{_DIGITS.sub('0', key)}:{_shape(item)}" for key, item in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted({_shape(item) for item in value})) + "]"
    if isinstance(value, str):
        return " ".join(sorted(set(_WORDS.findall(value[:_LONGEST].casefold()))))
    return "" if value is None else "0"
