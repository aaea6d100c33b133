"""What a program can find out about the tools: what they are called, what they take, which one does what it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.sandbox.declarations import declaration
from ironcurtain.sandbox.stubs import modules_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ironcurtain.model.call import Json
    from ironcurtain.sandbox.stubs import Function

_OURS: Final = ("help", "tools.search", "tools.interfaces", "tools.servers")
_STUB: Final = '''\
def search(words: str, most: int = ...) -> list[str]:
    """The tools that these words describe best, each with its first line of description."""
    ...
def interfaces(server: str) -> str:
    """The functions of one server, with their types and descriptions."""
    ...
def servers() -> list[str]:
    """The modules that can be imported, one for each server."""
    ...
'''
_MOST_FOUND: Final = 50
_LONGEST: Final = 1_000  # characters of a search
_WORDS: Final = re.compile(r"[a-z0-9]+")


class Interfaces:
    """The tools of one principal, as a program sees them."""

    def __init__(self, tools: Iterable[tuple[str, str, Mapping[str, Json]]]) -> None:
        self._modules = modules_of(tools)
        self._declared: dict[str, str] = {}
        """Declarations that were made already."""

    def modules(self, names: Sequence[str]) -> dict[str, Json]:
        """What a host needs to know of the modules that a program imports."""
        found: dict[str, Json] = {
            name: {"functions": [*self._modules[name].functions], "stub": self._modules[name].stub}
            for name in dict.fromkeys(names)
            if name in self._modules
        }
        if "tools" in names:
            found["tools"] = {"functions": ["search", "interfaces", "servers"], "stub": _STUB}
        return found

    def declarations(self, names: Sequence[str]) -> str:
        """What a compiler of TypeScript needs to know of the servers that a program names."""
        return "".join(self._declaration(name) for name in names if name in self._modules)

    def _declaration(self, name: str) -> str:
        if name not in self._declared:
            self._declared[name] = self._modules[name].declaration
        return self._declared[name]

    def find(self, name: str) -> Function | None:
        """The tool that a name in a program means."""
        module, _, function = name.partition(".")
        return self._modules[module].functions.get(function) if module in self._modules else None

    @staticmethod
    def serves(name: str) -> bool:
        """Whether we answer it ourselves: it is about tools, and calls none."""
        return name in _OURS

    def answer(
        self, name: str, args: Sequence[Json], kwargs: Mapping[str, Json], *, typescript: bool = False
    ) -> dict[str, Json]:
        """Answer a question about tools."""
        given = [*args, *kwargs.values()]
        match name, given:
            case "tools.servers", []:
                return {"value": self.servers()}
            case "tools.search", [str(words)]:
                return {"value": [*self.search(words)]}
            case "tools.search", [str(words), int(most)]:
                return {"value": [*self.search(words, most)]}
            case "tools.interfaces", [str(server)]:
                text = self.interface(server, typescript=typescript)
                return {"value": text} if text else _unknown(server)
            case "help", [str(what)]:
                text = self.interface(what, typescript=typescript)
                return {"value": text} if text else _unknown(what)
            case _:
                return {"raise": ["TypeError", f"{name} was not called with what it takes"]}

    def sizes(self) -> dict[str, Json]:
        """How many functions each module has."""
        return {name: len(module.functions) for name, module in self._modules.items()}

    def servers(self) -> list[Json]:
        """The modules, by name."""
        return [*sorted(self._modules)]

    def interface(self, what: str, *, typescript: bool = False) -> str:
        """A module's functions, or one of them; nothing if there is no such thing."""
        if what in self._modules:
            return self._declaration(what) if typescript else self._modules[what].stub
        function = self.find(what)
        if function is None:
            return ""
        return (
            declaration(what.partition(".")[0], {function.name: function.definition}) if typescript else function.stub
        )

    def search(self, words: str, most: int = 10) -> list[str]:
        """The functions whose names and descriptions have most of these words, names first."""
        asked = set(_WORDS.findall(words[:_LONGEST].lower()))
        scored = []
        for module in self._modules.values():
            for function in module.functions.values():
                named = set(_WORDS.findall(f"{module.name} {function.name}".lower().replace("_", " ")))
                told = set(_WORDS.findall(function.about[:_LONGEST].lower()))
                score = 3 * len(asked & named) + len(asked & told)
                if score:
                    first = function.about.strip().splitlines()[0][:120] if function.about.strip() else ""
                    scored.append((-score, f"{module.name}.{function.name}", first))
        best = sorted(scored)[: max(1, min(most, _MOST_FOUND))]
        return [f"{name}: {first}" if first else name for _, name, first in best]


def _unknown(what: str) -> dict[str, Json]:
    return {"raise": ["LookupError", f"there is nothing called {what[:100]}; tools.servers() lists the modules"]}
