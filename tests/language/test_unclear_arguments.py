"""Arguments that no rule understands: a permission that does not name them covers a plain name, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.llm.annotating import _with_more
from ironcurtain.compiler.readers.prompt import tool_text
from tests.language.support import annotated, policy, tool

LAB = {"lab": [tool("start_grompp", "Start a grompp.", "vorpal", "snark:list"), tool("list_grompps", "List grompps.")]}
NAMES = [
    "water",
    "W-3_b",
    "Mill Lane 4, Molde",
    "PETG 0.15",
    "A1:D60",
    "Åse Ørn",
    "#12",
    "Fig. 3",
    "水",
]
MORE_THAN_NAMES = ["a&b", "a &b", "a && b", "a &", "& a",
    "/etc/passwd", "~/x", "..", ".env", "a/b", "a\\b", "C:\\x", "eve@evil.example", "evil.example", "run.tpr",
    "https://evil.example", "x; reboot", "$(id)", "a=b", "rm -rf src", "-rf", "a\nb\nc/d", "x|y", "'", '"', "\uff0fetc", "e\uff20x",
    "a\u200bb", "*", "%2e", "a" * 5_000,
]  # fmt: skip


def _unclear() -> list[str]:
    return [leaf for leaf, entry in annotated(LAB)["lab"][0]["args"].items() if entry.get("unclear")]


def test_arguments_that_no_rule_knows_are_marked_in_the_annotation() -> None:
    assert _unclear() == ["vorpal", "snark"]


@pytest.mark.parametrize("statement", ["may use lab/start_grompp.", "may run, create or change grompps."])
@pytest.mark.parametrize("value", NAMES)
def test_a_permission_covers_a_name(statement: str, value: str) -> None:
    assert policy(statement, LAB).decide("lab/start_grompp", vorpal=value) == "allow"


@pytest.mark.parametrize("statement", ["may use lab/start_grompp.", "may run, create or change grompps."])
@pytest.mark.parametrize("value", MORE_THAN_NAMES)
def test_a_permission_covers_nothing_that_could_be_an_address_a_path_or_syntax(statement: str, value: str) -> None:
    assert policy(statement, LAB).decide("lab/start_grompp", vorpal=value) == "deny"


def test_every_element_of_a_list_must_be_a_name() -> None:
    found = policy("may use lab/start_grompp.", LAB)
    assert found.decide("lab/start_grompp", vorpal="x", snark=["a", "b"]) == "allow"
    assert found.decide("lab/start_grompp", vorpal="x", snark=["a", "/b"]) == "deny"


def test_an_argument_that_the_owner_names_is_theirs_to_permit() -> None:
    found = policy("may use lab/start_grompp where `vorpal` is given.", LAB)
    assert found.decide("lab/start_grompp", vorpal="data/run.tpr") == "allow"
    assert found.decide("lab/start_grompp", vorpal="data/run.tpr", snark=["/b"]) == "deny"


def test_the_report_says_which_arguments_may_only_be_names() -> None:
    notes = policy("may use lab/start_grompp.", LAB).compiled.meanings[0].notes
    assert any("vorpal, snark may only be a name" in note for note in notes)


def test_readers_are_told() -> None:
    assert "`vorpal`* (a name only)" in tool_text(catalogue_of(annotated(LAB)))


def test_an_answer_of_a_model_makes_an_argument_clear() -> None:
    fields: dict[str, Any] = annotated(LAB)["lab"][0]
    more = _with_more(fields, {"vorpal": {"read-path"}})["args"]
    assert more["vorpal"]["roles"] == ["identifier", "read-path"]
    assert "unclear" not in more["vorpal"]
    assert more["snark"]["unclear"]


def test_an_argument_that_is_said_to_be_a_name_is_clear() -> None:
    schema: Any = {"type": "string", "description": "The name of the branch to merge."}
    made = tool("create_request", "Create a request.", head=schema)
    (found,) = understand("forge", [made])
    assert not found.is_unclear("head")
