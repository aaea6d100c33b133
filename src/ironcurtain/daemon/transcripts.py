"""What was said to and by the built-in agents: one file each, in which every line is on disk before anything follows.

It is what an agent goes on from, and what its owner reads; what really happened is in the audit log.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from pathlib import Path

    from ironcurtain.model.call import Json

_NAME: Final = re.compile(r"[0-9a-f]{8}")
LARGEST: Final = 64 << 20  # bytes of one


@dataclass(frozen=True, slots=True)
class About:
    """What an agent was started for, and how it works."""

    task: str
    agent: str
    model: str
    """As the owner named it; nothing for a script."""
    script: list[dict[str, Json]] = field(default_factory=list)
    """The messages of a recorded model."""
    direct: bool = False
    """It calls tools one by one."""
    chat: bool = False
    """After an answer the person may go on."""
    helpers: bool = False
    """It may have other agents work for it."""
    scripts: dict[str, list[dict[str, Json]]] = field(default_factory=dict)
    """By task, the messages of recorded helpers."""
    parent: str = ""
    """Who started it, if it is a helper."""


@dataclass(slots=True)
class Transcript:
    """One agent's."""

    path: Path
    id: str
    about: About
    created: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    raws: dict[int, Any] = field(default_factory=dict)
    """By place, messages of the model as its provider's library wrote them down: nobody else sees them."""
    size: int = 0
    begun: dict[str, str] = field(default_factory=dict)
    """Calls that were begun and have no result yet, and the program each became, if it became one."""
    instructions: str = ""
    """What the model was told before all of it."""
    sources: set[str] = field(default_factory=set)
    """The tools whose results it, or a helper of it, has seen."""
    tokens: int = 0
    cost: float = 0.0
    status: str = "working"
    reason: str = ""

    def add(self, line: dict[str, Any]) -> None:
        """Take a line in, and have it on disk. Raises `OSError` if that cannot be done, `Refusal` if it is too much."""
        data = _line({"at": _now(), **line})
        ours = "status" in line or "used" in line  # an end is always kept
        if self.size + len(data) > (LARGEST if ours else LARGEST // 2):
            raise Refusal("agent_too_long", "more was said than is kept", "begin a new task")
        _append(self.path, data)
        self.size += len(data)
        self.take(line)

    def take(self, line: dict[str, Any]) -> None:
        """Take a line in that is on disk already."""
        if "message" in line:
            self.messages.append(line["message"])
            self.begun.pop(line["message"].get("id"), None)
        elif "raw" in line:
            self.raws[len(self.messages)] = line["raw"]  # it is written before its message
        elif "begun" in line:
            self.begun[line["begun"]] = line["run"]
        elif "instructions" in line:
            self.instructions = line["instructions"]
        elif "source" in line:
            self.sources.add(line["source"])
        elif "used" in line:
            self.tokens += line["used"]["tokens"]
            self.cost += line["used"]["cost"]
        elif "status" in line:
            self.status, self.reason = line["status"], line["reason"]

    @property
    def unanswered(self) -> list[dict[str, Any]]:
        """The calls of the model's last message that have no result yet: they are made in their order."""
        for answered, message in enumerate(reversed(self.messages)):
            if message["role"] != "tool":
                return [*message.get("calls", ())][answered:]
        return []

    @property
    def is_answered(self) -> bool:
        """Whether the model has nothing more to do."""
        return self.messages[-1]["role"] == "model" and not self.messages[-1]["calls"]

    @property
    def answer(self) -> str:
        """What the model said last."""
        return next((str(each["text"]) for each in reversed(self.messages) if each["role"] == "model"), "")

    def summary(self) -> dict[str, Json]:
        """In a line."""
        return {
            "id": self.id, "task": self.about.task, "agent": self.about.agent, "model": self.about.model or "a script",
            "status": self.status, "reason": self.reason, "created": self.created, "tokens": self.tokens,
            "cost": round(self.cost, 6), "parent": self.about.parent,
        }  # fmt: skip


class Transcripts:
    """All of a home."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def new(self, about: About) -> Transcript:
        """Begin one."""
        self._directory.mkdir(mode=0o700, exist_ok=True)
        name, created = secrets.token_hex(4), _now()
        found = Transcript(self._path(name), name, about, created)
        _append(found.path, _line({"at": created, "about": asdict(about)}), fresh=True)
        found.add({"message": {"role": "user", "text": about.task}})
        return found

    def load(self, name: str) -> Transcript:
        """Read one. A line that was cut off in the middle is taken away: nothing followed from it."""
        path = self._path(name)
        if not _NAME.fullmatch(name) or not path.is_file():
            raise Refusal("agent_unknown", f"there is no agent {name[:20]!r}", "run: ironcurtain agents list")
        whole, cut, _ = _read(path).rpartition(b"\n")
        try:
            head, *lines = (json.loads(line) for line in whole.splitlines())
            found = Transcript(path, name, About(**head["about"]), head["at"], size=len(whole))
            for line in lines:
                found.take(line)
        except (KeyError, TypeError, ValueError, AttributeError):
            why = f"the transcript {path} is not as it was written"
            raise Refusal("agent_spoiled", why, "start the task anew") from None
        os.truncate(path, len(whole) + len(cut))
        return found

    def names(self) -> list[str]:
        """All of them, the newest first."""
        if not self._directory.is_dir():
            return []
        files = [path for path in self._directory.iterdir() if _NAME.fullmatch(path.stem) and path.suffix == ".jsonl"]
        return [path.stem for path in sorted(files, key=lambda path: path.stat().st_mtime_ns, reverse=True)]

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}.jsonl"


def _read(path: Path) -> bytes:
    if path.stat().st_size > LARGEST:
        raise Refusal("agent_too_long", f"{path} has more than {LARGEST} bytes", "start the task anew")
    return path.read_bytes()


def _line(line: dict[str, Any]) -> bytes:
    return json.dumps(line).encode() + b"\n"


def _append(path: Path, data: bytes, *, fresh: bool = False) -> None:
    new = os.O_CREAT | os.O_EXCL if fresh else 0
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | new, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
