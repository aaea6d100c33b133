"""What a sentence that was not understood may limit: those permissions ask."""

from __future__ import annotations

import pytest

from ironcurtain.compiler.document import sentences_of
from ironcurtain.compiler.doubt import in_doubt


def _asking(text: str, unread: str) -> set[str]:
    sentences = sentences_of(text)
    unclear = [number for number, each in enumerate(sentences) if unread in each.text]
    assert unclear, [each.text for each in sentences]
    return {sentences[number].text for number in in_doubt(sentences, unclear) if number not in unclear}


@pytest.mark.parametrize(
    "limit",
    [
        "This holds until Friday.", "Weekdays, nine to five.", "Valid until 2026-12-01.", "During business hours.",
        "Suspended.", "Once a day.", "Just for this week.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("title", ["", "# Mail\n\n"])
def test_what_stands_alone_may_limit_what_is_beside_it(title: str, limit: str) -> None:
    before = f"{title}You may read files.\n\nYou may send email.\n\n{limit}\n\nYou may pay.\n\nYou may post."
    assert _asking(before, limit) == {"You may send email.", "You may pay."}


def test_what_stands_among_others_may_limit_its_paragraph_or_its_list() -> None:
    text = "# Rules\n\nYou may pay.\n\n- you may read\n- logs with the date\n- you may post\n\nYou may write."
    assert _asking(text, "logs") == {"you may read", "you may post"}
    assert _asking("You may pay.\n\nBedtime's eight. You may post.\n\nYou may write.", "eight") == {"You may post."}


@pytest.mark.parametrize("limit", ["on weekdays", "newsletters"])
def test_what_stands_further_in_may_limit_what_it_stands_under(limit: str) -> None:
    assert "may send email to contacts." in _asking(f"- may send email to contacts.\n  - {limit}", limit)


def test_what_comes_before_a_paragraph_may_limit_it() -> None:
    text = "# Mail\n\nTemporarily disabled.\n\nYou may send email.\n\nYou may pay."
    assert _asking(text, "Temporarily") == {"You may send email."}


def test_a_sentence_that_speaks_of_rules_may_limit_all_below_it() -> None:
    text = "{}Everything below needs my okay at night.\n\n## Mail\n\nYou may send email.\n\n## Files\n\nYou may read."
    every = {"You may send email.", "You may read."}
    assert _asking(text.format(""), "night") == _asking(text.format("# Rules\n\n"), "night") == every


def test_what_stands_under_a_heading_of_its_own_limits_nothing_else() -> None:
    text = "## Mail\n\nYou may send email.\n\nHm.\n\n## Files\n\nYou may read.\n\nYou may write."
    assert _asking(text, "Hm") == {"You may send email."}
