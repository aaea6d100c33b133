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


# INVARIANT: a name that is protected or obeyed is so wherever it leads.


@pytest.mark.parametrize(
    ("link", "to", "path"),
    [
        (".mcp.json", "tools/servers.json", ".mcp.json"), ("CLAUDE.md", "docs/agent.md", "CLAUDE.md"), (".git", "gitdir", ".git/hooks/pre-commit"),
        (".claude", "conf", ".claude/settings.json"), ("sub", ".", "sub/AGENTS.md"),
    ],
)  # fmt: skip
def test_a_link_takes_no_name_away(place: Place, link: str, to: str, path: str) -> None:
    for directory in ("tools", "docs", "gitdir/hooks", "conf"):
        (place.sandbox / directory).mkdir(parents=True)
    (place.sandbox / link).symlink_to(to)
    loaded = place.load([], FILE_TOOLS)
    assert outcome(loaded, call("write", {"path": path, "content": "x"})) == "deny"
    assert outcome(loaded, call("write", {"path": "docs/agent.md", "content": "x"})) == "allow"


def test_a_configuration_that_became_a_link_stays_protected(place: Place) -> None:
    loaded = place.load(BLANKET, FILE_TOOLS)
    place.link("home/owner/.claude.json", "{root}/elsewhere.json")
    for name in ("read", "write"):
        arguments = {"path": f"{place.home}/.claude.json", **({"content": "x"} if name == "write" else {})}
        assert decide(loaded, call(name, arguments)).code == "path_protected"


# INVARIANT: what is sent is what was decided; where a value is brought into another form, that form is decided too.


@pytest.mark.parametrize("role", ["account", "channel", "repository", "calendar", "membership"])
@pytest.mark.parametrize("text", ["~/.claude.json{b}", "{b}{home}/.ironcurtain/p", "{home}/.ironcurtain/p{b}"])
@pytest.mark.parametrize("blank", [" ", "\u2003", "\u1680", "\u202f", "\u00a0"])
def test_no_blank_around_it_hides_a_protected_path(place: Place, role: str, text: str, blank: str) -> None:
    loaded = place.load(BLANKET, [tool("t", {"x": [role]})])
    assert outcome(loaded, call("t", {"x": place.fill(text).replace("{b}", blank)})) == "deny"
    assert outcome(loaded, call("t", {"x": "plain"})) == "allow"


@pytest.mark.parametrize("role", ["none", "outbound-content", "identifier"])
@pytest.mark.parametrize("blank", ["\u2003", "\u200b", "\u2028", "\x1f"])
def test_what_a_server_may_trim_is_read_trimmed(place: Place, role: str, blank: str) -> None:
    loaded = place.load(BLANKET, [tool("t", {"x": [role]})])
    for text in (f"{blank}{place.ironcurtain}/p", f"{place.home}/.claude.json{blank}"):
        assert outcome(loaded, call("t", {"x": text})) == "deny"


@pytest.mark.parametrize("blank", ["{} ", " {}", "\u2003{}"])
def test_a_sibling_selects_the_mode_by_the_value_that_is_sent(place: Place, blank: str) -> None:
    modes = [{"roles": ["none"]}, {"roles": ["command"], "when": {"op": "run"}}]
    rules = [deny(values={"role:command": {"matches": "rm( .*)?"}}), *BLANKET]
    loaded = place.load(rules, [tool("t", {"op": ["account"], "arg": modes})])
    assert outcome(loaded, call("t", {"op": blank.format("run"), "arg": "rm -rf x"})) == "deny"
    assert outcome(loaded, call("t", {"op": " list", "arg": "ls"})) == "allow"


@pytest.mark.parametrize(("schema_", "value"), [({"not": {"enum": ["admin"]}}, " admin"), ({"maxLength": 3}, "a;b;c")])
def test_the_schema_is_asked_about_what_is_sent(place: Place, schema_: dict[str, Any], value: str) -> None:
    role = "recipient" if ";" in value else "account"
    definition = {"name": "t", "inputSchema": {"type": "object", "properties": {"o": {"type": "string", **schema_}}}}
    loaded = place.load(BLANKET, [tool("t", {"o": [role]}, definition=definition)])
    assert decide(loaded, call("t", {"o": value})).code == "arguments_invalid"
    assert outcome(loaded, call("t", {"o": " x"})) == "allow"


@pytest.mark.parametrize(
    ("roles", "value"),
    [
        (["channel", "recipient"], "#pr\u200bod"), (["channel", "recipient"], ";https://127.0.0.1/x"), (["channel", "command"], "#prod\u200b"),
        (["recipient", "account"], "a\u200bb"),
    ],
)  # fmt: skip
def test_every_category_of_an_argument_is_heard(place: Place, roles: list[str], value: str) -> None:
    loaded = place.load(BLANKET, [tool("t", {"x": roles})])
    assert outcome(loaded, call("t", {"x": value})) == "deny"
    assert outcome(loaded, call("t", {"x": "#prod"})) == "allow"


def test_a_value_that_means_two_things_is_not_forgotten_over_the_next(place: Place) -> None:
    loaded = place.load(BLANKET, [tool("t", {"x": ["channel", "command"], "y": ["channel"]})])
    assert decide(loaded, call("t", {"x": " C1 ", "y": "C2"})).code == "value_unstable"


def test_a_decomposed_name_behind_a_link_is_not_sent_as_another(place: Place) -> None:
    place.file("data/e\u0301/s")
    place.link("box/l", "{root}/data/e\u0301")
    rules = [deny(paths={"roles": ["read-path"], "within": "{root}/data/e\u0301"}), *BLANKET]
    assert decide(place.load(rules, FILE_TOOLS), call("read", {"path": "l/s"})).code == "value_unstable"


# INVARIANT: the time of a decision grows with the call, not with its square.


@pytest.mark.parametrize(
    ("rule", "arguments"),
    [
        ({"values": {"arg:paths": {"matches": ".*\\.env"}}}, {"paths": [f"p/{n}{'x' * 200}" for n in range(400)], "who": []}),
        ({"roles": ["account"], "values": {"role:recipient": {"matches": "x+y"}}}, {"paths": [], "who": [f"r{n}{'x' * 200}" for n in range(400)], "acc": [f"a{n}" for n in range(400)]}),
    ],
)  # fmt: skip
def test_many_values_are_asked_once_each(place: Place, rule: dict[str, Any], arguments: dict[str, Any]) -> None:
    args = {"paths": {"roles": ["read-path"], "absent": "nothing"}, "who": {"roles": ["recipient"], "absent": "nothing"}, "acc": {"roles": ["account"], "absent": "nothing"}}  # fmt: skip
    loaded = place.load([deny(**rule), *BLANKET], [tool("t", args)])
    began = time.process_time()
    assert outcome(loaded, call("t", arguments)) == "allow"
    assert time.process_time() - began < 1.5


# INVARIANT: wherever a value may lead to a host, a rule about hosts sees it.


@pytest.mark.parametrize(
    "place_",
    [
        "git@evil.example:x/y.git", "evil.example:x", "evil.example/x", "git::https://evil.example/x", "https:evil.example/x", "//evil.example/x",
        "ext::sh -c id", "eve@evil.example", "git@169.254.169.254:x", "169.254.169.254/x", "u@10.0.0.1:x", "HTTPS:evil.example", "fd::17 /x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("role", ["repository", "calendar"])
def test_a_place_hides_no_host(place: Place, place_: str, role: str) -> None:
    rules = [deny(domains={"roles": ["repository", "calendar"], "allowed": ["evil.example"]}), *BLANKET]
    loaded = place.load(rules, [tool("t", {"x": [role]})])
    assert outcome(loaded, call("t", {"x": place_})) == "deny"


@pytest.mark.parametrize(
    "place_", ["acme/app", "github.com/acme/app", "git@github.com:acme/app.git", "#ops", "ann@corp.example", "a: b"]
)
def test_honest_places_are_places(place: Place, place_: str) -> None:
    rules = [deny(domains={"roles": ["repository"], "allowed": ["evil.example"]}), *BLANKET]
    assert outcome(place.load(rules, [tool("t", {"x": ["repository"]})]), call("t", {"x": place_})) == "allow"


def test_an_allow_rests_on_no_host_of_a_place_that_is_no_url(place: Place) -> None:
    rules = [allow(domains={"roles": ["repository"], "allowed": ["good.example"]})]
    loaded = place.load(rules, [tool("t", {"x": ["repository"]})])
    assert outcome(loaded, call("t", {"x": "git@good.example:x"})) == "deny"
    assert outcome(loaded, call("t", {"x": "https://good.example/x"})) == "allow"


# INVARIANT: a bracket is any one character to somebody.


@pytest.mark.parametrize(
    "path",
    [
        "{home}/.ironcurtai[]n]/p", "{home}/.claude.jso[]n]", "{home}/.ironcurtai[[:alpha:]]/p", "{home}/.ironcurtai[[=n=]]/p",
        "{home}/.[abcdefghi][abcdefghr]oncurtain/p", "{home}/.ironcurtai[" + "x" * 70 + "n]/p",
    ],
)  # fmt: skip
def test_no_bracket_spells_a_protected_path(place: Place, path: str) -> None:
    loaded = place.load(BLANKET, [*FILE_TOOLS, tool("t", {"note": ["none"]})])
    assert outcome(loaded, call("read", {"path": place.fill(path)})) == "deny"
    assert outcome(loaded, call("t", {"note": place.fill(path)})) == "deny"


@pytest.mark.parametrize(
    "path", [".gi[t]/hooks/pre-commit", "[C]LAUDE.md", ".[m]cp.json", "/proc/sel[f]/environ", "/proc/[1]/environ"]
)
def test_no_bracket_spells_a_name_that_is_obeyed(place: Place, path: str) -> None:
    assert outcome(place.load(BLANKET, FILE_TOOLS), call("write", {"path": path, "content": "x"})) == "deny"


@pytest.mark.parametrize("path", ["app/[slug]/page.tsx", "pages/[...all].tsx", "a[1].txt", "x[", "y]"])
def test_brackets_in_honest_names_are_fine(place: Place, path: str) -> None:
    assert outcome(place.load([], FILE_TOOLS), call("write", {"path": path, "content": "x"})) == "allow"


# INVARIANT: an argument that a schema has a default for is never nothing.

REMOTE_RULES = [deny(lists=[{"roles": ["repository"], "allowed": ["evil/x"]}]), allow(sideEffects=True)]
ANY_REMOTE = {"type": "object", "properties": {"remote": {"type": ["string", "null"]}}}
ELSEWHERE = {"O": ANY_REMOTE, "R": {"type": ["string", "null"]}}


@pytest.mark.parametrize(
    ("leaf", "properties", "arguments"),
    [
        ("o.remote", {"o": {"$ref": "#/$defs/O", "properties": {"remote": {"default": "evil/x"}}}}, {"o": {}}),
        ("remote", {"remote": {"$ref": "#/$defs/R", "default": "evil/x"}}, {"remote": None}),
        ("remote", {"remote": {"$ref": "#/$defs/R", "default": "evil/x"}}, {"remote": ""}),
        ("o.remote", {"o": {"type": ["object", "null"], "default": {"remote": "evil/x"}, "properties": {"remote": {}}}}, {"o": None}),
        ("o[].remote", {"o": {"type": ["array", "null"], "default": [{"remote": "evil/x"}], "items": {"properties": {"remote": {}}}}}, {"o": None}),
        ("o.remote", {"o": {"type": "object", "default": {"remote": "evil/x", "n": "x"}, "properties": {"remote": {}, "n": {"type": "integer"}}}}, {}),
        ("o.remote", {"o": {"if": {}, "then": {"properties": {"remote": {"default": "evil/x"}}}, "properties": {"remote": {}}}}, {"o": {}}),
    ],
)  # fmt: skip
def test_a_default_is_seen_wherever_it_stands(place: Place, leaf: str, properties: Any, arguments: Any) -> None:
    definition = {"name": "t", "inputSchema": {"type": "object", "properties": properties, "$defs": ELSEWHERE}}
    args = {leaf: {"roles": ["repository"], "absent": "nothing"}}
    loaded = place.load(REMOTE_RULES, [tool("t", {**args, **({"o.n": ["none"]} if "integer" in json.dumps(properties) else {})}, definition=definition)])  # fmt: skip
    assert outcome(loaded, call("t", arguments)) == "deny"


# INVARIANT: every annotated argument is found, however deep it lies.


def test_lists_of_lists_are_walked(place: Place) -> None:
    inner = {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}}}}
    schema_ = {"type": "object", "properties": {"m": {"type": "array", "items": inner}}, "required": ["m"]}
    rules = [
        deny(paths={"roles": ["read-path"], "within": "{root}/no"}),
        allow(sideEffects=True),
        allow("p", paths={"roles": ["read-path"], "within": "{box}"}),
    ]
    loaded = place.load(
        rules, [tool("t", {"m[][].path": ["read-path"]}, definition={"name": "t", "inputSchema": schema_})]
    )
    empty: list[Any] = [[], [[]], [[{}]]]
    for nothing in empty:
        assert outcome(loaded, call("t", {"m": nothing})) == "deny"
    assert outcome(loaded, call("t", {"m": [[{"path": f"{place.root}/no/x"}]]})) == "deny"
    assert outcome(loaded, call("t", {"m": [[{"path": "a"}], [{"path": "b"}, {"path": "c"}]]})) == "allow"


@pytest.mark.parametrize("leaf", ["m[]x", "m[].", "[]", "m..x", "m[][]"])
def test_an_annotation_of_nothing_is_refused(place: Place, leaf: str) -> None:
    definition = {"name": "t", "inputSchema": {"$comment": "x", "type": "object"}}
    with pytest.raises(ArtifactError):
        place.load(BLANKET, [tool("t", {leaf: ["none"]}, definition=definition)])


# INVARIANT: what an owner took away stays away in every spelling.


@pytest.mark.parametrize(
    ("value", "removal"),
    [("Eve@Evil.example", "eve@evil.example"), ("eve@evil.example", "EVE@evil.example"), ("Eve <eve@evil.example>", "eve@evil.example")],
)  # fmt: skip
def test_a_removal_meets_every_spelling(place: Place, value: str, removal: str) -> None:
    lists = {"version": 1, "lists": {"c": {"values": [value, "bob@corp.example"], "manualRemovals": [removal]}}}
    policy = place.policy([allow(lists=[{"roles": ["recipient"], "allowed": ["@c"]}])])
    loaded = place.build(policy, annotated([tool("t", {"to": ["recipient"]})]), None, lists)
    assert outcome(loaded, call("t", {"to": "eve@evil.example"})) == "deny"
    assert outcome(loaded, call("t", {"to": "bob@corp.example"})) == "allow"


def test_a_removed_host_is_no_member(place: Place) -> None:
    lists = {
        "version": 1,
        "lists": {"h": {"values": ["EVIL.example", "ok.example"], "manualRemovals": ["evil.example."]}},
    }
    policy = place.policy([allow(domains={"roles": ["fetch-url"], "allowed": ["@h"]})])
    loaded = place.build(policy, annotated([tool("t", {"u": ["fetch-url"]})]), None, lists)
    assert outcome(loaded, call("t", {"u": "https://evil.example/"})) == "deny"
    assert outcome(loaded, call("t", {"u": "https://ok.example/"})) == "allow"


# INVARIANT: an artifact means what its author thinks, or does not load.


@pytest.mark.parametrize("home", ["~", "~/x", "~root", "."])
def test_a_home_that_is_not_written_out_is_refused(place: Place, home: str) -> None:
    policy = place.policy(BLANKET)
    policy["setup"]["home"] = home
    with pytest.raises(ArtifactError):
        place.build(policy, annotated(FILE_TOOLS))


@pytest.mark.parametrize(
    "conditions",
    [
        {"roles": ["delete-pth"]}, {"lists": [{"roles": ["recipeint"], "allowed": ["x"]}]}, {"values": {"role:readpath": {"maxLength": 1}}},
        {"values": {"role:account": {"equals": None}}}, {"values": {"role:account": {"equals": "a", "in": ["b"]}}},
        {"values": {"role:amount": {"minimum": 5, "maximum": 1}}}, {"values": {"role:account": {"minItems": 5, "maxItems": 1}}},
    ],
)  # fmt: skip
def test_a_condition_that_can_never_hold_does_not_load(place: Place, conditions: dict[str, Any]) -> None:
    with pytest.raises(ArtifactError):
        place.load([deny(**conditions), *BLANKET], FILE_TOOLS)


@pytest.mark.parametrize(
    "config",
    [
        {"tools": {"groups": {"FS": ["x"]}}}, {"tools": {"aliases": {"bash": "safe"}}}, {"tools": {"aliases": {"web/fetch": "x"}}},
        {"agents": {"": {"tools": {}}}}, {"tools": {"groups": {"mine": ["x"], "group:Mine": ["y"]}}},
    ],
)  # fmt: skip
def test_a_configuration_that_means_another_is_refused(place: Place, config: dict[str, Any]) -> None:
    with pytest.raises(ArtifactError):
        place.load(BLANKET, FILE_TOOLS, config)


def test_the_most_specific_provider_key_counts(place: Place) -> None:
    config = {"tools": {"byProvider": {"openrouter/openai": {"deny": ["read"]}, "openrouter": {"deny": ["write"]}}}}
    loaded = place.load(BLANKET, FILE_TOOLS, config)
    request = call("read", {"path": "a"}, principal={"provider": "openrouter/openai/gpt-4"})
    assert decide(loaded, request).stage.value == "access"
    assert outcome(loaded, {**request, "principal": {"provider": "openrouter/other"}}) == "allow"


def test_a_task_is_no_place_for_a_thousand_rules(place: Place) -> None:
    loaded = place.load(BLANKET, FILE_TOOLS)
    rules = [deny(f"r{n}", values={"role:account": {"matches": "(a{30}){30}"}}) for n in range(501)]
    task = {"version": 1, "task": "t", "expiresAt": "2099-01-01T00:00:00Z", "rules": rules}
    assert decide(loaded, call("read", {"path": "a"}, task=task)).code == "task_malformed"


# INVARIANT: a deny on a command sees the command, whatever stands before it.


@pytest.mark.parametrize(
    "command",
    ["$@rm -rf x", "r$@m x", "$*rm x", "$1rm x", "$'rm' x", "X=1 rm x", "A=b C= rm x", "if true; then rm x; fi", "while :; do rm x; done", "time rm x", "exec rm x"],
)  # fmt: skip
def test_nothing_before_it_hides_a_command(place: Place, command: str) -> None:
    rules = [deny(values={"role:command": {"matches": "rm( .*)?"}}), *BLANKET]
    loaded = place.load(rules, [tool("run", {"c": ["command"]})])
    assert outcome(loaded, call("run", {"c": command})) == "deny"
    assert outcome(loaded, call("run", {"c": "echo it costs 5 $"})) == "allow"


@pytest.mark.parametrize(
    "text",
    ["file:\\/{home}/.ironcurtain", "file:/\\/{home}/.ironcurtain", "~owner/.ironcurtain/p", "view-source:file://{home}/.claude.json", "jar:file:{home}/.ironcurtain/x!/y"],
)  # fmt: skip
def test_further_spellings_of_a_stray_string(place: Place, text: str) -> None:
    loaded = place.load(BLANKET, [tool("t", {"note": ["none"]})])
    assert outcome(loaded, call("t", {"note": place.fill(text)})) == "deny"


def test_renaming_a_directory_into_place_asks(place: Place) -> None:
    (place.sandbox / "gh").mkdir()
    loaded = place.load([allow(tool=["move"])], FILE_TOOLS)
    for name in (".github", ".vscode"):
        assert outcome(loaded, call("move", {"source": "gh", "destination": name})) == "escalate"
    assert outcome(loaded, call("move", {"source": "gh", "destination": ".github/workflows"})) == "allow"


@pytest.mark.parametrize("char", ["\u115f", "\u3164", "\u1160", "\uffa0", "\u20dd", "\u034f"])
def test_no_invisible_letter_makes_another_name(place: Place, char: str) -> None:
    loaded = place.load(BLANKET, FILE_TOOLS)
    assert outcome(loaded, call("read", {"path": f"{place.home}/.iron{char}curtain/p"})) == "deny"


def test_a_name_with_an_invisible_character_is_nobody_known(place: Place) -> None:
    loaded = place.load(
        [deny(lists=[{"roles": ["recipient"], "allowed": ["eve"]}]), *BLANKET], [tool("t", {"to": ["recipient"]})]
    )
    assert outcome(loaded, call("t", {"to": "ev\u200be"})) == "deny"
    assert outcome(loaded, call("t", {"to": "bob"})) == "allow"


@pytest.mark.parametrize("hostile", ["x\n\x1b[31m", "a\u202eb", "k" * 100_000])
def test_a_reason_is_one_plain_line(place: Place, hostile: str) -> None:
    definition = {
        "name": "t",
        "inputSchema": {"type": "object", "properties": {"o": {"additionalProperties": {"type": "integer"}}}},
    }
    loaded = place.load(
        [], [tool("t", {"o": ["none"]}, definition=definition), tool("m", {"to": ["recipient"], "n": ["none"]})]
    )
    for request in (
        call("t", {"o": {hostile: "x"}}),
        call("m", {"to": hostile, "n": hostile}),
        call("m", {"to": "b", "n": f"/dev/fd/{hostile}"}),
    ):
        reason = decide(loaded, request).reason
        assert reason.isprintable(), reason
        assert "\u202e" not in reason
        assert len(reason) < 1_000


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u3000", " ", "\u3164", "\u200b"])
def test_a_url_holds_no_blank_of_any_script(place: Place, blank: str) -> None:
    loaded = place.load(BLANKET, [tool("t", {"u": ["fetch-url"]})])
    for url in (f"https://x.example/{blank}", f"{blank}x.example", f"https://x{blank}.example/"):
        assert decide(loaded, call("t", {"u": url})).code == "url_spelling"


def test_a_relative_path_that_is_also_an_identifier_is_decided_by_where_it_leads(place: Place) -> None:
    loaded = place.load(
        [allow(paths={"roles": ["read-path"], "within": "{root}/data"})],
        [tool("t", {"x": ["read-path", "identifier"]})],
    )
    place.file("data/a")
    assert outcome(loaded, call("t", {"x": str(place.root / "data" / "a")})) == "allow"
    assert outcome(loaded, call("t", {"x": "../data/a"})) == "allow"
    assert outcome(loaded, call("t", {"x": "../data/../secret"})) == "deny"


def test_what_a_path_names_is_named_by_the_path(place: Place) -> None:
    place.file("data/a")
    named = [deny(values={"role:identifier": {"in": ["{root}/data/a"]}}), *BLANKET]
    loaded = place.load(named, [tool("t", {"x": ["read-path", "identifier"]})])
    assert outcome(loaded, call("t", {"x": "../data/a"})) == "deny"
    assert outcome(loaded, call("t", {"x": "../data/b"})) == "allow"
