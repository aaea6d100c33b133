"""What a compilation shows: every sentence, what it came to, how many tools it is about, and one decided example."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from ironcurtain.cli.show import heading, verdict
from ironcurtain.compiler.readers.reading import State
from ironcurtain.errors import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ironcurtain.compiler.product import Product, Reported, Told
    from ironcurtain.compiler.stages import Made

_WORDS: Final = {
    "allow": ("allowed", "green"),
    "escalate": ("asks", "yellow"),
    "deny": ("refused", "red"),
    "": ("no call", "dim"),
}
_SHOWN: Final = 5
_NOTES: Final = 2  # of one statement
_LONG: Final = 110  # characters of an example
_THIRD: Final = 3
_REACHABLE: Final = "reachable"


def report_lines(product: Product, *, brief: bool = False) -> Iterator[Text]:
    """Write the report: what needs an answer first, then every sentence in order; `brief` only the former."""
    if not product.report:
        yield Text("The constitution is empty: every call will be denied.", style="bold yellow")
    yield from _wide(product)
    unclear = [each for each in product.report if _is_unclear(each)]
    if unclear:
        yield heading(f"{len(unclear)} of {len(product.report)} sentences need a look:")
        for each in unclear:
            yield from _sentence(each)
        yield Text("")
    for each in () if brief else product.report:
        if not _is_unclear(each):
            yield from _sentence(each)


def _wide(product: Product) -> Iterator[Text]:
    """Say at the top which statement makes more than a third of the tools ask."""
    servers: Any = product.artifacts.get("tool-annotations.json", {}).get("servers", {})
    count = sum(len(entry["tools"]) for entry in servers.values())
    for each in product.report:
        for told in each.told:
            general = told.meaning.text.startswith(("must ask otherwise", "may"))  # that is what it is for
            if told.outcome == "escalate" and not general and len(told.meaning.tools) * _THIRD > count > _THIRD:
                share = f"{len(told.meaning.tools)} of {count} tools"
                yield Text.assemble(
                    ("asks a lot  ", "bold yellow"), visible(f"{share} ask because of: {told.meaning.text}")
                )


def _is_unclear(reported: Reported) -> bool:
    wrong = any(told.meaning.problem for told in reported.told)
    return reported.reading.state in (State.UNREAD, State.SKIPPED) or wrong or bool(reported.warnings)


def _sentence(reported: Reported) -> Iterator[Text]:
    yield heading(f"“{visible(reported.sentence.text)}”")
    state = reported.reading.state
    if state is State.NOT_A_RULE:
        yield Text("    not a rule", style="dim")
    elif state is State.UNREAD:
        why = reported.reading.why.splitlines()[0][:_LONG] if reported.reading.why else "no reader understood it"
        yield Text.assemble(("    unread  ", "bold yellow"), visible(why))
        for number, lines in enumerate(reported.offers):
            yield Text.assemble(
                ("            nearest: " if not number else " " * 21, "dim"), visible(" ".join(lines)[:_LONG])
            )
        yield Text("            until it is read, what is permitted under its heading asks", style="dim")
    elif state is State.SKIPPED:
        yield Text.assemble(
            ("    skipped ", "yellow"), "what it might concern asks; where that is not known, all under its heading"
        )
    for told in reported.told:
        yield from _statement(told)
    for warning in reported.warnings:
        yield Text.assemble(("    look    ", "bold yellow"), visible(warning))


def _statement(told: Told) -> Iterator[Text]:
    meaning = told.meaning
    if meaning.problem:
        yield Text.assemble(("    error   ", "bold red"), visible(meaning.text))
        yield Text(f"            {visible(meaning.problem)}; {visible(meaning.help)}")
        return
    word, style = _WORDS[told.outcome] if meaning.tools else ("limit", "green")
    tools = f"  {len(meaning.tools)} tool{'s' if len(meaning.tools) != 1 else ''}" if meaning.tools else ""
    yield Text.assemble((f"    {word:<8}", style), visible(meaning.text), (tools, "dim"))
    if told.example is not None:
        yield Text(f"            e.g. {_call(told.example)}", style="dim")
    if told.by:
        yield Text(f"            decided by: {visible(told.by)[:_LONG]}", style="dim")
    elif told.example is None and meaning.tools:
        yield Text("            no call was found that it would decide", style="dim")
    for note in meaning.notes[:_NOTES]:
        yield Text(f"            {visible(note)}", style="dim")
    if len(meaning.notes) > _NOTES:
        yield Text(f"            and {len(meaning.notes) - _NOTES} more such notes: --json shows all", style="dim")


def _call(request: Mapping[str, Any]) -> str:
    shown = json.dumps(request["arguments"], ensure_ascii=False)
    text = visible(f"{request['serverName']}/{request['toolName']} {shown}")
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def findings(made: Made) -> Iterator[Text]:
    """Write what was proven, what was not, and what speaks against the policy."""
    proven = [each["says"] for each in made.statements if each["proof"] == "proven"]
    if proven:
        yield Text.assemble((f"{'proven':>12}  ", "green"), " ".join(proven))
    for each in made.unproven:
        if each["statement"] == _REACHABLE and each["breaches"]:  # a rule too many takes nothing away and adds nothing
            yield Text.assemble(
                (f"{'unused':>12}  ", "dim"), f"{len(each['breaches'])} rules decide nothing: --json names them"
            )
            continue
        yield Text.assemble((f"{each['proof']:>12}  ", "bold yellow"), visible(each["says"]))
        for message in (
            [each["argument"]] if not each["breaches"] else [b["message"] for b in each["breaches"][:_SHOWN]]
        ):
            yield Text(f"{'':>14}{visible(message)}")
    for line in made.waived:
        yield Text.assemble((f"{'taken away':>12}  ", "yellow"), visible(line))
    for message in made.contradictions:
        yield Text.assemble((f"{'your scenario':>12}  ", "bold red"), visible(message))
    for result in made.verification.failed[:_SHOWN]:
        decided = f"{result.scenario.description}: {result.decision.outcome.word}, not {result.scenario.expected.word}"
        yield Text.assemble((f"{'FAIL':>12}  ", "bold red"), visible(decided))
    for objection in made.verification.objections:
        yield Text.assemble((f"{'FAIL':>12}  ", "bold red"), visible(objection))
    yield Text.assemble(f"{'verdict':>12}  ", verdict(passed=made.verification.passed))


def report_fields(made: Made) -> dict[str, Any]:
    """Return the same for machines."""
    product = made.product
    return {
        "verdict": "pass" if made.verification.passed else "fail",
        "rules": len(product.rules),
        "limits": dict(product.limits),
        "sentences": [
            {
                "text": each.sentence.text,
                "state": each.reading.state.value,
                "reader": each.reading.reader,
                "statements": [_told_fields(told) for told in each.told],
                "warnings": [*each.warnings],
                **({"why": each.reading.why} if each.reading.why else {}),
                **({"offers": [[*lines] for lines in each.offers]} if each.offers else {}),
            }
            for each in product.report
        ],
        "scenarios": len(made.verification.results),
        "failed": [result.scenario.description for result in made.verification.failed],
        "objections": [*made.verification.objections],
        "contradictions": [*made.contradictions],
        "waived": [*made.waived],
        "statements": [*made.statements],
    }


def _told_fields(told: Told) -> dict[str, Any]:
    meaning = told.meaning
    found: dict[str, Any] = {"text": meaning.text, "tools": [*meaning.tools], "notes": [*meaning.notes]}
    if told.outcome:
        found |= {"decision": told.outcome, "example": told.example}
    if meaning.problem:
        found |= {"problem": meaning.problem, "help": meaning.help}
    return found
