"""Attacks on what statements mean, each run through compiler and engine. The number is the attack's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ironcurtain.compiler.setup import NamedList
from ironcurtain.language.parsing import StatementError, parse
from ironcurtain.language.statement import Doing, Mood, Name, Place, Statement
from ironcurtain.language.writing import write
from tests.language.support import HOME, KNOWN, compiled, policy, tool

CALENDAR = {
    "cal": [
        tool("createCalendarEvent", "Create a new calendar event.", "title", "calendarId attendees:list"),
        tool("listEvents", "List the events of a calendar.", "", "calendarId"),
    ]
}
DRIVE = {
    "drive": [
        tool(
            "addPermission",
            "Share a file by adding a permission to it.",
            "fileId",
            "emailAddress",
            type={"type": "string", "enum": ["user", "group", "domain", "anyone"], "description": "Who gets access"},
        ),
        tool("shareFile", "Share a file with a person.", "fileId emailAddress"),
    ]
}
MAIL = {
    "mail": [
        tool("send_email", "Send an email.", "to:list body", "cc:list attachments:list" ),
        tool("read_email", "Read one email of the inbox.", "id"),
        tool("trash_email", "Move an email to the trash.", "id"),
        tool("delete_email", "Delete an email permanently.", "id"),
        tool("move_emails", "Move emails to another folder.", "ids:list folder"),
        tool("email_command", "Run a raw IMAP command on the mailbox.", "command"),
    ]
}  # fmt: skip
GIT = {
    "git": [
        tool("git_reset", "Reset the index and working tree of a repository.", "repo_path", "mode"),
        tool("git_status", "Show the status of a repository.", "repo_path"),
        tool("git_push", "Push commits to a remote repository.", "repo_path", "remote branch"),
    ]
}
SLACK = {
    "slack": [
        tool("post_message", "Post a message to a channel.", "channel text"),
        tool("read_messages", "Read the messages of a channel.", "channel"),
        tool("search_messages", "Search all messages of the workspace.", "query"),
    ]
}
KUBE = {
    "kube": [
        tool(
            "kubectl_delete",
            "Delete Kubernetes resources.",
            "resourceType",
            "name namespace manifest context allNamespaces:bool",
        ),
        tool("kubectl_get", "Get Kubernetes resources.", "resourceType", "namespace"),
    ]
}
FILES = {
    "files": [
        tool("read_file", "Read a file.", "path"),
        tool("write_file", "Write content to a file, creating or overwriting it.", "path content"),
    ]
}
REMOTE = {"ssh": [tool("read_remote_log", "Read a log file of a remote machine.", "remote_path")]}
HUB = {
    "github": [
        tool("create_issue", "Create an issue in a repository.", "owner repo title"),
        tool("create_repository", "Create a new repository.", "name", "private:bool"),
        tool("delete_repository", "Delete a repository.", "owner repo"),
        tool("get_issue", "Get an issue.", "owner repo number"),
    ]
}


def test_1_a_never_in_a_place_holds_where_the_place_is_left_out() -> None:
    made = policy('may create events.\nmust never create events in "Work".', CALENDAR)
    assert made.decide("cal/createCalendarEvent", title="x") == "deny"
    assert made.decide("cal/createCalendarEvent", title="x", calendarId="work") == "deny"
    assert made.decide("cal/createCalendarEvent", title="x", calendarId="home") == "allow"


def test_2_and_3_a_share_with_everybody_is_outside_of_every_group() -> None:
    made = policy("may share files.\nmust never share files with anyone outside books.example.", DRIVE)
    assert made.decide("drive/addPermission", fileId="f", type="anyone") == "deny"
    assert made.decide("drive/addPermission", fileId="f", type="anyone", emailAddress="ann@books.example") == "deny"
    assert made.decide("drive/shareFile", fileId="f", emailAddress="eve@x.example") == "deny"
    assert made.decide("drive/shareFile", fileId="f", emailAddress="ann@books.example") == "allow"


def test_4_an_ask_covers_what_is_carried_beside_the_people_it_asks_about() -> None:
    made = policy("must ask before sharing files with anyone at books.example.", DRIVE)
    assert made.decide("drive/shareFile", fileId="f", emailAddress="ann@books.example") == "escalate"
    assert made.decide("drive/shareFile", fileId="f", emailAddress="eve@x.example") == "deny"


def test_5_and_6_a_tool_that_can_do_anything_is_never_allowed_by_a_noun() -> None:
    made = policy("may do anything with email.\nmust never delete email.", MAIL)
    assert made.decide("mail/email_command", command="UID STORE 1 +FLAGS (Deleted)") == "deny"
    assert made.decide("mail/delete_email", id="1") == "deny"
    assert made.decide("mail/read_email", id="1") == "allow"
    assert policy("may send email.", MAIL).decide("mail/email_command", command="NOOP") == "deny"


def test_7_a_tool_that_reads_and_replaces_is_no_reader() -> None:
    office = {
        "word": [tool("search_and_replace", "Search for text in a document and replace it.", "filename find replace")]
    }
    assert "every such tool does more" in compiled("may read files.", office).problem()


def test_8_sharing_and_paying_are_known_by_more_than_labels() -> None:
    tools = {
        "iam": [tool("attach_user_policy", "Attach a policy to a user.", "user policy")],
        "bank": [tool("create-bank-transaction", "Create a bank transaction.", "account amount:number")],
    }
    made = compiled("may use bank/create-bank-transaction.\nmust never pay anything.", tools)
    assert made.decide("bank/create-bank-transaction", account="a", amount=5) == "deny"
    made = compiled("may use iam/attach_user_policy.\nmust never share anything.", tools)
    assert made.decide("iam/attach_user_policy", user="u", policy="p") == "deny"


def test_9_and_10_a_verb_binds_to_the_tools_that_bear_it_and_one_that_none_bears_is_an_error() -> None:
    made = policy("may do anything with email.\nmust never move email.", MAIL)
    assert made.decide("mail/move_emails", ids=["1"], folder="Trash") == "deny"
    made = policy("may use git/git_reset or git/git_status.\nmust never reset repositories.", GIT)
    assert made.decide("git/git_reset", repo_path=f"{HOME}/Projects", mode="hard") == "deny"
    assert made.decide("git/git_status", repo_path=f"{HOME}/Projects") == "allow"
    assert "no tool is called defenestrate" in compiled("must never defenestrate repositories.", GIT).problem()
    assert "use git/git_reset" in compiled("may reset repositories.", GIT).problem()


def test_11_what_else_a_tool_may_be_given_is_closed_or_listed() -> None:
    open_ = policy("may use kubectl_delete where `resourceType` is pod and `namespace` is dev.", KUBE)
    wide = {"resourceType": "pod", "namespace": "dev", "allNamespaces": True}
    assert open_.decide("kube/kubectl_delete", **wide) == "deny"
    assert "may be given any" in " ".join(open_.compiled.meanings[0].notes)
    made = policy(
        "may use kubectl_delete where `resourceType` is pod and `namespace` is dev giving only `resourceType`, `name`, `namespace`.",
        KUBE,
    )
    assert made.decide("kube/kubectl_delete", resourceType="pod", namespace="dev", name="x") == "allow"
    for more in ({"allNamespaces": True}, {"manifest": "kind: Node"}, {"context": "prod"}):
        assert made.decide("kube/kubectl_delete", resourceType="pod", namespace="dev", **more) == "deny"


def test_12_an_ask_compares_folded_and_says_what_it_means_by_left_out() -> None:
    line = "may use git/git_push.\nmust ask before using git/git_push where `branch` {}."
    assert "or left out" in compiled(line.format("is main"), GIT).problem(1)
    made = policy(line.format("contains main or left out"), GIT)
    for branch in ("main", "Main", "refs/heads/main", "HEAD:main", "\uff4dain"):
        assert made.decide("git/git_push", repo_path="/home/maya/x", branch=branch) == "escalate", branch
    assert made.decide("git/git_push", repo_path="/home/maya/x", remote="origin") == "escalate"
    assert made.decide("git/git_push", repo_path="/home/maya/x", remote="origin", branch="topic") == "allow"


@pytest.mark.parametrize("channel", ["#general", "#General", "general", "\uff03general"])
def test_13_a_never_compares_names_folded(channel: str) -> None:
    made = policy("may send messages.\nmust never post in #general.", SLACK)
    assert made.decide("slack/post_message", channel=channel, text="x") == "deny"
    assert made.decide("slack/post_message", channel="#random", text="x") == "allow"


def test_14_below_a_directory_by_name_needs_is_under() -> None:
    made = policy("may use ssh/read_remote_log where `remote_path` is under /var/log.", REMOTE)
    assert made.decide("ssh/read_remote_log", remote_path="/var/log/syslog") == "allow"
    assert made.decide("ssh/read_remote_log", remote_path="/var/log/../../etc/shadow") == "deny"
    started = compiled("may use ssh/read_remote_log where `remote_path` starts with /var/log.", REMOTE)
    assert "is under" in started.problem()


def test_15_a_permission_with_an_exception_does_not_pick_a_tool_that_cannot_tell() -> None:
    made = policy("may read messages, except in #exec.", SLACK)
    assert made.decide("slack/search_messages", query="salary") == "deny"
    assert made.decide("slack/read_messages", channel="#exec") == "deny"
    assert made.decide("slack/read_messages", channel="#random") == "allow"


def test_16_no_negation_inside_an_exception() -> None:
    assert "outside" in compiled("may share files, except with anyone outside contacts.", DRIVE).problem()


def test_17_otherwise_asks_only_where_no_may_permits() -> None:
    made = policy(
        "may send email to family.\nmust ask otherwise before sending email.\nmust never send email to customers.", MAIL
    )
    assert made.decide("mail/send_email", to=["bo@f.example"], body="x") == "allow"
    assert made.decide("mail/send_email", to=["bob@x.example"], body="x") == "escalate"
    assert made.decide("mail/send_email", to=["jan@c.example"], body="x") == "deny"


def test_18_exceptions_by_act_and_dead_statements() -> None:
    dead = compiled("must never create anything of github.\nmust ask before using github/create_repository.", HUB)
    assert "can never hold" in dead.problem(1)
    made = policy(
        "must never create anything of github, except using github/create_repository.\n"
        "must ask before using github/create_repository.",
        HUB,
    )
    assert made.decide("github/create_repository", name="x", private=True) == "escalate"
    assert made.decide("github/create_issue", owner="a", repo="b", title="x") == "deny"


def test_19_an_exception_grants_nothing() -> None:
    line = "must never delete resources, except where `namespace` is dev."
    assert policy(line, KUBE).decide("kube/kubectl_delete", resourceType="pod", namespace="dev") == "deny"
    made = policy(f"{line}\nmay use kubectl_delete where `namespace` is dev.", KUBE)
    assert made.decide("kube/kubectl_delete", resourceType="pod", namespace="dev") == "allow"
    assert made.decide("kube/kubectl_delete", resourceType="pod", namespace="prod") == "deny"


def test_20_two_only_on_one_act_are_an_error() -> None:
    made = compiled("may read files only in ~/A.\nmay read files only in ~/B.", FILES)
    assert "only" in made.problem(0)
    assert "only" in made.problem(1)


def test_21_only_stands_before_the_limit_that_it_closes() -> None:
    with pytest.raises(StatementError, match="only"):
        parse("may only read files in ~/Medical.")
    made = policy("may read files only in ~/Medical.", FILES)
    assert made.decide("files/read_file", path="~/Medical/x") == "allow"
    assert made.decide("files/read_file", path="~/Docs/x") == "deny"
    assert made.decide("files/write_file", path="~/Medical/x", content="x") == "deny"


def test_22_a_count_asks_and_permits_nothing() -> None:
    made = policy("may send email to everyone.\nmust ask before sending email to more than 10 people.", MAIL)
    assert made.decide("mail/send_email", to=[f"p{n}@x.example" for n in range(11)], body="x") == "escalate"
    assert made.decide("mail/send_email", to=[f"p{n}@x.example" for n in range(10)], body="x") == "allow"
    assert made.decide("mail/send_email", to=[f"s{n}@y.example" for n in range(11)], body="x") == "deny"


def test_23_counts_add_up_all_people_of_a_call() -> None:
    made = policy("may send email to everyone.\nmust never send email to more than 10 people.", MAIL)
    six, more = [f"p{n}@x.example" for n in range(6)], [f"p{n}@x.example" for n in range(6, 12)]
    assert made.decide("mail/send_email", to=six, cc=more, body="x") == "deny"
    assert made.decide("mail/send_email", to=six, cc=more[:4], body="x") == "allow"


def test_24_an_empty_list_in_a_never_is_an_error() -> None:
    assert "empty" in compiled("must never send email to nobody.", MAIL).problem()


def test_25_a_permission_for_a_server_is_a_list_of_tools() -> None:
    made = policy("may do anything with github.\nmust never delete repositories.", HUB)
    assert made.decide("github/create_issue", owner="a", repo="b", title="x") == "allow"
    assert made.decide("github/delete_repository", owner="a", repo="b") == "deny"
    assert all(rule["if"]["tool"] and "*" not in rule["if"]["tool"] for rule in made.compiled.rules)


def test_26_a_tool_by_name_is_one_of_its_server() -> None:
    made = policy("may use files/read_file.", FILES)
    assert all(rule["if"]["server"] == ["files"] for rule in made.compiled.rules)


def test_27_names_are_quoted_and_a_quoted_star_is_none() -> None:
    hostile = Statement(
        Mood.MAY, Doing(acts=("send",)), (Place((Name("x. may do anything with github", quoted=True),)),)
    )
    assert parse(write(hostile)) == hostile
    starred = Statement(Mood.MAY, Doing(tools=(Name("github/*", quoted=True),)))
    assert parse(write(starred)) == starred
    assert "no tool" in compiled(write(starred), HUB).problem()


def test_28_an_unknown_bare_word_is_an_error() -> None:
    found = compiled("must never send email to boss.\nmust never send email to contact.", MAIL)
    assert "boss" in found.problem(0)
    assert "did you mean contacts?" in found.problem(1)


def test_29_alternatives_of_one_limit_are_merged() -> None:
    made = policy("may send email.\nmust never send email, except to ann, except to customers.", MAIL)
    assert made.decide("mail/send_email", to=["ann@books.example", "jan@c.example"], body="x") == "allow"
    assert made.decide("mail/send_email", to=["ann@books.example", "eve@x.example"], body="x") == "deny"


def test_30_no_content_in_a_permission_or_an_exception() -> None:
    found = compiled(
        'must ask before sending email, except whose text might be read as "thanks".\n'
        'may send email whose text might be read as "thanks".',
        MAIL,
    )
    assert "content" in found.problem(0)
    assert "permission" in found.problem(1)


def test_31_no_subject() -> None:
    with pytest.raises(StatementError):
        parse("the build agent may push.")


def test_32_outside_a_directory_does_not_speak_of_the_sandbox() -> None:
    made = policy("must never read files outside ~/Drafts.\nmay read files in ~/Drafts.", FILES)
    assert made.decide("files/read_file", path=f"{KNOWN.sandbox}/x") == "allow"
    assert made.decide("files/read_file", path="~/Drafts/x") == "allow"
    assert made.decide("files/read_file", path="~/Docs/x") == "deny"


def test_only_the_commands_that_are_named_may_be_run() -> None:
    shell = {"shell": [tool("run_command", "Run a shell command.", "command")]}
    made = policy("may use shell/run_command where `command` is ls or find or git.", shell)
    assert made.decide("shell/run_command", command="ls") == "allow"
    assert made.decide("shell/run_command", command="rm -rf /") == "deny"
    assert made.decide("shell/run_command", command="ls; rm -rf /") == "deny"
    assert "may use shell/run_command" in compiled("may run commands.", shell).problem()


def test_adding_a_prohibition_does_not_turn_a_denial_into_a_question() -> None:
    tools = {**FILES, **GIT}
    line = "may create or change files only in ~/Documents/drafts."
    for lines in (line, f"{line}\nmust never push."):
        made = policy(lines, tools)
        assert made.decide("files/write_file", path="~/elsewhere/x", content="x") == "deny"
        assert made.decide("files/write_file", path="~/Documents/drafts/x", content="x") == "allow"


# --- Attacks by a tester who had only read the page on the language. ---


def test_an_exception_by_act_lifts_its_modes_and_no_flag() -> None:
    manage = tool(
        "manage_email", "Manage emails: list, trash or delete them.", "action id",
        action={"type": "string", "enum": ["list", "trash", "delete"]},
    )  # fmt: skip
    flagged = tool("trash_email", "Move an email to the trash.", "id", "delete_forever:bool")
    made = policy(
        "may do anything with email.\nmust never delete anything, except trashing email.", {"m": [manage, flagged]}
    )
    assert made.decide("m/manage_email", action="delete", id="1") == "deny"
    assert made.decide("m/manage_email", action="trash", id="1") == "allow"
    assert made.decide("m/trash_email", id="1", delete_forever=True) == "deny"
    assert made.decide("m/trash_email", id="1") == "allow"


@pytest.mark.parametrize("channel", ["#team", "team", "C1", "Team"])
def test_a_never_holds_for_the_name_and_for_what_it_stands_for(channel: str) -> None:
    made = policy("may send messages.\nmust never send messages in #team.", SLACK)
    assert made.decide("slack/post_message", channel=channel, text="x") == "deny"


@pytest.mark.parametrize(
    "repository", ["acme/app", "acme/app.git", "https://github.com/acme/app", "git@github.com:acme/app"]
)
def test_a_never_on_a_repository_holds_for_other_spellings(repository: str) -> None:
    hub = {"hub": [tool("create_issue", "Create an issue in a repository.", "repository title")]}
    made = policy("may create issues.\nmust never create issues in acme/app.", hub)
    assert made.decide("hub/create_issue", repository=repository, title="x") == "deny"
    assert made.decide("hub/create_issue", repository="acme/application", title="x") == "allow"


def test_a_star_stands_for_all_repositories_of_an_owner() -> None:
    made = policy("may create issues.\nmust never create issues in acme/*.", HUB)
    assert made.decide("github/create_issue", owner="acme", repo="app", title="x") == "deny"
    assert made.decide("github/create_issue", owner="other", repo="app", title="x") == "allow"


def test_a_flag_that_deletes_counts_on_a_tool_that_reads() -> None:
    mail = {"m": [tool("read_email", "Read an email.", "id", "delete_after_reading:bool"), *MAIL["mail"][3:4]]}
    made = policy("may read email.\nmust never delete anything.", mail)
    assert made.decide("m/read_email", id="1", delete_after_reading=True) == "deny"
    assert made.decide("m/read_email", id="1") == "allow"


@pytest.mark.parametrize("path", ["/home/maya/logs/../../../etc/shadow", "/home/maya/logs/./../x", "/home/maya/logsx"])
def test_a_directory_of_another_machine_is_compared_without_dot_segments(path: str) -> None:
    made = policy("may use ssh/read_remote_log where `remote_path` is in ~/logs.", REMOTE)
    assert made.decide("ssh/read_remote_log", remote_path=path) == "deny"
    assert made.decide("ssh/read_remote_log", remote_path="/home/maya/logs/x") == "allow"


def test_a_permission_for_a_place_keeps_other_places_out() -> None:
    chat = {"c": [tool("post_message", "Post a message to a channel.", "text channel", "also_channel")]}
    made = policy("may send messages only in #team.", chat)
    assert made.decide("c/post_message", text="x", channel="C1") == "allow"
    assert made.decide("c/post_message", text="x", channel="C1", also_channel="C9") == "deny"


def test_doubt_is_lifted_by_whole_commands_only() -> None:
    shell = {"sh": [tool("run_command", "Run a shell command.", "command", "args:list")], **FILES}
    plain = {"sh": [tool("run_command", "Run a shell command.", "command")], **FILES}
    line = "may use sh/run_command where `command` {}.\nmust never delete anything."
    assert (
        policy(line.format("is find"), shell).decide("sh/run_command", command="find", args=["-delete"]) == "escalate"
    )
    assert policy(line.format('starts with "git "'), plain).decide("sh/run_command", command="git clean") == "escalate"
    assert policy(line.format("is ls"), plain).decide("sh/run_command", command="ls") == "allow"


@pytest.mark.parametrize("amount", ["500", "5e2", "0500", "+900", " 900", "$900", "1,000", "10000000000000000000"])
def test_a_bound_on_a_number_in_a_text_holds_unless_it_certainly_does_not(amount: str) -> None:
    bank = {"bank": [tool("pay", "Pay an amount.", "amount")]}
    made = policy("may use bank/pay.\nmust never use bank/pay where `amount` is at least 500.", bank)
    assert made.decide("bank/pay", amount=amount) == "deny"
    assert made.decide("bank/pay", amount="499.99") == "allow"


def test_a_never_on_an_undocumented_mode_holds() -> None:
    contacts = tool(
        "contacts_tool", "Work on contacts.", "operation",
        operation={"type": "string", "description": 'one of "list", "get", "delete"'},
    )  # fmt: skip
    made = policy("may use x/contacts_tool.\nmust never delete anything.", {"x": [contacts]})
    assert made.decide("x/contacts_tool", operation="purge") == "deny"
    assert made.decide("x/contacts_tool", operation="list") == "allow"


def test_what_is_done_to_a_directory_is_done_to_what_is_in_it() -> None:
    tree = {"f": [tool("search_files", "Search the files below a directory.", "path query")]}
    made = policy("may read files in ~/Documents.\nmust never read files in ~/Documents/private.", tree)
    assert made.decide("f/search_files", path="~/Documents/private/x", query="x") == "deny"
    assert made.decide("f/search_files", path="~/Documents", query="x") == "escalate"
    assert made.decide("f/search_files", path="~/Documents/work", query="x") == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "may use files/read_file where `path` matches /(/.", "may use files/read_file where `path` matches /(?=a)b/.",
        'may read files in "/home/maya/A*".', 'may send email to anyone at "a b".', 'may send email to "a, b".',
        'may send email to "".', "may use mail/send_email where `to` is in nobody.",
    ],
)  # fmt: skip
def test_what_no_policy_could_load_is_a_problem_of_its_statement(line: str) -> None:
    found = compiled(f"{line}\nmay read email.", {**FILES, **MAIL})
    assert found.compiled.meanings[0].problem
    assert found.decide("mail/read_email", id="1") == "allow"


def test_an_escape_hides_no_character() -> None:
    with pytest.raises(StatementError, match="cannot be seen"):
        parse('may use f/p where `n` is "\\ud800".')


# --- Seen on texts that nobody had tuned to. ---


def test_an_event_without_guests_is_not_to_anybody() -> None:
    lines = """
        may create events in "personal calendar".
        may create events in "personal calendar" to family.
        must never use cal/createCalendarEvent to anyone outside family.
    """
    found = policy(lines, CALENDAR)
    event = {"title": "Dentist", "calendarId": "cal-1"}
    assert found.decide("cal/createCalendarEvent", **event) == "allow"
    assert found.decide("cal/createCalendarEvent", **event, attendees=["bo@f.example"]) == "allow"
    assert found.decide("cal/createCalendarEvent", **event, attendees=["eve@x.example"]) == "deny"
    assert found.decide("cal/createCalendarEvent", **event, attendees=["bo@f.example", "eve@x.example"]) == "deny"


def test_a_reply_goes_to_somebody_though_it_names_nobody() -> None:
    replies = {"mail": [tool("reply_to_email", "Reply to an email.", "id body", "cc:list")]}
    lines = "may use mail/reply_to_email to anyone.\nmust never use mail/reply_to_email to anyone outside contacts."
    assert policy(lines, replies).decide("mail/reply_to_email", id="m1", body="x") != "allow"


def test_a_name_to_the_letter_comes_before_one_that_is_only_alike() -> None:
    known = replace(
        KNOWN,
        lists={**KNOWN.lists, "parents": NamedList("email", ("p@x.example",))},
        names={**KNOWN.names, "#parents": ("C9",)},
    )
    found = policy("may read messages in #parents.", SLACK, known)
    assert found.decide("slack/read_messages", channel="C9") == "allow"
    mail = policy("may send email to parents.", MAIL, known)
    assert mail.decide("mail/send_email", to=["p@x.example"], body="x") == "allow"


def test_a_condition_may_go_on_about_the_same_argument() -> None:
    pay = {"bank": [tool("send_money", "Send money to an account.", "account amount:number")]}
    found = policy("may use bank/send_money where `amount` is at least 5 and is at most 25 and `account` is x.", pay)
    assert [found.decide("bank/send_money", account="x", amount=each) for each in (4, 5, 25, 26)] == [
        "deny", "allow", "allow", "deny",
    ]  # fmt: skip
    assert found.decide("bank/send_money", account="y", amount=10) == "deny"


def test_a_condition_without_a_value_on_a_statement_in_sql_is_compiled() -> None:
    query = {"db": [tool("run_query", "Run a SQL query.", "sql operation")]}
    found = compiled("may use db/run_query where `operation` is select and `sql` is given.", query)
    assert found.decide("db/run_query", sql="drop table x", operation="drop") != "allow"
