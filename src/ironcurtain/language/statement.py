"""A statement of the plain language, as a value. `parsing.py` makes one from a line, `writing.py` writes it back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

ACTS: Final = ("read", "create", "change", "delete", "trash", "move", "send", "share", "upload", "pay", "run")
"""The verbs with a meaning of their own. Any other verb stands for the tools that bear it in their names."""


class Mood(Enum):
    """What a statement says of the calls it speaks of. Never beats ask, ask beats may, may beats otherwise."""

    NEVER = "must never"
    ASK = "must ask before"
    MAY = "may"
    OTHERWISE = "must ask otherwise before"

    @property
    def tightens(self) -> bool:
        """Whether it holds where it might: a never or an ask."""
        return self in (Mood.NEVER, Mood.ASK)


@dataclass(frozen=True, slots=True)
class Name:
    """A name or value as it stands in a statement. A quoted one is never grammar and never a star."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Thing:
    """What is acted on: a noun that tools are about, or anything; perhaps of one server."""

    noun: str = ""
    """Empty for `anything`."""
    of: Name | None = None
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Doing:
    """Acts on things, or the use of tools by name.

    `acts` is empty for `do anything with` and for `use`; `tools` is empty but for `use`.
    """

    acts: tuple[str, ...] = ()
    things: tuple[Thing, ...] = ()
    tools: tuple[Name, ...] = ()


# --- Limits. ---


@dataclass(frozen=True, slots=True)
class Place:
    """`in ~/Projects`, `on docs.python.org`, `outside #team`."""

    names: tuple[Name, ...]
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Domain:
    """`anyone at example.com`."""

    name: Name


@dataclass(frozen=True, slots=True)
class People:
    """`to contacts`, `to anyone at example.com`, `to anyone outside contacts`; without members, `to anyone`."""

    members: tuple[Name | Domain, ...] = ()
    outside: bool = False


class Comparison(Enum):
    """What a condition asks of an argument."""

    IS = "is"
    IS_NOT = "is not"
    AT_MOST = "is at most"
    AT_LEAST = "is at least"
    ABOVE = "is more than"
    BELOW = "is less than"
    LONGER = "is longer than"
    NO_LONGER = "is no longer than"
    IN = "is in"
    UNDER = "is under"
    CONTAINS = "contains"
    STARTS = "starts with"
    ENDS = "ends with"
    MATCHES = "matches"
    GIVEN = "is given"
    LEFT_OUT = "is left out"


@dataclass(frozen=True, slots=True)
class Condition:
    """One argument, and what it must be."""

    argument: str
    test: Comparison
    values: tuple[Name, ...] = ()
    given: bool = False
    """`is given and ...`: the argument must be there."""
    or_left_out: bool = False


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions on arguments, all of which must hold."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Giving:
    """`giving only`: all other arguments are left out."""

    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """More than a number of people, or of things at once."""

    beyond: int
    noun: str = ""
    """Empty for people."""


@dataclass(frozen=True, slots=True)
class Attachments:
    """Files that are sent along: from some places, from anywhere, or none."""

    names: tuple[Name, ...] = ()
    without: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """A question about what a text says, answered at run time by whoever judges content."""

    question: str


@dataclass(frozen=True, slots=True)
class After:
    """After reading some things in this session or task."""

    things: tuple[Thing, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """With anything that was read from some places."""

    names: tuple[Name, ...]


class Task(Enum):
    """What the person asked for now."""

    PEOPLE = "to people named in the task"
    ASKED = "if the task asks for it"


Limit: TypeAlias = Place | People | Where | Giving | Count | Attachments | Content | After | Origin | Task
JOINING: Final = (Count, Content, After, Origin, Task)
"""Limits that ask and permit nothing: an ask with no other limit is joined to what other statements say."""


@dataclass(frozen=True, slots=True)
class Except:
    """What a statement does not speak of: acts, things, tools or limits, all together."""

    doing: Doing = Doing()
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """One line, one meaning."""

    mood: Mood
    doing: Doing
    limits: tuple[Limit, ...] = ()
    only: int | None = None
    """The number of the limit that is closed by `only`."""
    exceptions: tuple[Except, ...] = ()


class Amount(Enum):
    """What a budget counts."""

    CALLS = "calls"
    MONEY = "money"
    MINUTES = "minutes"


@dataclass(frozen=True, slots=True)
class Budget:
    """`must never make more than 200 calls per task`."""

    amount: Amount
    most: float
    period: str = "task"


Line: TypeAlias = Statement | Budget
