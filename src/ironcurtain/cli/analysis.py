"""`ironcurtain policy prove` and `diff`: what a policy can ever do, and what another would change."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.analysis.prove import Proof, Prover, never
from ironcurtain.artifacts.active import active_directory
from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.home import Home
from ironcurtain.artifacts.item import parse
from ironcurtain.artifacts.policy import ANNOTATIONS, LISTS, POLICY, build, read_bundle
from ironcurtain.cli.loading import sentences_behind, surroundings
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import console, heading, outcome
from ironcurtain.errors import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from ironcurtain.analysis.diff import Change, Difference
    from ironcurtain.analysis.examples import Example
    from ironcurtain.analysis.prove import Statement
    from ironcurtain.artifacts.policy import Bundle, Loaded
    from ironcurtain.compiler.setup import Known
    from ironcurtain.model.call import Json

_STYLES: Final = {Proof.PROVEN: "green", Proof.VIOLATED: "bold red", Proof.OPEN: "bold yellow"}
_SHOWN: Final = 5  # breaches of one statement


def prove(arguments: argparse.Namespace) -> int:
    """Show what holds for every call, or a call that breaks it."""
    bundle = read_bundle(_directory(arguments.directory))
    loaded = build(bundle, surroundings())
    began = time.monotonic()
    prover = Prover(loaded, time.time(), sentences_behind(arguments.constitution, loaded.constitution))
    statements = prover.statements()
    statements += [_asked(question, bundle, loaded, arguments.setup) for question in arguments.ask]
    statements += [_forbidden(Path(file), loaded) for file in arguments.never]
    if arguments.json:
        for statement in statements:
            print(json.dumps(statement.fields(), ensure_ascii=False))
    else:
        for line in (line for statement in statements for line in _lines(statement)):
            console().print(line)
        took = time.monotonic() - began
        rules = len(loaded.policy.book.rules)
        console().print(f"\n{rules} rules, {len(loaded.policy.tools)} tools, {prover.regions} regions ({took:.1f} s)")
    return DONE if all(statement.proof is Proof.PROVEN for statement in statements) else NO


def diff(arguments: argparse.Namespace) -> int:
    """Show every call that two policies decide differently."""
    around = surroundings()
    old, new = (build(read_bundle(Path(name)), around) for name in (arguments.old, arguments.new))
    difference = diff_policies(old, new, time.time())
    if arguments.json:
        print(json.dumps(difference_fields(difference), ensure_ascii=False))
    else:
        for line in difference_lines(difference):
            console().print(line)
    return DONE if difference.equal else NO


def difference_lines(difference: Difference) -> Iterator[Text]:
    """A difference in words: what becomes possible first."""
    for names, word in (
        (difference.added, "new"),
        (difference.removed, "gone"),
        (difference.redescribed, "described anew"),
    ):
        if names:
            yield Text.assemble((f"{word:>9}  ", "bold"), visible(", ".join(_by_server(names))))
    for changes in _alike(difference.changes):
        first = changes[0]
        style = "bold red" if first.widens else "green"
        tools = ", ".join(f"{change.server}/{change.tool}" for change in changes)
        yield Text.assemble(
            (f"{'wider' if first.widens else 'narrower':>9}  ", style),
            heading(visible(tools)),
            ": ",
            outcome(first.now),
            f" instead of {first.was.word}",
        )
        for leaf, cells in first.cells:
            yield Text(visible(f"{'':11}{leaf}: {'; or '.join(cells[:_SHOWN])}{_more(len(cells))}"))
        yield Text(f"{'':11}for example {_call(first.example)}", style="dim")
    for doubt in difference.doubts[:_SHOWN]:
        yield Text.assemble((f"{'unsure':>9}  ", "bold yellow"), visible(doubt))
    if difference.equal:
        yield Text("Proven equal: every call is decided alike.", style="green")


def difference_fields(difference: Difference) -> dict[str, Any]:
    """A difference for machines."""
    return {
        "equal": difference.equal,
        "added": [*difference.added],
        "removed": [*difference.removed],
        "redescribed": [*difference.redescribed],
        "unsure": [*difference.doubts],
        "changes": [
            {
                "server": change.server,
                "tool": change.tool,
                "was": change.was.word,
                "now": change.now.word,
                "where": {leaf: [*cells] for leaf, cells in change.cells},
                "rules": [*change.rules],
                "example": change.example.fields(),
            }
            for change in difference.changes
        ],
    }


def _alike(changes: Iterable[Change]) -> list[list[Change]]:
    """Changes that differ only in the tool are told together; what becomes possible comes first."""
    found: dict[tuple[object, ...], list[Change]] = {}
    for change in sorted(changes, key=lambda each: (not each.widens, each.now, each.was)):
        cells = tuple(cells for _, cells in change.cells)
        found.setdefault((change.server, change.was, change.now, cells), []).append(change)
    return list(found.values())


def _by_server(names: Iterable[str]) -> Iterator[str]:
    servers: dict[str, list[str]] = {}
    for name in names:
        servers.setdefault(name.partition("/")[0], []).append(name)
    for server, tools in servers.items():
        yield from tools if len(tools) <= _SHOWN else [f"{len(tools)} tools of {server}"]


def _more(count: int) -> str:
    return f"; and {count - _SHOWN} more" if count > _SHOWN else ""


def _call(example: Example) -> str:
    return visible(
        f"{example.call.server}/{example.call.tool} {json.dumps(example.call.arguments, ensure_ascii=False)}"
    )


def _lines(statement: Statement) -> Iterator[Text]:
    yield Text.assemble((f"{statement.proof.value:>10}  ", _STYLES[statement.proof]), heading(visible(statement.says)))
    if statement.argument and not statement.breaches:
        yield Text(f"{'':12}{visible(statement.argument)}", style="dim")
    for breach in statement.breaches[:_SHOWN]:
        yield Text(f"{'':12}{visible(breach.message)}")
        if breach.example is not None:
            yield Text(f"{'':12}for example {_call(breach.example)}", style="dim")
    if len(statement.breaches) > _SHOWN:
        yield Text(f"{'':12}and {len(statement.breaches) - _SHOWN} more", style="dim")


def _directory(name: str | None) -> Path:
    return Path(name) if name else active_directory(surroundings().home)


def _asked(text: str, bundle: Bundle, loaded: Loaded, setup: str | None) -> Statement:
    from ironcurtain.compiler.questions import read_question  # noqa: PLC0415 - only if somebody asks

    known = _known(bundle, setup)
    annotations: Any = bundle.items[ANNOTATIONS].value
    question = read_question(text, annotations, known)
    policy: Any = bundle.items[POLICY].value
    dynamic: Any = bundle.items[LISTS].value if LISTS in bundle.items else {"lists": {}}
    there = {**policy.get("lists", {}), **dynamic["lists"]}
    rules: list[Json] = [_spelled_out(rule, known, there) for rule in question.rules]
    says = f"{text}  ({'; '.join(question.notes)})"
    chain = loaded.chain(rules, "the question")
    return never(loaded, chain, says, time.time(), asking_counts=question.asking_counts)


def _known(bundle: Bundle, setup: str | None) -> Known:
    from ironcurtain.compiler.at_home import known_at_home  # noqa: PLC0415
    from ironcurtain.compiler.setup import read_setup  # noqa: PLC0415

    if setup:
        return read_setup(Path(setup))
    dynamic: Any = bundle.items[LISTS].value if LISTS in bundle.items else None
    return known_at_home(Home(surroundings().home), bundle, dynamic)


def _spelled_out(rule: dict[str, Any], known: Known, lists: dict[str, Any]) -> dict[str, Any]:
    """The rule with the members of lists that the policy itself does not have."""
    text = json.dumps(rule)
    for name, members in known.lists.items():
        if name not in lists and f'"@{name}"' in text:
            text = text.replace(f'"@{name}"', json.dumps([*members.values])[1:-1])
    made: dict[str, Any] = json.loads(text)
    return made


def _forbidden(file: Path, loaded: Loaded) -> Statement:
    chain = loaded.chain(parse(read_artifact(file), file.name).value, file.name)
    return never(loaded, chain, f"No call that {file.name} forbids is allowed.", time.time(), asking_counts=False)
