"""`ironcurtain scenarios run`: what a policy decides against what it should decide."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from rich.text import Text

from ironcurtain.artifacts.verify import run_scenarios
from ironcurtain.cli.loading import load
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import console, outcome, table, verdict
from ironcurtain.errors import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ironcurtain.artifacts.verify import Result


def run(arguments: argparse.Namespace) -> int:
    """Run the scenarios of a policy."""
    results = run_scenarios(load(arguments), time.time())
    report(results, machine=arguments.json)
    return DONE if all(result.passed for result in results) else NO


def report(results: Sequence[Result], *, machine: bool) -> None:
    """Show results, one a line."""
    if machine:
        for result in results:
            shown = {
                "description": result.scenario.description,
                "expected": result.scenario.expected.word,
                "decision": result.decision.outcome.word,
                "code": result.decision.code,
                "passed": result.passed,
            }
            print(json.dumps(shown))
        return
    rows = table("", "scenario", "decision", "expected", "why")
    for result in results:
        rows.add_row(
            verdict(passed=result.passed),
            Text(visible(result.scenario.description)),
            outcome(result.decision.outcome),
            result.scenario.expected.word,
            Text(visible(result.decision.rule or result.decision.code)),
        )
    console().print(rows)
    passed = sum(result.passed for result in results)
    console().print(f"\n{passed} of {len(results)} scenarios passed")
