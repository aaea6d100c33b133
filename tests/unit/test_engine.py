"""Steps 3 to 6, clause by clause. The worked examples and the attacks are in `tests/corpus/`."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from ironcurtain.engine.chain import name_is_listed
from ironcurtain.engine.conditions import Scope
from ironcurtain.engine.evaluate import escalations, evaluate
from ironcurtain.engine.explain import claim_stories, decisive_rules
from ironcurtain.engine.pattern import PatternError, TextTooLong, compile_pattern
from ironcurtain.engine.policy import Facts
from ironcurtain.engine.rules import claims_of
from tests.support import FILE_TOOLS, NOW, Place, call, decide, judge, outcome, tool

MAIL = tool(
    "send", {"to": ["recipient"], "body": ["outbound-content"], "file": {"roles": ["read-path"], "absent": "nothing"}}
)
MAIL["args"]["body"]["absent"] = "nothing"
WEB = tool("fetch", {"url": ["fetch-url"]})
POST = tool(
    "post", {"channel": ["channel"], "text": ["outbound-content"], "amount": {"roles": ["amount"], "absent": "nothing"}}
)
RUN = tool("run", {"command": ["command"]})
PLAIN = tool("plain", {"n": {"roles": ["none"]}}, side_effects=True)


def rule(then: str, name: str | None = None, **conditions: Any) -> dict[str, Any]:
    made = {
        "name": name or f"{then}-{hash(str(conditions)) % 99999}",
        "if": {k: v for k, v in conditions.items() if k != "elsewhere"},
        "then": then,
    }
    return {**made, "elsewhere": True} if conditions.get("elsewhere") else made


def to(*people: str) -> dict[str, Any]:
    return {"lists": [{"roles": ["recipient"], "allowed": list(people)}]}


@pytest.mark.parametrize(
    ("rules", "request_", "expected"),
    [
        # claims and naming
        ([rule("allow", roles=["recipient"])], call("send", {"to": "bob", "body": "x"}), "allow"),
        ([rule("allow", roles=["recipient"])], call("send", {"to": "bob", "body": "x", "file": "{root}/f"}), "deny"),
        ([rule("allow", roles=["outbound-content"])], call("send", {"to": "bob", "body": "x"}), "deny"),
        ([rule("allow", sideEffects=True)], call("plain", {}), "allow"),
        ([rule("allow", sideEffects=False)], call("plain", {}), "deny"),
        ([rule("allow", sideEffects=True)], call("send", {"to": "bob"}), "deny"),
        ([rule("allow", tool=["send"])], call("send", {"to": "bob", "body": "x", "file": "{root}/f"}), "allow"),
        ([rule("allow", server=["fs"])], call("send", {"to": "bob"}), "allow"),
        ([rule("allow", server=["other"])], call("send", {"to": "bob"}), "deny"),
        ([rule("allow", tool=["send"], roles=["recipient"])], call("send", {"to": "bob", "file": "{root}/f"}), "deny"),
        ([rule("allow", tool=["plain"], roles=["recipient"])], call("plain", {}), "deny"),
        ([rule("deny"), rule("allow", tool=["plain"])], call("plain", {}), "deny"),
        ([rule("allow", tool=["plain"]), rule("deny")], call("plain", {}), "allow"),
        (
            [rule("escalate", roles=["recipient"]), rule("allow", tool=["*"])],
            call("post", {"channel": "C", "text": "x"}),
            "allow",
        ),
        ([rule("escalate"), rule("deny", roles=["recipient"])], call("send", {"to": "bob"}), "escalate"),
        # the strictest claim
        ([rule("allow", **to("bob"))], call("send", {"to": ["bob", "bob"], "body": "x"}), "allow"),
        ([rule("allow", **to("bob"))], call("send", {"to": "bob, eve"}), "deny"),
        (
            [rule("allow", **to("bob")), rule("escalate", roles=["recipient"])],
            call("send", {"to": "bob, eve"}),
            "escalate",
        ),
        (
            [rule("allow", **to("bob")), rule("escalate", **to("cat")), rule("deny", roles=["recipient"])],
            call("send", {"to": "bob, cat, eve"}),
            "deny",
        ),
        # carried claims
        (
            [rule("allow", **to("bob")), rule("deny", roles=["outbound-content"])],
            call("send", {"to": "bob", "body": "x"}),
            "allow",
        ),
        (
            [rule("deny", roles=["outbound-content"]), rule("allow", **to("bob"))],
            call("send", {"to": "bob", "body": "x"}),
            "deny",
        ),
        (
            [rule("deny", values={"role:outbound-content": {"matches": ".*secret.*"}}), rule("allow", **to("bob"))],
            call("send", {"to": "bob", "body": "a\nsecret\nb"}),
            "deny",
        ),
        (
            [rule("deny", values={"role:outbound-content": {"matches": ".*secret.*"}}), rule("allow", **to("bob"))],
            call("send", {"to": "bob", "body": "plain"}),
            "allow",
        ),
        (
            [rule("allow", values={"role:outbound-content": {"maxLength": 3}}, **to("bob"))],
            call("send", {"to": "bob", "body": "long text"}),
            "deny",
        ),
        (
            [rule("allow", values={"role:outbound-content": {"maxLength": 3}}, **to("bob"))],
            call("send", {"to": "bob", "body": "abc"}),
            "allow",
        ),
        (
            [rule("allow", values={"role:outbound-content": {"maxLength": 3}}, **to("bob"))],
            call("send", {"to": "bob", "body": ["abc", "abcd"]}),
            "deny",
        ),
        (
            [rule("deny", values={"role:outbound-content": {"equals": "no"}}), rule("allow", **to("bob"))],
            call("send", {"to": "bob", "body": ["yes", "no"]}),
            "deny",
        ),
        # other roles: all in an allow, any in a deny
        (
            [rule("allow", tool=["send"], roles=["recipient"], paths={"roles": ["read-path"], "within": "{root}/p"})],
            call("send", {"to": "bob", "file": "{root}/p/x"}),
            "allow",
        ),
        (
            [rule("allow", tool=["send"], roles=["recipient"], paths={"roles": ["read-path"], "within": "{root}/p"})],
            call("send", {"to": "bob"}),
            "deny",
        ),
        (
            [rule("allow", tool=["send"], roles=["recipient"], paths={"roles": ["read-path"], "within": "{root}/p"})],
            call("send", {"to": "bob", "file": ["{root}/p/x", "{root}/q"]}),
            "deny",
        ),
        (
            [
                rule("deny", roles=["recipient"], paths={"roles": ["read-path"], "within": "{root}/p"}),
                rule("allow", tool=["send"]),
            ],
            call("send", {"to": "bob", "file": ["{root}/q", "{root}/p/x"]}),
            "deny",
        ),
        (
            [
                rule("deny", roles=["recipient"], paths={"roles": ["read-path"], "within": "{root}/p"}),
                rule("allow", tool=["send"]),
            ],
            call("send", {"to": "bob", "file": "{root}/q"}),
            "allow",
        ),
        # reading is not sending
        (
            [rule("allow", roles=["recipient"]), rule("allow", paths={"roles": ["read-path"], "within": "{root}/p"})],
            call("send", {"to": "bob", "file": "{root}/p/x"}),
            "deny",
        ),
        (
            [
                rule("allow", roles=["recipient"]),
                rule("allow", tool=["send"], paths={"roles": ["read-path"], "within": "{root}/p"}),
            ],
            call("send", {"to": "bob", "file": "{root}/p/x"}),
            "allow",
        ),
        (
            [
                rule("allow", roles=["recipient"]),
                rule("allow", server=["fs"], paths={"roles": ["read-path"], "within": "{root}/p"}),
            ],
            call("send", {"to": "bob", "file": "{root}/p/x"}),
            "allow",
        ),
        (
            [rule("allow", paths={"roles": ["read-path"], "within": "{root}/p"})],
            call("read", {"path": "{root}/p/x"}),
            "allow",
        ),
        # unknown and opaque
        ([rule("allow", **to("bob"))], call("send", {}), "deny"),
        ([rule("allow", roles=["recipient"])], call("send", {}), "allow"),
        ([rule("deny", **to("bob")), rule("allow", tool=["send"])], call("send", {}), "allow"),
        ([rule("allow", **to("bob"))], call("send", {"to": '"bob'}), "deny"),
        ([rule("deny", **to("eve")), rule("allow", tool=["send"])], call("send", {"to": '"bob'}), "deny"),
        (
            [
                rule("escalate", domains={"roles": ["recipient"], "allowed": ["evil.example"]}),
                rule("allow", tool=["send"]),
            ],
            call("send", {"to": '"bob'}),
            "escalate",
        ),
        # counts
        (
            [rule("deny", values={"role:recipient": {"minItems": 3}}), rule("allow", tool=["send"])],
            call("send", {"to": "a, b"}),
            "allow",
        ),
        (
            [rule("deny", values={"role:recipient": {"minItems": 3}}), rule("allow", tool=["send"])],
            call("send", {"to": "a, b, c"}),
            "deny",
        ),
        (
            [rule("deny", values={"role:recipient": {"minItems": 3}}), rule("allow", tool=["send"])],
            call("send", {"to": '"x'}),
            "deny",
        ),
        (
            [rule("deny", values={"role:recipient": {"minItems": 3}}), rule("allow", tool=["send"])],
            call("send", {}),
            "deny",
        ),
        ([rule("allow", values={"role:recipient": {"maxItems": 2}})], call("send", {"to": "a, b"}), "allow"),
        ([rule("allow", values={"role:recipient": {"maxItems": 2}})], call("send", {"to": "a, b, c"}), "deny"),
        ([rule("allow", values={"role:recipient": {"maxItems": 2}})], call("send", {"to": '"x'}), "deny"),
        ([rule("allow", values={"role:recipient": {"minItems": 1}})], call("send", {"to": "a"}), "allow"),
        ([rule("allow", values={"role:recipient": {"minItems": 1}})], call("send", {}), "deny"),
        (
            [rule("deny", values={"role:recipient": {"maxItems": 2}}), rule("allow", tool=["send"])],
            call("send", {"to": '"x'}),
            "allow",
        ),
        (
            [rule("deny", values={"role:recipient": {"maxItems": 2}}), rule("allow", tool=["send"])],
            call("send", {"to": "a"}),
            "deny",
        ),
        (
            [rule("deny", values={"role:recipient": {"maxItems": 2}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": "x"}),
            "allow",
        ),
        (
            [rule("allow", values={"role:recipient": {"minItems": 2, "equals": "a"}})],
            call("send", {"to": "a, a"}),
            "allow",
        ),
        (
            [rule("allow", values={"role:recipient": {"minItems": 2, "equals": "a"}})],
            call("send", {"to": "a, b"}),
            "deny",
        ),
        (
            [rule("allow", values={"role:recipient": {"minItems": 2, "maxItems": 3}})],
            call("send", {"to": "a, b, c, d"}),
            "deny",
        ),
        ([rule("allow", values={"arg:to": {"minItems": 2}}, tool=["send"])], call("send", {"to": "a, b"}), "allow"),
        ([rule("allow", values={"arg:to": {"minItems": 2}}, tool=["send"])], call("send", {"to": "a"}), "deny"),
        (
            [rule("deny", roles=["channel"], values={"role:recipient": {"maxItems": 2}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": "x"}),
            "allow",
        ),
        (
            [rule("deny", values={"arg:file": {"maxItems": 3}}), rule("allow", tool=["send"])],
            call("send", {"to": "a"}),
            "allow",
        ),
        (
            [rule("deny", values={"arg:file": {"maxItems": 3}}), rule("allow", tool=["send"])],
            call("send", {"to": "a", "file": "{root}/f"}),
            "deny",
        ),
        ([rule("allow", tool=["send"], values={"arg:file": {"maxItems": 3}})], call("send", {"to": "a"}), "deny"),
        # numbers, types, errors
        (
            [rule("allow", tool=["post"], values={"role:amount": {"maximum": 10}})],
            call("post", {"channel": "C", "text": "x", "amount": 10}),
            "deny",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:amount": {"maximum": 10}})],
            call("post", {"channel": "C", "text": "x", "amount": 10}),
            "allow",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:amount": {"maximum": 10}})],
            call("post", {"channel": "C", "text": "x", "amount": 10.5}),
            "deny",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:amount": {"maximum": 10}})],
            call("post", {"channel": "C", "text": "x", "amount": "9"}),
            "deny",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:amount": {"maximum": 10}})],
            call("post", {"channel": "C", "text": "x", "amount": True}),
            "deny",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:amount": {"minimum": 5}})],
            call("post", {"channel": "C", "text": "x", "amount": 5}),
            "allow",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:amount": {"minimum": 5}})],
            call("post", {"channel": "C", "text": "x", "amount": 4}),
            "deny",
        ),
        (
            [rule("deny", values={"role:amount": {"minimum": 100}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": "x", "amount": "1000"}),
            "deny",
        ),
        (
            [rule("escalate", values={"role:amount": {"minimum": 100}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": "x", "amount": "1"}),
            "deny",
        ),
        (
            [rule("escalate", values={"role:amount": {"minimum": 100}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": "x", "amount": [500, "1"]}),
            "deny",
        ),
        (
            [rule("escalate", values={"role:amount": {"minimum": 100}}, tool=["other"]), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": "x", "amount": "1"}),
            "allow",
        ),
        (
            [
                rule("escalate", values={"role:amount": {"minimum": 100}, "role:channel": {"equals": "D"}}),
                rule("allow", tool=["post"]),
            ],
            call("post", {"channel": "C", "text": "x", "amount": "1"}),
            "allow",
        ),
        (
            [
                rule("escalate", values={"role:amount": {"minimum": 100}, "role:channel": {"equals": "C"}}),
                rule("allow", tool=["post"]),
            ],
            call("post", {"channel": "C", "text": "x", "amount": "1"}),
            "deny",
        ),
        (
            [rule("escalate", values={"role:amount": {"equals": 7, "minimum": 5}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": "x", "amount": "1"}),
            "deny",
        ),
        (
            [rule("escalate", values={"role:outbound-content": {"maxLength": 9}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": 5}),
            "deny",
        ),
        (
            [rule("escalate", values={"role:outbound-content": {"matches": "x*"}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": "x" * 5_000}),
            "deny",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:text": {"matches": "x*"}})],
            call("post", {"channel": "C", "text": "x" * 5_000}),
            "deny",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:amount": {"equals": 1}})],
            call("post", {"channel": "C", "text": "x", "amount": True}),
            "deny",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:amount": {"equals": 1}})],
            call("post", {"channel": "C", "text": "x", "amount": 1.0}),
            "allow",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:amount": {"in": [1, "1"]}})],
            call("post", {"channel": "C", "text": "x", "amount": "1"}),
            "allow",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:amount": {"in": [1, 2], "equals": 2}})],
            call("post", {"channel": "C", "text": "x", "amount": 1}),
            "deny",
        ),
        # domains
        (
            [rule("allow", domains={"roles": ["fetch-url"], "allowed": ["example.com"]})],
            call("fetch", {"url": "https://example.com/"}),
            "allow",
        ),
        (
            [rule("allow", domains={"roles": ["fetch-url"], "allowed": ["example.com"]})],
            call("fetch", {"url": "https://a.example.com/"}),
            "deny",
        ),
        (
            [rule("allow", domains={"roles": ["fetch-url"], "allowed": ["*.example.com"]})],
            call("fetch", {"url": "https://a.b.example.com/"}),
            "allow",
        ),
        (
            [rule("allow", domains={"roles": ["fetch-url"], "allowed": ["*.example.com"]})],
            call("fetch", {"url": "https://example.com/"}),
            "deny",
        ),
        (
            [rule("allow", domains={"roles": ["fetch-url"], "allowed": ["*.example.com"]})],
            call("fetch", {"url": "https://badexample.com/"}),
            "deny",
        ),
        (
            [rule("allow", domains={"roles": ["recipient"], "allowed": ["x.example"]})],
            call("send", {"to": "ann@x.example"}),
            "allow",
        ),
        (
            [rule("allow", domains={"roles": ["recipient"], "allowed": ["x.example"]})],
            call("send", {"to": "ann"}),
            "deny",
        ),
        ([rule("allow", tool=["fetch"])], call("fetch", {"url": "http://10.0.0.1/"}), "deny"),
        (
            [rule("allow", domains={"roles": ["fetch-url"], "allowed": ["10.0.0.1"]})],
            call("fetch", {"url": "http://10.0.0.1/"}),
            "allow",
        ),
        (
            [rule("deny", domains={"roles": ["fetch-url"], "allowed": ["10.0.0.1"]}), rule("allow", tool=["fetch"])],
            call("fetch", {"url": "http://10.0.0.1/"}),
            "deny",
        ),
        (
            [rule("allow", domains={"roles": ["fetch-url"], "allowed": ["@hosts"]})],
            call("fetch", {"url": "http://10.0.0.9/"}),
            "deny",
        ),
        (
            [rule("allow", domains={"roles": ["fetch-url"], "allowed": ["@hosts"]})],
            call("fetch", {"url": "http://ok.example/"}),
            "allow",
        ),
        (
            [rule("allow", domains={"roles": ["fetch-url"], "allowed": ["169.254.169.254"]})],
            call("fetch", {"url": "http://169.254.169.254/"}),
            "deny",
        ),
        ([rule("allow", tool=["fetch"])], call("fetch", {"url": "https://\u0430pple.com/"}), "escalate"),
        # commands
        ([rule("escalate", values={"arg:command": {"maximum": 5}})], call("run", {"command": "ls"}), "deny"),
        ([rule("escalate", values={"arg:command": {"maximum": 5}})], call("run", {"command": "ls $x"}), "escalate"),
        ([rule("allow", values={"role:command": {"in": ["ls", "pwd"]}})], call("run", {"command": "ls"}), "allow"),
        ([rule("allow", values={"role:command": {"in": ["ls", "pwd"]}})], call("run", {"command": "ls; pwd"}), "deny"),
        ([rule("allow", values={"role:command": {"matches": "ls.*"}})], call("run", {"command": "ls\nrm x"}), "deny"),
        (
            [rule("deny", values={"role:command": {"matches": "sudo.*"}}), rule("escalate", tool=["run"])],
            call("run", {"command": "ls; sudo x"}),
            "deny",
        ),
        (
            [rule("deny", values={"role:command": {"matches": "sudo.*"}}), rule("escalate", tool=["run"])],
            call("run", {"command": "ls; pwd"}),
            "escalate",
        ),
        (
            [rule("deny", values={"role:command": {"matches": "sudo.*"}}), rule("escalate", tool=["run"])],
            call("run", {"command": "ls $(x)"}),
            "deny",
        ),
        (
            [rule("deny", values={"role:command": {"equals": "rm"}}), rule("escalate", tool=["run"])],
            call("run", {"command": "ls; rm"}),
            "deny",
        ),
        (
            [rule("deny", values={"role:command": {"equals": "a;b"}}), rule("allow", tool=["run"])],
            call("run", {"command": "a;b"}),
            "deny",
        ),
        ([rule("allow", tool=["run"])], call("run", {"command": "ls; rm x"}), "allow"),
        ([rule("allow", values={"role:command": {"maxItems": 1}})], call("run", {"command": "ls; rm x"}), "deny"),
        # containment
        ([], call("read", {"path": "{box}/x"}), "allow"),
        ([], call("write", {"path": "{box}/x", "content": "y"}), "allow"),
        ([], call("delete", {"path": "{box}/x"}), "deny"),
        ([], call("read", {"path": "{root}/out"}), "deny"),
        ([], call("read", {"path": "{box}"}), "allow"),
        ([rule("escalate", elsewhere=True)], call("read", {"path": "{box}/x"}), "allow"),
        ([rule("escalate", elsewhere=True)], call("read", {"path": "{root}/out"}), "escalate"),
        ([rule("escalate", elsewhere=True)], call("delete", {"path": "{box}/x"}), "escalate"),
        ([rule("escalate")], call("read", {"path": "{box}/x"}), "escalate"),
        (
            [rule("deny", paths={"roles": ["read-path"], "within": "{box}/secret"})],
            call("read", {"path": "{box}/secret/x"}),
            "deny",
        ),
        (
            [rule("deny", paths={"roles": ["read-path"], "within": "{box}/secret"})],
            call("read", {"path": "{box}/secret2"}),
            "allow",
        ),
        ([], call("read_many", {"paths": ["{box}/a", "{root}/out"]}), "deny"),
        # unanswered
        ([rule("escalate", assess={"question": "?"}), rule("allow", tool=["plain"])], call("plain", {}), "escalate"),
        ([rule("escalate", assess={"question": "?"}), rule("deny", tool=["plain"])], call("plain", {}), "deny"),
        ([rule("escalate", assess={"question": "?"})], call("plain", {}), "deny"),
        ([rule("deny", assess={"question": "?"}), rule("allow", tool=["plain"])], call("plain", {}), "deny"),
        (
            [rule("escalate", assess={"question": "?"}, tool=["other"]), rule("allow", tool=["plain"])],
            call("plain", {}),
            "allow",
        ),
        ([rule("escalate", assess={"question": "?"})], call("read", {"path": "{box}/x"}), "escalate"),
        (
            [rule("allow", origin={"roles": ["recipient"], "from": "person"}), rule("escalate", tool=["send"])],
            call("send", {"to": "bob"}),
            "escalate",
        ),
        (
            [rule("deny", origin={"roles": ["recipient"], "from": ["result"]}), rule("allow", tool=["send"])],
            call("send", {"to": "bob"}),
            "deny",
        ),
    ],
)
def test_decisions(place: Place, rules: Any, request_: Any, expected: str) -> None:
    tools = [*FILE_TOOLS, MAIL, WEB, POST, RUN, PLAIN]
    rules = [{**made, "name": f"r{index}"} for index, made in enumerate(rules)]
    loaded = place.load(rules, tools, lists={"hosts": ["10.0.0.9", "ok.example"]})
    assert outcome(loaded, json.loads(place.fill(json.dumps(request_)))) == expected


def test_the_stage_and_code_tell_where_it_was_decided(place: Place) -> None:
    rules = [
        rule("allow", "may", tool=["info"]),
        rule("deny", "never", roles=["delete-path"]),
        rule("escalate", "ask", roles=["read-path"]),
    ]
    loaded = place.load(rules, FILE_TOOLS)
    found = {
        name: (d.outcome.word, d.stage.value, d.code, d.rule)
        for name, d in {
            "allow": decide(loaded, call("info", {})),
            "deny": decide(loaded, call("delete", {"path": "x"})),
            "ask": decide(loaded, call("read", {"path": "x"})),
            "contained": decide(loaded, call("write", {"path": "x", "content": "y"})),
            "none": decide(loaded, call("write", {"path": "/x", "content": "y"})),
            "unknown": decide(loaded, call("none", {})),
            "other": decide(loaded, call("read", {"path": "x"}, "net")),
        }.items()
    }
    assert found == {
        "allow": ("allow", "rules", "rule_allow", "may"),
        "deny": ("deny", "rules", "rule_deny", "never"),
        "ask": ("escalate", "rules", "rule_escalate", "ask"),
        "contained": ("allow", "rules", "contained", None),
        "none": ("deny", "rules", "no_rule", None),
        "unknown": ("deny", "invariants", "tool_unknown", None),
        "other": ("deny", "invariants", "tool_unknown", None),
    }
    assert decide(loaded, call("move", {"source": "x", "destination": "y"})).roles == (
        "read-path",
        "delete-path",
        "write-path",
    )


def test_evaluate_itself_denies_what_it_does_not_know(place: Place) -> None:
    loaded = place.load([rule("allow", tool=["*"])], FILE_TOOLS)
    judged = judge(loaded, call("info", {}))
    assert judged.call is not None
    stranger = place.load([rule("allow", tool=["*"])], [PLAIN])
    assert evaluate(judged.call, stranger.policy, Facts(NOW)).code == "tool_unknown"
    drifted = {**FILE_TOOLS[-1], "pin": "sha256:0"}
    assert (
        evaluate(judged.call, place.load([rule("allow", tool=["*"])], [drifted]).policy, Facts(NOW)).code
        == "tool_drift"
    )


@pytest.mark.parametrize(
    ("tool_name", "arguments", "expected", "code"),
    [
        ("read", {"path": "~/.ironcurtain"}, "deny", "path_protected"),
        ("read", {"path": "~/.ironcurtain/policy/x"}, "deny", "path_protected"),
        ("read", {"path": "~/.ironcurtain/sandbox/x"}, "allow", "rule_allow"),
        ("read", {"path": "~/.ironcurtain/SANDBOX/x"}, "deny", "path_protected"),
        ("read", {"path": "~/.ironcurtain2/x"}, "allow", "rule_allow"),
        ("read", {"path": "{root}/policy/compiled-policy.json"}, "deny", "path_protected"),
        ("read", {"path": "{root}/policy/other.json"}, "allow", "rule_allow"),
        ("read", {"path": "~/.cursor/mcp.json"}, "deny", "path_protected"),
        ("read", {"path": "~/.cursor/mcp.json.bak"}, "allow", "rule_allow"),
        ("read", {"path": "{box}/.vscode/mcp.json"}, "deny", "path_protected"),
        ("read", {"path": "{box}/.vscode/x.json"}, "allow", "rule_allow"),
        ("write", {"path": "{box}/x/mcp.json", "content": ""}, "deny", "path_protected"),
        ("read", {"path": "~"}, "escalate", "path_ancestor"),
        ("read", {"path": "/"}, "escalate", "path_ancestor"),
        ("write", {"path": "~", "content": ""}, "deny", "path_ancestor"),
        ("delete", {"path": "{root}/home"}, "deny", "path_ancestor"),
        ("read", {"path": "{root}/policy"}, "escalate", "path_ancestor"),
        ("read", {"path": "{box}/CLAUDE.md"}, "allow", "rule_allow"),
        ("write", {"path": "{box}/claude.MD", "content": ""}, "deny", "path_steering"),
        ("write", {"path": "{box}/.github/copilot-instructions.md", "content": ""}, "deny", "path_steering"),
        ("write", {"path": "{box}/.github/other.md", "content": ""}, "allow", "rule_allow"),
        ("write", {"path": "{box}/copilot-instructions.md", "content": ""}, "allow", "rule_allow"),
        ("write", {"path": "{box}/.git/hooks/x", "content": ""}, "deny", "path_steering"),
        ("write", {"path": "{box}/.git", "content": ""}, "deny", "path_steering"),
        ("delete", {"path": "{box}/.git/config"}, "deny", "path_steering"),
        ("read", {"path": "{box}/.git/config"}, "allow", "rule_allow"),
        ("write", {"path": "{box}/.gitignore", "content": ""}, "allow", "rule_allow"),
        ("write", {"path": "{box}/.gitmodules", "content": ""}, "escalate", "path_steering"),
        ("write", {"path": "{box}/.vscode/tasks.json", "content": ""}, "escalate", "path_steering"),
        ("read", {"path": "{box}/.gitmodules"}, "allow", "rule_allow"),
        ("read", {"path": "/proc/1/environ"}, "deny", "path_magic"),
        ("read", {"path": "/proc/cpuinfo"}, "allow", "rule_allow"),
        ("read", {"path": "/dev/fd/3"}, "deny", "path_magic"),
        ("read", {"path": "/dev/stdin"}, "deny", "path_magic"),
        ("read", {"path": "/dev/stdinx"}, "allow", "rule_allow"),
        ("read", {"path": "{box}/to-self/environ"}, "deny", "path_magic"),
    ],
)
def test_invariants_hold_under_a_policy_that_allows_everything(
    place: Place, tool_name: str, arguments: Any, expected: str, code: str
) -> None:
    place.link("box/to-self", "/proc/self")
    loaded = place.load([rule("allow", tool=["*"])], FILE_TOOLS)
    filled = {key: place.fill(value) for key, value in arguments.items()}
    decision = decide(loaded, call(tool_name, filled))
    assert (decision.outcome.word, decision.code) == (expected, code), decision


def test_an_invariant_that_only_asks_does_not_soften_a_deny(place: Place) -> None:
    assert decide(place.load([], FILE_TOOLS), call("read", {"path": "~"})).code == "no_rule"
    asked = decide(place.load([rule("escalate", "ask", roles=["read-path"])], FILE_TOOLS), call("read", {"path": "~"}))
    assert (asked.outcome.word, asked.rule) == ("escalate", "ask")


def test_a_task_narrows_and_ends(place: Place) -> None:
    loaded = place.load([rule("allow", "may", tool=["*"])], FILE_TOOLS)

    def under(rules: list[Any], ends: str = "2027-01-15T08:00:01Z") -> Any:
        task = {"version": 1, "task": "t", "expiresAt": ends, "rules": rules}
        decision = decide(loaded, call("info", {}, task=task))
        return decision.outcome.word, decision.stage.value, decision.code

    assert under([rule("allow", tool=["info"])]) == ("allow", "rules", "rule_allow")
    assert under([rule("escalate", tool=["info"])]) == ("escalate", "task", "rule_escalate")
    assert under([rule("allow", tool=["read"])]) == ("deny", "task", "no_rule")
    assert under([rule("allow", tool=["info"])], "2027-01-15T08:00:00Z") == ("deny", "task", "task_expired")
    assert under([rule("allow", tool=["info"])], "soon") == ("deny", "task", "task_malformed")
    assert under([{"name": "x"}]) == ("deny", "task", "task_malformed")


@pytest.mark.parametrize(
    ("name", "patterns", "listed"),
    [
        ("a", ["a"], True), ("a", ["b", "a"], True), ("a", ["A"], False), ("abc", ["a*"], True), ("abc", ["*c"], True), ("abc", ["*b*"], True), ("abc", ["a*c"], True), ("abc", ["*"], True), ("", ["*"], True), ("ab", ["ab*b"], False),
        ("aXbXc", ["a*b*c"], True), ("abc", ["a*d"], False), ("abc", ["b*"], False), ("aba", ["a*a"], True), ("a", ["a*a"], False), ("abab", ["a*ab*b"], False), ("a*", ["a*"], True), ("a.c", ["a?c"], False), ("xay", ["*a*a*"], False), ("xaxa", ["*a*a*"], True), ("ab", ["**"], True),
    ],
)  # fmt: skip
def test_a_star_stands_for_any_run_of_characters(name: str, patterns: list[str], listed: bool) -> None:
    assert name_is_listed(name, patterns) is listed


# --- regular expressions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("", [""], ["a"]), ("a", ["a"], ["", "aa", "A", "a\n"]), ("a*", ["", "aaa"], ["b"]), ("a+", ["a", "aa"], [""]), ("a?", ["", "a"], ["aa"]), ("a{2}", ["aa"], ["a", "aaa"]), ("a{2,}", ["aa", "aaaa"], ["a"]), ("a{1,2}", ["a", "aa"], ["", "aaa"]), ("a{0}", [""], ["a"]), ("a{0,1}b", ["b", "ab"], ["aab"]),
        ("a|bc", ["a", "bc"], ["b", "abc"]), ("(ab)*", ["", "abab"], ["aba"]), ("(?:a|b)c", ["ac", "bc"], ["c"]), ("(?i)AbC", ["abc", "ABC"], ["ab"]), ("[a-c]", ["a", "c"], ["d", "-"]), ("[^a-c]", ["d"], ["a", ""]), ("[]a]", ["]", "a"], ["b"]), ("[a-]", ["a", "-"], ["b"]), (r"[\d_]+", ["1_2"], ["a"]), (r"[\]\\]", ["]", "\\"], ["a"]), (r"\d\D\w\W\s\S", ["1a_- x"], ["aaaaaa"]),
        (r"\d+", ["12"], ["\u0661"]), (r"\.", ["."], ["a"]), (r"\n\t", ["\n\t"], ["nt"]), ("(a+)+b", ["aab"], ["aaa"]), ("(?i)[a-z]+", ["ABC"], ["1"]), ("(?i)\u00e9", ["\u00e9"], ["\u00c9"]), (r"[\-]a", ["-a"], ["a"]), ("a||b", ["a", "", "b"], ["c"]), ("[+-]", ["+", "-"], ["a"]),
    ],
)  # fmt: skip
def test_patterns_match_the_whole_text(pattern: str, yes: list[str], no: list[str]) -> None:
    compiled = compile_pattern(pattern, dot_spans_lines=False)
    assert [text for text in yes if not compiled.fullmatch(text)] == []
    assert [text for text in no if compiled.fullmatch(text)] == []


def test_a_dot_spans_lines_only_where_it_restricts() -> None:
    assert compile_pattern("a.b", dot_spans_lines=True).fullmatch("a\nb")
    assert not compile_pattern("a.b", dot_spans_lines=False).fullmatch("a\nb")
    assert compile_pattern("a.b", dot_spans_lines=False).fullmatch("a\u00e9b")


@pytest.mark.parametrize(
    "pattern",
    ["(", "a)", "[a", "[", "\\", r"\b", r"\1", "a{", "a{x}", "a{2", "a{,2}", "a{3,2}", "*a", "+", "a|*", "(?=a)", "(?P<n>a)", "(?", "^a", "a$", "[z-a]", "a{1001}", "(a{500}){3}", r"[\D]", "(" * 60 + ")" * 60, "a{1\u0661}", "a**", "a*?", "a++", "a{2}?", "a?{2}"],
)  # fmt: skip
def test_what_is_not_in_the_dialect_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        compile_pattern(pattern, dot_spans_lines=False)


def test_matching_takes_linear_time() -> None:
    compiled = compile_pattern("(a|a)*(a|aa)+(a*)*b", dot_spans_lines=True)
    start = time.process_time()
    assert not compiled.fullmatch("a" * 4_096)
    assert time.process_time() - start < 5
    with pytest.raises(TextTooLong):
        compiled.fullmatch("a" * 4_097)


def test_a_pattern_stays_right_when_it_has_forgotten() -> None:
    compiled = compile_pattern("[a-z]*x", dot_spans_lines=True)
    for index in range(3_000):
        assert compiled.fullmatch(chr(97 + index % 26) + chr(97 + index // 26 % 26) + "x")
        assert not compiled.fullmatch(chr(0x4E00 + index))


# --- explanations -------------------------------------------------------------------------------------------------


def test_the_decisive_rules_are_those_whose_removal_changes_the_outcome(place: Place) -> None:
    rules = [
        rule("deny", "other", roles=["delete-path"]),
        rule("allow", "first", tool=["info"]),
        rule("allow", "second", tool=["info"]),
        rule("escalate", "ask", paths={"roles": ["read-path"], "within": "{root}/out"}),
        rule("allow", "wide", paths={"roles": ["read-path"], "within": "{root}"}),
    ]
    loaded = place.load(rules, FILE_TOOLS)

    def decisive(name: str, arguments: Any) -> list[str]:
        judged = judge(loaded, call(name, arguments))
        assert judged.call is not None
        return decisive_rules(judged.call, loaded.policy, Facts(NOW))

    assert decisive("info", {}) == []
    assert decisive("read", {"path": f"{place.root}/out/x"}) == ["ask"]
    assert decisive("read", {"path": f"{place.root}/data/x"}) == ["wide"]
    assert decisive("delete", {"path": f"{place.root}/data/x"}) == []
    assert decisive("read", {"path": f"{place.sandbox}/x"}) == []


# --- what a call looks at -----------------------------------------------------------------------------------------


def looked_at(place: Place, rules: list[Any], request: dict[str, Any]) -> list[list[int]]:
    """The numbers of the rules that each claim of a call is compared with."""
    loaded = place.load(
        [{**made, "name": f"r{index}"} for index, made in enumerate(rules)], [*FILE_TOOLS, MAIL, WEB, POST]
    )
    judged = judge(loaded, request)
    assert judged.call is not None
    tool_ = loaded.policy.tools[judged.call.server, judged.call.tool]
    scope = Scope.of(judged.call)
    book = loaded.policy.book
    return [[c.order for c in book.candidates(tool_, claim, scope)] for claim in claims_of(judged.call)]


def test_a_call_looks_only_at_rules_that_can_matter(place: Place) -> None:
    many = [rule("allow", paths={"roles": ["read-path"], "within": f"{{root}}/d{index}"}) for index in range(50)]
    rules = [*many, rule("deny", roles=["delete-path"]), rule("escalate")]
    assert looked_at(place, rules, call("read", {"path": f"{place.root}/d7/x"})) == [[7, 51]]
    assert looked_at(place, rules, call("delete", {"path": f"{place.root}/d7/x"})) == [[50, 51]]
    assert looked_at(place, rules, call("info", {})) == [[51]]
    assert looked_at(place, many, call("write", {"path": f"{place.root}/d7/x", "content": ""})) == [[]]


def test_a_carried_claim_looks_under_the_roles_that_its_rules_speak_of(place: Place) -> None:
    rules = [rule("allow", **to(f"user{index}")) for index in range(50)]
    rules += [rule("allow", domains={"roles": ["recipient"], "allowed": [f"h{index}.example"]}) for index in range(50)]
    assert looked_at(place, rules, call("send", {"to": "user3, ann@h9.example", "body": "x"})) == [[3], [59], [3, 59]]


def test_a_rule_for_two_roles_is_looked_at_under_the_claims_own(place: Place) -> None:
    rules = [
        rule("deny", paths={"roles": ["read-path", "write-path"], "within": f"{{root}}/d{index}"}) for index in range(9)
    ]
    found = looked_at(place, rules, call("move", {"source": f"{place.root}/d1/x", "destination": f"{place.root}/d2/x"}))
    assert found == [[1], [], [2]]


def test_long_lists_and_equal_values_are_found_by_what_they_hold(place: Place) -> None:
    long = [f"user{index}" for index in range(100)]
    rules = [
        rule("allow", **to(*long)),
        rule("allow", **to("other")),
        rule("allow", values={"role:recipient": {"equals": "user5"}}),
    ]
    rules += [rule("deny", values={"role:recipient": {"equals": "x", "maxLength": 9}})]
    assert looked_at(place, rules, call("send", {"to": "user5"})) == [[0, 2, 3]]
    assert looked_at(place, rules, call("send", {"to": "nobody"})) == [[3]]
    assert looked_at(place, rules, call("send", {"to": '"x'})) == [[3]]
    assert looked_at(place, [rule("deny", **to("eve")), *rules], call("send", {"to": '"x'})) == [[0, 4]]


def test_the_reason_is_the_rules_own_words_if_it_has_any(place: Place) -> None:
    def reason(**more: str) -> str:
        return decide(
            place.load([{**rule("allow", "may", tool=["info"]), **more}], FILE_TOOLS), call("info", {})
        ).reason

    assert reason(reason="because", description="what") == "because"
    assert reason(description="what") == "what"
    assert reason() == "the rule may says allow"


def test_a_claim_that_no_rule_allows_is_named(place: Place) -> None:
    loaded = place.load([], [*FILE_TOOLS, MAIL])
    assert decide(loaded, call("info", {})).reason == "no rule allows this call"
    assert decide(loaded, call("send", {"to": "bob"})).reason == "no rule allows recipient bob"
    assert decide(loaded, call("send", {"to": "b" * 300})).reason == f"no rule allows recipient {'b' * 200}..."
    assert decide(loaded, call("send", {"to": "b" * 200})).reason == f"no rule allows recipient {'b' * 200}"


def test_a_condition_that_is_not_looked_up_is_asked_all_the_same(place: Place) -> None:
    """A rule is filed under one of its conditions; the others must be right by themselves."""
    share = tool("share", {"to": ["recipient"], "url": ["send-url"]})
    rules = [
        rule(
            "allow",
            "both",
            tool=["share"],
            domains={"roles": ["send-url"], "allowed": ["*.example.com", "b.example"]},
            **to("bob"),
        ),
        rule("allow", "urls", tool=["share"], roles=["send-url"]),
    ]
    loaded = place.load(rules, [share])
    hosts = {
        "a.example.com": "allow",
        "a.b.example.com": "allow",
        "b.example": "allow",
        "badexample.com": "deny",
        "example.com": "deny",
        "a.b.example": "deny",
    }
    for host, expected in hosts.items():
        assert outcome(loaded, call("share", {"to": "bob", "url": f"https://{host}/"})) == expected, host


def test_the_bounds_of_patterns_are_where_they_are_said_to_be() -> None:
    for fine, refused in (
        ("[" + "a" * 998 + "]", "[" + "a" * 999 + "]"),
        ("a{997}", "a{998}"),
        ("(" * 49 + "a" + ")" * 49, "(" * 50 + "a" + ")" * 50),
    ):
        compile_pattern(fine, dot_spans_lines=True)
        with pytest.raises(PatternError):
            compile_pattern(refused, dot_spans_lines=True)


def test_a_pattern_remembers_only_so_much() -> None:
    compiled = compile_pattern(".*x", dot_spans_lines=True)
    for index in range(5_000):
        compiled.fullmatch(chr(0x4E00 + index))
    assert 1 < len(compiled._steps) <= 2_000


def test_everything_that_asks_is_named_each_once(place: Place) -> None:
    rules = [
        rule("escalate", "people", lists=[{"roles": ["recipient"], "allowed": ["bob", "eve"]}]),
        rule("escalate", "files", paths={"roles": ["read-path"], "within": "/"}),
        rule("allow", "rest", tool=["send"]),
    ]
    loaded = place.load(rules, [MAIL])
    judged = judge(loaded, call("send", {"to": "bob", "file": "{root}/f", "body": "x"}))
    assert judged.call is not None
    assert judged.facts is not None
    asking = escalations(judged.call, loaded.policy, judged.facts)
    assert {verdict.rule for verdict in asking} == {"people", "files"}
    assert len(asking) == 2
    assert {verdict.outcome.word for verdict in asking} == {"escalate"}


SEEN = {"roles": ["recipient"], "from": ["fs/fetch"]}


@pytest.mark.parametrize(
    ("rules", "sources", "expected"),
    [
        ([rule("deny", origin=SEEN), rule("allow", tool=["send"])], ["fs/fetch"], "deny"),
        ([rule("deny", origin=SEEN), rule("allow", tool=["send"])], ["fs/fetch", "fs/run"], "deny"),
        ([rule("deny", origin=SEEN), rule("allow", tool=["send"])], ["fs/run"], "allow"),
        ([rule("deny", origin=SEEN), rule("allow", tool=["send"])], [], "allow"),
        ([rule("deny", origin=SEEN), rule("allow", tool=["send"])], None, "deny"),
        ([rule("escalate", origin=SEEN), rule("allow", tool=["send"])], ["fs/fetch"], "escalate"),
        ([rule("escalate", origin=SEEN), rule("allow", tool=["send"])], ["fs/run"], "allow"),
        ([rule("escalate", origin=SEEN), rule("deny", tool=["send"])], ["fs/fetch"], "escalate"),
        ([rule("escalate", origin=SEEN, assess={"question": "?"}), rule("deny", tool=["send"])], ["fs/fetch"], "deny"),
        ([rule("allow", origin=SEEN)], ["fs/fetch"], "deny"),
        ([rule("allow", origin=SEEN)], ["fs/run"], "deny"),
        ([rule("deny", origin=SEEN, lists=to("eve")["lists"]), rule("allow", tool=["send"])], ["fs/fetch"], "allow"),
    ],
)
def test_where_something_comes_from(place: Place, rules: Any, sources: list[str] | None, expected: str) -> None:
    rules = [{**made, "name": f"r{index}"} for index, made in enumerate(rules)]
    request = call("send", {"to": "bob"})
    loaded = place.load(rules, [MAIL, WEB, RUN])
    assert outcome(loaded, request if sources is None else {**request, "sources": sources}) == expected


def test_the_story_tells_the_same_of_where_something_comes_from(place: Place) -> None:
    odd = rule("deny", "odd", origin=SEEN, values={"arg:to": {"maximum": 50}})
    loaded = place.load([odd, rule("escalate", "seen", origin=SEEN), rule("allow", "may", tool=["send"])], [MAIL, WEB])
    for sources, expected, says in (
        (["fs/run"], "allow", "nothing was read where it says"),
        ([], "allow", "nothing was"),
    ):
        judged = judge(loaded, {**call("send", {"to": "bob"}), "sources": sources})
        assert judged.call is not None
        tool_ = loaded.policy.tools["fs", "send"]
        (story,) = claim_stories(judged.call, loaded.policy.book.rules, tool_, loaded.policy.setup.sandbox)
        assert story.verdict.outcome.word == judged.decision.outcome.word == expected
        assert [asked.answer.startswith(says) for asked in story.asked] == [True, True, False]
