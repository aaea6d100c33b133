"""What a policy can never do, for all calls.

Every tool's calls are cut into regions (see `space` and `regions`); a statement is proven if it holds in each of them,
and violated if one of them has a call that breaks it. That call is then decided by the whole pipeline. Where the calls
could not be cut completely, or a call that breaks a statement by the rules cannot be made, it is *not proven*.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from ironcurtain.analysis.examples import example_of
from ironcurtain.analysis.regions import Judge, matches_what_is_known
from ironcurtain.analysis.space import Ruleset, Spaces
from ironcurtain.engine.chain import RuleBook
from ironcurtain.engine.invariants import check_invariants
from ironcurtain.engine.protected import CLIENT_CONFIGURATIONS
from ironcurtain.errors import Refusal
from ironcurtain.mediation.decide import decide_call
from ironcurtain.model.call import CanonicalCall, Principal, RoleValue
from ironcurtain.model.decision import Outcome
from ironcurtain.model.resolved import CanonicalPath
from ironcurtain.model.roles import DELETE_PATH, READ_PATH, WRITE_PATH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ironcurtain.analysis.examples import Example
    from ironcurtain.analysis.regions import Choice, Region, Ruling
    from ironcurtain.analysis.space import ToolSpace
    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.model.call import Json, ToolCall
    from ironcurtain.model.decision import Verdict
    from ironcurtain.model.policy import Rule

_ALLOW: Final = (Outcome.ALLOW,)
_NO_RULE: Final = "no rule"
_EVERYTHING: Final[Json] = {
    "version": 1,
    "task": "everything",
    "expiresAt": "9999-01-01T00:00:00Z",
    "rules": [{"name": "everything", "if": {"server": ["*"]}, "then": "allow"}],
}
FATAL: Final = ("protected", "granted", "prohibitions", "layers")
"""The statements without which no compiled policy is put in force. Of the others the owner is told."""


class Proof(Enum):
    """What became of a statement."""

    PROVEN = "proven"
    VIOLATED = "violated"
    OPEN = "not proven"


@dataclass(frozen=True, slots=True)
class Breach:
    """Something that breaks a statement, with a call that shows it."""

    message: str
    rules: tuple[str, ...] = ()
    example: Example | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that should hold for every call."""

    name: str
    says: str
    proof: Proof
    argument: str
    """Why it is proven, or what is missing."""
    breaches: tuple[Breach, ...] = ()

    def fields(self) -> dict[str, Json]:
        """For machines."""
        return {
            "statement": self.name,
            "says": self.says,
            "proof": self.proof.value,
            "argument": self.argument,
            "breaches": [
                {
                    "message": breach.message,
                    "rules": [*breach.rules],
                    **({"example": breach.example.fields()} if breach.example else {}),
                }
                for breach in self.breaches
            ],
        }


@dataclass(slots=True)
class Prover:
    """Looks at all calls of a policy once, and answers from what it saw."""

    loaded: Loaded
    now: float
    sentences: Collection[str] | None = None
    """Of the constitution, if it is known."""
    regions: int = 0
    cells: int = 0
    _doubts: list[str] = field(default_factory=list)
    _ungranted: list[Breach] = field(default_factory=list)
    _deletes: list[Breach] = field(default_factory=list)
    _open: dict[str, list[str]] = field(default_factory=dict)
    _deciding: set[str] = field(default_factory=set)
    """The rules that decide something."""
    _regions: list[Region] = field(default_factory=list)
    _held: dict[int, tuple[Ruling, list[Rule]]] = field(default_factory=dict)
    """The rules that a verdict rests on, by its number; it holds the ruling, so that no other verdict takes that."""
    _refused: dict[tuple[str, str, Outcome], ToolCall] = field(default_factory=dict)
    _silent: tuple[Rule, ...] = ()
    """The rules that never decide anything."""
    _instead: dict[str, dict[str, tuple[Outcome, Region, Choice | None]]] = field(default_factory=dict)
    """For each of them what decides in its place, how, and where."""
    _order: dict[str, int] = field(init=False)
    _lasting: frozenset[str] = field(init=False)
    """The rules behind which others are asked, too: those that are joined, or wait for an answer."""
    _places: tuple[str, ...] = field(init=False)
    """The directories that permissions name for deleting."""

    def __post_init__(self) -> None:
        rules = self.loaded.policy.book.rules
        self._order = {rule.name: number for number, rule in enumerate(rules)}
        self._lasting = frozenset(rule.name for rule in rules if rule.unanswered or rule.joined)
        self._places = tuple(
            place
            for rule in rules
            if rule.then is Outcome.ALLOW and rule.conditions.paths and DELETE_PATH in rule.conditions.paths.roles
            for place in rule.conditions.paths.within
        )

    def statements(self) -> list[Statement]:
        """Everything that is asked of every policy."""
        policy = self.loaded.policy
        chains = (Ruleset(policy.book, policy.setup.sandbox),)
        judge = Judge(policy, chains)
        spaces = Spaces(self.loaded, chains)
        for tool in policy.tools.values():
            space = spaces.of(tool)
            self._doubts += [f"{tool.server}/{tool.name}: {doubt}" for doubt in space.doubts]
            for region in judge.regions(space):
                self.regions += 1
                self._regions.append(region)
                self._look(region, judge, policy.book)
                self._keep_refused(region)
        self._find_silent(judge, policy.book)
        return [
            self._protected(),
            self._granted(),
            self._deleted(),
            self._prohibited(),
            self._narrowed(),
            self._reached(),
        ]

    def _look(self, region: Region, judge: Judge, book: RuleBook) -> None:
        for choice, ruling in region.rulings():
            self.cells += 1
            verdict = ruling.verdicts[0]
            if not _is_moot(choice, verdict):
                self._deciding.update(self._in_play(region, judge, book, ruling))
            if verdict.outcome is not Outcome.ALLOW:
                continue
            grant = book.rules[self._order[verdict.rule]] if verdict.rule else None
            if grant is not None and not self._is_granted(grant):
                self._note(
                    region, choice, self._ungranted, "granted", f"{grant.name} stands on no sentence", grant.name
                )
            if ruling.claim.role == DELETE_PATH and not any(
                isinstance(value, CanonicalPath) and any(value.named_within(place) for place in self._places)
                for value in ruling.claim.values
            ):
                shown = ", ".join(map(str, ruling.claim.values))
                self._note(region, choice, self._deletes, "deletes", f"deletes {shown}", verdict.rule or "")

    def _in_play(self, region: Region, judge: Judge, book: RuleBook, ruling: Ruling) -> Iterator[str]:
        """Yield the rules that a verdict rests on.

        That is the one that decides, and before it those that are joined to it or wait for an answer. A prohibition
        that matches only because a value cannot be read is not among them: it speaks of something else.
        """
        key = id(ruling.verdicts)
        if key not in self._held:
            self._held[key] = ruling, [*self._resting_on(region, judge, book, ruling)]
        for rule in self._held[key][1]:
            if rule.name not in self._deciding and matches_what_is_known(rule, ruling.claim, region.scope):
                yield rule.name

    def _resting_on(self, region: Region, judge: Judge, book: RuleBook, ruling: Ruling) -> Iterator[Rule]:
        verdict = ruling.verdicts[0]
        candidates = book.candidates(region.tool, ruling.claim, ruling.scope) if self._lasting else ()
        if not any(candidate.rule.name in self._lasting for candidate in candidates):
            yield from [book.rules[self._order[verdict.rule]]] if verdict.rule else []
            return
        for rule in judge.holding(None, book, region.tool, ruling):
            if not (rule.joined and not rule.unanswered and verdict.outcome is Outcome.DENY):
                yield rule
            if rule.name not in self._lasting:
                return

    def _note(
        self, region: Region, choice: Choice | None, breaches: list[Breach], name: str, message: str, rule: str
    ) -> None:
        """Note a breach if there is a call that shows it, once for each tool and rule."""
        tool = f"{region.tool.server}/{region.tool.name}"
        if any(breach.rules == (rule,) and breach.message.startswith(tool) for breach in breaches):
            return
        choices = region.call(_ALLOW, choice) if _ALLOW in region.possible else None
        if choices is None:
            return
        example = example_of(region, choices, self.loaded, self.now)
        if example.decision.outcome is Outcome.ALLOW:
            breaches.append(Breach(f"{tool} {message}", (rule,), example))
        else:
            self._open.setdefault(name, []).append(f"{tool} {message}, by the rules; tried, it is {_tried(example)}")

    def _is_granted(self, rule: Rule) -> bool:
        if self.sentences is None:
            return bool(rule.principle.strip())
        return rule.principle in self.sentences

    def _protected(self) -> Statement:
        """Step 3 comes before every rule and looks at values alone: each protected place, each role, once."""
        home = self.loaded.policy.setup.home
        places = [f"{home}/.ironcurtain", *(f"{home}/{name}" for name in CLIENT_CONFIGURATIONS)]
        breaches, asked = [], 0
        for place in (form for base in places for form in (base, f"{base}/something")):
            try:
                path = self.loaded.resolver.paths.resolve(place, None)
            except Refusal:
                continue  # refused before it is decided
            for role in (READ_PATH, WRITE_PATH, DELETE_PATH):
                asked += 1
                call = CanonicalCall("", "", {}, Principal(), (RoleValue(role, "path", path),), {}, ())
                if not any(verdict.outcome is Outcome.DENY for verdict in check_invariants(call, self.loaded.policy)):
                    breaches.append(Breach(f"{role} {place} is not denied"))
        argument = f"step 3 denies {asked} combinations of place and role before any rule is asked"
        return Statement(
            "protected",
            "No tool reaches what is protected.",
            Proof.VIOLATED if breaches else Proof.PROVEN,
            argument,
            tuple(breaches),
        )

    def _granted(self) -> Statement:
        return self._stated(
            "granted", "Nothing is allowed that no sentence grants.", self._ungranted,
            "every permission that decides a call stands on a sentence",
        )  # fmt: skip

    def _deleted(self) -> Statement:
        named = ", ".join(sorted(set(self._places))) or "none"
        return self._stated(
            "deletes", "Nothing is deleted outside the named places.", self._deletes,
            f"places named for deleting: {named}",
        )  # fmt: skip

    def _prohibited(self) -> Statement:
        """A prohibition is shadowed if a permission decides everything that it speaks of.

        What asks about everything else (`elsewhere`) is meant to be decided by permissions where there are any.
        """
        breaches = []
        for rule in self._silent:
            deciders = self._instead[rule.name]
            if (
                rule.then is Outcome.ALLOW
                or rule.elsewhere
                or not deciders
                or any(said is not Outcome.ALLOW for said, *_ in deciders.values())
            ):
                continue
            allow, (_, region, choice) = next(iter(deciders.items()))
            choices = region.call(_ALLOW, choice)
            example = example_of(region, choices, self.loaded, self.now) if choices else None
            message = f"{rule.name} never decides: {allow} comes first and permits"
            breaches.append(Breach(message, (rule.name, allow), example))
        return self._stated(
            "prohibitions", "No prohibition is shadowed by a permission.", breaches,
            "every prohibition decides a call, or a stricter or earlier prohibition does",
            by_absence=True,
        )  # fmt: skip

    def _keep_refused(self, region: Region) -> None:
        """For each tool, a call that is denied and one that is asked about."""
        for outcome in (Outcome.DENY, Outcome.ESCALATE):
            key = (region.tool.server, region.tool.name, outcome)
            if key in self._refused or (outcome,) not in region.possible:
                continue
            if (choices := region.call((outcome,))) is not None:
                self._refused[key] = example_of(region, choices, self.loaded, self.now).call

    def _narrowed(self) -> Statement:
        """A task that permits everything is joined to calls that are refused: none of them may become possible."""
        breaches = []
        for call in self._refused.values():
            alone = decide_call(call, self.loaded, self.now).decision
            joined = decide_call(replace(call, task=_EVERYTHING), self.loaded, self.now).decision
            if joined.outcome < alone.outcome:
                breaches.append(Breach(f"{call.server}/{call.tool} is {joined.outcome.word} with a task's policy"))
        argument = (
            "access can only deny, and what a task's rules say is joined with what these say, the stricter wins;"
            f" tried on {len(self._refused)} calls with a task that permits everything"
        )
        return Statement(
            "layers",
            "No task and no access layer widens.",
            Proof.VIOLATED if breaches else Proof.PROVEN,
            argument,
            tuple(breaches),
        )

    def _reached(self) -> Statement:
        breaches, repeated = [], 0
        for rule in self._silent:
            deciders = self._instead[rule.name]
            alike = deciders and all(said is not Outcome.ALLOW for said, *_ in deciders.values())
            named = [name for name in deciders if name in self._order]
            if rule.then is not Outcome.ALLOW and alike and named:
                repeated += 1  # a prohibition that others make, too
                continue
            why = f"{', '.join([*deciders][:3])} decide everything that it speaks of"
            if not deciders:
                why = "it speaks of nothing"
            elif [*deciders] == [_NO_RULE]:
                why = "it asks about what no rule permits"
            breaches.append(Breach(f"{rule.name} never decides anything: {why}", (rule.name, *named)))
        return self._stated(
            "reachable",
            "Every rule can come into play.",
            breaches,
            f"each decides a call, or forbids what others forbid, too ({repeated} do)",
            by_absence=True,
        )

    def _find_silent(self, judge: Judge, book: RuleBook) -> None:
        """The rules that never decide, with those that decide in their place."""
        self._silent = tuple(rule for rule in book.rules if rule.name not in self._deciding)
        self._instead = {rule.name: {} for rule in self._silent}
        held: dict[int, list[Rule]] = {}
        for region in self._regions if self._silent else ():
            for choice, ruling in region.rulings():
                verdict, key = ruling.verdicts[0], id(ruling.verdicts)
                if _is_moot(choice, verdict):
                    continue
                if key not in held:
                    held[key] = judge.holding(self._instead, book, region.tool, ruling)
                decider = verdict.rule or (_NO_RULE if verdict.outcome is Outcome.DENY else "containment")
                for rule in held[key]:
                    known = decider not in self._instead[rule.name]
                    if known and matches_what_is_known(rule, ruling.claim, region.scope):
                        self._instead[rule.name][decider] = (verdict.outcome, region, choice)

    def _stated(
        self, name: str, says: str, breaches: list[Breach], argument: str, *, by_absence: bool = False
    ) -> Statement:
        """`by_absence`: a breach is that nothing was found, which says little where not everything was seen."""
        missing = [*self._open.get(name, ()), *self._doubts]
        if breaches and not (by_absence and missing):
            return Statement(name, says, Proof.VIOLATED, argument, tuple(breaches))
        if missing:
            return Statement(name, says, Proof.OPEN, "; ".join(missing[:3]))
        return Statement(name, says, Proof.PROVEN, f"{argument}: {self.regions} regions, {self.cells} cells")


def never(loaded: Loaded, forbidden: tuple[Rule, ...], says: str, now: float, *, asking_counts: bool) -> Statement:
    """Whether no call that the forbidden rules speak of is allowed (or, if asking counts, even asked about)."""
    policy = loaded.policy
    sandbox = policy.setup.sandbox
    chains = Ruleset(policy.book, sandbox), Ruleset(RuleBook(forbidden), sandbox)
    judge = Judge(policy, chains, frozenset({1}))
    spaces = Spaces(loaded, chains)
    doubts: list[str] = []
    open_: list[str] = []
    breaches: list[Breach] = []
    regions = 0
    for tool in policy.tools.values():
        space = spaces.of(tool)
        doubts += [f"{tool.server}/{tool.name}: {doubt}" for doubt in space.doubts]
        regions += len(space.ends)
        message = f"{tool.server}/{tool.name}"
        for region, choices in sorted(_forbidden(space, judge, asking_counts=asking_counts), key=_weight):
            example = example_of(region, choices, loaded, now)
            if example.decision.outcome is not Outcome.DENY:
                breaches.append(Breach(message, (example.decision.rule or "",), example))
                break
            open_.append(f"{message}: by the rules; tried, it is {_tried(example)}")
    if breaches:
        return Statement("question", says, Proof.VIOLATED, "", tuple(breaches))
    if open_ or doubts:
        return Statement("question", says, Proof.OPEN, "; ".join([*open_, *doubts][:3]))
    return Statement("question", says, Proof.PROVEN, f"no call of {len(policy.tools)} tools, {regions} regions")


def _is_moot(choice: Choice | None, verdict: Verdict) -> bool:
    """Whether the rules allow what the invariants do not."""
    return verdict.outcome is Outcome.ALLOW and choice is not None and choice.floor is not Outcome.ALLOW


def _forbidden(space: ToolSpace, judge: Judge, *, asking_counts: bool) -> Iterator[tuple[Region, tuple[Choice, ...]]]:
    bad = [Outcome.ALLOW, *([Outcome.ESCALATE] if asking_counts else [])]
    for region in judge.regions(space):
        for outcomes in region.possible:
            if outcomes[0] in bad and outcomes[1] is not Outcome.ALLOW:
                choices = region.call(outcomes)
                if choices is not None:
                    yield region, choices


def _weight(found: tuple[Region, tuple[Choice, ...]]) -> int:
    return sum(choice.option.weight for choice in found[1])


def _tried(example: Example) -> str:
    return f"{example.decision.outcome.word} ({example.decision.code}: {example.decision.reason})"
