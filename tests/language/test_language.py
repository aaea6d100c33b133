"""The grammar, the writer and the errors of the plain language."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironcurtain.language.parsing import LONGEST, StatementError, parse
from ironcurtain.language.statement import (
    ACTS,
    After,
    Amount,
    Attachments,
    Budget,
    Comparison,
    Condition,
    Content,
    Count,
    Doing,
    Domain,
    Except,
    Giving,
    Limit,
    Line,
    Mood,
    Name,
    Origin,
    People,
    Place,
    Statement,
    Task,
    Thing,
    Where,
)
from ironcurtain.language.writing import BARE, RESERVED, write

LETTERS = "abcxyzABCÄé019_-./#@~*: '\"\\,`()$&"
texts = st.text(LETTERS, min_size=1, max_size=12)
bare = st.from_regex(r"[a-z#~@][a-z0-9_/.#@-]{0,8}[a-z0-9]", fullmatch=True).filter(
    lambda word: word.lower() not in RESERVED and BARE.fullmatch(word) is not None
)
names = (
    st.builds(Name, bare)
    | st.builds(Name, texts, quoted=st.just(True))
    | st.builds(Name, st.sampled_from(["5", "12.5"]))
)
several = st.lists(names, min_size=1, max_size=3).map(tuple)
nouns = st.sampled_from(["email", "pull requests", "files", "calendar events"])
things = st.builds(Thing, nouns, st.none() | names) | st.just(Thing()) | st.builds(Thing, texts, quoted=st.just(True))
some_things = st.lists(things, min_size=1, max_size=3).map(tuple)
acts = st.lists(st.sampled_from([*ACTS, "reset", "purge"]), min_size=1, max_size=3, unique=True).map(tuple)
doings = (
    st.builds(Doing, acts=acts, things=some_things | st.just(()))
    | st.builds(Doing, tools=several)
    | st.builds(Doing, things=some_things)
)
arguments = st.sampled_from(["amount", "files[].path", "to"])
numbers = st.sampled_from(["0", "-3", "500", "12.5"]).map(lambda number: (Name(number),))
plain_tests = st.sampled_from(
    [
        Comparison.IS,
        Comparison.IS_NOT,
        Comparison.IN,
        Comparison.UNDER,
        Comparison.CONTAINS,
        Comparison.STARTS,
        Comparison.ENDS,
    ]
)
bounds = st.sampled_from([Comparison.AT_MOST, Comparison.AT_LEAST, Comparison.ABOVE, Comparison.BELOW])
patterns = st.sampled_from(["a.*", r"\/var\/.*", "(?i)select .*"]).map(lambda text: (Name(text, quoted=True),))
conditions = (
    st.builds(Condition, arguments, plain_tests, several, st.booleans(), st.booleans())
    | st.builds(Condition, arguments, bounds, numbers, st.booleans(), st.booleans())
    | st.builds(Condition, arguments, st.just(Comparison.MATCHES), patterns, st.booleans(), st.booleans())
    | st.builds(Condition, arguments, st.sampled_from([Comparison.GIVEN, Comparison.LEFT_OUT]))
)
people = (
    st.builds(People, st.lists(names | st.builds(Domain, names), min_size=1, max_size=3).map(tuple))
    | st.builds(People, several, st.just(True))
    | st.just(People())
)  # fmt: skip
limits: st.SearchStrategy[Limit] = st.one_of(
    st.builds(Place, several, st.booleans()),
    people,
    st.builds(Where, st.lists(conditions, min_size=1, max_size=3).map(tuple)),
    st.builds(Giving, st.lists(arguments, min_size=1, max_size=3).map(tuple)),
    st.builds(Count, st.integers(0, 99), st.sampled_from(["", "files", "big files"])),
    st.builds(Attachments, several | st.just(())),
    st.just(Attachments(without=True)),
    st.builds(Content, texts),
    st.builds(After, some_things),
    st.builds(Origin, several),
    st.sampled_from(Task),
)


def is_said(found: tuple[Limit, ...]) -> bool:
    """Whether no `to anyone` stands before an `outside`: `to anyone outside ~/A` speaks of people."""
    return not any(one == People() and isinstance(two, Place) and two.outside for one, two in pairwise(found))


known_acts = st.lists(st.sampled_from(ACTS), min_size=1, max_size=2, unique=True).map(tuple)
exceptions = (
    st.builds(
        Except,
        st.builds(Doing, acts=known_acts, things=some_things | st.just(())),
        st.lists(limits, max_size=1).map(tuple),
    )
    | st.builds(Except, st.builds(Doing, tools=several), st.lists(limits, max_size=1).map(tuple))
    | st.builds(Except, st.builds(Doing, things=some_things), st.lists(limits, max_size=1).map(tuple))
    | st.builds(Except, st.just(Doing()), st.lists(limits, min_size=1, max_size=2).map(tuple).filter(is_said))
)


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    mood = draw(st.sampled_from(Mood))
    own = draw(st.lists(limits, max_size=3).map(tuple).filter(is_said))
    only = draw(st.none() | st.integers(0, len(own) - 1)) if own and mood is Mood.MAY else None
    return Statement(mood, draw(doings), own, only, tuple(draw(st.lists(exceptions, max_size=2))))


budgets = st.builds(
    Budget, st.just(Amount.CALLS), st.integers(1, 999), st.sampled_from(["task", "session"])
) | st.builds(Budget, st.just(Amount.MONEY), st.sampled_from([5.0, 0.5]), st.sampled_from(["task", "session"]))


@given(statements() | budgets)
def test_what_is_written_is_read_back_as_the_same(line: Line) -> None:
    assert parse(write(line)) == line


@given(st.text(max_size=60))
def test_any_text_is_a_statement_or_an_error_with_a_place(text: str) -> None:
    try:
        line = parse(text)
    except StatementError as error:
        assert 1 <= error.column <= len(text.strip()) + 1
        assert str(error)
    else:
        assert parse(write(line)) == line


@pytest.mark.parametrize(
    ("line", "column", "says"),
    [
        ("may read email in ~/A extra", 23, "not expected"),
        ("must ask before sending email only to bob", 1, "only"),
        ("may only read files", 1, "only"),
        ("may read files in", 18, "ends too early"),
        ("mst never delete anything", 1, "did you mean 'must'"),
        ("may send email to anyone outside contacts or anyone at x.com", 53, "not expected"),
        ("may read \u200bfiles", 10, "cannot be seen"),
    ],
)
def test_errors_name_the_place_and_what_was_expected(line: str, column: int, says: str) -> None:
    with pytest.raises(StatementError) as caught:
        parse(line)
    assert caught.value.column == column
    assert says in caught.value.shown()


def test_a_statement_has_a_longest() -> None:
    with pytest.raises(StatementError, match="characters"):
        parse("may read " + "x" * LONGEST)


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_a_noun_that_is_a_word_of_the_grammar_is_read_back_as_that_noun(word: str) -> None:
    for noun in (word, f"{word} cell", f"cell {word}"):
        for acts in (("read",), ()):
            line = parse(write(Statement(Mood.NEVER, Doing(acts, (Thing(noun), Thing("cells"))))))
            assert isinstance(line, Statement)
            assert [thing.noun for thing in line.doing.things] == [noun, "cells"]
            assert line.limits == ()
