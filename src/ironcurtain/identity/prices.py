"""What a model costs, by the table of a maintained package; a model that it does not know is as dear as the dearest."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, Final

from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot

_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Of one model, in dollars for a million tokens; where nothing is set, by the table."""

    provider: str
    model: str
    own: tuple[float, float] | None = None
    """What the owner says that tokens in and out cost."""

    def of(self, into: int, out: int, **kinds: int) -> int:
        """In millionths of a dollar, rounded up. `kinds` says of which kind tokens were, for the table."""
        if self.own is not None:
            return math.ceil(into * self.own[0] + out * self.own[1])
        try:
            usage = Usage(input_tokens=into, output_tokens=out, **kinds)
            return math.ceil(calc_price(usage, self.model, provider_id=self.provider).total_price * _MILLION)
        except (LookupError, ValueError):
            dear_in, dear_out = dearest()
            return math.ceil(into * dear_in + out * dear_out)


@functools.cache
def dearest() -> tuple[float, float]:
    """The highest price that is known of any model, for a million tokens in, and out."""
    into, out = 0.0, 0.0
    for provider in get_snapshot().providers:
        for model in provider.models:
            into = max(into, _price_of(provider.id, model.id, input_tokens=_MILLION))
            out = max(out, _price_of(provider.id, model.id, output_tokens=_MILLION))
    return into, out


def _price_of(provider: str, model: str, **tokens: Any) -> float:  # noqa: ANN401 - the library's own
    try:
        return float(calc_price(Usage(**tokens), model, provider_id=provider).total_price)
    except (LookupError, ValueError):
        return 0.0
