"""Two other policy engines, each on a policy equivalent to ours, for comparison.

    cedar              Cedar, through the package `cedarpy`
    agent_governance   Agent Governance Toolkit, through the package `agent-os-kernel` or, from version 4 on,
                       `agent-governance-toolkit-core`; both provide the module `agent_os`, which needs `pyyaml`

A peer is called with a kind, a number of rules and a number of tools. It loads the policy once and returns a function
that decides one fixed call, "allow" or "deny". A package is imported when its peer is called and not before.

    kind            rule i                                                 the call
    no-roles        allow tool_{i % tools}                                 the tool of the last rule
    path-existing   allow read_file if path is inside /srv/data/d{i}       a path inside the last directory
    path-missing    the same: a peer is given a resolved path and does not look at the file system
    eight-values    the same                                               eight such paths in one argument
    domain          allow fetch if host is host{i}.example.com or below    a host below the last
    list            allow send if recipient is user{i}@example.com         the last address
    access-deny     deny tool_{i}, all in one list; allow the rest         the last tool of the list

With more than one tool, rule i of the path kinds is about tool_{i % tools} instead of read_file; domain, list and
access-deny do not depend on the number of tools. What no rule allows is denied, except in access-deny. "Inside" a
directory includes the directory itself. Any other kind gives None: resolving names and paths, argument roles, schemas
and escalation have no equivalent in these policies.

How Cedar expresses it. One policy for each rule in a `PolicySet` that is parsed once, as are the entities. A tool is an
action and its arguments are the context. A tool name is `action ==` in the scope, a directory is `==` or
`like "<directory>/*"`, a domain is `==` or `like "*.<domain>"`, a list entry is `==`. The denied tools are members of
an action group that one `forbid` names, beside a `permit` for everything; forbid beats permit. `like` compares one
string, not the elements of a set, so a call with several values is one batch with a request for each value, and all
must be allowed.

How the Agent Governance Toolkit expresses it. A rule about a tool alone has one condition and stands in a
`PolicyDocument` for the `PolicyEvaluator`: `eq` for a name, `in` for the list of denied tools. A rule about a tool and
an argument has two and stands in a `SharedPolicySchema` for the `SharedPolicyEvaluator`: `eq` for the tool and for a
list entry, `matches` with an anchored regular expression for a directory; a last rule without conditions denies.
Domains are an `EgressPolicy` with two entries for each rule, `<domain>` and `*.<domain>`; its entries are about hosts
and ports, so a `PolicyDocument` that allows the tool is asked first. A condition compares one value, so a call with
several is one evaluation for each value, and all must be allowed.
"""
# ruff: noqa: PLC0415 - a peer that is not installed must not keep the other from running

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import NamedTuple, Protocol, TypeAlias

Decide: TypeAlias = Callable[[], str]

PATH_KINDS = ("path-existing", "path-missing", "eight-values")
KINDS = ("no-roles", *PATH_KINDS, "domain", "list", "access-deny")


class Peer(Protocol):
    """An engine to compare with: what to print about it, and the call that builds a policy in it."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def __call__(self, kind: str, rules: int, tools: int) -> Decide | None: ...


class Rule(NamedTuple):
    """A tool, and the directory, domain or address that the rule is about."""

    tool: str
    target: str = ""


class Call(NamedTuple):
    """A tool, and the values of its one argument."""

    tool: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scenario:
    """What every peer is given: the rules and the call, in no engine's language."""

    kind: str
    rules: tuple[Rule, ...]
    call: Call

    @property
    def argument(self) -> str:
        """The name of the argument that the rules look at."""
        return {"domain": "host", "list": "recipient"}.get(self.kind, "path")


def scenario(kind: str, rules: int, tools: int) -> Scenario | None:
    """The rules and the call of a kind, or None if the kind is not one of `KINDS`."""
    if rules < 1 or tools < 1:
        raise ValueError("a scenario needs at least one rule and one tool")
    made: tuple[Rule, ...]
    values: tuple[str, ...] = ()
    if kind == "no-roles":
        made = tuple(Rule(f"tool_{i % tools}") for i in range(rules))
    elif kind in PATH_KINDS:
        made = tuple(Rule("read_file" if tools == 1 else f"tool_{i % tools}", f"/srv/data/d{i}") for i in range(rules))
        names = [f"file{n}.txt" for n in range(8)] if kind == "eight-values" else ["file.txt"]
        values = tuple(f"{made[-1].target}/sub/{name}" for name in names)
    elif kind == "domain":
        made = tuple(Rule("fetch", f"host{i}.example.com") for i in range(rules))
        values = (f"api.{made[-1].target}",)
    elif kind == "list":
        made = tuple(Rule("send", f"user{i}@example.com") for i in range(rules))
        values = (made[-1].target,)
    elif kind == "access-deny":
        made = tuple(Rule(f"tool_{i}") for i in range(rules))
    else:
        return None
    return Scenario(kind, made, Call(made[-1].tool, values))


@dataclass(frozen=True)
class _Peer:
    name: str
    packages: tuple[str, ...]  # the first that is installed gives the version
    build: Callable[[str, int, int], Decide | None]

    @property
    def version(self) -> str:
        for package in self.packages:
            try:
                return metadata.version(package)
            except metadata.PackageNotFoundError:
                continue
        raise metadata.PackageNotFoundError(" or ".join(self.packages))

    def __call__(self, kind: str, rules: int, tools: int) -> Decide | None:
        return self.build(kind, rules, tools)


def _peer(name: str, *packages: str) -> Callable[[Callable[[str, int, int], Decide | None]], _Peer]:
    return lambda build: _Peer(name, packages, build)


@_peer("Cedar", "cedarpy")
def cedar(kind: str, rules: int, tools: int) -> Decide | None:
    """A function that decides the call of this kind with `cedarpy.is_authorized_batch`."""
    made = scenario(kind, rules, tools)
    return cedar_decides(made) if made else None


@_peer("Agent Governance Toolkit", "agent-governance-toolkit-core", "agent-os-kernel")
def agent_governance(kind: str, rules: int, tools: int) -> Decide | None:
    """A function that decides the call of this kind with the evaluators of `agent_os`."""
    made = scenario(kind, rules, tools)
    return agent_governance_decides(made) if made else None


PEERS: tuple[Peer, ...] = (cedar, agent_governance)


def cedar_decides(made: Scenario) -> Decide:
    """The scenario in Cedar; also used to ask about another call."""
    from cedarpy import Entities, PolicySet, is_authorized_batch

    if made.kind == "access-deny":
        text = 'permit(principal, action, resource);\nforbid(principal, action in Action::"denied", resource);'
        group = {"type": "Action", "id": "denied"}
        members = [{"uid": {"type": "Action", "id": r.tool}, "attrs": {}, "parents": [group]} for r in made.rules]
        graph = [{"uid": group, "attrs": {}, "parents": []}, *members]
    else:
        text = "\n".join(_cedar_permit(made, rule) for rule in made.rules)
        graph = []
    policies = PolicySet.from_str(text)
    entities = Entities.from_json_str(json.dumps(graph))
    request = {
        "principal": {"type": "Agent", "id": "agent"},
        "action": {"type": "Action", "id": made.call.tool},
        "resource": {"type": "Server", "id": "server"},
    }
    requests = [{**request, "context": {made.argument: value}} for value in made.call.values] or [request]

    def decide() -> str:
        results = is_authorized_batch(requests, policies, entities)
        return "allow" if all(result.allowed for result in results) else "deny"

    return decide


def _cedar_permit(made: Scenario, rule: Rule) -> str:
    value = f"context.{made.argument}"
    equal = f"{value} == {json.dumps(rule.target)}"
    if made.kind in PATH_KINDS:
        when = f" when {{ {equal} || {value} like {json.dumps(rule.target + '/*')} }}"
    elif made.kind == "domain":
        when = f" when {{ {equal} || {value} like {json.dumps('*.' + rule.target)} }}"
    elif made.kind == "list":
        when = f" when {{ {equal} }}"
    else:
        when = ""
    return f"permit(principal, action == Action::{json.dumps(rule.tool)}, resource){when};"


def agent_governance_decides(made: Scenario) -> Decide:
    """The scenario in the Agent Governance Toolkit; also used to ask about another call."""
    if made.kind == "domain":
        return _egress(made)
    if made.kind in ("no-roles", "access-deny"):
        allowed = _tool_policy(made.call.tool, [rule.tool for rule in made.rules], deny=made.kind == "access-deny")
        return lambda: "allow" if allowed() else "deny"
    return _tool_and_argument_policy(made)


def _tool_policy(tool: str, listed: list[str], *, deny: bool = False) -> Callable[[], bool]:
    from agent_os.policies import (
        PolicyAction,
        PolicyCondition,
        PolicyDefaults,
        PolicyDocument,
        PolicyEvaluator,
        PolicyOperator,
        PolicyRule,
    )

    if deny:
        conditions = [PolicyCondition(field="tool_name", operator=PolicyOperator.IN, value=listed)]
        action, default = PolicyAction.DENY, PolicyAction.ALLOW
    else:
        conditions = [PolicyCondition(field="tool_name", operator=PolicyOperator.EQ, value=name) for name in listed]
        action, default = PolicyAction.ALLOW, PolicyAction.DENY
    rules = [PolicyRule(name=f"rule_{i}", condition=c, action=action) for i, c in enumerate(conditions)]
    evaluator = PolicyEvaluator([PolicyDocument(rules=rules, defaults=PolicyDefaults(action=default))])
    context = {"tool_name": tool}
    return lambda: bool(evaluator.evaluate(context).allowed)


def _egress(made: Scenario) -> Decide:
    from agent_os.egress_policy import EgressPolicy

    tool_allowed = _tool_policy(made.call.tool, [made.rules[0].tool])
    policy = EgressPolicy(default_action="deny")
    for rule in made.rules:
        policy.add_rule(rule.target, ports=[443])
        policy.add_rule(f"*.{rule.target}", ports=[443])
    hosts = made.call.values

    def decide() -> str:
        return "allow" if tool_allowed() and all(policy.check(host, 443).allowed for host in hosts) else "deny"

    return decide


def _tool_and_argument_policy(made: Scenario) -> Decide:
    from agent_os.policies import SharedPolicyEvaluator, SharedPolicySchema

    def conditions(rule: Rule) -> list[dict[str, str]]:
        tool = {"field": "tool_name", "operator": "eq", "value": rule.tool}
        if made.kind == "list":
            return [tool, {"field": made.argument, "operator": "eq", "value": rule.target}]
        inside = rf"^{re.escape(rule.target)}(?:/|\Z)"
        return [tool, {"field": made.argument, "operator": "matches", "value": inside}]

    allows = [{"id": f"rule_{i}", "action": "allow", "conditions": conditions(r)} for i, r in enumerate(made.rules)]
    otherwise = {"id": "otherwise", "action": "deny", "conditions": [], "priority": -1}
    rules = SharedPolicySchema(name=made.kind, scope="tool", rules=[*allows, otherwise]).parsed_rules()
    evaluator = SharedPolicyEvaluator()
    contexts = [{"tool_name": made.call.tool, made.argument: value} for value in made.call.values]

    def decide() -> str:
        return "allow" if all(evaluator.evaluate(context, rules).allowed for context in contexts) else "deny"

    return decide
