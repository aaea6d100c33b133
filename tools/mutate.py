"""Breaks every condition, comparison and early exit of `engine` and `resolve`, one at a time, and looks who notices.

Each mutant is tried against the unit tests first, then, if it lives, against the corpus, then against the reference.
A mutant that lives through all of it is a survivor: it must be killed by a new test or be explained in
`tools/survivors.txt`. Those that are explained there take the longest, because they live through everything, and are
tried with `--explained` only.

Usage: python tools/mutate.py [--only TEXT] [--explained] [--list]
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import functools
import io
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent
ROOMS = ("engine", "resolve")
SKIPPED = {"engine/explain.py"}  # tells, and decides nothing
EXPLAINED = ROOT / "tools" / "survivors.txt"
NEAREST = {
    "engine/access.py": "tests/unit/test_access.py",
    "engine/brackets.py": "tests/unit/test_brackets.py",
    "engine": "tests/unit/test_engine.py",
    "resolve": "tests/unit/test_resolve.py",
}
"""The tests that most likely notice, tried by themselves first."""
TIERS = (
    [f"tests/unit/test_{subject}.py" for subject in ("engine", "resolve", "access", "bounds", "brackets")],
    ["tests/unit/test_house.py", "tests/unit/test_attacks.py", "tests/corpus/test_corpus.py::test_engine"],
    ["tests/spec/test_against_reference.py"],
)
FIRST_LIMIT = 30  # seconds of processor time for one mutant with the nearest tests, which take five
TIME_LIMIT = 150  # seconds of processor time for one in a later tier; a mutant that hangs is noticed
PATIENCE = 10  # how many times longer it may take by the clock, on a busy machine

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    where: str
    """The function it is in."""
    before: str
    after: str
    source: str

    @property
    def name(self) -> str:
        """Stable while the code around it changes."""
        return f"{self.file}:{self.where}: {self.before} => {self.after}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    file = str(path.relative_to(ROOT / "src" / "ironcurtain"))
    tree = ast.parse(path.read_text())
    for index, node in enumerate(ast.walk(tree)):
        for change in _changes(node):
            mutated = copy.deepcopy(tree)
            target = list(ast.walk(mutated))[index]
            where = _function(tree, node)
            if where is None or _is_for_types(tree, node):
                continue
            before = ast.unparse(node)
            after = change(target, mutated)
            if after is not None:
                source = ast.unparse(ast.fix_missing_locations(mutated))
                yield Mutant(file, getattr(node, "lineno", 0), where, _short(before), _short(after), source)


def _changes(node: ast.AST) -> Iterator[Callable[[Any, ast.Module], str | None]]:
    if isinstance(node, ast.Compare):
        yield _turn_comparison
    elif isinstance(node, ast.BoolOp):
        yield _swap_and_or
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield _negate_test
    elif isinstance(node, ast.comprehension):
        for number in range(len(node.ifs)):
            yield functools.partial(_drop_filter, number)
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool):
        yield _turn_constant
    elif isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        yield _drop_exit
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _drop_not


def _turn_comparison(node: ast.Compare, _: ast.AST) -> str:
    node.ops = [_OPPOSITE[type(node.ops[0])](), *node.ops[1:]]
    return ast.unparse(node)


def _swap_and_or(node: ast.BoolOp, _: ast.AST) -> str:
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return ast.unparse(node)


def _negate_test(node: ast.If, _: ast.AST) -> str:
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return f"if {ast.unparse(node.test)}"


def _drop_filter(number: int, node: ast.comprehension, _: ast.AST) -> str:
    dropped = node.ifs.pop(number)
    return f"without: if {ast.unparse(dropped)}"


def _turn_constant(node: ast.Return, _: ast.AST) -> str:
    if isinstance(node.value, ast.Constant):
        node.value = ast.Constant(not node.value.value)
    return ast.unparse(node)


def _drop_exit(node: ast.stmt, tree: ast.AST) -> str | None:
    """An exit in the middle of a function disappears; the last statement of one is no early exit."""
    for parent in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and node in block:
                if isinstance(parent, ast.FunctionDef) and block[-1] is node:
                    return None
                block[block.index(node)] = ast.Pass()
                return "pass"
    return None


def _drop_not(node: ast.UnaryOp, tree: ast.AST) -> str | None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, name, node.operand)
                return ast.unparse(node.operand)
            if isinstance(value, list) and node in value:
                value[value.index(node)] = node.operand
                return ast.unparse(node.operand)
    return None


def _function(tree: ast.AST, node: ast.AST) -> str | None:
    """The innermost function or class a node is in; module level is made of tables, not of decisions."""
    found = None
    for parent in ast.walk(tree):
        if isinstance(parent, (ast.FunctionDef, ast.ClassDef)) and any(child is node for child in ast.walk(parent)):
            found = parent.name
    return found


def _is_for_types(tree: ast.Module, node: ast.AST) -> bool:
    blocks = [b for b in tree.body if isinstance(b, ast.If) and ast.unparse(b.test) == "TYPE_CHECKING"]
    return any(child is node for block in blocks for child in ast.walk(block))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 110 else line[:110] + "..."


# --- running ------------------------------------------------------------------------------------------------------


def _noticed(package: Path, tier: list[str], limit: float = TIME_LIMIT) -> bool:
    """Run one tier against the package in a child of this process, which has everything else imported already."""
    child = os.fork()
    if child == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        sys.path.insert(0, str(package))
        os.chdir(ROOT)
        os.environ["HYPOTHESIS_PROFILE"] = "quick"
        code = 1
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(BaseException):
            import pytest  # noqa: PLC0415

            code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tier]))
        os._exit(code)
    end = time.monotonic() + limit * PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


_package: Path


def _prepare() -> None:
    global _package  # noqa: PLW0603 - one copy of the package for each worker process
    _package = Path(tempfile.mkdtemp(prefix="mutant-"))
    no_caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "ironcurtain", _package / "ironcurtain", ignore=no_caches)
    sys.dont_write_bytecode = True
    import idna  # noqa: F401, PLC0415
    import jsonschema_rs  # noqa: F401, PLC0415
    import pytest  # noqa: F401, PLC0415
    import yaml  # noqa: F401, PLC0415


def _baseline(_: int) -> bool:
    """Whether the tests pass on the package as it is; if not, a killed mutant would say nothing."""
    return not any(_noticed(_package, tier) for tier in TIERS)


def _try(mutant: Mutant) -> tuple[Mutant, bool]:
    path = _package / "ironcurtain" / mutant.file
    original = path.read_text()
    path.write_text(mutant.source)
    try:
        nearest = NEAREST.get(mutant.file) or NEAREST[mutant.file.partition("/")[0]]
        noticed = _noticed(_package, [nearest], FIRST_LIMIT) or any(_noticed(_package, tier) for tier in TIERS)
        return mutant, noticed
    finally:
        path.write_text(original)


def explained() -> set[str]:
    lines = EXPLAINED.read_text().splitlines() if EXPLAINED.exists() else []
    return {line.strip() for line in lines if line.strip() and not line.startswith(("#", " "))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default=[""], nargs="+", help="mutants whose name contains one of these")
    parser.add_argument("--explained", action="store_true", help="try those that are explained, too")
    parser.add_argument("--list", action="store_true", help="list the mutants and stop")
    arguments = parser.parse_args()
    paths = sorted(path for room in ROOMS for path in (ROOT / "src" / "ironcurtain" / room).glob("*.py"))
    mutants = [
        m
        for path in paths
        for m in mutants_of(path)
        if m.file not in SKIPPED and any(text in m.name for text in arguments.only)
    ]
    if arguments.list:
        print(*(f"{m.line}: {m.name}" for m in mutants), sep="\n")
        return 0
    known = explained()
    gone = known - {m.name for m in mutants} if arguments.only == [""] else set()
    left_out = 0 if arguments.explained else sum(m.name in known for m in mutants)
    mutants = [m for m in mutants if arguments.explained or m.name not in known]
    survivors = []
    start = time.monotonic()
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), initializer=_prepare) as pool:
        if not pool.apply(_baseline, (0,)):
            print("the tests fail without any mutation: nothing can be concluded")
            return 2
        for count, (mutant, noticed) in enumerate(pool.imap_unordered(_try, mutants), 1):
            if not noticed:
                survivors.append(mutant)
                print(f"survived: {mutant.file}:{mutant.line} {mutant.name}", flush=True)
            if count % 50 == 0:
                took = time.monotonic() - start
                print(f"{count} of {len(mutants)} tried, {len(survivors)} survived, {took:.0f} s", flush=True)
    open_ = [mutant for mutant in survivors if mutant.name not in known]
    killed = len(mutants) - len(survivors)
    print(
        f"{len(mutants)} mutants: {killed} killed, {len(survivors)} survived, {len(open_)} of them unexplained;"
        f" {left_out} more are explained and were not tried"
    )
    survived = {mutant.name for mutant in survivors}
    for name in sorted(known - survived - gone) if arguments.explained and arguments.only == [""] else ():
        print(f"explained, but killed: {name}")
    for name in sorted(gone):
        print(f"explained, but gone: {name}")
    return 1 if open_ or gone else 0


if __name__ == "__main__":
    raise SystemExit(main())
