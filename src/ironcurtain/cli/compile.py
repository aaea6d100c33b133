"""`ironcurtain compile`: a constitution in plain English becomes a policy."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from ironcurtain.analysis.diff import Difference, diff_policies
from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.artifacts.item import parse
from ironcurtain.artifacts.policy import ANNOTATIONS, LISTS, POLICY, build, read_bundle
from ironcurtain.artifacts.servers import read_servers
from ironcurtain.cli.analysis import difference_fields, difference_lines
from ironcurtain.cli.client import tell_to_look
from ironcurtain.cli.folding import say
from ironcurtain.cli.loading import surroundings
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import agreed, console, heading, verdict
from ironcurtain.compiler.at_home import constitution_text, prepare, publish
from ironcurtain.compiler.cache import Cache
from ironcurtain.compiler.labels import read_labels
from ironcurtain.compiler.llm.asking import Model, Unanswered
from ironcurtain.compiler.offline import compile_offline
from ironcurtain.compiler.setup import Known, read_setup
from ironcurtain.compiler.stages import Stages, Wanted
from ironcurtain.errors import Refusal, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ironcurtain.artifacts.policy import Surroundings
    from ironcurtain.compiler.at_home import SecondOpinion
    from ironcurtain.compiler.english.compiler import Compiled, Reported
    from ironcurtain.compiler.product import Product
    from ironcurtain.compiler.stages import Made, Step

_SAYS: Final = {
    "asks": ("asks", "bold yellow"),
    "nothing": ("no tool", "yellow"),
    "rules": ("rules", "green"),
    "limits": ("limit", "green"),
    "kept": ("holds anyway", "green"),
    "background": ("no rule", "dim"),
    "covered": ("covered", "yellow"),
}
_ORDER: Final = {"asks": 0, "covered": 1, "nothing": 2}
_SHOWN: Final = 5


def run(arguments: argparse.Namespace) -> int:
    """Compile the home's constitution, or with --out any constitution for saved catalogues."""
    home = Home(default_home())
    there = home.root.is_dir()
    model = Model(arguments.model, home.root / "llm-interactions.jsonl" if there else None) if arguments.model else None
    stages = Stages(Cache(home.cache if there else None), _quiet if arguments.json else _tell, model)
    return _at_home(arguments, home, stages) if arguments.out is None else _offline(arguments, stages)


def _offline(arguments: argparse.Namespace, stages: Stages) -> int:
    if not arguments.catalogue or not arguments.constitution:
        raise Refusal("usage", "--out is for saved catalogues", "add --constitution FILE and --catalogue NAME=FILE")
    directory = Path(arguments.out)
    around = surroundings()
    version = _last_version(directory) + 1
    known = read_setup(Path(arguments.setup)) if arguments.setup else _usual()
    labels = read_labels(Path(arguments.annotations)) if arguments.annotations else {}
    text = constitution_text(Path(arguments.constitution))
    product = compile_offline(text, arguments.catalogue, known, labels, version, stages)
    with TemporaryDirectory(dir=_beside(directory)) as name:
        product = _opinion(arguments, stages, around)(product, known, Path(name))
        made = stages.finish(product, Path(name), around, lists=directory / LISTS)
        difference = _difference(directory, made, around) if version > 1 else None
        _show(made, difference, machine=arguments.json)
        if difference is not None and not made.verification.passed:
            failed = directory.with_name(f"{directory.name}.failed")
            made.install(failed)
            print(f"{directory} stays as it is; what was made lies in {failed}", file=sys.stderr)
            return NO
        if difference is not None and not agreed(_what(directory, difference), yes=arguments.yes):
            return NO
        made.install(directory)
    if not arguments.json:
        console().print(f"{len(made.product.compiled.rules)} rules in {directory}")
    return DONE if made.verification.passed else NO


def _at_home(arguments: argparse.Namespace, home: Home, stages: Stages) -> int:
    for option in ("catalogue", "setup", "annotations"):
        if getattr(arguments, option):
            raise Refusal("usage", f"--{option} is for saved catalogues", "add --out DIR")
    _require_tools(home, arguments.skip)
    around = surroundings()
    constitution = Path(arguments.constitution or home.constitution)
    made = prepare(home, constitution, around, stages, second=_opinion(arguments, stages, around))
    difference = _difference(home.policy, made, around)
    _show(made, difference, machine=arguments.json)
    if not made.verification.passed:
        if not arguments.json:
            console().print(f"the policy in force stays; what was made lies in {made.directory}")
        return NO
    if not agreed(_what(home.policy, difference), yes=arguments.yes):
        return NO
    publish(made, home)
    tell_to_look(home)
    if not arguments.json:
        console().print(f"in force: {home.policy}")
    return DONE


def _require_tools(home: Home, skipped: list[str]) -> None:
    """A server that the constitution cannot speak of is named, and left out only if the owner says so."""
    annotations: Any = read_bundle(home.policy).items[ANNOTATIONS].value
    silent = sorted(read_servers(home)[0].keys() - annotations["servers"].keys() - set(skipped))
    if silent:
        raise Refusal(
            "server_without_tools",
            f"no tool of {', '.join(silent)} is approved: it did not start, or nobody has looked at it",
            f"run: ironcurtain servers review {silent[0]}, or add --skip {silent[0]}",
        )


def _opinion(arguments: argparse.Namespace, stages: Stages, around: Surroundings) -> SecondOpinion:
    """Asks the model that was named, if one was; whatever it does, the built-in reading and tests stand."""

    def questioned(product: Product, known: Known, directory: Path, wanted: Wanted) -> Product:
        try:
            product, notes = stages.question(product, directory, around, known, wanted)
        except Unanswered as refusal:
            say(f"no scenarios by a model: {visible(refusal.reason)}; {refusal.help}", error=True)
            return product
        for note in () if arguments.json else notes:
            console().print(Text(f"{'':>12}  {visible(note)}", style="dim"))
        return product

    def second(product: Product, known: Known, directory: Path) -> Product:
        if stages.model is None:
            return product
        wanted = Wanted(stages.model, arguments.opinion)
        try:
            product, difference = stages.second(product, directory, around, known, wanted)
        except Unanswered as refusal:
            say(f"no second opinion: {visible(refusal.reason)}; {refusal.help}", error=True)
            return product
        if not arguments.json:
            console().print(heading(f"\nwhere {arguments.model} reads it otherwise than the built-in compiler:"))
            for line in difference_lines(difference):
                console().print(line)
            if not difference.equal:
                holds = {"both": "the stricter of the two holds; --opinion model or --opinion built-in takes one"}
                console().print(holds.get(arguments.opinion, f"the {arguments.opinion} reading holds"))
        return questioned(product, known, directory, wanted)

    return second


def recompile(home: Home, *, yes: bool, lists: dict[str, Any] | None = None) -> int:
    """Compile the home's constitution for tools or lists as they are now, and say what changes."""
    print(f"compiling your constitution for the {'lists' if lists else 'tools'} as they are now")
    around = surroundings()
    made = prepare(home, home.constitution, around, Stages(Cache(home.cache), _quiet), lists)
    difference = _difference(home.policy, made, around)
    unclear = [each for each in made.product.compiled.report if each.verdict in ("asks", "covered")]
    for line in (line for each in unclear for line in _sentence(each)):
        console().print(line)
    for line in (*_findings(made), *difference_lines(difference)):
        console().print(line)
    if not made.verification.passed:
        print(f"the policy in force stays; see: ironcurtain compile, and {made.directory}")
        return NO
    if not agreed(_what(home.policy, difference), yes=yes):
        print("the policy in force stays; to look again: ironcurtain compile")
        return NO
    publish(made, home)
    tell_to_look(home)
    print("in force")
    return DONE


def _difference(directory: Path, made: Made, around: Surroundings) -> Difference:
    old, new = read_bundle(directory), read_bundle(made.directory)
    if old.meaning == new.meaning:
        return Difference()
    return diff_policies(build(old, around), build(new, around), around.now)


def _what(directory: Path, difference: Difference) -> str:
    return f"put this policy in force, which {'WIDENS' if difference.widens else 'does not widen'} {directory}"


def _beside(directory: Path) -> Path:
    directory.parent.mkdir(parents=True, exist_ok=True)
    return directory.parent


def _quiet(_: Step) -> None:
    return


def _tell(step: Step) -> None:
    how = "  (remembered)" if step.remembered else ""
    line = f"{step.name:>10}  {visible(step.says)}  {step.seconds:.2f} s{how}"
    console().print(Text(line, style="dim"))


def _show(made: Made, difference: Difference | None, *, machine: bool) -> None:
    if machine:
        print(json.dumps(_fields(made, difference), ensure_ascii=False))
        return
    console().print("")
    for line in _lines(made.product.compiled):
        console().print(line)
    console().print("")
    for line in _findings(made):
        console().print(line)
    if difference is not None:
        console().print(heading("against the policy that is there:"))
        for line in difference_lines(difference):
            console().print(line)


def _findings(made: Made) -> Iterator[Text]:
    """What was proven, what was not, and what speaks against the policy."""
    proven = [each["says"] for each in made.statements if each["proof"] == "proven"]
    if proven:
        yield Text.assemble((f"{'proven':>12}  ", "green"), " ".join(proven))
    for each in made.unproven:
        yield Text.assemble((f"{each['proof']:>12}  ", "bold yellow"), visible(each["says"]))
        for message in (
            [each["argument"]] if not each["breaches"] else [b["message"] for b in each["breaches"][:_SHOWN]]
        ):
            yield Text(f"{'':>14}{visible(message)}")
    for message in made.contradictions:
        yield Text.assemble((f"{'your scenario':>12}  ", "bold red"), visible(message))
    for result in made.verification.failed[:_SHOWN]:
        decided = f"{result.scenario.description}: {result.decision.outcome.word}, not {result.scenario.expected.word}"
        yield Text.assemble((f"{'FAIL':>12}  ", "bold red"), visible(decided))
    for objection in made.verification.objections:
        yield Text.assemble((f"{'FAIL':>12}  ", "bold red"), visible(objection))
    yield Text.assemble(f"{'verdict':>12}  ", verdict(passed=made.verification.passed))


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


def _fields(made: Made, difference: Difference | None) -> dict[str, object]:
    compiled = made.product.compiled
    return {
        "verdict": "pass" if made.verification.passed else "fail",
        "rules": len(compiled.rules),
        "limits": compiled.limits,
        "sentences": [
            {"text": each.sentence.text, "verdict": each.verdict, "rules": [*each.rules], "notes": [*each.notes]}
            for each in compiled.report
        ],
        "scenarios": len(made.verification.results),
        "failed": [result.scenario.description for result in made.verification.failed],
        "objections": [*made.verification.objections],
        "contradictions": [*made.contradictions],
        "statements": [*made.statements],
        **({"difference": difference_fields(difference)} if difference is not None else {}),
    }


def _lines(compiled: Compiled) -> Iterator[Text]:
    """Every sentence with what became of it; those that were not understood first."""
    if not compiled.report:
        yield Text("The constitution is empty: every call will be denied.", style="bold yellow")
    for each in sorted(compiled.report, key=lambda reported: _ORDER.get(reported.verdict, 3)):
        yield from _sentence(each)


def _sentence(each: Reported) -> Iterator[Text]:
    label, style = _SAYS[each.verdict]
    count = f"  ({len(each.rules)})" if each.rules else ""
    yield Text.assemble((f"{label:>12}  ", style), heading(visible(each.sentence.text)), (count, "dim"))
    for note in each.notes:
        yield Text(f"{'':>14}{visible(note)}", style="dim" if each.verdict == "rules" else "")
