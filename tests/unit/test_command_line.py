"""The command line as its users meet it: real processes, real files, and never a traceback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ironcurtain.artifacts.policy import POLICY
from tests.program import run as fork
from tests.support import FILE_TOOLS, Place, call, some, tool

MODULE = [sys.executable, "-m", "ironcurtain"]
SCRIPT = [str(Path(sys.executable).with_name("ironcurtain"))]
CONTROLS = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")


def environment(place: Place, **changes: str | None) -> dict[str, str]:
    made = {
        "IRONCURTAIN_HOME": str(place.ironcurtain),
        "HOME": str(place.home),
        "PATH": os.environ["PATH"],
        "COLUMNS": "200",
        **changes,
    }
    return {name: value for name, value in made.items() if value is not None}


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


def run(
    place: Place,
    *arguments: str | bytes | Path,
    stdin: bytes = b"",
    program: list[str] | None = None,
    env: dict[str, str | None] | None = None,
    cwd: str | Path | None = None,
) -> Ran:
    around = environment(place, **(env or {}))
    if program is None and env is None:
        done = fork(*arguments, env=around, stdin=stdin, cwd=cwd or place.root)
    else:
        done = subprocess.run(
            [*(program or MODULE), *arguments],
            input=stdin,
            capture_output=True,
            env=around,
            cwd=cwd or place.root,
            check=False,
            timeout=120,
        )
    assert b"Traceback" not in done.stderr + done.stdout, done.stderr.decode()
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def as_lines(*calls: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in calls)


def annotated(tools: list[dict[str, Any]]) -> dict[str, Any]:
    servers: dict[str, Any] = {}
    for entry in tools:
        servers.setdefault(entry["serverName"], {"tools": []})["tools"].append(entry)
    return {"version": 1, "servers": servers}


def rule(name: str, then: str, *, elsewhere: bool = False, **conditions: Any) -> dict[str, Any]:
    return {"name": name, "if": conditions, "then": then, **({"elsewhere": True} if elsewhere else {})}


def within(directory: str, *roles: str) -> dict[str, Any]:
    return {"roles": list(roles), "within": directory}


RULES = [
    rule("read-docs", "allow", paths=within("{root}/docs", "read-path")),
    rule("no-deleting", "deny", roles=["delete-path"]),
    rule("write-drafts", "allow", paths=within("{root}/drafts", "write-path")),
    rule("ask-elsewhere", "escalate", elsewhere=True),
]


def policy(place: Place, rules: list[Any] | None = None, tools: list[Any] | None = None, name: str = "policy") -> Path:
    chain = RULES if rules is None else rules
    return place.write(name, policy=place.policy(chain), annotations=annotated(tools or FILE_TOOLS))


def read(path: str | Path) -> dict[str, Any]:
    return call("read", {"path": str(path)})


def config(place: Place, text: str) -> Path:
    made = place.file("config.toml", text)
    made.chmod(0o600)
    return made


def assert_complains(ran: Ran, *words: str) -> None:
    """One message on standard error, with help, and exit code 2."""
    assert ran.code == 2
    assert ran.err.startswith("ironcurtain: ")
    assert "help: " in ran.err
    for word in words:
        assert word in ran.err


# check


def test_check_answers_every_line_in_order(place: Place) -> None:
    calls = [
        read(place.root / "docs/a"),
        read(place.root / "out/a"),
        call("delete", {"path": str(place.sandbox / "a")}),
    ]
    ran = run(place, "check", "--policy", policy(place), stdin=as_lines(*calls * 20))
    assert ran.code == 0
    assert ran.err == ""
    assert [line["decision"] for line in ran.lines] == ["allow", "escalate", "deny"] * 20
    assert [line["rule"] for line in ran.lines[:3]] == ["read-docs", "ask-elsewhere", "no-deleting"]


def test_a_decision_has_the_fields_of_its_format(place: Place) -> None:
    calls = as_lines(read(place.root / "docs/a"), read(place.root / "out/a"), read(place.sandbox / "a"))
    allowed, asked, contained = run(place, "check", "--policy", policy(place), stdin=calls).lines
    shared = {"decision", "stage", "code", "rule", "reason", "roles"}
    assert set(allowed) == set(contained) == shared
    assert set(asked) == shared | {"help"}
    assert (allowed["stage"], allowed["code"], allowed["roles"]) == ("rules", "rule_allow", ["read-path"])
    assert (asked["stage"], asked["code"], asked["rule"]) == ("rules", "rule_escalate", "ask-elsewhere")
    assert (contained["stage"], contained["code"], contained["rule"]) == ("rules", "contained", None)
    assert all("\n" not in line["reason"] for line in (allowed, asked, contained))


GOOD = b'{"serverName": "fs", "toolName": "info", "arguments": {}}'
MALFORMED: dict[str, tuple[bytes, set[str]]] = {
    "blank": (b"", {"json_syntax"}),
    "spaces": (b"   ", {"json_syntax"}),
    "half an object": (b'{"serverName": "fs"', {"json_syntax"}),
    "two objects": (GOOD + GOOD, {"json_syntax"}),
    "a word": (b"please", {"json_syntax"}),
    "a list": (b"[" + GOOD + b"]", {"call_malformed"}),
    "an empty object": (b"{}", {"call_malformed"}),
    "an unknown member": (GOOD[:-1] + b', "admin": true}', {"call_malformed"}),
    "a duplicate key": (GOOD[:-1] + b', "toolName": "read"}', {"json_duplicate_key"}),
    "a confusable key": (GOOD[:-1] + b', "ToolName": "read"}', {"json_confusable_key"}),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD, {"json_encoding", "json_syntax"}),
    "bytes": (b"\xff\xfe\x00", {"json_encoding"}),
    "NUL": (GOOD + b"\x00", {"json_syntax"}),
    "NaN": (b'{"serverName": "fs", "toolName": "info", "arguments": {"a": NaN}}', {"json_number"}),
    "deep": (b'{"a":' * 50 + b"1" + b"}" * 50, {"json_depth"}),
    "endlessly deep": (b"[" * 200_000, {"json_depth", "json_syntax"}),
    "5 MiB": (b'{"serverName": "' + b"a" * (5 * 1024 * 1024) + b'"}', {"json_too_large"}),
}


@pytest.mark.parametrize("kind", some([*MALFORMED], 3))
def test_a_malformed_line_is_denied_and_the_run_goes_on(kind: str, place: Place) -> None:
    line, codes = MALFORMED[kind]
    ran = run(place, "check", "--policy", policy(place), stdin=GOOD + b"\n" + line + b"\n" + GOOD + b"\n")
    assert ran.code == 0
    before, denied, after = ran.lines
    assert (denied["decision"], denied["stage"], denied["rule"]) == ("deny", "validate", None)
    assert denied["code"] in codes
    assert denied["help"]
    assert len(denied["reason"]) < 1_000
    assert before == after
    assert before["decision"] == "escalate"


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        pytest.param(b"", 0, id="nothing"),
        pytest.param(GOOD, 1, id="no trailing newline"),
        pytest.param(GOOD + b"\r\n" + GOOD + b"\r\n", 2, id="CRLF"),
        pytest.param(b" \t" + GOOD + b" \n", 1, id="spaces around"),
    ],
)
def test_lines_end_in_any_usual_way(text: bytes, answers: int, place: Place) -> None:
    ran = run(place, "check", "--policy", policy(place), stdin=text)
    assert (ran.code, ran.err) == (0, "")
    assert [line["decision"] for line in ran.lines] == ["escalate"] * answers


def test_a_line_separator_inside_a_string_is_no_end_of_line(place: Place) -> None:
    line = json.dumps(read(place.root / "docs/a\u2028b\x0bc"), ensure_ascii=False).replace("\\u000b", "\\u000b")
    ran = run(place, "check", "--policy", policy(place), stdin=line.encode() + b"\n" + GOOD)
    assert len(ran.lines) == 2


def test_a_refused_policy_denies_every_line(place: Place) -> None:
    directory = policy(place)
    (directory / POLICY).write_text((directory / POLICY).read_text().replace("no-deleting", "no-worries"))
    ran = run(place, "check", "--policy", directory, stdin=as_lines(read(place.root / "docs/a")) + b"\n{bad\n" + GOOD)
    assert_complains(ran, str(directory / POLICY), "ironcurtain policy verify")
    assert len(ran.lines) == 4
    for line in ran.lines:
        assert (line["decision"], line["stage"], line["code"], line["rule"]) == ("deny", "load", "policy_edited", None)
        assert line["help"]
        assert line["roles"] == []


def test_a_refused_configuration_denies_every_line(place: Place) -> None:
    settings = config(place, "[tools]\nallow = []\n")
    ran = run(place, "check", "--policy", policy(place), "--config", settings, stdin=GOOD + b"\n" + GOOD)
    assert_complains(ran, str(settings), "tools.allow")
    answers = [(line["decision"], line["stage"], line["code"]) for line in ran.lines]
    assert answers == [("deny", "load", "artifact_malformed")] * 2


def test_a_missing_configuration_that_was_asked_for_is_refused(place: Place) -> None:
    ran = run(place, "check", "--policy", policy(place), "--config", place.root / "nope.toml", stdin=GOOD)
    assert_complains(ran, "nope.toml")
    assert ran.lines[0]["code"] == "artifact_missing"


def test_the_configuration_narrows_what_the_policy_allows(place: Place) -> None:
    settings = config(place, '[tools]\ndeny = ["read"]\n[agents.coder.tools]\nallow = ["write"]\n')
    directory = policy(place)
    several = call("read_many", {"paths": [str(place.root / "docs/a")]})
    calls = as_lines(read(place.root / "docs/a"), several, {**several, "principal": {"agent": "coder"}})
    ran = run(place, "check", "--policy", directory, "--config", settings, stdin=calls)
    assert [(line["decision"], line["code"]) for line in ran.lines] == [
        ("deny", "access_denied"),
        ("allow", "rule_allow"),
        ("deny", "access_not_listed"),
    ]
    assert all(line["stage"] == "access" for line in ran.lines if line["decision"] == "deny")
    open_again = run(place, "check", "--policy", directory, stdin=calls)
    assert {line["decision"] for line in open_again.lines} == {"allow"}


def test_the_homes_configuration_is_used_where_none_is_named(place: Place) -> None:
    settings = place.ironcurtain / "config.toml"
    settings.write_text('[tools]\ndeny = ["read"]\n')
    settings.chmod(0o600)
    ran = run(place, "check", "--policy", policy(place), stdin=as_lines(read(place.root / "docs/a")))
    assert [line["code"] for line in ran.lines] == ["access_denied"]


def filesystem(name: str, path: str | Path, **more: Any) -> dict[str, Any]:
    return call(name, {"path": str(path), **more}, server="filesystem")


def test_the_default_policy_asks_outside_its_sandbox(place: Place) -> None:
    box = place.root / "mine"
    calls = as_lines(
        filesystem("write_file", box / "x", content="y"),
        filesystem("read_file", box / "x"),
        filesystem("read_file", place.root / "out"),
        filesystem("delete_file", box / "x"),
        filesystem("read_file", place.ironcurtain / "policy"),
    )
    ran = run(place, "check", "--sandbox", box, stdin=calls)
    assert (ran.code, ran.err) == (0, "")
    assert [line["decision"] for line in ran.lines] == ["allow", "allow", "escalate", "deny", "deny"]


def test_the_default_policys_own_sandbox_is_the_homes(place: Place) -> None:
    calls = as_lines(
        filesystem("read_file", place.ironcurtain / "sandbox/x"), filesystem("read_file", place.root / "mine")
    )
    assert [line["decision"] for line in run(place, "check", stdin=calls).lines] == ["allow", "escalate"]


@pytest.mark.parametrize("sandbox", ["{home}", "{home}/.ironcurtain", "{home}/.cursor", "/"])
def test_the_default_policys_sandbox_may_not_meet_what_is_protected(sandbox: str, place: Place) -> None:
    ran = run(place, "check", "--sandbox", place.fill(sandbox), stdin=GOOD)
    assert_complains(ran, "sandbox")
    assert [line["code"] for line in ran.lines] == ["sandbox_overlap"]


@pytest.mark.parametrize(
    "verb", [["check"], ["explain"], ["tools"], ["policy", "lint"], ["scenarios", "run"]], ids=" ".join
)
def test_a_sandbox_for_a_policy_that_has_one_is_a_usage_error(verb: list[str], place: Place) -> None:
    ran = run(place, *verb, "--policy", policy(place), "--sandbox", place.root / "mine", stdin=GOOD)
    assert_complains(ran, "--sandbox", "setup.sandbox")
    assert ran.out == ""


# explain

KINDS = tool(
    "post", {"to": ["channel"], "text": ["outbound-content"], "path": {"roles": ["read-path"], "absent": "nothing"}}
)
CHAIN = [
    rule("first-docs", "allow", paths=within("{root}/docs", "read-path")),
    rule("second-docs", "allow", paths=within("{root}/docs", "read-path")),
    rule("secret-drafts", "deny", paths=within("{root}/drafts/secret", "write-path")),
    rule("drafts", "allow", paths=within("{root}/drafts", "write-path")),
    rule("no-deleting", "deny", roles=["delete-path"]),
    rule("rude", "escalate", roles=["channel"], assess={"question": "is it rude?"}),
    rule("said-so", "allow", origin={"roles": ["channel"], "from": "person"}),
    rule("general", "allow", tool=["post"], lists=[{"roles": ["channel"], "allowed": ["general"]}]),
    rule("ask", "escalate", elsewhere=True),
]
EXPLAINED: dict[str, dict[str, Any]] = {
    "read in docs": call("read", {"path": "{root}/docs/a"}),
    "read outside": call("read", {"path": "{root}/out/a"}),
    "read in the sandbox": call("read", {"path": "{box}/a"}),
    "read several": call("read_many", {"paths": ["{root}/docs/a", "{root}/out/b", "{box}/c"]}),
    "write a draft": call("write", {"path": "{root}/drafts/a", "content": "x"}),
    "write a secret": call("write", {"path": "{root}/drafts/secret/a", "content": "x"}),
    "delete": call("delete", {"path": "{root}/docs/a"}),
    "move": call("move", {"source": "{root}/docs/a", "destination": "{root}/drafts/a"}),
    "post": call("post", {"to": "general", "text": "hello"}),
    "post elsewhere": call("post", {"to": "random", "text": "hello"}),
    "touch nothing": call("info", {}),
    "protected": call("read", {"path": "{home}/.ironcurtain/policy"}),
    "unknown tool": call("nope", {}),
}


def furnished(place: Place, rules: list[Any] | None = None, name: str = "policy") -> Path:
    return policy(place, CHAIN if rules is None else rules, [*FILE_TOOLS, KINDS], name)


def placed(place: Place, request: dict[str, Any]) -> dict[str, Any]:
    return json.loads(place.fill(json.dumps(request)))  # type: ignore[no-any-return]


def explained(place: Place, directory: Path, request: dict[str, Any]) -> dict[str, Any]:
    ran = run(place, "explain", "--json", "--policy", directory, json.dumps(placed(place, request)))
    assert (ran.code, ran.err) == (0, "")
    return ran.lines[0]  # type: ignore[no-any-return]


def test_explain_and_check_agree(place: Place) -> None:
    directory = furnished(place)
    calls = [placed(place, request) for request in EXPLAINED.values()]
    for request, decision in zip(
        calls, run(place, "check", "--policy", directory, stdin=as_lines(*calls)).lines, strict=True
    ):
        shown = explained(place, directory, request)
        assert {key: shown.get(key) for key in decision} == decision, request


def test_the_decisive_rules_are_exactly_those_whose_removal_changes_the_outcome(place: Place) -> None:
    requests = [placed(place, request) for request in EXPLAINED.values()]
    directory = furnished(place)
    shown = [explained(place, directory, request) for request in requests]
    changing: list[set[str]] = [set() for _ in requests]
    for left_out in CHAIN:
        rest = [entry for entry in CHAIN if entry is not left_out]
        without = run(place, "check", "--policy", furnished(place, rest, "fewer"), stdin=as_lines(*requests)).lines
        for names, before, after in zip(changing, shown, without, strict=True):
            if after["decision"] != before["decision"]:
                names.add(left_out["name"])
    assert [set(before.get("decisiveRules", ())) for before in shown] == changing
    assert sum(map(bool, changing)) > len(changing) // 2


@pytest.mark.parametrize("name", EXPLAINED)
def test_the_nearby_call_is_in_fact_allowed(name: str, place: Place) -> None:
    directory = furnished(place)
    shown = explained(place, directory, EXPLAINED[name])
    if shown.get("nearby") is not None:
        assert shown["decision"] != "allow"
        assert shown["nearby"]["toolName"] == EXPLAINED[name]["toolName"]
        ran = run(place, "check", "--policy", directory, stdin=as_lines(shown["nearby"]))
        assert ran.lines[0]["decision"] == "allow"


@pytest.mark.parametrize("name", ["read outside", "read several"])
def test_a_nearby_call_is_found_where_there_is_one(name: str, place: Place) -> None:
    directory = furnished(place)
    nearby = explained(place, directory, EXPLAINED[name])["nearby"]
    assert nearby is not None
    text = run(place, "explain", "--policy", directory, json.dumps(placed(place, EXPLAINED[name]))).out
    assert "would be allowed: " + json.dumps(nearby) in " ".join(text.split())


def test_explain_names_the_deciding_rule_and_why_earlier_ones_did_not_match(place: Place) -> None:
    ran = run(place, "explain", "--policy", furnished(place), json.dumps(read(place.root / "out/a")))
    assert ran.code == 0
    lines = {line.split()[0]: line for line in ran.out.splitlines() if line.split()}
    assert str(place.root / "docs") in lines["first-docs"]
    assert "does not hold" in lines["first-docs"]
    assert "write-path" in lines["drafts"]
    assert "delete-path" in lines["no-deleting"]
    assert any(line.split()[:2] == [">", "ask"] for line in ran.out.splitlines())
    assert "escalate" in ran.out


def test_explain_lists_what_every_rule_said_up_to_the_deciding_one(place: Place) -> None:
    shown = explained(place, furnished(place), EXPLAINED["delete"])
    (claim,) = shown["claims"]
    assert [asked["rule"] for asked in claim["asked"]] == [entry["name"] for entry in CHAIN[:5]]
    assert all(asked["answer"] for asked in claim["asked"])
    assert (claim["rule"], claim["decision"]) == ("no-deleting", "deny")


def test_assess_and_origin_are_called_unanswered(place: Place) -> None:
    shown = explained(place, furnished(place), EXPLAINED["post"])
    (channel,) = [claim for claim in shown["claims"] if claim["claim"].startswith("channel")]
    answers = {asked["rule"]: asked["answer"] for asked in channel["asked"]}
    assert "no step answers" in answers["rude"]
    assert "no step answers" in answers["said-so"]
    assert shown["decision"] == "escalate"
    text = run(place, "explain", "--policy", furnished(place), json.dumps(EXPLAINED["post"])).out
    assert any("rude" in line and "no step answers" in line for line in text.splitlines())


HOSTILE = "a\x1b[2J\x1b]0;owned\x07\r\x08\x9b31m\u202egnp.\u2066x\x00"


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(call("write", {"path": "{root}/out/a", "content": HOSTILE}), id="content"),
        pytest.param(read("{root}/out/" + HOSTILE.replace("\x00", "")), id="path"),
        pytest.param(call(HOSTILE, {}), id="tool"),
        pytest.param(call("info", {}, server=HOSTILE), id="server"),
        pytest.param(call("info", {HOSTILE: 1}), id="argument name"),
        pytest.param(call("read", {"path": [HOSTILE]}), id="list"),
        pytest.param(call("post", {"to": HOSTILE, "text": HOSTILE}), id="channel"),
        pytest.param({**call("info", {}), HOSTILE: 1}, id="member"),
        pytest.param({**call("info", {}), "principal": {"agent": HOSTILE}}, id="principal"),
    ],
)
def test_control_characters_of_a_call_are_never_printed_raw(
    request_: dict[str, Any], more: list[str], place: Place
) -> None:
    done = subprocess.run(
        [*MODULE, "explain", *more, "--policy", furnished(place)],
        input=json.dumps(placed(place, request_)).encode(),
        capture_output=True,
        env=environment(place),
        check=False,
        timeout=60,
    )
    assert done.returncode in (0, 2)
    assert not CONTROLS.search(done.stdout + done.stderr)
    assert b"Traceback" not in done.stderr


def test_control_characters_of_a_policy_are_never_printed_raw(place: Place) -> None:
    odd = {**rule("all", "escalate"), "reason": HOSTILE, "description": HOSTILE}
    noted = [{**entry, "comment": "c\x1b[31m"} for entry in FILE_TOOLS]
    directory = policy(place, [odd], noted)
    for verb in (["check"], ["explain"], ["explain", "--json"], ["tools"], ["tools", "--json"], ["policy", "lint"]):
        ran = run(place, *verb, "--policy", directory, stdin=GOOD)
        assert not CONTROLS.search((ran.out + ran.err).encode()), verb


def test_explain_reads_the_call_from_standard_input_too(place: Place) -> None:
    directory = furnished(place)
    request = as_lines(read(place.root / "docs/a"))
    assert run(place, "explain", "--policy", directory, stdin=request) == run(
        place, "explain", "--policy", directory, request.decode()
    )


@pytest.mark.parametrize("text", ["", "{bad", "[]", "{}", '{"serverName": "fs", "serverName": "fs"}'])
def test_explain_says_what_is_wrong_with_what_is_no_call(text: str, place: Place) -> None:
    ran = run(place, "explain", "--policy", furnished(place), stdin=text.encode())
    assert ran.code == 2
    assert "validate" in ran.out + ran.err


# scenarios and verification


def scenario(expected: str, **more: Any) -> dict[str, Any]:
    return {
        "description": "the docs may be read",
        "request": call("read", {"path": "{root}/docs/a"}),
        "expectedDecision": expected,
        "source": "handwritten",
        **more,
    }


def drafted(place: Place, *scenarios: dict[str, Any]) -> Path:
    content = json.loads(place.fill(json.dumps({"version": 1, "scenarios": list(scenarios)})))
    return place.draft("policy", policy=place.policy(RULES), annotations=annotated(FILE_TOOLS), scenarios=content)


def test_scenarios_that_hold_end_with_0(place: Place) -> None:
    directory = drafted(place, scenario("allow"), scenario("escalate", request=read("{root}/out/a")))
    assert run(place, "policy", "verify", directory).code == 0
    ran = run(place, "scenarios", "run", "--policy", directory)
    assert ran.code == 0
    assert "the docs may be read" in ran.out
    results = run(place, "scenarios", "run", "--json", "--policy", directory).lines
    assert all(result["passed"] for result in results)
    assert len(results) > 2  # besides those of the policy, those that hold for every policy


def test_a_scenario_that_fails_under_a_configuration_ends_with_1(place: Place) -> None:
    directory = drafted(place, scenario("allow"))
    run(place, "policy", "verify", directory)
    settings = config(place, '[tools]\ndeny = ["read"]\n')
    ran = run(place, "scenarios", "run", "--policy", directory, "--config", settings)
    assert ran.code == 1
    assert "access_denied" in ran.out
    failed = [
        result
        for result in run(place, "scenarios", "run", "--json", "--policy", directory, "--config", settings).lines
        if not result["passed"]
    ]
    assert [(entry["description"], entry["expected"], entry["decision"]) for entry in failed] == [
        ("the docs may be read", "allow", "deny")
    ]


def test_the_default_policys_scenarios_hold(place: Place) -> None:
    assert run(place, "scenarios", "run").code == 0
    assert run(place, "scenarios", "run", "--sandbox", place.root / "mine").code == 0


def test_verify_stamps_a_policy_so_that_it_loads(place: Place) -> None:
    directory = drafted(place, scenario("allow"))
    request = as_lines(read(place.root / "docs/a"))
    before = run(place, "check", "--policy", directory, stdin=request)
    assert (before.code, before.lines[0]["code"]) == (2, "policy_unverified")
    ran = run(place, "policy", "verify", directory)
    assert ran.code == 0
    assert "pass" in ran.out
    stamp = json.loads((directory / POLICY).read_text())["verification"]
    assert stamp["verdict"] == "pass"
    assert set(stamp) == {"verdict", "digest", "scenarios", "at"}
    after = run(place, "check", "--policy", directory, stdin=request)
    assert (after.code, after.lines[0]["decision"]) == (0, "allow")


def test_a_policy_whose_scenario_fails_ends_with_1_and_is_not_loaded(place: Place) -> None:
    directory = drafted(place, scenario("deny"))
    for _ in range(2):
        ran = run(place, "policy", "verify", directory)
        assert ran.code == 1
        assert "the docs may be read" in ran.out
        assert json.loads((directory / POLICY).read_text())["verification"]["verdict"] == "fail"
    for verb in (["check"], ["explain"], ["tools"], ["policy", "lint"], ["scenarios", "run"]):
        loaded = run(place, *verb, "--policy", directory, stdin=GOOD)
        assert_complains(loaded, str(directory / POLICY))
    assert run(place, "check", "--policy", directory, stdin=GOOD).lines[0]["code"] == "policy_failed"


def test_a_policy_that_cannot_be_read_is_not_stamped(place: Place) -> None:
    directory = drafted(place, scenario("allow"))
    broken = (directory / POLICY).read_text().replace('"then": "deny"', '"then": "Deny"')
    (directory / POLICY).write_text(broken)
    assert_complains(run(place, "policy", "verify", directory), str(directory / POLICY), "rules[1].then", "deny")
    assert (directory / POLICY).read_text() == broken


# lint


def findings(place: Place, rules: list[Any], tools: list[Any] | None = None, settings: str = "") -> list[Any]:
    more: list[str | Path] = ["--config", config(place, settings)] if settings else []
    directory = policy(place, rules, tools, "linted")
    ran = run(place, "policy", "lint", "--json", "--policy", directory, *more)
    text = run(place, "policy", "lint", "--policy", directory, *more)
    assert ran.code == text.code == (1 if ran.lines else 0)
    for finding in ran.lines:
        assert finding["kind"] in text.out
        assert finding["message"]
    return [(finding["kind"], finding["rules"]) for finding in ran.lines]


NO_DELETE = rule("none", "deny", roles=["delete-path"])


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param([NO_DELETE, {**NO_DELETE, "name": "again"}], [("duplicate", "again")], id="duplicate"),
        pytest.param(
            [NO_DELETE, rule("yes", "allow", roles=["delete-path"])], [("contradictory", "yes")], id="contradictory"
        ),
        pytest.param(
            [NO_DELETE, rule("one", "deny", roles=["delete-path"], tool=["delete"])],
            [("shadowed", "one")],
            id="shadowed",
        ),
        pytest.param([rule("all", "escalate"), NO_DELETE], [("shadowed", "none")], id="shadowed by everything"),
        pytest.param([rule("off", "deny", tool=["format_disk"])], [("unreachable", "off")], id="unreachable tool"),
        pytest.param([rule("off", "deny", server=["mail"])], [("unreachable", "off")], id="unreachable server"),
        pytest.param([rule("off", "deny", roles=["recipient"])], [("unreachable", "off")], id="unreachable role"),
        pytest.param(
            [rule("off", "deny", tool=["read"], roles=["delete-path"])], [("unreachable", "off")], id="unreachable pair"
        ),
        pytest.param(RULES, [], id="clean"),
        pytest.param([rule("one", "allow", tool=["delete"]), NO_DELETE], [], id="an exception ahead"),
        pytest.param([rule("ask", "escalate", assess={"question": "?"}), NO_DELETE], [], id="an unanswered rule ahead"),
        pytest.param(
            [rule("ask", "escalate", elsewhere=True), rule("no", "deny", roles=["write-path"])], [], id="elsewhere"
        ),
        pytest.param([], [], id="no rules"),
    ],
)
def test_lint_finds_rules_that_do_nothing(rules: list[Any], expected: list[tuple[str, str]], place: Place) -> None:
    assert [(kind, names[0]) for kind, names in findings(place, rules)] == expected


@pytest.mark.parametrize(
    ("settings", "ambiguous"),
    [
        ('[tools]\nallow = ["read"]\n', True),
        ('[tools]\nprofile = "coding"\nalsoAllow = ["read"]\n', True),
        ('[agents.coder.tools]\nallow = ["info", "read"]\n', True),
        ('[tools]\nallow = ["fs/read"]\n', False),
        ('[tools]\nallow = ["write"]\n', False),
        ('[tools]\nallow = ["*"]\n', False),
        ('[tools]\ndeny = ["read"]\n', False),
        ('[tools]\nallow = ["group:fs"]\n', False),
    ],
)
def test_a_bare_allow_that_fits_tools_of_two_servers_is_ambiguous(settings: str, ambiguous: bool, place: Place) -> None:
    tools = [*FILE_TOOLS, tool("read", {"path": ["read-path"]}, server="other")]
    assert [kind for kind, _ in findings(place, RULES, tools, settings)] == ["ambiguous"] * ambiguous


def test_the_default_policy_is_clean(place: Place) -> None:
    assert run(place, "policy", "lint").code == 0


# tools


def listed(place: Place, *more: str | Path) -> dict[str, str | None]:
    return {
        entry["toolName"]: entry["hidden"]
        for entry in run(place, "tools", "--json", "--policy", policy(place), *more).lines
    }


LAYERS = """
[tools]
deny = ["move"]
[tools.byProvider.openai]
deny = ["write"]
[agents.coder.tools]
allow = ["read*", "delete"]
[groups.team.tools]
deny = ["read_many"]
[groups.team.toolsByMember.ann]
allow = ["*"]
"""


@pytest.mark.parametrize(
    ("principal", "hidden"),
    [
        ([], {"move": "global"}),
        (["--provider", "openai"], {"move": "global", "write": "provider"}),
        (["--provider", "openai/gpt-4"], {"move": "global", "write": "provider"}),
        (["--agent", "coder"], {"move": "global", "write": "agent", "info": "agent"}),
        (["--agent", "another"], {"move": "global"}),
        (["--group", "team"], {"move": "global", "read_many": "group"}),
        (["--group", "team", "--member", "ann"], {"move": "global"}),
        (["--group", "team", "--member", "bob"], {"move": "global", "read_many": "group"}),
        (["--subagent"], {"move": "global", "delete": "subagent"}),
    ],
)
def test_tools_are_listed_by_what_the_layers_let_through(
    principal: list[str], hidden: dict[str, str], place: Place
) -> None:
    settings = config(place, LAYERS)
    names = {entry["toolName"] for entry in FILE_TOOLS}
    assert set(listed(place, "--config", settings, *principal)) == names - set(hidden)
    everything = listed(place, "--config", settings, "--all", *principal)
    assert set(everything) == names
    for name, reason in everything.items():
        assert (hidden[name] in (reason or "")) if name in hidden else (reason is None), name


def test_the_table_of_tools_names_the_layer_that_hides_one(place: Place) -> None:
    directory = policy(place)
    settings = config(place, LAYERS)
    shown = run(place, "tools", "--policy", directory, "--config", settings)
    assert shown.code == 0
    assert "read_many" in shown.out
    assert "move" not in shown.out
    everything = run(place, "tools", "--all", "--policy", directory, "--config", settings)
    assert any("move" in line and "global" in line for line in everything.out.splitlines())


# the program itself


def test_completion_for_bash_is_a_script_bash_can_read(place: Place) -> None:
    ran = run(place, "completion", "bash")
    assert ran.code == 0
    for verb in ("check", "explain", "scenarios"):
        assert verb in ran.out
    assert subprocess.run(["bash", "-n"], input=ran.out.encode(), check=False, timeout=120).returncode == 0


def test_help_names_every_command_and_the_exit_codes(place: Place) -> None:
    ran = run(place, "--help")
    assert (ran.code, ran.err) == (0, "")
    for word in ("check", "explain", "tools", "policy", "scenarios", "demo", "completion", "130"):
        assert word in ran.out


@pytest.mark.parametrize("program", [MODULE, SCRIPT], ids=["module", "script"])
def test_the_version_is_one_line(program: list[str], place: Place) -> None:
    ran = run(place, "--version", program=program)
    assert ran.code == 0
    assert re.fullmatch(r"ironcurtain \d+\.\d+\.\d+\S*\n", ran.out)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["check", "--frobnicate"],
        ["check", "extra"],
        ["check", "--policy"],
        ["explain", "{}", "{}"],
        ["policy"],
        ["policy", "frobnicate"],
        ["policy", "verify"],
        ["policy", "import"],
        ["scenarios"],
        ["completion", "cmd.exe"],
        ["completion"],
        ["--frobnicate"],
        ["\x1b[31m"],
        [""],
    ],
    ids=repr,
)
def test_bad_usage_ends_with_2_and_one_message(arguments: list[str], place: Place) -> None:
    ran = run(place, *arguments)
    assert ran.code == 2
    assert "usage: " in ran.err
    assert ran.out == ""


VERBS = [["check"], ["explain"], ["tools"], ["policy", "lint"], ["scenarios", "run"]]


@pytest.mark.parametrize("verb", some([*VERBS, ["policy", "verify"], ["policy", "import"]], 3), ids=" ".join)
@pytest.mark.parametrize("name", ["nowhere", "", "a-file", "bad\udcffname", "nowhere/x"], ids=ascii)
def test_a_policy_that_is_not_there_is_said_so(verb: list[str], name: str, place: Place) -> None:
    place.file("a-file")
    target = os.fsencode(place.root) + b"/" + os.fsencode(name) if name else b""
    option = [] if verb[1:] in (["verify"], ["import"]) else ["--policy"]
    ran = run(place, *verb, *option, target, stdin=GOOD)
    assert_complains(ran)
    assert ran.err.count("\n") == 2


@pytest.mark.parametrize("verb", some(VERBS, 3), ids=" ".join)
@pytest.mark.parametrize(
    ("options", "env"),
    [
        pytest.param(["-O"], {}, id="optimised"),
        pytest.param(["-OO"], {}, id="more optimised"),
        pytest.param([], {"LANG": "C"}, id="LANG=C"),
        pytest.param([], {"LC_ALL": "C"}, id="LC_ALL=C"),
        pytest.param([], {"HOME": None}, id="no HOME"),
        pytest.param([], {"HOME": None, "IRONCURTAIN_HOME": None, "PATH": None}, id="nothing at all"),
        pytest.param([], {"TERM": "dumb", "COLUMNS": "1"}, id="a narrow terminal"),
        pytest.param([], {"COLUMNS": "wide", "LINES": "-1"}, id="an odd terminal"),
        pytest.param([], {"FORCE_COLOR": None, "NO_COLOR": "1"}, id="no colour"),
        pytest.param(["-W", "error"], {"PYTHONDEVMODE": "1"}, id="warnings are errors"),
    ],
)
def test_every_verb_runs_in_an_odd_environment(
    verb: list[str], options: list[str], env: dict[str, str | None], place: Place
) -> None:
    directory = policy(place, [{**RULES[3], "reason": "außerhalb: ask 日本"}], [{**FILE_TOOLS[-1], "comment": "état"}])
    program = [sys.executable, *options, "-m", "ironcurtain"]
    ran = run(place, *verb, "--policy", directory, stdin=GOOD, program=program, env=env)
    assert ran.code == 0, ran.err
    assert ran.err == ""


@pytest.mark.parametrize("env", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}], ids=repr)
def test_decisions_are_written_in_ascii_whatever_the_streams_are(env: dict[str, str | None], place: Place) -> None:
    directory = policy(place, [{**RULES[3], "reason": "außerhalb: ask 日本"}])
    ran = run(place, "check", "--policy", directory, stdin=GOOD, env={**env, "PYTHONCOERCECLOCALE": "0"})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.isascii()
    assert ran.lines[0]["reason"] == "außerhalb: ask 日本"


@pytest.mark.parametrize("options", [[], ["-O"], ["-OO"]], ids=["plain", "-O", "-OO"])
@pytest.mark.parametrize(
    "env",
    [{}, {"LANG": "C"}, {"HOME": None}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
    ids=["usual", "LANG=C", "no HOME", "ASCII"],
)
def test_decisions_do_not_depend_on_the_environment(
    options: list[str], env: dict[str, str | None], place: Place
) -> None:
    directory = furnished(place)
    calls = [placed(place, request) for request in EXPLAINED.values()]
    (place.root / "docs").mkdir()
    (place.root / "docs/nach außen").symlink_to("/etc")
    calls += [read(place.root / "docs/nach außen/passwd"), read(place.root / "docs/été/日本")]
    usual = run(place, "check", "--policy", directory, stdin=as_lines(*calls))
    program = [sys.executable, *options, "-m", "ironcurtain"]
    assert run(place, "check", "--policy", directory, stdin=as_lines(*calls), program=program, env=env) == usual
    assert [line["decision"] for line in usual.lines[-2:]] == ["escalate", "allow"]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_directory_nobody_can_write_to_is_good_enough_to_stand_in(verb: list[str], place: Place) -> None:
    directory = policy(place)
    assert run(place, *verb, "--policy", directory, stdin=GOOD, cwd="/proc").code == 0


def test_a_directory_that_is_gone_is_good_enough_to_stand_in(place: Place) -> None:
    gone = place.root / "gone"
    gone.mkdir()
    shell = ["sh", "-c", 'rmdir "$0" && exec "$@"', str(gone)]
    ran = run(place, "check", "--policy", policy(place), stdin=GOOD, program=[*shell, *SCRIPT], cwd=gone)
    assert [line["decision"] for line in ran.lines] == ["escalate"]


@pytest.mark.parametrize("verb", [*VERBS, ["--version"], ["completion", "bash"], ["demo"]], ids=" ".join)
def test_the_installed_program_runs_nothing_from_the_directory_it_stands_in(verb: list[str], place: Place) -> None:
    here = place.root / "hostile"
    here.mkdir()
    names = ["json", "sitecustomize", "usercustomize", "re", "rich", "idna", "tomllib", "sqlite3", "argparse", "shtab"]
    for name in names:
        (here / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit(99)\n")
    (here / "ironcurtain").mkdir()
    (here / "ironcurtain/__init__.py").write_text("open('ran', 'w').close()\n")
    (here / "pyproject.toml").write_text("]")
    (here / "config.toml").write_text("]")
    more: list[str | Path] = ["--policy", policy(place)] if verb in VERBS else []
    ran = run(place, *verb, *more, stdin=GOOD, program=SCRIPT, cwd=here)
    assert ran.code == 0
    assert not (here / "ran").exists()


def start(place: Place, *arguments: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*MODULE, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(place),
        bufsize=0,
        # Whoever runs the tests in the background may ignore interrupts, and a child would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


def test_an_interrupt_ends_check_with_130_and_without_a_traceback(place: Place) -> None:
    with start(place, "check", "--policy", policy(place)) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(GOOD + b"\n")
        assert json.loads(process.stdout.readline())["decision"] == "escalate"  # answered while the input is open
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stdout.read() == b""
        assert b"Traceback" not in process.stderr.read()


def test_a_reader_who_leaves_ends_check_quietly(place: Place) -> None:
    with start(place, "check", "--policy", policy(place)) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(GOOD + b"\n")
        process.stdout.readline()
        process.stdout.close()
        try:
            for _ in range(1_000):
                process.stdin.write((GOOD + b"\n") * 20)
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.wait(60)
        assert process.stderr.read() == b""


@pytest.mark.parametrize("verb", [*VERBS, ["completion", "bash"], ["demo"]], ids=" ".join)
def test_a_reader_who_was_never_there_is_no_reason_to_complain(verb: list[str], place: Place) -> None:
    more: list[str | Path] = ["--policy", policy(place)] if verb in VERBS else []
    end, out = os.pipe()
    os.close(end)
    with os.fdopen(out, "wb") as closed:
        done = subprocess.run(
            [*MODULE, *verb, *more],
            input=GOOD,
            stdout=closed,
            stderr=subprocess.PIPE,
            env=environment(place),
            check=False,
            timeout=60,
        )
    assert done.stderr == b""


def test_the_demonstration_runs_and_leaves_nothing_behind(place: Place) -> None:
    before = sorted(place.root.rglob("*"))
    ran = run(place, "demo")
    assert (ran.code, ran.err) == (0, "")
    assert sorted(place.root.rglob("*")) == before
