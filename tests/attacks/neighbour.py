"""A process of the same user beside the sandbox, which writes down whatever reaches it.

It listens on every kind of socket, on a pipe with a name and on a terminal, holds
shared memory and a message queue, and notes a signal. A line on its standard
input is answered when everything that had arrived by then is in the log.
"""

import array
import ctypes
import errno
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_KINDS = {"stream": socket.SOCK_STREAM, "dgram": socket.SOCK_DGRAM, "seq": socket.SOCK_SEQPACKET}
_LIBC = ctypes.CDLL(None, use_errno=True)


class Neighbour:
    """Ears on everything that a script could reach."""

    def __init__(self, outside: Path, workspace: Path, log: Path, name: str) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._ears = selectors.DefaultSelector()
        self._name = name
        self._keep = os.open(outside / "given", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.places: dict[str, str] = {}
        self._internet()
        self._unix(outside, workspace)
        self._files(outside)
        self._memory()
        signal.signal(signal.SIGURG, self._note)  # which everybody else ignores

    def serve(self) -> None:
        """Listen until standard input ends."""
        self._ears.register(0, selectors.EVENT_READ, self._answer)
        while True:
            self._hear(None)

    def _hear(self, timeout: float | None) -> bool:
        events = self._ears.select(timeout)
        heard = False
        for key, _ in events:
            if timeout is not None and key.fd == 0:
                continue
            heard = True
            key.data(key.fileobj)
        return heard

    def _answer(self, _: object) -> None:
        if not os.read(0, 100):
            _LIBC.mq_unlink(f"/{self._name}".encode())
            os._exit(0)
        while self._hear(0):
            pass
        os.write(1, b"ok\n")

    def _note(self, number: int, _: object) -> None:
        self._write(signal.Signals(number).name.encode())

    def _write(self, data: bytes) -> None:
        os.write(self._log, data + b"\n")

    def _add(self, ear: socket.socket | int, act: Callable[[socket.socket], None]) -> None:
        self._ears.register(ear, selectors.EVENT_READ, act)

    def _internet(self) -> None:
        for name, family, kind, where in (
            ("TCP", socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1"),
            ("UDP", socket.AF_INET, socket.SOCK_DGRAM, "127.0.0.1"),
            ("TCP6", socket.AF_INET6, socket.SOCK_STREAM, "::1"),
            ("UDP6", socket.AF_INET6, socket.SOCK_DGRAM, "::1"),
        ):
            with suppress(OSError):
                ear = socket.socket(family, kind)
                ear.bind((where, 0))
                self.places[name] = str(ear.getsockname()[1])
                self._listen(ear)
        # What is not there yet would be loaded into the kernel by asking for it.
        protocols = Path("/proc/net/protocols").read_text()
        self.places["VSOCK"] = str(int("VSOCK" in protocols))
        if "SCTP" in protocols:
            with suppress(OSError):
                ear = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_SCTP)
                ear.bind(("127.0.0.1", 0))
                self.places["SCTP"] = str(ear.getsockname()[1])
                self._listen(ear)

    def _unix(self, outside: Path, workspace: Path) -> None:
        for name, kind in _KINDS.items():
            for path in (str(outside / f"host.{name}"), f"\0{self._name}.{name}"):
                ear = socket.socket(socket.AF_UNIX, kind)
                ear.bind(path)
                self._listen(ear)
        near = socket.socket(socket.AF_UNIX)
        near.bind(str(workspace / "near.sock"))
        self._listen(near)
        giver = socket.socket(socket.AF_UNIX)
        giver.bind(str(workspace / "giver.sock"))
        giver.listen()
        self._add(giver, self._give)

    def _files(self, outside: Path) -> None:
        os.mkfifo(outside / "host.fifo")
        self._add(os.open(outside / "host.fifo", os.O_RDWR | os.O_NONBLOCK), self._read)
        master, slave = os.openpty()
        self.places["PTS"] = os.ttyname(slave)
        os.chmod(self.places["PTS"], 0o620)
        self._slave = slave
        self._add(master, self._read)

    def _memory(self) -> None:
        # Marked for removal while attached, it is there as long as this process is.
        segment = _LIBC.shmget(0, 4096, 0o1600)
        address = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
            ("shmat", _LIBC)
        )(segment, None, 0)
        if address is not None and segment >= 0:
            ctypes.memmove(address, self._name.encode(), len(self._name))
            _LIBC.shmctl(segment, 0, None)
        self.places["SHM"] = str(segment)
        shape = (ctypes.c_long * 8)(0, 1, 16)
        self._queue = _LIBC.mq_open(f"/{self._name}".encode(), os.O_CREAT | os.O_RDWR, 0o600, shape)

    def _listen(self, ear: socket.socket) -> None:
        if ear.type == socket.SOCK_DGRAM:
            self._add(ear, self._receive)
        else:
            ear.listen(20)
            self._add(ear, self._accept)

    def _accept(self, ear: socket.socket) -> None:
        peer, _ = ear.accept()
        self._write(b"connected")
        self._add(peer, self._receive)

    def _give(self, ear: socket.socket) -> None:
        peer, _ = ear.accept()
        with peer, suppress(OSError):
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [self._keep]))
            peer.sendmsg([b"x"], [rights])

    def _receive(self, ear: socket.socket) -> None:
        try:
            data = ear.recv(4096)
        except OSError as error:
            data = b"" if error.errno != errno.EAGAIN else b"?"
        if data:
            self._write(data)
        elif ear.type != socket.SOCK_DGRAM:
            self._ears.unregister(ear)
            ear.close()

    def _read(self, ear: object) -> None:
        with suppress(OSError):
            self._write(os.read(int(str(ear)), 4096))


def main() -> None:
    outside, workspace, log, name = sys.argv[1:5]
    neighbour = Neighbour(Path(outside), Path(workspace), Path(log), name)
    os.write(1, json.dumps(neighbour.places).encode() + b"\n")
    neighbour.serve()


if __name__ == "__main__":
    main()
