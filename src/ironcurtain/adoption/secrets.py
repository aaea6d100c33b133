"""What is taken for a secret of a server, and how its credentials are kept from whoever hears its answers."""

from __future__ import annotations

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
_MIXED: Final = r"(?=(?:[^0-9]*[0-9]+[^0-9]+){3})"  # letters and digits that take turns, as in what nobody chose
_TOKEN: Final = re.compile(_MIXED + r"[A-Za-z0-9+=_-]{20,}")
_UNGUESSABLE: Final = re.compile(_MIXED + r"[!-~]{20,}|(?=.*[a-z])(?=.*[A-Z])[!-~]{32,}")
"""Among what is known to be secret more has the look of a token: `/`, `.` and `:` stand in some, and few digits."""
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
    forms = sorted(
        {form for secret in secrets if _is_strong(secret) for form in forms_of(secret)}, key=len, reverse=True
    )

    def conceal(value: Json) -> Json:
        if isinstance(value, dict):
            return {str(conceal(key)): conceal(item) for key, item in value.items()}
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
    mixed = _UNGUESSABLE.fullmatch(secret) is not None and not _SETTING.fullmatch(secret)
    return len(secret) >= _STRONG and (mixed or BY_SHAPE.search(secret) is not None)
