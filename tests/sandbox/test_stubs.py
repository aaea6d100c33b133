"""Tools as typed functions: every tool has a name of its own, and what is called is what is meant."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from ironcurtain.errors import Refusal
from ironcurtain.sandbox.interfaces import Interfaces
from ironcurtain.sandbox.stubs import modules_of


def tool(
    name: str, properties: dict[str, Any] | None = None, required: tuple[str, ...] = (), **more: Any
) -> tuple[str, str, dict[str, Any]]:
    schema = {"type": "object", "properties": properties or {}, "required": [*required]}
    return "box", name, {"name": name, "inputSchema": schema, **more}


def stub_of(*tools: tuple[str, str, dict[str, Any]]) -> str:
    (module,) = modules_of(tools).values()
    ast.parse(module.stub)
    return module.stub


def test_what_is_required_comes_first_and_the_rest_may_be_left_out() -> None:
    assert "def read(path: str, head: int = ...) -> str:" in stub_of(
        tool("read", {"head": {"type": "integer"}, "path": {"type": "string"}}, ("path",))
    )


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "string"}, "str"), ({"type": "number"}, "float"), ({"type": "boolean"}, "bool"), ({"type": ["string", "null"]}, "str | None"),
        ({"enum": ["a", "b"]}, "Literal['a', 'b']"), ({"const": 3}, "Literal[3]"), ({"type": "array", "items": {"type": "integer"}}, "list[int]"),
        ({"type": "object"}, "dict[str, Any]"), ({"type": "object", "additionalProperties": {"type": "string"}}, "dict[str, str]"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "str | int"), ({}, "Any"), (True, "Any"), ({"type": "strange"}, "Any"),
        ({"$ref": "#/$defs/nowhere"}, "Any"), ({"enum": [{"a": 1}]}, "Any"),
        ({"type": "object", "properties": {"not-a-name": {"type": "string"}}}, "dict[str, Any]"),
    ],
)  # fmt: skip
def test_a_schema_becomes_a_type(schema: Any, written: str) -> None:
    assert f"def f(x: {written}) -> str:" in stub_of(tool("f", {"x": schema}, ("x",)))


def test_an_object_with_members_becomes_a_type_of_its_own() -> None:
    inner = {
        "type": "object",
        "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
        "required": ["old"],
    }
    stub = stub_of(tool("edit", {"edits": {"type": "array", "items": inner}}, ("edits",)))
    assert "class EditEdits(TypedDict):\n    old: str\n    new: NotRequired[str]" in stub
    assert "def edit(edits: list[EditEdits]) -> str:" in stub


def test_types_of_two_tools_are_never_the_same() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}}
    other = {"type": "object", "properties": {"a": {"type": "integer"}}}
    stub = stub_of(tool("a_b", {"c": inner}), tool("A_B", {"c": other}))
    assert stub.count("class ABC(") == 1
    assert stub.count("class ABC_2(") == 1


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {"$ref": "#/$defs/tree"}
    tools = tool("grow", {"tree": schema})
    tools[2]["inputSchema"]["$defs"] = {
        "tree": {"type": "object", "properties": {"children": {"type": "array", "items": schema}}}
    }
    assert "def grow(" in stub_of(tools)


def test_a_schema_that_unfolds_without_end_is_cut_short() -> None:
    hostile = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 1_000}},
    }
    assert "def f() ->" in stub_of(tool("f", outputSchema=hostile))


def test_a_result_with_a_schema_is_typed() -> None:
    out = {"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]}
    assert "-> ReadResult:" in stub_of(tool("read", outputSchema=out))


@pytest.mark.parametrize(
    "description",
    [
        'says """ and more',
        'ends in a quote"',
        "a \\ in it\\",
        '"""\nimport os\n"""',
        "x" * 9_000,
        "\\N{BULLET} \\u0041 \\x",
    ],
)
def test_no_description_breaks_out_of_its_quotes(description: str) -> None:
    tree = ast.parse(stub_of(tool("f", description=description)))
    assert [type(node).__name__ for node in tree.body] == ["ImportFrom", "FunctionDef"]


@pytest.mark.parametrize(
    ("server", "module"),
    [
        ("time", "time_server"),
        ("my-mail", "my_mail"),
        ("2do", "n2do"),
        ("class", "class_"),
        ("tools", "tools_server"),
        ("--", "unnamed"),
    ],
)
def test_a_server_gets_a_name_that_is_no_other_module(server: str, module: str) -> None:
    assert [*modules_of([(server, "f", {})])] == [module]


def test_no_two_have_the_same_name() -> None:
    modules = modules_of([("a-b", "x", {}), ("a_b", "x-y", {}), ("a_b", "x_y", {})])
    assert [*modules] == ["a_b", "a_b_2"]
    assert {f.tool for f in modules["a_b_2"].functions.values()} == {"x-y", "x_y"}


def test_arguments_find_their_names_again() -> None:
    (module,) = modules_of(
        [tool("mail", {"from": {"type": "string"}, "to": {"type": "string"}, "cc-list": {"type": "array"}}, ("to",))]
    ).values()
    function = module.functions["mail"]
    assert [*function.parameters] == ["to", "from_", "cc_list"]
    assert function.arguments(["bob"], {"from_": "ann", "cc_list": []}) == {"to": "bob", "from": "ann", "cc-list": []}
    for args, kwargs in ([["a", "b", [], "d"], {}], [["a"], {"to": "b"}], [[], {"from": "x"}], [[], {"bcc": "x"}]):
        with pytest.raises(Refusal):
            function.arguments(args, kwargs)  # type: ignore[arg-type]


def test_tools_are_found_by_what_they_do() -> None:
    found = Interfaces(
        [
            tool("read_text_file", description="Read a file as text."),
            tool("send", description="Sends a file."),
            tool("noop"),
        ]
    )
    assert found.search("read a file")[0] == "box.read_text_file: Read a file as text."
    assert found.search("nothing of this") == []
    assert found.find("box.read_text_file") is not None
    for name in ("box.none", "none.read_text_file", "read_text_file", "", ".", "box.", "tools.search"):
        assert found.find(name) is None


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("tools.search", []),
        ("tools.search", [1]),
        ("help", []),
        ("help", ["nothing"]),
        ("tools.interfaces", [None]),
        ("tools.servers", [1]),
    ],
)
def test_a_question_that_is_none_is_answered_with_an_error(name: str, args: list[Any]) -> None:
    assert "raise" in Interfaces([tool("f")]).answer(name, args, {})
