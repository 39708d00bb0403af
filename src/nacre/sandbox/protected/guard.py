"""One folder with names in it that are protected, and what they were."""

import os
import stat
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from enum import Enum, auto

from nacre.sandbox.protected.disk import (
    OWN,
    Node,
    Stamp,
    capture,
    is_young,
    let_in,
    lstat,
    opened,
    stamp_of,
)

__all__ = ("SAMPLE", "Folder", "Rule")

SAMPLE = ".sample"
_MANY = 16
_SMALL_BYTES = 16384


class Rule(Enum):
    """What may become of a name.

    `WHOLE` stays as it is, a folder with all that is in it. `HOOKS` is the same,
    but for samples. `CONFIG` and `MODULES` are git's files, key by key. `GIT` is the
    `.git` of a writable folder and `GIT_BELOW` one further down, which may go away.
    `COMMON` and `BACK` are the two pointers of a linked worktree. `PARENT` holds
    protected names and must be a real folder.
    """

    WHOLE = auto()
    HOOKS = auto()
    CONFIG = auto()
    MODULES = auto()
    GIT = auto()
    GIT_BELOW = auto()
    COMMON = auto()
    BACK = auto()
    PARENT = auto()


_SHALLOW = frozenset({Rule.GIT, Rule.GIT_BELOW, Rule.PARENT})


class Folder:
    """The protected names of one folder, given by its resolved path.

    A `lasting` one is made again if a script removed it with something in it.
    """

    def __init__(self, path: str, *, lasting: bool = False) -> None:
        self.path = path
        self.lasting = lasting
        self.rules: dict[str, Rule] = {}
        self.nodes: dict[str, Node] = {}
        self.stamp: Stamp | None = None
        self._young = True
        self._status: os.stat_result | None = None
        self._signs: list[tuple[str, int, int]] | None = None

    @property
    def identity(self) -> tuple[int, int] | None:
        """Which folder it was, None if there was none."""
        return None if self.stamp is None else self.stamp[:2]

    def is_itself(self) -> bool:
        """Whether the same folder is there now."""
        status = lstat(self.path)
        return status is not None and (status.st_dev, status.st_ino) == self.identity

    def protect(self, name: str, rule: Rule) -> bool:
        """Add a name; whether it is new."""
        if name in self.rules:
            return False
        self.rules[name] = rule
        self._signs = None
        return True

    def is_quiet(self) -> bool:
        """Whether surely nothing changed, by inodes and times of change alone."""
        if self._signs is None:
            return False
        for path, inode, changed in self._signs:
            try:
                status = os.lstat(path)
            except (FileNotFoundError, NotADirectoryError):
                if inode:
                    return False
            except (OSError, ValueError):
                return False  # a folder above may be locked
            else:
                if status.st_ino != inode or status.st_ctime_ns != (changed or status.st_ctime_ns):
                    return False
        return True

    def let_in(self, since: Callable[[int], bool]) -> None:
        """See that what a script locked at a time that `since` names can be looked at."""
        try:
            locked = os.lstat(self.path).st_mode & OWN != OWN
        except PermissionError:
            locked = True
        except (OSError, ValueError):
            locked = False
        if locked:
            let_in(self.path, since)

    def changed(self, skip: Collection[str] = ()) -> list[str]:
        """The names that may not be what they were; one look at each that was there."""
        status = self._status = lstat(self.path)
        if status is None or not stat.S_ISDIR(status.st_mode):
            return [name for name in self.nodes if name not in skip]
        names = [
            name
            for name, node in self.nodes.items()
            if name not in skip and not _intact(f"{self.path}/{name}", node, self.rules[name])
        ]
        if self._young or stamp_of(status) != self.stamp:
            names += self._appeared(status, skip)
        return names

    def _appeared(self, status: os.stat_result, skip: Collection[str]) -> list[str]:
        absent = [name for name in self.rules if name not in self.nodes and name not in skip]
        if len(absent) > _MANY and status.st_size <= _SMALL_BYTES:
            # A listing of a small folder is cheaper than a look at many names.
            with suppress(OSError):
                listed = frozenset(os.listdir(self.path))
                return [name for name in absent if name in listed]
        return [name for name in absent if lstat(f"{self.path}/{name}") is not None]

    def remember(self, names: Iterable[str]) -> None:
        """Take what is under some names for what they are to stay.

        The others are as `changed` found them.
        """
        status = self._status
        if status is None or not stat.S_ISDIR(status.st_mode):
            self.stamp = None
            self.nodes.clear()
        else:
            self.stamp, self._young = stamp_of(status), is_young(status.st_ctime_ns)
            names = list(names)
            if names:
                self._capture(names)
        self._signs = self._all_signs()

    def _capture(self, names: list[str]) -> None:
        with suppress(OSError), opened(self.path) as fd:
            for name in names:
                node = self.look(fd, name)
                if node is None:
                    self.nodes.pop(name, None)
                else:
                    self.nodes[name] = node

    def _all_signs(self) -> list[tuple[str, int, int]] | None:
        """The inode and time of change of everything here; None if one is too young."""
        if self.stamp is None:
            # A link or a file in its place would have an inode.
            return [(self.path, 0, 0)] if self._status is None else None
        if self._young:
            return None
        signs = [(self.path, self.stamp[1], self.stamp[2])]
        for name, node in self.nodes.items():
            if self.rules[name] in _SHALLOW and stat.S_ISDIR(node.mode):
                # What is in it may change; that it is the same folder is all that counts.
                signs.append((f"{self.path}/{name}", node.stamp[1], 0))
            elif not _add_signs(signs, f"{self.path}/{name}", node):
                return None
        return signs

    def look(self, fd: int, name: str) -> Node | None:
        """What is under a name now, as far as its rule is about it."""
        rule = self.rules[name]
        return capture(
            fd, name, deep=rule not in _SHALLOW, but=SAMPLE if rule is Rule.HOOKS else ""
        )

    def distrust(self, names: Iterable[str], since: Callable[[int], bool]) -> None:
        """Forget what changed at a time that `since` names: a script may have made it."""
        self._signs = None
        for name in [name for name in names if name in self.nodes]:
            node = self.nodes[name]
            kept = _trusted(node, since)
            if kept is None or (kept is not node and self.rules[name] is not Rule.HOOKS):
                del self.nodes[name]
            else:
                self.nodes[name] = kept


def _trusted(node: Node, since: Callable[[int], bool]) -> Node | None:
    if not stat.S_ISDIR(node.mode):
        return None if since(node.stamp[2]) else node
    children = {name: _trusted(child, since) for name, child in node.children.items()}
    if all(kept is node.children[name] for name, kept in children.items()):
        return node
    return Node(
        stamp=node.stamp,
        mode=node.mode,
        owner=node.owner,
        young=True,
        children={name: kept for name, kept in children.items() if kept is not None},
        partial=node.partial,
    )


def _add_signs(signs: list[tuple[str, int, int]], path: str, node: Node) -> bool:
    signs.append((path, node.stamp[1], node.stamp[2]))
    return not node.young and all(
        _add_signs(signs, f"{path}/{name}", child) for name, child in node.children.items()
    )


def _intact(path: str, node: Node, rule: Rule) -> bool:
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return False
    if rule in _SHALLOW and stat.S_ISDIR(node.mode):
        return stat.S_ISDIR(status.st_mode) and status.st_ino == node.stamp[1]
    if node.young or stamp_of(status) != node.stamp:
        return False
    return all(_intact(f"{path}/{name}", child, rule) for name, child in node.children.items())
