"""What all servers offer an agent: the tools that are annotated, unchanged since, and open to this principal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ironcurtain.gateway.names import exposed_name
from ironcurtain.gateway.upstream.server import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ironcurtain.artifacts.policy import Loaded
    from ironcurtain.gateway.upstream.server import Server
    from ironcurtain.model.call import Json, Principal

PAGE: Final = 200  # tools in one answer


class Catalogue:
    """The offers of all servers under one policy, at one moment."""

    def __init__(
        self,
        loaded: Loaded,
        servers: Mapping[str, Server],
        pins: Mapping[tuple[str, str], str],
        definitions: Mapping[tuple[str, str], Mapping[str, Json]],
    ) -> None:
        self._loaded = loaded
        self._definitions = definitions
        self._servers = servers
        self._pins = pins
        self._names: dict[str, tuple[str, str] | None] = {}
        for key in sorted(loaded.policy.tools):
            name = exposed_name(*key)
            self._names[name] = None if name in self._names else key  # two under one name: neither is offered
        self.drifted = frozenset(
            (name, tool)
            for name, server in servers.items()
            for tool, pin in server.pins.items()
            if pins.get((name, tool), pin) != pin
        )
        """Tools that a server now offers otherwise than they were approved."""

    @property
    def shown(self) -> object:
        """What an agent could notice of it: two that are equal here look the same."""
        return id(self._loaded), frozenset(
            key for key in self._names.values() if key is not None and self._is_live(key)
        )

    def _is_live(self, key: tuple[str, str]) -> bool:
        server = self._servers.get(key[0])
        return server is not None and server.state is State.READY and server.pins.get(key[1]) == self._pins[key]

    def find(self, name: str) -> tuple[str, str] | None:
        """The server and tool that an agent's name means."""
        return self._names.get(name)

    def offered(self, principal: Principal) -> Iterator[dict[str, Json]]:
        """The definitions an agent sees: as they were approved, under our names."""
        for name, key in self._names.items():
            if key is None or key not in self._definitions:
                continue
            tool = self._loaded.policy.tools[key]
            if (
                self._is_live(key)
                and not tool.drifted
                and self._loaded.policy.access.objection(tool, principal) is None
            ):
                yield {**self._definitions[key], "name": name}
