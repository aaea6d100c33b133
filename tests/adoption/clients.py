"""Files as the clients write them: comments, unknown keys, project scopes, tabs, trailing commas and all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"

FILES: dict[str, str] = {
    ".claude.json": """{
  "numStartups": 184,
  "installMethod": "global",
  "autoUpdates": false,
  "tipsHistory": { "new-user-warmup": 1, "shift-enter": 30 },
  "projects": {
    "/home/owner/shop": {
      "allowedTools": [],
      "history": [ { "display": "look at \\"mcpServers\\": {", "pastedContents": {} } ],
      "mcpServers": {
        "shop-db": {
          "type": "stdio",
          "command": "uvx",
          "args": ["mcp-server-sqlite", "--db-path", "${HOME}/shop.db"],
          "env": {}
        }
      },
      "enabledMcpjsonServers": [],
      "hasTrustDialogAccepted": true
    },
    "/home/owner/empty": { "allowedTools": [], "mcpServers": {} }
  },
  "mcpServers": {
    "github": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "SECRET", "LOG_LEVEL": "info" }
    },
    "linear": { "type": "sse", "url": "https://mcp.linear.app/sse" },
    "docs": { "type": "http", "url": "https://docs.example.com/mcp", "headers": { "Authorization": "Bearer SECRET" } }
  },
  "oauthAccount": { "accountUuid": "7f", "emailAddress": "owner@example.com" }
}
""",
    ".config/Claude/claude_desktop_config.json": """{
\t"globalShortcut": "Ctrl+Space",
\t"mcpServers": {
\t\t"filesystem": {
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/owner/Documents"]
\t\t}
\t}
}""",
    ".cursor/mcp.json": """\ufeff{
  // servers of my own
  "mcpServers": {
    "time": { "command": "uvx", "args": ["mcp-server-time"] }, // which timezone?
    /* the one below needs a key */
    "search": {
      "command": "search-mcp",
      "env": { "API_KEY": "${env:SEARCH_KEY}", },
    },
  },
}
""",
    ".config/Code/User/mcp.json": """{
\t"servers": {
\t\t"fetch": {
\t\t\t"type": "stdio",
\t\t\t"command": "uvx",
\t\t\t"args": ["mcp-server-fetch"]
\t\t},
\t\t"asks": {
\t\t\t"command": "asks",
\t\t\t"env": { "KEY": "${input:key}" }
\t\t}
\t},
\t"inputs": [
\t\t{ "type": "promptString", "id": "key", "description": "a key", "password": true }
\t]
}
""",
    ".config/Code/User/settings.json": """{
    "editor.fontSize": 13, // smaller
    "mcp": {
        "servers": {
            "git": { "command": "uvx", "args": ["mcp-server-git"] }
        },
    },
    "files.exclude": { "**/.git": true },
}
""",
    ".codeium/windsurf/mcp_config.json": """{
  "mcpServers": {
    "remote": { "serverUrl": "https://tools.example.com/mcp", "headers": { "X-Api-Key": "SECRET" } },
    "resting": { "command": "resting", "args": [], "disabled": true, "alwaysAllow": ["read"] }
  }
}
""",
    ".gemini/settings.json": """{
  "theme": "GitHub",
  "selectedAuthType": "oauth-personal",
  "mcpServers": {
    "sqlite": { "command": "uvx", "args": ["mcp-server-sqlite"], "cwd": "/tmp", "timeout": 30000, "trust": false },
    "streaming": { "httpUrl": "http://127.0.0.1:3000/mcp" },
    "old": { "url": "http://127.0.0.1:3001/events" }
  }
}
""",
    ".codex/config.toml": """# my settings
model = "o5"   # the large one

[mcp_servers.context]
command = "npx"                      # a comment behind
args = ["-y", "@upstash/context7-mcp"]
env = { "CONTEXT_API_KEY" = "SECRET" }
startup_timeout_sec = 20

# the next one is remote
[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"

[projects."/home/owner/shop"]
trust_level = "trusted"
""",
    ".config/goose/config.yaml": """GOOSE_PROVIDER: anthropic   # which model
extensions:
  # a part of the program
  developer:
    bundled: true
    display_name: Developer
    enabled: true
    name: developer
    timeout: 300
    type: builtin

  memory:
    args:
    - -y
    - '@modelcontextprotocol/server-memory'
    cmd: npx
    enabled: true
    env_keys: [MEMORY_TOKEN]
    envs: {}
    name: memory
    timeout: 300
    type: stdio
  # the last one
  web:
    enabled: true
    envs: {}
    headers: {}
    name: web
    type: streamable_http
    uri: http://127.0.0.1:3002/mcp
GOOSE_MODEL: large
""",
    "project/.mcp.json": """{ "mcpServers": { "lint": { "command": "./tools/lint-mcp", "args": [] } } }
""",
    "project/.vscode/mcp.json": """{
  "servers": {
    "here": { "command": "here", "args": ["${workspaceFolder}/data"], "cwd": "${workspaceFolder}" }
  }
}
""",
}  # fmt: skip

VARIABLES = {"SEARCH_KEY": "search-key-value", "FIGMA_TOKEN": "figma-token-value", "MEMORY_TOKEN": "memory-token-value"}


def furnish(owner: Path) -> dict[Path, bytes]:
    """Write all of them, and say what they were."""
    written = {}
    for name, text in FILES.items():
        path = owner / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("SECRET", SECRET).encode())
        written[path] = path.read_bytes()
    return written
