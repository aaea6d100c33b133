"""What the thoughts of an agent cost, and who pays.

INVARIANT: a thought is had when the most that it can cost is reserved with everybody who pays, and on record. What it
did not use is given back.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from ironcurtain.audit.record import principal_fields
from ironcurtain.audit.store import AuditHaltedError, UnrecordableError
from ironcurtain.budget.ledger import COST, MILLION, TOKENS, Account, Exhausted, accounts_of
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ironcurtain.daemon.minds import Mind, Thought
    from ironcurtain.daemon.runtime import Runtime
    from ironcurtain.daemon.transcripts import Transcript
    from ironcurtain.model.call import Json, Principal


class Purse:
    """What one task may spend. The first who pays is the agent itself, for that task."""

    def __init__(
        self,
        runtime: Runtime,
        transcript: Transcript,
        payers: tuple[tuple[Principal, str | None], ...],
        tell: Callable[[dict[str, Json]], None],
    ) -> None:
        self._runtime = runtime
        self._transcript = transcript
        self._principal = payers[0][0]
        self._payers = payers
        self._tell = tell
        self._exhausted: Account | None = None
        """Whose budget was too small for a thought."""

    async def think(self, mind: Mind, asked: dict[str, Json]) -> Thought:
        """Reserve what a thought may cost, write that down, have it, and give back what was not used."""
        runtime, ledger = self._runtime, self._runtime.ledger
        worst = await mind.worst(asked)
        accounts = accounts_of(self._principal, self._payers)
        reserved = ledger.reserve(accounts, {TOKENS: worst["tokens"], COST: worst["cost"]}, time.monotonic())
        if isinstance(reserved, Exhausted):
            self._exhausted = reserved.account
            raise Refusal("budget_exhausted", str(reserved), "")
        about: dict[str, Json] = {
            "run": self._transcript.id, "agent": principal_fields(self._principal),
            "model": self._transcript.about.model,
        }  # fmt: skip
        try:
            await runtime.audit.append("event", {"event": "inference", **about, "budget": reserved.fields()})
        except (AuditHaltedError, UnrecordableError) as error:
            ledger.release(reserved)
            raise Refusal("audit_unwritable", str(error), "run: ironcurtain doctor") from None
        begun = False

        def tell(text: str) -> None:
            nonlocal begun
            begun = True
            self._tell({"text": text})

        used = worst
        try:
            thought = await mind.think(asked, tell)
            used = thought.used or worst
        except Refusal:
            if not begun:  # nothing came of it; a message that broke off in the middle is paid for
                used = {"tokens": 0, "cost": 0}
            raise
        finally:
            unused = ledger.settle(reserved, {TOKENS: used["tokens"], COST: used["cost"]})
            with contextlib.suppress(AuditHaltedError, UnrecordableError):
                spent: dict[str, Json] = {"tokens": used["tokens"], "cost": used["cost"]}
                await runtime.audit.append("event", {"event": "inferred", **about, "used": spent, "unused": unused})
            told: dict[str, Json] = {"tokens": used["tokens"], "cost": used["cost"] / MILLION}
            self._transcript.add({"used": told})
            self._tell({"used": told})
        return thought

    async def renew(self) -> None:
        """A new budget in place of the one that was used up; and of no other."""
        account, self._exhausted = self._exhausted, None
        if account is not None:
            await self._reset(account)

    async def close(self) -> None:
        """The task is over, and nobody will use its budget again."""
        if not self._runtime.runs.any_of(self._transcript.id):
            await self._reset(Account(self._principal, self._transcript.id))

    async def _reset(self, account: Account) -> None:
        """On record before it is so."""
        with contextlib.suppress(AuditHaltedError, UnrecordableError):
            if account in self._runtime.ledger.balances():
                await self._runtime.audit.append("event", {"event": "budget", "account": account.fields()})
                self._runtime.ledger.reset(account)
