"""What a record keeps of a value: everything, except secrets and bulk.

A secret is known by its value (the credentials of the home, also in base64, hexadecimal and percent-encoding), by the
name it goes under (`password`, `api_key`), or by its shape (`ghp_...`, a private key). It is replaced by a keyed
digest: whoever holds the key can still ask whether two secrets were the same, nobody can read one. A string that is
longer than a record should carry is cut, with its digest and its length. Both are listed beside the value, so that
nothing inside it can pretend.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ironcurtain.model.call import Json

LONGEST: Final = 16_384  # characters of one string
_STRONG: Final = 16  # characters of a secret that is taken out of what servers say
_CONCEALED: Final = "[credential]"
_LONGEST_SECRET: Final = 16_384  # characters
SHORTEST_SECRET: Final = 6  # characters; anything shorter would blank out words

_SHAPES: Final = {
    "private-key": r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:[^-]|-(?!----)){0,8000}"
    r"(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?",
    "aws": r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])",
    "github": r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})",
    "gitlab": r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,255}",
    "slack": r"(?<![A-Za-z0-9])xox[abeprs]-[A-Za-z0-9-]{10,255}",
    "anthropic-or-openai": r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,255}",
    "stripe": r"(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}",
    "google": r"(?<![A-Za-z0-9])(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,512})",
    # It begins where no letter of its own alphabet stands before: else every one of them would be tried as a beginning.
    "jwt": r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2048}+\.eyJ[A-Za-z0-9_-]{8,4096}+\.[A-Za-z0-9_-]{0,1024}",
    "bearer": r"(?i:\b(?:bearer|basic)\s+[A-Za-z0-9+/._~=-]{16,4096})",
    "password-in-url": r"(?<=://)[^\s/:@]{1,256}:[^\s/@]{1,256}(?=@)",
}
_NAMES: Final = r"pass(?:word|wd|phrase)?|secret|token|api[_-]?key|private[_-]?key|credentials?|authorization"
_IN_TEXT: Final = re.compile(
    rf"(?i)((?:{_NAMES})[\s\"'\]]{{0,9}}[:=]\s{{0,9}})([\"'`])((?:(?!\2)[^\\\n]|\\.){{1,512}})\2"
)
"""In a program, or in JSON: `password = "..."`."""
_BY_SHAPE: Final = re.compile("|".join(f"(?P<s{number}>{shape})" for number, shape in enumerate(_SHAPES.values())))
_KINDS: Final = tuple(_SHAPES)
_BY_NAME: Final = re.compile(rf"(?i)(?:^|[_\-. ])(?:{_NAMES})$")

_PASSWORD: Final = re.compile(r"(?i)secret|passw|passphrase|pwd$")
_VARIABLE: Final = re.compile(
    r"(?i)token|credential|auth(?!or)|cookie|apikey|dsn$|(?:^|_)pat$|key(?:[_-]?id)?$|connection_?string"
)
_SETTING: Final = re.compile(r"[0-9.]+|[A-Za-z]{1,12}|[~./].*|https?://[^@]*")
"""What is no secret, whatever it is called: a number, a word, a path, an address."""
"""A variable of a server's environment is taken for a secret sooner than an argument of a call."""
# Letters and digits that take turns, as they do in what nobody chose.
_TOKEN: Final = re.compile(r"(?=(?:[^0-9]*[0-9]+[^0-9]+){3})[A-Za-z0-9+=_-]{20,}")
_DIGEST: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Redactor:
    """Replaces secrets and cuts bulk."""

    def __init__(self, key: bytes, secrets: Iterable[str] = ()) -> None:
        self._key = key
        self._known = _known(secrets)

    def clean(self, value: Json, name: str = "") -> tuple[Json, list[Json]]:
        """The value as a record may carry it, and what was taken out of it. If that fails, nothing of it is carried."""
        taken: list[Json] = []
        try:
            return self._clean(value, name, name, taken), taken
        except Exception as error:  # noqa: BLE001 - a record with a gap is better than none, or than a secret in it
            return f"[unredactable {type(error).__name__}]", [{"at": name, "kind": "unredactable"}]

    def text(self, text: str) -> str:
        """A message that may quote a secret, without it."""
        return str(self.clean(text)[0])

    def _clean(self, value: Json, place: str, name: str, taken: list[Json]) -> Json:
        if isinstance(value, dict):
            cleaned: dict[str, Json] = {}
            for key, item in value.items():
                shown = self._string(key, f"{place}.(key)", "", taken)
                if shown != key:  # two names that were cut or replaced stay two
                    shown = f"{shown[:LONGEST]} {len(cleaned)}"
                cleaned[shown] = self._clean(item, f"{place}.{shown}", key, taken)
            return cleaned
        if isinstance(value, list):
            return [self._clean(item, f"{place}[{index}]", name, taken) for index, item in enumerate(value)]
        return self._string(value, place, name, taken) if isinstance(value, str) else value

    def _string(self, text: str, place: str, name: str, taken: list[Json]) -> str:
        if name and text and _BY_NAME.search(_spaced(name[-40:])):
            return self._replace(text, "by-name", place, taken)
        if len(text) > LONGEST:  # what is not kept is not looked through, but for the end of what stands at the cut
            mark = hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:32]
            taken.append({"at": place, "kind": "long", "length": len(text), "hmac": mark})
            text = text[: LONGEST + _LONGEST_SECRET]
        if self._known:
            text = self._known.sub(lambda found: self._replace(found.group(), "credential", place, taken), text)
        text = _BY_SHAPE.sub(
            lambda found: self._replace(found.group(), _KINDS[(found.lastindex or 1) - 1], place, taken), text
        )
        text = _IN_TEXT.sub(lambda found: found[1] + self._replace(found[3], "by-name", place, taken), text)
        return text[:LONGEST]

    def _replace(self, secret: str, kind: str, place: str, taken: list[Json]) -> str:
        mark = hmac.new(self._key, secret.encode(), hashlib.sha256).hexdigest()[:32]
        taken.append({"at": place, "kind": kind, "length": len(secret), "hmac": mark})
        return f"[{kind} {mark[:8]}]"


def concealer(secrets: Iterable[str]) -> Callable[[Json], Json]:
    """Takes credentials out of a value, and leaves everything else in it as it is.

    Only those that nobody could guess: a password that is a word would be taken out of other people's texts, and who
    sees which word is gone has learnt it.
    """
    forms = sorted({form for secret in secrets if _is_strong(secret) for form in _forms(secret)}, key=len, reverse=True)

    def conceal(value: Json) -> Json:
        if isinstance(value, dict):
            return {key: conceal(item) for key, item in value.items()}
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
    return len(secret) >= _STRONG and (_TOKEN.fullmatch(secret) is not None or _BY_SHAPE.search(secret) is not None)


def _known(secrets: Iterable[str]) -> re.Pattern[str] | None:
    forms = {form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _forms(secret)}
    # The longest first: one secret may be the beginning of another.
    return re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True)))) if forms else None


def is_secret(name: str, value: str) -> bool:
    """Whether a variable looks like one that nobody else should know, by its name or by its value."""
    if not value or _BY_NAME.search(_spaced(name)) or _BY_SHAPE.search(value) or _PASSWORD.search(name):
        return bool(value)
    if _TOKEN.fullmatch(value) and not _UUID.fullmatch(value) and not _DIGEST.fullmatch(value):
        return True
    return _VARIABLE.search(name) is not None and not _SETTING.fullmatch(value)


def _spaced(name: str) -> str:
    """`accessToken` as `access_token`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)


def _forms(secret: str) -> Iterable[str]:
    """A secret as it may stand in a text: plain, percent-encoded, and in base64 at each of the three alignments."""
    raw = secret.encode()
    yield from (secret, quote_plus(secret), quote(secret), raw.hex(), raw.hex().upper())
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        # The first and the last characters mix with their neighbours; the middle is the secret's own.
        middle = encoded[(0, 2, 3)[shift] : len(encoded) - (0 if (len(raw) + shift) % 3 == 0 else 1)]
        if len(middle) >= SHORTEST_SECRET:
            yield middle
            yield middle.replace("+", "-").replace("/", "_")
