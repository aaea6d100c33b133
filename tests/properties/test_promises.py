"""The promises of the engine, over random worlds. Each test is one sentence that must never be false."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from ironcurtain.engine.explain import claim_stories
from ironcurtain.mediation.decide import decide_bytes
from ironcurtain.model.decision import Outcome
from ironcurtain.model.resolved import CanonicalPath, CanonicalUrl, Command, Party
from ironcurtain.model.roles import Category, category
from tests.spec import generate
from tests.spec.reference import as_line
from tests.support import NOW, Place, annotated, decide, judge

if TYPE_CHECKING:
    from ironcurtain.artifacts.policy import Loaded

quickly = settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])
worlds = generate.worlds(calls=12)
RANK = {"allow": 0, "escalate": 1, "deny": 2}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place.at(tmp_path_factory.mktemp("world"))
    generate.furnish(place)
    return place


class Scene:
    """One random world, loaded as often as a question needs it with something changed."""

    def __init__(self, place: Place, world: generate.World) -> None:
        self.place = place
        self.tools, chain, self.config, requests = json.loads(place.fill(json.dumps(world)))
        self.chain: list[dict[str, Any]] = chain
        self.requests: list[dict[str, Any]] = requests

    def load(self, chain: list[dict[str, Any]] | None = None, config: dict[str, Any] | None = None) -> Loaded:
        rules = [{**rule, "name": f"r{index}"} for index, rule in enumerate(self.chain if chain is None else chain)]
        policy = self.place.policy(rules, lists=generate.LISTS)
        return self.place.build(policy, annotated(self.tools), self.config if config is None else config)

    def ranks(self, loaded: Loaded) -> list[int]:
        return [RANK[decide(loaded, request).outcome.word] for request in self.requests]


@quickly
@given(world=worlds)
def test_a_deny_is_never_outvoted(furnished: Place, world: generate.World) -> None:
    scene = Scene(furnished, world)
    first = [{"name": "x", "if": {}, "then": "deny"}, *scene.chain]
    assert set(scene.ranks(scene.load(first))) <= {RANK["deny"]}


@quickly
@given(world=worlds, data=st.data())
def test_removing_an_allow_never_allows_more(furnished: Place, world: generate.World, data: st.DataObject) -> None:
    scene = Scene(furnished, world)
    allows = [index for index, rule in enumerate(scene.chain) if rule["then"] == "allow"]
    assume(allows)
    gone = data.draw(st.sampled_from(allows))
    before = scene.ranks(scene.load())
    after = scene.ranks(scene.load([rule for index, rule in enumerate(scene.chain) if index != gone]))
    # What the allow covered may now be denied or asked; a later rule may also ask where nothing was said.
    assert all(now > 0 or then == 0 for then, now in zip(before, after, strict=True))


@quickly
@given(world=worlds, extra=generate.rules(1), data=st.data())
def test_adding_a_deny_never_allows_more(
    furnished: Place, world: generate.World, extra: Any, data: st.DataObject
) -> None:
    scene = Scene(furnished, world)
    assume(extra)
    rule = {**json.loads(furnished.fill(json.dumps(extra[0]))), "then": "deny"}
    for key in ("elsewhere", "joined"):
        rule.pop(key, None)
    at = data.draw(st.integers(0, len(scene.chain)))
    before = scene.ranks(scene.load())
    after = scene.ranks(scene.load([*scene.chain[:at], rule, *scene.chain[at:]]))
    assert all(now >= then for then, now in zip(before, after, strict=True))


@quickly
@given(world=worlds, task=generate.rules(4))
def test_a_task_policy_never_allows_more(furnished: Place, world: generate.World, task: Any) -> None:
    scene = Scene(furnished, world)
    loaded = scene.load()
    rules = json.loads(furnished.fill(json.dumps(task)))
    policy = {"version": 1, "task": "t", "expiresAt": "2099-01-01T00:00:00Z", "rules": rules}
    for request in scene.requests:
        plain = {key: value for key, value in request.items() if key != "task"}
        assert decide(loaded, {**plain, "task": policy}).outcome >= decide(loaded, plain).outcome


@quickly
@given(world=worlds, config=generate.configs())
def test_an_access_layer_never_allows_more(furnished: Place, world: generate.World, config: Any) -> None:
    scene = Scene(furnished, world)
    free, limited = scene.load(config={}), scene.load(config=config)
    for request in scene.requests:
        nobody = {key: value for key, value in request.items() if key != "principal"}
        assert decide(limited, request).outcome >= decide(free, nobody).outcome


@quickly
@given(world=worlds, data=st.data())
def test_swapping_neighbours_with_equal_decisions_changes_nothing(
    furnished: Place, world: generate.World, data: st.DataObject
) -> None:
    scene = Scene(furnished, world)
    chain = scene.chain
    alike = [i for i in range(len(chain) - 1) if chain[i]["then"] == chain[i + 1]["then"]]
    assume(alike)
    at = data.draw(st.sampled_from(alike))
    swapped = [*chain[:at], chain[at + 1], chain[at], *chain[at + 2 :]]
    errors = [decide(scene.load(c), r).code == "rule_error" for c in (chain, swapped) for r in scene.requests]
    assume(not any(errors))  # an escalate that cannot be evaluated denies, and then it matters who is asked first
    assert scene.ranks(scene.load()) == scene.ranks(scene.load(swapped))


@quickly
@given(world=worlds)
def test_nothing_is_allowed_that_neither_a_rule_nor_containment_covers(furnished: Place, world: generate.World) -> None:
    scene = Scene(furnished, world)
    loaded = scene.load()
    for request in scene.requests:
        judged = judge(loaded, request)
        if judged.decision.outcome is Outcome.ALLOW:
            assert judged.call is not None
            tool = loaded.policy.tools[judged.call.server, judged.call.tool]
            stories = claim_stories(judged.call, loaded.policy.book.rules, tool, loaded.policy.setup.sandbox)
            assert stories
            for story in stories:
                assert story.verdict.code in ("rule_allow", "contained")
                by_rule = [asked for asked in story.asked if asked.decides and asked.rule.then is Outcome.ALLOW]
                assert by_rule or story.verdict.code == "contained"


def _asks_for_a_value(fields: dict[str, Any]) -> bool:
    said = json.dumps(fields)
    return '"unless"' in said or '"given"' in said


@quickly
@given(world=worlds, data=st.data())
def test_one_more_value_never_turns_a_deny_or_an_escalate_into_an_allow(
    furnished: Place, world: generate.World, data: st.DataObject
) -> None:
    scene = Scene(furnished, world)
    # A lower bound in an allow ("at least two approvers") is the one condition that more values can satisfy, and an
    # upper bound in a deny or escalate ("no call with a single one") the one that they can leave behind.
    bound = {"allow": "minItems", "deny": "maxItems", "escalate": "maxItems"}
    assume(not any(bound[rule["then"]] in json.dumps(rule["if"]) for rule in scene.chain))
    # An exception, and a value that must be given, ask for a value, which one more may be: rules with them are left out.
    loaded = scene.load([rule for rule in scene.chain if not _asks_for_a_value(rule)])
    for request in scene.requests:
        if _asks_for_a_value(request):
            continue
        tool = loaded.policy.tools[request["serverName"], request["toolName"]]
        for name, value in request["arguments"].items():
            shape = tool.arguments.members.get(name)
            roles = {role for mode in shape.modes for role in mode.roles} if shape else set()
            if (
                not roles
                or any(category(role) in (Category.NONE, Category.CARRIED) for role in roles)
                or value in (None, "", [])
                or (shape is not None and any(mode.argv for mode in shape.modes))  # another word makes another command
            ):
                continue
            pool = generate.LEAVES[name][1] if name in generate.LEAVES else ["x"]
            more = json.loads(furnished.fill(json.dumps(data.draw(st.sampled_from(pool)))))
            longer = [*(value if isinstance(value, list) else [value]), more]
            before = decide(loaded, request)
            after = decide(loaded, {**request, "arguments": {**request["arguments"], name: longer}})
            if set(after.roles) - set(before.roles):
                continue  # it is a value of another kind, the first of it
            assert before.outcome is Outcome.ALLOW or after.outcome is not Outcome.ALLOW, (
                request,
                longer,
                before,
                after,
            )


@quickly
@given(world=worlds)
def test_what_is_checked_is_what_is_sent(furnished: Place, world: generate.World) -> None:
    scene = Scene(furnished, world)
    loaded = scene.load()
    for request in scene.requests:
        judged = judge(loaded, request)
        if judged.call is None:
            continue
        # Everything the engine looked at stands in the arguments that are forwarded ...
        sent = {*_scalars(judged.call.arguments), *map(as_line, judged.call.arguments.values())}
        for item in judged.call.values:
            if isinstance(item.value, (CanonicalPath, CanonicalUrl, Party, Command)):
                text = item.value.text
                assert any(text == s or (isinstance(s, str) and text in s.split(", ")) for s in sent), (text, sent)
        # ... and deciding on what is forwarded gives the same arguments and nothing stricter; a name that was a link on
        # the way may have been stricter.
        again = judge(loaded, {**request, "arguments": judged.call.arguments})
        assert again.call is not None
        assert again.call.arguments == judged.call.arguments
        assert again.decision.outcome <= judged.decision.outcome
        if not any(isinstance(item.value, CanonicalPath) and item.value.trail for item in judged.call.values):
            assert again.decision.outcome is judged.decision.outcome or judged.call.strays
        assert [str(item.value) for item in again.call.values] == [str(item.value) for item in judged.call.values]


def _scalars(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [scalar for key, member in value.items() for scalar in (key, *_scalars(member))]
    if isinstance(value, list):
        return [scalar for member in value for scalar in _scalars(member)]
    return [value]


@given(data=st.binary(max_size=300))
def test_bytes_that_are_no_call_are_denied_at_validation(furnished: Place, data: bytes) -> None:
    loaded = furnished.load([{"name": "all", "if": {"server": ["*"]}, "then": "allow"}], [])
    decision = decide_bytes(data, loaded, NOW).decision
    assert decision.outcome is Outcome.DENY
    assert decision.stage.value in ("validate", "invariants")


@quickly
@given(world=worlds)
def test_the_quick_chain_and_the_slow_story_say_the_same(furnished: Place, world: generate.World) -> None:
    scene = Scene(furnished, world)
    loaded = scene.load(config={})
    for request in scene.requests:
        judged = judge(loaded, {**request, "principal": {}})
        if judged.call is None or judged.decision.stage.value != "rules":
            continue
        tool = loaded.policy.tools[judged.call.server, judged.call.tool]
        stories = claim_stories(judged.call, loaded.policy.book.rules, tool, loaded.policy.setup.sandbox)
        assert max(story.verdict.outcome for story in stories) is judged.decision.outcome
