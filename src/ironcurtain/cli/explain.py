"""`ironcurtain explain`: one call, for a person. Each step, each rule, and what would be allowed instead."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from rich.text import Text

from ironcurtain.cli.check import as_json, lines, stdin
from ironcurtain.cli.loading import load
from ironcurtain.cli.main import BAD, DONE
from ironcurtain.cli.show import console, heading, outcome
from ironcurtain.engine.explain import claim_stories, decisive_rules, nearby_values
from ironcurtain.engine.rules import subject
from ironcurtain.errors import Refusal, visible
from ironcurtain.mediation.decide import decide_call, refused
from ironcurtain.model.decision import Outcome, Stage
from ironcurtain.wire.call import read_call

if TYPE_CHECKING:
    import argparse

    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.engine.explain import ClaimStory
    from ironcurtain.mediation.decide import Judged
    from ironcurtain.model.call import CanonicalCall, Json, ToolCall


def run(arguments: argparse.Namespace) -> int:
    """Explain one call."""
    loaded = load(arguments)
    data = os.fsencode(arguments.call) if arguments.call else next(lines(stdin()), b"")
    try:
        call = read_call(data)
    except Refusal as refusal:
        shown = as_json(refused(Stage.VALIDATE, refusal))
        print(
            json.dumps(shown)
            if arguments.json
            else f"(1) validate: {refusal.reason} [{refusal.code}]\n    {refusal.help}"
        )
        return BAD
    judged = decide_call(call, loaded, time.time())
    if arguments.json:
        print(json.dumps(_for_machines(judged, loaded, call)))
    else:
        _for_people(judged, loaded, call)
    return DONE


def _stories(canonical: CanonicalCall, loaded: Loaded) -> tuple[ClaimStory, ...]:
    tool = loaded.policy.tools[canonical.server, canonical.tool]
    return claim_stories(canonical, loaded.policy.book.rules, tool, loaded.policy.setup.sandbox)


def _for_machines(judged: Judged, loaded: Loaded, call: ToolCall) -> dict[str, Json]:
    shown = as_json(judged.decision)
    if judged.call is None or judged.facts is None:
        return {**shown, "decisiveRules": []}
    claims: list[Json] = [
        {
            "claim": subject(story.claim),
            "decision": story.verdict.outcome.word,
            "code": story.verdict.code,
            "rule": story.verdict.rule,
            "asked": [{"rule": asked.rule.name, "answer": asked.answer} for asked in story.asked],
        }
        for story in _stories(judged.call, loaded)
    ]
    return {
        **shown,
        "arguments": judged.call.arguments,
        "claims": claims,
        "decisiveRules": list(decisive_rules(judged.call, loaded.policy, judged.facts)),
        "nearby": _nearby(judged, loaded, call),
    }


def _for_people(judged: Judged, loaded: Loaded, call: ToolCall) -> None:
    out = console()
    out.print(Text.assemble(("call   ", "dim"), visible(f"{call.server} / {call.tool}")))
    for name, value in call.arguments.items():
        out.print(Text.assemble(("       ", ""), (visible(name), "cyan"), " = ", visible(json.dumps(value))[:300]))
    decision = judged.decision
    if judged.call is None or judged.facts is None:
        out.print(Text.assemble("\n", (f"{decision.stage.value}: ", "bold"), visible(decision.reason)))
    else:
        canonical = judged.call
        out.print(heading("\n(1) validate", "  well-formed, and as the pinned schema wants it"))
        out.print(heading("(2) resolve", "   what will be checked, and sent:"))
        for item in canonical.values:
            out.print(f"    {visible(item.role):<12}  {visible(item.leaf)} = {visible(str(item.value))}")
        if not canonical.values:
            out.print("    nothing that has a role")
        structural = decision.stage in (Stage.INVARIANTS, Stage.ACCESS, Stage.TASK)
        out.print(
            Text.assemble(
                ("(3) invariants, (4) access, (5) task  ", "bold"),
                visible(f"{decision.stage.value} decides: {decision.reason}") if structural else "no objection",
            )
        )
        out.print(
            heading("(6) rules", "     each claim goes through the chain; the first rule that matches decides it:")
        )
        for story in _stories(canonical, loaded):
            _tell(story)
    out.print()
    out.print(
        Text.assemble(
            outcome(decision.outcome), f"  by {decision.stage.value}", f", {decision.code}: ", visible(decision.reason)
        )
    )
    if judged.call is not None and judged.facts is not None:
        decisive = decisive_rules(judged.call, loaded.policy, judged.facts)
        named = visible(", ".join(decisive)) or "none"
        out.print(Text(f"rules whose removal would change this: {named}", style="dim"))
        if nearby := _nearby(judged, loaded, call):
            out.print(Text.assemble(("would be allowed: ", "green"), visible(json.dumps(nearby))))
    if decision.help:
        out.print(Text(f"help: {visible(decision.help)}", style="dim"))


def _tell(story: ClaimStory) -> None:
    out = console()
    verdict = story.verdict
    claim = visible(subject(story.claim))
    out.print(Text.assemble("    ", claim, "  ", outcome(verdict.outcome), ("  " + verdict.code, "dim")))
    for asked in story.asked:
        mark = ("      > ", "bold") if asked.decides else ("        ", "")
        out.print(Text.assemble(mark, visible(asked.rule.name), ("  " + visible(asked.answer), "dim")))


def _nearby(judged: Judged, loaded: Loaded, call: ToolCall) -> Json:
    """A call that differs in one value and is allowed: tried, not guessed."""
    if judged.call is None or judged.decision.outcome is Outcome.ALLOW:
        return None
    for story in _stories(judged.call, loaded):
        if story.verdict.outcome is Outcome.ALLOW:
            continue
        leaves = {item.leaf for item in judged.call.values if item.value in story.claim.values}
        for value, _ in nearby_values(story.claim, loaded.policy.book.rules, loaded.policy.setup.sandbox):
            for leaf in leaves & call.arguments.keys():
                old = call.arguments[leaf]
                new: Json = [value] if isinstance(old, list) else value
                tried = type(call)(call.server, call.tool, {**call.arguments, leaf: new}, call.principal, call.task)
                if decide_call(tried, loaded, time.time()).decision.outcome is Outcome.ALLOW:
                    return {"serverName": tried.server, "toolName": tried.tool, "arguments": tried.arguments}
    return None
