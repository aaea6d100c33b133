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
from ironcurtain.compiler.lists import SOURCES
from ironcurtain.compiler.making import Making, kept
from ironcurtain.compiler.readers.store import read_readings
from ironcurtain.compiler.setup import NamedList, known_from
from ironcurtain.compiler.waivers import read_waivers
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ironcurtain.artifacts.home import Home
    from ironcurtain.artifacts.policy import Bundle, Surroundings
    from ironcurtain.compiler.making import Consult
    from ironcurtain.compiler.setup import Known
    from ironcurtain.compiler.stages import Made, Stages


def prepare(
    home: Home,
    constitution: Path,
    surroundings: Surroundings,
    stages: Stages,
    lists: dict[str, Any] | None = None,
    consult: Consult | None = None,
) -> Made:
    """Compile for the tools that are approved, and verify the result beside the policy in force.

    With `lists`, for these dynamic lists instead of those in force; `consult` puts questions to the owner.
    """
    bundle = read_bundle(home.policy)
    text = constitution_text(constitution)
    policy: Any = bundle.items[POLICY].value
    annotations: Any = bundle.items[ANNOTATIONS].value
    waivers = read_waivers(home.waivers)
    stages = replace(stages, waivers=waivers, ask_owner=consult.waive if consult is not None else None)
    labels = read_labels(home.labels) if home.labels.exists() else {}
    servers = {
        server: [
            labelled(tool, labels[server, tool["toolName"]]) if (server, tool["toolName"]) in labels else tool
            for tool in stages.annotate(server, [tool["definition"] for tool in entry["tools"]])
        ]
        for server, entry in annotations["servers"].items()
    }
    if waivers.changed:
        waivers.write(home.waivers)
    dynamic: Any = lists if lists is not None else bundle.items[LISTS].value if LISTS in bundle.items else None
    known = known_at_home(home, bundle, dynamic)
    directory = home.next_policy
    shutil.rmtree(directory, ignore_errors=True)
    agreed_to = read_readings(home.readings)
    agreed_to = agreed_to.to_answer_again() if stages.again else agreed_to
    making = Making(stages, servers, known, agreed_to, directory, surroundings, int(policy["version"]) + 1)
    product = making.product(text, consult)
    if dynamic is not None:
        product = replace(product, artifacts={**product.artifacts, LISTS: dynamic})
    own = _own_scenarios(home.scenarios) if home.scenarios.exists() else []
    return stages.finish(product, directory, surroundings, own=own)


def constitution_text(file: Path) -> str:
    """What the owner wrote."""
    try:
        return read_artifact(file).decode()
    except UnicodeDecodeError as error:
        raise Refusal("constitution_encoding", f"{file} is not UTF-8: {error.reason}", "save it as UTF-8") from None


def publish(made: Made, home: Home, *, agreed: bool) -> None:
    """Put a policy in force; with `agreed`, the owner has seen the readings and they are kept."""
    if not made.verification.passed:
        raise Refusal("policy_failed", "it did not pass", f"see {made.directory}")
    made.install(home.policy)
    if agreed:
        kept(made.product).write(home.readings)
        home.drafts.unlink(missing_ok=True)
    shutil.rmtree(made.directory)


def _own_scenarios(file: Path) -> list[dict[str, Any]]:
    """What the owner wrote down: calls, and what each deserves."""
    item = parse(read_artifact(file), file.name)
    read_scenarios(item)
    written: Any = item.value
    found: list[dict[str, Any]] = written["scenarios"]
    return found


def known_at_home(home: Home, bundle: Bundle, dynamic: Mapping[str, Any] | None = None) -> Known:
    """What the owner's configuration says, and where things are."""
    policy: Any = bundle.items[POLICY].value
    setup = policy["setup"]
    members = {"home": setup["home"], "sandbox": setup["sandbox"], "pathBase": setup.get("pathBase", {})}
    if home.config.exists():
        given = tomllib.loads(read_artifact(home.config).decode())
        members |= {key: given[key] for key in SPOKEN_OF if key in given}
        members["lists"] = {name: each for name, each in given.get("lists", {}).items() if not _has_source(each)}
    known = known_from(Item(members, str(home.config)))
    lists = (dynamic or {}).get("lists", {})
    filled = {
        name: NamedList(each.get("kind", ""), (*each["values"], *each.get("manualAdditions", ())), dynamic=True)
        for name, each in lists.items()
    }
    return replace(known, lists={**known.lists, **filled})


def _has_source(entry: object) -> bool:
    """Whether a list is kept up to date, and its values stand in `dynamic-lists.json`."""
    return isinstance(entry, dict) and not entry.keys().isdisjoint(SOURCES)
