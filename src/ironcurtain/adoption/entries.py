"""A server as a client writes it, turned into a server as we keep it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.adoption.secrets import is_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

PLACES: Final = frozenset({"HOME", "PWD", "USER", "userHome", "workspaceFolder"})
"""Variables that say where something is: no secret, and all that a project's file may ask for."""
_URLS: Final = ("url", "serverUrl", "httpUrl", "uri")
_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_PLACEHOLDER: Final = re.compile(r"\$\{[^}]*\}")
_PART_OF_THE_CLIENT: Final = ("builtin", "platform", "inline_python", "frontend", "sdk")
_KEPT_BY_THE_CLIENT: Final = {
    "envFile": "its variables are in a file that its client reads",
    "oauth": "its client logs in for it",
    "auth": "its client logs in for it",
    "authProviderType": "its client logs in for it",
    "headersHelper": "its client makes up its headers",
}


@dataclass(frozen=True, slots=True)
class Converted:
    """One server: what goes into `servers.json`, and what only it may know."""

    entry: dict[str, Any]
    env: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    filled_in: frozenset[str] = frozenset()
    """What came out of the owner's environment."""

    @property
    def secrets(self) -> set[str]:
        """What must not be shown: its credentials, and words of its command that are or look like one."""
        words = [part for word in self.entry.get("args", []) for part in (str(word).split("=", 1))]
        named = {word for before, word in zip(["", *words], words, strict=False) if is_secret(before, word)}
        return {*self.env.values(), *self.headers.values(), *named, *self.filled_in}


class CannotMoveError(Exception):
    """The server stays where it is, for this reason."""


def convert(raw: Any, variables: Mapping[str, str]) -> Converted:  # noqa: ANN401 - a client's own
    """Turn one entry around; `variables` are what its client would fill in."""
    used: dict[str, str] = {}
    converted = _convert(raw, _Noted(variables, used))
    private = frozenset(value for name, value in used.items() if name not in PLACES and value)
    return replace(converted, filled_in=private)


class _Noted(dict[str, str]):
    """Variables, and which of them were read."""

    def __init__(self, variables: Mapping[str, str], used: dict[str, str]) -> None:
        super().__init__(variables)
        self._used = used

    def __getitem__(self, name: str) -> str:
        self._used[name] = super().__getitem__(name)
        return self._used[name]


def _convert(raw: Any, variables: Mapping[str, str]) -> Converted:  # noqa: ANN401 - a client's own
    if not isinstance(raw, dict):
        raise CannotMoveError("its entry is no table")
    kind = str(raw.get("type", raw.get("transport", "")))
    if kind in _PART_OF_THE_CLIENT:
        raise CannotMoveError("it is a part of the client, not a server")
    for key, why in _KEPT_BY_THE_CLIENT.items():
        if raw.get(key):
            raise CannotMoveError(why)
    off = raw.get("disabled") is True or raw.get("enabled") is False
    url = next((raw[name] for name in _URLS if isinstance(raw.get(name), str)), None)
    converted = _remote(raw, kind, url, variables) if url is not None else _process(raw, variables)
    if off:
        converted.entry["disabled"] = True
    return converted


def is_ours(raw: Any, program: list[str], home: str, agent: str | None = None) -> bool:  # noqa: ANN401 - a client's own
    """Whether an entry starts this very relay already, for this home and, where it matters, this agent."""
    if not isinstance(raw, dict) or not isinstance(raw.get("args"), list):
        return False
    words = [raw.get("command", raw.get("cmd")), *raw["args"]]
    relay = [*program, "gateway"]
    fits = words == [*relay, "--agent", agent] if agent else words in (relay, [*relay, "--agent", words[-1]])
    if not fits:
        return False
    return raw.get("env", raw.get("envs")) in (None, {}, {"IRONCURTAIN_HOME": home})


def is_another(raw: Any) -> bool:  # noqa: ANN401 - a client's own
    """Whether an entry starts a relay that is not this one, or pretends to."""
    words = [str(word) for word in (raw.get("args") or [])] if isinstance(raw, dict) else []
    return "gateway" in words and "ironcurtain" in str(raw.get("command", raw.get("cmd", ""))) + " ".join(words)


def _remote(raw: dict[str, Any], kind: str, url: str, variables: Mapping[str, str]) -> Converted:
    if kind == "sse" or url.rstrip("/").endswith("/sse"):
        raise CannotMoveError("it speaks the old transport with two connections")
    headers = {**_table(raw.get("headers")), **_table(raw.get("http_headers"))}
    for name, variable in _table(raw.get("env_http_headers")).items():
        headers[name] = _variable(variable, variables)
    if isinstance(raw.get("bearer_token_env_var"), str):
        headers["Authorization"] = "Bearer " + _variable(raw["bearer_token_env_var"], variables)
    filled = {name: _filled(value, variables) for name, value in headers.items()}
    plain = {name: value for name, value in filled.items() if not is_secret(name, value)}
    entry: dict[str, Any] = {"type": "http", "url": _filled(url, variables), **({"headers": plain} if plain else {})}
    return Converted(entry, headers={name: value for name, value in filled.items() if name not in plain})


def _process(raw: dict[str, Any], variables: Mapping[str, str]) -> Converted:
    command = raw.get("command", raw.get("cmd"))
    if not isinstance(command, str) or not command.strip():
        raise CannotMoveError("it has neither a command nor an address")
    arguments = raw.get("args", [])
    if not isinstance(arguments, list) or not all(isinstance(word, (str, int, float)) for word in arguments):
        raise CannotMoveError("its arguments are no list of words")
    entry: dict[str, Any] = {
        "command": _filled(command, variables),
        "args": [_filled(str(word), variables) for word in arguments],
    }
    table = {name: _filled(value, variables) for name, value in _table(raw.get("env", raw.get("envs"))).items()}
    for name in [*_names(raw.get("env_keys")), *_names(raw.get("env_vars"))]:
        table[name] = _variable(name, variables)
    secret = {name: value for name, value in table.items() if is_secret(name, value)}
    plain = {name: value for name, value in table.items() if name not in secret}
    if plain:
        entry["env"] = plain
    directory = raw.get("cwd", variables.get("workspaceFolder"))
    if isinstance(directory, str):
        entry["cwd"] = _filled(directory, variables)
    return Converted(entry, env=secret)


def _table(value: Any) -> dict[str, str]:  # noqa: ANN401 - a client's own
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise CannotMoveError("its variables are no table")
    return {str(name): str(item) for name, item in value.items()}


def _names(value: Any) -> list[str]:  # noqa: ANN401 - a client's own
    return [str(name) for name in value] if isinstance(value, list) else []


def _variable(name: str, variables: Mapping[str, str]) -> str:
    if name not in variables:
        raise CannotMoveError(f"its variable {name} is not set here")
    return variables[name]


def _filled(text: str, variables: Mapping[str, str]) -> str:
    """The text with its variables filled in, as the client would do."""

    def value_of(found: re.Match[str]) -> str:
        name, default = found.groups()
        return variables[name] if name in variables or default is None else str(default)

    for found in _PLACEHOLDER.finditer(text):
        known = _VARIABLE.fullmatch(found.group())
        if known is None:
            raise CannotMoveError(f"only its client can fill in {found.group()}")
        if known.group(2) is None:
            _variable(known.group(1), variables)
    return _VARIABLE.sub(value_of, text)
