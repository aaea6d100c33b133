"""What a limit of a statement comes to for one tool: conditions on its arguments.

`certain` says how a limit is read. The limits of a `may` and the exceptions of a never or an ask hold only where they
certainly do; the limits of a never or an ask and the exceptions of a `may` hold where they might. The engine reads a
condition of an allow, and the `unless` of a deny or escalate, in the first way, and all others in the second.

A limit that a tool has no argument for comes to nothing (`None`): a permission then does not pick the tool, and a never
or an ask picks it and asks. A tool that cannot reach what the limit speaks of, files or hosts or the places of another
server, is not concerned at all (`UNCONCERNED`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, assert_never

from ironcurtain.compiler.annotate.text import words_of
from ironcurtain.compiler.catalogue import normal
from ironcurtain.compiler.naming import Reference
from ironcurtain.compiler.parts import PRESENT, Ground, Part
from ironcurtain.compiler.picking import PATHS_OF, is_about
from ironcurtain.compiler.problems import Problem, did_you_mean
from ironcurtain.language.statement import (
    After,
    Attachments,
    Comparison,
    Condition,
    Content,
    Count,
    Domain,
    Giving,
    Name,
    Origin,
    People,
    Place,
    Task,
    Where,
)
from ironcurtain.model.resolved import Opaque
from ironcurtain.model.roles import Category, Role, category
from ironcurtain.resolve.parties import resolve_parties

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.compiler.catalogue import Argument, Tool
    from ironcurtain.compiler.naming import Meant, Setup
    from ironcurtain.language.statement import Limit

_HOST: Final = re.compile(r"(?![0-9.]+$)[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
"""What may be the name of a machine."""
_SPECIAL: Final = re.compile(r"[.^$*+?{}\[\]\\|()]")
_CONTAINERS: Final = frozenset(
    """channel calendar repository repo project board list folder database table bucket workspace space team group
    notebook section label collection dataset index namespace queue topic room account site page parent deck vault
    organization owner guild""".split()  # noqa: SIM905 - to be read
)
"""What an argument is called that says where something is done, where its role does not say so."""


_TO_SOMEBODY: Final = frozenset({"send", "share", "pay"})
"""Acts that need somebody, so that a call which names nobody goes to whom the server picks."""
UNCONCERNED: Final = Ground(notes=("not concerned",))
"""What a limit comes to for a tool that it does not speak of."""


@dataclass(frozen=True, slots=True)
class Grounding:
    """Grounds limits in the arguments of tools and the owner's set-up."""

    setup: Setup
    tools: Sequence[Tool]
    acts: frozenset[str]
    """What the statement is about; none for `use` and `do anything with`."""
    by_name: bool = False
    """Directories are compared by the name of the path, because a rule has room for one condition on paths."""

    def ground(self, limit: Limit, tool: Tool, *, certain: bool) -> Ground | None:
        """Return what a limit comes to for a tool, or nothing if the tool has no argument for it."""
        match limit:
            case Place():
                return self._place(limit, tool, certain=certain)
            case People(members=()) if certain and not tool.of(Category.PARTY):
                return Ground()  # `to anyone` limits nothing, and there is nobody to cover
            case People():
                return self._people(limit, tool, certain=certain)
            case Where():
                return self._where(limit, tool, certain=certain)
            case Giving():
                return self._giving(limit, tool)
            case Count():
                return _count(limit, tool)
            case Attachments():
                return self._attachments(limit, tool, certain=certain)
            case Content(question):
                return Ground(question=question)
            case After(things):
                readers = [t.key for t in self.tools if any(is_about(each, t, loosely=True) for each in things)]
                return Ground(sources=tuple(key for key in readers if self._reads(key)))
            case Origin(names):
                return Ground(sources=self._readers_of(names), notes=("which files were read is not told apart",))
            case Task():
                return Ground()
        assert_never(limit)

    # --- Where. ---

    def _place(self, limit: Place, tool: Tool, *, certain: bool) -> Ground | None:
        meant = self._meant(limit.names, empty_is_error=not certain or limit.outside)
        for name in limit.names:
            kept = self.setup.list_of(name)
            if kept is not None and kept[1].kind == "email":
                raise Problem(
                    f'"{name.text}" is a list of people, and no place', f'write to "{name.text}", or name the place'
                )
        parts: list[Part] = []
        covers, names = set[str](), set[str]()
        if meant.paths:
            roles = self._path_roles(tool, certain=certain)
            if roles:
                places = (*meant.paths, self.setup.known.sandbox) if limit.outside else meant.paths
                parts.append(Part(paths=(roles, tuple(dict.fromkeys(places)))))
                covers |= tool.of(Category.PATH) if certain else roles
        if meant.hosts:
            roles = tool.of(Category.URL) or tool.of(Category.PARTY)
            if roles:
                parts.append(Part(domains=(roles, meant.hosts)))
                covers |= roles
        named = any(a.has(Category.PLACE) and not a.has(Category.URL, Category.PARTY) for a in tool.arguments.values())
        values = (*meant.values, *meant.people, *(meant.hosts if named or not parts else ()))
        others: list[Part] = []
        if values:
            exact = certain != limit.outside  # what permits, and what lifts a prohibition, must be sure
            leaves, own = self._at_places(tool, values, meant, certain=exact or certain)
            if not exact:  # what the owner wrote is a spelling too
                _, own = self._at_places(tool, (*values, *self._written(limit.names)), meant, certain=False)
            if exact and own and certain:
                others = self._other_places(tool, leaves)
            elif exact and own:
                own = self._everywhere(tool, leaves, values, own)
            if exact and own:
                parts = [one.with_(two) for one in parts or [Part()] for two in own]  # every kind in its own place
            else:
                parts += own
            covers |= {role for leaf in leaves for role in tool.arguments[leaf].roles}
            names |= set(leaves)
        if not parts:
            return None if certain or self._might_reach(tool, meant) else UNCONCERNED
        found = self._signed(parts, covers, names, outside=limit.outside, certain=certain)
        return replace(found, unless=(*found.unless, *others))

    def _written(self, names: Iterable[Name]) -> tuple[str, ...]:
        """The names of the set-up as they are written here and there, for what compares loosely."""
        keys = [(name.text, key) for name in names if (key := self.setup.name_of(name.text)) is not None]
        return tuple(dict.fromkeys(text.lstrip("@") for pair in keys for text in pair))  # `@` would be a list

    def _everywhere(self, tool: Tool, leaves: Sequence[str], values: Sequence[str], own: list[Part]) -> list[Part]:
        """What lifts a prohibition outside a place: every argument that says where is there, not only one."""
        roles = frozenset(role for leaf in leaves for role in _places(tool.arguments[leaf]))
        shared = [a for leaf, a in tool.arguments.items() if leaf not in leaves and _places(a) & roles]
        return [self._among(roles, values)] if shared and roles and not _pair(tool) else own

    def _other_places(self, tool: Tool, leaves: Sequence[str]) -> list[Part]:
        """The other arguments that say where: a permission for a place keeps them out.

        Raises a `Problem` where a call cannot do without one, so that it cannot be told where it ends.
        """
        roles = frozenset(role for leaf in leaves for role in _places(tool.arguments[leaf]))
        words = frozenset(word for leaf in leaves for word in tool.arguments[leaf].words) & _REPOSITORY
        found = []
        for leaf, argument in tool.arguments.items():
            same = bool(_places(argument) & roles) and "thread" not in argument.words
            if leaf in leaves or not (same or set(argument.words) & words):
                continue
            if argument.required:
                shown = f"where `{leaves[0]}` is ... and `{leaf}` is ..."
                raise Problem(f"{tool.key} also needs `{leaf}`, which says where", f"write may use {tool.key} {shown}")
            found.append(Part(values={f"arg:{leaf}": PRESENT}))
        return found

    def _might_reach(self, tool: Tool, meant: Meant) -> bool:
        """Whether a tool without an argument for a place might work there all the same."""
        if tool.in_doubt:
            return True
        if not (meant.values or meant.people) or not tool.side_effects:
            return False  # files and hosts are reached through arguments alone
        return any(
            each.server == tool.server and any(a.has(Category.PLACE) for a in each.arguments.values())
            for each in self.tools
        )

    @staticmethod
    def _signed(
        parts: list[Part], covers: Iterable[str], names: Iterable[str], *, outside: bool, certain: bool
    ) -> Ground:
        """A limit, or its opposite: outside of it. What is outside in a permission must still be given."""
        if not outside:
            return Ground(tuple(parts), covers=frozenset(covers), names=frozenset(names))
        given = Part(values={f"arg:{leaf}": PRESENT for leaf in names} if certain else {})
        return Ground((given,), tuple(parts), frozenset(covers), frozenset(names))

    def _path_roles(self, tool: Tool, *, certain: bool) -> frozenset[str]:
        own = tool.of(Category.PATH)
        if certain or not self.acts:
            return own
        meant = frozenset(role for act in self.acts for role in PATHS_OF.get(act, own))
        return own & meant or (own if not meant else frozenset())

    def _at_places(
        self, tool: Tool, values: Sequence[str], meant: Meant, *, certain: bool
    ) -> tuple[list[str], list[Part]]:
        """The arguments that say where, and for each way of saying it what must hold."""
        pair = _pair(tool)
        whole = [value for value in values if value.count("/") == 1 and not isinstance(value, Reference)]
        if pair and whole:
            return list(pair), list(_repositories(pair, whole, values, certain=certain))
        if certain and any("*" in value for value in values):
            raise Problem(
                "a star stands for hosts and tools only", "name the places, or write where `argument` matches /.../"
            )
        leaves = self._place_leaves(tool, values, meant, certain=certain)
        if certain and len(leaves) > 1:  # one and the same argument at several depths: all values of its role
            roles = frozenset.intersection(*(_places(tool.arguments[leaf]) for leaf in leaves))
            return leaves, [self._among(roles, values)]
        if certain:  # of a host that is not public a permission must say that it is one of these
            found = [(tool.arguments[leaf], self._is_one_of(tool, tool.arguments[leaf], values)) for leaf in leaves]
            return leaves, [part.with_(self._machines(argument, values)) for argument, part in found]
        spelled = [
            _spellings(value) for value in values if re.search(r"[./*]", value) and not isinstance(value, Reference)
        ]
        texts = [Part(values={f"arg:{leaf}": {"matches": f"(?i)({'|'.join(spelled)})"}}) for leaf in leaves if spelled]
        return leaves, [*(self._is_one_of(tool, tool.arguments[leaf], values) for leaf in leaves), *texts]

    def _place_leaves(self, tool: Tool, values: Sequence[str], meant: Meant, *, certain: bool) -> list[str]:
        """The arguments that say where; in a permission it must be plain which one is meant."""
        if not certain:
            holding = [a for a in tool.arguments.values() if a.has(Category.PLACE) or _contains(a)]
            return [a.leaf for a in holding if not a.choices or _folded(values) & _folded(a.choices)]
        candidates = [a for a in tool.arguments.values() if a.has(Category.PLACE)]
        candidates = candidates or [a for a in tool.arguments.values() if a.roles & {"account", "identifier"}]
        candidates = [a for a in candidates if not a.choices or any(v in a.choices for v in values)]
        chosen = [a for a in candidates if any(v in a.choices for v in values)]
        words = {normal(word) for name in meant.words for word in name.split()}
        spoken = [a for a in candidates if set(a.words) & words]
        if any(value.startswith("#") for value in values):
            chosen = chosen or [a for a in candidates if a.roles & {"channel"}]
        found = chosen or spoken or candidates
        if len(found) <= 1:
            return [a.leaf for a in found]
        for better in (
            [a for a in found if set(a.words) & _CONTAINERS],
            [a for a in found if a.roles & {"channel", "calendar", "repository"}],
            [a for a in found if a.required],
        ):
            if len(better) == 1:
                return [better[0].leaf]
        if len({_last(a.leaf) for a in found}) == 1 and frozenset.intersection(*map(_places, found)):
            return [a.leaf for a in found]
        shown = " or ".join(f"where `{a.leaf}` is {values[0]}" for a in found[:3])
        raise Problem(f"{tool.key} has several arguments for a place", f"write {shown}")

    def _is_one_of(self, tool: Tool, argument: Argument, values: Sequence[str]) -> Part:
        """The argument is one of these; lists of the set-up are asked by the argument's role."""
        leaf = argument.leaf
        if any(isinstance(value, Reference) for value in values):
            own = frozenset(role for role in argument.roles if not self._is_shared(tool, leaf, role))
            if own and argument.types <= {"string", "null", "array"} and argument.types:  # lists hold texts
                return self._among(own, values)
            values = [each for value in values for each in self._members(value)]
        return Part(values={f"arg:{leaf}": {"in": sorted(_typed(argument, values), key=str)}})

    @staticmethod
    def _is_shared(tool: Tool, leaf: str, role: str) -> bool:
        return any(role in a.roles for name, a in tool.arguments.items() if name != leaf)

    def _members(self, value: str) -> Sequence[str]:
        return self.setup.known.lists[value[1:]].values if isinstance(value, Reference) else (value,)

    def _among(self, roles: Iterable[str], values: Sequence[str]) -> Part:
        """The values of some roles are among these; in a list of a rule, an `@` before a name would be another list."""
        roles = frozenset(roles)
        if not any(value.startswith("@") and not isinstance(value, Reference) for value in values):
            return Part(lists=((roles, tuple(values)),))
        every = dict.fromkeys(each for value in values for each in self._members(value))
        return Part(values={f"role:{'+'.join(sorted(roles))}": {"in": sorted(every)}})

    # --- Who. ---

    def _people(self, limit: People, tool: Tool, *, certain: bool) -> Ground | None:
        roles = tool.of(Category.PARTY)
        if not roles or (limit.members and _goes_to_another(tool)):
            return None
        present = Part(values={f"role:{'+'.join(sorted(roles))}": PRESENT})
        if not limit.members and (certain or self.acts & _TO_SOMEBODY):
            return Ground(covers=roles)
        if not limit.members:  # somebody is written to, and not only the thing done
            return Ground((present,), covers=roles)
        names = [each for each in limit.members if isinstance(each, Name)]
        domains = tuple(each.name.text for each in limit.members if isinstance(each, Domain))
        meant = self._meant(names, empty_is_error=not certain or limit.outside)
        if meant.paths:
            raise Problem(f"{' '.join(meant.words)} is a directory, and nobody", "name a list or an address")
        if undescribed := next((leaf for leaf, a in tool.arguments.items() if a.free and a.has(Category.PARTY)), ""):
            raise Problem(
                f"`{undescribed}` of {tool.key} has no schema: it is not known where people are in it",
                f"name the member: where `{undescribed}.email` is in ..., or except where it is",
            )
        parts = []
        handles = self._handles(names)
        people = (*meant.people, *meant.values, *handles)
        if certain == limit.outside:  # a person may have a name that looks like a host
            people = (*people, *(host for host in meant.hosts if not isinstance(host, Reference) and "*" not in host))
        if id_ := next((each for each in people if not isinstance(each, Reference) and not _is_party(each)), ""):
            shown = " ".join(meant.words)
            raise Problem(
                f'"{id_}" is not an address or name of a person', f'if {shown} is a place, write in "{shown}"'
            )
        if people and certain == limit.outside:  # the name itself is a spelling, too
            people = tuple(dict.fromkeys((*people, *self._written(names))))
        if people:
            parts.append(self._among(roles, people))
        hosts = (*(host for host in meant.hosts if host not in handles or certain == limit.outside), *domains)
        if hosts:
            parts.append(Part(domains=(roles, hosts)))
        if not limit.outside:
            return Ground(tuple(parts), covers=roles)
        if certain or not _needs_somebody(tool):
            return Ground((present,), tuple(parts), covers=roles)
        return Ground(unless=tuple(parts), covers=roles)

    def _handles(self, names: Sequence[Name]) -> tuple[str, ...]:
        """Return the values of people's names that look like hosts and are how a service calls them: `joost.dv`."""
        found: list[str] = []
        for name in names:
            meant = self.setup.meant([name])
            another = bool(meant.people or meant.values)  # then the name is a person's, and no domain
            found += [h for h in meant.hosts if another or h.lower() != name.text.lower()]
        return tuple(host for host in found if not isinstance(host, Reference) and "*" not in host)

    def _meant(self, names: Sequence[Name], *, empty_is_error: bool) -> Meant:
        meant = self.setup.meant(names)
        if empty_is_error and meant.empty_lists:
            raise Problem(f"the list {meant.empty_lists[0]} is empty, so nothing would hold", "fill it first")
        return meant

    # --- With which arguments. ---

    def _where(self, limit: Where, tool: Tool, *, certain: bool) -> Ground | None:
        whole = Ground()
        given = {each.argument for each in limit.conditions if each.test is Comparison.GIVEN}
        several = sum(condition.test is Comparison.IN for condition in limit.conditions) > 1
        for condition in _combined(limit.conditions if certain else _one_text(limit.conditions)):
            argument = tool.argument(condition.argument)
            if argument is None:
                return None
            said = replace(condition, given=condition.given or condition.argument in given)
            apart = replace(self, by_name=self.by_name or several)
            whole = whole.with_(apart.condition(said, argument, tool, certain=certain))
        return whole

    def condition(self, condition: Condition, argument: Argument, tool: Tool, *, certain: bool) -> Ground:
        """Return what one condition on an argument comes to."""
        key, test = f"arg:{argument.leaf}", condition.test
        names, covers = frozenset({argument.leaf}), argument.roles
        present = Part(values={key: PRESENT})
        if test is Comparison.GIVEN:
            return Ground((present,), covers=covers, names=names)
        if test is Comparison.LEFT_OUT:
            return Ground((_absent(argument),), names=names)
        optional = not argument.required and not argument.has_default
        if not certain and optional and not condition.given and not condition.or_left_out:
            raise Problem(
                f"`{argument.leaf}` may be left out, and it is not said what then",
                f"write `{argument.leaf}` {test.value} ... or left out,"
                f" or `{argument.leaf}` is given and {test.value} ...",
            )
        part, negated = self._asked(condition, argument, tool, certain=certain)
        others = self._otherwise_spelled(condition, argument, tool) if certain == negated else ()
        if negated:
            given = Part() if condition.or_left_out or (argument.required and not certain) else present
            if certain and condition.or_left_out:
                return Ground(unless=(part, *others), covers=covers, names=names)
            return Ground((given,), (part, *others), covers, names)
        parts = (part, *others)
        if condition.given and not certain:  # what is left out and picked by the server is not given
            parts = tuple(each.with_(present) for each in parts)
        return Ground((*parts, *([_absent(argument)] if condition.or_left_out else ())), covers=covers, names=names)

    def _otherwise_spelled(self, condition: Condition, argument: Argument, tool: Tool) -> tuple[Part, ...]:
        """What else a value may be that is tightened by its name: one of several in a text, a member of a list."""
        if condition.test not in (Comparison.IS, Comparison.IS_NOT):
            return ()
        found: list[Part] = []
        lists = [name for name in condition.values if self.setup.list_of(name) is not None]
        if lists and not self._names_people(condition.values, argument):
            found.append(self._inside(lists, argument, tool, certain=False))
        texts = [text for name in condition.values for text in self._spelled(name.text, argument)]
        if relative := [text for text in texts if _is_relative(text, argument)]:
            found.append(
                Part(values={f"arg:{argument.leaf}": {"matches": _anywhere("|".join(map(_escaped, relative)))}})
            )
        plain = any(text in _FLAGS or re.fullmatch(r"-?[0-9.]+", text) for text in texts)
        if argument.leaf not in tool.arguments and not plain:  # no schema says that it is one name
            several = "|".join(_escaped(text) for text in dict.fromkeys(texts))
            found.append(Part(values={f"arg:{argument.leaf}": {"matches": rf"(?i)(.*[,;\s])?({several})([,;\s].*)?"}}))
        return tuple(found)

    def _asked(self, condition: Condition, argument: Argument, tool: Tool, *, certain: bool) -> tuple[Part, bool]:
        """The condition as a part, and whether it is the part that must not hold."""
        key, test = f"arg:{argument.leaf}", condition.test
        texts = [value.text for value in condition.values]
        if not certain and (part := self._of_path(condition, argument)) is not None:
            return part, False
        if (part := _by_kind(condition, argument)) is not None:
            return part, test is Comparison.LONGER
        match test:
            case Comparison.IS | Comparison.IS_NOT if self._names_people(condition.values, argument):
                return self._inside(condition.values, argument, tool, certain=certain), test is Comparison.IS_NOT
            case Comparison.IS | Comparison.IS_NOT:
                loosely = certain == (test is Comparison.IS_NOT)  # then the name itself is a spelling, too
                every = [each for text in texts for each in self._spelled(text, argument)]
                written = (*texts, *self._written(condition.values)) if loosely else ()
                values = _typed(argument, list(dict.fromkeys([*every, *written])))
                machines = self._machines(argument, every) if certain and test is Comparison.IS else Part()
                return Part(values={key: {"in": values}}).with_(machines), test is Comparison.IS_NOT
            case Comparison.AT_MOST | Comparison.AT_LEAST | Comparison.ABOVE | Comparison.BELOW:
                return _compared(test, texts[0], argument, certain=certain)
            case Comparison.IN:
                return self._inside(condition.values, argument, tool, certain=certain), False
            case Comparison.UNDER:
                return self._beneath(condition, argument, tool, certain=certain), False
            case Comparison.MATCHES if not certain and argument.has(Category.PATH) and "~" in texts[0]:
                raise Problem("paths are compared in full, without ~", f"write {self.setup.known.home}/...")
            case Comparison.MATCHES:
                return Part(values={key: {"matches": texts[0].replace("\\/", "/")}}), False
            case Comparison.CONTAINS if certain and "array" in argument.types:  # one of the elements
                values = _typed(argument, [each for text in texts for each in self._spelled(text, argument)])
                return Part(values={key: {"in": values}}), False
            case Comparison.STARTS if certain and any(text.startswith("/") for text in texts):
                raise Problem("`starts with` a slash says nothing of `..`", f"write is under {texts[0]}")
        spelled = [each for text in texts for each in {text: None, **dict.fromkeys(self._spelled(text, argument))}]
        if not certain:
            spelled = [form for text in spelled for form in self._canonical_text(text, argument)]
        listed = _is_named(argument, tool)
        return Part(values={key: {"matches": _text_pattern(test, spelled, certain=certain, listed=listed)}}), False

    def _beneath(self, condition: Condition, argument: Argument, tool: Tool, *, certain: bool) -> Part:
        """What `is under` comes to: a directory here, or one of another machine by the name alone."""
        if argument.has(Category.PATH):  # a canonical path: links lead nowhere else
            return self._inside(condition.values, argument, tool, certain=certain)
        places = [place for name in condition.values for place in self._located(name, certain=certain)]
        return Part(values={f"arg:{argument.leaf}": {"matches": _under(places, certain=certain)}})

    def _of_path(self, condition: Condition, argument: Argument) -> Part | None:
        """What a prohibition says of a part of a path: `config/`, `.env`; paths are compared in full."""
        known = [n for n in condition.values if self.setup.name_of(n.text) or self.setup.directory_of(n)]
        if not any(_is_relative(name.text, argument) for name in condition.values if name not in known):
            return None
        texts = [text for name in condition.values for text in self._located(name, certain=False)]
        match condition.test:
            case Comparison.UNDER:
                pattern = "|".join(f"{_escaped(text.rstrip('/'))}(/.*)?" for text in texts)
            case Comparison.STARTS:
                pattern = "|".join(f"{_escaped(text)}.*" for text in texts)
            case Comparison.MATCHES if not texts[0].startswith("\\/"):
                pattern = condition.values[0].text.replace("\\/", "/")
            case _:
                return None
        return Part(values={f"arg:{argument.leaf}": {"matches": _anywhere(pattern)}})

    def _located(self, name: Name, *, certain: bool) -> Sequence[str]:
        """Return the directories, here or elsewhere, that a name stands for; what tightens takes every spelling."""
        key, home = self.setup.name_of(name.text), self.setup.known.home
        found = self.setup.directory_of(name)
        places = self.setup.known.names[key] if key is not None else (name.text if found is None else found,)
        if certain:
            return places
        full = [self.setup.known.absolute(place) for place in places]
        return list(dict.fromkeys([*places, *full, *("~" + p.removeprefix(home) for p in full if p.startswith(home))]))

    def _canonical_text(self, text: str, argument: Argument) -> Iterator[str]:
        """A text as it stands in what it is compared with: a path in full, a number in digits."""
        yield text
        if argument.has(Category.PATH) and text.startswith("~"):
            yield self.setup.known.absolute(text)
        if argument.has(Category.PATH) and len(text) > 1 and text.endswith("/"):
            yield self.setup.known.absolute(text.rstrip("/"))
        if argument.has(Category.PARTY) and re.fullmatch(r"\+[0-9][0-9 ./-]*", text):
            yield re.sub(r"[ ./-]", "", text)
        if argument.has(Category.URL, Category.PARTY) and not text.isascii():
            raise Problem("addresses are compared in ASCII", "write on HOST, or to anyone at HOST")

    def _names_people(self, names: Sequence[Name], argument: Argument) -> bool:
        """Whether an argument that holds people is compared with a list of them: `to` is "my children"."""
        lists = [found for name in names if (found := self.setup.list_of(name)) is not None]
        return bool(lists) and argument.has(Category.PARTY) and bool(self.setup.meant(names).people)

    def _spelled(self, text: str, argument: Argument) -> Sequence[str]:
        """A value as it is sent: a name of the set-up for an argument that takes names stands for its values."""
        key = self.setup.name_of(text)
        return (text,) if argument.choices or key is None else self.setup.known.names[key]

    def _inside(self, names: Sequence[Name], argument: Argument, tool: Tool, *, certain: bool) -> Part:
        meant = self._meant(names, empty_is_error=True)
        key = f"arg:{argument.leaf}"
        if meant.paths:
            roles = frozenset(r for r in argument.roles if r.endswith("-path"))
            if roles and not self.by_name and not any(self._is_shared(tool, argument.leaf, role) for role in roles):
                return Part(paths=(roles, meant.paths))
            if roles:  # a canonical path
                places = "|".join(f"{_escaped(place.rstrip('/'))}(/.*)?" for place in meant.paths)
                return Part(values={key: {"matches": places}})
            home = self.setup.known.home
            spelled = [*meant.paths, *("~" + p.removeprefix(home) for p in meant.paths if p.startswith(f"{home}/"))]
            return Part(values={key: {"matches": _under(spelled if not certain else meant.paths, certain=certain)}})
        if meant.hosts and not (meant.people or meant.values) and argument.has(Category.PARTY):
            return self._at_domains(meant.hosts, argument, tool)
        if meant.hosts and argument.has(Category.URL):
            return Part(domains=(frozenset(r for r in argument.roles if r.endswith("-url")), meant.hosts))
        every = (*meant.people, *meant.values, *meant.hosts)
        part = self._is_one_of(tool, argument, every)
        return part.with_(self._machines(argument, every)) if certain else part

    def _at_domains(self, hosts: tuple[str, ...], argument: Argument, tool: Tool) -> Part:
        """Return that the people of an argument have addresses at some domains."""
        roles = frozenset(role for role in argument.roles if category(Role(role)) is Category.PARTY)
        if not any(self._is_shared(tool, argument.leaf, role) for role in roles):
            return Part(domains=(roles, hosts))
        every = [each for host in hosts for each in self._members(host)]
        return Part(values={f"arg:{argument.leaf}": {"matches": rf"(?i)[^@]*@({'|'.join(map(_domain, every))})"}})

    def _machines(self, argument: Argument, values: Sequence[str]) -> Part:
        """Return that a host is one of these, which a permission must say of hosts that are not public."""
        roles = frozenset(role for role in argument.roles if role.endswith("-url"))
        every = [each for value in values for each in self._members(value)]
        return Part(domains=(roles, tuple(every))) if roles and all(map(_HOST.fullmatch, every)) else Part()

    def _giving(self, limit: Giving, tool: Tool) -> Ground:
        wanted = {a.leaf for name in limit.arguments if (a := tool.argument(name)) is not None}
        inside = tuple(start for name in limit.arguments for start in (f"{name}.", f"{name}["))
        wanted |= {leaf for leaf in tool.arguments if leaf.startswith(inside)}
        for leaf in sorted(wanted - tool.arguments.keys()):
            above = next(name for name in tool.arguments if leaf.startswith(f"{name}."))
            raise Problem(
                f"`giving only` cannot close the members of `{above}`, which has no schema",
                f"write `{above}` in its place, and what its members must be in a where",
            )
        unless, fixed = [], Part()
        for leaf, argument in tool.arguments.items():
            if leaf in wanted or any(leaf.startswith((f"{name}.", f"{name}[")) for name in wanted):
                continue
            if argument.required:
                raise Problem(f"{tool.key} needs `{leaf}`", f"name it too: giving only ..., `{leaf}`")
            plain = argument.default != "" and isinstance(argument.default, (str, int, float))
            if argument.has_default and plain and "." not in leaf:  # inside something that is left out, there is none
                fixed = fixed.with_(Part(values={f"arg:{leaf}": {"equals": argument.default}}))
            else:
                unless.append(Part(values={f"arg:{leaf}": PRESENT}))
        return Ground((fixed,), tuple(unless), names=frozenset(wanted))

    # --- With what. ---

    def _attachments(self, limit: Attachments, tool: Tool, *, certain: bool) -> Ground | None:
        leaves = [leaf for leaf, a in tool.arguments.items() if "read-path" in a.roles or is_attached(a)]
        if limit.without:
            return Ground(unless=tuple(Part(values={f"arg:{leaf}": PRESENT}) for leaf in leaves))
        if not leaves:
            return None
        roles = tool.roles & {"read-path"}
        if not limit.names:
            present = tuple(Part(values={f"arg:{leaf}": PRESENT}) for leaf in leaves)
            return Ground(present, covers=roles, names=frozenset(leaves))
        meant = self.setup.meant(limit.names)
        if not meant.paths or not roles:
            return None
        files = frozenset(leaf for leaf in leaves if "read-path" in tool.arguments[leaf].roles)
        others = [] if certain else [leaf for leaf in leaves if leaf not in files and tool.arguments[leaf].roles]
        unknown = tuple(Part(values={f"arg:{leaf}": PRESENT}) for leaf in others)  # where they are from is not said
        return Ground((Part(paths=(roles, meant.paths)), *unknown), covers=roles, names=files)

    def _reads(self, key: str) -> bool:
        return any(tool.key == key and "read" in tool.might.acts for tool in self.tools)

    def _readers_of(self, names: Sequence[Name]) -> tuple[str, ...]:
        meant = self.setup.meant(names)
        found = [
            tool.key
            for tool in self.tools
            if (meant.paths and "read-path" in tool.roles)
            or (meant.hosts and "fetch-url" in tool.roles)
            or (meant.values and tool.of(Category.PLACE) and "read" in tool.might.acts)
        ]
        return tuple(found)


def _by_kind(condition: Condition, argument: Argument) -> Part | None:
    """Return what a condition comes to that the kind of the argument decides: a length, or one of several numbers."""
    if condition.test in (Comparison.LONGER, Comparison.NO_LONGER):
        return _length(condition, argument)
    textual = (Comparison.CONTAINS, Comparison.STARTS, Comparison.ENDS, Comparison.MATCHES)
    return _of_numbers(condition, argument) if condition.test in textual and _holds_no_text(argument) else None


def _length(condition: Condition, argument: Argument) -> Part:
    """Return that a text has at most so many characters."""
    if argument.types and "string" not in argument.types:
        raise Problem(f"`{argument.leaf}` is no text", "only texts have a length; write is at most or is more than")
    return Part(values={f"arg:{argument.leaf}": {"maxLength": int(condition.values[0].text)}})


def _holds_no_text(argument: Argument) -> bool:
    """Return whether an argument is a number, or a list of numbers."""
    return bool(argument.types & {"integer", "number"}) and argument.types <= {"integer", "number", "array", "null"}


def _of_numbers(condition: Condition, argument: Argument) -> Part:
    """Return that a list of numbers contains one; numbers have no beginning, end or pattern."""
    if condition.test is not Comparison.CONTAINS:
        raise Problem(f"`{argument.leaf}` holds numbers", f"write `{argument.leaf}` is 1 or 2, or is at most 5")
    texts = [value.text for value in condition.values]
    for text in texts:
        _number(text)
    return Part(values={f"arg:{argument.leaf}": {"in": _typed(argument, texts)}})


def _domain(host: str) -> str:
    """Return a pattern for a domain, or for all below one."""
    below = host.startswith("*.")
    return rf"([^@]*\.){_escaped(host[2:])}" if below else _escaped(host)


def is_attached(argument: Argument) -> bool:
    """Whether an argument is, or is part of, what goes along with a message, in whatever form."""
    return not {"attach", "attachment", "attached", "enclosure", "media"}.isdisjoint(words_of(argument.leaf))


def _contains(argument: Argument) -> bool:
    """Whether an argument names what holds something: a table, a list, a notebook."""
    return bool(argument.roles & {"account", "identifier"}) and not _CONTAINERS.isdisjoint(argument.words)


def _folded(values: Iterable[object]) -> set[str]:
    return {str(value).lstrip("#@").lower() for value in values}


def _last(leaf: str) -> str:
    return leaf.rpartition(".")[2].rstrip("[]")


def _places(argument: Argument) -> frozenset[str]:
    return frozenset(role for role in argument.roles if category(Role(role)) is Category.PLACE)


def _count(limit: Count, tool: Tool) -> Ground | None:
    more = {"minItems": limit.beyond + 1}
    if not limit.noun or (_is_people(limit.noun) and not any(_counts(a, normal(limit.noun)) for a in _lists(tool))):
        people = sorted(tool.of(Category.PARTY))
        return Ground((Part(values={f"role:{'+'.join(people)}": more}),)) if people else None
    noun = normal(limit.noun)
    meant = [a for a in tool.arguments.values() if _counts(a, noun)]
    several = [a for a in meant if "array" in a.types or "[]" in a.leaf]
    if any(a not in several and _is_plural(a) for a in meant):
        return None  # several in one text cannot be counted
    by_list: dict[str, list[Argument]] = {}
    for argument in several:
        by_list.setdefault(argument.leaf.partition("[]")[0], []).append(argument)
    if len(by_list) > 1:
        return None  # several lists are not added up
    counted = [a for a in several if "[]" not in a.leaf or (a.required and "null" not in a.types)]
    return Ground(tuple(Part(values={f"arg:{a.leaf}": more}) for a in counted[:1])) if counted else None


def _is_people(noun: str) -> bool:
    return normal(noun) in ("people", "person", "recipient", "attendee", "guest", "contact", "address")


def _lists(tool: Tool) -> list[Argument]:
    return [argument for argument in tool.arguments.values() if "array" in argument.types or "[]" in argument.leaf]


def can_be_counted(limit: Count, tool: Tool) -> bool:
    """Return whether a tool has an argument that holds what is to be counted, be it in a way that can be counted."""
    noun = normal(limit.noun)
    people = not noun or _is_people(noun)
    return (people and bool(tool.of(Category.PARTY))) or any(_counts(each, noun) for each in tool.arguments.values())


def _counts(argument: Argument, noun: str) -> bool:
    """Whether an argument holds such things: by its name, by the list that it is an element of, or as files."""
    lists = {word for part in argument.leaf.split("[]")[:-1] for word in map(normal, words_of(part.rpartition(".")[2]))}
    return noun in lists or noun in argument.words or (noun == "file" and argument.has(Category.PATH))


def _is_plural(argument: Argument) -> bool:
    name = _last(argument.leaf).lower()
    return name.endswith(("s", "list")) and not name.endswith("ss")


def _one_text(conditions: Sequence[Condition]) -> Sequence[Condition]:
    """The conditions with one on the text of each argument: a rule has room for one, and fewer hold more often."""
    tests = (Comparison.STARTS, Comparison.ENDS, Comparison.CONTAINS, Comparison.MATCHES)
    last = {each.argument: each for each in conditions if each.test in tests}
    return [each for each in conditions if each.test not in tests or last[each.argument] is each]


def _combined(conditions: Sequence[Condition]) -> list[Condition]:
    """The conditions less a plain `is given` beside another on the same argument."""
    others = {each.argument for each in conditions if each.test is not Comparison.GIVEN}
    return [each for each in conditions if each.test is not Comparison.GIVEN or each.argument not in others]


def _is_party(text: str) -> bool:
    """Return whether a text can be one party of a call: an address, a telephone number, a name or an id."""
    parties = resolve_parties(text)
    return not isinstance(parties, Opaque) and len(parties) == 1


def _goes_to_another(tool: Tool) -> bool:
    """Return whether the server picks the recipient: a reply whose only people are those who get a copy."""
    people = [argument for argument in tool.arguments.values() if argument.has(Category.PARTY)]
    copies = all({"cc", "bcc"} & set(argument.words) for argument in people)
    return copies and bool(set(words_of(tool.name)) & {"reply", "respond", "answer", "forward"})


def _needs_somebody(tool: Tool) -> bool:
    """Whether a call goes to somebody even where it names nobody: a reply does, an event without guests does not."""
    picked = any(argument.absent_unknown for argument in tool.arguments.values() if argument.has(Category.PARTY))
    return picked or tool.in_doubt or bool(tool.named_acts & _TO_SOMEBODY)


def _absent(argument: Argument) -> Part:
    return Part(absent=frozenset({argument.leaf}))


def known_argument(tool: Tool, name: str, *, whole: bool = False) -> None:
    """Raise a `Problem` if a tool has no such argument; `whole` if an object with all in it may be named."""
    if tool.argument(name) is None:
        leaves = [*tool.arguments]
        if whole and any(leaf.startswith((f"{name}.", f"{name}[")) for leaf in leaves):
            return
        raise Problem(
            f"{tool.key} has no argument `{name}`",
            did_you_mean(name, leaves, f"it has {', '.join(f'`{leaf}`' for leaf in leaves[:8])}"),
        )


_REPOSITORY: Final = frozenset({"owner", "repo", "repository", "org", "organization"})


def _repositories(
    pair: tuple[str, ...], whole: Sequence[str], values: Sequence[str], *, certain: bool
) -> Iterator[Part]:
    """Repositories by owner and name, together; a star stands for every name of an owner."""
    owner, name = pair
    for one, two in (value.split("/") for value in whole):
        if two == "*":
            yield Part(values={f"arg:{owner}": {"in": [one]}})
        elif "*" in one + two:
            raise Problem(
                f"{one}/{two}: a star stands for all names of an owner", f"write {one.strip('*') or 'owner'}/*"
            )
        elif certain:
            yield Part(values={f"arg:{owner}": {"in": [one]}, f"arg:{name}": {"in": [two]}})
    named = sorted({value.rpartition("/")[2] for value in values} - {"*"})
    if not certain and named:
        yield Part(values={f"arg:{name}": {"in": named}})
        yield Part(values={f"arg:{name}": {"matches": f"(?i)({'|'.join(map(_spellings, named))})"}})


def _spellings(value: str) -> str:
    """A pattern for other spellings of a host or a repository: in a URL, with a port, with `.git`."""
    text = _escaped(value.removeprefix("*.")).replace("\\*", ".*")
    before = r"(.*[/@.:])?"
    return rf"{before}{text}(\.git)?([.:/?#].*)?"


def _pair(tool: Tool) -> tuple[str, ...]:
    """The two arguments by which `owner/name` is given, if there are two."""
    owner = next((leaf for leaf in tool.arguments if leaf.lower() in ("owner", "org", "organization", "namespace")), "")
    name = next(
        (leaf for leaf in tool.arguments if leaf.lower() in ("repo", "repository", "repo_name", "reponame")), ""
    )
    return (owner, name) if owner and name else ()


_FLAGS: Final = ("true", "false", "yes", "no")


def _typed(argument: Argument, texts: Iterable[str]) -> list[Any]:
    """Values as the argument has them: numbers and flags where it takes those."""
    found: list[Any] = []
    for text in texts:
        if text in _FLAGS and (argument.is_flag or not argument.types):
            found.append(text in ("true", "yes"))
            found += [text] if argument.types != {"boolean"} else []
            found += [int(text in ("true", "yes"))] if argument.types & {"integer", "number"} else []
        elif (argument.types & {"integer", "number"} or not argument.types) and re.fullmatch(r"-?\d+(?:\.\d+)?", text):
            found.append(_number(text))
            found += [text] if "string" in argument.types or not argument.types else []
        else:
            found.append(text)
    return list(dict.fromkeys(found))


_UPPER: Final = (Comparison.AT_MOST, Comparison.ABOVE)


def _compared(test: Comparison, text: str, argument: Argument, *, certain: bool) -> tuple[Part, bool]:
    """A bound on a number, and whether it is what must not hold; of a text, only what surely is such a number."""
    key = f"arg:{argument.leaf}"
    if "array" in argument.types and not argument.types & {"integer", "number"}:
        return Part(values={key: _counted(test, text, argument, certain=certain)}), False
    upper, beyond = (test in pair for pair in (_UPPER, (Comparison.ABOVE, Comparison.BELOW)))
    if _is_text(argument) and beyond == certain:
        return Part(values={key: {"matches": _beyond(text, most=upper)}}), not certain
    return Part(values={key: _bounded(argument, text, most=upper)}), beyond


def _counted(test: Comparison, text: str, argument: Argument, *, certain: bool) -> dict[str, Any]:
    """A bound on how many a list holds; what permits counts only elements that are one each."""
    number = _number(text)
    if not isinstance(number, int) or number < 0:
        raise Problem(f"`{argument.leaf}` is a list, and {text} does not count", "write a whole number")
    if test in (Comparison.AT_LEAST, Comparison.ABOVE):
        return {"minItems": number + (test is Comparison.ABOVE)}
    most = {"maxItems": max(number - (test is Comparison.BELOW), 0)}
    return {**most, "matches": "[^,;]*"} if certain else most


def _bounded(argument: Argument, text: str, *, most: bool) -> dict[str, Any]:
    """A bound on a number; an argument that takes numbers as text is compared digit by digit."""
    number = _number(text)
    if argument.types and not argument.types & {"integer", "number"} and "string" in argument.types:
        if not isinstance(number, int) or number < 0:
            raise Problem(f"`{argument.leaf}` is a text, and {text} no whole number", "write a whole number")
        return {"matches": _at_most(number) if most else _at_least(number)}
    return {"maximum" if most else "minimum": number}


def _is_text(argument: Argument) -> bool:
    return "string" in argument.types and not argument.types & {"integer", "number"}


def _beyond(text: str, *, most: bool) -> str:
    """A pattern for texts that are certainly on the other side of a bound, so that a never does not hold for them."""
    number = _number(text)
    if not isinstance(number, int) or number < 0:
        raise Problem(f"{text} is no whole number, and the argument is a text", "write a whole number")
    return _at_least(number + 1) if most else _at_most(number - 1).replace(r"(\.0+)?", r"(\.\d+)?") if number else "-"


def _at_most(number: int) -> str:
    """A pattern for decimal numbers from 0 to a whole number."""
    text = str(number)
    below = [rf"[1-9]\d{{{length - 1}}}" for length in range(1, len(text))]
    for place, digit in enumerate(text):
        least = 1 if place == 0 and len(text) > 1 else 0
        if int(digit) > least:
            below.append(rf"{text[:place]}[{least}-{int(digit) - 1}]\d{{{len(text) - place - 1}}}")
    smaller = "|".join(["0", *below] if len(text) > 1 else below) if number else ""
    return (rf"({smaller})(\.\d+)?|" if smaller else "") + rf"{text}(\.0+)?"


def _at_least(number: int) -> str:
    """A pattern for decimal numbers from a whole number on."""
    text = str(number)
    above = [rf"[1-9]\d{{{len(text)},15}}"]
    for place, digit in enumerate(text):
        if int(digit) < 9:
            above.append(rf"{text[:place]}[{int(digit) + 1}-9]\d{{{len(text) - place - 1}}}")
    return rf"({'|'.join([*above, text])})(\.\d+)?"


def _number(text: str) -> float | int:
    if not re.fullmatch(r"-?\d+(?:\.\d+)?", text):
        raise Problem(f"{text} is no number", "write a number like 500")
    return float(text) if "." in text else int(text)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: "\\" + found.group(), text)


def _under(texts: Sequence[str], *, certain: bool) -> str:
    """Below a directory by name alone, without dot segments; what tightens also looks at everything that has some."""
    # One path: no separators, blanks around a segment, escapes or shell syntax, in which another could stand.
    first, more, last = r"[^/.\s,;|&$%`\\]", r"[^/\n,;|&$%`\\]*", r"[^/\s,;|&$%`\\]"
    segment = rf"\.?{first}({more}{last})?"
    if certain:
        return "|".join(f"{_escaped(text.rstrip('/'))}(/{segment})*/?" for text in texts)
    return "(?i)(" + "|".join(f"{_escaped(text.rstrip('/'))}(/.*)?" for text in texts) + r"|.*\.\..*|.*/\./.*|.*//.*)"


def _is_relative(text: str, argument: Argument) -> bool:
    """Return whether a text is part of a path, which is compared in full: `.env`, `config/prod.yml`."""
    return argument.has(Category.PATH) and not text.startswith(("/", "~")) and "://" not in text


def _anywhere(pattern: str) -> str:
    """Return a pattern for what a prohibition says of a path, wherever on the way to it that stands."""
    return f"(?i)(.*/)?({pattern.removeprefix('(?i)')})"


def _is_named(argument: Argument, tool: Tool) -> bool:
    """Whether an argument names something, so that a server may read several names in one text of it."""
    named = argument.leaf not in tool.arguments or argument.has(Category.PLACE, Category.OTHER)
    named = (named or "identifier" in argument.roles) and "command" not in argument.roles
    return named and not argument.has(Category.PATH, Category.URL, Category.PARTY)


def _text_pattern(test: Comparison, texts: Sequence[str], *, certain: bool, listed: bool) -> str:
    """How texts begin, end or go on; `listed` if a server may read several names in one text.

    What permits looks at one name; what tightens at each of them, with or without `#` and `@`.
    """

    def pattern(text: str) -> str:
        before = after = ".*"
        if certain and listed and not re.search("[,;]", text):
            before = after = r"[^,;]*" if re.search(r"\s", text) else r"[^,;\s]*"
        first = last = ""
        if not certain and listed:
            first, last = r"(.*[,;\s])?[#@]*", r"([,;\s].*)?"
            text = text.lstrip("#@") or text
        before = first if test is Comparison.STARTS else before
        return f"{before}{_escaped(text)}{last if test is Comparison.ENDS else after}"

    found = "|".join(map(pattern, texts))
    return found if certain else f"(?i)({found})"
