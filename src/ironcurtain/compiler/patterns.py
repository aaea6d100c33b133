"""Regular expressions for the conditions of rules: texts, paths and hosts in words, numbers sent as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.problems import Problem
from ironcurtain.language.statement import Comparison

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPECIAL: Final = re.compile(r"[.^$*+?{}\[\]\\|()]")


def escaped(text: str) -> str:
    """Return a pattern for just this text."""
    return _SPECIAL.sub(lambda found: "\\" + found.group(), text)


def below_domain(host: str) -> str:
    """Return a pattern for a domain, or for all below one."""
    below = host.startswith("*.")
    return rf"([^@]*\.){escaped(host[2:])}" if below else escaped(host)


def spellings(value: str) -> str:
    """Return a pattern for other spellings of a host or a repository: in a URL, with a port, with `.git`."""
    text = escaped(value.removeprefix("*.")).replace("\\*", ".*")
    before = r"(.*[/@.:])?"
    return rf"{before}{text}(\.git)?([.:/?#].*)?"


def under(texts: Sequence[str], *, certain: bool) -> str:
    """Return a pattern for what is below a directory by name alone, without dot segments.

    What tightens also looks at everything that has such segments.
    """
    # One path: no separators, blanks around a segment, escapes or shell syntax, in which another could stand.
    first, more, last = r"[^/.\s,;|&$%`\\]", r"[^/\n,;|&$%`\\]*", r"[^/\s,;|&$%`\\]"
    segment = rf"\.?{first}({more}{last})?"
    if certain:
        return "|".join(f"{escaped(text.rstrip('/'))}(/{segment})*/?" for text in texts)
    return "(?i)(" + "|".join(f"{escaped(text.rstrip('/'))}(/.*)?" for text in texts) + r"|.*\.\..*|.*/\./.*|.*//.*)"


def anywhere(pattern: str) -> str:
    """Return a pattern for what a prohibition says of a path, wherever on the way to it that stands."""
    return f"(?i)(.*/)?({pattern.removeprefix('(?i)')})"


RELATIVE: Final = r"[^/]([^:]|:[^/]|:/[^/])*(:/?)?"
"""A relative path: no URL, and not from the root."""


DOT_SEGMENTS: Final = (
    r"(?i)((.|\n)*[/\\])?\.([/\\](.|\n)*)?"  # a dot between slashes
    r"|(.|\n)*(\.|%2e)(\.|%2e)([^a-z0-9.](.|\n)*)?"  # two dots, unless a word goes on behind them
    r"|(.|\n)*(%25|%c0|%e0|%u|%2e|%2f|%5c)(.|\n)*"  # other spellings of dots and slashes
)
"""A name on the way of which `.` or `..` stands, so that it may lead elsewhere than it begins."""


ESCAPED_DOTS: Final = r"(?i)(.|\n)*(\.\.(%2f|%5c)|(%2f|%5c)\.\.|%25(2e|2f|5c))(.|\n)*"
"""A URL in which dots beside a slash in another spelling may lead elsewhere than it begins."""


def _onward(text: str, *, spaced: bool) -> str:
    """Return a pattern for how one name goes on behind its beginning, without dot segments."""
    blank = "" if re.search(r"\s", text) else r"\s"
    any_, no_dot = f"[^/,;{blank}]", f"[^/.,;{blank}]"
    segment = rf"(\.{{0,2}}{no_dot}{any_}*|\.\.\.{any_}*)"
    if spaced and blank and text.endswith("/"):
        segment = rf"({segment}( (&|[A-Za-z0-9À-ɏ(][^/,;|\s]*))*)"
    first = f"{segment}?" if text.endswith("/") else f"({no_dot}{any_}*)?" if text.endswith(".") else f"{any_}*"
    return f"{first}(/{segment})*/?"


def text_pattern(test: Comparison, texts: Sequence[str], *, certain: bool, listed: bool, spaced: bool) -> str:
    """Return a pattern for how texts begin, end or go on; `listed` if a server may read several names in one text.

    What permits looks at one name; what tightens at each of them, with or without `#` and `@`. A name on a
    way, like a folder's, may be one of several words if it is `spaced`.
    """

    def pattern(text: str) -> str:
        before = after = ".*"
        if certain and listed and not re.search("[,;]", text):
            before = after = r"[^,;]*" if re.search(r"\s", text) else r"[^,;\s]*"
        first = last = ""
        if not certain and listed:
            first, last = r"(.*[,;\s])?[#@]*", r"([,;\s].*)?"
            text = text.lstrip("#@") or text
        before = first if test is Comparison.STARTS else before
        if certain and listed and test is Comparison.STARTS and not re.search("[,;]", text):
            return f"{escaped(text)}{_onward(text, spaced=spaced)}"
        return f"{before}{escaped(text)}{last if test is Comparison.ENDS else after}"

    found = "|".join(map(pattern, texts))
    return found if certain else f"(?i)({found})"


def number_of(text: str) -> float | int:
    """Return the number that a text is; raise a `Problem` if it is none."""
    if not re.fullmatch(r"-?\d+(?:\.\d+)?", text):
        raise Problem(f"{text} is no number", "write a number like 500")
    return float(text) if "." in text else int(text)


def certainly_beyond(text: str, *, most: bool) -> str:
    """Return a pattern for texts that are certainly beyond a bound, so that a never does not hold for them."""
    number = number_of(text)
    if not isinstance(number, int) or number < 0:
        raise Problem(f"{text} is no whole number, and the argument is a text", "write a whole number")
    return at_least(number + 1) if most else at_most(number - 1).replace(r"(\.0+)?", r"(\.\d+)?") if number else "-"


def at_most(number: int) -> str:
    """Return a pattern for decimal numbers from 0 to a whole number."""
    text = str(number)
    below = [rf"[1-9]\d{{{length - 1}}}" for length in range(1, len(text))]
    for place, digit in enumerate(text):
        least = 1 if place == 0 and len(text) > 1 else 0
        if int(digit) > least:
            below.append(rf"{text[:place]}[{least}-{int(digit) - 1}]\d{{{len(text) - place - 1}}}")
    smaller = "|".join(["0", *below] if len(text) > 1 else below) if number else ""
    return (rf"({smaller})(\.\d+)?|" if smaller else "") + rf"{text}(\.0+)?"


def at_least(number: int) -> str:
    """Return a pattern for decimal numbers from a whole number on."""
    text = str(number)
    above = [rf"[1-9]\d{{{len(text)},15}}"]
    for place, digit in enumerate(text):
        if int(digit) < 9:
            above.append(rf"{text[:place]}[{int(digit) + 1}-9]\d{{{len(text) - place - 1}}}")
    return rf"({'|'.join([*above, text])})(\.\d+)?"
