"""One question for a whole plan: the calls that a program will make and that need a person, asked together beforehand.

A yes grants exactly those calls: the same arguments, as often as they stand in the plan, for this program, until it
ends. Anything else still asks.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironcurtain.escalation.grants import Grant
from ironcurtain.escalation.queue import Question
from ironcurtain.sandbox.store import Status
from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from ironcurtain.daemon.planning import Planned
    from ironcurtain.daemon.runs import Runs
    from ironcurtain.gateway.context import Tell
    from ironcurtain.mediation.effects import AskHuman
    from ironcurtain.model.call import Json
    from ironcurtain.sandbox.store import Run

    Record = Callable[[str, dict[str, Json]], Awaitable[None]]

MOST_ASKED: Final = 40  # calls in one question; more is more than a person can weigh
_TICK: Final = 5.0
_GOOD_FOR: Final = 30 * 24 * 3600.0  # seconds; it ends with the program in any case


@dataclass(frozen=True, slots=True)
class EndedError(Exception):
    """A program that comes to no good end."""

    kind: str
    message: str

    def __str__(self) -> str:
        return self.message


class PlanAsking:
    """Asks for the calls of one program."""

    def __init__(self, runs: Runs, run: Run, session: str, record: Record, tell: Tell | None) -> None:
        self._runs = runs
        self._runtime = runs.runtime
        self._run = run
        self._session = session
        self._record = record
        self._tell = tell

    async def ask(self, calls: Sequence[Planned]) -> None:
        """Ask, wait, and grant what was said yes to; on disk it still waits. Raises `EndedError` for a no."""
        effects = {call.effect.digest: call.effect for call in calls if call.effect}
        questions = [
            self._question(effect, [call.line for call in calls if call.effect and call.effect.digest == digest])
            for digest, effect in effects.items()
        ]
        queue = self._runtime.queue
        try:
            for question in questions:
                queue.put(question)
            self._put_away(questions)
            await self._record("asked", {"questions": [question.id for question in questions]})
            for question in questions:
                await self._answered(question)
        finally:
            for question in questions:
                queue.drop(question)
        self._run.question = ""

    def _question(self, effect: AskHuman, lines: list[int]) -> Question:
        where = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
        return Question(
            id=secrets.token_hex(4),
            session=self._session,
            effect=effect,
            asked_at=time.time(),
            expires=math.inf,
            answered=asyncio.get_running_loop().create_future(),
            size=len(strict_json.canonical(effect.prepared.call.arguments)),
            program=f"{where} of program {self._run.id}; asked before it runs",
            plan=self._run.id,
            times=len(lines),
        )

    def _put_away(self, questions: list[Question]) -> None:
        """Nothing was done yet: the program's text is all there is to keep."""
        (name,) = (name for name, group in self._runtime.queue.groups().items() if questions[0] in group)
        self._run.status, self._run.question = Status.WAITING, name
        self._runs.save(self._run)

    async def _answered(self, question: Question) -> None:
        while not question.answered.done():
            if self._tell is not None:
                self._tell({"progress": 1e-6, "message": "waiting for a person to approve the plan of this program"})
            await asyncio.wait([question.answered], timeout=_TICK)
        answer = question.answered.result()
        if not answer.approved:
            said = f": {answer.sentence}" if answer.sentence else ""
            raise EndedError("denied", f"a person said no to {question.program}{said}; nothing was done")
        runtime, call = self._runtime, question.effect.prepared.call
        grant = Grant(
            runtime.grants.next_id(), question.effect, answer.approver, question.times, time.monotonic() + _GOOD_FOR,
            self._session, None,
        )  # fmt: skip
        await self._record(
            "granted",
            {"question": question.id, "grant": grant.id, "server": call.server, "tool": call.tool,
             "uses": question.times, "callDigest": question.effect.digest, "approver": answer.approver},
        )  # fmt: skip
        runtime.grants.add(grant, time.monotonic())
