"""Code mode as tools of the gateway: run a program, ask what came of one, look for tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.daemon.skills import Skill
from ironcurtain.errors import Refusal, quote
from ironcurtain.mediation.effects import Answer, Executed
from ironcurtain.mediation.effects import Status as Ended
from ironcurtain.model.decision import Decision, Outcome, Stage
from ironcurtain.sandbox.store import Status

if TYPE_CHECKING:
    from ironcurtain.daemon.runs import Runs
    from ironcurtain.gateway.context import CallContext
    from ironcurtain.model.call import Arguments, Json, Principal

OURS: Final = "ironcurtain"
"""Stands where a server's name would: no server of the owner's may be called so."""
_HOW: Final = """\
Run a Python program that calls the tools as functions, and get its last expression as JSON. One program replaces many \
tool calls, and what it reads does not have to pass through you.

Each server is a module: `import filesystem` and `filesystem.read_text_file(path="notes.txt")`. `import tools` gives \
`tools.servers()`, `tools.search("send mail")`, `tools.interfaces("filesystem")`; `help(filesystem.read_text_file)` \
shows one function. Types are checked before it runs. `data` holds what you pass along; `print` is captured.

A call that is not allowed raises PermissionError and says why; one that a person has to approve simply takes long. \
Other failures of tools raise RuntimeError. There is no network, no file system, no environment. Python without class \
inheritance, generators (`yield`), `del`, `match` on classes; modules: json re math datetime time random collections \
itertools functools decimal base64 hashlib csv dataclasses typing copy bisect.

In TypeScript each server is an object, and a function takes one object: `filesystem.read_text_file({path: "a.txt"})`, \
without await; `return` gives the result. There is nothing but the language: no import, no fetch, no timers.\
"""
_DEFINITIONS: Final[dict[str, dict[str, Json]]] = {
    "execute_code": {
        "description": _HOW,
        "inputSchema": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "the program"},
                "skill": {"type": "string", "description": "instead: the name of one that save_skill has kept"},
                "data": {"description": "what it finds under the name data"},
                "language": {"type": "string", "enum": ["python", "typescript"], "default": "python"},
            },
            "required": [],
            "additionalProperties": False,
        },
    },
    "code_result": {
        "description": "What came of a program that execute_code left waiting for a person.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "run": {"type": "string"},
                "seconds": {"type": "integer", "minimum": 0, "maximum": 50, "description": "how long to wait for it"},
            },
            "required": ["run"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True},
    },
    "save_skill": {
        "description": "Keep a program that works, to be run later by its name (execute_code with skill). It finds"
        " what it is given as data.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "lower case letters, digits and _"},
                "about": {"type": "string", "description": "what it does and what data it wants, in one line"},
                "code": {"type": "string", "description": "the program"},
                "language": {"type": "string", "enum": ["python", "typescript"], "default": "python"},
            },
            "required": ["name", "about", "code"],
            "additionalProperties": False,
        },
    },
    "search_tools": {
        "description": "The tools that these words describe best, as functions for a program of execute_code.",
        "inputSchema": {
            "type": "object",
            "properties": {"words": {"type": "string"}},
            "required": ["words"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True},
    },
}
_RAN: Final = Decision(Outcome.ALLOW, Stage.RULES, "code", "each call of a program is decided by itself")


_WELL: Final = (Status.DONE.value, Status.WAITING.value, Status.RUNNING.value)
_LONGEST_WAIT: Final = 50  # seconds; clients lose patience after a minute


def definitions() -> list[dict[str, Json]]:
    """The tools, as an agent sees them."""
    return [{"name": name, **definition} for name, definition in _DEFINITIONS.items()]


def find(name: str) -> tuple[str, str] | None:
    """Which of ours a name means."""
    return (OURS, name) if name in _DEFINITIONS else None


async def perform(runs: Runs, tool: str, arguments: Arguments, principal: Principal, context: CallContext) -> Answer:
    """Carry out a call of one of them."""
    try:
        _require_known(tool, arguments)
        match tool:
            case "execute_code":
                program, language = _program(runs, arguments, principal, context)
                told = await runs.execute(program, arguments.get("data"), principal, context, language)
            case "code_result":
                told = await runs.result(_text(arguments, "run"), principal, _seconds(arguments), context)
            case "save_skill":
                name, about, code = (_text(arguments, each) for each in ("name", "about", "code"))
                seen = sorted(runs.runtime.sources.of(context.holder))
                await runs.keep_skill(Skill(name, about, _language(arguments), seen, code), principal)
                return _answer({"kept": name}, f"{name} is kept")
            case _:
                given = context.oversight.only if context.oversight else None
                found = (await runs.interfaces(principal, given)).search(_text(arguments, "words"))
                return _answer({"found": [*found]}, "\n".join(found))
    except Refusal as refusal:  # on record, and slower the more of them there are
        asked: dict[str, Json] = {"server": OURS, "tool": tool}
        payers = context.oversight.payers if context.oversight else ()
        return Answer(await runs.runtime.refuse(context.holder, principal, asked, refusal, payers))
    return _answer(told, _in_words(told), failed=told["status"] not in _WELL)


def _require_known(tool: str, arguments: Arguments) -> None:
    schema: Any = _DEFINITIONS[tool]["inputSchema"]
    if unknown := sorted(arguments.keys() - schema["properties"].keys()):
        raise Refusal("call_malformed", f"{tool} has no argument {quote(unknown[0])}")


def _text(arguments: Arguments, name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Refusal("call_malformed", f"{name} is missing, a text")
    return value


def _language(arguments: Arguments) -> str:
    return str(arguments.get("language", "python"))


def _program(runs: Runs, arguments: Arguments, principal: Principal, context: CallContext) -> tuple[str, str]:
    """What is to be run: as it stands there, or as it was kept."""
    if ("skill" in arguments) == ("code" in arguments):
        raise Refusal("call_malformed", "execute_code needs code, or the name of a skill")
    if "code" in arguments:
        return _text(arguments, "code"), _language(arguments)
    name = _text(arguments, "skill")
    known = runs.skills.all(principal)  # who asks for one that is not there is told which there are
    told = [skill for skill in known if skill.name == name] or known
    runs.runtime.sources.add(context.holder, [source for skill in told for source in skill.sources])
    skill = runs.skills.load(name, principal)
    return skill.code, skill.language


def _seconds(arguments: Arguments) -> int:
    seconds = arguments.get("seconds", 0)
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 0 <= seconds <= _LONGEST_WAIT:
        raise Refusal("call_malformed", f"seconds must be a number from 0 to {_LONGEST_WAIT}")
    return seconds


def _answer(told: dict[str, Json], text: str, *, failed: bool = False) -> Answer:
    result: dict[str, Json] = {
        "content": [{"type": "text", "text": text}], "structuredContent": told, "isError": failed,
    }  # fmt: skip
    return Answer(_RAN, Executed(Ended.ERROR if failed else Ended.SUCCESS, result))


def _in_words(told: dict[str, Json]) -> str:
    """What came of a program, as its author reads it."""
    lines = [str(told["printed"]).rstrip()] if told.get("printed") else []
    if told.get("cut"):
        lines.append("(it printed more than is kept)")
    failure = told.get("failure")
    if isinstance(failure, dict):
        lines.append(f"The program failed ({failure['kind']}): {failure['message']}")
    elif told["status"] in (Status.WAITING.value, Status.RUNNING.value):
        why = "A person is asked" if told["status"] == Status.WAITING.value else "It still runs"
        lines.append(f"{why}. Ask for it later: code_result with run {told['run']}")
    else:
        lines.append(json.dumps(told.get("result"), ensure_ascii=False, indent=1))
    return "\n".join(lines)
