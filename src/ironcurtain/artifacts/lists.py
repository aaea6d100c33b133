"""Named lists: those of the policy itself and the dynamic ones beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.artifacts.item import Item
    from ironcurtain.model.resolved import Scalar


@dataclass(frozen=True, slots=True)
class NamedList:
    """Values, and those that are none of it however they are spelled."""

    values: tuple[Scalar, ...]
    removed: tuple[Scalar, ...] = ()


def read_lists(policy_lists: Item | None, dynamic: Item | None) -> Mapping[str, NamedList]:
    """Every list by name; a name may stand in one place only."""
    found: dict[str, NamedList] = {}
    for name, entry in policy_lists.entries().items() if policy_lists else ():
        parts = {"values": entry} if isinstance(entry.value, list) else entry.members(("values",), ("kind",))
        _check_kind(parts)
        found[name] = NamedList(_scalars(parts["values"]))
    if dynamic is None:
        return found
    members = dynamic.members(("version", "lists"), ("generatedAt",))
    if members["version"].count(least=1) != 1:
        members["version"].fail("a version this program does not know", "write 1")
    if "generatedAt" in members:
        members["generatedAt"].time()
    for name, entry in members["lists"].entries().items():
        if name in found:
            entry.fail("the list stands in compiled-policy.json too", "remove one of the two")
        parts = entry.members(("values",), ("kind", "manualAdditions", "manualRemovals"))
        _check_kind(parts)
        added = _scalars(parts["manualAdditions"]) if "manualAdditions" in parts else ()
        removed = _scalars(parts["manualRemovals"]) if "manualRemovals" in parts else ()
        found[name] = NamedList((*_scalars(parts["values"]), *added), removed)
    return found


def _check_kind(parts: Mapping[str, Item]) -> None:
    if "kind" in parts:
        parts["kind"].text()


def _scalars(item: Item) -> tuple[Scalar, ...]:
    return tuple(element.scalar() for element in item.elements())
