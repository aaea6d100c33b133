"""The stages of a compilation, each remembered by its inputs: annotate, read, compile, prove, scenarios, verify."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ironcurtain.analysis.prove import FATAL, Proof, Prover
from ironcurtain.artifacts.files import read_artifact, write_artifact
from ironcurtain.artifacts.policy import ANNOTATIONS, LISTS, POLICY, SCENARIOS, build, read_bundle
from ironcurtain.artifacts.shipped import fitted, shipped_bundle, shipped_constitution
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.compiler.agreement import compare, disputes, stricter
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.cache import Cache
from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.drafts import HARMLESS, Compiled
from ironcurtain.compiler.examples import belied, calls_alone, exemplified
from ironcurtain.compiler.product import Product, Reported, Told, product_of, report_fields, report_from
from ironcurtain.compiler.readers.guards import warnings
from ironcurtain.compiler.readers.offering import Forms
from ironcurtain.compiler.readers.reading import State
from ironcurtain.compiler.reading import Asking, compiled_from, read_constitution
from ironcurtain.compiler.scenarios import derive_scenarios
from ironcurtain.compiler.waivers import Proposal, Waivers
from ironcurtain.wire.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from ironcurtain.artifacts.policy import Surroundings
    from ironcurtain.artifacts.verify import Verification
    from ironcurtain.compiler.agreement import Dispute
    from ironcurtain.compiler.llm.asking import Model
    from ironcurtain.compiler.readers.model import Speaker
    from ironcurtain.compiler.readers.store import Readings
    from ironcurtain.compiler.reading import Read
    from ironcurtain.compiler.setup import Known
    from ironcurtain.compiler.waivers import AskOwner

Servers: TypeAlias = "Mapping[str, list[dict[str, Any]]]"
_ORDER: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|preceding|foregoing)\b"
    r"[^.\n]{0,30}\b(?:instructions?|rules?|prompts?|sentences?|guidelines?|polic(?:y|ies))\b"
    r"|<\s*/?\s*(?:system|instructions?|assistant|override)\b|\bsystem prompt\b",
    re.IGNORECASE,
)
_OFFERED: Final = 30  # unread sentences for which the nearest statements are looked for
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
    waived: tuple[str, ...] = ()
    """The roles that were taken away, as the owner agreed."""

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
class Stages:
    """Runs the stages, tells of each, and remembers."""

    cache: Cache
    tell: Callable[[Step], None]
    model: Model | None = None
    """Reads what the table does not, and is asked what tools mean where that is not certain."""
    twice: bool = True
    """The model is asked twice, independently."""
    tests: bool = False
    """The model writes tests of its own, too."""
    again: bool = False
    """What was skipped or said to be no rule is read again."""
    progress: Callable[[str], None] = lambda _: None
    """Told of an answer while it comes."""
    speaker: Speaker | None = None
    """Answers in the place of the model: a person with a chat window."""
    waivers: Waivers = field(default_factory=Waivers)
    """Roles that the owner agreed to take away."""
    ask_owner: AskOwner | None = None
    """Asks the owner about a role that the model would take away; without it, every role stays."""

    def annotate(self, server: str, definitions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What the tools of a server mean."""
        began = time.monotonic()
        inputs = [server, definitions]
        known = self.cache.find("annotate", inputs)
        if known is None:
            understood = list(understand(server, definitions))
            doubts = {tool.name: dict(tool.doubts) for tool in understood if tool.doubts}
            made: dict[str, Any] = {"tools": [tool.fields() for tool in understood], "doubts": doubts}
            self.cache.keep("annotate", inputs, made)
        else:
            made = known
        tools: list[dict[str, Any]] = made["tools"]
        self._done("annotate", f"{server}, {len(tools)} tools", began, remembered=known is not None)
        unsure = [tool for tool in tools if tool["args"] and tool["toolName"] in made["doubts"]]
        more = {tool["toolName"]: tool for tool in self._described(server, unsure)} if unsure else {}
        return self.waivers.apply(server, [more.get(tool["toolName"], tool) for tool in tools])

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
                more, proposals, tokens = describe(self.model, server, tools)
            except Unanswered as refusal:
                self._done(
                    "annotate", f"{server}: {refusal.reason}; the built-in answer stands", began, remembered=False
                )
                return tools
            made = {"tools": more, "says": f"{tokens} tokens", "proposals": [asdict(each) for each in proposals]}
            self.cache.keep("described", inputs, made)
        says = f"{server}, {self.model.name}: {made['says']}"
        self._done("annotate", says, began, remembered=remembered)
        proposals = [Proposal(**each) for each in made["proposals"]]
        self.waivers.put(proposals, self.ask_owner)
        for each in proposals:
            if not self.waivers.holds(each):
                shown = f"{server}, {each.tool}, {each.argument}: it would not call it {each.role}"
                says = f"{shown}; it stays, unless you agree on a terminal or say so in annotations.jsonl"
                self._done("annotate", says, began, remembered=True)
        described: list[dict[str, Any]] = made["tools"]
        return described

    def read(self, text: str, servers: Servers, known: Known, kept: Readings) -> Read:
        """Read every sentence of a constitution: what was agreed to, the table, and the model that was named."""
        began = time.monotonic()
        tools = catalogue_of(servers)
        speaker = self.speaker
        if speaker is None and self.model is not None:
            speaker = _Speaker(self.model, self.cache, self.progress)
        read = read_constitution(text, tools, known, kept, Asking(speaker, self.twice, self._note))
        readers = Counter(each.reader or each.state.value for each in read.readings)
        counted = ", ".join(
            f"{count} by {reader}" if reader != "unread" else f"{count} unread"
            for reader, count in sorted(readers.items())
        )
        self._done("read", f"{len(read.sentences)} sentences: {counted or 'none'}", began, remembered=False)
        return read

    def remembered(self, text: str, servers: Servers, known: Known, kept: Readings, version: int) -> Product | None:
        """Return what these inputs came to before, if every sentence was read then."""
        began = time.monotonic()
        found = None if self.again else self.cache.find("compiled", _whole(text, servers, known, kept))
        if found is None:
            return None
        compiled = Compiled(tuple(found["rules"]), found["limits"])
        self._done("compile", f"{len(compiled.rules)} rules", began, remembered=True)
        return product_of(text, compiled, report_from(found["report"]), servers, known, version)

    def remember(self, product: Product, servers: Servers, known: Known, kept: Readings) -> None:
        """Keep a product in which nothing is unread or wrong."""
        unclear = any(
            each.reading.state is State.UNREAD or any(told.meaning.problem for told in each.told)
            for each in product.report
        )
        if not unclear:
            made = {"rules": [*product.rules], "limits": dict(product.limits), "report": report_fields(product.report)}
            self.cache.keep("compiled", _whole(product.text, servers, known, kept), made)

    def compile(self, text: str, read: Read, servers: Servers, known: Known, kept: Readings, version: int) -> Product:
        """Compile what was read into the artifacts of a policy."""
        began = time.monotonic()
        tools = catalogue_of(servers)
        compiled, owners = compiled_from(read, tools, known, kept)
        offered, forms = read.unread[:_OFFERED], Forms.of(tools, known)
        report = [
            Reported(
                sentence,
                reading,
                tuple(Told(compiled.meanings[each]) for each in numbers),
                tuple(warnings(sentence.text, reading, known)) if not reading.agreed else (),
                forms.form(sentence).wholes if number in offered else (),
            )
            for number, (sentence, reading, numbers) in enumerate(
                zip(read.sentences, read.readings, owners, strict=True), 1
            )
        ]
        self._done(
            "compile", f"{len(compiled.meanings)} statements, {len(compiled.rules)} rules", began, remembered=False
        )
        return product_of(text, compiled, report, servers, known, version)

    def compared(
        self, read: Read, product: Product, second: Product, directory: Path, surroundings: Surroundings
    ) -> tuple[Product, list[Dispute]]:
        """Compare two readings for all calls; the stricter holds where they differ."""
        began = time.monotonic()
        loaded = []
        for each in (product, second):
            each.write(directory)
            loaded.append(build(read_bundle(directory), surroundings))
        difference = compare(loaded[0], loaded[1], surroundings.now)
        rules = stricter([*product.rules], [*second.rules], difference)
        pairs = [
            (n, read.readings[n - 1].statements, read.second[n - 1].statements, read.sentences[n - 1].text)
            for n in read.disputed
        ]
        found = disputes(pairs, difference, [*product.rules, *second.rules])
        says = f"two readings differ in {len(found)} sentences, about {len(difference.changes)} kinds of calls"
        self._done("compare", says, began, remembered=False)
        looks = {each.number: _differing(each) for each in found if each.changes}
        report = tuple(
            replace(each, warnings=(*each.warnings, looks[number])) if number in looks else each
            for number, each in enumerate(product.report, 1)
        )
        return replace(product, report=report).joined_with(second, rules), found

    def tested(self, product: Product, directory: Path, surroundings: Surroundings, known: Known) -> Product:
        """Let the model write tests of its own; return the product with them, and with what they made it mend."""
        if self.model is None or not self.tests:
            return product
        from ironcurtain.compiler.llm.asking import Unanswered  # noqa: PLC0415 - an extra
        from ironcurtain.compiler.llm.judging import WRITES, question  # noqa: PLC0415

        began = time.monotonic()
        product.write(directory)
        bundle = read_bundle(directory)
        inputs = [self.model.name, WRITES, product.text, bundle.meaning, asdict(known)]
        answered = self.cache.find("question", inputs)
        remembered = answered is not None
        if answered is None:
            try:
                found = question(self.model, product, bundle, surroundings, known)
            except Unanswered as refusal:
                self._done("model", f"no tests by a model: {refusal.reason}", began, remembered=False)
                return product
            says = f"{len(found.scenarios)} scenarios, {found.tokens} tokens"
            answered = {"scenarios": found.scenarios, "rules": found.rules, "notes": found.notes, "says": says}
            self.cache.keep("question", inputs, answered)
        self._done("model", f"{self.model.name}: {answered['says']}", began, remembered=remembered)
        for note in answered["notes"]:
            self._done("model", note, began, remembered=True)
        return replace(product.ruled_by(answered["rules"]), asked=tuple(answered["scenarios"]))

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
        alone = calls_alone(read_bundle(directory), surroundings, whole.rules)
        product = exemplified(product, scenarios["scenarios"], alone)
        verification = self._verify(product, directory, surroundings, statements)
        waived = tuple(waiver.says for waiver in self.waivers.applied)
        return Made(product, verification, tuple(statements), tuple(contradictions), directory, waived)

    def _prove(self, product: Product, directory: Path, surroundings: Surroundings) -> list[dict[str, Any]]:
        began = time.monotonic()
        inputs = _inputs(directory, surroundings)
        known = self.cache.find("prove", inputs)
        if known is None:
            loaded = build(read_bundle(directory), surroundings)
            sentences = {each.sentence.text for each in product.report} | {HARMLESS}
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
        objections = [*_orders(product), *_violated(statements), *belied(product)]
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

    def _note(self, says: str) -> None:
        self.tell(Step("read", says, 0.0))

    def _done(self, name: str, says: str, began: float, *, remembered: bool) -> None:
        self.tell(Step(name, says, time.monotonic() - began, remembered))


QUIET: Final = Stages(Cache(), lambda _: None)
"""Remembers nothing and tells nobody."""


def _whole(text: str, servers: Servers, known: Known, kept: Readings) -> list[object]:
    """Everything that a compilation without a model depends on."""
    readings = {key: [each.state.value, *each.statements] for key, each in kept.kept.items()}
    picks = {line: sorted(tools) for line, tools in kept.picks.items()}
    return [text, dict(servers), asdict(known), readings, picks]


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
    permissions = {rule["name"] for rule in product.rules if rule["then"] == "allow"}
    idle = {breach["rules"][0]: tuple(breach["rules"][1:]) for breach in found["breaches"]}
    gone = {name: others for name, others in idle.items() if name in permissions}
    left = [breach for breach in found["breaches"] if breach["rules"][0] not in gone]
    argument = f"{len(gone)} permissions that could never decide were left out"
    now = {**found, "argument": argument, "breaches": left, "proof": (Proof.VIOLATED if left else Proof.PROVEN).value}
    return product.without(gone), [now if each is found else each for each in statements]


def _differing(dispute: Dispute) -> str:
    """Say of a sentence that was read in two ways what holds until the owner has chosen."""
    change = dispute.changes[0]
    word = max(change.was, change.now).word
    other = " ".join(dispute.second) or "nothing"
    return (
        f"two readings differ, and the stricter holds ({word}), for example for {change.server}/{change.tool}"
        f" {change.example.fields()}; the other reading: {other}"
    )


def _violated(statements: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for each in statements:
        if each["statement"] in FATAL and each["proof"] == Proof.VIOLATED.value:
            yield from (breach["message"] for breach in each["breaches"])


def _orders(product: Product) -> Iterator[str]:
    """Sentences that speak to whoever compiles them are not the owner's word on what an assistant may do."""
    for each in product.report:
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


@dataclass(frozen=True, slots=True)
class _Speaker:
    """The model that was named; an answer that it gave before is not asked for again."""

    model: Model
    cache: Cache
    progress: Callable[[str], None]

    @property
    def name(self) -> str:
        return self.model.name

    def reply(self, instructions: str, asked: str) -> str:
        inputs = [self.model.name, instructions, asked]
        known = self.cache.find("said", inputs)
        if known is None:
            known = {"text": self.model.say("read", instructions, asked, self.progress).output}
            self.cache.keep("said", inputs, known)
        return str(known["text"])
