"""`ironcurtain compile`: a constitution in plain English becomes a policy."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text

from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.artifacts.item import parse
from ironcurtain.artifacts.policy import POLICY
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.cli.loading import surroundings
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import agreed, console, heading
from ironcurtain.compiler.at_home import prepare
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
    """Compile the home's constitution, or with --out any constitution for saved catalogues."""
    if arguments.out is None:
        return _at_home(arguments)
    if not arguments.catalogue or not arguments.constitution:
        raise Refusal("usage", "--out is for saved catalogues", "add --constitution FILE and --catalogue NAME=FILE")
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
    passed = verify_directory(directory, surroundings()).passed
    _show(product.compiled, directory, time.monotonic() - began, passed=passed, machine=arguments.json)
    return DONE if passed else NO


def _at_home(arguments: argparse.Namespace) -> int:
    for option in ("catalogue", "setup", "annotations"):
        if getattr(arguments, option):
            raise Refusal("usage", f"--{option} is for saved catalogues", "add --out DIR")
    began = time.monotonic()
    home = Home(default_home())
    around = surroundings()
    prepared = prepare(home, Path(arguments.constitution or home.constitution), around)
    passed = prepared.verification.passed
    took = time.monotonic() - began
    _show(prepared.product.compiled, prepared.directory, took, passed=passed, machine=arguments.json)
    if not passed:
        return NO
    if not agreed("put this policy in force", yes=arguments.yes):
        return NO
    prepared.publish(home, around)
    if not arguments.json:
        console().print(f"in force: {home.policy}")
    return DONE


def _show(compiled: Compiled, directory: Path, seconds: float, *, passed: bool, machine: bool) -> None:
    if machine:
        print(json.dumps(_fields(compiled, passed=passed), ensure_ascii=False))
        return
    for line in _lines(compiled):
        console().print(line)
    verdict = "pass" if passed else "FAIL"
    console().print(f"\n{len(compiled.rules)} rules in {directory}, verdict: {verdict} ({seconds:.1f} s)")


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
