"""The process that a program runs under: it holds the interpreter, and nothing else.

It is started by the daemon with an empty environment, walls itself in before it has read a byte of the program, and
speaks JSON lines with the daemon: the program comes in, every call of a tool goes out and waits for its answer. The
interpreter is a process of its own again, behind narrower walls.

daemon                                      host
{program, data, limits, ...}            ->
                                        <-  {"wants": ["filesystem"]}         modules that the program imports
{"modules": {...}}                      ->
                                        <-  {"plan": {...}}                   what its text says that it may do
{"go": true}                            ->
                                        <-  {"call": {name, args, kwargs}}
{"value": ...} or {"raise": [...]}      ->
{"keep": true}                          ->                                    instead of an answer, and it ends
                                        <-  {"state": "..."}                  the whole program, waiting at that call
                                        <-  {"done": value} or {"failed": {...}}
"""

from __future__ import annotations

import ast
import base64
import datetime as dt
import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Final

import pydantic_monty as monty

from ironcurtain.sandbox import walls
from ironcurtain.sandbox.plan import plan_of

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_CALL: Final = 4 << 20  # bytes
SERVICE_MEMORY: Final = 256 << 20  # bytes for the interpreter and this process beside what the program may use
_CLOCKS: Final = ("time.time", "datetime.now", "date.today")
_MISSING_IN_CHECKER: Final = (
    "PermissionError", "FileNotFoundError", "IsADirectoryError", "NotADirectoryError", "UnicodeDecodeError",
)  # fmt: skip
_PRELUDE: Final = (
    "from typing import Any, Literal, NotRequired, TypedDict\n"
    + "".join(f"class {name}(OSError): ...\n" for name in _MISSING_IN_CHECKER)
    + "class _A(TypedDict):\n    b: NotRequired[str]\n"
    + "def _f(a: _A, c: Literal['d'] = ...) -> dict[str, list[int]]: ...\n"
    + "def help(what: Any) -> str: ...\ndata: Any\n"
)
"""What every program may use; and the types that tools are described with, so that they are known beforehand."""
_DEEPEST: Final = 32


class _Stopped(Exception):  # noqa: N818 - not an error
    """The daemon wants the program kept, and goes on later."""


def main() -> int:
    """Run one program, or say why none can be run."""
    try:
        return _serve(*sys.argv[1:])
    except (walls.WallError, monty.MontyCrashedError, OSError) as error:
        _say({"unready": f"{type(error).__name__}: {error}"})
        return 1


def _serve(script: str, given: str, *readable: str) -> int:
    limits = json.loads(given)
    walls.die_with_parent()
    walls.give_up_privileges()
    walls.limit(limits["memory"] + SERVICE_MEMORY, limits["processor"])
    walls.see_only(readable)
    walls.only_call(starts=True)
    modules: dict[str, monty.ExternalModule] = {}
    with monty.Monty(binary_path=script, min_processes=1, max_processes=1) as pool:
        with _session(pool, limits, limits["seed"], modules) as session:
            session.feed_run("None")  # what takes long the first time
            _say({"ready": True})
            order = _hear()
            if order is not None and not order["state"] and order["seed"] == limits["seed"]:
                walls.only_call(starts=False)  # nothing that we need is still to be started
                _Program(session, order, limits, modules).run()
                return 0
        if order is not None:  # one that goes on, or that is to do again what it did
            with _session(pool, limits, order["seed"], modules) as session:
                walls.only_call(starts=False)
                _Program(session, order, limits, modules).run()
    return 0


def _session(
    pool: monty.Monty, limits: dict[str, Any], seed: int, modules: dict[str, monty.ExternalModule]
) -> monty.MontySession:
    bounds: monty.ResourceLimits = {
        "max_feed_duration_secs": limits["seconds"],
        "max_memory": limits["memory"],
        "max_recursion_depth": limits["recursion"],
        "max_suspensions": limits["calls"],
    }
    policy: monty.OSPolicy = {"sleep": "zero", "datetime": "call_host", "random_start": {"seed": seed}}
    return pool.checkout(
        limits=bounds, type_check=True, type_check_stubs=_PRELUDE, type_check_format="concise", os_policy=policy,
        external_modules=modules,
    )  # fmt: skip


def _say(message: Mapping[str, Any]) -> None:
    data = json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


def _hear() -> dict[str, Any] | None:
    line = sys.stdin.buffer.readline()
    return json.loads(line) if line else None


class _Program:
    """One program, from its text or from where it was stopped."""

    def __init__(
        self,
        session: monty.MontySession,
        order: dict[str, Any],
        limits: dict[str, Any],
        modules: dict[str, monty.ExternalModule],
    ) -> None:
        self._session = session
        self._order = order
        self._modules = modules
        self._moments: list[float] = list(order["moments"])
        self._new_moments: list[float] = []
        self._printed: list[str] = []
        self._left = int(limits["output"])

    def run(self) -> None:
        """Run it, and say what came of it."""
        try:
            self._say({"done": _as_json(self._to_its_end())})
        except _Stopped:
            pass
        except _UnreadableError as error:
            self._say({"failed": {"kind": "syntax", "message": str(error)}})
        except _NotJsonError as error:
            self._say({"failed": {"kind": "result", "message": f"what the program ends with {error}"}})
        except monty.MontyTypingError as error:
            self._say({"failed": {"kind": "types", "message": error.display()}})
        except monty.MontySyntaxError as error:
            self._say({"failed": {"kind": "syntax", "message": error.display()}})
        except monty.MontyRuntimeError as error:
            self._say({"failed": {"kind": _kind_of(error), "message": error.display()}})
        except monty.MontyCrashedError as error:
            kind = "time" if error.timed_out else "crash"
            self._say({"failed": {"kind": kind, "message": str(error)}})

    def _to_its_end(self) -> object:
        self._import()
        if self._order["state"]:
            at = self._session.load_snapshot(base64.b64decode(self._order["state"]), print_callback=self._print)
        else:
            self._propose(set(self._modules))
            _parsed(self._order["program"])
            inputs = {"data": self._order["data"]}
            at = self._session.feed_start(self._order["program"], inputs=inputs, print_callback=self._print)
        while not isinstance(at, monty.MontyComplete):
            at = self._step(at)
        return at.output

    def _import(self) -> None:
        """The modules that the program imports, as the daemon knows them."""
        self._say({"wants": sorted(_imported(self._order["program"]))})
        for name, module in (_hear() or {"modules": {}})["modules"].items():
            functions = dict.fromkeys(module["functions"], _never_called)
            self._modules[name] = monty.ExternalModule(functions, stubs=module["stub"])

    def _propose(self, modules: set[str]) -> None:
        """Say what the program may do, before it does anything."""
        self._say({"plan": plan_of(self._order["program"], modules)})
        if "go" not in (_hear() or {}):
            raise _Stopped

    def _step(self, at: Any) -> Any:  # noqa: ANN401 - what the interpreter waits for
        if isinstance(at, monty.NameLookupSnapshot):
            return at.resume(value=_never_called) if at.variable_name == "help" else at.resume()
        if not isinstance(at, monty.FunctionSnapshot):
            message = "nothing here is awaited: tools are called like any function"
            return at.resume({number: {"exception": TypeError(message)} for number in at.pending_call_ids})
        if at.is_os_function:
            return self._ask_system(at)
        try:
            call = {
                "name": at.function_name, "args": _as_json(list(at.args)), "kwargs": _as_json(at.kwargs),
            }  # fmt: skip
        except _NotJsonError as error:
            return at.resume({"exception": TypeError(f"an argument {error}")})
        if len(json.dumps(call)) > LARGEST_CALL:
            return at.resume({"exception": TypeError(f"the arguments have more than {LARGEST_CALL} bytes")})
        self._say({"call": call})
        answer = _hear()
        if answer is None:
            raise _Stopped
        if "keep" in answer:
            self._say({"state": base64.b64encode(at.dump()).decode()})
            raise _Stopped
        if "raise" in answer:
            kind, message = answer["raise"]
            return at.resume({"exception": _RAISED[kind](message)})
        return at.resume({"return_value": answer["value"]})

    def _ask_system(self, at: monty.FunctionSnapshot) -> Any:  # noqa: ANN401 - as above
        """A clock is read from what was recorded, so that the program can be repeated; there is no other system."""
        name = str(at.function_name)
        if name not in _CLOCKS:
            return at.resume_auto()  # modules of ours are known; files, environment and the rest are refused
        moment = self._moments.pop(0) if self._moments else time.time()
        self._new_moments.append(moment)
        here = dt.datetime.fromtimestamp(moment, dt.UTC)
        if name == "time.time":
            return at.resume({"return_value": moment})
        if name == "date.today":
            return at.resume({"return_value": here.date()})
        zone = at.args[0] if at.args else at.kwargs.get("tz")
        return at.resume({"return_value": here.astimezone(zone) if zone else here.replace(tzinfo=None)})

    def _print(self, _: str, text: str) -> None:
        if self._left > 0:
            self._printed.append(text[: self._left])
        self._left -= len(text)

    def _say(self, message: dict[str, Any]) -> None:
        """Say something, and what was printed and read off the clock since the last time."""
        cut = self._left < 0
        _say({**message, "printed": "".join(self._printed), "moments": self._new_moments, "cut": cut})
        self._printed, self._new_moments = [], []


class _UnreadableError(Exception):
    """A text that is no program."""


class _NotJsonError(Exception):
    """A value that has no place in JSON."""


def _as_json(value: object, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    if depth > _DEEPEST:
        raise _NotJsonError(f"is nested more than {_DEEPEST} deep")
    if value is None or isinstance(value, (bool, str)) or (isinstance(value, int) and -(2**63) <= value < 2**63):
        return value
    if isinstance(value, float) and value == value and abs(value) != float("inf"):  # noqa: PLR0124 - not a number
        return value
    if isinstance(value, (list, tuple)):
        return [_as_json(each, depth + 1) for each in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(each, depth + 1) for key, each in value.items()}
    raise _NotJsonError(f"is a {type(value).__name__}, which is not JSON")


def _never_called(*_: object, **__: object) -> None:
    """Stands for a tool: the interpreter stops at the call, and the daemon answers it."""


def _parsed(program: str) -> ast.Module:
    """Its syntax. Raises `_UnreadableError`."""
    try:
        return ast.parse(program)
    except SyntaxError as error:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise _UnreadableError(f"line {error.lineno or 1}: {error.msg} (it is read as Python {version})") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise _UnreadableError(f"it cannot be read: {str(error) or 'it is nested too deeply'}") from None


def _imported(program: str) -> set[str]:
    """The names of modules that a program imports, as far as its text says; what is wrong with it is said elsewhere."""
    try:
        tree = _parsed(program)
    except _UnreadableError:
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def _kind_of(error: monty.MontyRuntimeError) -> str:
    """Which limit a program ran into, if it was one."""
    inner = error.exception()
    limits: dict[type[BaseException], str] = {TimeoutError: "time", MemoryError: "memory", RecursionError: "recursion"}
    message = str(inner)
    if isinstance(inner, RuntimeError) and "suspension" in message:
        return "calls"
    return limits.get(type(inner), "error") if "limit" in message or isinstance(inner, RecursionError) else "error"


_RAISED: Final[dict[str, type[Exception]]] = {
    kind.__name__: kind for kind in (PermissionError, RuntimeError, TypeError, LookupError)
}

if __name__ == "__main__":
    sys.exit(main())
