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
_ENDS: Final = lexicon("root source destination target output input src dst dest out")
_KINDS: Final = lexicon(
    """archive zip tarball video audio image picture photo subtitle document pdf spreadsheet presentation playbook
    inventory font certificate cert mbox overlay mesh model input output src dst out base attach clip movie track"""
)
"""What is a file where a server works on files: by its kind."""
_WORK_ON_FILES: Final = lexicon(
    """zip unzip archive compress decompress extract tar gzip ffmpeg video audio image photo pdf latex transcode
    resize crop annotate composite concat watermark thumbnail subtitle mbox maildir stl gcode blend svg ocr
    playbook inventory convert render frame"""
)
_EXTENSION: Final = re.compile(r"(?<![\w.])\.[a-z0-9]{2,5}\b|\bfiles?\b")
_DESTINATION: Final = lexicon("output out dest dst destination save target to export download")
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
    r"on the (?:printer|device|server|host)|object key|namespaced|endpoint|rest path|branch|"
    r"json ?patch|documentation|docs? path)\b"
)
_STORES: Final = frozenset(
    {"file id", "folder id", "parent folder id", "parent id", "drive id", "document id", "spreadsheet id", "project id",
     "repo", "owner", "repository", "bucket", "bucket name", "branch", "ref"}
)  # fmt: skip
"""Arguments beside which a path is one in the store that they name."""
_REMOVING: Final = re.compile(
    r"\b(?:is|are|gets?) (?:then )?(?:deleted|removed)\b|\b(?:deletes?|removes?) the (?:original|source|input)"
)
_REMOVED: Final = lexicon("original source input archive file after")
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
    fetched = tool.speaks_of("download", "export", "save") and bool(words & (_DESTINATION | {"filename", "local"}))
    fetched = fetched or (tool.speaks_of("download") and _is_only_path(argument, tool))
    in_a_store = bool(words & {"folder", "parent"}) and not _STORES.isdisjoint(tool.siblings)
    here = fetched or (not in_a_store and _HERE.search(f"{argument.says} {' '.join(argument.words)}") is not None)
    if _is_elsewhere(argument, tool, here=here):
        return meaning("identifier")
    if tool.subject.remote and not here:
        return meaning("identifier", *path_roles(argument, tool), doubt="a path here, or in a store elsewhere")
    if fetched:
        return meaning("write-path")
    loose = last in ("filename", "file") and not _SPOKEN.search(argument.says) and not words & _DESTINATION
    if loose and not tool.subject.is_about("files", "shell"):
        return _loose(tool)
    return meaning(*path_roles(argument, tool))


def _is_elsewhere(argument: Argument, tool: Setting, *, here: bool) -> bool:
    """Its own words, or the other arguments, say that it is not on this machine."""
    words = set(argument.words)
    beside_local = "local" not in words and any("local" in name.split() for name in tool.siblings)
    of_mail = argument.words[-1] == "folder" and tool.subject.is_about("mail", "chat") and not speaks_of_path(argument)
    if "remote" in words or beside_local or of_mail or speaks_of_elsewhere(argument):
        return True
    return _is_in_a_store(argument, tool) and not here


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
    named = named or last in ("cert", "certificate", "keyfile", "pem") or (last == "attach" and "send" in tool.effects)
    named = named or (words[0] == "save" and last in ("as", "to", "path"))
    moved = last in ("source", "destination", "src", "dest", "from", "to") and tool.speaks_of(*_THINGS)
    moved = moved or (last in _KINDS | _ENDS and _works_on_files(argument, tool))
    return described or (last not in _NOT_A_PATH and (named or (moved and not tool.subject.remote)))


def _works_on_files(argument: Argument, tool: Setting) -> bool:
    """The tool, or its whole server, works on files of this machine."""
    if tool.subject.remote or argument.free:
        return False
    return tool.speaks_of(*_WORK_ON_FILES) or (tool.subject.on_files and _EXTENSION.search(argument.says) is not None)


def _is_only_path(argument: Argument, tool: Setting) -> bool:
    """Nothing else of the call is one: what is fetched has to go there."""
    return len([name for name in tool.siblings if set(name.split()) & _NAMES]) == 1 and argument.words[-1] in _NAMES


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
    """What is done with a file, also where a flag of the call says that it is removed afterwards."""
    roles = _path_roles(argument, tool)
    removes = any(_is_removal(name.split()) for name in tool.siblings) or _REMOVING.search(tool.nutshell)
    return roles | {"delete-path"} if removes and "read-path" in roles else roles


def _is_removal(words: list[str]) -> bool:
    """`delete_originals`, `removeSource`."""
    return len(words) > 1 and words[0] in ("delete", "remove") and words[-1] in _REMOVED


def _path_roles(argument: Argument, tool: Setting) -> set[str]:
    """From the argument's own words first, then from the tool's."""
    words = set(argument.words)
    if is_sent_along(argument, tool.effects):
        return {"read-path"}
    if words & {"cwd", "workdir", "working"} or "working dir" in argument.says:
        return {"read-path"} if tool.only_reads else {"read-path", "write-path"}
    if words & _DESTINATION or _SAVED.search(argument.says):
        return {"write-path"}
    two = len([name for name in tool.siblings if set(name.split()) & (_NAMES | _ENDS)]) > 1
    if tool.speaks_of("export", "convert", "extract", "render") and two:
        into = not words & _ORIGIN and words & {"dir", "directory", "folder"}
        return {"write-path"} if into or tool.speaks_of(*words) else {"read-path"}
    if tool.speaks_of("upload", "attach", "deploy", "publish") or (
        tool.speaks_of("import") and argument.name != "path"
    ):
        return {"read-path"}
    if tool.speaks_of("move", "rename"):
        return {"read-path", "delete-path"} | (set() if words & _ORIGIN or two else {"write-path"})
    if words & _ORIGIN or (tool.speaks_of("copy", "duplicate") and two and _is_about_the_whole(tool)):
        return {"read-path"}
    if (
        words & {"attach", "cert", "certificate", "pem"}
        or "attachment" in f"{' '.join(argument.above)} {argument.says}"
    ):
        return {"read-path"}
    return _by_effect(words, tool)


def is_sent_along(argument: Argument, effects: frozenset[str]) -> bool:
    """A file that goes along with a message: read, and nothing where none is named."""
    return bool({"attach", "attachment"} & set(argument.words)) and "send" in effects


def _by_effect(words: set[str], tool: Setting) -> set[str]:
    effects, whole = tool.effects, _is_about_the_whole(tool)
    if tool.only_reads:
        return {"read-path"}
    if "delete" in effects and whole:
        return {"delete-path"} | ({"read-path", "write-path"} if effects & {"create", "update"} else set())
    if effects & {"send", "share", "pay"} and not effects & {"create", "update"}:
        return {"read-path"}
    if "execute" in effects and not effects & {"create", "update", "delete"}:
        if words & {"dir", "directory", "root", "project"}:
            return {"read-path", "write-path"}
        # What is run does what it says, wherever it lies.
        runs = tool.speaks_of("run", "execute", "exec", "launch", "invoke", "eval", "script")
        return {"read-path", "command"} if runs else {"read-path", "write-path"}
    replaces = {"update"} if tool.speaks_of("write", "save", "put", "create") else set()
    return {"write-path"} if whole and effects <= {"create", "read"} | replaces else {"read-path", "write-path"}


def _is_about_the_whole(tool: Setting) -> bool:
    """It is about the file itself, and not about a part of it."""
    return tool.speaks_of(*_THINGS) or not set(tool.words) - _WHOLE
