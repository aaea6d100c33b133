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
from ironcurtain.compiler.making import Making
from ironcurtain.compiler.offline import annotated_offline
from ironcurtain.compiler.readers.store import Readings
from ironcurtain.compiler.setup import Known, NamedList
from ironcurtain.compiler.stages import Stages

if TYPE_CHECKING:
    from collections.abc import Callable

SERVERS = {
    "files": "npm__modelcontextprotocol_server-filesystem",
    "mail": "npm__resend-mcp",
    "github": "pypi__mcp-github",
    "tasks": "pypi__todoist-mcp",
    "slack": "npm__modelcontextprotocol_server-slack",
}
TEXT = """\
may read files in ~/Documents. may create or change files in ~/Notes. must never create or change files in ~/Notes/old.
must never delete anything. may read email. may send email to contacts. must ask otherwise before sending email.
must never send email to more than 5 people. may send email to contacts with attachments from ~/Documents.
must ask before sending email whose text might be read as "a promise". may read tasks. may create or change tasks.
may send messages in "C1" or "C2". may read issues in acme/app. may create issues in acme/app.
must ask before using github/*merge*. must ask otherwise before doing anything with anything.
"""
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
    with tempfile.TemporaryDirectory() as kept:
        Path(kept).chmod(0o700)
        cache = Cache(Path(kept))
        home = Path(kept) / "home"  # what is remembered holds for one home
        tools = _compile(Cache(), home)
        compiled = [
            (f"compile 17 sentences for {tools} tools, all stages", _timed(lambda: _compile(cache, home))),
            ("the same again, unchanged", _timed(lambda: _compile(cache, home))),
        ]
    rows = [
        (f"annotate {TOOLS:,} tools of real servers", _timed(_annotate)),
        *compiled,
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


def _compile(cache: Cache, home: Path) -> int:
    """Compile the text for the tools of five servers, all stages; return how many tools there are."""
    known = Known(
        "/home/kim", "/home/kim/.ironcurtain/sandbox", lists={"contacts": NamedList("email", ("a@x.example",))}
    )
    stages = Stages(cache, lambda _: None)
    catalogues = [f"{name}={DATA / 'catalogues' / file}.json" for name, file in SERVERS.items()]
    around, directory = Surroundings(home, time.time()), home / "policy"
    servers = annotated_offline(catalogues, {}, stages)
    making = Making(stages, servers, known, Readings(), directory, around, 1)
    product = making.product(TEXT, None)
    if any(told.meaning.problem for each in product.report for told in each.told):
        raise SystemExit("a statement does not compile")
    if not stages.finish(product, directory, around).verification.passed:
        raise SystemExit("it does not pass")
    return sum(map(len, servers.values()))


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
