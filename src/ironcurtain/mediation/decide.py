"""Steps 1 to 6 in order. The only place that knows all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ironcurtain.engine.conditions import with_members_of
from ironcurtain.engine.evaluate import drifted_tool, evaluate, unknown_tool
from ironcurtain.engine.policy import Facts
from ironcurtain.errors import ArtifactError, Refusal, visible
from ironcurtain.mediation.effects import Prepared
from ironcurtain.model.decision import Decision, Outcome, Stage, Verdict
from ironcurtain.wire.call import read_call

if TYPE_CHECKING:
    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.model.call import CanonicalCall, ToolCall
    from ironcurtain.model.policy import TaskPolicy


@dataclass(frozen=True, slots=True)
class Judged:
    """A decision with the call it was made on; no canonical call, no forwarding."""

    decision: Decision
    call: CanonicalCall | None = None
    facts: Facts | None = None


def decide_bytes(data: bytes, loaded: Loaded, now: float) -> Judged:
    """Decide a call from its bytes."""
    try:
        call = read_call(data)  # (1)
    except Refusal as refusal:
        return Judged(refused(Stage.VALIDATE, refusal))
    return decide_call(call, loaded, now)


def decide_call(call: ToolCall, loaded: Loaded, now: float) -> Judged:
    """Decide a call that has been read."""
    prepared = prepare(call, loaded, now)
    if isinstance(prepared, Decision):
        return Judged(prepared)
    return Judged(judge(prepared), prepared.call, prepared.facts)  # (3) to (6)


def prepare(
    call: ToolCall, loaded: Loaded, now: float, drifted: frozenset[tuple[str, str]] = frozenset()
) -> Prepared | Decision:
    """Validate and resolve a call that has been read, or refuse it."""
    key = (call.server, call.tool)
    tool = loaded.policy.tools.get(key)
    if tool is None:  # (3), early: without an annotation there is nothing to validate against
        return _structural(unknown_tool(*key))
    if tool.drifted or key in drifted:
        return _structural(drifted_tool(*key))
    schema = loaded.schemas[key]
    if isinstance(schema, str):
        reason = f"the definition of {call.server}/{call.tool} cannot be used: {schema}"
        return _structural(Verdict(Outcome.DENY, "tool_unusable", reason))
    stage = Stage.VALIDATE
    try:
        task = _task(call, loaded)
        arguments = schema.fill_defaults(call.arguments)  # (1)
        schema.validate(arguments)
        stage = Stage.RESOLVE
        named = with_members_of(tool, task.rules) if task else tool
        canonical = loaded.resolver.resolve(call, named, arguments)  # (2)
        if canonical.arguments != arguments:
            schema.validate(canonical.arguments)  # what is sent is what must be valid
    except Refusal as refusal:
        by_code = {"task_malformed": Stage.TASK, "argument_unknown": Stage.VALIDATE}
        return refused(by_code.get(refusal.code, stage), refusal)
    return Prepared(canonical, loaded.policy, Facts(now, task), loaded.digest)


def judge(prepared: Prepared) -> Decision:
    """Steps 3 to 6 on a prepared call, with a reason that can be shown anywhere."""
    decision = evaluate(prepared.call, prepared.policy, prepared.facts)
    plain = decision.reason.isascii() and decision.reason.isprintable()
    return decision if plain else replace(decision, reason=visible(decision.reason))


def _task(call: ToolCall, loaded: Loaded) -> TaskPolicy | None:
    if call.task is None:
        return None
    try:
        return loaded.task(call.task)
    except ArtifactError as error:
        raise Refusal("task_malformed", str(error), error.help) from None


def refused(stage: Stage, refusal: Refusal) -> Decision:
    """A refusal as a decision."""
    return Decision(Outcome.DENY, stage, refusal.code, refusal.reason, help=refusal.help)


def _structural(verdict: Verdict) -> Decision:
    return Decision(verdict.outcome, Stage.INVARIANTS, verdict.code, verdict.reason, help=verdict.help)
