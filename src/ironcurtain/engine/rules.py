"""Splits a call into claims and runs each through a chain of rules: the first that applies and holds decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ironcurtain.engine.conditions import ConditionError, Scope, conditions_hold, is_excepted
from ironcurtain.model.decision import Claim, Outcome, Verdict
from ironcurtain.model.resolved import CanonicalPath, CanonicalUrl
from ironcurtain.model.roles import CONTAINABLE, is_carried, sends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ironcurtain.engine.chain import Candidate, RuleBook
    from ironcurtain.model.call import CanonicalCall
    from ironcurtain.model.policy import Rule, Tool


_THE_CALL: Final = (Claim(None, ()),)


def claims_of(call: CanonicalCall) -> tuple[Claim, ...]:
    """One claim for each value of a resource role, one for each carried role; if there is none, one for the call."""
    if not call.values:
        return _THE_CALL
    claims = [Claim(item.role, (item.value,)) for item in call.values if not is_carried(item.role)]
    carried = dict.fromkeys(item.role for item in call.values if is_carried(item.role))
    claims += [Claim(role, tuple(item.value for item in call.values if item.role == role)) for role in carried]
    return tuple(claims)


def decide_claims(book: RuleBook, tool: Tool, call: CanonicalCall, sandbox: str) -> Iterator[tuple[Claim, Verdict]]:
    """Every claim of the call with what the rules say of it."""
    claims = claims_of(call)
    scope = Scope.of(call)
    sending = any(claim.role is not None and sends(claim.role) for claim in claims)
    for claim in claims:
        yield claim, decide_claim(book.candidates(tool, claim, scope), claim, scope, sandbox, sending=sending)


def decide_claim(
    candidates: Iterable[Candidate], claim: Claim, scope: Scope, sandbox: str, *, sending: bool
) -> Verdict:
    """What the rules say of one claim."""
    contained = is_contained(claim, sandbox)
    pending: Verdict | None = None  # what rules with an unanswered question would say
    for candidate in candidates:
        rule = candidate.rule
        if (rule.elsewhere and contained) or (candidate.reads_only and sending) or reaches_inside(rule, claim):
            continue
        if not goes_along(rule, claim, scope, sandbox):
            continue
        came = comes_from(rule, scope)
        if came is False:
            continue
        try:
            if not conditions_hold(rule, candidate.tests, claim, scope):
                continue
        except ConditionError as error:
            if rule.then is Outcome.ALLOW:
                continue
            return Verdict(Outcome.DENY, "rule_error", f"{rule.name} cannot be evaluated: {error}", rule.name)
        if is_excepted(rule, claim, scope):
            continue
        if not rule.joined and (not rule.unanswered or (came and rule.conditions.question is None)):
            return stricter(pending, candidate.says)
        if rule.then is not Outcome.ALLOW:
            pending = stricter(pending, candidate.says)
    if contained:
        return stricter(pending, Verdict(Outcome.ALLOW, "contained", "inside the sandbox"))
    return stricter(pending, Verdict(Outcome.DENY, "no_rule", f"no rule allows {subject(claim)}"))


def comes_from(rule: Rule, scope: Scope) -> bool | None:
    """Whether what the rule restricts may come from where its `origin` says; nothing if that is not known."""
    wanted = rule.conditions.sources
    if wanted is None or scope.sources is None or rule.then is Outcome.ALLOW:
        return None
    return not wanted.isdisjoint(scope.sources)


def goes_along(rule: Rule, claim: Claim, scope: Scope, sandbox: str) -> bool:
    """Whether a rule that names roles applies to what is carried beside them.

    An escalate covers carried claims of a call with a value of its roles; with `elsewhere`, one outside the sandbox.
    """
    if rule.then is not Outcome.ESCALATE or not rule.named or claim.role is None or claim.role in rule.named:
        return True
    beside = [Claim(role, (value,)) for role in rule.named for value in scope.by_role.get(role, ())]
    return any(not (rule.elsewhere and is_contained(each, sandbox)) for each in beside)


def reaches_inside(rule: Rule, claim: Claim) -> bool:
    """Whether an allow would open a private host that it does not itself name for this claim."""
    if rule.then is not Outcome.ALLOW:
        return False
    private = [v.address.host for v in claim.values if isinstance(v, CanonicalUrl) and v.address.private]
    domains = rule.conditions.domains
    named = domains.literal if domains and claim.role in domains.roles else frozenset()
    return any(host not in named for host in private)


def is_contained(claim: Claim, sandbox: str) -> bool:
    """Whether the claim is to read or write inside the sandbox."""
    return claim.role in CONTAINABLE and all(
        isinstance(value, CanonicalPath) and value.within(sandbox) for value in claim.values
    )


def stricter(first: Verdict | None, second: Verdict) -> Verdict:
    """Join two verdicts; of equal ones the first stays."""
    return second if first is None or second.outcome > first.outcome else first


def subject(claim: Claim) -> str:
    """The claim in words."""
    if claim.role is None:
        return "this call"
    shown = ", ".join(str(value) for value in claim.values)
    return f"{claim.role} {shown}" if len(shown) <= 200 else f"{claim.role} {shown[:200]}..."
