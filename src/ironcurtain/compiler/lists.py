"""Dynamic lists: `@contacts`, `@news-sites`.

Their values come from a file, a tool or a model; the owner's own additions and removals outlive every refresh.

INVARIANT: what a source says is data. A value that is none of the list's kind is left out and named; nothing that means
more than itself (a wildcard, another list) comes in this way.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.errors import Refusal
from ironcurtain.resolve.hosts import resolve_host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ironcurtain.artifacts.item import Item

MOST: Final = 10_000  # values of one list
LARGEST: Final = 4 << 20  # bytes of a file
SOURCES: Final = frozenset({"file", "tool", "model"})
"""What a list in the configuration that is kept up to date has one of."""
_ADDRESS: Final = re.compile(r"[^\s@,;:<>()\[\]\"\\%!]{1,64}@[A-Za-z0-9.-]{1,253}")
_IN_TEXT: Final = re.compile(r"[\w.+'-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")


@dataclass(frozen=True, slots=True)
class Source:
    """Where the values of a list come from."""

    name: str
    kind: str
    file: str = ""
    tool: str = ""
    """`server/tool`."""
    arguments: Mapping[str, Any] | None = None
    field: str = ""
    """The member of the tool's answer that holds a value; left out, everything that looks like one."""
    model: str = ""
    """Asked for the values, by `provider:name`."""
    wanted: str = ""
    """What a model is asked for, in words."""

    @property
    def says(self) -> str:
        """Where the values come from."""
        return self.file or self.tool or self.model


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a source gave."""

    source: Source
    values: tuple[str, ...]
    left_out: tuple[str, ...]


def sources_of(lists: Item | None) -> list[Source]:
    """The lists of a configuration that have a source."""
    found = []
    for name, entry in lists.entries().items() if lists is not None else ():
        if isinstance(entry.value, dict) and not entry.value.keys().isdisjoint(SOURCES):
            members = entry.members((), ("kind", "values", *SOURCES, "arguments", "field", "wanted"))
            keys = ("kind", *SOURCES, "field", "wanted")
            texts = {key: members[key].text() for key in keys if key in members}
            if len(texts.keys() & SOURCES) > 1:
                entry.fail("several sources", "name a file, a tool or a model")
            if "model" in texts and not texts.get("wanted"):
                members["model"].fail("nothing is asked of the model", 'add wanted = "what the list is of"')
            if "tool" in texts and texts["tool"].count("/") != 1:
                members["tool"].fail("no tool", "write server/tool")
            arguments: Any = members["arguments"].value if "arguments" in members else {}
            found.append(Source(name, texts.pop("kind", ""), arguments=arguments, **texts))
    return found


def fetch(source: Source, home: Path, ask: Callable[[Source], str]) -> Fetched:
    """The values of a source as they are now. `ask` gives what a tool or a model answers."""
    found = _from_file(source, home) if source.file else _from_text(ask(source), source)
    values: dict[str, None] = {}
    left_out: list[str] = []
    for value in found:
        if _is_one(value, source.kind):
            values[value] = None
        else:
            left_out.append(value)
    if len(values) > MOST:
        raise Refusal("list_too_long", f"@{source.name} would have more than {MOST} values", "name a smaller source")
    if not values:
        raise Refusal("list_empty", f"nothing was found for @{source.name}", "the values of before stay")
    return Fetched(source, tuple(values), tuple(left_out))


def refreshed(before: Mapping[str, Any], fetched: Iterable[Fetched], now: str) -> dict[str, Any]:
    """`dynamic-lists.json` with new values; what the owner added and removed stays."""
    lists = dict(before.get("lists", {}))
    for each in fetched:
        kept = {
            key: value
            for key, value in lists.get(each.source.name, {}).items()
            if key in ("manualAdditions", "manualRemovals")
        }
        kind = {"kind": each.source.kind} if each.source.kind else {}
        lists[each.source.name] = {**kind, "values": [*each.values], **kept}
    return {"version": 1, "generatedAt": now, "lists": lists}


def amended(before: Mapping[str, Any], name: str, *, add: Iterable[str], remove: Iterable[str]) -> dict[str, Any]:
    """`dynamic-lists.json` with values that the owner adds or removes by hand."""
    lists = dict(before.get("lists", {}))
    entry = dict(lists.get(name, {"values": []}))
    added, removed = dict.fromkeys(entry.get("manualAdditions", [])), dict.fromkeys(entry.get("manualRemovals", []))
    for value in add:
        removed.pop(value, None)
        added[value] = None
    for value in remove:
        added.pop(value, None)
        removed[value] = None
    entry |= {"manualAdditions": [*added], "manualRemovals": [*removed]}
    lists[name] = entry
    return {**before, "version": 1, "lists": lists}


def _from_file(source: Source, home: Path) -> Iterator[str]:
    path = home / source.file[2:] if source.file.startswith("~/") else Path(source.file)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        text = data.decode()
    except (OSError, ValueError) as error:
        raise Refusal("list_unreadable", f"{path}: {error}", "check the file") from None
    if len(data) > LARGEST:
        raise Refusal("list_too_long", f"{path} has more than {LARGEST} bytes", "name a smaller one")
    if path.suffix == ".json":
        yield from _from_text(text, source)
        return
    for line in text.splitlines():
        value = line.partition("#")[0].strip()
        if value:
            yield value


def _from_text(text: str, source: Source) -> Iterator[str]:
    """Values in JSON, or else in plain text: addresses, or a value a line."""
    try:
        answer = json.loads(text)
    except ValueError:
        yield from _in_text(text, source.kind)
        return
    yield from _members(answer, source.field) if source.field else _strings(answer, source.kind)


def _members(value: object, field: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in value.items():
            if key == field:
                yield from [member] if isinstance(member, str) else _strings(member, "")
            else:
                yield from _members(member, field)
    elif isinstance(value, list):
        for item in value:
            yield from _members(item, field)


def _strings(value: object, kind: str) -> Iterator[str]:
    if isinstance(value, str):
        yield from _in_text(value, kind)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, kind)
    elif isinstance(value, dict) and kind:
        for item in value.values():
            yield from _strings(item, kind)


def _in_text(text: str, kind: str) -> list[str]:
    if kind == "email":
        return _IN_TEXT.findall(text)
    return [line.strip() for line in text.splitlines() if line.strip()]


def _is_one(value: str, kind: str) -> bool:
    """Whether a value is of the kind, and means nothing but itself."""
    if not value.isprintable() or len(value) > 1_000 or value.startswith(("@", "*")):
        return False
    if kind == "email":
        return _ADDRESS.fullmatch(value) is not None
    if kind in ("domain", "host"):
        try:
            resolve_host(value)
        except Refusal:
            return False
        return "." in value
    return True
