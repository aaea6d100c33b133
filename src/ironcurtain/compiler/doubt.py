"""Which permissions ask because a sentence near them was not understood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ironcurtain.compiler.readers.guards import speaks_of_rules

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ironcurtain.compiler.document import Sentence


def in_doubt(sentences: Sequence[Sentence], unclear: Collection[int]) -> frozenset[int]:
    """Return the sentences, by their place, that a sentence which was not understood might limit.

    One that speaks of what may or may not be done: all under its heading and under those below it. Any other: what is
    under its own heading; in a text that no headings divide, its paragraph or list, and where nothing else stands there
    also what stands before and behind it. A title over the whole text divides nothing.
    """
    divided = len({each.headings for each in sentences}) > 1
    of_rules = {sentences[each].headings for each in unclear if speaks_of_rules(sentences[each].text)}
    others = [each for each in unclear if not speaks_of_rules(sentences[each].text)]
    headings = {sentences[each].headings for each in others} if divided else set()
    stretches = set() if divided else _around(sentences, others)
    return frozenset(
        number
        for number, each in enumerate(sentences)
        if each.headings in headings
        or each.stretch in stretches
        or any(each.headings[:depth] in of_rules for depth in range(len(each.headings) + 1))
    )


def _around(sentences: Sequence[Sentence], unclear: Collection[int]) -> set[int]:
    found = {sentences[each].stretch for each in unclear}
    understood = {each.stretch for number, each in enumerate(sentences) if number not in unclear}
    alone = found - understood
    return found | {each + 1 for each in alone} | {each - 1 for each in alone}
