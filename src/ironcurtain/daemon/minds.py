"""What an agent's next message comes from: a model, through a broker that holds the key; or a script.

A *thought* is one message: what is said, which tools are to be called, and what it took.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from ironcurtain.errors import Refusal
from ironcurtain.sandbox.process import PYTHON

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ironcurtain.model.call import Json

_LARGEST: Final = 64 << 20  # bytes of one line of a broker
_STARTING: Final = 60.0  # seconds for a broker: its library is a large one
_THINKING: Final = 600.0  # seconds between two signs of life of a model
PASSED_ON: Final = frozenset({"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "LANG"})
"""What a broker gets of the owner's environment besides keys."""


@dataclass(frozen=True, slots=True)
class Thought:
    """One message of a model."""

    text: str
    calls: list[dict[str, Json]] = field(default_factory=list)
    raw: Json = None
    """The message as its provider's library wrote it down, to be said again as it was."""
    used: dict[str, int] | None = None
    """Tokens, and cost in millionths of a dollar; nothing if the provider does not say."""


class Mind(Protocol):
    """Where thoughts come from."""

    async def worst(self, asked: dict[str, Json]) -> dict[str, int]: ...
    async def think(self, asked: dict[str, Json], tell: Callable[[str], None]) -> Thought: ...
    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Script:
    """A recorded model: its messages, one after the other, whatever it is told."""

    turns: Sequence[Mapping[str, Any]]

    async def worst(self, _: dict[str, Json]) -> dict[str, int]:
        """It costs nothing."""
        return {"tokens": 0, "cost": 0}

    async def think(self, asked: dict[str, Json], tell: Callable[[str], None]) -> Thought:
        """The message whose turn it is; behind the last one there is nothing to say."""
        messages: Any = asked["messages"]
        said = sum(1 for each in messages if each["role"] == "model")
        if said >= len(self.turns):
            return Thought("", used={"tokens": 0, "cost": 0})
        turn = self.turns[said]
        text = str(turn.get("text", ""))
        tell(text)
        calls = [{"id": f"{said + 1}-{at}", **call} for at, call in enumerate(turn.get("calls", []), 1)]
        return Thought(text, calls, used={"tokens": 0, "cost": 0})

    async def close(self) -> None:
        """There is nothing to end."""


class Broker:
    """A model behind its broker, which is started when it is needed, and again if it ended."""

    def __init__(self, directory: Path, settings: dict[str, Json], environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._settings = settings
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None

    async def worst(self, asked: dict[str, Json]) -> dict[str, int]:
        """What it may take at most."""
        await self._say({"worst": asked})
        answer = await self._hear(_STARTING)
        return {"tokens": int(answer["tokens"]), "cost": int(answer["cost"])}

    async def think(self, asked: dict[str, Json], tell: Callable[[str], None]) -> Thought:
        """The model's next message."""
        try:
            await self._say({"think": asked})
            while True:
                answer = await self._hear(_THINKING)
                if "delta" in answer:
                    tell(str(answer["delta"]))
                elif "thought" in answer:
                    return Thought(**answer["thought"])
                else:
                    raise Refusal(
                        "model_failed", str(answer.get("failed")), "look at the key, the name and the network"
                    )
        except asyncio.CancelledError:
            await self.close()  # what it would still say belongs to nobody
            raise

    async def _say(self, message: dict[str, Json]) -> None:
        if self._process is None or self._process.returncode is not None:
            await self._start()
        process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.write(json.dumps(message).encode() + b"\n")
                await process.stdin.drain()

    async def _start(self) -> None:
        kept = {name: value for name, value in os.environ.items() if name.upper() in PASSED_ON}
        self._process = await asyncio.create_subprocess_exec(
            *PYTHON, "-m", "ironcurtain.identity.broker", json.dumps(self._settings), env={**kept, **self._environment},
            cwd=self._directory, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=_LARGEST,
        )  # fmt: skip
        answer = await self._hear(_STARTING)
        if "ready" not in answer:
            await self.close()
            raise Refusal("model_unavailable", str(answer.get("unready")), str(answer.get("help", "")))

    async def _hear(self, seconds: float) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdout is None:
            raise Refusal("model_failed", "the broker is gone", "try again")
        try:
            line = await asyncio.wait_for(process.stdout.readline(), seconds)
        except (TimeoutError, ValueError):
            line = b""
        if not line.endswith(b"\n"):
            await self.close()
            raise Refusal("model_failed", "the broker did not answer", "try again")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def close(self) -> None:
        """End the broker."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
