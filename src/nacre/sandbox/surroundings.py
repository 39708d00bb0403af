"""What a sandbox needs on the disk: a folder for temporary files, and eyes on protected paths."""

import fcntl
import hashlib
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath

from nacre.errors import SandboxError
from nacre.model.confinement import Confinement
from nacre.model.launch import Hold, Launch
from nacre.sandbox.protected.paths import ProtectedPaths
from nacre.sandbox.trees import remove_tree

__all__ = ("Dressing", "Surroundings")

_ROOT = PurePath("/")


class Surroundings:
    """The folders of one tool under its state directory, made when they are needed.

    What is kept stays for the next host that works in the same workspace; otherwise the
    folder for temporary files is removed when the tool is closed, and what hosts that
    were killed left behind is removed by the next.
    """

    def __init__(self, state: Path, workspace: Path, *, keep: bool) -> None:
        name = hashlib.sha256(os.fsencode(workspace)).hexdigest()[:16]
        self._state = state
        self._keep = keep
        self._tmp = state / "tmp" / (name if keep else f"{os.getpid()}-{os.urandom(4).hex()}")
        self._claim: int | None = None
        self._made = False
        self._lock = threading.Lock()
        self._protected: dict[object, ProtectedPaths] = {}

    def tmp(self) -> Path:
        """The private folder for temporary files.

        Raises:
            SandboxError: If it cannot be made.
        """
        with self._lock:
            if not self._made:
                try:
                    self._make()
                except OSError:
                    self._make_elsewhere()
                self._made = True
        return self._tmp

    def _make(self) -> None:
        self._state.mkdir(mode=0o700, parents=True, exist_ok=True)
        root = self._tmp.parent
        root.mkdir(mode=0o700, exist_ok=True)
        locks = self._state / "locks"
        locks.mkdir(mode=0o700, exist_ok=True)
        if not self._keep:
            _remove_abandoned(root, locks)
        lock = os.open(locks / self._tmp.name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_SH if self._keep else fcntl.LOCK_EX)
        self._tmp.mkdir(mode=0o700, exist_ok=True)
        self._claim = lock

    def _make_elsewhere(self) -> None:
        """A state directory that cannot be written costs jobs and spills, not runs."""
        import tempfile

        try:
            self._tmp = Path(tempfile.mkdtemp(prefix="nacre-"))
        except OSError as error:
            raise SandboxError(
                f"no folder for temporary files can be made: {error.strerror};"
                " set NACRE_STATE or TMPDIR to a folder that can be written"
            ) from error
        self._keep = False

    def protected(self, confinement: Confinement) -> ProtectedPaths | None:
        """The protected paths of a confinement that writes anywhere in particular."""
        if not confinement.writable:
            return None
        key = (confinement.writable, confinement.protected)
        with self._lock:
            if key not in self._protected:
                self._protected[key] = ProtectedPaths(
                    [Path(root) for root in confinement.writable],
                    [Path(path) for path in confinement.protected],
                    self._state / "reverted",
                )
            return self._protected[key]

    def require_folders(self, confinement: Confinement) -> None:
        """Refuse a writable folder that is none, or that lies in what is denied.

        Raises:
            SandboxError: If there is one.
        """
        for root in confinement.writable or ():
            if not os.path.isdir(root):
                raise SandboxError(
                    f"{str(root)!r} is to be writable, and there is no such folder; make it first"
                )
            above = frozenset(root.parents)
            if around := next((path for path in confinement.denied if path in above), None):
                raise SandboxError(
                    f"{str(root)!r} is to be writable, and lies in {str(around)!r}, which nobody"
                    " may read; work elsewhere, or with confinement='open'"
                )

    def close(self) -> None:
        """Remove what is not kept. Safe to call again."""
        with self._lock:
            for paths in self._protected.values():
                paths.close()
            self._protected.clear()
            if self._made and not self._keep:
                remove_tree(self._tmp)
                with suppress(OSError):
                    os.unlink(self._state / "locks" / self._tmp.name)
            if self._claim is not None:
                os.close(self._claim)
                self._claim = None
            self._made = False


class Dressing:
    """Gives launches what holds them, and variables that lead to their temporary folder.

    Most have the same variables as the one before, and then get the same as that.
    """

    def __init__(self, tmp: PurePath | None) -> None:
        self._own = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(tmp)) if tmp else {}
        self._last: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {})

    def confined(self, launch: Launch, hold: Hold) -> Launch:
        """A launch as it will be held."""
        given, made = self._last
        if launch.environ is not given:
            made = {**launch.environ, **self._own}
            # It leads to the sockets of a desktop, none of which is to be had.
            made.pop("XDG_RUNTIME_DIR", None)
            self._last = launch.environ, made
        return launch.held(hold, made)


def _remove_abandoned(root: Path, locks: Path) -> None:
    """Remove the folders of hosts that are gone, as their locks tell."""
    for lock in locks.iterdir():
        if "-" not in lock.name:
            continue  # one that is kept
        fd = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        else:
            remove_tree(root / lock.name)
            lock.unlink(missing_ok=True)
        finally:
            os.close(fd)
