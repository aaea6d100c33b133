"""Configuration files in three formats. Each is edited in its text: some entries go, others come, nothing else.

INVARIANT: an edited text is read again, and it must say what the old one said, with exactly that exchange. One that
does not is not written.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import tomlkit
import tomlkit.exceptions
import tomlkit.items
import yaml

from ironcurtain.adoption import jsonc

if TYPE_CHECKING:
    from collections.abc import Iterator

    Keys = tuple[str, ...]


class UnreadableError(ValueError):
    """A file that cannot be read, or cannot be edited without changing something else."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """In the table below these keys, the entries that go, and those that come."""

    keys: Keys
    gone: list[str]
    fresh: dict[str, Any]


class Document(Protocol):
    """One file."""

    @property
    def value(self) -> Any:  # noqa: ANN401 - whatever the file says
        """What it says."""

    def edited(self, exchange: Exchange) -> str:
        """Its text after an exchange."""


def read_document(kind: str, text: str) -> Document:
    """Read a file. Raises `UnreadableError`."""
    try:
        return _FORMATS[kind](text)
    except (ValueError, yaml.YAMLError, tomlkit.exceptions.TOMLKitError, RecursionError) as error:
        raise UnreadableError(str(error).split("\n")[0]) from None


def exchange(kind: str, text: str, exchanges: list[Exchange]) -> str:
    """The text after all these exchanges. Raises `UnreadableError` if that cannot be done without harm."""
    for each in exchanges:
        document = read_document(kind, text)
        wanted = copy.deepcopy(document.value)
        table = below(wanted, each.keys)
        for name in each.gone:
            del table[name]
        table |= each.fresh
        text = document.edited(each)
        if read_document(kind, text).value != wanted:
            raise UnreadableError("it is laid out in a way that cannot be edited safely")
    return text


def below(value: Any, keys: Keys) -> Any:  # noqa: ANN401 - whatever the file says
    """What is below these keys, or nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def tables(value: Any, candidates: tuple[Keys, ...]) -> Iterator[tuple[Keys, dict[str, Any]]]:  # noqa: ANN401 - likewise
    """The tables of servers: those at the candidates, and those of each project where a file has projects."""
    projects = below(value, ("projects",))
    inner = [("projects", name, *keys) for name in projects for keys in candidates] if _is_table(projects) else []
    for keys in (*candidates, *inner):
        table = below(value, keys)
        if _is_table(table) and table:
            yield keys, table


def _is_table(value: Any) -> bool:  # noqa: ANN401 - likewise
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)


class JsonDocument:
    """JSON, comments allowed."""

    def __init__(self, text: str) -> None:
        self._mark = "\ufeff" if text.startswith("\ufeff") else ""
        self._text = text.removeprefix("\ufeff")
        self._root = jsonc.parse(self._text) if self._text.strip() else jsonc.Node({}, 0, 0, {})
        self.value = self._root.value

    def edited(self, exchange: Exchange) -> str:
        """Its text after an exchange."""
        table = jsonc.walk(self._root, exchange.keys)
        if table is None:
            raise UnreadableError("the table is not there")
        return self._mark + jsonc.exchanged(self._text, table, exchange.gone, exchange.fresh)


class TomlDocument:
    """TOML, by a library that keeps what it does not change."""

    def __init__(self, text: str) -> None:
        self._document = tomlkit.parse(text)
        self.value = self._document.unwrap()

    def edited(self, exchange: Exchange) -> str:
        """Its text after an exchange."""
        table: Any = self._document
        for key in exchange.keys:
            table = table[key]
        for name in exchange.gone:
            table.remove(name)
        for name, entry in exchange.fresh.items():
            written = tomlkit.item(entry)
            if isinstance(written, tomlkit.items.Table):
                written.add(tomlkit.nl())
            table.append(name, written)
        return tomlkit.dumps(self._document)


class YamlDocument:
    """YAML in its usual layout: entries are found by a parser and taken out by their lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._root = yaml.compose(text, Loader=yaml.SafeLoader)
        self.value = yaml.safe_load(text)

    def edited(self, exchange: Exchange) -> str:
        """Its text after an exchange: what comes is put first in the table, and every other line stays."""
        key, table = None, self._root
        for name in exchange.keys:
            key, table = next((k, v) for k, v in table.value if k.value == name)
        if key is None:
            raise UnreadableError("the table is not there")
        lines = self._text.splitlines(keepends=True)
        end = len(lines) if table.end_mark.index >= len(self._text) else table.end_mark.line
        for name, _ in reversed(table.value):
            begin = name.start_mark.line
            if name.value in exchange.gone:
                while end > begin + 1 and _is_aside(lines[end - 1]):
                    end -= 1  # blank lines and comments belong to what follows
                del lines[begin:end]
            end = begin
        margin = " " * table.start_mark.column
        written = yaml.safe_dump(exchange.fresh, sort_keys=False).splitlines(keepends=True)
        begin = key.start_mark.line + 1
        lines[begin:begin] = [margin + line for line in written]
        return "".join(lines)


def _is_aside(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


_FORMATS: dict[str, type[JsonDocument | TomlDocument | YamlDocument]] = {
    "json": JsonDocument,
    "toml": TomlDocument,
    "yaml": YamlDocument,
}
