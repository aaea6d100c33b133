"""What must hold of compiled statements, whatever they are and whatever the tools are."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.setup import NamedList
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.language.parsing import parse
from tests.language.support import HOME, KNOWN, Policy, annotated, compiled, tool

TOOLS = [
    tool("read_file", "Read a file.", "path"),
    tool("write_file", "Create a new file or overwrite one.", "path content"),
    tool("delete_file", "Delete a file.", "path"),
    tool("move_file", "Move a file.", "source destination"),
    tool("send_email", "Send an email.", "to:list body", "cc:list attachments:list"),
    tool("list_emails", "List the emails of a folder.", "", "folder"),
    tool("post_message", "Post a message to a channel.", "channel text"),
    tool("create_event", "Create a calendar event.", "title", "calendarId attendees:list"),
    tool("run_command", "Run a shell command.", "command"),
    tool("pay", "Pay an amount to an account.", "account amount:number"),
]
LINES = [
    "may read files in ~/A.", "may read files outside ~/A.", "may create or change files only in ~/A.", "may move files in ~/A.",
    "may send email to contacts.", "may send email.", "may send email to anyone at x.example.", "may read email.",
    "may send messages in #team.", "may create events.", "may create events with contacts.", "may do anything with email.",
    "may use s/run_command where `command` is ls or pwd.", "may use s/pay where `amount` is at most 50.",
    "must never delete anything.", "must never send email to customers.", "must never send email to anyone outside contacts.",
    "must never send email to more than 2 people.", "must never read files in ~/A/secret.", "must never send messages in #team.",
    'must never create events in "work".', "must never use s/pay where `amount` is more than 10.",
    "must never delete anything, except moving files.", "must never send email, except to ann.",
    "must ask before sending email.", "must ask before sending email to contacts.", "must ask before reading files in ~/A.",
    "must ask before sending email to more than 1 people.", "must ask before running anything.",
    "must ask otherwise before sending email.", "must ask otherwise before doing anything with anything.",
    "must never share files after reading email.", "must never send email with anything read from ~/A.",
    "must ask before sending email after reading files.", "must never send anything to ann.",
    'must never send anything whose text might be read as "a promise".', "must never do anything with anything to ann.",
    "must never delete or create files, except in ~/A.",
]  # fmt: skip
PEOPLE = ["bob@x.example", "ann@books.example", "jan@c.example", "eve@y.example"]
PATHS = [f"{HOME}/A/x", f"{HOME}/A/secret/x", f"{HOME}/B/x", f"{KNOWN.sandbox}/x"]
some_people = st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=3)
paths = st.sampled_from(PATHS)
calls = st.one_of(
    st.builds(lambda path: ("read_file", {"path": path}), paths),
    st.builds(lambda path: ("write_file", {"path": path, "content": "x"}), paths),
    st.builds(lambda path: ("delete_file", {"path": path}), paths),
    st.builds(lambda one, two: ("move_file", {"source": one, "destination": two}), paths, paths),
    st.builds(lambda to: ("send_email", {"to": to, "body": "x"}), some_people),
    st.builds(lambda to, cc: ("send_email", {"to": to, "cc": cc, "body": "x"}), some_people, some_people),
    st.builds(lambda to, path: ("send_email", {"to": to, "attachments": [path], "body": "x"}), some_people, paths),
    st.just(("list_emails", {})),
    st.builds(lambda at: ("post_message", {"channel": at, "text": "x"}), st.sampled_from(["C1", "#team", "C9"])),
    st.builds(lambda at: ("create_event", {"title": "x", "calendarId": at}), st.sampled_from(["work", "home"])),
    st.builds(lambda to: ("create_event", {"title": "x", "attendees": to}), some_people),
    st.builds(lambda text: ("run_command", {"command": text}), st.sampled_from(["ls", "rm -rf /", "ls; rm x"])),
    st.builds(lambda amount: ("pay", {"account": "a", "amount": amount}), st.sampled_from([5, 20, 500])),
)
catalogues = st.lists(st.sampled_from(range(len(TOOLS))), min_size=5, max_size=len(TOOLS), unique=True)
statement_sets = st.lists(st.sampled_from(LINES), min_size=1, max_size=7, unique=True)
_MADE: dict[str, Any] = {}


def made(lines: list[str], tools: list[int]) -> Policy:
    """Compile, remembering what is expensive about the tools."""
    key = repr(sorted(tools))
    if key not in _MADE:
        servers = annotated({"s": [TOOLS[number] for number in sorted(tools)]})
        _MADE[key] = servers, catalogue_of(servers)
    servers, known_tools = _MADE[key]
    return Policy(compile_statements([Sourced(parse(line)) for line in lines], known_tools, KNOWN), servers, KNOWN)


def outcomes(policy: Policy, asked: list[tuple[str, dict[str, Any]]], tools: list[int]) -> list[str]:
    there = {TOOLS[number]["name"] for number in tools}
    return [policy.decide(f"s/{name}", **arguments) for name, arguments in asked if name in there]


@settings(max_examples=60)
@given(
    statement_sets,
    st.sampled_from([line for line in LINES if line.startswith("must ") and "otherwise" not in line]),
    catalogues,
    st.lists(calls, max_size=12),
)
def test_adding_a_never_or_an_ask_never_allows_more(
    lines: list[str], more: str, tools: list[int], asked: list[tuple[str, dict[str, Any]]]
) -> None:
    before, after = outcomes(made(lines, tools), asked, tools), outcomes(made([*lines, more], tools), asked, tools)
    assert not [pair for pair in zip(before, after, strict=True) if pair[0] != "allow" and pair[1] == "allow"]


_STRICTNESS = {"allow": 0, "escalate": 1, "deny": 2}


@settings(max_examples=60)
@given(
    statement_sets,
    st.sampled_from([line for line in LINES if line.startswith("must never")]),
    catalogues,
    st.lists(calls, max_size=12),
)
def test_adding_a_never_loosens_nothing_and_makes_no_denied_call_ask(
    lines: list[str], more: str, tools: list[int], asked: list[tuple[str, dict[str, Any]]]
) -> None:
    before, after = outcomes(made(lines, tools), asked, tools), outcomes(made([*lines, more], tools), asked, tools)
    assert not [pair for pair in zip(before, after, strict=True) if _STRICTNESS[pair[0]] > _STRICTNESS[pair[1]]]


@settings(max_examples=60)
@given(statement_sets, catalogues, st.randoms(use_true_random=False))
def test_order_and_repetition_change_nothing(lines: list[str], tools: list[int], random: Any) -> None:
    shuffled = [*lines, random.choice(lines)]
    random.shuffle(shuffled)
    assert _rules(made(lines, tools)) == _rules(made(shuffled, tools))


def _rules(policy: Policy) -> list[str]:
    return [json.dumps(rule, sort_keys=True) for rule in policy.compiled.rules]


@settings(max_examples=40)
@given(statement_sets, catalogues, st.lists(calls, max_size=12))
def test_without_a_may_nothing_is_allowed_but_what_is_contained(
    lines: list[str], tools: list[int], asked: list[tuple[str, dict[str, Any]]]
) -> None:
    without = [line for line in lines if not line.startswith("may")]
    elsewhere = [(name, arguments) for name, arguments in asked if KNOWN.sandbox not in repr(arguments)]
    assert "allow" not in outcomes(made(without, tools), elsewhere, tools)


def test_a_word_beside_a_noun_that_stands_for_nothing_is_an_error() -> None:
    found = compiled("must never delete gizmos or files.", {"s": TOOLS})
    assert "no tool is about gizmos" in found.problem()


@pytest.mark.parametrize("line", LINES)
def test_every_line_here_compiles(line: str) -> None:
    assert not compiled(line, {"s": TOOLS}).compiled.problems


names_and_ids = st.text('ab1@:;,<>./*~ #"\\é\u200b$', min_size=1, max_size=12) | st.sampled_from(
    ["19:a41f@thread.tacv2", "ext::sh -c id", "https:x", "//host/x", "[::1]", "*.x.example", "@contacts", "~/A", "a@b"]
)
SPOKEN = [
    "may send email to X.", "may send messages in X.", "may read files in X.", "must never read files outside X.",
    "must never send email to anyone outside X.", "must never send messages in X.", "may create events with X.",
    "must ask before using s/post_message where `channel` is X.", "may use s/send_email where `to` is X.",
    "may use s/read_file where `path` is X.", "must never send email, except to X.",
    "may use s/send_email with attachments from X.", "must ask otherwise before creating events in X.",
]  # fmt: skip


@settings(max_examples=150)
@given(
    st.sampled_from(SPOKEN), st.lists(names_and_ids, min_size=1, max_size=3), st.sampled_from(["name", "email", "x"])
)
def test_what_compiles_without_a_problem_loads_whatever_the_set_up_says(
    line: str, values: list[str], kind: str
) -> None:
    own = {"lists": {"X": NamedList(kind, tuple(values))}} if kind != "name" else {"names": {"X": tuple(values)}}
    found = compiled(f"{line}\nmay read email.", {"s": TOOLS}, replace(KNOWN, **own))
    assert found.decide("s/list_emails") == "allow"
    assert not found.compiled.meanings[1].problem
