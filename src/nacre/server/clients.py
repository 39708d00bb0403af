"""Who is served, each with a tool of its own, until they leave or are not heard of any more.

Over HTTP a client is known by its session (in the handshake era), or by a name that it keeps to
itself and sends with each request. One that sends neither cannot be told from others: each of
its calls stands alone, and a job it leaves is found again only by its id, which nobody can guess.
"""

import hashlib
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from secrets import token_hex

import anyio

from nacre.errors import CallError, NacreError
from nacre.model.outcome import Running
from nacre.tool import Bash, ToolContext

__all__ = (
    "IDLE_SECONDS",
    "MOST_CLIENTS",
    "NAME_HEADER",
    "SOLE",
    "Client",
    "Clients",
    "TooManyClientsError",
    "key_of_name",
)

NAME_HEADER = "nacre-client"
SOLE = "the only client"
"""The key of whoever is at the other end of standard input and output."""

MOST_CLIENTS = 256
IDLE_SECONDS = 30 * 60.0

_LOG = logging.getLogger("nacre")
_SHORTEST_NAME = 16
_LOOKS_PER_IDLE = 20


class TooManyClientsError(NacreError):
    """There is no room for one more; later there may be."""


def key_of_name(name: str) -> str:
    """The key of a client that sent a name.

    Raises:
        CallError: If others could guess it.
    """
    if len(name) < _SHORTEST_NAME:
        raise CallError(
            f"the header {NAME_HEADER} has {len(name)} characters, which others could guess;"
            f" give it {_SHORTEST_NAME} random ones or more, or leave it out"
        )
    return f"name {hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()}"


@dataclass(eq=False, slots=True)
class Client:
    """One client: its tool, and the context of its calls.

    `lasts` says that its next call can be told to be its own.
    """

    bash: Bash
    context: ToolContext
    lasts: bool
    present: int = 0
    seen: float = 0.0
    jobs: set[str] = field(default_factory=set[str])


class Clients:
    """The clients of a server. Belongs to one event loop.

    `make` makes a tool; `context` is that of the only client's calls, and for others
    a pattern. Closing ends everything that clients own.
    """

    def __init__(
        self,
        make: Callable[[], Bash],
        context: ToolContext,
        *,
        idle_seconds: float = IDLE_SECONDS,
        most: int = MOST_CLIENTS,
    ) -> None:
        self._make = make
        self._context = context
        self._idle_seconds = idle_seconds
        self._most = most
        self._known: dict[str, Client] = {}
        self._by_job: dict[str, Client] = {}
        self._there: Counter[str] = Counter()
        self._apart = 0

    @asynccontextmanager
    async def open(self) -> AsyncGenerator["Clients"]:
        """Serve for the length of the block; no client's jobs outlive it, but for detached ones."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch)
            try:
                yield self
            finally:
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    for client in {*self._known.values(), *self._by_job.values()}:
                        await client.bash.aclose()
                self._known.clear()
                self._by_job.clear()

    @asynccontextmanager
    async def visit(self, key: str | None, words: Iterable[object] = ()) -> AsyncGenerator[Client]:
        """Have a client's tool for the length of a call.

        Without a key, `words` of the call may name a job; it is then the one who made it.

        Raises:
            TooManyClientsError: If it is one too many.
        """
        if key is not None:
            client = self._known.get(key) or await self._admit(key)
            with self._counted(client):
                yield client
            return
        known = next(
            (self._by_job[w] for w in words if isinstance(w, str) and w in self._by_job), None
        )
        if known is not None:
            with self._counted(known):
                yield known
            return
        async with self._stranger() as client:
            yield client

    @contextmanager
    def present(self, key: str) -> Generator[None]:
        """Note that a client is there for the length of a block, whether it calls or not."""
        self._there[key] += 1
        try:
            yield
        finally:
            self._there[key] -= 1
            if not self._there[key]:
                del self._there[key]
            if client := self._known.get(key):
                client.seen = anyio.current_time()

    async def leave(self, key: str) -> None:
        """A client is gone: end all that is its own."""
        if client := self._known.pop(key, None):
            await _close(client)

    async def _admit(self, key: str) -> Client:
        await self._make_room()
        if key in self._known:
            return self._known[key]  # it was quicker
        sole = key == SOLE
        conversation = (self._context.conversation if sole else None) or f"mcp {token_hex(16)}"
        context = replace(self._context, conversation=conversation)
        client = self._known[key] = Client(bash=self._make(), context=context, lasts=True)
        return client

    @asynccontextmanager
    async def _stranger(self) -> AsyncGenerator[Client]:
        """A client for one call; it stays if it leaves a job behind."""
        await self._make_room()
        context = replace(self._context, conversation=f"mcp {token_hex(16)}", secret_ids=True)
        client = Client(bash=self._make(), context=context, lasts=False)
        self._apart += 1
        try:
            with self._counted(client):
                yield client
            client.jobs = {job.id for job in (await client.bash.jobs(client.context)).jobs}
            self._by_job |= dict.fromkeys(client.jobs, client)
        finally:
            self._apart -= 1
            if not client.jobs:
                await client.bash.aclose()

    async def _make_room(self) -> None:
        """See that one more fits; of those who are not there, the one longest gone has to leave.

        One whose jobs run stays, for as long as it may be away.
        """
        while len(self._known) + self._apart + len({*self._by_job.values()}) >= self._most:
            away = [key for key in self._known if not self._is_there(key)]
            for key in sorted(away, key=lambda each: self._known[each].seen):
                if not await self._has_running_jobs(key):
                    await self.leave(key)
                    break
            else:
                text = f"{self._most} clients are served already; try again later"
                raise TooManyClientsError(text)

    async def _has_running_jobs(self, key: str) -> bool:
        client = self._known.get(key)
        if client is None:
            return False
        found = await client.bash.jobs(client.context)
        return self._is_there(key) or any(isinstance(job.outcome, Running) for job in found.jobs)

    def _is_there(self, key: str) -> bool:
        client = self._known.get(key)
        return key == SOLE or key in self._there or bool(client and client.present)

    @contextmanager
    def _counted(self, client: Client) -> Generator[None]:
        client.present += 1
        try:
            yield
        finally:
            client.present -= 1
            client.seen = anyio.current_time()

    async def _watch(self) -> None:
        """Forget those who have not been heard of for a while."""
        while True:
            await anyio.sleep(self._idle_seconds / _LOOKS_PER_IDLE)
            late = anyio.current_time() - self._idle_seconds
            for key, client in [*self._known.items()]:
                if not self._is_there(key) and client.seen < late:
                    await self.leave(key)
            for client in {*self._by_job.values()}:
                if not client.present and client.seen < late:
                    for job in client.jobs:
                        self._by_job.pop(job, None)
                    await _close(client)


async def _close(client: Client) -> None:
    """End what a client owns; that this fails is no reason to serve others no more."""
    try:
        await client.bash.aclose()
    except (NacreError, OSError):
        _LOG.exception("a client's tool could not be closed")
