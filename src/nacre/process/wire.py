"""Messages between a host and its warden, on the warden's side.

The host holds one end of a SEQPACKET socket, the link. A message on it is a
request, with descriptors: to run a launch, to have a restriction at hand, to start a room, to sweep
up what dead wardens left, or to retire for a younger one. A run brings its own socket, the lifeline.
One with a time to live has no script as yet (see `nacre.process.reserve`). On a lifeline goes:

    to the host      {"ready": place} with descriptors     a shell waits for the script (see
                                                          `nacre.process.grip`), and the next launch
                     {"unstarted": errno, "why": s}
                     {"started": pid, "mark": m}           when asked
                     {"kept": bool}                        it is a job now, or cannot be
                     {"crowded": true}                     it has too many processes, and is ended
                     {"exited": status}                    the shell is reaped
                     {"gone": true}                        and all its descendants are
    from the host    {"script": s}                         which it waited for
                     {"who": true}                         which process is it?
                     {"end": grace}                        TERM, grace, KILL
                     {"keep": {...}} with descriptors      it is a job from now on
                     (closed)                              end it now, unless kept
"""

from __future__ import annotations

import errno
import json
import os
import socket
from contextlib import suppress

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from typing import Any

__all__ = (
    "close_all",
    "decode",
    "error_number",
    "error_reason",
    "receive",
    "refuse",
    "tell",
    "tell_with",
)

_MOST_FDS = 8
# A buffer is cleared before it is used, so a larger one would cost every call.
_MESSAGE_BYTES = 1 << 16


def tell(lifeline: socket.socket, message: dict[str, object]) -> None:
    """Send word to the host; one that does not listen any more is no error."""
    with suppress(OSError):
        lifeline.send(json.dumps(message).encode())


def tell_with(lifeline: socket.socket, message: dict[str, object], fds: list[int]) -> None:
    """Send word to the host, with copies of descriptors."""
    with suppress(OSError):
        socket.send_fds(lifeline, [json.dumps(message).encode()], fds)


def receive(sock: socket.socket) -> tuple[bytes, list[int]]:
    """Take the next message and its descriptors; no bytes mean that the host is gone."""
    try:
        data, fds, _, _ = socket.recv_fds(sock, _MESSAGE_BYTES, _MOST_FDS)
    except ConnectionError:  # ECONNRESET is how a host that was killed says EOF
        return b"", []
    return data, list(fds)


def decode(data: bytes, fds: list[int]) -> dict[str, Any]:
    """Read a request; one too large for a message comes in a memory file."""
    if data == b"@":
        if not fds:
            return {"fds": -1}  # it did not fit in here
        with open(fds.pop(0), "rb") as file:  # the first, so that it is the last cut off
            file.seek(0)
            data = file.read()
    request: dict[str, Any] = json.loads(data)
    return request


def refuse(fds: list[int]) -> None:
    """Say no to a run some of whose descriptors did not fit in here."""
    if fds:
        lifeline = socket.socket(fileno=fds.pop(0))
        tell(lifeline, {"unstarted": errno.EMFILE, "why": os.strerror(errno.EMFILE)})
        lifeline.close()
    close_all(fds)


def close_all(fds: list[int]) -> None:
    """Close descriptors that are of no use."""
    for fd in fds:
        os.close(fd)


def error_number(error: OSError | ValueError) -> int:
    """The number of a failure, 0 if it has none."""
    return error.errno or 0 if isinstance(error, OSError) else 0


def error_reason(error: OSError | ValueError) -> str:
    """A failure in words, with the path it is about."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)
