"""What a record keeps of a value: everything, except secrets and bulk.

A secret is known by its value (the credentials of the home, also in base64, hexadecimal and percent-encoding), by the
name it goes under (`password`, `api_key`), or by its shape (`ghp_...`, a private key). It is replaced by a keyed
digest: whoever holds the key can still ask whether two secrets were the same, nobody can read one. A string that is
longer than a record should carry is cut, with its digest and its length; what is too much in all is withheld. Each is
listed beside the value, so that nothing inside it can pretend.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ironcurtain.model.call import Json

LONGEST: Final = 16_384  # characters of one string
MOST: Final = 1 << 17  # characters of all of them
MOST_TAKEN: Final = 500  # secrets and cuts that are listed
_COST: Final = 16  # characters that a value counts for beside its own
_LONGEST_STEP: Final = 60  # characters of a name in a place
_LONGEST_PLACE: Final = 400
_WITHHELD: Final = "[withheld]"
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
BY_SHAPE: Final = re.compile("|".join(f"(?P<s{number}>{shape})" for number, shape in enumerate(_SHAPES.values())))
_KINDS: Final = tuple(_SHAPES)
BY_NAME: Final = re.compile(rf"(?i)(?:^|[_\-. ])(?:{_NAMES})$")


class Redactor:
    """Replaces secrets and cuts bulk."""

    def __init__(self, key: bytes, secrets: Iterable[str] = ()) -> None:
        self._key = key
        self._known = _known(secrets)

    def clean(self, value: Json, name: str = "") -> tuple[Json, list[Json]]:
        """The value as a record may carry it, and what was taken out of it. If that fails, nothing of it is carried."""
        cleaning = _Cleaning(self._key, self._known)
        try:
            return cleaning.whole(value, name), cleaning.taken
        except Exception as error:  # noqa: BLE001 - a record with a gap is better than none, or than a secret in it
            return f"[unredactable {type(error).__name__}]", [{"at": name, "kind": "unredactable"}]

    def text(self, text: str) -> str:
        """A message that may quote a secret, without it."""
        return str(self.clean(text)[0])


class _Cleaning:
    """One value. INVARIANT: what that costs, and how much comes out, does not grow with the value."""

    def __init__(self, key: bytes, known: re.Pattern[str] | None) -> None:
        self._key = key
        self._known = known
        self._left = MOST
        self._over = False
        self.taken: list[Json] = []

    def whole(self, value: Json, name: str) -> Json:
        """All of it, the smallest parts first: no bulk keeps another argument out of the record."""
        if not isinstance(value, dict):
            return self._clean(value, name, name)
        smallest_first = sorted(value, key=lambda key: _weight([key, value[key]]))
        return self._clean({key: value[key] for key in smallest_first}, name, name)

    def _clean(self, value: Json, place: str, name: str) -> Json:
        self._left -= _COST
        if isinstance(value, dict):
            cleaned: dict[str, Json] = {}
            for key, item in value.items():
                if self._left <= 0:
                    cleaned[_WITHHELD] = self._withheld(place, len(value) - len(cleaned))
                    break
                shown = self._string(key, f"{place}.(key)", "")
                if shown != key or key == _WITHHELD:  # two names that were cut or replaced stay two
                    shown = f"{shown[:LONGEST]} {len(cleaned)}"
                cleaned[shown] = self._clean(item, f"{place}.{shown[:_LONGEST_STEP]}"[-_LONGEST_PLACE:], key)
            return cleaned
        if isinstance(value, list):
            listed: list[Json] = []
            for index, item in enumerate(value):
                if self._left <= 0:
                    listed.append(self._withheld(place, len(value) - index))
                    break
                listed.append(self._clean(item, f"{place}[{index}]"[-_LONGEST_PLACE:], name))
            return listed
        return self._string(value, place, name) if isinstance(value, str) else value

    def _string(self, text: str, place: str, name: str) -> str:
        if name and text and BY_NAME.search(spaced(name[-40:])):
            return self._replace(text, "by-name", place)
        if len(text) > LONGEST:
            self._take("long", text, place)
        self._left -= min(len(text), LONGEST)
        cleaned, at = "", 0
        for start, end, kind in self._secrets(text[: LONGEST + _LONGEST_SECRET]):
            if start >= LONGEST:
                break
            cleaned += text[at:start] + self._replace(text[start:end], kind, place)
            at = end
        return cleaned + text[at:LONGEST]

    def _secrets(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where they stand in it; those that overlap are one. INVARIANT: places are those of the text as it came."""
        found = [(*match.span(), "credential") for match in self._known.finditer(text)] if self._known else []
        found += [(*match.span(), _KINDS[(match.lastindex or 1) - 1]) for match in BY_SHAPE.finditer(text)]
        found += [(*match.span(3), "by-name") for match in _IN_TEXT.finditer(text)]
        found.sort(key=lambda each: (each[0], -each[1]))
        while found:
            start, end, kind = found.pop(0)
            while found and found[0][0] < end:
                end = max(end, found.pop(0)[1])
            yield start, end, kind

    def _replace(self, secret: str, kind: str, place: str) -> str:
        if len(self.taken) >= MOST_TAKEN:
            return self._withheld(place, 1)
        return f"[{kind} {self._take(kind, secret, place)[:8]}]"

    def _take(self, kind: str, text: str, place: str) -> str:
        mark = hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:32]
        self.taken.append({"at": place, "kind": kind, "length": len(text), "hmac": mark})
        return mark

    def _withheld(self, place: str, number: int) -> str:
        if not self._over:
            self.taken.append({"at": place, "kind": "withheld", "number": number})
        self._over = True
        return _WITHHELD


def _weight(value: Json) -> int:
    """About what it costs, up to more than there is."""
    pending, weight = [value], 0
    while pending and weight <= MOST:
        each = pending.pop()
        weight += _COST + (len(each) if isinstance(each, str) else 0)
        pending += [*each, *each.values()] if isinstance(each, dict) else each if isinstance(each, list) else []
    return weight


def _known(secrets: Iterable[str]) -> re.Pattern[str] | None:
    forms = {form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in forms_of(secret)}
    # The longest first: one secret may be the beginning of another.
    return re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True)))) if forms else None


def spaced(name: str) -> str:
    """`accessToken` as `access_token`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)


def forms_of(secret: str) -> Iterable[str]:
    """A secret as it may stand in a text: plain, percent-encoded, and in base64 at each of the three alignments."""
    secret = secret.strip()
    raw = secret.encode()
    yield from (secret, json.dumps(secret)[1:-1], quote_plus(secret), quote(secret), raw.hex(), raw.hex().upper())
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        # The first and the last characters mix with their neighbours; the middle is the secret's own.
        middle = encoded[(0, 2, 3)[shift] : len(encoded) - (0 if (len(raw) + shift) % 3 == 0 else 1)]
        if len(middle) >= SHORTEST_SECRET:
            yield middle
            yield middle.replace("+", "-").replace("/", "_")
