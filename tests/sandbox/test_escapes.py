"""Programs that try to get out of the interpreter: the published ways, each in the real sandbox, judged by canaries.

Everyday with all walls; `make verify` repeats it with each wall removed, to show that another still holds.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
from typing import TYPE_CHECKING

import pytest

from ironcurtain.errors import Refusal
from ironcurtain.sandbox.process import LIBRARIES, PYTHON, interpreter, needed
from tests.sandbox.escaping import WALLS, attempted, less, told

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = {"seconds": 1, "memory": 64 << 20, "recursion": 200, "calls": 20, "output": 10_000, "processor": 60, "seed": 1}
REMOVED = ("", *WALLS) if os.environ.get("HYPOTHESIS_PROFILE") == "long" else ("",)
PROGRAMS = {
    "PY-01 subclasses": "().__class__.__base__.__subclasses__()",
    "PY-01 by type": "type(())",
    "PY-02 wrap_close": "[c for c in object.__subclasses__() if c.__name__ == '_wrap_close'][0].__init__.__globals__['system']('touch CANARY.new')",
    "PY-04 importer": "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'BuiltinImporter'][0].load_module('posix').system('touch CANARY.new')",
    "PY-05 popen": "import subprocess\nsubprocess.Popen(['touch', 'CANARY.new'])",
    "PY-06 generator frame": "g = (x for x in [1])\ng.gi_frame.f_back.f_builtins",
    "PY-08 traceback frame": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    r = e.__traceback__.tb_frame.f_globals\nr",
    "PY-09 format": "'{0.__class__.__base__.__subclasses__}'.format(())",
    "PY-09 format_map": "'{x.__class__.__init__.__globals__}'.format_map({'x': ()})",
    "PY-10 exception attributes": "try:\n    ().nothing\nexcept AttributeError as e:\n    r = [e.obj, e.name, e.__context__]\nr",
    "PY-12 exception groups": "try:\n    raise ExceptionGroup('x', [ValueError()])\nexcept* ValueError as e:\n    e.__traceback__",
    "PY-13 other letters": "().__cl\uff41ss__",
    "PY-14 getattr": "getattr((), '__cl' + 'ass__')",
    "PY-14 attrgetter": "import operator\noperator.attrgetter('__class__.__base__')(())",
    "PY-14 map": "list(map(getattr, [()], ['__class__']))",
    "PY-14 vars": "vars()",
    "PY-14 globals": "globals()['__builtins__']",
    "PY-16 modules": "import sys\nsys.modules['os'].system('touch CANARY.new')",
    "PY-16 loader": "__loader__.load_module('os')",
    "PY-16 importlib": "import importlib\nimportlib.import_module('os').system('touch CANARY.new')",
    "PY-16 dunder import": "__import__('os').system('touch CANARY.new')",
    "PY-16 pkgutil": "import pkgutil\npkgutil.get_loader('os')",
    "PY-17 random": "import random\nrandom._os.system('touch CANARY.new')",
    "PY-17 json": "import json\njson.codecs.open('CANARY').read()",
    "PY-17 asyncio": "import asyncio\nasyncio.base_events.os.popen('cat CANARY').read()",
    "PY-18 code": "def f(): ...\nf.__code__.replace(co_consts=())",
    "PY-18 closure": "def f(): ...\nf.__globals__['__builtins__']",
    "PY-18 function type": "import types\ntypes.FunctionType",
    "PY-20 pickle": "import pickle\npickle.loads(b\"cos\\nsystem\\n(S'touch CANARY.new'\\ntR.\")",
    "PY-20 marshal": "import marshal\nmarshal.loads(b'')",
    "PY-21 ctypes": "import ctypes\nctypes.CDLL(None).system(b'touch CANARY.new')",
    "PY-21 gc": "import gc\ngc.get_objects()",
    "PY-21 memory": "open('/proc/self/mem', 'rb').read(1)",
    "PY-22 fork": "import os\nos.fork()",
    "PY-22 system": "import os\nos.system('touch CANARY.new')",
    "PY-22 multiprocessing": "import multiprocessing\nmultiprocessing.Process()",
    "PY-22 threading": "import threading\nthreading.Thread()",
    "PY-22 breakpoint": "breakpoint()",
    "PY-24 cookie": "# coding: utf-7\n+AG8AcwAu-system('touch CANARY.new')",
    "PY-24 byte order mark": "\ufeffopen('CANARY').read()",
    "PY-24 nested": "(" * 5_000 + ")" * 5_000,
    "PY-24 nul": "x = 1\0\nopen('CANARY').read()",
    "PY-24 form feed": "\x0copen('CANARY').read()",
    "PY-25 power": "10 ** 10 ** 8",
    "PY-25 string": "'a' * 10 ** 10",
    "PY-25 sum": "sum(range(10 ** 12))",
    "PY-25 loop": "while True:\n    pass",
    "PY-25 caught loop": "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
    "PY-25 recursion": "def f():\n    return f()\nf()",
    "PY-25 regex": "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
    "PY-25 list": "x = [0]\nwhile True:\n    x = x + x",
    "PY-25 prints": "while True:\n    print('x' * 10_000)",
    "PY-25 format width": "'{:>10000000000}'.format(1)",
    "PY-26 result with code": "class A:\n    def __repr__(self):\n        return 'x'\nA()",
    "files: open": "open('CANARY').read()",
    "files: pathlib": "import pathlib\npathlib.Path('CANARY').read_text()",
    "files: pathlib writes": "import pathlib\npathlib.Path('CANARY.new').write_text('x')",
    "files: listdir": "import os\nos.listdir('/')",
    "files: unlink": "import pathlib\npathlib.Path('CANARY').unlink()",
    "environment": "import os\nos.environ['CANARY']",
    "environment: getenv": "import os\nos.getenv('CANARY')",
    "network: socket": "import socket\nsocket.create_connection(('127.0.0.1', PORT))",
    "network: urllib": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:PORT/')",
    "network: http": "import http.client\nhttp.client.HTTPConnection('127.0.0.1', PORT).request('GET', '/')",
    "sleep": "import time\ntime.sleep(10 ** 9)",
    "import our own": "import ironcurtain",
}  # fmt: skip
"""Each in the form in which it was published; what it reaches for is always the canary."""


def command(directory: Path, without: str) -> list[str]:
    """A host, and an interpreter, from whose walls one is missing."""
    program = str(interpreter())
    launch = [
        *PYTHON,
        "-c",
        f"{less(without)}from ironcurtain.sandbox.launch import main; main()",
        program,
        *LIBRARIES,
        "--",
    ]
    worker = directory / "sandbox-worker"
    worker.write_text(f'#!/bin/sh\nexec {shlex.join(launch)} "$@"\n')
    worker.chmod(0o700)
    host = [*PYTHON, "-c", f"import sys; {less(without)}from ironcurtain.sandbox.host import main; sys.exit(main())"]
    return [*host, str(worker), json.dumps(LIMITS), *needed(directory), program]


@pytest.mark.parametrize("without", REMOVED)
def test_no_program_gets_out(without: str, tmp_path: Path) -> None:
    said = attempted(command(tmp_path, without), PROGRAMS, 15, tmp_path)
    assert [name for name, messages in said.items() if not messages or {"wants", "plan"} & messages[-1].keys()] == []


def test_limits_are_named_for_what_they_are(tmp_path: Path) -> None:
    start = command(tmp_path, "")
    programs = {
        "time": "PY-25 loop",
        "memory": "PY-25 string",
        "recursion": "PY-25 recursion",
        "types": "network: socket",
        "error": "environment",
    }

    async def kinds() -> dict[str, str]:
        return {kind: (await told(start, PROGRAMS[name]))[-1]["failed"]["kind"] for kind, name in programs.items()}

    assert asyncio.run(kinds()) == {kind: kind for kind in programs}


def test_what_is_printed_is_kept_up_to_the_limit(tmp_path: Path) -> None:
    said = asyncio.run(told(command(tmp_path, ""), "for _ in range(1000):\n    print('x' * 100)\n'end'"))
    assert said[-1]["done"] == "end"
    assert sum(len(message["printed"]) for message in said) <= LIMITS["output"]
    assert said[-1]["cut"] is True


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("{1, 2}", "set"),
        ("b'x'", "bytes"),
        ("float('nan')", "float"),
        ("10 ** 30", "int"),
        ("{1: 2}", "dict"),
        ("lambda: 1", ""),
        ("class A:\n    x = 1\nA()", ""),
    ],
)
def test_only_json_comes_out(program: str, why: str, tmp_path: Path) -> None:
    last = asyncio.run(told(command(tmp_path, ""), program))[-1]
    assert "done" not in last or isinstance(last["done"], str), last
    assert why in str(last.get("failed", {}).get("message", ""))


def test_a_host_whose_walls_do_not_stand_runs_nothing(tmp_path: Path) -> None:
    start = command(tmp_path, "")
    broken = [
        word.replace(
            "import sys; ", "import sys; from ironcurtain.sandbox import walls; walls.landlock_version = lambda: 0; "
        )
        for word in start
    ]
    with pytest.raises(Refusal, match="Landlock"):
        asyncio.run(told(broken, "1"))
