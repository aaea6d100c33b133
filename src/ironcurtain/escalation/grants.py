"""A person's yes to more than one call.

Rules kept here:

1. A grant answers a question that would be asked. A call that is denied is never shown to it.
2. It is for one principal, one tool, the rules that asked, and one policy. Another rule asks again.
3. It is never wider than what the person saw: the arguments of a later call, however deep, are the same ones with the
   same roles, and each value is within the bound that was shown for it, or was shown as free. What selects between
   meanings of other arguments stays as it was.
4. It is counted, it ends by the machine's clock, and it ends with the process.
"""

from __future__ import annotations

import json
import posixpath
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from ironcurtain.errors import Refusal
from ironcurtain.model.policy import leaves_of as shapes_of
from ironcurtain.model.resolved import CanonicalPath, CanonicalUrl, Opaque, Unknown
from ironcurtain.model.roles import FETCH_URL, READ_PATH, WRITE_PATH, is_carried

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ironcurtain.mediation.effects import AskHuman
    from ironcurtain.model.call import CanonicalCall, Json, RoleValue
    from ironcurtain.model.policy import Tool
    from ironcurtain.model.resolved import Value
    from ironcurtain.model.roles import Role

MOST_GRANTS: Final = 100
_CONTENT: Final = "outbound-content"


@dataclass(frozen=True, slots=True)
class Bound:
    """Where the values of a role must lie."""

    leaf: str
    """The argument it is about."""
    role: Role
    kind: str
    """`inside` a directory, at an `origin`, `up to` an amount, or `exactly` this."""
    text: str

    def admits(self, value: Value) -> bool:
        """Whether a value lies within."""
        if self.kind == "inside":
            return isinstance(value, CanonicalPath) and value.within(self.text)
        if self.kind == "origin":
            return isinstance(value, CanonicalUrl) and origin_of(value) == self.text
        if self.kind == "up to":
            return (
                not isinstance(value, bool)
                and isinstance(value, (int, float))
                and 0 <= Decimal(str(value)) <= Decimal(self.text)
            )
        return not isinstance(value, (Unknown, Opaque)) and _typed(value) == self.text

    def __str__(self) -> str:
        where = {"inside": "anywhere in", "origin": "anything at", "up to": "up to"}.get(self.kind, "")
        return f"{self.leaf} ({self.role}): {where} {self.text}" if where else f"{self.leaf} ({self.role}): {self.text}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """Calls that a person says yes to at once."""

    bounds: tuple[Bound, ...]
    free: tuple[str, ...]
    """Arguments that may be anything, as long as nothing new comes with them."""

    selected: Mapping[str, str] = field(default_factory=dict)
    """Arguments that select between meanings of others, as they were."""

    def admits(self, call: CanonicalCall) -> bool:
        """Whether a call lies within what was shown."""
        bounded = {(bound.leaf, bound.role) for bound in self.bounds}
        given = leaves_of(call.arguments) - set(self.free) - self.selected.keys()
        if given != {leaf for leaf, _ in bounded} or _selected(call, self.selected) != self.selected:
            return False
        named = [item for item in call.values if item.role != _CONTENT]
        if {(item.leaf, item.role) for item in named} != bounded:
            return False
        return all(item.leaf in self.free for item in call.values if item.role == _CONTENT) and all(
            any(bound.admits(item.value) for bound in self.bounds if (bound.leaf, bound.role) == (item.leaf, item.role))
            for item in named
        )

    def shown(self) -> list[str]:
        """In words, all of it."""
        selected = (f"{name}: {text}" for name, text in self.selected.items())
        return [*map(str, self.bounds), *selected, *(f"{name}: anything" for name in self.free)]


def selectors_of(tool: Tool) -> frozenset[str]:
    """The arguments that select what others mean, however deep."""
    return frozenset(
        f"{above}.{name}" if above else name
        for shape in shapes_of(tool.arguments)
        for above in (shape.leaf.rpartition(".")[0],)
        for mode in shape.modes
        for name, _ in mode.when
    )


def _selected(call: CanonicalCall, names: Iterable[str]) -> dict[str, str]:
    return {name: json.dumps(_values_at(call.arguments, name), sort_keys=True)[1:-1] for name in sorted(names)}


def _values_at(value: Json, leaf: str) -> list[Json]:
    """All that stands at a leaf, in order: `list[].child`."""
    if not leaf:
        return [value]
    name, _, rest = leaf.partition(".")
    here = value.get(name.removesuffix("[]")) if isinstance(value, dict) else None
    items = here if name.endswith("[]") and isinstance(here, list) else [here]
    return [found for item in items for found in _values_at(item, rest)]


def pattern_for(
    call: CanonicalCall, is_directory: Callable[[str], bool], selectors: frozenset[str] = frozenset()
) -> Pattern | None:
    """What a person could say yes to besides exactly this call; nothing if there is nothing to build it from."""
    named = [item for item in call.values if item.role != _CONTENT]
    if not any(not is_carried(item.role) for item in named):
        return None  # it touches nothing that we know of: any bound would be no bound
    if any(isinstance(item.value, (Unknown, Opaque)) for item in named):
        return None
    bounds = tuple(dict.fromkeys(_bound(item, is_directory) for item in named))
    free = tuple(sorted(leaves_of(call.arguments) - {item.leaf for item in named} - selectors))
    if not free and all(bound.kind == "exactly" for bound in bounds):
        return None
    return Pattern(bounds, free, _selected(call, selectors - {item.leaf for item in named}))


def _bound(item: RoleValue, is_directory: Callable[[str], bool]) -> Bound:
    value = item.value
    if isinstance(value, CanonicalPath) and item.role in (READ_PATH, WRITE_PATH):
        directory = value.text if is_directory(value.text) else posixpath.dirname(value.text)
        return Bound(item.leaf, item.role, "inside", directory)
    if isinstance(value, CanonicalUrl) and item.role == FETCH_URL:
        return Bound(item.leaf, item.role, "origin", origin_of(value))
    if item.role == "amount" and not isinstance(value, bool) and isinstance(value, (int, float)) and value >= 0:
        return Bound(item.leaf, item.role, "up to", str(value))
    return Bound(item.leaf, item.role, "exactly", _typed(value))


def leaves_of(value: Json, name: str = "") -> set[str]:
    """The names of all arguments, however deep, as annotations write them: `list[].child`."""
    if isinstance(value, dict) and (value or not name):
        return {leaf for key, item in value.items() for leaf in leaves_of(item, f"{name}.{key}" if name else key)}
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        return {leaf for item in value for leaf in leaves_of(item, f"{name}[]")}
    return {name}


def _typed(value: Value) -> str:
    """A value with its type, so that `1` and `"1"` are two."""
    return str(value) if not isinstance(value, (bool, int, float)) else f"{type(value).__name__} {value}"


def origin_of(url: CanonicalUrl) -> str:
    """Scheme, host and port."""
    scheme, _, rest = url.text.partition("://")
    end = min((index for index in map(rest.find, "/?#") if index >= 0), default=len(rest))
    return f"{scheme}://{rest[:end]}"


@dataclass(slots=True)
class Grant:
    """A yes that is still good for some calls."""

    id: str
    question: AskHuman = field(repr=False)
    approver: str
    left: int
    expires: float
    """By the machine's clock."""
    session: str | None = None
    """Only in this session."""
    pattern: Pattern | None = None
    """These calls; if there is none, exactly the call that was asked about."""

    def covers(self, asked: AskHuman, session: str, now: float) -> bool:
        """Whether it answers this question."""
        mine = self.question
        if self.left <= 0 or now >= self.expires or self.session not in (None, session):
            return False
        if asked.prepared.policy_digest != mine.prepared.policy_digest or _subject(asked) != _subject(mine):
            return False
        if not askers(asked) <= askers(mine):
            return False
        if self.pattern is None:
            return asked.digest == mine.digest
        return self.pattern.admits(asked.prepared.call)


def _subject(asked: AskHuman) -> object:
    call = asked.prepared.call
    return call.server, call.tool, call.principal


def askers(asked: AskHuman) -> frozenset[tuple[str, str | None]]:
    """Everything that asks about a call: rules, invariants, a loop."""
    verdicts = ((each.code, each.rule) for each in asked.asking)
    return frozenset(((asked.decision.code, asked.decision.rule), *verdicts))


class Grants:
    """All grants of a home."""

    def __init__(self) -> None:
        self._grants: dict[str, Grant] = {}
        self._next = 0

    def next_id(self) -> str:
        """A name for a new one."""
        self._next += 1
        return f"g{self._next}"

    def add(self, grant: Grant, now: float) -> None:
        """Keep a grant."""
        self._grants = {id_: each for id_, each in self._grants.items() if each.left > 0 and now < each.expires}
        if len(self._grants) >= MOST_GRANTS:
            raise Refusal("grant_flood", f"there are {MOST_GRANTS} grants", "run: ironcurtain approvals grants")
        self._grants[grant.id] = grant

    def use(self, asked: AskHuman, session: str, now: float) -> Grant | None:
        """The grant that answers this question, used once."""
        for grant in self._grants.values():
            if grant.covers(asked, session, now):
                grant.left -= 1
                return grant
        return None

    def all(self, now: float) -> list[Grant]:
        """Those that are still good."""
        return [grant for grant in self._grants.values() if grant.left > 0 and now < grant.expires]

    def revoke(self, id_: str) -> Grant:
        """Take one back."""
        if id_ not in self._grants:
            raise Refusal("grant_unknown", f"there is no grant {id_!r}", "run: ironcurtain approvals grants")
        return self._grants.pop(id_)

    def end_session(self, session: str) -> None:
        """A session is over, and what was granted for it."""
        self._grants = {id_: grant for id_, grant in self._grants.items() if grant.session != session}


def may_widen(asked: AskHuman) -> bool:
    """Whether a question may be answered for more than one call: rules asked it, not an invariant or a loop."""
    return {code for code, _ in askers(asked)} == {"rule_escalate"}
