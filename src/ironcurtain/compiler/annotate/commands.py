"""Commands: whatever another program carries out, from a shell line to a query."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.setting import Meaning, meaning
from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_NAMES: Final = lexicon(
    """command cmd script code sql cypher javascript expression statement stdin shell bash program snippet flux
    promql soql kql sparql gremlin graphql"""
)
_LANGUAGE: Final = re.compile(
    r"\b(?:sql|cypher|select statement|soql|promql|kql|graphql|query (?:to execute|language)|aggregation)\b"
)
_RUN: Final = re.compile(
    r"\b(?:shell command|command to (?:run|execute)|code to (?:run|execute)|javascript (?:code|to)|python code|"
    r"sql (?:query|statement)|script to (?:run|execute)|body of the (?:\w+ )?(?:class|function|trigger|procedure))\b"
)
_STARTED: Final = (("user", "data"), ("twiml",), ("cloud", "init"), ("startup", "script"), ("function", "body"))
_LOOKED_AT: Final = lexicon("snippet program statement")
"""Code that a reader only looks at."""
_TYPED: Final = ("input", "stdin", "key", "process", "session", "terminal", "shell", "repl")
"""What a tool types into that is a running program."""
_PROGRAM: Final = re.compile(r"\b(?:python|javascript|source|program|to (?:run|execute))\b")


_SQL: Final = re.compile(r"(?i)\b(?:my|postgre|maria)?sql(?:ite)?\b|\bselect\b|\bpostgres\b")
_OTHER_LANGUAGES: Final = re.compile(
    r"(?i)\b(?:nosql|mongo\w*|cypher|graphql|soql|promql|logql|kql|flux|sparql|gremlin|elastic\w*|jql|shell|bash|psql|cli)\b"
)


def is_sql(argument: Argument, tool: str) -> bool:
    """Whether a command is surely a statement in SQL; `tool` is what the tool says of itself."""
    named = argument.words[-1:] == ("sql",)
    asked = argument.words[-1:] in (("query",), ("statement",), ("q",))
    says = f"{argument.says} {tool}"
    return (named or (asked and _SQL.search(says) is not None)) and not _OTHER_LANGUAGES.search(says)


def command(argument: Argument, tool: Setting) -> Meaning | None:
    """Something to be carried out."""
    words = argument.words
    if argument.is_flag or argument.is_number or not words or "cron" in words:
        return None
    last, executes = words[-1], "execute" in tool.effects
    runs = executes or tool.speaks_of("query", "execute", "run", "sql", "eval", "evaluate")
    looked_at = tool.only_reads and not runs and last in _LOOKED_AT
    if last in _NAMES and not looked_at and (last != "code" or runs or _PROGRAM.search(argument.says)):
        return meaning("command")
    if last in ("query", "q", "filter", "search") and _LANGUAGE.search(f"{argument.says} {tool.nutshell}"):
        return meaning("command")
    if last == "query" and runs and tool.subject.is_about("data") and not tool.speaks_of("search"):
        return meaning("command")
    if executes and (
        last in ("arg", "argument") or (last in ("parameter", "param", "input") and tool.subject.is_about("shell"))
    ):
        return meaning("command")
    if (executes and last in ("task", "instruction", "prompt", "goal")) or _is_told(argument, tool):
        return meaning("command", doubt="what an agent is told to do")
    typed = last in ("input", "key", "text", "data", "keystroke") and tool.speaks_of(*_TYPED)
    if typed and tool.subject.is_about("shell") and not tool.only_reads:
        return meaning("command")
    evaluated = last == "template" and tool.speaks_of("eval", "evaluate", "render")
    if evaluated or words in _STARTED or (words[0] == "query" and last in ("body", "dsl")):
        return meaning("command")
    code = last == "function" and re.search(r"javascript|=>|code", argument.says)
    return meaning("command") if code or _RUN.search(argument.says) else None


def _is_told(argument: Argument, tool: Setting) -> bool:
    """Return whether an action is told in words, and not chosen from a list."""
    if argument.words[-1] != "action" or argument.enum or tool.only_reads:
        return False
    chosen = len(re.findall(r"[\"'`]\w+[\"'`]", argument.says)) > 1
    return not chosen and re.match(r"(?:the )?action to (?:perform|take|do)", argument.says) is not None
