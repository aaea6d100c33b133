"""One record, one line: sealed with its own digest and the digest of the one before.

The digest member stands last and is not covered by itself; everything before it is the canonical encoding, byte for
byte, so that a record has exactly one spelling.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.errors import Refusal
from ironcurtain.wire import strict_json
from ironcurtain.wire.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.model.call import Json

RECORD: Final = Limits(size=8 * 1024 * 1024, depth=48, values=400_000)  # a call at its limits, with what is said of it
_TWO_SPELLINGS: Final = re.compile(rb'(?:":|[,\[])-?[0-9]+(?:\.0+[,\]}]|(?:\.[0-9]+)?[eE])')
_OURS: Final = ("seq", "prev", "digest")
_SEAL: Final = ',"digest":"sha256:'
_SEAL_SIZE: Final = len(_SEAL) + 64 + len('"}')


@dataclass(frozen=True, slots=True)
class Head:
    """The last record of a chain."""

    seq: int = 0
    digest: str = "sha256:" + "0" * 64


GENESIS: Final = Head()
"""Before the first record."""


class BadRecordError(Exception):
    """A line that is no record, or not the next one."""


def seal(fields: dict[str, Json], head: Head) -> tuple[bytes, Head]:
    """The next line of the chain, without its line break, and the new head."""
    if not fields.keys().isdisjoint(_OURS):  # a second key of that name would give the line two meanings
        raise ValueError("a record may not bring its own seal")
    body = strict_json.canonical({**fields, "seq": head.seq + 1, "prev": head.digest})
    if len(body) > RECORD.size:  # INVARIANT: what is written can be read
        raise Refusal("json_too_large", f"more than {RECORD.size} bytes")
    strict_json.require_within(body.decode(), RECORD)
    if _TWO_SPELLINGS.search(body):  # a whole number may be written as a fraction, and then reads back as another text
        body = strict_json.canonical(strict_json.loads(body, RECORD))
    digest = hashlib.sha256(body).hexdigest()
    return body[:-1] + f'{_SEAL}{digest}"}}'.encode(), Head(head.seq + 1, f"sha256:{digest}")


def opened(line: bytes) -> tuple[dict[str, Any], Head]:
    """The record in a line and the head it makes, if its digest fits."""
    body, digest = _unsealed(line)
    try:
        record = json.loads(body)
    except ValueError as error:
        raise BadRecordError(f"it is no JSON: {error}") from None
    if not isinstance(record, dict) or not isinstance(record.get("seq"), int):
        raise BadRecordError("it is no record")
    return record, Head(record["seq"], digest)


def unseal(line: bytes) -> tuple[dict[str, Any], Head]:
    """As `opened`, if the line is exactly what `seal` would have written. Takes several times as long."""
    record, head = opened(line)
    body, _ = _unsealed(line)
    try:
        exact = strict_json.canonical(strict_json.loads(body, RECORD)) == body
    except Refusal as refusal:
        raise BadRecordError(refusal.reason) from None
    if not exact:
        raise BadRecordError("it is not in its one spelling")
    return record, head


def _unsealed(line: bytes) -> tuple[bytes, str]:
    body, seal_ = line[:-_SEAL_SIZE] + b"}", line[-_SEAL_SIZE:]
    digest = hashlib.sha256(body).hexdigest()
    if seal_ != f'{_SEAL}{digest}"}}'.encode():
        raise BadRecordError("its digest does not fit its content")
    return body, f"sha256:{digest}"


def follow(
    line: bytes, head: Head, read: Callable[[bytes], tuple[dict[str, Any], Head]]
) -> tuple[dict[str, Any], Head]:
    """The record in a line, if it is the next one after the head."""
    record, new = read(line)
    if new.seq != head.seq + 1:
        raise BadRecordError(f"it is number {new.seq} where {head.seq + 1} belongs")
    if record.get("prev") != head.digest:
        raise BadRecordError("it does not follow from the record before it")
    return record, new
