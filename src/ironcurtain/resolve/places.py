"""Places: channels, calendars, repositories. Most are names of something on a service; some lead to a host."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Final

from ironcurtain.errors import Refusal, quote
from ironcurtain.model.resolved import CanonicalUrl, Remote, mint_remote
from ironcurtain.resolve.hosts import resolve_host
from ironcurtain.resolve.urls import looks_like_url, resolve_url

if TYPE_CHECKING:
    from ironcurtain.resolve.hosts import Lookup

# `ext::sh -c id` runs a command, `//host/x` and `https:host` are URLs to some programs and names to others.
_TWO_MEANINGS: Final = re.compile(r"//|https?:|[A-Za-z0-9][A-Za-z0-9+.-]*::", re.IGNORECASE)
_HOST_ENDS: Final = re.compile(r"[:/]")


def resolve_place(text: str, lookup: Lookup | None = None) -> CanonicalUrl | Remote | str:
    """A URL, a place that may lead to a host, or a name as it stands without the blanks around it."""
    text = text.strip()
    if looks_like_url(text):
        return resolve_url(text, lookup)
    if _TWO_MEANINGS.match(text):
        raise Refusal(
            "value_spelling", f"a place that programs read differently: {quote(text)}", "write https://host/path"
        )
    first, *rest = _HOST_ENDS.split(text, maxsplit=1)
    _, at, host = first.rpartition("@")
    if not rest and not at:
        return text
    try:
        address = resolve_host(host)
    except Refusal:
        return text
    return mint_remote(text, address, numeric=_is_numeric(address.host))


def _is_numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
