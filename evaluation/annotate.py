"""Scores the built-in annotator."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ironcurtain.artifacts.catalogue import read_catalogue
from ironcurtain.compiler.annotate.acts import ACTS
from ironcurtain.compiler.annotate.annotator import Understood, understand
from ironcurtain.compiler.annotate.might import might
from ironcurtain.compiler.llm.annotating import question

DATA: Final = Path(__file__).parent
LABELS: Final = tuple(
    """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth twentyfirst twentysecond""".split()  # noqa: SIM905 - to be read
)
CRITICAL: Final = frozenset(
    {"read-path", "write-path", "delete-path", "fetch-url", "send-url", "recipient", "attendee", "command"}
)
BESIDE: Final = frozenset({"place", "host"})
"""Roles that stand beside others, and that the labels do not know."""
_ACT_OF: Final = {"update": "change", "execute": "run"}
_IMPLIED: Final = {"upload": {"create", "send", "change"}, "move": {"change"}, "trash": {"delete", "change"}}
"""Acts that labels do not know, and those that have them among them."""


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
    guarded: int = 0
    """Of the unsafe: arguments of which nothing is known, so that a permission covers a name and nothing else."""
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


def _servers(rows: list[dict[str, Any]]) -> dict[str, dict[str, Understood]]:
    """Return what is understood of every server of these rows, each looked at once."""
    return {server: understood(server) for server in {row["server"] for row in rows}}


def is_asked_about(tool: Understood) -> bool:
    """Return whether a model is asked about a tool, as the compiler does."""
    return bool(tool.doubts and tool.arguments)


Said = Mapping[tuple[str, str], Mapping[str, frozenset[str]]]
"""The roles that a model gives the arguments of a tool."""


def answers(name: str) -> tuple[Said, int] | None:
    """What a model answered about the tools of a set that are in doubt, and how many answers are out of date."""
    directory = DATA / "readings" / "tools" / name
    if not directory.exists():
        return None
    rows, said, outdated = labels(name), dict[tuple[str, str], Mapping[str, frozenset[str]]](), 0
    for server, tools in _servers(rows).items():
        unsure = [tools[row["tool"]] for row in rows if row["server"] == server and is_asked_about(tools[row["tool"]])]
        file = directory / f"{server}.answer.json"
        asked = file.with_name(f"{server}.request.json")
        today = question(server, [tool.fields() for tool in unsure])
        outdated += bool(unsure) and (not asked.exists() or asked.read_text().strip() != today)
        for tool in json.loads(file.read_text())["tools"] if file.exists() else ():
            said[server, tool["tool"]] = {each["name"]: frozenset(each["roles"]) for each in tool["arguments"]}
    return said, outdated


def score(rows: list[dict[str, Any]], said: Said | None = None) -> Score:
    """Compare what was understood with what people say; a model's roles are added."""
    out, servers = Score(), _servers(rows)
    for row in rows:
        tool = servers[row["server"]][row["tool"]]
        out.tools += 1
        out.effects_right += tool.effects in [set(each) for each in row.get("acceptEffect", [row["effect"]])]
        if row["sideEffects"] and not row.get("acceptSideEffects") and not tool.side_effects:
            out.quiet.append(tool.name)
        for leaf, roles in row["args"].items():
            accepted = [frozenset(each) - {"none"} for each in row.get("accept", {}).get(leaf, [roles])]
            more = said.get((row["server"], row["tool"]), {}).get(leaf, frozenset()) if said else frozenset[str]()
            given = (frozenset(tool.roles(leaf)) | more) - {"none"} - BESIDE
            before = len(out.unsafe)
            _judge(out, f"{row['server']} {row['tool']} {leaf}", accepted, given)
            answered = said is not None and leaf in said.get((row["server"], row["tool"]), {})
            out.guarded += len(out.unsafe) > before and tool.is_unclear(leaf) and not answered
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


@dataclass
class Bounds:
    """How what tools might do compares with what people say that they do."""

    tools: int = 0
    doubtful: int = 0
    """Tools that might do anything; they are not counted among the wide ones."""
    wide: int = 0
    """Tools that might do more than any reading of them, whatever is given."""
    widened: int = 0
    """Tools that might do more only where an optional argument is given."""
    required: Counter[str] = field(default_factory=Counter)
    covered: Counter[str] = field(default_factory=Counter)
    excess: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)


def bounds(rows: list[dict[str, Any]]) -> Bounds:
    """Compare what tools might do with their labelled effects."""
    out, servers = Bounds(), _servers(rows)
    for row in rows:
        tool = servers[row["server"]][row["tool"]]
        found = might(tool.definition, {leaf: frozenset(tool.roles(leaf)) - {"none"} for leaf in tool.arguments})
        readings = [_acts(each) for each in row.get("acceptEffect", [row["effect"]])]
        acts = found.acts | ({"delete"} if "trash" in found.acts else set())  # labels do not know the difference
        covered = any(each <= acts for each in readings)
        out.tools += 1
        out.required.update(readings[0])
        out.covered.update(readings[0] if covered else readings[0] & found.acts)
        if not covered:
            out.missed.append(f"{row['server']} {row['tool']} might {sorted(found.acts)}, does {sorted(readings[0])}")
        if found.doubtful:
            out.doubtful += 1
            continue
        possible = frozenset.union(*readings)
        always = found.acts.difference(*found.optional.values())
        out.excess.update(_excess(always, possible))
        out.wide += bool(_excess(always, possible))
        out.widened += bool(_excess(found.acts, possible)) and not _excess(always, possible)
    return out


def _acts(effects: list[str]) -> frozenset[str]:
    return frozenset(_ACT_OF.get(effect, effect) for effect in effects)


def _excess(acts: frozenset[str], possible: frozenset[str]) -> set[str]:
    """What a reading has no room for; reading is always room."""
    return {act for act in acts - possible - {"read"} if not _IMPLIED.get(act, set()) & possible}


def bounds_page(found: Bounds) -> str:
    """The figures of the bounds as they stand in the documentation."""
    certain = found.tools - found.doubtful
    lines = [
        f"What tools might do is an upper bound. Of {found.tools} tools {found.doubtful} are doubtful: they might do",
        f"anything. Of the other {certain}, {found.wide} ({found.wide / certain:.0%}) might do more than any reading",
        f"of them, and {found.widened} more where an optional argument is given.",
        "",
        "| act | labelled | covered | in excess |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [f"| {act} | {found.required[act]} | {found.covered[act]} | {found.excess[act]} |" for act in ACTS]
    return "\n".join(lines)


def page(scores: dict[str, Score], seconds: float, tools: int) -> str:
    """The figures as they stand in the documentation."""
    lines = [
        "| set | tools | arguments | right | of those that bear a role | unsafe | of these guarded | effects right |",
        "|" + " --- |" * 8,
    ]
    for name, each in scores.items():
        lines.append(
            f"| {name} | {each.tools} | {each.leaves} | {each.right / each.leaves:.1%} |"
            f" {each.bearing_right / each.bearing:.1%} | {len(each.unsafe)} | {each.guarded} |"
            f" {each.effects_right / each.tools:.1%} |"
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


def bounds_bars(found: Bounds) -> list[tuple[str, bool]]:
    """What was promised of the bounds, and whether it holds."""
    acts = [act for act in ACTS if act != "read"]
    covered, required = (sum(counted[act] for act in acts) for counted in (found.covered, found.required))
    wide = found.wide / (found.tools - found.doubtful)
    return [
        (f"at least 99 % of acts other than reading covered ({covered / required:.1%})", covered / required >= 0.99),
        (f"at most 16 % of tools wider than any reading ({wide:.1%})", wide <= 0.16),
    ]


INTRODUCTION: Final = """\
The labelled tools are in `evaluation/annotations`; what counts as an error stands there. The first set was given, the
others were labelled by labellers who had not seen the annotator; the fourth is of servers that were made up for it.
At first sight, before they were looked at, unsafe were: of the fourth 10 %, of the fifth 3 %, of the sixth 3.2 % (40
of 1,252), of the seventh 3.6 % (35 of 983), of the eighth 1.7 % (9 of 539), of the ninth 1.0 % (14 of 1,373), of the
tenth 3.0 % (40 of 1,341), of the eleventh 2.7 % (25 of 913), of the twelfth 1.3 % (13 of 965), of the thirteenth,
five of its 24 servers described in Japanese or Chinese, 3.5 % (27 of 769), of the fourteenth 2.7 % (19 of 693), of
the fifteenth 4.5 % (41 of 918, 5 of them a role that its labellers had no word for), of the sixteenth 1.8 % (9 of
501), and with a model's answers 0.6 % (3 of 501), of the seventeenth 2.0 % (21 of 1,074), of the eighteenth 1.9 % (28
of 1,499), with a model's answers 1.1 % (16), of the nineteenth 2.6 % (29 of 1,125, 7 of them guarded: a permission
covers a plain name there and nothing else), and with a model's answers 0.7 % (8), of the twentieth 3.4 % (38 of
1,128, 6 of them guarded), with a model's answers 1.6 % (18), of the twenty-first 1.3 % (16 of 1,223, 5 of them
guarded), with a model's answers 0.2 % (3), of the twenty-second 3.0 % (25 of 830, 7 of them guarded), and with a
model's answers 1.1 % (9). What each showed was mended before the next; from the eleventh on they
came in halves, and what the first half showed was mended before the second, but not from the sixteenth on. All of
them were looked at since, so read the figures below as an upper bound for servers that nobody has seen. Two servers
whose schemas refer to themselves are not admitted by the gateway, and were left out; two that list a tool twice were
cut to its first definition.
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
    found = bounds([row for name in LABELS for row in labels(name)])
    for error in found.missed:
        print("missed:", error)
    shown = f"{page(scores, seconds, tools)}\n\n{models_page()}\n\n{bounds_page(found)}"
    return shown, [*bars(scores), *bounds_bars(found)]


def models_page() -> str:
    """What a model adds: the figures as they stand in the documentation."""
    lines = [
        "A model is asked about the tools of which the built-in annotator is unsure; it may add roles. Its answers are",
        "in `evaluation/readings/tools` and are played again.",
        "",
        "| set | tools asked about | arguments | unsafe without | unsafe with | out of date |",
        "|" + " --- |" * 6,
    ]
    for name in LABELS:
        if (found := answers(name)) is not None:
            without, with_ = score(labels(name)), score(labels(name), found[0])
            figures = (name, len(found[0]), with_.leaves, len(without.unsafe), len(with_.unsafe), found[1])
            lines.append("| " + " | ".join(map(str, figures)) + " |")
    return "\n".join(lines)
