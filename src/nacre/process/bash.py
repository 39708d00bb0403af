"""Bash: where it is, and how a script reaches it."""

import os

__all__ = ("find_bash", "script_words")

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


def script_words(script: str) -> tuple[tuple[str, ...], bytes | None]:
    """The words of `bash -c SCRIPT`, and what it then reads, whatever the script's length."""
    # One character is four bytes at most.
    if len(script) < _ARGUMENT_BYTES // 4:
        return ("bash", "-c", script), None
    encoded = script.encode("utf-8", "surrogateescape")
    if len(encoded) < _ARGUMENT_BYTES:
        return ("bash", "-c", script), None
    return ("bash", "-c", _READ_FROM_STDIN), encoded
