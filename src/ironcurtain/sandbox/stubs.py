"""Tools as typed Python functions: a module for each server, a function for each of its tools.

The names are made so that every tool has one and no two have the same; what a program calls is found again by it.
"""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.errors import Refusal, quote
from ironcurtain.sandbox.declarations import declaration
from ironcurtain.sandbox.shapes import AnyKeys, Either, Keys, ListOf, OneOf, Plain, keys_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from ironcurtain.model.call import Json
    from ironcurtain.sandbox.shapes import Shape

_JAVASCRIPT: Final = """
    case catch const debugger default delete do enum export extends function implements instanceof interface let new
    null package private protected public static super switch this throw true false typeof var void undefined eval
    arguments Object Function Array Number Boolean String Symbol Date Promise RegExp Error JSON Math Intl Map Set Proxy
    Reflect BigInt Iterator URL console print globalThis NaN Infinity PermissionError LookupError
"""
_RESERVED: Final = frozenset({"tools", "data", "help", "ironcurtain", *_JAVASCRIPT.split(), *sys.stdlib_module_names})
"""Names that mean something else in a program, in one language or the other."""
_MOST_TYPES: Final = 60  # of one tool; what is beyond is a plain dictionary
_LONGEST: Final = 4_000  # characters of a description
_LONGEST_STUB: Final = 60_000  # characters of one function with its types; the largest real one seen has 21,000
_PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
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
    takes = keys_of(definition.get("inputSchema"))
    types = _Types(name, taken)
    order = sorted(takes.shapes, key=lambda argument: argument not in takes.required)
    parameters: dict[str, str] = {}
    written = []
    for argument in order:
        called = _free(_identifier(argument), parameters)
        parameters[called] = argument
        default = "" if argument in takes.required else " = ..."
        written.append(f"{called}: {types.of(takes.shapes[argument], called)}{default}")
    told = definition.get("outputSchema")
    result = "str"
    if isinstance(told, dict):
        outcome = _Types(f"{name}_result", taken)
        result = outcome.of(shape_of(told), "")
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


class _Types:
    """The types of one tool's arguments, or of its result."""

    def __init__(self, name: str, taken: set[str]) -> None:
        self._name = "".join(part.capitalize() for part in name.split("_"))
        self._taken = taken
        self.written: dict[str, str] = {}
        """Types with a name of their own, in the order in which they are to be read."""

    def of(self, shape: Shape, place: str) -> str:
        """The type of a value."""
        match shape:
            case Plain(kind):
                return _PLAIN[kind]
            case OneOf(values):
                return f"Literal[{', '.join(dict.fromkeys(map(repr, values)))}]"
            case Either(shapes):
                found = list(dict.fromkeys(self.of(each, place) for each in shapes))
                return "Any" if "Any" in found or not found else " | ".join(found)
            case ListOf(inner):
                return f"list[{self.of(inner, place)}]"
            case AnyKeys(inner):
                return f"dict[str, {self.of(inner, place)}]"
            case Keys():
                return self._dictionary(shape, place)
            case _:
                return "Any"

    def _dictionary(self, keys: Keys, place: str) -> str:
        if len(self.written) >= _MOST_TYPES or not all(map(_is_key, keys.shapes)):
            return "dict[str, Any]"
        name = _free(f"{self._name}{place.title().replace('_', '')}", self._taken)
        self._taken.add(name)
        lines = [f"class {name}(TypedDict):"]
        for key, inner in keys.shapes.items():
            kind = self.of(inner, f"{place}_{key}")
            lines.append(f"    {key}: {kind if key in keys.required else f'NotRequired[{kind}]'}")
        self.written[name] = "\n".join(lines)  # behind the types that it is made of
        return name


def _is_key(key: str) -> bool:
    return key.isidentifier() and key.isascii() and not keyword.iskeyword(key)
