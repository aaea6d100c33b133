"""The house stays as it was drawn: who imports whom, what the core rests on, how large it is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ironcurtain
from ironcurtain.engine import protected
from ironcurtain.gateway import relay
from ironcurtain.model import resolved
from tests.spec import reference

SOURCE = Path(ironcurtain.__file__).parent
ROOMS = {
    "model": {"model"},
    "language": {"errors", "language"},
    "wire": {"model", "errors", "wire"},
    "resolve": {"model", "errors", "resolve"},
    "engine": {"model", "engine"},
    "mediation": {"model", "errors", "wire", "resolve", "engine", "mediation", "artifacts"},
    "artifacts": {"model", "errors", "settings", "wire", "resolve", "engine", "mediation", "artifacts"},
    "analysis": {"model", "errors", "wire", "engine", "mediation", "artifacts", "analysis"},
    "audit": {"model", "errors", "wire", "audit"},
    "budget": {"model", "settings", "budget"},
    "escalation": {"model", "errors", "engine", "mediation", "escalation"},
    "gateway": {"model", "errors", "settings", "wire", "mediation", "artifacts", "gateway"},
    "servers": {"servers"},
    "sandbox": {"model", "errors", "wire", "sandbox"},
    "agent": {"model", "agent"},
    "identity": {"identity"},
    "adoption": {"model", "errors", "wire", "audit", "artifacts", "adoption"},
}


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_imports_flow_one_way(room: str) -> None:
    for path in (SOURCE / room).rglob("*.py"):
        ours = {name.split(".")[1] for name in imports_of(path) if name.startswith("ironcurtain.")}
        assert ours <= ROOMS[room], f"{path.name} imports {ours - ROOMS[room]}"


@pytest.mark.parametrize(
    "name", ["as_python", "flows", "host", "inside", "launch", "names", "nodes", "plan", "reading", "syscalls", "walls"]
)
def test_what_runs_beside_a_program_holds_nothing_of_ours(name: str) -> None:
    ours = {each for each in imports_of(SOURCE / "sandbox" / f"{name}.py") if each.startswith("ironcurtain.")}
    assert ours <= {
        "ironcurtain.sandbox",
        *(f"ironcurtain.sandbox.{each}" for each in ("as_python", "flows", "names", "nodes", "plan")),
    }


@pytest.mark.parametrize("room", ["model", "engine"])
def test_the_core_rests_on_the_standard_library_only(room: str) -> None:
    for path in (SOURCE / room).glob("*.py"):
        foreign = {name.split(".")[0] for name in imports_of(path)} - set(sys.stdlib_module_names) - {"ironcurtain"}
        assert not foreign, f"{path.name} imports {foreign}"


@pytest.mark.parametrize("room", ["model", "engine"])
def test_the_core_reaches_for_nothing_outside(room: str) -> None:
    """No files, no clock, no randomness, no environment."""
    forbidden = {"os", "time", "random", "socket", "pathlib", "subprocess", "secrets", "io", "sys", "datetime"}
    for path in (SOURCE / room).glob("*.py"):
        reached = {name.split(".")[0] for name in imports_of(path)} & forbidden
        assert not reached, f"{path.name} imports {reached}"


def test_nothing_asserts_at_run_time() -> None:
    for path in SOURCE.rglob("*.py"):
        assert not [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Assert)], path


def test_only_the_resolve_room_mints() -> None:
    for path in SOURCE.rglob("*.py"):
        if path.parent.name != "resolve" and path.name != "resolved.py":
            assert "mint_" not in path.read_text(), path


def test_a_resolved_thing_cannot_be_made_elsewhere() -> None:
    with pytest.raises(TypeError, match="resolve room"):
        resolved.CanonicalPath(object(), "/etc/passwd", (), (), False)
    with pytest.raises(TypeError, match="resolve room"):
        resolved.Party(None, "bob", None)


def test_the_reference_shares_nothing_with_what_it_checks() -> None:
    names = imports_of(Path(reference.__file__))
    assert not [name for name in names if name.startswith("ironcurtain")]


def test_the_reference_and_the_engine_protect_the_same_names() -> None:
    assert set(reference.PROTECTED_UNDER_HOME) == set(protected.CLIENT_CONFIGURATIONS)
    assert set(reference.PROTECTED_NAMES) == set(protected.PROJECT_CONFIGURATIONS)
    steering = {*protected.STEERING_NAMES, *protected.STEERING_DIRECTORIES} - {reference.GIT_DIRECTORY}
    assert set(reference.STEERING_NAMES) == steering
    assert set(reference.GIT_STEERING_NAMES) == set(protected.ASK_BEFORE_WRITING)


def test_the_trusted_core_is_read_in_an_evening() -> None:
    rooms = ("model", "wire", "resolve", "engine", "audit", "mediation")
    assert sum(lines_of_code(path) for room in rooms for path in (SOURCE / room).glob("*.py")) < 4_250


def lines_of_code(path: Path) -> int:
    """Lines that hold code: no blank ones, no comments, no docstrings."""
    tree = ast.parse(path.read_text())
    prose = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(path.read_text().splitlines(), 1)
    return sum(1 for number, line in lines if number not in prose and line.strip() and not line.strip().startswith("#"))


def test_the_relay_loads_next_to_nothing() -> None:
    code = "import sys; import ironcurtain.entry, ironcurtain.gateway.relay; print(*sys.modules)"
    command = [sys.executable, "-I", "-c", code]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    ours = {name for name in loaded if name.startswith("ironcurtain")}
    assert ours <= {"ironcurtain", "ironcurtain.entry", "ironcurtain.gateway", "ironcurtain.gateway.relay"}
    assert not {"json", "asyncio", "argparse", "re", "typing", "dataclasses"} & loaded


def test_the_relay_is_of_the_same_version_as_the_daemon() -> None:
    assert ironcurtain.__version__ == relay.VERSION


def test_help_loads_nothing_slow() -> None:
    code = "import sys; from ironcurtain.cli.commands import parser; parser().format_help(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"rich", "jsonschema_rs", "idna", "sqlite3", "asyncio", "json"} & set(loaded)
