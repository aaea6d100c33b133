"""Finds servers in clients' files, moves them behind the gateway, and puts them back.

The order of a move is such that a machine that stops anywhere leaves something that works and can be undone: first the
bytes of every file as they were, with a list of what will change; then our own files; the clients' files last.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.adoption.clients import places
from ironcurtain.adoption.documents import Exchange, UnreadableError, below, exchange, read_document, tables
from ironcurtain.adoption.entries import PLACES, CannotMoveError, Converted, convert, is_another, is_ours
from ironcurtain.artifacts.files import write_artifact
from ironcurtain.artifacts.servers import (
    Credentials,
    read_credentials,
    read_entries,
    read_servers,
    write_credentials,
    write_servers,
)
from ironcurtain.artifacts.state import Approved, approve_server
from ironcurtain.errors import visible
from ironcurtain.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ironcurtain.adoption.clients import Place
    from ironcurtain.artifacts.home import Home

OUR_NAME: Final = "ironcurtain"
_MOST_SERVERS: Final = 200  # in one file
_LARGEST: Final = 16 * 1024 * 1024  # bytes of a client's file; some keep their history in it


@dataclass(frozen=True, slots=True)
class Found:
    """One server in one client's file. It can be moved, or there is a reason why not."""

    place: Place
    keys: tuple[str, ...]
    name: str
    raw: Any
    converted: Converted | None = None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A client's file that we leave alone."""

    place: Place
    why: str


@dataclass(frozen=True, slots=True)
class Change:
    """One file, before and after."""

    path: Path
    real: str
    """Where the file really is."""
    format: str
    before: bytes
    after: bytes
    back: list[Exchange]
    """What undoes it in a file that has changed since."""


@dataclass(slots=True)
class Plan:
    """Everything a move would do."""

    moved: list[tuple[Found, str]] = field(default_factory=list)
    """Each with the name it gets here."""
    stays: list[Found] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)

    @property
    def secrets(self) -> set[str]:
        """What must not be shown."""
        return {secret for item, _ in self.moved if item.converted for secret in item.converted.secrets}


def look(
    owner: Path, projects: tuple[Path, ...], variables: Mapping[str, str], program: list[str], home: Path
) -> Iterator[Found | Unreadable]:
    """Every server in every client's file, except our own entry."""
    seen: set[str] = set()
    for place in places(owner, projects):
        real = os.path.realpath(place.path)
        if real in seen:
            continue
        seen.add(real)
        try:
            if place.project is not None and not real.startswith(os.path.realpath(place.project) + os.sep):
                raise UnreadableError("it leads out of the project")
            value = read_document(place.client.format, _text(place.path)).value
            found = list(tables(value, place.client.keys))
            if sum(len(table) for _, table in found) > _MOST_SERVERS:
                raise UnreadableError(f"it has more than {_MOST_SERVERS} servers")
        except (ValueError, OSError) as error:
            yield Unreadable(place, getattr(error, "strerror", None) or str(error))
            continue
        for keys, table in found:
            known = _with_project(variables, place, keys)
            # A project's file may have come with the project: it does not choose who its agent is.
            agent = place.client.name if place.project is not None else None
            for name, raw in table.items():
                if not is_ours(raw, program, str(home), agent):
                    yield _found(place, keys, name, raw, known)


def _found(place: Place, keys: tuple[str, ...], name: str, raw: Any, variables: Mapping[str, str]) -> Found:  # noqa: ANN401 - a client's own
    old = place.client.old_url
    try:
        if is_another(raw):
            raise CannotMoveError("it starts an IronCurtain that is not this one")  # noqa: TRY301
        if old and isinstance(raw, dict) and old in raw and raw.get("type") != "http":
            raise CannotMoveError("it speaks the old transport with two connections")  # noqa: TRY301
        return Found(place, keys, name, raw, convert(raw, variables))
    except CannotMoveError as error:
        return Found(place, keys, name, raw, why_not=str(error))


def _with_project(variables: Mapping[str, str], place: Place, keys: tuple[str, ...]) -> dict[str, str]:
    """What a client would fill in, with the directory of the project that a table is about."""
    project = Path(keys[1]) if keys[0] == "projects" else place.project
    # A project's file may have come with the project: it does not learn what is in the owner's environment.
    own = variables if place.project is None else {n: v for n, v in variables.items() if n in PLACES}
    known = {**own, "userHome": variables.get("HOME", "")}
    return {**known, "workspaceFolder": str(project)} if project is not None else known


def plan(found: list[Found | Unreadable], home: Home, command: list[str]) -> Plan:
    """What to do about what was found. Changes nothing."""
    out = Plan(unreadable=[item for item in found if isinstance(item, Unreadable)])
    taken = _taken(home)
    by_file: dict[Path, list[tuple[Found, str]]] = {}
    for item in found:
        if isinstance(item, Unreadable):
            continue
        if item.converted is None:
            out.stays.append(item)
            continue
        name = _name_for(item, item.converted, taken)
        taken[name] = item.converted
        by_file.setdefault(item.place.path, []).append((item, name))
    for path, items in by_file.items():
        try:
            out.changes.append(_change(path, [item for item, _ in items], home, command))
        except UnreadableError as error:
            out.unreadable.append(Unreadable(items[0][0].place, str(error)))
        else:
            out.moved += items
    return out


def _taken(home: Home) -> dict[str, Converted]:
    secrets = read_credentials(home)
    return {
        name: Converted(entry, dict(secrets.env.get(name, {})), dict(secrets.headers.get(name, {})))
        for name, entry in read_entries(home).items()
        if isinstance(entry, dict)
    }


def _name_for(item: Found, converted: Converted, taken: Mapping[str, Converted]) -> str:
    """Its own name; if another server has that, one that says which client it comes from."""
    plain = "".join(c if c.isprintable() else "-" for c in item.name).strip()[: MAX_NAME // 2] or "server"
    name, number = plain, 1
    while name in taken and taken[name] != converted:
        name = f"{plain}-{item.place.client.name}" + (f"-{number}" if number > 1 else "")
        number += 1
    return name


def _change(path: Path, items: list[Found], home: Home, command: list[str]) -> Change:
    before = path.read_bytes()
    client = items[0].place.client
    forth, back = [], []
    by_table: dict[tuple[str, ...], dict[str, Any]] = {}
    for item in items:
        by_table.setdefault(item.keys, {})[item.name] = item.raw
    value = read_document(client.format, before.decode()).value
    for keys, gone in by_table.items():
        there = {name: raw for name, raw in below(value, keys).items() if name not in gone}
        env = {"IRONCURTAIN_HOME": str(home.root)} if home.root != Path.home() / ".ironcurtain" else {}
        entry = client.entry(command[0], [*command[1:], "gateway", "--agent", client.name], env)
        ours = {name: raw for name, raw in there.items() if is_ours(raw, command, str(home.root))}
        name = next(iter(ours), None) or _free(OUR_NAME, there)
        forth.append(Exchange(keys, [*gone, *ours], {name: entry}))
        back.append(Exchange(keys, [name], {**gone, **ours}))
    after = exchange(client.format, before.decode(), forth)
    return Change(path, os.path.realpath(path), client.format, before, after.encode(), back)


def _free(name: str, taken: Mapping[str, Any]) -> str:
    while name in taken:
        name += "-gateway"
    return name


# --- Doing it. ---


def perform(made: Plan, home: Home, approved: set[str]) -> None:
    """Keep the bytes as they are, take the servers in, then change the clients' files.

    `approved` are the servers that the owner has seen and wants started as they are.
    """
    name = f"{time.time_ns()}"
    directory = _directory(home) / f".{name}"  # one that was never finished is not undone
    directory.mkdir(mode=0o700, parents=True)
    for number, change in enumerate(made.changes):
        write_artifact(directory / f"{number}.before", change.before)
    names = sorted({name for _, name in made.moved} - set(read_entries(home)))
    manifest = {"version": 1, "servers": names, "files": [_noted(change) for change in made.changes]}
    write_artifact(directory / "manifest.json", json.dumps(manifest, indent=1).encode())
    directory.rename(_directory(home) / name)
    _take_in(made, home, approved)
    for change in made.changes:
        if change.path.read_bytes() != change.before:
            raise UnreadableError(f"{change.path} changed meanwhile; run: ironcurtain adopt")
        _replace(change.path, change.real, change.after)


def _noted(change: Change) -> dict[str, Any]:
    back = [{"keys": list(each.keys), "gone": each.gone, "fresh": each.fresh} for each in change.back]
    return {
        "path": str(change.path),
        "real": change.real,
        "format": change.format,
        "after": _digest(change.after),
        "back": back,
    }


def _take_in(made: Plan, home: Home, approved: set[str]) -> None:
    entries, secrets = read_entries(home), read_credentials(home)
    env, headers = dict(secrets.env), dict(secrets.headers)
    for item, name in made.moved:
        if item.converted is None:
            continue
        entries[name] = item.converted.entry
        env[name], headers[name] = item.converted.env, item.converted.headers
    write_credentials(home, Credentials(env, headers))  # first: a server is never started without what it needs
    write_servers(home, entries)
    specs, _ = read_servers(home)
    for name in approved:
        approve_server(home.root, name, Approved(specs[name].pin), time.time())


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of one file."""

    path: Path
    how: str
    """`restored` byte for byte, `merged` into what it has become, `untouched` because it never changed, or `kept`."""
    why: str = ""


def undo(home: Home) -> Iterator[Undone]:
    """Put everything back, the last move first."""
    for directory in sorted(_directory(home).glob("[0-9]*"), reverse=True):
        manifest = json.loads((directory / "manifest.json").read_bytes())
        results = [_undo_file(note, directory / f"{number}.before") for number, note in enumerate(manifest["files"])]
        yield from results
        if all(result.how != "kept" for result in results):
            _give_back(home, set(manifest["servers"]))
            gone = directory.rename(directory.with_name(f".{directory.name}"))
            for file in gone.iterdir():
                file.unlink()
            gone.rmdir()


def adoptions(home: Home) -> int:
    """How many moves can be undone."""
    return len(list(_directory(home).glob("[0-9]*/manifest.json")))


def _undo_file(note: dict[str, Any], kept: Path) -> Undone:
    path, before = Path(note["path"]), kept.read_bytes()
    real = note.get("real", os.path.realpath(path))
    try:
        _require_there(path, real)
        present = path.read_bytes()
        if present == before:
            return Undone(path, "untouched")
        if _digest(present) == note["after"]:
            _replace(path, real, before)
            return Undone(path, "restored")
        back = [Exchange(tuple(each["keys"]), each["gone"], each["fresh"]) for each in note["back"]]
        _replace(path, real, exchange(note["format"], present.decode(), back).encode())
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return Undone(path, "kept", f"{visible(why)}; as it was: {kept}")
    return Undone(path, "merged")


def _give_back(home: Home, names: set[str]) -> None:
    secrets = read_credentials(home)
    write_servers(home, {name: entry for name, entry in read_entries(home).items() if name not in names})
    env = {name: table for name, table in secrets.env.items() if name not in names}
    headers = {name: table for name, table in secrets.headers.items() if name not in names}
    write_credentials(home, Credentials(env, headers))


def _directory(home: Home) -> Path:
    return home.root / "adoption"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise UnreadableError(f"it has more than {_LARGEST} bytes")
    return data.decode()


def _replace(path: Path, real: str, data: bytes) -> None:
    """Replace a client's file in one step, where it really is and was, with the mode it has."""
    _require_there(path, real)
    write_artifact(Path(real), data, stat.S_IMODE(Path(real).stat().st_mode))


def _require_there(path: Path, real: str) -> None:
    if os.path.realpath(path) != real:
        raise UnreadableError(f"{path} leads elsewhere now")


_SHORT: Final = 4  # characters; a shorter secret would hide half of what is shown


def masked(text: str, secrets: set[str]) -> str:
    """The text without what only a server may know."""
    spelled = {spelling for secret in secrets for spelling in (secret, json.dumps(secret)[1:-1])}
    long = sorted((spelling for spelling in spelled if len(spelling) >= _SHORT), key=len, reverse=True)
    return re.sub("|".join(map(re.escape, long)), "********", text) if long else text
