"""Reads a line into a statement, or says like a good compiler where it is no statement and what was expected there."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, VisitError
from lark.lexer import PatternRE, PatternStr

from ironcurtain.language.statement import (
    ACTS,
    After,
    Amount,
    Attachments,
    Budget,
    Comparison,
    Condition,
    Content,
    Count,
    Doing,
    Domain,
    Except,
    Giving,
    Mood,
    Name,
    Origin,
    People,
    Place,
    Statement,
    Task,
    Thing,
    Where,
)
from ironcurtain.language.writing import RESERVED, gerund

if TYPE_CHECKING:
    from lark.lexer import TerminalDef

    from ironcurtain.language.statement import Line

LONGEST: Final = 2_000  # characters of one statement
_BOUNDARY: Final = r"(?![\w\-/#@~*:]|\.\w)"
_GERUNDS: Final = {gerund(act): act for act in ACTS}
_SHOWN: Final = {
    "WORD": "a name", "STRING": "a quoted name", "NUMBER": "a number", "ARGUMENT": "an argument in backticks",
    "REGEX": "a pattern between slashes", "ACT": "an act (read, create, change, delete, send ...)",
    "ACT_ING": "an act (reading, creating, changing ...)", "_END": "the end", "$END": "the end", "COMMA": "a comma",
    "EXCEPT": "`, except`", "MONEY": "a sum like $5", "PERIOD": "task or session", "OR_LEFT_OUT": "`or left out`",
    "GIVEN_AND": "`given and`",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class StatementError(Exception):
    """A line that is no statement."""

    message: str
    line: str
    column: int
    """Where it stops being one, counted from 1."""
    help: str = ""

    def __str__(self) -> str:
        return self.message

    def shown(self) -> str:
        """Write the line with a mark under the place, the message and the help."""
        mark = " " * (self.column - 1) + "^"
        return "\n".join(filter(None, (self.line, mark, self.message, self.help)))


def parse(line: str) -> Line:
    """Read one statement or budget; raise `StatementError` with the place and what was expected."""
    text = line.strip()
    if len(text) > LONGEST:
        raise StatementError(f"more than {LONGEST} characters", text[:80], 1, "write two statements")
    for column, char in enumerate(text, 1):
        if unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs"):
            raise StatementError("a character that cannot be seen", text, column, "write it without")
    try:
        found: Line = _Statements().transform(_parser().parse(text))
    except UnexpectedInput as error:
        raise _explained(text, error) from None
    except VisitError as error:
        if isinstance(error.orig_exc, _Misuse):
            raise StatementError(str(error.orig_exc), text, 1, error.orig_exc.help) from None
        raise
    return found


class _Misuse(Exception):  # noqa: N818 - becomes a StatementError with the line
    def __init__(self, message: str, help_: str) -> None:
        super().__init__(message)
        self.help = help_


@cache
def _parser() -> Lark:
    grammar = resources.files("ironcurtain.language").joinpath("grammar.lark").read_text()
    return Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        maybe_placeholders=True,
        propagate_positions=True,
        edit_terminals=_as_whole_word,
    )


def _as_whole_word(terminal: TerminalDef) -> None:
    """Make a keyword match whole words only, ahead of names."""
    if isinstance(terminal.pattern, PatternStr) and terminal.pattern.value.isalpha():
        terminal.pattern = PatternRE(re.escape(terminal.pattern.value) + _BOUNDARY)
        terminal.priority = 2


def _explained(text: str, error: UnexpectedInput) -> StatementError:
    column = error.column if isinstance(error.column, int) and error.column > 0 else len(text) + 1
    accepts = getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None)
    expected = sorted({_SHOWN.get(name, f"`{_keyword(name)}`") for name in accepts or ()})
    if getattr(getattr(error, "token", None), "type", "") == "$END":
        column = len(text) + 1
    found = re.match(r'"[^"]*"?|[^\s,.]+|.', text[column - 1 :])
    word = found.group() if found else ""
    keywords = [_keyword(name) for name in accepts or () if name not in _SHOWN]
    near = difflib.get_close_matches(word.lower(), [*keywords, *(ACTS if "ACT" in (accepts or ()) else ())], 1)
    shown = f"{word!r} was not expected here" if word else "the statement ends too early"
    help_ = f"did you mean {near[0]!r}?" if near else f"expected {_either(expected)}"
    return StatementError(shown, text, min(column, len(text) + 1), help_)


def _keyword(name: str) -> str:
    return name.lower().strip("_")


def _either(words: list[str]) -> str:
    shown = words[:8] + (["..."] if len(words) > 8 else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}" if shown else "nothing more"


def keywords() -> frozenset[str]:
    """Return the words that are grammar, for completion."""
    return RESERVED


@v_args(inline=True)
class _Statements(Transformer[Token, Any]):
    """Turns the tree of the grammar into statements; one method a rule."""

    def start(self, found: Line) -> Line:
        return found

    def permission(self, *parts: Any) -> Statement:
        return _statement(Mood.MAY, parts)

    def prohibition(self, *parts: Any) -> Statement:
        return _statement(Mood.NEVER, parts)

    def question(self, *parts: Any) -> Statement:
        return _statement(Mood.ASK, parts)

    def otherwise(self, *parts: Any) -> Statement:
        return _statement(Mood.OTHERWISE, parts)

    # Doing.

    def act_on(self, acts: tuple[str, ...], things: tuple[Thing, ...] | None = None) -> Doing:
        return Doing(acts=acts, things=things or ())

    def use(self, tools: tuple[Name, ...]) -> Doing:
        return Doing(tools=tools)

    def anything_with(self, things: tuple[Thing, ...]) -> Doing:
        return Doing(things=things)

    def acts(self, *acts: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(acts))

    acts_ing = acts

    def known_ing(self, *acts: Token) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_GERUNDS[str(act)] for act in acts))

    def act(self, word: Token) -> str:
        plain = word.lower()
        return plain if plain in ACTS else _GERUNDS.get(plain) or _verb(str(word))

    def act_ing(self, word: Token) -> str:
        return _GERUNDS.get(word.lower()) or _verb(str(word))

    def things(self, *things: Thing) -> tuple[Thing, ...]:
        return things

    tools = names = values = things

    def thing(self, noun: Thing, of: Name | None) -> Thing:
        return Thing(noun.noun, of, noun.quoted)

    def any_noun(self) -> Thing:
        return Thing()

    def plain_noun(self, *words: Token) -> Thing:
        return Thing(" ".join(words))

    def quoted_noun(self, text: Token) -> Thing:
        return Thing(_unquoted(text), quoted=True)

    def name(self, word: Token) -> Name:
        return Name(_unquoted(word), quoted=True) if word.type == "STRING" else Name(str(word))

    value = name

    # Limits.

    def limit(self, only: bool | None, limit: Any) -> tuple[bool, Any]:  # noqa: FBT001 - as the rule has it
        return bool(only), limit

    def only(self) -> bool:
        return True

    def place(self, names: tuple[Name, ...]) -> Place:
        return Place(names)

    def outside(self, names: tuple[Name, ...]) -> Place:
        return Place(names, outside=True)

    def people(self, parties: People) -> People:
        return parties

    def parties(self, *parties: Any) -> People:
        beyond = [each for each in parties if isinstance(each, People)]
        if beyond and len(parties) > 1:
            raise _Misuse("`anyone` and others in one list", "write `anyone` alone, or two statements")
        return beyond[0] if beyond else People(parties)

    def member(self, name: Name) -> Name:
        return name

    def at_domain(self, name: Name) -> Domain:
        return Domain(name)

    def beyond(self, names: tuple[Name, ...]) -> People:
        return People(names, outside=True)

    def anyone(self) -> People:
        return People()

    def people_count(self, number: Token) -> Count:
        return Count(_whole(number))

    def thing_count(self, number: Token, *noun: Token) -> Count:
        return Count(_whole(number), " ".join(noun))

    def attachments(self, names: tuple[Name, ...] | None) -> Attachments:
        return Attachments(names or ())

    def no_attachments(self) -> Attachments:
        return Attachments(without=True)

    def content(self, text: Token) -> Content:
        return Content(_unquoted(text))

    def after(self, things: tuple[Thing, ...]) -> After:
        return After(things)

    def origin(self, names: tuple[Name, ...]) -> Origin:
        return Origin(names)

    def task_people(self) -> Task:
        return Task.PEOPLE

    def task_asks(self) -> Task:
        return Task.ASKED

    def giving(self, *arguments: Token) -> Giving:
        return Giving(tuple(each[1:-1] for each in arguments))

    def where(self, *conditions: Condition) -> Where:
        found: list[Condition] = []
        for each in conditions:
            found.append(each if each.argument else replace(each, argument=found[-1].argument))
        return Where(tuple(found))

    def more(self, predicate: Condition) -> Condition:
        return predicate

    def condition(self, argument: Token, predicate: Condition) -> Condition:
        return Condition(argument[1:-1], predicate.test, predicate.values, predicate.given, predicate.or_left_out)

    def predicate(self, given: bool | None, test: Condition, left_out: bool | None) -> Condition:  # noqa: FBT001
        return Condition("", test.test, test.values, bool(given), bool(left_out))

    def is_given(self) -> Condition:
        return Condition("", Comparison.GIVEN)

    def is_left_out(self) -> Condition:
        return Condition("", Comparison.LEFT_OUT)

    def given(self, _: Token) -> bool:
        return True

    or_left_out = given

    def equals(self, values: tuple[Name, ...]) -> Condition:
        return Condition("", Comparison.IS, values)

    def differs(self, values: tuple[Name, ...]) -> Condition:
        return Condition("", Comparison.IS_NOT, values)

    def at_most(self, number: Token) -> Condition:
        return Condition("", Comparison.AT_MOST, (Name(str(number)),))

    def at_least(self, number: Token) -> Condition:
        return Condition("", Comparison.AT_LEAST, (Name(str(number)),))

    def above(self, number: Token) -> Condition:
        return Condition("", Comparison.ABOVE, (Name(str(number)),))

    def below(self, number: Token) -> Condition:
        return Condition("", Comparison.BELOW, (Name(str(number)),))

    def longer(self, number: Token) -> Condition:
        return Condition("", Comparison.LONGER, (Name(str(_whole(number))),))

    def no_longer(self, number: Token) -> Condition:
        return Condition("", Comparison.NO_LONGER, (Name(str(_whole(number))),))

    def inside(self, names: tuple[Name, ...]) -> Condition:
        return Condition("", Comparison.IN, names)

    def under(self, names: tuple[Name, ...]) -> Condition:
        return Condition("", Comparison.UNDER, names)

    def contains(self, values: tuple[Name, ...]) -> Condition:
        return Condition("", Comparison.CONTAINS, values)

    def starts(self, values: tuple[Name, ...]) -> Condition:
        return Condition("", Comparison.STARTS, values)

    def ends(self, values: tuple[Name, ...]) -> Condition:
        return Condition("", Comparison.ENDS, values)

    def matches(self, pattern: Token) -> Condition:
        return Condition("", Comparison.MATCHES, (Name(pattern[1:-1], quoted=True),))

    # Exceptions.

    def exception(self, _: Token, found: Except) -> Except:
        return found

    def except_acts(self, acts: tuple[str, ...], *rest: Any) -> Except:
        things = rest[0] if rest and rest[0] and isinstance(rest[0][0], Thing) else ()
        return Except(Doing(acts=acts, things=things), _plain(rest[1:] if things else rest))

    def except_tools(self, tools: tuple[Name, ...], *limits: Any) -> Except:
        return Except(Doing(tools=tools), _plain(limits))

    def except_things(self, things: tuple[Thing, ...], *limits: Any) -> Except:
        return Except(Doing(things=things), _plain(limits))

    def except_limits(self, *limits: Any) -> Except:
        return Except(limits=_plain(limits))

    # Budgets.

    def calls(self, number: Token, period: Token) -> Budget:
        return Budget(Amount.CALLS, _whole(number), str(period))

    def money(self, sum_: Token, period: Token) -> Budget:
        return Budget(Amount.MONEY, float(sum_[1:]), str(period))

    def minutes(self, act: Token, number: Token) -> Budget:
        if act != "run":
            raise _Misuse(f"{act!r} takes no time", "write: must never run for more than 30 minutes")
        return Budget(Amount.MINUTES, _whole(number))


def _statement(mood: Mood, parts: tuple[Any, ...]) -> Statement:
    doing, *rest = parts
    limits = [each for each in rest if isinstance(each, tuple)]
    closed = [number for number, (only, _) in enumerate(limits) if only]
    if closed and mood is not Mood.MAY:
        raise _Misuse("`only` belongs to a permission", "write: may ... only in ...")
    if len(closed) > 1:
        raise _Misuse("two `only` in one statement", "close one limit, and write another statement for the other")
    exceptions = tuple(each for each in rest if isinstance(each, Except))
    return Statement(mood, doing, tuple(limit for _, limit in limits), closed[0] if closed else None, exceptions)


_ESCAPE: Final = re.compile(r'\\([\\"/bfnrt]|u[0-9a-fA-F]{4})|\\')


def _unquoted(token: Token) -> str:
    """A quoted text; an escape brings back nothing that cannot be seen. A backslash that is no escape is itself."""
    text = str(json.loads(_ESCAPE.sub(lambda found: found[0] if found[1] else "\\" + found[0], token)))
    if any(unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs") for char in text):
        raise _Misuse("a character that cannot be seen, or half of one", "write it without")
    return text


def _verb(word: str) -> str:
    """A verb that may stand for tools: no keyword, and nothing but letters."""
    if word in ACTS:
        return word
    if word == "only":
        raise _Misuse("`only` stands before the limit that it closes", "write: may read files only in ~/Notes")
    if word in RESERVED or not word.replace("-", "").replace("_", "").isalpha():
        raise _Misuse(f"{word!r} is no act", f"acts are {', '.join(ACTS)}")
    return word


def _plain(limits: Any) -> tuple[Any, ...]:
    if any(only for only, _ in limits):
        raise _Misuse("`only` in an exception", "say what is excepted, and nothing else")
    return tuple(limit for _, limit in limits)


def _whole(number: Token) -> int:
    if not re.fullmatch(r"\d+", number):
        raise _Misuse(f"{number} is no whole number", "write a number like 10")
    return int(number)
