"""All calls of a tool, as finitely many: what each argument can be, and how the arguments depend on each other.

Every argument is cut into cells of values that no rule tells apart (see `samples`); the resolver reads one value of
each (see `options`), and the options are put together to calls (see `nodes`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count, product
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.analysis.arguments import Arguments
from ironcurtain.analysis.nodes import MAX_STEPS, Column, Group, Node, nodes_of
from ironcurtain.analysis.options import LEFT_OUT, SOURCES, Option
from ironcurtain.analysis.samples import Landmarks, samples_for
from ironcurtain.analysis.watching import Watcher
from ironcurtain.analysis.whole import Sight
from ironcurtain.artifacts.rules import names_elements
from ironcurtain.engine.chain import may_apply, name_is_listed
from ironcurtain.engine.conditions import polar_tests, with_members_of
from ironcurtain.errors import Refusal
from ironcurtain.model.call import ToolCall
from ironcurtain.model.policy import PathTest, Shape, ValueTest, leaves_of
from ironcurtain.model.resolved import CanonicalPath, CanonicalUrl, Opaque, Unknown
from ironcurtain.model.roles import COMMAND, NONE, Category, Role, category

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ironcurtain.analysis.facts import Part
    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.engine.chain import RuleBook
    from ironcurtain.engine.conditions import Test
    from ironcurtain.model.call import CanonicalCall, Json
    from ironcurtain.model.policy import Rule, Tool
    from ironcurtain.model.resolved import Value

MOST: Final = 100  # values of one kind in a call; limits above are not looked at
MOST_ORIGINS: Final = 6  # sets of sources that rules tell apart, looked at in every combination
Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ToolSpace:
    """The calls of one tool, for the rules of one or more chains."""

    tool: Tool
    arguments: Arguments
    sight: Sight
    columns: tuple[Column, ...]
    start: Node
    ends: tuple[Node, ...]
    """The nodes of complete calls."""
    doubts: tuple[str, ...]
    """Why there may be calls that are not among them; none if there are none."""
    counts_elements: bool = False
    """Elements of lists are counted, apart from what is in them."""


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A chain of rules, with the sandbox that it is read with."""

    book: RuleBook
    sandbox: str
    _naming: dict[str, list[tuple[int, Rule]]] = field(default_factory=dict)
    _others: list[tuple[int, Rule]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for entry in enumerate(self.book.rules):
            tools = entry[1].conditions.tools
            if tools and not any("*" in name for name in tools):
                for name in dict.fromkeys(tools):
                    self._naming.setdefault(name, []).append(entry)
            else:
                self._others.append(entry)

    def about(self, tool: Tool) -> tuple[Rule, ...]:
        """Return the rules that can apply to a claim of a tool, in their order."""
        entries = sorted([*self._naming.get(tool.name, ()), *self._others], key=lambda entry: entry[0])
        return tuple(rule for _, rule in entries if concerns(rule, tool))


@dataclass(slots=True)
class Spaces:
    """Makes the spaces of a policy's tools; remembers what values resolve to."""

    loaded: Loaded
    rulesets: tuple[Ruleset, ...]
    declared: frozenset[str] = frozenset()
    """Hosts that allow rules name, for whatever tool; those of the policy itself are among them."""
    _private: dict[str, bool] = field(default_factory=dict)
    """Which of them can be reached only for that: no allow that does not name such a host covers it."""
    _resolved: dict[Key, Option | None] = field(default_factory=dict)

    def of(self, tool: Tool) -> ToolSpace:
        """Return the space of one tool; of one that can never be called, an empty one."""
        if isinstance(self.loaded.schemas[tool.server, tool.name], str) or tool.drifted:
            sight = Sight(tool, Watcher(tool))
            return ToolSpace(tool, Arguments({}), sight, (), Node(sight.start, (), frozenset()), (), ())
        chains = [(ruleset.about(tool), ruleset.sandbox) for ruleset in self.rulesets]
        tool = with_members_of(tool, (rule for rules, _ in chains for rule in rules))
        work = _Work.of(tool, chains, reaching=self.reaches_private_hosts(tool))
        columns: list[Column] = []
        doubts: list[str] = []
        numbers = count()
        for leaf in sorted(work.leaves, key=lambda each: each.leaf not in work.steering):
            tests = [(test, allowing) for test, allowing in work.tests if _speaks_of(test, leaf)]
            if _roles(leaf) <= {NONE} and not tests and leaf.leaf not in work.steering:
                continue
            options, complete = self._options(work, leaf, tests)
            if not complete:
                doubts.append(f"{leaf.leaf}: its rules ask for more than we can tell apart")
            columns.append(work.column(leaf, options, len(columns), numbers))
        for name in work.counted_lists():
            options = [Option(name, LEFT_OUT, ()), Option(name, "an element", ({},), shown=(0,))]
            columns.append(work.column(Shape(name), options, len(columns), numbers))
        if work.sight.watcher.origins:
            columns.append(work.sources_column(len(columns), numbers))
        doubts += work.doubts()
        start, ends = nodes_of(columns, work.sight)
        if ends is None:
            doubts.append(f"more than {MAX_STEPS} combinations that rules tell apart")
        counts = bool(work.counted_lists())
        return ToolSpace(tool, work.arguments, work.sight, tuple(columns), start, ends or (), tuple(doubts), counts)

    def _options(self, work: _Work, leaf: Shape, tests: list[tuple[Test, bool]]) -> tuple[list[Option], bool]:
        roles = _roles(leaf)
        landmarks = self._landmarks(work.tool, leaf, tests)
        kind = work.arguments.kind(leaf.leaf)
        placed = work.tool.server in self.loaded.resolver.path_base
        found = samples_for(roles, kind, landmarks, placed=placed)
        cells = [_Cell([(value,) for value in (s.value, *s.others)], s.says, s.place, s.optional) for s in found.cells]
        values = [value for value in work.selectors.get(leaf.leaf, ()) if value is not None]
        cells += [_Cell([(value,)], f"“{value}”") for value in values]
        default = self._default(work.tool, leaf.leaf)
        if default is not None:
            cells.append(_Cell([(default,)], f"“{default}”, as it is when left out"))
        elif not leaf.required:
            cells.insert(0, _Cell([()], LEFT_OUT))
        # Where it could as well be left out, `null` and an empty list mean the same.
        empties = [
            value for value in work.arguments.empties(leaf.leaf) if value == "" or leaf.required or leaf.defaulted
        ]
        cells += [_Cell([(value,)], "empty") for value in empties]
        options: list[Option] = []
        complete = found.complete
        for siblings in work.ways(leaf):
            for cell in cells:
                option = self._standing(work.tool, leaf, cell, siblings)
                if option is not None:
                    refused = not work.arguments.accepts(leaf.leaf, option.chosen)
                    plain = not cell.place and not refused
                    options.append(option if plain else replace(option, place=cell.place, refused=refused))
                elif not cell.optional:
                    complete = False  # other values of its cell may pass
        return options, complete

    def _landmarks(self, tool: Tool, leaf: Shape, tests: list[tuple[Test, bool]]) -> Landmarks:
        hosts = self._private_hosts(tool, leaf) if _names_hosts(leaf) else ()
        if not any(category(role) is Category.PATH for role in _roles(leaf)):
            return Landmarks.of(tests, (), hosts)
        named = {place for test, _ in tests if isinstance(test, PathTest) for place in test.within}
        named |= {ruleset.sandbox for ruleset in self.rulesets}
        return Landmarks.of(tests, named | _below(named, self.loaded.resolver.paths.mounts), hosts)

    def reaches_private_hosts(self, tool: Tool) -> bool:
        """Return whether a call of the tool can name a private host that is open to an allow rule."""
        return any(self._private_hosts(tool, leaf) for leaf in leaves_of(tool.arguments) if _names_hosts(leaf))

    def _private_hosts(self, tool: Tool, leaf: Shape) -> list[str]:
        hosts = sorted(self.declared | self.loaded.policy.declared_hosts)
        for host in hosts:
            if host not in self._private:
                option = self._option(tool, leaf, (f"https://{host}/",), host, {})
                urls = [item.value for item in option.items if isinstance(item.value, CanonicalUrl)] if option else []
                self._private[host] = any(url.address.private for url in urls)
        return [host for host in hosts if self._private[host]]

    def _standing(self, tool: Tool, leaf: Shape, cell: _Cell, siblings: Mapping[str, Json]) -> Option | None:
        """Return the first of the values of one cell that is taken, and is what it seems to be."""
        for chosen in cell.values:
            option = self._option(tool, leaf, chosen, cell.says, siblings)
            if option is not None and _is_itself(option):
                return option
        return None

    def _default(self, tool: Tool, leaf: str) -> str | int | float | None:
        schema = self.loaded.schemas[tool.server, tool.name]
        value = None if isinstance(schema, str) else schema.fill_defaults({}).get(leaf)
        return value if isinstance(value, (str, int, float)) and value != "" else None

    def _option(
        self, tool: Tool, leaf: Shape, chosen: tuple[Json, ...], says: str, siblings: Mapping[str, Json]
    ) -> Option | None:
        """Return an option as it resolves, or nothing if the call would be refused for it."""
        base = self.loaded.resolver.path_base.get(tool.server)
        spelled = repr((chosen, says, sorted(siblings.items(), key=str)))
        key = (leaf.leaf, leaf.modes, leaf.required, leaf.defaulted, leaf.free, spelled, base)
        if key not in self._resolved:
            wanted: dict[str, tuple[Json, ...]] = {n: (value,) for n, value in siblings.items() if value is not None}
            wanted |= {leaf.leaf: chosen} if chosen else {}
            placed = _placed(tool.arguments, wanted)
            arguments = placed if isinstance(placed, dict) else {}
            try:
                call = self.loaded.resolver.resolve(ToolCall(tool.server, tool.name, arguments), tool, arguments)
            except Refusal:
                self._resolved[key] = None
            else:
                self._resolved[key] = _only(call, leaf, says, chosen, siblings)
        return self._resolved[key]


@dataclass(frozen=True, slots=True)
class _Cell:
    """Values that rules do not tell apart, in the order in which they are tried."""

    values: Sequence[tuple[Json, ...]]
    says: str
    place: str = ""
    optional: bool = True


@dataclass(frozen=True, slots=True)
class _Work:
    """What is needed of one tool."""

    tool: Tool
    arguments: Arguments
    sight: Sight
    leaves: tuple[Shape, ...]
    tests: tuple[tuple[Test, bool], ...]
    """Every test that may be asked of a value, with whether it is read as in an allow."""
    selectors: Mapping[str, tuple[Json, ...]]
    selecting: Mapping[str, frozenset[tuple[type, Json]]]
    """The values of each that modes name."""

    @classmethod
    def of(cls, tool: Tool, chains: Sequence[tuple[Sequence[Rule], str]], *, reaching: bool) -> _Work:
        arguments = Arguments(tool.definition)
        leaves = tuple(leaves_of(tool.arguments))
        tests = dict.fromkeys(pair for rules, _ in chains for rule in rules for pair in polar_tests(rule))
        return cls(
            tool,
            arguments,
            Sight.of(tool, chains, reaching=reaching),
            leaves,
            tuple(tests),
            _selectors(leaves, arguments),
            _selecting(leaves),
        )

    @property
    def steering(self) -> Iterable[str]:
        return self.selectors.keys()

    def doubts(self) -> Iterator[str]:
        """Yield what may be missing, whatever the values are."""
        if any(
            leaf.leaf in self.steering and leaf.required and self.arguments.kind(leaf.leaf).nullable
            for leaf in self.leaves
        ):
            yield "an argument that selects what others mean may be null"
        if any("[]" in name for name in self.steering):
            yield "each element of a list selects what it means, and they are not looked at together"
        asked = sum(COMMAND in test.roles and not allowing for test, allowing in self.tests)
        if asked > 2 and COMMAND in self.tool.roles:
            yield "commands can be put together in more ways than we look at"
        if len(self.sight.watcher.origins) > MOST_ORIGINS:
            yield f"rules tell apart more than {MOST_ORIGINS} sets of sources"
        members = [leaf for leaf in self.leaves if leaf.within]
        if any(
            not roles.isdisjoint(_roles(leaf)) if above is None else above in leaf.within
            for roles, above in self.sight.watcher.counters
            for leaf in members
        ):
            yield "members of an object are counted with their names"
        if any(limit > MOST for limit in self.sight.watcher.limits):
            yield f"a limit of more than {MOST} values"

    def counted_lists(self) -> list[str]:
        """The lists whose elements rules count, by the name of their elements."""
        tests = (test.leaf for test, _ in self.tests if isinstance(test, ValueTest) and test.leaf)
        leaves = [leaf.leaf for leaf in self.leaves]
        return sorted({name for name in tests if names_elements(name, leaves)})

    def _selects(self, name: str, value: Json) -> str:
        """Which modes an argument selects: all values that no mode names do the same, left out or not."""
        named = {repr(each) for _, each in self.selecting.get(name, ())}
        return repr(value) if repr(value) in named else "another"

    def ways(self, leaf: Shape) -> Iterator[dict[str, Json]]:
        """Every way in which other arguments can select the mode of this one."""
        names = list(dict.fromkeys(_beside(leaf, name) for mode in leaf.modes for name, _ in mode.when))
        for values in product(*(self.selectors.get(name, ()) for name in names)):
            yield dict(zip(names, values, strict=True))

    def column(self, leaf: Shape, options: Iterable[Option], column: int, numbers: Iterator[int]) -> Column:
        """Return the column of an argument."""
        many = self.arguments.kind(leaf.leaf).many and not any(mode.argv for mode in leaf.modes)
        listed = any(category(role) is Category.PARTY for role in _roles(leaf))
        single: dict[Part, list[Option]] = {}
        several: dict[Part, list[Option]] = {}
        for option in options:
            # In a string that holds a list, what cannot be read swallows what is beside it.
            together = any(value not in (None, []) for value in option.chosen) and (
                many or (listed and option.readable)
            )
            (several if together else single).setdefault(self._part(option), []).append(option)

        def groups(found: Mapping[Part, list[Option]]) -> tuple[Group, ...]:
            return tuple(Group.of(next(numbers), column, part, members) for part, members in found.items())

        return Column(leaf.leaf, groups(single), groups(several))

    def _part(self, option: Option) -> Part:
        by_role: dict[Role, tuple[Value, ...]] = {}
        for item in option.items:
            by_role[item.role] = (*by_role.get(item.role, ()), item.value)
        selected = {(name, self._selects(name, value)) for name, value in option.siblings}
        if option.leaf in self.selectors:
            selected.add((option.leaf, self._selects(option.leaf, option.chosen[0] if option.chosen else None)))
        return replace(self.sight.part(by_role, option.leaves), selected=frozenset(selected))

    def sources_column(self, column: int, numbers: Iterator[int]) -> Column:
        """Return what the agent may have seen, as far as rules tell it apart; not known comes first."""
        found: dict[Part, Option] = {self.sight.sources_part(None): Option(SOURCES, "not known", ())}
        pending: list[frozenset[str]] = [frozenset()]
        single = sorted({name for wanted in self.sight.watcher.origins for name in wanted})
        while pending and len(found) <= 2**MOST_ORIGINS:
            sources = pending.pop()
            part = self.sight.sources_part(sources)
            if part not in found:
                found[part] = Option(SOURCES, ", ".join(sorted(sources)) or "none", (), sources=sources)
                pending += [sources | {name} for name in single]
        groups = tuple(Group.of(next(numbers), column, part, [option]) for part, option in found.items())
        return Column(SOURCES, groups, ())


def _is_itself(option: Option) -> bool:
    """Whether the values are the ones that were chosen: no link leads elsewhere, nothing was trimmed."""
    if any(isinstance(item.value, CanonicalPath) and item.value.shared for item in option.items):
        return False
    wanted = {str(value) for value in option.chosen}
    texts = [str(value) for value in option.shown if not isinstance(value, (Unknown, Opaque))]
    return all(text in wanted for text in texts)


def concerns(rule: Rule, tool: Tool) -> bool:
    """Return whether a rule can apply to any claim of a tool."""
    conditions = rule.conditions
    if conditions.tools and not name_is_listed(tool.name, conditions.tools):
        return False
    if conditions.servers and not name_is_listed(tool.server, conditions.servers):
        return False
    return any(may_apply(rule, tool, role) for role in (None, *tool.roles))


def _roles(leaf: Shape) -> set[Role]:
    return {role for mode in leaf.modes for role in mode.roles}


def _names_hosts(leaf: Shape) -> bool:
    return any(category(role) in (Category.URL, Category.PLACE) for role in _roles(leaf))


def _speaks_of(test: Test, leaf: Shape) -> bool:
    if isinstance(test, ValueTest) and test.leaf is not None:
        return test.leaf in (leaf.leaf, *leaf.within)
    return not test.roles.isdisjoint(_roles(leaf))


def _below(directories: set[str], mounts: Iterable[str]) -> set[str]:
    """The mounts inside one of the directories: what is on them is not in it, for a permission."""
    return {mount for mount in mounts if any(mount.startswith(place.rstrip("/") + "/") for place in directories)}


def _selecting(leaves: Sequence[Shape]) -> dict[str, frozenset[tuple[type, Json]]]:
    """The arguments that select modes, with the values that modes name."""
    named: dict[str, set[tuple[type, Json]]] = {}
    for leaf in leaves:
        for mode in leaf.modes:
            for name, values in mode.when:
                named.setdefault(_beside(leaf, name), set()).update(values)
    return {name: frozenset(values) for name, values in named.items()}


def _selectors(leaves: Sequence[Shape], arguments: Arguments) -> dict[str, tuple[Json, ...]]:
    """The arguments that select modes, with a value for each: those that are named, and another."""
    named = _selecting(leaves)
    found = {}
    for leaf in leaves:
        if leaf.leaf in named:
            listed = arguments.kind(leaf.leaf).choices
            values = [value for _, value in sorted(named[leaf.leaf], key=str)]
            if listed is None:
                values.append("something-else")
            else:
                values += [each for each in listed if (type(each), each) not in named[leaf.leaf]][:1]
            found[leaf.leaf] = (*values, *(() if leaf.required else (None,)))
    return found


def _beside(leaf: Shape, name: str) -> str:
    """The argument of a name that stands beside one, or beside the object that this is a member of."""
    place = (leaf.within[0] if leaf.within else leaf.leaf).rpartition(".")[0]
    return f"{place}.{name}" if place else name


def _placed(shape: Shape, wanted: Mapping[str, tuple[Json, ...]]) -> Json:
    """Arguments that hold the wanted values and nothing else."""
    if shape.leaf in wanted:
        values = wanted[shape.leaf]
        return list(values) if len(values) > 1 else values[0]
    if shape.elements is not None:
        return [_placed(shape.elements, wanted)]
    return {
        name: _placed(member, wanted)
        for name, member in shape.members.items()
        if any(leaf.leaf in wanted for leaf in leaves_of(member))
    }


def _only(
    call: CanonicalCall, shape: Shape, says: str, chosen: tuple[Json, ...], siblings: Mapping[str, Json]
) -> Option:
    leaf, within = shape.leaf, shape.within if chosen else ()  # where it is left out, others may be in its object
    when = "".join(f", with {name} {LEFT_OUT if value is None else value}" for name, value in siblings.items())
    return Option(
        leaf,
        says + when,
        chosen,
        tuple(item for item in call.values if item.leaf == leaf or item.leaf in within),
        call.leaves.get(leaf, ()),
        tuple(stray for stray in call.strays if stray.leaf == leaf),
        tuple(sorted(siblings.items(), key=str)),
        within={above: call.leaves.get(above, ()) for above in within},
    )
