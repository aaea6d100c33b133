"""`waivers.json`: roles of arguments that a model would take away, and what the owner said to each.

A *waiver* is the owner's consent that an argument does not have a role which the built-in annotator gave it. It holds
for one definition of one tool.

INVARIANT: a role is taken away only by a waiver that the owner agreed to, for the very definition that they saw.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from ironcurtain.compiler.annotate.absence import NEVER_MISSED
from ironcurtain.compiler.kept_file import read_kept, write_kept
from ironcurtain.errors import Refusal
from ironcurtain.model.roles import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


WAIVERS: Final = "waivers.json"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A role that a model would take away, and why."""

    server: str
    tool: str
    argument: str
    role: str
    pin: str
    """The digest of the tool's definition."""
    model: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Waiver:
    """What the owner said to a proposal."""

    proposal: Proposal
    agreed: bool
    date: str

    @property
    def says(self) -> str:
        """Return it in one line."""
        it = self.proposal
        return f"{it.server}/{it.tool} `{it.argument}` is no {it.role}: you agreed on {self.date} ({it.model})"


class AskOwner(Protocol):
    """Puts a proposal to the owner."""

    def __call__(self, proposal: Proposal, /) -> bool:
        """Return whether the owner agrees that the role is taken away."""
        ...


def _key(proposal: Proposal) -> tuple[str, str, str, str]:
    return (proposal.server, proposal.tool, proposal.argument, proposal.role)


@dataclass(slots=True)
class Waivers:
    """The answers that were given, and those that took a role away in this compilation."""

    kept: dict[tuple[str, str, str, str], Waiver] = field(default_factory=dict)
    """By server, tool, argument and role."""
    applied: list[Waiver] = field(default_factory=list)
    changed: bool = False
    """There are answers that are not in the file yet."""

    def put(self, proposals: Iterable[Proposal], ask: AskOwner | None) -> None:
        """Ask about each proposal that the owner has not answered for this definition; without `ask` do nothing."""
        for each in proposals:
            before = self.kept.get(_key(each))
            if ask is None or (before is not None and before.proposal.pin == each.pin):
                continue
            today = datetime.now(UTC).strftime("%Y-%m-%d")
            self.kept[_key(each)] = Waiver(each, agreed=ask(each), date=today)
            self.changed = True

    def holds(self, proposal: Proposal) -> bool:
        """Return whether the owner agreed to a proposal."""
        waiver = self.kept.get(_key(proposal))
        return waiver is not None and waiver.agreed and waiver.proposal.pin == proposal.pin

    def apply(self, server: str, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the annotations of a server's tools without the roles that were waived for these definitions."""
        return [self._applied(server, tool) for tool in tools]

    def _applied(self, server: str, tool: dict[str, Any]) -> dict[str, Any]:
        arguments = dict(tool["args"])
        for waiver in self.kept.values():
            it = waiver.proposal
            meant = waiver.agreed and (it.server, it.tool, it.pin) == (server, tool["toolName"], tool["pin"])
            if meant and it.argument in arguments and it.role in _roles(arguments[it.argument]):
                arguments[it.argument] = _without(arguments[it.argument], it.role)
                self.applied.append(waiver)
        return {**tool, "args": arguments}

    def revoke(self, named: str) -> list[Waiver]:
        """Forget the answers about a tool, an argument or a role, as `SERVER/TOOL[:ARGUMENT[:ROLE]]`; return them."""
        gone = [
            waiver
            for (server, name, leaf, role), waiver in self.kept.items()
            if named in (tool := f"{server}/{name}", f"{tool}:{leaf}", f"{tool}:{leaf}:{role}")
        ]
        for waiver in gone:
            del self.kept[_key(waiver.proposal)]
        self.changed = self.changed or bool(gone)
        return gone

    def write(self, file: Path) -> None:
        """Put the answers into a file that only its owner can read or write."""
        listed = [asdict(waiver) for _, waiver in sorted(self.kept.items())]
        write_kept(file, {"waivers": listed})
        self.changed = False


def read_waivers(file: Path) -> Waivers:
    """Read what the owner said; nothing if there is no such file yet."""
    if not file.exists():
        return Waivers()
    try:
        listed = [
            Waiver(Proposal(**_texts(each["proposal"])), agreed=each["agreed"] is True, date=str(each["date"]))
            for each in read_kept(file)["waivers"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Refusal(
            "waivers_changed",
            f"{file} was changed by something else than this program ({error})",
            f"look at it, then move it away; what was taken away is back then: mv {file} {file}.old",
        ) from None
    return Waivers({_key(waiver.proposal): waiver for waiver in listed})


def _texts(fields: dict[str, Any]) -> dict[str, str]:
    if not all(isinstance(value, str) for value in fields.values()):
        raise ValueError("a member is no text")
    return fields


def _modes(entry: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - as it stands in an artifact
    return entry if isinstance(entry, list) else [entry]


def _roles(entry: Any) -> set[str]:  # noqa: ANN401 - as it stands in an artifact
    return {role for mode in _modes(entry) for role in mode["roles"]}


def _without(entry: Any, role: str) -> Any:  # noqa: ANN401 - as it stands in an artifact
    modes = [_mode_without(mode, role) for mode in _modes(entry)]
    return modes if isinstance(entry, list) else modes[0]


def _mode_without(mode: dict[str, Any], role: str) -> dict[str, Any]:
    roles = [each for each in mode["roles"] if each != role] or [NONE]
    dropped = {"language": "command" in roles, "relativeTo": any(each.endswith("-path") for each in roles)}
    rest = {name: value for name, value in mode.items() if dropped.get(name, True)}
    absent = "nothing" if set(roles) <= NEVER_MISSED else mode["absent"]
    return {**rest, "roles": roles, "absent": absent}
