"""Which package a command fetches when it is started, and whether it says which version of it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class _Runner:
    """A program that fetches a package and runs it."""

    verbs: tuple[tuple[str, ...], ...] = ((),)
    """The words between its name and the package."""
    instead: tuple[str, ...] = ()
    """Options that name the package; the word that follows only says which of its programs runs."""
    besides: tuple[str, ...] = ()
    """Options that name one more."""
    valued: tuple[str, ...] = ()
    """Options that are followed by a value."""
    switches: re.Pattern[str] | None = None
    """Where there are too many of those: the options that are not."""


_UV: Final = ("-p", "--python", "--directory", "--index-url", "--index")
_SWITCHES: Final = re.compile(
    r"-[ditPq]+|--(?:rm|init|privileged|interactive|tty|detach|read-only|quiet|no-healthcheck|publish-all)"
)
_CONTAINERS: Final = _Runner((("run",), ("container", "run")), switches=_SWITCHES)
_RUNNERS: Final = {
    "npx": _Runner(instead=("-p", "--package"), valued=("-c", "--call", "-w", "--workspace", "--cache", "--registry")),
    "bunx": _Runner(instead=("-p", "--package")),
    "pnpx": _Runner(instead=("--package",)),
    "npm": _Runner((("exec",), ("x",)), ("--package",), valued=("-c", "--call", "-w", "--workspace", "--prefix")),
    "pnpm": _Runner((("dlx",), ("exec",)), ("--package",), valued=("--dir", "-C")),
    "yarn": _Runner((("dlx",),), ("-p", "--package")),
    "bun": _Runner((("x",),), ("-p", "--package")),
    "uvx": _Runner(instead=("--from",), besides=("--with",), valued=_UV),
    "uv": _Runner((("tool", "run"), ("x",)), ("--from",), ("--with",), _UV),
    "pipx": _Runner((("run",),), ("--spec",), valued=("--python", "--index-url", "--pip-args")),
    "docker": _CONTAINERS,
    "podman": _CONTAINERS,
    "deno": _Runner((("run",),), valued=("-c", "--config")),
}
_SOURCE: Final = re.compile(r"(?:git\+|https?:|github:|gitlab:|bitbucket:|git@|ssh:).*|[\w-][\w.-]*/[\w.-]+")
_COMMIT: Final = re.compile(r"[#@][0-9a-f]{40}$")
_EXACT: Final = re.compile(r".(?:@|==)v?\d+(?:\.\d+)+(?:[-+.]?[\w.-]+)?$")
_EXACT_NPM: Final = re.compile(r".@v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$")
_IMAGE: Final = re.compile(r"@sha256:[0-9a-f]{64}$|:(?!\d+/)(?=[^/]*\d)(?i:(?!latest|edge|nightly))[\w][\w.-]*$")


def unpinned(command: Sequence[str]) -> str | None:
    """The first package that is fetched in whatever version there is when the command runs, if there is one."""
    words = _without_wrappers(list(command))
    runner = words[0].rsplit("/", 1)[-1].removesuffix(".exe").removesuffix(".cmd") if words else ""
    if runner not in _RUNNERS:
        return None
    verbs = _RUNNERS[runner].verbs
    rest = words[1:]
    while verbs != ((),) and rest and rest[0].startswith("-"):  # options of its own before the verb
        rest = rest[2:] if rest[0] in ("--context", "-c", "--host", "-H", "--prefix", "--directory") else rest[1:]
    verb = next((verb for verb in verbs if tuple(rest[: len(verb)]) == verb), None)
    if verb is None:
        return None
    found = _packages(rest[len(verb) :], _RUNNERS[runner])
    return next((package for package in found if not _is_exact(runner, package)), None)


def _without_wrappers(words: list[str]) -> list[str]:
    """The command behind `env`, `sh -c` and the like."""
    while words:
        name = words[0].rsplit("/", 1)[-1]
        if name in ("env", "sudo", "nice", "nohup", "timeout", "exec", "time"):
            words = _behind(words[1:], name)
        elif (
            name in ("sh", "bash", "zsh", "dash")
            and words[1:]
            and re.fullmatch(r"-[a-z]*c", words[1])
            and len(words) > 2
        ):
            try:
                words = shlex.split(re.split(r"&&|;|\|\|", words[2])[-1])
            except ValueError:
                return []
        else:
            break
    return words


def _behind(words: list[str], wrapper: str) -> list[str]:
    """What a wrapper runs: its own options, their values and assignments left out."""
    while words and (words[0].startswith("-") or (wrapper in ("env", "sudo") and "=" in words[0])):
        words = words[2:] if words[0] in ("-u", "-n", "-k", "-s", "-C", "--signal", "--kill-after") else words[1:]
    return words[1:] if wrapper == "timeout" else words


def _packages(words: list[str], runner: _Runner) -> list[str]:
    """All that is fetched."""
    instead: list[str] = []
    besides: list[str] = []
    position = 0
    while position < len(words) and words[position].startswith("-"):
        option, _, value = words[position].partition("=")
        following = "".join(words[position + 1 : position + 2])
        if option in (*runner.instead, *runner.besides):
            (instead if option in runner.instead else besides).append(value or following)
        elif option not in runner.valued and (runner.switches is None or runner.switches.fullmatch(option)):
            following = ""
        position += 2 if following and not value else 1
    return [*(instead or words[position : position + 1]), *besides]


def _is_exact(runner: str, package: str) -> bool:
    if runner in ("docker", "podman"):
        return _IMAGE.search(package) is not None
    if _SOURCE.fullmatch(package):
        return _COMMIT.search(package) is not None
    if runner == "deno" and not package.startswith(("npm:", "jsr:")):
        return True  # a file
    exact = _EXACT if runner in ("uvx", "uv", "pipx") else _EXACT_NPM
    return package.startswith((".", "/", "~")) or exact.search(package) is not None
