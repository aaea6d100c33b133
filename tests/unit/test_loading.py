"""What loads and what is refused: every refusal names the file and the place and says what to write instead."""

from __future__ import annotations

import copy
import json
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ironcurtain.artifacts.config import read_config
from ironcurtain.artifacts.policy import (
    ANNOTATIONS,
    BUDGET,
    FILES,
    LISTS,
    POLICY,
    REQUIRED,
    SCENARIOS,
    Loaded,
    Surroundings,
    load_policy,
    read_bundle,
)
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.errors import ArtifactError
from tests.support import FILE_TOOLS, NOW, NOW_TEXT, Place, call, decide, outcome, tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOBODY = 65534  # an owner who is neither us nor root
MISSING = object()  # in a table: take the key away

MAIL = tool("mail", {"to": ["recipient"], "body": ["outbound-content"]}, server="post")
FETCH = tool("fetch", {"url": ["fetch-url"]}, server="web")
PAY = tool("pay", {"amount": ["amount"], "to": ["account"]}, server="bank")
CLOCK = tool("clock", {"zone": ["none"]}, server="web")
EDIT = tool(
    "edit",
    {"path": [{"roles": ["read-path"], "when": {"mode": "view"}}, {"roles": ["write-path"]}], "mode": ["none"]},
)
TOOLS = [*FILE_TOOLS, EDIT, MAIL, FETCH, CLOCK, PAY]

LISTED = "rules[2].if.lists[0].allowed[0]"
SUMS = "rules[4].if.values"
DOMAINS = "rules[3].if.domains.allowed[0]"
WITHIN = "rules[0].if.paths.within"
WRITING = "rules[1].if.values.role:write-path"
UNLESS = "rules[1].if.unless"
RULES: list[dict[str, Any]] = [
    {"name": "docs", "if": {"paths": {"roles": ["read-path"], "within": "{root}/docs"}}, "then": "allow"},
    {"name": "no-deleting", "if": {"roles": ["delete-path"]}, "then": "deny", "reason": "nothing goes"},
    {"name": "mail", "if": {"lists": [{"roles": ["recipient"], "allowed": ["@known", "@friends"]}]}, "then": "allow"},
    {"name": "web", "if": {"domains": {"roles": ["fetch-url"], "allowed": ["*.example.com"]}}, "then": "allow"},
    {"name": "sums", "if": {"tool": ["pay"], "values": {"role:amount": {"maximum": 10}}}, "then": "escalate"},
    {"name": "rest", "if": {}, "then": "escalate", "elsewhere": True},
]
CONTACTS = {"known": {"kind": "emails", "values": ["ann@x.example"]}, "hosts": ["example.com"]}
FRIENDS = {"version": 1, "lists": {"friends": {"values": ["bob@x.example"]}}}
SCENARIO = {
    "description": "reading the docs",
    "request": {"serverName": "fs", "toolName": "read", "arguments": {"path": "{root}/docs/a.txt"}},
    "expectedDecision": "allow",
    "source": "handwritten",
}


def annotated(tools: list[dict[str, Any]]) -> dict[str, Any]:
    servers: dict[str, Any] = {}
    for entry in tools:
        servers.setdefault(entry["serverName"], {"tools": []})["tools"].append(entry)
    return {"version": 1, "servers": servers}


def artifacts(place: Place) -> dict[str, Any]:
    """A whole policy directory that loads."""
    (place.root / "docs").mkdir(exist_ok=True)
    made = {
        POLICY: place.policy(RULES, lists=CONTACTS),
        ANNOTATIONS: annotated(TOOLS),
        LISTS: FRIENDS,
        SCENARIOS: {"version": 1, "scenarios": [SCENARIO]},
        BUDGET: {"version": 1, "session": {"calls": 100}, "repeats": 5},
    }
    return json.loads(place.fill(json.dumps(made)))  # type: ignore[no-any-return]


def written(place: Place, files: dict[str, Any], directory: str = "policy") -> Path:
    keys = {POLICY: "policy", ANNOTATIONS: "annotations", LISTS: "lists", SCENARIOS: "scenarios", BUDGET: "budget"}
    return place.draft(directory, **{keys[name]: content for name, content in files.items()})


def stamped(directory: Path) -> Path:
    """Claim that everything passed, so that only what stands in the files can be the reason of a refusal."""
    file = directory / POLICY
    policy = json.loads(file.read_text())
    digest = read_bundle(directory).digest
    policy["verification"] = {"verdict": "pass", "digest": digest, "scenarios": 1, "at": NOW_TEXT}
    file.write_text(json.dumps(policy))
    return directory


def changed(files: dict[str, Any], where: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """The artifacts with one thing set (or taken away) at a place; the place starts with the file's name."""
    made = copy.deepcopy(files)
    at: Any = made
    for step in where[:-1]:
        at = at[step]
    if value is MISSING:
        del at[where[-1]]
    elif isinstance(at, list) and where[-1] == len(at):
        at.append(value)
    else:
        at[where[-1]] = value
    return made


class Odd(NamedTuple):
    """One thing that is wrong: where it is put, what, and the place and the word of help that must be named."""

    id: str
    where: tuple[str | int, ...]
    value: Any
    place: str
    help: str


def refusal(place: Place, directory: Path, surroundings: Surroundings | None = None) -> ArtifactError:
    with pytest.raises(ArtifactError) as refused:
        load_policy(directory, surroundings or place.surroundings())
    return refused.value


def assert_tells(error: ArtifactError, code: str, file: Path, where: str, help_word: str) -> None:
    assert error.code == code
    assert error.file == str(file)
    assert error.place == where
    assert str(error) == f"{file}: {where}: {error.problem}" if where else f"{file}: {error.problem}"
    assert error.problem
    assert "\n" not in str(error)
    assert help_word in error.help


def assert_refused(place: Place, odd: Odd) -> None:
    """Neither loading nor verifying accepts it, whatever is stamped on it, and verifying leaves the file alone."""
    directory = written(place, changed(artifacts(place), odd.where, odd.value))
    file = directory / str(odd.where[0])
    before = file.read_bytes()
    with pytest.raises(ArtifactError) as refused:
        verify_directory(directory, place.surroundings())
    assert_tells(refused.value, "artifact_malformed", file, odd.place, odd.help)
    assert file.read_bytes() == before
    assert_tells(refusal(place, stamped(directory)), "artifact_malformed", file, odd.place, odd.help)


def loads(place: Place, where: tuple[str | int, ...], value: Any) -> Loaded:
    directory = written(place, changed(artifacts(place), where, value))
    return load_policy(stamped(directory), place.surroundings())


def verified(place: Place, changes: dict[str, Any] | None = None) -> Path:
    made = written(place, {**artifacts(place), **(changes or {})})
    assert verify_directory(made, place.surroundings()).passed
    return made


def ids(rows: list[Odd]) -> list[str]:
    return [row.id for row in rows]


# Rules


def rule_at(number: int, *steps: str | int) -> tuple[str | int, ...]:
    return (POLICY, "rules", number, *steps)


def predicate(value: Any) -> dict[str, Any]:
    return {"values": {"role:write-path": value}}


KEY_TYPOS = [
    Odd("pathes", rule_at(0, "if", "pathes"), {"roles": ["read-path"], "within": "/x"}, "rules[0].if", "paths"),
    Odd("tols", rule_at(0, "if", "tols"), ["read"], "rules[0].if", "tool"),
    Odd("capital", rule_at(0, "if", "Roles"), ["read-path"], "rules[0].if", "roles"),
    Odd("snake", rule_at(0, "if", "side_effects"), False, "rules[0].if", "sideEffects"),
    Odd("thne", rule_at(0, "thne"), "deny", "rules[0]", "then"),
    Odd("elsewere", rule_at(5, "elsewere"), True, "rules[5]", "elsewhere"),
    Odd("joind", rule_at(5, "joind"), True, "rules[5]", "joined"),
    Odd("unles", rule_at(1, "if", "unles"), [predicate({"maxItems": 1})], "rules[1].if", "unless"),
    Odd("unless beside if", rule_at(1, "unless"), [predicate({"maxItems": 1})], "rules[1]", "name"),
    Odd("withn", rule_at(0, "if", "paths", "withn"), "/x", "rules[0].if.paths", "within"),
    Odd("alowed", rule_at(2, "if", "lists", 0, "alowed"), ["x"], "rules[2].if.lists[0]", "allowed"),
    Odd("maximun", rule_at(4, "if", "values", "role:amount", "maximun"), 3, f"{SUMS}.role:amount", "maximum"),
    Odd("top level", (POLICY, "rulez"), [], "", "rules"),
    Odd("setup", (POLICY, "setup", "sandboxx"), "/x", "setup", "sandbox"),
]


@pytest.mark.parametrize("odd", KEY_TYPOS, ids=ids(KEY_TYPOS))
def test_an_unknown_key_is_refused_with_the_key_it_resembles(odd: Odd, place: Place) -> None:
    assert_refused(place, odd)
    assert str(odd.where[-1]) in refusal(place, place.root / "policy").problem


MISSING_KEYS = [
    Odd("name", rule_at(0, "name"), MISSING, "rules[0]", "name"),
    Odd("if", rule_at(0, "if"), MISSING, "rules[0]", "if"),
    Odd("then", rule_at(0, "then"), MISSING, "rules[0]", "then"),
    Odd("within", rule_at(0, "if", "paths", "within"), MISSING, "rules[0].if.paths", "within"),
    Odd("roles of paths", rule_at(0, "if", "paths", "roles"), MISSING, "rules[0].if.paths", "roles"),
    Odd("allowed", rule_at(3, "if", "domains", "allowed"), MISSING, "rules[3].if.domains", "allowed"),
    Odd("question", rule_at(1, "if", "assess"), {}, "rules[1].if.assess", "question"),
    Odd("from", rule_at(1, "if", "origin"), {"roles": ["recipient"]}, "rules[1].if.origin", "from"),
    Odd("version", (POLICY, "version"), MISSING, "", "version"),
    Odd("rules", (POLICY, "rules"), MISSING, "", "rules"),
    Odd("setup", (POLICY, "setup"), MISSING, "", "setup"),
    Odd("setup.home", (POLICY, "setup", "home"), MISSING, "setup", "home"),
    Odd("setup.sandbox", (POLICY, "setup", "sandbox"), MISSING, "setup", "sandbox"),
]


@pytest.mark.parametrize("odd", MISSING_KEYS, ids=ids(MISSING_KEYS))
def test_a_missing_key_is_refused_and_named(odd: Odd, place: Place) -> None:
    assert_refused(place, odd)


WRONG_WORDS = [
    Odd("Allow", rule_at(1, "then"), "Allow", "rules[1].then", "allow"),
    Odd("DENY", rule_at(1, "then"), "DENY", "rules[1].then", "deny"),
    Odd("escalates", rule_at(1, "then"), "escalates", "rules[1].then", "escalate"),
    Odd("role in capitals", rule_at(1, "if", "roles"), ["Delete-Path"], "rules[1].if.roles", "lower case"),
    Odd("role of paths", rule_at(0, "if", "paths", "roles"), ["READ-PATH"], "rules[0].if.paths.roles", "lower case"),
    Odd("values of nothing", rule_at(1, "if", "values"), {"to": {"equals": 1}}, "rules[1].if.values.to", "role:"),
]


@pytest.mark.parametrize("odd", WRONG_WORDS, ids=ids(WRONG_WORDS))
def test_a_word_in_the_wrong_spelling_is_refused(odd: Odd, place: Place) -> None:
    assert_refused(place, odd)


WRONG_TYPES = [
    Odd("tool", rule_at(1, "if", "tool"), "read", "rules[1].if.tool", "["),
    Odd("no tool at all", rule_at(1, "if", "tool"), [], "rules[1].if.tool", "leave the key out"),
    Odd("no role at all", rule_at(1, "if", "roles"), [], "rules[1].if.roles", "leave the key out"),
    Odd("sideEffects", rule_at(1, "if", "sideEffects"), "false", "rules[1].if.sideEffects", "true or false"),
    Odd("sideEffects 0", rule_at(1, "if", "sideEffects"), 0, "rules[1].if.sideEffects", "true or false"),
    Odd("minimum", rule_at(1, "if"), predicate({"minimum": "1"}), f"{WRITING}.minimum", "quotes"),
    Odd("maxLength", rule_at(1, "if"), predicate({"maxLength": -1}), f"{WRITING}.maxLength", "1"),
    Odd("no predicate", rule_at(1, "if"), predicate({}), WRITING, "equals"),
    Odd("name", rule_at(1, "name"), "", "rules[1].name", '"'),
    Odd("rule", rule_at(1), "deny", "rules[1]", "{"),
    Odd("rules", (POLICY, "rules"), {}, "rules", "["),
    Odd("elsewhere", rule_at(5, "elsewhere"), "true", "rules[5].elsewhere", "true"),
    Odd("joined", rule_at(5, "joined"), "true", "rules[5].joined", "true"),
    Odd("given false", rule_at(1, "if"), predicate({"given": False}), f"{WRITING}.given", "unless"),
    Odd("given 1", rule_at(1, "if"), predicate({"given": 1}), f"{WRITING}.given", "true"),
    Odd("unless", rule_at(1, "if", "unless"), predicate({"maxItems": 1}), UNLESS, "["),
    Odd("no exception at all", rule_at(1, "if", "unless"), [], UNLESS, "leave the key out"),
    Odd("an exception that is none", rule_at(1, "if", "unless"), ["to ann"], f"{UNLESS}[0]", "{"),
    Odd("no directory at all", rule_at(0, "if", "paths", "within"), [], WITHIN, "leave the key out"),
    Odd("an empty directory", rule_at(0, "if", "paths", "within"), ["/x", ""], f"{WITHIN}[1]", '"'),
    Odd("a number as a directory", rule_at(0, "if", "paths", "within"), ["/x", 7], f"{WITHIN}[1]", '"'),
]


@pytest.mark.parametrize("odd", WRONG_TYPES, ids=ids(WRONG_TYPES))
def test_a_value_of_the_wrong_type_is_refused(odd: Odd, place: Place) -> None:
    assert_refused(place, odd)


MEANINGLESS = [
    Odd("allow without conditions", rule_at(0, "if"), {}, "rules[0].if", "tool"),
    Odd("elsewhere on a deny", rule_at(1, "elsewhere"), True, "rules[1].elsewhere", "leave it out"),
    Odd("elsewhere on an allow", rule_at(0, "elsewhere"), True, "rules[0].elsewhere", "leave it out"),
    Odd(
        "valus in unless",
        rule_at(1, "if", "unless"),
        [{"valus": {"role:amount": {"equals": 1}}}],
        f"{UNLESS}[0]",
        "values",
    ),
    Odd("joined on a deny", rule_at(1, "joined"), True, "rules[1].joined", "leave it out"),
    Odd("joined on an allow", rule_at(0, "joined"), True, "rules[0].joined", "leave it out"),
    Odd("an empty exception", rule_at(1, "if", "unless"), [predicate({"maxItems": 1}), {}], f"{UNLESS}[1]", "paths"),
    Odd("an exception of tools", rule_at(1, "if", "unless"), [{"tool": ["read"]}], f"{UNLESS}[0]", "values"),
    Odd("an exception of roles", rule_at(1, "if", "unless"), [{"roles": ["read-path"]}], f"{UNLESS}[0]", "paths"),
    Odd(
        "a question in an exception",
        rule_at(1, "if", "unless"),
        [{"assess": {"question": "?"}}],
        f"{UNLESS}[0]",
        "paths",
    ),
    Odd(
        "an exception of an exception",
        rule_at(1, "if", "unless"),
        [{"unless": [predicate({"maxItems": 1})]}],
        f"{UNLESS}[0]",
        "values",
    ),
    Odd(
        "an exception with no value",
        rule_at(1, "if", "unless"),
        [predicate({})],
        f"{UNLESS}[0].values.role:write-path",
        "equals",
    ),
    Odd(
        "an exception with a list that is missing",
        rule_at(1, "if", "unless"),
        [{"lists": [{"roles": ["recipient"], "allowed": ["@foes"]}]}],
        f"{UNLESS}[0].lists[0].allowed[0]",
        "lists",
    ),
    Odd(
        "an exception of an argument that is missing",
        rule_at(1, "if", "unless"),
        [{"values": {"arg:pth": {"equals": "x"}}}],
        f"{UNLESS}[0].values.arg:pth",
        "arg:path",
    ),
    Odd(
        "a group with an empty role",
        rule_at(1, "if", "values"),
        {"role:read-path+": {"maxItems": 1}},
        "rules[1].if.values.role:read-path+",
        "read-path",
    ),
    Odd(
        "a group with a slip",
        rule_at(1, "if", "values"),
        {"role:read-path+write-pat": {"maxItems": 1}},
        "rules[1].if.values.role:read-path+write-pat",
        "write-path",
    ),
    Odd("relative directory in a list", rule_at(0, "if", "paths", "within"), ["/x", "docs"], f"{WITHIN}[1]", "from /"),
    Odd("assess in an allow", rule_at(0, "if", "assess"), {"question": "?"}, "rules[0].if.assess", "deny or escalate"),
    Odd("duplicate name", rule_at(1, "name"), "docs", "rules[1]", "its own name"),
    Odd("missing list", rule_at(2, "if", "lists", 0, "allowed", 0), "@foes", LISTED, "lists"),
    Odd("missing list of hosts", rule_at(3, "if", "domains", "allowed", 0), "@h", DOMAINS, "lists"),
    Odd("relative within", rule_at(0, "if", "paths", "within"), "docs", WITHIN, "from /"),
    Odd("dotted within", rule_at(0, "if", "paths", "within"), "./docs", WITHIN, "from /"),
    Odd("another's home", rule_at(0, "if", "paths", "within"), "~ann/docs", WITHIN, "~/"),
    Odd("variable within", rule_at(0, "if", "paths", "within"), "/$HOME/x", WITHIN, "write the path out"),
    Odd("every host", rule_at(3, "if", "domains", "allowed", 0), "*", DOMAINS, "*.example.com"),
    Odd("star inside", rule_at(3, "if", "domains", "allowed", 0), "a.*.com", DOMAINS, "example.com"),
    Odd("URL as host", rule_at(3, "if", "domains", "allowed", 0), "http://x.com/", DOMAINS, "example.com"),
]


@pytest.mark.parametrize("odd", MEANINGLESS, ids=ids(MEANINGLESS))
def test_a_rule_that_cannot_mean_anything_is_refused(odd: Odd, place: Place) -> None:
    assert_refused(place, odd)


def test_a_refused_list_entry_names_the_list(place: Place) -> None:
    directory = written(place, changed(artifacts(place), rule_at(2, "if", "lists", 0, "allowed", 0), "@foes"))
    assert "@foes" in refusal(place, stamped(directory)).problem


@pytest.mark.parametrize(
    ("where", "value"),
    [
        pytest.param(rule_at(1, "if"), {}, id="a deny without conditions"),
        pytest.param(rule_at(5, "if", "assess"), {"question": "kind?"}, id="assess in an escalate"),
        pytest.param(rule_at(1, "if", "assess"), {"question": "kind?"}, id="assess in a deny"),
        pytest.param(rule_at(0, "if", "origin"), {"roles": ["recipient"], "from": ["person", "list"]}, id="origin"),
        pytest.param(rule_at(0, "if", "paths", "within"), "~/docs", id="within the owner's home"),
        pytest.param(
            rule_at(0, "if", "paths", "within"), ["~/docs", "/srv", "~"], id="within one of several directories"
        ),
        pytest.param(rule_at(5, "joined"), True, id="a joined escalate"),
        pytest.param(rule_at(1, "if"), predicate({"given": True}), id="a value that is given"),
        pytest.param(rule_at(1, "joined"), False, id="a deny that is not joined"),
        pytest.param(
            rule_at(1, "if", "unless"), [predicate({"equals": "/x"}), predicate({"maxItems": 1})], id="exceptions"
        ),
        pytest.param(
            rule_at(0, "if", "unless"),
            [{"paths": {"roles": ["read-path"], "within": ["/a", "/b"]}}],
            id="an exception of an allow",
        ),
        pytest.param(rule_at(1, "if", "values"), {"role:read-path+write-path": {"maxItems": 1}}, id="a group of roles"),
        pytest.param(rule_at(1, "if", "roles"), ["place", "host"], id="the roles of places"),
        pytest.param(rule_at(3, "if", "domains", "allowed"), ["example.com", "*.example.com"], id="both kinds of host"),
        pytest.param(rule_at(3, "if", "domains", "allowed"), ["@hosts"], id="a list of hosts"),
        pytest.param(rule_at(1, "if", "roles"), ["passport-number"], id="a role of another vocabulary"),
        pytest.param(rule_at(1, "if", "tool"), ["delete*", "*"], id="wildcards in tool names"),
        pytest.param(rule_at(1, "name"), "Docs", id="names that differ in case"),
        pytest.param((POLICY, "rules"), [], id="no rules"),
        pytest.param((POLICY, "version"), 7, id="a later version"),
        pytest.param((POLICY, "generatedAt"), NOW_TEXT, id="generated now"),
        pytest.param((POLICY, "constitutionHash"), "abc", id="the constitution's hash"),
        pytest.param((POLICY, "lists", "known"), ["ann@x.example"], id="a plain list"),
        pytest.param((POLICY, "setup", "pathBase"), MISSING, id="no path base"),
    ],
)
def test_a_policy_near_to_a_refused_one_loads(where: tuple[str | int, ...], value: Any, place: Place) -> None:
    loaded = loads(place, where, value)
    assert outcome(loaded, call("delete", {"path": str(place.root / "docs/a")})) != "allow"


VERSIONS = [
    Odd(repr(value), (POLICY, "version"), value, "version", word)
    for value, word in [("1", "without quotes"), (0, "1"), (-3, "1"), (True, ""), (1.5, "1"), (None, ""), ([1], "")]
]


@pytest.mark.parametrize("odd", VERSIONS, ids=ids(VERSIONS))
def test_a_version_that_is_no_positive_integer_is_refused(odd: Odd, place: Place) -> None:
    assert_refused(place, odd)
    assert refusal(place, place.root / "policy").help


@pytest.mark.parametrize("file", [ANNOTATIONS, LISTS, SCENARIOS])
@pytest.mark.parametrize("version", [0, 2, "1", True, MISSING], ids=["0", "2", "text", "true", "missing"])
def test_only_version_1_of_the_other_files_is_known(file: str, version: Any, place: Place) -> None:
    directory = written(place, changed(artifacts(place), (file, "version"), version))
    error = refusal(place, stamped(directory))
    assert_tells(error, "artifact_malformed", directory / file, "" if version is MISSING else "version", "")
    assert error.help


TIMES = [
    Odd(value, (POLICY, "generatedAt"), value, "generatedAt", "T08:00:00Z")
    for value in ("yesterday", "2026-11-15", "2026-13-15T08:00:00Z", "2026-11-15T08:00:00+02:00", "")
]


@pytest.mark.parametrize("odd", TIMES, ids=ids(TIMES))
def test_a_time_that_is_not_utc_is_refused(odd: Odd, place: Place) -> None:
    directory = written(place, changed(artifacts(place), odd.where, odd.value))
    error = refusal(place, stamped(directory))
    assert_tells(error, "artifact_malformed", directory / POLICY, "generatedAt", "")
    assert error.help


def test_a_policy_from_the_future_is_refused(place: Place) -> None:
    directory = written(place, changed(artifacts(place), (POLICY, "generatedAt"), "2027-01-16T08:00:00Z"))
    assert_tells(refusal(place, stamped(directory)), "policy_future", directory / POLICY, "generatedAt", "clock")
    with pytest.raises(ArtifactError) as refused:
        verify_directory(directory, place.surroundings())
    assert refused.value.code == "policy_future"


# Regular expressions

EXPRESSIONS = ["(", "a)", "[a", "a{2,1}", "*a", "(a)\\1", "(?=a)", "(?P<n>a)", "(?<!a)b", "a(?i)b", "\\", "\\b"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_regular_expression_outside_the_language_is_refused(expression: str, place: Place) -> None:
    directory = written(place, changed(artifacts(place), rule_at(1, "if"), predicate({"matches": expression})))
    where = f"{WRITING}.matches"
    error = refusal(place, stamped(directory))
    assert_tells(error, "artifact_malformed", directory / POLICY, where, "formats.md")


@pytest.mark.parametrize(
    ("expression", "yes", "no"),
    [
        ("(?i)[a-c]+", "abC", "abd"),
        ("(?:ab|cd){2,3}", "abcd", "ab"),
        (r"\d{4}-\d\d", "2026-11", "2026-1"),
        (r"a\.b", "a.b", "axb"),
        ("[a-z_]*", "my_notes", "a-b"),
        (r"\w+\s\S", "ab c", "abc"),
        ("colou?r", "color", "colouur"),
    ],
)
def test_a_regular_expression_is_about_the_whole_string(expression: str, yes: str, no: str, place: Place) -> None:
    values = {"values": {"arg:body": {"matches": expression}}, "tool": ["mail"]}
    loaded = loads(place, rule_at(0), {"name": "text", "if": values, "then": "allow"})
    for text, expected in ((yes, "allow"), (no, "escalate"), (yes + "\n", "escalate"), ("x/" + yes, "escalate")):
        request = call("mail", {"to": "eve@y.example", "body": text}, server="post")
        assert outcome(loaded, request) == expected, text


CATASTROPHES = ["(a+)+b", "(a|a)*b", "(a*)*b", "(.*)*(.*)*b", "(a?){40}a{40}b", "(x+x+)+y|(a|aa)+b"]


@pytest.mark.parametrize("expression", CATASTROPHES)
def test_a_catastrophic_regular_expression_loads_and_stays_fast(expression: str, place: Place) -> None:
    values = {"tool": ["mail"], "values": {"arg:body": {"matches": expression}}}
    loaded = loads(place, rule_at(0), {"name": "text", "if": values, "then": "deny"})
    started = time.perf_counter()
    request = call("mail", {"to": "ann@x.example", "body": "a" * 4_096}, server="post")
    assert decide(loaded, request).code == "rule_allow"
    assert time.perf_counter() - started < 10


TOO_BIG = {
    "nested counts": "(((a{1000}){1000}){1000}){1000}",
    "one count": "a{1000000000}",
    "nested groups": "(" * 5_000 + "a" + ")" * 5_000,
}


@pytest.mark.parametrize("expression", TOO_BIG.values(), ids=TOO_BIG.keys())
def test_a_regular_expression_too_big_to_build_is_refused(expression: str, place: Place) -> None:
    started = time.perf_counter()
    directory = written(place, changed(artifacts(place), rule_at(1, "if"), predicate({"matches": expression})))
    where = f"{WRITING}.matches"
    error = refusal(place, stamped(directory))
    assert_tells(error, "artifact_malformed", directory / POLICY, where, "formats.md")
    assert time.perf_counter() - started < 10


# Annotations

READ = (ANNOTATIONS, "servers", "fs", "tools", 0)
READ_AT = "servers.fs.tools[0]"

ODD_ANNOTATIONS = [
    Odd("sideEffects false with a role", (*READ, "sideEffects"), False, f"{READ_AT}.sideEffects", "true"),
    Odd("sideEffects as text", (*READ, "sideEffects"), "true", f"{READ_AT}.sideEffects", "true"),
    Odd("no sideEffects", (*READ, "sideEffects"), MISSING, READ_AT, "sideEffects"),
    Odd("unknown leaf", (*READ, "args"), {"pth": {"roles": ["read-path"]}}, f"{READ_AT}.args.pth", "path"),
    Odd("child of a plain leaf", (*READ, "args", "path.x"), {"roles": ["none"]}, f"{READ_AT}.args.path.x", ""),
    Odd("list of a plain leaf", (*READ, "args", "path[].x"), {"roles": ["none"]}, f"{READ_AT}.args.path[].x", ""),
    Odd("roles without an entry", (*READ, "args", "path"), ["read-path"], f"{READ_AT}.args.path[0]", "{"),
    Odd("no roles", (*READ, "args", "path", "roles"), [], f"{READ_AT}.args.path.roles", "name at least one"),
    Odd("no modes", (*READ, "args", "path"), [], f"{READ_AT}.args.path", "name at least one"),
    Odd("role in capitals", (*READ, "args", "path", "roles"), ["Read-Path"], f"{READ_AT}.args.path.roles", "lower"),
    Odd("Absent", (*READ, "args", "path", "absent"), "Nothing", f"{READ_AT}.args.path.absent", "nothing"),
    Odd("entry key", (*READ, "args", "path", "role"), ["none"], f"{READ_AT}.args.path", "roles"),
    Odd("effects", (*READ, "effects"), ["read", "destroy"], f"{READ_AT}.effects[1]", ""),
    Odd("Effects", (*READ, "effects"), ["Read"], f"{READ_AT}.effects[0]", "read"),
    Odd("effects as text", (*READ, "effects"), "read", f"{READ_AT}.effects", "["),
    Odd("serverName", (*READ, "serverName"), "web", f"{READ_AT}.serverName", "fs"),
    Odd("no serverName", (*READ, "serverName"), MISSING, READ_AT, "serverName"),
    Odd("no definition", (*READ, "definition"), MISSING, READ_AT, "definition"),
    Odd("another's definition", (*READ, "definition", "name"), "write", f"{READ_AT}.definition", "read"),
    Odd("unnamed definition", (*READ, "definition", "name"), MISSING, f"{READ_AT}.definition", "read"),
    Odd("definition as text", (*READ, "definition"), "read(path)", f"{READ_AT}.definition", "name"),
    Odd("second annotation", (*READ[:-1], len(FILE_TOOLS) + 1), FILE_TOOLS[0], "servers.fs.tools[7]", ""),
    Odd("unknown key", (*READ, "effect"), "read", READ_AT, "effects"),
    Odd("tools", (ANNOTATIONS, "servers", "fs", "tools"), {}, "servers.fs.tools", "["),
    Odd("toolz", (ANNOTATIONS, "servers", "fs", "toolz"), [], "servers.fs", "tools"),
]


@pytest.mark.parametrize("odd", ODD_ANNOTATIONS, ids=ids(ODD_ANNOTATIONS))
def test_an_annotation_that_says_something_odd_is_refused(odd: Odd, place: Place) -> None:
    assert_refused(place, odd)
    assert refusal(place, place.root / "policy").help


@pytest.mark.parametrize(
    ("where", "value"),
    [
        pytest.param((*READ, "effects"), ["read", "share"], id="effects of the list"),
        pytest.param((*READ, "comment"), "reads a file", id="a comment"),
        pytest.param((*READ, "args", "path", "absent"), "nothing", id="absent nothing"),
        pytest.param((*READ, "args"), {}, id="an argument that cannot be used"),
        pytest.param((*READ, "args", "path", "roles"), ["passport"], id="a role of another vocabulary"),
        pytest.param((ANNOTATIONS, "servers", "web", "tools", 1, "sideEffects"), True, id="side effects without roles"),
        pytest.param((ANNOTATIONS, "servers", "fs", "inputHash"), "abc", id="the input's hash"),
        pytest.param((ANNOTATIONS, "servers", "empty"), {"tools": []}, id="a server without tools"),
        pytest.param((ANNOTATIONS, "generatedAt"), NOW_TEXT, id="generated now"),
    ],
)
def test_an_annotation_near_to_a_refused_one_loads(where: tuple[str | int, ...], value: Any, place: Place) -> None:
    loaded = loads(place, where, value)
    assert outcome(loaded, call("info", {})) == "escalate"


def test_a_drifted_tool_loads_and_its_calls_are_denied(place: Place) -> None:
    drifted = changed(artifacts(place), (*READ, "definition", "description"), "now reads twice")
    directory = written(place, drifted)
    del drifted[SCENARIOS]
    (directory / SCENARIOS).unlink()
    assert verify_directory(directory, place.surroundings()).passed
    loaded = load_policy(directory, place.surroundings())
    denied = decide(loaded, call("read", {"path": str(place.root / "docs/a.txt")}))
    assert (denied.outcome.word, denied.stage.value, denied.code) == ("deny", "invariants", "tool_drift")
    assert denied.help
    assert outcome(loaded, call("read_many", {"paths": [str(place.root / "docs/a.txt")]})) == "allow"


def test_verifying_never_replaces_a_pin(place: Place) -> None:
    wrong = "sha256:" + "0" * 64
    files = changed(artifacts(place), (*READ, "pin"), wrong)
    del files[SCENARIOS]
    directory = written(place, files)
    verify_directory(directory, place.surroundings())
    assert json.loads((directory / ANNOTATIONS).read_text())["servers"]["fs"]["tools"][0]["pin"] == wrong


def test_a_missing_pin_is_refused_on_load_and_filled_by_verify(place: Place) -> None:
    directory = written(place, changed(artifacts(place), (*READ, "pin"), MISSING))
    error = refusal(place, stamped(directory))
    assert_tells(error, "artifact_malformed", directory / ANNOTATIONS, READ_AT, "pin")
    assert verify_directory(directory, place.surroundings()).passed
    loaded = load_policy(directory, place.surroundings())
    assert outcome(loaded, call("read", {"path": str(place.root / "docs/a.txt")})) == "allow"
    assert json.loads((directory / ANNOTATIONS).read_text())["servers"]["fs"]["tools"][0]["pin"] == FILE_TOOLS[0]["pin"]


# Lists


def test_a_list_may_stand_in_one_file_only(place: Place) -> None:
    directory = written(place, changed(artifacts(place), (LISTS, "lists", "known"), {"values": ["eve"]}))
    error = refusal(place, stamped(directory))
    assert_tells(error, "artifact_malformed", directory / LISTS, "lists.known", "remove one")
    assert POLICY in error.problem


ODD_LISTS = [
    Odd("typo", (LISTS, "lists", "friends", "manualRemoval"), ["x"], "lists.friends", "manualRemovals"),
    Odd("no values", (LISTS, "lists", "friends", "values"), MISSING, "lists.friends", "values"),
    Odd("values as text", (LISTS, "lists", "friends", "values"), "bob", "lists.friends.values", "["),
    Odd("additions as text", (LISTS, "lists", "friends", "manualAdditions"), "b", "lists.friends.manualAdditions", "["),
    Odd("no lists", (LISTS, "lists"), MISSING, "", "lists"),
    Odd("a number as a list", (POLICY, "lists", "known"), 7, "lists.known", ""),
    Odd("values of the policy", (POLICY, "lists", "known", "value"), ["x"], "lists.known", "values"),
]


@pytest.mark.parametrize("odd", ODD_LISTS, ids=ids(ODD_LISTS))
def test_a_list_that_says_something_odd_is_refused(odd: Odd, place: Place) -> None:
    assert_refused(place, odd)
    assert refusal(place, place.root / "policy").help


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("ann@x.example", "allow"),  # from the policy
        ("bob@x.example", "escalate"),  # removed by hand
        ("cid@x.example", "allow"),  # a value
        ("dan@x.example", "allow"),  # added by hand
        ("fay@x.example", "escalate"),  # added and removed
        ("gus@x.example", "escalate"),  # on no list
    ],
)
def test_removals_by_hand_beat_values_and_additions(who: str, expected: str, place: Place) -> None:
    friends = {
        "values": ["bob@x.example", "cid@x.example"],
        "manualAdditions": ["dan@x.example", "fay@x.example"],
        "manualRemovals": ["bob@x.example", "fay@x.example", "never@was.example"],
    }
    loaded = loads(place, (LISTS, "lists", "friends"), friends)
    assert outcome(loaded, call("mail", {"to": who, "body": "hello"}, server="post")) == expected


# The reader


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "blank": lambda data: b" \n",
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "trailing data": lambda data: data + b"{}",
    "a comment": lambda data: b"// mine\n" + data,
    "a trailing comma": lambda data: data[:-1] + b",}",
    "not UTF-8": lambda data: data[:-1] + b', "\xff": 1}',
    "NaN": lambda data: data[:-1] + b', "x": NaN}',
    "deep": lambda data: data[:-1] + b', "x": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "a duplicate key": lambda data: data[:-1] + b', "version": 1}',
    "an escaped duplicate key": lambda data: data[:-1] + b', "versio\\u006e": 1}',
    "a confusable key": lambda data: data[:-1] + b', "Version": 1}',
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_by_its_name(name: str, damage: str, place: Place) -> None:
    directory = verified(place)
    file = directory / name
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    error = refusal(place, directory)
    assert error.code == "artifact_malformed"
    assert error.file == str(file)
    assert error.help
    with pytest.raises(ArtifactError) as refused:
        verify_directory(directory, place.surroundings())
    assert (refused.value.code, refused.value.file) == ("artifact_malformed", str(file))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("value", [[], "text", 1, None, True], ids=repr)
def test_a_file_that_is_no_object_is_refused(name: str, value: Any, place: Place) -> None:
    directory = written(place, {**artifacts(place), name: json.dumps(value)})
    with pytest.raises(ArtifactError) as refused:
        verify_directory(directory, place.surroundings())
    assert_tells(refused.value, "artifact_malformed", directory / name, "", "{")


def test_a_duplicate_key_is_named(place: Place) -> None:
    directory = verified(place)
    file = directory / POLICY
    file.write_text(file.read_text().replace('"then": "allow"', '"then": "deny", "then": "allow"', 1))
    assert "then" in str(refusal(place, directory))


# Verification


def test_a_verified_policy_loads(place: Place) -> None:
    loaded = load_policy(verified(place), place.surroundings())
    assert outcome(loaded, call("read", {"path": str(place.root / "docs/a.txt")})) == "allow"


def test_an_unverified_policy_is_refused(place: Place) -> None:
    directory = written(place, artifacts(place))
    error = refusal(place, directory)
    assert (error.code, error.file) == ("policy_unverified", str(directory / POLICY))
    assert "ironcurtain policy verify" in error.help


def test_a_policy_whose_scenario_fails_is_stamped_so_and_refused(place: Place) -> None:
    wrong = changed(artifacts(place), (SCENARIOS, "scenarios", 0, "expectedDecision"), "deny")
    directory = written(place, wrong)
    for _ in range(2):  # verifying again does not help
        assert not verify_directory(directory, place.surroundings()).passed
        assert json.loads((directory / POLICY).read_text())["verification"]["verdict"] == "fail"
        error = refusal(place, directory)
        assert (error.code, error.file) == ("policy_failed", str(directory / POLICY))
        assert error.help
    (directory / SCENARIOS).write_text(json.dumps(artifacts(place)[SCENARIOS]))
    assert verify_directory(directory, place.surroundings()).passed
    load_policy(directory, place.surroundings())


EDITS: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "a rule": (rule_at(1, "then"), "escalate"),
    "a rule's reason": (rule_at(1, "reason"), "because"),
    "the order of rules": ((POLICY, "rules"), [RULES[1]]),
    "an annotation": ((*READ, "comment"), "harmless"),
    "a definition": ((*READ, "definition", "description"), "harmless"),
    "a list of the policy": ((POLICY, "lists", "known", "values", 1), "eve@y.example"),
    "a dynamic list": ((LISTS, "lists", "friends", "values", 1), "eve@y.example"),
    "a scenario": ((SCENARIOS, "scenarios", 0, "expectedDecision"), "escalate"),
    "another scenario": ((SCENARIOS, "scenarios", 1), {**SCENARIO, "description": "twice"}),
    "the sandbox": ((POLICY, "setup", "sandbox"), "/srv/elsewhere"),
    "the home": ((POLICY, "setup", "home"), "/srv/owner"),
    "the path base": ((POLICY, "setup", "pathBase", "web"), "/srv"),
    "the version": ((POLICY, "version"), 2),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_policy_edited_since_it_was_verified_is_refused(edit: str, place: Place) -> None:
    directory = verified(place)
    where, value = EDITS[edit]
    on_disk = {name: json.loads((directory / name).read_text()) for name in FILES}
    name = str(where[0])
    (directory / name).write_text(json.dumps(changed(on_disk, where, value)[name]))
    error = refusal(place, directory)
    assert error.code == "policy_edited"
    assert str(directory) in error.file
    assert "ironcurtain policy verify" in error.help


@pytest.mark.parametrize("name", [LISTS, SCENARIOS])
def test_a_file_taken_away_since_verification_is_an_edit(name: str, place: Place) -> None:
    directory = verified(place, {POLICY: place.policy(RULES[:2], lists=CONTACTS)})
    (directory / name).unlink()
    assert refusal(place, directory).code == "policy_edited"


@pytest.mark.parametrize("name", [LISTS, SCENARIOS])
def test_a_file_added_since_verification_is_an_edit(name: str, place: Place) -> None:
    files = {key: value for key, value in artifacts(place).items() if key != name}
    directory = written(place, {**files, POLICY: place.policy(RULES[:2], lists=CONTACTS)})
    assert verify_directory(directory, place.surroundings()).passed
    load_policy(directory, place.surroundings())
    (directory / name).write_text(json.dumps(artifacts(place)[name]))
    (directory / name).chmod(0o600)
    assert refusal(place, directory).code == "policy_edited"


def test_other_files_of_the_directory_are_ignored(place: Place) -> None:
    directory = verified(place)
    (directory / "README").write_bytes(b"\xff{")
    (directory / "compiled-policy.json~").write_text("{")
    load_policy(directory, place.surroundings())


ODD_STAMPS: dict[str, Any] = {
    "verdict in capitals": {"verdict": "PASS"},
    "verdict of another word": {"verdict": "passed"},
    "verdict true": {"verdict": True},
    "no verdict": {"verdict": MISSING},
    "no digest": {"digest": MISSING},
    "digest null": {"digest": None},
    "unknown key": {"signature": "x"},
}


@pytest.mark.parametrize("odd", ODD_STAMPS)
def test_a_stamp_that_says_something_odd_is_refused(odd: str, place: Place) -> None:
    directory = verified(place)
    policy = json.loads((directory / POLICY).read_text())
    stamp = {**policy["verification"], **ODD_STAMPS[odd]}
    policy["verification"] = {key: value for key, value in stamp.items() if value is not MISSING}
    (directory / POLICY).write_text(json.dumps(policy))
    error = refusal(place, directory)
    assert (error.code, error.file) == ("artifact_malformed", str(directory / POLICY))
    assert error.place.startswith("verification")
    assert error.help


@pytest.mark.parametrize("stamp", [None, {}, "pass", True])
def test_a_stamp_that_is_none_is_no_verification(stamp: Any, place: Place) -> None:
    directory = written(place, changed(artifacts(place), (POLICY, "verification"), stamp))
    error = refusal(place, directory)
    assert error.code in ("artifact_malformed", "policy_unverified")
    assert error.help


ODD_SCENARIOS = [
    Odd("decision", (SCENARIOS, "scenarios", 0, "expectedDecision"), "Allow", "scenarios[0].expectedDecision", "allow"),
    Odd("source", (SCENARIOS, "scenarios", 0, "source"), "robot", "scenarios[0].source", ""),
    Odd("no source", (SCENARIOS, "scenarios", 0, "source"), MISSING, "scenarios[0]", "source"),
    Odd("no request", (SCENARIOS, "scenarios", 0, "request"), MISSING, "scenarios[0]", "request"),
    Odd("typo", (SCENARIOS, "scenarios", 0, "expectedDecison"), "deny", "scenarios[0]", "expectedDecision"),
]


@pytest.mark.parametrize("odd", ODD_SCENARIOS, ids=ids(ODD_SCENARIOS))
def test_a_scenario_that_says_something_odd_is_refused(odd: Odd, place: Place) -> None:
    directory = written(place, changed(artifacts(place), odd.where, odd.value))
    with pytest.raises(ArtifactError) as refused:
        verify_directory(directory, place.surroundings())
    assert_tells(refused.value, "artifact_malformed", directory / SCENARIOS, odd.place, odd.help)
    assert refused.value.help


# Owners and permissions


def give_away(path: Path) -> None:
    """Let somebody else own it; who is not root can only let others write to it."""
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    else:
        path.chmod(0o722)


def replace_by_link(path: Path) -> None:
    real = path.with_name(path.name + ".real")
    path.rename(real)
    path.symlink_to(real)


def replace_by_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


UNSAFE: dict[str, Callable[[Path], None]] = {
    "writable by the group": lambda path: path.chmod(0o620),
    "writable by others": lambda path: path.chmod(0o602),
    "owned by another": give_away,
    "a symbolic link": replace_by_link,
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", UNSAFE)
def test_a_file_somebody_else_could_change_is_refused(name: str, how: str, place: Place) -> None:
    directory = verified(place)
    UNSAFE[how](directory / name)
    error = refusal(place, directory)
    assert (error.code, error.file) == ("artifact_unsafe", str(directory / name))
    assert error.help
    with pytest.raises(ArtifactError) as refused:
        verify_directory(directory, place.surroundings())
    assert refused.value.code == "artifact_unsafe"


@pytest.mark.parametrize("name", REQUIRED)
def test_a_fifo_is_refused_and_not_waited_for(name: str, place: Place) -> None:
    directory = verified(place)
    replace_by_fifo(directory / name)
    error = refusal(place, directory)
    assert (error.code, error.file) == ("artifact_unsafe", str(directory / name))
    assert error.help


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o702, 0o777, 0o1777], ids=oct)
def test_a_directory_somebody_else_could_change_is_refused(mode: int, place: Place) -> None:
    directory = verified(place)
    directory.chmod(mode)
    error = refusal(place, directory)
    assert (error.code, error.file) == ("artifact_unsafe", str(directory))
    assert "chmod" in error.help


def test_a_directory_of_another_owner_is_refused(place: Place) -> None:
    directory = verified(place)
    give_away(directory)
    assert (refusal(place, directory).code, refusal(place, directory).file) == ("artifact_unsafe", str(directory))


@pytest.mark.parametrize("name", REQUIRED)
def test_a_dangling_link_is_refused(name: str, place: Place) -> None:
    directory = verified(place)
    (directory / name).unlink()
    (directory / name).symlink_to(place.root / "nowhere.json")
    error = refusal(place, directory)
    assert (error.code, error.file) == ("artifact_unsafe", str(directory / name))
    assert error.help


@pytest.mark.parametrize(("files", "directory"), [(0o644, 0o755), (0o444, 0o555), (0o600, 0o700)])
def test_what_others_may_only_read_loads(files: int, directory: int, place: Place) -> None:
    made = verified(place)
    for name in FILES:
        (made / name).chmod(files)
    made.chmod(directory)
    load_policy(made, place.surroundings())
    made.chmod(0o700)


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_file_is_named(name: str, place: Place) -> None:
    directory = verified(place)
    (directory / name).unlink()
    error = refusal(place, directory)
    assert (error.code, error.file) == ("artifact_missing", str(directory / name))
    assert error.help


def test_a_missing_directory_is_named(place: Place) -> None:
    error = refusal(place, place.root / "nowhere")
    assert error.code == "artifact_missing"
    assert error.file.startswith(str(place.root / "nowhere"))
    assert error.help


# The sandbox


def sandboxed(place: Place, sandbox: str, directory: str = "policies/mine") -> Path:
    files = artifacts(place)
    files[POLICY]["setup"]["sandbox"] = place.fill(sandbox)
    return stamped(written(place, files, directory))


@pytest.mark.parametrize(
    "sandbox",
    [
        "{home}/.ironcurtain",
        "{home}/.ironcurtain/policy",
        "{home}/.ironcurtain/policy/deep/inside",
        "{home}/.ironcurtain/sandboxes",
        "{home}/.IronCurtain/policy",
        "{home}",
        "{root}/home",
        "{root}",
        "/",
        "{home}/.cursor",
        "{home}/.Cursor",
        "{home}/.cursor/mcp.json",
        "{home}/.cursor/mcp.json/inside",
        "{root}/policies/mine",
        "{root}/policies/mine/compiled-policy.json",
        "{root}/policies",
        "{root}/policies/../policies",
        "{root}/way-in",
    ],
)
def test_a_sandbox_that_meets_something_protected_is_refused(sandbox: str, place: Place) -> None:
    place.link("way-in", "{home}/.ironcurtain/audit")
    directory = sandboxed(place, sandbox)
    error = refusal(place, directory)
    assert (error.code, error.file) == ("sandbox_overlap", str(directory / POLICY))
    assert error.place.startswith("setup")
    assert error.help


@pytest.mark.parametrize(
    "sandbox",
    [
        "{home}/.ironcurtain/sandbox",
        "{home}/.ironcurtain/sandbox/session-1",
        "{home}/box",
        "{home}/.cursor-box",
        "{root}/policies/other",
        "{root}/policies/mine-box",
        "{root}/not-made-yet",
    ],
)
def test_a_sandbox_beside_what_is_protected_loads_and_contains(sandbox: str, place: Place) -> None:
    loaded = load_policy(sandboxed(place, sandbox), place.surroundings())
    inside = decide(loaded, call("write", {"path": place.fill(sandbox) + "/x", "content": "y"}))
    assert (inside.outcome.word, inside.code) == ("allow", "contained")


def test_a_sandbox_around_the_config_file_in_use_is_refused(place: Place) -> None:
    config = place.file("box/settings/config.toml", '[tools]\ndeny = ["x"]\n')
    config.chmod(0o600)
    directory = sandboxed(place, "{box}")
    load_policy(directory, place.surroundings())
    surroundings = Surroundings(place.ironcurtain, NOW, read_config(config).access, config)
    error = refusal(place, directory, surroundings)
    assert (error.code, error.file) == ("sandbox_overlap", str(directory / POLICY))
    assert error.help


def test_the_owners_ironcurtain_is_protected_wherever_the_home_is(place: Place) -> None:
    elsewhere = place.root / "elsewhere"
    elsewhere.mkdir(0o700)
    surroundings = Surroundings(elsewhere, NOW, place.surroundings().access)
    for sandbox in ("{home}/.ironcurtain", "{root}/elsewhere", "{root}/elsewhere/policy"):
        assert refusal(place, sandboxed(place, sandbox), surroundings).code == "sandbox_overlap", sandbox
    for sandbox in ("{home}/.ironcurtain/sandbox", "{root}/elsewhere/sandbox"):
        load_policy(sandboxed(place, sandbox), surroundings)


ODD_SETUPS = [
    Odd("relative sandbox", (POLICY, "setup", "sandbox"), "box", "setup.sandbox", "absolute"),
    Odd("relative home", (POLICY, "setup", "home"), "owner", "setup.home", "absolute"),
    Odd("relative base", (POLICY, "setup", "pathBase", "fs"), "box", "setup.pathBase.fs", "absolute"),
    Odd("empty sandbox", (POLICY, "setup", "sandbox"), "", "setup.sandbox", ""),
    Odd("sandbox with a variable", (POLICY, "setup", "sandbox"), "/tmp/$USER", "setup.sandbox", ""),
    Odd("pathBase as text", (POLICY, "setup", "pathBase"), "/x", "setup.pathBase", "{"),
]


@pytest.mark.parametrize("odd", ODD_SETUPS, ids=ids(ODD_SETUPS))
def test_a_setup_without_absolute_directories_is_refused(odd: Odd, place: Place) -> None:
    assert_refused(place, odd)
    assert refusal(place, place.root / "policy").help


# Task policies


def task(**changes: Any) -> dict[str, Any]:
    made = {
        "version": 1,
        "task": "read the docs",
        "expiresAt": "2027-01-15T09:00:00Z",
        "rules": [{"name": "any-read", "if": {"roles": ["read-path"]}, "then": "allow"}],
        **changes,
    }
    return {key: value for key, value in made.items() if value is not MISSING}


def deny_rule(**conditions: Any) -> list[dict[str, Any]]:
    return [{"name": "t", "if": conditions, "then": "deny"}]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"version": 2}, id="another version"),
        pytest.param({"version": "1"}, id="version as text"),
        pytest.param({"version": MISSING}, id="no version"),
        pytest.param({"rules": MISSING}, id="no rules"),
        pytest.param({"task": MISSING}, id="no task"),
        pytest.param({"expiresAt": MISSING}, id="no end"),
        pytest.param({"expiresAt": "tomorrow"}, id="no time"),
        pytest.param({"rulez": []}, id="unknown key"),
        pytest.param({"rules": {}}, id="rules of the wrong type"),
        pytest.param({"rules": [{"name": "t", "if": {}, "then": "allow"}]}, id="allow without conditions"),
        pytest.param({"rules": [{"name": "t", "if": {}, "then": "Deny"}]}, id="decision in capitals"),
        pytest.param({"rules": deny_rule(tols=["x"])}, id="typo in a condition"),
        pytest.param({"rules": [*deny_rule(), *deny_rule()]}, id="duplicate names"),
        pytest.param({"rules": deny_rule(lists=[{"roles": ["recipient"], "allowed": ["@foes"]}])}, id="unknown list"),
        pytest.param({"rules": deny_rule(values={"role:recipient": {"matches": "("}})}, id="bad expression"),
    ],
)
def test_a_malformed_task_policy_denies(changes: dict[str, Any], place: Place) -> None:
    loaded = load_policy(verified(place), place.surroundings())
    request = call("read", {"path": str(place.root / "docs/a.txt")})
    denied = decide(loaded, {**request, "task": task(**changes)})
    assert (denied.outcome.word, denied.stage.value, denied.code) == ("deny", "task", "task_malformed")
    assert denied.reason
    assert denied.help
    assert outcome(loaded, {**request, "task": task()}) == "allow"


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("2027-01-15T07:59:59Z", ("deny", "task", "task_expired")),
        ("2027-01-15T08:00:00Z", ("deny", "task", "task_expired")),
        ("1999-01-01T00:00:00Z", ("deny", "task", "task_expired")),
        ("2027-01-15T08:00:01Z", ("allow", "rules", "rule_allow")),
    ],
)
def test_a_task_policy_ends_when_it_says(end: str, expected: tuple[str, str, str], place: Place) -> None:
    loaded = load_policy(verified(place), place.surroundings())
    request = {**call("read", {"path": str(place.root / "docs/a.txt")}), "task": task(expiresAt=end)}
    decision = decide(loaded, request)
    assert (decision.outcome.word, decision.stage.value, decision.code) == expected


def test_a_task_policy_uses_the_lists_of_the_policy_and_only_narrows(place: Place) -> None:
    loaded = load_policy(verified(place), place.surroundings())
    only = [{"name": "t", "if": {"lists": [{"roles": ["recipient"], "allowed": ["@friends"]}]}, "then": "allow"}]
    for who, expected in (("bob@x.example", "allow"), ("ann@x.example", "deny"), ("eve@y.example", "deny")):
        request = {**call("mail", {"to": who, "body": "x"}, server="post"), "task": task(rules=only)}
        assert outcome(loaded, request) == expected, who
    everything = [{"name": "t", "if": {"tool": ["*"]}, "then": "allow"}]
    for name, expected in (("delete", "deny"), ("read", "escalate")):
        request = {**call(name, {"path": str(place.root / "out/x")}), "task": task(rules=everything)}
        assert outcome(loaded, request) == expected, name


# config.toml


def config(place: Place, text: str) -> Path:
    made = place.file("config.toml", text)
    made.chmod(0o600)
    return made


@pytest.mark.parametrize(
    ("text", "where", "help_word"),
    [
        pytest.param("[tools]\nallow = []\n", "tools.allow", "leave", id="an empty allow"),
        pytest.param('[tools]\nprofile = "Coding"\n', "tools.profile", "coding", id="a profile in capitals"),
        pytest.param('[tools]\nprofile = "hacking"\n', "tools.profile", "", id="an unknown profile"),
        pytest.param('[tools]\nalow = ["x"]\n', "tools", "allow", id="a typo"),
        pytest.param('[tools]\nallow = "x"\n', "tools.allow", "[", id="a pattern that is no list"),
        pytest.param('[tools]\nallow = ["group:nope"]\n', "tools.allow[0]", "", id="an unknown group"),
        pytest.param("[agents.a.tools]\nallow = []\n", "agents.a.tools.allow", "leave", id="an agent's empty allow"),
        pytest.param('[tool]\nallow = ["x"]\n', "", "tools", id="an unknown table"),
    ],
)
def test_a_configuration_that_says_something_odd_is_refused(
    text: str, where: str, help_word: str, place: Place
) -> None:
    file = config(place, text)
    with pytest.raises(ArtifactError) as refused:
        read_config(file)
    assert_tells(refused.value, "artifact_malformed", file, where, help_word)
    assert refused.value.help


@pytest.mark.parametrize("text", ["[tools\n", "tools = 1\n", "[tools]\ndeny = ['x']\n[tools]\n", "\x00"])
def test_a_configuration_that_is_no_toml_is_refused(text: str, place: Place) -> None:
    file = config(place, text)
    with pytest.raises(ArtifactError) as refused:
        read_config(file)
    assert (refused.value.code, refused.value.file) == ("artifact_malformed", str(file))
    assert refused.value.help


@pytest.mark.parametrize("how", UNSAFE)
def test_a_configuration_somebody_else_could_change_is_refused(how: str, place: Place) -> None:
    file = config(place, '[tools]\ndeny = ["x"]\n')
    read_config(file)
    UNSAFE[how](file)
    with pytest.raises(ArtifactError) as refused:
        read_config(file)
    assert (refused.value.code, refused.value.file) == ("artifact_unsafe", str(file))
    assert refused.value.help


@pytest.mark.parametrize("text", ["", "[tools]\n", '[tools]\nallow = ["*"]\n', '[tools]\nallow = ["group:fs"]\n'])
def test_a_configuration_near_to_a_refused_one_loads(text: str, place: Place) -> None:
    surroundings = Surroundings(place.ironcurtain, NOW, read_config(config(place, text)).access)
    loaded = load_policy(verified(place), surroundings)
    assert outcome(loaded, call("read", {"path": str(place.root / "docs/a.txt")})) == "allow"
