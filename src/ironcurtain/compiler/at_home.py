"""Compiles the owner's own constitution for the tools of the home, and puts the policy in force."""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.artifacts.files import read_artifact
from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.policy import ANNOTATIONS, LISTS, POLICY, read_bundle
from ironcurtain.artifacts.settings import SPOKEN_OF
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.compiler.annotate.annotator import understand
from ironcurtain.compiler.offline import Product, compile_tools
from ironcurtain.compiler.setup import NamedList, known_from

if TYPE_CHECKING:
    from pathlib import Path

    from ironcurtain.artifacts.home import Home
    from ironcurtain.artifacts.policy import Bundle, Surroundings
    from ironcurtain.artifacts.verify import Verification
    from ironcurtain.compiler.setup import Known

NEXT: Final = "policy.next"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A policy that could be in force."""

    product: Product
    verification: Verification
    directory: Path
    """Where it lies until then."""

    def publish(self, home: Home, surroundings: Surroundings) -> Verification:
        """Put it in force."""
        self.product.write(home.policy)
        shutil.rmtree(self.directory)
        return verify_directory(home.policy, surroundings)


def prepare(home: Home, constitution: Path, surroundings: Surroundings) -> Prepared:
    """Compile for the tools that are approved, and verify the result beside the policy in force."""
    bundle = read_bundle(home.policy)
    text = read_artifact(constitution).decode()
    policy: Any = bundle.items[POLICY].value
    product = compile_tools(text, _annotated(bundle), known_at_home(home, bundle), int(policy["version"]) + 1)
    directory = home.root / NEXT
    shutil.rmtree(directory, ignore_errors=True)
    product.write(directory)
    if (home.policy / LISTS).exists():
        shutil.copy2(home.policy / LISTS, directory / LISTS)
    return Prepared(product, verify_directory(directory, surroundings), directory)


def _annotated(bundle: Bundle) -> dict[str, list[dict[str, Any]]]:
    """The approved tools as they are, understood anew."""
    annotations: Any = bundle.items[ANNOTATIONS].value
    return {
        server: [tool.fields() for tool in understand(server, [each["definition"] for each in entry["tools"]])]
        for server, entry in annotations["servers"].items()
    }


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
