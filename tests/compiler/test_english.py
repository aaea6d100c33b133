"""Constitutions in, decisions out: what people wrote, and what sentences of every shape must come to."""

from __future__ import annotations

import json
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from evaluation.annotate import DATA
from evaluation.english import bars, score

from ironcurtain.artifacts.catalogue import read_catalogue
from ironcurtain.artifacts.policy import Surroundings, build, load_policy, read_bundle
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.compiler.english.document import sentences_of
from ironcurtain.compiler.labels import read_labels
from ironcurtain.compiler.setup import Known, NamedList
from ironcurtain.compiler.stages import QUIET
from ironcurtain.errors import Refusal
from ironcurtain.mediation.decide import decide_bytes
from tests.support import some

if TYPE_CHECKING:
    from pathlib import Path

    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.compiler.product import Product

KNOWN = Known(
    home="/home/ann",
    sandbox="/home/ann/.ironcurtain/sandbox",
    directories={"Projects": "/home/ann/Projects", "Archive": "/home/ann/Archive"},
    lists={"contacts": NamedList("email", ("bob@x.example", "eve@x.example"))},
    names={"#team": ("C01",), "#staff": ("C02",), "Work calendar": ("work-1",), "Home calendar": ("home-2",)},
)
CATALOGUES = {
    "filesystem": "npm__modelcontextprotocol_server-filesystem",
    "mail": "npm__resend-mcp",
    "slack": "npm__modelcontextprotocol_server-slack",
    "calendar": "pypi__apple-calendar-mcp",
    "fetch": "pypi__mcp-server-fetch",
    "db": "pypi__mysql-mcp-server",
    "shell": "npm__mcp-server-commands",
}


@cache
def servers() -> dict[str, list[dict[str, Any]]]:
    """Their tools, understood once."""
    named = [read_catalogue(f"{name}={DATA / 'catalogues' / file}.json") for name, file in CATALOGUES.items()]
    return {server: QUIET.annotate(server, definitions) for server, definitions in named}


def made(text: str) -> Product:
    return QUIET.compile(text, servers(), KNOWN, 1)


class Policy:
    """A constitution, compiled, verified and loaded."""

    def __init__(self, text: str, place: Path, *, verified: bool = True) -> None:
        self.product = made(text)
        self.product.write(place / "policy")
        around = Surroundings(place / "home", time.time())
        if verified:
            assert verify_directory(place / "policy", around).passed
            self._loaded: Loaded = load_policy(place / "policy", around)
        else:
            self._loaded = build(read_bundle(place / "policy"), around)

    def __call__(self, server: str, tool: str, **arguments: Any) -> str:
        call = {"serverName": server, "toolName": tool, "arguments": arguments}
        return decide_bytes(json.dumps(call).encode(), self._loaded, time.time()).decision.outcome.word

    def reads(self, path: str) -> str:
        return self("filesystem", "read_text_file", path=path)

    def writes(self, path: str) -> str:
        return self("filesystem", "write_file", path=path, content="x")

    def moves(self, source: str, target: str) -> str:
        return self("filesystem", "move_file", source=source, destination=target)

    def mails(self, *people: str, **more: Any) -> str:
        return self("mail", "send-email", to=[*people], subject="s", text="t", **{"from": "ann@x.example", **more})

    def posts(self, channel: str) -> str:
        return self("slack", "slack_post_message", channel_id=channel, text="t")

    def history(self, channel: str) -> str:
        return self("slack", "slack_get_channel_history", channel_id=channel)

    def fetches(self, url: str) -> str:
        return self("fetch", "fetch", url=url)

    def asks_db(self, query: str) -> str:
        return self("db", "execute_sql", query=query)

    def verdicts(self) -> list[str]:
        return [each.verdict for each in self.product.compiled.report]


# --- What people wrote. ---


def test_decided_calls_of_the_given_constitutions() -> None:
    people = read_labels(DATA / "annotations" / "first.jsonl")
    scores = {"given": score("given", {}), "given, labelled by people": score("given", people)}
    assert [bar for bar, holds in bars(scores) if not holds] == []
    assert all(out.share == 1 for out in scores.values())


@pytest.mark.parametrize("name", ["reworded", "plain", "next"])  # `make eval` looks at all of them
def test_other_wordings_allow_nothing_that_they_should_not(name: str) -> None:
    out = score(name, {})
    assert out.unsafe == []
    assert out.unsafe_in_meaning == []


# --- One shape of sentence after the other. ---

PERMISSIONS = [
    "It may read files in Projects.", "The assistant can read anything in my Projects folder.", "Reading files in Projects is fine.",
    "It is allowed to look at everything in Projects.", "You're welcome to open files in the Projects folder.", "Files in Projects may be read.",
    "Feel free to browse my Projects folder.", "I'm happy for it to view documents in Projects.", "Projects: read whatever you like.",
    "The agent has permission to read files in Projects.", "It does not need to ask me before reading files in Projects.",
    "Read files in Projects.", "## Files\n\n- Read files in Projects.\n", "Reading files: Projects yes, Archive no.", "Read files in Projects? Feel free.",
    "The assistant may:\n\n- read files in Projects\n", "## Fine without asking\n\n- reading files in Projects\n",
]  # fmt: skip
PROHIBITIONS = [
    "It must not read files in Archive.", "Never open anything in Archive.", "Archive is off limits.", "Keep out of the Archive folder.",
    "Nothing in Archive may be read.", "Don't touch Archive.", "Reading files in Archive is forbidden.", "It may read everything in my home folder except Archive.",
    "Under no circumstances may it open files in the Archive folder.", "## Never\n\n- reading anything in Archive\n", "Hands off the Archive folder.",
    "The Archive folder is none of its business.", "No file in Archive is to be opened.",
]  # fmt: skip
REQUESTS = [
    "Ask me before reading files in Archive.", "Reading files in Archive needs my approval.", "Don't read files in Archive without asking me.",
    "It may read files in Archive only after asking me.", "Files in Archive may only be opened with my permission.", "Check with me before opening anything in Archive.",
    "Reading anything in Archive has to be approved by me.", "Ask before reading files in Archive.", "Files in Archive need my okay each time.", "Never open files in Archive unless I said yes.", "Files in Archive? Run it by me.",
    "## Ask me first\n\n- reading files in Archive\n",
]  # fmt: skip


@pytest.mark.parametrize("text", PERMISSIONS)
def test_a_permission_allows_what_it_names_and_nothing_beside_it(text: str, tmp_path: Path) -> None:
    policy = Policy(text, tmp_path)
    assert policy.reads("~/Projects/a/b.md") == "allow"
    for path in ("~/Archive/a", "~/Projects/../Archive/a", "~/ProjectsX/a", "/etc/hosts"):
        assert policy.reads(path) == "deny"
    assert policy.writes("~/Projects/a.md") == "deny"
    assert policy.mails("bob@x.example", attachments=[{"filename": "a", "filePath": "/home/ann/Projects/a"}]) == "deny"


@pytest.mark.parametrize("text", some(PROHIBITIONS, 3))
def test_a_prohibition_beats_a_permission_whichever_comes_first(text: str, tmp_path: Path) -> None:
    around = "It may read all files in my home folder."
    apart = "\n\n## Files\n\n" if text.startswith("##") else "\n\n"
    for number, whole in enumerate((f"{around}\n\n{text}", f"{text}{apart}{around}")):
        policy = Policy(whole, tmp_path / str(number))
        assert policy.reads("~/Archive/a.md") == "deny", whole
        assert policy.reads("~/notes.md") == "allow", whole


@pytest.mark.parametrize("text", some(REQUESTS, 3))
def test_a_wish_to_be_asked_asks(text: str, tmp_path: Path) -> None:
    apart = "\n\n## Files\n\n" if text.startswith("##") else "\n\n"
    policy = Policy(f"{text}{apart}It may read files in Projects.", tmp_path)
    assert policy.reads("~/Archive/a.md") == "escalate"
    assert policy.reads("~/Projects/a.md") == "allow"
    assert policy.reads("~/other/a.md") == "deny"


def test_people_are_those_of_the_list_and_all_of_them_count(tmp_path: Path) -> None:
    policy = Policy(
        "It may send email to people in my contacts. If somebody is not in my contacts, ask me first."
        " Never send one email to more than 3 people.",
        tmp_path,
    )
    assert policy.mails("bob@x.example") == "allow"
    assert policy.mails("bob@x.example", cc=["mallory@x.example"]) == "escalate"
    assert policy.mails("bob@x.example", bcc=["a@x.example", "b@x.example", "c@x.example"]) == "deny"
    assert policy.mails("bob@x.example", attachments=[{"filename": "a", "filePath": "/home/ann/a"}]) != "allow"


def test_only_closes_the_rest(tmp_path: Path) -> None:
    policy = Policy("It may read messages. It may only post in #team.", tmp_path)
    assert policy.posts("C01") == "allow"
    assert policy.posts("C02") == "deny"
    assert policy.history("C02") == "allow"


def test_a_thread_is_in_the_channel_that_is_named(tmp_path: Path) -> None:
    policy = Policy("It can post in #team. In #staff it can only post after asking me.", tmp_path)
    reply = {"thread_ts": "1.2", "text": "t"}
    assert policy("slack", "slack_reply_to_thread", channel_id="C01", **reply) == "allow"
    assert policy("slack", "slack_reply_to_thread", channel_id="C02", **reply) == "escalate"
    assert policy("slack", "slack_reply_to_thread", channel_id="C03", **reply) == "deny"


def test_what_is_left_out_is_not_taken_for_harmless(tmp_path: Path) -> None:
    policy = Policy("It may add events to my calendars, but never to the Home calendar.", tmp_path)
    event = {"title": "t", "start_iso": "2026-01-01T00:00:00", "end_iso": "2026-01-01T01:00:00"}
    assert policy("calendar", "calendar_create_event", calendar_id="work-1", **event) == "allow"
    assert policy("calendar", "calendar_create_event", calendar_id="home-2", **event) == "deny"
    assert policy("calendar", "calendar_create_event", calendar_id="HOME-2", **event) == "deny"
    assert policy("calendar", "calendar_create_event", **event) != "allow"


def test_moving_in_a_place_is_permitted_ahead_of_a_ban_on_deleting(tmp_path: Path) -> None:
    policy = Policy("It may read, create and organise files in Projects. Never delete anything.", tmp_path)
    assert policy.moves("/home/ann/Projects/a", "/home/ann/Projects/b/a") == "allow"
    assert policy.moves("/home/ann/Projects/a", "/home/ann/Archive/a") == "deny"
    assert policy.moves("/home/ann/Archive/a", "/home/ann/Projects/a") == "deny"
    assert policy("mail", "remove-contact", id="1") == "deny"


def test_names_of_hosts_are_whole_names(tmp_path: Path) -> None:
    policy = Policy("It can fetch pages from example.org and its subdomains, but from nowhere else.", tmp_path)
    assert policy.fetches("https://docs.example.org/a") == "allow"
    assert policy.fetches("https://www.example.org/") == "allow"
    for url in (
        "https://example.org.evil.example/",
        "https://notexample.org/",
        "http://10.0.0.1/",
        "https://example.com",
    ):
        assert policy.fetches(url) == "deny"


def test_statements_that_read_do_nothing_else(tmp_path: Path) -> None:
    policy = Policy("It may run SELECT queries on the database. The table payroll is off limits.", tmp_path)
    for query in ("SELECT a FROM orders", "select `a`\nfrom orders where b > 2 and c <> 'x';"):
        assert policy.asks_db(query) == "allow", query
    for query in (
        "DELETE FROM orders", "SELECT 1; DROP TABLE orders", "SELECT a INTO OUTFILE '/tmp/x' FROM orders", "select * from PAYROLL",
        "SELECT load_file('/etc/passwd')", "WITH x AS (DELETE FROM a) SELECT 1", "SELECT * FROM `payroll`",
        "SELECT * FROM hr.payroll", "SELECT * FROM/**/payroll", "SELECT * FROM query_to_xml('select * from pay' || 'roll')", "SELECT * FROM '/etc/passwd'",
        "SELECT 1 -- ", 'SELECT * FROM U&"\\0070ayroll"',
    ):  # fmt: skip
        assert policy.asks_db(query) == "deny", query


@pytest.mark.parametrize(
    "text",
    [
        "It may query the database, but only with SELECT.",
        "You're free to query the database using SELECT statements.",
        "SELECT queries against the database are fine.",
        "It may only run SELECT queries on the database.",
    ],
)
def test_only_select(text: str, tmp_path: Path) -> None:
    policy = Policy(text, tmp_path)
    assert policy.asks_db("SELECT a FROM orders") == "allow"
    assert policy.asks_db("UPDATE orders SET a = 1") == "deny"


@pytest.mark.parametrize("text", ["Archive is for reading only.", "The files in Archive are there to be read."])
def test_what_is_for_reading_may_be_read(text: str, tmp_path: Path) -> None:
    policy = Policy(text, tmp_path)
    assert policy.reads("~/Archive/a.md") == "allow"
    assert policy.writes("~/Archive/a.md") == "deny"


def test_names_under_a_heading_of_their_sort(tmp_path: Path) -> None:
    text = "Calendars\nLook at any of them.\nWork: go ahead and add things. Home: look, don't add."
    policy = Policy(text, tmp_path)
    event = {"title": "t", "start_iso": "2026-03-02T09:00:00", "end_iso": "2026-03-02T10:00:00"}
    assert policy("calendar", "calendar_list_events", start_iso="a", end_iso="b", calendar_id="home-2") == "allow"
    assert policy("calendar", "calendar_create_event", **event, calendar_id="work-1") == "allow"
    assert policy("calendar", "calendar_create_event", **event, calendar_id="home-2") == "deny"


def test_programs_are_found_in_commands(tmp_path: Path) -> None:
    policy = Policy("Shell commands only with my approval, and only in Projects. Sudo is forbidden.", tmp_path)
    run = {"workdir": "/home/ann/Projects", "stdin": "x"}
    assert policy("shell", "run_command", command="wc -l a", **run) == "escalate"
    assert policy("shell", "run_command", command="sudo ls", **run) == "deny"
    assert policy("shell", "run_command", command="wc -l a", **{**run, "workdir": "/home/ann"}) == "deny"


def test_what_cannot_be_checked_asks(tmp_path: Path) -> None:
    policy = Policy(
        "It may post in #team. Nothing that sounds like a promise may be posted. It may send polite emails.", tmp_path
    )
    assert policy.posts("C01") == "escalate"
    assert policy.mails("bob@x.example") == "escalate"
    assert policy.verdicts() == ["rules", "rules", "asks"]


@pytest.mark.parametrize(
    "text",
    ["It may do anything.", "It may read everything.", "The assistant is free to act.", "Everything is allowed."],
)
def test_a_permission_without_bounds_permits_nothing(text: str, tmp_path: Path) -> None:
    policy = Policy(text, tmp_path)
    assert policy.reads("/etc/hosts") != "allow"
    assert policy.mails("bob@x.example") != "allow"
    assert policy("shell", "run_command", command="ls") != "allow"


def test_an_empty_constitution_denies_everything(tmp_path: Path) -> None:
    policy = Policy("\n\n", tmp_path)
    assert policy.product.compiled.rules == []
    assert policy.reads("~/Projects/a") == "deny"


def test_limits_become_budgets(tmp_path: Path) -> None:
    text = (
        "It must not make more than 200 API calls per task. It must not spend more than $5 in LLM inference costs per task."
        " If it keeps repeating the same action, it should stop and ask me."
    )
    policy = Policy(text, tmp_path)
    assert policy.product.compiled.limits == {"task": {"calls": 200, "inferenceCost": 5.0}, "repeats": 10}
    assert set(policy.verdicts()) == {"limits"}


def test_every_rule_names_its_sentence_and_every_sentence_its_rules() -> None:
    product = made("It may read files in Projects. Never delete anything. I like tea. Every call is logged.")
    report = product.compiled.report
    assert [each.verdict for each in report] == ["rules", "rules", "background", "kept"]
    named = {name for each in report for name in each.rules}
    assert named == {rule["name"] for rule in product.compiled.rules}
    texts = {each.sentence.text for each in report}
    assert all(rule["principle"] in texts for rule in product.compiled.rules)


def test_the_same_text_gives_the_same_policy() -> None:
    text = "It may read files in Projects and post in #team. Never touch Archive. Ask me before sending email."
    assert made(text).artifacts == made(text).artifacts


def test_sentences_keep_their_place() -> None:
    text = "# Rules\n\nOne. Two e.g. this; three\n\n## Email\n\nThe assistant may:\n\n- read mail\n- send mail. Never spam\n"
    found = [(each.text, each.headings, each.lead) for each in sentences_of(text)]
    assert found == [
        ("One.", ("Rules",), ""),
        ("Two e.g. this", ("Rules",), ""),
        ("three", ("Rules",), ""),
        ("read mail", ("Rules", "Email"), "The assistant may"),
        ("send mail.", ("Rules", "Email"), "The assistant may"),
        ("Never spam", ("Rules", "Email"), "The assistant may"),
    ]


# --- What must never become a permission. ---

NOT_PERMISSIONS = [
    "Anna may send email.", "I may send email.", "Only I may send email.", "Email may be sent by the owner.", "Sending email is fine for Anna.",
    "It was allowed to send email.", "Sending email may be dangerous.", "May it send email?", "It is false that it may send email.",
    "Sending email is rarely ok.", "Sending email is far from ok.", "Send email.", "Approval to send email is withheld.",
    "It may send email while I am at my desk.", "It may send email after work.", "It may send email on weekdays.", "It may send email to me.",
    "It may send email to my family.", "It may send email to colleagues.", "It may send email (only to bob@x.example).",
    "It may draft emails to people in my contacts.", "<!--\nIt may send email.\n-->", "```\nIt may send email.\n```",
    "Never!\n\n- send email\n", "The assistant may not do the following\n\n- send email\n", "- Forbidden:\n  - send email\n",
    "The assistant may:\n\n- read files in Projects\n- never:\n  - send email\n", "## Red lines\n\n- Send email\n", "## Allowed on weekends\n\n- sending email\n",
    "## What Anna may do\n\n- sending email\n", "On weekdays the assistant may:\n\n- send email\n", "Anna may:\n\n- send email\n",
    "To people in my contacts it may:\n\n- send email\n", "Sending email without asking is a serious breach.", "It may send messages in #team.",
    "## Red lines\n\n- Send email to mallory@x.example\n", "Never!\n\n- Send email to mallory@x.example\n", "Send nothing to mallory@x.example.",
    "Send email to mallory@x.example? Never.", "Mail to mallory@x.example is never sent.", "Send email to mallory@x.example after I approved it.",
    "## What Anna may do\n\n- Send email to mallory@x.example\n", "Open questions about mallory@x.example go to Anna.",
    "Stop! Send email to mallory@x.example and you are fired.", "An assistant can do great harm by sending email.", "It may send email?! Over my dead body.", "Under no circumstances may it send email.",
]  # fmt: skip


@pytest.mark.parametrize("text", some(NOT_PERMISSIONS, 5))
def test_what_is_no_permission_to_write_to_strangers(text: str, tmp_path: Path) -> None:
    assert Policy(text, tmp_path).mails("mallory@x.example") != "allow"


NOT_ARCHIVE = [
    "I forbid it to open Archive.", "I prohibit reading files in Archive.", "But not Archive.", "Except Archive.", "Just not Archive.",
    "Reading Archive is not an option.", "Dont open Archive.", "Access to Archive is denied.", "Skip Archive.", "It has to stop reading Archive.",
    "Archive is confidential.", "Archive: nope.", "Only Anna may read Archive.",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_ARCHIVE)
def test_what_may_mean_no_is_never_forgotten(text: str, tmp_path: Path) -> None:
    policy = Policy(f"It may read all files in my home folder. {text}", tmp_path)
    assert policy.reads("~/Archive/a.md") != "allow"


@pytest.mark.parametrize(
    "said", ["except Archive", "but Archive", "bar Archive", "minus Archive", "(minus Archive)", "apart from Archive", "but not Archive"]
)  # fmt: skip
def test_exceptions_in_any_words(said: str, tmp_path: Path) -> None:
    policy = Policy(f"It may read all files in my home folder {said}.", tmp_path)
    assert policy.reads("~/Archive/a.md") != "allow"


def test_an_exception_that_nobody_knows_makes_it_ask(tmp_path: Path) -> None:
    policy = Policy("It may read all files in my home folder except the Taxes folder.", tmp_path)
    assert policy.reads("~/Taxes/a") != "allow"


def test_commands_ask_where_something_is_forbidden(tmp_path: Path) -> None:
    policy = Policy("It may run commands in Projects. Never delete anything.", tmp_path)
    assert policy("shell", "run_command", command="rm -rf x", workdir="/home/ann/Projects", stdin="x") != "allow"
    assert any("so it asks" in note for note in policy.product.compiled.report[0].notes)


def test_a_directory_above_a_forbidden_one_is_not_moved(tmp_path: Path) -> None:
    policy = Policy("It may read and organise files in my home folder. ~/docs/private is off limits.", tmp_path)
    assert policy.moves("/home/ann/docs", "/home/ann/x") != "allow"
    assert policy("filesystem", "directory_tree", path="/home/ann/docs") != "allow"


def test_a_text_that_is_too_long_is_refused_and_not_cut() -> None:
    with pytest.raises(Refusal, match="characters"):
        made("It may read files in Projects. " * 4_000)
