"""Roles: what an argument's value means to the policy. An open vocabulary in closed categories."""

from __future__ import annotations

from enum import Enum
from typing import Final, NewType

Role = NewType("Role", str)

READ_PATH: Final = Role("read-path")
WRITE_PATH: Final = Role("write-path")
DELETE_PATH: Final = Role("delete-path")
FETCH_URL: Final = Role("fetch-url")
SEND_URL: Final = Role("send-url")
HOST: Final = Role("host")
COMMAND: Final = Role("command")
IDENTIFIER: Final = Role("identifier")
NONE: Final = Role("none")


class Category(Enum):
    """How a role's values are resolved and what claims they make."""

    PATH = "path"
    URL = "url"
    PARTY = "party"
    PLACE = "place"
    OTHER = "other"
    CARRIED = "carried"
    NONE = "none"


_CATEGORIES: Final[dict[Role, Category]] = {
    READ_PATH: Category.PATH,
    WRITE_PATH: Category.PATH,
    DELETE_PATH: Category.PATH,
    FETCH_URL: Category.URL,
    SEND_URL: Category.URL,
    Role("recipient"): Category.PARTY,
    Role("attendee"): Category.PARTY,
    Role("channel"): Category.PLACE,
    Role("calendar"): Category.PLACE,
    Role("repository"): Category.PLACE,
    Role("place"): Category.PLACE,
    HOST: Category.PLACE,
    Role("account"): Category.OTHER,
    COMMAND: Category.OTHER,
    Role("outbound-content"): Category.CARRIED,
    Role("amount"): Category.CARRIED,
    IDENTIFIER: Category.CARRIED,
    NONE: Category.NONE,
}

READ_ROLES: Final = frozenset({READ_PATH, FETCH_URL})
CONTAINABLE: Final = frozenset({READ_PATH, WRITE_PATH})


def category(role: Role) -> Category:
    """The role's category; a role nobody has heard of is a resource, so that it needs a rule."""
    return _CATEGORIES.get(role, Category.OTHER)


def vocabulary() -> tuple[Role, ...]:
    """The roles that have a meaning of their own."""
    return tuple(role for role in _CATEGORIES if role != NONE)


def is_carried(role: Role) -> bool:
    """Whether the role says what goes along rather than what is touched."""
    return category(role) is Category.CARRIED


def sends(role: Role) -> bool:
    """Whether a claim of this role takes something to somebody: reading is not sending."""
    return role == SEND_URL or category(role) in (Category.PARTY, Category.PLACE)
