"""Tools as typed Python functions: a module for each server, a function for each of its tools.

The names are made so that every tool has one and no two have the same; what a program calls is found again by it.
"""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.errors import Refusal, quote
from ironcurtain.sandbox.declarations import declaration

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from ironcurtain.model.call import Json

_JAVASCRIPT: Final = """
    case catch const debugger default delete do enum export extends function implements instanceof interface let new
    null package private protected public static super switch this throw true false typeof var void undefined eval
    arguments Object Function Array Number Boolean String Symbol Date Promise RegExp Error JSON Math Intl Map Set Proxy
    Reflect BigInt Iterator URL console print globalThis NaN Infinity PermissionError LookupError
"""
_RESERVED: Final = frozenset({"tools", "data", "help", "ironcurtain", *_JAVASCRIPT.split(), *sys.stdlib_module_names})
"""Names that mean something else in a program, in one language or the other."""
_DEEPEST: Final = 8
_MOST_PARTS: Final = 2_000  # of the schema of one tool, each counted as often as it is referred to
_MOST_TYPES: Final = 60  # of one tool; what is beyond is a plain dictionary
_LONGEST: Final = 4_000  # characters of a description
_LONGEST_LITERAL: Final = 2_000  # characters of all the words that a value may be
_LONGEST_STUB: Final = 60_000  # characters of one function with its types; the largest real one seen has 21,000
_HEAD: Final = "from typing import Any, Literal, NotRequired, TypedDict\n"


@dataclass(frozen=True, slots=True)
class Function:
    """A tool as a function."""

    server: str
    tool: str
    name: str
    parameters: Mapping[str, str]
    """The names in the program, in order, and the arguments that they stand for."""
    stub: str
    about: str
    structured: bool
    """It says what its result looks like, and answers in that shape."""
    definition: Mapping[str, Json]

    def arguments(self, args: Sequence[Json], kwargs: Mapping[str, Json]) -> dict[str, Json]:
        """The arguments of the tool, for a call as it stands in the program."""
        if len(args) > len(self.parameters):
            raise Refusal("code_arguments", f"{self.name} takes at most {len(self.parameters)} arguments")
        found = dict(zip(self.parameters.values(), args, strict=False))
        for name, value in kwargs.items():
            argument = self.parameters.get(name)
            if argument is None:
                raise Refusal("code_arguments", f"{self.name} has no argument {quote(name)}")
            if argument in found:
                raise Refusal("code_arguments", f"{self.name} got {quote(name)} twice")
            found[argument] = value
        return found


@dataclass(frozen=True, slots=True)
class Module:
    """A server as a module."""

    name: str
    server: str
    functions: Mapping[str, Function] = field(default_factory=dict)

    @property
    def stub(self) -> str:
        """What the type checker reads, and whoever asks for the interface."""
        return _HEAD + "\n\n".join(function.stub for function in self.functions.values()) + "\n"

    @property
    def declaration(self) -> str:
        """The same for TypeScript."""
        return declaration(self.name, {name: function.definition for name, function in self.functions.items()})


def modules_of(tools: Iterable[tuple[str, str, Mapping[str, Json]]]) -> dict[str, Module]:
    """The modules of all tools, each given with its server, its name and its definition; by name."""
    by_server: dict[str, list[tuple[str, Mapping[str, Json]]]] = {}
    for server, tool, definition in tools:
        by_server.setdefault(server, []).append((tool, definition))
    found: dict[str, Module] = {}
    for server in sorted(by_server):
        name = _free(_module_name(server), found)
        functions: dict[str, Function] = {}
        types: set[str] = set()
        for tool, definition in sorted(by_server[server], key=lambda pair: pair[0]):
            called = _free(_identifier(tool), functions)
            functions[called] = _function(server, tool, called, definition, types)
        found[name] = Module(name, server, functions)
    return found


def _module_name(server: str) -> str:
    name = _identifier(server)
    return f"{name}_server" if name in _RESERVED else name


def _identifier(text: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") or "unnamed"
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if keyword.iskeyword(name) or name in ("None", "True", "False") else name


def _free(name: str, taken: Container[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free = f"{name}_{number}"
        number += 1
    return free


def _function(server: str, tool: str, name: str, definition: Mapping[str, Json], taken: set[str]) -> Function:
    schema = _object(definition.get("inputSchema"))
    types = _Types(name, schema, taken)
    properties = _object(schema.get("properties"))
    listed = schema.get("required")
    required = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
    order = sorted(properties, key=lambda argument: argument not in required)
    parameters: dict[str, str] = {}
    written = []
    for argument in order:
        called = _free(_identifier(argument), parameters)
        parameters[called] = argument
        default = "" if argument in required else " = ..."
        written.append(f"{called}: {types.of(properties[argument], called)}{default}")
    told = definition.get("outputSchema")
    result = "str"
    if isinstance(told, dict):
        outcome = _Types(f"{name}_result", told, taken)
        result = outcome.of(told, "")
        types.written.update(outcome.written)
    said = definition.get("description")
    about = said if isinstance(said, str) else ""
    doc = _docstring(about)
    stub = "\n".join([*types.written.values(), f"def {name}({', '.join(written)}) -> {result}:", *doc, "    ..."])
    if len(stub) > _LONGEST_STUB:
        stub = "\n".join([f"def {name}(**arguments: Any) -> Any:", *doc, "    ..."])
    return Function(server, tool, name, parameters, stub, about, isinstance(told, dict), definition)


def _docstring(text: str) -> list[str]:
    plain = text[:_LONGEST].strip().replace("\\", "\\\\").replace('"""', "'''")
    closed = f"{plain} " if plain.endswith('"') else plain
    return [f'    """{closed}"""'] if plain else []


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401 - as a server wrote it
    return value if isinstance(value, dict) else {}


class _Types:
    """The types of one tool's arguments, or of its result."""

    def __init__(self, name: str, schema: dict[str, Any], taken: set[str]) -> None:
        self._name = "".join(part.capitalize() for part in name.split("_"))
        self._schema = schema
        self._taken = taken
        self._left = _MOST_PARTS
        self.written: dict[str, str] = {}
        """Types with a name of their own, in the order in which they are to be read."""

    def of(self, schema: Any, place: str, depth: int = 0) -> str:  # noqa: ANN401 - as a server wrote it
        """The type of a value. What we do not know is `Any`: the tool's own schema decides in the end."""
        self._left -= 1
        if not isinstance(schema, dict) or depth > _DEEPEST or self._left < 0:
            return "Any"
        if "$ref" in schema:
            return self.of(self._referred(schema["$ref"]), place, depth + 1)
        if isinstance(schema.get("enum"), list):
            return _literal(schema["enum"])
        if "const" in schema:
            return _literal([schema["const"]])
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                return _either(self.of(each, place, depth + 1) for each in schema[key])
        kind = schema.get("type")
        if isinstance(kind, list):
            return _either(self.of({**schema, "type": each}, place, depth + 1) for each in kind)
        if kind == "array":
            return f"list[{self.of(schema.get('items'), place, depth + 1)}]"
        if kind == "object" or "properties" in schema:
            return self._dictionary(schema, place, depth)
        plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
        return plain.get(kind, "Any") if isinstance(kind, str) else "Any"

    def _dictionary(self, schema: dict[str, Any], place: str, depth: int) -> str:
        properties = _object(schema.get("properties"))
        if not properties:
            return f"dict[str, {self.of(schema.get('additionalProperties'), place, depth + 1)}]"
        if len(self.written) >= _MOST_TYPES or not all(map(_is_key, properties)):
            return "dict[str, Any]"
        name = _free(f"{self._name}{place.title().replace('_', '')}", self._taken)
        self._taken.add(name)
        listed = schema.get("required")
        required = listed if isinstance(listed, list) else []
        lines = [f"class {name}(TypedDict):"]
        for key, value in properties.items():
            kind = self.of(value, f"{place}_{key}", depth + 1)
            lines.append(f"    {key}: {kind if key in required else f'NotRequired[{kind}]'}")
        self.written[name] = "\n".join(lines)  # behind the types that it is made of
        return name

    def _referred(self, reference: Any) -> Any:  # noqa: ANN401 - as a server wrote it
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        at: Any = self._schema
        for part in reference[2:].split("/"):
            at = _object(at).get(part.replace("~1", "/").replace("~0", "~"))
        return at


def _is_key(key: str) -> bool:
    return key.isidentifier() and key.isascii() and not keyword.iskeyword(key)


def _literal(values: list[Any]) -> str:
    plain = [each for each in values if each is None or isinstance(each, (str, int, bool))]
    if not plain or len(plain) < len(values) or len(str(values)) > _LONGEST_LITERAL:
        return "Any"
    return f"Literal[{', '.join(dict.fromkeys(map(repr, plain)))}]"


def _either(types: Iterable[str]) -> str:
    found = list(dict.fromkeys(types))
    return "Any" if "Any" in found or not found else " | ".join(found)
