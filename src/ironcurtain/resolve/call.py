"""Takes a validated call apart by its tool's annotation and puts the canonical call together.

The arguments are walked once, along the leaves of the annotation. Each value is resolved by the category of its roles
and the canonical form is written into the copy that is forwarded; what the engine sees and what is sent come from the
same step.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from ironcurtain.errors import Refusal, quote
from ironcurtain.model.call import CanonicalCall, RoleValue, Stray, is_empty
from ironcurtain.model.resolved import UNKNOWN, Opaque, Value
from ironcurtain.model.roles import (
    COMMAND,
    FETCH_URL,
    HOST,
    IDENTIFIER,
    NONE,
    READ_PATH,
    SEND_URL,
    Category,
    Role,
    category,
)
from ironcurtain.resolve.commands import resolve_command, words_of
from ironcurtain.resolve.parties import resolve_parties
from ironcurtain.resolve.paths import Remembered, Steps, is_relative_name
from ironcurtain.resolve.places import resolve_place
from ironcurtain.resolve.text import after_blanks, before_blanks, hides, looks_like_flag, require_visible
from ironcurtain.resolve.urls import looks_like_name, looks_like_url, resolve_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ironcurtain.model.call import Arguments, Json, ToolCall
    from ironcurtain.model.policy import Mode, Shape, Tool
    from ironcurtain.resolve.hosts import Lookup
    from ironcurtain.resolve.paths import PathResolver

MAX_STRAY: Final = 4096  # bytes; longer strings are compared by their letters alone, and only so far
MAX_PATHS: Final = 262_144  # characters of all paths
MAX_STRAYS: Final = 65_536  # characters of all of them, up to their first line break
_BRACKET: Final = 16  # characters that an opening bracket counts for: comparing it takes as long
MAX_ROLE_VALUES: Final = 1_000  # values of roles in one call, and stray strings
_LOCATED: Final = (Category.PATH, Category.URL)
_COUNTED: Final = (Category.PARTY, Category.PATH, Category.URL)
_STRAY_STARTS: Final = ("/", ".", "~/")
_FILE_URL: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*:)*?file:", re.IGNORECASE)
_NEGATIVE: Final = re.compile(r"-[0-9]+(?:\.[0-9]+)?")
_AUTHORITY: Final = re.compile(r"//[^/]*")
_FORMS: Final = (
    Category.PATH,
    Category.URL,
    Category.PARTY,
    COMMAND,
    Category.PLACE,
    Category.OTHER,
    Category.CARRIED,
    Category.NONE,
)
"""Whose form is sent, where an argument has roles of several."""


@dataclass(frozen=True, slots=True)
class CallResolver:
    """Resolves calls for one setup."""

    paths: PathResolver
    path_base: Mapping[str, str]
    lookup: Lookup | None = None
    started: frozenset[str] = frozenset()
    """Servers that were started in a directory with files of the owner's: a relative path may be one of these."""

    def resolve(self, call: ToolCall, tool: Tool, arguments: Arguments) -> CanonicalCall:
        """The canonical call; `arguments` are the call's, with defaults.

        INVARIANT: what is sent is what was decided. Where the canonical arguments are not the ones that came, they are
        resolved once more, and must mean the same.
        """
        remembering = replace(self, paths=replace(self.paths, looks=Remembered(self.paths.looks)))
        base = self.path_base.get(call.server)
        names = base is None and call.server not in self.started
        work = _Work(remembering, base, names)
        canonical = work.call(call, tool, arguments)
        if canonical.arguments == arguments and work.settled:
            return canonical
        work = _Work(remembering, base, names)
        sent = work.call(call, tool, canonical.arguments)
        if sent.arguments != canonical.arguments or _meaning(sent) != _meaning(canonical) or not work.settled:
            raise Refusal(
                "value_unstable",
                f"the call would mean something else once it is sent: {quote(canonical.arguments)}",
                "send every value in its plain form: no blanks around it, no second spelling",
            )
        return replace(canonical, strays=(*canonical.strays, *sent.strays))


@dataclass(slots=True)
class _Work:
    """One walk through the arguments of one call, along the shape its tool is annotated with."""

    resolver: CallResolver
    base: str | None
    names: bool
    """A relative path may be the name of something in a store: the server has no known starting point."""
    values: list[RoleValue] = field(default_factory=list)
    leaves: dict[str, list[Value]] = field(default_factory=dict)
    strays: list[Stray] = field(default_factory=list)
    named: int = 0
    """Characters of paths."""
    looked_at: int = 0
    """Characters of strays."""
    steps: Steps = field(default_factory=Steps)
    settled: bool = True
    """Every value is in the same form for each of its roles."""
    whole: Mapping[str, Json] = field(default_factory=dict)
    """All arguments, for paths that are relative to another argument."""

    def call(self, call: ToolCall, tool: Tool, arguments: Arguments) -> CanonicalCall:
        """The whole call."""
        self.whole = arguments
        canonical = self.members(tool.arguments, arguments)
        return CanonicalCall(
            server=call.server,
            tool=call.tool,
            arguments=canonical,
            principal=call.principal,
            values=tuple(self.values),
            leaves={leaf: tuple(values) for leaf, values in self.leaves.items()},
            strays=tuple(self.strays),
            sources=call.sources,
        )

    def members(self, shape: Shape, value: dict[str, Json]) -> dict[str, Json]:
        """An object whose members are annotated one by one."""
        canonical: dict[str, Json] = {}
        siblings = {name: _as_sent(shape.members.get(name), member, value) for name, member in value.items()}
        for name, member in value.items():
            if name not in shape.members:
                raise _unknown(f"{shape.leaf}.{name}" if shape.leaf else name)
            canonical[name] = self._member(shape.members[name], member, siblings)
        for name, missing in shape.members.items():
            if name not in value:
                self._absent(missing, siblings, present=False)
        return canonical

    def _member(self, shape: Shape, value: Json, siblings: Mapping[str, Json]) -> Json:
        """One argument: a leaf, a container of leaves, or both."""
        if isinstance(value, dict) and shape.members and not (shape.modes and shape.free):
            return self.members(shape, value)
        if isinstance(value, list) and value:
            self._count(shape, value)
            if shape.elements:
                return [self._element(shape, shape.elements, item, siblings) for item in value]
        if shape.modes:
            return self._leaf(shape, value, siblings)
        if not is_empty(value):
            raise _unknown(shape.leaf)
        self._absent(shape, siblings, present=True, no_text=not isinstance(value, str))
        return value

    def _element(self, shape: Shape, elements: Shape, item: Json, siblings: Mapping[str, Json]) -> Json:
        if isinstance(item, dict):
            return self.members(elements, item)
        if elements.elements and isinstance(item, list) and item:
            self._count(elements, item)
            return [self._element(shape, elements.elements, inner, siblings) for inner in item]
        if elements.elements and is_empty(item):
            self._absent(elements.elements, {}, present=True, no_text=not isinstance(item, str))
            return item
        if not shape.modes:
            raise _unknown(shape.leaf)
        return self._leaf(shape, item, siblings)

    def _absent(self, shape: Shape, siblings: Mapping[str, Json], *, present: bool, no_text: bool = False) -> None:
        """Nothing stands at a leaf, or where leaves would be: does the server pick something?

        With `no_text`, what stands there is an empty list, an empty object or null: no people, files or pages.
        """
        needed = present and shape.required
        unknown = dict.fromkeys(
            role
            for mode in _in_force(shape.modes, siblings)
            for role in mode.roles
            if mode.absent_unknown or shape.defaulted or (needed and not (no_text and category(role) in _COUNTED))
        )
        if unknown:
            self._add(shape.leaf, tuple(unknown), (UNKNOWN,))
        described = () if shape.modes and shape.free else shape.members.values()
        for below in (*described, *((shape.elements,) if shape.elements else ())):
            self._absent(below, {}, present=present, no_text=no_text)

    def _leaf(self, shape: Shape, value: Json, siblings: Mapping[str, Json]) -> Json:
        modes = _in_force(shape.modes, siblings)
        roles = tuple(dict.fromkeys(role for mode in modes for role in mode.roles))
        if not is_empty(value):
            return self._value(shape, roles, value, siblings)
        if isinstance(value, str):
            _require_seen(shape.leaf, roles, value)
        if isinstance(value, str) and any(category(role) is Category.PATH for role in roles):
            self._add(shape.leaf, roles, (UNKNOWN,))  # "" may mean the current directory
        else:
            self._absent(shape, siblings, present=True, no_text=not isinstance(value, str))
        return value

    def _value(self, shape: Shape, roles: tuple[Role, ...], value: Json, siblings: Mapping[str, Json]) -> Json:
        if isinstance(value, list) and (line := _as_one_command(shape, value)):
            self._scalar(shape, roles, line)
            return value
        if isinstance(value, list):
            return [self._leaf(shape, item, siblings) for item in value]
        if isinstance(value, dict):
            if not shape.free:
                raise _unknown(shape.leaf)
            if any(category(role) in _LOCATED for role in roles):
                raise Refusal("value_type", f"{shape.leaf}: an object where a path or URL is expected")
            for key in value:
                if self._scalar(shape, roles, key) != key:
                    raise Refusal("value_spelling", f"{shape.leaf}: a key that is not in canonical form: {quote(key)}")
            return {key: self._inside(shape, key, member, siblings) for key, member in value.items()}
        return value if value is None else self._scalar(shape, roles, value)

    def _inside(self, shape: Shape, key: str, value: Json, siblings: Mapping[str, Json]) -> Json:
        """A member of an object that the schema does not describe; one that rules name is seen by itself, too."""
        member = shape.members.get(key)
        if member is None:  # whatever is in it is no member of this object
            return self._leaf(replace(shape, members={}) if shape.members else shape, value, siblings)
        before = len(self.leaves.get(member.leaf, ()))
        canonical = self._leaf(member, value, siblings)
        self.leaves.setdefault(shape.leaf, []).extend(self.leaves.get(member.leaf, ())[before:])
        return canonical

    def _scalar(self, shape: Shape, roles: tuple[Role, ...], value: str | float) -> Json:
        """One value. Each of its roles has it in the form of its own category; the first of these forms is sent."""
        leaf = shape.leaf
        active = _meant(roles, value)
        if _is_name(active, value):  # no URL, and nothing that a rule about hosts can tell from one
            self._add(leaf, (FETCH_URL,), (Opaque(str(value)),), shown=False)
            active = tuple(role for role in active if role != FETCH_URL)
        if isinstance(value, str) and self._is_unplaced(shape, active, value):  # no known starting point
            files = tuple(role for role in active if category(role) is Category.PATH)
            self._add(leaf, files, (Opaque(value),), shown=False)
            self._stray(leaf, f"{self.resolver.paths.home}/{value}")
            active = tuple(role for role in active if role not in files)
        kinds = {category(role) for role in active}
        if not isinstance(value, str):
            if not kinds.isdisjoint(_LOCATED):
                raise Refusal("value_type", f"{leaf}: a number or flag where a path or URL is expected")
            self._add(leaf, active, (value,))
            return value
        _require_no_flag(leaf, active, kinds, value)
        if Category.PATH not in kinds:
            self._stray(leaf, value)
        if "\0" in value and kinds - {Category.PATH, Category.CARRIED, Category.NONE}:
            raise Refusal("value_spelling", f"{leaf}: a NUL character")
        _require_seen(leaf, active, value)
        sent: str | None = None
        named = tuple(role for role in active if _is_named(role)) if Category.PATH in kinds else ()
        for form in _FORMS:
            mine = tuple(
                role
                for role in active
                if form in (role, category(role)) and (form == role or role != COMMAND) and role not in named
            )
            if mine:
                values, text = self._formed(form, shape, mine, value)
                self._add(leaf, mine, values, shown=sent is None)
                self.settled = self.settled and sent in (None, text)
                sent = text if sent is None else sent
        if sent is not None:
            for role in named:
                values, _ = self._formed(COMMAND if role == COMMAND else Category.CARRIED, shape, (role,), sent)
                self._add(leaf, (role,), values, shown=False)
        return sent

    def _formed(
        self, form: Category | Role, shape: Shape, roles: tuple[Role, ...], text: str
    ) -> tuple[tuple[Value, ...], str]:
        """The values that a string has in one form, and the string as it is sent in this form."""
        lookup = self.resolver.lookup
        if form is Category.PARTY:
            return self._parties(shape.leaf, roles, text)
        if form is Category.PATH:
            directory = self._directory(shape) if not text.startswith(("/", "~")) else None
            if directory is None:
                one: Value = self.resolver.paths.resolve(text, self.base, self.steps)
                sent = str(one)
            else:
                one, sent = self._relative(shape.leaf, text, directory)
            self.named += len(text)
            if self.named > MAX_PATHS:
                raise Refusal("value_count", f"more than {MAX_PATHS} characters of paths", "ask for fewer at once")
            return (one,), sent
        if form is Category.URL:
            one = resolve_url(text, lookup)
        elif form is Category.PLACE:
            one = resolve_place(text, lookup)
        elif form == COMMAND:
            for word in words_of(text):
                self._stray(shape.leaf, word)
            one = resolve_command(text, sql=any(mode.sql for mode in shape.modes))
        else:
            one = text.strip() if form is Category.OTHER else text
        return (one,), str(one)

    def _is_unplaced(self, shape: Shape, roles: tuple[Role, ...], text: str) -> bool:
        """Whether an argument takes a path or a name, and this is a relative one without a starting point."""
        kinds = {category(role) for role in roles}
        if not self.names or IDENTIFIER not in roles or Category.PATH not in kinds:
            return False
        written = any(category(role) is Category.PATH and role != READ_PATH for role in roles)
        return is_relative_name(text, written=written) and not self._is_placed(shape)

    def _is_placed(self, shape: Shape) -> bool:
        """Whether another argument says where relative paths here start."""
        return any(mode.relative_to and self.whole.get(mode.relative_to) for mode in shape.modes)

    def _directory(self, shape: Shape) -> str | None:
        """The directory that another argument names for relative paths here, if it is given."""
        for name in dict.fromkeys(mode.relative_to for mode in shape.modes if mode.relative_to):
            value = self.whole.get(name)
            if isinstance(value, str) and value:
                return self.resolver.paths.resolve(value, self.base, self.steps).text
        return None

    def _relative(self, leaf: str, text: str, directory: str) -> tuple[Value, str]:
        """A path from the directory that another argument names; it is sent as it came, less links and dots.

        INVARIANT: what the server finds there is what was decided: the path does not lead out of the directory.
        """
        found = self.resolver.paths.resolve(text, directory, self.steps)
        if not found.named_within(directory):
            raise Refusal("path_escape", f"{leaf}: {quote(text)} leads out of {directory}", "name a file inside it")
        return found, found.text[len(directory.rstrip("/")) + 1 :] or "."

    def _parties(self, leaf: str, roles: tuple[Role, ...], text: str) -> tuple[tuple[Value, ...], str]:
        parties = resolve_parties(text)
        if isinstance(parties, Opaque):
            return (parties,), text
        if not parties:  # separators only: who is addressed is the server's to say
            return (UNKNOWN,), text
        for party in parties:
            self._stray(leaf, party.text)
            _require_no_flag(leaf, roles, {Category.PARTY}, party.text)
        return parties, ", ".join(party.text for party in parties)

    def _count(self, shape: Shape, elements: list[Json]) -> None:
        """Note the elements of a list, for conditions on how many there are; not under the name of an argument."""
        if shape.elements is None or not shape.elements.modes:
            self.leaves.setdefault(f"{shape.leaf}[]", []).extend([0] * _elements_in(elements))

    def _add(self, leaf: str, roles: tuple[Role, ...], values: tuple[Value, ...], *, shown: bool = True) -> None:
        """Note values of roles; `shown` are those that a condition on the argument itself looks at."""
        if len(self.values) + len(roles) * len(values) > MAX_ROLE_VALUES:
            raise Refusal("value_count", f"more than {MAX_ROLE_VALUES} values in one call", "ask for fewer at once")
        if shown:
            self.leaves.setdefault(leaf, []).extend(values)
        for value in values:
            self.values.extend(RoleValue(role, leaf, value) for role in roles if role != NONE)

    def _stray(self, leaf: str, text: str) -> None:
        """Note a string that looks like a path though its argument is none, and everywhere it may lead."""
        shown = after_blanks(text)
        own_home = f"~{self.resolver.paths.home.rpartition('/')[2]}/"
        if shown.startswith(own_home):
            shown = "~/" + shown[len(own_home) :]
        if not shown.startswith(_STRAY_STARTS) and not _FILE_URL.match(shown):
            return
        first = re.split(r"[\r\n]", shown[:MAX_STRAY], maxsplit=1)[0]
        self.looked_at += len(first) + _BRACKET * shown.count("[", 0, MAX_STRAY)
        if len(self.strays) >= MAX_ROLE_VALUES or self.looked_at > MAX_STRAYS:
            problem = f"more than {MAX_ROLE_VALUES} strings that look like paths, or too much text in them"
            raise Refusal("value_count", problem, "ask for fewer at once")
        paths, base = self.resolver.paths, self.base or self.resolver.paths.home
        places: list[str] = []
        for reading in _readings(shown):
            places.append(paths.lexical(reading, base)[:MAX_STRAY])
            if len(reading.encode()) <= MAX_STRAY and "\n" not in reading and "\r" not in reading:
                try:
                    followed = paths.follow(reading, base, self.steps)
                    places += [followed.text, *followed.trail]
                except Refusal as refusal:
                    if self.steps.left < 0:
                        raise refusal from None
        self.strays.append(Stray(leaf, shown[:MAX_STRAY], tuple(dict.fromkeys(places))))


def _as_one_command(shape: Shape, words: list[Json]) -> str:
    """The words of a command as one line, which is sent as it came; nothing if it is not given in words."""
    return " ".join(_words_in(words)).strip() if any(mode.argv for mode in shape.modes) else ""


def _elements_in(value: Json) -> int:
    """How many elements a list has, those of lists in it one by one."""
    return sum(map(_elements_in, value)) if isinstance(value, list) and value else 1


def _words_in(value: Json) -> Iterator[str]:
    """Every text and number in a value, at whatever depth."""
    if isinstance(value, (list, dict)):
        for inner in value if isinstance(value, list) else (*value.keys(), *value.values()):
            yield from _words_in(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _meaning(call: CanonicalCall) -> list[tuple[Role, str, type, str]]:
    """What a call asks for, however it was reached."""
    return [(item.role, item.leaf, type(item.value), str(item.value)) for item in call.values]


def _readings(text: str) -> list[str]:
    """The ways in which a program may read the string as a path."""
    found = [text, *(text.partition(char)[0] for char in "\0\n\r")]
    if scheme := _FILE_URL.match(text):
        local = re.sub(r"[\t\r\n]", "", text[scheme.end() :]).replace("\\", "/")
        plain = unquote(re.split(r"[?#]", _AUTHORITY.sub("", local, count=1) if local.startswith("//") else local)[0])
        plain = plain.replace("\\", "/")
        found += [plain, "/" + plain.lstrip("/")]
    return list(dict.fromkeys(form for reading in found for form in (reading, before_blanks(reading))))


def _unknown(leaf: str) -> Refusal:
    return Refusal("argument_unknown", f"the argument {quote(leaf)} is not annotated", "leave it out, or annotate it")


def _in_force(modes: tuple[Mode, ...], siblings: Mapping[str, Json]) -> tuple[Mode, ...]:
    """The modes whose siblings are as they say, and those that ask for none; all of them if no sibling is."""
    if len(modes) == 1:
        return modes
    held = tuple(mode for mode in modes if all(_is_one_of(siblings.get(name), allowed) for name, allowed in mode.when))
    return held if any(mode.when for mode in held) else modes


def _as_sent(shape: Shape | None, value: Json, siblings: Mapping[str, Json]) -> Json:
    """The value of an argument that may select a mode, in the form in which it is sent."""
    if not isinstance(value, str) or shape is None:
        return value
    roles = {role for mode in _in_force(shape.modes, siblings) for role in mode.roles}
    rewritten = COMMAND not in roles and any(category(role) is Category.OTHER for role in roles)
    return value.strip() if rewritten else value


def _is_one_of(value: Json, allowed: frozenset[tuple[type, object]]) -> bool:
    return not isinstance(value, (list, dict)) and (type(value), value) in allowed


def _meant(roles: tuple[Role, ...], value: str | float) -> tuple[Role, ...]:
    """Where an argument takes a URL or a path, the roles of the one this value is."""
    kinds = {category(role) for role in roles}
    if not isinstance(value, str) or not kinds.issuperset(_LOCATED):
        return roles
    other = Category.PATH if looks_like_url(value) else Category.URL
    return tuple(role for role in roles if category(role) is not other)


def _is_name(roles: tuple[Role, ...], value: str | float) -> bool:
    """Whether an argument takes the URL or the name of something to read, and this is a name."""
    if FETCH_URL not in roles or IDENTIFIER not in roles or isinstance(value, bool):
        return False
    others = {category(role) for role in roles} & {Category.PATH, Category.PARTY}
    return not others and HOST not in roles and SEND_URL not in roles and looks_like_name(str(value))


def _is_named(role: Role) -> bool:
    """Whether what a path is given for is named by the path as it is sent: a record, a file that is attached or run."""
    return role == COMMAND or category(role) is Category.CARRIED


def _require_seen(leaf: str, roles: tuple[Role, ...], value: str) -> None:
    """Refuse control and invisible characters where a place or another resource is named."""
    if any(category(role) in (Category.PLACE, Category.OTHER) and role != COMMAND for role in roles):
        require_visible(value, "value_spelling", leaf)
        if hides(value):
            raise Refusal("value_spelling", f"{leaf}: an invisible character: {quote(value)}")


def _require_no_flag(leaf: str, roles: tuple[Role, ...], kinds: set[Category], value: str) -> None:
    if not looks_like_flag(value.lstrip()):
        return
    positional = IDENTIFIER in roles or any(
        category(role) not in (Category.CARRIED, Category.NONE) and role != COMMAND for role in roles
    )
    if positional and not (kinds.isdisjoint(_LOCATED) and _NEGATIVE.fullmatch(value.strip())):
        raise Refusal("value_flag", f"{leaf}: a value that a program may take for an option: {quote(value)}")
