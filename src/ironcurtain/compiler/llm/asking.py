"""Asks a model, for a text or for one structured answer: bounded in turns, time and size, every exchange written down.

A model is a provider's (`anthropic:...`, `openai:...`, `ollama:...`) or a command-line program that the owner has
already (`command:claude -p`): the question goes to its standard input, the answer comes from its standard output.

Nothing is sent anywhere unless the owner names a model. The library is loaded when one is named, and not before.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
import os
import re
import shlex
import subprocess
import threading
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
PATIENCE: Final = 900.0  # seconds for one answer: a real model writes thousands of tokens
TOKENS: Final = 32_000  # of one answer
LARGEST: Final = 2_000_000  # characters of one answer; more is refused
_NO_STREAMS: Final = frozenset({400, 404, 405, 415, 422, 501})  # how a server says that it does not stream
COMMAND: Final = "command:"
_CHUNK: Final = 65_536  # bytes of an answer that are read at once
_COMPLAINT: Final = 2_000  # characters of what is wrong with an answer
_OBJECT: Final = re.compile(r"\{.*\}", re.DOTALL)
_OLLAMA: Final = "http://localhost:11434/v1"
"""Where Ollama listens unless it is told otherwise."""
_KEYS: Final = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google-gla": "GEMINI_API_KEY"}


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
        if self.name.startswith(COMMAND):
            return self._asked_in_text(stage, instructions, prompt, kind, check)
        try:
            from pydantic_ai import Agent, ModelRetry, ModelSettings, UsageLimits  # noqa: PLC0415 - slow, and an extra
            from pydantic_ai.exceptions import AgentRunError, UserError  # noqa: PLC0415
        except ImportError:
            raise missing() from None
        began = time.monotonic()
        settings = ModelSettings(max_tokens=TOKENS, timeout=PATIENCE)
        _locate(self.name)
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
            help_ = _how_to_name(self.name) if isinstance(error, UserError) else "the built-in reading stands"
            raise Unanswered("model_unanswered", f"{self.name}: {why}", help_) from None
        answer = Answer(result.output, int(result.usage.total_tokens), _cost(result), time.monotonic() - began)
        messages = json.loads(result.all_messages_json())
        said = {"messages": messages, "tokens": answer.tokens, "cost": answer.cost}
        self._note(stage, instructions, prompt, said, began)
        return answer

    def _asked_in_text(
        self, stage: str, instructions: str, prompt: str, kind: type[T], check: Callable[[T], str | None]
    ) -> Answer[T]:
        """Ask a program, which answers in text, for one JSON object of the given form."""
        from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - slow

        form = TypeAdapter(kind)
        schema = json.dumps(form.json_schema(), ensure_ascii=False)
        wanted = (
            f"{instructions}\n\nAnswer with one JSON object and nothing else. Its form, as a JSON schema:\n{schema}"
        )
        asked, complaint, began = prompt, "", time.monotonic()
        for _ in range(TURNS):
            said = self.say(stage, wanted, asked, lambda _: None)
            found = _OBJECT.search(said.output)
            try:
                output = form.validate_json(found.group() if found else said.output)
                complaint = check(output) or ""
            except ValidationError as error:
                complaint = str(error)[:_COMPLAINT]
            else:
                if not complaint:
                    return Answer(output, said.tokens, said.cost, time.monotonic() - began)
            asked = f"{prompt}\n\nYour last answer cannot be used: {complaint}\nAnswer again, in full."
        why = complaint.splitlines()[0][:300]
        raise Unanswered("model_unanswered", f"{self.name}: {why}", "the built-in reading stands")

    def say(self, stage: str, instructions: str, prompt: str, progress: Callable[[str], None]) -> Answer[str]:
        """Return the model's answer as text; `progress` is told of it while it comes."""
        began = time.monotonic()
        try:
            if self.name.startswith(COMMAND):
                text, tokens, cost = (
                    _from_command(self.name.removeprefix(COMMAND), instructions, prompt, progress),
                    0,
                    None,
                )
            else:
                text, tokens, cost = self._streamed(instructions, prompt, progress)
        except Unanswered as refusal:
            self._note(stage, instructions, prompt, {"error": refusal.reason}, began)
            raise
        self._note(stage, instructions, prompt, {"text": text, "tokens": tokens, "cost": cost}, began)
        return Answer(text, tokens, cost, time.monotonic() - began)

    def _streamed(
        self, instructions: str, prompt: str, progress: Callable[[str], None]
    ) -> tuple[str, int, float | None]:
        try:
            from pydantic_ai import Agent, ModelSettings  # noqa: PLC0415 - slow, and an extra
            from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UserError  # noqa: PLC0415
        except ImportError:
            raise missing() from None
        settings = ModelSettings(max_tokens=TOKENS, timeout=PATIENCE)
        _locate(self.name)
        if self.name.startswith("anthropic:"):  # what stays the same is kept between questions
            from pydantic_ai.models.anthropic import AnthropicModelSettings  # noqa: PLC0415

            settings = AnthropicModelSettings(
                max_tokens=TOKENS, timeout=PATIENCE, anthropic_cache_instructions=True, anthropic_cache_messages=True
            )

        async def answered() -> tuple[str, int, float | None]:
            agent = Agent(self.name, instructions=instructions)
            async with agent:
                try:
                    async with agent.run_stream(prompt, model_settings=settings) as result:
                        async for text in result.stream_text():
                            _require_size(text)
                            progress(text)
                        whole = await result.get_output()
                        return whole, int(result.usage.total_tokens), _cost(result)
                except ModelHTTPError as error:
                    if error.status_code not in _NO_STREAMS:
                        raise
                plain = await agent.run(prompt, model_settings=settings)
                _require_size(plain.output)
                progress(plain.output)
                return plain.output, int(plain.usage.total_tokens), _cost(plain)

        try:
            return asyncio.run(answered())
        except (AgentRunError, UserError, OSError, ValueError) as error:
            why = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
            again = "try again: what was answered is kept"
            help_ = _how_to_name(self.name) if isinstance(error, UserError) else again
            raise Unanswered("model_unanswered", f"{self.name}: {why}", help_) from None

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


def _locate(name: str) -> None:
    """Say where a local server is, where its library does not know."""
    if name.startswith("ollama:"):
        os.environ.setdefault("OLLAMA_BASE_URL", _OLLAMA)


def _how_to_name(name: str) -> str:
    """Return what to type where a model cannot be reached by its name."""
    key = _KEYS.get(name.partition(":")[0])
    if key and not os.environ.get(key):
        return f"set {key}, or use a program you have: --model 'command:claude -p', or any chat window: --by-hand"
    return "write PROVIDER:MODEL (anthropic:..., openai:..., ollama:...), or 'command:claude -p', or use --by-hand"


def _require_size(text: str) -> None:
    if len(text) > LARGEST:
        raise Unanswered("model_unanswered", f"an answer of more than {LARGEST} characters", "name another model")


def _from_command(command: str, instructions: str, prompt: str, progress: Callable[[str], None]) -> str:
    """The answer of a program: the question on its standard input, and nothing of ours in its environment but that."""
    words = shlex.split(command.strip("\"'"))
    if not words:
        raise Unanswered("model_unanswered", "no command is named", "write --model 'command:claude -p'")
    try:
        process = subprocess.Popen(  # noqa: S603 - the owner's own program, by the owner's own words
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as error:
        raise Unanswered("model_unanswered", f"{words[0]}: {error.strerror}", f"is {words[0]} installed?") from None
    ended = threading.Timer(PATIENCE, process.kill)
    ended.start()
    errors: list[str] = []
    reader = threading.Thread(
        target=lambda: errors.append(process.stderr.read(4_000).decode(errors="replace") if process.stderr else ""),
        daemon=True,
    )
    reader.start()
    try:
        whole = _exchanged(process, f"{instructions}\n\n{prompt}\n", progress)
        code = process.wait()
    finally:
        ended.cancel()
        process.kill()
        process.wait()
        reader.join(1.0)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    if code != 0 or not whole.strip():
        said = next((line for line in "".join(errors).splitlines() if line.strip()), "it said nothing")
        raise Unanswered("model_unanswered", f"{words[0]} ended with {code}: {said[:200]}", "run it by hand once")
    return whole


def _exchanged(process: subprocess.Popen[bytes], question: str, progress: Callable[[str], None]) -> str:
    """Write the question and read the answer at the same time, so that neither side waits for the other.

    The answer is read as it comes and never held beyond its limit.
    """

    def write() -> None:
        if process.stdin:
            with contextlib.suppress(OSError), process.stdin:
                process.stdin.write(question.encode())

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    decoder, whole = codecs.getincrementaldecoder("utf-8")(errors="replace"), ""
    while process.stdout and (chunk := os.read(process.stdout.fileno(), _CHUNK)):
        whole += decoder.decode(chunk)
        _require_size(whole)
        progress(whole)
    return whole
