"""The analysis and the engine agree, on random policies and calls.

Whatever a call does under two policies was foretold by their difference. And every call lies in a region of its tool, in
which the rules see of it what they see of the call that stands for the region, and each of its values in a cell.
"""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.analysis.lint import lint_policy
from ironcurtain.analysis.options import is_readable
from ironcurtain.analysis.prove import Proof, Prover
from ironcurtain.analysis.regions import Judge, call_of, view_of
from ironcurtain.analysis.space import Ruleset, Spaces
from ironcurtain.compiler.scenarios import derive_scenarios
from ironcurtain.engine.conditions import Scope
from ironcurtain.engine.rules import claims_of
from ironcurtain.errors import ArtifactError
from ironcurtain.model.decision import Outcome, Stage
from ironcurtain.model.policy import leaves_of
from ironcurtain.model.roles import is_carried, sends
from tests.analysis.worlds import Maker
from tests.spec import generate
from tests.support import NOW, Place, annotated, decide, judge

if TYPE_CHECKING:
    from ironcurtain.analysis.facts import State
    from ironcurtain.analysis.regions import Key, Region
    from ironcurtain.analysis.space import ToolSpace
    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.mediation.decide import Judged
    from ironcurtain.model.call import CanonicalCall
    from ironcurtain.model.decision import Claim, Verdict
    from ironcurtain.model.policy import Tool

ASK = Outcome.ESCALATE
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]  # a world is too large to shrink; the message has all


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place.at(tmp_path_factory.mktemp("world"))
    generate.furnish(place)
    for directory in ("p/q", "P"):
        (place.root / directory).mkdir(parents=True)
    return place


def filled(place: Place, value: Any) -> Any:
    return json.loads(place.fill(json.dumps(value)))


def changed(rule: dict[str, Any], then: str | None) -> dict[str, Any] | None:
    """The rule with another outcome, or no rule."""
    if then is None or (then == "allow" and (not rule["if"].keys() - {"unless"} or "assess" in rule["if"])):
        return None
    flags = ("elsewhere", "joined") if then != "escalate" else ()
    return {**{key: value for key, value in rule.items() if key not in flags}, "then": then}


def check(old: Loaded, new: Loaded, requests: list[dict[str, Any]], shown: object) -> None:
    """Every change that a request shows is among those of the difference, and every one of those is a change."""
    difference = diff_policies(old, new, NOW)
    foretold = {(change.server, change.tool, change.was, change.now) for change in difference.changes}
    # Of some values the invariants ask first, whatever the rules say: what steers programs.
    foretold |= {(server, tool, max(was, ASK), max(now, ASK)) for server, tool, was, now in foretold}
    for request in requests:
        before, after = decide(old, request), decide(new, request)
        name = f"{request.get('serverName')}/{request.get('toolName')}"
        if before.outcome is after.outcome or any(doubt.startswith(name) for doubt in difference.doubts):
            continue
        if has_other_names(judge(old, request)):
            continue  # the analysis does not look at such files (docs/analysis.md)
        change = (request["serverName"], request["toolName"], before.outcome, after.outcome)
        if change not in foretold:
            pytest.fail(f"{change} was not foretold, {before} {after}: {json.dumps([request, shown])}")
    for told in difference.changes:
        before, after = decide(old, told.example.fields()), told.example.decision
        if {before.stage, after.stage} == {Stage.RULES}:
            assert (before.outcome, after.outcome) == (told.was, told.now), told


def values_of(call: CanonicalCall) -> list[Any]:
    """Every value of a call, by its roles and by its arguments."""
    return [item.value for item in call.values] + [value for each in call.leaves.values() for value in each]


def has_other_names(judged: Judged) -> bool:
    """Whether a file of the call has other names, by hard links."""
    return judged.call is not None and any(getattr(value, "shared", False) for value in values_of(judged.call))


class Regions:
    """The regions of every tool, for the rules of one policy or of two."""

    def __init__(self, *policies: Loaded) -> None:
        self.loaded = policies[0]
        rulesets = tuple(Ruleset(each.policy.book, each.policy.setup.sandbox) for each in policies)
        self.judge = Judge(self.loaded.policy, rulesets)
        self.spaces = Spaces(self.loaded, rulesets, policies[-1].policy.declared_hosts)
        self.known: dict[tuple[str, str], tuple[ToolSpace, dict[Key, Region]]] = {}

    def of(self, tool: Tool) -> tuple[ToolSpace, dict[Key, Region]]:
        key = (tool.server, tool.name)
        if key not in self.known:
            space = self.spaces.of(tool)
            self.known[key] = space, {region.key: region for region in self.judge.regions(space)}
        return self.known[key]

    def complaint(self, request: dict[str, Any]) -> str | None:
        """What is wrong with where a call lies."""
        judged = judge(self.loaded, request)
        if judged.call is None or has_other_names(judged):
            return None  # refused before any rule is asked; or a file with other names, which is never allowed
        tool = self.loaded.policy.tools[judged.call.server, judged.call.tool]
        space, regions = self.of(tool)
        if space.doubts:
            return None
        region = regions.get(view_of(space, *self.seen(space, judged.call)))
        if region is None:
            return "it lies in no region"
        shown = call_of(tool, min(region.ends, key=lambda end: end.weight).shown)
        for claim in claims_of(judged.call):
            own, its = self.told(tool, claim, judged.call), self.told(tool, claim, shown)
            if claim.role is None or is_carried(claim.role):
                its = next(told(ruling.verdicts) for ruling in region.whole if ruling.claim.role == claim.role)
            elif judged.decision.stage is Stage.INVARIANTS:
                continue  # a private host that no rule names is refused whatever the rules say
            elif not self.has_cell(region, claim, own):
                return f"no cell of {claim.role} is decided like {claim.values}: {own}"
            if own != its:
                return f"{claim} is decided as {own} in the call and as {its} in its region"
        outcomes = tuple(max(each) for each in zip(*(self.outcomes(tool, judged.call)), strict=True))
        if judged.decision.stage is Stage.RULES and region.call(outcomes) is None:
            return f"no call of its region is decided as {outcomes}"
        return None

    def seen(self, space: ToolSpace, call: CanonicalCall) -> tuple[State, tuple[int, ...]]:
        """What rules see of a call, going by its values."""
        sight = space.sight
        parts = [sight.sources_part(call.sources)] if sight.watcher.origins else []
        for leaf in leaves_of(space.tool.arguments):
            own = [item for item in call.values if item.leaf == leaf.leaf]
            by_role = {item.role: tuple(other.value for other in own if other.role == item.role) for item in own}
            parts.append(sight.part(by_role, {leaf.leaf: call.leaves.get(leaf.leaf, ())}))
        own_names = {leaf.leaf for leaf in leaves_of(space.tool.arguments)}
        elements = {
            name: values for name, values in call.leaves.items() if name.endswith("[]") and name not in own_names
        }
        parts += [sight.part({}, {name: values}) for name, values in elements.items()]
        facts, counts = 0, sight.nothing
        for part in parts:
            facts, counts = facts | part.facts, sight.added(counts, part.counts)
        return sight.settled(sight.start, facts, 0), counts

    def decided(self, tool: Tool, claim: Claim, call: CanonicalCall) -> tuple[Verdict, ...]:
        scope = Scope.of(call)
        return self.judge.decide(tool, claim, scope, sending=any(map(sends, scope.by_role)))

    def told(self, tool: Tool, claim: Claim, call: CanonicalCall) -> list[tuple[str, str | None]]:
        return told(self.decided(tool, claim, call))

    def outcomes(self, tool: Tool, call: CanonicalCall) -> list[tuple[Outcome, ...]]:
        return [tuple(verdict.outcome for verdict in self.decided(tool, claim, call)) for claim in claims_of(call)]

    def has_cell(self, region: Region, claim: Claim, verdicts: list[tuple[str, str | None]]) -> bool:
        rulings = (ruling for column in region.columns for choice in column.all for ruling in choice.rulings)
        return any(ruling.claim.role == claim.role and told(ruling.verdicts) == verdicts for ruling in rulings)


def told(verdicts: tuple[Verdict, ...]) -> list[tuple[str, str | None]]:
    return [(verdict.outcome.word, verdict.rule) for verdict in verdicts]


def lies_in_regions(regions: Regions, requests: list[dict[str, Any]], shown: object) -> None:
    for request in requests:
        complaint = regions.complaint(request)
        if complaint is not None:
            pytest.fail(f"{complaint}: {json.dumps([request, shown])}")


@settings(max_examples=1_000 if LONG else 30, phases=PHASES)
@given(world=generate.worlds(), data=st.data())
def test_what_changes_was_foretold(furnished: Place, world: generate.World, data: st.DataObject) -> None:
    tools, chain, config, requests = world
    number = data.draw(st.integers(0, max(0, len(chain) - 1)))
    then = data.draw(st.sampled_from(["allow", "deny", "escalate", None]))
    other = [changed(rule, then) if index == number else rule for index, rule in enumerate(chain)]
    notes = annotated(tools)
    old, new = (
        furnished.build(furnished.policy(filled(furnished, rules), lists=generate.LISTS), notes, config)
        for rules in (chain, [rule for rule in other if rule is not None])
    )
    shown = [filled(furnished, chain), filled(furnished, other), notes]
    check(old, new, filled(furnished, requests), shown)
    lies_in_regions(Regions(old), filled(furnished, requests), shown)


@settings(max_examples=2_000 if LONG else 60, phases=PHASES)
@given(seed=st.integers(0, 2**32))
def test_what_changes_among_few_values_was_foretold(furnished: Place, seed: int) -> None:
    world = Maker(random.Random(seed)).world()
    notes = annotated(world.tools)
    try:
        old, new = (
            furnished.build(furnished.policy(filled(furnished, rules)), notes) for rules in (world.old, world.new)
        )
    except ArtifactError:
        return  # a rule that cannot be written like this
    check(old, new, filled(furnished, world.calls), seed)
    lies_in_regions(Regions(old, new) if seed % 2 else Regions(old), filled(furnished, world.calls), seed)


@settings(max_examples=1_000 if LONG else 30, phases=PHASES)
@given(seed=st.integers(0, 2**32))
def test_statements_findings_and_scenarios_hold(furnished: Place, seed: int) -> None:
    world = Maker(random.Random(seed)).world()
    try:
        loaded = furnished.build(furnished.policy(filled(furnished, world.old)), annotated(world.tools))
    except ArtifactError:
        return
    for scenario in derive_scenarios(loaded):
        assert decide(loaded, scenario["request"]).outcome.word == scenario["expectedDecision"], (seed, scenario)
    statements = {statement.name: statement for statement in Prover(loaded, NOW).statements()}
    never_deciding = {breach.rules[0] for breach in statements["reachable"].breaches}
    shadowed = {found.rules[0] for found in lint_policy(loaded) if found.kind in ("shadowed", "duplicate")}
    for request in filled(furnished, world.calls):
        judged = judge(loaded, request)
        if judged.call is None or judged.decision.stage is not Stage.RULES:
            continue
        values = values_of(judged.call)
        if has_other_names(judged):
            continue  # the analysis does not look at such files, and no rule allows them
        rule = judged.decision.rule
        assert rule is None or rule not in shadowed, (seed, request)
        if judged.decision.outcome is Outcome.ALLOW or all(map(is_readable, values)):
            assert rule is None or rule not in never_deciding, (seed, request)
        if judged.decision.outcome is Outcome.ALLOW and rule is not None:  # the rules stand on no sentence
            assert statements["granted"].proof is not Proof.PROVEN, (seed, request)
