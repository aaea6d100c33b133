"""The entry point: parses the command line and hands over. Nothing slow is imported here."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Final

from ironcurtain.cli.commands import parser

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE: Final = 0
NO: Final = 1
BAD: Final = 2
INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the answer is the exit code."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - for the rest of the process
    if sys.stdin is not None and sys.stdin.isatty():  # who sits there can interrupt, however we were started
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = _run(argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return DONE
    except OSError as error:
        _forget_output()
        print(f"ironcurtain: the answer could not be written: {error.strerror}", file=sys.stderr)
        return BAD
    return code


def _run(argv: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    end = words.index("--") if "--" in words else len(words)
    try:
        arguments = parser().parse_args(words[:end])
        if words[end + 1 :]:  # another program's command line: none of it is ours to read
            if not hasattr(arguments, "command"):
                parser().error("nothing is expected behind --")
            arguments.command = words[end + 1 :]
    except SystemExit as end:  # --help, --version, or a usage error that has been said
        return int(end.code or DONE)
    from ironcurtain.cli.folding import say  # noqa: PLC0415 - not needed for --help
    from ironcurtain.errors import ArtifactError, Refusal, visible  # noqa: PLC0415 - likewise

    module, _, function = arguments.run.partition(":")
    try:
        return int(getattr(importlib.import_module(f"ironcurtain.cli.{module}"), function)(arguments))
    except (ArtifactError, Refusal) as error:
        say(f"ironcurtain: {error}", error=True)
        if error.help:
            say(f"  help: {visible(error.help)}", error=True)
        return BAD


def _forget_output() -> None:
    """Nobody reads it any more; let nothing complain about that at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
