"""A root of its own, in namespaces of its own, that nobody can write to."""

import ctypes
import os
import platform
import signal
from pathlib import Path

from oracle.fakes import FAKES, LOG, REAL, RECORDED, fake, recorded

__all__ = ("INSIDE", "TOP", "build", "enter", "fresh")

INSIDE = 1000
"""The only user there is."""

TOP = frozenset(
    ("bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "oracle", "proc", "sbin", "tmp", "usr")
)
"""All that can be seen there."""

_NOBODY = 65534

# Users, mounts, processes, network, names of semaphores, name of the host.
_NEW = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC = 1, 2, 4, 8
_BIND, _REC, _PRIVATE = 4096, 16384, 1 << 18
_DETACH = 2
_MOUNT_SETATTR = 442
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_RECURSIVE, _AT_FDCWD = 0x8000, -100
_SET_DUMPABLE, _SET_PDEATHSIG, _SET_NO_NEW_PRIVS = 4, 1, 38

_libc = ctypes.CDLL(None, use_errno=True)


def enter() -> None:
    """Become nobody, then the only user and the first process of a world of its own."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        # Who changes users must not be traced, nor may write its own map.
        _call("prctl", _libc.prctl(_SET_DUMPABLE, 1, 0, 0, 0))
    user, group = os.getuid(), os.getgid()
    _call("unshare", _libc.unshare(_NEW))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{INSIDE} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{INSIDE} {group} 1")
    if child := os.fork():
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
    _call("prctl", _libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    _call("prctl", _libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def build(root: Path) -> None:
    """Make a root of the host's programs and the fakes, close it, and leave the host's."""
    _mount("none", "/", None, _REC | _PRIVATE)
    _mount("tmpfs", str(root), "tmpfs", _NOSUID | _NODEV, "size=16m")
    for name in ("usr", "etc"):
        _bind(f"/{name}", root / name)
    _bind("/usr", root / REAL[1:] / "usr")
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        folder = Path("/", name)
        if folder.is_symlink():
            (root / name).symlink_to(folder.readlink())
        elif folder.is_dir():
            _bind(str(folder), root / name)
            _bind(str(folder), root / REAL[1:] / name)
    _place_programs(root)
    _place_devices(root / "dev")
    (root / "proc").mkdir()
    _mount("proc", str(root / "proc"), "proc", _NOSUID | _NODEV | _NOEXEC)
    for name in ("tmp", "oracle/old"):
        (root / name).mkdir()
    log = root / LOG[1:]
    log.touch()
    # Something is mounted on it, so that it can be written and not be removed.
    _mount(str(log), str(log), None, _BIND)
    _protect(root, _RDONLY | _NOSUID, recursively=True)
    _protect(log, 0)
    os.chdir(root)
    _call("pivot_root", _libc.syscall(_PIVOT_ROOT[platform.machine()], b".", b"oracle/old"))
    _call("umount", _libc.umount2(b"/oracle/old", _DETACH))
    os.chdir("/")


def fresh() -> None:
    """Empty what can be written, whoever is in it."""
    _libc.umount2(b"/tmp", _DETACH)
    _mount("tmpfs", "/tmp", "tmpfs", _NOSUID | _NODEV, "size=16m")
    for folder in ("/tmp/home", "/tmp/work", "/tmp/work/folder"):
        os.mkdir(folder)
    for file in ("/tmp/work/file", "/tmp/work/notes.txt"):
        os.close(os.open(file, os.O_CREAT | os.O_WRONLY))
    os.truncate(LOG, 0)


def _bind(source: str, target: Path) -> None:
    target.mkdir(parents=True)
    _mount(source, str(target), None, _BIND | _REC)


def _protect(path: Path, flags: int, *, recursively: bool = False) -> None:
    """Say of a mount, or of all below it, whether anybody can write to it."""
    wanted = (ctypes.c_uint64 * 4)(flags, _RDONLY & ~flags, 0, 0)
    reach = _RECURSIVE if recursively else 0
    place = str(path).encode()
    _call(
        "mount_setattr",
        _libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, place, reach, ctypes.byref(wanted), 32),
    )


def _place_programs(root: Path) -> None:
    """Cover every folder of programs with links to the host's, and fakes among them."""
    folders = [
        name
        for name in ("bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "usr/local/sbin")
        if Path("/", name).is_dir() and not Path("/", name).is_symlink()
    ]
    shell = next(
        f"{REAL}{path}"
        for path in ("/usr/bin/dash", "/bin/dash", "/usr/bin/bash", "/bin/bash")
        if Path(path).exists()
    )
    for name in folders:
        _mount("tmpfs", str(root / name), "tmpfs", _NOSUID | _NODEV, "size=4m")
        if "local" in name:
            continue
        for program in os.listdir(f"/{name}"):
            if program in FAKES:
                continue
            if _is_script(f"/{name}/{program}"):
                _program(root / name / program, f"#!{shell}\n")
                continue
            path, target = root / name / program, f"{REAL}/{name}/{program}"
            if program in RECORDED:
                _program(path, recorded(target, shell))
            else:
                path.symlink_to(target)
        for program in FAKES:
            _program(root / name / program, fake(program, shell))


def _is_script(path: str) -> bool:
    """Whether a program is a text that would call other programs by itself."""
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _place_devices(folder: Path) -> None:
    folder.mkdir()
    for name in ("null", "zero", "full", "random", "urandom"):
        (folder / name).touch()
        _mount(f"/dev/{name}", str(folder / name), None, _BIND)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        (folder / name).symlink_to(f"/proc/self/fd/{number}")
    (folder / "fd").symlink_to("/proc/self/fd")


def _call(name: str, result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount, or say what could not be mounted."""
    _call(
        f"mount {target}",
        _libc.mount(
            source.encode(),
            target.encode(),
            kind.encode() if kind else None,
            ctypes.c_ulong(flags),
            data.encode() or None,
        ),
    )
