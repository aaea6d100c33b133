"""Scores the built-in English compiler on decided calls. `python -m evaluation.english` lists every error."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evaluation.annotate import DATA
from ironcurtain.artifacts.policy import POLICY, Surroundings, load_policy
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.compiler.labels import read_labels
from ironcurtain.compiler.offline import compile_offline
from ironcurtain.compiler.setup import read_setup
from ironcurtain.compiler.stages import QUIET
from ironcurtain.mediation.decide import decide_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ironcurtain.compiler.offline import Labels
    from ironcurtain.compiler.product import Product

CONSTITUTIONS: Final = DATA / "constitutions"
SETS: Final = {
    "given": "three that were given",
    "reworded": "the same, in three other wordings each",
    "made": "ten others, by writers who had not seen the compiler, and hard on purpose",
    "plain": "six others, likewise, in the manner of the given ones",
    "fresh": "eight more, likewise, in many voices",
    "next": "six more, likewise",
    "last": "five more, likewise",
}
ENOUGH: Final = 0.9


@dataclass
class Score:
    """What came out for one set of constitutions."""

    cases: int = 0
    unsafe: list[str] = field(default_factory=list)
    unsafe_in_meaning: list[str] = field(default_factory=list)
    """Of those, what only a reader of the content could have stopped."""
    soft: int = 0
    strict: int = 0
    allows: int = 0
    allowed: int = 0
    touched: int = 0
    """Allows that ask only because of a sentence about content, which nobody is there to judge."""
    missed: list[str] = field(default_factory=list)
    sentences: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """Of the allows that no sentence about content touches, how many are allowed."""
        rest = self.allows - self.touched
        return self.allowed / rest if rest else 1.0


def constitutions(name: str) -> list[Path]:
    """The directories of one set."""
    return sorted(CONSTITUTIONS.glob(f"{name}-*"))


def compiled(directory: Path, labels: Labels) -> Product:
    """One of them, compiled for its servers."""
    servers = json.loads((directory / "servers.json").read_text())
    catalogues = [f"{name}={DATA / 'catalogues' / file}.json" for name, file in servers.items()]
    text = (directory / "constitution.md").read_text()
    return compile_offline(text, catalogues, read_setup(directory / "config.json"), labels, 1, QUIET)


def cases(directory: Path) -> list[dict[str, Any]]:
    """The calls and what each deserves."""
    return [json.loads(line) for line in (directory / "cases.jsonl").read_text().splitlines()]


def decided(product: Product, calls: list[dict[str, Any]], *, assess: bool = True) -> Iterator[str]:
    """What the compiled policy says; without `assess`, as if everything that was asked about content were harmless."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "policy"
        product.write(directory)
        if not assess:
            policy = json.loads((directory / POLICY).read_text())
            policy["rules"] = [rule for rule in policy["rules"] if "assess" not in rule["if"]]
            (directory / POLICY).write_text(json.dumps(policy))
        around = Surroundings(Path(name) / "home", time.time())
        if not verify_directory(directory, around).passed:
            raise SystemExit(f"{directory}: not verified")
        loaded = load_policy(directory, around)
        for call in calls:
            request = {key: call[key] for key in ("serverName", "toolName", "arguments")}
            yield decide_bytes(json.dumps(request).encode(), loaded, time.time()).decision.outcome.word


def score(name: str, labels: Labels) -> Score:
    """One set of constitutions."""
    out = Score()
    for directory in constitutions(name):
        product, calls = compiled(directory, labels), cases(directory)
        out.sentences.update(each.verdict for each in product.compiled.report)
        both = zip(decided(product, calls), decided(product, calls, assess=False), strict=True)
        for call, (said, plain) in zip(calls, both, strict=True):
            _add(out, call, said, plain, f"{directory.name}: {call['toolName']} {json.dumps(call['arguments'])[:120]}")
    return out


def _add(out: Score, call: Mapping[str, Any], said: str, plain: str, shown: str) -> None:
    expected, accepted = call["expected"], {call["expected"], *call.get("accept", ())}
    out.cases += 1
    if expected == "allow":
        out.allows += 1
        out.allowed += said == "allow"
        out.touched += said != "allow" and plain == "allow"
        if said != "allow" and plain != "allow":
            out.missed.append(f"{shown} | {said} | {call['because']}")
    elif said == "allow" and said not in accepted:
        kind = out.unsafe_in_meaning if "semantic" in call.get("tags", ()) else out.unsafe
        kind.append(f"{shown} | {call['because']}")
    elif said not in accepted:
        out.soft += said == "escalate"
        out.strict += said == "deny"


def bars(scores: Mapping[str, Score]) -> list[tuple[str, bool]]:
    """What must hold on the given ones."""
    given = [score for name, score in scores.items() if name.startswith("given")]
    return [
        ("no unsafe error", not any(score.unsafe or score.unsafe_in_meaning for score in given)),
        (f"at least {ENOUGH:.0%} of the allows allowed", all(score.share >= ENOUGH for score in given)),
    ]


def scored() -> dict[str, Score]:
    """Every set with the built-in annotations, and the given one with those that people wrote, too."""
    people = read_labels(DATA / "annotations" / "first.jsonl")
    return {**{name: score(name, {}) for name in SETS}, "given, labelled by people": score("given", people)}


INTRODUCTION: Final = """\
Constitutions with calls and the decision that each deserves, in `evaluation/constitutions`: three that were given,
nine rewordings of them, ten others that are hard on purpose (made), six in the manner of the given ones (plain) and
nineteen more (fresh, next, last), all by writers who had not seen the compiler. *Unsafe*: allowed and should not be;
*in meaning*: of these, what only a reader of the content could have stopped. *Asks for no* and *no for asks* leak
nothing. *Touched*: allows that ask only because a sentence speaks of content and nobody is there to judge it; *share*
is of the other allows. All sets were looked at since they were written. Before they were, 1 of 261 calls was unsafe
on the rewordings, 1 of 350 on the made ones, 5 of 179 on the plain ones, 1 of 213 on the fresh ones, 1 of 144 on the
next and none of 110 on the last; and of the allows that no sentence about content touches 41 % were allowed on the
plain ones, 25 % on the fresh ones, 28 % on the next and 50 % on the last: expect that order on a text that nobody has
seen. What is not allowed is asked or denied, and `ironcurtain compile` names the sentence.
"""


def page(scores: Mapping[str, Score]) -> str:
    """The figures as they stand in the documentation."""
    columns = (
        "set",
        "calls",
        "unsafe",
        "in meaning",
        "asks for no",
        "no for asks",
        "allows",
        "allowed",
        "touched",
        "share",
    )
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for name, out in scores.items():
        row = (name, out.cases, len(out.unsafe), len(out.unsafe_in_meaning), out.soft, out.strict, out.allows)
        lines.append(
            "| " + " | ".join(str(cell) for cell in (*row, out.allowed, out.touched, f"{out.share:.0%}")) + " |"
        )
    lines += ["", "| set | sentences | rules or limits | hold anyway | ask | no tool | no rule |", "|" + " --- |" * 7]
    for name, out in scores.items():
        said = out.sentences
        cells = (said["rules"] + said["limits"], said["kept"], said["asks"], said["nothing"], said["background"])
        lines.append(f"| {name} | {said.total()} | " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines)


def evaluate() -> tuple[str, list[tuple[str, bool]]]:
    """Score all sets: the figures, and what holds."""
    scores = scored()
    for name, out in scores.items():
        for each in (*out.unsafe, *out.unsafe_in_meaning):
            print(f"unsafe: {name}: {each}")
    return page(scores), bars(scores)


def main() -> None:
    """List every error."""
    for name, out in scored().items():
        print(*(f"unsafe {name}: {each}" for each in (*out.unsafe, *out.unsafe_in_meaning)), sep="\n", end="")
        print(*(f"missed {name}: {each}" for each in out.missed), sep="\n")


if __name__ == "__main__":
    main()
