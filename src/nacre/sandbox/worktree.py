"""The git directory of a workspace that keeps it elsewhere: a linked worktree, a submodule.

Whoever commits there writes to it, so it is writable with the workspace. A pointer alone is
not believed, because anyone can write one: the git directory must point back.
"""

import os
from pathlib import Path

from nacre.sandbox.protected.disk import resolved
from nacre.sandbox.protected.gitconfig import UnreadableError, parse
from nacre.sandbox.protected.repositories import common_folder, content, git_folder, pointed

__all__ = ("git_folders",)


def git_folders(workspace: Path) -> tuple[Path, ...]:
    """The folders outside a workspace that git must write for it."""
    dot_git = os.path.join(resolved(str(workspace)), ".git")
    if os.path.isdir(dot_git):
        return ()
    own = git_folder(dot_git)
    if own is None:
        return ()
    common = common_folder(own)
    if common is None:
        return (Path(own),) if _is_submodule(own, os.path.dirname(dot_git)) else ()
    back = pointed(own, content(f"{own}/gitdir"))
    linked = os.path.dirname(own) == os.path.join(common, "worktrees")
    if linked and back is not None and resolved(back) == dot_git:
        return (Path(common),)
    return ()


def _is_submodule(own: str, workspace: str) -> bool:
    """Whether a git directory says that its worktree is the workspace."""
    try:
        entries = parse(content(f"{own}/config") or b"").entries
    except UnreadableError:
        return False
    for entry in entries:
        if entry.name == ("core", None, "worktree") and entry.value:
            there = os.path.join(own, os.fsdecode(entry.value.encode("latin-1")))
            return resolved(there) == workspace
    return False
