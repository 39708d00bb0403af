"""Unix sockets of the host that a script could not use."""

from collections.abc import Iterator, Sequence
from posixpath import join, normpath

from nacre.model.expression import expression
from nacre.model.violation import Violation, ViolationKind
from nacre.sandbox.violations.complaint import Said
from nacre.sandbox.violations.evidence import Evidence, Host
from nacre.sandbox.violations.speakers import Speakers

__all__ = ("stopped_sockets",)

_ADDRESSED = (
    expression(
        r"(?:daemon(?: socket)? at|dial unix|connect to|socket at) (?:unix://)?(/[^\s:'\"]+)"
    ),
    expression(r"on socket \"(/[^\"]+)\" failed"),
    expression(r"through socket '(/[^']+)'"),
    expression(r"error connecting to (/\S+) \("),
    expression(r"connect (?:ENOENT|EACCES|EPERM) (/\S+)"),
)
_NO_SOCKET = expression(r"PermissionError: \[Errno (?:1|13)\] [A-Z]\w+ \w+(?: \w+)?$")
_MAKES_ONE = expression(r"AF_UNIX|_socket\.socket\.__init__|unix_events|open_unix_connection")
_CURL = expression(r"--(?:abstract-)?unix-socket[ =](\S+)")
_TRACEBACK = 12


def stopped_sockets(
    lines: Sequence[Said], evidence: Evidence, host: Host, speakers: Speakers
) -> Iterator[tuple[int, Violation]]:
    """The unix sockets that the output says could not be had, and that are there on the host."""
    if not evidence.layers("unix_sockets"):
        return
    for index, line in enumerate(lines):
        if not line.telling or not speakers.could_say(line.text):
            continue
        path = _addressed(line.text, speakers)
        if path is not None:
            path = normpath(join(str(evidence.cwd), path))
            if host.is_socket(path):
                yield line.number, _stopped(path)
        elif _NO_SOCKET.search(line.text) and "AF_UNIX" in _around(lines, index, speakers):
            named = (path for path in speakers.paths if host.is_socket(path))
            yield line.number, _stopped(next(named, ""))


def _addressed(text: str, speakers: Speakers) -> str | None:
    for shape in _ADDRESSED:
        if found := shape.search(text):
            return found[1].rstrip(".,")
    if text.startswith("curl: (7)") and (found := _CURL.search(speakers.text)):
        return found[1].strip("'\"")
    return None


def _around(lines: Sequence[Said], index: int, speakers: Speakers) -> str:
    """The frames above an error, with the script if one of them makes a socket."""
    frames = "\n".join(line.text for line in lines[max(0, index - _TRACEBACK) : index])
    return f"{frames}\n{speakers.text}" if _MAKES_ONE.search(frames) else ""


def _stopped(path: str) -> Violation:
    return Violation(
        kind=ViolationKind.UNIX_SOCKET,
        target=path,
        rule="unix sockets of the host are closed to scripts",
        remedy="work without that service, or ask the user to do this step",
    )
