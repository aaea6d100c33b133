"""A machine in a directory: an owner's home, a sandbox, IronCurtain's home, and policies loaded for it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ironcurtain.artifacts.annotations import pin_of
from ironcurtain.artifacts.config import access_from
from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.policy import (
    ANNOTATIONS,
    BUDGET,
    LISTS,
    POLICY,
    SCENARIOS,
    Bundle,
    Loaded,
    Surroundings,
    build,
)
from ironcurtain.artifacts.verify import verify_directory
from ironcurtain.engine.access import Access
from ironcurtain.mediation.decide import Judged, decide_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ironcurtain.model.decision import Decision

NOW = 1_800_000_000.0  # 2027-01-15, when all tests happen
NOW_TEXT = "2027-01-15T08:00:00Z"


T = TypeVar("T")


def some(cases: Sequence[T], of: int = 2) -> list[T]:
    """Every so many-th one everyday, all of them at length (`make verify`)."""
    return [*cases] if os.environ.get("HYPOTHESIS_PROFILE") == "long" else [*cases[1::of]]


@dataclass(frozen=True)
class Place:
    root: Path

    @classmethod
    def at(cls, root: Path) -> Place:
        place = cls(root.resolve())
        for directory in (place.home, place.sandbox, place.ironcurtain):
            directory.mkdir(parents=True, exist_ok=True)
            directory.chmod(0o700)
        return place

    @property
    def home(self) -> Path:
        return self.root / "home" / "owner"

    @property
    def sandbox(self) -> Path:
        return self.root / "box"

    @property
    def ironcurtain(self) -> Path:
        return self.home / ".ironcurtain"

    def fill(self, text: str) -> str:
        """Put this machine's directories into a template."""
        places = {"{root}": self.root, "{home}": self.home, "{sandbox}": self.sandbox, "{box}": self.sandbox}
        for name, path in places.items():
            text = text.replace(name, str(path))
        return text

    def file(self, path: str, content: str = "x") -> Path:
        made = self.root / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(content)
        return made

    def link(self, path: str, to: str) -> Path:
        made = self.root / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.symlink_to(self.fill(to))
        return made

    def surroundings(self, access: Access | None = None) -> Surroundings:
        return Surroundings(self.ironcurtain, NOW, access or Access())

    def policy(self, rules: list[Any], **more: Any) -> dict[str, Any]:
        """A policy file's content for this machine."""
        setup = {"home": str(self.home), "sandbox": str(self.sandbox), "pathBase": {"fs": str(self.sandbox)}}
        made: dict[str, Any] = json.loads(self.fill(json.dumps({"version": 1, "setup": setup, "rules": rules, **more})))
        return made

    def load(self, rules: list[Any], tools: list[Any], config: dict[str, Any] | None = None, **more: Any) -> Loaded:
        """Load rules and tools without going through files."""
        return self.build(self.policy(rules, **more), annotated(tools), config)

    def build(
        self,
        policy: dict[str, Any],
        tools: dict[str, Any],
        config: dict[str, Any] | None = None,
        lists: dict[str, Any] | None = None,
    ) -> Loaded:
        items = {POLICY: Item(policy, POLICY), ANNOTATIONS: Item(tools, ANNOTATIONS)}
        if lists is not None:
            items[LISTS] = Item(lists, LISTS)
        access = access_from(Item(config, "config.toml")) if config is not None else None
        return build(Bundle(self.root / "policy", items), self.surroundings(access))

    def write(self, directory: str, **artifacts: Any) -> Path:
        """Write artifacts to a directory and verify them, as an owner would."""
        made = self.draft(directory, **artifacts)
        verify_directory(made, self.surroundings())
        return made

    def draft(self, directory: str, **artifacts: Any) -> Path:
        """Write artifacts to a directory."""
        made = self.root / directory
        made.mkdir(parents=True, exist_ok=True)
        made.chmod(0o700)
        names = {"policy": POLICY, "annotations": ANNOTATIONS, "lists": LISTS, "scenarios": SCENARIOS, "budget": BUDGET}
        for key, value in artifacts.items():
            file = made / names[key]
            file.write_text(value if isinstance(value, str) else json.dumps(value))
            file.chmod(0o600)
        return made


def tool(name: str, args: dict[str, Any], *, server: str = "fs", **more: Any) -> dict[str, Any]:
    """An annotated tool. `args` maps a leaf to its roles (or to a whole entry); the schema is made from the leaves."""
    entries = {
        leaf: entry if isinstance(entry, dict) or _is_modes(entry) else {"roles": entry} for leaf, entry in args.items()
    }
    definition = more.pop("definition", None) or {"name": name, "inputSchema": _schema(args, more.pop("required", ()))}
    roles = {
        role
        for entry in entries.values()
        for mode in (entry if isinstance(entry, list) else [entry])
        for role in mode["roles"]
    }
    return {
        "toolName": name,
        "serverName": server,
        "sideEffects": more.pop("side_effects", bool(roles - {"none"})),
        "args": entries,
        "definition": definition,
        "pin": pin_of(definition),
        **more,
    }


def _is_modes(entry: Any) -> bool:
    return isinstance(entry, list) and all(isinstance(mode, dict) for mode in entry)


def _schema(args: dict[str, Any], required: Any) -> dict[str, Any]:
    root: dict[str, Any] = {"type": "object", "properties": {}}
    for leaf in args:
        node = root
        *parents, last = leaf.split(".")
        for parent in parents:
            below = node["properties"].setdefault(parent.removesuffix("[]"), {})
            if parent.endswith("[]"):
                below.setdefault("type", "array")
                below = below.setdefault("items", {})
            below.setdefault("type", "object")
            below.setdefault("properties", {})
            node = below
        node["properties"].setdefault(last, {})
    if required:
        root["required"] = list(required)
    return root


def annotated(tools: list[dict[str, Any]]) -> dict[str, Any]:
    servers: dict[str, Any] = {}
    for entry in tools:
        servers.setdefault(entry["serverName"], {"tools": []})["tools"].append(entry)
    return {"version": 1, "servers": servers}


def call(name: str, arguments: dict[str, Any], server: str = "fs", **more: Any) -> dict[str, Any]:
    return {"serverName": server, "toolName": name, "arguments": arguments, **more}


def judge(loaded: Loaded, request: dict[str, Any]) -> Judged:
    return decide_bytes(json.dumps(request).encode(), loaded, NOW)


def decide(loaded: Loaded, request: dict[str, Any]) -> Decision:
    return judge(loaded, request).decision


def outcome(loaded: Loaded, request: dict[str, Any]) -> str:
    return decide(loaded, request).outcome.word


FILE_TOOLS = [
    tool("read", {"path": ["read-path"]}),
    tool("read_many", {"paths": ["read-path"]}),
    tool("write", {"path": ["write-path"], "content": ["none"]}),
    tool("delete", {"path": ["delete-path"]}),
    tool("move", {"source": ["read-path", "delete-path"], "destination": ["write-path"]}),
    tool("info", {}),
]
