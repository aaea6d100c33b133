"""Parties: people addressed. One string may name several, and servers split it; so do we, and send what we split."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ironcurtain.errors import Refusal
from ironcurtain.model.resolved import Opaque, Party, mint_party
from ironcurtain.resolve.hosts import resolve_host
from ironcurtain.resolve.text import hides, require_visible

MAX_PARTIES: Final = 1_000  # in one string

MAX_ENTRY: Final = 1_000  # characters of one of them
MAX_TEXT: Final = 32_768  # characters of the string

_LOCAL: Final = re.compile(r"[A-Za-z0-9#$&'*+/=?^_`{|}~.-]+")
_ENTRY: Final = re.compile(r'[^,;"]*(?:"[^"]*"[^,;"]*)*')
_FORBIDDEN: Final = frozenset('<>"()\\%!')
_PHONE: Final = re.compile(r"\+[0-9][0-9 ./-]{4,}[0-9]")
_PHONE_BREAK: Final = re.compile(r"[ ./-]+")


def resolve_parties(text: str) -> tuple[Party, ...] | Opaque:
    """The parties a string names, or the string itself where it cannot be read as a list of them."""
    try:
        require_visible(text, "", "")
        return tuple(_party(piece) for piece in _split(text) if piece.strip())
    except (Refusal, ValueError):
        return Opaque(text)


def _split(text: str) -> list[str]:
    """Cut at commas and semicolons that stand outside quotes."""
    if len(text) > MAX_TEXT or text.count('"') % 2:
        raise ValueError(text)
    pieces = _ENTRY.findall(text)
    if text.count(",") + text.count(";") >= MAX_PARTIES or any(len(piece) > MAX_ENTRY for piece in pieces):
        raise ValueError(text)
    return pieces


def _party(piece: str) -> Party:
    if unicodedata.normalize("NFKC", piece) != piece or hides(piece):
        raise ValueError(piece)
    bare, named = _address_of(piece.strip())
    if not bare or _FORBIDDEN & set(bare) or "=?" in bare:
        raise ValueError(piece)
    local, at, domain = bare.rpartition("@")
    if not at or not local:  # a name, an id, a @handle
        if named:
            raise ValueError(piece)
        return mint_party(_PHONE_BREAK.sub("", bare) if _PHONE.fullmatch(bare) else bare, None)
    if "@" in local or not _LOCAL.fullmatch(local):
        raise ValueError(piece)
    host = resolve_host(domain).host
    return mint_party(f"{local.lower()}@{host}", host)


def _address_of(piece: str) -> tuple[str, bool]:
    """What stands between the brackets of `Ann Lee <ann@x.example>`, or the piece itself."""
    if not piece.endswith(">"):
        return piece, False
    name, opening, bare = piece[:-1].rpartition("<")
    name = name.strip()
    quoted = name.startswith('"') and name.endswith('"') and '"' not in name[1:-1]
    if not opening or set("<>\\") & set(name) or (not quoted and set('"@') & set(name)):
        raise ValueError(piece)
    return bare.strip(), True
