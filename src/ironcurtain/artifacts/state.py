"""`state.db`: what a home remembers between runs, in plain SQL.

Each step of `_STEPS` brings the database from one version to the next; a database from a newer program is refused.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
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
        raise unusable(path, "it was written by a newer version of this program")
    for number in range(at, len(_STEPS)):
        connection.executescript(f"BEGIN IMMEDIATE; {_STEPS[number]} PRAGMA user_version = {number + 1}; COMMIT;")


def unusable(path: Path, problem: str, code: str = "artifact_malformed") -> ArtifactError:
    """A refusal that says how to go on."""
    return ArtifactError(code, str(path), "", problem, f"verify a policy anew, after: mv {path} {path}.old")


def approve_server(home: Path, name: str, pin: str, now: float) -> None:
    """Remember that the owner has approved how this server is started."""
    with closing(open_state(home)) as state:
        state.execute("INSERT OR REPLACE INTO approved_server (name, pin, at) VALUES (?, ?, ?)", (name, pin, now))


def approved_servers(home: Path) -> Mapping[str, str]:
    """The pins that the owner has approved, by server."""
    with closing(open_state(home)) as state:
        return dict(state.execute("SELECT name, pin FROM approved_server").fetchall())
