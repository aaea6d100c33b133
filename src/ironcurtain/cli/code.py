"""`ironcurtain code`: run programs in the sandbox, and see what became of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.cli.client import Client
from ironcurtain.cli.daemon import reach
from ironcurtain.cli.folding import behind_bar, say
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import console, table
from ironcurtain.errors import Refusal, visible
from ironcurtain.sandbox.words import in_words

if TYPE_CHECKING:
    import argparse

_STYLES: Final = {"done": "green", "waiting": "yellow", "running": "cyan"}


def run(arguments: argparse.Namespace) -> int:
    """Run a program and print what it prints and what it ends with; 0 only if it ran to its end."""
    program = sys.stdin.read() if arguments.file == "-" else _text(arguments.file)
    data = _data(arguments.data)
    home = Home(default_home())
    reach(home)
    with Client(home, timeout=None) as client:
        client.send("code/run", program=program, data=data, agent=arguments.agent, language=_language(arguments))
        told = _wait(client, quiet=arguments.json)
    if arguments.json:
        print(json.dumps(told))
    else:
        _print(told)
    return DONE if told["status"] == "done" else NO


def plan(arguments: argparse.Namespace) -> int:
    """What a program may do, and what would be decided; nothing is run."""
    program = sys.stdin.read() if arguments.file == "-" else _text(arguments.file)
    home = Home(default_home())
    reach(home)
    with Client(home) as client:
        told = client.ask("code/plan", program=program, agent=arguments.agent, language=_language(arguments))
    if arguments.json:
        print(json.dumps(told))
        return DONE
    for line in in_words(told) or ["it calls no tool"]:
        say(visible(line))
    return DONE


def _language(arguments: argparse.Namespace) -> str:
    return str(arguments.language or ("typescript" if arguments.file.endswith(".ts") else "python"))


def _wait(client: Client, *, quiet: bool) -> dict[str, Any]:
    """Wait for the end of a program, and say what it waits for."""
    said = False
    try:
        while True:
            message = client.read()
            if "id" in message:
                return client.result(message)
            if message.get("method") == "code/news" and not said and not quiet:
                said = True
                print("a person is asked; answer it with: ironcurtain approvals --watch", file=sys.stderr)
    except KeyboardInterrupt:
        message_ = "stopped; a program that waits for a person goes on waiting: ironcurtain code list"
        raise Refusal("interrupted", message_, "end it with: ironcurtain code cancel ID") from None


def _print(told: dict[str, Any]) -> None:
    if told.get("printed"):
        _foreign(str(told["printed"]).rstrip())
    if told.get("cut"):
        print("(it printed more than is kept)", file=sys.stderr)
    failure = told.get("failure")
    if failure:
        first, *more = f"program {told['run']} {told['status']} ({failure['kind']}): {failure['message']}".splitlines()
        say("\n".join([visible(first), *(f"  {visible(line)}" for line in more)]), error=True)
    elif told["status"] == "waiting":
        print(f"program {told['run']} waits for a person: ironcurtain approvals show {told.get('question', '')}")
    elif told["status"] == "done":
        _foreign(json.dumps(told.get("result"), ensure_ascii=False, indent=1))


def _foreign(text: str) -> None:
    """What a program or a server says: behind a bar on a terminal, and as it is where another program reads it."""
    if sys.stdout.isatty():
        behind_bar(console(), text)
    else:
        print("\n".join(visible(line) for line in text.splitlines()))


def list_(arguments: argparse.Namespace) -> int:
    """The programs that wait, run or have ended."""
    with Client(Home(default_home())) as client:
        programs = client.ask("code/list")["programs"]
    if arguments.json:
        print(json.dumps(programs))
        return DONE
    from rich.text import Text  # noqa: PLC0415 - slow

    if not programs:
        print("no program was run yet; try: ironcurtain code run FILE")
        return DONE
    out = table("id", "status", "agent", "calls", "began", "program")
    for each in programs:
        status = Text(each["status"], _STYLES.get(each["status"], "red"))
        agent, program = visible(str(each["agent"].get("agent", ""))), visible(each["program"])
        out.add_row(each["run"], status, agent, str(each["calls"]), each["created"], program)
    console().print(out)
    return DONE


def show(arguments: argparse.Namespace) -> int:
    """One program: its text, and what came of it."""
    with Client(Home(default_home())) as client:
        told = client.ask("code/show", run=arguments.id)
    if arguments.json:
        print(json.dumps(told))
        return DONE
    out = console()
    behind_bar(out, told["program"].rstrip())
    out.print(f"{told['status']}, {told['calls']} calls, begun {told['created']}", style="bold")
    if told.get("printed"):
        out.print("it printed" + (", and more than is kept" if told.get("cut") else ""))
        behind_bar(out, str(told["printed"]).rstrip())
    if failure := told.get("failure"):
        out.print("it failed with")
        behind_bar(out, f"({failure['kind']}) {failure['message']}", "red")
    elif told["status"] == "waiting":
        out.print(f"answer it with: ironcurtain approvals show {told.get('question', '')}")
    elif told["status"] == "done":
        out.print("it ended with")
        behind_bar(out, json.dumps(told.get("result"), ensure_ascii=False, indent=1))
    return DONE


def cancel(arguments: argparse.Namespace) -> int:
    """End a program."""
    with Client(Home(default_home())) as client:
        told = client.ask("code/cancel", run=arguments.id)
    print(f"program {told['run']} is {told['status']}")
    return DONE


def tools(arguments: argparse.Namespace) -> int:
    """What the tools are called in a program."""
    home = Home(default_home())
    reach(home)
    asked: dict[str, Any] = {"agent": arguments.agent}
    if arguments.search:
        asked["words"] = " ".join(arguments.names)
    elif arguments.names:
        asked["what"] = arguments.names[0]
    with Client(home) as client:
        told = client.ask("code/interfaces", **asked)
    if arguments.json:
        print(json.dumps(told))
    elif "interface" in told:
        _foreign(told["interface"].rstrip())
    else:
        for line in told.get("found", told.get("servers", [])):
            say(visible(line))
    return DONE


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(
            "file_unreadable", f"{path}: {error}", "name a file with a Python program, or - for the input"
        ) from None


def _data(given: str | None) -> Any:  # noqa: ANN401 - JSON
    if given is None:
        return None
    text = _text(given[1:]) if given.startswith("@") else given
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Refusal("data_malformed", f"--data is not JSON: {error}", "write JSON, or @FILE") from None
