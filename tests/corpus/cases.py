"""Reads the cases of this folder and builds the machines they speak of."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ironcurtain.artifacts.config import read_config
from ironcurtain.artifacts.policy import Loaded, Surroundings, load_policy
from ironcurtain.artifacts.verify import verify_directory
from tests.support import NOW, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
GROUPS = ("wire", "path", "url", "command", "git", "tool", "engine", "access")


@dataclass(frozen=True)
class Case:
    title: str
    data: bytes
    call: dict[str, Any] | None
    expect: dict[str, Any]


@dataclass(frozen=True)
class CaseFile:
    path: Path
    content: dict[str, Any]

    def furnish(self, place: Place) -> None:
        """Build the files, links and the policy of this case file."""
        for entry in self.content.get("fs", ()):
            if "dir" in entry:
                (place.root / entry["dir"]).mkdir(parents=True, exist_ok=True)
            elif "file" in entry:
                place.file(place.fill(entry["file"]), entry.get("content", "x"))
            elif "link" in entry:
                place.link(entry["link"], entry["to"])
            else:
                (place.root / entry["hardlink"]).hardlink_to(place.root / place.fill(entry["to"]))
        place.draft("policy")
        for template in (HERE / "policies" / self.content["policy"]).glob("*.json"):
            made = place.root / "policy" / template.name
            made.write_text(place.fill(template.read_text()))
            made.chmod(0o600)
        if "config" in self.content:
            self.config(place).write_text(place.fill(self.content["config"]))
            self.config(place).chmod(0o600)
        verify_directory(place.root / "policy", place.surroundings())

    def config(self, place: Place) -> Path:
        return place.root / "policy" / "config.toml"

    def load(self, place: Place) -> Loaded:
        if "config" not in self.content:
            return load_policy(place.root / "policy", place.surroundings())
        file = self.config(place)
        return load_policy(place.root / "policy", Surroundings(place.ironcurtain, NOW, read_config(file).access, file))

    def configuration(self, place: Place) -> dict[str, Any]:
        return tomllib.loads(place.fill(self.content.get("config", "")))

    def cases(self, place: Place) -> Iterator[Case]:
        for entry in self.content["cases"]:
            call = json.loads(place.fill(json.dumps(entry["call"]))) if "call" in entry else None
            yield Case(entry["title"], _bytes(entry, call, place), call, entry["expect"])


def _bytes(entry: dict[str, Any], call: dict[str, Any] | None, place: Place) -> bytes:
    if call is not None:
        return json.dumps(call).encode()
    if "hex" in entry:
        return bytes.fromhex(entry["hex"])
    if "generate" in entry:
        parts = entry["generate"]
        return place.fill(parts["prefix"] + parts["repeat"] * parts["times"] + parts["suffix"]).encode()
    return place.fill(entry["raw"]).encode()


def case_files() -> list[CaseFile]:
    paths = sorted(path for group in GROUPS for path in (HERE / group).glob("*.yaml"))
    return [CaseFile(path, yaml.load(path.read_text(), yaml.CSafeLoader)) for path in paths]
