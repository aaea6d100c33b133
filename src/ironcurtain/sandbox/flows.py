"""What flows in a program from one tool into another, by its text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from ironcurtain.sandbox.names import PUT, bound, captured, named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ironcurtain.sandbox.names import Names

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_BEYOND: Final = (ast.ClassDef, ast.Lambda, ast.Raise, ast.Yield, ast.YieldFrom)
_DATA: Final = "data"
"""What a program is given."""
_MOST_HANDS: Final = 30  # that a value is followed through, where each stands before the one that it gets it from


class Flows:
    """Which tools' results may be in which variables: all assignments together, in whatever order they run."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self._names = names
        self._in: dict[str, set[str]] = {}
        self._parameters = _parameters(tree)
        self._every = {
            tool for node in ast.walk(tree) if isinstance(node, ast.Call) and (tool := names.meant(node.func))
        }
        self._lost = not _can_be_followed(tree, names)
        """It is not followed: everything may be in everything."""
        if not self._lost:
            self._lost = not self._follow(tree)

    def _follow(self, tree: ast.Module) -> bool:
        """Until nothing new comes up. Says whether it came that far."""
        for _ in range(_MOST_HANDS):
            before = sum(map(len, self._in.values()))
            for node in ast.walk(tree):
                self._note(node)
            if sum(map(len, self._in.values())) == before:
                return True
        return False

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._one(_named_in(target), value)
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.AugAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
                | ast.For(target=target, iter=value)
                | ast.AsyncFor(target=target, iter=value)
                | ast.comprehension(target=target, iter=value)
                | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
            ):
                self._one(_named_in(target), value)
            case ast.Match(subject=subject, cases=cases):
                captures = [each for case in cases for each in ast.walk(case.pattern)]
                self._one([name for each in captures if (name := captured(each))], subject)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                inside = {tool for each in node.body for tool in self.of(each)}
                self._add([name], inside)
                for each in ast.walk(node):  # what is put into what it gives is in what it gave
                    if isinstance(each, ast.Return) and each.value is not None:
                        self._add(self._held(each.value), self._in[name])
            case ast.arguments(defaults=values, kw_defaults=others):
                for default in (*values, *others):
                    if default is not None:
                        self._one(named(node), default)
            case ast.Call(func=function, args=args, keywords=keywords):
                self._called(function, [*args, *(word.value for word in keywords)])
            case ast.Try(body=body, handlers=handlers) | ast.TryStar(body=body, handlers=handlers):
                thrown = {tool for each in body for tool in self.of(each)}  # an error may say what a tool said
                self._add([handler.name for handler in handlers if handler.name], thrown)

    def _called(self, function: ast.expr, values: list[ast.expr]) -> None:
        """What a function is given is in its parameters."""
        if self._names.meant(function) is not None:
            return  # what a tool is given is gone
        given = {tool for each in values for tool in self.of(each)}
        if isinstance(function, ast.Attribute):
            self._add(_named_in(function.value), given)  # `found.append(...)`
            given |= self.of(function.value)
        elif isinstance(function, ast.Name) and function.id in self._in:
            self._add([function.id, *self._parameters.get(function.id, ())], given)
        inside = given | self.of(function)
        for each in values:  # who knows what it puts into what
            self._add(self._held(each), inside)

    def _one(self, names: list[str], value: ast.expr) -> None:
        """These are given a value: what it holds is in them, and what is put into them is in what it holds."""
        self._add(names, self.of(value))
        self._add(self._held(value), {tool for name in names for tool in self._in[name]})

    def _held(self, value: ast.expr) -> set[str]:
        """Variables that may hold the very thing that a value is, or holds: what is put into it is in them.

        Nothing can be put into a constant, and what a tool gives is nobody else's; any other value may hold whatever it
        was made from.
        """
        if isinstance(value, (ast.Constant, ast.JoinedStr)):
            return set()
        if isinstance(value, ast.Name):
            return {value.id}
        if isinstance(value, ast.Call) and self._names.meant(value.func) is not None:
            return set()
        held: set[str] = set()
        for each in ast.iter_child_nodes(value):
            held |= self._held(each) if isinstance(each, ast.expr) else {*_named_in(each)}
        return held

    def _add(self, names: Iterable[str], tools: set[str]) -> None:
        for name in names:
            self._in.setdefault(name, set()).update(tools)

    def of(self, part: ast.AST) -> set[str]:
        """The tools whose results may be in a value, or in what happens in a part of the program."""
        if self._lost:
            return self._every
        found: set[str] = set()
        for node in ast.walk(part):
            if isinstance(node, ast.Name):
                found |= self._in.get(node.id, set())
            elif isinstance(node, ast.Call) and (tool := self._names.meant(node.func)) is not None:
                found.add(tool)
        return found


def _can_be_followed(tree: ast.Module, names: Names) -> bool:
    """Whether names tell what holds what. INVARIANT: a program of which that is not known is not followed.

    A list of what is known: variables, containers in them, functions that are only called by their names, loops, errors
    of tools. Not in it: classes, functions that are handed around, what is thrown or yielded, and what is put into
    something, or taken out of something, that no variable of the program holds.
    """
    nodes = [*ast.walk(tree)]
    imports = (ast.Import, ast.ImportFrom)
    own = {_DATA, *(name for node in nodes if not isinstance(node, imports) for name in bound(node))}
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    inner = {id(node.value) for node in nodes if isinstance(node, (ast.Attribute, ast.Subscript))}
    functions = {node.name for node in nodes if isinstance(node, _FUNCTIONS)}
    for node in nodes:
        match node:
            case ast.FunctionDef(decorator_list=[_, *_]) | ast.AsyncFunctionDef(decorator_list=[_, *_]):
                return False
            case ast.Name(id=name) if name in functions and isinstance(node.ctx, ast.Load) and id(node) not in called:
                return False
            case ast.Call(func=function) if not isinstance(function, (ast.Name, ast.Attribute)):
                return False
            case ast.Attribute() | ast.Subscript() if id(node) not in inner and _root(node) not in own:
                method = isinstance(node, ast.Attribute) and id(node) in called and node.attr != PUT
                if not method and names.meant(node) is None:
                    return False
            case each if isinstance(each, _BEYOND):
                return False
    return True


def _root(node: ast.expr) -> str:
    """The variable that something is a part of, if there is one."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _named_in(part: ast.AST) -> list[str]:
    return [node.id for node in ast.walk(part) if isinstance(node, ast.Name)]


def _parameters(tree: ast.Module) -> dict[str, list[str]]:
    """The parameters of every function, by its name."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            found.setdefault(node.name, []).extend(named(node.args))
    return found
