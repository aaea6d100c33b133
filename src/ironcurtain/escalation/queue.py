"""The questions that wait, and the answers to them. One queue for a home, whoever asks and whoever answers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from ironcurtain.escalation.grants import Pattern
    from ironcurtain.mediation.effects import AskHuman
    from ironcurtain.model.call import Json, Principal

MOST_WAITING: Final = 50  # questions of one principal at once; more than a person can weigh
MOST_IN_ALL: Final = 200
MOST_BYTES: Final = 128 * 1024  # of one question; nobody reads more
MOST_BYTES_OF_ONE: Final = 1024 * 1024  # of all questions of one principal
MOST_BYTES_IN_ALL: Final = 4 * 1024 * 1024


class Scope(Enum):
    """What a yes is for."""

    ONCE = "once"
    SESSION = "session"
    """The same call again, as long as the session lasts."""
    PATTERN = "pattern"
    """The calls of the pattern that was shown."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said."""

    approved: bool
    approver: str
    sentence: str = ""
    """For the agent, if it is a no."""
    scope: Scope = Scope.ONCE
    uses: int | None = None
    seconds: float | None = None
    """How far a grant goes, if not as far as usual."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call that waits for a person."""

    id: str
    session: str
    effect: AskHuman
    asked_at: float
    """Seconds since the epoch, for people."""
    expires: float
    """By the machine's clock; infinite for one that waits until it is answered."""
    answered: asyncio.Future[Answer] = field(repr=False)
    widens: bool = False
    """Whether a yes may be for more than this call."""
    pattern: Pattern | None = None
    """What else a person could say yes to."""
    agent_says: str = ""
    """The agent's own words. They prove nothing."""
    besides: dict[str, Json] = field(default_factory=dict)
    """What is sent beside the arguments."""
    size: int = 0
    """In bytes, all of it."""
    granted: tuple[int, float] = (1, 0.0)
    """How often and how long a wider yes is good, unless it says otherwise."""
    program: str = ""
    """Where in a program the call stands."""
    plan: str = ""
    """The program whose calls are asked for all at once, before it runs."""
    times: int = 1
    """How often a yes lets the call be made."""

    @property
    def kind(self) -> object:
        """Questions of one kind may be answered together."""
        if self.plan:
            return self.plan
        call, decision = self.effect.prepared.call, self.effect.decision
        roles = frozenset(item.role for item in call.values)
        return call.principal, call.server, call.tool, decision.code, decision.rule, roles


class Queue:
    """All questions of a home."""

    def __init__(self) -> None:
        self._waiting: dict[str, Question] = {}
        self._watchers: set[Callable[[], None]] = set()

    def put(self, question: Question) -> None:
        """Ask. Refused when more questions wait than a person can weigh."""
        if question.size > MOST_BYTES:
            raise Refusal("ask_too_large", f"more than {MOST_BYTES} bytes are too much to ask a person about")
        mine = [each for each in self._waiting.values() if _whose(each) == _whose(question)]
        own, all_ = (question.size + sum(each.size for each in some) for some in (mine, self._waiting.values()))
        many = len(mine) >= MOST_WAITING or len(self._waiting) >= MOST_IN_ALL
        if many or own > MOST_BYTES_OF_ONE or all_ > MOST_BYTES_IN_ALL:
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

    def groups(self) -> dict[str, list[Question]]:
        """Questions of one kind, where there are several, under a name for exactly these."""
        kinds: dict[object, list[Question]] = {}
        for question in self._waiting.values():
            kinds.setdefault(question.kind, []).append(question)
        return {_group_name(questions): questions for questions in kinds.values() if len(questions) > 1}

    def find(self, id_: str) -> list[Question]:
        """The question with exactly this id, or the questions of a group.

        A group has another name as soon as another question joins it: a name stands for what was listed under it.
        """
        groups = self.groups()
        if id_ in groups:
            return groups[id_]
        if id_ not in self._waiting:
            raise Refusal("question_unknown", f"{id_!r} is not waiting", "run: ironcurtain approvals")
        return [self._waiting[id_]]

    def answer(self, id_: str, answer: Answer) -> list[Question]:
        """Answer a question or a group; the first answer counts."""
        questions = self.find(id_)
        if len(questions) > 1 and answer.scope is not Scope.ONCE:
            raise Refusal("scope_refused", "a group is answered for the calls that are listed", "answer one alone")
        if answer.scope is not Scope.ONCE and not questions[0].widens:
            raise Refusal("scope_refused", "this question is about one call only", "approve it once, or deny it")
        if answer.scope is Scope.PATTERN and questions[0].pattern is None:
            raise Refusal("scope_refused", "nothing wider can be built from this call", "approve it once, or deny it")
        for question in questions:
            self._waiting.pop(question.id)
            if not question.answered.done():
                question.answered.set_result(answer)
        self._tell()
        return questions

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Be told when the queue changes, until the function that comes back is called."""
        self._watchers.add(changed)
        return lambda: self._watchers.discard(changed)

    def _tell(self) -> None:
        for changed in list(self._watchers):
            changed()


def _group_name(questions: list[Question]) -> str:
    ids = " ".join(sorted(question.id for question in questions))
    return "all-" + hashlib.sha256(ids.encode()).hexdigest()[:6]


def _whose(question: Question) -> Principal:
    """Who works for an agent counts as that agent."""
    return question.effect.prepared.call.principal.root
