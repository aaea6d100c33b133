"""Tools that nobody has described yet: pinned as they are, and trusted with nothing.

A new tool gets an annotation that says "it has effects, and what its arguments mean is not known". No rule about paths,
hosts or people can then allow it; under the default policy every call of it asks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from ironcurtain.artifacts.annotations import pin_of
from ironcurtain.artifacts.files import write_artifact
from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, read_bundle
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.wire import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ironcurtain.artifacts.policy import Surroundings
    from ironcurtain.artifacts.verify import Verification
    from ironcurtain.model.call import Json

COMMENT: Final = "Seen and approved, not yet described: what its arguments mean is not known."


def annotation_of(server: str, definition: Mapping[str, Json]) -> dict[str, Json]:
    """What can be said of a tool that nobody has described."""
    try:
        leaves = schema.admit(definition).leaves
    except ValueError:  # unusable, and it stays so
        leaves = {}
    arguments: dict[str, Json] = {leaf: {"roles": ["none"], "absent": "nothing"} for leaf in leaves}
    return {
        "toolName": definition["name"],
        "serverName": server,
        "comment": COMMENT,
        "sideEffects": True,
        "args": arguments,
        "definition": dict(definition),
        "pin": pin_of(definition),
    }


def approve_tools(
    directory: Path,
    server: str,
    definitions: Iterable[Mapping[str, Json]],
    surroundings: Surroundings,
    *,
    keep: bool = False,
    understood: Mapping[str, dict[str, Json]] | None = None,
) -> Verification:
    """Take tools into the annotations of a policy as they are now, and verify the policy again.

    With `keep`, a tool that was described keeps its description, as far as its arguments are the same: the owner says
    that it still means what it meant. Otherwise it is described as it was understood, if it was.
    """
    bundle = read_bundle(directory)
    annotations = json.loads(json.dumps(bundle.items[ANNOTATIONS].value))
    tools = annotations["servers"].setdefault(server, {"tools": []})["tools"]
    known = {tool["toolName"]: tool for tool in tools}
    for definition in definitions:
        fresh = (understood or {}).get(str(definition["name"])) or annotation_of(server, definition)
        old = known.get(str(definition["name"]))
        if keep and old is not None and old["args"].keys() == _names(fresh):
            fresh |= {key: old[key] for key in ("args", "sideEffects", "comment", "effects") if key in old}
        known[str(definition["name"])] = fresh
    annotations["servers"][server]["tools"] = list(known.values())
    policy = json.loads(json.dumps(bundle.items[POLICY].value))
    policy["version"] += 1
    write_artifact(directory / ANNOTATIONS, (json.dumps(annotations, indent=1, ensure_ascii=False) + "\n").encode())
    write_artifact(directory / POLICY, (json.dumps(policy, indent=1, ensure_ascii=False) + "\n").encode())
    return verify_directory(directory, surroundings)


def _names(annotation: Mapping[str, Json]) -> object:
    arguments = annotation["args"]
    return arguments.keys() if isinstance(arguments, dict) else ()
