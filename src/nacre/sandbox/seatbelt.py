"""A confinement as a profile for macOS's `sandbox-exec`.

In a profile the last rule that matches decides, so it grants first, then takes
away, and gives the folder for temporary files last. Rules are matched against paths
without links: on macOS `/tmp`, `/var` and `/etc` are links into `/private`, and every
path is written in both ways. Limits are no part of a profile.
"""

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from nacre.errors import ConfigError
from nacre.model.confinement import Confinement, Network

__all__ = ("profile",)

_PRIVATE = ("/tmp", "/var", "/etc")  # noqa: S108 - names of links, not places to write to
# Without these no program starts: the loader and its cache, frameworks, tools, devices.
_SYSTEM = (
    "/System", "/usr", "/bin", "/sbin", "/Library/Apple", "/dev", "/private/var/db/dyld",
    "/private/var/db/timezone", "/private/var/select", "/private/etc",
)  # fmt: skip
# Who a uid is; where the network is allowed, also names, routes and certificates. Not the
# server of the keychain: what asks it is answered with the user's passwords.
_SERVICES = (
    "com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership",
    "com.apple.system.notification_center", "com.apple.system.logger", "com.apple.logd",
)  # fmt: skip
_NETWORK_SERVICES = (
    "com.apple.SystemConfiguration.configd", "com.apple.SystemConfiguration.DNSConfiguration",
    "com.apple.networkd", "com.apple.trustd", "com.apple.trustd.agent", "com.apple.ocspd",
)  # fmt: skip
_FIRST_PRINTABLE = 0x20
_DELETE = 0x7F
_ESCAPED_BYTES = range(0xDC80, 0xDD00)  # PEP 383: bytes that are not UTF-8


def profile(confinement: Confinement, *, tmp: PurePath | None) -> str:
    """Write the profile; `tmp` is the folder for temporary files that the script has for itself.

    Raises:
        ConfigError: If a path is not absolute, goes upwards, or cannot be written down.
    """
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-exec)",
        "(allow process-fork)",
        "(allow process-info* (target same-sandbox))",
        "(allow signal (target same-sandbox))" if confinement.own_signals else "(allow signal)",
        "(allow sysctl-read)",
        "(allow ipc-posix-sem)",
        _rule("allow", "mach-lookup", (f"(global-name {_quoted(name)})" for name in _SERVICES)),
        *_reads(confinement),
        *_writes(confinement),
        *_network(confinement.network),
        *_taken(confinement),
    ]
    if tmp is not None:
        lines.append(_rule("allow", "file-read* file-write*", _subpaths([tmp])))
    return "\n".join(line for line in lines if line) + "\n"


def _reads(confinement: Confinement) -> Iterator[str]:
    if confinement.readable is None:
        yield "(allow file-read*)"
        return
    roots = [*map(PurePath, _SYSTEM), *confinement.readable, *(confinement.writable or ())]
    yield _rule("allow", "file-read*", _subpaths(roots))
    # A path is walked from the top; what lies beside the way stays unseen.
    yield _rule("allow", "file-read-metadata", _literals(_above(roots)))
    yield _rule("allow", "file-read-data", ['(literal "/")'])


def _writes(confinement: Confinement) -> Iterator[str]:
    if confinement.writable is None:
        yield "(allow file-write*)"
        return
    yield '(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (subpath "/dev/fd"))'
    yield '(allow file-ioctl (literal "/dev/null") (literal "/dev/dtracehelper"))'
    yield _rule("allow", "file-write*", _subpaths(confinement.writable))


def _network(network: Network) -> Iterator[str]:
    if network is Network.DENY:
        yield "(deny network*)"
        return
    yield "(allow network*)"
    yield "(allow system-socket)"
    names = (f"(global-name {_quoted(name)})" for name in _NETWORK_SERVICES)
    yield _rule("allow", "mach-lookup", names)


def _taken(confinement: Confinement) -> Iterator[str]:
    yield _rule("deny", "file-write*", _subpaths(confinement.protected))
    yield _rule("deny", "file-read* file-write*", _subpaths(confinement.denied))
    # Rules go by paths: a folder above one of these must not be renamed aside.
    pinned = _above([*confinement.protected, *confinement.denied])
    yield _rule("deny", "file-write-unlink", _literals(pinned))


def _rule(action: str, operations: str, filters: Iterable[str]) -> str:
    """One rule; none without a filter, for it would be a rule about everything."""
    wanted = " ".join(filters)
    return f"({action} {operations} {wanted})" if wanted else ""


def _subpaths(paths: Iterable[PurePath]) -> Iterator[str]:
    return (f"(subpath {_quoted(name)})" for name in _spellings(paths))


def _literals(paths: Iterable[PurePath]) -> Iterator[str]:
    return (f"(literal {_quoted(name)})" for name in _spellings(paths))


def _above(paths: Iterable[PurePath]) -> list[PurePath]:
    return sorted(
        {
            parent
            for path in paths
            for name in _spellings([path])
            for parent in PurePath(name).parents
        }
    )


def _spellings(paths: Iterable[PurePath]) -> Iterator[str]:
    """Each path once, in all the ways in which macOS writes it."""
    names: dict[str, None] = {}
    for path in paths:
        if not path.is_absolute() or ".." in path.parts:
            raise ConfigError(f"{str(path)!r} is not an absolute path without `..`")
        name = "/" + str(path).lstrip("/")
        names[name] = None
        for link in _PRIVATE:
            if PurePath(name).is_relative_to(link):
                names[f"/private{name}"] = None
            elif PurePath(name).is_relative_to(f"/private{link}"):
                names[name.removeprefix("/private")] = None
    return iter(names)


def _quoted(text: str) -> str:
    """A string of the profile's language, in which nothing ends it early."""
    if "\0" in text:
        raise ConfigError(f"{text!r} has a NUL in it and cannot be a path")
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character in '"\\':
        return f"\\{character}"
    if code < _FIRST_PRINTABLE or code == _DELETE:
        return f"\\x{code:02x}"
    return f"\\x{code - 0xDC00:02x}" if code in _ESCAPED_BYTES else character
