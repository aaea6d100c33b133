"""Policies made to deceive the analysis: where a call is allowed, it must not say that none is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.analysis.prove import Proof, Prover
from tests.support import NOW, Place, decide, tool

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.at(tmp_path)


def allow(**conditions: Any) -> dict[str, Any]:
    """A permission that stands on no sentence: every call that it allows is a breach."""
    return {"name": "sly", "if": conditions, "then": "allow"}


def deny(name: str = "no", **conditions: Any) -> dict[str, Any]:
    return {"name": name, "principle": "A sentence.", "if": conditions, "then": "deny"}


def of(roles: list[str], schema: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    definition = {"name": "t", "inputSchema": {"type": "object", "properties": {"v": schema}, **more}}
    return [tool("t", {"v": roles}, definition=definition)]


def within(directory: str) -> dict[str, Any]:
    return {"roles": ["read-path"], "within": directory}


def listed(role: str, *values: Any) -> list[dict[str, Any]]:
    return [{"roles": [role], "allowed": [*values]}]


def at(role: str, *hosts: str) -> dict[str, Any]:
    return {"roles": [role], "allowed": [*hosts]}


CASES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], Any]] = {
    "members in two directories": (
        [deny(paths=within("/a")), allow(tool=["t"], lists=listed("read-path", "/a/x", "/b/x"))],
        of(["read-path"], {}), "/b/x",
    ),
    "a member that is refused": ([allow(tool=["t"], lists=listed("account", "-x", "b"))], of(["account"], {}), "b"),
    "a member that is private": (
        [allow(tool=["t"], lists=listed("fetch-url", "http://10.0.0.1/", "https://ok.example/"))],
        of(["fetch-url"], {}), "https://ok.example/",
    ),
    "a pattern over two levels": (
        [allow(tool=["t"], values={"role:read-path": {"matches": "/srv/[a-z]+/[a-z]+"}})],
        of(["read-path"], {}), "/srv/ab/cd",
    ),
    "the directory itself": (
        [allow(tool=["t"], paths=within("/srv/a"), values={"role:read-path": {"matches": "/srv/."}})],
        of(["read-path"], {}), "/srv/a",
    ),
    "a shortest text that is refused": (
        [allow(tool=["t"], values={"role:account": {"matches": "(-|ab).*"}})], of(["account"], {}), "abc",
    ),
    "letters beyond the first plane": (
        [allow(tool=["t"], values={"arg:v": {"matches": "\U0001f600+"}})], of(["account"], {}), "\U0001f600",
    ),
    "a name with a colon": (
        [allow(tool=["t"], values={"role:recipient": {"matches": "team:[a-z]+"}})], of(["recipient"], {}), "team:ops",
    ),
    "a place below a suffix, as a URL": (
        [deny(values={"role:channel": {"matches": "git@.*"}}), allow(tool=["t"], roles=["channel"])],
        of(["channel"], {}), "https://q.x.example/",
    ),
    "a host that we would have chosen": (
        [deny(domains=at("fetch-url", "elsewhere.example")), allow(tool=["t"], roles=["fetch-url"])],
        of(["fetch-url"], {}), "https://q.example/",
    ),
    "an address that we would have chosen": (
        [
            deny(lists=listed("recipient", "someone@some.x.example")),
            allow(tool=["t"], domains=at("recipient", "*.x.example")),
        ],
        of(["recipient"], {}), "q@some.x.example",
    ),
    "a text that we would have chosen": (
        [deny(values={"arg:v": {"equals": "xxx"}}), allow(tool=["t"], values={"arg:v": {"maxLength": 3}})],
        of(["account"], {"type": "string"}), "yyy",
    ),
    "between two close numbers": (
        [
            deny("low", values={"role:amount": {"maximum": 0.1}}),
            deny("high", values={"role:amount": {"minimum": 0.2}}),
            allow(tool=["t"], values={"role:amount": {"minimum": 0}}),
        ],
        of(["amount"], {"type": "number"}), 0.15,
    ),
    "a number too large for a fraction": (
        [allow(tool=["t"], values={"role:amount": {"equals": 9007199254740993}})],
        of(["amount"], {"type": "integer"}), 9007199254740993,
    ),
    "a number where a text may stand": (
        [allow(tool=["t"], values={"arg:v": {"equals": 5}})], of(["account"], {"type": ["string", "integer"]}), 5,
    ),
    "one and true": ([allow(tool=["t"], values={"arg:v": {"equals": True}})], of(["account"], {"enum": [1, True]}), True),
    "several in an argument without a type": (
        [allow(tool=["t"], values={"role:account": {"minItems": 2}})], of(["account"], {}), ["a", "b"],
    ),
    "several in a list without elements": (
        [allow(tool=["t"], values={"role:account": {"minItems": 2}})], of(["account"], {"type": "array"}), ["a", "b"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_allowed_is_not_proven_to_be_never(place: Place, name: str) -> None:
    rules, tools, value = CASES[name]
    loaded = place.load(rules, tools)
    decision = decide(loaded, {"serverName": "fs", "toolName": "t", "arguments": {"v": value}})
    assert (decision.outcome.word, decision.rule) == ("allow", "sly")
    found = {statement.name: statement for statement in Prover(loaded, NOW).statements()}
    assert found["granted"].proof is not Proof.PROVEN
    assert not any("sly" in breach.rules[:1] for breach in found["reachable"].breaches), "it does decide something"


@pytest.mark.parametrize("kind", ["link", "file", "twin"])
def test_what_lies_on_the_disk_hides_no_rule(place: Place, kind: str) -> None:
    """An agent puts something where the analysis would have looked."""
    place.file("home/owner/open/x")
    exports = place.home / "exports"
    exports.mkdir()
    if kind == "link":
        place.link("home/owner/exports/something", "{home}/open/x")
    elif kind == "twin":
        (exports / "something").hardlink_to(place.home / "open" / "x")
    else:
        exports.rmdir()
        place.file("home/owner/exports")
    rules = [deny(paths=within("{home}/exports")), allow(paths=within("{home}"))]
    tools = [tool("t", {"v": ["read-path"]})]
    found = {s.name: s for s in Prover(place.load(rules, tools), NOW).statements()}
    assert not any("no" in breach.rules[:1] for breach in found["reachable"].breaches)
    assert not diff_policies(place.load(rules, tools), place.load(rules[1:], tools), NOW).equal


def test_two_values_that_change_apart_change_together(place: Place) -> None:
    asks = {"name": "b", "if": {"paths": within("/b")}, "then": "escalate"}
    old = [{**allow(paths=within("/a")), "name": "a"}, asks]
    new = [deny("a", paths=within("/a")), {**asks, "then": "allow"}]
    tools = [tool("t", {"v": ["read-path"]})]
    changes = diff_policies(place.load(old, tools), place.load(new, tools), NOW).changes
    assert ("escalate", "deny") in {(change.was.word, change.now.word) for change in changes}


def test_a_host_that_only_one_policy_names(place: Place) -> None:
    inside = {"name": "h", "if": {"tool": ["t"], "domains": at("fetch-url", "10.0.0.1")}, "then": "allow"}
    rest = {"name": "x", "if": {"tool": ["t"]}, "then": "allow"}
    tools = [tool("t", {"v": ["fetch-url"]})]
    with_, without = place.load([inside, rest], tools), place.load([rest], tools)
    assert [change.widens for change in diff_policies(with_, without, NOW).changes] == [False]
    assert [change.widens for change in diff_policies(without, with_, NOW).changes] == [True]


def test_commands_put_together_are_not_called_equal(place: Place) -> None:
    def rule(name: str, then: str) -> dict[str, Any]:
        return {"name": name, "if": {"values": {"role:command": {"equals": name}}}, "then": then}

    rest = {"name": "z", "if": {"tool": ["t"]}, "then": "allow"}
    tools = [tool("t", {"v": ["command"]})]
    old = place.load([rule("a", "escalate"), rule("c", "deny"), rule("b", "escalate"), rest], tools)
    new = place.load([rule("a", "escalate"), rule("b", "escalate"), rule("c", "deny"), rest], tools)
    assert not diff_policies(old, new, NOW).equal
