"""Files: which arguments are paths on this machine, and what is done with each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.setting import Meaning, meaning
from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_NAMES: Final = lexicon("path filepath file filename directory dir folder workdir cwd pathname")
_ENDS: Final = lexicon("root source destination target output input")
_DESTINATION: Final = lexicon("output out dest destination save target to export download")
_ORIGIN: Final = lexicon("source src input from image csv attachment import template upload original")
_NOT_A_PATH: Final = lexicon(
    """id type name extension pattern format size count content text url uri prefix suffix glob mode encoding key
    title"""
)
_THINGS: Final = lexicon("file directory folder path workbook document image dir notebook")
_WHOLE: Final = lexicon("write create delete remove save put rm touch mkdir")
_SPOKEN: Final = re.compile(
    r"\b(?:file ?paths?|paths? (?:to|of|where|for|on|in|from|under|relative)|absolute paths?|directory|directories|"
    r"folder to|local file|file to|files? on disk|relative path|output file|input file|local path|filesystem path|"
    r"working dir|path)\b"
)
_BEGINS: Final = re.compile(
    r"(?:the |a |an |full |absolute |relative |optional |local |target |list of |array of |output |input )*"
    r"(?:file ?|filter |script )?(?:paths?|director(?:y|ies)|folders?)\b"
    r"|.{0,30}\blocal file ?names?\b|.{0,50}\b(?:file|filter|script|local|absolute|relative) paths?\b"
)
_ELSEWHERE: Final = re.compile(
    r"\b(?:in (?:the |a )?(?:repo(?:sitory)?|bucket|drive|project|vault|workspace)|repository path|"
    r"api (?:path|endpoint)|json ?path|xpath|bucket|google drive|remote|url path|key path|property path|dashboard|"
    r"object key|namespaced|endpoint|rest path|branch|json ?patch|documentation|docs? path)\b"
)
_STORES: Final = frozenset(
    {"file id", "folder id", "parent folder id", "parent id", "drive id", "document id", "spreadsheet id", "project id",
     "repo", "owner", "repository", "bucket", "bucket name", "branch", "ref"}
)  # fmt: skip
"""Arguments beside which a path is one in the store that they name."""
_STORE: Final = re.compile(r"\b(?:google )?drive\b|\brepositor|\bbucket\b")
_HERE: Final = re.compile(r"\blocal|absolute|disk|save\b|download|upload")
_SAVED: Final = re.compile(
    r"\b(?:save|write|output|export|download(?:ed)?|stored?)\b.{0,40}\b(?:to|in|into|at)\b|\boutput (?:file|path|dir)|"
    r"\bwhere .{0,30}(?:saved|written|stored|downloaded)|destination"
)
_CONTENT: Final = re.compile(r"base ?64|binary data|file contents?\b")
_A_PATH: Final = re.compile(r"(?:~|\.{1,2})?/[\w.~-]|[A-Z]:\\|\./?$")


def file(argument: Argument, tool: Setting) -> Meaning | None:
    """A path, by its name, its words, or what it may be by default."""
    if argument.is_flag or argument.is_number or not argument.words or not _may_be_path(argument, tool):
        return None
    words, last = set(argument.words), argument.words[-1]
    if last in ("file", "filename", "folder") and (argument.free or _CONTENT.search(argument.says)):
        return None
    if tool.speaks_of("upload") and words & {"source", "src", "local"}:
        return meaning("read-path")
    fetched = tool.speaks_of("download", "export", "save") and bool(words & (_DESTINATION | {"filename"}))
    in_a_store = bool(words & {"folder", "parent"}) and not _STORES.isdisjoint(tool.siblings)
    here = fetched or (not in_a_store and _HERE.search(f"{argument.says} {' '.join(argument.words)}"))
    if _ELSEWHERE.search(argument.says) or (_is_in_a_store(argument, tool) and not here):
        return meaning("identifier")
    if tool.subject.remote and not here:
        return meaning("identifier", *path_roles(argument, tool), doubt="a path here, or in a store elsewhere")
    if fetched:
        return meaning("write-path")
    loose = last in ("filename", "file") and not _SPOKEN.search(argument.says) and not words & _DESTINATION
    if loose and not tool.subject.is_about("files", "shell"):
        return _loose(tool)
    return meaning(*path_roles(argument, tool))


def speaks_of_path(argument: Argument) -> bool:
    """Its description mentions one."""
    return _SPOKEN.search(argument.says) is not None


def is_local_path(argument: Argument, tool: Setting) -> bool:
    """It is called a path, and nothing says that it is one elsewhere."""
    called = argument.words[-1:] in (("path",), ("dir",), ("directory",), ("filepath",))
    return called and not _ELSEWHERE.search(argument.says) and not tool.subject.remote


def speaks_of_elsewhere(argument: Argument) -> bool:
    """Its description says that what it names is not on this machine."""
    return _ELSEWHERE.search(argument.says) is not None


def _may_be_path(argument: Argument, tool: Setting) -> bool:
    words = argument.words
    last = words[-1]
    described = _BEGINS.match(argument.says) is not None or bool(
        argument.formats & {"path", "file-path", "directory-path"}
    )
    described = described or any(_looks_like_path(value) for value in (*argument.defaults, *argument.examples))
    named = last in _NAMES or (last in _ENDS and speaks_of_path(argument))
    named = named or (
        len(words) > 1 and words[-2] in ("file", "directory", "folder", "path") and last not in _NOT_A_PATH
    )
    named = named or (words[0] == "save" and last in ("as", "to", "path"))
    moved = last in ("source", "destination", "src", "dest", "from", "to") and tool.speaks_of(*_THINGS)
    return described or (last not in _NOT_A_PATH and (named or (moved and not tool.subject.remote)))


def _looks_like_path(value: object) -> bool:
    return isinstance(value, str) and _A_PATH.match(value) is not None and "://" not in value


def _is_in_a_store(argument: Argument, tool: Setting) -> bool:
    if not _STORES.isdisjoint(tool.siblings):
        return True
    return tool.subject.remote and _STORE.search(f"{argument.says} {tool.nutshell}") is not None


def _loose(tool: Setting) -> Meaning:
    """A file of which only the name is given."""
    if "send" in tool.effects:
        return meaning("outbound-content", doubt="the name of a file that is sent along")
    if re.search(r"\bdownload|save\b", tool.nutshell):
        return meaning("write-path")
    roles = ("read-path",) if tool.only_reads else ("read-path", "write-path")
    return meaning(*roles, doubt="a file, of which it is not said where")


def path_roles(argument: Argument, tool: Setting) -> set[str]:
    """What is done with a file: from the argument's own words first, then from the tool's."""
    words = set(argument.words)
    if words & {"cwd", "workdir", "working"} or "working dir" in argument.says:
        return {"read-path"} if tool.only_reads else {"read-path", "write-path"}
    if words & _DESTINATION or _SAVED.search(argument.says):
        return {"write-path"}
    two = (
        len([name for name in tool.siblings if set(name.split()) & (_NAMES | {"source", "destination", "src", "dest"})])
        > 1
    )
    if tool.speaks_of("export", "convert", "extract", "render") and two:
        return {"write-path"} if tool.speaks_of(*words) else {"read-path"}
    if tool.speaks_of("upload", "attach", "deploy", "publish") or (
        tool.speaks_of("import") and argument.name != "path"
    ):
        return {"read-path"}
    if tool.speaks_of("move", "rename"):
        return {"read-path", "delete-path"} | (set() if words & _ORIGIN or two else {"write-path"})
    if words & _ORIGIN or (tool.speaks_of("copy", "duplicate") and two and _is_about_the_whole(tool)):
        return {"read-path"}
    if "attachment" in f"{' '.join(argument.above)} {argument.says}":
        return {"read-path"}
    return _by_effect(words, tool)


def _by_effect(words: set[str], tool: Setting) -> set[str]:
    effects, whole = tool.effects, _is_about_the_whole(tool)
    if tool.only_reads:
        return {"read-path"}
    if "delete" in effects and whole:
        return {"delete-path"} | ({"read-path", "write-path"} if effects & {"create", "update"} else set())
    if effects & {"send", "share", "pay"} and not effects & {"create", "update"}:
        return {"read-path"}
    if "execute" in effects and not effects & {"create", "update", "delete"}:
        # What is run does what it says, wherever it lies.
        return (
            {"read-path", "write-path"} if words & {"dir", "directory", "root", "project"} else {"read-path", "command"}
        )
    replaces = {"update"} if tool.speaks_of("write", "save", "put", "create") else set()
    return {"write-path"} if whole and effects <= {"create", "read"} | replaces else {"read-path", "write-path"}


def _is_about_the_whole(tool: Setting) -> bool:
    """It is about the file itself, and not about a part of it."""
    return tool.speaks_of(*_THINGS) or not set(tool.words) - _WHOLE
