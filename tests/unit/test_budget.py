"""Accounts: never more than the limit, whatever the order; counted again from the record; loops are noticed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironcurtain.audit.chain import Head, seal, unseal
from ironcurtain.budget.amounts import amounts_of
from ironcurtain.budget.ledger import Account, Exhausted, Ledger, Reservation, of_tool
from ironcurtain.budget.loops import LoopWatch, kind_of
from ironcurtain.model.call import CanonicalCall, Principal, RoleValue
from ironcurtain.model.resolved import UNKNOWN, Opaque
from ironcurtain.model.roles import Role
from ironcurtain.settings import Budget, Limits, NamedLimit

ANN, BOB = Account(Principal("ann")), Account(Principal("bob"))
LIMITS = Limits(10, 6, 1_000, 100, 3, {"mails": NamedLimit(Role("recipient"), 4)})
BUDGET = Budget(session=LIMITS, task=replace(LIMITS, calls=2), renew_seconds=1_000)


def call(*values: tuple[str, Any], tool: str = "t", **arguments: Any) -> CanonicalCall:
    items = tuple(RoleValue(Role(role), "x", value) for role, value in values)
    return CanonicalCall("s", tool, arguments, Principal("ann"), items, {}, ())


def one(tool: str = "t", size: int = 1) -> dict[str, int | None]:
    return {"calls": 1, of_tool("s", tool): 1, "bytesOut": size}


def taken(ledger: Ledger, *accounts: Account, now: float = 0.0, **more: Any) -> Reservation | Exhausted:
    return ledger.reserve(accounts or (ANN,), {**one(), **more}, now)


def test_a_limit_is_reached_and_not_passed() -> None:
    ledger = Ledger(BUDGET)
    results = [ledger.reserve((ANN,), one(f"t{n}"), 0.0) for n in range(12)]
    assert [isinstance(result, Reservation) for result in results] == [True] * 10 + [False] * 2
    assert str(results[-1]) == "the budget of this agent is used up: at most 10 calls"
    assert isinstance(taken(ledger, BOB), Reservation), "another agent has its own"


@pytest.mark.parametrize(
    ("amounts", "what"),
    [
        ([one("a")] * 7, of_tool("s", "a")),
        ([one(size=600)] * 2, "bytesOut"),
        ([{**one(), "named mails": 3}] * 2, "named mails"),
        ([{**one(), "named mails": None}], "named mails"),
    ],
)
def test_each_thing_has_its_limit(amounts: list[dict[str, int | None]], what: str) -> None:
    ledger = Ledger(BUDGET)
    results = [ledger.reserve((ANN,), each, 0.0) for each in amounts]
    assert isinstance(results[-1], Exhausted)
    assert results[-1].what == what
    assert all(isinstance(result, Reservation) for result in results[:-1])


def test_time_is_a_limit_and_a_session_begins_anew() -> None:
    ledger = Ledger(BUDGET)
    taken(ledger)
    late = taken(ledger, now=101.0)
    assert isinstance(late, Exhausted)
    assert late.what == "seconds"
    fresh = taken(ledger, now=1_001.0)
    assert isinstance(fresh, Reservation)
    assert fresh.new == (ANN,)


def test_only_the_owner_renews_where_the_owner_says_so() -> None:
    ledger = Ledger(replace(BUDGET, renew_seconds=0))
    taken(ledger)
    assert isinstance(taken(ledger, now=1e9), Exhausted)
    ledger.reset(ANN)
    assert isinstance(taken(ledger, now=1e9), Reservation)


def test_a_task_has_a_budget_of_its_own_and_both_count() -> None:
    ledger = Ledger(BUDGET)
    task = Account(ANN.principal, "tidy up")
    assert [isinstance(taken(ledger, ANN, task), Reservation) for _ in range(3)] == [True, True, False]
    assert ledger.balances()[ANN].used["calls"] == 2, "what found no room took none"


def test_refused_calls_are_counted_and_stop_everything() -> None:
    ledger = Ledger(BUDGET)
    for _ in range(3):
        assert ledger.tripped([ANN], 0.0) is None
        ledger.refuse([ANN], 0.0)
    assert ledger.tripped([ANN], 0.0)
    assert ledger.tripped([BOB], 0.0) is None
    assert ledger.tripped([ANN], 1_000.0) is None, "a new session"


@given(st.lists(st.tuples(st.sampled_from(["reserve", "release", "restart"]), st.integers(0, 400)), max_size=60))
def test_never_more_than_the_limit_in_any_order_and_over_any_restart(steps: list[tuple[str, int]]) -> None:
    ledger = Ledger(BUDGET)
    records: list[dict[str, Any]] = []
    held: list[Reservation] = []
    for step, size in steps:
        if step == "reserve":
            made = ledger.reserve((ANN,), one(size=size), 0.0)
            if isinstance(made, Reservation):
                held.append(made)
        elif step == "release" and held:
            ledger.release(held.pop())
        elif step == "restart":
            records += [{"kind": "intent", "budget": each.fields()} for each in held]
            held.clear()
            again = Ledger(BUDGET)
            again.fold(records, 0.0)
            ledger = again
        used = ledger.balances()[ANN].used if ANN in ledger.balances() else {}
        assert used.get("calls", 0) <= 10
        assert used.get("bytesOut", 0) <= 1_000
        assert all(number >= 0 for number in used.values())


def test_a_restart_takes_up_what_the_last_start_said() -> None:
    first = Ledger(BUDGET)
    for _ in range(4):
        taken(first)
    start = {"kind": "event", "event": "start", "budgets": first.snapshot()}
    refused = {"kind": "refused", "agent": {"agent": "ann"}}
    second = Ledger(BUDGET)
    second.fold([start, refused], 5.0)
    assert second.balances()[ANN].used["calls"] == 4
    assert second.balances()[ANN].used["refusals"] == 1
    second.fold([{"kind": "event", "event": "budget", "account": ANN.fields()}], 5.0)
    assert ANN not in second.balances()


@pytest.mark.parametrize(
    ("values", "units"),
    [
        ([], 0),
        ([("amount", 3)], 3),
        ([("amount", 2.1), ("amount", 1)], 4),
        ([("amount", -5)], 0),
        ([("amount", "3")], None),
        ([("amount", True)], None),
        ([("amount", float("inf"))], None),
        ([("amount", UNKNOWN)], None),
        ([("amount", Opaque("x"))], None),
        ([("recipient", "x"), ("amount", 1)], 1),
    ],
)
def test_what_cannot_be_counted_is_more_than_any_limit(values: list[tuple[str, Any]], units: int | None) -> None:
    assert amounts_of(call(*values), 0, {"sum": NamedLimit(Role("amount"), 9)})["named sum"] == units


def test_things_are_counted_one_by_one() -> None:
    found = amounts_of(call(("recipient", "a"), ("recipient", "b")), 7, {"m": NamedLimit(Role("recipient"), 9)})
    assert found == {"calls": 1, of_tool("s", "t"): 1, "bytesOut": 7, "named m": 2}


# Loops.


def test_the_same_call_without_anything_new_is_noticed() -> None:
    watch, same = LoopWatch(), call(query="cats")
    for number in range(10):
        assert watch.repeats(same) == number
        watch.made(same, "r")
    assert watch.repeats(same) == 10
    watch.go_on(same.principal)
    assert watch.repeats(same) == 0


def test_something_new_begins_the_count_again() -> None:
    watch = LoopWatch()
    for number in range(20):
        watch.made(call(page=number), f"page {number}")
    assert watch.repeats(call(page=21)) == 1


def test_going_back_and_forth_is_a_loop_too() -> None:
    watch = LoopWatch()
    for _ in range(11):
        watch.made(call(query="a"), "nothing")
        watch.made(call(tool="u", query="b"), "nothing")
    assert watch.repeats(call(query="a")) == 10


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ({"q": "best cat food"}, {"q": "Best  food, cat!"}, True),
        ({"q": "page 1"}, {"q": "page 2"}, True),
        ({"q": "cats"}, {"q": "dogs"}, False),
        ({"q": "cats"}, {"r": "cats"}, False),
        ({"q": {"x1": "cats"}}, {"q": {"x27": "cats"}}, True),
        ({"n": 1}, {"n": 2}, True),
        ({"p": ["a", "b"]}, {"p": ["b", "a"]}, True),
    ],
)
def test_what_is_nearly_the_same(one: dict[str, Any], other: dict[str, Any], near: bool) -> None:
    assert (kind_of(call(**one)) == kind_of(call(**other))) is near


def test_what_is_remembered_is_bounded() -> None:
    watch = LoopWatch()
    for number in range(3_000):
        watch.made(replace(call(), principal=Principal(f"agent {number}")), "r")
        watch.made(call(), str(number))
    assert len(watch._agents) <= 1_000
    assert len(watch._agents[call().principal].results) <= 1_000


def test_a_reservation_is_given_back_to_the_budget_it_came_from() -> None:
    ledger = Ledger(BUDGET)
    held = [made for _ in range(5) if isinstance(made := taken(ledger), Reservation)]
    ledger.reset(ANN)
    taken(ledger)
    for each in held:
        ledger.release(each)
    assert ledger.balances()[ANN].used["calls"] == 1


def test_names_of_servers_are_values_in_a_record() -> None:
    ledger = Ledger(BUDGET)
    made = ledger.reserve((ANN,), {**one("Read"), **one("read"), **one("\ufb01le")}, 0.0)
    assert isinstance(made, Reservation)
    line, _ = seal({"budget": made.fields(), "budgets": ledger.snapshot()}, Head())
    again = Ledger(BUDGET)
    again.fold([{"kind": "intent", "budget": unseal(line)[0]["budget"]}], 0.0)
    assert again.balances()[ANN].used == ledger.balances()[ANN].used


def test_calls_under_way_count_too() -> None:
    watch, same = LoopWatch(), call(query="cats")
    for number in range(5):
        assert watch.repeats(same) == number
        watch.begin(same)
    for _ in range(5):
        watch.end(same)
    assert watch.repeats(same) == 0
