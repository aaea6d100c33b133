"""A role that a model would take away goes only when the owner agrees, and only for the definition that they saw."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from ironcurtain.artifacts.home import Home
from ironcurtain.cli.agreeing import Terminal
from ironcurtain.cli.main import main
from ironcurtain.cli.reporting import report_fields
from ironcurtain.compiler.cache import Cache
from ironcurtain.compiler.readers.store import Readings
from ironcurtain.compiler.stages import Made, Stages
from ironcurtain.compiler.waivers import Proposal, Waivers, read_waivers
from ironcurtain.errors import ArtifactError, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ironcurtain.compiler.llm.asking import Model
    from ironcurtain.compiler.stages import Step

ODD: dict[str, Any] = {
    "name": "frobnicate",
    "description": "Frobnicates.",
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Path of the file"}, "mood": {"type": "string"}},
        "required": ["path"],
    },
}
REASON = "it is the path of a node"


@dataclass
class Fake:
    """A model that finds no role anywhere, and counts how often it was asked."""

    name: str = "fake:m"
    asked: int = 0

    def ask(self, stage: str, instructions: str, prompt: str, kind: Any, check: Callable[[Any], str | None]) -> Any:
        self.asked += 1
        assert (stage, "reason" in instructions) == ("annotate", True)
        tools = [
            {
                "tool": tool["tool"],
                "arguments": [{"name": leaf, "roles": ["none"], "reason": REASON} for leaf in tool["arguments"]],
            }
            for tool in json.loads(prompt)["tools"]
        ]
        said = kind.model_validate({"tools": tools})
        assert check(said) is None
        return SimpleNamespace(output=said, tokens=7)


@dataclass
class Owner:
    """Answers every proposal in the same way, and remembers what was asked."""

    answer: bool
    asked: list[Proposal] = field(default_factory=list)

    def __call__(self, proposal: Proposal, /) -> bool:
        self.asked.append(proposal)
        return self.answer


def path_roles(
    waivers: Waivers, owner: Owner | None = None, *, definition: dict[str, Any] = ODD, model: bool = True
) -> set[str]:
    said: list[Step] = []
    named = cast("Model", Fake()) if model else None
    stages = Stages(Cache(), said.append, named, waivers=waivers, ask_owner=owner)
    (tool,) = stages.annotate("odd", [definition])
    stays = [step.says for step in said if "it stays" in step.says]
    assert bool(stays) == (model and (owner is None or not owner.answer)), "a role that stays is named"
    return set(tool["args"]["path"]["roles"])


def test_the_owner_is_asked_once_for_each_role_and_sees_the_reason() -> None:
    waivers, owner = Waivers(), Owner(answer=True)
    held = path_roles(Waivers(), model=False)
    assert "read-path" in held
    assert path_roles(waivers, owner) == {"none"}
    about_path = [each for each in owner.asked if each.argument == "path"]
    assert {each.role for each in about_path} == held
    assert {(each.server, each.tool, each.reason) for each in about_path} == {("odd", "frobnicate", REASON)}
    path_roles(waivers, again := Owner(answer=True))
    assert again.asked == []


def test_a_role_stays_without_consent() -> None:
    held = path_roles(Waivers(), model=False)
    assert path_roles(Waivers()) == held, "there is no terminal"
    waivers, owner = Waivers(), Owner(answer=False)
    assert path_roles(waivers, owner) == held
    assert owner.asked
    path_roles(waivers, again := Owner(answer=False))
    assert again.asked == [], "a no is remembered, too"
    assert path_roles(waivers, model=False) == held


def test_what_was_agreed_to_holds_without_a_model_and_is_void_for_another_definition(tmp_path: Path) -> None:
    file, waivers = tmp_path / "waivers.json", Waivers()
    held = path_roles(Waivers(), model=False)
    path_roles(waivers, Owner(answer=True))
    waivers.write(file)
    assert file.stat().st_mode & 0o777 == 0o600
    kept = read_waivers(file)
    assert path_roles(kept, model=False) == {"none"}
    assert any("frobnicate `path` is no read-path" in each.says for each in kept.applied)
    changed = {**ODD, "description": "Frobnicates a file."}
    again = read_waivers(file)
    assert path_roles(again, definition=changed, model=False) == held
    assert again.applied == []
    path_roles(again, owner := Owner(answer=True), definition=changed)
    assert owner.asked, "and is asked about anew"


def test_a_consent_is_for_one_argument_of_one_tool_of_one_server() -> None:
    waivers = Waivers()
    path_roles(waivers, Owner(answer=True))
    stages = Stages(Cache(), lambda _: None, waivers=waivers)
    (other,) = stages.annotate("elsewhere", [ODD])
    assert "read-path" in other["args"]["path"]["roles"]
    (named,) = stages.annotate("odd", [{**ODD, "name": "frobnicate_twice"}])
    assert "read-path" in named["args"]["path"]["roles"]


def test_an_argument_keeps_its_other_roles_and_loses_what_hangs_on_the_role() -> None:
    proposal = Proposal("s", "t", "files", "read-path", "pin", "fake:m")
    waivers = Waivers()
    waivers.put([proposal], Owner(answer=True))
    entry = {"roles": ["identifier", "read-path"], "absent": "unknown", "relativeTo": "root"}
    modes = [{**entry, "when": {"action": ["read"]}}, {"roles": ["write-path"], "absent": "unknown"}]
    tool = {"toolName": "t", "pin": "pin", "args": {"files": entry}}
    (found,) = waivers.apply("s", [tool])
    assert found["args"]["files"] == {"roles": ["identifier"], "absent": "nothing"}
    (moded,) = waivers.apply("s", [{**tool, "args": {"files": modes}}])
    assert moded["args"]["files"] == [
        {"roles": ["identifier"], "absent": "nothing", "when": {"action": ["read"]}},
        {"roles": ["write-path"], "absent": "unknown"},
    ]
    assert entry["roles"] == ["identifier", "read-path"], "the built-in answer itself is left alone"


def test_a_file_of_waivers_that_was_edited_or_is_open_to_others_is_refused(tmp_path: Path) -> None:
    file, waivers = tmp_path / "waivers.json", Waivers()
    path_roles(waivers, Owner(answer=False))
    waivers.write(file)
    content = json.loads(file.read_text())
    for each in content["waivers"]:
        each["agreed"] = True
    file.write_text(json.dumps(content))
    with pytest.raises(Refusal, match="changed") as refused:
        read_waivers(file)
    assert refused.value.code == "waivers_changed"
    waivers.write(file)
    file.chmod(0o666)
    with pytest.raises(ArtifactError):
        read_waivers(file)
    Readings().write(file)  # the right form of another file
    with pytest.raises(Refusal):
        read_waivers(file)


def test_what_was_taken_away_is_shown_and_revoked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("IRONCURTAIN_HOME", str(tmp_path))
    file, waivers = Home(tmp_path).waivers, Waivers()
    path_roles(waivers, Owner(answer=True))
    waivers.write(file)
    assert main(["annotate", "--waived"]) == 0
    assert "odd/frobnicate `path` is no read-path" in " ".join(capsys.readouterr().out.split())
    assert main(["annotate", "--revoke", "odd/frobnicate:path:read-path"]) == 0
    assert path_roles(read_waivers(file), model=False) == {"read-path"}
    assert main(["annotate", "--revoke", "odd/frobnicate"]) == 0
    assert read_waivers(file).kept == {}
    assert main(["annotate", "--revoke", "odd/frobnicate"]) == 2
    assert main(["annotate"]) == 2


@pytest.mark.parametrize(("typed", "agreed"), [("y", True), ("yes", True), ("", False), ("n", False), ("ok", False)])
def test_only_yes_takes_a_role_away(
    typed: str, agreed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: typed)
    proposal = Proposal("mail", "send", "to", "recipient", "pin", "fake:m", "a \u202eterm")
    assert Terminal().waive(proposal) is agreed
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("mail/send", "`to`", "recipient", "fake:m"))
    assert "\u202e" not in shown


def test_the_report_says_what_was_taken_away() -> None:
    product = SimpleNamespace(rules=(), limits={}, report=())
    verification = SimpleNamespace(passed=True, results=(), failed=(), objections=())
    made = Made(cast("Any", product), cast("Any", verification), (), (), cast("Any", None), ("mail/send `to` ...",))
    assert report_fields(made)["waived"] == ["mail/send `to` ..."]


def test_a_compilation_without_a_model_applies_what_lies_beside_the_readings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("IRONCURTAIN_HOME", str(tmp_path / "none"))
    waivers = Waivers()
    path_roles(waivers, Owner(answer=True))
    waivers.write(tmp_path / "waivers.json")
    (tmp_path / "odd.json").write_text(json.dumps({"tools": [ODD]}))
    (tmp_path / "rules.md").write_text("must never use odd/frobnicate.")
    words = ["compile", "--constitution", f"{tmp_path}/rules.md", "--catalogue", f"odd={tmp_path}/odd.json"]
    words += ["--out", f"{tmp_path}/policy", "--yes", "--json"]

    def compiled(*more: str) -> tuple[set[str], list[str]]:
        assert main([*words, *more]) == 0
        (tool,) = json.loads((tmp_path / "policy" / "tool-annotations.json").read_text())["servers"]["odd"]["tools"]
        return set(tool["args"]["path"]["roles"]), json.loads(capsys.readouterr().out)["waived"]

    assert compiled() == (path_roles(Waivers(), model=False), [])
    roles, told = compiled("--readings", f"{tmp_path}/readings.json")
    assert roles == {"none"}
    assert any("is no read-path" in line for line in told)
