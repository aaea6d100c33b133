"""Characters that hide or imitate, and a key under which look-alike names are equal."""

from __future__ import annotations

import unicodedata
from typing import Final

from ironcurtain.errors import Refusal, quote

_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DASHES: Final = frozenset("-\u00ad\u02d7\u058a\u05be\u1400\u1806\u2212\u2796\u2e3a\u2e3b\u30fc\ufe63\uff0d")


_HIDDEN: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0" + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10))))
)


def hides(text: str) -> bool:
    """Whether the text holds a character that nobody sees."""
    return not text.isascii() and any(char in _HIDDEN or unicodedata.category(char) == "Cf" for char in text)


def after_blanks(text: str) -> str:
    """The text without what a program may drop before a name: blanks of every script, control and zero-width ones."""
    begin = next((index for index, char in enumerate(text) if not _is_blank(char)), len(text))
    return text[begin:]


def before_blanks(text: str) -> str:
    """The text without the same after it."""
    return after_blanks(text[::-1])[::-1] if text and _is_blank(text[-1]) else text


def _is_blank(char: str) -> bool:
    if char <= "~":
        return char <= " "
    return char.isspace() or char in _HIDDEN or unicodedata.category(char) in ("Cc", "Cf")


def require_visible(text: str, code: str, what: str) -> None:
    """Refuse control, line-separating and direction-changing characters in a name."""
    if text.isascii() and text.isprintable():
        return
    for char in text:
        if unicodedata.category(char) in ("Cc", "Zl", "Zp") or char in _BIDI:
            raise Refusal(code, f"{what} holds the character U+{ord(char):04X}: {quote(text)}")


def looks_like_flag(text: str) -> bool:
    """Whether a program may take the text for an option: it starts with a dash of any kind."""
    return bool(text) and (text[0] in _DASHES or unicodedata.category(text[0]) == "Pd")


def fold(name: str) -> str:
    """A key that is equal for names a person or a lenient file system takes for the same."""
    if name.isascii():
        return name.lower()
    marks_gone = "".join(
        char
        for char in unicodedata.normalize("NFKD", name)
        if unicodedata.category(char) not in ("Mn", "Me", "Cf") and char not in _HIDDEN
    )
    return unicodedata.normalize("NFKC", marks_gone.casefold())
