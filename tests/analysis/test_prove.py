"""What can never happen is proven, and what can is shown with a call."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.analysis.prove import Proof, Prover, Statement, never
from ironcurtain.analysis.texts import texts_for
from tests.support import FILE_TOOLS, NOW, Place, outcome, tool

if TYPE_CHECKING:
    from ironcurtain.artifacts.policy import Loaded

MAIL = tool(
    "send",
    {
        "to": ["recipient"],
        "cc": {"roles": ["recipient"], "absent": "nothing"},
        "body": ["outbound-content"],
        "files": {"roles": ["read-path"], "absent": "nothing"},
    },
    server="mail",
)
FETCH = tool("fetch", {"url": ["fetch-url"]}, server="web")
TOOLS = [*FILE_TOOLS, MAIL, FETCH]
CONTACTS = {"contacts": {"values": ["bob@x.example", "ann@x.example"]}}


@pytest.fixture
def place(tmp_path: Any) -> Place:
    return Place.at(tmp_path)


def allow(name: str, **conditions: Any) -> dict[str, Any]:
    return {"name": name, "principle": "A sentence.", "if": conditions, "then": "allow"}


def deny(name: str, **conditions: Any) -> dict[str, Any]:
    return {**allow(name, **conditions), "then": "deny"}


def escalate(name: str, **conditions: Any) -> dict[str, Any]:
    return {**allow(name, **conditions), "then": "escalate"}


def within(directory: str, *roles: str) -> dict[str, Any]:
    return {"roles": [*roles], "within": directory}


def statements(loaded: Loaded) -> dict[str, Statement]:
    return {statement.name: statement for statement in Prover(loaded, NOW).statements()}


def test_a_sound_policy_is_proven(place: Place) -> None:
    rules = [
        deny("no-secrets", paths=within("{home}/Projects/secret", "read-path", "write-path")),
        allow("projects", paths=within("{home}/Projects", "read-path")),
        allow("trash", paths=within("{home}/Trash", "delete-path")),
        allow("mail", tool=["send"], lists=[{"roles": ["recipient"], "allowed": ["@contacts"]}]),
        escalate("rest", roles=["recipient", "read-path", "fetch-url"]),
    ]
    found = statements(place.load(rules, TOOLS, lists=CONTACTS))
    assert {name: statement.proof for name, statement in found.items()} == dict.fromkeys(found, Proof.PROVEN)


def many(number: int) -> list[dict[str, Any]]:
    """A policy of many sound rules."""
    chance = random.Random(7)
    made = []
    for index in range(number):
        place = "/".join(chance.choice("abcdef") + str(chance.randrange(9)) for _ in range(chance.randrange(1, 4)))
        directory = f"{{home}}/{place}/{index}"
        kind = index % 4
        if kind == 0:
            made.append(allow(f"r{index}", paths=within(directory, "read-path")))
        elif kind == 1:
            made.append(deny(f"r{index}", tool=["write", "move"], paths=within(directory, "write-path")))
        elif kind == 2:
            host = f"h{index}.example"
            made.append(allow(f"r{index}", domains={"roles": ["fetch-url"], "allowed": [host, f"*.{host}"]}))
        else:
            made.append(escalate(f"r{index}", paths=within(directory, "read-path", "delete-path")))
    return made


PLANTED = {
    "granted": {"name": "planted", "if": {"paths": within("{home}/zzz", "read-path")}, "then": "allow"},
    "deletes": allow("planted", tool=["delete"], roles=["delete-path"]),
    "reachable": escalate("planted", tool=["nothing"]),
}


@pytest.mark.parametrize("name", sorted(PLANTED))
@pytest.mark.parametrize("at", [0, 500, 1_000])
def test_a_violation_planted_anywhere_is_found(place: Place, name: str, at: int) -> None:
    rules = many(1_000)
    tools = [FILE_TOOLS[0], FILE_TOOLS[3], FETCH]
    loaded = place.load([*rules[:at], PLANTED[name], *rules[at:]], tools)
    statement = statements(loaded)[name]
    assert statement.proof is Proof.VIOLATED
    breach = next(breach for breach in statement.breaches if "planted" in breach.rules)
    if breach.example is not None:
        assert breach.example.decision.outcome.word == "allow"


@pytest.mark.parametrize("at", [0, 400])
def test_a_prohibition_behind_a_permission_is_found(place: Place, at: int) -> None:
    rules = many(800)
    shadowed = deny("shadowed", paths=within("{home}/Projects/secret", "read-path"))
    rules = [*rules[:at], allow("wide", paths=within("{home}/Projects", "read-path")), *rules[at:], shadowed]
    statement = statements(place.load(rules, [FILE_TOOLS[0], FETCH]))["prohibitions"]
    assert statement.proof is Proof.VIOLATED
    (breach,) = statement.breaches
    assert breach.rules == ("shadowed", "wide")
    assert breach.example is not None
    assert breach.example.call.arguments["path"].startswith(f"{place.home}/Projects/secret/")  # type: ignore[union-attr]
    assert breach.example.decision.outcome.word == "allow"


def test_an_exception_is_no_violation(place: Place) -> None:
    rules = [
        allow("public", paths=within("{home}/secret/public", "read-path")),
        deny("secret", paths=within("{home}/secret", "read-path")),
    ]
    assert statements(place.load(rules, TOOLS))["prohibitions"].proof is Proof.PROVEN


def test_what_cannot_be_cut_is_not_called_proven(place: Place) -> None:
    """A pattern on addresses: some URL may match it that is none of the samples."""
    rules = [allow("odd", tool=["fetch"], values={"role:fetch-url": {"matches": "https://b.*[0-9]{3}\\.example/"}})]
    assert statements(place.load(rules, TOOLS))["granted"].proof is Proof.OPEN


OUTSIDE = [
    allow("inside", lists=[{"roles": ["recipient"], "allowed": ["@contacts"]}]),
    deny("outside", roles=["recipient"]),
]


@pytest.mark.parametrize(
    ("rules", "proof"),
    [
        ([allow("mail", tool=["send"], lists=[{"roles": ["recipient"], "allowed": ["@contacts"]}])], Proof.PROVEN),
        ([allow("mail", tool=["send"], domains={"roles": ["recipient"], "allowed": ["x.example"]})], Proof.VIOLATED),
        ([allow("mail", tool=["send"])], Proof.VIOLATED),
        ([escalate("ask", roles=["recipient"]), allow("mail", tool=["send"])], Proof.PROVEN),
        ([deny("few", values={"role:recipient": {"maxItems": 1}}), allow("mail", tool=["send"])], Proof.VIOLATED),
    ],
)
def test_a_question_is_answered_for_all_calls(place: Place, rules: list[Any], proof: Proof) -> None:
    loaded = place.load(rules, TOOLS, lists=CONTACTS)
    forbidden = loaded.chain(OUTSIDE, "question")  # type: ignore[arg-type]
    statement = never(loaded, forbidden, "no mail to strangers", NOW, asking_counts=False)
    assert statement.proof is proof
    for breach in statement.breaches:
        assert breach.example is not None
        assert outcome(loaded, breach.example.fields()) == "allow"
        assert outcome(place.load(OUTSIDE, TOOLS, lists=CONTACTS), breach.example.fields()) == "deny"


def test_a_mixture_of_values_is_looked_at(place: Place) -> None:
    """Forbidden is only what goes to both at once."""
    pair = ["bob@x.example", "eve@y.example"]
    rules = [allow("mail", tool=["send"], lists=[{"roles": ["recipient"], "allowed": pair}])]
    both = [
        deny(
            "both",
            tool=["send"],
            roles=["outbound-content"],
            lists=[{"roles": ["recipient"], "allowed": [one]} for one in pair],
        )
    ]
    loaded = place.load(rules, [MAIL])
    statement = never(loaded, loaded.chain(both, "question"), "never both", NOW, asking_counts=False)  # type: ignore[arg-type]
    assert statement.proof is Proof.VIOLATED
    assert statement.breaches[0].example is not None
    arguments = statement.breaches[0].example.call.arguments
    assert all(one in str(arguments) for one in pair)


def test_equal_policies_are_proven_equal(place: Place) -> None:
    rules = [allow("a", paths=within("{home}/a", "read-path")), allow("b", paths=within("{home}/a/b", "read-path"))]
    difference = diff_policies(place.load(rules, TOOLS), place.load(rules[:1], TOOLS), NOW)
    assert difference.equal
    assert difference.regions


def test_a_difference_is_told_with_its_cells_and_a_call(place: Place) -> None:
    old = place.load([allow("a", paths=within("{home}/a", "read-path"))], TOOLS)
    wider = [allow("all", paths=within("{home}", "read-path")), deny("b", paths=within("{home}/b", "read-path"))]
    new = place.load([wider[1], wider[0]], TOOLS)
    changes = {change.tool: change for change in diff_policies(old, new, NOW).changes if change.now.word == "allow"}
    change = changes["read"]
    assert change.widens
    assert change.cells == (("path", (f"inside {place.home} but outside {place.home}/a, {place.home}/b",)),)
    assert outcome(old, change.example.fields()) == "deny"
    assert outcome(new, change.example.fields()) == "allow"


def test_tools_that_come_go_or_change_are_told(place: Place) -> None:
    rules = [allow("a", server=["fs"])]
    old, new = place.load(rules, FILE_TOOLS[:2]), place.load(rules, [FILE_TOOLS[1], tool("read", {"path": ["none"]})])
    difference = diff_policies(old, new, NOW)
    assert difference.redescribed == ("fs/read",)
    assert diff_policies(old, place.load(rules, FILE_TOOLS[1:2]), NOW).removed == ("fs/read",)
    added = diff_policies(place.load(rules, FILE_TOOLS[1:2]), old, NOW)
    assert (added.added, [change.tool for change in added.changes]) == (("fs/read",), ["read"])


def test_texts_stand_for_every_combination_of_answers() -> None:
    found = texts_for((("(?i).*drop.*", True), ("select [a-z]+", False)), [3], frozenset({"drop"}), "x")
    assert found.complete
    matches = {
        ("drop" in text.lower(), text.startswith("select ") and text[7:].islower(), len(text) <= 3)
        for text in found.found
        if len(text) <= 64
    }
    assert matches == {
        (True, False, False),
        (False, False, False),
        (False, False, True),
        (True, True, False),
        (False, True, False),
    }
    assert "drop" not in found.found
