"""The same runtime inside a program: same pipeline, same record, same lock."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING
from unittest import mock

import pytest

import ironcurtain
from ironcurtain.errors import Refusal
from ironcurtain.escalation.queue import Answer
from ironcurtain.model.call import Principal

if TYPE_CHECKING:
    from ironcurtain.escalation.queue import Question
    from tests.e2e.house import House


def test_a_program_makes_calls_and_answers_questions(house: House) -> None:
    (house.owner / "a.txt").write_text("hello")
    asked = []

    async def decide(question: Question) -> Answer | None:
        path = str(question.effect.prepared.call.arguments["path"])
        asked.append(path)
        return Answer(approved=path.endswith("a.txt"), approver="a program", sentence="only a")

    async def run() -> list[str]:
        codes = []
        async with ironcurtain.Runtime(house.home, on_escalation=decide) as runtime:
            for path in ("~/a.txt", "~/b.txt"):
                answer = await runtime.call("filesystem", "read_text_file", {"path": path}, principal=Principal("mine"))
                codes.append("made" if answer.executed else answer.decision.code)
            denied = await runtime.call("filesystem", "delete_file", {"path": "~/a.txt"})
            codes.append(denied.decision.code)
            with pytest.raises(Refusal, match="already serves"):
                async with ironcurtain.Runtime(house.home):
                    pass
        return codes

    with mock.patch.dict(os.environ, {"HOME": str(house.owner), "IRONCURTAIN_HOME": str(house.home)}):
        assert asyncio.run(run()) == ["made", "human_denied", "rule_deny"]
    assert asked == [str(house.owner / "a.txt"), str(house.owner / "b.txt")], "and nobody is asked about a deny"
    (intent,) = house.records(kind="intent")
    assert intent["escalation"]["approver"] == "a program"
    assert intent["agent"] == {"agent": "mine"}
    assert "unbroken" in house.run("audit", "verify")


def test_a_program_that_does_not_answer_leaves_it_to_others(house: House) -> None:
    house.configure("[escalation]\nseconds = 1\n")

    async def nothing(_: Question) -> Answer | None:
        return None

    async def run() -> str:
        async with ironcurtain.Runtime(house.home, on_escalation=nothing) as runtime:
            answer = await runtime.call("filesystem", "read_text_file", {"path": "~/a.txt"})
            return answer.decision.code

    with mock.patch.dict(os.environ, {"HOME": str(house.owner), "IRONCURTAIN_HOME": str(house.home)}):
        assert asyncio.run(run()) == "approval_timeout"
