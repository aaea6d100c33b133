"""What a tool's schema lets an argument be, and whole arguments put together from a few values that matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeGuard

from ironcurtain.wire.schema import accepts, variants_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ironcurtain.model.call import Json

MAX_CHOICES: Final = 200
_FORMATS: Final[dict[str, str]] = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "time": "03:04:05Z",
    "uri": "https://elsewhere.example/",
    "url": "https://elsewhere.example/",
    "email": "someone@elsewhere.example",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_LIMITING: Final = frozenset(
    [
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "not",
        "if",
    ]
)
_OTHER_MEMBER: Final = "another-member"
_SCALARS: Final = ("string", "integer", "number", "boolean")


@dataclass(frozen=True, slots=True)
class Kind:
    """What one value of an argument can be."""

    types: frozenset[str] = frozenset()
    """The JSON types of a single value; none if the schema does not say."""
    choices: tuple[Json, ...] | None = None
    """The only values there are, where the schema lists them."""
    many: bool = False
    """Several values may stand there."""
    nullable: bool = False
    """`null` may stand there."""

    def takes(self, kind: str) -> bool:
        """Whether a value of this JSON type may stand there."""
        return not self.types or kind in self.types or (kind == "integer" and "number" in self.types)


@dataclass(slots=True)
class Arguments:
    """The arguments of one tool."""

    definition: Mapping[str, Json]
    _kinds: dict[str, list[dict[str, Json]]] = field(default_factory=dict)
    _many: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._visit(self._root, "")

    @property
    def _root(self) -> dict[str, Json]:
        schema = self.definition.get("inputSchema")
        return schema if isinstance(schema, dict) else {}

    def kind(self, leaf: str) -> Kind:
        """What a value of the leaf can be."""
        nodes = self._kinds.get(leaf, [])
        if not nodes:  # a member of an object that the schema does not describe
            return Kind(many=True, nullable=True)
        types = {name for node in nodes for name in _types(node)} & set(_SCALARS)
        listed = [values for node in nodes if (values := _listed(node)) is not None]
        every = [node for node in nodes if _types(node) != ["null"] and not _is_container(node)]
        found = [value for values in listed for value in values if value is not None]
        choices = tuple({(type(value), value): value for value in found}.values())
        mixed = any({"array", "object"} & set(_types(node)) and set(_types(node)) & set(_SCALARS) for node in nodes)
        only = bool(listed) and len(choices) <= MAX_CHOICES and all(_listed(node) is not None for node in every)
        several = (
            leaf in self._many or "[]" in leaf or any(not _types(node) and _listed(node) is None for node in nodes)
        )
        several = several or any({"array", "object"} & set(_types(node)) for node in nodes)
        nullable = any("null" in _types(node) or None in (_listed(node) or ()) for node in self._kinds.get(leaf, ()))
        untyped = any(not _types(node) and not _is_container(node) and _listed(node) is None for node in nodes)
        return Kind(
            frozenset() if untyped else frozenset(types), choices if only and not mixed else None, several, nullable
        )

    def accepts(self, leaf: str, values: Sequence[Json]) -> bool:
        """Whether the schema of the leaf itself has nothing against these values."""
        nodes = [node for node in self._kinds.get(leaf, ()) if not _is_container(node)]
        free = any(node.keys().isdisjoint(_LIMITING) and _types(node) != ["null"] for node in nodes)
        return not nodes or free or all(any(accepts(node, self._root, value) for node in nodes) for value in values)

    def empties(self, leaf: str) -> list[Json]:
        """Return the empty values that may stand at the leaf: an empty text, `null`, an empty list."""
        kind = self.kind(leaf)
        text = "" in kind.choices if kind.choices is not None else kind.takes("string") and self.accepts(leaf, [""])
        found: list[Json] = [""] if text else []
        return [*found, *([None] if kind.nullable else []), *([[]] if kind.many else [])]

    def needed(self, chosen: Mapping[str, Sequence[Json]]) -> set[str]:
        """The arguments that the schema insists on beside the chosen ones, inside the objects that these are in."""
        made = (leaf for leaf in _leaves(self.build(chosen), "") if "." in leaf)
        return {leaf for leaf in made if not any(_leads_to(above, leaf) for above in chosen)}

    def build(self, chosen: Mapping[str, Sequence[Json]]) -> dict[str, Json]:
        """Arguments that hold the chosen values, and of everything else only what the schema insists on."""
        made = self._object(self._root, "", chosen, 0)
        return made if made is not None else {}

    def _visit(self, node: Json, leaf: str) -> None:
        for variant in variants_of(self._root, node):
            if leaf and not variant.keys() & {"anyOf", "oneOf", "allOf", "$ref"}:
                self._kinds.setdefault(leaf, []).append(variant)
            for name, child in _properties(variant).items():
                self._visit(child, f"{leaf}.{name}" if leaf else name)
            for element in _elements(variant):
                if any(_properties(inner) for inner in variants_of(self._root, element)):
                    self._visit(element, f"{leaf}[]")
                else:
                    self._many.add(leaf)
                    self._visit(element, leaf)

    def _object(
        self, node: Json, prefix: str, chosen: Mapping[str, Sequence[Json]], index: int
    ) -> dict[str, Json] | None:
        variants = list(variants_of(self._root, node))
        children: dict[str, Json] = {}
        for variant in variants:
            children = {**_properties(variant), **children}
        if not children:
            return None
        needed = {name for variant in variants for name in _required(variant)}
        made: dict[str, Json] = {}
        for name, child in children.items():
            below = f"{prefix}.{name}" if prefix else name
            if name in needed or any(_leads_to(below, leaf) for leaf in chosen):
                made[name] = self._value(child, below, chosen, index)
        return made

    def _value(self, node: Json, leaf: str, chosen: Mapping[str, Sequence[Json]], index: int) -> Json:
        members = {name: values for name, values in chosen.items() if name.startswith(f"{leaf}.")}
        if members and leaf in self._kinds and not any(map(_properties, variants_of(self._root, node))):
            return self._free(node, leaf, {**members, leaf: chosen.get(leaf, ())}, index)
        if leaf in chosen and not (leaf.endswith("[]") and {} in chosen[leaf]):  # elements that are counted
            return self._chosen(node, leaf, chosen[leaf], index, chosen.get(f"{leaf}[]", ()))
        made = self._object(node, leaf, chosen, index)
        if made is not None:
            return made
        for variant in variants_of(self._root, node):
            for element in _elements(variant):
                inside = [(n.removeprefix(f"{leaf}[]"), v) for n, v in chosen.items() if _leads_to(f"{leaf}[]", n)]
                below = [1 if "[]" in rest else len(values) for rest, values in inside]  # of a list in it, that many
                least = variant.get("minItems")
                count = max(below, default=least if isinstance(least, int) else 0)
                return [self._value(element, f"{leaf}[]", chosen, number) for number in range(count)]
        return self._least(node)

    def _free(self, node: Json, leaf: str, chosen: Mapping[str, Sequence[Json]], index: int) -> Json:
        """An object that the schema does not describe, with the chosen members, and beside them the values of it.

        Those stand under names that are the same text, because names are values of the object, too.
        """
        taken = {name[len(leaf) + 1 :].partition(".")[0].casefold() for name in chosen}
        made: dict[str, Json] = {}
        for value in chosen[leaf]:
            key = value if _is_key(value) and value.casefold() not in taken else _OTHER_MEMBER
            made[key] = value
            taken.add(key.casefold())
        for name, values in chosen.items():
            inside = made
            *above, last = name[len(leaf) + 1 :].split(".") if name != leaf else [""]
            for step in above:
                found = inside.setdefault(step, {})
                inside = found if isinstance(found, dict) else {}
            if last:
                inside[last] = values[index % len(values)] if len(values) == 1 or "[]" in leaf else list(values)
        listed = any("array" in _types(variant) for variant in variants_of(self._root, node))
        return [made] if listed else made

    def _chosen(self, node: Json, leaf: str, values: Sequence[Json], index: int, elements: Sequence[Json] = ()) -> Json:
        if "[]" in leaf and leaf not in self._many:
            return values[index % len(values)]
        if len(values) == 1 and values[0] in (None, []):
            return values[0]
        variants = list(variants_of(self._root, node))
        if elements or any(_elements(variant) or "array" in _types(variant) for variant in variants):
            inner = [
                each for variant in variants for one in _elements(variant) for each in variants_of(self._root, one)
            ]
            objects = bool(inner) and all(_types(each) == ["object"] for each in inner)
            return [*({str(value): value} if objects else value for value in values), *elements[len(values) :]]
        if len(values) == 1:
            return values[0]
        return ", ".join(map(str, values)) if any(map(_types, variants)) else list(values)

    def _least(self, node: Json) -> Json:
        """The plainest value that may stand there."""
        variants = [variant for variant in variants_of(self._root, node) if _types(variant) != ["null"]]
        for variant in variants:
            for value in _listed(variant) or ():
                return value
            if variant.get("default") is not None:
                return variant["default"]
        types = next((types for variant in variants if (types := _types(variant))), ["string"])
        return _plain(next((each for each in types if each != "null"), "string"), variants)


def _is_key(value: Json) -> TypeGuard[str]:
    """Return whether a value may as well be the name of a member."""
    return isinstance(value, str) and value.isascii() and value == value.strip() != ""


def _leaves(value: Json, leaf: str) -> Iterator[str]:
    """The names of all plain values in arguments."""
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _leaves(child, f"{leaf}.{name}" if leaf else name)
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        for item in value:
            yield from _leaves(item, f"{leaf}[]")
    else:
        yield leaf


def _plain(kind: str, variants: list[dict[str, Json]]) -> Json:
    if kind == "boolean":
        return False
    if kind in ("integer", "number"):
        return next((low for each in variants if isinstance(low := each.get("minimum"), (int, float))), 1)
    if kind == "array":
        return []
    if kind == "object":
        return {}
    shape = next((name for each in variants if isinstance(name := each.get("format"), str)), "")
    least = next((low for each in variants if isinstance(low := each.get("minLength"), int)), 0)
    return _FORMATS.get(shape, "x" * max(1, least))


def _leads_to(prefix: str, leaf: str) -> bool:
    return leaf == prefix or leaf.startswith((f"{prefix}.", f"{prefix}[]"))


def _types(node: Mapping[str, Json]) -> list[str]:
    kind = node.get("type")
    if isinstance(kind, str):
        return [kind]
    return [each for each in kind if isinstance(each, str)] if isinstance(kind, list) else []


def _listed(node: Mapping[str, Json]) -> list[Json] | None:
    if "const" in node:
        return [node["const"]]
    values = node.get("enum")
    return [each for each in values if not isinstance(each, (dict, list))] if isinstance(values, list) else None


def _properties(node: Mapping[str, Json]) -> dict[str, Json]:
    found = node.get("properties")
    return found if isinstance(found, dict) else {}


def _required(node: Mapping[str, Json]) -> Iterator[str]:
    names = node.get("required")
    yield from (name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def _elements(node: Mapping[str, Json]) -> list[Json]:
    first, rest = node.get("prefixItems"), node.get("items")
    return [*(first if isinstance(first, list) else ()), *([rest] if isinstance(rest, dict) else ())]


def _is_container(node: Mapping[str, Json]) -> bool:
    return bool(_properties(node) or _elements(node))
