"""How long comparing and proving policies takes. `python -m benchmarks.analysis` prints a table.

The tools are those of the catalogues in `evaluation/`, annotated by the built-in annotator. The rules look like those
of a compiled constitution: each names one server and a list of its tools, and many have exceptions. Everything follows
from fixed seeds, so that two runs measure the same policies.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.annotate import DATA

from ironcurtain.analysis.diff import diff_policies
from ironcurtain.analysis.prove import Prover
from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, Bundle, Loaded, Surroundings, build
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.scenarios import derive_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOW = 1_800_000_000.0
SIZES = ((100, 150), (300, 300))  # rules and tools
MOST_OF_A_SERVER = 30  # tools
PEOPLE = [f"{name}@{host}.example" for host in ("office", "home") for name in ("ann", "bob", "cat", "dan")]
HOSTS = ["example.com", "*.example.com", "docs.example", "shop.example", "*.internal.example"]
PLACES = ["Projects", "Projects/secret", "Documents", "Documents/taxes", "Trash", "Photos"]
PATHS = {"read-path", "write-path", "delete-path"}
PARTIES = {"recipient", "attendee"}
URLS = {"fetch-url", "send-url"}
CARRIED = {"outbound-content", "amount", "identifier", "none"}


@dataclass(frozen=True)
class Annotated:
    """A tool as it stands among the annotations."""

    fields: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.fields["toolName"])

    @property
    def roles(self) -> set[str]:
        return {role for entry in self.fields["args"].values() for mode in _modes(entry) for role in mode["roles"]}

    def arguments(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The arguments of the first level, with their schemas."""
        properties = self.fields["definition"].get("inputSchema", {}).get("properties", {})
        yield from ((leaf, properties[leaf]) for leaf in self.fields["args"] if isinstance(properties.get(leaf), dict))


def _modes(entry: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - as it stands in an artifact
    return entry if isinstance(entry, list) else [entry]


def servers(tools: int) -> dict[str, list[Annotated]]:
    """So many tools of the catalogues, those of large servers first."""
    catalogues: dict[str, list[Any]] = {
        path.stem: json.loads(path.read_text())["tools"] for path in sorted((DATA / "catalogues").glob("*.json"))
    }
    found: dict[str, list[Annotated]] = {}
    for name, definitions in sorted(catalogues.items(), key=lambda item: (-len(item[1]), item[0])):
        taken = definitions[: min(MOST_OF_A_SERVER, tools - sum(map(len, found.values())))]
        if taken:
            server = name.partition("__")[2]
            found[server] = [Annotated(tool.fields()) for tool in understand(server, taken)]
    return found


@dataclass(frozen=True)
class Writer:
    """Writes rules as a compiler would."""

    chance: random.Random
    home: str
    servers: dict[str, list[Annotated]]

    def rules(self, number: int) -> list[dict[str, Any]]:
        """So many rules."""
        return [self.rule(f"rule-{index}") for index in range(number)]

    def rule(self, name: str) -> dict[str, Any]:
        """One rule: for a few tools of a server, or for many."""
        server = self.chance.choice(sorted(self.servers))
        there = self.servers[server]
        most = len(there) if self.chance.random() < 0.2 else 6
        tools = self.chance.sample(there, self.chance.randint(1, min(most, len(there))))
        then = self.chance.choice(["allow", "allow", "allow", "deny", "escalate"])
        conditions: dict[str, Any] = {"server": [server], "tool": [tool.name for tool in tools]}
        conditions |= self._condition(tools, required=False)
        exceptions = [self._condition(tools, required=True) for _ in range(self.chance.choice([0, 0, 1, 1, 2, 3]))]
        exceptions += self._other_arguments(tools) if then == "allow" and self.chance.random() < 0.5 else []
        if any(exceptions):
            conditions["unless"] = [group for group in exceptions if group]
        rule = {"name": name, "principle": "A sentence.", "if": conditions, "then": then}
        return rule | ({"joined": True} if then == "escalate" and self.chance.random() < 0.5 else {})

    def _condition(self, tools: list[Annotated], *, required: bool) -> dict[str, Any]:
        tool = self.chance.choice(tools)
        kinds: list[Callable[[Annotated], dict[str, Any]]]
        kinds = [self._paths, self._people, self._hosts, self._value, self._value, self._count]
        kinds += [] if required else [self._nothing] * 4
        return self.chance.choice(kinds)(tool) or self._value(tool)

    def _other_arguments(self, tools: list[Annotated]) -> list[dict[str, Any]]:
        """Exceptions for arguments that a permission does not speak of: they must not be used."""
        names = sorted({leaf for tool in tools for leaf, _ in tool.arguments()})
        unused = self.chance.sample(names, min(len(names), self.chance.randint(1, 8)))
        return [{"values": {f"arg:{leaf}": {"minItems": 1}}} for leaf in unused]

    def _nothing(self, _: Annotated) -> dict[str, Any]:
        return {}

    def _paths(self, tool: Annotated) -> dict[str, Any]:
        roles = sorted(tool.roles & PATHS)
        places = [f"{self.home}/{place}" for place in self._some(PLACES)]
        return {"paths": {"roles": roles, "within": places}} if roles else {}

    def _people(self, tool: Annotated) -> dict[str, Any]:
        roles = sorted(tool.roles & PARTIES)
        return {"lists": [{"roles": roles, "allowed": self._some(PEOPLE)}]} if roles else {}

    def _hosts(self, tool: Annotated) -> dict[str, Any]:
        roles = sorted(tool.roles & (URLS | PARTIES))
        return {"domains": {"roles": roles, "allowed": self._some(HOSTS)}} if roles else {}

    def _count(self, tool: Annotated) -> dict[str, Any]:
        roles = sorted(tool.roles & PARTIES)
        return {"values": {f"role:{'+'.join(roles)}": {"minItems": self.chance.randint(1, 3)}}} if roles else {}

    def _value(self, tool: Annotated) -> dict[str, Any]:
        """An argument that is one of some values: a flag, a choice, a name."""
        arguments = [*tool.arguments()]
        if not arguments:
            return {}
        leaf, schema = self.chance.choice(arguments)
        if schema.get("type") == "boolean":
            return {"values": {f"arg:{leaf}": {"in": [True]}}}
        listed = [value for value in schema.get("enum", ()) if isinstance(value, str) and value]
        if schema.get("type") in ("integer", "number"):
            return {"values": {f"arg:{leaf}": {"minimum": self.chance.choice([10, 100])}}}
        if _is_located(tool, leaf):
            return {}
        names = listed or [f"{leaf}-{number}" for number in range(4)]
        return {"values": {f"arg:{leaf}": {"in": self._some(names)}}}

    def _some(self, of: list[str]) -> list[str]:
        return self.chance.sample(of, self.chance.randint(1, min(3, len(of))))


def _is_located(tool: Annotated, leaf: str) -> bool:
    roles = {role for mode in _modes(tool.fields["args"][leaf]) for role in mode["roles"]}
    return not roles <= CARRIED


def changed(rules: list[dict[str, Any]], every: int, chance: random.Random) -> list[dict[str, Any]]:
    """The rules with one in so many decided otherwise, without its exceptions, or left out."""
    found = []
    for index, rule in enumerate(rules):
        way = chance.choice(["then", "unless", "gone"]) if index % every == 0 else ""
        plain = {key: value for key, value in rule.items() if key != "joined"}
        if way == "then":
            found.append({**plain, "then": chance.choice([each for each in _THEN if each != rule["then"]])})
        elif way == "unless":
            found.append({**rule, "if": {key: value for key, value in rule["if"].items() if key != "unless"}})
        elif not way:
            found.append(rule)
    return found


_THEN = ("allow", "deny", "escalate")


@dataclass(frozen=True)
class Workload:
    """The policies of one size."""

    rules: int
    tools: int
    root: Path

    def rows(self) -> Iterator[tuple[str, float, str]]:
        """What is measured, how long it takes, and what comes of it."""
        annotated = servers(self.tools)
        first = self._written(annotated, 1)
        old = self._load(annotated, first)
        readings = {
            "one rule in 20 changed": changed(first, 20, random.Random(2)),
            "one rule in 3 changed": changed(first, 3, random.Random(3)),
            "nothing in common": self._written(annotated, 4),
        }
        size = f"{self.rules} rules, {self.tools} tools"
        for says, rules in readings.items():
            new = self._load(annotated, rules)
            seconds, found = timed(partial(diff_policies, old, new, NOW))
            told = f"{len(found.changes)} changes, {found.regions} regions, {len(found.doubts)} doubts"
            yield f"compare, {size}, {says}", seconds, told
        prover = Prover(old, NOW)
        seconds, statements = timed(prover.statements)
        yield f"prove, {size}", seconds, f"{prover.regions} regions, {', '.join(s.proof.value for s in statements)}"
        seconds, scenarios = timed(lambda: derive_scenarios(old))
        yield f"derive scenarios, {size}", seconds, f"{len(scenarios)} scenarios"

    def _written(self, annotated: dict[str, list[Annotated]], seed: int) -> list[dict[str, Any]]:
        return Writer(random.Random(seed), str(self.root / "home"), annotated).rules(self.rules)

    def _load(self, annotated: dict[str, list[Annotated]], rules: list[dict[str, Any]]) -> Loaded:
        setup = {"home": str(self.root / "home"), "sandbox": str(self.root / "box")}
        policy: Any = {"version": 1, "setup": setup, "rules": rules}
        notes: Any = {
            "version": 1,
            "servers": {s: {"tools": [t.fields for t in all_]} for s, all_ in annotated.items()},
        }
        items = {POLICY: Item(policy, POLICY), ANNOTATIONS: Item(notes, ANNOTATIONS)}
        return build(Bundle(self.root, items), Surroundings(self.root / "ironcurtain", NOW))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds of processor time that something takes, and what comes of it."""
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def main() -> None:
    """Measure, and print; `--small` for the first size alone."""
    print("| what | seconds | result |\n| --- | ---: | --- |")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        for directory in ("home", "box"):
            (root / directory).mkdir()
        for rules, tools in SIZES[: 1 if "--small" in sys.argv else None]:
            for what, seconds, result in Workload(rules, tools, root).rows():
                print(f"| {what} | {seconds:.2f} | {result} |", flush=True)


if __name__ == "__main__":
    main()
