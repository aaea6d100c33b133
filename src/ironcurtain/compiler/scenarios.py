"""Scenarios derived from a policy: for each rule a call that it decides, and the calls around its bounds.

Inside; outside; beside (`Projects-other` is not `Projects`); around (`Projects/../Projects-other`); several values with
one of them outside; the argument left out; each of the rule's exceptions. What each deserves is what the analysis says
of its cell, so that running them holds the analysis and the whole pipeline together, and a rule that is changed
afterwards fails one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.analysis.foresee import Foreseen
from ironcurtain.analysis.regions import Judge
from ironcurtain.analysis.space import Ruleset, Spaces, concerns
from ironcurtain.engine.conditions import Scope, answer_to, tests_of
from ironcurtain.mediation.decide import decide_call
from ironcurtain.model.call import ToolCall
from ironcurtain.model.decision import Claim, Outcome, Stage
from ironcurtain.model.policy import PathTest, ValueTest
from ironcurtain.model.resolved import Opaque, Unknown
from ironcurtain.model.roles import Category, category
from ironcurtain.wire.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ironcurtain.analysis.nodes import Column
    from ironcurtain.analysis.options import Option
    from ironcurtain.analysis.regions import Choice, Region, Ruling
    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.engine.conditions import ConditionError, Test
    from ironcurtain.engine.policy import Policy
    from ironcurtain.model.policy import Rule
    from ironcurtain.model.resolved import Value
    from ironcurtain.model.roles import Role

MOST: Final = 3_000  # scenarios of one policy
_TRIES: Final = 8  # places where a rule is at work, looked at for one tool
_INSIDE: Final = "inside"
_ALLOWED: Final = (Outcome.ALLOW,)
_THE_CALL: Final = Claim(None, ())


@dataclass(frozen=True, slots=True)
class _Inside:
    """A call in which a rule is at work, as the options of its arguments."""

    foreseen: Foreseen
    rule: Rule
    choices: tuple[Choice, ...]
    outcome: Outcome
    policy: Policy

    @property
    def options(self) -> tuple[Option, ...]:
        return tuple(choice.option for choice in self.choices)


def derive_scenarios(loaded: Loaded) -> list[dict[str, Any]]:
    """The scenarios of a policy, in the form of `test-scenarios.json`; the same call comes once.

    What shows one rule at work may be a call beside the bounds of another: the former says more.
    """
    found: dict[bytes, dict[str, Any]] = {}
    for scenario in _all(loaded):
        key = canonical(scenario["request"])
        if key not in found or (is_inside(scenario) and not is_inside(found[key])):
            found[key] = scenario
        if len(found) >= MOST:
            break
    return list(found.values())


def is_inside(scenario: Mapping[str, Any]) -> bool:
    """Return whether a scenario shows a rule at work."""
    return str(scenario["description"]).endswith(f": {_INSIDE}")


def _all(loaded: Loaded) -> Iterator[dict[str, Any]]:
    policy = loaded.policy
    chains = (Ruleset(policy.book, policy.setup.sandbox),)
    judge = Judge(policy, chains)
    spaces = Spaces(loaded, chains)
    for tool in policy.tools.values():
        if not any(concerns(rule, tool) for rule in policy.book.rules):
            continue
        foreseen = Foreseen.of(spaces.of(tool), judge)
        for inside in _decided(foreseen, judge):
            yield from _possible(
                _scenario(inside.foreseen, inside.options, inside.outcome, inside.rule, _INSIDE), loaded
            )
            for scenario in _around(inside):
                yield from _possible(scenario, loaded)


def _possible(scenario: dict[str, Any] | None, loaded: Loaded) -> Iterator[dict[str, Any]]:
    """The scenario, unless its call is refused before any rule is asked: that is no matter of the policy."""
    if scenario is None:
        return
    request = scenario["request"]
    sources = frozenset(request["sources"]) if "sources" in request else None
    call = ToolCall(request["serverName"], request["toolName"], request["arguments"], sources=sources)
    if decide_call(call, loaded, 0.0).decision.stage in (Stage.TASK, Stage.RULES):
        yield scenario


def _decided(foreseen: Foreseen, judge: Judge) -> Iterator[_Inside]:
    """For each rule that decides something of the tool, a small call in which as little else as possible matters."""
    found: dict[str, list[_Seen]] = {}
    rules: dict[str, Rule] = {}
    for region in foreseen.regions.values():
        open_ = all(_ALLOWED in choices.outcomes for choices in region.columns)
        for choice, ruling in region.rulings():
            name = ruling.verdicts[0].rule
            seen = _Seen(region, choice, ruling, open_)
            if name in found and len(found[name]) >= _TRIES and found[name][-1].weight <= seen.weight:
                continue
            for rule in _at_work(ruling, region, judge):
                rules[rule.name] = rule
                kept = [*found.get(rule.name, ()), seen]
                found[rule.name] = sorted(kept, key=lambda each: each.weight)[:_TRIES]
    for name, candidates in found.items():
        calls = (_inside(foreseen, seen, rules[name], judge.policy) for seen in candidates)
        inside = next((call for call in calls if call is not None), None)
        if inside is not None:
            yield inside


@dataclass(frozen=True, slots=True)
class _Seen:
    """Where a rule is at work."""

    region: Region
    choice: Choice | None
    ruling: Ruling
    open: bool
    """Every argument of the region can be such that nothing speaks against it."""

    @property
    def weight(self) -> int:
        """How much besides the rule speaks against a call: the less, the better the call shows the rule."""
        others = [*self.region.whole, *(self.choice.rulings if self.choice else ())]
        against = sum(each.verdicts[0].outcome for each in others if each is not self.ruling)
        option = self.choice.option.weight if self.choice else 0
        return 10_000 * against + (0 if self.open else 5_000) + option


def _at_work(ruling: Ruling, region: Region, judge: Judge) -> Iterator[Rule]:
    """The rules that a claim's verdict rests on: those behind which others are asked, and the first that decides."""
    for rule in judge.holding(None, judge.rulesets[0].book, region.tool, ruling):
        yield rule
        if not rule.unanswered and not rule.joined:
            return


def _inside(foreseen: Foreseen, seen: _Seen, rule: Rule, policy: Policy) -> _Inside | None:
    """The smallest call in which a rule is at work: as little as possible besides it speaks against."""
    for outcome in Outcome:
        if outcome >= seen.ruling.verdicts[0].outcome:
            for rest in (_ALLOWED, None):
                choices = seen.region.call((outcome,), seen.choice, rest)
                if choices is not None and not any(each.option.refused for each in choices):
                    return _Inside(foreseen, rule, choices, outcome, policy)
    return None


def _around(inside: _Inside) -> Iterator[dict[str, Any] | None]:
    """The calls around the bounds of a rule."""
    columns = {column.leaf: column for column in inside.foreseen.space.columns}
    for test in tests_of(inside.rule.conditions):
        for option in inside.options:
            if not option.chosen or not _is_about(test, option):
                continue
            others = [each for each in _all_of(columns[option.leaf]) if each is not option]
            left_out = next((each for each in others if not each.chosen and each.siblings == option.siblings), None)
            outside = _outside(test, option, others, allowing=inside.rule.then is Outcome.ALLOW)
            if left_out is not None:
                yield from _with(inside, option.leaf, (left_out,), "leaves an argument out")
            if outside is not None:
                yield from _with(inside, option.leaf, (outside,), "is outside")
                if columns[option.leaf].several and _is_plain(option) and _is_plain(outside):
                    yield from _with(inside, option.leaf, (option, outside), "is in part outside")
            if isinstance(test, PathTest):
                for directory in test.within:
                    yield from _beside(inside, option, _all_of(columns[option.leaf]), directory)
    for group in inside.rule.conditions.unless:
        yield from _excepted(inside, group)


def _excepted(inside: _Inside, group: Iterable[Test]) -> Iterator[dict[str, Any] | None]:
    """The call with values for which an exception of the rule holds, each in the first argument that can have one."""
    options = inside.options
    for test in group:
        chosen = next((each for each in _meeting(inside, test) if _fits(each, options)), None)
        if chosen is None:
            return
        options = (*(each for each in options if each.leaf != chosen.leaf), chosen)
    expected = inside.foreseen.outcome(options)
    if expected is not None:
        yield _scenario(inside.foreseen, options, expected, inside.rule, "is an exception")


def _meeting(inside: _Inside, test: Test) -> Iterator[Option]:
    """The options that meet a test of an exception, which is read the other way round."""
    restricting = inside.rule.then is not Outcome.ALLOW
    for column in inside.foreseen.space.columns:
        for option in _all_of(column):
            usable = option.chosen and not option.refused and option.readable and _is_about(test, option)
            if usable and _says(test, option, allowing=restricting) is True:
                yield option


def _fits(option: Option, others: Iterable[Option]) -> bool:
    """Whether the arguments that select the mode of an option are as it wants them."""
    wanted = dict(option.siblings)
    chosen = {each.leaf: each.chosen[0] if each.chosen else None for each in others if each.leaf in wanted}
    return wanted == chosen


def _says(test: Test, option: Option, *, allowing: bool) -> bool | ConditionError:
    """What a test says of the values of one option alone."""
    by_role: dict[Role, tuple[Value, ...]] = {}
    for item in option.items:
        by_role[item.role] = (*by_role.get(item.role, ()), item.value)
    scope = Scope(by_role, {option.leaf: option.shown} if option.shown else {})
    return answer_to(test, _THE_CALL, scope, allowing=allowing)


def _is_about(test: Test, option: Option) -> bool:
    if isinstance(test, ValueTest) and test.leaf is not None:
        return test.leaf == option.leaf
    return any(item.role in test.roles for item in option.items)


def _all_of(column: Column) -> list[Option]:
    return [option for group in column.groups for option in group.options]


def _outside(test: Test, option: Option, others: Iterable[Option], *, allowing: bool) -> Option | None:
    """An option on the other side of the bound."""
    usable = [each for each in others if any(each.chosen) and not each.refused and each.siblings == option.siblings]
    if isinstance(test, PathTest):
        return max((_around_directory(usable, each) for each in test.within), key=_depth)
    own = _says(test, option, allowing=allowing)
    different = [each for each in usable if _says(test, each, allowing=allowing) != own]
    return min(different, key=lambda each: each.weight, default=None)


def _is_plain(option: Option) -> bool:
    """Whether it can stand beside another: what cannot be read swallows what is beside it."""
    return not any(isinstance(item.value, (Opaque, Unknown)) for item in option.items)


def _is_above(place: str, within: str) -> bool:
    return within.startswith(place.rstrip("/") + "/")


def _around_directory(options: Iterable[Option], directory: str) -> Option | None:
    """What is in the nearest directory around this one that rules tell apart."""
    around = [each for each in options if each.place and _is_above(each.place, directory)]
    return max(around, key=_depth, default=None)


def _depth(option: Option | None) -> int:
    return len(option.place) if option is not None else -1


def _beside(inside: _Inside, option: Option, every: list[Option], within: str) -> Iterator[dict[str, Any] | None]:
    """Names that begin like the directory's, and ways out of it."""
    parent, _, name = within.rpartition("/")
    outside = _around_directory((each for each in every if each.siblings == option.siblings), within)
    if outside is None or not name or any(category(item.role) is not Category.PATH for item in option.items):
        return
    leaf = str(outside.chosen[0]).rpartition("/")[2]
    beside = f"{parent}/{name}-other/{leaf}"
    if any(len(each.place) > len(outside.place) and _is_above(each.place, beside) for each in every):
        return  # another rule speaks of it
    if inside.policy.protected.standing(beside) != inside.policy.protected.standing(str(outside.chosen[0])):
        return  # what is protected is not the rule's to decide
    yield from _with(inside, option.leaf, (outside,), "is beside", beside)
    yield from _with(inside, option.leaf, (outside,), "leads out and back", f"{within}/../{name}-other/{leaf}")


def _with(
    inside: _Inside, leaf: str, instead: tuple[Option, ...], how: str, spelling: str | None = None
) -> Iterator[dict[str, Any] | None]:
    """The call with an argument that is something else."""
    options = tuple(each for each in inside.options if each.leaf != leaf) + instead
    if not any(each.chosen for each in instead) and any(e.chosen and e.leaf.startswith(f"{leaf}.") for e in options):
        return  # an object is not left out while a member of it is given
    expected = inside.foreseen.outcome(options)
    if expected is not None:
        yield _scenario(inside.foreseen, options, expected, inside.rule, how, {leaf: spelling} if spelling else {})


def _scenario(
    foreseen: Foreseen,
    options: Sequence[Option],
    expected: Outcome,
    rule: Rule,
    how: str,
    spelled: dict[str, str] | None = None,
) -> dict[str, Any] | None:
    chosen: dict[str, list[Any]] = {}
    for option in options:
        if option.chosen:
            chosen.setdefault(option.leaf, []).extend(option.chosen)
    sources = next((sorted(option.sources) for option in options if option.sources is not None), None)
    for leaf, spelling in (spelled or {}).items():
        chosen[leaf] = [spelling]
    tool = foreseen.space.tool
    arguments = foreseen.space.arguments
    if arguments.needed(chosen):
        return None  # the schema wants another argument beside these, and that one would matter
    return {
        "description": f"{rule.name}, {tool.name}: {how}",
        "request": {
            "serverName": tool.server,
            "toolName": tool.name,
            "arguments": arguments.build(chosen),
            **({} if sources is None else {"sources": sources}),
        },
        "expectedDecision": expected.word,
        "reasoning": rule.principle or rule.reason,
        "source": "generated",
    }
