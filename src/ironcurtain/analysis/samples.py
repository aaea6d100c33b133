"""Values that stand for all values of an argument.

The conditions of the rules cut the values of a role into cells: a directory without those that rules name inside it, a
host, everybody at a domain, the members of the same lists, the numbers between two limits. No rule tells two values of
a cell apart, so one value of each is enough. A cell says in words what it holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ironcurtain.analysis.texts import clean_endings, texts_for
from ironcurtain.model.policy import DomainTest, ListTest, PathTest, ValueTest
from ironcurtain.model.roles import COMMAND, Category, category

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ironcurtain.analysis.arguments import Kind
    from ironcurtain.engine.conditions import Test
    from ironcurtain.model.call import Json
    from ironcurtain.model.resolved import Scalar
    from ironcurtain.model.roles import Role

_NAMES: Final = ("something", "something-else", "ironcurtain-looks-here", "ironcurtain-looks-here-too")
_NO_NAMES: Final = (".", "..")
_NOT_IN_NAMES: Final = "".join(map(chr, range(33))) + "/\\*?[]{}()!@+$`~:\"'<>|;&\x7f"
_NOT_IN_PARTIES: Final = "".join(map(chr, range(32))) + '\x7f,;:"<>()[]\\%!='
_ELSEWHERE: Final = "elsewhere.example"
_SHOWN: Final = 3
_ADDRESS: Final = re.compile(r"[a-z0-9._+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_LONGEST_PATH: Final = 4_096
_LONGEST_PARTY: Final = 1_000
"""What is longer is refused or unreadable: a limit beyond says nothing."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One value, and what it stands for."""

    value: Json
    says: str
    place: str = ""
    """The directory that it lies in, if it stands for what is inside."""
    others: tuple[Json, ...] = ()
    """Others of the same cell, should this one not be what it seems on this machine."""


@dataclass(frozen=True, slots=True)
class Samples:
    """The cells of an argument; `complete` if every value lies in one of them."""

    cells: tuple[Sample, ...]
    complete: bool = True


@dataclass(slots=True)
class Landmarks:
    """Everything that the tests on an argument look for, sorted by kind."""

    directories: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    suffixes: set[str] = field(default_factory=set)
    members: dict[tuple[type, Scalar], set[int]] = field(default_factory=dict)
    """Each value that is named, with the tests that name it."""
    numbers: set[float] = field(default_factory=set)
    lengths: set[int] = field(default_factory=set)
    patterns: dict[tuple[str, bool], None] = field(default_factory=dict)

    def add(self, test: Test, *, allowing: bool) -> None:
        """Note what one test looks for."""
        if isinstance(test, PathTest):
            self.directories.update(test.within)
        elif isinstance(test, DomainTest):
            self.hosts |= test.names
            self.suffixes |= test.suffixes
        elif isinstance(test, ListTest):
            for member in test.members:
                self.members.setdefault(member, set()).add(id(test))
        else:
            self._add_values(test, allowing=allowing)

    def _add_values(self, test: ValueTest, *, allowing: bool) -> None:
        for member in test.equals or ():
            self.members.setdefault(member, set()).add(id(test))
        self.numbers |= {bound for bound in (test.minimum, test.maximum) if bound is not None}
        if test.max_length is not None:
            self.lengths.add(test.max_length)
        if test.pattern is not None:
            self.patterns[test.pattern, not allowing] = None

    def texts(self) -> dict[str, frozenset[int]]:
        """The texts that are named. Of addresses that the same tests name one is enough, if nothing else sees them."""
        found: dict[str, frozenset[int]] = {}
        seen: set[frozenset[int]] = set()
        plain = not (self.patterns or self.lengths or self.hosts or self.suffixes or self.directories)
        for (kind, value), tests in sorted(self.members.items(), key=lambda item: str(item[0][1])):
            if kind is not str or not isinstance(value, str):
                continue
            if plain and _ADDRESS.fullmatch(value):
                if frozenset(tests) in seen:
                    continue
                seen.add(frozenset(tests))
            found[value] = frozenset(tests)
        return found


def samples_for(roles: Collection[Role], kind: Kind, landmarks: Landmarks) -> Samples:
    """The cells of an argument with these roles."""
    if kind.choices is not None:
        return Samples(tuple(Sample(value, _quoted(value)) for value in kind.choices))
    categories = {category(role) for role in roles}
    cells: list[Sample] = []
    complete = True
    if kind.takes("string"):
        for found in _strings(categories, landmarks, shell=COMMAND in roles):
            cells += found.cells
            complete = complete and found.complete
    if categories.isdisjoint((Category.PATH, Category.URL)):
        cells += _plain_values(kind, landmarks)
    return Samples(tuple({repr(cell.value): cell for cell in cells}.values()), complete)


def _strings(categories: set[Category], landmarks: Landmarks, *, shell: bool) -> Iterator[Samples]:
    if Category.PATH in categories:
        yield _paths(landmarks)
    if Category.URL in categories:
        yield _asked_of_text(landmarks, _urls(landmarks))
    if Category.PARTY in categories:
        yield _asked_of_parties(landmarks)
    if Category.PLACE in categories:
        if landmarks.hosts or landmarks.suffixes:
            yield _asked_of_text(landmarks, _places(landmarks))
        if Category.PARTY not in categories:
            yield _texts(landmarks)
    if not categories & {Category.PATH, Category.URL, Category.PARTY, Category.PLACE}:
        yield _texts(landmarks, shell=shell)


def _paths(landmarks: Landmarks) -> Samples:
    named = {text: text for text in landmarks.texts() if text.startswith("/")}
    places = sorted({"/", *landmarks.directories})
    children = _children(places)
    cells = [Sample(text, text) for text in named]
    complete = all(limit >= _LONGEST_PATH for limit in landmarks.lengths)
    for place in places:
        inside = place.rstrip("/") + "/"
        taken = {other[len(inside) :].partition("/")[0] for other in (*children[place], *named) if other != place}
        says = _inside(place, children[place])
        if landmarks.patterns:
            endings = clean_endings(landmarks.patterns, inside, {*taken, *_NO_NAMES}, _NOT_IN_NAMES)
            complete = complete and endings.complete
            cells += [Sample(inside + name, f"{says}, named like {name}", place) for name in endings.found]
        else:
            names = (_fresh(name, taken) for name in _NAMES)
            cells.append(Sample(inside + next(names), says, place, tuple(inside + name for name in names)))
    cells += [Sample(place, f"{place} itself") for place in places if place != "/" and place not in named]
    return Samples(tuple(cells), complete)


def _children(places: list[str]) -> dict[str, list[str]]:
    """For each place those directly below it, of the others; the list is sorted."""
    found: dict[str, list[str]] = {place: [] for place in places}
    above: list[str] = []
    for place in sorted(places, key=lambda path: path.rstrip("/").split("/")):
        while above and not (above[-1] == "/" or place.startswith(above[-1] + "/")):
            above.pop()
        if above:
            found[above[-1]].append(place)
        above.append(place)
    return found


def _inside(place: str, without: list[str]) -> str:
    where = "anywhere" if place == "/" else f"inside {place}"
    return f"{where} but {_some(without, 'outside')}" if without else where


def _some(names: Iterable[str], word: str) -> str:
    listed = sorted(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return f"{word} {', '.join(listed[:_SHOWN])}{more}"


def _urls(landmarks: Landmarks) -> Iterator[Sample]:
    for text in landmarks.texts():
        yield Sample(text, text)
    page = _fresh("something", {text.rpartition("/")[2] for text in landmarks.texts()})
    for host in sorted(landmarks.hosts):
        yield Sample(f"https://{host}/{page}", f"a page of {host}")
    for suffix in sorted(landmarks.suffixes):
        yield Sample(f"https://{_label(suffix, landmarks)}.{suffix}/{page}", f"a page below {suffix}")
    yield Sample(f"https://{_elsewhere(landmarks)}/{page}", "a page of any other host")


def _parties(landmarks: Landmarks) -> Iterator[Sample]:
    for text in landmarks.texts():
        yield Sample(text, text)
    for host in sorted(landmarks.hosts):
        yield Sample(f"{_someone(host, landmarks)}@{host}", f"anybody else at {host}")
    for suffix in sorted(landmarks.suffixes):
        below = f"{_label(suffix, landmarks)}.{suffix}"
        yield Sample(f"{_someone(below, landmarks)}@{below}", f"anybody else below {suffix}")
    other = _elsewhere(landmarks)
    yield Sample(f"{_someone(other, landmarks)}@{other}", "anybody else with an address")
    yield Sample(_fresh("somebody", landmarks.texts()), "anybody else by name")
    yield Sample('"', "a list of people that cannot be read")


def _places(landmarks: Landmarks) -> Iterator[Sample]:
    for host in sorted(landmarks.hosts):
        yield Sample(f"git@{host}:some/place", f"a place at {host}")
        yield Sample(f"https://{host}/some/place", f"a place at {host}, as a URL")
    for suffix in sorted(landmarks.suffixes):
        below = f"{_label(suffix, landmarks)}.{suffix}"
        yield Sample(f"git@{below}:some/place", f"a place below {suffix}")
        yield Sample(f"https://{below}/some/place", f"a place below {suffix}, as a URL")
    yield Sample(f"git@{_elsewhere(landmarks)}:some/place", "a place at any other host")
    yield Sample(f"https://{_elsewhere(landmarks)}/some/place", "a place at any other host, as a URL")


def _asked_of_text(landmarks: Landmarks, cells: Iterator[Sample]) -> Samples:
    """Cells of things whose text has a form: patterns and lengths ask what these samples do not show."""
    return Samples(tuple(cells), complete=not (landmarks.patterns or landmarks.lengths))


def _asked_of_parties(landmarks: Landmarks) -> Samples:
    """Names and addresses; where no rule looks at domains, patterns see a plain text in them."""
    cells = [*_parties(landmarks)]
    complete = all(limit >= _LONGEST_PARTY for limit in landmarks.lengths)
    if landmarks.patterns:
        found = clean_endings(landmarks.patterns, "", landmarks.texts(), _NOT_IN_PARTIES)
        cells += [Sample(text, f"somebody like {text}") for text in found.found]
        complete = complete and found.complete and not (landmarks.hosts or landmarks.suffixes)
    return Samples(tuple(cells), complete)


def _texts(landmarks: Landmarks, *, shell: bool = False) -> Samples:
    named = landmarks.texts()
    made = texts_for(landmarks.patterns, landmarks.lengths, named, _fresh("something", named))
    cells = [Sample(text, _quoted(text)) for text in named]
    cells += [Sample(text, _like(text, landmarks)) for text in made.found]
    if shell:
        cells += [Sample(f"{cell.value}; something else", f"{cell.says}, and another command") for cell in cells]
        cells.append(Sample("$(something)", "a command made by another"))
    return Samples(tuple(cells), made.complete)


def _like(text: str, landmarks: Landmarks) -> str:
    if not landmarks.patterns and not landmarks.lengths:
        return "any other text" if landmarks.members else "any text"
    return f"a text of {len(text)} characters" if len(text) > 100 else f"a text like {_quoted(text)}"


def _plain_values(kind: Kind, landmarks: Landmarks) -> list[Sample]:
    """Numbers and flags."""
    cells: list[Sample] = []
    if kind.takes("integer") and (
        "string" not in kind.types or kind.types & {"integer", "number"} or landmarks.numbers
    ):
        named = {value for of, value in landmarks.members if of in (int, float) and isinstance(value, (int, float))}
        bounds: list[float] = sorted({*map(_number, landmarks.numbers), *named})
        steps: set[float] = {value for bound in bounds for value in (bound - 1, bound, bound + 1)} or {1}
        if "integer" not in kind.types or "number" in kind.types:
            steps |= {(low + high) / 2 for low, high in pairwise(bounds)}
            steps |= {bound + 0.5 for bound in bounds} | {bound - 0.5 for bound in bounds}
        cells += [Sample(value, f"a number like {value}") for value in sorted(steps)]
    if kind.takes("boolean") and ("string" not in kind.types or "boolean" in kind.types):
        cells += [Sample(True, "true"), Sample(False, "false")]  # noqa: FBT003 - the values themselves
    return cells


def _number(value: float) -> int | float:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _someone(host: str, landmarks: Landmarks) -> str:
    return _fresh("someone", {text.partition("@")[0] for text in landmarks.texts() if text.endswith("@" + host)})


def _elsewhere(landmarks: Landmarks) -> str:
    """A host that no test speaks of."""
    named = {name.partition(".")[0] for name in landmarks.hosts | landmarks.suffixes}
    return (
        f"{_fresh('elsewhere', named)}.{_ELSEWHERE.partition('.')[2]}"
        if "example" not in landmarks.suffixes
        else (f"{_fresh('elsewhere', named)}.invalid")
    )


def _label(suffix: str, landmarks: Landmarks) -> str:
    below = {name[: -len(suffix) - 1] for name in landmarks.hosts | landmarks.suffixes if name.endswith("." + suffix)}
    return _fresh("some", below)


def _fresh(word: str, taken: Collection[str]) -> str:
    """The word, or the word with a number that makes it new."""
    found, number = word, 1
    while found in taken:
        number += 1
        found = f"{word}{number}"
    return found


def _quoted(value: Json) -> str:
    return f"“{value}”" if isinstance(value, str) else str(value).lower()
