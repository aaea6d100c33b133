"""What changes from one policy to another: for all calls, not for samples.

Both policies are asked about the same cells. Where a tool is described differently in the two, its calls do not have
the same meaning; it is told apart, and compared with a tool that nobody may call.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ironcurtain.analysis.examples import example_of
from ironcurtain.analysis.options import REFUSED, SOURCES, UNREADABLE
from ironcurtain.analysis.regions import Judge
from ironcurtain.analysis.space import Ruleset, Spaces
from ironcurtain.engine.chain import RuleBook
from ironcurtain.mediation.decide import decide_call
from ironcurtain.model.decision import Stage
from ironcurtain.model.policy import without_members
from ironcurtain.model.roles import Category, category

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ironcurtain.analysis.examples import Example
    from ironcurtain.analysis.regions import Choice, Outcomes, Region, Ruling
    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.engine.policy import Policy
    from ironcurtain.model.decision import Outcome
    from ironcurtain.model.policy import Conditions, Rule, Tool

_TRIES: Final = 20  # examples of one change that are made up before the best of them is good enough


@dataclass(frozen=True, slots=True)
class Change:
    """Calls of one tool that are decided differently, from one outcome to another."""

    server: str
    tool: str
    was: Outcome
    now: Outcome
    cells: tuple[tuple[str, tuple[str, ...]], ...]
    """For each argument that makes the difference, what it can be then; none if any call does."""
    rules: tuple[str, ...]
    example: Example

    @property
    def widens(self) -> bool:
        """Whether more is possible than before."""
        return self.now < self.was


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that changes."""

    changes: tuple[Change, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    redescribed: tuple[str, ...] = ()
    """Tools whose arguments mean something else than before."""
    doubts: tuple[str, ...] = ()
    regions: int = 0

    @property
    def equal(self) -> bool:
        """Whether the two are proven to decide every call alike."""
        return not (self.changes or self.added or self.removed or self.redescribed or self.doubts)

    @property
    def widens(self) -> bool:
        """Whether anything becomes possible, or may do so without our seeing it."""
        return any(change.widens for change in self.changes) or bool(self.doubts)


@dataclass(slots=True)
class _Changed:
    cells: dict[str, dict[str, None]] = field(default_factory=dict)
    rules: dict[str, None] = field(default_factory=dict)
    example: Example | None = None
    weight: int = 0
    """How good the example is: the less, the better."""
    tries: int = 0
    seen: set[tuple[int, ...]] = field(default_factory=set)
    """The columns that were looked at: regions have most of them in common."""


def diff_policies(old: Loaded, new: Loaded, now: float) -> Difference:
    """Compare two policies."""
    before, after = old.policy.tools, new.policy.tools
    shared = [key for key in after if key in before and _means_the_same(old, new, key)]
    redescribed = [key for key in after if key in before and key not in shared]
    chains = Ruleset(old.policy.book, old.policy.setup.sandbox), Ruleset(new.policy.book, new.policy.setup.sandbox)
    nothing = Ruleset(RuleBook(()), new.policy.setup.sandbox)
    work = _Work(new, now, old)
    work.compare([after[key] for key in shared], chains, old.policy)
    work.compare([after[key] for key in after if key not in shared], (nothing, chains[1]), new.policy)
    return Difference(
        tuple(work.changes),
        tuple("/".join(key) for key in after if key not in before),
        tuple("/".join(key) for key in before if key not in after),
        tuple("/".join(key) for key in redescribed),
        tuple(work.doubts),
        work.regions,
    )


@dataclass(slots=True)
class _Work:
    loaded: Loaded
    now: float
    old: Loaded
    changes: list[Change] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    regions: int = 0

    def compare(self, tools: Iterable[Tool], chains: tuple[Ruleset, Ruleset], before: Policy) -> None:
        """Note what changes from one chain of rules to the other."""
        judge = Judge(self.loaded.policy, chains, before=before)
        spaces = Spaces(self.loaded, chains, before.declared_hosts)
        # Where an allow rule for any tool names a private host, the invariants no longer refuse it, whatever the tool.
        same_hosts = before.declared_hosts == self.loaded.policy.declared_hosts
        for tool in tools:
            if _decide_alike(chains, tool) and (same_hosts or not _names_hosts(tool)):
                continue
            space = spaces.of(tool)
            self.doubts += [f"{tool.server}/{tool.name}: {doubt}" for doubt in space.doubts]
            found: dict[Outcomes, _Changed] = {}
            for region in judge.regions(space):
                self.regions += 1
                self._look(region, found)
            for outcomes, changed in [*found.items()] if space.counts_elements else ():
                if changed.example is not None and not self._is_so(changed.example, outcomes):
                    self.doubts.append(f"{tool.server}/{tool.name}: elements are counted apart from what is in them")
                    del found[outcomes]
            self.changes += _told(tool, found)

    def _look(self, region: Region, found: dict[Outcomes, _Changed]) -> None:
        """Note the changes in a region. Once there is a good call for a change, no other is looked for."""
        for outcomes in region.possible:
            if outcomes[0] is outcomes[1]:
                continue
            if outcomes not in found or found[outcomes].tries < _TRIES:
                choices = region.call(outcomes)
                if choices is None:
                    continue
                self._show(region, choices, found.setdefault(outcomes, _Changed()))
            _note(region, outcomes, found[outcomes])

    def _is_so(self, example: Example, outcomes: Outcomes) -> bool:
        """Return whether the rules of both policies decide an example as it was made up to show."""
        before = decide_call(example.call, self.old, self.now).decision
        both = zip((before, example.decision), outcomes, strict=True)
        return all(said.stage is not Stage.RULES or said.outcome is outcome for said, outcome in both)

    def _show(self, region: Region, choices: tuple[Choice, ...], changed: _Changed) -> None:
        example = example_of(region, choices, self.loaded, self.now)
        weight = sum(choice.option.weight for choice in choices)
        weight += REFUSED if example.decision.stage in (Stage.VALIDATE, Stage.RESOLVE) else 0
        if changed.example is None or weight < changed.weight:
            changed.example, changed.weight = example, weight
        changed.tries = _TRIES if changed.weight < UNREADABLE else changed.tries + 1


def _note(region: Region, outcomes: Outcomes, changed: _Changed) -> None:
    """Note the cells and rules that make the difference."""
    columns = tuple(map(id, region.columns))
    if columns not in changed.seen:
        changed.seen.add(columns)
        for choice in _differing(region, outcomes):
            changed.cells.setdefault(choice.option.leaf, {})[choice.option.says] = None
            _note_rules(choice.rulings, changed)
        for choices in (c.all for c in region.columns if c.all and c.all[0].option.leaf == SOURCES):
            if all(choice.option.sources is not None for choice in choices):
                changed.cells.setdefault(SOURCES, {}).update({choice.option.says: None for choice in choices})
    _note_rules(region.whole, changed)


def _differing(region: Region, outcomes: Outcomes) -> list[Choice]:
    """The choices that make a call have these outcomes: by themselves, or else together with others."""
    choices = [choice for column in region.columns for choice in column.all]
    alone = [choice for choice in choices if choice.outcomes == outcomes]
    return alone or [
        choice
        for choice in choices
        if choice.outcomes[0] is not choice.outcomes[1]
        and all(own <= whole for own, whole in zip(choice.outcomes, outcomes, strict=True))
    ]


def _note_rules(rulings: Iterable[Ruling], changed: _Changed) -> None:
    for ruling in rulings:
        if ruling.verdicts[0].outcome is not ruling.verdicts[1].outcome:
            changed.rules.update({verdict.rule: None for verdict in ruling.verdicts if verdict.rule})


def _told(tool: Tool, found: dict[Outcomes, _Changed]) -> Iterator[Change]:
    for (was, now), changed in sorted(found.items()):
        if changed.example is not None:
            yield Change(
                tool.server,
                tool.name,
                was,
                now,
                tuple((leaf, tuple(cells)) for leaf, cells in changed.cells.items()),
                tuple(changed.rules),
                changed.example,
            )


def _decide_alike(chains: tuple[Ruleset, Ruleset], tool: Tool) -> bool:
    """Whether the rules about a tool are the same, whatever they are called."""
    first, second = chains
    return first.sandbox == second.sandbox and _meanings(first, tool) == _meanings(second, tool)


def _meanings(chain: Ruleset, tool: Tool) -> list[tuple[object, ...]]:
    return [(rule.then, rule.elsewhere, rule.joined, _without_tools(rule)) for rule in chain.about(tool)]


def _without_tools(rule: Rule) -> Conditions:
    """The conditions, but for the names of tools and servers: whether there are any is all that matters further on."""
    conditions = rule.conditions
    return replace(conditions, tools=("*",) if conditions.tools else (), servers=("*",) if conditions.servers else ())


def _names_hosts(tool: Tool) -> bool:
    return any(category(role) in (Category.URL, Category.PLACE) for role in tool.roles)


def _described(tool: Tool) -> Tool:
    """A tool less what no decision rests on, and less the members of objects that rules happen to name."""
    return replace(tool, comment="", effects=frozenset(), arguments=without_members(tool.arguments))


def _means_the_same(old: Loaded, new: Loaded, key: tuple[str, str]) -> bool:
    """Whether a tool's calls are read alike under both policies."""
    before, after = old.policy.tools[key], new.policy.tools[key]
    bases = old.policy.setup.path_base.get(key[0]), new.policy.setup.path_base.get(key[0])
    return (
        _described(before) == _described(after)
        and bases[0] == bases[1]
        and old.policy.setup.home == new.policy.setup.home
    )
