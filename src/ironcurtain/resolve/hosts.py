"""Hosts: names and addresses, each in one spelling, with what they are known to be.

Rules kept here:

1. An address has one spelling: four decimal numbers, or IPv6 without zone and without an IPv4 address hidden in it.
2. A name is ASCII labels; other scripts are converted (UTS 46) first.
3. A service that hands out credentials is recognised whatever range its address is in.
4. With a lookup given, every answer counts, and the worst one decides.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from ironcurtain.errors import Refusal, quote
from ironcurtain.model.resolved import Address

Lookup: TypeAlias = Callable[[str], Sequence[str]]
"""Answers the addresses of a name; raises OSError when it has none."""

_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")

_LOCAL_ENDINGS: Final = (".localhost", ".local", ".localdomain", ".internal", ".home.arpa", ".svc")
_METADATA_NAMES: Final = frozenset(
    {"metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal"}
)
_METADATA_ADDRESSES: Final = frozenset(
    ipaddress.ip_address(address)
    for address in (
        "169.254.169.254",  # most clouds
        "169.254.170.2",  # container credentials
        "169.254.170.23",
        "169.254.169.253",
        "168.63.129.16",  # a public address, and yet
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)
# IPv4-compatible, -mapped and -translated; NAT64, also for local use; Teredo; 6to4.
_HIDING: Final = tuple(map(ipaddress.IPv6Network, (
    "::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16",
)))  # fmt: skip
_GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
# Special addresses that not every version of the standard library knows.
_NOT_PUBLIC: Final = tuple(
    ipaddress.ip_network(network)
    for network in ("192.88.99.0/24", "192.0.0.0/24", "2001:db8::/32", "2001:20::/28", "3fff::/20")
)
_EAST_ASIAN: Final = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
# Letters of other scripts that a reader takes for these ASCII ones.
_IMITATIONS: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d\u04bb\u04cf\u0261\u03b1\u03bf\u03c1\u03bd\u03b9\u03ba\u03c5\u0131\u0251\u0578\u057d\u0585",
    "aeopcyxijsdqwhlgaopvikuianso",
)


def resolve_host(text: str, lookup: Lookup | None = None) -> Address:
    """The host in its one spelling, or a refusal."""
    if text.startswith("["):
        if not text.endswith("]"):
            raise Refusal("host_spelling", f"an address without its closing bracket: {quote(text)}")
        return _address(_ipv6(text[1:-1]))
    name = _ascii(text)
    labels = name.split(".")
    if _NUMERIC.fullmatch(labels[-1]):
        return _address(_ipv4(name))
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise Refusal("host_spelling", f"not a host name: {quote(text)}")
    answers = [_address(_parse(answer)) for answer in _look_up(name, lookup)] if lookup else []
    return Address(
        host=name,
        private=_is_local(name) or any(answer.private for answer in answers),
        metadata=name in _METADATA_NAMES or any(answer.metadata for answer in answers),
        confusable=_imitated(name),
    )


def _is_local(name: str) -> bool:
    """Whether the name is one that only a private network answers."""
    return "." not in name or f".{name}".endswith(_LOCAL_ENDINGS)


def _ascii(text: str) -> str:
    """Lower case, one trailing dot gone, other scripts converted."""
    if not text.isascii():
        import idna  # noqa: PLC0415 - its tables take longer to load than most calls to decide

        try:
            text = idna.encode(text, uts46=True, std3_rules=True, transitional=False).decode("ascii")
        except idna.IDNAError:
            raise Refusal("host_spelling", f"not an international host name: {quote(text)}") from None
    return text.lower().removesuffix(".")


def _ipv4(name: str) -> ipaddress.IPv4Address:
    try:
        return ipaddress.IPv4Address(name)
    except ValueError:
        why = f"not an IPv4 address in its plain spelling: {quote(name)}"
        raise Refusal("host_spelling", why, "write a.b.c.d") from None


def _ipv6(text: str) -> ipaddress.IPv6Address:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise Refusal("host_spelling", f"not an IPv6 address: {quote(text)}") from None
    if address.scope_id is not None:
        raise Refusal("host_spelling", f"an IPv6 address with a zone: {quote(text)}")
    if address not in _PLAIN_LOW and (any(address in network for network in _HIDING) or _is_isatap(address)):
        raise Refusal("host_spelling", f"an IPv6 address that holds an IPv4 address: {quote(text)}")
    return address


_PLAIN_LOW: Final = frozenset({ipaddress.IPv6Address("::"), ipaddress.IPv6Address("::1")})


def _is_isatap(address: ipaddress.IPv6Address) -> bool:
    return (int(address) >> 32) & 0xFFFFFFFF in (0x00005EFE, 0x02005EFE)


def _parse(answer: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """An address from a lookup. One that hides another is as bad as what it may hide."""
    try:
        return _ipv6(answer) if ":" in answer else _ipv4(answer)
    except Refusal:
        return ipaddress.IPv4Address("127.0.0.1")


def _address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Address:
    text = f"[{address.compressed}]" if address.version == 6 else address.compressed
    return Address(host=text, private=not _is_public(address), metadata=address in _METADATA_ADDRESSES)


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether the address is global by every list we have; what is assigned to nothing is not."""
    if any(address.version == network.version and address in network for network in _NOT_PUBLIC):
        return False
    if address.version == 6 and address not in _GLOBAL_UNICAST:
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _look_up(name: str, lookup: Lookup) -> Sequence[str]:
    try:
        answers = lookup(name)
    except OSError:
        answers = ()
    if not answers:
        raise Refusal("host_lookup", f"the name {quote(name)} has no address")
    return answers


def _imitated(name: str) -> str | None:
    """The name as a person would read it, if some label mixes scripts or imitates ASCII letters."""
    if "xn--" not in name:
        return None
    import idna  # noqa: PLC0415 - see above

    shown = []
    suspicious = False
    for label in name.split("."):
        try:
            plain = idna.decode(label) if label.startswith("xn--") else label
        except idna.IDNAError:
            raise Refusal("host_spelling", f"not an international host name: {quote(name)}") from None
        shown.append(plain)
        suspicious = suspicious or plain.translate(_IMITATIONS).isascii() != plain.isascii() or _mixes(plain)
    return ".".join(shown) if suspicious else None


def _mixes(label: str) -> bool:
    """Whether the letters come from scripts that do not belong together, going by their Unicode names."""
    scripts = {unicodedata.name(char, "?").split(" ")[0] for char in label if char.isalpha()}
    return len(scripts) > 1 and not scripts <= _EAST_ASIAN
