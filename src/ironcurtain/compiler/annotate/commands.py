"""Commands: whatever another program carries out, from a shell line to a query."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.setting import Meaning, meaning
from ironcurtain.compiler.annotate.text import is_named_by_id, lexicon, words_of

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
_SEARCH_LANGUAGE: Final = re.compile(r"\bkeyword query language\b|\bjql\b")
"""Languages that say which mails or issues are listed, and can do nothing else."""
_EXECUTED: Final = re.compile(r"\b(?:\w*sql\w*|cypher|graphql|aggregation|kusto|cluster|data explorer|database)\b")
_RUN: Final = re.compile(
    r"\b(?:shell command|command to (?:run|execute)|code to (?:run|execute)|javascript (?:code|to)|python code|"
    r"sql (?:query|statement)|script to (?:run|execute)|body of the (?:\w+ )?(?:class|function|trigger|procedure))\b"
)
_STARTED: Final = (("user", "data"), ("twiml",), ("cloud", "init"), ("startup", "script"), ("function", "body"))
_PARAMETERS: Final = lexicon("parameter param input")
_BODIES: Final = lexicon("source body content text")
_LOOKED_AT: Final = lexicon("snippet program statement")
"""Code that a reader only looks at."""
_TYPED: Final = ("input", "stdin", "key", "process", "session", "terminal", "shell", "repl", "bash")
"""What a tool types into that is a running program."""
_STARTING: Final = (
    "run", "launch", "open", "start", "build", "load", "spawn", "exec", "compile", "test", "debug", "install", "invoke",
    "make", "serve", "boot", "restart", "upgrade", "execute",
)  # fmt: skip
_PROGRAM_WORDS: Final = lexicon("extra cli command additional program compiler build shell run custom raw")
_PROGRAMS: Final = frozenset({"command", "cmd", "program", "executable"})
"""Arguments beside which others are what a program is started with."""
_PROGRAM: Final = re.compile(r"\b(?:python|javascript|source|program|to (?:run|execute))\b")


_SQL: Final = re.compile(r"(?i)\b(?:my|postgre|maria)?sql(?:ite)?\b|\bselect\b|\bpostgres\b")
_OTHER_LANGUAGES: Final = re.compile(
    r"(?i)\b(?:nosql|mongo\w*|cypher|graphql|soql|promql|logql|kql|flux|sparql|gremlin|elastic\w*|jql|shell|bash|psql|cli)\b"
)


def is_sql(argument: Argument, tool: str) -> bool:
    """Return whether a command is surely a statement in SQL; `tool` is what the tool says of itself."""
    named = argument.words[-1:] == ("sql",)
    asked = argument.words[-1:] in (("query",), ("statement",), ("q",))
    says = f"{argument.says} {tool}"
    return (named or (asked and _SQL.search(says) is not None)) and not _OTHER_LANGUAGES.search(says)


def is_argv(argument: Argument, tool: str) -> bool:
    """Return whether a list is one command, word by word; `tool` is what the tool says of itself."""
    if "array" not in argument.types or argument.words[-1:] not in (("command",), ("cmd",), ("argv",)):
        return False
    plural = argument.name.lower().endswith(("commands", "cmds"))
    return not plural or re.search(r"\bargv\b|command and its arg", f"{argument.says} {tool}") is not None


def command(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the role of something that is carried out."""
    words = argument.words
    if argument.is_flag or argument.is_number or not words or "cron" in words or is_named_by_id(argument.says):
        return None
    executes = "execute" in tool.effects
    if (executes and words[-1] in ("task", "instruction", "prompt", "goal")) or _is_told(argument, tool):
        return meaning("command", doubt="what an agent is told to do")
    runs = executes or tool.speaks_of("query", "execute", "run", "sql", "eval", "evaluate")
    carried_out = _is_query(argument, tool, runs=runs) or _is_program(argument, tool, runs=runs)
    return meaning("command") if carried_out or _is_fed(argument, tool) else None


def _is_query(argument: Argument, tool: Setting, *, runs: bool) -> bool:
    """Return whether it is a query in some language."""
    words, last = argument.words, argument.words[-1]
    searches = tool.only_reads and tool.speaks_of("search", "find") and _SEARCH_LANGUAGE.search(argument.says)
    if searches and not _EXECUTED.search(f"{argument.says} {tool.nutshell}"):
        return False  # it says which records are listed, and can do nothing else
    if last in ("query", "q", "filter", "search") and _LANGUAGE.search(f"{argument.says} {tool.nutshell}"):
        return True
    if words[0] == "query" and last in ("body", "dsl"):
        return True
    if last == "query" and tool.speaks_of("sql", "jdbc", "odbc"):
        return True
    return last == "query" and runs and tool.subject.is_about("data") and not tool.speaks_of("search")


def _is_program(argument: Argument, tool: Setting, *, runs: bool) -> bool:
    """Return whether it is a shell line, a script or code."""
    words, last = argument.words, argument.words[-1]
    looked_at = tool.only_reads and not runs and last in _LOOKED_AT
    if last in _NAMES and not looked_at and (last != "code" or runs or _PROGRAM.search(argument.says)):
        return True
    if words == ("command", "line") or words in _STARTED or (runs and last in _BODIES and _is_code(argument, tool)):
        return True
    if last == "template" and tool.speaks_of("eval", "evaluate", "render"):
        return True
    if last in _BODIES and {"config", "pipeline", "workflow"} & set(words) and "execute" in tool.effects:
        return True
    code = last in ("function", "js") and re.search(r"javascript|=>|code", f"{argument.says} {tool.nutshell}")
    return bool(code or _RUN.search(argument.says))


def _is_fed(argument: Argument, tool: Setting) -> bool:
    """Return whether it is handed to a program that runs: its arguments, or what is typed into it."""
    last, in_shell = argument.words[-1], tool.subject.is_about("shell")
    told = _is_argument_list(argument) and argument.words[0] in ("extra", "additional", "cli", "command", "compiler")
    started = "execute" in tool.effects or tool.speaks_of(*_STARTING) or not _PROGRAMS.isdisjoint(tool.siblings)
    if last == "argv" or told or (_is_argument_list(argument) and started):
        return True
    if "execute" in tool.effects and last in _PARAMETERS and in_shell:
        return True
    if any(words_of(name)[-1:] == ("command",) for name in argument.above) and last in ("data", "payload", "input"):
        return True
    typed = last in ("input", "key", "text", "data", "keystroke", "ascii", "special") and tool.speaks_of(*_TYPED)
    return typed and in_shell and not tool.only_reads


def _is_argument_list(argument: Argument) -> bool:
    """Return whether it is what a program is started with: `args`, `extraArgs`, `cli_flags`."""
    words = argument.words
    if words[-1] in ("arg", "argument"):
        return len(words) == 1 or words[-2] not in ("build", "key", "template")
    return words[-1] in ("flag", "option", "switch") and not _PROGRAM_WORDS.isdisjoint(words[:-1])


def _is_code(argument: Argument, tool: Setting) -> bool:
    """Return whether a text that a tool runs is a program: it says so, or nothing else."""
    about = tool.speaks_of("code", "script", "python", "javascript", "js", "sql", "shell")
    return about and (not argument.says or _PROGRAM.search(argument.says) is not None or "code" in argument.says)


def _is_told(argument: Argument, tool: Setting) -> bool:
    """Return whether an action is told in words, and not chosen from a list."""
    if argument.words[-1] != "action" or argument.enum or tool.only_reads:
        return False
    chosen = len(re.findall(r"[\"'`]\w+[\"'`]", argument.says)) > 1
    return not chosen and re.match(r"(?:the )?action to (?:perform|take|do)", argument.says) is not None
