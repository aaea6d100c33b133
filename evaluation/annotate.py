"""Scores the built-in annotator."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ironcurtain.artifacts.catalogue import read_catalogue
from ironcurtain.compiler.annotate.annotator import Understood, understand

DATA: Final = Path(__file__).parent
LABELS: Final = ("first", "second", "third", "fourth", "fifth")
CRITICAL: Final = frozenset(
    {"read-path", "write-path", "delete-path", "fetch-url", "send-url", "recipient", "attendee", "command"}
)


@dataclass
class Score:
    """What came out for one set of labels."""

    leaves: int = 0
    right: int = 0
    bearing: int = 0
    """Leaves that must have a role."""
    bearing_right: int = 0
    required: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    spurious: Counter[str] = field(default_factory=Counter)
    unsafe: list[str] = field(default_factory=list)
    tools: int = 0
    effects_right: int = 0
    quiet: list[str] = field(default_factory=list)
    """Tools that were taken for harmless and are not."""

    @property
    def critical(self) -> list[str]:
        """Unsafe errors of the roles that matter most."""
        return [error for error in self.unsafe if any(f" {role}" in error.partition(" needs")[2] for role in CRITICAL)]


def labels(name: str) -> list[dict[str, Any]]:
    """One set of labels."""
    return [json.loads(line) for line in (DATA / "annotations" / f"{name}.jsonl").read_text().splitlines()]


def understood(server: str) -> dict[str, Understood]:
    """All tools of a server."""
    _, definitions = read_catalogue(f"{server}={DATA / 'catalogues' / server}.json")
    return {tool.name: tool for tool in understand(server, definitions)}


def score(rows: list[dict[str, Any]]) -> Score:
    """Compare what was understood with what people say."""
    out, servers = Score(), {row["server"]: understood(row["server"]) for row in rows}
    for row in rows:
        tool = servers[row["server"]][row["tool"]]
        out.tools += 1
        out.effects_right += tool.effects in [set(each) for each in row.get("acceptEffect", [row["effect"]])]
        if row["sideEffects"] and not row.get("acceptSideEffects") and not tool.side_effects:
            out.quiet.append(tool.name)
        for leaf, roles in row["args"].items():
            accepted = [frozenset(each) - {"none"} for each in row.get("accept", {}).get(leaf, [roles])]
            _judge(out, f"{row['server']} {row['tool']} {leaf}", accepted, frozenset(tool.roles(leaf)) - {"none", "place", "host"})
    return out


def _judge(out: Score, where: str, accepted: list[frozenset[str]], given: frozenset[str]) -> None:
    needed, possible = frozenset.intersection(*accepted), frozenset.union(*accepted)
    must = frozenset() not in accepted
    out.leaves += 1
    out.right += given in accepted
    out.bearing += must
    out.bearing_right += must and given in accepted
    out.required.update(needed)
    out.found.update(needed & given)
    out.spurious.update(given - possible)
    if given not in accepted and (needed - given or (must and not given)):
        out.unsafe.append(
            f"{where} has {sorted(given) or 'none'}, needs {' '.join(f' {role}' for role in sorted(needed))}"
        )


def page(scores: dict[str, Score], seconds: float, tools: int) -> str:
    """The figures as they stand in the documentation."""
    lines = [
        "| set | tools | arguments | right | of those that bear a role | unsafe | effects right |",
        "|" + " --- |" * 7,
    ]
    for name, each in scores.items():
        lines.append(
            f"| {name} | {each.tools} | {each.leaves} | {each.right / each.leaves:.1%} |"
            f" {each.bearing_right / each.bearing:.1%} | {len(each.unsafe)} | {each.effects_right / each.tools:.1%} |"
        )
    lines += ["", "| role | required | found | spurious |", "| --- | ---: | ---: | ---: |"]
    roles = sorted({role for each in scores.values() for role in (*each.required, *each.spurious)})
    for role in roles:
        figures = [
            sum(getattr(each, what)[role] for each in scores.values()) for what in ("required", "found", "spurious")
        ]
        lines.append(f"| {role} | {figures[0]} | {figures[1]} | {figures[2]} |")
    return "\n".join([*lines, "", f"{tools:,} tools were annotated in {seconds:.1f} s."])


def bars(scores: dict[str, Score]) -> list[tuple[str, bool]]:
    """What was promised, and whether it holds."""
    every = list(scores.values())
    unsafe, leaves = sum(len(each.unsafe) for each in every), sum(each.leaves for each in every)
    critical = [error for each in every for error in each.critical]
    right, bearing = sum(each.bearing_right for each in every), sum(each.bearing for each in every)
    return [
        (f"no unsafe error on path, url, recipient and command roles ({len(critical)})", not critical),
        (f"under 2 % unsafe over all ({unsafe / leaves:.2%})", unsafe / leaves < 0.02),
        (f"at least 90 % of role-bearing arguments right ({right / bearing:.1%})", right / bearing >= 0.9),
        (
            f"no tool wrongly taken for harmless ({sum(len(each.quiet) for each in every)})",
            not any(each.quiet for each in every),
        ),
    ]


INTRODUCTION: Final = """\
The labelled tools are in `evaluation/annotations`; what counts as an error stands there. The first set was given, the
others were labelled by somebody who had not seen the annotator; the fourth is of servers that were made up for it.
Before it was looked at, the fourth came out at 84 % right with 10 % unsafe, the fifth at 93 % with 3 %; all of them
were looked at since, so read the figures as an upper bound for servers that nobody has seen.
"""


def evaluate() -> tuple[str, list[tuple[str, bool]]]:
    """Score all sets: the figures, and what holds."""
    began = time.perf_counter()
    tools = sum(len(understood(path.stem)) for path in sorted((DATA / "catalogues").glob("*.json")))
    seconds = time.perf_counter() - began
    scores = {name: score(labels(name)) for name in LABELS}
    for each in scores.values():
        for error in each.unsafe:
            print("unsafe:", error)
    return page(scores, seconds, tools), bars(scores)
