"""Attacks that once worked. Each names the invariant that stops its class; beside it stands what must keep working."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import pytest

from ironcurtain.artifacts.policy import load_policy
from ironcurtain.errors import ArtifactError
from ironcurtain.mediation.decide import decide_bytes
from ironcurtain.wire import schema
from tests.support import FILE_TOOLS, NOW, Place, annotated, call, decide, judge, outcome, tool

BLANKET = [{"name": "all", "if": {"server": ["fs"]}, "then": "allow"}]


def deny(name: str = "no", **conditions: Any) -> dict[str, Any]:
    return {"name": name, "if": conditions, "then": "deny"}


def allow(name: str = "yes", **conditions: Any) -> dict[str, Any]:
    return {"name": name, "if": conditions, "then": "allow"}


# INVARIANT: every argument that is there makes at least one claim, or is empty by the rules of emptiness.


@pytest.mark.parametrize("to", [",", ";", " , ;", [";"], ["bob", ","]])
def test_separators_do_not_make_a_recipient_vanish(place: Place, to: Any) -> None:
    mail = tool("send", {"to": ["recipient"], "file": {"roles": ["read-path"], "absent": "nothing"}}, required=["to"])
    loaded = place.load([allow(paths={"roles": ["read-path"], "within": "{root}/p"})], [mail])
    assert outcome(loaded, call("send", {"to": to, "file": f"{place.root}/p/x"})) == "deny"


# INVARIANT: what is compared with the protected paths is what is sent, as well as what came in.


@pytest.mark.parametrize("role", ["repository", "channel", "recipient", "account", "none", "outbound-content"])
@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u3000", "\t"])
def test_a_blank_in_front_hides_no_protected_path(place: Place, role: str, blank: str) -> None:
    loaded = place.load(BLANKET, [tool("t", {"x": [role]})])
    for value in (f"{blank}{place.ironcurtain}/policy", [f"{blank}{place.ironcurtain}/policy"]):
        assert outcome(loaded, call("t", {"x": value})) == "deny"
    assert outcome(loaded, call("t", {"x": "plain"})) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "FILE://{home}/.ironcurtain/p", "file:{home}/.ironcurtain/p", "file://{home}/.iron\tcurtain/p", "file://{home}/.claude.json?x",
        "file://{home}/.claude.json#x", "{home}/.claude.json\0", "{home}/.claude.json\n", "file://{home}/a/file://b/../../../.claude.json",
    ],
)  # fmt: skip
def test_no_spelling_of_a_stray_string_reaches_what_is_protected(place: Place, text: str) -> None:
    loaded = place.load(BLANKET, [tool("t", {"note": ["none"]})])
    assert outcome(loaded, call("t", {"note": place.fill(text)})) == "deny"


def test_a_relative_file_url_is_read_both_ways(place: Place) -> None:
    loaded = place.load(BLANKET, [tool("t", {"note": ["none"]})])
    assert outcome(loaded, call("t", {"note": f"file:{str(place.ironcurtain)[1:]}/p"})) == "deny"
    assert outcome(loaded, call("t", {"note": "file:notes.txt"})) == "allow"


@pytest.mark.parametrize(
    "command",
    ["cat {home}/.ironcurtain/p", "cat --file={home}/.ironcurtain/p", "cat '~/.ironcurtain/p'", "x;cat ~/.claude.json"],
)
def test_the_words_of_a_command_are_compared_too(place: Place, command: str) -> None:
    loaded = place.load(BLANKET, [tool("run", {"command": ["command"]})])
    assert outcome(loaded, call("run", {"command": place.fill(command)})) == "deny"
    assert outcome(loaded, call("run", {"command": "cat ~/notes.txt"})) == "allow"


# INVARIANT: an argument of the schema that has no entry cannot be used.


@pytest.mark.parametrize(
    "branch", [{"type": "object", "properties": {"path": {}}}, {"type": "array", "items": {"properties": {"path": {}}}}]
)
def test_an_unannotated_branch_of_a_union_is_not_free_form(place: Place, branch: Any) -> None:
    definition = {"name": "t", "inputSchema": {"properties": {"a": {"anyOf": [{"type": "string"}, branch]}}}}
    loaded = place.load(BLANKET, [tool("t", {"a": ["none"]}, definition=definition)])
    for value in ({"path": "/etc/shadow"}, [{"path": "/etc/shadow"}]):
        assert outcome(loaded, call("t", {"a": value})) == "deny"
    assert outcome(loaded, call("t", {"a": "x"})) == "allow"


# INVARIANT: the form that is checked is the form that is sent, keys and siblings included.


@pytest.mark.parametrize(
    ("role", "key"), [("recipient", '"eve@evil.example, x" <BOB@corp.example>'), ("channel", " #ops ")]
)
def test_a_key_is_sent_as_it_was_checked(place: Place, role: str, key: str) -> None:
    rules = [allow(lists=[{"roles": [role], "allowed": ["bob@corp.example", "#ops", "hi"]}])]
    loaded = place.load(rules, [tool("t", {"x": [role]})])
    assert outcome(loaded, call("t", {"x": {key: "hi"}})) == "deny"
    assert outcome(loaded, call("t", {"x": {"hi": "hi"}})) == "allow"


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        ({"c": ["channel"], "t": [{"roles": ["none"]}, {"roles": ["command"], "when": {"c": "#ops"}}]}, "sibling"),
        ({"c": ["none"], "t": [{"roles": ["none"]}, {"roles": ["command"], "when": {"d": "x"}}]}, "name one"),
    ],
)
def test_a_mode_hangs_on_no_value_that_is_rewritten_or_unknown(place: Place, args: Any, hint: str) -> None:
    with pytest.raises(ArtifactError) as refused:
        place.load(BLANKET, [tool("t", args)])
    assert hint in refused.value.help


@pytest.mark.parametrize("target", ["$(id)", "a*", "x\ny", "a\u202eb", "a\\b", "`id`"])
def test_a_link_brings_back_nothing_that_was_refused(place: Place, target: str) -> None:
    (place.sandbox / "link").symlink_to(target)
    assert decide(place.load([], FILE_TOOLS), call("read", {"path": "link"})).stage.value == "resolve"


def test_normalisation_brings_back_nothing_that_was_refused(place: Place) -> None:
    assert decide(place.load([], FILE_TOOLS), call("read", {"path": "\u1fefid\u1fef"})).code == "path_spelling"


def test_a_decision_on_what_is_sent_is_the_same_decision(place: Place) -> None:
    loaded = place.load(BLANKET, [tool("t", {"w": ["repository"], "to": ["recipient"], "a": ["account"]})])
    request = call("t", {"w": " HTTPS://Example.com:443/x ", "to": "Ann <ANN@x.example>;bob", "a": " acc "})
    judged = judge(loaded, request)
    assert judged.call is not None
    assert judged.call.arguments == {"w": "https://example.com/x", "to": "ann@x.example, bob", "a": "acc"}
    again = judge(loaded, call("t", judged.call.arguments))
    assert again.call is not None
    assert again.call.arguments == judged.call.arguments


# INVARIANT: a literal in a condition has every form that the value can have.


@pytest.mark.parametrize(
    ("args", "condition", "arguments"),
    [
        ({"path": ["read-path"]}, {"values": {"arg:path": {"equals": "~/secret"}}}, {"path": "~/secret"}),
        ({"to": ["recipient"]}, {"values": {"arg:to": {"in": ["Boss@corp.example"]}}}, {"to": "Boss@corp.example"}),
        ({"r": ["repository", "send-url"]}, {"lists": [{"roles": ["repository"], "allowed": ["https://git.evil.example"]}]}, {"r": "https://git.evil.example"}),
        ({"r": ["repository"]}, {"domains": {"roles": ["repository"], "allowed": ["evil.example"]}}, {"r": "https://evil.example/x"}),
        ({"a": ["account"]}, {"lists": [{"roles": ["account"], "allowed": ["prod"]}]}, {"a": " prod"}),
        ({"a": ["account"]}, {"values": {"role:account": {"equals": 10_000_000_000_000_000}}}, {"a": 1e16}),
        ({"c": ["command"]}, {"values": {"role:command": {"matches": "rm( .*)?"}}}, {"c": " rm -rf x"}),
        ({"c": ["command"]}, {"values": {"role:command": {"matches": "rm( .*)?"}}}, {"c": "(rm -rf x)"}),
        ({"c": ["command"]}, {"values": {"role:command": {"matches": "rm( .*)?"}}}, {"c": "! rm -rf x"}),
        ({"c": ["command"]}, {"values": {"role:command": {"matches": "rm .*"}}}, {"c": "rm\t-rf x"}),
        ({"c": ["command"]}, {"values": {"role:command": {"matches": "rm .*"}}}, {"c": "rm$IFS-rf x"}),
        ({"c": ["command"]}, {"values": {"role:command": {"matches": "rm .*"}}}, {"c": "\\rm -rf x"}),
        ({"t": ["recipient"]}, {"domains": {"roles": ["recipient"], "allowed": ["evil.example"]}}, {"t": "eve\uff20evil.example"}),
        ({"t": ["recipient"]}, {"domains": {"roles": ["recipient"], "allowed": ["evil.example"]}}, {"t": "=?utf-8?q?eve=40evil.example?="}),
        ({"t": ["recipient"]}, {"domains": {"roles": ["recipient"], "allowed": ["evil.example"]}}, {"t": "eve%evil.example@corp.example"}),
    ],
)  # fmt: skip
def test_a_deny_meets_what_it_speaks_of(place: Place, args: Any, condition: Any, arguments: Any) -> None:
    loaded = place.load([deny(**condition), *BLANKET], [tool("t", args)])
    assert outcome(loaded, call("t", arguments)) == "deny"


@pytest.mark.parametrize("channel", ["#prod\u200b", "\ufeff#prod", "#pr\u00adod", "#prod\ufe0f"])
def test_an_invisible_character_makes_no_other_channel(place: Place, channel: str) -> None:
    loaded = place.load(
        [deny(lists=[{"roles": ["channel"], "allowed": ["#prod"]}]), *BLANKET], [tool("t", {"c": ["channel"]})]
    )
    assert outcome(loaded, call("t", {"c": channel})) == "deny"
    assert outcome(loaded, call("t", {"c": "#\u958b\u767a"})) == "allow"


@pytest.mark.parametrize(
    "conditions",
    [
        {"values": {"role:Read-Path": {"equals": "x"}}}, {"values": {"arg:pth": {"equals": "x"}}},
        {"paths": {"roles": ["repository"], "within": "/srv"}}, {"domains": {"roles": ["read-path"], "allowed": ["x.example"]}},
    ],
)  # fmt: skip
def test_a_condition_that_can_never_hold_is_refused(place: Place, conditions: Any) -> None:
    with pytest.raises(ArtifactError):
        place.load([deny(**conditions)], FILE_TOOLS)


# INVARIANT: a deny in an access layer catches a tool by every name it goes by.


@pytest.mark.parametrize(
    ("server", "name", "config"),
    [
        ("shell", "bash", {"tools": {"deny": ["shell/bash"]}}),
        ("x", "sh", {"tools": {"deny": ["sh*"], "aliases": {"sh": "bash_execute"}}}),
        ("x", "sh", {"tools": {"deny": ["bash"], "aliases": {"sh": "bash"}}}),
        (
            "x",
            "sh",
            {"tools": {"deny": ["group:office"], "groups": {"office": ["x/sh"]}, "aliases": {"sh": "bash_execute"}}},
        ),
    ],
)
def test_an_alias_is_no_way_round_a_deny(place: Place, server: str, name: str, config: Any) -> None:
    rules = [{"name": "all", "if": {"server": ["*"]}, "then": "allow"}]
    loaded = place.load(rules, [tool(name, {}, server=server)], config)
    assert decide(loaded, call(name, {}, server)).code == "access_denied"


def test_two_spellings_of_one_agent_are_refused(place: Place) -> None:
    with pytest.raises(ArtifactError, match="same name"):
        place.load([], [], {"agents": {"Coder": {"tools": {"deny": ["*"]}}, "coder": {"tools": {}}}})


# INVARIANT: left out means what the schema says it means, wherever the default stands.


@pytest.mark.parametrize(
    "properties",
    [
        {"allOf": [{"properties": {"remote": {"default": "evil/x"}}}]},
        {"properties": {"remote": {"anyOf": [{"type": "string", "default": "evil/x"}, {"type": "null"}]}}},
        {"properties": {"remote": {"allOf": [{"default": "evil/x"}]}}},
        {"properties": {"remote": {"default": "evil/x"}}},
    ],
)
def test_a_default_is_found_in_every_branch(place: Place, properties: Any) -> None:
    entry = {"remote": {"roles": ["repository"], "absent": "nothing"}}
    made = tool("push", entry, definition={"name": "push", "inputSchema": properties})
    loaded = place.load(
        [
            deny(lists=[{"roles": ["repository"], "allowed": ["evil/x"]}]),
            allow(lists=[{"roles": ["repository"], "allowed": ["acme/app"]}]),
        ],
        [made],
    )
    assert outcome(loaded, call("push", {})) == "deny"
    assert outcome(loaded, call("push", {"remote": None})) == "deny"
    assert outcome(loaded, call("push", {"remote": "acme/app"})) == "allow"


# INVARIANT: what is protected is protected by any name, for any tool, from any rule.


def test_a_private_host_is_open_only_to_the_rule_that_names_it(place: Place) -> None:
    tools = [tool("dev_fetch", {"url": ["fetch-url"]}), tool("web_fetch", {"url": ["fetch-url"]})]
    rules = [
        allow("dev", tool=["dev_fetch"], domains={"roles": ["fetch-url"], "allowed": ["localhost"]}),
        allow("web", tool=["*"]),
    ]
    loaded = place.load(rules, tools)
    assert outcome(loaded, call("dev_fetch", {"url": "http://localhost:8080/"})) == "allow"
    assert outcome(loaded, call("web_fetch", {"url": "http://localhost:8080/"})) == "deny"


@pytest.mark.parametrize(
    "host", ["intranet", "host.docker.internal", "kubernetes.default.svc", "printer.local", "x.localdomain"]
)
def test_names_of_private_networks_are_private(place: Place, host: str) -> None:
    loaded = place.load(BLANKET, [tool("fetch", {"url": ["fetch-url"]})])
    assert decide(loaded, call("fetch", {"url": f"http://{host}/"})).code == "host_private"


def test_a_second_name_of_a_protected_file_asks_at_least(place: Place) -> None:
    secret = place.file("home/owner/.ironcurtain/policy/secret")
    os.link(secret, place.sandbox / "twin")
    assert outcome(place.load(BLANKET, FILE_TOOLS), call("read", {"path": "twin"})) == "escalate"


def test_a_policy_kept_inside_the_sandbox_exception_is_still_protected(place: Place) -> None:
    directory = place.write(
        "home/owner/.ironcurtain/sandbox/p", policy=place.policy(BLANKET), annotations=annotated(FILE_TOOLS)
    )
    loaded = load_policy(directory, place.surroundings())
    assert outcome(loaded, call("write", {"path": f"{directory}/compiled-policy.json", "content": ""})) == "deny"
    assert outcome(loaded, call("write", {"path": f"{directory}/other.json", "content": ""})) == "allow"


@pytest.mark.parametrize(
    "path", ["~/.ironcurtai[n]/policy/secret", "~/.ironcurtai@(n)/x", "~/.ironcurtai+(n)/x", "~/.[i]roncurtai[nx]/p"]
)
def test_brackets_do_not_spell_a_protected_name(place: Place, path: str) -> None:
    loaded = place.load(BLANKET, FILE_TOOLS)
    assert outcome(loaded, call("read", {"path": path})) == "deny"
    assert (
        outcome(loaded, call("read", {"path": "{box}/app/[id]/page.tsx".replace("{box}", str(place.sandbox))}))
        == "allow"
    )


# INVARIANT: one call cannot take the machine: time and memory grow with what was sent, up to a bound.

HEAVY = [
    *FILE_TOOLS,
    tool(
        "mail",
        {
            "to": ["recipient"],
            "files": {"roles": ["read-path"], "absent": "nothing"},
            "note": {"roles": ["none"], "absent": "nothing"},
        },
    ),
    tool("get", {"url": ["fetch-url"]}),
]
RULES = [
    deny("few", values={"role:recipient": {"minItems": 2_000}}),
    deny("cross", roles=["recipient"], paths={"roles": ["read-path"], "within": "/x"}),
    *BLANKET,
]


@pytest.mark.parametrize(
    "request_",
    [
        call("write", {"path": "a", "content": "/a" * 400_000}),
        call("write", {"path": "a", "content": "/" + "\ufdfa" * 1_000_000}),
        call("write", {"path": "a", "content": "/" + "\u0301" * 200_000 + "\u0323" * 200_000}),
        call("mail", {"to": "b", "note": {"\u0301" * 100_000 + "\u0323" * 100_000: 1}}),
        call("read", {"path": "[" * 2_040 + "-" * 2_040}),
        call("read", {"path": "{" * 2_040 + "," * 2_040}),
        call("read_many", {"paths": ["x"] * 90_000}),
        call("read_many", {"paths": ["/a" * 2_000] * 900}),
        call("mail", {"to": [f"u{i}" for i in range(5_000)]}),
        call("mail", {"to": [f"u{i}" for i in range(480)], "files": [f"f{i}" for i in range(480)]}),
        call("mail", {"to": "a" * 800_000}),
        call("mail", {"to": "a" + " " * 60_000 + "b"}),
        call("mail", {"to": "a <" * 10_000}),
        call("get", {"url": "." * 8_000 + ":x"}),
        call("get", {"url": "https://" + "a." * 4_000 + "/"}),
        call("info", {}, task={"version": 1, "task": "t", "expiresAt": "2099-01-01T00:00:00Z", "rules": [{"name": "x", "if": {"values": {"arg:path": {"matches": "a" * 400_000}}}, "then": "deny"}]}),
        call("info", {}, task={"version": 1, "task": "t", "expiresAt": "2099-01-01T00:00:00Z", "rules": [{"name": "x", "if": {"values": {"arg:path": {"matches": "a{" + "9" * 5_000 + "}"}}}, "then": "deny"}]}),
    ],
    ids=lambda request: json.dumps(request)[:60],
)  # fmt: skip
def test_a_heavy_call_is_decided_in_bounded_time(place: Place, request_: Any) -> None:
    loaded = place.load(RULES, HEAVY)
    data = json.dumps(request_, ensure_ascii=False).encode()
    start = time.process_time()
    decide_bytes(data, loaded, NOW)
    assert time.process_time() - start < 20, "it takes about a second; what this caught took minutes"


def test_links_cannot_make_a_short_path_a_long_way(place: Place) -> None:
    (place.sandbox / "d").mkdir()
    (place.sandbox / "l").symlink_to("d/../" * 800 + ".")
    loaded = place.load([], FILE_TOOLS)
    assert decide(loaded, call("read_many", {"paths": ["l/" * 30] * 200})).code == "path_loop"


@pytest.mark.parametrize(
    "properties",
    [
        {"example": {"$ref": "#/properties/example"}},
        {"example": {"type": "object", "properties": {"x": {"$ref": "#/properties/example"}}}},
        {"default": {"$ref": "#/properties/enum"}, "enum": {"$ref": "#/properties/default"}},
        {"x": {"enum": ["y" * 300_000]}},
    ],
)
def test_a_property_with_the_name_of_a_keyword_hides_nothing(properties: Any) -> None:
    with pytest.raises(ValueError, match=r"itself|larger"):
        schema.admit({"inputSchema": {"properties": properties}})


def test_a_property_with_the_name_of_a_keyword_is_fine() -> None:
    assert set(schema.admit({"inputSchema": {"properties": {"default": {}, "example": {}}}}).leaves) == {
        "default",
        "example",
    }


def test_doubling_branches_are_too_large() -> None:
    node: Any = {}
    for _ in range(22):
        node = {"allOf": [node, node]}
    with pytest.raises(ValueError, match=r"too large|larger"):
        schema.admit({"inputSchema": {"$defs": {"default": node}, "properties": {"x": {"$ref": "#/$defs/default"}}}})


def test_defaults_do_not_multiply(place: Place) -> None:
    items = {"properties": {"d": {"type": "array", "default": ["x"] * 1_000}}}
    made = tool(
        "t",
        {"l[].d": ["none"]},
        definition={"name": "t", "inputSchema": {"properties": {"l": {"type": "array", "items": items}}}},
    )
    assert decide(place.load(BLANKET, [made]), call("t", {"l": [{}] * 5_000})).code == "arguments_invalid"
