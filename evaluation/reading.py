"""Constitutions as readers read them: what is asked of a model, what it answered, and what became of the calls.

The exchanges are in `evaluation/readings/NAME/`: `first.request.md` and `first.answer.md`, `second...` for the second,
independent reading, and `first-2...` for what was sent back. An answer whose request is not what would be asked today
is out of date, and is said to be.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evaluation.annotate import DATA
from ironcurtain.artifacts.catalogue import read_catalogue
from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, Bundle, Surroundings, build
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.document import sentences_of
from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.readers.answers import read_answer, repair
from ironcurtain.compiler.readers.prompt import question
from ironcurtain.compiler.setup import Known, read_setup
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.language.parsing import parse
from ironcurtain.mediation.decide import decide_call
from ironcurtain.model.call import ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.document import Sentence
    from ironcurtain.compiler.drafts import Compiled

CONSTITUTIONS: Final = DATA / "constitutions"
EXCHANGES: Final = DATA / "readings"
WORDS: Final = ("first", "second")
ROUNDS: Final = 3


@dataclass(frozen=True)
class Case:
    """One constitution with its tools, set-up and calls."""

    name: str
    text: str
    servers: Mapping[str, list[dict[str, Any]]]
    tools: tuple[Tool, ...]
    known: Known
    calls: list[dict[str, Any]]

    @property
    def sentences(self) -> list[Sentence]:
        """The sentences, in order."""
        return sentences_of(self.text)

    @property
    def numbers(self) -> list[int]:
        """Their numbers."""
        return list(range(1, len(self.sentences) + 1))


@cache
def case(name: str) -> Case:
    """Read one of them."""
    directory = CONSTITUTIONS / name
    files = json.loads((directory / "servers.json").read_text())
    servers = {}
    for server, file in files.items():
        _, definitions = read_catalogue(f"{server}={DATA / 'catalogues' / file}.json")
        servers[server] = [tool.fields() for tool in understand(server, definitions)]
    calls = [json.loads(line) for line in (directory / "cases.jsonl").read_text().splitlines()]
    text = (directory / "constitution.md").read_text()
    return Case(name, text, servers, catalogue_of(servers), read_setup(directory / "config.json"), calls)


def loaded(one: Case, compiled: Compiled) -> Loaded:
    """The policy that statements came to, as it would be in force."""
    policy: dict[str, Any] = {
        "version": 1,
        "setup": {"home": one.known.home, "sandbox": one.known.sandbox, "pathBase": dict(one.known.path_base)},
        "lists": {
            name: {**({"kind": each.kind} if each.kind else {}), "values": [*each.values]}
            for name, each in one.known.lists.items()
        },
        "rules": [*compiled.rules],
    }
    annotations: dict[str, Any] = {"version": 1, "servers": {n: {"tools": t} for n, t in one.servers.items()}}
    items = {POLICY: Item(policy, POLICY), ANNOTATIONS: Item(annotations, ANNOTATIONS)}
    return build(Bundle(Path("/nowhere"), items), Surroundings(Path("/nowhere/home"), time.time()))


def decide(policy: Loaded, calls: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is decided of each call, as the first one of its session: nothing was read before it."""
    found = []
    for each in calls:
        call = ToolCall(each["serverName"], each["toolName"], each["arguments"], sources=frozenset())
        found.append(decide_call(call, policy, time.time()).decision.outcome.word)
    return found


@dataclass
class Score:
    """What came out."""

    calls: int = 0
    allows: int = 0
    allowed: int = 0
    touched: int = 0
    unsafe: list[str] = field(default_factory=list)
    unsafe_content: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    soft: int = 0
    strict: int = 0

    @property
    def share(self) -> float:
        """Of the allows that no question about content touches, how many are kept."""
        rest = self.allows - self.touched
        return self.allowed / rest if rest else 1.0

    def add(self, name: str, call: Mapping[str, Any], said: str, plain: str) -> None:
        """Count one call; `plain` is what would be decided without questions about content."""
        shown = f"{name}: {call['toolName']} {json.dumps(call['arguments'])[:160]} | {said} | {call['because'][:110]}"
        expected, accepted = call["expected"], {call["expected"], *call.get("accept", ())}
        self.calls += 1
        if expected == "allow":
            self.allows += 1
            self.allowed += said == "allow"
            if said != "allow" and plain == "allow":
                self.touched += 1
            elif said != "allow" and said not in accepted:
                self.missed.append(shown)
            elif said != "allow":
                self.allows -= 1
        elif said == "allow" and said not in accepted:
            (self.unsafe_content if "semantic" in call.get("tags", ()) else self.unsafe).append(shown)
        elif said not in accepted:
            self.soft += said == "escalate"
            self.strict += said == "deny"


def score(one: Case, statements: Sequence[tuple[str, str]], into: Score) -> Compiled:
    """Compile statements, each with its sentence, and count what becomes of the calls."""
    compiled = compile_statements(
        [Sourced(parse(line), sentence) for line, sentence in statements], one.tools, one.known
    )
    whole = decide(loaded(one, compiled), one.calls)
    quiet = tuple(rule for rule in compiled.rules if "assess" not in rule["if"])
    plain = decide(loaded(one, type(compiled)(quiet, compiled.limits, compiled.meanings)), one.calls)
    for call, said, without in zip(one.calls, whole, plain, strict=True):
        into.add(one.name, call, said, without)
    return compiled


@dataclass
class Exchange:
    """One reading of a constitution by a model, as far as it has come."""

    statements: dict[int, list[str]] = field(default_factory=dict)
    not_rules: set[int] = field(default_factory=set)
    unread: dict[int, str] = field(default_factory=dict)
    pending: str = ""
    """The file that waits for an answer."""
    outdated: bool = False


def exchange(one: Case, word: str, *, write: bool = False) -> Exchange:
    """Play a reading again from its files; with `write`, write the next request that has no answer."""
    directory = EXCHANGES / one.name
    found = Exchange()
    instructions, asked = question(one.tools, one.known, one.sentences, one.numbers, variant=WORDS.index(word))
    request = f"{instructions}\n\n{asked}\n"
    wanted = one.numbers
    for number in range(1, ROUNDS + 1):
        stem = word if number == 1 else f"{word}-{number}"
        there, answer_file = directory / f"{stem}.request.md", directory / f"{stem}.answer.md"
        if not answer_file.exists():
            if write:
                directory.mkdir(parents=True, exist_ok=True)
                there.write_text(request)
            found.pending = str(answer_file)
            break
        found.outdated = found.outdated or (number == 1 and there.read_text() != request)
        said = answer_file.read_text()
        answer = read_answer(said, wanted, one.tools, one.known)
        for each in wanted:
            found.statements.pop(each, None)
            if each in answer.statements:
                found.statements[each] = answer.statements[each]
            found.not_rules |= {each} & answer.not_rules
        found.unread = (
            {n: why for n, why in answer.unsaid.items() if n not in found.statements}
            | {n: "; ".join(texts) for n, texts in answer.complaints.items()}
            | {n: why for n, why in found.unread.items() if n not in wanted}
        )
        if not answer.wrong:
            break
        request = f"{instructions}\n\n{asked}{repair(answer, said)}\n"
        wanted = answer.wrong
    return found


def lines_of(one: Case, found: Exchange) -> list[tuple[str, str]]:
    """The statements of a reading, each with its sentence."""
    return [(line, one.sentences[n - 1].text) for n, lines in sorted(found.statements.items()) for line in lines]


def main(arguments: Sequence[str]) -> int:
    """`requests WORD NAME...` writes what is to be answered; `score WORD NAME...` shows what came out."""
    command, word, *names = arguments
    total = Score()
    for name in names:
        one = case(name)
        found = exchange(one, word, write=command == "requests")
        if command == "requests":
            print(found.pending or f"{name}: answered")
            continue
        own = Score()
        compiled = score(one, lines_of(one, found), own)
        score(one, lines_of(one, found), total)
        print(
            f"{name}: {own.calls} calls, allowed {own.allowed}/{own.allows} (content {own.touched}), unsafe"
            f" {len(own.unsafe)} (+{len(own.unsafe_content)} content), unread {len(found.unread)},"
            f" pending {found.pending}"
            f"{', OUT OF DATE' if found.outdated else ''}"
        )
        for each in (*(f"UNSAFE {x}" for x in own.unsafe), *(f"content {x}" for x in own.unsafe_content), *own.missed):
            print("   ", each)
        for number, why in found.unread.items():
            print("    unread", number, one.sentences[number - 1].text[:80], "|", why[:300])
        for meaning in compiled.problems:
            print("    problem", meaning.text, meaning.problem)
    if command != "requests":
        print(
            f"all: {total.calls} calls, allowed {total.allowed} of {total.allows} ({total.touched} touched by content,"
            f" {total.share:.0%}), unsafe {len(total.unsafe)} + {len(total.unsafe_content)} content,"
            f" soft {total.soft}, strict {total.strict}"
        )
    return 0


if __name__ == "__main__":
    import sys

    raise SystemExit(main(sys.argv[1:]))
