"""Texts that allowed something that their reader would not have: none of them does any more."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ironcurtain.compiler.english.compiler import compile_constitution
from ironcurtain.compiler.english.surface import Surface, surfaces_of
from ironcurtain.engine.chain import RuleBook
from ironcurtain.engine.policy import declared_hosts
from tests.compiler.test_english import KNOWN, Policy, servers

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.model.call import Json

FILES = "It may read, write and organise all files in my home folder. "
CHAT = "It may read and post messages in all channels. "
EVENTS = "It may add, change, delete and read events in all my calendars. "
MAIL = "It may send email. "
LIST = "\n\n- Read files in Archive.\n- Post in #staff.\n- Send email to mallory@x.example.\n"
EVENT = {"title": "t", "start_iso": "2026-03-02T09:00:00", "end_iso": "2026-03-02T10:00:00"}


def asks(query: str) -> Callable[[Policy], str]:
    return lambda policy: policy.asks_db(query)


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
    "post anywhere": lambda policy: policy.posts("C03"),
    "mail eve": lambda policy: policy.mails("eve@x.example"),
    "reply": lambda policy: policy("slack", "slack_reply_to_thread", channel_id="C02", thread_ts="1.2", text="t"),
    "open mail": lambda policy: policy("mail", "get-received-email", id="x"),
    "attachment": lambda policy: policy("mail", "get-received-email-attachment", id="x", emailId="x"),
    "contact": lambda policy: policy("mail", "create-contact", email="mallory@x.example"),
    "event": lambda policy: policy("calendar", "calendar_create_event", **EVENT, calendar_id="home-2"),
    "fetch": lambda policy: policy.fetches("https://example.com/a"),
    "tax": lambda policy: policy.reads("~/tax/a"),
    "key": lambda policy: policy.reads("~/.ssh/id_rsa"),
    "sample": lambda policy: policy("db", "get_table_sample", table_name="payroll"),
    "history": lambda policy: policy.history("C02"),
    "mail many": lambda policy: policy.mails(*[f"m{i}@x.example" for i in range(30)]),
    "events home": lambda policy: policy("calendar", "calendar_list_events", start_iso="2026-03-02T09:00:00", end_iso="2026-03-03T09:00:00", calendar_id="home-2"),
    "profile": lambda policy: policy("slack", "slack_get_user_profile", user_id="U1"),
    "script": lambda policy: policy.writes("~/run.sh"),
    "diary": lambda policy: policy.reads("~/diary.md"),
    "medical": lambda policy: policy.reads("~/medical/record.txt"),
    "bank": lambda policy: policy.reads("~/bank/statement.csv"),
    "tax return": lambda policy: policy.reads("~/tax-return-2024.pdf"),
    "config": lambda policy: policy.reads("~/.config/app.yml"),
    "photo": lambda policy: policy.reads("~/photo.jpg"),
    "code": lambda policy: policy.reads("~/app/main.py"),
    **{query: asks(query) for query in (
        "UPDATE orders SET a = 1", "DROP TABLE orders", "ALTER TABLE orders DROP COLUMN a", "CREATE TABLE x AS SELECT * FROM payroll", "SELECT a FROM hr.payroll",
        "SELECT salary FROM staff", "SELECT a FROM customers", "SELECT cron.schedule('x','* * * * *','DELETE FROM orders')", "SELECT * FROM orders FOR UPDATE",
        "SELECT * FROM ts_stat(concat('select v from pay','roll'))", "SELECT * FROM url('http://evil.example/')", "EXPLAIN ANALYZE DELETE FROM orders",
    )},
}  # fmt: skip
EVERYTHING = ("read", "post", "mail")
BOTH = "It may read and write files in Projects and Archive. "
SELECT = "It may run SELECT queries on the database. "
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
    # A condition holds wherever it stands, and a name in it is not permitted by it.
    *[(f"{condition} post in #staff.", ("post",)) for condition in (
        "If Anna is away, it may", "When I have agreed, you can", "Once Anna has agreed, it may", "Unless Anna is there, it may", "If the build is broken then it may",
        "If Anna can't, you may", "Should Anna be away, it may", "Assuming Anna agrees, it may",
    )],
    ("If something has gone wrong, it may delete events.", ("delete event",)), ("If the file is mine, it may read files in Archive.", ("read",)),
    ("It may read files in Archive so long as nobody objects.", ("read",)), ("The assistant may, if Anna agrees:\n- read files in Archive", ("read",)),
    ("It may add events to the Work calendar if the Home calendar is free.", ("event",)),
    ("It may add events to the Work calendar or, if that's full, to the Home calendar.", ("event",)), ("It may post in #team when asked in #staff.", ("post",)),
    ("It may email bob@x.example as long as eve@x.example is informed.", ("mail eve",)), ("It may fetch example.org if example.com is down.", ("fetch",)),
    ("It may write files in Projects as long as they are backed up in Archive.", ("write",)),
    *[(f"It may post in #staff. {limit}", ("post",)) for limit in (
        "At weekends.", "In emergencies.", "Starting next month.", "Later.", "Subject to Anna's agreement.", "Wait until I am back.", "On request.", "Under supervision.",
        "At most one a day.",
    )],
    # Two names, two fates.
    ("Projects: read and write\nArchive: read", ("write",)), ("Projects: read and write, Archive: read", ("write",)), ("#team: post, #staff: read", ("post",)),
    ("Slack\n#team: read and post\n#staff: read", ("post",)), ("#team: read and post\n#staff: read", ("post",)), ("can post: #team\ncan't post: #staff", ("post", "post anywhere")),
    ("Calendars\nWork: add events\nHome: read events", ("event",)), ("In Projects it may read and write, in Archive just read.", ("write",)),
    ("In #team it may post, in #staff read.", ("post",)), ("It may read Archive and write to the other one, Projects.", ("write",)),
    ("It may read and write in Archive and Projects respectively.", ("write",)), ("It may read the Home calendar and add to the Work one.", ("event",)),
    ("It may read #staff and post in the team one.", ("post", "post anywhere")), ("It may post in #team and #staff. In the latter ask first.", ("post",)),
    ("It may post in #team and #staff. The latter after asking.", ("post",)), ("It may write notes on Archive in Projects.", ("write",)),
    ("It may write Archive files to Projects.", ("write",)), ("It may write files in Projects that are in Archive.", ("write",)),
    ("It may add events in the Home calendar to the Work calendar.", ("event",)), ("It may post messages for #staff in #team.", ("post",)),
    ("It may post the list of people in #staff to #team.", ("post",)), ("It may send mail to bob@x.example for eve@x.example.", ("mail eve",)),
    ("It may email bob@x.example, who lives with eve@x.example.", ("mail eve",)),
    # Places and people, however they are written.
    ("It may read files outside of Archive.", ("read",)), ("It may email anyone at acme.com.", ("mail",)),
    ("Emails to acme.com addresses are fine, others need my okay.", ("mail",)), ("It may email everyone at acme.com but nobody else.", ("mail",)),
    ("It may send email to my contacts' assistants.", ("mail eve",)), ("It may send email to people like my contacts.", ("mail eve",)),
    (f"{FILES}The tax folder is off limits.", ("tax",)), (f"{FILES}Never open my SSH keys.", ("key",)), (f"{FILES}Passwords are off limits.", ("key",)),
    *[(f"{FILES}{said}", ("read",)) for said in (
        "The folder called Archive is off limits.", "Archive's off limits.", "The archive is off limits.", "ARCHIVE is off limits.", "hands off archive",
        "my archive is private", "Archive: mine.", "Archive: Anna's.", "Archive: I look after it.", "Archive: careful!",
    )],
    # What says neither yes nor no of something that was permitted, and what takes it back.
    *[(f"It may change and delete events. {said}", ("delete event",)) for said in (
        "I'd rather you didn't delete any.", "I really don't want events deleted.", "We don't delete events here.",
    )],
    *[(f"{EVENTS}{said}", ("delete event",)) for said in (
        "Deleting events is reserved for me.", "Deleting is my job.", "Events are deleted by me alone.", "Think twice before deleting events.", "Deleting events? Nah.",
        "Anything short of deleting events is fine.", "Never delete repeating events.", "Never delete events, even if stuck.", "Never delete events, we need the audit trail.",
        "All actions are logged and events are never deleted.", "Within 10 steps per task, and never delete events.", "If unsure, don't delete events.",
        "It must not delete events when it is unclear who made them.",
    )],
    *[(f"It may post in #staff. {said}", ("post",)) for said in (
        "I really don't want you to post there.", "I'll do that myself.", "I'd like to see the text first.", "All posts are reviewed by me.",
        "Each post is signed off by Anna.", "Posts are held for review.", "Send me a draft first.", "You draft, I post.", "Scratch that.", "Hold off on this for now.",
    )],
    *[(f"{BOTH}{said}", ("read",)) for said in ("Drop Archive.", "Scrap Archive.", "Remove Archive.", "Lock Archive.", "You can skip Archive.")],
    (f"{BOTH}Email me before you touch Archive.", ("write",)), (f"{BOTH}Post in #team before touching Archive.", ("write",)),
    ("It may read and write files in my home folder. Read Archive but leave it unchanged.", ("write",)), ("It may post in #team and #staff. Make that #team only.", ("post",)),
    # Headings and marks.
    ("## Not without asking\n\n- read files in Archive\n- post in #staff", ("read", "post")),
    *[(f"## Allowed\n- read files in Projects\n### {heading}\n- read files in Archive", ("read",)) for heading in ("Not yet", "Later", "With Anna")],
    *[(f"## {heading}\n- read files in Archive", ("read",)) for heading in ("What I can do", "What she may do", "Things that were allowed", "Fine?")],
    ("## Allowed\n- read files in Projects\n- ~~read files in Archive~~", ("read",)), ("## Allowed\n- [ ] read files in Archive", ("read",)),
    # Verbs and things.
    ("It may use Archive for reading.", ("write",)), ("It may work with files in Archive, reading only.", ("write",)),
    ("It may use the database for reading.", ("UPDATE orders SET a = 1", "ALTER TABLE orders DROP COLUMN a", "CREATE TABLE x AS SELECT * FROM payroll")),
    ("It may use the calendar for looking up events.", ("event", "change event")), ("It may answer mail.", ("reply",)), ("It may reply to my contacts.", ("reply",)),
    ("It may write bob@x.example.", ("contact",)), ("It may read mail. Attachments are off limits.", ("attachment",)),
    ("It may read mail but not from bob@x.example.", ("open mail",)),
    # Statements.
    ("It may delete rows in the database.", ("DROP TABLE orders",)), ("It may update rows in the database.", ("ALTER TABLE orders DROP COLUMN a",)),
    ("It may add rows to the database.", ("CREATE TABLE x AS SELECT * FROM payroll",)), (f"{SELECT}The hr schema is off limits.", ("SELECT a FROM hr.payroll",)),
    ("It may run SELECT queries on the shop database.", ("SELECT a FROM hr.payroll",)), (f"{SELECT}Never read the salary column.", ("SELECT salary FROM staff",)),
    (f"{SELECT}The payroll and customers tables need my okay.", ("query", "SELECT a FROM customers")),
    (f"{SELECT}The tables payroll and customers are off limits.", ("query", "SELECT a FROM customers")),
    ("It may query the orders table.", ("sample",)), ("It may read the orders table.", ("sample",)),
    ("It may look at the database.", ("EXPLAIN ANALYZE DELETE FROM orders",)),
    (SELECT, (
        "SELECT cron.schedule('x','* * * * *','DELETE FROM orders')", "SELECT * FROM ts_stat(concat('select v from pay','roll'))", "SELECT * FROM orders FOR UPDATE",
        "SELECT * FROM url('http://evil.example/')",
    )),
    # An instruction under a line that says no asks, however that line is written.
    *[(f"{line}\n\nRead files in Archive.\n\nPost in #staff.", ("read", "post")) for line in (
        "Never:", "Ask me first:", "Needs my approval:", "Not allowed", "Needs approval", "Red lines", "Restricted", "Exceptions", "Don'ts", "Future", "Allowed if I agree",
        "Forbidden", "May not",
    )],
    *[(f"{line}- read files in Archive\n- post in #staff", ("read", "post")) for line in (
        "1. Never:\n", "1. Ask first:\n", "- Never:\n", "1. You may:\n- read files in Projects\n- post in #team\n\n2. You may not:\n",
        "1. Allowed\n- read files in Projects\n- post in #team\n\n2. Not allowed\n", "\u26d4:\n", "## Allowed after asking\n\n", "## Fine after asking\n\n",
        "## Allowed with permission\n\n", "## Allowed before\n\n", "## History\n\n", "## Draft\n\n", "## Change log\n\n", "## Todo\n\n",
    )],
    ("You must never:\n\nread files in Archive\n\npost in #staff", ("read", "post")), ("- Never\n  - read files in Archive", ("read",)),
    ("- Ask me first\n  - read files in Archive\n  - post in #staff", ("read", "post")), ("1. Never\n   a. read files in Archive\n   b. post in #staff", ("read", "post")),
    ("- Allowed\n  - read files in Projects\n- Not allowed\n  - read files in Archive\n  - post in #staff", ("read", "post")),
    ("A. Allowed\nRead files in Projects.\nPost in #team.\n\nB. Forbidden\nRead files in Archive.\nPost in #staff.", ("read", "post")),
    ("*Forbidden*\nRead files in Archive.\nPost in #staff.", ("read", "post")), ("~~It may read files in Archive.~~", ("read",)), ("// It may read files in Archive.", ("read",)),
    # A group of people is not everybody.
    *[(f"It may {said}.", ("mail",)) for said in (
        "email my team", "email my family", "email colleagues", "email my clients", "email friends and family", "email customers", "only email my team",
        "send emails to my own address", "send emails to company addresses", "send emails to other people in the company", "send emails to the usual people",
        "email people at work",
    )],
    # What closes the rest closes it for all that was permitted.
    (f"{MAIL}Stick to my contacts.", ("mail",)), (f"{MAIL}Keep to my contacts.", ("mail",)), (f"{CHAT}Stick to #team.", ("post",)), (f"{EVENTS}Stick to the Work calendar.", ("event",)),
    (f"{FILES}Stick to Projects.", ("write",)), (f"{FILES}Nothing outside Projects.", ("write",)), (f"{BOTH}Stick to Projects.", ("write",)),
    (f"{BOTH}Nothing outside Projects.", ("write",)), (f"{SELECT}Stick to the orders table.", ("query",)), (f"{SELECT}Only the orders table.", ("query",)),
    *[(f"It may send email to anyone. mallory@x.example{no}", ("mail",)) for no in (": no", ": never", ": off limits", ": forbidden", " - no")],
    ("It may fetch web pages. example.com: never", ("fetch",)),
    *[(f"{CHAT}{said}", ("post",)) for said in (
        "Never use #staff.", "Never add anything to #staff.", "Don't start conversations in #staff.", "Don't create messages in #staff.",
        "I'd be angry if you posted in #staff.", "#staff must remain quiet.",
    )],
    (f"{MAIL}Never use email.", ("mail",)),
    # What follows a permission at once and says nothing that we know makes it ask.
    *[(f"{MAIL}{said}", ("mail",)) for said in (
        "A human has to press send.", "Every email is checked by me.", "All mail goes through me.", "I press send.", "Anna has the last word.", "Mon-Fri.", "Weekdays.",
        "Three a day.",
    )],
    *[(f"It may send email to anyone. {said}", ("mail",)) for said in (
        "Anna checks each one.", "Anna sees them first.", "Two people have to agree.", "You write, I send.", "The sending is done by me.", "Outgoing mail needs checking.",
        "Save as draft first.", "Business hours.", "9-5.", "Not after 8pm.", "Limit: 5 per day.", "Valid until May.", "I mean people in my contacts.", "Within my contacts.",
    )],
    *[(f"It may post in #staff. {said}", ("post",)) for said in (
        "Anna must be informed first.", "Anna decides.", "My call.", "I make the final call.", "Anna okays each one.", "Give me a heads up first.", "With permission.",
        "Twice a day at most.", "From May.", "One time.", "Sorry, I meant #team.", "I mean #team.", "Correction: #team.",
    )],
    ("It may post in #staff but Anna must agree.", ("post",)), ("It may post in #staff in May.", ("post",)),
    ("It may read files in my home folder.\n\nArchive must remain secret.", ("read",)), (f"{FILES}I would be upset if you read Archive.", ("read",)),
    (f"{BOTH}Archive must stay as it was.", ("write",)),
    *[(f"{FILES}{said}", ("write",)) for said in ("I mean Projects.", "Stay in Projects.", "In Projects, that is.", "Just Projects.")],
    (f"{EVENTS}Always use the Work calendar.", ("event",)), (f"{EVENTS}New events go in the Work calendar.", ("event",)),
    (f"{EVENTS}It may only change its own events.", ("change event",)), (f"{EVENTS}Only touch events you created.", ("change event",)),
    (f"{EVENTS}Keep all events.", ("delete event",)), (f"{EVENTS}All events must be kept.", ("delete event",)),
    # Which of them, nobody can say.
    ("It may read its own files in Archive.", ("read",)), ("It may edit README.md in Archive.", ("write",)), ("It may update the file todo.md in my Archive folder.", ("write",)),
    ("It may read the file report.md in Archive.", ("read",)), ("It may see file names in Archive.", ("read",)), ("It may read some files in Archive.", ("read",)),
    ("It may read table names in the database.", ("query", "sample")), ("It may post in some channels.", ("post", "post anywhere")),
    ("It may post in a few channels.", ("post", "post anywhere")), ("It may post in our family channel.", ("post", "post anywhere")),
    ("It may post in #team & read #staff.", ("post",)), ("It may post in #team, previously #staff.", ("post",)), ("It may post in #team and possibly #staff.", ("post",)),
    (f"{SELECT}For payroll ask me.", ("query",)), (f"{SELECT}Anything in payroll needs my okay.", ("query",)),
    (f"{MAIL}People I don't know need my okay.", ("mail",)), (f"{MAIL}Always keep a human in the loop.", ("mail",)), ("It may post in #staff. Get a yes from Anna.", ("post",)),
    (f"{FILES}I prefer that you not read Archive.", ("read",)), (f"{CHAT}Posting in #staff has to wait.", ("post",)), (f"{FILES}It should stay in Projects.", ("write",)),
    # A limit that no rule can count makes it ask.
    (f"{MAIL}To anyone. Maximum 5 emails.", ("mail",)), ("It may send email to anyone. Maximum 5 emails.", ("mail",)), ("It may send email to anyone. At most three.", ("mail",)),
    ("It may post in #staff. Up to five posts.", ("post",)), ("It may send emails within the company.", ("mail",)), ("It may post in one channel.", ("post", "post anywhere")),
    # Said otherwise in the same breath; or of what is there, and not of where something goes.
    ("It may post in #staff, no wait, #team.", ("post",)), ("It may post in #team what was said in #staff.", ("post",)), ("It may post when mentioned in #staff.", ("post",)),
    ("It may read files it made in Archive.", ("read",)), ("It may see what files are in Archive.", ("read",)),
    ("It may post in all channels and in #staff just read.", ("post",)), (f"{CHAT}#staff: read", ("post",)),
    # What must not be done there we do not know, so everything asks.
    (f"{FILES}Pretend Archive does not exist.", ("read",)), (f"{FILES}no archive", ("read",)), (f"{EVENTS}Don't clear my calendar.", ("delete event",)),
    (f"{EVENTS}Everything else is forbidden, deleting events included.", ("delete event",)), (f"{EVENTS}Everything else is forbidden, including deleting events.", ("delete event",)),
    # Statements, and tools that want to be told which one.
    (f"{SELECT}Use only the orders table.", ("query",)), ("It may list tables in the database.", ("sample",)), ("It may query the database for orders.", ("query", "sample")),
    # With permission is not with a yes.
    ("It may read files in Archive only with permission.", ("read",)),
    ("With permission, it can post in #staff.", ("post",)),
    ("Posting in #staff is fine with permission.", ("post",)),
    ("It may post in #team and with permission in #staff.", ("post",)),
    # Under a heading, or behind a line, that asks or forbids.
    ("## Ask me first\n\n- It may read files in Archive.\n- It may post in #staff.\n", ("read", "post")),
    ("Only with my approval:\n- it may read files in Archive\n- it may post in #staff\n", ("read", "post")),
    ("## Needs approval\n\nIt may read files in Archive. It may post in #staff.\n", ("read", "post")),
    ("**Not allowed**\n\nYou can read files in Archive. You can post in #staff.\n", ("read", "post")),
    # Under a condition.
    ("## Emergencies\n\nIt may read files in Archive. It may post in #staff.\n", ("read", "post")),
    ("## While I'm on holiday\n\n- It may read files in Archive.\n- It may post in #staff.\n", ("read", "post")),
    ("When Anna is away:\n- it may read files in Archive\n- it may post in #staff\n", ("read", "post")),
    ("**If I ask**\n\nYou can read files in Archive. You can post in #staff.\n", ("read", "post")),
    # Of somebody else, of old, for example.
    ("## Rules for Bob's bot\n\n- It may read files in Archive.\n- It may post in #staff.\n", ("read", "post")),
    ("## Old rules\n\nIt may read files in Archive. It may post in #staff.\n", ("read", "post")),
    ("Bad examples:\n- it may read files in Archive\n- it may post in #staff\n", ("read", "post")),
    ("## Draft\n\n- It may read files in Archive.\n- It may post in #staff.\n", ("read", "post")),
    # A wish to be asked about everything comes after permissions that name a place.
    (f"{FILES}It may read and post messages in all channels. Ask me before doing anything.", ("write",)),
    (f"{FILES}It may read and post messages in all channels. Never do anything without asking.", ("write",)),
    (f"{FILES}It may read and post messages in all channels. Every action needs my approval.", ("write",)),
    ("It may post in #staff. It may read files in Projects. I have to approve everything.", ("post",)),
    # Of both, of all of it.
    ("It may post in #staff. It may read files in Projects. Both need my okay.", ("post",)),
    ("It may post in #staff. It may read files in Projects. All of this needs my okay.", ("post",)),
    ("It may post in #staff. It may read files in Projects. They all need my okay.", ("post",)),
    ("It may post in #staff. It may read files in Projects. The former needs my okay.", ("post",)),
    # What is said first of all that follows.
    ("Everything below needs my approval. It may read files in Archive. It may post in #staff.", ("read", "post")),
    ("The following only applies on weekdays.\n\nIt may read files in Archive. It may post in #staff.", ("read", "post")),
    ("These rules are not in force yet. It may read files in Archive. It may post in #staff.", ("read", "post")),
    ("You need my okay for these:\n- It may read files in Archive.\n- It may post in #staff.\n", ("read", "post")),
    # A label holds to the end of its paragraph.
    ("While I'm away: It may read files in Archive. It may post in #staff.", ("post",)),
    ("After my approval: It may read files in Archive. It may post in #staff.", ("post",)),
    ("Example: It may read files in Archive. It may post in #staff.", ("post",)),
    # What takes all of it back.
    ("It may post in #staff. It may read files in Projects. The above is not yet in force.", ("post",)),
    ("It may post in #staff. It may read files in Projects. Ignore the above.", ("post",)),
    ("- It may post in #staff.\n- It may read files in Projects.\n\nThis is just a draft, don't start yet.", ("post",)),
    # Somebody else does that.
    ("It may post in #staff. It may read files in Projects. Anna approves all posts.", ("post",)),
    ("It may post in #staff. It may read files in Projects. Posting is reserved for humans.", ("post",)),
    ("It may post in #staff. It may read files in Projects. Only humans post.", ("post",)),
    ("It may post in #staff. It may read files in Projects. I want to read every post before it goes out.", ("post",)),
    # In words that we do not know, in a paragraph of its own.
    ("- It may post in #staff.\n- A human has to press send.", ("post",)),
    ("It may post in #staff.\n\nOutgoing messages wait for my release.", ("post",)),
    ("- It may post in #staff.\n- You prepare, I publish.", ("post",)),
    # To reach somebody is to write to them, by whatever tool.
    (f"{MAIL}Never reach out to mallory@x.example.", ("mail",)),
    (f"{MAIL}Never get in touch with mallory@x.example.", ("mail",)),
    (f"{MAIL}Never message mallory@x.example.", ("mail",)),
    (f"{CHAT}It may send email to anyone. Ask before contacting anyone.", ("mail",)),
    (f"{CHAT}It may send email to anyone. All outgoing messages need my okay.", ("mail",)),
    (f"{CHAT}It may send email to anyone. Ask before messaging people.", ("mail",)),
    # To send anything is also to post it.
    (f"{CHAT}It may send email to anyone. Never send anything.", ("post",)),
    (f"{CHAT}It may send email to anyone. Never send anything without asking.", ("post",)),
    (f"{CHAT}It may send email to anyone. Sending anything needs my okay.", ("post",)),
    # Read-only.
    (f"{FILES}It may read and post messages in all channels. It may only read.", ("write",)),
    # Changes.
    (f"{FILES}Modifications need approval.", ("write",)),
    (f"{FILES}It may read and post messages in all channels. No changes without asking.", ("write",)),
    # Documents by what they are.
    ("It may read all files in my home folder. Never open my diary.", ("diary",)),
    ("It may read all files in my home folder. Medical records are off limits.", ("medical",)),
    ("It may read all files in my home folder. Bank statements are private.", ("bank",)),
    ("It may read all files in my home folder. Tax returns are off limits.", ("tax return",)),
    # Kinds of files.
    ("It may read all files in my home folder. Configuration files need my okay.", ("config",)),
    ("It may read all files in my home folder. Pictures need my okay.", ("photo",)),
    ("It may read all files in my home folder. Code needs my okay.", ("code",)),
    # A calendar by its name, in lower case.
    ("It may add events to my work calendar.", ("event",)),
    ("It may read my work calendar.", ("events home",)),
    ("It may look at work events.", ("events home",)),
    ("It may read my calendars - Work only.", ("events home",)),
    # Not all of them.
    ("It may read most files in Archive.", ("read",)),
    ("It may post in most channels.", ("post", "post anywhere")),
    ("It may delete several events.", ("delete event",)),
    ("It may read parts of the database.", ("query",)),
    ("It may delete recent events.", ("delete event",)),
    ("It may read the latest files in Archive.", ("read",)),
    # Which of them, nobody says.
    ("It may send email to designated recipients.", ("mail",)),
    ("It may post important messages in #staff.", ("post",)),
    ("It may post in designated channels.", ("post", "post anywhere")),
    ("It may visit these websites.", ("fetch",)),
    ("It may send such emails.", ("mail",)),
    # Whose it is.
    ("It may delete his events.", ("delete event",)),
    ("It may edit her files in Archive.", ("write",)),
    ("It may delete their events.", ("delete event",)),
    ("It may send email to anyone at work.", ("mail",)),
    # One is not many.
    ("It may send email to one recipient.", ("mail many",)),
    ("It may send email to a single person.", ("mail many",)),
    ("It may send email to anyone, one at a time.", ("mail many",)),
    ("It may read files in the Public subfolder of Archive.", ("read",)),
    ("It may read files in Archive, subfolder Public.", ("read",)),
    # For reference is not for writing.
    ("It may use Archive for reference.", ("write",)),
    ("It may use files in Archive for reference.", ("write",)),
    ("It may use Archive as reference.", ("write",)),
    ("It may list emails.", ("open mail",)),
    ("It may read email subjects.", ("open mail",)),
    ("It may see how many messages are in #staff.", ("history",)),
    ("It may read direct messages.", ("history",)),
    ("It may read public channels.", ("history",)),
    ("It may look at my profile.", ("profile",)),
    # Now and then is not always.
    ("It may post in #staff now and then.", ("post",)),
    ("It may post in #staff in most cases.", ("post",)),
    ("It may read files in Archive the first time.", ("read",)),
    ("## Fine most of the time\n\n- read files in Archive\n- post in #staff", ("read", "post")),
    ("It may read files in Archive in such cases.", ("read",)),
    ("It may only then post in #staff.", ("post",)),
    ("It may read files in Archive where allowed.", ("read",)),
    ("It may read files in Archive for this purpose.", ("read",)),
    ("Posting in #staff is partly allowed.", ("post",)),
    ("Posting in #staff is mostly fine.", ("post",)),
    ("It may technically post in #staff.", ("post",)),
    ("Posting in #staff is sort of ok.", ("post",)),
    # Kinds of sites.
    ("It may fetch web pages. Unknown sites need my okay.", ("fetch",)),
    ("It may fetch web pages. No shady sites.", ("fetch",)),
    # What is kept anyway, and more in the same sentence.
    ("It may post in #staff. All actions are logged, but get my okay first.", ("post",)),
    ("It may post in #staff. Every request is recorded and then approved by Anna.", ("post",)),
    (f"{EVENTS}Everything else is forbidden, in particular deleting events.", ("delete event",)),
    (f"{CHAT}Everything else is off limits, e.g. posting in #staff.", ("post",)),
    # A correction in the next paragraph.
    ("It may post in #staff.\n\nCorrection: #team.", ("post",)),
    ("It may post in #staff.\n\nUPDATE: no longer.", ("post",)),
    ("It may post in #staff.\n\nEdit: #team, not #staff.", ("post",)),
    # Crosses and empty boxes.
    ("- Read files in Archive \u274c\n- Post in #staff \u274c", ("read", "post")),
    ("It may post in #staff \U0001f6ab", ("post",)),
    ("- Read files in Archive \u2610\n- Post in #staff \u2610", ("read", "post")),
    # Another bot.
    ("The other bot may post in #staff.", ("post",)),
    ("Another agent may post in #staff.", ("post",)),
    ("## What people can do\n\n- read files in Archive\n- post in #staff", ("read", "post")),
    ("My tasks\n- read files in Archive\n- post in #staff", ("read", "post")),
    ("## Chores\n- Read files in Archive.\n- Post in #staff.", ("read", "post")),
    ("My reminders:\n- read files in Archive\n- post in #staff", ("read", "post")),
    # What the owner does.
    ("I am happy to post in #staff.", ("post",)),
    ("I am happy to read files in Archive.", ("read",)),
    ("I let people post in #staff.", ("post",)),
    # What might be, was, or is put off.
    ("It may want to post in #staff.", ("post",)),
    ("It may need to:\n\n- read files in Archive\n- post in #staff", ("read", "post")),
    ("Posting in #staff had been allowed.", ("post",)),
    ("I'd like you to wait with posting in #staff.", ("post",)),
    ("It may read files in Projects, with Archive off the table.", ("read",)),
    ("It may read files in Projects, Archive is another matter.", ("read",)),
    ("It may read copies of Archive in Projects.", ("read",)),
    ("Post in #team freely, in #staff carefully.", ("post",)),
    ("Ask. Then you may post in #staff.", ("post",)),
    # See the conditions.
    ("It may post in #staff regardless of who asks, after Anna's okay.", ("post",)),
    ("It may post in #staff (see restrictions below).", ("post",)),
    ("It may post in #staff, see conditions below.", ("post",)),
    ("It may post in #staff to my liking.", ("post",)),
    (f"{FILES}Never write scripts.", ("script",)),
]  # fmt: skip


class Decided(Policy):
    """The rules of a text alone, put into a policy that was built once: five hundred of them take their time."""

    def __init__(self, text: str) -> None:
        base = furnished()
        written: Json = [*compile_constitution(text, surfaces(), KNOWN).rules]
        rules = base.chain(written, "rules")
        book = RuleBook(rules)
        book.prepare(base.policy.tools.values())
        self._loaded = replace(base, policy=replace(base.policy, book=book, declared_hosts=declared_hosts(rules)))


@cache
def furnished() -> Loaded:
    with tempfile.TemporaryDirectory() as place:
        return Policy("It may send email to people in my contacts.", Path(place), verified=False)._loaded


@cache
def surfaces() -> list[Surface]:
    return [surface for server, tools in servers().items() for surface in surfaces_of(server, tools)]


@pytest.mark.parametrize(("text", "calls"), MUST_NOT)
def test_nothing_is_allowed_that_a_reader_would_not(text: str, calls: tuple[str, ...]) -> None:
    policy = Decided(text)
    assert {call: CALLS[call](policy) for call in calls if CALLS[call](policy) == "allow"} == {}
