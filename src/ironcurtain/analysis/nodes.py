"""Calls put together column by column, as far as rules tell them apart.

An argument is a *column* of options; options that add the same facts and counts to a call are a *group*. What matters
of a call that is not complete is a *node*: the facts and counts that rules can still see of it (see `whole`). Groups
that lead from a node to the same other one are added together, as a *bundle*. Every call is a way through the nodes,
from the one of no arguments to one behind the last column, and every way is a call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.analysis.facts import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.analysis.facts import State
    from ironcurtain.analysis.options import Option
    from ironcurtain.analysis.whole import Sight

MAX_STEPS: Final = 100_000  # from a node to another, for one tool
Selected: TypeAlias = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Options of one argument that add the same to a call."""

    number: int
    column: int
    part: Part
    options: tuple[Option, ...]
    """The lightest comes first."""
    weight: int
    """Of that one."""

    @classmethod
    def of(cls, number: int, column: int, part: Part, options: Iterable[Option]) -> Group:
        """Gather options."""
        ordered = tuple(sorted(options, key=lambda option: option.weight))
        return cls(number, column, part, ordered, ordered[0].weight)


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One argument."""

    leaf: str
    single: tuple[Group, ...]
    """What it can be as a whole."""
    several: tuple[Group, ...]
    """The values that can stand in it together, any number of them."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """All of them."""
        return (*self.single, *self.several)


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """Groups that lead from one node to the same other one."""

    part: Part
    groups: tuple[Group, ...]
    """The lightest comes first."""
    numbers: int
    """Of the groups, as bits."""


@dataclass(slots=True, eq=False)
class Node:
    """Calls that are complete up to a column, and of which rules can see the same."""

    state: State
    counts: tuple[int, ...]
    selected: Selected
    weight: int = 0
    shown: tuple[Option, ...] = ()
    """The lightest of the calls."""
    groups: int = 0
    """The numbers of all groups that some of the calls have an option of, as bits."""
    steps: list[tuple[Node, Bundle | None]] = field(default_factory=list)
    """The nodes that lead here, each with what is added to it."""


def nodes_of(columns: Sequence[Column], sight: Sight) -> tuple[Node, tuple[Node, ...] | None]:
    """Return the node of no arguments and those of complete calls; nothing if there are too many on the way."""
    start = Node(sight.start, sight.nothing, frozenset())
    nodes = [start]
    left = MAX_STEPS
    for index, column in enumerate(columns):
        behind = _Stage(sight, *_to_come(columns[index + 1 :]))
        single = _Bundles(column.single)
        for node in nodes:
            for bundle in single.seen_by(node):
                behind.step(node, bundle)
        if column.several:
            within = _Stage(sight, *_to_come(columns[index + 1 :], column.several))
            within.fill(nodes, column.several, left)
            for node in within.found.values():
                behind.step(node, None)
            left -= within.steps
        left -= behind.steps
        if left < 0:
            return start, None
        nodes = [*behind.found.values()]
    return start, tuple(nodes)


def _to_come(columns: Iterable[Column], besides: Iterable[Group] = ()) -> tuple[int, frozenset[str]]:
    """The facts that columns and groups may add, and the arguments that select their modes."""
    facts, names = 0, set()
    for group in (*besides, *(group for column in columns for group in column.groups)):
        facts |= group.part.facts
        names |= {name for name, _ in group.part.selected}
    return facts, frozenset(names)


@dataclass(slots=True)
class _Bundles:
    """The groups of a column, as nodes see them: what no longer matters to a node does not tell groups apart."""

    groups: tuple[Group, ...]
    facts: int = 0
    _known: dict[int, list[Bundle]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for group in self.groups:
            self.facts |= group.part.facts

    def seen_by(self, node: Node) -> list[Bundle]:
        mask = node.state.mask & self.facts
        if mask not in self._known:
            alike: dict[Part, list[Group]] = {}
            for group in self.groups:
                part = Part(group.part.facts & mask, group.part.counts, group.part.selected)
                alike.setdefault(part, []).append(group)
            self._known[mask] = [
                Bundle(part, tuple(sorted(members, key=_weight)), sum(1 << group.number for group in members))
                for part, members in alike.items()
            ]
        return self._known[mask]


def _weight(group: Group) -> int:
    return group.weight


@dataclass(slots=True)
class _Stage:
    """The nodes behind a column, or within one to which values are still added."""

    sight: Sight
    still: int
    """The facts that may come."""
    steering: frozenset[str]
    """The selecting arguments that still matter."""
    found: dict[tuple[State, tuple[int, ...], Selected], Node] = field(default_factory=dict)
    steps: int = 0

    def step(self, node: Node, bundle: Bundle | None) -> Node | None:
        """Add a bundle to a node, or nothing, and return the node that is reached; none if they do not go together."""
        facts, counts, selected = 0, node.counts, node.selected
        weight, shown, groups = node.weight, node.shown, node.groups
        if bundle is not None:
            facts = bundle.part.facts
            selected |= bundle.part.selected
            if len({name for name, _ in selected}) < len(selected):
                return None  # an argument is in another mode than the others select
            counts = self.sight.added(counts, bundle.part.counts) if counts else counts
            weight += bundle.groups[0].weight
            shown = (*shown, bundle.groups[0].options[0])
            groups |= bundle.numbers
        if selected:
            selected = frozenset(pair for pair in selected if pair[0] in self.steering)
        key = (self.sight.settled(node.state, facts, self.still), counts, selected)
        reached = self.found.get(key)
        if reached is None:
            reached = self.found[key] = Node(*key, weight, shown)
        elif weight < reached.weight:
            reached.weight, reached.shown = weight, shown
        reached.groups |= groups
        reached.steps.append((node, bundle))
        self.steps += 1
        return reached

    def fill(self, nodes: Iterable[Node], groups: tuple[Group, ...], most: int) -> None:
        """Add one value or more, the lightest calls first, until nothing new is reached."""
        bundles = _Bundles(groups)
        for node in nodes:
            for bundle in bundles.seen_by(node):
                self.step(node, bundle)
        order = count()
        pending = [(node.weight, next(order), node) for node in self.found.values()]
        heapify(pending)
        done: set[int] = set()
        while pending and self.steps <= most:
            _, _, node = heappop(pending)
            if id(node) in done:
                continue
            done.add(id(node))
            for bundle in bundles.seen_by(node):
                reached = self.step(node, bundle)
                if reached is not None and id(reached) not in done:
                    heappush(pending, (reached.weight, next(order), reached))
        self._gather_groups()

    def _gather_groups(self) -> None:
        """Let each node know the groups of those that lead to it, in whatever circles they do."""
        changed = True
        while changed:
            changed = False
            for node in self.found.values():
                groups = node.groups
                for before, _ in node.steps:
                    groups |= before.groups
                changed = changed or groups != node.groups
                node.groups = groups
