"""Which names in a program stand for modules and for tools."""

from __future__ import annotations

import ast
from typing import Final

PUT: Final = "is given"
"""What another language does with `a.b = c`, as a method; no program has one of that name."""
_REACHING: Final = frozenset({"__import__", "eval", "exec", "globals", "locals", "vars"})
"""Names that reach whatever there is; the interpreter has none of them."""


class Names:
    """Which names stand for modules and for tools, anywhere in the program."""

    def __init__(self, tree: ast.Module, modules: set[str]) -> None:
        self._bound: dict[str, str] = {}
        self.loose: set[str] = set()
        """Modules and tools that are used otherwise than by calling them: who knows with what."""
        again = self._read(tree, modules)
        if again & self._bound.keys():  # a name stands for something else as well: who knows where
            self.loose |= modules
        plain = "help" not in again
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in called and id(node) not in inner:
                meant = self.meant(node)
                if meant is not None and isinstance(node.ctx, ast.Load) and not (plain and self._is_help(tree, node)):
                    self.loose.add(meant)

    def _read(self, tree: ast.Module, modules: set[str]) -> set[str]:
        """Take in what is imported; the names that are given to something else."""
        again: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] in modules:
                        self._bind(alias.asname or alias.name.split(".")[0], alias.name, again)
                    else:
                        again.add(alias.asname or alias.name.split(".")[0])
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node, modules, again)
            elif isinstance(node, ast.Name) and node.id in _REACHING:
                self.loose |= modules
            else:
                again.update(bound(node))
        return again

    def _import_from(self, node: ast.ImportFrom, modules: set[str], again: set[str]) -> None:
        for alias in node.names:
            if node.module and node.module.split(".")[0] in modules:
                self._bind(alias.asname or alias.name, f"{node.module}.{alias.name}", again)
                if alias.name == "*":
                    self.loose.add(node.module)
            else:
                again.add(alias.asname or alias.name)

    def _bind(self, name: str, meant: str, again: set[str]) -> None:
        if self._bound.setdefault(name, meant) != meant:
            again.add(name)

    def meant(self, node: ast.expr) -> str | None:
        """The module or tool that an expression names."""
        if isinstance(node, ast.Name):
            return self._bound.get(node.id)
        inner = self.meant(node.value) if isinstance(node, ast.Attribute) else None
        if inner is None or not isinstance(node, ast.Attribute):
            return None
        if "." in inner:  # something of a tool's own, such as `call`
            self.loose.add(inner)
            return None
        return f"{inner}.{node.attr}"

    @staticmethod
    def _is_help(tree: ast.Module, node: ast.expr) -> bool:
        """`help(filesystem.read_file)` looks at a tool and does not call it."""
        calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call) and node in each.args)
        return any(isinstance(each.func, ast.Name) and each.func.id == "help" for each in calls)


def named(arguments: ast.arguments) -> list[str]:
    """The names of parameters."""
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return [each.arg for each in listed if each is not None]


def bound(node: ast.AST) -> list[str]:
    """The names that something is given here, less what stands within it."""
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
        return [node.name] if node.name else []
    name = captured(node)
    return [name] if name else []


def captured(pattern: ast.AST) -> str | None:
    """The variable that a part of a pattern gives a value to."""
    if isinstance(pattern, (ast.MatchAs, ast.MatchStar)):
        return pattern.name
    return pattern.rest if isinstance(pattern, ast.MatchMapping) else None
