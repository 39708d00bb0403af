"""Bash: where it is, and how a script reaches it."""

import os
from collections.abc import Mapping
from pathlib import PurePath

from nacre.model.launch import Launch

__all__ = ("bash_launch", "find_bash")

_USUAL = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash")
# MAX_ARG_STRLEN: one argument may take 32 pages, its final NUL included.
_ARGUMENT_BYTES = 32 * os.sysconf("SC_PAGE_SIZE") - 1
# A script too long for an argument is read from descriptor 0, which then becomes
# /dev/null as for any other script. The line numbers stay those of the script.
_READ_FROM_STDIN = 'eval "exec </dev/null; $(</dev/stdin)"'


def find_bash() -> str | None:
    """The absolute path of bash; the usual places before the host's PATH."""
    for path in _USUAL:
        if os.access(path, os.X_OK):
            return path
    import shutil

    found = shutil.which("bash")
    return found if found and os.path.isabs(found) else None


def bash_launch(bash: str, script: str, cwd: PurePath, environ: Mapping[str, str]) -> Launch:
    """The launch of `bash -c SCRIPT`, whatever the script's length."""
    encoded = script.encode("utf-8", "surrogateescape")
    fits = len(encoded) < _ARGUMENT_BYTES
    return Launch(
        executable=bash,
        argv=("bash", "-c", script if fits else _READ_FROM_STDIN),
        cwd=cwd,
        environ=environ,
        stdin=None if fits else encoded,
    )
