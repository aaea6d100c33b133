"""The tools as a person would speak of them: what each does, to what, on which server."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.arguments import arguments_of
from ironcurtain.compiler.annotate.effects import VERBS
from ironcurtain.compiler.annotate.modes import selector_of
from ironcurtain.compiler.annotate.text import clean, first_sentence, lexicon, singular, words_in, words_of
from ironcurtain.compiler.english.lexicon import HOLDS, READ, THINGS
from ironcurtain.model.roles import Category, Role, category

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.compiler.annotate.arguments import Argument

_VERBS: Final = frozenset(verb for verbs in VERBS.values() for verb in verbs)
_ALSO_NOUNS: Final = lexicon(
    """message comment email log status history query report script command draft record label tag link order post
        reply invite trash schema sample diff branch commit star file note search list"""
)
_FILLERS: Final = lexicon(
    "by all batch multiple for in from to of with and the a new my mcp tool api v1 v2 id ids name bulk full"
)
_CHOSEN: Final = lexicon("status state priority type kind visibility stage phase severity level action side direction")
"""What an argument is called that is one of a few words."""
_LISTED: Final = r"(?P<list>['\"]?[a-z][\w-]*['\"]?(?:\s*(?:,\s*or|,|/|\||\bor\b)\s*['\"]?[a-z][\w-]*['\"]?){1,14})"
_SQL: Final = lexicon("query sql statement")


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """One tool."""

    server: str
    name: str
    words: frozenset[str]
    """All words of its name."""
    nouns: frozenset[str]
    """What it is about, by its name: words, pairs of words, and what these stand for."""
    says: frozenset[str]
    """The words it describes itself with."""
    brand: frozenset[str]
    """What its server is called, by its key and by what the names of all its tools begin with."""
    effects: frozenset[str]
    roles: Mapping[str, frozenset[str]]
    """By leaf; without `none`."""
    leaves: Mapping[str, frozenset[str]]
    """The words of every argument."""
    required: frozenset[str]
    options: Mapping[str, frozenset[str]]
    """The words that an argument may be, where it may be only these."""
    texts: frozenset[str]
    """The arguments that may be strings."""
    sql: bool = False
    """It takes statements in SQL."""
    selector: str = ""
    modes: Mapping[str, frozenset[str]] | None = None
    """What each value of the selector makes of it."""

    @property
    def key(self) -> tuple[str, str]:
        """Server and name."""
        return self.server, self.name

    @property
    def all_roles(self) -> frozenset[str]:
        """Every role of any argument."""
        return frozenset(role for roles in self.roles.values() for role in roles)

    def of(self, *categories: Category) -> frozenset[str]:
        """Its roles of some categories."""
        return frozenset(role for role in self.all_roles if category(Role(role)) in categories)

    @property
    def statement(self) -> str:
        """The argument that is a statement in a query language, if there is one."""
        for leaf, roles in self.roles.items():
            if "command" in roles and self.leaves[leaf] & _SQL:
                return leaf
        return ""

    def holds(self, terms: frozenset[str]) -> bool:
        """Whether its name speaks of one of these, or of what they hold."""
        return bool(self.nouns & terms) or any(HOLDS.get(term, frozenset()) & self.nouns for term in terms)

    @property
    def edits(self) -> bool:
        """Whether it reads what it writes."""
        return any({"read-path", "write-path"} <= roles for roles in self.roles.values())

    @property
    def attaches(self) -> bool:
        """Whether it sends files along."""
        named = bool(self.words & {"attach", "attachment", "upload"}) and not self.effects & READ
        return "read-path" in self.all_roles and bool(
            named or self.effects & {"send", "share"} or self.of(Category.PARTY)
        )

    def leaves_for(self, terms: frozenset[str]) -> tuple[str, ...]:
        """The arguments that say which one is meant, of a sort of thing."""
        by_name = tuple(leaf for leaf, words in self.leaves.items() if words & terms)
        return by_name or tuple(leaf for leaf, roles in self.roles.items() if roles & terms)


def terms_of(word: str) -> frozenset[str]:
    """A noun and what it may stand for."""
    return frozenset({word, singular(word)}) | THINGS.get(word, frozenset())


def surfaces_of(server: str, tools: Iterable[Mapping[str, Any]]) -> list[Surface]:
    """The tools of one server, from their annotations (`toolName`, `effects`, `args`, `definition`)."""
    tools = list(tools)
    names = [words_of(str(tool["toolName"])) for tool in tools]
    firsts = Counter(words[0] for words in names if words)
    prefix = next(
        (word for word, n in firsts.items() if len(names) > 2 and n >= 0.8 * len(names) and word not in _VERBS), ""
    )
    starts = Counter(re.split(r"[^a-z0-9]+", str(tool["toolName"]).lower())[0] for tool in tools)
    common = {start for start, n in starts.items() if len(tools) > 2 and n >= 0.8 * len(tools) and start not in _VERBS}
    brand = frozenset({server.lower(), *re.split(r"[^a-z0-9]+", server.lower()), *common})
    return [_surface(server, tool, words, brand, prefix) for tool, words in zip(tools, names, strict=True)]


def _surface(
    server: str, tool: Mapping[str, Any], words: tuple[str, ...], brand: frozenset[str], prefix: str
) -> Surface:
    definition = tool["definition"]
    arguments = arguments_of(definition)
    says = clean(definition.get("description"))
    own = words[1:] if prefix and words[:1] == (prefix,) else words
    nouns = [
        w
        for i, w in enumerate(own)
        if (w not in _VERBS or (w in _ALSO_NOUNS and (i or len(own) == 1))) and w not in _FILLERS
    ]
    if "describe" in own and any("table" in THINGS.get(noun, ()) for noun in nouns):
        nouns.append("schema")
    if own[:1] == ("draft",):
        nouns.append("draft")  # `draft_email` makes one
    pairs = [f"{a}_{b}" for a, b in pairwise(own)]
    selector = selector_of(arguments.values(), says)
    roles = {leaf: found for leaf, entry in tool["args"].items() if (found := _roles(entry))}
    leaves = {leaf: _words(argument) for leaf, argument in arguments.items()}
    if any("command" in found and leaves[leaf] & _SQL for leaf, found in roles.items()):
        nouns += ["database", "table", "row", "query"]  # whatever a statement can be about
    mail = any("email" in THINGS.get(word, ()) for word in (*brand, *words_in(first_sentence(says))))
    if mail and any(THINGS.get(noun, frozenset()) & {"message", "draft"} for noun in nouns):
        nouns += ["email"]  # what a mail server calls a message
    return Surface(
        server=server,
        name=str(tool["toolName"]),
        words=frozenset(words),
        nouns=frozenset(term for noun in (*nouns, *(p for p in pairs if p in THINGS)) for term in terms_of(noun)),
        says=frozenset(term for word in words_in(first_sentence(says)) for term in terms_of(word)),
        brand=brand,
        effects=frozenset(tool["effects"]),
        roles=roles,
        leaves=leaves,
        required=frozenset(leaf for leaf, argument in arguments.items() if argument.required),
        options={leaf: found for leaf, argument in arguments.items() if (found := _options(argument, says))},
        texts=frozenset(
            leaf
            for leaf, argument in arguments.items()
            if not argument.types or "string" in argument.types or argument.several
        ),
        sql=any(isinstance(entry, dict) and "language" in entry for entry in tool["args"].values()),
        selector=selector.leaf if selector else "",
        modes=dict(selector.effects) if selector else None,
    )


def _options(argument: Argument, says: str) -> frozenset[str]:
    """The words that an argument may be: by its schema, or as its description or the tool's lists them."""
    if argument.enum:
        return frozenset(value for value in argument.enum if isinstance(value, str))
    if "string" not in argument.types or argument.name.lower() not in _CHOSEN:
        return frozenset()
    named = rf"\b{re.escape(argument.name.lower())}(?:es|s)?\b[^.;:]{{0,30}}?[:(=]\s*"
    told = re.search(named + _LISTED, says.lower())
    told = told or re.search(r"(?:^|[:(]\s*|one of\s+)" + _LISTED, argument.says.lower())
    return frozenset(re.findall(r"(?!or\b)[a-z][\w-]*", told.group("list"))) if told else frozenset()


def _roles(entry: Any) -> frozenset[str]:  # noqa: ANN401 - one meaning, or one for each mode
    entries = entry if isinstance(entry, list) else [entry]
    return frozenset(role for each in entries for role in each["roles"]) - {"none"}


def _words(argument: Argument) -> frozenset[str]:
    words = argument.words
    pairs = (f"{a}_{b}" for a, b in pairwise(words))
    return frozenset(term for word in (*words, *pairs) for term in terms_of(word)) - {"id", "name"}
