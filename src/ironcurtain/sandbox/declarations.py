"""Tools as typed TypeScript functions: an object for each server, a function for each tool, one object of arguments."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.sandbox.shapes import AnyKeys, Either, Keys, ListOf, OneOf, Plain, keys_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.sandbox.shapes import Shape

_LONGEST: Final = 4_000  # characters of a description
_LONGEST_FUNCTION: Final = 60_000  # characters of one with its types
_PLAIN: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")

PRELUDE: Final = """\
declare class PermissionError extends Error {}
declare class LookupError extends Error {}
declare const data: any;
declare function print(...values: unknown[]): void;
declare function help(what: string): string;
declare const console: { log(...values: unknown[]): void; info(...values: unknown[]): void; warn(...values: unknown[]):\
 void; error(...values: unknown[]): void; debug(...values: unknown[]): void };
declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare const tools: { search(words: string, most?: number): string[]; interfaces(server: string): string;\
 servers(): string[] };
"""
"""What every program finds besides the language and its servers."""


def declaration(name: str, functions: Mapping[str, Mapping[str, Any]]) -> str:
    """One server. `functions` are the definitions of its tools, by their names in a program."""
    members = "\n".join(_function(called, definition) for called, definition in functions.items())
    return f"declare const {name}: {{\n{members}\n}};\n"


def _function(name: str, definition: Mapping[str, Any]) -> str:
    takes = keys_of(definition.get("inputSchema"))
    arguments = _written(takes) if takes.shapes else "Record<string, never>"
    optional = "" if takes.required else "?"
    told = definition.get("outputSchema")
    result = _written(shape_of(told)) if isinstance(told, dict) else "string"
    said = definition.get("description")
    about = _comment(said) if isinstance(said, str) and said.strip() else ""
    if len(arguments) + len(result) > _LONGEST_FUNCTION:
        arguments, result = "any", "any"
    return f"{about}  {_key(name)}: (args{optional}: {arguments}) => {result};"


def _comment(text: str) -> str:
    return f"  /** {text[:_LONGEST].strip().replace('*/', '* /')} */\n"


def _key(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else json.dumps(name)


def _written(shape: Shape) -> str:
    """The type of a value."""
    match shape:
        case Plain(kind):
            return _PLAIN[kind]
        case OneOf(values):
            return " | ".join(dict.fromkeys(json.dumps(each) for each in values))
        case Either(shapes):
            found = list(dict.fromkeys(map(_written, shapes)))
            return "any" if "any" in found or not found else " | ".join(found)
        case ListOf(inner):
            return f"({_written(inner)})[]"
        case AnyKeys(inner):
            return f"Record<string, {_written(inner)}>"
        case Keys(shapes, required):
            members = (f"{_key(key)}{'' if key in required else '?'}: {_written(each)}" for key, each in shapes.items())
            return "{ " + "; ".join(members) + " }"
        case _:
            return "any"
