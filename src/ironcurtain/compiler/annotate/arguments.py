"""The arguments of a tool with all that its schema says of each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.text import LONGEST, clean, lexicon, words_of
from ironcurtain.wire import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_BRANCHES: Final = ("anyOf", "oneOf", "allOf", "then", "else")
_CRITERIA: Final = lexicon("criterion criteria filter condition match where")
_NUMBERS: Final = frozenset({"integer", "number"})
_NAMES_MORE: Final = re.compile(r"\b(?:file|path|director(?:y|ies)|folder|url|address)\b")
"""Said of a value that is more than true or false."""
_BARE: Final = frozenset({("id",), ("name",), ("key",), ("email",), ("address",), ("email", "address")})


@dataclass(slots=True)
class Argument:
    """One leaf."""

    leaf: str
    name: str
    """Its own name, without those above it."""
    above: tuple[str, ...]
    """The names on the way to it."""
    required: bool = False
    types: set[str] = field(default_factory=set)
    formats: set[str] = field(default_factory=set)
    enum: list[Any] = field(default_factory=list)
    defaults: list[Any] = field(default_factory=list)
    examples: list[Any] = field(default_factory=list)
    says: str = ""
    """All descriptions of it, cleaned."""
    several: bool = False
    """A list of plain values."""
    free: bool = False
    """An object without described members."""
    alone: bool = False
    """An object, or a text, may stand there by itself, and not only in a list."""

    @property
    def words(self) -> tuple[str, ...]:
        """Return its name in words; where that says little, with the name of what it belongs to."""
        own = words_of(self.name)
        own = own[:-1] if len(own) > 1 and own[-1] in "123456789" and own[-2] != "address" else own  # `image1`
        return (*words_of(self.above[-1]), *own) if self.above and own in _BARE else own

    @property
    def is_plain(self) -> bool:
        """Return whether it may be a value by itself, whatever else it may be."""
        return bool(self.types - {"object", "array", "null"})

    @property
    def is_criterion(self) -> bool:
        """Return whether it says which records are meant: it stands in a filter."""
        return any(not _CRITERIA.isdisjoint(words_of(name)) for name in self.above)

    @property
    def is_number(self) -> bool:
        """Return whether it is a number."""
        return bool(self.types) and self.types <= {*_NUMBERS, "null"}

    @property
    def holds_numbers(self) -> bool:
        """Return whether it is a number or a list of numbers."""
        return not self.types.isdisjoint(_NUMBERS) and self.types <= {*_NUMBERS, "null", "array"}

    @property
    def is_flag(self) -> bool:
        """Return whether it is true or false, perhaps written as a word; one that may name a file is none."""
        if "boolean" not in self.types or not self.types <= {"boolean", "string", "null"}:
            return False
        return "string" not in self.types or not _NAMES_MORE.search(self.says)


def arguments_of(definition: Mapping[str, Any]) -> dict[str, Argument]:
    """Return every leaf of a definition's schema; none if the schema is not admitted: the tool cannot be called."""
    try:
        leaves = schema.admit(definition).leaves
    except ValueError:
        return {}
    walk = _Walk(definition["inputSchema"])
    walk.below(walk.root, "", (), required=True)
    for name, text in _documented(definition.get("description")):
        if name in walk.found and text not in walk.found[name].says:
            walk.found[name].says = f"{walk.found[name].says} {text}".strip()
    silent = [name for name, argument in walk.found.items() if not argument.says and not argument.above]
    for name, text in _mentioned(definition.get("description"), silent):
        walk.found[name].says = f"{walk.found[name].says} {text}".strip()
    return {leaf: walk.found.get(leaf) or Argument(leaf, leaf.rpartition(".")[2], ()) for leaf in leaves}


_SECTION: Final = re.compile(
    r"^[ \t]*(?:args|arguments|parameters|params|inputs?)[ \t]*:?[ \t]*$", re.IGNORECASE | re.MULTILINE
)
_ENTRY: Final = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?[`*]*(\w+)[`*]*[ \t]*(?:\([^)\n]*\))?[ \t]*(?::|--| - )[ \t]*(\S[^\n]*)$", re.MULTILINE
)

_BULLET: Final = re.compile(
    r"^[ \t]*[-*][ \t]+[`*]*(\w+)[`*]*[ \t]*(?:\([^)\n]*\))?[ \t]*:[ \t]*"
    r"(\S[^\n]*(?:\n[ \t]{2,}(?![-*\s])[^\n]+){0,4})",
    re.MULTILINE,
)


def _documented(description: object) -> Iterator[tuple[str, str]]:
    """What a tool's own description says of its arguments, as docstrings do: `path: Where to look`."""
    if not isinstance(description, str):
        return
    for entry in _BULLET.finditer(description[: 4 * LONGEST]):
        yield entry[1], clean(entry[2])
    for section in _SECTION.finditer(description[: 4 * LONGEST]):
        rest = description[section.end() : 4 * LONGEST]
        end = re.search(
            r"^[ \t]*(?:returns?|raises|examples?|notes?|yields)[ \t]*:", rest, re.IGNORECASE | re.MULTILINE
        )
        for entry in _ENTRY.finditer(rest[: end.start()] if end else rest):
            yield entry[1], clean(entry[2])


def _mentioned(description: object, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what the sentences of a tool's description say of arguments that have no description of their own.

    The forms are `mask (path of a shapefile)`, `mask=<path>` and, with quotes around the name, `mask` is a path, or: a
    path. A quoted name before a value is part of an example and describes nothing.
    """
    if not isinstance(description, str) or not names:
        return
    name = f"({'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})"
    text = description[: 4 * LONGEST]
    quoted = rf"[`'\"]{name}[`'\"](?!\s*:\s*[\"\[{{\d])"
    says = r"(?:\s+(?:is|are|means)\s+|\s*[:=\u2013\u2014]\s*|\s+-\s+|\s+\()"
    to_the_end = r"((?:[^.;\n]|\.(?!\s|$)|\n(?!\s*\n))+)"
    for form in (
        rf"(?<![\w.`'\"]){name} \(([^()\n]+(?:\([^()\n]*\)[^()\n]*)*)\)",
        rf"(?<![\w.]){name}=<([^<>\n]+)>",
        f"{quoted}{says}{to_the_end}",
    ):
        for found in re.finditer(form, text):
            yield found[1], clean(found[2])


class _Walk:
    """Through a schema that was admitted: it is finite and closed."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.found: dict[str, Argument] = {}

    def below(self, node: object, prefix: str, above: tuple[str, ...], *, required: bool) -> None:
        """Note everything below a node."""
        variants = list(self._variants(node))
        needed = {name for variant in variants for name in _listed(variant.get("required"))}
        for variant in variants:
            properties = variant.get("properties")
            for name, child in properties.items() if isinstance(properties, dict) else ():
                leaf, must = f"{prefix}.{name}" if prefix else name, required and name in needed
                self._note(child, leaf, above, required=must)
                self.below(child, leaf, (*above, name), required=must)
            inner = self._variants(variant.get("items"))
            if prefix and any(item.get("properties") or isinstance(item.get("items"), dict) for item in inner):
                self.below(variant.get("items"), f"{prefix}[]", above, required=required)

    def _note(self, node: object, leaf: str, above: tuple[str, ...], *, required: bool) -> None:
        argument = self.found.setdefault(leaf, Argument(leaf, leaf.rpartition(".")[2], above))
        argument.required = argument.required or required
        texts = [argument.says]
        for variant in self._variants(node):
            texts.append(_take(argument, variant) or _title(argument, variant))
            argument.alone |= any(
                kind in ("object", "string") for kind in (variant.get("type"), *_listed(variant.get("type")))
            )
            for item in self._variants(variant.get("items")):
                argument.several |= item.get("type") != "array"
                texts.append(_take(argument, item))
        argument.says = " ".join(dict.fromkeys(text for text in texts if text))

    def _variants(self, node: object) -> Iterator[dict[str, Any]]:
        """The node itself, what it refers to, and every branch of it."""
        if not isinstance(node, dict):
            return
        yield node
        if isinstance(reference := node.get("$ref"), str):
            target: Any = self.root
            for step in reference[2:].split("/"):
                target = target[step.replace("~1", "/").replace("~0", "~")]
            yield from self._variants(target)
        for keyword in _BRANCHES:
            for branch in _listed(node.get(keyword)):
                yield from self._variants(branch)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def _title(argument: Argument, variant: Mapping[str, Any]) -> str:
    """Return the title of an argument, unless it is only its name again, as libraries write it."""
    title = variant.get("title")
    return "" if isinstance(title, str) and words_of(title) == words_of(argument.name) else clean(title)


def _take(argument: Argument, variant: Mapping[str, Any]) -> str:
    """Take over what a variant says of an argument; what it says in words comes back."""
    kind = variant.get("type")
    argument.types.update(word for word in (kind, *_listed(kind)) if isinstance(word, str))
    argument.free = argument.free or ("object" in argument.types and not variant.get("properties") and kind == "object")
    if isinstance(variant.get("format"), str):
        argument.formats.add(variant["format"])
    argument.enum += [*_listed(variant.get("enum")), *([variant["const"]] if "const" in variant else [])]
    argument.defaults += [variant["default"]] if variant.get("default") is not None else []
    argument.examples += _listed(variant.get("examples"))
    return clean(variant.get("description"))
