"""What the tool takes, as JSON Schema."""

__all__ = ("TIMEOUT", "TOOL", "schema")

TOOL = "Bash"
# Milliseconds until a command that still runs is moved to the background.
TIMEOUT = 30_000


def schema() -> dict[str, object]:
    """The schema of the one tool; fields that it does not name are ignored."""
    return {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The shell command to execute."},
            "working_directory": {
                "type": "string",
                "description": "Absolute path to the working directory."
                " Defaults to the agent process's current working directory.",
            },
            "timeout": {
                "type": "integer",
                "minimum": 0,
                "default": TIMEOUT,
                "description": "Milliseconds to wait before moving the process to background."
                f" Defaults to {TIMEOUT}. Set to 0 to immediately background.",
            },
        },
        "required": ["command"],
    }
