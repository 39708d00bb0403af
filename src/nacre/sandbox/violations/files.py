"""Complaints about files, replayed against the confinement and the host."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from posixpath import dirname, join, normpath

from nacre.model.violation import Violation, ViolationKind
from nacre.sandbox.violations.complaint import Access, Complaint, Fault
from nacre.sandbox.violations.evidence import Evidence, Host
from nacre.sandbox.violations.fences import Fences
from nacre.sandbox.violations.speakers import Speakers

__all__ = ("stopped_files",)

_ANSWERS = {
    "landlock": frozenset({Fault.EACCES, Fault.EXDEV}),
    "mount": frozenset({Fault.EROFS, Fault.EBUSY}),
    "seccomp": frozenset({Fault.EPERM}),
    "seatbelt": frozenset({Fault.EPERM}),
    "container": frozenset({Fault.EROFS}),
}
_HIDES = frozenset({"mount", "container"})


class _Replay:
    """One run's confinement and host, asked about one path after another."""

    def __init__(self, evidence: Evidence, host: Host, speakers: Speakers) -> None:
        self._evidence, self._host, self._speakers = evidence, host, speakers
        self._fences = Fences(evidence)
        self._write = evidence.layers("write")
        self._protect = evidence.layers("protected") - {"compare"}
        self._read = evidence.layers("read")
        self._mounts = bool(_HIDES & (self._write | self._read | self._protect))

    def is_there(self, path: str) -> bool:
        """Whether the host has something there."""
        return self._host.exists(path)

    def judge(self, complaint: Complaint, said: str) -> Violation | None:
        """What the sandbox forbids of what a complaint says of one path."""
        if "\0" in said:
            return None
        path, real = said, said
        if not self._fences.private(said):
            real = self._host.real(said)
        access = complaint.access
        if access is Access.UNKNOWN:
            access = self._speakers.redirected(path) or access
        if complaint.fault is Fault.ENOENT:
            return self._hidden(replace(complaint, access=access), path, real)
        if not access.writes and complaint.fault is not Fault.EROFS:
            found = self._unreadable(complaint, path, real)
            reads = access in {Access.READ, Access.RUN}
            if found or reads or not self._must_be_a_write(complaint, real):
                return found or self._powerless(complaint, path, real)
        return self._unwritable(replace(complaint, access=access), path, real)

    def _hidden(self, complaint: Complaint, path: str, real: str) -> Violation | None:
        if not self._mounts:
            return None
        if denied := self._fences.denied(real):
            return self._reading(path, self._fences.denied_rule(denied), denied)
        if "container" in self._write | self._read:
            return None  # what an image does not have is not hidden
        makes = complaint.access is Access.WRITE
        # What is behind a private folder is asked of the host only by name.
        if rule := self._fences.hidden_rule(path):
            if not makes:
                return self._reading(path, rule, None) if self._host.exists(path) else None
            return self._making(path, rule) if self._host.is_folder(dirname(path)) else None
        # Node says so of a folder that cannot be made, although its parent is there.
        if makes and not self._fences.writable(real) and self._host.is_folder(dirname(real)):
            return self._unwritable(replace(complaint, fault=Fault.EROFS), path, real)
        return None

    def _unreadable(self, complaint: Complaint, path: str, real: str) -> Violation | None:
        if not self._read or complaint.fault is not Fault.EACCES:
            return None
        if denied := self._fences.denied(real):
            return self._reading(path, self._fences.denied_rule(denied), denied)
        rule = self._fences.unreadable_rule(real)
        if rule and self._host.may(real, os.R_OK):
            return self._reading(path, rule, None)
        return None

    def _reading(self, path: str, rule: str, denied: str | None) -> Violation | None:
        # Of what is denied, nobody learns whether it is there: only its root is looked at.
        if denied and not self._host.may(denied, os.R_OK):
            return None
        return Violation(
            kind=ViolationKind.READ, target=path, rule=rule, remedy=self._fences.read_remedy(path)
        )

    def _making(self, path: str, rule: str) -> Violation:
        return Violation(
            kind=ViolationKind.WRITE,
            target=path,
            rule=rule,
            remedy=self._fences.outside_remedy(dirname(path)),
        )

    def _must_be_a_write(self, complaint: Complaint, real: str) -> bool:
        """Whether reading or running it would have worked."""
        if not self._host.exists(real):
            return True
        if complaint.shell and not self._host.may(real, os.X_OK):
            return False
        return self._host.may(real, os.R_OK) and not (
            complaint.shell and self._host.is_folder(real)
        )

    def _unwritable(self, complaint: Complaint, path: str, real: str) -> Violation | None:
        fault = complaint.fault
        rule = self._fences.protected_rule(real)
        if rule is None and not self._fences.writable(real) and self._answers(fault, self._write):
            rule = self._fences.unwritable_rule()
        elif rule is None and self._must_be_protected(complaint, real):
            rule = f"{path} is protected although it lies in a writable folder"
        elif rule and not (self._protect and fault in {Fault.EROFS, Fault.EACCES, Fault.EBUSY}):
            rule = None
        asked = self._fences.denied(real) or real
        if rule is None or not self._could_write(complaint.access, asked):
            return self._powerless(complaint, path, real)
        target = path if self._fences.writable(path) == self._fences.writable(real) else real
        return Violation(
            kind=ViolationKind.WRITE,
            target=target,
            rule=rule,
            remedy=self._fences.write_remedy(target, self._folder(real)),
        )

    def _powerless(self, complaint: Complaint, path: str, real: str) -> Violation | None:
        """What root may do on the host, and a script of root, which has no capabilities, not."""
        if not self._host.root or complaint.fault is not Fault.EACCES or self._fences.denied(real):
            return None
        there = real if self._host.exists(real) else self._folder(real)
        # Without an execute bit, root itself runs nothing.
        runs = complaint.access is Access.RUN or (complaint.shell and not complaint.access.writes)
        if runs or not self._evidence.layers("privileges") or self._host.owns(there):
            return None
        return Violation(
            kind=ViolationKind.WRITE if complaint.access.writes else ViolationKind.READ,
            target=path,
            rule="it belongs to another user, and scripts have no privileges over others' files",
            remedy="ask the user to change its owner",
        )

    def _must_be_protected(self, complaint: Complaint, real: str) -> bool:
        """Whether only a mount of a protected path can have answered, in a writable folder."""
        return (
            complaint.fault is Fault.EROFS
            and len(complaint.paths) == 1
            and self._fences.writable(real)
            and self._answers(Fault.EROFS, self._protect)
            and (self._host.exists(real) or not self._fences.is_root(dirname(real)))
        )

    def _answers(self, fault: Fault, layers: Iterable[str]) -> bool:
        if fault is Fault.UNTOLD:
            return bool(self._write)
        return any(fault in _ANSWERS.get(layer, ()) for layer in layers)

    def _could_write(self, access: Access, real: str) -> bool:
        host = self._host
        if access is Access.CHANGE:
            return host.root or host.owns(real)
        if host.exists(real) and access is not Access.REMOVE:
            return host.may(real, os.W_OK)
        folder = self._folder(real)
        return host.is_folder(folder) and host.may(folder, os.W_OK | os.X_OK)

    def _folder(self, path: str) -> str:
        """The nearest folder above a path that exists."""
        folder = dirname(path)
        while folder != "/" and not self._host.exists(folder):
            folder = dirname(folder)
        return folder


def stopped_files(
    complaints: Iterable[Complaint], evidence: Evidence, host: Host, speakers: Speakers
) -> Iterator[tuple[int, Violation]]:
    """The complaints that are about the sandbox, each with the place of its line."""
    replay = _Replay(evidence, host, speakers)
    for complaint in complaints:
        if not speakers.believed(complaint):
            continue
        if not complaint.paths:
            yield from _unnamed(complaint, replay, speakers)
        for raw in complaint.paths:
            if found := _first(complaint, raw, replay, speakers):
                yield complaint.at, found


def _first(complaint: Complaint, raw: str, replay: _Replay, speakers: Speakers) -> Violation | None:
    if raw.startswith("/"):
        return replay.judge(complaint, normpath(raw))
    for folder in speakers.folders(complaint.program):
        if found := replay.judge(complaint, normpath(join(folder, raw))):
            return found
    # What walks a tree names its files from where it is (shutil.rmtree).
    for folder in speakers.paths:
        if replay.is_there(path := normpath(join(folder, raw))):
            return replay.judge(complaint, path)
    return None


def _unnamed(
    complaint: Complaint, replay: _Replay, speakers: Speakers
) -> Iterator[tuple[int, Violation]]:
    """A message without a path, replayed with those that the script names."""
    folders = speakers.folders(complaint.program) if complaint.program else ()
    for path in (*speakers.paths, *folders):
        if found := replay.judge(complaint, path):
            yield complaint.at, found
            return
