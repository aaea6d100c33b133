"""Rules that do nothing, or not what they seem to. Only what is certain is reported.

- *duplicate*: the same conditions and the same decision as an earlier rule.
- *contradictory*: the same conditions as an earlier rule, and another decision. The earlier one always wins.
- *shadowed*: an earlier rule matches whenever this one does. Behind a joined rule others are asked: it shadows nothing.
- *unreachable*: no annotated tool can ever bring it into play.
- *ambiguous*: a bare name in an access list that tools of several servers have.
- *unusable*, *drifted*: tools that can never be called.
- *unannotated*: arguments that can never be used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironcurtain.analysis.space import Spaces, concerns
from ironcurtain.engine.chain import name_is_listed, reads_only
from ironcurtain.model.decision import Outcome
from ironcurtain.model.policy import leaves_of
from ironcurtain.model.roles import Category, category
from ironcurtain.wire.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.model.policy import Conditions, DomainTest, ListTest, PathTest, Rule, Tool
    from ironcurtain.model.roles import Role


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to look at."""

    kind: str
    message: str
    rules: tuple[str, ...] = ()


def lint_policy(loaded: Loaded) -> list[Finding]:
    """Everything there is to say about a policy."""
    tools = tuple(loaded.policy.tools.values())
    spaces = Spaces(loaded, ())
    reaching = any(spaces.reaches_private_hosts(tool) for tool in tools)
    return [*_rules(loaded.policy.book.rules, tools, reaching=reaching), *_tools(loaded), *_access(loaded, tools)]


def _rules(rules: tuple[Rule, ...], tools: tuple[Tool, ...], *, reaching: bool) -> Iterator[Finding]:
    seen: dict[tuple[Conditions, bool, bool], Rule] = {}
    for index, rule in enumerate(rules):
        same = (rule.conditions, rule.elsewhere)
        # What a joined rule asks about others decide: only another joined one repeats it.
        first = seen.get((*same, False)) or seen.setdefault((*same, rule.joined), rule)
        if first is not rule:
            if first.then is rule.then:
                yield Finding("duplicate", f"{rule.name} repeats {first.name}", (rule.name, first.name))
            else:
                message = (
                    f"{rule.name} says {rule.then.word} where {first.name} says {first.then.word}; {first.name} wins"
                )
                yield Finding("contradictory", message, (rule.name, first.name))
        elif not any(concerns(rule, tool) for tool in tools):
            yield Finding("unreachable", f"{rule.name} fits no annotated tool", (rule.name,))
        else:
            shadow = next((earlier for earlier in rules[:index] if _covers(earlier, rule, reaching=reaching)), None)
            if shadow:
                message = f"{rule.name} never decides anything: {shadow.name} comes first and matches whenever it does"
                yield Finding("shadowed", message, (rule.name, shadow.name))


def _covers(earlier: Rule, later: Rule, *, reaching: bool) -> bool:
    """Whether the earlier rule decides every claim that the later one could.

    Where there are private hosts that a rule may reach (`reaching`), an allow covers only those that it names.
    """
    if (
        (reaching and earlier.then is Outcome.ALLOW and (not later.named or any(map(_names_hosts, later.named))))
        or earlier.unanswered
        or earlier.joined
        or (earlier.elsewhere and not later.elsewhere)
        or (reads_only(earlier) and not reads_only(later))
    ):
        return False
    return _applies_wherever(earlier, later) and _asks_no_more(earlier, later)


def _names_hosts(role: Role) -> bool:
    return category(role) in (Category.URL, Category.PLACE)


def _applies_wherever(earlier: Rule, later: Rule) -> bool:
    """Whether the earlier rule applies to every claim the later one applies to."""
    if not earlier.named:
        if earlier.then is not Outcome.ALLOW or earlier.conditions.tools or earlier.conditions.servers:
            return True
        return (
            not later.named and later.then is Outcome.ALLOW and not (later.conditions.tools or later.conditions.servers)
        )
    if not later.named or not later.named <= earlier.named:
        return False
    # A deny leaves out what is carried; an escalate covers it only beside values of its roles; an allow covers it all.
    covering = {Outcome.DENY: 0, Outcome.ESCALATE: 1, Outcome.ALLOW: 2}
    return covering[later.then] <= covering[earlier.then]


def _asks_no_more(earlier: Rule, later: Rule) -> bool:
    """Whether every condition of the earlier rule follows from one of the later rule's."""
    mine, its = earlier.conditions, later.conditions
    same_polarity = (earlier.then is Outcome.ALLOW) == (later.then is Outcome.ALLOW)
    # "All of them" and "any of them" do not follow from each other; what an exception lifts, the later rule decides.
    if (_tests(mine) and not same_polarity) or not {*map(frozenset, mine.unless)} <= {*map(frozenset, its.unless)}:
        return False
    if mine.tools and not (its.tools and all(name_is_listed(name, mine.tools) for name in its.tools)):
        return False
    if mine.servers and not (its.servers and all(name_is_listed(name, mine.servers) for name in its.servers)):
        return False
    if mine.side_effects is not None and mine.side_effects != its.side_effects:
        return False
    if mine.roles and not (later.named and later.named <= mine.roles):
        return False
    if mine.paths and not (its.paths and _path_follows(mine.paths, its.paths)):
        return False
    if mine.domains and not (its.domains and _domain_follows(mine.domains, its.domains)):
        return False
    if not all(any(_list_follows(test, other) for other in its.lists) for test in mine.lists):
        return False
    return all(test in its.values for test in mine.values)


def _tests(conditions: Conditions) -> bool:
    return bool(conditions.paths or conditions.domains or conditions.lists or conditions.values or conditions.unless)


def _path_follows(mine: PathTest, its: PathTest) -> bool:
    inside = all(any(_is_inside(each, place) for place in mine.within) for each in its.within)
    return inside and its.roles == mine.roles


def _is_inside(place: str, outer: str) -> bool:
    return place == outer or place.startswith(outer.rstrip("/") + "/")


def _domain_follows(mine: DomainTest, its: DomainTest) -> bool:
    return its.names <= mine.names and its.suffixes <= mine.suffixes and its.roles == mine.roles


def _list_follows(mine: ListTest, its: ListTest) -> bool:
    return its.members <= mine.members and its.roles == mine.roles


def _tools(loaded: Loaded) -> Iterator[Finding]:
    for key, tool in loaded.policy.tools.items():
        name = f"{tool.server}/{tool.name}"
        schema = loaded.schemas[key]
        if tool.drifted:
            yield Finding("drifted", f"{name}: its definition does not match its pin")
        if not isinstance(schema, Schema):
            yield Finding("unusable", f"{name}: {schema}")
            continue
        missing = sorted(schema.leaves.keys() - {leaf.leaf for leaf in leaves_of(tool.arguments)})
        if missing:
            yield Finding("unannotated", f"{name}: {', '.join(missing)} cannot be used")


def _access(loaded: Loaded, tools: tuple[Tool, ...]) -> Iterator[Finding]:
    access = loaded.policy.access
    for layer in access.all_layers():
        for patterns in layer.lists:
            bare = [(name, name) for name in patterns.exact] + [(start, f"{start}*") for start in patterns.prefixes]
            for start, name in sorted(bare, key=lambda pair: pair[1]):
                fits = str.__eq__ if start == name else str.startswith
                servers = sorted({tool.server for tool in tools if fits(access.names.normal(tool.name), start)})
                if "/" not in name and len(servers) > 1:
                    message = f"{patterns.source}: {name} is a tool of {', '.join(servers)}; write server/{name}"
                    yield Finding("ambiguous", message)
