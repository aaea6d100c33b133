"""`readings.json`: what the owner agreed to, sentence by sentence, and which tools each permission picked then.

INVARIANT: a file that others can write, or whose digest does not fit its content, is refused as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ironcurtain.compiler.kept_file import read_kept, write_kept
from ironcurtain.compiler.readers.reading import Reading, State
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(slots=True)
class Readings:
    """The readings that were agreed to."""

    kept: dict[str, Reading] = field(default_factory=dict)
    """By the digest of the sentence and its headings."""
    picks: dict[str, frozenset[str]] = field(default_factory=dict)
    """For each permission, the tools that it picked when it was agreed to, as `server/tool`."""

    def to_answer_again(self) -> Readings:
        """Return them without the sentences that were skipped or said to be no rule."""
        return Readings({key: each for key, each in self.kept.items() if each.state is State.READ}, self.picks)

    def write(self, file: Path) -> None:
        """Put them into a file that only its owner can read or write."""
        content = {
            "readings": {
                key: {
                    "state": reading.state.value,
                    "statements": [*reading.statements],
                    "reader": reading.reader,
                    "date": datetime.now(UTC).strftime("%Y-%m-%d"),
                }
                for key, reading in sorted(self.kept.items())
            },
            "picks": {text: sorted(tools) for text, tools in sorted(self.picks.items())},
        }
        write_kept(file, content)


def read_readings(file: Path) -> Readings:
    """Read what was agreed to; nothing if there is no such file yet."""
    if not file.exists():
        return Readings()
    try:
        content = read_kept(file)
        kept = {
            key: Reading(State(each["state"]), tuple(each["statements"]), each["reader"], agreed=True)
            for key, each in content["readings"].items()
        }
        picks = {text: frozenset(tools) for text, tools in content["picks"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Refusal(
            "readings_changed",
            f"{file} was changed by something else than this program ({error})",
            f"look at it, then move it away and read the constitution again: mv {file} {file}.old",
        ) from None
    return Readings(kept, picks)
