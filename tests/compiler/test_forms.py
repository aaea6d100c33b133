"""Forms: the whole statements that the owner is offered for a sentence, and the parts to make one of."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

import pytest

from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.document import Sentence
from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.problems import Problem
from ironcurtain.compiler.readers.offering import Forms
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.language.parsing import parse
from ironcurtain.language.writing import write_limit
from tests.compiler.test_readers import TOOLS
from tests.language.support import KNOWN, annotated, tool
from tests.language.test_attacks import MAIL

if TYPE_CHECKING:
    from ironcurtain.compiler.readers.form import Form

FORMS = Forms.of(TOOLS, KNOWN)


def form_of(text: str, *headings: str) -> Form:
    return FORMS.form(Sentence(text, headings, "", 0))


def letter_of(form: Form, shown: str) -> str:
    """The letter of a part or of a limit of a form."""
    parts = {part.text: letter for letter, part in zip(ascii_uppercase, form.parts, strict=False)}
    limits = {write_limit(each.limit, ()): letter for letter, each in zip(ascii_lowercase, form.limits, strict=False)}
    return {**limits, **parts}[shown]


def picked(lines: tuple[str, ...]) -> set[str]:
    compiled = compile_statements([Sourced(parse(line)) for line in lines], TOOLS, KNOWN)
    assert not compiled.problems
    return {tool for meaning in compiled.meanings for tool in meaning.tools}


@pytest.mark.parametrize(
    ("sentence", "statement"),
    [
        ("Mails to my contacts, sure, send them.", "may use mail/send_email to contacts."),
        ("Deleting? No way, not any file, ever!", "must never delete file."),
        ("Before it posts in #team I'd like to be asked.", "must ask before using slack/post_message in #team."),
        ("Read any message except in #exec.", "may use slack/read_messages outside #exec."),
        ("Money transfers up to 50 are okay.", "may use bank/send_money where `amount` is at most 50."),
        ("Never send money over 500.", "must never use bank/send_money where `amount` is more than 500."),
    ],
)
def test_whole_statements_are_near_what_a_sentence_says(sentence: str, statement: str) -> None:
    wholes = form_of(sentence).wholes
    assert any(statement in lines for lines in wholes), wholes
    assert len(wholes) <= 3


@pytest.mark.parametrize(
    "sentence",
    [
        "It may send email to the crew.",
        "It may read email on weekdays.",
        "It may read email except from my boss.",
        "It may delete old email.",
        "It may do anything with mail except delete.",
        "Du darfst E-Mails lesen.",
        "At most 5 recipients per email.",
        "It may run the commands ls, find and git.",
        "Never forget anything.",
        "You may send mail to contacts, but only with a password.",
        "2025 is closed, so nothing may be sent before.",
    ],
)
def test_nothing_is_offered_that_leaves_words_of_its_sentence_out(sentence: str) -> None:
    for lines in form_of(sentence).wholes:
        assert all("is" in line for line in lines), lines


@pytest.mark.parametrize("sentence", ["Only I send mail.", "No other file goes out with a mail."])
def test_what_only_somebody_else_may_do_is_never_offered_as_a_permission(sentence: str) -> None:
    assert not [line for lines in form_of(sentence).wholes for line in lines if line.startswith("may")]


def test_what_is_offered_for_people_outside_a_list_is_not_turned_round() -> None:
    for sentence in ("No one outside contacts may be sent email.", "It may send email to anyone but contacts."):
        wholes = form_of(sentence).wholes
        assert wholes
        assert all("to anyone outside contacts" in line for lines in wholes for line in lines), wholes


def test_values_behind_the_word_for_an_argument_are_offered_with_it() -> None:
    (first, *_) = form_of("It may run the command ls.").wholes
    assert first == ('may use shell/run_command where `command` is "ls".',)
    assert form_of("It may send email to at most 5 people.").wholes[0][1:] == (
        "must never use mail/send_email to more than 5 people.",
    )
    assert form_of("At most 300 tool calls per task.").wholes == (("must never make more than 300 calls per task.",),)


def test_every_whole_statement_compiles() -> None:
    for text in ("Never mail the boss about money.", "Everything else: ask.", "Only family may get invitations", "hm"):
        for lines in form_of(text).wholes:
            picked(lines)


def test_a_permission_that_names_people_is_never_offered_without_them() -> None:
    wholes = form_of("You can send mail to my contacts.").wholes
    assert wholes
    assert all("to contacts" in line for lines in wholes for line in lines)


def test_parts_make_statements_with_their_limits() -> None:
    form = form_of("You may send mail to my contacts and transfer at most 50.")
    mail, bank = letter_of(form, "mail/send_email"), letter_of(form, "bank/send_money")
    people, most = letter_of(form, "to contacts"), letter_of(form, "where `amount` is at most 50")
    said = FORMS.composer.said(form, f"may {mail} with {people}; may {bank} with {most}; ask {bank} with not {most}")
    assert said == (
        "may use mail/send_email to contacts.",
        "may use bank/send_money where `amount` is at most 50.",
        "must ask before using bank/send_money where `amount` is more than 50.",
    )


def test_a_tool_that_a_limit_cannot_be_said_of_is_left_out_and_never_taken_without_it() -> None:
    form = form_of("You may send mail to my contacts and transfer money.")
    people = letter_of(form, "to contacts")
    assert FORMS.composer.said(form, f"may mail/send_email bank/send_money with {people}") == (
        "may use mail/send_email to contacts.",
    )
    with pytest.raises(Problem):
        FORMS.composer.said(form, f"may bank/send_money with {people}")


def test_tools_by_name_conditions_in_words_only_and_no_other_arguments() -> None:
    form = form_of("Anything.")
    assert FORMS.composer.said(form, "never mail/delete_*") == ("must never use mail/delete_email.",)
    assert FORMS.composer.said(form, 'may send_money with `amount` is at most 20, `account` is "DE01"') == (
        'may use bank/send_money where `amount` is at most 20 and `account` is "DE01".',
    )
    in_team = form_of("Post in #team.")
    channel = letter_of(in_team, "in #team")
    assert FORMS.composer.said(in_team, f"may slack/post_message with only {channel}") == (
        "may use slack/post_message only in #team.",
    )
    (closed,) = FORMS.composer.said(form, "may bank/send_money with `amount` is at most 20, z")
    assert "giving only" in closed


@pytest.mark.parametrize(
    "answer",
    [
        "",
        ";",
        "perhaps A",
        "may",
        "may nothing/at_all",
        "may A with y",
        "may mail/send_email with `amount` is",
        "never",
    ],
)
def test_an_answer_that_makes_nothing_says_why(answer: str) -> None:
    with pytest.raises(Problem) as raised:
        FORMS.composer.said(form_of("hm"), answer)
    assert raised.value.message


def test_a_skipped_sentence_concerns_the_tools_near_it_and_no_others() -> None:
    concerned = {tool.key for tool in FORMS.concerned(Sentence("Transferring money is delicate.", (), "", 0))}
    assert "bank/send_money" in concerned
    assert not any(key.startswith(("files/", "git/")) for key in concerned)


def test_an_excluded_count_is_a_permission_and_a_prohibition_beyond_it() -> None:
    form = form_of("Mail to my contacts is fine, but not to more than 5 people.")
    people, count = letter_of(form, "to contacts"), letter_of(form, "to more than 5 people")
    assert FORMS.composer.said(form, f"may mail/send_email with {people}, not {count}") == (
        "may use mail/send_email to contacts.",
        "must never use mail/send_email to more than 5 people.",
    )


def test_limits_can_be_written_as_in_a_statement() -> None:
    form = form_of("hm")
    assert FORMS.composer.said(form, 'ask mail/send_email with whose text might be read as "a promise"') == (
        'must ask before using mail/send_email whose text might be read as "a promise".',
    )
    assert FORMS.composer.said(form, "may slack/post_message with in #team") == (
        "may use slack/post_message in #team.",
    )


def test_a_prohibition_on_an_optional_argument_says_what_leaving_it_out_means() -> None:
    listing = tool("list_messages", "List messages of a channel.", "", "channel limit:number")
    merging = tool("merge_branch", "Merge a branch.", "branch repo", "squash:bool")
    tools = catalogue_of(annotated({"hub": [merging, listing]}))
    forms = Forms.of(tools, KNOWN)
    form = forms.form(Sentence("hm", (), "", 0))
    assert forms.composer.said(form, "never hub/merge_branch with `squash` is true") == (
        "must never use hub/merge_branch where `squash` is given and is true.",
    )
    assert forms.composer.said(form, "never hub/list_messages with `channel` is general") == (
        "must never use hub/list_messages where `channel` is general or left out.",
    )


def test_attachments_from_anywhere_else_are_forbidden_by_an_exception() -> None:
    form = form_of("Only attach files from Projects to mails.")
    files = letter_of(form, "with attachments from Projects")
    assert FORMS.composer.said(form, f"never mail/send_email with not {files}") == (
        "must never use mail/send_email with attachments, except with attachments from Projects.",
    )
    with pytest.raises(Problem):
        FORMS.composer.said(form, f"may mail/send_email with not {files}")


def test_a_text_with_commas_is_one_limit() -> None:
    said = FORMS.composer.said(form_of("hm"), 'never mail/send_email with whose text might be read as "a, b or c"')
    assert said == ('must never use mail/send_email whose text might be read as "a, b or c".',)


def test_what_is_counted_is_a_noun_of_the_sentence_or_of_the_tool() -> None:
    records = {
        "type": "array",
        "items": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    }
    base = {"base": [tool("update_records", "Update records of a table.", "table", records=records)]}
    forms = Forms.of(catalogue_of(annotated(base)), KNOWN)
    form = forms.form(Sentence("You can change records, never more than 5 in one go.", (), "", 0))
    assert "more than 5 record at once" in [write_limit(each.limit, ()) for each in form.limits]
    form = forms.form(Sentence("You can change at most 5 records.", (), "", 0))
    assert "more than 5 record at once" in [write_limit(each.limit, ()) for each in form.limits]


def test_a_skipped_sentence_concerns_tools_with_an_option_that_it_names() -> None:
    zoom = {"zoom": [tool("create_meeting", "Create a meeting.", "topic", "auto_recording"), *MAIL["mail"]]}
    forms = Forms.of(catalogue_of(annotated(zoom)), KNOWN)
    concerned = {tool.name for tool in forms.concerned(Sentence("Recording is not allowed.", (), "", 0))}
    assert "create_meeting" in concerned
    assert "read_email" not in concerned
