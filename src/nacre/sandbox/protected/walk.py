"""Finding the repositories in a folder, without walking it at every call.

A first walk visits every folder, nearest first, and remembers its time of change. A
folder that changed since is read again; the others need one look each. A call looks
at the nearest folders, at some of the others in turn, and for longer the longer the
script ran. A thread does the rest in small slices, and goes round again after runs.
"""

import os
import stat
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from itertools import islice

from nacre.sandbox.protected.disk import OWN, is_young, let_in, lstat

__all__ = ("Walk",)

_NEAR = 16
_BATCH = 64
_PATIENCE = 10
_NEWS_SECONDS = 0.0006  # enough to read a folder that changed and a few new ones in it
_SLICE_SECONDS = 0.0002
_PAUSE_SECONDS = 0.02
_ROUND_SECONDS = 5.0
_MOST_FOLDERS = 500_000
_MOST_FOUND = 4096
_FAR = frozenset({"/proc", "/sys", "/dev"})
_BARE = frozenset({"HEAD", "objects", "refs"})
_ADMIN = frozenset({"HEAD", "commondir"})
_MARKS = _BARE | _ADMIN | {".git"}


class _Budget:
    """Processor time of this thread, and a multiple of it on the wall for slow disks."""

    def __init__(self, seconds: float) -> None:
        self._cpu = time.thread_time() + seconds
        self._wall = time.perf_counter() + seconds * _PATIENCE

    def is_spent(self) -> bool:
        return time.thread_time() > self._cpu or time.perf_counter() > self._wall


class Walk:
    """The git directories and `.git` names below some folders, as far as they are known.

    What is found is handed out once by `found`: the path of a `.git`, whatever it
    is, or of a folder that is a git directory under another name. A folder that was
    locked at a time that `since` names is opened again.
    """

    def __init__(
        self, roots: Sequence[str], since: Callable[[int], bool] = lambda _: False
    ) -> None:
        self._since = since
        self._lock = threading.Lock()
        # Each with its inode and its time of change.
        self._known: dict[str, tuple[int, int]] = {}
        self._order: list[str] = []
        self._turn = 0
        self._todo: dict[str, None] = dict.fromkeys(roots)
        self._reading: Generator[None] | None = None
        self._found: dict[str, None] = {}
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._round_left = 0
        self._round_over = 0.0

    @property
    def complete(self) -> bool:
        """Whether every folder there was has been read."""
        return not self._todo and self._reading is None

    def found(self) -> list[str]:
        """What was found since the last time, the nearest first."""
        with self._lock:
            if not self._found:
                return []
            found = sorted(self._found, key=lambda path: (path.count("/"), path))
            self._found.clear()
        return found

    def advance(self, seconds: float) -> None:
        """Go on with the first walk, for so long at most; a thread does what is left."""
        budget = _Budget(seconds)
        with self._lock:
            self._work(budget)
            if not self.complete:
                self._start()

    def look_again(self, seconds: float) -> None:
        """Look for new folders: at the nearest ones always, at others while there is time."""
        with self._lock:
            walked = self.complete
            for path in self._order[:_NEAR]:
                self._look(path)
            if walked and not self._todo and len(self._order) <= _NEAR:
                return  # that was all there is
            budget = _Budget(seconds)
            if walked and self._todo:
                self._work(_Budget(_NEWS_SECONDS))
            turns = len(self._order) - _NEAR
            while turns > 0 and not budget.is_spent():
                self._next_turn()
                turns -= 1
            self._work(budget)
            if turns > 0:
                self._round_left = max(self._round_left, turns)
            due = turns > 0 and time.monotonic() > self._round_over + _ROUND_SECONDS
            if due or not self.complete:
                self._start()

    def close(self) -> None:
        """Stop looking."""
        self._closed.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _next_turn(self) -> None:
        if len(self._order) > 2 * len(self._known) + _NEAR:
            self._order = list(self._known)
        self._turn = self._turn + 1 if _NEAR <= self._turn + 1 < len(self._order) else _NEAR
        if self._turn < len(self._order):
            self._look(self._order[self._turn])

    def _look(self, path: str) -> None:
        known = self._known.get(path)
        if known is None:
            return
        status = lstat(path)
        if status is None or not stat.S_ISDIR(status.st_mode):
            del self._known[path]
        elif (status.st_ino, status.st_ctime_ns) != known:
            self._known[path] = (status.st_ino, status.st_ctime_ns)
            self._todo[path] = None

    def _work(self, budget: _Budget) -> None:
        while True:
            if self._reading is None:
                if not self._todo:
                    return
                path = next(iter(self._todo))
                del self._todo[path]
                self._reading = self._read(path)
            for _ in self._reading:
                if budget.is_spent():
                    return
            self._reading = None
            if budget.is_spent():
                return

    def _read(self, path: str) -> Generator[None]:
        """Read one folder, with pauses; what is in it that must be read goes to the end."""
        if not self._keep(path):
            return
        if path.endswith("/.git"):
            self._enter_git(path)
            return
        marks: set[str] = set()
        folders: dict[str, int] = {}
        for batch in _batches(path):
            marks |= _MARKS.intersection([entry.name for entry in batch])
            folders |= {e.name: e.inode() for e in batch if e.is_dir(follow_symlinks=False)}
            yield
        if ".git" in marks:
            self._note(f"{path}/.git")
        if marks >= _BARE or marks >= _ADMIN:
            self._note(path)
            folders.pop("objects", None)
        yield from self._enter_all(path, folders)

    def _enter_all(self, path: str, folders: dict[str, int]) -> Generator[None]:
        """Have the folders in a folder read, unless they are known: those have their turn."""
        if ".git" in folders:
            folders = {".git": folders[".git"], **folders}
        for number, (name, inode) in enumerate(folders.items()):
            place = f"{path}/{name}" if path != "/" else f"/{name}"
            if self._known.get(place, (0, 0))[0] != inode:
                self._todo[place] = None
            if number % _BATCH == _BATCH - 1:
                yield

    def _enter_git(self, path: str) -> None:
        for name in ("modules", "worktrees"):
            if f"{path}/{name}" not in self._known:
                self._todo[f"{path}/{name}"] = None

    def _keep(self, path: str) -> bool:
        """Remember a folder's time of change, before it is read; whether it is one to read."""
        status = lstat(path)
        if status is None or not stat.S_ISDIR(status.st_mode) or path in _FAR:
            return False
        if status.st_mode & OWN != OWN:
            let_in(path, self._since)
        if len(self._known) < _MOST_FOLDERS:
            if path not in self._known:
                self._order.append(path)
            changed = 0 if is_young(status.st_ctime_ns) else status.st_ctime_ns
            self._known[path] = (status.st_ino, changed)
        return True

    def _note(self, path: str) -> None:
        if len(self._found) < _MOST_FOUND:
            self._found[path] = None

    def _start(self) -> None:
        if self._thread is None and not self._closed.is_set():
            thread = threading.Thread(target=self._run, name="nacre-walk", daemon=True)
            with suppress(RuntimeError):  # no more threads now; the calls themselves look as well
                thread.start()
                self._thread = thread

    def _run(self) -> None:
        """Work in slices, so that no call waits for long, and end when nothing is left."""
        while not self._closed.wait(_PAUSE_SECONDS):
            budget = _Budget(_SLICE_SECONDS)
            with self._lock:
                self._work(budget)
                while self.complete and self._round_left > 0 and not budget.is_spent():
                    self._next_turn()
                    self._round_left -= 1
                if self.complete and self._round_left <= 0:
                    self._round_over = time.monotonic()
                    self._thread = None
                    return
        with self._lock:
            self._thread = None


def _batches(path: str) -> Generator[list[os.DirEntry[str]]]:
    with suppress(OSError, ValueError), os.scandir(path) as entries:
        while batch := list(islice(entries, _BATCH)):
            yield batch
