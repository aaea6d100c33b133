"""What a condition of a statement on one argument comes to: a predicate on its values."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.bounds import FLAGS, as_text, by_kind, compared, measured, typed
from ironcurtain.compiler.counts import is_plural
from ironcurtain.compiler.naming import Reference
from ironcurtain.compiler.parts import PRESENT, Ground, Part
from ironcurtain.compiler.patterns import RELATIVE, anywhere, below_domain, escaped, text_pattern, under
from ironcurtain.compiler.problems import Problem
from ironcurtain.compiler.values import is_shared
from ironcurtain.language.statement import Comparison
from ironcurtain.model.roles import Category, Role, category

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ironcurtain.compiler.catalogue import Argument, Tool
    from ironcurtain.compiler.values import Values
    from ironcurtain.language.statement import Condition, Name


_FOLDERS: Final = frozenset({"folder", "mailbox", "notebook", "album", "directory", "label", "category", "collection"})
_DIRECTORIES: Final = frozenset(
    """dir directory directories folder folders repo repository root base cwd workdir workspace project vault tree list
    ls find search glob git""".split()  # noqa: SIM905 - to be read
)
_OF_DIRECTORIES: Final = re.compile(r"(?i)\b(?:director(?:y|ies)|folders?|repositor(?:y|ies)|working copy)\b")
_READABLE: Final = {"given": True, "matches": r"(.|\n)*"}
"""A command without shell syntax: what it is not can be told of no other."""
_SEPARATED: Final = re.compile(r"(?i)separated|delimited|list of|one or more|several|multiple")
_OPEN_HOST: Final = re.compile(r"(?i)[a-z][a-z0-9+.-]*://[^/]*")
"""A URL that ends in its host, which another host may begin with."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Grounds a condition on an argument."""

    values: Values
    beside: tuple[str, ...] = ()
    """Directories where a file may be made besides those that are named."""
    by_name: bool = False
    """Directories are compared by the name of the path, because a rule has room for one condition on paths."""

    def ground(
        self, condition: Condition, argument: Argument, tool: Tool, *, certain: bool, alone: bool = True
    ) -> Ground:
        """Return what one condition on an argument comes to; `alone` if no other is on the same argument."""
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
        if certain and test is Comparison.IS:
            self._require_file(condition, argument, tool)
        first, *rest = self._by_kind(condition, argument)
        part, negated = self._asked(first, argument, tool, certain=certain)
        loosely = certain == negated
        others = self._otherwise_spelled(condition, argument, tool) if loosely else ()
        others = as_text(condition, argument) if alone and not loosely else others
        others = (*others, *(self._asked(each, argument, tool, certain=certain)[0] for each in rest))
        notes = measured(test, argument)
        if negated:
            readable = Part(values={key: _READABLE}) if certain and "command" in argument.roles else present
            given = Part() if condition.or_left_out or (argument.required and not certain) else readable
            if certain and condition.or_left_out:
                return Ground(unless=(part, *others), covers=covers, names=names, notes=notes)
            return Ground((given,), (part, *others), covers, names, notes=notes)
        parts = (part, *others)
        listed = argument.required and "array" in argument.types  # an empty list has no element that could be so
        if (condition.given or listed) and not certain:  # what is left out and picked by the server is not given
            parts = tuple(each.with_(present) for each in parts)
        absent = [_absent(argument)] if condition.or_left_out else []
        return Ground((*parts, *absent), covers=covers, names=names, notes=notes)

    def _require_file(self, condition: Condition, argument: Argument, tool: Tool) -> None:
        """Raise a `Problem` for a directory of the set-up where a file stands: it would permit no file in it."""
        named = next((name for name in condition.values if self.values.setup.directory_of(name) is not None), None)
        words = tool.name_words.union(argument.words)
        about_files = _DIRECTORIES.isdisjoint(words) and not _OF_DIRECTORIES.search(argument.says)
        if named is not None and argument.has(Category.PATH) and about_files:
            shown, where = f'"{named.text}"', self.values.setup.directory_of(named)
            raise Problem(
                f"`{argument.leaf}` is {shown} holds for no file in that directory",
                f'write `{argument.leaf}` is in {shown}, or for the directory itself `{argument.leaf}` is "{where}"',
            )

    def _otherwise_spelled(self, condition: Condition, argument: Argument, tool: Tool) -> tuple[Part, ...]:
        """What else a value may be that is tightened by its name: one of several in a text, a member of a list."""
        if condition.test not in (Comparison.IS, Comparison.IS_NOT):
            return ()
        found: list[Part] = []
        lists = [name for name in condition.values if self.values.setup.list_of(name) is not None]
        if lists and not self._names_its_kind(condition.values, argument):
            found.append(self._inside(lists, argument, tool, certain=False))
        directories = [name for name in condition.values if self.values.setup.directory_of(name) is not None]
        if directories and argument.has(Category.PATH):  # what is said of a directory is said of all in it
            found.append(self._inside(directories, argument, tool, certain=False))
        texts = [text for name in condition.values for text in self.values.spelled(name.text, argument)]
        if relative := [text for text in texts if _is_relative(text, argument)]:
            found.append(Part(values={f"arg:{argument.leaf}": {"matches": anywhere("|".join(map(escaped, relative)))}}))
        if self._may_be_name(argument, tool):  # it may begin anywhere on the way to the file
            ways = [text.strip("/").split("/") for text in map(self.values.setup.known.absolute, texts)]
            ends = ["/".join(way[start:]) for way in ways for start in range(len(way))]
            found.append(Part(values={f"arg:{argument.leaf}": {"in": list(dict.fromkeys(filter(None, ends)))}}))
        plain = any(text in FLAGS or re.fullmatch(r"-?[0-9.]+", text) for text in texts)
        if argument.leaf not in tool.arguments and not plain:  # no schema says that it is one name
            several = "|".join(escaped(text) for text in dict.fromkeys(texts))
            found.append(Part(values={f"arg:{argument.leaf}": {"matches": rf"(?i)(.*[,;\s])?({several})([,;\s].*)?"}}))
        return tuple(found)

    def _asked(self, condition: Condition, argument: Argument, tool: Tool, *, certain: bool) -> tuple[Part, bool]:
        """The condition as a part, and whether it is the part that must not hold."""
        key, test = f"arg:{argument.leaf}", condition.test
        texts = [value.text for value in condition.values]
        if certain and test is Comparison.STARTS:
            _require_closed(texts)
        if not certain and (part := self._of_path(condition, argument)) is not None:
            return part, False
        if (part := by_kind(condition, argument)) is not None:
            return part, test is Comparison.LONGER
        match test:
            case Comparison.IS | Comparison.IS_NOT if self._names_its_kind(condition.values, argument):
                return self._inside(condition.values, argument, tool, certain=certain), test is Comparison.IS_NOT
            case Comparison.IS | Comparison.IS_NOT:
                part = self._files(condition, argument, certain=certain)
                return part or self._one_of(condition, argument, certain=certain), test is Comparison.IS_NOT
            case Comparison.AT_MOST | Comparison.AT_LEAST | Comparison.ABOVE | Comparison.BELOW:
                return compared(test, texts[0], argument, certain=certain)
            case Comparison.IN:
                return self._inside(condition.values, argument, tool, certain=certain), False
            case Comparison.UNDER:
                return self._beneath(condition, argument, tool, certain=certain), False
            case Comparison.MATCHES if not certain and argument.has(Category.PATH) and "~" in texts[0]:
                raise Problem("paths are compared in full, without ~", f"write {self.values.setup.known.home}/...")
            case Comparison.MATCHES:
                return Part(values={key: {"matches": texts[0].replace("\\/", "/")}}), False
            case Comparison.CONTAINS if certain and "array" in argument.types:  # one of the elements
                values = typed(argument, [each for text in texts for each in self.values.spelled(text, argument)])
                return Part(values={key: {"in": values}}), False
        return self._by_a_part(condition, argument, tool, certain=certain), False

    def _by_a_part(self, condition: Condition, argument: Argument, tool: Tool, *, certain: bool) -> Part:
        """What a comparison with the beginning, the end or a part of a text comes to."""
        texts, test = [value.text for value in condition.values], condition.test
        spelled = [
            each for text in texts for each in {text: None, **dict.fromkeys(self.values.spelled(text, argument))}
        ]
        if not certain:
            spelled = [form for text in spelled for form in self._canonical_text(text, argument)]
        pattern = text_pattern(
            test, spelled, certain=certain, listed=is_name(argument, tool), spaced=_is_folder(argument)
        )
        absolute = test is Comparison.STARTS and any(text.startswith(("/", "~")) for text in texts)
        if absolute and not certain and self._may_be_name(argument, tool):
            pattern = f"{pattern}|{RELATIVE}"
        return Part(values={f"arg:{argument.leaf}": {"matches": pattern}})

    def _one_of(self, condition: Condition, argument: Argument, *, certain: bool) -> Part:
        """Return that a value is one of those named: itself, or what a name stands for."""
        loosely = certain == (condition.test is Comparison.IS_NOT)  # then the name itself is a spelling, too
        texts = [value.text for value in condition.values]
        every = [each for text in texts for each in self.values.spelled(text, argument)]
        if not argument.has(Category.PATH):  # where a server means a path, home is written in two ways
            every += [self.values.setup.known.absolute(text) for text in every if text.startswith("~/")]
            every += [f"{text}/" for text in every if text.startswith(("~/", "/")) and loosely]
        written = (*texts, *self.values.written(condition.values)) if loosely else ()
        values = typed(argument, list(dict.fromkeys([*every, *written])))
        machines = self.values.machines(argument, every) if certain and not loosely else Part()
        return Part(values={f"arg:{argument.leaf}": {"in": values}}).with_(machines)

    def _files(self, condition: Condition, argument: Argument, *, certain: bool) -> Part | None:
        """Return the pattern of the files that a star stands for: `*.md`, by the name of the file."""
        if not argument.has(Category.PATH) or not any("*" in n.text and not n.quoted for n in condition.values):
            return None
        known = self.values.setup.known
        patterns = []
        for name in condition.values:
            text = known.absolute(name.text) if name.text.startswith("~") else name.text
            pattern = escaped(text)
            if not name.quoted:
                pattern = pattern.replace("\\*\\*", ".*").replace("\\*", "[^/]*")
            patterns.append(pattern if text.startswith("/") else f"(.*/)?{pattern}")
        loosely = certain == (condition.test is Comparison.IS_NOT)
        every = f"({'|'.join(patterns)})"
        return Part(values={f"arg:{argument.leaf}": {"matches": f"(?i){every}(/.*)?" if loosely else every}})

    def _beneath(self, condition: Condition, argument: Argument, tool: Tool, *, certain: bool) -> Part:
        """What `is under` comes to: a directory here, or one of another machine by the name alone."""
        if argument.has(Category.PATH) and self._are_names(condition.values, argument, tool):
            texts = [name.text for name in condition.values]
            return Part(values={f"arg:{argument.leaf}": {"matches": self._below(texts, tool, certain=certain)}})
        if argument.has(Category.PATH):  # a canonical path: links lead nowhere else
            return self._inside(condition.values, argument, tool, certain=certain)
        places = [place for name in condition.values for place in self.values.located(name, certain=certain)]
        return Part(values={f"arg:{argument.leaf}": {"matches": under(places, certain=certain)}})

    def _of_path(self, condition: Condition, argument: Argument) -> Part | None:
        """What a prohibition says of a part of a path: `config/`, `.env`; paths are compared in full."""
        known = [n for n in condition.values if self.values.setup.name_of(n.text) or self.values.setup.directory_of(n)]
        if not any(_is_relative(name.text, argument) for name in condition.values if name not in known):
            return None
        texts = [text for name in condition.values for text in self.values.located(name, certain=False)]
        match condition.test:
            case Comparison.UNDER:
                pattern = "|".join(f"{escaped(text.rstrip('/'))}(/.*)?" for text in texts)
            case Comparison.STARTS:
                pattern = "|".join(f"{escaped(text)}.*" for text in texts)
            case Comparison.MATCHES if not texts[0].startswith("\\/"):
                pattern = condition.values[0].text.replace("\\/", "/")
            case _:
                return None
        return Part(values={f"arg:{argument.leaf}": {"matches": anywhere(pattern)}})

    def _canonical_text(self, text: str, argument: Argument) -> Iterator[str]:
        """A text as it stands in what it is compared with: a path in full, a number in digits."""
        yield text
        if argument.has(Category.PATH) and text.startswith("~"):
            yield self.values.setup.known.absolute(text)
        if argument.has(Category.PATH) and len(text) > 1 and text.endswith("/"):
            yield self.values.setup.known.absolute(text.rstrip("/"))
        if argument.has(Category.PARTY) and re.fullmatch(r"\+[0-9][0-9 ./-]*", text):
            yield re.sub(r"[ ./-]", "", text)
        if argument.has(Category.URL, Category.PARTY) and not text.isascii():
            raise Problem("addresses are compared in ASCII", "write on HOST, or to anyone at HOST")

    def _by_kind(self, condition: Condition, argument: Argument) -> list[Condition]:
        """Return a condition as one for lists of hosts, and one for the other values beside them."""
        tests = (Comparison.IS, Comparison.IS_NOT, Comparison.IN)
        if condition.test not in tests or not argument.has(Category.PARTY, Category.URL):
            return [condition]
        listed = [name for name in condition.values if self.values.setup.list_of(name) is not None]
        hosts = [name for name in listed if self.values.setup.meant([name]).hosts]
        others = [name for name in condition.values if name not in hosts]
        return [replace(condition, values=tuple(each)) for each in (hosts, others) if each]

    def _names_its_kind(self, names: Sequence[Name], argument: Argument) -> bool:
        """Whether an argument is compared with a list of what it holds, people or hosts: `to` is "my children"."""
        listed = [name for name in names if self.values.setup.list_of(name) is not None]
        if not listed:
            return False
        meant = self.values.setup.meant(listed)
        people = argument.has(Category.PARTY) and bool(meant.people or meant.hosts)
        return people or (argument.has(Category.URL) and bool(meant.hosts))

    def _inside(self, names: Sequence[Name], argument: Argument, tool: Tool, *, certain: bool) -> Part:
        meant = self.values.meant(names, empty_is_error=True)
        key = f"arg:{argument.leaf}"
        if meant.paths:
            roles = frozenset(r for r in argument.roles if r.endswith("-path"))
            places = (*meant.paths, *(self.beside if certain and roles == {"write-path"} else ()))
            if roles and not self.by_name and not any(is_shared(tool, argument.leaf, role) for role in roles):
                return Part(paths=(roles, places))
            if roles:  # a canonical path
                inside = "|".join(f"{escaped(place.rstrip('/'))}(/.*)?" for place in places)
                anywhere_ = "" if certain or not self._may_be_name(argument, tool) else f"|{RELATIVE}"
                return Part(values={key: {"matches": inside + anywhere_}})
            home = self.values.setup.known.home
            spelled = [*meant.paths, *("~" + p.removeprefix(home) for p in meant.paths if p.startswith(f"{home}/"))]
            return Part(values={key: {"matches": under(spelled if not certain else meant.paths, certain=certain)}})
        if argument.has(Category.PATH) and meant.values and not _is_listed(meant.values):
            return Part(values={key: {"matches": self._below(meant.values, tool, certain=certain)}})
        if meant.hosts and not (meant.people or meant.values) and argument.has(Category.PARTY):
            return self._at_domains(meant.hosts, argument, tool)
        if meant.hosts and argument.has(Category.URL):
            return Part(domains=(frozenset(r for r in argument.roles if r.endswith("-url")), meant.hosts))
        every = (*meant.people, *meant.values, *meant.hosts)
        part = self.values.is_one_of(tool, argument, every)
        return part.with_(self.values.machines(argument, every)) if certain else part

    def _are_names(self, names: Sequence[Name], argument: Argument, tool: Tool) -> bool:
        """Return whether names are none of the set-up, where a path may be a name as it stands: `is under methods`."""
        setup = self.values.setup
        return self._may_be_name(argument, tool) and not any(
            setup.name_of(name.text) or setup.directory_of(name) or setup.list_of(name) or name.text[:1] in "/~"
            for name in names
        )

    def _may_be_name(self, argument: Argument, tool: Tool) -> bool:
        """Return whether a relative path here is a name: the server has no known starting point."""
        known = self.values.setup.known
        return argument.has(Category.PATH) and "identifier" in argument.roles and tool.server not in known.path_base

    def _below(self, names: Sequence[str], tool: Tool, *, certain: bool) -> str:
        """Return a pattern for what is in folders that are known by name, relative to where the server begins."""
        if not certain:
            return anywhere(under(names, certain=False))
        base = self.values.setup.known.path_base.get(tool.server)
        return under([name if base is None else f"{base}/{name}" for name in names], certain=True)

    def _at_domains(self, hosts: tuple[str, ...], argument: Argument, tool: Tool) -> Part:
        """Return that the people of an argument have addresses at some domains."""
        roles = frozenset(role for role in argument.roles if category(Role(role)) is Category.PARTY)
        if not any(is_shared(tool, argument.leaf, role) for role in roles):
            return Part(domains=(roles, hosts))
        every = [each for host in hosts for each in self.values.members(host)]
        return Part(values={f"arg:{argument.leaf}": {"matches": rf"(?i)[^@]*@({'|'.join(map(below_domain, every))})"}})


def _is_listed(values: Sequence[str]) -> bool:
    return any(isinstance(value, Reference) for value in values)


def _require_closed(texts: Sequence[str]) -> None:
    """Raise a `Problem` for beginnings that say nothing of where a name leads."""
    for text in texts:
        if _OPEN_HOST.fullmatch(text):
            raise Problem("a host goes on behind such a beginning", f"write on {text.rpartition('/')[2]}")
        if text.startswith("/"):
            raise Problem("`starts with` a slash says nothing of `..`", f"write is under {text}")


def _is_relative(text: str, argument: Argument) -> bool:
    """Return whether a text is part of a path, which is compared in full: `.env`, `config/prod.yml`."""
    return argument.has(Category.PATH) and not text.startswith(("/", "~")) and "://" not in text


def is_name(argument: Argument, tool: Tool) -> bool:
    """Whether an argument names something, so that a server may read several names in one text of it."""
    named = argument.leaf not in tool.arguments or argument.has(Category.PLACE, Category.OTHER)
    named = (named or "identifier" in argument.roles) and "command" not in argument.roles
    return named and not argument.has(Category.PATH, Category.URL, Category.PARTY)


def _is_folder(argument: Argument) -> bool:
    """Return whether an argument names one folder, whose name may have blanks in it."""
    alone = not is_plural(argument) and not _SEPARATED.search(argument.says)
    return alone and not _FOLDERS.isdisjoint(argument.words)


def _absent(argument: Argument) -> Part:
    return Part(absent=frozenset({argument.leaf}))
