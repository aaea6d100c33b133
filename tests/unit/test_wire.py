"""Step 1: what the strict reader and the schemas refuse, and the near misses they accept."""

from __future__ import annotations

import contextlib
import json
import time
import tracemalloc
from typing import Any

import pytest

from ironcurtain.errors import Refusal
from ironcurtain.wire import schema, strict_json
from ironcurtain.wire.call import read_call
from ironcurtain.wire.limits import MESSAGE, Limits


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "json_syntax"),
        (b"nul", "json_syntax"),
        (b'{"a": 1} x', "json_syntax"),
        (b'{"a": 1}{"b": 2}', "json_syntax"),
        (b'"abc', "json_syntax"),
        (b'"a\nb"', "json_syntax"),
        (b"\xef\xbb\xbf1", "json_encoding"),
        (b"\xc0\xaf", "json_encoding"),
        ('{"a": 1}'.encode("utf-16"), "json_encoding"),
        ('{"a": 1}'.encode("utf-16-le"), "json_syntax"),
        (b'{"a": 1, "a": 1}', "json_duplicate_key"),
        (b'{"a": 1, "\\u0061": 1}', "json_duplicate_key"),
        (b'[{"x": {"a": 1, "a": 2}}]', "json_duplicate_key"),
        (b'{"a": 1, "A": 1}', "json_confusable_key"),
        ('{"\u212a": 1}'.encode(), "json_confusable_key"),
        ('{"a\u200db": 1}'.encode(), "json_confusable_key"),
        ('{"stra\u00dfe": 1, "strasse": 1}'.encode(), "json_confusable_key"),
        (b"NaN", "json_number"),
        (b"[-Infinity]", "json_number"),
        (b"1e999", "json_number"),
        (b"9223372036854775808", "json_number"),
        (b"-9223372036854775809", "json_number"),
        (b"9" * 5_000, "json_number"),
        (b'"\\ud800"', "json_surrogate"),
        (b'{"\\udc00": 1}', "json_surrogate"),
        (b'[["\\ud800"]]', "json_surrogate"),
        (b"[" * 33 + b"]" * 33, "json_depth"),
        (b'{"a":' * 100_000, "json_depth"),
        (b"[" + b"1," * 100_001 + b"1]", "json_too_many"),
    ],
)
def test_what_has_two_meanings_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(Refusal) as refusal:
        strict_json.loads(data)
    assert refusal.value.code == code
    assert "\n" not in refusal.value.reason


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"[" * 32 + b"]" * 32, json.loads("[" * 32 + "]" * 32)),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b"1.0", 1),
        (b"1e2", 100),
        (b"-0.0", 0),
        (b"1.5", 1.5),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        ('"\u00e9\u4e2d"'.encode(), "\u00e9\u4e2d"),
        (b' {"a": [1, true, null]}\r\n', {"a": [1, True, None]}),
        ('{"\u00e9": 1, "e": 2}'.encode(), {"\u00e9": 1, "e": 2}),
        (b'"\\"[[[[["', '"[[[[['),
    ],
)
def test_what_has_one_meaning_is_read(data: bytes, value: Any) -> None:
    read = strict_json.loads(data)
    assert read == value
    assert type(read) is type(value)


def test_size_is_bounded_to_the_byte() -> None:
    limits = Limits(size=10, depth=4, values=10)
    assert strict_json.loads(b'"12345678"', limits) == "12345678"
    with pytest.raises(Refusal, match="more than 10 bytes"):
        strict_json.loads(b'"123456789"', limits)


def test_values_are_bounded_to_the_comma() -> None:
    limits = Limits(size=100, depth=4, values=4)
    assert strict_json.loads(b"[1,2,3]", limits) == [1, 2, 3]
    with pytest.raises(Refusal) as refusal:
        strict_json.loads(b"[1,2,3,4]", limits)
    assert refusal.value.code == "json_too_many"


@pytest.mark.parametrize(
    "data",
    [
        b'"' + b'\\"' * (MESSAGE.size // 2 - 2),
        b'"' * MESSAGE.size,
        b"[" * MESSAGE.size,
        b"[" + b"{}," * (MESSAGE.size // 4),
        b'{"a":"' + b"\\u0041" * (MESSAGE.size // 6 - 4) + b'"}',
        b"-" * MESSAGE.size,
    ],
)
def test_hostile_text_is_refused_or_read_in_bounded_time_and_memory(data: bytes) -> None:
    tracemalloc.start()
    start = time.process_time()
    with contextlib.suppress(Refusal):
        strict_json.loads(data)
    took, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 120_000_000
    assert took < 30, "quadratic: linear work takes a second or two even on a slow machine"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "object"),
        ('{"serverName": "s", "toolName": "t"}', "arguments"),
        ('{"serverName": "", "toolName": "t", "arguments": {}}', "serverName"),
        ('{"serverName": "s", "toolName": 1, "arguments": {}}', "toolName"),
        ('{"serverName": "s", "toolName": "t", "arguments": []}', "arguments"),
        ('{"ServerName": "s", "toolName": "t", "arguments": {}}', "ServerName"),
        ('{"serverName": "s", "toolName": "t", "arguments": {}, "_meta": {}}', "_meta"),
        ('{"serverName": "s", "toolName": "t", "arguments": {}, "principal": null}', "principal"),
        ('{"serverName": "s", "toolName": "t", "arguments": {}, "principal": {"agent": ""}}', "agent"),
        ('{"serverName": "s", "toolName": "t", "arguments": {}, "principal": {"subagent": 1}}', "subagent"),
        ('{"serverName": "s", "toolName": "t", "arguments": {}, "principal": {"owner": "x"}}', "owner"),
        ('{"serverName": "s", "toolName": "t", "arguments": {}, "task": null}', "task"),
        (f'{{"serverName": "{"s" * 257}", "toolName": "t", "arguments": {{}}}}', "serverName"),
    ],
)
def test_a_malformed_call_is_refused(text: str, problem: str) -> None:
    with pytest.raises(Refusal) as refusal:
        read_call(text.encode())
    assert refusal.value.code == "call_malformed"
    assert problem in refusal.value.reason


def test_a_whole_call_is_read() -> None:
    call = read_call(
        b'{"serverName": "s", "toolName": "t", "arguments": {"a": 1}, "task": {},'
        b' "principal": {"agent": "a", "provider": "p", "group": "g", "member": "m", "subagent": true}}'
    )
    assert (call.server, call.tool, call.arguments, call.task) == ("s", "t", {"a": 1}, {})
    assert (call.principal.agent, call.principal.member, call.principal.subagent) == ("a", "m", True)


def admitted(**properties: Any) -> schema.Schema:
    return schema.admit({"inputSchema": {"type": "object", "properties": properties}})


def test_leaves_are_named_by_their_way() -> None:
    made = admitted(
        plain={"type": "string"},
        many={"type": "array", "items": {"type": "string"}},
        files={"type": "array", "items": {"type": "object", "properties": {"path": {}, "tags": {"type": "array"}}}},
        free={"type": "object"},
        either={"anyOf": [{"type": "string"}, {"type": "object", "properties": {"id": {}}}]},
        deep={"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}}}},
        maybe={"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}]},
    )
    assert set(made.leaves) == {
        "plain", "many", "files[].path", "files[].tags", "free", "either", "either.id", "deep.a.b", "maybe",
    }  # fmt: skip


def test_required_means_all_the_way() -> None:
    made = schema.admit(
        {
            "inputSchema": {
                "properties": {
                    "a": {"properties": {"b": {}, "c": {}}, "required": ["b"]},
                    "d": {"properties": {"e": {}}, "required": ["e"]},
                    "l": {"type": "array", "items": {"properties": {"m": {}}, "required": ["m"]}},
                },
                "required": ["a", "l"],
            }
        }
    )
    assert {leaf.name for leaf in made.leaves.values() if leaf.required} == {"a.b", "l[].m"}


def test_a_leaf_that_one_branch_requires_is_required() -> None:
    branch: dict[str, Any] = {"properties": {"x": {}}, "required": ["x"]}
    made = schema.admit({"inputSchema": {"anyOf": [branch, {"properties": {"x": {}}}]}})
    assert made.leaves["x"].required


def test_defaults_are_filled_in_at_every_depth_and_nowhere_else() -> None:
    made = admitted(
        mode={"type": "string", "default": "list"},
        nested={"type": "object", "properties": {"deep": {"default": 7}}},
        items={"type": "array", "items": {"properties": {"on": {"default": True}}}},
        wrong={"type": "string", "default": 5},
        null={"type": "string", "default": None},
    )
    assert made.fill_defaults({}) == {"mode": "list"}
    given: dict[str, Any] = {"mode": "x", "nested": {}, "items": [{}, {"on": False}]}
    assert made.fill_defaults(given) == {"mode": "x", "nested": {"deep": 7}, "items": [{"on": True}, {"on": False}]}
    assert given == {"mode": "x", "nested": {}, "items": [{}, {"on": False}]}, "the call itself is not changed"


def test_a_default_is_never_shared_between_calls() -> None:
    made = admitted(tags={"type": "array", "default": []})
    first = made.fill_defaults({})
    tags = first["tags"]
    assert isinstance(tags, list)
    tags.append("x")
    assert made.fill_defaults({}) == {"tags": []}


@pytest.mark.parametrize(
    ("node", "why"),
    [
        ({"$ref": "http://169.254.169.254/"}, "outside"),
        ({"$ref": "file:///etc/passwd"}, "outside"),
        ({"$ref": "#"}, "itself"),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, "itself"),
        (
            {
                "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
                "properties": {"x": {"$ref": "#/$defs/a"}},
            },
            "itself",
        ),
        (
            {
                "$defs": {"t": {"properties": {"child": {"$ref": "#/$defs/t"}}}},
                "properties": {"x": {"$ref": "#/$defs/t"}},
            },
            "itself",
        ),
        ({"properties": {"x": {"$ref": "#/$defs/none"}}}, "does not have"),
        ({"$defs": {"n": 5}, "properties": {"x": {"$ref": "#/$defs/n"}}}, "no schema"),
        ({"$dynamicRef": "#x"}, "$dynamicRef"),
        ({"properties": {"x": {"$id": "http://x/"}}}, "$id"),
        ({"properties": {f"p{i}": {} for i in range(2_001)}}, "too large"),
        ({"type": "nonsense"}, "not valid"),
        ({"properties": {"x": {"pattern": "("}}}, "regex"),
    ],
)
def test_a_schema_that_is_not_closed_in_itself_makes_the_tool_unusable(node: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("$", r"\$")):
        schema.admit({"inputSchema": node})


def test_a_schema_that_is_too_deep_makes_the_tool_unusable() -> None:
    node: dict[str, Any] = {}
    for _ in range(40):
        node = {"allOf": [node]}
    with pytest.raises(ValueError, match="too deep"):
        schema.admit({"inputSchema": node})
    with pytest.raises(ValueError, match="no inputSchema"):
        schema.admit({"inputSchema": True})


def test_data_in_a_schema_is_not_taken_for_schema() -> None:
    made = admitted(x={"enum": [{"$ref": "http://example.com/"}], "default": {"$ref": "x"}, "examples": [{"$id": "y"}]})
    assert set(made.leaves) == {"x"}


def test_a_shared_definition_is_no_ring() -> None:
    made = schema.admit(
        {
            "inputSchema": {
                "$defs": {"p": {"type": "string", "default": "d"}},
                "properties": {"a": {"$ref": "#/$defs/p"}, "b": {"$ref": "#/$defs/p"}},
            }
        }
    )
    assert made.fill_defaults({"a": "1"}) == {"a": "1", "b": "d"}
    with pytest.raises(Refusal) as refusal:
        made.validate({"a": 1})
    assert refusal.value.code == "arguments_invalid"
    assert refusal.value.reason.startswith("a: ")


def test_a_runaway_pattern_is_cut_short() -> None:
    made = admitted(x={"type": "string", "pattern": r"^(?=a)(a+)+\1$"})
    start = time.process_time()
    with pytest.raises(Refusal):
        made.validate({"x": "a" * 5_000 + "!"})
    assert time.process_time() - start < 10
