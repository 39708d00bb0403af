"""The process that spawns, reaps, and ends what outlives its call.

One per host, started on first need by `nacre.process.link`. It imports nothing
but the standard library and siblings that do the same, so that it starts in
little more time than Python itself.

**What it promises.** When a lifeline closes, or the host dies, every process of
that call is killed, whatever it did to hide; no process of another call is
touched. A kept call lives on: an owned one until the link closes, a detached one
until it ends by itself. The warden exits when the link is closed and no call is
left.

**How.** Every process of a call carries its mark (`nacre.process.marks`), and every orphan becomes
a child of the warden (`nacre.process.living`).
"""

from __future__ import annotations

import json
import os
import select
import socket
import time
from contextlib import suppress
from functools import partial

from nacre.process.afresh import child_wakeup, require_files, start_afresh
from nacre.process.children import is_childless
from nacre.process.descriptors import SpareDescriptors
from nacre.process.held import Held
from nacre.process.keeper import Keeper
from nacre.process.living import Living
from nacre.process.marks import Marks, kill_marked, stray_marks
from nacre.process.reserve import Reserve
from nacre.process.spawner import Spawner
from nacre.process.wire import close_all, decode, error_number, error_reason, receive, refuse

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ("main",)

# After it was told of an end a host has this long to itself: it may well be on this processor.
_TURN_SECONDS = 0.0004
# epoll_wait(2) counts in milliseconds.
_COARSE_SECONDS = 0.002


class Warden:
    """The event loop; every method runs on its one thread."""

    def __init__(self, link: socket.socket, host: int) -> None:
        self._link = link
        self._host = host
        self._orphaned = False
        self._retiring = False
        self._epoll = select.epoll()
        self._lifelines: dict[int, Held] = {}
        self._pipes: dict[int, Held] = {}
        # To be told at the end of this turn; and who was told, and is not listened to for a moment.
        self._ended: dict[Held, None] = {}
        self._told: dict[Held, None] = {}
        self._told_at = 0.0
        self._null = os.open(os.devnull, os.O_RDWR)
        self._descriptors = SpareDescriptors(self._null)
        marks = Marks()
        self._inherited = marks.inherited
        self._spawner = Spawner(self._descriptors, self._null, marks)
        self._reserve = Reserve(self._spawner, self._null)
        self._living = Living(marks, self._descriptors, self._reserve.holds, self._over)
        self._reserve.serve(self._listen, self._living.adopt, self._withdraw)
        self._woken = child_wakeup()
        self._epoll.register(link.fileno(), select.EPOLLIN)
        self._epoll.register(self._woken, select.EPOLLIN)
        self._epoll.register(host, select.EPOLLIN)

    def run(self) -> None:
        """Serve until the host is gone and nothing is left to hold."""
        while self._living.calls or self._reserve or not (self._orphaned or self._retiring):
            ready = self._wait()
            for fd, _ in ready:
                # No more descriptors or no memory: that is one event's misfortune.
                with suppress(OSError):
                    self._serve(fd)
            with suppress(OSError):
                self._living.look()
            with suppress(OSError):
                self._living.insist()
            if not ready:
                self._listen_again()
                self._reserve.tend()
            if self._orphaned and not any(call.owned for call in self._living.calls.values()):
                self._let_go()
            self._tell_ends()
        self.abandon()

    def _serve(self, fd: int) -> None:
        if fd == self._woken:
            with suppress(BlockingIOError):
                os.read(fd, 4096)
            self._reap()
        elif fd in self._pipes:
            self._drain(self._pipes[fd], fd)
        elif fd == self._host:
            self._epoll.unregister(fd)
            self._end_link()
        else:
            # Nothing to read: a descriptor closed a moment ago has its number again.
            with suppress(BlockingIOError):
                if fd == self._link.fileno():
                    self._hear_host()
                elif fd in self._lifelines:
                    self._hear(self._lifelines[fd])

    def abandon(self) -> None:
        """Leave nothing running, also if this process ends by a mistake of its own."""
        self._reserve.close()
        self._living.end_all()

    # -- the host ---------------------------------------------------------

    def _hear_host(self) -> None:
        data, fds = receive(self._link)
        if not data:
            self._end_link()
            return
        request = decode(data, fds)
        if "sweep" in request:
            kill_marked(stray_marks(self._inherited))
        elif "retire" in request:
            self._retiring = True
            self._dismiss()
        elif "restriction" in request:
            self._spawner.restrict(request)
        elif "room" in request:
            if room := self._spawner.room(request["room"], fds):
                self._living.adopt(room)
        elif len(fds) == request["fds"]:
            self._run(request, fds)
        else:
            refuse(fds)

    def _end_link(self) -> None:
        """End what the host owns.

        The link may be held open by a process that the host forked, so its end is
        also the end of the host's own process.
        """
        if self._orphaned:
            return
        self._orphaned = True
        self._epoll.unregister(self._link.fileno())
        self._dismiss()
        owned = [call for call in self._living.calls.values() if call.owned]
        for call in owned:
            call.stopped = True
        self._living.abandoned += owned

    def _dismiss(self) -> None:
        """Let go of what waits for a script that will not come."""
        # What the host said last on a lifeline may not be read yet: keep this, or this script.
        for call in list(self._lifelines.values()):
            with suppress(BlockingIOError):
                while call.lifeline.fileno() >= 0:
                    self._hear(call)
            if self._reserve.is_idle(call):
                self._hang_up(call)

    def _let_go(self) -> None:
        """Tell a host that waits for us to exit that detached jobs remain."""
        if self._living.calls and self._link.fileno() >= 0:
            with suppress(OSError):
                self._link.send(b"stay")
            self._link.close()

    def _run(self, request: dict[str, Any], fds: list[int]) -> None:
        if fds[0] > self._descriptors.most:
            refuse(fds)
            return
        call = Held(socket.socket(fileno=fds.pop(0)))
        call.lifeline.setblocking(False)
        stdin = fds.pop() if request["stdin"] else self._null
        if self._start(call, partial(self._listen, call)):
            if "ttl" in request:
                self._reserve.admit(call, request, fds)
                return
            self._begin(call, partial(self._spawner.launch, call, request, stdin, fds))
        for fd in {stdin, *fds} - {self._null}:
            os.close(fd)

    def _listen(self, call: Held) -> None:
        self._epoll.register(call.lifeline, select.EPOLLIN)
        self._lifelines[call.lifeline.fileno()] = call

    def _begin(self, call: Held, launch: Callable[[], None]) -> None:
        if self._start(call, launch):
            self._living.adopt(call)
            self._reserve.note_begin()

    def _withdraw(self, call: Held) -> None:
        """Take back that a call has a shell; none that is wanted, once no more calls come."""
        self._living.withdraw(call)
        if self._retiring:
            self._hang_up(call)

    def _start(self, call: Held, step: Callable[[], None]) -> bool:
        """Take a step towards the start of a call, or tell why it cannot be started."""
        try:
            step()
        except (OSError, ValueError) as error:
            call.tell(unstarted=error_number(error), why=error_reason(error))
            call.close_outputs()
            self._hang_up(call)
            return False
        return True

    # -- a call -----------------------------------------------------------

    def _hear(self, call: Held) -> None:
        data, fds = receive(call.lifeline)
        if not data:
            self._hang_up(call)
            if call.keeper is None and call.mark in self._living.calls:
                self._living.abandoned.append(call)
            return
        message = json.loads(data)
        if "script" in message:
            if self._reserve.awaits(call):
                self._begin(call, partial(self._reserve.begin, call, message["script"]))
        elif "keep" in message:
            if len(fds) == message["keep"]["fds"]:
                self._keep(call, message["keep"], fds)
            else:
                close_all(fds)  # no room for them here
                call.tell(kept=False)
        elif "who" in message:
            call.tell(started=call.pid, mark=call.mark)
        elif call.mark in self._living.calls:  # it may have ended while this was on its way
            self._end(call, message["end"])

    def _hang_up(self, call: Held) -> None:
        if self._lifelines.pop(call.lifeline.fileno(), None) and call not in self._told:
            self._epoll.unregister(call.lifeline.fileno())
        self._told.pop(call, None)
        call.lifeline.close()
        self._reserve.drop(call)

    def _reap(self) -> None:
        ended: list[Held] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            call = self._living.shells.pop(pid, None)
            if self._reserve.forget(pid):
                continue
            if call:
                call.status = status
                if call.keeper is None and is_childless():
                    # The usual case, before all that can wait: somebody waits for it.
                    self._living.forget(call)
                    self._tell_ends()
                else:
                    ended.append(call)
                self._reserve.note_end(call)
        self._living.note_death()
        self._ended |= dict.fromkeys(ended)
        self._living.kill(
            [call for call in ended if call.keeper and call.mark in self._living.calls]
        )

    def _end(self, call: Held, grace: float) -> None:
        if grace <= 0 or call.insist_at is not None:
            self._living.kill([call])
        else:
            call.ask_to_end(grace)

    def _over(self, call: Held) -> None:
        """Nothing is left of a call."""
        call.gone = True
        self._ended[call] = None
        if call.keeper:
            for fd in call.keeper.pipes:
                if self._pipes.pop(fd, None):
                    self._epoll.unregister(fd)
            call.keeper.finish(call.status or 0, stopped=call.stopped)

    def _wait(self) -> list[tuple[int, int]]:
        """What has happened; nothing, if something is to be done first that was put off."""
        times = [self._living.patience(), self._reserve.patience()]
        if self._told:
            times.append(self._told_at)
        due = min((each for each in times if each is not None), default=None)
        if due is None:
            return self._epoll.poll()
        patience = max(0.0, due - time.monotonic())
        if 0.0 < patience < _COARSE_SECONDS:
            select.select([self._epoll], [], [], patience)
            patience = 0.0
        return self._epoll.poll(patience)

    def _tell_ends(self) -> None:
        """Tell hosts what has ended. The last of a turn: who is told has the processor then."""
        while self._ended:
            call = self._ended.popitem()[0]
            if call.gone and call.lifeline.fileno() in self._lifelines:
                # A host that hangs up now would only wake us while it is still at work.
                self._epoll.unregister(call.lifeline)
                self._told[call] = None
                self._told_at = time.monotonic() + _TURN_SECONDS
            call.tell_exit()
            if call not in self._told:
                call.close_outputs()

    def _listen_again(self) -> None:
        while self._told:
            call = self._told.popitem()[0]
            call.close_outputs()
            self._epoll.register(call.lifeline, select.EPOLLIN)

    # -- a job ------------------------------------------------------------

    def _keep(self, call: Held, request: dict[str, Any], fds: list[int]) -> None:
        call.close_outputs()
        call.keeper = Keeper(request, fds)
        call.tell(kept=True)  # what was too much already is in its record by now
        call.owned = request["owned"]
        self._reserve.note_end(call)
        if call.status is not None and call.mark not in self._living.calls:
            call.keeper.finish(call.status, stopped=False)  # it ended meanwhile
            return
        for fd in call.keeper.pipes:
            self._pipes[fd] = call
            self._epoll.register(fd, select.EPOLLIN)
        if call.status is not None:
            self._living.kill([call])

    def _drain(self, call: Held, fd: int) -> None:
        if call.keeper and not call.keeper.drain(fd):
            self._epoll.unregister(fd)
            del self._pipes[fd]


def main(link_fd: int, host_fd: int, expected: list[str]) -> None:
    """Run as the warden of the host at the other end of a link, known by its pidfd."""
    start_afresh({link_fd, host_fd})
    require_files(expected)
    link = socket.socket(fileno=link_fd)
    link.setblocking(False)
    warden = Warden(link, host_fd)
    try:
        warden.run()
    except BaseException:
        warden.abandon()
        raise
