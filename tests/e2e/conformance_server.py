"""A server that offers what the MCP conformance suite asks of one, on the Python SDK. Run as a script.

python conformance_server.py               over standard input and output
python conformance_server.py --http PORT   over streamable HTTP on this machine, at /mcp
"""

from __future__ import annotations

import base64
import json
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp import types  # type: ignore[import-not-found]
from mcp.server.lowlevel import Server  # type: ignore[import-not-found]
from mcp.server.lowlevel.helper_types import ReadResourceContents  # type: ignore[import-not-found]
from mcp.server.stdio import stdio_server  # type: ignore[import-not-found]
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # type: ignore[import-not-found]
from mcp.server.transport_security import TransportSecuritySettings  # type: ignore[import-not-found]
from starlette.applications import Starlette
from starlette.routing import Mount

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
DELAY = 0.05  # seconds between two signs of life

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
WHO = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
    "required": [],
}
OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{n}", "title": title} for n, title in enumerate(("First", "Second", "Third"), 1)]
ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
    "required": [],
}


def takes(argument: str) -> dict[str, Any]:
    return {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}


TOOLS = {
    "test_simple_text": ("Returns simple text", NOTHING),
    "test_image_content": ("Returns an image", NOTHING),
    "test_audio_content": ("Returns audio", NOTHING),
    "test_embedded_resource": ("Returns an embedded resource", NOTHING),
    "test_multiple_content_types": ("Returns text, an image and a resource", NOTHING),
    "test_tool_with_logging": ("Logs three messages meanwhile", NOTHING),
    "test_tool_with_progress": ("Tells of its progress three times", NOTHING),
    "test_error_handling": ("Always fails", NOTHING),
    "test_reconnection": ("Answers after a while", NOTHING),
    "test_sampling": ("Has the client's model say something", takes("prompt")),
    "test_elicitation": ("Asks the user who they are", takes("message")),
    "test_elicitation_sep1034_defaults": ("Asks with defaults", NOTHING),
    "test_elicitation_sep1330_enums": ("Asks for one of several, in every way", NOTHING),
    "json_schema_2020_12_tool": ("Tool with JSON Schema 2020-12 features", SCHEMA_2020_12),
}

server: Any = Server("conformance", "1")


def text(said: str) -> Any:
    return types.TextContent(type="text", text=said)


def image() -> Any:
    return types.ImageContent(type="image", data=PNG, mimeType="image/png")


def resource(uri: str, kind: str, said: str) -> Any:
    contents = types.TextResourceContents(uri=uri, mimeType=kind, text=said)
    return types.EmbeddedResource(type="resource", resource=contents)


CONTENT = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [types.AudioContent(type="audio", data=WAV, mimeType="audio/wav")],
    "test_embedded_resource": [
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        image(),
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
}


# Tools.


async def list_tools() -> list[Any]:
    return [types.Tool(name=name, description=words, inputSchema=schema) for name, (words, schema) in TOOLS.items()]


async def call_tool(name: str, arguments: dict[str, Any]) -> list[Any]:
    if name in CONTENT:
        return CONTENT[name]
    match name:
        case "test_tool_with_logging":
            await log("Tool execution started", "Tool processing data", "Tool execution completed")
            said = "It was logged"
        case "test_tool_with_progress":
            await progress(0, 50, 100)
            said = "It is done"
        case "test_error_handling":
            raise ValueError("This tool intentionally returns an error for testing")
        case "test_reconnection":
            await anyio.sleep(2 * DELAY)
            said = "It was worth the wait"
        case "test_sampling":
            said = f"LLM response: {await sampled(arguments['prompt'])}"
        case "test_elicitation":
            said = f"User response: {await elicited(arguments['message'], WHO)}"
        case "test_elicitation_sep1034_defaults":
            said = f"Elicitation completed: {await elicited('Is this you?', DEFAULTS)}"
        case "test_elicitation_sep1330_enums":
            said = f"Elicitation completed: {await elicited('Which of these?', ENUMS)}"
        case "json_schema_2020_12_tool":
            said = json.dumps(arguments, sort_keys=True)
        case _:
            raise ValueError(f"there is no tool {name}")
    return [text(said)]


async def log(*messages: str) -> None:
    context = server.request_context
    for message in messages:
        await context.session.send_log_message("info", message, related_request_id=context.request_id)
        await anyio.sleep(DELAY)


async def progress(*steps: float) -> None:
    context = server.request_context
    token = context.meta.progressToken if context.meta else None
    for step in steps:
        if token is not None:
            await context.session.send_progress_notification(
                token, step, total=100, related_request_id=str(context.request_id)
            )
        await anyio.sleep(DELAY)


async def sampled(prompt: str) -> str:
    context = server.request_context
    messages = [types.SamplingMessage(role="user", content=text(prompt))]
    answer = await context.session.create_message(messages, max_tokens=100, related_request_id=context.request_id)
    return str(answer.content.text)


async def elicited(message: str, schema: dict[str, Any]) -> str:
    context = server.request_context
    answer = await context.session.elicit(message, schema, related_request_id=context.request_id)
    return f"action={answer.action}, content={json.dumps(answer.content, sort_keys=True)}"


# Resources.

STATIC = {
    "test://static-text": ("text/plain", "This is the content of the static text resource."),
    "test://static-binary": ("image/png", base64.b64decode(PNG)),
    "test://watched-resource": ("text/plain", "This is watched."),
}
watched: set[str] = set()


async def list_resources() -> list[Any]:
    return [
        types.Resource(uri=uri, name=uri, description="for testing", mimeType=kind) for uri, (kind, _) in STATIC.items()
    ]


async def list_templates() -> list[Any]:
    return [types.ResourceTemplate(uriTemplate="test://template/{id}/data", name="data")]


async def read_resource(uri: Any) -> list[Any]:
    if str(uri) in STATIC:
        kind, content = STATIC[str(uri)]
        return [ReadResourceContents(content, kind)]
    number = str(uri).removeprefix("test://template/").removesuffix("/data")
    data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
    return [ReadResourceContents(json.dumps(data), "application/json")]


async def subscribe(uri: Any) -> None:
    watched.add(str(uri))


async def unsubscribe(uri: Any) -> None:
    watched.discard(str(uri))


# Prompts, completions, logging.

PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


async def list_prompts() -> list[Any]:
    return [
        types.Prompt(
            name=name,
            description="for testing",
            arguments=[types.PromptArgument(name=a, required=True) for a in wanted],
        )
        for name, wanted in PROMPTS.items()
    ]


async def get_prompt(name: str, given: dict[str, str] | None) -> Any:
    given = given or {}
    match name:
        case "test_simple_prompt":
            said = [text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            said = [text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
        case "test_prompt_with_embedded_resource":
            embedded = resource(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            said = [embedded, text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            said = [image(), text("Please analyze the image above.")]
        case _:
            raise ValueError(f"there is no prompt {name}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content) for content in said])


async def complete(_: Any, __: Any, ___: Any) -> Any:
    return types.Completion(values=["test1", "test2"], total=2, hasMore=False)


async def set_level(_: str) -> None:
    """Everything is logged, whatever the level."""


server.list_tools()(list_tools)
server.call_tool()(call_tool)
server.list_resources()(list_resources)
server.list_resource_templates()(list_templates)
server.read_resource()(read_resource)
server.subscribe_resource()(subscribe)
server.unsubscribe_resource()(unsubscribe)
server.list_prompts()(list_prompts)
server.get_prompt()(get_prompt)
server.completion()(complete)
server.set_logging_level()(set_level)


async def over_stdio() -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def over_http(port: int) -> None:
    here = [f"{host}:{port}" for host in ("127.0.0.1", "localhost")]
    security = TransportSecuritySettings(allowed_hosts=here, allowed_origins=[f"http://{host}" for host in here])
    sessions = StreamableHTTPSessionManager(server, security_settings=security)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with sessions.run():
            yield

    app = Starlette(routes=[Mount("/", app=sessions.handle_request)], lifespan=lifespan)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--http"]:
        over_http(int(sys.argv[2]))
    else:
        anyio.run(over_stdio)
