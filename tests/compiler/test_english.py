"""Constitutions in, decisions out: what people wrote, and what each sentence must come to."""

from __future__ import annotations

import pytest
from evaluation.annotate import DATA
from evaluation.english import SETS, bars, score

from ironcurtain.compiler.labels import read_labels


def test_decided_calls_of_the_given_constitutions() -> None:
    people = read_labels(DATA / "annotations" / "first.jsonl")
    scores = {"given": score("given", {}), "given, labelled by people": score("given", people)}
    assert [bar for bar, holds in bars(scores) if not holds] == []
    assert all(out.share == 1 for out in scores.values())


@pytest.mark.parametrize("name", [name for name in SETS if name != "given"])
def test_other_wordings_allow_nothing_that_they_should_not(name: str) -> None:
    out = score(name, {})
    assert out.unsafe == []
    assert out.unsafe_in_meaning == []
