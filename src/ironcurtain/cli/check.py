"""`ironcurtain check`: the conformance door. JSON lines in, decisions out, one for one, whatever comes."""

from __future__ import annotations

import io
import json
import sys
import time
from typing import TYPE_CHECKING, BinaryIO

from ironcurtain.cli.folding import say
from ironcurtain.cli.loading import load
from ironcurtain.cli.main import BAD, DONE
from ironcurtain.errors import ArtifactError, visible
from ironcurtain.mediation.decide import decide_bytes
from ironcurtain.model.decision import Decision, Outcome, Stage
from ironcurtain.wire.limits import MESSAGE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.model.call import Json


def run(arguments: argparse.Namespace) -> int:
    """Decide every line of standard input."""
    try:
        loaded = load(arguments)
    except ArtifactError as error:
        say(f"ironcurtain: {error}\n  help: {visible(error.help)}", error=True)
        refused = Decision(Outcome.DENY, Stage.LOAD, error.code, str(error), help=error.help)
        for _ in lines(stdin()):
            _write(refused)
        return BAD
    for line in lines(stdin()):
        _write(_decide(line, loaded))
    return DONE


def _decide(line: bytes, loaded: Loaded) -> Decision:
    try:
        return decide_bytes(line, loaded, time.time()).decision
    except Exception as error:  # noqa: BLE001 - the outer loop: whatever happened, this call is denied and the run goes on
        return Decision(
            Outcome.DENY,
            Stage.VALIDATE,
            "internal_error",
            f"unforeseen: {type(error).__name__}",
            help="please report it",
        )


def stdin() -> BinaryIO:
    """Standard input as bytes; an empty one where it is closed."""
    return sys.stdin.buffer if sys.stdin is not None else io.BytesIO()


def lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream. Of one that is too long only as much is kept as shows it."""
    while line := stream.readline(MESSAGE.size + 2):
        yield line.removesuffix(b"\n")
        while not line.endswith(b"\n") and (line := stream.readline(MESSAGE.size)):
            pass


def as_json(decision: Decision) -> dict[str, Json]:
    """A decision as `docs/formats.md` has it."""
    shown: dict[str, Json] = {
        "decision": decision.outcome.word,
        "stage": decision.stage.value,
        "code": decision.code,
        "rule": decision.rule,
        "reason": decision.reason,
        "roles": list(decision.roles),
    }
    if decision.outcome is not Outcome.ALLOW:
        shown["help"] = decision.help or "run: ironcurtain explain, with this call"
    return shown


def _write(decision: Decision) -> None:
    sys.stdout.write(json.dumps(as_json(decision)) + "\n")
    sys.stdout.flush()
