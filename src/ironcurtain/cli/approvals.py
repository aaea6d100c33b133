"""`ironcurtain approvals`: answer what waits for a person."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.cli.client import Client
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import console, table
from ironcurtain.errors import visible

if TYPE_CHECKING:
    import argparse

    from rich.console import Console


def list_(arguments: argparse.Namespace) -> int:
    """What waits."""
    with Client(Home(default_home())) as client:
        questions = client.ask("questions")["questions"]
    if arguments.json:
        print(json.dumps(questions))
        return DONE
    if not questions:
        print("nothing waits for you")
        return DONE
    out = table("id", "agent", "wants", "because", "left")
    for question in questions:
        wants = f"{question['server']}/{question['tool']}"
        left = f"{question['secondsLeft'] // 60} min"
        out.add_row(*map(visible, (question["id"], _agent(question), wants, question["reason"], left)))
    console().print(out)
    print("ironcurtain approvals show ID shows one in full; approve ID or deny ID answers it")
    return DONE


def show(arguments: argparse.Namespace) -> int:
    """One question, in full."""
    with Client(Home(default_home())) as client:
        found = [q for q in client.ask("questions")["questions"] if q["id"].startswith(arguments.id)]
    if len(found) != 1:
        print(f"{arguments.id} is not waiting", file=sys.stderr)
        return NO
    if arguments.json:
        print(json.dumps(found[0]))
    else:
        describe(console(), found[0])
    return DONE


def approve(arguments: argparse.Namespace) -> int:
    """Yes, to exactly this call, once."""
    return _answer(arguments.id, approved=True, sentence="")


def deny(arguments: argparse.Namespace) -> int:
    """No, with a sentence for the agent."""
    return _answer(arguments.id, approved=False, sentence=" ".join(arguments.sentence))


def _answer(id_: str, *, approved: bool, sentence: str) -> int:
    with Client(Home(default_home())) as client:
        answer = client.ask("answer", question=id_, approved=approved, sentence=sentence, channel="command line")
    question = answer["question"]
    print(f"{'approved' if approved else 'denied'}: {visible(question['server'])}/{visible(question['tool'])}")
    return DONE


def describe(out: Console, question: dict[str, Any]) -> None:
    """Everything a person needs to decide, and nothing cut: facts first, the rule, then who asked."""
    out.print(f"{visible(question['server'])}/{visible(question['tool'])}", style="bold")
    rows = table("role", "argument", "value")
    for value in question["values"]:
        rows.add_row(visible(value["role"]), visible(value["argument"]), visible(value["value"]))
    if question["values"]:
        out.print(rows)
    out.print("exactly what will be sent:")
    out.print(visible(json.dumps(question["arguments"], indent=2, ensure_ascii=False)).replace("\\n", "\n"))
    out.print(f"asked because: {visible(question['reason'])}")
    if question["rule"]:
        out.print(f"rule: {visible(question['rule'])}   {visible(question['description'])}")
    if question["principle"]:
        out.print(f"your words: {visible(question['principle'])}")
    out.print(
        f"agent: {visible(_agent(question))}   session {question['session']}   {question['secondsLeft']} seconds left"
    )


def _agent(question: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in question["agent"].items()) or "unnamed"
