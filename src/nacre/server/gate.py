"""What stands before the server over HTTP: who may come in, and who has hung up."""

import hmac
import json
import re
from collections.abc import Iterable
from typing import cast

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nacre.server.clients import NAME_HEADER, Clients
from nacre.server.handlers import GONE, SESSION_HEADER

__all__ = ("Gate", "is_host_name", "is_loopback")

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?$")
_ORIGIN = re.compile(r"https?://(?P<host>.+)$")
_SCHEME = "bearer "


def is_host_name(text: str) -> bool:
    """Whether it could stand in a `Host` header, without a port."""
    found = _HOST.match(text)
    return found is not None and found["name"] == text


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    return host in {"localhost", "::1"} or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


class Gate:
    """Lets a request through that is meant for this server, and comes from one who may.

    A page that a browser shows can reach an address of this machine: so the `Host` that it was
    sent to must be ours, and its `Origin`, if it names one. With a token, only those who know it come in;
    the comparison takes as long for any other.
    """

    def __init__(
        self, app: ASGIApp, clients: Clients, *, hosts: Iterable[str], token: str | None
    ) -> None:
        self._app = app
        self._clients = clients
        self._hosts = {each.lower() for each in (*_LOOPBACK, *hosts)}
        self._token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it before its body is read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if refusal := self._refusal(headers):
            await _refuse(send, *refusal)
            return
        session = headers.get(SESSION_HEADER)
        visit = _Visit(scope, receive, send)
        if session is None:
            await visit.pass_on(self._app)
            return
        key = f"session {session}"
        with self._clients.present(key):
            await visit.pass_on(self._app)
        if scope["method"] == "DELETE" and visit.accepted:
            await self._clients.leave(key)

    def _refusal(self, headers: Headers) -> tuple[int, str] | None:
        """Why a request may not come in: the status, and a sentence."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return 421, f"Host {', '.join(hosts)!r:.100} is not this server; see --allow-host"
        for origin in headers.getlist("origin"):
            found = _ORIGIN.match(origin)
            if not found or not self._is_ours(found["host"]):
                return 403, f"Origin {origin!r:.100} may not call this server; see --allow-host"
        for name in ("authorization", NAME_HEADER):
            if len(headers.getlist(name)) > 1:
                return 400, f"there is more than one header {name}"
        if self._token is not None and not self._knows_token(headers):
            return 401, "this server needs its token: Authorization: Bearer TOKEN"
        return None

    def _is_ours(self, host: str) -> bool:
        found = _HOST.match(host)
        return found is not None and found["name"].lower() in self._hosts

    def _knows_token(self, headers: Headers) -> bool:
        given = headers.get("authorization", "")
        if not given.lower().startswith(_SCHEME):
            return False
        told = given[len(_SCHEME) :].strip().encode("utf-8", "surrogateescape")
        return hmac.compare_digest(told, self._token or b"")


class _Visit:
    """One request on its way: whether its client has hung up, and whether it was accepted."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._gone = anyio.Event()
        self._scope = {**scope, GONE: self._gone}
        self._receive = receive
        self._send = send
        self._status = 0

    async def pass_on(self, app: ASGIApp) -> None:
        await app(self._scope, self._heard, self._said)

    @property
    def accepted(self) -> bool:
        return 200 <= self._status < 300  # noqa: PLR2004 (HTTP's own)

    async def _heard(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._gone.set()
        return message

    async def _said(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = cast("int", message["status"])
        await self._send(message)


async def _refuse(send: Send, status: int, sentence: str) -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": sentence}}
    body = json.dumps(error).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:  # noqa: PLR2004 (HTTP's own)
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
