"""`ironcurtain compile`: a constitution in plain English becomes a policy."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text

from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.item import parse
from ironcurtain.artifacts.policy import POLICY
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.cli.loading import surroundings
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import agreed, console, heading
from ironcurtain.compiler.labels import read_labels
from ironcurtain.compiler.offline import compile_offline
from ironcurtain.compiler.setup import Known, read_setup
from ironcurtain.errors import Refusal, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ironcurtain.compiler.english.compiler import Compiled, Reported

_SAYS: Final = {
    "asks": ("asks", "bold yellow"),
    "nothing": ("no tool", "yellow"),
    "rules": ("rules", "green"),
    "limits": ("limit", "green"),
    "kept": ("holds anyway", "green"),
    "background": ("no rule", "dim"),
}
_ORDER: Final = {"asks": 0, "nothing": 1}


def run(arguments: argparse.Namespace) -> int:
    """Compile a constitution for saved catalogues into a directory."""
    began = time.monotonic()
    directory = Path(arguments.out)
    known = read_setup(Path(arguments.setup)) if arguments.setup else _usual()
    labels = read_labels(Path(arguments.annotations)) if arguments.annotations else {}
    version = _last_version(directory) + 1
    if version > 1 and not agreed(f"replace the policy in {directory}", yes=arguments.yes):
        return NO
    text = read_artifact(Path(arguments.constitution)).decode()
    product = compile_offline(text, arguments.catalogue, known, labels, version)
    product.write(directory)
    verification = verify_directory(directory, surroundings())
    if arguments.json:
        print(json.dumps(_fields(product.compiled, passed=verification.passed), ensure_ascii=False))
    else:
        for line in _lines(product.compiled):
            console().print(line)
        verdict = "pass" if verification.passed else "FAIL"
        took = f"{time.monotonic() - began:.1f} s"
        console().print(f"\n{len(product.compiled.rules)} rules in {directory}, verdict: {verdict} ({took})")
    return DONE if verification.passed else NO


def _usual() -> Known:
    home = str(Path.home())
    return Known(home, f"{home}/.ironcurtain/sandbox")


def _last_version(directory: Path) -> int:
    """The version of the policy that is there."""
    if not (directory / POLICY).exists():
        return 0
    item = parse(read_artifact(directory / POLICY), POLICY)
    try:
        return item.entries()["version"].count()
    except KeyError:
        raise Refusal("artifact_malformed", f"{directory / POLICY} is no policy", "name another --out") from None


def _fields(compiled: Compiled, *, passed: bool) -> dict[str, object]:
    return {
        "verdict": "pass" if passed else "fail",
        "rules": len(compiled.rules),
        "limits": compiled.limits,
        "sentences": [
            {"text": each.sentence.text, "verdict": each.verdict, "rules": [*each.rules], "notes": [*each.notes]}
            for each in compiled.report
        ],
    }


def _lines(compiled: Compiled) -> Iterator[Text]:
    """Every sentence with what became of it; those that were not understood first."""
    if not compiled.report:
        yield Text("The constitution is empty: every call will be denied.", style="bold yellow")
    for each in sorted(compiled.report, key=lambda reported: _ORDER.get(reported.verdict, 2)):
        yield from _sentence(each)


def _sentence(each: Reported) -> Iterator[Text]:
    label, style = _SAYS[each.verdict]
    count = f"  ({len(each.rules)})" if each.rules else ""
    yield Text.assemble((f"{label:>12}  ", style), heading(visible(each.sentence.text)), (count, "dim"))
    for note in each.notes:
        yield Text(f"{'':>14}{visible(note)}", style="dim" if each.verdict == "rules" else "")
