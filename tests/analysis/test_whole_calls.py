"""What rules see of a whole call: exceptions, joined questions, counts, groups of roles, other spellings, sources."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.analysis.lint import lint_policy
from ironcurtain.analysis.prove import Proof, Prover
from ironcurtain.analysis.words import rule_in_words
from ironcurtain.compiler.scenarios import derive_scenarios
from tests.support import NOW, Place, decide, outcome, tool

if TYPE_CHECKING:
    from ironcurtain.artifacts.policy import Loaded

PUSH = tool(
    "push",
    {"repo": ["repository"], "branch": ["none"], "force": {"roles": ["none"], "absent": "nothing"}},
    server="git",
    side_effects=True,
    definition={
        "name": "push",
        "inputSchema": {
            "type": "object",
            "properties": {
                "repo": {"type": "string"},
                "branch": {"type": "string"},
                "force": {"type": "boolean"},
            },
            "required": ["repo", "branch"],
        },
    },
)
SEND = tool(
    "send",
    {
        "to": {"roles": ["recipient"], "absent": "nothing"},
        "invited": {"roles": ["attendee"], "absent": "nothing"},
        "body": {"roles": ["outbound-content"], "absent": "nothing"},
        "file": {"roles": ["read-path"], "absent": "nothing"},
    },
    server="mail",
)
VALUES: dict[str, dict[str, list[Any]]] = {
    "push": {
        "repo": ["ours", "OURS", "theirs"],
        "branch": ["main", "Main", "#main", "fix"],
        "force": [True, False, None],
    },
    "send": {
        "to": ["bob", ["bob", "eve"], "BOB", "eve", ["bob", "eve", "cat"], None],
        "invited": ["bob", "eve", None],
        "body": ["hello", "secret", None],
        "file": ["{box}/x", "{root}/out/x", None],
    },
}


@pytest.fixture
def place(tmp_path: Any) -> Place:
    return Place.at(tmp_path)


def rule(name: str, then: str, *unless: dict[str, Any], **conditions: Any) -> dict[str, Any]:
    flags = {flag: True for flag in ("joined", "elsewhere") if conditions.pop(flag, False)}
    if unless:
        conditions["unless"] = [*unless]
    return {"name": name, "principle": "A sentence.", "if": conditions, "then": then, **flags}


def one_of(name: str, *members: Any) -> dict[str, Any]:
    return {"values": {name: {"in": [*members]}}}


PUSHING = rule("push", "allow", server=["git"], tool=["push"])
SENDING = rule("send", "allow", server=["mail"], tool=["send"])
CASES: dict[str, tuple[list[Any], list[Any]]] = {
    "an exception of a permission": ([PUSHING], [rule("push", "allow", one_of("arg:force", True), server=["git"])]),
    "a second exception": (
        [rule("push", "allow", one_of("arg:force", True), server=["git"])],
        [rule("push", "allow", one_of("arg:force", True), one_of("arg:branch", "main"), server=["git"])],
    ),
    "an exception with two conditions": (
        [PUSHING],
        [rule("push", "allow", {"values": {"arg:force": {"in": [True]}, "arg:branch": {"in": ["main"]}}}, server=["git"])],
    ),
    "an exception of a prohibition": (
        [rule("no", "deny", server=["git"]), PUSHING],
        [rule("no", "deny", one_of("role:repository", "ours"), server=["git"]), PUSHING],
    ),
    "an exception that looks at the claim itself": (
        [rule("no", "deny", roles=["repository"]), PUSHING],
        [rule("no", "deny", one_of("role:repository", "ours"), roles=["repository"]), PUSHING],
    ),
    "folded in what tightens only": (
        [rule("no", "deny", **one_of("arg:branch", "main")), PUSHING],
        [rule("yes", "allow", server=["git"], **one_of("arg:branch", "fix", "Main", "#main", "main"))],
    ),
    "a joined question": (
        [rule("ask", "escalate", server=["git"], **one_of("arg:branch", "main"))],
        [rule("ask", "escalate", server=["git"], joined=True, **one_of("arg:branch", "main"))],
    ),
    "a joined question before a permission": (
        [PUSHING],
        [rule("ask", "escalate", one_of("arg:branch", "fix"), server=["git"], joined=True), PUSHING],
    ),
    "an escalate covers what is carried beside its roles": (
        [rule("ask", "escalate", roles=["recipient"])],
        [rule("ask", "escalate", roles=["recipient"]), rule("rest", "escalate", roles=["outbound-content"])],
    ),
    "elsewhere covers what is carried beside something outside": (
        [rule("ask", "escalate", roles=["read-path"], elsewhere=True)],
        [rule("ask", "escalate", roles=["read-path"], elsewhere=True), SENDING],
    ),
    "an exception that counts": (
        [SENDING],
        [rule("send", "allow", {"values": {"role:recipient": {"minItems": 1}}}, server=["mail"])],
    ),
    "a limit over a group of roles": (
        [SENDING],
        [rule("many", "deny", values={"role:recipient+attendee": {"minItems": 3}}, server=["mail"]), SENDING],
    ),
    "membership over a group of roles": (
        [SENDING],
        [rule("send", "allow", server=["mail"], values={"role:recipient+attendee": {"in": ["bob"]}})],
    ),
    "three values, each for one condition": (
        [SENDING],
        [
            rule(
                "all", "deny", server=["mail"], roles=["outbound-content"],
                lists=[{"roles": ["recipient"], "allowed": [one]} for one in ("bob", "eve", "cat")],
            ),
            SENDING,
        ],
    ),
}  # fmt: skip


def calls_of(place: Place, entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Every combination of a few values."""
    table = VALUES[entry["toolName"]]
    found = []
    for chosen in product(*table.values()):
        arguments = {name: value for name, value in zip(table, chosen, strict=True) if value is not None}
        arguments = {name: place.fill(value) if isinstance(value, str) else value for name, value in arguments.items()}
        found.append({"serverName": entry["serverName"], "toolName": entry["toolName"], "arguments": arguments})
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_difference_is_what_the_calls_show(place: Place, name: str) -> None:
    old, new = (place.load(rules, [PUSH, SEND]) for rules in CASES[name])
    difference = diff_policies(old, new, NOW)
    assert not difference.doubts
    told = {(change.tool, change.was.word, change.now.word) for change in difference.changes}
    seen = {
        (entry["toolName"], outcome(old, call), outcome(new, call))
        for entry in (PUSH, SEND)
        for call in calls_of(place, entry)
    }
    assert told >= {each for each in seen if each[1] != each[2]}
    for change in difference.changes:
        assert outcome(old, change.example.fields()) == change.was.word
        assert outcome(new, change.example.fields()) == change.now.word


def statements(loaded: Loaded) -> dict[str, Any]:
    return {statement.name: statement for statement in Prover(loaded, NOW).statements()}


def test_a_permission_behind_a_joined_question_comes_into_play(place: Place) -> None:
    asks = rule("ask", "escalate", server=["git"], joined=True)
    assert statements(place.load([asks, PUSHING], [PUSH]))["reachable"].proof is Proof.PROVEN


def test_a_joined_question_about_what_nothing_permits_is_told(place: Place) -> None:
    (breach,) = statements(place.load([rule("ask", "escalate", server=["git"], joined=True)], [PUSH]))[
        "reachable"
    ].breaches
    assert breach.message == "ask never decides anything: it asks about what no rule permits"


def test_a_joined_question_behind_a_permission_is_shadowed(place: Place) -> None:
    asks = rule("ask", "escalate", server=["git"], joined=True)
    statement = statements(place.load([PUSHING, asks], [PUSH]))["prohibitions"]
    assert [breach.rules for breach in statement.breaches] == [("ask", "push")]


def test_a_prohibition_that_an_exception_leaves_nothing_of_is_told(place: Place) -> None:
    never = rule("no", "deny", {"values": {"role:repository": {"in": ["ours"]}}}, **one_of("role:repository", "ours"))
    statement = statements(place.load([never, PUSHING], [PUSH]))["reachable"]
    assert [breach.rules[0] for breach in statement.breaches] == []  # another spelling is no exception
    exact = rule(
        "yes",
        "allow",
        {"values": {"role:repository": {"in": ["ours"]}}},
        server=["git"],
        **one_of("role:repository", "ours"),
    )
    statement = statements(place.load([exact], [PUSH]))["reachable"]
    assert [breach.rules[0] for breach in statement.breaches] == ["yes"]


def test_a_prohibition_that_only_what_is_left_out_meets_is_shadowed(place: Place) -> None:
    entry = tool("read", {"path": ["read-path"]})
    wide = rule("wide", "allow", server=["fs"], paths={"roles": ["read-path"], "within": "{root}/p"})
    never = rule("no", "deny", paths={"roles": ["read-path"], "within": ["{root}/p/q", "{root}/p/r"]})
    loaded = place.load([wide, never], [entry])
    assert decide(loaded, {"serverName": "fs", "toolName": "read", "arguments": {}}).rule == "no"
    assert [breach.rules for breach in statements(loaded)["prohibitions"].breaches] == [("no", "wide")]


def test_what_was_seen_makes_a_difference(place: Place) -> None:
    entries = [SEND, tool("fetch", {"url": ["fetch-url"]}, server="web")]
    after = rule("after", "escalate", origin={"roles": ["outbound-content"], "from": ["web"]})
    rest = rule("rest", "deny", server=["mail"])
    changes = diff_policies(place.load([rest], entries), place.load([after, rest], entries), NOW).changes
    (change,) = (change for change in changes if change.tool == "send")
    assert (change.was.word, change.now.word) == ("deny", "escalate")
    assert change.example.fields()["sources"] == ["web/fetch"]
    assert change.cells == (("(sources)", ("web/fetch",)),)


def test_a_private_host_that_another_tool_may_reach_is_asked_about(place: Place) -> None:
    """Where one rule names it, the invariants no longer refuse it for any tool."""
    entries = [tool("fetch", {"url": ["fetch-url"]}, server="web"), tool("load", {"url": ["fetch-url"]}, server="web")]
    asks = rule("ask", "escalate", server=["web"], tool=["fetch"], roles=["fetch-url"])
    names = rule(
        "load", "allow", server=["web"], tool=["load"], domains={"roles": ["fetch-url"], "allowed": ["10.0.0.7"]}
    )
    changes = diff_policies(place.load([asks], entries), place.load([asks, names], entries), NOW).changes
    told = {(change.tool, change.was.word, change.now.word) for change in changes}
    assert told == {("fetch", "deny", "escalate"), ("load", "deny", "allow")}


def test_the_same_rules_by_other_names_are_not_looked_at(place: Place) -> None:
    rules = [rule("push", "allow", one_of("arg:force", True), server=["git"], tool=["push"]), SENDING]
    other = [{**rules[0], "name": "another", "principle": "In other words."}, rules[1]]
    difference = diff_policies(place.load(rules, [PUSH, SEND]), place.load(other, [PUSH, SEND]), NOW)
    assert difference.equal
    assert difference.regions == 0


def test_each_exception_has_a_scenario(place: Place) -> None:
    loaded = place.load(
        [rule("push", "allow", one_of("arg:force", True), one_of("arg:branch", "main"), server=["git"], tool=["push"])],
        [PUSH],
    )
    found = {
        (str(scenario["request"]["arguments"].get("force")), scenario["request"]["arguments"]["branch"]):
            scenario["expectedDecision"]
        for scenario in derive_scenarios(loaded)
    }  # fmt: skip
    assert found["None", "main"] == "deny"
    assert [decision for (force, _), decision in found.items() if force == "True"] == ["deny"]
    assert "allow" in found.values()


def test_lint_reads_exceptions_and_joined_questions(place: Place) -> None:
    def found(*rules: dict[str, Any]) -> list[str]:
        return [finding.kind for finding in lint_policy(place.load([*rules], [PUSH, SEND])) if finding.rules]

    asks = rule("ask", "escalate", server=["git"], tool=["push"], joined=True)
    assert found(asks, PUSHING) == []
    assert found(asks, {**asks, "name": "again"}) == ["duplicate"]
    assert found(PUSHING, asks) == ["contradictory"]
    lifted = rule("some", "allow", one_of("arg:force", True), server=["git"])
    assert found(lifted, PUSHING) == []
    assert found(PUSHING, lifted) == []
    assert found(rule("all", "allow", server=["git"]), lifted) == ["shadowed"]
    assert (
        found(rule("no", "deny", roles=["recipient"]), rule("ask", "escalate", roles=["recipient"], tool=["send"]))
        == []
    )


def test_rules_in_words_say_their_exceptions(place: Place) -> None:
    said = rule_in_words(
        rule(
            "ask", "escalate", one_of("arg:force", True), server=["git"], joined=True,
            paths={"roles": ["read-path"], "within": ["/a", "/b"]},
            values={"role:recipient+attendee": {"minItems": 2}},
        )
    )  # fmt: skip
    assert said == (
        "asks about every tool of git with read-path inside /a or /b, where recipient or attendee has at least 2 values, "
        "where another rule permits it, unless force is True"
    )


def test_every_test_of_a_value_has_words(place: Place) -> None:
    every = {
        "equals": 1,
        "in": [1, 2],
        "matches": "x",
        "minimum": 1,
        "maximum": 2,
        "maxLength": 3,
        "minItems": 1,
        "maxItems": 2,
    }
    for key, bound in {**every, "given": True}.items():
        assert "where x " in rule_in_words(rule("r", "deny", server=["git"], values={"arg:x": {key: bound}}))


def _listing(name: str, element: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "inputSchema": {"type": "object", "properties": {"pages": {"type": "array", "items": element}}},
    }


_TITLED = {"type": "object", "properties": {"title": {"type": "string"}, "text": {"type": "string"}}}
_OF_OBJECTS = tool(
    "create", {"pages[].title": ["identifier"], "pages[].text": ["none"]}, server="wiki", definition=_listing("create", _TITLED)
)  # fmt: skip
_OF_ANYTHING = tool(
    "create", {"pages": ["identifier"]}, server="wiki", definition=_listing("create", {"type": "object"})
)


@pytest.mark.parametrize("create", [_OF_OBJECTS, _OF_ANYTHING])
def test_the_elements_of_a_list_are_counted(place: Place, create: Any) -> None:
    creating = rule("create", "allow", server=["wiki"], tool=["create"])
    many = rule("many", "deny", tool=["create"], values={"arg:pages[]": {"minItems": 4}})
    old, new = place.load([creating], [create]), place.load([many, creating], [create])
    (change,) = diff_policies(old, new, NOW).changes
    pages = change.example.call.arguments["pages"]
    assert isinstance(pages, list)
    assert len(pages) == 4
    assert change.example.decision.outcome.word == "deny"
    for count, expected in ((0, "allow"), (3, "allow"), (4, "deny"), (9, "deny")):
        assert (
            outcome(new, {"serverName": "wiki", "toolName": "create", "arguments": {"pages": [{}] * count}}) == expected
        )
    assert diff_policies(new, new, NOW).equal


def test_separators_that_name_nobody_are_told_apart(place: Place) -> None:
    listed = {"type": "object", "properties": {"to": {"type": "array", "items": {"type": "string"}}}}
    invite = tool(
        "invite",
        {"to": {"roles": ["attendee"], "absent": "nothing"}},
        server="cal",
        definition={"name": "invite", "inputSchema": listed},
    )
    inviting = rule("invite", "allow", server=["cal"], tool=["invite"])
    given = {"values": {"arg:to": {"given": True}}}
    counted = rule("some", "deny", given, tool=["invite"], values={"role:attendee": {"minItems": 1}})
    old, new = place.load([counted, inviting], [invite]), place.load([inviting], [invite])
    request = {"serverName": "cal", "toolName": "invite", "arguments": {"to": [","]}}
    assert [outcome(each, request) for each in (old, new)] == ["deny", "allow"]
    assert diff_policies(old, new, NOW).widens


def test_the_elements_of_a_list_in_a_list_are_counted(place: Place) -> None:
    pages = {"type": "array", "items": {"type": "object", "properties": {"title": {"type": "string"}}}}
    batches = {"type": "array", "items": {"type": "object", "properties": {"pages": pages}}}
    create = tool(
        "create",
        {"batches[].pages[].title": ["identifier"]},
        server="wiki",
        definition={"name": "create", "inputSchema": {"type": "object", "properties": {"batches": batches}}},
    )
    rules = [
        rule("never", "deny", tool=["create"], values={"arg:batches[].pages[]": {"minItems": 5}}),
        rule("ask", "escalate", tool=["create"], values={"arg:batches[].pages[]": {"minItems": 3}}),
        rule("create", "allow", server=["wiki"], tool=["create"]),
    ]
    loaded = place.load(rules, [create])
    for change in diff_policies(place.load(rules[2:], [create]), loaded, NOW).changes:
        assert change.example.decision.outcome is change.now
