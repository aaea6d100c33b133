"""The twelve steps as conversations: every step, every fault, and what holds whatever is replied."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironcurtain.engine.evaluate import escalations
from ironcurtain.mediation.approvals import Approval, digest_of
from ironcurtain.mediation.decide import prepare
from ironcurtain.mediation.effects import (
    AskHuman,
    Executed,
    Forward,
    Prepared,
    RecordIntent,
    RecordOutcome,
    RecordRefusal,
    ReleaseBudget,
    ReserveBudget,
    Reserved,
    Resolve,
    SettleBudget,
    Status,
    Unwritten,
)
from ironcurtain.mediation.pipeline import MOST_QUESTIONS
from ironcurtain.model.call import ToolCall
from ironcurtain.model.decision import Decision, Outcome, Stage
from ironcurtain.testing.playbook import Playbook
from tests.support import FILE_TOOLS, NOW, Place

RULES = [
    {"name": "no", "if": {"roles": ["delete-path"]}, "then": "deny"},
    {"name": "ask", "if": {"roles": ["read-path"]}, "then": "escalate", "elsewhere": True},
]
DONE = Executed(Status.SUCCESS, {"content": []})
FULL = Unwritten("no space left on device")
LOOP = Decision(Outcome.ESCALATE, Stage.BUDGET, "loop", "the same call ten times")
SPENT = Decision(Outcome.DENY, Stage.BUDGET, "budget_exhausted", "no calls left")
NOBODY = Decision(Outcome.DENY, Stage.ESCALATE, "approval_timeout", "nobody answered")


class Scene:
    def __init__(self, place: Place) -> None:
        self.place = place
        self.loaded = place.load(RULES, FILE_TOOLS)
        self.inside = ToolCall("fs", "read", {"path": "a"})
        self.outside = ToolCall("fs", "read", {"path": f"{place.root}/elsewhere"})
        self.forbidden = ToolCall("fs", "delete", {"path": "a"})

    def prepared(self, call: ToolCall) -> Prepared:
        made = prepare(call, self.loaded, NOW)
        assert isinstance(made, Prepared)
        return made

    def yes(self, call: ToolCall, **more: Any) -> Approval:
        prepared = self.prepared(call)
        fields: dict[str, Any] = {
            "digest": digest_of(prepared.call),
            "policy_digest": prepared.policy_digest,
            "expires": 60.0,
        }
        fields |= {"asking": frozenset(escalations(prepared.call, prepared.policy, prepared.facts)), **more}
        return Approval(approver="ann", asked="q1", **fields)


@pytest.fixture
def scene(place: Place) -> Scene:
    return Scene(place)


def test_an_allowed_call_goes_through_every_step(scene: Scene) -> None:
    ready = scene.prepared(scene.inside)
    book = Playbook(scene.inside) << Resolve >> ready << ReserveBudget >> Reserved(7) << RecordIntent >> None
    assert book << Resolve >> ready << Forward >> DONE << RecordOutcome >> None << SettleBudget >> None
    assert book.answer is not None
    assert book.answer.executed is DONE
    assert book.code == "contained"


def test_what_is_forwarded_is_what_was_decided(scene: Scene) -> None:
    ready = scene.prepared(scene.inside)
    book = Playbook(scene.inside) << Resolve >> ready << ReserveBudget >> Reserved(7) << RecordIntent >> None
    book << Resolve >> ready << Forward
    assert isinstance(book.asked[-1], Forward)
    assert book.asked[-1].call is ready.call


def test_a_refused_resolution_is_recorded_and_nothing_else_happens(scene: Scene) -> None:
    no = Decision(Outcome.DENY, Stage.RESOLVE, "path_spelling", "no")
    assert (Playbook(scene.inside) << Resolve >> no << RecordRefusal >> None).code == "path_spelling"


def test_a_denied_call_is_recorded_and_nothing_else_happens(scene: Scene) -> None:
    ready = scene.prepared(scene.forbidden)
    assert (Playbook(scene.forbidden) << Resolve >> ready << RecordRefusal >> None).code == "rule_deny"


def test_a_spent_budget_refuses_before_anybody_is_asked(scene: Scene) -> None:
    ready = scene.prepared(scene.outside)
    book = Playbook(scene.outside) << Resolve >> ready << ReserveBudget >> SPENT << RecordRefusal >> None
    assert book.code == "budget_exhausted"


def test_a_full_disk_forwards_nothing(scene: Scene) -> None:
    ready = scene.prepared(scene.inside)
    book = Playbook(scene.inside) << Resolve >> ready << ReserveBudget >> Reserved(7) << RecordIntent >> FULL
    assert (book << ReleaseBudget >> None).code == "audit_unwritable"


def test_a_refusal_that_cannot_be_recorded_says_so(scene: Scene) -> None:
    ready = scene.prepared(scene.forbidden)
    assert (Playbook(scene.forbidden) << Resolve >> ready << RecordRefusal >> FULL).code == "audit_unwritable"


def test_a_result_is_not_released_before_it_is_recorded(scene: Scene) -> None:
    ready = scene.prepared(scene.inside)
    book = Playbook(scene.inside) << Resolve >> ready << ReserveBudget >> Reserved(7) << RecordIntent >> None
    book << Resolve >> ready << Forward >> DONE << RecordOutcome >> FULL << SettleBudget >> None
    assert book.code == "audit_unwritable"
    assert book.answer is not None
    assert book.answer.executed is None


def test_an_escalated_call_is_decided_again_after_the_yes(scene: Scene) -> None:
    ready = scene.prepared(scene.outside)
    book = Playbook(scene.outside) << Resolve >> ready << ReserveBudget >> Reserved(1) << AskHuman
    book >> scene.yes(scene.outside) << ReleaseBudget >> None << Resolve >> ready << ReserveBudget >> Reserved(2)
    assert book << RecordIntent >> None << Resolve >> ready << Forward >> DONE << RecordOutcome >> None << SettleBudget >> None  # fmt: skip
    assert book.answer is not None
    assert book.answer.executed is DONE


def test_nobody_answering_is_a_no(scene: Scene) -> None:
    ready = scene.prepared(scene.outside)
    book = Playbook(scene.outside) << Resolve >> ready << ReserveBudget >> Reserved(1) << AskHuman >> NOBODY
    assert (book << ReleaseBudget >> None << RecordRefusal >> None).code == "approval_timeout"


@pytest.mark.parametrize(
    "flaw", [{"digest": "sha256:other"}, {"policy_digest": "sha256:older"}, {"expires": -1.0}, {"asking": frozenset()}]
)
def test_a_yes_to_something_else_is_none(scene: Scene, flaw: dict[str, Any]) -> None:
    ready = scene.prepared(scene.outside)
    book = Playbook(scene.outside) << Resolve >> ready << ReserveBudget >> Reserved(1) << AskHuman
    (
        book
        >> scene.yes(scene.outside, **flaw)
        << ReleaseBudget
        >> None
        << Resolve
        >> ready
        << ReserveBudget
        >> Reserved(2)
    )
    assert book << AskHuman


def test_a_yes_is_good_once(scene: Scene) -> None:
    approval = scene.yes(scene.outside)
    assert approval.redeem(approval.digest, approval.policy_digest, approval.asking, 0)
    assert not approval.redeem(approval.digest, approval.policy_digest, approval.asking, 0)


def test_a_yes_does_not_outlive_a_policy_that_says_no(scene: Scene) -> None:
    ready, call = scene.prepared(scene.outside), scene.outside
    stricter = scene.place.load([{"name": "never", "if": {"roles": ["read-path"]}, "then": "deny"}], FILE_TOOLS)
    book = Playbook(call) << Resolve >> ready << ReserveBudget >> Reserved(1) << AskHuman >> scene.yes(call)
    book << ReleaseBudget >> None << Resolve >> prepare(call, stricter, NOW) << RecordRefusal >> None
    assert book.code == "rule_deny"


def test_a_call_that_means_another_after_each_yes_is_not_asked_for_ever(scene: Scene) -> None:
    ready = scene.prepared(scene.outside)
    book = Playbook(scene.outside)
    for _ in range(MOST_QUESTIONS + 1):
        book << Resolve >> ready << ReserveBudget >> Reserved(1) << AskHuman >> scene.yes(scene.inside)
        book << ReleaseBudget >> None
    assert (book << RecordRefusal >> None).code == "call_unstable"


def test_a_loop_pauses_even_what_is_allowed(scene: Scene) -> None:
    ready = scene.prepared(scene.inside)
    book = Playbook(scene.inside) << Resolve >> ready << ReserveBudget >> Reserved(1, LOOP) << AskHuman
    assert isinstance(book.asked[-1], AskHuman)
    assert book.asked[-1].decision is LOOP
    book >> scene.yes(scene.inside) << ReleaseBudget >> None << Resolve >> ready << ReserveBudget >> Reserved(2, LOOP)
    assert book << RecordIntent


def test_a_link_swapped_after_the_intent_forwards_nothing(scene: Scene) -> None:
    ready, other = scene.prepared(scene.inside), scene.prepared(ToolCall("fs", "read", {"path": "b"}))
    book = Playbook(scene.inside) << Resolve >> ready << ReserveBudget >> Reserved(7) << RecordIntent >> None
    book << Resolve >> other << RecordOutcome
    assert isinstance(book.asked[-1], RecordOutcome)
    assert book.asked[-1].executed.status is Status.NOT_FORWARDED
    assert (book >> None << SettleBudget >> None).code == "call_changed"


def test_a_policy_swapped_after_the_intent_forwards_nothing(scene: Scene) -> None:
    ready = scene.prepared(scene.inside)
    stricter = scene.place.load([{"name": "never", "if": {"roles": ["read-path"]}, "then": "deny"}], FILE_TOOLS)
    book = Playbook(scene.inside) << Resolve >> ready << ReserveBudget >> Reserved(7) << RecordIntent >> None
    book << Resolve >> prepare(scene.inside, stricter, NOW) << RecordOutcome >> None << SettleBudget >> None
    assert book.code == "call_changed"


def test_an_upstream_that_died_leaves_an_unknown_outcome(scene: Scene) -> None:
    ready, died = scene.prepared(scene.inside), Executed(Status.UNKNOWN, code="upstream_gone", reason="it died")
    book = Playbook(scene.inside) << Resolve >> ready << ReserveBudget >> Reserved(7) << RecordIntent >> None
    assert book << Resolve >> ready << Forward >> died << RecordOutcome >> None << SettleBudget >> None
    assert book.answer is not None
    assert book.answer.executed is died


# --- Whatever is replied. ---

CALLS = ("inside", "outside", "forbidden")


@given(data=st.data())
def test_nothing_is_forwarded_but_what_was_decided_and_recorded(furnished: Scene, data: st.DataObject) -> None:
    """P1 to P6, over replies in every order that can be found."""
    scene = furnished
    call = getattr(scene, data.draw(st.sampled_from(CALLS)))
    prepared = [scene.prepared(getattr(scene, name)) for name in CALLS]
    replies: dict[type, st.SearchStrategy[Any]] = {
        Resolve: st.sampled_from([*prepared, scene.prepared(call), scene.prepared(call), NOBODY]),
        ReserveBudget: st.sampled_from([Reserved(1), Reserved(2), Reserved(3, LOOP), SPENT]),
        AskHuman: st.sampled_from([*CALLS, "flawed"]).map(
            lambda name: (
                NOBODY if name == "forbidden" else scene.yes(call) if name != "flawed" else scene.yes(call, expires=-1)
            )
        ),
        RecordIntent: st.sampled_from([None, None, FULL]),
        Forward: st.sampled_from([DONE, Executed(Status.UNKNOWN, code="x", reason="x")]),
        RecordOutcome: st.sampled_from([None, None, FULL]),
        RecordRefusal: st.sampled_from([None, FULL]),
    }
    book = Playbook(call)
    told: list[Any] = []
    for _ in range(80):
        if book.answer is not None:
            break
        told.append(data.draw(replies.get(type(book.asked[-1]), st.none())))
        book >> told[-1]
    assert book.answer is not None, "it ends"
    steps = list(zip(book.asked, told, strict=True))
    forwards = [index for index, (effect, _) in enumerate(steps) if isinstance(effect, Forward)]
    assert len(forwards) <= 1
    for index in forwards:
        intents = [reply for effect, reply in steps[:index] if isinstance(effect, RecordIntent)]
        assert intents == [None], "one intent, written, before the forward"
        resolved = [reply for effect, reply in steps[:index] if isinstance(effect, Resolve)]
        intent = next(effect for effect, _ in steps if isinstance(effect, RecordIntent))
        forward = steps[index][0]
        assert isinstance(forward, Forward)
        assert forward.call is intent.prepared.call, "what was recorded"
        assert isinstance(resolved[-1], Prepared)
        assert digest_of(resolved[-1].call) == intent.digest, "and what it still means"
        decision = intent.decision
        assert decision.outcome is not Outcome.DENY
        if decision.outcome is Outcome.ESCALATE:
            assert intent.approval is not None, "a person said yes"
            assert intent.approval.digest == intent.digest
    if book.answer.executed is not None:
        assert forwards
        assert any(isinstance(effect, RecordOutcome) and reply is None for effect, reply in steps), "recorded first"
    reserved = [
        reply.token for effect, reply in steps if isinstance(effect, ReserveBudget) and isinstance(reply, Reserved)
    ]
    given_back = [effect.token for effect, _ in steps if isinstance(effect, (ReleaseBudget, SettleBudget))]
    assert sorted(reserved) == sorted(given_back), "no reservation is forgotten"


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return Scene(Place.at(tmp_path_factory.mktemp("scene")))
