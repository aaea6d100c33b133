"""JSON with comments, edited member by member, so that nothing else in the file changes.

Clients write their files by hand and by machine: with comments, trailing commas, in any order. A parser that reads and
writes again would lose that.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE: Final = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_WORD: Final = re.compile(r"[-+.0-9A-Za-z]+")
_MARGIN: Final = re.compile(r"^([ \t]+)[^\s/*]", re.MULTILINE)
_WORDS: Final = re.compile(r'\[\n(?:[ \t]*"(?:[^"\\]|\\.)*",?\n)+[ \t]*\]')
_DEEPEST: Final = 100


class NotJsonError(ValueError):
    """The text is not JSON, comments allowed."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value, and where its text begins and ends."""

    value: Any
    begin: int
    end: int
    members: dict[str, Member] | None = None
    """If it is an object."""


@dataclass(frozen=True, slots=True)
class Member:
    """A name with its value, and where the comma behind it is, if there is one."""

    begin: int
    node: Node
    comma: int | None


def parse(text: str) -> Node:
    """The whole document."""
    reader = _Reader(text)
    node = reader.value(0)
    reader.skip()
    if reader.at != len(reader.text):
        raise NotJsonError(f"something follows at character {reader.at}")
    return node


def walk(node: Node, keys: tuple[str, ...]) -> Node | None:
    """The value below these keys."""
    for key in keys:
        if node.members is None or key not in node.members:
            return None
        node = node.members[key].node
    return node


def exchanged(text: str, table: Node, gone: list[str], fresh: dict[str, Any]) -> str:
    """The text with new members in the place of the first that goes, and without the others that go."""
    members = table.members or {}
    order = list(members)
    first, *rest = [key for key in order if key in gone]
    place = members[first]
    edits = [(place.begin, place.node.end, _written(text, place.begin, fresh))]
    for key in rest:
        member = members[key]
        end = member.node.end if member.comma is None else member.comma + 1
        edits.append((*_with_its_line(text, member.begin, end), ""))
    if rest and members[rest[-1]].comma is None and rest[-1] == order[-1]:
        # The last member goes, and no comma follows the one that is last then.
        comma = members[next(key for key in reversed(order) if key not in rest)].comma
        if comma is not None:
            edits.append((comma, comma + 1, ""))
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def _written(text: str, begin: int, fresh: dict[str, Any]) -> str:
    """Members, indented like the one whose place they take."""
    line = text[text.rfind("\n", 0, begin) + 1 : begin]
    margin = line if line.isspace() else ""
    first = _MARGIN.search(text)
    step = first.group(1) if first and margin else None
    members = [f"{json.dumps(name)}: {_laid_out(entry, step)}" for name, entry in fresh.items()]
    return (",\n" if margin else ", ").join(members).replace("\n", "\n" + margin)


def _laid_out(entry: Any, step: str | None) -> str:  # noqa: ANN401 - a client's own
    """As people write it: one member a line, and a list of words on one."""
    text = json.dumps(entry, indent=step, ensure_ascii=False)
    return _WORDS.sub(lambda found: json.dumps(json.loads(found.group()), ensure_ascii=False), text)


def _with_its_line(text: str, begin: int, end: int) -> tuple[int, int]:
    """From the end of the line before to the end of its own, where nothing else stands on them."""
    before = begin - len(text[:begin]) + len(text[:begin].rstrip(" \t"))
    after = end + len(text[end:]) - len(text[end:].lstrip(" \t"))
    if text[before - 1 : before] == "\n" and text[after : after + 1] in ("\n", "\r", ""):
        return before - 1, after
    return begin, end


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def value(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise NotJsonError("nested too deeply")
        self.skip()
        begin = self.at
        char = self.text[begin : begin + 1]
        if char == "{":
            members = dict(self._members(depth))
            return Node({key: member.node.value for key, member in members.items()}, begin, self.at, members)
        if char == "[":
            items = list(self._items(depth))
            return Node([node.value for node in items], begin, self.at)
        found = (_STRING if char == '"' else _WORD).match(self.text, begin)
        if found is None:
            raise NotJsonError(f"a value is expected at character {begin}")
        self.at = found.end()
        try:
            return Node(json.loads(found.group()), begin, self.at)
        except ValueError:
            raise NotJsonError(f"not a value at character {begin}") from None

    def _members(self, depth: int) -> Iterator[tuple[str, Member]]:
        seen = set()
        self.at += 1
        while not self._closed("}"):
            name = self.value(depth + 1)
            if not isinstance(name.value, str) or name.value in seen:
                raise NotJsonError(f"not a new name at character {name.begin}")
            seen.add(name.value)
            self._expect(":")
            node = self.value(depth + 1)
            yield name.value, Member(name.begin, node, self._comma("}"))

    def _items(self, depth: int) -> Iterator[Node]:
        self.at += 1
        while not self._closed("]"):
            yield self.value(depth + 1)
            self._comma("]")

    def _closed(self, bracket: str) -> bool:
        self.skip()
        if self.text[self.at : self.at + 1] == bracket:
            self.at += 1
            return True
        return False

    def _comma(self, bracket: str) -> int | None:
        self.skip()
        if self.text[self.at : self.at + 1] == bracket:
            return None
        self._expect(",")
        return self.at - 1

    def _expect(self, char: str) -> None:
        self.skip()
        if self.text[self.at : self.at + 1] != char:
            raise NotJsonError(f"{char!r} is expected at character {self.at}")
        self.at += 1
