"""Launches that a host sends ahead of their scripts, so that a shell is there when one comes.

The host's side of `nacre.process.reserve`. Calls of an agent are alike in everything but their
script; so once a second call has come with the same folder, variables and hold, a launch with
these is sent ahead, and another whenever one is taken. What is left to a plain bash are scripts
that could tell the difference, as `nacre.process.spare` lists it.
"""

import os
import threading
from collections.abc import Mapping
from contextlib import suppress

from nacre.errors import WardenError
from nacre.model.call import Streams
from nacre.model.expression import expression
from nacre.model.launch import Launch
from nacre.process.link import Link
from nacre.process.spawn import Process, send_ahead, spawn

__all__ = ("Spares", "may_tell")

# An agent works in one folder, or a few.
_MOST_KINDS = 4
_TTL_SECONDS = 60.0
# Landlock's right to write to files: whoever holds it back keeps other scripts from a spare's memory.
_WRITE_FILE = 1 << 1
# What bash takes from these is taken before a spare is held up, or lets it not be held up.
_MEDDLING = {"BASH_ENV", "ENV", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS", "TMOUT", "_"}
_FUNCTION = "BASH_FUNC_"
_ENDS = r"[ \t]*(?:[;|&)<>}`\n]|$)"
_TELLING = expression(
    # Looks at processes from outside.
    r"/proc\b|\b(?:ps|pgrep|pkill|pidof|killall|pstree|h?top|lsof|fuser|strace|ltrace|gdb)\b"
    # Lists variables that bash sets by itself, or asks for one of them. Where there is no history to
    # write, `history -w` tells of whatever failed last in bash itself.
    rf"|\b(?:set|declare|typeset|local|readonly){_ENDS}|\b(?:declare|typeset)\b[^;|&\n]*[ \t]-\w*p"
    r"|\bcompgen\b|\bhistory\b|BASH_(?:ARGC|COMMAND|ENV|EXECUTION_STRING)|PIPESTATUS|!(?:BASH|PIPE|SEC)"
)
_Kind = tuple[object, ...]


class Spares:
    """The launches that one tool has sent ahead, by what they have in common; from any thread.

    At most `most` of a kind wait at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._waiting: dict[_Kind, list[Process]] = {}

    def _require_own(self) -> None:
        """In a forked child, forget what waits: it is the parent's to use and to end."""
        if self._pid != os.getpid():
            theirs = self._waiting
            self._begin_anew()
            for waiting in theirs.values():
                for process in waiting:
                    process.leave()

    async def spawn(self, link: Link, launch: Launch, streams: Streams) -> Process:
        """Hand a launch to its warden, by one that was sent ahead if that serves as well.

        Raises:
            WardenError: If there is no warden, or no descriptors are left for pipes.
        """
        self._require_own()
        kind = _kind(link, launch, streams) if self._most else None
        if kind is None:
            return await spawn(link, launch, streams)
        script = launch.argv[-1]
        process = None if may_tell(script) else self._begun(kind, script)
        if process is None:
            process = await spawn(link, launch, streams)
        self._send_ahead(kind, link, launch, streams)
        return process

    def _begun(self, kind: _Kind, script: str) -> Process | None:
        """One that was sent ahead, and now has its script."""
        while process := self._taken(kind):
            if process.begin(script):
                return process
            process.close()
        return None

    def _taken(self, kind: _Kind) -> Process | None:
        with self._lock:
            waiting = self._waiting.get(kind)
            return waiting.pop(0) if waiting else None

    def _send_ahead(self, kind: _Kind, link: Link, launch: Launch, streams: Streams) -> None:
        """Have as many wait as may, from the second call of a kind on."""
        with self._lock:
            waiting = self._waiting.pop(kind, None)
            # The last is the latest used.
            self._waiting[kind] = [] if waiting is None else waiting
            while len(self._waiting) > _MOST_KINDS:
                for old in self._waiting.pop(next(iter(self._waiting))):
                    old.close()
            if waiting is not None and len(waiting) < self._most:
                with suppress(WardenError, BlockingIOError):
                    waiting.append(send_ahead(link, launch, streams, _TTL_SECONDS))

    def close(self) -> None:
        """Let go of all that wait."""
        self._require_own()
        with self._lock:
            while self._waiting:
                for process in self._waiting.popitem()[1]:
                    process.close()


def may_tell(script: str) -> bool:
    """Whether a script might find out that its shell was started before it came."""
    return _TELLING.search(script) is not None


def _kind(link: Link, launch: Launch, streams: Streams) -> _Kind | None:
    """What a launch must have in common with one that was sent ahead; None if it cannot be."""
    restriction, hold = launch.hold.restriction, launch.hold
    if (
        restriction is None
        or not (restriction.fs & _WRITE_FILE and restriction.program)
        or launch.stdin is not None
        or launch.jobs
        or _meddles(launch.environ)
    ):
        return None
    environ = tuple(launch.environ.items())
    held = (restriction.key, hold.limits, hold.most_tasks)
    return (link, held, launch.executable, launch.cwd, streams, environ)


def _meddles(environ: Mapping[str, str]) -> bool:
    return not _MEDDLING.isdisjoint(environ) or any(name.startswith(_FUNCTION) for name in environ)
