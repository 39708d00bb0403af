"""Connections that failed, and whether the sandbox is why."""

import re
from collections.abc import Iterator, Sequence

from nacre.model.confinement import Network
from nacre.model.expression import expression
from nacre.model.violation import Violation, ViolationKind
from nacre.sandbox.violations.complaint import Said
from nacre.sandbox.violations.evidence import Evidence, Host
from nacre.sandbox.violations.speakers import Speakers
from nacre.syntax.network import needs_network

__all__ = ("network_hint", "stopped_connections")

_NAME = r"([A-Za-z0-9_](?:[\w.-]{0,250}[A-Za-z0-9])?|\[?[0-9a-f]{0,4}:[0-9a-f:]{1,40}\]?)"
_ADDRESSED = tuple(
    expression(shape.replace("NAME", _NAME))
    for shape in (
        r"[Cc]ould not resolve host(?:name)?:? [`'\"]?NAME",
        r"unable to resolve host address \W?NAME",
        r"getaddrinfo (?:EAI_AGAIN|ENOTFOUND) NAME",
        r"UnknownHostException: NAME",
        r"Unknown host NAME",
        r"\blookup NAME(?: on \S+)?: ",
        r"connect (?:ENETUNREACH|EACCES|EPERM|EHOSTUNREACH) NAME",
        r"Failed to connect to NAME port \d+",
        r"connect to (?:host |address )?NAME:? port \d+: (?:Network is unreachable|\w+ \w+ permitted)",
        r"dial (?:tcp|udp)\d? NAME:\d+: .*(?:unreachable|not permitted|denied)",
        r"/dev/(?:tcp|udp)/NAME/\d+: (?:Network is unreachable|Operation not permitted)",
        r"(?:^|: )NAME: Temporary failure in name resolution",
        r"(?:^|: )NAME: Name or service not known",
    )
)
_UNADDRESSED = expression(
    r"Temporary failure in name resolution|Name or service not known|[Nn]etwork is unreachable|"
    r"ENETUNREACH|EAI_AGAIN|\[Errno (?:101|-2|-3)\]|nodename nor servname|dns error|"
    r"failed to lookup address information|[Nn]o route to host"
)
# Raised by hand, as tests do: the real exceptions carry the number of the error.
_RAISED = expression(r"(?:raise|assert|return|FAILED) |self\.|\w*(?:Error|Exception): [^\[]*$")
# A socket could not even be made. Without words on its family it is one of the network.
_NO_SOCKET = expression(
    r"socket: [Oo]peration not permitted|could not create socket: Operation not permitted|"
    r"SocketException: Operation not permitted|IO::Socket::INET6?: Operation not permitted|"
    r"SOCK_RAW, Operation not permitted|\b(?:listen|bind|connect) EPERM\b|"
    r"\.\.\. failed: Operation not permitted"
)
_PYTHON_SOCKET = expression(r"_socket\.socket\.__init__|socket\.socket\(|= socket\(")
_PYTHON_EPERM = expression(r"PermissionError: \[Errno (?:1|13)\] [A-Z]\w+ \w+(?: \w+)?$")
# Programs that keep the reason to themselves: telling only of a command that needs the network.
_VAGUE = expression(
    r"\(from versions: none\)|No matching distribution found|Could not fetch URL|"
    r"Failed to (?:fetch|download)|unable to access 'https?://|Could not connect to server"
)
_REFUSED = expression(r"[Cc]onnection refused|ECONNREFUSED|\[Errno 111\]|connect to server")
_LOOPBACK = r"(?P<host>127(?:\.\d{1,3}){3}|localhost|\[?::1\]?)"
_LOOPBACK_PORT = expression(rf"{_LOOPBACK}(?:['\"]?\s?, ?(?:port )?|:| port )(?P<port>\d{{1,5}})\b")
_IS_LOOPBACK = expression(rf"{_LOOPBACK}$")
_URL = expression(r"(?:https?|ftp|ssh|git|wss?)://(?:[^@/\s'\"]+@)?([\w.-]+|\[[0-9a-f:]+\])")
_SCP = expression(r"\b[\w.-]+@([\w-]+(?:\.[\w-]+)+):")
_ADDRESS = expression(r"(?<![\d.])(\d{1,3}(?:\.\d{1,3}){3})(?![\d.])")
# What curl and wget end with when a name or a machine could not be reached.
_TELLING_CODES = {"curl": frozenset({5, 6, 7}), "wget": frozenset({4})}
_EXPLAINED = expression(
    r"error|fatal|fail|cannot|can't|could not|not found|denied|no such|usage|unknown|invalid|"
    r"traceback|undefined|unrecognized|try '|not a |already exists|missing|expected",
    re.IGNORECASE,
)
_ENDED = frozenset({124, 130, 137, 143})
_FEW = 2
_OFFLINE = expression(r"--(?:no-index|offline|frozen-offline)\b")
_TRACEBACK = 12


def stopped_connections(
    lines: Sequence[Said], evidence: Evidence, host: Host, speakers: Speakers
) -> Iterator[tuple[int, Violation]]:
    """The connections that the output says failed, and that the sandbox does not allow."""
    if not _denied(evidence):
        return
    needs = _needs(evidence)
    for index, line in enumerate(lines):
        if not line.telling or not speakers.could_say(line.text):
            continue
        if (port := _refused(line.text, evidence, speakers)) is not None:
            if host.listens(port):
                yield line.number, _own_loopback(port)
            continue
        address = _failed(lines, index, needs=needs)
        if address is not None:
            address = address or _address_in(speakers.text)
            if _is_stopped(address, evidence, host):
                yield line.number, _stopped(address, evidence)


def _is_stopped(address: str, evidence: Evidence, host: Host) -> bool:
    if _IS_LOOPBACK.match(address):
        # In a namespace of its own loopback works, so the failure is the script's.
        return not _namespaced(evidence)
    return host.online


def network_hint(
    output: str, evidence: Evidence, host: Host, speakers: Speakers
) -> Violation | None:
    """The hint for a command that needs the network and failed without a word on why."""
    script = evidence.script
    if script is None or not evidence.failed or not _denied(evidence) or not host.online:
        return None
    if not _needs(evidence):
        return None
    address = _address_in(speakers.text)
    if address and _IS_LOOPBACK.match(address):
        return None
    told = [codes for name, codes in _TELLING_CODES.items() if speakers.named(name)]
    if any(evidence.exit_code in codes for codes in told):
        return _stopped(address, evidence)
    if speakers.last in _TELLING_CODES or _EXPLAINED.search(output):
        return None
    # A refused connection fails at once, and what says much says more than this.
    if evidence.signal or evidence.exit_code in _ENDED or output.strip().count("\n") >= _FEW:
        return None
    return _stopped(address, evidence)


def _needs(evidence: Evidence) -> bool:
    script = evidence.script
    return script is not None and needs_network(script) and not _OFFLINE.search(script.text)


def _denied(evidence: Evidence) -> bool:
    return evidence.confinement.network is Network.DENY and bool(evidence.layers("tcp"))


def _namespaced(evidence: Evidence) -> bool:
    return "netns" in evidence.layers("tcp")


def _failed(lines: Sequence[Said], index: int, *, needs: bool) -> str | None:
    """The address that a line says could not be reached; empty if it names none."""
    text = lines[index].text
    for shape in _ADDRESSED:
        if found := shape.search(text):
            return found[1].strip("[]")
    if _UNADDRESSED.search(text):
        return None if _RAISED.match(text) else ""
    if "unix" in text.lower():
        return None
    if _NO_SOCKET.search(text) and ".s.PGSQL" not in text:
        return ""
    if _PYTHON_EPERM.search(text):
        frames = lines[max(0, index - _TRACEBACK) : index]
        if any(_PYTHON_SOCKET.search(frame.text) for frame in frames):
            return None if any("AF_UNIX" in frame.text for frame in frames) else ""
    return "" if needs and _VAGUE.search(text) else None


def _refused(text: str, evidence: Evidence, speakers: Speakers) -> int | None:
    """The port of the script's own loopback that nothing listens on."""
    if not _namespaced(evidence) or not _REFUSED.search(text):
        return None
    found = _LOOPBACK_PORT.search(text) or _LOOPBACK_PORT.search(speakers.text)
    return int(found["port"]) if found else None


def _address_in(text: str) -> str:
    for shape in (_URL, _SCP, _ADDRESS):
        if found := shape.search(text):
            return found[1].strip("[]")
    return ""


def _stopped(address: str, evidence: Evidence) -> Violation:
    remedy = "work without it, or ask the user to run with --network inherit"
    if _IS_LOOPBACK.match(address):
        remedy = "ask the user to run with --network inherit, or with --sandbox bubblewrap"
    own = ", its own loopback apart" if _namespaced(evidence) else ""
    return Violation(
        kind=ViolationKind.NETWORK,
        target=address,
        rule=f"the network is denied{own}",
        remedy=remedy,
    )


def _own_loopback(port: int) -> Violation:
    return Violation(
        kind=ViolationKind.NETWORK,
        target=f"127.0.0.1:{port}",
        rule="the script has a loopback of its own, where nothing listens on that port",
        remedy="start the service in the same script, or ask the user to run with --network inherit",
    )
