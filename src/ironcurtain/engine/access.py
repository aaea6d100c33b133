"""Step 4: whole tools are allowed or blocked, in five layers. A tool must pass every one.

    global -> provider -> agent -> group (or its member) -> subagent

Inside a layer a deny beats an allow; a layer without a list narrows nothing. Patterns, groups, aliases and profiles are
worked out when the configuration loads; a call looks up its layers and a remembered answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironcurtain.model.decision import Outcome, Verdict
from ironcurtain.model.roles import COMMAND, DELETE_PATH, FETCH_URL, READ_PATH, SEND_URL, WRITE_PATH, Category, category

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ironcurtain.model.call import Principal
    from ironcurtain.model.policy import Tool
    from ironcurtain.model.roles import Role


@dataclass(frozen=True, slots=True)
class Group:
    """Tools that go together: by name, and by what their arguments mean."""

    names: tuple[str, ...]
    roles: frozenset[Role] = frozenset()


GROUPS: Final[Mapping[str, Group]] = {
    "group:fs": Group(
        ("file_read", "file_write", "file_list", "file_delete"), frozenset({READ_PATH, WRITE_PATH, DELETE_PATH})
    ),
    "group:runtime": Group(("bash_execute",), frozenset({COMMAND})),
    "group:web": Group(("web_fetch", "web_search"), frozenset({FETCH_URL, SEND_URL})),
    "group:sessions": Group(("session_spawn", "session_list", "session_status")),
    "group:memory": Group(("memory_search", "memory_get")),
    "group:analysis": Group(("dependency_analyze", "codebase_analysis", "drift_detection")),
}
ONLY_READS: Final = "group:fs/read-only"
"""Not for people to write: the part of group:fs that the analysis profile holds."""
PROFILES: Final[Mapping[str, tuple[str, ...] | None]] = {
    "minimal": ("session_status",),
    "coding": ("group:fs", "group:runtime", "group:sessions", "group:memory"),
    "analysis": ("group:analysis", "file_read", "file_list", ONLY_READS),
    "full": None,
}
ALIASES: Final[Mapping[str, str]] = {"bash": "bash_execute"}
SUBAGENT_DENY: Final = (
    "session_list", "session_status", "session_spawn", "bash_execute", "file_delete", "memory_search", "memory_get",
    "agents/spawn", "agents/start",
)  # fmt: skip
SUBAGENT_DENY_ROLES: Final = frozenset({COMMAND, DELETE_PATH})


@dataclass(frozen=True, slots=True)
class Names:
    """How names are compared: trimmed, lower case, aliases resolved."""

    aliases: Mapping[str, str] = field(default_factory=lambda: ALIASES)

    def normal(self, name: str) -> str:
        """A tool's name as patterns see it; behind a server's name likewise."""
        server, slash, tool = plain(name).rpartition("/")
        seen: set[str] = set()
        while tool in self.aliases and tool not in seen:
            seen.add(tool)
            tool = self.aliases[tool]
        return f"{server}{slash}{tool}"


@dataclass(frozen=True, slots=True)
class Patterns:
    """A list of patterns, worked out."""

    exact: frozenset[str]
    prefixes: frozenset[str]
    everything: bool
    roles: frozenset[Role]
    only_reads: bool
    source: str
    """Where in the configuration it stands."""

    @classmethod
    def of(cls, items: Iterable[str], names: Names, groups: Mapping[str, Group], source: str) -> Patterns:
        """Expand groups and sort patterns by kind."""
        written = list(items)
        chosen = [groups[item] for item in written if item in groups]
        spelled = [name for name in written if name not in groups]
        spelled += [name for group in chosen for name in group.names]
        flat = {form for name in spelled for form in (plain(name), names.normal(name))}
        return cls(
            exact=frozenset(name for name in flat if not name.endswith("*")),
            prefixes=frozenset(name[:-1] for name in flat if name.endswith("*") and name != "*"),
            everything="*" in flat,
            roles=frozenset(role for group in chosen for role in group.roles),
            only_reads=ONLY_READS in written,
            source=source,
        )

    def match(self, tool: Tool, spellings: tuple[str, ...]) -> bool:
        """Whether the tool is meant."""
        return (
            self.everything
            or any(s in self.exact or any(s[:n] in self.prefixes for n in range(1, len(s) + 1)) for s in spellings)
            or not self.roles.isdisjoint(tool.roles)
            or (self.only_reads and _only_reads(tool))
        )


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: what it denies, and the lists of which a tool must be in every one."""

    name: str
    deny: tuple[Patterns, ...] = ()
    lists: tuple[Patterns, ...] = ()
    _known: dict[tuple[str, str], Verdict | None] = field(default_factory=dict, compare=False, repr=False)

    def objection(self, tool: Tool, names: Names) -> Verdict | None:
        """Why the layer blocks the tool, or nothing."""
        key = (tool.server, tool.name)
        if key not in self._known:
            self._known[key] = self._judge(tool, names)
        return self._known[key]

    def _judge(self, tool: Tool, names: Names) -> Verdict | None:
        bare, server = names.normal(tool.name), plain(tool.server)
        full = f"{server}/{bare}"
        raw = plain(tool.name)
        for patterns in self.deny:  # by every name it may go by
            if patterns.match(tool, (bare, full, raw, f"{server}/{raw}", *bare.split("/")[1:], *raw.split("/")[1:])):
                reason = f"the {self.name} layer denies {tool.server}/{tool.name} ({patterns.source})"
                return Verdict(Outcome.DENY, "access_denied", reason, help=f"see {patterns.source} in config.toml")
        # A name with a slash in it must not pass for another server's tool.
        spellings = (full,) if "/" in bare else (bare, full)
        for patterns in self.lists:
            if not patterns.match(tool, spellings):
                reason = f"the {self.name} layer does not list {tool.server}/{tool.name} ({patterns.source})"
                return Verdict(Outcome.DENY, "access_not_listed", reason, help=f"see {patterns.source} in config.toml")
        return None


@dataclass(frozen=True, slots=True)
class Access:
    """All layers of a configuration."""

    names: Names = field(default_factory=Names)
    everyone: Layer = field(default_factory=lambda: Layer("global"))
    providers: Mapping[str, Layer] = field(default_factory=dict)
    agents: Mapping[str, Layer] = field(default_factory=dict)
    groups: Mapping[str, Layer] = field(default_factory=dict)
    members: Mapping[tuple[str, str], Layer] = field(default_factory=dict)
    subagents: Layer = field(default_factory=lambda: subagent_layer(Names(), ()))

    def objection(self, tool: Tool, principal: Principal) -> Verdict | None:
        """The first layer's reason to block the tool for this principal, or nothing."""
        for layer in self.layers(principal):
            if (verdict := layer.objection(tool, self.names)) is not None:
                return verdict
        return None

    def layers(self, principal: Principal) -> Iterable[Layer]:
        """The layers that apply to a principal, in order."""
        yield self.everyone
        provider, agent = plain(principal.provider), plain(principal.agent)
        group, member = plain(principal.group), plain(principal.member)
        for layer in (
            next((self.providers[key] for key in _specific_first(provider) if key in self.providers), None),
            *(self.agents.get(name) for name in _specific_first(agent)),
            self.members.get((group, member)) or self.groups.get(group),
        ):
            if layer is not None:
                yield layer
        if principal.subagent:
            yield self.subagents

    def all_layers(self) -> Iterable[Layer]:
        """Every layer there is, whoever it applies to."""
        yield self.everyone
        yield from (*self.providers.values(), *self.agents.values(), *self.groups.values(), *self.members.values())
        yield self.subagents

    def visible(self, tools: Iterable[Tool], principal: Principal) -> list[Tool]:
        """The tools a principal may know of: those no layer blocks."""
        return [tool for tool in tools if self.objection(tool, principal) is None]


def _specific_first(name: str) -> Iterator[str]:
    """A name and those above it: `a/b/c`, `a/b`, `a`. An agent's helper stands below it, and under its layers."""
    while name:
        yield name
        name = name.rpartition("/")[0]


def plain(name: str | None) -> str:
    """A name for comparison: trimmed, lower case; no name is the empty one, which nobody can be given."""
    return (name or "").strip().lower()


def subagent_layer(names: Names, deny: tuple[Patterns, ...], lists: tuple[Patterns, ...] = ()) -> Layer:
    """The subagent layer: the built-in denies, and what the configuration adds."""
    groups = {"group:subagent-deny": Group(SUBAGENT_DENY, SUBAGENT_DENY_ROLES)}
    built_in = Patterns.of((*groups,), names, groups, "the built-in subagent denies")
    return Layer("subagent", (built_in, *deny), lists)


def _only_reads(tool: Tool) -> bool:
    resources = {role for role in tool.roles if category(role) not in (Category.CARRIED, Category.NONE)}
    return resources == {READ_PATH}
