"""Who may speak to us over HTTP, and whether the headers say what the body says."""

from __future__ import annotations

import base64
import binascii
import hmac
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from ironcurtain.gateway.protocol import VERSION_KEY

if TYPE_CHECKING:
    from starlette.requests import Request


@dataclass(frozen=True, slots=True)
class Door:
    """Who may come in."""

    token: str
    hosts: frozenset[str]
    """As a `Host` header may name us, port included."""

    def objection(self, request: Request) -> Response | None:
        """Why not, or nothing. Before anything is read."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return refused(HTTPStatus.MISDIRECTED_REQUEST, "this is not the host you mean")
        origins = request.headers.getlist("origin")
        if any(origin.lower().partition("://")[2] not in self.hosts for origin in origins):
            return refused(HTTPStatus.FORBIDDEN, "no page of another origin may call this")
        said = request.headers.getlist("authorization")
        kind, _, token = said[0].partition(" ") if len(said) == 1 else ("", "", "")
        if kind.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self.token.encode()):
            response = refused(HTTPStatus.UNAUTHORIZED, "a bearer token is needed, in the Authorization header")
            response.headers["www-authenticate"] = "Bearer"
            return response
        return None


def refused(status: HTTPStatus, reason: str, code: int = -32600, id_: Any = None) -> Response:  # noqa: ANN401 - an id
    return JSONResponse({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": reason}}, status)


def version_in(message: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever a client wrote there
    """The revision that a message of the envelope era names."""
    return meta_of(message).get(VERSION_KEY)


def meta_of(message: dict[str, Any]) -> dict[str, Any]:
    """What a client sends along beside the arguments."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def mismatch(request: Request, message: dict[str, Any]) -> str | None:
    """Whether the headers say something else than the body: whoever reads only one of them would be deceived."""
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) and message.get("method") == "tools/call" else None
    wanted = {"mcp-protocol-version": version_in(message), "mcp-method": message.get("method"), "mcp-name": name}
    for header, value in wanted.items():
        said = request.headers.getlist(header)
        if len(said) > 1:
            return f"the header {header} stands there twice"
        if isinstance(value, str) and _decoded(said[0] if said else "") != value:
            return f"the header {header} does not fit the body"
    return None


def _decoded(value: str) -> str:
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
