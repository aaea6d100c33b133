"""What a permission covers without naming it, and what it keeps out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.conditions import is_name
from ironcurtain.compiler.grounding import is_attached
from ironcurtain.compiler.parts import PRESENT, Part
from ironcurtain.compiler.patterns import DOT_SEGMENTS, ESCAPED_DOTS
from ironcurtain.compiler.picking import permitted_acts
from ironcurtain.language.statement import ACTS, Comparison, People, Place, Where
from ironcurtain.model.roles import Category, Role, category

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ironcurtain.compiler.catalogue import Argument, Tool
    from ironcurtain.compiler.parts import Ground
    from ironcurtain.compiler.picking import Pick
    from ironcurtain.language.statement import Doing, Statement

_FREE: Final = (Category.PLACE, Category.CARRIED)
"""What an act needs whatever it is: the things it is done to, and the places that hold them."""
_NEEDS: Final = {
    "read": frozenset({"read-path", "fetch-url"}),
    "create": frozenset({"write-path", "read-path"}),
    "change": frozenset({"write-path", "read-path"}),
    "delete": frozenset({"delete-path", "write-path", "read-path"}),
    "trash": frozenset({"delete-path", "write-path", "read-path"}),
    "move": frozenset({"delete-path", "write-path", "read-path"}),
    "send": frozenset({"recipient", "attendee", "send-url"}),
    "share": frozenset({"recipient"}),
    "upload": frozenset({"read-path", "send-url"}),
    "pay": frozenset({"recipient", "account"}),
    "run": frozenset[str](),
}
"""The roles that an act cannot do without. What else a call gives of paths, people, hosts and commands stays out."""
_BY_A_PART: Final = frozenset({Comparison.STARTS, Comparison.ENDS, Comparison.CONTAINS, Comparison.MATCHES})
"""Comparisons that describe a text by a part of it, or by a pattern."""
_AUDIENCES: Final = frozenset({"group", "distribution", "mailing", "audience", "broadcast"})
_ALONG: Final = frozenset({"file", "image", "photo", "picture", "video", "document"})
_ATTACHING: Final = frozenset({"attach", "attachment", "attachments"})
_LETTERS: Final = "A-Za-zÀ-ɏͰ-ԯ぀-鿿가-힣"
_MORE_THAN_A_NAME: Final = "|".join(
    (
        rf".*[^{_LETTERS}0-9_ .,:#!?'/-].*",
        r".*\.[^0-9 ].*",  # an ending, a host
        r"[./-].*",
        r".* -.*",  # an option
        rf"(.*[^{_LETTERS}])?'.*",  # an apostrophe stands between letters: the baker's
        rf".*'([^{_LETTERS}].*)?",
        r".*[^0-9]/.*",  # a slash between digits: 1/2
        r".*/([^0-9].*)?",
    )
)
"""Any text but words, numbers and what joins them: it might be an address, a path, a host, an option or syntax."""
_NO: Final = frozenset({"none", "no", "false", "never", "off"})


def covered_roles(doing: Doing, tool: Tool, ground: Ground) -> frozenset[str]:
    """The roles that a permission covers without naming them."""
    if doing.tools and not ground.names:
        return resources_of(tool)
    acts = permitted_acts(act for act in doing.acts if act in ACTS)
    needed = frozenset(role for act in acts for role in _NEEDS[act])
    required = frozenset(role for a in tool.arguments.values() if a.required for role in a.roles)
    if not {"read", "upload"} & set(doing.acts):  # an address beside a message is no part of sending it
        needed -= frozenset({"fetch-url", "send-url"}) - required
    if doing.tools:  # named by itself: what it cannot do without is meant
        needed |= required
    account = tool.roles & {"account"}
    return needed | account | frozenset(role for role in tool.roles if category(Role(role)) in _FREE)


def kept_out(
    statement: Statement, pick: Pick, covered: frozenset[str], named: frozenset[str], limited: frozenset[str]
) -> list[Part] | None:
    """What must not hold for a permission: other paths, people, hosts and commands, and what widens.

    `limited` are the roles of which it says where they may be. `None` if the tool cannot be called without something
    that is not permitted. An argument of which nothing is known may be given as a name in words, and as nothing that
    could be an address, a path, a host or syntax.
    """
    tool, unless = pick.tool, list[Part]()
    invites = any(isinstance(limit, People) for limit in statement.limits)
    beside = _beside(statement, tool)
    for leaf, argument in tool.arguments.items():
        uncovered = {role for role in argument.roles if _is_resource(role)} - covered
        if leaf in named or (invites and argument.has(Category.PARTY) and not uncovered):
            continue  # `to contacts` speaks of the guests, and of what is sent to them
        if invites and tool.might.optional.get(leaf, frozenset()) == {"send"} and not uncovered:
            continue
        sent_along = is_attached(argument) or _is_undescribed(argument, tool) or leaf in beside
        sent_along = sent_along or ("send" in tool.named_acts and bool(set(argument.words) & _ALONG))
        if leaf in tool.might.widening:
            unless += _held(leaf, tool)
        elif (
            leaf in pick.kept_out
            or (_goes_along(argument, tool) and not argument.roles <= limited)
            or (not invites and _is_invited(argument, tool))
            or (is_saved_aside(argument) and statement.doing.tools and not argument.roles <= limited)
            or ((uncovered or sent_along) and not statement.doing.tools)
        ):
            if argument.required and uncovered:
                return None
            if not argument.required:
                unless.append(Part(values={f"arg:{leaf}": _doing_something(argument)}))
        elif argument.unclear:
            unless.append(Part(values={f"arg:{leaf}": {"matches": _MORE_THAN_A_NAME}}))
    return unless


def is_saved_aside(argument: Argument) -> bool:
    """Return whether an argument says where a result is saved: naming the tool does not permit it."""
    paths = {role for role in argument.roles if role.endswith("-path")}
    return not argument.required and not argument.has_default and paths == {"write-path"}


def _goes_along(argument: Argument, tool: Tool) -> bool:
    """Return whether an argument is a file that may be attached: naming the tool does not permit it."""
    about = bool(_ATTACHING & set(tool.name_words))
    return is_attached(argument) and argument.has(Category.PATH) and not argument.required and not about


def _is_invited(argument: Argument, tool: Tool) -> bool:
    """Return whether an argument names people beside what a tool does: naming the tool does not permit them."""
    people = [each for each in tool.arguments.values() if each.has(Category.PARTY)]
    needed = any(each.required for each in people) or bool(tool.named_acts & {"send", "share", "pay"})
    return argument in people and not needed and not argument.has(Category.PLACE)


def _doing_something(argument: Argument) -> dict[str, Any]:
    """What an argument is that must be left out: true of a flag, anything but no of a choice, any other value."""
    if argument.types and argument.types <= {"boolean", "null"}:
        return {"in": [True]}
    wide = [value for value in argument.choices if str(value).lower() not in _NO]
    return {"in": wide} if argument.choices and wide else PRESENT


def _beside(statement: Statement, tool: Tool) -> frozenset[str]:
    """The arguments by which what is sent would also go elsewhere: a channel beside people, people beside a channel."""
    kinds = {type(limit) for limit in statement.limits}
    if not set(statement.doing.acts) & {"send", "share"} or not kinds & {People, Place}:
        return frozenset()
    arguments = tool.arguments.values()
    found = {a.leaf for a in arguments if People in kinds and set(a.words) & _AUDIENCES}
    if Place not in kinds:  # a thread or a calendar is where it is done, a channel who reads it
        found |= {a.leaf for a in arguments if "channel" in a.roles and "thread" not in a.words}
    if People not in kinds:
        found |= {a.leaf for a in arguments if a.has(Category.PARTY)}
    return frozenset(found)


def _is_undescribed(argument: Argument, tool: Tool) -> bool:
    """Whether an argument of a tool that sends is an object without a schema: people and files may stand in it."""
    always = tool.might.acts.difference(*tool.might.optional.values()) | tool.named_acts
    sends = bool(always & {"send", "share", "upload", "pay"})
    return sends and ("object" in argument.types or not argument.types) and not argument.required


def _is_resource(role: str) -> bool:
    return category(Role(role)) not in (Category.CARRIED, Category.NONE)


def resources_of(tool: Tool) -> frozenset[str]:
    return frozenset(role for role in tool.roles if _is_resource(role))


def _held(leaf: str, tool: Tool) -> list[Part]:
    """What keeps an argument that widens at the values that do not."""
    argument, harmless = tool.arguments[leaf], tool.might.widening[leaf]
    if argument.is_flag or argument.choices:
        every = (True, False) if argument.is_flag else argument.choices
        wide = [value for value in every if value not in harmless]
        return [Part(values={f"arg:{leaf}": {"in": wide}})] if wide else []
    if _is_open(leaf, tool) or argument.required:
        return []  # its harmless values are named instead
    return [Part(values={f"arg:{leaf}": PRESENT})]


def _is_open(leaf: str, tool: Tool) -> bool:
    """Whether an argument that widens may be any text, and some of it is harmless."""
    argument = tool.arguments[leaf]
    texts = [value for value in tool.might.widening[leaf] if isinstance(value, str)]
    return bool(texts) and not argument.is_flag and not argument.choices and not argument.required


def harmless_ways(tool: Tool, named: frozenset[str]) -> list[Part]:
    """The ways in which arguments that widen are harmless: left out, or one of the values that do not."""
    ways = [Part()]
    for leaf in tool.might.widening:
        if leaf in tool.arguments and leaf not in named and _is_open(leaf, tool):
            values = [value for value in tool.might.widening[leaf] if isinstance(value, str)]
            own = [Part(absent=frozenset({leaf})), Part(values={f"arg:{leaf}": {"in": values}})]
            ways = [one.with_(two) for one in ways for two in own]
    return ways


def stays_out(leaf: str, unless: Iterable[Part]) -> bool:
    return any(part.values.keys() == {f"arg:{leaf}"} for part in unless)


def people_outside(statement: Statement, tool: Tool) -> frozenset[str]:
    outside = any(isinstance(limit, People) and limit.outside for limit in statement.limits)
    return tool.of(Category.PARTY) if outside else frozenset()


def leading_elsewhere(statement: Statement, tool: Tool) -> Iterator[Part]:
    """Yield what a permission keeps out of names that it describes by a part: `tmp/../other` is not below `tmp/`."""
    for condition in (each for limit in statement.limits if isinstance(limit, Where) for each in limit.conditions):
        argument = tool.argument(condition.argument)
        dots = r"\.\." if condition.test is Comparison.MATCHES else ".."
        spoken_of = any(dots in name.text for name in condition.values)
        if condition.test not in _BY_A_PART or argument is None or spoken_of:
            continue
        if is_name(argument, tool):
            yield Part(values={f"arg:{argument.leaf}": {"matches": DOT_SEGMENTS}})
        elif argument.has(Category.URL):
            yield Part(values={f"arg:{argument.leaf}": {"matches": ESCAPED_DOTS}})
