"""Every bound at its edge: the last that is accepted, and the first that is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.engine.pattern import PatternError, compile_pattern
from ironcurtain.engine.protected import Protected
from ironcurtain.engine.rules import stricter
from ironcurtain.errors import Refusal
from ironcurtain.model.decision import Outcome, Verdict
from ironcurtain.model.resolved import Opaque
from ironcurtain.resolve.hosts import resolve_host
from ironcurtain.resolve.parties import MAX_ENTRY, MAX_TEXT, resolve_parties
from ironcurtain.resolve.paths import MAX_PATH_BYTES, MAX_STEPS, PathResolver, Steps
from ironcurtain.resolve.text import fold
from tests.support import FILE_TOOLS, Place, call, decide, judge, tool

if TYPE_CHECKING:
    from collections.abc import Callable

ALL = [{"name": "all", "if": {"server": ["fs"]}, "then": "allow"}]


def matches(pattern: str, text: str) -> bool:
    return compile_pattern(pattern, dot_spans_lines=False).fullmatch(text)


@pytest.mark.parametrize("pattern", ["(a", "(a|", "a{3", "a**", "a+?", "a{2}{3}", "a{1234567890}", "a{12345,6789}", "[b-a]", "a{\u0663}", "a{1,\u0663}", "a{1,x}", "a{20001}", "a{1,20001}"])  # fmt: skip
def test_a_pattern_beyond_the_dialect_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        compile_pattern(pattern, dot_spans_lines=False)


def test_patterns_at_the_edge_of_the_dialect() -> None:
    assert matches("[a-a]", "a")
    assert not matches("[a-a]", "b")
    assert matches("a{1,2}", "aa")
    assert matches(r"[\w-]+", "a-b")
    assert matches(r"[\d]", "5")
    assert matches("a{0000002}", "aa")
    assert matches("a{00001,3}", "aaa")
    assert matches("a{00001,003}", "aaa")  # nine characters between the braces
    assert matches(r"[\+-a]", "0")
    assert not matches(r"[\+-a]", "b")


def test_where_classes_of_characters_begin_and_end() -> None:
    ends = compile_pattern("(b|[d-f])*", dot_spans_lines=False).ends()
    assert ends == {"b", "d", "f"}


@pytest.mark.parametrize("char", ["a", "b", "\U0001f600"])
def test_a_pattern_that_has_seen_many_texts_still_answers(char: str) -> None:
    pattern = compile_pattern("(.*x)?[a-c]+", dot_spans_lines=False)
    for code in range(0x4E00, 0x4E00 + 6_000):
        assert not pattern.fullmatch(chr(code) + "y")
    assert pattern.fullmatch(char) is (char in "abc")


PROTECTED = Protected.of(("/h/.ic", "/h/.ic/sandbox/keep", "/h/c.json"), ("/h/.ic/sandbox",), fold)


@pytest.mark.parametrize(
    ("path", "covered", "ancestor"),
    [
        ("/h/.ic", True, False), ("/h/.ic/x", True, False), ("/h/.ic/sandbox", False, True), ("/h/.ic/sandbox/a", False, False),
        ("/h/.ic/sandbox/keep", True, False), ("/h/.ic/sandbox/keep/x", True, False), ("/h/.ic/sandboxed", True, False), ("/h", False, True),
        ("/", False, True), ("/hh", False, False), ("/h/c.json/x", True, False), ("/x/.mcp.json/y", True, False), ("/mcp.json", True, False),
        ("/h/.i[c]/x", True, False), ("/[h]", False, True), ("/h/.ic/sandbox/[a]", False, False), ("/h/.ic/sandbox/kee[p]", True, False),
        ("/h/.ic/sandbo[x]/a", True, False), ("/h/[c].jso[]n]", True, False), ("/h/[c]", False, False),
    ],
)  # fmt: skip
def test_where_protection_begins_and_ends(path: str, covered: bool, ancestor: bool) -> None:
    standing = PROTECTED.standing(path)
    assert (standing.covered, standing.ancestor) == (covered, ancestor)


def test_an_exception_that_is_itself_protected_is_none() -> None:
    assert Protected.of(("/h/x",), ("/h/x",), fold).standing("/h/x/y").covered
    assert not Protected.of(("/h",), ("/h/x",), fold).standing("/h/x/y").covered


@pytest.mark.parametrize(
    ("path", "magic", "steering", "asking"),
    [
        ("/proc/self", True, False, False), ("/proc/12/x", True, False, False), ("/proc/selfie", False, False, False), ("/proc/[1]2/x", True, False, False),
        ("/pro[c]/sel[f]", True, False, False), ("/proc/[s]elfie", False, False, False), ("/dev/f[d]/3", True, False, False), ("/dev/[f]", False, False, False),
        ("/a/.git/x", False, True, False), ("/a/.gi[t]/x", False, True, False), ("/a/.github/copilot-instructions.md", False, True, False),
        ("/a/copilot-instructions.md", False, False, False), ("/a/.vscode/tasks.json", False, False, True), ("/a/.vscode", False, False, True),
        ("/a/.vscod[e]", False, False, True), ("/a/.vscode/x", False, False, False), ("/a/.[v]scode/tasks.json", False, False, True), ("/a/.[v]scode/x", False, False, False),
        ("/pro[c]", False, False, False), ("/[x]", False, False, False), ("/proc/[1]x", False, False, False),
    ],
)  # fmt: skip
def test_what_a_name_means_to_other_programs(path: str, magic: bool, steering: bool, asking: bool) -> None:
    standing = PROTECTED.standing(path)
    assert (standing.magic, standing.steering, standing.asking) == (magic, steering, asking)


def many(place: Place, role: str, values: list[Any]) -> str:
    loaded = place.load(ALL, [tool("t", {"x": [role]})])
    return decide(loaded, call("t", {"x": values})).code


@pytest.mark.parametrize("role", ["account", "none"])
def test_a_thousand_values_and_no_more(place: Place, role: str) -> None:
    make: Callable[[int], str] = (lambda n: f"v{n}") if role == "account" else (lambda n: f"/v{n}")
    assert many(place, role, [make(n) for n in range(1_000)]) == "rule_allow"
    assert many(place, role, [make(n) for n in range(1_001)]) == "value_count"


def test_the_message_names_the_argument_that_nobody_knows(place: Place) -> None:
    loaded = place.load(ALL, [tool("t", {"o.a": ["none"]})])
    assert '"o.b"' in decide(loaded, call("t", {"o": {"b": 1}})).reason
    assert '"b"' in decide(loaded, call("t", {"b": 1})).reason


def test_separators_only_are_sent_as_they_came(place: Place) -> None:
    judged = judge(place.load(ALL, [tool("t", {"to": ["recipient"]})]), call("t", {"to": " ; "}))
    assert judged.call is not None
    assert judged.call.arguments == {"to": " ; "}


@pytest.mark.parametrize(("size", "followed"), [(4_096, True), (4_097, False)])
def test_a_stray_string_is_followed_up_to_its_limit(place: Place, size: int, followed: bool) -> None:
    place.link("l", "{home}")
    text = f"{place.root}/l/.ironcurtain/"
    loaded = place.load(ALL, [tool("t", {"x": ["none"]})])
    long = text + "/" * (size - len(text))
    assert (decide(loaded, call("t", {"x": long})).code == "path_protected") is followed


@pytest.mark.parametrize("text", ["{l}\nx", "x\n{l}"])
def test_a_stray_string_is_followed_up_to_its_first_line(place: Place, text: str) -> None:
    place.link("l", "{home}/.ironcurtain")
    loaded = place.load(ALL, [tool("t", {"x": ["none"]})])
    code = decide(loaded, call("t", {"x": text.replace("{l}", f"{place.root}/l")})).code
    assert (code == "path_protected") is text.startswith("{l}")


def test_stray_strings_take_no_more_steps_than_paths(place: Place) -> None:
    loaded = place.load(ALL, [tool("t", {"x": ["none"]})])
    deep = "/" + "a/" * 2_000
    assert decide(loaded, call("t", {"x": [deep] * 3})).code == "rule_allow"
    assert decide(loaded, call("t", {"x": [deep] * 9})).code == "path_loop"


def test_steps_run_out_exactly() -> None:
    steps = Steps()
    for _ in range(MAX_STEPS):
        steps.take()
    with pytest.raises(Refusal):
        steps.take()


@pytest.mark.parametrize("text", ["[2606:4700::1%1]", "xn--zz--zzzz.example", "xn--99999999.example", "1.2.3.4.5", "1.2.3", "0x7f.1", "01.2.3.4", "a..b", "\u2488com", "-a.example"])  # fmt: skip
def test_a_host_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        resolve_host(text)


@pytest.mark.parametrize(
    ("text", "confusable"),
    [
        ("b\u00fccher1.example", False), ("\u65e5\u672cgo.example", False), ("\u65e5\u672c\u306e.example", False), ("a\u03bbb.example", True),
        ("\u0434\u043e\u043c.example", False), ("\u0434\u043e\u043cx.example", True), ("\u5927\u0434.example", True), ("a-b.example", False),
        ("a\u65e5\u306e\u30a2\ud55c\u3105.example", False),
    ],
)  # fmt: skip
def test_scripts_that_belong_together(text: str, confusable: bool) -> None:
    assert (resolve_host(text).confusable is not None) is confusable


def test_the_longest_name_of_a_host() -> None:
    labels = ".".join(["a" * 63] * 3)
    assert resolve_host(f"{labels}.{'a' * 61}").host.startswith("aaa")  # 253 characters
    with pytest.raises(Refusal):
        resolve_host(f"{labels}.{'a' * 62}")


@pytest.mark.parametrize(("text", "readable"), [("x" * MAX_ENTRY, True), ("x" * (MAX_ENTRY + 1), False)])
def test_the_longest_party(text: str, readable: bool) -> None:
    assert isinstance(resolve_parties(text), Opaque) is not readable


@pytest.mark.parametrize(("size", "readable"), [(MAX_TEXT, True), (MAX_TEXT + 1, False)])
def test_the_longest_list_of_parties(size: int, readable: bool) -> None:
    text = ",".join(["x" * 99] * 400)[:size].ljust(size, "y")
    assert len(text) == size
    assert isinstance(resolve_parties(text), Opaque) is not readable


@pytest.mark.parametrize("text", ['" <a@b.example>', '"" <a@b.example>', '"a" <a@b.example>', '"a"b" <a@b.example>'])
def test_quotes_around_a_name_come_in_pairs(text: str) -> None:
    assert isinstance(resolve_parties(text), Opaque) is (text.count('"') % 2 == 1)


def path_of(size: int, char: str = "a") -> str:
    unit = len(char.encode())
    whole, rest = divmod(size, 200)
    names = ["/" + char * ((199) // unit) + "b" * ((199) % unit)] * whole
    return "".join(names) + ("/" + "c" * (rest - 1) if rest > 1 else "" if not rest else "d")


@pytest.mark.parametrize("char", ["a", "\u65e5"])
def test_the_longest_path(char: str) -> None:
    paths = PathResolver("/home/o")
    longest = path_of(MAX_PATH_BYTES, char)
    assert len(longest.encode()) == MAX_PATH_BYTES
    assert paths.resolve(longest, None).text == longest
    with pytest.raises(Refusal) as refused:
        paths.resolve(longest + "x", None)
    assert refused.value.code == "path_spelling"


def test_the_longest_path_counts_once_it_is_complete() -> None:
    paths = PathResolver("/home/o")
    tail = path_of(MAX_PATH_BYTES - len("/home/o"))
    assert len(paths.resolve("~" + tail, None).text) == MAX_PATH_BYTES
    with pytest.raises(Refusal):
        paths.resolve("~" + tail + "x", None)
    with pytest.raises(Refusal):
        paths.follow("~" + tail + "x", None)


@pytest.mark.parametrize("name", ["a" * 63, "a" * 64, "\u65e5" * 85])
def test_the_longest_names(name: str) -> None:
    assert PathResolver("/").resolve(f"/{name}", None).text == f"/{name}"


@pytest.mark.parametrize("name", ["a" * 256, "\u65e5" * 86])
def test_a_name_that_is_too_long(name: str) -> None:
    with pytest.raises(Refusal):
        PathResolver("/").resolve(f"/{name}", None)


def test_bytes_count_before_anything_is_left_out() -> None:
    for text in ("/a/.." * 900, "/\u65e5/.." * 600):
        with pytest.raises(Refusal):
            PathResolver("/").resolve(text, None)
    assert PathResolver("/").resolve("/\u65e5/.." * 500, None).text == "/"


@pytest.mark.parametrize("items", [[None], [""], ["x"], [["x"]], [[None]]])
def test_only_objects_stand_where_objects_belong(place: Place, items: list[Any]) -> None:
    inner: dict[str, Any] = {"items": {"properties": {"path": {}}}}
    flat = {"name": "t", "inputSchema": {"properties": {"m": inner}}}
    nested = {"name": "t", "inputSchema": {"properties": {"m": {"items": inner}}}}
    for leaf, definition in (("m[].path", flat), ("m[][].path", nested)):
        loaded = place.load(ALL, [tool("t", {leaf: ["read-path"]}, definition=definition)])
        empty = leaf == "m[][].path" and items in ([None], [""])
        assert decide(loaded, call("t", {"m": items})).code == ("rule_allow" if empty else "argument_unknown")


@pytest.mark.parametrize("name", ["metadata", "localhost", "10.0.0.1"])
def test_a_plain_name_is_no_host(place: Place, name: str) -> None:
    loaded = place.load(ALL, [tool("t", {"x": ["channel"]})])
    assert decide(loaded, call("t", {"x": name})).code == "rule_allow"
    assert decide(loaded, call("t", {"x": "@metadata"})).code == "host_metadata"


@pytest.mark.parametrize(
    ("text", "covered"),
    [("\u65e5{home}/.ironcurtain/p", False), ("\u3164{home}/.ironcurtain/p", True), ("\x7f{home}/.ironcurtain/p", True), ("file:", False), ("~x{home}", False)],
)  # fmt: skip
def test_what_counts_as_a_blank(place: Place, text: str, covered: bool) -> None:
    loaded = place.load(ALL, [tool("t", {"x": ["none"]})])
    assert (decide(loaded, call("t", {"x": place.fill(text)})).code == "path_protected") is covered


def test_ascii_folds_by_case_alone() -> None:
    assert fold("A[b]C") == "a[b]c"
    assert fold("\u0130x") == fold("ix")


def test_a_plain_reading_is_asked_nothing_twice(place: Place) -> None:
    assert decide(place.load([], FILE_TOOLS), call("read", {"path": "a"})).code == "contained"


def test_of_equal_verdicts_the_first_stays() -> None:
    first, second = (Verdict(Outcome.ESCALATE, code, code) for code in ("first", "second"))
    assert stricter(first, second) is first
    assert stricter(first, Verdict(Outcome.DENY, "no", "no")).code == "no"


@pytest.mark.parametrize(("roles", "mode", "code"), [(["account"], " delete", "rule_deny"), (["account"], "delete", "rule_deny"), (["account"], "list", "rule_allow"), (["command"], "delete", "rule_deny"), (["command"], "list", "rule_allow")])  # fmt: skip
def test_a_mode_is_selected_by_what_is_sent(place: Place, roles: list[str], mode: str, code: str) -> None:
    modes = [{"roles": ["read-path"], "when": {"mode": "list"}}, {"roles": ["delete-path"], "when": {"mode": "delete"}}]
    rules = [{"name": "no", "if": {"paths": {"roles": ["delete-path"], "within": "/"}}, "then": "deny"}, *ALL]
    loaded = place.load(rules, [tool("t", {"mode": roles, "path": modes})])
    assert decide(loaded, call("t", {"mode": mode, "path": "{box}/a"})).code == code


@pytest.mark.parametrize(
    ("path", "steering"),
    [("/v/lib/x.pth", True), ("/v", True), ("/V/bin/python", True), ("/[v]/x", True), ("/v2/x", False), ("/", False)],
)
def test_our_own_program_is_not_written(path: str, steering: bool) -> None:
    standing = Protected.of(("/h/.ic",), (), fold, ("/v",)).standing(path)
    assert standing.steering is steering
    assert not standing.covered


def test_so_much_text_of_paths_and_no_more(place: Place) -> None:
    exact = ["/" + "/".join(["d" * 255] * 8)] * 128
    assert sum(map(len, exact)) == 262_144
    assert many(place, "read-path", exact) == "rule_allow"
    assert many(place, "read-path", [*exact, "/x"]) == "value_count"


@pytest.mark.parametrize(("unit", "weight"), [("/" + "x" * 4_095, 4_096), ("/" + "[" * 255 + "x", 257 + 255 * 16)])
def test_so_much_text_that_looks_like_paths_and_no_more(place: Place, unit: str, weight: int) -> None:
    fits, rest = divmod(65_536, weight)
    exact = [unit] * fits + (["/" + "y" * (rest - 1)] if rest else [])
    assert many(place, "none", exact) == "rule_allow"
    assert many(place, "none", [*exact, "/"]) == "value_count"


def test_lines_after_the_first_do_not_count(place: Place) -> None:
    assert many(place, "none", ["/* note */\n" + "x" * 4_000] * 500) == "rule_allow"
