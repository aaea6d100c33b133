"""The clients we know, where each keeps its servers, and what our entry looks like there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_PATIENCE: Final = 16 * 60  # seconds that a client should wait for an answer: a person may take fifteen minutes


def _plain(command: str, arguments: list[str], env: dict[str, str]) -> dict[str, Any]:
    return {"command": command, "args": arguments, **({"env": env} if env else {})}


def _typed(command: str, arguments: list[str], env: dict[str, str]) -> dict[str, Any]:
    return {"type": "stdio", **_plain(command, arguments, env)}


def _gemini(command: str, arguments: list[str], env: dict[str, str]) -> dict[str, Any]:
    return {**_plain(command, arguments, env), "timeout": _PATIENCE * 1000}


def _codex(command: str, arguments: list[str], env: dict[str, str]) -> dict[str, Any]:
    return {**_plain(command, arguments, env), "tool_timeout_sec": _PATIENCE}


def _goose(command: str, arguments: list[str], env: dict[str, str]) -> dict[str, Any]:
    return {
        "name": "ironcurtain",
        "type": "stdio",
        "enabled": True,
        "cmd": command,
        "args": arguments,
        "envs": env,
        "env_keys": [],
        "timeout": _PATIENCE,
        "bundled": False,
        "description": "every tool, behind IronCurtain",
    }


@dataclass(frozen=True, slots=True)
class Client:
    """One program with an MCP configuration."""

    name: str
    """The agent's name in our entry."""
    shown: str
    files: tuple[str, ...]
    """Below the owner's home."""
    keys: tuple[tuple[str, ...], ...] = (("mcpServers",),)
    """Where tables of servers may be in a file."""
    format: str = "json"
    project_files: tuple[str, ...] = ()
    """Below any directory that is a project."""
    entry: Callable[[str, list[str], dict[str, str]], dict[str, Any]] = field(default=_plain)
    old_url: str = ""
    """The key of an address that is spoken to in the old transport, unless its type says otherwise."""


_MAC: Final = "Library/Application Support"

CLIENTS: Final = (
    Client("claude-code", "Claude Code", (".claude.json",), project_files=(".mcp.json",), entry=_typed),
    Client(
        "claude-desktop",
        "Claude Desktop",
        (".config/Claude/claude_desktop_config.json", f"{_MAC}/Claude/claude_desktop_config.json"),
    ),
    Client("cursor", "Cursor", (".cursor/mcp.json",), project_files=(".cursor/mcp.json",)),
    Client(
        "vscode",
        "VS Code",
        tuple(f"{root}/Code/User/{file}" for root in (".config", _MAC) for file in ("mcp.json", "settings.json")),
        (("servers",), ("mcp", "servers")),
        project_files=(".vscode/mcp.json", ".vscode/settings.json"),
        entry=_typed,
    ),
    Client("windsurf", "Windsurf", (".codeium/windsurf/mcp_config.json",)),
    Client(
        "gemini",
        "Gemini CLI",
        (".gemini/settings.json",),
        project_files=(".gemini/settings.json",),
        entry=_gemini,
        old_url="url",
    ),
    Client(
        "codex",
        "Codex",
        (".codex/config.toml",),
        (("mcp_servers",),),
        format="toml",
        project_files=(".codex/config.toml",),
        entry=_codex,
    ),
    Client("goose", "Goose", (".config/goose/config.yaml",), (("extensions",),), format="yaml", entry=_goose),
)


@dataclass(frozen=True, slots=True)
class Place:
    """A file that a client has, and the project it is about, if it is about one."""

    client: Client
    path: Path
    project: Path | None = None


def places(owner: Path, projects: tuple[Path, ...]) -> list[Place]:
    """Every file of every client that is there, each once."""
    found: dict[Path, Place] = {}
    for client in CLIENTS:
        for name in client.files:
            found.setdefault(owner / name, Place(client, owner / name))
        for project in projects:
            for name in client.project_files:
                found.setdefault(project / name, Place(client, project / name, project))
    return [place for path, place in found.items() if path.is_file()]
