"""Schemas without references: what is sent to a provider is then as large as it looks."""

from __future__ import annotations

from typing import Any, Final

_MOST_PARTS: Final = 5_000  # of one schema, each counted as often as it is referred to
_PART: Final = 40  # characters that count as one more
_DEEPEST: Final = 40


class _TooMuchError(Exception):
    """A schema that unfolds to more than anybody needs to know."""


def unfolded(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema in which everything stands where it is referred to; one that becomes too large says nothing."""
    try:
        found = _Unfolding(schema).of(schema, 0)
    except _TooMuchError:
        return {"type": "object"}
    return {name: value for name, value in found.items() if name not in ("$defs", "definitions")}


class _Unfolding:
    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._left = _MOST_PARTS

    def of(self, part: Any, depth: int) -> Any:  # noqa: ANN401 - as a server wrote it
        words = part if isinstance(part, (str, dict)) else ()
        self._left -= 1 + sum(map(len, words)) // _PART
        if self._left < 0 or depth > _DEEPEST:
            raise _TooMuchError
        if isinstance(part, list):
            return [self.of(each, depth + 1) for each in part]
        if not isinstance(part, dict):
            return part
        if isinstance(part.get("$ref"), str):
            return self.of(self._referred(part["$ref"]), depth + 1)
        kept = {name: value for name, value in part.items() if name not in ("$defs", "definitions") or depth}
        return {name: self.of(value, depth + 1) for name, value in kept.items()}

    def _referred(self, reference: str) -> Any:  # noqa: ANN401 - as a server wrote it
        if not reference.startswith("#/"):
            return {}
        at: Any = self._schema
        for word in reference[2:].split("/"):
            at = at.get(word.replace("~1", "/").replace("~0", "~"), {}) if isinstance(at, dict) else {}
        return at
