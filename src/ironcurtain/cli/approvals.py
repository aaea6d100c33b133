"""`ironcurtain approvals`: answer what waits for a person."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.cli.client import Client
from ironcurtain.cli.folding import behind_bar, labelled, say
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import agreed, console, table
from ironcurtain.errors import Refusal, visible
from ironcurtain.escalation.shown import often

if TYPE_CHECKING:
    import argparse

    from rich.console import Console


def list_(arguments: argparse.Namespace) -> int:
    """What waits."""
    if arguments.watch:
        from ironcurtain.cli.watch import watch  # noqa: PLC0415 - needs a terminal

        return watch(Home(default_home()))
    with Client(Home(default_home())) as client:
        questions = client.ask("questions")["questions"]
    if arguments.json:
        print(json.dumps(questions))
        return DONE
    if not questions:
        print("nothing waits for you")
        return DONE
    out = table("id", "agent", "wants", "because", "left", "together with")
    for question in questions:
        row = (
            question["id"],
            _agent(question),
            _wants(question),
            question["reason"],
            left(question),
            question["group"],
        )
        out.add_row(*map(visible, row))
    console().print(out)
    print("ironcurtain approvals show ID shows one in full; approve ID and deny ID answer it; so does --watch")
    return DONE


def show(arguments: argparse.Namespace) -> int:
    """One question, in full."""
    found = _found(arguments.id)
    if arguments.json:
        print(json.dumps(found[0]))
        return DONE
    for question in found:
        describe(console(), question)
    return DONE


def approve(arguments: argparse.Namespace) -> int:
    """Yes: to exactly this call, to it again in this session, or to the pattern that is shown."""
    if not arguments.wider:
        scope = "session" if arguments.session else "once"
        return _answer(arguments.id, approved=True, scope=scope)
    (question,) = _found(arguments.id)[:1]
    if not question["pattern"]:
        raise Refusal("scope_refused", "nothing wider can be built from this call", "approve it once, or deny it")
    show_pattern(console(), question, arguments.uses, arguments.minutes)
    if not agreed("grant this", yes=arguments.yes):
        print("nothing was granted; the call still waits")
        return NO
    limits: dict[str, Any] = {"uses": arguments.uses} if arguments.uses else {}
    if arguments.minutes:
        limits["seconds"] = arguments.minutes * 60
    return _answer(question["id"], approved=True, scope="pattern", **limits)


def deny(arguments: argparse.Namespace) -> int:
    """No, with a sentence for the agent."""
    return _answer(arguments.id, approved=False, sentence=" ".join(arguments.sentence))


def grants(arguments: argparse.Namespace) -> int:
    """What was granted and is still good."""
    with Client(Home(default_home())) as client:
        found = client.ask("grants")["grants"]
    if arguments.json:
        print(json.dumps(found))
        return DONE
    if not found:
        print("nothing is granted")
        return DONE
    out = table("id", "agent", "may call", "with", "left")
    for grant in found:
        what = "; ".join(grant["pattern"]) if grant["pattern"] else json.dumps(grant["arguments"])
        good = f"{grant['left']} times, {grant['secondsLeft'] // 60} min"
        out.add_row(*map(visible, (grant["id"], _agent(grant), _wants(grant), what, good)))
    console().print(out)
    print("ironcurtain approvals revoke ID takes one back")
    return DONE


def revoke(arguments: argparse.Namespace) -> int:
    """Take a grant back."""
    with Client(Home(default_home())) as client:
        grant = client.ask("revoke", grant=arguments.id)["grant"]
    say(f"revoked {arguments.id}: {visible(_wants(grant))}")
    return DONE


def _answer(id_: str, *, approved: bool, **more: Any) -> int:  # noqa: ANN401 - what the daemon takes
    with Client(Home(default_home())) as client:
        answer = client.ask("answer", question=id_, approved=approved, channel="command line", **more)
    for question in answer["questions"]:
        say(f"{'approved' if approved else 'denied'}: {visible(_wants(question))}")
    return DONE


def _found(id_: str) -> list[dict[str, Any]]:
    with Client(Home(default_home())) as client:
        questions: list[dict[str, Any]] = client.ask("questions")["questions"]
    found = [question for question in questions if id_ in (question["group"], question["id"])]
    if not id_ or not found:
        raise Refusal("question_unknown", f"{id_!r} is not waiting", "run: ironcurtain approvals")
    return found


def describe(out: Console, question: dict[str, Any]) -> None:
    """Everything a person needs to decide, nothing cut. What matters most stands last, where the eye is."""
    if question["agentSays"]:
        out.print("the agent says (its own words, they prove nothing):", style="dim")
        behind_bar(out, visible(question["agentSays"]), "dim")
    out.print("exactly what will be sent:", style="dim")
    _print_json(out, question["arguments"])
    if question["besides"]:
        out.print("and beside it:", style="dim")
        _print_json(out, question["besides"])
    for line in question["unusual"]:
        labelled(out, "look         ", visible(line), "yellow")
    how_long = f"{left(question)} left" if question["secondsLeft"] is not None else "waits as long as it takes"
    who = f"{visible(_agent(question))}, session {visible(question['session'])}, {how_long}"
    labelled(out, "asked by     ", who, "dim")
    labelled(out, "wants        ", visible(_wants(question)), "bold")
    for line in question["happens"]:
        labelled(out, "it           ", visible(line))
    labelled(out, "leaves here  ", visible(question["leaves"]))
    labelled(out, "undoing it   ", visible(question["undone"]))
    labelled(out, "because      ", visible(question["reason"]))
    for line in question["alsoAsked"]:
        labelled(out, "and because  ", visible(line))
    if question["rule"]:
        labelled(out, "rule         ", visible(question["rule"]))
    if question["principle"]:
        labelled(out, "your words   ", visible(question["principle"]))
    if question["program"]:
        labelled(out, "in a program ", visible(question["program"]))
    if often(question):
        labelled(out, "how often    ", f"{question['times']} times, with one yes", "bold yellow")


def _print_json(out: Console, value: object) -> None:
    """Laid out by us: no row of it begins where a value says so."""
    for line in json.dumps(value, indent=2, ensure_ascii=False).split("\n"):
        behind_bar(out, visible(line), "dim")


def show_pattern(out: Console, question: dict[str, Any], uses: int | None = None, minutes: int | None = None) -> None:
    """What a wider yes would be for, all of it."""
    out.print("without asking", style="bold")
    behind_bar(out, f"{visible(_agent(question))} may call {visible(_wants(question))} with", "bold")
    for line in question["pattern"]:
        behind_bar(out, visible(line))
    usual = question["grant"]
    often, long = uses or usual["uses"], minutes or usual["seconds"] // 60
    out.print(f"at most {often} times, for {long} minutes, until the policy changes or the daemon stops")


def left(question: dict[str, Any]) -> str:
    """How long it still waits."""
    seconds = question["secondsLeft"]
    return "no limit" if seconds is None else f"{seconds // 60} min" if seconds >= 60 else f"{seconds} s"


def _wants(question: dict[str, Any]) -> str:
    return f"{question['server']}/{question['tool']}{often(question)}"


def _agent(question: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in question["agent"].items()) or "unnamed"
