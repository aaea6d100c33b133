"""`ironcurtain policy`: verify, lint, import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from ironcurtain.cli.loading import load, surroundings
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import console
from ironcurtain.errors import visible

if TYPE_CHECKING:
    import argparse


def verify(arguments: argparse.Namespace) -> int:
    """Run a policy's scenarios and stamp the verdict into it."""
    from ironcurtain.artifacts.verify import verify_directory  # noqa: PLC0415 - each verb loads its own
    from ironcurtain.cli.scenarios import report  # noqa: PLC0415

    verification = verify_directory(Path(arguments.directory), surroundings())
    report(verification.results, machine=arguments.json)
    if not arguments.json:
        pins = f"; {verification.pinned} tool definitions pinned" if verification.pinned else ""
        console().print(f"verdict: {'pass' if verification.passed else 'fail'}{pins}")
    return DONE if verification.passed else NO


def lint(arguments: argparse.Namespace) -> int:
    """Report rules that do nothing, or not what they seem to."""
    from ironcurtain.analysis.lint import lint_policy  # noqa: PLC0415

    findings = lint_policy(load(arguments))
    for finding in findings:
        if arguments.json:
            print(json.dumps({"kind": finding.kind, "rules": list(finding.rules), "message": finding.message}))
        else:
            console().print(Text.assemble((finding.kind, "yellow"), "  ", visible(finding.message)))
    if not arguments.json:
        console().print("nothing to report" if not findings else f"{len(findings)} findings")
    return NO if findings else DONE


def import_(arguments: argparse.Namespace) -> int:
    """Bring in files of the original project."""
    from ironcurtain.artifacts.active import active_directory  # noqa: PLC0415
    from ironcurtain.artifacts.original import import_original  # noqa: PLC0415
    from ironcurtain.cli.scenarios import report  # noqa: PLC0415

    around = surroundings()
    target = Path(arguments.out) if arguments.out else active_directory(around.home)
    imported = import_original(
        Path(arguments.directory),
        target,
        Path(arguments.sandbox),
        arguments.catalogue,
        around,
        overwrite=arguments.replace,
    )
    report(imported.verification.results, machine=False)
    for note in imported.notes:
        console().print(Text.assemble(("note", "yellow"), "  ", visible(note)))
    passed = imported.verification.passed
    console().print(f"{'imported and verified' if passed else 'imported, but it does not pass'}: {target}")
    console().print(f"next: ironcurtain {'check' if passed else 'scenarios run'} --policy {target}")
    return DONE if passed else NO
