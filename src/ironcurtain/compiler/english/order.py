"""The order of the rules. What comes first decides, so what is stricter or more particular must come first.

    forbidden, asked, permitted in particular, asked in general, closed (all but some), permitted in general, the rest

A closing rule (`never outside Projects`) is written as: what it leaves alone first, then no. So permissions that reach
further than what it leaves alone are cut down to that, and stand before it only so far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.english.conditions import one_of, owner_and_name
from ironcurtain.compiler.english.cues import Mood
from ironcurtain.compiler.english.drafts import Draft, Rank
from ironcurtain.compiler.english.places import leaves_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.compiler.english.places import Place


_GUARDS: Final = (Rank.PERMITTED_AS_A_WHOLE, Rank.PERMITTED_IN_GENERAL_AS_A_WHOLE)


@dataclass(frozen=True, slots=True)
class Placed:
    """A draft, and the number of the sentence it comes from."""

    draft: Draft
    sentence: int


def ordered(drafts: Iterable[Placed]) -> list[Placed]:
    """All drafts in the order in which they are to be asked."""
    drafts = list(drafts)
    drafts += list(_asked_of_moves(drafts))
    closing = [p.draft for p in drafts if p.draft.rank is Rank.CLOSED]
    found: list[Placed] = []
    for placed in drafts:
        found += (Placed(draft, placed.sentence) for draft in _before(placed.draft, closing))
    once = {
        repr((p.sentence, p.draft.rank, p.draft.then, p.draft.elsewhere, p.draft.conditions())): p
        for p in _required(found)
    }
    return sorted(once.values(), key=lambda p: p.draft.rank)


def _asked_of_moves(drafts: Sequence[Placed]) -> Iterator[Placed]:
    """Where a move is permitted, and something else asks about it, it asks."""
    moves = [p.draft for p in drafts if p.draft.rank is Rank.MOVED and p.draft.then is Mood.PERMIT]
    for placed in drafts:
        asks = placed.draft
        if asks.then is not Mood.ASK or asks.elsewhere or asks.rank not in (Rank.ASKED, Rank.ASKED_IN_GENERAL):
            continue
        for move in moves:
            met = _both(move, asks)
            if met is not None:
                yield Placed(met, placed.sentence)


def _both(move: Draft, asks: Draft) -> Draft | None:
    """The part of a permitted move that a draft asks about."""
    if (asks.tools and not set(asks.tools) & set(move.tools)) or move.paths is None:
        return None
    roles, place = move.paths
    if asks.paths is not None:
        roles, other = roles & asks.paths[0], asks.paths[1]
        within = [a for a, b in ((other, place), (place, other)) if a == b or a.startswith(f"{b}/")]
        if not within:
            return None
        place = within[0]
    elif asks.roles:
        roles &= asks.roles
    if not roles:
        return None
    return replace(asks, rank=Rank.ASKED_OF_MOVES, tools=move.tools, roles=frozenset(), paths=(roles, place))


def _before(draft: Draft, closing: Sequence[Draft]) -> Iterator[Draft]:
    """A permission, cut down to what closing rules leave alone; what is left of it stands behind them."""
    if draft.then is not Mood.PERMIT or draft.rank is Rank.OWN:
        yield draft
        return
    reach = [rule for rule in closing if rule.exempt and _meets(draft, rule)]
    if not reach:
        yield draft
        return
    within = all(_is_within(draft, rule) for rule in reach)
    if within:
        yield replace(draft, rank=Rank.PERMITTED)
        return
    for place in (place for rule in reach for place in rule.exempt):
        cut = _cut(draft, place)
        if cut is not None:
            yield replace(cut, rank=Rank.PERMITTED)
    yield replace(draft, rank=max(draft.rank, Rank.PERMITTED_IN_GENERAL))


def _meets(permission: Draft, rule: Draft) -> bool:
    """Whether a permission and a closing rule may speak of the same call."""
    if rule.tools:
        return bool(set(rule.tools) & set(permission.tools))
    named = permission.roles | (permission.paths[0] if permission.paths else frozenset())
    return bool(named & rule.roles) or not rule.roles


def _is_within(permission: Draft, rule: Draft) -> bool:
    """Whether a permission reaches no further than what the rule leaves alone."""
    left = {
        kind: frozenset(_bare(value) for place in rule.exempt if place.kind == kind for value in place.values)
        for kind in ("path", "party", "host", "value")
    }
    if left["path"] and permission.paths:
        within = permission.paths[1]
        return any(within == value or within.startswith(f"{value}/") for value in left["path"])
    if left["party"] and permission.lists:
        return set(permission.lists[1]) <= left["party"]
    if left["host"] and permission.domains:
        return {_bare(name) for name in permission.domains[1]} <= left["host"]
    named = [set(predicate["in"]) for predicate in permission.values.values() if "in" in predicate]
    parts = left["value"] | frozenset(part for value in left["value"] for part in value.split("/"))
    return bool(left["value"]) and any(values <= parts for values in named)


def _bare(name: str) -> str:
    return name.removeprefix("*.").removeprefix("www.")


def _cut(permission: Draft, place: Place) -> Draft | None:
    """A permission, only as far as a place goes."""
    (tool,) = permission.tools or (None,)
    if tool is None or not place.values:
        return None
    if place.kind == "path" and not permission.paths:
        roles = frozenset(role for role in permission.roles if role.endswith("-path"))
        return replace(permission, paths=(roles, place.values[0]), roles=frozenset()) if roles else None
    if place.kind == "path" and permission.paths and place.values[0].startswith(f"{permission.paths[1]}/"):
        return replace(permission, paths=(permission.paths[0], place.values[0]))
    if place.kind == "value":
        pair = owner_and_name(tool, place)
        given = pair or {f"arg:{leaf}": place.values for leaf in leaves_for(tool, place)}
        free = {key: one_of(values) for key, values in given.items() if key not in permission.values}
        return replace(permission, values={**permission.values, **free}) if free else None
    people = frozenset(role for role in tool.all_roles if role in ("recipient", "attendee"))
    if place.kind == "party" and people and not permission.lists:
        return replace(permission, lists=(people, place.values), roles=permission.roles - people)
    return None


def _required(drafts: list[Placed]) -> list[Placed]:
    """Where a name decides about an argument, a permission must not rest on the argument being left out."""
    decided: dict[tuple[str, str], set[str]] = {}
    for placed in drafts:
        if placed.draft.then is not Mood.PERMIT and placed.draft.rank not in _GUARDS and placed.draft.sure:
            for tool in placed.draft.tools:
                decided.setdefault(tool.key, set()).update(key for key in placed.draft.values if key.startswith("arg:"))
    found = []
    for placed in drafts:
        draft = placed.draft
        if draft.then is Mood.PERMIT and len(draft.tools) == 1:
            (tool,) = draft.tools
            optional = {f"arg:{leaf}" for leaf in tool.texts - tool.required}
            told = any("in" in draft.values.get(key, {}) for key in decided.get(tool.key, ()))
            missing = set() if told else (decided.get(tool.key, set()) & optional) - set(draft.values)
            if missing:
                draft = replace(draft, values={**draft.values, **{key: {"maxLength": 100_000} for key in missing}})
        found.append(Placed(draft, placed.sentence))
    return found
