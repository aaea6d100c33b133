"""A person's yes, bound to what they saw.

Rules kept here:

1. An approval is for one digest: server, tool, canonical arguments and principal. Another call is another digest.
2. It is for one policy: when another one came into force meanwhile, it is worth nothing.
3. It is for the reasons to ask that were shown: a call that has another one meanwhile is asked about again.
4. It ends, by the machine's clock.
5. It is redeemed once.
6. It turns an escalation into an allow. A deny is never shown to it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from ironcurtain.model.call import CanonicalCall, Json
    from ironcurtain.model.decision import Verdict


def digest_of(call: CanonicalCall) -> str:
    """The digest of exactly this call."""
    content: dict[str, Json] = {
        "server": call.server,
        "tool": call.tool,
        "arguments": call.arguments,
        "principal": {**call.principal.fields()},
    }
    return "sha256:" + hashlib.sha256(strict_json.canonical(content)).hexdigest()


@dataclass(slots=True)
class Approval:
    """Permission for one call, once."""

    digest: str
    policy_digest: str
    approver: str
    expires: float
    """By the machine's clock."""
    asked: str
    """The question it answers."""
    asking: frozenset[Verdict]
    """What that question gave as reasons."""
    _redeemed: bool = field(default=False, init=False)

    def redeem(self, digest: str, policy_digest: str, asking: frozenset[Verdict], now: float) -> bool:
        """Use it up, if it is for this call, under this policy, with no other reason to ask, and still good."""
        if self._redeemed or now >= self.expires:
            return False
        if digest != self.digest or policy_digest != self.policy_digest or not asking <= self.asking:
            return False
        self._redeemed = True
        return True
