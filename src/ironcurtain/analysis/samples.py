"""Values that stand for all values of an argument.

The conditions of the rules cut the values of a role into cells: a directory without those that rules name inside it, a
host, everybody at a domain, the members of the same lists, the numbers between two limits. No rule tells two values of
a cell apart, so one value of each is enough. A cell says in words what it holds.

What tightens compares texts folded. Beside a text that it names there is a cell of the other spellings of that text.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.analysis.texts import (
    WIDE,
    Source,
    Texts,
    clean_endings,
    endings_for,
    folded_source,
    names_for,
    spellings_for,
    texts_for,
    up_to,
    wide,
)
from ironcurtain.engine.conditions import folded
from ironcurtain.model.policy import DomainTest, ListTest, PathTest, ValueTest
from ironcurtain.model.roles import COMMAND, IDENTIFIER, Category, Role, category

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ironcurtain.analysis.arguments import Kind
    from ironcurtain.engine.conditions import Test
    from ironcurtain.model.call import Json
    from ironcurtain.model.resolved import Scalar

_NAMES: Final = ("something", "something-else", "ironcurtain-looks-here", "ironcurtain-looks-here-too")
_NO_NAMES: Final = (".", "..")
_NOT_IN_NAMES: Final = "".join(map(chr, range(33))) + "/\\*?[]{}()!@+$`~:\"'<>|;&\x7f"
_NOT_IN_PARTIES: Final = "".join(map(chr, range(32))) + '\x7f,;:"<>()[]\\%!='
_ELSEWHERE: Final = "elsewhere.example"
_SHOWN: Final = 3
_UNREMARKABLE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]*|[a-z0-9._+-]+@(?:[a-z0-9-]+\.)+[a-z]+")
"""Texts that nothing but rules tells apart: no invariant, and no way in which a value is read."""
_DIGITS: Final[Source] = "0|-?[1-9][0-9]{0,17}", False
"""A pattern for whole numbers, as patterns see them."""
_MOST_FOLDED: Final = 12  # texts that are compared folded beside patterns
_MOST_COMMANDS: Final = 12  # that are put together in pairs
_SHORT_COMMAND: Final = 1_000  # characters of those
_LONGEST_PATH: Final = 4_096
_LONGEST_PARTY: Final = 1_000
"""What is longer is refused or unreadable: a limit beyond says nothing."""

Tests: TypeAlias = frozenset[int]


@dataclass(frozen=True, slots=True)
class Sample:
    """One value, and what it stands for."""

    value: Json
    says: str
    place: str = ""
    """The directory that it lies in, if it stands for what is inside."""
    others: tuple[Json, ...] = ()
    """Others of the same cell, should this one not be what it seems on this machine."""
    optional: bool = False
    """There may be no such value: a cell of which none can be sent is empty."""


@dataclass(frozen=True, slots=True)
class Samples:
    """The cells of an argument; `complete` if every value lies in one of them."""

    cells: tuple[Sample, ...]
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Landmarks:
    """Everything that the tests on an argument look for, sorted by kind."""

    directories: frozenset[str]
    hosts: frozenset[str]
    suffixes: frozenset[str]
    members: tuple[tuple[tuple[type, Scalar], Tests], ...]
    """Each value that is named, with the numbers of the tests that it is equal to."""
    folded: frozenset[tuple[str, Tests]]
    """Each text that is compared folded, with the tests that do."""
    numbers: frozenset[float]
    lengths: frozenset[int]
    patterns: tuple[Source, ...]

    @classmethod
    def of(
        cls, tests: Iterable[tuple[Test, bool]], directories: Iterable[str] = (), hosts: Iterable[str] = ()
    ) -> Landmarks:
        """Return what some tests look for, each with whether it is read as in an allow, and some places besides."""
        places, names, suffixes = {*directories}, {*hosts}, set[str]()
        numbers, lengths, patterns = set[float](), set[int](), dict[Source, None]()
        exact: dict[tuple[type, Scalar], set[int]] = {}
        loose: dict[str, set[int]] = {}
        for number, (test, allowing) in enumerate(dict.fromkeys(tests)):
            if isinstance(test, PathTest):
                places.update(test.within)
            elif isinstance(test, DomainTest):
                names |= test.names
                suffixes |= test.suffixes
            for member in _members(test):
                exact.setdefault(member, set()).add(number)
                key = folded(member)[1]
                if not allowing and isinstance(key, str):
                    loose.setdefault(key, set()).add(number)
            if isinstance(test, ValueTest):
                numbers |= {bound for bound in (test.minimum, test.maximum) if bound is not None}
                lengths |= {test.max_length} if test.max_length is not None else set()
                patterns |= dict.fromkeys((pattern, not allowing) for pattern in test.patterns)
        for (_, value), own in exact.items():
            own.update(loose.get(_fold(value), ()) if isinstance(value, str) else ())
        return cls(
            frozenset(places),
            frozenset(names),
            frozenset(suffixes),
            tuple((key, frozenset(own)) for key, own in sorted(exact.items(), key=lambda item: str(item[0]))),
            frozenset((text, frozenset(own)) for text, own in loose.items()),
            frozenset(numbers),
            frozenset(lengths),
            tuple(patterns),
        )

    @property
    def asks_of_texts(self) -> bool:
        """Whether patterns or lengths tell texts apart."""
        return bool(self.patterns or self.lengths)

    def named(self) -> frozenset[str]:
        """Return every text that is named."""
        return frozenset(value for (_, value), _ in self.members if isinstance(value, str))

    def taken(self) -> frozenset[str]:
        """Return the named texts, folded: what is none of them is equal to none of them."""
        return frozenset(map(_fold, self.named()))

    def texts(self, *, one_by_one: bool = False) -> Iterator[Sample]:
        """Yield a cell for each text that is named, and for its other spellings where these are equal to it folded.

        Of texts that the same tests name one is enough, if nothing else tells them apart.
        """
        apart = one_by_one or self.asks_of_texts or bool(self.hosts or self.suffixes or self.directories)

        def cell_of(text: str, tests: Tests) -> Tests | str:
            return text if apart or not _UNREMARKABLE.fullmatch(text) else tests

        alike: dict[Tests | str, list[str]] = {}
        for (_, value), tests in self.members:
            if isinstance(value, str):
                alike.setdefault(cell_of(value, tests), []).append(value)
        for texts in alike.values():
            yield Sample(texts[0], _listed(texts), others=tuple(texts[1:]), optional=True)
        spelled: dict[Tests | str, list[str]] = {}
        for text, tests in sorted(self.folded, key=lambda item: item[0]):
            spelled.setdefault(cell_of(text, tests), []).append(text)
        for texts in spelled.values():
            forms = [form for text in texts for form in _spellings(text) if form not in self.named()]
            if forms:
                says = f"{_listed(texts)}, spelled differently"
                yield Sample(forms[0], says, others=tuple(forms[1:]), optional=True)

    def sources(self) -> tuple[tuple[Source, ...], bool]:
        """Return the patterns with those for texts that are compared folded, and whether these are all."""
        texts = sorted(text for text, _ in self.folded)
        if not texts or not self.asks_of_texts:
            return self.patterns, True
        sources = [source for text in texts[:_MOST_FOLDED] if (source := folded_source(text)) is not None]
        return (*self.patterns, *sources), len(sources) == len(texts)


def _members(test: Test) -> Iterable[tuple[type, Scalar]]:
    if isinstance(test, ListTest):
        return test.members
    return (test.equals or ()) if isinstance(test, ValueTest) else ()


def _fold(text: str) -> str:
    return str(folded((str, text))[1])


def _spellings(text: str) -> list[str]:
    """Return other texts that are equal to this one once both are folded, in the order of how likely they are taken."""
    found = (text.lower(), text.swapcase(), f"#{text}", wide(text), f"@{text}", f"0{text}")
    return [form for form in dict.fromkeys(found) if _fold(form) == _fold(text)]


def samples_for(roles: Collection[Role], kind: Kind, landmarks: Landmarks, *, placed: bool) -> Samples:
    """Return the cells of an argument with these roles; `placed` if it is known where relative paths start."""
    if kind.choices is not None:
        return Samples(tuple(Sample(value, _quoted(value), optional=True) for value in kind.choices))
    categories = frozenset(map(category, roles))
    named = IDENTIFIER in roles and Category.PATH not in categories  # what a URL is taken for may be a name
    way = IDENTIFIER in roles and Category.PATH in categories and not placed
    return _samples(categories, kind, landmarks, shell=COMMAND in roles, named=named, way=way)


@lru_cache(maxsize=4_096)
def _samples(
    categories: frozenset[Category], kind: Kind, landmarks: Landmarks, *, shell: bool, named: bool, way: bool
) -> Samples:
    cells: list[Sample] = []
    complete = True
    if kind.takes("string") and way:  # a path may be the name of something in a store
        found = _names(landmarks)
        cells += found.cells
        complete = found.complete
    if kind.takes("string"):
        for found in _strings(categories, landmarks, shell=shell, named=named):
            cells += found.cells
            complete = complete and found.complete
    if named or categories.isdisjoint((Category.PATH, Category.URL)):
        found = _plain_values(kind, landmarks)
        cells += found.cells
        complete = complete and found.complete
    return Samples(tuple({repr(cell.value): cell for cell in cells}.values()), complete)


def _strings(categories: frozenset[Category], landmarks: Landmarks, *, shell: bool, named: bool) -> Iterator[Samples]:
    if Category.PATH in categories:
        yield _paths(landmarks)
    if Category.URL in categories:
        yield _asked_of_text(landmarks, _urls(landmarks))
        if named and categories.isdisjoint((Category.PARTY, Category.PLACE)):
            yield _texts(landmarks)
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
    named = sorted(text for text in landmarks.named() if text.startswith("/"))
    places = sorted({"/", *landmarks.directories})
    children = _children(places)
    cells = [Sample(text, text, optional=True) for text in named]
    spelled = [each for place in places for each in _paths_spelled_differently(landmarks, place)]
    cells += [cell for each in spelled for cell in each.cells]
    complete = all(limit >= _LONGEST_PATH for limit in landmarks.lengths) and all(each.complete for each in spelled)
    for place in places:
        inside = place.rstrip("/") + "/"
        taken = {other[len(inside) :].partition("/")[0] for other in (*children[place], *named) if other != place}
        says = _inside(place, children[place])
        if landmarks.patterns:
            endings = clean_endings(landmarks.patterns, inside, frozenset({*taken, *_NO_NAMES}), _NOT_IN_NAMES)
            complete = complete and endings.complete
            cells += [Sample(inside + name, f"{says}, named like {name}", place) for name in endings.found]
        else:
            names = (_fresh(name, taken) for name in _NAMES)
            cells.append(Sample(inside + next(names), says, place, tuple(inside + name for name in names)))
    itself = (place for place in places if place != "/" and place not in named)
    cells += [Sample(place, f"{place} itself", optional=True) for place in itself]
    return Samples(tuple(cells), complete)


def _names(landmarks: Landmarks) -> Samples:
    """Relative names, whatever they start at."""
    sources, all_of_them = landmarks.sources()
    usual = _fresh("something", landmarks.taken())
    made = names_for(sources, landmarks.named()) if sources else Texts((usual,), complete=True)
    cells = [cell for cell in landmarks.texts(one_by_one=True) if not str(cell.value).startswith(("/", "~"))]
    cells += [_made(text, f"a name like {text}, wherever it leads", landmarks) for text in made.found]
    return Samples(tuple(cells), made.complete and all_of_them and not landmarks.lengths)


def _paths_spelled_differently(landmarks: Landmarks, place: str) -> Iterator[Samples]:
    """Yield the paths in a directory that are equal to a named one when folded."""
    start = place.rstrip("/")
    for text, _ in sorted(landmarks.folded, key=lambda item: item[0]):
        if not text.startswith(start.casefold() + "/"):
            continue
        rest = text[len(start) :]
        if landmarks.patterns:
            besides = frozenset(name[len(start) :] for name in landmarks.named() if name.startswith(start))
            found = spellings_for(landmarks.patterns, text, start, besides)
            forms, complete = [start + form for form in found.found], found.complete
        else:
            forms, complete = [start + form for form in (rest, rest.swapcase(), wide(rest))], True
        says = f"{text}, spelled differently"
        fresh = [
            form for form in forms if _fold(form) == text and form.startswith("/") and form not in landmarks.named()
        ]
        yield Samples(tuple(Sample(form, says, optional=True) for form in fresh), complete)


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
    return f"{word} {_listed(sorted(names))}"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _urls(landmarks: Landmarks) -> Iterator[Sample]:
    for text in sorted(landmarks.named()):
        yield Sample(text, text, optional=True)
        host, slash, page = text.partition("://")[2].partition("/")
        spelled = f"{text[: len(text) - len(page)]}{page.swapcase()}" if slash and host else text
        if spelled not in landmarks.named() and any(_fold(text) == each for each, _ in landmarks.folded):
            yield Sample(spelled, f"{text}, spelled differently", optional=True)
    page = _fresh("something", {text.rpartition("/")[2] for text in landmarks.named()})
    for host in sorted(landmarks.hosts):
        yield Sample(f"https://{host}/{page}", f"a page of {host}")
    for suffix in sorted(landmarks.suffixes):
        yield Sample(f"https://{_label(suffix, landmarks)}.{suffix}/{page}", f"a page below {suffix}")
    yield Sample(f"https://{_elsewhere(landmarks)}/{page}", "a page of any other host")


def _parties(landmarks: Landmarks) -> Iterator[Sample]:
    yield from landmarks.texts()
    for host in sorted(landmarks.hosts):
        yield Sample(f"{_someone(host, landmarks)}@{host}", f"anybody else at {host}")
    for suffix in sorted(landmarks.suffixes):
        below = f"{_label(suffix, landmarks)}.{suffix}"
        yield Sample(f"{_someone(below, landmarks)}@{below}", f"anybody else below {suffix}")
    other = _elsewhere(landmarks)
    yield Sample(f"{_someone(other, landmarks)}@{other}", "anybody else with an address")
    yield Sample(_fresh("somebody", landmarks.taken()), "anybody else by name")
    yield Sample('"', "a list of people that cannot be read")
    yield Sample(",", "separators alone, without a name", optional=True)


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
        sources, all_of_them = landmarks.sources()
        found = clean_endings(sources, "", landmarks.named(), _NOT_IN_PARTIES, WIDE)
        cells += [_made(text, f"somebody like {text}", landmarks) for text in found.found]
        complete = complete and found.complete and all_of_them and not (landmarks.hosts or landmarks.suffixes)
    return Samples(tuple(cells), complete)


def _texts(landmarks: Landmarks, *, shell: bool = False) -> Samples:
    sources, all_of_them = landmarks.sources()
    made = texts_for(sources, landmarks.lengths, landmarks.named(), _fresh("something", landmarks.taken()))
    cells = [
        *landmarks.texts(one_by_one=shell),
        *(_made(text, _like(text, landmarks), landmarks) for text in made.found),
    ]
    if shell:
        cells = [*cells, *_compound(cells)]
    return Samples(tuple(cells), made.complete and all_of_them)


def _made(text: str, says: str, landmarks: Landmarks) -> Sample:
    """Return a text that was made up; another spelling of a named one need not be possible."""
    if _fold(text) not in landmarks.taken():
        return Sample(text, says)
    return Sample(text, says, others=tuple(_spellings(_fold(text))), optional=True)


def _compound(commands: list[Sample]) -> Iterator[Sample]:
    """Yield commands of several parts: each twice, which is no plain command, and some of them in pairs."""
    for each in commands:
        yield Sample(f"{each.value}; {each.value}", f"{each.says}, twice", optional=True)
    short = [each for each in commands if len(str(each.value)) <= _SHORT_COMMAND][:_MOST_COMMANDS]
    for one, other in combinations(short, 2):
        yield Sample(f"{one.value}; {other.value}", f"{one.says}, and {other.says}", optional=True)
    yield Sample("$(something)", "a command made by another")


def _like(text: str, landmarks: Landmarks) -> str:
    if not landmarks.asks_of_texts:
        return "any other text" if landmarks.members else "any text"
    return f"a text of {len(text)} characters" if len(text) > 100 else f"a text like {_quoted(text)}"


def _plain_values(kind: Kind, landmarks: Landmarks) -> Samples:
    """Numbers and flags."""
    cells: list[Sample] = []
    complete = True
    if kind.takes("integer") and (
        "string" not in kind.types or kind.types & {"integer", "number"} or landmarks.numbers
    ):
        named = {
            value for (of, value), _ in landmarks.members if of in (int, float) and isinstance(value, (int, float))
        }
        bounds: list[float] = sorted({*map(_number, landmarks.numbers), *named})
        steps: set[float] = {value for bound in bounds for value in (bound - 1, bound, bound + 1)} or {1}
        if "integer" not in kind.types or "number" in kind.types:
            steps |= {(low + high) / 2 for low, high in pairwise(bounds)}
            steps |= {bound + 0.5 for bound in bounds} | {bound - 0.5 for bound in bounds}
            steps |= {0.5} if landmarks.patterns else set()
        if landmarks.patterns:
            edges = {edge for bound in landmarks.numbers for edge in (math.floor(bound), math.ceil(bound) - 1)}
            sources = (*landmarks.patterns, *map(up_to, sorted(edges)), _DIGITS)
            digits = endings_for(sources, "", frozenset(map(str, named)), "")
            steps |= {int(text) for text in digits.found if re.fullmatch(_DIGITS[0], text, re.ASCII)}
            complete = digits.complete
        cells += [Sample(value, f"a number like {value}") for value in sorted(steps)]
    if kind.takes("boolean") and ("string" not in kind.types or "boolean" in kind.types):
        cells += [Sample(True, "true"), Sample(False, "false")]  # noqa: FBT003 - the values themselves
    return Samples(tuple(cells), complete)


def _number(value: float) -> int | float:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _someone(host: str, landmarks: Landmarks) -> str:
    return _fresh("someone", {text.partition("@")[0] for text in landmarks.taken() if text.endswith("@" + host)})


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
    """Return the word, or the word with a number that makes it new, in whatever case."""
    found, number = word, 1
    folded_names = set(map(_fold, taken))
    while _fold(found) in folded_names:
        number += 1
        found = f"{word}{number}"
    return found


def _quoted(value: Json) -> str:
    return f"“{value}”" if isinstance(value, str) else str(value).lower()
