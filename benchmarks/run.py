"""Runs every measurement, each in a process of its own, prints the tables and writes them to `docs/performance.md`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.workload import KINDS
from ironcurtain.resolve.paths import PathResolver

RULES = (1, 10, 100, 1_000, 10_000)
TOOLS = (1, 100, 1_000)
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def measured(who: str, kind: str, rules: int, tools: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.measure", who, kind, str(rules), str(tools)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    print(f"{who:18} {kind:14} {rules:6} rules {tools:5} tools  p50 {result['p50']:9.1f} us", file=sys.stderr)
    return result


@dataclass
class CountingLooks:
    """The file system, counting how often it is asked."""

    calls: int = 0
    links: int = 0

    def lstat(self, path: str) -> os.stat_result:
        self.calls += 1
        return os.lstat(path)

    def readlink(self, path: str) -> str:
        self.calls += 1
        self.links += 1  # its target, one name here, is a component of the way too
        return os.readlink(path)  # noqa: PTH115 - what is counted


def system_calls() -> list[tuple[str, float]]:
    """System calls per component of the way: the path's own names, and the targets of its links."""
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        real = root / "a" / "b" / "c" / "d"
        real.mkdir(parents=True)
        (real / "file").touch()
        chain = root
        for name in "wxyz":
            target = chain / f"{name}-real"
            target.mkdir()
            (chain / name).symlink_to(f"{name}-real")
            chain = chain / name
        cases = {
            "existing": real / "file",
            "missing": root / "no" / "such" / "file",
            "every directory a link": chain / "file",
        }
        for name, path in cases.items():
            looks = CountingLooks()
            PathResolver("/", looks=looks).resolve(str(path), None)
            rows.append((name, looks.calls / (len(str(path).strip("/").split("/")) + looks.links)))
    return rows


@dataclass
class Results:
    ours: dict[tuple[str, int, int], dict[str, Any]] = field(default_factory=dict)
    theirs: dict[tuple[str, str], float] = field(default_factory=dict)

    def page(self) -> str:
        lines = [
            "# Performance", "",
            "Written by `make bench`; figures are of one run on one machine, so read the ratios.",
            f"{platform.system()}, {os.cpu_count()} cores, Python {platform.python_version()}.", "",
            "A *decision* is `engine.evaluate` on a call whose names are resolved. *From bytes* is everything: reading",
            "the JSON, the schema, resolution with its looks at the files, the decision. p50 / p99, microseconds.",
            "",
            "## Decision by number of rules (one tool)", "",
            "| kind | " + " | ".join(f"{n:,}" for n in RULES) + " | 10,000 against 10 |",
            "| --- |" + " ---: |" * (len(RULES) + 1),
        ]  # fmt: skip
        for kind in KINDS:
            cells = [f"{self.ours[kind, n, 1]['p50']:.1f} / {self.ours[kind, n, 1]['p99']:.1f}" for n in RULES]
            ratio = self.ours[kind, 10_000, 1]["p50"] / self.ours[kind, 10, 1]["p50"]
            lines.append(f"| {kind} | {' | '.join(cells)} | {ratio:.2f} |")
        lines += [
            "",
            "## From bytes (one tool)",
            "",
            "| kind | " + " | ".join(f"{n:,}" for n in RULES) + " |",
            "| --- |" + " ---: |" * len(RULES),
        ]
        for kind in KINDS:
            cells = [f"{self.ours[kind, n, 1]['whole50']:.1f} / {self.ours[kind, n, 1]['whole99']:.1f}" for n in RULES]
            lines.append(f"| {kind} | {' | '.join(cells)} |")
        lines += [
            "",
            "## By number of tools (10,000 rules)",
            "",
            "| kind | " + " | ".join(f"{n:,} tools" for n in TOOLS) + " |",
            "| --- |" + " ---: |" * len(TOOLS),
        ]
        for kind in KINDS:
            cells = [
                f"{self.ours[kind, 10_000, n]['p50']:.1f} / {self.ours[kind, 10_000, n]['p99']:.1f}" for n in TOOLS
            ]
            lines.append(f"| {kind} | {' | '.join(cells)} |")
        lines += [
            "",
            "## Loading (one tool, and 1,000)",
            "",
            "Seconds and megabytes that a policy adds.",
            "",
            "| kind | 100 rules | 10,000 rules | 10,000 rules, 1,000 tools |",
            "| --- | ---: | ---: | ---: |",
        ]
        for kind in KINDS:
            cells = [
                f"{self.ours[kind, r, t]['load']:.3f} s, {self.ours[kind, r, t]['memory']:.0f} MB"
                for r, t in ((100, 1), (10_000, 1), (10_000, 1_000))
            ]
            lines.append(f"| {kind} | {' | '.join(cells)} |")
        names = [f"{peer.name} {peer.version}" for peer in peers.PEERS]
        lines += [
            "",
            "## Beside peers, 100 rules",
            "",
            "p50 of a decision in the same run; the peers are given resolved paths and hosts, and so are we.",
            "`benchmarks/peers.py` says how each policy is expressed. no-roles has one tool for each rule.",
            "",
            f"| kind | IronCurtain | {' | '.join(names)} |",
            "| --- |" + " ---: |" * 3,
        ]
        for kind in KINDS:
            own = self.ours["no-roles", 100, 100]["p50"] if kind == "no-roles" else self.ours[kind, 100, 1]["p50"]
            cells = [
                f"{self.theirs[peer.name, kind]:.1f} ({self.theirs[peer.name, kind] / own:.1f}x)"
                for peer in peers.PEERS
            ]
            lines.append(f"| {kind} | {own:.1f} | {' | '.join(cells)} |")
        lines += ["", "## System calls per path component", "", "| path | calls per component |", "| --- | ---: |"]
        lines += [f"| {name} | {calls:.2f} |" for name, calls in system_calls()]
        return "\n".join(lines) + "\n"

    def bars(self) -> list[tuple[str, bool]]:
        """What was promised, and whether it holds."""
        found = []
        for kind in KINDS:
            ratio = self.ours[kind, 10_000, 1]["p50"] / self.ours[kind, 10, 1]["p50"]
            found.append((f"{kind}: 10,000 rules cost at most 3 times what 10 cost ({ratio:.2f})", ratio <= 3))
            own = self.ours["no-roles", 100, 100]["p50"] if kind == "no-roles" else self.ours[kind, 100, 1]["p50"]
            for peer in peers.PEERS:
                other = self.theirs[peer.name, kind]
                found.append(
                    (f"{kind}: faster than {peer.name} at 100 rules ({own:.1f} against {other:.1f} us)", own < other)
                )
        found += [
            (f"{name} path: at most 2 system calls per component ({calls:.2f})", calls <= 2)
            for name, calls in system_calls()
        ]
        return found


def main() -> int:
    results = Results()
    for kind in KINDS:
        for rules in RULES:
            results.ours[kind, rules, 1] = measured("ours", kind, rules, 1)
        for tools in TOOLS[1:]:
            results.ours[kind, 10_000, tools] = measured("ours", kind, 10_000, tools)
        results.ours[kind, 100, 100] = measured("ours", kind, 100, 100)
        for peer, name in zip(peers.PEERS, ("cedar", "agent_governance"), strict=True):
            results.theirs[peer.name, kind] = measured(name, kind, 100, 100 if kind == "no-roles" else 1)["p50"]
    PAGE.write_text(results.page())
    print(results.page())
    bars = results.bars()
    for bar, holds in bars:
        print("holds " if holds else "FAILS ", bar)
    return 0 if all(holds for _, holds in bars) else 1


if __name__ == "__main__":
    raise SystemExit(main())
