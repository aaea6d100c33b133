"""`state.db`: what a home remembers between runs, in plain SQL.

Each step of `_STEPS` brings the database from one version to the next; a database from a newer program is refused.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.files import require_ours
from ironcurtain.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_STEPS: Final = (
    """
    CREATE TABLE IF NOT EXISTS accepted_policy (
        id INTEGER PRIMARY KEY,
        version INTEGER NOT NULL, digest TEXT NOT NULL, at REAL NOT NULL, artifacts TEXT NOT NULL
    ) STRICT;
    """,
    "CREATE TABLE approved_server (name TEXT PRIMARY KEY, pin TEXT NOT NULL, at REAL NOT NULL) STRICT;",
    "ALTER TABLE approved_server ADD COLUMN version TEXT;",
)


def open_state(home: Path) -> sqlite3.Connection:
    """The database of a home, at the version of this program."""
    path = home / "state.db"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not os.path.lexists(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    require_ours(path)
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA synchronous = FULL")
        _migrate(connection, path)
        connection.execute("SELECT version, digest, at, artifacts FROM accepted_policy LIMIT 0")
    except sqlite3.DatabaseError as error:
        raise unusable(path, f"not a database we can use: {error}") from None
    return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    at = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if at > len(_STEPS):
        problem, help_ = "it was written by a newer version of this program", "install that version again"
        raise ArtifactError("artifact_malformed", str(path), "", problem, help_)
    for number in range(at, len(_STEPS)):
        connection.executescript(f"BEGIN IMMEDIATE; {_STEPS[number]} PRAGMA user_version = {number + 1}; COMMIT;")


def unusable(path: Path, problem: str, code: str = "artifact_malformed") -> ArtifactError:
    """A refusal that says how to go on."""
    return ArtifactError(code, str(path), "", problem, f"verify a policy anew, after: mv {path} {path}.old")


@dataclass(frozen=True, slots=True)
class Approved:
    """How the owner has approved a server: as it is started, and the version that it said to be."""

    pin: str
    version: str | None = None


def approve_server(home: Path, name: str, approved: Approved, now: float) -> None:
    """Remember what the owner has approved."""
    row = (name, approved.pin, now, approved.version)
    with closing(open_state(home)) as state:
        state.execute("INSERT OR REPLACE INTO approved_server (name, pin, at, version) VALUES (?, ?, ?, ?)", row)


def approved_servers(home: Path) -> Mapping[str, Approved]:
    """What the owner has approved, by server."""
    with closing(open_state(home)) as state:
        rows = state.execute("SELECT name, pin, version FROM approved_server").fetchall()
    return {name: Approved(pin, version) for name, pin, version in rows}


def is_approved(approved: Mapping[str, Approved], name: str, pin: str) -> bool:
    """Whether a server may be started as it is configured now."""
    return name in approved and approved[name].pin == pin
