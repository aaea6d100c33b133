"""Programs on disk: those that wait for a person, whole, and what came of the others.

Each is one file of the owner's, sealed with a key of the home: a program that somebody else wrote or changed there does
not go on. It has three lines: the seals, the *head* (what stands in a list), and all of it, which is read when somebody
wants it. INVARIANT: a file is replaced as a whole, and is on the disk before anything relies on it.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import re
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.errors import Refusal
from ironcurtain.wire.limits import ARTIFACT

if TYPE_CHECKING:
    from pathlib import Path

    from ironcurtain.model.call import Json

VERSION: Final = 2
MOST_KEPT: Final = 500  # programs whose end is remembered
_HEAD: Final = 1 << 16  # bytes
_LONGEST_LINE: Final = 80  # characters of a program that stand in its head
_LONGEST_FAILURE: Final = 500
_NAME: Final = re.compile(r"[0-9a-f]{8}")


class Status(Enum):
    """Where a program is."""

    RUNNING = "running"
    WAITING = "waiting"
    """A person has to answer; nothing of it runs."""
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    CUT_OFF = "cut-off"
    """The daemon ended while it ran. What it had done by then is in the record."""


GOING_ON: Final = (Status.RUNNING.value, Status.WAITING.value)


@dataclass(slots=True)
class Step:
    """A call that a program made, and what it was told."""

    name: str
    args: list[Json]
    kwargs: dict[str, Json]
    answer: dict[str, Json] | None = None


@dataclass(slots=True)
class Run:
    """One program."""

    id: str
    principal: dict[str, Json]
    program: str
    data: Json
    limits: dict[str, int]
    seed: int
    created: str
    status: Status = Status.RUNNING
    steps: list[Step] = field(default_factory=list)
    """All calls so far, while they are needed to go on."""
    calls: int = 0
    moments: list[float] = field(default_factory=list)
    """What it read off the clock."""
    printed: str = ""
    cut: bool = False
    """It printed more than is kept."""
    state: str = ""
    """The interpreter's own, stopped at the last call."""
    interpreter: str = ""
    question: str = ""
    question_of: str = ""
    """The call and the policy that the question is about."""
    repeatable: bool = True
    """All that it was told is kept."""
    pending: dict[str, Json] = field(default_factory=dict)
    """The call that a person is asked about: its server, tool and arguments, and what its result will look like."""
    result: Json = None
    failure: dict[str, Json] = field(default_factory=dict)
    ended: str = ""
    payers: list[dict[str, Json]] = field(default_factory=list)
    """Whose budgets pay besides: principals, each with a task."""
    only: list[list[str]] | None = None
    """The tools that were given to whoever wrote it, if not all."""
    language: str = "python"
    sources: list[str] = field(default_factory=list)
    """The tools whose results had been seen when it was put away."""
    helpers: bool = False
    """Whoever wrote it may have other agents work for it."""

    def summary(self) -> dict[str, Json]:
        """In a line."""
        found: dict[str, Json] = {"run": self.id, "status": self.status.value, "calls": self.calls}
        if self.failure:
            found["failure"] = dict(self.failure)
        if self.question and self.status is Status.WAITING:
            found["question"] = self.question
        return {**found, "created": self.created, "ended": self.ended, "agent": self.principal}

    def head(self) -> dict[str, Json]:
        """What stands in a list of many."""
        first = self.program.strip().partition("\n")[0][:_LONGEST_LINE]
        found = {**self.summary(), "program": first}
        if self.failure:
            found["failure"] = {name: str(value)[:_LONGEST_FAILURE] for name, value in self.failure.items()}
        return found

    def told(self) -> dict[str, Json]:
        """What whoever started it is told."""
        found: dict[str, Json] = {"run": self.id, "status": self.status.value, "calls": self.calls}
        if self.status is Status.DONE:
            found["result"] = self.result
        if self.failure:
            found["failure"] = dict(self.failure)
        if self.question and self.status is Status.WAITING:
            found["question"] = self.question
        if self.printed:
            found["printed"] = self.printed
        if self.cut:
            found["cut"] = True
        return found


class Store:
    """The files of programs, below one directory."""

    def __init__(self, directory: Path, secret: bytes) -> None:
        self._directory = directory
        self._key = hmac.digest(secret, b"ironcurtain programs", "sha256")

    def save(self, run: Run) -> None:
        """Write it down. Raises `OSError` if that cannot be done."""
        body = {each.name: getattr(run, each.name) for each in fields(run)}
        body["status"] = run.status.value
        body["steps"] = [[step.name, step.args, step.kwargs, step.answer] for step in run.steps]
        lines = [_line({"version": VERSION, **run.head()}), _line({"version": VERSION, "run": body})]
        text = b"".join([_line([*map(self._seal, lines)]), *lines])
        if len(text) > ARTIFACT.size or len(lines[0]) > _HEAD:
            raise OSError(errno.EFBIG, "a program that is too large to be kept")
        self._directory.mkdir(mode=0o700, exist_ok=True)
        path, fresh = self._path(run.id), self._directory / f".{run.id}.{os.getpid()}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(path)
        above = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(above)
        finally:
            os.close(above)

    def load(self, name: str) -> Run:
        """Read one. Raises `Refusal` if there is none, or if it is not as it was written."""
        if not _NAME.fullmatch(name) or not self._path(name).is_file():
            raise Refusal("run_unknown", f"there is no program {name[:20]!r}", "run: ironcurtain code list")
        spoiled = Refusal("run_spoiled", f"the file of program {name} is not as it was written", "it does not go on")
        try:
            seals, head, body = self._path(name).read_bytes()[: ARTIFACT.size].split(b"\n", 2)
            if not hmac.compare_digest(seals + b"\n", _line([self._seal(head + b"\n"), self._seal(body)])):
                raise spoiled
            inner: Any = json.loads(body)
            if inner["version"] != VERSION or inner["run"]["id"] != name:
                raise spoiled
            found = {**inner["run"], "status": Status(inner["run"]["status"])}
            found["steps"] = [Step(*step) for step in found["steps"]]
            return Run(**found)
        except (KeyError, TypeError, ValueError, AttributeError, LookupError, OSError):
            raise spoiled from None

    def heads(self) -> dict[str, dict[str, Any] | None]:
        """What stands in a list, by name, the newest last; nothing for those that are not as they were written."""
        return {name: self._head(name) for name in self.names()}

    def _head(self, name: str) -> dict[str, Any] | None:
        try:
            with self._path(name).open("rb") as file:
                seals, head = file.readline(_HEAD), file.readline(_HEAD)
            found: dict[str, Any] = json.loads(head)
            genuine = hmac.compare_digest(str(json.loads(seals)[0]), self._seal(head))
        except (ValueError, TypeError, LookupError, OSError):
            return None
        return found if genuine and found.pop("version") == VERSION and found["run"] == name else None

    def names(self) -> list[str]:
        """All of them, the newest last."""
        if not self._directory.is_dir():
            return []
        files = [path for path in self._directory.iterdir() if _NAME.fullmatch(path.stem) and path.suffix == ".jsonl"]
        return [path.stem for path in sorted(files, key=lambda path: (path.stat().st_mtime_ns, path.stem))]

    def tidy(self) -> None:
        """Forget the oldest of those that have ended, once there are many."""
        if len(self.names()) <= MOST_KEPT + MOST_KEPT // 2:
            return
        ended = [name for name, head in self.heads().items() if head is not None and head["status"] not in GOING_ON]
        for name in ended[:-MOST_KEPT]:
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}.jsonl"

    def _seal(self, content: bytes) -> str:
        return hmac.new(self._key, content, hashlib.sha256).hexdigest()


def _line(value: Any) -> bytes:  # noqa: ANN401 - JSON
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
