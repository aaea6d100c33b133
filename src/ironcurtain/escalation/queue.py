"""The questions that wait, and the answers to them. One queue for a home, whoever asks and whoever answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from ironcurtain.mediation.effects import AskHuman

MOST_WAITING: Final = 50  # questions of one principal at once; more than a person can weigh
MOST_IN_ALL: Final = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said."""

    approved: bool
    approver: str
    sentence: str = ""
    """For the agent, if it is a no."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call that waits for a person."""

    id: str
    session: str
    effect: AskHuman
    asked_at: float
    """Seconds since the epoch, for people."""
    expires: float
    """By the machine's clock."""
    answered: asyncio.Future[Answer] = field(repr=False)


class Queue:
    """All questions of a home."""

    def __init__(self) -> None:
        self._waiting: dict[str, Question] = {}
        self._watchers: set[Callable[[], None]] = set()

    def put(self, question: Question) -> None:
        """Ask. Refused when more questions wait than a person can weigh."""
        mine = [q for q in self._waiting.values() if _principal(q) == _principal(question)]
        if len(mine) >= MOST_WAITING or len(self._waiting) >= MOST_IN_ALL:
            raise Refusal(
                "ask_flood", f"{len(self._waiting)} calls already wait for a person", "wait for answers first"
            )
        self._waiting[question.id] = question
        self._tell()

    def drop(self, question: Question) -> None:
        """It needs no answer any more."""
        if self._waiting.pop(question.id, None) is not None:
            self._tell()

    def waiting(self) -> list[Question]:
        """The questions, oldest first."""
        return list(self._waiting.values())

    def find(self, id_: str) -> Question:
        """The question with this id, or with an id that begins so."""
        found = [q for name, q in self._waiting.items() if id_ and name.startswith(id_)]
        if len(found) != 1:
            why = "is not waiting" if not found else "is the beginning of several"
            raise Refusal("question_unknown", f"{id_!r} {why}", "run: ironcurtain approvals list")
        return found[0]

    def answer(self, id_: str, answer: Answer) -> Question:
        """Answer a question; the first answer counts."""
        question = self.find(id_)
        self._waiting.pop(question.id)
        if not question.answered.done():
            question.answered.set_result(answer)
        self._tell()
        return question

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Be told when the queue changes, until the function that comes back is called."""
        self._watchers.add(changed)
        return lambda: self._watchers.discard(changed)

    def _tell(self) -> None:
        for changed in list(self._watchers):
            changed()


def _principal(question: Question) -> object:
    return question.effect.prepared.call.principal
