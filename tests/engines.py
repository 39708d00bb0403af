"""Real container engines for the tests: private ones, with images of Debian's static programs."""

import http.client
import io
import json
import os
import pwd
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Self
from urllib.parse import urlencode

from archives import add
from attacks.image import archive

__all__ = ("NAMES", "Answer", "Engine", "Engines", "lack", "start")

NAMES = ("podman", "dockerd") if os.getuid() == 0 else ("rootless-podman",)
"""The engines that whoever runs the tests could have; `lack` says whether they do."""

_IMAGE = "nacre-test/tiny"
_BASHLESS = "nacre-test/bashless"
_PYTHON = "nacre-test/python"
_BASH = Path("/bin/bash-static")
_BUSYBOX = Path("/bin/busybox")
# Debian has runc and dockerd where an ordinary user does not look.
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Short, as the path of a socket must be; and on a disk, for overlays of ordinary users.
_PLACE = "/var/tmp"
_UP_SECONDS = 20.0
_DOWN_SECONDS = 20.0
_MOST = 4096
_CAP_SYS_ADMIN = 21
_PT_INTERP = 3
# What engines start has their folder among its words.
_SERVANTS = {"podman", "conmon", "dockerd", "containerd", "containerd-shim-runc-v2", "runc"}
_USERS = b"root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/workspace:/bin/sh\n"
_GROUPS = b"root:x:0:\nagent:x:1000:\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an engine answered to a request."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A running service with its own storage, socket and images, all of it in its folder.

    `host` is a value for DOCKER_HOST. `image` has bash and busybox, `bashless` busybox alone.
    """

    name: str
    host: str
    folder: Path
    process: subprocess.Popen[bytes] = field(repr=False)
    image: str = _IMAGE
    bashless: str = _BASHLESS

    @property
    def pid(self) -> int:
        """The process that was started; rootless podman may serve from a child of it."""
        return self.process.pid

    def ask(
        self, method: str, path: str, body: bytes | None = None, *, kind: str = "application/x-tar"
    ) -> Answer:
        """Send one request to the socket, and read the answer to its end."""
        connection = _Connection(self.host.removeprefix("unix://"))
        try:
            connection.request(method, path, body, {"Content-Type": kind})
            answer = connection.getresponse()
            return Answer(status=answer.status, body=answer.read())
        finally:
            connection.close()

    def with_python(self) -> str:
        """The name of an image that has Python and a host's usual programs.

        It is made when it is asked for: that takes some seconds.
        """
        if self.ask("GET", f"/v1.40/images/{_PYTHON}/json").status != http.HTTPStatus.OK:
            _import(self, _PYTHON, archive(), "bash")
        return _PYTHON

    @contextmanager
    def frozen(self) -> Generator[None]:
        """Have the service answer nothing for a while."""
        stopped = _service(self.folder)
        for pid in stopped:
            _send(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in stopped:
                _send(pid, signal.SIGCONT)

    def stop(self) -> None:
        """Ask the service to end, and wait for it; podman's containers go on."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the service at once; its containers go on."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        for pid in _service(self.folder):
            _send(pid, number)
        self.process.wait(_DOWN_SECONDS)
        if not _within(_DOWN_SECONDS, lambda: not _service(self.folder)):
            raise TimeoutError(f"{self.name} goes on after {number.name}: {_log(self)}")


class Engines:
    """Engines that are started when they are asked for, each once; all are gone at the end."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._started: dict[str, Engine] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def get(self, name: str) -> Engine:
        if name not in self._started:
            self._started[name] = self._stack.enter_context(start(name))
        return self._started[name]


@contextmanager
def start(name: str, place: str = _PLACE) -> Generator[Engine]:
    """Start an engine in a new folder of a place whose path is short.

    However it ends, its containers, processes, mounts and the folder are gone afterwards.
    """
    folder = Path(tempfile.mkdtemp(prefix="nacre-engine-", dir=place))
    folder.chmod(0o755)
    (folder / "tmp").mkdir()
    # For dockerd too: its runc keeps files there if the variable is set.
    (folder / "xdg").mkdir(mode=0o700)
    command = _set_up_dockerd(folder) if name == "dockerd" else _set_up_podman(folder)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            env=_environment(folder),
        )
    engine = Engine(name=name, host=f"unix://{folder}/socket", folder=folder, process=process)
    try:
        _await_answer(engine)
        _import(engine, engine.image, _tiny(bash=True), "bash")
        _import(engine, engine.bashless, _tiny(bash=False), "sh")
        yield engine
    finally:
        _end(engine)


@cache
def lack(name: str) -> str | None:
    """Say what keeps whoever runs the tests from having an engine, if anything does."""
    if name not in NAMES:
        who = "root" if os.getuid() == 0 else "an ordinary user"
        return f"the tests are run as {who}, who has no {name}"
    programs = ["dockerd", "containerd"] if name == "dockerd" else ["podman", "conmon"]
    if name == "rootless-podman":
        programs += ["newuidmap", "newgidmap"]
    missing = [each for each in [*programs, "runc"] if not shutil.which(each, path=_PATH)]
    missing += [str(each) for each in (_BASH, _BUSYBOX) if not each.exists()]
    if missing:
        return f"{name} cannot be started without {', '.join(missing)}"
    if not _is_static(_BUSYBOX):
        return f"{_BUSYBOX} is not the static one"
    return _no_mappings() if name == "rootless-podman" else _no_mounts()


def _is_static(program: Path) -> bool:
    """Whether a program of 64 bits names no interpreter in its headers."""
    data = program.read_bytes()
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    kinds = [struct.unpack_from("<I", data, start + size * each)[0] for each in range(count)]
    return _PT_INTERP not in kinds


def _no_mounts() -> str | None:
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    held = next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))
    return None if held >> _CAP_SYS_ADMIN & 1 else "root may not mount here (no CAP_SYS_ADMIN)"


def _no_mappings() -> str | None:
    """Why newuidmap would refuse: it wants a name, that name's own group, and ranges for it."""
    try:
        user = pwd.getpwuid(os.getuid())
    except KeyError:
        return f"the user {os.getuid()} has no name in /etc/passwd"
    if user.pw_gid != os.getgid():
        return f"the group of {user.pw_name} is {user.pw_gid}, but the tests have {os.getgid()}"
    for file in (Path("/etc/subuid"), Path("/etc/subgid")):
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        if not {line.partition(":")[0] for line in lines} & {user.pw_name, str(user.pw_uid)}:
            return f"{file} has no range for {user.pw_name}"
    for program in ("newuidmap", "newgidmap"):
        path = shutil.which(program, path=_PATH)
        if path and not os.stat(path).st_mode & stat.S_ISUID and not _has_capabilities(path):
            return f"{path} is not setuid"
    done = subprocess.run(["unshare", "--user", "true"], check=False, capture_output=True)
    return f"no user namespace: {done.stderr.decode().strip()}" if done.returncode else None


def _has_capabilities(path: str) -> bool:
    """Some distributions give them in place of setuid."""
    return "security.capability" in os.listxattr(path)


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_UP_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": _PATH,
        "HOME": str(folder),
        "TMPDIR": str(folder / "tmp"),
        "XDG_RUNTIME_DIR": str(folder / "xdg"),
        "CONTAINERS_CONF": str(folder / "containers.conf"),
    }


def _set_up_dockerd(folder: Path) -> list[str]:
    settings = {
        "data-root": f"{folder}/data",
        "exec-root": f"{folder}/run",
        "pidfile": f"{folder}/pid",
        "hosts": [f"unix://{folder}/socket"],
        "storage-driver": "overlay2",
        # The host's network stays as it is: containers have none.
        "bridge": "none",
        "iptables": False,
        "ip6tables": False,
        "ip-forward": False,
    }
    (folder / "daemon.json").write_text(json.dumps(settings), "utf-8")
    return ["dockerd", "--config-file", f"{folder}/daemon.json"]


def _set_up_podman(folder: Path) -> list[str]:
    # Podman asks for more than the host may give; crun refuses hosts with both versions of cgroups.
    most = {
        "nofile": _at_most(resource.RLIMIT_NOFILE),
        "nproc": _at_most(resource.RLIMIT_NPROC),
    }
    (folder / "containers.conf").write_text(
        f"""\
[containers]
default_ulimits = {json.dumps([f"{what}={many}:{many}" for what, many in most.items()])}
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
tmp_dir = "{folder}/xdg/libpod"
[network]
network_config_dir = "{folder}/networks"
""",
        "utf-8",
    )
    return _podman(folder, "system", "service", "--time=0", f"unix://{folder}/socket")


def _podman(folder: Path, *words: str) -> list[str]:
    # As options: containers of podman 4.3 hang for 20 s at their end if a file says it.
    storage = ["--storage-driver=overlay", f"--root={folder}/store", f"--runroot={folder}/run"]
    return ["podman", *storage, *words]


def _at_most(what: int) -> int:
    hard = resource.getrlimit(what)[1]
    return _MOST if hard == resource.RLIM_INFINITY else min(_MOST, hard)


def _await_answer(engine: Engine) -> None:
    def answered() -> bool:
        if engine.process.poll() is not None:
            raise RuntimeError(f"{engine.name} ended: {_log(engine)}")
        with suppress(OSError, http.client.HTTPException):
            return engine.ask("GET", "/_ping").status == http.HTTPStatus.OK
        return False

    if not _within(_UP_SECONDS, answered):
        raise RuntimeError(f"{engine.name} does not answer: {_log(engine)}")


def _log(engine: Engine) -> str:
    return (engine.folder / "log").read_text("utf-8", "replace")[-2000:]


def _import(engine: Engine, image: str, files: bytes, shell: str) -> None:
    changes = ["ENV PATH=/bin:/usr/bin", f'CMD ["{shell}"]']
    words = urlencode(
        {"fromSrc": "-", "repo": image, "tag": "latest", "changes": changes}, doseq=True
    )
    answer = engine.ask("POST", f"/v1.40/images/create?{words}", files)
    if answer.status != http.HTTPStatus.OK or b'"error"' in answer.body:
        raise RuntimeError(f"{engine.name} has not imported {image}: {answer.body!r}")


@cache
def _tiny(*, bash: bool) -> bytes:
    """A root folder of static programs, as an archive."""
    listed = subprocess.run([_BUSYBOX, "--list"], check=True, capture_output=True, text=True)
    taken = {"busybox", "bash"}
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in ["bin", "dev", "etc", "proc", "root", "run", "sys", "usr", "usr/bin"]:
            add(tar, name, tarfile.DIRTYPE, 0o755)
        for name in ("tmp", "workspace"):
            add(tar, name, tarfile.DIRTYPE, 0o1777)
        add(tar, "bin/busybox", tarfile.REGTYPE, 0o755, _BUSYBOX.read_bytes())
        for name in sorted(set(listed.stdout.split()) - taken):
            add(tar, f"bin/{name}", tarfile.SYMTYPE, 0o777, target="busybox")
        add(tar, "usr/bin/env", tarfile.SYMTYPE, 0o777, target="/bin/env")
        if bash:
            add(tar, "bin/bash", tarfile.REGTYPE, 0o755, _BASH.read_bytes())
            add(tar, "usr/bin/bash", tarfile.SYMTYPE, 0o777, target="/bin/bash")
        add(tar, "etc/passwd", tarfile.REGTYPE, 0o644, _USERS)
        add(tar, "etc/group", tarfile.REGTYPE, 0o644, _GROUPS)
    return archive.getvalue()


def _end(engine: Engine) -> None:
    folder = engine.folder
    if engine.name == "dockerd":
        _remove_containers(engine)
    with suppress(TimeoutError, subprocess.TimeoutExpired):
        engine.stop()
    if engine.name != "dockerd":
        _run_podman(folder, "rm", "--all", "--force", "--time=0", "--volumes")
    if engine.name == "rootless-podman":
        # Its files belong to users, and its mounts to a namespace, that only podman enters.
        script = 'umount --recursive --lazy "$0/store/overlay"; rm -rf "$0/store" "$0/run"'
        _run_podman(folder, "unshare", "sh", "-c", script, str(folder))
        _end_pause(folder)
    if not _within(_DOWN_SECONDS, lambda: not _killed(folder)):
        raise RuntimeError(f"still alive of {engine.name}: {_left(folder)}")
    engine.process.wait(_DOWN_SECONDS)
    for point in _mounts(folder):
        subprocess.run(["umount", point], check=True)
    shutil.rmtree(folder)


def _remove_containers(engine: Engine) -> None:
    # If it was killed, what runs is ended with the servants.
    with suppress(OSError, http.client.HTTPException):
        found: list[dict[str, object]] = json.loads(
            engine.ask("GET", "/v1.40/containers/json?all=true").body
        )
        for each in found:
            engine.ask("DELETE", f"/v1.40/containers/{each['Id']}?force=true&v=true")


def _run_podman(folder: Path, *words: str) -> None:
    """Run podman without its service; what it could not do is found afterwards."""
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            _podman(folder, *words),
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            env=_environment(folder),
            timeout=_DOWN_SECONDS,
        )


def _end_pause(folder: Path) -> None:
    """End the process that keeps rootless podman's namespaces."""
    for file in (folder / "xdg").rglob("pause.pid"):
        pid = int(file.read_text("ascii"))
        with suppress(OSError):
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) in {"catatonit", "podman"}:
                _send(pid, signal.SIGKILL)


def _killed(folder: Path) -> list[int]:
    left = _left(folder)
    for pid in left:
        _send(pid, signal.SIGKILL)
    return left


def _left(folder: Path) -> list[int]:
    """What serves an engine, and what runs in its containers."""
    return [pid for pid in _pids() if _program(pid, folder) in _SERVANTS or _is_within(pid, folder)]


def _service(folder: Path) -> list[int]:
    """The processes that serve: two for rootless podman, of which one only waits."""
    return [
        pid
        for pid in _pids()
        if _program(pid, folder) == "dockerd"
        or (_program(pid, folder) == "podman" and b"service" in _words(pid))
    ]


def _pids() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]


def _program(pid: int, folder: Path) -> str:
    """The name of a program that has a folder among its words."""
    words = _words(pid)
    named = any(os.fsencode(folder) in word for word in words)
    return os.path.basename(os.fsdecode(words[0])) if named else ""


def _words(pid: int) -> list[bytes]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


def _is_within(pid: int, folder: Path) -> bool:
    """Whether a process has its root in an image of an engine."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/mountinfo").read_text("utf-8", "replace").splitlines()
        return any(line.split()[4] == "/" and f"{folder}/" in line for line in lines)
    return False


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _mounts(folder: Path) -> list[str]:
    """What is mounted in a folder, the innermost first."""
    lines = Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines()
    points = [line.split()[4] for line in lines]
    return [point for point in reversed(points) if Path(point).is_relative_to(folder)]


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        signal.sigtimedwait([], 0.01)
    return True
