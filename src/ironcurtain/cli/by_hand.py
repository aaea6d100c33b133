"""A model in any chat window: the question goes into a file and the clipboard, the answer is pasted back."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.files import write_artifact
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from pathlib import Path

_CLIPBOARDS: Final = (["pbcopy"], ["wl-copy"], ["xclip", "-selection", "clipboard"], ["xsel", "-ib"], ["clip.exe"])
_END: Final = "."


@dataclass(slots=True)
class ByHand:
    """Answers with what the owner pastes, or with files of answers in their order."""

    file: Path
    """Where the question goes."""
    answers: list[Path] = field(default_factory=list)
    name: str = "by hand"

    def reply(self, instructions: str, asked: str) -> str:
        """Return the pasted answer; where there is no terminal, refuse and say where the question lies."""
        question = f"{instructions}\n\n{asked}\n"
        write_artifact(self.file, question.encode())
        if self.answers:
            return self.answers.pop(0).read_text(encoding="utf-8")
        if not sys.stdin.isatty():
            raise Refusal(
                "model_by_hand",
                f"the question for a model lies in {self.file}",
                "give it to any chat model, save the answer, and run again with --by-hand --answer FILE",
            )
        copied = _copy(question)
        print(f"\nThe question for a model is in {self.file}{', and on the clipboard' if copied else ''}.")
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
