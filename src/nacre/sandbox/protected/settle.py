"""Undoing what a script did to one protected name."""

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from nacre.model.value import dataclass
from nacre.sandbox.protected.disk import OWN, Node, below, capture, opened, same
from nacre.sandbox.protected.guard import SAMPLE, Folder, Rule
from nacre.sandbox.protected.merge import Merged, merge_config, merge_modules
from nacre.sandbox.protected.repositories import git_folder, pointed
from nacre.sandbox.protected.restore import Restorer, Reverted, put, set_mode

__all__ = ("Settler",)

_MOST_SAID = 64
_MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    old: Node | None
    new: Node | None
    but: str = ""

    @property
    def what(self) -> str:
        if self.old is None:
            return "created"
        if self.new is None:
            return "removed"
        return "changed" if self.old.kind == self.new.kind else "replaced"


class Settler:
    """Compares names with what they were, and puts back what may not have changed.

    `inside` says of a path whether scripts may write there; `since` of a time
    whether a script was running.
    """

    def __init__(
        self, restorer: Restorer, inside: Callable[[str], bool], since: Callable[[int], bool]
    ) -> None:
        self._restorer = restorer
        self._inside = inside
        self._since = since

    def settle(self, folder: Folder, name: str) -> list[Reverted]:
        """Undo what happened to one name; what cannot be undone is said as well."""
        old = folder.nodes.get(name)
        try:
            if folder.lasting and old is not None and not os.path.isdir(folder.path):
                _remake(folder.path, folder.stamp[5] if folder.stamp else 0)
            with opened(folder.path) as fd:
                new = folder.look(fd, name)
                if folder.rules[name] is Rule.GIT and (found := _moved(fd, name, old, new)):
                    return self._bring_back(folder, fd, name, found)
                if same(old, new) and not (new is not None and new.partial):
                    return []
                return self._judge(folder, fd, name, new)
        except (FileNotFoundError, NotADirectoryError):
            # The folder is gone, or a link stands in its path: what the link leads to
            # is protected where it really is.
            return []
        except (OSError, ValueError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or str(error)
            what = f"changed, and could not be restored: {reason}"
            return [Reverted(path=Path(folder.path, name), what=what)]

    def _judge(self, folder: Folder, fd: int, name: str, new: Node | None) -> list[Reverted]:
        old = folder.nodes.get(name)
        path = Path(folder.path, name)
        rule = folder.rules[name]
        if rule in {Rule.GIT, Rule.GIT_BELOW, Rule.PARENT}:
            if self._may_stand(folder, name, new):
                return []
        elif rule in {Rule.CONFIG, Rule.MODULES}:
            if new is not None and stat.S_ISREG(new.mode) and new.data is not None:
                return self._merge(folder, fd, name, new)
            if new is None and rule is Rule.MODULES:
                return []
        elif rule in {Rule.COMMON, Rule.BACK}:
            if self._may_point(folder, name, new):
                return []
        elif rule is Rule.HOOKS and old is None and new is not None and stat.S_ISDIR(new.mode):
            # An empty folder runs nothing, and git makes one for every repository.
            old = replace(new, children={}, partial=False)
        but = SAMPLE if rule is Rule.HOOKS else ""
        return self._put_back(fd, path, _Change(old=old, new=new, but=but))

    def _bring_back(self, folder: Folder, fd: int, name: str, found: str) -> list[Reverted]:
        """Undo that a repository was renamed; what stands in its place goes."""
        kept: Path | None = None
        if folder.look(fd, name) is not None:
            kept = self._restorer.take_away(fd, name)
        os.rename(found, name, src_dir_fd=fd, dst_dir_fd=fd)
        return [Reverted(path=Path(folder.path, name), what=f"renamed to {found!r}", kept=kept)]

    def _may_stand(self, folder: Folder, name: str, new: Node | None) -> bool:
        """Whether a `.git`, or a folder of protected names, may be what it is now."""
        rule, old = folder.rules[name], folder.nodes.get(name)
        if new is None:
            return rule is not Rule.GIT or old is None or stat.S_ISDIR(old.mode)
        if stat.S_ISDIR(new.mode):
            return old is None or stat.S_ISDIR(old.mode)
        if rule is Rule.PARENT or not stat.S_ISREG(new.mode):
            return False
        if old is not None and (rule is Rule.GIT or not stat.S_ISDIR(old.mode)):
            return False
        target = git_folder(f"{folder.path}/{name}")
        return target is not None and self._inside(target)

    def _may_point(self, folder: Folder, name: str, new: Node | None) -> bool:
        """Whether the pointer of a linked worktree may lead where it leads now."""
        if new is None or not stat.S_ISREG(new.mode):
            return False
        target = pointed(folder.path, new.data)
        if target is None:
            return False
        if folder.rules[name] is Rule.BACK:
            return os.path.basename(target) == ".git"
        parent, _ = os.path.split(folder.path)
        return (
            folder.nodes.get(name) is None
            and os.path.basename(parent) == "worktrees"
            and target == os.path.dirname(parent)
        )

    def _merge(self, folder: Folder, fd: int, name: str, new: Node) -> list[Reverted]:
        old = folder.nodes.get(name)
        before = old.data if old is not None and stat.S_ISREG(old.mode) else None
        data = new.data or b""
        merged: Merged
        if folder.rules[name] is Rule.MODULES:
            merged = merge_modules(before, data)
        else:
            merged = merge_config(before, data, lambda to: self._inside_of(folder.path, to))
        if not merged.undone:
            if old is None or old.mode == new.mode:
                return []
            set_mode(fd, name, old.mode)
            return [Reverted(path=Path(folder.path, name), what="mode changed")]
        kept = self._restorer.keep_copy(name, data)
        if merged.data is None:
            os.unlink(name, dir_fd=fd)
        else:
            put(fd, name, replace(old or new, data=merged.data))
        path = Path(folder.path, name)
        return [Reverted(path=path, what=what, kept=kept) for what in merged.undone[:_MOST_SAID]]

    def _inside_of(self, folder: str, relative: str) -> bool:
        path = os.fsdecode(relative.encode("latin-1"))
        return self._inside(os.path.join(folder, path))

    def _put_back(self, fd: int, path: Path, change: _Change) -> list[Reverted]:
        """Restore a name of an opened folder; folders that stayed folders name by name."""
        old, new = change.old, change.new
        if old is not None and new is not None and old.kind == new.kind == stat.S_IFDIR:
            return self._put_back_below(fd, path, old, new, change.but)
        kept: Path | None = None
        what = change.what
        if old is not None and old.data is None and stat.S_ISREG(old.mode):
            what = f"{change.what}, and could not be restored: it was too large to be remembered"
            return [Reverted(path=path, what=what)]
        try:
            if new is not None:
                kept = self._restorer.take_away(fd, path.name)
            # A repository that is gone is gone: only what was in it could be put back.
            if old is not None and not (path.name == ".git" and stat.S_ISDIR(old.mode)):
                put(fd, path.name, old)
        except OSError as error:
            what += f", and could not be restored: {error.strerror}"
        return [Reverted(path=path, what=what, kept=kept)]

    def _put_back_below(
        self, fd: int, path: Path, old: Node, new: Node, but: str
    ) -> list[Reverted]:
        said: list[Reverted] = []
        if old.mode != new.mode:
            said.append(Reverted(path=path, what="mode changed"))
        # What its owner may not write to can neither be looked at nor put right.
        moded = old.mode != new.mode or old.mode & OWN != OWN
        if moded:
            set_mode(fd, path.name, old.mode | OWN)
        with below(fd, path.name) as inner:
            names = {*old.children, *new.children}
            if new.partial:
                names |= {name for name in os.listdir(inner) if not (but and name.endswith(but))}
            for name in sorted(names):
                before = old.children.get(name)
                after = new.children.get(name)
                if after is None and new.partial:
                    after = capture(inner, name, deep=before is not None)
                if not same(before, after) and self._is_known(before, after, old):
                    said += self._put_back(inner, path / name, _Change(old=before, new=after))
        if len(said) > _MOST_SAID:
            more = Reverted(path=path, what=f"{len(said) - _MOST_SAID} more changes in it")
            said[_MOST_SAID:] = [more]
        if moded:
            set_mode(fd, path.name, old.mode)
        return said

    def _is_known(self, before: Node | None, after: Node | None, folder: Node) -> bool:
        """Whether a name that differs was remembered, or else is younger than the run."""
        if before is not None or not folder.partial:
            return True
        return after is not None and self._since(after.stamp[2])


def _moved(fd: int, name: str, old: Node | None, new: Node | None) -> str | None:
    """What a folder is called now that was under a name of an opened folder."""
    if old is None or not stat.S_ISDIR(old.mode):
        return None
    if new is not None and new.stamp[:2] == old.stamp[:2]:
        return None
    with os.scandir(fd) as entries:
        for entry in islice(entries, _MOST_LISTED):
            if entry.inode() == old.stamp[1] and entry.name != name:
                status = entry.stat(follow_symlinks=False)
                if (status.st_dev, status.st_ino) == old.stamp[:2]:
                    return entry.name
    return None


def _remake(path: str, mode: int) -> None:
    """Make a folder that was there, and the one it was in."""
    parent, name = os.path.split(path)
    try:
        with opened(parent) as fd:
            os.mkdir(name, stat.S_IMODE(mode) or 0o755, dir_fd=fd)
    except FileNotFoundError:
        if parent == path:
            raise
        _remake(parent, mode)
        with opened(parent) as fd:
            os.mkdir(name, stat.S_IMODE(mode) or 0o755, dir_fd=fd)
