"""Questions about a whole call, and what a rule requires of one.

What rules can see of a whole call is expressed in *facts*: "the test holds for a value", "the test fails for a value",
"there is a value of this role", "something is sent". A call has the facts of each of its values, so that more values
only add facts. Facts are bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Answer(Enum):
    """What is known of a question."""

    NO = 0
    YES = 1
    ERROR = 2
    OPEN = 3
    """More values may change it."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the facts of a call."""

    needs: int = 0
    """One of these must be there; none of them if there are none."""
    bars: int = 0
    """None of these may."""
    errors: int = 0
    """Each of these makes it an error, whatever else is there."""

    @property
    def facts(self) -> int:
        """Everything that it looks at."""
        return self.needs | self.bars | self.errors

    def answer(self, facts: int, still: int) -> Answer:
        """Return the answer for a call that has these facts, and may still come to have those."""
        if facts & self.errors:
            return Answer.ERROR
        if facts & self.bars:
            return Answer.NO
        if self.needs and not facts & self.needs:
            return Answer.OPEN if still & (self.needs | self.errors) else Answer.NO
        return Answer.OPEN if still & (self.bars | self.errors) else Answer.YES


@dataclass(frozen=True, slots=True)
class Count:
    """A limit of how many values there are."""

    counter: int
    least: int
    most: int | None
    allowing: bool
    unknown: int
    """The fact that some cannot be counted."""

    def holds(self, facts: int, counts: Sequence[int]) -> bool:
        """Return whether the limit is kept, as the engine says."""
        if not counts[self.counter]:
            return False
        if facts & self.unknown:
            return not self.allowing and self.most is None
        return self.least <= counts[self.counter] and (self.most is None or counts[self.counter] <= self.most)


@dataclass(frozen=True, slots=True)
class Ask:
    """One test, as far as it looks at the whole call."""

    question: Question | None
    count: Count | None = None
    local: bool = False
    """Its question is asked of the claim's own value."""
    fallible: bool = False
    """It can be an error, which no exception of its rule excuses."""

    def settled(self, facts: int, still: int) -> Answer:
        """Return what is known before the call is complete."""
        said = self.question.answer(facts, still) if self.question else Answer.YES
        if said is Answer.YES and (self.count or self.local):
            return Answer.OPEN
        return said

    def final(self, facts: int, counts: Sequence[int]) -> Answer:
        """Return the answer for a complete call; of a local test, what its limit says."""
        said = self.question.answer(facts, 0) if self.question else Answer.YES
        if said is Answer.YES and self.count and not self.count.holds(facts, counts):
            return Answer.NO
        return said


@dataclass(frozen=True, slots=True)
class Asks:
    """Several tests, all of which must hold."""

    all: tuple[Ask, ...]
    facts: int
    """Everything that they look at."""

    @classmethod
    def of(cls, asks: Iterable[Ask]) -> Asks:
        """Gather tests."""
        every, facts = tuple(asks), 0
        for ask in every:
            facts |= ask.question.facts if ask.question else 0
            facts |= ask.count.unknown if ask.count else 0
        return cls(every, facts)

    @property
    def local(self) -> bool:
        """Whether they also depend on the claim's own value."""
        return any(ask.local for ask in self.all)

    @property
    def fallible(self) -> bool:
        """Whether they can be an error."""
        return any(ask.fallible for ask in self.all)

    @property
    def watching(self) -> bool:
        """Whether they depend on the rest of the call."""
        return any(ask.question is not None or ask.count is not None for ask in self.all)

    def settled(self, facts: int, still: int) -> Answer:
        """Return what is known of all of them before the call is complete; an error does not count as a no."""
        said = [ask.settled(facts, still) for ask in self.all]
        if Answer.NO in said:
            return Answer.NO
        if Answer.OPEN in said:
            return Answer.OPEN
        return Answer.ERROR if Answer.ERROR in said else Answer.YES

    def final(self, facts: int, counts: Sequence[int]) -> tuple[Answer, ...] | None:
        """Return the answers for a complete call; nothing if one of them is a no, whatever the claim's own value is."""
        said = tuple(ask.final(facts, counts) for ask in self.all)
        for ask, each in zip(self.all, said, strict=True):
            if each is Answer.NO and not (ask.local and ask.fallible):
                return None
        return said


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a rule asks of the whole call when it is applied to claims of one role."""

    own: Asks
    exemptions: tuple[Asks, ...] = ()
    """Groups of exceptions: one that holds in full, an error included, lifts the rule."""
    tells: int = 0
    """Facts that change what it comes to, though it holds with and without them."""

    @property
    def facts(self) -> int:
        """Everything that it looks at."""
        found = self.own.facts | self.tells
        for exemption in self.exemptions:
            found |= exemption.facts
        return found

    @property
    def watching(self) -> bool:
        """Whether it depends on the rest of the call."""
        return self.own.watching or any(exemption.watching for exemption in self.exemptions)


@dataclass(frozen=True, slots=True)
class Part:
    """What one option of one argument adds to a call."""

    facts: int
    counts: tuple[int, ...]
    selected: frozenset[tuple[str, str]] = frozenset()
    """The arguments that select modes, with what they select."""


@dataclass(frozen=True, slots=True)
class State:
    """What matters of a call that may still grow."""

    facts: int
    void: int
    """The requirements that are known to fail, or to come behind a rule that decides, as bits."""
    mask: int = field(compare=False)
    """The facts that can still matter."""
    still: int = field(compare=False)
    """The facts that may come, as far as that was known."""
    left: Mapping[int, tuple[int, bool]] = field(compare=False, repr=False)
    """The other requirements, each with the facts that matter to it and whether it certainly holds."""
