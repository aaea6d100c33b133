"""What a compilation makes: the artifacts of a policy, and the report on every sentence."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.files import write_artifact
from ironcurtain.artifacts.policy import ANNOTATIONS, BUDGET, LISTS, POLICY, SCENARIOS
from ironcurtain.compiler.english.compiler import Compiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from ironcurtain.compiler.english.compiler import Reported
    from ironcurtain.compiler.setup import Known


@dataclass(frozen=True, slots=True)
class Product:
    """What a compilation made."""

    text: str
    """The constitution."""
    compiled: Compiled
    artifacts: Mapping[str, Mapping[str, Any]]
    """By file name."""
    asked: tuple[Mapping[str, Any], ...] = ()
    """Scenarios that a model wants to be tested."""

    def write(self, directory: Path) -> None:
        """Put the artifacts into a directory; what an earlier compilation left there goes, but for lists."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in (ANNOTATIONS, POLICY, SCENARIOS, BUDGET, LISTS):
            if name in self.artifacts:
                text = json.dumps(self.artifacts[name], indent=1, ensure_ascii=False)
                write_artifact(directory / name, f"{text}\n".encode())
            elif name != LISTS:
                (directory / name).unlink(missing_ok=True)

    def ruled_by(self, rules: list[dict[str, Any]]) -> Product:
        """The same with other rules, each of which names its sentence."""
        names: dict[str, list[str]] = {}
        for rule in rules:
            names.setdefault(rule.get("principle", ""), []).append(rule["name"])
        report = [replace(each, rules=tuple(names.get(each.sentence.text, ()))) for each in self.compiled.report]
        compiled = Compiled(rules, self.compiled.limits, report)
        policy = {**self.artifacts[POLICY], "rules": rules}
        return replace(self, compiled=compiled, artifacts={**self.artifacts, POLICY: policy})

    def explained(self, idle: Mapping[str, Sequence[str]]) -> Product:
        """The same with a word on every sentence of which no rule decides anything, and which rules do instead."""
        outcomes = {rule["name"]: rule["then"] for rule in self.compiled.rules}
        owners = {name: each for each in self.compiled.report for name in each.rules}
        report = [_told(each, idle, owners, outcomes) for each in self.compiled.report]
        return replace(self, compiled=Compiled(self.compiled.rules, self.compiled.limits, report))

    def without(self, idle: Iterable[str]) -> Product:
        """The same less some rules."""
        rules = [rule for rule in self.compiled.rules if rule["name"] not in idle]
        report = [
            replace(each, rules=tuple(name for name in each.rules if name not in idle)) for each in self.compiled.report
        ]
        compiled = Compiled(rules, self.compiled.limits, report)
        policy = {**self.artifacts[POLICY], "rules": rules}
        return replace(self, compiled=compiled, artifacts={**self.artifacts, POLICY: policy})


def product_of(
    text: str, compiled: Compiled, servers: Mapping[str, list[dict[str, Any]]], known: Known, version: int
) -> Product:
    """The artifacts for what a constitution came to."""
    policy = {
        "version": version,
        "constitutionHash": "sha256:" + hashlib.sha256(text.encode()).hexdigest(),
        "setup": {"home": known.home, "sandbox": known.sandbox, "pathBase": dict(known.path_base)},
        "lists": {
            name: {**({"kind": each.kind} if each.kind else {}), "values": [*each.values]}
            for name, each in known.lists.items()
            if name in compiled.lists and not each.dynamic
        },
        "rules": compiled.rules,
    }
    annotations = {"version": 1, "servers": {server: {"tools": tools} for server, tools in servers.items()}}
    budget = {BUDGET: {"version": 1, **compiled.limits}} if compiled.limits else {}
    return Product(text, compiled, {POLICY: policy, ANNOTATIONS: annotations, **budget})


def _told(
    each: Reported, idle: Mapping[str, Sequence[str]], owners: Mapping[str, Reported], outcomes: Mapping[str, str]
) -> Reported:
    """A sentence with what became of its rules: those that another sentence overrules are named with it."""
    if not each.rules or any(name not in idle for name in each.rules):
        return each
    notes = list(each.notes)
    gone = [name for name in each.rules if name in idle]
    others = [(name, other) for name in gone for other in idle[name] if owners.get(other) not in (None, each)]
    opposed = _sentences(owners[other] for name, other in others if outcomes[other] != outcomes[name])
    alike = _sentences(owners[other] for name, other in others if outcomes[other] == outcomes[name])
    if alike:
        notes += [f"what it concerns is decided like this already by: {text}" for text in alike]
    else:
        notes += [f"contradicts: {text} -- that one holds" for text in opposed]
    return replace(each, verdict="covered", notes=tuple(notes))


def _sentences(reported: Iterable[Reported]) -> list[str]:
    return list(dict.fromkeys(each.sentence.text for each in reported))
