"""Accounts and what was used of them. In whole units, reserved before anything happens, never given back by a crash.

INVARIANT: what is used of anything never exceeds its limit, in whatever order calls come: a reservation is one step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isinf
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.model.call import Principal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.model.call import Json
    from ironcurtain.settings import Budget, Limits

CALLS: Final = "calls"
BYTES: Final = "bytesOut"
SECONDS: Final = "seconds"
REFUSALS: Final = "refusals"
TOKENS: Final = "tokens"
COST: Final = "cost"
"""Of a model, in millionths of a dollar."""
MILLION: Final = 1_000_000
_TOOL: Final = "tool "
_NAMED: Final = "named "


def of_tool(server: str, tool: str) -> str:
    """What the calls of one tool are counted under."""
    return f"{_TOOL}{server}/{tool}"


def of_name(name: str) -> str:
    """What a limit of the owner's is counted under."""
    return f"{_NAMED}{name}"


@dataclass(frozen=True, slots=True)
class Account:
    """Whose budget it is."""

    principal: Principal
    task: str | None = None

    def fields(self) -> dict[str, Json]:
        """As it stands in a record."""
        who: dict[str, Json] = {name: value for name, value in self.principal.fields().items() if value}
        return {"agent": who, "task": self.task} if self.task else {"agent": who}


def accounts_of(principal: Principal, payers: Iterable[tuple[Principal, str | None]]) -> list[Account]:
    """Everybody who pays: whoever calls, and all that it works for."""
    return list(dict.fromkeys([Account(principal), *(Account(*payer) for payer in payers)]))


def account_from(fields: Mapping[str, Any]) -> Account:
    """Out of a record."""
    return Account(Principal(**fields.get("agent", {})), fields.get("task"))


@dataclass(slots=True)
class Balance:
    """What was used of one account since it began."""

    began: float
    """By the machine's clock."""
    used: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exhausted:
    """Why there is no room."""

    account: Account
    what: str
    most: int

    def __str__(self) -> str:
        whose = f"the task {self.account.task!r}" if self.account.task else "this agent"
        if self.what == COST:
            return (
                f"the budget of {whose} is used up, or what comes next may be more: at most ${self.most / MILLION:.2f}"
            )
        return f"the budget of {whose} is used up: at most {self.most} {_in_words(self.what)}"


def _in_words(what: str) -> str:
    if what.startswith(_TOOL):
        return f"calls of {what.removeprefix(_TOOL)}"
    return {BYTES: "bytes sent"}.get(what, what.removeprefix(_NAMED))


@dataclass(frozen=True, slots=True)
class Reservation:
    """Room that was taken."""

    amounts: Mapping[str, int]
    accounts: tuple[Account, ...]
    balances: tuple[Balance, ...]
    """Where it was taken: a budget that began since is another."""
    new: tuple[Account, ...]
    """Those whose budget begins with this call."""

    def fields(self) -> dict[str, Json]:
        """As it stands in an intent."""
        accounts: list[Json] = [each.fields() for each in self.accounts]
        found: dict[str, Json] = {"amounts": _listed(self.amounts), "accounts": accounts}
        return {**found, "new": [each.fields() for each in self.new]} if self.new else found


def _listed(amounts: Mapping[str, int]) -> list[Json]:
    """Amounts for a record. What they are of may be a server's own word: a value, never a key."""
    return [{"of": what, "amount": amount} for what, amount in amounts.items()]


def _amounts(listed: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return {each["of"]: each["amount"] for each in listed}


class Ledger:
    """All accounts of a home."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._balances: dict[Account, Balance] = {}

    def limits_of(self, account: Account) -> Limits:
        """What may be used of an account."""
        return self.budget.task if account.task else self.budget.session

    def reserve(
        self, accounts: Iterable[Account], amounts: Mapping[str, int | None], now: float
    ) -> Reservation | Exhausted:
        """Take room in all accounts, or in none. An amount of nothing is one that cannot be counted."""
        accounts = tuple(accounts)
        new = tuple(account for account in accounts if self._renew(account, now))
        for account in accounts:
            if exhausted := self._objection(account, amounts, now):
                return exhausted
        counted = {what: amount for what, amount in amounts.items() if amount}
        for account in accounts:
            self._add(account, counted)
        return Reservation(counted, accounts, tuple(self._balances[account] for account in accounts), new)

    def release(self, reservation: Reservation) -> None:
        """The call was not made."""
        for balance in reservation.balances:
            for what, amount in reservation.amounts.items():
                balance.used[what] -= amount

    def settle(self, reservation: Reservation, used: Mapping[str, int]) -> dict[str, Json]:
        """What was not used is free; what was used beyond it counts. Answers the difference, for a record."""
        whats = reservation.amounts.keys() | used.keys()
        unused = {what: reservation.amounts.get(what, 0) - used.get(what, 0) for what in sorted(whats)}
        for balance in reservation.balances:
            for what, amount in unused.items():
                balance.used[what] = balance.used.get(what, 0) - amount
        return {"amounts": _listed(unused), "accounts": [each.fields() for each in reservation.accounts]}

    def refuse(self, accounts: Iterable[Account], now: float) -> None:
        """A call was refused; too many of those are a sign of their own."""
        for account in accounts:
            self._renew(account, now)
            self._add(account, {REFUSALS: 1})

    def tripped(self, accounts: Iterable[Account], now: float) -> Exhausted | None:
        """Whether too many calls were refused already."""
        for account in accounts:
            balance, most = self._balances.get(account), self.limits_of(account).refusals
            if balance is not None and not self._is_over(balance, now) and balance.used.get(REFUSALS, 0) >= most:
                return Exhausted(account, REFUSALS, most)
        return None

    def reset(self, account: Account) -> None:
        """The owner gives a new budget."""
        self._balances.pop(account, None)

    def balances(self) -> Mapping[Account, Balance]:
        """All that is in use."""
        return self._balances

    def _is_over(self, balance: Balance, now: float) -> bool:
        return bool(self.budget.renew_seconds) and now - balance.began >= self.budget.renew_seconds

    def _renew(self, account: Account, now: float) -> bool:
        balance = self._balances.get(account)
        if balance is not None and (account.task or not self._is_over(balance, now)):
            return False
        self._balances[account] = Balance(now)
        return True

    def _objection(self, account: Account, amounts: Mapping[str, int | None], now: float) -> Exhausted | None:
        balance, limits = self._balances[account], self.limits_of(account)
        if now - balance.began > limits.seconds:
            return Exhausted(account, SECONDS, limits.seconds)
        for what, amount in amounts.items():
            most = _limit(limits, what)
            if most is not None and (amount is None or balance.used.get(what, 0) + amount > most):
                return Exhausted(account, what, most)
        return None

    def _add(self, account: Account, amounts: Mapping[str, int]) -> None:
        used = self._balances[account].used
        for what, amount in amounts.items():
            used[what] = used.get(what, 0) + amount

    # --- After a restart. ---

    def snapshot(self) -> list[Json]:
        """All accounts, for the record of a start."""
        return [{**account.fields(), "used": _listed(balance.used)} for account, balance in self._balances.items()]

    def fold(self, records: Iterable[Mapping[str, Any]], now: float) -> None:
        """Count again what the record says was used since the last start. Time begins anew: nothing is gained by it."""
        taken: dict[str, list[Balance]] = {}
        for record in records:
            match record["kind"]:
                case "event" if record.get("event") == "start":
                    self._balances = {
                        account_from(each): Balance(now, _amounts(each["used"])) for each in record.get("budgets", [])
                    }
                case "event" if record.get("event") == "budget":
                    self._balances.pop(account_from(record["account"]), None)
                case "intent" if "budget" in record:
                    self._count_again(record["budget"], now)
                case "event" if record.get("event") == "inference" and "budget" in record:
                    self._count_again(record["budget"], now)
                    taken[record["run"]] = [self._balances[account_from(a)] for a in record["budget"]["accounts"]]
                case "event" if record.get("event") == "inferred":
                    for balance in taken.pop(record["run"], []):  # a budget that began since is another
                        for what, amount in _amounts(record["unused"]["amounts"]).items():
                            balance.used[what] = balance.used.get(what, 0) - amount
                case "refused" if "agent" in record:
                    self.refuse([*map(account_from, record.get("accounts", [{"agent": record["agent"]}]))], now)

    def _count_again(self, budget: Mapping[str, Any], now: float) -> None:
        for each in budget.get("new", []):
            self._balances.pop(account_from(each), None)
        for each in budget["accounts"]:
            account = account_from(each)
            self._balances.setdefault(account, Balance(now))
            self._add(account, _amounts(budget["amounts"]))


def _limit(limits: Limits, what: str) -> int | None:
    if what.startswith(_TOOL):
        return limits.calls_per_tool
    if what.startswith(_NAMED):
        named = limits.named.get(what.removeprefix(_NAMED))
        return named.most if named else None
    if what == COST:
        return None if isinf(limits.inference_cost) else int(limits.inference_cost * MILLION)
    return {CALLS: limits.calls, BYTES: limits.bytes_out, TOKENS: limits.tokens}[what]
