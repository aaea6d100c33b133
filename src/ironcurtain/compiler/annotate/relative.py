"""Directories in which other arguments of a call lie: a working copy, a project, a working directory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.compiler.annotate.arguments import Argument

_ROOTS: Final = lexicon("repo repository project workspace root working worktree base codebase checkout vault")
_OTHER_ROOTS: Final = lexicon("thread message post comment reply tree domain merkle state node reaction")
"""What has a root that is no directory: the first message of a thread."""
_DIRECTORIES: Final = lexicon("path dir directory root folder cwd workdir")
_TELLS: Final = re.compile(
    r"\b(?:path|directory|root|location) (?:to|of|for) (?:the |an? |your |local |target |existing )*(?:git |code )?"
    r"(?:repo(?:sitory)?|project|workspace|working (?:copy|tree|directory)|vault|codebase)\b"
    r"|\b(?:git )?(?:repository|project|workspace) (?:path|root|directory)\b|^(?:the |current )*working directory\b"
)
_INSIDE: Final = re.compile(
    r"\brelative to (?:the |its |your )*(?:\w+ )?(?:repo(?:sitory)?|project|workspace|root|working|base|vault|cwd|"
    r"\w*path|directory)\b|\b(?:in|within|inside|from) (?:the |this |your )(?:git )?(?:repo(?:sitory)?|"
    r"working (?:copy|tree|directory)|workspace|project)\b|\bproject-relative\b|\brepo-relative\b"
)
_WITHIN: Final = lexicon("file filepath filename path pathspec")
_SAVED_IN: Final = lexicon("dir directory folder path")
_GOALS: Final = lexicon("dest destination output out save download target")
_ABSOLUTE: Final = re.compile(r"\babsolute\b(?! or relative)|\bfull path\b")


def is_root(argument: Argument) -> bool:
    """Return whether an argument is a directory in which others may lie: `repo_path`, `cwd`, `project_root`."""
    words = argument.words
    if argument.above or argument.several or argument.is_flag or argument.is_number or not words:
        return False
    if words in (("working", "copy"), ("work", "tree"), ("worktree",), ("working", "tree")):
        return True
    if words[-1] in ("cwd", "workdir") or words[-2:] in (("root",), ("project", "root"), ("workspace", "root")):
        return True
    if words[-1] == "root" and words[-2:-1] and words[-2] in _OTHER_ROOTS:
        return False
    named = words[-1] in _DIRECTORIES and not _ROOTS.isdisjoint(words)
    named = named or ("local" in words and words[-1] in ("repo", "repository", "clone", "project"))
    told = words[-1] in _DIRECTORIES | {"repo", "repository", "project", "workspace"} and _TELLS.search(
        argument.says[:160]
    )
    return named or bool(told)


def root_of(argument: Argument, arguments: Iterable[Argument]) -> Argument | None:
    """Return the directory beside a path that the path is relative to, where text or naming make it plain."""
    if is_root(argument) and not _INSIDE.search(argument.says):
        return None
    roots = [other for other in arguments if other.leaf != argument.leaf and is_root(other)]
    if len(roots) != 1 or _ABSOLUTE.search(argument.says):
        return None
    said = _INSIDE.search(argument.says) is not None
    called = argument.words[-1] in _WITHIN or argument.words[:2] == ("file", "to")  # `filesToStage`
    named = not argument.above and called and not {"output", "save", "config"} & set(argument.words)
    return roots[0] if said or named else None


def named_inside(argument: Argument, arguments: Iterable[Argument]) -> Argument | None:
    """Return the directory that a file is saved in under a name: `dest_dir` beside `filename`."""
    if argument.words not in (("filename",), ("file", "name"), ("output", "filename"), ("output", "name")):
        return None
    goals = [other for other in arguments if other.words[-1:] and other.words[-1] in _SAVED_IN and not other.above]
    goals = [other for other in goals if not _GOALS.isdisjoint(other.words)]
    return goals[0] if len(goals) == 1 and not _ABSOLUTE.search(argument.says) else None


def relative_to(leaf: str, arguments: Mapping[str, Argument], roles: Mapping[str, frozenset[str]]) -> str:
    """Return the leaf that a path is read relative to, or the empty string."""
    if not any(role.endswith("-path") for role in roles[leaf]):
        return ""
    found = root_of(arguments[leaf], arguments.values()) or named_inside(arguments[leaf], arguments.values())
    if found is None or not any(role.endswith("-path") for role in roles[found.leaf]):
        return ""
    return found.leaf
