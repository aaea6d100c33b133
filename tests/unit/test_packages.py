"""A package without an exact version is pointed out, however it is started."""

from __future__ import annotations

import shlex

import pytest

from ironcurtain.artifacts.packages import unpinned

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("command", "package"),
    [
        ("npx -y @scope/server", "@scope/server"),
        ("npx -y @scope/server@latest", "@scope/server@latest"),
        ("npx -y @scope/server@1.2.3", None),
        ("npx -y server@1.2.3-beta.1 --port 3", None),
        ("npx -y pkg@beta", "pkg@beta"),
        ("npx pkg@^1.0.0", "pkg@^1.0.0"),
        ("npx pkg@1", "pkg@1"),
        ("npx pkg@*", "pkg@*"),
        ("npx pkg@LATEST", "pkg@LATEST"),
        ("npx --package=evil run", "evil"),
        ("npx -p evil@1.0.0 -p other run", "other"),
        ("npx -c run -p evil@1.0.0 x", None),
        ("npx github:x/y", "github:x/y"),
        (f"npx github:x/y#{COMMIT}", None),
        ("npx x/y", "x/y"),
        ("npm exec -y pkg", "pkg"),
        ("npm exec -y pkg@1.0.0", None),
        ("npm start", None),
        ("pnpm dlx pkg", "pkg"),
        ("bun x pkg", "pkg"),
        ("/usr/bin/env npx -y pkg", "pkg"),
        ("env A=1 npx -y pkg", "pkg"),
        ("sh -c 'exec npx -y pkg --flag'", "pkg"),
        ("uvx mcp-server-git", "mcp-server-git"),
        ("uvx mcp-server-git==2026.1", None),
        ("uvx mcp-server-git@2026.1.14", None),
        ("uvx pkg>=1", "pkg>=1"),
        ("uvx --python 3.12 pkg==1.0", None),
        ("uvx --from git+https://h.example/x run", "git+https://h.example/x"),
        (f"uvx --from git+https://h.example/x@{COMMIT} run", None),
        ("uvx --with extra pkg==1.0", "extra"),
        ("uvx --with extra==1.0 pkg", "pkg"),
        ("uv tool run pkg", "pkg"),
        ("uv run server.py", None),
        ("pipx run --spec pkg==1.0.0 tool", None),
        ("pipx run pkg", "pkg"),
        ("docker run -i --rm mcp/thing", "mcp/thing"),
        ("docker run -i --rm mcp/thing:1.2", None),
        ("docker run --name foo -e A=1 -v /a:/b img", "img"),
        ("docker run img:LATEST", "img:LATEST"),
        ("docker run localhost:5000/img", "localhost:5000/img"),
        ("docker run localhost:5000/img:1.2", None),
        (f"docker run img@sha256:{COMMIT}0123456789abcdef01234567", None),
        ("docker ps", None),
        ("deno run -A npm:pkg", "npm:pkg"),
        ("deno run -A npm:pkg@1.2.3", None),
        ("deno run server.ts", None),
        ("/usr/bin/python -m server", None),
        ("npx ./server", None),
        ("npx pkg@1.2", "pkg@1.2"),
        ("npx pkg@1.2.x", "pkg@1.2.x"),
        ("env npx --package=evil foo@1.0.0", "evil"),
        ("env -u A npx pkg", "pkg"),
        ("sudo -u ann nice -n 5 npx pkg", "pkg"),
        ("timeout -k 5 10 npx pkg", "pkg"),
        ("bash -lic 'cd x && npx evil'", "evil"),
        ("npm --yes exec pkg", "pkg"),
        ("uv --quiet tool run pkg", "pkg"),
        ("docker --context c run img", "img"),
        ("npx --registry https://h.example pkg@1.0.0", None),
        ("", None),
    ],
)
def test_a_package_without_a_version_is_pointed_out(command: str, package: str | None) -> None:
    assert unpinned(shlex.split(command)) == package
