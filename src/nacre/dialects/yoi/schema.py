"""What the tool takes: its schema, and how arguments are read into it."""

from nacre.dialects.serde import fields, invalid_type, text_field
from nacre.errors import CallError
from nacre.model.expression import expression
from nacre.model.value import dataclass

__all__ = ("SCHEMA", "BashParams", "read")

# As schemars 1.2 writes it for the structure in the document.
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "properties": {
        "command": {
            "description": "Shell command to execute. Passed verbatim to `bash -c`.",
            "type": "string",
        },
        "timeout": {
            "default": None,
            "description": "Timeout in seconds. Defaults to 120, capped at 600.",
            "format": "uint64",
            "minimum": 0,
            "type": ["integer", "null"],
        },
    },
    "required": ["command"],
    "title": "BashParams",
    "type": "object",
}
_STRUCTURE = "BashParams"
_LEAST_SIGNED = -(1 << 63)
_MOST_UNSIGNED = (1 << 64) - 1
_HALF = expression("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class BashParams:
    """The arguments of one call; no timeout if none was chosen."""

    command: str
    timeout: int | None


def read(arguments: object) -> BashParams:
    """Read arguments; fields that are not known are ignored.

    Raises:
        CallError: If one does not fit; a field that is missing is told last.
    """
    given = fields(arguments, _STRUCTURE)
    if "command" in given:
        _require_characters(text_field(given, "command"))
    timeout = _seconds(given.get("timeout"))
    return BashParams(text_field(given, "command"), timeout)


def _require_characters(text: str) -> None:
    """Halves of characters can be written in JSON, and are none."""
    if half := _HALF.search(text):
        leading = half[0] >= "\udc00"
        raise CallError(
            "lone leading surrogate in hex escape" if leading else "unexpected end of hex escape"
        )


def _seconds(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise CallError(invalid_type(value, "u64"))
    if 0 <= value <= _MOST_UNSIGNED:
        return value
    if _LEAST_SIGNED <= value < 0:
        raise CallError(f"invalid value: integer `{value}`, expected u64")
    try:
        nearest = float(value)
    except OverflowError:
        raise CallError("number out of range") from None
    raise CallError(invalid_type(nearest, "u64"))
