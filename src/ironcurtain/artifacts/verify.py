"""Runs the scenarios of a policy on the real engine and stamps the verdict into it.

The verdict is bound to the digest of everything it speaks of. Two things hold for every policy and are tried besides
its own scenarios: an unknown tool is denied, and a protected path is denied to every tool.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.annotations import pin_of
from ironcurtain.artifacts.files import write_artifact
from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, Bundle, build, read_bundle
from ironcurtain.artifacts.scenarios import Scenario
from ironcurtain.engine.evaluate import evaluate
from ironcurtain.engine.policy import Facts
from ironcurtain.errors import Refusal
from ironcurtain.mediation.decide import decide_call, refused
from ironcurtain.model.call import ToolCall
from ironcurtain.model.decision import Decision, Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ironcurtain.artifacts.policy import Loaded, Surroundings
    from ironcurtain.model.call import Json
    from ironcurtain.model.policy import Shape, Tool

_AS_IT_STANDS: Final = "it failed before, exactly as it stands; change it first"
_UNKNOWN: Final = ToolCall("no-such-server", "no_such_tool", {})


@dataclass(frozen=True, slots=True)
class Result:
    """A scenario and what became of it."""

    scenario: Scenario
    decision: Decision
    passed: bool


@dataclass(frozen=True, slots=True)
class Verification:
    """The results of all scenarios of a policy, and how many tools were given a pin."""

    results: tuple[Result, ...]
    pinned: int = 0
    objections: tuple[str, ...] = ()
    """What speaks against the policy besides its scenarios."""

    @property
    def passed(self) -> bool:
        """Whether every scenario passed, of which there are always some, and nothing else speaks against it."""
        return bool(self.results) and all(result.passed for result in self.results) and not self.objections

    @property
    def failed(self) -> tuple[Result, ...]:
        """The scenarios that did not pass."""
        return tuple(result for result in self.results if not result.passed)


def verify_directory(directory: Path, surroundings: Surroundings, objections: tuple[str, ...] = ()) -> Verification:
    """Verify the policy of a directory and write the verdict into it."""
    bundle, count = pinned(read_bundle(directory))
    objections = (*objections, *(each for each in _held_against(bundle) if each not in objections))
    verification = Verification(run_scenarios(build(bundle, surroundings), surroundings.now), count, objections)
    stamped = stamp(bundle, verification, surroundings.now)
    if count:
        write_artifact(directory / ANNOTATIONS, _written(bundle.items[ANNOTATIONS].value))
    write_artifact(directory / POLICY, _written(stamped))
    return verification


def _held_against(bundle: Bundle) -> Iterator[str]:
    """What a failure of before says against it: of the same content all, of the same constitution what was found in it.

    No second run makes a pass of a failure.
    """
    policy = bundle.items[POLICY].entries()
    said = policy["verification"].value if "verification" in policy else None
    if not isinstance(said, dict) or said.get("verdict") != "fail":
        return
    if said.get("digest") == bundle.digest:
        yield _AS_IT_STANDS
    own = policy["constitutionHash"].value if "constitutionHash" in policy else None
    held = said.get("objections")
    if own is not None and said.get("constitutionHash") == own and isinstance(held, list):
        yield from (each for each in held if isinstance(each, str) and each != _AS_IT_STANDS)


def stamp(bundle: Bundle, verification: Verification, now: float) -> Json:
    """The policy file with the verdict in it."""
    policy = bundle.items[POLICY].value
    verdict: dict[str, Json] = {
        "verdict": "pass" if verification.passed else "fail",
        "digest": bundle.digest,
        "scenarios": len(verification.results),
        "at": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if verification.objections:
        verdict["objections"] = [*verification.objections]
        verdict["constitutionHash"] = policy.get("constitutionHash") if isinstance(policy, dict) else None
    return {**policy, "verification": verdict} if isinstance(policy, dict) else policy


def run_scenarios(loaded: Loaded, now: float) -> tuple[Result, ...]:
    """Decide every scenario of a policy, and those that hold for all policies."""
    own = [_result(scenario, decide_call(scenario.call, loaded, now).decision) for scenario in loaded.scenarios]
    return (*own, *_for_every_policy(loaded, now))


def _result(scenario: Scenario, decision: Decision) -> Result:
    return Result(scenario, decision, decision.outcome is scenario.expected)


def _for_every_policy(loaded: Loaded, now: float) -> Iterator[Result]:
    unknown = Scenario("an unknown tool is denied", _UNKNOWN, Outcome.DENY)
    decision = decide_call(_UNKNOWN, loaded, now).decision
    yield Result(unknown, decision, decision.code == "tool_unknown")
    target = f"{loaded.policy.setup.home}/.ironcurtain/constitution.md"
    for tool in loaded.policy.tools.values():
        arguments = _all_strings(tool.arguments, target)
        if arguments and not tool.drifted:
            call = ToolCall(tool.server, tool.name, arguments)
            decision = _decide_unvalidated(call, tool, loaded, now)
            scenario = Scenario(f"a protected path is denied to {tool.server}/{tool.name}", call, Outcome.DENY)
            yield Result(scenario, decision, decision.outcome is Outcome.DENY and decision.stage in _STRUCTURAL)


_STRUCTURAL: Final = (Stage.RESOLVE, Stage.INVARIANTS)


def _decide_unvalidated(call: ToolCall, tool: Tool, loaded: Loaded, now: float) -> Decision:
    """Decide without asking the schema, so that it is the invariant that answers."""
    try:
        return evaluate(loaded.resolver.resolve(call, tool, call.arguments), loaded.policy, Facts(now))
    except Refusal as refusal:
        return refused(Stage.RESOLVE, refusal)


def _all_strings(shape: Shape, text: str) -> dict[str, Json]:
    """Arguments in which every leaf holds the text."""
    return {name: _filled(member, text) for name, member in shape.members.items()}


def _filled(shape: Shape, text: str) -> Json:
    if shape.elements:
        return [_filled(shape.elements, text)]
    return _all_strings(shape, text) if shape.members else text


def pinned(bundle: Bundle) -> tuple[Bundle, int]:
    """The bundle with a pin on every definition that has none yet. A wrong pin stays wrong."""
    item = bundle.items[ANNOTATIONS]
    value: Json = json.loads(json.dumps(item.value))
    count = 0
    servers = value.get("servers") if isinstance(value, dict) else None
    for server in servers.values() if isinstance(servers, dict) else ():
        tools = server.get("tools") if isinstance(server, dict) else None
        for tool in tools if isinstance(tools, list) else ():
            definition = tool.get("definition") if isinstance(tool, dict) else None
            if isinstance(tool, dict) and isinstance(definition, dict) and "pin" not in tool:
                tool["pin"] = pin_of(definition)
                count += 1
    return replace(bundle, items={**bundle.items, ANNOTATIONS: replace(item, value=value)}), count


def _written(value: Json) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
