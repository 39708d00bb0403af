"""The protected paths of some writable folders, before, during and after runs."""

import math
import os
import stat
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from nacre.model.value import dataclass
from nacre.sandbox.protected.disk import YOUNG_NS, lstat, opened, resolved
from nacre.sandbox.protected.guard import Folder, Rule
from nacre.sandbox.protected.places import Places
from nacre.sandbox.protected.restore import Restorer, Reverted
from nacre.sandbox.protected.settle import Settler
from nacre.sandbox.protected.walk import Walk

__all__ = ("Mounts", "ProtectedPaths")

_FIRST_WALK_SECONDS = 0.005
_LEAST_LOOK_SECONDS = 0.00002
_MOST_LOOK_SECONDS = 0.1
_SHARE_OF_RUN = 0.02
_MOST_RUNS = 256
_MOST_PINNED = 64
_MOST_REPORTED = 256
_NS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounts:
    """What a room of its own holds by mounts, parents before what is in them.

    `read_only` paths are to be bound onto themselves read-only; `pinned` folders
    writable, so that they cannot be renamed aside or replaced. All are resolved.
    """

    read_only: tuple[Path, ...]
    pinned: tuple[Path, ...]


class ProtectedPaths:
    """Keeps what is protected in some writable folders as it was before a run.

    Runs may overlap, from several threads: what there was when the first began is
    what counts until the last one ended. Changes that the user makes in between are
    accepted; those made while a run is live cannot be told from the script's, and
    are undone too, unless a mount held the path.
    """

    def __init__(self, roots: Sequence[Path], extra: Sequence[Path], aside: Path) -> None:
        """Protect paths below `roots`, and `extra` ones; keep what is undone in `aside`."""
        self._lock = threading.RLock()
        # Each with its beginning and its end; while one lasts, its end is infinite.
        self._runs: list[tuple[float, float]] = []
        self._live = 0
        self._held: frozenset[str] = frozenset()
        self._offered: frozenset[str] = frozenset()
        self._mounts: Mounts | None = None
        self._pending: list[Reverted] = []
        real = dict.fromkeys(resolved(root) for root in roots)
        self._places = Places(tuple(real), map(resolved, extra), self._admit)
        self._restorer = Restorer(aside)
        self._settler = Settler(self._restorer, self._places.inside, self._in_a_run)
        self._walk = Walk(self._places.roots, self._in_a_run)
        self._walked = False
        self._told_full = False

    def close(self) -> None:
        """Stop looking for repositories."""
        self._walk.close()

    def mounts(self) -> Mounts:
        """What there is to hold by mounts now.

        The repository of each writable folder is held, with its submodules; those
        further down are only compared, so that a script can remove them.
        """
        with self._lock:
            if not self._live:
                self._find()
                self._remember(self._held)
            if self._mounts is None:
                self._mounts = self._hold()
            self._offered = frozenset(map(str, self._mounts.read_only))
            return self._mounts

    def begin(self, *, mounted: bool) -> None:
        """A run starts; `mounted` says that what `mounts` named last is held by mounts."""
        with self._lock:
            offered = self._offered if mounted else frozenset[str]()
            if self._live:
                self._release(self._held - offered)
            else:
                self._find()
                self._held = offered
                self._remember(offered)
                self._runs.append((time.time_ns() - YOUNG_NS, math.inf))
                if len(self._runs) > _MOST_RUNS:
                    self._runs[:2] = [(self._runs[0][0], self._runs[1][1])]
            self._live += 1

    def check(self) -> tuple[Reverted, ...]:
        """Look while a run is live: undo what it did so far, and say what."""
        with self._lock:
            return self._settle(last=False)

    def end(self) -> tuple[Reverted, ...]:
        """A run ended: undo what may not be, and say what.

        What cannot be undone is said as well; nothing is raised for it.
        """
        with self._lock:
            self._live = max(self._live - 1, 0)
            return self._settle(last=not self._live)

    def _hold(self) -> Mounts:
        read_only: list[str] = []
        for folder in self._places.folders:
            for name, node in folder.nodes.items():
                rule, path = folder.rules[name], f"{folder.path}/{name}"
                if rule is Rule.HOOKS:
                    main = self._places.is_main(folder.path) or path in self._places.main_hooks
                    wanted = main and node.kind == stat.S_IFDIR
                elif rule is Rule.WHOLE:
                    wanted = node.kind in {stat.S_IFDIR, stat.S_IFREG}
                else:
                    wanted = rule is Rule.GIT and node.kind == stat.S_IFREG
                if wanted and path not in self._places.extra:
                    read_only.append(path)
        read_only += [path for path in self._places.extra if lstat(path) is not None]
        pinned = [path for path in self._places.git if self._places.is_main(path)]
        pinned += [up for path in read_only for up in self._ancestors(path)]
        return Mounts(
            read_only=_in_order(path for path in read_only if self._is_plain(path)),
            pinned=_in_order(path for path in pinned if self._is_plain(path))[:_MOST_PINNED],
        )

    def _is_plain(self, path: str) -> bool:
        """Whether a path lies in a writable folder and no link leads there."""
        return resolved(path) == path and self._places.inside(path)

    def _ancestors(self, path: str) -> list[str]:
        found: list[str] = []
        while (path := os.path.dirname(path)) not in self._places.roots:
            if not self._places.inside(path):
                return []
            found.append(path)
        return found

    def _release(self, paths: Iterable[str]) -> None:
        """Paths that were held until now are not held from a new run."""
        paths = frozenset(paths)
        self._held -= paths
        for path in paths & self._places.extra:
            folder = self._places.get(os.path.dirname(path))
            if folder is not None:
                folder.changed()
                folder.remember([os.path.basename(path)])

    def _remember(self, held: frozenset[str]) -> None:
        """Take everything for what it is now, as nothing runs."""
        skipped = held & self._places.extra
        for folder in list(self._places.folders):
            if folder.is_quiet():
                continue
            names = folder.changed(_names_of(folder.path, skipped) if skipped else ())
            folder.remember(names)
            if names:
                self._mounts = None
                self._places.follow(folder, names)
            if folder.stamp is None:
                self._places.forget(folder)

    def _settle(self, *, last: bool) -> tuple[Reverted, ...]:
        begun = self._runs[-1][0] if self._runs else math.inf
        elapsed = max((time.time_ns() - YOUNG_NS - begun) / _NS, 0.0)
        share = min(max(elapsed * _SHARE_OF_RUN, _LEAST_LOOK_SECONDS), _MOST_LOOK_SECONDS)
        self._restorer.start()
        self._walk.look_again(share)
        self._find()
        said, self._pending = self._pending, []
        for folder in list(self._places.folders):
            said += self._settle_folder(folder, last=last)
        if last:
            self._held = frozenset()
            if self._runs:
                self._runs[-1] = (self._runs[-1][0], time.time_ns())
        return self._report(said)

    def _report(self, said: list[Reverted]) -> tuple[Reverted, ...]:
        if not said and not self._places.full:
            return ()
        top = Path(next(iter(self._places.roots), "/"))
        if len(said) > _MOST_REPORTED:
            more = f"{len(said) - _MOST_REPORTED} more changes in it"
            said[_MOST_REPORTED:] = [Reverted(path=top, what=more)]
        if self._places.full and not self._told_full:
            self._told_full = True
            said.append(Reverted(path=top, what="too many repositories; some are not protected"))
        return tuple(said)

    def _settle_folder(self, folder: Folder, *, last: bool) -> list[Reverted]:
        if folder.is_quiet():
            return []
        skip: frozenset[str] = frozenset()
        if self._held and (skip := _names_of(folder.path, self._held)) and not folder.is_itself():
            skip = frozenset()
        self._let_in(folder)
        names = folder.changed(skip)
        said: list[Reverted] = []
        for name in names:
            said += self._settler.settle(folder, name)
        if said and folder.lasting and folder.stamp is None:
            _remove_empty(folder.path)
        if last:
            # Only now: while a script lives, it can change a file without its stamp
            # moving, through a mapping that is dirty already.
            folder.remember(names)
            if names:
                self._mounts = None
        return said

    def _find(self) -> None:
        """Protect the repositories that were found since the last time."""
        if not self._walked:
            self._walked = True
            self._walk.advance(_FIRST_WALK_SECONDS)
        if found := self._walk.found():
            self._mounts = None
            self._places.found(found)

    def _admit(self, folder: Folder, names: list[str]) -> None:
        """Take new names for what they are, but for what a run has made of them."""
        self._let_in(folder)
        folder.changed()
        folder.remember(names)
        if not self._runs or not self._places.inside(folder.path):
            return
        folder.distrust(names, self._in_a_run)
        if not self._live:
            for name in names:
                self._pending += self._settler.settle(folder, name)

    def _let_in(self, folder: Folder) -> None:
        if self._runs and self._places.inside(folder.path):
            folder.let_in(self._in_a_run)

    def _in_a_run(self, changed_ns: int) -> bool:
        return any(start <= changed_ns <= end for start, end in self._runs)


def _in_order(paths: Iterable[str]) -> tuple[Path, ...]:
    return tuple(Path(path) for path in sorted(set(paths)))


def _names_of(folder: str, paths: Iterable[str]) -> frozenset[str]:
    return frozenset(os.path.basename(path) for path in paths if os.path.dirname(path) == folder)


def _remove_empty(path: str) -> None:
    """Remove a folder that a script made for what was taken away from it."""
    parent, name = os.path.split(path)
    with suppress(OSError), opened(parent) as fd:
        os.rmdir(name, dir_fd=fd)
