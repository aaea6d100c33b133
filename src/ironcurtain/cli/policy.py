"""`ironcurtain policy`: verify, show, lint, import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from ironcurtain.cli.loading import load, sentences_behind, surroundings
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import console, heading
from ironcurtain.errors import visible

if TYPE_CHECKING:
    import argparse

    from ironcurtain.artifacts.policy import Surroundings


def verify(arguments: argparse.Namespace) -> int:
    """Run a policy's scenarios, ask the analysis, and stamp the verdict into it."""
    from ironcurtain.artifacts.verify import verify_directory  # noqa: PLC0415 - each verb loads its own
    from ironcurtain.cli.scenarios import report  # noqa: PLC0415

    directory, around = Path(arguments.directory), surroundings()
    if arguments.derive:
        _derive(directory, around)
    verification = verify_directory(directory, around, _objections(directory, around))
    report(verification.results, machine=arguments.json)
    for objection in verification.objections if not arguments.json else ():
        console().print(Text.assemble(("FAIL", "bold red"), "  ", visible(objection)))
    if not arguments.json:
        if any(result.scenario.derived for result in verification.failed):
            console().print("if you meant to change what was compiled: ironcurtain policy verify --derive")
        pins = f"; {verification.pinned} tool definitions pinned" if verification.pinned else ""
        console().print(f"verdict: {'pass' if verification.passed else 'fail'}{pins}")
    return DONE if verification.passed else NO


def _derive(directory: Path, around: Surroundings) -> None:
    """Write the derived scenarios anew; those that were written by hand stay."""
    from ironcurtain.artifacts.files import write_artifact  # noqa: PLC0415
    from ironcurtain.artifacts.policy import SCENARIOS, build, read_bundle  # noqa: PLC0415
    from ironcurtain.artifacts.verify import pinned  # noqa: PLC0415
    from ironcurtain.compiler.scenarios import derive_scenarios  # noqa: PLC0415

    bundle, _ = pinned(read_bundle(directory))
    before: Any = bundle.items[SCENARIOS].value if SCENARIOS in bundle.items else {"scenarios": []}
    written = [each for each in before["scenarios"] if each["source"] == "handwritten"]
    scenarios = {"version": 1, "scenarios": [*written, *derive_scenarios(build(bundle, around))]}
    write_artifact(directory / SCENARIOS, (json.dumps(scenarios, indent=1, ensure_ascii=False) + "\n").encode())


def _objections(directory: Path, around: Surroundings) -> tuple[str, ...]:
    """What the analysis has against a policy. A permission that the owner wrote by hand needs no sentence."""
    from ironcurtain.analysis.prove import FATAL, Proof, Prover  # noqa: PLC0415
    from ironcurtain.artifacts.policy import build, read_bundle  # noqa: PLC0415
    from ironcurtain.artifacts.verify import pinned  # noqa: PLC0415

    loaded = build(pinned(read_bundle(directory))[0], around)
    wanted = [name for name in FATAL if name != "granted"]
    violated = [
        each for each in Prover(loaded, around.now).statements() if each.name in wanted and each.proof is Proof.VIOLATED
    ]
    return tuple(breach.message for each in violated for breach in each.breaches)


def show(arguments: argparse.Namespace) -> int:
    """Every sentence with its rules beside it."""
    from ironcurtain.analysis.words import rule_in_words  # noqa: PLC0415
    from ironcurtain.artifacts.active import active_directory  # noqa: PLC0415
    from ironcurtain.artifacts.policy import POLICY, read_bundle  # noqa: PLC0415

    directory = Path(arguments.directory) if arguments.directory else active_directory(surroundings().home)
    policy: Any = read_bundle(directory).items[POLICY].value
    by_sentence: dict[str, list[dict[str, Any]]] = {}
    for sentence in sentences_behind(arguments.constitution, policy.get("constitutionHash")) or ():
        by_sentence[sentence] = []
    for rule in policy["rules"]:
        by_sentence.setdefault(rule.get("principle", ""), []).append(rule)
    for sentence, rules in by_sentence.items():
        words = [{"name": rule["name"], "then": rule["then"], "says": rule_in_words(rule)} for rule in rules]
        if arguments.json:
            print(json.dumps({"sentence": sentence, "rules": words}, ensure_ascii=False))
            continue
        console().print(heading(visible(sentence or "(rules that stand on no sentence)")))
        for word in words:
            style = {"allow": "green", "deny": "red"}.get(word["then"], "yellow")
            console().print(
                Text.assemble("   ", (visible(word["says"]), style), (f"   {visible(word['name'])}", "dim"))
            )
        if not words:
            console().print(Text("   no rule", style="dim"))
    return DONE


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
