"""Programs that an agent keeps for later. A skill is a program like any other: it may do what its agent may, no more.

They lie in the home, where no tool reaches: an agent keeps them through us, and none can change another's.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.files import write_artifact
from ironcurtain.errors import Refusal, quote

if TYPE_CHECKING:
    from pathlib import Path

    from ironcurtain.model.call import Principal

MOST: Final = 100  # of one agent
LONGEST_ABOUT: Final = 200  # characters
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class Skill:
    """One program, by its name."""

    name: str
    about: str
    language: str
    sources: list[str] = field(default_factory=list)
    """The tools whose results whoever wrote it had seen: they may be in it."""
    code: str = ""
    """Its text; nothing in a list of many."""

    def __str__(self) -> str:
        return f"{self.name}: {self.about}"


class Skills:
    """All of a home."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def check(self, skill: Skill, principal: Principal) -> None:
        """Refuse one that cannot be kept."""
        if principal.subagent:
            raise Refusal(
                "skill_refused", "who works for another agent keeps nothing for it", "answer with the program"
            )
        if not _NAME.fullmatch(skill.name):
            raise Refusal("skill_refused", f"{quote(skill.name)} is no name", "lower case letters, digits and _")
        if not skill.about.strip() or len(skill.about) > LONGEST_ABOUT or not skill.about.isprintable():
            raise Refusal("skill_refused", f"say in one line of {LONGEST_ABOUT} characters what it does")
        place = self._of(principal)
        if place.is_dir() and not self._file(skill.name, principal).exists() and len(list(place.iterdir())) >= MOST:
            raise Refusal("skill_refused", f"more than {MOST} skills", "replace one of them")

    def has(self, skill: Skill, principal: Principal) -> bool:
        """Whether it is kept already, as it is."""
        path = self._file(skill.name, principal)
        return path.is_file() and path.read_bytes() == _written(skill)

    def save(self, skill: Skill, principal: Principal) -> None:
        """Keep one; another of the same name is replaced."""
        place = self._of(principal)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_artifact(self._file(skill.name, principal), _written(skill))

    def load(self, name: str, principal: Principal) -> Skill:
        """One of an agent's."""
        if not _NAME.fullmatch(name) or not self._file(name, principal).is_file():
            known = ", ".join(skill.name for skill in self.all(principal)) or "none yet"
            raise Refusal("skill_unknown", f"there is no skill {quote(name)}", f"there is: {known}")
        head, code = self._file(name, principal).read_bytes().splitlines()
        return Skill(**json.loads(head), code=json.loads(code))

    def all(self, principal: Principal) -> list[Skill]:
        """Those of an agent, by name, without their programs."""
        place = self._of(principal)
        found = []
        for path in sorted(place.glob("*.jsonl")) if place.is_dir() else ():
            with path.open("rb") as file:
                found.append(Skill(**json.loads(file.readline())))
        return found

    def _file(self, name: str, principal: Principal) -> Path:
        return self._of(principal) / f"{name}.jsonl"

    def _of(self, principal: Principal) -> Path:
        """Each agent of each member has its own, whichever model drives it; who works for an agent has that one's."""
        name = (principal.agent or "").rpartition("/")[0] if principal.subagent else principal.agent
        whose = json.dumps([name, principal.group, principal.member]).encode()
        return self._directory / hashlib.sha256(whose).hexdigest()[:16]


def _written(skill: Skill) -> bytes:
    """What it is, and on a line of its own its program, which is read when it is run."""
    head = {"name": skill.name, "about": skill.about, "language": skill.language, "sources": skill.sources}
    return f"{json.dumps(head)}\n{json.dumps(skill.code)}\n".encode()
