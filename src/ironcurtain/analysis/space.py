"""All calls of a tool, as finitely many: what each argument can be, and how the arguments depend on each other.

Most conditions look at one value at a time, so that arguments can be judged each on its own. Some look at the whole
call: the list a recipient is in decides about the attachment, too. What these can see of a call is its *summary*. Each
option of each argument contributes to it; under one summary, each option has one outcome, whatever the others are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from operator import add, le, or_
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.analysis.arguments import Arguments
from ironcurtain.analysis.samples import Landmarks, samples_for
from ironcurtain.engine.chain import may_apply, name_is_listed
from ironcurtain.engine.conditions import ConditionError, Scope, conditions_hold, roles_of, tests_of
from ironcurtain.errors import Refusal
from ironcurtain.model.call import ToolCall
from ironcurtain.model.decision import Claim, Outcome
from ironcurtain.model.policy import ListTest, PathTest, ValueTest, leaves_of
from ironcurtain.model.resolved import CanonicalPath, Opaque, Unknown
from ironcurtain.model.roles import COMMAND, NONE, Category, Role, category, is_carried, sends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.engine.conditions import Test
    from ironcurtain.model.call import CanonicalCall, Json, RoleValue, Stray
    from ironcurtain.model.policy import Rule, Shape, Tool
    from ironcurtain.model.resolved import Value

MAX_SUMMARIES: Final = 40_000
MOST: Final = 100  # values of one kind in a call; limits above are not looked at
_REFUSED: Final = 1_000  # weighs more than any number of values
_EMPTY: Final[tuple[Json, ...]] = ("",)
LEFT_OUT: Final = "left out"
_NOBODY: Final = Claim(None, ())
Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One thing an argument can be."""

    leaf: str
    says: str
    chosen: tuple[Json, ...]
    """The values, as an agent would send them; none if it is left out."""
    items: tuple[RoleValue, ...] = ()
    """The same with their roles, resolved."""
    shown: tuple[Value, ...] = ()
    """What a condition on the argument itself looks at."""
    strays: tuple[Stray, ...] = ()
    siblings: tuple[tuple[str, Json], ...] = ()
    """What the arguments that select its mode are; nothing for one that is left out."""

    place: str = ""
    """The directory that it lies in, if it stands for what is inside."""
    refused: bool = False
    """The schema has something against these very values, though perhaps not against others of the cell."""

    @property
    def weight(self) -> int:
        """The less, the better an example."""
        return _REFUSED if self.refused else len(self.chosen) + (self.chosen == _EMPTY)


@dataclass(frozen=True, slots=True)
class Summary:
    """What conditions on the whole call can see of it, or of a part of it. More values only add to it."""

    selected: frozenset[tuple[str, str]] = frozenset()
    """The arguments that select modes."""
    present: frozenset[str] = frozenset()
    """Carried roles; whether anything is sent; whether there is anything at all."""
    asked: int = 0
    """The tests on the whole call that have a value to be asked of, as bits."""
    turned: int = 0
    """Of these: in an allow those that do not hold for all, in a deny or escalate those that hold for one."""
    errors: int = 0
    counts: tuple[int, ...] = ()
    """For each role or argument that is counted: how many values."""
    uncertain: tuple[bool, ...] = ()
    """For each role or argument that is counted: whether some cannot be."""

    def emptied(self) -> Summary:
        """The summary of no arguments at all, for the same tests."""
        return Summary(counts=(0,) * len(self.counts), uncertain=(False,) * len(self.uncertain))

    def with_(self, other: Summary) -> Summary:
        """The summary of both parts together."""
        return Summary(
            self.selected | other.selected,
            self.present | other.present,
            self.asked | other.asked,
            self.turned | other.turned,
            self.errors | other.errors,
            tuple(map(add, self.counts, other.counts)),
            tuple(map(or_, self.uncertain, other.uncertain)),
        )

    def told_by(self, limits: Sequence[Sequence[int]]) -> Summary:
        """The same with no more said of counts than on which side of each limit they are."""
        return replace(
            self,
            counts=tuple(
                sum(count >= limit for limit in each) for count, each in zip(self.counts, limits, strict=True)
            ),
        )

    def fits_in(self, whole: Summary) -> bool:
        """Whether this can be a part of the whole, counts aside."""
        return (
            self.turned | whole.turned == whole.turned
            and self.asked | whole.asked == whole.asked
            and self.errors | whole.errors == whole.errors
            and self.present <= whole.present
            and self.selected <= whole.selected
            and all(map(le, self.uncertain, whole.uncertain))
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Options that contribute the same to the summary."""

    part: Summary
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One argument."""

    leaf: str
    groups: tuple[Group, ...]
    several: bool
    """It can hold several values."""


@dataclass(frozen=True, slots=True)
class ToolSpace:
    """The calls of one tool, for the rules of one or more chains."""

    tool: Tool
    arguments: Arguments
    columns: tuple[Column, ...]
    summaries: Mapping[Summary, tuple[Option, ...]]
    """Every summary that a call can have, with the options of one such call; of counts only what limits tell apart."""
    limits: tuple[tuple[int, ...], ...]
    """For each role or argument that is counted, the counts from which on something changes."""
    watched: Mapping[Role, int]
    """For each role, the tests on the whole call that matter to its claims, as bits."""
    doubts: tuple[str, ...]
    """Why there may be calls that are not among them; none if there are none."""


@dataclass(slots=True)
class Spaces:
    """Makes the spaces of a policy's tools; remembers what values resolve to."""

    loaded: Loaded
    chains: tuple[tuple[Rule, ...], ...]
    mixing: int = 1
    """How many different values of one argument are looked at together."""
    places: frozenset[str] = frozenset()
    """Directories that make a difference besides those in rules."""
    _resolved: dict[Key, Option | None] = field(default_factory=dict)

    def of(self, tool: Tool) -> ToolSpace:
        """The space of one tool; of one that can never be called, an empty one."""
        if isinstance(self.loaded.schemas[tool.server, tool.name], str) or tool.drifted:
            return ToolSpace(tool, Arguments({}), (), {}, (), {}, ())
        work = _Work.of(tool, tuple(rule for chain in self.chains for rule in chain if concerns(rule, tool)))
        columns: list[Column] = []
        doubts: list[str] = []
        for leaf in sorted(work.leaves, key=lambda each: each.leaf not in work.steering):
            tests = [pair for pair in work.tests if _speaks_of(pair[1], leaf)]
            if _roles(leaf) <= {NONE} and not tests and leaf.leaf not in work.steering:
                continue
            options, complete = self._options(work, leaf, tests)
            if not complete:
                doubts.append(f"{leaf.leaf}: its rules ask for more than we can tell apart")
            columns.append(work.column(leaf, options))
        repeated = [copy for column in columns for copy in _copies(column, self.mixing)]
        summaries, all_seen = _summaries(repeated, work.nothing, work.limits)
        if any(
            leaf.leaf in work.steering and leaf.required and work.arguments.kind(leaf.leaf).nullable
            for leaf in work.leaves
        ):
            doubts.append("an argument that selects what others mean may be null")
        if self.mixing > 1 and any("[]" in name for name in work.steering):
            doubts.append("each element of a list selects what it means, and they are not looked at together")
        if self.mixing > 1 and sum(COMMAND in roles_of(test) for _, test in work.tests) > 1 and COMMAND in tool.roles:
            doubts.append("commands can be put together in more ways than we look at")
        if any(limit > MOST for each in work.limits for limit in each):
            doubts.append(f"a limit of more than {MOST} values")
        if not all_seen:
            doubts.append(f"more than {MAX_SUMMARIES} combinations that rules tell apart")
        elif self.mixing > 1 and not _closed(columns, summaries, work.limits):
            doubts.append("rules tell apart more values in one argument than we look at together")
        return ToolSpace(tool, work.arguments, tuple(repeated), summaries, work.limits, work.watched(), tuple(doubts))

    def _options(self, work: _Work, leaf: Shape, tests: list[tuple[Rule, Test]]) -> tuple[list[Option], bool]:
        roles = _roles(leaf)
        landmarks = Landmarks()
        for rule, test in tests:
            landmarks.add(test, allowing=rule.then is Outcome.ALLOW)
        if any(category(role) is Category.PATH for role in roles):
            landmarks.directories |= {self.loaded.policy.setup.sandbox, *self.places}
            landmarks.directories |= _below(landmarks.directories, self.loaded.resolver.paths.mounts)
        kind = work.arguments.kind(leaf.leaf)
        found = samples_for(roles, kind, landmarks)
        places: dict[tuple[Json, ...], str] = {(sample.value,): sample.place for sample in found.cells}
        values: list[tuple[tuple[Json, ...], str]] = [((sample.value,), sample.says) for sample in found.cells]
        values += [((value,), f"“{value}”") for value in work.selectors.get(leaf.leaf, ()) if value is not None]
        counts = _counts(tests) if work.several(leaf) else []
        values += [(chosen * count, f"{count} times {says}") for chosen, says in values for count in counts]
        default = self._default(work.tool, leaf.leaf)
        if default is not None:
            values.append(((default,), f"“{default}”, as it is when left out"))
        elif not leaf.required:
            values.insert(0, ((), LEFT_OUT))
        values.append((_EMPTY, "empty"))
        alternatives: dict[tuple[Json, ...], tuple[Json, ...]] = {(s.value,): s.others for s in found.cells}
        named = work.named_by(tests)
        options: list[Option] = []
        complete = found.complete
        for siblings in work.ways(leaf):
            for chosen, says in values:
                option = self._standing(
                    work.tool, leaf, [chosen, *((o,) for o in alternatives.get(chosen, ()))], says, siblings
                )
                if option is not None:
                    refused = not work.arguments.accepts(leaf.leaf, option.chosen)
                    options.append(replace(option, place=places.get(chosen, ""), refused=refused))
                elif chosen in alternatives and chosen not in named:
                    complete = False  # other values of its cell may pass
        return options, complete

    def _standing(
        self, tool: Tool, leaf: Shape, candidates: list[tuple[Json, ...]], says: str, siblings: Mapping[str, Json]
    ) -> Option | None:
        """The first of some values of one cell that is taken, and is what it seems to be."""
        for chosen in candidates:
            option = self._option(tool, leaf, chosen, says, siblings)
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
        """An option as it resolves, or nothing if the call would be refused for it."""
        base = self.loaded.resolver.path_base.get(tool.server)
        key = (leaf.leaf, leaf.modes, leaf.required, leaf.defaulted, repr(chosen), repr(sorted(siblings.items())), base)
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
                self._resolved[key] = _only(call, leaf.leaf, says, chosen, siblings)
        return self._resolved[key]


@dataclass(frozen=True, slots=True)
class _Work:
    """What is needed of one tool."""

    tool: Tool
    arguments: Arguments
    leaves: tuple[Shape, ...]
    tests: tuple[tuple[Rule, Test], ...]
    whole: tuple[tuple[Rule, Test], ...]
    """The tests that are asked of the whole call."""
    speaking: Mapping[str, tuple[int, ...]]
    """Their numbers, by the roles and arguments they speak of."""
    counting: tuple[ValueTest, ...]
    """A test on each role or argument that is counted."""
    limits: tuple[tuple[int, ...], ...]
    selectors: Mapping[str, tuple[Json, ...]]
    selecting: Mapping[str, frozenset[tuple[type, Json]]]
    """The values of each that modes name."""

    @classmethod
    def of(cls, tool: Tool, rules: tuple[Rule, ...]) -> _Work:
        arguments = Arguments(tool.definition)
        leaves = tuple(leaves_of(tool.arguments))
        tests = tuple((rule, test) for rule in rules for test in tests_of(rule.conditions))
        whole = {
            (_value_part(test), rule.then is Outcome.ALLOW): (rule, _value_part(test))
            for rule, test in tests
            if _looks_around(rule, test, tool)
        }
        speaking: dict[str, tuple[int, ...]] = {}
        for number, (_, test) in enumerate(whole.values()):
            leaf = (test.leaf,) if isinstance(test, ValueTest) and test.leaf is not None else ()
            for name in (*roles_of(test), *leaf):
                speaking[name] = (*speaking.get(name, ()), number)
        counting: dict[tuple[frozenset[Role], str | None], ValueTest] = {}
        limits: dict[tuple[frozenset[Role], str | None], set[int]] = {}
        for _, test in tests:
            if isinstance(test, ValueTest) and (own := _limits(test)):
                counting[test.roles, test.leaf] = test
                limits.setdefault((test.roles, test.leaf), {1}).update(own)
        return cls(
            tool,
            arguments,
            leaves,
            tests,
            tuple(whole.values()),
            speaking,
            tuple(counting.values()),
            tuple(tuple(sorted(each)) for each in limits.values()),
            _selectors(leaves, arguments),
            _selecting(leaves),
        )

    @property
    def steering(self) -> Iterable[str]:
        return self.selectors.keys()

    @property
    def nothing(self) -> Summary:
        """The summary of no arguments at all."""
        return Summary(counts=(0,) * len(self.counting), uncertain=(False,) * len(self.counting))

    def _selects(self, name: str, value: Json) -> str:
        """Which modes an argument selects: all values that no mode names do the same, left out or not."""
        return repr(value) if (type(value), value) in self.selecting.get(name, ()) else "another"

    def watched(self) -> dict[Role, int]:
        """For each role, the tests on the whole call that matter to its claims."""
        numbers = {(test, rule.then is Outcome.ALLOW): number for number, (rule, test) in enumerate(self.whole)}
        found = dict.fromkeys(self.tool.roles, 0)
        for rule, test in self.tests:
            number = numbers.get((_value_part(test), rule.then is Outcome.ALLOW))
            for role in self.tool.roles if number is not None else ():
                if role not in roles_of(test) and may_apply(rule, self.tool, role):
                    found[role] |= 1 << (number or 0)
        return found

    @staticmethod
    def named_by(tests: Iterable[tuple[Rule, Test]]) -> set[tuple[Json, ...]]:
        """The values that rules name themselves: one that is refused can never be sent."""
        found: set[tuple[Json, ...]] = set()
        for _, test in tests:
            members = test.members if isinstance(test, ListTest) else getattr(test, "equals", None) or ()
            found |= {(value,) for _, value in members}
            if isinstance(test, PathTest):
                found.update((place,) for place in test.within)
        return found

    def several(self, leaf: Shape) -> bool:
        return self.arguments.kind(leaf.leaf).many or any(category(role) is Category.PARTY for role in _roles(leaf))

    def ways(self, leaf: Shape) -> Iterator[dict[str, Json]]:
        """Every way in which other arguments can select the mode of this one."""
        names = list(dict.fromkeys(_beside(leaf.leaf, name) for mode in leaf.modes for name, _ in mode.when))
        for values in product(*(self.selectors.get(name, ()) for name in names)):
            yield dict(zip(names, values, strict=True))

    def column(self, leaf: Shape, options: Iterable[Option]) -> Column:
        told: dict[Summary, list[Option]] = {}
        for option in options:
            told.setdefault(self._part(option), []).append(option)
        groups = tuple(Group(part, tuple(members)) for part, members in told.items())
        return Column(leaf.leaf, groups, self.several(leaf))

    def _part(self, option: Option) -> Summary:
        by_role: dict[Role, tuple[Value, ...]] = {}
        for item in option.items:
            by_role[item.role] = (*by_role.get(item.role, ()), item.value)
        scope = Scope(by_role, {option.leaf: option.shown} if option.shown else {})
        present = {str(role) for role in by_role if is_carried(role)}
        present |= {"anything"} if by_role else set()
        present |= {"sending"} if any(sends(role) for role in by_role) else set()
        selected = {(name, self._selects(name, value)) for name, value in option.siblings}
        if option.leaf in self.selectors:
            selected.add((option.leaf, self._selects(option.leaf, option.chosen[0] if option.chosen else None)))
        counted = [scope.all_of(test) for test in self.counting]
        asked = turned = errors = 0
        speaking = {number for role in by_role for number in self.speaking.get(role, ())}
        for number in sorted({*speaking, *self.speaking.get(option.leaf, ())}):
            rule, test = self.whole[number]
            if scope.all_of(test):
                asked |= 1 << number
                try:
                    held = conditions_hold(rule, (test,), _NOBODY, scope)
                    turned |= (held != (rule.then is Outcome.ALLOW)) << number
                except ConditionError:
                    errors |= 1 << number
        return Summary(
            frozenset(selected),
            frozenset(present),
            asked,
            turned,
            errors,
            tuple(len(values) for values in counted),
            tuple(any(isinstance(value, (Unknown, Opaque)) for value in values) for values in counted),
        )


def _is_itself(option: Option) -> bool:
    """Whether the values are the ones that were chosen: no link leads elsewhere, nothing was trimmed."""
    if any(isinstance(item.value, CanonicalPath) and item.value.shared for item in option.items):
        return False
    wanted = {str(value) for value in option.chosen}
    texts = [str(value) for value in option.shown if not isinstance(value, (Unknown, Opaque))]
    return all(text in wanted for text in texts)


def concerns(rule: Rule, tool: Tool) -> bool:
    """Whether a rule can apply to any claim of a tool."""
    conditions = rule.conditions
    if conditions.tools and not name_is_listed(tool.name, conditions.tools):
        return False
    if conditions.servers and not name_is_listed(tool.server, conditions.servers):
        return False
    return any(may_apply(rule, tool, role) for role in (None, *tool.roles))


def _summaries(
    columns: Sequence[Column], nothing: Summary, limits: tuple[tuple[int, ...], ...]
) -> tuple[dict[Summary, tuple[Option, ...]], bool]:
    """Every summary of a whole call, with one call each; and whether these are all."""
    found: dict[Summary, tuple[Option, ...]] = {nothing: ()}
    for column in columns:
        further: dict[Summary, tuple[Option, ...]] = {}
        for summary, options in found.items():
            for group in column.groups:
                joined = capped(summary.with_(group.part), limits)
                if joined not in further and consistent(joined):
                    further[joined] = (*options, *group.options[:1])
        if len(further) > MAX_SUMMARIES:
            return {}, False
        found = further
    return {summary.told_by(limits): options for summary, options in found.items()}, True


def capped(summary: Summary, limits: Sequence[Sequence[int]]) -> Summary:
    """The same with counts that go no further than the last limit."""
    counts = tuple(min(count, each[-1]) for count, each in zip(summary.counts, limits, strict=True))
    return summary if counts == summary.counts else replace(summary, counts=counts)


def consistent(summary: Summary) -> bool:
    """Whether every argument is in the mode that the others select."""
    return len({name for name, _ in summary.selected}) == len(summary.selected)


def _copies(column: Column, mixing: int) -> Iterator[Column]:
    """The column, and again for each further value that it may hold."""
    yield column
    if column.several and column.groups:
        present = ((g.part, tuple(option for option in g.options if option.chosen)) for g in column.groups)
        held = tuple(Group(part, options) for part, options in present if options)
        nothing = Option(column.leaf, "", ())
        for _ in range(1, mixing):
            yield replace(column, groups=(Group(column.groups[0].part.emptied(), (nothing,)), *held))


def _closed(columns: Sequence[Column], summaries: Iterable[Summary], limits: tuple[tuple[int, ...], ...]) -> bool:
    """Whether one more value in any argument would bring no new summary, counts aside."""
    seen = {replace(summary, counts=()) for summary in summaries}
    plain = [replace(summary, counts=(0,) * len(limits)) for summary in seen]
    return all(
        replace(joined, counts=()) in seen
        for summary in plain
        for column in columns
        if column.several
        for group in column.groups
        if any(option.chosen for option in group.options) and group.part.selected <= summary.selected
        for joined in (summary.with_(group.part),)
    )


def _roles(leaf: Shape) -> set[Role]:
    return {role for mode in leaf.modes for role in mode.roles}


def _speaks_of(test: Test, leaf: Shape) -> bool:
    if isinstance(test, ValueTest) and test.leaf is not None:
        return test.leaf == leaf.leaf
    return not roles_of(test).isdisjoint(_roles(leaf))


def _looks_around(rule: Rule, test: Test, tool: Tool) -> bool:
    """Whether a test on some arguments is also asked when another is decided about."""
    own = roles_of(test)
    if isinstance(test, ValueTest) and _value_part(test) == ValueTest(test.roles, test.leaf):
        return False  # it only counts
    if not own or any(is_carried(role) for role in own & tool.roles):
        return True
    return any(may_apply(rule, tool, role) for role in (None, *tool.roles) if role not in own)


def _value_part(test: Test) -> Test:
    return replace(test, min_items=None, max_items=None) if isinstance(test, ValueTest) else test


def _limits(test: ValueTest) -> list[int]:
    """The counts from which on the test says something else."""
    least, most = test.min_items, test.max_items
    return [*([] if least is None else [least]), *([] if most is None else [most + 1])]


def _below(directories: set[str], mounts: Iterable[str]) -> set[str]:
    """The mounts inside one of the directories: what is on them is not in it, for a permission."""
    return {mount for mount in mounts if any(mount.startswith(place.rstrip("/") + "/") for place in directories)}


def _counts(tests: Iterable[tuple[Rule, Test]]) -> list[int]:
    """How many values there should be, to be below, at and above every limit."""
    limits = {limit for _, test in tests if isinstance(test, ValueTest) for limit in _limits(test)}
    return sorted({count for limit in limits for count in (limit - 1, limit) if 1 < count <= MOST})


def _selecting(leaves: Sequence[Shape]) -> dict[str, frozenset[tuple[type, Json]]]:
    """The arguments that select modes, with the values that modes name."""
    named: dict[str, set[tuple[type, Json]]] = {}
    for leaf in leaves:
        for mode in leaf.modes:
            for name, values in mode.when:
                named.setdefault(_beside(leaf.leaf, name), set()).update(values)
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


def _beside(leaf: str, name: str) -> str:
    place = leaf.rpartition(".")[0]
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


def _only(call: CanonicalCall, leaf: str, says: str, chosen: tuple[Json, ...], siblings: Mapping[str, Json]) -> Option:
    when = "".join(f", with {name} {LEFT_OUT if value is None else value}" for name, value in siblings.items())
    return Option(
        leaf,
        says + when,
        chosen,
        tuple(item for item in call.values if item.leaf == leaf),
        call.leaves.get(leaf, ()),
        tuple(stray for stray in call.strays if stray.leaf == leaf),
        tuple(sorted(siblings.items(), key=str)),
    )
