"""Steps 3 to 6, clause by clause. The worked examples and the attacks are in `tests/corpus/`."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from ironcurtain.engine.chain import name_is_listed
from ironcurtain.engine.conditions import Scope, polar_tests
from ironcurtain.engine.evaluate import escalations, evaluate
from ironcurtain.engine.explain import claim_stories, decisive_rules
from ironcurtain.engine.pattern import PatternError, TextTooLong, compile_pattern
from ironcurtain.engine.policy import Facts
from ironcurtain.engine.rules import claims_of
from ironcurtain.errors import ArtifactError
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
    flags = ("elsewhere", "joined")
    return {
        "name": name or f"{then}-{hash(str(conditions)) % 99999}",
        "if": {key: body for key, body in conditions.items() if key not in flags},
        "then": then,
        **{flag: True for flag in flags if conditions.get(flag)},
    }


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
        # an unknown value satisfies every condition on a value in a deny or escalate
        ([rule("deny", **to("bob")), rule("allow", tool=["send"])], call("send", {}), "deny"),
        ([rule("escalate", **to("bob")), rule("allow", tool=["send"])], call("send", {}), "escalate"),
        ([rule("deny", **to("bob")), rule("allow", tool=["send"])], call("send", {"to": "eve"}), "allow"),
        (
            [rule("deny", values={"role:recipient": {"maximum": 5}}), rule("allow", tool=["send"])],
            call("send", {}),
            "deny",
        ),
        (
            [rule("deny", paths={"roles": ["read-path"], "within": "{root}/p"}), rule("allow", tool=["read"])],
            call("read", {"path": ""}),
            "deny",
        ),
        (
            [rule("deny", domains={"roles": ["fetch-url"], "allowed": ["x.example"]}), rule("allow", tool=["fetch"])],
            call("fetch", {}),
            "deny",
        ),
        (
            [rule("deny", values={"role:outbound-content": {"matches": "x"}}), rule("allow", tool=["send"])],
            call("send", {"to": "bob"}),
            "allow",
        ),
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
            [rule("escalate", values={"role:outbound-content": {"matches": "-?4[0-9]"}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": -41}),
            "escalate",
        ),
        (
            [rule("escalate", values={"role:outbound-content": {"matches": "-?4[0-9]"}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": 410}),
            "allow",
        ),
        (
            [rule("escalate", values={"role:outbound-content": {"matches": "-?4.*"}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": 4.5}),
            "deny",
        ),
        (
            [rule("escalate", values={"role:outbound-content": {"matches": "True|1"}}), rule("allow", tool=["post"])],
            call("post", {"channel": "C", "text": True}),
            "deny",
        ),
        (
            [
                rule("escalate", values={"role:outbound-content": {"matches": "4.*", "maxLength": 9}}),
                rule("allow", tool=["post"]),
            ],
            call("post", {"channel": "C", "text": 41}),
            "deny",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:text": {"matches": "4[0-9]"}})],
            call("post", {"channel": "C", "text": 41}),
            "allow",
        ),
        (
            [rule("allow", tool=["post"], values={"arg:text": {"matches": "4[0-9]"}})],
            call("post", {"channel": "C", "text": 4.5}),
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


# --- exceptions, joined questions, lists of directories, groups of roles, folded texts ----------------------------

BOOKS = {"roles": ["read-path"], "within": "{root}/books"}
INVITE = tool(
    "invite",
    {
        "to": {"roles": ["recipient"], "absent": "nothing"},
        "guests": {"roles": ["attendee"], "absent": "nothing"},
        "title": {"roles": ["outbound-content"], "absent": "nothing"},
    },
)
EVENT = tool(
    "event", {"calendarId": {"roles": ["none"]}, "title": {"roles": ["outbound-content"], "absent": "nothing"}}
)
PAY = tool("pay", {"payee": ["account"], "amount": {"roles": ["amount"], "absent": "nothing"}})
UPLOAD = tool("upload", {"place": ["place"], "file": {"roles": ["read-path"], "absent": "nothing"}})
CONNECT = tool("connect", {"host": ["host"], "file": {"roles": ["read-path"], "absent": "nothing"}})
NOTE = tool("note", {"text": ["identifier"]})
LANGUAGE_TOOLS = [*FILE_TOOLS, MAIL, WEB, POST, RUN, PLAIN, INVITE, EVENT, PAY, UPLOAD, CONNECT, NOTE]
LANGUAGE_LISTS = {"customers": ["jan", "kim"], "many": [f"user{index}" for index in range(100)]}


def language_outcome(place: Place, rules: list[Any], request: dict[str, Any]) -> str:
    rules = [{**made, "name": f"r{index}"} for index, made in enumerate(rules)]
    loaded = place.load(rules, LANGUAGE_TOOLS, lists=LANGUAGE_LISTS)
    return outcome(loaded, json.loads(place.fill(json.dumps(request))))


@pytest.mark.parametrize(
    ("rules", "tool_name", "cases"),
    [
        (  # must never send email to anyone outside customers
            [rule("deny", tool=["send"], unless=[to("@customers")]), rule("allow", tool=["send"])],
            "send",
            [
                ({"to": ["jan"], "body": "x"}, "allow"),
                ({"to": ["jan", "ann"], "body": "x"}, "deny"),
                ({"to": ["jan", "kim"], "body": "x"}, "allow"),
                ({"to": ["ann"]}, "deny"),
                ({"body": "x"}, "deny"),
            ],
        ),
        (  # must never send email with attachments from books, except to ann
            [
                rule("deny", tool=["send"], roles=["recipient", "read-path"], paths=BOOKS, unless=[to("ann")]),
                rule("allow", tool=["send"]),
            ],
            "send",
            [
                ({"to": ["ann"], "file": "{root}/books/a"}, "allow"),
                ({"to": ["jan", "ann"], "file": "{root}/books/a"}, "deny"),
                ({"to": ["jan", "ann"]}, "allow"),
                ({"to": ["jan", "ann"], "file": "{root}/books2/a"}, "allow"),
                ({"to": ["jan"], "file": "{root}/books/a"}, "deny"),
            ],
        ),
        (  # may create events, except where calendarId is work
            [rule("allow", tool=["event"], unless=[{"values": {"arg:calendarId": {"equals": "work"}}}])],
            "event",
            [
                ({"calendarId": "home", "title": "x"}, "allow"),
                ({"calendarId": "work", "title": "x"}, "deny"),
                ({"title": "x"}, "deny"),
                ({"calendarId": "homework", "title": "x"}, "allow"),
            ],
        ),
    ],
)
def test_the_worked_examples_of_exceptions(place: Place, rules: Any, tool_name: str, cases: Any) -> None:
    for arguments, expected in cases:
        assert language_outcome(place, rules, call(tool_name, arguments)) == expected, arguments


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"to": "jan"}, "allow"),
        ({"to": ["jan", "kim"]}, "allow"),
        ({"to": "ann"}, "deny"),
        ({"to": ["jan", "ann"]}, "deny"),
        ({}, "deny"),  # unknown
        ({"to": ["jan", ","]}, "deny"),
        ({"to": '"jan'}, "deny"),  # opaque
        ({"to": "JAN"}, "deny"),  # not folded
        ({"to": "@jan"}, "deny"),
    ],
)
def test_an_exception_of_a_deny_needs_a_value_and_all_of_them(place: Place, arguments: Any, expected: str) -> None:
    rules = [rule("deny", tool=["send"], unless=[to("@customers")]), rule("allow", tool=["send"])]
    assert language_outcome(place, rules, call("send", arguments)) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"to": "ann"}, "allow"),
        ({"to": ["ann", "bob"], "body": "x"}, "allow"),
        ({"to": "jan"}, "deny"),
        ({"to": ["ann", "jan"], "body": "x"}, "deny"),
        ({}, "deny"),
        ({"to": ["ann", ","]}, "deny"),
        ({"to": '"ann'}, "deny"),
        ({"to": "JAN"}, "deny"),
        ({"to": "@jan"}, "deny"),
    ],
)
def test_an_exception_of_an_allow_needs_one_value_that_may_pass(place: Place, arguments: Any, expected: str) -> None:
    rules = [rule("allow", tool=["send"], unless=[to("@customers")])]
    assert language_outcome(place, rules, call("send", arguments)) == expected


def unless_value(name: str, **predicate: Any) -> list[Any]:
    return [{"values": {name: predicate}}]


@pytest.mark.parametrize(
    ("rules", "request_", "expected"),
    [
        # every kind of condition; with the near miss beside it
        (
            [rule("deny", tool=["delete"], unless=[{"paths": {"roles": ["delete-path"], "within": "{root}/tmp"}}])],
            call("delete", {"path": "{root}/tmp/x"}),
            "allow",
        ),
        (
            [rule("deny", tool=["delete"], unless=[{"paths": {"roles": ["delete-path"], "within": "{root}/tmp"}}])],
            call("delete", {"path": "{root}/tmp2/x"}),
            "deny",
        ),
        (
            [rule("deny", tool=["fetch"], unless=[{"domains": {"roles": ["fetch-url"], "allowed": ["*.x.example"]}}])],
            call("fetch", {"url": "https://a.x.example/"}),
            "allow",
        ),
        (
            [rule("deny", tool=["fetch"], unless=[{"domains": {"roles": ["fetch-url"], "allowed": ["*.x.example"]}}])],
            call("fetch", {"url": "https://x.example/"}),
            "deny",
        ),
        # of a place that is no URL the host is looked at in what tightens only
        (
            [rule("deny", tool=["upload"], unless=[{"domains": {"roles": ["place"], "allowed": ["x.example"]}}])],
            call("upload", {"place": "git@x.example:a"}),
            "deny",
        ),
        (
            [rule("deny", tool=["upload"], unless=[{"domains": {"roles": ["place"], "allowed": ["x.example"]}}])],
            call("upload", {"place": "https://x.example/a"}),
            "allow",
        ),
        (
            [
                rule(
                    "allow",
                    "no-git",
                    tool=["upload"],
                    unless=[{"domains": {"roles": ["place"], "allowed": ["x.example"]}}],
                )
            ],
            call("upload", {"place": "git@x.example:a"}),
            "deny",
        ),
        (
            [
                rule(
                    "allow",
                    "no-git",
                    tool=["upload"],
                    unless=[{"domains": {"roles": ["place"], "allowed": ["x.example"]}}],
                )
            ],
            call("upload", {"place": "git@y.example:a"}),
            "allow",
        ),
        # counts
        (
            [rule("deny", tool=["send"], unless=unless_value("role:recipient", maxItems=2))],
            call("send", {"to": "a, b"}),
            "allow",
        ),
        (
            [rule("deny", tool=["send"], unless=unless_value("role:recipient", maxItems=2))],
            call("send", {"to": "a, b, c"}),
            "deny",
        ),
        ([rule("deny", tool=["send"], unless=unless_value("role:recipient", maxItems=2))], call("send", {}), "deny"),
        ([rule("deny", tool=["send"], unless=unless_value("role:recipient", minItems=1))], call("send", {}), "deny"),
        (
            [rule("allow", "few", tool=["send"], unless=unless_value("role:recipient", minItems=2))],
            call("send", {}),
            "deny",
        ),
        (
            [rule("allow", "few", tool=["send"], unless=unless_value("role:recipient", minItems=2))],
            call("send", {"to": "a"}),
            "allow",
        ),
        # an absent argument that is nothing: no value, so no exception holds
        (
            [rule("deny", tool=["pay"], unless=unless_value("arg:amount", maximum=5))],
            call("pay", {"payee": "acme"}),
            "deny",
        ),
        (
            [rule("allow", "small", tool=["pay"], unless=unless_value("arg:amount", minimum=5))],
            call("pay", {"payee": "acme"}),
            "allow",
        ),
        # errors pass in an exception of an allow, and in no other
        (
            [rule("deny", tool=["pay"], unless=unless_value("arg:amount", maximum=5))],
            call("pay", {"payee": "acme", "amount": 5}),
            "allow",
        ),
        (
            [rule("deny", tool=["pay"], unless=unless_value("arg:amount", maximum=5))],
            call("pay", {"payee": "acme", "amount": "5"}),
            "deny",
        ),
        (
            [rule("allow", "small", tool=["pay"], unless=unless_value("arg:amount", minimum=5))],
            call("pay", {"payee": "acme", "amount": "4"}),
            "deny",
        ),
        (
            [rule("allow", "small", tool=["pay"], unless=unless_value("arg:amount", minimum=5))],
            call("pay", {"payee": "acme", "amount": 4}),
            "allow",
        ),
        (
            [rule("allow", "short", tool=["note"], unless=unless_value("arg:text", matches="x*"))],
            call("note", {"text": "y" * 4_097}),
            "deny",
        ),
        (
            [rule("allow", "short", tool=["note"], unless=unless_value("arg:text", matches="x*"))],
            call("note", {"text": "y" * 4_096}),
            "allow",
        ),
        # a command with shell syntax is opaque in an exception of a deny, and is taken apart in one of an allow
        (
            [rule("deny", tool=["run"], unless=unless_value("role:command", equals="ls"))],
            call("run", {"command": "ls"}),
            "allow",
        ),
        (
            [rule("deny", tool=["run"], unless=unless_value("role:command", equals="ls"))],
            call("run", {"command": "ls; ls"}),
            "deny",
        ),
        (
            [rule("allow", "no-rm", tool=["run"], unless=unless_value("role:command", equals="rm"))],
            call("run", {"command": "ls; rm"}),
            "deny",
        ),
        (
            [rule("allow", "no-rm", tool=["run"], unless=unless_value("role:command", equals="rm"))],
            call("run", {"command": "ls; pwd"}),
            "allow",
        ),
        # a dot spans lines in an exception of an allow, and not in one of a deny
        (
            [rule("deny", tool=["note"], unless=unless_value("arg:text", matches="a.*"))],
            call("note", {"text": "a\nb"}),
            "deny",
        ),
        (
            [rule("deny", tool=["note"], unless=unless_value("arg:text", matches="a.*"))],
            call("note", {"text": "ab"}),
            "allow",
        ),
        (
            [rule("allow", "not-a", tool=["note"], unless=unless_value("arg:text", matches="a.*"))],
            call("note", {"text": "a\nb"}),
            "deny",
        ),
        (
            [rule("allow", "not-a", tool=["note"], unless=unless_value("arg:text", matches="a.*"))],
            call("note", {"text": "b\na"}),
            "allow",
        ),
        # a carried claim of a role that the exception speaks of: all its values in a deny, any in an allow
        (
            [rule("deny", roles=["identifier"], unless=unless_value("role:identifier", equals="a"))],
            call("note", {"text": ["a", "b"]}),
            "deny",
        ),
        (
            [rule("deny", roles=["identifier"], unless=unless_value("role:identifier", equals="a"))],
            call("note", {"text": ["a", "a"]}),
            "allow",
        ),
        # an error in the rule itself is not excepted, and in an allow it does not match
        (
            [
                rule(
                    "escalate",
                    values={"arg:amount": {"minimum": 5}},
                    unless=unless_value("role:account", equals="acme"),
                )
            ],
            call("pay", {"payee": "acme", "amount": "9"}),
            "deny",
        ),
        (
            [
                rule(
                    "escalate",
                    values={"arg:amount": {"minimum": 5}},
                    unless=unless_value("role:account", equals="acme"),
                )
            ],
            call("pay", {"payee": "acme", "amount": 9}),
            "allow",
        ),
        # an unanswered rule is lifted too
        (
            [rule("deny", tool=["pay"], assess={"question": "?"}, unless=unless_value("role:account", equals="acme"))],
            call("pay", {"payee": "acme"}),
            "allow",
        ),
        (
            [rule("deny", tool=["pay"], assess={"question": "?"}, unless=unless_value("role:account", equals="acme"))],
            call("pay", {"payee": "other"}),
            "deny",
        ),
    ],
)
def test_exceptions(place: Place, rules: Any, request_: Any, expected: str) -> None:
    rest = [] if rules[0]["then"] == "allow" else [rule("allow", tool=["*"])]
    assert language_outcome(place, [*rules, *rest], request_) == expected


@pytest.mark.parametrize(
    ("then", "own", "in_exceptions"), [("allow", True, False), ("deny", False, True), ("escalate", False, True)]
)
def test_the_tests_of_a_rule_are_told_with_their_polarity(
    place: Place, then: str, own: bool, in_exceptions: bool
) -> None:
    made = rule(then, paths=BOOKS, unless=[to("ann"), {"values": {"arg:to": {"maxItems": 2}}}], **to("bob"))
    (loaded,) = place.load([made], [MAIL]).policy.book.rules
    told = [(type(test).__name__, as_in_allow) for test, as_in_allow in polar_tests(loaded)]
    exceptions = [("ListTest", in_exceptions), ("ValueTest", in_exceptions)]
    assert told == [("PathTest", own), ("ListTest", own), *exceptions]


def test_every_key_of_a_predicate_is_asked(place: Place) -> None:
    every = {"equals": 5, "matches": ".*", "minimum": 1, "maximum": 9, "maxLength": 3}
    rules = [rule("escalate", values={"arg:amount": every}), rule("allow", tool=["pay"])]
    assert language_outcome(place, rules, call("pay", {"payee": "acme", "amount": 5})) == "deny"  # 5 has no length
    assert language_outcome(place, rules, call("pay", {"payee": "acme"})) == "allow"


def test_groups_of_exceptions_are_not_combined(place: Place) -> None:
    groups = [
        {"values": {"role:account": {"equals": "acme"}, "arg:amount": {"maximum": 5}}},
        {"values": {"role:account": {"equals": "globex"}, "arg:amount": {"maximum": 50}}},
    ]
    rules = [rule("deny", tool=["pay"], unless=groups), rule("allow", tool=["pay"])]
    for payee, amount, expected in (
        ("acme", 5, "allow"),
        ("globex", 50, "allow"),
        ("acme", 50, "deny"),
        ("other", 5, "deny"),
    ):
        assert language_outcome(place, rules, call("pay", {"payee": payee, "amount": amount})) == expected


def test_an_exception_names_no_roles(place: Place) -> None:
    """A blanket permission stays one, and a rule without roles applies to every claim."""
    rules = [rule("allow", tool=["send"], unless=[to("eve")])]
    assert language_outcome(place, rules, call("send", {"to": "bob", "file": "{root}/f"})) == "allow"
    assert language_outcome(place, rules, call("send", {"to": "eve", "file": "{root}/f"})) == "deny"
    quiet = [rule("allow", sideEffects=True, unless=[to("eve")])]
    assert language_outcome(place, quiet, call("send", {"to": "bob"})) == "deny"
    assert language_outcome(place, quiet, call("plain", {})) == "allow"


def test_a_file_with_other_names_is_in_no_exception_of_a_deny(place: Place) -> None:
    (place.root / "tmp").mkdir()
    place.file("tmp/plain")
    (place.root / "tmp" / "twin").hardlink_to(place.file("elsewhere"))
    within = {"paths": {"roles": ["delete-path"], "within": "{root}/tmp"}}
    rules = [rule("deny", tool=["delete"], unless=[within]), rule("allow", tool=["delete"])]
    assert language_outcome(place, rules, call("delete", {"path": "{root}/tmp/plain"})) == "allow"
    assert language_outcome(place, rules, call("delete", {"path": "{root}/tmp/twin"})) == "deny"
    kept = [rule("allow", tool=["delete"], unless=[within])]
    assert language_outcome(place, kept, call("delete", {"path": "{root}/tmp/twin"})) == "deny"
    assert language_outcome(place, kept, call("delete", {"path": "{root}/elsewhere"})) == "escalate"  # at most


def test_an_exception_opens_no_private_host(place: Place) -> None:
    inside: Any = {"domains": {"roles": ["fetch-url"], "allowed": ["10.0.0.1"]}}
    local = call("fetch", {"url": "http://10.0.0.1/"})
    assert language_outcome(place, [rule("allow", tool=["fetch"], unless=[inside])], local) == "deny"
    assert language_outcome(place, [rule("deny", unless=[inside]), rule("allow", tool=["fetch"])], local) == "deny"
    assert language_outcome(place, [rule("deny", unless=[inside]), rule("allow", **inside)], local) == "allow"


@pytest.mark.parametrize(
    ("rules", "request_", "expected"),
    [
        ([rule("escalate", tool=["plain"], joined=True), rule("allow", tool=["plain"])], call("plain", {}), "escalate"),
        ([rule("escalate", tool=["plain"], joined=True), rule("deny", tool=["plain"])], call("plain", {}), "deny"),
        ([rule("escalate", tool=["plain"], joined=True)], call("plain", {}), "deny"),
        ([rule("escalate", tool=["plain"])], call("plain", {}), "escalate"),
        ([rule("allow", tool=["plain"]), rule("escalate", tool=["plain"], joined=True)], call("plain", {}), "allow"),
        ([rule("escalate", tool=["info"], joined=True), rule("allow", tool=["plain"])], call("plain", {}), "allow"),
        ([rule("escalate", joined=True)], call("read", {"path": "{box}/x"}), "escalate"),
        ([rule("escalate", joined=True, elsewhere=True)], call("read", {"path": "{box}/x"}), "allow"),
        ([rule("escalate", joined=True, elsewhere=True)], call("read", {"path": "{root}/x"}), "deny"),
        (
            [rule("escalate", values={"arg:amount": {"minimum": 5}}, joined=True), rule("allow", tool=["pay"])],
            call("pay", {"payee": "acme", "amount": "5"}),
            "deny",
        ),
        (
            [rule("escalate", roles=["account"], joined=True, unless=unless_value("arg:payee", equals="acme"))],
            call("pay", {"payee": "acme"}),
            "deny",
        ),
        (
            [
                rule("escalate", roles=["account"], joined=True, unless=unless_value("arg:payee", equals="acme")),
                rule("allow", tool=["pay"]),
            ],
            call("pay", {"payee": "acme"}),
            "allow",
        ),
    ],
)
def test_a_joined_escalate_permits_nothing(place: Place, rules: Any, request_: Any, expected: str) -> None:
    assert language_outcome(place, rules, request_) == expected


@pytest.mark.parametrize(
    ("rules", "request_", "expected"),
    [
        ([rule("escalate", roles=["recipient"])], call("send", {"to": "bob", "body": "x"}), "escalate"),
        ([rule("escalate", roles=["recipient"])], call("send", {"body": "x"}), "escalate"),  # an unknown value is one
        ([rule("escalate", roles=["recipient"])], call("note", {"text": "x"}), "deny"),
        ([rule("escalate", roles=["recipient"])], call("invite", {"guests": "bob", "title": "x"}), "deny"),
        ([rule("escalate", **to("bob"))], call("send", {"to": ["bob", "eve"], "body": "x"}), "deny"),
        ([rule("escalate", **to("bob"))], call("send", {"to": "bob", "body": "x", "file": "{root}/f"}), "deny"),
        ([rule("escalate", roles=["read-path"])], call("send", {"to": "bob", "file": "{root}/f"}), "deny"),
        ([rule("deny", roles=["recipient"]), rule("allow", tool=["note"])], call("note", {"text": "x"}), "allow"),
        ([rule("allow", roles=["outbound-content"]), rule("escalate", **to("bob"))], call("send", {"to": "bob", "body": "x"}), "escalate"),
        # elsewhere: of what is contained it asks nothing, and then covers nothing beside it
        ([rule("escalate", roles=["read-path"], elsewhere=True)], call("share", {"path": "{root}/x", "note": "n"}), "escalate"),
        ([rule("escalate", roles=["read-path"], elsewhere=True)], call("share", {"path": ["{box}/x", "{root}/x"], "note": "n"}), "escalate"),
        ([rule("escalate", roles=["read-path"], elsewhere=True)], call("share", {"path": "{box}/x", "note": "n"}), "deny"),
        ([rule("escalate", roles=["read-path"], elsewhere=True)], call("share", {"path": ["{box}/x", ""], "note": "n"}), "escalate"),
        ([rule("escalate", roles=["read-path"], elsewhere=True)], call("share", {"path": "{box}/x"}), "allow"),
        ([rule("escalate", roles=["read-path"])], call("share", {"path": "{box}/x", "note": "n"}), "escalate"),
    ],
)  # fmt: skip
def test_an_escalate_covers_what_is_carried_beside_its_values(
    place: Place, rules: Any, request_: Any, expected: str
) -> None:
    share = tool("share", {"path": ["read-path"], "note": {"roles": ["outbound-content"], "absent": "nothing"}})
    rules = [{**made, "name": f"r{index}"} for index, made in enumerate(rules)]
    loaded = place.load(rules, [MAIL, NOTE, INVITE, share])
    assert outcome(loaded, json.loads(place.fill(json.dumps(request_)))) == expected


def test_a_path_is_within_one_of_several_directories(place: Place) -> None:
    within = {"roles": ["read-path"], "within": ["{root}/a", "{root}/b/c"]}
    allows, denies = [rule("allow", paths=within)], [rule("deny", paths=within), rule("allow", tool=["*"])]
    for path, inside in (
        ("{root}/a", True),
        ("{root}/a/x", True),
        ("{root}/b/c/x", True),
        ("{root}/b/x", False),
        ("{root}/ab/x", False),
    ):
        assert language_outcome(place, allows, call("read", {"path": path})) == ("allow" if inside else "deny")
        assert language_outcome(place, denies, call("read", {"path": path})) == ("deny" if inside else "allow")
    mixed = call("read_many", {"paths": ["{root}/a/x", "{root}/b/c/x"]})
    assert language_outcome(place, allows, mixed) == "allow"


@pytest.mark.parametrize(
    ("rules", "arguments", "expected"),
    [
        ([rule("deny", values={"role:recipient+attendee": {"minItems": 3}})], {"to": "a, b", "guests": "c"}, "deny"),
        ([rule("deny", values={"role:recipient+attendee": {"minItems": 3}})], {"to": "a", "guests": "c"}, "allow"),
        ([rule("deny", values={"role:recipient+attendee": {"minItems": 3}})], {"guests": "a, b, c"}, "deny"),
        ([rule("deny", values={"role:recipient+attendee": {"minItems": 3}})], {"to": "a", "guests": ","}, "deny"),
        ([rule("deny", values={"role:recipient+attendee": {"equals": "eve"}})], {"to": "a", "guests": "eve"}, "deny"),
        ([rule("deny", values={"role:recipient+attendee": {"equals": "eve"}})], {"to": "eve", "guests": "a"}, "deny"),
        ([rule("deny", values={"role:recipient+attendee": {"equals": "eve"}})], {"to": "b", "guests": "a"}, "allow"),
        ([rule("deny", values={"role:recipient+channel": {"equals": "eve"}})], {"to": "b", "guests": "eve"}, "allow"),
        # it names both roles, and looks at both from any other claim
        ([rule("allow", values={"role:recipient+attendee": {"in": ["a", "b"]}})], {"to": "a", "guests": "b"}, "allow"),
        ([rule("allow", values={"role:recipient+attendee": {"in": ["a", "b"]}})], {"to": "a", "guests": "c"}, "deny"),
        ([rule("allow", values={"role:recipient+attendee": {"in": ["a"]}})], {"guests": "a", "title": "x"}, "allow"),
        (
            [rule("allow", values={"role:recipient+attendee": {"in": ["a"], "maxItems": 1}})],
            {"to": "a", "guests": "a"},
            "deny",
        ),
    ],
)
def test_a_group_of_roles(place: Place, rules: Any, arguments: Any, expected: str) -> None:
    rest = [] if rules[0]["then"] == "allow" else [rule("allow", tool=["invite"])]
    assert language_outcome(place, [*rules, *rest], call("invite", arguments)) == expected


FOLDED = ["#Team", "team", "TEAM", "@team", "##@Team", " #team ", "\uff34eam", "\uff03team", "te\u2090m", "#\u1d40eam"]
NOT_FOLDED = ["team2", "t eam", "team#", "te\u0430m", "#", "@"]


@pytest.mark.parametrize(
    "conditions",
    [
        {"lists": [{"roles": ["channel"], "allowed": ["#Team"]}]},
        {"lists": [{"roles": ["channel"], "allowed": ["@many", "#Team"]}]},
        {"values": {"role:channel": {"equals": "#Team"}}},
        {"values": {"role:channel": {"in": ["other", "#Team"]}}},
        {"values": {"arg:channel": {"in": ["other", "#Team"]}}},
        {"tool": ["post"], "values": {"role:channel": {"equals": "#Team", "maxLength": 99}}},
    ],
)
def test_a_deny_compares_folded_and_an_allow_exactly(place: Place, conditions: Any) -> None:
    def post(rules: list[Any], channel: str) -> str:
        return language_outcome(place, rules, call("post", {"channel": channel, "text": "x"}))

    denies = [rule("deny", **conditions), rule("allow", tool=["post"])]
    asks = [rule("escalate", **conditions), rule("allow", tool=["post"])]
    allows = [rule("allow", **{"tool": ["post"], **conditions})]
    for channel in FOLDED:
        assert (post(denies, channel), post(asks, channel)) == ("deny", "escalate"), channel
    for channel in NOT_FOLDED:
        assert (post(denies, channel), post(asks, channel)) == ("allow", "allow"), channel
    for channel in (*FOLDED, *NOT_FOLDED):
        assert post(allows, channel) == ("allow" if channel.strip() == "#Team" else "deny"), channel


def test_folding_keeps_types_apart(place: Place) -> None:
    rules = [rule("deny", values={"arg:amount": {"in": ["#5", "TRUE"]}}), rule("allow", tool=["pay"])]
    for amount, expected in (("5", "deny"), ("true", "deny"), (5, "allow"), (True, "allow")):
        assert language_outcome(place, rules, call("pay", {"payee": "acme", "amount": amount})) == expected


def test_a_literal_of_signs_only_is_itself(place: Place) -> None:
    rules = [rule("deny", values={"role:channel": {"equals": "#"}}), rule("allow", tool=["post"])]
    for channel, expected in (("#", "deny"), (" \uff03 ", "deny"), ("@", "allow"), ("##", "allow"), ("#a", "allow")):
        assert language_outcome(place, rules, call("post", {"channel": channel, "text": "x"})) == expected


@pytest.mark.parametrize(
    ("text", "denied", "allowed"),
    [
        ("secret", "deny", "allow"),
        ("\uff53ecret", "deny", "deny"),
        ("\u017fecret", "deny", "deny"),
        ("Secret", "allow", "deny"),
        ("\uff33ecret", "allow", "deny"),
        ("s\u0435cret", "allow", "deny"),
    ],
)
def test_a_pattern_is_also_asked_of_the_compatibility_form_where_it_tightens(
    place: Place, text: str, denied: str, allowed: str
) -> None:
    secret: Any = {"values": {"role:identifier": {"matches": "secret"}}}
    request = call("note", {"text": text})
    assert language_outcome(place, [rule("deny", **secret), rule("allow", tool=["note"])], request) == denied
    assert language_outcome(place, [rule("allow", **secret)], request) == allowed
    assert language_outcome(place, [rule("allow", tool=["note"], unless=[secret])], request) == denied
    lifted = [rule("deny", tool=["note"], unless=[secret]), rule("allow", tool=["note"])]
    assert language_outcome(place, lifted, request) == allowed


def test_a_compatibility_form_may_be_too_long_to_match(place: Place) -> None:
    rules = [rule("escalate", values={"role:identifier": {"matches": "x*"}}), rule("allow", tool=["note"])]
    ligature = "\ufb03"  # one character, three in compatibility form
    assert language_outcome(place, rules, call("note", {"text": ligature * 1_365})) == "allow"
    assert language_outcome(place, rules, call("note", {"text": ligature * 1_366})) == "deny"


def test_a_pattern_is_asked_of_the_text_itself_too(place: Place) -> None:
    rules = [rule("deny", values={"role:identifier": {"matches": "\uff53ecret"}}), rule("allow", tool=["note"])]
    assert language_outcome(place, rules, call("note", {"text": "\uff53ecret"})) == "deny"
    assert language_outcome(place, rules, call("note", {"text": "secret"})) == "allow"


@pytest.mark.parametrize(
    ("predicate", "arguments", "denied", "allowed"),
    [
        ({"given": True}, {"to": "bob"}, "deny", "allow"),
        ({"given": True}, {}, "allow", "deny"),  # unknown: the server picks somebody
        ({"given": True}, {"to": ","}, "allow", "deny"),
        ({"given": True}, {"to": ["bob", ","]}, "deny", "deny"),
        ({"given": True}, {"to": '"bob'}, "deny", "allow"),  # opaque, but sent
        ({"given": True, "matches": ".*"}, {"to": '"bob'}, "deny", "deny"),
        ({"given": True, "minItems": 1}, {"to": '"bob'}, "deny", "deny"),  # sent, but not to be counted
        ({"given": True, "equals": "bob"}, {"to": "bob"}, "deny", "allow"),
        ({"given": True, "equals": "bob"}, {"to": "eve"}, "allow", "deny"),
        ({"given": True, "equals": "bob"}, {}, "allow", "deny"),
        ({"given": True, "maximum": 5}, {}, "allow", "deny"),
        ({"given": True, "maximum": 5}, {"to": "bob"}, "deny", "deny"),  # an error
        ({"given": True, "minItems": 2}, {"to": "bob"}, "allow", "deny"),
        ({"given": True, "minItems": 2}, {"to": "bob, eve"}, "deny", "allow"),
        ({"given": True, "minItems": 2}, {}, "allow", "deny"),
        ({"equals": "bob"}, {}, "deny", "deny"),
    ],
)
def test_given_speaks_of_values_that_were_sent(
    place: Place, predicate: Any, arguments: Any, denied: str, allowed: str
) -> None:
    values: Any = {"values": {"role:recipient": predicate}}
    request = call("send", arguments)
    assert language_outcome(place, [rule("deny", **values), rule("allow", tool=["send"])], request) == denied
    assert language_outcome(place, [rule("allow", **values)], request) == allowed
    assert language_outcome(place, [rule("allow", tool=["send"], unless=[values])], request) == denied
    lifted = [rule("deny", tool=["send"], unless=[values]), rule("allow", tool=["send"])]
    assert language_outcome(place, lifted, request) == allowed


@pytest.mark.parametrize(("name", "leaf"), [("upload", "place"), ("connect", "host")])
def test_place_and_host_are_roles_of_places(place: Place, name: str, leaf: str) -> None:
    evil: Any = {"domains": {"roles": [leaf], "allowed": ["evil.example"]}}
    rules = [rule("deny", **evil), rule("allow", tool=[name])]
    for value, expected in (
        ("git@evil.example:x", "deny"),
        ("EVIL.example/x", "deny"),
        ("https://evil.example/", "deny"),
        ("good.example/x", "allow"),
        ("10.0.0.7/x", "deny"),
        ("//good.example/x", "deny"),
    ):
        assert language_outcome(place, rules, call(name, {leaf: value})) == expected, value
    # reading is not sending
    reads = [rule("allow", roles=[leaf]), rule("allow", paths={"roles": ["read-path"], "within": "{root}"})]
    assert language_outcome(place, reads, call(name, {leaf: "wiki", "file": "{root}/f"})) == "deny"
    assert language_outcome(place, reads, call("read", {"path": "{root}/f"})) == "allow"
    assert language_outcome(place, reads, call(name, {leaf: "wiki"})) == "allow"


@pytest.mark.parametrize("channel", ["# team", "@ team", "#\u3000team", "# @team"])
def test_blanks_behind_the_sign_are_folded_away(place: Place, channel: str) -> None:
    """ "Without blanks around them and without `#` and `@` before them": the stricter reading is both, in any order."""
    rules = [rule("deny", values={"role:channel": {"equals": "team"}}), rule("allow", tool=["post"])]
    assert language_outcome(place, rules, call("post", {"channel": channel, "text": "x"})) == "deny"


def test_an_allow_with_nothing_but_an_exception_is_refused(place: Place) -> None:
    with pytest.raises(ArtifactError, match="an allow without any condition"):
        place.load([rule("allow", unless=[to("eve")])], [MAIL])


def test_a_compatibility_form_that_is_too_long_is_an_error_also_where_the_text_matches(place: Place) -> None:
    rules = [rule("escalate", values={"role:identifier": {"matches": ".*"}}), rule("allow", tool=["note"])]
    assert language_outcome(place, rules, call("note", {"text": "\ufb03" * 1_366})) == "deny"


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
    assert looked_at(place, [rule("deny", **to("eve")), *rules], call("send", {})) == [[0, 4]]


def test_what_tightens_is_found_by_every_spelling(place: Place) -> None:
    long = [f"User{index}" for index in range(100)]
    rules = [rule("deny", **to(*long)), rule("escalate", **to("#Bob")), rule("allow", **to("#Bob", *long))]
    for person, found in (
        ("user5", [0]),
        ("User5", [0, 2]),
        ("@USER5", [0]),
        ("bob", [1]),
        ("#Bob", [1, 2]),
        ("bobby", []),
    ):
        assert looked_at(place, rules, call("send", {"to": person})) == [found], person


def test_a_carried_claim_looks_at_questions_about_what_is_beside_it(place: Place) -> None:
    rules = [rule("escalate", **to("bob")), rule("deny", **to("bob")), rule("escalate", **to("eve"))]
    assert looked_at(place, rules, call("send", {"to": "bob", "body": "x"})) == [[0, 1], [0]]


def test_a_rule_for_several_directories_is_found_under_each(place: Place) -> None:
    rules = [rule("allow", paths={"roles": ["read-path"], "within": ["{root}/a", "{root}/b"]})]
    for path, found in (("a/x", [0]), ("b", [0]), ("c", [])):
        assert looked_at(place, rules, call("read", {"path": f"{place.root}/{path}"})) == [found]


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


def test_the_story_tells_of_exceptions_and_joined_questions(place: Place) -> None:
    rules = [
        rule("deny", "only-bob", tool=["send"], unless=[to("bob")]),
        rule("escalate", "many", values={"role:recipient": {"minItems": 1}}, joined=True),
        rule("escalate", "files", roles=["read-path"]),
        rule("allow", "may", tool=["send"]),
    ]
    loaded = place.load(rules, [MAIL])
    judged = judge(loaded, call("send", {"to": "bob", "body": "x"}))
    assert judged.call is not None
    tool_ = loaded.policy.tools["fs", "send"]
    stories = claim_stories(judged.call, loaded.policy.book.rules, tool_, loaded.policy.setup.sandbox)
    assert [[asked.answer for asked in story.asked] for story in stories] == [
        [
            "an exception of it holds",
            "matches: escalate is joined to what follows, and permits nothing",
            "speaks of read-path",
            "matches: allow",
        ],
        [
            "an exception of it holds",
            "matches: escalate is joined to what follows, and permits nothing",
            "speaks of read-path, and the call has none that it asks about",
            "matches: allow",
        ],
    ]
    assert {story.verdict.outcome.word for story in stories} == {judged.decision.outcome.word} == {"escalate"}


def test_only_what_asks_is_among_the_reasons_to_ask(place: Place) -> None:
    rules = [
        {"name": "docs", "description": "x", "principle": "x", "if": {"paths": {"roles": ["read-path"], "within": "{home}/docs"}}, "then": "allow"},
        {"name": "ask", "description": "x", "principle": "x", "if": {"paths": {"roles": ["read-path"], "within": "{home}/ask"}}, "then": "escalate", "reason": "ask me"},
    ]  # fmt: skip
    loaded = place.load(rules, FILE_TOOLS)
    paths = [place.fill("{home}/docs/a"), place.fill("{home}/ask/b")]
    judged = judge(loaded, call("read_many", {"paths": paths}))
    assert judged.call is not None
    assert judged.facts is not None
    assert [verdict.rule for verdict in escalations(judged.call, loaded.policy, judged.facts)] == ["ask"]


PAGES = tool(
    "create_pages",
    {"pages[].title": ["identifier"], "pages[].tags": ["identifier"], "rows": ["identifier"]},
    side_effects=True,
    definition={
        "name": "create_pages",
        "inputSchema": {
            "type": "object",
            "properties": {
                "pages": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "title": {"type": "string"},
                            "tags": {"type": "array", "items": {"type": "string"}},
                        },
                    },
                },
                "rows": {},
            },
        },
    },
)


@pytest.mark.parametrize(
    ("counted", "arguments", "count"),
    [
        ("pages[]", {"pages": [{}, {}, {}]}, 3),
        ("pages[]", {"pages": [{"title": "a"}, {}]}, 2),
        ("pages[]", {"pages": [{"tags": ["a", "b", "c", "d"]}]}, 1),  # what is in an element counts for itself
        ("pages[]", {"pages": []}, 0),
        ("pages[]", {}, 0),
        ("pages[].tags", {"pages": [{"tags": ["a", "b"]}, {"tags": ["c"]}]}, 3),
        ("rows[]", {"rows": [{}, {"a": [1, 2, 3]}]}, 2),
        ("rows[]", {"rows": [{}, {"a": 1}, {}]}, 3),
        ("rows[]", {"rows": [["a", "b"], ["c"]]}, 3),  # those of lists in it one by one
        ("rows[]", {"rows": [["a", []]]}, 2),
        ("rows[]", {"rows": "a, b, c"}, 0),  # a text is no list
        ("rows[]", {"rows": {"a": [1, 2, 3]}}, 0),
    ],
)
def test_the_elements_of_lists_are_counted(place: Place, counted: str, arguments: Any, count: int) -> None:
    many = rule("deny", values={f"arg:{counted}": {"minItems": 3}})
    few = rule("allow", tool=["create_pages"], values={f"arg:{counted}": {"maxItems": 2}})
    request = call("create_pages", arguments)
    assert outcome(place.load([many, rule("allow", tool=["create_pages"])], [PAGES]), request) == (
        "deny" if count > 2 else "allow"
    )
    assert outcome(place.load([few], [PAGES]), request) == ("allow" if 0 < count <= 2 else "deny")


def test_elements_are_not_counted_under_the_name_of_an_argument(place: Place) -> None:
    element = {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"type": {"type": "string"}}}]}
    schema = {"type": "object", "properties": {"children": {"type": "array", "items": element}}}
    patch = tool(
        "patch",
        {"children[]": ["identifier"], "children[].type": ["identifier"]},
        side_effects=True,
        definition={"name": "patch", "inputSchema": schema},
    )
    objects = call("patch", {"children": [{"type": "x"}, {"type": "y"}]})
    for predicate in ({"in": ["a", "b"]}, {"minItems": 2}):
        named = rule("deny", values={"arg:children[]": predicate})
        loaded = place.load([named, rule("allow", tool=["patch"])], [patch])
        assert outcome(loaded, objects) == "allow"
        assert decide(loaded, call("patch", {"children": ["a", "b"]})).code == "argument_unknown"


@pytest.mark.parametrize("name", ["arg:pages[]", "arg:rows[]"])
@pytest.mark.parametrize(
    "predicate", [{"equals": 1}, {"given": True}, {"matches": ".*"}, {"minItems": 1, "maximum": 2}]
)
def test_an_element_is_counted_and_nothing_else(place: Place, name: str, predicate: Any) -> None:
    with pytest.raises(ArtifactError, match="unknown key"):
        place.load([rule("deny", values={name: predicate})], [PAGES])


def test_a_command_is_given_whatever_it_says(place: Place) -> None:
    given = rule("allow", tool=["run"], values={"arg:command": {"given": True}})
    matched = rule("allow", tool=["run"], values={"arg:command": {"given": True, "matches": ".*"}})
    for command in ("ls", "ls; rm x", "ls $(x)"):
        request = call("run", {"command": command})
        assert language_outcome(place, [given], request) == "allow"
        assert language_outcome(place, [matched], request) == ("allow" if command == "ls" else "deny")
    assert language_outcome(place, [given], call("run", {"command": ""})) == "deny"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("8123", "deny"), ("08123", "deny"), ("0008123", "deny"), ("81230", "allow"), ("8123x", "allow"), ("008123x", "allow"), ("000", "deny"), ("00x", "allow"), ("\uff108123", "deny")],
)  # fmt: skip
def test_digits_are_compared_without_zeros_before_them(place: Place, value: str, expected: str) -> None:
    rules = [
        {"name": "never", "if": {"values": {"arg:x": {"in": ["08123", "0", "8123y", "x"]}}}, "then": "deny"},
        {"name": "any", "if": {"tool": ["t"]}, "then": "allow"},
    ]
    loaded = place.load(rules, [tool("t", {"x": ["identifier"]})])
    assert judge(loaded, call("t", {"x": value})).decision.outcome.word == expected
    exact = [{"name": "only", "if": {"tool": ["t"], "values": {"arg:x": {"in": ["08123"]}}}, "then": "allow"}]
    permitted = judge(place.load(exact, [tool("t", {"x": ["identifier"]})]), call("t", {"x": value})).decision
    assert permitted.outcome.word == ("allow" if value == "08123" else "deny")
