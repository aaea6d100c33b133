"""The filesystem server: `python -m ironcurtain.servers.filesystem DIRECTORY...`.

The tools and their definitions are those of the official server, with `delete_file` and `delete_directory` besides, so
that the default policy knows every one of them.
"""

from __future__ import annotations

import base64
import difflib
import fnmatch
import json
import mimetypes
import os
import stat
import sys
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.servers.confined import MOST_READ, Confined, OutsideError
from ironcurtain.servers.stdio import serve

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = dict[str, Any]

MOST_VISITED: Final = 100_000  # entries that one call looks at
MOST_LEVELS: Final = 200  # of directories in directories, below where one call begins
_MOST_SEARCHED: Final = 1_000_000_000  # characters of the file, for all edits together
_MOST_COMPARED: Final = 250_000  # pairs of lines


def definitions() -> list[dict[str, Any]]:
    """The tools as they are listed, and as the default policy has pinned them."""
    annotations = json.loads((files("ironcurtain") / "default" / "tool-annotations.json").read_text())
    return [entry["definition"] for entry in annotations["servers"]["filesystem"]["tools"]]


class Filesystem:
    """The tools, on confined directories."""

    def __init__(self, confined: Confined) -> None:
        self._files = confined
        self._visited = 0

    def call(self, name: str, arguments: Arguments) -> dict[str, Any]:
        """One call; what goes wrong with a file is a result that says so."""
        tool = _TOOLS.get(name)
        if tool is None:
            raise LookupError(name)
        try:
            made = tool(self, arguments)
        except (OSError, OutsideError, ValueError) as error:
            return {"content": [{"type": "text", "text": f"Error: {_said(error)}"}], "isError": True}
        except (MemoryError, RecursionError):
            return {"content": [{"type": "text", "text": "Error: that is too much, or too deep"}], "isError": True}
        if isinstance(made, list):
            return {"content": made, "structuredContent": {"content": made}}
        answer: dict[str, Any] = {"content": [{"type": "text", "text": made}]}
        return answer if name in _WITHOUT_STRUCTURE else {**answer, "structuredContent": {"content": made}}

    def _read_text_file(self, arguments: Arguments) -> str:
        head, tail = arguments.get("head"), arguments.get("tail")
        if head and tail:
            raise ValueError("Cannot specify both head and tail parameters simultaneously")
        text = self._text(arguments["path"])
        if head is not None:
            return "\n".join(text.split("\n")[: int(head)])
        return "\n".join(text.split("\n")[-int(tail) :]) if tail else text

    def _text(self, path: str) -> str:
        return self._files.read(path).decode("utf-8", errors="replace")

    def _read_media_file(self, arguments: Arguments) -> list[dict[str, Any]]:
        path = arguments["path"]
        data = base64.b64encode(self._files.read(path)).decode()
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        if kind.startswith(("image/", "audio/")):
            return [{"type": kind.split("/")[0], "data": data, "mimeType": kind}]
        uri = f"file://{self._files.place(path)}"
        return [{"type": "resource", "resource": {"uri": uri, "mimeType": kind, "blob": data}}]

    def _read_multiple_files(self, arguments: Arguments) -> str:
        found, size = [], 0
        for path in arguments["paths"]:
            found.append(self._read_or_complain(path))
            size += len(found[-1])
            if size > MOST_READ:
                raise ValueError(f"these files have more than {MOST_READ // 2**20} MiB; read fewer at once")
        return "\n---\n".join(found)

    def _read_or_complain(self, path: str) -> str:
        try:
            return f"{path}:\n{self._text(path)}\n"
        except (OSError, OutsideError) as error:
            return f"{path}: Error - {_said(error)}"

    def _write_file(self, arguments: Arguments) -> str:
        self._files.write(arguments["path"], arguments["content"].encode())
        return f"Successfully wrote to {arguments['path']}"

    def _edit_file(self, arguments: Arguments) -> str:
        path = arguments["path"]
        before = self._files.read(path).decode("utf-8").replace("\r\n", "\n")
        if len(before) * len(arguments["edits"]) > _MOST_SEARCHED:
            raise ValueError("too many edits at once for a file of this size")
        after = before
        for edit in arguments["edits"]:
            old, new = edit["oldText"].replace("\r\n", "\n"), edit["newText"].replace("\r\n", "\n")
            if old not in after:
                raise ValueError(f"Could not find exact match for edit:\n{old}")
            after = after.replace(old, new, 1)
        if not arguments.get("dryRun"):
            self._files.write(path, after.encode())
        return "```diff\n" + _diff(before.splitlines(keepends=True), after.splitlines(keepends=True), path) + "```\n\n"

    def _create_directory(self, arguments: Arguments) -> str:
        with self._files.directory(arguments["path"], make=True):
            return f"Successfully created directory {arguments['path']}"

    def _list_directory(self, arguments: Arguments) -> str:
        return "\n".join(f"{_mark(status)} {name}" for name, status in self._files.entries(arguments["path"]))

    def _list_directory_with_sizes(self, arguments: Arguments) -> str:
        entries = self._files.entries(arguments["path"])
        if arguments.get("sortBy") == "size":
            entries.sort(key=lambda entry: -entry[1].st_size)
        lines = [
            f"{_mark(status)} {name:<30} {'' if _is_directory(status) else _size(status.st_size):>10}"
            for name, status in entries
        ]
        plain = [status for _, status in entries if not _is_directory(status)]
        total = f"Total: {len(plain)} files, {len(entries) - len(plain)} directories"
        return "\n".join([*lines, "", total, f"Combined size: {_size(sum(status.st_size for status in plain))}"])

    def _directory_tree(self, arguments: Arguments) -> str:
        self._visited = 0
        return json.dumps(self._tree(arguments["path"], "", arguments.get("excludePatterns", [])), indent=2)

    def _visit(self, path: str, below: str) -> list[tuple[str, os.stat_result]]:
        """The entries of a directory, while there is patience left for this call."""
        if below.count("/") > MOST_LEVELS:
            raise ValueError(f"there are more than {MOST_LEVELS} levels; begin further down")
        entries = self._files.entries(path)
        self._visited += len(entries)
        if self._visited > MOST_VISITED:
            raise ValueError(f"there are more than {MOST_VISITED} entries; begin further down")
        return entries

    def _tree(self, path: str, below: str, excluded: list[str]) -> list[dict[str, Any]]:
        found = []
        for name, status in self._visit(path, below):
            relative = f"{below}{name}"
            if _matches_any(relative, excluded):
                continue
            entry: dict[str, Any] = {"name": name, "type": "directory" if _is_directory(status) else "file"}
            if _is_directory(status):
                entry["children"] = self._tree(os.path.join(path, name), f"{relative}/", excluded)
            found.append(entry)
        return found

    def _search_files(self, arguments: Arguments) -> str:
        self._visited = 0
        start = self._files.place(arguments["path"])
        found = list(self._search(start, "", arguments["pattern"], arguments.get("excludePatterns", [])))
        return "\n".join(found) or "No matches found"

    def _search(self, path: str, below: str, pattern: str, excluded: list[str]) -> list[str]:
        found = []
        for name, status in self._visit(path, below):
            relative, whole = f"{below}{name}", os.path.join(path, name)
            if _matches_any(relative, excluded):
                continue
            if _matches(relative, pattern):
                found.append(whole)
            if _is_directory(status):
                found += self._search(whole, f"{relative}/", pattern, excluded)
        return found

    def _move_file(self, arguments: Arguments) -> str:
        self._files.move(arguments["source"], arguments["destination"])
        return f"Successfully moved {arguments['source']} to {arguments['destination']}"

    def _get_file_info(self, arguments: Arguments) -> str:
        status = self._files.status(arguments["path"])
        facts = {
            "size": status.st_size,
            "created": _time(status.st_ctime),
            "modified": _time(status.st_mtime),
            "accessed": _time(status.st_atime),
            "isDirectory": str(_is_directory(status)).lower(),
            "isFile": str(stat.S_ISREG(status.st_mode)).lower(),
            "permissions": oct(stat.S_IMODE(status.st_mode))[-3:],
        }
        return "\n".join(f"{name}: {value}" for name, value in facts.items())

    def _list_allowed_directories(self, _: Arguments) -> str:
        return "Allowed directories:\n" + "\n".join(self._files.roots)

    def _delete_file(self, arguments: Arguments) -> str:
        self._files.delete(arguments["path"])
        return f"Deleted {arguments['path']}"

    def _delete_directory(self, arguments: Arguments) -> str:
        self._files.delete_directory(arguments["path"])
        return f"Deleted {arguments['path']}"


_TOOLS: Final[dict[str, Callable[[Filesystem, Arguments], str | list[dict[str, Any]]]]] = {
    "read_file": Filesystem._read_text_file,
    "read_text_file": Filesystem._read_text_file,
    "read_media_file": Filesystem._read_media_file,
    "read_multiple_files": Filesystem._read_multiple_files,
    "write_file": Filesystem._write_file,
    "edit_file": Filesystem._edit_file,
    "create_directory": Filesystem._create_directory,
    "list_directory": Filesystem._list_directory,
    "list_directory_with_sizes": Filesystem._list_directory_with_sizes,
    "directory_tree": Filesystem._directory_tree,
    "search_files": Filesystem._search_files,
    "move_file": Filesystem._move_file,
    "get_file_info": Filesystem._get_file_info,
    "list_allowed_directories": Filesystem._list_allowed_directories,
    "delete_file": Filesystem._delete_file,
    "delete_directory": Filesystem._delete_directory,
}
_WITHOUT_STRUCTURE: Final = ("delete_file", "delete_directory")


def _diff(before: list[str], after: list[str], path: str) -> str:
    """As `diff -u`. Where there is too much to compare, all that is between the first and the last change."""
    lead = _alike(before, after)
    tail = _alike(before[lead:][::-1], after[lead:][::-1])
    old, new = before[lead : len(before) - tail], after[lead : len(after) - tail]
    if len(old) * len(new) <= _MOST_COMPARED:
        return "".join(difflib.unified_diff(before, after, path, path))
    where = f"@@ -{lead + 1},{len(old)} +{lead + 1},{len(new)} @@\n"
    return "".join([f"--- {path}\n+++ {path}\n", where, *(f"-{line}" for line in old), *(f"+{line}" for line in new)])


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines are the same from the beginning."""
    both = min(len(one), len(other))
    return next((index for index in range(both) if one[index] != other[index]), both)


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


def _mark(status: os.stat_result) -> str:
    return "[DIR]" if _is_directory(status) else "[FILE]"


def _is_directory(status: os.stat_result) -> bool:
    return stat.S_ISDIR(status.st_mode)


def _size(number: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1024 or unit == "GB":
            break
        number /= 1024
    return f"{number:.0f} B" if unit == "B" else f"{number:.2f} {unit}"


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _matches(relative: str, pattern: str) -> bool:
    """Whether a path fits: `*.py` here, `**/*.py` at any depth."""
    if pattern.startswith("**/") and fnmatch.fnmatchcase(relative.rpartition("/")[2], pattern[3:]):
        return True
    return relative.count("/") == pattern.count("/") and fnmatch.fnmatchcase(relative, pattern)


def _matches_any(relative: str, patterns: list[str]) -> bool:
    return any(_matches(relative, pattern) or relative.rpartition("/")[2] == pattern for pattern in patterns)


def main(arguments: list[str]) -> int:
    """Serve the directories named on the command line."""
    if not arguments:
        sys.stderr.write("usage: python -m ironcurtain.servers.filesystem DIRECTORY...\n")
        return 2
    try:
        confined = Confined(arguments)
    except OSError as error:
        sys.stderr.write(f"{error.filename}: {error.strerror}\n")
        return 2
    serve("ironcurtain-filesystem", definitions(), Filesystem(confined).call)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
