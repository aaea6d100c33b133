"""The places no tool may touch, whatever the policy says.

INVARIANT: the agent never reads or writes what decides about it: policy, audit, approvals, credentials, control
sockets, and the configurations that start servers. Whether they exist yet does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ironcurtain.engine.brackets import Bracketed

CLIENT_CONFIGURATIONS: Final = (
    ".claude.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/.credentials.json",
    ".config/Claude/claude_desktop_config.json",
    "Library/Application Support/Claude/claude_desktop_config.json",
    ".cursor/mcp.json",
    ".config/Cursor/User/mcp.json",
    ".config/Cursor/User/settings.json",
    ".config/Code/User/mcp.json",
    ".config/Code/User/settings.json",
    "Library/Application Support/Code/User/mcp.json",
    "Library/Application Support/Code/User/settings.json",
    ".codeium/windsurf/mcp_config.json",
    ".config/zed/settings.json",
    ".config/goose/config.yaml",
    ".openclaw/openclaw.json",
    ".codex/config.toml",
    ".codex/auth.json",
    ".gemini/settings.json",
    ".gemini/oauth_creds.json",
    ".continue/config.json",
    ".continue/config.yaml",
    ".config/opencode/opencode.json",
    ".aws/amazonq/mcp.json",
)
"""Under the owner's home: what starts servers for a client, often with credentials."""

PROJECT_CONFIGURATIONS: Final = (
    ".mcp.json",
    "mcp.json",
    "mcp_config.json",
    "claude_desktop_config.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
    ".gemini/settings.json",
    ".codex/config.toml",
)
"""The same in any directory, because a client may be opened there."""

STEERING_NAMES: Final = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "GEMINI.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".goosehints",
    ".github/copilot-instructions.md",
)
STEERING_DIRECTORIES: Final = (".git", ".claude", ".cursor", ".codex", ".gemini", ".windsurf")
"""Instructions and hooks that another program obeys: to be read, never written by an agent."""

ASK_BEFORE_WRITING: Final = (".gitattributes", ".gitmodules", ".vscode/tasks.json", ".vscode/settings.json")
"""Ordinary files that can make another program run something."""

ASK_BEFORE_REPLACING: Final = (".github", ".vscode")
"""Directories that hold what is named above: renaming one into place is writing what is in it."""

Fold = Callable[[str], str]

# Names that mean something else to each process that opens them.
_MAGIC: Final = re.compile(r"/proc/(?:[0-9]+|self|thread-self)(?:/|$)|/dev/(?:fd|stdin|stdout|stderr)(?:/|$)")
_MAGIC_NAMES: Final = tuple(("proc", name) for name in ("self", "thread-self")) + tuple(
    ("dev", name) for name in ("fd", "stdin", "stdout", "stderr")
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a place before any policy is asked."""

    magic: bool
    """It differs for each process that opens it."""
    covered: bool
    """It is protected, or lies in something that is."""
    ancestor: bool
    """Something protected lies below it."""
    steering: bool
    """Programs take instructions from it, or from a directory it is in; or it is a part of ours."""
    asking: bool
    """Writing it can make another program run something."""


@dataclass(frozen=True, slots=True)
class _Names:
    """Names that count anywhere on a path: of one part, and of two parts in a row."""

    single: frozenset[str]
    double: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str], fold: Fold) -> _Names:
        folded = {fold(name) for name in names}
        return cls(
            frozenset(name for name in folded if "/" not in name), frozenset(name for name in folded if "/" in name)
        )

    def meet(self, parts: list[str]) -> bool:
        if not self.single.isdisjoint(parts):
            return True
        return any(f"{before}/{after}" in self.double for before, after in pairwise(parts))

    def may_meet(self, parts: list[Bracketed]) -> bool:
        if any(part.may_be(name) for part in parts for name in self.single):
            return True
        halves = [name.split("/") for name in self.double]
        return any(
            before.may_be(first) and after.may_be(second)
            for first, second in halves
            for before, after in pairwise(parts)
        )


@dataclass(frozen=True, slots=True)
class Protected:
    """Protected paths, ready for comparison. Names are compared folded, so that look-alikes count."""

    _inside: frozenset[str]
    _exceptions: tuple[str, ...]
    _ancestors: frozenset[str]
    _projects: _Names
    _steering: _Names
    _program: frozenset[str]
    """What we run: to be read, never written."""
    _asking: _Names
    _replaced: frozenset[str]
    _fold: Fold

    @classmethod
    def of(
        cls, paths: tuple[str, ...], exceptions: tuple[str, ...], fold: Fold, program: tuple[str, ...] = ()
    ) -> Protected:
        """Protect these absolute paths and all below them, but for the exceptions; and keep the program as it is."""
        folded = frozenset(fold(path) for path in paths)
        ancestors = frozenset(above for path in folded for above in _ways_to(path))
        return cls(
            _inside=folded,
            _exceptions=exceptions,
            _ancestors=ancestors - folded,
            _projects=_Names.of(PROJECT_CONFIGURATIONS, fold),
            _steering=_Names.of((*STEERING_NAMES, *STEERING_DIRECTORIES), fold),
            _program=frozenset(map(fold, program)),
            _asking=_Names.of(ASK_BEFORE_WRITING, fold),
            _replaced=frozenset(map(fold, ASK_BEFORE_REPLACING)),
            _fold=fold,
        )

    def standing(self, path: str) -> Standing:
        """Look a place up."""
        parts = ["", *(part for part in self._fold(path).split("/") if part)]  # a name of hidden characters is none
        folded = "/".join(parts) or "/"
        plain = Standing(
            magic=_MAGIC.match(path) is not None,
            covered=self._projects.meet(parts) or self._is_inside(path, self._inside.intersection(_ways_to(folded))),
            ancestor=folded in self._ancestors,
            steering=self._steering.meet(parts) or not self._program.isdisjoint(_ways_to(folded)),
            asking=self._asking.meet(parts) or parts[-1] in self._replaced,
        )
        return self._with_choices(path, plain) if "[" in path else plain

    def _is_inside(self, path: str, covering: Iterable[str]) -> bool:
        """Whether something protected covers the path, and no exception further on."""
        deepest = max(map(len, covering), default=0)
        return deepest > 0 and not any(
            len(exception) > deepest and (path == exception or path.startswith(exception + "/"))
            for exception in self._exceptions
        )

    def _with_choices(self, path: str, plain: Standing) -> Standing:
        """The same where a program may take a group in brackets for any one character."""
        parts = [Bracketed(part, self._fold) for part in path.split("/") if self._fold(part)]
        covering = [p for p in self._inside if _may_be(parts[: p.count("/")], p.split("/")[1:])]
        magic = any(_may_be(parts[:2], list(names)) for names in _MAGIC_NAMES)
        process = _may_be(parts[:1], ["proc"]) and len(parts) > 1 and parts[1].may_be_number()
        return Standing(
            magic=plain.magic or magic or process,
            covered=plain.covered or self._projects.may_meet(parts) or self._is_inside(path, covering),
            ancestor=plain.ancestor or any(_may_be(parts, above.split("/")[1:]) for above in self._ancestors),
            steering=plain.steering
            or self._steering.may_meet(parts)
            or any(_may_be(parts[: p.count("/")], p.split("/")[1:]) for p in self._program),
            asking=plain.asking
            or self._asking.may_meet(parts)
            or any(_may_be(parts[-1:], [name]) for name in self._replaced),
        )


def _may_be(parts: list[Bracketed], names: list[str]) -> bool:
    return len(parts) == len(names) and all(map(Bracketed.may_be, parts, names))


def _ways_to(path: str) -> list[str]:
    """Every directory above a path, from the root, and the path itself."""
    ways = ["/"]
    at = path.find("/", 1)
    while at > 0:
        ways.append(path[:at])
        at = path.find("/", at + 1)
    ways.append(path)
    return ways
