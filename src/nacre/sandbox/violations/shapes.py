"""How programs say that they could not have a file.

Each shape is one way of printing an error with its path. Lines without one of the
kernel's answers in them are no complaints, whatever else they say.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nacre.model.expression import expression
from nacre.sandbox.violations.complaint import Access, Complaint, Fault, Said
from nacre.sandbox.violations.wording import access_of, is_nameless, speaker_of

__all__ = ("complaints",)

_FAULTS = (
    (Fault.EACCES, r"[Pp]ermission denied|EACCES|\[Errno 13\]|os error 13\b"),
    (Fault.EROFS, r"[Rr]ead-only file system|EROFS|\[Errno 30\]|os error 30\b"),
    (Fault.EPERM, r"[Oo]peration not permitted|EPERM|\[Errno 1\]|os error 1\b"),
    (Fault.ENOENT, r"[Nn]o such file or directory|ENOENT|\[Errno 2\]|os error 2\b"),
    (Fault.EXDEV, r"[Ii]nvalid cross-device link|EXDEV|\[Errno 18\]|os error 18\b"),
    (Fault.EBUSY, r"[Dd]evice or resource busy|EBUSY|\[Errno 16\]|os error 16\b"),
)
_FAULT = expression("|".join(f"(?P<{fault.name}>{text})" for fault, text in _FAULTS))

_QUOTED = (
    r"""(?:(?<![a-z])'([^']{1,1500})'|"([^"]{1,1500})"|`([^`']{1,1500})[`']|"""
    "\N{LEFT SINGLE QUOTATION MARK}([^\N{RIGHT SINGLE QUOTATION MARK}]{1,1500})"
    "\N{RIGHT SINGLE QUOTATION MARK})"
)
_ANY_QUOTED = expression(_QUOTED)

# [Errno 13] Permission denied: '/x' -> '/y'
_PYTHON = expression(rf"\[Errno \d+\] [^:']{{3,40}}: {_QUOTED}(?: -> {_QUOTED})?")
# EACCES: permission denied, open '/x' -> '/y'
_NODE = expression(r"\bE[A-Z]{3,6}: [a-z ,-]{3,40}, (\w+) '([^']+)'(?: -> '([^']+)')?")
# (os error 13) at path "/x"
_AT_PATH = expression(rf"(?:\(os error \d+\)) at path {_QUOTED}")
# system library:fopen:Permission denied:../bss_file.c:67:calling fopen(/x, rb)
_OPENSSL = expression(r":calling \w+\((/[^,)]+)")
# Permission denied @ rb_sysopen - /x
_RUBY = expression(r"^ @ (\w+) - (\S+)")
_JAVA = expression(r"(?:AccessDenied|NoSuchFile)Exception: (/[^:\n]+?)(?: -> .*)?$")
_GIT_OBJECTS = expression(
    r"insufficient permission for adding an object to repository database (\S+)"
)
_TOLD = expression(
    r"cannot create directory: (/\S+?)\.  Maybe need administrative|"
    r"Could not create local repository at (/\S+)|"
    r"error writing to the directory: (/.+)$"
)
_CMAKE = expression(r"CMake Error: Unable to \(re\)create .* directory:$")
_SQLITE = expression(rf"unable to open database {_QUOTED}")
_ZIP = expression(r"(?:[Cc]ould not create output file|cannot create) \(?(/?[^()]+?)\)?$")
_UNNAMED = expression(
    r"unable to open database file$|attempt to write a readonly database|"
    r"curl: \(23\) Failure writing output|kind: (?:PermissionDenied|ReadOnlyFilesystem)|"
    r"IOException: (?:Permission denied|Read-only file system)$|"
    r"error while writing \w+: could not create parent directories"
)
# `tar: main.c: Cannot open: Permission denied`: a part between the path and the answer.
_BETWEEN = expression(
    r"[Cc](?:annot|ould not|an't) \w+$|[Ff]ailed to open(?: stream| for writing)$|open failed$|Cannot make temp name$"
)
# `Permission denied (os error 13)`, alone under "Caused by:".
_ALONE = expression(r"[A-Z][\w -]+\(os error \d+\)$")
_CAUSED = 5
_CALL = expression(r"\w+\(['\"]?([^'\"(),]+)['\"]?(?:,[^)]*)?\)$")
_MIDDLE = 60

_SYSCALLS = {
    **dict.fromkeys(
        ["mkdir", "mkdtemp", "symlink", "link", "copyfile", "write", "ftruncate", "mknod"],
        Access.WRITE,
    ),
    **dict.fromkeys(["unlink", "rmdir", "rename", "rm"], Access.REMOVE),
    **dict.fromkeys(["chmod", "chown", "lchown", "utime", "utimes", "futime"], Access.CHANGE),
    **dict.fromkeys(
        ["scandir", "opendir", "stat", "lstat", "access", "readlink", "read", "realpath"],
        Access.READ,
    ),
    "spawn": Access.RUN,
}


def complaints(lines: Sequence[Said]) -> Iterator[Complaint]:
    """Every complaint about a file, in the order of the output."""
    for index, line in enumerate(lines):
        if not line.telling:
            continue
        found = _FAULT.search(line.text)
        if found is None:
            yield from _without_answer(lines, index)
            continue
        fault = Fault[str(found.lastgroup)]
        paths, access = _named(line.text, found)
        if paths or _UNNAMED.search(line.text):
            yield _complaint(line, fault, paths, access, runs=_runs(lines, index))
        elif paths := _nearby(lines, index):
            yield replace(_complaint(line, fault, paths, access), nameless=True)


def _complaint(
    line: Said, fault: Fault, paths: tuple[str, ...], access: Access, *, runs: bool = False
) -> Complaint:
    program, shell = speaker_of(line.text)
    if access is Access.UNKNOWN:
        access = Access.RUN if runs else access_of(line.text, program)
    return Complaint(
        at=line.number,
        fault=fault,
        paths=paths,
        access=access,
        program=program,
        shell=shell,
        nameless=not program and is_nameless(line.text),
    )


def _without_answer(lines: Sequence[Said], index: int) -> Iterator[Complaint]:
    """Messages of programs that keep the kernel's answer to themselves."""
    line, text = lines[index], lines[index].text
    if found := _JAVA.search(text):
        fault = Fault.ENOENT if "NoSuchFile" in found[0] else Fault.EACCES
        yield _complaint(line, fault, (found[1],), Access.UNKNOWN)
    elif (found := _GIT_OBJECTS.search(text) or _TOLD.search(text)) or (
        found := _SQLITE.search(text)
    ):
        yield _complaint(line, Fault.UNTOLD, _groups(found), Access.WRITE)
    elif _CMAKE.search(text):
        for path in (each.text for each in lines[index + 1 : index + 2]):
            yield replace(_complaint(line, Fault.UNTOLD, (path,), Access.WRITE), nameless=True)
    elif _UNNAMED.search(text):
        yield _complaint(line, Fault.UNTOLD, (), Access.WRITE)


def _named(text: str, found: re.Match[str]) -> tuple[tuple[str, ...], Access]:
    """The paths that a line names, and how they were used if the shape says so."""
    if shape := _NODE.search(text):
        return _groups(shape)[1:], _SYSCALLS.get(shape[1], Access.UNKNOWN)
    if shape := _PYTHON.search(text) or _AT_PATH.search(text):
        return _groups(shape), Access.UNKNOWN
    after = text[found.end() :]
    if shape := _RUBY.match(after):
        return (shape[2],), Access.UNKNOWN
    if shape := _JAVA.search(text) or _OPENSSL.search(after):
        return (shape[1],), Access.UNKNOWN
    before = text[: found.start()].rstrip()
    if not before.endswith((":", "(", ";", ",")):
        return (), Access.UNKNOWN
    return _before(before[:-1].rstrip()), Access.UNKNOWN


def _before(text: str) -> tuple[str, ...]:
    """The path that stands right before the kernel's answer."""
    quoted = list(_ANY_QUOTED.finditer(text))
    rest = text[quoted[-1].end() :] if quoted else ""
    if quoted and len(rest) <= _MIDDLE and " /" not in rest:
        return tuple(path for each in quoted[-2:] for path in _groups(each))
    parts = text.split(": ")
    if len(parts) > 1 and _BETWEEN.search(parts[-1]):
        parts.pop()
    last = parts[-1].strip()
    if call := _CALL.search(last):
        return (call[1],)
    if last.startswith(("/", "./", "../", "~/")):
        return (last,)
    word = last.rpartition(" ")[2]
    if word.endswith(("Exception", "Error", "error")):
        return ()
    # A word of a sentence is no path: one with blanks around it needs a slash.
    return (word,) if word and (word == last or "/" in word) else ()


def _nearby(lines: Sequence[Said], index: int) -> tuple[str, ...]:
    """The path of a message that is spread over several lines (zip, unzip, cargo)."""
    if _ALONE.match(lines[index].text):
        for line in reversed(lines[max(0, index - _CAUSED) : index]):
            if found := _ANY_QUOTED.search(line.text):
                return _groups(found)
    around = (*lines[max(0, index - 1) : index], *lines[index + 1 : index + 2])
    for line in around:
        if found := _ZIP.search(line.text):
            return (found[1],)
    return ()


def _runs(lines: Sequence[Said], index: int) -> bool:
    """Whether a traceback says that a program was to be started."""
    return any("_execute_child" in line.text for line in lines[max(0, index - 8) : index])


def _groups(found: re.Match[str]) -> tuple[str, ...]:
    return tuple(group for group in found.groups() if group)
