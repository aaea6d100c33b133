"""The policies and calls that are measured: the same for us as `peers` describes them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ironcurtain.artifacts.annotations import pin_of
from ironcurtain.artifacts.config import access_from
from ironcurtain.artifacts.item import Item
from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, Bundle, Loaded, Surroundings, build
from ironcurtain.engine.access import Access

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = 1_800_000_000.0
KINDS = ("no-roles", "path-existing", "path-missing", "domain", "list", "eight-values", "access-deny")


@dataclass(frozen=True)
class Workload:
    """A kind of policy at one size, on disk under `root`."""

    kind: str
    rules: int
    tools: int
    root: Path

    def load(self) -> Loaded:
        policy: dict[str, Any] = {
            "version": 1,
            "setup": {"home": str(self.root / "home"), "sandbox": str(self.root / "box")},
            "rules": [self._rule(index) for index in range(self.rules)],
        }
        if self.kind == "access-deny":
            policy["rules"] = [{"name": "all", "if": {"server": ["*"]}, "then": "allow"}]
        notes: dict[str, Any] = {
            "version": 1,
            "servers": {"s": {"tools": [self._tool(index) for index in range(self.tools)]}},
        }
        items = {POLICY: Item(_json(policy), POLICY), ANNOTATIONS: Item(_json(notes), ANNOTATIONS)}
        access = Access()
        if self.kind == "access-deny":
            denied: list[Any] = [f"denied_{index}" for index in range(self.rules - 1)] + [self._name(self.tools - 1)]
            access = access_from(Item({"tools": {"deny": denied}}, "config.toml"))
        return build(Bundle(self.root, items), Surroundings(self.root / "ironcurtain", NOW, access))

    def call(self) -> dict[str, Any]:
        last = self.rules - 1
        name = self._name(last % self.tools)
        arguments: dict[str, Any] = {}
        if self.kind.startswith("path"):
            arguments = {"path": f"{self._directory(last)}/sub/file.txt"}
        elif self.kind == "eight-values":
            arguments = {"paths": [f"{self._directory(last)}/sub/file{index}.txt" for index in range(8)]}
        elif self.kind == "domain":
            arguments = {"url": f"https://www.host{last}.example.com/page"}
        elif self.kind == "list":
            arguments = {"to": f"user{last}@example.com", "body": "hello"}
        if self.kind == "access-deny":
            name = self._name(self.tools - 1)
        return {"serverName": "s", "toolName": name, "arguments": arguments}

    def expected(self) -> str:
        return "deny" if self.kind == "access-deny" else "allow"

    def furnish(self) -> None:
        """Make the directories that exist."""
        for directory in ("home", "box", "ironcurtain"):
            (self.root / directory).mkdir(parents=True, exist_ok=True)
        if self.kind in ("path-existing", "eight-values"):
            for index in range(self.rules):
                Path(self._directory(index), "sub").mkdir(parents=True, exist_ok=True)

    def _name(self, index: int) -> str:
        return f"tool_{index}"

    def _directory(self, index: int) -> str:
        return str(self.root / "data" / f"d{index}")

    def _rule(self, index: int) -> dict[str, Any]:
        conditions: dict[str, Callable[[], dict[str, Any]]] = {
            "no-roles": lambda: {"tool": [self._name(index % self.tools)]},
            "path-existing": lambda: {"paths": {"roles": ["read-path"], "within": self._directory(index)}},
            "path-missing": lambda: {"paths": {"roles": ["read-path"], "within": self._directory(index)}},
            "eight-values": lambda: {"paths": {"roles": ["read-path"], "within": self._directory(index)}},
            "domain": lambda: {
                "domains": {
                    "roles": ["fetch-url"],
                    "allowed": [f"host{index}.example.com", f"*.host{index}.example.com"],
                }
            },
            "list": lambda: {"lists": [{"roles": ["recipient"], "allowed": [f"user{index}@example.com"]}]},
            "access-deny": dict,
        }
        return {"name": f"rule-{index}", "if": conditions[self.kind](), "then": "allow"}

    def _tool(self, index: int) -> dict[str, Any]:
        roles: dict[str, dict[str, str]] = {
            "path-existing": {"path": "read-path"},
            "path-missing": {"path": "read-path"},
            "eight-values": {"paths": "read-path"},
            "domain": {"url": "fetch-url"},
            "list": {"to": "recipient", "body": "outbound-content"},
        }
        args = roles.get(self.kind, {})
        definition = {
            "name": self._name(index),
            "inputSchema": {"type": "object", "properties": {leaf: {} for leaf in args}, "required": list(args)},
        }
        return {
            "toolName": self._name(index),
            "serverName": "s",
            "sideEffects": bool(args),
            "args": {leaf: {"roles": [role]} for leaf, role in args.items()},
            "definition": definition,
            "pin": pin_of(_json(definition)),
        }


def _json(value: Any) -> Any:  # noqa: ANN401 - any JSON at all
    return json.loads(json.dumps(value))
