"""Programs that write down how they were called, in place of the real ones."""

__all__ = ("FAKES", "LOG", "REAL", "RECORDED", "fake", "recorded")

LOG = "/oracle/calls"
REAL = "/oracle/host"

_SILENT = (
    "apt apt-get brew chattr chgrp chmod chown crontab curl dd diskutil dnf egrep fdisk fgrep git gpg halt init"
    " insmod kill killall kubectl mkfs mkfs.ext4 mkfs.xfs modprobe mount nc node npm npx parted"
    " passwd pip pkill podman poweroff printenv reboot rm rmdir rmmod rsync scp security service"
    " sftp shred shutdown sleep systemctl telnet truncate umount unlink useradd userdel wget wipefs"
)

RECORDED = frozenset(
    [
        "cat",
        "cp",
        "cut",
        "env",
        "find",
        "grep",
        "head",
        "ionice",
        "ln",
        "mkdir",
        "mv",
        "nice",
        "nohup",
        "setsid",
        "sort",
        "stdbuf",
        "tail",
        "taskset",
        "tee",
        "timeout",
        "touch",
        "tr",
        "uniq",
        "wc",
        "xargs",
    ]
)
"""Programs that are written down and then do their work."""

# A shell that is given a fake as a script refuses, as it would refuse the real program: only the
# fake's own first line says `-f`. One record is how many words follow, the name, the words.
_OPTION = "-f"
_RECORD = f"""case $- in *f*) ;; *) exit 126 ;; esac
printf '%s\\0' "$#" "${{0##*/}}" "$@" >>{LOG} 2>/dev/null
"""

# Those that run other programs run them here as well: as the same user, on the same machine.
_SUDO = """while [ $# -gt 0 ]; do
case $1 in
--) shift; break ;;
-[CDRTUaghprtu]) shift 2 || exit 1 ;;
-?*) shift ;;
*=*) export "$1"; shift ;;
*) break ;;
esac
done
[ $# -gt 0 ] && exec "$@"
"""
_SSH = """while [ $# -gt 0 ]; do
case $1 in
-[BDEFIJLOQRSWbceilmopw]) shift 2 || exit 1 ;;
-?*) shift ;;
*) shift; break ;;
esac
done
[ $# -gt 0 ] && exec /bin/sh -c "$*"
"""
_SU = """while [ $# -gt 0 ]; do
case $1 in
-c) exec /bin/sh -c "$2" ;;
*) shift ;;
esac
done
"""
_CHROOT = """while :; do
case $1 in
-?*) shift ;;
*) break ;;
esac
done
[ $# -gt 1 ] && shift && exec "$@"
"""
_WATCH = """while [ $# -gt 0 ]; do
case $1 in
-n) shift 2 || exit 1 ;;
-?*) shift ;;
*) break ;;
esac
done
[ $# -gt 0 ] && exec /bin/sh -c "$*"
"""
_DOCKER = """[ "$1" = exec ] || exit 0
shift
while :; do
case $1 in
-[euw]) shift 2 || exit 1 ;;
-?*) shift ;;
*) break ;;
esac
done
[ $# -gt 1 ] && shift && exec "$@"
"""

FAKES = dict.fromkeys(_SILENT.split(), "") | {
    "chroot": _CHROOT,
    "doas": _SUDO,
    "docker": _DOCKER,
    "ssh": _SSH,
    "su": _SU,
    "sudo": _SUDO,
    "watch": _WATCH,
}
"""Programs that are written down and do nothing, and how a few of them run others."""


def fake(name: str, shell: str) -> str:
    """The text of a program that writes down how it was called."""
    return f"#!{shell} {_OPTION}\n{_RECORD}{FAKES[name]}exit 0\n"


def recorded(path: str, shell: str) -> str:
    """The text of a program that writes down how it was called and becomes the real one."""
    return f'#!{shell} {_OPTION}\n{_RECORD}exec {path} "$@"\n'
