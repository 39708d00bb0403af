"""What the tool of this dialect takes, as JSON Schema."""

from collections.abc import Mapping

__all__ = ("SCHEMA",)

SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "The command to execute"},
        "timeout": {
            "type": "integer",
            "description": "Timeout in milliseconds (default 120000, max 600000)",
        },
    },
    "required": ["command"],
}
