"""Tools of the suite that ask the user, in both eras of the protocol."""

import json
from collections.abc import Mapping

from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)

from mcp_conformance.fixture import Context, named, said

__all__ = ("TOOLS",)

_DEFAULTS: dict[str, object] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {
        "type": "string",
        "enum": ["active", "inactive", "pending"],
        "default": "active",
    },
    "verified": {"type": "boolean", "default": True},
}
_OPTIONS = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
_ENUMS: dict[str, object] = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}
_USER: dict[str, object] = {
    "username": {"type": "string", "description": "User's response"},
    "email": {"type": "string", "description": "User's email address"},
}
_MESSAGE = {
    "type": "object",
    "properties": {"message": {"type": "string"}},
    "required": ["message"],
}


def _form(properties: Mapping[str, object], *, required: bool = True) -> dict[str, object]:
    form: dict[str, object] = {"type": "object", "properties": dict(properties)}
    return {**form, "required": [*properties]} if required else form


async def _asked(ctx: Context, message: str, form: dict[str, object]) -> str:
    result = await ctx.session.elicit_form(message, form, related_request_id=ctx.request_id)
    return f"action={result.action}, content={json.dumps(result.content)}"


async def _user(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    message = str((params.arguments or {}).get("message"))
    return said(f"User response: {await _asked(ctx, message, _form(_USER))}")


async def _defaults(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    del params
    answer = await _asked(ctx, "Is this right?", _form(_DEFAULTS, required=False))
    return said(f"Elicitation completed: {answer}")


async def _enums(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    del params
    answer = await _asked(ctx, "Which of these?", _form(_ENUMS, required=False))
    return said(f"Elicitation completed: {answer}")


def _question(
    key: str, message: str, field: str, *, kind: str = "string", state: str | None = None
) -> InputRequiredResult:
    """A result that asks for one value."""
    form = ElicitRequestFormParams(message=message, requested_schema=_form({field: {"type": kind}}))
    return InputRequiredResult(
        input_requests={key: ElicitRequest(params=form)}, request_state=state
    )


def _answer(params: CallToolRequestParams, key: str) -> dict[str, object] | None:
    """What the user said to a question, if they did."""
    result = (params.input_responses or {}).get(key)
    if not isinstance(result, ElicitResult):
        return None
    return dict(result.content or {})


async def _name(
    ctx: Context, params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    del ctx
    answer = _answer(params, "user_name")
    if answer is None:
        return _question("user_name", "What is your name?", "name")
    return said(f"Hello, {answer.get('name')}!")


async def _confirm(
    ctx: Context, params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    del ctx
    if _answer(params, "confirm") is None or params.request_state != "asked":
        return _question("confirm", "Please confirm", "ok", kind="boolean", state="asked")
    return said("state-ok")


async def _rounds(
    ctx: Context, params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    del ctx
    if params.request_state == "second" and _answer(params, "step2") is not None:
        return said("Both are answered.")
    if params.request_state == "first" and _answer(params, "step1") is not None:
        return _question("step2", "Step 2: What is your favorite color?", "color", state="second")
    return _question("step1", "Step 1: What is your name?", "name", state="first")


TOOLS = dict(
    (
        named("test_elicitation", _user, _MESSAGE),
        named("test_elicitation_sep1034_defaults", _defaults),
        named("test_elicitation_sep1330_enums", _enums),
        named("test_streaming_elicitation", _name),
        named("test_input_required_result_elicitation", _name),
        named("test_input_required_result_request_state", _confirm),
        named("test_input_required_result_tampered_state", _confirm),
        named("test_input_required_result_multi_round", _rounds),
    )
)
