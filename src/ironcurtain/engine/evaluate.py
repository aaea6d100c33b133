"""The decision, on one screen.

(3) Invariants: what no policy can change. A deny ends it; "at most escalate" is remembered.
(4) Access: the first layer that blocks the tool ends it.
(5) Task: the task's own rules. They can only narrow: their outcome is joined with the next.
(6) Rules: each claim of the call goes through the compiled chain; no rule, no permission.

The strictest outcome is the answer; of equal ones the earliest step has given it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ironcurtain.engine.chain import RuleBook
from ironcurtain.engine.invariants import check_invariants
from ironcurtain.engine.rules import decide_claims
from ironcurtain.model.decision import Decision, Outcome, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ironcurtain.engine.policy import Facts, Policy
    from ironcurtain.model.call import CanonicalCall


def evaluate(call: CanonicalCall, policy: Policy, facts: Facts) -> Decision:
    """Decide a canonical call. Pure: the same arguments give the same decision."""
    worst: tuple[Stage, Verdict] | None = None
    for stage, verdict in _steps(call, policy, facts):
        if worst is None or verdict.outcome > worst[1].outcome:
            worst = stage, verdict
        if verdict.outcome is Outcome.DENY:
            break
    if worst is None:  # cannot be: step 6 always speaks. Should it ever, nothing was permitted.
        worst = Stage.RULES, Verdict(Outcome.DENY, "no_rule", "no rule was asked")
    stage, verdict = worst
    roles = tuple(dict.fromkeys(item.role for item in call.values))
    return Decision(verdict.outcome, stage, verdict.code, verdict.reason, verdict.rule, verdict.help, roles)


def escalations(call: CanonicalCall, policy: Policy, facts: Facts) -> tuple[Verdict, ...]:
    """Everything that asks for a person, not only what decided: each claim may have its own reason."""
    verdicts = (verdict for _, verdict in _steps(call, policy, facts))
    return tuple(dict.fromkeys(verdict for verdict in verdicts if verdict.outcome is Outcome.ESCALATE))


def _steps(call: CanonicalCall, policy: Policy, facts: Facts) -> Iterator[tuple[Stage, Verdict]]:
    # (3) invariants
    tool = policy.tools.get((call.server, call.tool))
    if tool is None:
        yield Stage.INVARIANTS, unknown_tool(call.server, call.tool)
        return
    if tool.drifted:
        yield Stage.INVARIANTS, drifted_tool(call.server, call.tool)
        return
    floors = []
    for verdict in check_invariants(call, policy):
        if verdict.outcome is Outcome.DENY:
            yield Stage.INVARIANTS, verdict
        floors.append(verdict)
    # (4) access
    if objection := policy.access.objection(tool, call.principal):
        yield Stage.ACCESS, objection
    # (5) task
    if facts.task is not None:
        if facts.now >= facts.task.expires_at:
            yield Stage.TASK, Verdict(Outcome.DENY, "task_expired", "the task's policy has expired")
        for _, verdict in decide_claims(RuleBook(facts.task.rules), tool, call, policy.setup.sandbox):
            if verdict.outcome is not Outcome.ALLOW:
                yield Stage.TASK, verdict
    # (6) rules
    for _, verdict in decide_claims(policy.book, tool, call, policy.setup.sandbox):
        yield Stage.RULES, verdict
    # (3) again: at most escalate
    for verdict in floors:
        yield Stage.INVARIANTS, verdict


def unknown_tool(server: str, tool: str) -> Verdict:
    """The answer to a tool that has no annotation."""
    help_ = "annotate the tool and verify the policy again"
    return Verdict(Outcome.DENY, "tool_unknown", f"{server}/{tool} is not annotated", help=help_)


def drifted_tool(server: str, tool: str) -> Verdict:
    """The answer to a tool whose definition is not the one that was pinned."""
    help_ = "review the new definition, then pin it again"
    return Verdict(Outcome.DENY, "tool_drift", f"the definition of {server}/{tool} does not match its pin", help=help_)
