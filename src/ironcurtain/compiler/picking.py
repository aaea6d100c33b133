"""Which tools a statement speaks of.

What loosens must be certain: a permission picks a tool, or modes of it, only if all that it might do is permitted.
What tightens need only be possible: a never or an ask picks whatever might do any of it, and where only doubt picks a
tool, it asks and permits nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.acts import verbs_at
from ironcurtain.compiler.annotate.synonyms import synonyms
from ironcurtain.compiler.annotate.text import singular, words_of
from ironcurtain.compiler.catalogue import normal
from ironcurtain.compiler.problems import Problem, nearest
from ironcurtain.language.statement import ACTS
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.language.statement import Doing, Name, Thing

EVERY: Final = frozenset(ACTS)
_BESIDES: Final = {
    "create": frozenset({"read"}),
    "change": frozenset({"read"}),
    "delete": frozenset({"read"}),
    "move": frozenset({"read", "change"}),
    "trash": frozenset({"read", "change", "move"}),
    "send": frozenset({"read", "create"}),
    "share": frozenset({"read"}),
    "upload": frozenset({"read", "create"}),
    "pay": frozenset({"read", "create"}),
    "run": frozenset({"read"}),
}
"""What an act brings with it: to change a thing is to be told what it is now."""
PATHS_OF: Final = {
    "read": frozenset({"read-path"}),
    "create": frozenset({"write-path"}),
    "change": frozenset({"write-path", "delete-path"}),
    "delete": frozenset({"delete-path", "write-path"}),
    "trash": frozenset({"delete-path", "write-path"}),
    "move": frozenset({"write-path", "delete-path"}),
    "send": frozenset({"read-path"}),
    "share": frozenset({"read-path"}),
    "upload": frozenset({"read-path"}),
}
"""The paths that an act is about: what is sent is read, what is deleted is written."""
_SYNONYMS: Final = {
    "write": "create or change", "edit": "change", "modify": "change", "update": "change", "alter": "change",
    "remove": "delete", "erase": "delete", "destroy": "delete", "wipe": "delete", "purge": "delete", "fetch": "read",
    "show": "read", "get": "read", "see": "read", "add": "create", "make": "create", "execute": "run", "view": "read",
}  # fmt: skip
"""Verbs that mean an act, and would mean less if they stood for the tools that bear them."""
_FILES: Final = frozenset({"file", "document", "folder", "directory"})
_SENT: Final = {"mail": frozenset({"email", "mail", "message"}), "chat": frozenset({"message", "post", "chat message"})}
"""What a server sends, whatever its tools call it, that is about mail or a chat."""
_PASSING_ON: Final = frozenset(
    {"send", "forward", "forwarding", "redirect", "reply", "respond", "broadcast", "deliver", "post", "mail", "notify"}
)
_NOUN_BEHIND: Final = frozenset({"request", "requests"})
"""Words before which a verb is part of a noun."""
_VAGUE: Final = frozenset({"item", "object", "resource", "entity", "thing", "entry", "record", "element", "asset"})
"""Words in the name of a tool that may be about anything its server has."""
_COMMANDS: Final = frozenset({"command", "shell", "script", "code", "program", "process", "terminal"})


@dataclass(frozen=True, slots=True)
class Pick:
    """One tool that a statement speaks of."""

    tool: Tool
    modes: tuple[str, ...] = ()
    """The values of its selector that are meant; none means all."""
    through: tuple[str, ...] = ()
    """Optional arguments, one of which must be given for the tool to do what is meant; none means always."""
    doubt: bool = False
    """Only doubt picks it."""
    kept_out: tuple[str, ...] = ()
    """Of a permission: optional arguments that would do more than is permitted."""


def picked(doing: Doing, tools: Sequence[Tool], *, tightens: bool) -> list[Pick]:
    """Return what is spoken of; raise a `Problem` that names the nearest tools if that is nothing."""
    if doing.tools:
        found = [Pick(tool) for tool in _named(doing.tools, tools)]
    else:
        for thing in doing.things:  # a word that stands for nothing never disappears beside one that does
            if thing.noun and not any(is_about(thing, tool, loosely=True, by_doubt=False) for tool in tools):
                raise _about_nothing(thing, tools)
        found = [
            pick
            for tool in tools
            if any(
                is_about(thing, tool, loosely=tightens, acts=doing.acts, by_doubt=_might_hold(thing, tool, tools))
                for thing in doing.things
            )
            or not doing.things
            if (pick := _pick(doing, tool, tightens=tightens)) is not None
        ]
        found = _by_verb(doing, tools, found, tightens=tightens)
    if not found:
        raise _nothing(doing, tools, tightens=tightens)
    return found


def permitted_acts(acts: Iterable[str]) -> frozenset[str]:
    """Return the acts and what they bring with them."""
    acts = frozenset(acts) or EVERY
    return acts | frozenset(more for act in acts for more in _BESIDES.get(act, ()))


def _pick(doing: Doing, tool: Tool, *, tightens: bool) -> Pick | None:
    acts = frozenset(act for act in doing.acts if act in ACTS) or (frozenset() if doing.acts else EVERY)
    if not acts:
        return None
    if tightens and "delete" in acts:
        acts |= {"trash"}  # what is in the trash is gone, too, unless an exception takes it back
    might = tool.might
    base = might.acts - frozenset(act for acts in might.optional.values() for act in acts)
    if tightens:
        modes = tuple(value for value, does in might.by_value.items() if does & acts)
        if might.by_value and modes and not (base - _union(might.by_value.values())) & acts:
            return Pick(tool, modes if len(modes) < len(might.by_value) else ())
        if tool.in_doubt and not tool.named_acts & acts:
            return Pick(tool, doubt=True)  # it might, as it might do anything
        if base & acts:
            return Pick(tool)
        through = tuple(leaf for leaf, does in might.optional.items() if does & acts)
        return Pick(tool, through=through) if through else None
    if tool.in_doubt:
        return None
    permitted = permitted_acts(acts)
    if "move" in acts and {"delete-path", "write-path"} <= tool.roles:
        permitted |= {"create", "delete"}  # a move takes away what it moves
    kept_out = tuple(leaf for leaf, does in might.optional.items() if not does <= permitted)
    if might.by_value:
        optional = _union(might.optional.values())
        modes = tuple(value for value, does in might.by_value.items() if does - optional <= permitted and does & acts)
        if modes:
            return Pick(tool, modes, kept_out=kept_out)
        return None
    return Pick(tool, kept_out=kept_out) if base <= permitted and might.acts & acts else None


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset(act for each in sets for act in each)


def is_about(thing: Thing, tool: Tool, *, loosely: bool, acts: Iterable[str] = (), by_doubt: bool = True) -> bool:
    """Whether a tool is about a thing; `loosely` for what tightens. What is done to files is done through their paths.

    A tool that runs any command might be about anything (`by_doubt`).
    """
    if thing.of is not None and not _is_server(thing.of.text, tool):
        return False
    if not thing.noun:
        return True
    noun = normal(thing.noun)
    if _is_server(thing.noun, tool) or noun in {normal(each) for each in tool.things}:
        return True
    meant = frozenset(role for act in acts for role in PATHS_OF.get(act, ())) or tool.of(Category.PATH)
    files = noun in _FILES and bool(tool.of(Category.PATH) & meant)
    if files and (loosely or not tool.of(Category.PARTY, Category.PLACE, Category.URL)):
        return True
    if noun in _COMMANDS and "command" in tool.roles:
        return True
    if not loosely:
        return False
    if (not acts or "send" in acts) and _sends(noun, tool):
        return True
    general = "command" in tool.roles and all(set(each.split()) & _COMMANDS for each in tool.things)
    general = general or (not tool.things and not tool.name_words.isdisjoint(_VAGUE))
    loose = {normal(each) for each in tool.loose_things}
    return (general and by_doubt) or noun in loose or noun in {each.rpartition(" ")[2] for each in loose}


def _sends(noun: str, tool: Tool) -> bool:
    """Return whether a tool might send what its server is about: it, or an argument, is called by a word for that."""
    if "send" not in tool.might.acts or not any(noun in _SENT[subject] for subject in tool.around & _SENT.keys()):
        return False
    words = tool.name_words.union(*(argument.words for argument in tool.arguments.values()))
    return not words.isdisjoint(_PASSING_ON)


def _might_hold(thing: Thing, tool: Tool, tools: Sequence[Tool]) -> bool:
    """Return whether a tool that runs any command may reach a thing: files, or what its own server has tools for.

    What only other servers have, mail beside a shell of some machines, does not make every command a question.
    """
    if not thing.noun or ("command" in tool.roles and normal(thing.noun) in _FILES | _COMMANDS):
        return True
    return any(is_about(thing, other, loosely=True, by_doubt=False) for other in tools if other.server == tool.server)


def _is_server(name: str, tool: Tool) -> bool:
    return tool.server.lower() == name.lower()


def _named(names: Iterable[Name], tools: Sequence[Tool]) -> list[Tool]:
    """The tools that are called by name; a bare star stands for any run of characters."""
    found: dict[str, Tool] = {}
    for name in names:
        pattern = name.text if "*" in name.text and not name.quoted else None
        exact = [
            tool
            for tool in tools
            if tool.key == name.text or (pattern and "/" in pattern and fnmatchcase(tool.key, pattern))
        ]
        bare = [tool for tool in tools if tool.name == name.text]
        meant = exact or (bare if len(bare) == 1 else [])
        if not meant:
            near = [tool.key for tool in bare] or nearest(name.text, [tool.key for tool in tools])
            near = near or nearest(name.text, [tool.name for tool in tools])
            raise Problem(
                f"there is no tool {name.text}",
                f"did you mean {' or '.join(near[:3])}?" if near else "see: ironcurtain tools",
            )
        found |= {tool.key: tool for tool in meant}
    return list(found.values())


def _by_verb(doing: Doing, tools: Sequence[Tool], found: list[Pick], *, tightens: bool) -> list[Pick]:
    """Add the tools that bear a verb which is no act in their names."""
    verbs = [act for act in doing.acts if act not in ACTS]
    for verb in verbs:
        plain = verb.lower()
        if meant := _SYNONYMS.get(plain) or next((a for v, a in _SYNONYMS.items() if plain in _gerunds(v)), ""):
            raise Problem(f"{verb} is no act", f"write {meant}")
        bearing = [tool for tool in tools if _bears(verb, tool)]
        if not tightens:
            near = [f"use {tool.key}" for tool in bearing] or nearest(verb, ACTS)
            raise Problem(
                f"{verb} is no act", f"write {' or '.join(near[:3])}" if near else f"acts are {', '.join(ACTS)}"
            )
        about = [tool for tool in bearing if any(_is_done_to(thing, tool) for thing in doing.things)]
        if not bearing:
            raise _nothing(doing, tools, tightens=tightens)
        here = [tool for tool in bearing if not doing.things or _has_things(doing, tool.server, tools)]
        if not about and not here:  # what is called so does it to something else
            names = ", ".join(tool.key for tool in bearing[:3])
            raise Problem(f"no tool that is called {verb} is about that", f"name tools with use: {names}")
        known = [pick.tool for pick in found]
        found = [*found, *(Pick(tool) for tool in about or here if tool not in known)]
        if about:  # what is called so on a server that has such things might do it to them
            found += [Pick(tool, doubt=True) for tool in here if tool not in known and tool not in about]
    return found


def _is_done_to(thing: Thing, tool: Tool) -> bool:
    """Return whether what a tool is called is done to a thing: by its nouns, or by what its arguments are called."""
    if is_about(thing, tool, loosely=True):
        return True
    named = {normal(word) for argument in tool.arguments.values() for word in argument.words}
    return bool(named & {normal(thing.noun), *synonyms(normal(thing.noun), ())})


def _has_things(doing: Doing, server: str, tools: Sequence[Tool]) -> bool:
    """Return whether a server has tools for a thing that is spoken of."""
    own = [tool for tool in tools if tool.server == server]
    return any(is_about(thing, tool, loosely=True, by_doubt=False) for thing in doing.things for tool in own)


def _bears(verb: str, tool: Tool) -> bool:
    """Whether a verb, as it stands or with -ing, is a word of the tool's name."""
    word = verb.lower()
    forms = {word, singular(word)}
    words = words_of(tool.name)
    leading = next(iter(verbs_at(words)), 0)
    nouns = {
        place for place, each in enumerate(words[1:]) if each in _NOUN_BEHIND and place > leading
    }  # a merge request
    return any(place not in nouns and (name in forms or word in _gerunds(name)) for place, name in enumerate(words))


def _gerunds(verb: str) -> set[str]:
    return {verb + "ing", verb.removesuffix("e") + "ing", verb + verb[-1:] + "ing"}


def _about_nothing(thing: Thing, tools: Sequence[Tool]) -> Problem:
    near = nearest(normal(thing.noun), {each for tool in tools for each in tool.things})
    of = f" of {thing.of.text}" if thing.of else ""
    return Problem(
        f"no tool is about {thing.noun}{of}",
        f"did you mean {' or '.join(near)}?" if near else "name tools with use; see: ironcurtain tools",
    )


def _nothing(doing: Doing, tools: Sequence[Tool], *, tightens: bool) -> Problem:
    """Say that nothing is picked, and what would be nearest."""
    acts = [act for act in doing.acts if act in ACTS]
    verbs = [act for act in doing.acts if act not in ACTS]
    things = [thing for thing in doing.things if thing.noun]
    about = [tool for tool in tools if any(is_about(thing, tool, loosely=True, by_doubt=False) for thing in things)]
    if verbs and not acts:
        near = nearest(verbs[0], {word for tool in tools for word in tool.name_words} | EVERY)
        return Problem(f"no tool is called {verbs[0]}", f"did you mean {near[0]}?" if near else "name tools with use")
    if things and not about:
        return _about_nothing(things[0], tools)
    wanted = [tool for tool in (about or tools) if not tightens and tool.might.acts & (frozenset(acts) or EVERY)]
    if wanted:
        over = wanted[0]
        more = sorted(over.might.acts - permitted_acts(acts))
        if not over.in_doubt and more:
            all_acts = " or ".join(dict.fromkeys([*acts, *more]))
            return Problem(
                f"every such tool does more: {over.key} might also {', '.join(more)}", f"write: may {all_acts} ..."
            )
        return Problem(
            f"every such tool does more: {over.key} takes commands or does not say what it does",
            f"to permit it all the same, write: may use {over.key}",
        )
    near = [tool.key for tool in about[:3]]
    return Problem(
        f"no tool does that{' to ' + things[0].noun if things else ''}",
        f"tools about it: {', '.join(near)}" if near else "see: ironcurtain tools",
    )
