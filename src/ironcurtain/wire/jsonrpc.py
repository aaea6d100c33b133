"""JSON-RPC messages: what MCP is made of, read strictly and written in one spelling."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from ironcurtain.errors import Refusal, quote
from ironcurtain.wire.limits import MAX_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ironcurtain.model.call import Json

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

Id: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class Request:
    """Asks for a response."""

    id: Id
    method: str
    params: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Notification:
    """Asks for nothing."""

    method: str
    params: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Response:
    """Answers a request: with a result, or with an error."""

    id: Id | None
    result: dict[str, Json] | None
    error: RpcError | None = None


class RpcError(Exception):
    """An error as JSON-RPC carries it."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


Message: TypeAlias = Request | Notification | Response


def message_from(value: Json) -> Message:
    """Read one message. A batch is none: the protocol has done away with them."""
    if not isinstance(value, dict):
        raise Refusal("rpc_malformed", "a message is a JSON object")
    if value.get("jsonrpc") != "2.0":
        raise Refusal("rpc_malformed", 'a message has "jsonrpc": "2.0"')
    method = value.get("method")
    if method is None:
        return _response(value)
    _require(value, {"jsonrpc", "id", "method", "params"})
    if not isinstance(method, str) or not 0 < len(method) <= MAX_NAME:
        raise Refusal("rpc_malformed", "a method is a short string")
    params = value.get("params", {})
    if not isinstance(params, dict):
        raise Refusal("rpc_malformed", "params must be an object")
    if "id" not in value:
        return Notification(method, params)
    return Request(_id(value["id"]), method, params)


def _response(value: dict[str, Json]) -> Response:
    _require(value, {"jsonrpc", "id", "result", "error"})
    if ("result" in value) == ("error" in value):
        raise Refusal("rpc_malformed", "a message is a request, a notification or a response, with result or error")
    raw = value.get("id")
    if "result" in value:
        result = value["result"]
        if not isinstance(result, dict):
            raise Refusal("rpc_malformed", "a result must be an object")
        return Response(_id(raw), result)
    error = value["error"]
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(error, dict) or isinstance(code, bool) or not isinstance(code, int):
        raise Refusal("rpc_malformed", "an error must have a code")
    found = RpcError(code, str(error.get("message", "")), error.get("data"))
    return Response(None if raw is None else _id(raw), None, found)


def _id(value: Json) -> Id:
    if isinstance(value, str) and len(value) <= MAX_NAME:
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refusal("rpc_malformed", f"an id is a whole number or a short string, not {quote(value)}")
    return value


def id_in(line: bytes) -> Id | None:
    """The id of a message that is refused, if it can be made out: whoever sent it waits for an answer to that."""
    try:
        value = json.loads(line)
        return _id(value["id"]) if isinstance(value, dict) and "id" in value else None
    except (ValueError, RecursionError, Refusal):
        return None


def _require(value: Mapping[str, Json], known: set[str]) -> None:
    if unknown := sorted(value.keys() - known):
        raise Refusal("rpc_malformed", f"unknown member {quote(unknown[0])}")


def request(id_: Id, method: str, params: Mapping[str, Json]) -> bytes:
    """A request, as a line."""
    return line({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})


def notification(method: str, params: Mapping[str, Json]) -> bytes:
    """A notification, as a line."""
    return line({"jsonrpc": "2.0", "method": method, "params": params})


def result(id_: Id, value: Mapping[str, Json]) -> bytes:
    """A response that carries a result, as a line."""
    return line({"jsonrpc": "2.0", "id": id_, "result": value})


def failure(id_: Id | None, error: RpcError) -> bytes:
    """A response that carries an error, as a line."""
    body: dict[str, Json] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return line({"jsonrpc": "2.0", "id": id_, "error": body})


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def line(value: Mapping[str, object]) -> bytes:
    """A message as one line. Some readers end a line at U+2028 and U+2029 too, so these are escaped."""
    text = _ENCODER.encode(value)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").encode() + b"\n"
