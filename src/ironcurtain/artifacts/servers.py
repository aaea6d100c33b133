"""`servers.json` and `credentials.json`: which servers there are, how they are started, and what only they may know."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.files import read_artifact, write_artifact
from ironcurtain.artifacts.item import Item, parse
from ironcurtain.errors import ArtifactError
from ironcurtain.wire import strict_json
from ironcurtain.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ironcurtain.artifacts.home import Home
    from ironcurtain.model.call import Json

_PROCESS: Final = ("args", "env", "cwd", "type", "protocol", "timeout", "disabled")
_REMOTE: Final = ("headers", "type", "protocol", "timeout", "disabled")
_ERAS: Final = ("auto", "handshake", "envelope")
DEFAULT_TIMEOUT: Final = 600.0  # seconds for one call; a build or a test run takes minutes


_SCHEME: Final = re.compile(r"(?i:bearer|basic|token) \S+")


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How a server is reached: by a command, or at an address."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    era: str = "auto"
    timeout: float = DEFAULT_TIMEOUT
    disabled: bool = False
    secret_names: tuple[str, ...] = ()
    """The names, not the values, of what it gets from `credentials.json`."""

    @property
    def pin(self) -> str:
        """The digest of how it is started. Another command, argument, address or variable is another server."""
        content: dict[str, Json] = {
            "command": list(self.command),
            "env": dict(self.env),
            "cwd": self.cwd,
            "url": self.url,
            "headers": dict(self.headers),
            "secrets": list(self.secret_names),
        }
        return "sha256:" + hashlib.sha256(strict_json.canonical(content)).hexdigest()

    def shown(self) -> str:
        """How it is started, in full, for a person: all that its pin covers, but for the values of its secrets."""
        words = [f"{name}={value}" for name, value in self.env.items()]
        words += [self.url] if self.url else self.command
        words += [f"(in {self.cwd})"] if self.cwd else []
        words += [f"(with the header {name}: {value})" for name, value in self.headers.items()]
        return " ".join(json.dumps(part) if not part or " " in part else part for part in words)


@dataclass(frozen=True, slots=True)
class Credentials:
    """What each server gets besides: variables of its environment, or headers."""

    env: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every secret there is, so that none is ever written down elsewhere."""
        return tuple({secret for name in (*self.env, *self.headers) for secret in self.of(name)})

    def of(self, server: str) -> frozenset[str]:
        """The secrets of one server."""
        values = {*self.env.get(server, {}).values(), *self.headers.get(server, {}).values()}
        return frozenset(values | {value.split()[1] for value in values if _SCHEME.fullmatch(value)})


def read_servers(home: Home) -> tuple[dict[str, ServerSpec], Credentials]:
    """All servers of a home."""
    credentials = read_credentials(home)
    if not os.path.lexists(home.servers):
        return {}, credentials
    item = parse(read_artifact(home.servers), str(home.servers))
    entries = item.members(("mcpServers",))["mcpServers"].entries()
    return {name: _spec(name, entry, credentials) for name, entry in entries.items()}, credentials


def _spec(name: str, item: Item, credentials: Credentials) -> ServerSpec:
    if not name.strip() or len(name) > MAX_NAME or name != name.strip() or not name.isprintable():
        item.fail("a server's name is a short, plain word", "rename it")
    remote = "url" in item.entries()
    members = item.members(("url",), _REMOTE) if remote else item.members(("command",), _PROCESS)
    if "type" in members:
        members["type"].word(("http", "streamable-http") if remote else ("stdio",))
    secrets = (credentials.headers if remote else credentials.env).get(name, {})
    return ServerSpec(
        name=name,
        command=() if remote else (members["command"].text(), *_texts(members.get("args"))),
        env=_table(members.get("env")),
        cwd=members["cwd"].text() if "cwd" in members else None,
        url=members["url"].text() if remote else None,
        headers=_table(members.get("headers")),
        era=members["protocol"].word(_ERAS) if "protocol" in members else "auto",
        timeout=members["timeout"].number() if "timeout" in members else DEFAULT_TIMEOUT,
        disabled=members["disabled"].flag() if "disabled" in members else False,
        secret_names=tuple(sorted(secrets)),
    )


def _texts(item: Item | None) -> tuple[str, ...]:
    return tuple(element.text(blank=True) for element in item.elements()) if item else ()


def _table(item: Item | None) -> dict[str, str]:
    return {key: value.text(blank=True) for key, value in item.entries().items()} if item else {}


def read_credentials(home: Home) -> Credentials:
    """The credentials of a home; refused if anybody else could read them."""
    if not os.path.lexists(home.credentials):
        return Credentials()
    item = parse(read_artifact(home.credentials), str(home.credentials))
    if stat.S_IMODE(os.lstat(home.credentials).st_mode) & 0o077:
        item.fail("others can read it", f"chmod 600 {home.credentials}", "artifact_unsafe")
    servers = {name: entry.members((), ("env", "headers")) for name, entry in item.entries().items()}
    return Credentials(
        {name: _table(members.get("env")) for name, members in servers.items()},
        {name: _table(members.get("headers")) for name, members in servers.items()},
    )


def read_entries(home: Home) -> dict[str, Json]:
    """The entries of `servers.json` as they are written."""
    if not os.path.lexists(home.servers):
        return {}
    item = parse(read_artifact(home.servers), str(home.servers)).members(("mcpServers",))["mcpServers"]
    return {name: entry.value for name, entry in item.entries().items()}


def write_servers(home: Home, servers: Mapping[str, Json]) -> None:
    """Write `servers.json`."""
    _write(home.servers, {"mcpServers": dict(servers)})


def write_credentials(home: Home, credentials: Credentials) -> None:
    """Write `credentials.json`."""
    names = {*credentials.env, *credentials.headers}
    content: dict[str, Json] = {}
    for name in sorted(names):
        tables = {"env": dict(credentials.env.get(name, {})), "headers": dict(credentials.headers.get(name, {}))}
        content[name] = {key: dict(table) for key, table in tables.items() if table}
    _write(home.credentials, content)


def _write(path: Path, value: Json) -> None:
    try:
        write_artifact(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        problem = f"it cannot be written: {error.strerror}"
        raise ArtifactError("artifact_unwritable", str(path), "", problem, "make room, or mend its mode") from None
