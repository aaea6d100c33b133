"""Tells how a decision came about: what each rule said of each claim, which rules mattered, and what would be allowed.

Slow on purpose: it asks every rule, where `chain` asks only those that can matter. A test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironcurtain.engine.chain import Candidate, may_apply, name_is_listed, reads_only
from ironcurtain.engine.conditions import ConditionError, Scope, conditions_hold, is_excepted, tests_of
from ironcurtain.engine.evaluate import evaluate
from ironcurtain.engine.rules import claims_of, comes_from, decide_claim, goes_along, is_contained, reaches_inside
from ironcurtain.model.decision import Outcome
from ironcurtain.model.policy import DomainTest, ListTest, PathTest
from ironcurtain.model.roles import sends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ironcurtain.engine.conditions import Test
    from ironcurtain.engine.policy import Facts, Policy
    from ironcurtain.model.call import CanonicalCall
    from ironcurtain.model.decision import Claim, Verdict
    from ironcurtain.model.policy import Rule, Tool


@dataclass(frozen=True, slots=True)
class Asked:
    """One rule, asked about one claim."""

    rule: Rule
    answer: str
    """Why it does not decide the claim, or that it does."""
    decides: bool


@dataclass(frozen=True, slots=True)
class ClaimStory:
    """One claim, every rule up to the one that decided it, and the verdict."""

    claim: Claim
    asked: tuple[Asked, ...]
    verdict: Verdict


def claim_stories(call: CanonicalCall, rules: tuple[Rule, ...], tool: Tool, sandbox: str) -> tuple[ClaimStory, ...]:
    """The story of every claim under one chain of rules."""
    claims = claims_of(call)
    scope = Scope.of(call)
    sending = any(claim.role is not None and sends(claim.role) for claim in claims)
    return tuple(_story(claim, rules, tool, scope, sandbox, sending=sending) for claim in claims)


def _story(
    claim: Claim, rules: tuple[Rule, ...], tool: Tool, scope: Scope, sandbox: str, *, sending: bool
) -> ClaimStory:
    asked = []
    candidates = []
    for order, rule in enumerate(rules):
        objection = _objection(rule, claim, tool, scope, sandbox, sending=sending)
        if not (_static_objection(rule, tool) or not may_apply(rule, tool, claim.role)):
            candidates.append(Candidate.of(order, rule))
        answered = not rule.unanswered or (comes_from(rule, scope) is True and rule.conditions.question is None)
        joined = "an open question allows nothing" if rule.then is Outcome.ALLOW else f"{rule.then.word} is joined"
        says = f"matches: {rule.then.word}" if answered else f"asks what no step answers yet; {joined}"
        if rule.joined:
            says = f"matches: {rule.then.word} is joined to what follows, and permits nothing"
        decides = objection is None and answered and not rule.joined
        asked.append(Asked(rule, objection or says, decides))
        if decides or (objection or "").startswith("cannot be evaluated"):
            break
    return ClaimStory(claim, tuple(asked), decide_claim(candidates, claim, scope, sandbox, sending=sending))


def _objection(rule: Rule, claim: Claim, tool: Tool, scope: Scope, sandbox: str, *, sending: bool) -> str | None:
    """Why a rule does not decide a claim, or nothing."""
    if reason := _static_objection(rule, tool):
        return reason
    if not may_apply(rule, tool, claim.role):
        return f"speaks of {', '.join(sorted(rule.named))}" if rule.named else "speaks of no particular tool or role"
    if rule.elsewhere and is_contained(claim, sandbox):
        return "applies outside the sandbox only"
    if reads_only(rule) and sending:
        return "allows reading, and this call also sends"
    if not goes_along(rule, claim, scope, sandbox):
        return f"speaks of {', '.join(sorted(rule.named))}, and the call has none that it asks about"
    if reaches_inside(rule, claim):
        return "does not name this private host"
    if comes_from(rule, scope) is False:
        return "nothing was read where it says"
    return _unmet(rule, claim, scope)


def _unmet(rule: Rule, claim: Claim, scope: Scope) -> str | None:
    """Which condition of a rule does not hold for a claim, or that an exception does; nothing if it matches."""
    try:
        if not conditions_hold(rule, tests_of(rule.conditions), claim, scope):
            return _failing(rule, claim, scope)
    except ConditionError as error:
        return f"cannot be evaluated: {error}" if rule.then is not Outcome.ALLOW else f"does not match: {error}"
    return "an exception of it holds" if is_excepted(rule, claim, scope) else None


def _static_objection(rule: Rule, tool: Tool) -> str | None:
    conditions = rule.conditions
    if conditions.servers and not name_is_listed(tool.server, conditions.servers):
        return f"is about the server {', '.join(conditions.servers)}"
    if conditions.tools and not name_is_listed(tool.name, conditions.tools):
        return f"is about {', '.join(conditions.tools)}"
    if conditions.side_effects is not None and conditions.side_effects != tool.side_effects:
        return f"is about tools {'with' if conditions.side_effects else 'without'} side effects"
    return None


def _failing(rule: Rule, claim: Claim, scope: Scope) -> str:
    for test in tests_of(rule.conditions):
        try:
            if not conditions_hold(rule, (test,), claim, scope):
                return f"{_asks(test)} does not hold"
        except ConditionError as error:
            return str(error)
    return "its conditions do not hold together"


def _asks(test: Test) -> str:
    who = ", ".join(sorted(test.roles))
    if isinstance(test, PathTest):
        return f"{who} within {' or '.join(test.within)}"
    if isinstance(test, DomainTest):
        return f"{who} at {', '.join([*sorted(test.names), *sorted('*.' + s for s in test.suffixes)][:5])}"
    if isinstance(test, ListTest):
        return f"{who} in a list of {len(test.members)}"
    return f"the condition on {test.leaf or who}"


def decisive_rules(call: CanonicalCall, policy: Policy, facts: Facts) -> list[str]:
    """Exactly the rules whose removal, one at a time, changes the outcome."""
    tool = policy.tools.get((call.server, call.tool))
    if tool is None:
        return []
    now = evaluate(call, policy, facts).outcome
    stories = claim_stories(call, policy.book.rules, tool, policy.setup.sandbox)
    suspects = dict.fromkeys(asked.rule.name for story in stories for asked in story.asked)
    return [name for name in suspects if evaluate(call, policy.without(name), facts).outcome is not now]


def nearby_values(claim: Claim, rules: tuple[Rule, ...], sandbox: str) -> Iterator[tuple[str, str]]:
    """Values that allow rules and the sandbox suggest instead of the claim's own, each with where it comes from."""
    if claim.role is None or not claim.values:
        return
    own = str(claim.values[0])
    name = own.rpartition("/")[2]
    if claim.role in ("read-path", "write-path"):
        yield f"{sandbox}/{name}", "the sandbox"
    for rule in rules:
        for test in tests_of(rule.conditions) if rule.then is Outcome.ALLOW else ():
            if claim.role in test.roles:
                yield from ((value, rule.name) for value in _suggested(test, claim.role, name))


def _suggested(test: Test, role: str, name: str) -> Iterator[str]:
    """A few values that pass a test."""
    if isinstance(test, PathTest):
        yield from (f"{directory}/{name}" for directory in test.within[:3])
    elif isinstance(test, DomainTest):
        for host in [*sorted(test.names), *("www." + s for s in sorted(test.suffixes))][:3]:
            yield f"https://{host}/" if "url" in role else f"someone@{host}"
    elif isinstance(test, ListTest):
        yield from (member for _, member in sorted(test.members, key=str)[:3] if isinstance(member, str))
