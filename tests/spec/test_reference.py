"""The reference against its own contract: the examples of the design, and the rules that are easy to misread."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from . import reference
from .reference import Table, Verdict, World, decide

NOW = "2026-11-15T08:00:00Z"
LATER = "2026-11-16T08:00:00Z"


def tool(name: str, args: Table, *, required: tuple[str, ...] = (), properties: Table | None = None) -> Table:
    """An annotated, pinned tool of the server `s`; a plain list of roles stands for `{roles, absent: nothing}`."""
    full = {leaf: {"roles": body, "absent": "nothing"} if plain_roles(body) else body for leaf, body in args.items()}
    schema = {"type": "object", "properties": properties or {leaf: {} for leaf in args}, "required": list(required)}
    definition = {"name": name, "inputSchema": schema}
    return {
        "toolName": name,
        "serverName": "s",
        "sideEffects": True,
        "definition": definition,
        "pin": reference.pin(definition),
        "args": full,
    }


def plain_roles(body: Any) -> bool:
    return isinstance(body, list) and all(isinstance(role, str) for role in body)


def rule(name: str, then: str, **conditions: Any) -> Table:
    flags = {key: True for key in ("elsewhere", "joined") if conditions.pop(key, False)}
    return {"name": name, "if": conditions, "then": then, **flags}


class Place:
    """A home, a sandbox and some directories on the real file system, and a world around them."""

    def __init__(self, root: Path) -> None:
        self.home, self.box = root / "home", root / "box"
        self.ironcurtain = self.home / ".ironcurtain"
        for directory in (self.ironcurtain, self.box, self.home / "Projects", self.home / "Documents", root / "out"):
            directory.mkdir(parents=True)
        self.out = root / "out"

    def world(self, rules: list[Table], *tools: Table, **changes: Any) -> World:
        setup = {"home": str(self.home), "sandbox": str(self.box), "pathBase": {}}
        world = World(
            policy={"version": 1, "setup": setup, "rules": rules},
            annotations={"version": 1, "servers": {"s": {"tools": list(tools)}}},
            lists={"contacts": ["bob", "ann", "cid", "dan", "fay", "gus"]},
            home=str(self.ironcurtain),
            files=(str(self.home / "policies" / "compiled-policy.json"),),
            now=NOW,
            config={},
        )
        return replace(world, **changes)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def verdict(world: World, name: str, arguments: Table, **more: Any) -> Verdict:
    return decide(world, {"serverName": "s", "toolName": name, "arguments": arguments, **more})


def decision(world: World, name: str, arguments: Table, **more: Any) -> str:
    return verdict(world, name, arguments, **more).decision


def code(world: World, name: str, arguments: Table, **more: Any) -> str:
    return verdict(world, name, arguments, **more).code


# --- The examples of architecture 6.6 -----------------------------------------------------------------------------

CHAIN = [
    rule("1", "deny", roles=["delete-path"]),
    rule("2", "deny", values={"role:recipient": {"minItems": 6}}),
    rule("3", "allow", tool=["send_mail"], lists=[{"roles": ["recipient"], "allowed": ["@contacts"]}]),
    rule("4", "allow", paths={"roles": ["read-path"], "within": "~/Projects"}),
    rule("5", "allow", tool=["git_push"], lists=[{"roles": ["repository"], "allowed": ["acme/app"]}]),
    rule("6", "escalate", roles=["read-path"], elsewhere=True),
]
MAIL = tool("send_mail", {"to": ["recipient"], "body": ["outbound-content"], "attachments": ["read-path"]})
TOOLS = [
    tool("move_file", {"source": ["read-path", "delete-path"], "destination": ["write-path"]}),
    MAIL,
    tool("read_multiple_files", {"paths": ["read-path"]}),
    tool("git_push", {"remote": {"roles": ["repository"]}}),
    tool("write_file", {"path": ["write-path"], "content": ["none"]}),
    tool("delete_directory", {"path": ["delete-path"]}),
]


@pytest.mark.parametrize(
    ("name", "arguments", "expected", "why"),
    [
        ("move_file", {"source": "{box}/a", "destination": "{box}/b"}, "deny", "rule_deny"),
        ("move_file", {"source": "{box}/a", "destination": "{out}/b"}, "deny", "rule_deny"),
        ("send_mail", {"to": ["bob"], "body": "hi"}, "allow", "rule_allow"),
        ("send_mail", {"to": ["bob"], "attachments": ["~/Documents/taxes.txt"]}, "escalate", "rule_escalate"),
        ("send_mail", {"to": ["bob"], "attachments": ["~/Projects/x"]}, "escalate", "rule_escalate"),
        ("send_mail", {"to": ["bob", "eve"], "body": "hi"}, "deny", "no_rule"),
        ("send_mail", {"to": "bob, ann, cid; dan, fay, gus", "body": "hi"}, "deny", "rule_deny"),
        ("send_mail", {"to": "bob, ann, cid; dan, fay", "body": "hi"}, "allow", "rule_allow"),
        ("read_multiple_files", {"paths": ["~/Projects/a", "{box}/b"]}, "allow", "rule_allow"),
        ("read_multiple_files", {"paths": ["{box}/a", "{out}/s"]}, "escalate", "rule_escalate"),
        ("git_push", {}, "deny", "no_rule"),
        ("git_push", {"remote": "acme/app"}, "allow", "rule_allow"),
        ("write_file", {"path": "{box}/x", "content": "/* ... */\nint main;"}, "allow", "contained"),
        ("write_file", {"path": "{out}/x", "content": "x"}, "deny", "no_rule"),
        ("delete_directory", {"path": "~"}, "deny", "path_ancestor"),
    ],
)
def test_the_worked_examples(place: Place, name: str, arguments: Table, expected: str, why: str) -> None:
    def spelled(text: str) -> str:
        return text.replace("{box}", str(place.box)).replace("{out}", str(place.out))

    written = {key: spelled(v) if isinstance(v, str) else [spelled(t) for t in v] for key, v in arguments.items()}
    found = verdict(place.world(CHAIN, *TOOLS), name, written)
    assert (found.decision, found.code) == (expected, why)


# --- Emptiness, unknown and opaque values -------------------------------------------------------------------------

ANY_MAIL = [rule("all", "allow", tool=["send_mail"])]
TO_BOB = [rule("bob", "allow", tool=["send_mail"], lists=[{"roles": ["recipient"], "allowed": ["bob"]}])]


@pytest.mark.parametrize("empty", [None, [], "", "  "])
def test_an_empty_argument_is_nothing_if_its_annotation_says_so(place: Place, empty: Any) -> None:
    world = place.world(TO_BOB, MAIL)
    assert decision(world, "send_mail", {"to": "bob", "body": empty}) == "allow"
    assert code(world, "send_mail", {"to": empty, "body": empty}) == "no_rule"  # the call's own claim


@pytest.mark.parametrize("empty", [None, [], ""])
def test_an_empty_argument_is_unknown_if_required_or_if_its_annotation_says_so(place: Place, empty: Any) -> None:
    count = rule("count", "deny", values={"role:recipient": {"minItems": 1000}})
    required = tool("send_mail", {"to": ["recipient"]}, required=("to",))
    unknown = tool("send_mail", {"to": {"roles": ["recipient"]}})
    nothing = tool("send_mail", {"to": ["recipient"]})
    for found, expected in ((required, "deny" if empty == "" else "allow"), (unknown, "deny"), (nothing, "allow")):
        assert decision(place.world([count, *ANY_MAIL], found), "send_mail", {"to": empty}) == expected
    assert decision(place.world([count, *ANY_MAIL], unknown), "send_mail", {}) == "deny"


def test_an_empty_text_in_a_path_role_is_always_unknown(place: Place) -> None:
    world = place.world([rule("r", "allow", paths={"roles": ["read-path"], "within": "/"})], *TOOLS)
    assert decision(world, "read_multiple_files", {"paths": ["/tmp/x"]}) == "allow"
    assert decision(world, "read_multiple_files", {"paths": ["/tmp/x", ""]}) == "deny"
    assert decision(world, "read_multiple_files", {"paths": ["/tmp/x", None]}) == "allow"


@pytest.mark.parametrize(
    "conditions",
    [
        {"values": {"role:recipient": {"matches": "x"}}},
        {"values": {"role:recipient": {"equals": 7}}},
        {"values": {"role:recipient": {"maximum": 5}}},
        {"values": {"arg:to": {"maxLength": 0}}},
        {"values": {"role:recipient": {"minItems": 999}}},
        {"lists": [{"roles": ["recipient"], "allowed": ["nobody"]}]},
        {"domains": {"roles": ["recipient"], "allowed": ["evil.example"]}},
    ],
)
def test_an_unknown_value_satisfies_no_allow_and_every_deny(place: Place, conditions: Table) -> None:
    mail = tool("send_mail", {"to": {"roles": ["recipient"]}})
    nothing = tool("send_mail", {"to": ["recipient"]})
    for then in ("deny", "escalate"):
        assert decision(place.world([rule("r", then, **conditions), *ANY_MAIL], mail), "send_mail", {}) == then
        assert decision(place.world([rule("r", then, **conditions), *ANY_MAIL], nothing), "send_mail", {}) == "allow"
    assert decision(place.world([rule("r", "allow", tool=["*"], **conditions)], mail), "send_mail", {}) == "deny"


def test_given_speaks_of_values_that_were_sent(place: Place) -> None:
    mail = tool("send_mail", {"to": {"roles": ["recipient"]}})
    given = {"values": {"role:recipient": {"given": True, "matches": "b.*"}}}
    denies = place.world([rule("d", "deny", **given), *ANY_MAIL], mail)
    allows = place.world([rule("a", "allow", **given)], mail)
    for to, denied, allowed in (
        ("bob", "deny", "allow"),
        ("eve", "allow", "deny"),
        ([], "allow", "deny"),
        (["bob", ","], "deny", "deny"),
        ('"bob', "deny", "deny"),
    ):
        assert decision(denies, "send_mail", {"to": to}) == denied
        assert decision(allows, "send_mail", {"to": to}) == allowed


def test_an_unknown_value_is_more_than_any_count(place: Place) -> None:
    mail = tool("send_mail", {"to": {"roles": ["recipient"]}})
    few = rule("d", "deny", values={"role:recipient": {"maxItems": 5}})
    assert decision(place.world([few, *ANY_MAIL], mail), "send_mail", {}) == "allow"
    assert decision(place.world([few, *ANY_MAIL], mail), "send_mail", {"to": "x"}) == "deny"


@pytest.mark.parametrize("text", ['"bob', "bob <", "bob\x07", "bob <a> <b>", "x" + ",x" * 1000, "a b@c.example", "a%b@c.example", "a!b",
             "=?utf-8?q?x?=", "\uff42ob", "x" * 1001, ",".join(["x" * 999] * 33), "bob\u200b", "bob, e\u2060ve", "bo\u3164b",
             "bob\U000e0100"])  # fmt: skip
def test_an_opaque_value_satisfies_no_allow_and_every_deny(place: Place, text: str) -> None:
    matches_nothing = rule("d", "escalate", values={"role:recipient": {"equals": "nobody"}})
    everyone = rule("e", "allow", tool=["send_mail"], values={"role:recipient": {"matches": "(.|\n)*"}})
    assert decision(place.world([matches_nothing, *ANY_MAIL], MAIL), "send_mail", {"to": text}) == "escalate"
    assert decision(place.world([everyone], MAIL), "send_mail", {"to": text}) == "deny"


def test_each_element_that_lacks_the_leaf_counts_as_one_empty_value(place: Place) -> None:
    items = {"type": "object", "properties": {"path": {}, "note": {}}}
    nested = tool(
        "read_many",
        {"files[].path": {"roles": ["read-path"]}, "files[].note": ["none"]},
        properties={"files": {"type": "array", "items": items}},
    )
    world = place.world([], nested)
    inside = {"path": str(place.box / "a")}
    assert decision(world, "read_many", {"files": [inside, inside]}) == "allow"
    assert decision(world, "read_many", {"files": [inside, {"note": "n"}]}) == "deny"
    assert code(world, "read_many", {"files": [{**inside, "other": 1}]}) == "argument_unknown"
    assert code(world, "read_many", {"files[].path": "/etc"}) == "argument_unknown"


def test_a_string_of_separators_only_is_unknown(place: Place) -> None:
    hits_nobody = rule("d", "deny", values={"role:recipient": {"equals": "nobody"}})
    assert decision(place.world([hits_nobody, *ANY_MAIL], MAIL), "send_mail", {"to": " ,; "}) == "deny"
    assert decision(place.world([hits_nobody, *ANY_MAIL], MAIL), "send_mail", {"to": "bob"}) == "allow"
    assert decision(place.world(TO_BOB, MAIL), "send_mail", {"to": ["bob", ","]}) == "deny"


def test_an_empty_argument_is_unknown_if_the_schema_has_a_default_for_it(place: Place) -> None:
    for default, expected in (({"default": "bob"}, "deny"), ({"default": None}, "allow"), ({}, "allow")):
        mail = tool("send_mail", {"to": ["recipient"], "cc": ["recipient"]}, properties={"to": {}, "cc": default})
        assert decision(place.world(TO_BOB, mail), "send_mail", {"to": "bob", "cc": []}) == expected


def test_defaults_in_branches_are_inserted(place: Place) -> None:
    for word in ("anyOf", "oneOf", "allOf"):
        to = {word: [{"type": "string", "default": "eve"}, {"type": "null"}]}
        mail = tool("send_mail", {"to": ["recipient"], "body": ["none"]}, properties={"to": to, "body": {}})
        assert decision(place.world(TO_BOB, mail), "send_mail", {"body": "x"}) == "deny"
        assert decision(place.world(TO_BOB, mail), "send_mail", {"to": "bob"}) == "allow"
    items = {"type": "object", "properties": {"path": {}, "note": {"default": "n"}}}
    many = tool("many", {"l[].path": ["none"], "l[].note": ["none"]}, properties={"l": {"items": items}})
    assert decision(place.world(OPEN, many), "many", {"l": [{}] * 1000}) == "allow"
    assert verdict(place.world(OPEN, many), "many", {"l": [{}] * 1001}).stage == "validate"


def test_a_default_beside_a_reference_is_inserted(place: Place) -> None:
    mail = tool("send_mail", {"to": ["recipient"], "body": ["none"]})
    shared = {"type": "string", "default": "bob"}
    for to, expected in (
        ({"$ref": "#/$defs/who"}, "allow"),
        ({"$ref": "#/$defs/who", "default": "eve"}, "deny"),
        ({"$ref": "#/$defs/who", "anyOf": [{"default": "eve"}]}, "allow"),
    ):
        schema = {"type": "object", "properties": {"to": to, "body": {}}, "$defs": {"who": shared}}
        definition = {"name": "send_mail", "inputSchema": schema}
        found = {**mail, "definition": definition, "pin": reference.pin(definition)}
        assert decision(place.world(TO_BOB, found), "send_mail", {"body": "x"}) == expected
        assert decision(place.world(TO_BOB, found), "send_mail", {"to": []}) == "deny"  # it has a default


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "allow"),
        ({"default": None}, "allow"),
        ({"default": {}}, "allow"),
        ({"default": {"note": "n"}}, "deny"),
        ({"allOf": [{"default": {"note": "n"}}]}, "deny"),
        ({"then": {"properties": {"to": {"default": "eve"}}}}, "deny"),
        ({"else": {"properties": {"to": {"default": "eve"}}}}, "deny"),
        ({"else": {"properties": {"to": {"default": None}}}}, "allow"),
        ({"else": {"properties": {"to": {"default": " "}}}}, "allow"),
        ({"if": {"properties": {"to": {"default": "eve"}}}}, "allow"),
        ({"dependentSchemas": {"note": {"properties": {"to": {"default": "eve"}}}}}, "deny"),
        ({"anyOf": [{"then": {"allOf": [{"properties": {"to": {"default": "eve"}}}]}}]}, "deny"),
    ],
)
def test_a_default_of_something_around_the_leaf_makes_it_unknown(place: Place, options: Table, expected: str) -> None:
    inner = {**options, "properties": {"to": {}, "note": {}}}
    count = rule("count", "deny", values={"role:recipient": {"minItems": 1000}})
    args = {"options.to": ["recipient"], "options.note": ["none"]}
    found = tool("t", args, properties={"options": inner})
    assert decision(place.world([count, *OPEN], found), "t", {"options": {"note": "x"}}) == expected
    assert decision(place.world([count, *OPEN], found), "t", {"options": {"note": "x", "to": "bob"}}) == "allow"


def test_a_list_or_the_arguments_with_a_default_make_their_leaves_unknown(place: Place) -> None:
    count = rule("count", "deny", values={"role:recipient": {"minItems": 1000}})
    element: Table = {"properties": {"to": {}, "note": {}}}
    for schema, expected in (
        ({"items": element}, "allow"),
        ({"items": element, "default": []}, "allow"),
        ({"items": element, "default": [{"note": "n"}]}, "deny"),
        ({"items": {**element, "default": {"to": "x"}}}, "deny"),
        ({"prefixItems": [{}, element]}, "allow"),
        ({"prefixItems": [element, {"properties": {"to": {"default": "eve"}}}]}, "deny"),
        ({"prefixItems": [{**element, "required": ["to"]}]}, "deny"),
    ):
        found = tool("t", {"l[].to": ["recipient"], "l[].note": ["none"]}, required=("l",), properties={"l": schema})
        assert decision(place.world([count, *OPEN], found), "t", {"l": [{"note": "x", "to": ""}]}) == expected, schema
    mail = tool("t", {"to": ["recipient"]})
    definition = {"name": "t", "inputSchema": {"properties": {"to": {}}, "default": {"to": "eve"}}}
    around = {**mail, "definition": definition, "pin": reference.pin(definition)}
    assert decision(place.world([count, *OPEN], mail), "t", {}) == "allow"
    assert decision(place.world([count, *OPEN], around), "t", {}) == "deny"


def test_defaults_of_conditions_and_prefixes_are_not_inserted(place: Place) -> None:
    eve = {"properties": {"to": {"default": "eve"}}}
    only_eve = rule("a", "allow", tool=["t"], values={"role:recipient": {"equals": "eve"}})
    for schema in ({"prefixItems": [eve]}, {"items": {"properties": {"to": {}}, "then": eve}}):
        found = tool("t", {"l[].to": ["recipient"]}, properties={"l": schema})
        assert decision(place.world([only_eve], found), "t", {"l": [{}]}) == "deny"
    inserted = tool("t", {"l[].to": ["recipient"]}, properties={"l": {"items": eve}})
    assert decision(place.world([only_eve], inserted), "t", {"l": [{}]}) == "allow"


def test_lists_of_lists_of_objects(place: Place) -> None:
    element = {"type": "object", "properties": {"path": {}, "note": {"default": "n"}}}
    args = {"m[][].path": {"roles": ["read-path"]}, "m[][].note": ["none"]}
    properties = {"m": {"items": {"items": element}}}
    world = place.world([], tool("t", args, properties=properties))
    inside, outside = {"path": str(place.box / "a")}, {"path": str(place.out / "a")}
    assert decision(world, "t", {"m": [[inside, inside], [inside]]}) == "allow"
    assert code(world, "t", {"m": [[inside], [inside, outside]]}) == "no_rule"
    for lacking in ({}, {"path": None}, {"path": ""}, {"note": "x"}):
        assert code(world, "t", {"m": [[inside], [inside, lacking]]}) == "no_rule"
    empties: list[Any] = [[], [[]], [[inside], []], [[inside], None], [[inside, None]], None]
    for empty in empties:
        assert code(world, "t", {"m": empty}) == "no_rule"
    for uncovered in ([inside], [[[inside]]], [["x"]], ["x"], [[{**inside, "other": 1}]], inside, "x"):
        assert code(world, "t", {"m": uncovered}) == "argument_unknown"
    assert code(world, "t", {"m": [[{"path": f"{place.box}/x/../.mcp.json"}]]}) == "path_protected"
    eve = rule("d", "deny", values={"arg:m[][].note": {"equals": "n"}})
    found = tool("t", args, properties=properties)
    assert code(place.world([eve, *OPEN], found), "t", {"m": [[inside]]}) == "rule_deny"  # the default, inserted
    assert code(place.world([eve, *OPEN], found), "t", {"m": [[{**inside, "note": "x"}]]}) == "rule_allow"


def test_a_leaf_holds_an_object_only_if_the_schema_has_no_leaf_below_it(place: Place) -> None:
    shapes = {"free": {"type": "object"}, "fixed": {"anyOf": [{"type": "string"}, {"properties": {"path": {}}}]}}
    world = place.world(OPEN, tool("t", {"free": ["none"], "fixed": ["none"]}, properties=shapes))
    assert decision(world, "t", {"free": {"a": {"b": 1}}, "fixed": "x"}) == "allow"
    assert code(world, "t", {"fixed": {"path": "/x"}}) == "argument_unknown"
    assert code(world, "t", {"fixed": [{"path": "/x"}]}) == "argument_unknown"
    prefix: Table = {"l": {"prefixItems": [{"properties": {"path": {}}}]}}
    listed = place.world(OPEN, tool("t", {"l": ["none"]}, properties=prefix))
    assert code(listed, "t", {"l": [{"path": "/x"}]}) == "argument_unknown"


def test_the_keys_of_a_free_form_object_are_values_in_canonical_form(place: Place) -> None:
    not_c1 = rule("d", "deny", values={"role:channel": {"equals": "C1"}})
    world = place.world([not_c1, *OPEN], tool("t", {"where": ["channel"]}))
    assert decision(world, "t", {"where": {"C2": {"C3": 1}}}) == "allow"
    assert code(world, "t", {"where": {"C2": {"C1": 1}}}) == "rule_deny"
    assert code(world, "t", {"where": {" C2": 1}}) == "value_spelling"
    assert code(world, "t", {"where": {"--x": 1}}) == "value_flag"


def test_more_than_a_thousand_values_are_refused(place: Place) -> None:
    one, two = tool("one", {"c": ["channel"], "n": ["none"]}), tool("two", {"c": ["channel", "identifier"]})
    world = place.world(OPEN, one, two)
    assert decision(world, "one", {"c": ["x"] * 1000}) == "allow"
    assert code(world, "one", {"c": ["x"] * 1001}) == "value_count"
    assert code(world, "two", {"c": ["x"] * 501}) == "value_count"
    assert decision(world, "one", {"n": [f"/x{i}" for i in range(1000)]}) == "allow"
    assert code(world, "one", {"n": [f"/x{i}" for i in range(1001)]}) == "value_count"


# --- Modes with `when` --------------------------------------------------------------------------------------------


def test_a_mode_is_in_force_when_its_sibling_says_so_and_all_are_when_none_does(place: Place) -> None:
    modes = [
        {"roles": ["read-path"], "when": {"operation": ["list", "show"]}, "absent": "nothing"},
        {"roles": ["delete-path"], "when": {"operation": {"equals": "delete"}}, "absent": "nothing"},
    ]
    branch = tool("branch", {"path": modes, "operation": ["none"]})
    world = place.world([rule("d", "deny", roles=["delete-path"])], branch)
    path = str(place.box / "a")
    assert code(world, "branch", {"path": path, "operation": "list"}) == "contained"
    assert code(world, "branch", {"path": path, "operation": "delete"}) == "rule_deny"
    for unclear in ({}, {"operation": "LIST"}, {"operation": ["list"]}, {"operation": None}):
        assert code(world, "branch", {"path": path, **unclear}) == "rule_deny"


def test_a_mode_without_when_is_always_in_force(place: Place) -> None:
    modes = [{"roles": ["read-path"]}, {"roles": ["delete-path"], "when": {"op": ["delete", "purge"]}}]
    world = place.world([rule("d", "deny", roles=["read-path"])], tool("branch", {"path": modes, "op": ["none"]}))
    for op in ({"op": "delete"}, {"op": "list"}, {}):
        assert code(world, "branch", {"path": str(place.box / "a"), **op}) == "rule_deny"


def test_a_default_decides_the_mode(place: Place) -> None:
    modes = [{"roles": ["read-path"], "when": {"op": "list"}}, {"roles": ["delete-path"], "when": {"op": "delete"}}]
    for default, expected in (("list", "allow"), ("delete", "deny")):
        branch = tool("branch", {"path": modes, "op": ["none"]}, properties={"path": {}, "op": {"default": default}})
        assert decision(place.world([], branch), "branch", {"path": str(place.box / "a")}) == expected


def test_a_sibling_is_an_argument_of_the_same_object_that_no_rule_rewrites(place: Place) -> None:
    modes = [{"roles": ["none"], "when": {"op": "x"}}]
    for roles, expected in (
        (["none"], "allow"),
        (["identifier"], "allow"),
        (["account"], "allow"),
        (["channel"], "deny"),
    ):
        found = tool("t", {"path": modes, "op": roles})
        assert decision(place.world(OPEN, found), "t", {}) == expected
    assert code(place.world(OPEN, tool("t", {"path": modes, "o.op": ["none"]})), "t", {}) == "artifact_malformed"


# --- Rules --------------------------------------------------------------------------------------------------------


def test_an_unanswered_rule_tightens_what_follows_and_never_loosens(place: Place) -> None:
    write = tool("write_file", {"path": ["write-path"]})
    ask = rule("ask", "escalate", assess={"question": "is it rude?"})
    came = rule("came", "allow", origin={"roles": ["write-path"], "from": "person"})
    deny = rule("deny", "deny", roles=["write-path"])
    inside = {"path": str(place.box / "a")}
    assert code(place.world([ask], write), "write_file", inside) == "rule_escalate"
    assert code(place.world([ask, deny], write), "write_file", inside) == "rule_deny"
    assert code(place.world([came], write), "write_file", inside) == "contained"
    assert code(place.world([came], write), "write_file", {"path": str(place.out / "a")}) == "no_rule"


def test_an_error_denies_in_a_deny_or_escalate_and_does_not_match_in_an_allow(place: Place) -> None:
    pay = tool("pay", {"amount": ["amount"]})
    blanket = rule("b", "allow", tool=["pay"])
    for then, expected in (("escalate", "rule_error"), ("deny", "rule_error"), ("allow", "rule_allow")):
        world = place.world([rule("x", then, values={"role:amount": {"maximum": 5}}), blanket], pay)
        assert code(world, "pay", {"amount": "five"}) == expected
    other_tool = rule("x", "deny", tool=["buy"], values={"role:amount": {"maximum": 5}})
    assert decision(place.world([other_tool, blanket], pay), "pay", {"amount": "five"}) == "allow"


@pytest.mark.parametrize(("constant", "value", "expected"), [(1, True, "deny"), (1, "1", "deny"), (1, 1.0, "allow")])
def test_equality_is_typed(place: Place, constant: Any, value: Any, expected: str) -> None:
    allow = rule("a", "allow", values={"arg:n": {"equals": constant}})
    assert decision(place.world([allow], tool("t", {"n": ["none"]})), "t", {"n": value}) == expected


def test_an_allow_never_discharges_a_resource_claim_it_does_not_name(place: Place) -> None:
    both = tool("copy", {"source": ["read-path"], "target": ["write-path"]})
    arguments = {"source": str(place.out / "a"), "target": str(place.out / "b")}
    reads = rule("r", "allow", paths={"roles": ["read-path"], "within": "/"})
    assert decision(place.world([reads], both), "copy", arguments) == "deny"
    assert decision(place.world([reads, rule("b", "allow", server=["s"])], both), "copy", arguments) == "allow"


def test_an_allow_that_names_neither_role_nor_tool_covers_the_call_and_what_it_carries_only(place: Place) -> None:
    world = place.world([rule("a", "allow", sideEffects=True)], NOTE, MAIL)
    assert decision(world, "note", {"text": "x"}) == "allow"
    assert decision(world, "send_mail", {"body": "x"}) == "allow"
    assert decision(world, "send_mail", {"to": "bob", "body": "x"}) == "deny"


def test_conditions_on_other_roles_need_all_in_an_allow_and_one_in_a_deny(place: Place) -> None:
    post = tool("post", {"to": ["recipient"], "where": ["channel"]})
    to_bob = [{"roles": ["recipient"], "allowed": ["bob"]}]
    channel = rule("c", "allow", roles=["channel"], lists=to_bob)
    people = rule("p", "allow", tool=["post"], roles=["recipient"])
    assert decision(place.world([channel, people], post), "post", {"to": "bob, eve", "where": "c"}) == "deny"
    assert decision(place.world([channel, people], post), "post", {"to": "bob", "where": "c"}) == "allow"
    assert decision(place.world([channel, people], post), "post", {"where": "c"}) == "deny"
    ban = rule("d", "deny", roles=["channel"], lists=[{"roles": ["recipient"], "allowed": ["eve"]}])
    all_post = rule("a", "allow", tool=["post"])
    assert decision(place.world([ban, all_post], post), "post", {"to": "bob, eve", "where": "c"}) == "deny"


def test_a_command_with_shell_syntax_is_opaque_in_an_allow(place: Place) -> None:
    run = tool("run", {"command": ["command"]})
    git = rule("git", "allow", values={"role:command": {"matches": "git .*"}})
    remove = rule("rm", "deny", values={"role:command": {"matches": "rm .*"}})
    blanket = rule("all", "allow", tool=["run"])
    assert decision(place.world([git], run), "run", {"command": "git status"}) == "allow"
    assert decision(place.world([git], run), "run", {"command": "git status; ls"}) == "deny"
    world = place.world([remove, blanket], run)
    for command in ("ls; rm -r x", "ls $(x)", "ls > x", "ls" + " | ls" * 50, "l\\s", "ls $x", "(rm x)", " ! rm  x"):
        assert decision(world, "run", {"command": command}) == "deny", command
    assert decision(world, "run", {"command": "ls | wc"}) == "allow"
    for command in ("ls $5", "ls $@", "ls $'x'", 'ls $"x"', "ls $$", "ls $?"):
        assert decision(world, "run", {"command": command}) == "deny", command
        assert decision(place.world([git], run), "run", {"command": command.replace("ls", "git")}) == "deny", command
    for command in ("ls 5$", "ls $ 5", "ls $\t5"):
        assert decision(world, "run", {"command": command}) == "allow", command
        assert decision(place.world([git], run), "run", {"command": command.replace("ls", "git")}) == "allow", command
    assert decision(place.world([git], run), "run", {"command": "git $x"}) == "deny"
    for command in ("cat ~/.ironcurtain/x", "cat --file='/a/.mcp.json'", "cat(/proc/self/mem)"):
        assert verdict(world, "run", {"command": command}).stage == "invariants", command


@pytest.mark.parametrize(
    ("statement", "reads", "drops"),
    [
        ("select a from b where c > 1", "allow", "allow"),
        ("select a\nfrom `b` where c < $1 ; ;", "allow", "allow"),
        ("select a from drop", "allow", "deny"),
        ("select a; select b", "deny", "deny"),
        ("select a -- b", "deny", "deny"),
        ("select a # b", "deny", "deny"),
        ("select a/*b*/", "deny", "deny"),
        ("select a || b", "deny", "deny"),
        ("select a & b", "deny", "deny"),
        ("select $$a$$", "deny", "deny"),
        ("select $", "deny", "deny"),
        ("select \\a", "deny", "deny"),
        ("insert", "deny", "allow"),
    ],
)
def test_a_statement_is_no_command_line(place: Place, statement: str, reads: str, drops: str) -> None:
    run = tool("run", {"sql": {"roles": ["command"], "language": "sql"}})
    select = rule("select", "allow", values={"role:command": {"matches": r"select\s[^;]*[\s;]*"}})
    assert decision(place.world([select], run), "run", {"sql": statement}) == reads
    drop = rule("drop", "deny", values={"role:command": {"matches": ".*drop.*"}})
    assert decision(place.world([drop, *OPEN], run), "run", {"sql": statement}) == drops
    count = rule("one", "allow", roles=["command"], values={"role:command": {"maxItems": 1}})
    assert decision(place.world([count], run), "run", {"sql": statement}) == (
        "allow" if reads == "allow" or statement == "insert" else "deny"
    )


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("X=1 rm x", "deny"),
        ("X= _y2=a;rm x", "deny"),
        ("X=1  Y=2\trm  x", "deny"),
        ("if x; then rm x", "deny"),
        ("while true; do exec command rm x", "deny"),
        ("until builtin rm x", "deny"),
        ("( time rm x )", "deny"),
        ("ls | time rm x", "deny"),
        ("elif rm x", "deny"),
        ("else rm x", "deny"),
        ("if ! rm x", "deny"),
        ("then(rm x)", "deny"),
        ("X='a b' rm x", "allow"),
        ('X="a" rm x', "allow"),
        ("1X=1 rm x", "allow"),
        ("thenrm x", "allow"),
        ("THEN rm x", "allow"),
        ("echo then rm x", "allow"),
        ("X=1", "allow"),
    ],
)
def test_words_before_the_command_itself_do_not_hide_it(place: Place, command: str, expected: str) -> None:
    run = tool("run", {"command": ["command"]})
    world = place.world([rule("rm", "deny", values={"role:command": {"matches": "rm x"}}), *OPEN], run)
    assert decision(world, "run", {"command": command}) == expected
    only = place.world([rule("rm", "allow", values={"role:command": {"matches": "rm x"}})], run)
    assert decision(only, "run", {"command": command}) == "deny"  # an allow looks at the whole text


@pytest.mark.parametrize(("text", "expected"), [("-f", "deny"), ("\u2013f", "deny"), ("-12", "allow"), ("f-", "allow")])
def test_flags(place: Place, text: str, expected: str) -> None:
    world = place.world([rule("a", "allow", tool=["post"])], tool("post", {"where": ["channel"]}))
    assert decision(world, "post", {"where": text}) == expected


@pytest.mark.parametrize("role", ["channel", "account", "unheard-of"])
def test_places_and_others_are_trimmed_and_visible(place: Place, role: str) -> None:
    world = place.world([rule("a", "allow", values={f"role:{role}": {"matches": "C1"}})], tool("t", {"x": [role]}))
    assert decision(world, "t", {"x": " C1 "}) == "allow"
    for text in ("C1\u200b", "C1\u3164", "\ufe0fC1", "C1\x07", "C1\n"):
        assert code(world, "t", {"x": text}) == "value_spelling"
        for other in ("outbound-content", "identifier", "recipient", "command"):
            both = place.world(OPEN, tool("t", {"x": [other, role]}), tool("u", {"x": [other]}))
            assert code(both, "t", {"x": text}) == "value_spelling"
            assert code(both, "t", {"x": {"a": [text]}}) == "value_spelling"
            assert code(both, "t", {"x": {text: 1}}) == "value_spelling"
            assert decision(both, "u", {"x": text}) == "allow"


def test_control_characters_count_in_the_modes_that_are_in_force(place: Place) -> None:
    modes = [{"roles": ["channel"], "when": {"op": "to"}}, {"roles": ["outbound-content"], "when": {"op": "say"}}]
    world = place.world(OPEN, tool("t", {"x": modes, "op": ["none"]}))
    for op, expected in (("to", "value_spelling"), ("say", "rule_allow"), ("other", "value_spelling")):
        assert code(world, "t", {"x": "a\nb", "op": op}) == expected


def test_a_place_with_a_scheme_is_a_url(place: Place) -> None:
    push = tool("push", {"to": ["repository"]})
    allow = rule("a", "allow", domains={"roles": ["repository"], "allowed": ["git.example", "10.0.0.7"]})
    listed = rule("l", "allow", lists=[{"roles": ["repository"], "allowed": ["https://X.example:443/a", "acme/app"]}])
    world = place.world([allow, listed], push)
    for text, expected in (
        ("https://GIT.example/x", "rule_allow"),
        ("https://x.example/a", "rule_allow"),
        ("acme/app", "rule_allow"),
        ("http://10.0.0.7/x", "rule_allow"),
        ("http://10.0.0.8/x", "host_private"),
        ("http://169.254.169.254/", "host_metadata"),
        ("ssh://git.example/x", "url_scheme"),
        ("https://a@git.example/x", "url_userinfo"),
        ("git.example", "no_rule"),
    ):
        assert code(world, "push", {"to": text}) == expected, text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git@evil.example:x", "rule_deny"),
        ("git@EVIL.example:x", "rule_deny"),
        ("a@b@sub.evil.example:x/y@z", "rule_deny"),
        ("evil.example/x", "rule_deny"),
        ("evil.example:x", "rule_deny"),
        ("  eve@evil.example ", "rule_deny"),
        ("@evil.example", "rule_deny"),
        ("evil.example", "rule_allow"),
        ("x/evil.example", "rule_allow"),
        ("git@good.example:evil.example", "rule_allow"),
        ("my evil.example/x", "rule_allow"),
        ("acme/app", "rule_allow"),
        ("git@169.254.169.254:x", "host_metadata"),
        ("metadata.google.internal/x", "host_metadata"),
        ("git@10.0.0.7:x", "host_private"),
        ("127.0.0.1/x", "host_private"),
        ("x@10.0.0.7", "host_private"),
        ("10.0.0.7", "rule_allow"),
        ("git@8.8.8.8:x", "rule_allow"),
        ("git@localhost:x", "rule_allow"),
        ("git@127.1:x", "rule_allow"),
        ("git@p\u0430ypal.example:x", "host_confusable"),
        ("//evil.example/x", "value_spelling"),
        (" //evil.example/x", "value_spelling"),
        ("http:evil.example", "value_spelling"),
        ("HTTPS:/evil.example", "value_spelling"),
        ("ext::sh -c id", "value_spelling"),
        ("a-b::x", "value_spelling"),
        ("::x", "rule_allow"),
        ("a ::x", "rule_allow"),
    ],
)
@pytest.mark.parametrize("role", ["repository", "channel"])
def test_a_place_may_lead_to_a_host(place: Place, role: str, text: str, expected: str) -> None:
    hosts = ["evil.example", "*.evil.example"]
    ban = rule("d", "deny", domains={"roles": [role], "allowed": hosts})
    named = rule("n", "allow", domains={"roles": [role], "allowed": ["10.0.0.7"]})
    world = place.world([ban, *OPEN, named], tool("push", {"to": [role]}))
    assert code(world, "push", {"to": text}) == expected
    allow = rule("a", "allow", domains={"roles": [role], "allowed": [*hosts, "good.example", "8.8.8.8", "acme"]})
    assert decision(place.world([allow], tool("push", {"to": [role]})), "push", {"to": text}) == "deny"


def test_a_word_and_two_colons_are_fine_elsewhere(place: Place) -> None:
    world = place.world(OPEN, tool("t", {"x": ["account"], "y": ["identifier"]}))
    assert decision(world, "t", {"x": "ext::sh", "y": "//evil.example/x"}) == "allow"


# --- One form -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("roles", "text", "expected"),
    [
        (["recipient"], "Ann <Ann@x.example>, bob", "rule_allow"),
        (["recipient"], "Ann <b@x.example>;c", "rule_allow"),
        (["recipient", "channel"], " eve@evil.example ", "rule_allow"),
        (["recipient", "channel"], "Eve <eve@evil.example>", "value_unstable"),
        (["recipient", "channel"], "bob;ann", "value_unstable"),
        (["channel", "recipient"], "EVE@evil.example", "value_unstable"),
        (["recipient", "identifier"], "bob;ann", "value_unstable"),
        (["channel", "command"], " C1 ", "value_unstable"),  # a command is sent as it stands
        (["account", "outbound-content"], " x", "value_unstable"),
        (["account", "outbound-content"], "x", "rule_allow"),
        (["account", "channel"], "https://X.example/", "value_unstable"),
        (["channel"], " https://X.example:443/a/../b", "rule_allow"),
        (["fetch-url", "outbound-content"], "https://x.example/", "rule_allow"),
        (["fetch-url", "outbound-content"], "https://X.example/", "value_unstable"),
        (["write-path", "outbound-content"], "{box}/a", "rule_allow"),
        (["write-path", "outbound-content"], "{box}/x/../a", "rule_allow"),
        (["write-path", "identifier"], "{box}/x/../a", "rule_allow"),
        (["write-path", "identifier", "outbound-content"], "{box}/x/../a", "rule_allow"),
        (["account"], {"a": {"b": " x "}}, "rule_allow"),
        (["account", "identifier"], {"a": {"b": [" x "]}}, "value_unstable"),
    ],
)
def test_what_is_sent_is_what_was_decided(place: Place, roles: list[str], text: Any, expected: str) -> None:
    value = text.replace("{box}", str(place.box)) if isinstance(text, str) else text
    found = verdict(place.world(OPEN, tool("t", {"x": roles})), "t", {"x": value})
    assert found.code == expected
    assert found.stage == ("resolve" if expected == "value_unstable" else "rules")


def test_the_form_that_is_sent_decides_no_other_mode(place: Place) -> None:
    modes = [{"roles": ["read-path"], "when": {"op": "list"}}, {"roles": ["delete-path"], "when": {"op": "delete"}}]
    world = place.world(OPEN, tool("t", {"path": modes, "op": ["account"]}))
    path = str(place.box / "a")
    assert decision(world, "t", {"path": path, "op": "list"}) == "allow"
    assert decision(world, "t", {"path": path, "op": " other "}) == "allow"  # all modes, both times
    for blank in (" list", "list ", "\u3000delete"):
        assert code(world, "t", {"path": path, "op": blank}) == "rule_allow"
    deny = rule("no", "deny", roles=["delete-path"], values={"role:delete-path": {"matches": ".*"}})
    strict = place.world([deny, *OPEN], tool("t", {"path": modes, "op": ["account"]}))
    assert decision(strict, "t", {"path": path, "op": " list"}) == "allow"
    for blank in (" delete", "delete\u3000", "other"):
        assert decision(strict, "t", {"path": path, "op": blank}) == "deny"
    nowhere = tool("t", {"n": [{"roles": ["none"], "when": {"op": "x"}}], "op": ["account"]})
    assert decision(place.world(OPEN, nowhere), "t", {"n": "y", "op": " x "}) == "allow"


def test_a_name_that_the_file_system_spells_otherwise_must_lead_to_itself(place: Place) -> None:
    (place.box / "e\u0301").mkdir()
    (place.box / "by").symlink_to("e\u0301")
    world = place.world([], *FILES)
    assert code(world, "read", {"path": f"{place.box}/by/x"}) == "value_unstable"
    (place.box / "plain").mkdir()
    (place.box / "too").symlink_to("plain")
    assert code(world, "read", {"path": f"{place.box}/too/x"}) == "contained"


def test_the_stray_strings_of_both_forms_are_compared(place: Place) -> None:
    world = place.world(OPEN, tool("t", {"to": ["recipient"]}))
    assert code(world, "t", {"to": "  ;/a/.mcp.json"}) == "path_protected"
    assert code(world, "t", {"to": ";/a/x;y/../../.mcp.json"}) == "path_protected"  # only as it is sent


def test_a_private_host_is_allowed_by_the_rule_that_names_it_only(place: Place) -> None:
    get = tool("get", {"url": ["fetch-url"]})
    named = rule("n", "allow", domains={"roles": ["fetch-url"], "allowed": ["10.0.0.7"]}, tool=["other"])
    elsewhere = rule("s", "allow", domains={"roles": ["send-url"], "allowed": ["10.0.0.7"]}, tool=["get"])
    for rules in ([named, *OPEN], [elsewhere, *OPEN]):
        assert code(place.world(rules, get), "get", {"url": "http://10.0.0.7/"}) == "no_rule"
        assert code(place.world(rules, get), "get", {"url": "http://x.example/"}) == "rule_allow"
    assert code(place.world(OPEN, get), "get", {"url": "http://10.0.0.7/"}) == "host_private"


def test_literals_have_every_form_of_the_role_or_argument(place: Place) -> None:
    mixed = tool("mixed", {"who": ["recipient", "identifier"], "p": ["read-path"]})
    by_role = rule("r", "deny", values={"role:identifier": {"equals": "Bob <BOB@x.example>"}})
    by_leaf = rule("l", "deny", values={"arg:p": {"in": ["~/Projects/../a"]}})
    world = place.world([by_role, by_leaf, *OPEN], mixed)
    assert code(world, "mixed", {"who": "bob@x.example"}) == "rule_deny"
    assert code(world, "mixed", {"p": str(place.home / "a")}) == "rule_deny"
    assert code(world, "mixed", {"p": str(place.home / "b"), "who": "ann@x.example"}) == "rule_allow"


def test_rules_that_do_not_load(place: Place) -> None:
    for conditions in (
        {"paths": {"roles": ["recipient"], "within": "/"}},
        {"domains": {"roles": ["account"], "allowed": ["x.example"]}},
        {"values": {"arg:nowhere": {"equals": 1}}},
    ):
        world = place.world([rule("x", "deny", **conditions), *OPEN], NOTE)
        assert code(world, "note", {"text": "x"}) == "artifact_malformed"


def test_a_task_narrows_and_expires(place: Place) -> None:
    world = place.world([rule("a", "allow", tool=["t"])], tool("t", {"to": ["recipient"], "where": ["channel"]}))
    task: Table = {"version": 1, "task": "x", "expiresAt": LATER, "rules": [rule("t", "allow", tool=["t"])]}
    assert verdict(world, "t", {"to": "bob"}, task=task) == Verdict("allow", "rules", "rule_allow")
    assert verdict(world, "t", {"to": "bob"}, task={**task, "rules": []}) == Verdict("deny", "task", "no_rule")
    assert code(world, "t", {"to": "bob"}, task={**task, "expiresAt": NOW}) == "task_expired"
    for broken in ({"version": 2}, {"rules": [rule("x", "allow")]}, {"rules": [rule("x", "permit", tool=["t"])]}):
        assert code(world, "t", {"to": "bob"}, task={**task, **broken}) == "task_malformed"
    nothing = replace(world, policy={**world.policy, "rules": []})
    assert decision(nothing, "t", {"to": "bob"}, task=task) == "deny"


# --- Paths, hosts and what no rule opens --------------------------------------------------------------------------

FILES = [
    tool("read", {"path": ["read-path"], "note": ["none"]}),
    tool("write", {"path": ["write-path"], "note": ["none"]}),
]
OPEN = [rule("all", "allow", server=["s"])]


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("read", "~/.ironcurtain/constitution.md", "path_protected"),
        ("read", "~/.IronCurtain/x", "path_protected"),
        ("read", "~/.ironcurtain/sandbox/x", "rule_allow"),
        ("read", "~/policies/compiled-policy.json", "path_protected"),
        ("read", "~/.cursor/mcp.json", "path_protected"),
        ("read", "~/Projects/app/.mcp.json", "path_protected"),
        ("read", "~", "path_ancestor"),
        ("write", "~/.cursor", "path_ancestor"),
        ("read", "~/Projects/CLAUDE.md", "rule_allow"),
        ("write", "~/Projects/CLAUDE.md", "path_steering"),
        ("write", "~/Projects/.git/hooks/x", "path_steering"),
        ("write", "~/Projects/.gitattributes", "path_steering"),
        ("read", "/proc/self/environ", "path_magic"),
        ("read", "/dev/fd/3", "path_magic"),
        ("read", "relative", "path_relative"),
        ("read", "~root/x", "path_spelling"),
        ("read", "/tmp/$HOME", "path_spelling"),
        ("read", "/tmp/*.txt", "path_wildcard"),
        ("read", "/tmp/[id].tsx", "rule_allow"),
        ("read", "/tmp/@(a).txt", "path_wildcard"),
        ("read", "/tmp/a\u1fefb", "path_spelling"),
        ("read", "~/Projects/[.x]mcp.json", "path_protected"),
        ("read", "~/.[iI]roncurtain/x", "path_protected"),
        ("read", "/proc/sel[f]/environ", "path_magic"),
        ("write", "~/Projects/.gi[t]/hooks/x", "path_steering"),
        ("read", "~/Projects/[xyz]mcp.json", "path_protected"),
        ("read", "~/Projects/.mc[]n].json", "path_protected"),
        ("read", "~/Projects/.[[:alpha:]]cp.json", "path_protected"),
        ("read", "~/Projects/.m[[:alpha:]][.]json", "rule_allow"),
        ("read", "~/Projects/.mcp[]json", "rule_allow"),
        ("read", "~/[x]ironcurtain/x", "path_protected"),
        ("read", "/proc/[x]/environ", "path_magic"),
        ("read", "/proc/1[x]/environ", "path_magic"),
        ("read", "/de[x]/f[[:alpha:]]/3", "path_magic"),
        ("write", "~/Projects/CLAUDE[x]md", "path_steering"),
        ("write", "~/.curso[x]", "path_ancestor"),
        ("write", "~/Projects/.gi[x]modules", "path_steering"),
        ("write", "~/Projects/.github", "path_steering"),
        ("write", "~/Projects/.VSCode/", "path_steering"),
        ("write", "~/Projects/.githu[x]", "path_steering"),
        ("write", "~/Projects/.github/workflows", "rule_allow"),
        ("write", "~/Projects/.github/copilot-instructions.md", "path_steering"),
        ("write", "~/Projects/.vscode/x", "rule_allow"),
        ("write", "~/Projects/.vscode/tasks.json", "path_steering"),
        ("read", "~/Projects/.github", "rule_allow"),
    ],
)
def test_paths_that_no_rule_opens(place: Place, name: str, path: str, expected: str) -> None:
    found = verdict(place.world(OPEN, *FILES), name, {"path": path})
    assert found.code == expected
    asked = ("~", ".gitattributes", "modules", ".github", ".VSCode/", ".githu[x]", "tasks.json")
    at_most_escalate = expected != "rule_allow" and path.endswith(asked)
    assert found.decision == ("escalate" if at_most_escalate else "allow" if expected == "rule_allow" else "deny")


@pytest.mark.parametrize(
    "text",
    [
        "~/.ironcurtain/x",
        "file://{home}/%2eironcurtain/x",
        "/proc/self/mem",
        "./.mcp.json",
        " \t~/.ironcurtain/x",
        "/a/.mcp.json\nmore",
        "/a/.mcp.json\0more",
        "FILE://host/a/.mc\tp.json?x#y",
        "file:///a/.mcp.json%00x",
        "/a/[.]mcp.json",
        "/a/[xyz]mcp.json",
        "/a/.mc[]n].json",
        "/a/.[[:alpha:]]cp.json",
        "/a/[!x]mcp.json",
        "/proc/[x]/mem",
        "\u3000/a/.mcp.json",
        "\u00a0\u2003\u2028\u2800/a/.mcp.json",
        "\u200b\ufeff\x07\0/a/.mcp.json",
        "/a/.mcp.json ",
        "/a/.mcp.json\u3000\u200b\x07",
        "/a/.mcp.json \nmore",
        "file:///a/.mcp.json%20",
        "~home/.ironcurtain/x",
        " ~home/.ironcurtain/x",
        "jar:file:///a/.mcp.json",
        "JAR:View-Source:FILE:///a/.mcp.json",
        "file:\\\\host\\a\\.mcp.json",
        "file:///a%5C.mcp.json",
        "fi\tle:///a/.mcp.json",
    ],
)
def test_stray_strings_are_compared_with_the_protected_paths(place: Place, text: str) -> None:
    arguments = {"path": str(place.box / "a"), "note": text.replace("{home}", str(place.home))}
    assert verdict(place.world([], *FILES), "write", arguments).stage == "invariants"
    assert decision(place.world([], *FILES), "write", {**arguments, "note": str(place.home)}) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "~other/.ironcurtain/x",
        "x /a/.mcp.json",
        "/a/.mcp.jsonx",
        "/a\\.mcp.json",
        "profile:///a/.mcp.json",
        "/a/.mcp[]json",
    ],
)
def test_other_strings_are_no_strays(place: Place, text: str) -> None:
    assert decision(place.world([], *FILES), "write", {"path": str(place.box / "a"), "note": text}) == "allow"


def test_the_text_of_a_path_value_is_a_stray_string_elsewhere(place: Place) -> None:
    world = place.world(OPEN, *FILES)
    setup = {**world.policy["setup"], "pathBase": {"s": str(place.box)}}
    world = replace(world, policy={**world.policy, "setup": setup})
    text = " ~/.ironcurtain/x"  # as a path, a name that starts with a blank
    assert code(world, "read", {"path": text}) == "rule_allow"
    assert code(world, "read", {"path": text, "note": text}) == "path_protected"


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("read", "l/.mcp.json", "path_protected"),
        ("read", "l/second", "path_protected"),
        ("read", "l/.claude/settings.json", "path_protected"),
        ("read", "l/.claude/x", "contained"),
        ("write", "l/.claude/x", "path_steering"),
        ("write", "l/CLAUDE.md", "path_steering"),
        ("read", "l/CLAUDE.md", "contained"),
        ("write", "l/.git/hooks/x", "path_steering"),
        ("write", "l/into-git/x", "path_steering"),
        ("write", "l/.git/../x", "contained"),
        ("write", "l/.github", "path_steering"),
        ("write", "l/.github/x", "contained"),
        ("write", "l/.gitmodules", "path_steering"),
        ("write", "l/plain/.GIT/x", "path_steering"),
        ("write", "l/plain/x", "contained"),
        ("read", "l/plain/../../../home/.ironcurtain/x", "path_protected"),
    ],
)
def test_every_link_on_the_way_is_asked_about_its_own_place(place: Place, name: str, path: str, expected: str) -> None:
    (place.box / "l").mkdir()
    (place.box / "d" / "e").mkdir(parents=True)
    links = {
        ".mcp.json": "../a", "second": ".mcp.json", "CLAUDE.md": "../a", ".git": "../d", ".claude": "../d",
        "into-git": ".git/e", ".github": "../d", ".gitmodules": "../a", "plain": "../d",
    }  # fmt: skip
    for link, target in links.items():
        (place.box / "l" / link).symlink_to(target)
    found = verdict(place.world([], *FILES), name, {"path": f"{place.box}/{path}"})
    assert found.code == expected
    asked = path in ("l/.github", "l/.gitmodules")
    assert found.decision == ("allow" if expected == "contained" else "escalate" if asked else "deny")


def test_the_links_on_the_way_of_a_stray_string_are_asked_about_too(place: Place) -> None:
    (place.box / ".mcp.json").symlink_to("loop")
    (place.box / "loop").symlink_to("loop")
    (place.box / "by").symlink_to(".mcp.json")
    (place.box / "CLAUDE.md").symlink_to("a")
    (place.box / "e\u0301").symlink_to(place.ironcurtain)
    for name, expected in (("by", "path_protected"), ("e\u0301/x", "path_protected"), ("CLAUDE.md", "contained")):
        arguments = {"path": f"{place.box}/a", "note": f"{place.box}/{name}"}
        assert code(place.world([], *FILES), "write", arguments) == expected, name


def test_links_are_followed_before_dots_and_loops_are_refused(place: Place) -> None:
    (place.box / "up").symlink_to(place.out)
    (place.box / "loop").symlink_to("loop")
    (place.box / "magic").symlink_to("/proc/self")
    world = place.world([], *FILES)
    assert code(world, "read", {"path": f"{place.box}/x/../y"}) == "contained"
    assert code(world, "read", {"path": f"{place.box}/up/y"}) == "no_rule"
    assert code(world, "read", {"path": f"{place.box}/up/../box/y"}) == "contained"
    assert code(world, "read", {"path": f"{place.box}/loop/y"}) == "path_loop"
    assert code(world, "read", {"path": f"{place.box}/magic/../x"}) == "path_magic"
    assert code(world, "read", {"path": f"{place.box}2/y"}) == "no_rule"


def test_a_hard_linked_file_is_inside_for_a_deny_only(place: Place) -> None:
    (place.out / "secret").write_text("s")
    os.link(place.out / "secret", place.box / "twin")
    twin = {"path": str(place.box / "twin")}
    within = {"roles": ["read-path"], "within": str(place.box)}
    assert code(place.world([], *FILES), "read", twin) == "no_rule"
    assert code(place.world([rule("a", "allow", paths=within)], *FILES), "read", twin) == "no_rule"
    assert code(place.world([rule("d", "deny", paths=within), *OPEN], *FILES), "read", twin) == "rule_deny"
    elsewhere = rule("e", "escalate", roles=["read-path"], elsewhere=True)
    assert code(place.world([elsewhere], *FILES), "read", twin) == "path_shared"
    assert verdict(place.world(OPEN, *FILES), "read", twin) == Verdict("escalate", "invariants", "path_shared")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.example.com/x", "rule_allow"),
        ("https://API.Example.com:443/x", "rule_allow"),
        ("https://example.com/", "no_rule"),
        ("https://badexample.com/", "no_rule"),
        ("10.0.0.7:8080", "rule_allow"),
        ("http://printer/", "host_private"),
        ("http://printer.local/", "host_private"),
        ("http://x.home.arpa/", "host_private"),
        ("http://nonlocal.example.com/", "rule_allow"),
        ("http://10.0.0.8/", "host_private"),
        ("http://169.254.169.254/", "host_metadata"),
        ("http://[::1]/", "host_private"),
        ("http://[::ffff:10.0.0.7]/", "host_spelling"),
        ("http://127.1/", "host_spelling"),
        ("http://a@api.example.com/", "url_userinfo"),
        ("http://api.example.com:/", "url_spelling"),
        ("ftp://api.example.com/", "url_scheme"),
        ("javascript:alert(1)", "url_scheme"),
        ("https://p\u0430ypal.example.com/", "host_confusable"),
    ],
)
def test_hosts(place: Place, url: str, expected: str) -> None:
    allow = rule("a", "allow", domains={"roles": ["fetch-url"], "allowed": ["*.example.com", "10.0.0.7"]})
    assert code(place.world([allow], tool("get", {"url": ["fetch-url"]})), "get", {"url": url}) == expected


def test_the_domain_of_an_address(place: Place) -> None:
    allow = rule("a", "allow", domains={"roles": ["recipient"], "allowed": ["x.example"]})
    world = place.world([allow], MAIL)
    assert decision(world, "send_mail", {"to": "Ann Lee <Ann@X.example>"}) == "allow"
    assert decision(world, "send_mail", {"to": "Ann Lee <Ann@X.example>, bob"}) == "deny"
    assert decision(world, "send_mail", {"to": '"x, y" <a@x.example>; b@y.example'}) == "deny"


def test_unknown_drifted_and_overlapping(place: Place) -> None:
    drifted = {**FILES[0], "pin": "sha256:0"}
    assert code(place.world(OPEN), "read", {"path": "/x"}) == "tool_unknown"
    assert code(place.world(OPEN, drifted), "read", {"path": "/x"}) == "tool_drift"
    world = place.world(OPEN, *FILES)
    setup = {**world.policy["setup"], "sandbox": str(place.home)}
    assert code(replace(world, policy={**world.policy, "setup": setup}), "read", {"path": "/x"}) == "sandbox_overlap"
    assert code(world, "read", {"path": "/x", "extra": 1}) == "argument_unknown"


# --- Access layers ------------------------------------------------------------------------------------------------

REMOVE = tool("remove", {"path": ["delete-path"]})
SHELL = tool("bash", {"command": ["command"]})
NOTE = tool("note", {"text": ["none"]})


@pytest.mark.parametrize(
    ("config", "principal", "name", "expected"),
    [
        ({}, {}, "note", "rule_allow"),
        ({"tools": {"deny": ["NOTE "]}}, {}, "note", "access_denied"),
        ({"tools": {"allow": ["s/no*"]}}, {}, "note", "rule_allow"),
        ({"tools": {"allow": ["group:fs"]}}, {}, "note", "access_not_listed"),
        ({"tools": {"allow": ["group:fs"]}}, {}, "remove", "rule_allow"),
        ({"tools": {"allow": ["group:fs"], "alsoAllow": ["note"]}}, {}, "note", "rule_allow"),
        ({"tools": {"alsoAllow": ["x"]}}, {}, "note", "rule_allow"),
        ({"tools": {"deny": ["group:all"], "groups": {"all": ["group:runtime"]}}}, {}, "bash", "access_denied"),
        ({"tools": {"deny": ["group:a"], "groups": {"a": ["group:b"], "b": ["group:a"]}}}, {}, "note", "rule_allow"),
        ({"tools": {"deny": ["bash_execute"]}}, {}, "bash", "access_denied"),
        ({"tools": {"deny": ["s/sh"], "aliases": {"sh": "bash"}}}, {}, "bash", "access_denied"),
        ({"tools": {"deny": ["not*"], "aliases": {"note": "memo"}}}, {}, "note", "access_denied"),
        ({"tools": {"allow": ["not*"], "aliases": {"note": "memo"}}}, {}, "note", "access_not_listed"),
        ({"agents": {"a": {}, " A": {}}}, {}, "note", "artifact_malformed"),
        ({"tools": {"deny": ["sweep*"]}}, {}, "old/sweep_all", "access_denied"),
        ({"tools": {"allow": ["sweep*"]}}, {}, "old/sweep_all", "access_not_listed"),
        ({"tools": {"profile": "coding", "allow": ["note"]}}, {}, "note", "access_not_listed"),
        ({"tools": {"profile": "analysis"}}, {}, "read", "rule_allow"),
        ({"tools": {"profile": "analysis"}}, {}, "remove", "access_not_listed"),
        ({"tools": {"byProvider": {"openai": {"deny": ["*"]}}}}, {"provider": "openai/gpt-4"}, "note", "access_denied"),
        (
            {"tools": {"byProvider": {"openai": {"deny": ["*"]}, "openai/gpt-4": {}}}},
            {"provider": "openai/gpt-4"},
            "note",
            "rule_allow",
        ),
        ({"agents": {"coder": {"tools": {"allow": ["group:fs"]}}}}, {"agent": "coder"}, "note", "access_not_listed"),
        ({"agents": {"coder": {"tools": {"allow": ["group:fs"]}}}}, {"agent": "other"}, "note", "rule_allow"),
        ({"groups": {"a": {"tools": {"deny": ["note"]}}}}, {"group": "a", "member": "ann"}, "note", "access_denied"),
        (
            {"groups": {"a": {"tools": {"deny": ["note"]}, "toolsByMember": {"ann": {"allow": ["*"]}}}}},
            {"group": "a", "member": "ann"},
            "note",
            "rule_allow",
        ),
        ({}, {"subagent": True}, "remove", "access_denied"),
        ({}, {"subagent": True}, "bash", "access_denied"),
        ({}, {"subagent": False}, "bash", "rule_allow"),
        ({"tools": {"subagents": {"tools": {"deny": ["n*"]}}}}, {"subagent": True}, "note", "access_denied"),
    ],
)
def test_access_layers(place: Place, config: Table, principal: Table, name: str, expected: str) -> None:
    world = place.world(OPEN, REMOVE, SHELL, NOTE, FILES[0], tool("old/sweep_all", {}), config=config)
    arguments = {"remove": {"path": "/tmp/x"}, "bash": {"command": "ls"}, "read": {"path": "/tmp/x"}}
    assert code(world, name, arguments.get(name, {}), principal=principal) == expected


# --- Exceptions, joined questions, lists of directories, groups of roles, folding ---------------------------------

TO_CUSTOMERS = {"lists": [{"roles": ["recipient"], "allowed": ["@contacts"]}]}


def test_an_exception_of_a_deny_is_read_as_in_an_allow(place: Place) -> None:
    world = place.world([rule("d", "deny", tool=["send_mail"], unless=[TO_CUSTOMERS]), *ANY_MAIL], MAIL)
    for to in ("bob", ["bob", "ann"]):
        assert decision(world, "send_mail", {"to": to, "body": "x"}) == "allow"
    for to in ("eve", ["bob", "eve"], '"bob', ["bob", ","], "BOB", "@bob", []):
        assert decision(world, "send_mail", {"to": to, "body": "x"}) == "deny"


def test_an_exception_of_an_allow_is_read_as_in_a_deny(place: Place) -> None:
    mail = tool("send_mail", {"to": {"roles": ["recipient"]}, "body": ["outbound-content"]})
    world = place.world([rule("a", "allow", tool=["send_mail"], unless=[TO_CUSTOMERS])], mail)
    assert decision(world, "send_mail", {"to": "eve", "body": "x"}) == "allow"
    for to in ("bob", ["bob", "eve"], '"eve', ["eve", ","], "BOB", "@bob", []):
        assert decision(world, "send_mail", {"to": to, "body": "x"}) == "deny"


def test_groups_of_exceptions_are_not_combined(place: Place) -> None:
    groups = [
        {"values": {"role:recipient": {"equals": "bob"}, "role:outbound-content": {"equals": "a"}}},
        {"values": {"role:recipient": {"equals": "ann"}, "role:outbound-content": {"equals": "b"}}},
    ]
    world = place.world([rule("d", "deny", tool=["send_mail"], unless=groups), *ANY_MAIL], MAIL)
    for to, body, expected in (
        ("bob", "a", "allow"),
        ("ann", "b", "allow"),
        ("bob", "b", "deny"),
        ("ann", "a", "deny"),
    ):
        assert decision(world, "send_mail", {"to": to, "body": body}) == expected


def test_an_exception_names_no_roles(place: Place) -> None:
    blanket = rule("a", "allow", tool=["send_mail"], unless=[{"values": {"role:recipient": {"equals": "eve"}}}])
    world = place.world([blanket], MAIL)
    assert decision(world, "send_mail", {"to": "bob", "attachments": ["~/Documents/x"]}) == "allow"
    assert decision(world, "send_mail", {"to": "eve", "attachments": ["~/Documents/x"]}) == "deny"


def test_errors_pass_in_an_exception_of_an_allow_only(place: Place) -> None:
    pay = tool("pay", {"who": ["account"], "amount": ["amount"]})
    small = [{"values": {"role:amount": {"maximum": 100}}}]
    large = [{"values": {"role:amount": {"minimum": 100}}}]
    asks = place.world([rule("e", "escalate", tool=["pay"], unless=small), rule("a", "allow", tool=["pay"])], pay)
    permits = place.world([rule("a", "allow", tool=["pay"], unless=large)], pay)
    for amount, asked, permitted in ((5, "allow", "allow"), (500, "escalate", "deny"), ("5", "escalate", "deny")):
        assert decision(asks, "pay", {"who": "acme", "amount": amount}) == asked
        assert decision(permits, "pay", {"who": "acme", "amount": amount}) == permitted


def test_an_error_in_the_rule_itself_is_not_excepted(place: Place) -> None:
    pay = tool("pay", {"who": ["account"], "amount": ["amount"]})
    unless = [{"lists": [{"roles": ["account"], "allowed": ["acme"]}]}]
    asks = rule("e", "escalate", values={"arg:amount": {"minimum": 100}}, unless=unless)
    world = place.world([asks, rule("a", "allow", tool=["pay"])], pay)
    for amount, expected in ((5, "allow"), (500, "allow"), ("500", "deny")):
        assert decision(world, "pay", {"who": "acme", "amount": amount}) == expected
    assert decision(world, "pay", {"who": "other", "amount": 500}) == "escalate"


def test_a_joined_escalate_permits_nothing(place: Place) -> None:
    many = rule("e", "escalate", values={"role:recipient": {"minItems": 2}}, joined=True)
    ends = rule("e", "escalate", values={"role:recipient": {"minItems": 2}})
    for rules, expected in (
        ([many], "deny"),
        ([many, *TO_BOB], "deny"),
        ([many, *ANY_MAIL], "escalate"),
        ([many, rule("d", "deny", roles=["recipient"])], "deny"),
        ([ends, rule("d", "deny", roles=["recipient"])], "escalate"),
    ):
        assert decision(place.world(rules, MAIL), "send_mail", {"to": "bob, eve"}) == expected
    assert decision(place.world([many, *ANY_MAIL], MAIL), "send_mail", {"to": "eve"}) == "allow"


def test_what_is_contained_is_asked_about_by_a_joined_escalate(place: Place) -> None:
    inside = {"paths": [str(place.box / "a")]}
    joined = rule("e", "escalate", roles=["read-path"], joined=True)
    assert decision(place.world([joined], *TOOLS), "read_multiple_files", inside) == "escalate"
    elsewhere = rule("e", "escalate", roles=["read-path"], joined=True, elsewhere=True)
    assert decision(place.world([elsewhere], *TOOLS), "read_multiple_files", inside) == "allow"


def test_an_escalate_covers_what_is_carried_beside_its_values(place: Place) -> None:
    asks = rule("e", "escalate", roles=["recipient"])
    assert decision(place.world([asks], MAIL), "send_mail", {"to": "bob", "body": "x"}) == "escalate"
    assert decision(place.world([asks], MAIL), "send_mail", {"body": "x"}) == "deny"
    denies = rule("d", "deny", roles=["recipient"], lists=[{"roles": ["recipient"], "allowed": ["eve"]}])
    body = rule("b", "allow", roles=["outbound-content"])
    assert decision(place.world([denies, asks, body], MAIL), "send_mail", {"to": "bob", "body": "x"}) == "escalate"


def test_an_escalate_elsewhere_covers_what_is_carried_beside_what_is_not_contained(place: Place) -> None:
    share = tool("share", {"path": ["read-path"], "note": ["outbound-content"]})
    world = place.world([rule("e", "escalate", roles=["read-path"], elsewhere=True)], share)
    inside, outside = str(place.box / "a"), str(place.out / "a")
    assert decision(world, "share", {"path": [inside, outside], "note": "x"}) == "escalate"
    assert decision(world, "share", {"path": inside}) == "allow"
    assert decision(world, "share", {"path": inside, "note": "x"}) == "deny"
    assert decision(world, "share", {"path": [inside, ""], "note": "x"}) == "escalate"  # unknown is not contained


def test_a_path_is_inside_one_of_several_directories(place: Place) -> None:
    within = {"roles": ["read-path"], "within": ["~/Projects", str(place.out)]}
    world = place.world([rule("a", "allow", paths=within)], *TOOLS)
    for paths, expected in (
        (["~/Projects/x", str(place.out / "s")], "allow"),
        (["~/Documents/x"], "deny"),
        (["~/Projects/x", "~/Projects2/x"], "deny"),
    ):
        assert decision(world, "read_multiple_files", {"paths": paths}) == expected


def test_a_group_of_roles_counts_together(place: Place) -> None:
    invite = tool("invite", {"to": ["recipient"], "cc": ["attendee"]})
    world = place.world(
        [rule("d", "deny", values={"role:recipient+attendee": {"minItems": 3}}), rule("a", "allow", tool=["invite"])],
        invite,
    )
    for to, cc, expected in (("a, b", "c", "deny"), ("a", "b", "allow"), ("", "a, b, c", "deny"), ("a", ",", "deny")):
        assert decision(world, "invite", {"to": to, "cc": cc}) == expected
    named = place.world([rule("a", "allow", values={"role:recipient+attendee": {"in": ["a", "b"]}})], invite)
    assert decision(named, "invite", {"to": "a", "cc": "b"}) == "allow"
    assert decision(named, "invite", {"to": "a", "cc": "c"}) == "deny"


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("#General", "general"),
        ("@GENERAL", "#general"),
        (" ##@general ", "general"),
        ("# general", "general"),
        ("\uff03\uff27eneral", "#general"),
        ("\ufb01le", "FILE"),
        ("stra\u00dfe", "STRASSE"),
        ("\u017fecret", "SECRET"),
        ("#", " # "),
    ],
)
def test_texts_are_compared_folded(text: str, like: str) -> None:
    assert reference.folded_text(text) == reference.folded_text(like)


@pytest.mark.parametrize(("text", "unlike"), [("#", "@"), ("general#", "general"), ("g eneral", "general"), ("#", ""), ("gen\u0435ral", "general")])  # fmt: skip
def test_folding_keeps_what_is_different(text: str, unlike: str) -> None:
    assert reference.folded_text(text) != reference.folded_text(unlike)


def test_a_deny_compares_folded_and_an_allow_exactly(place: Place) -> None:
    post = tool("post", {"channel": ["channel"], "text": ["none"]})
    for conditions in (
        {"lists": [{"roles": ["channel"], "allowed": ["#Staff"]}]},
        {"values": {"role:channel": {"equals": "#Staff"}}},
        {"values": {"arg:channel": {"in": [7, "#Staff"]}}},
    ):
        denies = place.world([rule("d", "deny", **conditions), rule("a", "allow", tool=["post"])], post)
        allows = place.world([rule("a", "allow", tool=["post"], **conditions)], post)
        for channel in ("staff", "@STAFF", "\uff33taff", "#Staff"):
            assert decision(denies, "post", {"channel": channel}) == "deny"
            assert decision(allows, "post", {"channel": channel}) == ("allow" if channel == "#Staff" else "deny")
        assert decision(denies, "post", {"channel": "staff2"}) == "allow"


def test_a_pattern_is_also_asked_of_the_compatibility_form_in_a_deny(place: Place) -> None:
    note = tool("note", {"text": ["outbound-content"]})
    secret = {"values": {"role:outbound-content": {"matches": "secret"}}}
    wide = {"values": {"role:outbound-content": {"matches": "\uff53ecret"}}}
    for conditions in (secret, wide):
        denies = place.world([rule("d", "deny", **conditions), rule("a", "allow", tool=["note"])], note)
        assert decision(denies, "note", {"text": "\uff53ecret"}) == "deny"
        assert decision(denies, "note", {"text": "Secret"}) == "allow"
    allows = place.world([rule("a", "allow", **secret)], note)
    assert decision(allows, "note", {"text": "secret"}) == "allow"
    assert decision(allows, "note", {"text": "\uff53ecret"}) == "deny"


@pytest.mark.parametrize("role", ["place", "host"])
def test_place_and_host_are_roles_of_places(place: Place, role: str) -> None:
    put = tool("put", {"where": [role], "path": ["read-path"]})
    evil = rule("d", "deny", domains={"roles": [role], "allowed": ["evil.example"]})
    world = place.world([evil, rule("a", "allow", tool=["put"])], put)
    for where in ("git@evil.example:x", "evil.example/x", "https://EVIL.example/"):
        assert decision(world, "put", {"where": where}) == "deny"
    assert decision(world, "put", {"where": "good.example/x"}) == "allow"
    assert code(world, "put", {"where": "169.254.169.254/x"}) == "host_metadata"
    reads = place.world([rule("a", "allow", roles=[role]), rule("r", "allow", roles=["read-path"])], put)
    assert decision(reads, "put", {"where": "wiki", "path": "~/Documents/x"}) == "deny"  # reading is not sending
    assert decision(reads, "put", {"where": "wiki"}) == "allow"


@pytest.mark.parametrize(
    "changed",
    [
        {"if": {"unless": []}},
        {"if": {"unless": [{}]}},
        {"if": {"unless": {"values": {"role:recipient": {"equals": "bob"}}}}},
        {"if": {"unless": [{"tool": ["send_mail"]}]}},
        {"if": {"unless": [{"roles": ["recipient"]}]}},
        {"if": {"unless": [{"origin": {"roles": ["recipient"], "from": "result"}}]}},
        {"if": {"unless": [{"unless": [{"values": {"role:recipient": {"equals": "bob"}}}]}]}},
        {"if": {"unless": [{"lists": [{"roles": ["recipient"], "allowed": ["@nobody"]}]}]}},
        {"if": {"values": {"role:recipient+": {"equals": "x"}}}},
        {"if": {"paths": {"roles": ["read-path"], "within": []}}},
        {"if": {"paths": {"roles": ["read-path"], "within": ["/a", "b"]}}},
        {"joined": True},
        {"joined": True, "then": "allow", "if": {"tool": ["*"]}},
        {"then": "allow", "if": {"unless": [{"values": {"role:recipient": {"equals": "bob"}}}]}},
    ],
)
def test_exceptions_and_joined_rules_that_do_not_load(place: Place, changed: Table) -> None:
    fine = {"name": "r", "if": {"unless": [{"values": {"role:recipient": {"equals": "bob"}}}]}, "then": "deny"}
    assert verdict(place.world([fine, *ANY_MAIL], MAIL), "send_mail", {"to": "bob"}).stage == "rules"
    assert verdict(place.world([{**fine, **changed}], MAIL), "send_mail", {"to": "bob"}).stage == "load"
