"""Archives of which images are made."""

import io
import tarfile

__all__ = ("add",)


def add(
    tar: tarfile.TarFile, name: str, kind: bytes, mode: int, data: bytes = b"", *, target: str = ""
) -> None:
    """Add an entry of root's to an archive: a folder, a file with its data, a link to a target."""
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname, entry.size = kind, mode, target, len(data)
    tar.addfile(entry, io.BytesIO(data))
