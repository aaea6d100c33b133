"""Parties: people addressed. One string may name several, and servers split it; so do we, and send what we split."""

from __future__ import annotations

import re
from typing import Final

from ironcurtain.errors import Refusal
from ironcurtain.model.resolved import Opaque, Party, mint_party
from ironcurtain.resolve.hosts import resolve_host
from ironcurtain.resolve.text import require_visible

MAX_PARTIES: Final = 1_000  # in one string

_DISPLAY: Final = re.compile(r'(?:"[^"\\<>]*"|[^"<>@\\]*)\s*<([^<>"]*)>')
_LOCAL: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+")
_BARE_FORBIDDEN: Final = frozenset('<>"()\\')


def resolve_parties(text: str) -> tuple[Party, ...] | Opaque:
    """The parties a string names, or the string itself where it cannot be read as a list of them."""
    try:
        require_visible(text, "", "")
        pieces = _split(text)
        return tuple(_party(piece) for piece in pieces if piece)
    except (Refusal, ValueError):
        return Opaque(text)


def _split(text: str) -> list[str]:
    """Cut at commas and semicolons that stand outside quotes."""
    pieces = [""]
    quoted = False
    for char in text:
        quoted = quoted != (char == '"')
        if char in ",;" and not quoted:
            pieces.append("")
        else:
            pieces[-1] += char
    if quoted or len(pieces) > MAX_PARTIES:
        raise ValueError(text)
    return [piece.strip() for piece in pieces]


def _party(piece: str) -> Party:
    display = _DISPLAY.fullmatch(piece)
    bare = display[1].strip() if display else piece
    if not bare or _BARE_FORBIDDEN & set(bare):
        raise ValueError(piece)
    local, at, domain = bare.rpartition("@")
    if not at or not local:  # a name, an id, a @handle
        if display:
            raise ValueError(piece)
        return mint_party(bare, None)
    if "@" in local or not _LOCAL.fullmatch(local):
        raise ValueError(piece)
    host = resolve_host(domain).host
    return mint_party(f"{local.lower()}@{host}", host)
