"""What the tools of this dialect take, as JSON Schema."""

from collections.abc import Mapping

__all__ = ("DEFAULT_SECONDS", "MOST_SECONDS", "schemas")

DEFAULT_SECONDS = 120
MOST_SECONDS = 600

_BASH: Mapping[str, object] = {
    "command": {"type": "string", "description": "Shell command to run."},
    "description": {
        "type": "string",
        "description": "5-10 word description of what this command does."
        " Recorded for agent context; does not affect execution.",
    },
    "timeout": {
        "type": "number",
        "description": f"Timeout in seconds. Default {DEFAULT_SECONDS},"
        f" clamped to a maximum of {MOST_SECONDS}.",
    },
    "run_in_background": {
        "type": "boolean",
        "description": "If true, spawn the command in the background and return a shell_id"
        " immediately. Use BashOutput to poll and KillShell to terminate.",
    },
}
_SHELL: Mapping[str, object] = {
    "shell_id": {
        "type": "string",
        "description": "Shell identifier returned by Bash in background mode.",
    },
}


def schemas() -> dict[str, dict[str, object]]:
    """The whole schema of each tool."""
    return {
        "Bash": _schema(_BASH, ["command", "description"]),
        "BashOutput": _schema(_SHELL, ["shell_id"]),
        "KillShell": _schema(_SHELL, ["shell_id"]),
    }


def _schema(properties: Mapping[str, object], required: list[str]) -> dict[str, object]:
    return {"type": "object", "properties": dict(properties), "required": required}
