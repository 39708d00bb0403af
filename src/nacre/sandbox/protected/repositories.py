"""What belongs to a repository: where its git directory is, and where its hooks are.

Read from the files alone: git itself would run what a repository's configuration
names.
"""

import os
import stat

from nacre.model.value import dataclass
from nacre.sandbox.protected.disk import capture, opened, resolved
from nacre.sandbox.protected.gitconfig import UnreadableError, parse

__all__ = (
    "GitDirectory",
    "common_folder",
    "content",
    "git_directory",
    "git_folder",
    "pointed",
)

_PREFIX = b"gitdir:"
_MOST_INCLUDES = 10  # as many as git follows


@dataclass(frozen=True, slots=True, kw_only=True)
class GitDirectory:
    """A git directory, by its resolved path, and what it leads to.

    `common` is the git directory it shares, `hooks` are folders of hooks elsewhere,
    `configs` its configuration and whatever that includes.
    """

    path: str
    common: str | None
    hooks: tuple[str, ...]
    configs: tuple[str, ...]


def content(path: str) -> bytes | None:
    """What a small regular file with a resolved path holds, None if it is none."""
    folder, name = os.path.split(path)
    try:
        with opened(folder) as fd:
            node = capture(fd, name, deep=False)
    except (OSError, ValueError):
        return None
    return node.data if node is not None and stat.S_ISREG(node.mode) else None


def pointed(folder: str, data: bytes | None, prefix: bytes = b"") -> str | None:
    """The path in a pointer file of a folder, not resolved; None if there is none."""
    if data is None or not data.startswith(prefix):
        return None
    text = data[len(prefix) :].strip(b"\r\n") if not prefix else data[len(prefix) :].strip()
    if not text or b"\0" in text:
        return None
    return os.path.normpath(os.path.join(folder, os.fsdecode(text)))


def git_folder(path: str) -> str | None:
    """The git directory that a `.git` stands for, resolved; None if it is none."""
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(mode):
        return path
    target: str | None = None
    if stat.S_ISREG(mode):
        target = pointed(os.path.dirname(path), content(path), _PREFIX)
    elif stat.S_ISLNK(mode):
        target = path
    if target is None:
        return None
    real = resolved(target)
    return real if os.path.isdir(real) else None


def common_folder(path: str) -> str | None:
    """The git directory that a linked worktree's own one shares, resolved."""
    target = pointed(path, content(f"{path}/commondir"))
    return None if target is None else resolved(target)


def git_directory(path: str, worktree: str | None) -> GitDirectory:
    """What a git directory leads to; `worktree` is the folder whose `.git` it is."""
    hooks = [f"{path}/hooks"] if os.path.islink(f"{path}/hooks") else []
    configs: dict[str, None] = {}
    for name in ("config", "config.worktree"):
        for value in _read_config(f"{path}/{name}", configs, 0):
            place = os.path.join(worktree or path, _expanded(value)).rstrip("/")
            hooks.append(place)
            if os.path.basename(place) == "_":
                # A folder of wrappers, each of which runs its namesake one level up.
                hooks.append(os.path.dirname(place))
    return GitDirectory(
        path=path,
        common=common_folder(path),
        hooks=tuple(resolved(place) for place in hooks),
        configs=tuple(configs),
    )


def _read_config(path: str, configs: dict[str, None], depth: int) -> list[str]:
    """The hooks folders that a configuration names; it and what it includes are noted."""
    real = resolved(path) if depth or os.path.islink(path) else path
    if real in configs or depth > _MOST_INCLUDES or len(configs) > _MOST_INCLUDES:
        return []
    configs[real] = None
    data = content(real)
    lower = (data or b"").lower()
    if data is None or not (b"hookspath" in lower or b"include" in lower):
        return []
    try:
        entries = parse(data).entries
    except UnreadableError:
        return []
    found: list[str] = []
    for entry in entries:
        value = os.fsdecode((entry.value or "").encode("latin-1"))
        if entry.name == ("core", None, "hookspath") and value:
            found.append(value)
        elif entry.section in {"include", "includeif"} and entry.key == "path" and value:
            place = os.path.join(os.path.dirname(real), _expanded(value))
            found += _read_config(place, configs, depth + 1)
    return found


def _expanded(path: str) -> str:
    """A path with the home directory put in; that of another user would need asking."""
    return os.path.expanduser(path) if path.startswith("~/") else path
