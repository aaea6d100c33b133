"""Bounds on what is read. Over a bound is a refusal, never a skip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """How much JSON is read."""

    size: int
    """Bytes."""
    depth: int
    """Levels of nesting."""
    values: int
    """Commas and brackets: bounds the memory of what is parsed."""


MESSAGE: Final = Limits(
    size=4 * 1024 * 1024, depth=32, values=100_000
)  # a call: a file's content fits, a flood does not
ANSWER: Final = Limits(
    size=32 * 1024 * 1024, depth=128, values=500_000
)  # what a server answers: a large file in base64
ARTIFACT: Final = Limits(size=64 * 1024 * 1024, depth=160, values=20_000_000)  # a file of the owner's: 100,000 rules
MAX_INTEGER: Final = 2**63 - 1  # what every server can hold exactly
MAX_KEY: Final = 1_000  # characters of a key that is not ASCII
MAX_DEFINITION: Final = 256 * 1024  # bytes of a tool definition; the largest real one seen has 40 kB
MAX_FILLED: Final = 1_000  # elements of a list that defaults are put into
MAX_SUBSCHEMAS: Final = 2_000  # in one tool definition; the largest real one seen has a few hundred
MAX_SCHEMA_DEPTH: Final = 64  # JSON levels; two for each level of arguments
MAX_NAME: Final = 256  # characters of a server, tool or principal name
MAX_TRIED: Final = 3_000_000  # branches of a schema, each on each value of a call: some tenths of a second
