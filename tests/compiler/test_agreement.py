"""Two readings of one text: what they come to together is nowhere looser than either."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.compiler.agreement import stricter
from ironcurtain.compiler.parts import Disjoint, merged
from ironcurtain.compiler.product import product_of
from tests.language.support import policy, tool
from tests.language.test_properties import calls, catalogues, made, outcomes, statement_sets

if TYPE_CHECKING:
    from tests.language.support import Policy


def together(first: Policy, second: Policy) -> Policy:
    loaded = first.loaded()
    difference = diff_policies(loaded, second.loaded(), 0.0)
    rules = stricter([*first.compiled.rules], [*second.compiled.rules], difference)
    return replace(first, compiled=replace(first.compiled, rules=tuple(rules)))


@settings(max_examples=40)
@given(statement_sets, statement_sets, catalogues, st.lists(calls, max_size=12))
def test_only_what_both_readings_allow_is_allowed(
    one: list[str], two: list[str], tools: list[int], asked: list[tuple[str, dict[str, Any]]]
) -> None:
    first, second = made(one, tools), made(two, tools)
    both = outcomes(together(first, second), asked, tools)
    readings = zip(outcomes(first, asked, tools), outcomes(second, asked, tools), strict=True)
    assert not [pair for pair, said in zip(readings, both, strict=True) if said == "allow" and set(pair) != {"allow"}]


def test_where_the_readings_agree_nothing_is_lost() -> None:
    tools = list(range(10))
    first = made(["may read files in ~/A.", "may send email to contacts."], tools)
    second = made(["may read files in ~/A.", "must ask before sending email to contacts."], tools)
    both = together(first, second)
    assert both.decide("s/read_file", path="/home/maya/A/x") == "allow"
    assert both.decide("s/send_email", to=["bob@x.example"], body="x") == "escalate"


def test_a_tool_that_the_comparison_cannot_tell_apart_permits_what_both_readings_permit() -> None:
    web = {"w": [tool("fetch", "Fetch a web page.", "url")]}
    first = policy('may use w/fetch where `url` contains "/a".', web)
    second = policy("may use w/fetch on x.example.", web)
    for both in (together(first, second), together(second, first)):
        assert both.decide("w/fetch", url="https://evil.example/a") != "allow"
        assert both.decide("w/fetch", url="https://x.example/b") != "allow"


DOOR = {"h": [tool("act", "Do something with a thing of the house.", "thing action", "force note")]}


def test_two_patterns_for_one_argument_permit_what_both_match() -> None:
    first = policy("may use h/act where `thing` matches /light[.]\\w+/.", DOOR)
    second = policy("may use h/act where `thing` matches /[a-z]+[.][a-z]+/ and `action` is on or off.", DOOR)
    for both in (together(first, second), together(second, first)):
        assert both.decide("h/act", thing="light.hall", action="on") == "allow"
        assert both.decide("h/act", thing="light.hall", action="explode") == "deny"
        assert both.decide("h/act", thing="light.h2", action="on") == "deny"
        assert both.decide("h/act", thing="lock.door", action="on") == "deny"


def test_an_exception_of_either_reading_holds() -> None:
    first = policy("may use h/act where `action` is on, except where `thing` is lock.door.", DOOR)
    second = policy("may use h/act where `thing` contains a, except where `note` is given.", DOOR)
    for both in (together(first, second), together(second, first)):
        assert both.decide("h/act", thing="alarm", action="on") == "allow"
        assert both.decide("h/act", thing="alarm", action="on", note="x") == "deny"
        assert both.decide("h/act", thing="lock.door", action="on") == "deny"


def test_an_exception_of_one_permission_does_not_close_another() -> None:
    first = policy("may use h/act where `action` is on.\nmay use h/act where `action` is off.", DOOR)
    second = policy(
        """
        may use h/act where `thing` is light and `action` is on or off, except where `note` is given.
        may use h/act where `thing` is radio and `action` is on.
        may use h/act where `thing` is oven and `action` is off or slow, except where `force` is given.
        """,
        DOOR,
    )
    for both in (together(first, second), together(second, first)):
        assert both.decide("h/act", thing="light", action="on") == "allow"
        assert both.decide("h/act", thing="light", action="on", note="x") == "deny"
        assert both.decide("h/act", thing="radio", action="off") == "deny"
        assert both.decide("h/act", thing="oven", action="off") == "allow"
        assert both.decide("h/act", thing="oven", action="slow") == "deny"
        assert both.decide("h/act", thing="oven", action="off", force="x") == "deny"


def test_where_one_reading_asks_otherwise_and_the_other_permits_it_asks() -> None:
    first = policy("may use h/act where `action` is on.", DOOR)
    second = policy("may use h/act where `thing` is light.\nmust ask otherwise before using h/act.", DOOR)
    for both in (together(first, second), together(second, first)):
        assert both.decide("h/act", thing="light", action="on") == "allow"
        assert both.decide("h/act", thing="oven", action="on") == "escalate"
        assert both.decide("h/act", thing="oven", action="off") == "deny"


def test_a_role_that_one_reading_does_not_permit_is_not_permitted() -> None:
    mail = {"m": [tool("send_email", "Send an email.", "to:list subject", "body attachments:list cc:list")]}
    first = policy("may send email to contacts.\nmay send email to contacts with attachments from ~/Projects.", mail)
    second = policy("may send email to contacts where `subject` is hello or news.", mail)
    for both in (together(first, second), together(second, first)):
        assert both.decide("m/send_email", to=["bob@x.example"], subject="hello") == "allow"
        assert both.decide("m/send_email", to=["bob@x.example"], subject="secret") == "deny"
        attached = ["/home/maya/Projects/x"]
        assert both.decide("m/send_email", to=["bob@x.example"], subject="hello", attachments=attached) == "deny"


def test_an_exception_and_a_limit_on_one_argument_that_leave_no_value_still_load() -> None:
    flag = {"type": "boolean", "default": False}
    push = {"g": [tool("push", "Push a branch.", "branch", "note count:number", force=flag)]}
    first = policy("may use g/push where `branch` is main or dev.", push)
    for limit in ("where `branch` is main giving only `branch`, `count`", "where `count` is at most 3"):
        for exception in ("`force` is true", "`count` is given and is at least 5"):
            second = policy(f"may use g/push {limit}, except where {exception}.", push)
            for both in (together(first, second), together(second, first)):
                assert both.decide("g/push", branch="main", force=True, count=9) == "deny"
                assert both.decide("g/push", branch="main", count=2) == "allow"


def test_an_exception_of_one_permission_does_not_close_another_of_the_same_reading() -> None:
    mail = {"m": [tool("send_email", "Send an email.", "to:list subject", "body attachments:list cc:list")]}
    either = "may send email to contacts.\nmay send email to contacts with attachments from ~/Projects.\n"
    first = policy(either + "must never send email where `subject` is a.", mail)
    second = policy(either + "may send email to contacts where `subject` is b.", mail)
    for both in (together(first, second), together(second, first)):
        attached = ["/home/maya/Projects/x"]
        assert both.decide("m/send_email", to=["bob@x.example"], subject="hello", attachments=attached) == "allow"
        assert both.decide("m/send_email", to=["bob@x.example"], subject="hello") == "allow"
        assert both.decide("m/send_email", to=["bob@x.example"], subject="a") == "deny"


def test_directories_and_hosts_of_two_readings_meet() -> None:
    tools = {"f": [tool("read_file", "Read a file.", "path")], "w": [tool("fetch", "Fetch a web page.", "url")]}
    first = policy("may read files in ~/A or ~/B/x.\nmay use w/fetch on *.a.example or c.example.", tools)
    second = policy(
        "may read files in ~/A/y or ~/B.\nmay use w/fetch on *.b.a.example or c.example or d.example.", tools
    )
    for both in (together(first, second), together(second, first)):
        for path, said in (("A/y/1", "allow"), ("B/x/1", "allow"), ("A/1", "deny"), ("B/1", "deny")):
            assert both.decide("f/read_file", path=f"/home/maya/{path}") == said
        for host, said in (
            ("x.b.a.example", "allow"),
            ("c.example", "allow"),
            ("x.example", "deny"),
            ("10.0.0.7", "deny"),
        ):
            assert both.decide("w/fetch", url=f"https://{host}/") == said


@settings(max_examples=40)
@given(statement_sets, statement_sets, catalogues, st.lists(calls, max_size=12))
def test_what_both_permissions_permit_stays_permitted(
    one: list[str], two: list[str], tools: list[int], asked: list[tuple[str, dict[str, Any]]]
) -> None:
    """Together they lose little: where both readings permit the same by the same rules, nothing."""
    first, second = made(one, tools), made([*one, *two], tools)
    both = outcomes(together(first, second), asked, tools)
    readings = zip(outcomes(first, asked, tools), outcomes(second, asked, tools), strict=True)
    assert not [pair for pair, said in zip(readings, both, strict=True) if set(pair) == {"allow"} and said != "allow"]


def test_lists_and_limits_of_both_readings_hold() -> None:
    mail = {"m": [tool("send_email", "Send an email.", "to:list body")]}
    first = policy("may send email.\nmust never make more than 200 calls per task.", mail)
    second = policy(
        "may send email to contacts.\nmust never make more than 3 calls per task.\nmust never spend more than $5 per session.",
        mail,
    )
    one, two = (product_of("", each.compiled, [], each.servers, each.known, 1) for each in (first, second))
    rules = together(first, second).compiled.rules
    joined = one.joined_with(two, rules)
    assert joined.artifacts["compiled-policy.json"]["lists"].keys() == {"contacts"}
    assert joined.artifacts["budget.json"]["task"] == {"calls": 3}
    assert joined.artifacts["budget.json"]["session"] == {"inferenceCost": 5.0}
    assert joined.limits["task"] == {"calls": 3}


def test_two_values_that_cannot_both_be_are_no_rule() -> None:
    with pytest.raises(Disjoint):
        merged("arg:sendUpdates", {"equals": "none"}, {"in": ["all"]})
    assert merged("arg:sendUpdates", {"equals": "none"}, {"in": ["all", "none"]})["equals"] == "none"
