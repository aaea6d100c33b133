"""A refusal in the words of a result, so that the agent's model reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ironcurtain.mediation.effects import Answer
    from ironcurtain.model.call import Json


def told_no(answer: Answer) -> dict[str, Json]:
    """The result of a call that was not made, or of which nobody knows whether it was."""
    return {
        "content": [{"type": "text", "text": "\n".join(_sentences(answer))}],
        "isError": True,
        "_meta": _why(answer),
    }


def _sentences(answer: Answer) -> Iterator[str]:
    decision, executed = answer.decision, answer.executed
    if executed is not None:
        yield f"IronCurtain: the call was allowed, but what came of it is unknown: {executed.reason}"
        yield "Do not repeat it before you have looked whether it took effect."
        return
    yield f"IronCurtain: not allowed ({decision.code}): {decision.reason}"
    if decision.help:
        yield f"What you can do: {decision.help}"


def _why(answer: Answer) -> dict[str, Json]:
    decision = answer.decision
    why: dict[str, Json] = {"decision": decision.outcome.word, "stage": decision.stage.value, "code": decision.code}
    if decision.rule:
        why["rule"] = decision.rule
    if answer.executed is not None:
        why["execution"] = answer.executed.status.value
    return {"ironcurtain/decision": why}
