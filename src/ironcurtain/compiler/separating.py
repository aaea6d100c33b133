"""What a statement says before any tool is looked at: what cannot be said, and what one statement is several of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.problems import Problem
from ironcurtain.language.statement import (
    JOINING,
    After,
    Attachments,
    Comparison,
    Condition,
    Content,
    Count,
    Doing,
    Except,
    Giving,
    Mood,
    Origin,
    People,
    Place,
    Statement,
    Where,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ironcurtain.compiler.drafts import Sourced
    from ironcurtain.language.statement import Limit

_OPPOSITES: Final = {
    Comparison.IS_NOT: Comparison.IS,
    Comparison.ABOVE: Comparison.AT_MOST,
    Comparison.BELOW: Comparison.AT_LEAST,
    Comparison.LONGER: Comparison.NO_LONGER,
}


def require_sayable(statement: Statement) -> None:
    permits = statement.mood is Mood.MAY
    for limit in statement.limits:
        if permits and isinstance(limit, (Content, Count, After, Origin)):
            raise Problem(
                "a permission cannot rest on what is said, how many there are or what was read",
                "write the permission without it, and a must ask before or must never beside it",
            )
        if not permits and isinstance(limit, Giving):
            raise Problem("`giving only` belongs to a permission", "write it in a may")
    _require_given(statement)
    for exception in statement.exceptions if not _separable(statement) else ():
        for limit in exception.limits:
            _require_positive(limit)
        if not (exception.limits or exception.doing != Doing()):
            raise Problem("an empty exception", "say what is excepted")


def _require_given(statement: Statement) -> None:
    """Raise a `Problem` for a `giving only` that closes an object of which the statement demands a member."""
    given = [name for limit in statement.limits if isinstance(limit, Giving) for name in limit.arguments]
    if not given:
        return
    for limit in statement.limits:
        for each in limit.conditions if isinstance(limit, Where) else ():
            whole = each.argument.partition(".")[0].removesuffix("[]")
            wanted = each.test is not Comparison.LEFT_OUT and not each.or_left_out and whole != each.argument
            if wanted and not any(
                each.argument == name or each.argument.startswith((f"{name}.", f"{name}[")) for name in given
            ):
                raise Problem(
                    f"`giving only` leaves out `{whole}`, in which `{each.argument}` is given",
                    f"name it too: giving only ..., `{whole}`",
                )


def _require_positive(limit: Limit) -> None:
    if isinstance(limit, (*JOINING, Giving)):
        raise Problem("an exception cannot rest on content, counts, flow or the task", "write another statement")
    if isinstance(limit, (Place, People)) and limit.outside:
        raise Problem("`outside` in an exception", "say what is excepted, without a negation")
    if isinstance(limit, Attachments) and limit.without:
        raise Problem("`without` in an exception", "say what is excepted, without a negation")
    if isinstance(limit, Where):
        for condition in limit.conditions:
            if condition.test in (Comparison.IS_NOT, Comparison.LEFT_OUT) or condition.or_left_out:
                raise Problem("a negation in an exception", "say what is excepted, without a negation")
            if condition.test in (Comparison.ABOVE, Comparison.BELOW, Comparison.LONGER):
                instead = _OPPOSITES[condition.test].value
                raise Problem(f"`{condition.test.value}` in an exception", f"write {instead}")


def closed_twice(lines: Sequence[Sourced]) -> frozenset[int]:
    """The statements that close with `only` what another one closes."""
    seen: dict[tuple[str, object, type], int] = {}
    found: set[int] = set()
    for number, source in enumerate(lines):
        line = source.line
        if not isinstance(line, Statement) or line.only is None:
            continue
        for act in line.doing.acts or ("",):
            for thing in line.doing.tools or line.doing.things or (None,):
                key = (act, thing, type(line.limits[line.only]))
                other = seen.setdefault(key, number)
                if other != number and lines[other].line != line:
                    found |= {other, number}
    return frozenset(found)


def separated(statement: Statement) -> Iterator[Statement]:
    """A permission with `only` is the permission and a never for the same act elsewhere."""
    if conditions := _separable(statement):
        bare = replace(statement, exceptions=())
        yield from (_where_not(bare, condition) for condition in conditions)
        return
    yield replace(statement, only=None)
    if statement.only is None:
        return
    limit, never = statement.limits[statement.only], Statement(Mood.NEVER, statement.doing)
    if isinstance(limit, Where):
        yield from (_where_not(never, condition) for condition in limit.conditions)
    else:
        yield replace(never, limits=(_opposite(limit),))


def _separable(statement: Statement) -> tuple[Condition, ...]:
    """The conditions of a never or an ask, of which a call that fails one is not excepted: its only exception."""
    if statement.mood is Mood.MAY or len(statement.exceptions) != 1 or statement.exceptions[0].doing != Doing():
        return ()
    limits = statement.exceptions[0].limits
    return limits[0].conditions if len(limits) == 1 and isinstance(limits[0], Where) else ()


def _where_not(statement: Statement, condition: Condition) -> Statement:
    """A never or an ask for whatever else an argument is than a condition says, and where it must not be left out."""
    given = Where((Condition(condition.argument, Comparison.GIVEN),))
    if condition.test is Comparison.LEFT_OUT:
        return replace(statement, limits=(*statement.limits, given))
    if condition.test in _OPPOSITES:
        other = replace(condition, test=_OPPOSITES[condition.test], given=condition.or_left_out)
        other = replace(other, or_left_out=not other.given)
        return replace(statement, limits=(*statement.limits, Where((other,))))
    excepted = Except(limits=(Where((replace(condition, or_left_out=False),)),))
    limits = (*statement.limits, given) if condition.or_left_out else statement.limits
    return replace(statement, limits=limits, exceptions=(excepted,))


def _opposite(limit: Limit) -> Limit:
    if isinstance(limit, Place) and not limit.outside:
        return replace(limit, outside=True)
    if isinstance(limit, People) and limit.members and not limit.outside:
        if not all(hasattr(member, "text") for member in limit.members):
            raise Problem("`only` before `anyone at`", "write: must never ... to anyone outside example.com")
        return replace(limit, outside=True)
    raise Problem("`only` cannot close that limit", "write the permission, and a must never beside it")


def merged_exceptions(exceptions: Sequence[Except]) -> list[Except]:
    """Alternatives that differ in one limit only are one: `except to ann, except to customers`."""
    found: list[Except] = []
    for each in exceptions:
        twin = next((n for n, other in enumerate(found) if _mergeable(each, other)), None)
        if twin is None:
            found.append(each)
        else:
            found[twin] = replace(each, limits=(_both(found[twin].limits[0], each.limits[0]),))
    return found


def _mergeable(one: Except, other: Except) -> bool:
    if one.doing != other.doing or len(one.limits) != 1 or len(other.limits) != 1:
        return False
    first, second = one.limits[0], other.limits[0]
    return type(first) is type(second) and isinstance(first, (Place, People))


def _both(one: Limit, other: Limit) -> Limit:
    if isinstance(one, Place) and isinstance(other, Place):
        return Place((*one.names, *other.names))
    if isinstance(one, People) and isinstance(other, People):
        return People((*one.members, *other.members))
    return one
