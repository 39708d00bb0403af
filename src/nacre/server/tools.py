"""A dialect's tools in the protocol's words, and its replies as results."""

from collections.abc import Mapping, Sequence
from typing import cast

from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations

from nacre.model.reply import Reply

__all__ = ("DETAILS", "result_of", "tool_of")

DETAILS = "nacre/details"
"""Where a result carries a reply's details: for programs, since no client shows it to a model."""

_RUNS = ToolAnnotations(
    title="Run a script",
    read_only_hint=False,
    destructive_hint=True,
    idempotent_hint=False,
    open_world_hint=True,
)
_ENDS = ToolAnnotations(
    title="End a job",
    read_only_hint=False,
    destructive_hint=True,
    idempotent_hint=True,
    open_world_hint=False,
)


def _reads(title: str) -> ToolAnnotations:
    return ToolAnnotations(title=title, read_only_hint=True, open_world_hint=False)


# Every other tool runs a script.
_ANNOTATIONS = {
    "BashOutput": _reads("Read a job's output"),
    "Jobs": _reads("List jobs"),
    "KillBash": _ENDS,
    "KillShell": _ENDS,
}


def tool_of(spec: Mapping[str, object]) -> Tool:
    """A tool definition as the protocol lists it."""
    name = str(spec["name"])
    annotations = _ANNOTATIONS.get(name, _RUNS)
    return Tool(
        name=name,
        title=annotations.title,
        description=str(spec["description"]),
        input_schema=cast("dict[str, object]", spec["input_schema"]),
        annotations=annotations,
    )


def result_of(reply: Reply) -> CallToolResult:
    """A reply as a result: its text is all of it.

    There is no structured content: some clients would show the model that alone.
    """
    text = TextContent(text=_encodable(reply.text))
    meta = {DETAILS: _plain(reply.details)}
    return CallToolResult(content=[text], is_error=reply.is_error, _meta=meta)


def _plain(value: object) -> object:
    """A value as JSON can carry it; paths may hold bytes that are no characters."""
    match value:
        case str():
            return _encodable(value)
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            return {_encodable(str(key)): _plain(each) for key, each in pairs}
        case Sequence():
            return [_plain(each) for each in cast("Sequence[object]", value)]
        case None | bool() | int() | float():
            return value
        case _:
            return _encodable(str(value))


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
