"""What a permission comes to: never a role of a tool that the sentence does not speak of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english.conditions import (
    ALL_PATHS,
    PRESENT,
    modes_of,
    on_tables,
    one_of,
    other_schemas,
    owner_and_name,
    path_roles,
    permitted_hosts,
)
from ironcurtain.compiler.english.cues import Mood
from ironcurtain.compiler.english.drafts import Draft, Rank
from ironcurtain.compiler.english.lexicon import ACTS, KINDS_OF_FILE, OWNERS, READ, THINGS, WRITE
from ironcurtain.compiler.english.places import is_whole_server, leaves_for
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ironcurtain.compiler.english.clauses import Clause
    from ironcurtain.compiler.english.grounding import Meant, Tools
    from ironcurtain.compiler.english.places import Place
    from ironcurtain.compiler.english.surface import Surface

NOT_BY_READING: Final = frozenset({"send", "share", "execute", "pay"})
"""Effects that a permission for files does not speak of."""


_LOOKING: Final = lexicon("list count enumerate find search look_for")
_LISTS: Final = lexicon("list tree search find info count stat glob directory folder")


@dataclass(frozen=True, slots=True)
class _Named:
    """What a clause names, sorted by what it is for a tool."""

    parties: tuple[str, ...]
    hosts: tuple[str, ...]
    paths: tuple[Place, ...]

    @classmethod
    def of(cls, places: Sequence[Place]) -> _Named:
        return cls(
            tuple(dict.fromkeys(v for p in places if p.kind == "party" for v in p.values)),
            tuple(v for p in places if p.kind == "host" for v in p.values),
            tuple(p for p in places if p.kind == "path"),
        )

    @property
    def anything(self) -> bool:
        return bool(self.parties or self.hosts or self.paths)


def granted(clause: Clause, meant: Meant, places: Sequence[Place], then: Mood, tools: Tools) -> Iterator[Draft]:
    """The rules for one tool. `then` is to ask where something in the sentence cannot be checked."""
    tool, names = meant.tool, _Named.of(places)
    placed = ("in", "from", "of", "on")
    elsewhere = [p for p in clause.phrases if p.preposition in placed and p.head and not p.references]
    if tool.statement and any(not p.things & {"database", "table", "query"} for p in elsewhere):
        return
    if tool.statement and any("table" in p.things and set(p.modifiers) - tool.nouns - OWNERS for p in clause.phrases):
        return  # a statement may speak of any table
    if any(place.is_option and _changes_more(tool, place) for place in places):
        return  # `set a ticket to pending` says nothing of its other fields
    conditions = _values(clause, meant, places, tools)
    people, hosts, paths = tool.of(Category.PARTY), tool.of(Category.URL), tool.of(Category.PATH)
    missing = (names.parties and not people) or (names.hosts and not (hosts or people)) or (names.paths and not paths)
    if conditions is None or missing:
        return
    values, spare = conditions
    yield from _other_databases(clause, tool, places, tools)
    covered = _covered(clause, meant, names)
    called = any(act.words & tool.words for act in clause.acts)  # a particular act: beats what is said of all
    narrow = bool(values or names.anything or called)
    rank = Rank.ASKED if then is Mood.ASK else Rank.PERMITTED if narrow else Rank.PERMITTED_IN_GENERAL
    along = tool.of(Category.CARRIED) if then is Mood.ASK else frozenset()
    base = Draft(then, rank, (tool,), values=values)
    if names.parties:
        yield replace(base, lists=(people, names.parties), roles=along)
    if names.hosts:
        sends = any("send" in act.effects for act in clause.acts)
        fetched = frozenset() if sends else hosts & {"fetch-url"}
        below = "subdomain" in clause.text.lower().replace("sub-domain", "subdomain")
        yield replace(
            base, domains=(fetched or people or hosts, permitted_hosts(names.hosts, below=below)), roles=along
        )
    for place in names.paths:
        roles = _path_roles(clause, tool, place)
        for directory in place.values if roles else ():
            yield replace(base, paths=(roles, directory), roles=along)
    if covered:
        yield replace(base, roles=covered | along)
        if then is Mood.PERMIT:
            yield from _without(spare, replace(base, rank=Rank.PERMITTED_AS_A_WHOLE, roles=covered))
    elif not names.anything and not _attaches(clause):
        yield from _as_a_whole(base, tool)
        if then is Mood.PERMIT and not tool.of(Category.URL, Category.PARTY, Category.OTHER, Category.PATH):
            yield from _without(spare, replace(base, rank=Rank.PERMITTED_AS_A_WHOLE))


def _other_databases(clause: Clause, tool: Surface, places: Sequence[Place], tools: Tools) -> Iterator[Draft]:
    """A statement on a database that is named can name another one: then it asks."""
    named = any(place.thing and is_whole_server(tool, place, tools.all) for place in places)
    if tool.sql and (named or any("database" in p.things and p.modifiers for p in clause.phrases)):
        yield Draft(Mood.ASK, Rank.ASKED, (tool,), values={f"arg:{tool.statement}": {"matches": other_schemas()}})


def _changes_more(tool: Surface, place: Place) -> bool:
    """Whether a tool sets other things, too, besides the one that has such values."""
    chosen = leaves_for(tool, place)
    named = any(tool.leaves[leaf] & tool.words for leaf in chosen)
    others = [leaf for leaf in tool.leaves if leaf not in chosen and leaf not in tool.required]
    return bool(tool.effects - READ) and not named and len(others) > 1


def _chosen(clause: Clause, tool: Surface) -> dict[str, Any]:
    """`It may buy`, of a tool that buys and sells."""
    verbs = {act.verb for act in clause.acts}
    found = {}
    for leaf, options in tool.options.items():
        spoken = sorted(option for option in options if option.lower() in verbs)
        if spoken and any(option.lower() in ACTS for option in options - set(spoken)):
            found[f"arg:{leaf}"] = one_of(spoken)
    return found


def _values(
    clause: Clause, meant: Meant, places: Sequence[Place], tools: Tools
) -> tuple[dict[str, Any], frozenset[str]] | None:
    """Conditions on the arguments that names are given in, and which may be left out; none where there is none."""
    tool, values = meant.tool, modes_of(meant, permits=True)
    values |= _chosen(clause, tool)
    spare: set[str] = set()
    for place in (p for p in places if p.kind == "value"):
        pair = owner_and_name(tool, place)
        leaves = leaves_for(tool, place)
        if not place.thing and not place.is_option and len(leaves) > 1:
            needed = tuple(leaf for leaf in leaves if leaf in tool.required)
            leaves = needed if len(needed) == 1 else ()  # else it cannot be told which of them says where
        if pair is None and not leaves:
            if is_whole_server(tool, place, tools.all):
                continue
            changes = on_tables(meant.statements, place.values) if place.thing == "table" else None
            if changes is None:
                return None
            values[f"arg:{tool.statement}"] = {"matches": changes}
            continue
        given = pair or {f"arg:{leaf}": place.values for leaf in leaves}
        for key, found in given.items():
            values[key] = one_of((*values.get(key, {}).get("in", ()), *found))
        if pair is None and len(leaves) > 1:
            first = next((leaf for leaf in leaves if leaf in tool.required), min(leaves, key=len))
            spare |= {f"arg:{leaf}" for leaf in leaves if leaf != first and leaf not in tool.required}
    return values, frozenset(spare)


def _covered(clause: Clause, meant: Meant, names: _Named) -> frozenset[str]:
    """The roles of a tool that are permitted whatever their values."""
    tool = meant.tool
    if _attaches(clause):
        return frozenset()
    effects = clause.effects
    runs = "execute" in effects
    covered = tool.of(Category.PLACE) | frozenset(
        role for role in tool.of(Category.OTHER) if role != "command" or runs or meant.statements
    )
    people, hosts = tool.of(Category.PARTY), tool.of(Category.URL)
    is_draft = "draft" in tool.words and tool.effects <= WRITE  # it goes nowhere
    is_draft = is_draft or (bool(tool.nouns & {"contact", "person"}) and tool.effects <= WRITE)  # nobody is written to
    named_people = names.parties or names.hosts
    if (is_draft and not named_people) or (not named_people and effects & {"send", "share", "pay"}):
        covered |= people
    many = any(p.written and p.written[-1].lower().endswith(("s", "web", "internet", "online")) for p in clause.phrases)
    if not names.hosts and effects & READ and tool.effects <= READ and hosts == {"fetch-url"} and many:
        covered |= hosts
    if runs and not names.paths and "command" in tool.all_roles and not meant.statements:
        covered |= tool.of(Category.PATH)
    return covered


def _without(spare: frozenset[str], draft: Draft) -> Iterator[Draft]:
    """Arguments that may be left out: the rest decides where they are, and where they are something else, nothing."""
    for key in sorted(spare):
        yield replace(draft, then=Mood.FORBID, roles=frozenset(), values={key: PRESENT})
    if spare:
        yield replace(draft, values={key: value for key, value in draft.values.items() if key not in spare})


def _as_a_whole(base: Draft, tool: Surface) -> Iterator[Draft]:
    """A tool none of whose roles is named: behind guards for those that the sentence does not speak of."""
    if base.then is not Mood.PERMIT:
        yield base
        return
    whole = replace(base, rank=Rank(base.rank + 1))
    if bare := tool.of(Category.URL, Category.PARTY, Category.OTHER):
        yield replace(whole, then=Mood.FORBID, roles=bare)
    if paths := tool.of(Category.PATH):
        yield replace(whole, then=Mood.ASK, roles=paths, elsewhere=True)
    yield whole


def _attaches(clause: Clause) -> bool:
    return all(act.verb == "attach" for act in clause.acts)


def _path_roles(clause: Clause, tool: Surface, place: Place) -> frozenset[str]:
    """The path roles of a tool that a clause with a directory speaks of."""
    effects = clause.effects
    uploads = any(act.verb == "upload" for act in clause.acts) and place.end != "to"
    if "send" in effects or uploads:
        return frozenset(role for roles in tool.roles.values() if "read-path" in roles for role in roles & ALL_PATHS)
    if "execute" in effects:
        return tool.all_roles & ALL_PATHS
    if place.end == "to" and not effects & {"move", "delete"}:
        return tool.all_roles & {"write-path"}
    roles = path_roles(effects)
    if effects & WRITE and tool.edits:
        roles |= {"read-path"}
    return roles & tool.all_roles


# --- Files. ---


def granted_files(clause: Clause, places: Sequence[Place], then: Mood, tools: Tools) -> Iterator[Draft]:
    """A permission for files in a place concerns every tool that works on files, and does nothing else."""
    directories = [place for place in places if place.kind == "path"]
    particular = any(act.words and "move" not in act.effects for act in clause.acts)  # only what is called so does it
    if not directories or not clause.about_files or clause.effects & NOT_BY_READING or particular:
        return
    kinds = _kinds(clause)
    for tool in tools.all:
        if not _is_called_for(clause, tool):
            continue
        strange = tool.of(Category.PARTY, Category.PLACE, Category.OTHER) or "send-url" in tool.all_roles
        strange = strange or not any(roles & ALL_PATHS and leaf in tool.required for leaf, roles in tool.roles.items())
        if strange or tool.effects & NOT_BY_READING:
            continue
        for place in directories:
            roles = _file_roles(clause, tool, place)
            moved = "delete-path" in roles and "delete" not in tool.effects
            rank = Rank.ASKED if then is Mood.ASK else Rank.MOVED if moved else Rank.PERMITTED
            along = tool.of(Category.CARRIED) if then is Mood.ASK else frozenset()
            for directory in place.values if roles else ():
                yield Draft(
                    then, rank, (tool,), roles=along, paths=(roles, directory), values=_endings(tool, kinds, roles)
                )


def _is_called_for(clause: Clause, tool: Surface) -> bool:
    """Listing is not reading, and making a folder is not writing a file."""
    objects = [p for p in clause.phrases if not p.preposition and p.head and not p.references]
    if all(act.verb in _LOOKING for act in clause.acts):
        return bool(tool.words & _LISTS)
    if objects and all(p.head in ("folder", "directory") for p in objects):
        return bool(tool.words & {"directory", "folder", "directories", "tree"})
    new = bool(objects) and all(p.is_new for p in objects)
    return not (new and tool.effects & WRITE and "create" not in tool.effects)


def _kinds(clause: Clause) -> list[str]:
    words = [word for p in clause.phrases if not p.preposition for word in (*p.modifiers, p.head)]
    return [kind for kind in KINDS_OF_FILE if any(kind in THINGS.get(word, ()) for word in words)]


def _endings(tool: Surface, kinds: list[str], roles: frozenset[str]) -> dict[str, Any]:
    """The names that files of some kinds have, unless the tool knows no other kind."""
    if not kinds or any(kind in THINGS.get(word, ()) for kind in kinds for word in (*tool.brand, *tool.nouns)):
        return {}
    endings = "|".join(ending for kind in kinds for ending in KINDS_OF_FILE[kind])
    return {f"role:{role}": {"matches": rf"(?i).*\.({endings})"} for role in roles}


def _file_roles(clause: Clause, tool: Surface, place: Place) -> frozenset[str]:
    """The path roles of a tool that a clause about files permits, given what else the tool does."""
    effects, roles = clause.effects, frozenset[str]()
    uploads = not tool.effects & READ and "write-path" not in tool.all_roles  # reading is not sending
    if "read" in effects and "delete" not in tool.effects and not uploads:
        roles |= {"read-path"}
    either = tool.effects - READ == WRITE and effects & WRITE
    if effects & WRITE and (tool.effects <= effects | READ or either) and "delete-path" not in tool.all_roles:
        roles |= {"write-path", *(("read-path",) if tool.edits else ())}
    if "move" in effects and {"delete-path", "write-path"} <= tool.all_roles:
        ends = {"": ALL_PATHS, "to": frozenset({"write-path"}), "from": frozenset({"read-path", "delete-path"})}
        roles |= ends[place.end]
    if "move" in effects and tool.effects == {"create"} and tool.words & {"directory", "folder"}:
        roles |= {"write-path"}
    if "delete" in effects and "delete" in tool.effects:
        roles |= ALL_PATHS
    return roles & tool.all_roles
