"""The output of jobs as resources that can be read by range."""

import base64
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    BlobResourceContents,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from nacre.model.job import Job, JobOutput
from nacre.model.outcome import Running
from nacre.model.value import dataclass
from nacre.render.underline import one_line

__all__ = ("TEMPLATES", "Range", "contents_of", "range_of", "resource_of")

_SCHEME = "nacre"
_STREAMS = {"output": 0, "errors": 1}
_USUAL_LENGTH = 64 * 1024
_MOST_LENGTH = 256 * 1024
_MOST_START = 1 << 62
_SCRIPT_CHARACTERS = 80
# A character has at most four bytes; three of them may be cut off.
_MOST_CUT_OFF = 3
_HOW = (
    f"From `start` on, at most `length` bytes ({_USUAL_LENGTH} if not given, {_MOST_LENGTH} at most)."
    " _meta says where the range ends, how much there is so far, and whether the job runs."
)

TEMPLATES = [
    ResourceTemplate(
        name=f"job {stream}",
        title=title,
        uri_template=f"{_SCHEME}://jobs/{{id}}/{stream}{{?start,length}}",
        description=f"{title}. {_HOW}",
    )
    for stream, title in (
        ("output", "What a job printed"),
        ("errors", "What a job printed on a standard error that is kept apart"),
    )
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Some bytes of one stream of a job."""

    job_id: str
    stream: int
    start: int
    length: int


def resource_of(job: Job) -> Resource:
    """A job as a resource."""
    return Resource(
        name=f"job {job.id}",
        title=one_line(job.script, _SCRIPT_CHARACTERS),
        uri=f"{_SCHEME}://jobs/{quote(job.id, safe='')}/output",
        description="running" if isinstance(job.outcome, Running) else "ended",
        mime_type="text/plain",
        size=job.said,
    )


def range_of(uri: str) -> Range:
    """What a resource's address asks for.

    Raises:
        MCPError: If it is none of ours.
    """
    try:
        parts = urlsplit(uri)
        given = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
    except ValueError:
        raise _unknown(uri) from None
    segments = parts.path.split("/")
    match (parts.scheme, parts.netloc, segments):
        case ("nacre", "jobs", ["", job_id, stream]) if job_id and stream in _STREAMS:
            if not given.keys() <= {"start", "length"}:
                raise _unknown(uri)
        case _:
            raise _unknown(uri)
    return Range(
        job_id=unquote(job_id),
        stream=_STREAMS[stream],
        start=_number(given, "start", 0, _MOST_START),
        length=_number(given, "length", _USUAL_LENGTH, _MOST_LENGTH),
    )


def contents_of(uri: str, found: JobOutput) -> ReadResourceResult:
    """A range as text, cut at the border of a character; as bytes, if it is no text."""
    data = found.data
    text: str | None = None
    cut = 0
    for cut in range(min(_MOST_CUT_OFF, max(0, len(data) - 1)) + 1):
        try:
            text = data[: len(data) - cut].decode()
        except UnicodeDecodeError:
            continue
        break
    meta: dict[str, object] = {
        "nacre/start": found.start,
        "nacre/end": found.end - (cut if text is not None else 0),
        "nacre/kept": found.kept,
        "nacre/running": found.running,
    }
    if text is not None:
        part = TextResourceContents(uri=uri, mime_type="text/plain", text=text, _meta=meta)
        return ReadResourceResult(contents=[part])
    blob = base64.b64encode(data).decode()
    kind = "application/octet-stream"
    return ReadResourceResult(
        contents=[BlobResourceContents(uri=uri, mime_type=kind, blob=blob, _meta=meta)]
    )


def _number(given: dict[str, str], name: str, usual: int, most: int) -> int:
    text = given.get(name)
    if text is None:
        return usual
    if not (
        text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and int(text) <= most
    ):
        raise MCPError(
            code=INVALID_PARAMS, message=f"{name}={text!r:.60} is no number from 0 to {most}"
        )
    return int(text)


def _unknown(uri: str) -> MCPError:
    return MCPError(
        code=INVALID_PARAMS,
        message=f"there is no resource {uri!r:.200}; resources/templates/list says which there are",
        data={"uri": uri[:200]},
    )
