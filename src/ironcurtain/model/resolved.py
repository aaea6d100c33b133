"""Resolved things: the one form that is checked and forwarded.

INVARIANT: a value of these types has been through `resolve/`. They are made by `mint_*` alone, and a test keeps every
other room from importing those.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeAlias

Scalar: TypeAlias = str | int | float | bool | None

_MINT: Final = object()


@dataclass(frozen=True, slots=True)
class _Sealed:
    _mint: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self._mint is not _MINT:
            _refuse(type(self).__name__)


def _refuse(name: str) -> NoReturn:
    raise TypeError(f"a {name} is made by the resolve room only")


@dataclass(frozen=True, slots=True)
class CanonicalPath(_Sealed):
    """An absolute path with its symlinks followed as far as they exist."""

    text: str
    trail: tuple[str, ...]
    """Every link met on the way: its own place, with what was still to follow behind it."""
    crossings: tuple[int, ...]
    """Lengths of the prefixes of `text` at which another mount begins."""
    shared: bool
    """Whether it is a file that has other names too (hard links)."""

    def __str__(self) -> str:
        return self.text

    def named_within(self, directory: str) -> bool:
        """Whether the name lies in the directory, or is it."""
        return directory in ("/", self.text) or self.text.startswith(directory + "/")

    def within(self, directory: str) -> bool:
        """Whether the thing itself lies in the directory: same mount, and no second name elsewhere."""
        return (
            self.named_within(directory)
            and not self.shared
            and all(crossing <= len(directory) for crossing in self.crossings)
        )


@dataclass(frozen=True, slots=True)
class Address:
    """A host that is an address or a name, with what the invariants need to know of it."""

    host: str
    private: bool = False
    metadata: bool = False
    confusable: str | None = None
    """The same name as a person would read it, where that differs."""


@dataclass(frozen=True, slots=True)
class CanonicalUrl(_Sealed):
    """A URL in its one spelling."""

    text: str
    address: Address

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Party(_Sealed):
    """Somebody addressed: an e-mail address, or a name as it stands."""

    text: str
    domain: str | None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Remote(_Sealed):
    """A place that may lead to a host: `git@host:path`, `host/path`, `ann@host`."""

    text: str
    address: Address
    numeric: bool
    """The host is an address, not a name."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Command(_Sealed):
    """A command line, and what is to be known of it before trusting a condition on its text."""

    text: str
    parts: tuple[str, ...]
    """The pieces between separators, also without what may stand around them."""
    plain: bool
    """It is a single command without shell syntax."""
    unreadable: bool
    """It substitutes, redirects or escapes, or has too many parts: the pieces say nothing for sure."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Unknown:
    """Left out or empty: the server picks something. Satisfies no condition."""

    def __str__(self) -> str:
        return "(left out)"


@dataclass(frozen=True, slots=True)
class Opaque:
    """Present but unreadable: satisfies nothing in an allow, everything in a deny or escalate."""

    text: str

    def __str__(self) -> str:
        return self.text


Value: TypeAlias = CanonicalPath | CanonicalUrl | Party | Remote | Command | Unknown | Opaque | str | int | float | bool

UNKNOWN: Final = Unknown()


def mint_path(text: str, trail: tuple[str, ...], crossings: tuple[int, ...], *, shared: bool) -> CanonicalPath:
    """Make a canonical path; for `resolve/paths.py` only."""
    return CanonicalPath(_MINT, text, trail, crossings, shared)


def mint_url(text: str, address: Address) -> CanonicalUrl:
    """Make a canonical URL; for `resolve/urls.py` only."""
    return CanonicalUrl(_MINT, text, address)


def mint_party(text: str, domain: str | None) -> Party:
    """Make a party; for `resolve/parties.py` only."""
    return Party(_MINT, text, domain)


def mint_remote(text: str, address: Address, *, numeric: bool) -> Remote:
    """Make a remote; for `resolve/places.py` only."""
    return Remote(_MINT, text, address, numeric)


def mint_command(text: str, parts: tuple[str, ...], *, plain: bool, unreadable: bool) -> Command:
    """Make a command; for `resolve/commands.py` only."""
    return Command(_MINT, text, parts, plain, unreadable)
