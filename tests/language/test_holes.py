"""Ways through statements that a tester found, each closed at its mechanism and run through compiler and engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.document import Sentence, sentences_of
from ironcurtain.compiler.problems import Problem
from ironcurtain.compiler.readers.offering import Forms
from ironcurtain.compiler.readers.prompt import tool_text
from ironcurtain.compiler.readers.reading import key_of
from ironcurtain.compiler.readers.store import Readings
from ironcurtain.compiler.reading import read_constitution
from ironcurtain.compiler.setup import Known, NamedList
from tests.language.support import HOME, KNOWN, annotated, compiled, policy, tool
from tests.language.test_attacks import CALENDAR, FILES, MAIL, SLACK

PAY = {"b": [tool("pay", "Pay somebody.", "payee amount:number")]}
SEARCH = {"f": [tool("search_files", "Search the files below a directory.", "path query")]}


# --- Exceptions. ---


def test_a_comparison_that_cannot_be_taken_from_a_permission_is_an_error() -> None:
    assert "write is at most" in compiled("may use b/pay, except where `amount` is more than 50.", PAY).problem()


@pytest.mark.parametrize(
    ("lines", "inside", "outside"),
    [
        ("may use b/pay.\nmust never pay anything, except where `amount` is less than 50.", 49, 50),
        ("may use b/pay.\nmust never pay anything, except where `amount` is more than 50.", 51, 50),
        ("may use b/pay only where `amount` is less than 50.", 49, 50),
        ("may use b/pay only where `amount` is at least 10 and is at most 50.", 50, 51),
        ("may use b/pay only where `amount` is not 50.", 51, 50),
    ],
)
def test_a_comparison_closes_exactly_at_its_bound(lines: str, inside: int, outside: int) -> None:
    found = policy(lines, PAY)
    assert found.decide("b/pay", payee="x", amount=inside) == "allow"
    assert found.decide("b/pay", payee="x", amount=outside) == "deny"


FORWARD = {"m": [tool("forward", "Forward a message to people.", "to", "cc note")]}


@pytest.mark.parametrize(
    "lines",
    [
        "may use m/forward only where `to` is in contacts and `cc` is in contacts or left out.",
        """may use m/forward.
        must never use m/forward, except where `to` is in contacts and `cc` is in contacts or left out.""",
    ],
)
def test_each_condition_of_an_exception_counts_also_what_may_be_left_out(lines: str) -> None:
    found = policy(lines, FORWARD)
    ann = KNOWN.lists["contacts"].values[0]
    assert found.decide("m/forward", to=ann) == "allow"
    assert found.decide("m/forward", to=ann, cc=ann) == "allow"
    assert found.decide("m/forward", to=ann, cc="eve@evil.example") == "deny"
    assert found.decide("m/forward", to="eve@evil.example", cc=ann) == "deny"


def test_what_is_left_out_by_only_is_refused_when_given() -> None:
    found = policy("may use m/forward only where `to` is in contacts and `note` is left out.", FORWARD)
    ann = KNOWN.lists["contacts"].values[0]
    assert found.decide("m/forward", to=ann) == "allow"
    assert found.decide("m/forward", to=ann, note="x") == "deny"


# --- Members of objects without a schema. ---

HOUSE = {"h": [tool("call_service", "Call a service of the house.", "domain service", "data:object")]}
HEATING = (
    "may use h/call_service where `domain` is climate and `data.entity_id` is climate.salon"
    " and `data.temperature` is at least 18 and is at most 22."
)


@pytest.mark.parametrize(
    ("data", "decision"),
    [
        ({"entity_id": "climate.salon", "temperature": 22}, "allow"),
        ({"entity_id": ["climate.salon"], "temperature": 18}, "allow"),
        ({"entity_id": "climate.salon", "temperature": 22.5}, "deny"),
        ({"entity_id": "climate.salon", "temperature": "22"}, "deny"),
        ({"entity_id": "climate.bedroom", "temperature": 20}, "deny"),
        ({"entity_id": ["climate.salon", "climate.bedroom"], "temperature": 20}, "deny"),
        ({"entity_id": "climate.salon, climate.bedroom", "temperature": 20}, "deny"),
        ({"entity_id": {"climate.salon": "climate.bedroom"}, "temperature": 20}, "deny"),
        ({"target": {"entity_id": "climate.salon"}, "temperature": 20}, "deny"),
        ({"temperature": 20}, "deny"),
        ({"entity_id": "climate.salon"}, "deny"),
        ({"entity_id": "", "temperature": 20}, "deny"),
        ({"entity_id": None, "temperature": 20}, "deny"),
        ({}, "deny"),
    ],
)
def test_a_permission_looks_at_each_value_of_a_member(data: dict[str, Any], decision: str) -> None:
    found = policy(HEATING, HOUSE)
    assert found.decide("h/call_service", domain="climate", service="set_temperature", data=data) == decision
    assert found.decide("h/call_service", domain="climate", service="set_temperature") == "deny"


@pytest.mark.parametrize(
    ("data", "decision"),
    [
        ({"entity_id": "cover.salon"}, "allow"),
        ({"entity_id": "cover.GARAGE_door"}, "deny"),
        ({"entity_id": ["cover.salon", "cover.garage"]}, "deny"),
        ({"entity_id": ["cover.salon", "lock.front"]}, "deny"),
        ({"entity_id": "cover.salon,lock.front"}, "deny"),
        ({"entity_id": "cover.salon\nlock.front"}, "deny"),
    ],
)
def test_a_prohibition_of_a_member_meets_any_of_its_values(data: dict[str, Any], decision: str) -> None:
    found = policy(
        'may use h/call_service where `domain` is cover and `data.entity_id` starts with "cover.".\n'
        "must never use h/call_service where `data.entity_id` is given and contains garage.",
        HOUSE,
    )
    assert found.decide("h/call_service", domain="cover", service="open", data=data) == decision


def test_a_prohibition_of_an_object_still_sees_what_its_members_hold() -> None:
    found = policy(
        HEATING + "\nmust never use h/call_service where `data` is given and contains bedroom.",
        HOUSE,
    )
    held = {"entity_id": "climate.salon", "temperature": 20, "scene": ["bedroom"]}
    assert found.decide("h/call_service", domain="climate", service="x", data=held) == "deny"
    found = policy(
        "may use h/call_service where `data.entity_id` is a.\nmust never use h/call_service where `data` is given and contains a.",
        HOUSE,
    )
    assert found.decide("h/call_service", domain="climate", service="x", data={"entity_id": "a"}) == "deny"


def test_leaving_a_member_out_must_be_spoken_of_in_a_prohibition() -> None:
    line = "must never use h/call_service where `data.entity_id` is lock.front."
    assert "may be left out" in compiled(line, HOUSE).problem()
    found = policy(
        "may use h/call_service.\nmust never use h/call_service where `data.entity_id` is lock.front or left out.",
        HOUSE,
    )
    assert found.decide("h/call_service", domain="lock", service="unlock") == "deny"
    assert found.decide("h/call_service", domain="lock", service="unlock", data={"x": 1}) == "deny"
    assert found.decide("h/call_service", domain="light", service="on", data={"entity_id": "light.a"}) == "allow"


@pytest.mark.parametrize("name", ["data.", "data..x", "domain.x", "other.x"])
def test_only_members_of_objects_can_be_named(name: str) -> None:
    assert "has no argument" in compiled(f"may use h/call_service where `{name}` is x.", HOUSE).problem()


def test_an_exception_for_a_place_does_not_cover_a_second_place() -> None:
    chat = {"c": [tool("post_message", "Post a message to a channel.", "text channel", "also_channel")]}
    found = compiled("may use c/post_message.\nmust never send messages, except in #team.", chat)
    assert found.decide("c/post_message", text="x", channel="C1", also_channel="C9") == "deny"


@pytest.mark.parametrize(
    "lines",
    [
        "may read files in ~/Documents, except in ~/Documents/private.",
        "may read files outside ~/Documents/private.",
        "may use f/search_files.\nmust never use f/search_files where `path` is in ~/Documents/private.",
    ],
)
def test_what_is_done_to_a_directory_is_done_to_what_is_kept_apart_in_it(lines: str) -> None:
    found = policy(lines, SEARCH)
    assert found.decide("f/search_files", path="~/Documents", query="x") == "escalate"
    assert found.decide("f/search_files", path="~/Documents/a", query="x") == "allow"


# --- Names and their spellings. ---


@pytest.mark.parametrize("channel", ["C1", "#team", "team", "#TEAM"])
@pytest.mark.parametrize(
    "lines",
    [
        "may use slack/post_message outside #team.",
        'may use slack/post_message where `channel` is not "#team".',
        'may use slack/post_message.\nmust never use slack/post_message where `channel` is "#team".',
    ],
)
def test_a_name_is_kept_out_in_every_spelling(lines: str, channel: str) -> None:
    found = policy(lines, SLACK)
    assert found.decide("slack/post_message", channel=channel, text="x") == "deny"
    assert found.decide("slack/post_message", channel="C9", text="x") == "allow"


@pytest.mark.parametrize("to", ["ann", "@ann", "ann@books.example"])
def test_a_person_is_kept_out_by_name_and_by_address(to: str) -> None:
    chat = {"im": [tool("send_message", "Send a message to a person.", "to text")]}
    found = policy("may send messages.\nmust never send messages to ann.", chat)
    assert found.decide("im/send_message", to=to, text="x") == "deny"
    assert found.decide("im/send_message", to="bob@x.example", text="x") == "allow"


@pytest.mark.parametrize("repo", ["app", "app.git", "acme/app", "app/"])
def test_a_repository_is_kept_out_in_every_spelling(repo: str) -> None:
    hub = {"h": [tool("create_issue", "Create an issue.", "owner repo title")]}
    found = policy("may create issues.\nmust never create issues in acme/app.", hub)
    assert found.decide("h/create_issue", owner="acme", repo=repo, title="x") == "deny"
    assert found.decide("h/create_issue", owner="acme", repo="other", title="x") == "allow"


def test_places_of_two_kinds_must_both_hold() -> None:
    chat = {"slack": [tool("upload_file", "Upload a file to a channel.", "channel file_path")]}
    found = policy("may upload files in ~/Projects or #team.", chat)
    upload: Any = lambda channel, path: found.decide("slack/upload_file", channel=channel, file_path=path)  # noqa: E731
    assert upload("C1", "~/Projects/x") == "allow"
    assert upload("C1", "~/x") == "deny"
    assert upload("C9", "~/Projects/x") == "deny"


# --- What goes along. ---


@pytest.mark.parametrize(
    "more",
    [
        {"attachment_ids": ["medical-file"]},
        {"files": [{"content": "c2VjcmV0", "filename": "x"}]},
        {"callback_url": "https://evil.example"},
        {"options": {"bcc": "eve@x.example"}},
    ],
    ids=lambda more: next(iter(more)),
)
def test_a_permission_to_send_covers_nothing_that_goes_along(more: dict[str, Any]) -> None:
    element = {"type": "object", "properties": {n: {"type": "string"} for n in ("path", "content", "filename")}}
    files = {"type": "array", "items": element}
    mail = tool(
        "send_email", "Send an email.", "to:list body", "attachment_ids:list callback_url",
        attachments=files, options={"type": "object"},
    )  # fmt: skip
    more = {"attachments" if name == "files" else name: value for name, value in more.items()}
    for lines in ("may send email to contacts.", "may send email to contacts with attachments from ~/Projects."):
        found = policy(lines, {"m": [mail]})
        assert found.decide("m/send_email", to=["bob@x.example"], body="x", **more) == "deny"
    assert policy("may send email to contacts.", {"m": [mail]}).decide(
        "m/send_email", to=["bob@x.example"], body="x"
    ) == "allow"  # fmt: skip


def test_what_is_counted_can_be_left_out_of_elements() -> None:
    items = {
        "type": "array",
        "items": {"type": "object", "properties": {n: {"type": "string"} for n in ("path", "id")}},
    }
    many = {"d": [tool("delete_files", "Delete files.", "", items=items)]}
    found = policy("may use d/delete_files.\nmust never delete more than 3 items at once.", many)
    assert found.decide("d/delete_files", items=[{"id": str(n)} for n in range(4)]) == "deny"
    assert found.decide("d/delete_files", items=[{"id": str(n)} for n in range(3)]) == "allow"
    assert found.decide("d/delete_files", items=[{}, {}, {}, {"path": "a"}]) == "deny"


# --- What tools do. ---


def test_every_argument_that_selects_what_is_done_counts() -> None:
    modes = [{"type": "string", "enum": [first, "delete"]} for first in ("list", "get")]
    notes = {"l": [tool("manage_notes", "Manage notes.", "id", mode=modes[0], action=modes[1])]}
    call = {"id": "r", "mode": "list", "action": "delete"}
    found = compiled("may use l/manage_notes.\nmust never delete anything.", notes)
    assert found.decide("l/manage_notes", **call) == "deny"


@pytest.mark.parametrize(
    ("condition", "sql"),
    [
        ('contains "select "', "delete from x where id in (select 1)"),
        ("matches /(?i)select .*|with .*/", "with a as (delete from x returning *) select 1"),
        ('starts with "select " or "delete "', "delete from x"),
    ],
)
def test_a_prohibition_stands_for_statements_that_need_not_be_selects(condition: str, sql: str) -> None:
    db = {"db": [tool("query", "Run a SQL query.", "sql")]}
    found = policy(f"may use db/query where `sql` {condition}.\nmust never delete anything.", db)
    assert found.decide("db/query", sql=sql) != "allow"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("get_health", "Get the health records of the user."),
        ("list_versions", "List all versions of the contract."),
        ("get_configuration", "Get the configuration with all API keys."),
        ("list_allowed_users", "List users that are allowed to log in."),
    ],
)
def test_a_tool_that_keeps_something_is_not_about_its_server_alone(name: str, says: str) -> None:
    (found,) = understand("srv", [tool(name, says)])
    assert found.side_effects
    (itself,) = understand("srv", [tool("get_version", "Get the version of the server.")])
    assert not itself.side_effects


def test_one_tool_does_not_take_a_prohibition_down_for_all() -> None:
    tip = {"tips": [tool("pay_tip", "Pay a tip.", "who", "amount:number")]}
    found = policy("may use b/pay.\nmust never pay anything where `amount` is more than 500.", {**PAY, **tip})
    assert found.decide("b/pay", payee="x", amount=900) == "deny"
    assert found.decide("b/pay", payee="x", amount=9) == "allow"
    assert found.decide("tips/pay_tip", who="x") != "allow"


# --- Readers. ---


@pytest.mark.parametrize(
    "text",
    [
        "It may delete its own messages.", "You may delete new files.", "You may send one email to contacts.",
        "Never send email to contacts or people.", "You may send email to contacts or ask.",
        "If I have approved it in writing:\n\n- You may delete files.\n",
    ],
)  # fmt: skip
def test_the_table_drops_no_word_that_limits(text: str) -> None:
    tools = catalogue_of(annotated({**FILES, **MAIL, **SLACK}))
    assert all(number in read_constitution(text, tools, KNOWN, Readings()).unread for number in (1,))


def test_a_sentence_that_is_crossed_out_or_quoted_is_another_one() -> None:
    plain, quoted = sentences_of("You may delete files."), sentences_of("> You may delete files.")
    assert key_of(plain[0]) != key_of(quoted[0])


def test_a_star_in_the_name_of_a_tool_stands_for_itself() -> None:
    evil = {"evil": [tool("*", "Read a note.", "id"), tool("wipe", "Delete notes.", "id"), tool("read_note", "", "id")]}
    found = policy("may read notes.", evil)
    assert [found.decide(f"evil/{name}", id="1") for name in ("*", "wipe", "read_note")] == ["deny", "deny", "allow"]
    forms = Forms.of(catalogue_of(annotated(evil)), KNOWN)
    wholes = forms.form(Sentence("You may read a note.", (), "", 0)).wholes
    assert wholes
    assert not any("*" in line for lines in wholes for line in lines)


def test_not_and_only_hold_for_what_is_written_out() -> None:
    forms = Forms.of(catalogue_of(annotated({**FILES, **MAIL})), KNOWN)
    form = forms.form(Sentence("hm", (), "", 0))
    assert forms.composer.said(form, "may files/read_file with not in ~/Medical") == (
        "may use files/read_file outside ~/Medical.",
    )
    with pytest.raises(Problem, match="anything else"):
        forms.composer.said(form, "may files/read_file with not `path` is in ~/Medical")
    with pytest.raises(Problem, match="only"):
        forms.composer.said(form, "never files/read_file with only in ~/Medical")


# --- Found by a second tester. ---


def test_a_tool_that_takes_only_an_id_asks_where_a_place_is_forbidden() -> None:
    chat = {
        "slack": [
            tool("delete_message", "Delete a message.", "message_id"),
            tool("post_message", "Post a message to a channel.", "channel text"),
        ]
    }
    found = policy("may delete messages.\nmust never delete messages in #team.", chat)
    assert found.decide("slack/delete_message", message_id="77") == "escalate"


@pytest.mark.parametrize(
    "lines", ["may create issues.\nmust never create issues outside acme/app.", "may create issues only in acme/app."]
)
def test_outside_is_lifted_by_the_very_place_only(lines: str) -> None:
    hub = {"h": [tool("create_issue", "Create an issue.", "owner repo title")]}
    found = policy(lines, hub)
    assert found.decide("h/create_issue", owner="acme", repo="app", title="x") == "allow"
    assert found.decide("h/create_issue", owner="evil", repo="app", title="x") == "deny"


def test_outside_is_not_lifted_by_one_of_two_places() -> None:
    chat = {"c": [tool("post_message", "Post a message to a channel.", "text channel", "also_channel")]}
    found = policy("may use c/post_message.\nmust never send messages outside #team.", chat)
    assert found.decide("c/post_message", text="x", channel="C1") == "allow"
    assert found.decide("c/post_message", text="x", channel="C9", also_channel="C1") == "deny"
    assert found.decide("c/post_message", text="x", channel="C1", also_channel="C9") == "deny"


@pytest.mark.parametrize("written", ["team", "#Team", '"#TEAM"'])
@pytest.mark.parametrize("channel", ["C1", "#team", "team"])
def test_a_name_in_another_case_is_the_same_name(written: str, channel: str) -> None:
    found = policy(f"may send messages.\nmust never send messages in {written}.", SLACK)
    assert found.decide("slack/post_message", channel=channel, text="x") == "deny"


def test_ids_that_are_numbers_are_members_of_lists() -> None:
    known = replace(KNOWN, lists={**KNOWN.lists, "secret-chats": NamedList("chat", ("12345",))})
    chat = {"tg": [tool("send_message", "Send a message to a chat.", "text chat_id:number")]}
    found = policy("may use tg/send_message.\nmust never send messages in secret-chats.", chat, known)
    assert found.decide("tg/send_message", text="x", chat_id=12345) == "deny"
    assert found.decide("tg/send_message", text="x", chat_id=1) == "allow"


def test_a_directory_at_the_top_is_above_what_is_in_it() -> None:
    found = policy("may read files.\nmust never read files in /srv/secret.", SEARCH)
    assert found.decide("f/search_files", path="/srv", query="x") == "escalate"


def test_a_named_mode_lifts_no_doubt_where_another_argument_selects() -> None:
    notes = {"m": [tool("notes", "Work with notes.", "action", "method id")]}
    found = policy("may use m/notes where `action` is list.\nmust never delete anything.", notes)
    assert found.decide("m/notes", action="list", method="delete", id="1") != "allow"


def test_an_exception_for_attachments_neither_permits_nor_demands_any() -> None:
    found = policy("may send email to contacts, except with attachments from ~/Medical.", MAIL)
    assert found.decide("mail/send_email", to=["bob@x.example"], body="x") == "allow"
    assert found.decide("mail/send_email", to=["bob@x.example"], body="x", attachments=["~/Taxes/x"]) == "deny"


def test_a_permission_for_people_covers_no_other_audience() -> None:
    chat = {"c": [tool("send_message", "Send a message.", "text", "user channel audience")]}
    found = policy("may send messages to ann.", chat)
    assert found.decide("c/send_message", text="x", user="ann@books.example") == "allow"
    assert found.decide("c/send_message", text="x", user="ann@books.example", channel="C9") == "deny"
    assert found.decide("c/send_message", text="x", user="ann@books.example", audience="all") == "deny"


def test_an_event_with_reminders_by_mail_can_be_permitted() -> None:
    method = {"type": "string", "enum": ["email", "popup"]}
    override = {"type": "object", "properties": {"method": method, "minutes": {"type": "integer"}}}
    reminders = {"type": "object", "properties": {"overrides": {"type": "array", "items": override}}}
    updates = {"type": "string", "enum": ["all", "externalOnly", "none"]}
    cal = {
        "cal": [
            tool(
                "create-event", "Create a new calendar event.", "calendarId summary", "attendees:list",
                reminders=reminders, sendUpdates=updates,
            )
        ]
    }  # fmt: skip
    found = policy('may create events in "personal calendar".', cal)
    event = {"calendarId": "cal-1", "summary": "x"}
    assert found.decide("cal/create-event", **event) == "allow"
    assert found.decide("cal/create-event", **event, sendUpdates="none") == "allow"
    assert found.decide("cal/create-event", **event, sendUpdates="all") == "deny"


# --- What texts of people who had not seen the language showed. ---


def test_a_list_of_people_may_be_compared_by_its_name() -> None:
    ann = KNOWN.lists["contacts"].values[0]
    found = policy("may use m/forward where `to` is contacts.", FORWARD)
    assert found.decide("m/forward", to=ann) == "allow"
    assert found.decide("m/forward", to="contacts") == "deny"
    assert found.decide("m/forward", to=f"{ann}, eve@evil.example") == "deny"
    found = policy("may use m/forward.\nmust never use m/forward where `to` is not contacts.", FORWARD)
    assert found.decide("m/forward", to=ann) == "allow"
    assert found.decide("m/forward", to="eve@evil.example") == "deny"


def test_a_list_named_where_no_people_stand_is_the_word_itself() -> None:
    found = policy("may use b/pay where `payee` is contacts.", PAY)
    assert found.decide("b/pay", payee="contacts", amount=1) == "allow"
    assert found.decide("b/pay", payee=KNOWN.lists["contacts"].values[0], amount=1) == "deny"


@pytest.mark.parametrize(
    ("number", "decision"),
    [
        ("+49 151 123-4567", "allow"),
        ("+491511234567", "allow"),
        ("+49 151 123-4568", "deny"),
        ("49 151 123-4567", "deny"),
    ],
)
def test_telephone_numbers_are_their_digits(number: str, decision: str) -> None:
    text = {"w": [tool("send_message", "Send a message to a phone number.", "phone_number message")]}
    known = replace(KNOWN, lists={"family": NamedList("phone", ("+49 151/1234567",))})
    found = policy("may send messages to family.", text, known)
    assert found.decide("w/send_message", phone_number=number, message="hi") == decision


SHELL = {"s": [tool("execute", "Execute a command as an argv array.", "command:list")]}


@pytest.mark.parametrize(
    ("words", "decision"),
    [
        (["cargo", "test", "--workspace"], "allow"),
        (["cargo test"], "allow"),
        (["cargo", "publish"], "deny"),
        (["cargo", "test", ";", "rm", "-rf", "x"], "deny"),
        (["cargo", "test", "&&", "rm"], "deny"),
        (["cargo", "test", "$(rm x)"], "deny"),
        (["rm"], "deny"),
    ],
)
def test_the_words_of_a_command_are_one_command(words: list[str], decision: str) -> None:
    found = policy("may use s/execute where `command` matches /cargo (test|fmt)( .*)?/.", SHELL)
    assert found.decide("s/execute", command=words) == decision
    found = policy('may use s/execute.\nmust never use s/execute where `command` contains "rm -rf".', SHELL)
    assert found.decide("s/execute", command=["sudo", "rm", "-rf", "/"]) == "deny"


def test_a_directory_forbidden_for_one_argument_does_not_ask_about_another() -> None:
    git = {"g": [tool("git_add", "Add files of a repository.", "repo_path files:list")]}
    lines = "may use g/git_add in ~/src.\nmust never use g/git_add where `files` is in ~/src/.github."
    found = policy(lines, git)
    assert found.decide("g/git_add", repo_path="~/src", files=["a.py"]) == "allow"
    assert found.decide("g/git_add", repo_path="~/src", files=[".github/x"]) == "deny"
    assert found.decide("g/git_add", repo_path="~/src", files=["."]) == "escalate"


def test_a_prohibition_by_two_texts_holds_where_one_of_them_does() -> None:
    found = policy(
        "may use s/execute.\nmust never use s/execute where `command` starts with make and `command` contains flash.",
        SHELL,
    )
    assert found.decide("s/execute", command=["make", "flash"]) == "deny"
    assert found.decide("s/execute", command=["make", "all"]) == "allow"


def test_what_a_list_contains_in_a_prohibition_is_looked_for_in_its_texts() -> None:
    files = {"g": [tool("stage", "Stage entries.", "names:list")]}
    found = policy('may use g/stage.\nmust never use g/stage where `names` contains "secrets".', files)
    assert found.decide("g/stage", names=["a.py", "my-secrets.pem"]) == "deny"
    assert found.decide("g/stage", names=["a.py"]) == "allow"


SHARE = {"d": [tool("share_sheet", "Share a sheet with people.", "sheet_id recipients:object")]}


def test_people_in_an_object_without_a_schema_are_named_by_their_member() -> None:
    assert "name the member" in compiled("may use d/share_sheet to contacts.", SHARE).problem()
    assert (
        "cannot close the members" in compiled("may use d/share_sheet giving only `recipients.email`.", SHARE).problem()
    )
    found = policy(
        "may use d/share_sheet where `recipients.email` is in contacts and `recipients.role` is reader.", SHARE
    )
    ann = KNOWN.lists["contacts"].values[0]
    assert found.decide("d/share_sheet", sheet_id="1", recipients={"email": ann, "role": "reader"}) == "allow"
    assert found.decide("d/share_sheet", sheet_id="1", recipients={"email": ann, "role": "writer"}) == "deny"
    assert (
        found.decide("d/share_sheet", sheet_id="1", recipients={"email": "eve@evil.example", "role": "reader"})
        == "deny"
    )


def test_a_never_in_a_place_leaves_alone_what_is_permitted_by_name_and_done_by_id() -> None:
    chat = {
        "c": [
            tool("post_message", "Post a message to a channel.", "channel text"),
            tool("pin_message", "Pin a message.", "message_id"),
            tool("search_messages", "Search messages.", "query"),
        ]
    }
    lines = "may use c/pin_message or c/search_messages.\nmust never do anything with messages in #team."
    found = policy(lines, chat)
    assert found.decide("c/pin_message", message_id="m1") == "allow"
    assert found.decide("c/search_messages", query="x") == "escalate"
    picked = policy("may change messages.\nmust never do anything with messages in #team.", chat)
    assert picked.decide("c/pin_message", message_id="m1") == "escalate"


# --- What a third tester got through. ---

FLAGGED = {"h": [tool("call_service", "Call a service of the house.", "domain service", "data:object force")]}
FETCH = {"w": [tool("fetch", "Fetch a web page.", "url")]}
REMOTE = {"r": [tool("find_remote", "Search a directory of the remote machine.", "remote_path query")]}


@pytest.mark.parametrize("path", ["~/secret/a", "/home/maya/secret/a", "/home/maya/secret"])
@pytest.mark.parametrize("test", ['starts with "~/secret"', 'contains "~/secret"', 'starts with "~/secret/"'])
def test_a_prohibition_by_the_text_of_a_path_meets_it_in_every_spelling(test: str, path: str) -> None:
    files = {"f": [tool("read_file", "Read a file.", "path")]}
    found = policy(f"may use f/read_file.\nmust never use f/read_file where `path` {test}.", files)
    assert found.decide("f/read_file", path=path) == "deny"
    assert found.decide("f/read_file", path="~/public/a") == "allow"


def test_what_is_compared_in_another_form_is_said_to_be() -> None:
    assert "in full" in compiled("must never use f/search_files where `path` matches /~.*/.", SEARCH).problem()
    assert "ASCII" in compiled('must never use w/fetch where `url` contains "b\u00fccher.example".', FETCH).problem()


@pytest.mark.parametrize("value", [True, "true"])
@pytest.mark.parametrize(
    "lines",
    [
        "may use h/call_service.\nmust never use h/call_service where `data.x` is given and is true.",
        "may use h/call_service where `data.x` is not true.",
        "may use h/call_service only where `data.x` is not true or left out.",
    ],
)
def test_true_is_true_however_it_is_sent(lines: str, value: object) -> None:
    found = policy(lines, FLAGGED)
    assert found.decide("h/call_service", domain="a", service="b", data={"x": value}) == "deny"
    assert found.decide("h/call_service", domain="a", service="b", data={"x": False}) == "allow"


@pytest.mark.parametrize("amount", ["9e9", "+5000", "05000", "1,000", " 5000", "99999999999999999999", "abc", "50"])
def test_only_a_number_is_less_than_another(amount: str) -> None:
    found = policy(
        "may use b/pay where `amount` is less than 50.", {"b": [tool("pay", "Pay somebody.", "payee amount")]}
    )
    assert found.decide("b/pay", payee="x", amount=amount) == "deny"
    assert found.decide("b/pay", payee="x", amount="49.5") == "allow"


def test_tools_that_reach_many_things_ask_beside_a_never_in_a_place() -> None:
    chat = {
        "c": [
            tool("post_message", "Post a message to a channel.", "channel text"),
            tool("list_messages", "List the messages of a user.", "user_id"),
            tool("delete_user_messages", "Delete all messages of a user in all channels.", "user_id"),
            tool("delete_messages", "Delete messages.", "message_ids:list"),
            tool("search_by_filter", "Search messages with a saved filter.", "filter_id query"),
            tool("pin_message", "Pin a message.", "message_id"),
        ]
    }
    named = ["list_messages", "delete_user_messages", "delete_messages", "search_by_filter"]
    lines = f"may use {' or '.join(f'c/{each}' for each in named)}."
    found = policy(lines + "\nmust never do anything with messages in #team.", chat)
    assert found.decide("c/list_messages", user_id="u") == "escalate"
    assert found.decide("c/delete_user_messages", user_id="u") == "escalate"
    assert found.decide("c/delete_messages", message_ids=["m"]) == "escalate"
    assert found.decide("c/search_by_filter", filter_id="f", query="x") == "escalate"
    asked = policy("may use c/pin_message.\nmust ask before doing anything with messages in #team.", chat)
    assert asked.decide("c/pin_message", message_id="m") == "escalate"


@pytest.mark.parametrize("value", ["light.a, lock.front", "lock.front", " lock.front", "light.a;lock.front"])
@pytest.mark.parametrize("test", ["is lock.front", 'starts with "lock."', 'ends with "front"'])
def test_a_prohibition_sees_each_name_in_a_text(test: str, value: str) -> None:
    found = policy(
        f"may use h/call_service.\nmust never use h/call_service where `data.entity_id` is given and {test}.", HOUSE
    )
    assert found.decide("h/call_service", domain="a", service="b", data={"entity_id": value}) == "deny"
    assert found.decide("h/call_service", domain="a", service="b", data={"entity_id": "light.a"}) == "allow"


def test_a_permission_by_the_beginning_of_an_id_is_for_one_of_them() -> None:
    house = {"h": [tool("turn_on", "Turn on an entity of the house.", "entity_id")]}
    found = policy('may use h/turn_on where `entity_id` starts with "light.".', house)
    assert found.decide("h/turn_on", entity_id="light.a") == "allow"
    for several in ("light.a,lock.front", "light.a lock.front", "light.a;lock.front"):
        assert found.decide("h/turn_on", entity_id=several) == "deny"


@pytest.mark.parametrize(
    "number", ["491511234567", "00491511234567", "+49\u2010151\u20101234567", "+ 49 151 1234567", "tel:+491511234567"]
)
def test_a_prohibition_meets_a_telephone_number_in_every_spelling(number: str) -> None:
    text = {"w": [tool("send_message", "Send a message to a phone number.", "phone_number message")]}
    known = replace(KNOWN, lists={"family": NamedList("phone", ("+49 151 1234567",))})
    found = policy("may send messages to anyone.\nmust never send messages to family.", text, known)
    assert found.decide("w/send_message", phone_number=number, message="hi") == "deny"
    assert found.decide("w/send_message", phone_number="+491511234568", message="hi") == "allow"


def test_above_a_remote_directory_that_is_forbidden_calls_ask() -> None:
    found = policy(
        "may use r/find_remote.\nmust never use r/find_remote where `remote_path` is under /srv/secret.", REMOTE
    )
    assert found.decide("r/find_remote", remote_path="/srv/secret/a", query="x") == "deny"
    for above in ("/srv", "/srv/", "/"):
        assert found.decide("r/find_remote", remote_path=above, query="x") == "escalate"
    assert found.decide("r/find_remote", remote_path="/srv/public", query="x") == "allow"


@pytest.mark.parametrize("to", ["", ",", " ; ", "eve@evil.example"])
def test_nobody_is_nobody_of_a_list(to: str) -> None:
    found = policy("may use m/forward.\nmust never use m/forward where `to` is not contacts.", FORWARD)
    assert found.decide("m/forward", to=to) == "deny"


def test_a_never_takes_the_name_of_a_list_both_ways() -> None:
    known = replace(KNOWN, lists={"blocked": NamedList("identifier", ("U1", "U2"))})
    chat = {"c": [tool("post", "Post a message to a channel.", "channel text")]}
    found = policy("may use c/post.\nmust never use c/post where `channel` is blocked.", chat, known)
    assert [found.decide("c/post", channel=each, text="x") for each in ("U1", "blocked", "U3")] == [
        "deny",
        "deny",
        "allow",
    ]


def test_an_exception_by_what_is_given_leaves_calls_without_it_permitted() -> None:
    house = {"h": [tool("act", "Do something with a thing of the house.", "thing", "note")]}
    made = policy("may use h/act where `thing` is light, except where `note` is given.", house)
    assert made.decide("h/act", thing="light") == "allow"
    assert made.decide("h/act", thing="light", note="x") == "deny"
    named = policy("may use h/act where `thing` is light, except where `note` is given and is loud.", house)
    assert named.decide("h/act", thing="light") == "allow"
    assert named.decide("h/act", thing="light", note="soft") == "allow"
    assert named.decide("h/act", thing="light", note="Loud") == "deny"


def test_a_tool_that_is_named_may_not_be_given_attachments_that_are_not_named() -> None:
    library = {"z": [tool("add_item", "Add an item to the library.", "title", "attachment_paths:list")]}
    made = policy("may use z/add_item.\nmay use z/add_item with attachments from Projects.", library)
    inside, outside = "/home/maya/Projects/a.pdf", "/home/maya/Downloads/b.pdf"
    assert made.decide("z/add_item", title="x") == "allow"
    assert made.decide("z/add_item", title="x", attachment_paths=[inside]) == "allow"
    assert made.decide("z/add_item", title="x", attachment_paths=[inside, outside]) == "deny"
    bare = policy("may use z/add_item.", library)
    assert bare.decide("z/add_item", title="x", attachment_paths=[inside]) == "deny"


def test_a_channel_by_its_id_is_nobody_and_the_statement_says_what_to_write() -> None:
    known = replace(KNOWN, names={"Bed flow": ("Bed flow", "19:7be0@thread.tacv2")})
    teams = {"t": [tool("post", "Post a message to a channel.", "channelId text", "mentions:list recipients:list")]}
    found = compiled('may use t/post to "Bed flow".', teams, known)
    assert 'if Bed flow is a place, write in "Bed flow"' in found.problem()
    right = policy('may use t/post in "Bed flow".', teams, known)
    assert right.decide("t/post", channelId="19:7be0@thread.tacv2", text="x") == "allow"
    assert right.decide("t/post", channelId="19:7be1@thread.tacv2", text="x") == "deny"


def test_a_name_that_a_service_gives_somebody_is_no_host() -> None:
    known = replace(KNOWN, names={"Joost": ("joost.dv",), "books.example": ("books.example",)})
    chat = {"c": [tool("direct_message", "Send a direct message.", "username text")]}
    found = policy("may use c/direct_message only to Joost.", chat, known)
    assert found.decide("c/direct_message", username="joost.dv", text="x") == "allow"
    assert found.decide("c/direct_message", username="eve", text="x") == "deny"
    assert found.decide("c/direct_message", username="eve@joost.dv", text="x") == "deny"
    never = policy("may use c/direct_message to anyone.\nmust never use c/direct_message to Joost.", chat, known)
    assert never.decide("c/direct_message", username="Joost", text="x") == "deny"
    assert never.decide("c/direct_message", username="eve@joost.dv", text="x") == "deny"
    assert never.decide("c/direct_message", username="ann", text="x") == "allow"


def test_under_takes_the_directory_that_a_name_stands_for() -> None:
    known = replace(KNOWN, names={"Team Rota": ("/Team Rota",)})
    store = {"d": [tool("fetch_remote", "Get a file of Dropbox.", "remote_path", "note")]}
    found = policy('may use d/fetch_remote where `remote_path` is under "Team Rota".', store, known)
    assert found.decide("d/fetch_remote", remote_path="/Team Rota/w1.xlsx") == "allow"
    assert found.decide("d/fetch_remote", remote_path="/Team Rota/../x") == "deny"
    assert found.decide("d/fetch_remote", remote_path="/Team Rotas/x") == "deny"


def test_a_name_with_an_at_sign_is_no_list() -> None:
    known = replace(KNOWN, names={"Fellside": ("@fellside", "-100123"), "Ann": ("@ann",), "Trap": ("@contacts",)})
    chat = {"c": [tool("post_message", "Post a message to a channel.", "channel text")]}
    mail = {"m": [tool("send_direct", "Send a message.", "to:list text")]}
    post = policy("may use c/post_message in Fellside.", chat, known)
    assert post.decide("c/post_message", channel="@fellside", text="x") == "allow"
    assert post.decide("c/post_message", channel="@other", text="x") == "deny"
    send = policy("may use m/send_direct only to Ann or contacts.", mail, known)
    assert send.decide("m/send_direct", to=["@ann", "bob@x.example"], text="x") == "allow"
    assert send.decide("m/send_direct", to=["@ann", "@eve"], text="x") == "deny"
    never = policy("may use m/send_direct to anyone.\nmust never use m/send_direct to Ann.", mail, known)
    assert never.decide("m/send_direct", to=["ann"], text="x") == "deny"
    assert never.decide("m/send_direct", to=["bob@x.example", "@ANN"], text="x") == "deny"
    assert never.decide("m/send_direct", to=["bob@x.example"], text="x") == "allow"
    assert "call the list something else" in compiled("may use m/send_direct to Trap.", mail, known).problem()


PROJECT = {
    "s": [
        tool(
            "read_project_file",
            "Read a file of a project.",
            project_path={"type": "string", "description": "Root of the project"},
            file={"type": "string", "description": "File relative to the project root"},
        )
    ]
}


@pytest.mark.parametrize(
    "test",
    ['`file` is ".env"', "`file` matches /[.]env/", '`file` starts with ".e"', '`file` is config/a or ".env"', '`file` is under ".env"'],
)  # fmt: skip
def test_a_part_of_a_path_is_forbidden_wherever_it_stands(test: str) -> None:
    test = test.replace("`file` ", "`file` is given and ")
    for lines in (
        f"may use s/read_project_file.\nmust never use s/read_project_file where {test}.",
        f"may use s/read_project_file, except where {test}.",
    ):
        found = policy(lines, PROJECT)
        for file in (".env", f"{KNOWN.home}/Projects/.env", "./.ENV"):
            assert found.decide("s/read_project_file", project_path=f"{KNOWN.home}/Projects", file=file) == "deny"
        assert found.decide("s/read_project_file", project_path=f"{KNOWN.home}/Projects", file="env.md") == "allow"


def test_a_channel_is_no_list_and_no_directory_of_its_name() -> None:
    chat = {"s": [tool("send_message", "Send a message to a channel.", "channel text", "attachments:list")]}
    for name in ("#family", "#projects"):
        found = policy(f"may send messages.\nmust never send messages in {name}.", chat)
        for channel in (name, name[1:], name.upper()):
            assert found.decide("s/send_message", channel=channel, text="x") == "deny"
        assert found.decide("s/send_message", channel="#other", text="x") == "allow"
    upload = {"s": [tool("upload_file", "Upload a file to a channel.", "channel file_path")]}
    assert (
        policy("may use s/upload_file in #projects.", upload).decide(
            "s/upload_file", channel="#exec", file_path=f"{KNOWN.home}/Projects/x"
        )
        == "deny"
    )


def test_a_place_that_looks_like_a_host_is_asked_of_the_argument_for_places_too() -> None:
    known = replace(KNOWN, names={"#ops": ("ops.alerts",)})
    chat = {"s": [tool("send_message", "Send a message to a channel.", "channel text", "icon_url")]}
    found = policy("may send messages.\nmust never send messages in #ops.", chat, known)
    assert found.decide("s/send_message", channel="ops.alerts", text="x") == "deny"
    assert found.decide("s/send_message", channel="general", text="x") == "allow"
    only = policy("may send messages in #ops.", chat, known)
    assert only.decide("s/send_message", channel="C9", text="x", icon_url="https://ops.alerts/x") == "deny"


def test_a_person_whose_name_looks_like_a_host_is_no_domain() -> None:
    known = replace(KNOWN, names={"anna.kim": ("anna.kim", "anna@c.example")})
    mail = {"s": [tool("send_email", "Send an email.", "to:list body")]}
    found = policy("may send email to anna.kim.", mail, known)
    assert found.decide("s/send_email", to=["anna@c.example"], body="x") == "allow"
    assert found.decide("s/send_email", to=["evil@anna.kim"], body="x") == "deny"
    never = policy("may send email to anyone.\nmust never send email to kim.anna.", mail)
    assert [never.decide("s/send_email", to=[to], body="x") for to in ("kim.anna", "x@kim.anna", "bob@x.example")] == [
        "deny",
        "deny",
        "allow",
    ]


def test_under_speaks_of_one_path_and_of_every_spelling() -> None:
    job = {"s": [tool("start_job", "Start a job.", "target:", "note")]}
    job["s"][0]["inputSchema"]["properties"]["target"]["description"] = "What the job works on"
    never = policy("may use s/start_job.\nmust never use s/start_job where `target` is under ~/Medical.", job)
    for target in (f"{KNOWN.home}/Medical/x", "~/Medical/x"):
        assert never.decide("s/start_job", target=target) == "deny"
    may = policy("may use s/start_job where `target` is under /srv/data.", job)
    assert may.decide("s/start_job", target="/srv/data/week 1/a.b-c.txt") == "allow"
    for rest in (
        "x,/etc/passwd",
        "x;/etc/passwd",
        "x /etc/passwd",
        "..\\..\\etc",
        "x/..%2f..%2fetc",
        ".. /etc",
        "$(id)",
    ):
        assert may.decide("s/start_job", target=f"/srv/data/{rest}") == "deny"


def test_giving_only_may_not_close_an_object_that_the_statement_demands_a_member_of() -> None:
    house = {"h": [tool("call_service", "Call a service.", "domain", "data:object")]}
    closed = "may use h/call_service where `data.entity_id` is light.hall giving only `domain`"
    assert "name it too: giving only ..., `data`" in compiled(f"{closed}.", house).problem()
    found = policy(f"{closed}, `data`.", house)
    assert found.decide("h/call_service", domain="light", data={"entity_id": "light.hall"}) == "allow"


def test_a_bound_on_a_list_counts_its_elements() -> None:
    tags = {"z": [tool("tag_items", "Tag items.", "item_keys:list tag")]}
    found = policy("may use z/tag_items where `item_keys` is at most 2.", tags)
    assert [
        found.decide("z/tag_items", item_keys=keys, tag="x") for keys in (["a", "b"], ["a", "b", "c"], ["a,b,c"])
    ] == [
        "allow",
        "deny",
        "deny",
    ]
    never = policy("may use z/tag_items.\nmust never use z/tag_items where `item_keys` is more than 2.", tags)
    assert never.decide("z/tag_items", item_keys=["a", "b"], tag="x") == "allow"
    assert never.decide("z/tag_items", item_keys=["a", "b", "c"], tag="x") == "deny"


# --- People whom no rule sees. ---

REPLY = {
    "mail": [
        tool("reply_email", "Reply to an email.", "id body", "cc:list"),
        tool("send_email", "Send an email.", "body", "to:list cc:list"),
    ]
}


@pytest.mark.parametrize(
    ("lines", "name", "arguments", "expected"),
    [
        ("may send email.\nmust ask before sending email to anyone outside contacts.", "send_email", {"body": "x"}, "escalate"),
        ("may send email.\nmust ask before sending email to anyone outside contacts.", "send_email", {"body": "x", "to": []}, "escalate"),
        ("may send email.\nmust ask before sending email to anyone outside contacts.", "send_email", {"body": "x", "to": ["bob@x.example"]}, "allow"),
        ("may send email.\nmust ask before sending email to anyone outside contacts.", "reply_email", {"id": "1", "body": "x", "cc": ["bob@x.example"]}, "escalate"),
        ("may send email to contacts.", "reply_email", {"id": "1", "body": "x", "cc": ["bob@x.example"]}, "deny"),
        ("may send email only to contacts.", "reply_email", {"id": "1", "body": "x", "cc": ["bob@x.example"]}, "deny"),
        ("may send email to contacts.", "send_email", {"body": "x", "to": ["bob@x.example"]}, "allow"),
    ],
)  # fmt: skip
def test_a_call_that_names_nobody_or_only_copies_reaches_somebody_else(
    lines: str, name: str, arguments: dict[str, Any], expected: str
) -> None:
    assert policy(lines, REPLY).decide(f"mail/{name}", **arguments) == expected


def test_a_list_of_people_is_no_place() -> None:
    assert "list of people" in compiled('must never create events in "contacts".', CALENDAR).problem()


# --- What an owner limits in words: lengths, counts, domains, guests. ---

TEXTS = {"texts": [tool("send_sms", "Send a text message.", "to message")]}


def test_the_length_of_a_text_limits_a_permission() -> None:
    found = policy("may use texts/send_sms to anyone where `message` is no longer than 5.", TEXTS)
    assert found.decide("texts/send_sms", to="bob@x.example", message="short") == "allow"
    assert found.decide("texts/send_sms", to="bob@x.example", message="longer") == "deny"


@pytest.mark.parametrize("mood", ["must never use", "must ask before using"])
def test_a_text_that_is_too_long_is_forbidden_or_asked_about(mood: str) -> None:
    found = policy(f"may use texts/send_sms to anyone.\n{mood} texts/send_sms where `message` is longer than 5.", TEXTS)
    assert found.decide("texts/send_sms", to="bob@x.example", message="short") == "allow"
    said = found.decide("texts/send_sms", to="bob@x.example", message="longer")
    assert said == ("deny" if "never" in mood else "escalate")


def test_a_number_has_no_length() -> None:
    assert "is no text" in compiled("must never use b/pay where `amount` is longer than 5.", PAY).problem()


def test_what_cannot_be_counted_is_an_error_that_says_what_can_be_written() -> None:
    problem = compiled("must never use texts/send_sms more than 300 characters at once.", TEXTS).problem()
    assert "no argument of texts/send_sms holds characters that could be counted" in problem
    assert "is longer than 300" in problem


def test_things_and_people_are_counted_by_what_their_lists_are_called() -> None:
    line = {
        "type": "array",
        "items": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    }
    books = {"books": [tool("create_quote", "Create a quote.", "lineItems", lineItems=line)]}
    quotes = policy("may use books/create_quote.\nmust never use books/create_quote more than 2 lines at once.", books)
    assert quotes.decide("books/create_quote", lineItems=[{"text": "a"}, {"text": "b"}]) == "allow"
    assert quotes.decide("books/create_quote", lineItems=[{"text": "a"}] * 3) == "deny"
    mail = {"mail": [tool("send_email", "Send an email.", "body to:list")]}
    people = policy("may send email to anyone.\nmust never use mail/send_email more than 1 people at once.", mail)
    assert people.decide("mail/send_email", body="x", to=["bob@x.example"]) == "allow"
    assert people.decide("mail/send_email", body="x", to=["bob@x.example", "ann@books.example"]) == "deny"


STAFF = Known(HOME, KNOWN.sandbox, lists={"staff": NamedList("domain", ("x.example", "*.x.example"))})


@pytest.mark.parametrize(
    ("guests", "expected"),
    [
        (["bob@x.example"], "allow"),
        (["bob@sub.x.example"], "allow"),
        (["eve@y.example"], "deny"),
        (["bob@x.example", "eve@y.example"], "deny"),
        (["bob@notx.example"], "deny"),
    ],
)
@pytest.mark.parametrize("optional", ["attendees:list", "attendees:list optional_attendees:list"])
def test_an_argument_for_people_is_compared_with_a_list_of_domains(
    guests: list[str], expected: str, optional: str
) -> None:
    plan = {"plan": [tool("create_event", "Create a calendar event.", "title", optional)]}
    lines = "may use plan/create_event where `attendees` is in staff or left out.\nmust never use plan/create_event where `attendees` is given, except where `attendees` is in staff."
    assert policy(lines, plan, STAFF).decide("plan/create_event", title="x", attendees=guests) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("may use plan/create_event.", "deny"),
        ("may use plan/create_event where `title` is x.", "deny"),
        ("may use plan/create_event to anyone.", "allow"),
        ("may use plan/create_event where `attendees` is given.", "allow"),
    ],
)
def test_naming_a_tool_invites_nobody(line: str, expected: str) -> None:
    plan = {"plan": [tool("create_event", "Create a calendar event.", "title", "attendees:list")]}
    found = policy(line, plan, STAFF)
    assert found.decide("plan/create_event", title="x", attendees=["eve@y.example"]) == expected
    if "`attendees`" not in line:
        assert found.decide("plan/create_event", title="x") == "allow"


def test_a_place_may_be_a_machine_that_is_not_public() -> None:
    ssh = {
        "ssh": [
            tool(
                "read_remote_file",
                "Read a file on a remote host over SSH.",
                path="",
                host={"type": "string", "description": "Hostname or IP address of the SSH server"},
            )
        ]
    }
    ssh["ssh"][0]["inputSchema"]["properties"].pop("path")
    known = Known(HOME, KNOWN.sandbox, names={"the monitor": ("mon1",)})
    found = policy('may use ssh/read_remote_file in "the monitor".', ssh, known)
    assert found.decide("ssh/read_remote_file", host="mon1") == "allow"
    assert found.decide("ssh/read_remote_file", host="mon2") == "deny"


def test_a_list_of_numbers_contains_a_number() -> None:
    docs = {
        "docs": [
            tool(
                "tag_document",
                "Set the tags of a document.",
                "id",
                tags={"type": "array", "items": {"type": "integer"}},
            )
        ]
    }
    found = policy(
        "may use docs/tag_document.\nmust ask before using docs/tag_document where `tags` is given and contains 12.",
        docs,
    )
    assert found.decide("docs/tag_document", id="a", tags=[3]) == "allow"
    assert found.decide("docs/tag_document", id="a", tags=[3, 12]) == "escalate"
    assert (
        "holds numbers"
        in compiled("must never use docs/tag_document where `tags` starts with 1 or left out.", docs).problem()
    )


# --- What made whole servers ask, or refused what was permitted. ---

SHELL_AND_CHAT = {
    "ssh": [tool("run_command", "Run a shell command.", "command")],
    "chat": [
        tool("delete_message", "Delete a message.", "id"),
        tool("post_message", "Post a message in a channel.", "channel text"),
    ],
}


def test_a_thing_of_one_server_does_not_make_every_command_of_another_a_question() -> None:
    found = policy("may use ssh/run_command where `command` is given.\nmust never delete messages.", SHELL_AND_CHAT)
    assert found.decide("ssh/run_command", command="uptime") == "allow"
    assert found.decide("chat/delete_message", id="1") == "deny"
    disk = {"disk": [tool("delete_file", "Delete a file.", "path")], **SHELL_AND_CHAT}
    whole = policy("may use ssh/run_command where `command` is given.\nmust never delete files.", disk)
    assert whole.decide("ssh/run_command", command="uptime") == "escalate"


@pytest.mark.parametrize(
    ("flag", "expected"),
    [("force_instrumental", "allow"), ("force", "deny"), ("force_delete", "deny"), ("create_force", "deny")],
)
def test_a_flag_forces_only_where_it_stands_alone_or_before_a_verb(flag: str, expected: str) -> None:
    music = {"m": [tool("compose_song", "Compose a song.", "mood", f"{flag}:bool")]}
    assert policy("may use m/compose_song.", music).decide("m/compose_song", mood="slow", **{flag: True}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Doris's pudding", "allow"),
        ("1/2 cup sugar", "allow"),
        ("Ready? Go!", "allow"),
        ("x' or y", "deny"),
        ("'x", "deny"),
        ("a/b", "deny"),
        ("/etc", "deny"),
        ("./x", "deny"),
        ("1/", "deny"),
        ("notes.txt", "deny"),
        ("a@b", "deny"),
        ("x=y", "deny"),
    ],
)
def test_a_name_in_words_is_more_than_letters_and_less_than_an_address(value: str, expected: str) -> None:
    odd = {"odd": [tool("frob_it", "Frobs it.", "zorp")]}
    assert policy("may use odd/frob_it.", odd).decide("odd/frob_it", zorp=value) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [("example.org", "allow"), ("www.example.org", "allow"), ("evil.example.org", "deny"), ("wwwexample.org", "deny")],
)
def test_a_site_is_meant_under_both_of_its_names(host: str, expected: str) -> None:
    web = {"web": [tool("fetch", "Fetch a web page.", url={"type": "string", "description": "URL of the page"})]}
    assert policy("may use web/fetch on example.org.", web).decide("web/fetch", url=f"https://{host}/") == expected


# --- Who is reached, what is counted, where a name leads. ---

MESSENGER = {
    "w": [
        tool("get_chats", "List the chats.", "", "limit:number"),
        tool("send_message", "Send a message to a person.", "recipient text"),
        tool("respond_to_invitation", "Send a response to an invitation.", "id response"),
    ]
}


def test_a_prohibition_on_people_does_not_ask_about_tools_that_reach_nobody() -> None:
    found = policy(
        "may use w/get_chats or w/send_message.\nmust never do anything with anything of w to ann.", MESSENGER
    )
    assert found.decide("w/get_chats", limit=5) == "allow"
    assert found.decide("w/send_message", recipient="ann@books.example", text="x") == "deny"
    answering = policy("must never send anything of w to ann.", MESSENGER)
    assert "asks" in " ".join(answering.compiled.meanings[0].notes), "it may answer ann, and no argument says so"


def test_a_word_that_stands_for_nobody_is_an_error_also_where_a_tool_takes_no_people() -> None:
    git = {"g": [tool("push_files", "Push files to a repository.", "repo")]}
    assert "force is no" in compiled("must never push to force.", git).problem()


def test_a_prohibition_on_people_asks_about_whatever_is_not_reading_alone() -> None:
    journeys = {
        "c": [tool("trigger_journey", "Trigger a customer journey.", "step"), tool("follow_user", "Follow.", "user_id")]
    }
    found = policy(
        "may use c/trigger_journey or c/follow_user.\nmust never do anything with anything to ann.", journeys
    )
    assert found.decide("c/trigger_journey", step="1") == "escalate"
    assert found.decide("c/follow_user", user_id="ann") != "allow"


LISTS = {
    "m": [
        tool("batch_modify_emails", "Modify the labels of several emails.", "messageIds:list addLabelIds:list"),
        tool("modify_email", "Modify the labels of an email.", "messageId"),
    ]
}


@pytest.mark.parametrize("noun", ["emails", "messageIds"])
def test_the_list_that_a_tool_must_be_given_counts_what_the_tool_is_about(noun: str) -> None:
    one_list = {"m": [tool("batch_delete_emails", "Delete several emails.", "messageIds:list", "note")]}
    found = policy(
        f"may use m/batch_delete_emails.\nmust never use m/batch_delete_emails more than 2 {noun} at once.", one_list
    )
    assert found.decide("m/batch_delete_emails", messageIds=["a", "b"]) == "allow"
    assert found.decide("m/batch_delete_emails", messageIds=["a", "b", "c"]) == "deny"


def test_what_could_be_one_of_several_lists_is_not_counted() -> None:
    line = "must never use m/batch_modify_emails more than 2 emails at once."
    assert "could be counted" in compiled(line, LISTS).problem()


def test_a_count_does_not_concern_tools_whose_calls_hold_no_such_thing() -> None:
    catalogue = {
        "m": [tool("batch_modify_emails", "Modify several emails.", "messageIds:list"), *LISTS["m"][1:]],
        "d": [
            tool("rename_playlist", "Rename a playlist.", "playlist title"),
            tool("run", "Run a command.", "command"),
        ],
    }
    never = "must never change more than 2 emails at once."
    found = policy(f"may use m/*.\nmay use d/rename_playlist.\n{never}", catalogue)
    assert found.decide("d/rename_playlist", playlist="a", title="b") == "allow"
    assert found.decide("m/batch_modify_emails", messageIds=["a", "b"]) == "allow"
    assert found.decide("m/batch_modify_emails", messageIds=["a", "b", "c"]) == "deny"
    assert found.decide("m/modify_email", messageId="a") == "escalate"  # it is about emails, and counts nothing


def test_people_are_counted_also_where_a_list_or_a_channel_reaches_many() -> None:
    post = {"c": [tool("send_campaign", "Send a campaign to a list of subscribers.", "list_id text"), *MAIL["mail"]]}
    found = policy("may use c/send_campaign.\nmust never send anything to more than 10 people.", post)
    assert found.decide("c/send_campaign", list_id="x", text="y") == "escalate"


SENDING = {
    "p": [
        tool("send_files", "Send files to somebody.", "recipient", "path paths:list caption"),
        tool("send_poll", "Send a poll to somebody.", "recipient question options:list"),
        tool("send_draft", "Send a draft that was saved.", "draft_id"),
    ]
}


def test_files_in_several_arguments_are_counted_together() -> None:
    found = policy(
        "may use p/send_files to anyone with attachments from ~/A.\nmust never send more than 2 files at once.", SENDING
    )

    def said(**files: object) -> str:
        return found.decide("p/send_files", recipient="ann@x.example", **files)

    assert said(paths=["/home/maya/A/1", "/home/maya/A/2"]) == "allow"
    assert said(path="/home/maya/A/1") == "allow"
    assert said(paths=["/home/maya/A/1", "/home/maya/A/2", "/home/maya/A/3"]) == "deny"
    assert said(path="/home/maya/A/1", paths=["/home/maya/A/2", "/home/maya/A/3"]) == "deny"


@pytest.mark.parametrize("noun", ["line_items", "line items", "items", "lines"])
def test_a_list_of_objects_is_counted_by_its_name(noun: str) -> None:
    item = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
    books = {"b": [tool("create_quote", "Create a quote.", "title", line_items={"type": "array", "items": item})]}
    found = policy(f"may use b/create_quote.\nmust never use b/create_quote more than 1 {noun} at once.", books)
    assert found.decide("b/create_quote", title="x", line_items=[{"sku": "a"}]) == "allow"
    assert found.decide("b/create_quote", title="x", line_items=[{"sku": "a"}, {"sku": "b"}]) == "deny"


def test_several_lists_of_one_thing_may_hold_more_than_one_of_them() -> None:
    lists = {"k": [tool("put_cards", "Put cards.", "cards:list", "more_cards:list")]}
    found = policy("may use k/put_cards.\nmust never use k/put_cards more than 2 cards at once.", lists)
    assert found.decide("k/put_cards", cards=["a", "b"]) == "allow"
    assert found.decide("k/put_cards", cards=["a", "b", "c"]) == "deny"
    assert found.decide("k/put_cards", cards=["a", "b"], more_cards=["c"]) == "deny"


def test_attachments_do_not_concern_tools_whose_calls_are_text_alone() -> None:
    found = policy(
        "may use p/send_poll to anyone.\nmay use p/send_draft.\nmust never send anything with attachments from ~/A.",
        SENDING,
    )
    assert found.decide("p/send_poll", recipient="ann@x.example", question="when?", options=["a"]) == "allow"
    assert found.decide("p/send_draft", draft_id="7") == "escalate"  # what was stored may have attachments


@pytest.mark.parametrize("url", ["docs/..%2fadmin", "docs/a%5C..%5cadmin", "docs/%252e%252e/admin", "docs/../admin"])
def test_a_url_that_begins_right_does_not_lead_elsewhere(url: str) -> None:
    web = {"w": [tool("fetch", "Fetch a web page.", "url")]}
    found = policy('may use w/fetch where `url` starts with "https://x.example/docs/".', web)
    assert found.decide("w/fetch", url=f"https://x.example/{url}") == "deny"
    assert found.decide("w/fetch", url="https://x.example/docs/group%2Fname?a=50%25") == "allow"


@pytest.mark.parametrize("name", ["report_bug", "tell_user", "ask_owner", "ping_person", "say_text", "print_page"])
def test_a_tool_that_tells_somebody_something_is_no_reader(name: str) -> None:
    said = {"x": [tool(name, "", "text"), tool("get_report", "Get a report.", "id")]}
    found = policy("may read anything.", said)
    assert found.decide(f"x/{name}", text="a") == "deny"
    assert found.decide("x/get_report", id="7") == "allow"


STORE = {"s3": [tool("delete_object", "Delete an object from a bucket.", "bucket key")]}


@pytest.mark.parametrize(
    "limit",
    ['`key` starts with "tmp/"', "`key` matches /tmp\\/.*/", '`key` contains "tmp/"', '`key` starts with "tmp"'],
)
def test_a_name_that_begins_right_does_not_lead_elsewhere(limit: str) -> None:
    found = policy(f"may use s3/delete_object where {limit}.", STORE)
    for key, expected in (
        ("tmp/a.txt", "allow"),
        ("tmp/a/b..c.txt", "allow"),
        ("tmp/../models/x", "deny"),
        ("tmp/a/../../x", "deny"),
        ("tmp/..", "deny"),
        ("tmp/./x", "deny"),
        ("tmp/..\\..\\models", "deny"),
        ("tmp/%2e%2e/models", "deny"),
        ("tmp/..%2fmodels", "deny"),
        ("tmp/.. /m", "deny"),
        ("tmp/\uff0e\uff0e/models", "deny"),
    ):
        assert found.decide("s3/delete_object", bucket="b", key=key) == expected, key


def test_two_dots_of_a_pattern_are_no_dots_of_a_path() -> None:
    found = policy("may use s3/delete_object where `key` matches /tmp\\/..*/.", STORE)
    assert found.decide("s3/delete_object", bucket="b", key="tmp/a") == "allow"
    assert found.decide("s3/delete_object", bucket="b", key="tmp/../models") == "deny"


def test_a_url_that_begins_with_a_host_alone_is_an_error() -> None:
    web = {"web": [tool("fetch", "Fetch a web page.", url={"type": "string", "description": "URL of the page"})]}
    line = 'may use web/fetch where `url` starts with "https://docs.python.org".'
    assert "a host goes on" in compiled(line, web).problem()


def test_a_flag_that_may_stay_away_is_not_asked_about_where_it_does() -> None:
    lists = {
        "m": [tool("update_playlist", "Update a playlist.", "id", public={"type": "boolean"}, title={"type": "string"})]
    }
    found = policy("may use m/update_playlist.\nmust never share anything to ann.", lists)
    assert found.decide("m/update_playlist", id="1", title="x") == "allow"
    assert found.decide("m/update_playlist", id="1", public=True) != "allow"


@pytest.mark.parametrize(
    ("line", "inside", "outside"),
    [
        ("may use b/pay where `amount` is at most 250.", [5, "250.00", "0.5", "250"], [251, "251", "2e9", "-3", " 9"]),
        ("may use b/pay where `amount` is at least 5 and is at most 25.", [5, 25], [4, 26, "26"]),
        (
            "may use b/pay.\nmust never use b/pay where `amount` is given and is more than 1000.",
            [1000, "250.00"],
            [1001, "1001", "1e9"],
        ),
    ],
)
def test_a_number_that_may_be_sent_as_text_is_bounded_in_both_forms(
    line: str, inside: list[Any], outside: list[Any]
) -> None:
    either = {"b": [tool("pay", "Pay somebody.", "payee", amount={"type": ["string", "number"]})]}
    found = policy(line, either)
    assert {found.decide("b/pay", payee="x", amount=amount) for amount in inside} == {"allow"}
    assert "allow" not in {found.decide("b/pay", payee="x", amount=amount) for amount in outside}


def test_a_name_of_the_set_up_stands_for_its_value_among_the_choices_of_an_argument() -> None:
    known = replace(KNOWN, names={**KNOWN.names, "simple style": ("simple",)})
    styled = {
        "t": [tool("rephrase", "Rephrase a text.", "text", style={"type": "string", "enum": ["simple", "formal"]})]
    }
    found = policy('may use t/rephrase where `style` is "simple style".', styled, known)
    assert found.decide("t/rephrase", text="x", style="simple") == "allow"
    assert found.decide("t/rephrase", text="x", style="formal") != "allow"


# --- What owners wrote of twelve fresh texts. ---


@pytest.mark.parametrize(
    ("lines", "inside", "outside"),
    [
        ("may use files/write_file where `path` is *.md or *.txt.", ["a.md", "b/c.txt"], ["a.rtf", "a.md/x", "md"]),
        (
            "may use files/write_file in Projects.\nmust never use files/write_file where `path` is not *.md.",
            ["a.md", "b/c.md"],
            ["a.rtf", "a.md.rtf"],
        ),
        (
            "may use files/write_file in Projects.\nmust never use files/write_file where `path` is *.rtf.",
            ["a.md"],
            ["a.rtf", "b/A.RTF"],
        ),
    ],
)
def test_a_star_stands_for_the_names_of_files(lines: str, inside: list[str], outside: list[str]) -> None:
    found = policy(lines, FILES)
    assert {found.decide("files/write_file", path=f"{HOME}/Projects/{p}", content="x") for p in inside} == {"allow"}
    assert "allow" not in {found.decide("files/write_file", path=f"{HOME}/Projects/{p}", content="x") for p in outside}


def test_a_directory_of_the_set_up_may_be_what_a_path_is() -> None:
    known = replace(KNOWN, directories={**KNOWN.directories, "my logo": f"{HOME}/Business/logo.png"})
    lay = {"i": [tool("composite", "Lay one picture over another.", base="", overlay="", out="")]}
    lay["i"][0]["inputSchema"]["properties"] = {
        "base": {"type": "string", "description": "Path to the picture file."},
        "overlay": {"type": "string", "description": "Path to the picture file laid over it."},
    }
    lay["i"][0]["inputSchema"]["required"] = ["base", "overlay"]
    found = policy(
        'may use i/composite in ~.\nmust never use i/composite where `overlay` is not "my logo".', lay, known
    )
    base = f"{HOME}/a.jpg"
    assert found.decide("i/composite", base=base, overlay=f"{HOME}/Business/logo.png") == "allow"
    assert found.decide("i/composite", base=base, overlay=f"{HOME}/Business/other.png") == "deny"
    found = policy("may use i/composite in ~.\nmust never use i/composite where `base` is Medical.", lay, known)
    assert found.decide("i/composite", base=f"{HOME}/Medical/x.jpg", overlay=base) == "deny"


def test_a_directory_is_found_with_and_without_the_word_for_it() -> None:
    known = replace(KNOWN, directories={"Clips folder": f"{HOME}/Clips", "Notes": f"{HOME}/Notes"})
    for name, place in (('"Clips"', "Clips"), ('"Clips folder"', "Clips"), ('"Notes folder"', "Notes")):
        found = policy(f"may read files in {name}.", FILES, known)
        assert found.decide("files/read_file", path=f"{HOME}/{place}/x") == "allow"
        assert found.decide("files/read_file", path=f"{HOME}/x") == "deny"
    both = replace(known, directories={"Clips folder": f"{HOME}/A", "clips directory": f"{HOME}/B"})
    assert compiled("may read files in Clips.", FILES, both).problem()


def test_what_is_no_directory_limits_no_path() -> None:
    keep = {"w": [tool("save_page", "Save a web page as a file.", "url target", "cookies_file")]}
    assert compiled('may use w/save_page in "Web Clips".', keep).problem()


def test_a_list_of_domains_may_be_what_an_address_is() -> None:
    known = replace(KNOWN, lists={**KNOWN.lists, "company addresses": NamedList("domain", ("acme.example",))})
    found = policy(
        'may use m/forward.\nmust ask before using m/forward where `to` is not "company addresses".', FORWARD, known
    )
    assert found.decide("m/forward", to="ann@acme.example") == "allow"
    assert found.decide("m/forward", to="ann@other.example") == "escalate"


def test_what_is_given_is_not_left_out_whatever_else_is_said() -> None:
    found = policy(
        "may use m/forward.\nmust never use m/forward where `note` contains secret or left out and `note` is given.",
        FORWARD,
    )
    assert found.decide("m/forward", to="a@x.example") == "allow"
    assert found.decide("m/forward", to="a@x.example", note="a secret") == "deny"
    assert found.decide("m/forward", to="a@x.example", note="hello") == "allow"


def test_a_number_begins_and_ends_with_its_digits() -> None:
    either = {
        "t": [tool("send_message", "Send a message to a chat.", "message", chat_id={"type": ["integer", "string"]})]
    }
    either["t"][0]["inputSchema"]["required"] = ["message", "chat_id"]
    found = policy('may use t/send_message.\nmust never use t/send_message where `chat_id` starts with "-100".', either)
    decided = {chat: found.decide("t/send_message", message="x", chat_id=chat) for chat in (7, -1001, "@me", "-1002")}
    assert decided == {7: "allow", -1001: "deny", "@me": "allow", "-1002": "deny"}
    found = policy("may use t/send_message where `chat_id` matches /@me|4[0-9]/.", either)
    decided = {chat: found.decide("t/send_message", message="x", chat_id=chat) for chat in (41, 410, "@me")}
    assert decided == {41: "allow", 410: "deny", "@me": "allow"}


def test_people_and_domains_may_stand_together_beside_another_condition() -> None:
    line = 'may send email to ann or anyone at acme.example where `cc` contains "ann@books.example".'
    found = policy(line, MAIL)
    mail = {"body": "x", "cc": ["ann@books.example"]}
    assert found.decide("mail/send_email", to=["bo@acme.example"], **mail) == "allow"
    assert found.decide("mail/send_email", to=["bo@other.example"], **mail) == "deny"
    assert found.decide("mail/send_email", to=["bo@acme.example"], body="x", cc=["eve@acme.example"]) == "deny"


def test_a_search_in_a_query_language_is_no_command() -> None:
    search = {
        "m": [
            tool(
                "search_messages",
                "Search messages.",
                query={"type": "string", "description": "A search query using keyword query language (KQL)."},
            )
        ]
    }
    assert policy("may read messages.", search).decide("m/search_messages", query="from:ann") == "allow"


# --- What an audit of every line of the page found. ---

POST = {
    "gmail": [
        tool("get_message", "Get a specific message.", "id"),
        tool("get_thread", "Get a specific thread.", "id"),
        tool("get_draft", "Get a specific draft.", "id"),
        tool("send_draft", "Send an existing draft.", "id"),
        tool("delete_draft", "Delete a draft.", "id"),
        tool("delete_message", "Immediately and permanently delete a message.", "id"),
        tool("trash_message", "Move a message to the trash.", "id"),
        tool("update_auto_forwarding", "Update the automatic forwarding.", "emailAddress"),
        tool("get_label", "Get a label.", "id"),
    ]
}
ROOMS = {
    "slack": [
        tool("slack_post_message", "Post a new message to a Slack channel.", "channel_id text"),
        tool("slack_reply_to_thread", "Reply to a specific thread.", "channel_id thread_ts text"),
        tool("slack_get_thread_replies", "Get all replies in a thread.", "channel_id thread_ts"),
        tool("slack_list_channels", "List the channels.", ""),
    ]
}
DISK = {
    "drive": [
        tool("share_file", "Share a file of the drive.", "fileId email"),
        tool("list_files", "List the files of the drive.", ""),
        tool("delete_item", "Move items to trash.", "itemId"),
    ]
}


@pytest.mark.parametrize(
    ("statement", "server", "denied", "allowed"),
    [
        ("must never read email.", POST, ["get_message", "get_thread", "get_draft"], ["get_label"]),
        ("must never send email.", POST, ["send_draft", "update_auto_forwarding"], ["get_message"]),
        ("must never delete drafts.", POST, ["delete_draft"], ["delete_message"]),
        ("must never delete anything.", POST, ["trash_message", "delete_message"], ["get_message"]),
        ("must never delete anything, except trashing email.", POST, ["delete_message"], ["trash_message"]),
        ("must never send messages.", ROOMS, ["slack_reply_to_thread", "slack_post_message"], ["slack_list_channels"]),
        ("must never read messages in #exec.", ROOMS, ["slack_get_thread_replies"], ["slack_list_channels"]),
        ("must never delete files.", DISK, ["delete_item"], ["list_files"]),
    ],
)
def test_a_prohibition_speaks_of_what_a_server_is_about_whatever_its_tools_call_it(
    statement: str, server: dict[str, Any], denied: list[str], allowed: list[str]
) -> None:
    (name,) = server
    known = replace(KNOWN, names={**KNOWN.names, "#exec": ("exec",)})
    found = policy(f"may do anything with {name}.\n{statement}", server, known)
    given = {
        "id": "1",
        "emailAddress": "e@x.example",
        "channel_id": "exec",
        "thread_ts": "1",
        "text": "x",
        "itemId": "1",
    }

    def said(called: str) -> str:
        needed = next(each["inputSchema"]["required"] for each in server[name] if each["name"] == called)
        return found.decide(f"{name}/{called}", **{each: given[each] for each in needed})

    assert {called: said(called) for called in denied} == dict.fromkeys(denied, "deny")
    assert {called: said(called) for called in allowed} == dict.fromkeys(allowed, "allow")


def test_a_message_of_a_mail_server_is_an_email() -> None:
    assert policy("may read email.", POST).decide("gmail/get_message", id="1") == "allow"


RESET = {
    "git": [
        tool("git_reset", "Reset the working copy.", "repo_path"),
        tool("list_directory", "List a directory.", "path"),
    ],
    "hub": [
        tool("reset_issue_timeline", "Reset the timeline of an issue.", "owner repo"),
        tool("get_repository", "Get a repository.", "owner repo"),
    ],
    "users": [tool("reset_password", "Reset a password.", "user")],
}


def test_a_verb_binds_to_every_tool_that_might_do_it_to_the_thing() -> None:
    lines = (
        "may use git/git_reset or hub/reset_issue_timeline or users/reset_password.\nmust never reset the repository."
    )
    found = policy(lines.replace("the repository", "repository"), RESET)
    assert found.decide("git/git_reset", repo_path=f"{HOME}/code") != "allow"
    assert found.decide("users/reset_password", user="ann") == "allow"


def test_what_a_permission_excepts_may_be_left_out_by_nobody() -> None:
    events = {"cal": [tool("create_event", "Create an event.", "title", "calendarId")]}
    found = policy("may create events, except where `calendarId` is work.", events)
    assert found.decide("cal/create_event", title="x", calendarId="home") == "allow"
    assert found.decide("cal/create_event", title="x", calendarId="work") == "deny"
    assert found.decide("cal/create_event", title="x") == "deny"


# --- What a tester got through the changes above. ---


def test_a_tool_that_speaks_of_a_chat_sends_no_email_whatever_its_server_is_called() -> None:
    office = {
        "outlook": [
            tool("send_mail", "Send an email.", "to body"),
            tool("send_channel_message", "Send a message to a Teams channel.", "channelId content"),
            tool("list_mail", "List emails.", ""),
        ]
    }
    found = policy("may send email.", office)
    assert found.decide("outlook/send_channel_message", channelId="C1", content="x") != "allow"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("search_records", "The SQL search query, e.g. SELECT * FROM t"),
        ("search_logs", "KQL query to run against the cluster"),
        ("find_nodes", "Search query in the Cypher query language"),
    ],
)
def test_a_query_that_may_change_what_it_searches_stays_a_command(name: str, says: str) -> None:
    search = {"d": [tool(name, "Search the records.", query={"type": "string", "description": says})]}
    (found,) = understand("d", search["d"])
    assert "command" in found.roles("query")


def test_a_folder_of_notes_is_a_plain_name_and_no_path() -> None:
    notes = {
        "notes": [
            tool("create_note", "Create a note.", "title content", "folder"),
            tool("list_notes", "List notes.", "", "folder"),
        ]
    }
    found = policy("may read or create notes.", notes)
    note = {"title": "x", "content": "y"}
    assert found.decide("notes/create_note", **note, folder="Assistant") == "allow"
    for place in (f"{HOME}/Medical", "../../Medical", "~/Medical"):
        assert found.decide("notes/create_note", **note, folder=place) != "allow"
    (kept,) = understand("n", [tool("create_note", "Create a note in the vault.", "title content", "folder")])
    assert set(kept.roles("folder")) & {"read-path", "write-path"}


PAGES = {"web": [tool("fetch", "Fetch a web page by its URL.", "url")]}


@pytest.mark.parametrize("value", ['"https://evil.example/x"', "https://evil.example/x"])
def test_values_beside_a_list_of_hosts_are_not_lost(value: str) -> None:
    known = replace(KNOWN, lists={**KNOWN.lists, "partners": NamedList("domain", ("books.example",))})
    lines = f"may use web/fetch.\nmust never use web/fetch where `url` is partners or {value}."
    found = policy(lines, PAGES, known)
    assert found.decide("web/fetch", url="https://evil.example/x") == "deny"
    assert found.decide("web/fetch", url="https://books.example/y") == "deny"
    assert found.decide("web/fetch", url="https://other.example/") == "allow"


def test_a_list_of_people_and_one_of_domains_are_compared_each_in_its_way() -> None:
    known = replace(KNOWN, lists={**KNOWN.lists, "partners": NamedList("domain", ("books.example",))})
    lines = "may use m/forward.\nmust never use m/forward where `to` is partners or customers."
    found = policy(lines, FORWARD, known)
    assert found.decide("m/forward", to="ann@books.example") == "deny"
    assert found.decide("m/forward", to="jan@c.example") == "deny"
    assert found.decide("m/forward", to="eve@evil.example") == "allow"


def test_a_leading_verb_is_one_also_before_a_request() -> None:
    leave = {
        "hr": [
            tool("approve_request", "Approve a request for leave.", "id"),
            tool("list_requests", "List requests.", ""),
        ]
    }
    found = policy("may use hr/*.\nmust never approve anything.", leave)
    assert found.decide("hr/approve_request", id="1") == "deny"
    assert found.decide("hr/list_requests") == "allow"


def test_an_attachment_that_is_a_flag_or_a_file_is_both() -> None:
    mail = {"g": [tool("send_email", "Send an email.", "to body", attachment={"type": ["boolean", "string"]})]}
    found = policy("may use g/send_email.\nmust never send email with attachments.", mail)
    given = {"to": "a@x.example", "body": "x"}
    assert found.decide("g/send_email", **given) == "allow"
    assert found.decide("g/send_email", **given, attachment=f"{HOME}/Medical/a") == "deny"


def test_above_a_directory_that_a_path_must_not_be_calls_ask() -> None:
    known = replace(KNOWN, directories={"Deep": f"{HOME}/Work/Clients/Deep"})
    remove = {"f": [tool("delete_directory", "Delete a directory.", "path")]}
    found = policy("may use f/delete_directory.\nmust never delete anything where `path` is Deep.", remove, known)
    assert found.decide("f/delete_directory", path=f"{HOME}/Work/Clients") == "escalate"
    assert found.decide("f/delete_directory", path=f"{HOME}/Work/Clients/Deep") == "deny"
    assert found.decide("f/delete_directory", path=f"{HOME}/Work/Other") == "allow"


def test_a_star_in_a_prohibition_holds_wherever_on_the_way_it_stands() -> None:
    lines = "may use files/read_file.\nmust never use files/read_file where `path` is *.env."
    found = policy(lines, FILES)
    assert found.decide("files/read_file", path=f"{HOME}/x/prod.env/a") == "deny"
    assert found.decide("files/read_file", path=f"{HOME}/x/a") == "allow"


def test_an_empty_list_of_people_is_nobody() -> None:
    mail = {"m": [tool("send_email", "Send an email.", "to:list cc:list body")]}
    found = policy("may send email to contacts.\nmust never send email to more than 5 people.", mail)
    assert found.decide("m/send_email", to=["bob@x.example"], cc=[], body="x") == "allow"
    assert found.decide("m/send_email", to=[], cc=[], body="x") != "allow"


# --- What is meant by a permission, and was lost. ---


def test_a_directory_beside_people_says_where_attachments_may_come_from() -> None:
    mail = {"m": [tool("send_email", "Send an email.", "to:list body", "attachments:list")]}
    found = policy("may use m/send_email in ~/Books to bob@x.example.", mail)
    given = {"to": ["bob@x.example"], "body": "x"}
    assert found.decide("m/send_email", **given, attachments=[f"{HOME}/Books/a.pdf"]) == "allow"
    assert found.decide("m/send_email", **given, attachments=[f"{HOME}/Medical/a.pdf"]) == "deny"
    assert found.decide("m/send_email", to=["eve@x.example"], body="x", attachments=[f"{HOME}/Books/a"]) == "deny"


def test_a_mail_with_an_empty_list_of_attachments_carries_no_file() -> None:
    mail = {"m": [tool("send_email", "Send an email.", "to:list attachments:list body")]}
    found = policy("may use m/send_email to contacts.\nmust never send email with attachments from ~/Medical.", mail)
    given = {"to": ["bob@x.example"], "body": "x"}
    assert found.decide("m/send_email", **given, attachments=[]) == "allow"
    assert found.decide("m/send_email", **given, attachments=[f"{HOME}/Medical/a"]) == "deny"


ROWS = {"t": [tool("delete_records", "Delete records of a table.", "base_id table_id record_ids:list")]}


@pytest.mark.parametrize("noun", ["id", "record"])
def test_ids_of_what_things_are_in_are_not_counted_with_them(noun: str) -> None:
    found = policy(f"may use t/delete_records.\nmust never use t/delete_records more than 2 {noun} at once.", ROWS)
    where = {"base_id": "b", "table_id": "t"}
    assert found.decide("t/delete_records", **where, record_ids=["1", "2"]) == "allow"
    assert found.decide("t/delete_records", **where, record_ids=["1", "2", "3"]) == "deny"


def test_an_argument_that_holds_one_adds_one_to_what_a_list_holds() -> None:
    print_ = {"p": [tool("print_pages", "Print pages.", "pages:list", "page")]}
    found = policy("may use p/print_pages.\nmust never use p/print_pages more than 2 pages at once.", print_)
    assert found.decide("p/print_pages", pages=["1", "2"]) == "allow"
    assert found.decide("p/print_pages", pages=["1"], page="7") == "allow"
    assert found.decide("p/print_pages", pages=["1", "2"], page="7") == "deny"
    assert found.decide("p/print_pages", pages=["1", "2", "3"]) == "deny"


def test_home_is_found_in_names_that_a_server_takes_for_a_place() -> None:
    move = {"d": [tool("move_torrent", "Move a download.", "torrent_id location")]}
    lines = "may use d/move_torrent.\nmust never use d/move_torrent where `location` is not ~/Films."
    found = policy(lines, move)
    assert found.decide("d/move_torrent", torrent_id="1", location=f"{HOME}/Films") == "allow"
    assert found.decide("d/move_torrent", torrent_id="1", location=f"{HOME}/Other") == "deny"


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("Customers/Brouwer Foods", "allow"),
        ("Customers/Brouwer Foods/2026 open", "allow"),
        ("Customers/../Private", "deny"),
        ("Customers/ .. /Private", "deny"),
        ("Customers/a\nPrivate", "deny"),
        ("Customers/a, Private", "deny"),
        ("Private", "deny"),
    ],
)
def test_folders_below_one_have_names_of_several_words(folder: str, expected: str) -> None:
    mail = {"m": [tool("move_email", "Move an email.", "id folder")]}
    found = policy('may use m/move_email where `folder` starts with "Customers/".', mail)
    assert found.decide("m/move_email", id="1", folder=folder) == expected


def test_several_folders_in_one_text_do_not_hide_behind_one_beginning() -> None:
    mail = {"m": [tool("move_email", "Move an email.", "id folders")]}
    found = policy('may use m/move_email where `folders` starts with "area/".', mail)
    assert found.decide("m/move_email", id="1", folders="area/kitchen") == "allow"
    assert found.decide("m/move_email", id="1", folders="area/kitchen admin/all") == "deny"


def test_a_bound_comes_with_what_the_server_says_of_its_number() -> None:
    amount = {"type": "number", "description": "Amount in cents."}
    found = compiled(
        "may use s/charge where `amount` is at most 500.", {"s": [tool("charge", "Charge.", amount=amount)]}
    )
    assert any("amount in cents" in note for note in found.compiled.meanings[0].notes)


def test_a_permission_says_what_it_leaves_shut() -> None:
    mail = {"m": [tool("send_email", "Send an email.", "to:list body", "attachments:list")]}
    (meaning,) = compiled("may use m/send_email to bob@x.example.", mail).compiled.meanings
    assert any("without attachments" in note for note in meaning.notes)


# --- Ids where an id or a URL is taken. ---

_PAGE = {"type": "string", "description": "Id or URL of the page"}
_LISTS = {
    **KNOWN.lists,
    "machines": NamedList("domain", ("nas", "printer")),
    "ids": NamedList("identifier", ("4ea3d5fb", "52772")),
}
PAGE = {"w": [tool("get_page", "Read a web page.", page=_PAGE)]}
PAGE["w"][0]["inputSchema"]["required"] = ["page"]


def _page(lines: str, page: str) -> str:
    return policy(lines, PAGE, replace(KNOWN, lists=_LISTS)).decide("w/get_page", page=page)


@pytest.mark.parametrize("page", ["nas", "nas/admin"])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("may use w/get_page.\nmust never use w/get_page on machines.", "deny"),
        ("may read pages.\nmust never read pages where `page` is in machines.", "deny"),
        ("may use w/get_page.\nmust never use w/get_page where `page` is machines.", "deny"),
        ("may use w/get_page, except where `page` is in machines.", "deny"),
        ("may use w/get_page, except on machines.", "deny"),
        ("may use w/get_page only on example.org.", "deny"),
        ("may use w/get_page.\nmust ask before using w/get_page where `page` is in machines.", "escalate"),
    ],
)
def test_what_is_said_of_hosts_holds_for_what_may_be_an_id(lines: str, page: str, expected: str) -> None:
    assert _page(lines, page) == expected


@pytest.mark.parametrize("page", ["4ea3d5fb", "52772", "Rigg, Hilda", "team/project"])
@pytest.mark.parametrize("lines", ["may use w/get_page.", "may read pages."])
def test_an_id_is_taken_where_an_id_or_a_url_is(lines: str, page: str) -> None:
    assert _page(lines, page) == "allow"


@pytest.mark.parametrize(
    ("lines", "page", "expected"),
    [
        ('may use w/get_page where `page` is "4ea3d5fb".', "4ea3d5fb", "allow"),
        ('may use w/get_page where `page` is "4ea3d5fb".', "4ea3d5fc", "deny"),
        ("may use w/get_page where `page` is 52772.", "52772", "allow"),
        ("may use w/get_page where `page` is in ids.", "52772", "allow"),
        ("may use w/get_page where `page` is in ids.", "52773", "deny"),
        ("may use w/get_page.\nmust never use w/get_page where `page` is in ids.", "52772", "deny"),
    ],
)
def test_an_id_may_be_named(lines: str, page: str, expected: str) -> None:
    assert _page(lines, page) == expected


# --- Several in one text, and one more beside a list. ---


@pytest.mark.parametrize("branch", ["feature/a main", "feature/a --force", "feature/a +main"])
def test_a_second_word_is_no_part_of_a_name_but_of_a_folder(branch: str) -> None:
    push = {"m": [tool("push", "Push a branch to the remote.", "branch")]}
    found = policy('may use m/push where `branch` starts with "feature/".', push)
    assert found.decide("m/push", branch="feature/a") == "allow"
    assert found.decide("m/push", branch=branch) == "deny"


@pytest.mark.parametrize("folder", ["Customers/a\x0bPrivate", "Customers/a | Private", "Customers/a --all"])
def test_a_folder_of_several_words_has_no_other_signs(folder: str) -> None:
    mail = {"m": [tool("move_email", "Move an email.", "id folder")]}
    found = policy('may use m/move_email where `folder` starts with "Customers/".', mail)
    assert found.decide("m/move_email", id="1", folder="Customers/Brouwer & Co/2026 open") == "allow"
    assert found.decide("m/move_email", id="1", folder=folder) == "deny"


@pytest.mark.parametrize(
    ("needed", "optional", "noun", "call", "expected"),
    [
        ("", "row_id row_ids:list table_id", "ids", {"row_ids": ["1", "2"], "row_id": "3"}, "deny"),
        ("", "row_id row_ids:list table_id", "ids", {"row_ids": ["1", "2"], "table_id": "3"}, "allow"),
        ("names:list group_name", "name", "names", {"names": ["1", "2"], "name": "3", "group_name": "g"}, "deny"),
        ("names:list group_name", "name", "names", {"names": ["1", "2"], "group_name": "g"}, "allow"),
    ],
)
def test_one_beside_a_list_of_the_same_adds_to_it(
    needed: str, optional: str, noun: str, call: dict[str, Any], expected: str
) -> None:
    rows = {"t": [tool("change_rows", "Change rows.", needed, optional)]}
    found = policy(f"may use t/change_rows.\nmust never use t/change_rows more than 2 {noun} at once.", rows)
    assert found.decide("t/change_rows", **call) == expected


def test_where_files_go_to_is_not_counted_with_them() -> None:
    move = {"t": [tool("move_files", "Move files.", "sources:list destination")]}
    found = policy("may move files.\nmust never move more than 2 files at once.", move)
    files = [f"{HOME}/{name}" for name in "abc"]
    assert found.decide("t/move_files", sources=files[:2], destination=f"{HOME}/d") == "allow"
    assert found.decide("t/move_files", sources=files, destination=f"{HOME}/d") == "deny"


# --- What leaving an argument out means. ---


@pytest.mark.parametrize(
    ("definition", "given"),
    [
        (
            tool(
                "sync", "Push data to the server.", "", "webhook_url",
                server_url={"type": "string", "description": "URL of the server to push to"},
            ),
            {"webhook_url": "https://corp.example"},
        ),
        (tool("send_webhook", "Send an event.", "", "avatar_url webhook_url"), {"avatar_url": "https://corp.example/x"}),
        (tool("upload_data", "Upload data.", "", "callback_url upload_url"), {"callback_url": "https://corp.example/"}),
    ],
)  # fmt: skip
def test_a_harmless_url_hides_none_that_is_left_out(definition: dict[str, Any], given: dict[str, Any]) -> None:
    name = definition["name"]
    found = policy(f"may use u/{name}.\nmust never use u/{name} outside corp.example.", {"u": [definition]})
    assert found.decide(f"u/{name}", **given) == "deny"


@pytest.mark.parametrize(
    ("definition", "given"),
    [
        (
            tool("download_attachment", "Download an attachment.", "id", attachment_dir={"type": ["string", "null"]}),
            {"id": "1", "attachment_dir": None},
        ),
        (
            tool("cleanup_attachments", "Delete attachments below directories.", "account attachment_dirs:list"),
            {"account": "1", "attachment_dirs": []},
        ),
    ],
)
def test_a_directory_for_attachments_is_no_attachment(definition: dict[str, Any], given: dict[str, Any]) -> None:
    name = definition["name"]
    found = policy(f"may use m/{name}.\nmust never use m/{name} in ~/Medical.", {"m": [definition]})
    assert found.decide(f"m/{name}", **given) == "deny"


@pytest.mark.parametrize("place", [f"{HOME}/Private", f"{HOME}/Private/", "~/Private", "~/Private/"])
def test_a_place_that_is_forbidden_by_name_is_so_in_its_spellings(place: str) -> None:
    move = {"d": [tool("move_torrent", "Move a download.", "torrent_id location")]}
    found = policy("may use d/move_torrent.\nmust never use d/move_torrent where `location` is ~/Private.", move)
    assert found.decide("d/move_torrent", torrent_id="1", location=place) == "deny"
    assert found.decide("d/move_torrent", torrent_id="1", location=f"{HOME}/Films") == "allow"


def test_home_in_a_beginning_is_not_spelled_out() -> None:
    run = {"s": [tool("run_command", "Run a shell command.", "command")]}
    found = policy('may use s/run_command where `command` starts with "~/bin/".', run)
    assert found.decide("s/run_command", command=f"{HOME}/bin/../evil/x") == "deny"


@pytest.mark.parametrize("name", ["the bank", "friends"])
def test_everybody_at_a_host_may_be_a_value_of_the_set_up(name: str) -> None:
    lists = {**KNOWN.lists, "friends": NamedList("email", ("*@seeds.example", "bob@x.example"))}
    known = replace(KNOWN, lists=lists, names={**KNOWN.names, "the bank": ("*@seeds.example", "bob@x.example")})
    for lines in (
        f'may use m/forward to "{name}".',
        f'may use m/forward to anyone.\nmust never use m/forward to anyone outside "{name}".',
    ):
        found = policy(lines, FORWARD, known)
        assert found.decide("m/forward", to="ann@seeds.example") == "allow"
        assert found.decide("m/forward", to="bob@x.example") == "allow"
        assert found.decide("m/forward", to="ann@other.example") == "deny"


@pytest.mark.parametrize("where", ["with attachments from ~/Books", "in ~/Books"])
def test_a_person_and_a_domain_together_may_get_the_files_that_both_may_get(where: str) -> None:
    mail = {"m": [tool("send_email", "Send an email.", "to:list body", "attachments:list")]}
    lines = f"""may use m/send_email to bob@x.example or anyone at seeds.example {where}.
    may use m/send_email to eve@y.example with attachments from ~/Other.
    may use m/send_email to kim@z.example."""
    found = policy(lines, mail)

    def sent(file: str, *to: str) -> str:
        return found.decide("m/send_email", to=[*to], body="x", attachments=[f"{HOME}/{file}"])

    assert sent("Books/a", "bob@x.example", "ann@seeds.example") == "allow"
    assert sent("Medical/a", "bob@x.example", "ann@seeds.example") == "deny"
    assert sent("Books/a", "bob@x.example", "eve@y.example") == "deny"
    assert sent("Books/a", "eve@y.example") == "deny"
    assert sent("Books/a", "kim@z.example") == "deny"
    assert sent("Books/a", "ann@seeds.example", "kim@z.example") == "deny"
    assert sent("Other/a", "eve@y.example") == "allow"


@pytest.mark.parametrize("dynamic", [False, True])
def test_one_mail_may_go_to_a_person_and_a_domain(dynamic: bool) -> None:
    mail = {"m": [tool("send_email", "Send an email.", "to:list body", "cc:list attachments:list")]}
    friends = NamedList("email", ("Ann@Books.example", "bob@x.example"), dynamic=dynamic)
    known = replace(KNOWN, lists={**KNOWN.lists, "friends": friends})
    lines = """may use m/send_email to friends or anyone at *.seeds.example where `attachments` is given.
    must ask before using m/send_email to anyone outside friends or *.seeds.example with attachments.
    must never use m/send_email with attachments, except to friends or anyone at *.seeds.example."""
    found = policy(lines, mail, known)

    def sent(*to: str, **more: Any) -> str:
        return found.decide("m/send_email", to=[*to], body="x", attachments=[f"{HOME}/a"], **more)

    both = "deny" if dynamic else "allow"  # a list that is filled anew is asked by itself
    assert sent("ann@books.example", "kim@a.seeds.example") == both
    assert sent("ann@books.example", cc=["kim@a.seeds.example"]) == both
    assert sent("ann@books.example") == sent("kim@a.seeds.example") == "allow"
    for other in ("ann@books.example.evil.example", "kim@seeds.example", "x@a.seeds.example@evil.example", "ann"):
        assert sent(other) != "allow"
        assert sent("ann@books.example", other) != "allow"


@pytest.mark.parametrize(
    ("never", "dead", "alive"),
    [
        ("must never send email to contacts.", "may send email to ann.", "may send email to eve@other.example."),
        ("must never send email to ann or eve@other.example.", "may send email to ann.", "may send email to contacts."),
        (
            "must never send email to ann or bob@x.example.",
            "must ask before sending email to ann.",
            "must ask before sending email.",
        ),
        (
            "must never do anything with files in ~/Books.",
            "may read files in ~/Books/old.",
            "may read files in ~/Bookshelf.",
        ),
        ("must never do anything with files in ~/Books.", "may read files in ~/Books.", "may read files in ~."),
        ("must never send email where `cc` is given.", "may send email where `cc` is ann.", "may send email."),
        ("must never send email to anyone.", "may send email to contacts.", "must never send email to ann."),
    ],
)
def test_what_lies_wholly_under_a_prohibition_is_an_error(never: str, dead: str, alive: str) -> None:
    mail = tool("send_email", "Send an email.", "to:list body", "cc:list")
    servers = {"mail": [mail], "fs": [tool("read_file", "Read a file.", "path")]}
    problems = compiled(f"{never}\n{dead}", servers).compiled.problems
    assert [each.problem for each in problems] == [f"can never hold: {never}"]
    assert not compiled(f"{never}\n{alive}", servers).compiled.problems


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_FOUR = ["/a", "/b", "/c", "/d"]


def _listed(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "properties": properties, "required": [*properties]}}


@pytest.mark.parametrize(
    ("counted", "properties", "call", "expected"),
    [
        ("attendees", {"attendees": _listed(email=_TEXT)}, {"attendees": [{"email": "a@x.example, b@x.example, c@x.example, d@x.example"}]}, "deny"),
        ("recipients", {"recipients": _listed(address=_TEXT)}, {"recipients": [{"address": "a@x.example, b@x.example, c@x.example, d@x.example"}]}, "deny"),
        ("files", {"files": _listed(path=_TEXT)}, {"files": [{"path": each} for each in _FOUR]}, "deny"),
        ("files", {"files": _listed(path=_TEXT)}, {"files": [{"path": each} for each in _FOUR[:3]]}, "allow"),
        ("files", {"files": _listed(path={"type": ["string", "array"]})}, {"files": [{"path": _FOUR}]}, "deny"),
        ("files", {"files": _listed(dir=_TEXT, paths=_TEXTS)}, {"files": [{"dir": "/x", "paths": _FOUR}]}, "deny"),
        ("files", {"files": _listed(path={})}, {"files": [{"path": _FOUR}]}, "escalate"),
        ("pages", {"updates": _listed(page_ids={})}, {"updates": [{"page_ids": _FOUR}]}, "escalate"),
        ("pages", {"updates": _listed(pages={"type": "object"})}, {"updates": [{"pages": {"a": 1, "b": 2}}]}, "escalate"),
        ("pages", {"documents": _listed(id=_TEXT, pages=_TEXT)}, {"documents": [{"id": "x", "pages": "1-500"}]}, "escalate"),
        ("emails", {"emails": _listed(ids=_TEXTS, folder=_TEXT)}, {"emails": [{"ids": _FOUR, "folder": "x"}]}, "deny"),
        ("pages", {"pages": _listed(title=_TEXT), "page_json": _TEXT}, {"page_json": "many"}, "escalate"),
        ("pages", {"pages": _listed(title=_TEXT), "page": {"type": "object", "properties": {"title": _TEXT}}}, {"page": {"title": "x"}}, "escalate"),
        ("pages", {"pages": _listed(title=_TEXT, tags=_TEXTS)}, {"pages": [{"title": "x", "tags": _FOUR}]}, "allow"),
        ("pages", {"pages": {"type": "array", "items": {"type": "object"}}}, {"pages": [{"a": 1, "b": 2, "c": 3, "d": 4}]}, "allow"),
        ("pages", {"pages": {"type": "array", "items": {"type": "object"}}}, {"pages": [{}, {}, {}, {}]}, "deny"),
    ],
)  # fmt: skip
def test_one_element_may_hold_several(counted: str, properties: Any, call: Any, expected: str) -> None:
    made = {"s": [tool("update_things", "Update things.", "", **properties)]}
    to = " to anyone" if counted in ("attendees", "recipients") else ""
    lines = f"may use s/update_things{to}.\nmust never use s/update_things more than 3 {counted} at once."
    assert policy(lines, made).decide("s/update_things", **call) == expected


def test_a_name_that_begins_with_its_sign_is_nobody_at_a_domain() -> None:
    message = {"m": [tool("send_message", "Send a message.", "to:list body")]}
    for lines in (
        "may send messages to ann or anyone at acme.example or anyone at *.b.example.",
        "may send messages to anyone. must never send messages to anyone outside ann, acme.example or *.b.example.",
        "may send messages to anyone. must never send messages, except to ann or anyone at acme.example.",
    ):
        found = policy("\n".join(f"{line}." for line in lines.rstrip(".").split(". ")), message)
        for to in ("@acme.example", "@a.b.example", "@eve/x y.b.example", "@evil.example?cc=x.b.example"):
            assert found.decide("m/send_message", to=[to], body="x") == "deny"
        assert found.decide("m/send_message", to=["eve@acme.example", "ann@books.example"], body="x") == "allow"


def test_an_ask_that_holds_where_nothing_is_known_lies_under_no_prohibition_of_what_is_given() -> None:
    push = {"g": [tool("push", "Push.", "", "branch")]}
    found = policy(
        "may use g/push.\nmust never use g/push where `branch` is given.\n"
        "must ask before using g/push where `branch` is main or left out.",
        push,
    )
    assert found.decide("g/push") == "escalate"


def test_a_tool_that_is_named_saves_its_result_where_a_statement_says_or_in_the_sandbox() -> None:
    fetch = {"s3": [tool("get_object", "Download an object.", "bucket key", "outputPath size:number")]}
    sandbox = f"{KNOWN.sandbox}/x"
    found = policy('may use s3/get_object where `bucket` is "photos".', fetch)

    def got(**more: Any) -> str:
        return found.decide("s3/get_object", key="a", **{"bucket": "photos", **more})

    assert [got(), got(size=3), got(outputPath=sandbox)] == ["allow"] * 3
    assert [got(outputPath=f"{HOME}/.zshrc"), got(outputPath=sandbox, bucket="other")] == ["deny"] * 2
    also = 'may use s3/get_object where `bucket` is "photos" and `outputPath` is in ~/Exports.'
    found = policy(f'may use s3/get_object where `bucket` is "photos".\n{also}', fetch)
    assert [got(), got(outputPath=f"{HOME}/Exports/a"), got(outputPath=sandbox)] == ["allow"] * 3
    assert got(outputPath=f"{HOME}/Exports/../.zshrc") == "deny"
    anywhere = policy("may use s3/get_object where `outputPath` is given.", fetch)
    assert anywhere.decide("s3/get_object", bucket="b", key="a", outputPath=f"{HOME}/a") == "allow"
    plain = policy("may use s3/get_object.", fetch)
    assert plain.decide("s3/get_object", bucket="b", key="a") == "allow"
    assert plain.decide("s3/get_object", bucket="b", key="a", outputPath=f"{HOME}/a") == "deny"
    assert "(writes; only if named)" in tool_text(catalogue_of(annotated(fetch)))
    assert any("without outputPath" in note for note in plain.compiled.meanings[0].notes)


def test_a_list_of_objects_is_no_number() -> None:
    entries = {"type": "array", "items": {"type": "object"}}
    voucher = {"t": [tool("create_voucher", "Create a voucher.", "kind", entries=entries)]}
    for line in (
        "may use t/create_voucher where `entries` is at most 25000.",
        "must never use t/create_voucher where `entries` is given and is more than 5.",
    ):
        assert "list of objects" in compiled(line, voucher).compiled.problems[0].problem
    found = policy("may use t/create_voucher where `entries.amount` is at most 25000.", voucher)
    assert found.decide("t/create_voucher", kind="x", entries=[{"amount": 40_000}]) == "deny"
    assert found.decide("t/create_voucher", kind="x", entries=[{"amount": 20_000}]) == "allow"


def test_a_directory_in_the_place_of_a_file_is_an_error_in_what_permits() -> None:
    video = {
        "v": [
            tool("probe", "Show the properties of a video file.", "input"),
            tool("list_directory", "List a directory.", "path"),
        ]
    }
    (problem,) = compiled("may use v/probe where `input` is Projects.", video).compiled.problems
    assert problem.help.startswith('write `input` is in "Projects"')
    for line in (
        "may use v/probe where `input` is in Projects.",
        f'may use v/probe where `input` is "{HOME}/Projects".',
        "may use v/list_directory where `path` is Projects.",
        "must never use v/probe where `input` is Projects.",
    ):
        assert not compiled(line, video).compiled.problems


def test_what_may_be_a_flag_or_a_file_is_saved_nowhere() -> None:
    page = {
        "b": [
            tool(
                "get_page_text",
                "Get the text of a page.",
                "",
                saveTo={"type": ["boolean", "string"], "description": "Save to a file."},
            )
        ]
    }
    found = policy("may use b/get_page_text.", page)
    assert found.decide("b/get_page_text") == "allow"
    assert found.decide("b/get_page_text", saveTo=f"{HOME}/.zshrc") == "deny"


_EXPORTED = {"s3": [tool("get_object", "Download an object.", "bucket key", "outputPath size:number")]}


@pytest.mark.parametrize(
    "line",
    [
        "may use s3/get_object in ~/Exports.",
        "may use s3/get_object only in ~/Exports.",
        "may do anything with anything of s3 in ~/Exports.",
        "may use s3/get_object where `outputPath` is in ~/Exports.",
    ],
)
def test_what_a_permission_says_of_where_results_are_saved_holds(line: str) -> None:
    found = policy(line, _EXPORTED)
    assert found.decide("s3/get_object", bucket="b", key="k", outputPath=f"{HOME}/Exports/x") == "allow"
    assert found.decide("s3/get_object", bucket="b", key="k", outputPath=f"{HOME}/x") == "deny"


def test_the_sandbox_opens_nothing_that_a_permission_closes() -> None:
    found = policy("may use s3/get_object giving only `bucket`, `key`.", _EXPORTED)
    assert found.decide("s3/get_object", bucket="b", key="k") == "allow"
    assert found.decide("s3/get_object", bucket="b", key="k", outputPath=f"{KNOWN.sandbox}/x") == "deny"
    path = {"type": "string", "default": f"{HOME}/dl"}
    shot = {"b": [tool("take_screenshot", "Take a screenshot.", "tab", "", outputPath=path)]}
    assert policy("may use b/take_screenshot.", shot).decide("b/take_screenshot", tab="1") == "allow"


_PEOPLE = {"type": "array", "items": {"type": "object"}}


@pytest.mark.parametrize(
    ("counted", "properties", "call", "expected"),
    [
        ("recipients", {"recipients": _TEXTS, "bcc": _TEXTS}, {"recipients": ["a@x.example"], "bcc": [f"{n}@x.example" for n in range(4)]}, "deny"),
        ("attendees", {"attendees": _PEOPLE}, {"attendees": [{"email": ", ".join(f"{n}@x.example" for n in range(9))}]}, "deny"),
        ("files", {"files": {"type": "array", "items": {"type": "object"}}}, {"files": [{"paths": _FOUR}]}, "escalate"),
        ("pages", {"pages": {"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "object"}]}}, {"pages": {"a": 1, "b": 2, "c": 3, "d": 4}}, "escalate"),
        ("pages", {"pages": _listed(title=_TEXT), "page_map": {"type": "object"}}, {"page_map": {"a": 1, "b": 2}}, "escalate"),
        ("pages", {"pages": {"type": "array"}}, {"pages": [{}, {}, {}, {}]}, "deny"),
        ("pages", {"pages": {"type": "array"}}, {"pages": [{"title": "x", "body": "y"}] * 3}, "allow"),
    ],
)  # fmt: skip
def test_people_in_copy_and_objects_without_a_schema_are_counted(
    counted: str, properties: Any, call: Any, expected: str
) -> None:
    made = {"s": [tool("send_things", "Send things by email.", "", **properties)]}
    lines = f"may use s/send_things to anyone.\nmust never use s/send_things more than 3 {counted} at once."
    assert policy(lines, made).decide("s/send_things", **call) == expected


def test_a_command_that_is_not_another_is_one_without_shell_syntax() -> None:
    shell = {"s": [tool("run", "Run a shell command.", "command")]}
    found = policy('may use s/run where `command` is not "rm".', shell)
    assert found.decide("s/run", command="ls") == "allow"
    for command in ("rm", "ls && curl evil.example", "ls; rm", "$(rm)"):
        assert found.decide("s/run", command=command) == "deny"


_BOOK = tool("write_range", "Write values into a range of a sheet of a workbook file.", "path sheet", "", values={"type": "array", "items": {"type": "string"}})  # fmt: skip
_FORM = tool("export_form", "Export a form as a spreadsheet file on disk.", "form_uid output_path")
_CONVERT = tool("convert_image", "Convert a local image file into another file.", "input_path output_path", "format")
_SUBMIT = tool("upload_invoice", "Upload an invoice file to the bank.", "file_path account_id")
BOX = f"{HOME}/.ironcurtain/sandbox"


@pytest.mark.parametrize(
    ("statement", "made", "arguments", "expected"),
    [
        ("may use s/write_range in Projects.", _BOOK, {"path": f"{BOX}/x.xlsx", "sheet": "A"}, "allow"),
        ("may use s/write_range in Projects.", _BOOK, {"path": f"{HOME}/Projects/x.xlsx", "sheet": "A"}, "allow"),
        ("may use s/write_range in Projects.", _BOOK, {"path": f"{HOME}/Other/x.xlsx", "sheet": "A"}, "deny"),
        ("may use s/export_form where `output_path` is in Projects.", _FORM, {"form_uid": "f1", "output_path": f"{BOX}/x"}, "allow"),
        ("may use s/export_form where `output_path` is in Projects.", _FORM, {"form_uid": "f1", "output_path": f"{HOME}/x"}, "deny"),
        ("may use s/export_form where `output_path` is in Projects and `form_uid` is f1.", _FORM, {"form_uid": "f2", "output_path": f"{BOX}/x"}, "deny"),
        ("may use s/convert_image where `input_path` is in Projects and `output_path` is in Projects.", _CONVERT,
         {"input_path": f"{HOME}/Projects/a.png", "output_path": f"{BOX}/a.jpg"}, "allow"),
        ("may use s/convert_image where `input_path` is in Projects and `output_path` is in Projects.", _CONVERT,
         {"input_path": f"{HOME}/Medical/a.png", "output_path": f"{BOX}/a.jpg"}, "deny"),
        ("may use s/upload_invoice in Projects.", _SUBMIT, {"file_path": f"{BOX}/a.pdf", "account_id": "1"}, "deny"),
        ("may use s/upload_invoice in Projects.", _SUBMIT, {"file_path": f"{HOME}/Projects/a.pdf", "account_id": "1"}, "allow"),
        ("may use s/export_form only where `output_path` is in Projects.", _FORM, {"form_uid": "f1", "output_path": f"{BOX}/x"}, "allow"),
        ("may use s/export_form where `output_path` is in Projects.\nmust never use s/export_form where `form_uid` is f1.", _FORM,
         {"form_uid": "f1", "output_path": f"{BOX}/x"}, "deny"),
        ("may use s/export_form.\nmust never use s/export_form, except where `output_path` is in Projects.", _FORM,
         {"form_uid": "f1", "output_path": f"{BOX}/x"}, "deny"),
    ],
)  # fmt: skip
def test_a_permission_in_a_directory_holds_in_the_sandbox(
    statement: str, made: Any, arguments: Any, expected: str
) -> None:
    assert policy(statement, {"s": [made]}).decide(f"s/{made['name']}", **arguments) == expected


_PAGE = tool("create_page", "Create a wiki page.", "path content")
_READ_PAGE = tool("get_page", "Get a wiki page.", "path")


@pytest.mark.parametrize(
    ("statement", "path", "expected"),
    [
        ("may use wiki/create_page where `path` is under methods.", "methods/a", "allow"),
        ("may use wiki/create_page where `path` is under methods.", "methods", "allow"),
        ("may use wiki/create_page where `path` is under methods.", "methods-old/a", "deny"),
        ("may use wiki/create_page where `path` is in notebook.", "field-notes/a", "allow"),
        ("may use wiki/create_page where `path` is in notebook.", "x/field-notes/a", "deny"),
        ('may use wiki/create_page where `path` starts with "methods/".', "methods/a", "allow"),
        ('may use wiki/create_page where `path` starts with "methods/".', "staff/a", "deny"),
        ("may use wiki/create_page.\nmust never use wiki/create_page where `path` is under staff.", "Staff/a", "deny"),
        ("may use wiki/create_page.\nmust never use wiki/create_page where `path` is under staff.", "x/staff/a", "deny"),
        ("may use wiki/create_page.\nmust never use wiki/create_page where `path` is under staff.", "staffing/a", "allow"),
        ("may use wiki/create_page.\nmust never use wiki/create_page where `path` is in notebook.", "field-notes/a", "deny"),
        ("may use wiki/create_page, except where `path` is under staff.", "staff/a", "deny"),
        ("may use wiki/create_page, except where `path` is in notebook.", "field-notes/a", "deny"),
        ("may use wiki/create_page, except where `path` is in notebook.", "a/b", "allow"),
        ("may use wiki/create_page in Projects.", "methods/a", "deny"),
        ("may use wiki/create_page in Projects.", f"{HOME}/Projects/a", "allow"),
        ("may use wiki/create_page.\nmust never use wiki/create_page in Medical.", "methods/a", "deny"),
    ],
)  # fmt: skip
def test_a_name_in_a_store_is_compared_as_it_stands(statement: str, path: str, expected: str) -> None:
    known = replace(KNOWN, names={**KNOWN.names, "staff": ("staff",), "notebook": ("field-notes",)})
    made = policy(statement, {"wiki": [_PAGE, _READ_PAGE]}, known)
    assert made.decide("wiki/create_page", path=path, content="x") == expected


@pytest.mark.parametrize(
    ("never", "arguments", "expected"),
    [
        ("must never use wiki/compare_pages where `path` is in Medical.", {"path": "Medical/a", "other_path": "b"}, "deny"),
        ("must never use wiki/compare_pages where `path` is in Medical.", {"path": f"{HOME}/a", "other_path": "b"}, "allow"),
        ("must ask before using wiki/compare_pages where `path` is in Medical.", {"path": "Medical/a", "other_path": "b"}, "escalate"),
        ("must never use wiki/compare_pages where `path` is ~/Medical/a.md.", {"path": "Medical/a.md", "other_path": "b"}, "deny"),
        ("must never use wiki/compare_pages where `path` is ~/Medical/a.md.", {"path": "a.md", "other_path": "b"}, "deny"),
        ("must never use wiki/compare_pages where `path` is ~/Medical/a.md.", {"path": "b/a.md", "other_path": "b"}, "allow"),
        ('must never use wiki/compare_pages where `path` starts with "~/Medical/".', {"path": "Medical/a.md", "other_path": "b"}, "deny"),
    ],
)  # fmt: skip
def test_a_prohibition_about_a_directory_holds_for_a_name(never: str, arguments: Any, expected: str) -> None:
    pages = tool("compare_pages", "Compare two wiki pages.", "path other_path")
    made = policy(f"may use wiki/compare_pages.\n{never}", {"wiki": [pages, _READ_PAGE]})
    assert made.decide("wiki/compare_pages", **arguments) == expected


def test_a_permission_outside_a_directory_opens_nothing_in_it() -> None:
    made = policy("may use s/write_range outside Medical.", {"s": [_BOOK]})
    assert made.decide("s/write_range", path=f"{HOME}/Medical/x.xlsx", sheet="A") == "deny"
    assert made.decide("s/write_range", path=f"{HOME}/Projects/x.xlsx", sheet="A") == "allow"
    converted = policy("may use s/convert_image where `input_path` is in Projects.", {"s": [_CONVERT]})
    assert converted.decide("s/convert_image", input_path=f"{BOX}/q", output_path=f"{HOME}/.zshrc") == "deny"
