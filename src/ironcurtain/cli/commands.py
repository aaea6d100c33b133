"""The whole command line, for parsing, help and completion. What a command does is named here, and not imported."""

from __future__ import annotations

import argparse
from typing import Final

from ironcurtain import __version__

_DESCRIPTION: Final = "Decides every tool call of an AI agent by a policy its owner wrote."
_EPILOG: Final = """\
try it:
  ironcurtain demo
  ironcurtain explain '{"serverName": "filesystem", "toolName": "read_file", "arguments": {"path": "~/notes.txt"}}'
  ironcurtain check < calls.jsonl

IRONCURTAIN_HOME names the home (default ~/.ironcurtain). Exit codes: 0 done, 1 the answer is no, 2 bad usage or input
that could not be loaded, 130 interrupted."""


def parser() -> argparse.ArgumentParser:
    """The whole command line, for parsing, help and completion."""
    top = argparse.ArgumentParser(
        "ironcurtain", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action="version", version=f"ironcurtain {__version__}")
    verbs = top.add_subparsers(metavar="COMMAND", required=True, title="commands")

    check = _verb(
        verbs, "check", "check:run", "decide calls: JSON lines in, decisions out",
        "Reads one call a line from standard input and writes one decision a line, in the same order. A line that is no"
        " call is denied and the run goes on. docs/formats.md has both formats.",
    )  # fmt: skip
    _policy_options(check)

    explain = _verb(
        verbs, "explain", "explain:run", "show how one call is decided, step by step",
        "Shows what was read and resolved, what every rule said and why, which rules mattered, and a call nearby that"
        " would be allowed.",
    )  # fmt: skip
    explain.add_argument("call", nargs="?", metavar="CALL", help="the call as JSON; standard input if left out")
    explain.add_argument("--json", action="store_true", help="for machines")
    _policy_options(explain)

    tools = _verb(
        verbs, "tools", "tools:run", "list the tools a principal may see",
        "Lists the annotated tools that pass every access layer for a principal, and with --all also the others with"
        " the layer that hides them.",
    )  # fmt: skip
    for name in ("agent", "provider", "group", "member"):
        tools.add_argument(f"--{name}", metavar="NAME")
    tools.add_argument("--subagent", action="store_true", help="as a subagent")
    tools.add_argument("--all", action="store_true", help="show hidden tools too, with the reason")
    tools.add_argument("--json", action="store_true", help="for machines")
    _policy_options(tools)

    policy = verbs.add_parser(
        "policy", help="prove, compare, show, verify, lint and import", description="Work on policies."
    )
    steps = policy.add_subparsers(metavar="COMMAND", required=True, title="commands")
    verify = _verb(
        steps, "verify", "policy:verify", "run a policy's scenarios and stamp the verdict into it",
        "Pins tool definitions that have no pin, runs the scenarios beside the policy and those that hold for every"
        " policy, and writes the verdict. An unverified policy is never loaded.",
    )  # fmt: skip
    verify.add_argument("directory", metavar="DIR", help="the policy directory")
    verify.add_argument(
        "--derive", action="store_true", help="write the derived scenarios anew, for rules that you changed by hand"
    )
    verify.add_argument("--json", action="store_true", help="for machines")
    lint = _verb(
        steps, "lint", "policy:lint", "find rules that are shadowed, unreachable, contradictory or repeated",
        "Ends with 1 if there is something to look at.",
    )  # fmt: skip
    lint.add_argument("--json", action="store_true", help="for machines")
    _policy_options(lint)
    _proofs(steps)
    brought = _verb(
        steps, "import", "policy:import_", "bring in files of the original project",
        "Converts compiled-policy.json, tool-annotations.json and test-scenarios.json of the original project, pins and"
        " verifies them.",
    )  # fmt: skip
    brought.add_argument("directory", metavar="DIR", help="the directory with the original's generated files")
    brought.add_argument("--out", metavar="DIR", help="where the policy goes (default: the home's policy directory)")
    brought.add_argument("--sandbox", metavar="DIR", default="/tmp/ironcurtain-sandbox", help="default: %(default)s")  # noqa: S108 - the original's default
    brought.add_argument(
        "--catalogue", metavar="SERVER=FILE", action="append", default=[], help="tool definitions: a saved tools/list"
    )
    brought.add_argument("--replace", action="store_true", help="replace a policy that is already there")

    scenarios = verbs.add_parser("scenarios", help="run test scenarios", description="Run test scenarios.")
    runs = scenarios.add_subparsers(metavar="COMMAND", required=True, title="commands")
    run = _verb(
        runs, "run", "scenarios:run", "decide every scenario and compare",
        "Runs the scenarios beside the policy and those that hold for every policy. Ends with 1 if one fails.",
    )  # fmt: skip
    run.add_argument("--json", action="store_true", help="for machines")
    _policy_options(run)

    _first_steps(verbs)
    _compiler(verbs)
    _constitution(verbs)
    _lists(verbs)
    _agent(verbs)
    _code(verbs)
    _gateway(verbs)
    _servers(verbs)
    _approvals(verbs)
    _audit(verbs)

    _verb(
        verbs, "demo", "demo:run", "an agent at work behind a real gateway, and then compromised",
        "Starts everything in a directory of its own, shows each decision as it is made, and what the attacker got.",
    )  # fmt: skip
    completion = _verb(
        verbs, "completion", "completion:run", "print a completion script for your shell",
        "For bash: ironcurtain completion bash > ~/.local/share/bash-completion/completions/ironcurtain",
    )  # fmt: skip
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    return top


def _proofs(steps: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    prove = _verb(
        steps, "prove", "analysis:prove", "what a policy can never do, for all calls",
        "Shows that nothing protected is reached, that nothing is allowed without a sentence, that nothing is deleted"
        " outside named places, that no prohibition is shadowed and that every rule matters; or a call that breaks it."
        " Ends with 1 if something is violated or not proven.",
    )  # fmt: skip
    prove.add_argument("directory", metavar="DIR", nargs="?", help="the policy (default: the one in force)")
    prove.add_argument(
        "--ask", metavar="QUESTION", action="append", default=[],
        help='a question of your own: "can anything ever send mail to someone outside contacts without asking?"',
    )  # fmt: skip
    prove.add_argument(
        "--never", metavar="FILE", action="append", default=[], help="rules whose calls must not be allowed, as JSON"
    )
    prove.add_argument("--constitution", metavar="FILE", help="the text it was compiled from (default: the home's)")
    prove.add_argument("--setup", metavar="FILE", help="directories, lists and names that questions may speak of")
    diff = _verb(
        steps, "diff", "analysis:diff", "what changes from one policy to another, for all calls",
        "Every call that becomes allowed, asked or denied, in words and with an example. Ends with 0 only if the two"
        " are proven to decide alike.",
    )  # fmt: skip
    diff.add_argument("old", metavar="OLD")
    diff.add_argument("new", metavar="NEW")
    show = _verb(
        steps, "show", "policy:show", "the constitution with each sentence's rules beside it",
        "In words. A sentence without rules is there too.",
    )  # fmt: skip
    show.add_argument("directory", metavar="DIR", nargs="?", help="the policy (default: the one in force)")
    show.add_argument("--constitution", metavar="FILE", help="the text it was compiled from (default: the home's)")
    backtest = _verb(
        steps, "backtest", "audit:backtest", "what a policy would have decided in the last days",
        "Decides the recorded calls again and shows what would be different. Without DIR: the policy that waits to be"
        " put in force, or the one in force.",
    )  # fmt: skip
    backtest.add_argument("directory", metavar="DIR", nargs="?", help="the policy")
    backtest.add_argument("--days", metavar="N", type=int, default=7, help="how far back (default: %(default)s)")
    backtest.add_argument("--all", action="store_true", help="show also what would be the same")
    for verb in (prove, diff, show, backtest):
        verb.add_argument("--json", action="store_true", help="for machines")


def _compiler(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    annotate = _verb(
        verbs, "annotate", "annotate:run", "say what tools do and what their arguments mean",
        "From their definitions alone: names, descriptions, types. What is not certain gets the more restrictive role,"
        " and is marked.",
    )  # fmt: skip
    annotate.add_argument(
        "--catalogue", metavar="NAME=FILE", action="append", default=[], help="a server's tools: a saved tools/list"
    )
    annotate.add_argument(
        "--model", metavar="PROVIDER:NAME",
        help="is asked where the built-in answer is not certain; may add roles, and takes one away only if you agree",
    )  # fmt: skip
    annotate.add_argument("--waived", action="store_true", help="show the roles that you agreed to take away")
    annotate.add_argument(
        "--revoke", metavar="SERVER/TOOL[:ARGUMENT[:ROLE]]", action="append", default=[],
        help="bring back roles that you agreed to take away; holds at the next compilation",
    )  # fmt: skip
    annotate.add_argument("--json", action="store_true", help="for machines: a line for each tool")

    for name, help_ in (
        ("compile", "turn a constitution in plain English into a policy"),
        ("compile-policy", "the same"),
    ):
        compile_ = _verb(
            verbs, name, "compile:run", help_,
            "Without options: the constitution of the home, for the tools that are approved; the policy is shown, and"
            " put in force when you say so. Each sentence becomes statements of the plain language (docs/language.md):"
            " by the parser where it already is one, by a model where you name one, or by you. What you agreed to is"
            " kept and used again. With --out: any constitution, for saved catalogues, without starting a server."
            " Exit codes: 0 in force, 1 not, 3 a sentence was not understood.",
        )  # fmt: skip
        compile_.add_argument("--constitution", metavar="FILE", help="the text; left out: constitution.md of the home")
        compile_.add_argument("--out", metavar="DIR", help="where the policy goes, for saved catalogues")
        compile_.add_argument(
            "--catalogue", metavar="NAME=FILE", action="append", help="a server's tools: a saved tools/list"
        )
        compile_.add_argument("--setup", metavar="FILE", help="directories, lists and names the text may speak of")
        compile_.add_argument("--annotations", metavar="FILE", help="corrected lines of `ironcurtain annotate --json`")
        compile_.add_argument(
            "--model", metavar="PROVIDER:NAME",
            help="reads what the parser does not: anthropic:claude-sonnet-4-5, openai:gpt-5, ollama:llama3, or a"
            " program you have, without a key: 'command:claude -p', 'command:codex exec', 'command:gemini -p'",
        )  # fmt: skip
        compile_.add_argument(
            "--by-hand", action="store_true", help="writes the question for a model into a file; you paste the answer"
        )
        compile_.add_argument(
            "--answer",
            metavar="FILE",
            action="append",
            default=[],
            help="with --by-hand: an answer, instead of pasting it",
        )
        compile_.add_argument("--once", action="store_true", help="asks the model once, not twice independently")
        compile_.add_argument(
            "--again", action="store_true", help="asks again about sentences that you skipped or said to be no rules"
        )
        compile_.add_argument("--tests", action="store_true", help="lets the model write tests of its own, too")
        compile_.add_argument(
            "--check", metavar="FILE", help="compiles this text and shows the report; changes nothing"
        )
        compile_.add_argument("--readings", metavar="FILE", help="with --out: the readings that were agreed to")
        compile_.add_argument(
            "--skip", metavar="SERVER", action="append", default=[],
            help="go on without a server none of whose tools is approved, for example because it does not start",
        )  # fmt: skip
        compile_.add_argument("--yes", action="store_true", help="without asking")
        compile_.add_argument("--json", action="store_true", help="for machines")


def _constitution(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    constitution = verbs.add_parser(
        "constitution", help="what your agent may do, in your words: show, edit, starter",
        description="The text that the policy is compiled from.",
    )  # fmt: skip
    steps = constitution.add_subparsers(metavar="COMMAND", required=True, title="commands")
    _verb(steps, "show", "constitution:show", "print it", "As it stands in constitution.md of the home.")
    edit = _verb(
        steps, "edit", "constitution:edit", "open it in your editor, and compile it when you have saved it",
        "Opens $VISUAL or $EDITOR, with a list of every word that a statement may have here, compiles on save and shows"
        " what changed.",
    )  # fmt: skip
    edit.add_argument("--model", metavar="PROVIDER:NAME", help="reads what the parser does not; see: compile --help")
    starter = _verb(
        steps, "starter", "constitution:begin", "one to start from, made for the servers you have",
        "Read freely, ask before changing or sending, never delete: statements that compile for your tools.",
    )  # fmt: skip
    starter.add_argument("--write", action="store_true", help="put it in the place of the one that is there")
    starter.add_argument("--yes", action="store_true", help="without asking")


def _lists(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    lists = verbs.add_parser(
        "lists", help="who `my contacts` are: show, refresh, add, remove", description="Lists that sentences speak of."
    )
    steps = lists.add_subparsers(metavar="COMMAND", required=True, title="commands")
    show = _verb(steps, "show", "lists:show", "every list and what is in it", "With where its values come from.")
    show.add_argument("--json", action="store_true", help="for machines")
    refresh = _verb(
        steps, "refresh", "lists:refresh", "ask the sources of lists again",
        "A list in config.toml with `file` or `tool` gets the values that are there now; what you added or removed by"
        " hand stays. The constitution is compiled for them, and what changes is shown.",
    )  # fmt: skip
    refresh.add_argument("names", metavar="NAME", nargs="*", help="only these")
    for name, help_ in (("add", "add values by hand"), ("remove", "remove values by hand")):
        verb = _verb(steps, name, "lists:change", help_, "That outlives every refresh.")
        verb.add_argument("name", metavar="NAME", help="the list, without @")
        verb.add_argument("values", metavar="VALUE", nargs="+")
        verb.set_defaults(adding=name == "add")
        verb.add_argument("--yes", action="store_true", help="without asking")
    refresh.add_argument("--yes", action="store_true", help="without asking")


def _code(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    code = verbs.add_parser(
        "code", help="programs that call tools, in a sandbox: run, list, show, cancel, tools",
        description="A program runs where it can do nothing but call tools, and each call is decided like any other.",
    )  # fmt: skip
    steps = code.add_subparsers(metavar="COMMAND", required=True, title="commands")
    run = _verb(
        steps, "run", "code:run", "run a program",
        "Each server is a module: import filesystem, then filesystem.read_text_file(path=...). What its last line is,"
        " is printed as JSON. Where a call needs a person, the program is put away and goes on when that is answered,"
        " also after a restart. Ends with 0 only if the program ran to its end.",
    )  # fmt: skip
    run.add_argument("file", metavar="FILE", help="the program, or - for the input")
    run.add_argument("--data", metavar="JSON", help="what the program finds as `data`; @FILE reads it from there")
    plan = _verb(
        steps, "plan", "code:plan", "what a program may do, without running it",
        "From its text: which tools it calls, with what, how often, what flows from one into another, and what would be"
        " decided now.",
    )  # fmt: skip
    plan.add_argument("file", metavar="FILE", help="the program, or - for the input")
    for verb in (run, plan):
        verb.add_argument("--agent", default="code", metavar="NAME", help="as which agent it runs (default: code)")
        verb.add_argument(
            "--language",
            choices=("python", "typescript"),
            help="what it is written in (default: as the file is called)",
        )
    listing = _verb(steps, "list", "code:list_", "the programs that wait, run or have ended", "The newest first.")
    show = _verb(steps, "show", "code:show", "one program and what came of it", "Its text, its output, its result.")
    cancel = _verb(steps, "cancel", "code:cancel", "end a program", "Also one that waits for a person.")
    tools = _verb(
        steps, "tools", "code:tools", "what the tools are called in a program",
        "Without a name, the modules; with the name of a module or function, its types and description.",
    )  # fmt: skip
    for verb in (show, cancel):
        verb.add_argument("id", metavar="ID", help="see: ironcurtain code list")
    tools.add_argument("names", metavar="NAME", nargs="*", help="a module, a function, or words to search for")
    tools.add_argument("--search", action="store_true", help="search for words")
    tools.add_argument("--agent", default="code", metavar="NAME", help="what this agent would see (default: code)")
    for verb in (run, plan, listing, show, tools):
        verb.add_argument("--json", action="store_true", help="for machines")


def _agent(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = _verb(
        verbs, "run", "agent:run", "give the built-in agent a task",
        "The agent writes programs that call your tools; each call is decided by your policy, and what needs you is"
        " asked here. It works in a process that has no file, no network and no key. Ctrl-C pauses. Ends with 0 only if"
        " the task is done.",
    )  # fmt: skip
    run.add_argument("task", metavar="TASK", nargs="?", help="what is to be done, in your own words")
    chat = _verb(
        verbs, "chat", "agent:chat", "talk with the built-in agent",
        "As run does, task after task; an empty line leaves.",
    )  # fmt: skip
    chat.add_argument("task", metavar="TASK", nargs="?", help="what to begin with")
    for verb in (run, chat):
        verb.add_argument(
            "--model", metavar="PROVIDER:NAME",
            help="for example anthropic:claude-sonnet-4-5, openai:gpt-5, ollama:llama3 (default: [run] model in"
            " config.toml, or IRONCURTAIN_MODEL)",
        )  # fmt: skip
        verb.add_argument("--script", metavar="FILE", help="play a recorded agent: no model and no key is needed")
        verb.add_argument("--direct", action="store_true", help="call tools one by one instead of writing programs")
        verb.add_argument("--agents", action="store_true", help="let it have other agents work for it")
        verb.add_argument("--agent", default="agent", metavar="NAME", help="as which agent it acts (default: agent)")
        verb.add_argument(
            "--resume", metavar="ID", nargs="?", const="", help="go on with a task that was stopped (default: the last)"
        )
    run.add_argument("--json", action="store_true", help="what came of it, for machines, and nothing else")
    chat.set_defaults(json=False)

    agents = verbs.add_parser(
        "agents", help="what the built-in agent did: list, show; enable helpers",
        description="Each task has a transcript.",
    )  # fmt: skip
    steps = agents.add_subparsers(metavar="COMMAND", required=True, title="commands")
    listing = _verb(steps, "list", "agent:list_", "all tasks", "The newest first.")
    show = _verb(steps, "show", "agent:show", "one task", "What was said, which programs were written, what they got.")
    show.add_argument("id", metavar="ID", help="see: ironcurtain agents list")
    _verb(
        steps, "enable", "agent:enable", "let agents have other agents work for them",
        "Adds the server `agents`: spawn, start, wait, send, receive. Your constitution says who may use them.",
    )  # fmt: skip

    keys = verbs.add_parser(
        "keys", help="keys to models: set, list, remove",
        description="They are kept where only you can read them, and used by a broker that no agent can reach into.",
    )  # fmt: skip
    steps = keys.add_subparsers(metavar="COMMAND", required=True, title="commands")
    keep = _verb(steps, "set", "keys:set_", "keep a key", "It is read without being shown, or from the input.")
    known = _verb(steps, "list", "keys:list_", "the names of those that are kept", "Never their values.")
    remove = _verb(steps, "remove", "keys:remove", "forget a key", "The provider still knows it: end it there too.")
    for verb in (keep, remove):
        verb.add_argument("name", metavar="NAME", help="the provider's variable, for example ANTHROPIC_API_KEY")
    for verb in (listing, show, known):
        verb.add_argument("--json", action="store_true", help="for machines")


def _first_steps(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    init = _verb(
        verbs, "init", "init:run", "make a home: constitution, policy, sandbox, a filesystem server",
        "Makes what is missing and changes nothing that is there.",
    )  # fmt: skip
    init.add_argument("--yes", action="store_true", help="do not ask")

    adopt = _verb(
        verbs, "adopt", "adopt:run", "put the gateway between your clients and their servers",
        "Finds the servers of Claude Code, Claude Desktop, Cursor, VS Code, Windsurf, Goose, Codex, Gemini CLI and of"
        " .mcp.json, moves them behind the gateway, and leaves one entry that starts it. Credentials go into your"
        " own store, and only to the server they belong to.",
    )  # fmt: skip
    adopt.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    adopt.add_argument("--undo", action="store_true", help="put the clients' files back as they were")
    adopt.add_argument("--yes", action="store_true", help="do not ask; what looks suspicious stays unapproved")
    adopt.add_argument(
        "--project", metavar="DIR", action="append", default=[], help="look there too (default: the current directory)"
    )
    doctor = _verb(
        verbs, "doctor", "doctor:run", "everything that can be wrong, and what mends it",
        "Looks at the home, policy, servers, daemon, audit log, disk and clients. Ends with 1 if something is bad.",
    )  # fmt: skip
    status = _verb(
        verbs, "status", "daemon:status", "how everything is", "Ends with 1 if the daemon does not run or is halted."
    )
    for verb in (doctor, status):
        verb.add_argument("--json", action="store_true", help="for machines")


def _gateway(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    gateway = _verb(
        verbs, "gateway", "gateway:run", "what a client's configuration starts: MCP on standard input and output",
        "Carries a client's session to the daemon, starting it if need be. The principal is fixed here, in the"
        " configuration entry, whatever the client says of itself.",
    )  # fmt: skip
    for name in ("agent", "provider", "group", "member"):
        gateway.add_argument(f"--{name}", metavar="NAME")
    gateway.add_argument("--http", action="store_true", help="serve streamable HTTP on this machine instead")
    gateway.add_argument("--port", type=_positive, default=7424, metavar="N", help="default: %(default)s")
    gateway.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="default: %(default)s")
    gateway.add_argument("--unsafe-bind", action="store_true", help="let other machines reach it")
    gateway.add_argument(
        "--allow-host", metavar="NAME", action="append", default=[], help="a name that clients may call it by"
    )

    daemon = verbs.add_parser(
        "daemon", help="the one trusted process of a home", description="Start, stop, look at it."
    )
    states = daemon.add_subparsers(metavar="COMMAND", required=True, title="commands")
    _verb(states, "start", "daemon:start", "start it, unless it runs", "Clients start it by themselves.")
    _verb(states, "stop", "daemon:stop", "stop it, and the servers with it", "Clients fail closed until it runs again.")
    _verb(states, "restart", "daemon:restart", "stop and start it", "For a new version of the program.")
    status = _verb(
        states, "status", "daemon:status", "how everything is", "Ends with 1 if it does not run or is halted."
    )
    status.add_argument("--json", action="store_true", help="for machines")
    _verb(states, "run", "daemon:run", "be the daemon, in the foreground", "For service managers.")


def _servers(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    servers = verbs.add_parser(
        "servers", help="the servers behind the gateway", description="The servers, and their tools."
    )
    steps = servers.add_subparsers(metavar="COMMAND", required=True, title="commands")
    listed = _verb(steps, "list", "servers:list_", "which there are", "And whether each is approved as it stands.")
    listed.add_argument("--json", action="store_true", help="for machines")
    add = _verb(
        steps, "add", "servers:add", "add one",
        "Behind -- stands its command. It is started once, its tools are shown, described and approved, and the"
        " constitution is compiled for them.",
    )  # fmt: skip
    add.add_argument("name", metavar="NAME")
    add.add_argument("--url", metavar="URL", help="a server that is reached over HTTP")
    add.add_argument("--replace", action="store_true", help="replace one of that name")
    add.add_argument("--yes", action="store_true", help="approve its tools as they are, without asking")
    add.set_defaults(command=[])
    add.usage = "ironcurtain servers add [-h] [--url URL] [--replace] [--yes] NAME [-- COMMAND ARGUMENT...]"
    remove = _verb(steps, "remove", "servers:remove", "take one out", "What is known of its tools is kept.")
    remove.add_argument("name", metavar="NAME")
    test = _verb(steps, "test", "servers:test", "start one, list its tools, end it", "Nothing is changed.")
    test.add_argument("name", metavar="NAME")
    review = _verb(
        steps, "review", "servers:review", "show what is new or changed, and ask",
        "A server that is new or started otherwise, and tools that are new or changed, cannot be used before.",
    )  # fmt: skip
    review.add_argument("name", metavar="NAME", nargs="?", help="all of them, if left out")
    review.add_argument("--yes", action="store_true", help="approve without asking")
    review.add_argument("--keep", action="store_true", help="changed tools still mean what the policy says of them")


def _approvals(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    approvals = _verb(
        verbs, "approvals", "approvals:list_", "answer what waits for you",
        "Without a command: what waits, oldest first. A yes is for exactly the call that was shown, which is decided"
        " again first; it never turns a deny.",
    )  # fmt: skip
    approvals.add_argument("--watch", action="store_true", help="show questions as they come, answer with one key")
    approvals.add_argument("--json", action="store_true", help="for machines")
    steps = approvals.add_subparsers(metavar="COMMAND", title="commands")
    listed = _verb(steps, "list", "approvals:list_", "what waits", "Oldest first.")
    listed.add_argument("--json", action="store_true", help="for machines")
    listed.set_defaults(watch=False)
    shown = _verb(steps, "show", "approvals:show", "one call in full", "The canonical values, the rule, who asked.")
    shown.add_argument("id", metavar="ID", help="of a call, or of a group")
    shown.add_argument("--json", action="store_true", help="for machines")
    yes = _verb(
        steps, "approve", "approvals:approve", "yes, to exactly this call, once",
        "The id of a group stands for exactly the calls listed under it.",
    )  # fmt: skip
    yes.add_argument("id", metavar="ID")
    how = yes.add_mutually_exclusive_group()
    how.add_argument("--session", action="store_true", help="also when this very call comes again in this session")
    how.add_argument("--wider", action="store_true", help="also for calls of a pattern, which is shown first")
    yes.add_argument("--uses", type=_positive, metavar="N", help="of a wider yes (default: as config.toml says, 20)")
    yes.add_argument("--minutes", type=_positive, metavar="N", help="of a wider yes (default: as config.toml says, 60)")
    yes.add_argument("--yes", action="store_true", help="grant the pattern without asking again")
    no = _verb(steps, "deny", "approvals:deny", "no, with a sentence for the agent", "The agent reads the sentence.")
    no.add_argument("id", metavar="ID")
    no.add_argument("sentence", metavar="SENTENCE", nargs="*")
    granted = _verb(steps, "grants", "approvals:grants", "what is granted", "And how often and how long it still is.")
    granted.add_argument("--json", action="store_true", help="for machines")
    revoke = _verb(steps, "revoke", "approvals:revoke", "take a grant back", "Calls ask again from then on.")
    revoke.add_argument("id", metavar="ID")

    budget = _verb(
        verbs, "budget", "budget:show", "what every agent has used, and what it may", "Limits stand in config.toml."
    )
    budget.add_argument("--watch", action="store_true", help="go on until interrupted")
    budget.add_argument("--json", action="store_true", help="for machines")
    more = budget.add_subparsers(metavar="COMMAND", title="commands")
    reset = _verb(more, "reset", "budget:reset", "give a new budget", "To one agent, or to all.")
    reset.add_argument("--agent", metavar="NAME")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("a whole number from 1")
    return int(text)


def _audit(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    audit = verbs.add_parser("audit", help="what happened", description="Look at the record of every call.")
    steps = audit.add_subparsers(metavar="COMMAND", required=True, title="commands")
    tail = _verb(steps, "tail", "audit:tail", "the last records", "With --follow also those that come.")
    tail.add_argument("-n", "--number", type=int, default=20, metavar="N", help="how many (default: %(default)s)")
    tail.add_argument("-f", "--follow", action="store_true", help="go on until interrupted")
    show = _verb(steps, "show", "audit:show", "all of one call, or of one record", "By call id or record number.")
    show.add_argument("id", metavar="ID")
    search = _verb(steps, "search", "audit:search", "the records that fit", "All that is asked for must fit.")
    for name in ("agent", "server", "tool", "decision", "code", "kind", "session", "rule", "task"):
        search.add_argument(f"--{name}", metavar="NAME")
    search.add_argument("--since", metavar="TIME", help="for example 2026-11-15T08")
    search.add_argument("text", nargs="?", metavar="TEXT", help="anywhere in the record")
    verify = _verb(
        steps, "verify", "audit:verify", "walk the whole chain",
        "Names the first record that is not as it was written, and compares with the signed checkpoints. Ends with 1 if"
        " something is wrong.",
    )  # fmt: skip
    aside = _verb(
        steps, "set-aside", "audit:set_aside", "begin a new log after one that is broken",
        "Moves a log that is not as it was written, and its checkpoints, into a directory of their own. Nothing is"
        " deleted. Stop the daemon first.",
    )  # fmt: skip
    aside.add_argument("--yes", action="store_true", help="do not ask")
    export = _verb(steps, "export", "audit:export", "all records, for other programs", "To standard output.")
    export.add_argument("--format", choices=("jsonl", "csv"), default="jsonl")
    replay = _verb(
        steps, "replay", "audit:replay", "what another policy would have decided",
        "Decides every recorded call again, under the policy in a directory, and shows what would be different.",
    )  # fmt: skip
    replay.add_argument("--policy", metavar="DIR", required=True)
    replay.add_argument("--since", metavar="TIME", help="for example 2026-11-15T08")
    replay.add_argument("--all", action="store_true", help="show also what would be the same")
    stats = _verb(steps, "stats", "audit:stats", "how often what was decided", "By server, tool and reason.")
    for verb in (tail, show, search, verify, stats, replay):
        verb.add_argument("--json", action="store_true", help="for machines")


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, run: str, help_: str, description: str
) -> argparse.ArgumentParser:
    made = verbs.add_parser(name, help=help_, description=f"{help_[0].upper()}{help_[1:]}. {description}")
    made.set_defaults(run=run)
    return made


def _policy_options(verb: argparse.ArgumentParser) -> None:
    group = verb.add_argument_group("policy")
    group.add_argument("--policy", metavar="DIR", help="a policy directory (default: the shipped default policy)")
    group.add_argument(
        "--sandbox", metavar="DIR", help="the sandbox of the default policy (default: the home's sandbox)"
    )
    group.add_argument("--config", metavar="FILE", help="access layers (default: the home's config.toml, if any)")
