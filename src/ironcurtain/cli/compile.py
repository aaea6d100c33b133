"""`ironcurtain compile`: a constitution becomes statements the owner agrees to, and statements become a policy."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
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
from ironcurtain.cli.agreeing import Terminal
from ironcurtain.cli.analysis import difference_fields, difference_lines
from ironcurtain.cli.by_hand import ByHand
from ironcurtain.cli.client import tell_to_look
from ironcurtain.cli.loading import surroundings
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.reporting import findings, report_fields, report_lines
from ironcurtain.cli.show import agreed, console, heading
from ironcurtain.compiler.at_home import constitution_text, prepare, publish
from ironcurtain.compiler.cache import Cache
from ironcurtain.compiler.labels import read_labels
from ironcurtain.compiler.llm.asking import Model
from ironcurtain.compiler.making import Making, kept
from ironcurtain.compiler.offline import annotated_offline
from ironcurtain.compiler.readers.reading import State
from ironcurtain.compiler.readers.store import read_readings
from ironcurtain.compiler.setup import Known, read_setup
from ironcurtain.compiler.stages import Stages
from ironcurtain.compiler.waivers import WAIVERS, read_waivers
from ironcurtain.errors import Refusal, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ironcurtain.artifacts.policy import Surroundings
    from ironcurtain.compiler.making import Consult
    from ironcurtain.compiler.stages import Made, Step

UNREAD: Final = 3  # the exit code where a sentence was not understood
_FEW: Final = 40  # characters of an answer between two signs of progress


def run(arguments: argparse.Namespace) -> int:
    """Compile the home's constitution, or with --out any constitution for saved catalogues."""
    home = Home(default_home())
    there = home.root.is_dir()
    model = Model(arguments.model, home.root / "llm-interactions.jsonl" if there else None) if arguments.model else None
    stages = Stages(
        Cache(home.cache if there else None),
        _quiet if arguments.json else _tell,
        model,
        tests=arguments.tests,
        again=arguments.again,
        twice=not arguments.once,
        progress=_Progress().show if sys.stderr.isatty() and not arguments.json else lambda _: None,
    )
    if not (arguments.by_hand or arguments.answer):
        return _at_home(arguments, home, stages) if arguments.out is None else _offline(arguments, stages)
    where = home.root if there else Path.cwd()
    by_hand = ByHand(where / "question-for-a-model.md", [Path(a) for a in arguments.answer])
    stages = replace(stages, speaker=by_hand)
    code = _at_home(arguments, home, stages) if arguments.out is None else _offline(arguments, stages)
    by_hand.close()
    return code


def _offline(arguments: argparse.Namespace, stages: Stages) -> int:
    if not arguments.catalogue or not (arguments.constitution or arguments.check):
        raise Refusal("usage", "--out is for saved catalogues", "add --constitution FILE and --catalogue NAME=FILE")
    directory = Path(arguments.out)
    around = surroundings()
    version = _last_version(directory) + 1
    known = read_setup(Path(arguments.setup)) if arguments.setup else _usual()
    labels = read_labels(Path(arguments.annotations)) if arguments.annotations else {}
    text = constitution_text(Path(arguments.constitution or arguments.check))
    readings = Path(arguments.readings) if arguments.readings else None
    consult = _consult(arguments)
    if readings is not None:  # the answers lie beside
        waivers = read_waivers(readings.with_name(WAIVERS))
        stages = replace(stages, waivers=waivers, ask_owner=consult.waive if consult is not None else None)
    servers = annotated_offline(arguments.catalogue, labels, stages)
    if readings is not None and stages.waivers.changed:
        stages.waivers.write(readings.with_name(WAIVERS))
    with TemporaryDirectory(dir=_beside(directory)) as name:
        agreed_to = read_readings(readings) if readings else read_readings(Path(name) / "none")
        agreed_to = agreed_to.to_answer_again() if stages.again else agreed_to
        making = Making(stages, servers, known, agreed_to, Path(name), around, version)
        product = making.product(text, consult)
        made = stages.finish(product, Path(name), around, lists=directory / LISTS)
        difference = _difference(directory, made, around) if version > 1 else None
        _show(made, difference, directory if version > 1 else None, machine=arguments.json)
        if arguments.check:
            return _code(made)
        if difference is not None and not made.verification.passed:
            failed = directory.with_name(f"{directory.name}.failed")
            made.install(failed)
            print(f"{directory} stays as it is; what was made lies in {failed}", file=sys.stderr)
            return NO
        if difference is not None and not agreed(_what(directory, difference), yes=arguments.yes):
            return NO
        made.install(directory)
        if readings is not None and not arguments.yes:
            kept(made.product).write(readings)
    if not arguments.json:
        console().print(f"{len(made.product.rules)} rules in {directory}")
    return _code(made)


def _at_home(arguments: argparse.Namespace, home: Home, stages: Stages) -> int:
    for option in ("catalogue", "setup", "annotations", "readings"):
        if getattr(arguments, option):
            raise Refusal("usage", f"--{option} is for saved catalogues", "add --out DIR")
    if not home.policy.is_dir():
        how = "run: ironcurtain init, or ironcurtain adopt; for saved catalogues: --out DIR --catalogue NAME=FILE"
        raise Refusal("home_missing", f"there is no policy in {home.root}", how)
    _require_tools(home, arguments.skip)
    around = surroundings()
    constitution = Path(arguments.check or arguments.constitution or home.constitution)
    made = prepare(home, constitution, around, stages, consult=_consult(arguments, home))
    difference = _difference(home.policy, made, around)
    _show(made, difference, home.policy, machine=arguments.json)
    if arguments.check:
        return _code(made)
    if not made.verification.passed:
        if not arguments.json:
            console().print(f"the policy in force stays; what was made lies in {made.directory}")
        return NO
    if not agreed(_what(home.policy, difference), yes=arguments.yes):
        return NO
    publish(made, home, agreed=not arguments.yes)
    tell_to_look(home)
    if not arguments.json:
        console().print(f"in force: {home.policy}")
    return _code(made)


def _consult(arguments: argparse.Namespace, home: Home | None = None) -> Consult | None:
    """Whoever can be asked: the owner at the terminal, unless they said yes to everything or a machine listens."""
    there = sys.stdin.isatty() and sys.stdout.isatty()
    wanted = there and not (arguments.yes or arguments.json or arguments.check)
    if not wanted:
        return None
    return Terminal(home.config, home.drafts) if home is not None else Terminal()


def _code(made: Made) -> int:
    if not made.verification.passed:
        return NO
    unread = any(each.reading.state is State.UNREAD or _problem(each) for each in made.product.report)
    return UNREAD if unread else DONE


def _problem(reported: Any) -> bool:  # noqa: ANN401 - a Reported
    return any(told.meaning.problem for told in reported.told)


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


def recompile(home: Home, *, yes: bool, lists: dict[str, Any] | None = None) -> int:
    """Compile the home's constitution for tools or lists as they are now, and say what changes."""
    print(f"compiling your constitution for the {'lists' if lists else 'tools'} as they are now")
    around = surroundings()
    made = prepare(home, home.constitution, around, Stages(Cache(home.cache), _quiet), lists)
    difference = _difference(home.policy, made, around)
    for line in (*report_lines(made.product, brief=True), *findings(made), *difference_lines(difference)):
        console().print(line)
    if not made.verification.passed:
        print(f"the policy in force stays; see: ironcurtain compile, and {made.directory}")
        return NO
    if not agreed(_what(home.policy, difference), yes=yes):
        print("the policy in force stays; to look again: ironcurtain compile")
        return NO
    publish(made, home, agreed=False)
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


class _Progress:
    """One line that says how far an answer has come."""

    def __init__(self) -> None:
        self._told = 0

    def show(self, text: str) -> None:
        """Rewrite the line, if enough has come."""
        if 0 <= len(text) - self._told < _FEW:
            return
        self._told = len(text)
        numbers = [
            line.partition(":")[0].strip() for line in text.splitlines() if line.partition(":")[0].strip().isdigit()
        ]
        at = f"sentence {numbers[-1]}, " if numbers else ""
        sys.stderr.write(f"\r{'':>10}  the model answers: {at}about {len(text) // 4} tokens so far \x1b[K")
        sys.stderr.flush()


def _show(made: Made, difference: Difference | None, before: Path | None, *, machine: bool) -> None:
    if machine:
        fields = report_fields(made)
        if difference is not None:
            fields["difference"] = difference_fields(difference)
        print(json.dumps(fields, ensure_ascii=False))
        return
    console().print("")
    for line in (*report_lines(made.product), Text(""), *findings(made)):
        console().print(line)
    if difference is not None:
        console().print(heading("against the policy that is there:"))
        for line in (*_statement_lines(before, made), *difference_lines(difference)):
            console().print(line)


def _statement_lines(before: Path | None, made: Made) -> Iterator[Text]:
    """Write which statements come and go."""
    if before is None:
        return
    old, new = _statements(before), _statements(made.directory)
    for sign, style, texts in (("+", "green", new - old), ("-", "red", old - new)):
        for text in sorted(texts):
            yield Text.assemble((f"{sign:>9}  ", f"bold {style}"), visible(text))


def _statements(directory: Path) -> set[str]:
    """The statements that the rules of a policy were compiled from."""
    policy: Any = read_bundle(directory).items[POLICY].value
    return {rule["description"] for rule in policy["rules"] if rule.get("description")}


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
