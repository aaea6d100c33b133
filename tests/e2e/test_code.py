"""Code mode, end to end: real daemon, real sandbox, real servers, and a person who takes their time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.artifacts.policy import Surroundings
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.audit.checkpoint import Signer
from ironcurtain.sandbox.store import Status, Store
from tests.e2e.house import PROGRAM, code_of, eventually, text_of
from tests.e2e.test_bad_servers import Bad
from tests.support import some

if TYPE_CHECKING:
    from tests.e2e.house import House

ROOT = Path(__file__).parent.parent.parent
THREE = """
import bad
one = bad.echo(text="before")
print("about to ask")
two = bad.touch(text="x")
three = bad.echo(text="after")
[one, two, three]
"""


def _can_be_interrupted() -> None:
    """Whoever runs the tests in the background may have them ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Coded(Bad):
    """A house whose server `bad` writes down what reaches it: `echo` is allowed, `touch` asks."""

    def __init__(self, house: House, text: str = "") -> None:
        house.configure(text)
        super().__init__(house)
        path = house.home / "policy" / "compiled-policy.json"
        rules = json.loads(path.read_text())
        rules["rules"].insert(
            0, {"name": "touch-asks", "if": {"server": ["bad"], "tool": ["touch"]}, "then": "escalate"}
        )
        path.write_text(json.dumps(rules))
        assert verify_directory(house.home / "policy", Surroundings(house.home, time.time())).passed

    def change_policy(self) -> None:
        """To one that decides the same, by other rules."""
        path = self.house.home / "policy" / "compiled-policy.json"
        rules = json.loads(path.read_text())
        rules["version"] = rules.get("version", 0) + 1
        rules["rules"].append({"name": "more", "if": {"server": ["nothing"]}, "then": "deny", "reason": "never"})
        path.write_text(json.dumps(rules))
        assert verify_directory(path.parent, Surroundings(self.house.home, time.time())).passed
        eventually(lambda: self.house.status()["policy"]["version"] == rules["version"])

    def run(self, program: str, *arguments: str, code: int = 0) -> Any:
        """What came of a program."""
        done = self.house.run("code", "run", "-", "--json", *arguments, stdin=program, code=code)
        return json.loads(done)

    def start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        """Start one, and do not wait for it."""
        self.house.run("daemon", "start")
        file = self.house.owner / "program.py"
        file.write_text(program)
        command = [*PROGRAM, "code", "run", str(file), *options]
        return subprocess.Popen(
            command, env=self.house.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=_can_be_interrupted,  # noqa: PLW1509 - there is one thread
        )  # fmt: skip

    def until(self, status: str) -> Any:
        """The newest program, once it is there."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            programs = self.house.json("code", "list")
            if programs and programs[0]["status"] == status and (status != "waiting" or self._asked(programs[0])):
                return {**self.house.json("code", "show", programs[0]["run"]), **programs[0]}
            time.sleep(0.05)
        raise AssertionError(self.house.json("code", "list"))

    def _asked(self, program: Any) -> bool:
        """Whether its question is there; after a start that takes a moment."""
        return any(program["question"] in (each["id"], each["group"]) for each in self.house.json("approvals", "list"))

    def names(self) -> list[tuple[str, Any]]:
        return [(call["name"], call["arguments"]) for call in self.reached()]

    @property
    def store(self) -> Store:
        return Store(self.house.home / "programs", Signer.of(self.house.home / "audit.key").secret)


WHOLE = [("echo", {"text": "before"}), ("touch", {"text": "x"}), ("echo", {"text": "after"})]


def test_a_program_calls_tools_and_every_call_is_recorded(house: House) -> None:
    coded = Coded(house)
    told = coded.run(
        "import bad\nimport tools\nprint('hi', data)\n[bad.echo(text=t) for t in data] + tools.servers()",
        "--data",
        '["a", "b"]',
    )
    assert told["status"] == "done"
    assert [json.loads(each) for each in told["result"][:2]] == [{"text": "a"}, {"text": "b"}]
    assert told["result"][2:] == ["bad", "filesystem"]
    assert told["printed"] == "hi ['a', 'b']\n"
    intents = house.records(kind="intent")
    assert [record["code"] for record in intents] == [{"run": told["run"], "step": step} for step in (1, 2)]
    assert {record["agent"]["agent"] for record in intents} == {"code"}
    begun, planned, ended = (record for record in house.records(kind="event") if record["event"] == "code")
    assert planned["plan"]["calls"][0] == {"flows": [], "line": 4, "name": "bad.echo", "often": "many"}
    assert "bad.echo" in begun["program"]
    assert (ended["status"], ended["calls"]) == ("done", 3)
    assert "unbroken" in house.run("audit", "verify")


def test_a_refused_call_raises_what_can_be_caught_and_says_why(house: House) -> None:
    coded = Coded(house)
    caught = "import filesystem\ntry:\n    filesystem.delete_file(path='x')\nexcept PermissionError as error:\n    r = str(error)\nr"
    assert "not allowed" in coded.run(caught)["result"]
    told = coded.run("import filesystem\nname = 'x'.lower()\nfilesystem.delete_file(path=name)", code=1)
    assert told["failure"]["kind"] == "error"
    assert "PermissionError" in told["failure"]["message"]
    assert (
        coded.run(
            "import bad\ntry:\n    bad.echo(text='x' * 5_000_000)\nexcept (TypeError, PermissionError, RuntimeError) as error:\n    r = 'refused'\nr"
        )["result"]
        == "refused"
    )


@pytest.mark.parametrize(
    ("program", "kind", "says"),
    some([
        ("import bad\nbad.echo(txt='x')", "types", "txt"),
        ("import bad\nbad.nothing()", "types", "nothing"),
        ("import nothing", "types", "nothing"),
        ("import bad\n1 +", "syntax", "line 2"),
        ("raise ValueError('no')", "error", "ValueError: no"),
        ("import bad\nfor n in range(300):\n    bad.echo(text='x' + str(n))", "calls", "200"),
        ("{1, 2}", "result", "set"),
        ("import os\nos.environ", "error", "not supported"),
    ], 3),
)  # fmt: skip
def test_what_goes_wrong_is_said(house: House, program: str, kind: str, says: str) -> None:
    told = Coded(house).run(program, code=1)
    assert told["failure"]["kind"] == kind
    assert says in told["failure"]["message"]


@pytest.mark.parametrize("killed", [False, True])
def test_a_program_that_is_asked_about_twice_is_kept(house: House, killed: bool) -> None:
    coded = Coded(house)
    waiting = coded.start(THREE)
    first = coded.until("waiting")["question"]
    coded.change_policy()
    house.run("approvals", "approve", first)
    again = eventually(lambda: [each["id"] for each in house.json("approvals", "list") if each["id"] != first])
    if killed:
        house.kill()
        house.run("daemon", "start")
        again = [coded.until("waiting")["question"]]
    house.run("approvals", "approve", again[0])
    done = coded.until("done")
    assert [json.loads(each) for each in done["result"]] == [arguments for _, arguments in WHOLE]
    assert coded.names() == WHOLE
    waiting.communicate(timeout=30)


def test_a_program_that_waits_outlives_the_daemon_and_does_nothing_twice(house: House) -> None:
    coded = Coded(house)
    waiting = coded.start(THREE)
    program = coded.until("waiting")
    assert len(hosts_of(house.status()["pid"])) <= 1  # the one that is ready for the next
    (question,) = house.json("approvals", "list")
    assert question["id"] == program["question"]
    house.kill()
    waiting.wait(timeout=120)
    assert waiting.returncode != 0
    for stream in (waiting.stdout, waiting.stderr):
        assert stream is not None
        stream.close()
    house.run("daemon", "start")
    assert coded.until("waiting")["question"] == question["id"]
    assert coded.names() == WHOLE[:1]
    house.run("approvals", "approve", question["id"])
    done = coded.until("done")
    assert [json.loads(each) for each in done["result"]] == [arguments for _, arguments in WHOLE]
    assert done["printed"] == "about to ask\n"
    assert coded.names() == WHOLE
    assert house.json("code", "show", program["run"])["program"] == THREE
    assert "unbroken" in house.run("audit", "verify")


def hosts_of(daemon: int) -> list[int]:
    """The processes under the daemon that run a program, or are ready to."""
    running = [path for path in Path("/proc").iterdir() if path.name.isdecimal()]
    found = []
    for path in running:
        try:
            status = (path / "stat").read_text().rsplit(")", 1)[1].split()
            command = (path / "cmdline").read_bytes()
        except OSError:
            continue
        if int(status[1]) == daemon and b"ironcurtain.sandbox.host" in command:
            found.append(int(path.name))
    return found


def test_after_an_upgrade_it_does_again_what_it_had_done_without_doing_it(house: House) -> None:
    coded = Coded(house)
    clocked = THREE.replace("import bad", "import bad, time, random\nseed = [time.time(), random.random()]").replace(
        "[one,", "seed + [one,"
    )
    waiting = coded.start(clocked)
    program = coded.until("waiting")
    house.run("daemon", "stop")
    waiting.communicate(timeout=120)
    run = coded.store.load(program["run"])
    assert run.status is Status.WAITING
    run.interpreter = "0.0.1"
    coded.store.save(run)
    house.run("daemon", "start")
    house.run("approvals", "approve", program["question"])
    done = coded.until("done")
    assert done["result"][0] == run.moments[0]
    assert coded.names() == WHOLE


def test_a_program_that_somebody_changed_does_not_go_on(house: House) -> None:
    coded = Coded(house)
    waiting = coded.start(THREE)
    program = coded.until("waiting")
    house.run("daemon", "stop")
    waiting.communicate(timeout=120)
    file = house.home / "programs" / f"{program['run']}.jsonl"
    file.write_text(file.read_text().replace("after", "again"))
    house.run("daemon", "start")
    assert house.json("code", "list") == []
    assert house.json("approvals", "list") == []
    assert "not as it was written" in house.run("code", "show", program["run"], code=2)
    assert coded.names() == WHOLE[:1]


def test_a_no_is_what_the_program_gets(house: House) -> None:
    coded = Coded(house)
    waiting = coded.start(
        "import bad\ntry:\n    bad.touch(text='x')\nexcept PermissionError as error:\n    r = str(error)\nr"
    )
    program = coded.until("waiting")
    house.run("approvals", "deny", program["question"], "not today")
    out, _ = waiting.communicate(timeout=30)
    assert waiting.returncode == 0
    assert b"not today" in out
    assert coded.names() == []


def test_a_program_that_waits_can_be_cancelled_and_its_question_is_gone(house: House) -> None:
    coded = Coded(house)
    waiting = coded.start(THREE)
    program = coded.until("waiting")
    assert "cancelled" in house.run("code", "cancel", program["run"])
    waiting.communicate(timeout=120)
    assert waiting.returncode == 1
    assert house.json("approvals", "list") == []
    assert coded.names() == WHOLE[:1]
    house.run("code", "cancel", program["run"], code=2)


def test_who_goes_away_while_it_waits_leaves_it_waiting(house: House) -> None:
    coded = Coded(house)
    waiting = coded.start(THREE)
    program = coded.until("waiting")
    waiting.send_signal(signal.SIGINT)
    waiting.communicate(timeout=120)
    assert coded.until("waiting")["run"] == program["run"]
    house.run("approvals", "approve", program["question"])
    coded.until("done")
    assert coded.names() == WHOLE


@pytest.mark.parametrize(
    "point",
    some(
        [
            "resolve2:before",
            "record_intent:before",
            "record_intent:after",
            "forward:before",
            "forward:after",
            "record_outcome:before",
            "record_outcome:after",
            "settle:after",
        ],
        4,
    ),
)
def test_a_kill_at_any_step_of_the_approved_call_repeats_no_effect(house: House, point: str) -> None:
    coded = Coded(house)
    command = [sys.executable, "-m", "tests.faults.dies", str(house.home), f"code-{point}"]
    died = subprocess.run(command, cwd=ROOT, env=house.environment, capture_output=True, timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    reached = len(coded.reached())
    made = bool(house.records(kind="intent"))
    house.run("daemon", "start")
    if made:
        done = coded.until("done")
        assert done["result"].startswith(("IronCurtain was cut off", "the call was made"))
        assert len(coded.reached()) == reached <= 1
    else:
        house.run("approvals", "approve", coded.until("waiting")["question"])
        coded.until("done")
        assert coded.names() == [("touch", {"text": "x"})]
    assert "unbroken" in house.run("audit", "verify")


@pytest.mark.parametrize(
    "point",
    some(
        [
            "record_intent2:before",
            "record_intent2:after",
            "forward2:before",
            "forward2:after",
            "record_outcome2:before",
            "record_outcome2:after",
            "settle2:after",
        ],
        4,
    ),
)
def test_a_kill_after_the_approved_call_repeats_neither_it_nor_what_came_after(house: House, point: str) -> None:
    coded = Coded(house)
    command = [sys.executable, "-m", "tests.faults.dies", str(house.home), f"code-{point}y"]
    died = subprocess.run(command, cwd=ROOT, env=house.environment, capture_output=True, timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    reached = coded.names()
    assert reached[:1] == [("touch", {"text": "x"})]
    intents = len(house.records(kind="intent"))
    house.run("daemon", "start")
    if intents > 1:
        assert "after 2 calls" in coded.until("cut-off")["failure"]["message"]
        assert coded.names() == reached
    else:  # it had been told the answer, and had done nothing since: it goes on
        assert json.loads(coded.until("done")["result"]) == {"text": "x"}
        assert coded.names() == [("touch", {"text": "x"}), ("echo", {"text": "y"})]
    assert house.json("approvals", "list") == []


def test_an_old_file_put_back_is_not_done_again(house: House) -> None:
    coded = Coded(house)
    waiting = coded.start(THREE)
    program = coded.until("waiting")
    file = house.home / "programs" / f"{program['run']}.jsonl"
    old = file.read_bytes()
    house.run("approvals", "approve", program["question"])
    waiting.communicate(timeout=120)
    for _ in range(2):
        house.run("daemon", "stop")
        file.write_bytes(old)
        house.run("daemon", "start")
        assert "done already" in coded.until("cut-off")["failure"]["message"]
        assert house.json("approvals", "list") == []
    assert coded.names() == WHOLE


def test_the_whole_record_says_whether_a_call_was_made(house: House) -> None:
    coded = Coded(house)
    command = [sys.executable, "-m", "tests.faults.dies", str(house.home)]
    for point in ("code-forward:after", "restore"):  # a second crash, before what the first one left was taken up
        died = subprocess.run(
            [*command, point], cwd=ROOT, env=house.environment, capture_output=True, timeout=60, check=False
        )
        assert died.returncode == -signal.SIGKILL, died.stderr
    house.run("daemon", "start")
    assert "nobody knows" in coded.until("done")["result"]
    assert coded.names() == [("touch", {"text": "x"})]


def test_a_question_that_means_something_else_now_has_another_name(house: House, tmp_path: Path) -> None:
    coded = Coded(house)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.txt").write_text(name)
    link = house.sandbox / "link"
    link.symlink_to(tmp_path / "one")
    waiting = coded.start("import filesystem\nfilesystem.read_text_file(path='link/f.txt')")
    first = coded.until("waiting")["question"]
    house.run("daemon", "stop")
    waiting.communicate(timeout=120)
    link.unlink()
    link.symlink_to(tmp_path / "two")
    house.run("daemon", "start")
    assert coded.until("waiting")["question"] != first
    house.run("approvals", "approve", first, code=2)


def test_a_program_that_holds_too_much_to_be_put_away_stops_nobody_else(house: House) -> None:
    coded = Coded(house)
    big = "import bad\nx = ['a' * 1_000_000 + str(n) for n in range(40)]\nbad.touch(text='x')\nlen(x)"
    assert "nobody is asked" in coded.run(big, code=1)["failure"]["message"]  # again it would have all its time
    assert coded.run("import bad\nbad.echo(text='y')")["status"] == "done"
    assert house.status()["halted"] is None


def test_what_is_cancelled_twice_stays_cancelled(house: House) -> None:
    coded = Coded(house)
    waiting = coded.start(THREE)
    program = coded.until("waiting")
    first, second = (
        subprocess.Popen(
            [*PROGRAM, "code", "cancel", program["run"]],
            env=house.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    )
    for each in (first, second, waiting):
        each.communicate(timeout=120)
    house.run("daemon", "restart")
    assert house.json("code", "show", program["run"])["status"] == "cancelled"
    assert house.json("approvals", "list") == []


def test_many_at_once_do_not_take_the_machine_and_nobody_is_left_behind(house: House) -> None:
    coded = Coded(house, "[code]\noffered = true\n")
    agent = house.agent("--agent", "claude")
    agent.ask("tools/list")
    for number in range(40):
        call = {"name": "execute_code", "arguments": {"code": "while True:\n    pass"}}
        agent.send(json.dumps({"jsonrpc": "2.0", "id": 100 + number, "method": "tools/call", "params": call}).encode())
    time.sleep(1.5)
    daemon = house.status()["pid"]
    assert len(hosts_of(daemon)) <= 9
    assert sum(each["status"] == "running" for each in house.json("code", "list")) <= 8
    for number in range(40):
        agent.send(
            json.dumps(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 100 + number}}
            ).encode()
        )
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and len(hosts_of(daemon)) > 1:
        time.sleep(0.1)
    assert len(hosts_of(daemon)) <= 1
    assert coded.run("1")["status"] == "done"


def test_a_call_of_a_program_that_is_cancelled_has_an_outcome(house: House) -> None:
    house.configure("[code]\noffered = true\n")
    bad = Bad(house, "slow")
    agent = house.agent("--agent", "claude")
    agent.ask("tools/list")
    call = {"name": "execute_code", "arguments": {"code": "import bad\nwhile True:\n    bad.echo(text='x')"}}
    agent.send(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}).encode())
    deadline = time.monotonic() + 20
    while not bad.reached() and time.monotonic() < deadline:
        time.sleep(0.02)
    agent.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}).encode())
    while any(each["status"] == "running" for each in house.json("code", "list")) and time.monotonic() < deadline:
        time.sleep(0.02)
    made = {record["call"] for record in house.records(kind="intent")}
    assert made == {record["call"] for record in house.records(kind="outcome")}


# --- Plans. ---

TWICE = """
import bad
for path in ["one", "two"]:
    bad.touch(text=path)
bad.echo(text="between")
bad.touch(text="one")
"end"
"""


def test_a_plan_is_asked_for_at_once_and_grants_exactly_its_calls(house: House) -> None:
    coded = Coded(house)
    waiting = coded.start(TWICE + "bad.touch(text='th' + str(3))\n")
    program = coded.until("waiting")
    questions = house.json("approvals", "list")
    assert [question["arguments"] for question in questions] == [{"text": "one"}, {"text": "two"}]
    assert {question["group"] for question in questions} == {program["question"]}
    assert [question["times"] for question in questions] == [2, 1]
    assert "how often    2 times" in house.run("approvals", "show", questions[0]["id"])
    assert "bad/touch, 2 times" in house.run("approvals")
    assert coded.names() == []
    house.run("approvals", "approve", program["question"])
    other = until_asked(house, {"text": "th3"})  # what was not in the plan asks
    assert [arguments["text"] for _, arguments in coded.names()] == ["one", "two", "between", "one"]
    house.run("approvals", "deny", other)
    waiting.communicate(timeout=30)
    assert len(coded.names()) == 4
    planned, asked, *granted = (
        record for record in house.records(kind="event") if record.get("what") in ("planned", "asked", "granted")
    )
    assert [call["line"] for call in planned["plan"]["calls"]] == [4, 4, 5, 6, 8]
    assert len(asked["questions"]) == len(granted) == 2
    assert [record["uses"] for record in granted] == [2, 1]


def until_asked(house: House, arguments: dict[str, Any]) -> str:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for question in house.json("approvals", "list"):
            if question["arguments"] == arguments:
                return str(question["id"])
        time.sleep(0.05)
    raise AssertionError(arguments)


def test_a_plan_is_shown_without_running_anything(house: House) -> None:
    coded = Coded(house)
    file = house.owner / "p.py"
    file.write_text(
        "import bad, filesystem\nx = bad.echo(text='a')\nfor p in data:\n    bad.touch(text=x)\nfilesystem.delete_file(path='y')\nf = bad.touch\n"
    )
    said = house.run("code", "plan", str(file)).splitlines()
    assert said == [
        'line 2: bad.echo(text="a"): allow',
        "line 4: bad.touch(...) (any number of times), with what bad.echo, bad.touch gave",
        'line 5: filesystem.delete_file(path="y"): deny',
        "and whatever else bad.touch can do",
    ]
    assert house.json("code", "plan", str(file))["open"] == ["bad.touch"]
    assert coded.names() == []


def test_a_no_to_a_plan_ends_the_program_before_it_did_anything(house: House) -> None:
    coded = Coded(house)
    waiting = coded.start(TWICE)
    house.run("approvals", "deny", coded.until("waiting")["question"], "no")
    waiting.communicate(timeout=30)
    assert coded.until("failed")["failure"]["kind"] == "denied"
    assert coded.names() == []


def test_a_plan_outlives_the_daemon(house: House) -> None:
    coded = Coded(house)
    waiting = coded.start(TWICE)
    coded.until("waiting")
    house.kill()
    waiting.communicate(timeout=120)
    house.run("daemon", "start")
    house.run("approvals", "approve", coded.until("waiting")["question"])
    coded.until("done")
    assert [arguments["text"] for _, arguments in coded.names()] == ["one", "two", "between", "one"]


def test_a_call_that_can_never_be_allowed_ends_it_before_the_first_effect(house: House) -> None:
    coded = Coded(house)
    told = coded.run(
        "import bad, filesystem\nbad.echo(text='x')\nfilesystem.read_text_file(path='~/.ironcurtain/config.toml')",
        code=1,
    )
    assert told["failure"]["kind"] == "plan"
    assert "line 3" in told["failure"]["message"]
    assert coded.names() == []
    minded = "import bad, filesystem\nbad.echo(text='x')\ntry:\n    filesystem.read_text_file(path='~/.ironcurtain/config.toml')\nexcept PermissionError:\n    pass\n1"
    assert coded.run(minded)["result"] == 1


# --- For any agent. ---


def test_an_agent_gets_code_mode_as_a_tool(house: House) -> None:
    coded = Coded(house, "[code]\noffered = true\n")
    agent = house.agent("--agent", "claude")
    names = [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]]
    assert names[:4] == ["execute_code", "code_result", "save_skill", "search_tools"]
    result = agent.call("execute_code", code="import bad\nprint('hi')\nlen(bad.echo(text=data['t']))", data={"t": "x"})
    assert result["structuredContent"]["result"] == len('{"text": "x"}')
    assert text_of(result).startswith("hi\n")
    assert "bad.echo" in text_of(agent.call("search_tools", words="echo"))
    assert agent.call("execute_code", code="import bad\nbad.echo(nothing=1)")["isError"] is True
    assert {record["agent"]["agent"] for record in house.records(kind="intent")} == {"claude"}
    run = result["structuredContent"]["run"]
    assert agent.call("code_result", run=run)["structuredContent"]["status"] == "done"
    assert code_of(house.agent("--agent", "other").call("code_result", run=run)) == "run_unknown"
    for arguments in ({}, {"code": ""}, {"code": 1}, {"code": "1", "more": 2}):
        assert code_of(agent.call("execute_code", **arguments)) == "call_malformed"
    assert coded.names() == [("echo", {"text": "x"})]


def test_code_mode_is_not_there_unless_it_is_offered(house: House) -> None:
    Coded(house)
    agent = house.agent()
    names = [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]]
    assert "execute_code" not in names
    assert (
        agent.ask("tools/call", {"name": "execute_code", "arguments": {"code": "1"}})["error"]["data"]["code"]
        == "tool_unknown"
    )


def test_a_program_of_an_agent_that_left_goes_on_waiting(house: House) -> None:
    coded = Coded(house, "[code]\noffered = true\n")
    agent = house.agent("--agent", "claude")
    agent.ask("tools/list")
    agent.send(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 99,
                "method": "tools/call",
                "params": {"name": "execute_code", "arguments": {"code": THREE}},
            }
        ).encode()
    )
    program = coded.until("waiting")
    there = house.status()["sessions"]
    agent.close()
    deadline = time.monotonic() + 30
    while house.status()["sessions"] >= there and time.monotonic() < deadline:
        time.sleep(0.05)  # until the daemon has seen that it left
    assert coded.until("waiting")["run"] == program["run"]
    house.run("approvals", "approve", program["question"])
    coded.until("done")
    assert coded.names() == WHOLE
    back = house.agent("--agent", "claude")
    assert [
        json.loads(each) for each in back.call("code_result", run=program["run"])["structuredContent"]["result"]
    ] == [arguments for _, arguments in WHOLE]


def test_no_process_of_a_program_stays_behind(house: House) -> None:
    coded = Coded(house)
    coded.run("import bad\nbad.echo(text='x')")
    daemon = house.status()["pid"]
    house.run("daemon", "stop")
    time.sleep(0.2)
    left = [
        path for path in Path("/proc").iterdir() if path.name.isdecimal() and str(house.home).encode() in _command(path)
    ]
    assert [path.name for path in left if int(path.name) not in (os.getpid(), daemon)] == []


def _command(path: Path) -> bytes:
    try:
        return (path / "cmdline").read_bytes()
    except OSError:
        return b""


def test_names_that_mean_nothing_push_no_tool_out_of_the_plan(house: House) -> None:
    Coded(house)
    nothing = "".join(f"    bad.a{number:03}()\n" for number in range(450))
    for program in (
        f"import bad\nif False:\n{nothing}bad.touch(text='hidden')",
        f"import bad\nif False:\n{nothing}f = bad.touch",
    ):
        file = house.owner / "program.py"
        file.write_text(program)
        planned = house.json("code", "plan", str(file))
        assert "bad.touch" in [*planned["open"], *(call["name"] for call in planned["calls"])]
        assert not [name for name in planned["open"] if name.startswith("bad.a")]
