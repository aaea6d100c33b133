"""The stages of a compilation, each remembered by its inputs: annotate, compile, prove, scenarios, verify."""

from __future__ import annotations

import re
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.analysis.prove import FATAL, Proof, Prover
from ironcurtain.artifacts.files import read_artifact, write_artifact
from ironcurtain.artifacts.policy import ANNOTATIONS, LISTS, POLICY, SCENARIOS, build, read_bundle
from ironcurtain.artifacts.shipped import fitted, shipped_bundle, shipped_constitution
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.cache import Cache
from ironcurtain.compiler.english.compiler import Compiled, Reported, compile_constitution
from ironcurtain.compiler.english.document import Sentence
from ironcurtain.compiler.english.surface import surfaces_of
from ironcurtain.compiler.product import Product, product_of
from ironcurtain.compiler.scenarios import derive_scenarios
from ironcurtain.wire.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from ironcurtain.analysis.diff import Difference
    from ironcurtain.artifacts.policy import Surroundings
    from ironcurtain.artifacts.verify import Verification
    from ironcurtain.compiler.llm.asking import Model
    from ironcurtain.compiler.setup import Known

_ORDER: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|preceding|foregoing)\b"
    r"[^.\n]{0,30}\b(?:instructions?|rules?|prompts?|sentences?|guidelines?|polic(?:y|ies))\b"
    r"|<\s*/?\s*(?:system|instructions?|assistant|override)\b|\bsystem prompt\b",
    re.IGNORECASE,
)
_HIDDEN: Final = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


@dataclass(frozen=True, slots=True)
class Step:
    """One stage, done."""

    name: str
    says: str
    seconds: float
    remembered: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """A policy, with everything that is known of it."""

    product: Product
    verification: Verification
    statements: tuple[Mapping[str, Any], ...]
    contradictions: tuple[str, ...]
    directory: Path

    def install(self, directory: Path) -> None:
        """Put it into another directory, with its verdict; what an earlier compilation left there goes."""
        self.product.write(directory)
        for name in (LISTS, POLICY):
            if (self.directory / name).exists():
                write_artifact(directory / name, read_artifact(self.directory / name))

    @property
    def unproven(self) -> tuple[Mapping[str, Any], ...]:
        """The statements that do not hold, or that nobody can be sure of."""
        return tuple(each for each in self.statements if each["proof"] != Proof.PROVEN.value)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A second opinion that the owner asks for, and which of the two is to hold."""

    model: Model
    opinion: str = "both"
    """`both` (the stricter), `built-in` or `model`."""


@dataclass(frozen=True, slots=True)
class Stages:
    """Runs the stages, tells of each, and remembers."""

    cache: Cache
    tell: Callable[[Step], None]
    model: Model | None = None
    """Asked for a second opinion on what tools mean."""

    def annotate(self, server: str, definitions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What the tools of a server mean."""
        began = time.monotonic()
        inputs = [server, definitions]
        known = self.cache.find("annotate", inputs)
        made = known or {"tools": [tool.fields() for tool in understand(server, definitions)]}
        if known is None:
            self.cache.keep("annotate", inputs, made)
        tools: list[dict[str, Any]] = made["tools"]
        self._done("annotate", f"{server}, {len(tools)} tools", began, remembered=known is not None)
        return self._described(server, tools) if self.model is not None else tools

    def _described(self, server: str, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The same with the roles that a model adds; without its answer, as they are."""
        from ironcurtain.compiler.llm.annotating import INSTRUCTIONS, describe  # noqa: PLC0415 - an extra
        from ironcurtain.compiler.llm.asking import Unanswered  # noqa: PLC0415

        if self.model is None:
            return tools
        began = time.monotonic()
        inputs = [self.model.name, INSTRUCTIONS, server, tools]
        made = self.cache.find("described", inputs)
        remembered = made is not None
        if made is None:
            try:
                more, doubts, tokens = describe(self.model, server, tools)
            except Unanswered as refusal:
                self._done(
                    "annotate", f"{server}: {refusal.reason}; the built-in answer stands", began, remembered=False
                )
                return tools
            made = {"tools": more, "says": f"{tokens} tokens", "doubts": doubts}
            self.cache.keep("described", inputs, made)
        says = f"{server}, {self.model.name}: {made['says']}"
        self._done("annotate", says, began, remembered=remembered)
        for doubt in made["doubts"]:
            self._done(
                "annotate",
                f"{server}, {doubt}; it stays, unless you say so in annotations.jsonl",
                began,
                remembered=True,
            )
        described: list[dict[str, Any]] = made["tools"]
        return described

    def compile(self, text: str, servers: Mapping[str, list[dict[str, Any]]], known: Known, version: int) -> Product:
        """What a constitution means for these tools."""
        began = time.monotonic()
        inputs = [text, dict(servers), asdict(known)]
        found = self.cache.find("compile", inputs)
        if found is None:
            surfaces = [surface for server, tools in servers.items() for surface in surfaces_of(server, tools)]
            compiled = compile_constitution(text, surfaces, known)
            self.cache.keep("compile", inputs, _fields(compiled))
        else:
            compiled = _compiled(found)
        says = f"{len(compiled.report)} sentences, {len(compiled.rules)} rules"
        self._done("compile", says, began, remembered=found is not None)
        return product_of(text, compiled, servers, known, version)

    def second(
        self, product: Product, directory: Path, surroundings: Surroundings, known: Known, wanted: Wanted
    ) -> tuple[Product, Difference]:
        """A model's reading beside ours: what holds, and how the two differ."""
        from ironcurtain.compiler.llm.drafting import INSTRUCTIONS, draft, prompt_of  # noqa: PLC0415 - an extra
        from ironcurtain.compiler.llm.opinions import joined  # noqa: PLC0415

        began = time.monotonic()
        product.write(directory)
        bundle = read_bundle(directory)
        sentences = [each.sentence.text for each in product.compiled.report]
        annotations = product.artifacts[ANNOTATIONS]
        inputs = [wanted.model.name, INSTRUCTIONS, prompt_of(sentences, annotations, known)]
        known_answer = self.cache.find("model", inputs)
        if known_answer is None:
            rules, answer = draft(wanted.model, sentences, annotations, known, build(bundle, surroundings))
            cost = "" if answer.cost is None else f", ${answer.cost:.4f}"
            found: dict[str, Any] = {"rules": rules, "says": f"{len(rules)} rules, {answer.tokens} tokens{cost}"}
            self.cache.keep("model", inputs, found)
        else:
            found = known_answer
        opinions = joined(bundle, product.compiled.rules, found["rules"], surroundings)
        chosen = {"both": opinions.rules, "built-in": product.compiled.rules, "model": found["rules"]}[wanted.opinion]
        says = f"{wanted.model.name}: {found['says']}"
        self._done("model", says, began, remembered=known_answer is not None)
        return product.ruled_by(chosen), opinions.difference

    def question(
        self, product: Product, directory: Path, surroundings: Surroundings, known: Known, wanted: Wanted
    ) -> tuple[Product, list[str]]:
        """A model's own tests, with what it mends of what they find; and what it says of them."""
        from ironcurtain.compiler.llm.judging import JUDGES, WRITES, question  # noqa: PLC0415 - an extra

        began = time.monotonic()
        product.write(directory)
        bundle = read_bundle(directory)
        inputs = [wanted.model.name, wanted.opinion, WRITES, JUDGES, product.text, bundle.meaning, asdict(known)]
        answered = self.cache.find("question", inputs)
        if answered is None:
            mend = wanted.opinion != "built-in"
            found = question(wanted.model, product, bundle, surroundings, known, mend=mend)
            answered = {
                "rules": found.rules,
                "scenarios": found.scenarios,
                "notes": found.notes,
                "says": f"{len(found.scenarios)} scenarios, {found.tokens} tokens",
            }
            self.cache.keep("question", inputs, answered)
            remembered = False
        else:
            remembered = True
        self._done("model", f"{wanted.model.name}: {answered['says']}", began, remembered=remembered)
        asked = tuple(answered["scenarios"])
        return replace(product.ruled_by(answered["rules"]), asked=asked), answered["notes"]

    def finish(
        self,
        product: Product,
        directory: Path,
        surroundings: Surroundings,
        *,
        own: Iterable[Mapping[str, Any]] = (),
        lists: Path | None = None,
    ) -> Made:
        """Write a product down, prove and test it, and stamp the verdict."""
        product.write(directory)
        if lists is not None and lists.exists() and lists.parent != directory:
            write_artifact(directory / LISTS, read_artifact(lists))
        statements = self._prove(product, directory, surroundings)
        whole, (product, statements) = product, _without_idle_rules(product, statements)
        if product is not whole:
            product.write(directory)
        scenarios, contradictions = self._scenarios(product, directory, surroundings, own)
        product = replace(product, artifacts={**product.artifacts, SCENARIOS: scenarios})
        product.write(directory)
        verification = self._verify(product, directory, surroundings, statements)
        return Made(product, verification, tuple(statements), tuple(contradictions), directory)

    def _prove(self, product: Product, directory: Path, surroundings: Surroundings) -> list[dict[str, Any]]:
        began = time.monotonic()
        inputs = _inputs(directory, surroundings)
        known = self.cache.find("prove", inputs)
        if known is None:
            loaded = build(read_bundle(directory), surroundings)
            sentences = {each.sentence.text for each in product.compiled.report}
            prover = Prover(loaded, surroundings.now, sentences)
            known = {"statements": [each.fields() for each in prover.statements()], "regions": prover.regions}
            self.cache.keep("prove", inputs, known)
            remembered = False
        else:
            remembered = True
        self._done("prove", f"{known['regions']} regions", began, remembered=remembered)
        statements: list[dict[str, Any]] = known["statements"]
        return statements

    def _scenarios(
        self, product: Product, directory: Path, surroundings: Surroundings, own: Iterable[Mapping[str, Any]]
    ) -> tuple[dict[str, Any], list[str]]:
        began = time.monotonic()
        inputs = _inputs(directory, surroundings)
        known = self.cache.find("scenarios", inputs)
        if known is None:
            made = {"scenarios": derive_scenarios(build(read_bundle(directory), surroundings))}
            self.cache.keep("scenarios", inputs, made)
        else:
            made = known
        handwritten = [*_shipped(product), *({**each, "source": "handwritten"} for each in own)]
        told = {canonical(each["request"]): each for each in handwritten}
        contradictions = [
            f"{told[key]['description']}: {told[key]['expectedDecision']}, but the rules say {each['expectedDecision']}"
            for each in made["scenarios"]
            if (key := canonical(each["request"])) in told and told[key]["expectedDecision"] != each["expectedDecision"]
        ]
        asked = {key: each for each in product.asked if (key := canonical(each["request"])) not in told}
        derived = [
            each for each in made["scenarios"] if (key := canonical(each["request"])) not in told and key not in asked
        ]
        says = f"{len(handwritten)} written by hand, {len(derived)} derived"
        says += f", {len(asked)} by a model" if asked else ""
        self._done("scenarios", says, began, remembered=known is not None)
        return {"version": 1, "scenarios": [*handwritten, *asked.values(), *derived]}, contradictions

    def _verify(
        self, product: Product, directory: Path, surroundings: Surroundings, statements: list[dict[str, Any]]
    ) -> Verification:
        """The verdict. A failure is remembered with its inputs, and no second run makes anything else of it."""
        began = time.monotonic()
        objections = [*_orders(product), *_violated(statements)]
        inputs = {"bundle": read_bundle(directory).digest, "home": str(surroundings.home)}
        before = self.cache.find("failed", inputs)
        if before is not None:
            objections += [each for each in before["objections"] if each not in objections]
        verification = verify_directory(directory, surroundings, tuple(objections))
        if not verification.passed and before is None:
            why = [*objections, *(f"scenario: {result.scenario.description}" for result in verification.failed)]
            self.cache.keep("failed", inputs, {"objections": why})
        says = f"{len(verification.results)} scenarios, {'pass' if verification.passed else 'FAIL'}"
        self._done("verify", says, began, remembered=before is not None)
        return verification

    def _done(self, name: str, says: str, began: float, *, remembered: bool) -> None:
        self.tell(Step(name, says, time.monotonic() - began, remembered))


QUIET: Final = Stages(Cache(), lambda _: None)
"""Remembers nothing and tells nobody."""


def _inputs(directory: Path, surroundings: Surroundings) -> list[object]:
    """What a policy means, where it stands, and what else decides there."""
    config = surroundings.config
    access = read_artifact(config).decode(errors="replace") if config is not None else ""
    return [read_bundle(directory).meaning, str(surroundings.home), access]


def _without_idle_rules(product: Product, statements: list[dict[str, Any]]) -> tuple[Product, list[dict[str, Any]]]:
    """Without the permissions that are proven to decide nothing: there is less to read.

    INVARIANT: a prohibition is never left out. Should the proof ever be wrong, less is allowed, and not more.
    """
    found = next((each for each in statements if each["statement"] == "reachable"), None)
    if found is None or found["proof"] != Proof.VIOLATED.value:
        return product, statements
    permissions = {rule["name"] for rule in product.compiled.rules if rule["then"] == "allow"}
    idle = {breach["rules"][0]: tuple(breach["rules"][1:]) for breach in found["breaches"]}
    gone = {name: others for name, others in idle.items() if name in permissions}
    left = [breach for breach in found["breaches"] if breach["rules"][0] not in gone]
    argument = f"{len(gone)} permissions that could never decide were left out"
    now = {**found, "argument": argument, "breaches": left, "proof": (Proof.VIOLATED if left else Proof.PROVEN).value}
    return product.explained(idle).without(gone), [now if each is found else each for each in statements]


def _violated(statements: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for each in statements:
        if each["statement"] in FATAL and each["proof"] == Proof.VIOLATED.value:
            yield from (breach["message"] for breach in each["breaches"])


def _orders(product: Product) -> Iterator[str]:
    """Sentences that speak to whoever compiles them are not the owner's word on what an assistant may do."""
    for each in product.compiled.report:
        text = each.sentence.text
        if _ORDER.search(text):
            yield f"a sentence gives orders to its reader: {text}"
        if _HIDDEN.search(text):
            yield f"a sentence has characters that nobody sees: {text}"


def _shipped(product: Product) -> list[dict[str, Any]]:
    """The scenarios that were written for the default constitution, if this is it, for the tools that are there."""
    if product.text != shipped_constitution().read_text():
        return []
    policy, annotations = product.artifacts[POLICY], product.artifacts[ANNOTATIONS]
    bundle = fitted(shipped_bundle(), policy["setup"]["home"], policy["setup"]["sandbox"])
    written: Any = bundle.items[SCENARIOS].value
    there = {(server, tool["toolName"]) for server, e in annotations["servers"].items() for tool in e["tools"]}
    return [
        scenario
        for scenario in written["scenarios"]
        if (scenario["request"]["serverName"], scenario["request"]["toolName"]) in there
    ]


def _fields(compiled: Compiled) -> dict[str, Any]:
    return {
        "rules": compiled.rules,
        "limits": compiled.limits,
        "report": [
            {"text": each.sentence.text, "verdict": each.verdict, "rules": [*each.rules], "notes": [*each.notes]}
            for each in compiled.report
        ],
    }


def _compiled(fields: Mapping[str, Any]) -> Compiled:
    report = [
        Reported(Sentence(each["text"], (), "", 0), each["verdict"], tuple(each["rules"]), tuple(each["notes"]))
        for each in fields["report"]
    ]
    return Compiled(fields["rules"], fields["limits"], report)
