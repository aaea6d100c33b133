"""What changes from one policy to another: for all calls, not for samples.

Both policies are asked about the same cells. Where a tool is described differently in the two, its calls do not have
the same meaning; it is told apart, and compared with a tool that nobody may call.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ironcurtain.analysis.examples import example_of
from ironcurtain.analysis.regions import Judge
from ironcurtain.analysis.space import Spaces
from ironcurtain.engine.chain import RuleBook

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ironcurtain.analysis.examples import Example
    from ironcurtain.analysis.regions import Choice, Outcomes, Region
    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.engine.policy import Policy
    from ironcurtain.model.decision import Outcome
    from ironcurtain.model.policy import Tool


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


def diff_policies(old: Loaded, new: Loaded, now: float) -> Difference:
    """Compare two policies."""
    before, after = old.policy.tools, new.policy.tools
    shared = [key for key in after if key in before and _means_the_same(old, new, key)]
    redescribed = [key for key in after if key in before and key not in shared]
    both = (old.policy.book, new.policy.book)
    nothing = RuleBook(())
    work = _Work(new, now)
    work.compare([after[key] for key in shared], both, old.policy.setup.sandbox, old.policy)
    work.compare(
        [after[key] for key in after if key not in shared], (nothing, new.policy.book), new.policy.setup.sandbox
    )
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
    changes: list[Change] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    regions: int = 0

    def compare(
        self, tools: Iterable[Tool], books: tuple[RuleBook, RuleBook], sandbox: str, before: Policy | None = None
    ) -> None:
        """Note what changes from one chain of rules to the other."""
        judge = Judge(self.loaded.policy, books, sandboxes=(sandbox, self.loaded.policy.setup.sandbox), before=before)
        same_rules = books[0].rules == books[1].rules and sandbox == self.loaded.policy.setup.sandbox
        spaces = Spaces(self.loaded, (books[0].rules, books[1].rules), mixing=2, places=frozenset({sandbox}))
        for tool in () if same_rules else tools:
            space = spaces.of(tool)
            self.doubts += [f"{tool.server}/{tool.name}: {doubt}" for doubt in space.doubts]
            found: dict[Outcomes, _Changed] = {}
            for region in judge.regions(space):
                self.regions += 1
                self._look(region, found)
            self.changes += _told(tool, found)

    def _look(self, region: Region, found: dict[Outcomes, _Changed]) -> None:
        for outcomes in region.outcomes():
            was, now = outcomes
            if was is now:
                continue
            choices = region.call(outcomes)
            if choices is None:
                continue
            changed = found.setdefault(outcomes, _Changed())
            weight = sum(choice.option.weight for choice in choices)
            if changed.example is None or weight < changed.weight or changed.example.decision.outcome is not now:
                changed.example, changed.weight = example_of(region, choices, self.loaded, self.now), weight
            for choice in _differing(region, outcomes):
                changed.cells.setdefault(choice.option.leaf, {})[choice.option.says] = None
                _note_rules(choice, changed)
            for ruling in region.whole:
                for verdict in ruling.verdicts:
                    if verdict.rule and ruling.verdicts[0].outcome is not ruling.verdicts[1].outcome:
                        changed.rules[verdict.rule] = None


def _differing(region: Region, outcomes: Outcomes) -> list[Choice]:
    """The choices that make a call have these outcomes: by themselves, or else together with others."""
    of_one_value = [choice for choices in region.columns for choice in choices if len(choice.option.chosen) < 2]
    alone = [choice for choice in of_one_value if choice.outcomes == outcomes]
    return alone or [
        choice
        for choice in of_one_value
        if choice.outcomes[0] is not choice.outcomes[1]
        and all(own <= whole for own, whole in zip(choice.outcomes, outcomes, strict=True))
    ]


def _note_rules(choice: Choice, changed: _Changed) -> None:
    for ruling in choice.rulings:
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


def _means_the_same(old: Loaded, new: Loaded, key: tuple[str, str]) -> bool:
    """Whether a tool's calls are read alike under both policies."""
    before, after = old.policy.tools[key], new.policy.tools[key]
    bases = old.policy.setup.path_base.get(key[0]), new.policy.setup.path_base.get(key[0])
    return (
        replace(before, comment="", effects=frozenset()) == replace(after, comment="", effects=frozenset())
        and bases[0] == bases[1]
        and old.policy.setup.home == new.policy.setup.home
    )
