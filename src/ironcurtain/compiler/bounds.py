"""What a comparison of a statement comes to for the type of an argument: numbers, lengths, lists and flags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.parts import Part
from ironcurtain.compiler.patterns import at_least, at_most, certainly_beyond, number_of
from ironcurtain.compiler.problems import Problem
from ironcurtain.language.statement import Comparison

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ironcurtain.compiler.catalogue import Argument
    from ironcurtain.language.statement import Condition

FLAGS: Final = ("true", "false", "yes", "no")
"""How the values of a flag are written."""
_SAID: Final = 120
_UPPER: Final = (Comparison.AT_MOST, Comparison.ABOVE)
_BOUNDS: Final = (*_UPPER, Comparison.AT_LEAST, Comparison.BELOW)


def by_kind(condition: Condition, argument: Argument) -> Part | None:
    """Return what a condition comes to that the kind of the argument decides: a length, or one of several numbers."""
    if condition.test in (Comparison.LONGER, Comparison.NO_LONGER):
        return _length(condition, argument)
    textual = (Comparison.CONTAINS, Comparison.STARTS, Comparison.ENDS, Comparison.MATCHES)
    return _of_numbers(condition, argument) if condition.test in textual and _holds_no_text(argument) else None


def measured(test: Comparison, argument: Argument) -> tuple[str, ...]:
    """Return what a server says of a number that is compared: it may count in cents, or in parts of one."""
    says = argument.says if test in _BOUNDS else ""
    return (f"the server says of `{argument.leaf}`: {says[:_SAID]}",) if says else ()


def _length(condition: Condition, argument: Argument) -> Part:
    """Return that a text has at most so many characters."""
    if argument.types and "string" not in argument.types:
        raise Problem(f"`{argument.leaf}` is no text", "only texts have a length; write is at most or is more than")
    return Part(values={f"arg:{argument.leaf}": {"maxLength": int(condition.values[0].text)}})


def _holds_no_text(argument: Argument) -> bool:
    """Return whether an argument is a number, or a list of numbers."""
    return bool(argument.types & {"integer", "number"}) and argument.types <= {"integer", "number", "array", "null"}


def _of_numbers(condition: Condition, argument: Argument) -> Part:
    """Return that a list of numbers contains one; numbers have no beginning, end or pattern."""
    if condition.test is not Comparison.CONTAINS:
        raise Problem(f"`{argument.leaf}` holds numbers", f"write `{argument.leaf}` is 1 or 2, or is at most 5")
    texts = [value.text for value in condition.values]
    for text in texts:
        number_of(text)
    return Part(values={f"arg:{argument.leaf}": {"in": typed(argument, texts)}})


def typed(argument: Argument, texts: Iterable[str]) -> list[Any]:
    """Return values as the argument has them: numbers and flags where it takes those."""
    found: list[Any] = []
    for text in texts:
        if text in FLAGS and (argument.is_flag or not argument.types):
            found.append(text in ("true", "yes"))
            found += [text] if argument.types != {"boolean"} else []
            found += [int(text in ("true", "yes"))] if argument.types & {"integer", "number"} else []
        elif (argument.types & {"integer", "number"} or not argument.types) and re.fullmatch(r"-?\d+(?:\.\d+)?", text):
            found.append(number_of(text))
            found += [text] if "string" in argument.types or not argument.types else []
        else:
            found.append(text)
    return list(dict.fromkeys(found))


def compared(test: Comparison, text: str, argument: Argument, *, certain: bool) -> tuple[Part, bool]:
    """Return a bound on a number, and whether it is what must not hold; a text must surely be such a number."""
    key = f"arg:{argument.leaf}"
    if "array" in argument.types and not argument.types & {"integer", "number"}:
        return Part(values={key: _counted(test, text, argument, certain=certain)}), False
    upper, beyond = (test in pair for pair in (_UPPER, (Comparison.ABOVE, Comparison.BELOW)))
    if _is_text(argument) and beyond == certain:
        return Part(values={key: {"matches": certainly_beyond(text, most=upper)}}), not certain
    return Part(values={key: _bounded(argument, text, most=upper)}), beyond


def as_text(condition: Condition, argument: Argument) -> tuple[Part, ...]:
    """Return the bound that lifts or permits, for numbers that are sent as text where the argument takes both."""
    if not {"string"} <= argument.types or not argument.types & {"integer", "number"} or condition.test not in _BOUNDS:
        return ()
    number = number_of(condition.values[0].text)
    if not isinstance(number, int) or number < 0:
        return ()
    pattern = at_most(number) if condition.test in _UPPER else at_least(number)
    return (Part(values={f"arg:{argument.leaf}": {"matches": pattern}}),)


def _counted(test: Comparison, text: str, argument: Argument, *, certain: bool) -> dict[str, Any]:
    """A bound on how many a list holds; what permits counts only elements that are one each."""
    number = number_of(text)
    if not isinstance(number, int) or number < 0:
        raise Problem(f"`{argument.leaf}` is a list, and {text} does not count", "write a whole number")
    if argument.free:
        raise Problem(
            f"`{argument.leaf}` is a list of objects, which is no number",
            f"name a member (where `{argument.leaf}.amount` is ...), or write: more than 5 {argument.leaf} at once",
        )
    if test in (Comparison.AT_LEAST, Comparison.ABOVE):
        return {"minItems": number + (test is Comparison.ABOVE)}
    most = {"maxItems": max(number - (test is Comparison.BELOW), 0)}
    return {**most, "matches": "[^,;]*"} if certain else most


def _bounded(argument: Argument, text: str, *, most: bool) -> dict[str, Any]:
    """A bound on a number; an argument that takes numbers as text is compared digit by digit."""
    number = number_of(text)
    if argument.types and not argument.types & {"integer", "number"} and "string" in argument.types:
        if not isinstance(number, int) or number < 0:
            raise Problem(f"`{argument.leaf}` is a text, and {text} no whole number", "write a whole number")
        return {"matches": at_most(number) if most else at_least(number)}
    return {"maximum" if most else "minimum": number}


def _is_text(argument: Argument) -> bool:
    return "string" in argument.types and not argument.types & {"integer", "number"}
