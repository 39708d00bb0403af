"""This host, asked without opening anything a script could have planted."""

import os
import resource
import stat

__all__ = ("ThisHost",)

# Enough for ten thousand sockets; the tables are longer only on hosts of another kind.
_TABLE = 1 << 20
_LISTENS = ["0A"]
_DEFAULT_ROUTE = f"{0:032x} 00 "
_INIT = 1


class ThisHost:
    """Answers as the user that nacre runs as, about the host as it is now."""

    def exists(self, path: str) -> bool:
        """Whether something is there, a dangling link included."""
        return _status(path) is not None

    def is_folder(self, path: str) -> bool:
        """Whether it is, or leads to, a folder."""
        status = _status(path, follow=True)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def is_socket(self, path: str) -> bool:
        """Whether it is a socket that the user may connect to."""
        status = _status(path, follow=True)
        return status is not None and stat.S_ISSOCK(status.st_mode) and self.may(path, os.W_OK)

    def may(self, path: str, mode: int) -> bool:
        """Whether the user may do this to what is there; a read-only mount counts."""
        try:
            return os.access(path, mode)
        except (OSError, ValueError):
            return False

    def owns(self, path: str) -> bool:
        """Whether it belongs to the user."""
        status = _status(path, follow=True)
        return status is not None and status.st_uid == os.geteuid()

    def real(self, path: str) -> str:
        """Where a path leads."""
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return path

    @property
    def root(self) -> bool:
        """Whether the user is root."""
        return os.geteuid() == 0

    @property
    def online(self) -> bool:
        """Whether there is a default route."""
        for line in _kernel_table("/proc/net/route").splitlines():
            if line.split()[1:2] == ["00000000"]:
                return True
        # The kernel's own answer "unreachable" is a route too: the default one of `lo`.
        for line in _kernel_table("/proc/net/ipv6_route").splitlines():
            if line.startswith(_DEFAULT_ROUTE) and line.split()[-1] != "lo":
                return True
        return False

    def listens(self, port: int) -> bool:
        """Whether something accepts connections on this port of TCP."""
        wanted = f":{port:04X}"
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in _kernel_table(table).splitlines():
                fields = line.split()
                if fields[3:4] == _LISTENS and fields[1].endswith(wanted):
                    return True
        return False

    def owns_process(self, pid: int) -> bool:
        """Whether the user could signal this process."""
        if pid <= _INIT:
            return False
        status = _status(f"/proc/{pid}")
        return status is not None and (self.root or status.st_uid == os.geteuid())

    def setting(self, name: str) -> int | None:
        """A number of /proc/sys."""
        try:
            return int(_kernel_table(f"/proc/sys/{name}"))
        except ValueError:
            return None

    def limit(self, number: int) -> int | None:
        """The user's own resource limit, or None for none."""
        soft, _ = resource.getrlimit(number)
        return None if soft == resource.RLIM_INFINITY else soft


def _status(path: str, *, follow: bool = False) -> os.stat_result | None:
    try:
        return os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError):
        return None


def _kernel_table(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read(_TABLE)
    except OSError:
        return ""
