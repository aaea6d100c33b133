"""What a compilation makes: the artifacts of a policy, and a report on every sentence of the constitution."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.files import write_artifact
from ironcurtain.artifacts.policy import ANNOTATIONS, BUDGET, LISTS, POLICY, SCENARIOS
from ironcurtain.compiler.document import Sentence
from ironcurtain.compiler.drafts import Meaning, Sourced
from ironcurtain.compiler.readers.reading import Reading, State
from ironcurtain.language.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from ironcurtain.compiler.drafts import Compiled
    from ironcurtain.compiler.setup import Known


@dataclass(frozen=True, slots=True)
class Told:
    """One statement of a sentence: what it came to, and what the engine says of a call that it is about."""

    meaning: Meaning
    outcome: str = ""
    """`allow`, `escalate` or `deny`, as the engine decides the example; empty if there is none."""
    example: Mapping[str, Any] | None = None
    by: str = ""
    """Where its own rules decide nothing: the statement that decides the example instead, or the reason."""


@dataclass(frozen=True, slots=True)
class Reported:
    """One sentence, and what became of it."""

    sentence: Sentence
    reading: Reading
    told: tuple[Told, ...] = ()
    warnings: tuple[str, ...] = ()
    offers: tuple[tuple[str, ...], ...] = ()
    """The nearest statements for a sentence that no reader understood."""

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What the engine decides for calls of its statements, each once."""
        return tuple(dict.fromkeys(each.outcome for each in self.told if each.outcome))

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that it is about."""
        return tuple(dict.fromkeys(tool for each in self.told for tool in each.meaning.tools))


@dataclass(frozen=True, slots=True)
class Product:
    """What a compilation made."""

    text: str
    """The constitution."""
    rules: tuple[dict[str, Any], ...]
    limits: Mapping[str, Any]
    report: tuple[Reported, ...]
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

    def ruled_by(self, rules: Sequence[dict[str, Any]]) -> Product:
        """Return the same with other rules."""
        policy = {**self.artifacts[POLICY], "rules": [*rules]}
        return replace(self, rules=tuple(rules), artifacts={**self.artifacts, POLICY: policy})

    def joined_with(self, second: Product, rules: Sequence[dict[str, Any]]) -> Product:
        """Return the same with rules of two readings, the lists of both and the smaller of their limits."""
        joined = self.ruled_by(rules)
        lists = {**second.artifacts[POLICY]["lists"], **self.artifacts[POLICY]["lists"]}
        limits = _smaller(self.limits, second.limits)
        artifacts = {**joined.artifacts, POLICY: {**joined.artifacts[POLICY], "lists": lists}}
        budget = {BUDGET: {"version": 1, **limits}} if limits else {}
        return replace(joined, limits=limits, artifacts={**artifacts, **budget})

    def without(self, idle: Collection[str]) -> Product:
        """Return the same less some rules, by their names."""
        return self.ruled_by([rule for rule in self.rules if rule["name"] not in idle])


def _smaller(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, Any]:
    """Return limits of which each is the smaller of both; one that only one of them has stands."""
    found: dict[str, Any] = {period: dict(own) for period, own in one.items()}
    for period, own in two.items():
        for key, most in own.items():
            scope = found.setdefault(period, {})
            scope[key] = min(scope.get(key, most), most)
    return found


def report_fields(report: Sequence[Reported]) -> list[dict[str, Any]]:
    """Return a report as JSON, to be remembered; examples are found again."""
    return [
        {
            "sentence": asdict(each.sentence),
            "state": each.reading.state.value,
            "statements": [*each.reading.statements],
            "reader": each.reading.reader,
            "agreed": each.reading.agreed,
            "told": [
                {
                    "text": told.meaning.text,
                    "rules": [*told.meaning.rules],
                    "tools": [*told.meaning.tools],
                    "notes": [*told.meaning.notes],
                    "problem": told.meaning.problem,
                    "help": told.meaning.help,
                }
                for told in each.told
            ],
            "warnings": [*each.warnings],
        }
        for each in report
    ]


def report_from(fields: Sequence[Mapping[str, Any]]) -> list[Reported]:
    """Return a report from what was remembered of it."""
    found = []
    for each in fields:
        sentence = Sentence(**{**each["sentence"], "headings": tuple(each["sentence"]["headings"])})
        reading = Reading(State(each["state"]), tuple(each["statements"]), each["reader"], agreed=each["agreed"])
        told = tuple(
            Told(
                Meaning(
                    Sourced(parse(one["text"]), sentence.text),
                    tuple(one["rules"]),
                    tuple(one["tools"]),
                    tuple(one["notes"]),
                    one["problem"],
                    one["help"],
                )
            )
            for one in each["told"]
        )
        found.append(Reported(sentence, reading, told, tuple(each["warnings"])))
    return found


def product_of(
    text: str,
    compiled: Compiled,
    report: Sequence[Reported],
    servers: Mapping[str, list[dict[str, Any]]],
    known: Known,
    version: int,
) -> Product:
    """Return the artifacts for what the statements of a constitution came to."""
    named = frozenset(re.findall(r"'@([^']+)'", repr(compiled.rules)))
    policy = {
        "version": version,
        "constitutionHash": "sha256:" + hashlib.sha256(text.encode()).hexdigest(),
        "setup": {"home": known.home, "sandbox": known.sandbox, "pathBase": dict(known.path_base)},
        "lists": {
            name: {**({"kind": each.kind} if each.kind else {}), "values": [*each.values]}
            for name, each in known.lists.items()
            if name in named and not each.dynamic
        },
        "rules": [*compiled.rules],
    }
    annotations = {"version": 1, "servers": {server: {"tools": tools} for server, tools in servers.items()}}
    budget = {BUDGET: {"version": 1, **compiled.limits}} if compiled.limits else {}
    artifacts = {POLICY: policy, ANNOTATIONS: annotations, **budget}
    return Product(text, compiled.rules, compiled.limits, tuple(report), artifacts)
