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
from nacre.process.ahead import Ahead, Place
from nacre.process.grip import ROOM
from nacre.process.link import Link
from nacre.process.live import Process
from nacre.process.spawn import send_ahead, spawn

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


class _Alike:
    """Launches that have all but their script in common: those that wait, and where they work."""

    def __init__(self, folder: str) -> None:
        self.waiting: list[Ahead] = []
        self.place = Place(folder)
        self.over = False

    def close(self) -> None:
        """Let go of those that wait; no others are to."""
        self.over = True
        while self.waiting:
            self.waiting.pop().close()


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
        self._variables = _Variables()
        self._kinds: dict[_Kind, _Alike] = {}

    def _require_own(self) -> None:
        """In a forked child, forget what waits: it is the parent's to use and to end."""
        if self._pid != os.getpid():
            theirs = self._kinds
            self._begin_anew()
            for alike in theirs.values():
                for ahead in alike.waiting:
                    ahead.leave()

    async def spawn(self, link: Link, launch: Launch, streams: Streams) -> Process:
        """Hand a launch to its warden, by one that was sent ahead if that serves as well.

        Raises:
            WardenError: If there is no warden, or no descriptors are left for pipes.
        """
        self._require_own()
        kind = _kind(link, launch, streams, self._variables) if self._most else None
        if kind is None:
            return await spawn(link, launch, streams)
        alike = self._kinds.get(kind)
        process = self._begun(alike, launch.argv[-1]) if alike else None
        if process is None:
            process = await spawn(link, launch, streams)
        if alike is None or alike.over or len(alike.waiting) < self._most:
            self._send_ahead(kind, link, launch, streams)
        return process

    def _begun(self, alike: _Alike, script: str) -> Process | None:
        """One that was sent ahead, and now has its script."""
        if len(script) > ROOM or may_tell(script):
            return None
        while ahead := self._taken(alike):
            if ahead.begin(script, alike.place):
                self._keep(alike, ahead)
                return ahead.process
            ahead.close()
        return None

    def _taken(self, alike: _Alike) -> Ahead | None:
        with self._lock:
            return alike.waiting.pop(0) if alike.waiting else None

    def _keep(self, alike: _Alike, begun: Ahead) -> None:
        """Have the next one wait, which took the place of one that has begun."""
        if begun.successor:
            with self._lock:
                alike.waiting.append(begun.successor)
                if alike.over:
                    alike.close()
            begun.successor = None

    def _send_ahead(self, kind: _Kind, link: Link, launch: Launch, streams: Streams) -> None:
        """Have as many wait as may, from the second call of a kind on."""
        with self._lock:
            alike = self._kinds.pop(kind, None)
            first = alike is None
            # The last is the latest used.
            self._kinds[kind] = alike = alike or _Alike(str(launch.cwd))
            while len(self._kinds) > _MOST_KINDS:
                self._kinds.pop(next(iter(self._kinds))).close()
            with suppress(WardenError, BlockingIOError):
                while not first and len(alike.waiting) < self._most:
                    alike.waiting.append(send_ahead(link, launch, streams, _TTL_SECONDS))

    def close(self) -> None:
        """Let go of all that wait."""
        self._require_own()
        with self._lock:
            while self._kinds:
                self._kinds.popitem()[1].close()


def may_tell(script: str) -> bool:
    """Whether a script might find out that its shell was started before it came."""
    return _TELLING.search(script) is not None


def _kind(link: Link, launch: Launch, streams: Streams, known: "_Variables") -> _Kind | None:
    """What a launch must have in common with one that was sent ahead; None if it cannot be."""
    restriction, hold = launch.hold.restriction, launch.hold
    if (
        restriction is None
        or not (restriction.fs & _WRITE_FILE and restriction.program)
        or launch.stdin is not None
        or launch.jobs
    ):
        return None
    environ = known.as_key(launch.environ)
    held = (restriction.key, hold.limits, hold.most_tasks)
    return environ and (link, held, launch.executable, str(launch.cwd), streams.value, environ)


class _Variables:
    """The variables of launches, to be compared; most have the same object as the one before."""

    def __init__(self) -> None:
        self._last: tuple[Mapping[str, str], _Kind | None] = ({}, None)

    def as_key(self, environ: Mapping[str, str]) -> _Kind | None:
        """What is equal for equal variables; None if they meddle with spares."""
        given, key = self._last
        if environ is not given:
            key = None if _meddles(environ) else (*environ.items(), "")
            self._last = environ, key
        return key


def _meddles(environ: Mapping[str, str]) -> bool:
    return not _MEDDLING.isdisjoint(environ) or any(name.startswith(_FUNCTION) for name in environ)
