"""The engine and the reference, which share no line, decide alike."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from ironcurtain.artifacts.policy import FILES
from tests.spec import generate
from tests.spec.reference import World
from tests.spec.reference import decide as reference_decides
from tests.support import NOW_TEXT, Place, annotated, decide

# `make fuzz` compares more than 160,000 decisions: two shards of 1,300 worlds with 40 calls each, and two of 2,500 worlds
# of rules with 12 calls each.
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
WORLDS = 1_300 if LONG else settings().max_examples * 3 // 5
WORLDS_OF_RULES = 2_500 if LONG else settings().max_examples * 3 // 2
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]  # a world is too large to shrink; the message has all


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place.at(tmp_path_factory.mktemp("world"))
    generate.furnish(place)
    return place


def filled(place: Place, value: Any) -> Any:
    return json.loads(place.fill(json.dumps(value)))


@pytest.mark.parametrize("shard", [1, 2])
@settings(max_examples=WORLDS, phases=PHASES)
@given(world=generate.worlds())
def test_engine_and_reference_agree(furnished: Place, world: generate.World, shard: int) -> None:
    compare(furnished, world)


@pytest.mark.parametrize("shard", [1, 2])
@settings(max_examples=WORLDS_OF_RULES, phases=PHASES)
@given(world=generate.worlds_of_rules())
def test_engine_and_reference_agree_on_rules(furnished: Place, world: generate.World, shard: int) -> None:
    compare(furnished, world)


def compare(place: Place, world: generate.World) -> None:
    """Decide every call of a world by both, and fail at the first that they decide differently."""
    tools, chain, config, requests = world
    policy = place.policy(filled(place, chain), lists=generate.LISTS)
    notes = annotated(tools)
    loaded = place.build(policy, notes, config)
    files = tuple(str(place.root / "policy" / name) for name in FILES)
    spec = World(policy, notes, generate.LISTS, str(place.ironcurtain), files, NOW_TEXT, config)
    for request in filled(place, requests):
        ours, theirs = decide(loaded, request), reference_decides(spec, request)
        if ours.outcome.word != theirs.decision:
            shown = json.dumps({"request": request, "rules": policy["rules"], "tools": notes, "config": config})
            pytest.fail(f"the engine says {ours}, the reference {theirs}: {shown}")
    _tally(len(requests))


def _tally(comparisons: int) -> None:
    """Add to the count that `make fuzz` shows."""
    if file := os.environ.get("COMPARISONS"):
        with Path(file).open("a", encoding="utf-8") as tally:
            tally.write(f"{comparisons}\n")


def test_the_tree_has_what_the_paths_speak_of(furnished: Place) -> None:
    assert (furnished.sandbox / "out-link").is_symlink()
    assert (furnished.sandbox / "twin").stat().st_nlink == 2
