"""The annotated tools as statements speak of them: what each might do, to what, and what its arguments can be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.acts import acts_of_words
from ironcurtain.compiler.annotate.arguments import arguments_of
from ironcurtain.compiler.annotate.might import might
from ironcurtain.compiler.annotate.text import clean, first_sentence, singular, words_of
from ironcurtain.compiler.annotate.things import around, loose_things, things
from ironcurtain.model.roles import Category, Role, category

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.compiler.annotate.might import Might
    from ironcurtain.compiler.annotate.things import Around

RESOURCES: Final = (Category.PATH, Category.URL, Category.PARTY, Category.PLACE, Category.OTHER)
_NOT_GIVEN: Final = object()


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool, as far as statements can speak of it."""

    leaf: str
    words: tuple[str, ...]
    roles: frozenset[str]
    """Without `none`."""
    required: bool
    choices: tuple[Any, ...]
    default: Any
    types: frozenset[str]
    says: str
    sql: bool = False
    """It is a statement in SQL."""
    absent_unknown: bool = False
    """Leaving it out means that the server picks something."""
    free: bool = False
    """It is an object whose members its schema does not describe."""
    alone: bool = False
    """An object or a text may stand there by itself, and not only in a list."""
    unclear: bool = False
    """Nothing is known of it: it might be a file, an address or a command."""

    @property
    def name(self) -> str:
        """Its own name, without the objects and lists around it."""
        return self.leaf.rpartition(".")[2].rstrip("[]")

    @property
    def has_default(self) -> bool:
        """Whether the schema fills it in where it is left out."""
        return self.default is not _NOT_GIVEN

    @property
    def is_flag(self) -> bool:
        """Whether it is true or false."""
        return "boolean" in self.types

    def has(self, *categories: Category) -> bool:
        """Whether it has a role of one of these categories."""
        return any(category(Role(role)) in categories for role in self.roles)


@dataclass(frozen=True, eq=False)
class Tool:
    """One annotated tool."""

    server: str
    name: str
    arguments: Mapping[str, Argument]
    might: Might
    things: tuple[str, ...]
    loose_things: frozenset[str]
    comment: str
    side_effects: bool = True
    """Whether it changes or discloses anything; one that does not only tells about its own server."""
    around: frozenset[str] = frozenset()
    """What its server may be about: mail, chat, files and the like."""

    @property
    def key(self) -> str:
        """Server and name, as statements write them."""
        return f"{self.server}/{self.name}"

    @cached_property
    def roles(self) -> frozenset[str]:
        """Every role of any argument."""
        return frozenset(role for argument in self.arguments.values() for role in argument.roles)

    def argument(self, name: str) -> Argument | None:
        """Return the argument of a name: as it is, by its last name where that is one only, or a member of an object.

        A member of an object without a schema may be anything, and may be left out.
        """
        if name in self.arguments:
            return self.arguments[name]
        ends = [argument for argument in self.arguments.values() if argument.name == name]
        if len(ends) == 1:
            return ends[0]
        above = next((a for leaf, a in self.arguments.items() if a.free and name.startswith(f"{leaf}.")), None)
        if above is None or "" in name[len(above.leaf) + 1 :].split("."):
            return None
        own = words_of(name.rpartition(".")[2])
        return Argument(name, own, above.roles, False, (), _NOT_GIVEN, frozenset(), "")  # noqa: FBT003 - optional

    def of(self, *categories: Category) -> frozenset[str]:
        """Return its roles of some categories."""
        return frozenset(role for role in self.roles if category(Role(role)) in categories)

    @property
    def in_doubt(self) -> bool:
        """Whether it might do everything: it takes commands, or its text does not say what it does."""
        return self.might.doubtful or "command" in self.roles

    @cached_property
    def named_acts(self) -> frozenset[str]:
        """The acts of the verbs in its name."""
        return acts_of_words(words_of(self.name))

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words of its name."""
        return frozenset(words_of(self.name))


def catalogue_of(servers: Mapping[str, Iterable[Mapping[str, Any]]]) -> tuple[Tool, ...]:
    """Return the tools of annotated servers, as `tool-annotations.json` holds them."""
    found: list[Tool] = []
    for server, tools in servers.items():
        every = list(tools)
        about = around(server, [fields["definition"] for fields in every])
        found += (_tool(server, fields, about) for fields in every)
    return tuple(found)


_MADE: Final[dict[tuple[object, ...], Tool]] = {}
_MOST: Final = 5_000  # tools that are remembered


def _tool(server: str, fields: Mapping[str, Any], about: Around) -> Tool:
    """A tool by its pin and its annotation; the same ones are asked for at every stage, and made once."""
    key = (server, fields["pin"], json.dumps(fields["args"], sort_keys=True), bool(fields["sideEffects"]), about)
    if key not in _MADE:
        if len(_MADE) >= _MOST:
            _MADE.clear()
        _MADE[key] = _made(server, fields, about)
    return _MADE[key]


def _made(server: str, fields: Mapping[str, Any], server_about: Around) -> Tool:
    definition = fields["definition"]
    described = arguments_of(definition)
    roles = {leaf: _roles(entry) for leaf, entry in fields["args"].items()}
    arguments = {}
    for leaf, entry in fields["args"].items():
        about = described.get(leaf)
        arguments[leaf] = Argument(
            leaf=leaf,
            words=about.words if about else words_of(leaf),
            roles=roles[leaf],
            required=bool(about and about.required),
            choices=tuple(dict.fromkeys(v for v in about.enum if isinstance(v, (str, int, float)))) if about else (),
            default=about.defaults[0] if about and about.defaults else _NOT_GIVEN,
            types=frozenset(about.types) if about else frozenset(),
            says=about.says if about else "",
            sql=any(mode.get("language") == "sql" for mode in _modes(entry)),
            absent_unknown=any(mode.get("absent", "unknown") == "unknown" for mode in _modes(entry)),
            free=bool(about and about.free and about.types <= {"object", "null", "array"}),
            alone=bool(about and about.alone),
            unclear=any(mode.get("unclear", False) for mode in _modes(entry)),
        )
    return Tool(
        server,
        fields["toolName"],
        arguments,
        might(definition, roles),
        things(definition, roles, server_about),
        frozenset(loose_things(definition, roles, server_about)),
        first_sentence(clean(definition.get("description")))[:160],
        bool(fields["sideEffects"]),
        frozenset(server_about.likely),
    )


def _modes(entry: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401 - as in an artifact
    return entry if isinstance(entry, list) else [entry]


def _roles(entry: Any) -> frozenset[str]:  # noqa: ANN401 - as in an artifact
    return frozenset(role for mode in _modes(entry) for role in mode["roles"]) - {"none"}


def normal(noun: str) -> str:
    """Return a noun as nouns are compared: lower case, in the singular, one space between words."""
    words = noun.lower().replace("-", " ").replace("_", " ").split()
    return " ".join([*words[:-1], singular(words[-1])]) if words else ""
