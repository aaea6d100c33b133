"""Tools as typed TypeScript functions: an object for each server, a function for each tool, one object of arguments."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DEEPEST: Final = 8
_MOST_PARTS: Final = 2_000  # of the schema of one tool
_LONGEST: Final = 4_000  # characters of a description
_LONGEST_LITERAL: Final = 2_000  # characters of all the words that a value may be
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
    schema = definition.get("inputSchema")
    given = schema if isinstance(schema, dict) else {}
    types = _Types(given)
    required = given.get("required") or []
    properties = given.get("properties") or {}
    arguments = types.members(properties, required, 0) if isinstance(properties, dict) else "any"
    optional = "" if required else "?"
    told = definition.get("outputSchema")
    result = _Types(told).of(told) if isinstance(told, dict) else "string"
    said = definition.get("description")
    about = _comment(said) if isinstance(said, str) and said.strip() else ""
    if len(arguments) + len(result) > _LONGEST_FUNCTION:
        arguments, result = "any", "any"
    return f"{about}  {_key(name)}: (args{optional}: {arguments}) => {result};"


def _comment(text: str) -> str:
    return f"  /** {text[:_LONGEST].strip().replace('*/', '* /')} */\n"


def _key(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else json.dumps(name)


class _Types:
    """The types of one tool's arguments, or of its result."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._left = _MOST_PARTS

    def of(self, schema: Any, depth: int = 0) -> str:  # noqa: ANN401 - as a server wrote it
        """The type of a value. What we do not know is `any`: the tool's own schema decides in the end."""
        self._left -= 1
        if not isinstance(schema, dict) or depth > _DEEPEST or self._left < 0:
            return "any"
        if "$ref" in schema:
            return self.of(self._referred(schema["$ref"]), depth + 1)
        if isinstance(schema.get("enum"), list):
            return _literal(schema["enum"])
        if "const" in schema:
            return _literal([schema["const"]])
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                return _either(self.of(each, depth + 1) for each in schema[key])
        kind = schema.get("type")
        if isinstance(kind, list):
            return _either(self.of({**schema, "type": each}, depth + 1) for each in kind)
        if kind == "array":
            return f"({self.of(schema.get('items'), depth + 1)})[]"
        if kind == "object" or "properties" in schema:
            return self._object(schema, depth)
        return _PLAIN.get(kind, "any") if isinstance(kind, str) else "any"

    def _object(self, schema: dict[str, Any], depth: int) -> str:
        properties = schema.get("properties")
        if not isinstance(properties, dict) or not properties:
            return f"Record<string, {self.of(schema.get('additionalProperties'), depth + 1)}>"
        return self.members(properties, schema.get("required"), depth)

    def members(self, properties: dict[str, Any], required: Any, depth: int) -> str:  # noqa: ANN401 - likewise
        """An object with these members."""
        needed = required if isinstance(required, list) else []
        written = (
            f"{_key(key)}{'' if key in needed else '?'}: {self.of(value, depth + 1)}"
            for key, value in properties.items()
        )
        return "{ " + "; ".join(written) + " }" if properties else "Record<string, never>"

    def _referred(self, reference: Any) -> Any:  # noqa: ANN401 - likewise
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        at: Any = self._schema
        for part in reference[2:].split("/"):
            at = at.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(at, dict) else None
        return at


def _literal(values: list[Any]) -> str:
    plain = [each for each in values if each is None or isinstance(each, (str, int, bool))]
    if not plain or len(plain) < len(values) or len(str(values)) > _LONGEST_LITERAL:
        return "any"
    return " | ".join(dict.fromkeys(json.dumps(each) for each in plain))


def _either(types: Iterable[str]) -> str:
    found = list(dict.fromkeys(types))
    return "any" if "any" in found or not found else " | ".join(found)
