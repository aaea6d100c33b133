"""What is done with a file or a directory that a call names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.relative import is_root
from ironcurtain.compiler.annotate.text import lexicon, words_of

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

NAMES: Final = lexicon(
    """path filepath file filename directory dir folder workdir cwd pathname dirpath folderpath basedir rootdir outdir
    outfile infile logfile datadir basepath rootpath mountpoint venv virtualenv worktree"""
)
ENDS: Final = lexicon("root source destination target output input src dst dest out")
DESTINATION: Final = lexicon("output out outdir outfile dest dst destination save target export download")
_RESULTS: Final = DESTINATION - {"target"}
_ORIGIN: Final = lexicon("source src input from image csv attachment import template upload original")
_AUXILIARY: Final = lexicon(
    """password cookie font config credential key cert schema env var value values inventory manifest template style
    stage kubeconfig certificate pem requirement setting option param parameter license patch ignore constraint"""
)
"""Files that a call uses beside the one that it is about."""
_USED_FILES: Final = lexicon("kubeconfig dockerfile keyfile tfvars dotenv makefile")
_THINGS: Final = lexicon("file directory folder path workbook document image dir notebook presentation")
_WHOLE_FILES: Final = lexicon("file filepath filename path image video audio document pdf archive model input source")
_PREPOSITIONS: Final = lexicon("from in into to of on at within")
_WHOLE: Final = lexicon("write create delete remove save put rm touch mkdir")
_BEGINNING: Final = 160
"""Characters of a description that are about the argument itself."""
_REMOVING: Final = re.compile(
    r"\b(?:is|are|gets?) (?:then )?(?:deleted|removed)\b|\b(?:deletes?|removes?) the (?:original|source|input)"
)
_REMOVED: Final = lexicon("original source input archive file after")
_SAVED: Final = re.compile(
    r"\u4fdd\u5b58|\u8f93\u51fa|\u5bfc\u51fa|"  # save, output, export
    r"\b(?:save|write|output|export|download(?:ed)?|stored?)\b.{0,40}\b(?:to|in|into|at)\b|\boutput (?:file|path|dir)|"
    r"\bwhere .{0,30}(?:saved|written|stored|downloaded)|destination|\b(?:save|write) .{0,40}\bto (?:an? |this )?file\b"
)
_INPUT: Final = re.compile(
    r"(?:the |full |absolute )*(?:path|file ?path|location) (?:to|of|for) (?:the |an? )?(?:input|source|original)\b"
)
_DELETED: Final = re.compile(
    r"\b(?:files?|paths?|director(?:y|ies)|folders?)\b.{0,30}\bto (?:delete|remove|clean|clear|purge|erase|unlink)\b"
)
_DELETES_FILES: Final = re.compile(
    r"^(?:deletes?|removes?|cleans? up|clears?|purges?|erases?|unlinks?) (?:\w+ ){0,4}"
    r"(?:files?|director(?:y|ies)|folders?)\b"
)
_AROUND: Final = re.compile(r"\bfile (?:containing|that contains|in which|where) (?:the|a)\b")
"""Said of a file of which a part is worked on."""
_EDITING: Final = ("edit", "update", "modify", "write", "delete", "rename", "replace", "remove", "insert")
MAKING: Final = (
    "write",
    "save",
    "put",
    "create",
    "make",
    "mkdir",
    "touch",
    "new",
    "generate",
    "init",
    "export",
    "dump",
)
"""Verbs of tools that make a file as a whole."""
_MADE: Final = frozenset({"create", "read", "update"})
_EMPTY: Final = ("directory", "folder", "dir", "mkdir", "touch", "empty", "new", "workbook", "spreadsheet", "notebook")
"""What is made without anything in it."""
_CONTENTS: Final = lexicon(
    "content contents text data body row source code html markdown md base64 value title cell sheet"
)
"""Arguments that hold what is put into a new file."""
CAPTURING: Final = ("screenshot", "capture", "snapshot", "record")
"""Verbs of tools that keep what they see in a file."""
_FROM_FILE: Final = re.compile(r"\b(?:by )?importing an? (?:\w+ )?file|\bfrom an? (?:\w+ ){0,2}(?:file|image)\b")
_READ_FROM: Final = re.compile(
    r"\b(?:read|load|taken|loaded)\b.{0,60}\bfrom\b|\bfile (?:to|that is) (?:read|load|upload|attach|parse|import|send|"
    r"apply|analy[sz]e|share|scan)|\b(?:the path|it) is read\b|\bread (?:on|by) the\b|\b(?:yaml|json) file to\b|"
    r"\bcontaining (?:the |your )?(?:patch|data|config\w*|credentials?|content|body|values|rows)\b"
)


def path_roles(argument: Argument, tool: Setting) -> set[str]:
    """Return what is done with a file, also where a flag of the call says that it is removed afterwards."""
    roles = _path_roles(argument, tool)
    removes = any(_is_removal(name.split()) for name in tool.siblings) or _REMOVING.search(tool.nutshell)
    return roles | {"delete-path"} if removes and "read-path" in roles else roles


def _is_removal(words: list[str]) -> bool:
    """`delete_originals`, `removeSource`."""
    return len(words) > 1 and words[0] in ("delete", "remove") and words[-1] in _REMOVED


def _path_roles(argument: Argument, tool: Setting) -> set[str]:
    """Return what is done with a file, from the argument's own words first, then from the tool's."""
    words = set(argument.words)
    looked_at = argument.words[-1] == "glob"
    if looked_at or is_sent_along(argument, tool.effects) or _INPUT.match(argument.says):
        return {"read-path"} | ({"delete-path"} if looked_at and "delete" in tool.effects else set())
    built_from = argument.words[-1] == "context" and tool.speaks_of("build")
    kept = "workspace" in words and bool(words & {"dir", "directory", "folder"})  # made for what is written there
    project = is_root(argument) and not tool.only_reads
    if built_from or kept or project or words & {"cwd", "workdir", "working"} or "working dir" in argument.says[:60]:
        cleaned = {"delete-path"} if tool.speaks_of("clean", "cleanup", "purge", "wipe") else set()
        return {"read-path"} if tool.only_reads and not kept else {"read-path", "write-path"} | cleaned
    if is_put_there(argument, tool):
        return {"write-path"}
    two = len([name for name in tool.siblings if set(name.split()) & (NAMES | ENDS)]) > 1
    if _is_used(argument, tool):
        return {"read-path"}
    if tool.speaks_of("export", "convert", "extract", "render") and two:
        into = not words & _ORIGIN and words & {"dir", "directory", "folder"}
        return {"write-path"} if into or tool.speaks_of(*words) else {"read-path"}
    if _is_input(argument, tool):
        return {"read-path"}
    if _AROUND.search(argument.says) and not tool.only_reads:
        return {"read-path", "write-path"}
    if tool.speaks_of("move", "rename"):
        return {"read-path", "delete-path"} | (set() if words & _ORIGIN or two else {"write-path"})
    copied = tool.speaks_of("copy", "duplicate") and two and _is_about_the_whole(tool)
    return {"read-path"} if words & _ORIGIN or copied else _by_effect(argument, tool)


def is_put_there(argument: Argument, tool: Setting) -> bool:
    """Return whether something is put where an argument says."""
    renamed = "new" in argument.words and tool.speaks_of("move", "rename", "copy", "duplicate")
    fetched = "local" in argument.words and tool.speaks_of("download", "pull", "get", "fetch", "receive")
    return (
        renamed or fetched or is_called_destination(argument) or _SAVED.search(argument.says[:_BEGINNING]) is not None
    )


def is_used(argument: Argument) -> bool:
    """Return whether its name says that it is only read: a source, an attachment, a key."""
    words = {*argument.words, *(word for name in argument.above for word in words_of(name))}
    return not (_ORIGIN | {"attach"}).isdisjoint(words) or is_auxiliary(argument)


def is_called_destination(argument: Argument) -> bool:
    """Return whether its name says that something is put there."""
    return bool(DESTINATION & set(argument.words)) or "to" in (argument.words[0], argument.words[-1])


def is_auxiliary(argument: Argument) -> bool:
    """Return whether it is a file that configures a run: of values, of a key, of settings."""
    words = argument.words
    return words[-1] in _USED_FILES or (words[-1] in NAMES and not _AUXILIARY.isdisjoint(words[:-1]))


def _is_used(argument: Argument, tool: Setting) -> bool:
    """Return whether a file is used beside the one that the call is about: a template, a certificate."""
    words = set(argument.words)
    if argument.words[-1] in _USED_FILES and not tool.speaks_of(*_EDITING):
        return True
    if words & _AUXILIARY and len(words) > 1 and not tool.speaks_of(*(words & _AUXILIARY)):
        return True
    told = _READ_FROM.search(argument.says) is not None
    return told and ("content" in words or not tool.speaks_of(*_EDITING))


def _is_input(argument: Argument, tool: Setting) -> bool:
    """Return whether a file is handed over: uploaded, attached, imported."""
    whole = argument.words[-1] in _WHOLE_FILES
    if whole and tool.speaks_of("ingest", "install", "print", "flash", "sideload", "transcribe", "sign"):
        return True
    if whole and not tool.effects & {"update", "delete"} and _has_output(argument, tool):
        return True
    if (
        argument.words == ("local",)
        or tool.speaks_of("upload", "attach", "deploy", "publish")
        or (tool.speaks_of("import") and argument.name != "path")
    ):
        return True
    if _FROM_FILE.search(tool.nutshell) and argument.words[-1] in NAMES and not tool.speaks_of("save", "export"):
        return True
    attached = "attachment" in f"{' '.join(argument.above)} {argument.says}"
    return attached or bool({"attach", "cert", "certificate", "pem"} & set(argument.words))


def _has_output(argument: Argument, tool: Setting) -> bool:
    """Return whether a call must say where its result goes: then its other files are only read."""
    outputs = [other for other in tool.arguments if other.required and other.leaf != argument.leaf]
    return any(not _RESULTS.isdisjoint(other.words) and other.words[-1] in NAMES | _RESULTS for other in outputs)


def is_sent_along(argument: Argument, effects: frozenset[str]) -> bool:
    """Return whether a file goes along with a message: it is read, and left out there is none."""
    return bool({"attach", "attachment"} & set(argument.words)) and "send" in effects


def _by_effect(argument: Argument, tool: Setting) -> set[str]:
    words, effects = set(argument.words), tool.effects
    deleted = "delete" in effects and (_DELETED.search(argument.says) or _DELETES_FILES.search(tool.nutshell))
    whole = _is_about_the_whole(tool) or bool(deleted)
    if tool.speaks_of(*CAPTURING) and words <= NAMES:
        return {"write-path"}
    if tool.only_reads:
        return {"read-path", "write-path"} if words & NAMES and tool.speaks_of("dump", "backup") else {"read-path"}
    if "delete" in effects and whole:
        return {"delete-path"} | ({"read-path", "write-path"} if effects & {"create", "update"} else set())
    if effects & {"send", "share", "pay"} and not effects & {"create", "update"}:
        return {"read-path"}
    if "execute" in effects and not effects & {"create", "update", "delete"}:
        if words & {"dir", "directory", "root", "project", "report", "log", "result", "artifact"}:
            return {"read-path", "write-path"}
        # What is run does what it says, wherever it lies.
        runs = tool.speaks_of("run", "execute", "exec", "launch", "invoke", "eval", "script")
        return {"read-path", "command"} if runs else {"read-path", "write-path"}
    # Written without being read only where the tool makes the file itself; otherwise it may work on one that is there.
    makes = tool.speaks_of(*MAKING) and not tool.speaks_of("edit", "patch", "modify")
    makes = makes and (tool.speaks_of(*_EMPTY) or any(_CONTENTS & set(name.split()) for name in tool.siblings))
    return {"write-path"} if whole and makes and effects <= _MADE else {"read-path", "write-path"}


def _is_about_the_whole(tool: Setting) -> bool:
    """Return whether a tool is about the file itself, and not about a part of it."""
    cut = next((index for index, word in enumerate(tool.words) if word in _PREPOSITIONS), len(tool.words))
    return not _THINGS.isdisjoint(tool.words[:cut]) or not set(tool.words) - _WHOLE
