"""Ranks tools by how near they are to what a sentence says: by shared words, the rarer the more, and by acts."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import words_in, words_of
from ironcurtain.compiler.readers.wording import stem, stems_of
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.naming import Meant
    from ironcurtain.compiler.readers.wording import Wording

_NAME, _THING, _LOOSE, _SERVER, _COMMENT, _ARGUMENT = 3.0, 2.5, 1.0, 2.0, 1.0, 0.6
_OTHER_ACT: Final = 0.45  # of the score of a tool that does none of the acts in the sentence
_CONTEXT: Final = 0.4  # of the weight of a word that stands in a heading or another clause
_TELLING: Final = 1.5  # for an act that few tools do
_TELLING_ACTS: Final = frozenset({"delete", "trash", "send", "share", "upload", "pay", "run"})
_FITTING: Final = 1.0  # for a name in the sentence that the tool has an argument for


@dataclass(frozen=True, eq=False)
class Index:
    """The words of a catalogue's tools, made once for all sentences."""

    tools: Sequence[Tool]

    @cached_property
    def weights(self) -> dict[str, dict[str, float]]:
        """Return, for each tool, the weight of each stem that it is described by."""
        return {tool.key: _weights(tool) for tool in self.tools}

    @cached_property
    def rarity(self) -> dict[str, float]:
        """Return how much each stem tells tools apart."""
        counted = Counter(each for weights in self.weights.values() for each in weights)
        return {each: math.log(1 + len(self.tools) / count) for each, count in counted.items()}

    def ranked(self, wording: Wording, context: frozenset[str], meant: Meant) -> list[tuple[float, Tool]]:
        """Return the tools that share anything with a clause, the nearest first; `context` are stems around it."""
        found: list[tuple[float, int, Tool]] = []
        for place, tool in enumerate(self.tools):
            weights = self.weights[tool.key]
            own = sum(weights.get(each, 0.0) * self.rarity.get(each, 0.0) for each in wording.stems)
            around = sum(weights.get(each, 0.0) * self.rarity.get(each, 0.0) for each in context - wording.stems)
            score = own + _CONTEXT * around
            acting = wording.acts & tool.might.acts
            if not tool.in_doubt:
                score += _TELLING * bool(acting & _TELLING_ACTS)
            if wording.acts and not acting:
                score *= _OTHER_ACT
            score += _FITTING * _fits(tool, meant)
            if not score:
                continue
            found.append((score, place, tool))
        return [(score, tool) for score, _, tool in sorted(found, key=lambda each: (-each[0], each[1]))]


def _weights(tool: Tool) -> dict[str, float]:
    weights: dict[str, float] = {}

    def put(words: frozenset[str], weight: float) -> None:
        for each in words:
            weights[each] = max(weights.get(each, 0.0), weight)

    put(frozenset(stem(word) for word in words_of(tool.name)), _NAME)
    put(stems_of(word for thing in tool.things for word in thing.split()), _THING)
    put(stems_of(word for thing in tool.loose_things for word in thing.split()), _LOOSE)
    put(stems_of(words_of(tool.server) or (tool.server.lower(),)), _SERVER)
    put(stems_of(words_in(tool.comment)), _COMMENT)
    for argument in tool.arguments.values():
        choices = [word for value in argument.choices for word in re.findall(r"[a-z]+", str(value).lower())]
        put(stems_of((*argument.words, *choices)), _ARGUMENT)
    return weights


def _fits(tool: Tool, meant: Meant) -> float:
    """Return how many of the kinds of names in a sentence the tool has arguments for; an identifier may hold a name."""
    held = bool(meant.values) and "identifier" in tool.roles and not tool.of(Category.PLACE)
    return 0.5 * held + sum(
        (
            bool(meant.paths) and bool(tool.of(Category.PATH)),
            bool(meant.people) and bool(tool.of(Category.PARTY)),
            bool(meant.hosts) and bool(tool.of(Category.URL)),
            bool(meant.values) and bool(tool.of(Category.PLACE)),
        )
    )
