"""From evidence to violations."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from nacre.model.violation import Violation, ViolationKind
from nacre.sandbox.violations.evidence import Evidence, Host
from nacre.sandbox.violations.files import stopped_files
from nacre.sandbox.violations.host import ThisHost
from nacre.sandbox.violations.kernel import stopped_calls
from nacre.sandbox.violations.limits import reached_limits
from nacre.sandbox.violations.lines import said, telling
from nacre.sandbox.violations.network import network_hint, stopped_connections
from nacre.sandbox.violations.shapes import complaints
from nacre.sandbox.violations.sockets import stopped_sockets
from nacre.sandbox.violations.speakers import Speakers

__all__ = ("violations",)

_MOST = 4
_LONGEST = 300


def violations(evidence: Evidence, host: Host | None = None) -> tuple[Violation, ...]:
    """What the sandbox stopped, a handful at most, in the order it was said; never raises.

    The limits that ended a script come first. A hint about the network is given only if
    nothing else explains a failure.
    """
    if not evidence.enforcement.by:
        return ()
    try:
        found = _distinct(_found(evidence, host or ThisHost()))
    except Exception:  # noqa: BLE001 (what explains a failure must not be one)
        return ()
    return found


def _found(evidence: Evidence, host: Host) -> Iterator[tuple[int, Violation]]:
    output = telling(evidence.output)
    if not output and not evidence.failed:
        return
    speakers = Speakers(evidence)
    lines = said(output)
    found = [
        *reached_limits(lines, evidence, host, speakers),
        *stopped_sockets(lines, evidence, host, speakers),
        *stopped_files(complaints(lines), evidence, host, speakers),
        *stopped_calls(lines, evidence, host, speakers),
    ]
    # A line about a socket or a call is not about the file that it names.
    plainer = {at for at, each in found if each.kind in _PLAINER}
    found = [each for each in found if each[0] not in plainer or each[1].kind in _PLAINER]
    sockets = {at for at, each in found if each.kind is ViolationKind.UNIX_SOCKET}
    connections = [
        (at, each)
        for at, each in stopped_connections(lines, evidence, host, speakers)
        if at not in sockets
    ]
    # One failed connection is told in several lines, of which some name the address.
    named = [each for each in connections if each[1].target]
    found += named or connections[:1]
    yield from sorted(found, key=lambda each: each[0])
    if not any(each.kind in _EXPLAINS for _, each in found):
        hint = network_hint(evidence.output[-(1 << 14) :], evidence, host, speakers)
        if hint:
            yield 0, hint


_PLAINER = frozenset({ViolationKind.UNIX_SOCKET, ViolationKind.KERNEL_CALL, ViolationKind.LIMIT})
_EXPLAINS = frozenset(ViolationKind) - {ViolationKind.READ}


def _distinct(found: Iterable[tuple[int, Violation]]) -> tuple[Violation, ...]:
    distinct: dict[tuple[ViolationKind, str], Violation] = {}
    for _, violation in found:
        shown = replace(violation, target=_shown(violation.target))
        distinct.setdefault((shown.kind, shown.target), shown)
        if len(distinct) == _MOST:
            break
    return tuple(distinct.values())


def _shown(target: str) -> str:
    """A target that keeps to its line: it comes from what a script printed."""
    clean = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in target)
    return clean if len(clean) <= _LONGEST else f"{clean[:_LONGEST]}…"
