"""What is known around an argument when its meaning is looked for, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.subject import Subject


@dataclass(frozen=True, slots=True)
class Setting:
    """The tool around an argument."""

    words: tuple[str, ...]
    """Its name."""
    nutshell: str
    """The first sentence of what it says of itself."""
    effects: frozenset[str]
    subject: Subject
    siblings: frozenset[str]
    """The names of its arguments, in words."""
    arguments: tuple[Argument, ...] = ()
    acts: frozenset[str] = frozenset()
    """What it might do at most, as far as its words and the rules for its arguments say."""

    @property
    def only_reads(self) -> bool:
        """Return whether it changes nothing and sends nothing."""
        return self.effects <= {"read"} and not self.overwrites

    @property
    def overwrites(self) -> bool:
        """Return whether a flag lets it replace files, and its verb may mean that one is written."""
        flagged = not {"overwrite", "allow overwrite", "force overwrite"}.isdisjoint(self.siblings)
        return flagged and self.speaks_of("capture", "record", "snapshot", "extract", "render", "transcribe", "dump")

    def speaks_of(self, *words: str) -> bool:
        """Return whether one of these words is in its name."""
        return not set(words).isdisjoint(self.words)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The roles of an argument, and what is not certain about them."""

    roles: frozenset[str] = frozenset()
    doubt: str = ""


NO_WORD_KNOWN: Final = "no word of it is known"
"""The doubt about an argument that no rule recognises: it may be anything, a file, an address or a command too."""


def meaning(*roles: str, doubt: str = "") -> Meaning:
    """Return the meaning of an argument with these roles."""
    return Meaning(frozenset(roles), doubt)


NOTHING = Meaning()
"""An argument that means nothing to a policy: a mode, a limit, a flag."""
