"""What values look like, by a JSON schema: as far as both languages of programs can say it.

What we do not know may be anything: the tool's own schema decides in the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEEPEST: Final = 8
_MOST_PARTS: Final = 2_000  # of one schema, each counted as often as it is referred to
_MOST_VALUES: Final = 500  # that one may choose from
_LONGEST_LITERAL: Final = 2_000  # characters of all the words that a value may be
_PLAIN: Final = ("string", "integer", "number", "boolean", "null")


@dataclass(frozen=True, slots=True)
class Anything:
    """Nobody knows."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A string, a number and their like, by the name of its type."""

    kind: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of these very values."""

    values: tuple[str | int | bool | None, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Any of these."""

    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class AnyKeys:
    """An object whose keys are not known."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class Keys:
    """An object with these keys."""

    shapes: Mapping[str, Shape]
    required: frozenset[str]


Shape: TypeAlias = Anything | Plain | OneOf | Either | ListOf | AnyKeys | Keys


def shape_of(schema: Any) -> Shape:  # noqa: ANN401 - as a server wrote it
    """The shape of the values that a schema describes."""
    return _Shapes(schema).of(schema, 0)


def keys_of(schema: Any) -> Keys:  # noqa: ANN401 - as a server wrote it
    """The arguments that a tool takes."""
    return _Shapes(schema).keys(_object(schema), 0)


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401 - as a server wrote it
    return value if isinstance(value, dict) else {}


class _Shapes:
    """One schema."""

    def __init__(self, schema: Any) -> None:  # noqa: ANN401 - as a server wrote it
        self._schema = schema
        self._left = _MOST_PARTS

    def of(self, schema: Any, depth: int) -> Shape:  # noqa: ANN401, PLR0911 - as a server wrote it; a case for each kind
        self._left -= 1
        if not isinstance(schema, dict) or depth > _DEEPEST or self._left < 0:
            return Anything()
        if "$ref" in schema:
            return self.of(self._referred(schema["$ref"]), depth + 1)
        if isinstance(schema.get("enum"), list):
            return _one_of(schema["enum"])
        if "const" in schema:
            return _one_of([schema["const"]])
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                return Either(tuple(self.of(each, depth + 1) for each in schema[key]))
        kind = schema.get("type")
        if isinstance(kind, list):
            return Either(tuple(self.of({**schema, "type": each}, depth + 1) for each in kind))
        if kind == "array":
            return ListOf(self.of(schema.get("items"), depth + 1))
        if kind == "object" or "properties" in schema:
            if _object(schema.get("properties")):
                return self.keys(schema, depth)
            return AnyKeys(self.of(schema.get("additionalProperties"), depth + 1))
        return Plain(kind) if isinstance(kind, str) and kind in _PLAIN else Anything()

    def keys(self, schema: dict[str, Any], depth: int) -> Keys:
        listed = schema.get("required")
        required = frozenset(each for each in listed if isinstance(each, str)) if isinstance(listed, list) else ()
        properties = _object(schema.get("properties"))
        return Keys({key: self.of(value, depth + 1) for key, value in properties.items()}, frozenset(required))

    def _referred(self, reference: Any) -> Any:  # noqa: ANN401 - as a server wrote it
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        at: Any = self._schema
        for part in reference[2:].split("/"):
            at = _object(at).get(part.replace("~1", "/").replace("~0", "~"))
        return at


def _one_of(values: list[Any]) -> Shape:
    if len(values) > _MOST_VALUES:
        return Anything()
    plain = [each for each in values if each is None or isinstance(each, (str, int, bool))]
    if not plain or len(plain) < len(values) or len(str(values)) > _LONGEST_LITERAL:
        return Anything()
    return OneOf(tuple(plain))
