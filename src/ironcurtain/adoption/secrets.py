"""What is taken for a secret of a server, and how its credentials are kept from whoever hears its answers."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Final

from ironcurtain.audit.redact import BY_NAME, BY_SHAPE, forms_of, spaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ironcurtain.model.call import Json

_STRONG: Final = 16  # characters of a secret that is taken out of what servers say
_CONCEALED: Final = "[credential]"
_PASSWORD: Final = re.compile(r"(?i)secret|passw|passphrase|pwd$")
_VARIABLE: Final = re.compile(
    r"(?i)token|credential|auth(?!or)|cookie|apikey|dsn$|(?:^|_)pat$|key(?:[_-]?id)?$|connection_?string"
)
_SETTING: Final = re.compile(r"[0-9.]+|[A-Za-z]{1,12}|[~./].*|https?://[^@]*")
"""What is no secret, whatever it is called: a number, a word, a path, an address."""
_TOKEN: Final = re.compile(r"(?=(?:[^0-9]*[0-9]+[^0-9]+){3})[A-Za-z0-9+=_-]{20,}")
"""Letters and digits that take turns, as in what nobody chose."""
_IN_ADDRESS: Final = re.compile(r"://[^\s/:@]*:([^\s/@]+)@")
_DIGEST: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_secret(name: str, value: str) -> bool:
    """Whether a variable looks like one that nobody else should know, by its name or by its value."""
    if not value or BY_NAME.search(spaced(name)) or BY_SHAPE.search(value) or _PASSWORD.search(name):
        return bool(value)
    if _TOKEN.fullmatch(value) and not _UUID.fullmatch(value) and not _DIGEST.fullmatch(value):
        return True
    return _VARIABLE.search(name) is not None and not _SETTING.fullmatch(value)


def concealer(secrets: Iterable[str]) -> Callable[[Json], Json]:
    """Takes credentials out of a value, and leaves everything else in it as it is.

    Only those that nobody could guess: a password that is a word would be taken out of other people's texts, and who
    sees which word is gone has learnt it.
    """
    parts = [part for secret in secrets for part in (secret, *_IN_ADDRESS.findall(secret))]
    strong = {form for part in parts if _is_strong(part) for form in forms_of(part)}
    forms = sorted(strong, key=len, reverse=True)

    def conceal(value: Json) -> Json:
        if isinstance(value, dict):
            named: dict[str, Json] = {}
            for key, item in value.items():
                shown = str(conceal(key))
                named[shown if shown not in named else f"{shown} {len(named)}"] = conceal(item)
            return named
        if isinstance(value, list):
            return [conceal(item) for item in value]
        if isinstance(value, str):
            for form in forms:
                if form in value:
                    value = value.replace(form, _CONCEALED)
        return value

    return conceal if forms else _as_it_is


def _as_it_is(value: Json) -> Json:
    return value


def _is_strong(secret: str) -> bool:
    """Whether nobody could guess it: small letters, large ones and digits take turns in it, or it has a known shape."""
    kinds = [("a" if c.islower() else "A" if c.isupper() else "0") for c in secret if c.isalnum()]
    turns = sum(one != two for one, two in itertools.pairwise(kinds))
    mixed = len(kinds) >= _STRONG and turns > len(kinds) / 4
    return mixed or bool(_TOKEN.fullmatch(secret) or BY_SHAPE.fullmatch(secret.strip()))
