"""Files in which the owner's answers are kept: versioned JSON with a digest over its content.

INVARIANT: a file that others can read or write, or whose digest does not fit its content, is refused as a whole.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.files import read_artifact, write_artifact
from ironcurtain.wire.strict_json import canonical

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1


def write_kept(file: Path, content: dict[str, Any]) -> None:
    """Put content into a file that only its owner can read or write."""
    whole = {"version": VERSION, **content}
    whole["digest"] = _digest(whole)
    write_artifact(file, (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode())


def read_kept(file: Path) -> dict[str, Any]:
    """Return the content of such a file; raises `ValueError` or `KeyError` where something else has changed it."""
    content = json.loads(read_artifact(file))
    if file.stat().st_mode & 0o077:
        raise ValueError(f"others may read it; to keep it to yourself: chmod 600 {file}")
    if not isinstance(content, dict):
        raise ValueError("it is not an object")
    said = content.pop("digest")
    if content.pop("version") != VERSION or said != _digest({"version": VERSION, **content}):
        raise ValueError("its digest does not fit")
    return content


def _digest(content: dict[str, Any]) -> str:
    return "sha256:" + hashlib.sha256(canonical(content)).hexdigest()
