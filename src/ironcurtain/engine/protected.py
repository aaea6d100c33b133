"""The places no tool may touch, whatever the policy says.

INVARIANT: the agent never reads or writes what decides about it: policy, audit, approvals, credentials, control sockets,
and the configurations that start servers. Whether they exist yet does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

CLIENT_CONFIGURATIONS: Final = (
    ".claude.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
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
    ".gemini/settings.json",
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

Fold = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Protected:
    """Protected paths, ready for comparison. Names are compared folded, so that look-alikes count."""

    _inside: frozenset[str]
    _exceptions: tuple[str, ...]
    _ancestors: frozenset[str]
    _projects: frozenset[str]
    _steering: frozenset[str]
    _asking: frozenset[str]
    _fold: Fold

    @classmethod
    def of(cls, paths: tuple[str, ...], exceptions: tuple[str, ...], fold: Fold) -> Protected:
        """Protect these absolute paths and all below them, but for the exceptions."""
        folded = frozenset(fold(path) for path in paths)
        ancestors = frozenset(above for path in folded for above in _above(path))
        return cls(
            _inside=folded,
            _exceptions=exceptions,
            _ancestors=ancestors - folded,
            _projects=frozenset(fold(name) for name in PROJECT_CONFIGURATIONS),
            _steering=frozenset(fold(name) for name in (*STEERING_NAMES, *STEERING_DIRECTORIES)),
            _asking=frozenset(fold(name) for name in ASK_BEFORE_WRITING),
            _fold=fold,
        )

    def covers(self, path: str) -> bool:
        """Whether the path is protected or lies in something that is."""
        folded = self._fold(path)
        if any(name in self._projects for name in _last_names(folded)):
            return True
        if any(path == exception or path.startswith(exception + "/") for exception in self._exceptions):
            return False
        return folded in self._inside or any(above in self._inside for above in _above(folded))

    def is_ancestor(self, path: str) -> bool:
        """Whether something protected lies below the path."""
        return self._fold(path) in self._ancestors

    def steers(self, path: str) -> bool:
        """Whether other programs take instructions from the path, or from a directory it is in."""
        folded = self._fold(path)
        return any(name in self._steering for above in (folded, *_above(folded)) for name in _last_names(above))

    def asks(self, path: str) -> bool:
        """Whether writing the path can make another program run something."""
        return any(name in self._asking for name in _last_names(self._fold(path)))


def _above(path: str) -> list[str]:
    """Every directory above a path, the root last."""
    found = []
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        found.append(path)
    return found


def _last_names(path: str) -> tuple[str, str]:
    """The last name of a path, and the last two."""
    above, _, last = path.rpartition("/")
    return last, f"{above.rpartition('/')[2]}/{last}"
