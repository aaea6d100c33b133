"""The places no tool may touch, whatever the policy says.

INVARIANT: the agent never reads or writes what decides about it: policy, audit, approvals, credentials, control
sockets, and the configurations that start servers. Whether they exist yet does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

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

Fold = Callable[[str], str]
MAX_SPELLINGS: Final = 64  # of a path with brackets


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a place before any policy is asked."""

    covered: bool
    """It is protected, or lies in something that is."""
    ancestor: bool
    """Something protected lies below it."""
    steering: bool
    """Other programs take instructions from it, or from a directory it is in."""
    asking: bool
    """Writing it can make another program run something."""


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
        ancestors = frozenset(above for path in folded for above in _ways_to(path))
        return cls(
            _inside=folded,
            _exceptions=exceptions,
            _ancestors=ancestors - folded,
            _projects=frozenset("/" + fold(name) for name in PROJECT_CONFIGURATIONS),
            _steering=frozenset(_marked(fold(name)) for name in (*STEERING_NAMES, *STEERING_DIRECTORIES)),
            _asking=frozenset("/" + fold(name) for name in ASK_BEFORE_WRITING),
            _fold=fold,
        )

    def standing(self, path: str) -> Standing:
        """Look a place up."""
        folded = self._fold(path)
        ways = _ways_to(folded)
        last = _last_names(folded)
        return Standing(
            covered=not self._projects.isdisjoint(last) or self._is_inside(path, ways),
            ancestor=folded in self._ancestors,
            steering=not self._steering.isdisjoint(folded.split("/")) or last[1] in self._steering,
            asking=not self._asking.isdisjoint(last),
        )

    def _is_inside(self, path: str, ways: list[str]) -> bool:
        """Whether something protected is on the way, and no exception further on."""
        deepest = max((len(way) for way in ways if way in self._inside), default=0)
        return deepest > 0 and not any(
            len(exception) > deepest and (path == exception or path.startswith(exception + "/"))
            for exception in self._exceptions
        )


def spellings_of(path: str) -> list[str]:
    """The path, and what it may become where a program takes brackets for a choice of characters."""
    found = [path]
    for _ in range(path.count("[")):
        found = [form for text in found for form in _choices(text)][:MAX_SPELLINGS]
    return [path, *found]


def _choices(text: str) -> list[str]:
    before, opening, rest = text.partition("[")
    inside, closing, after = rest.partition("]")
    return [before + char + after for char in dict.fromkeys(inside)] if opening and closing and inside else [text]


def _marked(name: str) -> str:
    """A name that counts anywhere on the way as it is; one of two parts, which counts at the end, with its slash."""
    return f"/{name}" if "/" in name else name


def _ways_to(path: str) -> list[str]:
    """Every directory above a path, from the root, and the path itself."""
    ways = ["/"]
    at = path.find("/", 1)
    while at > 0:
        ways.append(path[:at])
        at = path.find("/", at + 1)
    ways.append(path)
    return ways


def _last_names(path: str) -> tuple[str, str]:
    """The last name of a path, and the last two, each with the slash before it."""
    last = path.rfind("/")
    return path[last:], path[path.rfind("/", 0, last) if last > 0 else 0 :]
