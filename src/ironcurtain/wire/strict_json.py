"""A JSON reader for text that somebody chose: one meaning, or a refusal with a code.

The standard library's parser accepts repeated keys (and keeps the last), NaN, lone surrogates, UTF-16 and any depth.
Each of these lets two programs read one message differently, which is how a check is bypassed. So a linear scan bounds
depth and size first, the parser runs with hooks that refuse, and a walk looks at every string once.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Final, NoReturn

from ironcurtain.errors import Refusal, quote
from ironcurtain.wire.limits import MAX_INTEGER, MAX_KEY, MESSAGE, Limits

if TYPE_CHECKING:
    from ironcurtain.model.call import Json

# A whole string, or one structural character, or a quote that opens a string without an end. The last alternative
# keeps the scan linear: without it every later quote would be tried as a beginning.
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},"]', re.DOTALL)
_MAX_INTEGER_DIGITS: Final = len(str(MAX_INTEGER)) + 1
# Characters that show nothing and are in no category of their own.
_INVISIBLE: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")


def loads(data: bytes, limits: Limits = MESSAGE) -> Json:
    """Read one JSON value from UTF-8 bytes, strictly."""
    return _loads(data, limits, _DECODER)


def _loads(data: bytes, limits: Limits, decoder: json.JSONDecoder) -> Json:
    if len(data) > limits.size:
        raise Refusal("json_too_large", f"more than {limits.size} bytes")
    if data.startswith(b"\xef\xbb\xbf"):
        raise Refusal("json_encoding", "a byte order mark stands before the text", "send plain UTF-8 without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal("json_encoding", f"not UTF-8 at byte {error.start}", "send plain UTF-8") from None
    require_within(text, limits)
    try:
        value: Json = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise Refusal("json_syntax", f"not JSON: {error.msg.lower()} at character {error.pos}") from None
    except ValueError as error:  # an integer of thousands of digits
        raise Refusal("json_number", str(error)) from None
    _check_strings(value)
    return value


def loads_foreign(data: bytes, limits: Limits) -> Json:
    """Read what a server answered: bounded and unambiguous, but with every number and key as the server wrote them."""
    return _loads(data, limits, _FOREIGN)


def canonical(value: Json) -> bytes:
    """The one spelling of a value: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def require_within(text: str, limits: Limits) -> None:
    """Refuse what is nested deeper, or holds more, than is read."""
    depth = values = 0
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark in "[{":
            depth += 1
            if depth > limits.depth:
                raise Refusal("json_depth", f"nested deeper than {limits.depth} levels")
        elif mark in "]}":
            depth -= 1
        elif mark == '"':
            raise Refusal("json_syntax", f"a string has no end: it begins at character {token.start()}")
        if len(mark) == 1:
            values += 1
            if values > limits.values:
                raise Refusal("json_too_many", f"more than {limits.values} values")


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    seen: dict[str, str] = {}
    for key, _ in pairs:
        folded = key.lower() if key.isascii() else _fold(key)
        if folded in seen:
            if seen[folded] == key:
                raise Refusal("json_duplicate_key", f"the key {quote(key)} stands twice")
            raise Refusal("json_confusable_key", f"the keys {quote(seen[folded])} and {quote(key)} look the same")
        seen[folded] = key
    return dict(pairs)


def _fold(key: str) -> str:
    # Normalising takes time that grows with the square of the text; so does nothing that is this short.
    plain = len(key) <= MAX_KEY and unicodedata.normalize("NFKC", key) == key and not _INVISIBLE.search(key)
    if not plain or any(unicodedata.category(char) == "Cf" for char in key):
        raise Refusal("json_confusable_key", f"the key {quote(key)} is not in its plain form")
    return key.casefold()


def _integer(text: str) -> int:
    if len(text) > _MAX_INTEGER_DIGITS or not -MAX_INTEGER - 1 <= int(text) <= MAX_INTEGER:
        raise Refusal("json_number", f"an integer of more than 64 bits: {quote(text[:24])}")
    return int(text)


def _number(text: str) -> int | float:
    number = _finite(text)
    # One value, one form: 1.0 and 1e0 are 1, whoever reads them.
    return int(number) if number.is_integer() and -MAX_INTEGER - 1 <= number < MAX_INTEGER else number


def _constant(name: str) -> NoReturn:
    raise Refusal("json_number", f"{name} is not a number in JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_constant
)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Refusal("json_duplicate_key", "a key stands twice")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise Refusal("json_number", f"a number too large to hold: {quote(text[:24])}")
    return number


_FOREIGN: Final = json.JSONDecoder(object_pairs_hook=_once, parse_float=_finite, parse_constant=_constant)


def _check_strings(value: Json) -> None:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            _check_string(item)
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            for key in item:
                _check_string(key)
            pending.extend(item.values())


def _check_string(text: str) -> None:
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        raise Refusal("json_surrogate", "half of a surrogate pair stands alone in a string")
