"""What to do about what is missing: the cause as far as it can be told, and the command."""

from collections.abc import Iterator

from nacre.cli.diagnosis.facts import Facts
from nacre.model.value import dataclass

__all__ = ("MOST_DOMAINS", "Remedy", "remedies")

MOST_DOMAINS = 16
_CAP_SETFCAP = 31
_ENGINES = ("docker", "podman")

_INSTALL = {
    "debian": "apt install bubblewrap",
    "fedora": "dnf install bubblewrap",
    "arch": "pacman -S bubblewrap",
    "suse": "zypper install bubblewrap",
    "alpine": "apk add bubblewrap",
}
_SPELLED = {"ubuntu": "debian", "rhel": "fedora", "centos": "fedora", "opensuse": "suse"}
_PROFILE = "/etc/apparmor.d/nacre-bwrap"
_APPARMOR = (
    f"printf '%s\\n' 'abi <abi/4.0>,' 'profile nacre-bwrap {{}} flags=(unconfined) {{{{' '  userns,'"
    f" '}}}}' | sudo tee {_PROFILE} && sudo apparmor_parser -r {_PROFILE}"
)
# What a newer kernel adds to a sandbox that is there: up to which ABI it lacks what.
_NEWER = (
    (1, "moving files between folders (they are copied instead)", "5.19"),
    (4, "refusing ioctl on devices", "6.10"),
    (5, "holding signals to processes of one's own", "6.12"),
)
_AROUND = "run nacre outside of the sandbox that is around it"
_PERSISTENT = "sudo sysctl -w {0} && echo {0} | sudo tee /etc/sysctl.d/60-nacre.conf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Something that is missing, why, and a command or step that brings it."""

    missing: str
    why: str
    do: str


def remedies(facts: Facts) -> tuple[Remedy, ...]:
    """A remedy for each thing that is missing here, the weightiest first."""
    found = (*_seccomp(facts), *_bubblewrap(facts), *_namespaces(facts), *_landlock(facts))
    return (*found, *_newer(facts))


def _seccomp(facts: Facts) -> Iterator[Remedy]:
    if facts.no_seccomp:
        yield Remedy(
            missing="system call filters",
            why=facts.no_seccomp,
            do=_outside(facts) or "use a kernel built with CONFIG_SECCOMP_FILTER=y",
        )


def _bubblewrap(facts: Facts) -> Iterator[Remedy]:
    if facts.bwrap is None:
        yield Remedy(missing="bubblewrap", why="it is not installed", do=_install(facts))


def _install(facts: Facts) -> str:
    for name in facts.distribution:
        family = next(
            (known for spelled, known in _SPELLED.items() if name.startswith(spelled)), name
        )
        if family in _INSTALL:
            return f"sudo {_INSTALL[family]}"
    return "; or ".join(f"{words} ({name})" for name, words in _INSTALL.items())


def _namespaces(facts: Facts) -> Iterator[Remedy]:
    """Why a room cannot be made although bubblewrap is there, or would be."""
    if facts.no_user_namespaces:
        why, do = _namespace_cause(facts)
        yield Remedy(missing="user namespaces", why=f"{why} ({facts.no_user_namespaces})", do=do)
    elif facts.bwrap and facts.no_bwrap:
        do = "install version 0.8 or newer, and try what it is said to fail at"
        yield Remedy(missing="rooms of namespaces", why=facts.no_bwrap, do=_outside(facts) or do)


def _namespace_cause(facts: Facts) -> tuple[str, str]:
    if facts.inside_nacre:
        return "nacre started this, and holds it", "run nacre outside of nacre"
    if facts.landlock_domains:
        return "a Landlock domain is around this process, and denies mounts", _AROUND
    if facts.root and not facts.has_capability(_CAP_SETFCAP):
        # Since Linux 5.12 it takes this to have root's own number in a namespace.
        do = "run nacre as an ordinary user, or as root with CAP_SETFCAP"
        if facts.container in _ENGINES:
            do += f" (`{facts.container} run --cap-add SETFCAP`)"
        return "this is root without CAP_SETFCAP", do
    if facts.max_user_namespaces == 0:
        return (
            "user.max_user_namespaces is 0",
            _PERSISTENT.format("user.max_user_namespaces=15000"),
        )
    if facts.unprivileged_userns_clone == 0 and not facts.root:
        return (
            "kernel.unprivileged_userns_clone is 0",
            _PERSISTENT.format("kernel.unprivileged_userns_clone=1"),
        )
    if facts.apparmor_restricts_userns and not facts.root:
        setting = "kernel.apparmor_restrict_unprivileged_userns"
        return (
            f"{setting} is 1, and AppArmor allows them to programs with a profile only",
            _APPARMOR.format(facts.bwrap or "/usr/bin/bwrap"),
        )
    if facts.max_user_namespaces is None:
        return "the kernel does not have them", "use a kernel built with CONFIG_USER_NS=y"
    outside = _outside(facts) or "ask whoever runs this host to allow them"
    return "something around this process does not allow them", outside


def _outside(facts: Facts) -> str | None:
    """What to do where a sandbox or container around us is in the way."""
    if facts.inside_nacre:
        return "run nacre outside of nacre"
    match facts.container:
        case "docker" | "podman" as engine:
            options = "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
            return f"start the container with `{engine} run {options}`"
        case "kubernetes":
            return "give the pod `securityContext: {seccompProfile: {type: Unconfined}}`"
        case _:
            pass
    if facts.filtered or facts.no_new_privs:
        return _AROUND
    return None


def _landlock(facts: Facts) -> Iterator[Remedy]:
    if facts.landlock_abi:
        if (facts.landlock_domains or 0) >= MOST_DOMAINS:
            why = f"{MOST_DOMAINS} domains are around this process, and there can be no more"
            yield Remedy(missing="Landlock", why=why, do=_AROUND)
        return
    release = _release(facts.kernel)
    if release and release < (5, 13):
        do = "use Linux 5.13 or newer; 6.12 or newer has every right that counts"
    elif "not supported" in facts.no_landlock:
        others = facts.lsm or "<what /sys/kernel/security/lsm says>"
        do = f"boot with the kernel parameter lsm=landlock,{others}"
    else:
        do = _outside(facts) or "use a kernel built with CONFIG_SECURITY_LANDLOCK=y"
    yield Remedy(missing="Landlock", why=facts.no_landlock, do=do)


def _newer(facts: Facts) -> Iterator[Remedy]:
    for abi, lacks, release in _NEWER:
        if 0 < facts.landlock_abi <= abi:
            yield Remedy(
                missing=f"Landlock beyond ABI {abi}: {lacks}",
                why=f"Linux {facts.kernel} has ABI {facts.landlock_abi}",
                do=f"use Linux {release} or newer",
            )


def _release(kernel: str) -> tuple[int, int] | None:
    major, _, rest = kernel.partition(".")
    minor = rest.partition(".")[0].partition("-")[0]
    return (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else None
