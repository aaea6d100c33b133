"""Step 4: the layers, their patterns, and what they let a principal see."""

from __future__ import annotations

from typing import Any

import pytest

from ironcurtain.artifacts.config import access_from
from ironcurtain.artifacts.item import Item
from ironcurtain.errors import ArtifactError
from ironcurtain.model.call import Principal
from tests.support import Place, call, decide, tool

TOOLS = [
    tool("read_file", {"path": ["read-path"]}),
    tool("edit_file", {"path": ["read-path", "write-path"]}),
    tool("delete_file", {"path": ["delete-path"]}),
    tool("run", {"command": ["command"]}),
    tool("Bash", {"x": {"roles": ["none"]}}),
    tool("fetch", {"url": ["fetch-url"]}),
    tool("mail_file", {"path": ["read-path"], "to": ["recipient"]}),
    tool("session_status", {}),
    tool("memory_get", {}),
    tool("admin/purge", {}),
    tool("read_file", {"path": ["read-path"]}, server="other"),
]
EVERYONE = Principal()


def visible(place: Place, config: dict[str, Any], principal: Principal = EVERYONE) -> set[str]:
    loaded = place.load([], TOOLS, config)
    return {f"{t.server}/{t.name}" for t in loaded.policy.access.visible(loaded.policy.tools.values(), principal)}


ALL = {f"{t['serverName']}/{t['toolName']}" for t in TOOLS}


@pytest.mark.parametrize(
    ("layer", "seen"),
    [
        ({}, ALL),
        ({"deny": ["read_file"]}, ALL - {"fs/read_file", "other/read_file"}),
        ({"deny": [" READ_file "]}, ALL - {"fs/read_file", "other/read_file"}),
        ({"deny": ["other/read_file"]}, ALL - {"other/read_file"}),
        ({"deny": ["OTHER/*"]}, ALL - {"other/read_file"}),
        ({"deny": ["*"]}, set()),
        ({"deny": []}, ALL),
        ({"deny": ["read*"]}, ALL - {"fs/read_file", "other/read_file"}),
        ({"deny": ["purge"]}, ALL - {"fs/admin/purge"}),
        ({"deny": ["admin/purge"]}, ALL - {"fs/admin/purge"}),
        ({"allow": ["admin/purge"]}, set()),
        ({"allow": ["fs/admin/purge"]}, {"fs/admin/purge"}),
        ({"allow": ["fs/*"]}, ALL - {"other/read_file"}),
        ({"allow": ["read_file"]}, {"fs/read_file", "other/read_file"}),
        ({"allow": ["read_file"], "deny": ["other/read_file"]}, {"fs/read_file"}),
        ({"allow": ["bash"]}, {"fs/Bash"}),
        ({"allow": ["bash_execute"]}, {"fs/Bash"}),
        ({"deny": ["group:runtime"]}, ALL - {"fs/Bash", "fs/run"}),
        (
            {"allow": ["group:fs"]},
            {"fs/read_file", "fs/edit_file", "fs/delete_file", "fs/mail_file", "other/read_file"},
        ),
        ({"allow": ["group:web"]}, {"fs/fetch"}),
        ({"allow": ["GROUP:web"]}, {"fs/fetch"}),
        ({"alsoAllow": ["fetch"]}, ALL),
        ({"allow": ["run"], "alsoAllow": ["fetch"]}, {"fs/run", "fs/fetch"}),
        ({"profile": "minimal"}, {"fs/session_status"}),
        ({"profile": "minimal", "alsoAllow": ["fetch"]}, {"fs/session_status", "fs/fetch"}),
        ({"profile": "minimal", "allow": ["fetch"]}, set()),
        ({"profile": "minimal", "allow": ["fetch"], "alsoAllow": ["run"]}, {"fs/run"}),
        ({"profile": "full"}, ALL),
        ({"profile": "coding"}, ALL - {"fs/fetch", "fs/admin/purge"}),
        ({"profile": "analysis"}, {"fs/read_file", "other/read_file"}),
        (
            {"profile": "full", "deny": ["group:fs"]},
            ALL - {"fs/read_file", "fs/edit_file", "fs/delete_file", "fs/mail_file", "other/read_file"},
        ),
    ],
)
def test_a_layer_shows_exactly(place: Place, layer: dict[str, Any], seen: set[str]) -> None:
    assert visible(place, {"tools": layer}) == seen


ONLY_FETCH = {"allow": ["fetch"]}


@pytest.mark.parametrize(
    ("config", "principal", "seen"),
    [
        ({"tools": {"byProvider": {"openai": ONLY_FETCH}}}, Principal(provider="openai"), {"fs/fetch"}),
        ({"tools": {"byProvider": {"openai": ONLY_FETCH}}}, Principal(provider=" OpenAI/gpt-4 "), {"fs/fetch"}),
        ({"tools": {"byProvider": {"openai": ONLY_FETCH}}}, Principal(provider="other"), ALL),
        ({"tools": {"byProvider": {"openai": ONLY_FETCH}}}, EVERYONE, ALL),
        (
            {"tools": {"byProvider": {"openai": ONLY_FETCH, "openai/gpt-4": {"allow": ["run"]}}}},
            Principal(provider="openai/gpt-4"),
            {"fs/run"},
        ),
        ({"agents": {"coder": {"tools": ONLY_FETCH}}}, Principal(agent="coder"), {"fs/fetch"}),
        ({"agents": {"coder": {"tools": ONLY_FETCH}}}, Principal(agent="Coder "), {"fs/fetch"}),
        ({"agents": {"coder": {"tools": ONLY_FETCH}}}, Principal(agent="writer"), ALL),
        ({"groups": {"team": {"tools": ONLY_FETCH}}}, Principal(group="team"), {"fs/fetch"}),
        (
            {"groups": {"team": {"tools": ONLY_FETCH, "toolsByMember": {"ann": {"allow": ["run"]}}}}},
            Principal(group="team", member="ann"),
            {"fs/run"},
        ),
        (
            {"groups": {"team": {"tools": ONLY_FETCH, "toolsByMember": {"ann": {"allow": ["run"]}}}}},
            Principal(group="team", member="bob"),
            {"fs/fetch"},
        ),
        (
            {"groups": {"team": {"toolsByMember": {"ann": {"allow": ["run"]}}}}},
            Principal(group="team", member="bob"),
            ALL,
        ),
        (
            {"groups": {"team": {"toolsByMember": {"ann": {"allow": ["run"]}}}}},
            Principal(group="team", member="ann"),
            {"fs/run"},
        ),
        (
            {"groups": {"team": {"toolsByMember": {"ann": {"allow": ["run"]}}}}},
            Principal(group="other", member="ann"),
            ALL,
        ),
        (
            {},
            Principal(subagent=True),
            ALL - {"fs/delete_file", "fs/run", "fs/Bash", "fs/session_status", "fs/memory_get"},
        ),
        (
            {"tools": {"subagents": {"tools": {"deny": ["fetch"]}}}},
            Principal(subagent=True),
            ALL - {"fs/delete_file", "fs/run", "fs/Bash", "fs/session_status", "fs/memory_get", "fs/fetch"},
        ),
        ({"tools": {"subagents": {"tools": {"allow": ["fetch", "run"]}}}}, Principal(subagent=True), {"fs/fetch"}),
        ({"tools": {"subagents": {"tools": {"allow": ["fetch"]}}}}, EVERYONE, ALL),
        (
            {"agents": {"coder": {"tools": {"allow": ["fetch", "run"]}}}},
            Principal(agent="coder", subagent=True),
            {"fs/fetch"},
        ),
        (
            {"tools": {"allow": ["fetch", "run"]}, "agents": {"c": {"tools": {"allow": ["run", "read_file"]}}}},
            Principal(agent="c"),
            {"fs/run"},
        ),
        ({"tools": {"aliases": {"get": "fetch"}, "allow": ["get"]}}, EVERYONE, {"fs/fetch"}),
        (
            {"tools": {"groups": {"mine": ["run", "group:web"]}, "allow": ["group:mine"]}},
            EVERYONE,
            {"fs/run", "fs/fetch"},
        ),
        (
            {"tools": {"groups": {"mine": ["run"], "more": ["group:mine", "fetch"]}, "allow": ["group:more"]}},
            EVERYONE,
            {"fs/run", "fs/fetch"},
        ),
    ],
)
def test_a_principal_sees_exactly(place: Place, config: dict[str, Any], principal: Principal, seen: set[str]) -> None:
    assert visible(place, config, principal) == seen


@pytest.mark.parametrize(
    ("config", "place_", "hint"),
    [
        ({"tools": {"allow": []}}, "tools.allow", 'deny = ["*"]'),
        ({"tools": {"alow": ["x"]}}, "", "allow"),
        ({"tools": {"Allow": ["x"]}}, "", "allow"),
        ({"tools": {"profile": "Coding"}}, "tools.profile", "coding"),
        ({"tools": {"deny": ["a*b"]}}, "tools.deny[0]", "prefix*"),
        ({"tools": {"deny": ["group:none"]}}, "tools.deny[0]", "known"),
        ({"tools": {"deny": "x"}}, "tools.deny", "["),
        ({"tools": {"deny": [1]}}, "tools.deny[0]", '"'),
        ({"tools": {"groups": {"fs": ["x"]}}}, "tools.groups.fs", "another name"),
        ({"tools": {"groups": {"a": ["group:b"], "b": ["x"]}}}, "tools.groups.a[0]", "known"),
        ({"agents": {"c": {}}}, "agents.c", "tools"),
        ({"agent": {}}, "", "agents"),
    ],
)
def test_a_configuration_that_is_unclear_is_refused(config: dict[str, Any], place_: str, hint: str) -> None:
    with pytest.raises(ArtifactError) as refused:
        access_from(Item(config, "config.toml"))
    assert refused.value.code == "artifact_malformed"
    assert place_ in refused.value.place
    assert hint in refused.value.help


def test_the_decision_names_the_layer_and_its_place(place: Place) -> None:
    config = {"agents": {"coder": {"tools": {"deny": ["session_*"]}}}, "groups": {"t": {"tools": {"allow": ["run"]}}}}
    loaded = place.load([{"name": "all", "if": {"server": ["*"]}, "then": "allow"}], TOOLS, config)
    denied = decide(loaded, call("session_status", {}, principal={"agent": "coder"}))
    assert (denied.stage.value, denied.code) == ("access", "access_denied")
    assert "agent layer" in denied.reason
    assert "agents.coder.tools.deny" in denied.help
    unlisted = decide(loaded, call("session_status", {}, principal={"group": "t"}))
    assert (unlisted.stage.value, unlisted.code) == ("access", "access_not_listed")
    assert "groups.t.tools.allow" in unlisted.reason
    assert decide(loaded, call("session_status", {})).outcome.word == "allow"
    again = decide(loaded, call("session_status", {}, principal={"agent": "coder"}))
    assert again == denied, "a remembered answer is the same answer"
