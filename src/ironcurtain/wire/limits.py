"""Bounds on what is read. Over a bound is a refusal, never a skip."""

from __future__ import annotations

from typing import Final

MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024  # one call; a file's content fits, a flood does not
MAX_DEPTH: Final = 32  # levels of nesting; real tool schemas stay below 10
MAX_VALUES: Final = 100_000  # commas and brackets in one message: bounds the memory of what is parsed
MAX_INTEGER: Final = 2**63 - 1  # what every server can hold exactly
MAX_SUBSCHEMAS: Final = 2_000  # in one tool definition; the largest real one seen has a few hundred
MAX_SCHEMA_DEPTH: Final = 64  # JSON levels; two for each level of arguments
MAX_NAME: Final = 256  # characters of a server, tool or principal name
