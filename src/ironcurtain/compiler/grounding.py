"""What a limit of a statement comes to for one tool: conditions on its arguments.

`certain` says how a limit is read. The limits of a `may` and the exceptions of a never or an ask hold only where they
certainly do; the limits of a never or an ask and the exceptions of a `may` hold where they might. The engine reads a
condition of an allow, and the `unless` of a deny or escalate, in the first way, and all others in the second.

A limit that a tool has no argument for comes to nothing (`None`): a permission then does not pick the tool, and a never
or an ask picks it and asks. A tool that cannot reach what the limit speaks of, files or hosts or the places of another
server, is not concerned at all (`UNCONCERNED`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, assert_never

from ironcurtain.compiler.annotate.acts import READERS
from ironcurtain.compiler.annotate.text import words_of
from ironcurtain.compiler.conditions import Conditions
from ironcurtain.compiler.counts import can_be_counted, count, counts_people
from ironcurtain.compiler.naming import Reference
from ironcurtain.compiler.parts import PRESENT, Ground, Part
from ironcurtain.compiler.picking import is_about
from ironcurtain.compiler.placing import UNCONCERNED, Placing
from ironcurtain.compiler.problems import Problem, did_you_mean
from ironcurtain.compiler.sandboxed import may_save_there
from ironcurtain.compiler.values import Values
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
    Thing,
    Where,
)
from ironcurtain.model.resolved import Opaque
from ironcurtain.model.roles import Category, Role, category
from ironcurtain.resolve.parties import resolve_parties

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ironcurtain.compiler.catalogue import Argument, Tool
    from ironcurtain.compiler.naming import Setup
    from ironcurtain.language.statement import Limit

_TO_SOMEBODY: Final = frozenset({"send", "share", "pay"})
"""Acts that need somebody, so that a call which names nobody goes to whom the server picks."""


@dataclass(frozen=True, slots=True)
class Grounding:
    """Grounds limits in the arguments of tools and the owner's set-up."""

    setup: Setup
    tools: Sequence[Tool]
    acts: frozenset[str]
    """What the statement is about; none for `use` and `do anything with`."""
    by_name: bool = False
    """Directories are compared by the name of the path, because a rule has room for one condition on paths."""
    permits: bool = False
    """The limits are those of a permission, or of the `only` that closes it: `only` does not speak of the sandbox."""

    def ground(self, limit: Limit, tool: Tool, *, certain: bool) -> Ground | None:
        """Return what a limit comes to for a tool, or nothing if the tool has no argument for it."""
        match limit:
            case Place():
                placing = Placing(self._values, self.tools, self.acts, self._beside(tool))
                return placing.ground(limit, tool, certain=certain)
            case People(members=()) if certain and not tool.of(Category.PARTY):
                return Ground()  # `to anyone` limits nothing, and there is nobody to cover
            case People():
                return self._people(limit, tool, certain=certain)
            case Where():
                return self._where(limit, tool, certain=certain)
            case Giving():
                return self._giving(limit, tool)
            case Count():
                return count(limit, tool) or (None if certain or _might_hold(limit, tool) else UNCONCERNED)
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

    @property
    def _values(self) -> Values:
        return Values(self.setup)

    def _beside(self, tool: Tool) -> tuple[str, ...]:
        """Where a file that a permission speaks of may be made besides."""
        return (self.setup.known.sandbox,) if self.permits and may_save_there(tool, self.acts) else ()

    def _people(self, limit: People, tool: Tool, *, certain: bool) -> Ground | None:
        roles = tool.of(Category.PARTY)
        if not roles or (limit.members and _goes_to_another(tool)):
            self.setup.meant([each for each in limit.members if isinstance(each, Name)])  # they stand for somebody
            return None if certain or roles or _might_reach(tool) else UNCONCERNED
        present = Part(values={f"role:{'+'.join(sorted(roles))}": PRESENT})
        if not limit.members and (certain or self.acts & _TO_SOMEBODY):
            return Ground(covers=roles)
        if not limit.members:  # somebody is written to, and not only the thing done
            return Ground((present,), covers=roles)
        names = [each for each in limit.members if isinstance(each, Name)]
        domains = tuple(each.name.text for each in limit.members if isinstance(each, Domain))
        meant = self._values.meant(names, empty_is_error=not certain or limit.outside)
        if meant.paths:
            raise Problem(f"{' '.join(meant.words)} is a directory, and nobody", "name a list or an address")
        if undescribed := next((leaf for leaf, a in tool.arguments.items() if a.free and a.has(Category.PARTY)), ""):
            raise Problem(
                f"`{undescribed}` of {tool.key} has no schema: it is not known where people are in it",
                f"name the member: where `{undescribed}.email` is in ..., or except where it is",
            )
        parts: list[Part] = []
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
            people = tuple(dict.fromkeys((*people, *self._values.written(names))))
        hosts = (*(host for host in meant.hosts if host not in handles or certain == limit.outside), *domains)
        together = self._values.among_or_at(roles, people, hosts) if certain != limit.outside else None
        if together is not None:
            parts.append(together)
        else:
            parts += [self._values.among(roles, people)] if people else []
            parts += [Part(domains=(roles, hosts))] if hosts else []
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
        whole = self.setup.whole_hosts(names)
        return tuple(h for h in found if not isinstance(h, Reference) and "*" not in h and h not in whole)

    def _where(self, limit: Where, tool: Tool, *, certain: bool) -> Ground | None:
        whole = Ground()
        given = {each.argument for each in limit.conditions if each.test is Comparison.GIVEN}
        several = sum(condition.test is Comparison.IN for condition in limit.conditions) > 1
        conditions = Conditions(self._values, self._beside(tool), by_name=self.by_name or several)
        for condition in _combined(limit.conditions if certain else _one_text(limit.conditions)):
            argument = tool.argument(condition.argument)
            if argument is None:
                return None
            said = condition
            if condition.argument in given:
                said = replace(condition, given=True, or_left_out=False)
            alone = sum(each.argument == condition.argument for each in limit.conditions) == 1
            whole = whole.with_(conditions.ground(said, argument, tool, certain=certain, alone=alone))
        return whole

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

    def _attachments(self, limit: Attachments, tool: Tool, *, certain: bool) -> Ground | None:
        leaves = [leaf for leaf, a in tool.arguments.items() if "read-path" in a.roles or is_attached(a)]
        if limit.without:
            return Ground(unless=tuple(Part(values={f"arg:{leaf}": held(tool.arguments[leaf])}) for leaf in leaves))
        if not leaves:
            return None if certain or _might_hold_files(tool) else UNCONCERNED
        roles = tool.roles & {"read-path"}
        if not limit.names:
            present = tuple(Part(values={f"arg:{leaf}": held(tool.arguments[leaf])}) for leaf in leaves)
            return Ground(present, covers=roles, names=frozenset(leaves))
        meant = self.setup.meant(limit.names)
        if not meant.paths or not roles:
            return None
        files = frozenset(leaf for leaf in leaves if "read-path" in tool.arguments[leaf].roles)
        others = [] if certain else [leaf for leaf in leaves if leaf not in files and tool.arguments[leaf].roles]
        unknown = tuple(Part(values={f"arg:{leaf}": held(tool.arguments[leaf])}) for leaf in others)  # from wherever
        from_there = Part(paths=(roles, meant.paths))
        # What tightens asks for a file that is given: an empty list that a call must have holds none.
        sent = [from_there] if certain else [from_there.with_(Part(values={f"arg:{leaf}": PRESENT})) for leaf in files]
        return Ground((*sent, *unknown), covers=roles, names=files)

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


def held(argument: Argument) -> dict[str, Any]:
    """Return what is asked of an argument that is there: that a flag is set, and anything else given."""
    return {"in": [True]} if argument.types and argument.types <= {"boolean", "null"} else PRESENT


def is_attached(argument: Argument) -> bool:
    """Whether an argument is, or is part of, what goes along with a message, in whatever form."""
    if argument.types == {"boolean"} and argument.words[:1] == ("as",):  # how something is sent: `as_attachment`
        return False
    return not {"attach", "attachment", "attached", "enclosure", "media"}.isdisjoint(words_of(argument.leaf))


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


def _might_reach(tool: Tool) -> bool:
    """Return whether somebody might get something by a tool that has no argument for people."""
    return tool.in_doubt or not tool.might.acts <= {"read"} or READERS.isdisjoint(tool.name_words)


def _might_hold(limit: Count, tool: Tool) -> bool:
    """Return whether a call might hold such things, be it in a way that cannot be counted."""
    free = any(argument.free for argument in tool.arguments.values())
    about = is_about(Thing(limit.noun), tool, loosely=True)
    return counts_people(limit) or tool.in_doubt or free or about or can_be_counted(limit, tool)


def _might_hold_files(tool: Tool) -> bool:
    """Return whether something of a call might be, or stand for, a file: more than plain text, people and places."""
    plain = {Category.PARTY, Category.PLACE, Category.NONE}
    roles = {role for role in tool.roles if role not in ("outbound-content", "amount")}
    free = any(argument.free for argument in tool.arguments.values())
    return tool.in_doubt or free or any(category(Role(role)) not in plain for role in roles)


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
