"""What one call takes of a budget."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ironcurtain.budget.ledger import BYTES, CALLS, of_name, of_tool
from ironcurtain.model.resolved import Opaque, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.model.call import CanonicalCall
    from ironcurtain.model.resolved import Value
    from ironcurtain.settings import NamedLimit


def amounts_of(call: CanonicalCall, size: int, named: Mapping[str, NamedLimit]) -> dict[str, int | None]:
    """By what it is counted under; nothing where it cannot be counted. `size` is what is sent, in bytes."""
    found: dict[str, int | None] = {CALLS: 1, of_tool(call.server, call.tool): 1, BYTES: size}
    for name, limit in named.items():
        values = [item.value for item in call.values if item.role == limit.role]
        counts = [_units(value, amount=limit.role == "amount") for value in values]
        found[of_name(name)] = None if None in counts else sum(count or 0 for count in counts)
    return found


def _units(value: Value, *, amount: bool) -> int | None:
    """One for a thing; what it says for an amount, rounded up. An amount below nothing gives nothing back."""
    if isinstance(value, (Unknown, Opaque)):
        return None
    if not amount:
        return 1
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return max(0, math.ceil(value))
