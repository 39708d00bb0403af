"""The three interfaces by which clients reach a model, as far as a scripted one needs them.

Each has a function that reads a request, and one that says in events what the model does.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mcp_clients.model import Call, Tool

__all__ = ("COMPLETIONS", "MESSAGES", "RESPONSES", "Json", "Wire")

Json = Mapping[str, Any]
_SAID = "It is done."


class Wire:
    """One interface."""

    def tools(self, body: Json) -> list[Tool]:
        """The tools that a request offers."""
        raise NotImplementedError

    def results(self, body: Json) -> dict[str, list[str]]:
        """The results of calls that a request brings: the texts of each, by the id of the call."""
        raise NotImplementedError

    def events(self, body: Json, call: Call | None) -> Iterator[tuple[str | None, Json | str]]:
        """The answer: a call, or a last word; events with their data."""
        raise NotImplementedError


class _Messages(Wire):
    def tools(self, body: Json) -> list[Tool]:
        return [Tool(each["name"]) for each in body.get("tools", ())]

    def results(self, body: Json) -> dict[str, list[str]]:
        blocks = [
            block
            for message in body["messages"]
            if not isinstance(message["content"], str)
            for block in message["content"]
        ]
        found = [block for block in blocks if block["type"] == "tool_result"]
        return {each["tool_use_id"]: _texts(each["content"]) for each in found}

    def events(self, body: Json, call: Call | None) -> Iterator[tuple[str | None, Json | str]]:
        if call is None:
            block: Json = {"type": "text", "text": ""}
            delta: Json = {"type": "text_delta", "text": _SAID}
            reason = "end_turn"
        else:
            block = {"type": "tool_use", "id": call.id, "name": call.tool.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
            reason = "tool_use"
        message: Json = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        ended = {"stop_reason": reason, "stop_sequence": None}
        events: tuple[tuple[str, Json], ...] = (
            ("message_start", {"message": message}),
            ("content_block_start", {"index": 0, "content_block": block}),
            ("content_block_delta", {"index": 0, "delta": delta}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": ended, "usage": {"output_tokens": 1}}),
            ("message_stop", {}),
        )
        for name, data in events:
            yield name, {"type": name, **data}


class _Responses(Wire):
    def tools(self, body: Json) -> list[Tool]:
        return [*self._tools(body.get("tools", ()))]

    def _tools(self, offered: Iterable[Json]) -> Iterator[Tool]:
        for each in offered:
            if each["type"] == "namespace":
                yield from (Tool(inner["name"], each["name"]) for inner in each["tools"])
            elif each["type"] == "function":
                yield Tool(each["name"])

    def results(self, body: Json) -> dict[str, list[str]]:
        found = [each for each in body["input"] if each.get("type") == "function_call_output"]
        return {each["call_id"]: _texts(each["output"]) for each in found}

    def events(self, body: Json, call: Call | None) -> Iterator[tuple[str | None, Json | str]]:
        item: Json
        if call is None:
            content: list[Json] = [{"type": "output_text", "text": _SAID, "annotations": []}]
            item = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
        else:
            item = {
                "type": "function_call",
                "id": f"fc_{call.id}",
                "call_id": call.id,
                "name": call.tool.name,
                "arguments": json.dumps(call.arguments),
                **({"namespace": call.tool.namespace} if call.tool.namespace else {}),
            }
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        begun: Json = {"id": "resp_1", "object": "response", "model": body["model"], "output": []}
        events: tuple[tuple[str, Json], ...] = (
            ("response.created", {"response": begun}),
            ("response.output_item.added", {"output_index": 0, "item": item}),
            ("response.output_item.done", {"output_index": 0, "item": item}),
            ("response.completed", {"response": {**begun, "output": [item], "usage": usage}}),
        )
        for name, data in events:
            yield name, {"type": name, **data}


class _Completions(Wire):
    def tools(self, body: Json) -> list[Tool]:
        return [Tool(each["function"]["name"]) for each in body.get("tools", ())]

    def results(self, body: Json) -> dict[str, list[str]]:
        found = [each for each in body["messages"] if each["role"] == "tool"]
        return {each["tool_call_id"]: _texts(each["content"]) for each in found}

    def events(self, body: Json, call: Call | None) -> Iterator[tuple[str | None, Json | str]]:
        delta: Json
        if call is None:
            delta, reason = {"content": _SAID}, "stop"
        else:
            function = {"name": call.tool.name, "arguments": json.dumps(call.arguments)}
            called = {"index": 0, "id": call.id, "type": "function", "function": function}
            delta, reason = {"tool_calls": [called]}, "tool_calls"
        for each, ended in (({"role": "assistant", **delta}, None), ({}, reason)):
            yield (
                None,
                {
                    "id": "completion_1",
                    "object": "chat.completion.chunk",
                    "created": 0,
                    "model": body["model"],
                    "choices": [{"index": 0, "delta": each, "finish_reason": ended}],
                },
            )
        yield None, "[DONE]"


def _texts(content: str | Sequence[Json]) -> list[str]:
    return [content] if isinstance(content, str) else [str(part.get("text")) for part in content]


MESSAGES, RESPONSES, COMPLETIONS = _Messages(), _Responses(), _Completions()
