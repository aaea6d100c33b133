"""The owner's own questions: "can anything ever send mail to someone outside contacts without asking?"

A question is the prohibition that it asks about. It is read by the same compiler as a constitution, for the tools of
the policy, and becomes a chain of rules; the analysis then looks for a call that the chain forbids and the policy does
not. What lies inside the bounds that a question names is no matter of the question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.english.compiler import compile_constitution
from ironcurtain.compiler.english.surface import surfaces_of
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.compiler.setup import Known

_ASKED: Final = re.compile(
    r"(?:is it (?:ever )?possible (?:for (?P<whose>.+?) )?to"
    r"|(?:can|could|may|might|will|would) (?P<who>(?:the |an? |my )?[\w'-]+)(?: ever)?) (?P<what>.+)",
    re.IGNORECASE,
)
_UNASKED: Final = re.compile(
    r",?\s*\b(?:without|before) (?:ever )?(?:asking|my (?:approval|okay|ok|permission|consent)|being asked|checking)"
    r"(?: (?:me|first|with me))*",
    re.IGNORECASE,
)
_ASSISTANT: Final = re.compile(
    r"(?:it|anything|anyone|anybody|something|he|she|(?:the|an?|my) (?:assistant|agent|bot))$"
)
_PEOPLE_OUTSIDE: Final = re.compile(
    r"\b(?:someone|anyone|anybody|somebody|people|a person|an address|addresses)"
    r"(?: (?:who|that) (?:is|are))? (?:outside(?: of)?|not (?:in|on|among)|other than|except|but)\b",
    re.IGNORECASE,
)
_OUTSIDE: Final = re.compile(
    r"\b(?:outside(?: of)?|that (?:is|are) not (?:in|inside)|not in|elsewhere than in)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read."""

    text: str
    prohibition: str
    """What is asked about, as a sentence of a constitution."""
    asking_counts: bool
    """Even a call that a person is asked about would be an answer."""
    rules: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]


def read_question(text: str, annotations: Mapping[str, Any], known: Known) -> Question:
    """Read a question for the tools of a policy; refuse one that says nothing about them."""
    plain = " ".join(text.split()).rstrip("?. ")
    asked = _ASKED.fullmatch(_UNASKED.sub("", plain))
    if asked is None:
        raise Refusal(
            "question_unknown",
            f"not a question that we can read: {text!a}",
            'ask like this: "can anything ever send mail to someone outside contacts without asking?"',
        )
    who = (asked["who"] or asked["whose"] or "it").strip()
    subject = "The assistant" if _ASSISTANT.match(who.lower()) else who[:1].upper() + who[1:]
    what = re.sub(r"^ever\s+", "", asked["what"])
    inside = _OUTSIDE.sub("in", _PEOPLE_OUTSIDE.sub("people in", what))
    bounded = inside != what
    prohibition = f"{subject} must never {what}."
    sentences = [*([f"{subject} may {inside}."] if bounded else []), prohibition]
    tools = annotations["servers"]
    surfaces = [surface for server, entry in tools.items() for surface in surfaces_of(server, entry["tools"])]
    compiled = compile_constitution("\n".join(sentences), surfaces, known)
    rules = _about_the_bounds(compiled.rules) if bounded else compiled.rules
    if any(rule["then"] == "deny" for rule in rules):  # what only asks is care that the compiler adds
        rules = [rule for rule in rules if rule["then"] != "escalate"]
    if not any(rule["then"] != "allow" for rule in rules):
        raise Refusal(
            "question_unknown",
            f"no tool of this policy has to do with it: {prohibition!a}",
            "see what the tools do: ironcurtain tools",
        )
    notes = tuple(note for reported in compiled.report for note in reported.notes)
    return Question(text, prohibition, _UNASKED.search(plain) is None, tuple(rules), notes)


def _about_the_bounds(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is outside of some bounds is forbidden for what has bounds, and for nothing else in the call."""
    bound = sorted(
        {
            role
            for rule in rules
            if rule["then"] == "allow"
            for test in (rule["if"].get("paths"), rule["if"].get("domains"), *rule["if"].get("lists", ()))
            if test
            for role in test["roles"]
        }
    )
    return [
        {**rule, "if": {**rule["if"], "roles": bound}}
        if rule["then"] != "allow" and bound and rule["if"].keys() <= {"server", "tool"}
        else rule
        for rule in rules
    ]
