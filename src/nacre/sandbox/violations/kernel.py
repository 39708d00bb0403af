"""Calls of the kernel and signals to processes that are closed to scripts."""

import re
from collections.abc import Callable, Iterator, Sequence

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.model.violation import Violation, ViolationKind
from nacre.sandbox.violations.complaint import Said
from nacre.sandbox.violations.evidence import Evidence, Host
from nacre.sandbox.violations.speakers import Speakers
from nacre.sandbox.violations.wording import speaker_of

__all__ = ("stopped_calls",)


@dataclass(frozen=True, slots=True)
class _Closed:
    """A message that tells of a closed call, and who could have made it on the host.

    Without a target it is the program that says so.
    """

    target: str
    shape: re.Pattern[str]
    protection: str
    could: Callable[[Host, Speakers], bool]


def _anyone(host: Host, speakers: Speakers) -> bool:
    del host, speakers
    return True


def _root(host: Host, speakers: Speakers) -> bool:
    del speakers
    return host.root


def _user_namespace(host: Host, speakers: Speakers) -> bool:
    del speakers
    return host.root or (
        host.setting("user/max_user_namespaces") != 0
        and host.setting("kernel/unprivileged_userns_clone") != 0
        and host.setting("kernel/apparmor_restrict_unprivileged_userns") != 1
    )


_WITH_USER = expression(r"\bunshare\b[^|;&\n]* (?:-\w*[rUc]\w*|--user|--map-)")


def _unshares(host: Host, speakers: Speakers) -> bool:
    # Without a user namespace of one's own, every other one is root's.
    plain = _WITH_USER.search(speakers.text) is not None or not speakers.named("unshare")
    return host.root or (plain and _user_namespace(host, speakers))


def _reads_kernel_log(host: Host, speakers: Speakers) -> bool:
    del speakers
    return host.root or host.setting("kernel/dmesg_restrict") == 0


_PARANOID = 2


def _measures(host: Host, speakers: Speakers) -> bool:
    del speakers
    level = host.setting("kernel/perf_event_paranoid")
    return host.root or (level is not None and level <= _PARANOID)


_NOT_PERMITTED = r"(?:Operation not permitted|EPERM)"
_CLOSED = (
    _Closed(
        "ptrace",
        expression(rf"(?:\bptrace\b|PTRACE_\w+).*{_NOT_PERMITTED}"),
        "kernel_calls",
        _anyone,
    ),
    _Closed(
        "unshare (a new namespace)",
        expression(rf"unshare(?:: |\().*{_NOT_PERMITTED}"),
        "namespaces",
        _unshares,
    ),
    _Closed(
        "a new namespace",
        expression(
            r"No permissions to create new namespace|Creating new namespace failed|"
            r"Failed to move to new namespace|No usable sandbox!|cannot clone: Operation not permitted"
        ),
        "namespaces",
        _user_namespace,
    ),
    _Closed(
        "sudo",
        expression(r"\"no new privileges\" flag is set|sudo: effective uid is not 0"),
        "privileges",
        _anyone,
    ),
    _Closed(
        "a read of the kernel's log",
        expression(r"read kernel buffer failed: Operation not permitted"),
        "kernel_calls",
        _reads_kernel_log,
    ),
    _Closed(
        "perf_event_open",
        expression(
            r"perf_event_open.*(?:not permitted|failed)|No permission to enable \S+ event|"
            r"Access to performance monitoring and observability operations is limited"
        ),
        "kernel_calls",
        _measures,
    ),
    _Closed("io_uring", expression(rf"io_uring\w*.*{_NOT_PERMITTED}"), "kernel_calls", _anyone),
    _Closed(
        "keyctl", expression(rf"(?:keyctl|add_key)\w*: {_NOT_PERMITTED}"), "kernel_calls", _anyone
    ),
    _Closed(
        "",
        expression(
            r"^(?:u?mount|chroot|mknod|hostname|swapo\w+|losetup|modprobe|insmod|date|chown)\b.*"
            r"(?:Operation not permitted|must be superuser|permission denied|Invalid argument)|"
            r"RTNETLINK answers: Operation not permitted|you must be root"
        ),
        "privileges",
        _root,
    ),
)
_SIGNAL = expression(
    r"kill: \((\d+)\) - (?:Operation not permitted|No such process)|"
    r"(?:sending signal to|killing pid) (\d+) failed: (?:Operation not permitted|No such process)"
)


def stopped_calls(
    lines: Sequence[Said], evidence: Evidence, host: Host, speakers: Speakers
) -> Iterator[tuple[int, Violation]]:
    """The calls and signals that the output says were refused, and that the host would allow."""
    for line in lines:
        if not line.telling or not speakers.could_say(line.text):
            continue
        for closed in _CLOSED:
            if closed.shape.search(line.text):
                if evidence.layers(closed.protection) and closed.could(host, speakers):
                    yield line.number, _call(closed, line.text)
                break
        if (found := _SIGNAL.search(line.text)) and evidence.layers("signals"):
            pid = found[1] or found[2]
            # A number that the script got elsewhere may be of a process of its own.
            known = "permitted" in line.text or re.search(rf"\b{pid}\b", speakers.text)
            if known and host.owns_process(int(pid)):
                yield line.number, _process(pid)


def _call(closed: _Closed, text: str) -> Violation:
    rule = "scripts gain no privileges"
    if closed.protection == "kernel_calls":
        rule = "this call of the kernel is closed to scripts"
    elif closed.protection == "namespaces":
        rule = "scripts make no namespaces"
    return Violation(
        kind=ViolationKind.KERNEL_CALL,
        target=closed.target or speaker_of(text)[0],
        rule=rule,
        remedy="do without it, or ask the user to do this step",
    )


def _process(pid: str) -> Violation:
    return Violation(
        kind=ViolationKind.PROCESS,
        target=pid,
        rule="a script signals its own processes only",
        remedy="stop a job by its id, or ask the user to end the process",
    )
