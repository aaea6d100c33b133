"""Writes the statements that an owner makes of the parts of a form: `may A B with a, not b; never C`.

INVARIANT: what is written compiles, and a tool that a limit cannot be said of is left out, never taken without it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.problems import Problem, did_you_mean
from ironcurtain.compiler.readers.form import tool_name
from ironcurtain.compiler.readers.limiting import Option, for_tightening, joined
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.language.parsing import StatementError, parse
from ironcurtain.language.statement import (
    Attachments,
    Comparison,
    Count,
    Doing,
    Except,
    Giving,
    Mood,
    Name,
    People,
    Place,
    Statement,
    Where,
)
from ironcurtain.language.writing import write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.readers.form import Form
    from ironcurtain.compiler.setup import Known
    from ironcurtain.language.statement import Condition, Limit

_ELSE: Final = "z"
_MOODS: Final = {
    "may": Mood.MAY, "never": Mood.NEVER, "ask": Mood.ASK, "otherwise": Mood.OTHERWISE, "else": Mood.OTHERWISE,
}  # fmt: skip
_PART: Final = re.compile(
    r"\s*(may|never|ask|otherwise|else)\s+(.+?)(?:\s+with\s+(.+?))?\s*", re.IGNORECASE | re.DOTALL
)
_LIMIT_WORDS: Final = re.compile(
    r"""`[^`]+`(?:"(?:[^"\\]|\\.)*"|[^,"`])*|(?:in|on|outside|to|with|whose|more|after|without|giving)\b(?:"(?:[^"\\]|\\.)*"|[^,"])+"""
    r"""|[^\s,]+"""
)
_VALUES: Final = re.compile(
    r"(`[^`]+`\s+(?:is not|is|contains|starts with|ends with)\s+)"
    r"(?!given\b|left out\b|in\b|at\b|more\b|less\b|under\b)(.+)$"
)
"""A condition, and its values."""
_OR: Final = re.compile(r"\s+or\s+")
_HOW: Final = "say for example: may A B with a, not b; never C"


@dataclass(slots=True)
class Limits:
    """The limits of one statement, and how they are meant."""

    limits: list[Limit] = field(default_factory=list)
    beyond: list[Limit] = field(default_factory=list)
    """Counts that a permission excludes: it is forbidden beyond them."""
    excepted: list[Limit] = field(default_factory=list)
    """What a prohibition or a question does not speak of."""
    only: bool = False
    """What one limit names, and nothing else: the first, or the first of the kind in `closes`."""
    closes: type | None = None
    closed: bool = False
    """No arguments are given but the necessary ones and those in the limits."""

    def take(self, limit: Limit, *, negated: bool) -> None:
        """Add a limit, or what holds where it does not."""
        opposite = Option(limit).opposite if negated else limit
        if negated and isinstance(limit, Attachments) and limit.names:  # from anywhere else
            self.limits.append(Attachments())
            self.excepted.append(limit)
        elif opposite is not None:
            self.limits.append(opposite)
        else:
            (self.beyond if isinstance(limit, Count) else self.excepted).append(limit)


@dataclass(frozen=True, eq=False)
class Composer:
    """Writes statements for one catalogue and set-up."""

    tools: Sequence[Tool]
    known: Known

    def said(self, form: Form, answer: str) -> tuple[str, ...]:
        """Return the statements that an answer makes of the parts of a form; raise a `Problem` if it makes none."""
        lines: list[str] = []
        for piece in re.split(r"[;\n]", answer):
            if piece.strip():
                lines += self._piece(form, piece)
        if not lines:
            raise Problem("nothing was said", _HOW)
        return tuple(dict.fromkeys(lines))

    def _piece(self, form: Form, text: str) -> list[str]:
        match = _PART.fullmatch(text)
        if not match:
            raise Problem(f"{text.strip()!r} does not begin with may, never, ask or otherwise", _HOW)
        mood, tools, groups = _MOODS[match[1].lower()], list[Name](), list[Doing]()
        for word in re.split(r"[\s,]+", match[2]):
            if word and word not in ("and", "or"):
                found = self._part(form, word)
                tools += found.tools
                groups += [found] if found.things else []
        said = _said(form, match[3] or "")
        doings = [*groups, *([Doing(tools=tuple(dict.fromkeys(tools)))] if tools else [])]
        lines: list[str] = []
        for doing in doings:
            lines += self.made(mood, doing, said)
            for count in said.beyond:  # at most 5 at once is a permission, and never more than 5 at once
                lines += self.made(Mood.NEVER, doing, Limits([count]))
        return lines

    def _part(self, form: Form, word: str) -> Doing:
        place = ascii_uppercase.find(word) if len(word) == 1 else -1
        if 0 <= place < len(form.parts):
            return form.parts[place].doing
        bare = [tool.key for tool in self.tools if tool.name == word]
        keys = [tool.key for tool in self.tools if tool.key == word or ("/" in word and fnmatchcase(tool.key, word))]
        keys = keys or (bare if len(bare) == 1 else [])
        if not keys:
            near = did_you_mean(word, [tool.key for tool in self.tools], "take a letter, or a tool by its name")
            raise Problem(f"there is no tool {word}", near)
        return Doing(tools=tuple(map(tool_name, keys)))

    def made(self, mood: Mood, doing: Doing, said: Limits) -> list[str]:
        """Write statements with limits; raise a `Problem` if there is no tool that they can be said of.

        A tool that one of the limits cannot be said of is left out, never taken without the limit.
        """
        if said.only and mood is not Mood.MAY:
            raise Problem("only belongs to a permission", "write may ... with only a")
        if said.excepted and not mood.tightens:
            raise Problem("a permission for anything else than that", "say what is permitted, or use never")
        if doing.things:
            line = self._line(mood, doing, said, self.tools)
            if problem := self._problem(line):
                raise Problem(*problem.split("; ", 1))
            return [line]
        by_key = {tool.key: tool for tool in self.tools}
        right: dict[Name, str] = {}
        first = "there is no such tool"
        for name in doing.tools:
            line = self._line(mood, Doing(tools=(name,)), said, [by_key[name.text]])
            if problem := self._problem(line):
                first = problem if not right else first
            else:
                right[name] = line
        if not right:
            raise Problem(*first.split("; ", 1))
        closed = said.closed and mood is Mood.MAY
        whole = self._line(mood, Doing(tools=tuple(right)), said, [by_key[name.text] for name in right])
        return [whole] if not closed and not self._problem(whole) else [*right.values()]

    def _line(self, mood: Mood, doing: Doing, said: Limits, tools: Sequence[Tool]) -> str:
        merged = [for_tightening(each, tools) if mood is not Mood.MAY else each for each in joined(said.limits)]
        if said.closed and mood is Mood.MAY and len(tools) == 1:
            merged.append(_nothing_else(tools[0], merged))
        kinds = (said.closes,) if said.closes is not None else (Place, People, Where)
        close = next((n for n, each in enumerate(merged) if isinstance(each, kinds)), None)
        exceptions = tuple(Except(limits=(each,)) for each in joined(said.excepted))
        only = close if said.only and mood is Mood.MAY else None
        return write(Statement(mood, doing, tuple(merged), only, exceptions))

    def _problem(self, line: str) -> str:
        try:
            (meaning,) = compile_statements([Sourced(parse(line))], self.tools, self.known).meanings
        except StatementError as error:
            return f"{error.message}; {error.help}"
        return f"{meaning.problem}; {meaning.help}" if meaning.problem else ""


def _said(form: Form, text: str) -> Limits:
    """Read the limits of an answer: letters, `not`, `only` and `z`, or limits written out as in a statement."""
    said, negated = Limits(), False
    for word in _LIMIT_WORDS.findall(text):
        if word in ("and", "or"):
            continue
        if word in ("not", "only"):
            negated, said.only = negated or word == "not", said.only or word == "only"
            continue
        place = ascii_lowercase.find(word) if len(word) == 1 else -1
        if word == _ELSE:
            said.closed = True
        elif 0 <= place < len(form.limits):
            said.take(form.limits[place].limit, negated=negated)
        else:
            not_in = " is not in " in word
            for each in _written(word.replace(" is not in ", " is in ")):
                said.take(each, negated=negated != not_in)
        if said.only and said.closes is None and said.limits:
            said.closes = type(said.limits[-1])
        negated = False
    return said


def _written(text: str) -> tuple[Limit, ...]:
    """Return the limits that are written out: `` `amount` is at most 50 ``, `in #team`.

    Values that are no names of the language are taken as if they were quoted: `` `path` ends with .md or .txt``.
    """
    shown = f"where {text}" if text.startswith("`") else text
    quoted = _VALUES.sub(lambda found: found[1] + " or ".join(map(_as_quoted, _OR.split(found[2]))), shown)
    for form in (shown, quoted):
        try:
            line = parse(f"must never use x/y {form.strip()}")
        except StatementError as error:
            problem = Problem(error.message, error.help)
        else:
            return tuple(map(_under, line.limits)) if isinstance(line, Statement) else ()
    raise problem


def _as_quoted(value: str) -> str:
    plain = value.strip()
    return plain if plain == "left out" or plain.startswith('"') else json.dumps(plain, ensure_ascii=False)


def _under(limit: Limit) -> Limit:
    """A condition on how a path begins, as one on the directory that it is under."""
    if not isinstance(limit, Where):
        return limit

    def said(each: Condition) -> Condition:
        below = each.test is Comparison.STARTS and all(name.text.startswith(("/", "~/")) for name in each.values)
        return replace(each, test=Comparison.UNDER) if below else each

    return Where(tuple(map(said, limit.conditions)))


def _nothing_else(tool: Tool, limits: Sequence[Limit]) -> Giving:
    named = [c.argument for limit in limits if isinstance(limit, Where) for c in limit.conditions]
    required = [leaf for leaf, argument in tool.arguments.items() if argument.required]
    # A member of an object is given in the object: `data` for `data.entity_id`.
    whole = [leaf for each in named for leaf in tool.arguments if each == leaf or each.startswith(f"{leaf}.")]
    return Giving(tuple(dict.fromkeys((*required, *whole))))
