"""What lies where in a home."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ironcurtain.errors import ArtifactError


def default_home() -> Path:
    """The home: `IRONCURTAIN_HOME`, or `.ironcurtain` in the user's own."""
    named = os.environ.get("IRONCURTAIN_HOME")
    return Path(named).absolute() if named else Path.home() / ".ironcurtain"


def constitution_hash(path: Path) -> str | None:
    """The digest of a constitution as compiled policies carry it."""
    try:
        return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class Home:
    """One owner's IronCurtain."""

    root: Path

    @property
    def config(self) -> Path:
        """Access layers, escalation, budgets."""
        return self.root / "config.toml"

    @property
    def constitution(self) -> Path:
        """What the owner wrote."""
        return self.root / "constitution.md"

    @property
    def readings(self) -> Path:
        """What the owner agreed that the sentences of the constitution mean."""
        return self.root / "readings.json"

    @property
    def drafts(self) -> Path:
        """What the owner answered in a compilation that was not put in force yet."""
        return self.root / "readings-draft.json"

    @property
    def waivers(self) -> Path:
        """What the owner said to roles of arguments that a model would take away."""
        return self.root / "waivers.json"

    @property
    def scenarios(self) -> Path:
        """Calls the owner wrote down, and what each deserves."""
        return self.root / "scenarios.json"

    @property
    def labels(self) -> Path:
        """Descriptions of tools that the owner corrected."""
        return self.root / "annotations.jsonl"

    @property
    def cache(self) -> Path:
        """What the stages of a compilation made before."""
        return self.root / "cache"

    @property
    def servers(self) -> Path:
        """The servers, in the shape every client uses."""
        return self.root / "servers.json"

    @property
    def credentials(self) -> Path:
        """What each server needs to be let in somewhere."""
        return self.root / "credentials.json"

    @property
    def policy(self) -> Path:
        """The artifacts in force."""
        return self.root / "policy"

    @property
    def next_policy(self) -> Path:
        """Artifacts that wait to be put in force."""
        return self.root / "policy.next"

    @property
    def audit(self) -> Path:
        """The chain of records."""
        return self.root / "audit"

    @property
    def checkpoints(self) -> Path:
        """The signed heads of the chain."""
        return self.root / "checkpoints.jsonl"

    @property
    def key(self) -> Path:
        """Signs checkpoints."""
        return self.root / "audit.key"

    @property
    def sandbox(self) -> Path:
        """The agent's own place."""
        return self.root / "sandbox"

    @property
    def run(self) -> Path:
        """Where servers are started: nobody but the owner can put a file there."""
        return self.root / "run"

    @property
    def programs(self) -> Path:
        """Programs of agents that wait for a person, and what came of others."""
        return self.root / "programs"

    @property
    def skills(self) -> Path:
        """Programs that agents keep for later."""
        return self.root / "skills"

    @property
    def agents(self) -> Path:
        """What was said to and by the built-in agents."""
        return self.root / "agents"

    @property
    def socket(self) -> Path:
        """Where the daemon listens."""
        return self.root / "daemon.sock"

    @property
    def lock(self) -> Path:
        """Held by the daemon."""
        return self.root / "daemon.lock"

    @property
    def log(self) -> Path:
        """What the daemon says."""
        return self.root / "daemon.log"

    def require(self) -> None:
        """Refuse a home that is missing, or that others can write to or look into."""
        try:
            status = os.lstat(self.root)
        except OSError:
            raise self._error("artifact_missing", "there is no home yet", "run: ironcurtain init") from None
        if not stat.S_ISDIR(status.st_mode):
            raise self._error("artifact_unsafe", "it is not a directory", "put a directory of your own there")
        if status.st_uid != os.geteuid():
            raise self._error("artifact_unsafe", f"it belongs to user {status.st_uid}", f"sudo chown $USER {self.root}")
        if status.st_mode & 0o077:
            raise self._error("artifact_unsafe", "others can look into it", f"chmod 700 {self.root}")
        if self.audit.is_symlink():
            raise self._error("artifact_unsafe", "its audit directory is a link", "put the directory itself there")

    def _error(self, code: str, problem: str, help_: str) -> ArtifactError:
        return ArtifactError(code, str(self.root), "", problem, help_)
