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

# `make fuzz` compares more than a hundred thousand decisions: two shards of 1,300 worlds with 40 calls each.
WORLDS = 1_300 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else settings().max_examples * 3 // 5


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place.at(tmp_path_factory.mktemp("world"))
    generate.furnish(place)
    return place


def filled(place: Place, value: Any) -> Any:
    return json.loads(place.fill(json.dumps(value)))


@pytest.mark.parametrize("shard", [1, 2])
@settings(
    max_examples=WORLDS, phases=[Phase.explicit, Phase.reuse, Phase.generate]
)  # a world is too large to shrink; the message has all
@given(world=generate.worlds())
def test_engine_and_reference_agree(furnished: Place, world: generate.World, shard: int) -> None:
    tools, chain, config, requests = world
    policy = furnished.policy(filled(furnished, chain), lists=generate.LISTS)
    notes = annotated(tools)
    loaded = furnished.build(policy, notes, config)
    files = tuple(str(furnished.root / "policy" / name) for name in FILES)
    spec = World(policy, notes, generate.LISTS, str(furnished.ironcurtain), files, NOW_TEXT, config)
    for request in filled(furnished, requests):
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
