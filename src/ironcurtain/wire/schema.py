"""A tool's pinned schema: admitted once, then used to fill in defaults and to validate.

Definitions come from servers we do not trust. A schema is admitted if it is closed in itself (no reference leads
outside or back to itself), small, and compiles with regular expressions that cannot blow up. Otherwise the tool is
unusable.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import jsonschema_rs

from ironcurtain.errors import Refusal, quote
from ironcurtain.model.call import is_empty
from ironcurtain.wire import strict_json
from ironcurtain.wire.limits import MAX_DEFINITION, MAX_FILLED, MAX_SCHEMA_DEPTH, MAX_SUBSCHEMAS, MAX_TRIED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ironcurtain.model.call import Arguments, Json

_REGEX: Final = jsonschema_rs.FancyRegexOptions(
    backtrack_limit=10_000,  # steps; beyond it the text does not match, in microseconds
    size_limit=1 << 20,
    dfa_size_limit=1 << 20,
)
_BRANCHES: Final = ("anyOf", "oneOf", "allOf")
_MAPS: Final = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
_DATA: Final = frozenset({"enum", "const", "default", "examples", "example"})


@dataclass(frozen=True, slots=True)
class Leaf:
    """One argument of a schema. `required` holds if the leaf and everything on the way to it is."""

    name: str
    required: bool
    defaulted: bool = False
    """Left out or empty, it may stand for a default."""
    free: bool = True
    """An object may stand there whose members the schema does not describe."""


@dataclass(frozen=True, slots=True)
class Schema:
    """An admitted input schema."""

    leaves: Mapping[str, Leaf]
    _defaults: _Defaults | None
    _validator: jsonschema_rs.Validator
    _branches: int
    """In all: each may be tried on each value."""

    def fill_defaults(self, arguments: Arguments) -> Arguments:
        """The arguments with the schema's defaults where an argument is left out. A default of `null` is no default."""
        filled = self._defaults.fill(arguments) if self._defaults else arguments
        return filled if isinstance(filled, dict) else arguments

    def validate(self, arguments: Arguments) -> None:
        """Refuse arguments that do not satisfy the schema. What they are is not said: it may be a secret."""
        if self._branches * _values(arguments) > MAX_TRIED:
            raise Refusal("arguments_invalid", "more values than can be compared with such a schema", "say it in fewer")
        try:
            self._validator.validate(arguments)
        except jsonschema_rs.ValidationError as error:
            where = quote(".".join(str(step) for step in error.instance_path) or "arguments")[1:-1]
            message = quote(error.message)[1:-1]
            raise Refusal("arguments_invalid", f"{where}: {message}", "see the tool's inputSchema") from None


def admit(definition: Mapping[str, Json]) -> Schema:
    """Admit the input schema of a tool definition, or say in a `ValueError` why the tool is unusable."""
    root = definition.get("inputSchema")
    if not isinstance(root, dict):
        raise ValueError("it has no inputSchema")
    if len(strict_json.canonical(dict(definition))) > MAX_DEFINITION:
        raise ValueError(f"it is larger than {MAX_DEFINITION} bytes")
    branches = _require_closed_and_small(root)
    try:
        validator = _compile(root)
        defaults = _defaults(root, root)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise ValueError(str(error).splitlines()[0]) from None
    leaves: dict[str, Leaf] = {}
    for leaf in _leaves(root, root, "", required=True):
        known = leaves.get(leaf.name, leaf)
        leaves[leaf.name] = Leaf(
            leaf.name, leaf.required or known.required, leaf.defaulted or known.defaulted, leaf.free or known.free
        )
    with_default = tuple(name for name, leaf in leaves.items() if leaf.defaulted)
    below = {name for name in leaves for above in with_default if name.startswith((f"{above}.", f"{above}[]"))}
    for name in below:  # also where the default and what it is for stand in different branches
        leaves[name] = replace(leaves[name], defaulted=True)
    return Schema(leaves, defaults, validator, branches)


def _values(value: Json) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_values, inner))


def _require_closed_and_small(root: dict[str, Json]) -> int:
    """Says how many branches it has."""
    count = branches = 0
    pending: list[tuple[Json, int, tuple[str, ...]]] = [(root, 0, ())]
    while pending:
        node, depth, references = pending.pop()
        if isinstance(node, list):
            pending.extend((item, depth + 1, references) for item in node)
        if not isinstance(node, dict):
            continue
        count += 1
        if count > MAX_SUBSCHEMAS or depth > MAX_SCHEMA_DEPTH:
            raise ValueError("its schema is too large or too deep")
        for keyword in ("$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor"):
            if isinstance(node.get(keyword), str):
                raise ValueError(f"its schema uses {keyword}")
        reference = node.get("$ref")
        if isinstance(reference, str):
            if reference in references:
                raise ValueError("its schema refers to itself")
            pending.append((_target(root, reference), depth + 1, (*references, reference)))
        for keyword, child in node.items():
            if keyword in _MAPS and isinstance(child, dict):  # its keys are names, whatever they look like
                pending.extend((schema, depth + 2, references) for schema in child.values())
            elif keyword not in _DATA:
                branches += len(child) if keyword in _BRANCHES and isinstance(child, list) else 0
                pending.append((child, depth + 1, references))
    return branches


def _target(root: Mapping[str, Json], reference: str) -> dict[str, Json]:
    """What a reference leads to, one step on. Only `#/...` stays inside the schema."""
    if not reference.startswith("#/"):
        raise ValueError("its schema refers to something outside itself or to itself")
    target: Json = dict(root)
    for step in reference[2:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(target, dict) or key not in target:
            raise ValueError(f"its schema refers to {quote(reference)}, which it does not have")
        target = target[key]
    if not isinstance(target, dict):
        raise ValueError("its schema refers to something that is no schema")
    return target


def variants_of(root: Mapping[str, Json], node: Json) -> Iterator[dict[str, Json]]:
    """The node itself, what it refers to and every branch of it; admission has shown that references end."""
    if not isinstance(node, dict):
        return
    yield node
    if isinstance(reference := node.get("$ref"), str):
        yield from variants_of(root, _target(root, reference))
    for keyword in _BRANCHES:
        branches = node.get(keyword)
        for branch in branches if isinstance(branches, list) else ():
            yield from variants_of(root, branch)


def _possible(root: Mapping[str, Json], node: Json) -> Iterator[dict[str, Json]]:
    """The variants, and what holds only under a condition: it may have defaults, which are not ours to insert."""
    for variant in variants_of(root, node):
        yield variant
        dependent = variant.get("dependentSchemas")
        below = dependent.values() if isinstance(dependent, dict) else ()
        for branch in (variant.get("then"), variant.get("else"), *below):
            yield from _possible(root, branch)


def _leaves(
    root: Mapping[str, Json], node: Json, prefix: str, *, required: bool, defaulted: bool = False
) -> Iterator[Leaf]:
    """Every leaf below a node: `name`, `object.child`, `list[].child`; a list of plain values is the plain name.

    What has a default has one for everything in it.
    """
    found = False
    variants = list(_possible(root, node))
    defaulted = defaulted or any(not is_empty(variant.get("default")) for variant in variants)
    needed = {name for variant in variants for name in _names(variant.get("required"))}
    for variant in variants:
        properties = variant.get("properties")
        if isinstance(properties, dict) and properties:
            found = True
            for name, child in properties.items():
                must = required and name in needed
                below_it = f"{prefix}.{name}" if prefix else name
                yield from _leaves(root, child, below_it, required=must, defaulted=defaulted)
        elif prefix and (elements := _elements(variant)):
            below = [
                leaf
                for element in elements
                for leaf in _leaves(root, element, prefix + "[]", required=required, defaulted=defaulted)
            ]
            if {leaf.name for leaf in below} != {prefix + "[]"}:
                found = True
                yield from below
        elif prefix and _is_plain(variant):
            yield Leaf(prefix, required, defaulted, _holds_objects(root, variant))
    if prefix and not found:
        yield Leaf(prefix, required, defaulted, _holds_objects(root, node))


def _names(value: Json) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _elements(variant: Mapping[str, Json]) -> list[Json]:
    """The schemas of a list's elements."""
    first, rest = variant.get("prefixItems"), variant.get("items")
    return [*(first if isinstance(first, list) else ()), *([rest] if isinstance(rest, dict) else ())]


def _is_plain(variant: Mapping[str, Json]) -> bool:
    kind = variant.get("type")
    return kind is not None and kind != "null"


def _holds_objects(root: Mapping[str, Json], node: Json) -> bool:
    """Whether an object may stand there, or in the list that may."""
    for variant in _possible(root, node):
        if variant.keys() & {"$ref", "enum", "const", *_BRANCHES}:
            continue
        kind, elements = variant.get("type"), _elements(variant)
        kinds = kind if isinstance(kind, list) else [kind]
        if "object" in kinds or None in kinds or ("array" in kinds and not elements):
            return True
        if any(_holds_objects(root, element) for element in elements):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Defaults:
    """Where the schema has defaults: for each property its own, if any, and those below it."""

    properties: Mapping[str, tuple[tuple[Json, ...], _Defaults | None]]
    items: _Defaults | None

    def fill(self, value: Json) -> Json:
        """A copy of the value with the defaults put in."""
        if isinstance(value, list):
            if self.items and len(value) > MAX_FILLED:
                raise Refusal("arguments_invalid", f"a list of more than {MAX_FILLED} elements that have defaults")
            return [self.items.fill(item) for item in value] if self.items else value
        if not isinstance(value, dict):
            return value
        filled = dict(value)
        for name, (default, below) in self.properties.items():
            if name not in filled and default:
                filled[name] = copy.deepcopy(default[0])
            if name in filled and below:
                filled[name] = below.fill(filled[name])
        return filled


def _defaults(root: Mapping[str, Json], node: Json) -> _Defaults | None:
    found: dict[str, tuple[tuple[Json, ...], _Defaults | None]] = {}
    items: _Defaults | None = None
    for variant in variants_of(root, node):
        properties = variant.get("properties")
        for name, child in properties.items() if isinstance(properties, dict) else ():
            own, below = _own_default(root, child), _defaults(root, child)
            if (own or below) and name not in found:
                found[name] = (own, below)
        items = items or _defaults(root, variant.get("items"))
    return _Defaults(found, items) if found or items else None


def _own_default(root: Mapping[str, Json], child: Json) -> tuple[Json, ...]:
    """The default of a property, if the property accepts it: many declare `null` for what must be a string."""
    if not isinstance(child, dict):
        return ()
    default = next((item["default"] for item in variants_of(root, child) if item.get("default") is not None), None)
    if default is None:
        return ()
    return (default,) if accepts(child, root, default) else ()


def accepts(schema: dict[str, Json], root: Mapping[str, Json], value: Json) -> bool:
    """Whether a part of an admitted schema accepts a value."""
    shared = {key: root[key] for key in ("$defs", "definitions", "$schema") if key in root}
    return _compile({**schema, **shared}).is_valid(value)


def _compile(schema: dict[str, Json]) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(
        schema, pattern_options=_REGEX, validate_formats=False, offline=True, mask="what was given"
    )
