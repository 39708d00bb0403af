"""Tools of the suite that answer at once, or say how far they are."""

from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CallToolRequestParams,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)

from mcp_conformance.contents import PNG, WAV
from mcp_conformance.fixture import Context, named, said

__all__ = ("TOOLS",)

_IMAGE = ImageContent(data=PNG, mime_type="image/png")
_EMBEDDED = TextResourceContents(
    uri="test://embedded-resource",
    mime_type="text/plain",
    text="This is an embedded resource content.",
)
_MIXED = TextResourceContents(
    uri="test://mixed-content-resource",
    mime_type="application/json",
    text='{"test":"data","value":123}',
)
_HEADERS = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}
_DRAFT_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


async def _text(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    del ctx, params
    return said("This is a simple text response for testing.")


async def _image(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    del ctx, params
    return CallToolResult(content=[_IMAGE])


async def _audio(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    del ctx, params
    return CallToolResult(content=[AudioContent(data=WAV, mime_type="audio/wav")])


async def _resource(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    del ctx, params
    return CallToolResult(content=[EmbeddedResource(resource=_EMBEDDED)])


async def _mixed(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    del ctx, params
    text = TextContent(text="Multiple content types test:")
    return CallToolResult(content=[text, _IMAGE, EmbeddedResource(resource=_MIXED)])


async def _error(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    del ctx, params
    return said("This tool intentionally returns an error for testing", is_error=True)


async def _progress(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    del params
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
    return said("It is done.")


async def _incapable(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    del ctx, params
    raise MCPError(
        code=MISSING_REQUIRED_CLIENT_CAPABILITY,
        message="the client declares no sampling",
        data={"requiredCapabilities": {"sampling": {}}},
    )


TOOLS = dict(
    (
        named("test_simple_text", _text),
        named("test_image_content", _image),
        named("test_audio_content", _audio),
        named("test_embedded_resource", _resource),
        named("test_multiple_content_types", _mixed),
        named("test_error_handling", _error),
        named("test_tool_with_progress", _progress),
        named("test_missing_capability", _incapable),
        # It would send log messages to a client that asks for them; this server has none.
        named("test_logging_tool", _text),
        named("test_x_mcp_header", _text, _HEADERS),
        named("json_schema_2020_12_tool", _text, _DRAFT_2020_12),
    )
)
