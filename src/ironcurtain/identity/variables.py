"""Which variables of an environment a provider's library reads: its key, its address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_BEGINNINGS: Final = {
    "google": ("GOOGLE_", "GEMINI_"),
    "google-gla": ("GOOGLE_", "GEMINI_"),
    "google-vertex": ("GOOGLE_",),
    "bedrock": ("AWS_",),
    "openai-chat": ("OPENAI_",),
    "openai-responses": ("OPENAI_",),
}
"""How they begin, where that is not the provider's own name."""


def variables_of(model: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Those of a model's provider, and no other's."""
    provider = model.partition(":")[0]
    begins = _BEGINNINGS.get(provider, (f"{provider.replace('-', '_').upper()}_",))
    return {name: value for name, value in environment.items() if provider and name.startswith(begins)}
