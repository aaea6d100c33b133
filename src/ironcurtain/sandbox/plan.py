"""What a program can do, from its text alone: which tools it calls, with what, how often, and what flows where.

It reads the syntax and runs nothing. INVARIANT: a call that the program can make is in the plan, by its site or as part
of what cannot be told (`open`); a value that may come from a tool's result names that tool. Where the text does not
tell, the plan says so; it never leaves out.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from ironcurtain.sandbox.flows import Flows
from ironcurtain.sandbox.names import Names, bound, captured, named

MOST_SITES: Final = 200
_MOST_UNROLLED: Final = 50  # times that one loop is written out
_MOST_WRITTEN_OUT: Final = 1_000  # times, all loops together
_LONGEST: Final = 2_000  # characters of a constant
_LARGEST: Final = 2**63  # of what is sent
_HALVES: Final = re.compile("[\ud800-\udfff]")  # of characters: nobody else keeps them as they are
_UNKNOWN: Final = object()
_CATCHES: Final = ("PermissionError", "OSError", "Exception", "BaseException")


@dataclass(slots=True)
class _Site:
    """One place where a tool is called."""

    name: str
    line: int
    args: list[Any] = field(default_factory=list)
    kwargs: dict[str, Any] = field(default_factory=dict)
    known: bool = True
    """All its arguments are constants."""
    often: str = "once"
    """`once`, `maybe` (behind a condition, or in a function), `many` (in a loop)."""
    caught: bool = False
    """The program minds a refusal itself."""
    flows: set[str] = field(default_factory=set)
    """Tools whose results may be in its arguments."""

    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = {"name": self.name, "line": self.line, "often": self.often, "flows": sorted(self.flows)}
        if self.known:
            found |= {"args": self.args, "kwargs": self.kwargs}
        return {**found, "caught": True} if self.caught else found


def plan_of(program: str, modules: set[str]) -> dict[str, Any]:
    """The plan of a program that may import these modules; a text that is no program has none."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {"calls": [], "open": []}
    return plan_of_tree(tree, modules)


def plan_of_tree(tree: ast.Module, modules: set[str], loose: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The same for what has been read already; `loose` may be called with anything, whatever was read."""
    try:
        names = Names(tree, modules)
        names.loose |= loose
        reader = _Reader(tree, names, Flows(tree, names))
        reader.block(tree.body, "once", {})
    except RecursionError:
        return {"calls": [], "open": sorted(modules)}
    sites = sorted(reader.sites, key=lambda site: site.line)
    over = {site.name for site in sites[MOST_SITES:]}
    whole = names.loose | over
    unknown = {name for name in whole if "." not in name or name.partition(".")[0] not in whole}
    for site in sites:
        if not site.known:
            site.flows |= unknown  # what is called with anything may give anything to anybody
    return {"calls": [site.told() for site in sites[:MOST_SITES]], "open": sorted(unknown)}


class _Reader:
    """Goes through the program once and writes down where tools are called."""

    def __init__(self, tree: ast.Module, names: Names, flows: Flows) -> None:
        self._names = names
        self._flows = flows
        self._caught = 0
        self._unsteady = _unsteady(tree)
        """Variables of which the text does not tell what they are at some place."""
        self._changing = _changing(tree, names)
        """Variables whose lists and dictionaries may change."""
        self._inlined = _called_once(tree)
        self._left = _MOST_WRITTEN_OUT
        self.sites: list[_Site] = []

    def block(self, body: list[ast.stmt], often: str, known: dict[str, Any]) -> None:
        """Some statements, with what is known of variables before them; it is updated."""
        for statement in body:
            self._statement(statement, often, known)
            if often == "once" and _leaves(statement):
                often = "maybe"

    def _statement(self, node: ast.stmt, often: str, known: dict[str, Any]) -> None:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                if name not in self._inlined:
                    self._inner(node, "many", {})  # how often it is called, nobody looks
                known.pop(name, None)
            case ast.For(target=ast.Name(id=name), iter=iterated):
                self._expression(iterated, often, known)
                self._loop(node, name, often, known)
            case ast.For() | ast.While() | ast.AsyncFor():
                _forget(node, known)
                for part in (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)):
                    self._expression(part, "many", known)
                self.block(node.body, "many", dict(known))
                self.block(node.orelse, _less(often), dict(known))
            case ast.If():
                self._expression(node.test, often, known)
                for branch in (node.body, node.orelse):
                    self.block(branch, _less(often), dict(known))
                _forget(node, known)
            case ast.Match():
                self._expression(node.subject, often, known)
                _forget(node, known)
                for case in node.cases:
                    self._inner(case, _less(often), dict(known))
            case ast.Try() | ast.TryStar():
                self._try(node, often, known)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._expression(value, often, known)
                _forget(value, known)
                known[name] = self._steady(name, _constant(value, known))
            case _:
                self._inner(node, often, known)
                _forget(node, known)

    def _steady(self, name: str, value: Any) -> Any:  # noqa: ANN401 - a value of the program
        """What a variable is from then on, as far as the text tells."""
        held = [] if not isinstance(value, (list, dict)) else [*value.values()] if isinstance(value, dict) else value
        inner = any(isinstance(each, (list, dict)) for each in held)  # what a loop takes out of it can be changed
        changing = inner or (isinstance(value, (list, dict)) and name in self._changing)
        return _UNKNOWN if changing or name in self._unsteady else value

    def _loop(self, node: ast.For, name: str, often: str, known: dict[str, Any]) -> None:
        values = _constant(node.iter, known)
        _forget(node, known)
        few = isinstance(values, list) and len(values) <= min(_MOST_UNROLLED, self._left) and often != "many"
        if not few or any(map(_leaves, node.body)):
            self.block(node.body, "many", dict(known))
        else:
            self._left -= len(values)
            for value in values:
                self.block(node.body, often, {**known, name: self._steady(name, value)})
        self.block(node.orelse, _less(often), dict(known))

    def _try(self, node: ast.Try | ast.TryStar, often: str, known: dict[str, Any]) -> None:
        minds = any(_minds(handler.type) for handler in node.handlers)
        self._caught += minds
        self.block(node.body, often, known)
        self._caught -= minds
        _forget(node, known)
        for handler in node.handlers:
            if handler.type is not None:
                self._expression(handler.type, _less(often), known)
            self.block(handler.body, _less(often), dict(known))
        self.block(node.orelse, _less(often), dict(known))
        self.block(node.finalbody, often, dict(known))

    def _inner(self, node: ast.AST, often: str, known: dict[str, Any]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self._statement(child, often, known)
            elif isinstance(child, ast.expr):
                self._expression(child, often, known)
            else:
                self._inner(child, often, known)

    def _expression(self, node: ast.expr, often: str, known: dict[str, Any]) -> None:
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)):
            self._inner(node, "many", {})
            return
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            self._inner(node, _less(often), known)
            return
        self._inner(node, often, known)
        if isinstance(node, ast.Call) and (name := self._names.meant(node.func)) is not None:
            if "." in name:
                self._site(node, name, often, known)
            else:
                self._names.loose.add(name)  # a server itself is called: who knows what that is
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._inlined:
            self.block(self._inlined[node.func.id].body, often, {})

    def _site(self, node: ast.Call, name: str, often: str, known: dict[str, Any]) -> None:
        site = _Site(name, node.lineno, often=often, caught=self._caught > 0)
        for argument in node.args:
            site.args.append(_constant(argument, known))
        for word in node.keywords:
            site.kwargs[word.arg or "**"] = _constant(word.value, known)
        values = (*site.args, *site.kwargs.values())
        site.known = not any(value is _UNKNOWN for value in values) and "**" not in site.kwargs
        for part in (*node.args, *(word.value for word in node.keywords)) if not site.known else ():
            site.flows |= self._flows.of(part)
        self.sites.append(site)


def _less(often: str) -> str:
    """How often something happens that happens perhaps."""
    return "maybe" if often == "once" else often


def _unsteady(tree: ast.Module) -> set[str]:
    """Variables of which the text does not tell what they are.

    INVARIANT: what is left has its value from one place, or from statements that come one after the other.
    """
    straight = {
        id(node.targets[0])
        for node in tree.body
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }
    places: Counter[str] = Counter()
    elsewhere: set[str] = set()
    for node in ast.walk(tree):
        given = bound(node)
        places.update(given)
        if id(node) not in straight:
            elsewhere.update(given)
    if "*" in places:  # whatever that brings
        return set(places)
    changed = {name for node in ast.walk(tree) for name in _changed_elsewhere(node)}
    return changed | {name for name in elsewhere if places[name] > 1}


def _changed_elsewhere(node: ast.AST) -> list[str]:
    """Variables that change otherwise than by a statement that says so."""
    match node:
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return [*names]
        case ast.NamedExpr(target=ast.Name(id=name)):
            return [name]
        case ast.withitem(optional_vars=ast.expr() as target):
            return [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
    found = captured(node)
    return [found] if found else []


def _minds(kind: ast.expr | None) -> bool:
    """Whether a handler is for a call that is refused."""
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(isinstance(each, ast.Name) and each.id in _CATCHES for each in kinds)


def _leaves(node: ast.AST, *, loops: bool = True) -> bool:
    """Whether what stands behind it may not happen because of it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
        return loops or isinstance(node, ast.Return)
    inside = {*map(id, node.body)} if isinstance(node, (ast.For, ast.AsyncFor, ast.While)) else set()
    return any(_leaves(child, loops=loops and id(child) not in inside) for child in ast.iter_child_nodes(node))


def _changing(tree: ast.Module, names: Names) -> set[str]:
    """Variables that something else than a loop or a tool is given: what is in them may change there."""
    harmless: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.comprehension)):
            harmless.add(id(node.iter))
        elif isinstance(node, ast.Call) and names.meant(node.func) is not None:
            harmless |= {id(each) for each in (*node.args, *(word.value for word in node.keywords))}
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in harmless
    }


def _called_once(tree: ast.Module) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions without parameters that are called in one place, such as `main`: they happen there."""
    loaded: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else given)[node.id] += 1
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            given[node.name] += 1
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args and not node.keywords
    }
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and not named(node.args)
        and not node.decorator_list
        and given[node.name] == loaded[node.name] == 1
        and node.name in called
    }


def _forget(node: ast.AST, known: dict[str, Any]) -> None:
    """Whatever is given a value in here is no longer known."""
    for each in ast.walk(node):
        for name in bound(each):
            known.pop(name, None)


def _constant(node: ast.expr, known: dict[str, Any]) -> Any:  # noqa: ANN401 - a value of the program
    """The value of an expression, as far as the text tells."""
    match node:
        case ast.Constant(value=str() as text):
            return text if len(text) <= _LONGEST and not _HALVES.search(text) else _UNKNOWN
        case ast.Constant(value=value) if value is None or isinstance(value, (bool, int, float)):
            return value if abs(value or 0) < _LARGEST else _UNKNOWN
        case ast.Name(id=name):
            return known.get(name, _UNKNOWN)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            values = [_constant(each, known) for each in elements]
            return _UNKNOWN if any(value is _UNKNOWN for value in values) else values
        case ast.Dict(keys=keys, values=values):
            names = [_constant(key, known) if key is not None else _UNKNOWN for key in keys]
            parts = [_constant(value, known) for value in values]
            plain = all(isinstance(name, str) for name in names) and not any(part is _UNKNOWN for part in parts)
            return dict(zip(names, parts, strict=True)) if plain else _UNKNOWN
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, two = _constant(left, known), _constant(right, known)
            joined = isinstance(one, str) and isinstance(two, str) and len(one) + len(two) <= _LONGEST
            return one + two if joined else _UNKNOWN
        case ast.JoinedStr(values=parts):
            return _joined(parts, known)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _constant(operand, known)
            return -value if isinstance(value, (int, float)) and not isinstance(value, bool) else _UNKNOWN
        case _:
            return _UNKNOWN


def _joined(parts: list[ast.expr], known: dict[str, Any]) -> Any:  # noqa: ANN401 - likewise
    found = ""
    for part in parts:
        plain = isinstance(part, ast.FormattedValue) and part.conversion == -1 and part.format_spec is None
        value = (
            _constant(part.value, known) if isinstance(part, ast.FormattedValue) and plain else _constant(part, known)
        )
        if not isinstance(value, (str, int)) or isinstance(value, bool) or len(found) > _LONGEST:
            return _UNKNOWN
        found += str(value)
    return found
