"""What the owner is offered for a sentence: whole statements to take, and the parts to make one of.

A form has the tools near a sentence, one by one or all that are about a thing (`A`, `B` ...), and the limits that its
words suggest (`a`, `b` ...). The owner takes a whole statement by its number, or says in one line what is meant:
``may A B with a, not b; never C with `amount` is more than 50``.

INVARIANT: a form proposes. What is made of it is written as statements, compiled and shown before it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

from ironcurtain.language.statement import Name
from ironcurtain.language.writing import write_doing, write_limit

if TYPE_CHECKING:
    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.readers.limiting import Option
    from ironcurtain.language.statement import Doing


@dataclass(frozen=True, slots=True)
class Part:
    """Something that a statement can be about: one tool, or all that are about a thing."""

    doing: Doing
    tools: tuple[Tool, ...]

    @property
    def text(self) -> str:
        """Return what it is about, in words."""
        return write_doing(self.doing).removeprefix("use ")


def tool_name(key: str) -> Name:
    """Return the name that stands for one tool: a star in it is quoted, so that it stands for nothing else."""
    return Name(key, quoted="*" in key)


@dataclass(frozen=True, slots=True)
class Form:
    """The parts that a statement about one sentence can be made of."""

    parts: tuple[Part, ...]
    limits: tuple[Option, ...]
    wholes: tuple[tuple[str, ...], ...]
    """Whole statements, the likeliest first."""
    fitting: tuple[str, ...]
    """For each part, the letters of the limits that can be said of it."""

    def letter(self, part: Part) -> str:
        """Return the letter of a part."""
        return ascii_uppercase[self.parts.index(part)]

    def lines(self) -> list[str]:
        """Write the parts and the limits, each with its letter."""
        found: list[str] = []
        for part, fitting in zip(self.parts, self.fitting, strict=True):
            letter = self.letter(part)
            several = f": {', '.join(tool.key for tool in part.tools[:6])}" if part.doing.things else ""
            more = f" and {len(part.tools) - 6} more" if part.doing.things and len(part.tools) > 6 else ""
            found.append(f"{letter}  {part.text}{several}{more}{f'   ({fitting})' if fitting else ''}")
        limits = [f"{a} {write_limit(each.limit, ())}" for a, each in zip(ascii_lowercase, self.limits, strict=False)]
        return [*found, *(["limits: " + "; ".join(limits)] if limits else [])]
