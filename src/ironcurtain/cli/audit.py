"""`ironcurtain audit`: what happened."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.home import Home, default_home
from ironcurtain.artifacts.policy import load_policy
from ironcurtain.audit.checkpoint import Signer, read_checkpoints
from ironcurtain.audit.store import day_files
from ironcurtain.audit.verify import BrokenChainError, records
from ironcurtain.audit.verify import verify as verify_chain
from ironcurtain.cli.folding import say
from ironcurtain.cli.loading import surroundings
from ironcurtain.cli.main import DONE, NO
from ironcurtain.cli.show import agreed, console, table
from ironcurtain.daemon.lock import HomeLock
from ironcurtain.errors import Refusal, visible
from ironcurtain.mediation.decide import decide_call
from ironcurtain.model.call import Principal, ToolCall

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


def verify(arguments: argparse.Namespace) -> int:
    """Walk the whole chain, and compare it with the signed checkpoints."""
    home = _home()
    signed, complaints = read_checkpoints(home.checkpoints, Signer.of(home.key).public)
    report = verify_chain(home.audit, signed)
    problems = [*([report.problem] if report.problem else []), *complaints]
    if arguments.json:
        answer = {
            "records": report.records,
            "checkpoints": len(signed),
            "problems": problems,
            "open": report.open_calls,
        }
        print(json.dumps(answer))
        return NO if problems else DONE
    for problem in problems:
        say(f"BROKEN: {visible(problem)}")
    if not problems:
        print(f"{report.records} records, unbroken; {len(signed)} checkpoints fit")
    if report.torn:
        print(f"{report.torn} bytes at its end are torn: the machine stopped; the next start sets them aside")
    if report.open_calls:
        print(f"{len(report.open_calls)} calls have an intent and no outcome: under way, or cut off")
    return NO if problems else DONE


def set_aside(arguments: argparse.Namespace) -> int:
    """Move a broken log out of the way, whole, so that a new one can begin."""
    home = _home()
    signed, complaints = read_checkpoints(home.checkpoints, Signer.of(home.key).public)
    problem = verify_chain(home.audit, signed).problem or (complaints[0] if complaints else None)
    if problem is None:
        raise Refusal("audit_whole", "the log is unbroken", "there is nothing to set aside")
    say(f"BROKEN: {visible(problem)}")
    if not agreed("set it aside and begin a new one; what was used of budgets is forgotten", yes=arguments.yes):
        return NO
    lock = HomeLock(home.lock)
    lock.take()
    try:
        aside = home.root / time.strftime("audit-set-aside-%Y%m%dT%H%M%SZ", time.gmtime())
        aside.mkdir(mode=0o700)
        home.audit.rename(aside / home.audit.name)
        if home.checkpoints.exists():
            home.checkpoints.rename(aside / home.checkpoints.name)
    finally:
        lock.release()
    print(f"kept in {aside}; the next start begins a new log")
    return DONE


def tail(arguments: argparse.Namespace) -> int:
    """The last records, and with --follow those that come."""
    home = _home()
    for line in _last(home, arguments.number):
        _show(line, plain=arguments.json)
    if arguments.follow:
        for line in _coming(home):
            _show(line, plain=arguments.json)
            sys.stdout.flush()
    return DONE


def show(arguments: argparse.Namespace) -> int:
    """Everything about one call, or one record."""
    found = [r for r in _all() if arguments.id in (str(r["seq"]), str(r.get("call")))]
    if not found:
        raise Refusal(
            "record_unknown", f"there is no record {arguments.id!r}", "ironcurtain audit tail shows the last ones"
        )
    for record in found:
        print(json.dumps(record, indent=None if arguments.json else 2, ensure_ascii=True))
    return DONE


def search(arguments: argparse.Namespace) -> int:
    """The records that fit everything asked for."""
    for record in _all():
        if _fits(record, arguments):
            _show(json.dumps(record).encode(), plain=arguments.json)
    return DONE


def export(arguments: argparse.Namespace) -> int:
    """All records as JSON lines or CSV."""
    if arguments.format == "jsonl":
        for record in _all():
            print(json.dumps(record, ensure_ascii=True))
        return DONE
    import csv  # noqa: PLC0415 - for this alone

    columns = ("seq", "at", "kind", "agent", "server", "tool", "decision", "code", "rule", "status", "call")
    writer = csv.writer(sys.stdout)
    writer.writerow(columns)
    for record in _all():
        flat = _flat(record)
        writer.writerow([_harmless(str(flat.get(column, ""))) for column in columns])
    return DONE


def stats(arguments: argparse.Namespace) -> int:
    """How often what happened."""
    kinds: Counter[str] = Counter()
    decisions: Counter[tuple[str, str, str, str]] = Counter()
    for record in _all():
        flat = _flat(record)
        kinds[str(record["kind"])] += 1
        if "decision" in flat and record["kind"] in ("intent", "refused"):
            decisions[str(flat.get("server", "")), str(flat.get("tool", "")), flat["decision"], flat["code"]] += 1
    if arguments.json:
        rows = [{"server": s, "tool": t, "decision": d, "code": c, "count": n} for (s, t, d, c), n in decisions.items()]
        print(json.dumps({"records": dict(kinds), "decisions": rows}))
        return DONE
    out = table("count", "server", "tool", "decision", "code")
    for key, count in decisions.most_common():
        out.add_row(str(count), *map(visible, key))
    console().print(out)
    return DONE


def backtest(arguments: argparse.Namespace) -> int:
    """What another policy would have decided in the last days."""
    home = _home()
    arguments.policy = arguments.directory or str(home.next_policy if home.next_policy.is_dir() else home.policy)
    since = datetime.now(UTC) - timedelta(days=arguments.days)
    arguments.since = since.strftime("%Y-%m-%dT%H:%M:%S")
    if not arguments.json:
        print(f"{arguments.policy}, over the last {arguments.days} days")
    return replay(arguments)


def replay(arguments: argparse.Namespace) -> int:
    """What another policy would have decided on every recorded call."""
    loaded = load_policy(Path(arguments.policy), surroundings())
    rows, counts = [], Counter[str]()
    for record in _all():
        if record["kind"] not in ("intent", "refused") or (arguments.since and record["at"] < arguments.since):
            continue
        was, request = record["evaluation"], record["request"]
        if "arguments" not in request or request.get("taken"):
            counts["cannot be decided again"] += 1  # secrets and bulk are not in the record
            continue
        call = ToolCall(request["server"], request["tool"], request["arguments"], Principal(**record.get("agent", {})))
        now = decide_call(call, loaded, _moment(record["at"])).decision
        same = now.outcome.word == _by_policy(was)
        counts["same" if same else "different"] += 1
        if arguments.all or not same:
            rows.append(
                {
                    "seq": record["seq"],
                    "server": call.server,
                    "tool": call.tool,
                    "was": _by_policy(was),
                    "wasBecause": was["code"],
                    "would": now.outcome.word,
                    "because": now.code,
                    "reason": now.reason,
                }
            )
    if arguments.json:
        print(json.dumps({"counts": dict(counts), "calls": rows}))
        return DONE
    out = table("record", "tool", "was", "would be", "because")
    for row in rows:
        words = (
            row["seq"],
            f"{row['server']}/{row['tool']}",
            row["was"],
            row["would"],
            f"{row['because']}: {row['reason']}",
        )
        out.add_row(*(visible(str(word)) for word in words))
    if rows:
        console().print(out)
    print(", ".join(f"{number} {what}" for what, number in counts.items()) or "nothing was recorded yet")
    return DONE


def _by_policy(evaluation: dict[str, Any]) -> str:
    """What the policy itself said: a person's no, or nobody's answer, came after an escalation."""
    return "escalate" if evaluation["stage"] == "escalate" else str(evaluation["decision"])


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _home() -> Home:
    home = Home(default_home())
    home.require()
    if not home.audit.is_dir():
        raise Refusal("audit_absent", f"nothing was recorded in {home.root} yet", "run: ironcurtain daemon start")
    return home


def _all() -> Iterator[dict[str, Any]]:
    """Every record; complains where the chain breaks, and stops there."""
    try:
        for _, record, _ in records(_home().audit):
            yield record
    except BrokenChainError as error:
        raise Refusal("audit_broken", str(error), "run: ironcurtain audit verify") from None


def _last(home: Home, number: int) -> list[bytes]:
    found: list[bytes] = []
    for file in reversed(day_files(home.audit)):
        found = [*file.read_bytes().splitlines(), *found]
        if len(found) >= number:
            break
    return found[-number:] if number else []


def _coming(home: Home) -> Iterator[bytes]:
    """Lines as they are appended, over midnight too."""
    at = {file: file.stat().st_size for file in day_files(home.audit)}
    while True:
        for file in day_files(home.audit):
            with file.open("rb") as lines:
                lines.seek(at.get(file, 0))
                for line in lines:
                    if not line.endswith(b"\n"):
                        break
                    at[file] = at.get(file, 0) + len(line)
                    yield line
        time.sleep(0.2)


def _show(line: bytes, *, plain: bool) -> None:
    record = json.loads(line)
    if plain:
        print(json.dumps(record, ensure_ascii=True))
        return
    flat = _flat(record)
    named = "server" in flat and "tool" in flat
    what = f"{flat['server']}/{flat['tool']}" if named else str(record.get("event", ""))
    why = flat.get("reason") or flat.get("status", "")
    words = (
        str(record["seq"]),
        str(record["at"])[11:19],
        str(record["kind"]),
        flat.get("decision", ""),
        what,
        str(why),
    )
    say("  ".join(visible(word) for word in words if word))


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    evaluation, execution, request = (record.get(name) or {} for name in ("evaluation", "execution", "request"))
    agent = (record.get("agent") or {}).get("agent", "")
    return {**record, **request, **evaluation, **execution, "agent": agent}


def _fits(record: dict[str, Any], wanted: argparse.Namespace) -> bool:
    flat = _flat(record)
    exact = ("agent", "server", "tool", "decision", "code", "kind", "session", "rule", "task")
    if any(getattr(wanted, name) is not None and str(flat.get(name)) != getattr(wanted, name) for name in exact):
        return False
    if wanted.since and str(record["at"]) < wanted.since:
        return False
    return wanted.text is None or wanted.text in json.dumps(record, ensure_ascii=False)


def _harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
