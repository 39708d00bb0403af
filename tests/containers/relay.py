"""A way to an engine over TCP, as a forwarded port or a machine elsewhere would be."""

import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress

__all__ = ("relay",)

_CHUNK = 1 << 16


@contextmanager
def relay(path: str, tls: ssl.SSLContext | None = None) -> Generator[int]:
    """Pass on what comes to a port of this machine, with TLS or without; yields the port."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        threading.Thread(target=_accept, args=(server, path, tls), daemon=True).start()
        yield server.getsockname()[1]
        # An accept that waits is not ended by closing.
        server.shutdown(socket.SHUT_RDWR)


def _accept(server: socket.socket, path: str, tls: ssl.SSLContext | None) -> None:
    with suppress(OSError):
        while True:
            client, _ = server.accept()
            threading.Thread(target=_serve, args=(client, path, tls), daemon=True).start()


def _serve(client: socket.socket, path: str, tls: ssl.SSLContext | None) -> None:
    with suppress(OSError), closing(socket.socket(socket.AF_UNIX)) as engine:
        engine.connect(path)
        with closing(tls.wrap_socket(client, server_side=True) if tls else client) as inner:
            back = threading.Thread(target=_pump, args=(engine, inner), daemon=True)
            back.start()
            _pump(inner, engine)
            back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
