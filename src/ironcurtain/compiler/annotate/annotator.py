"""Annotates the tools of a server, from their definitions alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.artifacts.annotations import pin_of
from ironcurtain.compiler.annotate.absence import EXTRAS, NEVER_MISSED, is_missed
from ironcurtain.compiler.annotate.acts import looks_only
from ironcurtain.compiler.annotate.arguments import arguments_of
from ironcurtain.compiler.annotate.commands import is_argv, is_sql
from ironcurtain.compiler.annotate.effects import effects_of, ordered
from ironcurtain.compiler.annotate.floors import raised
from ironcurtain.compiler.annotate.harmless import is_text, says_how
from ironcurtain.compiler.annotate.might import might
from ironcurtain.compiler.annotate.modes import selector_of
from ironcurtain.compiler.annotate.relative import named_inside, relative_to
from ironcurtain.compiler.annotate.roles import meaning_of
from ironcurtain.compiler.annotate.setting import NO_WORD_KNOWN, Setting
from ironcurtain.compiler.annotate.subject import server_subject, tool_subject
from ironcurtain.compiler.annotate.text import clean, first_sentence, is_english, lexicon, words_of
from ironcurtain.model.roles import Role, is_carried

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.modes import Selector
    from ironcurtain.compiler.annotate.setting import Meaning
    from ironcurtain.compiler.annotate.subject import Subject
    from ironcurtain.model.call import Json

    Modes = tuple[tuple[tuple[str, ...], Meaning], ...]

_ABOUT_ITSELF: Final = lexicon(
    """health ping version capability capabilities heartbeat help info about status time date current now server check
    get list show describe api mcp tool service alive ready echo usage guide allowed directory root hello"""
)
"""Words of which a tool's name may be made that only tells about its own server."""
_TELLING: Final = lexicon(
    "health ping version capability capabilities heartbeat help info status time alive allowed about"
)
_KEPT: Final = re.compile(
    r"\b(?:keys?|secrets?|tokens?|passwords?|credentials?|users?|customers?|records?|contracts?|personal|private|data|my|"
    r"medical|patients?|accounts?)\b"
)
"""Said of what a server keeps for others."""
_LONGEST_COMMENT: Final = 120  # characters


@dataclass(frozen=True, slots=True)
class Understood:
    """What is understood of one tool."""

    server: str
    definition: Mapping[str, Any]
    effects: frozenset[str]
    arguments: Mapping[str, Argument]
    meanings: Mapping[str, Meaning]
    selector: str | None
    modes: Mapping[str, Modes]
    """Arguments of which the selector says what they mean: under which of its values it is what."""
    doubts: Mapping[str, str]
    """What is not certain, by argument; about the tool itself under no name."""

    @property
    def name(self) -> str:
        """Return the name that its server gives it."""
        return str(self.definition.get("name"))

    @property
    def side_effects(self) -> bool:
        """Return whether it changes or discloses anything: false only for a tool that tells about its own server."""
        named = frozenset(words_of(self.name)) - frozenset(words_of(self.server))
        told = first_sentence(clean(self.definition.get("description")))
        itself = bool(named & _TELLING) and named <= _ABOUT_ITSELF and not _KEPT.search(told)
        return self.effects != {"read"} or bool(self.arguments) or not itself

    def roles(self, leaf: str) -> list[str]:
        """Return all roles that an argument may have."""
        return _listed(self.meanings[leaf])

    def fields(self) -> dict[str, Json]:
        """Return it as it stands among a policy's annotations."""
        return {
            "toolName": self.name,
            "serverName": self.server,
            "comment": first_sentence(clean(self.definition.get("description")))[:_LONGEST_COMMENT],
            "sideEffects": self.side_effects,
            "effects": [*ordered(self.effects)],
            "args": {leaf: self._entry(leaf) for leaf in self.arguments},
            "definition": dict(self.definition),
            "pin": pin_of(self.definition),
        }

    def _entry(self, leaf: str) -> Json:
        if leaf not in self.modes or self.selector is None:
            entry = self._meant(leaf, self.roles(leaf))
            says = f"{' '.join(words_of(self.name))} {clean(self.definition.get('description'))}"
            sql = "command" in self.roles(leaf) and is_sql(self.arguments[leaf], says)
            root = relative_to(leaf, self.arguments, {name: found.roles for name, found in self.meanings.items()})
            argv = "command" in self.roles(leaf) and is_argv(self.arguments[leaf], says)
            language = {"language": "sql"} if sql else {"language": "argv"} if argv else {}
            return {**entry, **language, **({"relativeTo": root} if root else {})}
        return [
            {**self._meant(leaf, _listed(meaning)), "when": {self.selector: [*values]}}
            for values, meaning in self.modes[leaf]
        ]

    def _meant(self, leaf: str, roles: list[str]) -> dict[str, Json]:
        argument = self.arguments[leaf]
        others = {name: (other, self.meanings[name].roles) for name, other in self.arguments.items()}
        missed = is_missed(argument, roles, self.name, self.effects, others) and not named_inside(
            argument, self.arguments.values()
        )
        unclear = {"unclear": True} if self.is_unclear(leaf) else {}
        return {"roles": [*roles], "absent": "unknown" if missed else "nothing", **unclear}

    def is_unclear(self, leaf: str) -> bool:
        """Return whether no rule recognised the argument, and no floor found what it touches."""
        carried = all(is_carried(Role(role)) for role in self.meanings[leaf].roles)
        return carried and self.doubts.get(leaf) == NO_WORD_KNOWN


def entry_of(roles: Sequence[str], *, nested: bool, beside: bool = False) -> dict[str, Json]:
    """Return an argument as it stands among annotations: its roles, and what leaving it out means."""
    extra = beside and set(roles) <= EXTRAS
    missed = not nested and not extra and not set(roles) <= NEVER_MISSED
    return {"roles": [*roles], "absent": "unknown" if missed else "nothing"}


def _listed(meaning: Meaning) -> list[str]:
    return sorted(meaning.roles) or ["none"]


def understand(server: str, definitions: Iterable[Mapping[str, Any]]) -> Iterator[Understood]:
    """Yield what is understood of each tool of a server."""
    definitions = list(definitions)
    about = server_subject(definitions)
    for definition in definitions:
        yield _understood(server, definition, tool_subject(definition, about))


def _understood(server: str, definition: Mapping[str, Any], subject: Subject) -> Understood:
    name, says = str(definition.get("name")), clean(definition.get("description"))
    arguments = arguments_of(definition)
    hints = definition.get("annotations")
    effects, sure = effects_of(name, says, hints if isinstance(hints, dict) else {})
    selector = None if looks_only(words_of(name)) else selector_of(arguments.values(), says)
    if selector is not None:
        effects, sure = {effect for found in selector.effects.values() for effect in found}, True
    siblings = frozenset(" ".join(argument.words) for argument in arguments.values())
    tool = Setting(
        words_of(name), first_sentence(says), frozenset(effects), subject, siblings, tuple(arguments.values())
    )
    meanings = {leaf: meaning_of(argument, tool) for leaf, argument in arguments.items()}
    acts = might(definition, {leaf: found.roles for leaf, found in meanings.items()}).acts
    meanings = raised(meanings, replace(tool, acts=acts))
    modes = dict(_by_mode(selector, arguments, meanings, tool)) if selector else {}
    for leaf, found in modes.items():  # what it may be in any of them
        roles = meanings[leaf].roles.union(*(meaning.roles for _, meaning in found))
        meanings[leaf] = replace(meanings[leaf], roles=roles)
    made = tool.effects | _written(tool, meanings)
    doubts = dict(_doubts(says, arguments, meanings, sure=sure))
    return Understood(
        server=server,
        definition=definition,
        effects=made,
        arguments=arguments,
        meanings=meanings,
        selector=selector.leaf if selector else None,
        modes=modes,
        doubts=doubts,
    )


def _doubts(
    says: str, arguments: Mapping[str, Argument], meanings: Mapping[str, Meaning], *, sure: bool
) -> Iterator[tuple[str, str]]:
    """Yield what is not certain, by argument; about the tool itself under no name."""
    for leaf, argument in arguments.items():
        found = meanings[leaf]
        chosen = argument.is_flag or argument.is_number or bool(argument.enum)
        if found.doubt or not (found.roles or chosen or says_how(argument) or is_text(argument)):
            yield leaf, found.doubt or "it may name something"
    if not sure:
        yield "", "its name has no verb that we know"
    elif not is_english(says + " ".join(argument.says for argument in arguments.values())):
        yield "", "it is not described in English"


def _written(tool: Setting, meanings: Mapping[str, Meaning]) -> frozenset[str]:
    """Return what the files that a call writes add to its effects: `extract_audio(input, output)` creates."""
    roles = frozenset(role for meaning in meanings.values() for role in meaning.roles)
    if tool.effects == {"delete"} and "write-path" in roles and "delete-path" not in roles:
        return frozenset({"update"})  # of a part of a file
    outputs = [argument for argument in tool.arguments if not {"output", "out", "dest"}.isdisjoint(argument.words)]
    written = any("write-path" in meanings[argument.leaf].roles for argument in outputs)
    made = tool.speaks_of("extract", "render", "transcribe", "capture", "record")
    reads = tool.effects <= {"read"}
    return frozenset({"create"}) if reads and ((written and made) or tool.overwrites) else frozenset()


def _by_mode(
    selector: Selector, arguments: Mapping[str, Argument], meanings: Mapping[str, Meaning], tool: Setting
) -> Iterator[tuple[str, Modes]]:
    """The arguments beside a selector that mean one thing in one mode and another in another."""
    for leaf, argument in arguments.items():
        if argument.above or leaf == selector.leaf or not meanings[leaf].roles:
            continue
        found: dict[Meaning, list[str]] = {}
        for value, effects in selector.effects.items():
            mode = replace(tool, effects=effects, words=(*tool.words, *words_of(value)))
            found.setdefault(meaning_of(argument, mode), []).append(value)
        if len(found) > 1:
            yield leaf, tuple((tuple(values), meaning) for meaning, values in found.items())
