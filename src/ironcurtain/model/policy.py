"""The policy language: rules, their conditions, and what is known of each tool."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ironcurtain.model.call import Json
    from ironcurtain.model.decision import Outcome
    from ironcurtain.model.resolved import Scalar
    from ironcurtain.model.roles import Role


@dataclass(frozen=True, slots=True)
class PathTest:
    """The path is inside one of the directories."""

    roles: frozenset[Role]
    within: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DomainTest:
    """The host is one of these names, or below one of these suffixes."""

    roles: frozenset[Role]
    names: frozenset[str]
    suffixes: frozenset[str]
    literal: frozenset[str] = frozenset()
    """The names that stand in the rule itself, not in a list it refers to."""


@dataclass(frozen=True, slots=True)
class ListTest:
    """The value is one of these, type included."""

    roles: frozenset[Role]
    members: frozenset[tuple[type, Scalar]]


@dataclass(frozen=True, slots=True)
class ValueTest:
    """A predicate on the values of some roles, taken together, or of one leaf."""

    roles: frozenset[Role]
    leaf: str | None
    equals: tuple[tuple[type, Scalar], ...] | None = None
    """The values of `equals` or `in`; both are written here, ANDed by intersection."""
    patterns: tuple[str, ...] = ()
    """A text must match each of them."""
    matches: tuple[Callable[[str], bool], ...] = field(default=(), compare=False)
    """The patterns, compiled."""
    minimum: float | None = None
    maximum: float | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    given: bool = False
    """The value must be one that was sent: what is left out and picked by the server does not count."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What must hold for a rule to match; absent means: not asked."""

    servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    side_effects: bool | None = None
    roles: frozenset[Role] = frozenset()
    paths: PathTest | None = None
    domains: DomainTest | None = None
    lists: tuple[ListTest, ...] = ()
    values: tuple[ValueTest, ...] = ()
    origin_roles: frozenset[Role] = frozenset()
    sources: frozenset[str] | None = None
    """The tools whose results an `origin` speaks of; nothing if it speaks of something that nobody can know yet."""
    question: str | None = None
    unless: tuple[tuple[PathTest | DomainTest | ListTest | ValueTest, ...], ...] = ()
    """Exceptions: groups of tests, read with the opposite polarity; one that holds in full lifts the rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the chain."""

    name: str
    conditions: Conditions
    then: Outcome
    elsewhere: bool = False
    joined: bool = False
    """An escalate that permits nothing: its outcome is joined to what the rules after it say."""
    description: str = ""
    principle: str = ""
    reason: str = ""
    named: frozenset[Role] = field(default=frozenset())
    """The roles it names, in any of its keys."""

    @property
    def unanswered(self) -> bool:
        """Whether it asks something that no step answers yet."""
        return self.conditions.question is not None or bool(self.conditions.origin_roles)


@dataclass(frozen=True, slots=True)
class Mode:
    """Roles of a leaf, and under which values of sibling arguments they are meant."""

    roles: tuple[Role, ...]
    absent_unknown: bool = True
    sql: bool = False
    """A command here is a statement in SQL."""
    argv: bool = False
    """A list here is one command, word by word."""
    when: tuple[tuple[str, frozenset[tuple[type, Scalar]]], ...] = ()
    relative_to: str = ""
    """The argument that holds the directory from which the server takes a relative path here."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The annotated arguments as a tree: a leaf has modes, an object members, a list of objects elements."""

    leaf: str
    modes: tuple[Mode, ...] = ()
    required: bool = False
    defaulted: bool = False
    """The schema has a default for it, so that emptiness is not nothing."""
    free: bool = True
    """An object may stand here as a whole: the schema has no leaf below it."""
    members: Mapping[str, Shape] = field(default_factory=dict)
    """Of a free leaf: the members that rules name; others may stand beside them."""
    elements: Shape | None = None
    within: tuple[str, ...] = ()
    """The free leaves that it is a member of: what stands here stands there, too."""


def leaves_of(shape: Shape) -> Iterator[Shape]:
    """The leaves of a tree, in order."""
    if shape.modes:
        yield shape
    for below in (*shape.members.values(), *((shape.elements,) if shape.elements else ())):
        yield from leaves_of(below)


def member_of(leaf: str, leaves: Iterable[Shape]) -> Shape | None:
    """Return the free leaf that an argument is a member of by its name; nothing if there is none."""
    above = (shape for shape in leaves if shape.free and leaf.startswith(f"{shape.leaf}."))
    return next((shape for shape in above if "" not in leaf[len(shape.leaf) + 1 :].split(".")), None)


def with_members(shape: Shape, names: Iterable[str]) -> Shape:
    """Return arguments in which these members of free leaves are leaves of their own; other names change nothing."""
    names = tuple(names)
    if shape.modes and shape.free:
        below = [name for name in names if member_of(name, (shape,))]
        firsts = dict.fromkeys(name[len(shape.leaf) + 1 :].partition(".")[0] for name in below)
        members = {first: with_members(_member(shape, first), below) for first in firsts}
        return replace(shape, members={**shape.members, **members}) if members else shape
    elements = with_members(shape.elements, names) if shape.elements else None
    return replace(
        shape, members={name: with_members(each, names) for name, each in shape.members.items()}, elements=elements
    )


def _member(shape: Shape, name: str) -> Shape:
    """A member of a free leaf, which means what the leaf means."""
    leaf, within = f"{shape.leaf}.{name}", (*shape.within, shape.leaf)
    return shape.members.get(name) or Shape(leaf, shape.modes, within=within)


def without_members(shape: Shape) -> Shape:
    """Return arguments as their schema describes them."""
    if shape.modes and shape.free:
        return replace(shape, members={})
    elements = without_members(shape.elements) if shape.elements else None
    return replace(
        shape, members={name: without_members(each) for name, each in shape.members.items()}, elements=elements
    )


@dataclass(frozen=True, slots=True)
class Tool:
    """What the policy knows of one tool."""

    server: str
    name: str
    side_effects: bool
    arguments: Shape
    roles: frozenset[Role]
    """Every role any leaf has in any mode."""
    definition: Mapping[str, Json]
    drifted: bool = False
    comment: str = ""
    effects: frozenset[str] = frozenset()
    """What it does, in words for people; no decision rests on them."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Where things are on this machine, in canonical form."""

    home: str
    sandbox: str
    path_base: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TaskPolicy:
    """A policy that narrows for one task and ends with it."""

    task: str
    expires_at: float
    rules: tuple[Rule, ...]
