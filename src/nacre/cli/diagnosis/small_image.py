"""A root folder with nothing but this host's bash, to try an engine that has no image yet."""

import io
import re
import shutil
import subprocess  # noqa: TID251 (asks the loader what bash needs)
import tarfile
from pathlib import Path

from nacre.errors import SandboxError
from nacre.process.bash import find_bash

__all__ = ("small_image",)

_FOLDERS = ("bin", "dev", "etc", "proc", "sys", "tmp", "workspace")
# Of a line such as "libc.so.6 => /lib/libc.so.6 (0x...)", or of the loader's own.
_LIBRARY = re.compile(r"(?:=> )?(/\S+) \(0x")


def small_image() -> bytes:
    """The folder as an archive, some megabytes.

    Raises:
        SandboxError: If it cannot be found out what bash needs.
    """
    bash = find_bash()
    if bash is None:
        raise SandboxError("it was not tried: there is no bash here; give --image IMAGE")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in _FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            tar.addfile(folder)
        _add(tar, Path(bash), "bin/bash")
        for library in _libraries(bash):
            _add(tar, Path(library), library.lstrip("/"))
    return archive.getvalue()


def _libraries(bash: str) -> list[str]:
    ldd = shutil.which("ldd")
    if ldd is None:
        raise SandboxError("it was not tried: there is no ldd here; give --image IMAGE")
    said = subprocess.run([ldd, bash], check=False, capture_output=True, text=True).stdout
    return _LIBRARY.findall(said)


def _add(tar: tarfile.TarFile, file: Path, name: str) -> None:
    data = file.read_bytes()
    entry = tarfile.TarInfo(name)
    entry.mode, entry.size = 0o755, len(data)
    tar.addfile(entry, io.BytesIO(data))
