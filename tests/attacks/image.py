"""An image of the host's own Python and programs: what attempts need inside a container."""

import io
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from archives import add

__all__ = ("archive",)

_PYTHON = Path("/usr/bin/python3")
_BUSYBOX = Path("/bin/busybox")
# Real ones, where the host has them: busybox, which is all others, cares what it is called.
_PROGRAMS = (
    "awk", "bash", "bwrap", "cat", "chattr", "chmod", "chown", "chroot", "chrt", "cp", "cut",
    "dirname", "env", "find", "flock", "git", "grep", "ionice", "ipcmk", "ipcs", "ln", "ls",
    "mkdir", "mkfifo", "mknod", "mktemp", "mount", "mv", "nohup", "prlimit", "readlink", "renice",
    "rm", "rmdir", "setsid", "sleep", "ssh-add", "stat", "tail", "taskset", "timeout", "touch",
    "tr", "true", "truncate", "umount", "unshare",
)  # fmt: skip
_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
_MERGED = ("bin", "lib", "lib64", "sbin")
# Without the last git makes repositories that have no place for hooks.
_FOLDERS = (
    "dev", "etc", "proc", "root", "run", "sys", "usr", "var", "usr/share/git-core/templates/hooks",
)  # fmt: skip
_OPEN_FOLDERS = ("tmp", "var/tmp", "workspace")
# Half of the library, which no attempt imports.
_LEFT_OUT = re.compile(
    r"(?:^|/)(?:[a-z]+-packages|config-[^/]*|distutils|ensurepip|idlelib|lib2to3|pydoc_data|test"
    r"|tests|tkinter|turtledemo|unittest)/"
)
_LIBRARY = re.compile(r"(/\S+) \(0x")
_USERS = b"root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/workspace:/bin/sh\n"
_GROUPS = b"root:x:0:\nagent:x:1000:\n"


@cache
def archive() -> bytes:
    """A root folder, as an archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name in (*_FOLDERS, *(f"usr/{name}" for name in _MERGED)):
            add(tar, name, tarfile.DIRTYPE, 0o755)
        for name in _OPEN_FOLDERS:
            add(tar, name, tarfile.DIRTYPE, 0o1777)
        for name in _MERGED:
            add(tar, name, tarfile.SYMTYPE, 0o777, target=f"usr/{name}")
        add(tar, "etc/passwd", tarfile.REGTYPE, 0o644, _USERS)
        add(tar, "etc/group", tarfile.REGTYPE, 0o644, _GROUPS)
        programs = _programs()
        for name, path in programs.items():
            tar.add(path, f"usr/bin/{name}", filter=_of_root)
        for name in sorted(_applets() - set(programs)):
            add(tar, f"usr/bin/{name}", tarfile.SYMTYPE, 0o777, target="busybox")
        modules = _modules()
        for path in (*modules, *_libraries([*programs.values(), *modules])):
            # The loader looks for a library by the name that may be a link.
            tar.add(path.resolve(), _within_usr(path), filter=_of_root)
    return data.getvalue()


def _programs() -> dict[str, Path]:
    """Where the host has each program."""
    found = {name: shutil.which(name, path=_PATH) for name in _PROGRAMS}
    there = {name: Path(path).resolve() for name, path in found.items() if path}
    return {**there, "busybox": _BUSYBOX.resolve(), "python3": _PYTHON.resolve()}


def _applets() -> set[str]:
    return set(_said([str(_BUSYBOX), "--list"]).split())


def _modules() -> list[Path]:
    """Python's own modules, beside what they were compiled to."""
    folder = Path(_said([str(_PYTHON), "-I", "-c", "print(__import__('os').__file__)"])).parent
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _LEFT_OUT.search(str(path.relative_to(folder)))
    ]


def _libraries(paths: Iterable[Path]) -> list[Path]:
    """The shared libraries that programs and modules ask for, and what loads them."""
    binary = [str(path) for path in paths if path.suffix in {"", ".so"} or "/bin/" in str(path)]
    said = subprocess.run(["ldd", *binary], check=False, capture_output=True, text=True)
    return [Path(name) for name in sorted(set(_LIBRARY.findall(said.stdout)))]


def _within_usr(path: Path) -> str:
    name = str(path).lstrip("/")
    return name if name.startswith("usr/") else f"usr/{name}"


def _of_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.mode |= 0o444
    return entry


def _said(words: list[str]) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
