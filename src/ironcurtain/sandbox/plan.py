"""What a program can do, from its text alone: which tools it calls, with what, how often, and what flows where.

It reads the syntax and runs nothing. INVARIANT: a call that the program can make is in the plan, by its site or as part
of what cannot be told (`open`); a value that may come from a tool's result names that tool. Where the text does not
tell, the plan says so; it never leaves out.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, Final

MOST_SITES: Final = 200
_MOST_UNROLLED: Final = 50
_LONGEST: Final = 2_000  # characters of a constant
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
    try:
        names = _Names(tree, modules)
        reader = _Reader(names, _Flows(tree, names))
        reader.block(tree.body, "once", {})
    except RecursionError:
        return {"calls": [], "open": sorted(modules)}
    sites = sorted(reader.sites, key=lambda site: site.line)
    over = {site.name for site in sites[MOST_SITES:]}
    return {"calls": [site.told() for site in sites[:MOST_SITES]], "open": sorted(names.loose | over)}


class _Names:
    """Which names stand for modules and for tools, anywhere in the program."""

    def __init__(self, tree: ast.Module, modules: set[str]) -> None:
        self._bound: dict[str, str] = {}
        self.loose: set[str] = set()
        """Modules and tools that are used otherwise than by calling them: who knows with what."""
        again: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] in modules:
                        self._bind(alias.asname or alias.name.split(".")[0], alias.name, again)
            elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in modules:
                for alias in node.names:
                    self._bind(alias.asname or alias.name, f"{node.module}.{alias.name}", again)
            elif isinstance(node, (ast.Name, ast.arg)) and not isinstance(getattr(node, "ctx", None), ast.Load):
                again.add(node.id if isinstance(node, ast.Name) else node.arg)
        for name in again & self._bound.keys():  # the name stands for something else as well
            self.loose.add(self._bound[name])
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in called and id(node) not in inner:
                meant = self.meant(node)
                if meant is not None and isinstance(node.ctx, ast.Load) and not self._is_help(tree, node):
                    self.loose.add(meant)

    def _bind(self, name: str, meant: str, again: set[str]) -> None:
        if self._bound.setdefault(name, meant) != meant:
            again.add(name)
            self.loose.add(meant)

    def meant(self, node: ast.expr) -> str | None:
        """The module or tool that an expression names."""
        if isinstance(node, ast.Name):
            return self._bound.get(node.id)
        if isinstance(node, ast.Attribute):
            inner = self.meant(node.value)
            return f"{inner}.{node.attr}" if inner is not None else None
        return None

    @staticmethod
    def _is_help(tree: ast.Module, node: ast.expr) -> bool:
        """`help(filesystem.read_file)` looks at a tool and does not call it."""
        calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call) and node in each.args)
        return any(isinstance(each.func, ast.Name) and each.func.id == "help" for each in calls)


class _Flows:
    """Which tools' results may be in which variables: all assignments together, in whatever order they run."""

    def __init__(self, tree: ast.Module, names: _Names) -> None:
        self._names = names
        self._in: dict[str, set[str]] = {}
        grown = True
        while grown:
            before = sum(map(len, self._in.values()))
            for node in ast.walk(tree):
                self._note(node)
            grown = sum(map(len, self._in.values())) > before

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._into(target, self.of(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                self._into(target, self.of(value))
            case ast.NamedExpr(target=target, value=value):
                self._into(target, self.of(value))
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                self._into(target, self.of(value))
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                self._into(target, self.of(value))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                inside = {tool for each in node.body for tool in self._within(each)}
                self._in.setdefault(name, set()).update(inside)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in self._in:
                self._in[name] |= {tool for each in (*args, *(k.value for k in keywords)) for tool in self.of(each)}
            case ast.Call(func=ast.Attribute(value=owner), args=args, keywords=keywords):
                given = {tool for each in (*args, *(k.value for k in keywords)) for tool in self.of(each)}
                self._into(owner, given)  # `found.append(...)`
            case ast.ExceptHandler(name=str() as name):
                self._in.setdefault(name, set()).update(self._all())  # an error may say what a tool said

    def _all(self) -> set[str]:
        return {tool for tools in self._in.values() for tool in tools}

    def _within(self, node: ast.AST) -> set[str]:
        return {tool for each in ast.walk(node) if isinstance(each, ast.expr) for tool in self.of(each)}

    def _into(self, target: ast.expr, tools: set[str]) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self._in.setdefault(node.id, set()).update(tools)

    def of(self, expression: ast.expr) -> set[str]:
        """The tools whose results may be in a value."""
        found: set[str] = set()
        for node in ast.walk(expression):
            if isinstance(node, ast.Name):
                found |= self._in.get(node.id, set())
            elif isinstance(node, ast.Call) and (tool := self._names.meant(node.func)) is not None:
                found.add(tool)
        return found


class _Reader:
    """Goes through the program once and writes down where tools are called."""

    def __init__(self, names: _Names, flows: _Flows) -> None:
        self._names = names
        self._flows = flows
        self._caught = 0
        self.sites: list[_Site] = []

    def block(self, body: list[ast.stmt], often: str, known: dict[str, Any]) -> None:
        """Some statements, with what is known of variables before them; it is updated."""
        for statement in body:
            self._statement(statement, often, known)

    def _statement(self, node: ast.stmt, often: str, known: dict[str, Any]) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.block(node.body, "many", {})  # how often it is called, nobody looks
                known.pop(node.name, None)
            case ast.For(target=ast.Name(id=name), iter=iterated):
                self._expression(iterated, often, known)
                self._loop(node, name, often, known)
            case ast.For() | ast.While() | ast.AsyncFor():
                _forget(node, known)
                self._inner(node, "many", known)
            case ast.If():
                self._expression(node.test, often, known)
                for branch in (node.body, node.orelse):
                    self.block(branch, "maybe" if often == "once" else often, dict(known))
                _forget(node, known)
            case ast.Try() | ast.TryStar():
                self._try(node, often, known)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._expression(value, often, known)
                known[name] = _constant(value, known)
            case _:
                self._inner(node, often, known)
                _forget(node, known)

    def _loop(self, node: ast.For, name: str, often: str, known: dict[str, Any]) -> None:
        values = _constant(node.iter, known)
        _forget(node, known)
        few = isinstance(values, list) and len(values) <= _MOST_UNROLLED and not _leaves(node) and often != "many"
        if not few:
            self.block(node.body, "many", dict(known))
        else:
            for value in values:
                self.block(node.body, often, {**known, name: value})
        self.block(node.orelse, "maybe", dict(known))

    def _try(self, node: ast.Try | ast.TryStar, often: str, known: dict[str, Any]) -> None:
        minds = any(_minds(handler.type) for handler in node.handlers)
        self._caught += minds
        self.block(node.body, often, known)
        self._caught -= minds
        _forget(node, known)
        less = "maybe" if often == "once" else often
        for handler in node.handlers:
            self.block(handler.body, less, dict(known))
        self.block(node.orelse, less, dict(known))
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
            self._inner(node, "maybe" if often == "once" else often, known)
            return
        self._inner(node, often, known)
        if isinstance(node, ast.Call) and (name := self._names.meant(node.func)) is not None:
            self._site(node, name, often, known)

    def _site(self, node: ast.Call, name: str, often: str, known: dict[str, Any]) -> None:
        site = _Site(name, node.lineno, often=often, caught=self._caught > 0)
        for argument in node.args:
            site.args.append(_constant(argument, known))
        for word in node.keywords:
            site.kwargs[word.arg or "**"] = _constant(word.value, known)
        values = (*site.args, *site.kwargs.values())
        site.known = not any(value is _UNKNOWN for value in values) and "**" not in site.kwargs
        for part in (*node.args, *(word.value for word in node.keywords)):
            site.flows |= self._flows.of(part)
        self.sites.append(site)


def _minds(kind: ast.expr | None) -> bool:
    """Whether a handler is for a call that is refused."""
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(isinstance(each, ast.Name) and each.id in _CATCHES for each in kinds)


def _leaves(node: ast.For) -> bool:
    return any(isinstance(each, (ast.Break, ast.Continue, ast.Return)) for each in ast.walk(node))


def _forget(node: ast.AST, known: dict[str, Any]) -> None:
    """Whatever is given a value in here is no longer known."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            known.pop(each.id, None)
        elif (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and isinstance(each.func.value, ast.Name)
        ):
            known.pop(each.func.value.id, None)  # `paths.append(...)`


def _constant(node: ast.expr, known: dict[str, Any]) -> Any:  # noqa: ANN401 - a value of the program
    """The value of an expression, as far as the text tells."""
    match node:
        case ast.Constant(value=str() as text):
            return text if len(text) <= _LONGEST else _UNKNOWN
        case ast.Constant(value=value) if value is None or isinstance(value, (bool, int, float)):
            return value
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
