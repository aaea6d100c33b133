"""Every case through the engine, through the reference, and through the command line as another process."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from ironcurtain.artifacts.policy import FILES
from ironcurtain.errors import ArtifactError
from ironcurtain.mediation.decide import decide_bytes
from tests import program
from tests.corpus.cases import CaseFile, case_files
from tests.requirements import BEYOND_A_DECISION, PROMISES
from tests.spec.reference import World
from tests.spec.reference import decide as reference_decides
from tests.support import NOW, NOW_TEXT, Place, some

FILES_OF_CASES = case_files()
IDS = [f"{file.path.parent.name}/{file.path.stem}" for file in FILES_OF_CASES]


def agrees(expect: dict[str, Any], decision: str, stage: str, code: str) -> bool:
    codes = expect.get("code", code)
    stages = expect.get("stage", stage)
    return (
        decision == expect["decision"]
        and stage in (stages if isinstance(stages, list) else [stages])
        and code in (codes if isinstance(codes, list) else [codes])
    )


@pytest.mark.parametrize("file", FILES_OF_CASES, ids=IDS)
def test_engine(file: CaseFile, place: Place) -> None:
    file.furnish(place)
    wrong = []
    try:
        loaded = file.load(place)
    except ArtifactError as error:
        wrong = [c.title for c in file.cases(place) if not agrees(c.expect, "deny", "load", error.code)]
        assert not wrong, error
        return
    for case in file.cases(place):
        got = decide_bytes(case.data, loaded, NOW).decision
        if not agrees(case.expect, got.outcome.word, got.stage.value, got.code):
            wrong.append(f"{case.title}: {case.expect}, got {got}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("file", some(FILES_OF_CASES, 3), ids=some(IDS, 3))
def test_reference(file: CaseFile, place: Place) -> None:
    """The reference reads no JSON and no JSON schema, so it is asked about the calls that are well-formed."""
    file.furnish(place)
    try:
        file.load(place)
    except ArtifactError:
        return  # refused on purpose: test_engine holds it to its code
    policy, notes = (json.loads((place.root / "policy" / name).read_text()) for name in FILES[:2])
    lists = {
        name: entry if isinstance(entry, list) else entry["values"] for name, entry in policy.get("lists", {}).items()
    }
    if (dynamic := place.root / "policy" / FILES[2]).exists():
        for name, entry in json.loads(dynamic.read_text())["lists"].items():
            added = [*entry["values"], *entry.get("manualAdditions", ())]
            lists[name] = [value for value in added if value not in entry.get("manualRemovals", ())]
    files = tuple(str(place.root / "policy" / name) for name in (*FILES, "config.toml"))
    world = World(policy, notes, lists, str(place.ironcurtain), files, NOW_TEXT, file.configuration(place))
    wrong = []
    for case in file.cases(place):
        codes = case.expect.get("code", [])
        if case.call is None or {"arguments_invalid", "call_malformed"} & {
            *([codes] if isinstance(codes, str) else codes)
        }:
            continue
        got = reference_decides(world, case.call)
        if got.decision != case.expect["decision"]:
            wrong.append(f"{case.title}: {case.expect}, got {got}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("file", some(FILES_OF_CASES, 4), ids=some(IDS, 4))
def test_command_line(file: CaseFile, place: Place) -> None:
    file.furnish(place)
    command = ["check", "--policy", str(place.root / "policy")]
    if "config" in file.content:
        command += ["--config", str(file.config(place))]
    cases = [case for case in file.cases(place) if b"\n" not in case.data]
    env = {"IRONCURTAIN_HOME": str(place.ironcurtain), "HOME": str(place.home), "PATH": os.environ["PATH"]}
    done = program.run(*command, env=env, stdin=b"".join(case.data + b"\n" for case in cases))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(cases), done.stderr
    assert b"Traceback" not in done.stderr
    wrong = [
        f"{case.title}: {case.expect}, got {line}"
        for case, line in zip(cases, lines, strict=True)
        if not agrees(case.expect, line["decision"], line["stage"], line["code"])
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("file", FILES_OF_CASES, ids=IDS)
def test_every_file_has_a_near_miss(file: CaseFile) -> None:
    """A file that only forbids would pass on an engine that denies everything."""
    expected = {case["expect"]["decision"] for case in file.content["cases"]}
    loads = any(case["expect"].get("stage") != "load" for case in file.content["cases"])
    assert len(expected) > 1 or not loads, "add a case that is decided otherwise"


def test_every_promise_has_cases_and_every_case_a_promise() -> None:
    named = {promise for file in FILES_OF_CASES for promise in file.content["requirement"]}
    assert named <= PROMISES
    assert named >= PROMISES - BEYOND_A_DECISION
    assert all(file.content["requirement"] for file in FILES_OF_CASES)
