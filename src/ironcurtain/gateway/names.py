"""The name under which an agent sees a tool: our key for the server, and the tool's own name.

`server__tool` where both are plain. Any other name keeps what is plain of it and gets a digest, so that no two tools
ever share one and every client accepts it.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

LONGEST: Final = 64  # characters; what the strictest clients accept
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+")
_DIGITS: Final = 12


def exposed_name(server: str, tool: str) -> str:
    """The agent's name for a tool."""
    plain = _PLAIN.fullmatch(server) and _PLAIN.fullmatch(tool) and "__" not in server and not server.endswith("_")
    name = f"{server}__{tool}"
    if plain and len(name) <= LONGEST and not _looks_digested(tool):
        return name
    digest = hashlib.sha256(f"{len(server)}:{server}{tool}".encode()).hexdigest()[:_DIGITS]
    room = LONGEST - len(digest) - 4
    begin = _cleaned(server)[: room // 2]
    return f"{begin}__{_cleaned(tool)[: room - len(begin)]}__{digest}"


def _looks_digested(tool: str) -> bool:
    """A plain tool that ends like a digested one gets a digest too: the two kinds of names never meet."""
    return re.search(rf"__[0-9a-f]{{{_DIGITS}}}$", tool) is not None


def _cleaned(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", name).strip("-") or "x"
