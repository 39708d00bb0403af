"""The words that make a room with bubblewrap.

A room sees the host's files read-only, with what is denied hidden, the writable folders
bound writable over them, protected paths bound read-only over those, and its own /proc,
/dev, /run and /tmp. Later mounts lie over earlier ones, so the order is the meaning.
"""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from nacre.model.confinement import Confinement, Network
from nacre.model.launch import Room

if TYPE_CHECKING:
    from nacre.sandbox.protected.paths import Mounts

__all__ = ("find_bwrap", "own_python", "room")

_USUAL = (
    "/usr/bin/bwrap",
    "/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
)
_NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--disable-userns", "--new-session", "--die-with-parent", "--cap-drop", "ALL",
)  # fmt: skip
_TMP = (PurePath("/tmp"), PurePath("/var/tmp"))  # noqa: S108 (the room has its own)
_HIDDEN = (*_TMP, PurePath("/run"))
_MEMORY_FILES = str(1 << 30)
# Of /run, what programs need to be found, and names to be looked up.
_KEPT_OF_RUN = ("/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers")
_RESOLVERS = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")


def find_bwrap(untrusted: Iterable[PurePath]) -> str | None:
    """The absolute path of bubblewrap: the usual places, then PATH, never an untrusted folder.

    AppArmor knows it by its usual path.
    """
    roots = tuple(untrusted)
    folders = [entry for entry in os.environ.get("PATH", "").split(":") if os.path.isabs(entry)]
    for path in (*_USUAL, *(os.path.join(folder, "bwrap") for folder in folders)):
        real = PurePath(os.path.realpath(path))
        if (
            os.path.isfile(path)
            and os.access(path, os.X_OK)
            and not any(real.is_relative_to(root) for root in roots)
        ):
            return path
    return None


def room(
    bwrap: str,
    confinement: Confinement,
    *,
    tmp: Path | None,
    mounts: "Mounts | None" = None,
    expected: tuple[str, ...] = (),
) -> Room:
    """The room for a confinement; `tmp` is what it has for /tmp.

    What is pinned is bound onto itself writable: a mount point cannot be renamed or removed.
    """
    words = [bwrap, *_NAMESPACES]
    if confinement.network is Network.DENY:
        words.append("--unshare-net")
    words += _system(confinement, tmp)
    shown = {*own_python(), *confinement.visible}
    binds = sorted(
        [
            *((path, "--bind") for path in confinement.writable or ()),
            *((path, "--ro-bind") for path in shown - {*_HIDDEN} if _is_hidden(path, tmp)),
            *((path, "--bind") for path in (mounts.pinned if mounts else ())),
            *((path, "--ro-bind") for path in (mounts.read_only if mounts else ())),
            *((path, "--ro-bind") for path in confinement.protected if os.path.lexists(path)),
        ],
        key=lambda each: len(each[0].parts),
    )
    for path, how in binds:
        words += [how, str(path), str(path)]
    for path in confinement.denied:
        words += _hidden(path)
    return Room(argv=(*words, "--chdir", "/", "--"), expected=expected)


def _system(confinement: Confinement, tmp: Path | None) -> Iterator[str]:
    if confinement.writable is None:
        yield from ("--dev-bind", "/", "/", "--proc", "/proc")
        return
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    # Memory in all but name, so it has an end.
    for name in ("/run", "/dev/shm"):  # noqa: S108 (the room's own)
        yield from ("--size", _MEMORY_FILES, "--tmpfs", name)
    kept = (*_KEPT_OF_RUN, *(_RESOLVERS if confinement.network is Network.INHERIT else ()))
    for name in kept:
        yield from ("--ro-bind-try", name, name)
    for path in _TMP if tmp else ():
        yield from ("--bind", str(tmp), str(path))


def _hidden(path: PurePath) -> Iterator[str]:
    """Words that make a path unreadable: mode 0 says so louder than an empty folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return  # what we cannot reach, the room cannot either
    if stat.S_ISDIR(mode):
        yield from ("--perms", "0000", "--tmpfs", str(path))
    else:
        # A device on a mount without devices cannot be opened: EACCES.
        yield from ("--ro-bind", "/dev/null", str(path))


def own_python() -> tuple[PurePath, ...]:
    """The folders without which the warden in a room would not start."""
    ours = Path(__file__).resolve().parents[2]
    found = {Path(sys.prefix), Path(sys.base_prefix), Path(os.path.realpath(sys.executable)).parent}
    # A Python that was started without its site does not know the environment it is in.
    around = Path(sys.executable).absolute().parents[1]
    if (around / "pyvenv.cfg").exists():
        found.add(around)
    return tuple(sorted({ours, *found}))


def _is_hidden(path: PurePath, tmp: Path | None) -> bool:
    return any(path.is_relative_to(each) for each in (_HIDDEN if tmp else _HIDDEN[-1:]))
