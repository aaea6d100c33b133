"""What a count of a statement comes to for one tool: how many people, or things of a kind, one call holds."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import words_of
from ironcurtain.compiler.catalogue import normal
from ironcurtain.compiler.parts import PRESENT, Ground, Part
from ironcurtain.model.roles import Category, Role, category

if TYPE_CHECKING:
    from ironcurtain.compiler.catalogue import Argument, Tool
    from ironcurtain.language.statement import Count


_OF_ANYTHING: Final = frozenset({"id", "identifier", "name", "key"})
"""Words for what is counted in a list: an id beside it is one of something else, the project that they are in."""
_MOST_SINGLE: Final = 3
_SOME: Final = {"minItems": 1}
_WRITTEN_OUT: Final = frozenset({"json", "csv", "xml", "yaml", "tsv", "bulk", "batch"})


def count(limit: Count, tool: Tool) -> Ground | None:
    """Return the condition that a call may hold more than so many, or nothing if that cannot be counted.

    Values of one role are added up. Of other lists not: where two are given, the call may hold more. An argument that
    holds one adds one to each.
    """
    more = {"minItems": limit.beyond + 1}
    people = sorted(tool.of(Category.PARTY)) if not limit.noun or counts_people(limit) else []
    everybody = (Part(values={f"role:{'+'.join(people)}": more}),) if people else ()
    if not limit.noun or (people and not any(_counts(a, normal(limit.noun)) for a in _lists(tool))):
        return Ground(everybody) if people else None
    noun = normal(limit.noun)
    meant = [a for a in tool.arguments.values() if _counts(a, noun)] or _of_its_things(noun, tool)
    several = [a for a in meant if "array" in a.types or "[]" in a.leaf]
    if any(a not in several and (is_plural(a) or a.free or _is_written_out(a)) for a in meant) or _is_beside(
        noun, tool
    ):
        return None  # several in one text, or one more in an object, cannot be counted
    lists: dict[str, dict[str, None]] = {}
    for argument in several:
        subjects = _subjects(argument, noun, people=counts_people(limit))
        if not subjects or any(each.endswith("[]") and _is_open(each, tool) for each in subjects):
            return None
        lists.setdefault(subjects[0], {}).update(dict.fromkeys(subjects))
    if not lists or (limit.beyond == 0 and any(each.endswith("[]") for each in lists)):
        return None
    single = [a.leaf for a in meant if a not in several and any(_adds_to(a, each, noun) for each in several)]
    holders = [*(each for subjects in lists.values() for each in subjects), *single]
    roles = {each for a in meant for each in a.roles if category(Role(each)) is Category.PATH}
    if 1 < len(holders) == len(meant) and len(roles) == 1 and all(a.has(Category.PATH) for a in meant):
        return Ground((Part(values={f"role:{roles.pop()}": more}),))
    parts = [{f"arg:{a}": _SOME, f"arg:{b}": _SOME} for a, b in combinations(lists, 2)]
    for number in range(min(len(single), _MOST_SINGLE) + 1):
        for beside in combinations(single, number):
            sure = number < min(limit.beyond, _MOST_SINGLE)
            least = {"minItems": limit.beyond + 1 - number} if sure else _SOME
            every = (each for subjects in lists.values() for each in subjects)
            parts += [{f"arg:{a}": least} | {f"arg:{b}": PRESENT for b in beside} for a in every]
    if len(single) > limit.beyond:
        parts += [{f"arg:{a}": PRESENT for a in beside} for beside in combinations(single, limit.beyond + 1)]
    return Ground((*everybody, *(Part(values=values) for values in parts)))


def _adds_to(single: Argument, several: Argument, noun: str) -> bool:
    """Return whether an argument holds one more of what a list holds: not the project its rows are in, or where to."""
    if noun == "file" and single.has(Category.PATH):
        return bool(single.roles & several.roles)
    words, others = (frozenset(map(normal, each.words)) - _OF_ANYTHING for each in (single, several))
    return noun not in _OF_ANYTHING or words <= others


def _subjects(argument: Argument, noun: str, *, people: bool) -> tuple[str, ...]:
    """Return what is counted of a list, one of which must be too many; nothing if that cannot be counted.

    That is its values, or its elements where these are objects, as `pages[]`. Of a list in a list, it is the one that
    bears the noun. Where one element may hold several, its people and files are counted, too, and anything else is not.
    """
    *lists, own = argument.leaf.split("[]")
    if not lists:
        if not argument.free and not argument.types <= {"array", "null"}:
            return () if argument.alone and is_plural(argument) else (own,)
        return () if argument.alone or noun == "file" else (f"{own}[]",)  # a map; or a list in each of them
    bearing = [place for place, each in enumerate(lists, 1) if noun in _nouns_of(each)]
    elements = "[]".join(lists[: bearing[-1] if bearing else len(lists)]) + "[]"
    if bearing and bearing[-1] < len(lists):
        return (elements,)
    meant = not bearing or noun in {normal(word) for word in (argument.name, *argument.words)}
    if argument.has(Category.PARTY) and (people or meant):
        return (elements, argument.leaf)
    if noun == "file" and argument.has(Category.PATH) and "array" in argument.types:
        return (elements, argument.leaf)
    by_id = not {"id", "identifier"}.isdisjoint(map(normal, argument.words))
    holds = meant or by_id or (noun == "file" and argument.has(Category.PATH))
    return () if holds and _may_hold_many(argument) else (elements,)


def _may_hold_many(argument: Argument) -> bool:
    """Return whether one value of an argument may be several things."""
    plain = bool(argument.types) and argument.types <= {"string", "integer", "number", "boolean", "null"}
    return (
        not plain or argument.free or ("string" in argument.types and is_plural(argument)) or _is_written_out(argument)
    )


def _is_written_out(argument: Argument) -> bool:
    """Return whether an argument is a text in which several may be written out: `pages_json`."""
    return "string" in argument.types and not _WRITTEN_OUT.isdisjoint(argument.words)


def _is_beside(noun: str, tool: Tool) -> bool:
    """Return whether a tool takes one in an object of its own: `page.title` beside `pages`."""
    above = (name for leaf in tool.arguments if "[]" not in leaf for name in leaf.split(".")[:-1])
    return any(normal(name) == noun and name.lower() != f"{noun}s" for name in above)


def _is_open(elements: str, tool: Tool) -> bool:
    """Return whether a text may stand in the place of a list of objects, or of one of its elements."""
    above = tool.arguments.get(elements.removesuffix("[]"))
    return elements in tool.arguments or (above is not None and "string" in above.types)


def can_be_counted(limit: Count, tool: Tool) -> bool:
    """Return whether a tool has an argument that holds what is to be counted, be it in a way that can be counted."""
    noun = normal(limit.noun)
    if counts_people(limit) and tool.of(Category.PARTY):
        return True
    return any(_counts(each, noun) for each in tool.arguments.values()) or bool(_of_its_things(noun, tool))


def counts_people(limit: Count) -> bool:
    """Return whether people are counted: a call may reach many by a list or a channel that it names once."""
    people = ("people", "person", "recipient", "attendee", "guest", "contact", "address", "member", "subscriber")
    return not limit.noun or normal(limit.noun) in people


def _lists(tool: Tool) -> list[Argument]:
    return [argument for argument in tool.arguments.values() if "array" in argument.types or "[]" in argument.leaf]


def _of_its_things(noun: str, tool: Tool) -> list[Argument]:
    """Return the list that a call must give and that holds what the tool is about: more than 20 emails at once."""
    if noun not in {normal(each) for each in (*tool.things, *tool.loose_things)}:
        return []
    called = {normal(word) for word in tool.name_words}
    others = {word for thing in tool.things if normal(thing) != noun for word in map(normal, thing.split())} & called
    needed = [a for a in tool.arguments.values() if a.required and ("array" in a.types or "[]" in a.leaf)]
    if any(("[]" not in a.leaf and not is_plural(a)) or others.intersection(map(normal, a.words)) for a in needed):
        return []  # several in one text; a list of something else that the tool is about
    lists = {argument.leaf.partition("[]")[0] for argument in needed}
    return needed if len(lists) == 1 and not any(argument.has(Category.PARTY) for argument in needed) else []


def _counts(argument: Argument, noun: str) -> bool:
    """Whether an argument holds such things: by its name, by the list that it is an element of, or as files."""
    words = {word for each in argument.leaf.split("[]")[:-1] for word in _nouns_of(each)}
    return (
        noun in (normal(argument.name), argument.name.lower())
        or noun in words
        or noun in argument.words
        or (noun == "file" and argument.has(Category.PATH))
    )


def _nouns_of(name: str) -> set[str]:
    """Return the nouns in the last name of a list: `files` in `options.files`."""
    last = name.rpartition(".")[2]
    return {normal(word) for word in (last, *words_of(last))}


def is_plural(argument: Argument) -> bool:
    """Return whether an argument's name speaks of several."""
    name = argument.name.lower()
    return name.endswith(("s", "list")) and not name.endswith("ss")
