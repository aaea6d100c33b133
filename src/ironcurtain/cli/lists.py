"""`ironcurtain lists`: what a constitution means by `my contacts`, kept up to date."""

from __future__ import annotations

import json
import select
import subprocess
import time
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.adoption.program import program
from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.policy import LISTS, POLICY, read_bundle
from ironcurtain.cli.compile import recompile
from ironcurtain.cli.folding import say
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import console, table
from ironcurtain.compiler.lists import amended, fetch, refreshed, sources_of
from ironcurtain.compiler.llm.asking import Model, missing
from ironcurtain.errors import Refusal, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from ironcurtain.compiler.lists import Source

_PATIENCE: Final = 120.0  # seconds for a tool's answer; a person may have to be asked


def show(arguments: argparse.Namespace) -> int:
    """Every list, where it comes from and what is in it."""
    home = Home(default_home())
    bundle = read_bundle(home.policy)
    policy: Any = bundle.items[POLICY].value
    sources = {source.name: source.says for source in _sources(home)}
    rows = [
        {"name": name, "from": "config.toml", "values": _values(entry)}
        for name, entry in policy.get("lists", {}).items()
    ]
    rows += [
        {"name": name, "from": sources.get(name, "by hand"), "values": _values(entry)}
        for name, entry in _dynamic(home)["lists"].items()
    ]
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False))
        return DONE
    out = table("list", "from", "values")
    for row in rows:
        values = row["values"]
        more = f" and {len(values) - 5} more" if len(values) > 5 else ""
        out.add_row(visible(f"@{row['name']}"), visible(str(row["from"])), visible(", ".join(values[:5]) + more))
    console().print(out if rows else "no lists; see `[lists]` in docs/formats.md")
    return DONE


def refresh(arguments: argparse.Namespace) -> int:
    """Ask every source, and compile with what it says."""
    home = Home(default_home())
    wanted = [each for each in _sources(home) if not arguments.names or each.name in arguments.names]
    unknown = set(arguments.names) - {each.name for each in wanted}
    if unknown:
        raise Refusal(
            "list_unknown", f"no list with a source is called {', '.join(sorted(unknown))}", "run: ironcurtain lists"
        )
    fetched, failed = [], 0
    for source in wanted:
        try:
            found = fetch(source, Path.home(), _ask_source)
        except Refusal as refusal:
            failed += 1
            say(f"@{visible(source.name)}: {visible(refusal.reason)}; {visible(refusal.help)}")
            continue
        fetched.append(found)
        odd = f", {len(found.left_out)} left out: {', '.join(found.left_out[:3])}" if found.left_out else ""
        say(visible(f"@{source.name}: {len(found.values)} values from {source.says}{odd}"))
    if not fetched:
        print("nothing was refreshed")
        return NO if failed else DONE
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    done = recompile(home, yes=arguments.yes, lists=refreshed(_dynamic(home), fetched, now))
    return NO if failed else done


def change(arguments: argparse.Namespace) -> int:
    """Add values by hand, or remove them."""
    home = Home(default_home())
    add, remove = (arguments.values, []) if arguments.adding else ([], arguments.values)
    return recompile(home, yes=arguments.yes, lists=amended(_dynamic(home), arguments.name, add=add, remove=remove))


def _sources(home: Home) -> list[Source]:
    home.require()
    if not home.config.exists():
        return []
    lists = tomllib.loads(read_artifact(home.config).decode()).get("lists")
    return sources_of(Item(lists, f"{home.config}: lists")) if lists is not None else []


def _dynamic(home: Home) -> dict[str, Any]:
    bundle = read_bundle(home.policy)
    found: Any = bundle.items[LISTS].value if LISTS in bundle.items else {"version": 1, "lists": {}}
    return dict(found)


def _values(entry: Any) -> list[str]:  # noqa: ANN401 - as it stands in an artifact
    if isinstance(entry, list):
        return [str(value) for value in entry]
    values = [*entry["values"], *entry.get("manualAdditions", [])]
    return [str(value) for value in values if value not in entry.get("manualRemovals", [])]


def _ask_source(source: Source) -> str:
    """What the tool or the model says that the owner named in the configuration of the list."""
    if source.tool:
        server, _, tool = source.tool.partition("/")
        return _call(server, tool, source.arguments or {})
    try:
        from ironcurtain.compiler.llm.filling import fill  # noqa: PLC0415 - an extra
    except ImportError:
        raise missing() from None
    log = Home(default_home()).root / "llm-interactions.jsonl"
    return json.dumps(fill(Model(source.model, log), source.name, source.kind, source.wanted))


def _call(server: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """Call a tool through our own gateway, so that it is decided and recorded like any other call."""
    command = [*program(), "gateway", "--agent", "lists"]
    pipe, unbuffered = subprocess.PIPE, 0  # so that `select` sees all that is unread
    with subprocess.Popen(command, unbuffered, stdin=pipe, stdout=pipe) as relay:  # noqa: S603 - ourselves
        try:
            hello = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "lists", "version": "1"},
            }
            _ask(relay, 1, "initialize", hello)
            _send(relay, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            answer = _ask(relay, 2, "tools/call", {"name": f"{server}__{tool}", "arguments": dict(arguments)})
        finally:
            relay.terminate()
    result = answer.get("result", {})
    text = "\n".join(str(part.get("text", "")) for part in result.get("content", []))
    if "error" in answer or result.get("isError"):
        why = text or str(answer.get("error", {}).get("message", ""))
        raise Refusal("list_refused", f"{server}/{tool}: {why[:300]}", "the values of before stay")
    structured = result.get("structuredContent")
    return json.dumps(structured) if structured else text


def _send(relay: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    if relay.stdin is not None:
        relay.stdin.write(json.dumps(message).encode() + b"\n")
        relay.stdin.flush()


def _ask(relay: subprocess.Popen[bytes], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    _send(relay, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    end = time.monotonic() + _PATIENCE
    while relay.stdout is not None and select.select([relay.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
        line = relay.stdout.readline()
        if not line:
            break
        message: dict[str, Any] = json.loads(line)
        if message.get("id") == number and "method" not in message:
            return message
    raise Refusal("list_unanswered", "the gateway did not answer", "see: ironcurtain approvals")
