"""The home's own policy: it only moves forward, and the last good one stays in force when a new one is broken.

Rules kept here:

1. A version lower than the last accepted one is refused.
2. What is accepted is kept in `state.db`, whole, so that a broken file later on takes nothing out of force.
3. What comes back out of `state.db` is checked against its digest like anything else.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironcurtain.artifacts.item import parse
from ironcurtain.artifacts.policy import POLICY, Bundle, Loaded, build, read_bundle, require_verified
from ironcurtain.artifacts.state import open_state, unusable
from ironcurtain.errors import ArtifactError

if TYPE_CHECKING:
    from pathlib import Path

    from ironcurtain.artifacts.policy import Surroundings


@dataclass(frozen=True, slots=True)
class Active:
    """The policy in force, and why the one on disk is not, if it is not."""

    loaded: Loaded
    refused: ArtifactError | None = None


def active_directory(home: Path) -> Path:
    """Where the home keeps its policy."""
    return home / "policy"


def load_active(surroundings: Surroundings) -> Active:
    """Load the home's policy; if it is refused, the last accepted one stays in force."""
    directory = active_directory(surroundings.home)
    with closing(open_state(surroundings.home)) as state:
        last = state.execute(
            "SELECT version, digest, artifacts FROM accepted_policy ORDER BY id DESC LIMIT 1"
        ).fetchone()
        try:
            bundle = read_bundle(directory)
            require_verified(bundle)
            loaded = build(bundle, surroundings)
            if last and loaded.policy.version < last[0]:
                bundle.items[POLICY].entries()["version"].fail(
                    f"version {loaded.policy.version} is older than {last[0]}, which was in force",
                    f"set version to {last[0] + 1} and run: ironcurtain policy verify {directory}",
                    "policy_rollback",
                )
        except ArtifactError as error:
            if last is None:
                raise
            return Active(_restore(directory, last[1], last[2], surroundings), error)
        if not last or last[1] != bundle.digest:
            artifacts = json.dumps({name: item.value for name, item in bundle.items.items()})
            row = (loaded.policy.version, bundle.digest, surroundings.now, artifacts)
            state.execute("INSERT INTO accepted_policy (version, digest, at, artifacts) VALUES (?, ?, ?, ?)", row)
        return Active(loaded)


def last_version(home: Path) -> int:
    """The version last accepted, or 0."""
    if not (home / "state.db").exists():
        return 0
    with closing(open_state(home)) as state:
        return int(state.execute("SELECT coalesce(max(version), 0) FROM accepted_policy").fetchone()[0])


def _restore(directory: Path, digest: str, artifacts: str, surroundings: Surroundings) -> Loaded:
    path = surroundings.home / "state.db"
    try:
        values = json.loads(artifacts)
        items = {name: parse(json.dumps(values[name]).encode(), f"state.db: {name}") for name in values}
        bundle = Bundle(directory, items)
        require_verified(bundle)
        if bundle.digest != digest:
            raise unusable(path, "the kept policy was changed", "policy_edited")
    except (ValueError, KeyError, TypeError):
        raise unusable(path, "the kept policy is damaged") from None
    return build(bundle, surroundings)
