"""Where the protected names of some writable folders are."""

import os
from collections.abc import Callable, Iterable, Sequence

from nacre.sandbox.protected.disk import resolved
from nacre.sandbox.protected.guard import Folder, Rule
from nacre.sandbox.protected.names import PROTECTED_NAMES
from nacre.sandbox.protected.repositories import git_directory, git_folder

__all__ = ("Places",)

_OF_GIT = {
    "commondir": Rule.COMMON,
    "config": Rule.CONFIG,
    "config.worktree": Rule.CONFIG,
    "gitdir": Rule.BACK,
    "hooks": Rule.HOOKS,
}
_OF_WORKTREE = {".git": Rule.GIT_BELOW, ".gitmodules": Rule.MODULES}
_MOST_GIT = 4096


class Places:
    """The folders with protected names in them, by their resolved paths.

    `admit` is told of names that were found later than the rest: it decides what of
    them was there before, and leaves in `Folder.nodes` what can be trusted.
    """

    def __init__(
        self,
        roots: Sequence[str],
        extra: Iterable[str],
        admit: Callable[[Folder, list[str]], None],
    ) -> None:
        self.roots = tuple(roots)
        self.extra: set[str] = set()
        self.git: dict[str, None] = {}
        self.main: set[str] = set()
        self.main_hooks: set[str] = set()
        self._folders: dict[str, Folder] = {}
        self._order: list[Folder] | None = None
        self._admit = admit
        for root in self.roots:
            self._add_root(root)
        for path in extra:
            self._add_extra(path)

    @property
    def folders(self) -> list[Folder]:
        """All of them, parents before what is in them."""
        if self._order is None:
            self._order = [self._folders[path] for path in sorted(self._folders)]
        return self._order

    @property
    def full(self) -> bool:
        """Whether there are more repositories than are looked after."""
        return len(self.git) >= _MOST_GIT

    def get(self, path: str) -> Folder | None:
        """The folder with this path, if names in it are protected."""
        return self._folders.get(path)

    def inside(self, path: str) -> bool:
        """Whether a path really lies in a writable folder."""
        real = resolved(path)
        return any(real == root or real.startswith(f"{root.rstrip('/')}/") for root in self.roots)

    def is_main(self, path: str) -> bool:
        """Whether a git directory is that of a writable folder, or of its submodule."""
        mains = {*self.main, *self.roots} & self.git.keys()
        return path in mains or any(path.startswith(f"{main}/modules/") for main in mains)

    def forget(self, folder: Folder) -> None:
        """Leave a folder that is gone; it is found again if it comes back."""
        if folder.lasting or folder.path in self.roots:
            return
        del self._folders[folder.path]
        self.git.pop(folder.path, None)
        self._order = None

    def found(self, paths: Iterable[str]) -> None:
        """Protect repositories: each a `.git`, or a git directory of another name."""
        for path in paths:
            if self.full:
                return
            folder, name = os.path.split(path)
            if name != ".git":
                self._add_git(path, None)
                continue
            if folder not in self.roots:
                place = self._folder(folder)
                names = [name for name, rule in _OF_WORKTREE.items() if place.protect(name, rule)]
                if names:
                    self._admit(place, names)
            self._add_git_of(folder)

    def follow(self, folder: Folder, names: Iterable[str]) -> None:
        """Protect what changed names lead to now: a `.git`, a configuration, a link."""
        for name in names:
            rule = folder.rules[name]
            if rule in {Rule.GIT, Rule.GIT_BELOW}:
                self._add_git_of(folder.path)
            elif rule in {Rule.CONFIG, Rule.HOOKS} and folder.path in self.git:
                self._lead(folder, None)

    def _add_root(self, root: str) -> None:
        top = self._folder(root)
        top.protect(".git", Rule.GIT)
        top.protect(".gitmodules", Rule.MODULES)
        parents: dict[str, Folder | None] = {"": top}
        for name in PROTECTED_NAMES:
            parent, _, rest = name.rstrip("/").rpartition("/")
            if parent not in parents:
                parents[parent] = self._add_parent(top, parent)
            if (folder := parents[parent]) is not None:
                self._add_whole(folder, rest)

    def _add_parent(self, top: Folder, name: str) -> Folder | None:
        """Protect a folder of protected names; None if it is outside."""
        path = f"{top.path}/{name}"
        if not os.path.islink(path):
            top.protect(name, Rule.PARENT)
            return self._folder(path, lasting=True)
        top.protect(name, Rule.WHOLE)
        real = resolved(path)
        return self._folder(real, lasting=True) if self.inside(real) else None

    def _add_whole(self, folder: Folder, name: str) -> None:
        """Protect a name, and what it leads to if it is a link."""
        folder.protect(name, Rule.WHOLE)
        path = f"{folder.path}/{name}"
        if os.path.islink(path):
            self._add_target(path, Rule.WHOLE)

    def _add_target(self, path: str, rule: Rule) -> None:
        real = resolved(path)
        if real in self.roots or not self.inside(real):
            return
        parent, name = os.path.split(real)
        folder = self._folder(parent, lasting=True)
        if folder.protect(name, rule):
            self._admit(folder, [name])

    def _add_extra(self, path: str) -> None:
        parent, name = os.path.split(path)
        if name:
            self.extra.add(path)
            folder = self._folder(parent, lasting=True)
            folder.rules.pop(name, None)
            folder.protect(name, Rule.WHOLE)

    def _folder(self, path: str, *, lasting: bool = False) -> Folder:
        folder = self._folders.get(path)
        if folder is None:
            folder = self._folders[path] = Folder(path, lasting=lasting)
            self._order = None
        return folder

    def _add_git_of(self, worktree: str) -> None:
        real = git_folder(f"{worktree}/.git")
        if real is None:
            return
        if worktree in self.roots:
            self.main.add(real)
        elif not self.inside(real):
            return  # whoever wrote this pointer has no say about places outside
        self._add_git(real, worktree)

    def _add_git(self, path: str, worktree: str | None) -> None:
        """Protect a git directory, and what it leads to."""
        if path in self.git or self.full:
            return
        self.git[path] = None
        folder = self._folder(path)
        names = [name for name, rule in _OF_GIT.items() if folder.protect(name, rule)]
        self._admit(folder, names)
        self._lead(folder, worktree)

    def _lead(self, folder: Folder, worktree: str | None) -> None:
        if worktree is None and os.path.basename(folder.path) == ".git":
            worktree = os.path.dirname(folder.path)
        found = git_directory(folder.path, worktree)
        # Only what was there before says where else to look: a script could name any
        # folder of the workspace, and have what it holds taken for hooks.
        if "config" in folder.nodes or "hooks" in folder.nodes:
            for place in found.hooks:
                self._add_target(place, Rule.HOOKS)
                if self.is_main(folder.path):
                    self.main_hooks.add(place)
            for place in found.configs:
                if os.path.dirname(place) != folder.path:
                    self._add_target(place, Rule.CONFIG)
        if found.common is None or "commondir" not in folder.nodes:
            return
        if folder.path in self.main:
            self.main.add(found.common)
        if self.inside(found.common) or folder.path in self.main:
            self._add_git(found.common, None)
