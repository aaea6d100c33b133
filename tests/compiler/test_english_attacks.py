"""Texts that allowed something that their reader would not have: none of them does any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compiler.test_english import Policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = "It may read, write and organise all files in my home folder. "
CHAT = "It may read and post messages in all channels. "
EVENTS = "It may add, change, delete and read events in all my calendars. "
MAIL = "It may send email. "
LIST = "\n\n- Read files in Archive.\n- Post in #staff.\n- Send email to mallory@x.example.\n"
CALLS: dict[str, Callable[[Policy], str]] = {
    "read": lambda policy: policy.reads("~/Archive/a.md"),
    "write": lambda policy: policy.writes("~/Archive/a.md"),
    "move out": lambda policy: policy.moves("/home/ann/Archive/a", "/home/ann/Projects/a"),
    "move in": lambda policy: policy.moves("/home/ann/Projects/a", "/home/ann/Archive/a"),
    "post": lambda policy: policy.posts("C02"),
    "mail": lambda policy: policy.mails("mallory@x.example"),
    "delete event": lambda policy: policy("calendar", "calendar_delete_event", event_id="e"),
    "change event": lambda policy: policy("calendar", "calendar_update_event", event_id="e", title="x"),
    "query": lambda policy: policy.asks_db("SELECT a FROM payroll"),
    "domain": lambda policy: policy("mail", "create-domain", name="x.example", customReturnPath="/home/ann/Projects/x"),
}
EVERYTHING = ("read", "post", "mail")
MUST_NOT: list[tuple[str, tuple[str, ...]]] = [
    # A wish to be asked is about what was permitted just before.
    *[(f"It may post in #staff. {asks}", ("post",)) for asks in (
        "Ask me first.", "But ask me first.", "Get my okay first.", "Every post needs my approval.", "I have to approve each post.",
        "Not without asking.", "Only if Anna agrees.", "That is Anna's job.", "Show me the text first.",
    )],
    ("It may read files in Archive. That needs my okay.", ("read",)),
    ("It may send email to mallory@x.example. Each one needs my okay.", ("mail",)),
    # A permitted move asks where anything asks.
    *[(f"{FILES}{asks}", ("move out", "move in")) for asks in (
        "Ask me before touching Archive.", "Ask me before moving files in Archive.", "Moving files needs my approval.", "Changes in Archive need my approval.",
    )],
    # What may only be done is all that may be done.
    *[(f"{FILES}{only}", ("write", "move in")) for only in (
        "Archive may only be read.", "Files in Archive may only be read.", "In Archive it may only read.", "Archive should only be read.",
        "Use Archive only for reading.", "Archive may only be used for reading.", "Archive may only be used by me.",
    )],
    (f"{CHAT}In #staff it may only react.", ("post",)), (f"{CHAT}#staff may only be used by Anna.", ("post",)), (f"{CHAT}#staff may only be read.", ("post",)),
    # A verb is more than the tools that are called so.
    (f"{EVENTS}Never cancel events.", ("delete event",)), (f"{EVENTS}Moving an event needs my approval.", ("change event",)),
    (f"{MAIL}Never reply to mallory@x.example.", ("mail",)), (f"{CHAT}Never share anything in #staff.", ("post",)),
    (f"{FILES}Never copy files into Archive.", ("write", "move in")), (f"{FILES}Never download files into Archive.", ("write",)),
    (f"{FILES}Save new files in Projects only.", ("write",)),
    # An instruction stands under nothing that may say otherwise.
    *[(f"{before}{LIST}", EVERYTHING) for before in (
        "Here is what went wrong last time.", "Anna does these things.", "These are bad examples.", "I do the following myself.", "Reject requests like these.",
        "If I am away, do this.", "Only a human does these.", "## Old rules", "## Rules for Anna", "## Slack incidents", "## What the agent refuses", "## Instead of",
        "## My job", "## Email mistakes", "Yes\n- Read files in Projects\nNo",
    )],
    *[(f"{before} Read files in Archive. Post in #staff.", EVERYTHING) for before in (
        "This is what you must never do.", "These are the rules for Anna.", "Here is what you should avoid.", "This is what you can and can't do.",
    )],
    # What introduces a prohibition is one.
    (f"{MAIL}Here is what it must not do: send email.", ("mail",)), (f"{MAIL}This is what it can not do, send email.", ("mail",)),
    (f"{FILES}This is what you must never do: read files.", ("read",)),
    ("The following is forbidden. Read files in Archive.", ("read",)), ("> Read files in Archive.\n> Post in #staff.\n", EVERYTHING),
    ("❌ Read files in Archive", ("read",)), ("- [ ] Post in #staff", ("post",)), ("| Never | Ask |\n|---|---|\n| Read files in Archive. | Post in #staff. |\n", EVERYTHING),
    ("Me: post in #staff.", ("post",)), ("Human only: post in #staff.", ("post",)), ("Bad: post in #staff.", ("post",)), ("In an emergency: read files in Archive. Post in #staff.", EVERYTHING),
    # A name is permitted by what is said of it, and not by what is said beside it.
    *[(f"Reading: Projects fine, Archive {said}", ("read",)) for said in ("nope", "later", "tbd", "pending", "mine", "private")],
    ("It may post in #team, formerly #staff.", ("post",)), ("Post in #team, unlike #staff.", ("post",)), ("It may read files in Projects in place of Archive.", ("read",)),
    ("It may send mail from mallory@x.example to bob@x.example.", ("mail",)), ("Send mail to bob@x.example about mallory@x.example.", ("mail",)),
    ("It may write files from Archive to Projects.", ("write",)), ("Read files in Archive and edit them in Projects.", ("write",)), ("Edit files in Projects using Archive.", ("write",)),
    ("It may post messages from #staff in #team.", ("post",)), ("Post what happens in #staff to #team.", ("post",)),
    # What is permitted of people is not what was permitted before.
    ("It may post in #team. Members of the workspace are fine.", ("post",)), ("you may post in #team. members of the workspace are fine.", ("post",)),
    ("Emails to my contacts are fine. The list of members in the workspace is ok.", ("mail",)),
    # What narrows a permission and cannot be checked makes it ask.
    ("It may read files in Archive except contracts.", ("read",)), ("It may read files in Archive today.", ("read",)), ("It may read one file in Archive.", ("read",)),
    ("It may read files in Archive with me.", ("read",)), ("Post in #staff and Anna will complain.", ("post",)),
    ("It may read the table orders.", ("query",)), ("It may run SELECT queries. Ask me before reading the payroll table.", ("query",)),
    ("It may write files in Projects.", ("domain",)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "calls"), MUST_NOT)
def test_nothing_is_allowed_that_a_reader_would_not(text: str, calls: tuple[str, ...], tmp_path: Path) -> None:
    policy = Policy(text, tmp_path)
    assert {call: CALLS[call](policy) for call in calls if CALLS[call](policy) == "allow"} == {}
