"""A directory of artifacts becomes a policy in force, or is refused as a whole."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.annotations import Schemas, read_annotations
from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.item import Item, parse
from ironcurtain.artifacts.lists import read_lists
from ironcurtain.artifacts.rules import Forms, RuleReader, read_task
from ironcurtain.artifacts.scenarios import Scenario, read_scenarios
from ironcurtain.artifacts.settings import read_budget
from ironcurtain.engine.access import Access
from ironcurtain.engine.chain import RuleBook
from ironcurtain.engine.conditions import with_members_of
from ironcurtain.engine.policy import Policy, declared_hosts
from ironcurtain.engine.protected import CLIENT_CONFIGURATIONS, Protected
from ironcurtain.errors import Refusal, quote
from ironcurtain.model.policy import Setup
from ironcurtain.resolve.call import CallResolver
from ironcurtain.resolve.paths import PathResolver, system_mounts
from ironcurtain.resolve.text import fold
from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.model.call import Json
    from ironcurtain.model.policy import Rule, TaskPolicy
    from ironcurtain.resolve.hosts import Lookup
    from ironcurtain.settings import Budget

POLICY: Final = "compiled-policy.json"
ANNOTATIONS: Final = "tool-annotations.json"
LISTS: Final = "dynamic-lists.json"
SCENARIOS: Final = "test-scenarios.json"
REQUIRED: Final = (POLICY, ANNOTATIONS)
BUDGET: Final = "budget.json"
FILES: Final = (*REQUIRED, LISTS, SCENARIOS, BUDGET)
CLOCK_SLACK: Final = 300.0  # seconds that a policy may seem to come from the future


# The package, and all of a virtual environment: whatever is put there runs as a part of us.
_OUR_PROGRAM: Final = (
    str(Path(__file__).absolute().parent.parent),
    *([sys.prefix] if sys.prefix != sys.base_prefix else []),
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of this machine when a policy loads."""

    home: Path
    """IronCurtain's own home."""
    now: float
    access: Access = field(default_factory=Access)
    config: Path | None = None
    lookup: Lookup | None = None
    program: tuple[str, ...] = field(default_factory=lambda: _OUR_PROGRAM)
    """Where our own code is."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The artifacts of one policy, read but not yet believed."""

    directory: Path
    items: Mapping[str, Item]

    @property
    def digest(self) -> str:
        """The digest over everything that a verdict speaks of."""
        content: dict[str, Json] = {name: item.value for name, item in self.items.items()}
        policy = content[POLICY]
        if isinstance(policy, dict):
            content[POLICY] = {key: value for key, value in policy.items() if key != "verification"}
        return "sha256:" + hashlib.sha256(strict_json.canonical(content)).hexdigest()

    @property
    def meaning(self) -> dict[str, Json]:
        """Everything that decisions rest on: no version, verdict or scenarios."""
        content: dict[str, Json] = {name: item.value for name, item in self.items.items() if name != SCENARIOS}
        policy = content[POLICY]
        if isinstance(policy, dict):
            aside = ("version", "verification", "generatedAt")
            content[POLICY] = {key: value for key, value in policy.items() if key not in aside}
        return content


@dataclass(frozen=True, slots=True)
class Loaded:
    """A policy in force, with what steps 1 and 2 need of it."""

    policy: Policy
    schemas: Schemas
    resolver: CallResolver
    scenarios: tuple[Scenario, ...]
    digest: str
    constitution: str
    """The digest of the constitution that it was compiled from, if it says so."""
    budget: Budget | None
    """The limits that the constitution sets, if it sets any."""
    _rules: RuleReader

    def task(self, value: Json) -> TaskPolicy:
        """Read a task policy that came with a call; its rules may refer to this policy's lists."""
        return read_task(Item(value, "task"), self._rules)

    def chain(self, value: Json, where: str) -> tuple[Rule, ...]:
        """Read other rules, for the same tools and lists."""
        return self._rules.rules(Item(value, where))


def read_bundle(directory: Path) -> Bundle:
    """Read every artifact of a directory."""
    present = [name for name in FILES if name in REQUIRED or os.path.lexists(directory / name)]
    return Bundle(directory, {name: parse(read_artifact(directory / name), str(directory / name)) for name in present})


def load_policy(directory: Path, surroundings: Surroundings) -> Loaded:
    """Load the policy of a directory, if it has been verified as it stands."""
    bundle = read_bundle(directory)
    require_verified(bundle)
    return build(bundle, surroundings)


def require_verified(bundle: Bundle) -> None:
    """Refuse a policy whose stamp is missing, says fail, or belongs to other content."""
    item = bundle.items[POLICY]
    again = f"run: ironcurtain policy verify {bundle.directory}"
    stamp = item.entries().get("verification")
    if stamp is None:
        item.fail("it has not been verified", again, "policy_unverified")
    members = stamp.members(("verdict", "digest"), ("scenarios", "at", "objections", "constitutionHash"))
    if "scenarios" in members:
        members["scenarios"].count()
    if "at" in members:
        members["at"].time()
    verdict = members["verdict"].word(("pass", "fail"))
    if members["digest"].text() != bundle.digest:
        members["digest"].fail("the policy was edited since it was verified", again, "policy_edited")
    if verdict != "pass":
        members["verdict"].fail("it did not pass its scenarios", again, "policy_failed")


def build(bundle: Bundle, surroundings: Surroundings) -> Loaded:
    """Put a policy together, verified or not."""
    item = bundle.items[POLICY]
    top = item.members(
        ("version", "setup", "rules"), ("generatedAt", "constitutionHash", "inputHash", "verification", "lists")
    )
    for name in ("constitutionHash", "inputHash"):
        if name in top:
            top[name].text()
    if "generatedAt" in top and top["generatedAt"].time() > surroundings.now + CLOCK_SLACK:
        top["generatedAt"].fail("it lies in the future", "check the clock, or compile again", "policy_future")
    paths, setup = _setup(top["setup"])
    protected = _protect(bundle, setup, surroundings, paths, top["setup"].entries()["sandbox"])
    tools, schemas = read_annotations(bundle.items[ANNOTATIONS])
    reader = RuleReader(
        paths, read_lists(top.get("lists"), bundle.items.get(LISTS)), Forms.of(tools.values()), [*tools.values()]
    )
    rules = reader.rules(top["rules"])
    tools = {key: with_members_of(tool, rules) for key, tool in tools.items()}
    book = RuleBook(rules)
    book.prepare(tools.values())
    return Loaded(
        policy=Policy(
            version=top["version"].count(least=1),
            setup=setup,
            tools=tools,
            book=book,
            protected=protected,
            access=surroundings.access,
            declared_hosts=declared_hosts(rules),
        ),
        schemas=schemas,
        resolver=CallResolver(paths, setup.path_base, surroundings.lookup),
        scenarios=read_scenarios(bundle.items[SCENARIOS]) if SCENARIOS in bundle.items else (),
        digest=bundle.digest,
        constitution=top["constitutionHash"].text() if "constitutionHash" in top else "",
        budget=read_budget(bundle.items[BUDGET]) if BUDGET in bundle.items else None,
        _rules=reader,
    )


def _setup(item: Item) -> tuple[PathResolver, Setup]:
    members = item.members(("home", "sandbox"), ("pathBase",))
    mounts = system_mounts()
    if not members["home"].text().startswith("/"):
        members["home"].fail("it is not absolute", "write the absolute path of a directory")
    home = _directory(members["home"], PathResolver("/", mounts=mounts))
    paths = PathResolver(home, mounts=mounts)
    bases = members["pathBase"].entries() if "pathBase" in members else {}
    base = {server: _directory(directory, paths) for server, directory in bases.items()}
    return paths, Setup(home, _directory(members["sandbox"], paths), base)


def _directory(item: Item, paths: PathResolver) -> str:
    text = item.text()
    try:
        return paths.resolve(text, None).text
    except Refusal as refusal:
        item.fail(refusal.reason, "write the plain, absolute path of a directory")


def _protect(bundle: Bundle, setup: Setup, surroundings: Surroundings, paths: PathResolver, place: Item) -> Protected:
    """Gather what is protected, and refuse a sandbox that overlaps it."""
    homes = [str(surroundings.home), f"{setup.home}/.ironcurtain"]
    files = [str((bundle.directory / name).absolute()) for name in FILES]
    files += [str(surroundings.config.absolute())] if surroundings.config else []
    files += [f"{setup.home}/{name}" for name in CLIENT_CONFIGURATIONS]
    everything = tuple(dict.fromkeys(form for path in (*homes, *files) for form in _forms(path, paths)))
    exceptions = tuple(dict.fromkeys(form for home in homes for form in _forms(f"{home}/sandbox", paths)))
    program = tuple(dict.fromkeys(form for path in surroundings.program for form in _forms(path, paths)))
    protected = Protected.of(everything, exceptions, fold, program)
    standing = protected.standing(setup.sandbox)
    if standing.covered or standing.ancestor:
        place.fail(
            f"the sandbox {quote(setup.sandbox)} overlaps something protected",
            f"choose a directory of its own, for example {surroundings.home}/sandbox",
            "sandbox_overlap",
        )
    return protected


def _forms(path: str, paths: PathResolver) -> tuple[str, ...]:
    """A protected path as it is written, and where it leads."""
    try:
        return path, paths.follow(path, None).text
    except Refusal:
        return (path,)
