"""URLs: one grammar, one spelling. What two programs might read differently is refused, not repaired."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote as percent

from ironcurtain.errors import Refusal, quote
from ironcurtain.model.resolved import CanonicalUrl, mint_url
from ironcurtain.resolve.hosts import Lookup, resolve_host
from ironcurtain.resolve.text import hides, require_visible

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_URL: Final = 8192  # characters
_DEFAULT_PORT: Final = {"http": "80", "https": "443"}
_URL: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<authority>[^/?#]*))?(?P<rest>.*)", re.DOTALL)
_AUTHORITY: Final = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]+)(?::(?P<port>[0-9]{1,5}))?")
_BARE: Final = re.compile(r"(?P<host>[^:/?#@\[\]]+|\[[0-9A-Fa-f:.]+\])(?P<port>:[0-9]{1,5})?")
_NOT_IN_A_URL: Final = re.compile(r"[\s\\]")
_HAS_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_NAME: Final = re.compile(r"[A-Za-z0-9_,'()&+-]+(?:[ /][A-Za-z0-9_,'()&+-]+)*")
_WORD: Final = re.compile(r"[A-Za-z0-9_-]+")
_HOST_HERE: Final = re.compile(r"0x|localhost|ip6-|metadata$|instance-data", re.IGNORECASE)
_ADDRESSES: Final = range(2**24, 2**32)
_UNRESERVED: Final = re.compile(r"%(4[1-9A-Fa-f]|5[0-9Aa]|6[1-9A-Fa-f]|7[0-9Aa]|3[0-9]|2[DdEe]|5[Ff]|7[Ee])")
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})|%[0-9A-Fa-f]{2}")
# Everything a URL may hold after the host; the rest is percent-encoded.
_KEEP: Final = "!$&'()*+,;=:@/?#%-._~"


def looks_like_url(text: str) -> bool:
    """Whether a value that may be a URL or a path is a URL."""
    return _HAS_SCHEME.match(text) is not None


def looks_like_name(text: str) -> bool:
    """Whether a value that may be a URL or a name is a name: `4ea3d5fb`, `team/project`, `Rigg, Hilda`.

    None of its words is a name of this machine, or a number that a lenient program may read as an address: what is
    below 0.255.255.255 leads nowhere, what is above 255.255.255.255 is none.
    """
    return _NAME.fullmatch(text) is not None and not any(map(_may_be_a_host, _WORD.findall(text)))


def _may_be_a_host(word: str) -> bool:
    number = word.isdigit() and (word.startswith("0") or int(word[:11]) in _ADDRESSES)
    return number or _HOST_HERE.match(word) is not None


def resolve_url(text: str, lookup: Lookup | None = None) -> CanonicalUrl:
    """The canonical form of an absolute http or https URL, or of a bare host with an optional port."""
    require_visible(text, "url_spelling", "the URL")
    if len(text) > MAX_URL or _NOT_IN_A_URL.search(text) or hides(text):
        raise Refusal("url_spelling", f"a blank, a backslash, an invisible character or too long: {quote(text)}")
    if _is_bare(text):
        return _assemble("", text, "", lookup)
    parts = _URL.fullmatch(text)
    if parts is None:
        raise Refusal("url_spelling", f"not an absolute URL: {quote(text)}", "write https://host/path")
    scheme = parts["scheme"].lower()
    if scheme not in _DEFAULT_PORT:
        raise Refusal("url_scheme", f"the scheme {quote(scheme)} is not allowed", "use http or https")
    if not parts["authority"]:
        raise Refusal("url_spelling", f"a URL without a host: {quote(text)}", "write https://host/path")
    return _assemble(scheme, parts["authority"], parts["rest"], lookup)


def _is_bare(text: str) -> bool:
    """A host, or a host and port. With a port the name needs a dot: `javascript:1` is a scheme to a browser."""
    parts = _BARE.fullmatch(text)
    if parts is None:
        return False
    return not parts["port"] or parts["host"] == "localhost" or "." in parts["host"] or "[" in parts["host"]


def _assemble(scheme: str, authority: str, rest: str, lookup: Lookup | None) -> CanonicalUrl:
    if "@" in authority:
        raise Refusal("url_userinfo", "user information stands before the host", "leave out everything before the @")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None or "%" in authority:
        raise Refusal("url_spelling", f"not a host and port: {quote(authority)}")
    address = resolve_host(parts["host"], lookup)
    port = parts["port"]
    if port is not None and (port.startswith("0") or int(port) > 65535):
        raise Refusal("url_spelling", f"not a port: {quote(port)}")
    shown_port = "" if port is None or port == _DEFAULT_PORT.get(scheme) else f":{port}"
    start = f"{scheme}://" if scheme else ""
    return mint_url(f"{start}{address.host}{shown_port}{_tail(rest) if scheme else ''}", address)


def _tail(rest: str) -> str:
    """Path, query and fragment in one spelling: escapes normalised, dot segments removed."""
    encoded = percent(rest, safe=_KEEP)
    if any(len(escape) == 1 for escape in _ESCAPE.findall(encoded)):
        raise Refusal("url_spelling", "a percent sign that escapes nothing")
    plain = _UNRESERVED.sub(lambda escape: chr(int(escape[1], 16)), encoded)
    upper = _ESCAPE.sub(lambda escape: escape[0].upper(), plain)
    end = next((index for index, char in enumerate(upper) if char in "?#"), len(upper))
    return "/" + "/".join(_without_dots(upper[:end].split("/")[1:])) + upper[end:]


def _without_dots(segments: Iterable[str]) -> list[str]:
    kept: list[str] = []
    last = ""
    for segment in segments:
        last = segment
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    return [*kept, ""] if last in (".", "..") else kept
