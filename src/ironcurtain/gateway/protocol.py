"""The names and numbers of the protocol, both eras."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from ironcurtain import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.model.call import Json

HANDSHAKE_REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
HANDSHAKE_REVISION: Final = HANDSHAKE_REVISIONS[-1]
ENVELOPE_REVISION: Final = "2026-07-28"

RESERVED: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = RESERVED + "protocolVersion"
CLIENT_INFO_KEY: Final = RESERVED + "clientInfo"
CAPABILITIES_KEY: Final = RESERVED + "clientCapabilities"
SERVER_INFO_KEY: Final = RESERVED + "serverInfo"
SUBSCRIPTION_KEY: Final = RESERVED + "subscriptionId"

UNSUPPORTED_VERSION: Final = -32022
"""A revision that the receiver does not speak; `data.supported` names those it does."""

OURSELVES: Final[dict[str, Json]] = {"name": "ironcurtain", "version": __version__}


OURS: Final = "ironcurtain/"
"""What only we may say in `_meta`, and what is only for us."""
_OF_THE_CONNECTION: Final = frozenset({"_meta", "resultType", "inputRequests", "requestState"})
"""What a result says to whoever is at the other end of this connection: a server's words never pass as ours."""


class Era(Enum):
    """Which shape of the protocol a connection speaks."""

    HANDSHAKE = "handshake"
    ENVELOPE = "envelope"


def envelope(capabilities: Mapping[str, Json]) -> dict[str, Json]:
    """What every request of ours carries in the envelope era."""
    return {VERSION_KEY: ENVELOPE_REVISION, CLIENT_INFO_KEY: OURSELVES, CAPABILITIES_KEY: dict(capabilities)}


def own_meta(meta: Json) -> dict[str, Json]:
    """The part of `_meta` that is not about one hop of the connection."""
    if not isinstance(meta, dict):
        return {}
    return {key: value for key, value in meta.items() if not key.startswith(RESERVED) and key != "progressToken"}


def without_ours(meta: Mapping[str, Json]) -> dict[str, Json]:
    """The part of `_meta` that others may have written, or may read."""
    return {key: value for key, value in meta.items() if not key.startswith(OURS)}


def result_for(era: Era, value: Mapping[str, Json], **fields: Json) -> dict[str, Json]:
    """A result as the era has it, with our name on it and no other server's."""
    meta = own_meta(value.get("_meta"))
    out = {key: item for key, item in value.items() if key not in _OF_THE_CONNECTION}
    if era is Era.ENVELOPE:
        out |= {"resultType": "complete", **fields}
        meta[SERVER_INFO_KEY] = OURSELVES
    return {**out, "_meta": meta} if meta else out
