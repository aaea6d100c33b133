"""`ironcurtain run` and `ironcurtain chat`: give the built-in agent a task, watch it, answer what it needs."""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.artifacts.config import read_config
from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.artifacts.servers import read_entries, read_servers, write_servers
from ironcurtain.artifacts.state import Approved, approve_server
from ironcurtain.cli.client import Client, tell_to_look
from ironcurtain.cli.daemon import reach
from ironcurtain.cli.folding import labelled
from ironcurtain.cli.live import Live
from ironcurtain.cli.main import DONE, INTERRUPTED, NO
from ironcurtain.cli.script import Script, read_script
from ironcurtain.cli.show import console, table
from ironcurtain.cli.watch import Watch, single_keys
from ironcurtain.errors import Refusal, visible
from ironcurtain.gateway.context import AGENTS
from ironcurtain.identity.variables import variables_of

if TYPE_CHECKING:
    import argparse

_DAY: Final = 24 * 3600  # seconds that a call may take: a helper may wait for a person
_MOMENT: Final = 0.05  # seconds without news after which a question is put


def run(arguments: argparse.Namespace) -> int:
    """One task; 0 only if the agent has done it."""
    return _Run(arguments, chat=False).to_its_end()


def chat(arguments: argparse.Namespace) -> int:
    """Task after task, until the person leaves."""
    if not sys.stdin.isatty():
        raise Refusal("usage", "a chat needs a terminal", 'run: ironcurtain run "task"')
    return _Run(arguments, chat=True).to_its_end()


class _Run:
    """One agent, as its owner sees it."""

    def __init__(self, arguments: argparse.Namespace, *, chat: bool) -> None:
        self._home = Home(default_home())
        self._chat = chat
        self._quiet = bool(arguments.json)
        self._person = sys.stdin.isatty() and sys.stdout.isatty() and not self._quiet
        self._out = console()
        self._live = Live(self._out, quiet=self._quiet)
        self._order = self._ordered(arguments)
        self._id = ""
        self._sessions: set[str] = set()
        self._interrupted = False
        self._changed = True
        """Something may wait for a person."""
        self._pausing = False
        """The person wants a pause, and is asked nothing else before it."""
        self._told_of: set[str] = set()
        """Questions that somebody else has to answer, said once."""

    def _ordered(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """What the daemon is asked for."""
        if arguments.resume is not None:
            return self._resumed(arguments.resume)
        script = read_script(arguments.script) if arguments.script else Script()
        task, turns = arguments.task or script.task, script.turns
        if not task and self._chat:
            task = input("you> ").strip()
        if not task:
            raise Refusal("usage", "which task?", 'run: ironcurtain run "what is to be done"')
        model = "" if turns else (arguments.model or os.environ.get("IRONCURTAIN_MODEL") or self._configured())
        return {
            "task": task, "agent": arguments.agent, "model": model, "script": turns, "direct": arguments.direct,
            "chat": self._chat, "environment": variables_of(model, os.environ), "helpers": arguments.agents,
            "scripts": script.helpers,
        }  # fmt: skip

    def _resumed(self, name: str) -> dict[str, Any]:
        reach(self._home)
        with Client(self._home) as client:
            name = name or next((each["id"] for each in client.ask("agent/list")["agents"]), "")
            known = client.ask("agent/show", id=name)
        return {"resume": name, "agent": known["agent"], "environment": variables_of(known["model"], os.environ)}

    def _configured(self) -> str:
        self._home.require()
        return read_config(self._home.config).settings.run.model if os.path.lexists(self._home.config) else ""

    def to_its_end(self) -> int:
        reach(self._home)
        with Client(self._home, timeout=None) as news, Client(self._home, timeout=None) as ours:
            ours.ask("watch")
            self._questions = Watch(ours)
            self._ours = ours
            news.send("agent/run", **self._order)
            told = self._watch(news)
        if self._quiet:
            print(json.dumps(told))
        else:
            self._live.summary(told)
            if told["status"] != "done":
                self._live.line(f"go on with: ironcurtain run --resume {told['id']}", "")
        return DONE if told["status"] == "done" else INTERRUPTED if self._interrupted else NO

    def _watch(self, news: Client) -> dict[str, Any]:
        """Show everything until it is over."""
        while True:
            try:
                patience = _MOMENT if self._changed and not self._pausing else None
                heard = [news] if news.heard() else select.select([news, self._ours], [], [], patience)[0]
                if news in heard:
                    message = news.read()
                    if "id" in message:
                        return news.result(message)
                    self._hear(message["params"])
                elif self._ours in heard or self._ours.heard():
                    self._ours.read()
                    self._changed = True
                elif self._changed and not self._pausing:  # what led to a question has been shown
                    self._changed = False
                    self._look_at_questions()
            except KeyboardInterrupt:
                self._interrupt()

    def _hear(self, news: dict[str, Any]) -> None:
        if "begun" in news and "task" in news:
            self._id = news["begun"]
            self._sessions.add(f"agent-{self._id}")
            how = f"agent {self._id} · {visible(news['model'])}" + (" · Ctrl-C pauses" if self._person else "")
            self._live.line(how)
        elif "program" in news:
            self._sessions.add(f"code-{news['program']}")
            self._changed = True
        elif "paused" in news:
            self._paused(news["paused"], news["reason"])
        elif "answered" in news:
            self._next_message()
        elif "helper" in news:
            self._hear_of_helper(news["helper"], news["news"])
        else:
            self._live.show(news)

    def _hear_of_helper(self, helper: str, news: dict[str, Any]) -> None:
        """What a helper does; its questions are ours."""
        self._sessions.add(f"agent-{helper}")
        if "program" in news:
            self._sessions.add(f"code-{news['program']}")
            self._changed = True
        elif "paused" in news:
            self._paused(news["paused"], news["reason"], helper)
        else:
            self._live.show_of(helper, news)

    # --- The person's turn. ---

    def _tell(self, what: str, text: str = "", whom: str = "") -> None:
        self._changed = True  # news of questions that come meanwhile are not kept
        with contextlib.suppress(Refusal):  # it may be over by now
            self._ours.ask("agent/tell", id=whom or self._id, what=what, text=text)

    def _look_at_questions(self) -> None:
        """Put each question of this agent's to the person; or say where they can answer it."""
        for question in self._ours.ask("questions")["questions"]:
            if question["session"] not in self._sessions or question["id"] in self._told_of:
                continue
            if not self._person:
                self._told_of.add(question["id"])
                print("a person is asked; answer it with: ironcurtain approvals --watch", file=sys.stderr)
                continue
            with single_keys():
                if not self._questions.put(question):
                    self._told_of.add(question["id"])
                    self._live.line("it waits for an answer: ironcurtain approvals --watch")
            return self._look_at_questions()
        return None

    def _interrupt(self) -> None:
        if self._interrupted or not self._person:
            self._interrupted = True
            self._tell("stop")
            return
        self._pausing = True
        self._tell("pause")

    def _paused(self, code: str, reason: str, helper: str = "") -> None:
        """The agent, or a helper of it, waits for the person; where there is none, it ends."""
        self._pausing = False
        who = f"helper {helper} " if helper else ""
        what = "paused" if self._person else "stopped"
        self._live.line(f"{who}{what}", "bold yellow")
        if reason:
            self._live.quote(reason)
        if not self._person:
            self._tell("stop")
        elif code == "budget_exhausted":
            if self._asked("give it a new budget and go on? [y/N] ").lower() in ("y", "yes"):
                self._tell("renew", whom=helper)
            else:
                self._tell("stop")
        else:
            match self._asked("Enter goes on, q stops, anything else is said to the agent: "):
                case "":
                    self._tell("continue", whom=helper)
                case "q":
                    self._tell("stop")
                case said:
                    self._tell("say", said, helper)

    def _next_message(self) -> None:
        said = self._asked("you> ", "/quit")
        if said in ("", "/quit", "/exit"):
            self._tell("end")
        else:
            self._tell("say", said)

    def _asked(self, prompt: str, at_end: str = "q") -> str:
        """A line of the person's; the end of the input, or another Ctrl-C, leaves."""
        self._live.line("", "")
        try:
            return input(prompt).strip()
        except (EOFError, KeyboardInterrupt):
            self._out.print()
            return at_end


# --- What became of them. ---


def list_(arguments: argparse.Namespace) -> int:
    """All agents, the newest first."""
    home = Home(default_home())
    reach(home)
    with Client(home) as client:
        agents = client.ask("agent/list")["agents"]
    if arguments.json:
        print(json.dumps(agents))
        return DONE
    out = table("id", "status", "task", "model", "tokens", "cost", "created")
    for each in agents:
        out.add_row(
            each["id"], each["status"], visible(each["task"][:60]), visible(each["model"]), f"{each['tokens']:,}",
            f"${each['cost']:.4f}", each["created"][:19],
        )  # fmt: skip
    console().print(out if agents else 'no agent yet; start one with: ironcurtain run "task"')
    return DONE


def show(arguments: argparse.Namespace) -> int:
    """One agent: what was said and done."""
    home = Home(default_home())
    reach(home)
    with Client(home) as client:
        told = client.ask("agent/show", id=arguments.id)
    if arguments.json:
        print(json.dumps(told))
        return DONE
    out = console()
    live, label = Live(out, quiet=False), f"agent {told['parent']}> " if told["parent"] else "you> "
    live.line(f"agent {told['id']}: {told['status']} · {visible(told['model'])}", "bold")
    for message in told["messages"]:
        if message["role"] == "user":
            labelled(out, label, visible(message["text"]), "bold")
        else:
            live.show({"text": message["text"]} if message["role"] == "model" else {})
            live.show({"message": message})
    live.line(f"{told['tokens']:,} tokens, ${told['cost']:.4f}")
    return DONE


def enable(_: argparse.Namespace) -> int:
    """Add the server that lets agents have helpers, and approve it: it is our own."""
    home = Home(default_home())
    home.require()
    entries = read_entries(home)
    if AGENTS not in entries:
        entries[AGENTS] = {
            "command": sys.executable,
            "args": ["-I", "-m", "ironcurtain.servers.agents"],
            "timeout": _DAY,
        }
        write_servers(home, entries)
    spec = read_servers(home)[0][AGENTS]
    approve_server(home.root, AGENTS, Approved(spec.pin), time.time())
    tell_to_look(home)
    print("agents can have helpers once your policy knows their tools; run: ironcurtain compile")
    return DONE
