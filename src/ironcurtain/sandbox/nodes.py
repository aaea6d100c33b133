"""The nodes of a TypeScript program's syntax tree: what stands in one, and what it says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

IMPORT: Final = re.compile(r"(?<![A-Za-z0-9_$])(?:import|export)(?![A-Za-z0-9_$])")
"""The words for loading another text; escapes are not understood in them."""
_IMPORTING: Final = frozenset(
    {"import", "import_statement", "import_alias", "import_require_clause", "meta_property", "export_statement"}
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "\n": "", "\r\n": ""}
_CODED: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})")
_PATTERNS: Final = frozenset({"object_pattern", "array_pattern", "rest_pattern", "formal_parameters"})
_WRAPPED: Final = frozenset(
    {"parenthesized_expression", "non_null_expression", "as_expression", "satisfies_expression", "type_assertion"}
)
_NO_NAMES: Final = frozenset({"member_expression", "subscript_expression", "this", "undefined"})
_PARTS: Final = {
    "pair_pattern": "value", "assignment_pattern": "left", "object_assignment_pattern": "left",
    "required_parameter": "pattern", "optional_parameter": "pattern",
}  # fmt: skip


class UnreadableError(Exception):
    """A text of which nothing can be said."""


def parts_of(node: Node) -> list[Node]:
    """What stands in it, less what only people read."""
    return [each for each in node.named_children if each.type not in ("comment", "html_comment")]


def text_of(node: Node | None) -> str:
    """It as it is written."""
    return node.text.decode() if node is not None and node.text is not None else ""


def unescaped(sequence: str) -> str | None:
    """What an escape sequence stands for, if it is a character of its own."""
    if coded := _CODED.fullmatch(sequence):
        number = int(coded[1] or coded[2] or coded[3], 16)
        return chr(number) if number < 0xD800 or 0xDFFF < number <= 0x10FFFF else None
    after = sequence[1:]
    if after in _ESCAPES:
        return _ESCAPES[after]
    return after if len(after) == 1 and not after.isalnum() else None


def is_optional(node: Node | None) -> bool:
    """Whether it happens only if something is there."""
    while node is not None:
        if any(each.type in ("optional_chain", "?.") for each in node.children):
            return True
        node = node.child_by_field_name("function") or node.child_by_field_name("object")
    return False


def within(node: Node) -> Iterator[Node]:
    """It, and everything in it."""
    pending = [node]
    while pending:
        at = pending.pop()
        yield at
        pending += at.named_children


def imports(root: Node) -> bool:
    """Whether it loads another text."""
    return any(node.type in _IMPORTING for node in within(root))


def unwrapped(pattern: Node | None) -> Node | None:
    """What is given a value, less what is said of its type."""
    while pattern is not None and pattern.type in _WRAPPED:
        parts = parts_of(pattern)
        pattern = parts[-1 if pattern.type == "type_assertion" else 0] if parts else None
    return pattern


def names_in(pattern: Node | None) -> list[str]:
    """The variables that a pattern gives values to. Raises `UnreadableError` for what is no pattern that we know."""
    pattern = unwrapped(pattern)
    if pattern is None or pattern.type in _NO_NAMES:
        return []
    if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
        return [text_of(pattern)]
    return [name for each in _inner(pattern) for name in names_in(each)]


def owners_in(pattern: Node | None) -> list[Node]:
    """What something is put into, by a pattern."""
    pattern = unwrapped(pattern)
    if pattern is None or pattern.type in ("identifier", "shorthand_property_identifier_pattern", "this", "undefined"):
        return []
    if pattern.type in _NO_NAMES:
        return [pattern]
    return [owner for each in _inner(pattern) for owner in owners_in(each)]


def _inner(pattern: Node) -> list[Node | None]:
    if field := _PARTS.get(pattern.type):
        return [pattern.child_by_field_name(field)]
    if pattern.type not in _PATTERNS:
        raise UnreadableError(f"{pattern.type} is given a value")
    return [*parts_of(pattern)]
