"""How long annotating, compiling and proving take. `python -m benchmarks.compiler` prints a table."""

from __future__ import annotations

import json
import random
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.annotate import DATA

from ironcurtain.analysis.prove import Proof, Prover
from ironcurtain.artifacts.annotations import pin_of
from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, Bundle, Surroundings, build
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.cache import Cache
from ironcurtain.compiler.offline import compile_offline
from ironcurtain.compiler.setup import read_setup
from ironcurtain.compiler.stages import Stages

if TYPE_CHECKING:
    from collections.abc import Callable

TOOLS = 2_000
RULES = 1_000
ROLES = {
    "read": {"path": ["read-path"]},
    "write": {"path": ["write-path"], "content": ["outbound-content"]},
    "delete": {"path": ["delete-path"]},
    "move": {"source": ["read-path", "delete-path"], "destination": ["write-path"]},
    "send": {"to": ["recipient"], "cc": ["recipient"], "body": ["outbound-content"], "files": ["read-path"]},
    "fetch": {"url": ["fetch-url"]},
    "post": {"channel": ["channel"], "text": ["outbound-content"]},
}


def main() -> None:
    """Measure, and print."""
    rows = [
        (f"annotate {TOOLS:,} tools of real servers", _timed(_annotate)),
        ("compile a constitution for 14 tools, all stages", _timed(_compile)),
        (f"prove {RULES:,} rules over {len(ROLES)} tools", _timed(_prove())),
    ]
    print("| what | seconds |\n| --- | ---: |")
    for what, seconds in rows:
        print(f"| {what} | {seconds:.2f} |")


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _annotate() -> None:
    catalogues = [json.loads(path.read_text()) for path in sorted((DATA / "catalogues").glob("*.json"))]
    done = 0
    while done < TOOLS:
        for catalogue in catalogues:
            tools = catalogue["tools"] if isinstance(catalogue, dict) else catalogue
            done += len(list(understand("server", tools[: TOOLS - done])))


def _compile() -> None:
    directory = DATA / "constitutions" / "given-freelancer"
    stages = Stages(Cache(), lambda _: None)
    catalogue = f"files={DATA / 'catalogues' / 'npm__modelcontextprotocol_server-filesystem.json'}"
    text = (directory / "constitution.md").read_text()
    product = compile_offline(text, [catalogue], read_setup(directory / "config.json"), {}, 1, stages)
    with tempfile.TemporaryDirectory() as name:
        made = stages.finish(product, Path(name) / "policy", Surroundings(Path(name) / "home", time.time()))
        if not made.verification.passed:
            raise SystemExit("it does not pass")


def _prove() -> Callable[[], None]:
    root = Path(tempfile.mkdtemp())
    (root / "box").mkdir()
    tools = [_tool(name, roles) for name, roles in ROLES.items()]
    policy: Any = {
        "version": 1,
        "setup": {"home": str(root), "sandbox": str(root / "box")},
        "rules": _rules(str(root), random.Random(1)),
    }
    notes: Any = {"version": 1, "servers": {"s": {"tools": tools}}}
    bundle = Bundle(root, {POLICY: Item(policy, POLICY), ANNOTATIONS: Item(notes, ANNOTATIONS)})
    loaded = build(bundle, Surroundings(root / "ironcurtain", time.time()))

    def prove() -> None:
        statements = Prover(loaded, time.time()).statements()
        if any(statement.proof is Proof.OPEN for statement in statements):
            raise SystemExit("not proven")

    return prove


def _tool(name: str, roles: dict[str, list[str]]) -> dict[str, Any]:
    definition: Any = {"name": name, "inputSchema": {"type": "object", "properties": {leaf: {} for leaf in roles}}}
    arguments = {leaf: {"roles": of, "absent": "nothing"} for leaf, of in roles.items()}
    return {
        "toolName": name,
        "serverName": "s",
        "sideEffects": True,
        "args": arguments,
        "definition": definition,
        "pin": pin_of(definition),
    }


def _rules(root: str, chance: random.Random) -> list[dict[str, Any]]:
    made = []
    for index in range(RULES):
        steps = "/".join(f"{chance.choice('abcdef')}{chance.randrange(20)}" for _ in range(chance.randrange(1, 4)))
        directory = f"{root}/{steps}/{index}"
        paths = sorted(chance.sample(["read-path", "write-path", "delete-path"], 2))
        kinds: list[dict[str, Any]] = [
            {"paths": {"roles": paths, "within": directory}},
            {"tool": ["write", "move"], "paths": {"roles": ["write-path"], "within": directory}},
            {"tool": ["send"], "lists": [{"roles": ["recipient"], "allowed": [f"p{index}@x{index % 50}.example"]}]},
            {"domains": {"roles": ["fetch-url"], "allowed": [f"h{index}.example", f"*.s{index}.example"]}},
            {"tool": ["post"], "values": {"arg:channel": {"in": [f"C{index}"]}}},
        ]
        then = chance.choice(["allow", "allow", "deny", "escalate"])
        made.append({"name": f"r{index}", "principle": "A sentence.", "if": kinds[index % 5], "then": then})
    return made


if __name__ == "__main__":
    main()
