"""Asks a model for one structured answer: bounded in turns and time, every exchange written down.

Nothing is sent anywhere unless the owner names a model. The library is loaded when one is named, and not before.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pydantic_ai import AgentRunResult

T = TypeVar("T")
TURNS: Final = 4  # the first answer, and repairs
PATIENCE: Final = 180.0  # seconds for all turns
TOKENS: Final = 16_000  # of one answer


class Unanswered(Refusal):
    """The model gave nothing that can be used."""


def missing() -> Refusal:
    """What to do where the library is not there."""
    how = "run: pip install 'ironcurtain[models]'"
    return Refusal("model_missing", "models need a library that is not installed", how)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What a model said, and what it took."""

    output: T
    tokens: int
    cost: float | None
    """In dollars; nothing if the price is not known."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Model:
    """A model that the owner named, for example `anthropic:claude-sonnet-4-5` or `ollama:llama3`."""

    name: str
    log: Path | None = None
    """Where every exchange is written down."""

    def ask(
        self, stage: str, instructions: str, prompt: str, kind: type[T], check: Callable[[T], str | None]
    ) -> Answer[T]:
        """One answer in the given form that passes the check; a complaint of the check is given back for repair."""
        try:
            from pydantic_ai import Agent, ModelRetry, ModelSettings, UsageLimits  # noqa: PLC0415 - slow, and an extra
            from pydantic_ai.exceptions import AgentRunError, UserError  # noqa: PLC0415
        except ImportError:
            raise missing() from None
        began = time.monotonic()
        settings = ModelSettings(max_tokens=TOKENS, timeout=PATIENCE / TURNS)
        try:
            agent = Agent(self.name, output_type=kind, instructions=instructions, retries=TURNS - 1)

            @agent.output_validator
            def _checked(output: T) -> T:
                if complaint := check(output):
                    raise ModelRetry(complaint)
                return output

            async def answered() -> AgentRunResult[T]:
                limits = UsageLimits(request_limit=TURNS)
                async with agent:  # its connections end with it
                    return await agent.run(prompt, model_settings=settings, usage_limits=limits)

            result = asyncio.run(answered())
        except (AgentRunError, UserError, OSError, ValueError) as error:
            self._note(stage, instructions, prompt, {"error": f"{type(error).__name__}: {error}"}, began)
            why = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
            raise Unanswered("model_unanswered", f"{self.name}: {why}", "the built-in reading stands") from None
        answer = Answer(result.output, int(result.usage.total_tokens), _cost(result), time.monotonic() - began)
        messages = json.loads(result.all_messages_json())
        said = {"messages": messages, "tokens": answer.tokens, "cost": answer.cost}
        self._note(stage, instructions, prompt, said, began)
        return answer

    def _note(self, stage: str, instructions: str, prompt: str, said: dict[str, Any], began: float) -> None:
        if self.log is None:
            return
        line = {
            "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "stage": stage,
            "model": self.name,
            "seconds": round(time.monotonic() - began, 3),
            "instructions": instructions,
            "prompt": prompt,
            **said,
        }
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _cost(result: Any) -> float | None:  # noqa: ANN401 - the library's own
    try:
        return float(result.response.cost().total_price)
    except (LookupError, AttributeError, ValueError):
        return None
