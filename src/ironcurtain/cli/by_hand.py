"""A model in any chat window: the question goes into a file and the clipboard, the answer is pasted back."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.files import read_artifact, write_artifact
from ironcurtain.compiler.readers.answers import WRONG
from ironcurtain.errors import Refusal, visible

if TYPE_CHECKING:
    from pathlib import Path

_CLIPBOARDS: Final = (["pbcopy"], ["wl-copy"], ["xclip", "-selection", "clipboard"], ["xsel", "-ib"], ["clip.exe"])
_END: Final = "."
_READINGS: Final = {2: "it is the second reading, which is compared with the first: open a new chat for it"}
_SHOWN: Final = 6  # lines of what is wrong with an answer


@dataclass(slots=True)
class ByHand:
    """Answers with what the owner pastes, or with files of answers in their order."""

    file: Path
    """Where the question goes."""
    answers: list[Path] = field(default_factory=list)
    name: str = "by hand"
    readings: int = 0
    """How many independent readings were begun."""

    @property
    def kept(self) -> Path:
        """Where answers are kept until the run is complete, each by the digest of its question."""
        return self.file.with_name("answers-by-hand")

    def reply(self, instructions: str, asked: str) -> str:
        """Return the answer to a question: the one given in an earlier run, from a file, or pasted.

        Where there is no terminal and no answer, refuse and say where the question lies.
        """
        question = f"{instructions}\n\n{asked}\n"
        wrong = asked.rpartition(WRONG)[2].strip() if WRONG in asked else ""
        self.readings += not wrong
        before = self.kept / f"{hashlib.sha256(question.encode()).hexdigest()}.md"
        if before.exists():
            return read_artifact(before).decode()
        answer = self._answer(question, wrong)
        self.kept.mkdir(mode=0o700, exist_ok=True)
        write_artifact(before, answer.encode())
        return answer

    def close(self) -> None:
        """Remove the answers: the run is complete, and the next one asks anew."""
        shutil.rmtree(self.kept, ignore_errors=True)

    def _answer(self, question: str, wrong: str) -> str:
        write_artifact(self.file, question.encode())
        if self.answers:
            return self.answers.pop(0).read_text(encoding="utf-8")
        if not sys.stdin.isatty():
            again = (
                "what is wrong with the last answer stands at its end" if wrong else _READINGS.get(self.readings, "")
            )
            raise Refusal(
                "model_by_hand",
                f"the question for a model lies in {self.file}{f' ({again})' if again else ''}",
                "give it to any chat model, save the answer, and run again with --by-hand --answer FILE",
            )
        copied = _copy(question)
        if wrong:
            lines = [line for line in wrong.splitlines() if line.strip()][:_SHOWN]
            print(
                "\nThe last answer cannot be used as it is:\n",
                *(f"  {visible(line)[:160]}\n" for line in lines),
                sep="",
            )
        elif self.readings > 1:
            print(f"\nReading {self.readings}: a second one is compared with the first. Open a new chat for it.")
        print(f"The question for a model is in {self.file}{', and on the clipboard' if copied else ''}.")
        print(f"Give it to any chat model, paste the answer here, and end it with a line that has only a dot ({_END}).")
        lines = []
        for line in iter(sys.stdin.readline, ""):
            if line.strip() == _END:
                break
            lines.append(line)
        return "".join(lines)


def _copy(text: str) -> bool:
    for command in _CLIPBOARDS:
        if shutil.which(command[0]):
            done = subprocess.run(command, input=text.encode(), check=False, capture_output=True)  # noqa: S603
            return done.returncode == 0
    return False
