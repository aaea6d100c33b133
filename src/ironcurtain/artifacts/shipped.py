"""The default policy that comes with the program, fitted to this machine."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ironcurtain.artifacts.item import parse
from ironcurtain.artifacts.policy import FILES, Bundle, Loaded, build, require_verified

if TYPE_CHECKING:
    from ironcurtain.artifacts.policy import Surroundings
    from ironcurtain.model.call import Json


def shipped_bundle() -> Bundle:
    """The shipped artifacts as they are: with places for the owner's directories."""
    directory = Path(str(files("ironcurtain") / "default"))
    present = [name for name in FILES if (directory / name).is_file()]
    return Bundle(directory, {name: parse((directory / name).read_bytes(), name) for name in present})


def shipped_constitution() -> Path:
    """What the shipped policy was made from."""
    return Path(str(files("ironcurtain") / "default" / "constitution.md"))


def load_shipped(owner_home: Path, sandbox: Path, surroundings: Surroundings) -> Loaded:
    """The shipped policy for an owner and a sandbox. It has been verified before it was shipped."""
    bundle = shipped_bundle()
    require_verified(bundle)
    return build(fitted(bundle, owner_home, sandbox), surroundings)


def fitted(bundle: Bundle, owner_home: Path, sandbox: Path) -> Bundle:
    """The bundle with this owner's directories in the places left for them."""
    places = {"{home}": str(owner_home), "{sandbox}": str(sandbox)}
    items = {name: replace(item, value=_fit(item.value, places)) for name, item in bundle.items.items()}
    return replace(bundle, items=items)


def _fit(value: Json, places: dict[str, str]) -> Json:
    if isinstance(value, str):
        for place, text in places.items():
            value = value.replace(place, text)
        return value
    if isinstance(value, list):
        return [_fit(item, places) for item in value]
    if isinstance(value, dict):
        return {key: _fit(item, places) for key, item in value.items()}
    return value
