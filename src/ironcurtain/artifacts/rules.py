"""Rules, from JSON. Everything in a condition is brought into the same canonical form as the values of a call."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from ironcurtain.engine.chain import name_is_listed
from ironcurtain.engine.pattern import PatternError, compile_pattern
from ironcurtain.errors import Refusal, quote
from ironcurtain.model.decision import Outcome
from ironcurtain.model.policy import (
    Conditions,
    DomainTest,
    ListTest,
    PathTest,
    Rule,
    TaskPolicy,
    ValueTest,
    leaves_of,
    member_of,
)
from ironcurtain.model.resolved import Opaque
from ironcurtain.model.roles import NONE, Category, Role, category, vocabulary
from ironcurtain.resolve.hosts import resolve_host
from ironcurtain.resolve.parties import resolve_parties
from ironcurtain.resolve.places import resolve_place
from ironcurtain.resolve.urls import resolve_url

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ironcurtain.artifacts.item import Item
    from ironcurtain.artifacts.lists import NamedList
    from ironcurtain.engine.conditions import Test
    from ironcurtain.engine.pattern import Pattern
    from ironcurtain.model.policy import Shape, Tool
    from ironcurtain.model.resolved import Scalar
    from ironcurtain.resolve.paths import PathResolver

MAX_RULES: Final = 100_000
MAX_TASK_RULES: Final = 500  # it comes with a call, and is compiled for it
OUTCOMES: Final = {outcome.word: outcome for outcome in (Outcome.ALLOW, Outcome.DENY, Outcome.ESCALATE)}

_CONDITIONS: Final = (
    "server", "tool", "sideEffects", "roles", "paths", "domains", "lists", "values", "origin", "assess", "unless",
)  # fmt: skip
_EXCEPTIONS: Final = ("paths", "domains", "lists", "values")
_REWRITTEN: Final = frozenset({Category.PATH, Category.URL, Category.PARTY, Category.PLACE, Category.OTHER})
_WITH_HOSTS: Final = (Category.URL, Category.PARTY, Category.PLACE)
_ROLE: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_SLIP: Final = 0.85  # how alike two roles are, of 1, when one is taken for a slip of the other
_K = TypeVar("_K")
_COUNTS: Final = ("minItems", "maxItems")
_PREDICATES: Final = ("equals", "in", "matches", "minimum", "maximum", "maxLength", "minItems", "maxItems", "given")


def names_elements(name: str, leaves: Collection[str]) -> bool:
    """Return whether a name that no leaf has stands for the elements of a list, which are counted by it: `files[]`."""
    return name.endswith("[]") and name not in leaves and any(f == name[:-2] or f.startswith(name) for f in leaves)


@dataclass(frozen=True, slots=True)
class Forms:
    """How the annotated tools resolve the values of a role or a leaf: a literal must take the same form."""

    by_role: Mapping[Role, frozenset[Category]]
    by_leaf: Mapping[str, frozenset[Category]]
    free: Mapping[str, Shape] = field(default_factory=dict)
    """The leaves whose members may be named."""

    def of_leaf(self, name: str) -> frozenset[Category] | None:
        """Return how the values of a leaf, or of a member of a free one, are resolved; nothing if there is none."""
        above = None if name in self.by_leaf else member_of(name, self.free.values())
        return self.by_leaf.get(above.leaf if above else name)

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> Forms:
        """Look through every leaf of every tool."""
        by_role: dict[Role, set[Category]] = {}
        by_leaf: dict[str, set[Category]] = {}
        free: dict[str, Shape] = {}
        for tool in tools:
            for shape in leaves_of(tool.arguments):
                roles = {role for mode in shape.modes for role in mode.roles}
                kinds = {category(role) for role in roles}
                by_leaf.setdefault(shape.leaf, set()).update(kinds)
                free |= {shape.leaf: shape} if shape.free else {}
                for role in roles:
                    by_role.setdefault(role, {category(role)}).update(kinds & _REWRITTEN)
        return cls(
            {role: frozenset(kinds) for role, kinds in by_role.items()},
            {leaf: frozenset(kinds) for leaf, kinds in by_leaf.items()},
            free,
        )


@dataclass(frozen=True, slots=True)
class RuleReader:
    """Reads rules that may refer to these lists."""

    paths: PathResolver
    lists: Mapping[str, NamedList]
    forms: Forms
    tools: Sequence[Tool] = ()
    """What an `origin` may speak of."""

    def rules(self, item: Item) -> tuple[Rule, ...]:
        """A chain of rules with different names."""
        elements = item.elements()
        if len(elements) > MAX_RULES:
            item.fail(f"more than {MAX_RULES} rules", "split or generalise them")
        seen: set[str] = set()
        rules = []
        for element in elements:
            rule = self.rule(element)
            if rule.name in seen:
                element.fail(f"a second rule named {quote(rule.name)}", "give every rule its own name")
            seen.add(rule.name)
            rules.append(rule)
        return tuple(rules)

    def rule(self, item: Item) -> Rule:
        """One rule."""
        members = item.members(("name", "if", "then"), ("description", "principle", "reason", "elsewhere", "joined"))
        then = OUTCOMES[members["then"].word(OUTCOMES)]
        conditions = self._conditions(members["if"], then)
        elsewhere = "elsewhere" in members and members["elsewhere"].flag()
        if elsewhere and then is not Outcome.ESCALATE:
            members["elsewhere"].fail("only an escalate can be limited to elsewhere", "leave it out")
        joined = "joined" in members and members["joined"].flag()
        if joined and then is not Outcome.ESCALATE:
            members["joined"].fail("only an escalate can be joined to what follows", "leave it out")
        if then is Outcome.ALLOW and not set(members["if"].entries()) - {"unless"}:
            members["if"].fail("an allow without any condition", 'say what is allowed, for example {"tool": ["..."]}')
        return Rule(
            name=members["name"].text(),
            conditions=conditions,
            then=then,
            elsewhere=elsewhere,
            joined=joined,
            description=members["description"].text(blank=True) if "description" in members else "",
            principle=members["principle"].text(blank=True) if "principle" in members else "",
            reason=members["reason"].text(blank=True) if "reason" in members else "",
            named=_named(conditions),
        )

    def _conditions(self, item: Item, then: Outcome) -> Conditions:
        members = item.members((), _CONDITIONS)
        if "assess" in members and then is Outcome.ALLOW:
            members["assess"].fail("an allow cannot rest on an assessment", "use it in a deny or escalate rule")
        origin = members["origin"].members(("roles", "from")) if "origin" in members else None
        return Conditions(
            servers=_names(members["server"]) if "server" in members else (),
            tools=_names(members["tool"]) if "tool" in members else (),
            side_effects=members["sideEffects"].flag() if "sideEffects" in members else None,
            roles=self._roles(members["roles"]) if "roles" in members else frozenset(),
            paths=self._path_test(members["paths"]) if "paths" in members else None,
            domains=self._domain_test(members["domains"]) if "domains" in members else None,
            lists=tuple(map(self._list_test, members["lists"].elements(least=1))) if "lists" in members else (),
            values=self._value_tests(members["values"], allowing=then is Outcome.ALLOW) if "values" in members else (),
            origin_roles=_roles(origin["roles"]) if origin else frozenset(),
            sources=self._sources(origin["from"]) if origin else None,
            question=members["assess"].members(("question",))["question"].text() if "assess" in members else None,
            unless=tuple(self._exception(each, then) for each in members["unless"].elements(least=1))
            if "unless" in members
            else (),
        )

    def _exception(self, item: Item, then: Outcome) -> tuple[Test, ...]:
        """One group of an `unless`: conditions on values only, read with the opposite polarity."""
        members = item.members((), _EXCEPTIONS)
        if not members:
            item.fail("an empty exception", f"name one of {', '.join(_EXCEPTIONS)}")
        tests: list[Test] = []
        if "paths" in members:
            tests.append(self._path_test(members["paths"]))
        if "domains" in members:
            tests.append(self._domain_test(members["domains"]))
        if "lists" in members:
            tests += map(self._list_test, members["lists"].elements(least=1))
        if "values" in members:
            tests += self._value_tests(members["values"], allowing=then is not Outcome.ALLOW)
        return tuple(tests)

    def _sources(self, item: Item) -> frozenset[str] | None:
        """The tools that are meant; nothing if a word means something else, or no tool that there is."""
        words = [each.text() for each in (item.elements(least=1) if isinstance(item.value, list) else (item,))]
        meant = [frozenset(f"{tool.server}/{tool.name}" for tool in self.tools if _is_source(tool, w)) for w in words]
        return frozenset().union(*meant) if all(meant) else None

    def _path_test(self, item: Item) -> PathTest:
        members = item.members(("roles", "within"))
        several = isinstance(members["within"].value, list)
        directories = members["within"].elements(least=1) if several else (members["within"],)
        roles = self._roles(members["roles"])
        if any(category(role) is not Category.PATH for role in roles):
            members["roles"].fail(
                "only path roles can be within a directory", "name read-path, write-path, delete-path"
            )
        return PathTest(roles, tuple(dict.fromkeys(map(self._directory, directories))))

    def _directory(self, item: Item) -> str:
        within = item.text()
        if not within.startswith(("/", "~/")) and within != "~":
            item.fail(f"a relative directory: {quote(within)}", "write it from / or from ~/")
        try:
            return self.paths.resolve(within, None).text
        except Refusal as refusal:
            item.fail(refusal.reason, refusal.help or "write the plain path of a directory")

    def _domain_test(self, item: Item) -> DomainTest:
        members = item.members(("roles", "allowed"))
        if any(category(role) not in _WITH_HOSTS for role in _roles(members["roles"])):
            members["roles"].fail(
                "only urls, parties and places have a host", "name fetch-url, send-url, recipient ..."
            )
        names: set[str] = set()
        suffixes: set[str] = set()
        literal: set[str] = set()
        for element in members["allowed"].elements(least=1):
            for below, host in self._members(element, _host):
                (suffixes if below else names).add(host)
                if not below and not str(element.value).startswith("@"):
                    literal.add(host)
        return DomainTest(self._roles(members["roles"]), frozenset(names), frozenset(suffixes), frozenset(literal))

    def _list_test(self, item: Item) -> ListTest:
        members = item.members(("roles", "allowed"))
        roles = self._roles(members["roles"])

        def keys(entry: Scalar, element: Item) -> set[tuple[type, Scalar]]:
            return {
                key
                for role in roles
                for key in self._keys(entry, {category(role)}, self.forms.by_role.get(role, frozenset()), element)
            }

        elements = members["allowed"].elements(least=1)
        return ListTest(roles, frozenset(key for element in elements for key in self._members(element, keys)))

    def _value_tests(self, item: Item, *, allowing: bool) -> tuple[ValueTest, ...]:
        tests = []
        for key, predicate in item.entries().items():
            kind, colon, name = key.partition(":")
            if kind not in ("arg", "role") or not colon or not name:
                predicate.fail(f"{quote(key)} names nothing", "write arg:NAME or role:NAME")
            names = name.split("+") if kind == "role" else ()
            roles = frozenset(require_role(each, predicate) for each in names)
            for role in sorted(roles):
                self._require_no_slip(role, predicate)
            if kind == "arg" and names_elements(name, self.forms.by_leaf):
                predicate.members((), _COUNTS)  # an element has no value of its own
            elif kind == "arg" and self.forms.of_leaf(name) is None:
                near = difflib.get_close_matches(name, self.forms.by_leaf, 1)
                hint = f"did you mean arg:{near[0]}?" if near else "name an argument as the annotations do"
                predicate.fail(f"no annotated tool has the argument {quote(name)}", hint)
            tests.append(self._value_test(predicate, roles, name, allowing=allowing))
        if not tests:
            item.fail("no value is named", "leave the key out, or write arg:NAME or role:NAME")
        return tuple(tests)

    def _value_test(self, item: Item, roles: frozenset[Role], name: str, *, allowing: bool) -> ValueTest:
        members = item.members((), _PREDICATES)
        if not members:
            item.fail("an empty predicate", f"use one of {', '.join(_PREDICATES)}")
        wanted = [[members["equals"]]] if "equals" in members else []
        wanted += [members["in"].elements(least=1)] if "in" in members else []
        own = {category(role) for role in roles}
        every = [self.forms.by_role.get(role, frozenset()) for role in roles]
        every = every or [self.forms.of_leaf(name) or frozenset()]
        forms = frozenset[Category]().union(*every)
        sets = [
            {key for entry in entries for key in self._keys(entry.scalar(), own, forms, entry)} for entries in wanted
        ]
        patterns = tuple(self._patterns(members["matches"], allowing=allowing)) if "matches" in members else ()
        numbers = {key: members[key].number() for key in ("minimum", "maximum") if key in members}
        counts = {key: members[key].count() for key in ("maxLength", "minItems", "maxItems") if key in members}
        if "given" in members and not members["given"].flag():
            members["given"].fail("only true can be asked", "leave it out, or write it in an unless")
        least, most = numbers.get("minimum"), numbers.get("maximum")
        if (least is not None and most is not None and least > most) or (
            counts.get("minItems", 0) > counts.get("maxItems", counts.get("minItems", 0))
        ):
            item.fail("the lower bound is above the upper one, so this can never hold", "swap them")
        if sets and not set.intersection(*sets):
            item.fail("equals and in have nothing in common, so this can never hold", "keep one of the two")
        return ValueTest(
            roles=roles,
            leaf=None if roles else name,
            equals=tuple(set.intersection(*sets)) if sets else None,
            matches=tuple(pattern.fullmatch for pattern in patterns),
            patterns=tuple(pattern.source for pattern in patterns),
            minimum=least,
            maximum=most,
            max_length=counts.get("maxLength"),
            min_items=counts.get("minItems"),
            max_items=counts.get("maxItems"),
            given="given" in members,
        )

    def _patterns(self, item: Item, *, allowing: bool) -> Iterator[Pattern]:
        """Compile one pattern, or each of a list of patterns that all must match."""
        for each in item.elements(least=1) if isinstance(item.value, list) else [item]:
            try:
                # In a deny or escalate a dot spans lines, so that a line break hides nothing.
                yield compile_pattern(each.text(), dot_spans_lines=not allowing)
            except PatternError as error:
                each.fail(f"a regular expression we do not know: {error}", "see docs/formats.md")

    def _members(self, element: Item, keys: Callable[[Scalar, Item], set[_K]]) -> set[_K]:
        """The keys of a literal entry, or of the members of the list it refers to, less what was removed from it."""
        entry = element.scalar()
        if not isinstance(entry, str) or not entry.startswith("@"):
            return keys(entry, element)
        if entry[1:] not in self.lists:
            known = ", ".join("@" + name for name in sorted(self.lists)) or "none"
            element.fail(f"there is no list {entry}", f"add it under lists; known: {known}")
        named = self.lists[entry[1:]]
        gone = {key for value in named.removed for key in keys(value, element)}
        kept = (keys(value, element) for value in named.values)
        return {key for of_one in kept if gone.isdisjoint(of_one) for key in of_one}

    def _roles(self, item: Item) -> frozenset[Role]:
        roles = _roles(item)
        for role in sorted(roles):
            self._require_no_slip(role, item)
        return roles

    def _require_no_slip(self, role: Role, item: Item) -> None:
        """Anybody may invent a role; one that no tool has and that is nearly another is a slip of the pen."""
        known = {*vocabulary(), *self.forms.by_role}
        near = [] if role in known else difflib.get_close_matches(role, sorted(known), 1, _SLIP)
        if near:
            item.fail(f"no tool has the role {quote(role)}", f"did you mean {near[0]!r}?")

    def _keys(
        self, entry: Scalar, own: set[Category], forms: frozenset[Category], item: Item
    ) -> Iterable[tuple[type, Scalar]]:
        """A literal in every form that values have once they are resolved; it must be possible in its own."""
        if entry is None:
            item.fail("null is no value: an argument that is null counts as left out", "name a value")
        if not isinstance(entry, str):
            return [(type(entry), entry)]
        keys: list[tuple[type, Scalar]] = [(str, entry)]
        for kind in forms | own:
            try:
                keys.append((str, self._canonical(entry, kind)))
            except Refusal as refusal:
                if kind in own:
                    item.fail(f"{quote(entry)} can never be a value here: {refusal.reason}", "correct or remove it")
        return keys

    def _canonical(self, entry: str, kind: Category) -> str:
        if kind is Category.PATH:
            return self.paths.resolve(entry, None).text
        if kind is Category.URL:
            return resolve_url(entry).text
        if kind is Category.PARTY:
            parties = resolve_parties(entry)
            if isinstance(parties, Opaque) or len(parties) != 1:
                raise Refusal("value_spelling", "it is not one address or name")
            return parties[0].text
        if kind is Category.PLACE:
            return str(resolve_place(entry))
        return entry.strip() if kind is Category.OTHER else entry


def _host(entry: Scalar, item: Item) -> set[tuple[bool, str]]:
    """A host name, and whether what is below it is meant."""
    if not isinstance(entry, str):
        item.fail(f"a host name is expected, not {quote(entry)}", "write example.com or *.example.com")
    below = entry.startswith("*.")
    try:
        return {(below, resolve_host(entry[2:] if below else entry).host)}
    except Refusal as refusal:
        item.fail(refusal.reason, "write example.com or *.example.com")


def read_task(item: Item, reader: RuleReader) -> TaskPolicy:
    """A task policy: rules in the same language, with an end."""
    members = item.members(("version", "task", "expiresAt", "rules"))
    if members["version"].count(least=1) != 1:
        members["version"].fail("a version this program does not know", "write 1")
    if len(members["rules"].elements()) > MAX_TASK_RULES:
        members["rules"].fail(f"more than {MAX_TASK_RULES} rules for one task", "generalise them")
    return TaskPolicy(members["task"].text(), members["expiresAt"].time(), reader.rules(members["rules"]))


def _names(item: Item) -> tuple[str, ...]:
    return tuple(element.text() for element in item.elements(least=1))


def _roles(item: Item) -> frozenset[Role]:
    return frozenset(require_role(element.text(), item) for element in item.elements(least=1))


def require_role(name: str, item: Item) -> Role:
    """A role as rules may name it."""
    if name == NONE or not _ROLE.fullmatch(name):
        item.fail(f"{quote(name)} is not a role", "roles are lower case, for example read-path")
    return Role(name)


def _is_source(tool: Tool, word: str) -> bool:
    """`result` is any tool, `role:R` one that has the role; otherwise a server, or `server/tool`, with stars."""
    if word == "result":
        return True
    kind, colon, role = word.partition(":")
    if colon:
        return kind == "role" and role in tool.roles
    server, slash, name = word.partition("/")
    return name_is_listed(tool.server, [server]) and (not slash or name_is_listed(tool.name, [name]))


def _named(conditions: Conditions) -> frozenset[Role]:
    """The roles a rule names, in any of its keys."""
    return frozenset(
        {
            *conditions.roles,
            *(conditions.paths.roles if conditions.paths else ()),
            *(conditions.domains.roles if conditions.domains else ()),
            *(role for test in conditions.lists for role in test.roles),
            *(role for test in conditions.values for role in test.roles),
            *conditions.origin_roles,
        }
    )
