"""A question as a person sees it: everything that matters, nothing cut, the agent's words apart and marked."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from ironcurtain.errors import visible
from ironcurtain.escalation.words import meaning, unusual

if TYPE_CHECKING:
    from ironcurtain.escalation.queue import Question
    from ironcurtain.model.call import Json


def shown(question: Question, group: str, now: float) -> dict[str, Json]:
    """All of it, as data. `now` is the machine's clock."""
    effect = question.effect
    prepared, decision = effect.prepared, effect.decision
    call = prepared.call
    means = meaning(call, prepared.policy.tools[call.server, call.tool])
    rule = next((rule for rule in prepared.policy.book.rules if rule.name == decision.rule), None)
    principal = call.principal
    who: dict[str, Json] = {
        "agent": principal.agent, "provider": principal.provider, "group": principal.group, "member": principal.member,
    }  # fmt: skip
    return {
        "id": question.id,
        "group": group,
        "session": question.session,
        "server": call.server,
        "tool": call.tool,
        "arguments": call.arguments,
        "besides": question.besides,
        "agent": {name: value for name, value in who.items() if value},
        "values": [{"role": item.role, "argument": item.leaf, "value": str(item.value)} for item in call.values],
        "happens": list(means.happens),
        "leaves": means.leaves,
        "undone": means.undone,
        "unusual": [*unusual(call, question.besides)],
        "code": decision.code,
        "reason": decision.reason,
        "rule": decision.rule,
        "principle": rule.principle if rule else "",
        "description": rule.description if rule else "",
        "alsoAsked": [*sorted(each.reason for each in effect.asking if each.reason != decision.reason)],
        "program": question.program,
        "times": question.times,
        "agentSays": question.agent_says,
        "widens": question.widens,
        "pattern": [*question.pattern.shown()] if question.pattern else [],
        "grant": {"uses": question.granted[0], "seconds": int(question.granted[1])},
        "digest": effect.digest,
        "askedAt": question.asked_at,
        "secondsLeft": None if math.isinf(question.expires) else max(0, int(question.expires - now)),
    }


def often(question: dict[str, Json]) -> str:
    """How often a yes lets the call be made, if that is more than once."""
    times = question.get("times", 1)
    return f", {times} times" if times != 1 else ""


def in_one_message(question: dict[str, Json]) -> str:
    """For a dialog of a client: plain lines, facts first."""
    happens, strange, also = question["happens"], question["unusual"], question["alsoAsked"]
    lines = [
        f"IronCurtain asks: may the agent call {question['server']}/{question['tool']}{often(question)}?",
        *(f"It {line}" for line in (happens if isinstance(happens, list) else [])),
        f"Leaves this machine: {question['leaves']}. Can be undone: {question['undone']}.",
        f"Asked because: {question['reason']}",
        *(f"Also: {line}" for line in (also if isinstance(also, list) else [])),
        *(str(line) for line in (strange if isinstance(strange, list) else [])),
    ]
    if question["principle"]:
        lines.append(f"Your words: {question['principle']}")
    lines.append(f"Exactly what will be sent: {json.dumps(question['arguments'], ensure_ascii=True)}")
    if question["besides"]:
        lines.append(f"And beside it: {json.dumps(question['besides'], ensure_ascii=True)}")
    return "\n".join(visible(line) for line in lines)
