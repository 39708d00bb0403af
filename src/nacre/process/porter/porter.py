"""The process that carries calls into containers.

To its host it is a warden: it has a link and a lifeline for each call, and says the same things on
them (`nacre.process.warden`). But it spawns nothing. A call goes to a *resident*, a bash in the
container, over a *channel*, a connection to it through the engine; what the script says comes back
there and goes into the call's pipes. One porter serves all containers of a tool.

**What it promises.** When a lifeline closes, or the host dies, every process of that call in its
container is killed. If a channel breaks, its call is lost, and another resident ends what is left of
it. At the end of the host its containers are removed, unless they are kept: those end by themselves
when they have been idle. Were the porter killed too, residents find their input at its end, end what
they attend to, and the container ends when it has had no resident for a while.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nacre.process.afresh import start_afresh
from nacre.process.keeper import Keeper
from nacre.process.marks import Marks
from nacre.process.porter.carried import Carried
from nacre.process.porter.house import House
from nacre.process.porter.stand_in import StandIn
from nacre.process.porter.strays import remove_strays
from nacre.process.porter.watching import Watching
from nacre.process.porter.whose import container_of, may_live, owner_here
from nacre.process.wire import close_all, decode, receive, refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from nacre.model.launch import Container

__all__ = ("main",)

# Residents are told four times within the time after which they would end.
_BEATS = 4
_LONGEST_BEAT_SECONDS = 60.0


class Porter:
    """The event loop; every method runs on its one thread, except `_later`."""

    def __init__(self, link: socket.socket, host: int) -> None:
        self._link = link
        self._host = host
        self._orphaned = False
        self._marks = Marks()
        self._houses: dict[str, House] = {}
        self._calls: dict[Carried, House] = {}
        self._watching = Watching()
        self._due: deque[Callable[[], None]] = deque()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._cleared: set[tuple[str, str]] = set()
        self._beat_at = 0.0
        self._watching.watch(self._wake, self._do_due)
        self._watching.watch(link.fileno(), self._hear_host)
        self._watching.watch(host, self._end_link)

    def run(self) -> None:
        """Serve until the host is gone and nothing is left to carry."""
        while self._calls or not self._orphaned:
            self._watching.serve(self._patience())
            self._insist()
            if self._orphaned and not any(call.owned for call in self._calls):
                self._let_go()
        self.close()

    def close(self) -> None:
        """Remove the containers that end with their host, all at once."""
        threads = [threading.Thread(target=house.remove) for house in self._houses.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    # -- the host ---------------------------------------------------------

    def _hear_host(self) -> None:
        data, fds = receive(self._link)
        if not data:
            self._end_link()
            return
        request = decode(data, fds)
        if "container" not in request:
            close_all(fds)  # what only a warden can do
        elif len(fds) != request["fds"]:
            refuse(fds)
        else:
            self._take(request, fds)

    def _end_link(self) -> None:
        """End what the host owns: the link was closed, or the host is dead."""
        # Both stay readable for ever.
        self._watching.unwatch(self._host)
        self._watching.unwatch(self._link.fileno())
        if self._orphaned:
            return
        self._orphaned = True
        # What it said last on a lifeline may not be read yet: keep this.
        for call in list(self._calls):
            with suppress(BlockingIOError):
                while call.lifeline.fileno() >= 0:
                    self._hear(call)
        for call in [call for call in self._calls if call.owned]:
            call.stopped = True
            self._end(call)

    def _let_go(self) -> None:
        """Tell a host that waits for us to exit that detached jobs remain."""
        if self._calls and self._link.fileno() >= 0:
            with suppress(OSError):
                self._link.send(b"stay")
            self._link.close()

    def _take(self, request: dict[str, Any], fds: list[int]) -> None:
        lifeline = socket.socket(fileno=fds.pop(0))
        lifeline.setblocking(False)
        stdin = b""
        if request["stdin"]:
            with open(fds.pop(), "rb") as file:
                stdin = file.read()
        for fd in fds:
            os.set_blocking(fd, False)
        call = Carried(lifeline, fds, request, stdin)
        house = self._houses.get(request["container"]) or self._house(
            container_of(json.loads(request["described"]))
        )
        self._calls[call] = house
        self._watching.watch(lifeline.fileno(), lambda: self._hear(call))
        house.take(call)

    def _house(self, container: Container) -> House:
        if container.name not in self._houses:
            key = (container.engine, container.state)
            if container.state and key not in self._cleared:
                self._cleared.add(key)
                clear = threading.Thread(target=remove_strays, args=(*key, may_live), daemon=True)
                clear.start()  # nobody waits for it
            self._beat_at = 0.0  # it may be idle sooner than the others
            self._houses[container.name] = House(
                container, owner_here(), self._watching, self._later, self._forget
            )
        return self._houses[container.name]

    def _later(self, do: Callable[[], None]) -> None:
        """Have something done on the porter's thread; called from any."""
        self._due.append(do)
        os.eventfd_write(self._wake, 1)

    def _do_due(self) -> None:
        with suppress(BlockingIOError):
            os.eventfd_read(self._wake)
        while self._due:
            self._due.popleft()()

    # -- a call -----------------------------------------------------------

    def _hear(self, call: Carried) -> None:
        data, fds = receive(call.lifeline)
        if not data:
            self._watching.unwatch(call.lifeline.fileno())
            call.lifeline.close()
            call.abandoned = call.keeper is None
            if call.abandoned:
                self._end(call)
            return
        message = decode(data, [])
        if "keep" in message:
            self._hear_keep(call, message["keep"], fds)
        elif "who" in message:
            call.asked = True
            self._introduce(call)
        elif message["end"] <= 0 or call.insist_at is not None:
            self._end(call)
        elif call in self._calls:
            self._calls[call].signal(call, "TERM")
            call.insist_at = time.monotonic() + message["end"]

    def _end(self, call: Carried) -> None:
        if call in self._calls:  # it may have ended meanwhile
            self._calls[call].end(call)

    def _introduce(self, call: Carried) -> None:
        """Have a process of this machine stand for the call, once it has begun, and name it.

        One that is over has the name of a process that is gone.
        """
        if call.channel is None and not call.over:
            call.on_begun = lambda: self._introduce(call)
            return
        if call.stand_in is None:
            first = self._calls[call].first if call in self._calls else 0
            try:
                call.stand_in = stand_in = StandIn(self._marks, call.bash, first)
            except OSError as error:
                call.tell(lost=f"no process here can stand for the script: {error.strerror}")
                self._end(call)
                return
            self._watching.watch(stand_in.fileno(), lambda: self._hear_stand_in(call, stand_in))
        call.tell(started=call.stand_in.pid, mark=call.stand_in.mark)
        if call.over:
            self._watching.unwatch(call.stand_in.fileno())
            call.stand_in.close()

    def _hear_stand_in(self, call: Carried, stand_in: StandIn) -> None:
        if stand_in.asked():
            if call in self._calls:
                self._calls[call].signal(call, "TERM")
        else:
            self._watching.unwatch(stand_in.fileno())
            self._end(call)

    def _hear_keep(self, call: Carried, request: dict[str, Any], fds: list[int]) -> None:
        if len(fds) != request["fds"]:
            close_all(fds)  # no room for them here
            call.tell(kept=False)
            return
        call.keeper = keeper = Keeper(request, fds)
        call.tell(kept=True)
        call.owned = request["owned"]
        if call.over:
            self._record_end(call)  # it ended meanwhile
            return
        for pipe in keeper.pipes:
            self._watch_pipe(keeper, pipe)
        if call.status is not None:
            self._end(call)

    def _watch_pipe(self, keeper: Keeper, pipe: int) -> None:
        def drain() -> None:
            if not keeper.drain(pipe):
                self._watching.unwatch(pipe)

        self._watching.watch(pipe, drain)

    def _forget(self, call: Carried, lost: bool) -> None:  # noqa: FBT001 (a house's word)
        """A call is over: nothing of it is left, or nobody could say."""
        self._calls.pop(call, None)
        call.channel = None
        for fd in call.descriptors():
            self._watching.unwatch(fd)
        call.over, call.unseen = True, lost
        self._record_end(call)
        call.let_go()
        # The lifeline stays: its host may be about to make a job of it, or to ask who it was.
        if call.status is not None and call.asked and call.stand_in is None:
            self._introduce(call)

    def _record_end(self, call: Carried) -> None:
        if call.keeper and call.unseen:
            call.keeper.abandon()
        elif call.keeper:
            call.keeper.finish(call.status or 0, stopped=call.stopped)

    # -- time -------------------------------------------------------------

    def _insist(self) -> None:
        """Do what is due: kill what was asked to end, give up on who does not answer."""
        now = time.monotonic()
        for call, house in list(self._calls.items()):
            if call.insist_at is not None and call.insist_at <= now:
                call.insist_at = None
                house.end(call)
            due = (call.queued_by, call.begun_by, call.gone_by)
            if any(each is not None and each <= now for each in due):
                house.give_up(call)
        if now >= self._beat_at:
            self._beat(now)

    def _beat(self, now: float) -> None:
        """Let residents know that somebody is there, and end containers that nobody uses."""
        idles = [house.container.idle / _BEATS for house in self._houses.values()]
        self._beat_at = now + min([_LONGEST_BEAT_SECONDS, *idles])
        for house in self._houses.values():
            house.beat()
            if house.is_idle(now):
                house.rest()

    def _patience(self) -> float:
        times = [self._beat_at]
        for call in self._calls:
            due = (call.insist_at, call.queued_by, call.begun_by, call.gone_by)
            times += [each for each in due if each is not None]
        return max(0.0, min(times) - time.monotonic())


def main(link_fd: int, host_fd: int) -> None:
    """Run as the porter of the host at the other end of a link, known by its pidfd."""
    start_afresh({link_fd, host_fd})
    # It ends with its host and its jobs, not by a stray `pkill python`. A handler, not SIG_IGN:
    # that would be inherited.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, _heed)
    link = socket.socket(fileno=link_fd)
    link.setblocking(False)
    porter = Porter(link, host_fd)
    try:
        porter.run()
    except BaseException:
        porter.close()
        raise


def _heed(*_: object) -> None:
    """Do nothing."""
