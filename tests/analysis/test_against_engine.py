"""The analysis and the engine agree: whatever a random call does under two policies was foretold."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.model.decision import Outcome, Stage
from tests.spec import generate
from tests.support import NOW, Place, annotated, decide

ASK = Outcome.ESCALATE
WORLDS = 1_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 40


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place.at(tmp_path_factory.mktemp("world"))
    generate.furnish(place)
    return place


def filled(place: Place, value: Any) -> Any:
    return json.loads(place.fill(json.dumps(value)))


def changed(rule: dict[str, Any], then: str | None) -> dict[str, Any] | None:
    """The rule with another outcome, or no rule."""
    if then is None or (then == "allow" and (not rule["if"] or "assess" in rule["if"])):
        return None
    return {**{key: value for key, value in rule.items() if key != "elsewhere"}, "then": then}


@settings(max_examples=WORLDS, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(world=generate.worlds(), data=st.data())
def test_what_changes_was_foretold(furnished: Place, world: generate.World, data: st.DataObject) -> None:
    tools, chain, config, requests = world
    number = data.draw(st.integers(0, max(0, len(chain) - 1)))
    then = data.draw(st.sampled_from(["allow", "deny", "escalate", None]))
    other = [changed(rule, then) if index == number else rule for index, rule in enumerate(chain)]
    other = [rule for rule in other if rule is not None]
    notes = annotated(tools)
    old = furnished.build(furnished.policy(filled(furnished, chain), lists=generate.LISTS), notes, config)
    new = furnished.build(furnished.policy(filled(furnished, other), lists=generate.LISTS), notes, config)
    difference = diff_policies(old, new, NOW)
    foretold = {(change.server, change.tool, change.was, change.now) for change in difference.changes}
    # Of some values the invariants ask first, whatever the rules say: a file with two names, what steers programs.
    foretold |= {(server, tool, max(was, ASK), max(now, ASK)) for server, tool, was, now in foretold}
    for request in filled(furnished, requests):
        before, after = decide(old, request), decide(new, request)
        name = f"{request.get('serverName')}/{request.get('toolName')}"
        if before.outcome is after.outcome or any(doubt.startswith(name) for doubt in difference.doubts):
            continue
        change = (request["serverName"], request["toolName"], before.outcome, after.outcome)
        if change not in foretold:
            shown = json.dumps(
                {"request": request, "old": filled(furnished, chain), "new": filled(furnished, other), "tools": notes}
            )
            pytest.fail(f"{change} was not foretold, {before} {after}: {shown}")
    for told in difference.changes:
        before, after = decide(old, told.example.fields()), told.example.decision
        if {before.stage, after.stage} == {Stage.RULES}:
            assert (before.outcome, after.outcome) == (told.was, told.now), told
