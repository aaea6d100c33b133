"""Compiles the owner's own constitution for the tools of the home, and puts the policy in force."""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.item import Item, parse
from ironcurtain.artifacts.policy import ANNOTATIONS, LISTS, POLICY, read_bundle
from ironcurtain.artifacts.scenarios import read_scenarios
from ironcurtain.artifacts.settings import SPOKEN_OF
from ironcurtain.compiler.labels import labelled, read_labels
from ironcurtain.compiler.setup import NamedList, known_from
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from pathlib import Path

    from ironcurtain.artifacts.home import Home
    from ironcurtain.artifacts.policy import Bundle, Surroundings
    from ironcurtain.compiler.setup import Known
    from ironcurtain.compiler.stages import Made, Stages


def prepare(home: Home, constitution: Path, surroundings: Surroundings, stages: Stages) -> Made:
    """Compile for the tools that are approved, and verify the result beside the policy in force."""
    bundle = read_bundle(home.policy)
    text = read_artifact(constitution).decode()
    policy: Any = bundle.items[POLICY].value
    annotations: Any = bundle.items[ANNOTATIONS].value
    labels = read_labels(home.labels) if home.labels.exists() else {}
    servers = {
        server: [
            labelled(tool, labels[server, tool["toolName"]]) if (server, tool["toolName"]) in labels else tool
            for tool in stages.annotate(server, [tool["definition"] for tool in entry["tools"]])
        ]
        for server, entry in annotations["servers"].items()
    }
    product = stages.compile(text, servers, known_at_home(home, bundle), int(policy["version"]) + 1)
    directory = home.next_policy
    shutil.rmtree(directory, ignore_errors=True)
    own = _own_scenarios(home.scenarios) if home.scenarios.exists() else []
    return stages.finish(product, directory, surroundings, own=own, lists=home.policy / LISTS)


def publish(made: Made, home: Home) -> None:
    """Put a policy in force."""
    if not made.verification.passed:
        raise Refusal("policy_failed", "it did not pass", f"see {made.directory}")
    made.install(home.policy)
    shutil.rmtree(made.directory)


def _own_scenarios(file: Path) -> list[dict[str, Any]]:
    """What the owner wrote down: calls, and what each deserves."""
    item = parse(read_artifact(file), file.name)
    read_scenarios(item)
    written: Any = item.value
    found: list[dict[str, Any]] = written["scenarios"]
    return found


def known_at_home(home: Home, bundle: Bundle) -> Known:
    """What the owner's configuration says, and where things are."""
    policy: Any = bundle.items[POLICY].value
    setup = policy["setup"]
    members = {"home": setup["home"], "sandbox": setup["sandbox"], "pathBase": setup.get("pathBase", {})}
    if home.config.exists():
        given = tomllib.loads(read_artifact(home.config).decode())
        members |= {key: given[key] for key in SPOKEN_OF if key in given}
    known = known_from(Item(members, str(home.config)))
    dynamic_lists: Any = bundle.items[LISTS].value if LISTS in bundle.items else {"lists": {}}
    lists = dynamic_lists["lists"]
    dynamic = {
        name: NamedList(each.get("kind", ""), tuple(each["values"]), dynamic=True) for name, each in lists.items()
    }
    return replace(known, lists={**known.lists, **dynamic})
