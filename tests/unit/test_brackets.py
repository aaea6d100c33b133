"""Groups in brackets, found in one pass, against the expression they stand for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironcurtain.engine.brackets import Bracketed, split

GROUP = re.compile(r"\[[!^]?+\]?+(?:\[([:.=])[^\]]*?\1\]|[^\]])*\]")
NAMES = st.text(alphabet="[]!^:.=ab\u00e4", max_size=14)


def expected(name: str) -> list[tuple[str, bool]]:
    found, end = [], 0
    for group in GROUP.finditer(name):
        found += [(name[end : group.start()], False), (group[0], True)]
        end = group.end()
    return [piece for piece in [*found, (name[end:], False)] if piece[0]]


@given(NAMES)
def test_the_groups_are_those_of_a_glob(name: str) -> None:
    assert list(split(name)) == expected(name)


@pytest.mark.parametrize(
    ("name", "groups"),
    [("[a:x:]y]", ["[a:x:]"]), ("[[:x:]y]", ["[[:x:]y]"]), ("[[:]y]", ["[[:]"]), ("[[::]y]", ["[[::]y]"]), ("[[:x.]y]", ["[[:x.]"]),
     ("[[:x:][:y:]", ["[[:x:][:y:]"]), ("[]]", ["[]]"]), ("[]", []), ("[!]]", ["[!]]"]), ("]a[b]", ["[b]"]), ("[[:x", []), ("[a]]", ["[a]"]),
     ("[^]x]", ["[^]x]"]), ("[[=x=]]", ["[[=x=]]"]), ("[[.x.]]", ["[[.x.]]"]), ("[a[:", []), ("[[:x:]", ["[[:x:]"])],
)  # fmt: skip
def test_where_a_group_ends(name: str, groups: list[str]) -> None:
    assert (
        [text for text, grouped in split(name) if grouped]
        == groups
        == [text for text, grouped in expected(name) if grouped]
    )


@given(NAMES, st.text(alphabet="ab[]", max_size=8))
def test_what_a_name_may_be(name: str, wanted: str) -> None:
    pattern = "".join(f"(?:{re.escape(text)}|.)" if group else re.escape(text) for text, group in expected(name))
    assert Bracketed(name, str).may_be(wanted) is (re.fullmatch(pattern, wanted, re.DOTALL) is not None)


@pytest.mark.parametrize(
    ("name", "wanted", "may"),
    [(".ss[h]", ".ssh", True), (".s[ss]h", ".ssh", True), (".ss[hh]x", ".ssh", False), (".g[!x]t", ".git", True),
     (".[\ufb01]t", ".fit", True), ("[[:alpha:]]it", "git", True), ("x[y]", "x[y]", True), ("[x][y]", "[x]y", True)],
)  # fmt: skip
def test_a_group_is_itself_or_one_character(name: str, wanted: str, may: bool) -> None:
    folded = Bracketed(name, lambda text: text.replace("\ufb01", "fi"))
    assert folded.may_be(wanted) is may


def test_a_group_may_fold_to_nothing() -> None:
    assert Bracketed("a[\u200b]b", lambda text: text.replace("\u200b", "")).may_be("ab")
