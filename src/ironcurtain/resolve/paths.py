"""Paths: one canonical form, found by walking every component.

Rules kept here, each with the attack it stops:

1. A spelling with a second meaning is refused: `~other`, `$`, wildcards, Windows forms, URLs, invisible characters.
2. Links are followed as far as they exist, `..` applies to where the link led, and a path that the kernel would
   give up on (more than 40 links) is refused rather than believed.
3. What cannot be examined is refused, except what plainly does not exist: that is taken literally.
4. One look per component (`lstat`), one more per link (`readlink`).

The walk also notes where a mount begins and whether the file has other names, so that "inside" can mean the thing and
not only its name.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from ironcurtain.errors import Refusal, quote
from ironcurtain.model.resolved import CanonicalPath, mint_path
from ironcurtain.resolve.text import require_visible

MAX_PATH_BYTES: Final = 4096  # PATH_MAX on Linux
MAX_NAME_BYTES: Final = 255  # NAME_MAX
MAX_STEPS: Final = 16_384  # names walked for one call
MAX_LINKS: Final = 40  # where the kernel answers ELOOP

_WINDOWS_DRIVE: Final = re.compile(r"[A-Za-z]:")
_WINDOWS_NAME: Final = re.compile(
    r"(?:con|prn|aux|nul|com[1-9]|lpt[1-9])"  # devices
    r"|.*[^.][. ]+"  # a trailing dot or space, which Windows drops
    r"|[^.~]{1,6}~[0-9](?:\..{0,3})?",  # a short name that stands for a long one
    re.IGNORECASE,
)
_WILDCARD: Final = re.compile(r"[*?]|\[[!^]|[@+!]\(")
_BRACED: Final = re.compile(r"\{([^{}]*)\}")
_BRACKETED: Final = re.compile(r"\[([^\[\]]*)\]")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_LOADED_ENDINGS: Final = tuple(
    """.py .pyc .pyd .pyw .pth .so .dylib .dll .js .cjs .mjs .jsx .ts .cts .mts .tsx .node .wasm .jar .class .rb .pl
    .lua .sh .bash .zsh .fish .ps1 .bat .cmd .exe .php .gradle .toml""".split()  # noqa: SIM905 - to be read
)
_LOADED_NAMES: Final = frozenset(
    {"package.json", "node_modules", "site-packages", "makefile", "gnumakefile", "gemfile"}
    | {"rakefile", "justfile", "deno.json"}
)
"""Names of files that programs load or run by themselves from where they were started."""


class Looks(Protocol):
    """The two looks at the file system that resolution takes."""

    def lstat(self, path: str) -> os.stat_result:
        """As `os.lstat`."""

    def readlink(self, path: str) -> str:
        """As `os.readlink`."""


class SystemLooks:
    """The real file system, its names in UTF-8 whatever this process's locale is: servers read them so."""

    def lstat(self, path: str) -> os.stat_result:
        """As `os.lstat`."""
        return os.lstat(path.encode())

    def readlink(self, path: str) -> str:
        """As `os.readlink`."""
        return os.readlink(path.encode()).decode(errors="surrogateescape")  # noqa: PTH115 - bytes


class Remembered:
    """Another one's looks, each taken once: whoever asks again gets the same answer."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._seen: dict[str, os.stat_result | OSError] = {}
        self._targets: dict[str, str] = {}

    def lstat(self, path: str) -> os.stat_result:
        """As `os.lstat`."""
        seen = self._seen.get(path)
        if seen is None:
            try:
                seen = self._looks.lstat(path)
            except OSError as error:
                seen = error
            self._seen[path] = seen
        if isinstance(seen, OSError):
            raise seen
        return seen

    def readlink(self, path: str) -> str:
        """As `os.readlink`."""
        if path not in self._targets:
            self._targets[path] = self._looks.readlink(path)
        return self._targets[path]


@dataclass(slots=True)
class Steps:
    """How many names may still be walked; links can make a short path a long way."""

    left: int = MAX_STEPS

    def take(self) -> None:
        """Use one, or refuse to go on."""
        self.left -= 1
        if self.left < 0:
            raise Refusal("path_loop", f"more than {MAX_STEPS} steps to where the paths lead", "ask for fewer at once")


@dataclass(frozen=True, slots=True)
class PathResolver:
    """Resolves paths for one owner on one machine."""

    home: str
    looks: Looks = field(default_factory=SystemLooks)
    mounts: frozenset[str] = frozenset()
    """Mount points, for those that share a device with what is around them (bind mounts)."""

    def resolve(self, text: str, base: str | None, steps: Steps | None = None) -> CanonicalPath:
        """The canonical form of a path; relative ones start at `base`."""
        path = self._walk(self._absolute(_spelling(text), base), steps or Steps())
        _require_one_meaning(path.text)
        return path

    def follow(self, text: str, base: str | None, steps: Steps | None = None) -> CanonicalPath:
        """Where a string leads that is no path by role: any spelling, links followed."""
        return self._walk(self._absolute(text, base), steps or Steps())

    def lexical(self, text: str, base: str | None) -> str:
        """What the text names if nothing on the way is a link; for strings that are no paths by role."""
        try:
            absolute = self._absolute(text, base)
        except Refusal:
            return text
        return os.path.normpath("/" + absolute.lstrip("/"))

    def _absolute(self, text: str, base: str | None) -> str:
        if text == "~" or text.startswith("~/"):
            return self.home + text[1:]
        if text.startswith("/"):
            return text
        if text.startswith("~"):
            raise Refusal("path_spelling", f"another user's home is not known here: {quote(text)}")
        if base is None:
            raise Refusal(
                "path_relative",
                f"a relative path, and no starting point is set for this server: {quote(text)}",
                "send an absolute path, or name the server in setup.pathBase",
            )
        return f"{base}/{text}"

    def _walk(self, absolute: str, steps: Steps) -> CanonicalPath:
        walk = _Walk(self)
        pending = absolute.split("/")[::-1]
        while pending:
            steps.take()
            name = pending.pop()
            if name in ("", "."):
                continue
            if name == "..":
                walk.leave()
            elif target := walk.enter(name, pending):
                pending.extend(target.split("/")[::-1])
                if target.startswith("/"):
                    walk.restart()
        return walk.arrive()


class _Walk:
    """One walk from the root: where we are, and what was met on the way."""

    def __init__(self, resolver: PathResolver) -> None:
        self._resolver = resolver
        self._prefixes = [""]
        """The path so far, at each depth: "", "/a", "/a/b"."""
        self._devices: list[int] = []
        """The device of each directory so far."""
        self._missing_below: int | None = None
        """The depth below which nothing exists."""
        self._links = 0
        self._trail: list[str] = []
        self._at_file = False
        self._shared = False

    def leave(self) -> None:
        if self._at_file:
            raise Refusal("path_unreadable", f"{quote(self._prefixes[-1])} is a file, and nothing is above a file")
        self._shared = False
        if len(self._prefixes) > 1:
            self._prefixes.pop()
            del self._devices[len(self._prefixes) - 1 :]
        if self._missing_below is not None and len(self._prefixes) <= self._missing_below:
            self._missing_below = None

    def restart(self) -> None:
        """Begin again at the root; only ever after a link, which stands in a directory."""
        del self._prefixes[1:]
        self._devices.clear()

    def enter(self, name: str, pending: list[str]) -> str | None:
        """Go one component down; answer a link's target instead if there is one. `pending` follows, last first."""
        if len(name) * 4 > MAX_NAME_BYTES and len(name.encode()) > MAX_NAME_BYTES:
            raise Refusal("path_spelling", f"a name of more than {MAX_NAME_BYTES} bytes: {quote(name)}")
        path = f"{self._prefixes[-1]}/{name}"
        status = self._look(path) if self._missing_below is None else None
        if status is None:
            self._missing_below = self._missing_below or len(self._prefixes)
        elif stat.S_ISLNK(status.st_mode):
            self._trail.append(os.path.normpath("/".join([path, *reversed(pending)])))
            return self._follow(path)
        elif stat.S_ISDIR(status.st_mode):
            self._devices.append(status.st_dev)
        self._at_file = status is not None and not stat.S_ISDIR(status.st_mode)
        self._shared = status is not None and stat.S_ISREG(status.st_mode) and status.st_nlink > 1
        self._prefixes.append(path)
        return None

    def _look(self, path: str) -> os.stat_result | None:
        try:
            return self._resolver.looks.lstat(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise Refusal("path_unreadable", f"{quote(path)} cannot be examined: {_why(error)}") from None

    def _follow(self, path: str) -> str:
        self._links += 1
        if self._links > MAX_LINKS:
            raise Refusal("path_loop", f"more than {MAX_LINKS} links in a row, or a loop, at {quote(path)}")
        try:
            target = self._resolver.looks.readlink(path)
        except (OSError, ValueError) as error:
            raise Refusal("path_unreadable", f"the link {quote(path)} cannot be read: {_why(error)}") from None
        if not target or not _is_text(target):
            raise Refusal("path_unreadable", f"the link {quote(path)} leads to a name that is no text")
        return target

    def arrive(self) -> CanonicalPath:
        text = self._prefixes[-1] or "/"
        if len(text.encode()) > MAX_PATH_BYTES:
            raise Refusal("path_spelling", f"a path of more than {MAX_PATH_BYTES} bytes once links are followed")
        return mint_path(text, tuple(self._trail), self._crossings(), shared=self._shared)

    def _crossings(self) -> tuple[int, ...]:
        devices = self._devices
        return tuple(
            len(prefix)
            for index, prefix in enumerate(self._prefixes[1:])
            if prefix in self._resolver.mounts or (0 < index < len(devices) and devices[index] != devices[index - 1])
        )


def is_relative_name(text: str, *, written: bool) -> bool:
    """Whether a text can be the name of something in a store, wherever that begins: one plain way down.

    Refused are hidden names, dot segments in any spelling, and, where something is `written` there, names of files that
    a server may load from the directory it was started in.
    """
    try:
        plain = _spelling(text) == text
    except Refusal:
        return False
    parts = text.split("/")
    hidden = any(not part or part[0] in ".~" or len(part.encode()) > MAX_NAME_BYTES for part in parts)
    loaded = text.lower().endswith(_LOADED_ENDINGS) or not _LOADED_NAMES.isdisjoint(text.lower().split("/"))
    return plain and not (hidden or "%" in text or text.lower().startswith("file:") or (written and loaded))


def _spelling(text: str) -> str:
    """The text in NFC, if it has no second meaning."""
    if len(text) > MAX_PATH_BYTES:
        raise Refusal("path_spelling", f"a path of more than {MAX_PATH_BYTES} bytes")
    normal = unicodedata.normalize("NFC", text)
    if _SCHEME.match(normal) or normal.startswith("file:"):
        raise Refusal("path_spelling", f"a URL where a path is expected: {quote(text)}", "send the plain path")
    if _WINDOWS_DRIVE.match(normal):
        raise Refusal("path_spelling", f"a Windows spelling: {quote(text)}", "use forward slashes")
    _require_one_meaning(normal)
    return normal


def _require_one_meaning(text: str) -> None:
    """Refuse every name with a second meaning; asked of what comes in, and of what goes out."""
    require_visible(text, "path_spelling", "the path")
    if len(text.encode()) > MAX_PATH_BYTES:
        raise Refusal("path_spelling", f"a path of more than {MAX_PATH_BYTES} bytes")
    if "$" in text or "`" in text:
        raise Refusal("path_spelling", f"a path that a shell would rewrite: {quote(text)}", "write the path out")
    if "\\" in text or "::" in text:
        raise Refusal("path_spelling", f"a Windows spelling: {quote(text)}", "use forward slashes")
    if _WILDCARD.search(text) or any(_expands(braced) for braced in _BRACED.findall(text)) or _has_range(text):
        raise Refusal("path_wildcard", f"a pattern where one path is expected: {quote(text)}", "name each path")
    if any(_WINDOWS_NAME.fullmatch(name) for name in text.split("/")):
        raise Refusal("path_spelling", f"a name that means another on Windows: {quote(text)}", "use a plain name")


def _expands(braced: str) -> bool:
    return "," in braced or ".." in braced


def _has_range(text: str) -> bool:
    return any("-" in inside[1:-1] for inside in _BRACKETED.findall(text))


def _is_text(name: str) -> bool:
    """Whether a name on disk is UTF-8; the others come with surrogates in them and cannot be forwarded."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _why(error: Exception) -> str:
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else "not a valid name"


def system_mounts(table: str = "/proc/self/mountinfo") -> frozenset[str]:
    """The mount points of this process; none where the system does not tell."""
    try:
        with Path(table).open(encoding="utf-8", errors="surrogateescape") as lines:
            points = [line.split(" ")[4] for line in lines]
    except (OSError, IndexError):
        return frozenset()
    return frozenset(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), point) for point in points)
