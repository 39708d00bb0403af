"""What this host is, as far as it bears on what can be enforced here."""

import ctypes
import os
import platform
import subprocess  # noqa: TID251 (a namespace is tried by a process that may be lost)
import sys
from pathlib import Path

from nacre.model.value import dataclass
from nacre.process.marks import mark_of
from nacre.sandbox.bubblewrap import find_bwrap
from nacre.sandbox.probe import Host

__all__ = ("Facts", "gather_facts")

_CREATE_RULESET, _ERRATA = 444, 2
_TRY_SECONDS = 5.0
_SETTINGS = "/proc/sys/"
# Makes a user namespace and, as bubblewrap has to, changes a mount in it. Where AppArmor
# restricts namespaces, the first is allowed and the second is not.
_TRY_NAMESPACE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
uid = os.getuid()
if libc.unshare(0x10000000 | 0x20000):
    sys.exit(os.strerror(ctypes.get_errno()))
try:
    os.write(os.open("/proc/self/uid_map", os.O_WRONLY), b"%d %d 1" % (uid, uid))
except OSError as error:
    sys.exit("setting up its uid map: " + error.strerror)
if libc.mount(None, b"/", None, 0x4000 | 0x40000, None):
    sys.exit("mounting in it: " + os.strerror(ctypes.get_errno()))
"""
# Domains have a most as well: what is left of it tells how many are around us.
_COUNT_DOMAINS = """
import ctypes, struct
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
ruleset = libc.syscall(444, struct.pack("=Q", 1 << 11), 8, 0)
left = 0
while ruleset >= 0 and left < 16 and libc.syscall(446, ruleset, 0) == 0:
    left += 1
print(16 - left)
"""
_CONTAINER_FILES = {
    "/.dockerenv": "docker",
    "/run/.containerenv": "podman",
    "/var/run/secrets/kubernetes.io": "kubernetes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts about a host; None is said of what it does not have or does not tell.

    The three settings are sysctl values. `no_user_namespaces` is why none can be made, or
    empty; `landlock_domains` how many are around us. `filtered` says that a system call filter is on us already, `inside_nacre` that
    nacre started us. `cgroup` is the folder we may make groups in.
    """

    kernel: str
    machine: str
    distribution: tuple[str, ...]
    landlock_abi: int
    landlock_errata: int | None
    landlock_domains: int | None
    no_landlock: str
    lsm: str | None
    no_seccomp: str
    bwrap: str | None
    bwrap_version: str | None
    no_bwrap: str
    no_user_namespaces: str
    max_user_namespaces: int | None
    unprivileged_userns_clone: int | None
    apparmor_restricts_userns: int | None
    uid: int
    capabilities: str
    filtered: bool
    no_new_privs: bool
    container: str | None
    inside_nacre: bool
    cgroup: str | None

    def has_capability(self, number: int) -> bool:
        """Whether a capability is ours."""
        return bool(int(self.capabilities or "0", 16) >> number & 1)

    @property
    def root(self) -> bool:
        """Whether we are root here."""
        return self.uid == 0


def gather_facts(host: Host, untrusted: Path) -> Facts:
    """Look at this host, and try what looking does not tell."""
    status = _status()
    bwrap = find_bwrap((untrusted,))
    return Facts(
        kernel=platform.release(),
        machine=platform.machine(),
        distribution=_distribution(),
        landlock_abi=host.landlock,
        landlock_errata=_errata() if host.landlock else None,
        landlock_domains=_domains() if host.landlock else None,
        no_landlock=host.no_landlock,
        lsm=_text("/sys/kernel/security/lsm"),
        no_seccomp=host.no_seccomp,
        bwrap=bwrap,
        bwrap_version=_version(bwrap) if bwrap else None,
        no_bwrap=host.no_bwrap,
        no_user_namespaces="" if host.bwrap else _no_user_namespaces(),
        max_user_namespaces=_number("user/max_user_namespaces"),
        unprivileged_userns_clone=_number("kernel/unprivileged_userns_clone"),
        apparmor_restricts_userns=_number("kernel/apparmor_restrict_unprivileged_userns"),
        uid=os.geteuid(),
        capabilities=status.get("CapEff", ""),
        filtered=status.get("Seccomp") == "2",
        no_new_privs=status.get("NoNewPrivs") == "1",
        container=_container(),
        inside_nacre=mark_of(0) != 0,
        cgroup=_cgroup(),
    )


def _status() -> dict[str, str]:
    text = _text("/proc/self/status") or ""
    return {
        name: value.strip() for name, _, value in (row.partition(":") for row in text.split("\n"))
    }


def _errata() -> int | None:
    libc = ctypes.CDLL(None, use_errno=True)
    found: int = libc.syscall(_CREATE_RULESET, None, 0, _ERRATA)
    return found if found >= 0 else None  # older kernels do not tell


def _domains() -> int | None:
    said = _run([sys.executable, "-I", "-S", "-c", _COUNT_DOMAINS])
    return int(said.stdout) if said and said.stdout.strip().isdecimal() else None


def _version(bwrap: str) -> str | None:
    said = _run([bwrap, "--version"])
    return said.stdout.strip().rpartition(" ")[2] or None if said else None


def _no_user_namespaces() -> str:
    tried = _run([sys.executable, "-I", "-S", "-c", _TRY_NAMESPACE])
    if tried is None:
        return "it could not be tried"
    return "" if tried.returncode == 0 else (tried.stderr.strip().splitlines() or ["unknown"])[-1]


def _run(words: list[str]) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(
            words,
            env={"LC_ALL": "C.UTF-8"},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TRY_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def _distribution() -> tuple[str, ...]:
    """The names of the distribution and of those it is made from, nearest first."""
    fields: dict[str, str] = {}
    for row in (_text("/etc/os-release") or "").splitlines():
        name, _, value = row.partition("=")
        fields[name] = value.strip("\"'")
    return (*fields.get("ID", "").split(), *fields.get("ID_LIKE", "").split())


def _container() -> str | None:
    if named := os.environ.get("container"):  # noqa: SIM112 (systemd and podman spell it so)
        return named
    for path, name in _CONTAINER_FILES.items():
        if os.path.exists(path):
            return name
    if "microsoft" in platform.release().lower():
        return "wsl"
    return None


def _cgroup() -> str | None:
    """The folder of our control group, if groups can be made in it (version 2 alone)."""
    for row in (_text("/proc/self/cgroup") or "").splitlines():
        number, _, name = row.split(":", 2)
        folder = f"/sys/fs/cgroup{name}"
        if number == "0" and os.path.exists(f"{folder}/cgroup.controllers"):
            return folder if os.access(folder, os.W_OK) else None
    return None


def _number(setting: str) -> int | None:
    text = _text(_SETTINGS + setting)
    return int(text) if text and text.isdecimal() else None


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text("utf-8", "replace").strip()
    except OSError:
        return None
