"""Odd files, odd streams, odd names: refused or shown in one plain line."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.artifacts.config import read_config
from ironcurtain.artifacts.policy import ANNOTATIONS, FILES, LISTS, POLICY, SCENARIOS
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.errors import ArtifactError
from tests.support import FILE_TOOLS, Place, call, some, tool

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit import test_active_policy as active
from tests.unit import test_command_line as cli
from tests.unit import test_import_original as original
from tests.unit import test_loading as loading
from tests.unit.test_command_line import (
    GOOD,
    MODULE,
    RULES,
    VERBS,
    environment,
    furnished,
    policy,
    read,
    rule,
    run,
)
from tests.unit.test_loading import (
    Odd,
    artifacts,
    assert_refused,
    refusal,
    stamped,
    verified,
    written,
)


# L1
@pytest.mark.parametrize("name", FILES)
def test_a_directory_instead_of_a_file_is_refused(name: str, place: Place) -> None:
    directory = verified(place)
    (directory / name).unlink()
    (directory / name).mkdir(0o700)
    error = refusal(place, directory)
    assert (error.code, error.file) == ("artifact_unsafe", str(directory / name))


def test_a_directory_instead_of_the_configuration_is_refused(place: Place) -> None:
    (place.root / "config.toml").mkdir(0o700)
    with pytest.raises(ArtifactError):
        read_config(place.root / "config.toml")


# L2
@pytest.mark.parametrize("name", [LISTS, SCENARIOS])
@pytest.mark.parametrize("how", ["fifo", "dangling link", "directory"])
def test_an_optional_file_that_is_no_file_is_not_taken_for_absent(name: str, how: str, place: Place) -> None:
    files = {key: value for key, value in artifacts(place).items() if key != name}
    files[POLICY] = place.policy(loading.RULES[:2], lists=loading.CONTACTS)
    directory = written(place, files)
    verify_directory(directory, place.surroundings())
    {"fifo": os.mkfifo, "dangling link": lambda p: p.symlink_to("/nowhere"), "directory": os.mkdir}[how](
        directory / name
    )
    error = refusal(place, directory)
    assert (error.code, error.file) == ("artifact_unsafe", str(directory / name))


# L3
def test_a_linked_directory_is_refused(place: Place) -> None:
    link = place.link("linked", str(verified(place)))
    assert (refusal(place, link).code, refusal(place, link).file) == ("artifact_unsafe", str(link))


# L4
NO_SCHEMA = {"name": "read"}
ROWS = [
    Odd("kind", (LISTS, "lists", "friends", "kind"), 3, "lists.friends.kind", ""),
    Odd("kind of the policy", (POLICY, "lists", "known", "kind"), 3, "lists.known.kind", ""),
]


@pytest.mark.parametrize("odd", ROWS, ids=[r.id for r in ROWS])
def test_what_the_format_does_not_have_is_refused(odd: Odd, place: Place) -> None:
    assert_refused(place, odd)


def test_the_overlapping_sandbox_is_named_by_its_place(place: Place) -> None:
    assert refusal(place, loading.sandboxed(place, "{home}")).place == "setup.sandbox"


@pytest.mark.parametrize("value", [True, None, [1]], ids=repr)
def test_help_for_a_version_of_another_type_does_not_speak_of_quotes(value: Any, place: Place) -> None:
    directory = stamped(written(place, loading.changed(artifacts(place), (POLICY, "version"), value)))
    assert "quotes" not in refusal(place, directory).help


# C1
@pytest.mark.parametrize("path", ["{root}/[/]", "{root}/[red]bold[/red]", "{root}/[link=https:evil.example]docs"])
def test_a_value_is_not_read_as_markup(path: str, place: Place) -> None:
    ran = run(place, "explain", "--policy", furnished(place), json.dumps(read(place.fill(path))))
    assert ran.code == 0
    assert ran.out.count(place.fill(path)) >= 2


def test_a_rule_or_a_comment_is_not_read_as_markup(place: Place) -> None:
    tools = [{**entry, "comment": "[bold]x[/bold] [/]"} for entry in FILE_TOOLS]
    directory = policy(place, [rule("[red]all[/red]", "escalate")], tools)
    assert "[bold]x[/bold] [/]" in run(place, "tools", "--policy", directory).out
    assert "[red]all[/red]" in run(place, "explain", "--policy", directory, GOOD.decode()).out


# C2
def test_a_rules_name_is_never_printed_raw(place: Place) -> None:
    directory = policy(place, [rule("n\x1b[31m", "escalate")])
    assert "\x1b" not in run(place, "explain", "--policy", directory, GOOD.decode()).out


# C3
@pytest.mark.parametrize("verb", [["check"], ["explain"]], ids=" ".join)
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_closed_stream_is_no_reason_for_a_traceback(verb: list[str], closed: str, place: Place) -> None:
    shell = ["sh", "-c", f'exec "$0" "$@" {closed}']
    run(place, *verb, "--policy", policy(place), stdin=GOOD, program=[*shell, *MODULE])


@pytest.mark.parametrize("verb", some([*VERBS, ["--help"]], 2), ids=" ".join)
def test_a_full_disk_is_said_in_one_line(verb: list[str], place: Place) -> None:
    more: list[str | Path] = ["--policy", policy(place)] if verb in VERBS else []
    shell = ["sh", "-c", 'exec "$0" "$@" >/dev/full']
    assert run(place, *verb, *more, stdin=GOOD, program=[*shell, *MODULE]).code == 2


# C4
@pytest.mark.parametrize("call_", [b'{"a": "\xff"}', b"\xff"])
def test_a_call_in_another_encoding_is_refused_as_an_argument_too(call_: bytes, place: Place) -> None:
    ran = run(place, "explain", "--policy", policy(place), call_)
    assert ran.code == 2
    assert "json_encoding" in ran.out + ran.err


# C5
@pytest.mark.parametrize("verb", [["explain"], ["tools"]], ids=" ".join)
@pytest.mark.parametrize(
    "env", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_text_is_shown_on_ascii_streams(verb: list[str], env: dict[str, str | None], place: Place) -> None:
    directory = policy(place, [{**RULES[3], "reason": "außerhalb 日本"}], [{**FILE_TOOLS[-1], "comment": "état"}])
    assert run(place, *verb, "--policy", directory, stdin=GOOD, env=env).code == 0


# C6
@pytest.mark.parametrize("verb", some([*VERBS, ["policy", "verify"], ["policy", "import"]], 3), ids=" ".join)
@pytest.mark.parametrize("name", ["x" * 300, "line\nbreak", "esc\x1b[31m"], ids=["long", "newline", "escape"])
def test_an_odd_directory_name_is_said_in_one_plain_line(verb: list[str], name: str, place: Place) -> None:
    option = [] if verb[1:] in (["verify"], ["import"]) else ["--policy"]
    ran = run(place, *verb, *option, place.root / name, stdin=GOOD)
    cli.assert_complains(ran)
    assert ran.err.count("\n") == 2
    assert "\x1b" not in ran.err


# C7
def test_help_to_a_reader_who_left_is_quiet(place: Place) -> None:
    end, out = os.pipe()
    os.close(end)
    with os.fdopen(out, "wb") as closed:
        done = subprocess.run(
            [*MODULE, "--help"], stdout=closed, stderr=subprocess.PIPE, env=environment(place), check=False
        )
    assert done.stderr == b""


# C8


def test_a_bare_prefix_that_fits_two_servers_is_ambiguous_too(place: Place) -> None:
    tools = [*FILE_TOOLS, tool("read", {"path": ["read-path"]}, server="other")]
    assert [kind for kind, _ in cli.findings(place, RULES, tools, '[tools]\nallow = ["rea*"]\n')] == ["ambiguous"]


def test_the_json_of_explain_always_has_decisive_rules(place: Place) -> None:
    assert cli.explained(place, furnished(place), call("nope", {}))["decisiveRules"] == []


# I1
def test_an_effect_of_one_server_says_nothing_of_a_tool_of_the_same_name_elsewhere(place: Place) -> None:
    files = original.draft()
    entry = {**original.annotation("read_file", "evil"), "effect": "other", "args": {"path": ["delete-path"]}}
    files[ANNOTATIONS]["servers"]["evil"] = {"tools": [entry]}
    files[POLICY]["rules"] = [original.rule("read-anything", "allow", effect=["read"])]
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    saved = original.catalogue(place, {"tools": [{"name": "read_file", "inputSchema": schema}]})
    assert original.imported(place, files, "--catalogue", f"evil={saved}").code == 0
    mine = original.on("read_file", "{root}/out/a")
    theirs = call("read_file", {"path": "{root}/out/a"}, server="evil")
    assert original.decisions(place, mine, theirs) == [("allow", "read-anything"), ("deny", None)]


# I2
def test_a_refused_import_leaves_what_was_there(place: Place) -> None:
    assert original.imported(place, original.final()).code == 0
    before = (place.root / "converted" / POLICY).read_bytes()
    broken = original.edited(original.final(), (POLICY, "rules", 1, "then"), "Deny")
    assert original.imported(place, broken, "--replace").code == 2
    assert (place.root / "converted" / POLICY).read_bytes() == before


def test_a_refused_import_can_be_repeated_once_it_is_repaired(place: Place) -> None:
    broken = original.edited(original.final(), (POLICY, "rules", 1, "then"), "Deny")
    assert original.imported(place, broken).code == 2
    assert original.imported(place, original.final()).code == 0


# I3
@pytest.mark.parametrize("effect", ["Read", "destroy", 3])
def test_an_effect_of_a_tool_outside_the_draft_is_refused(effect: Any, place: Place) -> None:
    ran = original.imported(place, original.edited(original.draft(), (*original.TOOL, "effect"), effect))
    assert ran.code == 2


# I4


# I5
def test_a_catalogue_that_is_a_directory_is_refused(place: Place) -> None:
    assert original.imported(place, original.with_git(), "--catalogue", "git=").code == 2


# A1
@pytest.mark.parametrize("content", ["{", "{}", "[]", "null"])
def test_a_damaged_kept_copy_is_refused(content: str, place: Place) -> None:
    active.put(place, 2)
    active.check(place)
    active.kept(place, "UPDATE accepted_policy SET artifacts = ?", content)
    active.truncate(place.root / active.ACTIVE)
    active.assert_denied(active.check(place), "artifact_malformed", "artifact_unsafe", "policy_edited")


@pytest.mark.parametrize("broken", [False, True], ids=["good policy", "broken policy"])
@pytest.mark.parametrize("state", [b"garbage" * 1000, b""])
def test_a_state_that_is_no_database_is_no_reason_for_a_traceback(state: bytes, broken: bool, place: Place) -> None:
    active.put(place, 2)
    active.check(place)
    (place.ironcurtain / "state.db").write_bytes(state)
    if broken:
        active.truncate(place.root / active.ACTIVE)
    ran = active.check(place)
    assert ran.code == (2 if broken or state else 0)


@pytest.mark.parametrize("how", ["chmod", "link", "directory"])
def test_a_state_somebody_else_could_change_is_refused(how: str, place: Place) -> None:
    active.put(place, 2)
    active.check(place)
    state = place.ironcurtain / "state.db"
    if how == "chmod":
        state.chmod(0o666)
    elif how == "link":
        state.rename(place.root / "elsewhere.db")
        state.symlink_to(place.root / "elsewhere.db")
    else:
        state.unlink()
        state.mkdir()
    ran = active.check(place)
    assert ran.code == 2
    assert "state.db" in ran.err
