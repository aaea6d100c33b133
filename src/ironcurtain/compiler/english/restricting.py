"""What a prohibition comes to, or the wish to be asked: rather too much than too little."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.text import lexicon, singular
from ironcurtain.compiler.english.conditions import (
    ALL_PATHS,
    escaped,
    forbidden_hosts,
    in_a_statement,
    modes_of,
    named,
    one_of,
    owner_and_name,
    path_roles,
)
from ironcurtain.compiler.english.cues import Mood
from ironcurtain.compiler.english.drafts import Draft, Rank
from ironcurtain.compiler.english.granting import NOT_BY_READING
from ironcurtain.compiler.english.grounding import Meant, Tools
from ironcurtain.compiler.english.lexicon import EVERY, FILES, PEOPLE, READ
from ironcurtain.compiler.english.places import Place, is_whole_server, leaves_for
from ironcurtain.compiler.english.surface import Surface, terms_of
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.compiler.english.clauses import Clause

PROGRAMS: Final = lexicon(
    """sudo su rm rmdir curl wget ssh scp rsync chmod chown dd mkfs kill killall reboot shutdown apt yum brew pip
        npm docker git nc netcat bash sh python perl crontab systemctl mount eval exec telnet ftp"""
)
_WRITES: Final = ("download", "export", "convert", "copy", "duplicate", "clone", "back_up", "import")
"""Verbs that read, and write what they read."""
_LIMITS: Final = lexicon("count limit max_result max size num top")
"""What an argument for how many is called."""
_TOP: Final = 2  # how deep a home is
_IN_TIME: Final = lexicon("task session day hour minute week month run")
_MAIL: Final = lexicon("email message mail")
_SECRETS: Final = lexicon("password passphrase key credential secret token")
_KEPT_IN: Final = (
    r"(?i)(.*/)?(\.ssh|\.gnupg|\.aws|\.kube|\.netrc|\.env[^/]*|id_[a-z0-9]+|[^/]*(passw|credential|secret|token)[^/]*"
    r"|[^/]*\.(pem|key|kdbx|pfx|p12|ppk))(/.*)?"
)
_FILE_NAME: Final = re.compile(r".*\w\.[a-z]{1,5}")


def everywhere(clause: Clause, meant: Sequence[Meant], then: Mood, *, files: bool) -> Iterator[Draft]:
    """Without a place: the tools that do it, and the roles that it is done through; `files` may be meant, too."""
    effects = clause.effects
    called = any(act.words for act in clause.acts) or clause.unsettled
    rank = Rank.FORBIDDEN if then is Mood.FORBID else Rank.ASKED if called else Rank.ASKED_IN_GENERAL
    if then is Mood.FORBID and ("move" in effects or any(act.words & {"move", "rename"} for act in clause.acts)):
        rank = Rank.FORBIDDEN_THERE
    plain = effects and not effects & NOT_BY_READING
    plain = plain and not any(act.words or act.verb == "upload" for act in clause.acts)
    if plain and files and clause.about_files and "move" not in effects:
        yield Draft(then, rank, roles=path_roles(effects) | ({"delete-path"} if "update" in effects else set()))
    yield from with_tools(meant, Draft(then, rank))


def folders(clause: Clause, then: Mood) -> Iterator[Draft]:
    """`The tax folder`, which the set-up does not know: whatever is in a folder that is called so."""
    rank = Rank.FORBIDDEN_THERE if then is Mood.FORBID else Rank.ASKED
    for phrase in clause.phrases:
        names = [word for word in phrase.written if singular(word.lower()) not in ("folder", "directory")]
        if phrase.head in ("folder", "directory") and names and not phrase.references:
            for role in sorted(ALL_PATHS):
                values = {f"role:{role}": {"matches": rf"(?i)(.*/)?{escaped(names[-1])}[^/]*(/.*)?"}}
                yield Draft(then, rank, roles=frozenset({role}), values=values)


def secrets(clause: Clause, then: Mood) -> Iterator[Draft]:
    """`My SSH keys`, `passwords`: where such things are kept, as far as names of files tell."""
    rank = Rank.FORBIDDEN_THERE if then is Mood.FORBID else Rank.ASKED
    if any(p.head in _SECRETS and not p.references for p in clause.phrases):
        for role in sorted(ALL_PATHS):
            yield Draft(then, rank, roles=frozenset({role}), values={f"role:{role}": {"matches": _KEPT_IN}})


def with_tools(meant: Iterable[Meant], draft: Draft) -> Iterator[Draft]:
    """A draft for each tool, in the modes that are meant."""
    for each in meant:
        values = {**draft.values, **modes_of(each, permits=False)}
        yield replace(draft, tools=(each.tool,), values=values)


def there(clause: Clause, meant: Sequence[Meant], places: Sequence[Place], then: Mood, tools: Tools) -> Iterator[Draft]:
    """For some places, people or things."""
    draft = Draft(then, Rank.FORBIDDEN_THERE if then is Mood.FORBID else Rank.ASKED)
    for place in places:
        if place.kind == "path":
            yield from _paths(clause, meant, place, draft)
        elif place.kind in ("party", "host"):
            yield from _people_and_hosts(meant, place, draft, reads="read" in clause.effects)
        else:
            if all(_FILE_NAME.fullmatch(value) for value in place.values):  # the name of a file, wherever it is
                names = "|".join(escaped(value) for value in place.values)
                for role in sorted(ALL_PATHS):
                    values = {f"role:{role}": {"matches": rf"(?i)(.*/)?({names})"}}
                    yield replace(draft, roles=frozenset({role}), values=values)
            yield from _things(clause, meant, place, draft, tools)


def _people_and_hosts(meant: Sequence[Meant], place: Place, draft: Draft, *, reads: bool) -> Iterator[Draft]:
    for each in with_tools(meant, draft):
        (tool,) = each.tools
        people, hosts = tool.of(Category.PARTY), tool.of(Category.URL)
        along = tool.of(Category.CARRIED) if draft.then is Mood.ASK else frozenset()
        if place.kind == "party" and people:
            yield replace(each, lists=(people, place.values), roles=along)
        elif place.kind == "host" and (people or hosts):
            yield replace(each, domains=(people | hosts, forbidden_hosts(place.values)), roles=along)
        elif place.kind == "party" and place.end == "from" and reads and "email" in tool.nouns:
            yield Draft(Mood.ASK, Rank.ASKED, (tool,), values=each.values)  # whose it is, a call does not say


def _paths(clause: Clause, meant: Sequence[Meant], place: Place, draft: Draft) -> Iterator[Draft]:
    effects = clause.effects
    roles = path_roles(effects) | ({"delete-path"} if effects & {"create", "update"} else set())
    if "read" not in effects:
        roles -= {"read-path"}  # what is moved away is deleted
    if any(act.verb in _WRITES for act in clause.acts):
        roles |= {"write-path"}
    runs, sends = "execute" in effects, "send" in effects or any(act.verb == "upload" for act in clause.acts)
    if not _is_of_tools(clause, meant) and (effects == EVERY or (clause.about_files and not runs and not sends)):
        for directory in place.values:
            yield replace(draft, paths=(roles or ALL_PATHS, directory))
            yield from _above(directory, draft)
        return
    for each in meant:
        tool = each.tool
        covered = tool.all_roles & (ALL_PATHS if runs or effects == EVERY else {"read-path"} if sends else roles)
        along = tool.of(Category.CARRIED, Category.OTHER) if draft.then is Mood.ASK else frozenset()
        for directory in place.values if covered else ():
            yield replace(draft, tools=(tool,), paths=(covered, directory), roles=along)


def _is_of_tools(clause: Clause, meant: Sequence[Meant]) -> bool:
    """Whether certain tools are spoken of, and not whatever works on files: `renaming a file in Tenants`."""
    if clause.confined:
        return True
    particular = bool(meant) and bool(clause.acts) and all(act.words for act in clause.acts)
    moves = all("move" in act.effects or act.words & {"rename"} for act in clause.acts)
    return particular and (moves or clause.mood is Mood.PERMIT)


def _above(directory: str, draft: Draft) -> Iterator[Draft]:
    """What is done to a directory is done to all that is in it."""
    parents = []
    while directory.count("/") > _TOP and (directory := directory.rpartition("/")[0]):
        parents.append(directory)
    if draft.then is Mood.FORBID and parents:
        for role in ("write-path", "delete-path"):
            yield replace(draft, roles=frozenset({role}), values={f"role:{role}": {"in": parents}})
        yield Draft(Mood.ASK, Rank.ASKED, roles=frozenset({"read-path"}), values={"role:read-path": {"in": parents}})


def _things(clause: Clause, meant: Sequence[Meant], place: Place, draft: Draft, tools: Tools) -> Iterator[Draft]:
    """A name of a channel, a table, a bucket: by the arguments for it, and in statements."""
    forbids = draft.then is Mood.FORBID
    candidates = list(meant) or [Meant(tool) for tool in tools.all]
    known = any(leaves_for(m.tool, place) or is_whole_server(m.tool, place, tools.all) for m in candidates)
    if forbids and not known:
        candidates = [Meant(tool) for tool in tools.all if tool.effects & clause.effects]
    blind: list[Meant] = []
    for each in candidates:
        whole = is_whole_server(each.tool, place, tools.all)
        keys = list(_keys(each.tool, place, forbids=forbids, whole=whole))
        if not keys and not whole:
            blind.append(each)
        modes = modes_of(each, permits=False)
        for key, predicate in keys:
            sure = bool(place.thing or place.is_option) and key[4:] in leaves_for(each.tool, place)
            yield replace(draft, tools=(each.tool,), values={**modes, key: predicate}, sure=sure)
        if whole:
            yield replace(draft, tools=(each.tool,), values=modes)
    if forbids and meant and place.thing and not place.guessed:  # it cannot be told which one such a call is about
        servers = {m.tool.server for m in candidates if leaves_for(m.tool, place)}
        unseen = [m for m in blind if m.tool.server in servers and m.tool.effects - READ]
        yield from with_tools(unseen, Draft(Mood.ASK, Rank.ASKED))


def _keys(tool: Surface, place: Place, *, forbids: bool, whole: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """The conditions that hold for a call about the name."""
    if not forbids:
        yield from ((f"arg:{leaf}", one_of(place.values)) for leaf in leaves_for(tool, place))
        if tool.statement and not whole:
            yield f"arg:{tool.statement}", {"matches": in_a_statement(place)}
        return
    if tool.statement and not whole:
        yield f"arg:{tool.statement}", {"matches": in_a_statement(place)}
    sure = place.is_option or (place.thing and not place.guessed)
    leaves = dict.fromkeys((*leaves_for(tool, place), *(() if sure else leaves_for(tool, replace(place, thing="")))))
    yield from ((f"arg:{leaf}", {"matches": named(place)}) for leaf in leaves if leaf in tool.texts)


def closed(
    clause: Clause, meant: Sequence[Meant], exempt: Sequence[Place], then: Mood, tools: Tools, sandbox: str
) -> Iterator[Draft]:
    """All but some: `other channels`, `outside the sandbox`, `anyone not in my contacts`."""
    effects = clause.effects
    if "execute" in effects:  # only SELECT: no other statement
        meant = [replace(each, statements=()) for each in meant]
    left = tuple(replace(place, outside=False) for place in exempt)
    on_disk = any(place.kind == "path" for place in exempt) and not _is_of_tools(clause, meant)
    if on_disk and (effects == EVERY or not effects & {"execute", "send"}):
        yield from _closed_paths(clause, meant, left, then, sandbox)
        return
    others = [p for p in clause.phrases if p.other and p.head]
    terms = frozenset(term for p in others for term in terms_of(p.head)) - PEOPLE
    if terms and not any(m.tool.leaves_for(terms) for m in meant):
        meant = [Meant(tool) for tool in tools.all if tool.effects & effects]
    if terms and not any(p.is_people for p in others):
        web = bool(terms & {"page", "web"})
        meant = [m for m in meant if m.tool.leaves_for(terms) or (web and m.tool.of(Category.URL))]
    elif left and not terms:
        meant = [m for m in meant if any(_is_told(m.tool, place) for place in left)]
    yield from with_tools(meant, Draft(then, Rank.CLOSED, exempt=left))


def _is_told(tool: Surface, place: Place) -> bool:
    """Whether a call says which one it is about, of what a place is one of."""
    match place.kind:
        case "path":
            return bool(tool.of(Category.PATH))
        case "party":
            return bool(tool.of(Category.PARTY))
        case "host":
            return bool(tool.of(Category.URL))
        case _:
            return bool(leaves_for(tool, place)) or owner_and_name(tool, place) is not None


def _closed_paths(
    clause: Clause, meant: Sequence[Meant], left: tuple[Place, ...], then: Mood, sandbox: str
) -> Iterator[Draft]:
    effects = clause.effects
    asks_outside = then is Mood.ASK and any(sandbox in place.values for place in left)
    if asks_outside and (effects == EVERY or not clause.about_files):
        yield Draft(then, Rank.LAST, elsewhere=True)
        return
    roles = path_roles(effects) or ALL_PATHS
    if clause.mood is Mood.PERMIT and roles - {"delete-path"}:  # what is its own stays so
        yield Draft(Mood.PERMIT, Rank.OWN, paths=(roles - {"delete-path"}, sandbox))
    yield Draft(then, Rank.CLOSED, roles=roles, elsewhere=asks_outside, exempt=left)
    if effects & {"delete", "create", "update"} and not any(p.things & FILES for p in clause.phrases):
        homeless = [each for each in meant if not each.tool.of(Category.PATH)]
        rank = Rank.FORBIDDEN if then is Mood.FORBID else Rank.ASKED_IN_GENERAL
        yield from with_tools(homeless, Draft(then, rank))


def counted(clause: Clause, meant: Sequence[Meant], then: Mood) -> Iterator[Draft]:
    """`more than 5 people`."""
    count = clause.count
    if count is None or count.per in _IN_TIME:
        return
    rank, more = Rank.FORBIDDEN_THERE if then is Mood.FORBID else Rank.ASKED, int(count.beyond) + 1
    to_people = count.per in _MAIL or " to " in f" {clause.text.lower()} "  # `to more than 5 at once`, `5 per mail`
    for tool in (each.tool for each in meant):
        values: dict[str, dict[str, Any]] = {}
        if count.money:
            amounts = [leaf for leaf, roles in tool.roles.items() if "amount" in roles]
            values = {f"arg:{leaf}": {"minimum": count.beyond + 0.01} for leaf in amounts}
        elif count.unit in PEOPLE or (count.unit == "" and to_people and tool.of(Category.PARTY)):
            values = {f"role:{role}": {"minItems": more} for role in tool.of(Category.PARTY)}
            members = [leaf for leaf, words in tool.leaves.items() if words & PEOPLE and leaf in tool.texts]
            values = values or {f"arg:{leaf}": {"minItems": more} for leaf in members}
        elif terms_of(count.unit) & FILES or count.unit == "attachment":
            values = {f"role:{role}": {"minItems": more} for role in tool.of(Category.PATH)}
        else:
            for leaf in tool.leaves_for(terms_of(count.unit) | _LIMITS):
                if leaf in tool.texts and "[" not in leaf:
                    continue  # there is only ever one
                values[f"arg:{leaf}"] = {"minItems": more} if leaf in tool.texts else {"minimum": more}
        for key, predicate in sorted(values.items()):
            yield Draft(then, rank, (tool,), values={key: predicate})


def programs(words: Iterable[str], then: Mood, tools: Tools) -> Iterator[Draft]:
    """Programs that must not be run, or not without asking."""
    pattern = rf"(?i)(.*[^\w-])?({'|'.join(words)})([^\w-].*)?"
    rank = Rank.FORBIDDEN_THERE if then is Mood.FORBID else Rank.ASKED
    for tool in tools.all:
        if "command" in tool.all_roles and not tool.statement:
            yield Draft(then, rank, (tool,), values={"role:command": {"matches": pattern}})
