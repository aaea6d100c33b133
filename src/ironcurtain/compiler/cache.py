"""What a stage made, by the digest of everything it was made from: the inputs, their boundaries, and our own code."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import ironcurtain
from ironcurtain.artifacts.files import read_artifact, write_artifact
from ironcurtain.errors import ArtifactError

_MOST: Final = 300  # entries; the oldest go
_ROOMS: Final = ("model", "wire", "resolve", "engine", "artifacts", "mediation", "analysis", "language", "compiler")


@dataclass(frozen=True, slots=True)
class Cache:
    """Remembers in a directory of the home, which no tool can reach; without one, nothing."""

    directory: Path | None = None

    def find(self, stage: str, inputs: object) -> dict[str, Any] | None:
        """What the stage made of exactly these inputs, if it is remembered."""
        if self.directory is None:
            return None
        try:
            made = json.loads(read_artifact(self._file(self.directory, stage, inputs)))
        except (ArtifactError, ValueError):
            return None  # missing, damaged or unsafe: made again
        return made if isinstance(made, dict) else None

    def keep(self, stage: str, inputs: object, made: dict[str, Any]) -> None:
        """Remember it."""
        if self.directory is None:
            return
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_artifact(self._file(self.directory, stage, inputs), json.dumps(made, ensure_ascii=False).encode())
        entries = sorted(self.directory.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in entries[:-_MOST]:
            file.unlink(missing_ok=True)

    def _file(self, directory: Path, stage: str, inputs: object) -> Path:
        return directory / f"{stage}-{digest({'code': code_version(), 'stage': stage, 'inputs': inputs})}.json"


def digest(value: object) -> str:
    """Of an encoding in which no two values look alike."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@cache
def code_version() -> str:
    """Of everything that takes part in a compilation."""
    whole = hashlib.sha256()
    root = Path(ironcurtain.__file__).parent
    for file in sorted(
        file for room in _ROOMS for file in (root / room).rglob("*") if file.suffix in (".py", ".txt", ".lark")
    ):
        whole.update(f"{file.relative_to(root)}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()
