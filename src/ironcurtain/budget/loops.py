"""Notices an agent that goes round in circles: the same calls, or nearly, and nothing new comes of them."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ironcurtain.model.call import CanonicalCall, Json

_MOST_SESSIONS: Final = 1_000
_MOST_RESULTS: Final = 1_000  # of one session; an older one counts as new again
_WORDS: Final = re.compile(r"[^\W\d]+")
_LONGEST: Final = 4_096  # characters of one string that are compared


@dataclass(slots=True)
class _Session:
    repeats: dict[str, int] = field(default_factory=dict)
    """How often each kind of call was made since something new was learnt."""
    results: OrderedDict[str, None] = field(default_factory=OrderedDict)
    under_way: dict[str, int] = field(default_factory=dict)


class LoopWatch:
    """All sessions of a home."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def repeats(self, session: str, call: CanonicalCall) -> int:
        """How often a call like this one was made already, and brought nothing new."""
        known, kind = self._sessions.get(session), kind_of(call)
        return known.repeats.get(kind, 0) + known.under_way.get(kind, 0) if known else 0

    def begin(self, session: str, call: CanonicalCall) -> None:
        """A call is about to be made."""
        known, kind = self._known(session), kind_of(call)
        known.under_way[kind] = known.under_way.get(kind, 0) + 1

    def end(self, session: str, call: CanonicalCall) -> None:
        """It was made, or it was not."""
        known, kind = self._known(session), kind_of(call)
        known.under_way[kind] = known.under_way.get(kind, 1) - 1
        if known.under_way[kind] <= 0:
            del known.under_way[kind]

    def _known(self, session: str) -> _Session:
        known = self._sessions.setdefault(session, _Session())
        self._sessions.move_to_end(session)
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return known

    def made(self, session: str, call: CanonicalCall, result: str) -> None:
        """A call was made, and this is the digest of what came back."""
        known, kind = self._known(session), kind_of(call)
        seen = f"{call.server}/{call.tool} {result}"
        if seen not in known.results:
            known.repeats.clear()  # it learnt something
        known.results[seen] = None
        known.results.move_to_end(seen)
        while len(known.results) > _MOST_RESULTS:
            known.results.popitem(last=False)
        known.repeats[kind] = known.repeats.get(kind, 0) + 1

    def go_on(self, session: str) -> None:
        """A person said that this is as it should be."""
        if session in self._sessions:
            self._sessions[session].repeats.clear()


def kind_of(call: CanonicalCall) -> str:
    """The same for calls that are nearly the same: numbers, case, blanks and the order of words do not count."""
    return hashlib.sha256(f"{call.server}/{call.tool} {_shape(call.arguments)}".encode()).hexdigest()


def _shape(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_shape(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted({_shape(item) for item in value})) + "]"
    if isinstance(value, str):
        return " ".join(sorted(set(_WORDS.findall(value[:_LONGEST].casefold()))))
    return "" if value is None else "0"
