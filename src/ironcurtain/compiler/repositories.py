"""Repositories that a tool names by two arguments, owner and name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.parts import Part
from ironcurtain.compiler.patterns import spellings
from ironcurtain.compiler.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ironcurtain.compiler.catalogue import Tool

REPOSITORY_WORDS: Final = frozenset({"owner", "repo", "repository", "org", "organization"})
"""How arguments that name a repository or a part of its name are called."""


def pair_of(tool: Tool) -> tuple[str, ...]:
    """Return the two arguments by which `owner/name` is given, if there are two."""
    owner = next((leaf for leaf in tool.arguments if leaf.lower() in ("owner", "org", "organization", "namespace")), "")
    name = next(
        (leaf for leaf in tool.arguments if leaf.lower() in ("repo", "repository", "repo_name", "reponame")), ""
    )
    return (owner, name) if owner and name else ()


def repositories(
    pair: tuple[str, ...], whole: Sequence[str], values: Sequence[str], *, certain: bool
) -> Iterator[Part]:
    """Yield conditions on repositories by owner and name, together; a star stands for every name of an owner."""
    owner, name = pair
    for one, two in (value.split("/") for value in whole):
        if two == "*":
            yield Part(values={f"arg:{owner}": {"in": [one]}})
        elif "*" in one + two:
            raise Problem(
                f"{one}/{two}: a star stands for all names of an owner", f"write {one.strip('*') or 'owner'}/*"
            )
        elif certain:
            yield Part(values={f"arg:{owner}": {"in": [one]}, f"arg:{name}": {"in": [two]}})
    named = sorted({value.rpartition("/")[2] for value in values} - {"*"})
    if not certain and named:
        yield Part(values={f"arg:{name}": {"in": named}})
        yield Part(values={f"arg:{name}": {"matches": f"(?i)({'|'.join(map(spellings, named))})"}})
