"""What the tools of the default dialect take, as JSON Schema."""

from collections.abc import Mapping

__all__ = ("PROPERTIES", "schemas")


_JOB_ID = {"type": "string", "description": "The id of the job."}
_WAIT_FOR = {
    "description": "Wait until the first of these is true. A string is a regex.",
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "regex": {"type": "string", "description": "A line of new output matches."},
                "exit": {"type": "boolean", "description": "The job has ended."},
                "port": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 65535,
                    "description": "A local TCP port accepts connections.",
                },
                "file": {"type": "string", "description": "A path exists."},
                "silence": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "description": "Nothing was printed for this many seconds.",
                },
            },
            "additionalProperties": False,
            "minProperties": 1,
        },
    ],
}

_BASH: Mapping[str, Mapping[str, object]] = {
    "command": {"type": "string", "description": "The bash script to run."},
    "description": {
        "type": "string",
        "description": "What the script is for, in five to ten words.",
    },
    "timeout": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 600,
        "description": "Seconds until the script becomes a job. Default 120.",
    },
    "background": {"type": "boolean", "description": "Start it as a job and return at once."},
    "working_directory": {
        "type": "string",
        "description": "Where to run it; a relative path starts at the usual place.",
    },
}
_BASH_OUTPUT: Mapping[str, Mapping[str, object]] = {
    "id": _JOB_ID,
    "filter": {"type": "string", "description": "Only lines that match this regex."},
    "wait_for": _WAIT_FOR,
    "timeout": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 600,
        "description": "Seconds to wait at most. Default 30.",
    },
}

PROPERTIES: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "Bash": _BASH,
    "BashOutput": _BASH_OUTPUT,
    "KillBash": {"id": _JOB_ID},
    "Jobs": {},
}
_REQUIRED = {"Bash": ["command"], "BashOutput": ["id"], "KillBash": ["id"]}


def schemas() -> dict[str, dict[str, object]]:
    """The whole schema of each tool."""
    return {
        name: {
            "type": "object",
            "properties": dict(properties),
            "required": _REQUIRED.get(name, []),
            "additionalProperties": False,
        }
        for name, properties in PROPERTIES.items()
    }
